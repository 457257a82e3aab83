//! Answering: one query, from its lookup to its answer.

use rustc_hash::FxHashSet;

use super::answer::{Ignored, Match, MatchMeasures, QueryAnswer, TextLookup};
use super::evidence::{Evidence, SharedFingerprints};
use super::options::QueryOptions;
use super::passages::DocumentPassages;
use super::prepared::{PreparedQuery, view_index};
use super::rank::{self, MatchFiles, MatchSubject, Measures, Ranked, RankedMatches};
use super::rewritten::{self, PassagesOf};
use super::tally::Tally;
use super::text_cache::TextCache;
use super::units::Units;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_host::schema::Schema;
use fpdb_kernel::document::DocId;
use fpdb_passages::Covered;
use fpdb_store::{DocumentRecord, Gathered, Lookup, Store, View};

/// The hashes that [`answer`] looks up, ascending.
pub(crate) fn hashes_to_look_up(subject: &PreparedQuery, options: &QueryOptions) -> impl Iterator<Item = u64> {
    let hashes = subject.looked_up(options.most_hashes().filter(|_| !options.passages));
    hashes.into_iter().filter(|hash| hash.skipped.is_none()).map(|hash| hash.hash)
}

/// Answers one query with checked options. A submission gives one match for all its documents. Texts read for
/// the comparison stay in `texts` for other queries. `gathered` holds postings that were looked up for
/// several queries together, as of the commit that `store` shows. The task can stop the query at each hash,
/// document and step of a comparison.
///
/// # Errors
/// [`Error::Stopped`]; [`Error::NoSuchNumber`] if a needed document was deleted meanwhile; errors from
/// reading the store.
pub(crate) fn answer(
    store: &Store,
    subject: &PreparedQuery,
    options: &QueryOptions,
    units: &Units,
    texts: &TextCache,
    gathered: Option<&Gathered>,
    task: &Task<'_>,
) -> Result<QueryAnswer> {
    let query = Query { store, subject, options, units, texts, task };
    let (mut lookup, mut tally) = query.look_up(gathered)?;
    let identical_documents = query.identical_documents(lookup.view(), &tally)?;
    let mut identical = tally.add_identical(&identical_documents);
    if subject.digest.is_none() {
        // Only files of the queried submission are identical. Matches of the whole submission must reach
        // `min_score`.
        identical.clear();
    }
    let compared = match options.passages && options.joining.rewritten {
        true => Some(rewritten::compare(&query, &mut lookup, &tally, &identical_documents)?),
        false => None,
    };
    let chosen = compared.as_ref();
    let RankedMatches { best, reaching, mut below } =
        rank::rank(store, subject, &tally, &identical, chosen.map(|chosen| &chosen.units), options, task.token())?;
    let ranked = query.with_files(&tally, best, &identical_documents, chosen.map(|chosen| &chosen.documents))?;
    let (mut ignored, mut passages, mut compared_documents) = (Vec::new(), None, 0);
    if let Some(compared) = compared {
        below += tally.below(options.min_score, &identical);
        (ignored, passages, compared_documents) = (compared.ignored, Some(compared.passages), compared.count);
    } else if options.passages {
        let (of_ranked, of_query) = query.passages(&mut lookup, &ranked)?;
        (ignored, passages) = (of_query, Some(of_ranked));
    }
    let (matches, covered) = query.matches(ranked, passages);
    let [structure, text] = tally.views;
    let looked_up = structure.looked_up.hashes;
    Ok(QueryAnswer {
        schema: Schema::new(),
        mode: options.mode,
        weight: options.weight,
        profile: *store.profile(),
        query: subject.about(),
        looked_up,
        found: structure.found,
        boilerplate: structure.boilerplate,
        common: structure.common,
        quoted: structure.quoted,
        phrases: structure.phrases,
        corpus_containment: containment_of(structure.found, looked_up, !identical.is_empty()),
        text: subject.profile.has_two_views().then(|| TextLookup {
            fingerprints: subject.sizes[1].hashes,
            symbols: subject.symbols_of_text,
            looked_up: text.looked_up.hashes,
            found: text.found,
            boilerplate: text.boilerplate,
            common: text.common,
            corpus_containment: containment_of(text.found, text.looked_up.hashes, !identical.is_empty()),
        }),
        matching_documents: reaching,
        below,
        documents_left_out: tally.left_out.len() as u64,
        compared: compared_documents,
        ignored,
        has_identical: !identical_documents.is_empty(),
        coverage: covered.share(),
        matches,
    })
}

/// A query, and the data needed to answer it.
pub(super) struct Query<'a> {
    pub(super) store: &'a Store,
    pub(super) subject: &'a PreparedQuery,
    pub(super) options: &'a QueryOptions,
    pub(super) units: &'a Units,
    pub(super) texts: &'a TextCache,
    pub(super) task: &'a Task<'a>,
}

impl<'a> Query<'a> {
    /// Looks up the query's hashes, and counts the hashes that each document or submission holds.
    fn look_up(&self, gathered: Option<&'a Gathered>) -> Result<(Lookup<'a>, Tally<'a>)> {
        let Self { store, subject, options, units, task, .. } = *self;
        let looked_up = subject.looked_up(options.most_hashes());
        let expected = if options.passages { subject.hashes.len() } else { looked_up.len() };
        let mut lookup = match gathered {
            Some(gathered) => store.lookup_gathered(expected, gathered),
            None => store.lookup(expected)?,
        };
        if options.passages {
            lookup = lookup.with_cache();
        }
        if let Some(id) = subject.id.filter(|&id| !lookup.view().is_live(id)) {
            return Err(Error::NoSuchNumber { number: id });
        }
        let mut tally = Tally::new(lookup.view().state().documents, subject.id, units);
        for (done, hash) in (0..).zip(&looked_up) {
            match is_due(done) {
                true => task.step("fingerprints looked up", done, looked_up.len() as u64)?,
                false => task.token().check()?,
            }
            let view = view_index(&subject.profile, hash.hash);
            match hash.skipped {
                Some(because) => tally.skip(view, because, options),
                None => tally.count(&mut lookup, (view, hash.hash), options)?,
            }
        }
        Ok((lookup, tally))
    }

    /// The stored documents with the bytes of the query, or of one of its documents. They are found by their
    /// digests, so a document is found even if it is too short for a fingerprint, or its hashes do not count.
    /// Ascending, without excluded documents.
    fn identical_documents(&self, view: &View, tally: &Tally<'_>) -> Result<Vec<u32>> {
        let Self { store, subject, options, .. } = *self;
        let is_wanted = |id: u32| options.only.as_ref().is_none_or(|only| only.binary_search(&DocId(id)).is_ok());
        let mut identical = Vec::new();
        for digest in subject.digest.iter().chain(&subject.part_digests) {
            let same = store.documents_with(digest)?;
            // If a boilerplate document has these bytes, they make no document a match, because any author
            // may have them.
            if !same.iter().any(|&id| view.is_live(id) && view.is_boilerplate(id)) {
                identical
                    .extend(same.into_iter().filter(|&id| view.is_live(id) && tally.may_match(id) && is_wanted(id)));
            }
        }
        identical.sort_unstable();
        identical.dedup();
        Ok(identical)
    }

    /// The matches, each with its files if it is a submission. With `chosen`, only files in `chosen`.
    fn with_files(
        &self,
        tally: &Tally<'_>,
        best: Vec<Ranked>,
        identical: &[u32],
        chosen: Option<&FxHashSet<u32>>,
    ) -> Result<Vec<(Ranked, MatchFiles)>> {
        let with_files = |ranked: Ranked| {
            self.task.token().check()?;
            let files = rank::files(self.store, self.subject, tally, &ranked, identical, chosen, self.options)?;
            Ok((ranked, files))
        };
        best.into_iter().map(with_files).collect()
    }

    /// Finds the passages of the ranked matches, and the parts of the query that do not count.
    fn passages(&self, lookup: &mut Lookup<'_>, ranked: &[(Ranked, MatchFiles)]) -> Result<(PassagesOf, Vec<Ignored>)> {
        let Self { store, subject, options, units, texts, task } = *self;
        // The coverage of a submission includes the passages of all its documents, whether they are listed or
        // not.
        let unlisted = ranked.iter().flat_map(|(_, files)| &files.unlisted);
        let unlisted = unlisted
            .map(|&id| task.token().check().and_then(|()| Ok((id, store.document(id)?))))
            .collect::<Result<Vec<_>>>()?;
        let listed: Vec<(u32, &DocumentRecord)> = documents(ranked).collect();
        let documents: Vec<_> =
            listed.iter().copied().chain(unlisted.iter().map(|(id, record)| (*id, record))).collect();
        let shared = SharedFingerprints::find(lookup, subject, &documents, options.max_df, units, task.token())?;
        let mut passages = PassagesOf::new();
        if !documents.is_empty() {
            let mut evidence = Evidence::new(store, subject, options, texts, &documents, &shared, task.token())?;
            let total = documents.len() as u64;
            for (place, document) in documents.into_iter().enumerate() {
                task.step("documents searched for passages", place as u64, total)?;
                let (mut found, why) = evidence.of(document, &shared)?;
                if place >= listed.len() {
                    found = DocumentPassages { covered: found.covered, ..DocumentPassages::default() };
                }
                passages.insert(document.0, (found, why));
            }
        }
        Ok((passages, shared.ignored))
    }

    /// The matches, best first, and the part of the query that their passages cover. `passages` is `None` if
    /// no passages were requested.
    fn matches(&self, ranked: Vec<(Ranked, MatchFiles)>, mut passages: Option<PassagesOf>) -> (Vec<Match>, Covered) {
        let finish = |(ranked, files)| self.finish(ranked, files, passages.as_mut());
        let mut matches: Vec<(Match, Covered)> = ranked.into_iter().map(finish).collect();
        // A stable sort: matches of equal score and coverage stay in the order of `Ranked`.
        let by_score = |a: &Match, b: &Match| b.score.total_cmp(&a.score);
        let by_coverage = |a: &Match, b: &Match| b.coverage.unwrap_or(0.0).total_cmp(&a.coverage.unwrap_or(0.0));
        matches.sort_by(|(a, _), (b, _)| match self.options.joining.rewritten {
            true => by_coverage(a, b).then(by_score(a, b)),
            false => by_score(a, b).then(b.identical.cmp(&a.identical)).then(by_coverage(a, b)),
        });
        matches.truncate(self.options.top.unwrap_or(usize::MAX));
        let covered = Covered::union(matches.iter().map(|(_, covered)| covered));
        (matches.into_iter().map(|(found, _)| found).collect(), covered)
    }

    /// Makes the match of a document, or of a submission with its files, and finds the part of the query that
    /// its passages cover.
    fn finish(&self, ranked: Ranked, files: MatchFiles, mut passages_of: Option<&mut PassagesOf>) -> (Match, Covered) {
        let Ranked { id, holder, identical, score, interval, estimated, structure, text } = ranked;
        let Measures { shared, containment, document_containment, resemblance, .. } = structure;
        let mut found = Match {
            id: DocId(id),
            shared,
            score,
            identical,
            containment,
            document_containment,
            resemblance,
            text_shared: text.map(|text| text.shared),
            text_containment: text.map(|text| text.containment),
            text_document_containment: text.map(|text| text.document_containment),
            text_resemblance: text.map(|text| text.resemblance),
            without_boilerplate: structure.own_containment.map(|containment| MatchMeasures {
                containment,
                text_containment: text.and_then(|text| text.own_containment),
            }),
            interval,
            estimated,
            files_left_out: files.unlisted.len() as u64,
            ..Match::default()
        };
        let has_passages = passages_of.is_some();
        let mut of = |id: u32| passages_of.as_mut().and_then(|passages| passages.remove(&id)).unwrap_or_default();
        let covered = match holder {
            MatchSubject::Document(record) => {
                let DocumentRecord { name, metadata, modified, bytes, symbols, extracted, .. } = *record;
                let (evidence, inferred) = of(id);
                (found.document, found.document_bytes, found.document_symbols) = (name, bytes, symbols);
                found.extracted = extracted;
                found.metadata = metadata.into_iter().collect();
                found.modified = modified.filter(|_| self.options.file_times).map(|(seconds, _)| seconds);
                found.inferred = inferred.map(Into::into);
                (found.passages, found.passages_left_out) = (evidence.passages, evidence.left_out);
                (found.longest, found.repeats) = (evidence.longest, evidence.repeats);
                evidence.covered
            }
            MatchSubject::Submission(facts) => {
                let mut covered: Vec<Covered> = files.unlisted.iter().map(|&file| of(file).0.covered).collect();
                let finish = |file| self.finish(file, MatchFiles::default(), passages_of.as_deref_mut());
                let (matches, listed): (Vec<Match>, Vec<Covered>) = files.best.into_iter().map(finish).unzip();
                covered.extend(listed);
                (found.document, found.document_bytes, found.document_symbols) =
                    (facts.name, facts.bytes, facts.symbols);
                found.files = matches;
                Covered::union(covered.iter())
            }
        };
        found.coverage = has_passages.then(|| covered.share());
        (found, covered)
    }
}

/// The share of a query's hashes that the corpus holds. For a query without hashes, 1 if a document has the
/// same bytes, otherwise 0.
pub(super) fn containment_of(found: u64, looked_up: u64, is_identical: bool) -> f64 {
    match looked_up {
        0 => f64::from(u8::from(is_identical)),
        _ => found as f64 / looked_up as f64,
    }
}

/// The documents whose passages are shown: matching documents, and the listed documents of matching
/// submissions.
fn documents(ranked: &[(Ranked, MatchFiles)]) -> impl Iterator<Item = (u32, &DocumentRecord)> {
    ranked.iter().flat_map(|(ranked, files)| std::iter::once(ranked).chain(&files.best)).filter_map(|ranked| {
        match &ranked.holder {
            MatchSubject::Document(record) => Some((ranked.id, &**record)),
            MatchSubject::Submission(_) => None,
        }
    })
}
