//! Evidence of pairs: finds the passages of pairs when they are shown, because counting pairs reads no
//! document.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::archive::pairs::Pair;
use crate::database::Database;
use crate::query::{Ignored, Location, Match, PassageOptions, QueryAnswer, QueryOptions, QuerySource, TextCache};
use fpdb_host::error::Result;
use fpdb_host::progress::Task;
use fpdb_host::setters::setters;
use fpdb_kernel::document::DocId;
use fpdb_reading::input::{HELD_BYTES, InputLimits, ReadOptions};

/// The settings with which pairs were counted, and those for finding their passages.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PairEvidence {
    /// The df cap used to count the pairs. `None`: no cap.
    pub max_df: Option<u64>,
    /// The options for joining shared runs to passages.
    pub joining: PassageOptions,
    /// Limits on input when documents are read again.
    pub limits: InputLimits,
}

impl PairEvidence {
    setters! { max_df: Option<u64>, joining: PassageOptions, limits: InputLimits }
}

impl Database {
    /// Finds the passages of pairs and stores them in each pair. In a passage, `query` is the place in
    /// document a, and `document` the place in b. For two submissions, the passages go into the pairs of
    /// their files. [`Self::pairs`] reads no document, so passages are found only here.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped), and then no pair has its passages; errors from reading
    /// documents or postings.
    pub fn add_passages(&self, pairs: &mut [Pair], evidence: &PairEvidence, task: &Task<'_>) -> Result<()> {
        let mut documents: Vec<&mut Pair> = pairs
            .iter_mut()
            .flat_map(|pair| if pair.files.is_empty() { vec![pair] } else { pair.files.iter_mut().collect() })
            .collect();
        let ids: Vec<(DocId, DocId)> = documents.iter().map(|pair| (pair.a_id, pair.b_id)).collect();
        let mut found = found_in(self, &ids, evidence, task)?;
        for (pair, ids) in documents.iter_mut().zip(&ids) {
            let found = found.matches.remove(ids).unwrap_or_default();
            (pair.longest, pair.passages) = (Some(found.longest), Some(found.passages));
        }
        for pair in pairs.iter_mut().filter(|pair| !pair.files.is_empty()) {
            pair.longest = pair.files.iter().filter_map(|file| file.longest).max();
        }
        Ok(())
    }
}

/// The evidence found for pairs.
#[derive(Default)]
pub(super) struct FoundInPairs {
    /// The match of each pair.
    pub(super) matches: HashMap<(DocId, DocId), Match>,
    /// The parts of each first document that do not count.
    pub(super) ignored: HashMap<DocId, Vec<Location>>,
}

/// Compares pairs of stored documents. Each first document is a query, compared with its partners only.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); errors from reading documents or postings.
pub(super) fn found_in(
    database: &Database,
    pairs: &[(DocId, DocId)],
    how: &PairEvidence,
    task: &Task<'_>,
) -> Result<FoundInPairs> {
    let mut partners: Vec<Compared> = Vec::new();
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    for (a, b) in sorted {
        match partners.last_mut() {
            Some((last, partners)) if *last == a => partners.push(b),
            _ => partners.push((a, vec![b])),
        }
    }
    let mut all = FoundInPairs::default();
    compare(database, &partners, how, task, &mut |a, mut answer| {
        let matches = std::mem::take(&mut answer.matches);
        all.matches.extend(matches.into_iter().map(|found| ((a, found.id), found)));
        all.ignored.insert(a, spans(&answer.ignored));
    })?;
    Ok(all)
}

/// The parts of stored documents that do not count.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); errors from reading documents or postings.
pub(super) fn ignored_in(
    database: &Database,
    mut documents: Vec<DocId>,
    how: &PairEvidence,
    task: &Task<'_>,
) -> Result<HashMap<DocId, Vec<Location>>> {
    documents.sort_unstable();
    let alone: Vec<Compared> = documents.into_iter().map(|id| (id, Vec::new())).collect();
    let mut all = HashMap::new();
    compare(database, &alone, how, &task.silent(), &mut |id, answer| {
        all.insert(id, spans(&answer.ignored));
    })?;
    Ok(all)
}

/// A document, and the documents it is compared with.
type Compared = (DocId, Vec<DocId>);

/// Compares documents with their partners, and calls `take` with each answer. Consecutive members of one
/// container are read in one pass, as far as they fit into memory.
fn compare(
    database: &Database,
    documents: &[Compared],
    how: &PairEvidence,
    task: &Task<'_>,
    take: &mut (dyn FnMut(DocId, QueryAnswer) + Send),
) -> Result<()> {
    let mut texts = TextCache::of_queries(documents.len());
    let (silent, compared, total) = (task.silent(), AtomicU64::new(0), documents.len() as u64);
    database.run(|| {
        let mut rest = documents;
        while !rest.is_empty() {
            let groups = rest.iter().map(|(a, partners)| std::iter::once(a).chain(partners).map(|id| id.0));
            let ahead = database.read_ahead(&mut texts, groups, HELD_BYTES, &how.limits, task.token())?;
            let (now, later) = rest.split_at(ahead);
            let one = |(a, only): &Compared| {
                let answer = query(database, *a, only.clone(), how, &texts, &silent)?;
                task.step("documents searched for passages", compared.fetch_add(1, Ordering::Relaxed) + 1, total)?;
                Ok((*a, answer))
            };
            let answers: Vec<_> = now.par_iter().map(one).collect::<Result<_>>()?;
            answers.into_iter().for_each(|(a, answer)| take(a, answer));
            rest = later;
        }
        Ok(())
    })
}

fn query(
    database: &Database,
    id: DocId,
    only: Vec<DocId>,
    how: &PairEvidence,
    texts: &TextCache,
    task: &Task<'_>,
) -> Result<QueryAnswer> {
    let options = QueryOptions {
        top: None,
        max_df: how.max_df,
        joining: how.joining,
        only: Some(only),
        read: ReadOptions::default().limits(how.limits.clone()),
        ..QueryOptions::default()
    };
    database.query_sharing(&QuerySource::Number(id), &options, texts, task)
}

/// The ranges of a query that do not count.
pub(super) fn spans(ignored: &[Ignored]) -> Vec<Location> {
    ignored.iter().map(|ignored| ignored.query).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::ingest::IngestOptions;
    #[cfg(target_os = "linux")]
    use crate::query::Openings;
    use fpdb_kernel::profile::Profile;
    use fpdb_reading::input::Source;

    const PAIRS: u32 = 20;

    /// A unique text of 60 words.
    fn text(number: u32) -> String {
        (0..60).map(|word| format!("w{} ", (number * 60 + word).wrapping_mul(2_654_435_761) % 1_000_000_007)).collect()
    }

    /// A database of two containers. The records of the second container are longer, and contain the records
    /// of the first.
    fn database(folder: &Path) -> (Database, [PathBuf; 2]) {
        let paths = ["a.jsonl.gz", "b.jsonl.gz"].map(|name| folder.join(name));
        for (path, rest) in paths.iter().zip(["", " and a little more"]) {
            let mut packed = flate2::write::GzEncoder::new(std::fs::File::create(path).unwrap(), Default::default());
            for number in 0..PAIRS {
                let line = format!("{{\"text\":\"{}{rest}\"}}\n", text(number));
                packed.write_all(line.replace("w", "wörd").as_bytes()).unwrap();
            }
            packed.finish().unwrap();
        }
        let profile = Profile::named("prose").unwrap();
        let writer = Database::builder().threads(2).create(folder.join("db"), profile).unwrap();
        let sources = paths.clone().map(Source::Path);
        writer.ingest_sources(&sources, &IngestOptions::default(), &Task::new()).unwrap();
        (writer.clone(), paths)
    }

    /// For any number of pairs, texts come from one pass over each container, and passages equal the passages
    /// of each pair alone.
    #[cfg(target_os = "linux")]
    #[test]
    fn containers_are_read_once_for_all_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (database, paths) = database(&folder);
        let how = PairEvidence::default();
        let pairs: Vec<(DocId, DocId)> = (0..PAIRS).map(|a| (DocId(a), DocId(a + PAIRS))).collect();
        let openings = Openings::of(&paths);
        let found = found_in(&database, &pairs, &how, &Task::new()).unwrap();
        let once = openings.count();
        // One pass opens a file twice: to recognise it and to read it.
        assert!((1..=2 * paths.len()).contains(&once), "{once}");
        let all = (0..2 * PAIRS).map(DocId).collect();
        assert_eq!(ignored_in(&database, all, &how, &Task::new()).unwrap().len(), 2 * PAIRS as usize);
        assert_eq!(openings.count(), once);

        let texts = TextCache::default();
        for &(a, b) in &pairs {
            let alone = query(&database, a, vec![b], &how, &texts, &Task::new()).unwrap();
            let [alone] = &alone.matches[..] else { panic!("{a:?} has one match") };
            assert!(alone.inferred.is_none() && alone.passages.iter().all(|passage| passage.exact));
            assert_eq!(&found.matches[&(a, b)], alone);
        }
        assert!(openings.count() > PAIRS as usize, "each by itself reads the container anew");
    }

    /// The groups that fit are read ahead, at least one. No group is missing from the answer.
    #[test]
    fn what_does_not_fit_is_read_later() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (database, _) = database(&folder);
        let size = |id| database.document(DocId(id)).unwrap().bytes;
        let groups = || (0..PAIRS).map(|a| [a, a + PAIRS]);
        let group = |a| size(a) + size(a + PAIRS);
        let (limits, stop) = (InputLimits::default(), fpdb_host::stop::StopToken::new());
        let mut texts = TextCache::default();
        for (most, expected) in [
            (0, 1),
            (group(0) - 1, 1),
            (group(0), 1),
            (group(0) + group(1) - 1, 1),
            (group(0) + group(1), 2),
            (u64::MAX, PAIRS as usize),
        ] {
            assert_eq!(database.read_ahead(&mut texts, groups(), most, &limits, &stop).unwrap(), expected, "{most}");
        }
        // Documents that groups have in common count once.
        let same = (0..9).map(|_| [0, PAIRS]);
        assert_eq!(database.read_ahead(&mut texts, same, group(0), &limits, &stop).unwrap(), 9);
    }

    /// If a member or its container is gone, the member is compared by its fingerprints.
    #[cfg(target_os = "linux")]
    #[test]
    fn members_that_are_gone_cost_one_reading_too() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (database, paths) = database(&folder);
        let mut packed = flate2::write::GzEncoder::new(std::fs::File::create(&paths[0]).unwrap(), Default::default());
        packed.write_all(b"{\"text\":\"another\"}\n").unwrap();
        packed.finish().unwrap();
        std::fs::remove_file(&paths[1]).unwrap();
        let pairs: Vec<(DocId, DocId)> = (0..PAIRS).map(|a| (DocId(a), DocId(a + PAIRS))).collect();
        let openings = Openings::of(&paths[..1]);
        let found = found_in(&database, &pairs, &PairEvidence::default(), &Task::new()).unwrap();
        assert!((1..=2).contains(&openings.count()));
        assert_eq!(found.matches.len(), pairs.len());
        assert!(found.matches.values().all(|found| found.inferred.is_some() && !found.passages.is_empty()));
    }
}
