//! Ctrl-C: an ingest stops at its next commit, says what is safe, and continues where it stopped.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use super::names;
use crate::bad_input::prose;
use crate::support::Folder;

/// So many that what is said of them fills the pipe: a run that nobody listens to waits, and cannot end early.
const DOCUMENTS: usize = 4000;

/// Documents read before the signal is sent.
const BEFORE: usize = 1000;

#[cfg(unix)]
#[test]
fn an_interrupted_ingest_is_safe_and_continues() {
    let folder = Folder::new();
    for number in 0..DOCUMENTS {
        let shared = prose(number % 50);
        folder.write(&format!("docs/{:02}/document-{number:05}.txt", number % 7), format!("{shared}{}", prose(number)));
    }
    let ingest =
        ["ingest", "--db", "stopped", "--profile", "prose", "--memory", "1MiB", "--threads", "2", "-v", "docs"];
    let mut child =
        folder.command(&ingest).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while said.matches("\nadded ").count() < BEFORE {
        assert!(talk.read_line(&mut said).unwrap() > 0, "it ended by itself: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    talk.read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status}");
    assert!(!said.contains("panicked"));
    assert!(said.contains("stopping at the next commit; press Ctrl-C again to stop at once"), "{said}");
    let last = said.lines().last().unwrap();
    let safe: usize = last
        .strip_prefix("interrupted: ")
        .and_then(|rest| {
            rest.strip_suffix(" documents of this run are committed and safe; run the same command to continue")
        })
        .unwrap_or_else(|| panic!("no word of what is safe: {last}"))
        .parse()
        .unwrap();
    assert!((BEFORE / 2..DOCUMENTS).contains(&safe), "{safe}");
    assert_eq!(names(&folder, "stopped").len(), safe, "as many as it said");

    let again = folder.ok(&["ingest", "--db", "stopped", "--format", "json", "docs"]).json();
    assert_eq!((&again[0]["added"], &again[0]["unchanged"]), (&(DOCUMENTS - safe).into(), &safe.into()));
    folder.ok(&["ingest", "--db", "undisturbed", "--profile", "prose", "-q", "docs"]);
    assert_eq!(names(&folder, "stopped"), names(&folder, "undisturbed"));
    let answers = |database: &str| {
        let mut query = vec!["query", "--db", database, "--top", "0", "--format", "json", "--no-passages"];
        query.extend(["docs/00/document-00000.txt", "docs/03/document-03076.txt", "docs/06/document-03996.txt"]);
        let hashes = folder.ok(&["stats", "--db", database, "--hashes", "--format", "json"]).json();
        let fields =
            ["documents", "symbols", "fingerprints", "distinct", "singletons"].map(|name| hashes[0][name].clone());
        (folder.ok(&query).stdout, fields)
    };
    assert_eq!(answers("stopped"), answers("undisturbed"));
}

/// Nothing is left behind by a command that is stopped while it waits for its input, and what was there stays.
#[cfg(unix)]
#[test]
fn a_stopped_command_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder.write("old.json", "as it was");
    let report = ["query", "-", "--format", "html", "-o", "report"];
    let answers = ["query", "-", "--format", "json", "-o", "old.json"];
    for (signal, arguments) in [("-INT", &report), ("-TERM", &answers)] {
        let tmp = folder.path().join("tmp");
        let mut command = folder.command(arguments);
        command.env("TMPDIR", &tmp).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Kept open: at its end the command would go on.
        let input = child.stdin.take();
        let entries = |path: &std::path::Path| std::fs::read_dir(path).unwrap().count();
        // The folder of the reader's log, and either what was read so far or the file of the answers.
        let (before, spooled) = (entries(folder.path()), signal == "-INT");
        for _ in 0..1000 {
            let made = if spooled { entries(&tmp) == 2 } else { entries(folder.path()) > before };
            if made {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(entries(&tmp) > 0, "{signal}");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(130), "interrupted\n"));
        drop(input);
        assert_eq!(entries(&tmp), 0, "{signal}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 4, "{left:?}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("old.json")).unwrap(), "as it was");
}

/// A database is made in a folder of its own and moved into its place: either is there in the end, or neither.
#[cfg(unix)]
#[test]
fn a_stopped_creation_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    for milliseconds in 0..40 {
        let db = format!("db{milliseconds}");
        let mut command = folder.command(&["--db", &db, "ingest", "a.txt"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        child.wait().unwrap();
    }
    let names =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}
