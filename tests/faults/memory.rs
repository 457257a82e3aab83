//! The system refuses memory at an allocation or a memory map, once or from then on, for any size or for
//! large sizes only. A command ends with an error, or at once as if it were killed. It never hangs, never
//! gives a wrong answer, and never reports the refusal as damage.

use std::process::Command;

use super::shim::{Fault, Shim};
use super::trial::{COMMANDS, Trials};
use crate::oracle::Random;
use crate::support::Run;

const REFUSED: Fault = Fault::Error("ENOMEM");

/// Commands that only read.
const READS: [&[&str]; 6] = [
    &["query", "docs/00.txt", "docs/04.txt", "--top", "0", "--format", "json"],
    &["pairs", "--format", "json"],
    &["dedup", "--format", "json"],
    &["list", "--format", "json"],
    &["verify", "--format", "json"],
    &["stats", "--format", "json"],
];

/// Classes of calls, and the minimum size that counts. The engine makes most of the large allocations.
const CALLS: [(&str, usize); 4] = [("allocate", 0), ("allocate", 16 << 10), ("allocate", 1 << 20), ("map", 0)];

/// The message of a command that ends for lack of memory.
const SAYS: &str = "hint: each database is as after its last commit";

fn only_large(least_bytes: usize) -> impl Fn(&mut Command) {
    move |command| Shim::only_large(command, least_bytes)
}

/// The numbers of `points` calls, spread over all calls.
fn spread(calls: usize, points: usize, random: &mut Random) -> Vec<usize> {
    let step = calls.div_ceil(points).max(1);
    (0..calls).step_by(step).map(|first| 1 + first + random.below(step.min(calls - first))).collect()
}

/// Number of runs, and number of runs that were ended and printed the message.
#[derive(Debug, Default)]
struct Ends {
    runs: usize,
    told: usize,
}

impl Ends {
    fn count(&mut self, run: &Run) {
        self.runs += 1;
        self.told += usize::from(run.status == -1 && run.stderr.contains(SAYS));
    }
}

/// Refuses memory to a command at `points` calls of each class.
fn survive(command: &str, points: usize) -> Ends {
    let mut ends = Ends::default();
    let Some(shim) = Shim::get() else { return ends };
    let (trials, mut random) = (Trials::new(command), Random(77 + command.len() as u64));
    for (class, least_bytes) in CALLS {
        let calls = trials.count_prepared(shim, class, "", only_large(least_bytes));
        for (turn, at) in (command.len()..).zip(spread(calls, points, &mut random)) {
            let last = if turn % 2 == 0 { at } else { usize::MAX };
            ends.count(&trials.survive_prepared(shim, (class, ""), (at, last), REFUSED, only_large(least_bytes)));
        }
    }
    ends
}

/// Like [`survive`], for commands that only read: the answer is right, or there is none.
fn survive_reading(points: usize) -> Ends {
    let mut ends = Ends::default();
    let Some(shim) = Shim::get() else { return ends };
    // A database of several runs, with removed documents.
    let folder = Trials::new("compact").begin();
    let mut random = Random(78);
    for read in READS {
        let arguments = [&["--db", "concerned/db", "-q"], read].concat();
        let expected = folder.ok(&arguments).stdout;
        for (class, least_bytes) in CALLS {
            let mut command = folder.command(&arguments);
            shim.count(&mut command, class, "", "calls");
            Shim::only_large(&mut command, least_bytes);
            assert_eq!(Run::to_its_end(&mut command).status, 0);
            let calls: usize = std::fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap();
            for (turn, at) in spread(calls, points, &mut random).into_iter().enumerate() {
                let last = if turn % 2 == 0 { at } else { usize::MAX };
                let mut command = folder.command(&arguments);
                shim.fail(&mut command, (class, ""), (at, last), REFUSED);
                Shim::only_large(&mut command, least_bytes);
                let run = Run::to_its_end(&mut command);
                let what = format!("{read:?}: {class} {at} to {last}, of {least_bytes} bytes or more: {run:#?}");
                match run.status {
                    0 => assert_eq!(run.stdout, expected, "{what}"),
                    2 => assert!(run.stderr.contains("error: ") && !run.stderr.contains("damage"), "{what}"),
                    // The process was ended, or a library panicked because it was refused memory.
                    status => assert!([-1, 101].contains(&status), "{what}"),
                }
                ends.count(&run);
            }
        }
    }
    folder.ok(&["--db", "concerned/db", "verify"]);
    ends
}

macro_rules! sampled {
    ($($name:ident: $command:literal,)*) => {
        $(
            #[test]
            fn $name() {
                survive($command, 1);
            }
        )*
    };
}

sampled! {
    an_ingest_survives_refused_memory: "ingest",
    a_replacement_survives_refused_memory: "replace",
    a_removal_survives_refused_memory: "rm",
    a_compaction_survives_refused_memory: "compact",
    a_merge_survives_refused_memory: "merge",
    a_backup_survives_refused_memory: "backup",
    a_restoration_survives_refused_memory: "restore",
    a_repair_survives_refused_memory: "repair",
    a_repair_without_a_list_of_tables_survives_refused_memory: "rebuild",
}

#[test]
fn answers_are_right_or_there_are_none_where_memory_is_refused() {
    let ends = survive_reading(3);
    assert!(ends.runs == 0 || ends.told > ends.runs / 4, "{ends:?}");
}

#[test]
#[ignore = "long: make soak"]
fn every_command_survives_refused_memory() {
    println!("reading: {:?}", survive_reading(60));
    for command in COMMANDS {
        println!("{command}: {:?}", survive(command, 60));
    }
}
