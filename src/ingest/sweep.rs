//! Sweep: finds documents that a container no longer holds, after it was read whole.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::known::KnownDocuments;
use fpdb_host::error::Result;
use fpdb_reading::input::FileFacts;
use fpdb_store::{ContainerRecord, Store};

/// The documents that a run has found, and the containers that may hold fewer than before.
pub(super) struct Sweep {
    /// The first id of this run.
    first: u32,
    /// The documents of earlier runs that this run has found.
    met: RoaringBitmap,
    /// By path.
    shrunk: HashMap<String, Shrunk>,
}

/// A container that may have held more documents before.
struct Shrunk {
    name: String,
    /// The record to store after the deletion. `None` if the container is a single document now.
    record: Option<ContainerRecord>,
}

impl Sweep {
    /// A sweep for a run whose first document gets the id `first`.
    pub(super) fn new(first: u32) -> Self {
        Self { first, met: RoaringBitmap::new(), shrunk: HashMap::new() }
    }

    /// Notes that a document of an earlier run, or its replacement, was found.
    pub(super) fn meet(&mut self, id: u32) {
        if id < self.first {
            self.met.insert(id);
        }
    }

    /// Number of documents of earlier runs that were found.
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

    /// True if documents may be stored that a container no longer holds. The container was read with these
    /// `settings` and holds `met` documents of earlier runs. Returns false if `met` is 0 and the container
    /// was not remembered: then nothing is known of it.
    pub(super) fn has_shrunk(
        &self,
        documents: KnownDocuments<'_>,
        (name, file, settings): (&str, &FileFacts, u64),
        met: u64,
    ) -> Result<bool> {
        let had = documents.store.container(&file.source)?.filter(|record| record.settings == settings);
        let had = had.map(|record| record.documents);
        // If the container was not remembered, or only by a run that deletes nothing, one found document
        // suggests that there are more.
        let fewer = had.map_or(met > 0, |had| met < had);
        // The container may have been a single document.
        Ok(fewer || documents.named(name)?.iter().any(|&id| !self.is_of_this_run(id)))
    }

    /// Adds a container that holds fewer documents, and its record after the sweep.
    pub(super) fn add(&mut self, source: String, name: String, record: ContainerRecord) {
        self.shrunk.insert(source, Shrunk { name, record: Some(record) });
    }

    /// Adds a container that is a single document now.
    pub(super) fn add_closed(&mut self, source: String, name: String) {
        self.shrunk.insert(source, Shrunk { name, record: None });
    }

    /// The stored documents of shrunk containers that this run has not found, ascending.
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

    /// Ends the sweep. Returns the containers to remember, by path.
    pub(super) fn swept(&mut self) -> impl Iterator<Item = (String, ContainerRecord)> {
        std::mem::take(&mut self.shrunk).into_iter().filter_map(|(source, shrunk)| Some((source, shrunk.record?)))
    }
}
