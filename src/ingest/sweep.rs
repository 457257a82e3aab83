//! Sweep: what a container has held before and holds no longer is deleted, once it has been read whole.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::known::KnownDocuments;
use fpdb_host::error::Result;
use fpdb_reading::input::FileFacts;
use fpdb_store::{ContainerRecord, Store};

/// The documents that a run has met, and the containers that may hold less than before.
pub(super) struct Sweep {
    /// The first id of this run.
    first: u32,
    /// The documents of earlier runs that this one has met.
    met: RoaringBitmap,
    /// By path.
    shrunk: HashMap<String, Shrunk>,
}

/// A container that may have held more when it was read before.
struct Shrunk {
    name: String,
    /// The record to keep once the documents that it no longer holds are deleted; `None` for one that is a single document now.
    record: Option<ContainerRecord>,
}

impl Sweep {
    /// For a run whose first document gets the id `first`.
    pub(super) fn new(first: u32) -> Self {
        Self { first, met: RoaringBitmap::new(), shrunk: HashMap::new() }
    }

    /// A document of an earlier run has been found again, or something that takes its place.
    pub(super) fn meet(&mut self, id: u32) {
        if id < self.first {
            self.met.insert(id);
        }
    }

    /// How many documents of earlier runs have been met.
    pub(super) fn met(&self) -> u64 {
        self.met.len()
    }

    /// True if this run has added this document or found it unchanged.
    pub(super) fn is_of_this_run(&self, id: u32) -> bool {
        id >= self.first || self.met.contains(id)
    }

    /// True if there are documents of earlier runs.
    pub(super) fn follows_others(&self) -> bool {
        self.first > 0
    }

    /// True if documents may be stored of a container that it no longer holds; it was read with these `settings`, and holds
    /// `met` documents of earlier runs. Where none of them was met and the container was not remembered it cannot tell.
    pub(super) fn has_shrunk(
        &self,
        documents: KnownDocuments<'_>,
        (name, file, settings): (&str, &FileFacts, u64),
        met: u64,
    ) -> Result<bool> {
        let had = documents.store.container(&file.source)?.filter(|record| record.settings == settings);
        let had = had.map(|record| record.documents);
        // Where it was not remembered, or by a run that deletes nothing, there may be more if some was met.
        let fewer = had.map_or(met > 0, |had| met < had);
        // It can have been one document itself.
        Ok(fewer || documents.named(name)?.iter().any(|&id| !self.is_of_this_run(id)))
    }

    /// Adds a container that has shrunk, and the record it gets once it is swept.
    pub(super) fn add(&mut self, source: String, name: String, record: ContainerRecord) {
        self.shrunk.insert(source, Shrunk { name, record: Some(record) });
    }

    /// Adds a container that is one document now.
    pub(super) fn add_closed(&mut self, source: String, name: String) {
        self.shrunk.insert(source, Shrunk { name, record: None });
    }

    /// The stored documents of shrunk containers that this run has not met, ascending.
    pub(super) fn unmet(&self, store: &Store) -> Result<Vec<u32>> {
        let mut unmet = Vec::new();
        if self.shrunk.is_empty() {
            return Ok(unmet);
        }
        store.for_each_document(|id, record| {
            let container = record.source.as_ref().and_then(|source| self.shrunk.get(source));
            if container.is_some_and(|container| record.name.starts_with(&container.name)) && !self.is_of_this_run(id) {
                unmet.push(id);
            }
            Ok(true)
        })?;
        Ok(unmet)
    }

    /// Ends the sweep: the containers that are to be remembered, by path.
    pub(super) fn swept(&mut self) -> impl Iterator<Item = (String, ContainerRecord)> {
        std::mem::take(&mut self.shrunk).into_iter().filter_map(|(source, shrunk)| Some((source, shrunk.record?)))
    }
}
