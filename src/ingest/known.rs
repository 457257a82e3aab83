//! Known: is this document already stored?
//!
//! The question is asked as soon as it may have an answer. The walker asks before it opens a file ([`before_reading`],
//! [`container`]), a worker once it has the bytes ([`by_content`]): both spare work. The intake decides ([`is_same`]), against
//! the documents as they will be once this run's batches are committed ([`KnownDocuments`]).

use xxhash_rust::xxh3::xxh3_128;

use super::options::IngestOptions;
use super::record::metadata_after;
use crate::document::Digest;
use crate::error::Result;
use crate::input::{About, CLOSED, FileFacts, ReadAs};
use crate::store::{DocumentRecord, PendingDocuments, Store};

/// The answer for a document before it is read.
pub(super) enum Known {
    /// Nothing, or that it has changed.
    Nothing,
    /// A document of its name and size is stored, with this content.
    Content(Digest),
    /// It was read from this very file, which has the same size and time still; its format.
    Unchanged(String),
}

/// The answer for a document that is a file.
pub(super) fn before_reading(store: &Store, options: &IngestOptions, about: &About, file: &FileFacts) -> Result<Known> {
    let Some(record) = newest_stored(store, &about.name)? else { return Ok(Known::Nothing) };
    let closed = options.read.closed && record.member.as_deref() == Some(CLOSED);
    if !may_be(&record, options, about, file.bytes) || (record.member.is_some() && !closed) {
        return Ok(Known::Nothing);
    }
    let same_time = record.modified().is_some() && record.modified() == file.modified;
    let place = (about.name.as_str(), Some(file.source.as_str()), about.member.as_deref());
    let same_words = metadata_after(&record.metadata, place, about.metadata.clone(), options) == record.metadata;
    let marked = record.boilerplate || !options.boilerplate;
    let unchanged = same_time && same_words && marked && record.source.as_deref() == Some(&file.source);
    Ok(if unchanged { Known::Unchanged(record.format) } else { Known::Content(record.digest) })
}

/// The documents that came of this container, if it was ingested whole under this name with the same settings and has not
/// changed.
pub(super) fn container(store: &Store, options: &IngestOptions, name: &str, file: &FileFacts) -> Result<Option<u64>> {
    let known = store.container(&file.source)?.filter(|known| {
        let modified = file.modified.map(|modified| (modified.seconds, modified.nanoseconds));
        known.bytes == file.bytes && Some(known.modified) == modified && known.settings == options.settings(name)
    });
    Ok(known.map(|known| known.documents))
}

/// The digest of a document's bytes, if the document stored under its name has the same.
pub(super) fn by_content(
    store: &Store,
    options: &IngestOptions,
    about: &About,
    bytes: &[u8],
) -> Result<Option<Digest>> {
    let Some(record) = newest_stored(store, &about.name)? else { return Ok(None) };
    if !may_be(&record, options, about, bytes.len() as u64) {
        return Ok(None);
    }
    let digest = xxh3_128(bytes).to_be_bytes();
    Ok((digest == record.digest).then_some(digest))
}

/// True if a stored document is the one of this record: its content is the same, and its format where one was asked for.
pub(super) fn is_same(options: &IngestOptions, stored: &DocumentRecord, record: &DocumentRecord) -> bool {
    let same_format = options.read.front_end == ReadAs::Auto || stored.format == record.format;
    stored.digest == record.digest && same_format
}

/// True if a stored document may be one of so many bytes that is not read yet: its format is allowed, and its text is stored
/// where texts are to be.
fn may_be(stored: &DocumentRecord, options: &IngestOptions, about: &About, bytes: u64) -> bool {
    let keeps = stored.stored_text || !options.store_text;
    stored.bytes == bytes && keeps && options.read.front_end.allows(&stored.format, &about.hint)
}

/// The record of the newest document committed under a name.
fn newest_stored(store: &Store, name: &str) -> Result<Option<DocumentRecord>> {
    let Some(newest) = store.newest_named(name, |_| true)? else { return Ok(None) };
    match store.document(newest) {
        // The intake has deleted it in between.
        Err(_) if !store.view().is_live(newest) => Ok(None),
        record => record.map(Some),
    }
}

/// The documents of the database as they will be once this run's batches are committed.
#[derive(Clone, Copy)]
pub(super) struct KnownDocuments<'a> {
    pub(super) store: &'a Store,
    /// The batch that is being committed, or was last.
    pub(super) committing: &'a PendingDocuments,
    /// The batch that fills.
    pub(super) filling: &'a PendingDocuments,
}

impl KnownDocuments<'_> {
    /// The documents of a name, in order of arrival: stored ones, those of the last batch, those of this one.
    pub(super) fn named(self, name: &str) -> Result<Vec<u32>> {
        let Self { committing, filling, .. } = self;
        // Documents of the last batch are stored too by now, or not.
        let stored = self.store.documents_named(name)?.into_iter();
        let stored = stored.filter(|&id| committing.record(id).is_none() && !committing.deletes(id));
        let added = committing.documents_named(name).iter().copied();
        let added = stored.chain(added).filter(|&id| !filling.deletes(id));
        Ok(added.chain(filling.documents_named(name).iter().copied()).collect())
    }

    /// The last of [`named`](Self::named). However many there are, it is found at once.
    pub(super) fn newest_named(self, name: &str) -> Result<Option<(u32, DocumentRecord)>> {
        let Self { committing, filling, .. } = self;
        let added = committing.documents_named(name).iter().rev().find(|&&id| !filling.deletes(id));
        let newest = match filling.documents_named(name).last().or(added) {
            Some(&newest) => Some(newest),
            None => self.store.newest_named(name, |id| {
                committing.record(id).is_none() && !committing.deletes(id) && !filling.deletes(id)
            })?,
        };
        newest.map(|id| Ok((id, self.record(id)?))).transpose()
    }

    /// The newest document that [is the same](is_same) as one of this record and has its name.
    pub(super) fn version_like(
        self,
        options: &IngestOptions,
        record: &DocumentRecord,
    ) -> Result<Option<(u32, DocumentRecord)>> {
        let Self { committing, filling, .. } = self;
        let stored = self.store.documents_with(&record.digest)?;
        let added = [committing.documents_with(&record.digest), filling.documents_with(&record.digest)].concat();
        for id in stored.into_iter().chain(added).rev() {
            if filling.deletes(id) || committing.deletes(id) {
                continue;
            }
            let found = self.record(id)?;
            if found.name == record.name && is_same(options, &found, record) {
                return Ok(Some((id, found)));
            }
        }
        Ok(None)
    }

    /// The documents of this content, ascending.
    pub(super) fn with_content(self, digest: &Digest) -> Result<impl Iterator<Item = u32>> {
        let Self { committing, filling, .. } = self;
        let added = [committing.documents_with(digest), filling.documents_with(digest)].concat();
        let ids = self.store.documents_with(digest)?.into_iter().chain(added);
        Ok(ids.filter(move |&id| !self.is_deleted(id)))
    }

    /// True if one of the two batches deletes the document.
    pub(super) fn is_deleted(self, id: u32) -> bool {
        self.committing.deletes(id) || self.filling.deletes(id)
    }

    /// True if the document is stored, or added by one of the two batches, and not deleted.
    pub(super) fn is_live(self, id: u32) -> bool {
        !self.is_deleted(id) && (self.is_added(id) || self.store.view().is_live(id))
    }

    /// The record of a document.
    pub(super) fn record(self, id: u32) -> Result<DocumentRecord> {
        let known = |pending: &PendingDocuments| pending.record(id).or_else(|| pending.update(id)).cloned();
        let pending = known(self.filling).or_else(|| known(self.committing));
        pending.map_or_else(|| self.store.document(id), Ok)
    }

    /// True if one of the two batches adds the document.
    pub(super) fn is_added(self, id: u32) -> bool {
        self.committing.record(id).is_some() || self.filling.record(id).is_some()
    }
}
