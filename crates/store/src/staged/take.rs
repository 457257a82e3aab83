//! Take: an empty store takes staged files over, in one commit.
//!
//! The files are linked into `incoming/`, or copied from another file system, and handed to the engine. Then
//! one synced write adds the runs, the state and the generation of the build. The store must have no
//! documents, so that none of the keys can already exist. If the process is killed, the next writer removes
//! the rows of documents, since the stored state says that there are none. For any other database, the build
//! first becomes a separate database, which is then merged.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::files::{PartContents, StagedFile};
use crate::codec::format::{DIGESTS, DOCUMENTS, INCOMING, MAIN, NAMES, assembled_key, run_key};
use crate::codec::records;
use crate::engine::sorted_file::WrittenFiles;
use crate::{Store, View};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;

/// A finished distributed build: the files and totals that a store takes over.
pub struct Assembled {
    /// The identifier of the build.
    pub generation: [u8; 16],
    /// The id of the next document after the build.
    pub next_document: u32,
    /// The sorted files of all parts.
    pub files: Vec<StagedFile>,
    /// The totals of all documents.
    pub documents: PartContents,
    /// The totals of the postings of each run, by its number.
    pub runs: BTreeMap<u32, PartContents>,
}

impl Store {
    /// True if the store already contains this build.
    pub fn has_assembled(&self, generation: &[u8; 16]) -> Result<bool> {
        Ok(self.engine.get(MAIN, assembled_key(generation), "look for an earlier assembly")?.is_some())
    }

    /// True if no document was ever added, and no content is kept out. Only such a store can take over staged
    /// files.
    ///
    /// # Errors
    /// A failure to read the store; [`Error::Damaged`].
    pub fn is_fresh(&self) -> Result<bool> {
        let view = self.view();
        let is_empty = view.state.next_document == 0 && view.state.next_run == 0;
        Ok(is_empty && self.kept_out_from(&[])?.next().transpose()?.is_none())
    }

    /// Adds all files and totals of a build to the store, in one commit. The store must be
    /// [fresh](Self::is_fresh). The files also stay where they are: they are hard-linked if the file system
    /// allows it, and copied otherwise. No reader sees any of it before the commit. After a kill the next
    /// writer discards the unfinished part.
    ///
    /// # Errors
    /// [`Error::Stopped`], [`Error::Io`] if a file cannot be copied, or an error of the engine.
    pub fn take_over(&self, build: &Assembled, task: &Task<'_>) -> Result<()> {
        let incoming = self.root.join(INCOMING);
        let mut by_family: BTreeMap<&'static str, WrittenFiles> = BTreeMap::new();
        for (number, file) in (0..).zip(&build.files) {
            task.step("files taken over", number, build.files.len() as u64)?;
            let path = incoming.join(format!("{}-{number}.sst", file.family));
            let files = by_family.entry(file.family).or_default();
            files.append(WrittenFiles::one(path.clone()));
            link_or_copy(&file.path, &path)?;
        }
        for (family, files) in by_family {
            task.token().check()?;
            self.engine.ingest(family, files)?;
        }
        let mut view = View::clone(&self.view());
        let mut changes = self.engine.changes();
        for (&run, contents) in &build.runs {
            let record = contents.run();
            changes.put(MAIN, run_key(run), records::encode(&record)?)?;
            view.runs.push((run, record));
        }
        changes.put(MAIN, assembled_key(&build.generation), [])?;
        let state = &mut view.state;
        state.next_document = build.next_document;
        state.next_run = build.runs.last_key_value().map_or(0, |(run, _)| run + 1);
        state.documents = build.documents.documents;
        state.bytes = build.documents.bytes;
        state.symbols = build.documents.symbols;
        state.fingerprints = build.documents.fingerprints;
        state.committed_at = fpdb_host::clock::now();
        self.change(changes, view, "commit an assembled build")?;
        self.fold_excess(&task.silent())
    }

    /// Records that the store contains this build.
    pub fn note_assembled(&self, generation: &[u8; 16]) -> Result<()> {
        let mut changes = self.engine.changes();
        changes.put(MAIN, assembled_key(generation), [])?;
        self.change(changes, View::clone(&self.view()), "note an assembled build")
    }

    /// Removes the rows of documents from a store to which no document was ever committed.
    pub(crate) fn discard_assembly(&self) -> Result<()> {
        const ACTION: &str = "discard an unfinished assembly";
        for name in [DOCUMENTS, NAMES, DIGESTS] {
            let last = {
                let mut rows = self.engine.rows(name, ACTION)?;
                rows.seek_to_last();
                rows.check()?;
                rows.key().map(|key| [key, &[0]].concat())
            };
            let Some(after) = last else { continue };
            self.engine.delete_files_between(name, &[], &after, ACTION)?;
            let mut changes = self.engine.changes();
            changes.delete_between(name, &[], &after)?;
            changes.commit(ACTION)?;
        }
        Ok(())
    }
}

fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all()).map_err(Error::io("copy", from))
}
