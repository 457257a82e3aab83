//! Power failures: after a kill, all written data remains, but after a power failure only synced data does.
//! So before the log of a commit is synced, the files that the commit names must be synced: its tables, their
//! names in the folder, and the list of tables. The test reads this from a trace of a run.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{INGEST, write};
use crate::support::Folder;

/// The data that is certainly on the disk, according to a trace.
#[derive(Default)]
struct Disk {
    /// The content that each path names. Links name one content twice.
    contents: HashMap<String, usize>,
    /// Contents that were written to since their last sync.
    dirty: HashSet<usize>,
    /// Names that were made since the last sync of their folder.
    loose: HashSet<String>,
    /// Tables that were passed to the store.
    handed_in: Vec<String>,
    /// Number of syncs of the store's log.
    commits: usize,
}

impl Disk {
    fn content(&mut self, path: &str) -> usize {
        let next = self.contents.len();
        *self.contents.entry(path.to_owned()).or_insert(next)
    }

    fn written(&mut self, path: &str) {
        let content = self.content(path);
        self.dirty.insert(content);
    }

    fn named(&mut self, from: &str, to: &str) {
        let content = self.content(from);
        self.contents.insert(to.to_owned(), content);
        self.loose.insert(to.to_owned());
        if to.ends_with(".sst") {
            self.handed_in.push(to.to_owned());
        }
    }

    fn synced(&mut self, path: &str) {
        let content = self.content(path);
        self.dirty.remove(&content);
        self.loose.retain(|name| Path::new(name).parent() != Some(Path::new(path)));
        if path.ends_with(".log") {
            self.commits += 1;
            self.check(path);
        }
    }

    /// Checks the disk when a commit has become durable.
    fn check(&mut self, log: &str) {
        let store = Path::new(log).parent().unwrap();
        let lists =
            self.contents.keys().filter(|path| path.contains("MANIFEST-") && path.starts_with(store.to_str().unwrap()));
        let needed: Vec<String> = lists.cloned().chain([log.to_owned()]).chain(self.handed_in.drain(..)).collect();
        for path in needed {
            let content = self.content(&path);
            assert!(!self.dirty.contains(&content), "{path} was not synced before commit {}", self.commits);
            assert!(!self.loose.contains(&path), "the name {path} was not synced before commit {}", self.commits);
        }
    }

    fn gone(&mut self, path: &str) {
        self.contents.remove(path);
        self.loose.remove(path);
        self.handed_in.retain(|table| table != path);
    }
}

/// The path in a descriptor such as `5</path>` at the beginning of a call's arguments.
fn descriptor(arguments: &str) -> Option<String> {
    let (_, rest) = arguments.split_once('<')?;
    Some(rest.split_once('>')?.0.to_owned())
}

/// The paths in quotation marks, made absolute and plain.
fn quoted(arguments: &str, folder: &Path) -> Vec<String> {
    let plain = |path: &str| folder.join(path).to_str().unwrap().replace("/./", "/");
    arguments.split('"').skip(1).step_by(2).map(plain).collect()
}

fn replay(trace: &str, folder: &Path) -> Disk {
    let mut disk = Disk::default();
    // The file that each thread is syncing.
    let mut pending: HashMap<&str, String> = HashMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            if let Some(path) = pending.remove(thread)
                && resumed.contains("= 0")
            {
                disk.synced(&path);
            }
            continue;
        }
        let Some((call, arguments)) = rest.split_once('(') else { continue };
        let paths = quoted(arguments, folder);
        match call {
            "write" | "pwrite64" | "pwritev" | "writev" | "ftruncate" => {
                if let Some(path) = descriptor(arguments) {
                    disk.written(&path);
                }
            }
            "fsync" | "fdatasync" => {
                let Some(path) = descriptor(arguments) else { continue };
                if arguments.contains("<unfinished") { drop(pending.insert(thread, path)) } else { disk.synced(&path) }
            }
            "openat" if arguments.contains("O_CREAT") && !arguments.contains("= -1") => {
                disk.loose.insert(paths[0].clone());
            }
            "link" | "rename" if !arguments.contains("= -1") => {
                disk.named(&paths[0], &paths[1]);
                if call == "rename" {
                    disk.gone(&paths[0]);
                }
            }
            "unlink" => disk.gone(&paths[0]),
            _ => {}
        }
    }
    disk
}

#[test]
fn what_a_commit_names_is_synced_before_it() {
    let folder = Folder::new();
    for number in 0..64 {
        write(&folder, &format!("{number:02}.txt"), number, 9000);
    }
    let program = folder.command(&[&["--db", "db", "-q"], &INGEST[..]].concat());
    let calls = "trace=write,pwrite64,pwritev,writev,ftruncate,fsync,fdatasync,openat,link,rename,unlink";
    let mut command = std::process::Command::new("strace");
    command.args(["-f", "-y", "-qq", "-o", "trace", "-e", calls, "--"]).arg(program.get_program());
    command.args(program.get_args()).current_dir(folder.path()).env_remove("FPDB_DB");
    if !command.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: strace is absent or may not trace (on Debian: apt-get install strace)");
        return;
    }
    let trace = std::fs::read(folder.path().join("trace")).unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let disk = replay(&String::from_utf8_lossy(&trace), &folder);
    assert!(disk.commits > 4, "{} commits", disk.commits);
}

#[test]
fn a_missing_sync_is_seen() {
    let lines = |table: &str, folder: &str| {
        format!(
            "1 write(3</d/incoming/a.sst>, ...) = 9\n{table}1 link(\"/d/incoming/a.sst\", \"/d/store/1.sst\") = 0\n{folder}\
             1 write(4</d/store/2.log>, ...) = 9\n1 fdatasync(4</d/store/2.log>) = 0\n"
        )
    };
    let (table, folder) =
        ("1 fsync(3</d/incoming/a.sst>) = 0\n", "2 fsync(5</d/store> <unfinished ...>\n2 <... fsync resumed>) = 0\n");
    assert_eq!(replay(&lines(table, folder), Path::new("/")).commits, 1);
    for (table, folder) in [("", folder), (table, "")] {
        let trace = lines(table, folder);
        assert!(std::panic::catch_unwind(|| replay(&trace, Path::new("/"))).is_err());
    }
}
