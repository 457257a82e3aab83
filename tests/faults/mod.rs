//! Faults of the system: each command runs with calls that fail, are cut short, or end the process.
//!
//! A small library (`shim.c`) between the program and the system causes the fault at the n-th call of a
//! class. In all cases, committed documents are intact, answers are right, and the same command run again
//! ends like an undisturbed run. The tests need Linux and a C compiler. Without them, the tests are skipped
//! with a message.

mod apply;
mod dedup;
mod memory;
mod odd_files;
mod power;
mod prune;
mod shim;
mod trial;

use shim::{Fault, Shim};
use trial::{COMMANDS, Trials};

use std::process::Stdio;

use crate::oracle::Random;
use crate::support::{Folder, Run};

/// The classes of calls that fail.
const CLASSES: [&str; 10] = ["write", "sync", "rename", "unlink", "open", "mkdir", "link", "truncate", "close", "read"];

/// The fault of the n-th call; `true` if all later calls have this fault too. A sample tries one fault of
/// each row.
const FAULTS: [&[(Fault, bool)]; 4] = [
    &[(Fault::Error("EIO"), false), (Fault::Error("ENOSPC"), false)],
    &[(Fault::Error("EIO"), true), (Fault::Error("ENOSPC"), true)],
    &[(Fault::KillBefore, false), (Fault::KillAfter, false)],
    &[(Fault::Short, false)],
];

/// Tries faults at calls of each class that a command makes: each fault at every call, or a sample.
fn survive(command: &str, every: bool, random: &mut Random) {
    let Some(shim) = Shim::get() else { return };
    let trials = Trials::new(command);
    for class in CLASSES {
        let calls = trials.count(shim, class);
        let ats = |random: &mut Random| if every { (1..=calls).collect() } else { vec![1 + random.below(calls)] };
        if calls == 0 {
            continue;
        }
        for faults in FAULTS {
            let faults = if every { faults.to_vec() } else { vec![random.one_of(faults)] };
            for (fault, lasts) in faults {
                if fault == Fault::Short && !["read", "write"].contains(&class) {
                    continue;
                }
                for at in ats(random) {
                    trials.survive(shim, class, at, if lasts { usize::MAX } else { at }, fault);
                }
            }
        }
        if class == "open" {
            for at in ats(random) {
                trials.survive(shim, class, at, usize::MAX, Fault::Error("EMFILE"));
                trials.survive(shim, class, at, at, Fault::Error("EACCES"));
            }
        }
    }
}

macro_rules! sampled {
    ($($name:ident: $command:literal,)*) => {
        $(
            #[test]
            fn $name() {
                survive($command, false, &mut Random(0xfa17 + $command.len() as u64));
            }
        )*
    };
}

sampled! {
    an_ingest_survives_faults: "ingest",
    a_replacement_survives_faults: "replace",
    a_removal_survives_faults: "rm",
    a_compaction_survives_faults: "compact",
    a_merge_survives_faults: "merge",
    a_backup_survives_faults: "backup",
    a_restoration_survives_faults: "restore",
    a_repair_survives_faults: "repair",
    a_repair_without_a_list_of_tables_survives_faults: "rebuild",
    taking_over_a_build_survives_faults: "assemble",
    merging_a_build_survives_faults: "assemble more",
}

#[test]
#[ignore = "long: make soak"]
fn every_command_survives_every_fault() {
    for command in COMMANDS {
        survive(command, true, &mut Random(1));
    }
}

/// The sync of the engine's list of tables fails after the engine appended to the list. The engine then
/// removes tables that the appended records name.
fn survive_syncs_of_the_list(command: &str, every: bool) {
    let Some(shim) = Shim::get() else { return };
    let (trials, on) = (Trials::new(command), "store/MANIFEST-");
    let calls = trials.count_on(shim, "sync", on);
    assert!(calls > 3, "{command}: {calls} syncs of the list of tables");
    let mut failed = 0;
    for at in 1..=calls {
        // Lasting failures show all of their effects at the first call.
        let lasts = if every { vec![at, usize::MAX] } else { vec![if at % 3 == 1 { usize::MAX } else { at }] };
        for last in lasts {
            let run = trials.survive_on(shim, on, "sync", at, last, Fault::Error("EIO"));
            failed += usize::from(run.status != 0);
        }
    }
    assert!(failed > calls / 2, "{command}: {failed} failures of {calls} were noticed");
}

#[test]
fn an_ingest_does_not_rely_on_a_list_of_tables_that_could_not_be_synced() {
    survive_syncs_of_the_list("ingest", false);
}

#[test]
fn a_merge_does_not_rely_on_a_list_of_tables_that_could_not_be_synced() {
    survive_syncs_of_the_list("merge", false);
}

#[test]
#[ignore = "long: make soak"]
fn no_command_relies_on_a_list_of_tables_that_could_not_be_synced() {
    for command in ["ingest", "replace", "rm", "compact", "merge"] {
        survive_syncs_of_the_list(command, true);
    }
}

/// A first ingest creates the database, adds nothing, and cannot remove the database. The next ingest still
/// works.
#[test]
fn a_first_ingest_that_cannot_clean_up_blocks_no_other() {
    let Some(shim) = Shim::get() else { return };
    let begin = || {
        let folder = Folder::new();
        folder.write("docs/a.txt", "one two three four five six seven eight nine ten");
        std::fs::create_dir(folder.path().join("concerned")).unwrap();
        folder
    };
    let mut failed = 0;
    for database in ["concerned/db", "concerned"] {
        let nothing = ["--db", database, "ingest", "missing.txt"];
        for class in ["unlink", "rename", "mkdir", "open"] {
            let folder = begin();
            let mut command = folder.command(&nothing);
            shim.count(&mut command, class, "concerned", "calls");
            assert_eq!(Run::of(&command.stdin(Stdio::null()).output().unwrap()).status, 2);
            let calls: usize = std::fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap();
            let step = calls / 12 + 1;
            for at in (1..=calls).step_by(step) {
                for (last, fault) in
                    [(usize::MAX, Fault::Error("EIO")), (at, Fault::Error("EACCES")), (at, Fault::KillAfter)]
                {
                    let folder = begin();
                    let mut command = folder.command(&nothing);
                    shim.fail(&mut command, (class, "concerned"), (at, last), fault);
                    let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
                    failed += usize::from(run.stderr.contains("Input/output error"));
                    let next = folder.run(&["--db", database, "-q", "ingest", "docs"]);
                    assert_eq!(next.status, 0, "{database}: {fault:?} at {class} {at}: {run:#?} {next:#?}");
                }
            }
        }
    }
    assert!(failed > 0, "none failed as its cleaning up did");
}
