//! Worker: reads one document after the other and makes fingerprints.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use super::{IngestObserver, IngestOptions};
use crate::document::{Digest, Format};
use crate::error::{Error, Result};
use crate::fingerprint::{DocumentFacts, Fingerprint, Fingerprinter};
use crate::guarded::guarded;
use crate::input::{Candidate, Content, Reader, format_of};
use crate::store::{CHUNK_BYTES, Store, compress};

/// Fingerprints that travel together: some 200 KiB.
const PIECE_FINGERPRINTS: usize = 4096;

/// A document to be read.
pub(super) struct Job {
    pub(super) candidate: Candidate,
    /// The content stored under its name, where the size is the same: then it is worth a look before the work.
    pub(super) stored: Option<Digest>,
    pub(super) pieces: SyncSender<Piece>,
}

/// Part of a document, on its way from a worker to the intake.
pub(super) enum Piece {
    Fingerprints(Vec<Fingerprint>),
    /// The next chunk of its bytes, compressed.
    Text(Vec<u8>),
    /// It has the content that is stored; nothing else comes.
    Stored(Digest),
    End(Result<Read>),
}

/// A document that has been read to its end.
pub(super) struct Read {
    pub(super) digest: Digest,
    pub(super) format: Format,
    pub(super) facts: DocumentFacts,
    /// Whether its bytes came before it.
    pub(super) stored_text: bool,
    /// The fingerprints that no piece has brought.
    pub(super) rest: Vec<Fingerprint>,
}

/// Works until no job comes any more.
pub(super) fn work(
    store: &Store,
    options: &IngestOptions,
    jobs: &Mutex<Receiver<Job>>,
    stop: &AtomicBool,
    observer: &dyn IngestObserver,
) {
    let new = || Worker {
        store,
        options,
        stop,
        observer,
        // Of a database that was empty nothing can be known.
        looks: store.view().state().documents > 0,
        reader: Reader::new(options.read.limits),
        fingerprinter: Fingerprinter::new(store.profile()),
    };
    let mut worker = new();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { candidate, stored, pieces }) = job else { return };
        let end = guarded(|| match worker.stored(&candidate, stored) {
            Ok(Some(digest)) => Piece::Stored(digest),
            Ok(None) => Piece::End(worker.read(&candidate, &pieces)),
            Err(error) => Piece::End(Err(error)),
        });
        let end = end.unwrap_or_else(|detail| {
            // What it was at is half done.
            worker = new();
            Piece::End(Err(Error::ReaderFailed { detail }))
        });
        // An intake that is gone has failed, and says so itself.
        let _ = pieces.send(end);
    }
}

struct Worker<'a> {
    store: &'a Store,
    options: &'a IngestOptions,
    stop: &'a AtomicBool,
    observer: &'a dyn IngestObserver,
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
                self.observer.read(candidate.about.file.as_ref().map_or(0, |file| file.bytes));
            }
            return Ok(same.then_some(stored));
        }
        let Content::Whole(bytes) = &candidate.content else { return Ok(None) };
        // The stored one can be replaced by the one before it.
        if !self.looks || candidate.about.repeated {
            return Ok(None);
        }
        let Some(&newest) = self.store.documents_named(&candidate.about.name)?.last() else { return Ok(None) };
        let record = match self.store.document(newest) {
            // The intake has deleted it in between.
            Err(_) if !self.store.view().is_live(newest) => return Ok(None),
            record => record?,
        };
        // Its bytes may be wanted, and not kept.
        let keeps = record.stored_text || !self.options.store_text;
        let same_format = keeps && self.options.read.front_end.allows(&record.format);
        let same = same_format && record.bytes == bytes.len() as u64;
        let digest = xxh3_128(bytes).to_be_bytes();
        Ok((same && digest == record.digest).then_some(digest))
    }

    fn read(&mut self, candidate: &Candidate, pieces: &SyncSender<Piece>) -> Result<Read> {
        let Self { fingerprinter, observer, .. } = self;
        let (asked, unit) = (self.options.read.front_end, self.store.profile().unit);
        let mut format = None;
        let mut fingerprints = Vec::new();
        let mut text = self.options.store_text.then(|| TextChunks { sender: pieces, pending: Vec::new() });
        let read = self.reader.read(candidate, self.stop, &|bytes| observer.read(bytes), &mut |bytes| {
            if format.is_none() {
                let chosen = format_of(asked, &candidate.about.hint, bytes, unit)?;
                fingerprinter.begin(chosen);
                format = Some(chosen);
            }
            fingerprinter.feed(bytes, &mut fingerprints);
            if let Some(text) = &mut text {
                text.take(bytes)?;
            }
            if fingerprints.len() < PIECE_FINGERPRINTS {
                return Ok(());
            }
            // An intake that is gone has failed, and says so itself.
            pieces.send(Piece::Fingerprints(std::mem::take(&mut fingerprints))).map_err(|_| Error::Interrupted)
        });
        let Some(format) = format else { return Err(read.err().unwrap_or(Error::Interrupted)) };
        // Finished in any case, so as to be ready for the next document.
        let facts = fingerprinter.finish(&mut fingerprints);
        let stored_text = text.is_some();
        let (digest, facts) = (read?, facts?);
        text.map_or(Ok(()), TextChunks::finish)?;
        Ok(Read { digest, format, facts, stored_text, rest: fingerprints })
    }
}

/// Sends a document's bytes in compressed chunks.
struct TextChunks<'a> {
    sender: &'a SyncSender<Piece>,
    pending: Vec<u8>,
}

impl TextChunks<'_> {
    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.pending.len()));
            self.pending.extend_from_slice(now);
            if self.pending.len() == CHUNK_BYTES {
                self.send()?;
            }
            bytes = later;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if self.pending.is_empty() { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<()> {
        let chunk = compress(&self.pending)?;
        self.pending.clear();
        // An intake that is gone has failed, and says so itself.
        self.sender.send(Piece::Text(chunk)).map_err(|_| Error::Interrupted)
    }
}
