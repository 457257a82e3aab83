//! Found tables: reads the existing tables in the folder of a store, and makes a list of them.
//!
//! RocksDB's list of tables can be lost. Each table that the engine wrote names its column family. An
//! ingested table names none, but its rows show the family. If two tables have versions of a row, the table
//! with the higher last sequence number has the later version. Tables with overlapping keys go to different
//! levels, the later ones above, so that the engine reads few tables for a row.
//!
//! A table that a list names as removed is left out. Tables do not show whether a compaction has replaced
//! them. [`FoundTables::all`] lists all tables, and [`FoundTables::not_replaced`] omits tables that a later
//! table may have replaced. The rows decide which list is right ([`crate::care::salvage`]).
//!
//! RocksDB's own repair of a lost list is not used. It puts ingested tables, which hold postings and
//! positions, into the default family, and brings back tables that a fold has replaced.
//!
//! 54 kinds of damage to the files beside the tables were tried on four databases, with and without a log,
//! compacted or not. RocksDB's repair brought back all documents in 40 of 216 cases, this repair in 208. In
//! the other 8 cases, rows of the log were lost.

use std::collections::BTreeMap;
use std::path::Path;

use crate::care::salvage::{ACTION, PART_CACHE_BYTES};
use crate::codec::block::Block;
use crate::codec::filter::Filter;
use crate::codec::format::{
    DIGESTS, DOCUMENTS, FAMILIES, FILTERS, MAIN, NAMES, POSITIONS, POSTINGS, TEXTS, parse_name_key, parse_posting_key,
};
use crate::codec::positions;
use crate::codec::records::{self, DocumentRecord};
use crate::engine::table_file::{self, TableFacts};
use crate::engine::{Access, Engine, Row};
use crate::open::files;
use crate::open::linked_store::LinkedStore;
use crate::open::manifest;
use crate::open::version_edit::{ListedTable, list};
use crate::texts;
use fpdb_host::error::{Error, Result, StoreFailure};
use fpdb_host::progress::Task;

/// The name of a new list, and the content of `CURRENT` that names it.
pub(super) const LIST_NAME: &str = "MANIFEST-000001";
pub(super) const CURRENT_OF_LIST: &[u8] = b"MANIFEST-000001\n";

/// The bounds of all possible keys.
const LEAST_KEY: &[u8] = &[];
const GREATEST_KEY: &[u8] = &[0xff; 24];

/// The families whose rows are written before the commit that names them. Usually each of these rows has one
/// version. After a failed commit a row can have two, and the ingested table then has the later one.
const WRITTEN_FIRST: [&str; 4] = [POSTINGS, FILTERS, POSITIONS, TEXTS];

/// An ingested table of these families counts as later than all other tables. Its last change is this number
/// plus its table number.
const LATE_CHANGE: u64 = 1 << 54;

/// Number of rows that are read to recognise the family of a table.
const ROWS_OF_SAMPLE: usize = 16;

/// A table of a store's folder.
struct FoundTable {
    number: u64,
    bytes: u64,
    family: &'static str,
    /// Its first and last key. The bounds of all keys if unknown.
    keys: (Vec<u8>, Vec<u8>),
    last_change: u64,
    /// True if the engine wrote the table. False if the table was ingested.
    is_own: bool,
}

/// The tables of a store's folder.
pub(super) struct FoundTables {
    tables: Vec<FoundTable>,
    /// The engine's name of the store, according to most tables.
    pub(super) store: Option<String>,
    /// The omitted tables, in words.
    pub(super) findings: Vec<String>,
}

/// A new list of tables.
pub(super) struct MadeList {
    pub(super) content: Vec<u8>,
    /// The number of levels, which the engine needs to open the list.
    pub(super) levels: u32,
    pub(super) tables: usize,
}

impl FoundTables {
    /// Reads all tables in the folder of a store.
    pub(super) fn of(store: &Path, task: &Task<'_>) -> Result<Self> {
        let named = manifest::named_tables(store)?;
        let mut files: Vec<(u64, String)> =
            files::names(store)?.into_iter().filter_map(|name| Some((files::table_number(&name)?, name))).collect();
        files.sort_unstable();
        let (mut facts, mut findings) = (Vec::new(), Vec::new());
        for (number, name) in files {
            let path = store.join(&name);
            let facts_of = || match table_file::facts(&path) {
                Err(error) if StoreFailure::of_io(&error).is_refusal() => Err(Error::io("read", &path)(error)),
                read => Ok(read.unwrap_or_default()),
            };
            match files::is_plausible(&path).then(facts_of).transpose()?.flatten() {
                Some(table) if named.iter().any(|list| list.has_removed(number, table.bytes)) => {}
                Some(table) => facts.push((number, name, table)),
                None => findings.push(format!("the table {name} cannot be read, and is left out")),
            }
        }
        let mut stores: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, _, table) in facts.iter().filter(|(_, _, table)| table.family.is_some()) {
            *stores.entry(&table.store).or_default() += 1;
        }
        let own = stores.into_iter().max_by_key(|&(_, tables)| tables).map(|(store, _)| store.to_owned());
        let mut tables = Vec::new();
        for (done, (number, name, table)) in (1..).zip(&facts) {
            if table.family.is_some() && own.as_ref() != Some(&table.store) {
                findings.push(format!("the table {name} was written in another store, and is left out"));
                continue;
            }
            match FoundTable::look(store, *number, name, table)? {
                Some(found) => tables.push(found),
                None => findings.push(format!("the rows of the table {name} cannot be read, and it is left out")),
            }
            task.step("tables looked at", done, facts.len() as u64)?;
        }
        Ok(Self { tables, store: own, findings })
    }

    /// A list of all tables.
    pub(super) fn all(&self) -> MadeList {
        made_list(self.tables.iter().collect())
    }

    /// A list without tables that a later table may have replaced. `None` if there are no such tables.
    pub(super) fn not_replaced(&self) -> Option<MadeList> {
        let kept = |table: &&FoundTable| !self.tables.iter().any(|other| other.may_replace(table));
        let kept: Vec<&FoundTable> = self.tables.iter().filter(kept).collect();
        (kept.len() < self.tables.len()).then(|| made_list(kept))
    }
}

impl FoundTable {
    /// Reads some rows of a table, to find its family. Returns `None` if the rows do not show the family.
    fn look(store: &Path, number: u64, name: &str, facts: &TableFacts) -> Result<Option<Self>> {
        let named = match &facts.family {
            Some((name, number)) => Some(match known_family(name, *number) {
                Some(family) => family,
                None => return Ok(None),
            }),
            None => None,
        };
        // Deleted rows are hidden, and their keys may lie outside the range of the visible keys.
        let sample = match named {
            Some(_) if facts.deletes => Sample::default(),
            _ => Sample::of(store, number, name, facts)?,
        };
        let Some(family) = named.or_else(|| family_of(&sample.rows)) else { return Ok(None) };
        let last_change = match facts.family {
            None if WRITTEN_FIRST.contains(&family) => LATE_CHANGE + number,
            _ => facts.last_change,
        };
        let keys = sample.keys.unwrap_or_else(|| (LEAST_KEY.to_vec(), GREATEST_KEY.to_vec()));
        Ok(Some(Self { number, bytes: facts.bytes, family, keys, last_change, is_own: facts.family.is_some() }))
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.family == other.family && self.keys.0 <= other.keys.1 && other.keys.0 <= self.keys.1
    }

    /// True if a compaction of `other` and perhaps more tables may have written this table. A compaction that
    /// leaves only one version of each row sets the sequence numbers to 0.
    fn may_replace(&self, other: &Self) -> bool {
        self.is_own && self.last_change == 0 && self.number > other.number && self.overlaps(other)
    }
}

/// The family of this name and number.
fn known_family(name: &str, number: u64) -> Option<&'static str> {
    let (known, _) = numbered_families().find(|&(family, known)| family == name && known == number)?;
    Some(known)
}

/// The families with the numbers that the engine has given them.
fn numbered_families() -> impl Iterator<Item = (&'static str, u64)> {
    FAMILIES.into_iter().zip(1..).map(|(family, number)| (family, if family == MAIN { 0 } else { number }))
}

/// The first rows of a table and the last one.
#[derive(Default)]
struct Sample {
    rows: Vec<Row>,
    /// The first and last key; `None` if they cannot be read.
    keys: Option<(Vec<u8>, Vec<u8>)>,
}

impl Sample {
    /// Reads a table by itself.
    fn of(store: &Path, number: u64, name: &str, facts: &TableFacts) -> Result<Self> {
        let Some((_links, engine)) = open_alone(store, number, name, facts)? else { return Ok(Self::default()) };
        let mut sample = Self::default();
        let mut rows = engine.rows(MAIN, ACTION)?;
        rows.seek_to_first();
        while let Some((key, value)) = rows.item().filter(|_| sample.rows.len() < ROWS_OF_SAMPLE) {
            sample.rows.push((key.into(), value.into()));
            rows.next();
        }
        let first = match rows.check() {
            Err(error) if !error.is_damage() => return Err(error),
            _ => sample.rows.first().map(|(key, _)| key.to_vec()),
        };
        rows.seek_to_last();
        let last = rows.item().map(|(key, value)| (Box::from(key), Box::from(value)));
        match rows.check() {
            Err(error) if !error.is_damage() => return Err(error),
            _ => sample.keys = first.zip(last.as_ref().map(|(key, _): &Row| key.to_vec())),
        }
        sample.rows.extend(last);
        Ok(sample)
    }
}

/// Opens a store of one table and treats its rows as rows of the main family. `None` if the engine cannot
/// open it.
fn open_alone(store: &Path, number: u64, name: &str, facts: &TableFacts) -> Result<Option<(LinkedStore, Engine)>> {
    let keys = (LEAST_KEY.to_vec(), GREATEST_KEY.to_vec());
    let last_change = facts.last_change;
    let table = FoundTable { number, bytes: facts.bytes, family: MAIN, keys, last_change, is_own: false };
    let list = made_list(vec![&table]);
    let written = [("CURRENT", CURRENT_OF_LIST), (LIST_NAME, &list.content)];
    let links = LinkedStore::new(store, |file| file == name, &written)?;
    match Engine::open(&links.path(), list.access(), PART_CACHE_BYTES) {
        Ok(engine) => Ok(Some((links, engine))),
        Err(error) if error.failure.is_refusal() => Err(error.during(ACTION)),
        Err(_) => Ok(None),
    }
}

/// The family of the rows of an ingested table. `None` if they fit no family.
fn family_of(rows: &[Row]) -> Option<&'static str> {
    let fits = |family: &str, key: &[u8], value: &[u8]| match family {
        POSTINGS => parse_posting_key(key).is_some_and(|(_, hash, _)| Block::decode(hash, value).is_ok()),
        FILTERS => key.len() == 12 && Filter::decode(value).is_ok(),
        POSITIONS => key.len() == 8 && positions::decode(value).is_ok(),
        TEXTS => key.len() == 8 && texts::decompress(value).is_ok(),
        DOCUMENTS => key.len() == 4 && records::decode::<DocumentRecord>(value, String::new).is_ok(),
        NAMES => value.is_empty() && parse_name_key(key).is_some(),
        DIGESTS => value.is_empty() && key.len() == 20,
        _ => false,
    };
    // Names are tried before digests. A single digest can look like a name, but hardly all digests of a
    // table.
    let families = [POSTINGS, FILTERS, POSITIONS, TEXTS, DOCUMENTS, NAMES, DIGESTS];
    let all_fit = |family: &&str| !rows.is_empty() && rows.iter().all(|(key, value)| fits(family, key, value));
    families.into_iter().find(all_fit)
}

/// Makes a list with the tables in levels: each table is below all later tables that it overlaps.
fn made_list(mut tables: Vec<&FoundTable>) -> MadeList {
    tables.sort_unstable_by_key(|table| std::cmp::Reverse((table.last_change, table.number)));
    let mut levels: Vec<u32> = Vec::with_capacity(tables.len());
    for (at, table) in tables.iter().enumerate() {
        let above = tables[..at].iter().zip(&levels).filter(|(later, _)| later.overlaps(table));
        // Level 0 is not used, because the engine orders its tables by their numbers.
        levels.push(1 + above.map(|(_, &level)| level).max().unwrap_or(0));
    }
    let next_file = 2 + tables.iter().map(|table| table.number).max().unwrap_or(0);
    let of_family = |family: &str| {
        let own = tables.iter().zip(&levels).filter(|(table, _)| table.family == family);
        own.map(|(table, &level)| ListedTable {
            level,
            number: table.number,
            bytes: table.bytes,
            keys: (&table.keys.0, &table.keys.1),
            last_change: table.last_change,
        })
        .collect::<Vec<_>>()
    };
    let mut families: Vec<(u64, &str, Vec<ListedTable<'_>>)> =
        numbered_families().map(|(family, number)| (number, family, of_family(family))).collect();
    families.sort_unstable_by_key(|&(number, ..)| number);
    let levels = 1 + levels.iter().copied().max().unwrap_or(0);
    MadeList { content: list(families, next_file), levels: levels.max(2), tables: tables.len() }
}

impl MadeList {
    /// The options for opening a store with this list.
    pub(super) fn access(&self) -> Access {
        Access::ReadRebuilt { levels: self.levels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(number: u64, keys: (&str, &str), last_change: u64) -> FoundTable {
        let keys = (keys.0.into(), keys.1.into());
        FoundTable { number, bytes: 1, family: DOCUMENTS, keys, last_change, is_own: true }
    }

    #[test]
    fn a_table_lies_below_all_later_ones_that_it_overlaps() {
        let tables = [
            table(1, ("a", "c"), 0),
            table(2, ("d", "f"), 0),
            table(3, ("b", "e"), 20),
            table(4, ("c", "c"), 40),
            table(5, ("x", "z"), 30),
        ];
        let list = made_list(tables.iter().collect());
        assert_eq!((list.levels, list.tables), (4, 5));
        let found = FoundTables { tables: tables.into(), store: None, findings: vec![] };
        assert!(found.not_replaced().is_none(), "the later ones have changes");
    }

    #[test]
    fn a_later_table_without_older_versions_may_replace_those_before_it() {
        let tables = vec![
            table(1, ("a", "c"), 10),
            table(2, ("d", "f"), 20),
            table(3, ("b", "e"), 0),
            table(4, ("f", "g"), 0),
            table(5, ("a", "a"), 40),
        ];
        let found = FoundTables { tables, store: None, findings: vec![] };
        assert_eq!((found.all().tables, found.not_replaced().unwrap().tables), (5, 3));
    }

    #[test]
    fn rows_show_their_family() {
        let row = |key: &[u8], value: &[u8]| -> Row { (key.into(), value.into()) };
        let name = crate::codec::format::name_key("of 14 letters!", 7);
        assert_eq!(name.len(), 20);
        assert_eq!(family_of(&[row(&name, b"")]), Some(NAMES));
        assert_eq!(family_of(&[row(&name, b""), row(&[9; 20], b"")]), Some(DIGESTS));
        assert_eq!(family_of(&[row(&[9; 20], b"?")]), None);
        assert_eq!(family_of(&[row(&[0; 8], &texts::compress(b"text").unwrap())]), Some(TEXTS));
        let mut chunk = Vec::new();
        positions::encode(&[], &mut chunk);
        assert_eq!(family_of(&[row(&[0; 8], &chunk)]), Some(POSITIONS));
        assert_eq!(family_of(&[]), None);
    }
}
