//! Runs of `apply` are killed, or their calls fail, at each step. No content is ever lost, and no file is
//! removed that the run did not make. The same command run again ends like an undisturbed run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::shim::{Fault, Shim};
use crate::support::{Folder, Run, text};

/// The folder that a run of `apply` reads and writes.
const CONCERNED: &str = "concerned";

const CLASSES: [&str; 8] = ["write", "sync", "rename", "unlink", "open", "link", "read", "mkdir"];

const FAULTS: [Fault; 4] = [Fault::KillBefore, Fault::KillAfter, Fault::Error("EIO"), Fault::Error("EACCES")];

pub(super) const ACTIONS: [&[&str]; 7] = [
    &["--remove"],
    &["--link", "hard"],
    &["--link", "sym"],
    &["--move", "concerned/gone"],
    &["--write", "concerned/clean"],
    &["--write", "concerned/marked", "--mark", "dup"],
    &["--mark", "dup"],
];

/// Files of three texts, and records of others, some of them twice.
fn start(folder: &Folder) {
    for number in 0..5u64 {
        folder.write(&format!("concerned/in/{}/{number}.txt", number % 2), text(number % 3));
    }
    let lines =
        |seeds: &[u64]| seeds.iter().map(|&seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect::<String>();
    folder.write("concerned/in/a.jsonl", lines(&[10, 11, 10]));
    folder.write("concerned/in/b.jsonl", lines(&[11, 12, 2]));
    // A file that no run may touch.
    folder.write("concerned/in/0/.0.txt.fpdb-part", "mine");
    folder.ok(&["ingest", "-q", "--profile", "words", "concerned/in"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
}

/// All files of the folders except logs, by name, read through links.
fn files(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else if path.extension().is_none_or(|extension| extension != "log") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap_or_default()));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder.path(), &folder.path().join(CONCERNED), &mut found);
    found.sort();
    found
}

/// The texts that at least one of these files holds.
fn texts(files: &[(String, Vec<u8>)]) -> BTreeSet<u64> {
    let all: Vec<String> = files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    (0..13).filter(|&seed| all.iter().any(|held| held.contains(text(seed).trim()))).collect()
}

/// A run of `apply`, and its expected effect on the files.
pub(super) struct Act {
    pub(super) arguments: Vec<&'static str>,
    action: &'static [&'static str],
    held: BTreeSet<u64>,
    expected: Vec<(String, Vec<u8>)>,
}

impl Act {
    pub(super) fn new(action: &'static [&'static str]) -> Self {
        let arguments = [&["apply", "report.jsonl", "--yes", "-q"], action].concat();
        let mut act = Self { arguments, action, held: BTreeSet::new(), expected: Vec::new() };
        let undisturbed = act.begin();
        act.held = texts(&files(&undisturbed));
        assert_eq!(act.held.len(), 6);
        undisturbed.ok(&act.arguments);
        act.expected = files(&undisturbed);
        act
    }

    /// The files before the run.
    pub(super) fn begin(&self) -> Folder {
        let folder = Folder::new();
        start(&folder);
        folder
    }

    /// Number of calls of a class that the run makes.
    pub(super) fn count(&self, shim: &Shim, class: &str) -> usize {
        let folder = self.begin();
        let mut command = folder.command(&self.arguments);
        shim.count(&mut command, class, CONCERNED, "calls");
        assert_eq!(Run::of(&command.stdin(Stdio::null()).output().unwrap()).status, 0);
        fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap()
    }

    /// Checks that no text is lost, and that the command, run again, ends like an undisturbed run.
    pub(super) fn look_and_resume(&self, folder: &Folder, what: &str) {
        assert_eq!(texts(&files(folder)), self.held, "{what}: a text is gone");
        let again = folder.run(&self.arguments);
        assert_eq!(again.status, 0, "{what}: {again:#?}");
        assert!(files(folder) == self.expected, "{what}: {again:#?}: {:#?}", names(&files(folder)));
        if self.action[0] != "--mark" {
            let copy = if self.action[0] == "--write" { &self.action[..2] } else { &[] };
            folder.ok(&[&["apply", "--check", "report.jsonl"], copy].concat());
        }
    }
}

fn survive(shim: &Shim, action: &'static [&'static str], every: bool) {
    let act = Act::new(action);
    let (mut killed, mut failed, mut turn) = (0, 0, 0);
    for class in CLASSES {
        let calls = act.count(shim, class);
        for at in 1..=calls {
            turn += 1;
            for (number, fault) in FAULTS.into_iter().enumerate() {
                // Each call has one kind of fault, or all kinds in turn.
                if !every && (turn % FAULTS.len() != number || calls > 12 && at % (calls / 12 + 1) != 0) {
                    continue;
                }
                let folder = act.begin();
                let mut command = folder.command(&act.arguments);
                shim.fail(&mut command, (class, CONCERNED), (at, at), fault);
                let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
                let what = format!("{action:?}: {fault:?} at {class} {at}: {run:#?}");
                assert!([0, 2, -1].contains(&run.status) && !run.stderr.contains("panicked"), "{what}");
                killed += usize::from(run.status == -1);
                failed += usize::from(run.status == 2);
                act.look_and_resume(&folder, &what);
            }
        }
    }
    assert!(killed > 3 && failed > 3, "{action:?}: killed {killed} times, failed {failed} times");
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

macro_rules! sampled {
    ($($name:ident: $number:literal,)*) => {
        $(
            #[test]
            fn $name() {
                let Some(shim) = Shim::get() else { return };
                survive(shim, ACTIONS[$number], false);
            }
        )*
    };
}

sampled! {
    removing_files_survives_faults: 0,
    linking_files_survives_faults: 1,
    linking_files_by_name_survives_faults: 2,
    moving_files_survives_faults: 3,
    writing_a_copy_survives_faults: 4,
    writing_a_marked_copy_survives_faults: 5,
    marking_files_survives_faults: 6,
}

#[test]
#[ignore = "long: make soak"]
fn every_act_survives_every_fault() {
    let Some(shim) = Shim::get() else { return };
    for action in ACTIONS {
        survive(shim, action, true);
    }
}

/// Another program has a file open that `apply` removes or moves. The program appends to the file at a call
/// of `apply`, before or while the file is set aside. After the file is gone, there is no call of these
/// classes on these paths.
#[test]
fn what_another_program_appends_meanwhile_stays() {
    let Some(shim) = Shim::get() else { return };
    let (taken, set_aside, survivor) = ("concerned/in/1/3.txt", "3.txt.fpdb-part", "in/0/0.txt");
    let (records, marked) = ("concerned/in/a.jsonl", "a.jsonl.fpdb-part");
    let mut left = 0;
    for (action, file, class, on) in [
        (ACTIONS[0], taken, "read", survivor),
        (ACTIONS[0], taken, "link", set_aside),
        (ACTIONS[1], taken, "read", survivor),
        (ACTIONS[1], taken, "link", set_aside),
        (ACTIONS[1], taken, "rename", set_aside),
        (ACTIONS[2], taken, "rename", set_aside),
        (ACTIONS[3], taken, "read", survivor),
        (ACTIONS[6], records, "write", marked),
        (ACTIONS[6], records, "sync", marked),
    ] {
        let act = Act::new(action);
        let folder = act.begin();
        let mut command = folder.command(&act.arguments);
        shim.count(&mut command, class, on, "calls");
        command.stdin(Stdio::null()).output().unwrap();
        let calls: usize = fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap();
        assert!(calls > 0, "{action:?}: {class} {on}");
        for at in 1..=calls {
            let folder = act.begin();
            let mut command = folder.command(&act.arguments);
            shim.fail(&mut command, (class, on), (at, at), Fault::Append);
            Shim::appends(&mut command, file);
            let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
            let what = format!("{action:?}: {class} {at} of {calls}: {run:#?}");
            let found = files(&folder).iter().any(|(_, bytes)| bytes.ends_with(b"appended\n"));
            assert!(found && [0, 2].contains(&run.status), "{what}");
            left += usize::from(run.status == 2);
        }
    }
    assert!(left > 5, "{left}");
}
