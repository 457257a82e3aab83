//! Known: decides whether a document is already stored.
//!
//! Three parts of a run look for a stored document. The walker looks before it opens a file
//! ([`before_reading`], [`container`]), and a worker looks when it has the bytes ([`by_content`]). These two
//! only save work. The intake decides ([`is_same`]). The intake compares with the documents as they will be
//! after the batches of this run ([`KnownDocuments`]).

use xxhash_rust::xxh3::xxh3_128;

use super::options::{IngestOptions, ReadOutcome};
use super::record::metadata_after;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::input::{About, CLOSED, FileFacts, ReadAs, file_name_of, is_missing};
use fpdb_store::{ContainerRecord, DocumentRecord, LeftMembers, PendingDocuments, Store};

/// The answer for a document before it is read.
pub(super) enum Known {
    /// The document is not stored, or has changed.
    Nothing,
    /// A document of the same name and size is stored, with this content.
    Content(Digest),
    /// The document was read from this file, which still has the same size and time. The value is the format
    /// of the document.
    Unchanged(String),
}

/// The answer for a document that is a file.
pub(super) fn before_reading(store: &Store, options: &IngestOptions, about: &About, file: &FileFacts) -> Result<Known> {
    let Some(record) = newest_stored(store, about)? else { return Ok(Known::Nothing) };
    let closed = options.read.closed && record.member.as_deref() == Some(CLOSED);
    if !may_be(&record, options, about, file.bytes) || (record.member.is_some() && !closed) {
        return Ok(Known::Nothing);
    }
    // `container` decides about a mail whose attachments are documents, in this run or in an earlier one. It
    // also decides about a mail with headers to keep.
    if record.format == Format::Mail.name()
        && (options.read.reads_attachments()
            || !options.read.fields.keep.is_empty()
            || store.container(&file.source)?.is_some())
    {
        return Ok(Known::Nothing);
    }
    let same_time = record.modified().is_some() && record.modified() == file.modified;
    let place = (about.name.as_str(), Some(file.source.as_str()), about.member.as_deref());
    let same_words = metadata_after(&record.metadata, place, about.metadata.clone(), options) == record.metadata;
    let unchanged = same_time && same_words && record.source.as_deref() == Some(&file.source);
    Ok(if unchanged { Known::Unchanged(record.format) } else { Known::Content(record.digest) })
}

/// The settings for reading a document that is not known to be stored.
pub(super) struct Reading {
    /// True if the document is fingerprinted as boilerplate.
    pub(super) boilerplate: bool,
    pub(super) store_text: bool,
}

impl Reading {
    /// The settings for a document of another database that is read again.
    pub(super) fn again(stored: &DocumentRecord, options: &IngestOptions) -> Self {
        Self { boilerplate: stored.boilerplate, store_text: stored.stored_text || options.store_text }
    }
}

/// Decides how to read a document. If a boilerplate document changes, its mark stays. If a stored document
/// becomes boilerplate, its text stays.
pub(super) fn reading(store: &Store, options: &IngestOptions, about: &About) -> Result<Reading> {
    let (marks, store_text) = (marks(options, about), options.store_text);
    // If this run finds a name twice, the version that is stored by now depends on the speed of commits. So
    // the stored version decides nothing.
    if about.repeated || !marks && store.view().boilerplate_count() == 0 {
        return Ok(Reading { boilerplate: marks, store_text });
    }
    // Two files can have one name. The mark of another file's document does not apply to this document. But
    // if that file is gone, this document replaces the marked one.
    let source = source_of(about);
    let stored = newest_stored(store, about)?;
    let is_of_file = |from: Option<&str>| from == source || from.is_some_and(is_missing);
    let is_marked = stored.as_ref().is_some_and(|stored| stored.boilerplate && is_of_file(stored.source.as_deref()));
    let has_text = stored.is_some_and(|stored| stored.stored_text);
    Ok(Reading { boilerplate: marks || is_marked, store_text: store_text || marks && !is_marked && has_text })
}

/// True if this run makes the document boilerplate.
fn marks(options: &IngestOptions, about: &About) -> bool {
    options.marks(&about.name, source_of(about))
}

/// The path of a document's file.
fn source_of(about: &About) -> Option<&str> {
    about.file.as_ref().map(|file| file.source.as_str())
}

/// A container that was read under this name with the same settings, and has not changed since.
pub(super) struct KnownContainer {
    /// The number of documents read from the container.
    pub(super) documents: u64,
    /// The members of the container that are no documents. If a member could not be read, a second attempt
    /// would fail too.
    pub(super) left: Vec<LeftMembers>,
}

/// The container that was read from this file, if neither the file nor the settings have changed. `None` if
/// the container must be read. `kept_out` is as in
/// [`KeptOutContents::digest`](super::kept_out::KeptOutContents::digest).
pub(super) fn container(
    store: &Store,
    (options, kept_out): (&IngestOptions, Option<u64>),
    name: &str,
    file: &FileFacts,
) -> Result<Option<KnownContainer>> {
    let modified = file.modified.map(|modified| (modified.seconds, modified.nanoseconds));
    let is_unchanged = |known: &ContainerRecord| known.bytes == file.bytes && Some(known.modified) == modified;
    let Some(known) = store.container(&file.source)?.filter(is_unchanged) else { return Ok(None) };
    let mut outcomes = [None, kept_out]
        .into_iter()
        .flat_map(|kept_out| [false, true].map(|has_failed| ReadOutcome { has_failed, kept_out }));
    let outcome = outcomes.find(|&outcome| known.settings == options.settings(name, &file.source, outcome));
    Ok(outcome.map(|outcome| {
        let mut left = known.left;
        if outcome.has_failed && !left.iter().any(|left| left.has_failed) {
            // An earlier version of fpdb did not store the names of failed members.
            left.push(LeftMembers { reason: String::new(), has_failed: true, number: 1, first: Vec::new() });
        }
        KnownContainer { documents: known.documents, left }
    }))
}

/// The digest of a document's bytes, if the document stored under its name has the same digest.
pub(super) fn by_content(
    store: &Store,
    options: &IngestOptions,
    about: &About,
    bytes: &[u8],
) -> Result<Option<Digest>> {
    let Some(record) = newest_stored(store, about)? else { return Ok(None) };
    if !may_be(&record, options, about, bytes.len() as u64) {
        return Ok(None);
    }
    let digest = xxh3_128(bytes).to_be_bytes();
    Ok((digest == record.digest).then_some(digest))
}

/// True if a stored document has the content of this record and, if the caller chose a format, its format.
pub(super) fn is_same(options: &IngestOptions, stored: &DocumentRecord, record: &DocumentRecord) -> bool {
    let same_format = options.read.front_end == ReadAs::Auto || stored.format == record.format;
    stored.digest == record.digest && same_format
}

/// True if a stored document may have the content of an unread file of `bytes` bytes. The stored document
/// must have this size and an allowed format. Its text must be stored if this run stores texts, and it must
/// be boilerplate if this run makes it boilerplate.
fn may_be(stored: &DocumentRecord, options: &IngestOptions, about: &About, bytes: u64) -> bool {
    let keeps = stored.stored_text || !options.store_text;
    let marked = stored.boilerplate || !marks(options, about);
    stored.bytes == bytes && keeps && marked && options.read.front_end.allows(&stored.format, &about.hint.name)
}

/// Like [`KnownDocuments::newest_like`], but looks at committed documents only. `None` if the document found
/// has the name [by chance](is_of_file).
fn newest_stored(store: &Store, about: &About) -> Result<Option<DocumentRecord>> {
    let source = source_of(about);
    let Some(newest) = store.newest_named(&about.name, |_| true)? else { return Ok(None) };
    let mut newest = stored(store, newest)?;
    if newest.as_ref().is_none_or(|record| record.source.as_deref() != source) {
        for id in store.documents_named(&about.name)?.into_iter().rev() {
            if let Some(record) = stored(store, id)?
                && record.source.as_deref() == source
            {
                newest = Some(record);
                break;
            }
        }
    }
    Ok(newest.filter(|record| is_of_file(record, source, about.member.as_deref())))
}

/// A committed document; `None` if the intake has deleted it in the meantime.
pub(super) fn stored(store: &Store, id: u32) -> Result<Option<DocumentRecord>> {
    match store.document(id) {
        Err(_) if !store.view().is_live(id) => Ok(None),
        record => record.map(Some),
    }
}

/// False if a stored document has the name of another document by chance: one of them is a part of a
/// container, and the other is a file that is named like such a part. `source` and `member` are those of the
/// other document.
pub(super) fn is_of_file(stored: &DocumentRecord, source: Option<&str>, member: Option<&str>) -> bool {
    let file = |member: Option<&str>| file_name_of(&stored.name, member).map(str::len);
    stored.source.as_deref() == source || file(stored.member.as_deref()) == file(member)
}

/// The documents of the database as they will be after the batches of this run.
#[derive(Clone, Copy)]
pub(super) struct KnownDocuments<'a> {
    pub(super) store: &'a Store,
    /// The batch that is being committed, or was committed last.
    pub(super) committing: &'a PendingDocuments,
    /// The batch that fills.
    pub(super) filling: &'a PendingDocuments,
}

impl KnownDocuments<'_> {
    /// The documents of a name, in order of arrival: first stored documents, then documents of the last
    /// batch, then documents of this batch.
    pub(super) fn named(self, name: &str) -> Result<Vec<u32>> {
        let Self { committing, filling, .. } = self;
        // The last batch may be committed already, so its documents may be among the stored ones.
        let stored = self.store.documents_named(name)?.into_iter();
        let stored = stored.filter(|&id| committing.record(id).is_none() && !committing.deletes(id));
        let added = committing.documents_named(name).iter().copied();
        let added = stored.chain(added).filter(|&id| !filling.deletes(id));
        Ok(added.chain(filling.documents_named(name).iter().copied()).collect())
    }

    /// The last of [`named`](Self::named), found in constant time.
    fn newest_named(self, name: &str) -> Result<Option<(u32, DocumentRecord)>> {
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

    /// The stored version of a document: the newest document of its name that was read from the same file. If
    /// there is none, the newest document of its name. After a merge with `OnChange::Both`, two files can
    /// have one name.
    pub(super) fn newest_like(self, name: &str, source: Option<&str>) -> Result<Option<(u32, DocumentRecord)>> {
        let Some(newest) = self.newest_named(name)? else { return Ok(None) };
        if newest.1.source.as_deref() == source {
            return Ok(Some(newest));
        }
        for id in self.named(name)?.into_iter().rev() {
            let other = self.record(id)?;
            if other.source.as_deref() == source {
                return Ok(Some((id, other)));
            }
        }
        Ok(Some(newest))
    }

    /// The newest document that has the name of this record and [is the same](is_same).
    pub(super) fn version_like(
        self,
        options: &IngestOptions,
        record: &DocumentRecord,
    ) -> Result<Option<(u32, DocumentRecord)>> {
        let is_version = |id: u32| Ok::<_, Error>(!self.is_deleted(id) && is_same(options, &self.record(id)?, record));
        for pending in [self.filling, self.committing] {
            let (named, with) = (pending.documents_named(&record.name), pending.documents_with(&record.digest));
            for id in common_descending(named, with) {
                if is_version(id)? {
                    return Ok(Some((id, self.record(id)?)));
                }
            }
        }
        let newest = self.store.newest_version(&record.name, &record.digest, is_version)?;
        newest.map(|id| Ok((id, self.record(id)?))).transpose()
    }

    /// A document of this content. Looks at a few documents only.
    pub(super) fn with_content(self, digest: &Digest) -> Result<Option<u32>> {
        let counts = |id: u32| !self.is_deleted(id);
        let pending =
            [self.filling, self.committing].into_iter().flat_map(|pending| pending.documents_with(digest).iter().rev());
        match pending.copied().find(|&id| counts(id)) {
            Some(id) => Ok(Some(id)),
            None => self.store.newest_with(digest, counts),
        }
    }

    /// True if one of the two batches deletes the document.
    pub(super) fn is_deleted(self, id: u32) -> bool {
        self.committing.deletes(id) || self.filling.deletes(id)
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

/// The numbers that two ascending lists have in common, descending. Skips runs of numbers that only one list
/// has.
fn common_descending<'a>(one: &'a [u32], other: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let (mut one, mut other) = (one, other);
    std::iter::from_fn(move || {
        loop {
            let (first, second) = (*one.last()?, *other.last()?);
            let most = first.min(second);
            one = &one[..one.partition_point(|&id| id <= most)];
            other = &other[..other.partition_point(|&id| id <= most)];
            if first == second {
                (one, other) = (&one[..one.len() - 1], &other[..other.len() - 1]);
                return Some(most);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_numbers_are_those_in_both_lists() {
        for one in 0u32..64 {
            for other in 0u32..64 {
                let list = |bits: u32| (0..6).filter(|bit| bits >> bit & 1 == 1).collect::<Vec<u32>>();
                let mut expected = list(one & other);
                expected.reverse();
                assert_eq!(common_descending(&list(one), &list(other)).collect::<Vec<u32>>(), expected);
            }
        }
    }
}
