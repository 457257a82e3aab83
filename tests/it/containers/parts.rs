//! Parts: without an ingest, a document in a container has the name that it would have in a database.

use crate::bad_input::prose;
use crate::support::{Folder, zip};

/// A zip of two files and of another zip, and the same files unpacked.
fn packed(folder: &Folder) {
    let inner = zip([("deep.txt", prose(3))]);
    let all = [("ann/a.txt", prose(1).into_bytes()), ("b.txt", prose(2).into_bytes()), ("in.zip", inner)];
    folder.write("all.zip", zip(all));
    for (name, seed) in [("a.txt", 1), ("b.txt", 2), ("deep.txt", 3)] {
        folder.write(&format!("unpacked/{name}"), prose(seed));
    }
    let record = |seed| serde_json::json!({ "text": prose(seed), "body": prose(seed + 1) });
    folder.write("two.jsonl", format!("{}\n{}\n", record(1), record(2)));
}

#[test]
fn a_part_of_an_archive_is_compared_by_its_name() {
    let folder = Folder::new();
    packed(&folder);
    folder.ok(&["ingest", "-q", "unpacked"]);
    for (part, name, file) in [
        ("all.zip!ann/a.txt", "all.zip!ann/a.txt", "unpacked/a.txt"),
        ("all.zip!/ann/a.txt", "all.zip!ann/a.txt", "unpacked/a.txt"),
        ("all.zip!b.txt", "all.zip!b.txt", "unpacked/b.txt"),
        ("all.zip!in.zip!deep.txt", "all.zip!in.zip!deep.txt", "unpacked/deep.txt"),
        ("two.jsonl:2", "two.jsonl:2", "unpacked/b.txt"),
    ] {
        let answer = folder.ok(&["diff", part, file, "--format", "json"]).json().remove(0);
        assert_eq!(answer["query"]["name"], name);
        assert_eq!(answer["matches"][0]["identical"], true, "{part}: {answer}");
        assert_eq!(answer["matches"][0]["resemblance"], 1.0, "{part}: {answer}");
        let answer = folder.ok(&["query", part, "--format", "json"]).json().remove(0);
        assert_eq!(answer["matches"][0]["document"], file);
    }
    let parts = folder.ok(&["diff", "all.zip!b.txt", "all.zip!ann/a.txt", "--context", "0"]).stdout;
    assert!(parts.starts_with("all.zip!b.txt"), "{parts}");
    let of_body = ["query", "two.jsonl:1", "--text-field", "body", "--format", "json"];
    assert_eq!(folder.ok(&of_body).json()[0]["matches"][0]["document"], "unpacked/b.txt");
    // Both texts are in a report.
    folder.ok(&["diff", "all.zip!b.txt", "all.zip!ann/a.txt", "--format", "html", "-o", "report"]);
}

#[test]
fn a_part_that_is_not_there_is_told_from_a_missing_file() {
    let folder = Folder::new();
    packed(&folder);
    folder.write("plain.txt", prose(1));
    folder.write("box.mbox", format!("From a@x Sat Jan  3 01:05:34 1996\nFrom: a@x\nSubject: s\n\n{}", prose(1)));
    folder.ok(&["ingest", "-q", "unpacked"]);
    for (file, part) in [
        ("all.zip", "!c.txt"),
        ("all.zip", "!ann"),
        ("plain.txt", "!a.txt"),
        ("plain.txt", ":1"),
        ("two.jsonl", ":3"),
        ("box.mbox", "#2"),
        ("box.mbox", "#1!nosuch.pdf"),
        ("all.zip", &format!("!{}", "x".repeat(300))),
    ] {
        let name = format!("{file}{part}");
        for run in [folder.run(&["diff", &name, "unpacked/a.txt"]), folder.run(&["query", &name])] {
            assert_eq!(run.status, 2, "{run:?}");
            assert!(run.stderr.contains(&format!("{file} exists, but it has no part {part}\nhint: ")), "{run:?}");
        }
    }
    let run = folder.run(&["diff", "none.zip!a.txt", "unpacked/a.txt"]);
    assert!(run.status == 2 && run.stderr.contains("cannot read none.zip!a.txt"), "{run:?}");
    // Other reasons why a path cannot be read are reported.
    folder.write("plain.txt#1/a.txt", prose(2));
    std::os::unix::fs::symlink("plain.txt#2", folder.path().join("plain.txt#2")).unwrap();
    for (name, told) in [
        ("plain.txt#1", "plain.txt#1 is not a regular file"),
        ("plain.txt#1/none.txt", "cannot read plain.txt#1/none.txt"),
        ("plain.txt#2", "cannot read plain.txt#2"),
    ] {
        let run = folder.run(&["diff", name, "unpacked/a.txt"]);
        assert!(run.status == 2 && run.stderr.contains(told), "{run:?}");
    }
    // A file whose name contains `!` is read as that file.
    folder.write("plain.txt!a.txt", prose(2));
    assert!(folder.ok(&["diff", "plain.txt!a.txt", "unpacked/b.txt"]).stdout.contains("100.0%"));
}
