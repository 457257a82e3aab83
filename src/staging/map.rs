//! Map: turns a document into rows, with the same kernel, normaliser and record as an ingest. The rows of
//! many documents travel in blocks, one for each part.

use xxhash_rust::xxh3::xxh3_128;

use super::folder::Staging;
use super::layout::Layout;
use super::plan::StagingPlan;
use super::rows::StagedRows;
use crate::ingest::{ReadDocument, record_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::profile::View;
use fpdb_reading::fingerprint::Fingerprinter;
use fpdb_reading::input::{About, Hint, InputLimits, ReadAs, format_of};
use fpdb_store::{
    BlockWriter, DocumentRecord, PartKind, Posting, StagedRow, TextCounts, TextView, digest_row, document_rows,
    failure_row, name_row, posting_row, posting_sum,
};

/// Bytes of blocks handed over at once: an Arrow batch of a size that suits engines.
const BATCH_BYTES: usize = 4 << 20;

/// Bytes of postings, names and digests sorted into blocks together. More bytes make fewer and larger blocks.
const GATHERED_BYTES: usize = 64 << 20;

/// Bytes of a document fingerprinted at once.
const PIECE: usize = 256 << 10;

/// Turns documents into rows. Each task of the engine has one mapper, for all documents of the task.
pub struct StagingMapper {
    plan: StagingPlan,
    layout: Layout,
    /// By part number, true if the part is still needed.
    wanted: Vec<bool>,
    limits: InputLimits,
    fingerprinter: Fingerprinter,
    fingerprints: Fingerprints,
    hashes: Vec<u64>,
    postings: Vec<Posting>,
    keys: Keys,
    documents: BlockWriter,
    /// The number that follows the last document's number. A document with this number continues the block.
    next: Option<u32>,
    blocks: StagedRows,
}

/// Rows of names and digests.
#[derive(Default)]
struct Keys {
    /// Part, kind, high, low, and start and end of the value.
    rows: Vec<(u32, PartKind, u64, u64, usize, usize)>,
    values: Vec<u8>,
}

impl Keys {
    fn push(&mut self, part: u32, kind: PartKind, row: StagedRow<'_>) {
        let start = self.values.len();
        self.values.extend_from_slice(row.value);
        self.rows.push((part, kind, row.high, row.low, start, self.values.len()));
    }

    fn bytes(&self) -> usize {
        self.values.len() + self.rows.len() * size_of::<(u32, PartKind, u64, u64, usize, usize)>()
    }

    /// Moves the rows, sorted, into blocks.
    fn put(&mut self, writer: &mut BlockWriter, blocks: &mut StagedRows) {
        let Self { rows, values } = self;
        rows.sort_unstable_by(|one, other| {
            let value = |row: &(u32, PartKind, u64, u64, usize, usize)| &values[row.4..row.5];
            (one.0, one.2, one.3).cmp(&(other.0, other.2, other.3)).then_with(|| value(one).cmp(value(other)))
        });
        for (part, kind, high, low, start, end) in rows.drain(..) {
            let row = StagedRow { high, low, value: &values[start..end] };
            writer.push(part, kind, row, &mut |part, block| blocks.push(part, block));
        }
        writer.end(&mut |part, block| blocks.push(part, block));
        values.clear();
    }
}

impl std::fmt::Debug for StagingMapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StagingMapper").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Staging {
    /// Returns a mapper. It leaves out rows of the parts in `finished`.
    #[must_use]
    pub fn mapper(&self, finished: &[u32]) -> StagingMapper {
        StagingMapper::new(self, finished)
    }
}

impl StagingMapper {
    fn new(staging: &Staging, finished: &[u32]) -> Self {
        let mut wanted = vec![true; staging.layout.count() as usize];
        for &part in finished {
            wanted.get_mut(part as usize).into_iter().for_each(|wanted| *wanted = false);
        }
        let limits = InputLimits::default();
        Self {
            fingerprinter: Fingerprinter::new(staging.profile()).with_limits(&limits),
            plan: staging.plan.clone(),
            layout: staging.layout.clone(),
            wanted,
            limits,
            fingerprints: Fingerprints::new(),
            hashes: Vec::new(),
            postings: Vec::new(),
            keys: Keys::default(),
            documents: BlockWriter::default(),
            next: None,
            blocks: StagedRows::default(),
        }
    }

    /// Adds a document: its number, its name, its bytes, and metadata stored with it. `None` stands for
    /// missing bytes. Rows are passed to `emit` in large batches. A document that cannot be read counts as a
    /// failure and still takes its number.
    ///
    /// # Errors
    /// [`Error::NotPlanned`]; the error of `emit`.
    pub fn push(
        &mut self,
        number: u32,
        name: &str,
        bytes: Option<&[u8]>,
        metadata: Vec<(String, String)>,
        emit: &mut dyn FnMut(StagedRows) -> Result<()>,
    ) -> Result<()> {
        let documents = self.plan.documents;
        if number >= documents {
            return Err(Error::NotPlanned { number, documents });
        }
        if self.next != Some(number) {
            // The numbers between may be documents of another task, so the block of documents ends here.
            self.documents.end(&mut |part, block| self.blocks.push(part, block));
        }
        self.next = number.checked_add(1);
        self.fingerprints.clear();
        let read = guarded(|| self.read(name, bytes, metadata)).unwrap_or_else(|detail| {
            // A panic leaves the fingerprinter in an undefined state.
            self.fingerprinter = Fingerprinter::new(&self.plan.profile).with_limits(&self.limits);
            Err(Error::Document(DocumentError::ReaderFailed { detail }))
        });
        let part = self.layout.part_of_document(number);
        match read {
            Ok(record) => {
                let sum = self.gather_postings(number, emit)?;
                let (names, digests) = (self.layout.part_of_name(name), self.layout.part_of_digest(&record.digest));
                if self.wanted[names as usize] {
                    self.keys.push(names, PartKind::Names, name_row(name, number, &mut Vec::new()));
                }
                if self.wanted[digests as usize] {
                    self.keys.push(digests, PartKind::Digests, digest_row(&record.digest, number, &mut [0; 4]));
                }
                if self.wanted[part as usize] {
                    let text = bytes.filter(|_| record.stored_text);
                    let Self { documents, blocks, fingerprints, plan, .. } = self;
                    document_rows(number, &record, sum, (&plan.profile, fingerprints), text, &mut |row| {
                        documents.push(part, PartKind::Documents, row, &mut |part, block| blocks.push(part, block));
                        if blocks.bytes() >= BATCH_BYTES { emit(std::mem::take(blocks)) } else { Ok(()) }
                    })?;
                }
            }
            Err(error) if self.wanted[part as usize] => {
                let (mut value, blocks) = (Vec::new(), &mut self.blocks);
                let row = failure_row(number, name, &error, &mut value);
                self.documents.push(part, PartKind::Documents, row, &mut |part, block| blocks.push(part, block));
            }
            Err(_) => {}
        }
        if self.keys.bytes() + self.postings.len() * size_of::<Posting>() >= GATHERED_BYTES {
            self.put_gathered(emit)?;
        }
        self.emit_if_many(emit)
    }

    /// Passes the last rows to `emit`.
    ///
    /// # Errors
    /// The error of `emit`.
    pub fn finish(mut self, emit: &mut dyn FnMut(StagedRows) -> Result<()>) -> Result<()> {
        self.documents.end(&mut |part, block| self.blocks.push(part, block));
        self.put_gathered(emit)?;
        if self.blocks.is_empty() { Ok(()) } else { emit(self.blocks) }
    }

    /// Collects the postings of the document just read. Returns their sum.
    fn gather_postings(&mut self, document: u32, emit: &mut dyn FnMut(StagedRows) -> Result<()>) -> Result<u64> {
        let mut sum = 0u64;
        let fingerprints = std::mem::take(&mut self.fingerprints);
        for (ordinal, fingerprint) in (0..).zip(&fingerprints) {
            let posting = Posting { hash: fingerprint.hash, document, ordinal };
            sum = sum.wrapping_add(posting_sum(posting));
            if self.wanted[self.layout.part_of_posting(posting) as usize] {
                self.postings.push(posting);
                if self.postings.len() * size_of::<Posting>() >= GATHERED_BYTES {
                    self.put_gathered(emit)?;
                }
            }
        }
        self.fingerprints = fingerprints;
        Ok(sum)
    }

    /// Moves postings, names and digests into blocks.
    fn put_gathered(&mut self, emit: &mut dyn FnMut(StagedRows) -> Result<()>) -> Result<()> {
        let mut writer = BlockWriter::default();
        self.postings.sort_unstable();
        let Self { postings, layout, blocks, .. } = self;
        for posting in postings.drain(..) {
            let (part, kind) = (layout.part_of_posting(posting), PartKind::Postings { run: 0 });
            writer.push(part, kind, posting_row(posting), &mut |part, block| blocks.push(part, block));
            if blocks.bytes() >= BATCH_BYTES {
                emit(std::mem::take(blocks))?;
            }
        }
        writer.end(&mut |part, block| blocks.push(part, block));
        self.keys.put(&mut writer, &mut self.blocks);
        self.emit_if_many(emit)
    }

    fn emit_if_many(&mut self, emit: &mut dyn FnMut(StagedRows) -> Result<()>) -> Result<()> {
        if self.blocks.bytes() >= BATCH_BYTES { emit(std::mem::take(&mut self.blocks)) } else { Ok(()) }
    }

    /// Fingerprints a document and returns its record, with the time of the build.
    fn read(&mut self, name: &str, bytes: Option<&[u8]>, metadata: Vec<(String, String)>) -> Result<DocumentRecord> {
        let plan = &self.plan;
        let asked: ReadAs = plan.read_as()?;
        let bytes =
            bytes.ok_or_else(|| Error::Document(DocumentError::NotText { field: "text".into(), place: None }))?;
        if name.is_empty() {
            let expected = "a name of one character or more";
            return Err(Error::InvalidParameter { name: "the name of a document", value: "empty".into(), expected });
        }
        if bytes.len() as u64 > self.limits.document_bytes {
            return Err(Error::Document(DocumentError::DocumentTooLarge { limit: self.limits.document_bytes }));
        }
        // A row is named by its id, not by a path.
        let hint = Hint::of_record(bytes);
        let format = format_of(asked, &hint, &bytes[..bytes.len().min(PIECE)], plan.profile.unit())?;
        self.fingerprinter.begin(format);
        for piece in bytes.chunks(PIECE) {
            self.fingerprinter.feed(piece, &mut self.fingerprints);
        }
        let facts = self.fingerprinter.finish(&mut self.fingerprints)?;
        let fingerprints = self.fingerprints.len() as u64;
        let limit = u64::from(u32::MAX) + 1;
        if fingerprints > limit {
            return Err(Error::Document(DocumentError::TooManyFingerprints { limit }));
        }
        self.hashes.clear();
        self.hashes.extend(self.fingerprints.iter().map(|fingerprint| fingerprint.hash));
        self.hashes.sort_unstable();
        self.hashes.dedup();
        let name = name.to_owned();
        let (file, member, modified) = (None, None, None);
        let about = About { name, hint, file, member, modified, metadata, repeated: false, named: false };
        let digest = xxh3_128(bytes).to_be_bytes();
        let read = ReadDocument { digest, format, facts, boilerplate: false, stored_text: plan.store_text };
        let is_of_text = |hash: u64| plan.profile.view_of(hash) == View::Text;
        let of_text = self.fingerprints.iter().filter(|fingerprint| is_of_text(fingerprint.hash)).count() as u64;
        let record = record_of(about, &read, (fingerprints, of_text));
        let distinct = self.hashes.len() as u64;
        let distinct_of_text = self.hashes.iter().filter(|&&hash| is_of_text(hash)).count() as u64;
        let text_view = record.text_view.0.map(|text| TextCounts { distinct: distinct_of_text, ..text });
        let text_view = TextView(text_view);
        let record = DocumentRecord { distinct, text_view, ingested_at: plan.created, ..record };
        record.check()?;
        Ok(record)
    }
}
