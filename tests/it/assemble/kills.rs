//! An assembly is killed at each step that touches the disk. The database is then empty or complete, and the
//! same command completes the work.

use std::path::Path;
use std::process::Stdio;

use fpdb::Profile;

use super::{Random, answers, build, copy, ingest, plan, samples, verified};
use crate::support::{Folder, Run};

const CALLS: [&str; 8] = ["fsync", "fdatasync", "rename", "link", "unlink", "unlinkat", "mkdir", "rmdir"];

fn traced(folder: &Folder, options: &[&str]) -> Option<Run> {
    let program = folder.command(&["--db", "db", "assemble", "staging", "-q"]);
    let mut command = std::process::Command::new("strace");
    command.args(["-f", "-qq", "-o", "trace"]).args(options).arg("--").arg(program.get_program());
    command.args(program.get_args()).current_dir(folder.path()).env_remove("FPDB_DB");
    Some(Run::of(&command.stdin(Stdio::null()).output().ok()?))
}

/// If `fresh`, the database is empty before, so `assemble` moves files into it. Otherwise it merges.
fn survive(fresh: bool, stride: usize) {
    let folder = Folder::new();
    let profile = Profile::named("prose").unwrap();
    let inputs: Vec<_> = samples().into_iter().filter(|input| input.name.starts_with("planted")).collect();
    let (before, built) = if fresh { inputs.split_at(0) } else { inputs.split_at(2) };
    let plan = plan(&profile, built, &mut Random(2)).store_text(true);
    build(&folder.path().join("whole"), &plan, built, &mut Random(1));
    ingest(&folder.path().join("before"), &profile, before, true);
    ingest(&folder.path().join("one"), &profile, &inputs, true);
    let expected = answers(&folder, "one");
    let begin = || {
        for (from, to) in [("before", "db"), ("whole", "staging")] {
            let to = folder.path().join(to);
            if to.exists() {
                std::fs::remove_dir_all(&to).unwrap();
            }
            copy(&folder.path().join(from), &to);
        }
    };
    begin();
    let calls = format!("trace={}", CALLS.join(","));
    if traced(&folder, &["-e", &calls]).is_none_or(|run| run.status != 0) {
        eprintln!("skipped: strace is absent or may not trace (on Debian: apt-get install strace)");
        return;
    }
    let trace = std::fs::read_to_string(folder.path().join("trace")).unwrap();
    let (mut killed, mut whole, mut seen) = (0, 0, 0);
    for call in CALLS {
        // `strace` counts the calls of each thread by themselves.
        let made = trace.lines().filter_map(|line| line.split_once(' '));
        let made = made.filter(|(_, rest)| rest.trim_start().starts_with(&format!("{call}(")));
        let mut threads: Vec<&str> = made.map(|(thread, _)| thread).collect();
        threads.sort_unstable();
        let times = threads.chunk_by(|one, other| one == other).map(<[&str]>::len).max().unwrap_or(0);
        seen += usize::from(times > 0);
        for n in (1..=times).step_by(stride) {
            begin();
            let kill = format!("inject={call}:signal=KILL:when={n}");
            let run = traced(&folder, &["-e", &format!("trace={call}"), "-e", &kill]).unwrap();
            assert!([-1, 0, 137].contains(&run.status), "{call} {n}: {run:?}");
            killed += usize::from(run.status != 0);
            let documents = folder.ok(&["--db", "db", "list", "--format", "json"]).json().len();
            let all = inputs.len();
            // A merge may have committed some documents. Moved files are all committed at once.
            assert!(documents == before.len() || documents == all || !fresh, "{call} {n}: {documents}");
            verified(&folder, "db");
            let again = folder.run(&["--db", "db", "assemble", "staging", "-q"]);
            if again.status != 0 {
                // The build was already added, and removed.
                assert!(again.stderr.contains("there is no build"), "{call} {n}: {again:?}");
                assert_eq!(documents, all);
            }
            whole += usize::from(documents == all);
            for left in ["plan.json", "parts", "database"] {
                assert!(!folder.path().join("staging").join(left).exists(), "{call} {n}: {left}");
            }
            assert!(answers(&folder, "db") == expected, "{call} {n}");
            verified(&folder, "db");
        }
    }
    assert!(seen >= 5 && killed >= 5 && whole >= 1, "{seen} calls, {killed} killed, {whole} whole");
    assert!(Path::new(&folder.path().join("one")).exists());
}

#[test]
fn killed_while_files_are_moved() {
    survive(true, 9);
}

#[test]
fn killed_while_documents_are_merged() {
    survive(false, 19);
}

#[test]
#[ignore = "takes minutes"]
fn killed_at_every_step() {
    survive(true, 1);
    survive(false, 1);
}
