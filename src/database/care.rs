//! Care: what keeps a database small, whole and safe.

use std::path::Path;

use super::Database;
use crate::error::{Error, Result};
use crate::ingest;
use crate::input::enclosing_database;
use crate::progress::Task;
use crate::store::{Backup, Repair, Store, StoreOptions, Verification};

impl Database {
    /// Folds all postings into one run and frees the space of deleted documents. Needs a database opened for
    /// writing; readers beside it are not disturbed.
    ///
    /// # Errors
    /// [`Error::OpenedForReading`], and what keeps the store from being read or written.
    pub fn compact(&self, task: &Task<'_>) -> Result<()> {
        let _alone = self.store.change_alone()?;
        self.store.compact(task)
    }

    /// Checks every posting, position, document, name and count against each other and against the engine's
    /// checksums.
    ///
    /// # Errors
    /// What keeps the check from being made, [`Error::Stopped`]; damage is listed in its result.
    pub fn verify(&self, task: &Task<'_>) -> Result<Verification> {
        let _unchanged = self.store.keep_unchanged();
        self.store.verify(task)
    }

    /// Rebuilds what can be rebuilt of the damaged database at `path`: a new store is written from what can be read,
    /// and from the texts of documents that have not changed, and takes the place of the damaged one. Needs as much
    /// space as the database takes; where nothing is wrong nothing is changed.
    ///
    /// # Errors
    /// [`Error::Locked`]; [`Error::BeyondRepair`] where too little is left to begin with. The database is then as it
    /// was.
    pub fn repair(path: &Path, task: &Task<'_>) -> Result<Repair> {
        ingest::repair(path, task)
    }

    /// Copies the database into `folder`, where earlier backups of it may be, and keeps at most `keep` of them. The files
    /// that backups there need are compared with their checksums, or with `quick` only with their sizes. Needs a database
    /// opened for writing.
    ///
    /// # Errors
    /// [`Error::NotABackup`] where something else is in the folder, [`Error::OthersBackup`], [`Error::DamagedBackup`],
    /// [`Error::InsideDatabase`], [`Error::OpenedForReading`].
    pub fn backup(&self, folder: &Path, keep: Option<usize>, quick: bool, task: &Task<'_>) -> Result<Backup> {
        // The folder itself may be one of backups, but lies in none.
        let within = folder.join("..");
        let around = if folder.exists() { within.as_path() } else { folder };
        if let Some(database) = enclosing_database(around, Some(self.store.root())) {
            return Err(Error::InsideDatabase { path: folder.to_owned(), database });
        }
        let _alone = self.store.change_alone()?;
        self.store.backup(folder, keep, quick, task)
    }

    /// Makes a database at `path` of the backup `number` in `folder`, or the newest, and opens it for writing.
    ///
    /// # Errors
    /// [`Error::NotABackup`], [`Error::NoSuchBackup`], [`Error::DatabaseExists`], [`Error::DamagedBackup`].
    pub fn restore(path: &Path, folder: &Path, number: Option<u32>) -> Result<Self> {
        Ok(Self { store: Store::restore(path, folder, number, &StoreOptions::default())? })
    }
}
