//! Sources: the files and folders that were named to an ingest, and the settings they were read with. With
//! these settings a later ingest reads the sources in the same way.

use super::Store;
use super::codec::format::{MAIN, SOURCE_PREFIX, source_key};
use super::codec::records::{self, SourceRecord};
use super::view::View;
use fpdb_host::error::Result;

const ACTION: &str = "read the list of sources";

impl Store {
    /// The record of the source at this absolute path. `None` if the path has no record.
    pub fn source(&self, path: &str) -> Result<Option<SourceRecord>> {
        self.engine.get(MAIN, source_key(path), ACTION)?.map(|value| decoded(&value)).transpose()
    }

    /// The records of all sources, in order of their paths.
    pub fn sources(&self) -> Result<Vec<SourceRecord>> {
        self.engine.entries_with(MAIN, (SOURCE_PREFIX, &[]), ACTION)?.map(|entry| decoded(&entry?.1)).collect()
    }

    /// Stores these records in place of earlier ones for the same paths. A record without settings deletes
    /// the earlier one. Commits nothing if nothing changes.
    pub fn remember_sources(&self, sources: &[SourceRecord]) -> Result<()> {
        let mut changes = self.engine.changes();
        let mut changed = false;
        for source in sources {
            let known = self.source(&source.path)?;
            if source.settings.is_empty() {
                changed |= known.is_some();
                changes.delete(MAIN, source_key(&source.path))?;
            } else if known.as_ref() != Some(source) {
                changed = true;
                changes.put(MAIN, source_key(&source.path), records::encode(source)?)?;
            }
        }
        if !changed {
            return Ok(());
        }
        self.change(changes, View::clone(&self.view()), "remember how sources are read")
    }

    /// Copies the records of another store, except for paths that have a record here.
    pub fn adopt_sources(&self, other: &Self) -> Result<()> {
        let mut new = Vec::new();
        for source in other.sources()? {
            if self.source(&source.path)?.is_none() {
                new.push(source);
            }
        }
        self.remember_sources(&new)
    }
}

fn decoded(value: &[u8]) -> Result<SourceRecord> {
    records::decode(value, || "the record of a source".into())
}
