//! Log: a file with a line of JSON for each act on a file. Each act is recorded before it begins and after it
//! has ended.
//!
//! The log of a copy lies beside its folder, since later reports of the same kind bring the same copy up to
//! date. The log of other actions lies beside the report.
//!
//! A file under way has a hidden name beside its place: `.NAME.fpdb-part-` and 16 hexadecimal digits. The
//! digits are a hash of its path and of a random key at the start of the log. No other program can know these
//! names, and the log lists each before it is used. The next run with the same log removes an unfinished
//! file, and puts back a file that was set aside. It touches only names that the log lists.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::answer::Act;
use super::files::{self, Facts};
pub(super) use super::log_lines::NotedAct;
use super::log_lines::{KEY_SCHEMA, KeyLine, LogLine, SCHEMA};
use super::options::ApplyOptions;
use super::plan::SourceFile;
use super::report::ParsedReport;
use fpdb_host::bounded;
use fpdb_host::durable::{create_folders, sync_name};
use fpdb_host::error::{Error, Result};
use fpdb_host::job_lock::lock_job;
use fpdb_reading::input::{UNDER_WAY, is_under_way, resolved};

/// The log of one kind of action, on one report or into one folder.
pub(super) struct Log {
    path: PathBuf,
    /// `None` in a dry run, which writes nothing.
    file: Option<File>,
    digest: String,
    /// The random key for hidden names; `None` in a dry run without a log.
    key: Option<u64>,
    /// The acts of earlier runs and of this one, by the hash of the path that the act concerns.
    acts: FxHashMap<u64, Noted>,
    /// Acts that began and did not end, of this report or another, by the same hash.
    unfinished: FxHashMap<u64, LogLine>,
    /// True if the log has acts of another job, such as a copy by another kind of report.
    pub(super) has_others: bool,
    /// Files whose content is still set aside, by the hash of their paths, and why.
    aside: FxHashMap<u64, String>,
}

/// The facts that the log has about a path.
#[derive(Clone, Copy)]
struct Noted {
    /// A digest of everything that decides the content.
    decision: u64,
    bytes: u64,
    /// The time of the file, in nanoseconds since 1970. `None` until its content is complete.
    modified: Option<u64>,
    ended: bool,
    /// Size and time of the file that an earlier act wrote. Until this act ends, that file may still be in
    /// its place.
    earlier: Option<(u64, Option<u64>)>,
}

impl Noted {
    /// Size and time of the file that this act wrote, once its content is complete.
    fn written(&self) -> Option<(u64, Option<u64>)> {
        (self.ended || self.modified.is_some()).then_some((self.bytes, self.modified))
    }
}

/// Maximum bytes of a file name.
const MOST_OF_NAME: usize = 255;

/// The role of a hidden name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Part = 1,
    Aside = 2,
}

/// A hash of a path.
pub(super) fn key_of(path: &Path) -> u64 {
    xxh3_64(path.display().to_string().as_bytes())
}

fn nanoseconds(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_nanos()).ok())
}

/// The path of the log beside the folder of a copy or beside a report.
fn path_beside(beside: PathBuf, verb: &str) -> PathBuf {
    let mut name = beside.into_os_string();
    name.push(format!(".{verb}.log"));
    PathBuf::from(name)
}

/// True if earlier runs have copied files of this database to a folder. `database` is its identity.
///
/// # Errors
/// If a log cannot be read.
pub fn is_copy(folder: &Path, database: &str) -> Result<bool> {
    let folder = resolved(folder);
    for verb in ["write", "cut"] {
        let (mut is_of_database, mut has_copies) = (false, false);
        for_each_line(&path_beside(folder.clone(), verb), &mut |line| {
            if is_of_database && has_copies {
                // The rest of a long log need not be parsed.
            } else if let Ok(line) = serde_json::from_slice::<LogLine>(line) {
                has_copies |= line.done;
            } else if let Ok(line) = serde_json::from_slice::<KeyLine>(line) {
                is_of_database |= line.database == database;
            }
        })?;
        if is_of_database && has_copies {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Log {
    /// Opens the log, and reads the records of earlier runs. Unless this is a dry run, it then finishes the
    /// acts of a killed run. `database` is the identity of the database, and `kind` that of the report.
    ///
    /// # Errors
    /// [`Error::JobInUse`] if another run has the log open; [`Error::Io`].
    pub(super) fn open(report: &ParsedReport<'_>, database: &str, kind: &str, options: &ApplyOptions) -> Result<Self> {
        let (beside, of) = match options.action.copies_to() {
            Some(folder) => (folder.to_owned(), format!("{database} {kind}")),
            None => (report.path.clone(), format!("{:016x}", report.digest)),
        };
        let path = path_beside(beside, options.verb());
        // Another field to mark, or another kind of link, is a different job.
        let digest = format!("{:016x}", xxh3_64(format!("{of} {}", options.action_line()).as_bytes()));
        let file = if options.act {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                create_folders(folder)?;
            }
            let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
            let file = opened.map_err(|error| match options.action.copies_to() {
                // The folder can be a link to the root of a disk, beside which the user may not write.
                Some(folder) => {
                    let told = format!("{error}; the log lies beside the folder: name one within {}", folder.display());
                    Error::io("write", &path)(io::Error::new(error.kind(), told))
                }
                None => Error::io("write", &path)(error),
            })?;
            lock_job(&file, &path)?;
            Some(file)
        } else {
            None
        };
        let mut log = Self {
            path,
            file,
            digest,
            key: None,
            acts: FxHashMap::default(),
            unfinished: FxHashMap::default(),
            has_others: false,
            aside: FxHashMap::default(),
        };
        log.read()?;
        if log.key.is_none() && log.file.is_some() {
            log.begin_with_key(database)?;
        }
        log.finish_earlier()?;
        Ok(log)
    }

    fn read(&mut self) -> Result<()> {
        let mut torn = false;
        for_each_line(&self.path.clone(), &mut |line| {
            torn = false;
            if let Ok(line) = serde_json::from_slice::<LogLine>(line) {
                self.remember(line);
            } else if let Ok(KeyLine { key, .. }) = serde_json::from_slice(line)
                && let Ok(key) = u64::from_str_radix(&key, 16)
            {
                self.key.get_or_insert(key);
            } else {
                // A kill can leave half a line.
                torn = true;
            }
        })?;
        if torn {
            self.append(b"\n")?;
        }
        Ok(())
    }

    /// The existing copies that earlier runs made at paths whose hashes are not in `places`, and the line of
    /// the act that made each.
    pub(super) fn elsewhere(&self, places: &FxHashSet<u64>) -> Result<Vec<(PathBuf, LogLine)>> {
        let is_elsewhere =
            |key: u64, noted: &Noted| (noted.modified.is_some() || noted.earlier.is_some()) && !places.contains(&key);
        let keys: FxHashSet<u64> =
            self.acts.iter().filter(|(key, noted)| is_elsewhere(**key, noted)).map(|(key, _)| *key).collect();
        let mut found = BTreeMap::new();
        if !keys.is_empty() {
            for_each_line(&self.path, &mut |line| {
                if let Ok(line) = serde_json::from_slice::<LogLine>(line)
                    && line.report == self.digest
                    && line.act != Act::Omit
                    && let Some(target) = line.target.as_deref().map(PathBuf::from)
                    && keys.contains(&key_of(&target))
                {
                    found.insert(target, line);
                }
            })?;
        }
        found.retain(|target, _| target.symlink_metadata().is_ok());
        Ok(found.into_iter().collect())
    }

    fn remember(&mut self, line: LogLine) {
        let about = key_of(line.about());
        if line.report == self.digest {
            let decision = u64::from_str_radix(&line.decision, 16).unwrap_or_default();
            self.keep(about, decision, &line);
        }
        self.has_others |= line.report != self.digest;
        if line.done {
            self.unfinished.remove(&about);
        } else if line.part.is_some() || line.aside.is_some() {
            self.unfinished.insert(about, line);
        }
    }

    /// Keeps the facts of a line of this report.
    fn keep(&mut self, about: u64, decision: u64, line: &LogLine) {
        let earlier = self.acts.get(&about).filter(|_| !line.done).and_then(|noted| {
            // The file of the last act may never have reached its place.
            let is_here = |written: &(u64, Option<u64>)| is_as(line.about(), *written);
            noted.earlier.filter(is_here).or(noted.written()).or(noted.earlier)
        });
        let noted = Noted { decision, bytes: line.bytes, modified: line.modified, ended: line.done, earlier };
        self.acts.insert(about, noted);
    }

    /// Writes the random key, so that no other program can predict the hidden names. The key is synced to
    /// disk before the first hidden name is used. So the next run finds hidden files even if a power failure
    /// loses later lines.
    fn begin_with_key(&mut self, database: &str) -> Result<()> {
        let key = RandomState::new().hash_one(std::process::id());
        let line = KeyLine { schema: KEY_SCHEMA.into(), key: format!("{key:016x}"), database: database.to_owned() };
        let mut text = serde_json::to_vec(&line).map_err(|error| Error::io("write", &self.path)(error.into()))?;
        text.push(b'\n');
        self.append(&text)?;
        self.sync()?;
        self.key = Some(key);
        sync_name(&self.path)
    }

    /// Syncs the log to disk.
    pub(super) fn sync(&self) -> Result<()> {
        match &self.file {
            Some(file) => file.sync_data().map_err(Error::io("write", &self.path)),
            None => Ok(()),
        }
    }

    /// The hidden name beside a path for its new content.
    pub(super) fn part_of(&self, path: &Path) -> PathBuf {
        self.hidden(path, Role::Part)
    }

    /// The hidden name beside a path under which its file is set aside until the act has ended.
    pub(super) fn aside_of(&self, path: &Path) -> PathBuf {
        self.hidden(path, Role::Aside)
    }

    fn hidden(&self, path: &Path, role: Role) -> PathBuf {
        let seed = self.key.unwrap_or_default().wrapping_add(role as u64);
        let hash = xxh3_64_with_seed(path.as_os_str().as_encoded_bytes(), seed);
        let end = format!("{UNDER_WAY}{hash:016x}");
        let name = path.file_name().unwrap_or_default();
        let mut hidden = std::ffi::OsString::from(".");
        // If the name would be too long, the hash alone identifies the file.
        if name.len() + end.len() < MOST_OF_NAME {
            hidden.push(name);
        }
        hidden.push(end);
        path.with_file_name(hidden)
    }

    /// Removes the unfinished files of killed runs, and puts back the files they set aside.
    fn finish_earlier(&mut self) -> Result<()> {
        for line in std::mem::take(&mut self.unfinished).into_values() {
            // Another user can have written the log. So only hidden names of unfinished files are accepted.
            let hidden = line.part.iter().chain(&line.aside);
            if hidden.into_iter().any(|path| !is_under_way(Path::new(path))) {
                let what = format!("the log {}", self.path.display());
                return Err(Error::Damaged { what, detail: "it names an unfinished file that `apply` never makes" });
            }
            let source = Path::new(&line.source);
            if let Some(part) = line.part.as_deref().map(Path::new)
                && self.file.is_some()
                && let Err(error) = files::remove_lost_part(part)
            {
                self.aside.insert(key_of(source), error.chain());
            }
            if let Some(aside) = line.aside.as_deref().map(Path::new) {
                let link_to = line.target.as_deref().filter(|_| line.act == Act::Link);
                self.put_back(aside, source, link_to.map(Path::new));
            }
        }
        Ok(())
    }

    /// Puts back a missing file that a killed run set aside, even if no line of the log names it: a power
    /// failure can lose that line.
    pub(super) fn put_back_lost(&mut self, path: &Path) {
        if self.key.is_some() && path.symlink_metadata().is_err() {
            self.put_back(&self.aside_of(path), path, None);
        }
    }

    /// Puts a file back, or notes why it is still set aside.
    fn put_back(&mut self, aside: &Path, path: &Path, link_to: Option<&Path>) {
        if let Some(reason) = self.why_aside(aside, path, link_to).unwrap_or_else(|error| Some(error.chain())) {
            self.aside.insert(key_of(path), reason);
        }
    }

    /// Puts a file back. If its place holds anything except the act's link, returns the reason why the file
    /// stays aside.
    fn why_aside(&self, aside: &Path, path: &Path, link_to: Option<&Path>) -> Result<Option<String>> {
        let kept = match aside.symlink_metadata() {
            Ok(kept) => kept,
            Err(error) if files::is_missing(&error) => return Ok(None),
            Err(error) => return Err(Error::io("find", aside)(error)),
        };
        let reason = format!("a run was interrupted: its content is in {}", aside.display());
        if self.file.is_none() {
            return Ok(Some(format!("{reason} until the same command runs with --yes")));
        }
        let is_link = |found: &fs::Metadata| {
            let survivor = link_to.and_then(|survivor| survivor.metadata().ok());
            found.is_symlink() || survivor.is_some_and(|survivor| is_one_file(found, &survivor))
        };
        match path.symlink_metadata() {
            Ok(found) if is_one_file(&found, &kept) => fs::remove_file(aside).map_err(Error::io("remove", aside))?,
            Ok(found) if link_to.is_some() && is_link(&found) => {
                files::put_back(aside, path).map_err(Error::io("put back", path))?;
            }
            Ok(_) => return Ok(Some(format!("{reason}, and another file is in its place"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::rename_new(aside, path).map_err(Error::io("put back", path))?;
            }
            Err(error) => return Err(Error::io("find", path)(error)),
        }
        Ok(None)
    }

    /// The reason why a file is still set aside: a killed run has set it aside, and putting it back failed.
    /// `None` if the file is not set aside.
    pub(super) fn aside(&self, path: &Path) -> Option<&str> {
        self.aside.get(&key_of(path)).map(String::as_str)
    }

    /// Number of files that earlier runs have taken and that are still gone. Files in `sources` do not count.
    pub(super) fn taken_without(&self, sources: &[SourceFile]) -> Result<u64> {
        let stored: FxHashSet<u64> = sources.iter().map(|source| key_of(Path::new(&source.path))).collect();
        let is_taken = |key: u64| self.acts.get(&key).is_some_and(|noted| noted.ended) && !stored.contains(&key);
        let mut taken = FxHashSet::default();
        for_each_line(&self.path, &mut |line| {
            if let Ok(LogLine { report, source, .. }) = serde_json::from_slice(line)
                && report == self.digest
                && is_taken(key_of(Path::new(&source)))
                && Path::new(&source).symlink_metadata().is_err()
            {
                taken.insert(key_of(Path::new(&source)));
            }
        })?;
        Ok(taken.len() as u64)
    }

    /// True if an earlier run has begun an act on the file at a path.
    pub(super) fn begun(&self, path: &Path) -> bool {
        self.acts.contains_key(&key_of(path))
    }

    /// True if an act of this job has written the file at a path, even if the file has changed since.
    pub(super) fn has_written(&self, path: &Path) -> bool {
        self.acts.get(&key_of(path)).is_some_and(|noted| noted.written().or(noted.earlier).is_some())
    }

    /// True if an act, ended or not, has written the file at a path, and the file has not changed since.
    pub(super) fn owns(&self, path: &Path) -> bool {
        let noted = self.acts.get(&key_of(path)).copied();
        noted.is_some_and(|noted| {
            [noted.written(), noted.earlier].into_iter().flatten().any(|written| is_as(path, written))
        })
    }

    /// The size of the file at a path, if an earlier run has written it by the same decision and the file has
    /// not changed since. If `begun` is true, an act that was only recorded as begun counts too. Set `begun`
    /// only for files whose content is complete before that record.
    pub(super) fn stands(&self, path: &Path, decision: u64, begun: bool) -> Option<u64> {
        let noted = self.acts.get(&key_of(path))?;
        let is_same =
            noted.decision == decision && (noted.ended || begun) && is_as(path, (noted.bytes, noted.modified));
        is_same.then_some(noted.bytes)
    }

    /// Records that an act begins.
    pub(super) fn begin(&mut self, act: &NotedAct<'_>) -> Result<()> {
        self.note(act, false)
    }

    /// Records that an act has ended.
    pub(super) fn end(&mut self, act: &NotedAct<'_>) -> Result<()> {
        self.note(act, true)
    }

    fn note(&mut self, act: &NotedAct<'_>, done: bool) -> Result<()> {
        let shown = |path: &Path| path.display().to_string();
        let line = LogLine {
            schema: SCHEMA.into(),
            report: self.digest.clone(),
            act: act.act,
            source: shown(act.source),
            target: act.target.map(shown),
            bytes: act.bytes,
            done,
            decision: format!("{:016x}", act.decision),
            modified: act.modified.and_then(nanoseconds),
            part: act.part.filter(|_| !done).map(shown),
            aside: act.aside.filter(|_| !done).map(shown),
            text_field: act.text_field.map(str::to_owned),
        };
        self.keep(key_of(line.about()), act.decision, &line);
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

/// Visits the lines of a log, if there is one.
fn for_each_line(path: &Path, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
    let log = match File::open(path) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    let (mut log, mut line) = (BufReader::new(log), Vec::new());
    while bounded::read_line(&mut log, &mut line).map_err(Error::io("read", path))? {
        visit(&line);
    }
    Ok(())
}

/// True if a file has the recorded size and time.
fn is_as(path: &Path, (bytes, modified): (u64, Option<u64>)) -> bool {
    Facts::of(path).is_ok_and(|facts| {
        let time = facts.modified.and_then(nanoseconds);
        facts.bytes == bytes && modified.is_none_or(|modified| time == Some(modified))
    })
}

fn is_one_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
