//! Loss of power: data that was not synced is gone. The shim records the synced data of each file and folder.
//! The process ends at some call, and the folders are rebuilt from the record.
//!
//! File systems keep more than they promise, and they differ in what more they keep. So the tests imitate
//! three: one keeps only synced data, one keeps all names at once, and one keeps all contents at once.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use super::apply::{ACTIONS, Act};
use super::shim::{Fault, Shim};
use super::trial::{self, COMMANDS, Trials};
use crate::oracle::Random;
use crate::support::{Folder, Run};

/// The data that a file system keeps besides synced data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeps {
    Nothing,
    Names,
    Contents,
}

const FILE_SYSTEMS: [Keeps; 3] = [Keeps::Nothing, Keeps::Names, Keeps::Contents];

/// The folder that is completely on the disk when a command begins.
const CONCERNED: &str = "concerned";

/// The synced data below the concerned folder.
pub(super) struct Disk {
    /// By the number of the inode: the bytes of a file, or the entries of a folder.
    synced: TempDir,
    root: u64,
}

/// An entry of a folder.
enum Entry {
    Folder(u64),
    File(u64),
    Link(PathBuf),
}

impl Disk {
    /// A disk on which all files of the folder are synced.
    fn new(concerned: &Path) -> Self {
        let disk = Self { synced: tempfile::tempdir().unwrap(), root: fs::metadata(concerned).unwrap().ino() };
        disk.note(concerned);
        disk
    }

    fn note(&self, folder: &Path) {
        let mut lines = String::new();
        for (name, entry) in live_entries(folder) {
            let path = folder.join(&name);
            let (kind, number, target) = match &entry {
                Entry::Folder(number) => ("folder", *number, PathBuf::new()),
                Entry::File(number) => ("file", *number, PathBuf::new()),
                Entry::Link(target) => ("link", 0, target.clone()),
            };
            lines.push_str(&format!("{kind}\t{number}\t{name}\t{}\n", target.display()));
            match entry {
                Entry::Folder(_) => self.note(&path),
                Entry::File(number) => copy(&path, &self.of(number)),
                Entry::Link(_) => {}
            }
        }
        fs::write(self.of(fs::metadata(folder).unwrap().ino()), lines).unwrap();
    }

    fn of(&self, inode: u64) -> PathBuf {
        self.synced.path().join(inode.to_string())
    }

    /// Makes a folder of the remaining data. `live` is the folder at the moment of the power failure.
    fn rebuild(&self, keeps: Keeps, live: &Path, to: &Path) {
        let mut contents = BTreeMap::new();
        if keeps == Keeps::Contents {
            for folder in [live, self.synced.path()] {
                find_files(folder, &mut contents);
            }
        }
        let mut made = BTreeMap::new();
        self.rebuild_folder(keeps, (self.root, live), to, &contents, &mut made);
    }

    fn rebuild_folder(
        &self,
        keeps: Keeps,
        (inode, live): (u64, &Path),
        to: &Path,
        contents: &BTreeMap<u64, PathBuf>,
        made: &mut BTreeMap<u64, PathBuf>,
    ) {
        fs::create_dir(to).unwrap();
        let entries = if keeps == Keeps::Names { live_entries(live) } else { self.entries(inode) };
        for (name, entry) in entries {
            let (path, live) = (to.join(&name), live.join(&name));
            match entry {
                Entry::Folder(inode) => self.rebuild_folder(keeps, (inode, &live), &path, contents, made),
                Entry::Link(target) => symlink(target, path).unwrap(),
                Entry::File(inode) => {
                    let synced = self.of(inode);
                    let from = contents.get(&inode).or_else(|| synced.exists().then_some(&synced));
                    match (made.get(&inode), from) {
                        (Some(other), _) => fs::hard_link(other, &path).unwrap(),
                        (None, Some(from)) => copy(from, &path),
                        (None, None) => fs::write(&path, "").unwrap(),
                    }
                    made.insert(inode, path);
                }
            }
        }
    }

    /// The entries of a folder that are on the disk.
    fn entries(&self, inode: u64) -> Vec<(String, Entry)> {
        let lines = fs::read_to_string(self.of(inode)).unwrap_or_default();
        let entry = |line: &str| {
            let [kind, inode, name, target] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let inode = inode.parse().unwrap();
            let entry = match kind {
                "folder" => Entry::Folder(inode),
                "file" => Entry::File(inode),
                _ => Entry::Link(target.into()),
            };
            (name.to_owned(), entry)
        };
        lines.lines().map(entry).collect()
    }
}

/// Copies a file with its time of modification, which a sync also writes to the disk.
fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    let modified = fs::metadata(from).unwrap().modified().unwrap();
    fs::File::options().write(true).open(to).unwrap().set_modified(modified).unwrap();
}

fn live_entries(folder: &Path) -> Vec<(String, Entry)> {
    let entry = |entry: fs::DirEntry| {
        let (metadata, name) = (entry.metadata().unwrap(), entry.file_name().into_string().unwrap());
        let found = match metadata.file_type() {
            kind if kind.is_dir() => Entry::Folder(metadata.ino()),
            kind if kind.is_symlink() => Entry::Link(fs::read_link(entry.path()).unwrap()),
            _ => Entry::File(metadata.ino()),
        };
        (name, found)
    };
    // A folder that no longer exists was lost with its names.
    fs::read_dir(folder).into_iter().flatten().map(|found| entry(found.unwrap())).collect()
}

fn find_files(folder: &Path, found: &mut BTreeMap<u64, PathBuf>) {
    for (name, entry) in live_entries(folder) {
        match entry {
            Entry::Folder(_) => find_files(&folder.join(name), found),
            Entry::File(inode) => drop(found.insert(inode, folder.join(name))),
            Entry::Link(_) => {}
        }
    }
}

/// Runs a command until the power fails at the n-th call of a class, or just after its end. Calls `look` with
/// the folder as each file system leaves it.
fn lose_power(
    shim: &Shim,
    folder: &Folder,
    arguments: &[&str],
    at: Option<(&str, usize, Fault)>,
    mut look: impl FnMut(&str, &Run),
) {
    let concerned = folder.path().join(CONCERNED);
    let disk = Disk::new(&concerned);
    let mut command = folder.command(arguments);
    let (class, at, fault) = at.unwrap_or(("none", usize::MAX, Fault::KillBefore));
    shim.fail(&mut command, (class, CONCERNED), (at, at), fault);
    command.env("FAULT_DISK", disk.synced.path());
    let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
    assert!([0, 2, -1].contains(&run.status), "{run:#?}");
    let left = tempfile::tempdir().unwrap();
    for keeps in FILE_SYSTEMS {
        disk.rebuild(keeps, &concerned, &left.path().join(format!("{keeps:?}")));
    }
    fs::remove_dir_all(&concerned).unwrap();
    let beside = tempfile::tempdir().unwrap();
    trial::copy(folder.path(), beside.path()).unwrap();
    for keeps in FILE_SYSTEMS {
        fs::rename(left.path().join(format!("{keeps:?}")), &concerned).unwrap();
        let what = format!("{arguments:?}: power lost at {class} {at} ({fault:?}), kept: {keeps:?}: {run:#?}");
        look(&what, &run);
        // Removes the changes of `look`, also beside the folder: an assembly removes its build.
        for path in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        trial::copy(beside.path(), folder.path()).unwrap();
    }
}

/// Classes of calls at which the power fails.
const CLASSES: [&str; 5] = ["sync", "rename", "unlink", "write", "open"];

fn a_command_survives(command: &str, every: bool) {
    let Some(shim) = Shim::get() else { return };
    let trials = Trials::new(command);
    let mut random = Random(command.len() as u64);
    let folder = trials.begin();
    lose_power(shim, &folder, &trials.arguments(), None, |what, run| {
        assert!(run.status == 0 || command == "repair", "{what}");
        trials.is_done(&folder, what);
    });
    for class in CLASSES {
        let calls = trials.count(shim, class);
        for at in (1..=calls).step_by(if every { 1 } else { calls / 3 + 1 }) {
            let fault = random.one_of(&[Fault::KillBefore, Fault::KillAfter]);
            let folder = trials.begin();
            lose_power(shim, &folder, &trials.arguments(), Some((class, at, fault)), |what, _| {
                trials.look(&folder, what);
                trials.resume(&folder, what);
            });
        }
    }
}

fn an_act_survives(action: &'static [&'static str], every: bool) {
    let Some(shim) = Shim::get() else { return };
    let act = Act::new(action);
    let mut random = Random(action.len() as u64);
    let folder = act.begin();
    lose_power(shim, &folder, &act.arguments, None, |what, run| {
        assert_eq!(run.status, 0, "{what}");
        act.look_and_resume(&folder, what);
    });
    for class in CLASSES {
        let calls = act.count(shim, class);
        for at in (1..=calls).step_by(if every { 1 } else { calls / 4 + 1 }) {
            let fault = random.one_of(&[Fault::KillBefore, Fault::KillAfter]);
            let folder = act.begin();
            lose_power(shim, &folder, &act.arguments, Some((class, at, fault)), |what, _| {
                act.look_and_resume(&folder, what);
            });
        }
    }
}

#[test]
fn a_commit_survives_a_loss_of_power() {
    for command in ["ingest", "replace", "rm", "compact", "merge", "assemble", "assemble more"] {
        a_command_survives(command, false);
    }
}

#[test]
fn a_copy_or_a_repair_survives_a_loss_of_power() {
    for command in ["backup", "restore", "repair", "rebuild"] {
        a_command_survives(command, false);
    }
}

#[test]
fn no_act_on_files_loses_a_text_with_the_power() {
    for action in ACTIONS {
        an_act_survives(action, false);
    }
}

#[test]
#[ignore = "long: make soak"]
fn nothing_is_lost_with_the_power_at_any_call() {
    COMMANDS.into_iter().for_each(|command| a_command_survives(command, true));
    ACTIONS.into_iter().for_each(|action| an_act_survives(action, true));
}
