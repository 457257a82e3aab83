//! Assemble: makes a report from answers: its documents, its pairs, and the histogram of best matches.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::ReportContent;
use super::data::{
    Command, DatabaseData, DocumentRole, LeftOut, Origin, Overview, PairMeasure, RemovalData, ReportDocument,
    ReportPair,
};
use super::document_index::DocumentIndex;
use super::options::{HtmlAnswers, HtmlOptions};
use super::pair_list::{PairList, longest, pair_of, pair_of_match, passages, same_text};
use crate::archive::dedup::{Because, DedupAnswer, Removable};
use crate::archive::pairs::{Pair, PairsAnswer, PairsSummary};
use crate::database::Database;
use crate::query::{Match, Mode, QueryAnswer, QuerySource};
use crate::report::evidence::{FoundInPairs, PairEvidence, found_in, spans};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Profile;

/// The place of a query document's text; `None` if it is a stored document that was deleted meanwhile.
fn origin_of(database: &Database, source: QuerySource) -> Result<Option<Origin>> {
    Ok(Some(match source {
        QuerySource::File(path) => Origin::File(path),
        QuerySource::StandardInput { .. } => Origin::File("-".into()),
        QuerySource::Bytes { name, bytes } => Origin::Memory { name, bytes: bytes.into() },
        QuerySource::Text { text, .. } => Origin::Text(text.into()),
        QuerySource::Number(id) => Origin::Stored(id),
        // The query used the newest document of this name.
        QuerySource::Stored(name) => match database.newest_named(&name) {
            Err(Error::NoSuchDocument { .. }) => return Ok(None),
            document => Origin::Stored(document?.id),
        },
    }))
}

/// Makes the report of answers.
///
/// # Errors
/// [`Error::Stopped`]; errors from reading documents or postings.
pub(super) fn assemble(answers: HtmlAnswers<'_>, options: &HtmlOptions, task: &Task<'_>) -> Result<ReportContent> {
    match answers {
        HtmlAnswers::Queries { database, answers } => ReportContent::of_queries(database, answers, options, task),
        HtmlAnswers::Pairs { database, answer } => ReportContent::of_pairs(database, answer, options, task),
        HtmlAnswers::Dedup { database, answer } => ReportContent::of_dedup(database, answer, options, task),
        HtmlAnswers::Diff { a, b, answer } => {
            Ok(ReportContent::of_diff(answer, Origin::File(a.to_owned()), Origin::File(b.to_owned()), options))
        }
    }
}

impl ReportContent {
    /// The report of queries, with the passages that they found under `options`. A query with a stored
    /// document is shown as that document, once.
    fn of_queries(
        database: &Database,
        answers: Vec<(QuerySource, QueryAnswer)>,
        options: &HtmlOptions,
        task: &Task<'_>,
    ) -> Result<Self> {
        let with_passages = options.evidence.is_some();
        let mut documents = DocumentIndex::new(options.file_times);
        let profile = *database.profile();
        let in_resemblance = answers.iter().any(|(_, answer)| answer.mode == Mode::Resemblance);
        // With two views, the score is the larger of the measures in both.
        let measure = match (options.weighted || profile.has_two_views(), in_resemblance) {
            (true, _) => PairMeasure::Score,
            (false, true) => PairMeasure::Resemblance,
            (false, false) => PairMeasure::ContainmentA,
        };
        let mut histogram = vec![0; BINS];
        let (mut unlisted, mut common, mut boilerplate, mut compared) = (0, 0, 0, 0);
        let mut rows = Vec::new();
        for (source, report) in answers {
            let is_stored = matches!(source, QuerySource::Stored(_));
            // The answer is of a submission. A stored document of the same name was added since, and is not
            // the query.
            let origin = if is_stored && report.query.files > 0 { None } else { origin_of(database, source)? };
            let stored = match &origin {
                // A name and an id can mean one document.
                Some(origin @ Origin::Stored(_)) if documents.by_origin.contains_key(origin) => continue,
                Some(Origin::Stored(id)) => Some(database.document(*id)?),
                _ => None,
            };
            compared += 1;
            let query = if report.query.files > 0 {
                let submission = documents.add_submission(&report.query.name);
                documents.list[submission].disguised = report.query.disguised.clone();
                submission
            } else {
                let query = documents.query(&report.query, origin, stored);
                documents.ignored.insert(query, spans(&report.ignored));
                query
            };
            let others = report.matches.iter().filter(|found| !is_own(&report.query.name, found));
            let best = others.map(|found| found.score).fold(0.0, f64::max);
            histogram[bin(best)] += 1;
            unlisted += report.matching_documents.saturating_sub(report.matches.len() as u64);
            common += report.common;
            boilerplate += report.boilerplate;
            rows.extend(report.matches.into_iter().map(|found| (query, is_stored, found)));
        }
        // A stable sort: matches of equal score stay in the order of the queries and answers.
        rows.sort_by(|(_, _, x), (_, _, y)| y.score.total_cmp(&x.score));
        let cut = rows.get(options.max_pairs).map(|(_, _, found)| found.score);
        let left = rows.len().saturating_sub(options.max_pairs) as u64;
        rows.truncate(options.max_pairs);
        let mut listed = PairList::default();
        for (a, is_stored, mut found) in rows {
            let own = is_own(&documents.list[a].name, &found);
            let files = std::mem::take(&mut found.files);
            // Outside any submission, the only file of a document is the document itself.
            let is_document = files.iter().all(|file| (file.id, &file.document) == (found.id, &found.document));
            let b = match is_document {
                true => documents.stored(database, found.id)?,
                false => documents.submission(found.id, &found.document),
            };
            let mut pair = ReportPair { own, ..pair_of_match(a, b, &found, with_passages) };
            if files.is_empty() {
                listed.push(pair, with_passages.then_some(found));
                continue;
            }
            // The rows of a submission's files show which file is identical.
            pair.identical = false;
            pair.passages = with_passages.then(|| files.iter().map(passages).sum());
            let of_file = |mut file: Match| {
                let a = match file.query.take() {
                    Some(query) if is_stored => documents.part_of_query(database, &query)?,
                    Some(query) => documents.file_of_query(&query),
                    None => a,
                };
                let pair = pair_of_match(a, documents.stored(database, file.id)?, &file, with_passages);
                Ok((pair, with_passages.then_some(file)))
            };
            listed.push_with_files(pair, files.into_iter().map(of_file).collect::<Result<_>>()?);
        }
        let (pairs, evidence) = listed.into_pairs();
        let searched = searched(database, options)?;
        let mut overview = overview(Command::Query, profile, measure, options);
        overview.database = Some(searched);
        overview.left_out = LeftOut { pairs: left, least: cut, unlisted, ..LeftOut::default() };
        let ignored = match &options.evidence {
            Some(how) => documents.all_ignored(database, HashMap::new(), how, task)?,
            None => documents.known_ignored(),
        };
        let documents = documents.list;
        let boilerplate_documents = boilerplate_documents(database, boilerplate)?;
        let overview = Overview { documents, pairs, histogram, compared, common, boilerplate, ..overview };
        Ok(Self { overview: Overview { boilerplate_documents, ..overview }, evidence, ignored })
    }

    /// The report of two files compared. `report` has at most one match, which is `b`.
    fn of_diff(mut report: QueryAnswer, a: Origin, b: Origin, options: &HtmlOptions) -> Self {
        let mut documents = DocumentIndex::new(false);
        let profile = report.profile;
        let query = documents.query(&report.query, Some(a), None);
        documents.ignored.insert(query, spans(&report.ignored));
        let mut histogram = vec![0; BINS];
        let (mut pairs, mut evidence) = (Vec::new(), Vec::new());
        let two_views = profile.has_two_views();
        let best = report.matches.first().map_or(0.0, |found| if two_views { found.score } else { found.resemblance });
        histogram[bin(best)] += 1;
        for found in std::mem::take(&mut report.matches) {
            let other = documents.add(ReportDocument {
                name: found.document.clone(),
                role: DocumentRole::Stored,
                bytes: found.document_bytes,
                symbols: Some(found.document_symbols),
                metadata: found.metadata.clone(),
                origin: Some(b.clone()),
                ..ReportDocument::default()
            });
            pairs.push(pair_of_match(query, other, &found, true));
            evidence.push(Some(found));
        }
        let measure = if two_views { PairMeasure::Score } else { PairMeasure::Resemblance };
        let overview = overview(Command::Diff, profile, measure, options);
        let ignored = documents.known_ignored();
        let overview = Overview { documents: documents.list, pairs, histogram, compared: 1, ..overview };
        Self { overview, evidence, ignored }
    }

    /// The report of all pairs of a database. Finds the passages of the listed pairs.
    fn of_pairs(database: &Database, answer: PairsAnswer, options: &HtmlOptions, task: &Task<'_>) -> Result<Self> {
        let default = PairEvidence::default();
        let how = options.evidence.as_ref().unwrap_or(&default);
        let searched = searched(database, options)?;
        let mut best: HashMap<DocId, f64> = HashMap::new();
        for pair in &answer.pairs {
            for id in [pair.a_id, pair.b_id] {
                let share = best.entry(id).or_default();
                *share = share.max(pair.score);
            }
        }
        let mut histogram = vec![0; BINS];
        best.values().for_each(|&share| histogram[bin(share)] += 1);
        histogram[0] += answer.summary.documents.saturating_sub(best.len() as u64);

        let beyond_top = answer.summary.found.saturating_sub(answer.pairs.len() as u64);
        let mut best = answer.pairs;
        let cut = best.get(options.max_pairs).map(|pair| pair.score);
        let left = best.len().saturating_sub(options.max_pairs) as u64;
        best.truncate(options.max_pairs);
        let with_texts =
            best.iter().flat_map(|pair| if pair.files.is_empty() { std::slice::from_ref(pair) } else { &pair.files });
        let ids: Vec<(DocId, DocId)> = with_texts.map(|pair| (pair.a_id, pair.b_id)).collect();
        let mut found = found_in(database, &ids, how, task)?;
        let mut documents = DocumentIndex::new(options.file_times);
        let mut listed = PairList::default();
        for pair in best {
            if pair.files.is_empty() {
                let (pair, found) = of_documents(database, &pair, &mut documents, &mut found)?;
                listed.push(pair, found);
                continue;
            }
            // Outside any submission, the only file of a document is the document itself.
            let is_document = [
                pair.files.iter().all(|file| (file.a_id, &file.a) == (pair.a_id, &pair.a)),
                pair.files.iter().all(|file| (file.b_id, &file.b) == (pair.b_id, &pair.b)),
            ];
            let mut side = |id: DocId, name: &str, is_document: bool| match is_document {
                true => documents.stored(database, id),
                false => Ok(documents.submission(id, name)),
            };
            let a = side(pair.a_id, &pair.a, is_document[0])?;
            let b = side(pair.b_id, &pair.b, is_document[1])?;
            let of_files = pair.files.iter().map(|file| of_documents(database, file, &mut documents, &mut found));
            let files = of_files.collect::<Result<Vec<_>>>()?;
            let counted: Option<Vec<u64>> = files.iter().map(|(file, _)| file.passages).collect();
            (documents.list[a].old, documents.list[b].old) = (pair.a_old, pair.b_old);
            let submissions = pair_of(a, b, &pair, counted.map(|counted| counted.into_iter().sum()));
            listed.push_with_files(submissions, files);
        }
        let (pairs, evidence) = listed.into_pairs();
        let by_score = options.weighted || database.profile().has_two_views();
        let measure = if by_score { PairMeasure::Score } else { PairMeasure::Resemblance };
        let mut overview = overview(Command::Pairs, *database.profile(), measure, options);
        let PairsSummary { documents: compared, submissions, common, boilerplate, too_short, .. } = answer.summary;
        let mut too_short_names = answer.summary.too_short_names;
        too_short_names.truncate(LISTED);
        overview.database = Some(searched);
        overview.left_out =
            LeftOut { pairs: left, least: cut, beyond_top, below: answer.summary.below, ..LeftOut::default() };
        let ignored = documents.all_ignored(database, found.ignored, how, task)?;
        let documents = documents.list;
        let boilerplate_documents = boilerplate_documents(database, boilerplate)?;
        let overview = Overview { documents, pairs, histogram, compared, submissions, common, boilerplate, ..overview };
        let overview = Overview { boilerplate_documents, too_short, too_short_names, ..overview };
        Ok(Self { overview, evidence, ignored })
    }
}

/// Removable documents with their group numbers. A group has one survivor. The largest group comes first;
/// within a group, the document that would lose the most comes first.
fn grouped(answer: &mut DedupAnswer) -> Vec<(u64, Removable)> {
    let mut removed: HashMap<DocId, u64> = HashMap::new();
    for removable in &answer.removable {
        *removed.entry(removable.keep_id).or_default() += 1;
    }
    let mut removable = std::mem::take(&mut answer.removable);
    removable.sort_by_key(|one| (Reverse(removed[&one.keep_id]), one.keep_id, Reverse(one.novel), one.remove_id));
    let (mut group, mut last) = (0, None);
    let number = |one: Removable| {
        if last.replace(one.keep_id) != Some(one.keep_id) {
            group += 1;
        }
        (group, one)
    };
    removable.into_iter().map(number).collect()
}

impl ReportContent {
    /// The report of removable documents, each as a pair with its survivor.
    fn of_dedup(database: &Database, mut answer: DedupAnswer, options: &HtmlOptions, task: &Task<'_>) -> Result<Self> {
        let default = PairEvidence::default();
        let how = options.evidence.as_ref().unwrap_or(&default);
        let mut listed = grouped(&mut answer);
        let mut histogram = vec![0; BINS];
        listed.iter().for_each(|(_, removable)| histogram[bin(removable.score)] += 1);
        histogram[0] += answer.summary.documents.saturating_sub(listed.len() as u64);
        let left = listed.len().saturating_sub(options.max_pairs) as u64;
        listed.truncate(options.max_pairs);
        let ids: Vec<(DocId, DocId)> = listed.iter().map(|(_, one)| (one.remove_id, one.keep_id)).collect();
        let mut found = found_in(database, &ids, how, task)?;
        let mut documents = DocumentIndex::new(options.file_times);
        let (mut pairs, mut evidence) = (Vec::new(), Vec::new());
        for (group, removable) in listed {
            let (a, b) =
                (documents.stored(database, removable.remove_id)?, documents.stored(database, removable.keep_id)?);
            let found = found.matches.remove(&(removable.remove_id, removable.keep_id));
            let identical = removable.because == Because::Identical;
            let same = identical || removable.because == Because::SameText;
            let found = found.or_else(|| same.then(|| same_text(removable.keep_id, &documents.list[b], identical)));
            let of_match = |of: fn(&Match) -> f64| if same { 1.0 } else { found.as_ref().map_or(0.0, of) };
            // Each place of a left-out passage is in longer passages, unless a limit on their number left the
            // passage out.
            let all_marked = found.as_ref().is_some_and(|found| {
                found.passages_left_out == 0 || how.joining.most.is_none_or(|most| found.passages.len() < most)
            });
            let id = removable.metadata.into_iter().find(|(name, _)| name == "id").map(|(_, value)| value);
            pairs.push(ReportPair {
                a,
                b,
                shared: removable.shared,
                resemblance: of_match(|found| found.resemblance),
                containment_a: of_match(|found| found.containment),
                containment_b: of_match(|found| found.document_containment),
                // Removals depend on the structure alone.
                text: None,
                score: removable.score,
                identical,
                passages: found.as_ref().map(passages),
                longest: found.as_ref().and_then(longest),
                removal: Some(RemovalData {
                    group,
                    because: removable.because,
                    novel: removable.novel,
                    all_marked,
                    id,
                }),
                ..ReportPair::default()
            });
            evidence.push(found);
        }
        let resembles = answer.summary.causes.resembles > 0;
        let measure = if resembles { PairMeasure::Resemblance } else { PairMeasure::ContainmentA };
        let mut overview = overview(Command::Dedup, *database.profile(), measure, options);
        overview.database = Some(searched(database, options)?);
        overview.left_out = LeftOut { pairs: left, ..LeftOut::default() };
        let ignored = documents.all_ignored(database, found.ignored, how, task)?;
        let (compared, common) = (answer.summary.documents, answer.summary.common);
        let dedup = Some(answer.summary);
        let overview = Overview { documents: documents.list, pairs, histogram, compared, common, dedup, ..overview };
        Ok(Self { overview, evidence, ignored })
    }
}

fn overview(command: Command, profile: Profile, measure: PairMeasure, options: &HtmlOptions) -> Overview {
    Overview {
        schema: "fpdb.report/1".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        profile,
        database: None,
        options: options.settings.clone(),
        measure,
        oldest_first: options.oldest_first,
        anonymous: false,
        texts: true,
        documents: Vec::new(),
        pairs: Vec::new(),
        histogram: Vec::new(),
        compared: 0,
        submissions: 0,
        common: 0,
        boilerplate: 0,
        boilerplate_documents: Vec::new(),
        too_short: 0,
        too_short_names: Vec::new(),
        dedup: None,
        left_out: LeftOut::default(),
        failures: options.failures.clone(),
    }
}

/// Maximum number of names in a note of the report.
const LISTED: usize = 20;

/// The names of the first stored boilerplate documents, for readers of the report. Empty if no hash of
/// boilerplate was left out.
fn boilerplate_documents(database: &Database, left_out: u64) -> Result<Vec<String>> {
    let ids = if left_out > 0 { database.boilerplate() } else { Vec::new() };
    ids.into_iter().take(LISTED).map(|id| Ok(database.document(id)?.name)).collect()
}

fn searched(database: &Database, options: &HtmlOptions) -> Result<DatabaseData> {
    let stats = database.stats_without_lists()?;
    let path = options.database.clone().unwrap_or_else(|| stats.path.display().to_string());
    Ok(DatabaseData { path: Some(path), documents: stats.documents })
}

/// A pair of stored documents, with its evidence.
fn of_documents(
    database: &Database,
    pair: &Pair,
    documents: &mut DocumentIndex,
    found: &mut FoundInPairs,
) -> Result<(ReportPair, Option<Match>)> {
    let (a, b) = (documents.stored(database, pair.a_id)?, documents.stored(database, pair.b_id)?);
    (documents.list[a].old, documents.list[b].old) = (pair.a_old, pair.b_old);
    let found = found.matches.remove(&(pair.a_id, pair.b_id));
    let identical = found.as_ref().is_some_and(|found| found.identical);
    let longest = found.as_ref().and_then(longest);
    Ok((ReportPair { identical, longest, ..pair_of(a, b, pair, found.as_ref().map(passages)) }, found))
}

/// One bin for each whole percent, from 0 to 100.
const BINS: usize = 101;

/// True if a match of a query is the query itself as it is stored.
fn is_own(query: &str, found: &Match) -> bool {
    found.identical && found.document == query && found.files.is_empty()
}

/// Whole percents, rounded down. The small addition is for shares such as 0.29, which is 28.999... percent.
fn bin(share: f64) -> usize {
    ((100.0 * share + 1e-9) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_whole_percents() {
        for percent in 0..=100u32 {
            assert_eq!(bin(f64::from(percent) / 100.0), percent as usize);
        }
        assert_eq!([bin(0.999), bin(0.0001), bin(1.0 / 3.0)], [99, 0, 33]);
    }
}
