//! Options: what an ingest reads, and what it keeps.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::input::{MetadataTable, ReadOptions, WalkOptions};
use crate::setters::setters;

/// What to do with a document whose name is stored with other content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnChange {
    /// The stored document is deleted in favour of the new one.
    #[default]
    Replace,
    /// The stored document stays, the new one is left out.
    Keep,
    /// Both are kept, under one name.
    Both,
}

/// How to ingest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IngestOptions {
    /// What to do with documents that have changed.
    pub on_change: OnChange,
    /// Whether to keep the documents' bytes in the database, compressed: their passages can then be compared symbol
    /// by symbol once the files are gone. Documents stored without are taken in again.
    pub store_text: bool,
    /// Which files count.
    pub walk: WalkOptions,
    /// What is taken for a document, and how it is read.
    pub read: ReadOptions,
    /// The documents are boilerplate: never a match, and what they hold is ignored in others. A document that is
    /// boilerplate stays it until it is removed.
    pub boilerplate: bool,
    /// What is known of documents beside their content.
    pub metadata: Option<Arc<MetadataTable>>,
}

impl IngestOptions {
    setters! {
        on_change: OnChange,
        store_text: bool,
        walk: WalkOptions,
        read: ReadOptions,
        boilerplate: bool,
        metadata: Option<Arc<MetadataTable>>,
    }

    /// Whether a run can begin with these; it does so first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) for a glob that does not parse.
    pub fn check(&self) -> Result<()> {
        self.walk.check()
    }

    /// A digest of what has a say in which documents the container of this name gives, and in what is kept of them.
    pub(super) fn settings(&self, name: &str) -> u64 {
        let ReadOptions { front_end, closed, fields, limits: _, skip_quotes: _ } = &self.read;
        let table = self.metadata.as_ref().map(|table| table.digest());
        let (boilerplate, store_text) = (self.boilerplate, self.store_text);
        // A run that deletes nothing may leave what the container no longer holds.
        let deletes = self.on_change == OnChange::Replace;
        let settings =
            format!("{front_end:?} {closed} {fields:?} {boilerplate} {store_text} {table:?} {deletes} {name}");
        xxh3_64(settings.as_bytes())
    }
}
