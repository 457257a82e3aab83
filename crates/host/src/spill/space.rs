//! Temporary space: nameless files in one folder, for data that exceeds the memory allowed. The system frees
//! them when the process ends, even after a kill.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::error::{Error, Result};

/// The folder for temporary files.
#[derive(Clone, Debug)]
pub struct TempSpace {
    folder: PathBuf,
}

impl TempSpace {
    /// Space for temporary files in `folder`.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder does not exist. It is not created, so a misspelt path leaves nothing
    /// behind.
    pub fn new(folder: &Path) -> Result<Self> {
        let found = std::fs::metadata(folder).and_then(|found| match found.is_dir() {
            true => Ok(()),
            false => Err(io::ErrorKind::NotADirectory.into()),
        });
        found.map_err(Error::io("use for temporary files the folder", folder))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Space for temporary files in the folder `asked`. If `asked` is `None`, the files lie beside the
    /// database. If the folder that holds the database is not writable, they lie in the system's folder for
    /// temporary files.
    pub fn beside(database: &Path, asked: Option<&Path>) -> Result<Self> {
        if let Some(folder) = asked {
            return Self::new(folder);
        }
        let root = database.canonicalize().map_err(Error::io("find", database))?;
        let beside = root.parent().unwrap_or(&root);
        let writable = tempfile::tempfile_in(beside).is_ok();
        Self::new(if writable { beside.to_owned() } else { std::env::temp_dir() }.as_path())
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates an empty file without a name.
    pub fn file(&self) -> Result<File> {
        tempfile::tempfile_in(&self.folder).map_err(Error::io("create a temporary file in", &self.folder))
    }
}

/// Writes records from `index` on, counted in records of this type.
pub fn write_at<T: Pod>(file: &File, records: &[T], index: u64, temp: &TempSpace) -> Result<()> {
    let offset = index * size_of::<T>() as u64;
    write_bytes(file, bytemuck::cast_slice(records), offset)
        .map_err(Error::io("write a temporary file in", temp.folder()))
}

/// Reads `count` records from `index` on.
pub fn read_at<T: Pod>(file: &File, index: u64, count: usize, temp: &TempSpace) -> Result<Vec<T>> {
    let mut records = vec![T::zeroed(); count];
    read_into(file, index, &mut records, temp)?;
    Ok(records)
}

/// Fills `records` with the records from `index` on.
pub fn read_into<T: Pod>(file: &File, index: u64, records: &mut [T], temp: &TempSpace) -> Result<()> {
    let offset = index * size_of::<T>() as u64;
    read_bytes(file, bytemuck::cast_slice_mut(records), offset)
        .map_err(Error::io("read a temporary file in", temp.folder()))
}

fn write_bytes(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

fn read_bytes(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}
