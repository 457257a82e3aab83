//! Query: which stored documents share text with this one, how much, and where?
//!
//! The query is winnowed with any window w' >= w, which gives a subset of what w would give; its distinct
//! hashes are looked up in ascending order. *Containment* uses all of them. *Resemblance* stops after the
//! n smallest: while n is small against |A|/w these survive winnowing almost surely in every document that
//! has them, so they are a uniform sample of the query's k-grams (Schleimer et al. 2003, section 3.2;
//! Broder 1998).

mod best;
mod diff;
mod estimate;
mod evidence;
mod gone;
mod passages;
mod phrases;
mod quotes;
mod rank;
mod subject;
mod text;
mod text_cache;
mod weight;

use std::collections::HashMap;

use crate::document::{DocId, Span};
use crate::error::{Error, Result};
use crate::input::ReadOptions;
use crate::profile::Profile;
use crate::store::{DocumentRecord, Holders, Store};
use evidence::{Evidence, Shared};
use passages::Found;
use rank::Ranked;

pub use diff::diff;
pub use estimate::wilson_interval;
pub use passages::PassageOptions;
pub(crate) use phrases::PhraseFinder;
pub use phrases::Phrases;
pub(crate) use subject::{Subject, SubjectReader};
pub use text::DocumentText;
pub(crate) use text::{text_of, text_of_file};
pub(crate) use text_cache::TextCache;
pub use weight::Weight;

/// One of the numbers of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// [`Match::score`].
    Score,
    /// [`Match::containment`].
    Containment,
    /// [`Match::document_containment`].
    DocumentContainment,
    /// [`Match::resemblance`].
    Resemblance,
}

/// What is asked of the query's hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All of them: which share of the query does a document hold?
    #[default]
    Containment,
    /// The n smallest: how much do the two sets of k-grams overlap?
    Resemblance,
}

/// How to query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryOptions {
    /// Which measure ranks the matches.
    pub mode: Mode,
    /// The window w' of the query; the database's own where `None`.
    pub window: Option<u32>,
    /// The number of hashes to look up, smallest first; all where `None`.
    pub n: Option<u64>,
    /// The most matches to return; all where `None`.
    pub top: Option<usize>,
    /// The least score of a match; documents of the very same bytes are matches whatever their score.
    pub min_score: f64,
    /// Hashes held by more documents than this, a stored document that is queried with among them, are not counted as shared;
    /// they are counted as common.
    pub max_df: Option<u64>,
    /// Whether to find the passages of the matches.
    pub passages: bool,
    /// The documents to compare with, ascending; all where `None`. What is common is counted over all in any case.
    pub only: Option<Vec<DocId>>,
    /// How the query documents are read.
    pub read: ReadOptions,
    /// Phrases of the queries that are to count in no match.
    pub phrases: Option<Phrases>,
    /// How shared runs become passages.
    pub joining: PassageOptions,
    /// What a shared hash counts in the score.
    pub weight: Weight,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            mode: Mode::Containment,
            window: None,
            n: None,
            top: Some(10),
            min_score: 0.0,
            max_df: None,
            passages: true,
            only: None,
            read: ReadOptions::default(),
            phrases: None,
            joining: PassageOptions::default(),
            weight: Weight::default(),
        }
    }
}

/// The answer to one query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryAnswer {
    /// The profile with the query's window.
    pub profile: Profile,
    /// The query document's name, bytes, symbols.
    pub name: String,
    /// See `name`.
    pub bytes: u64,
    /// See `name`.
    pub symbols: u64,
    /// What a shared hash counts in the scores.
    pub weight: Weight,
    /// Distinct hashes of the query at the query's window.
    pub fingerprints: u64,
    /// How many of them were looked up: all, or n.
    pub looked_up: u64,
    /// How many of those at least one document holds, boilerplate aside.
    pub found: u64,
    /// How many of those some boilerplate document holds: they are in no score.
    pub boilerplate: u64,
    /// How many of those are held by more than `max_df` documents, and were left out of all scores.
    pub common: u64,
    /// How many of those stand in quotation marks only and were left out of all scores; with
    /// [`ReadOptions::skip_quotes`].
    pub quoted: u64,
    /// How many of those are of phrases only, and were left out of all scores; with [`QueryOptions::phrases`].
    pub phrases: u64,
    /// `found / looked_up`: the share of the query that the whole corpus holds.
    pub corpus_containment: f64,
    /// Best first.
    pub matches: Vec<Match>,
    /// Documents that share a hash with the query and reach the least score, and those of the very same bytes, shown or not.
    pub matching_documents: u64,
    /// Documents that share a hash with the query and do not reach the least score.
    pub below: u64,
    /// Parts of the query that make no match, in order; looked for together with passages.
    pub ignored: Vec<Ignored>,
}

/// A part of the query whose fingerprints are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// Bytes of the query document.
    pub query: Span,
    /// First and last line there, 1-based.
    pub query_lines: (u64, u64),
    /// Why.
    pub because: IgnoredBecause,
}

/// Why fingerprints are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoredBecause {
    /// Boilerplate holds them.
    Boilerplate,
    /// More documents hold them than the df cap allows.
    Common,
    /// They stand in quotation marks.
    Quoted,
    /// They are part of a phrase that is to be ignored.
    Phrase,
}

/// One document that shares text with the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// Its name.
    pub document: String,
    /// Its number.
    pub id: u32,
    /// Its bytes.
    pub document_bytes: u64,
    /// Its symbols.
    pub document_symbols: u64,
    /// Looked-up hashes it holds.
    pub shared: u64,
    /// What matches are ordered by: the mode's measure, of the hashes as they weigh.
    pub score: f64,
    /// The share of the looked-up hashes it holds.
    pub containment: f64,
    /// The share of its own fingerprints that the query holds: exact at the database's window when all
    /// were looked up, otherwise estimated from the containment and the two set sizes.
    pub document_containment: f64,
    /// Shared / all fingerprints of the two: exact or estimated as above.
    pub resemblance: f64,
    /// The 95% interval of the score where that is an estimate; `None` where it is exact, and where hashes weigh differently.
    pub interval: Option<(f64, f64)>,
    /// The measures that are estimates; the others are exact.
    pub estimated: Vec<Measure>,
    /// The bytes of both documents are the same. Such a document is a match in any case, unless it is boilerplate or the
    /// queried document itself. Its measures are what its hashes give, so 0 where none of those looked up counts; where the
    /// documents are too short to have any they are 1.
    pub identical: bool,
    /// The share of the query's symbols that lie in passages, those included that are not to count.
    pub coverage: f64,
    /// In order of the query.
    pub passages: Vec<Passage>,
    /// How many more there are, left out for [`PassageOptions::most`].
    pub passages_left_out: u64,
    /// What is known of the document beside its content: names and values, in order.
    pub metadata: Vec<(String, String)>,
    /// Why the passages are inferred from fingerprints; `None` where the texts were compared, and where no passages
    /// were asked for.
    pub inferred: Option<&'static str>,
    /// Pairs of equal k-grams that were not looked at one by one, because both documents repeat them too often.
    /// What they share there is in passages all the same, each place of it in one at least.
    pub repeats: u64,
}

/// A pair of matching spans, one in each document.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Bytes of the query document.
    pub query: Span,
    /// First and last line there, 1-based.
    pub query_lines: (u64, u64),
    /// Bytes of the stored document.
    pub document: Span,
    /// First and last line there, 1-based.
    pub document_lines: (u64, u64),
    /// Symbols of the query it covers.
    pub symbols: u64,
    /// The share of its symbols, in the longer of the two spans, that are equal and in the same order: at least so
    /// much. 1 where both spans have the same text. `None` where they were not compared.
    pub agreement: Option<f64>,
    /// True where the spans were compared symbol by symbol; false where they are inferred from the
    /// fingerprints they share.
    pub exact: bool,
}

/// Answers one query. The texts it compares stay in `texts`, for others that need them.
///
/// # Errors
/// [`Error::NoSuchNumber`] where a document that it needs has been deleted meanwhile, and what keeps the store from being
/// read.
pub(crate) fn answer(
    store: &Store,
    subject: &Subject,
    options: &QueryOptions,
    texts: &TextCache,
) -> Result<QueryAnswer> {
    let looked_up = match options.n {
        Some(0) => {
            return Err(Error::InvalidParameter {
                name: "-n",
                value: "0".into(),
                expected: "a number of hashes, 1 or more",
            });
        }
        Some(n) => &subject.hashes[..subject.hashes.len().min(usize::try_from(n).unwrap_or(usize::MAX))],
        None => &subject.hashes[..],
    };
    let mut lookup = match options.passages {
        true => store.lookup(subject.hashes.len())?.remembering(),
        false => store.lookup(looked_up.len())?,
    };
    if let Some(id) = subject.id.filter(|&id| !lookup.view().is_live(id)) {
        return Err(Error::NoSuchNumber { number: id });
    }
    let mut tally = Tally { documents: lookup.view().state().documents, ..Tally::default() };
    for hash in looked_up {
        if let Some(because) = hash.skipped {
            match because {
                IgnoredBecause::Phrase => tally.phrases += 1,
                _ => tally.quoted += 1,
            }
            // As boilerplate: looked up, and found nowhere that counts.
            tally.looked_up.add(options.weight.of(0, tally.documents));
            continue;
        }
        tally.count(&mut lookup, hash.hash, subject.id, options)?;
    }
    // Whatever was too short for a fingerprint or is not to count, the digest tells which documents are the same.
    let mut identical = store.documents_with(&subject.digest)?;
    identical.retain(|&id| lookup.view().is_live(id) && !lookup.view().is_boilerplate(id));
    for &id in &identical {
        tally.shared.entry(id).or_default();
    }
    let rank::Ranking { best: ranked, reaching, below } =
        rank::rank(store, subject, &tally.looked_up, &tally.shared, &identical, options)?;
    let (mut shared, mut evidence) = (Shared::default(), None);
    if options.passages {
        shared = Shared::find(&mut lookup, subject, &ranked, options.max_df)?;
        evidence = (!ranked.is_empty()).then(|| Evidence::new(store, subject, options, texts, &ranked, &shared));
    }
    let mut matches = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        let (found, inferred) = match &mut evidence {
            Some(evidence) => evidence.of(&ranked, &shared)?,
            None => (Found::default(), None),
        };
        matches.push(finish_match(subject, ranked, found, inferred));
    }
    let share = |part: u64| if looked_up.is_empty() { 0.0 } else { part as f64 / looked_up.len() as f64 };
    Ok(QueryAnswer {
        profile: subject.profile,
        name: subject.name.clone(),
        bytes: subject.bytes,
        symbols: subject.symbols,
        weight: options.weight,
        fingerprints: subject.hashes.len() as u64,
        looked_up: looked_up.len() as u64,
        found: tally.found,
        boilerplate: tally.boilerplate,
        common: tally.common,
        quoted: tally.quoted,
        phrases: tally.phrases,
        corpus_containment: share(tally.found),
        matches,
        matching_documents: reaching,
        below,
        ignored: shared.ignored,
    })
}

/// Counts, hash by hash.
#[derive(Default)]
struct Tally {
    /// Documents of the database.
    documents: u64,
    /// All hashes that were looked up.
    looked_up: Shares,
    found: u64,
    /// Hashes that boilerplate holds.
    boilerplate: u64,
    /// Hashes that stand in quotation marks only.
    quoted: u64,
    /// Hashes of phrases only.
    phrases: u64,
    /// Hashes above the df cap.
    common: u64,
    /// For each document the looked-up hashes it holds.
    shared: HashMap<u32, Shares>,
    holders: Vec<u32>,
}

/// Some hashes: how many, and what they weigh together.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    hashes: u64,
    weight: f64,
}

impl Shares {
    fn add(&mut self, weight: f64) {
        self.hashes += 1;
        self.weight += weight;
    }
}

impl Tally {
    /// Counts the documents that hold `hash`, `but` the one that is queried with.
    fn count(
        &mut self,
        lookup: &mut crate::store::Lookup<'_>,
        hash: u64,
        but: Option<u32>,
        options: &QueryOptions,
    ) -> Result<()> {
        self.holders.clear();
        let Holders::Documents(postings) = lookup.holders(hash)? else {
            self.boilerplate += 1;
            // Looked up, and found nowhere that counts.
            self.looked_up.add(options.weight.of(0, self.documents));
            return Ok(());
        };
        self.holders.extend(postings.iter().map(|posting| posting.document).filter(|&holder| but != Some(holder)));
        self.holders.sort_unstable();
        self.holders.dedup();
        self.found += u64::from(!self.holders.is_empty());
        let weight = options.weight.of(self.holders.len() as u64, self.documents);
        self.looked_up.add(weight);
        // The cap counts the queried document too, as it is one that holds the hash.
        let holders = self.holders.len() as u64 + u64::from(but.is_some());
        if options.max_df.is_some_and(|most| holders > most) {
            self.common += 1;
            return Ok(());
        }
        for &document in &self.holders {
            self.shared.entry(document).or_default().add(weight);
        }
        Ok(())
    }
}

fn finish_match(subject: &Subject, ranked: Ranked, found: Found, inferred: Option<&'static str>) -> Match {
    let Ranked { id, record, shared, score, containment, document_containment, resemblance, interval, estimated } =
        ranked;
    let DocumentRecord { name, digest, metadata, bytes, symbols, .. } = record;
    let Found { passages, left_out, coverage, repeats } = found;
    Match {
        document: name,
        id,
        document_bytes: bytes,
        document_symbols: symbols,
        shared,
        score,
        containment,
        document_containment,
        resemblance,
        interval,
        estimated,
        identical: digest == subject.digest,
        coverage,
        passages,
        passages_left_out: left_out,
        metadata,
        inferred,
        repeats,
    }
}
