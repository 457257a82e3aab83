//! Files: writes the rows of a part as sorted files. An ingest writes the same kind of files into its own
//! store.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::rows::{DocumentRow, PartKind, StagedRow, digested, document_row, named, posting_of, posting_sum};
use crate::codec::format::{
    DIGESTS, DOCUMENTS, FILTERS, NAMES, POSITIONS, POSTINGS, TEXTS, chunk_key, digest_key, document_key, name_key,
};
use crate::codec::records::{self, DocumentRecord, RunRecord};
use crate::engine::file_options::FileOptions;
use crate::engine::sorted_file::SortedFiles;
use crate::write::run_writer::RunPart;
use fpdb_host::error::{Error, Result};
use fpdb_host::failure::Failure;

/// Maximum number of failures that a part lists. All failures are counted.
const LISTED: usize = 100;

/// Creates the writers of parts.
pub struct PartMaker {
    options: FileOptions,
}

/// A sorted file of a part, with rows of one column family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFile {
    /// The name of the column family.
    pub family: &'static str,
    /// The path of the file.
    pub path: PathBuf,
}

/// The totals of one part, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PartContents {
    /// The number of rows.
    pub rows: u64,
    /// The number of postings.
    pub postings: u64,
    /// The smallest and the largest id of a document with postings.
    pub(crate) first_document: u32,
    pub(crate) last_document: u32,
    pub(crate) filter_bytes: u64,
    /// The wrapping sum of [`posting_sum`] over all postings: a part of postings adds up its own postings,
    /// and a part of documents the postings of its documents. Equal sums show that no posting was lost or
    /// repeated.
    pub sum: u64,
    /// The same sum for the rows of names.
    pub name_sum: u64,
    /// The same sum for the rows of digests.
    pub digest_sum: u64,
    /// The number of documents.
    pub documents: u64,
    /// The bytes of these documents.
    pub bytes: u64,
    /// The symbols of these documents.
    pub symbols: u64,
    /// The fingerprints of these documents.
    pub fingerprints: u64,
    /// The number of documents that could not be read.
    pub failed: u64,
    /// The first 100 of these failures.
    pub failures: Vec<Failure>,
}

/// Writes the rows of one part.
pub struct PartWriter<'a> {
    output: Output<'a>,
    contents: PartContents,
}

enum Output<'a> {
    Postings(Box<RunPart<'a>>),
    Documents { records: SortedFiles<'a>, positions: SortedFiles<'a>, texts: SortedFiles<'a> },
    Names { files: SortedFiles<'a>, last: Option<String> },
    Digests(SortedFiles<'a>),
}

impl StagedFile {
    /// A file of the family with this name. `None` if builds have no such family.
    pub fn named(family: &str, path: PathBuf) -> Option<Self> {
        let families = [POSTINGS, FILTERS, DOCUMENTS, POSITIONS, TEXTS, NAMES, DIGESTS];
        families.into_iter().find(|known| *known == family).map(|family| Self { family, path })
    }
}

impl PartMaker {
    /// A new maker, with the file options of the store.
    ///
    /// # Errors
    /// An error of the engine.
    pub fn new() -> Result<Self> {
        Ok(Self { options: FileOptions::new()? })
    }

    /// A writer of a part. It writes its files into `folder`.
    pub fn part(&self, kind: PartKind, folder: &Path) -> Result<PartWriter<'_>> {
        let files = |family| self.options.sorted_files(folder, family, 0);
        let output = match kind {
            PartKind::Postings { run } => {
                Output::Postings(Box::new(RunPart::new(run, files(POSTINGS)?, files(FILTERS)?)))
            }
            PartKind::Documents => {
                Output::Documents { records: files(DOCUMENTS)?, positions: files(POSITIONS)?, texts: files(TEXTS)? }
            }
            PartKind::Names => Output::Names { files: files(NAMES)?, last: None },
            PartKind::Digests => Output::Digests(files(DIGESTS)?),
        };
        Ok(PartWriter { output, contents: PartContents::default() })
    }
}

impl PartWriter<'_> {
    /// Adds a row. It must be above the row before it.
    ///
    /// # Errors
    /// * [`Error::Damaged`] if the row is not one of its kind.
    /// * [`Error::NameTwice`] if two documents have the same name.
    pub fn push(&mut self, row: StagedRow<'_>) -> Result<()> {
        let strange = || Error::Damaged { what: "a staged row".into(), detail: "it is none of its kind" };
        let contents = &mut self.contents;
        contents.rows += 1;
        match &mut self.output {
            Output::Postings(part) => {
                let posting = posting_of(row);
                contents.sum = contents.sum.wrapping_add(posting_sum(posting));
                part.push(posting)
            }
            Output::Names { files, last } => {
                let (name, _) = named(row).ok_or_else(strange)?;
                if last.as_ref() == Some(&name) {
                    return Err(Error::NameTwice { name });
                }
                *last = Some(name);
                contents.name_sum = contents.name_sum.wrapping_add(xxh3_64(row.value));
                files.put(row.value, &[])
            }
            Output::Digests(files) => {
                let (digest, document) = digested(row).ok_or_else(strange)?;
                let key = digest_key(&digest, document);
                contents.digest_sum = contents.digest_sum.wrapping_add(xxh3_64(&key));
                files.put(&key, &[])
            }
            Output::Documents { records, positions, texts } => {
                let (document, row_kind) = document_row(row).ok_or_else(strange)?;
                match row_kind {
                    DocumentRow::Record { sum, record } => {
                        let known: DocumentRecord = records::decode(record, || "a staged document's record".into())?;
                        contents.count(document, &known, sum);
                        records.put(&document_key(document), record)
                    }
                    DocumentRow::Positions(chunk) => positions.put(&chunk_key(document, chunk), row.value),
                    DocumentRow::Text(chunk) => texts.put(&chunk_key(document, chunk), row.value),
                    DocumentRow::Failure(failure) => {
                        contents.failed += 1;
                        if contents.failures.len() < LISTED {
                            contents.failures.push(failure);
                        }
                        Ok(())
                    }
                }
            }
        }
    }

    /// Ends the part and returns its files and totals. The files are on disk by then. The caller removes
    /// them.
    pub fn finish(mut self) -> Result<(Vec<StagedFile>, PartContents)> {
        let mut written = Vec::new();
        match self.output {
            Output::Postings(part) => {
                let (blocks, filters, record) = part.finish()?;
                if let Some(record) = record {
                    self.contents.take_run(&record);
                }
                written.extend([(POSTINGS, blocks), (FILTERS, filters)]);
            }
            Output::Documents { records, positions, texts } => {
                for (family, files) in [(DOCUMENTS, records), (POSITIONS, positions), (TEXTS, texts)] {
                    written.push((family, files.finish()?));
                }
            }
            Output::Names { files, .. } => written.push((NAMES, files.finish()?)),
            Output::Digests(files) => written.push((DIGESTS, files.finish()?)),
        }
        let files = written
            .into_iter()
            .flat_map(|(family, files)| files.keep().into_iter().map(move |path| StagedFile { family, path }));
        Ok((files.collect(), self.contents))
    }
}

impl PartContents {
    fn count(&mut self, document: u32, record: &DocumentRecord, sum: u64) {
        self.sum = self.sum.wrapping_add(sum);
        self.name_sum = self.name_sum.wrapping_add(xxh3_64(&name_key(&record.name, document)));
        self.digest_sum = self.digest_sum.wrapping_add(xxh3_64(&digest_key(&record.digest, document)));
        self.documents += 1;
        for (total, share) in [
            (&mut self.bytes, record.bytes),
            (&mut self.symbols, record.symbols),
            (&mut self.fingerprints, record.fingerprints),
        ] {
            *total = total.saturating_add(share);
        }
    }

    fn take_run(&mut self, record: &RunRecord) {
        self.postings = record.postings;
        self.first_document = record.first_document;
        self.last_document = record.last_document;
        self.filter_bytes = record.filter_bytes;
    }

    /// Adds the totals of another part.
    pub fn add(&mut self, other: &Self) {
        if other.postings > 0 {
            let none = self.postings == 0;
            self.first_document =
                if none { other.first_document } else { self.first_document.min(other.first_document) };
            self.last_document = self.last_document.max(other.last_document);
        }
        for (total, share) in [
            (&mut self.rows, other.rows),
            (&mut self.postings, other.postings),
            (&mut self.filter_bytes, other.filter_bytes),
            (&mut self.documents, other.documents),
            (&mut self.bytes, other.bytes),
            (&mut self.symbols, other.symbols),
            (&mut self.fingerprints, other.fingerprints),
            (&mut self.failed, other.failed),
        ] {
            *total = total.saturating_add(share);
        }
        for (total, share) in
            [(&mut self.sum, other.sum), (&mut self.name_sum, other.name_sum), (&mut self.digest_sum, other.digest_sum)]
        {
            *total = total.wrapping_add(share);
        }
        let room = LISTED.saturating_sub(self.failures.len());
        self.failures.extend(other.failures.iter().take(room).cloned());
    }

    /// The record of the run that consists of these postings.
    pub(crate) fn run(&self) -> RunRecord {
        RunRecord {
            postings: self.postings,
            first_document: self.first_document,
            last_document: self.last_document,
            filter_bytes: self.filter_bytes,
        }
    }
}
