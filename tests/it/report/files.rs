//! A report on disk: its files and data are reproducible, and replace only an earlier report. JSON and CSV
//! have the same facts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fpdb::pairs::Pair;
use fpdb::{Location, Passage, QueryAnswer};
use serde::de::DeserializeOwned;

use super::data::{Overview, PairData, Places, TextData};
use super::{COPIES, corpus, files, legible, unpack};
use crate::support::{Folder, gzip, lcg, names};

/// The value in a data file, read strictly.
pub(super) fn part<T: DeserializeOwned>(files: &BTreeMap<String, Vec<u8>>, name: &str) -> T {
    let text = str::from_utf8(&files[&format!("data/{name}.js")]).unwrap();
    let packed = text
        .strip_prefix(&format!("/* data of a report of fpdb */fpdb(\"{name}\",\""))
        .unwrap()
        .strip_suffix("\");\n")
        .unwrap();
    serde_json::from_str(&unpack(packed)).unwrap()
}

/// Ranges from their columns: start and end of each.
fn ranges(places: &Places) -> Vec<[u64; 2]> {
    let starts = places.start.iter().scan(0, |from, step| {
        *from += step;
        Some(u64::try_from(*from).unwrap())
    });
    starts.zip(&places.length).map(|(start, length)| [start, start + length]).collect()
}

pub(super) fn overview(page: &[u8]) -> Overview {
    let page = str::from_utf8(page).unwrap();
    let json = page.split_once("<script type=\"application/json\" id=\"overview\">").unwrap().1;
    serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_report_is_a_folder_of_these_files() {
    let folder = Folder::new();
    corpus(&folder);
    let run = folder.ok(&["pairs", "--min-shared", "5", "--format", "html", "-o", "report"]);
    assert_eq!(run.stdout, "");
    let files = files(&folder.path().join("report"));
    insta::assert_snapshot!(files.keys().cloned().collect::<Vec<_>>().join("\n"), @r#"
    data/pair-1.js
    data/text-1.js
    data/text-2.js
    index.html
    "#);
    let mut overview = overview(&files["index.html"]);
    assert_eq!(std::mem::take(&mut overview.version), env!("CARGO_PKG_VERSION"));
    let histogram = std::mem::take(&mut overview.histogram);
    assert_eq!((histogram.len(), histogram[0], histogram[24]), (101, 3, 2));
    insta::assert_snapshot!(serde_json::to_string(&overview).unwrap().replace("],\"", "],\n\"").replace("},\"", "},\n\""), @r#"
    {"schema":"fpdb.report/1","version":"","command":"pairs","profile":{"unit":"char","k":25,"w":20,"selection":"robust","guarantee":44},
    "database":{"path":".fpdb","documents":5},
    "options":[["--min-shared","5"],["--min-resemblance","0"],["--max-df","1000"]],
    "measure":"resemblance","anonymous":false,"texts":true,"documents":[{"name":"docs/a.txt","role":"stored","bytes":329,"symbols":260,"extracted":false,"why":null},{"name":"docs/b.txt","role":"stored","bytes":307,"symbols":241,"extracted":false,"why":null}],
    "pairs":[{"a":0,"b":1,"shared":8,"resemblance":0.24242424242424243,"containment_a":0.34782608695652173,"containment_b":0.4444444444444444,"score":0.24242424242424243,"interval":null,"identical":false,"passages":1,"longest":137,"page":true}],
    "histogram":[],
    "compared":5,"submissions":0,"common":0,"boilerplate":0,"left_out":{"pairs":0,"least":null,"pages":0,"bytes":67108864,"unlisted":0,"beyond_top":0,"below":2},
    "failures":[]}
    "#);
    // Passages and measures equal those of the JSON. The data also have the places in the texts, which have
    // one byte per character here.
    let PairData { schema, found, a, b, symbols, agreement, same_names } = part(&files, "pair-1");
    assert_eq!(schema, "fpdb.report.pair/2");
    let answer: Vec<QueryAnswer> = lines(&folder.ok(&["query", "--document", "docs/a.txt", "--format", "json"]).stdout);
    let expected = &answer[0].matches[0];
    let mut without_passages = expected.clone();
    without_passages.passages.clear();
    assert_eq!(found, without_passages);
    for (side, span) in [(a, (|passage| &passage.query) as fn(&Passage) -> &Location), (b, |p| &p.document)] {
        let spans: Vec<[u64; 2]> =
            expected.passages.iter().map(|passage| [span(passage).start, span(passage).end]).collect();
        assert_eq!(ranges(&side.bytes), spans);
        assert_eq!((side.text, side.lines, side.marks), (true, None, None), "as the text has them");
        assert_eq!(side.pages, None, "no PDF");
    }
    assert_eq!(symbols, expected.passages.iter().map(|passage| passage.symbols).collect::<Vec<_>>());
    assert_eq!(agreement.len(), symbols.len());
    assert!(same_names.is_empty(), "prose has no names");
    let text: TextData = part(&files, &format!("text-{}", overview.pairs[0].b + 1));
    assert_eq!((text.schema.as_str(), text.text.as_str()), ("fpdb.report.text/1", COPIES[1].1));
}

#[test]
fn the_same_answers_make_the_same_bytes() {
    let folder = Folder::new();
    corpus(&folder);
    for (threads, name) in [("1", "one"), ("4", "two")] {
        folder.ok(&["pairs", "--format", "html", "-o", name, "--threads", threads]);
        folder.ok(&[
            "query",
            "docs/a.txt",
            "docs/b.txt",
            "--format",
            "html",
            "-o",
            &format!("query-{name}"),
            "--threads",
            threads,
        ]);
        folder.ok(&["pairs", "--format", "html", "-o", &format!("{name}.html"), "--single-file", "--threads", threads]);
    }
    assert_eq!(files(&folder.path().join("one")), files(&folder.path().join("two")));
    assert_eq!(files(&folder.path().join("query-one")), files(&folder.path().join("query-two")));
    assert_eq!(fs::read(folder.path().join("one.html")).unwrap(), fs::read(folder.path().join("two.html")).unwrap());
}

#[test]
fn only_a_report_is_replaced() {
    let folder = Folder::new();
    corpus(&folder);
    let refused = |arguments: &[&str], words: &str| {
        let before = files(folder.path());
        let run = folder.run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
        assert_eq!(files(folder.path()), before, "{arguments:?} left something");
    };
    refused(&["pairs", "--format", "html", "-o", "docs"], "it is a folder of other files");
    folder.write("other.txt", "no report");
    refused(&["pairs", "--format", "html", "-o", "other.txt"], "it is a file");
    refused(&["pairs", "--format", "html", "-o", "other.txt", "--single-file"], "something else is there");
    refused(&["pairs", "--format", "html", "-o", "docs/a.txt"], "which is stored");
    fs::create_dir(folder.path().join("empty")).unwrap();
    for target in ["empty", "new/er", "empty"] {
        folder.ok(&["pairs", "--format", "html", "-o", target]);
    }
    // A report of fewer pairs leaves no file of the earlier report.
    folder.ok(&["pairs", "--format", "html", "-o", "empty", "--max-report-pairs", "1"]);
    let left: Vec<String> = files(&folder.path().join("empty")).into_keys().collect();
    assert_eq!(left, ["data/pair-1.js", "data/text-1.js", "data/text-2.js", "index.html"]);
    folder.write("empty/notes.txt", "mine");
    refused(&["pairs", "--format", "html", "-o", "empty"], "beside a report it holds notes.txt");
    fs::remove_file(folder.path().join("empty/notes.txt")).unwrap();
    folder.write("empty/data/mine.js", "mine");
    refused(&["pairs", "--format", "html", "-o", "empty"], "beside a report it holds mine.js");
    folder.ok(&["pairs", "--format", "html", "-o", "one.html", "--single-file"]);
    folder.ok(&["pairs", "--format", "html", "-o", "one.html", "--single-file"]);
    refused(&["pairs", "--format", "html", "-o", "one.html"], "add --single-file");
}

#[test]
fn html_needs_a_place_and_a_command_that_has_it() {
    let folder = Folder::new();
    corpus(&folder);
    let error = |arguments: &[&str]| {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        run.stderr
    };
    assert!(error(&["pairs", "--format", "html"]).contains("name it with -o DIR"));
    assert!(error(&["query", "docs/a.txt", "--format", "html"]).contains("name it with -o DIR"));
    assert!(error(&["diff", "docs/a.txt", "docs/b.txt", "--format", "html"]).contains("name it with -o DIR"));
    assert!(error(&["pairs", "--anonymise"]).contains("--anonymise is for reports"));
    assert!(error(&["pairs", "--passages"]).contains("--passages is for --format json and csv"));
    for command in [&["list"][..], &["stats"], &["show", "docs/a.txt"]] {
        assert!(error(&[command, &["--format", "html", "-o", "x"]].concat()).contains("invalid value 'html'"));
    }
}

#[test]
fn limits_are_kept_and_told() {
    let folder = Folder::new();
    corpus(&folder);
    let all = folder.ok(&["pairs", "--format", "json"]).json();
    folder.ok(&["pairs", "--format", "html", "-o", "few", "--max-report-pairs", "2"]);
    let few = overview(&files(&folder.path().join("few"))["index.html"]);
    assert_eq!((all.len(), few.pairs.len(), few.left_out.pairs), (3, 2, 1));
    assert_eq!(few.left_out.least, all[2]["resemblance"].as_f64());
    assert_eq!(few.histogram.iter().sum::<u64>(), few.compared, "the histogram counts all");
    let top = folder.ok(&["pairs", "--format", "html", "-o", "top", "--top", "2"]);
    assert!(top.stderr.contains("1 further pair with a lower score is not in it (--top)"), "{top:?}");
    let top = overview(&files(&folder.path().join("top"))["index.html"]);
    assert_eq!((top.pairs.len(), top.left_out.pairs, top.left_out.beyond_top), (2, 0, all.len() as u64 - 2));
    assert!(top.options.contains(&("--top".to_owned(), "2".to_owned())), "{:?}", top.options);
    folder.ok(&["pairs", "--format", "html", "-o", "all"]);
    let whole = overview(&files(&folder.path().join("all"))["index.html"]);
    assert_eq!(few.histogram, whole.histogram);

    // The size has room for the texts and passages of the best pair only.
    folder.ok(&["pairs", "--format", "html", "-o", "small", "--max-report-size", "2000"]);
    let small = files(&folder.path().join("small"));
    let shown = overview(&small["index.html"]);
    assert_eq!(shown.pairs.len(), all.len());
    let pages: Vec<bool> = shown.pairs.iter().map(|pair| pair.page).collect();
    assert!(pages[0] && shown.left_out.pages > 0);
    assert_eq!(shown.left_out.pages, pages.iter().filter(|&&page| !page).count() as u64);
    assert_eq!(small.keys().filter(|name| name.contains("pair-")).count(), pages.iter().filter(|&&page| page).count());
}

/// Some texts compress badly, some well. The limit counts the written bytes, in any order of pairs.
#[test]
fn no_more_bytes_are_embedded_than_are_asked_for() {
    let folder = Folder::new();
    let mut next = lcg(1);
    for pair in 0..6 {
        let mut letters =
            |many: usize| -> String { (0..many).map(|_| char::from(b'a' + next(256) as u8 % 26)).collect() };
        let (shared, own) = (letters(2000), letters(500 * pair));
        folder.write(&format!("docs/{pair}-a.txt"), &shared);
        folder.write(&format!("docs/{pair}-b.txt"), format!("{shared} {own} {}", "so on ".repeat(300 * (pair % 2))));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let embedded = |size: u64, place: &[&str]| {
        let size = size.to_string();
        folder.ok(&[&["pairs", "--format", "html", "--max-report-size", &size], place].concat());
        let all = files(&folder.path().join("report"));
        let pages = all.keys().filter(|name| name.starts_with("data/pair-")).count();
        let bytes =
            all.iter().filter(|(name, _)| name.starts_with("data/")).map(|(_, data)| data.len() as u64).sum::<u64>();
        (pages, bytes)
    };
    let (all, whole) = embedded(1 << 20, &["-o", "report"]);
    assert!(all >= 6, "{all} pages");
    for size in [0, 1000, 5000, 9000, 15_000, 25_000, whole - 1, whole + 2000] {
        let (pages, bytes) = embedded(size, &["-o", "report"]);
        assert!(
            bytes <= size && (pages > 0 || size < 9000) && (pages == all) == (size > whole),
            "{pages} in {bytes} of {size}"
        );
    }
    // In a single-file report, the parts do not exceed the limit either.
    let file = |size| {
        embedded(size, &["-o", "report.html", "--single-file"]);
        fs::metadata(folder.path().join("report.html")).unwrap().len()
    };
    let (none, some) = (file(0), file(15_000));
    assert!(none + 5000 < some && some <= none + 15_000 + 100, "{none} and {some}");
}

#[test]
fn texts_that_are_gone_are_told_of() {
    let folder = Folder::new();
    corpus(&folder);
    fs::remove_file(folder.path().join("docs/a.txt")).unwrap();
    folder.write("docs/b.txt", "something else");
    let run = folder.run(&["pairs", "--format", "html", "-o", "report"]);
    assert_eq!(run.status, 2, "{run:?}");
    let overview = overview(&files(&folder.path().join("report"))["index.html"]);
    let failed: Vec<&str> = overview.failures.iter().map(|failure| failure.name.as_str()).collect();
    assert_eq!(failed, ["docs/a.txt", "docs/b.txt"]);
    let gone = overview.documents.iter().filter(|document| document.why.is_some()).count();
    assert_eq!(gone, 2);
}

/// A file of records of any size is searched for its texts.
#[test]
fn records_of_a_large_file_are_shown() {
    let folder = Folder::new();
    let mut lines = String::new();
    for (_, text) in &COPIES[..2] {
        lines += &format!("{}\n", serde_json::json!({"text": text}));
        let padding = format!("{{\"text\":null,\"padding\":\"{}\"}}\n", "x".repeat(1 << 20));
        lines += &padding.repeat(33);
    }
    assert!(lines.len() > 64 << 20);
    folder.write("records.jsonl", lines);
    folder.ok(&["ingest", "-q", "--profile", "prose", "records.jsonl"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    let all = files(&folder.path().join("report"));
    let overview = overview(&all["index.html"]);
    assert!(overview.failures.is_empty() && overview.documents.iter().all(|document| document.why.is_none()));
    for (number, (_, text)) in (1..).zip(&COPIES[..2]) {
        assert_eq!(part::<TextData>(&all, &format!("text-{number}")).text, *text);
    }
}

#[test]
fn standard_input_is_shown_too() {
    let folder = Folder::new();
    corpus(&folder);
    for (name, report) in [("-", "unnamed"), ("essays/ben.txt", "named")] {
        let input = fs::File::open(folder.path().join("docs/b.txt")).unwrap();
        let arguments = ["query", "-", "--name", name, "--format", "html", "-o", report];
        let status = folder.command(&arguments).stdin(input).status().unwrap();
        assert!(status.success());
        let all = files(&folder.path().join(report));
        let overview = overview(&all["index.html"]);
        assert_eq!(overview.documents[0].name, name);
        let text: TextData = part(&all, "text-1");
        assert_eq!(text.text, COPIES[1].1);
    }
}

/// A queried file is shown as it was read: unpacked, and as the text of its format.
#[test]
fn a_file_of_any_format_is_shown_as_the_stored_one_is() {
    let samples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/samples");
    let names =
        ["sample.docx", "sample.epub", "sample.ipynb", "sample.html", "sample-windows-1252.html", "fed01.txt.gz"];
    for name in names {
        let folder = Folder::new();
        folder.write(&format!("stored/{name}"), fs::read(samples.join(name)).unwrap());
        folder.write(name, fs::read(samples.join(name)).unwrap());
        folder.ok(&["ingest", "--profile", "prose", "stored"]);
        let queried = ["query", name, "--format", "html", "-o", "queried"];
        let compared =
            ["diff", "--profile", "prose", name, &format!("stored/{name}"), "--format", "html", "-o", "compared"];
        for (arguments, report) in [(&queried[..], "queried"), (&compared[..], "compared")] {
            folder.ok(arguments);
            let all = files(&folder.path().join(report));
            let PairData { a, b, .. } = part(&all, "pair-1");
            assert_eq!(a, b, "{name} {report}");
            assert!(a.text && !a.bytes.start.is_empty(), "{name} {report}");
            let texts = ["text-1", "text-2"].map(|number| part::<TextData>(&all, number).text);
            assert_eq!(texts[0], texts[1], "{name} {report}");
        }
    }
}

#[test]
fn nothing_of_names_is_left_in_an_anonymous_report() {
    let folder = Folder::new();
    corpus(&folder);
    let here = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let forbidden = ["docs", ".txt", "missing", "secret", &here];
    let check = |name: &str| {
        for (file, data) in legible(files(&folder.path().join(name))) {
            // The page's own script and style contain such words, but its data must not.
            let data =
                if file == "index.html" { serde_json::to_string(&overview(data.as_bytes())).unwrap() } else { data };
            for word in forbidden {
                assert!(!data.contains(word), "{word} in {name}/{file}");
            }
        }
    };
    folder.ok(&["pairs", "--across", "docs/a", "docs/b", "--anonymise", "--format", "html", "-o", "pairs"]);
    check("pairs");
    let run = folder.run(&["query", "docs/b.txt", "missing.txt", "--anonymise", "--format", "html", "-o", "query"]);
    assert_eq!(run.status, 2);
    check("query");
    folder.ok(&[
        "diff",
        "docs/a.txt",
        "docs/b.txt",
        "--profile",
        "prose",
        "--anonymise",
        "--format",
        "html",
        "-o",
        "diff",
    ]);
    check("diff");
    fs::remove_file(folder.path().join("docs/a.txt")).unwrap();
    folder.run(&["pairs", "--anonymise", "--format", "html", "-o", "gone"]);
    check("gone");
    let names: Vec<String> =
        overview(&files(&folder.path().join("query"))["index.html"]).documents.into_iter().map(|d| d.name).collect();
    assert_eq!(names[..2], ["Document 1", "Document 2"]);
    // Ignored text is reported, but not the file that lists it.
    folder.write("secret-phrases.txt", "a heavy brass lamp\n");
    let flags = ["--skip-quotes", "--ignore-phrases", "secret-phrases.txt", "--anonymise", "--format", "html"];
    for command in [&["query", "docs/b.txt"][..], &["diff", "docs/b.txt", "docs/c.txt", "--profile", "prose"]] {
        folder.run(&[command, &flags, &["-o", "skipping"]].concat());
        check("skipping");
        let told = overview(&files(&folder.path().join("skipping"))["index.html"]).options;
        for flag in ["--skip-quotes", "--ignore-phrases"] {
            assert!(told.contains(&(flag.into(), "yes".into())), "{told:?}");
        }
    }
    // Metadata tells who wrote the documents.
    folder.write(
        "labels.csv",
        "filename,label,author,group\ndocs/b.txt,plagiarised,Maria Keller,class-7b\ndocs/d.txt,genuine,Jonas Weber,class-9a\n",
    );
    folder.ok(&["--db", "labelled", "ingest", "-q", "--profile", "prose", "--metadata", "labels.csv", "docs"]);
    let told = folder.ok(&["--db", "labelled", "list", "--format", "json"]).stdout;
    let secret = ["plagiarised", "Maria", "Keller", "class-7b", "genuine", "Jonas", "class-9a", "author", "docs/"];
    assert!(secret.iter().all(|word| told.contains(word)), "{told}");
    for command in [&["query", "docs/d.txt"][..], &["query", "--document", "docs/d.txt"], &["pairs"]] {
        for place in [&["-o", "labelled-folder"][..], &["-o", "labelled.html", "--single-file"]] {
            let flags = ["--db", "labelled", "--anonymise", "--no-text", "--format", "html"];
            folder.ok(&[command, &flags, place].concat());
        }
        let mut written = files(&folder.path().join("labelled-folder"));
        assert!(written.keys().any(|name| name.starts_with("data/pair-")), "{command:?}");
        written.insert("labelled.html".into(), fs::read(folder.path().join("labelled.html")).unwrap());
        for (file, data) in legible(written) {
            for word in secret.into_iter().filter(|&word| word != "author") {
                assert!(!data.contains(word), "{word} in {file} of {command:?}");
            }
        }
        fs::remove_dir_all(folder.path().join("labelled-folder")).unwrap();
    }
    // The texts stay in the report unless --no-text leaves them out.
    let words = "heavy brass lamp";
    let holds = |name: &str| legible(files(&folder.path().join(name))).values().any(|file| file.contains(words));
    assert!(holds("query"));
    folder.ok(&["query", "docs/b.txt", "--no-text", "--format", "html", "-o", "bare"]);
    assert!(!holds("bare"));
}

/// The size of a document is that of its unpacked text. A document that is queried several times is listed
/// once.
#[test]
fn documents_are_counted_once_and_unpacked() {
    let folder = Folder::new();
    corpus(&folder);
    let text = COPIES[1].1;
    folder.write("b.txt.gz", gzip(text));
    let diff = ["diff", "docs/a.txt", "b.txt.gz", "--profile", "prose", "--no-text", "--format", "html", "-o", "diff"];
    folder.ok(&diff);
    let documents = overview(&files(&folder.path().join("diff"))["index.html"]).documents;
    let stored = folder.ok(&["list", "docs/b.txt", "--format", "json"]).json();
    assert_eq!(documents[1].bytes, text.len() as u64);
    assert_eq!(documents[1].symbols, stored[0]["symbols"].as_u64());
    folder.ok(&["query", "docs/a.txt", "docs/a.txt", "docs/b.txt", "--format", "html", "-o", "twice"]);
    folder.ok(&["query", "docs/a.txt", "docs/b.txt", "--format", "html", "-o", "once"]);
    assert_eq!(files(&folder.path().join("twice")), files(&folder.path().join("once")));
}

/// Input that can be read only once is kept until the report is written.
#[test]
fn a_pipe_is_shown_too() {
    let folder = Folder::new();
    corpus(&folder);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = folder.path().join("pipe");
    let writer = std::thread::spawn(move || fs::write(pipe, COPIES[1].1).unwrap());
    folder.ok(&["query", "pipe", "--format", "html", "-o", "report"]);
    writer.join().unwrap();
    let all = files(&folder.path().join("report"));
    assert_eq!(overview(&all["index.html"]).documents[0].name, "pipe");
    assert_eq!(part::<TextData>(&all, "text-1").text, COPIES[1].1);
}

#[test]
fn pairs_have_their_passages_as_json_and_csv() {
    let folder = Folder::new();
    corpus(&folder);
    let plain: Vec<Pair> = lines(&folder.ok(&["pairs", "--format", "json"]).stdout);
    let told: Vec<Pair> = lines(&folder.ok(&["pairs", "--format", "json", "--passages"]).stdout);
    let without = |pair: &Pair| {
        let mut pair = pair.clone();
        (pair.passages, pair.longest) = (None, None);
        pair
    };
    assert_eq!(told.iter().map(without).collect::<Vec<_>>(), plain);
    for pair in &told {
        let answer = folder.ok(&["query", "--document", &pair.a, "--top", "0", "--format", "json"]).stdout;
        let answer: Vec<QueryAnswer> = lines(&answer);
        let found = answer[0].matches.iter().find(|found| found.id == pair.b_id).unwrap();
        assert_eq!(pair.passages.as_ref(), Some(&found.passages), "{} {}", pair.a, pair.b);
    }
    let csv = folder.ok(&["pairs", "--format", "csv", "--passages"]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    let expected: usize = told.iter().map(|pair| pair.passages.as_ref().unwrap().len().max(1)).sum();
    assert_eq!(rows.len(), expected);
    let first = &told[0].passages.as_ref().unwrap()[0];
    assert_eq!(rows[0]["a_start"], first.query.start.to_string());
    assert_eq!(rows[0]["b_last_line"], first.document.lines[1].to_string());
    let plain = folder.ok(&["pairs", "--format", "csv"]).stdout;
    let columns = "a,b,shared,resemblance,containment_a,containment_b,a_id,b_id,score,a_metadata,b_metadata,\
                   resemblance_without_boilerplate,containment_a_without_boilerplate,containment_b_without_boilerplate\n";
    assert!(plain.starts_with(columns), "{plain}");
}

fn lines<T: DeserializeOwned>(output: &str) -> Vec<T> {
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_report_is_as_readable_as_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report.html", "--single-file"]);
    fs::create_dir(folder.path().join("plain")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    let at = |name: &str| folder.path().join(name);
    assert_eq!(mode(&at("report")), mode(&at("plain")));
    assert_eq!(mode(&at("report.html")), mode(&at("docs/a.txt")));
}

/// A report repeats texts, so an ingested report would match these texts and other reports.
#[test]
fn reports_in_a_folder_are_no_documents() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["pairs", "--format", "html", "-o", "docs/report"]);
    folder.ok(&["pairs", "--format", "html", "-o", "docs/single.html", "--single-file"]);
    folder.ok(&["query", "docs/a.txt", "--format", "html", "-o", "docs/query.html", "--single-file"]);
    let report = fs::read_to_string(folder.path().join("docs/single.html")).unwrap();
    // Other pages, even with the mark, are documents.
    for (name, page) in [("later", format!("\n{report}")), ("lower", report.replacen("DOCTYPE", "doctype", 1))] {
        folder.write(&format!("docs/{name}.html"), page);
    }
    folder.write("docs/data.js", "fpdb(\"text-1\",\"a text of another program, which is a document\");\n");
    // Neither a comment alone nor a name alone makes a file a report.
    let mark = "/* data of a report of fpdb */";
    folder.write("docs/hw.c", format!("{mark}fpdb(\"\nint main() {{ return 0; }}\n"));
    folder.write("docs/hw.js", format!("{mark}\nlet a = 1;\n"));
    folder.write("docs/page.txt", &report);
    folder.write("docs/mark.html", report.replacen("'sha256-", "'self' 'sha256-", 1));
    let before = names(&folder).len();
    let ingested = folder.ok(&["ingest", "--format", "json", "docs"]);
    let run = ingested.json().remove(0);
    let skipped: Vec<&str> = run["skipped"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let data = fs::read_dir(folder.path().join("docs/report/data")).unwrap().count();
    assert_eq!((run["skips"].as_u64().unwrap(), run["added"].as_u64().unwrap()), (3 + data as u64, 7), "{run}");
    assert!(
        ["docs/query.html", "docs/report/index.html", "docs/single.html"].iter().all(|name| skipped.contains(name))
    );
    assert_eq!(run["skipped"][0]["reason"], "a report of fpdb, which repeats texts of other files");
    // Queries of a folder skip them too. Notes name each page, and each folder of data once.
    let queried = folder.ok(&["query", "docs", "--format", "json"]);
    for run in [&ingested, &queried] {
        let noted: Vec<&str> = run.stderr.lines().filter(|line| line.contains(": a report of fpdb")).collect();
        assert_eq!(noted.len(), 4, "{run:?}");
        for name in ["docs/query.html", "docs/report/data/", "docs/report/index.html", "docs/single.html"] {
            assert!(noted.iter().any(|line| line.contains(&format!("skipped {name}: "))), "{name} {run:?}");
        }
    }
    let answers = queried.json();
    assert!(answers.iter().all(|answer| !skipped.contains(&answer["query"]["name"].as_str().unwrap())), "{answers:#?}");
    assert_eq!(answers.len(), before + 7);
    // A report that the user names becomes a document, and stays stored.
    folder.ok(&["ingest", "-q", "docs/single.html"]);
    folder.ok(&["ingest", "-q", "--prune", "docs"]);
    assert_eq!(names(&folder).len(), before + 8);
    folder.ok(&["query", "docs/query.html"]);
}
