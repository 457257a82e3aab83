//! Line list: the file of `ingest --failures`, one JSON object a line for each failed document.

use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Seek, Write};
use std::path::{Path, PathBuf};

use fpdb::Error;
use serde::Serialize;

use super::output::{NewFile, check_place};

/// The list. Its file has no name until the ingest ends, because the ingest may read the folder of the list.
pub(crate) struct LineList {
    path: PathBuf,
    lines: BufWriter<File>,
    /// The first write error. After it nothing more is written.
    broken: Option<io::Error>,
}

impl LineList {
    /// Begins the list for `path`. Fails if `path` is not writable.
    pub(crate) fn begin(path: &Path) -> anyhow::Result<Self> {
        check_place(path)?;
        let folder = std::env::temp_dir();
        let file =
            tempfile::tempfile().map_err(|source| Error::Io { action: "create a file in", path: folder, source })?;
        Ok(Self { path: path.to_owned(), lines: BufWriter::new(file), broken: None })
    }

    pub(crate) fn push(&mut self, object: &impl Serialize) {
        if self.broken.is_none() {
            let line = serde_json::to_writer(&mut self.lines, object).map_err(io::Error::from);
            self.broken = line.and_then(|()| self.lines.write_all(b"\n")).err();
        }
    }

    /// Gives the list its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { path, lines, broken } = self;
        let write = || {
            broken.map_or(Ok(()), Err)?;
            let mut file = lines.into_inner().map_err(IntoInnerError::into_error)?;
            file.rewind()?;
            let mut target = NewFile::create(&path)?;
            io::copy(&mut file, &mut target)?;
            target.persist()
        };
        Ok(write().map_err(|source| Error::Io { action: "write", path: path.clone(), source })?)
    }
}
