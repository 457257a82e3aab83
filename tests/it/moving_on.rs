//! Moving on: a reader moves to the last commit of a writer in another process or handle. If the folder of
//! the database is gone, the reader returns an error.

use std::fs;
use std::path::Path;

use fpdb::{Database, DatabaseWriter, Document, Error, IngestOptions, Profile, Task};
use tempfile::TempDir;

fn add(writer: &DatabaseWriter, name: &str) {
    let document = Document::new(name, format!("the text of {name}, long enough to have some fingerprints of its own"));
    writer.ingest_with([document], &IngestOptions::default().store_text(true), &Task::new()).unwrap();
}

fn documents(database: &Database) -> u64 {
    database.stats().unwrap().documents
}

#[test]
fn a_reader_moves_on_beside_a_writer() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("db");
    let writer = Database::create(&path, Profile::named("prose").unwrap()).unwrap();
    let mut reader = Database::builder().threads(2).open(&path).unwrap();
    assert!(reader.refreshed().unwrap().is_none(), "there is no commit yet");
    for count in 1..=20 {
        add(&writer, &format!("d{count}"));
        let before = (documents(&reader), reader.commit_id().unwrap());
        let newer = reader.refreshed().unwrap().expect("a new commit");
        assert_eq!((documents(&reader), reader.commit_id().unwrap()), before, "the old handle stays where it was");
        assert_eq!((documents(&newer), newer.commit_id().unwrap()), (count, writer.commit_id().unwrap()));
        assert!(newer.refreshed().unwrap().is_none() && writer.reader().refreshed().unwrap().is_none());
        reader = newer;
    }
    // A removal and a compaction are commits too. A reader that was opened without a writer sees the commits
    // of the next writer.
    writer.remove(&["d1"]).unwrap();
    reader = reader.refreshed().unwrap().expect("a removal");
    assert_eq!(documents(&reader), 19);
    drop(writer);
    let alone = Database::open(&path).unwrap();
    assert!(alone.refreshed().unwrap().is_none() && reader.refreshed().unwrap().is_none());
    let writer = Database::open_writer(&path).unwrap();
    writer.compact(&Task::new()).unwrap();
    add(&writer, "last");
    for reader in [alone, reader] {
        assert_eq!(documents(&reader.refreshed().unwrap().expect("a commit of the second writer")), 20);
    }
}

#[test]
fn a_folder_that_is_gone_is_no_damage() {
    let profile = Profile::named("prose").unwrap();
    for is_replaced in [false, true] {
        let folder = TempDir::new().unwrap();
        let (path, moved) = (folder.path().join("db"), folder.path().join("moved"));
        let writer = Database::create(&path, profile).unwrap();
        add(&writer, "a");
        let reader = Database::open(&path).unwrap();
        fs::rename(&path, &moved).unwrap();
        if is_replaced {
            let other = folder.path().join("other");
            add(&Database::create(&other, profile).unwrap(), "other");
            fs::rename(other, &path).unwrap();
        }
        // An open reader can still read.
        assert_eq!(reader.document(fpdb::DocId(0)).unwrap().name, "a");
        let document = || Document::new("b", "another text of some length, which cannot be stored");
        let errors = [
            writer.ingest_with([document()], &IngestOptions::default(), &Task::new()).err(),
            writer.compact(&Task::new()).err(),
            writer.remove(&["a"]).err(),
            reader.stats().err(),
        ];
        let told: Vec<_> = errors.iter().flatten().collect();
        assert!(told.len() >= 3, "a writer says so each time: {errors:?}");
        for error in &told {
            assert!(matches!(error, Error::FolderGone { .. }), "{error:?}");
            assert!(!error.hint().unwrap().contains("disk"), "{error:?}");
        }
        match reader.refreshed() {
            Err(Error::NoDatabase { .. }) => assert!(!is_replaced && !path.exists(), "nothing is made there"),
            newer => {
                let newer = newer.unwrap().expect("the other database");
                assert_eq!(newer.document(fpdb::DocId(0)).unwrap().name, "other");
            }
        }
        drop((writer, reader));
        assert_eq!(documents(&Database::open(&moved).unwrap()), 1, "nothing was lost");
    }
}

/// The folders stay, so only their contents show that the database is another one.
#[test]
fn a_database_that_is_replaced_in_its_folder_is_another_one() {
    let profile = Profile::named("prose").unwrap();
    let make = |path: &Path, name: &str, commits| {
        let writer = Database::create(path, profile).unwrap();
        (0..commits).for_each(|number| add(&writer, &format!("{name}{number}")));
    };
    for commits in [1, 3, 4, 5] {
        let folder = TempDir::new().unwrap();
        let (path, other) = (folder.path().join("db"), folder.path().join("other"));
        make(&path, "a", 4);
        make(&other, "b", commits);
        let reader = Database::open(&path).unwrap();
        assert!(reader.refreshed().unwrap().is_none());
        for (from, to) in [(other.join("store"), path.join("store")), (other, path)] {
            let files = |folder: &Path| {
                let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
                entries.filter(|path| path.is_file()).collect::<Vec<_>>()
            };
            files(&to).iter().for_each(|file| fs::remove_file(file).unwrap());
            for file in files(&from) {
                fs::rename(&file, to.join(file.file_name().unwrap())).unwrap();
            }
        }
        let newer = reader.refreshed().unwrap().expect("another database");
        assert_eq!((newer.document(fpdb::DocId(0)).unwrap().name, documents(&newer)), ("b0".to_owned(), commits));
        assert!(newer.refreshed().unwrap().is_none());
    }
}
