//! Manifest: decides how far RocksDB's list of tables can be trusted, and reads the changes that it records.
//!
//! The engine appends an edit to the list and syncs it. If the sync of an edit that adds tables fails, the
//! engine removes the tables, but the edit stays. The list then names missing files, and the engine cannot
//! open the store. [`untrusted_edits`] finds such edits, so that the list can be used up to the first such
//! edit. This loses nothing: a commit is written after its tables, and never after a failed sync.
//!
//! When the engine opens a store for writing, it deletes tables that its list does not name. So a list that
//! is older than its tables, or of another store, must be refused first. Unnamed tables alone prove nothing,
//! because a kill or a failed write also leaves such tables. Two checks decide:
//! * If the list was marked ([`crate::open::commit_mark`]), [`check_list`] refuses a list with a lower
//!   number, and the marked list if it is shorter than marked. No crash causes either: a list is marked
//!   only once it is on the disk and `CURRENT` names it, and the numbers of lists ascend.
//! * If no list was marked, [`check_unmarked_list`] refuses a list that omits a readable table. A crash may
//!   have left the table, or it may hold the only copy of committed rows. Nothing distinguishes the two, not
//!   even the number of the last commit, because the log can be newer than the list.
//!
//! [`without_tables`] appends edits that remove tables to a copy of the list. With this list the rest of a
//! store can be read if some tables are damaged.
//!
//! A writer replaces the list by its trusted part. A reader changes nothing: it opens links to the tables
//! with a copy of the trusted part. After a failed write of the engine the list is not marked until the store
//! is opened again.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::codec::format::{MAIN, RUN_FAMILIES, STORE};
use crate::engine::level::Table;
use crate::engine::table_file;
use crate::open::commit_mark::{self, CommitMark};
use crate::open::files;
use crate::open::linked_store::LinkedStore;
use crate::open::version_edit::{Records, VersionEdit, append, removal};
use fpdb_host::durable::replace_file;
use fpdb_host::error::{Error, Result, StoreFailure};

/// The part of a list of tables before the edits of a failed sync.
pub(super) struct TrustedList {
    path: PathBuf,
    content: Vec<u8>,
}

impl TrustedList {
    /// The trusted part of the list of the database at `root`. `None` if the whole list can be used.
    pub(super) fn of(root: &Path) -> Result<Option<Self>> {
        let Some((path, trusted)) = commit_mark::grown_list(root)? else { return Ok(None) };
        let mut content = fs::read(&path).map_err(Error::io("read", &path))?;
        let store = root.join(STORE);
        let is_there = |table| store.join(format!("{table:06}.sst")).exists();
        let trusted = usize::try_from(trusted).unwrap_or(usize::MAX);
        Ok(untrusted_edits(&content, trusted, is_there).map(|end| {
            content.truncate(end);
            Self { path, content }
        }))
    }

    /// Replaces the list on the disk by its trusted part. Needs the writer lock.
    pub(super) fn put_in_place(&self) -> Result<()> {
        replace_file(&self.path, &self.content)
    }

    /// A copy of the store with this list and links to all other files. For readers, which change nothing.
    pub(super) fn link_store(&self) -> Result<LinkedStore> {
        let store = self.path.parent().unwrap_or(Path::new(STORE));
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        LinkedStore::new(store, |_| true, &[(name, &self.content)])
    }
}

/// The state of the list of tables at one time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListEnd {
    path: PathBuf,
    bytes: u64,
}

impl ListEnd {
    /// The list of the database at `root`. `None` if the engine is about to write another list.
    pub(super) fn of(root: &Path) -> Result<Option<Self>> {
        Ok(commit_mark::list_end(root)?.map(|(path, bytes)| Self { path, bytes }))
    }

    /// Returns the change of the list since `before`.
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

/// The change of a list of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ListChange {
    /// No change.
    None,
    /// Nothing changed, except that tables of runs were added or removed.
    Runs,
    /// Tables of other families were added too. Their rows were in no log or table before.
    MoreRows,
    /// Rows may have moved from a log into a table or between tables.
    Rows,
}

/// The change by the edits that end after the first `known` bytes of a list.
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

/// The offset at which the list is no longer trusted, at or after `trusted` bytes. From there on, all edits
/// only add tables, and `is_there` is false for at least one of these tables. `None` if there is no such
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
            // Another kind of edit follows, so this is not the result of a failed sync.
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
    /// The tables that the list names and does not remove, with their sizes.
    live: BTreeMap<u64, u64>,
    /// The tables that the list has removed, with their sizes.
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

    /// True if the list has named this table, of this size, and removed it: the table is no longer needed.
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

/// Checks that the list of tables of the database at `root` is not shorter or older than marked.
///
/// # Errors
/// [`Error::TablesLost`], [`Error::TablesUnlisted`].
pub(super) fn check_list(root: &Path, mark: &CommitMark) -> Result<()> {
    let Some(list) = ListFile::named(root)? else { return Ok(()) };
    let store = root.join(STORE);
    match list.compared_with(mark) {
        ListAge::Cut { found, marked } => Err(Error::TablesLost { path: list.path, found, marked }),
        // If a later list is of another store, the engine reports missing tables.
        ListAge::AsMarked | ListAge::Later => Ok(()),
        // The engine reports a damaged list.
        ListAge::Unknown if list.records.damaged => Ok(()),
        ListAge::Unknown if !mark.has_list() => Ok(()),
        ListAge::Unknown => match list.unlisted(&store)?.len() as u64 {
            0 => Ok(()),
            tables => Err(Error::TablesUnlisted { path: list.path, tables }),
        },
    }
}

/// Checks a database at `root` whose list of tables is not marked: the list must name each readable table.
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
            // A writer has removed the table in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("read", path)(error)),
        }
    }
    if tables == 0 { Ok(()) } else { Err(Error::TablesUnlisted { path: list.path, tables }) }
}

/// The name and content of a reliable list of tables, if there is one. A list is reliable if it is the marked
/// one in full length, or fits the existing tables.
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

/// The engine's name of the store to which a list belongs.
pub(crate) fn store_id(list: &[u8]) -> Option<String> {
    Records::of(list).edits().find_map(|(_, edit)| edit.store)
}

/// The content of a list of tables.
struct ListFile {
    name: String,
    path: PathBuf,
    content: Vec<u8>,
    records: Records,
}

/// A list compared with the marked one.
enum ListAge {
    /// The marked list.
    AsMarked,
    /// A list with a larger number. Either its writer was killed before it marked the list, or the list is of
    /// another store.
    Later,
    /// The marked list, but cut short.
    Cut { found: u64, marked: u64 },
    /// Another list that is not later; or no list was marked.
    Unknown,
}

impl ListFile {
    /// The list that `CURRENT` names. `None` if no such list exists.
    fn named(root: &Path) -> Result<Option<Self>> {
        let Some(name) = commit_mark::list_named(root)? else { return Ok(None) };
        Self::read(&root.join(STORE), &name)
    }

    /// The list of this name. `None` if no such list can be read.
    fn read(store: &Path, name: &str) -> Result<Option<Self>> {
        let path = store.join(name);
        if !files::is_plausible(&path) {
            return Ok(None);
        }
        let content = match fs::read(&path) {
            Ok(content) => content,
            // Either the writer has made another list in the meantime, or the list is unreadable and the
            // engine reports it.
            Err(error) if !StoreFailure::of_io(&error).is_refusal() => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let records = Records::of(&content);
        Ok(Some(Self { name: name.to_owned(), path, content, records }))
    }

    fn compared_with(&self, mark: &CommitMark) -> ListAge {
        match mark.compare_list(files::list_number(&self.name).unwrap_or(0), &self.content) {
            // All marked records were on the disk once. An unreadable record hides the later ones.
            Some(marked) if (self.records.end() as u64) < marked => {
                ListAge::Cut { found: self.records.end() as u64, marked }
            }
            Some(0) => ListAge::Later,
            Some(_) => ListAge::AsMarked,
            None => ListAge::Unknown,
        }
    }

    /// True if all tables that the list names exist.
    fn has_all_tables(&self, store: &Path) -> bool {
        let is_there = |(table, &bytes): (&u64, &u64)| {
            fs::metadata(store.join(format!("{table:06}.sst"))).is_ok_and(|metadata| metadata.len() == bytes)
        };
        NamedTables::of(&self.records).live.iter().all(is_there)
    }

    /// The numbers and file names of existing tables that the list neither names nor has removed.
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
                // A writer has removed the table in the meantime.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", store.join(name))(error)),
            }
        }
        Ok(unlisted)
    }
}

/// The list with appended edits that remove these tables. `None` if `list` is not a list of tables, or does
/// not name the families of these tables.
pub(crate) fn without_tables(list: &[u8], tables: &[&Table]) -> Option<Vec<u8>> {
    let records = Records::of(list);
    let mut families = records.families();
    families.insert(MAIN.as_bytes().to_vec(), 0);
    // Omits a record that is cut off at the end.
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

    /// The edit that a flush makes: it names a later log.
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
            // An edit of another kind follows, so the engine used the list with the missing table.
            (vec![&there[..], &missing, &MOVES_LOG], None),
        ] {
            let (list, starts) = list(&edits);
            assert_eq!(untrusted_edits(&list, 0, is_there), expected.map(|edit| starts[edit]), "{edits:?}");
            assert_eq!(untrusted_edits(&list, list.len(), is_there), None, "all of it was marked");
        }
    }

    /// An edit of a family that adds the tables `added` and removes the tables `removed`.
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
                // An edit that was not written completely before counts as a later one.
                assert_eq!(change_behind(&list, known.len() - 1), ListChange::Rows);
            }
        }
        // A list that does not name the families shows nothing about its tables.
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
