//! One file is one document, whatever folder an ingest runs in; and `fpdb mv`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use crate::bad_input::prose;
use crate::oracle::Random;
use crate::support::{Folder, Run, names, zip};

/// Runs the program in a folder below that of the test.
fn run_in(folder: &Folder, below: &str, arguments: &[&str]) -> Run {
    let mut command = folder.command(arguments);
    command.current_dir(folder.path().join(below)).stdin(Stdio::null());
    Run::of(&command.output().unwrap())
}

fn ok_in(folder: &Folder, below: &str, arguments: &[&str]) -> Run {
    let run = run_in(folder, below, arguments);
    assert_eq!(run.status, 0, "{below}: fpdb {arguments:?}: {run:#?}");
    run
}

/// Added, unchanged and replaced documents of an ingest.
fn counts(run: &Run) -> [u64; 3] {
    let summary = &run.json()[0];
    ["added", "unchanged", "replaced"].map(|count| summary[count].as_u64().unwrap())
}

/// Files of each kind in `arch/2025`, an hour old.
fn archive() -> Folder {
    let folder = Folder::new();
    let records: String = (0..3).map(|n| format!("{}\n", serde_json::json!({ "text": prose(n) }))).collect();
    folder.write("arch/2025/a.txt", prose(10));
    folder.write("arch/2025/b.jsonl", records);
    folder.write("arch/2025/c.zip", zip([("x.txt", prose(11)), ("y/z.txt", prose(12))]));
    for file in ["a.txt", "b.jsonl", "c.zip"] {
        folder.age(&format!("arch/2025/{file}"));
    }
    folder
}

const NAMES: [&str; 6] = ["a.txt", "b.jsonl:1", "b.jsonl:2", "b.jsonl:3", "c.zip!x.txt", "c.zip!y/z.txt"];

fn below(prefix: &str) -> Vec<String> {
    NAMES.map(|name| format!("{prefix}{name}")).into()
}

const INGEST: [&str; 3] = ["ingest", "--format", "json"];

#[test]
fn a_file_is_one_document_whatever_folder_it_is_typed_in() {
    let folder = archive();
    let ingest = |at: &str, path: &str| counts(&ok_in(&folder, at, &[&INGEST[..], &[path]].concat()));
    assert_eq!(ingest(".", "arch"), [6, 0, 0]);
    let absolute = folder.path().canonicalize().unwrap().join("arch");
    for (at, path) in [
        ("arch", "2025"),
        ("arch", "."),
        ("arch/2025", "."),
        ("arch/2025", "../2025"),
        ("arch/2025", "../../arch"),
        (".", absolute.to_str().unwrap()),
        (".", "./arch//2025/"),
    ] {
        assert_eq!(ingest(at, path), [0, 6, 0], "{path} in {at}");
        assert_eq!(names(&folder), below("arch/2025/"), "{path} in {at}");
    }
    // If several sources overlap, the first one names a file.
    folder.write("arch/new.txt", prose(20));
    let both = ["ingest", "--format", "json", "2025", absolute.to_str().unwrap(), "."];
    assert_eq!(counts(&ok_in(&folder, "arch", &both))[0], 1);
    assert_eq!(names(&folder)[0], absolute.join("new.txt").to_str().unwrap());
    assert_eq!(counts(&ok_in(&folder, "arch", &both))[0], 0);
    // A changed file stays the same document, and so do members.
    folder.write("arch/2025/a.txt", prose(13));
    folder.write("arch/2025/c.zip", zip([("x.txt", prose(14))]));
    let changed = ok_in(&folder, "arch/2025", &[&INGEST[..], &["."]].concat());
    assert_eq!(counts(&changed), [0, 3, 2], "{changed:?}");
    assert_eq!(changed.json()[0]["removed"], 1);
    folder.write("arch/2025/a.txt", prose(15));
    let kept = ok_in(&folder, "arch", &[&INGEST[..], &["--on-change", "keep", "2025/a.txt"]].concat());
    assert_eq!(kept.json()[0]["kept"], 1, "{kept:?}");
    // New files are named as typed. A missing file is removed under its first name.
    folder.write("arch/2025/d.txt", prose(16));
    fs::remove_file(folder.path().join("arch/2025/a.txt")).unwrap();
    let pruned = ok_in(&folder, "arch", &[&INGEST[..], &["--prune", "2025"]].concat());
    assert_eq!((counts(&pruned)[0], &pruned.json()[0]["pruned"]), (1, &1.into()), "{pruned:?}");
    assert!(
        names(&folder).contains(&"2025/d.txt".to_owned()) && !names(&folder).contains(&"arch/2025/a.txt".to_owned())
    );
}

#[test]
fn a_file_that_one_run_meets_under_two_spellings_is_one_document() {
    let absolute = |folder: &Folder, path| folder.path().canonicalize().unwrap().join(path).display().to_string();
    for (first, second, documents) in [("arch", "", 6), ("arch/2025/a.txt", "", 1), ("arch", "arch/2025/../2025", 6)] {
        let folder = archive();
        let second = if second.is_empty() { absolute(&folder, first) } else { second.to_owned() };
        let run = folder.ok(&[&INGEST[..], &[first, &second]].concat());
        assert_eq!(counts(&run)[0], documents, "{second}: {run:?}");
        assert!(names(&folder).iter().all(|name| name.starts_with("arch/2025/")), "{second}");
    }
}

#[test]
fn a_link_to_a_folder_is_a_place_of_its_own() {
    let folder = archive();
    std::os::unix::fs::symlink("arch", folder.path().join("link")).unwrap();
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["arch"]].concat())), [6, 0, 0]);
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["link"]].concat())), [6, 0, 0]);
    assert_eq!(counts(&ok_in(&folder, "arch", &[&INGEST[..], &["../link/2025"]].concat())), [0, 6, 0]);
}

#[test]
fn a_database_that_is_moved_with_its_files_knows_them() {
    let folder = Folder::new();
    let inner = archive();
    fs::rename(inner.path().join("arch"), folder.write("one/x", "").with_file_name("arch")).unwrap();
    assert_eq!(counts(&ok_in(&folder, "one", &[&INGEST[..], &["arch"]].concat())), [6, 0, 0]);
    fs::rename(folder.path().join("one"), folder.path().join("two")).unwrap();
    assert_eq!(counts(&ok_in(&folder, "two", &[&INGEST[..], &["arch"]].concat())), [0, 6, 0]);
    assert_eq!(counts(&ok_in(&folder, "two/arch", &[&INGEST[..], &["2025"]].concat())), [0, 6, 0]);
}

#[test]
fn two_files_of_one_run_do_not_share_a_name() {
    let folder = Folder::new();
    folder.write("q/s/a.txt", prose(1));
    folder.write("s/a.txt", prose(2));
    folder.ok(&["init"]);
    ok_in(&folder, "q", &["ingest", "-q", "s"]);
    assert_eq!(names(&folder), ["s/a.txt"]);
    let path = folder.path().canonicalize().unwrap().join("s/a.txt").to_str().unwrap().to_owned();
    for added in [1, 0] {
        assert_eq!(counts(&folder.ok(&[&INGEST[..], &["."]].concat())), [added, 2 - added, 0]);
        assert_eq!(names(&folder), [&path, "s/a.txt"]);
    }
}

/// Two folders hold files of the same relative names. Each is ingested from within the folder.
#[test]
fn a_file_does_not_replace_another_file_of_its_name() {
    let folder = Folder::new();
    let records = |from: usize| -> String {
        (from..from + 3).map(|n| format!("{}\n", serde_json::json!({ "id": n - from, "text": prose(n) }))).collect()
    };
    for (place, first) in [("a", 0), ("b", 10)] {
        folder.write(&format!("{place}/data.jsonl"), records(first));
        folder.write(&format!("{place}/t.txt"), prose(first + 5));
        folder.write(&format!("{place}/same.txt"), prose(50));
    }
    let root = folder.path().canonicalize().unwrap();
    let ingest = |place: &str| {
        ok_in(&folder, place, &["--db", "../db", "ingest", "--format", "json", "data.jsonl", "t.txt", "same.txt"])
    };
    assert_eq!(counts(&ingest("a")), [5, 0, 0]);
    let run = ingest("b");
    assert_eq!((counts(&run), &run.json()[0]["named_by_path"]), ([5, 0, 0], &3.into()));
    let said = format!(
        "3 files are named by the whole path, because another file has the name: data.jsonl is {0}/a/data.jsonl, so this one is \
         {0}/b/data.jsonl\n",
        root.display()
    );
    assert!(run.stderr.contains(&said), "{run:?}");
    // A further ingest from either folder changes nothing.
    for place in ["a", "b"] {
        let run = ingest(place);
        assert_eq!((counts(&run), &run.json()[0]["named_by_path"]), ([0, 5, 0], &serde_json::Value::Null), "{place}");
    }
    // Each document follows its own file.
    folder.write("b/t.txt", prose(60));
    assert_eq!(counts(&ingest("b")), [0, 4, 1]);
    folder.write("a/t.txt", prose(61));
    assert_eq!(counts(&ingest("a")), [0, 4, 1]);
    // The document of a missing file keeps its name, unless a file with the same bytes is found.
    fs::remove_file(root.join("a/t.txt")).unwrap();
    for (text, counted) in [(62, [1, 0, 0]), (61, [0, 1, 0])] {
        folder.write(&format!("{text}/t.txt"), prose(text));
        let run = ok_in(&folder, &text.to_string(), &["--db", "../db", "ingest", "--format", "json", "t.txt"]);
        assert_eq!(counts(&run), counted, "{text}");
    }
}

/// A copied project is independent: its database uses the copied files.
#[test]
fn a_database_that_is_copied_with_its_files_follows_the_copies() {
    let folder = Folder::new();
    folder.write("one/c/a.txt", prose(1));
    folder.write("one/c/b.txt", prose(2));
    ok_in(&folder, "one", &["ingest", "-q", "c"]);
    let copied = std::process::Command::new("cp").args(["-r", "one", "two"]).current_dir(folder.path()).status();
    assert!(copied.unwrap().success());
    folder.write("two/c/a.txt", prose(3));
    assert_eq!(counts(&ok_in(&folder, "two", &[&INGEST[..], &["c"]].concat())), [0, 1, 1]);
}

/// Files with one name stay two documents after a merge, whichever of their folders is ingested again.
#[test]
fn files_of_one_name_stay_two_documents_after_a_merge() {
    for flags in [&["--on-change", "both"][..], &[]] {
        let folder = Folder::new();
        for (place, seed) in [("a", 1), ("b", 2)] {
            folder.write(&format!("{place}/news/t.txt"), prose(seed));
            ok_in(&folder, place, &["ingest", "-q", "news"]);
        }
        folder.ok(&[&["--db", "a/.fpdb", "merge", "-q", "b/.fpdb"], flags].concat());
        let texts = || folder.ok(&["--db", "a/.fpdb", "list", "--format", "json"]).json().len();
        let unchanged = counts(&ok_in(&folder, "a", &[&INGEST[..], &["news"]].concat()));
        assert_eq!((unchanged, texts()), (if flags.is_empty() { [1, 0, 0] } else { [0, 1, 0] }, 2), "{flags:?}");
        folder.write("a/news/t.txt", prose(3));
        assert_eq!(counts(&ok_in(&folder, "a", &[&INGEST[..], &["news"]].concat())), [0, 0, 1], "{flags:?}");
        assert_eq!(texts(), 2, "{flags:?}");
        for (text, shares) in [(2, 1.0), (3, 1.0), (1, 0.0)] {
            folder.write("asked.txt", prose(text));
            let answer = folder.ok(&["--db", "a/.fpdb", "query", "asked.txt", "--format", "json"]).json();
            assert_eq!(answer[0]["corpus_containment"], shares, "{flags:?} {text}");
        }
    }
}

#[test]
fn a_merge_says_what_it_replaces_with_documents_of_another_place() {
    let folder = Folder::new();
    folder.write("a/t.txt", prose(1));
    folder.write("b/t.txt", prose(2));
    let root = folder.path().canonicalize().unwrap();
    for place in ["a", "b"] {
        ok_in(&folder, place, &["--db", "db", "ingest", "-q", "t.txt"]);
    }
    let merge = |flags: &[&str]| folder.ok(&[&["--db", "a/db", "merge", "b/db", "--format", "json"], flags].concat());
    assert_eq!(counts(&merge(&["--on-change", "keep"])), [0, 0, 0]);
    let run = merge(&[]);
    let said = format!(
        "1 document was replaced by one of the same name from another place: t.txt of {0}/a/t.txt by that of {0}/b/t.txt\n",
        root.display()
    );
    assert!(run.stderr.contains(&said) && run.stderr.contains("`fpdb mv --db b/db . NAME`"), "{run:?}");
    assert_eq!((counts(&run), &run.json()[0]["replaced_from_other_places"]), ([0, 0, 1], &1.into()));
    let run = merge(&[]);
    assert!(counts(&run) == [0, 1, 0] && !run.stderr.contains("replaced"), "{run:?}");
    // Both steps that the hint names work.
    folder.ok(&["--db", "b/db", "mv", ".", "b"]);
    assert_eq!(counts(&merge(&[])), [1, 0, 0]);
}

#[test]
fn a_moved_folder_is_renamed_and_read_where_it_is() {
    let folder = archive();
    folder.ok(&["ingest", "-q", "arch", "--exclude", "*.log"]);
    fs::create_dir(folder.path().join("new")).unwrap();
    fs::rename(folder.path().join("arch/2025"), folder.path().join("new/root")).unwrap();
    let run = folder.ok(&["mv", "--format", "json", "arch/2025/", "./new//root"]);
    assert_eq!(run.json()[0]["schema"], "fpdb.mv/1");
    assert_eq!((&run.json()[0]["renamed"], &run.json()[0]["moved"]), (&6.into(), &6.into()));
    assert_eq!(names(&folder), below("new/root/"));
    // Passages need the texts, which are now at the new place.
    folder.write("question.txt", prose(11));
    let answer = folder.ok(&["query", "question.txt", "--format", "json"]).json();
    let found = &answer[0]["matches"][0];
    assert_eq!(found["document"], "new/root/c.zip!x.txt", "{answer:?}");
    assert_eq!(found["passages"][0]["exact"], true, "{answer:?}");
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["new/root"]].concat())), [0, 6, 0]);
    let pruned = ok_in(&folder, "new", &[&INGEST[..], &["--prune", "root"]].concat());
    assert_eq!((counts(&pruned), &pruned.json()[0]["pruned"]), ([0, 6, 0], &serde_json::Value::Null));
    // The same again, with `fpdb mv` run inside the moved folder.
    fs::rename(folder.path().join("new"), folder.path().join("newer")).unwrap();
    let run = ok_in(&folder, "newer/root", &["mv", "new", "newer"]);
    assert!(run.stderr.ends_with("6 documents renamed, and read at their new place from now on\n"), "{run:?}");
    assert_eq!(counts(&ok_in(&folder, "newer", &[&INGEST[..], &["root"]].concat())), [0, 6, 0]);
    assert_eq!(names(&folder), below("newer/root/"));
    assert_eq!(folder.ok(&["verify"]).status, 0);
}

/// Documents are counted, not contents.
#[test]
fn moved_documents_of_one_content_are_counted_each() {
    let folder = Folder::new();
    for (name, number) in [("a", 1), ("b", 1), ("c", 1), ("d", 2)] {
        folder.write(&format!("old/{name}.txt"), prose(number));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "old"]);
    fs::rename(folder.path().join("old"), folder.path().join("new")).unwrap();
    for arguments in [&["--dry-run", "new"][..], &["new"]] {
        let run = folder.ok(&[&INGEST[..], arguments].concat());
        assert_eq!((counts(&run), &run.json()[0]["moved"]), ([4, 0, 0], &4.into()));
        assert!(run.stderr.contains("4 documents are new and the same as stored ones"), "{run:?}");
    }
}

/// The new place was ingested before the user ran `mv`.
#[test]
fn a_moved_folder_that_was_ingested_again_can_be_mended() {
    let folder = archive();
    folder.ok(&["ingest", "-q", "arch"]);
    fs::create_dir(folder.path().join("new")).unwrap();
    fs::rename(folder.path().join("arch/2025"), folder.path().join("new/root")).unwrap();
    // Before that ingest, the names can still be changed without a removal.
    let dry = folder.ok(&[&INGEST[..], &["--dry-run", "new"]].concat());
    let hint =
        "hint: if all of arch/2025 was moved to new/root: `fpdb mv arch/2025 new/root` renames the stored documents\n";
    assert!(dry.stderr.contains(hint) && !dry.stderr.contains("fpdb rm"), "{dry:?}");
    let run = folder.ok(&[&INGEST[..], &["new"]].concat());
    assert_eq!((counts(&run), &run.json()[0]["moved"]), ([6, 0, 0], &6.into()));
    insta::assert_snapshot!(run.stderr, @"
    6 documents are new and the same as stored ones whose files no longer exist: new/root/a.txt as arch/2025/a.txt
    hint: if new/root holds nothing but what was moved from arch/2025: `fpdb rm --prefix new/root/ --yes` and then `fpdb mv arch/2025 new/root` keep the stored documents, with their numbers and metadata, also those that were not found there (without --yes `rm` shows what goes)
    ");
    let run = folder.run(&["mv", "arch/2025", "new/root"]);
    assert_eq!(run.status, 2);
    insta::assert_snapshot!(run.stderr, @"
    error: a stored document is named new/root/a.txt already, and 5 more of the new names are taken
    hint: nothing was renamed: `fpdb rm` removes the documents that have the new names (--prefix FOLDER/ all of a folder); if these are the moved files, ingested since, it can remove the old ones instead; or choose another name
    ");
    // A document whose file exists is not removed for a survivor whose file is gone.
    folder.ok(&["dedup", "--by", "exact", "--keep", "first", "--format", "json", "-q", "-o", "report.jsonl"]);
    let report = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
    assert!(report.contains(r#""remove":"new/root/a.txt""#), "{report}");
    let run = folder.run(&["rm", "--report", "report.jsonl"]);
    assert!(run.status == 2 && run.stderr.contains("new/root/a.txt stays"), "{run:?}");
    assert_eq!(names(&folder).len(), 12);
    // The hints work.
    folder.ok(&["rm", "--prefix", "new/root/", "--yes"]);
    folder.ok(&["mv", "arch/2025", "new/root"]);
    assert_eq!(names(&folder), below("new/root/"));
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["new"]].concat())), [0, 6, 0]);
    // If both files are gone, the report alone decides.
    folder.ok(&["ingest", "-q", "--db", "gone", "new"]);
    fs::create_dir(folder.path().join("copy")).unwrap();
    fs::copy(folder.path().join("new/root/a.txt"), folder.path().join("copy/a.txt")).unwrap();
    folder.ok(&["ingest", "-q", "--db", "gone", "copy"]);
    let dedup = ["dedup", "--db", "gone", "--by", "exact", "--format", "json", "-q", "-o", "gone.jsonl"];
    folder.ok(&dedup);
    fs::remove_dir_all(folder.path().join("new")).unwrap();
    fs::remove_dir_all(folder.path().join("copy")).unwrap();
    assert_eq!(
        folder.ok(&["rm", "--db", "gone", "--report", "gone.jsonl", "--format", "json"]).json()[0]["removed"],
        1
    );
}

/// An archive and a file have new names in their folder.
#[test]
fn the_hints_at_moved_files_that_were_ingested_again_work() {
    let folder = archive();
    folder.ok(&["ingest", "-q", "arch"]);
    fs::rename(folder.path().join("arch/2025/c.zip"), folder.path().join("arch/2025/d.zip")).unwrap();
    let run = folder.ok(&[&INGEST[..], &["arch"]].concat());
    assert!(run.stderr.contains("`fpdb rm --prefix 'arch/2025/d.zip!' --yes` and then"), "{run:?}");
    assert!(run.stderr.contains("`fpdb mv arch/2025/c.zip arch/2025/d.zip`"), "{run:?}");
    folder.ok(&["rm", "--prefix", "arch/2025/d.zip!", "--yes"]);
    folder.ok(&["mv", "arch/2025/c.zip", "arch/2025/d.zip"]);
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["arch"]].concat())), [0, 6, 0]);
    fs::rename(folder.path().join("arch/2025/a.txt"), folder.path().join("arch/2025/e.txt")).unwrap();
    let run = folder.ok(&[&INGEST[..], &["arch"]].concat());
    assert!(run.stderr.contains("hint: `fpdb rm arch/2025/a.txt` removes the old one"), "{run:?}");
    folder.ok(&["rm", "arch/2025/a.txt"]);
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["arch"]].concat())), [0, 6, 0]);
}

#[test]
fn flags_of_a_folder_that_is_renamed_before_it_is_moved_are_remembered() {
    let folder = archive();
    folder.write("arch/2025/secret.log", prose(30));
    folder.ok(&["ingest", "-q", "arch", "--exclude", "*.log"]);
    folder.ok(&["mv", "arch", "old"]);
    // While the files stay, their folder keeps its flags.
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["arch"]].concat())), [0, 6, 0]);
    fs::rename(folder.path().join("arch"), folder.path().join("old")).unwrap();
    folder.ok(&[&INGEST[..], &["old"]].concat());
    assert!(!names(&folder).contains(&"old/2025/secret.log".to_owned()));
}

#[test]
fn flags_of_a_moved_folder_are_remembered() {
    let folder = Folder::new();
    folder.write("old/a.html", format!("<p>{}</p>", prose(1)));
    folder.age("old/a.html");
    folder.ok(&["ingest", "-q", "--as", "text", "old"]);
    fs::rename(folder.path().join("old"), folder.path().join("new")).unwrap();
    folder.ok(&["mv", "old", "new"]);
    let run = folder.ok(&[&INGEST[..], &["new"]].concat());
    assert_eq!(counts(&run), [0, 1, 0], "{run:?}");
    assert!(run.stderr.contains("--as=text") || run.stderr.contains("--as text"), "{run:?}");
}

/// Globs about the folder stay, because other files are still there.
#[test]
fn globs_of_a_folder_stay_if_one_of_its_files_is_moved() {
    let folder = Folder::new();
    for (number, name) in ["in/a.txt", "in/b.txt", "in/a.txt.bak", "in/c.tmp"].into_iter().enumerate() {
        folder.write(name, prose(number));
    }
    folder.ok(&["ingest", "-q", "in", "--exclude", "in/*.tmp", "--exclude", "in/a.txt.bak"]);
    let move_file = |old: &str, new: &str| {
        fs::rename(folder.path().join(old), folder.path().join(new)).unwrap();
        folder.ok(&["mv", old, new]);
        folder.ok(&["ingest", "-q", "--prune", "in"]);
    };
    // The moved file gets another name. The name of the excluded file `in/a.txt.bak` begins with the old one.
    move_file("in/a.txt", "in/new.txt");
    assert_eq!(names(&folder), ["in/b.txt", "in/new.txt"]);
    fs::create_dir(folder.path().join("out")).unwrap();
    move_file("in/b.txt", "out/b.txt");
    assert_eq!(names(&folder), ["in/new.txt", "out/b.txt"]);
    // If the folder is moved, its globs get its new path.
    fs::rename(folder.path().join("in"), folder.path().join("last")).unwrap();
    folder.ok(&["mv", "in", "last"]);
    folder.write("last/d.tmp", prose(9));
    folder.ok(&["ingest", "-q", "last"]);
    assert!(!names(&folder).contains(&"last/d.tmp".to_owned()));
}

#[test]
fn a_name_alone_is_changed_while_the_file_stays() {
    let folder = archive();
    folder.ok(&["ingest", "-q", "arch"]);
    let run = folder.ok(&["mv", "arch/2025/a.txt", "essays/first.txt"]);
    assert_eq!(run.stderr, "1 document renamed\n");
    folder.ok(&["mv", "arch/2025/c.zip", "c.zip"]);
    folder.ok(&["mv", "arch/2025/b.jsonl", "/abs/b.jsonl"]);
    let expected =
        ["/abs/b.jsonl:1", "/abs/b.jsonl:2", "/abs/b.jsonl:3", "c.zip!x.txt", "c.zip!y/z.txt", "essays/first.txt"];
    assert_eq!(names(&folder), expected);
    assert!(folder.ok(&["show", "essays/first.txt"]).stdout.contains("arch/2025/a.txt"));
    for (at, path) in [(".", "arch"), ("arch", "2025"), ("arch/2025", ".")] {
        assert_eq!(counts(&ok_in(&folder, at, &[&INGEST[..], &[path]].concat())), [0, 6, 0]);
        assert_eq!(names(&folder), expected);
    }
    folder.ok(&["mv", ".", "all"]);
    assert_eq!(names(&folder)[3..], ["all/c.zip!x.txt", "all/c.zip!y/z.txt", "all/essays/first.txt"]);
    folder.ok(&["mv", "all/essays", "."]);
    assert_eq!(names(&folder)[5], "first.txt");
    folder.ok(&["mv", "/abs", "all/essays"]);
    assert_eq!(names(&folder)[2], "all/essays/b.jsonl:1");
    assert_eq!(counts(&folder.ok(&[&INGEST[..], &["arch"]].concat())), [0, 6, 0]);
    // A folder of names can be moved into itself.
    folder.ok(&["mv", "all", "all/all"]);
    assert_eq!(names(&folder)[0], "all/all/c.zip!x.txt");
    assert_eq!(folder.ok(&["verify"]).status, 0);
}

#[test]
fn a_rename_that_cannot_be_changes_nothing() {
    let folder = archive();
    folder.write("other/a.txt", prose(30));
    folder.write("other/c.zip", zip([("other.txt", prose(31))]));
    folder.ok(&["ingest", "-q", "arch", "other"]);
    let before = folder.ok(&["list", "--format", "json"]).stdout;
    for (old, new, error) in [
        ("arch/2025", "other", "a stored document is named other/a.txt already"),
        ("arch/2025/c.zip", "other/c.zip", "a stored document is named other/c.zip already"),
        ("other/a.txt", "arch/2025/a.txt", "a stored document is named arch/2025/a.txt already"),
        ("nosuch", "x", "no stored document is named nosuch"),
        ("arch/20", "x", "no stored document is named arch/20"),
        ("arch/2025/c.zip!x.txt", "x.txt", "parts of a file are renamed with it"),
        ("arch/2025/b.jsonl:1", "x", "parts of a file are renamed with it"),
        ("arch", "./arch/", "a name other than the old one"),
        ("arch/2025/a.txt", "", "a name that is not empty"),
        ("", "x", "no stored document is named"),
    ] {
        let run = folder.run(&["mv", old, new]);
        assert!(run.status == 2 && run.stderr.contains(error), "{old} {new}: {run:?}");
        assert_eq!(folder.ok(&["list", "--format", "json"]).stdout, before, "{old} {new}");
    }
}

/// The files of the model: the path of each, and the number of its text.
type Files = BTreeMap<String, usize>;

/// Files are written, changed, removed and moved at random; folders are ingested from any folder above or
/// beside them; names change. The stored names and texts are those that a simple model expects.
#[test]
fn documents_stay_one_whatever_happens() {
    for seed in 0..3 {
        let folder = Folder::new();
        fs::create_dir(folder.path().join("root")).unwrap();
        let root = folder.path().canonicalize().unwrap().join("root").to_str().unwrap().to_owned();
        folder.ok(&["init", "--profile", "words", "-k", "3"]);
        let mut random = Random(seed + 1);
        let (mut files, mut documents) = (Files::new(), BTreeMap::<String, (String, usize)>::new());
        let mut text = 0;
        let folders = ["a", "b", "a/b", "b/a", "a/a/b"];
        for step in 0..36 {
            let context = format!("seed {seed}, step {step}");
            match random.below(8) {
                0..3 => {
                    let path = format!("{}/{}.txt", folders[random.below(folders.len())], ["x", "y"][random.below(2)]);
                    text += 1;
                    folder.write(&format!("root/{path}"), format!("{} {text}", prose(text)));
                    files.insert(path, text);
                }
                3 => {
                    let Some(path) = files.keys().nth(random.below(files.len().max(1))).cloned() else { continue };
                    let file = folder.path().join("root").join(&path);
                    fs::remove_file(&file).unwrap();
                    // Documents of an empty folder would be kept.
                    let above = file.ancestors().skip(1).take_while(|above| !above.ends_with("root"));
                    above.take_while(|above| fs::remove_dir(above).is_ok()).for_each(drop);
                    files.remove(&path);
                }
                4 => {
                    let mut tops: Vec<String> = documents.keys().flat_map(|name| tops(name)).collect();
                    tops.dedup();
                    if tops.is_empty() {
                        continue;
                    }
                    let (old, new) =
                        (tops[random.below(tops.len())].clone(), ["a", "n", "n/m", "b/a"][random.below(4)]);
                    let moves = |name: &str| *name == old || name.starts_with(&format!("{old}/"));
                    let renamed = |name: &str| format!("{new}{}", &name[old.len()..]);
                    let shared = documents.iter().filter(|(name, _)| moves(name)).any(|(name, (path, _))| {
                        let place = new_path(&files, path, name, &renamed(name));
                        documents.values().any(|(other, _)| Some(other) == place.as_ref())
                    });
                    if shared {
                        // Two documents would have one file, and the check below cannot distinguish them.
                        continue;
                    }
                    let run = run_in(&folder, "root", &["mv", &old, new]);
                    let taken = documents.keys().filter(|name| moves(name)).any(|name| {
                        let new = renamed(name);
                        new == *name || documents.contains_key(&new) && !moves(&new)
                    });
                    assert_eq!(run.status, if taken { 2 } else { 0 }, "{context}: {old} {new}: {run:?}");
                    if !taken {
                        documents = std::mem::take(&mut documents)
                            .into_iter()
                            .map(|(name, (path, text))| match moves(&name) {
                                true => {
                                    let new = renamed(&name);
                                    let path = new_path(&files, &path, &name, &new).unwrap_or(path);
                                    (new, (path, text))
                                }
                                false => (name, (path, text)),
                            })
                            .collect();
                    }
                }
                _ => {
                    let at = ["", "a", "b", "a/b"][random.below(4)];
                    let inside = ["", "a", "b", "a/a"][random.below(4)];
                    let whole = [at, inside].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
                    let place = folder.path().join("root").join(&whole);
                    if !place.is_dir() || fs::read_dir(&place).unwrap().next().is_none() {
                        continue;
                    }
                    let prunes = random.below(2) == 0;
                    let typed = if inside.is_empty() { "." } else { inside };
                    let arguments =
                        if prunes { vec!["ingest", "-q", "--prune", typed] } else { vec!["ingest", "-q", typed] };
                    let run = run_in(&folder, &format!("root/{at}"), &arguments);
                    assert_eq!(run.status, 0, "{context}: {run:?}");
                    let is_within = |path: &str| whole.is_empty() || path.starts_with(&format!("{whole}/"));
                    for (path, &text) in files.iter().filter(|(path, _)| is_within(path)) {
                        let known = documents.iter().find(|(_, (of, _))| of == path).map(|(name, _)| name.clone());
                        let typed = if at.is_empty() { path.clone() } else { path[at.len() + 1..].to_owned() };
                        let name = known.unwrap_or_else(|| match documents.get(&typed) {
                            Some((of, _)) if keeps_its_name(&files, of, &typed, at) => format!("{root}/{path}"),
                            _ => typed,
                        });
                        documents.insert(name, (path.clone(), text));
                    }
                    if prunes {
                        documents.retain(|_, (path, _)| !is_within(path) || files.contains_key(path));
                    }
                }
            }
            let listed = folder.ok(&["list", "--format", "json"]).json();
            let stored: BTreeMap<String, String> = listed
                .iter()
                .map(|document| {
                    let field = |field: &str| document[field].as_str().unwrap().to_owned();
                    (field("name"), field("source").replace(&format!("{root}/"), ""))
                })
                .collect();
            let expected: BTreeMap<String, String> =
                documents.iter().map(|(name, (path, _))| (name.clone(), path.clone())).collect();
            assert_eq!(stored, expected, "{context}");
        }
        assert_eq!(folder.ok(&["verify"]).status, 0);
    }
}

/// True if the document of the file `of` keeps its name `typed` when another file is typed with this name in
/// the folder `at`. No two files have the same bytes. A renamed document follows only a file beside the old
/// one.
fn keeps_its_name(files: &Files, of: &str, typed: &str, at: &str) -> bool {
    let is_beside = at.is_empty() || of.starts_with(&format!("{at}/"));
    files.contains_key(of) || std::path::Path::new(of).ends_with(typed) || !is_beside
}

/// A name, and the names of all folders that it is in.
fn tops(name: &str) -> Vec<String> {
    let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
    ends.filter(|&end| end > 0).map(|end| name[..end].to_owned()).collect()
}

/// The new path of a renamed document's file, if the file is gone from its old path and exists at the new
/// name.
fn new_path(files: &Files, path: &str, old: &str, new: &str) -> Option<String> {
    if files.contains_key(path) {
        return None;
    }
    let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (of_path, of_name) = (parts(path), parts(old));
    let same = of_path.iter().rev().zip(of_name.iter().rev()).take_while(|(a, b)| a == b).count();
    let beside =
        (same == of_name.len()).then(|| [&of_path[..of_path.len() - same], &parts(new)[..]].concat().join("/"));
    beside.into_iter().chain([new.to_owned()]).find(|path| files.contains_key(path))
}

/// The name of the file shows its kind, not the name of the document.
#[test]
fn a_new_name_with_another_ending_changes_no_kind() {
    let folder = archive();
    folder.write("arch/2025/d.json", serde_json::json!({ "text": prose(13) }).to_string() + "\n");
    folder.age("arch/2025/d.json");
    folder.ok(&["ingest", "-q", "--profile", "prose", "arch/2025"]);
    folder.ok(&["mv", "arch/2025/b.jsonl", "records.txt"]);
    folder.ok(&["mv", "arch/2025/d.json", "d.jsonl"]);
    let before = names(&folder);
    assert!(before.contains(&"records.txt:1".to_owned()) && before.contains(&"d.jsonl".to_owned()), "{before:?}");
    for file in ["b.jsonl", "d.json"] {
        // A new time makes the run read the file.
        let path = folder.path().join("arch/2025").join(file);
        fs::File::options().write(true).open(path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    }
    assert_eq!(counts(&ok_in(&folder, ".", &[&INGEST[..], &["arch/2025"]].concat())), [0, 7, 0]);
    assert_eq!(names(&folder), before);
}

/// A link that leads nowhere, or a folder without permission, may hide the file.
#[test]
fn a_file_that_cannot_be_looked_at_keeps_its_name() {
    let folder = Folder::new();
    for place in ["x", "y"] {
        folder.write(&format!("{place}/a.txt"), prose(place.len() + usize::from(place == "y")));
    }
    folder.ok(&["init", "-q", "--profile", "prose"]);
    ok_in(&folder, "x", &["ingest", "-q", "a.txt"]);
    let path = folder.path().join("x/a.txt");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert_eq!(counts(&ok_in(&folder, "y", &["ingest", "--format", "json", "a.txt"])), [1, 0, 0]);
    let named_by_path = folder.path().canonicalize().unwrap().join("y/a.txt");
    assert_eq!(names(&folder), [named_by_path.to_str().unwrap(), "a.txt"]);
    fs::remove_file(&path).unwrap();
    ok_in(&folder, "y", &["ingest", "-q", "a.txt"]);
    assert_eq!(names(&folder).len(), 2);
}

/// After a merge that keeps both versions, documents of two files have one name.
#[test]
fn the_stored_version_is_that_of_the_file() {
    let folder = Folder::new();
    let databases = ["one.db", "two.db"];
    for (place, database) in ["x", "y"].iter().zip(databases) {
        folder.write(&format!("{place}/a.txt"), prose(usize::from(*place == "y")));
        folder.age(&format!("{place}/a.txt"));
        folder.ok(&["init", "-q", "--profile", "prose", "--db", database]);
        ok_in(&folder, place, &["ingest", "-q", "a.txt", "--db", &format!("../{database}")]);
    }
    folder.ok(&["merge", "-q", "--db", "one.db", "two.db", "--on-change", "both"]);
    let sources = || -> Vec<(String, u64)> {
        let list = folder.ok(&["list", "--db", "one.db", "--format", "json"]).json();
        let source =
            |document: &serde_json::Value| document["source"].as_str().unwrap().rsplit('/').nth(1).unwrap().to_owned();
        let mut sources: Vec<_> = list.iter().map(|row| (source(row), row["bytes"].as_u64().unwrap())).collect();
        sources.sort();
        sources
    };
    assert_eq!(sources().len(), 2);
    // The older document gets the content of the newer one.
    folder.write("x/a.txt", prose(1));
    folder.age("x/a.txt");
    let ingest = |place| counts(&ok_in(&folder, place, &["ingest", "--db", "../one.db", "--format", "json", "a.txt"]));
    assert_eq!(ingest("x"), [0, 0, 1]);
    let size = prose(1).len() as u64;
    assert_eq!(sources(), [("x".to_owned(), size), ("y".to_owned(), size)]);
    for place in ["x", "y"] {
        assert_eq!(ingest(place), [0, 1, 0]);
        assert_eq!(sources().len(), 2);
    }
}

/// A file can have the name of a part of another file.
#[test]
fn a_file_that_is_named_like_a_part_takes_no_name_of_the_archive() {
    let folder = Folder::new();
    folder.write("corpus/a.zip", zip([("b.txt", prose(1)), ("c.txt", prose(2))]));
    folder.write("corpus/a.zip!aaa.txt", prose(3));
    for file in ["a.zip", "a.zip!aaa.txt"] {
        folder.age(&format!("corpus/{file}"));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
    let before = names(&folder);
    for place in ["corpus", "."] {
        for _ in 0..2 {
            assert_eq!(counts(&ok_in(&folder, place, &["ingest", "--format", "json", "."])), [0, 3, 0], "{place}");
        }
    }
    assert_eq!(names(&folder), before);
    // A file gets the name of a stored member, first with another content, then with the same content.
    for text in [prose(4), prose(1)] {
        folder.write("corpus/a.zip!b.txt", text);
        folder.age("corpus/a.zip!b.txt");
        for _ in 0..3 {
            let run = folder.run(&["ingest", "."]);
            assert!(run.status == 2 && run.stderr.contains("a.zip!b.txt: "), "{run:?}");
            assert_eq!(names(&folder), before);
        }
    }
    assert_eq!(folder.ok(&["show", "--text", "corpus/a.zip!b.txt"]).stdout, prose(1));
    let both = ["ingest", "-q", ".", "--on-change", "both"];
    for _ in 0..2 {
        folder.ok(&both);
        assert_eq!(names(&folder).len(), 4);
    }
}

/// Without the name of its file, the name of a part would be that of a file in the current folder.
#[test]
fn a_file_needs_a_name() {
    let folder = archive();
    folder.ok(&["ingest", "-q", "--profile", "prose", "arch"]);
    for file in ["arch/2025/a.txt", "arch/2025/b.jsonl", "arch/2025/c.zip"] {
        for new in ["", ".", "/", "./"] {
            let run = folder.run(&["mv", file, new]);
            assert!(run.status == 2 && run.stderr.contains("a name that is not empty"), "{file} {new}: {run:?}");
        }
    }
    assert_eq!(names(&folder), below("arch/2025/"));
    // The name of a folder can be left out.
    folder.ok(&["mv", "arch/2025", "."]);
    assert_eq!(names(&folder), below(""));
}
