//! Submissions as a query counts them: documents that are one, with the sizes that they have together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::progress::is_due;
use crate::stop::StopToken;
use crate::store::Store;
use crate::submissions::Submissions;

/// The submissions of a database as of one commit.
pub(crate) struct CountedSubmissions {
    pattern: String,
    commit: u64,
    /// Documents have lower ids than this.
    next_document: u32,
    submissions: Submissions,
    /// By first document.
    facts: HashMap<u32, SubmissionFacts>,
    /// Submissions, and documents that stand for themselves.
    pub(super) count: u64,
}

/// The totals of a submission's documents.
#[derive(Clone, Debug, Default)]
pub(super) struct SubmissionFacts {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) symbols: u64,
    pub(super) kgrams: u64,
    pub(super) fingerprints: u64,
    /// Distinct hashes: one that several of them hold counts once.
    pub(super) distinct: u64,
}

impl CountedSubmissions {
    /// Reads the record of every document and, for the sizes, every posting.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped); an invalid regular expression; what keeps the store from being read.
    fn count(store: &Store, pattern: &str, stop: &StopToken) -> Result<Self> {
        let view = store.view();
        let next_document = view.state().next_document;
        let mut submissions = Submissions::new(Some(pattern), next_document as usize)?;
        let (mut facts, mut count) = (HashMap::<u32, SubmissionFacts>::new(), 0);
        store.for_each_document(|id, record| {
            stop.check()?;
            if !view.is_boilerplate(id) {
                submissions.add(id, &record.name);
            }
            let first = submissions.of(id);
            count += u64::from(first == id);
            if submissions.has(id) {
                let facts = facts.entry(first).or_default();
                facts.bytes += record.bytes;
                facts.symbols += record.symbols;
                facts.kgrams += record.kgrams;
                facts.fingerprints += record.fingerprints;
            }
            Ok(true)
        })?;
        let mut sizes = vec![0u64; next_document as usize];
        let mut room = Vec::new();
        let mut read = 0;
        store.for_each_hash(|_, holders| {
            if is_due(read) {
                stop.check()?;
            }
            read += 1;
            for &holder in submissions.holders(holders, &mut room) {
                sizes[holder as usize] += 1;
            }
            Ok(())
        })?;
        for (name, first) in submissions.by_name() {
            if let Some(facts) = facts.get_mut(&first) {
                (facts.name, facts.distinct) = (name.to_owned(), sizes[first as usize]);
            }
        }
        let (pattern, commit) = (pattern.to_owned(), view.state().commits);
        Ok(Self { pattern, commit, next_document, submissions, facts, count })
    }

    /// The submission of a document, by its first document; the document where it stands for itself.
    pub(super) fn of(&self, document: u32) -> u32 {
        self.submissions.of(document)
    }

    /// False for documents that came after the submissions were counted.
    pub(super) fn knows(&self, document: u32) -> bool {
        document < self.next_document
    }

    /// As [`Submissions::holders`].
    pub(super) fn holders<'a>(&self, documents: &'a [u32], room: &'a mut Vec<u32>) -> &'a [u32] {
        self.submissions.holders(documents, room)
    }

    /// The facts of a submission; `None` for documents that stand for themselves.
    pub(super) fn facts(&self, first: u32) -> Option<&SubmissionFacts> {
        self.facts.get(&first)
    }
}

/// The submissions that were counted last, for queries that come one after another.
#[derive(Default)]
pub(crate) struct SubmissionCache(Mutex<Option<Arc<CountedSubmissions>>>);

impl SubmissionCache {
    /// The submissions that a regular expression finds, as of the last commit; `None` where documents stand for themselves.
    /// Waits for a commit that is being made, so it must not be called on the threads of the database.
    pub(crate) fn get(
        &self,
        store: &Store,
        pattern: Option<&str>,
        stop: &StopToken,
    ) -> Result<Option<Arc<CountedSubmissions>>> {
        let Some(pattern) = pattern else { return Ok(None) };
        let _unchanged = store.keep_unchanged(stop)?;
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = &*last
            && counted.pattern == pattern
            && counted.commit == store.view().state().commits
        {
            return Ok(Some(Arc::clone(counted)));
        }
        let counted = Arc::new(CountedSubmissions::count(store, pattern, stop)?);
        *last = Some(Arc::clone(&counted));
        Ok(Some(counted))
    }
}
