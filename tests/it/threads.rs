//! One open database, shared by threads: changes take turns, and queries are answered meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fpdb::dedup::{DedupBy, DedupMode, DedupOptions};
use fpdb::maintenance::BackupOptions;
use fpdb::pairs::PairsOptions;
use fpdb::{
    Database, DatabaseBuilder, DatabaseWriter, DocId, Document, Error, IngestOptions, IngestSummary, Profile, Progress,
    QueryOptions, QuerySource, Source, StopToken, Task, WalkOptions,
};
use tempfile::TempDir;

const SHARED: &str = "the quick brown fox jumps over the lazy dog while nobody at all is looking at what happens there";

/// A folder with a database and with folders of documents.
struct Place {
    folder: TempDir,
    database: DatabaseWriter,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let profile = Profile::named("prose").unwrap();
        let database = Database::create(folder.path().join("db"), profile).unwrap();
        Self { folder, database }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes documents that begin alike.
    fn write(&self, folder: &str, count: usize, version: usize) -> PathBuf {
        let path = self.path(folder);
        fs::create_dir_all(&path).unwrap();
        for number in 0..count {
            let text = format!("{SHARED} {folder} {number} {}", format!(" version {version} of {number}").repeat(20));
            fs::write(path.join(format!("{number}.txt")), text).unwrap();
        }
        path
    }
}

fn ingest(database: &DatabaseWriter, path: &Path) -> IngestSummary {
    let sources = [Source::Path(path.to_owned())];
    database.ingest_sources(&sources, &IngestOptions::default(), &Task::new()).unwrap()
}

/// Verifies the database, and returns its documents.
fn documents(database: &Database) -> BTreeSet<String> {
    let verification = database.verify(&Task::new()).unwrap();
    assert_eq!(verification.problems, []);
    let mut names = BTreeSet::new();
    database
        .for_each_document::<Error>(|document| {
            names.insert(document.name);
            Ok(())
        })
        .unwrap();
    assert_eq!(database.stats().unwrap().documents, names.len() as u64);
    names
}

#[test]
fn ingests_and_removals_at_once_lose_nothing() {
    let place = Place::new();
    let first = place.write("first", 60, 0);
    ingest(&place.database, &first);
    let folders = ["a", "b"].map(|name| place.write(name, 60, 0));
    thread::scope(|scope| {
        for folder in &folders {
            // Ingests documents one by one, so that there are many commits.
            scope.spawn(|| {
                for number in 0..60 {
                    let summary = ingest(&place.database, &folder.join(format!("{number}.txt")));
                    assert_eq!(summary.added, 1, "{summary:?}");
                }
            });
        }
        scope.spawn(|| {
            for number in 0..60 {
                assert_eq!(place.database.remove_numbers(&[DocId(number)]).unwrap().removed, 1);
            }
        });
        scope.spawn(|| {
            for _ in 0..5 {
                place.database.compact(&Task::new()).unwrap();
                place
                    .database
                    .backup(place.path("backups"), &BackupOptions::default().keep(Some(1)), &Task::new())
                    .unwrap();
            }
        });
    });
    let expected = folders.iter().flat_map(|folder| (0..60).map(move |number| folder.join(format!("{number}.txt"))));
    assert_eq!(documents(&place.database), expected.map(|path| path.display().to_string()).collect());
    let restored = Database::builder().restore(place.path("restored"), place.path("backups"), None).unwrap();
    documents(&restored);
}

/// The record of decisions is the same if a writer, a reader beside it, or a reader alone writes it.
#[test]
fn decisions_of_a_reader_beside_a_writer_are_those_of_one_alone() {
    let place = Place::new();
    // The second folder has the texts of the first.
    let texts = place.write("a", 9, 0);
    ingest(&place.database, &texts);
    fs::create_dir(place.path("b")).unwrap();
    for number in 0..6 {
        fs::copy(texts.join(format!("{number}.txt")), place.path("b").join(format!("{number}.txt"))).unwrap();
    }
    ingest(&place.database, &place.path("b"));
    let path = place.path("db");
    let record = || fs::read(path.join("dedup-decisions")).unwrap();
    let dedup = |database: &Database, mode| {
        let options = DedupOptions::of(database.profile(), DedupBy::Exact).mode(mode);
        database.dedup(&options, &Task::new()).map(|answer| answer.removable.len())
    };
    let program = |mode: &str| {
        let database = path.to_str().unwrap();
        let arguments = ["dedup", "--db", database, "--by", "exact", mode, "-q"];
        let output = Command::new(env!("CARGO_BIN_EXE_fpdb")).args(arguments).env_remove("FPDB_DB").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    // Tests a reader that is open beside the writer.
    let reader = Database::open(&path).unwrap();
    assert_eq!(reader.commit_id().unwrap(), place.database.commit_id().unwrap());
    assert_eq!(dedup(&place.database, DedupMode::Append).unwrap(), 6);
    let expected = record();
    for mode in [DedupMode::Append, DedupMode::Rerank, DedupMode::Append] {
        assert_eq!(dedup(&reader, mode).unwrap(), 6, "{mode:?}");
        assert_eq!(record(), expected, "{mode:?}");
        assert_eq!(dedup(&place.database, DedupMode::Append).unwrap(), 6, "{mode:?}");
    }
    for mode in ["--append", "--rerank", "--append"] {
        program(mode);
        assert_eq!(record(), expected, "{mode}");
    }
    // A reader that was opened before the last documents were added would lose the decisions about them.
    ingest(&place.database, &place.write("c", 3, 0));
    assert_eq!(dedup(&place.database, DedupMode::Append).unwrap(), 6);
    let later = record();
    assert_ne!(later, expected);
    assert!(matches!(dedup(&reader, DedupMode::Append), Err(Error::LaterDecisions { .. })));
    let options = DedupOptions::of(reader.profile(), DedupBy::Exact).mode(DedupMode::Append);
    assert!(matches!(reader.plan_dedup(&options), Err(Error::LaterDecisions { .. })));
    assert_eq!(dedup(&Database::open(&path).unwrap(), DedupMode::Append).unwrap(), 6);
    assert_eq!(record(), later);
    // Tests a reader without a writer.
    let Place { folder: _folder, database } = place;
    let commit = database.commit_id().unwrap();
    drop((reader, database));
    let reader = Database::open(&path).unwrap();
    assert_eq!(reader.commit_id().unwrap(), commit);
    assert_eq!(dedup(&reader, DedupMode::Append).unwrap(), 6);
    assert_eq!(record(), later);
    assert_eq!(dedup(&reader, DedupMode::Rerank).unwrap(), 6);
    program("--append");
    assert_ne!(record(), later, "one run instead of two");
}

#[test]
fn whoever_asks_while_documents_are_replaced_is_answered() {
    let place = Place::new();
    let folder = place.write("a", 20, 0);
    ingest(&place.database, &folder);
    let query = place.path("query.txt");
    fs::write(&query, SHARED).unwrap();
    let newest = folder.join("7.txt").display().to_string();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in 1..25 {
                place.write("a", 20, version);
                ingest(&place.database, &folder);
            }
            place.database.compact(&Task::new()).unwrap();
            done.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            let options = QueryOptions::default().top(None);
            let sources = [QuerySource::File(query), QuerySource::Stored(newest.clone())];
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds < 3 {
                for (answer, matches) in
                    place.database.query_each(&sources, &options, &Task::new()).unwrap().into_iter().zip([20, 19])
                {
                    let answer = answer.unwrap();
                    assert_eq!(answer.matches.len(), matches);
                    assert!(answer.matches.iter().all(|found| !found.passages.is_empty()));
                }
                assert_eq!(place.database.documents_named(&newest).unwrap().len(), 1);
                rounds += 1;
            }
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert_eq!(
                    place
                        .database
                        .pairs(&PairsOptions::of(place.database.profile()), &Task::new())
                        .unwrap()
                        .pairs
                        .len(),
                    20 * 19 / 2
                );
                place
                    .database
                    .dedup(&DedupOptions::of(place.database.profile(), DedupBy::Exact), &Task::new())
                    .unwrap();
                place.database.stats_with_hashes(&Task::new()).unwrap();
            }
        });
    });
    assert_eq!(documents(&place.database).len(), 20);
}

/// Code of the host runs inside work of the database. This code may query, but a call that would wait for the
/// work is an error.
#[test]
fn a_call_from_within_work_that_it_would_wait_for_is_an_error() {
    let place = Place::new();
    let (database, task) = (&place.database, &Task::new());
    ingest(database, &place.write("a", 3, 0));
    let mut visits = 0;
    let waits = |outcome: Result<_, Error>| assert!(matches!(outcome, Err(Error::WaitsForItself)));
    let options = PairsOptions::of(database.profile());
    let summary = database.for_each_pair(&options, task, |_, pair| {
        visits += 1;
        waits(database.remove(&[&pair.a]).map(drop));
        // Another scan and a query work.
        assert_eq!(database.stats_with_hashes(task)?.documents, 3);
        let query = database.query_each(&[QuerySource::text(SHARED)], &QueryOptions::default(), &Task::new())?;
        assert_eq!(query[0].as_ref().unwrap().matches.len(), 3);
        Ok::<(), Error>(())
    });
    assert_eq!((visits, summary.unwrap().found), (3, 3));

    let supplied = (0..2).map(|number| {
        waits(database.remove(&[format!("{number}")]).map(drop));
        waits(database.verify(task).map(drop));
        // A query works, even one that counts submissions.
        let by_submission = QueryOptions::default().submission_by(Some("/(a)/".into()));
        assert!(!database.query_with(SHARED, &by_submission, task).unwrap().matches.is_empty());
        Document::new(number.to_string(), format!("{SHARED} {number}"))
    });
    let summary = database.ingest_with(supplied, &IngestOptions::default(), task).unwrap();
    assert_eq!(summary.added, 2);
    assert_eq!(database.remove(&["0", "1"]).unwrap().removed, 2);
}

#[test]
fn a_call_that_waits_for_another_thread_ends_with_its_token() {
    let place = Place::new();
    let (database, token) = (&place.database, StopToken::new());
    token.stop();
    let task = Task::new().stop(&token);
    let waiting = std::iter::once_with(|| {
        thread::scope(|scope| {
            // This is another thread, which does not work for the ingest.
            let verified = scope.spawn(|| database.verify(&task)).join().unwrap();
            assert!(matches!(verified, Err(Error::Stopped)));
            let ingested =
                scope.spawn(|| database.ingest_sources(&[], &IngestOptions::default(), &task)).join().unwrap();
            assert!(matches!(ingested, Err(Error::Stopped)));
        });
        Document::new("a", SHARED)
    });
    assert_eq!(database.ingest_with(waiting, &IngestOptions::default(), &Task::new()).unwrap().added, 1);
}

#[test]
fn two_databases_take_each_other_in() {
    let (one, other) = (Place::new(), Place::new());
    ingest(&one.database, &one.write("a", 30, 0));
    ingest(&other.database, &other.write("b", 30, 0));
    let merge = |into: &Place, from: &Place| {
        for _ in 0..10 {
            into.database.merge(&from.database, &IngestOptions::default(), &Task::new()).unwrap();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| merge(&one, &other));
        scope.spawn(|| merge(&other, &one));
    });
    assert_eq!(documents(&one.database), documents(&other.database));
    // A database can also be merged into itself.
    merge(&one, &one);
    assert_eq!(documents(&one.database).len(), 60);
}

#[test]
fn what_no_document_has_is_not_taken_for_damage() {
    let place = Place::new();
    ingest(&place.database, &place.write("a", 2, 0));
    place.database.remove_numbers(&[DocId(0)]).unwrap();
    for number in [0, 2, u32::MAX] {
        let id = DocId(number);
        let is_unknown = |error: &Error| matches!(error, Error::NoSuchNumber { number: told } if *told == number);
        assert!(is_unknown(&place.database.document(id).unwrap_err()));
        assert!(is_unknown(&place.database.text_of(id).map(|_| ()).unwrap_err()));
        let answers =
            place.database.query_each(&[QuerySource::Number(id)], &QueryOptions::default(), &Task::new()).unwrap();
        assert!(is_unknown(answers[0].as_ref().unwrap_err()));
    }
}

#[test]
fn readers_of_a_writer_see_its_commits_and_others_the_last_one_before() {
    let place = Place::new();
    let folder = place.write("a", 3, 0);
    ingest(&place.database, &folder);
    let (beside, shared) = (Database::open(place.path("db")).unwrap(), place.database.reader());
    place.write("a", 5, 1);
    ingest(&place.database, &folder);
    let seen = |database: &Database| database.stats().unwrap().documents;
    assert_eq!((seen(&beside), seen(&shared), seen(&shared.clone())), (3, 5, 5));
    drop(beside);
    // A reader keeps its writer's store open.
    let Place { folder: _folder, database } = place;
    let path = database.stats().unwrap().path;
    drop(database);
    assert!(matches!(Database::open_writer(&path), Err(Error::Locked { .. })));
    assert_eq!(seen(&shared), 5);
    drop(shared);
    Database::open_writer(&path).unwrap();
}

#[test]
fn memory_cache_and_threads_out_of_range_are_refused_before_anything_is_made() {
    let folder = TempDir::new().unwrap();
    let profile = Profile::named("prose").unwrap();
    let path = folder.path().join("db");
    let least = DatabaseBuilder::LEAST_MEMORY;
    let refused = [
        (Database::builder().memory(0), "memory"),
        (Database::builder().memory(least - 1), "memory"),
        (Database::builder().memory(DatabaseBuilder::MOST_MEMORY + 1), "memory"),
        (Database::builder().cache(usize::MAX), "cache"),
        (Database::builder().threads(DatabaseBuilder::MOST_THREADS + 1), "threads"),
        (Database::builder().threads(usize::MAX), "threads"),
    ];
    let is_of = |error: Error, expected| matches!(error, Error::InvalidParameter { name, .. } if name == expected);
    for (builder, name) in &refused {
        assert!(is_of(builder.create(&path, profile).unwrap_err(), *name), "{builder:?}");
        assert!(is_of(builder.restore(&path, folder.path().join("backups"), None).unwrap_err(), *name), "{builder:?}");
        assert!(!path.exists());
    }
    let builder = Database::builder().memory(DatabaseBuilder::LEAST_MEMORY).cache(0).threads(0);
    let writer = builder.create(&path, profile).unwrap();
    assert_eq!(documents(&writer), BTreeSet::new());
    drop(writer);
    for (builder, name) in &refused {
        assert!(is_of(builder.open_writer(&path).unwrap_err(), *name), "{builder:?}");
        // A reader needs less memory than a batch of a writer.
        match builder.open(&path) {
            Ok(reader) => {
                assert_eq!(format!("{builder:?}"), format!("{:?}", Database::builder().memory(least - 1)), "{reader:?}")
            }
            Err(error) => assert!(is_of(error, *name), "{builder:?}"),
        }
    }
}

#[test]
fn a_token_stops_all_long_work_and_an_ingest_that_fails_stops_no_token() {
    let place = Place::new();
    let folder = place.write("a", 20, 0);
    ingest(&place.database, &folder);
    let before = documents(&place.database);
    let token = StopToken::new();
    token.clone().stop();
    let stopped = Task::new().stop(&token);
    let outcomes = [
        place.database.pairs(&PairsOptions::of(place.database.profile()), &stopped).map(|_| ()),
        place.database.dedup(&resembling(), &stopped).map(|_| ()),
        place.database.verify(&stopped).map(|_| ()),
        place.database.compact(&stopped).map(|_| ()),
        place.database.backup(place.path("backups"), &BackupOptions::default(), &stopped).map(|_| ()),
        Database::builder().repair(place.path("nowhere"), &stopped).map(|_| ()),
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let expected = if number == 5 { "no database" } else { "stopped" };
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(expected), "{number}: {error}");
    }
    place.write("a", 30, 1);
    let summary =
        place.database.ingest_sources(&[Source::Path(folder.clone())], &IngestOptions::default(), &stopped).unwrap();
    assert!(summary.interrupted && summary.added + summary.replaced == 0, "{summary:?}");
    assert_eq!(documents(&place.database), before);

    let token = StopToken::new();
    let walk = WalkOptions::default().exclude(vec!["[".to_owned()]);
    let options = IngestOptions::default().walk(walk);
    let task = Task::new().stop(&token);
    assert!(place.database.ingest_sources(&[Source::Path(folder)], &options, &task).is_err());
    assert!(!token.is_stopped());
}

fn resembling() -> DedupOptions {
    DedupOptions::of(&Profile::default(), DedupBy::Resemblance).max_novel(None)
}

/// A count of removable documents sees one commit, although other documents are removed while it reads the
/// report.
#[test]
fn a_removal_meanwhile_does_not_change_a_count() {
    struct Removing<'a>(&'a DatabaseWriter);

    impl Progress for Removing<'_> {
        fn step(&self, _step: &'static str, _done: u64, _total: u64) {
            self.0.remove(&["2"]).unwrap();
        }
    }

    let place = Place::new();
    place.database.ingest((0..3).map(|number| Document::new(number.to_string(), SHARED))).unwrap();
    let mut report = "{\"schema\":\"fpdb.dedup.undecided/1\"}\n".repeat(1 << 16);
    let options = DedupOptions::of(place.database.profile(), DedupBy::Exact);
    let summary = place.database.for_each_removable(&options, &Task::new(), |row| {
        report += &format!("{}\n", serde_json::to_string(&row).unwrap());
        Ok::<_, Error>(())
    });
    report += &format!("{}\n", serde_json::to_string(&summary.unwrap()).unwrap());
    fs::write(place.path("report"), report).unwrap();
    let task = Task::new();
    let counted = place.database.count_reported(place.path("report"), &task.progress(&Removing(&place.database)));
    assert_eq!((counted.unwrap().selected, documents(&place.database).len()), (Some(2), 2));
}
