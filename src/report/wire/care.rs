//! What commands answer that take care of a database.

use serde::{Deserialize, Serialize};

use crate::store::Backup;

/// `fpdb.rm/1`: what was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmReport {
    /// `fpdb.rm/1`.
    pub schema: String,
    /// Documents deleted.
    pub removed: u64,
    /// Names that no document has.
    pub unknown_names: Vec<String>,
    /// Numbers that no document has.
    pub unknown_ids: Vec<u32>,
}

/// `fpdb.compact/1`: what the database takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompactReport {
    /// `fpdb.compact/1`.
    pub schema: String,
    /// Bytes on disk before, logs aside.
    pub before: u64,
    /// And after.
    pub after: u64,
}

/// `fpdb.backup/1`: the backup that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupReport {
    /// `fpdb.backup/1`.
    pub schema: String,
    /// The folder of backups, as it was given.
    pub folder: String,
    /// The number of the backup there, from 1.
    pub number: u32,
    /// The bytes it takes, those it shares with others included.
    pub bytes: u64,
    /// The backups now in the folder.
    pub kept: u64,
    /// Damaged files of earlier backups that were copied again.
    pub mended: u64,
    /// Earlier backups that are damaged and cannot be restored.
    pub damaged: Vec<u32>,
}

/// `fpdb.restore/1`: the database that was made of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoreReport {
    /// `fpdb.restore/1`.
    pub schema: String,
    /// The database's folder.
    pub path: String,
    /// The folder of backups, as it was given.
    pub folder: String,
    /// Documents it holds.
    pub documents: u64,
}

impl RmReport {
    /// The report of a deletion.
    #[must_use]
    pub fn new(removed: u64, unknown_names: Vec<String>, unknown_ids: Vec<u32>) -> Self {
        Self { schema: "fpdb.rm/1".into(), removed, unknown_names, unknown_ids }
    }
}

impl CompactReport {
    /// The report of a database that took `before` bytes.
    #[must_use]
    pub fn new(before: u64, after: u64) -> Self {
        Self { schema: "fpdb.compact/1".into(), before, after }
    }
}

impl BackupReport {
    /// The report of a backup in `folder`.
    #[must_use]
    pub fn new(folder: String, backup: &Backup) -> Self {
        Self {
            schema: "fpdb.backup/1".into(),
            folder,
            number: backup.number,
            bytes: backup.bytes,
            kept: backup.kept as u64,
            mended: backup.mended as u64,
            damaged: backup.damaged.clone(),
        }
    }
}

impl RestoreReport {
    /// The report of a database at `path` with so many documents.
    #[must_use]
    pub fn new(path: String, folder: String, documents: u64) -> Self {
        Self { schema: "fpdb.restore/1".into(), path, folder, documents }
    }
}
