//! Tables that a crash has left: the list of tables does not name them, and the store opens all the same.

use std::fs;
use std::path::Path;

use super::list_tests::{Base, Content, files_of};
use fpdb::{Database, Error, Task};

/// A number that no table of these stores has.
const FREE: &str = "009999.sst";

#[test]
fn a_table_that_no_list_names_keeps_no_store_from_opening() {
    for base in [Base::new(false, false), Base::new(true, true)] {
        let tables = files_of(&base.copied().1, ".sst").len();
        assert!(tables > 5);
        for number in 0..tables {
            for keeps_mark in [true, false] {
                let (_folder, root) = base.copied();
                let tables = files_of(&root, ".sst");
                let left = root.join("store").join(FREE);
                // The table repeats rows of the log or of other tables, or its end is missing.
                let table = fs::read(&tables[number]).unwrap();
                fs::write(&left, &table[..table.len() / (1 + number % 2)]).unwrap();
                if !keeps_mark {
                    fs::remove_file(root.join("committed")).unwrap();
                }
                // Without a mark, the table could hold the only copy of its rows.
                if !keeps_mark && number % 2 == 0 {
                    assert!(is_refused_and_comes_back(&root, &base), "table {number}");
                    continue;
                }
                assert!(Content::of(&root) == base.content, "table {number}, mark {keeps_mark}");
                assert!(left.exists(), "a reader removes nothing");
                drop(Database::open_writer(&root).unwrap());
                assert!(Content::of(&root) == base.content && !left.exists(), "table {number}, mark {keeps_mark}");
            }
        }
    }
}

/// True if the database can be opened neither for reading nor for writing, a repair restores all of it, and
/// each table is kept.
fn is_refused_and_comes_back(root: &Path, base: &Base) -> bool {
    let tables = files_of(root, ".sst").len();
    let errors = [Database::open(root).err(), Database::open_writer(root).err()];
    let is_refused = errors.iter().all(|error| matches!(error, Some(Error::TablesUnlisted { tables: 1, .. })));
    let repair = Database::builder().repair(root, &Task::new()).unwrap().repair.unwrap();
    let kept = fs::read_dir(repair.damaged_store.as_ref().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let kept = kept.filter(|path| path.extension().is_some_and(|extension| extension == "sst")).count();
    is_refused && kept == tables && repair.is_complete() && Content::of(root) == base.content
}

/// A repair writes a mark of the new store's list of tables. So the store opens although a crash left a table
/// in its folder.
#[test]
fn a_repaired_store_brings_its_mark() {
    let base = Base::new(true, false);
    let (_folder, root) = base.copied();
    files_of(&root, "MANIFEST").iter().for_each(|list| fs::remove_file(list).unwrap());
    let kept = fs::read(root.join("committed")).unwrap();
    Database::builder().repair(&root, &Task::new()).unwrap();
    let own = fs::read(root.join("committed")).unwrap();
    assert!(own != kept);
    let list = files_of(&root, "MANIFEST").pop().unwrap();
    let number = list.file_name().unwrap().to_str().unwrap().trim_start_matches("MANIFEST-").to_owned();
    assert!(String::from_utf8(own).unwrap().contains(&format!("tables {number:0>20} ")), "{number}");
    let table = files_of(&root, ".sst").pop().unwrap();
    fs::copy(table, root.join("store").join(FREE)).unwrap();
    assert!(Content::of(&root) == base.content);
}
