//! Options that make no sense for any document are an error of the call, before anything is read or written.

use std::path::Path;

use fpdb::dedup::{DedupBy, DedupOptions};
use fpdb::pairs::PairsOptions;
use fpdb::repeats::RepeatOptions;
use fpdb::{
    Database, DatabaseWriter, Document, Error, IngestOptions, Mode, PassageOptions, Profile, QueryOptions, QuerySource,
    Task,
};
use tempfile::TempDir;

const TEXT: &str = "It was the best of times, it was the worst of times, it was the age of wisdom.";

/// A database of some documents of the same text.
fn database(folder: &Path, profile: &str) -> DatabaseWriter {
    let database = Database::create(folder.join("db"), Profile::named(profile).unwrap()).unwrap();
    let documents = (0..6).map(|number| Document::new(format!("{number}"), format!("{TEXT} {number}")));
    database.ingest_with(documents, &IngestOptions::default(), &Task::new()).unwrap();
    database
}

fn is_refused<T>(outcome: Result<T, Error>, expected: &str) -> bool {
    matches!(outcome, Err(Error::InvalidParameter { name, .. }) if name == expected)
}

#[test]
fn a_profile_that_makes_no_sense_is_not_read_either() {
    for (from, to) in [("\"k\":25", "\"k\":0"), ("\"w\":20", "\"w\":0"), ("robust", "mod:0"), ("robust", "all")] {
        let json = serde_json::to_string(&Profile::default()).unwrap();
        assert!(json.contains(from) && serde_json::from_str::<Profile>(&json).is_ok(), "{json}");
        assert!(serde_json::from_str::<Profile>(&json.replace(from, to)).is_err(), "{to}");
    }
}

#[test]
fn thresholds_that_are_no_shares_are_errors() {
    let folder = TempDir::new().unwrap();
    let database = database(folder.path(), "prose");
    let (profile, task) = (*database.profile(), Task::new());
    for wrong in [-1.0, -f64::MIN_POSITIVE, 1.0 + f64::EPSILON, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let query = QueryOptions::default().min_score(wrong);
        assert!(
            is_refused(database.query_each(&[QuerySource::text(TEXT)], &query, &Task::new()), "min_score"),
            "{wrong}"
        );
        let (all, none) = (PairsOptions::of(&profile), PairsOptions::of(&profile).min_resemblance(0.0));
        assert!(is_refused(database.pairs(&all.clone().min_resemblance(wrong), &task), "min_resemblance"), "{wrong}");
        assert!(is_refused(database.pairs(&all.few_min_resemblance(wrong), &task), "few_min_resemblance"), "{wrong}");
        assert!(is_refused(database.pairs(&none.min_containment(wrong), &task), "min_containment"), "{wrong}");
    }
    for wrong in [0.0, -0.0, -1.0, 1.0 + f64::EPSILON, 2.0, f64::NAN, f64::INFINITY] {
        for by in [DedupBy::Exact, DedupBy::Containment, DedupBy::Resemblance] {
            let rule = DedupOptions::of(&profile, by).threshold(wrong);
            assert!(is_refused(database.dedup(&rule, &task), "threshold"), "{by:?} {wrong}");
            assert!(is_refused(database.plan_dedup(&rule), "threshold"), "{by:?} {wrong}");
        }
    }
    for right in [f64::MIN_POSITIVE, 0.5, 1.0] {
        let rule = DedupOptions::of(&profile, DedupBy::Containment).threshold(right);
        assert_eq!(database.dedup(&rule, &task).unwrap().summary.documents, 6);
        assert!(database.pairs(&PairsOptions::of(&profile).min_resemblance(right), &task).is_ok());
        assert!(
            database
                .query_each(&[QuerySource::text(TEXT)], &QueryOptions::default().min_score(right), &Task::new())
                .is_ok()
        );
    }
    assert_eq!(database.stats().unwrap().documents, 6);
}

/// An option that is wrong for every query is not an error of a single query.
#[test]
fn a_query_that_makes_no_sense_is_an_error_of_the_call() {
    let folder = TempDir::new().unwrap();
    let database = database(folder.path(), "prose");
    let ask = |options: QueryOptions| {
        database.query_each(&[QuerySource::text(TEXT), QuerySource::text("b")], &options, &Task::new())
    };
    assert!(is_refused(ask(QueryOptions::default().n(Some(0))), "n"));
    assert!(is_refused(ask(QueryOptions::default().n(Some(0)).mode(Mode::Resemblance)), "n"));
    let rewritten = QueryOptions::default().joining(PassageOptions::default().rewritten(true));
    assert!(matches!(ask(rewritten), Err(Error::NotWords { .. })));
    assert!(matches!(ask(QueryOptions::default().window(Some(1))), Err(Error::WindowTooSmall { .. })));
    let walk = fpdb::WalkOptions::default();
    let visit = |_: &str, _| -> Result<(), Error> { panic!("nothing is asked") };
    let below = database.query_below(folder.path(), &walk, &QueryOptions::default().n(Some(0)), &Task::new(), visit);
    assert!(is_refused(below, "n"));
}

#[test]
fn the_documents_to_compare_with_are_taken_in_any_order() {
    let folder = TempDir::new().unwrap();
    let database = database(folder.path(), "prose");
    let ids: Vec<_> = database.documents_from(fpdb::DocId(0), 10).unwrap().iter().map(|one| one.id).collect();
    let ask = |only: &[usize]| {
        let only = only.iter().map(|&at| ids[at]).collect();
        let answers = database
            .query_each(&[QuerySource::text(TEXT)], &QueryOptions::default().only(Some(only)), &Task::new())
            .unwrap();
        let mut found: Vec<_> = answers.into_iter().next().unwrap().unwrap().matches.iter().map(|one| one.id).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(ask(&[4, 1]), [ids[1], ids[4]]);
    assert_eq!(ask(&[5, 0, 3, 0, 5]), [ids[0], ids[3], ids[5]]);
    assert_eq!(ask(&[]), []);
}

#[test]
fn a_folder_for_temporary_files_is_not_made() {
    let folder = TempDir::new().unwrap();
    let database = database(folder.path(), "prose");
    let (profile, task) = (*database.profile(), Task::new());
    let missing = folder.path().join("none").join("x");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for wrong in [&missing, &file] {
        let place = Some(wrong.clone());
        let is_named = |error: Error| matches!(error, Error::Io { path, .. } if path == *wrong);
        assert!(is_named(database.pairs(&PairsOptions::of(&profile).temp_dir(place.clone()), &task).unwrap_err()));
        let rule = DedupOptions::of(&profile, DedupBy::Containment).temp_dir(place.clone());
        assert!(is_named(database.dedup(&rule, &task).unwrap_err()));
        assert!(is_named(database.plan_dedup(&rule).unwrap_err()));
        let repeats = RepeatOptions::of(&profile).temp_dir(place);
        assert!(is_named(database.for_each_repeat(&repeats, &task, |_| Ok::<(), Error>(())).unwrap_err()));
    }
    assert!(!folder.path().join("none").exists());
}

#[test]
fn errors_of_the_library_do_not_speak_of_the_program() {
    let folder = TempDir::new().unwrap();
    let database = database(folder.path(), "prose");
    let outcome = database.for_each_repeat(&RepeatOptions::new(1), &Task::new(), |_| Ok::<(), Error>(()));
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "passages cannot have a least length of 1 symbols: expected 44 to 65536 (nothing is guaranteed of passages \
         shorter than w + k - 1)"
    );
}
