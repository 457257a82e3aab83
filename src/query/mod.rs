//! Query: which stored documents share text with this one, how much, and where?
//!
//! The query is winnowed with any window w' >= w, which gives a subset of what w would give; its distinct
//! hashes are looked up in ascending order. *Containment* uses all of them. *Resemblance* stops after the
//! n smallest: while n is small against |A|/w these survive winnowing almost surely in every document that
//! has them, so they are a uniform sample of the query's k-grams (Schleimer et al. 2003, section 3.2;
//! Broder 1998).

mod answer;
mod best;
mod diff;
mod estimate;
mod evidence;
mod options;
mod passages;
mod phrases;
mod quotes;
mod rank;
mod sentences;
mod subject;
mod text;
mod text_cache;
mod text_sequence;
mod text_unavailable;
mod weight;

use std::collections::HashMap;

use crate::document::DocId;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::store::{DocumentRecord, Holders, Store};
use evidence::{Evidence, Shared};
use passages::Found;
use rank::Ranked;

pub use answer::{Ignored, IgnoredBecause, Location, Match, Measure, Passage, QueryAnswer, QueryDocument};
pub use diff::diff;
pub use options::{Mode, QueryOptions};
pub use passages::PassageOptions;
pub(crate) use phrases::PhraseFinder;
pub use phrases::Phrases;
pub(crate) use subject::{Subject, SubjectReader};
pub use text::DocumentText;
pub(crate) use text::{text_of, text_of_file};
pub(crate) use text_cache::TextCache;
pub(crate) use text_sequence::TextSequence;
pub use weight::Weight;

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
    options.joining.check(&subject.profile)?;
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
    // Stable: where the coverage is the same too they stay in the order of their names.
    matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.coverage.total_cmp(&a.coverage)));
    matches.truncate(options.top.unwrap_or(usize::MAX));
    let share = |part: u64| if looked_up.is_empty() { 0.0 } else { part as f64 / looked_up.len() as f64 };
    Ok(QueryAnswer {
        schema: Schema::new(),
        mode: options.mode,
        weight: options.weight,
        profile: *store.profile(),
        query: subject.about(),
        looked_up: looked_up.len() as u64,
        found: tally.found,
        boilerplate: tally.boilerplate,
        common: tally.common,
        quoted: tally.quoted,
        phrases: tally.phrases,
        corpus_containment: share(tally.found),
        matching_documents: reaching,
        below,
        ignored: shared.ignored,
        matches,
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
        id: DocId(id),
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
        metadata: metadata.into_iter().collect(),
        inferred: inferred.map(Into::into),
        repeats,
    }
}
