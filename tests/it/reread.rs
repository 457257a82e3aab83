//! `fpdb merge --reread`: the documents of another database, whose texts are read again. The oracle is a new
//! ingest of the same files.

use std::fs;
use std::path::Path;

use fpdb::{Database, Document, IngestOptions, Profile, Progress, StopToken, Task};
use serde_json::Value;

use crate::support::{Folder, Run, copy, gzip, word, zip};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The documents of a database, without the fields that depend on their arrival.
fn documents(folder: &Folder, db: &str) -> Vec<Value> {
    let mut documents = folder.ok(&["--db", db, "list", "--format", "json"]).json();
    for document in &mut documents {
        let document = document.as_object_mut().unwrap();
        document.remove("id");
        document.remove("ingested_at");
    }
    documents.sort_by_key(|document| document["name"].as_str().unwrap().to_owned());
    documents
}

fn counts(run: &Run) -> [u64; 5] {
    let summary = &run.json()[0];
    ["added", "replaced", "unchanged", "failures", "skips"].map(|field| summary[field].as_u64().unwrap())
}

fn reread(folder: &Folder, db: &str, other: &str) -> Run {
    folder.run(&["--db", db, "merge", "--reread", "--format", "json", other])
}

/// Makes all files older than an hour: the times of newer ones are not always trusted.
fn age(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            age(&entry.path());
        } else {
            let past = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
            fs::File::options().write(true).open(entry.path()).unwrap().set_modified(past).unwrap();
        }
    }
}

/// Writes all samples, a mail with an attachment, a text of several chunks, and a boilerplate document.
fn archive(folder: &Folder) {
    copy(&root().join("tests/samples"), &folder.path().join("in/samples"));
    let mail = "From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nA body of its own.\n\
                --x\nContent-Type: text/plain\nContent-Disposition: attachment; filename=\"a.txt\"\n\nAn attached text of its own.\n--x--\n";
    folder.write("in/mail.eml", mail);
    folder.write("in/mails.zip", zip([("one.eml", mail), ("a.txt", "The text of a member.")]));
    folder.write("text/large.txt", (0..400_000).map(word).collect::<String>());
    folder.write("text/rows.jsonl", "{\"text\":\"the first row\",\"id\":\"a\"}\n{\"text\":\"the second row\"}\n");
    folder.write("text/whole.txt.gz", gzip("The text of a compressed file."));
    folder.write("handout/task.txt", "Write about the text of a compressed file, or of a member.");
    age(folder.path());
}

fn ingest(folder: &Folder, db: &str, profile: &str) {
    folder.ok(&["--db", db, "init", "--profile", profile]);
    folder.run(&["--db", db, "ingest", "-q", "--attachments", "in"]);
    folder.ok(&["--db", db, "ingest", "-q", "--store-text", "text"]);
    folder.ok(&["--db", db, "ingest", "-q", "--boilerplate", "handout", "--", "handout"]);
}

#[test]
fn documents_read_again_are_those_of_an_ingest() {
    let folder = Folder::new();
    archive(&folder);
    for profile in ["prose", "words", "code"] {
        ingest(&folder, profile, profile);
    }
    let query = |db: &str| {
        let run = folder.ok(&["--db", db, "query", "in/samples/fed01.txt.gz", "text/large.txt", "--format", "json"]);
        let facts = |found: &Value| format!("{} {} {}", found["name"], found["score"], found["passages"]);
        let answers = run.json();
        answers.iter().flat_map(|answer| answer["matches"].as_array().unwrap().iter().map(facts)).collect::<Vec<_>>()
    };
    for (from, to) in [("prose", "words"), ("words", "prose"), ("prose", "code"), ("code", "words"), ("prose", "prose")]
    {
        let new = format!("{to} of {from}");
        folder.ok(&["--db", &new, "init", "--profile", to]);
        let run = reread(&folder, &new, from);
        let all = documents(&folder, from).len() as u64;
        assert_eq!((run.status, counts(&run)), (0, [all, 0, 0, 0, 0]), "{new}: {run:#?}");
        for (found, expected) in documents(&folder, &new).iter().zip(&documents(&folder, to)) {
            assert_eq!(found, expected, "{new}");
        }
        assert_eq!(documents(&folder, &new).len(), documents(&folder, to).len(), "{new}");
        assert_eq!(query(&new), query(to), "{new}");
        folder.ok(&["--db", &new, "verify"]);
        // All documents are there, so nothing is read again.
        assert_eq!(counts(&reread(&folder, &new, from)), [0, 0, all, 0, 0], "{new}");
    }
    // Without its files, a database gives the texts that it stores.
    fs::remove_dir_all(folder.path().join("in")).unwrap();
    fs::remove_dir_all(folder.path().join("text")).unwrap();
    folder.ok(&["--db", "rest", "init", "--profile", "words"]);
    let run = reread(&folder, "rest", "prose");
    assert_eq!((run.status, counts(&run)[0]), (2, 5), "{run:#?}");
    let stored = documents(&folder, "rest");
    assert!(
        documents(&folder, "words").iter().filter(|it| !it["name"].as_str().unwrap().starts_with("in/")).eq(&stored)
    );
}

#[test]
fn a_text_that_is_gone_or_changed_is_named_and_may_come_later() {
    let folder = Folder::new();
    for name in ["gone", "changed", "here"] {
        folder.write(
            &format!("{name}.txt"),
            format!("The text that is {name} has words enough for a fingerprint or two."),
        );
    }
    folder.write("members.zip", zip([("a.txt", "One member of it."), ("b.txt", "Another member of it.")]));
    folder.ok(&[
        "--db",
        "old",
        "ingest",
        "-q",
        "--profile",
        "prose",
        "gone.txt",
        "changed.txt",
        "here.txt",
        "members.zip",
    ]);
    let old = Database::open_writer(folder.path().join("old")).unwrap();
    let supplied = [Document::new("supplied", "A text that a program gave has no file.")];
    old.ingest_with(supplied, &IngestOptions::default(), &Task::new()).unwrap();
    drop(old);
    let (gone, changed) = (folder.path().join("gone.txt"), folder.path().join("changed.txt"));
    let (gone_text, changed_text) = (fs::read(&gone).unwrap(), fs::read(&changed).unwrap());
    fs::remove_file(&gone).unwrap();
    fs::write(&changed, "Another text.").unwrap();
    folder.write("members.zip", zip([("b.txt", "Another member of it.")]));
    folder.ok(&["--db", "new", "init", "--profile", "words"]);

    let run = folder.run(&["--db", "new", "merge", "--reread", "old"]);
    assert_eq!(run.status, 2, "{run:#?}");
    for reason in [
        "gone.txt: its text cannot be read again: cannot read /",
        "changed.txt: its text cannot be read again: its file has changed since it was ingested",
        "members.zip!a.txt",
        "supplied: its text cannot be read again: its text was not stored, and it was not read from a file",
        "hint: the other database still holds it",
    ] {
        assert!(run.stderr.contains(reason), "{reason}: {run:#?}");
    }
    fs::write(&gone, gone_text).unwrap();
    fs::write(&changed, changed_text).unwrap();
    let run = reread(&folder, "new", "old");
    assert_eq!((run.status, counts(&run)), (2, [2, 0, 2, 2, 0]), "{run:#?}");
}

/// Stops a task at one of its steps.
struct StopAt<'a>(&'a StopToken, u64);

impl Progress for StopAt<'_> {
    fn step(&self, _: &'static str, done: u64, _: u64) {
        if done == self.1 {
            self.0.stop();
        }
    }
}

#[test]
fn an_interrupted_run_goes_on() {
    let folder = Folder::new();
    let create = |name: &str, profile| Database::create(folder.path().join(name), profile).unwrap();
    let old = create("old", Profile::PROSE);
    let text = |number: u64| (0..60).map(|at| word(number * 7 + at)).collect::<String>();
    old.ingest((0..9000).map(|number| Document::new(format!("{number:04}"), text(number)))).unwrap();
    let (new, options) = (create("new", Profile::WORDS), IngestOptions::default());
    for at in [1, 2, 4096, 4097, 8000] {
        let stop = StopToken::new();
        let watch = StopAt(&stop, at);
        let summary = new.reread(&old, &options, &Task::new().progress(&watch).stop(&stop)).unwrap();
        assert!(summary.interrupted && summary.failures == 0, "{at}: {summary:?}");
    }
    let before = new.stats().unwrap().documents;
    let summary = new.reread(&old, &options, &Task::new()).unwrap();
    assert_eq!((summary.added, summary.unchanged), (9000 - before, before));
    let found = new.query(text(8999)).unwrap();
    assert_eq!((found.matches[0].document.as_str(), found.matches[0].score), ("8999", 1.0));
}

#[test]
fn versions_remembered_flags_and_what_is_kept_out_come_along() {
    let folder = Folder::new();
    for version in ["first", "second"] {
        folder.write("in/a.txt", format!("This is the {version} version of a text with many words."));
        folder.ok(&[
            "--db",
            "old",
            "ingest",
            "-q",
            "--profile",
            "prose",
            "--on-change",
            "both",
            "--store-text",
            "--exclude",
            "*.tmp",
            "in",
        ]);
    }
    folder.write("in/secret.txt", "This is the text that nobody may see again.");
    folder.ok(&["--db", "old", "ingest", "-q", "in"]);
    folder.ok(&["--db", "old", "rm", "-q", "--keep-out", "in/secret.txt"]);
    for (db, how, expected) in [("both", "both", 2), ("last", "replace", 1)] {
        folder.ok(&["--db", db, "init", "--profile", "words"]);
        folder.ok(&["--db", db, "merge", "-q", "--reread", "--on-change", how, "old"]);
        assert_eq!(documents(&folder, db).len(), expected, "{db}");
        let facts = |db: &str| {
            let stats = folder.ok(&["--db", db, "stats", "--format", "json"]).json().remove(0);
            ["sources", "kept_out"].map(|field| stats[field].clone())
        };
        assert_eq!(facts(db), facts("old"), "{db}");
        folder.write("in/secret.tmp", "left out");
        folder.ok(&["--db", db, "ingest", "-q", "in"]);
        assert_eq!(documents(&folder, db).len(), expected, "{db}");
    }
}

#[test]
fn metadata_of_documents_that_are_there_already_come_along() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"text\":\"A row that both databases hold.\",\"author\":\"Ann\"}\n");
    folder.ok(&["--db", "old", "ingest", "-q", "--profile", "prose", "--keep-fields", "author", "a.jsonl"]);
    folder.ok(&["--db", "new", "ingest", "-q", "--profile", "words", "a.jsonl"]);
    for _ in 0..2 {
        assert_eq!(counts(&reread(&folder, "new", "old")), [0, 0, 1, 0, 0]);
        assert_eq!(documents(&folder, "new")[0]["metadata"]["author"], "Ann");
    }
}

#[test]
fn another_profile_needs_the_texts() {
    let folder = Folder::new();
    folder.write("a.txt", "Some words.");
    folder.ok(&["--db", "old", "ingest", "-q", "--profile", "prose", "a.txt"]);
    folder.ok(&["--db", "new", "init", "--profile", "words"]);
    let refused = folder.run(&["--db", "new", "merge", "old"]);
    assert_eq!(refused.status, 2, "{refused:#?}");
    assert!(refused.stderr.contains("fpdb merge --reread"), "{refused:#?}");
    assert!(documents(&folder, "new").is_empty());
}

/// Tests a database of each format version, as a program of that time wrote it. The test makes its files
/// again.
#[test]
fn golden_databases_are_read_again() {
    for golden in ["format-1", "format-1-views"] {
        let folder = Folder::new();
        let golden = root().join("tests/golden").join(golden);
        copy(&golden.join("db"), &folder.path().join("old"));
        let sample = |name: &str| fs::read_to_string(root().join("data-samples").join(name)).unwrap();
        folder.write("federalist/fed50.txt", sample("federalist/fed50.txt") + "A later hand has added this line.\n");
        for name in ["planted/essay-lifted-paragraphs.txt", "planted/essay-reflowed.txt"] {
            folder.write(name, sample(name));
        }
        folder.write("large.txt", [81, 83, 70].map(|number| sample(&format!("federalist/fed{number}.txt"))).concat());
        for number in 1..=9 {
            let lines: Vec<&str> = sample("federalist/fed39.txt").leak().lines().skip(number * 9 - 1).take(9).collect();
            folder.write(&format!("piece-{number}.txt"), lines.join("\n") + "\n");
        }
        for name in ["sample.c", "sample.go"] {
            let program = fs::read_to_string(root().join("tests/samples/code").join(name)).unwrap();
            folder.write(&format!("code/{name}"), program);
        }
        let program = fs::read_to_string(folder.path().join("code/sample.c")).unwrap();
        // Renames each name that begins with q, so that it begins with r.
        let mut renamed = String::new();
        for letter in program.chars() {
            let begins = !renamed.ends_with(|last: char| last.is_alphanumeric() || last == '_');
            renamed.push(if letter == 'q' && begins { 'r' } else { letter });
        }
        folder.write("code/names.c", renamed);
        // The ingest recognises the documents by their names and bytes. From then on, their place is this
        // folder.
        let here = folder.ok(&["--db", "old", "ingest", "--format", "json", "--exclude", "old", "."]);
        let programs = if golden.ends_with("format-1") { 3 } else { 0 };
        assert_eq!(counts(&here)[..2], [programs, 0], "{here:#?}");
        for profile in ["prose", "words", "code"] {
            let new = format!("{profile}.db");
            folder.ok(&["--db", &new, "init", "--profile", profile]);
            let run = reread(&folder, &new, "old");
            let all = documents(&folder, "old").len() as u64;
            assert_eq!((run.status, counts(&run)), (0, [all, 0, 0, 0, 0]), "{run:#?}");
            folder.ok(&["--db", &new, "verify"]);
        }
    }
}
