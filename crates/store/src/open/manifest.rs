//! Manifest: how far RocksDB's list of the store's tables can be trusted, and what it changes.
//!
//! The engine appends an edit to the list and syncs it. Where the sync of an edit that adds tables fails, it
//! takes the tables away again, and the edit stays: the list then names files that are not there, and the
//! engine opens the store no more. [`untrusted_edits`] finds such edits, so that the list can be used up to
//! the first of them. Nothing is lost by that: a commit is written after the tables it needs, and never after
//! a sync that failed.
//!
//! The engine deletes tables that its list does not name when it opens a store for writing. So a list that is
//! older than the tables, or of another store, is refused before. That there are tables which the list does
//! not name tells nothing by itself: a kill or a failed write leaves such tables too, and they are of no use.
//! What tells is:
//! * the mark ([`crate::open::mark`]). It names a list only once that list is on the disk and `CURRENT` names
//!   it, and lists get ascending numbers. So no crash leaves a list of a lower number, or less of the one
//!   that was marked: [`check_list`].
//! * without a mark of a list, a table that can be read: nothing tells a table that a crash has left from one
//!   that holds the only copy of committed rows. Commits do not tell: the log can be newer than the list:
//!   [`check_unmarked_list`].
//!
//! [`without_tables`] appends edits that remove tables, to a copy: through it the rest of a store can be read
//! although some of its tables are damaged.
//!
//! A writer puts the trusted part of the list in place of the whole. A reader changes nothing: it opens links
//! to the tables with a copy of the trusted part. After a failed write of the engine its list is not marked
//! until the store is opened again.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::codec::format::{MAIN, RUN_FAMILIES, STORE};
use crate::engine::level::Table;
use crate::engine::table_file;
use crate::open::files::{self, replace_file};
use crate::open::linked_store::LinkedStore;
use crate::open::mark::{self, CommitMark};
use crate::open::version_edit::{Records, VersionEdit, append, removal};
use fpdb_host::error::{Error, Result, StoreFailure};

/// A list of tables without the edits that a failed sync has left in it.
pub(super) struct TrustedList {
    path: PathBuf,
    content: Vec<u8>,
}

impl TrustedList {
    /// The trusted part of the list of the database at `root`; `None` where it can be used as it is.
    pub(super) fn of(root: &Path) -> Result<Option<Self>> {
        let Some((path, trusted)) = mark::grown_list(root)? else { return Ok(None) };
        let mut content = fs::read(&path).map_err(Error::io("read", &path))?;
        let store = root.join(STORE);
        let is_there = |table| store.join(format!("{table:06}.sst")).exists();
        let trusted = usize::try_from(trusted).unwrap_or(usize::MAX);
        Ok(untrusted_edits(&content, trusted, is_there).map(|end| {
            content.truncate(end);
            Self { path, content }
        }))
    }

    /// Puts it in the place of the whole list. Needs the writer lock.
    pub(super) fn put_in_place(&self) -> Result<()> {
        replace_file(&self.path, &self.content)
    }

    /// A copy of the store with this list, whose other files are links. For a reader, who changes nothing.
    pub(super) fn link_store(&self) -> Result<LinkedStore> {
        let store = self.path.parent().unwrap_or(Path::new(STORE));
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        LinkedStore::new(store, |_| true, &[(name, &self.content)])
    }
}

/// The list of tables at one time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListEnd {
    path: PathBuf,
    bytes: u64,
}

impl ListEnd {
    /// The list of the database at `root`; `None` where the engine is about to write another.
    pub(super) fn of(root: &Path) -> Result<Option<Self>> {
        Ok(mark::list_end(root)?.map(|(path, bytes)| Self { path, bytes }))
    }

    /// How the list has changed since `before`.
    pub(super) fn change_since(&self, before: &Self) -> Result<ListChange> {
        if self == before {
            return Ok(ListChange::None);
        }
        if self.path != before.path || self.bytes < before.bytes {
            return Ok(ListChange::Rows);
        }
        let list = fs::read(&self.path).map_err(Error::io("read", &self.path))?;
        Ok(change_behind(&list, usize::try_from(before.bytes).unwrap_or(0)))
    }
}

/// How a list of tables has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ListChange {
    /// Not at all.
    None,
    /// It has got or lost tables of runs, if any.
    Runs,
    /// It has also got tables of other rows, which were in no log or table before.
    MoreRows,
    /// Rows may have been moved, from a log into a table or from one table into another.
    Rows,
}

/// How the edits of the list change it that end behind its first `known` bytes.
fn change_behind(list: &[u8], known: usize) -> ListChange {
    let records = Records::of(list);
    if records.damaged {
        return ListChange::Rows;
    }
    let families = records.families();
    let runs: Vec<u64> = RUN_FAMILIES.iter().filter_map(|run| families.get(run.as_bytes()).copied()).collect();
    let change = |content: &[u8]| match VersionEdit::parse(content) {
        None => ListChange::Rows,
        Some(edit) if edit.changes_more => ListChange::Rows,
        Some(edit) if edit.added.is_empty() && edit.removed.is_empty() => ListChange::Runs,
        Some(edit) if runs.contains(&edit.family) => ListChange::Runs,
        Some(edit) if edit.removed.is_empty() => ListChange::MoreRows,
        Some(_) => ListChange::Rows,
    };
    let behind = records.records.iter().filter(|record| record.end > known);
    behind.map(|record| change(&record.content)).max().unwrap_or(ListChange::Runs)
}

/// Where the list ceases to be trusted: the offset of the first edit behind `trusted` bytes from which on all
/// edits do nothing but add tables, one of which `is_there` finds missing. `None` where there is no such
/// edit.
fn untrusted_edits(list: &[u8], trusted: usize, is_there: impl Fn(u64) -> bool) -> Option<usize> {
    let records = Records::of(list);
    if records.damaged {
        return None;
    }
    let mut untrusted = None;
    for record in records.records.iter().filter(|record| record.start >= trusted) {
        let added = VersionEdit::parse(&record.content).filter(VersionEdit::only_adds_tables);
        match (untrusted, added) {
            // Something else was done after it: the list is not what a failed sync leaves.
            (Some(_), None) => return None,
            (None, Some(edit)) if edit.added.iter().any(|table| !is_there(table.number)) => {
                untrusted = Some(record.start);
            }
            _ => {}
        }
    }
    untrusted
}

/// The tables that a list names, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct NamedTables {
    /// The tables that it names and does not remove again, with their bytes.
    live: BTreeMap<u64, u64>,
    /// The tables that it has removed, with their bytes.
    removed: BTreeMap<u64, u64>,
}

impl NamedTables {
    fn of(list: &Records) -> Self {
        let mut named = Self::default();
        for (_, edit) in list.edits() {
            // An edit that moves a table to another level removes it and adds it.
            for table in edit.removed {
                named.removed.extend(named.live.remove_entry(&table));
            }
            for table in edit.added {
                named.live.insert(table.number, table.bytes);
                named.removed.remove(&table.number);
            }
        }
        named
    }

    /// True where the list says that a table is no longer needed: it has had this table, of these bytes, and
    /// removed it.
    pub(crate) fn has_removed(&self, table: u64, bytes: u64) -> bool {
        self.removed.get(&table) == Some(&bytes)
    }
}

/// The tables that the lists in a folder name, each list as far as it can be read.
pub(crate) fn named_tables(store: &Path) -> Result<Vec<NamedTables>> {
    let mut named = Vec::new();
    for name in files::names(store)?.iter().filter(|name| files::list_number(name).is_some()) {
        named.extend(ListFile::read(store, name)?.map(|list| NamedTables::of(&list.records)));
    }
    Ok(named)
}

/// Sees to it that the list of tables of the database at `root` is not shorter or older than it was.
///
/// # Errors
/// [`Error::TablesLost`], [`Error::TablesUnlisted`].
pub(super) fn check_list(root: &Path, mark: &CommitMark) -> Result<()> {
    let Some(list) = ListFile::named(root)? else { return Ok(()) };
    let store = root.join(STORE);
    match list.compared_with(mark) {
        ListAge::Cut { found, marked } => Err(Error::TablesLost { path: list.path, found, marked }),
        // Where a later list is of another store, the engine misses its tables.
        ListAge::AsMarked | ListAge::Later => Ok(()),
        // The engine reports it.
        ListAge::Unknown if list.records.damaged => Ok(()),
        ListAge::Unknown if !mark.has_list() => Ok(()),
        ListAge::Unknown => match list.unlisted(&store)?.len() as u64 {
            0 => Ok(()),
            tables => Err(Error::TablesUnlisted { path: list.path, tables }),
        },
    }
}

/// Sees to it that the list of tables of the database at `root`, of which there is no mark, names each table
/// that can be read.
///
/// # Errors
/// [`Error::TablesUnlisted`].
pub(super) fn check_unmarked_list(root: &Path) -> Result<()> {
    let Some(list) = ListFile::named(root)? else { return Ok(()) };
    let store = root.join(STORE);
    let mut tables = 0;
    for (_, name) in list.unlisted(&store)? {
        let path = store.join(name);
        match table_file::facts(&path) {
            Ok(facts) => tables += u64::from(facts.is_some()),
            // A writer has removed it meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", path)(error)),
        }
    }
    if tables == 0 { Ok(()) } else { Err(Error::TablesUnlisted { path: list.path, tables }) }
}

/// The list of tables that can be relied on, if there is one: it is the one that was marked, as long as it
/// was, or fits the tables there are. Its name and content.
pub(crate) fn reliable_list(root: &Path, mark: &CommitMark) -> Result<Option<(String, Vec<u8>)>> {
    let store = root.join(STORE);
    let marked = mark.list_name().map(|name| ListFile::read(&store, &name)).transpose()?.flatten();
    for list in ListFile::named(root)?.into_iter().chain(marked) {
        let is_reliable = match list.compared_with(mark) {
            ListAge::AsMarked => true,
            ListAge::Cut { .. } => false,
            ListAge::Later => list.unlisted(&store)?.is_empty() || list.has_all_tables(&store),
            ListAge::Unknown => list.unlisted(&store)?.is_empty(),
        };
        if is_reliable && !list.records.damaged && !list.records.records.is_empty() {
            return Ok(Some((list.name, list.content)));
        }
    }
    Ok(None)
}

/// The engine's name of the store that a list is of.
pub(crate) fn store_id(list: &[u8]) -> Option<String> {
    Records::of(list).edits().find_map(|(_, edit)| edit.store)
}

/// A list of tables, read.
struct ListFile {
    name: String,
    path: PathBuf,
    content: Vec<u8>,
    records: Records,
}

/// A list beside the one that was marked.
enum ListAge {
    /// The same one.
    AsMarked,
    /// One of a greater number: a writer made it that was killed before it marked it, or it is of another
    /// store.
    Later,
    /// The same one, of which less can be read than was there.
    Cut { found: u64, marked: u64 },
    /// Another one that is no later, or no list was marked.
    Unknown,
}

impl ListFile {
    /// The list that `CURRENT` names; `None` where it names none that is there.
    fn named(root: &Path) -> Result<Option<Self>> {
        let Some(name) = mark::list_named(root)? else { return Ok(None) };
        Self::read(&root.join(STORE), &name)
    }

    /// The list of this name; `None` where there is none that can be read.
    fn read(store: &Path, name: &str) -> Result<Option<Self>> {
        let path = store.join(name);
        if !files::is_plausible(&path) {
            return Ok(None);
        }
        let content = match fs::read(&path) {
            Ok(content) => content,
            // The writer has made another one meanwhile, or the disk cannot read it, which the engine
            // reports.
            Err(error) if !StoreFailure::of_io(&error).is_refusal() => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let records = Records::of(&content);
        Ok(Some(Self { name: name.to_owned(), path, content, records }))
    }

    fn compared_with(&self, mark: &CommitMark) -> ListAge {
        match mark.compare_list(files::list_number(&self.name).unwrap_or(0), &self.content) {
            // Its records were all there; one that cannot be read now hides those behind it.
            Some(marked) if (self.records.end() as u64) < marked => {
                ListAge::Cut { found: self.records.end() as u64, marked }
            }
            Some(0) => ListAge::Later,
            Some(_) => ListAge::AsMarked,
            None => ListAge::Unknown,
        }
    }

    /// True where the tables that it names are there.
    fn has_all_tables(&self, store: &Path) -> bool {
        let is_there = |(table, &bytes): (&u64, &u64)| {
            fs::metadata(store.join(format!("{table:06}.sst"))).is_ok_and(|metadata| metadata.len() == bytes)
        };
        NamedTables::of(&self.records).live.iter().all(is_there)
    }

    /// The tables that are there, and that it does not name and has not removed: their numbers and the names
    /// of their files.
    fn unlisted(&self, store: &Path) -> Result<Vec<(u64, String)>> {
        let named = NamedTables::of(&self.records);
        let mut unlisted = Vec::new();
        for name in files::names(store)? {
            let Some(table) = files::table_number(&name).filter(|table| !named.live.contains_key(table)) else {
                continue;
            };
            match fs::metadata(store.join(&name)) {
                Ok(metadata) if named.has_removed(table, metadata.len()) => {}
                Ok(_) => unlisted.push((table, name)),
                // A writer has removed it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", store.join(name))(error)),
            }
        }
        Ok(unlisted)
    }
}

/// The list with edits behind it that remove these tables; `None` where it is not a list, or does not name
/// their families.
pub(crate) fn without_tables(list: &[u8], tables: &[&Table]) -> Option<Vec<u8>> {
    let records = Records::of(list);
    let mut families = records.families();
    families.insert(MAIN.as_bytes().to_vec(), 0);
    // A record that was cut off at the end is left out.
    let mut shorter = list.get(..records.end()).filter(|list| !records.damaged && !list.is_empty())?.to_vec();
    let mut removals: BTreeMap<u64, Vec<(u32, u64)>> = BTreeMap::new();
    for table in tables {
        removals.entry(*families.get(table.family.as_bytes())?).or_default().push((table.level, table.number));
    }
    for (family, tables) in removals {
        append(&mut shorter, &removal(family, tables));
    }
    Some(shorter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::varint;

    fn adds(tables: &[u64]) -> Vec<u8> {
        let mut edit = Vec::new();
        for number in [9, 0, 3, 17, 4, 300] {
            varint::write(number, &mut edit);
        }
        for &table in tables {
            for number in [103, 6, table, 1000] {
                varint::write(number, &mut edit);
            }
            edit.extend([3, b'a', b'b', b'c', 2, b'd', b'e', 5, 5]);
            edit.extend([5, 1, 7, 13, 2, 0x80, 1, 1]);
        }
        for number in [200, 4] {
            varint::write(number, &mut edit);
        }
        edit
    }

    /// As a flush does: a later log.
    const MOVES_LOG: [u8; 4] = [2, 9, 200, 3];

    fn list(edits: &[&[u8]]) -> (Vec<u8>, Vec<usize>) {
        let (mut list, mut starts) = (Vec::new(), Vec::new());
        for edit in edits {
            starts.push(list.len());
            append(&mut list, edit);
        }
        (list, starts)
    }

    #[test]
    fn only_a_tail_that_adds_missing_tables_is_not_trusted() {
        let is_there = |table: u64| table < 10;
        let (there, missing, both) = (adds(&[4, 5]), adds(&[11]), adds(&[3, 12]));
        let added: Vec<u64> = VersionEdit::parse(&both).unwrap().added.iter().map(|table| table.number).collect();
        assert_eq!(added, [3, 12]);
        for (edits, expected) in [
            (vec![&there[..], &there], None),
            (vec![&there[..], &missing], Some(1)),
            (vec![&there[..], &both, &missing], Some(1)),
            (vec![&there[..], &missing, &there], Some(1)),
            (vec![&MOVES_LOG[..], &missing], Some(1)),
            // Later edits were made with the list as it is.
            (vec![&there[..], &missing, &MOVES_LOG], None),
        ] {
            let (list, starts) = list(&edits);
            assert_eq!(untrusted_edits(&list, 0, is_there), expected.map(|edit| starts[edit]), "{edits:?}");
            assert_eq!(untrusted_edits(&list, list.len(), is_there), None, "all of it was marked");
        }
    }

    /// An edit of a family that adds these tables and removes those.
    fn changes(family: u64, added: &[u64], removed: &[u64]) -> Vec<u8> {
        let mut edit = Vec::new();
        for &table in removed {
            for number in [6, 6, table] {
                varint::write(number, &mut edit);
            }
        }
        for &table in added {
            for number in [103, 6, table, 1000] {
                varint::write(number, &mut edit);
            }
            edit.extend([3, b'a', b'b', b'c', 2, b'd', b'e', 5, 5, 1]);
        }
        for number in [3, 17, 200, family] {
            varint::write(number, &mut edit);
        }
        edit
    }

    #[test]
    fn only_changes_of_runs_leave_all_other_rows_alone() {
        let added = |name: &str, id: u64| {
            let mut edit = vec![1, 1, b'c'];
            for (number, text) in [(201, Some(name)), (200, None)] {
                varint::write(number, &mut edit);
                match text {
                    Some(name) => {
                        edit.push(name.len() as u8);
                        edit.extend(name.as_bytes());
                    }
                    None => varint::write(id, &mut edit),
                }
            }
            edit
        };
        let (postings, filters, positions) = (added("postings", 4), added("filters", 5), added("positions", 6));
        let run = changes(4, &[11], &[]);
        let number_only = changes(0, &[], &[]);
        for (new, expected) in [
            (vec![], ListChange::Runs),
            (vec![run.clone()], ListChange::Runs),
            (vec![number_only.clone(), changes(5, &[12], &[]), number_only.clone(), run.clone()], ListChange::Runs),
            (vec![run.clone(), changes(4, &[], &[3, 4]), changes(5, &[], &[5])], ListChange::Runs),
            (vec![run.clone(), changes(6, &[13], &[])], ListChange::MoreRows),
            (vec![changes(6, &[14], &[]), run.clone()], ListChange::MoreRows),
            // The default family.
            (vec![changes(0, &[13], &[])], ListChange::MoreRows),
            (vec![changes(6, &[], &[13]), run.clone()], ListChange::Rows),
            (vec![changes(6, &[14], &[13]), run.clone()], ListChange::Rows),
            (vec![run.clone(), MOVES_LOG.to_vec()], ListChange::Rows),
            (vec![added("texts", 7), run.clone()], ListChange::Rows),
        ] {
            for old in [1, 1000, 5000] {
                let mut all: Vec<&[u8]> = vec![&postings, &filters, &positions];
                let rows = changes(6, &[9], &[8]);
                all.extend(std::iter::repeat_n([&MOVES_LOG[..], &rows], old).flatten());
                let (known, _) = list(&all);
                all.extend(new.iter().map(Vec::as_slice));
                let (list, _) = list(&all);
                assert_eq!(change_behind(&list, known.len()), expected, "{old} {new:?}");
                // An edit that was being written counts as one that came afterwards.
                assert_eq!(change_behind(&list, known.len() - 1), ListChange::Rows);
            }
        }
        // A list that does not name the families tells nothing about its tables.
        assert_eq!(change_behind(&list(&[&run]).0, 0), ListChange::MoreRows);
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = untrusted_edits(&bytes, 0, |_| false);
            let _ = change_behind(&bytes, 0);
        }
    }
}
