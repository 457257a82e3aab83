//! Stopping: the caller ends a query while it runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fpdb::apply::{Action, ApplyOptions};
use fpdb::pairs::PairsOptions;
use fpdb::report::{HtmlAnswers, HtmlOptions, PairEvidence, write_html};
use fpdb::{
    Database, DatabaseWriter, Document, Error, IngestOptions, Profile, Progress, QueryOptions, QuerySource, StopToken,
    Task,
};
use tempfile::TempDir;

const DOCUMENTS: u64 = 40;

/// Stops its token at one step, and counts all steps.
#[derive(Default)]
struct StopAt {
    token: StopToken,
    at: u64,
    steps: AtomicU64,
    seen: Mutex<Vec<(&'static str, u64, u64)>>,
}

impl Progress for StopAt {
    fn step(&self, step: &'static str, done: u64, total: u64) {
        self.seen.lock().unwrap().push((step, done, total));
        if self.steps.fetch_add(1, Ordering::Relaxed) == self.at {
            self.token.stop();
        }
    }
}

impl StopAt {
    fn new(at: u64) -> Self {
        Self { at, ..Self::default() }
    }

    fn task(&self) -> Task<'_> {
        Task::new().progress(self).stop(&self.token)
    }

    fn count(&self, step: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| seen.0 == step).count()
    }
}

fn text(number: u64) -> String {
    let sentence = |at: u64| format!("In the {at}th year the {}th of them went to the {}th town. ", at * 3, at * at);
    (number..number + 60).map(sentence).collect()
}

fn database(folder: &TempDir) -> DatabaseWriter {
    let builder = Database::builder().threads(2);
    let database = builder.create(folder.path().join("db"), Profile::named("prose").unwrap()).unwrap();
    let documents = (0..DOCUMENTS).map(|number| Document::new(format!("d{number:02}"), text(number)));
    database.ingest_with(documents, &IngestOptions::default().store_text(true), &Task::new()).unwrap();
    database
}

#[test]
fn a_single_query_ends_soon_after_its_token_is_stopped() {
    let folder = TempDir::new().unwrap();
    let database = database(&folder);
    let options = QueryOptions::default().top(None);
    let source = [QuerySource::text(text(20))];
    let all = StopAt::new(u64::MAX);
    let answers = database.query_each(&source, &options, &all.task()).unwrap();
    assert_eq!(answers[0].as_ref().unwrap().matches.len() as u64, DOCUMENTS);
    assert_eq!(all.count("documents searched for passages") as u64, DOCUMENTS);
    assert_eq!(all.count("queries answered"), 0, "a single query shows its own steps");
    for at in 0..all.steps.into_inner() {
        let stop = StopAt::new(at);
        let outcome = database.query_each(&source, &options, &stop.task());
        assert!(matches!(outcome, Err(Error::Stopped)), "{outcome:?}");
        assert_eq!(stop.steps.into_inner(), at + 1, "nothing is begun after the stop");
    }
}

#[test]
fn of_many_queries_none_is_begun_after_a_stop() {
    let folder = TempDir::new().unwrap();
    let database = database(&folder);
    let sources: Vec<QuerySource> = (0..200).map(|number| QuerySource::text(text(number))).collect();
    let options = QueryOptions::default();
    let all = StopAt::new(u64::MAX);
    assert_eq!(database.query_each(&sources, &options, &all.task()).unwrap().len(), 200);
    assert_eq!((all.count("queries answered"), all.seen.lock().unwrap().len()), (200, 200));
    let stop = StopAt::new(3);
    assert!(matches!(database.query_each(&sources, &options, &stop.task()), Err(Error::Stopped)));
    // With two threads, each may have been at the end of a query.
    assert!((4..=5).contains(&stop.steps.into_inner()));
    let before = StopAt::new(0);
    before.token.stop();
    for some in [&sources[..1], &sources[..]] {
        assert!(matches!(database.query_each(some, &options, &before.task()), Err(Error::Stopped)));
    }
    assert_eq!(before.steps.into_inner(), 0);
}

#[test]
fn passages_of_pairs_and_reports_can_be_stopped() {
    let folder = TempDir::new().unwrap();
    let database = database(&folder);
    let answer = database.pairs(&PairsOptions::of(database.profile()), &Task::new()).unwrap();
    let mut pairs = answer.pairs.clone();
    let stop = StopAt::new(2);
    let outcome = database.add_passages(&mut pairs, &PairEvidence::default(), &stop.task());
    assert!(matches!(outcome, Err(Error::Stopped)), "{outcome:?}");
    assert_eq!(pairs, answer.pairs, "all of them or none");

    let path = folder.path().join("report");
    let write = |stop: &StopAt| {
        let answers = HtmlAnswers::Pairs { database: &database, answer: answer.clone() };
        write_html(answers, &path, &HtmlOptions::default(), &stop.task())
    };
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = files();
    let all = StopAt::new(u64::MAX);
    let stopped = write(&StopAt::new(5));
    assert!(matches!(stopped, Err(Error::Stopped)) && files() == before, "nothing is left: {stopped:?}");
    let written = write(&all).unwrap();
    let steps = all.steps.into_inner();
    assert!(all.seen.into_inner().unwrap().iter().any(|seen| seen.0 == "pairs written"));
    let page = std::fs::read(path.join("index.html")).unwrap();
    assert!(matches!(write(&StopAt::new(steps - 1)), Err(Error::Stopped)));
    assert_eq!(std::fs::read(path.join("index.html")).unwrap(), page, "the earlier report is as it was");
    assert!(written.files > 1 && files() == before + 1);
}

#[test]
fn blank_lines_of_a_list_are_steps_too() {
    let folder = TempDir::new().unwrap();
    let database = database(&folder);
    let list = folder.path().join("list.jsonl");
    std::fs::write(&list, "{\"document\":\"d01\"}\n".to_owned() + &"\n".repeat(140_000)).unwrap();
    let options = ApplyOptions::new(Action::Write { folder: folder.path().join("clean"), mark: None });
    let all = StopAt::new(u64::MAX);
    database.apply(&list, &options, &all.task(), |_| Ok::<(), Error>(())).unwrap();
    assert_eq!(all.count("lines of the list read"), 2);
}
