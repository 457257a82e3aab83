//! Map: a document becomes rows, by the same kernel, normaliser and record as in an ingest.

use xxhash_rust::xxh3::xxh3_128;

use super::folder::Staging;
use super::rows::StagedRows;
use crate::columns::Fingerprints;
use crate::error::{DocumentError, Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::guarded::guarded;
use crate::ingest::{ReadDocument, record_of};
use crate::input::{About, InputLimits, ReadAs, format_of};
use crate::store::{
    DocumentRecord, Posting, StagedRow, digest_row, document_rows, failure_row, name_row, posting_row, posting_sum,
};

/// Bytes of rows that are handed over at once: an Arrow batch of a size that engines like.
const BATCH_BYTES: usize = 4 << 20;

/// Bytes of a document that are fingerprinted at once.
const PIECE: usize = 256 << 10;

/// Makes rows of documents; one per thread, or per task of the engine.
pub struct StagingMapper<'a> {
    staging: &'a Staging,
    /// By number of part.
    wanted: Vec<bool>,
    limits: InputLimits,
    fingerprinter: Fingerprinter,
    fingerprints: Fingerprints,
    hashes: Vec<u64>,
    rows: StagedRows,
}

impl std::fmt::Debug for StagingMapper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StagingMapper").field("staging", self.staging).finish_non_exhaustive()
    }
}

impl Staging {
    /// Makes rows of documents; those of the parts `finished` are left out.
    #[must_use]
    pub fn mapper(&self, finished: &[u32]) -> StagingMapper<'_> {
        StagingMapper::new(self, finished)
    }
}

impl<'a> StagingMapper<'a> {
    fn new(staging: &'a Staging, finished: &[u32]) -> Self {
        let mut wanted = vec![true; staging.layout.count() as usize];
        for &part in finished {
            wanted.get_mut(part as usize).into_iter().for_each(|wanted| *wanted = false);
        }
        let limits = InputLimits::default();
        Self {
            fingerprinter: Fingerprinter::new(staging.profile()).with_limits(&limits),
            staging,
            wanted,
            limits,
            fingerprints: Fingerprints::new(),
            hashes: Vec::new(),
            rows: StagedRows::default(),
        }
    }

    /// Adds a document: its number, its name, its bytes, `None` where it has none, and names and values that are kept with it.
    /// Its rows are handed to `emit` when they are many. A document that cannot be read is counted and takes its number.
    ///
    /// # Errors
    /// [`Error::NotPlanned`], and what `emit` returns.
    pub fn push(
        &mut self,
        number: u32,
        name: &str,
        bytes: Option<&[u8]>,
        metadata: Vec<(String, String)>,
        emit: &mut dyn FnMut(StagedRows) -> Result<()>,
    ) -> Result<()> {
        let documents = self.staging.plan.documents;
        if number >= documents {
            return Err(Error::NotPlanned { number, documents });
        }
        self.fingerprints.clear();
        let read = guarded(|| self.read(name, bytes, metadata)).unwrap_or_else(|detail| {
            // What it was at is half done.
            self.fingerprinter = Fingerprinter::new(self.staging.profile()).with_limits(&self.limits);
            Err(Error::Document(DocumentError::ReaderFailed { detail }))
        });
        let layout = &self.staging.layout;
        let part = layout.part_of_document(number);
        let record = match read {
            Ok(record) => record,
            Err(error) => {
                let mut value = Vec::new();
                self.put(part, failure_row(number, name, &error, &mut value));
                return self.emit_if_many(emit);
            }
        };
        let mut sum = 0u64;
        for (ordinal, fingerprint) in (0..).zip(&self.fingerprints) {
            let posting = Posting { hash: fingerprint.hash, document: number, ordinal };
            sum = sum.wrapping_add(posting_sum(posting));
            let part = layout.part_of_posting(posting);
            if self.wanted[part as usize] {
                self.rows.push(part, posting_row(posting));
                if self.rows.bytes() >= BATCH_BYTES {
                    emit(std::mem::take(&mut self.rows))?;
                }
            }
        }
        self.put(layout.part_of_name(name), name_row(name, number, &mut Vec::new()));
        self.put(layout.part_of_digest(&record.digest), digest_row(&record.digest, number, &mut [0; 4]));
        if self.wanted[part as usize] {
            let text = bytes.filter(|_| record.stored_text);
            let Self { rows, fingerprints, .. } = self;
            document_rows(number, &record, sum, fingerprints, text, &mut |row| {
                rows.push(part, row);
                if rows.bytes() >= BATCH_BYTES { emit(std::mem::take(rows)) } else { Ok(()) }
            })?;
        }
        self.emit_if_many(emit)
    }

    /// Hands over the last rows.
    ///
    /// # Errors
    /// What `emit` returns.
    pub fn finish(mut self, emit: &mut dyn FnMut(StagedRows) -> Result<()>) -> Result<()> {
        if self.rows.is_empty() { Ok(()) } else { emit(std::mem::take(&mut self.rows)) }
    }

    fn put(&mut self, part: u32, row: StagedRow<'_>) {
        if self.wanted[part as usize] {
            self.rows.push(part, row);
        }
    }

    fn emit_if_many(&mut self, emit: &mut dyn FnMut(StagedRows) -> Result<()>) -> Result<()> {
        if self.rows.bytes() >= BATCH_BYTES { emit(std::mem::take(&mut self.rows)) } else { Ok(()) }
    }

    /// Fingerprints a document; its record, with the time of the build.
    fn read(&mut self, name: &str, bytes: Option<&[u8]>, metadata: Vec<(String, String)>) -> Result<DocumentRecord> {
        let plan = &self.staging.plan;
        let asked: ReadAs = plan.read_as()?;
        let bytes = bytes.ok_or_else(|| Error::Document(DocumentError::NotText { field: "text".into() }))?;
        if name.is_empty() {
            let expected = "a name of one character or more";
            return Err(Error::InvalidParameter { name: "the name of a document", value: "empty".into(), expected });
        }
        if bytes.len() as u64 > self.limits.document_bytes {
            return Err(Error::Document(DocumentError::DocumentTooLarge { limit: self.limits.document_bytes }));
        }
        // A row is named by its id, and not by a path.
        let format = format_of(asked, "", &bytes[..bytes.len().min(PIECE)], plan.profile.unit)?;
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
        let (name, hint) = (name.to_owned(), String::new());
        let about = About { name, hint, file: None, member: None, metadata, repeated: false };
        let digest = xxh3_128(bytes).to_be_bytes();
        let read = ReadDocument { digest, format, facts, stored_text: plan.store_text };
        let record = record_of(about, &read, fingerprints, false);
        let record = DocumentRecord { distinct: self.hashes.len() as u64, ingested_at: plan.created, ..record };
        record.check()?;
        Ok(record)
    }
}
