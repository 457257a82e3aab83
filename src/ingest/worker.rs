//! Worker: reads documents one by one and makes fingerprints.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

use super::fingerprinters::Fingerprinters;
use super::known::{self, Reading};
use super::messages::{DocumentAgain, JobEntry, Parcel, ParcelEntry, ReadDocument, ReadJob};
use super::options::IngestOptions;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_host::progress::Progress;
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::FINGERPRINT_BYTES;
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::extract::mail_headers;
use fpdb_reading::input::{Candidate, Content, ReadAs, Reader, format_of};
use fpdb_store::{Store, TEXT_CHUNK_BYTES, compress};

/// Number of fingerprints in a parcel: about 100 KiB.
const PARCEL_FINGERPRINTS: usize = 4096;

/// The result of one document.
enum DocumentOutcome {
    Stored(Digest),
    Read(ReadDocument),
}

/// Works until there are no more jobs.
pub(super) fn work(
    store: &Store,
    options: &IngestOptions,
    jobs: &Mutex<Receiver<ReadJob>>,
    stop: &StopToken,
    progress: &dyn Progress,
) {
    let new = || Worker {
        store,
        options,
        stop,
        progress,
        // An empty database has no document to compare with.
        looks: store.view().state().documents > 0,
        reader: Reader::new(options.read.limits.clone()),
        fingerprinters: Fingerprinters::new(store.profile(), &options.read.limits),
        headers: Vec::new(),
    };
    let mut worker = new();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(ReadJob { entries, stored, parcels }) = job else { return };
        let mut pieces = Pieces { parcels, parcel: Parcel::default(), text: 0 };
        for entry in entries {
            let piece = match entry {
                JobEntry::Skipped { name, reason } => ParcelEntry::Skipped { name, reason },
                JobEntry::Failed { name, error } => ParcelEntry::Failed { name, error },
                JobEntry::Again(again) => {
                    let DocumentAgain { candidate, stored, read_as } = *again;
                    let reading = Reading::again(&stored, options);
                    let outcome = guarded(|| worker.read(&candidate, reading, read_as, &mut pieces));
                    let outcome = outcome.unwrap_or_else(|detail| {
                        worker = new();
                        Err(reader_failed(detail))
                    });
                    // The stored metadata already have the headers.
                    worker.headers.clear();
                    if outcome.is_err() {
                        pieces.drop_open();
                    }
                    ParcelEntry::EndAgain(Box::new(stored), outcome)
                }
                JobEntry::Document(mut candidate) => {
                    let outcome = guarded(|| {
                        if let Some(digest) = worker.stored(&candidate, stored)? {
                            return Ok(DocumentOutcome::Stored(digest));
                        }
                        let reading = known::reading(store, options, &candidate.about)?;
                        worker.read(&candidate, reading, options.read.front_end, &mut pieces).map(DocumentOutcome::Read)
                    });
                    let outcome = outcome.unwrap_or_else(|detail| {
                        // After a panic the state of the reader may be invalid.
                        worker = new();
                        Err(reader_failed(detail))
                    });
                    worker.headers.retain(|(name, _)| !candidate.about.metadata.iter().any(|(known, _)| known == name));
                    candidate.about.metadata.append(&mut worker.headers);
                    match outcome {
                        Ok(DocumentOutcome::Stored(digest)) => ParcelEntry::Stored(candidate.about, digest),
                        Ok(DocumentOutcome::Read(read)) => ParcelEntry::End(candidate.about, Ok(read)),
                        Err(error) => {
                            pieces.drop_open();
                            ParcelEntry::End(candidate.about, Err(error))
                        }
                    }
                }
            };
            if pieces.push(piece).is_err() {
                break;
            }
        }
        // If sending fails, the intake has ended, and reports its own error.
        let _ = pieces.send();
    }
}

fn reader_failed(detail: String) -> Error {
    Error::Document(DocumentError::ReaderFailed { detail })
}

/// Packs the pieces of a job.
struct Pieces {
    parcels: SyncSender<Parcel>,
    parcel: Parcel,
    /// Bytes of texts in the parcel.
    text: usize,
}

impl Pieces {
    /// # Errors
    /// The same as those of [`send_if_full`](Self::send_if_full).
    fn push(&mut self, piece: ParcelEntry) -> Result<()> {
        self.text += if let ParcelEntry::Text(text) = &piece { text.len() } else { 0 };
        self.parcel.pieces.push((self.parcel.fingerprints.len(), piece));
        self.send_if_full()
    }

    /// # Errors
    /// [`Error::Stopped`] if the intake has ended; it reports its own error.
    fn send_if_full(&mut self) -> Result<()> {
        let weight = self.parcel.fingerprints.len() + self.text / FINGERPRINT_BYTES;
        if weight < PARCEL_FINGERPRINTS { Ok(()) } else { self.send() }
    }

    /// Drops the fingerprints after the last message: their document has failed, or its reader has panicked.
    fn drop_open(&mut self) {
        self.parcel.fingerprints.truncate(self.parcel.pieces.last().map_or(0, |&(before, _)| before));
    }

    fn send(&mut self) -> Result<()> {
        self.text = 0;
        self.parcels.send(std::mem::take(&mut self.parcel)).map_err(|_| Error::Stopped)
    }
}

struct Worker<'a> {
    store: &'a Store,
    options: &'a IngestOptions,
    stop: &'a StopToken,
    progress: &'a dyn Progress,
    looks: bool,
    reader: Reader,
    fingerprinters: Fingerprinters,
    /// The headers to keep of the mail that was read last.
    headers: Vec<(String, String)>,
}

impl Worker<'_> {
    /// The digest of the document, if it is stored under its name already.
    fn stored(&mut self, candidate: &Candidate, stored: Option<Digest>) -> Result<Option<Digest>> {
        if let Some(stored) = stored {
            let read = self.reader.read(candidate, self.stop, &|_| {}, &mut |_| Ok(()));
            let same = read.is_ok_and(|digest| digest == stored);
            if same {
                self.progress.read(candidate.about.file.as_ref().map_or(0, |file| file.bytes));
            }
            return Ok(same.then_some(stored));
        }
        let Content::Whole(bytes) = &candidate.content else { return Ok(None) };
        // An earlier document of this run may replace the stored one.
        if !self.looks || candidate.about.repeated {
            return Ok(None);
        }
        let stored = known::by_content(self.store, self.options, &candidate.about, bytes)?;
        let (asked, unit) = (self.options.read.front_end, self.store.profile().unit());
        if stored.is_some() && format_of(asked, &candidate.about.hint, bytes, unit)? == Format::Mail {
            self.headers = mail_headers(bytes, &self.options.read.fields.kept());
        }
        Ok(stored)
    }

    fn read(
        &mut self,
        candidate: &Candidate,
        Reading { boilerplate, store_text }: Reading,
        asked: ReadAs,
        pieces: &mut Pieces,
    ) -> Result<ReadDocument> {
        let unit = self.store.profile().unit();
        let Self { fingerprinters, progress, headers, .. } = self;
        let fingerprinter = fingerprinters.of(boilerplate);
        let mut format = None;
        let mut text = store_text.then(TextChunks::default);
        let read = self.reader.read(candidate, self.stop, &|bytes| progress.read(bytes), &mut |bytes| {
            if format.is_none() {
                let chosen = format_of(asked, &candidate.about.hint, bytes, unit)?;
                if chosen == Format::Mail {
                    *headers = mail_headers(bytes, &self.options.read.fields.kept());
                }
                fingerprinter.begin(chosen);
                format = Some(chosen);
            }
            fingerprinter.feed(bytes, &mut pieces.parcel.fingerprints);
            if let Some(text) = &mut text {
                text.take(bytes, pieces)?;
            }
            pieces.send_if_full()
        });
        let Some(format) = format else {
            return Err(read.err().unwrap_or_else(|| reader_failed("it gave no bytes, and no error".into())));
        };
        // The fingerprinter is finished even after an error, to be ready for the next document.
        let facts = fingerprinter.finish(&mut pieces.parcel.fingerprints);
        let (digest, facts) = (read?, facts?);
        text.map_or(Ok(()), |text| text.finish(pieces))?;
        Ok(ReadDocument { digest, format, facts, boilerplate, stored_text: store_text })
    }
}

/// Makes compressed chunks of a document's bytes.
#[derive(Default)]
struct TextChunks {
    pending: Vec<u8>,
}

impl TextChunks {
    fn take(&mut self, mut bytes: &[u8], pieces: &mut Pieces) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(TEXT_CHUNK_BYTES - self.pending.len()));
            self.pending.extend_from_slice(now);
            if self.pending.len() == TEXT_CHUNK_BYTES {
                self.send(pieces)?;
            }
            bytes = later;
        }
        Ok(())
    }

    fn finish(mut self, pieces: &mut Pieces) -> Result<()> {
        if self.pending.is_empty() { Ok(()) } else { self.send(pieces) }
    }

    fn send(&mut self, pieces: &mut Pieces) -> Result<()> {
        let chunk = compress(&self.pending)?;
        self.pending.clear();
        pieces.push(ParcelEntry::Text(chunk))
    }
}
