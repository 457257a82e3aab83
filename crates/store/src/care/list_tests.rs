//! Repair of stores with intact tables and damaged other files: lists of tables, logs, marks.
//!
//! No document has a file, so all restored rows come from tables and logs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::open::version_edit::Records;
use fpdb::maintenance::Verification;
use fpdb::{Database, Document, Error, IngestOptions, Profile, QueryOptions, QuerySource, Task};

const IN_SESSION: usize = 30;

fn text(document: usize) -> String {
    let word = |number: usize| ((document * 1000 + number) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..20).map(|number| format!("{:016x} ", word(number))).collect()
}

fn name(document: usize) -> String {
    format!("{document:03}.txt")
}

fn add(root: &Path, documents: std::ops::Range<usize>, removed: &[usize]) {
    let writer = Database::open_writer(root).unwrap();
    let some = documents.map(|document| Document::new(name(document), text(document)));
    let options = IngestOptions::default().store_text(true);
    writer.ingest_with(some, &options, &Task::new()).unwrap();
    writer.remove(&removed.iter().map(|&document| name(document)).collect::<Vec<_>>()).unwrap();
}

/// A database, and an earlier copy of it.
pub(super) struct Base {
    folder: tempfile::TempDir,
    pub(super) content: Content,
}

impl Base {
    /// Adds and removes documents in four sessions. The earlier copy has the first two sessions.
    pub(super) fn new(compacts: bool, ends_in_log: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        drop(Database::create(&root, Profile::named("words").unwrap()).unwrap());
        for session in 0..4 {
            let first = session * IN_SESSION;
            add(&root, first..first + IN_SESSION, &[first + 1, first / 2 + 2]);
            if session == 1 {
                copy(&root, &folder.path().join("earlier"));
            }
        }
        if compacts {
            Database::open_writer(&root).unwrap().compact(&Task::new()).unwrap();
        }
        if ends_in_log {
            add(&root, 4 * IN_SESSION..5 * IN_SESSION, &[7, 4 * IN_SESSION + 3]);
        } else {
            // Moves the log into tables.
            drop(Database::open_writer(&root).unwrap());
        }
        let content = Content::of(&root);
        Self { folder, content }
    }

    /// A merged database: its rows came in sorted files. Some documents were removed later.
    fn merged() -> Self {
        let base = Self::new(false, false);
        let root = base.folder.path().join("merged");
        let writer = Database::create(&root, Profile::named("words").unwrap()).unwrap();
        let other = Database::open(base.root()).unwrap();
        writer.merge(&other, &IngestOptions::default(), &Task::new()).unwrap();
        drop((writer, other));
        let earlier = base.folder.path().join("earlier");
        fs::remove_dir_all(&earlier).unwrap();
        copy(&root, &earlier);
        add(&root, 200..220, &[5, 11, 203]);
        fs::remove_dir_all(base.root()).unwrap();
        fs::rename(&root, base.root()).unwrap();
        let content = Content::of(&base.root());
        Self { content, ..base }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("db")
    }

    /// Copies the database, to damage the copy. Dropping the first part of the result removes the copy.
    pub(super) fn copied(&self) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        copy(&self.root(), &root);
        (folder, root)
    }

    /// The file of the earlier copy whose name begins or ends with `part`.
    fn earlier(&self, part: &str) -> PathBuf {
        file(&self.folder.path().join("earlier"), part)
    }
}

/// The documents of a database, and the documents that some queries find.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    documents: BTreeMap<u32, (String, u64, u64, Option<String>)>,
    answers: Vec<Vec<u32>>,
}

impl Content {
    pub(super) fn of(root: &Path) -> Self {
        let database = Database::open(root).unwrap();
        let mut documents = BTreeMap::new();
        database
            .for_each_document(|document| {
                let text = database.text_of(document.id)?.map(|text| String::from_utf8_lossy(&text.bytes).into_owned());
                documents.insert(document.id.0, (document.name, document.bytes, document.fingerprints, text));
                Ok::<_, Error>(())
            })
            .unwrap();
        let answers = (0..130).step_by(11).map(|document| {
            let query = [QuerySource::text(text(document))];
            let answers = database.query_each(&query, &QueryOptions::default(), &Task::new()).unwrap();
            answers[0].as_ref().unwrap().matches.iter().map(|found| found.id.0).collect()
        });
        Self { documents, answers: answers.collect() }
    }

    fn names(&self) -> BTreeSet<&str> {
        self.documents.values().map(|(name, ..)| name.as_str()).collect()
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// The files below a folder, with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => drop(found.insert(entry.path(), fs::read(entry.path()).unwrap())),
        }
    }
    found
}

/// The files of a store whose names begin or end with `part`.
pub(super) fn files_of(root: &Path, part: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(root.join("store")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(part) || name.ends_with(part)
        })
        .collect();
    paths.sort();
    paths
}

fn file(root: &Path, part: &str) -> PathBuf {
    files_of(root, part).pop().unwrap_or_else(|| panic!("no {part}"))
}

fn put(root: &Path, path: &Path) {
    fs::copy(path, root.join("store").join(path.file_name().unwrap())).unwrap();
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut content = fs::read(path).unwrap();
    change(&mut content);
    fs::write(path, content).unwrap();
}

fn remove(root: &Path, part: &str) {
    let found = files_of(root, part);
    assert!(!found.is_empty(), "{part}");
    found.iter().for_each(|path| fs::remove_file(path).unwrap());
}

fn repair(root: &Path) -> Result<Verification, Error> {
    let found = Database::builder().give_up_missing(true).repair(root, &Task::new())?;
    // A second verification finds no problem.
    assert_eq!(Database::open(root).unwrap().verify(&Task::new()).unwrap().problems, []);
    let again = Database::builder().repair(root, &Task::new()).unwrap();
    assert!(again.problems.is_empty() && again.repair.unwrap().damaged_store.is_none());
    Ok(found)
}

/// Damages a copy of a base, repairs it, and checks that exactly the same documents exist.
fn comes_back(base: &Base, what: &str, damage: impl FnOnce(&Path)) {
    let (_folder, root) = base.copied();
    damage(&root);
    let damaged = files(&root.join("store"));
    let found = repair(&root).unwrap_or_else(|error| panic!("{what}: {}", error.chain()));
    let repair = found.repair.unwrap();
    assert!(repair.is_complete() && repair.read_again.is_empty(), "{what}: {repair:?}");
    assert!(Content::of(&root) == base.content, "{what}: not what it was");
    match repair.damaged_store {
        // The engine does not notice this damage.
        None => assert_eq!(found.problems, [], "{what}"),
        Some(kept) => {
            assert!(!found.problems.is_empty(), "{what}");
            let strip = |files: &BTreeMap<PathBuf, Vec<u8>>, from: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
                files.iter().map(|(path, content)| (path.strip_prefix(from).unwrap().into(), content.clone())).collect()
            };
            let kept = PathBuf::from(kept);
            assert!(strip(&files(&kept), &kept) == strip(&damaged, &root.join("store")), "{what}: not kept as it was");
        }
    }
}

/// Tries all damage outside tables that loses no row. Tries one case in `every` of the frequent kinds.
fn try_all(every: usize) {
    let bases = [
        ("runs", Base::new(false, false)),
        ("compacted", Base::new(true, false)),
        ("log", Base::new(false, true)),
        ("compacted, log", Base::new(true, true)),
        ("merged", Base::merged()),
    ];
    let mut tried = 0;
    for (name, base) in &bases {
        let mut comes_back = |what: &str, is_many: bool, damage: &dyn Fn(&Path)| {
            tried += usize::from(is_many);
            if !is_many || tried % every == 0 {
                comes_back(base, &format!("{name}: {what}"), damage);
            }
        };
        comes_back("an earlier list", false, &|root| {
            remove(root, "MANIFEST");
            put(root, &base.earlier("MANIFEST"));
            put(root, &base.earlier("CURRENT"));
        });
        comes_back("an earlier list beside the last", true, &|root| {
            put(root, &base.earlier("MANIFEST"));
            put(root, &base.earlier("CURRENT"));
        });
        comes_back("an earlier list, no mark", true, &|root| {
            remove(root, "MANIFEST");
            put(root, &base.earlier("MANIFEST"));
            put(root, &base.earlier("CURRENT"));
            fs::remove_file(root.join("committed")).unwrap();
        });
        comes_back("CURRENT of an earlier list", true, &|root| put(root, &base.earlier("CURRENT")));
        for content in [&b""[..], b"\xff\0garbage", b"MANIFEST-", b"MANIFEST-000001\n", b"../x"] {
            let what = format!("CURRENT is {}", String::from_utf8_lossy(content));
            comes_back(&what, true, &|root| fs::write(file(root, "CURRENT"), content).unwrap());
        }
        comes_back("no CURRENT", true, &|root| remove(root, "CURRENT"));
        comes_back("no list", false, &|root| remove(root, "MANIFEST"));
        comes_back("no list and no CURRENT", true, &|root| {
            remove(root, "MANIFEST");
            remove(root, "CURRENT");
        });
        comes_back("a list of garbage", true, &|root| fs::write(file(root, "MANIFEST"), [0x5a; 999]).unwrap());
        comes_back("OPTIONS missing", true, &|root| remove(root, "OPTIONS"));
        comes_back("OPTIONS garbage", true, &|root| fs::write(file(root, "OPTIONS"), "garbage").unwrap());
        comes_back("IDENTITY missing", true, &|root| remove(root, "IDENTITY"));
        comes_back("IDENTITY of another", true, &|root| fs::write(file(root, "IDENTITY"), "garbage").unwrap());
        comes_back("only tables and logs", true, &|root| {
            ["MANIFEST", "CURRENT", "OPTIONS", "IDENTITY"].iter().for_each(|part| remove(root, part));
        });
        comes_back("only tables and logs, no mark", true, &|root| {
            ["MANIFEST", "CURRENT", "OPTIONS", "IDENTITY"].iter().for_each(|part| remove(root, part));
            fs::remove_file(root.join("committed")).unwrap();
        });
        let list = fs::read(file(&base.root(), "MANIFEST")).unwrap();
        let ends: Vec<usize> = Records::of(&list).records.iter().map(|record| record.end).collect();
        assert!(ends.len() > 10, "{name}: {} records", ends.len());
        for &end in &ends[..ends.len() - 1] {
            for length in [end, end + 1, end + 20] {
                comes_back(&format!("list cut at {length}"), true, &|root| {
                    change(&file(root, "MANIFEST"), |list| list.truncate(length));
                });
            }
        }
        for at in (0..list.len()).step_by(7) {
            comes_back(&format!("flipped bit at {at}"), true, &|root| {
                change(&file(root, "MANIFEST"), |list| list[at] ^= 1 << (at % 8));
            });
        }
    }
}

#[test]
fn whatever_happens_to_the_files_beside_them_what_is_in_tables_and_logs_comes_back() {
    try_all(67);
}

#[test]
#[ignore = "takes minutes; a part of it is run as whatever_happens_to_the_files_beside_them_what_is_in_tables_and_logs_comes_back"]
fn whatever_happens_to_any_byte_beside_them_what_is_in_tables_and_logs_comes_back() {
    try_all(1);
}

/// If a log is lost, the rows that only it held are lost, and the repair reports this. Rows in tables stay.
#[test]
fn a_lost_log_costs_what_it_held_whether_the_list_is_there_or_not() {
    for base in [Base::new(false, true), Base::new(true, true)] {
        for without_list in [false, true] {
            for keeps in [None, Some(1), Some(3)] {
                let (_folder, root) = base.copied();
                if without_list {
                    remove(&root, "MANIFEST");
                }
                match keeps {
                    None => remove(&root, ".log"),
                    Some(quarters) => change(&file(&root, ".log"), |log| log.truncate(log.len() * quarters / 4)),
                }
                let report = repair(&root).unwrap().repair.unwrap();
                let after = Content::of(&root);
                let (lost, back): (Vec<_>, Vec<_>) = (
                    base.content.names().difference(&after.names()).map(|name| name.to_string()).collect(),
                    after.names().difference(&base.content.names()).map(|name| name.to_string()).collect(),
                );
                assert!(lost.iter().all(|lost| *lost >= name(4 * IN_SESSION)), "{lost:?}");
                assert!(report.commits_lost > 0 && report.last_commit_documents.is_some(), "{report:?}");
                // These documents were removed by a commit that is lost.
                assert!(back.iter().all(|back| *back == name(7) || *back == name(4 * IN_SESSION + 3)), "{back:?}");
            }
        }
    }
}

/// A log of an earlier copy must not bring earlier versions of rows back.
#[test]
fn a_log_of_an_earlier_copy_does_not_hide_later_rows() {
    for base in [Base::new(false, false), Base::new(true, false)] {
        comes_back(&base, "list and log of an earlier copy", |root| {
            remove(root, "MANIFEST");
            remove(root, ".log");
            ["MANIFEST", "CURRENT", ".log"].iter().for_each(|part| put(root, &base.earlier(part)));
        });
        comes_back(&base, "log of an earlier copy, no list", |root| {
            remove(root, "MANIFEST");
            put(root, &base.earlier(".log"));
        });
    }
}

/// Tables that a compaction has replaced may still exist. Documents removed later must not come back.
#[test]
fn tables_that_a_compaction_has_replaced_bring_nothing_back() {
    let base = Base::new(false, false);
    let (_folder, root) = base.copied();
    Database::open_writer(&root).unwrap().compact(&Task::new()).unwrap();
    let compacted = Content::of(&root);
    assert!(compacted == base.content);
    for keeps_list in [true, false] {
        for keeps_mark in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let again = folder.path().join("db");
            copy(&root, &again);
            for old in files_of(&base.root(), ".sst") {
                put(&again, &old);
            }
            // The list names the removed tables. Without a list, the counts show which were replaced.
            match keeps_list {
                true => change(&file(&again, "MANIFEST"), |list| list.truncate(list.len() - 3)),
                false => remove(&again, "MANIFEST"),
            }
            if !keeps_mark {
                fs::remove_file(again.join("committed")).unwrap();
            }
            let what = format!("list {keeps_list}, mark {keeps_mark}");
            let report = repair(&again).unwrap().repair.unwrap();
            assert!(report.is_complete(), "{what}: {report:?}");
            assert!(Content::of(&again) == compacted, "{what}");
        }
    }
}

/// If nothing shows which of the tables belong together, the repair reports this.
#[test]
fn documents_that_may_have_been_removed_do_not_come_back_without_a_word() {
    let base = Base::new(false, false);
    let (_folder, root) = base.copied();
    Database::open_writer(&root).unwrap().compact(&Task::new()).unwrap();
    // These rows are later than the compaction, so the compacted state does not look like the latest one.
    add(&root, 300..310, &[301]);
    drop(Database::open_writer(&root).unwrap());
    let content = Content::of(&root);
    remove(&root, "MANIFEST");
    // Some of the replaced tables are back. No list says that they were removed.
    let old = files_of(&base.root(), ".sst").into_iter().step_by(3);
    old.for_each(|old| put(&root, &old));
    let found = repair(&root).unwrap();
    let after = Content::of(&root);
    let report = found.repair.unwrap();
    assert!(after.names().is_superset(&content.names()), "{report:?}");
    assert!(after == content || !report.is_complete(), "{report:?}");
}

/// A table of another store is left out. A damaged table loses its own rows only.
#[test]
fn without_a_list_a_foreign_table_is_left_out_and_a_damaged_one_costs_what_it_held() {
    let base = Base::new(false, false);
    let other = Base::new(false, false);
    let foreign = files_of(&other.root(), ".sst").into_iter().rev();
    let number = |path: &Path| path.file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap();
    let (_folder, root) = base.copied();
    remove(&root, "MANIFEST");
    let free = 1 + files_of(&root, ".sst").iter().map(|path| number(path)).max().unwrap();
    for (number, table) in (free..).zip(foreign.take(6)) {
        fs::copy(table, root.join("store").join(format!("{number:06}.sst"))).unwrap();
    }
    let found = repair(&root).unwrap();
    let said = found.problems.iter().filter(|problem| problem.detail.contains("was written in another store"));
    assert!(said.count() > 0, "{:?}", found.problems);
    let after = Content::of(&root);
    assert!(after.names().is_superset(&base.content.names()));
    // A table holds the records of one session, or of all if RocksDB has joined the tables.
    let mut joined = 0;
    for table in files_of(&base.root(), ".sst") {
        let (_folder, root) = base.copied();
        remove(&root, "MANIFEST");
        // Damages a block in the middle, or the end.
        let path = root.join("store").join(table.file_name().unwrap());
        let at = if number(&table).is_multiple_of(2) { 20 } else { fs::metadata(&path).unwrap().len() as usize - 20 };
        change(&path, |table| table[at] ^= 0x10);
        let report = repair(&root).unwrap().repair.unwrap();
        let after = Content::of(&root);
        let gone = base.content.names().difference(&after.names()).count();
        let back = after.names().difference(&base.content.names()).count();
        joined += usize::from(gone > IN_SESSION);
        let told = gone + back == 0 || !report.is_complete();
        assert!(joined <= 1 && told, "{}: {gone} lost, {back} came back, {report:?}", table.display());
    }
}

/// Opening such a store for writing would delete the tables that its list does not name.
#[test]
fn a_store_whose_list_does_not_name_all_tables_is_not_opened() {
    // The log is newer than the list, or there is no log.
    for base in [Base::new(true, false), Base::new(true, true), Base::new(false, true)] {
        for keeps_mark in [true, false] {
            let (_folder, root) = base.copied();
            remove(&root, "MANIFEST");
            put(&root, &base.earlier("MANIFEST"));
            put(&root, &base.earlier("CURRENT"));
            // All tables that the earlier list names exist.
            for old in files_of(&base.folder.path().join("earlier"), ".sst") {
                put(&root, &old);
            }
            if !keeps_mark {
                fs::remove_file(root.join("committed")).unwrap();
            }
            let before = files(&root.join("store"));
            for error in [Database::open(&root).err(), Database::open_writer(&root).err()] {
                assert!(matches!(error, Some(Error::TablesUnlisted { tables: 1.., .. })), "{error:?}");
            }
            assert!(files(&root.join("store")) == before, "mark {keeps_mark}");
        }
    }
}

#[test]
fn a_store_without_a_row_is_beyond_repair_and_stays_as_it_is() {
    let base = Base::new(true, false);
    let (_folder, root) = base.copied();
    for part in ["MANIFEST", ".sst", ".log"] {
        remove(&root, part);
    }
    let before = files(&root);
    let error = repair(&root).unwrap_err();
    assert!(matches!(error, Error::BeyondRepair { .. }), "{error}");
    let strip = |mut files: BTreeMap<PathBuf, Vec<u8>>| {
        files.remove(&root.join("lock"));
        files
    };
    assert!(strip(files(&root)) == strip(before));
}

/// If a repair is killed between its two renames, the next writer finishes it and keeps the damaged store.
#[test]
fn a_repair_that_was_killed_at_its_end_keeps_the_damaged_store() {
    let base = Base::new(false, false);
    let (folder, root) = base.copied();
    remove(&root, "MANIFEST");
    copy(&root, &folder.path().join("damaged"));
    repair(&root).unwrap();
    let done = Content::of(&root);
    // Restores the state between the two renames.
    fs::create_dir(root.join("repaired")).unwrap();
    fs::rename(root.join("store"), root.join("repaired/store")).unwrap();
    fs::rename(root.join("damaged-1"), root.join("damaged")).unwrap();
    fs::copy(folder.path().join("damaged/committed"), root.join("committed")).unwrap();
    drop(Database::open_writer(&root).unwrap());
    assert!(Content::of(&root) == done && done == base.content);
    assert!(root.join("damaged-1").is_dir() && !root.join("damaged").exists() && !root.join("repaired").exists());
    remove(&root, "CURRENT");
    let report = repair(&root).unwrap().repair.unwrap();
    assert!(report.damaged_store.unwrap().ends_with("damaged-2"));
}
