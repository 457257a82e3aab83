//! Messages: what the walker, the workers and the intake hand each other.
//!
//! The walker sends the intake one [`IntakeStep`] after the other, and the workers one [`ReadJob`] after the other. A job has a queue of its
//! own, which the intake gets as a step: through it the worker sends the [`ParcelEntry`]s of its documents, in [`Parcel`]s.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use fpdb_host::error::{Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::fingerprint::DocumentFacts;
use fpdb_reading::input::{About, Candidate, FileFacts};

/// One step of the walk, as the intake sees it.
pub(super) enum IntakeStep {
    /// A job of so many entries, and the channel of its results.
    Read(usize, Receiver<Parcel>),
    /// A document that has not changed, in this format.
    Unchanged(About, String),
    /// A container that was ingested whole before and has not changed: its name, bytes and documents.
    KnownContainer(String, u64, u64),
    /// All messages up to the next `Close` are of one file.
    Open,
    /// All of the file has been handed over.
    Close(ReadContainer),
    /// A member that globs leave out.
    LeftOut(String),
    Skipped {
        name: String,
        reason: SkipReason,
    },
    Failed {
        name: String,
        error: Error,
    },
    /// So many documents had the name of one before; with the first of these names.
    Repeated(u64, Vec<String>),
}

/// A container or compressed file that has been read.
pub(super) struct ReadContainer {
    pub(super) name: String,
    pub(super) file: Arc<FileFacts>,
    /// None of it was left out because of an error.
    pub(super) whole: bool,
}

/// Documents to be read, one after the other.
pub(super) struct ReadJob {
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
    Skipped { name: String, reason: SkipReason },
    Failed { name: String, error: Error },
}

/// Fingerprints, and the pieces between them, in order: they travel together. Documents share the memory of their
/// fingerprints: lists of its own for each would cost more than a small document.
#[derive(Default)]
pub(super) struct Parcel {
    pub(super) fingerprints: Fingerprints,
    /// Each with the number of fingerprints that come before it. Fingerprints after the last piece are of a document that goes on.
    pub(super) pieces: Vec<(usize, ParcelEntry)>,
}

/// A message between the fingerprints of documents, on its way from a worker to the intake.
pub(super) enum ParcelEntry {
    /// The next chunk of its bytes, compressed.
    Text(Vec<u8>),
    /// It has the content that is stored; it had no other piece.
    Stored(About, Digest),
    /// The end of a document, of which the fingerprints before it are the last.
    End(About, Result<ReadDocument>),
    Skipped {
        name: String,
        reason: SkipReason,
    },
    Failed {
        name: String,
        error: Error,
    },
}

/// A document that has been read to its end.
pub(crate) struct ReadDocument {
    pub(crate) digest: Digest,
    pub(crate) format: Format,
    pub(crate) facts: DocumentFacts,
    /// True if its bytes came before it.
    pub(crate) stored_text: bool,
}
