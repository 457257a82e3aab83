//! Joined: the documents of one submission as one query.
//!
//! The distinct hashes of all these documents rank the matches, like the hashes of one document. Then each
//! document by itself is compared with the stored documents of these matches. This gives pairs of documents
//! with their own measures and passages.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::answer::{Match, QueryAnswer, QueryDocument};
use super::options::QueryOptions;
use super::prepared::PreparedQuery;
use super::rank::TIED;
use crate::archive::submissions::Submissions;
use fpdb_host::error::Result;
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;

/// Collects query documents by submission, in the order of the submissions' first documents.
pub(crate) struct JoinedQueries {
    submissions: Submissions,
    queries: Vec<(String, Vec<PreparedQuery>)>,
    places: HashMap<String, usize>,
    /// By submission, the number of its files that cannot be read.
    unread: HashMap<String, u64>,
}

impl JoinedQueries {
    /// Collects nothing unless the options join submissions.
    ///
    /// # Errors
    /// An invalid regular expression for submissions.
    pub(crate) fn new(options: &QueryOptions) -> Result<Self> {
        let joins = options.join_submissions && !options.joining.rewritten;
        let submissions = Submissions::new(options.submission_by.as_deref().filter(|_| joins), 0)?;
        Ok(Self { submissions, queries: Vec::new(), places: HashMap::new(), unread: HashMap::new() })
    }

    /// Keeps a document that is part of a submission, and returns any other document. `member` is the name of
    /// the document in its container.
    pub(crate) fn take(&mut self, query: PreparedQuery, member: Option<&str>) -> Option<PreparedQuery> {
        let Some(submission) = self.submissions.name_of(&query.name, member) else { return Some(query) };
        match self.places.get(submission) {
            Some(&place) => self.queries[place].1.push(query),
            None => {
                let submission = submission.to_owned();
                self.places.insert(submission.clone(), self.queries.len());
                self.queries.push((submission, vec![query]));
            }
        }
        None
    }

    /// Counts a file that cannot be read, if it is part of a submission, or an archive that is itself a
    /// submission.
    pub(crate) fn count_unread(&mut self, name: &str) {
        if let Some(submission) = self.submissions.name_of_unread(name) {
            *self.unread.entry(submission).or_default() += 1;
        }
    }

    /// The submissions, each with its documents and the number of its files that cannot be read.
    pub(crate) fn into_queries(self) -> Vec<(String, Vec<PreparedQuery>, u64)> {
        let Self { queries, mut unread, .. } = self;
        let with_unread = |(name, parts)| {
            let unread = unread.remove(&name).unwrap_or_default();
            (name, parts, unread)
        };
        queries.into_iter().map(with_unread).collect()
    }
}

/// The pairs of documents of one match.
#[derive(Default)]
struct Pairs {
    /// The pairs that share most, at most `submission_files` of them.
    files: Vec<Match>,
    /// Number of all pairs.
    all: usize,
    /// Number of symbols of the query inside passages.
    covered: f64,
}

/// Answers the query of a submission with the documents `parts`. `stored` is the database's profile, and
/// `ask` answers the query of one document.
///
/// # Errors
/// The errors of `ask`, and a window that is too small.
pub(crate) fn answer_joined(
    name: &str,
    parts: &[PreparedQuery],
    stored: &Profile,
    options: &QueryOptions,
    ask: impl Fn(&PreparedQuery, &QueryOptions) -> Result<QueryAnswer>,
) -> Result<QueryAnswer> {
    let profile = stored.with_window(options.window.unwrap_or(stored.w()))?;
    let whole = PreparedQuery::joined(name.to_owned(), profile, parts);
    let top = options.top.unwrap_or(usize::MAX);
    let ranking = options.clone().passages(false).submission_files(usize::MAX);
    let mut answer = ask(&whole, &ranking.top(options.top.map(|top| top.saturating_add(TIED))))?;
    // Passages decide between matches of equal score. So matches that tie with the last of the best stay
    // until the passages are known.
    let cut = top.checked_sub(1).and_then(|last| answer.matches.get(last)).map(|last| last.score);
    answer.matches.retain(|found| cut.is_none_or(|cut| found.score >= cut));
    let mut only: Vec<DocId> = answer.matches.iter().flat_map(documents).map(|found| found.id).collect();
    only.sort_unstable();
    let options_of_part =
        options.clone().only(Some(only)).n(Some(u64::MAX)).top(None).min_score(0.0).submission_files(usize::MAX);
    let mut pairs: HashMap<DocId, Pairs> = HashMap::new();
    for part in parts {
        let found = ask(part, &options_of_part)?;
        answer.coverage += found.coverage * part.symbols as f64;
        let query = Box::new(QueryDocument { ignored: found.ignored, id: part.id.map(DocId), ..found.query });
        for found in found.matches {
            let pairs = pairs.entry(found.id).or_default();
            pairs.covered += found.coverage.unwrap_or(0.0) * part.symbols as f64;
            let files = documents(&found);
            pairs.all += files.len();
            pairs.files.extend(files.iter().map(|file| Match { query: Some(query.clone()), ..file.clone() }));
            // A stable sort: pairs that share the same number stay in the order of the query's documents.
            pairs.files.sort_by_key(|file| Reverse(file.shared + file.text_shared.unwrap_or(0)));
            pairs.files.truncate(options.submission_files);
        }
    }
    let symbols = (whole.symbols as f64).max(1.0);
    answer.coverage /= symbols;
    for found in &mut answer.matches {
        let Pairs { files, all, covered } = pairs.remove(&found.id).unwrap_or_default();
        found.files_left_out = (all - files.len()) as u64;
        found.files = files;
        found.coverage = options.passages.then_some(covered / symbols);
    }
    // A stable sort: matches of equal score and coverage stay in the order of the ranking.
    let coverage = |found: &Match| found.coverage.unwrap_or(0.0);
    answer.matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(coverage(b).total_cmp(&coverage(a))));
    answer.matches.truncate(top);
    Ok(answer)
}

/// The documents of a match: those of the submission, or the document itself.
fn documents(found: &Match) -> &[Match] {
    if found.files.is_empty() { std::slice::from_ref(found) } else { &found.files }
}
