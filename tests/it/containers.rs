//! Containers: the same texts from each archive and record format, made by the usual tools; names; repeated
//! runs. The samples are made by tools/make-containers.py.

mod again;
mod chats;
mod damage;
mod emptied;
#[cfg(target_os = "linux")]
mod enormous;
mod globs;
pub(crate) mod hostile;
mod joined;
mod leaving;
mod metadata;
mod parts;
mod times;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip};

const TEXTS: [&str; 3] = ["fed01.txt", "fed10.txt", "fed51.txt"];

fn sample(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/samples").join(name)
}

/// A folder with copies of some samples.
fn folder_with(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        folder.write(name, std::fs::read(sample(name)).unwrap());
    }
    folder
}

/// The stored documents, in order of arrival.
fn list(folder: &Folder) -> Vec<Value> {
    folder.ok(&["list", "--format", "json"]).json()
}

fn names(folder: &Folder) -> Vec<String> {
    list(folder).iter().map(|document| document["name"].as_str().unwrap().to_owned()).collect()
}

/// Sets a file's time far enough back to be trusted.
fn age(path: &Path) {
    let past = SystemTime::now() - Duration::from_secs(1000);
    File::options().write(true).open(path).unwrap().set_modified(past).unwrap();
}

/// The facts of a document that do not depend on its container.
fn essence(document: &Value) -> String {
    let fields = ["digest", "bytes", "symbols", "lines", "fingerprints", "distinct", "encoding"];
    fields.map(|field| document[field].to_string()).join(" ")
}

/// The facts ([`essence`]) of the three texts as plain files.
fn expected() -> BTreeMap<&'static str, String> {
    let folder = folder_with(&TEXTS.map(|name| ["texts/", name].concat()).each_ref().map(String::as_str));
    folder.ok(&["ingest", "-q", "--profile", "prose", "texts"]);
    TEXTS.into_iter().zip(list(&folder).iter().map(essence)).collect()
}

#[test]
fn the_same_text_comes_out_of_every_container() {
    let expected = expected();
    let in_archive = |name: &str| {
        let texts: Vec<String> = TEXTS.iter().map(|text| format!("{name}!texts/{text}")).collect();
        let long = "/a-folder-with-a-rather-long-name".repeat(5);
        (vec![format!("{name}!texts{long}/again.txt")], texts)
    };
    let by_line = |name: &str| (Vec::new(), (1..=3).map(|line| format!("{name}:{line}")).collect::<Vec<_>>());
    for (name, flags, (again, texts)) in [
        ("texts.tar", &[][..], in_archive("texts.tar")),
        ("pax.tar.gz", &[], in_archive("pax.tar.gz")),
        ("texts.tar.zst", &[], in_archive("texts.tar.zst")),
        ("texts.zip", &[], in_archive("texts.zip")),
        ("stored.zip", &[], in_archive("stored.zip")),
        ("bzip2.zip", &[], in_archive("bzip2.zip")),
        ("nested.zip", &[], in_archive("nested.zip!inner.tgz!texts.zip")),
        ("texts.jsonl", &[], by_line("texts.jsonl")),
        ("texts.jsonl.gz", &[], by_line("texts.jsonl.gz")),
        ("texts.jsonl.zst", &[], by_line("texts.jsonl.zst")),
        ("utf8.ndjson", &[], by_line("utf8.ndjson")),
        ("body.jsonl", &["--text-field", "body", "--id-field", "key"], by_line("body.jsonl")),
        ("none.parquet", &[], by_line("none.parquet")),
        ("snappy.parquet", &[], by_line("snappy.parquet")),
        ("gzip.parquet", &[], by_line("gzip.parquet")),
        ("zstd.parquet", &[], by_line("zstd.parquet")),
        ("lz4.parquet", &[], by_line("lz4.parquet")),
        ("brotli.parquet", &[], by_line("brotli.parquet")),
        ("texts.arc", &[], (Vec::new(), (2..=4).map(|record| format!("texts.arc#{record}")).collect())),
        (
            "texts.wet.gz",
            &[],
            (Vec::new(), (1..=3).map(|record| format!("texts.wet.gz#urn:uuid:wet-{record}")).collect()),
        ),
    ] {
        let folder = folder_with(&[name]);
        let run = folder.ok(&[&["ingest", "--profile", "prose", "--format", "json", name], flags].concat());
        let documents: BTreeMap<String, String> = list(&folder)
            .iter()
            .map(|document| (document["name"].as_str().unwrap().to_owned(), essence(document)))
            .collect();
        for (text, name) in TEXTS.iter().zip(&texts) {
            assert_eq!(documents.get(name), Some(&expected[text]), "{name} of {:?}", documents.keys());
        }
        for name in &again {
            assert_eq!(documents.get(name), Some(&expected["fed01.txt"]), "{name} of {:?}", documents.keys());
        }
        // Links in a tar are not documents. The archiver of the zip followed the link.
        let link = u64::from(name.ends_with(".zip") && !again.is_empty());
        assert_eq!(run.json()[0]["added"], (3 + again.len() as u64 + link), "{name}: {run:?}");
        // The digest proves that the text read again from the container is what was ingested.
        let query = folder.ok(&["query", "--document", &texts[1], "--window", "40", "--format", "json"]);
        assert_eq!(query.json()[0]["query"]["name"], texts[1].as_str(), "{name}");
    }
}

#[test]
fn single_compressed_files_are_one_document_under_their_own_name() {
    let expected = expected();
    for ending in ["gz", "zst", "xz", "bz2"] {
        for stem in ["fed01.txt", "parts.txt"] {
            let name = format!("{stem}.{ending}");
            let folder = folder_with(&[&name]);
            folder.ok(&["ingest", "-q", "--profile", "prose", "."]);
            let documents = list(&folder);
            assert_eq!(documents.len(), 1);
            assert_eq!(documents[0]["name"], name.as_str());
            assert_eq!(essence(&documents[0]), expected["fed01.txt"], "{name}");
            // Queries and comparisons also decompress their input.
            let query = folder.ok(&["query", &name, "--format", "json"]).json();
            assert_eq!(query[0]["matches"][0]["identical"], true);
            let text = sample("texts/fed01.txt");
            let diff = folder.ok(&["diff", &name, text.to_str().unwrap(), "--format", "json"]).json();
            assert_eq!(diff[0]["matches"][0]["identical"], true);
            // Input without a name is decompressed too.
            let text = text.to_str().unwrap();
            for (stream, arguments) in [
                ("-", &["query", "-"][..]),
                ("/dev/stdin", &["query", "/dev/stdin"]),
                ("-", &["diff", "-", text]),
                ("/dev/stdin", &["diff", text, "/dev/stdin"]),
            ] {
                let arguments = [arguments, &["--format", "json"]].concat();
                let run = fed(&folder, &arguments, std::fs::read(sample(&name)).unwrap());
                let answer = &run.json()[0];
                assert_eq!(answer["matches"][0]["identical"], true, "{arguments:?} {run:?}");
                let names = [&answer["query"]["name"], &answer["matches"][0]["document"]];
                assert!(names.contains(&&Value::from(stream)), "{run:?}");
            }
        }
    }
}

/// Runs the program with a pipe on standard input, through which these bytes come.
fn fed(folder: &Folder, arguments: &[&str], bytes: Vec<u8>) -> Run {
    let mut command = folder.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program may stop reading before all bytes are written.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&bytes)));
    let run = Run::of(&child.wait_with_output().unwrap());
    writer.join().unwrap();
    run
}

/// A file of records under another name is one document, but an error if the user names a field of records.
#[test]
fn records_under_other_names_are_not_read_whole_where_a_field_is_named() {
    let folder = Folder::new();
    let record = |id: u32| format!("{{\"id\": {id}, \"text\": \"{}\"}}", "Some words. ".repeat(900));
    let lines = [1, 2, 3].map(|id| record(id) + "\n").concat();
    let array = format!("[{}]", [1, 2].map(record).join(",\n"));
    folder.write("in/lines.json", &lines);
    folder.write("in/lines", &lines);
    folder.write("in/packed.json.gz", gzip(&lines));
    folder.write("in/array.json", &array);
    // A single record, with or without a final newline, and one before a line that is no record.
    folder.write("in/one.json", record(1));
    folder.write("in/one.json.gz", gzip(&(record(1) + "\n")));
    folder.write("in/broken.json", record(1) + "\n{");
    folder.write("in/pretty.json", record(1).replace(", ", ",\n"));
    let documents = ["in/a.txt", "in/other.json", "in/set.json"];
    let other = "{\"words\": \"Some words.\"}\n";
    for (name, text) in documents.iter().zip(["[{plain}] text", other, "{\n\"a\": [\n{\"b\": 1}\n]\n}"]) {
        folder.write(name, text);
    }
    // The files that an earlier run has stored whole are refused too.
    for earlier in [false, true] {
        if earlier {
            for name in
                ["in/lines.json", "in/lines", "in/array.json", "in/one.json", "in/broken.json", "in/pretty.json"]
            {
                age(&folder.path().join(name));
            }
            folder.ok(&["ingest", "-q", "--db", "whole.db", "--profile", "prose", "in"]);
        }
        let database = if earlier { "whole.db" } else { ".fpdb" };
        let run = folder.run(&["ingest", "in", "--text-field=text", "--db", database]);
        assert_eq!(run.status, 2, "{run:?}");
        let refused = run.stderr.lines().filter(|line| line.contains(" holds JSON "));
        assert_eq!(refused.count(), 8, "{run:?}");
    }
    for field in ["--text-field=text", "--id-field=id"] {
        let run = folder.run(&["ingest", "in", field]);
        assert_eq!(run.status, 2, "{run:?}");
        assert_eq!(list(&folder).iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(), documents);
        for name in
            ["in/lines.json", "in/lines", "in/packed.json.gz", "in/one.json", "in/one.json.gz", "in/broken.json"]
        {
            assert!(run.stderr.contains(&format!("{name} holds JSON lines, and its name does not say so")), "{run:?}");
        }
        for name in ["in/array.json", "in/pretty.json"] {
            assert!(run.stderr.contains(&format!("{name} holds JSON records, not one a line")), "{run:?}");
        }
        for name in ["in/lines.json", "in/array.json"] {
            let query = folder.run(&["query", name, field]);
            assert!(query.status == 2 && query.stderr.contains("hint: "), "{query:?}");
            assert_eq!(folder.run(&["query", name]).status, 0);
        }
        let fed = fed(&folder, &["query", "-", field], array.clone().into_bytes());
        assert!(fed.stderr.contains("standard input holds JSON records, not one a line"), "{fed:?}");
    }
    let fed = fed(&folder, &["ingest", "-", "--text-field=text"], record(1).into_bytes());
    assert!(fed.status == 2 && fed.stderr.contains("standard input holds JSON lines"), "{fed:?}");
    // With --no-expand, or without the name of a field, the file is one document.
    folder.ok(&["ingest", "-q", "in/lines.json", "--text-field", "text", "--no-expand"]);
    folder.ok(&["ingest", "-q", "in/array.json"]);
    assert_eq!(list(&folder).len(), 5);
}

#[test]
fn a_stream_is_one_document_or_refused() {
    let folder = Folder::new();
    folder.ok(&["init", "-q", "--profile", "prose"]);
    let read = |name: &str| std::fs::read(sample(name)).unwrap();
    let ask = |arguments: &[&str], bytes| fed(&folder, &[&["query", "--format", "json"], arguments].concat(), bytes);
    for name in
        ["texts.jsonl", "texts.jsonl.gz", "texts.jsonl.zst", "texts.zip", "texts.tar", "pax.tar.gz", "texts.warc"]
    {
        for (stream, told) in [("-", "standard input"), ("/dev/stdin", "/dev/stdin")] {
            let run = ask(&[stream], read(name));
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{name}");
            let told = match name.contains("jsonl") {
                true => {
                    format!("{told} holds JSON lines, and its name does not say so\nhint: `ingest - --name x.jsonl` ")
                }
                false => format!("{told} holds several documents\nhint: "),
            };
            // The message has the name of a pipe once.
            let told = if stream == "-" { format!("{stream}: {told}") } else { told };
            assert!(run.stderr.starts_with(&format!("error: {told}")), "{name}: {}", run.stderr);
        }
    }
    // An ingest refuses lines of JSON, like a query. A name shows their format.
    let refused = fed(&folder, &["ingest", "-"], read("texts.jsonl.gz"));
    assert!(refused.status == 2 && refused.stderr.contains("standard input holds JSON lines"), "{refused:?}");
    let named = fed(&folder, &["ingest", "-q", "--name", "x.jsonl", "-"], read("texts.jsonl"));
    assert_eq!((named.status, names(&folder).len()), (0, 3), "{named:?}");
    folder.ok(&["rm", "-q", "x.jsonl:1", "x.jsonl:2", "x.jsonl:3"]);
    let closed = fed(&folder, &["ingest", "-q", "--no-expand", "-"], read("texts.jsonl"));
    assert_eq!((closed.status, names(&folder)), (0, vec!["-".to_owned()]), "{closed:?}");
    folder.ok(&["rm", "-q", "-"]);
    // With --no-expand, the lines are one document. So is a single record.
    let lines = read("texts.jsonl");
    let whole = ask(&["--no-expand", "-"], lines.clone());
    assert_eq!((whole.status, &whole.json()[0]["query"]["bytes"]), (0, &lines.len().into()));
    assert_eq!(ask(&["-"], b"{\"text\":\"a\"}\n".to_vec()).status, 0);
    // An input that is larger than one piece, and an empty input.
    let large = "It was a dark and stormy night. ".repeat(50_000).into_bytes();
    for (bytes, length) in [(gzip(&large), large.len()), (large.clone(), large.len()), (Vec::new(), 0)] {
        let run = ask(&["-"], bytes);
        assert_eq!((run.status, &run.json()[0]["query"]["bytes"]), (0, &length.into()), "{}", run.stderr);
    }
    // Damaged containers are reported as such.
    let mut cut = read("fed01.txt.gz");
    cut.truncate(cut.len() / 2);
    let run = ask(&["-"], cut);
    assert!(run.status == 2 && run.stderr.contains("error: -: ") && run.stderr.contains("gzip"), "{}", run.stderr);
}

#[test]
fn crawls_give_their_responses_without_the_transfer() {
    let expected = expected();
    for name in ["texts.warc", "texts.warc.gz"] {
        let folder = folder_with(&[name]);
        folder.ok(&["ingest", "-q", "--profile", "prose", name]);
        let documents = list(&folder);
        assert_eq!(documents.len(), 15, "four codings and a resource for each text");
        for (number, document) in documents.iter().enumerate() {
            // The first record describes the program that made the file.
            let id = format!("{name}#urn:uuid:00000000-0000-4000-8000-{:012}", number + 2);
            assert_eq!(document["name"], id.as_str());
            assert_eq!(essence(document), expected[TEXTS[number / 5]], "{id}");
            let coding = ["identity", "gzip", "deflate", "br", "resource"][number % 5];
            let url = format!("http://example.org/{coding}/{}", TEXTS[number / 5]);
            assert_eq!(document["metadata"]["url"], url.as_str());
            assert_eq!(document["metadata"]["date"], "2003-06-09T12:00:00Z");
            let status = (coding != "resource").then(|| serde_json::json!("200"));
            assert_eq!(document["metadata"].get("status"), status.as_ref());
        }
    }
}

#[test]
fn mails_of_a_mailbox_are_documents() {
    let folder = folder_with(&["texts.mbox"]);
    folder.ok(&["ingest", "-q", "--profile", "prose", "."]);
    assert_eq!(names(&folder), ["texts.mbox#1", "texts.mbox#2", "texts.mbox#3"]);
    for (text, number) in TEXTS.iter().zip(1..) {
        let text = sample(&format!("texts/{text}"));
        let found = folder.ok(&["query", text.to_str().unwrap(), "--top", "1", "--format", "json"]).json();
        assert_eq!(found[0]["matches"][0]["document"], format!("texts.mbox#{number}").as_str());
        assert!(found[0]["matches"][0]["containment"].as_f64().unwrap() > 0.95, "{found:?}");
    }
}

#[test]
fn standard_input_can_be_a_container() {
    let folder = Folder::new();
    for (input, names) in
        [("texts.jsonl.gz", vec!["-:1", "-:2", "-:3"]), ("fed01.txt.gz", vec!["-"]), ("texts/fed01.txt", vec!["-"])]
    {
        let database = input.replace('/', "-");
        let stdin = File::open(sample(input)).unwrap();
        // The name shows a format that has no magic number.
        let name = if input.contains("jsonl") { "x.jsonl.gz" } else { "-" };
        let arguments = ["ingest", "-q", "--profile", "prose", "--db", &database, "-", "--name", name];
        assert!(folder.command(&arguments).stdin(stdin).status().unwrap().success());
        let list = folder.ok(&["list", "--db", &database, "--format", "json"]).json();
        let found: Vec<String> =
            list.iter().map(|document| document["name"].as_str().unwrap().replace("x.jsonl.gz", "-")).collect();
        assert_eq!(found, names);
    }
}

#[test]
fn a_comparison_with_a_container_says_what_to_do() {
    let folder = folder_with(&["texts.zip", "texts.jsonl"]);
    folder.ok(&["ingest", "-q", "."]);
    for name in ["texts.zip", "texts.jsonl"] {
        // In a query, each member is a separate query.
        let answers = folder.ok(&["query", name, "--format", "json"]).json();
        assert!(answers.len() > 1 && answers.iter().all(|answer| answer["corpus_containment"] == 1.0), "{name}");
        let run = folder.run(&["diff", name, name]);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains(&format!("{name} holds several documents")), "{run:?}");
        assert!(run.stderr.contains("name one of its documents"), "{run:?}");
    }
}

#[test]
fn containers_can_be_left_closed() {
    let folder = folder_with(&["texts.zip", "texts.jsonl", "texts/fed01.txt"]);
    let run =
        folder.run(&["ingest", "--profile", "prose", "--no-expand", "texts.zip", "texts.jsonl", "--format", "json"]);
    // Lines of JSON are text. An archive is not text, and fails because the user names it.
    assert_eq!(names(&folder), ["texts.jsonl"]);
    assert_eq!((run.status, &run.json()[0]["failed"][0]["name"]), (2, &"texts.zip".into()));
    assert!(run.stderr.contains("error: texts.zip: not a text document: "), "{run:?}");
    folder.ok(&["ingest", "-q", "--db", "bytes", "--profile", "bytes", "--no-expand", "texts.zip"]);
    let list = folder.ok(&["list", "--db", "bytes", "--format", "json"]).json();
    assert_eq!((&list[0]["name"], &list[0]["format"]), (&"texts.zip".into(), &"bytes".into()));
}

#[test]
fn a_container_that_has_not_changed_is_not_read_again() {
    for name in ["texts.tar", "texts.jsonl.zst", "texts.zip", "fed01.txt.gz", "zstd.parquet"] {
        let folder = folder_with(&[name]);
        let path = folder.path().join(name);
        age(&path);
        let time = path.metadata().unwrap().modified().unwrap();
        let first = folder.ok(&["ingest", "--profile", "prose", name, "--format", "json"]).json();
        let added = first[0]["added"].as_u64().unwrap();
        assert!(added > 0);
        // Writes other bytes with the same size and time: a run that reads the file would notice.
        let good = std::fs::read(&path).unwrap();
        std::fs::write(&path, vec![7; good.len()]).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let second = folder.ok(&["ingest", "-v", name, "--format", "json"]);
        assert_eq!(second.json()[0]["unchanged"], added, "{second:?}");
        assert_eq!(second.json()[0]["documents"], added);
        // With other settings, the container is read.
        std::fs::write(&path, &good).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let third = folder.ok(&["ingest", "-v", "--keep-fields", "n", name, "--format", "json"]);
        assert_eq!(third.json()[0]["unchanged"], added, "{third:?}");
        // A touched container is read too, and its members are unchanged.
        age(&path);
        let fourth = folder.ok(&["ingest", name, "--format", "json"]).json();
        assert_eq!((&fourth[0]["unchanged"], &fourth[0]["added"]), (&added.into(), &0.into()));
    }
}

#[test]
fn removing_a_member_has_its_container_looked_at_again() {
    let folder = folder_with(&["texts.zip"]);
    age(&folder.path().join("texts.zip"));
    folder.ok(&["ingest", "-q", "--profile", "prose", "texts.zip"]);
    folder.ok(&["rm", "texts.zip!texts/fed10.txt"]);
    let again = folder.ok(&["ingest", "texts.zip", "--format", "json"]).json();
    assert_eq!((&again[0]["added"], &again[0]["unchanged"]), (&1.into(), &4.into()));
    // A container of the same name elsewhere replaces nothing, even while this one is away.
    let away = folder.path().join("away.zip");
    let other = Folder::new();
    other.write("texts/fed10.txt", prose(1));
    let zip =
        std::process::Command::new("zip").args(["-q", "-r", "texts.zip", "texts"]).current_dir(other.path()).status();
    if zip.is_ok_and(|status| status.success()) {
        let database = folder.path().join(".fpdb");
        std::fs::rename(folder.path().join("texts.zip"), &away).unwrap();
        let run = other.ok(&["ingest", "texts.zip", "--format", "json", "--db", database.to_str().unwrap()]).json();
        assert_eq!((&run[0]["added"], &run[0]["replaced"]), (&1.into(), &0.into()));
        std::fs::rename(&away, folder.path().join("texts.zip")).unwrap();
        let again = folder.ok(&["ingest", "texts.zip", "--format", "json"]).json();
        assert_eq!((&again[0]["added"], &again[0]["unchanged"]), (&0.into(), &5.into()));
    }
}

#[test]
fn changed_members_follow_on_change() {
    let line = |text: &str| serde_json::json!({ "text": text }).to_string();
    let (old, new, same) = (prose(1), prose(2), prose(3));
    for (flag, counts, kept) in [("replace", (1, 0, 0), &new), ("keep", (0, 0, 1), &old), ("both", (1, 0, 0), &new)] {
        let folder = Folder::new();
        folder.write("a.jsonl", format!("{}\n{}\n", line(&same), line(&old)));
        folder.ok(&["ingest", "-q", "--profile", "prose", "."]);
        folder.write("a.jsonl", format!("{}\n\n{}\n{}", line(&same), line(&new), line(&same)));
        // The empty line is counted and holds nothing, so the second document is a new one, and line 2 is gone.
        let run = folder.ok(&["ingest", ".", "--on-change", flag, "--format", "json"]).json();
        assert_eq!((&run[0]["added"], &run[0]["unchanged"]), (&2.into(), &1.into()), "{run:?}");
        folder.write("a.jsonl", format!("{}\n{}\n", line(&same), line(&new)));
        let run = folder.ok(&["ingest", ".", "--on-change", flag, "--format", "json"]).json();
        assert_eq!(
            (&run[0]["added"], &run[0]["replaced"], &run[0]["kept"]),
            (&counts.0.into(), &counts.1.into(), &counts.2.into()),
            "{run:?}"
        );
        folder.write("q.txt", kept);
        let found = folder.ok(&["query", "q.txt", "--format", "json"]).json();
        let matches = found[0]["matches"].as_array().unwrap();
        assert!(matches.iter().any(|found| found["document"] == "a.jsonl:2" && found["identical"] == true), "{flag}");
    }
}

#[test]
fn ids_do_not_depend_on_the_number_of_threads() {
    let everything = [
        "texts.tar",
        "texts.zip",
        "nested.zip",
        "texts.jsonl.zst",
        "texts.warc.gz",
        "texts.mbox",
        "fed01.txt.xz",
        "snappy.parquet",
    ];
    let folder = folder_with(&everything);
    let mut lists = Vec::new();
    for threads in ["1", "2", "7"] {
        let database = format!("db{threads}");
        let arguments =
            ["ingest", "-q", "--profile", "prose", "--db", &database, "--threads", threads, "--exclude", "db*", "."];
        folder.ok(&arguments);
        let list = folder.ok(&["list", "--db", &database, "--format", "json"]).json();
        let told: Vec<String> =
            list.iter().map(|document| format!("{} {}", document["name"], essence(document))).collect();
        assert_eq!(told.len(), 5 + 4 + 5 + 3 + 15 + 3 + 1 + 3 + 1 - 1, "{told:#?}");
        lists.push(told);
    }
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[0], lists[2]);
}

#[test]
fn a_run_that_is_stopped_within_a_container_is_finished_by_the_next() {
    let folder = Folder::new();
    let lines: Vec<String> = (0..3000).map(|number| serde_json::json!({ "text": prose(number) }).to_string()).collect();
    let path = folder.write("many.jsonl", lines.join("\n"));
    age(&path);
    let mut child = folder
        .command(&["ingest", "-q", "--profile", "prose", "--memory", "1MiB", "many.jsonl"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // If the run is stopped at any point, the result of the next run is the same.
    while !folder.path().join(".fpdb/FPDB").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(40));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = folder.run(&["stats", "--format", "json"]).json()[0]["documents"].as_u64().unwrap();
    let run = folder.ok(&["ingest", "many.jsonl", "--format", "json"]).json();
    assert_eq!(run[0]["added"].as_u64().unwrap() + before, 3000, "{before} before, {run:?}");
    if before < 3000 {
        assert_eq!(run[0]["unchanged"], before);
    }
    let all: Vec<String> = (1..=3000).map(|line| format!("many.jsonl:{line}")).collect();
    assert_eq!(names(&folder), all);
    folder.ok(&["verify"]);
}

/// An entry of any type is reported if it is neither a document nor a folder nor a header.
#[test]
fn entries_of_unknown_types_are_reported() {
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |kind: u8, name: &str, content: &str| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::new(kind));
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    };
    let text = prose(0);
    add(b'0', "a.txt", &text);
    add(b'5', "folder", "");
    add(b'g', "pax_global_header", "19 comment=nothing\n");
    add(b'V', "label", "");
    add(b'D', "listed", "Ya.txt\0\0");
    add(b'M', "rest.txt", &text);
    add(b'Z', "odd.txt", &text);
    add(b'6', "pipe", "");
    let folder = Folder::new();
    folder.write("a.tar", builder.into_inner().unwrap());
    let run = folder.ok(&["ingest", "--verbose", "a.tar"]);
    let skipped: Vec<&str> = run.stderr.lines().filter(|line| line.contains("skipped")).collect();
    assert_eq!(
        skipped[..3],
        [
            "skipped a.tar!rest.txt: an entry of an unknown type",
            "skipped a.tar!odd.txt: an entry of an unknown type",
            "skipped a.tar!pipe: neither a file nor a folder",
        ],
        "{}",
        run.stderr
    );
    assert_eq!(names(&folder), ["a.tar!a.txt"]);
}
