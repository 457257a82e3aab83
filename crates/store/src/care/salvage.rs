//! Salvage: reads the readable rows of a store with damaged files.
//!
//! The engine merges the tables of a family into one sequence of rows. If it cannot read one table, it
//! returns no row at all, so one bad block can hide a family. In that case the damaged tables are left out of
//! the merge, and each damaged table is read by itself, as far as possible. A *part* of a store is the store
//! with a list that omits some tables. Within a part the engine returns the latest version of each row.
//!
//! [`crate::care::choice`] chooses the list of tables.
//!
//! A missing block, or one with a wrong checksum, is a gap. Other failures of the system (too many open
//! files, no permission) are errors, because the rows behind them are not lost.
//!
//! An iterator of RocksDB ends at the first block that it cannot read. The salvage looks for the first
//! readable key behind that block, in growing steps and then by bisection.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::codec::format::{IDENTITY_KEY, MAIN, STATE_KEY, STORE};
use crate::engine::level::Table;
use crate::engine::options::DEFAULT_CACHE_BYTES;
use crate::engine::{Access, Engine};
use crate::open::commit_mark::CommitMark;
use crate::open::files::{self, read_short};
use crate::open::linked_store::LinkedStore;
use crate::open::manifest;
use fpdb_host::error::{Error, Result};

/// The action that reads damaged files, in errors.
pub(super) const ACTION: &str = "read its damaged files";

/// The cache size of a part of a store. It is small, because each row is read once.
pub(super) const PART_CACHE_BYTES: usize = 8 << 20;

/// A damaged store, open for reading.
pub(crate) struct Salvage {
    store: PathBuf,
    access: Access,
    /// All of its tables.
    whole: Arc<Part>,
    tables: Vec<Table>,
    /// The engine's name of the store, according to the list or the tables.
    store_id: Option<String>,
    pub(super) findings: Vec<String>,
    with_logs: bool,
    parts: Mutex<HashMap<(&'static str, Selection), Arc<Part>>>,
}

/// Some of the tables of a family.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Selection {
    Only(u64),
    Without(BTreeSet<u64>),
}

impl Selection {
    fn has(&self, table: u64) -> bool {
        match self {
            Self::Only(only) => *only == table,
            Self::Without(left_out) => !left_out.contains(&table),
        }
    }
}

/// A store that may lack some of its tables.
pub(super) struct Part {
    pub(super) engine: Engine,
    _links: Option<LinkedStore>,
}

/// A way to read a store.
pub struct Reading<'a> {
    /// The name and content of the list of tables.
    pub(super) list: (&'a str, &'a [u8]),
    pub(super) access: Access,
    /// True if rows of the logs count.
    pub(super) with_logs: bool,
    /// The engine's name of the store.
    pub(super) store_id: Option<&'a str>,
}

impl Salvage {
    /// Opens a store in this way.
    pub fn open(root: &Path, reading: &Reading<'_>) -> Result<Self> {
        let store = root.join(STORE);
        let Reading { list: (name, content), access, with_logs, store_id } = *reading;
        let is_rebuilt = matches!(access, Access::ReadRebuilt { .. });
        let current = format!("{name}\n");
        let is_as_it_is = !is_rebuilt
            && with_logs
            && read_short(&store.join("CURRENT")).is_ok_and(|named| named == current.as_bytes())
            && files::check(root).is_ok();
        let wanted = |file: &str| match files::is_log(file) {
            true => with_logs,
            false => !is_rebuilt || files::table_number(file).is_some(),
        };
        let written = [("CURRENT", current.as_bytes()), (name, content)];
        let links = (!is_as_it_is).then(|| LinkedStore::new(&store, wanted, &written)).transpose()?;
        let store = links.as_ref().map_or(store, LinkedStore::path);
        let engine = Engine::open(&store, access, DEFAULT_CACHE_BYTES).map_err(|error| error.during(ACTION))?;
        let tables = engine.tables()?;
        let whole = Arc::new(Part { engine, _links: links });
        let store_id = store_id.map(str::to_owned);
        Ok(Self { store, access, whole, tables, store_id, findings: Vec::new(), with_logs, parts: Mutex::default() })
    }

    /// True if the list of the store was made of the existing tables.
    pub(crate) fn is_rebuilt(&self) -> bool {
        matches!(self.access, Access::ReadRebuilt { .. })
    }

    /// Sentences that describe how the store is read. Empty if it is read by its own list and logs.
    pub(crate) fn findings(&self) -> &[String] {
        &self.findings
    }

    /// The identity of the database. `None` if unknown.
    pub(crate) fn identity(&self) -> Result<Option<String>> {
        if let Some(identity) = self.get(MAIN, IDENTITY_KEY)? {
            return Ok(Some(String::from_utf8_lossy(&identity).into_owned()));
        }
        // A commit writes both an identity and a state. If only a state exists, no commit ever wrote an
        // identity.
        let has_state = self.get_latest(MAIN, STATE_KEY)?.is_some();
        Ok(self.store_id.clone().filter(|_| has_state))
    }

    /// The identity of the database, if it differs from the marked one.
    pub(super) fn other_identity(&self, mark: &CommitMark) -> Result<Option<String>> {
        let Some(marked) = &mark.identity else { return Ok(None) };
        Ok(self.identity()?.filter(|identity| identity != marked))
    }

    /// The latest readable value of a key. `None` if no readable table has the key. An unreadable table may
    /// have had a later version.
    pub(crate) fn get(&self, name: &'static str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut left_out = BTreeSet::new();
        let mut part = Arc::clone(&self.whole);
        loop {
            let error = match part.engine.get(name, key, ACTION) {
                Ok(value) => return Ok(value.map(|value| value.to_vec())),
                Err(error) if error.is_damage() => error,
                Err(error) => return Err(error),
            };
            let Some(next) = self.leave_out(name, &mut left_out, key, &error)? else { return Ok(None) };
            part = next;
        }
    }

    /// Like [`Self::get`], but also `None` if an unreadable table may have had a later version.
    pub(crate) fn get_latest(&self, name: &'static str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.whole.engine.get(name, key, ACTION) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(error) if error.is_damage() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Visits the readable keys of a family with keys of any length: the keys before the first gap and after
    /// the last gap of each table. The keys come in no order, and some come repeatedly.
    pub(crate) fn keys(&self, name: &'static str, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let mut left_out = BTreeSet::new();
        let mut part = Arc::clone(&self.whole);
        let mut from = Vec::new();
        loop {
            let Some(error) = each_key(&part.engine, name, &mut from, &mut visit)? else { break };
            let Some(next) = self.leave_out(name, &mut left_out, &from, &error)? else {
                each_key_back(&part.engine, name, &from, &mut visit)?;
                break;
            };
            part = next;
        }
        for &table in &left_out {
            let Some(part) = self.part(name, Selection::Only(table))? else { continue };
            let (mut found, mut from) = (Vec::new(), Vec::new());
            if each_key(&part.engine, name, &mut from, &mut |key| found.push(key.to_vec()))?.is_some() {
                each_key_back(&part.engine, name, &from, &mut |key| found.push(key.to_vec()))?;
            }
            for key in found {
                // Another table may have deleted the row.
                if self.get(name, &key)?.is_some() {
                    visit(&key);
                }
            }
        }
        Ok(())
    }

    /// The value of a key if no unreadable table can have a later version. `None` if no row has this key.
    ///
    /// # Errors
    /// Fails if a table that may have a later version is damaged.
    pub(super) fn read(&self, name: &'static str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.whole.engine.get(name, key, ACTION)?.map(|value| value.to_vec()))
    }

    /// True if rows of the logs count.
    pub(super) fn has_logs(&self) -> bool {
        self.with_logs
    }

    /// The numbers of all tables of a family, and the numbers of the tables among these that cannot be read
    /// to their end.
    pub(super) fn unreadable_tables(&self, name: &'static str) -> Result<(Vec<u64>, Vec<u64>)> {
        let tables = self.tables.iter().filter(|table| table.family == name);
        let tables: Vec<u64> = tables.map(|table| table.number).collect();
        let mut unreadable = Vec::new();
        if each_key(&self.whole.engine, name, &mut Vec::new(), &mut |_| {})?.is_some() {
            for &table in &tables {
                let is_read = match self.part(name, Selection::Only(table))? {
                    Some(part) => each_key(&part.engine, name, &mut Vec::new(), &mut |_| {})?.is_none(),
                    None => false,
                };
                unreadable.extend((!is_read).then_some(table));
            }
            // Each table can be read by itself, but not all together, so all count as unreadable.
            if unreadable.is_empty() {
                unreadable.clone_from(&tables);
            }
        }
        Ok((tables, unreadable))
    }

    /// True if the list of the store names this table.
    pub(super) fn has_table(&self, number: u64) -> bool {
        self.tables.iter().any(|table| table.number == number)
    }

    /// The part with all tables.
    pub(super) fn whole(&self) -> &Arc<Part> {
        &self.whole
    }

    /// Finds the table that caused `error` at the key `key`, in the part without the tables of `left_out`.
    /// Adds the table to `left_out`, and returns the part that omits it too. `None` if there is no such table
    /// or part.
    pub(super) fn leave_out(
        &self,
        name: &'static str,
        left_out: &mut BTreeSet<u64>,
        key: &[u8],
        error: &Error,
    ) -> Result<Option<Arc<Part>>> {
        let Some(table) = self.damaged_table(name, left_out, key, error)? else { return Ok(None) };
        let mut more = left_out.clone();
        more.insert(table);
        let part = self.part(name, Selection::Without(more))?;
        if part.is_some() {
            left_out.insert(table);
        }
        Ok(part)
    }

    /// The table that caused an error.
    fn damaged_table(
        &self,
        name: &'static str,
        left_out: &BTreeSet<u64>,
        key: &[u8],
        error: &Error,
    ) -> Result<Option<u64>> {
        let others = self.tables.iter().filter(|table| table.family == name && !left_out.contains(&table.number));
        let others: Vec<u64> = others.map(|table| table.number).collect();
        let named = named_tables(&error.chain());
        if let Some(table) = others.iter().find(|table| named.contains(table)) {
            return Ok(Some(*table));
        }
        // Some errors of the engine do not name the table.
        for table in others {
            let Some(part) = self.part(name, Selection::Only(table))? else { return Ok(None) };
            let mut rows = part.engine.rows(name, ACTION)?;
            rows.seek(key);
            match rows.check() {
                Err(error) if error.is_damage() => return Ok(Some(table)),
                other => other?,
            }
        }
        Ok(None)
    }

    /// The store with only some of the tables of one family. `None` if such a store cannot be made or opened.
    pub(super) fn part(&self, name: &'static str, selection: Selection) -> Result<Option<Arc<Part>>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name, selection);
        if let Some(part) = parts.get(&key) {
            return Ok(Some(Arc::clone(part)));
        }
        let is_left_out = |table: &&Table| table.family != name || !key.1.has(table.number);
        let left_out: Vec<&Table> = self.tables.iter().filter(is_left_out).collect();
        match self.open_part(&left_out) {
            Ok(Some(part)) => Ok(Some(Arc::clone(parts.entry(key).or_insert(Arc::new(part))))),
            Ok(None) => Ok(None),
            Err(error) if error.is_damage() || is_unsupported(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open_part(&self, left_out: &[&Table]) -> Result<Option<Part>> {
        let current = self.store.join("CURRENT");
        let list = read_short(&current).map_err(Error::io("read", &current))?;
        let list = String::from_utf8_lossy(&list).trim_end().to_owned();
        let path = self.store.join(&list);
        let content = fs::read(&path).map_err(Error::io("read", &path))?;
        let Some(shorter) = manifest::without_tables(&content, left_out) else { return Ok(None) };
        let links = LinkedStore::new(&self.store, |_| true, &[(&list, &shorter)])?;
        let engine =
            Engine::open(&links.path(), self.access, PART_CACHE_BYTES).map_err(|error| error.during(ACTION))?;
        Ok(Some(Part { engine, _links: Some(links) }))
    }
}

/// Visits the keys of a family from `from` on, and sets `from` to a key after the last one. Returns the
/// damage at which it ended.
fn each_key(
    engine: &Engine,
    name: &'static str,
    from: &mut Vec<u8>,
    visit: &mut impl FnMut(&[u8]),
) -> Result<Option<Error>> {
    let mut rows = engine.rows(name, ACTION)?;
    rows.seek(&*from);
    while let Some(key) = rows.key() {
        visit(key);
        from.clear();
        from.extend_from_slice(key);
        from.push(0);
        rows.next();
    }
    match rows.check() {
        Ok(()) => Ok(None),
        Err(error) if error.is_damage() => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// Visits the keys of a family backwards from the end, to the last gap or to the key `to`.
fn each_key_back(engine: &Engine, name: &'static str, to: &[u8], visit: &mut impl FnMut(&[u8])) -> Result<()> {
    let mut rows = engine.rows(name, ACTION)?;
    rows.seek_to_last();
    while let Some(key) = rows.key().filter(|&key| key >= to) {
        visit(key);
        rows.prev();
    }
    match rows.check() {
        Err(error) if !error.is_damage() => Err(error),
        _ => Ok(()),
    }
}

/// The numbers of the tables in a message of the engine.
fn named_tables(message: &str) -> Vec<u64> {
    let number = |(end, _)| {
        let before: &str = &message[..end];
        before[before.trim_end_matches(|letter: char| letter.is_ascii_digit()).len()..].parse().ok()
    };
    message.match_indices(".sst").filter_map(number).collect()
}

/// True if the error says that the system cannot make folders of links.
pub(super) fn is_unsupported(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::Unsupported)
}
