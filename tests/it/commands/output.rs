//! `-o` and `--failures`: the files that a command writes replace nothing that must stay, and are checked before
//! the work.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, zip};

/// A folder `in` of three stored documents and an archive.
fn stored() -> Folder {
    let folder = Folder::new();
    for number in 1..4 {
        folder.write(&format!("in/{number}.txt"), prose(number));
    }
    folder.write("in/all.zip", zip([("m.txt", prose(7))]));
    folder.ok(&["ingest", "-q", "in"]);
    folder
}

#[test]
fn no_command_writes_over_the_file_of_a_stored_document() {
    let folder = stored();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    let content = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let before = ["in/1.txt", "in/2.txt", "in/all.zip"].map(content);
    std::os::unix::fs::symlink("in/2.txt", folder.path().join("link")).unwrap();
    for arguments in [
        &["query", "--document", "in/2.txt", "-o", "in/2.txt"][..],
        &["pairs", "-o", "in/1.txt"],
        &["list", "-o", "link"],
        &["show", "in/1.txt", "-o", "./in//2.txt"],
        &["dedup", "--format", "json", "-o", "in/all.zip"],
        &["stats", "-o", "in/1.txt"],
        &["verify", "-o", "in/1.txt"],
        &["rm", "in/3.txt", "--format", "json", "-o", "in/2.txt"],
        &["ingest", "in", "-o", "in/2.txt"],
        &["ingest", "in", "--failures", "in/2.txt"],
    ] {
        let run = folder.run(arguments);
        assert!(run.status == 2 && run.stderr.contains(" would write over"), "{arguments:?}: {run:?}");
    }
    // The name of the document does not depend on the current folder.
    let mut elsewhere = folder.command(&["--db", "../.fpdb", "list", "-o", "../in/1.txt"]);
    let run = elsewhere.current_dir(folder.path().join("elsewhere")).output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(said, "error: -o would write over the file of in/1.txt, which is stored: name another file\n");
    assert_eq!(["in/1.txt", "in/2.txt", "in/all.zip"].map(content), before);
    assert_eq!(names(&folder, ".fpdb").len(), 4, "nothing was removed");
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = stored();
    folder.write("p", "a phrase of several words\n");
    folder.write("q/a.txt", prose(2));
    folder.ok(&["dedup", "--format", "json", "-o", "r.json"]);
    for arguments in [
        &["rm", "--report", "r.json", "--format", "json", "-o", "r.json"][..],
        &["query", "q", "--ignore-phrases", "p", "-o", "p"],
        &["query", "q", "--format", "json", "-o", "q/out.json"],
        &["query", "q", "--format", "html", "-o", "q/report"],
        &["diff", "in/all.zip!m.txt", "q/a.txt", "-o", "in/all.zip"],
        &["apply", "r.json", "--remove", "-o", "r.json"],
        &["ingest", "q", "-o", "same", "--failures", "same"],
        &["ingest", "q", "--failures", "-"],
        &["ingest", "q", "-o", "q/a.txt"],
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
    }
    assert_eq!(fs::read_dir(folder.path().join("q")).unwrap().count(), 1);
    assert!(!folder.path().join("same").exists() && !folder.path().join("-").exists());
    assert!(fs::read_to_string(folder.path().join("r.json")).unwrap().contains("fpdb.dedup.summary"));
}

#[test]
fn a_bad_place_for_results_is_told_before_the_work() {
    let folder = stored();
    fs::create_dir(folder.path().join("d")).unwrap();
    folder.write("f", "x");
    for arguments in [
        &["rm", "in/1.txt", "--format", "json", "-o", "nowhere/r.json"][..],
        &["mv", "in/1.txt", "b.txt", "--format", "json", "-o", "d"],
        &["compact", "--format", "json", "-o", "nowhere/r.json"],
        &["backup", "copies", "--format", "json", "-o", "nowhere/r.json"],
        &["init", "--db", "new", "--format", "json", "-o", "nowhere/r.json"],
        &["pairs", "--format", "html", "-o", "f"],
        // In the format for people, these commands have nothing to write.
        &["rm", "in/1.txt", "-o", "r.txt"],
        &["mv", "in/1.txt", "b.txt", "-o", "r.txt"],
        &["compact", "-o", "r.txt"],
        &["backup", "copies", "-o", "r.txt"],
        &["init", "--db", "new", "-o", "r.txt"],
        &["man", "--dir", "pages", "-o", "r.txt"],
        // The slash makes this the path of a folder, though none exists.
        &["rm", "in/1.txt", "--format", "json", "-o", "r.txt/"],
        &["ingest", "in", "--failures", "r.txt/"],
    ] {
        let run = folder.run(arguments);
        assert!(run.status == 2 && run.stderr.starts_with("error: "), "{arguments:?}: {run:?}");
    }
    assert_eq!(names(&folder, ".fpdb")[0], "in/1.txt");
    for made in ["copies", "new", "pages", "r.txt"] {
        assert!(!folder.path().join(made).exists(), "{made}");
    }
    // A link to a missing file stays a link.
    std::os::unix::fs::symlink("d/target", folder.path().join("link")).unwrap();
    folder.ok(&["list", "-o", "link"]);
    assert!(folder.path().join("link").is_symlink() && folder.path().join("d/target").is_file());
}

/// An ingest does not read its own results and failures, now or later.
#[test]
fn an_ingest_leaves_out_the_files_that_it_writes() {
    let folder = Folder::new();
    folder.write("in/a.txt", prose(1));
    folder.write("in/b.txt.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    let ingest = ["ingest", "--failures", "in/failures.jsonl", "-o", "in/summary.txt", "in"];
    for _ in 0..3 {
        assert_eq!(folder.run(&ingest).status, 2);
        assert_eq!(names(&folder, ".fpdb"), ["in/a.txt"]);
        let failures = fs::read_to_string(folder.path().join("in/failures.jsonl")).unwrap();
        assert_eq!(failures.lines().count(), 1, "{failures}");
    }
    // The ingest recognises its own files even through a link to the folder.
    std::os::unix::fs::symlink("in", folder.path().join("link")).unwrap();
    folder.run(&["ingest", "--db", "other", "--failures", "in/failures.jsonl", "-o", "link/summary.txt", "link/"]);
    assert_eq!(names(&folder, "other"), ["link/a.txt"]);
    // The link lies in the ingested folder, and leads out of it.
    fs::create_dir(folder.path().join("logs")).unwrap();
    folder.write("linked/a.txt", prose(1));
    std::os::unix::fs::symlink("../logs", folder.path().join("linked/logs")).unwrap();
    let ingest = ["ingest", "--db", "linking", "--follow", "linked", "-o", "logs/summary.txt"];
    for _ in 0..2 {
        folder.ok(&ingest);
        assert_eq!(names(&folder, "linking"), ["linked/a.txt"]);
    }
}

/// Databases of early versions can hold the result files of an ingest.
#[test]
fn an_ingest_replaces_its_results_even_if_they_were_stored() {
    let folder = Folder::new();
    folder.write("in/a.txt", prose(1));
    folder.ok(&["ingest", "--db", "first", "in", "--format", "json", "-o", "in/log.json"]);
    folder.write("in/failures", "");
    folder.write("in/notes.txt", "notes of mine\n");
    folder.ok(&["ingest", "in"]);
    let stored = names(&folder, ".fpdb");
    assert!(stored.len() >= 3 && stored.contains(&"in/log.json".to_owned()), "{stored:?}");
    folder.ok(&["ingest", "in", "--format", "json", "-o", "in/log.json", "--failures", "in/failures"]);
    for flag in ["-o", "--failures"] {
        for command in [&["ingest", "in", flag, "in/notes.txt"][..], &["ingest", "in/log.json", flag, "in/log.json"]] {
            let run = folder.run(command);
            assert!(run.status == 2 && run.stderr.contains(" would write over"), "{command:?}: {run:?}");
        }
    }
    let run = folder.run(&["list", "-o", "in/log.json"]);
    assert!(run.status == 2 && run.stderr.contains("in/log.json, which is stored"), "{run:?}");
}

#[test]
fn a_report_of_the_current_folder_has_its_place_in_it() {
    let folder = stored();
    folder.write("q.txt", prose(2));
    folder.ok(&["query", ".", "--format", "html", "-o", "report"]);
    assert!(folder.path().join("report/index.html").exists());
}

/// An ingest that fails leaves no empty database, which would be bound to its profile.
#[test]
fn a_failed_ingest_leaves_no_database() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    for flags in [&["--failures", "nowhere/f"][..], &["--name", "b"]] {
        let run = folder.run(&[&["ingest", "--db", "db", "--profile", "words", "a.txt"], flags].concat());
        assert!(run.status == 2 && !folder.path().join("db").exists(), "{run:?}");
    }
}

/// If the reader of the output is gone, a command that changes things finishes its work.
#[test]
fn a_closed_pipe_does_not_stop_a_change() {
    let folder = Folder::new();
    for number in 0..300 {
        folder.write(&format!("in/a-rather-long-name-for-a-copy-{number:03}.txt"), prose(1));
    }
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "r.json"]);
    let apply = ["apply", "r.json", "--remove", "--yes", "--format", "json"];
    let mut child = folder.command(&apply).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(fs::read_dir(folder.path().join("in")).unwrap().count(), 1);
}

/// Ctrl-C during a query of a folder leaves the earlier file of results as it was.
#[test]
fn a_stopped_query_replaces_no_results() {
    let folder = stored();
    let name = "x".repeat(100);
    for number in 0..2000 {
        folder.write(&format!("q/{number:04}-{name}.bin"), b"\0\x01\x02");
    }
    folder.write("q/0000.txt", prose(2));
    folder.write("old.json", "as it was");
    // The messages fill the pipe, so the command cannot end before it is stopped.
    let query = ["query", "-v", "q", "--format", "json", "-o", "old.json"];
    let mut child = folder.command(&query).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut talk, mut said) = (BufReader::new(child.stderr.take().unwrap()), String::new());
    while said.matches("skipped").count() < 10 {
        assert!(talk.read_line(&mut said).unwrap() > 0, "it ended by itself: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    talk.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("old.json")).unwrap(), "as it was");
}

/// Flags that would have no effect are refused.
#[test]
fn flags_without_an_effect_are_refused() {
    let folder = stored();
    for (arguments, flag) in [
        (&["dedup", "--passages", "--anonymise"][..], "--anonymise"),
        (&["dedup", "--passages", "--single-file"], "--single-file"),
        (&["dedup", "--passages", "--max-report-pairs", "3"], "--max-report-pairs"),
        (&["dedup", "--dry-run", "--write", "d", "--format", "json", "-o", "r.json"], "--dry-run"),
        (&["ingest", "in", "--name", "b"], "--name"),
    ] {
        let run = folder.run(arguments);
        assert!(run.status == 2 && run.stderr.contains(flag), "{arguments:?}: {run:?}");
    }
    // A value may be an argument of its own after its flag. An error names the flag as it is typed.
    folder.ok(&["dedup", "--by", "containment", "--thresholds", "0.5"]);
    for (arguments, error) in [
        (&["pairs", "--submission-by", "("][..], "error: --submission-by cannot be ("),
        (&["pairs", "--group-by", "("], "error: --group-by cannot be ("),
        (&["dedup", "--prefer", "("], "error: --prefer cannot be ("),
        (&["ingest", "in", "--exclude", "["], "error: --exclude cannot be ["),
        (&["mv", "in/1.txt", ""], "error: NEW cannot be"),
    ] {
        let run = folder.run(arguments);
        assert!(run.status == 2 && run.stderr.starts_with(error), "{arguments:?}: {run:?}");
    }
}

/// A dry run has no other result than its text, so `--quiet` leaves it.
#[test]
fn a_quiet_dry_run_says_what_it_would_do() {
    let folder = stored();
    fs::remove_file(folder.path().join("in/1.txt")).unwrap();
    let run = folder.ok(&["ingest", "-q", "--dry-run", "--prune", "in"]);
    assert!(run.stdout.contains("removed: in/1.txt"), "{run:?}");
}

/// Commands in messages act on the database of the run, and read names that begin with a dash.
#[test]
fn printed_commands_can_be_run_as_printed() {
    let folder = Folder::new();
    folder.write("-dir/a.txt", prose(1));
    folder.ok(&["ingest", "-q", "--db", "my db", "--", "-dir"]);
    let hint = "hint: documents lie below it: `fpdb list --db 'my db' -- -dir/` shows them, and `fpdb rm --db 'my db' --prefix=-dir/` \
                would remove them all\n";
    let run = folder.run(&["rm", "--db", "my db", "--", "-dir"]);
    assert!(run.stderr.ends_with(hint), "{run:?}");
    let counted = folder.ok(&["rm", "--db", "my db", "--prefix=-dir/"]);
    assert!(counted.stdout.contains("1 document"), "{counted:?}");
    let run = folder.ok(&["rm", "--db", "my db", "--", "-dir/a.txt"]);
    assert!(run.stderr.contains("`fpdb compact --db 'my db'` frees the space"), "{run:?}");
    assert!(run.stderr.contains("`fpdb ingest --db 'my db' --exclude="), "{run:?}");
}

/// A second text from standard input replaces the first one, which had no name either.
#[test]
fn standard_input_without_a_name_gets_a_hint() {
    let folder = Folder::new();
    let ingest = |number| {
        let text = folder.write("text", prose(number));
        let input = fs::File::open(text).unwrap();
        let output = folder.command(&["ingest", "-"]).stdin(input).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!ingest(1).contains("--name"));
    let said = ingest(2);
    assert!(said.contains("--name gives each its own"), "{said}");
}
