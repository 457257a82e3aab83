//! Repair of rows that the engine reads without an error and that contradict each other.

use std::path::Path;

use crate::codec::block::{self, Block};
use crate::codec::format::{
    BOILERPLATE, DIGESTS, DOCUMENTS, FILTERS, MAIN, NAMES, POSITIONS, POSTINGS, PROFILE_KEY, STATE_KEY, TOMBSTONES,
    chunk_key, digest_key, document_key, filter_key, kept_out_key, name_key, parse_posting_key, posting_key, run_key,
    source_key,
};
use crate::codec::records::{self, KeptOutRecord, RunRecord, SourceRecord, StateRecord};
use crate::open::commit_mark;
use crate::tests::{fingerprint, hash, record};
use crate::{Batch, Committer, DocumentRecord, NamePlace, Store, StoreOptions};
use fpdb::maintenance::{Repair, Verification};
use fpdb_host::progress::Task;
use fpdb_kernel::profile::Profile;

const DOCUMENTS_HELD: u64 = 20;

type TestFiles = Vec<(u32, DocumentRecord)>;

/// Creates a database of two runs. Its documents have no files, and one document is deleted.
fn make(root: &Path) -> TestFiles {
    let store = Store::create(root, &Profile::named("words").unwrap(), &StoreOptions::default()).unwrap();
    let mut committer = Committer::new(&store);
    for part in 0..2 {
        let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 30);
        for document in part * DOCUMENTS_HELD / 2..(part + 1) * DOCUMENTS_HELD / 2 {
            // More than one chunk of positions, and hashes that other documents have too.
            let places = (0..1500).map(|position| fingerprint(hash(document / 3 * 1000 + position), position));
            for some in places.collect::<Vec<_>>().chunks(1000) {
                batch.push(some.iter().copied()).unwrap();
            }
            batch.finish(record(document, 1500)).unwrap();
        }
        committer.commit(&store, &mut batch).unwrap();
    }
    let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 20);
    batch.delete(4, store.document(4).unwrap());
    committer.commit(&store, &mut batch).unwrap();
    documents(&store)
}

fn documents(store: &Store) -> TestFiles {
    let mut documents = Vec::new();
    store
        .for_each_document(|id, record| {
            assert_eq!(store.documents_named(&record.name).unwrap(), [id]);
            assert_eq!(store.documents_with(&record.digest).unwrap(), [id]);
            documents.push((id, record));
            Ok(true)
        })
        .unwrap();
    documents
}

/// Damages and repairs a database. Returns the result, and the documents before and after.
fn repaired(damage: impl FnOnce(&Store)) -> (Repair, TestFiles, TestFiles) {
    let (found, before, after) = repaired_with(damage, 0);
    (found.repair.unwrap(), before, after)
}

/// Like [`repaired`], with the mark `lost` commits ahead of the store.
fn repaired_with(damage: impl FnOnce(&Store), lost: u64) -> (Verification, TestFiles, TestFiles) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let before = make(&root);
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    damage(&store);
    let state = store.view().state.clone();
    drop(store);
    let counts = (lost == 0).then(|| state.counts());
    commit_mark::write(&root, state.commits + lost, counts, None).unwrap();
    let repaired = fpdb::Database::builder().repair(&root, &Task::new()).unwrap();
    assert!(!repaired.problems.is_empty(), "the damage was not seen");
    let store = Store::open_reader(&root, &StoreOptions::default()).unwrap();
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    let next = store.view().state().next_document;
    assert!(next == DOCUMENTS_HELD as u32 || lost > 0 && next > DOCUMENTS_HELD as u32, "ids are not used twice");
    assert!(store.view().state().commits > 3);
    let again = fpdb::Database::builder().repair(&root, &Task::new()).unwrap();
    assert_eq!((again.problems, again.repair), (vec![], Some(Repair::default())));
    (repaired, before, documents(&store))
}

/// Checks that a repair of this damage loses nothing.
fn comes_back(damage: impl FnOnce(&Store)) {
    let (repair, before, after) = repaired(damage);
    assert_eq!((repair.lost, repair.commits_lost), (vec![], 0));
    assert_eq!(after, before);
}

fn put(store: &Store, name: &'static str, key: &[u8], value: &[u8]) {
    store.engine.put_row(name, key, value);
}

fn delete(store: &Store, name: &'static str, key: &[u8]) {
    store.engine.delete_row(name, key);
}

/// The first row of a family.
fn first(store: &Store, name: &'static str) -> (Vec<u8>, Vec<u8>) {
    let mut rows = store.engine.rows(name, "read").unwrap();
    rows.seek_to_first();
    let (key, value) = rows.item().unwrap();
    (key.to_vec(), value.to_vec())
}

#[test]
fn names_and_digests_are_made_anew() {
    comes_back(|store| {
        delete(store, NAMES, &name_key("7.txt", 7));
        delete(store, DIGESTS, &digest_key(&8u128.to_be_bytes(), 8));
    });
    comes_back(|store| {
        put(store, NAMES, &name_key("nobody", 90), &[]);
        put(store, DIGESTS, &digest_key(&[9; 16], 4), &[]);
        put(store, NAMES, b"x", &[]);
    });
}

#[test]
fn stray_chunks_are_found_and_left_out() {
    for (key, said) in [
        (chunk_key(4, 1), "there is one of document 4, which has none"),
        (chunk_key(7, 2), "document 7 has chunk 2 of 2, counted from 0"),
        (chunk_key(7, u32::MAX), "document 7 has chunk 4294967295 of 2, counted from 0"),
    ] {
        let (found, before, after) = repaired_with(|store| put(store, POSITIONS, &key, &first(store, POSITIONS).1), 0);
        let problems: Vec<(&str, &str)> =
            found.problems.iter().map(|problem| (problem.what.as_str(), problem.detail.as_str())).collect();
        assert_eq!(problems, [(POSITIONS, said)]);
        assert_eq!(after, before);
    }
}

#[test]
fn problems_beyond_ten_thousand_are_counted() {
    let damage = |store: &Store| {
        let mut changes = store.engine.changes();
        (1_000..11_003).for_each(|id| changes.put(DIGESTS, digest_key(&[9; 16], id), []).unwrap());
        changes.write("add digests").unwrap();
    };
    let (found, before, after) = repaired_with(damage, 0);
    assert_eq!(found.problems.len(), 10_001);
    assert_eq!(found.problems[10_000].detail, "3 more problems were found, which are not listed");
    assert_eq!(after, before);
}

#[test]
fn stray_bytes_after_the_mark_go() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    make(&root);
    let mark = root.join("committed");
    let whole = std::fs::read(&mark).unwrap();
    std::fs::write(&mark, [&whole[..], b"\x80 stray \n"].concat()).unwrap();
    let repaired = fpdb::Database::builder().repair(&root, &Task::new()).unwrap();
    assert_eq!(repaired.problems, vec![]);
    assert_eq!(std::fs::read(&mark).unwrap().len(), whole.len());
    let store = Store::open_reader(&root, &StoreOptions::default()).unwrap();
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn postings_of_a_document_that_was_never_committed_are_found() {
    let damage = |store: &Store| {
        // One document of the last run gets a number that was never given.
        let (run, record) = store.view().runs[1].clone();
        let (key, value) = {
            let mut rows = store.engine.rows(POSTINGS, "read").unwrap();
            rows.seek(posting_key(run, 0, 0));
            let (key, value) = rows.item().unwrap();
            (key.to_vec(), value.to_vec())
        };
        let last_hash = parse_posting_key(&key).unwrap().1;
        let mut postings: Vec<_> = Block::decode(last_hash, &value).unwrap().postings().collect();
        for at in 0..postings.len() {
            if postings.get(at + 1).is_none_or(|next| next.hash != postings[at].hash) {
                postings[at].document = 90;
            }
        }
        let mut block = Vec::new();
        block::encode(&postings, &mut block);
        put(store, POSTINGS, &key, &block);
        let wrong = RunRecord { last_document: 90, ..record };
        store.engine.put_row(MAIN, &run_key(run), &records::encode(&wrong).unwrap());
    };
    let (found, ..) = repaired_with(damage, 0);
    let said = "there are some of document 90, which was never committed";
    assert_eq!(found.problems.iter().filter(|problem| problem.detail == said).count(), 1, "{:?}", found.problems);
}

/// A size that only damage can cause must neither allocate much memory nor take long.
#[test]
fn damaged_sizes_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    make(&folder.path().join("db"));
    let store = Store::open_writer(&folder.path().join("db"), &StoreOptions::default()).unwrap();
    for bytes in [u64::MAX, u64::MAX / 2, 1 << 40] {
        let record = DocumentRecord { bytes, stored_text: true, ..store.document(7).unwrap() };
        assert!(store.text(7, &record).unwrap_err().is_damage());
        let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 20);
        batch.delete(7, DocumentRecord { fingerprints: bytes, ..record });
        assert!(Committer::new(&store).commit(&store, &mut batch).unwrap_err().is_damage());
    }
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}

/// No run and no document has the last number, but a damaged key may name it.
#[test]
fn rows_of_the_last_number_are_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    let before = make(&root);
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    put(&store, POSTINGS, &posting_key(u32::MAX, u64::MAX, u32::MAX), b"?");
    put(&store, FILTERS, &filter_key(u32::MAX, 0), b"?");
    put(&store, POSITIONS, &chunk_key(u32::MAX, u32::MAX), b"?");
    store.discard_unfinished().unwrap();
    for name in [POSTINGS, FILTERS, POSITIONS] {
        let mut rows = store.engine.rows(name, "read").unwrap();
        rows.seek_to_last();
        assert!(rows.key().unwrap() < &u32::MAX.to_be_bytes()[..], "{name}");
    }
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    assert_eq!(documents(&store), before);
}

#[test]
fn sums_and_counts_are_made_anew() {
    let change = |store: &Store, change: fn(&mut StateRecord)| {
        let mut state = store.view().state.clone();
        change(&mut state);
        store.engine.put_row(MAIN, STATE_KEY, &records::encode(&state).unwrap());
    };
    comes_back(|store| change(store, |state| state.bytes += 1));
    comes_back(|store| change(store, |state| state.fingerprints -= 1));
    comes_back(|store| {
        let (run, record) = store.view().runs[0].clone();
        let wrong = RunRecord { postings: record.postings + 1, ..record };
        store.engine.put_row(MAIN, &run_key(run), &records::encode(&wrong).unwrap());
    });
    comes_back(|store| {
        let record = DocumentRecord { distinct: 3, ..store.document(5).unwrap() };
        put(store, DOCUMENTS, &document_key(5), &records::encode(&record).unwrap());
    });
    // A lost list of runs hides all postings.
    comes_back(|store| {
        for (run, _) in &store.view().runs {
            store.engine.delete_row(MAIN, &run_key(*run));
        }
    });
}

#[test]
fn contents_that_are_kept_out_stay_so_but_for_damaged_ones() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    make(&root);
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    let contents = [[1; 16], [2; 16]].map(|digest| (digest, KeptOutRecord { names: vec!["a".into()], since: 7 }));
    store.keep_out(&contents).unwrap();
    put(&store, MAIN, &kept_out_key(&[3; 16]), b"no record");
    put(&store, MAIN, b"kept-out?", b"");
    assert_eq!(store.verify(&Task::new()).unwrap().problems.len(), 3);
    drop(store);
    let repair = fpdb::Database::builder().repair(&root, &Task::new()).unwrap().repair.unwrap();
    assert!(repair.kept_out_salvaged == Some(3) && repair.sources_salvaged.is_none(), "{repair:?}");
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    // The third record has lost its names, but its key still has the digest.
    let nameless = ([3; 16], KeptOutRecord { names: vec![], since: 0 });
    assert_eq!(store.kept_out().unwrap(), [&contents[..], &[nameless]].concat());
    store.readmit(&[[1; 16], [3; 16]]).unwrap();
    assert_eq!(store.kept_out().unwrap(), contents[1..]);
}

/// A repair removes a stored document whose content is kept out only if a removed document may have come
/// back.
#[test]
fn a_repair_removes_what_is_kept_out_only_if_a_removal_may_be_lost() {
    let after = |damage: fn(&Store), lost: u64| {
        let keep_out = |store: &Store| {
            let others = (0..100).map(|number| format!("other {number}")).collect();
            let content = |id: u128, names| (id.to_be_bytes(), KeptOutRecord { names, since: 7 });
            store.keep_out(&[content(7, vec!["7.txt".into()]), content(8, others)]).unwrap();
            damage(store);
        };
        let (found, before, after) = repaired_with(keep_out, lost);
        let repair = found.repair.unwrap();
        assert_eq!(before.len() - after.len(), repair.kept_out_again.len());
        (repair.is_complete(), repair.kept_out_again, repair.kept_out_copies)
    };
    let name = |store: &Store| delete(store, NAMES, &name_key("9.txt", 9));
    let names = |some: &[&str]| some.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(after(name, 0), (true, names(&[]), names(&["7.txt", "8.txt"])));
    let removed = (false, names(&["7.txt"]), names(&["8.txt"]));
    assert_eq!(after(name, 1), removed);
    assert_eq!(after(|store| put(store, TOMBSTONES, &[0, 0], b"no bitmap"), 0), removed);
}

#[test]
fn remembered_sources_are_kept_but_for_damaged_ones() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    make(&root);
    let sources = ["/a", "/b"].map(|path| SourceRecord { path: path.into(), settings: vec!["--as=text".into()] });
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    store.remember_sources(&sources).unwrap();
    put(&store, MAIN, &source_key("/c"), b"no record");
    assert_eq!(store.verify(&Task::new()).unwrap().problems.len(), 1);
    drop(store);
    let found = fpdb::Database::builder().repair(&root, &Task::new()).unwrap();
    assert_eq!((found.problems.len(), found.repair.unwrap().sources_salvaged), (1, Some(2)));
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
    assert_eq!(store.sources().unwrap(), sources);
    // A source without settings is forgotten. If nothing changes, nothing is written.
    let commits = store.view().state().commits;
    store.remember_sources(&sources).unwrap();
    assert_eq!(store.view().state().commits, commits);
    store.remember_sources(&[SourceRecord { path: "/a".into(), settings: vec![] }]).unwrap();
    assert_eq!(store.sources().unwrap(), sources[1..]);
    assert_eq!((store.source("/a").unwrap(), store.source("/b").unwrap().as_ref()), (None, Some(&sources[1])));
}

#[test]
fn the_places_of_names_are_listed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("db");
    make(&root);
    let place = NamePlace::of("/h/a/x.txt", "a/x.txt");
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    let mut batch = Batch::new(store.profile(), store.view().state().next_document, 1 << 20);
    batch.place(place.clone());
    batch.finish(record(99, 0)).unwrap();
    Committer::new(&store).commit(&store, &mut batch).unwrap();
    assert_eq!(store.name_places().unwrap(), Some(vec![place.clone()]));
    put(&store, MAIN, b"place/", b"");
    assert!(store.name_places().unwrap_err().is_damage());
    assert_eq!(store.verify(&Task::new()).unwrap().problems.len(), 1);
    drop(store);
    fpdb::Database::builder().repair(&root, &Task::new()).unwrap();
    // The repaired database has documents whose places are not listed yet.
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    assert_eq!(store.name_places().unwrap(), None);
    store.complete_name_places(&[place.clone()].into()).unwrap();
    assert_eq!(store.name_places().unwrap(), Some(vec![place]));
    assert_eq!(store.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn a_lost_profile_is_taken_from_the_marker() {
    comes_back(|store| store.engine.delete_row(MAIN, PROFILE_KEY));
}

#[test]
fn sets_and_filters_are_made_anew() {
    comes_back(|store| put(store, TOMBSTONES, &[0, 0], b"no bitmap"));
    comes_back(|store| {
        let mut set = Vec::new();
        [1u32, 2].into_iter().collect::<roaring::RoaringBitmap>().serialize_into(&mut set).unwrap();
        put(store, BOILERPLATE, &[0, 0], &set);
    });
    comes_back(|store| delete(store, FILTERS, &first(store, FILTERS).0));
    comes_back(|store| {
        let (key, mut filter) = first(store, FILTERS);
        let last = filter.len() - 1;
        filter[20..last].fill(0x5a);
        put(store, FILTERS, &key, &filter);
    });
}

#[test]
fn a_record_of_a_deleted_document_goes() {
    comes_back(|store| put(store, DOCUMENTS, &document_key(4), &records::encode(&record(4, 1500)).unwrap()));
    comes_back(|store| put(store, DOCUMENTS, &document_key(400), &records::encode(&record(400, 1500)).unwrap()));
}

#[test]
fn documents_whose_rows_are_gone_are_listed_and_the_others_stay() {
    let lost_by = |damage: &dyn Fn(&Store), lost: &[u32], unread: bool| {
        let (repair, before, after) = repaired(damage);
        let names: Vec<Option<String>> = repair.lost.iter().map(|lost| lost.name.clone()).collect();
        assert_eq!(names, lost.iter().map(|id| Some(format!("{id}.txt"))).collect::<Vec<_>>());
        let reason = if unread { "its record cannot be read" } else { "it was not read from a file" };
        assert!(repair.lost.iter().all(|lost| lost.reason == reason), "{:?}", repair.lost);
        let stays = |document: &&(u32, DocumentRecord)| !lost.contains(&document.0);
        assert_eq!(after, before.iter().filter(stays).cloned().collect::<Vec<_>>());
    };
    lost_by(&|store| delete(store, POSITIONS, &chunk_key(6, 1)), &[6], false);
    lost_by(&|store| put(store, POSITIONS, &chunk_key(9, 0), &[1, 2, 3]), &[9], false);
    lost_by(&|store| put(store, DOCUMENTS, &document_key(11), b"\x01?"), &[11], true);
    lost_by(&|store| delete(store, DOCUMENTS, &document_key(12)), &[12], true);
}

#[test]
fn a_lost_block_of_postings_costs_only_the_documents_it_held() {
    let (repair, before, after) = repaired(|store| delete(store, POSTINGS, &first(store, POSTINGS).0));
    assert!(!repair.lost.is_empty() && repair.lost.len() < before.len(), "{:?}", repair.lost);
    assert_eq!(after.len() + repair.lost.len(), before.len());
}

/// The store is an older copy, and the mark names a later commit.
#[test]
fn what_an_older_copy_holds_is_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (root, copy) = (folder.path().join("db"), folder.path().join("copy"));
    let before = make(&root);
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(root.join("store")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let store = Store::open_writer(&root, &StoreOptions::default()).unwrap();
    let next = store.view().state().next_document;
    let (mut committer, mut batch) = (Committer::new(&store), Batch::new(store.profile(), next, 1 << 20));
    batch.delete(7, store.document(7).unwrap());
    batch.push([fingerprint(hash(1), 1)].into_iter()).unwrap();
    batch.finish(record(77, 1)).unwrap();
    committer.commit(&store, &mut batch).unwrap();
    drop(store);
    std::fs::remove_dir_all(root.join("store")).unwrap();
    std::fs::rename(&copy, root.join("store")).unwrap();
    let repair = fpdb::Database::builder().repair(&root, &Task::new()).unwrap();
    let found = repair.repair.unwrap();
    assert_eq!((found.commits_lost, found.last_commit_documents), (1, Some(before.len() as u64)));
    let details: Vec<&str> = repair.problems.iter().map(|problem| problem.detail.as_str()).collect();
    let said = "the database goes back to commit 3; commits lost: 1; documents that they added: 1, removed: 1 (a replaced one \
                counts as both); only the documents below can be named";
    assert!(details.contains(&said), "{details:?}");
    let store = Store::open_reader(&root, &StoreOptions::default()).unwrap();
    assert_eq!(documents(&store), before);
    // The id from the lost commit is not used again.
    assert_eq!(store.view().state().next_document, next + 1);
}

/// Some rows of a later commit moved into tables. Then the log with its other rows was lost.
#[test]
fn rows_of_lost_commits_are_left_out_where_a_whole_commit_is_left() {
    let (found, before, after) = repaired_with(
        |store| store.engine.put_row(DOCUMENTS, &document_key(25), &records::encode(&record(25, 9)).unwrap()),
        1,
    );
    assert_eq!(after, before);
    let repair = found.repair.unwrap();
    let lost: Vec<(Option<&str>, &str)> =
        repair.lost.iter().map(|lost| (lost.name.as_deref(), lost.reason.as_str())).collect();
    assert_eq!(lost, [(Some("25.txt"), "the commit that added it is lost")]);
    // A row of the last readable commit is missing too, so nothing shows which rows belong together.
    let (found, ..) = repaired_with(|store| store.engine.delete_row(DOCUMENTS, &document_key(9)), 1);
    let mixed = "what is left comes from several commits: which documents the last one had cannot be known";
    assert!(found.problems.iter().any(|problem| problem.detail == mixed), "{:?}", found.problems);
}

#[test]
fn a_name_lost_with_its_record_is_counted() {
    let (repair, before, after) = repaired(|store| {
        delete(store, DOCUMENTS, &document_key(3));
        delete(store, NAMES, &name_key("3.txt", 3));
    });
    assert_eq!((repair.lost.len(), &repair.lost[0].name), (1, &None));
    assert_eq!(after.len() + 1, before.len());
}
