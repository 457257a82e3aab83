//! A kill loses only the last documents, because an ingest commits while it runs.

use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::crash::{json, list, text};
use crate::support::{Folder, Run};

/// The age at which every document is committed: that of README.md, plus time for the commit on a busy
/// machine.
const AT_RISK: Duration = Duration::from_secs(5 + 3);

/// The time of the kill.
const KILLED_AFTER: Duration = Duration::from_secs(14);

fn line(number: u64) -> String {
    format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", text(number, 150_000).replace('\n', " "))
}

#[test]
fn a_killed_ingest_has_committed_all_documents_but_those_of_the_last_seconds() {
    let folder = Folder::new();
    // With this memory, a batch has room for far more documents than these.
    let arguments = ["--db", "db", "-q", "ingest", "-", "--name", "feed.jsonl", "--memory", "4GiB"];
    let mut command = folder.command(&arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let start = Instant::now();
    let mut sent = Vec::new();
    while start.elapsed() < KILLED_AFTER {
        // The pipe accepts the line after next only after the program has read this line.
        input.write_all(line(sent.len() as u64).as_bytes()).unwrap();
        sent.push(start.elapsed());
        thread::sleep(Duration::from_millis(200));
    }
    let killed = start.elapsed();
    child.kill().unwrap();
    let run = Run::of(&child.wait_with_output().unwrap());
    assert_eq!(run.status, -1, "{run:?}");
    let kept = list(&folder, "db").len();
    let old = sent.iter().filter(|&&at| at + AT_RISK < killed).count();
    assert!(kept >= old, "{kept} documents of {} are kept, {old} were old enough", sent.len());
    assert!(old > 10, "the machine was too slow to tell: {old}");
    assert_eq!(json(&folder, "db", &["verify"])[0]["problems"].as_array().map(Vec::len), Some(0));

    // The same input again: all documents, in one run.
    let lines: String = (0..sent.len() as u64).map(line).collect();
    std::fs::write(folder.path().join("feed.jsonl"), lines).unwrap();
    folder.ok(&["--db", "db", "ingest", "feed.jsonl"]);
    assert_eq!(list(&folder, "db").len(), sent.len());
    assert_eq!(json(&folder, "db", &["verify"])[0]["problems"].as_array().map(Vec::len), Some(0));
    folder.ok(&["--db", "db", "compact"]);
    assert_eq!(json(&folder, "db", &["stats"])[0]["runs"], 1);
}
