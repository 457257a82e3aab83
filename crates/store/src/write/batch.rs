//! Batch: documents that an ingest has fingerprinted but not committed, in memory.
//!
//! One batch fills while a thread sorts and writes the batch before it. Each of the two takes three eighths
//! of the memory allowed. The postings lie in an anonymous memory map, so that nothing else can change them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::codec::block::Posting;
use crate::codec::container_record::ContainerRecord;
use crate::codec::positions::{self, CHUNK_PLACES, FingerprintPlace};
use crate::codec::records::{DocumentRecord, RunRecord};
use crate::name_places::NamePlace;
use crate::write::posting_buffer::PostingBuffer;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::{Profile, View};

/// Maximum number of fingerprints in one call of [`Batch::push`]. A batch can exceed its memory by this
/// number of fingerprints.
pub const PUSHED_AT_ONCE: usize = 4096;

/// Documents that will be committed together. They are added one after the other, in order of id.
#[derive(Debug)]
pub struct Batch {
    profile: Profile,
    /// The id of the document being added, or of the next one.
    pub(crate) document: u32,
    /// The size of a batch that is worth a run of its own, in bytes.
    pub(crate) memory: usize,
    /// The size at which the batch is full. At most `memory`.
    pub(crate) limit: usize,
    pub(crate) postings: PostingBuffer,
    pub(crate) chunks: Chunks,
    /// Compressed texts: (document, chunk, bytes), ascending.
    texts: Vec<(u32, u32, Vec<u8>)>,
    text_bytes: usize,
    /// The pending changes, shared with lookups that run during the commit of the batch.
    pub(crate) pending: Arc<PendingDocuments>,
    /// By path: containers that were ingested completely. `None` for containers that the next ingest must
    /// read again.
    pub(crate) containers: BTreeMap<String, Option<ContainerRecord>>,
    /// The places of its documents.
    pub(crate) places: BTreeSet<NamePlace>,
    /// Ids of documents that were added to this batch and deleted again.
    pub(crate) unused_ids: Vec<u32>,
    /// Runs of this batch that are in the store already.
    pub(crate) runs: Vec<(u32, RunRecord)>,
    /// The memory of all records, in bytes.
    record_bytes: usize,
    /// The bytes of all documents added.
    document_bytes: u64,
    /// True if the batch only counts the fingerprints and texts of documents, and does not keep them.
    counts_only: bool,
    open: OpenDocument,
}

/// The documents that a batch adds, changes and deletes.
#[derive(Clone, Debug, Default)]
pub struct PendingDocuments {
    pub(crate) documents: Vec<(u32, DocumentRecord)>,
    /// Deleted documents of earlier commits, with their records.
    pub deleted: BTreeMap<u32, DocumentRecord>,
    /// Documents of earlier commits that get a new record. Their fingerprints do not change.
    pub(crate) updates: BTreeMap<u32, DocumentRecord>,
    /// The old names of updated documents that get a new name.
    pub(crate) renamed: BTreeMap<u32, String>,
    /// The ids of the added documents, by name and by digest.
    names: HashMap<String, Vec<u32>>,
    digests: HashMap<Digest, Vec<u32>>,
}

impl PendingDocuments {
    /// The documents added with this name, in order of arrival.
    pub fn documents_named(&self, name: &str) -> &[u32] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// The documents added with this content, in order of arrival.
    pub fn documents_with(&self, digest: &Digest) -> &[u32] {
        self.digests.get(digest).map_or(&[], Vec::as_slice)
    }

    /// The record of a document that this batch adds. `None` if it adds no such document.
    pub fn record(&self, document: u32) -> Option<&DocumentRecord> {
        let index = self.documents.binary_search_by_key(&document, |entry| entry.0).ok()?;
        Some(&self.documents[index].1)
    }

    /// The new record of a stored document. `None` if the batch does not change it.
    pub fn update(&self, document: u32) -> Option<&DocumentRecord> {
        self.updates.get(&document)
    }

    /// True if the batch deletes this stored document.
    pub fn deletes(&self, document: u32) -> bool {
        self.deleted.contains_key(&document)
    }

    fn add(&mut self, document: u32, record: DocumentRecord) {
        self.names.entry(record.name.clone()).or_default().push(document);
        self.digests.entry(record.digest).or_default().push(document);
        self.documents.push((document, record));
    }

    /// Replaces the record of a document. Returns the earlier record if this batch had one.
    fn change(&mut self, document: u32, record: DocumentRecord) -> Option<DocumentRecord> {
        match self.documents.binary_search_by_key(&document, |entry| entry.0) {
            Ok(index) => Some(std::mem::replace(&mut self.documents[index].1, record)),
            Err(_) => self.updates.insert(document, record),
        }
    }

    /// Removes a document that this batch adds. Returns false if the batch adds no document of this id.
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
    /// The bytes of the chunks, in slabs of equal size. So growing copies nothing and needs no second copy.
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

/// The size of a slab, which holds several chunks.
const SLAB_BYTES: usize = 256 << 10;

/// Maximum bytes of a chunk: five varints for each place, and the number of places.
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

    /// Removes all chunks except the first `len`.
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

    /// The memory that the chunks take, in bytes.
    fn bytes(&self) -> usize {
        self.slabs.len() * SLAB_BYTES + self.index.capacity() * size_of::<ChunkEntry>()
    }
}

/// The state of the document being added.
#[derive(Debug, Default)]
struct OpenDocument {
    fingerprints: u64,
    /// Number of fingerprints of the text as written, if there are two views.
    of_text: u64,
    /// The places of the incomplete chunk, and the number of that chunk.
    places: Vec<FingerprintPlace>,
    chunk: u32,
    /// The indexes in the batch at which the document's postings, chunks and texts begin. They are not used
    /// once part of the document is in the store.
    first_posting: usize,
    first_chunk: usize,
    first_text: usize,
    /// The number of its text chunks so far.
    text_chunks: u32,
    spilled: bool,
}

impl Batch {
    /// An empty batch for a store of this profile. It is full at about `memory` bytes. Its first document
    /// gets the id `next_document`.
    pub fn new(profile: &Profile, next_document: u32, memory: usize) -> Self {
        Self {
            profile: *profile,
            document: next_document,
            memory,
            limit: memory,
            postings: PostingBuffer::new(memory / size_of::<Posting>() + PUSHED_AT_ONCE),
            chunks: Chunks::default(),
            texts: Vec::new(),
            text_bytes: 0,
            pending: Arc::default(),
            containers: BTreeMap::new(),
            places: BTreeSet::new(),
            unused_ids: Vec::new(),
            runs: Vec::new(),
            record_bytes: 0,
            document_bytes: 0,
            counts_only: false,
            open: OpenDocument::default(),
        }
    }

    /// Turns the batch into one that is never committed. It keeps the records of its documents, but only
    /// counts their fingerprints.
    #[must_use]
    pub fn counting_only(self) -> Self {
        Self { counts_only: true, ..self }
    }

    /// Adds at most [`PUSHED_AT_ONCE`] fingerprints of the current document. The fingerprints of each view
    /// must come in order of position. The batch must not be full.
    ///
    /// # Errors
    /// [`DocumentError::TooManyFingerprints`] above 2^32 fingerprints in one document.
    pub fn push(&mut self, mut fingerprints: impl ExactSizeIterator<Item = Fingerprint> + Clone) -> Result<()> {
        let limit = u64::from(u32::MAX) + 1;
        let (first, count) = (self.open.fingerprints, fingerprints.len() as u64);
        if first + count > limit {
            return Err(Error::Document(DocumentError::TooManyFingerprints { limit }));
        }
        let (document, mut ordinal) = (self.document, first as u32);
        let (profile, of_text) = (self.profile, &mut self.open.of_text);
        if self.counts_only {
            let is_of_text = |it: &Fingerprint| profile.view_of(it.hash) == View::Text;
            *of_text += fingerprints.filter(is_of_text).count() as u64;
            self.open.fingerprints += count;
            return Ok(());
        }
        self.postings.extend(fingerprints.clone().map(|Fingerprint { hash, .. }| {
            *of_text += u64::from(profile.view_of(hash) == View::Text);
            let posting = Posting { hash, document, ordinal };
            // If this wraps, no fingerprint follows: the largest ordinal was the last one allowed.
            ordinal = ordinal.wrapping_add(1);
            posting
        }))?;
        self.open.fingerprints += count;
        while fingerprints.len() > 0 {
            let room = CHUNK_PLACES as usize - self.open.places.len();
            self.open.places.extend(
                fingerprints.by_ref().take(room).map(|fingerprint| FingerprintPlace::of(&fingerprint, &profile)),
            );
            if self.open.places.len() == CHUNK_PLACES as usize {
                self.end_chunk();
            }
        }
        Ok(())
    }

    /// Adds the next compressed chunk of the current document's text. The batch must not be full.
    pub fn push_text(&mut self, chunk: Vec<u8>) {
        if self.counts_only {
            return;
        }
        self.text_bytes += chunk.len();
        self.texts.push((self.document, self.open.text_chunks, chunk));
        self.open.text_chunks += 1;
    }

    /// Gives the next document the id `document`. The ids between stay unused. Does nothing if `document` is
    /// lower.
    pub(crate) fn skip_to(&mut self, document: u32) {
        self.document = self.document.max(document);
    }

    fn end_chunk(&mut self) {
        self.chunks.push(self.document, self.open.chunk, &self.open.places);
        self.open.places.clear();
        self.open.chunk = self.open.chunk.wrapping_add(1);
    }

    /// The number of fingerprints of the current document so far.
    pub fn fingerprints(&self) -> u64 {
        self.open.fingerprints
    }

    /// The number of fingerprints of the current document so far that belong to the text as written, if there
    /// are two views.
    pub fn fingerprints_of_text(&self) -> u64 {
        self.open.of_text
    }

    /// Ends the current document and returns its id. The commit sorts the postings, and then subtracts
    /// repeated hashes from the document's numbers of distinct hashes.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`] if no id is left for a further document.
    pub fn finish(&mut self, record: DocumentRecord) -> Result<u32> {
        let id = self.document;
        if !self.open.places.is_empty() {
            self.end_chunk();
        }
        self.record_bytes += bytes_of(&record);
        self.document_bytes += record.bytes;
        Arc::make_mut(&mut self.pending).add(id, record);
        self.advance()?;
        Ok(id)
    }

    /// The documents that the batch adds, changes and deletes so far.
    pub fn pending(&self) -> &Arc<PendingDocuments> {
        &self.pending
    }

    /// Drops the current document. The next document gets its id. If rows of it are already in the store,
    /// [discard](crate::Committer::discard) them first.
    pub fn abandon(&mut self) {
        self.postings.truncate(self.open.first_posting);
        self.chunks.truncate(self.open.first_chunk);
        self.text_bytes -= self.texts.drain(self.open.first_text..).map(|(_, _, chunk)| chunk.len()).sum::<usize>();
        self.begin();
    }

    /// Deletes a document of an earlier commit or of this batch. If it came from a container, the next ingest
    /// reads that container again.
    pub fn delete(&mut self, document: u32, record: DocumentRecord) {
        self.forget_container(record.source.as_ref());
        let pending = Arc::make_mut(&mut self.pending);
        if pending.take_back(document, &record) {
            self.unused_ids.push(document);
        } else {
            self.record_bytes += bytes_of(&record);
            pending.deleted.insert(document, record);
        }
    }

    /// Replaces the record of a document that is stored, or that this batch adds. The document keeps its name
    /// and its content. If `before` names another source than `record`, the next ingest reads the container
    /// at that former source again, because this container no longer keeps the document up to date.
    pub fn update(&mut self, document: u32, before: &DocumentRecord, record: DocumentRecord) {
        self.forget_container(before.source.as_ref().filter(|_| before.source != record.source));
        self.record_bytes += bytes_of(&record);
        let before = Arc::make_mut(&mut self.pending).change(document, record);
        self.record_bytes -= before.as_ref().map_or(0, bytes_of);
    }

    /// Replaces the record of a stored document, and gives it another name. If it came from a container, the
    /// next ingest reads that container again.
    pub fn rename(&mut self, document: u32, before: DocumentRecord, record: DocumentRecord) {
        self.forget_container(before.source.as_ref());
        self.update(document, &before, record);
        self.record_bytes += 128 + before.name.len();
        Arc::make_mut(&mut self.pending).renamed.insert(document, before.name);
    }

    /// Adds the place of a document that the batch adds, changes or renames.
    pub fn place(&mut self, place: NamePlace) {
        let bytes = 128 + place.folder.len() + place.names.len();
        if self.places.insert(place) {
            self.record_bytes += bytes;
        }
    }

    /// Makes the next ingest read the container at `source` again. If this batch marks the container as read
    /// in part, the mark stays.
    fn forget_container(&mut self, source: Option<&String>) {
        let Some(source) = source else { return };
        let known = self.containers.entry(source.clone()).or_default();
        if known.as_ref() != Some(&ContainerRecord::UNREAD) {
            *known = None;
        }
    }

    /// Records that the container at `source` was ingested completely, or marks it as read in part.
    pub fn container(&mut self, source: String, record: ContainerRecord) {
        self.record_bytes += 1024 + source.len() + record.left_bytes();
        self.containers.insert(source, Some(record));
    }

    /// True if the batch should be committed, or [spilled](Self::needs_spill) if a document is open.
    pub fn is_full(&self) -> bool {
        self.held() >= self.limit
    }

    /// True if the batch is full and a spill frees memory. A spill does not free the records of documents.
    /// Without this check, a batch that is full of records would write two files for every few fingerprints
    /// of the next document.
    pub fn needs_spill(&self) -> bool {
        self.is_full() && self.held() - self.record_bytes >= self.limit / 8
    }

    /// The bytes of all documents added, as they were read.
    pub fn document_bytes(&self) -> u64 {
        self.document_bytes
    }

    /// The memory that the batch takes, in bytes.
    pub(crate) fn held(&self) -> usize {
        self.postings.bytes() + self.chunks.bytes() + self.record_bytes + self.text_bytes
    }

    /// True if some postings of the batch are already in the store and wait for the commit.
    pub fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// True if a commit would change nothing.
    pub fn is_empty(&self) -> bool {
        let PendingDocuments { documents, deleted, updates, .. } = &*self.pending;
        documents.is_empty()
            && deleted.is_empty()
            && updates.is_empty()
            && self.unused_ids.is_empty()
            && self.containers.is_empty()
    }

    /// True if part of the current document is already in the store.
    pub fn is_spilled(&self) -> bool {
        self.open.spilled
    }

    /// All postings, and all complete chunks of positions, for writing.
    pub(crate) fn content(&mut self) -> (&mut [Posting], &Chunks) {
        (self.postings.as_mut_slice(), &self.chunks)
    }

    /// Compressed chunks of texts, as (document, chunk, bytes), ascending.
    pub(crate) fn texts(&self) -> &[(u32, u32, Vec<u8>)] {
        &self.texts
    }

    /// Called after postings, chunks and texts were written to the store. Frees the memory of chunks and
    /// texts, and adds `run`. Returns the postings.
    pub(crate) fn written(&mut self, run: Option<(u32, RunRecord)>) -> PostingBuffer {
        self.runs.extend(run);
        let postings = self.postings.take();
        self.chunks = Chunks::default();
        self.texts = Vec::new();
        self.text_bytes = 0;
        self.open.spilled = self.open.fingerprints > 0 || self.open.text_chunks > 0;
        self.open.first_posting = 0;
        self.open.first_chunk = 0;
        self.open.first_text = 0;
        postings
    }

    /// An empty batch with the same memory, for the documents after this one.
    pub fn next(&self) -> Self {
        Self { counts_only: self.counts_only, ..Self::new(&self.profile, self.document, self.memory) }
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

/// The bytes that a record takes in a batch and, briefly, in its commit. Includes its entries by name and
/// digest.
fn bytes_of(record: &DocumentRecord) -> usize {
    let metadata = record.metadata.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
    let texts = record.name.len() * 3 + record.source.as_ref().map_or(0, String::len) * 2 + metadata.sum::<usize>() * 2;
    1024 + texts
}
