//! Backup and restore: copies of the committed state. A backup shares unchanged tables with the backups
//! before it, so it takes space only for new tables.
//!
//! A folder holds the backups of one database. The file `FPDB-BACKUP` has two lines: `fpdb backup, format 1`,
//! and `of ` with the identity and the path of the database. The engine keeps its files in `engine/`. When
//! backup NUMBER is made, `decisions/NUMBER` gets the record of a dedup's decisions, if there is one.
//! `documents/NUMBER` gets the number of documents, in decimal digits. `kept-out/NUMBER` gets the
//! digests of the contents that are kept out, in hexadecimal digits, one a line, if there are any.
//!
//! RocksDB compares checksums while it copies, and only sizes later. So `fpdb backup` reads every file that
//! the backups in the folder need ([`backup_files`](super::backup_files)). A damaged file is copied again if
//! the database still has that table. Otherwise it stays as it is. RocksDB does not list a backup that
//! lacks a file, and cannot remove it, so both are done here.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::care::backup_files::{BackupFiles, checksum_of, keep_only, made_at, numbers};
use crate::codec::format::{DECISIONS, FAMILIES, FORMAT_VERSION, STORE};
use crate::engine::copies::{Copies, Copy};
use crate::open::create::make_whole;
use crate::open::files::{read_short, replace_file};
use crate::open::making::is_empty_folder;
use crate::{Store, StoreOptions};
use fpdb_host::durable::create_folders;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_host::schema::{Answer, Schema};
use fpdb_kernel::document::Digest;
use fpdb_kernel::hex;

const MARKER: &str = "FPDB-BACKUP";
const ENGINE: &str = "engine";
/// The folder of the records of decisions. The name of a file is the number of its backup.
const RECORDS: &str = "decisions";
/// The folder of the counts of documents. The name of a file is the number of its backup. After the count
/// comes the CRC-32C of the record of decisions, if there is one.
const COUNTS: &str = "documents";
/// The folder of the lists of contents that are kept out. The name of a file is the number of its backup.
const KEPT_OUT: &str = "kept-out";

/// A new backup. Also its JSON (`fpdb.backup/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Backup {
    pub(crate) schema: Schema<Self>,
    /// The folder of backups, as it was given.
    pub folder: String,
    /// Its number in the folder, from 1.
    pub number: u32,
    /// Its size in bytes, including files that it shares with other backups.
    pub bytes: u64,
    /// Number of backups in the folder.
    pub kept: u64,
    /// Damaged files of earlier backups that were copied again.
    pub mended: u64,
    /// Earlier backups that are damaged and cannot be restored.
    pub damaged: Vec<u32>,
}

impl Answer for Backup {
    const SCHEMA: &'static str = "fpdb.backup/1";
}

/// A backup in a folder. Also its JSON (`fpdb.backup.listed/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListedBackup {
    pub(crate) schema: Schema<Self>,
    /// Its number in the folder, from 1.
    pub number: u32,
    /// When it was made, in seconds since 1970. 0 if a damaged backup does not tell.
    pub made_at: i64,
    /// Number of documents in it. `None` if an earlier version of fpdb made it.
    pub documents: Option<u64>,
    /// Its size in bytes, including files that it shares with other backups.
    pub bytes: u64,
    /// A damaged or missing file that it needs. `None` if it is whole, or if its files are there and
    /// were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

impl Answer for ListedBackup {
    const SCHEMA: &'static str = "fpdb.backup.listed/1";
}

/// The backups in `folder`, oldest first, including damaged ones. Only the files of a backup that lacks one
/// are read.
///
/// # Errors
/// [`Error::NotABackup`]; [`Error::FormatVersion`]; an error of reading the folder.
pub fn backups(folder: &Path) -> Result<Vec<ListedBackup>> {
    if owner(folder)?.is_none() {
        return Err(Error::NotABackup { path: folder.to_owned() });
    }
    let engine = folder.join(ENGINE);
    // First the numbers: another process may add a backup meanwhile.
    let numbers = numbers(&engine)?;
    let copies = Copies::open(&engine)?.list().into_iter();
    let mut backups = copies.map(|copy| listed(folder, copy, None)).collect::<Result<Vec<_>>>()?;
    let mut files = BackupFiles::new(engine.clone());
    for number in numbers {
        if let Err(place) = backups.binary_search_by_key(&number, |backup| backup.number) {
            let damaged = files.check(number)?.unwrap_or_else(|| format!("meta/{number}"));
            let copy = Copy { number, bytes: 0, made_at: made_at(&engine, number)?.unwrap_or(0) };
            backups.insert(place, listed(folder, copy, Some(damaged))?);
        }
    }
    Ok(backups)
}

/// The digests of the contents that are kept out by backups in `folder` that are newer than the backup
/// `number`, or by the database that they are copies of, if it is there. Ascending. Backups of earlier
/// versions of fpdb do not tell.
///
/// # Errors
/// As [`backups`].
pub fn kept_out_since(folder: &Path, number: u32) -> Result<Vec<Digest>> {
    let Some(owner) = owner(folder)? else { return Err(Error::NotABackup { path: folder.to_owned() }) };
    let mut digests = BTreeSet::new();
    for newer in numbers(&folder.join(ENGINE))?.into_iter().filter(|&newer| newer > number) {
        let path = folder.join(KEPT_OUT).join(newer.to_string());
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            list => {
                let list = list.map_err(Error::io("read", &path))?;
                let digest = |line: &str| Digest::try_from(hex::decode(line)?).ok();
                digests.extend(String::from_utf8_lossy(&list).lines().filter_map(digest));
            }
        }
    }
    if let Owner::Database { identity, path } = owner
        && let Ok(store) = Store::open_reader(&path, &StoreOptions::default())
        && store.identity()? == identity
    {
        digests.extend(store.kept_out()?.into_iter().map(|(digest, _)| digest));
    }
    Ok(digests.into_iter().collect())
}

/// The number of documents in a backup, and the checksum of its decisions; `None` if unknown.
fn counted(folder: &Path, number: u32) -> Result<(Option<u64>, Option<u32>)> {
    let path = folder.join(COUNTS).join(number.to_string());
    match read_short(&path) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text);
            let mut words = text.split_whitespace();
            Ok((words.next().and_then(|word| word.parse().ok()), words.next().and_then(|word| word.parse().ok())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((None, None)),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// Returns the name of a backup's record of decisions, if the record is missing or its checksum is wrong.
fn damaged_decisions(folder: &Path, number: u32) -> Result<Option<String>> {
    let (_, Some(checksum)) = counted(folder, number)? else { return Ok(None) };
    let path = folder.join(RECORDS).join(number.to_string());
    let is_whole = checksum_of(&path).map_err(Error::io("read", &path))? == Some(checksum);
    Ok((!is_whole).then(|| format!("{RECORDS}/{number}")))
}

fn listed(folder: &Path, copy: Copy, damaged: Option<String>) -> Result<ListedBackup> {
    let (documents, _) = counted(folder, copy.number)?;
    let Copy { number, bytes, made_at } = copy;
    Ok(ListedBackup { schema: Schema::new(), number, made_at, documents, bytes, damaged })
}

/// Compares each file that the backups in `folder` need with its checksum. Returns the backups, oldest first.
///
/// # Errors
/// As [`backups`]; [`Error::Stopped`].
pub fn verify_backups(folder: &Path, task: &Task<'_>) -> Result<Vec<ListedBackup>> {
    let mut backups = backups(folder)?;
    let (mut files, all) = (BackupFiles::new(folder.join(ENGINE)), backups.len() as u64);
    for (done, backup) in (0..).zip(&mut backups) {
        task.step("backups checked", done, all)?;
        if backup.damaged.is_none() {
            backup.damaged = match files.check(backup.number)? {
                None => damaged_decisions(folder, backup.number)?,
                damaged => damaged,
            };
        }
    }
    Ok(backups)
}

fn marker() -> String {
    format!("fpdb backup, format {FORMAT_VERSION}\n")
}

impl Store {
    /// Copies the database into `folder`, and keeps at most `keep` backups there. First reads all rows,
    /// because a copy of a damaged database would have right checksums. Compares each file that a backup
    /// needs with its checksum. With `quick` it reads no rows, and compares only sizes.
    pub fn backup(&self, folder: &Path, keep: Option<usize>, quick: bool, task: &Task<'_>) -> Result<Backup> {
        if !quick {
            self.read_through(task)?;
        }
        self.claim(folder)?;
        // The engine syncs the files in its folder, but not the name of the folder.
        create_folders(&folder.join(ENGINE))?;
        let engine = folder.join(ENGINE);
        let mut files = BackupFiles::new(engine.clone());
        let mut mended = 0;
        if !quick {
            let earlier = numbers(&engine)?;
            for (done, &number) in (0..).zip(&earlier) {
                task.step("earlier backups checked", done, earlier.len() as u64)?;
                files.check(number)?;
            }
            mended = files.mend_shared(&self.root.join(STORE))?;
        }
        let mut copies = Copies::open(&engine)?;
        // The engine does not report its progress.
        task.step("copying the database", 0, 0)?;
        copies.add(&self.engine)?;
        let newest = copies.list().last().map(|newest| (newest.number, newest.bytes));
        let (number, bytes) = newest.ok_or_else(|| Error::NotABackup { path: folder.to_owned() })?;
        copies.verify(number)?;
        drop(copies);
        let (records, counts, lists) = (folder.join(RECORDS), folder.join(COUNTS), folder.join(KEPT_OUT));
        let record = records.join(number.to_string());
        let decisions = self.back_up_decisions(&record)?;
        let checksum = if decisions > 0 { checksum_of(&record).map_err(Error::io("read", &record))? } else { None };
        create_folders(&counts)?;
        let documents = self.view().state().documents;
        let facts = checksum.map_or_else(|| documents.to_string(), |checksum| format!("{documents} {checksum}"));
        replace_file(&counts.join(number.to_string()), facts.as_bytes())?;
        self.back_up_kept_out(&lists, number)?;
        let mut numbers = numbers(&engine)?;
        let mut damaged = Vec::new();
        if !quick {
            files.forget_damaged();
            for (done, &checked) in (0..).zip(&numbers) {
                task.reports().step("backups checked", done, numbers.len() as u64);
                if let Some(file) = files.check(checked)? {
                    if checked == number {
                        return Err(Error::DamagedBackup { number, file, others: Vec::new() });
                    }
                    damaged.push(checked);
                }
            }
        }
        // Earlier backups are removed only after the new backup was checked.
        if let Some(keep) = keep {
            let mut surplus = numbers.len().saturating_sub(keep.max(1));
            // A damaged backup must not take the place of a whole one.
            for is_damaged in [true, false] {
                numbers.retain(|number| {
                    let goes = surplus > 0 && damaged.contains(number) == is_damaged;
                    surplus -= usize::from(goes);
                    !goes
                });
            }
            keep_only(&engine, &numbers)?;
        }
        damaged.retain(|number| numbers.contains(number));
        for folder in [&records, &counts, &lists] {
            forget_others(folder, &numbers)?;
        }
        Ok(Backup {
            schema: Schema::new(),
            folder: folder.display().to_string(),
            number,
            bytes: bytes + decisions,
            kept: numbers.len() as u64,
            mended: mended as u64,
            damaged,
        })
    }

    /// Reads all rows, so that the engine compares the checksum of each block.
    fn read_through(&self, task: &Task<'_>) -> Result<()> {
        let mut read = 0;
        for family in FAMILIES {
            for row in self.engine.scanned_entries(family, &[], "read the database before its backup")? {
                row?;
                if is_due(read) {
                    // The number of rows is not known.
                    task.step("rows read", read, 0)?;
                }
                read += 1;
            }
        }
        Ok(())
    }

    /// Creates a database at `root`, which must not exist, from the backup `number` in `folder`, or from the
    /// newest. Compares each file with its checksum while copying.
    pub fn restore(root: &Path, folder: &Path, number: Option<u32>, options: &StoreOptions) -> Result<Self> {
        if owner(folder)?.is_none() {
            return Err(Error::NotABackup { path: folder.to_owned() });
        }
        make_whole(root, |inside| {
            let store = inside.join(STORE);
            let mut copies = Copies::open(&folder.join(ENGINE))?;
            let whole: Vec<u32> = copies.list().iter().map(|backup| backup.number).collect();
            // The engine does not list backups that lack a file.
            let all = numbers(&folder.join(ENGINE))?;
            let wanted = number.or(whole.last().copied()).filter(|number| all.contains(number));
            let Some(wanted) = wanted else {
                return Err(Error::NoSuchBackup { path: folder.to_owned(), number, numbers: whole });
            };
            if let Err(error) = copies.restore(wanted, &store) {
                // If this backup is damaged, the error names the other backups.
                let mut files = BackupFiles::new(folder.join(ENGINE));
                return Err(match files.check(wanted)? {
                    Some(file) => {
                        let others = whole.into_iter().filter(|&number| number != wanted).collect();
                        Error::DamagedBackup { number: wanted, file, others }
                    }
                    None => error,
                });
            }
            match fs::copy(folder.join(RECORDS).join(wanted.to_string()), inside.join(DECISIONS)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => copied
                    .and_then(|_| File::open(inside.join(DECISIONS))?.sync_all())
                    .map_err(Error::io("copy from the backup", folder))?,
            }
            Ok(*Self::open_unlocked(inside, options)?.profile())
        })?;
        Self::open_writer(root, options)
    }

    /// Writes which contents are kept out, if any are, into the folder `lists`.
    fn back_up_kept_out(&self, lists: &Path, number: u32) -> Result<()> {
        let mut list = String::new();
        for (digest, _) in self.kept_out()? {
            list.push_str(&hex::encode(&digest));
            list.push('\n');
        }
        if list.is_empty() {
            return Ok(());
        }
        create_folders(lists)?;
        replace_file(&lists.join(number.to_string()), list.as_bytes())
    }

    /// Copies the record of decisions, if there is one, to the file `to`. Returns the size of the copy.
    fn back_up_decisions(&self, to: &Path) -> Result<u64> {
        let from = self.root.join(DECISIONS);
        let mut record = match File::open(&from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            file => file.map_err(Error::io("read", &from))?,
        };
        let records = to.parent().unwrap_or(Path::new("."));
        create_folders(records)?;
        let mut copy = || {
            let mut file = tempfile::NamedTempFile::new_in(records)?;
            let bytes = io::copy(&mut record, &mut file)?;
            file.as_file().sync_all()?;
            file.persist(to).map_err(|error| error.error)?;
            File::open(records)?.sync_all()?;
            Ok(bytes)
        };
        copy().map_err(Error::io("write", to))
    }

    /// Marks `folder` as the folder of backups of this database. Fails if the folder holds backups of another
    /// database: the engine would count the backups of both together, and keep only the newest.
    fn claim(&self, folder: &Path) -> Result<()> {
        let identity = self.identity()?;
        let path = self.root.canonicalize().map_err(Error::io("find", &self.root))?;
        match owner(folder)? {
            None if folder.exists() && !is_empty_folder(folder) => {
                return Err(Error::NotABackup { path: folder.to_owned() });
            }
            None => create_folders(folder)?,
            // A moved database keeps its identity, and a repaired database keeps its path.
            Some(Owner::Database { identity: known, path: place }) if known != identity && place != path => {
                return Err(Error::OthersBackup { path: folder.to_owned(), database: place });
            }
            Some(_) => {}
        }
        let text = format!("{}of {identity} {}\n", marker(), path.display());
        replace_file(&folder.join(MARKER), text.as_bytes())
    }
}

/// Removes the files of `folder` whose names are not among `numbers`. The folder may be missing.
fn forget_others(folder: &Path, numbers: &[u32]) -> Result<()> {
    let is_kept = |name: &std::ffi::OsStr| {
        name.to_str().and_then(|name| name.parse().ok()).is_some_and(|number| numbers.contains(&number))
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("read", folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(Error::io("read", folder))?;
        if !is_kept(&entry.file_name()) {
            fs::remove_file(entry.path()).map_err(Error::io("remove", entry.path()))?;
        }
    }
    Ok(())
}

/// The database to which the backups in a folder belong.
enum Owner {
    Unknown,
    Database { identity: String, path: PathBuf },
}

/// The database to which the backups in the folder belong. `None` if there are no backups.
fn owner(folder: &Path) -> Result<Option<Owner>> {
    let path = folder.join(MARKER);
    let text = match read_short(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(Error::Io { action: "read", path, source }),
    };
    let Some(rest) = text.strip_prefix(&marker()) else {
        let first = text.lines().next().unwrap_or_default();
        let version: String = first.chars().rev().take_while(char::is_ascii_digit).collect();
        let found = version.chars().rev().collect();
        return Err(Error::FormatVersion { path: folder.to_owned(), found, supported: FORMAT_VERSION });
    };
    let named = rest.trim_end().strip_prefix("of ").and_then(|named| named.split_once(' '));
    Ok(Some(match named {
        Some((identity, path)) => Owner::Database { identity: identity.to_owned(), path: path.into() },
        None => Owner::Unknown,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use fpdb::maintenance::BackupOptions;
    use fpdb::{Database, Document, Error, Profile, Progress, Task};

    /// Changes a byte of the second backup before it is checked.
    struct Damage<'a>(&'a Path);

    impl Progress for Damage<'_> {
        fn step(&self, step: &'static str, done: u64, _total: u64) {
            if step == "backups checked" && done == 0 {
                let files = fs::read_dir(self.0.join("engine/private/2")).unwrap();
                let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
                let list = files.iter().find(|file| file.display().to_string().contains("MANIFEST")).unwrap();
                let mut bytes = fs::read(list).unwrap();
                bytes[20] ^= 1;
                fs::write(list, bytes).unwrap();
            }
        }
    }

    #[test]
    fn an_earlier_backup_goes_only_after_the_new_one_was_checked() {
        let folder = tempfile::tempdir().unwrap();
        let backups = folder.path().join("backups");
        let database = Database::create(folder.path().join("db"), Profile::PROSE).unwrap();
        database.ingest([Document::new("a", "the text of the only document")]).unwrap();
        let options = BackupOptions::default().keep(Some(1));
        database.backup(&backups, &options, &Task::new()).unwrap();
        let refused = database.backup(&backups, &options, &Task::new().progress(&Damage(&backups)));
        assert!(matches!(refused, Err(Error::DamagedBackup { number: 2, .. })), "{refused:?}");
        let numbers = |backups| super::backups(backups).unwrap().iter().map(|backup| backup.number).collect::<Vec<_>>();
        assert_eq!(numbers(&backups), [1, 2]);
        let third = database.backup(&backups, &options, &Task::new()).unwrap();
        assert_eq!((third.number, third.kept, third.damaged, numbers(&backups)), (3, 1, vec![], vec![3]));
    }
}
