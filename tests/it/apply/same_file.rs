//! Documents with several names: a file is never removed because of itself.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{apply, report, text};
use crate::support::Folder;

/// Ingests these paths one after the other, and writes a report.
fn report_of(folder: &Folder, paths: &[&str]) {
    for path in paths {
        folder.ok(&["ingest", "-q", "--profile", "words", path]);
    }
    let run = folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert!(fs::read_to_string(folder.path().join("report.jsonl")).unwrap().contains("\"remove\""));
}

const IN_PLACE: [&[&str]; 4] = [&["--remove"], &["--link", "hard"], &["--link", "sym"], &["--move", "gone"]];

#[test]
fn a_file_in_a_folder_with_two_names_stays() {
    for action in IN_PLACE {
        let folder = Folder::new();
        folder.write("d/a.txt", text(1));
        symlink("d", folder.path().join("l")).unwrap();
        report_of(&folder, &["d", "l/a.txt"]);
        let (run, lines, summary) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((run.status, &summary["applied"], &summary["left"]), (2, &0.into(), &1.into()), "{run:#?}");
        assert!(lines[0]["reason"].as_str().unwrap().contains("under another name it is a survivor"), "{lines:?}");
        assert!(folder.path().join("d/a.txt").symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_to_string(folder.path().join("d/a.txt")).unwrap(), text(1));
    }
}

/// A protected document is neither removable nor the survivor of another one.
#[test]
fn a_protected_file_is_not_taken_through_a_link_to_its_folder() {
    for action in IN_PLACE {
        let folder = Folder::new();
        folder.write("v1/copy.txt", text(1));
        folder.write("v1/x.txt", text(1));
        folder.write("v1/y.txt", text(2));
        folder.write("y.txt", text(2));
        symlink("v1", folder.path().join("current")).unwrap();
        folder.ok(&["ingest", "-q", "--profile", "words", "v1", "current/x.txt", "y.txt"]);
        folder.ok(&["dedup", "--protect", "v1/", "--format", "json", "-o", "report.jsonl", "-q"]);
        let (run, lines, summary) = apply(&folder, &[action, &["--yes"]].concat());
        // The other removable file has a copy elsewhere.
        let counts = [&summary["documents"], &summary["applied"], &summary["left"]];
        assert_eq!((run.status, counts), (0, [2, 1, 1].map(Value::from).each_ref()), "{run:#?}");
        assert!(lines[0]["reason"].as_str().unwrap().contains("another document that stays"), "{lines:?}");
        assert!(folder.path().join("v1/x.txt").symlink_metadata().unwrap().is_file(), "{action:?}");
        assert_eq!(fs::read_to_string(folder.path().join("v1/x.txt")).unwrap(), text(1));
    }
}

/// One file has different names in two databases. Only one of the names is protected.
#[test]
fn a_file_with_two_names_stays_if_one_of_them_is_not_removable() {
    for action in [&["--write", "clean"][..], &["--remove"]] {
        let folder = Folder::new();
        folder.write("d/x.txt", text(1));
        folder.write("d/a.txt", text(1));
        folder.ok(&["ingest", "-q", "--profile", "words", "d"]);
        let program = folder.command(&["--db", "../other", "ingest", "-q", "--profile", "words", "x.txt"]);
        let mut inside = std::process::Command::new(program.get_program());
        assert!(inside.args(program.get_args()).current_dir(folder.path().join("d")).status().unwrap().success());
        folder.ok(&["merge", "-q", "other"]);
        folder.ok(&["dedup", "--protect", "d/", "--format", "json", "-o", "report.jsonl", "-q"]);
        let (run, lines, summary) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((run.status, &summary["applied"], &summary["left"]), (2, &0.into(), &1.into()), "{run:#?}");
        assert!(lines.iter().any(|line| line["reason"].as_str().is_some_and(|why| why.contains("not removable"))));
        let place = if action.len() == 1 { "d/x.txt" } else { "clean/d/x.txt" };
        assert_eq!(fs::read_to_string(folder.path().join(place)).unwrap(), text(1));
    }
}

#[test]
fn a_link_and_the_file_it_leads_to_stay() {
    for action in IN_PLACE {
        let folder = Folder::new();
        folder.write("a.txt", text(1));
        symlink("a.txt", folder.path().join("0.txt")).unwrap();
        report_of(&folder, &["0.txt", "a.txt"]);
        let (run, _, summary) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((run.status, &summary["applied"]), (2, &0.into()), "{run:#?}");
        for name in ["0.txt", "a.txt"] {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), text(1), "{action:?}");
        }
    }
}

#[test]
fn a_hard_link_is_made_to_the_file_that_a_survivor_leads_to() {
    let folder = Folder::new();
    folder.write("real/x.txt", text(1));
    folder.write("d/e/a.txt", text(1));
    fs::create_dir(folder.path().join("0")).unwrap();
    symlink("../real/x.txt", folder.path().join("0/b.txt")).unwrap();
    report_of(&folder, &["0/b.txt", "d"]);
    let (run, _, summary) = apply(&folder, &["--link", "hard", "--yes"]);
    assert_eq!((run.status, &summary["applied"]), (0, &1.into()), "{run:#?}");
    assert!(folder.path().join("d/e/a.txt").symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_to_string(folder.path().join("d/e/a.txt")).unwrap(), text(1));
}

#[test]
fn records_of_a_container_with_two_names_stay() {
    let folder = Folder::new();
    let lines: String = (0..3).map(|seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect();
    folder.write("d/x.jsonl", &lines);
    folder.ok(&["ingest", "-q", "--profile", "words", "d"]);
    // Another database has the file under another name.
    let program = folder.command(&["--db", "../other", "ingest", "-q", "--profile", "words", "x.jsonl"]);
    let mut inside = std::process::Command::new(program.get_program());
    assert!(inside.args(program.get_args()).current_dir(folder.path().join("d")).status().unwrap().success());
    folder.ok(&["merge", "-q", "other"]);
    report_of(&folder, &[]);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (2, &0.into(), &3.into()), "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/d/x.jsonl")).unwrap(), lines);
}

#[test]
fn a_report_of_a_database_with_other_contents_is_refused() {
    let folder = Folder::new();
    folder.write("in/a.txt", text(1));
    folder.write("in/b.txt", text(1));
    assert_eq!(report(&folder).len(), 1);
    fs::remove_dir_all(folder.path().join(".fpdb")).unwrap();
    folder.write("in/a.txt", text(2));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let run = folder.run(&["apply", "report.jsonl", "--remove", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("has another content"), "{run:#?}");
    assert!(folder.path().join("in/b.txt").exists());
}

#[test]
fn another_action_is_not_taken_for_one_that_is_done() {
    let folder = Folder::new();
    let lines =
        |seeds: &[u64]| -> String { seeds.iter().map(|&s| format!("{{\"text\":\"{}\"}}\n", text(s))).collect() };
    folder.write("in/a.jsonl", lines(&[1, 2, 1]));
    folder.write("in/b.jsonl", lines(&[3, 4]));
    report(&folder);
    let (run, _, summary) = apply(&folder, &["--write", "out", "--mark", "dup", "--yes"]);
    assert_eq!((run.status, &summary["failed"]), (0, &0.into()), "{run:#?}");
    // Every record has the field, also in a file without removable records.
    for name in ["a", "b"] {
        let marked = fs::read_to_string(folder.path().join(format!("out/in/{name}.jsonl"))).unwrap();
        assert!(marked.lines().all(|line| line.contains("\"dup\"")), "{marked}");
    }
    let (run, ..) = apply(&folder, &["--write", "out", "--mark", "other", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("files that are not as it wrote them (2)"), "{run:#?}");
    let (run, _, summary) = apply(&folder, &["--write", "out", "--mark", "dup", "--yes"]);
    assert_eq!((run.status, &summary["done_before"]), (0, &2.into()), "{run:#?}");
    for field in ["one", "two"] {
        let (run, ..) = apply(&folder, &["--mark", field, "--yes"]);
        assert_eq!(run.status, 0, "{run:#?}");
    }
    for name in ["a", "b"] {
        let marked = fs::read_to_string(folder.path().join(format!("in/{name}.jsonl"))).unwrap();
        assert!(marked.lines().all(|line| line.contains("\"one\"") && line.contains("\"two\"")), "{marked}");
    }
}

#[test]
fn a_link_to_records_is_followed_when_they_are_marked() {
    let folder = Folder::new();
    let lines =
        |seeds: &[u64]| -> String { seeds.iter().map(|&s| format!("{{\"text\":\"{}\"}}\n", text(s))).collect() };
    folder.write("o/r.jsonl", lines(&[1, 2, 1]));
    folder.write("in/a.txt", text(3));
    symlink("../o/r.jsonl", folder.path().join("in/l.jsonl")).unwrap();
    folder.ok(&["ingest", "-q", "--follow", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    for _ in 0..2 {
        let (run, _, summary) = apply(&folder, &["--mark", "dup", "--yes"]);
        assert_eq!((run.status, &summary["applied"]), (0, &1.into()), "{run:#?}");
        assert!(folder.path().join("in/l.jsonl").is_symlink());
        let marked = fs::read_to_string(folder.path().join("o/r.jsonl")).unwrap();
        assert_eq!(marked.matches("\"dup\"").count(), 3, "{marked}");
    }
}

#[test]
fn a_link_is_not_moved() {
    let folder = Folder::new();
    folder.write("o/x.txt", text(1));
    folder.write("in/a.txt", text(1));
    symlink("../o/x.txt", folder.path().join("in/b.txt")).unwrap();
    folder.ok(&["ingest", "-q", "--follow", "--profile", "words", "in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let (run, lines, summary) = apply(&folder, &["--move", "gone", "--yes"]);
    assert_eq!((run.status, &summary["applied"]), (2, &0.into()), "{run:#?}");
    assert!(lines[0]["reason"].as_str().unwrap().contains("symbolic link"), "{lines:?}");
    assert!(folder.path().join("in/b.txt").is_symlink());
}

#[test]
fn names_as_long_as_can_be_are_copied_and_linked() {
    let folder = Folder::new();
    let name = format!("in/{}.txt", "y".repeat(251));
    folder.write(&name, text(1));
    folder.write("in/a.txt", text(1));
    folder.write("in/b.txt", text(2));
    report(&folder);
    let (run, _, _) = apply(&folder, &["--write", "clean", "--mark", "x", "--yes"]);
    assert_eq!(run.status, 2, "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean").join(&name)).unwrap(), text(1));
    let (run, _, summary) = apply(&folder, &["--link", "hard", "--yes"]);
    assert_eq!((run.status, &summary["applied"]), (0, &1.into()), "{run:#?}");
}

/// This test needs the right to mount. Without it, the test checks nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_file_in_a_folder_that_is_mounted_twice_stays() {
    for action in IN_PLACE {
        let folder = Folder::new();
        folder.write("in/a.txt", text(1));
        fs::create_dir(folder.path().join("bind")).unwrap();
        let mount = |arguments: &[&str]| {
            std::process::Command::new(arguments[0]).args(&arguments[1..]).current_dir(folder.path()).status()
        };
        if !mount(&["mount", "--bind", "in", "bind"]).is_ok_and(|status| status.success()) {
            eprintln!("skipped: no right to mount");
            return;
        }
        folder.ok(&["ingest", "-q", "--profile", "words", "in", "bind"]);
        folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
        let (run, _, summary) = apply(&folder, &[action, &["--yes"]].concat());
        let left = fs::read_to_string(folder.path().join("in/a.txt"));
        assert!(mount(&["umount", "bind"]).unwrap().success());
        assert_eq!((run.status, &summary["applied"], &summary["left"]), (2, &0.into(), &1.into()), "{run:#?}");
        assert_eq!(left.unwrap(), text(1));
    }
}

/// A removable document and its survivor can be two hard links to one file, as after `--link hard`.
#[test]
fn a_removable_file_that_is_its_survivor_by_a_hard_link_is_taken() {
    for action in [&["--remove"][..], &["--move", "gone"], &["--link", "hard"], &["--link", "sym"]] {
        let folder = Folder::new();
        for name in ["in/a.txt", "in/b.txt", "in/c.txt"] {
            folder.write(name, text(1));
        }
        assert_eq!(report(&folder).len(), 2);
        let (run, ..) = apply(&folder, &["--link", "hard", "--yes"]);
        assert_eq!(run.status, 0, "{run:#?}");
        fs::remove_file(folder.path().join("report.jsonl")).unwrap();
        for entry in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.extension().is_some_and(|ending| ending == "log") {
                fs::remove_file(entry).unwrap();
            }
        }
        assert_eq!(report(&folder).len(), 2);
        let (dry, _, planned) = apply(&folder, action);
        let (run, lines, summary) = apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!((dry.status, run.status), (0, 0), "{action:?} {run:#?}");
        assert_eq!((&planned["applied"], &summary["applied"]), (&2.into(), &2.into()), "{lines:?}");
        assert_eq!(fs::read_to_string(folder.path().join("in/a.txt")).unwrap(), text(1));
        let stays = folder.path().join("in/b.txt").symlink_metadata().is_ok();
        assert_eq!(stays, action[0] == "--link", "{action:?}");
    }
}
