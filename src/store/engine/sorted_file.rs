//! Sorted files: rows written outside the store, in key order, and handed to it whole.

use std::fs;
use std::path::{Path, PathBuf};

use rocksdb::{DB, IngestExternalFileOptions, SstFileWriter};

use crate::error::{Error, Result};
use crate::store::engine::options;
use crate::store::{failed, family};

/// A file is closed at this size; a run of any size is some of them.
pub(in crate::store) const FILE_BYTES: u64 = 256 << 20;

/// Writes rows of one column family, in ascending order of key, into files in a folder.
pub(in crate::store) struct SortedFiles<'a> {
    folder: &'a Path,
    family: &'static str,
    /// Tells the files of several writers apart.
    part: usize,
    options: &'a rocksdb::Options,
    writer: Option<SstFileWriter<'a>>,
    files: Vec<PathBuf>,
}

impl<'a> SortedFiles<'a> {
    pub(in crate::store) fn new(
        folder: &'a Path,
        family: &'static str,
        part: usize,
        options: &'a rocksdb::Options,
    ) -> Self {
        Self { folder, family, part, options, writer: None, files: Vec::new() }
    }

    pub(in crate::store) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let path = self.folder.join(format!("{}-{}-{}.sst", self.family, self.part, self.files.len()));
                let writer = SstFileWriter::create(self.options);
                writer.open(&path).map_err(failed("write a sorted file"))?;
                self.files.push(path);
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

    /// Ends the last file; returns them all, for [`ingest`].
    pub(in crate::store) fn finish(mut self) -> Result<Vec<PathBuf>> {
        self.close()?;
        Ok(self.files)
    }
}

/// Hands files of `name` to the store, which takes them over; they are on disk when this returns.
pub(in crate::store) fn ingest(db: &DB, name: &'static str, files: Vec<PathBuf>) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let mut ingest = IngestExternalFileOptions::default();
    ingest.set_move_files(true);
    db.ingest_external_file_cf_opts(family(db, name)?, &ingest, files.iter().collect())
        .map_err(failed("take in a sorted file"))?;
    // Moving links a file into the store; the name it had here may remain.
    for file in files {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::Io { action: "remove", path: file, source: error });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Options for the files of `family`.
pub(in crate::store) fn file_options(family: &'static str) -> Result<rocksdb::Options> {
    options::sorted_file(family)
}
