//! Backup and restore: copies of the committed state. A backup shares with the ones before it the tables
//! that have not changed since, so that a second one costs what is new.
//!
//! A backup is a folder with the file `FPDB-BACKUP` (`fpdb backup, format 1\n`) and the engine's own
//! `engine/`.

use std::fs;
use std::io;
use std::path::Path;

use rocksdb::Env;
use rocksdb::backup::{BackupEngine, BackupEngineOptions, RestoreOptions};

use super::create::{is_empty_folder, make_whole};
use super::format::{FORMAT_VERSION, STORE};
use super::{Store, failed};
use crate::error::{Error, Result};

const MARKER: &str = "FPDB-BACKUP";
const ENGINE: &str = "engine";

/// A backup that has been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its number in its folder, from 1.
    pub number: u32,
    /// The bytes it takes, those it shares with others included.
    pub bytes: u64,
    /// The backups now in the folder.
    pub kept: usize,
}

fn marker() -> String {
    format!("fpdb backup, format {FORMAT_VERSION}\n")
}

impl Store {
    /// Copies the database into `folder`, and keeps at most `keep` backups there.
    pub(crate) fn backup(&self, folder: &Path, keep: Option<usize>) -> Result<Backup> {
        if !is_backup(folder)? {
            if folder.exists() && !is_empty_folder(folder) {
                return Err(Error::NotABackup { path: folder.to_owned() });
            }
            fs::create_dir_all(folder.join(ENGINE)).map_err(Error::io("create", folder))?;
            fs::write(folder.join(MARKER), marker()).map_err(Error::io("write to", folder))?;
        }
        let mut engine = open(folder)?;
        engine.create_new_backup_flush(&self.db, true).map_err(failed("make a backup"))?;
        if let Some(keep) = keep {
            engine.purge_old_backups(keep.max(1)).map_err(failed("remove old backups"))?;
        }
        let backups = engine.get_backup_info();
        let newest = backups.last().ok_or_else(|| Error::NotABackup { path: folder.to_owned() })?;
        engine.verify_backup(newest.backup_id).map_err(failed("verify the backup"))?;
        Ok(Backup { number: newest.backup_id, bytes: newest.size, kept: backups.len() })
    }

    /// Makes a database at `root`, where nothing may be yet, of the newest backup in `folder`. Every file is
    /// checked against its checksum as it is copied.
    pub(crate) fn restore(root: &Path, folder: &Path) -> Result<Self> {
        if !is_backup(folder)? {
            return Err(Error::NotABackup { path: folder.to_owned() });
        }
        make_whole(root, |inside| {
            let store = inside.join(STORE);
            let mut engine = open(folder)?;
            engine
                .restore_from_latest_backup(&store, &store, &RestoreOptions::default())
                .map_err(failed("restore from the backup"))?;
            Ok(*Self::open_unlocked(inside)?.profile())
        })?;
        Self::open_writer(root)
    }
}

fn is_backup(folder: &Path) -> Result<bool> {
    let path = folder.join(MARKER);
    match fs::read_to_string(&path) {
        Ok(text) if text == marker() => Ok(true),
        Ok(text) => Err(Error::FormatVersion {
            path: folder.to_owned(),
            found: text.trim_end().chars().rev().take_while(char::is_ascii_digit).collect(),
            supported: FORMAT_VERSION,
        }),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        Err(source) => Err(Error::Io { action: "read", path, source }),
    }
}

fn open(folder: &Path) -> Result<BackupEngine> {
    let env = Env::new().map_err(failed("reach the file system"))?;
    let mut options = BackupEngineOptions::new(folder.join(ENGINE)).map_err(failed("open the backup"))?;
    options.set_sync(true);
    BackupEngine::open(&options, &env).map_err(failed("open the backup"))
}
