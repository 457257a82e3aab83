//! Runs are killed, or the system fails a call, at each step that touches the disk. `strace` does this at the
//! n-th call of a kind, so the program needs no code for the test.
//!
//! Skipped with a message if there is no `strace`, or if it may not trace.

use std::ffi::OsStr;
use std::fs;
use std::process::Stdio;

use super::{KILLED, Undisturbed, names, write};
use crate::oracle::Random;
use crate::support::{Folder, Run};

/// The system calls whose effects outlive a process.
const CALLS: [&str; 14] = [
    "fsync",
    "fdatasync",
    "sync_file_range",
    "rename",
    "renameat2",
    "link",
    "unlink",
    "unlinkat",
    "mkdir",
    "rmdir",
    "ftruncate",
    "fallocate",
    "write",
    "openat",
];

/// The frequent calls, which only the long forms of the tests cover.
const OFTEN: [&str; 3] = ["sync_file_range", "write", "openat"];

/// The calls that only advise the system.
const HINTS: [&str; 2] = ["sync_file_range", "fallocate"];

/// Enough for folding: eight commits and more.
const FILES: u64 = 64;

fn undisturbed() -> Undisturbed {
    let folder = Folder::new();
    for number in 0..FILES {
        write(&folder, &format!("{number:02}.txt"), number, 9000);
    }
    Undisturbed::new(folder)
}

/// Runs an ingest under `strace` with these options.
fn traced(whole: &Undisturbed, options: &[impl AsRef<OsStr>]) -> Option<Run> {
    let program = whole.ingest();
    let mut command = std::process::Command::new("strace");
    command.args(["-f", "-qq", "-o", "trace"]).args(options).arg("--").arg(program.get_program());
    command.args(program.get_args()).current_dir(whole.folder.path()).env_remove("FPDB_DB");
    let output = command.stdin(Stdio::null()).output().ok()?;
    Some(Run::of(&output))
}

/// The options of `strace` that apply `effect` to the n-th call of a thread. `strace` tampers only with calls
/// that it traces.
fn tampering(call: &str, effect: &str, n: usize) -> [String; 4] {
    ["-e".into(), format!("trace={call}"), "-e".into(), format!("inject={call}:{effect}:when={n}")]
}

/// For each call: how often the thread that makes it most often makes it. `None` if tracing is not possible.
fn count(whole: &Undisturbed) -> Option<Vec<(&'static str, usize)>> {
    let calls = format!("trace={}", CALLS.join(","));
    let run = traced(whole, &["-e", &calls]).filter(|run| run.status == 0);
    if run.is_none() {
        eprintln!("skipped: strace is absent or may not trace (on Debian: apt-get install strace)");
        return None;
    }
    let trace = fs::read_to_string(whole.folder.path().join("trace")).unwrap();
    fs::remove_dir_all(whole.folder.path().join(KILLED)).unwrap();
    let most = |call: &str| {
        let mut threads: Vec<&str> = Vec::new();
        let made = trace.lines().filter_map(|line| line.split_once(' '));
        threads.extend(made.filter(|(_, rest)| rest.trim_start().starts_with(&format!("{call}("))).map(|(id, _)| id));
        threads.sort_unstable();
        threads.chunk_by(|a, b| a == b).map(<[&str]>::len).max().unwrap_or(0)
    };
    Some(CALLS.into_iter().map(|call| (call, most(call))).filter(|&(_, times)| times > 0).collect())
}

/// Kills a run at every `stride`-th call of each kind, checks the result each time, and runs the ingest again
/// to its end.
fn survive_kills(stride: usize, few: bool) {
    let whole = undisturbed();
    let Some(calls) = count(&whole) else { return };
    eprintln!("{calls:?}");
    // Each kind of step in a commit must occur in the trace, or the test checks less than intended.
    for call in ["fsync", "fdatasync", "rename", "link", "unlink", "write"] {
        assert!(calls.iter().any(|&(name, times)| name == call && times > 1), "{call}: {calls:?}");
    }
    let mut random = Random(7);
    for (call, times) in calls.into_iter().filter(|(call, _)| !few || !OFTEN.contains(call)) {
        let mut before = 0;
        for n in (1..=times).step_by(stride) {
            let run = traced(&whole, &tampering(call, "signal=KILL", n)).unwrap();
            // A run that continues an earlier one may make fewer calls, but each run makes the first one.
            let killed = run.status == -1 || run.status == 137;
            assert!(killed || run.status == 0 && n > 1, "{call} {n}: {run:?}");
            before = whole.check(before, &mut random);
            // Sometimes starts with a new database, so that its early steps are tested too.
            if n % 3 == 0 || before == whole.documents.len() {
                whole.finish(before, &mut random);
                before = 0;
            }
        }
        whole.finish(before, &mut random);
    }
}

/// Lets each call fail once in a run: the run reports the failure or recovers, and loses nothing.
fn survive_failures(stride: usize, few: bool) {
    let whole = undisturbed();
    let Some(calls) = count(&whole) else { return };
    let mut random = Random(8);
    for (call, times) in calls.into_iter().filter(|(call, _)| !(HINTS.contains(call) || few && OFTEN.contains(call))) {
        for n in (1..=times).step_by(stride) {
            let cause = if n % 2 == 0 { "ENOSPC" } else { "EIO" };
            let inject = format!("{cause} at call {n} of {call}");
            let run = traced(&whole, &tampering(call, &format!("error={cause}"), n)).unwrap();
            let trace = fs::read_to_string(whole.folder.path().join("trace")).unwrap();
            // The number of calls differs between runs, but each run makes the first one.
            assert!(trace.contains("(INJECTED)") || n > 1, "{inject}: {run:?}");
            assert!(!run.stderr.contains("panicked"), "{inject}: {run:?}");
            assert!(run.status == 0 || run.status == 2, "{inject}: {run:?}");
            let there = if whole.folder.path().join(KILLED).exists() { whole.check(0, &mut random) } else { 0 };
            if run.status == 0 {
                assert_eq!(there, whole.documents.len(), "{inject}: {run:?}");
            } else {
                // The n-th call of each thread fails, so that the write of the message itself may be one of them.
                assert!(run.stderr.contains("error: ") || call == "write", "{inject}: {run:?}");
            }
            whole.finish(there, &mut random);
        }
    }
}

#[test]
fn a_kill_at_a_step_of_each_kind_loses_nothing() {
    survive_kills(37, true);
}

#[test]
fn a_failure_of_a_call_of_each_kind_loses_nothing() {
    survive_failures(61, true);
}

#[test]
#[ignore = "long: make soak"]
fn a_kill_at_every_step_loses_nothing() {
    survive_kills(2, false);
}

#[test]
#[ignore = "long: make soak"]
fn a_failure_at_every_step_loses_nothing() {
    survive_failures(4, false);
}

/// After a repair is killed at any step, it is complete, or is done again. Nothing is lost.
#[test]
fn a_killed_repair_is_done_again() {
    let folder = Folder::new();
    for number in 0..12 {
        write(&folder, &format!("{number:02}.txt"), number, 3000);
    }
    let ingest = ["--db", "db", "-q", "ingest", "docs", "-k", "6", "-w", "3"];
    folder.ok(&ingest);
    folder.ok(&["--db", "db", "compact"]);
    let documents = super::list(&folder, "db");
    let table = fs::read_dir(folder.path().join("db/store")).unwrap().map(|entry| entry.unwrap().path());
    let table = table.filter(|path| path.extension().is_some_and(|extension| extension == "sst"));
    let largest = table.max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let mut bytes = fs::read(&largest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&largest, bytes).unwrap();
    assert_eq!(folder.run(&["--db", "db", "verify"]).status, 2);
    let copy = |from: &str, to: &str| {
        let _ = fs::remove_dir_all(folder.path().join(to));
        let done = std::process::Command::new("cp").args(["-r", from, to]).current_dir(folder.path()).status();
        assert!(done.unwrap().success());
    };
    for call in ["rename", "fsync", "fdatasync", "unlink", "unlinkat"] {
        for n in (1..).step_by(9) {
            copy("db", "try");
            let program = folder.command(&["--db", "try", "verify", "--repair"]);
            let mut command = std::process::Command::new("strace");
            command.args(["-f", "-qq", "-o", "trace"]).args(tampering(call, "signal=KILL", n));
            command.arg("--").arg(program.get_program());
            let Ok(output) = command.args(program.get_args()).current_dir(folder.path()).output() else {
                eprintln!("skipped: there is no strace");
                return;
            };
            let killed = output.status.code() != Some(0);
            assert!(killed || n > 1, "{call}");
            let run = folder.ok(&["--db", "try", "verify", "--repair", "--format", "json"]);
            assert_eq!(run.json()[0]["repair"]["lost"], serde_json::json!([]), "{call} {n}");
            assert_eq!(super::list(&folder, "try"), documents, "{call} {n}");
            folder.ok(&["--db", "try", "verify"]);
            let left: Vec<String> = names_in(&folder, "try");
            // The damaged store is kept exactly once.
            assert_eq!(left, ["FPDB", "committed", "damaged-1", "incoming", "lock", "store"], "{call} {n}");
            if !killed {
                break;
            }
        }
    }
    assert_eq!(names(&documents).len(), 12);
}

fn names_in(folder: &Folder, name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join(name)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
