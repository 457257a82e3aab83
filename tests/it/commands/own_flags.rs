//! Paths with flags of their own: an ingest of the folder around them uses these flags. Flags with which nothing
//! could be read are not remembered.

use serde_json::json;

use super::names;
use super::remembered::{DB, options, remembered, sorted};
use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip};

fn record(field: &str, number: usize) -> String {
    format!("{}\n", json!({ field: prose(number) }))
}

/// A folder with a text, a table of records whose text is in `body`, and a damaged archive.
fn mixed() -> Folder {
    let folder = Folder::new();
    folder.write("s/a.txt", prose(1));
    folder.write("s/q.jsonl", record("body", 2));
    folder.write("s/enc.zip", b"PK\x03\x04");
    folder.write("s/b.pdf", format!("%PDF-1.7\n{}", prose(3)));
    folder.ok(&["ingest", "-q", "--profile", "prose", "s/a.txt"]);
    folder
}

#[test]
fn flags_that_read_nothing_are_not_remembered() {
    let folder = mixed();
    for (flags, path) in [
        (&["--text-field", "nope"][..], "s/q.jsonl"),
        (&["--as", "docx"], "s/b.pdf"),
        (&["--no-expand"], "s/enc.zip"),
        (&["--text-field", "nope", "--exclude", "a.txt"], "s"),
    ] {
        let run = folder.run(&[&["ingest", path], flags].concat());
        assert!(run.status == 2 && !run.stderr.contains("still remembered"), "{run:?}");
        assert_eq!(remembered(&folder), [], "{path}");
        assert!(folder.run(&["ingest", "s"]).stdout.contains("1 unchanged"), "{path}");
    }
    // Of several paths, only those that were read have remembered flags.
    folder.write("s/r.jsonl", record("body", 4));
    folder.write("s/w.jsonl", record("other", 5));
    assert_eq!(folder.run(&["ingest", "--text-field", "body", "s/r.jsonl", "s/w.jsonl"]).status, 2);
    assert_eq!(remembered(&folder), [options("r.jsonl", json!({"read": {"fields": {"text": "body"}}}))]);
}

/// Typed flags of a folder replace the flags of a path in it only if the path could be read with the typed
/// flags.
#[test]
fn flags_of_a_path_stay_if_a_typed_flag_of_the_folder_cannot_read_it() {
    let folder = mixed();
    folder.ok(&["ingest", "-q", "--text-field", "body", "s/q.jsonl"]);
    let exclude = ["--exclude", "enc.zip", "--exclude", "b.pdf"];
    let run = folder.run(&[&["ingest", "s", "--text-field", "nope"][..], &exclude].concat());
    assert!(run.stderr.contains("/s/q.jsonl: no document was read; still remembered: --text-field=body\n"), "{run:?}");
    assert!(!run.stderr.contains("no longer used"), "{run:?}");
    let run = folder.ok(&["ingest", "s"]);
    assert!(run.stderr.contains("using the flags of the last ingest for s/q.jsonl: --text-field=body ("), "{run:?}");
    assert!(run.stdout.starts_with("0 documents added, 2 unchanged\n"), "{run:?}");
}

/// After a user follows the hints for single files, an ingest of the folder still works.
#[test]
fn an_ingest_of_the_folder_goes_on_after_each_hint_at_a_flag() {
    let folder = mixed();
    let mut cut = gzip(prose(5).repeat(50));
    cut.truncate(cut.len() / 2);
    folder.write("s/cut.txt.gz", cut);
    let run = folder.run(&["ingest", "s"]);
    for hint in ["try --text-field body", "--no-expand takes", "`--as text` reads it as plain text"] {
        assert!(run.stderr.contains(hint), "{hint}: {run:?}");
    }
    folder.ok(&["ingest", "-q", "--text-field", "body", "s/q.jsonl"]);
    folder.ok(&["ingest", "-q", "--as", "text", "s/b.pdf"]);
    for file in ["s/cut.txt.gz", "s/enc.zip"] {
        folder.run(&["ingest", "--no-expand", file]);
        let run = folder.run(&["ingest", "s"]);
        assert!(run.stdout.starts_with("0 documents added, 3 unchanged, "), "{file}: {run:?}");
    }
    folder.write("s/q.jsonl", record("body", 6));
    folder.write("s/b.pdf", format!("%PDF-1.7\n{}", prose(7)));
    folder.write("s/a.txt", prose(8));
    let run = folder.run(&["ingest", "s"]);
    assert!(run.stdout.starts_with("0 documents added, 3 replaced, "), "{run:?}");
    // With `--exclude`, the broken files are left out for good.
    let run = folder.ok(&[
        "ingest",
        "s",
        "--exclude",
        "*.gz",
        "--exclude",
        "*.zip",
        "--exclude",
        "b.pdf",
        "--text-field",
        "body",
    ]);
    assert!(run.stdout.starts_with("0 documents added, 2 unchanged\n"), "{run:?}");
    folder.ok(&["ingest", "s", "--prune"]);
    assert_eq!(names(&folder, DB).len(), 3);
}

#[test]
fn as_auto_forgets_flags_whatever_is_read() {
    let folder = mixed();
    folder.ok(&["ingest", "-q", "--as", "text", "s/b.pdf"]);
    folder.ok(&["ingest", "-q", "--text-field", "body", "s/q.jsonl"]);
    // With the default flags, no document of this path can be read.
    let run = folder.run(&["ingest", "--as", "auto", "s/q.jsonl"]);
    assert!(run.status == 2 && run.stderr.contains("s/q.jsonl: no longer used: --text-field=body\n"), "{run:?}");
    assert!(!run.stderr.contains("still remembered"), "{run:?}");
    assert_eq!(remembered(&folder).len(), 1);
    let run = folder.run(&["ingest", "--as", "auto", "s"]);
    assert!(run.stderr.contains("/s/b.pdf: no longer used: --as=text\n"), "{run:?}");
    assert_eq!(remembered(&folder), []);
}

/// Each path has the flags of the nearest remembered path around it.
#[test]
fn flags_hold_for_the_nearest_path_in_a_tree() {
    let folder = Folder::new();
    for (number, path) in ["t/r", "t/x/r", "t/x/y/r", "t/x/y/z/r", "u/r"].into_iter().enumerate() {
        folder.write(&format!("{path}.jsonl"), json!({"b": prose(2 * number), "c": prose(2 * number + 1)}).to_string());
    }
    for (path, field) in [("t/x/y/z", "b"), ("t/x/y", "c"), ("t/x", "b"), ("u", "c")] {
        folder.ok(&["ingest", "-q", "--profile", "prose", "--text-field", field, path, "--exclude", "new*"]);
    }
    // The flags for `t/x` replaced those of the paths in it, so the test gives those again.
    for (path, field) in [("t/x/y", "c"), ("t/x/y/z", "b")] {
        folder.ok(&["ingest", "-q", "--text-field", field, path]);
    }
    folder.write("t/x/y/z/more.jsonl", record("b", 20));
    folder.write("t/x/y/more.jsonl", record("c", 21));
    folder.write("t/x/more.jsonl", record("b", 22));
    folder.write("t/x/new.jsonl", record("b", 23));
    std::fs::remove_file(folder.path().join("t/x/y/r.jsonl")).unwrap();
    folder.write("t/r.jsonl", record("text", 24));
    let run = folder.ok(&["ingest", "--prune", "t", "u", "--format", "json"]);
    let summary = &run.json()[0];
    let counts = ["added", "unchanged", "replaced", "pruned"].map(|count| summary[count].as_u64().unwrap_or(0));
    assert_eq!(counts, [4, 3, 0, 1], "{run:?}");
    let texts = |name: &str| folder.ok(&["show", "--text", name]).stdout;
    for (name, number) in
        [("t/x/r.jsonl:1", 2), ("t/x/y/z/r.jsonl:1", 6), ("u/r.jsonl:1", 9), ("t/x/y/more.jsonl:1", 21)]
    {
        assert_eq!(texts(name).trim_end(), prose(number).trim_end(), "{name}");
    }
    let run = folder.ok(&["ingest", "t", "u"]);
    assert!(run.stdout.starts_with("0 documents added, 7 unchanged\n"), "{run:?}");
    assert_eq!(sorted(&folder, DB).len(), 7);
    // A dry run reads in the same way.
    folder.write("t/x/y/z/r.jsonl", record("b", 30));
    let run = folder.ok(&["ingest", "--dry-run", "t"]);
    assert!(run.stdout.starts_with("dry run: 0 documents added, 1 replaced, 5 unchanged\n"), "{run:?}");
}

/// A link to a path with flags of its own is another path.
#[test]
fn links_to_a_path_with_flags_of_its_own_are_followed() {
    let folder = Folder::new();
    folder.write("s/sub/x.txt", prose(1));
    std::os::unix::fs::symlink("sub/x.txt", folder.path().join("s/link.txt")).unwrap();
    folder.ok(&["ingest", "-q", "--profile", "prose", "--follow", "s"]);
    folder.ok(&["ingest", "-q", "--store-text", "s/sub"]);
    folder.write("s/sub/x.txt", prose(2));
    let run = folder.ok(&["ingest", "s"]);
    assert!(run.stdout.starts_with("0 documents added, 2 replaced"), "{run:?}");
}

/// Boilerplate and listed paths have the flags of the nearest path around them.
#[test]
fn paths_of_lists_and_boilerplate_have_the_flags_around_them() {
    let folder = Folder::new();
    folder.write("a/r.jsonl", record("body", 1));
    folder.write("b/r.jsonl", record("c", 2));
    folder.write("b/task.jsonl", record("c", 3));
    folder.ok(&["ingest", "-q", "--profile", "prose", "--text-field", "body", "a"]);
    folder.ok(&["ingest", "-q", "--text-field", "c", "b"]);
    folder.write("list", "b/task.jsonl\n");
    let added: [&[&str]; 4] = [
        &["a", "b", "--boilerplate", "b/task.jsonl"],
        &["a", "--boilerplate", "b/task.jsonl"],
        &["a", "--files-from", "list"],
        &["a", "b", "--files-from", "list"],
    ];
    for (number, paths) in added.into_iter().enumerate() {
        folder.write("b/task.jsonl", record("c", 10 + number));
        let run = folder.ok(&[&["ingest", "--format", "json"], paths].concat());
        let summary = &run.json()[0];
        assert_eq!((&summary["replaced"], &summary["added"]), (&1.into(), &0.into()), "{paths:?}: {run:?}");
    }
}

/// A file that was moved between paths with different flags keeps its number.
#[test]
fn files_are_renamed_across_paths_with_flags_of_their_own() {
    let folder = Folder::new();
    folder.write("t/a.txt", prose(1));
    folder.write("t/sub/b.txt", prose(2));
    folder.write("t/sub/c.txt", prose(3));
    folder.ok(&["ingest", "-q", "--profile", "prose", "--keep-fields", "url", "t/sub"]);
    folder.ok(&["ingest", "-q", "t"]);
    let numbers = || -> Vec<(String, String)> {
        let list = folder.ok(&["list", "--format", "json"]).json();
        list.iter().map(|document| (document["id"].to_string(), document["digest"].to_string())).collect()
    };
    let before = numbers();
    for (from, to) in [("t/a.txt", "t/sub/new.txt"), ("t/sub/b.txt", "t/b.txt")] {
        std::fs::rename(folder.path().join(from), folder.path().join(to)).unwrap();
    }
    std::fs::remove_file(folder.path().join("t/sub/c.txt")).unwrap();
    for mode in [&["--dry-run"][..], &[]] {
        let run = folder.ok(&[&["ingest", "--prune", "--format", "json", "t"], mode].concat());
        let summary = &run.json()[0];
        let counts = ["added", "renamed", "pruned"].map(|count| summary[count].as_u64().unwrap_or(0));
        assert_eq!(counts, [0, 2, 1], "{run:?}");
    }
    let after = numbers();
    assert_eq!(after.len(), 2);
    assert!(after.iter().all(|document| before.contains(document)), "{before:?} {after:?}");
}

/// The paths in a moved folder keep their flags, even if the folder itself has none.
#[test]
fn flags_of_paths_in_a_moved_folder_move_with_the_database() {
    for typed in ["arch", "."] {
        let folder = Folder::new();
        folder.write("old/arch/sub/q.jsonl", record("body", 1));
        folder.write("old/arch/a.txt", prose(2));
        let run_in = |place: &str, arguments: &[&str]| {
            let run = Run::to_its_end(folder.command(arguments).current_dir(folder.path().join(place)));
            assert_eq!(run.status, 0, "{run:?}");
            run
        };
        run_in("old", &["ingest", "-q", "--profile", "prose", "--text-field", "body", "arch/sub"]);
        run_in("old", &["ingest", "-q", "arch"]);
        std::fs::rename(folder.path().join("old"), folder.path().join("new")).unwrap();
        for text in [3, 4] {
            folder.write("new/arch/sub/q.jsonl", record("body", text));
            let run = run_in("new", &["ingest", typed]);
            assert!(run.stdout.starts_with("0 documents added, 1 replaced, 1 unchanged\n"), "{typed}: {run:?}");
        }
    }
}

/// A field is absent if no run that keeps the field has found it. A note names the field once.
#[test]
fn a_field_is_absent_only_if_no_path_has_it() {
    let folder = Folder::new();
    for (path, flags) in [("a", &[][..]), ("b", &["--store-text"])] {
        folder.write(&format!("{path}/r.jsonl"), record("text", 1));
        folder.run(&[&["ingest", "-q", "--profile", "prose", "--keep-fields", "url", path], flags].concat());
    }
    let absent = |number: usize, first: &str| {
        folder.write("a/r.jsonl", format!("{}\n", json!({ "text": prose(number), first: "x" })));
        folder.write("b/r.jsonl", record("text", number + 1));
        folder.ok(&["ingest", "--format", "json", "a", "b"]).json()[0]["absent_fields"].clone()
    };
    assert_eq!(absent(10, "other"), json!(["url"]));
    assert_eq!(absent(20, "url"), json!(null));
}
