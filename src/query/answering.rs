//! Answering: one query from its look-up to its answer.

use super::answer::{IgnoredBecause, Match, QueryAnswer};
use super::evidence::{Evidence, SharedFingerprints};
use super::options::QueryOptions;
use super::passages::DocumentPassages;
use super::prepared::PreparedQuery;
use super::rank::{self, Ranked};
use super::tally::Tally;
use super::text_cache::TextCache;
use crate::document::DocId;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::store::{DocumentRecord, Store};

/// Answers one query. The texts it compares stay in `texts`, for others that need them.
///
/// # Errors
/// [`Error::NoSuchNumber`] where a document that it needs has been deleted meanwhile, and a failure to read
/// the store.
pub(crate) fn answer(
    store: &Store,
    subject: &PreparedQuery,
    options: &QueryOptions,
    texts: &TextCache,
) -> Result<QueryAnswer> {
    options.joining.check(&subject.profile)?;
    let looked_up = match options.n {
        Some(0) => {
            return Err(Error::InvalidParameter {
                name: "n",
                value: "0".into(),
                expected: "a number of hashes, 1 or more",
            });
        }
        Some(n) => &subject.hashes[..subject.hashes.len().min(usize::try_from(n).unwrap_or(usize::MAX))],
        None => &subject.hashes[..],
    };
    let mut lookup = match options.passages {
        true => store.lookup(subject.hashes.len())?.with_cache(),
        false => store.lookup(looked_up.len())?,
    };
    if let Some(id) = subject.id.filter(|&id| !lookup.view().is_live(id)) {
        return Err(Error::NoSuchNumber { number: id });
    }
    let mut tally = Tally::new(lookup.view().state().documents);
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
    // The digest tells which documents are the same, also where they are too short for a fingerprint or do not count.
    let mut identical = store.documents_with(&subject.digest)?;
    identical.retain(|&id| lookup.view().is_live(id) && !lookup.view().is_boilerplate(id));
    for &id in &identical {
        tally.shared.entry(id).or_default();
    }
    let rank::RankedMatches { best: ranked, reaching, below } =
        rank::rank(store, subject, &tally.looked_up, &tally.shared, &identical, options)?;
    let (mut shared, mut evidence) = (SharedFingerprints::default(), None);
    if options.passages {
        shared = SharedFingerprints::find(&mut lookup, subject, &ranked, options.max_df)?;
        evidence = (!ranked.is_empty()).then(|| Evidence::new(store, subject, options, texts, &ranked, &shared));
    }
    let mut matches = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        let (found, inferred) = match &mut evidence {
            Some(evidence) => evidence.of(&ranked, &shared)?,
            None => (DocumentPassages::default(), None),
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
        has_identical: identical.iter().any(|&id| Some(id) != subject.id),
        matches,
    })
}

fn finish_match(
    subject: &PreparedQuery,
    ranked: Ranked,
    found: DocumentPassages,
    inferred: Option<&'static str>,
) -> Match {
    let Ranked { id, record, shared, score, containment, document_containment, resemblance, interval, estimated } =
        ranked;
    let DocumentRecord { name, digest, metadata, bytes, symbols, .. } = record;
    let DocumentPassages { passages, left_out, coverage, repeats } = found;
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
