//! Random operations on a database, each checked against a model in memory that follows the definitions.

mod expected;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fpdb::{
    Database, DatabaseWriter, Error, IngestOptions, IngestSummary, Mode, OnChange, Profile, QueryOptions, QuerySource,
    Selection, Source, Task, Unit, WordRule,
};
use proptest::prelude::*;

use crate::oracle::Random;
use crate::support::Folder;
use expected::{Asked, Model};

/// A text is a stretch of one of a few endless streams of symbols. So texts overlap.
#[derive(Clone, Debug)]
struct Text {
    seed: u64,
    alphabet: usize,
    skip: usize,
    symbols: usize,
    style: u64,
}

impl Text {
    fn content(&self) -> String {
        let (mut stream, mut style) = (Random(self.seed << 32), Random(self.style << 40));
        let mut text = String::new();
        for i in 0..self.skip + self.symbols {
            let letter = char::from(b"abcd"[stream.below(self.alphabet)]);
            if i < self.skip {
                continue;
            }
            text.push(if self.style > 0 && style.below(4) == 0 { letter.to_ascii_uppercase() } else { letter });
            if self.style > 1 && style.below(6) == 0 {
                text.push_str(style.one_of(&[" ", "\n", ", ", "\r\n"]));
            }
        }
        text
    }
}

#[derive(Clone, Debug)]
enum Subject {
    File(Text),
    Stored(usize),
}

#[derive(Clone, Debug)]
enum Op {
    Write { file: usize, text: Text, settled: bool },
    Remove(usize),
    Ingest { memory: u64, threads: usize, on_change: OnChange, store_text: bool, program: bool },
    Delete(usize),
    Compact,
    Reopen,
    Query { subject: Subject, wider: Option<u32>, options: Box<QueryOptions>, least: (u128, u128), reader: bool },
}

const FILES: [&str; 8] = ["a.txt", "B.txt", "b.txt", "sub/c.txt", "sub.txt", "z/d/e.txt", ".hidden", "two words"];

fn text() -> impl Strategy<Value = Text> {
    let symbols = prop_oneof![3 => 0usize..12, 5 => 0usize..400, 4 => 400usize..4000, 1 => 40_000usize..150_000usize];
    let skip = prop_oneof![Just(0usize), 0usize..500];
    (0u64..4, 1usize..5, skip, symbols, 0u64..3).prop_map(|(seed, alphabet, skip, symbols, style)| Text {
        seed,
        alphabet,
        skip,
        symbols,
        style,
    })
}

fn write() -> impl Strategy<Value = Op> {
    (0..FILES.len(), text(), any::<bool>()).prop_map(|(file, text, settled)| Op::Write { file, text, settled })
}

fn ingest() -> impl Strategy<Value = Op> {
    let on_change = prop_oneof![2 => Just(OnChange::Replace), 1 => Just(OnChange::Keep), 2 => Just(OnChange::Both)];
    let memory = prop_oneof![Just(1u64 << 20), 1u64 << 20..8 << 20];
    (memory, 1usize..5, on_change, prop::bool::weighted(0.3), prop::bool::weighted(0.2)).prop_map(
        |(memory, threads, on_change, store_text, program)| Op::Ingest {
            memory,
            threads,
            on_change,
            store_text,
            program,
        },
    )
}

fn query() -> impl Strategy<Value = Op> {
    let subject = prop_oneof![text().prop_map(Subject::File), (0..FILES.len()).prop_map(Subject::Stored)];
    let wider = prop_oneof![3 => Just(None), 3 => (0u32..20).prop_map(Some), 1 => (0u32..5000).prop_map(Some)];
    let n = prop_oneof![2 => Just(None), 2 => (1u64..20).prop_map(Some), 1 => (1u64..2000).prop_map(Some)];
    let top = prop_oneof![Just(None), (0usize..5).prop_map(Some)];
    let max_df = prop_oneof![2 => Just(None), 1 => (0u64..6).prop_map(Some)];
    let least = prop_oneof![3 => Just((0, 1)), 2 => prop::sample::select(vec![(1, 20), (3, 10), (1, 2), (1, 1)])];
    let mode = prop_oneof![Just(Mode::Containment), Just(Mode::Resemblance)];
    (subject, wider, (mode, n, top, max_df, least), any::<bool>(), any::<bool>()).prop_map(
        |(subject, wider, (mode, n, top, max_df, least), passages, reader)| {
            let min_score = least.0 as f64 / least.1 as f64;
            let options = QueryOptions::default().mode(mode).n(n).top(top).min_score(min_score);
            let options = options.max_df(max_df).passages(passages);
            let options = Box::new(options);
            Op::Query { subject, wider, options, least, reader }
        },
    )
}

fn profile() -> impl Strategy<Value = Profile> {
    let selection = prop_oneof![
        4 => Just(Selection::Robust),
        2 => Just(Selection::Plain),
        1 => Just(Selection::All),
        1 => (1u64..5).prop_map(Selection::Mod),
        1 => (1u64..9).prop_map(Selection::SafeMod),
    ];
    (prop::sample::select(vec![1, 2, 3, 5, 9]), prop::sample::select(vec![1, 2, 4, 9]), selection).prop_map(
        |(k, w, selection)| {
            let w = if selection == Selection::All { 1 } else { w };
            Profile::new(Unit::Char, WordRule::Letters, k, w, selection).unwrap()
        },
    )
}

/// Makes a file look old enough for its time to be trusted. `write` makes the time unique.
fn settle(path: &Path, write: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + write);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A database, its model, and the files that it ingests.
struct World {
    folder: Folder,
    path: PathBuf,
    database: Option<DatabaseWriter>,
    model: Model,
    files: BTreeMap<PathBuf, String>,
    writes: u64,
}

impl World {
    fn new(profile: Profile) -> Self {
        let folder = Folder::new();
        let path = folder.path().join("db");
        let database = Some(Database::create(&path, profile).unwrap());
        std::fs::create_dir(folder.path().join("docs")).unwrap();
        let model = Model { profile, documents: Vec::new(), greatest_id: None };
        Self { folder, path, database, model, files: BTreeMap::new(), writes: 0 }
    }

    fn database(&self) -> &DatabaseWriter {
        self.database.as_ref().unwrap()
    }

    fn file(&self, file: usize) -> PathBuf {
        self.folder.path().join("docs").join(FILES[file])
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Write { file, text, settled } => {
                let path = self.folder.write(&format!("docs/{}", FILES[*file]), text.content());
                if *settled {
                    self.writes += 1;
                    settle(&path, self.writes);
                }
                self.files.insert(path, text.content());
            }
            Op::Remove(file) => {
                if self.files.remove(&self.file(*file)).is_some() {
                    std::fs::remove_file(self.file(*file)).unwrap();
                }
            }
            Op::Ingest { memory, threads, on_change, store_text, program } => {
                let docs = self.folder.path().join("docs");
                let got = if *program {
                    self.database = None;
                    let counts = self.ingest_by_program(&docs, *memory, *threads, *on_change, *store_text);
                    self.database = Some(Database::open_writer(&self.path).unwrap());
                    counts
                } else {
                    self.database = None;
                    let builder = Database::builder().threads(*threads).memory(*memory);
                    self.database = Some(builder.open_writer(&self.path).unwrap());
                    let options = IngestOptions::default().on_change(*on_change).store_text(*store_text);
                    self.database().ingest_sources(&[Source::Path(docs)], &options, &Task::new()).unwrap()
                };
                let expected = self.model.ingest(&self.files, *on_change, *store_text);
                assert!(got.failed.is_empty() && got.skipped.is_empty() && !got.interrupted, "{got:?}");
                let counts = [got.added, got.replaced, got.unchanged, got.kept, got.identical];
                assert_eq!(counts, expected[..5], "added, replaced, unchanged, kept, identical");
                assert_eq!([got.bytes, got.symbols, got.fingerprints], expected[5..]);
                assert_eq!(got.documents, expected[..4].iter().sum::<u64>());
                self.check();
            }
            Op::Delete(file) => {
                let name = self.file(*file).into_os_string().into_string().unwrap();
                let before = self.model.documents.len();
                self.model.documents.retain(|document| document.name != name);
                let deleted = (before - self.model.documents.len()) as u64;
                let unknown = if deleted == 0 { vec![name.clone()] } else { vec![] };
                let removal = self.database().remove(&[name]).unwrap();
                assert_eq!((removal.removed, removal.unknown_names), (deleted, unknown));
                self.check();
            }
            Op::Compact => {
                self.database().compact(&Task::new()).unwrap();
                let stats = self.database().stats().unwrap();
                assert_eq!((stats.postings, stats.deleted), (stats.fingerprints, 0));
                assert!(stats.runs < 8, "fewer runs than a fold joins may stay apart: {}", stats.runs);
                self.check();
            }
            Op::Reopen => {
                self.database = None;
                self.database = Some(Database::open_writer(&self.path).unwrap());
                self.check();
            }
            Op::Query { subject, wider, options, least, reader } => {
                let window = wider.map(|wider| self.model.profile.w() + wider);
                let options = (**options).clone().window(window);
                self.query(subject, &options, *least, *reader);
            }
        }
    }

    /// Compares the model with the writer's view and with a reader's view.
    fn check(&mut self) {
        self.model.check(self.database.as_ref().unwrap());
        let reader = Database::open(&self.path).unwrap();
        self.model.check(&reader);
        let verification = reader.verify(&Task::new()).unwrap();
        assert!(verification.problems.is_empty(), "{verification:?}");
    }

    fn ingest_by_program(
        &self,
        docs: &Path,
        memory: u64,
        threads: usize,
        on_change: OnChange,
        store_text: bool,
    ) -> IngestSummary {
        let on_change = match on_change {
            OnChange::Replace => "replace",
            OnChange::Keep => "keep",
            OnChange::Both => "both",
            other => panic!("the model does not know {other:?}"),
        };
        let (memory, threads) = (memory.to_string(), threads.to_string());
        let mut arguments = vec![
            "ingest",
            "--db",
            "db",
            "--memory",
            &memory,
            "--threads",
            &threads,
            "--on-change",
            on_change,
            "--format",
            "json",
            docs.to_str().unwrap(),
        ];
        // Without a flag, the flags of the previous run would be used again.
        arguments.push(if store_text { "--store-text" } else { "--as=auto" });
        let run = self.folder.ok(&arguments);
        serde_json::from_str(&run.stdout).unwrap()
    }

    fn query(&self, subject: &Subject, options: &QueryOptions, least: (u128, u128), reader: bool) {
        let other = reader.then(|| Database::open(&self.path).unwrap());
        let database = other.as_ref().unwrap_or(self.database());
        let ask = |source| database.query_each(&[source], options, &Task::new()).unwrap().pop().unwrap();
        match subject {
            Subject::File(text) => {
                let text = text.content();
                let file = self.folder.write("query.txt", &text);
                let answer = ask(QuerySource::File(file)).unwrap();
                self.model.check_answer(&Asked { text: &text, own: None, options, least }, &answer);
            }
            Subject::Stored(file) => {
                let name = self.file(*file).into_os_string().into_string().unwrap();
                let answer = ask(QuerySource::Stored(name.clone()));
                let Some(newest) = self.model.newest(&name) else {
                    assert!(matches!(answer, Err(Error::NoSuchDocument { .. })), "{answer:?}");
                    return;
                };
                let profile = &self.model.profile;
                let another = profile.with_window(options.window.unwrap_or(profile.w())).unwrap() != *profile;
                let gone = !newest.is_readable();
                if another && gone {
                    assert!(matches!(answer, Err(Error::TextGone { .. })), "{answer:?}");
                    return;
                }
                let answer = answer.unwrap();
                assert_eq!(answer.query.name, name);
                self.model.check_answer(&Asked { text: &newest.text, own: newest.id, options, least }, &answer);
            }
        }
    }
}

fn case() -> impl Strategy<Value = (Profile, Vec<Op>)> {
    let op = prop_oneof![
        4 => write(),
        1 => (0..FILES.len()).prop_map(Op::Remove),
        3 => ingest(),
        1 => (0..FILES.len()).prop_map(Op::Delete),
        1 => Just(Op::Compact),
        1 => Just(Op::Reopen),
        8 => query(),
    ];
    let begin = (prop::collection::vec(write(), 2..8), ingest());
    (profile(), begin, prop::collection::vec(op, 1..25))
        .prop_map(|(profile, (writes, ingest), ops)| (profile, writes.into_iter().chain([ingest]).chain(ops).collect()))
}

/// With unit char, k 1 and every k-gram selected, a fingerprint is a letter.
#[test]
fn measures_are_exact_where_every_fingerprint_was_looked_up() {
    let mut world = World::new(Profile::new(Unit::Char, WordRule::Letters, 1, 1, Selection::All).unwrap());
    let letters = |range: std::ops::Range<usize>| "abcdefghijklmnopqrstuvwxyz0123456789"[range].to_owned();
    let query = letters(0..22);
    // The query has 22 letters. It shares 15 with a document of 23, and 22 with a document of 36.
    for (file, text) in [(0, letters(7..30)), (1, letters(0..36))] {
        let path = world.folder.write(&format!("docs/{}", FILES[file]), &text);
        world.files.insert(path, text);
    }
    world.apply(&Op::Ingest {
        memory: 1 << 20,
        threads: 1,
        on_change: OnChange::Replace,
        store_text: false,
        program: false,
    });
    let file = world.folder.write("query.txt", &query);
    for (min_score, least, matches) in [(0.5, (1, 2), 2), (22.0 / 36.0, (22, 36), 1)] {
        let options = QueryOptions::default().mode(Mode::Resemblance).min_score(min_score);
        let answer = world
            .database()
            .query_each(&[QuerySource::File(file.clone())], &options, &Task::new())
            .unwrap()
            .pop()
            .unwrap()
            .unwrap();
        assert_eq!(answer.matches.len(), matches, "{min_score}: {answer:#?}");
        world.model.check_answer(&Asked { text: &query, own: None, options: &options, least }, &answer);
    }
}

/// The same inputs in the same order give the same numbers and answers with any number of threads.
#[test]
fn threads_change_nothing() {
    let folder = Folder::new();
    let mut random = Random(11);
    let mut write = |i: u64, symbols: usize| {
        let text = Text { seed: i % 7, alphabet: 4, skip: random.below(300), symbols, style: 2 };
        settle(&folder.write(&format!("docs/{i:02}.txt"), text.content()), symbols as u64);
    };
    for i in 0..60 {
        // The document 29 fills a batch more than once.
        write(i, if i == 29 { 70_000 } else { i as usize * 60 });
    }
    let databases = [1, 2, 4].map(|threads| (format!("db{threads}"), threads.to_string()));
    let common = |text: &str, field: &str| {
        let parse = |line: &str| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            let fields = value.as_object_mut().unwrap();
            assert!(fields.remove(field).is_some());
            // This field is present only if the file was not changed for some seconds.
            fields.remove("modified");
            value.to_string()
        };
        text.lines().map(parse).collect::<Vec<String>>()
    };
    let run = |profile: &[&str]| {
        let outputs = databases.each_ref().map(|(db, threads)| {
            let run = |arguments: &[&str]| {
                folder.ok(&[&["--db", db, "--threads", threads, "--format", "json"], arguments].concat()).stdout
            };
            let ingest = run(&[&["ingest", "docs", "--memory", "1MiB"], profile].concat());
            let queries = ["docs/05.txt", "docs/49.txt", "--document", "docs/29.txt"];
            let exact = run(&[&["query", "--top", "0"], &queries[..]].concat());
            let sampled = run(&[&["query", "--mode", "resemblance", "--window", "40"], &queries[..]].concat());
            (common(&ingest, "seconds"), common(&run(&["list"]), "ingested_at"), exact, sampled)
        });
        assert!(outputs[0].2.lines().count() == 3 && outputs[0].2.contains("\"shared\""));
        assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2], "the number of threads shows");
    };
    run(&["-k", "12", "-w", "2"]);
    for i in [3, 9, 20, 49, 61] {
        write(i, 2000 + 300 * i as usize);
    }
    run(&[]);
}

fn run(cases: u32) {
    let config =
        ProptestConfig { cases, max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((profile, ops) in case())| {
        let mut world = World::new(profile);
        for op in &ops {
            world.apply(op);
        }
    });
}

#[test]
fn a_database_agrees_with_the_model() {
    run(25);
}

#[test]
#[ignore = "long: make soak"]
fn a_database_agrees_with_the_model_for_long() {
    run(3000);
}
