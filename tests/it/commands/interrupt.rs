//! Ctrl-C: an ingest stops at its next commit, and prints the number of safe documents. The next ingest
//! continues from there.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};

use super::names;
use crate::bad_input::prose;
use crate::support::Folder;

/// Enough documents for their messages to fill the pipe. A run whose output nobody reads waits, and so cannot
/// end early.
const DOCUMENTS: usize = 4000;

/// Documents read before the signal is sent.
const BEFORE: usize = 1000;

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
        .replace(',', "")
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
        let mut answers = folder.ok(&query).json();
        for found in answers.iter_mut().flat_map(|answer| answer["matches"].as_array_mut().unwrap()) {
            // This field is present only if the file was not changed for some seconds.
            found.as_object_mut().unwrap().remove("modified");
        }
        (answers, fields)
    };
    assert_eq!(answers("stopped"), answers("undisturbed"));
}

/// A command that is stopped while it waits for its input leaves no file behind, and existing files stay.
#[test]
fn a_stopped_command_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder.write("old.json", "as it was");
    let report = ["query", "-", "--format", "html", "-o", "report"];
    let answers = ["query", "-", "--format", "json", "-o", "old.json"];
    let stopping = "stopping; press Ctrl-C again to stop at once\n";
    for (signal, arguments, message) in [("-INT", &report, "interrupted\n"), ("-TERM", &answers, stopping)] {
        let tmp = folder.path().join("tmp");
        let mut command = folder.command(arguments);
        command.env("TMPDIR", &tmp).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The input stays open, because the command would continue at its end.
        let input = child.stdin.take();
        let entries = |path: &std::path::Path| std::fs::read_dir(path).unwrap().count();
        // The command has made a file for the input read so far, or the file of the answers.
        let (before, spooled) = (entries(folder.path()), signal == "-INT");
        let is_made = || if spooled { entries(&tmp) > 0 } else { entries(folder.path()) > before };
        for _ in 0..1000 {
            if is_made() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(is_made(), "{signal}");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((status.code(), said.as_str()), (Some(130), message));
        drop(input);
        assert_eq!(entries(&tmp), 0, "{signal}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 4, "{left:?}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("old.json")).unwrap(), "as it was");
}

/// A database is created in a temporary folder and then moved into place. After a stop, there is a database
/// or nothing.
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
        if folder.path().join(&db).exists() {
            assert_eq!(names(&folder, &db), ["a.txt"], "after {milliseconds} ms an empty database was left");
        }
    }
    let names =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Starts a run that reads a pipe to which nothing is written. Returns it with its standard error.
fn waiting(folder: &Folder, command: &mut Command) -> (Child, BufReader<ChildStderr>) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    talk.read_line(&mut said).unwrap();
    assert!(said.starts_with("created the database"), "{said}");
    // The run should read by now. If it does not yet, the signal must still end it.
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "{}", folder.path().display());
    (child, talk)
}

fn signal(name: &str, child: &Child) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_pipe_to_which_nothing_is_written_is_not_waited_for() {
    let folder = Folder::new();
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    // In the first case, no process opens the pipe for writing. In the others, a process opens it but stops
    // writing, once in the middle of compressed data.
    for (database, path, name, begins) in [
        ("named", "pipe", "-", &b""[..]),
        ("silent", "-", "x.txt", b"a word, and then"),
        ("packed", "-", "x.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
    ] {
        let mut command = folder.command(&["ingest", path, "--name", name, "--db", database]);
        let (mut child, mut talk) = waiting(&folder, command.stdin(Stdio::piped()));
        let mut input = child.stdin.take().unwrap();
        input.write_all(begins).unwrap();
        signal("-INT", &child);
        let mut said = String::new();
        talk.read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
        assert!(said.contains("interrupted: 0 documents of this run are committed and safe"), "{said}");
        drop(input);
        assert!(!folder.path().join(database).exists(), "nothing was committed, so no database is kept");
    }
}

/// `nohup` starts commands with ignored signals, and so does a shell for the background commands of a script.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let folder = Folder::new();
    let program = folder.command(&[]).get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""]).arg(program).args(["ingest", "-"]);
    shell.current_dir(folder.path()).env_remove("FPDB_DB").stdin(Stdio::piped());
    let (mut child, mut talk) = waiting(&folder, &mut shell);
    signal("-HUP", &child);
    signal("-INT", &child);
    child.stdin.take().unwrap().write_all(prose(1).as_bytes()).unwrap();
    let mut said = String::new();
    talk.read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
    assert_eq!(names(&folder, ".fpdb"), ["-"]);
    // A signal that is not ignored still stops the command.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT; exec \"$0\" \"$@\""]).arg(folder.command(&[]).get_program());
    shell.args(["ingest", "--db", "other", "-"]).current_dir(folder.path()).stdin(Stdio::piped());
    let (mut child, _talk) = waiting(&folder, &mut shell);
    signal("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// The flags of paths that the ingest did not reach stay.
#[test]
fn an_interrupted_ingest_forgets_no_flags() {
    let folder = Folder::new();
    for number in 0..DOCUMENTS {
        folder.write(&format!("docs/{number:05}.txt"), prose(number % 50));
    }
    folder.write("docs/last/a.txt", prose(0));
    folder.ok(&["ingest", "-q", "--profile", "prose", "--store-text", "docs/last"]);
    let typed = ["ingest", "--memory", "1MiB", "--threads", "2", "-v", "--skip-hidden", "docs"];
    let mut child =
        folder.command(&typed).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while said.matches("\nadded ").count() < 100 {
        assert!(talk.read_line(&mut said).unwrap() > 0, "it ended by itself: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    talk.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let flags = || folder.ok(&["stats", "--format", "json"]).json()[0]["sources"].as_array().unwrap().len();
    assert_eq!(flags(), 2);
    folder.ok(&typed);
    assert_eq!(flags(), 1);
}
