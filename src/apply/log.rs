//! Log: what has been done, a line of JSON for each act, beside the report. An act is noted before and after.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::answer::Act;
use super::options::ApplyOptions;
use super::report::ParsedReport;
use crate::error::{Error, Result};

/// The log of one report and one kind of action.
pub(super) struct Log {
    path: PathBuf,
    /// `None` in a dry run where there is no log yet, or none to be written.
    file: Option<File>,
    digest: String,
    /// By the hash of the path that an act is about: the bytes it has afterwards, and whether it has ended.
    acts: FxHashMap<u64, (u64, bool)>,
}

#[derive(Serialize, Deserialize)]
struct LogLine {
    schema: String,
    /// A digest of the report and of the action.
    report: String,
    act: Act,
    source: String,
    target: Option<String>,
    bytes: u64,
    done: bool,
}

const SCHEMA: &str = "fpdb.act/1";

fn key(path: &Path) -> u64 {
    xxh3_64(path.display().to_string().as_bytes())
}

impl Log {
    /// Opens the log beside a report, and reads what earlier runs have noted of it.
    pub(super) fn open(report: &ParsedReport<'_>, options: &ApplyOptions) -> Result<Self> {
        let mut name = report.path.clone().into_os_string();
        name.push(format!(".{}.log", options.verb()));
        let path = PathBuf::from(name);
        // Another field to mark or another kind of link is other work.
        let digest =
            format!("{:016x}", xxh3_64(format!("{:016x} {}", report.digest, options.action_line()).as_bytes()));
        let file = if options.act {
            let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
            let file = opened.map_err(Error::io("write", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(Error::JobInUse { path }),
                Err(TryLockError::Error(source)) => return Err(Error::Io { action: "lock", path, source }),
            }
            Some(file)
        } else {
            None
        };
        let mut acts = FxHashMap::default();
        let mut torn = false;
        match File::open(&path) {
            Ok(earlier) => {
                for line in BufReader::new(earlier).split(b'\n') {
                    let line = line.map_err(Error::io("read", &path))?;
                    // A kill may have left half a line.
                    let Ok(line) = serde_json::from_slice::<LogLine>(&line) else {
                        torn = true;
                        continue;
                    };
                    torn = false;
                    if line.report == digest {
                        let target = line.target.as_deref().map(Path::new);
                        acts.insert(key(about(line.act, Path::new(&line.source), target)), (line.bytes, line.done));
                    }
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", &path)(error)),
        }
        let mut log = Self { path, file, digest, acts };
        if torn {
            log.append(b"\n")?;
        }
        Ok(log)
    }

    /// The bytes of the file at a path, if an earlier run has ended its work on it.
    pub(super) fn done(&self, path: &Path) -> Option<u64> {
        self.acts.get(&key(path)).filter(|(_, done)| *done).map(|&(bytes, _)| bytes)
    }

    /// True if an earlier run has begun to work on the file at a path.
    pub(super) fn begun(&self, path: &Path) -> bool {
        self.acts.contains_key(&key(path))
    }

    /// The bytes that the file at a path has once the work that an earlier run has begun is done.
    pub(super) fn begun_bytes(&self, path: &Path) -> Option<u64> {
        self.acts.get(&key(path)).map(|&(bytes, _)| bytes)
    }

    /// Notes that an act begins.
    pub(super) fn begin(&mut self, act: Act, source: &Path, target: Option<&Path>, bytes: u64) -> Result<()> {
        self.note(act, source, target, bytes, false)
    }

    /// Notes that an act has ended.
    pub(super) fn end(&mut self, act: Act, source: &Path, target: Option<&Path>, bytes: u64) -> Result<()> {
        self.note(act, source, target, bytes, true)
    }

    fn note(&mut self, act: Act, source: &Path, target: Option<&Path>, bytes: u64, done: bool) -> Result<()> {
        let line = LogLine {
            schema: SCHEMA.into(),
            report: self.digest.clone(),
            act,
            source: source.display().to_string(),
            target: target.map(|target| target.display().to_string()),
            bytes,
            done,
        };
        self.acts.insert(key(about(act, source, target)), (bytes, done));
        let mut text = serde_json::to_vec(&line).map_err(|error| Error::io("write", &self.path)(error.into()))?;
        text.push(b'\n');
        self.append(&text)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes).map_err(Error::io("write", &self.path)),
            None => Ok(()),
        }
    }
}

/// The file that an act is about: the one that it makes, or the one that it takes.
fn about<'a>(act: Act, source: &'a Path, target: Option<&'a Path>) -> &'a Path {
    target.filter(|_| matches!(act, Act::Copy | Act::Write | Act::Cut | Act::Mark)).unwrap_or(source)
}
