//! A persistent document-fingerprint database: which stored documents share text with this one, how much,
//! and exactly where?
//!
//! It implements *Winnowing: Local Algorithms for Document Fingerprinting* (Schleimer, Wilkerson and Aiken,
//! 2003) as a database, and *Detecting short passages of similar text in large document collections* (Lyon,
//! Malcolm and Dickerson, 2001) as one setting of the same engine. A document's text is brought to a
//! standard form of symbols, every k consecutive symbols are hashed, and of every w consecutive hashes at
//! least one is kept. So any two documents that share a run of t = w + k - 1 symbols share a fingerprint:
//! that is the guarantee, and it holds through to the answer of a query.
//!
//! What it is not: a search engine (nothing shorter than k symbols can match), a judge (similarity is not
//! proof of copying), or a similarity of meaning (a translation shares no symbols).
//!
//! Limits: 2^32 - 1 documents, and up to 2^32 fingerprints in one document; one writer at a time, any number
//! of readers beside it. Threads may share what is open: see [`Database`].
//!
//! ```
//! use fpdb::{Database, Document, IngestOptions, Profile, QueryOptions, QuerySource, Task};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("db");
//! let profile = Profile::named("prose").ok_or("no such profile")?;
//! let database = Database::create(&path, &profile)?;
//! let stored = [Document::new("dickens", "It was the best of times, it was the worst of times, it was the age of wisdom.")];
//! database.ingest_documents(stored, &IngestOptions::default().store_text(true), &Task::new())?;
//!
//! let text = "He wrote: it was the best of times, it was the worst of times, it was the age of reason.";
//! for answer in database.query(&[QuerySource::text(text)], &QueryOptions::default(), &Task::new())? {
//!     let found = &answer?.matches[0];
//!     assert_eq!(found.document, "dickens");
//!     let shared = &text[found.passages[0].query.range()];
//!     assert_eq!(shared, "it was the best of times, it was the worst of times, it was the age of");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! An answer has the 10 best matches, unless [`QueryOptions::top`] says otherwise; `top(None)` is all.
//!
//! [`Database`] reads and [`DatabaseWriter`] writes; [`Database::builder`] sets memory and threads. The root has the names that every
//! host needs: to open, ingest and query. The options and answers of each further job have a module: [`pairs`], [`dedup`], [`repeats`],
//! [`apply`], [`staging`], [`report`] and [`maintenance`].
//!
//! The pure parts need no database: [`normalize`] (bytes to symbols), [`kgram`] (symbols to hashes) and [`winnow`] (hashes to
//! fingerprints). [`Fingerprinter`] puts them together.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
#![deny(clippy::undocumented_unsafe_blocks)]

// The program names the library as any other program does.
#[cfg(feature = "cli")]
extern crate self as fpdb;

pub mod apply;
mod bounded;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod clock;
mod columns;
#[cfg(test)]
mod counted_heap;
mod database;
pub mod dedup;
mod document;
mod duplicate;
mod durable;
mod error;
mod extract;
mod failure;
mod fingerprint;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod guarded;
mod hash_counts;
mod hex;
mod ingest;
mod input;
mod kernel;
pub mod kgram;
mod lanes;
mod memory;
mod names;
pub mod normalize;
pub mod pairs;
mod pool;
mod profile;
mod progress;
mod query;
mod recognise;
pub mod repeats;
pub mod report;
mod schema;
mod setters;
mod spill;
pub mod staging;
mod stop;
mod store;
mod submissions;
mod temporary;
mod threads;
pub mod winnow;

pub use columns::{Fingerprint, Fingerprints, FingerprintsIter};
pub use database::{Database, DatabaseBuilder, DatabaseWriter, DocumentInfo, Removal};
pub use document::{DocId, Format, Language, Offsets, Span};
pub use error::{DocumentError, Error, Result, StoreFailure};
pub use extract::ReaderProcess;
#[cfg(unix)]
pub use extract::process::serve_documents;
pub use fingerprint::{DocumentFacts, Fingerprinter};
pub use ingest::{Failure, IngestOptions, IngestSummary, OnChange, Skipped};
pub use input::{Document, InputLimits, MetadataTable, ReadAs, ReadOptions, RecordFields, Source, WalkOptions};
pub use profile::{Profile, Selection, Unit, WordRule};
pub use progress::{Outcome, Progress, Task};
pub use query::{
    DocumentText, Ignored, IgnoredBecause, Location, Match, Measure, Mode, Passage, PassageOptions, Phrases,
    QueryAnswer, QueryDocument, QueryOptions, QuerySource, Weight, diff,
};
pub use stop::StopToken;
pub use submissions::submission_pattern;

/// Figures, backups, checks and repairs of a database, its compaction, and documents selected for removal.
pub mod maintenance {
    pub use crate::database::{
        BackupOptions, CacheUse, Compaction, CompactionPlan, DatabaseStats, RememberedSource, SelectedDocuments,
        StoredPart,
    };
    pub use crate::hash_counts::DfCount;
    pub use crate::store::{Backup, Level, LostDocument, Problem, Repair, Verification};
}

/// Internals that the program uses: it looks around before it starts, and cleans up when it is interrupted.
#[cfg(feature = "cli")]
pub(crate) use {
    guarded::silence_guarded_panics,
    input::{NamePrefix, enclosing_database, measure},
    query::{CorpusAnswer, text_of_file},
    recognise::{LAYER_HEAD, holds_records},
    temporary::{Temporary, list_temporary_files, remove_temporary_files, stale_temporaries},
};
