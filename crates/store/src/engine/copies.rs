//! Copies: the engine's backups of a store, in a folder.

use std::path::Path;

use rocksdb::Env;
use rocksdb::backup::{BackupEngine, BackupEngineInfo, BackupEngineOptions, RestoreOptions};

use super::Engine;
use super::failure::failed;
use fpdb_host::error::Result;

/// The backups in a folder.
pub(crate) struct Copies(BackupEngine);

/// One backup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// The number of the backup, from 1 on.
    pub(crate) number: u32,
    pub(crate) bytes: u64,
    /// The time of the backup, in seconds since 1970.
    pub(crate) made_at: i64,
}

impl Copies {
    /// Opens the backups in `folder`, or creates the folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let env = Env::new().map_err(failed("reach the file system"))?;
        let mut options = BackupEngineOptions::new(folder).map_err(failed("open the backup"))?;
        options.set_sync(true);
        BackupEngine::open(&options, &env).map(Self).map_err(failed("open the backup"))
    }

    /// The backups in the folder, oldest first.
    pub(crate) fn list(&self) -> Vec<Copy> {
        let copies = self.0.get_backup_info();
        let copy = |copy: &BackupEngineInfo| Copy { number: copy.backup_id, bytes: copy.size, made_at: copy.timestamp };
        copies.iter().map(copy).collect()
    }

    /// Adds a backup of the committed state.
    pub(crate) fn add(&mut self, engine: &Engine) -> Result<()> {
        engine.writing("make a backup", || self.0.create_new_backup_flush(&engine.db, true))
    }

    /// Restores a backup as the store in the folder `store`.
    pub(crate) fn restore(&mut self, number: u32, store: &Path) -> Result<()> {
        let restored = self.0.restore_from_backup(store, store, &RestoreOptions::default(), number);
        restored.map_err(failed("restore from the backup"))
    }
}
