//! A dedup is killed, or its calls fail, at each step on its own files: the state of the job and the record
//! of decisions. The same command run again gives the same answer and leaves the same record.

use std::fs;
use std::process::Stdio;

use super::shim::{Fault, Shim};
use super::trial::copy;
use crate::support::{Folder, Run, lcg};

/// Calls on the files of a dedup.
const FILES: &str = "dedup-";

/// The classes of calls on files.
const CLASSES: [&str; 6] = ["write", "sync", "rename", "unlink", "open", "truncate"];

const RULE: [&str; 8] = ["dedup", "-q", "--by", "containment", "--threshold", "0.6", "--format", "json"];

/// Some documents, many of them parts of others.
fn ingest(folder: &Folder, name: &str, seed: u64) {
    let mut next = lcg(seed);
    let mut lines = String::new();
    for number in 0..300 {
        let first = next(1000);
        let words: Vec<String> = (first..first + 20 + next(60)).map(|word| format!("w{word}")).collect();
        lines += &format!("{{\"id\":\"{number}\",\"text\":\"{} own{number}\"}}\n", words.join(" "));
    }
    folder.write(name, lines);
    folder.ok(&["ingest", "-q", "--profile", "bytes", "-k", "8", "-w", "4", name]);
}

fn record(folder: &Folder) -> Option<Vec<u8>> {
    fs::read(folder.path().join(".fpdb/dedup-decisions")).ok()
}

/// The faults of a call.
const FAULTS: [Fault; 3] = [Fault::KillBefore, Fault::KillAfter, Fault::Error("EIO")];

/// Runs `arguments` on copies of `start`, each time with a fault of one call, and then undisturbed. With
/// `every`, each call has every kind of fault, otherwise one kind.
fn survive(shim: &Shim, start: &Folder, arguments: &[&str], every: bool) {
    let begin = || {
        let folder = Folder::new();
        copy(start.path(), folder.path()).unwrap();
        folder
    };
    let undisturbed = begin();
    let (expected, kept) = (undisturbed.ok(arguments).stdout, record(&undisturbed));
    assert!(expected.lines().count() > 30, "{expected}");
    let (mut killed, mut failed, mut turn) = (0, 0, 0);
    for class in CLASSES {
        let folder = begin();
        let mut command = folder.command(arguments);
        shim.count(&mut command, class, FILES, "calls");
        assert_eq!(Run::of(&command.stdin(Stdio::null()).output().unwrap()).status, 0);
        let calls: usize = fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap();
        for at in 1..=calls {
            turn += 1;
            let faults = FAULTS.into_iter().enumerate();
            for (_, fault) in faults.filter(|(number, _)| every || turn % FAULTS.len() == *number) {
                let folder = begin();
                let mut command = folder.command(arguments);
                shim.fail(&mut command, (class, FILES), (at, at), fault);
                let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
                let what = format!("{arguments:?}: {fault:?} at {class} {at}: {run:#?}");
                assert!([0, 2, -1].contains(&run.status) && !run.stderr.contains("panicked"), "{what}");
                killed += usize::from(run.status == -1);
                failed += usize::from(run.status == 2);
                let again = folder.run(arguments);
                assert!(again.status == 0 && again.stdout == expected, "{what}: {again:#?}");
                assert!(record(&folder) == kept, "{what}: another record");
                let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
                assert!(
                    !left.into_iter().any(|name| name.to_string_lossy().ends_with(".job")),
                    "{what}: a job is left"
                );
            }
        }
    }
    assert!(killed > 3 && failed > 1, "{arguments:?}: killed {killed} times, failed {failed} times");
}

/// Tests a dedup of all documents, and a dedup of the documents that were added after it.
fn survive_both(every: bool) {
    let Some(shim) = Shim::get() else { return };
    let folder = Folder::new();
    ingest(&folder, "a.jsonl", 3);
    survive(shim, &folder, &RULE, every);
    let append = [&RULE[..], &["--append"]].concat();
    folder.ok(&append);
    ingest(&folder, "b.jsonl", 8);
    survive(shim, &folder, &append, every);
}

#[test]
fn a_dedup_survives_faults_at_each_step() {
    survive_both(false);
}

#[test]
#[ignore = "long: make soak"]
fn a_dedup_survives_every_fault_at_each_step() {
    survive_both(true);
}
