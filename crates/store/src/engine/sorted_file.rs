//! Sorted files: rows that are written outside the store, in key order. The store takes the files over whole.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rocksdb::{Options, SstFileWriter};

use super::failure::failed;
use fpdb_host::error::{Error, Result};

/// Bytes after which a file is closed and the next one begins. A run has one or more files in each family.
pub(crate) const FILE_BYTES: u64 = 256 << 20;

/// Writes rows of one column family, in ascending order of key, into files in a folder.
pub(crate) struct SortedFiles<'a> {
    folder: PathBuf,
    family: &'static str,
    /// Distinguishes the files of several writers.
    part: usize,
    options: &'a Options,
    /// Declared before `files`, so that a file is closed before it is removed.
    writer: Option<SstFileWriter<'a>>,
    files: WrittenFiles,
}

/// Sorted files that no store has taken over yet. Dropping this removes them.
#[derive(Debug, Default)]
pub(crate) struct WrittenFiles(Vec<PathBuf>);

impl<'a> SortedFiles<'a> {
    pub(super) fn new(folder: &Path, family: &'static str, part: usize, options: &'a Options) -> Self {
        Self { folder: folder.to_owned(), family, part, options, writer: None, files: WrittenFiles::default() }
    }

    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let number = self.files.0.len();
                let path = self.folder.join(format!("{}-{}-{number}.sst", self.family, self.part));
                let writer = SstFileWriter::create(self.options);
                self.files.0.push(path.clone());
                writer.open(&path).map_err(failed("write a sorted file"))?;
                self.writer.insert(writer)
            }
        };
        writer.put(key, value).map_err(failed("write a sorted file"))?;
        if writer.file_size() >= FILE_BYTES { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<()> {
        match self.writer.take() {
            Some(mut writer) => writer.finish().map_err(failed("finish a sorted file")),
            None => Ok(()),
        }
    }

    /// Closes the last file. Returns all files, for the store to take over.
    pub(crate) fn finish(mut self) -> Result<WrittenFiles> {
        self.close()?;
        Ok(std::mem::take(&mut self.files))
    }
}

impl WrittenFiles {
    /// A file that a store will take over. It need not exist yet.
    pub(crate) fn one(path: PathBuf) -> Self {
        Self(vec![path])
    }

    /// Leaves the files in place, and returns their paths.
    pub(crate) fn keep(mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0)
    }

    /// Adds the files of another writer.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn paths(&self) -> Vec<&Path> {
        self.0.iter().map(PathBuf::as_path).collect()
    }

    /// Removes the files that still exist.
    pub(super) fn remove(mut self) -> Result<()> {
        for path in std::mem::take(&mut self.0) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::io("remove", path)(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for WrittenFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            // If this fails, the next writer that opens the database removes the file.
            let _ = fs::remove_file(path);
        }
    }
}
