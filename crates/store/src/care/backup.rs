//! Backup and restore: copies of the committed state. A backup shares unchanged tables with the backups
//! before it, so it takes space only for new tables.
//!
//! A folder holds the backups of one database. The file `FPDB-BACKUP` has two lines: `fpdb backup, format 1`,
//! and `of ` with the identity and the path of the database. The engine keeps its files in `engine/`. Beside
//! it are records of each backup ([`backup_records`](super::backup_records)).
//!
//! RocksDB compares checksums while it copies, and only sizes later. So `fpdb backup` reads every file that
//! the backups in the folder need ([`backup_files`](super::backup_files)). A damaged file is copied again if
//! the database still has that table. Otherwise the file stays damaged. RocksDB neither lists nor removes a
//! backup that lacks a file, so this module does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::care::backup_files::{BackupFiles, keep_only, made_at, numbers};
use crate::care::backup_records::{COUNTS, Facts, add_kept_out, keep_records, restore_decisions};
use crate::codec::format::{DECISIONS, FAMILIES, FORMAT_VERSION, STORE};
use crate::engine::copies::{Copies, Copy};
use crate::open::create::make_whole;
use crate::open::files::read_short;
use crate::open::making::is_empty_folder;
use crate::{Store, StoreOptions};
use fpdb_host::durable::{create_folders, create_folders_like, replace_file};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_host::schema::{Answer, Schema};
use fpdb_kernel::document::Digest;

const MARKER: &str = "FPDB-BACKUP";
const ENGINE: &str = "engine";
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
    /// Earlier backups that can be restored, but have a damaged record: [`ListedBackup::damaged_record`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged_records: Vec<u32>,
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
    /// When it was made, in seconds since 1970. 0 if the backup is damaged and its time cannot be read.
    pub made_at: i64,
    /// Number of documents in it. `None` if an earlier version of fpdb made it.
    pub documents: Option<u64>,
    /// Its size in bytes, including files that it shares with other backups.
    pub bytes: u64,
    /// A damaged or missing file that it needs. `None` if it is whole, or if its large files have their
    /// sizes and were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
    /// A damaged or missing record beside these files: the number of documents, the decisions of a dedup, or
    /// the contents that are kept out. The backup can be restored without this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged_record: Option<String>,
}

impl Answer for ListedBackup {
    const SCHEMA: &'static str = "fpdb.backup.listed/1";
}

/// The backups in `folder`, oldest first, including damaged ones. Compares the checksums of small files.
/// Compares only the sizes of large files, unless a backup lacks a file.
///
/// # Errors
/// [`Error::NotABackup`]; [`Error::FormatVersion`]; an error of reading the folder.
pub fn backups(folder: &Path) -> Result<Vec<ListedBackup>> {
    if owner(folder)?.is_none() {
        return Err(Error::NotABackup { path: folder.to_owned() });
    }
    let engine = folder.join(ENGINE);
    // The numbers are read first, because another process may add a backup meanwhile.
    let numbers = numbers(&engine, &folder.join(COUNTS))?;
    let mut copies: BTreeMap<u32, Copy> =
        Copies::open(&engine)?.list().into_iter().map(|copy| (copy.number, copy)).collect();
    let (mut sizes, mut files) = (BackupFiles::new(engine.clone(), true), BackupFiles::new(engine.clone(), false));
    let mut backups = Vec::new();
    for number in numbers {
        let copy = copies.remove(&number);
        let mut damaged = sizes.check(number)?;
        // The engine does not list a backup that lacks a file.
        if copy.is_none() && damaged.is_none() {
            damaged = Some(files.check(number)?.unwrap_or_else(|| format!("meta/{number}")));
        }
        let (made_at, bytes) = match copy {
            Some(copy) => (copy.made_at, copy.bytes),
            None => (made_at(&engine, number)?.unwrap_or(0), 0),
        };
        let Facts { documents, made_at: noted, damaged: mut damaged_record, .. } = Facts::of(folder, number)?;
        // The engine has no checksum of the time.
        if damaged.is_none() && noted.is_some_and(|noted| noted != made_at) {
            damaged_record.get_or_insert_with(|| format!("meta/{number}"));
        }
        let made_at = noted.unwrap_or(made_at);
        backups.push(ListedBackup {
            schema: Schema::new(),
            number,
            made_at,
            documents,
            bytes,
            damaged,
            damaged_record,
        });
    }
    Ok(backups)
}

/// The digests of the contents that were kept out after the backup `number` was made, ascending. They come
/// from the newer backups in `folder`, and from the backed-up database if it can be opened. Backups of
/// earlier versions of fpdb have no list of such contents. Of a damaged list, only the readable lines count
/// ([`ListedBackup::damaged_record`]).
///
/// # Errors
/// As [`backups`].
pub fn kept_out_since(folder: &Path, number: u32) -> Result<Vec<Digest>> {
    let Some(owner) = owner(folder)? else { return Err(Error::NotABackup { path: folder.to_owned() }) };
    let mut digests = BTreeSet::new();
    let numbers = numbers(&folder.join(ENGINE), &folder.join(COUNTS))?;
    for newer in numbers.into_iter().filter(|&newer| newer > number) {
        add_kept_out(folder, newer, &mut digests)?;
    }
    if let Owner::Database { identity, path } = owner
        && let Ok(store) = Store::open_reader(&path, &StoreOptions::default())
        && store.identity()? == identity
    {
        digests.extend(store.kept_out()?.into_iter().map(|(digest, _)| digest));
    }
    Ok(digests.into_iter().collect())
}

/// Compares each file that the backups in `folder` need with its checksum. Returns the backups, oldest first.
///
/// # Errors
/// As [`backups`]; [`Error::Stopped`].
pub fn verify_backups(folder: &Path, task: &Task<'_>) -> Result<Vec<ListedBackup>> {
    let mut backups = backups(folder)?;
    let (mut files, all) = (BackupFiles::new(folder.join(ENGINE), false), backups.len() as u64);
    for (done, backup) in (0..).zip(&mut backups) {
        task.step("backups checked", done, all)?;
        if backup.damaged.is_none() {
            backup.damaged = files.check(backup.number)?;
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
    /// needs with its checksum. With `quick`, reads no rows, and compares only sizes.
    pub fn backup(&self, folder: &Path, keep: Option<usize>, quick: bool, task: &Task<'_>) -> Result<Backup> {
        if !quick {
            self.read_through(task)?;
        }
        self.claim(folder)?;
        // The engine syncs the files in its folder, but not the name of the folder.
        create_folders(&folder.join(ENGINE))?;
        let (engine, counts) = (folder.join(ENGINE), folder.join(COUNTS));
        let mut files = BackupFiles::new(engine.clone(), quick);
        let mut earlier = numbers(&engine, &counts)?;
        for (done, &number) in (0..).zip(&earlier) {
            task.step("earlier backups checked", done, earlier.len() as u64)?;
            files.check(number)?;
        }
        let mended = files.mend_shared(&self.root.join(STORE))?;
        let mut copies = Copies::open(&engine)?;
        // The engine does not report its progress.
        task.step("copying the database", 0, 0)?;
        copies.add(&self.engine)?;
        let newest = copies.list().last().copied();
        let Copy { number, bytes, made_at } = newest.ok_or_else(|| Error::NotABackup { path: folder.to_owned() })?;
        drop(copies);
        // A backup that was not completed, or has lost its list of files, may have had this number.
        earlier.retain(|&earlier| earlier != number);
        keep_records(folder, &earlier)?;
        let decisions = self.back_up_records(folder, number, made_at)?;
        // The numbers are read again: the engine has removed the files of backups without a list of files.
        let mut numbers = numbers(&engine, &counts)?;
        numbers.extend(earlier);
        numbers.sort_unstable();
        numbers.dedup();
        let mut damaged = Vec::new();
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
        // The engine refuses lists of files that look whole here. Records are not files of the engine.
        let mut damaged_records = Vec::new();
        for listed in backups(folder)? {
            if damaged.contains(&listed.number) {
                continue;
            }
            if listed.damaged.is_some() {
                damaged.push(listed.number);
            } else if listed.damaged_record.is_some() {
                damaged_records.push(listed.number);
            }
        }
        // Earlier backups are removed only after the new backup was checked.
        if let Some(keep) = keep {
            let mut surplus = numbers.len().saturating_sub(keep.max(1));
            // Damaged backups are removed first, so that none takes the place of a whole one.
            for is_damaged in [true, false] {
                numbers.retain(|number| {
                    let goes = surplus > 0 && damaged.contains(number) == is_damaged;
                    surplus -= usize::from(goes);
                    !goes
                });
            }
            keep_only(&engine, &counts, &numbers)?;
        }
        for damaged in [&mut damaged, &mut damaged_records] {
            damaged.retain(|number| numbers.contains(number));
            damaged.sort_unstable();
        }
        keep_records(folder, &numbers)?;
        Ok(Backup {
            schema: Schema::new(),
            folder: folder.display().to_string(),
            number,
            bytes: bytes + decisions,
            kept: numbers.len() as u64,
            mended: mended as u64,
            damaged,
            damaged_records,
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
        let listed = backups(folder)?;
        let is_known = |number: &u32| listed.iter().any(|backup| backup.number == *number);
        let whole: Vec<u32> =
            listed.iter().filter(|backup| backup.damaged.is_none()).map(|backup| backup.number).collect();
        make_whole(root, |inside| {
            let store = inside.join(STORE);
            let Some(wanted) = number.or(whole.last().copied()).filter(is_known) else {
                return Err(Error::NoSuchBackup { path: folder.to_owned(), number, numbers: whole });
            };
            if let Err(error) = Copies::open(&folder.join(ENGINE))?.restore(wanted, &store) {
                // If this backup is damaged, the error names the others that are whole.
                let mut files = BackupFiles::new(folder.join(ENGINE), false);
                let refused = listed.iter().find(|backup| backup.number == wanted);
                let refused = refused.and_then(|backup| backup.damaged.clone());
                return Err(match files.check(wanted)?.or(refused) {
                    Some(file) => {
                        // Backups share most files, so each is read once.
                        let mut others = Vec::new();
                        for other in whole.into_iter().filter(|&number| number != wanted) {
                            others.extend(files.check(other)?.is_none().then_some(other));
                        }
                        Error::DamagedBackup { number: wanted, file, others }
                    }
                    None => error,
                });
            }
            restore_decisions(folder, wanted, inside.join(DECISIONS))?;
            Ok(*Self::open_unlocked(inside, options)?.profile())
        })?;
        Self::open_writer(root, options)
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
            None => create_folders_like(folder, Some(&path))?,
            // A moved database keeps its identity, and a repaired database keeps its path.
            Some(Owner::Database { identity: known, path: place }) if known != identity && place != path => {
                return Err(Error::OthersBackup { path: folder.to_owned(), database: place });
            }
            Some(_) => {}
        }
        let text = [format!("{}of {identity} ", marker()).as_bytes(), path.as_os_str().as_bytes(), b"\n"].concat();
        replace_file(&folder.join(MARKER), &text)
    }
}

/// The database to which the backups in a folder belong.
enum Owner {
    Unknown,
    Database { identity: String, path: PathBuf },
}

/// The database to which the backups in a folder belong. `None` if the folder has no backups.
fn owner(folder: &Path) -> Result<Option<Owner>> {
    let path = folder.join(MARKER);
    let text = match read_short(&path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(Error::Io { action: "read", path, source }),
    };
    let Some(rest) = text.strip_prefix(marker().as_bytes()) else {
        let text = String::from_utf8_lossy(&text);
        let first = text.lines().next().unwrap_or_default();
        let version: String = first.chars().rev().take_while(char::is_ascii_digit).collect();
        let found = version.chars().rev().collect();
        return Err(Error::FormatVersion { path: folder.to_owned(), found, supported: FORMAT_VERSION });
    };
    // A path may end with a space or hold a line end, and need not be UTF-8.
    let mut words = rest.strip_suffix(b"\n").unwrap_or(rest).splitn(3, |&byte| byte == b' ');
    Ok(Some(match (words.next(), words.next(), words.next()) {
        (Some(b"of"), Some(identity), Some(path)) => Owner::Database {
            identity: String::from_utf8_lossy(identity).into_owned(),
            path: OsStr::from_bytes(path).into(),
        },
        _ => Owner::Unknown,
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
