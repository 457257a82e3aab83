//! Tests of the writer.

use fpdb::{Database, Profile};

use super::*;

fn put(name: &str, text: &str) -> Put {
    let options = IngestOptions::default().store_text(true);
    Put { name: name.into(), bytes: text.into(), metadata: Vec::new(), options }
}

fn held() -> Held {
    Held::new(Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap(), None)
}

#[test]
fn what_waits_is_committed_together_and_each_has_its_own_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path().join("db"), Profile::PROSE).unwrap();
    let reader = database.reader();
    let (sender, mut waiting) = mpsc::unbounded_channel();
    let mut outcomes = Vec::new();
    let documents =
        [("a", "first"), ("b", "second"), ("", "no name"), ("c", "third"), ("a", "another first"), ("d", "x")];
    for (name, text) in documents {
        let (reply, outcome) = oneshot::channel();
        sender.send(Change::Put(Box::new(put(name, text)), held(), reply)).ok().unwrap();
        outcomes.push(outcome);
    }
    let written = Written::default();
    let first = waiting.try_recv().ok().unwrap();
    let mut next = make(&database, first, &mut waiting, &written);
    // The second document of one name waits for the next commit.
    assert!(matches!(&next, Some(Change::Put(put, ..)) if put.name == "a"));
    assert_eq!(reader.stats().unwrap().documents, 3);
    while let Some(change) = next {
        next = make(&database, change, &mut waiting, &written);
    }
    let outcomes: Vec<_> = outcomes.into_iter().map(|mut outcome| outcome.try_recv().unwrap()).collect();
    let added = |at: usize| matches!(outcomes[at], Ok(Stored { outcome: Outcome::Added, .. }));
    assert!(added(0) && added(1) && added(3) && added(5));
    assert_eq!(outcomes[2].as_ref().unwrap_err().status().as_u16(), 400);
    assert!(matches!(outcomes[4], Ok(Stored { outcome: Outcome::Replaced, .. })));
    assert_eq!((written.commits.get(), written.documents.get()), (2, 5));
}
#[test]
fn a_change_keeps_its_room_after_its_client_has_gone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (sender, waiting) = mpsc::unbounded_channel();
    // No thread makes the changes.
    let (writer, bodies) = (Writer::of(Some(sender), Written::default(), 1), Arc::new(Semaphore::new(1)));
    let mut room = Room::default();
    room.grow(1, &[Arc::clone(&bodies)]).ok().unwrap();
    // A look for a place takes none.
    assert!(writer.look_for_place().is_ok() && writer.waiting() == 0);
    let held = Held::new(writer.enter().ok().unwrap(), room);
    runtime.block_on(async {
        let put = writer.put(put("a", "text"), held);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(1), put).await.is_err());
    });
    assert_eq!((writer.waiting(), bodies.available_permits()), (1, 0));
    assert_eq!(writer.enter().unwrap_err().status().as_u16(), 503);
    assert_eq!(writer.look_for_place().unwrap_err().status().as_u16(), 503);
    drop(waiting);
    assert_eq!((writer.waiting(), bodies.available_permits()), (0, 1));
    assert!(writer.look_for_place().is_ok());
    writer.end();
    assert_eq!(writer.look_for_place(), Err(Problem::ending()));
}

#[test]
fn a_queue_of_any_length_is_counted() {
    assert_eq!(Writer::of(None, Written::default(), usize::MAX).waiting(), 0);
}

#[test]
fn a_service_whose_writer_has_panicked_is_not_well() {
    let (sender, waiting) = mpsc::unbounded_channel();
    let writer = Writer::of(Some(sender), Written::default(), 1);
    assert!(writer.is_well());
    // A panic drops the receiver of the thread.
    drop(waiting);
    assert!(!writer.is_well());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // The client must not try again.
    let refused =
        runtime.block_on(writer.remove(Removing::Document("a".into(), None), StopToken::new(), held())).unwrap_err();
    assert_eq!(refused.status().as_u16(), 500);
}

#[test]
fn a_service_whose_database_refuses_changes_is_not_well() {
    let failed = || Error::Io { action: "write", path: "a".into(), source: std::io::ErrorKind::Other.into() };
    let of_request = || Error::NoSuchNumber { number: 1 };
    let written = Written::default();
    let writer = Writer::none(written.clone());
    written.note(&Err::<(), _>(of_request()));
    assert!(writer.is_well());
    written.note(&Err::<(), _>(failed()));
    written.note(&Err::<(), _>(of_request()));
    assert!(!writer.is_well() && !written.refused_within(Duration::ZERO));
    written.note(&Ok(()));
    assert!(writer.is_well());
    let stopped = Error::Store { action: "write", failure: StoreFailure::Stopped, source: "x".into() };
    written.note(&Err::<(), _>(stopped));
    assert!(written.refused_within(Duration::ZERO));
}

#[test]
fn a_failed_compaction_is_noted_and_a_stopped_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let database = Database::create(&path, Profile::PROSE).unwrap();
    let written = Written::default();
    let compact = |stop: &StopToken| {
        let (reply, mut outcome) = oneshot::channel();
        let (_sender, mut waiting) = mpsc::unbounded_channel();
        make(&database, Change::Compact(stop.clone(), Arc::default(), held(), reply), &mut waiting, &written);
        outcome.try_recv().unwrap().is_ok()
    };
    let stopped = StopToken::new();
    stopped.stop();
    assert!(!compact(&stopped) && !written.refused_within(REFUSED));
    assert!(compact(&StopToken::new()));
    // A compaction does not count as a commit.
    assert_eq!(written.commits.get(), 0);
    // The files of the database cannot be found.
    std::fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    assert!(!compact(&StopToken::new()) && written.refused_within(REFUSED));
}
