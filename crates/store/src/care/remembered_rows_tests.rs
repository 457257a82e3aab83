//! Damage to the rows that cannot be rebuilt from other rows, in each place of the table that holds them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::codec::format::{MAIN, STORE, kept_out_key};
use crate::codec::records::{KeptOutRecord, SourceRecord};
use crate::engine::{Access, Engine};
use crate::open::files;
use crate::{Store, StoreOptions};
use fpdb::maintenance::Repair;
use fpdb::{Database, Document, Profile};
use fpdb_host::progress::Task;
use fpdb_kernel::document::Digest;

const CONTENTS: u8 = 40;

fn contents() -> Vec<(Digest, KeptOutRecord)> {
    let content = |number: u8| {
        let names = vec![format!("mails/{number}.eml")];
        (xxhash_rust::xxh3::xxh3_128(&[number]).to_be_bytes(), KeptOutRecord { names, since: 1_700_000_000 })
    };
    let mut contents: Vec<_> = (0..CONTENTS).map(content).collect();
    contents.sort_unstable_by_key(|content| content.0);
    contents
}

fn sources() -> Vec<SourceRecord> {
    let source = |number: u8| SourceRecord {
        path: format!("/data/{number:02}"),
        settings: vec![r#"{"keep_fields":["from","to"]}"#.into()],
    };
    (0..10).map(source).collect()
}

/// A database with such rows in one table.
fn make(root: &Path) {
    let documents = (0..5).map(|number| Document::new(format!("{number}.txt"), format!("the text of number {number}")));
    let database = Database::create(root, Profile::PROSE).unwrap();
    database.ingest(documents).unwrap();
    drop(database);
    let store = open(root);
    store.keep_out(&contents()).unwrap();
    store.keep_out(&[([0xee; 16], KeptOutRecord { names: vec![], since: 1 })]).unwrap();
    store.remember_sources(&sources()).unwrap();
    store.note_assembled(&[7; 16]).unwrap();
    store.engine.move_rows(MAIN);
    // A later table lets this content in again.
    store.readmit(&[[0xee; 16]]).unwrap();
    drop(store);
    drop(open(root));
    assert_eq!(tables(root).len(), 2);
}

fn open(root: &Path) -> Store {
    Store::open_writer(root, &StoreOptions::default()).unwrap()
}

/// The tables of the main family, oldest first.
fn tables(root: &Path) -> Vec<PathBuf> {
    let store = root.join(STORE);
    let engine = Engine::open(&store, Access::ReadDamaged, 1 << 20).map_err(|error| error.during("read")).unwrap();
    let mut numbers: Vec<u64> =
        engine.tables().unwrap().iter().filter(|table| table.family == MAIN).map(|table| table.number).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| store.join(format!("{number:06}.sst"))).collect()
}

/// Damages a file of a copy of the database and repairs the copy.
fn repaired(base: &Path, damage: impl FnOnce(&Path)) -> (Repair, Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    copy(base, &root);
    damage(&root);
    let found = Database::builder().repair(&root, &Task::new()).unwrap();
    assert!(!found.problems.is_empty(), "the damage was not seen");
    (found.repair.unwrap(), open(&root), folder)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

fn flip(path: &Path, at: impl FnOnce(&[u8]) -> usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at(&bytes);
    bytes[at] ^= 4;
    fs::write(path, bytes).unwrap();
}

/// The offset of some bytes.
fn offset(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|bytes| bytes == wanted).unwrap()
}

/// The salvaged numbers of contents that are kept out, of sources and of builds.
fn salvaged(repair: &Repair) -> [Option<u64>; 3] {
    [repair.kept_out_salvaged, repair.sources_salvaged, repair.assembled_salvaged]
}

#[test]
fn rows_in_whole_blocks_are_kept_whatever_else_of_their_table_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("db");
    make(&base);
    let table = tables(&base).remove(0);
    let name = table.strip_prefix(&base).unwrap().to_owned();
    type Place = fn(&[u8]) -> usize;
    // All rows are readable. The last value is true if the file still shows that no further row is lost.
    let places: [(&str, Place, bool); 5] = [
        ("a value of the properties", |bytes| offset(bytes, b".db.identity") + 20, true),
        ("the name of the number of rows", |bytes| offset(bytes, b"entries") + 1, false),
        ("the index", |bytes| offset(bytes, b"rocksdb.") - 20, true),
        ("the footer", |bytes| bytes.len() - 50, true),
        ("the part of the footer that checksums need", |bytes| bytes.len() - 44, false),
    ];
    for (what, at, complete) in places {
        let (repair, store, _folder) = repaired(&base, |root| flip(&root.join(&name), at));
        assert_eq!(store.kept_out().unwrap(), contents(), "{what}");
        assert_eq!(store.sources().unwrap(), sources(), "{what}");
        assert!(store.has_assembled(&[7; 16]).unwrap(), "{what}");
        let roots = complete.then(|| [base.canonicalize().unwrap()].into());
        assert_eq!(store.former_roots().unwrap(), roots, "{what}");
        let expected = if complete { [None; 3] } else { [Some(40), Some(10), Some(1)] };
        assert_eq!(salvaged(&repair), expected, "{what}");
        assert_eq!(repair.is_complete(), complete, "{what}");
    }
}

#[test]
fn a_flipped_bit_in_a_block_costs_few_of_its_rows_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("db");
    make(&base);
    let table = tables(&base).remove(0);
    let name = table.strip_prefix(&base).unwrap().to_owned();
    let key = kept_out_key(&contents()[20].0);
    for at in [
        // Damage in the name of a content, in the digest of a content, and in the settings of a source.
        (|bytes: &[u8], _: &[u8]| offset(bytes, b"mails/17") + 3) as fn(&[u8], &[u8]) -> usize,
        |bytes, key| offset(bytes, &key[10..]) + 3,
        |bytes, _| offset(bytes, b"keep_fields"),
    ] {
        let (repair, store, _folder) = repaired(&base, |root| flip(&root.join(&name), |bytes| at(bytes, &key)));
        let digests: Vec<Digest> = store.kept_out().unwrap().into_iter().map(|content| content.0).collect();
        let lost = contents().iter().filter(|content| !digests.contains(&content.0)).count();
        assert!(lost <= 1, "{lost} lost");
        assert!(!digests.contains(&[0xee; 16]), "a content that was let in again");
        assert!(sources().len() - store.sources().unwrap().len() <= 1);
        assert!(salvaged(&repair)[0].is_some_and(|kept| kept >= 39) && !repair.is_complete(), "{repair:?}");
    }
}

#[test]
fn what_a_missing_or_cut_table_held_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("db");
    make(&base);
    let table = tables(&base).remove(0);
    let name = table.strip_prefix(&base).unwrap().to_owned();
    let (repair, store, _folder) = repaired(&base, |root| fs::remove_file(root.join(&name)).unwrap());
    assert_eq!((salvaged(&repair), store.kept_out().unwrap()), ([Some(0); 3], vec![]));
    assert!(!repair.is_complete());
    let (repair, store, _folder) = repaired(&base, |root| {
        let bytes = fs::read(root.join(&name)).unwrap();
        fs::write(root.join(&name), &bytes[..bytes.len() - 500]).unwrap();
    });
    assert_eq!(store.kept_out().unwrap(), contents());
    assert_eq!(salvaged(&repair), [Some(40), Some(10), Some(1)]);
    // The same, and the list of tables is lost too.
    let (repair, store, _folder) = repaired(&base, |root| {
        let bytes = fs::read(root.join(&name)).unwrap();
        fs::write(root.join(&name), &bytes[..bytes.len() - 500]).unwrap();
        let names = files::names(&root.join(STORE)).unwrap();
        let list = names.iter().find(|name| files::list_number(name).is_some()).unwrap();
        fs::remove_file(root.join(STORE).join(list)).unwrap();
    });
    let kept: Vec<Digest> = store.kept_out().unwrap().into_iter().map(|content| content.0).collect();
    assert!(contents().iter().all(|content| kept.contains(&content.0)));
    assert!(salvaged(&repair)[0].is_some());
}

#[test]
fn a_damaged_record_of_the_log_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("db");
    make(&base);
    // Two commits in the log, the first of them damaged.
    let store = open(&base);
    let later =
        [[0xaa; 16], [0xbb; 16]].map(|digest| (digest, KeptOutRecord { names: vec!["later".into()], since: 2 }));
    store.keep_out(&later[..1]).unwrap();
    store.keep_out(&later[1..]).unwrap();
    drop(store);
    let log = |root: &Path| {
        let store = root.join(STORE);
        let mut logs: Vec<String> = files::names(&store).unwrap().into_iter().filter(|it| files::is_log(it)).collect();
        logs.sort_unstable();
        store.join(logs.pop().unwrap())
    };
    let (repair, store, _folder) = repaired(&base, |root| flip(&log(root), |bytes| offset(bytes, b"later") + 1));
    assert!(salvaged(&repair)[0].is_some_and(|kept| kept >= 41), "{repair:?}");
    let kept = store.kept_out().unwrap();
    for content in &later {
        assert!(kept.iter().any(|kept| kept.0 == content.0), "{kept:?}");
    }
}
