//! `--include` and `--exclude` apply to members of archives as they do to files.

use serde_json::Value;

use super::hostile::tar_of;
use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, zip};

/// Two archives, one of them with an inner archive, and a file and records beside them.
fn submissions() -> Folder {
    let folder = Folder::new();
    let (a, b, c) = (prose(1), prose(2), prose(3));
    let inner = tar_of(&[("src/In.java", prose(4).as_bytes()), ("notes.txt", prose(5).as_bytes())]);
    let members = [("src/A.java", a.as_bytes()), ("README.pdf", &b"no pdf"[..]), ("b.txt", b.as_bytes())];
    folder.write("hw/ann.zip", zip([&members[..], &[("inner.tar", &inner)]].concat()));
    folder.write("hw/bob.tar", tar_of(&[("B.java", c.as_bytes())]));
    folder.write("hw/C.java", prose(6));
    folder.write("hw/records.jsonl", format!("{{\"text\":\"{}\"}}\n", prose(7).replace('\n', " ")));
    folder
}

fn added(paths_and_flags: &[&str]) -> Vec<String> {
    let folder = submissions();
    folder.ok(&[&["ingest", "-q", "--profile", "prose"], paths_and_flags].concat());
    names(&folder)
}

#[test]
fn includes_reach_into_archives_and_excludes_too() {
    let java = ["hw/C.java", "hw/ann.zip!src/A.java", "hw/ann.zip!inner.tar!src/In.java", "hw/bob.tar!B.java"];
    assert_eq!(added(&["hw", "--include", "*.java"]), java);
    assert_eq!(added(&["hw", "--include", "hw/ann.zip/src"]), ["hw/ann.zip!src/A.java"]);
    assert_eq!(added(&["hw", "--include", "*.java", "--exclude", "inner.tar"]), [java[0], java[1], java[3]]);
    // An archive that matches by its own name is ingested whole. An excluded archive is not opened.
    assert_eq!(added(&["hw", "--include", "bob.*"]), ["hw/bob.tar!B.java"]);
    assert_eq!(added(&["hw", "--include", "*.java", "--exclude", "ann.zip"]), [java[0], java[3]]);
    // The damaged PDF is not read. A record is included if its file is.
    let rest = ["hw/ann.zip!b.txt", "hw/ann.zip!inner.tar!notes.txt", "hw/records.jsonl:1"];
    assert_eq!(added(&["hw", "--exclude", "*.pdf", "--exclude", "*.java"]), rest);
    assert_eq!(added(&["hw", "--exclude", "hw/ann.zip!*.pdf", "--include", "*.txt"]), rest[..2]);
    assert_eq!(added(&["hw", "--include", "*.jsonl"]), rest[2..]);
    assert_eq!(added(&["hw/ann.zip", "--include", "*.txt"]), rest[..2]);
    // With --no-expand, an archive is a document with its own name.
    assert_eq!(added(&["hw", "--include", "*.java", "--no-expand"]), ["hw/C.java"]);
}

#[test]
fn excludes_reach_into_archives_and_mails_without_the_name_of_one() {
    let folder = Folder::new();
    let inner = zip([("secret.txt", prose(1)), ("open.txt", prose(2))]);
    let mail = format!(
        "From: a@b\nSubject: c\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n{}\n--x\n\
         Content-Disposition: attachment; filename=secret.txt\n\n{}\n--x--\n",
        prose(3),
        prose(4)
    );
    folder.write("n.zip", zip([("bundle.dat", &inner[..]), ("post", mail.as_bytes())]));
    let ingest = ["ingest", "-q", "--profile", "prose", "--attachments", "n.zip"];
    folder.ok(&[&ingest[..], &["--exclude", "secret.txt"]].concat());
    assert_eq!(names(&folder), ["n.zip!bundle.dat!open.txt", "n.zip!post"]);
    folder.ok(&[&ingest[..], &["--exclude", "n.zip/post/*"]].concat());
    assert_eq!(names(&folder).len(), 3);
}

#[test]
fn an_include_that_matches_nothing_is_said() {
    let folder = submissions();
    let run = folder.ok(&["ingest", "-q", "hw", "--include", "*.rs"]);
    assert!(run.stderr.contains("warning: no file or member matches *.rs (--include)"), "{run:?}");
}

/// Files and members that a remembered glob leaves out are counted, because the user did not type the glob
/// for this run.
#[test]
fn what_a_remembered_glob_leaves_out_is_counted() {
    let folder = submissions();
    let first = folder.ok(&["ingest", "hw", "--include", "*.java", "--exclude", "bob.*"]);
    assert!(!first.stderr.contains("left out by"), "{first:?}");
    folder.write("hw/ann.zip", zip([("src/A.java", prose(1)), ("b.txt", prose(2)), ("new.txt", prose(11))]));
    folder.age("hw/ann.zip");
    let again = ["ingest", "hw/ann.zip"];
    let told = folder.ok(&again);
    let note = "2 files and members were left out by the remembered ";
    let line = told.stderr.lines().find_map(|line| line.strip_prefix(note)).unwrap_or_default();
    assert!(line.contains("--include=*.java'") && line.contains("bob.*'"), "{told:?}");
    // In this folder, the glob leaves out an archive and a file with records.
    let run = folder.ok(&["ingest", "hw", "--format", "json"]);
    assert!(run.stderr.contains(note) && run.json()[0]["left_out"] == 2, "{run:?}");
    assert_eq!(folder.ok(&[&again[..], &["-q"]].concat()).stderr, "");
}

#[test]
fn members_left_out_stay_and_other_globs_read_an_archive_again() {
    let folder = submissions();
    let ingest = |flags: &[&str]| -> Value {
        folder.age("hw/ann.zip");
        folder.ok(&[&["ingest", "-q", "--format", "json", "hw/ann.zip"], flags].concat()).json().remove(0)
    };
    assert_eq!(ingest(&["--include", "*.java"])["added"], 2);
    assert_eq!(ingest(&["--include", "*.java"])["unchanged"], 2);
    let more = ingest(&["--include", "*.txt"]);
    assert_eq!((&more["added"], &more["removed"]), (&2.into(), &0.into()));
    // The document of a missing member is removed. The document of an excluded member stays.
    folder.write("hw/ann.zip", zip([("src/A.java", prose(1))]));
    let less = ingest(&["--include", "*.txt"]);
    assert_eq!(names(&folder), ["hw/ann.zip!src/A.java"], "{less}");
    folder.ok(&["verify"]);
}

/// Files whose parts have names of each form. All texts differ.
fn parts_of_each_form() -> Folder {
    let folder = Folder::new();
    let mail = |n: usize| format!("From zoe@example.org\nFrom: zoe@example.org\nSubject: s{n}\n\n{}\n\n", prose(n));
    let mbox = |first: usize| format!("{}{}", mail(first), mail(first + 1));
    let lines = |first: usize| -> String {
        (first..first + 2).map(|n| serde_json::json!({"text": prose(n)}).to_string() + "\n").collect()
    };
    let page = |n: usize| {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", prose(n));
        let head = format!("WARC-Target-URI: http://example.org/a/{n}?x=[1]");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\n{head}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    folder.write("in/box.mbox", mbox(1));
    folder.write("in/rows.jsonl", lines(3));
    folder.write("in/web.warc", page(5) + &page(6));
    let inner = zip([("a.txt", prose(7)), ("b[1].txt", prose(8))]);
    let (old, rows, text) = (mbox(9), lines(11), prose(13));
    let members: [(&str, &[u8]); 4] = [
        ("m/old.mbox", old.as_bytes()),
        ("l.jsonl", rows.as_bytes()),
        ("inner.zip", &inner),
        ("C#/x.txt", text.as_bytes()),
    ];
    folder.write("in/all.zip", zip(members));
    folder.write("in/{x}*.txt", prose(14));
    folder
}

/// The words of the command in a hint, as a shell takes them.
fn words_of_hint(told: &str) -> Vec<String> {
    let command = told.split_once("hint: `fpdb ").unwrap().1.split_once('`').unwrap().0;
    let echo = std::process::Command::new("sh").args(["-c", &format!("printf '%s\\n' {command}")]).output().unwrap();
    String::from_utf8(echo.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn what_rm_advises_leaves_out_the_removed_document_and_no_other() {
    for (arguments, at) in [(&["in"][..], "."), (&["in", "--text-field=text", "--skip-hidden"], "/")] {
        let folder = parts_of_each_form();
        folder.ok(&[&["ingest", "-q", "--profile", "prose"], arguments].concat());
        let all = names(&folder);
        assert_eq!(all.len(), 14, "{all:?}");
        // The second pass tests remembered flags, with fewer names.
        for name in all.iter().step_by(if arguments.len() == 1 { 1 } else { 5 }) {
            let told = folder.ok(&["rm", name]).stderr;
            let mut command = words_of_hint(&told);
            // Without remembered flags the hint does not know the path.
            if let Some(path) = command.last_mut().filter(|path| *path == "PATH") {
                *path = folder.path().join("in").to_str().unwrap().to_owned();
            }
            let db = folder.path().join(".fpdb");
            let mut run = folder.command(&[]);
            run.current_dir(if name.contains("!") { folder.path().join(at) } else { folder.path().to_owned() });
            let run = crate::support::Run::to_its_end(run.args(&command).args(["--db", db.to_str().unwrap()]));
            assert_eq!(run.status, 0, "{name}: {run:?}");
            let mut rest: Vec<_> = all.iter().filter(|other| *other != name).collect();
            let mut left = names(&folder);
            rest.sort();
            left.sort();
            assert_eq!(left.iter().collect::<Vec<_>>(), rest, "{name}: {command:?}");
            // The exclusion is remembered.
            let source = command.last().unwrap();
            folder.ok(&["ingest", "-q", source]);
            assert!(!names(&folder).contains(name), "{name}");
            let plain = if arguments.len() == 1 { &["in", "--as=auto"] } else { arguments };
            folder.ok(&[&["ingest", "-q"], plain].concat());
            assert_eq!(names(&folder).len(), all.len(), "{name}");
        }
    }
}

#[test]
fn globs_that_name_records_choose_among_them_and_others_do_not() {
    let added = |flags: &[&str]| {
        let folder = parts_of_each_form();
        folder.ok(&[&["ingest", "-q", "--profile", "prose"], flags].concat());
        names(&folder)
    };
    assert_eq!(added(&["in", "--include", "in/box.mbox#2", "--include", "l.jsonl:1"]), ["in/box.mbox#2"]);
    assert_eq!(added(&["in", "--include", "in/all.zip!l.jsonl:1"]), ["in/all.zip!l.jsonl:1"]);
    assert_eq!(added(&["in/box.mbox", "--include", "*#2"]), ["in/box.mbox#2"]);
    assert_eq!(added(&["in", "--include", "*.mbox"]).len(), 4);
    assert_eq!(
        added(&["in", "--include", "*.mbox", "--exclude", "*.mbox#2"]),
        ["in/all.zip!m/old.mbox#1", "in/box.mbox#1"]
    );
    assert_eq!(added(&["in", "--include", "in/all.zip/m"]).len(), 2);
    // A file that is named is ingested with all of its records.
    assert_eq!(added(&["in/box.mbox", "--include", "*.txt"]).len(), 2);
    assert_eq!(added(&["in/rows.jsonl", "--exclude", "*1", "--exclude", "*2"]).len(), 2);
    // Excluding a part also excludes everything below it.
    let rest = added(&["in", "--exclude", "in/all.zip!inner.zip"]);
    assert!(rest.len() == 12 && !rest.iter().any(|name| name.contains("inner")), "{rest:?}");
    assert!(added(&["in", "--exclude", "C"]).contains(&"in/all.zip!C#/x.txt".to_owned()));
}

#[test]
fn an_absolute_path_is_left_out_from_any_folder() {
    let folder = parts_of_each_form();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (db, all, zip, mails) = (path("db"), path("in"), path("in/all.zip"), path("in/box.mbox#1"));
    let arguments = ["ingest", "-q", "--db", &db, &all, "--exclude", &zip, "--exclude", &mails];
    let run = crate::support::Run::to_its_end(folder.command(&arguments).current_dir("/"));
    assert_eq!(run.status, 0, "{run:?}");
    let stored = folder.ok(&["list", "--db", &db, "--format", "json"]).json();
    let stored: Vec<_> = stored.iter().map(|document| document["name"].as_str().unwrap()).collect();
    let rest = ["in/box.mbox#2", "in/rows.jsonl:1", "in/rows.jsonl:2"].map(path);
    assert!(stored.len() == 6 && rest.iter().all(|name| stored.contains(&name.as_str())), "{stored:?}");
}
