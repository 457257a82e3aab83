//! Repeated runs over containers: ingested containers stay known, others are read again, and the result does
//! not depend on the number of runs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use fpdb::{Database, DatabaseBuilder, IngestOptions, Progress, Source, Task};
use serde_json::{Value, json};

use super::hostile::tar_of;
use super::{age, names};
use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip, zip};

/// Ingests and returns the report.
fn ingest(folder: &Folder, arguments: &[&str]) -> Value {
    folder.ok(&[&["ingest", "--format", "json"], arguments].concat()).json().remove(0)
}

/// Added, replaced, unchanged and kept documents of a report.
fn counts(report: &Value) -> [u64; 4] {
    ["added", "replaced", "unchanged", "kept"].map(|name| report[name].as_u64().unwrap())
}

/// A folder with a database of the profile `prose`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.ok(&["init", "--profile", "prose"]);
    folder
}

/// Writes a file with a time that is trusted.
fn write_aged(folder: &Folder, name: &str, content: impl AsRef<[u8]>) {
    age(&folder.write(name, content));
}

fn lines(numbers: &[usize]) -> String {
    numbers.iter().map(|&number| format!("{}\n", json!({ "text": prose(number) }))).collect()
}

/// The documents that hold the whole of a text.
fn holders(folder: &Folder, text: &str) -> Vec<String> {
    folder.write("wanted.txt", text);
    let answer = &folder.ok(&["query", "wanted.txt", "--min-score", "1", "--format", "json"]).json()[0];
    let name = |found: &Value| found["document"].as_str().unwrap().to_owned();
    answer["matches"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_changed_container_that_was_kept_as_stored_can_still_be_replaced() {
    let folder = folder();
    write_aged(&folder, "d.jsonl", lines(&[1]));
    ingest(&folder, &["d.jsonl"]);
    write_aged(&folder, "d.jsonl", lines(&[22]));
    assert_eq!(counts(&ingest(&folder, &["d.jsonl", "--on-change", "keep"])), [0, 0, 0, 1]);
    assert_eq!(counts(&ingest(&folder, &["d.jsonl", "--on-change", "keep"])), [0, 0, 0, 1]);
    assert_eq!(counts(&ingest(&folder, &["d.jsonl"])), [0, 1, 0, 0]);
    assert_eq!(holders(&folder, &prose(22)), ["d.jsonl:1"]);
}

#[test]
fn of_members_of_one_name_the_last_counts_however_often_they_are_read() {
    for (flag, documents, first, again) in
        [("replace", 2, [2, 0, 0, 0], [0, 1, 1, 0]), ("both", 3, [3, 0, 0, 0], [0, 0, 3, 0])]
    {
        let folder = folder();
        let (old, new, other) = (prose(1), prose(2), prose(3));
        let tar = tar_of(&[("a.txt", old.as_bytes()), ("b.txt", other.as_bytes()), ("a.txt", new.as_bytes())]);
        folder.write("a.tar", &tar);
        assert_eq!(counts(&ingest(&folder, &["a.tar", "--on-change", flag])), first, "{flag}");
        for threads in ["1", "4", "2"] {
            let report = ingest(&folder, &["a.tar", "--on-change", flag, "--threads", threads]);
            assert_eq!(counts(&report), again, "{flag}");
            assert_eq!(names(&folder).len(), documents);
            assert_eq!(holders(&folder, &new), ["a.tar!a.txt"]);
            assert_eq!(holders(&folder, &old).len(), documents - 2, "{flag}");
        }
        folder.ok(&["verify"]);
    }
}

#[test]
fn records_of_a_repeated_member_are_no_new_ones() {
    let folder = folder();
    let (old, new) = (lines(&[1, 2]), lines(&[3, 4]));
    folder.write("a.tar", tar_of(&[("d.jsonl", old.as_bytes()), ("d.jsonl", new.as_bytes())]));
    for _ in 0..3 {
        ingest(&folder, &["a.tar"]);
        assert_eq!(names(&folder).len(), 2);
        assert_eq!(holders(&folder, &prose(4)), ["a.tar!d.jsonl:2"]);
    }
}

#[test]
fn a_container_is_known_by_its_place() {
    let folder = folder();
    write_aged(&folder, "s/a.zip", zip([("x.txt", prose(1))]));
    ingest(&folder, &["s/a.zip"]);
    let inside = || {
        let mut command = folder.command(&["ingest", "--db", "../.fpdb", "a.zip", "--format", "json"]);
        let output = command.current_dir(folder.path().join("s")).output().unwrap();
        Run::of(&output).json().remove(0)
    };
    assert_eq!(counts(&inside()), [0, 0, 1, 0]);
    assert_eq!(names(&folder), ["s/a.zip!x.txt"]);
}

/// The names that failed in a report, each with its error.
fn failed(report: &Value) -> Vec<[&str; 2]> {
    let failures = report["failed"].as_array().unwrap().iter();
    failures.map(|failure| ["name", "error"].map(|field| failure[field].as_str().unwrap())).collect()
}

#[test]
fn a_container_whose_failures_would_come_again_is_not_read_again() {
    let folder = folder();
    let (old, new) = (lines(&[1, 2]), lines(&[3, 4]));
    let run = |arguments: &[&str]| {
        let run = folder.run(&[&["ingest", "--format", "json", "d.jsonl"], arguments].concat());
        assert_eq!(run.status, 2);
        run.json().remove(0)
    };
    let line = "the line is not a JSON record: expected value at line 1 column 1";
    let long = "x".repeat(old.len().abs_diff(new.len()) + 5);
    let [old, new] =
        [&old, &new].map(|text| format!("{text}{}\n", &long[..long.len() + old.len().min(new.len()) - text.len()]));
    assert_eq!(old.len(), new.len());
    write_aged(&folder, "d.jsonl", &old);
    let report = run(&[]);
    assert_eq!((counts(&report), failed(&report)), ([2, 0, 0, 0], vec![["d.jsonl:3", line]]));
    // The new content has the size and time of the old one. So only a run that reads the file notices it.
    let time = std::fs::metadata(folder.path().join("d.jsonl")).unwrap().modified().unwrap();
    let file = folder.write("d.jsonl", &new);
    std::fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    let report = run(&[]);
    // The same failures are reported.
    assert_eq!((counts(&report), failed(&report)), ([0, 0, 2, 0], vec![["d.jsonl:3", line]]));
    let report = run(&["--limit", "json-depth=100"]);
    assert_eq!((counts(&report), failed(&report)), ([0, 2, 0, 0], vec![["d.jsonl:3", line]]));
    // Without the limit, the settings differ again.
    assert_eq!(failed(&run(&[])), [["d.jsonl:3", line]]);
    assert_eq!(failed(&run(&[])), [["d.jsonl:3", line]]);
    folder.ok(&["rm", "d.jsonl:1"]);
    let report = run(&[]);
    assert_eq!((counts(&report), failed(&report)), ([1, 0, 1, 0], vec![["d.jsonl:3", line]]));
    write_aged(&folder, "d.jsonl", lines(&[3, 4]));
    assert_eq!(counts(&ingest(&folder, &["d.jsonl"])), [0, 0, 2, 0]);
}

/// A run that does not read an unchanged container reports the same about its members as the run that read
/// it.
#[test]
fn each_run_tells_which_members_are_no_documents() {
    let folder = folder();
    let (picture, rtf) = ([0_u8, 1, 2, 3].repeat(99), b"{\\rtf1 old}".to_vec());
    let inner = zip([("c.png", picture.clone()), ("c.txt", prose(1).into_bytes())]);
    let all =
        [("a.png", picture.clone()), ("b.rtf", rtf.clone()), ("in.zip", inner), ("d.pdf", b"\0\x01\x02".repeat(99))];
    write_aged(&folder, "s/a.zip", zip(all));
    write_aged(&folder, "s/b.ps.gz", gzip("%!PS-Adobe-3.0\n"));
    write_aged(&folder, "s/c.jsonl", format!("{}broken\n{{\"text\":null}}\n{{\"text\":\"a\0\0\"}}\n", lines(&[2])));
    write_aged(
        &folder,
        "s/d.zip",
        zip((0..2000).map(|number| (format!("{number}/{}.png", "x".repeat(40)), picture.clone()))),
    );
    let run = |arguments: &[&str]| {
        let run = folder.run(&[&["ingest", "--format", "json", "s", "--failures", "failures"], arguments].concat());
        assert_eq!(run.status, 2, "{run:?}");
        (run.json().remove(0), std::fs::read_to_string(folder.path().join("failures")).unwrap())
    };
    let told = |report: &Value| {
        let reasons = |report: &Value| {
            let skipped = report["skipped"].as_array().unwrap().iter();
            let small = skipped.filter(|one| !one["name"].as_str().unwrap().starts_with("s/d.zip"));
            let mut small: Vec<_> = small.map(Value::to_string).collect();
            small.sort();
            small
        };
        let mut failures: Vec<_> = failed(report).iter().map(|one| one.map(str::to_owned)).collect();
        failures.sort();
        (report["skips"].clone(), report["failures"].clone(), failures, reasons(report))
    };
    let sorted = |lines: &str| lines.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    let (first, list) = run(&[]);
    assert_eq!(
        (&first["skips"], &first["failures"], &first["added"]),
        (&2005.into(), &3.into(), &2.into()),
        "{first:#}"
    );
    for _ in 0..2 {
        let (again, list_again) = run(&[]);
        assert_eq!(counts(&again), [0, 0, 2, 0]);
        assert_eq!(told(&again), told(&first));
        assert_eq!(sorted(&list_again), sorted(&list));
    }
    // The reported names of members follow a renamed container.
    std::fs::rename(folder.path().join("s/a.zip"), folder.path().join("s/a2.zip")).unwrap();
    for _ in 0..2 {
        let (renamed, _) = run(&["--prune"]);
        assert_eq!((&renamed["skips"], &renamed["failures"]), (&2005.into(), &3.into()));
        assert!(renamed["skipped"].as_array().unwrap().iter().any(|one| one["name"] == "s/a2.zip!in.zip!c.png"));
    }
    folder.ok(&["verify"]);
}

/// A file of these formats cannot be empty: it was cut off, or a disk was full.
#[test]
fn an_empty_office_document_does_not_replace_the_stored_one() {
    let sample = |name: &str| std::fs::read(format!("{}/../tests/samples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let names_of = ["sample.docx", "sample.odt", "sample.pdf", "sample.eml"];
    let folder = folder();
    names_of.iter().for_each(|name| write_aged(&folder, &format!("s/{name}"), sample(name)));
    write_aged(&folder, "s/a.zip", zip([("a.docx", sample("sample.docx"))]));
    write_aged(&folder, "s/a.txt", prose(1));
    ingest(&folder, &["s"]);
    let stored = folder.ok(&["list", "--format", "json"]).json();
    names_of.iter().for_each(|name| write_aged(&folder, &format!("s/{name}"), ""));
    write_aged(&folder, "s/a.zip", zip([("a.docx", "")]));
    write_aged(&folder, "s/~$a.docx", "");
    let run = folder.run(&["ingest", "--format", "json", "s"]);
    let report = run.json().remove(0);
    assert_eq!((run.status, &report["failures"], counts(&report)), (2, &5.into(), [1, 0, 1, 0]), "{run:?}");
    assert!(
        failed(&report).contains(&["s/sample.docx", "this is not a readable docx document: it is empty"]),
        "{run:?}"
    );
    folder.ok(&["rm", "s/~$a.docx"]);
    assert_eq!(folder.ok(&["list", "--format", "json"]).json(), stored);
    // With `--prune`, a text may be empty.
    write_aged(&folder, "s/a.txt", "");
    for (more, replaced) in [(&[][..], 0), (&["--prune"], 1)] {
        let run = folder.run(&[&["ingest", "--format", "json", "s"], more].concat());
        assert_eq!(counts(&run.json()[0])[1], replaced, "{run:?}");
    }
}

/// After a merge that keeps both versions, the names of the members of two containers alternate.
#[test]
fn the_members_of_two_containers_of_one_name_are_known() {
    let mailbox = |numbers: &[usize]| {
        let mail =
            |&number: &usize| format!("From a b Sat Jan  3 01:05:34 1996\nFrom: a\nTo: b\n\n{}\n\n", prose(number));
        numbers.iter().map(mail).collect::<String>()
    };
    let archive = |members: &[(&str, usize)]| zip(members.iter().map(|&(name, number)| (name, prose(number))));
    let folder = Folder::new();
    for (place, db, members, mails) in
        [("p", "p.db", [("a.txt", 1), ("b.txt", 2)], [3, 4]), ("q", "q.db", [("a.txt", 5), ("b.txt", 6)], [7, 8])]
    {
        write_aged(&folder, &format!("{place}/mail/x.zip"), archive(&members));
        write_aged(&folder, &format!("{place}/mail/y.mbox"), mailbox(&mails));
        let mut command = folder.command(&["--db", &format!("../{db}"), "ingest", "--profile", "prose", "mail"]);
        assert!(command.current_dir(folder.path().join(place)).output().unwrap().status.success());
    }
    folder.ok(&["--db", "p.db", "merge", "q.db", "--on-change", "both"]);
    let ingest = |expected: [u64; 4], removed: u64| {
        let report = ingest(&folder, &["--db", "p.db", "p/mail", "q/mail"]);
        assert_eq!((counts(&report), &report["removed"]), (expected, &removed.into()), "{report:#}");
    };
    ingest([0, 0, 8, 0], 0);
    ingest([0, 0, 8, 0], 0);
    // Each container is brought up to date by itself.
    write_aged(&folder, "q/mail/x.zip", archive(&[("a.txt", 5)]));
    write_aged(&folder, "q/mail/y.mbox", mailbox(&[7]));
    ingest([0, 0, 6, 0], 2);
    write_aged(&folder, "p/mail/x.zip", archive(&[("b.txt", 9), ("c.txt", 10)]));
    ingest([1, 1, 4, 0], 1);
    let listed = folder.ok(&["--db", "p.db", "list", "--format", "json"]).json();
    let mut listed: Vec<_> = listed.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    listed.sort();
    let expected = ["x.zip!a.txt", "x.zip!b.txt", "x.zip!c.txt", "y.mbox#1", "y.mbox#1", "y.mbox#2"];
    assert_eq!(listed, expected.map(|name| format!("mail/{name}")));
}

#[test]
fn many_members_of_one_name_take_no_time_for_each_other() {
    let folder = folder();
    let number = 20_000;
    let texts: Vec<String> = (0..number).map(|number| format!("member {number}")).collect();
    let members: Vec<(&str, &[u8])> = texts.iter().map(|text| ("a.txt", text.as_bytes())).collect();
    folder.write("a.tar", tar_of(&members));
    let started = std::time::Instant::now();
    assert_eq!(counts(&ingest(&folder, &["a.tar", "--on-change", "both"])), [number, 0, 0, 0]);
    assert_eq!(counts(&ingest(&folder, &["a.tar", "--on-change", "both"])), [0, 0, number, 0]);
    assert!(started.elapsed().as_secs() < 40, "{:?}", started.elapsed());
}

#[test]
fn what_cannot_be_kept_with_a_document_fails_it_alone() {
    let folder = folder();
    let line = |id: Value, number: usize| format!("{}\n", json!({ "id": id, "text": prose(number) }));
    let repeated: String = (0..30_000).map(|number| format!("\"id\":{number},")).collect();
    let repeated = format!("{{{repeated}\"text\":{}}}\n", json!(prose(4)));
    let long = "x".repeat(2_000_000).into();
    folder.write("d.jsonl", [line(1.into(), 1), line(long, 2), line(3.into(), 3), repeated].concat());
    folder.write("z.txt", prose(5));
    let run = folder.run(&["ingest", "d.jsonl", "z.txt", "--format", "json"]);
    assert_eq!(run.status, 2);
    let failed = &run.json()[0]["failed"];
    assert_eq!(failed.as_array().unwrap().len(), 1, "{failed}");
    assert_eq!(failed[0]["name"], "d.jsonl:2");
    assert_eq!(failed[0]["error"], "the document's name, path and metadata have more than 1048576 bytes");
    assert!(run.stderr.contains("--id-field"), "{}", run.stderr);
    assert_eq!(names(&folder), ["d.jsonl:1", "d.jsonl:3", "d.jsonl:4", "z.txt"]);
    // If a key is repeated, the last value counts.
    let kept: BTreeMap<String, Value> = super::list(&folder)
        .into_iter()
        .map(|document| (document["name"].as_str().unwrap().to_owned(), document["metadata"].clone()))
        .collect();
    assert_eq!(kept["d.jsonl:4"], json!({ "id": "29999" }));
    folder.ok(&["verify"]);
}

#[test]
fn what_a_container_no_longer_holds_is_removed_when_it_is_read_whole() {
    let folder = folder();
    let zip = |numbers: &[usize]| zip(numbers.iter().map(|&number| (format!("{number}.txt"), prose(number))));
    // The name of this archive begins with the name of the other archive.
    write_aged(&folder, "a.zip.zip", zip(&[7]));
    write_aged(&folder, "a.zip", zip(&[1, 2, 3]));
    ingest(&folder, &["."]);
    write_aged(&folder, "a.zip", zip(&[1, 4]));
    for keeping in ["keep", "both"] {
        assert_eq!(ingest(&folder, &["a.zip", "--on-change", keeping])["removed"], 0);
    }
    assert_eq!(names(&folder).len(), 5);
    let run = folder.ok(&["ingest", "-v", "."]);
    assert!(
        run.stderr.contains("removed a.zip!3.txt: its container no longer holds it or its new content is kept out\n"),
        "{run:?}"
    );
    assert!(run.stdout.contains("2 removed (no longer in their containers, or kept out)"), "{run:?}");
    let named = "2 documents were removed, because their containers no longer hold them or their new contents are \
                 kept out: a.zip!2.txt, a.zip!3.txt\n";
    assert!(run.stderr.contains(named), "{run:?}");
    let mut stored = names(&folder);
    stored.sort();
    assert_eq!(stored, ["a.zip!1.txt", "a.zip!4.txt", "a.zip.zip!7.txt"]);
    // The container is known again, so the run does not read its false bytes.
    let file = folder.path().join("a.zip");
    let (size, time) = (file.metadata().unwrap().len(), file.metadata().unwrap().modified().unwrap());
    std::fs::write(&file, vec![7; size as usize]).unwrap();
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert_eq!(counts(&ingest(&folder, &["a.zip"])), [0, 0, 2, 0]);
    // If a container cannot be read whole, no document is removed.
    write_aged(&folder, "a.zip", b"PK\x03\x04 and no more");
    assert_eq!(folder.run(&["ingest", "a.zip"]).status, 2);
    assert_eq!(names(&folder).len(), 3);
    folder.ok(&["verify"]);
}

#[test]
fn a_container_that_was_left_closed_is_opened_when_it_is_to_be() {
    let folder = Folder::new();
    folder.ok(&["init", "--profile", "bytes"]);
    write_aged(&folder, "d.jsonl", lines(&[1, 2]));
    let packed = std::fs::read(super::sample("fed01.txt.gz")).unwrap();
    write_aged(&folder, "a.gz", &packed);
    let closed = ["d.jsonl", "a.gz", "--no-expand"];
    assert_eq!(counts(&ingest(&folder, &closed)), [2, 0, 0, 0]);
    assert_eq!(counts(&ingest(&folder, &closed)), [0, 0, 2, 0]);
    let size = |name: &str| folder.ok(&["show", name, "--format", "json"]).json()[0]["bytes"].as_u64().unwrap();
    assert_eq!(size("a.gz"), packed.len() as u64);
    // No text is stored, so the query reads `a.gz` again, without unpacking it.
    let found = &folder.ok(&["query", "--no-expand", "a.gz", "--format", "json"]).json()[0];
    assert_eq!(found["matches"][0]["passages"][0]["exact"], true, "{found}");
    let open = ["d.jsonl", "a.gz", "--as", "auto"];
    let report = ingest(&folder, &open);
    assert_eq!((counts(&report), &report["removed"]), ([2, 1, 0, 0], &1.into()));
    assert_eq!(names(&folder), ["d.jsonl:1", "d.jsonl:2", "a.gz"]);
    assert!(size("a.gz") > packed.len() as u64);
    assert_eq!(counts(&ingest(&folder, &open)), [0, 0, 3, 0]);
    // This run opens no container. So the members are removed, and the containers are no longer known.
    let report = ingest(&folder, &closed);
    assert_eq!((counts(&report), &report["removed"]), ([1, 1, 0, 0], &2.into()));
    assert_eq!(size("a.gz"), packed.len() as u64);
    assert_eq!(names(&folder), ["d.jsonl", "a.gz"]);
    let report = ingest(&folder, &open);
    assert_eq!((counts(&report), &report["removed"]), ([2, 1, 0, 0], &1.into()));
    assert_eq!(names(&folder), ["d.jsonl:1", "d.jsonl:2", "a.gz"]);
}

/// Documents are read again from the place where they were found last. The copy of their container at the
/// earlier place is no longer known.
#[test]
fn a_container_whose_documents_were_found_elsewhere_is_read_again() {
    let folder = folder();
    write_aged(&folder, "a/x.jsonl", lines(&[1, 2]));
    write_aged(&folder, "b/x.jsonl", lines(&[1, 2]));
    let ingest = |place: &str| {
        let output =
            folder.command(&["ingest", "--format", "json", "x.jsonl"]).current_dir(folder.path().join(place)).output();
        counts(&Run::of(&output.unwrap()).json()[0])
    };
    assert_eq!(ingest("a"), [2, 0, 0, 0]);
    let (first, away) = (folder.path().join("a/x.jsonl"), folder.path().join("away.jsonl"));
    std::fs::rename(&first, &away).unwrap();
    assert_eq!(ingest("b"), [0, 0, 2, 0]);
    folder.ok(&["rm", "x.jsonl:1"]);
    // Now both files exist, so they are two containers: the name belongs to the one that was read last.
    std::fs::rename(&away, &first).unwrap();
    assert_eq!((ingest("a"), ingest("b")), ([2, 0, 0, 0], [1, 0, 1, 0]));
    let a = first.canonicalize().unwrap();
    assert_eq!(holders(&folder, &prose(2)).len(), 2);
    assert!(holders(&folder, &prose(2)).contains(&format!("{}:2", a.display())));
    write_aged(&folder, "b/x.jsonl", lines(&[1, 3]));
    assert_eq!((ingest("b"), ingest("a")), ([0, 1, 1, 0], [0, 0, 2, 0]));
}

/// Records the number of safe documents after each commit.
#[derive(Default)]
struct Commits(Mutex<Vec<u64>>);

impl Progress for Commits {
    fn committed(&self, documents: u64) {
        self.0.lock().unwrap().push(documents);
    }
}

#[test]
fn documents_that_are_only_touched_are_committed_as_the_memory_allowed_demands() {
    let folder = folder();
    let path = folder.write("d.jsonl", (0..2000).map(|n| format!("{{\"text\":\"w{n}\"}}\n")).collect::<String>());
    let database = Database::builder()
        .memory(DatabaseBuilder::LEAST_MEMORY)
        .threads(2)
        .open_writer(folder.path().join(".fpdb"))
        .unwrap();
    let ingest = || {
        let options = IngestOptions::default();
        let (commits, sources) = (Commits::default(), [Source::Path(path.clone())]);
        let summary = database.ingest_sources(&sources, &options, &Task::new().progress(&commits)).unwrap();
        ((summary.added, summary.unchanged), commits.0.into_inner().unwrap())
    };
    assert_eq!(ingest().0, (2000, 0));
    // If the time of the file changes, the record of each of its documents changes.
    age(&path);
    let (counts, commits) = ingest();
    assert_eq!(counts, (0, 2000));
    // A record counts as 1 KiB and more, and a batch takes three eighths of the allowed memory.
    let between = commits.iter().zip(std::iter::once(&0).chain(&commits)).map(|(after, before)| after - before);
    assert!(between.max().unwrap() <= 384, "{commits:?}");
    assert_eq!(commits.last(), Some(&2000));
}

#[test]
fn members_that_are_gone_are_forgotten_also_where_none_is_left_of_a_container_just_written() {
    let folder = folder();
    folder.write("d.jsonl", lines(&[1, 2]));
    folder.write("x.tar", tar_of(&[("one.txt", prose(3).as_bytes())]));
    assert_eq!(counts(&ingest(&folder, &["d.jsonl", "x.tar"])), [3, 0, 0, 0]);
    folder.write("d.jsonl", "");
    folder.write("x.tar", tar_of(&[("two.txt", prose(4).as_bytes())]));
    let report = ingest(&folder, &["d.jsonl", "x.tar", "--prune"]);
    assert_eq!((counts(&report), &report["removed"]), ([1, 0, 0, 0], &json!(3)), "{report}");
    assert_eq!(names(&folder), ["x.tar!two.txt"]);
}

#[test]
fn labels_stay_with_records_that_have_metadata_of_their_own() {
    let folder = folder();
    let line = |id: usize| format!("{}\n", json!({ "id": id, "text": prose(id), "site": "s" }));
    folder.write("d.jsonl", line(1) + &line(2));
    folder.write("a.txt", prose(9));
    folder.write("m.csv", "filename,label\nd.jsonl:1,spam\na.txt,spam\n");
    ingest(&folder, &["d.jsonl", "a.txt", "--metadata", "m.csv", "--keep-fields", "site"]);
    folder.write("d.jsonl", line(1) + &line(2) + &line(3));
    assert_eq!(counts(&ingest(&folder, &["d.jsonl", "a.txt"])), [1, 0, 3, 0]);
    folder.ok(&["--db", "other", "init", "--profile", "prose"]);
    folder.ok(&["--db", "other", "ingest", "-q", "d.jsonl"]);
    folder.ok(&["merge", "-q", "other"]);
    let metadata = |name: &str| folder.ok(&["show", name, "--format", "json"]).json()[0]["metadata"].clone();
    assert_eq!(metadata("d.jsonl:1"), json!({ "id": "1", "label": "spam", "site": "s" }));
    assert_eq!(metadata("d.jsonl:2"), json!({ "id": "2", "site": "s" }));
    // If a table names a document, it gives all of its metadata.
    folder.write("m.csv", "filename,label\nd.jsonl:1,ham\n");
    ingest(&folder, &["d.jsonl", "--metadata", "m.csv"]);
    assert_eq!(metadata("d.jsonl:1"), json!({ "id": "1", "label": "ham", "site": "s" }));
}

#[test]
fn a_file_that_is_named_as_a_record_of_another_takes_no_place_but_its_own() {
    let folder = folder();
    folder.write("ar/a.jsonl", lines(&[1, 2, 3]));
    folder.write("ar/a.jsonl:2", prose(9));
    let mut first = None;
    for _ in 0..3 {
        let run = folder.run(&["ingest", "ar"]);
        assert!(run.status == 2 && run.stderr.contains("found twice in this run"), "{run:#?}");
        assert!(run.stderr.contains("rename one of them, or keep both with --on-change both"), "{run:#?}");
        let listed = folder.ok(&["list", "--format", "json"]).stdout;
        assert_eq!(first.get_or_insert_with(|| listed.clone()), &listed);
        assert_eq!(listed.lines().count(), 3);
    }
    // The steps that the hint names work, also when repeated.
    for _ in 0..2 {
        folder.ok(&["ingest", "ar", "--on-change", "both", "-q"]);
        assert_eq!(folder.ok(&["list"]).stdout.lines().count(), 4);
    }
    std::fs::rename(folder.path().join("ar/a.jsonl:2"), folder.path().join("ar/b.txt")).unwrap();
    folder.ok(&["ingest", "ar", "-q"]);
}

/// As with a file of one document, the stored documents stay.
#[test]
fn a_container_that_has_become_binary_keeps_its_documents() {
    let folder = folder();
    let write = |content: &[u8]| {
        folder.write("in/box", content);
        folder.write("in/box.gz", gzip(content));
    };
    let mail = |number| format!("From a b Sat Jan  3 01:05:34 1996\nFrom: a\nTo: b\n\n{}\n", prose(number));
    write((mail(1) + &mail(2)).as_bytes());
    assert_eq!(counts(&ingest(&folder, &["in"])), [4, 0, 0, 0]);
    write(&[0; 100]);
    for _ in 0..2 {
        let report = ingest(&folder, &["in"]);
        assert_eq!((&report["skips"], &report["removed"]), (&json!(2), &json!(0)), "{report}");
        assert_eq!(names(&folder), ["in/box#1", "in/box#2", "in/box.gz#1", "in/box.gz#2"]);
    }
    // If the file becomes one document, this document takes their place.
    write(prose(3).as_bytes());
    assert_eq!(ingest(&folder, &["in"])["removed"], 4);
    assert_eq!(names(&folder), ["in/box", "in/box.gz"]);
}
