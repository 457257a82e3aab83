//! Batch: the documents that an ingest has fingerprinted and not yet committed, in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::codec::block::Posting;
use crate::codec::positions::{self, CHUNK_PLACES, FingerprintPlace};
use crate::codec::records::{ContainerRecord, DocumentRecord, RunRecord};
use crate::write::posting_buffer::PostingBuffer;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::document::Digest;

/// The most fingerprints of one call of [`Batch::push`]: by so much a batch may exceed its memory.
pub const PUSHED_AT_ONCE: usize = 4096;

/// Documents on their way into the store. Documents are added one after the other, in order of id.
#[derive(Debug)]
pub struct Batch {
    /// The id of the document being added, or of the next one.
    pub(crate) document: u32,
    memory: usize,
    pub(crate) postings: PostingBuffer,
    pub(crate) chunks: Chunks,
    /// Compressed texts: (document, chunk, bytes), ascending.
    texts: Vec<(u32, u32, Vec<u8>)>,
    text_bytes: usize,
    /// Shared with lookups that run while the batch is being committed.
    pub(crate) pending: Arc<PendingDocuments>,
    /// Containers that were ingested whole, by path; `None` for those that are to be looked at again.
    pub(crate) containers: BTreeMap<String, Option<ContainerRecord>>,
    /// Ids of documents that were added and deleted again.
    pub(crate) unused_ids: Vec<u32>,
    /// Runs already in the store that belong to this commit.
    pub(crate) runs: Vec<(u32, RunRecord)>,
    /// The memory of all records.
    record_bytes: usize,
    open: OpenDocument,
}

/// The documents that a batch adds, changes and deletes.
#[derive(Clone, Debug, Default)]
pub struct PendingDocuments {
    pub(crate) documents: Vec<(u32, DocumentRecord)>,
    /// Documents of commits before this one, with their records.
    pub(crate) deleted: BTreeMap<u32, DocumentRecord>,
    /// Documents of commits before this one whose records change without their fingerprints changing.
    pub(crate) updates: BTreeMap<u32, DocumentRecord>,
    /// The names that some of these have had so far, where they get others.
    pub(crate) renamed: BTreeMap<u32, String>,
    /// The ids of the added documents, by name and by content.
    names: HashMap<String, Vec<u32>>,
    digests: HashMap<Digest, Vec<u32>>,
}

impl PendingDocuments {
    /// The documents added under a name, in order of arrival.
    pub fn documents_named(&self, name: &str) -> &[u32] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// The documents added with this content.
    pub fn documents_with(&self, digest: &Digest) -> &[u32] {
        self.digests.get(digest).map_or(&[], Vec::as_slice)
    }

    /// The record of a document that is added.
    pub fn record(&self, document: u32) -> Option<&DocumentRecord> {
        let index = self.documents.binary_search_by_key(&document, |entry| entry.0).ok()?;
        Some(&self.documents[index].1)
    }

    /// The record that a stored document gets.
    pub fn update(&self, document: u32) -> Option<&DocumentRecord> {
        self.updates.get(&document)
    }

    /// True where it deletes the document.
    pub fn deletes(&self, document: u32) -> bool {
        self.deleted.contains_key(&document)
    }

    fn add(&mut self, document: u32, record: DocumentRecord) {
        self.names.entry(record.name.clone()).or_default().push(document);
        self.digests.entry(record.digest).or_default().push(document);
        self.documents.push((document, record));
    }

    /// Takes back a document it adds; false where it adds none of that id.
    fn take_back(&mut self, document: u32, record: &DocumentRecord) -> bool {
        let Ok(index) = self.documents.binary_search_by_key(&document, |entry| entry.0) else { return false };
        self.documents.remove(index);
        for ids in [self.names.get_mut(&record.name), self.digests.get_mut(&record.digest)] {
            ids.into_iter().for_each(|ids| ids.retain(|&id| id != document));
        }
        true
    }
}

/// Encoded chunks of positions, in ascending order of (document, chunk).
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// Their bytes, in pieces of one size, so that growing copies nothing and holds nothing twice.
    slabs: Vec<Vec<u8>>,
    index: Vec<ChunkEntry>,
}

#[derive(Clone, Copy, Debug)]
struct ChunkEntry {
    document: u32,
    chunk: u32,
    slab: u32,
    start: u32,
    end: u32,
}

/// Several chunks.
const SLAB_BYTES: usize = 256 << 10;

/// The most a chunk can take: five varints for each place, and their number.
const POSITION_CHUNK_BYTES: usize = CHUNK_PLACES as usize * 50 + 10;

impl Chunks {
    /// Appends a chunk.
    fn push(&mut self, document: u32, chunk: u32, places: &[FingerprintPlace]) {
        if self.slabs.last().is_none_or(|slab| slab.capacity() - slab.len() < POSITION_CHUNK_BYTES) {
            self.slabs.push(Vec::with_capacity(SLAB_BYTES));
        }
        let number = self.slabs.len() as u32 - 1;
        if let Some(slab) = self.slabs.last_mut() {
            let start = slab.len() as u32;
            positions::encode(places, slab);
            self.index.push(ChunkEntry { document, chunk, slab: number, start, end: slab.len() as u32 });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The chunk at `index`, as (document, chunk, bytes).
    pub(crate) fn get(&self, index: usize) -> (u32, u32, &[u8]) {
        let ChunkEntry { document, chunk, slab, start, end } = self.index[index];
        (document, chunk, &self.slabs[slab as usize][start as usize..end as usize])
    }

    /// Drops all but the first `len` chunks.
    fn truncate(&mut self, len: usize) {
        self.index.truncate(len);
        let (slabs, end) = self.index.last().map_or((0, 0), |last| (last.slab as usize + 1, last.end as usize));
        self.slabs.truncate(slabs);
        self.slabs.last_mut().into_iter().for_each(|slab| slab.truncate(end));
    }

    /// The bytes of all chunks.
    pub(crate) fn content_bytes(&self) -> usize {
        self.slabs.iter().map(Vec::len).sum()
    }

    /// The memory it holds.
    fn bytes(&self) -> usize {
        self.slabs.len() * SLAB_BYTES + self.index.capacity() * size_of::<ChunkEntry>()
    }
}

/// How far the current document has come.
#[derive(Debug, Default)]
struct OpenDocument {
    fingerprints: u64,
    /// The places of the chunk that is not full yet, and the number of that chunk.
    places: Vec<FingerprintPlace>,
    chunk: u32,
    /// Where its postings and chunks begin; of no use once some have been written to the store.
    first_posting: usize,
    first_chunk: usize,
    first_text: usize,
    /// Chunks of its text so far.
    text_chunks: u32,
    spilled: bool,
}

impl Batch {
    /// An empty batch that is full at about `memory` bytes. Its first document gets the id `next_document`.
    pub fn new(next_document: u32, memory: usize) -> Self {
        Self {
            document: next_document,
            memory,
            postings: PostingBuffer::new(memory / size_of::<Posting>() + PUSHED_AT_ONCE),
            chunks: Chunks::default(),
            texts: Vec::new(),
            text_bytes: 0,
            pending: Arc::default(),
            containers: BTreeMap::new(),
            unused_ids: Vec::new(),
            runs: Vec::new(),
            record_bytes: 0,
            open: OpenDocument::default(),
        }
    }

    /// Adds fingerprints of the current document, at most [`PUSHED_AT_ONCE`]; they come in order of
    /// position. The batch must not be full.
    ///
    /// # Errors
    /// [`DocumentError::TooManyFingerprints`](fpdb_host::error::DocumentError::TooManyFingerprints) past 2^32 in one document.
    pub fn push(&mut self, mut fingerprints: impl ExactSizeIterator<Item = Fingerprint> + Clone) -> Result<()> {
        let limit = u64::from(u32::MAX) + 1;
        let (first, count) = (self.open.fingerprints, fingerprints.len() as u64);
        if first + count > limit {
            return Err(Error::Document(DocumentError::TooManyFingerprints { limit }));
        }
        let (document, mut ordinal) = (self.document, first as u32);
        self.postings.extend(fingerprints.clone().map(|Fingerprint { hash, .. }| {
            let posting = Posting { hash, document, ordinal };
            // The last one there can be has none after it.
            ordinal = ordinal.wrapping_add(1);
            posting
        }))?;
        self.open.fingerprints += count;
        while fingerprints.len() > 0 {
            let room = CHUNK_PLACES as usize - self.open.places.len();
            self.open
                .places
                .extend(fingerprints.by_ref().take(room).map(|fingerprint| FingerprintPlace::of(&fingerprint)));
            if self.open.places.len() == CHUNK_PLACES as usize {
                self.end_chunk();
            }
        }
        Ok(())
    }

    /// Adds the next compressed chunk of the current document's text. The batch must not be full.
    pub fn push_text(&mut self, chunk: Vec<u8>) {
        self.text_bytes += chunk.len();
        self.texts.push((self.document, self.open.text_chunks, chunk));
        self.open.text_chunks += 1;
    }

    /// Gives the next document the id `document`, which must not be below its own; those between are given to none.
    pub(crate) fn skip_to(&mut self, document: u32) {
        self.document = self.document.max(document);
    }

    fn end_chunk(&mut self) {
        self.chunks.push(self.document, self.open.chunk, &self.open.places);
        self.open.places.clear();
        self.open.chunk = self.open.chunk.wrapping_add(1);
    }

    /// Fingerprints of the current document so far.
    pub fn fingerprints(&self) -> u64 {
        self.open.fingerprints
    }

    /// Ends the current document and returns its id; what repeats in it is taken off `record.distinct` when its
    /// postings are sorted.
    pub fn finish(&mut self, record: DocumentRecord) -> Result<u32> {
        let id = self.document;
        if !self.open.places.is_empty() {
            self.end_chunk();
        }
        self.record_bytes += bytes_of(&record);
        Arc::make_mut(&mut self.pending).add(id, record);
        self.advance()?;
        Ok(id)
    }

    /// The documents that it changes, so far.
    pub fn pending(&self) -> &Arc<PendingDocuments> {
        &self.pending
    }

    /// Drops what was added of the current document, whose id is used for the next one. Rows of it that are in the store already
    /// must have been [discarded](crate::Committer::discard).
    pub fn abandon(&mut self) {
        self.postings.truncate(self.open.first_posting);
        self.chunks.truncate(self.open.first_chunk);
        self.text_bytes -= self.texts.drain(self.open.first_text..).map(|(_, _, chunk)| chunk.len()).sum::<usize>();
        self.begin();
    }

    /// Deletes a document with this commit, be it one of an earlier commit or of this batch. The container it came from, if
    /// it did, will be looked at again.
    pub fn delete(&mut self, document: u32, record: DocumentRecord) {
        if let Some(source) = &record.source {
            self.containers.insert(source.clone(), None);
        }
        let pending = Arc::make_mut(&mut self.pending);
        if pending.take_back(document, &record) {
            self.unused_ids.push(document);
        } else {
            self.record_bytes += bytes_of(&record);
            pending.deleted.insert(document, record);
        }
    }

    /// Rewrites the record of a stored document with this commit. Where it came from another container `before`, that one will be looked
    /// at again: it is no longer what keeps the document up to date.
    pub fn update(&mut self, document: u32, before: &DocumentRecord, record: DocumentRecord) {
        if let Some(source) = before.source.as_ref().filter(|_| before.source != record.source) {
            self.containers.insert(source.clone(), None);
        }
        self.record_bytes += bytes_of(&record);
        let before = Arc::make_mut(&mut self.pending).updates.insert(document, record);
        self.record_bytes -= before.as_ref().map_or(0, bytes_of);
    }

    /// Rewrites the record of a stored document with this commit, and gives it another name. The container it came from, if it
    /// did, will be looked at again.
    pub fn rename(&mut self, document: u32, before: DocumentRecord, record: DocumentRecord) {
        if let Some(source) = &before.source {
            self.containers.insert(source.clone(), None);
        }
        self.update(document, &before, record);
        self.record_bytes += 128 + before.name.len();
        Arc::make_mut(&mut self.pending).renamed.insert(document, before.name);
    }

    /// With this commit the container at `source` counts as ingested whole.
    pub fn container(&mut self, source: String, record: ContainerRecord) {
        self.record_bytes += 1024 + source.len();
        self.containers.insert(source, Some(record));
    }

    /// With this commit the container at `source` counts as not ingested: it will be looked at again.
    pub fn forget_container(&mut self, source: String) {
        self.record_bytes += 1024 + source.len();
        self.containers.insert(source, None);
    }

    /// True where it should be spilled, or once a document has ended committed.
    pub fn is_full(&self) -> bool {
        self.held() >= self.memory
    }

    /// The memory it holds.
    pub(crate) fn held(&self) -> usize {
        self.postings.bytes() + self.chunks.bytes() + self.record_bytes + self.text_bytes
    }

    /// True where some of it lies in the store already and waits for the commit.
    pub fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// True where a commit would change nothing.
    pub fn is_empty(&self) -> bool {
        let PendingDocuments { documents, deleted, updates, .. } = &*self.pending;
        documents.is_empty()
            && deleted.is_empty()
            && updates.is_empty()
            && self.unused_ids.is_empty()
            && self.containers.is_empty()
    }

    /// True where the current document is partly in the store.
    pub fn is_spilled(&self) -> bool {
        self.open.spilled
    }

    /// The rows to be written: all postings, and the chunks that will not grow any more.
    pub(crate) fn content(&mut self) -> (&mut [Posting], &Chunks) {
        (self.postings.as_mut_slice(), &self.chunks)
    }

    /// Compressed chunks of texts, as (document, chunk, bytes), ascending.
    pub(crate) fn texts(&self) -> &[(u32, u32, Vec<u8>)] {
        &self.texts
    }

    /// The postings and the chunks and the texts have been written to the store.
    pub(crate) fn written(&mut self, run: Option<(u32, RunRecord)>) {
        self.runs.extend(run);
        self.postings.release();
        self.chunks = Chunks::default();
        self.texts = Vec::new();
        self.text_bytes = 0;
        self.open.spilled = self.open.fingerprints > 0 || self.open.text_chunks > 0;
        self.open.first_posting = 0;
        self.open.first_chunk = 0;
        self.open.first_text = 0;
    }

    /// An empty batch like this one, for the documents after it.
    pub fn next(&self) -> Self {
        Self::new(self.document, self.memory)
    }

    fn advance(&mut self) -> Result<()> {
        let limit = u64::from(u32::MAX);
        self.document = self.document.checked_add(1).ok_or(Error::TooManyDocuments { limit })?;
        self.begin();
        Ok(())
    }

    fn begin(&mut self) {
        let mut places = std::mem::take(&mut self.open.places);
        places.clear();
        self.open = OpenDocument {
            places,
            first_posting: self.postings.len(),
            first_chunk: self.chunks.len(),
            first_text: self.texts.len(),
            ..OpenDocument::default()
        };
    }
}

/// The bytes of a record in a batch and, for a moment, in its commit, with its entries by name and content.
fn bytes_of(record: &DocumentRecord) -> usize {
    let metadata = record.metadata.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
    let texts = record.name.len() * 3 + record.source.as_ref().map_or(0, String::len) * 2 + metadata.sum::<usize>() * 2;
    1024 + texts
}
