//! Messages between the walker, the workers and the intake.
//!
//! The walker sends [`IntakeStep`]s to the intake and [`ReadJob`]s to the workers. Each job has its own
//! queue, which the intake receives as a step. Through this queue the worker sends the [`ParcelEntry`]s of
//! its documents, in [`Parcel`]s.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use super::known::KnownContainer;
use fpdb_host::error::{Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::fingerprint::DocumentFacts;
use fpdb_reading::input::{About, Candidate, FileFacts, ReadAs};
use fpdb_store::DocumentRecord;

/// One step of the walk, for the intake.
pub(super) enum IntakeStep {
    /// The number of entries of a job, and the channel of its results.
    Read(usize, Receiver<Parcel>),
    /// A document that has not changed, in this format.
    Unchanged(About, String),
    /// A container that was read to its end before and has not changed: its name and its file.
    KnownContainer(String, Arc<FileFacts>, KnownContainer),
    /// A file got its path as its name, because the file at `other` has the name as typed.
    NamedByPath {
        typed: String,
        name: String,
        other: String,
        had_other_bytes: bool,
    },
    /// Begins the file at this path: all messages up to the next `Close` belong to it.
    Open(String),
    /// Ends the file.
    Close(ReadContainer),
    /// A file or member that globs leave out.
    LeftOut(String),
    Skipped {
        name: String,
        reason: SkipReason,
    },
    Failed {
        name: String,
        error: Error,
    },
    /// The number of supplied documents that had the name of an earlier one, and the first of these names.
    Repeated(u64, Vec<String>),
}

/// A container or compressed file that was read.
pub(super) struct ReadContainer {
    pub(super) name: String,
    pub(super) file: Arc<FileFacts>,
    /// True if no error left out a part of the file.
    pub(super) whole: bool,
}

/// Documents for one worker to read, in order.
pub(super) struct ReadJob {
    pub(super) entries: Vec<JobEntry>,
    /// The digest of the document that is stored under the same name, if both documents have the same size.
    /// The worker then compares digests first. Only for a job of one document.
    pub(super) stored: Option<Digest>,
    pub(super) parcels: SyncSender<Parcel>,
}

/// One entry of a job. Failed and skipped members stay among the documents around them, because a message for
/// each would cost more than reading the member.
pub(super) enum JobEntry {
    Document(Candidate),
    Again(Box<DocumentAgain>),
    Skipped { name: String, reason: SkipReason },
    Failed { name: String, error: Error },
}

/// A document of another database, to be read again.
pub(super) struct DocumentAgain {
    pub(super) candidate: Candidate,
    /// The document's record in the other database.
    pub(super) stored: DocumentRecord,
    pub(super) read_as: ReadAs,
}

/// Fingerprints and the messages between them, in order. Documents share one list of fingerprints, because a
/// list for each would cost more than a small document.
#[derive(Default)]
pub(super) struct Parcel {
    pub(super) fingerprints: Fingerprints,
    /// Messages, each with the number of fingerprints before it. Fingerprints after the last message belong
    /// to a document that continues in the next parcel.
    pub(super) pieces: Vec<(usize, ParcelEntry)>,
}

/// A message between the fingerprints of documents, on its way from a worker to the intake.
pub(super) enum ParcelEntry {
    /// The next chunk of a document's bytes, compressed.
    Text(Vec<u8>),
    /// The document has the stored content. No other message about the document came before.
    Stored(About, Digest),
    /// The end of a document: no more fingerprints of it follow.
    End(About, Result<ReadDocument>),
    /// The end of a document that was read again, with its record in the other database.
    EndAgain(Box<DocumentRecord>, Result<ReadDocument>),
    Skipped {
        name: String,
        reason: SkipReason,
    },
    Failed {
        name: String,
        error: Error,
    },
}

/// A document that was read to its end.
pub(crate) struct ReadDocument {
    pub(crate) digest: Digest,
    pub(crate) format: Format,
    pub(crate) facts: DocumentFacts,
    /// True if the document was fingerprinted as boilerplate.
    pub(crate) boilerplate: bool,
    /// True if the document's compressed bytes came before this message.
    pub(crate) stored_text: bool,
}
