//! Worker: reads one document after the other and makes fingerprints.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use super::IngestOptions;
use crate::columns::{FINGERPRINT_BYTES, Fingerprints};
use crate::document::{Digest, Format};
use crate::error::{Error, Result};
use crate::fingerprint::{DocumentFacts, Fingerprinter};
use crate::guarded::guarded;
use crate::input::{About, Candidate, Content, Reader, format_of};
use crate::progress::Progress;
use crate::stop::StopToken;
use crate::store::{CHUNK_BYTES, Store, compress};

/// Fingerprints that travel together: some 100 KiB.
const PIECE_FINGERPRINTS: usize = 4096;

/// Documents to be read, one after the other.
pub(super) struct Job {
    pub(super) entries: Vec<JobEntry>,
    /// The content stored under its name, where the size is the same: then it is worth a look before the work. Only
    /// of a document that is the only one.
    pub(super) stored: Option<Digest>,
    pub(super) parcels: SyncSender<Parcel>,
}

/// One entry of a job. Members that failed or are no documents travel with the documents between which they stand: a
/// message of its own for each would cost more than the member.
pub(super) enum JobEntry {
    Document(Candidate),
    Skipped { name: String, reason: &'static str },
    Failed { name: String, error: Error },
}

/// Pieces that travel together, in order: the last ones of a document and the first ones of the next.
pub(super) type Parcel = Vec<Piece>;

/// Part of a document, on its way from a worker to the intake.
pub(super) enum Piece {
    Fingerprints(Fingerprints),
    /// The next chunk of its bytes, compressed.
    Text(Vec<u8>),
    /// It has the content that is stored; it had no other piece.
    Stored(About, Digest),
    End(About, Result<Read>),
    Skipped {
        name: String,
        reason: &'static str,
    },
    Failed {
        name: String,
        error: Error,
    },
}

/// A document that has been read to its end.
pub(super) struct Read {
    pub(super) digest: Digest,
    pub(super) format: Format,
    pub(super) facts: DocumentFacts,
    /// Whether its bytes came before it.
    pub(super) stored_text: bool,
    /// The fingerprints that no piece has brought.
    pub(super) rest: Fingerprints,
}

/// What has come of a document.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, which is taken apart at once")]
enum Seen {
    Stored(Digest),
    Read(Read),
}

/// Works until no job comes any more.
pub(super) fn work(
    store: &Store,
    options: &IngestOptions,
    jobs: &Mutex<Receiver<Job>>,
    stop: &StopToken,
    progress: &dyn Progress,
) {
    let new = || Worker {
        store,
        options,
        stop,
        progress,
        // Of a database that was empty nothing can be known.
        looks: store.view().state().documents > 0,
        reader: Reader::new(options.read.limits.clone()),
        fingerprinter: Fingerprinter::new(store.profile()).with_limits(&options.read.limits),
    };
    let mut worker = new();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { entries, stored, parcels }) = job else { return };
        let mut pieces = Pieces { parcels, parcel: Vec::new(), weight: 0 };
        for entry in entries {
            let piece = match entry {
                JobEntry::Skipped { name, reason } => Piece::Skipped { name, reason },
                JobEntry::Failed { name, error } => Piece::Failed { name, error },
                JobEntry::Document(candidate) => {
                    let seen = guarded(|| {
                        Ok(match worker.stored(&candidate, stored)? {
                            Some(digest) => Seen::Stored(digest),
                            None => Seen::Read(worker.read(&candidate, &mut pieces)?),
                        })
                    });
                    let seen = seen.unwrap_or_else(|detail| {
                        // What it was at is half done.
                        worker = new();
                        Err(Error::ReaderFailed { detail })
                    });
                    match seen {
                        Ok(Seen::Stored(digest)) => Piece::Stored(candidate.about, digest),
                        Ok(Seen::Read(read)) => Piece::End(candidate.about, Ok(read)),
                        Err(error) => Piece::End(candidate.about, Err(error)),
                    }
                }
            };
            if pieces.push(piece).is_err() {
                break;
            }
        }
        // An intake that is gone has failed, and says so itself.
        let _ = pieces.send();
    }
}

/// Packs the pieces of a job.
struct Pieces {
    parcels: SyncSender<Parcel>,
    parcel: Parcel,
    /// What it holds, in fingerprints.
    weight: usize,
}

impl Pieces {
    /// # Errors
    /// [`Error::Stopped`] where the intake takes no more of them: it has failed, and says so itself.
    fn push(&mut self, piece: Piece) -> Result<()> {
        self.weight += match &piece {
            Piece::Fingerprints(fingerprints) => fingerprints.len(),
            Piece::Text(text) => text.len() / FINGERPRINT_BYTES,
            Piece::End(_, Ok(read)) => read.rest.len(),
            Piece::End(_, Err(_)) | Piece::Stored(..) | Piece::Skipped { .. } | Piece::Failed { .. } => 0,
        };
        self.parcel.push(piece);
        if self.weight < PIECE_FINGERPRINTS { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<()> {
        self.weight = 0;
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
    fingerprinter: Fingerprinter,
}

impl Worker<'_> {
    /// The digest of the document, if that is what is stored under its name.
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
        // The stored one can be replaced by the one before it.
        if !self.looks || candidate.about.repeated {
            return Ok(None);
        }
        let Some(newest) = self.store.newest_named(&candidate.about.name, |_| true)? else { return Ok(None) };
        let record = match self.store.document(newest) {
            // The intake has deleted it in between.
            Err(_) if !self.store.view().is_live(newest) => return Ok(None),
            record => record?,
        };
        // Its bytes may be wanted, and not kept.
        let keeps = record.stored_text || !self.options.store_text;
        let same_format = keeps && self.options.read.front_end.allows(&record.format, &candidate.about.hint);
        let same = same_format && record.bytes == bytes.len() as u64;
        let digest = xxh3_128(bytes).to_be_bytes();
        Ok((same && digest == record.digest).then_some(digest))
    }

    fn read(&mut self, candidate: &Candidate, pieces: &mut Pieces) -> Result<Read> {
        let Self { fingerprinter, progress, .. } = self;
        let (asked, unit) = (self.options.read.front_end, self.store.profile().unit);
        let mut format = None;
        let mut fingerprints = Fingerprints::new();
        let mut text = self.options.store_text.then(TextChunks::default);
        let read = self.reader.read(candidate, self.stop, &|bytes| progress.read(bytes), &mut |bytes| {
            if format.is_none() {
                let chosen = format_of(asked, &candidate.about.hint, bytes, unit)?;
                fingerprinter.begin(chosen);
                format = Some(chosen);
            }
            fingerprinter.feed(bytes, &mut fingerprints);
            if let Some(text) = &mut text {
                text.take(bytes, pieces)?;
            }
            if fingerprints.len() < PIECE_FINGERPRINTS {
                return Ok(());
            }
            pieces.push(Piece::Fingerprints(std::mem::take(&mut fingerprints)))
        });
        let Some(format) = format else {
            let no_bytes = || Error::ReaderFailed { detail: "it gave no bytes, and no error".into() };
            return Err(read.err().unwrap_or_else(no_bytes));
        };
        // Finished in any case, so as to be ready for the next document.
        let facts = fingerprinter.finish(&mut fingerprints);
        let stored_text = text.is_some();
        let (digest, facts) = (read?, facts?);
        text.map_or(Ok(()), |text| text.finish(pieces))?;
        Ok(Read { digest, format, facts, stored_text, rest: fingerprints })
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
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.pending.len()));
            self.pending.extend_from_slice(now);
            if self.pending.len() == CHUNK_BYTES {
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
        pieces.push(Piece::Text(chunk))
    }
}
