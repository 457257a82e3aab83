//! A persistent document-fingerprint database: which stored documents share text with this one, how much,
//! and exactly where?
//!
//! `fpdb` implements *Winnowing: Local Algorithms for Document Fingerprinting* (Schleimer, Wilkerson and
//! Aiken, 2003) as a database, and *Detecting short passages of similar text in large document collections*
//! (Lyon, Malcolm and Dickerson, 2001) as one setting of the same engine. `fpdb` brings a document's text to
//! a standard form of symbols, and hashes every k consecutive symbols. Of every w consecutive hashes it keeps
//! at least one. So any two documents that share a run of t = w + k - 1 symbols share a fingerprint. This is
//! the *guarantee*. The guarantee holds for the answers of queries too.
//!
//! `fpdb` is not a search engine (nothing shorter than k symbols can match), a judge (similarity is not proof
//! of copying), or a similarity of meaning (a translation shares no symbols).
//!
//! Limits: 2^32 - 1 documents, and up to 2^32 fingerprints in one document; one writer at a time, any number
//! of readers beside it. Threads may share an open database: see [`Database`].
//!
//! ```standalone_crate
//! use fpdb::{Database, Document, Profile};
//! # fn main() -> fpdb::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(&folder).unwrap();
//! let db = Database::create("essays.db", Profile::PROSE)?;
//! db.ingest([Document::new("dickens", "It was the best of times, it was the worst of times, it was the age of wisdom.")])?;
//!
//! let essay = "He wrote: it was the best of times, it was the worst of times, it was the age of reason.";
//! let answer = db.query(essay)?;
//! for found in &answer.matches {
//!     for passage in &found.passages {
//!         println!("{}: {}", found.document, &essay[passage.query.range()]);
//!     }
//! }
//! # assert_eq!(answer.matches[0].document, "dickens");
//! # let shared = &essay[answer.matches[0].passages[0].query.range()];
//! # assert_eq!(shared, "it was the best of times, it was the worst of times, it was the age of");
//! # Ok(())
//! # }
//! ```
//!
//! An answer has the 10 best matches, unless [`QueryOptions::top`] says otherwise; `top(None)` is all.
//!
//! [`Database`] reads and [`DatabaseWriter`] writes; [`Database::builder`] sets memory and threads. `query`
//! and `ingest` need no options; `query_with`, `query_each`, `ingest_with` and `ingest_sources` take options
//! and a [`Task`], which follows and stops work. The root has the names that every host needs: to open,
//! ingest and query. The options and answers of each further job have a module: [`pairs`], [`dedup`],
//! [`repeats`], [`apply`], [`staging`], [`report`] and [`maintenance`].
//!
//! [`ingest`](DatabaseWriter::ingest) stores the texts of documents. `ingest_with` does so only with
//! [`IngestOptions::store_text`]. [`dedup`] shows how duplicates are found and removed.
//!
//! The pure parts need no database: [`normalize`] (bytes to symbols), [`kgram`] (symbols to hashes) and
//! [`winnow`] (hashes to fingerprints). [`Fingerprinter`] puts them together.
//!
//! # Features
//!
//! With `default-features = false` the library reads plain text, HTML, Markdown, reStructuredText, TeX,
//! notebooks, source code, tar, JSON lines, mbox and compressed files. A document of another format is an
//! error that names the feature.
//!
//! | feature | adds |
//! |---|---|
//! | `mail` | single mails, and those of an mbox |
//! | `office` | DOCX, ODT and EPUB |
//! | `parquet` | Parquet |
//! | `pdf` | PDF |
//! | `warc` | web archives: WARC and ARC |
//! | `zip` | zip archives |
//! | `all-formats` (default) | all of these |
//! | `html-report` (default) | the report for a browser: all of [`report`] but `PairEvidence` |
//! | `json-schema` | the module `json_schema`: JSON schemas of the answers |

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
#![deny(clippy::undocumented_unsafe_blocks)]
// A build without some formats or without the report does not use their helpers.
#![cfg_attr(not(all(feature = "all-formats", feature = "html-report")), allow(dead_code))]

/// Checks that the example in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod archive;
#[cfg(test)]
#[path = "../tests/counted_heap.rs"]
mod counted_heap;
mod database;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod ingest;
#[cfg(feature = "json-schema")]
pub mod json_schema;
mod nearest_name;
mod query;
pub mod report;
pub mod staging;

pub use archive::submissions::submission_pattern;
pub use archive::{apply, dedup, pairs, repeats};
pub use database::{Database, DatabaseBuilder, DatabaseWriter, DocumentInfo, Removal, Renaming};
#[doc(inline)]
pub use fpdb_host::error::{DocumentError, Error, NamesThere, Result, StoreFailure};
#[doc(inline)]
pub use fpdb_host::failure::Failure;
#[doc(inline)]
pub use fpdb_host::json_options::{options_from_json, options_to_json};
#[doc(inline)]
pub use fpdb_host::progress::{Outcome, Progress, Task};
#[doc(inline)]
pub use fpdb_host::skip_reason::SkipReason;
#[doc(inline)]
pub use fpdb_host::stop::StopToken;
#[doc(inline)]
pub use fpdb_kernel::columns::{Fingerprint, Fingerprints, FingerprintsIter};
#[doc(inline)]
pub use fpdb_kernel::document::{Digest, DocId, Format, Language, Offsets, Span};
#[doc(inline)]
pub use fpdb_kernel::profile::{Profile, ProfileError, Selection, Unit, View, WordRule};
#[doc(inline)]
pub use fpdb_reading::extract::ReaderProcess;
#[doc(inline)]
pub use fpdb_reading::extract::process::serve_documents;
#[doc(inline)]
pub use fpdb_reading::fingerprint::{DocumentFacts, Fingerprinter};
#[doc(inline)]
pub use fpdb_reading::input::{
    Document, InputLimit, InputLimits, LimitUnit, MetadataTable, ReadAs, ReadOptions, RecordFields, Source, TextPath,
    TextStep, WalkOptions, glob_of_path,
};
#[doc(inline)]
pub use fpdb_store::abort_on_refused_memory;
pub use ingest::{IngestOptions, IngestSummary, OnChange, Skipped};
pub use query::{
    CorpusAnswer, DiffOptions, DisguisedWords, DocumentText, Ignored, IgnoredBecause, Location, Match, MatchMeasures,
    Measure, Mode, Passage, PassageOptions, Phrases, QueryAnswer, QueryDocument, QueryOptions, QuerySource, TextLookup,
    Weight, diff, text_of_file,
};

/// Turns bytes into symbols.
pub mod normalize {
    #[doc(inline)]
    pub use fpdb_kernel::normalize::{FrontEnd, Symbols, TextFacts, language_of};
}

/// Turns symbols into the hashes of k-grams.
pub mod kgram {
    #[doc(inline)]
    pub use fpdb_kernel::kgram::{KgramHasher, hash_kgram};
}

/// Turns hashes into fingerprints.
pub mod winnow {
    #[doc(inline)]
    pub use fpdb_kernel::winnow::{Selected, Winnower};
}

/// Figures, backups, checks and repairs of a database, its compaction, and documents selected for removal.
pub mod maintenance {
    pub use crate::database::hash_counts::DfCount;
    pub use crate::database::{
        BackupOptions, CacheUse, Compaction, DatabaseStats, KeptOut, RememberedSource, SelectedDocuments, StoredPart,
    };
    #[doc(inline)]
    pub use fpdb_store::{
        Backup, CompactionPlan, DamagedStore, Level, ListedBackup, LostDocument, Problem, Repair, Verification,
        backups, kept_out_since, verify_backups,
    };
}
