//! `fpdb rm --prefix` and `--where`: the selected documents are counted, or removed with --yes.

use insta::assert_snapshot;

use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, Run};

const DB: &str = ".fpdb";

fn labelled() -> Folder {
    let folder = Folder::new();
    let mut table = "filename,label,site\n".to_owned();
    for number in 0..30 {
        let name = format!("docs/{}/{number:02}.txt", ["a", "b", "bb"][number % 3]);
        folder.write(&name, prose(number));
        let label = if number % 5 == 0 { "spam" } else { "" };
        table += &format!("{name},{label},{}.example\n", ["x", "y"][number % 2]);
    }
    folder.write("labels.csv", table);
    folder.ok(&["ingest", "-q", "--profile", "prose", "--metadata", "labels.csv", "docs"]);
    folder
}

/// The exit status and both outputs, without sizes.
fn told(run: &Run) -> String {
    let sizeless =
        |line: &str| line.split_once(" documents, ").map_or(line.to_owned(), |(count, _)| format!("{count} documents"));
    let stdout: Vec<String> = run.stdout.lines().map(sizeless).collect();
    format!("{}\n{}\n---\n{}", run.status, stdout.join("\n"), run.stderr)
}

#[test]
fn documents_are_removed_by_prefix_and_by_value_and_counted_first() {
    let folder = labelled();
    assert_snapshot!(told(&folder.run(&["rm", "--prefix", "./docs//b/"])), @r#"
    0
    docs/b/01.txt
    docs/b/04.txt
    docs/b/07.txt
    docs/b/10.txt
    docs/b/13.txt
    docs/b/16.txt
    docs/b/19.txt
    docs/b/22.txt
    docs/b/25.txt
    docs/b/28.txt
    10 documents
    ---
    a dry run: nothing was removed; --yes does it
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--where", "label=spam", "--where", "site=x.example"])), @r#"
    0
    docs/a/00.txt
    docs/b/10.txt
    docs/bb/20.txt
    3 documents
    ---
    a dry run: nothing was removed; --yes does it
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--prefix", "none/", "--prefix", "docs/a/0", "--where", "label=ham"])), @r#"
    2

    ---
    error: no stored document has a name that begins with none/
    hint: `fpdb list` shows the names
    error: no stored document fits label=ham (--where)
    hint: `fpdb show NAME` tells the metadata of a document
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--format", "json", "-f", "--prefix", "none/", "--prefix", "docs/b"])), @r#"
    0
    {"schema":"fpdb.rm/1","removed":0,"unknown_names":[],"unknown_ids":[],"selected":20,"unmatched":["a name that begins with none/"]}
    ---
    a dry run: nothing was removed; --yes does it
    "#);
    assert_eq!(names(&folder, DB).len(), 30, "dry runs");
    for refused in [
        &["rm", "docs/a/00.txt", "--prefix", "docs"][..],
        &["rm", "--id", "1", "--where", "label=spam"],
        &["rm", "docs/a/00.txt", "--yes"],
        &["rm", "--yes"],
        &["rm", "--prefix", "", "--yes"],
        &["rm", "--prefix", "./", "--yes"],
        &["rm", "--prefix", ".//./", "--yes"],
        &["rm", "--where", "label"],
        &["rm", "--where", "=spam"],
    ] {
        assert_eq!(folder.run(refused).status, 2, "{refused:?}");
    }
    let answer = folder.ok(&["rm", "--format", "json", "--yes", "--where", "label=spam", "--prefix", "docs/b"]).json();
    // 5, 10, 20 and 25 are spam below docs/b and docs/bb.
    assert_eq!((&answer[0]["removed"], &answer[0]["selected"]), (&4.into(), &4.into()));
    let left = names(&folder, DB);
    assert!(left.len() == 26 && !left.contains(&"docs/bb/05.txt".into()) && left.contains(&"docs/a/15.txt".into()));
    let again = folder.run(&["rm", "--yes", "--where", "label=spam", "--prefix", "docs/b"]);
    assert_eq!((again.status, &*again.stderr), (0, ""), "there is such a prefix and such a value");
    assert_snapshot!(told(&folder.run(&["rm", "--yes", "--prefix", "docs/bb/"])), @r#"
    0

    ---
    8 documents removed; `fpdb compact` frees the space, and an ingest adds them again while their files are there
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--yes", "--prefix", "docs/bb/"])), @r#"
    2

    ---
    error: no stored document has a name that begins with docs/bb/
    hint: `fpdb list` shows the names
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--yes", "--prefix", "docs/bb/", "--ignore-missing"])), @r#"
    0

    ---
    "#);
    assert_eq!(folder.ok(&["verify", "--format", "json"]).json()[0]["problems"], serde_json::Value::Array(vec![]));
}

#[test]
fn documents_of_a_report_are_removed_while_their_survivors_are_stored() {
    let folder = Folder::new();
    for (name, number) in [("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 3), ("f", 3), ("g", 4)] {
        folder.write(&format!("docs/{name}.txt"), prose(number));
    }
    folder.ok(&["ingest", "-q", "docs"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl"]);
    // A survivor is gone, and a removable document has changed.
    folder.ok(&["rm", "-q", "docs/a.txt"]);
    folder.write("docs/d.txt", prose(5));
    folder.ok(&["ingest", "-q", "docs/d.txt"]);
    let run = folder.run(&["rm", "--report", "report.jsonl", "--format", "json"]);
    assert_eq!(run.status, 2, "{run:?}");
    let removal = &run.json()[0];
    assert_eq!((&removal["removed"], &removal["reported"], &removal["left"]), (&1.into(), &3.into(), &1.into()));
    assert_eq!(removal["left_names"], serde_json::json!(["docs/b.txt"]));
    assert_snapshot!(run.stderr, @"
    1 document of the report is not stored, or no longer
    1 document removed; `fpdb compact` frees the space, and an ingest adds it again while its file is there
    error: docs/b.txt stays: it or its survivor is not stored as the report says, or the survivor's file is gone while its own exists
    hint: remove documents whose files are gone (`fpdb ingest --prune`, `fpdb rm`), run `fpdb dedup` again and use its new report
    ");
    assert_eq!(names(&folder, DB), ["docs/b.txt", "docs/c.txt", "docs/e.txt", "docs/g.txt", "docs/d.txt"]);
    // The files still exist, and a second run has nothing to do.
    assert!(folder.path().join("docs/f.txt").exists());
    let again = folder.run(&["rm", "--report", "report.jsonl", "--format", "json"]);
    assert_eq!((&again.json()[0]["removed"], &again.json()[0]["left"]), (&0.into(), &1.into()));
    folder.ok(&["dedup", "--format", "json", "-o", "new.jsonl"]);
    let nothing = "the report or list names no document: there is nothing to remove\n";
    assert_eq!(folder.ok(&["rm", "--report", "new.jsonl"]).stderr, nothing);
    for (path, error) in [("docs/a.txt", "is not a whole report of a dedup"), ("nothing", "cannot read nothing")] {
        let run = folder.run(&["rm", "--report", path]);
        assert!(run.status == 2 && run.stderr.contains(error), "{run:?}");
    }
    assert_eq!(folder.run(&["rm", "--report", "new.jsonl", "docs/b.txt"]).status, 2);
}

/// A compaction drops every trace of a deleted document.
#[test]
fn documents_of_a_report_that_are_gone_are_no_damage() {
    for gone in ["docs/b.txt", "docs/a.txt"] {
        let folder = Folder::new();
        for name in ["a", "b"] {
            folder.write(&format!("docs/{name}.txt"), prose(1));
        }
        folder.ok(&["ingest", "-q", "docs"]);
        folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl"]);
        let link = ["apply", "report.jsonl", "--link", "hard", "--yes"];
        folder.ok(&link);
        folder.ok(&["rm", "-q", gone]);
        folder.ok(&["compact", "-q"]);
        let apply = folder.run(&link);
        let rm = folder.run(&["rm", "--report", "report.jsonl", "--format", "json"]);
        assert!(!(apply.stderr + &rm.stderr).contains("damaged"), "{gone}: {rm:?}");
        assert_eq!((&rm.json()[0]["removed"], &rm.json()[0]["reported"]), (&0.into(), &1.into()), "{gone}: {rm:?}");
    }
}
