//! Temporary files: no command leaves any, even if it fails or is killed.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Folder, Run, gzip};

/// A document, a database of it, and a folder for temporary files.
fn prepared() -> Folder {
    let folder = Folder::new();
    for number in 0..4 {
        folder.write(&format!("docs/{number}.txt"), format!("words of document number {number} ").repeat(100));
    }
    folder.write("large.txt.gz", gzip(vec![b'a'; 4 << 20]));
    fs::create_dir(folder.path().join("temporary")).unwrap();
    folder.ok(&["ingest", "-q", "docs", "--profile", "words", "--store-text"]);
    folder
}

/// The program with a separate folder for temporary files.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = folder.command(arguments);
    command.env("TMPDIR", folder.path().join("temporary")).stdin(Stdio::null());
    command
}

fn left(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join("temporary")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn no_command_leaves_temporary_files() {
    let folder = prepared();
    let commands: [&[&str]; 17] = [
        &["list"],
        &["show", "docs/0.txt"],
        &["stats"],
        &["query", "docs/1.txt"],
        &["query", "docs/1.txt", "--format", "html", "-o", "report.html"],
        &["query", "absent.txt"],
        &["diff", "docs/1.txt", "docs/2.txt"],
        &["pairs"],
        &["dedup"],
        &["verify"],
        &["ingest", "docs", "large.txt.gz", "--limit", "document-size=1MiB"],
        &["ingest", "large.txt.gz", "--limit", "expanded-size=1MiB"],
        &["rm", "docs/3.txt"],
        &["mv", "docs/2.txt", "docs/two.txt"],
        &["compact"],
        &["backup", "copies"],
        &["--db", "restored", "restore", "copies"],
    ];
    for arguments in commands {
        let run = Run::of(&command(&folder, arguments).output().unwrap());
        assert!([0, 2].contains(&run.status), "{arguments:?}: {run:#?}");
        assert!(!run.stderr.contains("Usage: "), "{run:#?}");
        assert_eq!(left(&folder), [""; 0], "{arguments:?}: {run:#?}");
    }
}

/// Kills a command that waits for its standard input. A killed command cannot clean up.
fn kill(folder: &Folder, arguments: &[&str], is_open: impl Fn(u32) -> bool) {
    let mut child = command(folder, arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    while !is_open(child.id()) {
        thread::sleep(Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "{arguments:?} has ended");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// True if the process has a table of a store open.
fn has_tables_open(process: u32) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
        .any(|path| path.extension().is_some_and(|extension| extension == "sst"))
}

#[test]
#[cfg(target_os = "linux")]
fn killed_readers_leave_nothing() {
    let folder = prepared();
    // Makes a table: an open table shows that the database is open.
    folder.ok(&["compact", "-q"]);
    kill(&folder, &["query", "-"], has_tables_open);
    assert_eq!(left(&folder), [""; 0]);
    // The same holds beside a writer that waits for its input.
    let mut writer =
        command(&folder, &["ingest", "-", "-q"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    while !has_tables_open(writer.id()) {
        thread::sleep(Duration::from_millis(5));
    }
    kill(&folder, &["query", "-"], has_tables_open);
    assert_eq!(left(&folder), [""; 0]);
    let beside = Run::of(&command(&folder, &["list", "--format", "json"]).output().unwrap());
    assert_eq!((beside.status, beside.json().len()), (0, 4), "{beside:#?}");
    writer.kill().unwrap();
    writer.wait().unwrap();
}
