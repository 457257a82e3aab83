//! Acting on a dedup's report: remaining files keep their bytes, and exactly the documents that the report
//! lists are removed.

mod again;
mod daily;
mod formats;
mod hints;
mod interrupted;
mod judged;
mod kept_out;
mod leftovers;
mod listed;
mod members;
mod modes;
mod old_copies;
mod passages;
mod proof;
mod same_file;
mod spelled;
mod together;
mod unread;
mod withdrawn;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, Run, text, zip};

/// Ingests the folder `in`, and writes a report of identical and contained documents.
fn report(folder: &Folder) -> Vec<Value> {
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let report = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
    let mut lines: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.pop();
    lines
}

fn apply(folder: &Folder, flags: &[&str]) -> (Run, Vec<Value>, Value) {
    let run = folder.run(&[&["apply", "report.jsonl", "--format", "json"], flags].concat());
    let mut lines = run.json();
    let summary = lines.pop().unwrap_or_default();
    (run, lines, summary)
}

/// All files below a folder, with their contents.
fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    if root.exists() {
        walk(root, root, &mut found);
    }
    found.sort();
    found
}

/// Six files with three texts, in two folders.
fn six(folder: &Folder) {
    for number in 0..6u64 {
        folder.write(&format!("in/{}/{number}.txt", number % 2), text(number % 3));
    }
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_would_be_done() {
    for action in [&["--write", "clean"][..], &["--remove"], &["--link", "sym"], &["--move", "gone"]] {
        let folder = Folder::new();
        six(&folder);
        assert_eq!(report(&folder).len(), 3);
        let before = files(folder.path());
        let (run, lines, summary) = apply(&folder, action);
        assert_eq!(run.status, 0, "{run:#?}");
        assert_eq!((&summary["applied"], &summary["done"]), (&3.into(), &false.into()));
        assert!(lines.iter().all(|line| line["done"] == false));
        assert_eq!(files(folder.path()), before, "{action:?}");
    }
}

#[test]
fn whole_files_are_left_out_removed_moved_and_linked() {
    let expected: Vec<(String, Vec<u8>)> = [0, 2, 4].map(|n| (format!("0/{n}.txt"), text(n % 3).into_bytes())).into();
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (0, &3.into(), &0.into()), "{run:#?}");
    assert_eq!(files(&folder.path().join("clean/in")), expected.clone());
    assert_eq!(files(&folder.path().join("in")).len(), 6);

    let (run, ..) = apply(&folder, &["--move", "gone", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(files(&folder.path().join("in")), expected.clone());
    assert_eq!(files(&folder.path().join("gone/in")).len(), 3);

    let folder = Folder::new();
    six(&folder);
    report(&folder);
    let (run, ..) = apply(&folder, &["--remove", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(files(&folder.path().join("in")), expected);
    // The same command again has nothing to do.
    let (run, _, summary) = apply(&folder, &["--remove", "--yes"]);
    assert_eq!((run.status, &summary["done_before"], &summary["left"]), (0, &3.into(), &0.into()), "{run:#?}");
}

/// `--remove` cannot remove a record from its file, so it removes nothing.
#[test]
fn a_run_that_takes_no_document_has_the_exit_status_2() {
    let folder = Folder::new();
    let record = |seed| format!("{{\"text\":\"{}\"}}\n", text(seed));
    folder.write("in/a.jsonl", [1, 1, 2].map(record).concat());
    assert_eq!(report(&folder).len(), 1);
    for flags in [&["--remove"][..], &["--remove", "--yes"]] {
        let (run, _, summary) = apply(&folder, flags);
        assert_eq!((run.status, &summary["left"], &summary["whole"]), (2, &1.into(), &1.into()), "{run:#?}");
    }
    // Another removable document is a file, and is removed.
    folder.write("in/b.txt", text(2));
    assert_eq!(report(&folder).len(), 2);
    let (run, _, summary) = apply(&folder, &["--remove", "--yes"]);
    assert_eq!((run.status, &summary["left"], &summary["applied"]), (0, &1.into(), &1.into()), "{run:#?}");
}

#[test]
fn links_lead_to_survivors_of_the_same_bytes() {
    use std::os::unix::fs::MetadataExt;
    for kind in ["hard", "sym"] {
        let folder = Folder::new();
        six(&folder);
        report(&folder);
        let before = files(&folder.path().join("in"));
        let (run, _, summary) = apply(&folder, &["--link", kind, "--yes"]);
        assert_eq!((run.status, &summary["applied"]), (0, &3.into()), "{run:#?}");
        assert_eq!(files(&folder.path().join("in")), before, "read through the links it is all there");
        let (one, other) = (folder.path().join("in/0/0.txt"), folder.path().join("in/1/3.txt"));
        assert_eq!(one.metadata().unwrap().ino(), other.metadata().unwrap().ino());
        if kind == "sym" {
            assert_eq!(fs::read_link(&other).unwrap(), Path::new("../0/0.txt"));
        }
        // The same command again says only that this was done before.
        for flags in [&["--link", kind, "--yes"][..], &["--link", kind]] {
            let (run, lines, summary) = apply(&folder, flags);
            let sums = (&summary["applied"], &summary["left"], &summary["done_before"]);
            assert_eq!((run.status, sums), (0, (&3.into(), &0.into(), &3.into())), "{run:#?}");
            assert!(lines.iter().all(|line| line["act"] == "link" && line["reason"].is_null()), "{lines:?}");
        }
        // A file that is not such a link any more is processed again.
        let text = fs::read(&one).unwrap();
        fs::remove_file(&other).unwrap();
        fs::write(&other, text).unwrap();
        let (run, _, summary) = apply(&folder, &["--link", kind, "--yes"]);
        assert_eq!((run.status, &summary["applied"], &summary["done_before"]), (0, &3.into(), &2.into()), "{run:#?}");
        assert_eq!(one.metadata().unwrap().ino(), other.metadata().unwrap().ino());
        assert_eq!(files(&folder.path().join("in")), before);
    }
    // A document that is only contained has other bytes than its survivor, so it is not linked.
    let folder = Folder::new();
    folder.write("in/a.txt", text(1) + &text(2));
    folder.write("in/b.txt", text(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--by", "containment", "--format", "json", "-o", "report.jsonl", "-q"]);
    let (_, lines, summary) = apply(&folder, &["--link", "hard", "--yes"]);
    assert_eq!((&summary["documents"], &summary["applied"], &summary["left"]), (&1.into(), &0.into(), &1.into()));
    assert!(lines[0]["reason"].as_str().unwrap().contains("other bytes"), "{lines:?}");
}

#[test]
fn what_has_changed_since_is_left_alone() {
    // The file of a removable document has changed.
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    folder.write("in/1/3.txt", "something else");
    let (run, lines, summary) = apply(&folder, &["--remove", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["failed"]), (2, &2.into(), &1.into()), "{run:#?}");
    assert!(lines.iter().any(|line| line["act"] == "leave" && line["source"].as_str().unwrap().ends_with("3.txt")));
    assert!(folder.path().join("in/1/3.txt").exists() && !folder.path().join("in/1/1.txt").exists());

    // A survivor has changed, so its copies stay.
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    folder.write("in/0/0.txt", "something else");
    fs::remove_file(folder.path().join("in/0/4.txt")).unwrap();
    let (run, _, summary) = apply(&folder, &["--remove", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["unjustified"]), (2, &1.into(), &2.into()), "{run:#?}");
    assert!(folder.path().join("in/1/3.txt").exists() && folder.path().join("in/1/1.txt").exists());
    assert!(!folder.path().join("in/1/5.txt").exists());

    // A record of a container has changed. The container is left alone, and its other records justify no
    // removal.
    let folder = Folder::new();
    let lines =
        |seeds: &[u64]| seeds.iter().map(|&seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect::<String>();
    folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    folder.write("in/b.jsonl", lines(&[2, 3]));
    assert_eq!(report(&folder).len(), 2);
    folder.write("in/a.jsonl", lines(&[1, 2, 9]));
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["failed"]), (2, &0.into(), &1.into()), "{run:#?}");
    let written = files(&folder.path().join("clean"));
    assert_eq!(written, [("in/b.jsonl".to_owned(), lines(&[2, 3]).into_bytes())]);
}

#[test]
fn reports_that_are_none_of_this_database_are_refused() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    let whole = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let first: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    let digest = first["remove_digest"].as_str().unwrap();
    let cases = [
        (lines[..2].join("\n"), "cut short"),
        (format!("{}\n{whole}", lines[0]), "listed twice"),
        (whole.replace("\"keep_id\":0", "\"keep_id\":4"), "and a survivor"),
        (whole.replacen("\"keep_id\":0", "\"keep_id\":4294967295", 1), "no document has the number 4294967295"),
        (whole.replace(digest, &"0".repeat(digest.len())), "another content"),
        ("{\"schema\":\"fpdb.pair/1\"}\n".to_owned(), "none of a dedup"),
        ("nonsense\n".to_owned(), "line 1"),
    ];
    for (text, says) in cases {
        folder.write("bad.jsonl", text);
        let run = folder.run(&["apply", "bad.jsonl", "--remove", "--yes"]);
        assert_eq!(run.status, 2, "{run:#?}");
        assert!(run.stderr.contains(says), "{says}: {run:#?}");
    }
    folder.write("bad.jsonl", whole.replace("\"keep_id\":0", "\"keep_id\":4294967295"));
    assert_eq!(folder.run(&["rm", "--report", "bad.jsonl"]).status, 2);
    assert_eq!(folder.ok(&["list", "--format", "json"]).json().len(), 6);
    assert_eq!(files(&folder.path().join("in")).len(), 6);
}

#[test]
fn what_is_at_the_place_of_a_copy_stays() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    folder.write("clean/in/0/0.txt", "mine");
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    let told = "the copy would replace files that are not as it wrote them (1), such as";
    assert!(run.status == 2 && run.stderr.contains(told), "{run:#?}");
    assert_eq!(files(&folder.path().join("clean")), [("in/0/0.txt".to_owned(), b"mine".to_vec())]);
    let run = folder.run(&["apply", "report.jsonl", "--write", ".fpdb/clean", "--yes"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("database"), "{run:#?}");
}

#[test]
fn a_file_that_the_system_does_not_let_go_is_taken_up_again() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    // One file is in the place of a needed folder, one is in the place of a moved file, and one has changed.
    folder.write("gone/in/1", "a file");
    let run = folder.run(&["apply", "report.jsonl", "--move", "gone", "--yes"]);
    let told = "3 files left alone for the reason given; put that right and run the same command again\n";
    assert!(run.status == 2 && run.stderr.contains(told) && !run.stderr.contains("ingest and dedup"), "{run:#?}");
    fs::remove_file(folder.path().join("gone/in/1")).unwrap();
    folder.write("gone/in/1/1.txt", "mine");
    folder.write("in/1/3.txt", "something else");
    let (run, _, summary) = apply(&folder, &["--move", "gone", "--yes"]);
    let sums = ["applied", "failed", "unplaced", "refused"].map(|field| summary[field].as_u64());
    assert_eq!((run.status, sums), (2, [Some(1), Some(2), Some(1), None]), "{run:#?}");
    for told in [
        "1 file was not moved: the target exists; name an empty folder\n",
        "1 file left alone for the reason given: if a file has changed, ingest and dedup again; if it is damaged, first repair it, replace it or take it out of the database (`fpdb rm`)\n",
    ] {
        assert!(run.stderr.contains(told), "{run:#?}");
    }
}

/// The folder of removable files became a file. The log of an earlier run still names files in that folder.
#[test]
fn a_folder_that_became_a_file_keeps_no_other_file_from_its_act() {
    for action in [&["--remove"][..], &["--link", "hard"], &["--move", "gone"], &["--write", "clean"]] {
        let folder = Folder::new();
        six(&folder);
        report(&folder);
        fs::remove_dir_all(folder.path().join("in/1")).unwrap();
        folder.write("in/1", "a file");
        for file in ["in/0/2.txt", "in/0/4.txt"] {
            assert!(folder.path().join(file).exists(), "{file}");
        }
        // Twice: the second run has the log of the first.
        for _ in 0..2 {
            let (run, lines, summary) = apply(&folder, &[action, &["--yes"]].concat());
            assert_eq!((run.status, &summary["failed"]), (2, &3.into()), "{run:#?}");
            let of_reason = |line: &&Value| line["reason"].as_str().is_some_and(|why| why.contains("Not a directory"));
            assert_eq!(lines.iter().filter(of_reason).count(), 3, "{lines:#?}");
            assert!(run.stderr.contains("ingest and dedup again"), "{run:#?}");
        }
    }
}

#[test]
fn a_container_stays_only_if_it_holds_more_than_removable_documents() {
    let folder = Folder::new();
    let line = |seed| format!("{{\"text\":\"{}\"}}\n", text(seed));
    let lines = line(1) + &line(2);
    let both = [("a", text(1)), ("b", text(2))];
    folder.write("in/a.jsonl", &lines);
    folder.write("in/b.jsonl", &lines);
    folder.write("in/c.zip", zip(both.clone()));
    // A member that is no document, one that cannot be read, and one that no ingest has taken.
    folder.write("in/d.zip", zip(both.clone().into_iter().chain([("picture", "\0\u{1}\u{2}".repeat(99))])));
    folder.write("in/e.zip", zip(both.clone().into_iter().chain([("c.pdf", "%PDF-1.4".to_owned())])));
    folder.write("in/f.zip", zip(both.into_iter().chain([("c.tmp", text(3))])));
    assert_eq!(folder.run(&["ingest", "-q", "--profile", "words", "--exclude", "*.tmp", "in"]).status, 2);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let run = folder.ok(&["apply", "report.jsonl", "--write", "new", "--yes"]);
    let warning = "warning: 3 copies hold no document, because all documents of their files are removable\n";
    assert!(run.stderr.contains(warning), "{run:#?}");
    assert!(run.stdout.contains("2 files left out: ") && run.stdout.contains("/in/b.jsonl, "), "{run:#?}");
    let copied: Vec<String> = files(&folder.path().join("new/in")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(copied, ["a.jsonl", "d.zip", "e.zip", "f.zip"]);
    folder.ok(&["apply", "report.jsonl", "--check", "--write", "new"]);
}

/// Containers that hold no document are no documents, but they stay. Folders do not.
#[test]
fn a_container_stays_if_it_holds_containers_without_documents() {
    let tar = |entries: &[(&str, &[u8])]| {
        let mut tar = tar::Builder::new(Vec::new());
        for (name, content) in entries {
            let mut header = tar::Header::new_gnu();
            let is_folder = name.ends_with('/');
            header.set_entry_type(if is_folder { tar::EntryType::Directory } else { tar::EntryType::Regular });
            header.set_size(content.len() as u64);
            tar.append_data(&mut header, name, *content).unwrap();
        }
        tar.into_inner().unwrap()
    };
    let request = "WARC/1.0\r\nWARC-Type: request\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: \
                   2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Length: 3\r\n\r\nGET\r\n\r\n";
    let folder = Folder::new();
    folder.write("in/0.txt", text(1));
    let inner: [(&str, Vec<u8>); 4] = [
        ("in.warc", request.into()),
        ("in.tar", tar(&[("a/", b""), ("b/", b"")])),
        ("in.zip", zip([("", ""); 0])),
        ("in.jsonl", "\n\n".into()),
    ];
    for (name, bytes) in inner {
        folder.write(&format!("in/{name}.zip"), zip([("a.txt", text(1).into_bytes()), (name, bytes)]));
    }
    folder.write("in/z.tar", tar(&[("a/", b""), ("b/", b""), ("a/a.txt", text(1).as_bytes())]));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    folder.ok(&["apply", "report.jsonl", "--write", "new", "--yes"]);
    let copied = files(&folder.path().join("new/in"));
    let names: Vec<&str> = copied.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["0.txt", "in.jsonl.zip", "in.tar.zip", "in.warc.zip", "in.zip.zip"]);
    assert!(copied[1..].iter().all(|(_, bytes)| bytes.windows(3).any(|at| at == b"in.")));
    // A removable document takes no container of its name with it.
    folder.write("in/y.tar", tar(&[("a", &tar(&[("b", text(2).as_bytes())])), ("a", text(1).as_bytes())]));
    report(&folder);
    folder.ok(&["apply", "report.jsonl", "--write", "new", "--yes"]);
    let copy = fs::read(folder.path().join("new/in/y.tar")).unwrap();
    assert!(String::from_utf8_lossy(&copy).contains(&text(2)) && !String::from_utf8_lossy(&copy).contains(&text(1)));
}

#[test]
fn dedup_writes_the_clean_archive_itself() {
    let folder = Folder::new();
    six(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let run = folder.run(&["dedup", "--write", "clean"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("-o"), "{run:#?}");
    let run = folder.ok(&["dedup", "--write", "clean", "--format", "json", "-o", "report.jsonl"]);
    // The report goes to its file, and the summary of the copy to standard error.
    assert!(run.stdout.is_empty() && run.stderr.contains("3 of 3 removable documents left out; "), "{run:#?}");
    assert_eq!(files(&folder.path().join("clean")).len(), 3);
    assert_eq!(fs::read_to_string(folder.path().join("report.jsonl")).unwrap().lines().count(), 4);
}

/// A copy lacks changed files, and the run says so. A copy beside ingested files would be ingested with these
/// files.
#[test]
fn a_copy_names_the_files_it_lacks_and_the_folder_it_must_not_be_in() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    folder.write("in/0/4.txt", "something else");
    let run = folder.run(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    assert_eq!(run.status, 2, "{run:#?}");
    assert!(run.stdout.contains("in/0/4.txt: not in the copy ("), "{run:#?}");
    let told = "1 file is not in the copy for the reason given: if a file has changed, ingest and dedup again; if it is damaged, first repair it, replace it or ";
    assert!(run.stderr.contains(told) && !run.stderr.contains("warning: "), "{run:#?}");
    for (inside, ingested) in [("in/0/clean", "in/0"), ("in", "in")] {
        let run = folder.run(&["apply", "report.jsonl", "--write", inside]);
        assert!(run.stderr.contains(&format!("warning: {inside} lies in ")), "{run:#?}");
        let holds = format!("{}, which holds files that were ingested", folder.path().join(ingested).display());
        assert!(run.stderr.contains(&holds), "{run:#?}");
    }
}

/// The copies would be duplicates in the database of the original files, but not in other databases.
#[test]
fn an_ingest_of_a_copy_warns() {
    let folder = Folder::new();
    six(&folder);
    report(&folder);
    let warns = |database: &str, path: &str| {
        let run = folder.ok(&["--db", database, "ingest", "--profile", "words", path]);
        let clean = folder.path().join("clean");
        run.stderr.contains(&format!("warning: {} holds copies that `fpdb apply` made", clean.display()))
    };
    // A dry run writes no copy.
    folder.write("clean/in/own.txt", text(99));
    apply(&folder, &["--write", "clean"]);
    assert!(!warns(".fpdb", "clean"));
    fs::remove_dir_all(folder.path().join("clean")).unwrap();
    apply(&folder, &["--write", "clean", "--yes"]);
    assert!(!warns("other.db", "clean") && !warns(".fpdb", "in"));
    assert!(warns(".fpdb", "clean/in/0") && warns(".fpdb", "clean/"));
}
