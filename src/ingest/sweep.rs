//! Sweep: finds documents that a container no longer holds, after the container was read whole.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use fpdb_host::error::Result;
use fpdb_reading::input::PARTS;
use fpdb_store::{ContainerRecord, Store};

/// The documents that a run has found, and the documents that containers no longer hold.
pub(super) struct Sweep {
    /// The first id of this run.
    first: u32,
    /// The documents of earlier runs that this run has found.
    met: RoaringBitmap,
    /// The documents of earlier runs that were not found when their containers were read whole.
    unmet: RoaringBitmap,
    /// The records to store for these containers after the sweep, by path.
    records: HashMap<String, ContainerRecord>,
}

impl Sweep {
    /// A sweep for a run whose first document gets the id `first`.
    pub(super) fn new(first: u32) -> Self {
        Self { first, met: RoaringBitmap::new(), unmet: RoaringBitmap::new(), records: HashMap::new() }
    }

    /// Notes that a document of an earlier run, or its replacement, was found.
    pub(super) fn meet(&mut self, id: u32) {
        if id < self.first {
            self.met.insert(id);
        }
    }

    /// For a dry run, which stores nothing: adds the documents that its earlier runs have found (`met`). Then
    /// sets `met` to all documents found so far.
    pub(super) fn join(&mut self, met: &mut RoaringBitmap) {
        self.met |= &*met;
        met.clone_from(&self.met);
    }

    /// True if this run has added this document or found it unchanged.
    pub(super) fn is_of_this_run(&self, id: u32) -> bool {
        id >= self.first || self.met.contains(id)
    }

    /// True if there are documents of earlier runs.
    pub(super) fn follows_others(&self) -> bool {
        self.first > 0
    }

    /// The stored documents of the container `name` at the path `source` that this run has not found.
    pub(super) fn unmet(&self, store: &Store, name: &str, source: &str) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        if !self.follows_others() {
            return Ok(ids);
        }
        // The container may have been a single document.
        ids.extend(store.documents_named(name)?.into_iter().filter(|&id| !self.is_of_this_run(id)));
        for part in PARTS {
            store.for_each_name_beginning(&format!("{name}{part}"), |_, id| {
                ids.extend(Some(id).filter(|&id| !self.is_of_this_run(id)));
                Ok(true)
            })?;
        }
        let mut unmet = Vec::new();
        for id in ids {
            // A document of another file may have such a name.
            if store.document(id)?.source.as_deref() == Some(source) {
                unmet.push(id);
            }
        }
        Ok(unmet)
    }

    /// Adds documents that the container at the path `source` no longer holds, and its record after the
    /// sweep.
    pub(super) fn add(&mut self, unmet: Vec<u32>, source: String, record: ContainerRecord) {
        self.unmet.extend(unmet);
        self.records.insert(source, record);
    }

    /// The documents that containers no longer hold, ascending.
    pub(super) fn left(&self, store: &Store) -> Vec<u32> {
        let is_left = |&id: &u32| !self.is_of_this_run(id) && store.view().is_live(id);
        self.unmet.iter().filter(is_left).collect()
    }

    /// Ends the sweep. Returns the containers to remember, by path.
    pub(super) fn swept(&mut self) -> impl Iterator<Item = (String, ContainerRecord)> {
        std::mem::take(&mut self.records).into_iter()
    }
}
