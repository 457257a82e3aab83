//! Dedup: decides which documents are removable. For each it names the *survivor*, a document that stays and
//! justifies the removal. Dedup itself removes nothing. To act on an answer:
//!
//! * [`DatabaseWriter::remove_numbers`](crate::DatabaseWriter::remove_numbers) deletes the documents from the
//!   database, as below.
//! * [`DatabaseWriter::remove_reported`](crate::DatabaseWriter::remove_reported) does so from a report on
//!   disk ([`DedupAnswer::write_report`]), and first compares each document with the report.
//! * [`Database::apply`](crate::Database::apply) removes, moves, links or copies the files of documents, also
//!   from a report. Documents from memory have no files.
//!
//! ```
//! use fpdb::dedup::{DedupBy, DedupOptions};
//! use fpdb::{Database, Document, Profile, Task};
//! # fn main() -> fpdb::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("db");
//! let db = Database::create(&path, Profile::PROSE)?;
//! let text = "It was the best of times, it was the worst of times, it was the age of wisdom.";
//! db.ingest([Document::new("a", text), Document::new("b", text.to_uppercase())])?;
//!
//! let options = DedupOptions::of(db.profile(), DedupBy::ExactText);
//! let answer = db.dedup(&options, &Task::new())?;
//! for found in &answer.removable {
//!     println!("{} goes, for {} stays", found.remove, found.keep);
//! }
//! let gone: Vec<_> = answer.removable.iter().map(|found| found.remove_id).collect();
//! db.remove_numbers(&gone)?;
//!
//! let mut kept = Vec::new();
//! db.for_each_document(|document| {
//!     let text = db.text_of(document.id)?;
//!     kept.push((document.name, text));
//!     Ok::<(), fpdb::Error>(())
//! })?;
//! assert_eq!(kept.len(), 1);
//! # assert_eq!((answer.removable.len(), db.stats()?.documents), (1, 1));
//! # assert!(kept[0].1.as_ref().is_some_and(|kept| kept.bytes.len() == text.len()));
//! # Ok(())
//! # }
//! ```
//!
//! # The rule
//!
//! Documents have one total order, most worth keeping first. A document is removable if one earlier survivor
//! holds enough of the document's fingerprints and leaves no long stretch of the document unmatched. A second
//! pass compares survivors with later survivors in the same way, which can make more of them removable.
//! Likeness is never passed on from document to document, because transitive closure removes most of some
//! corpora. The answer depends neither on threads or memory nor on where a run was interrupted.
//! `docs/dedup-reference.md` has the rule, its costs and the measurements. The crate [`fpdb_dedup`] does the
//! work and documents it.

use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_store::Store;

use super::nothing_fits::nothing_fits;
use crate::query::TextSequence;

#[doc(inline)]
pub use fpdb_dedup::{
    Because, DedupAnswer, DedupBy, DedupCauses, DedupMode, DedupOptions, DedupPlan, DedupRow, DedupSummary, Keep,
    LatestRun, Removable, SourceTotals, Superseded, Undecided,
};
use fpdb_dedup::{Decided, DigestOf, ReadTexts};

/// The texts of the documents in a store, read under the limits of these options.
struct Texts<'a>(&'a Store, &'a DedupOptions);

impl ReadTexts for Texts<'_> {
    fn in_order(&self, documents: Vec<u32>) -> Box<DigestOf<'_>> {
        let mut texts = TextSequence::new(self.0, documents, self.1.limits.clone());
        Box::new(move |id| texts.digest_of_symbols(id))
    }
}

/// Decides which documents are removable.
pub(crate) fn decide(store: &Store, options: &DedupOptions, task: &Task<'_>) -> Result<Decided> {
    let decided = fpdb_dedup::decide(store, options, &Texts(store, options), task);
    with_nearest(decided, store, task.token())
}

/// Estimates the cost of a run with these options.
///
/// # Errors
/// The errors of the run, except too little memory.
pub(crate) fn plan(store: &Store, options: &DedupOptions) -> Result<DedupPlan> {
    with_nearest(fpdb_dedup::plan(store, options), store, &StopToken::new())
}

/// Adds the most similar beginning of a stored name to the error for an option that fits no document.
fn with_nearest<T>(result: Result<T>, store: &Store, stop: &StopToken) -> Result<T> {
    match result {
        Err(Error::NothingFits { option, value, nearest: None }) => nothing_fits(store, option, &value, stop),
        result => result,
    }
}
