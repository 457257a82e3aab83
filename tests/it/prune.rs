//! `ingest --prune`: documents that are gone from folders and archives are removed, renamed files keep their
//! numbers, and nothing else is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use flate2::read::GzDecoder;
use fpdb::{Database, IngestOptions, OnChange, Profile, ReadAs, ReadOptions, Source, Task};
use serde_json::Value;

use crate::bad_input::prose;
use crate::oracle::Random;
use crate::support::{Folder, Run, gzip, remove_empty};

const DB: &str = ".fpdb";

/// Prunes, checks the exit status, and returns the report. A dry run before it must give the same report and
/// change nothing.
fn prune(folder: &Folder, status: i32, arguments: &[&str]) -> Value {
    let flags = [&["ingest", "--format", "json", "--prune"], arguments].concat();
    let (content, files) = (list(folder), database_files(folder));
    let trial = folder.run(&[&flags[..], &["--dry-run"]].concat());
    assert_eq!((list(folder), database_files(folder)), (content.clone(), files));
    let run = folder.run(&flags);
    assert_eq!((run.status, trial.status), (status, status), "{run:?}\n{trial:?}");
    let (report, mut trial) = (run.json().remove(0), trial.json().remove(0));
    let stored: BTreeSet<String> = names(folder).into_iter().collect();
    let fields = trial.as_object_mut().unwrap();
    assert_eq!(fields.remove("dry_run"), Some(true.into()));
    let removed = fields.remove("removed_names").map_or(Vec::new(), |names| names.as_array().unwrap().clone());
    assert_eq!(removed.len() as u64, counts(&report)[4] + counts(&report)[5]);
    for name in removed {
        let name = name.as_str().unwrap();
        assert!(content.iter().any(|one| one["name"] == name) && !stored.contains(name), "{name}");
    }
    fields.insert("seconds".into(), report["seconds"].clone());
    assert_eq!(trial, report);
    report
}

fn list(folder: &Folder) -> Vec<Value> {
    folder.ok(&["list", "--format", "json"]).json()
}

/// The names, sizes and times of the database's files.
fn database_files(folder: &Folder) -> Vec<(String, u64, SystemTime)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.path().join(DB)];
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let facts = entry.metadata().unwrap();
            match facts.is_dir() {
                true => folders.push(entry.path()),
                false => files.push((entry.path().display().to_string(), facts.len(), facts.modified().unwrap())),
            }
        }
    }
    files.sort();
    files
}

/// The counts of a report, in this order.
fn counts(report: &Value) -> [u64; 6] {
    ["added", "replaced", "unchanged", "renamed", "pruned", "removed"].map(|name| report[name].as_u64().unwrap_or(0))
}

/// The numbers of the stored documents, by name.
fn numbers(folder: &Folder) -> BTreeMap<String, u64> {
    list(folder).iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["id"].as_u64().unwrap())).collect()
}

fn names(folder: &Folder) -> Vec<String> {
    numbers(folder).into_keys().collect()
}

fn rename(folder: &Folder, from: &str, to: &str) {
    let to = folder.path().join(to);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::rename(folder.path().join(from), to).unwrap();
}

fn remove(folder: &Folder, file: &str) {
    fs::remove_file(folder.path().join(file)).unwrap();
}

/// JSON lines with these texts.
fn lines(texts: impl IntoIterator<Item = usize>) -> String {
    texts.into_iter().map(|text| format!("{}\n", serde_json::json!({ "text": prose(text) }))).collect()
}

/// Ten files. The times of some files are old enough for an ingest to trust.
fn corpus() -> Folder {
    let folder = Folder::new();
    for number in 0..10 {
        let name = format!("corpus/{}/{number}.txt", number % 2);
        folder.write(&name, prose(number));
        if number < 6 {
            folder.age(&name);
        }
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
    folder
}

#[test]
fn what_is_gone_is_forgotten_and_what_was_renamed_keeps_its_number() {
    let folder = corpus();
    let before = numbers(&folder);
    remove(&folder, "corpus/0/0.txt");
    rename(&folder, "corpus/0/2.txt", "corpus/new/place/two.md");
    rename(&folder, "corpus/1/9.txt", "corpus/0/9.txt");
    folder.write("corpus/1/1.txt", prose(20));
    folder.write("corpus/1/new.txt", prose(21));
    // Without `--prune`, the old names stay, and the renamed files are new documents.
    folder.ok(&["backup", "-q", "copies"]);
    folder.ok(&["restore", "-q", "--db", "plain", "copies"]);
    let plain = folder.ok(&["ingest", "--db", "plain", "--format", "json", "corpus"]).json().remove(0);
    assert_eq!(counts(&plain), [3, 1, 6, 0, 0, 0]);

    let report = prune(&folder, 0, &["corpus"]);
    assert_eq!(counts(&report), [2, 1, 7, 1, 2, 0], "a file that would be read as Markdown is another document");
    let after = numbers(&folder);
    assert!(!after.contains_key("corpus/0/0.txt") && !after.contains_key("corpus/0/2.txt"));
    assert_eq!(after["corpus/0/9.txt"], before["corpus/1/9.txt"]);
    assert_eq!((after["corpus/1/7.txt"], after.len()), (before["corpus/1/7.txt"], 10));
    assert_eq!(folder.ok(&["verify", "--format", "json"]).json()[0]["problems"], Value::Array(vec![]));
    let shown = folder.ok(&["show", "corpus/0/9.txt", "--format", "json"]).json().remove(0);
    assert!(shown["source"].as_str().unwrap().ends_with("corpus/0/9.txt"), "{shown}");
    assert_eq!(folder.run(&["show", "corpus/1/9.txt"]).status, 2);
    let answer = folder.ok(&["query", "corpus/0/9.txt", "--min-score", "1", "--format", "json"]).json().remove(0);
    assert_eq!(answer["matches"][0]["document"], "corpus/0/9.txt");
    assert_eq!(answer["matches"][0]["passages"][0]["exact"], true, "its text is found again");

    // The same again changes nothing. The files of a renamed folder are renamed files.
    assert_eq!(counts(&prune(&folder, 0, &["corpus"])), [0, 0, 10, 0, 0, 0]);
    rename(&folder, "corpus/1", "corpus/odd");
    let run = folder.ok(&["ingest", "-v", "--prune", "corpus"]);
    assert!(run.stdout.starts_with("0 documents added, 10 unchanged, 5 renamed\n"), "{run:?}");
    assert!(run.stderr.contains("renamed corpus/1/7.txt to corpus/odd/7.txt"), "{run:?}");
    assert_eq!(numbers(&folder)["corpus/odd/7.txt"], before["corpus/1/7.txt"]);
    remove(&folder, "corpus/odd/7.txt");
    let run = folder.ok(&["ingest", "-v", "--prune", "corpus"]);
    assert!(
        run.stdout.starts_with("0 documents added, 9 unchanged, 1 removed (their files no longer exist)\n"),
        "{run:?}"
    );
    assert!(run.stderr.contains("removed corpus/odd/7.txt: its file no longer exists"), "{run:?}");
}

#[test]
fn nothing_is_forgotten_that_was_not_looked_for() {
    let folder = corpus();
    folder.write("corpus/.hidden/a.txt", prose(30));
    folder.write("corpus/x.log", prose(31));
    folder.write("other/a.txt", prose(32));
    folder.ok(&["ingest", "-q", "corpus", "other", "corpus/0/../0/8.txt"]);
    let all = names(&folder);
    for gone in ["corpus/.hidden/a.txt", "corpus/x.log", "corpus/0/4.txt", "other/a.txt"] {
        remove(&folder, gone);
    }
    // Documents stay if they are excluded, in another folder, or in a folder that cannot be searched.
    let left_out = ["--skip-hidden", "--exclude", "*.log", "--exclude", "corpus/0"];
    assert_eq!(counts(&prune(&folder, 0, &[&left_out[..], &["corpus"]].concat())), [0, 0, 5, 0, 0, 0]);
    assert_eq!(counts(&prune(&folder, 0, &["--include", "[5-9].txt", "corpus"])), [0, 0, 5, 0, 0, 0]);
    rename(&folder, "corpus/0", "elsewhere");
    let report = prune(&folder, 2, &["corpus", "corpus/0", "--include", "0"]);
    assert_eq!(counts(&report), [0; 6]);
    assert_eq!(report["failed"][0]["name"], "corpus/0", "{report}");
    assert_eq!(counts(&prune(&folder, 2, &["missing"])), [0; 6]);
    assert_eq!(counts(&prune(&folder, 0, &["other/../corpus/1"]))[4], 0, "under this name nothing was stored");
    rename(&folder, "elsewhere", "corpus/0");
    // An empty folder may belong to a disk that is not mounted.
    let run = folder.run(&["ingest", "--prune", "other"]);
    assert_eq!(run.status, 2);
    insta::assert_snapshot!(run.stderr, @r"
    error: other: the folder other is empty: the stored documents that came from it (1) were not removed
    hint: if its disk is mounted, `fpdb rm other/a.txt` removes all that came from it
    ");
    let run = folder.ok(&["ingest", "--prune", "corpus/1/1.txt"]);
    assert!(
        run.stderr.contains("no folder is named: --prune removes only members that archives no longer hold"),
        "{run:?}"
    );
    let now = names(&folder);
    assert!(all.iter().all(|name| now.contains(name)), "{now:?}");
    fs::remove_dir(folder.path().join("corpus/.hidden")).unwrap();
    // The new flags replace the remembered exclusions, so three documents are removed.
    assert_eq!(counts(&prune(&folder, 0, &["--as", "auto", "corpus"]))[4], 3);
    assert!(names(&folder).contains(&"other/a.txt".to_owned()));
}

#[test]
fn an_empty_folder_is_guarded_below_another_one_and_as_the_current_one() {
    let folder = Folder::new();
    for name in ["a/one.txt", "a/b/two.txt", "here/a.txt", "here/b.txt"] {
        folder.write(name, prose(name.len()));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "a"]);
    remove(&folder, "a/b/two.txt");
    for order in [&["a", "a/b"][..], &["a/b", "a"], &["a"]] {
        let report = prune(&folder, 2, order);
        assert_eq!((counts(&report)[4], &report["failed"][0]["name"]), (0, &"a/b".into()), "{order:?}");
    }
    fs::remove_dir(folder.path().join("a/b")).unwrap();
    assert_eq!(counts(&prune(&folder, 0, &["a"]))[4], 1);
    // The hint for the current folder must not name a prefix of all names.
    let here = |flags: &[&str]| {
        let mut command = folder.command(flags);
        Run::of(&command.current_dir(folder.path().join("here")).stdin(Stdio::null()).output().unwrap())
    };
    assert_eq!(here(&["ingest", "-q", "--db", "../at", "."]).status, 0);
    ["here/a.txt", "here/b.txt"].iter().for_each(|file| remove(&folder, file));
    let run = here(&["ingest", "--prune", "--db", "../at", "."]);
    assert!(run.status == 2 && run.stderr.contains("`fpdb rm --db ../at a.txt b.txt` removes"), "{run:?}");
    let run = here(&["rm", "--db", "../at", "--prefix", "./", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("every name begins with it"), "{run:?}");
}

/// A folder that is gone, or empty, may be a disk that is not mounted. The error names the command that goes
/// on, in whatever folder the ingest is typed.
#[test]
fn the_documents_of_a_folder_that_is_gone_are_named_by_the_command_that_removes_them() {
    let folder = Folder::new();
    for (number, name) in ["arch/gone/a.txt", "arch/gone/b.txt", "arch/gone2/c.txt", "arch/d.txt"].iter().enumerate() {
        folder.write(name, prose(number));
    }
    folder.write("arch/r.jsonl", lines(10..12));
    folder.ok(&["ingest", "-q", "--profile", "prose", "arch"]);
    ["arch/gone/a.txt", "arch/gone/b.txt"].iter().for_each(|file| remove(&folder, file));
    let run = folder.run(&["ingest", "--prune", "arch/gone"]);
    let rm = "`fpdb rm --prefix arch/gone/` shows its documents, and with --yes removes them\n";
    assert!(run.status == 2 && run.stderr.ends_with(&format!("hint: if its disk is mounted, {rm}")), "{run:?}");
    fs::remove_dir(folder.path().join("arch/gone")).unwrap();
    for (flags, place) in
        [(&["ingest", "--prune"][..], "arch/gone"), (&["ingest"], "arch/gone/"), (&["ingest"], "./arch/gone")]
    {
        let run = folder.run(&[flags, &[place]].concat());
        assert_eq!((run.status, numbers(&folder).len()), (2, 6), "{run:?}");
        let gone = "arch/gone is gone, or its disk is not mounted: the stored documents that came from it (2) stay\n";
        assert!(run.stderr.contains(gone.trim_start_matches("arch/gone")), "{run:?}");
        assert!(run.stderr.ends_with(rm), "{run:?}");
    }
    let mut in_folder = folder.command(&["ingest", "--prune", "gone"]);
    let run = Run::of(&in_folder.current_dir(folder.path().join("arch")).output().unwrap());
    assert!(run.status == 2 && run.stderr.contains("--prefix arch/gone/"), "{run:?}");
    // A file of records, and a path of which nothing is stored.
    remove(&folder, "arch/r.jsonl");
    let run = folder.run(&["ingest", "arch/r.jsonl"]);
    assert!(run.status == 2 && run.stderr.contains("`fpdb rm --prefix arch/r.jsonl:`"), "{run:?}");
    let run = folder.run(&["ingest", "--prune", "arch/gon"]);
    assert!(run.status == 2 && run.stderr.contains("cannot read arch/gon: No such file"), "{run:?}");
    folder.ok(&["rm", "--prefix", "arch/gone/", "--yes"]);
    assert_eq!(names(&folder), ["arch/d.txt", "arch/gone2/c.txt", "arch/r.jsonl:1", "arch/r.jsonl:2"]);
}

/// The command that is named removes no document of another place: none whose name is longer than that of the
/// missing file, and none beside the folder that shares the beginning of the names.
#[test]
fn the_command_that_removes_documents_of_a_place_takes_no_others() {
    let folder = Folder::new();
    for (number, name) in ["f/a.txt", "f/a.txt.bak", "s/deep/x", "t/deep/x", "t/e.txt"].iter().enumerate() {
        folder.write(name, prose(number));
    }
    let in_s = ["../1.txt", "../2.txt", "../3.txt", "../4.txt"];
    for number in 1..=4 {
        folder.write(&format!("s/{number}.txt"), prose(10 + number));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "f"]);
    let database = folder.path().join(DB);
    let ingest_in = |place: &str, paths: &[&str]| {
        let mut command = folder.command(&[&["ingest", "-q", "--db", database.to_str().unwrap()], paths].concat());
        assert_eq!(Run::of(&command.current_dir(folder.path().join(place)).output().unwrap()).status, 0);
    };
    ingest_in("s/deep", &in_s);
    remove(&folder, "f/a.txt");
    let run = folder.run(&["ingest", "f/a.txt"]);
    assert!(run.stderr.ends_with("if it was deleted, `fpdb rm f/a.txt` removes all that came from it\n"), "{run:?}");
    rename(&folder, "s", "away");
    let run = folder.run(&["ingest", "s"]);
    assert!(run.stderr.contains("`fpdb rm --prefix ../` shows its documents, and with --yes removes them"), "{run:?}");
    ingest_in("t/deep", &["../e.txt"]);
    let run = folder.run(&["ingest", "s"]);
    let named = "`fpdb rm NAME...` removes ../1.txt, ../2.txt, ../3.txt, ... and documents of other places with these names (`fpdb list` shows the names)\n";
    assert!(run.status == 2 && run.stderr.ends_with(named), "{run:?}");
}

/// A link in a folder is not followed. It is a failure only if documents were read through it, because their
/// disk may not be mounted.
#[test]
fn a_link_to_a_disk_that_is_not_mounted_is_a_failure_if_documents_came_through_it() {
    let folder = Folder::new();
    folder.write("disk/a.txt", prose(1));
    folder.write("f/b.txt", prose(2));
    for (to, link) in [("../disk", "f/link"), ("../disk/a.txt", "f/a.txt"), ("../nothing", "f/other")] {
        std::os::unix::fs::symlink(to, folder.path().join(link)).unwrap();
    }
    folder.ok(&["ingest", "-q", "f/link", "f/a.txt"]);
    folder.ok(&["ingest", "-q", "f"]);
    rename(&folder, "disk", "away");
    for flags in [&["f"][..], &["--prune", "f"]] {
        let run = folder.run(&[&["ingest", "--format", "json"], flags].concat());
        let report = run.json().remove(0);
        let names: Vec<&Value> = report["failed"].as_array().unwrap().iter().map(|failure| &failure["name"]).collect();
        assert_eq!((run.status, names), (2, vec![&"f/a.txt".into(), &"f/link".into()]), "{report}");
        assert_eq!((&report["skips"], &report["skipped"][0]["name"]), (&1.into(), &"f/other".into()), "{report}");
    }
    assert_eq!(names(&folder), ["f/a.txt", "f/b.txt", "f/link/a.txt"]);
    rename(&folder, "away", "disk");
    folder.ok(&["ingest", "-q", "--prune", "f"]);
}

/// The folder has a mount point, with documents on two levels and an archive. The disk is mounted, or not.
#[test]
fn documents_of_a_disk_that_is_not_mounted_stay() {
    let folder = Folder::new();
    folder.write("arch/a.txt", prose(1));
    folder.write("arch/disk/b.txt", prose(2));
    folder.write("arch/disk/c/d.txt", prose(3));
    folder.write("arch/disk/e.jsonl", lines(4..6));
    folder.ok(&["ingest", "-q", "--profile", "prose", "arch"]);
    let all = numbers(&folder);
    rename(&folder, "arch/disk", "mounted");
    fs::create_dir(folder.path().join("arch/disk")).unwrap();
    let run = folder.run(&["ingest", "-q", "--prune", "arch"]);
    assert_eq!((run.status, numbers(&folder)), (2, all.clone()));
    insta::assert_snapshot!(run.stderr, @"
    error: arch/disk: the folder arch/disk is empty: the stored documents that came from it (4) were not removed
    hint: if its disk is mounted, `fpdb rm --prefix arch/disk/` shows its documents, and with --yes removes them
    ");
    fs::remove_dir(folder.path().join("arch/disk")).unwrap();
    rename(&folder, "mounted", "arch/disk");
    assert_eq!(counts(&prune(&folder, 0, &["arch"])), [0, 0, 5, 0, 0, 0]);
    // Files that were moved out of a folder are found as usual, and the other files of the folder stay.
    rename(&folder, "arch/disk/c/d.txt", "arch/d.txt");
    assert_eq!(counts(&prune(&folder, 0, &["arch"])), [0, 0, 5, 1, 0, 0]);
    assert_eq!(numbers(&folder)["arch/d.txt"], all["arch/disk/c/d.txt"]);
}

/// Missing members are removed even if their container was not remembered, if no member is found again, or if
/// their names look like a field.
#[test]
fn members_are_forgotten_whatever_is_remembered_of_their_container() {
    let folder = Folder::new();
    let tar = |files: &[&str]| {
        let mut command = Command::new("tar");
        command.arg("-cf").arg("corpus/a.tar").args(files).current_dir(folder.path());
        assert!(command.status().unwrap().success());
    };
    fs::create_dir(folder.path().join("corpus")).unwrap();
    let files = ["http:80?x=1", "b:3?c", "c", "d"];
    for (number, name) in files.iter().enumerate() {
        folder.write(name, prose(number));
    }
    for flags in [&[][..], &["--store-text"], &["--on-change", "keep"]] {
        tar(&["--force-local", files[0], files[1]]);
        let _ = fs::remove_dir_all(folder.path().join(DB));
        folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
        tar(&["c", "d"]);
        let report = prune(&folder, 0, &[flags, &["corpus"]].concat());
        assert_eq!((counts(&report)[0], counts(&report)[5]), (2, 2), "{flags:?} {report}");
        assert_eq!(names(&folder), ["corpus/a.tar!c", "corpus/a.tar!d"]);
    }
    tar(&["--force-local", files[0], files[1]]);
    prune(&folder, 0, &["corpus"]);
    folder.write("corpus/other.txt", prose(9));
    remove(&folder, "corpus/a.tar");
    assert_eq!(counts(&prune(&folder, 0, &["corpus"]))[4], 2);
    assert_eq!(names(&folder), ["corpus/other.txt"]);
}

/// Members of an earlier file with the same name no longer exist.
#[test]
fn an_archive_that_takes_the_name_of_another_one_leaves_none_of_its_members() {
    let folder = Folder::new();
    folder.write("corpus/a.jsonl", lines(0..2));
    folder.write("corpus/b.jsonl", lines(2..5));
    folder.age("corpus/a.jsonl");
    folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
    rename(&folder, "corpus/a.jsonl", "corpus/b.jsonl");
    assert_eq!(counts(&prune(&folder, 0, &["corpus"])), [0, 2, 0, 0, 2, 1]);
    assert_eq!(names(&folder), ["corpus/b.jsonl:1", "corpus/b.jsonl:2"]);
    assert_eq!(folder.ok(&["list", "--format", "json"]).json().len(), 2);
}

#[test]
fn what_lies_behind_a_link_that_leads_nowhere_stays() {
    let folder = Folder::new();
    folder.write("disk/a.txt", prose(1));
    folder.write("corpus/b.txt", prose(2));
    std::os::unix::fs::symlink("../disk", folder.path().join("corpus/link")).unwrap();
    folder.ok(&["ingest", "-q", "--profile", "prose", "--follow", "corpus"]);
    assert_eq!(names(&folder), ["corpus/b.txt", "corpus/link/a.txt"]);
    rename(&folder, "disk", "elsewhere");
    let report = folder.run(&["ingest", "--prune", "--follow", "--format", "json", "corpus"]).json().remove(0);
    assert_eq!(counts(&report)[4], 0, "{report}");
    assert_eq!(names(&folder).len(), 2);
    rename(&folder, "elsewhere", "disk");
    remove(&folder, "disk/a.txt");
    assert_eq!(counts(&prune(&folder, 2, &["--follow", "corpus"]))[4], 0, "an empty folder, also behind a link");
    folder.write("disk/c.txt", prose(3));
    assert_eq!(counts(&prune(&folder, 0, &["--follow", "corpus"]))[4], 1);
}

/// A file that has become binary is not a document. Its earlier document stays, whether compressed or not.
#[test]
fn files_that_are_binary_now_stay_as_they_were_stored() {
    let folder = Folder::new();
    for prunes in [&[][..], &["--prune"]] {
        let _ = fs::remove_dir_all(folder.path().join(DB));
        folder.write("corpus/a.txt", prose(1));
        folder.write("corpus/b.txt.gz", gzip(prose(2)));
        folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
        let before = numbers(&folder);
        folder.write("corpus/a.txt", [0; 5000]);
        folder.write("corpus/b.txt.gz", gzip([0; 5000]));
        let run = folder.run(&[&["ingest", "--format", "json"], prunes, &["corpus"]].concat());
        let report = run.json().remove(0);
        assert_eq!((run.status, counts(&report), &report["failures"]), (2, [0; 6], &2.into()), "{report}");
        assert_eq!(numbers(&folder), before);
    }
}

#[test]
fn members_of_archives_are_forgotten_with_them_and_renamed_with_them() {
    let folder = Folder::new();
    folder.write("corpus/a.jsonl", lines(0..6));
    folder.write("corpus/b.jsonl", lines(6..9));
    folder.write("corpus/c.txt", prose(20));
    // The times of newer files are not trusted.
    folder.age("corpus/b.jsonl");
    folder.age("corpus/c.txt");
    for on_change in ["replace", "keep", "both"] {
        let _ = fs::remove_dir_all(folder.path().join(DB));
        folder.write("corpus/a.jsonl", lines(0..6));
        let flags = ["--on-change", on_change, "corpus"];
        folder.ok(&[&["ingest", "-q", "--profile", "prose"], &flags[..]].concat());
        // The second half of the lines is gone.
        folder.write("corpus/a.jsonl", lines(0..3));
        let report = prune(&folder, 0, &flags);
        assert_eq!(counts(&report), [0, 0, 7, 0, 0, 3], "{on_change}");
        // A line has changed, and the last is gone.
        folder.write("corpus/a.jsonl", lines([0, 30]));
        let report = prune(&folder, 0, &flags);
        assert_eq!(counts(&report)[5], 1, "{on_change} {report}");
        assert!(!names(&folder).contains(&"corpus/a.jsonl:3".to_owned()));
    }
    let before = numbers(&folder);
    rename(&folder, "corpus/b.jsonl", "corpus/2026/z.jsonl");
    remove(&folder, "corpus/a.jsonl");
    let report = prune(&folder, 0, &["corpus"]);
    assert_eq!(counts(&report), [0, 0, 4, 3, 3, 0]);
    let after = numbers(&folder);
    assert_eq!(after.len(), 4);
    for line in 1..=3 {
        assert_eq!(after[&format!("corpus/2026/z.jsonl:{line}")], before[&format!("corpus/b.jsonl:{line}")]);
    }
    // The container is known as whole under its new name, and its documents are read from there.
    let run = folder.ok(&["ingest", "-v", "corpus"]);
    assert!(run.stderr.contains("unchanged corpus/2026/z.jsonl, with 3 documents"), "{run:?}");
    let shown = folder.ok(&["query", "--document", "corpus/2026/z.jsonl:2", "--window", "30", "--format", "json"]);
    assert_eq!(shown.status, 0);
    assert_eq!(folder.ok(&["verify", "--format", "json"]).json()[0]["problems"], Value::Array(vec![]));
    // A compressed file is not compared with missing plain files, but with missing archives and compressed
    // files.
    let packed = Command::new("gzip").arg("corpus/c.txt").current_dir(folder.path()).status().unwrap();
    assert!(packed.success());
    assert_eq!(counts(&prune(&folder, 0, &["corpus"])), [1, 0, 3, 0, 1, 0]);
    let id = numbers(&folder)["corpus/c.txt.gz"];
    rename(&folder, "corpus/c.txt.gz", "corpus/d.txt.gz");
    assert_eq!(counts(&prune(&folder, 0, &["corpus"]))[3], 1);
    assert_eq!(numbers(&folder)["corpus/d.txt.gz"], id);
}

/// The expected content of the database.
#[derive(Default)]
struct Model {
    /// Content and number of each document as of the last ingest.
    stored: BTreeMap<String, (String, u32)>,
}

/// The content of a file, compressed or not.
fn read(path: &Path) -> String {
    let (mut file, mut content) = (fs::File::open(path).unwrap(), String::new());
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => GzDecoder::new(file).read_to_string(&mut content).unwrap(),
        false => file.read_to_string(&mut content).unwrap(),
    };
    content
}

/// The documents that the folder holds, by name.
fn held(folder: &Path) -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let (name, content) = (path.to_str().unwrap().to_owned(), read(&path));
        if name.trim_end_matches(".gz").ends_with(".jsonl") {
            for (number, line) in content.lines().enumerate() {
                let record: Value = serde_json::from_str(line).unwrap();
                held.insert(format!("{name}:{}", number + 1), record["text"].as_str().unwrap().to_owned());
            }
        } else {
            held.insert(name, content);
        }
    }
    held
}

fn is_file(name: &str) -> bool {
    name.ends_with(".txt")
}

/// A file, compressed or not, that is one document.
fn is_single(name: &str) -> bool {
    is_file(name.trim_end_matches(".gz"))
}

impl Model {
    /// Compares the database with the folder after an ingest with `--prune`.
    fn check(&mut self, database: &Database, folder: &Path, next: u32, renamed: u64) {
        let held = held(folder);
        let mut stored = BTreeMap::new();
        database
            .for_each_document(|document| {
                let known = held.get(&document.name).unwrap_or_else(|| panic!("{} is gone", document.name));
                assert_eq!(document.bytes, known.len() as u64, "{}", document.name);
                assert!(stored.insert(document.name.clone(), (known.clone(), document.id.0)).is_none());
                Ok::<_, fpdb::Error>(())
            })
            .unwrap();
        assert_eq!(stored.len(), held.len());
        let ids: BTreeSet<u32> = stored.values().map(|(_, id)| *id).collect();
        assert_eq!(ids.len(), stored.len(), "no number is that of two documents");
        assert!(database.verify(&Task::new()).unwrap().problems.is_empty());
        // A document with the same name and content keeps its number. A new file takes the number of a
        // missing file with the same content, if there is one.
        let mut gone: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let mut gone_files: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (name, (content, id)) in self.stored.iter().filter(|(name, _)| is_single(name) && !held.contains_key(*name))
        {
            gone.entry(content).or_default().insert(*id);
            if is_file(name) {
                gone_files.entry(content).or_default().insert(*id);
            }
        }
        let mut taken = 0;
        for (name, (content, id)) in &stored {
            match self.stored.get(name) {
                Some((before, number)) => assert_eq!(before == content, number == id, "{name}"),
                None if is_single(name) && gone.get(content.as_str()).is_some_and(|ids| ids.contains(id)) => taken += 1,
                // A new number is given only if the numbers of all missing files are taken.
                None if is_file(name) => {
                    assert!(*id >= next, "{name} has the number {id}");
                    assert!(gone_files.get(content.as_str()).is_none_or(|gone| gone.is_subset(&ids)), "{name}");
                }
                // Lines of a renamed file keep earlier numbers.
                None => {}
            }
        }
        assert!(renamed >= taken, "{renamed} of {taken}");
        self.stored = stored;
    }
}

/// Changes the folder at random. There are few contents, so many files have the same content.
fn change(folder: &Path, random: &mut Random, clock: &mut u64) {
    let mut files: Vec<String> =
        held(folder).into_keys().map(|name| name.split(':').next().unwrap().to_owned()).collect();
    files.dedup();
    let fresh = |random: &mut Random, ending: &str| {
        let (sub, number) = (random.one_of(&["", "a/", "b/", "a/c/"]).to_string(), random.below(12));
        folder.join(format!("{sub}{number}.{ending}"))
    };
    let mut write = |path: &Path, content: String, random: &mut Random| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.extension().is_some_and(|ending| ending == "gz") {
            fs::write(path, gzip(content)).unwrap();
        } else {
            fs::write(path, content).unwrap();
        }
        // No two files have the same time. Some files are so new that their times are not trusted.
        if random.below(3) > 0 {
            *clock += 1;
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + *clock);
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }
    };
    match random.below(10) {
        0..=2 => {
            let ending = random.one_of(&["txt", "txt", "txt.gz"]);
            let path = fresh(random, ending);
            write(&path, prose(random.below(14)), random);
        }
        3 => {
            let ending = random.one_of(&["jsonl", "jsonl.gz"]);
            let (path, count) = (fresh(random, ending), 1 + random.below(4));
            let texts: Vec<usize> = (0..count).map(|_| random.below(14)).collect();
            write(&path, lines(texts), random);
        }
        4 | 5 if !files.is_empty() => {
            let from = files[random.below(files.len())].clone();
            let name = from.rsplit('/').next().unwrap();
            let to = fresh(random, name.split_once('.').unwrap().1);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::rename(from, to).unwrap();
        }
        9 if !files.is_empty() => {
            // Compresses or unpacks a file. The original stays beside the result, or is removed.
            let from = Path::new(&files[random.below(files.len())]).to_owned();
            let name = from.to_str().unwrap();
            let (to, content) = match name.strip_suffix(".gz") {
                Some(plain) => (plain.to_owned(), read(&from)),
                None => (format!("{name}.gz"), read(&from)),
            };
            write(Path::new(&to), content, random);
            if random.below(2) == 0 {
                fs::remove_file(from).unwrap();
            }
        }
        6 if files.len() > 1 => fs::remove_file(&files[random.below(files.len())]).unwrap(),
        7 if folder.join("a").is_dir() && !folder.join("d").exists() => {
            fs::rename(folder.join("a"), folder.join("d")).unwrap();
        }
        8 if files.len() > 4 && folder.join("d").is_dir() => fs::remove_dir_all(folder.join("d")).unwrap(),
        _ => {
            let path = fresh(random, "txt");
            write(&path, prose(random.below(14)), random);
        }
    }
}

#[test]
fn after_any_changes_the_database_holds_what_the_folder_holds() {
    let profile = Profile::named("prose").unwrap();
    for seed in 0..6 {
        let folder = Folder::new();
        let (corpus, path) = (folder.path().join("corpus"), folder.path().join("db"));
        fs::create_dir(&corpus).unwrap();
        let database = Database::create(&path, profile).unwrap();
        let (mut random, mut clock, mut model) = (Random(seed * 7919 + 1), 0, Model::default());
        for round in 0..25 {
            for _ in 0..1 + random.below(5) {
                change(&corpus, &mut random, &mut clock);
            }
            if held(&corpus).is_empty() {
                continue;
            }
            remove_empty(&corpus);
            let options = IngestOptions::default().prune(true).store_text(seed % 2 == 1);
            let next = database.documents_from(fpdb::DocId(0), usize::MAX).unwrap();
            let next = next.iter().map(|document| document.id.0 + 1).max().unwrap_or(0);
            let sources = [Source::Path(corpus.clone())];
            let summary = database.ingest_sources(&sources, &options, &Task::new()).unwrap();
            eprintln!("seed {seed}, round {round}: {summary:?}");
            assert_eq!(summary.failures, 0);
            model.check(&database, &corpus, next, summary.renamed);
        }
    }
}

/// After a killed run, document numbers may not be in the expected order, so the test compares names and
/// contents.
#[test]
fn a_killed_run_forgets_nothing_that_is_there() {
    let folder = Folder::new();
    let (mut random, mut clock) = (Random(99), 0);
    let corpus = folder.path().join("corpus");
    fs::create_dir(&corpus).unwrap();
    for number in 0..150 {
        folder.write(&format!("corpus/many/{number:03}.txt"), prose(number % 120));
        folder.age(&format!("corpus/many/{number:03}.txt"));
    }
    let absolute = corpus.canonicalize().unwrap();
    let command = ["ingest", "-q", "--prune", "--profile", "prose", "--memory", "1MiB", absolute.to_str().unwrap()];
    folder.ok(&command);
    let mut killed = 0;
    for round in 0..8 {
        let before: BTreeSet<String> = numbers(&folder).into_keys().collect();
        for _ in 0..12 {
            change(&absolute, &mut random, &mut clock);
        }
        let (from, to) = if round % 2 == 0 { ("many", "moved") } else { ("moved", "many") };
        fs::rename(absolute.join(from), absolute.join(to)).unwrap();
        remove_empty(&absolute);
        for _ in 0..3 {
            let mut child = folder.command(&command).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(120) as u64));
            child.kill().unwrap();
            let run = Run::of(&child.wait_with_output().unwrap());
            assert!(run.status == 0 || run.status == -1, "{run:?}");
            killed += u32::from(run.status == -1);
            let (held, now) = (held(&absolute), numbers(&folder));
            for name in &before {
                assert!(!held.contains_key(name) || now.contains_key(name), "{name} is there, and was forgotten");
            }
            assert!(now.keys().all(|name| before.contains(name) || held.contains_key(name)));
            assert_eq!(folder.ok(&["verify", "--format", "json"]).json()[0]["problems"], Value::Array(vec![]));
        }
        folder.ok(&command);
        let (held, now) = (held(&absolute), numbers(&folder));
        assert!(held.keys().eq(now.keys()), "{held:?} {now:?}");
    }
    assert!(killed > 0);
}

#[test]
fn an_interrupted_run_forgets_nothing() {
    use std::io::{BufRead, BufReader};
    let folder = Folder::new();
    for number in 0..600 {
        folder.write(&format!("corpus/{number:03}.txt"), prose(number));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
    for number in 0..600 {
        if number < 100 {
            remove(&folder, &format!("corpus/{number:03}.txt"));
        } else {
            folder.write(&format!("corpus/{number:03}.txt"), format!("{} {}", prose(number), prose(number + 1)));
        }
    }
    let run = ["ingest", "-v", "--prune", "--memory", "1MiB", "--threads", "1", "corpus"];
    let mut child = folder.command(&run).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while said.matches("replaced corpus").count() < 20 {
        assert!(talk.read_line(&mut said).unwrap() > 0, "it ended by itself: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    talk.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(!said.contains("forgot"), "{said}");
    assert_eq!(names(&folder).len(), 600);
    assert_eq!(prune(&folder, 0, &["corpus"])["pruned"], 100);
    assert_eq!(names(&folder).len(), 500);
}

#[test]
fn a_renamed_file_is_the_same_document_only_if_it_is_read_in_the_same_way() {
    let folder = Folder::new();
    folder.write("corpus/a.txt", format!("<p>{}</p>", prose(1)));
    folder.write("corpus/b.txt", prose(2));
    folder.write("corpus/c.txt", prose(3));
    let database = Database::create(folder.path().join("db"), Profile::named("prose").unwrap()).unwrap();
    let sources = [Source::Path(folder.path().join("corpus"))];
    let ingest =
        |options: IngestOptions| database.ingest_sources(&sources, &options.prune(true), &Task::new()).unwrap();
    ingest(IngestOptions::default());
    rename(&folder, "corpus/a.txt", "corpus/a.html");
    rename(&folder, "corpus/b.txt", "corpus/b.htm");
    let text = ReadOptions::default().front_end(ReadAs::Format(fpdb::Format::Text));
    let summary = ingest(IngestOptions::default());
    assert_eq!((summary.renamed, summary.added, summary.pruned), (0, 2, 2));
    rename(&folder, "corpus/b.htm", "corpus/b.txt");
    let summary = ingest(IngestOptions::default().read(text));
    assert_eq!((summary.renamed, summary.added, summary.pruned, summary.replaced), (0, 1, 1, 1));
    // Two copies of a missing file: one of them keeps the document, the other is new.
    rename(&folder, "corpus/c.txt", "corpus/x/c.txt");
    folder.write("corpus/b/other.txt", prose(3));
    let id = database.documents_named(folder.path().join("corpus/c.txt").to_str().unwrap()).unwrap()[0].id;
    let summary = ingest(IngestOptions::default().on_change(OnChange::Both));
    assert_eq!((summary.renamed, summary.added, summary.pruned), (1, 1, 0));
    let copies = ["corpus/x/c.txt", "corpus/b/other.txt"]
        .map(|name| database.documents_named(folder.path().join(name).to_str().unwrap()).unwrap()[0].id);
    assert!(copies.contains(&id) && copies[0] != copies[1]);
}

/// After a project was moved, its documents are found again, and documents of missing files are reported.
#[test]
fn documents_of_a_folder_that_was_moved_are_counted() {
    let folder = Folder::new();
    for file in 0..4 {
        folder.write(&format!("old/c/{file}.txt"), prose(file));
    }
    let ingest = |place: &str, flags: &[&str]| {
        let mut command = folder.command(&[&["ingest", "--db", "../db", "--format", "json"], flags, &["c"]].concat());
        let run = Run::of(&command.current_dir(folder.path().join(place)).output().unwrap());
        assert_eq!(run.status, 0, "{run:?}");
        run
    };
    ingest("old", &[]);
    rename(&folder, "old", "new");
    remove(&folder, "new/c/1.txt");
    remove(&folder, "new/c/3.txt");
    let run = ingest("new", &["--prune", "-v"]);
    let report = &run.json()[0];
    assert_eq!((&report["unchanged"], &report["elsewhere"], &report["pruned"]), (&2.into(), &2.into(), &Value::Null));
    assert!(run.stderr.contains("2 documents of these folders stay, read from another place"), "{run:?}");
    assert!(run.stderr.contains("kept c/3.txt: it was read from "), "{run:?}");
    folder.ok(&["rm", "--db", "db", "c/1.txt", "c/3.txt"]);
    // Documents that were found at the new place belong to it.
    remove(&folder, "new/c/0.txt");
    let report = ingest("new", &["--prune"]).json().remove(0);
    assert_eq!((&report["elsewhere"], &report["pruned"]), (&Value::Null, &1.into()));
}

#[test]
fn a_dry_run_names_what_would_go_and_creates_no_database() {
    let folder = corpus();
    remove(&folder, "corpus/0/0.txt");
    folder.write("corpus/1/1.txt", prose(20));
    let run = folder.ok(&["ingest", "corpus", "--prune", "--dry-run"]);
    let said = "dry run: 0 documents added, 1 replaced, 8 unchanged, 1 removed (their files no longer exist)\nremoved: corpus/0/0.txt\n";
    assert!(run.stdout.starts_with(said), "{run:?}");
    assert_eq!(run.stderr, "a dry run: nothing was stored; without --dry-run it is done\n");
    // Flags of a dry run are not remembered.
    folder.ok(&["ingest", "-q", "corpus", "--exclude", "*.md", "--dry-run"]);
    assert!(!folder.ok(&["stats"]).stdout.contains("--exclude"));
    // A concurrent writer does not affect a dry run.
    let _writer = Database::builder().open_writer(folder.path().join(DB)).unwrap();
    assert_eq!(folder.ok(&["ingest", "corpus", "--dry-run", "--format", "json"]).json()[0]["replaced"], 1);

    let new = Folder::new();
    new.write("corpus/a.txt", prose(1));
    new.write("corpus/b.txt", prose(1));
    let trial = new.ok(&["ingest", "corpus", "--dry-run", "--format", "json"]).json().remove(0);
    assert_eq!(fs::read_dir(new.path()).unwrap().count(), 1);
    let report = new.ok(&["ingest", "corpus", "--format", "json"]).json().remove(0);
    for field in ["added", "identical", "bytes", "symbols", "fingerprints", "formats"] {
        assert_eq!(trial[field], report[field], "{field}");
    }
}

/// A container whose documents were all removed is forgotten, so another one can take its place. If one of
/// the documents stays, the names are taken.
#[test]
fn a_container_moves_to_the_place_of_one_whose_documents_were_removed() {
    for (removed, renamed) in [(&["corpus/a.jsonl:1", "corpus/a.jsonl:2"][..], 2), (&["corpus/a.jsonl:2"], 0)] {
        let folder = Folder::new();
        folder.write("corpus/a.jsonl", lines([1, 2]));
        folder.write("corpus/b.jsonl", lines([3, 4]));
        folder.age("corpus/a.jsonl");
        folder.age("corpus/b.jsonl");
        folder.ok(&["ingest", "-q", "--profile", "prose", "corpus"]);
        let before = numbers(&folder);
        folder.ok(&[&["rm", "-q"], removed].concat());
        rename(&folder, "corpus/b.jsonl", "corpus/a.jsonl");
        assert_eq!(counts(&prune(&folder, 0, &["corpus"]))[3], renamed);
        let is_kept = numbers(&folder)["corpus/a.jsonl:1"] == before["corpus/b.jsonl:1"];
        assert_eq!(is_kept, renamed > 0);
    }
}

/// `fpdb mv` may come before the files move. Then the next ingest finds the files at their new place.
#[test]
fn a_dry_run_after_mv_removes_what_the_run_removes() {
    let folder = corpus();
    folder.ok(&["mv", "corpus/1", "corpus/9"]);
    rename(&folder, "corpus/1", "corpus/9");
    folder.write("corpus/9/1.txt", prose(21));
    remove(&folder, "corpus/0/0.txt");
    let report = prune(&folder, 0, &["corpus"]);
    assert_eq!((&report["pruned"], &report["replaced"]), (&1.into(), &1.into()), "{report:#}");
}

/// Advice about moved documents is for documents that are still stored.
#[test]
fn pruned_documents_need_no_advice() {
    let folder = Folder::new();
    folder.write("w/a.jsonl", lines([1, 2]));
    folder.ok(&["ingest", "-q", "--profile", "prose", "w"]);
    rename(&folder, "w/a.jsonl", "w/b.jsonl");
    folder.write("w/b.jsonl", lines([1, 2, 3]));
    let dry = folder.ok(&["ingest", "--prune", "--dry-run", "w"]);
    let moved = "the same as stored ones whose files no longer exist: w/b.jsonl:1 as w/a.jsonl:1";
    assert!(dry.stderr.contains(moved) && dry.stderr.contains("fpdb mv w/a.jsonl w/b.jsonl"), "{dry:?}");
    let run = folder.ok(&["ingest", "--prune", "w"]);
    assert!(run.stderr.contains(moved) && !run.stderr.contains("hint"), "{run:?}");
    assert_eq!(names(&folder), ["w/b.jsonl:1", "w/b.jsonl:2", "w/b.jsonl:3"]);
}
