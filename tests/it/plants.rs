//! Planted copies: all copies that must be found are found, at every window, and nothing else is reported.
//!
//! The oracle is exhaustive and shares no code with fpdb: documents are ASCII, so the standard form is their
//! lower-case letters and digits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use fpdb::{Location, Passage, QueryAnswer};
use serde_json::Value;

use crate::support::{Folder, shared_data};

type Pair = (String, String);

/// The windows of the queries, in multiples of the database's window.
const WINDOWS: [usize; 3] = [1, 2, 5];

/// A folder of documents with a manifest of the copies planted in them.
struct Corpus {
    k: usize,
    w: usize,
    documents: BTreeMap<String, Document>,
    fragments: Vec<Fragment>,
    /// The pairs of documents that share a run of a length. The lengths are k and, for each window, t, in
    /// symbols.
    sharing: BTreeMap<usize, BTreeSet<Pair>>,
}

struct Document {
    text: Vec<u8>,
    /// The standard form of the document.
    symbols: Vec<u8>,
}

/// A maximal common run of two documents.
struct Fragment {
    a: String,
    b: String,
    /// Length in symbols.
    length: usize,
    a_span: (u64, u64),
    b_span: (u64, u64),
}

#[test]
fn every_plant_is_found_in_the_small_corpus() {
    let Some(data) = shared_data("plant/small") else { return };
    let (corpus, folder) = Corpus::load(&data);
    assert_eq!(corpus.sharing[&(corpus.w + corpus.k - 1)], truth(&data), "two ways to count the same pairs");
    for selection in ["robust", "plain", "safe-mod:50"] {
        corpus.judge(&folder, selection);
    }
}

#[test]
fn every_plant_is_found_with_the_least_k() {
    let Some(data) = shared_data("plant/tiny_k5") else { return };
    let (corpus, folder) = Corpus::load(&data);
    assert_eq!(corpus.sharing[&(corpus.w + corpus.k - 1)], truth(&data), "two ways to count the same pairs");
    for selection in ["robust", "plain", "safe-mod:2"] {
        corpus.judge(&folder, selection);
    }
}

#[test]
fn fresh_seeds_pass_too() {
    for (seed, k, w) in [(7101, 30, 40), (7102, 12, 9)] {
        fresh_seed(seed, k, w);
    }
}

#[test]
#[ignore = "long: make soak"]
fn many_fresh_seeds_pass() {
    let settings =
        [(50, 100), (25, 20), (20, 1), (8, 16), (15, 64), (50, 30), (100, 50), (33, 77), (64, 128), (12, 200)];
    for (seed, (k, w)) in (8001..).zip(settings) {
        fresh_seed(seed, k, w);
    }
}

/// Makes a corpus with `plant.py`, and checks fpdb with it. If numpy is available, `plant.py` checks too.
fn fresh_seed(seed: u32, k: usize, w: usize) {
    let (Some(plant), Some(base)) = (shared_data("plant.py"), shared_data("bible")) else { return };
    let made = Folder::new();
    let python = |arguments: &[&str]| Command::new("python3").arg(&plant).args(arguments).output();
    let base = base.join("ASV/*.txt");
    let (seed, k_text, w_text) = (seed.to_string(), k.to_string(), w.to_string());
    let out = made.path().to_str().unwrap();
    let generate = python(&[
        "gen",
        "--base",
        base.to_str().unwrap(),
        "--out",
        out,
        "--docs",
        "60",
        "--seed",
        &seed,
        "--k",
        &k_text,
        "--w",
        &w_text,
    ]);
    match generate {
        Ok(output) => assert!(output.status.success(), "plant.py gen: {output:?}"),
        Err(error) => return eprintln!("skipped: no python3 ({error})"),
    }
    let (corpus, folder) = Corpus::load(made.path());
    let passages = corpus.judge(&folder, "robust");
    corpus.judge(&folder, "plain");
    if !Command::new("python3").args(["-c", "import numpy"]).output().unwrap().status.success() {
        return eprintln!("skipped: `plant.py truth` and `check` need numpy; the oracle here has judged alone");
    }
    let results = folder.write("results.jsonl", passages);
    assert!(python(&["truth", out]).unwrap().status.success());
    let check = python(&["check", out, results.to_str().unwrap()]).unwrap();
    assert!(check.status.success(), "plant.py check: {}", String::from_utf8_lossy(&check.stdout));
}

impl Corpus {
    /// Reads a corpus, and copies its documents to the folder `docs` of a new folder. If the manifest counts
    /// letters only, the copies have blanks in place of digits, so the runs are also runs of letters and
    /// digits.
    fn load(data: &Path) -> (Self, Folder) {
        let manifest: Value = serde_json::from_slice(&std::fs::read(data.join("manifest.json")).unwrap()).unwrap();
        let parameter = |name: &str| usize::try_from(manifest["params"][name].as_u64().unwrap()).unwrap();
        let letters_only = manifest["params"]["norm"] == "alpha";
        let folder = Folder::new();
        let mut documents = BTreeMap::new();
        for document in manifest["docs"].as_array().unwrap() {
            let name = document["name"].as_str().unwrap();
            let mut text = std::fs::read(data.join("docs").join(name)).unwrap();
            if letters_only {
                text.iter_mut().filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b' ');
            }
            folder.write(&format!("docs/{name}"), &text);
            let symbols = symbols_of(&text);
            assert_eq!(symbols.len() as u64, document["norm_len"].as_u64().unwrap(), "{name}");
            documents.insert(name.to_owned(), Document { text, symbols });
        }
        let mut fragments = Vec::new();
        for plant in manifest["plants"].as_array().unwrap() {
            for fragment in plant["fragments"].as_array().into_iter().flatten() {
                let span = |name: &str| (fragment[name][0].as_u64().unwrap(), fragment[name][1].as_u64().unwrap());
                fragments.push(Fragment {
                    a: plant["src"].as_str().unwrap().to_owned(),
                    b: plant["dst"].as_str().unwrap().to_owned(),
                    length: usize::try_from(fragment["len"].as_u64().unwrap()).unwrap(),
                    a_span: span("src_raw"),
                    b_span: span("dst_raw"),
                });
            }
        }
        let (k, w) = (parameter("k"), parameter("w"));
        let lengths = WINDOWS.map(|times| times * w + k - 1).into_iter().chain([k]);
        let sharing = lengths.map(|length| (length, pairs_sharing(&documents, length))).collect();
        (Self { k, w, documents, fragments, sharing }, folder)
    }

    /// Ingests the corpus into a new database, queries it with every document at several windows, and checks
    /// every answer. Returns the passages at the database's window in the form `plant.py check` reads.
    fn judge(&self, folder: &Folder, selection: &str) -> String {
        let db = format!("db-{}", selection.replace(':', "-"));
        let (k, w) = (self.k.to_string(), self.w.to_string());
        folder.ok(&["ingest", "--db", &db, "-k", &k, "-w", &w, "--selection", selection, "docs"]);
        // With any selection, fingerprints are shared k-grams: documents that share none do not match.
        let legitimate = &self.sharing[&self.k];
        let mut lines = String::new();
        for window in WINDOWS.map(|times| times * self.w) {
            let about = format!("selection {selection}, window {window}");
            let found = self.query_all(folder, &db, window);
            let reported: BTreeSet<Pair> = found.keys().filter(|(a, b)| a < b).cloned().collect();
            let t = window + self.k - 1;
            for pair in &self.sharing[&t] {
                assert!(reported.contains(pair), "{about}: {pair:?} share {t} symbols and are not reported");
                assert!(found.contains_key(&(pair.1.clone(), pair.0.clone())), "{about}: {pair:?} the other way round");
            }
            for pair in &reported {
                assert!(legitimate.contains(pair), "{about}: {pair:?} are reported and share no k-gram");
            }
            for fragment in self.fragments.iter().filter(|fragment| fragment.length >= t) {
                fragment.check(&found, &about);
            }
            for (pair, passages) in &found {
                self.check_passages(pair, passages, &about);
            }
            if window == self.w {
                lines = lines_of(&found);
            }
        }
        lines
    }

    /// The passages of every reported pair of documents, with the query first.
    fn query_all(&self, folder: &Folder, db: &str, window: usize) -> BTreeMap<Pair, Vec<Passage>> {
        let window = window.to_string();
        let files: Vec<String> = self.documents.keys().map(|name| format!("docs/{name}")).collect();
        let mut arguments = vec!["query", "--db", db, "--window", &window, "--top", "0", "--format", "json"];
        arguments.extend(files.iter().map(String::as_str));
        let mut found = BTreeMap::new();
        let run = folder.ok(&arguments);
        assert_eq!(run.stdout.lines().count(), files.len());
        for line in run.stdout.lines() {
            let report: QueryAnswer = serde_json::from_str(line).unwrap();
            let query = file_name(&report.query.name);
            let itself = report.matches.iter().find(|found| file_name(&found.document) == query);
            assert!(itself.is_some_and(|found| found.identical && found.containment == 1.0), "{query} finds itself");
            for answer in report.matches {
                let document = file_name(&answer.document);
                if document != query {
                    assert!(!answer.passages.is_empty(), "{query} and {document}: a match without a passage");
                    found.insert((query.clone(), document), answer.passages);
                }
            }
        }
        found
    }

    /// Checks that each passage begins and ends with a k-gram that both documents have there, and that it
    /// cannot be longer.
    fn check_passages(&self, (query, document): &Pair, passages: &[Passage], about: &str) {
        for passage in passages {
            let of = |name: &str, span: &Location| symbols_of(&self.documents[name].text[range(span)]);
            let (a, b) = (of(query, &passage.query), of(document, &passage.document));
            let k = self.k;
            let same = a.len() >= k && b.len() >= k && a[..k] == b[..k] && a[a.len() - k..] == b[b.len() - k..];
            assert!(same, "{about}: {query} and {document} differ at the ends of {passage:?}");
            assert!(passage.exact, "{about}: the texts are there");
            assert_eq!(passage.agreement == Some(1.0), a == b, "{about}: {query} and {document}: {passage:?}");
            let around = |name: &str, span: &Location| {
                let text = &self.documents[name].text;
                let (start, end) = (range(span).start, range(span).end);
                (symbols_of(&text[..start]).last().copied(), symbols_of(&text[end..]).first().copied())
            };
            let (here, there) = (around(query, &passage.query), around(document, &passage.document));
            let longer = |x: Option<u8>, y: Option<u8>| x.is_some() && x == y;
            let maximal = !longer(here.0, there.0) && !longer(here.1, there.1);
            assert!(maximal, "{about}: {query} and {document}: {passage:?}");
            assert_eq!(passage.symbols, a.len() as u64, "{about}: {query}, {document}");
        }
    }
}

impl Fragment {
    /// Checks that some passage contains the whole run on both sides, with either document as the query.
    fn check(&self, found: &BTreeMap<Pair, Vec<Passage>>, about: &str) {
        let holds = |span: &Location, (start, end): (u64, u64)| span.start <= start && span.end >= end;
        for (query, document, query_span, document_span) in
            [(&self.a, &self.b, self.a_span, self.b_span), (&self.b, &self.a, self.b_span, self.a_span)]
        {
            let passages = found.get(&(query.clone(), document.clone())).map_or(&[][..], Vec::as_slice);
            let covered = passages
                .iter()
                .any(|passage| holds(&passage.query, query_span) && holds(&passage.document, document_span));
            let length = self.length;
            assert!(
                covered,
                "{about}: {query} {query_span:?} and {document} {document_span:?} share {length} symbols, not found"
            );
        }
    }
}

/// The pairs of documents, in order, that share a run of `length` symbols.
fn pairs_sharing(documents: &BTreeMap<String, Document>, length: usize) -> BTreeSet<Pair> {
    let names: Vec<&String> = documents.keys().collect();
    let mut holders: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (index, document) in documents.values().enumerate() {
        for run in document.symbols.windows(length) {
            let holders = holders.entry(run).or_default();
            if holders.last() != Some(&index) {
                holders.push(index);
            }
        }
    }
    let groups: BTreeSet<Vec<usize>> = holders.into_values().filter(|holders| holders.len() > 1).collect();
    let mut pairs = BTreeSet::new();
    for group in groups {
        for (at, &a) in group.iter().enumerate() {
            pairs.extend(group[at + 1..].iter().map(|&b| (a, b)));
        }
    }
    pairs.into_iter().map(|(a, b)| (names[a].clone(), names[b].clone())).collect()
}

fn symbols_of(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

fn range(span: &Location) -> std::ops::Range<usize> {
    usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()
}

fn file_name(name: &str) -> String {
    name.rsplit('/').next().unwrap().to_owned()
}

/// The pairs of `truth.jsonl`.
fn truth(data: &Path) -> BTreeSet<Pair> {
    let text = std::fs::read_to_string(data.join("truth.jsonl")).unwrap();
    let name = |line: &Value, side: &str| line[side].as_str().unwrap().to_owned();
    let pair = |line: Value| (name(&line, "a"), name(&line, "b"));
    text.lines().map(|line| pair(serde_json::from_str(line).unwrap())).collect()
}

fn lines_of(found: &BTreeMap<Pair, Vec<Passage>>) -> String {
    let mut lines = String::new();
    for ((a, b), passages) in found {
        for Passage { query, document, .. } in passages {
            let line = serde_json::json!({
                "a": a, "a_off": query.start, "a_len": query.end - query.start,
                "b": b, "b_off": document.start, "b_len": document.end - document.start,
            });
            lines.push_str(&format!("{line}\n"));
        }
    }
    lines
}
