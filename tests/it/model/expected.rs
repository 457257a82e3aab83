//! The model: the expected content and answers of a database, computed in memory from the definitions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use fpdb::{
    Database, DocId, Error, Location, Match, Measure, Mode, OnChange, Profile, QueryAnswer, QueryOptions, Selection,
    Span, Task,
};
use xxhash_rust::xxh3::xxh3_128;

use crate::oracle::{Standard, ascii_chars, hashes, select};

/// A document's bytes, and the hashes selected from it in order of position.
pub(super) struct Document {
    pub(super) name: String,
    pub(super) text: String,
    symbols: u64,
    k: usize,
    selected: Vec<u64>,
    positions: Vec<usize>,
    set: HashSet<u64>,
    pub(super) id: Option<u32>,
    /// True if the database keeps its text.
    stored_text: bool,
}

impl Document {
    /// Number of k-grams times the share of fingerprints that are distinct, times the number of fingerprints.
    fn kgrams(&self) -> u128 {
        (self.symbols + 1).saturating_sub(self.k as u64) as u128 * self.set.len() as u128
    }

    pub(super) fn new(name: &str, text: &str, profile: &Profile) -> Self {
        let standard = ascii_chars(text);
        let k = profile.k() as usize;
        let all = hashes(&standard, k);
        let positions = select(&all, profile.selection(), profile.w() as usize);
        let selected: Vec<u64> = positions.iter().map(|&position| all[position]).collect();
        Self {
            name: name.into(),
            text: text.into(),
            symbols: standard.values.len() as u64,
            k,
            positions,
            set: selected.iter().copied().collect(),
            selected,
            id: None,
            stored_text: false,
        }
    }

    /// True if its text is readable: from the database, or from its file.
    pub(super) fn is_readable(&self) -> bool {
        self.stored_text || std::fs::read_to_string(&self.name).is_ok_and(|text| text == self.text)
    }
}

/// The expected content of the database, in order of arrival.
pub(super) struct Model {
    pub(super) profile: Profile,
    pub(super) documents: Vec<Document>,
    pub(super) greatest_id: Option<u32>,
}

/// The counts of an ingest: added, replaced, unchanged, kept, identical, bytes, symbols, fingerprints.
pub(super) type Counts = [u64; 8];

impl Model {
    pub(super) fn newest(&self, name: &str) -> Option<&Document> {
        self.documents.iter().rev().find(|document| document.name == name)
    }

    pub(super) fn ingest(
        &mut self,
        files: &BTreeMap<PathBuf, String>,
        on_change: OnChange,
        store_text: bool,
    ) -> Counts {
        let mut counts = Counts::default();
        for (path, text) in files {
            let name = path.to_str().unwrap();
            let newest = self.newest(name);
            let outcome = match newest {
                None => 0,
                Some(newest) if newest.text == *text && (newest.stored_text || !store_text) => 2,
                // The document is ingested again, to store its text. Its older versions stay.
                Some(newest) if newest.text == *text => 4,
                Some(_) => match on_change {
                    OnChange::Both => 0,
                    OnChange::Replace => 1,
                    OnChange::Keep => 3,
                    other => panic!("the model does not know {other:?}"),
                },
            };
            let newest = newest.and_then(|newest| newest.id);
            counts[if outcome == 4 { 1 } else { outcome }] += 1;
            match outcome {
                1 => self.documents.retain(|document| document.name != name),
                2 | 3 => continue,
                4 => self.documents.retain(|document| document.id != newest),
                _ => {}
            }
            counts[4] += u64::from(self.documents.iter().any(|document| document.text == *text));
            let document = Document { stored_text: store_text, ..Document::new(name, text, &self.profile) };
            counts[5] += text.len() as u64;
            counts[6] += document.symbols;
            counts[7] += document.selected.len() as u64;
            self.documents.push(document);
        }
        counts
    }

    /// Compares all that is stored, and learns the ids of new documents.
    pub(super) fn check(&mut self, database: &Database) {
        let mut ids = Vec::new();
        let mut expected = self.documents.iter();
        database
            .for_each_document(|info| {
                let document = expected.next().unwrap_or_else(|| panic!("{} is one too many", info.name));
                assert_eq!(info.name, document.name);
                assert_eq!(info.source.as_deref(), Some(document.name.as_str()));
                assert_eq!(info.digest, xxh3_128(document.text.as_bytes()).to_be_bytes(), "{}", info.name);
                assert_eq!(info.bytes, document.text.len() as u64);
                assert_eq!(info.lines, document.text.split_inclusive('\n').count() as u64);
                assert_eq!(info.symbols, document.symbols);
                assert_eq!(info.kgrams, (document.symbols + 1).saturating_sub(self.profile.k().into()));
                assert_eq!(info.fingerprints, document.selected.len() as u64);
                assert_eq!(info.distinct, document.set.len() as u64, "{}", info.name);
                assert_eq!(info.undecodable, 0);
                ids.push(info.id.0);
                Ok::<(), Error>(())
            })
            .unwrap();
        assert!(expected.next().is_none(), "documents are missing");
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        for (document, &id) in self.documents.iter_mut().zip(&ids) {
            // A document keeps its number, and no number is given twice.
            let fresh = document.id.is_none() && self.greatest_id.is_none_or(|greatest| id > greatest);
            assert!(fresh || document.id == Some(id), "{}: {id}", document.name);
            document.id = Some(id);
        }
        self.greatest_id = self.greatest_id.max(ids.last().copied());

        let names: BTreeSet<&str> = self.documents.iter().map(|document| document.name.as_str()).collect();
        for name in names {
            let versions: Vec<u32> = database.documents_named(name).unwrap().iter().map(|info| info.id.0).collect();
            let expected = self.documents.iter().filter(|document| document.name == name);
            assert_eq!(versions, expected.filter_map(|document| document.id).collect::<Vec<u32>>());
        }
        for document in &self.documents {
            let text = database.text_of(DocId(document.id.unwrap())).unwrap();
            let expected = document.is_readable().then_some(document.text.as_bytes());
            assert_eq!(text.as_ref().map(|text| &text.bytes[..]), expected, "{}", document.name);
        }
        let stats = database.stats().unwrap();
        let sum = |of: fn(&Document) -> usize| self.documents.iter().map(of).sum::<usize>() as u64;
        assert_eq!(stats.documents, self.documents.len() as u64);
        assert_eq!(stats.bytes, sum(|document| document.text.len()));
        assert_eq!(stats.symbols, sum(|document| document.symbols as usize));
        assert_eq!(stats.fingerprints, sum(|document| document.selected.len()));
        assert!(stats.postings >= stats.fingerprints);
        assert!(stats.deleted > 0 || stats.postings == stats.fingerprints);
        let mut occurrences: HashMap<u64, u64> = HashMap::new();
        for hash in self.documents.iter().flat_map(|document| &document.selected) {
            *occurrences.entry(*hash).or_default() += 1;
        }
        let counts = database.stats_with_hashes(&Task::new()).unwrap();
        assert_eq!(counts.distinct, Some(occurrences.len() as u64));
        let singletons = occurrences.values().filter(|&&count| count == 1).count() as u64;
        assert_eq!(counts.singletons, Some(singletons));
    }

    /// Compares an answer with the definitions.
    pub(super) fn check_answer(&self, asked: &Asked<'_>, answer: &QueryAnswer) {
        let (stored, options) = (&self.profile, asked.options);
        let at_window = stored.with_window(options.window.unwrap_or(stored.w())).unwrap();
        let subject = Document::new("", asked.text, &at_window);
        let mut looked_up: Vec<u64> = subject.set.iter().copied().collect();
        looked_up.sort_unstable();
        let most = options.n.or((options.mode == Mode::Resemblance).then_some(128));
        looked_up.truncate(most.map_or(usize::MAX, |n| n as usize));
        let (mut found, mut counted) = (0, HashSet::new());
        for &hash in &looked_up {
            // If the query is a stored document, this document is not part of the corpus.
            let others = self.documents.iter().filter(|document| asked.own.is_none() || document.id != asked.own);
            let df = others.filter(|document| document.set.contains(&hash)).count() as u64;
            found += u64::from(df > 0);
            // But this document counts among the documents that hold a hash.
            if options.max_df.is_none_or(|most| df + u64::from(asked.own.is_some()) <= most) {
                counted.insert(hash);
            }
        }
        assert_eq!((answer.profile, answer.query.window), (*stored, at_window.w()));
        assert_eq!((answer.query.bytes, answer.query.symbols), (asked.text.len() as u64, subject.symbols));
        assert_eq!(answer.query.fingerprints, subject.set.len() as u64);
        assert_eq!(answer.looked_up, looked_up.len() as u64);
        assert_eq!(answer.found, found);
        assert_eq!(answer.common, (looked_up.len() - counted.len()) as u64);
        // Identical bytes always match, with the score 1 if they are too short for a fingerprint.
        let is_same = |document: &Document| document.text == asked.text;
        let mut others = self.documents.iter().filter(|document| document.id != asked.own);
        let part_of_corpus = match looked_up.len() {
            0 => (others.any(is_same).into(), 1),
            n => (found.into(), n as u128),
        };
        assert!(close(answer.corpus_containment, ratio(part_of_corpus)));

        // The size of the query's set is counted at the database's window, like that of documents. A sample
        // represents k-grams. Its number of k-grams is multiplied by the share of fingerprints that are
        // distinct.
        let own = Document::new("", asked.text, stored);
        let l = looked_up.len() as u128;
        // Fingerprints of a coarser window that estimate a resemblance are a sample too.
        let coarser = at_window.w() != stored.w() && l > 0;
        let part = looked_up.len() < subject.set.len();
        let sampled = part || (coarser && options.mode == Mode::Resemblance);
        let sizes = |document: &Document| match sampled {
            true => (own.kgrams() * document.selected.len() as u128, document.kgrams() * own.selected.len() as u128),
            false => (own.set.len() as u128, document.set.len() as u128),
        };
        let mut expected: Vec<Expected<'_>> = Vec::new();
        for document in self.documents.iter().filter(|document| document.id != asked.own) {
            let shared = counted.iter().filter(|hash| document.set.contains(hash)).count() as u128;
            if l == 0 && is_same(document) {
                let whole = (1, 1);
                let [containment, resemblance, contained, score] = [whole; 4];
                expected.push(Expected { document, shared, containment, resemblance, contained, score });
            } else if shared > 0 || is_same(document) {
                let (a, b) = sizes(document);
                // `l` times c|A|, which is at most |B| and |A|.
                let both = (shared * a).min(b * l).min(a * l);
                let resemblance = (both, (a + b) * l - both);
                let score = if options.mode == Mode::Containment { (shared, l) } else { resemblance };
                let (containment, contained) = ((shared, l), (both, b * l));
                expected.push(Expected { document, shared, containment, resemblance, contained, score });
            }
        }
        // If c|A| is not a whole number, equal estimates may be rounded differently.
        let rounded = options.mode == Mode::Resemblance && (sampled || l != own.set.len() as u128);
        if rounded && expected.iter().any(|one| close(ratio(one.score), options.min_score)) {
            return;
        }
        expected.retain(|one| one.score.0 * asked.least.1 >= asked.least.0 * one.score.1 || is_same(one.document));
        assert_eq!(answer.matching_documents, expected.len() as u64);
        expected.sort_by_key(|one| (&one.document.name, one.document.id));
        let greater = |x: (u128, u128), y: (u128, u128)| (y.0 * x.1).cmp(&(x.0 * y.1));
        expected.sort_by(|x, y| {
            let identical = is_same(y.document).cmp(&is_same(x.document));
            greater(x.score, y.score).then(identical).then_with(|| greater(x.resemblance, y.resemblance))
        });
        assert_eq!(answer.matches.len(), expected.len().min(options.top.unwrap_or(usize::MAX)));
        let better = |a: &Match, b: &Match| {
            let coverage = |found: &Match| found.coverage.unwrap_or(0.0);
            let measures = coverage(b).total_cmp(&coverage(a)).then(b.resemblance.total_cmp(&a.resemblance));
            let tie = b.identical.cmp(&a.identical).then(measures);
            let named = (&a.document, a.id).cmp(&(&b.document, b.id));
            b.score.total_cmp(&a.score).then(tie).then(named).is_lt()
        };
        assert!(answer.matches.is_sorted_by(better), "by score, coverage, resemblance and name: {:#?}", answer.matches);
        for (got, in_place) in answer.matches.iter().zip(&expected) {
            let one = expected.iter().find(|one| one.document.id == Some(got.id.0)).unwrap();
            // Passages decide the order of documents with equal scores.
            let same_score = one.score.0 * in_place.score.1 == in_place.score.0 * one.score.1;
            let alike = close(ratio(one.resemblance), ratio(in_place.resemblance));
            let tied = (rounded && close(ratio(one.score), ratio(in_place.score)))
                || (same_score && (options.passages || alike));
            assert!(tied || one.document.id == in_place.document.id, "order: {:#?}", answer.matches);
            assert_eq!(got.document, one.document.name);
            assert_eq!(u128::from(got.shared), one.shared);
            assert!(close(got.containment, ratio(one.containment)));
            assert!(close(got.document_containment, ratio(one.contained)), "{got:?}, not {:?}", one.contained);
            assert!(close(got.resemblance, ratio(one.resemblance)), "{got:?}, not {:?}", one.resemblance);
            assert_eq!(got.identical, one.document.text == asked.text);
            assert_eq!(got.interval.is_some(), sampled);
            let estimated = [
                (Measure::Score, sampled),
                (Measure::Containment, part),
                (Measure::DocumentContainment, part || coarser),
                (Measure::Resemblance, part || coarser),
            ];
            let estimated: Vec<Measure> = estimated.into_iter().filter(|one| one.1).map(|one| one.0).collect();
            assert_eq!(got.estimated, estimated);
            if let Some([low, high]) = got.interval {
                let mut ends = wilson(one.shared as f64, l as f64);
                let (a, b) = sizes(one.document);
                let (a, b) = (a as f64, b as f64);
                if at_window.w() > 1 && matches!(at_window.selection(), Selection::Robust | Selection::Plain) {
                    let part = l as f64 / subject.set.len() as f64;
                    ends[1] = (ends[1] * (1.0 + 0.2 * part.powf(1.5))).min(1.0);
                }
                if options.mode == Mode::Resemblance {
                    let both = ends.map(|end| (end * a).min(a).min(b));
                    ends = both.map(|both| both / (a + b - both));
                }
                assert!((low - ends[0]).abs() < 1e-9 && (high - ends[1]).abs() < 1e-9, "{got:?}, not {ends:?}");
            }
            if options.passages {
                check_passages(got, one.document, &subject, &counted);
                let own = asked.own.and_then(|id| self.documents.iter().find(|document| document.id == Some(id)));
                let exact = one.document.is_readable() && own.is_none_or(Document::is_readable);
                assert_eq!(got.inferred.is_none(), exact, "{got:?}");
                assert!(got.passages.iter().all(|passage| passage.exact == exact));
                if let Some(t) = at_window.guarantee().filter(|_| exact && options.max_df.is_none()) {
                    check_exact(got, one.document, &subject, t as usize);
                }
            } else {
                assert!(got.passages.is_empty() && got.coverage.is_none());
            }
        }
    }
}

/// A query with its options.
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    /// The number of the stored document queried with.
    pub(super) own: Option<u32>,
    pub(super) options: &'a QueryOptions,
    /// The minimum score as a fraction.
    pub(super) least: (u128, u128),
}

/// A match by the definitions; its measures are fractions.
pub(super) struct Expected<'a> {
    document: &'a Document,
    shared: u128,
    containment: (u128, u128),
    resemblance: (u128, u128),
    contained: (u128, u128),
    score: (u128, u128),
}

fn ratio((part, whole): (u128, u128)) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// The two shares p that are exactly z = 1.96 standard deviations from `found` / `n`: (found/n - p)^2 = z^2 p
/// (1-p) / n.
fn wilson(found: f64, n: f64) -> [f64; 2] {
    let (share, z2) = (found / n, 1.959963984540054f64.powi(2) / n);
    let (a, b, c) = (1.0 + z2, -(2.0 * share + z2), share * share);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    [(-b - root) / (2.0 * a), (-b + root) / (2.0 * a)]
}

/// Checks that each passage begins and ends with a k-gram that both documents have there, and that shared
/// fingerprints lie in passages.
fn check_passages(got: &Match, document: &Document, subject: &Document, counted: &HashSet<u64>) {
    let k = subject.k;
    let (query, stored) = (ascii_chars(&subject.text), ascii_chars(&document.text));
    let newlines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<usize>>();
    let (query_newlines, stored_newlines) = (newlines(&subject.text), newlines(&document.text));
    let mut covered = vec![false; query.values.len()];
    for passage in &got.passages {
        let within = |standard: &Standard, span: Span| {
            let first = standard.origins.partition_point(|origin| (origin.0 as u64) < span.start);
            let end = standard.origins.partition_point(|origin| origin.1 as u64 <= span.end);
            assert_eq!(standard.origins[first].0 as u64, span.start);
            assert_eq!(standard.origins[end - 1].1 as u64, span.end);
            first..end
        };
        let (q, d) = (within(&query, passage.query.span()), within(&stored, passage.document.span()));
        assert_eq!(query.values[q.start..][..k], stored.values[d.start..][..k], "{passage:?}");
        assert_eq!(query.values[..q.end][q.end - k..], stored.values[..d.end][d.end - k..], "{passage:?}");
        assert_eq!(passage.symbols as usize, q.len());
        for (newlines, location) in [(&query_newlines, passage.query), (&stored_newlines, passage.document)] {
            let line = |at: u64| 1 + newlines.partition_point(|&newline| newline < at as usize) as u64;
            assert_eq!(location.lines, [line(location.start), line(location.end - 1)]);
        }
        covered[q].fill(true);
    }
    let share = (covered.iter().filter(|&&covered| covered).count() as u128, covered.len() as u128);
    let coverage = got.coverage.unwrap();
    assert!(close(coverage, ratio(share)), "{coverage} is not {share:?}");
    // Beyond this number of pairs, occurrences are paired in order.
    if subject.selected.len() * document.selected.len() < 1 << 14 {
        for (&hash, &position) in subject.selected.iter().zip(&subject.positions) {
            let shared = counted.contains(&hash) && document.set.contains(&hash);
            assert!(!shared || covered[position..][..k].iter().all(|&covered| covered), "{:?}", got.passages);
        }
    }
}

/// Every run of t symbols that both documents have lies in passages, on both sides.
fn check_exact(got: &Match, document: &Document, subject: &Document, t: usize) {
    let (query, stored) = (ascii_chars(&subject.text), ascii_chars(&document.text));
    let spans = |span: fn(&fpdb::Passage) -> Location| got.passages.iter().map(span).collect::<Vec<Location>>();
    for (here, there, spans) in
        [(&query, &stored, spans(|passage| passage.query)), (&stored, &query, spans(|passage| passage.document))]
    {
        let runs: HashSet<&[u64]> = there.values.windows(t).collect();
        let mut covered = vec![false; here.values.len()];
        for span in spans {
            let first = here.origins.partition_point(|origin| (origin.0 as u64) < span.start);
            let end = here.origins.partition_point(|origin| origin.1 as u64 <= span.end);
            covered[first..end].fill(true);
        }
        for (place, run) in here.values.windows(t).enumerate() {
            let whole = covered[place..place + t].iter().all(|&covered| covered);
            assert!(whole || !runs.contains(run), "place {place} of {:?}", got.passages);
        }
    }
}
