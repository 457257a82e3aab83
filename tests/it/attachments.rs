//! Attachments of mails as documents: from mail files, mailboxes and archives; their names; repeated runs;
//! commands that refer to them; limits.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip, names, zip};

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/samples").join(name)).unwrap()
}

/// A part of a mail: its file name (may be empty), its type, and its content, which is sent in base64.
type Attached<'a> = (&'a str, &'a str, &'a [u8]);

/// A mail with a text and these attachments. Nested mails need different boundaries.
fn mail(boundary: &str, text: &str, attached: &[Attached<'_>]) -> String {
    let mut mail = format!(
        "From: zoe@example.org\r\nMessage-ID: <{boundary}@example.org>\r\nSubject: late\r\nMIME-Version: 1.0\r\nContent-Type: \
         multipart/mixed; boundary={boundary}\r\n\r\n--{boundary}\r\nContent-Type: text/plain\r\n\r\n{text}\r\n"
    );
    for (name, kind, content) in attached {
        let name = if name.is_empty() { String::new() } else { format!("; filename=\"{name}\"") };
        let head = format!("--{boundary}\r\nContent-Type: {kind}\r\nContent-Disposition: attachment{name}\r\n");
        mail += &match *kind {
            "message/rfc822" => format!("{head}\r\n{}\r\n", str::from_utf8(content).unwrap()),
            _ => format!("{head}Content-Transfer-Encoding: base64\r\n\r\n{}\r\n", lines(&STANDARD.encode(content))),
        };
    }
    mail + &format!("--{boundary}--\r\n")
}

fn lines(text: &str) -> String {
    text.as_bytes().chunks(76).map(|line| format!("{}\r\n", str::from_utf8(line).unwrap())).collect()
}

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01";

/// Files to attach, with the names of the documents that they become.
fn files() -> Vec<(&'static str, &'static str, Vec<u8>, &'static str)> {
    let page = format!("<html><meta charset=iso-8859-1><p>caf\u{e9} {}</p>", prose(3));
    let latin: Vec<u8> = page.chars().map(|character| character as u8).collect();
    vec![
        ("essay.txt", "text/plain; charset=utf-8", prose(1).into_bytes(), "essay.txt"),
        ("essay.txt", "text/plain", prose(2).into_bytes(), "essay (2).txt"),
        ("paper.pdf", "application/pdf", sample("sample.pdf"), "paper.pdf"),
        ("memo", "application/octet-stream", sample("sample.docx"), "memo"),
        ("", "text/html", latin, "5.html"),
        ("../../all.zip", "application/zip", zip([("in/a.txt", prose(4).as_bytes())]), "all.zip!in/a.txt"),
        ("photo.png", "image/png", PICTURE.to_vec(), ""),
    ]
}

/// A mail with all of [`files`], and with an inner mail that has an attachment of its own.
fn full_mail() -> String {
    let files = files();
    let attached: Vec<Attached<'_>> =
        files.iter().map(|(name, kind, content, _)| (*name, *kind, content.as_slice())).collect();
    let inner = mail("inner", &prose(8), &[("essay.txt", "text/plain", prose(9).as_bytes())]);
    mail("outer", &prose(0), &[&attached[..], &[("", "message/rfc822", inner.as_bytes())]].concat())
}

fn list(folder: &Folder) -> Vec<Value> {
    folder.ok(&["list", "--format", "json"]).json()
}

/// The facts of a document that do not depend on its place.
fn essence(document: &Value) -> String {
    ["digest", "bytes", "symbols", "fingerprints", "format"].map(|field| document[field].to_string()).join(" ")
}

fn essences(folder: &Folder) -> BTreeMap<String, String> {
    list(folder).iter().map(|it| (it["name"].as_str().unwrap().to_owned(), essence(it))).collect()
}

/// Added, replaced, unchanged, removed and failed documents.
fn counts(run: &Run) -> [u64; 5] {
    let summary = &run.json()[0];
    ["added", "replaced", "unchanged", "removed", "failures"].map(|count| summary[count].as_u64().unwrap_or_default())
}

fn ingest(folder: &Folder, arguments: &[&str]) -> Run {
    folder.ok(&[&["ingest", "--profile", "prose", "--format", "json"], arguments].concat())
}

/// The oracle is an ingest of the attached files as plain files.
#[test]
fn attachments_are_the_documents_that_the_files_would_be() {
    let plain = Folder::new();
    for (number, (name, _, content, document)) in files().iter().enumerate() {
        let name = if name.is_empty() { "5.html" } else { name.rsplit('/').next().unwrap() };
        plain.write(&format!("{number}/{name}"), content);
        assert!(document.is_empty() || document.starts_with(name.split('.').next().unwrap()));
    }
    plain.write("zoe.eml", full_mail());
    ingest(&plain, &["."]);
    let plain = essences(&plain);
    let mut expected: BTreeMap<String, &String> = BTreeMap::new();
    for (number, (.., document)) in files().iter().enumerate().filter(|(_, (.., document))| !document.is_empty()) {
        let (_, essence) = plain.iter().find(|(name, _)| name.starts_with(&format!("{number}/"))).unwrap();
        expected.insert(format!("!{document}"), essence);
    }
    expected.insert(String::new(), &plain["zoe.eml"]);

    let mbox = format!("From a b Sat Jan  3 01:05:34 1996\n{}\n\n", full_mail()).repeat(2);
    for (name, content, mails) in [
        ("zoe.eml", full_mail().into_bytes(), vec!["zoe.eml"]),
        // The content shows that this is a mail.
        ("zoe", full_mail().into_bytes(), vec!["zoe"]),
        ("zoe.eml.gz", gzip(full_mail()), vec!["zoe.eml.gz"]),
        ("in.mbox", mbox.into_bytes(), vec!["in.mbox#1", "in.mbox#2"]),
        ("all.zip", zip([("a/zoe.eml", full_mail().as_bytes())]), vec!["all.zip!a/zoe.eml"]),
    ] {
        let folder = Folder::new();
        folder.write(name, content);
        let run = ingest(&folder, &["--attachments", name]);
        let summary = &run.json()[0];
        assert!(summary["attachments"].is_null() && !run.stderr.contains("attachment"), "{run:#?}");
        assert_eq!(summary["skips"], mails.len(), "the picture: {summary}");
        let found = essences(&folder);
        assert_eq!(found.len(), mails.len() * (expected.len() + 2), "{name}: {:?}", found.keys());
        for mail in &mails {
            for (suffix, essence) in &expected {
                // A mail in an mbox ends differently from a mail in a file.
                if !(suffix.is_empty() && name == "in.mbox") {
                    assert_eq!(
                        found.get(&format!("{mail}{suffix}")),
                        Some(*essence),
                        "{mail}{suffix} of {:?}",
                        found.keys()
                    );
                }
            }
            // The inner mail, and its attachment.
            for inner in ["!8.eml", "!8.eml!essay.txt"] {
                assert!(found.contains_key(&format!("{mail}{inner}")), "{:?}", found.keys());
            }
        }
        // Each text can be read again from its place: a query with a larger window needs the text.
        for document in names(&folder) {
            folder.ok(&["query", "--document", &document, "--window", "40", "--format", "json"]);
        }
    }
}

#[test]
fn a_passage_of_an_attachment_is_found_and_its_offsets_are_those_of_the_file() {
    let folder = Folder::new();
    let essay = format!("{}\n{}", prose(1), prose(2));
    folder.write("zoe.eml", mail("b", "see there", &[("essay.txt", "text/plain", essay.as_bytes())]));
    folder.write("query.txt", prose(2));
    ingest(&folder, &["--attachments", "zoe.eml"]);
    let answer = folder.ok(&["query", "query.txt", "--format", "json"]).json().remove(0);
    let found = &answer["matches"][0];
    assert_eq!(found["document"], "zoe.eml!essay.txt");
    let [start, end] = ["start", "end"].map(|end| found["passages"][0]["document"][end].as_u64().unwrap() as usize);
    assert_eq!(essay[start..end].trim(), prose(2).trim());
    // Queries the mail with its attachments, queries one attachment alone, and compares one with a file.
    let below = folder.ok(&["query", "--attachments", "zoe.eml", "--format", "json"]).json();
    let queries: Vec<&Value> = below.iter().map(|answer| &answer["query"]["name"]).collect();
    assert_eq!(queries, ["zoe.eml", "zoe.eml!essay.txt"]);
    for name in ["zoe.eml!essay.txt", "zoe.eml!/essay.txt"] {
        let one = folder.ok(&["query", name, "--format", "json"]).json().remove(0);
        assert_eq!(one["matches"][0]["document"], "zoe.eml!essay.txt", "{one}");
        let diff = folder.ok(&["diff", name, "query.txt", "--format", "json"]).json().remove(0);
        assert_eq!(diff["matches"][0]["passages"].as_array().unwrap().len(), 1, "{diff}");
    }
    // Without the option, the query says that an attachment was not read.
    let alone = folder.ok(&["query", "zoe.eml"]);
    assert!(alone.stderr.contains("1 attachment of mails was not read: --attachments reads them"), "{alone:#?}");
    let stored = folder.ok(&["query", "--document", "zoe.eml"]);
    assert!(!stored.stderr.contains("attachment"), "{stored:#?}");
    let diff = folder.ok(&["diff", "zoe.eml", "query.txt"]);
    assert!(diff.stderr.contains("name one to compare it"), "{diff:#?}");
    // Reports show the texts of attachments.
    folder.ok(&["query", "query.txt", "--format", "html", "-o", "report"]);
    folder.ok(&["pairs", "--format", "html", "-o", "pairs"]);
    folder.ok(&["verify"]);
}

#[test]
fn an_ingest_of_the_same_mails_finds_them_unchanged() {
    let folder = Folder::new();
    let two = |second: &str| {
        mail(
            "b",
            &prose(0),
            &[("a.txt", "text/plain", prose(1).as_bytes()), ("b.txt", "text/plain", second.as_bytes())],
        )
    };
    folder.write("in/zoe.eml", two(&prose(2)));
    folder.write("in/in.mbox", format!("From a b Sat Jan  3 01:05:34 1996\n{}", two(&prose(2))));
    let write = |name: &str, content: String| {
        folder.write(name, content);
        folder.age(name);
    };
    folder.age("in/zoe.eml");
    folder.age("in/in.mbox");
    assert_eq!(counts(&ingest(&folder, &["in"])), [2, 0, 0, 0, 0]);
    // Attachments are added to mails that were stored without them.
    assert_eq!(counts(&ingest(&folder, &["--attachments", "in"])), [4, 0, 2, 0, 0]);
    // The option is remembered.
    let again = ingest(&folder, &["in"]);
    assert_eq!(counts(&again), [0, 0, 6, 0, 0], "{again:#?}");
    assert!(again.stderr.contains("--attachments"), "{again:#?}");
    // A renamed mail keeps its documents.
    std::fs::rename(folder.path().join("in/zoe.eml"), folder.path().join("in/yan.eml")).unwrap();
    let before = list(&folder);
    let run = ingest(&folder, &["--prune", "--attachments", "in"]);
    assert_eq!(counts(&run), [0, 0, 6, 0, 0], "{run:#?}");
    let numbers = |list: &[Value]| list.iter().map(|document| document["id"].clone()).collect::<Vec<_>>();
    assert_eq!(numbers(&list(&folder)), numbers(&before));
    // A changed attachment is replaced, and one that is gone is removed.
    write("in/yan.eml", two(&prose(3)));
    assert_eq!(counts(&ingest(&folder, &["in"])), [0, 2, 4, 0, 0]);
    write("in/yan.eml", mail("b", &prose(0), &[("a.txt", "text/plain", prose(1).as_bytes())]));
    assert_eq!(counts(&ingest(&folder, &["in"])), [0, 1, 4, 1, 0]);
    assert_eq!(
        names(&folder),
        ["in/in.mbox#1", "in/in.mbox#1!a.txt", "in/in.mbox#1!b.txt", "in/yan.eml", "in/yan.eml!a.txt"]
    );
    // Without the option, the attachments no longer belong to the mails, and are removed.
    let run = ingest(&folder, &["--skip-hidden", "in"]);
    assert_eq!((counts(&run), names(&folder).len()), ([0, 0, 2, 3, 0], 2), "{run:#?}");
    assert_eq!(counts(&ingest(&folder, &["--attachments", "in"])), [3, 0, 2, 0, 0]);
    // A mail is renamed and removed together with its attachments.
    folder.ok(&["mv", "in/yan.eml", "mails/zoe.eml"]);
    assert!(names(&folder).contains(&"mails/zoe.eml!a.txt".to_owned()), "{:?}", names(&folder));
    folder.ok(&["rm", "--yes", "--prefix", "mails"]);
    std::fs::remove_file(folder.path().join("in/in.mbox")).unwrap();
    folder.write("in/other.txt", prose(7));
    ingest(&folder, &["--prune", "--attachments", "in/other.txt", "in"]);
    assert!(names(&folder).iter().all(|name| !name.contains("mbox")), "{:?}", names(&folder));
}

#[test]
fn an_attachment_has_the_kept_headers_of_its_mail() {
    let folder = Folder::new();
    let date = |day: u8| format!("Date: Mon, {day} Mar 1999 12:00:00 +0100\n");
    let inner =
        date(2) + &mail("i", &prose(0), &[("b.txt", "text/plain", prose(1).as_bytes())]).replace("late", "inner");
    let record = format!("{{\"text\": \"{}\", \"subject\": \"record\"}}\n", prose(2).trim().replace('\n', " "));
    let files = [
        ("a.txt", "text/plain", prose(3).into_bytes()),
        ("r.jsonl", "a/b", record.into_bytes()),
        ("in.eml", "application/octet-stream", inner.replace("From: zoe@example.org\r\n", "").into_bytes()),
    ];
    let attached = files.each_ref().map(|(name, kind, content)| (*name, *kind, content.as_slice()));
    folder.write("zoe.eml", date(1) + &mail("o", &prose(4), &attached));
    ingest(&folder, &["--attachments", "zoe.eml"]);
    // Attachments that are already stored get the kept fields too.
    let run = ingest(&folder, &["--attachments", "--keep-fields", "subject,date,from", "zoe.eml"]);
    assert_eq!(counts(&run), [0, 0, 5, 0, 0], "{run:#?}");
    let found: BTreeMap<String, Value> = list(&folder)
        .into_iter()
        .map(|document| (document["name"].as_str().unwrap().to_owned(), document["metadata"].clone()))
        .collect();
    let kept = |subject: &str| {
        let date = "1999-03-01T12:00:00+01:00";
        serde_json::json!({ "subject": subject, "date": date, "from": "zoe@example.org" })
    };
    let of_inner = serde_json::json!({ "subject": "inner", "date": "1999-03-02T12:00:00+01:00" });
    let expected = [
        ("zoe.eml", kept("late")),
        ("zoe.eml!a.txt", kept("late")),
        ("zoe.eml!r.jsonl:1", kept("record")),
        ("zoe.eml!in.eml", of_inner.clone()),
        ("zoe.eml!in.eml!b.txt", of_inner),
    ];
    assert_eq!(found, expected.map(|(name, metadata)| (name.to_owned(), metadata)).into());
}

/// An attached mail has its own headers, whatever its name. The attachments of this mail have the same
/// headers.
#[test]
fn a_forwarded_mail_has_its_own_headers() {
    let folder = Folder::new();
    let headed = |of: usize, mail: String| format!("Date: Mon, {of} Mar 1999 12:00:00 +0000\r\nX-Of: {of}\r\n{mail}");
    let innermost = headed(3, mail("iii", &prose(3), &[("c.txt", "text/plain", prose(4).as_bytes())]));
    let inner = headed(2, mail("ii", &prose(2), &[("Fwd: late", "message/rfc822", innermost.as_bytes())]));
    let outer = headed(1, mail("i", &prose(1), &[("old.eml", "message/rfc822", inner.as_bytes())]));
    folder.write("zoe.eml", &outer);
    folder.write("box.mbox", format!("From -\n{outer}\n"));
    ingest(&folder, &["--attachments", "--keep-fields", "x-of,date,message-id", "zoe.eml", "box.mbox"]);
    let metadata: BTreeMap<String, Value> = list(&folder)
        .into_iter()
        .map(|document| (document["name"].as_str().unwrap().to_owned(), document["metadata"].clone()))
        .collect();
    let mut expected = BTreeMap::new();
    for file in ["zoe.eml", "box.mbox#1"] {
        for (suffix, of, id) in [
            ("", 1, "i"),
            ("!old.eml", 2, "ii"),
            ("!old.eml!Fwd: late", 3, "iii"),
            ("!old.eml!Fwd: late!c.txt", 3, "iii"),
        ] {
            let date = format!("1999-03-0{of}T12:00:00Z");
            let id = format!("{id}@example.org");
            let kept = serde_json::json!({ "x-of": of.to_string(), "date": date, "message-id": id });
            expected.insert(format!("{file}{suffix}"), kept);
        }
    }
    assert_eq!(metadata, expected);
    // The text of an attached mail is also part of the text of the mails around it.
    folder.write("q.txt", prose(3));
    let answer = folder.ok(&["query", "q.txt", "--format", "json"]).json().remove(0);
    assert_eq!(answer["matches"].as_array().unwrap().len(), 6, "{answer}");
    assert_eq!(folder.ok(&["query", "--document", "zoe.eml!old.eml!Fwd: late", "--window", "40"]).status, 0);
}

#[test]
fn a_mail_with_another_version_keeps_its_attachments_without_advice() {
    let folder = Folder::new();
    for (text, attached) in [(1, 2), (3, 4)] {
        folder.write("zoe.eml", mail("one", &prose(text), &[("a.txt", "text/plain", prose(attached).as_bytes())]));
        ingest(&folder, &["--attachments", "--on-change", "both", "."]);
    }
    let versions = folder.ok(&["show", "zoe.eml", "--format", "json"]).json();
    assert_eq!(versions.len(), 2);
    let first = versions[0]["id"].to_string();
    let run = folder.ok(&["rm", "--id", &first]);
    assert!(!run.stderr.contains("attachment"), "{run:?}");
    let second = versions[1]["id"].to_string();
    assert!(folder.ok(&["rm", "--id", &second]).stderr.contains("of 1 removed mail stay"));
}

#[test]
fn attachments_of_a_removed_mail_stay_and_rm_names_the_command_that_removes_them() {
    let folder = Folder::new();
    let attached = prose(2);
    let parts = [("a.txt", "text/plain", attached.as_bytes()), ("b.txt", "text/plain", attached.as_bytes())];
    for name in ["zoe.eml", "zoe.eml.eml"] {
        folder.write(name, mail("one", &prose(1), &parts));
    }
    folder.write("text.txt", prose(3));
    ingest(&folder, &["--attachments", "."]);
    assert!(!folder.ok(&["rm", "text.txt"]).stderr.contains("attachments of"));
    let run = folder.ok(&["rm", "zoe.eml"]);
    let told = "2 attachments of 1 removed mail stay: `fpdb rm --prefix 'zoe.eml!' --yes` removes such documents";
    assert!(run.stderr.lines().any(|line| line == told), "{run:#?}");
    folder.ok(&["rm", "--prefix", "zoe.eml!", "--yes"]);
    // The command did not remove the other mail and its attachment.
    let run = folder.ok(&["rm", "--id", "4", "-q"]);
    assert_eq!(folder.ok(&["list"]).stdout.lines().count(), 2, "{run:#?}");
    assert!(folder.ok(&["list"]).stdout.contains("zoe.eml.eml!a.txt"));
}

/// A file of Apple Mail has the text, headers and attachments of the mail in it. Offsets count the text of
/// that mail.
#[test]
fn a_file_of_apple_mail_is_read_as_its_mail() {
    let folder = Folder::new();
    let one = mail("b", &prose(0), &[("a.txt", "text/plain", prose(1).as_bytes())]);
    folder.write("a.eml", &one);
    let list = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict><key>flags</key></dict></plist>\n";
    folder.write("b.emlx", format!("{:<10}\n{one}{list}", one.len()));
    folder.write("text.txt", prose(0));
    ingest(&folder, &["--attachments", "--keep-fields", "From,Subject", "a.eml", "b.emlx"]);
    assert_eq!(names(&folder), ["a.eml", "a.eml!a.txt", "b.emlx", "b.emlx!a.txt"]);
    let listed = folder.ok(&["list", "--format", "json"]).json();
    for (eml, emlx) in [(0, 2), (1, 3)] {
        for field in ["metadata", "symbols", "fingerprints", "format"] {
            assert_eq!(listed[eml][field], listed[emlx][field], "{field}");
        }
    }
    assert_eq!(listed[2]["metadata"]["Subject"], "late");
    assert_eq!(folder.ok(&["show", "--text", "b.emlx"]).stdout, folder.ok(&["show", "--text", "a.eml"]).stdout);
    let answer = folder.ok(&["query", "text.txt", "--format", "json"]).json().remove(0);
    let passages = |at: usize| answer["matches"][at]["passages"].clone();
    assert!(passages(0)[0]["exact"] == true && passages(0) == passages(1), "{answer}");
}

/// A report by which all documents of some mails are removable, and only some documents of other mails.
#[test]
fn apply_keeps_mails_and_attachments_together() {
    let folder = Folder::new();
    let one = mail("b", &prose(0), &[("a.txt", "text/plain", prose(1).as_bytes())]);
    let other = mail("c", &prose(2), &[("a.txt", "text/plain", prose(3).as_bytes())]);
    let half = mail("d", &prose(5), &[("a.txt", "text/plain", prose(3).as_bytes())]);
    let text = format!("From: a\nSubject: b\n\n{}\n", prose(4));
    let boxed = |mails: &[&String]| -> String {
        mails.iter().map(|mail| format!("From a b Sat Jan  3 01:05:34 1996\n{mail}\n\n")).collect()
    };
    folder.write("in/box.mbox", boxed(&[&one, &one, &other, &text, &half, &text, &text, &other]));
    for name in ["a.eml", "b.eml"] {
        folder.write(&format!("in/{name}"), &one);
    }
    ingest(&folder, &["--attachments", "in"]);
    let report = folder.ok(&["dedup", "--format", "json"]).stdout;
    folder.write("report.jsonl", report);
    let run = folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    // The attachment of `half` is removable, but the mail is not.
    assert!(read("clean/in/box.mbox") == boxed(&[&one, &other, &text, &half]), "{run:#?}");
    assert!(run.stdout.contains("a mail and its attachments stay together unless all are removable"), "{run:#?}");
    assert_eq!(read("clean/in/a.eml"), one);
    assert!(!folder.path().join("clean/in/b.eml").exists());
    folder.ok(&["apply", "--check", "report.jsonl", "--write", "clean"]);
    let run = folder.run(&["apply", "report.jsonl", "--remove", "--yes"]);
    assert!(folder.path().join("in/a.eml").exists() && folder.path().join("in/b.eml").exists(), "{run:#?}");
}

/// A list that names a mail and all its attachments, or only some of them. A picture is no document.
#[test]
fn a_listed_mail_leaves_with_its_attachments_or_not_at_all() {
    let folder = Folder::new();
    let inner = mail("i", &prose(6), &[("c.txt", "text/plain", prose(7).as_bytes())]);
    let attached: [Attached<'_>; 3] = [
        ("a.txt", "text/plain", prose(1).into_bytes().leak()),
        ("in.eml", "application/octet-stream", inner.as_bytes()),
        ("b.png", "image/png", PICTURE),
    ];
    let (one, note) = (mail("b", &prose(0), &attached), mail("c", &prose(2), &[("d.png", "image/png", PICTURE)]));
    let from = "From a@b Sat Jan  3 01:05:34 1996\n";
    folder.write("in/zoe.eml", &one);
    folder.write("in/box.mbox", format!("{from}{note}\n{from}{one}\n{from}{note}\n"));
    folder.write("in/leak.zip", zip([("zoe.eml", one.as_bytes()), ("note.eml", note.as_bytes())]));
    ingest(&folder, &["--attachments", "in"]);
    let copied = |listed: &[String]| -> (Run, Vec<String>) {
        let list: String = listed.iter().map(|name| format!("{{\"document\": \"{name}\"}}\n")).collect();
        folder.write("list.jsonl", list);
        std::fs::remove_dir_all(folder.path().join("clean")).ok();
        std::fs::remove_file(folder.path().join("clean.write.log")).ok();
        let run = folder.run(&["apply", "list.jsonl", "--write", "clean", "--yes"]);
        let stays = run.stdout.contains(" kept (");
        assert_eq!(run.status, if stays { 2 } else { 0 }, "{run:#?}");
        std::fs::remove_dir_all(folder.path().join("copied.db")).ok();
        folder.ok(&["ingest", "-q", "--db", "copied.db", "--attachments", "--on-change", "keep", "clean"]);
        let listed = folder.ok(&["list", "--db", "copied.db", "--format", "json"]).json();
        (run, listed.iter().map(|one| one["name"].as_str().unwrap().replacen("clean/", "", 1)).collect())
    };
    let all = copied(&["in/box.mbox#3".to_owned()]).1;
    assert_eq!(all.len(), 4 * 3 + 2, "a mail of which only a picture is attached is cut: {all:?}");
    for mail in ["in/zoe.eml", "in/box.mbox#2", "in/leak.zip!zoe.eml"] {
        let parts = ["", "!a.txt", "!in.eml", "!in.eml!c.txt"].map(|part| format!("{mail}{part}"));
        for subset in 1..16 {
            let listed: Vec<String> = parts
                .iter()
                .enumerate()
                .filter(|(at, _)| subset >> at & 1 == 1)
                .map(|(_, part)| part.clone())
                .collect();
            let (run, names) = copied(&listed);
            let left = if subset == 15 { 4 } else { 0 };
            assert_eq!(names.len(), 15 - left, "{listed:?} {run:#?}");
            let told = format!("{left} of {} listed document", listed.len());
            assert!(run.stdout.contains(&told), "{listed:?} {run:#?}");
            let why = "a mail and its attachments stay together unless all are removable";
            assert_eq!(run.stdout.contains(why), left == 0, "{listed:?} {run:#?}");
        }
    }
}

/// Attachments that could not be read, or were excluded, are not documents: they are removed with the mail,
/// and the run says so.
#[test]
fn attachments_that_are_no_documents_go_with_their_mail() {
    let folder = Folder::new();
    let (text, excluded) = (prose(1), prose(2));
    let attached: [Attached<'_>; 3] = [
        ("a.txt", "text/plain", text.as_bytes()),
        ("bad.pdf", "application/pdf", b"%PDF-1.7 damaged"),
        ("out.txt", "text/plain", excluded.as_bytes()),
    ];
    folder.write("in/zoe.eml", mail("b", &prose(0), &attached));
    folder.age("in/zoe.eml");
    folder.write("in/other.txt", prose(3));
    let run = folder.run(&["ingest", "-q", "--profile", "prose", "--attachments", "--exclude", "out.txt", "in"]);
    assert!(run.status == 2 && run.stderr.contains("bad.pdf"), "{run:?}");
    folder.write("list.jsonl", "{\"document\": \"in/zoe.eml\"}\n{\"document\": \"in/zoe.eml!a.txt\"}\n");
    let run = folder.ok(&["apply", "list.jsonl", "--write", "clean", "--yes"]);
    assert!(run.stderr.contains("such attachments stay or go with their mails"), "{run:?}");
    assert!(folder.path().join("clean/in/other.txt").exists());
    assert!(!folder.path().join("clean/in/zoe.eml").exists(), "{run:?}");
}

/// Only the content of an archive without an extension shows that the archive is no mail.
#[test]
fn an_archive_without_an_extension_is_no_mail_with_attachments() {
    let folder = Folder::new();
    let (text, record) = (prose(1), format!("{{\"body\": \"{}\"}}\n", prose(2).trim().replace('\n', " ")));
    let members = [("a.txt", text.as_bytes()), ("b.txt", text.as_bytes()), ("r.jsonl", record.as_bytes())];
    folder.write("in/archive", zip(members));
    ingest(&folder, &["--text-field", "body", "in"]);
    folder.write("report.jsonl", folder.ok(&["dedup", "--format", "json"]).stdout);
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    assert!(run.stdout.contains("it was ingested in several ways; it stays whole"), "{run:#?}");
}

#[test]
fn limits_and_damage_concern_only_attachments() {
    let folder = Folder::new();
    let bomb = zip([("zeros.txt", &vec![b'0'; 100 << 20])]);
    let broken = mail("b", &prose(0), &[("a.txt", "text/plain", prose(1).as_bytes()), ("b.pdf", "a/b", b"%PDF-1.4 x")])
        .replace(&STANDARD.encode(b"%PDF-1.4 x"), "JVBER*i0xLjQgeA");
    folder.write(
        "bomb.eml",
        mail("b", &prose(2), &[("b.zip", "application/zip", &bomb), ("c.txt", "text/plain", b"c c c c")]),
    );
    folder.write("broken.eml", broken);
    let mut nested = mail("b0", &prose(3), &[]);
    for depth in 1..12 {
        nested = mail(&format!("b{depth}b"), &prose(3), &[("in.eml", "application/octet-stream", nested.as_bytes())]);
    }
    folder.write("nested.eml", nested);
    let many = vec![("a.txt", "text/plain", &b"word word"[..]); 2000];
    folder.write("many.eml", mail("b", &prose(5), &many));
    let limits = ["--limit", "members=1000"];
    let run = folder.run(&[&["ingest", "--profile", "prose", "--attachments", "."], &limits[..]].concat());
    assert_eq!(run.status, 2, "{run:#?}");
    let names = names(&folder);
    for mail in ["bomb.eml", "broken.eml", "nested.eml", "many.eml", "bomb.eml!c.txt", "broken.eml!a.txt"] {
        assert!(names.contains(&mail.to_owned()), "{mail}: {names:?}");
    }
    for (name, words) in [
        ("bomb.eml!b.zip!zeros.txt", "it decompresses to more than"),
        ("broken.eml!b.pdf", "the base64 data cannot be decoded"),
        ("nested.eml!in.eml!in.eml", "containers and compressions lie within each other"),
        ("many.eml", "members"),
    ] {
        let told = run.stderr.lines().any(|line| line.contains(name) && line.contains(words));
        assert!(told, "{name}, {words}: {}", run.stderr);
    }
    assert_eq!(names.iter().filter(|name| name.starts_with("many.eml!")).count(), 1000);
    assert_eq!(names.iter().filter(|name| name.starts_with("nested.eml")).count(), 9);
}

#[test]
fn a_mail_that_cannot_be_read_fails_once_for_one_reason() {
    let folder = Folder::new();
    folder.write("zoe.eml", mail("b", &prose(0), &[("a.txt", "text/plain", prose(1).as_bytes())]));
    let failures = |limit: &str| {
        let run = folder.run(&["ingest", "--attachments", "--limit", limit, "--format", "json", "zoe.eml"]);
        let failures = run.json()[0]["failed"].as_array().unwrap().clone();
        failures.iter().map(|failure| failure["error"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let too_large = failures("whole-size=1000");
    assert!(too_large.len() == 1 && too_large[0].contains("read whole"), "{too_large:?}");
    let memory = failures("reading-memory=1000");
    assert!(memory.len() == 2 && memory[1].starts_with("its attachments cannot be read: "), "{memory:?}");
}

#[test]
fn globs_hold_for_attachments() {
    let folder = Folder::new();
    let one =
        mail("b", &prose(0), &[("a.txt", "text/plain", prose(1).as_bytes()), ("b.md", "a/b", prose(2).as_bytes())]);
    folder.write("in/a.eml", &one);
    folder.write("in/in.mbox", format!("From a b Sat Jan  3 01:05:34 1996\n{one}"));
    ingest(&folder, &["--attachments", "--exclude", "*.md", "in"]);
    assert_eq!(names(&folder), ["in/a.eml", "in/a.eml!a.txt", "in/in.mbox#1", "in/in.mbox#1!a.txt"]);
    ingest(&folder, &["--db", "other", "--attachments", "--include", "*.eml", "in"]);
    let listed = folder.ok(&["list", "--db", "other", "--format", "json"]).json();
    assert_eq!(listed.len(), 3, "{listed:?}");
}

#[test]
fn the_option_excludes_those_under_which_no_mail_is_opened() {
    let folder = Folder::new();
    for other in [&["--no-expand"][..], &["--as", "text"]] {
        let run = folder.run(&[&["ingest", "--attachments"], other, &["."]].concat());
        assert!(run.status == 2 && run.stderr.contains("cannot be used with"), "{run:#?}");
    }
}
