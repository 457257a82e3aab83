//! Manifest: RocksDB's list of the store's tables, as far as this crate reads it.
//!
//! The engine appends an edit to the list and syncs it. Where the sync of an edit that adds tables fails, it takes the
//! tables away again, and the edit stays: the list then names files that are not there, and the engine opens the store no
//! more. [`untrusted_edits`] finds such edits, so that the list can be used up to the first of them. Nothing is lost by
//! that: a commit is written after the tables it needs, and never after a sync that failed.
//!
//! The list is a log of the engine (blocks of 32 KiB; a record in a block has a head of 7 bytes: CRC-32C, 2 bytes of length,
//! 1 of kind), and each record is an edit: numbered fields, as in `db/version_edit.h` of RocksDB. Only edits that do nothing
//! but add tables, and those that add families, are looked into; all else is as trusted as the engine finds it.
//!
//! [`without_tables`] appends edits that remove tables, to a copy: through it the rest of a store can be read although some of
//! its tables are damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::codec::format::{MAIN, RUN_FAMILIES, STORE};
use crate::store::codec::varint;
use crate::store::engine::level::Table;
use crate::store::open::files::replace_file;
use crate::store::open::linked_store::LinkedStore;
use crate::store::open::mark;

/// The block size of a log of the engine.
const BLOCK: usize = 32 << 10;
const HEAD: usize = 7;

/// Kinds of records: whole, first part, part between, last part.
const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

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
        LinkedStore::new(store, self.path.file_name().map(|name| (name, &self.content[..])))
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
    let Some(edits) = edits(list) else { return ListChange::Rows };
    let families = edits.iter().filter_map(|edit| added_family(&edit.content));
    let runs: Vec<u64> =
        families.filter(|(name, _)| RUN_FAMILIES.iter().any(|run| run.as_bytes() == *name)).map(|(_, id)| id).collect();
    let change = |edit: &VersionEdit| match changed_tables(&edit.content) {
        None => ListChange::Rows,
        Some(change) if change.is_empty() || runs.contains(&change.family) => ListChange::Runs,
        Some(change) if change.removed.is_empty() => ListChange::MoreRows,
        Some(_) => ListChange::Rows,
    };
    edits.iter().filter(|edit| edit.end > known).map(change).max().unwrap_or(ListChange::Runs)
}

/// One edit of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VersionEdit {
    /// Where its record begins in the list.
    start: usize,
    /// Where the record ends.
    end: usize,
    content: Vec<u8>,
}

/// Where the list ceases to be trusted: the offset of the first edit behind `trusted` bytes from which on all edits do nothing
/// but add tables, one of which `is_there` finds missing. `None` where there is no such edit.
pub(super) fn untrusted_edits(list: &[u8], trusted: usize, is_there: impl Fn(u64) -> bool) -> Option<usize> {
    let edits = edits(list)?;
    let mut untrusted = None;
    for edit in edits.iter().filter(|edit| edit.start >= trusted) {
        let added = added_tables(&edit.content);
        match (untrusted, added) {
            // Something else was done after it: the list is not what a failed sync leaves.
            (Some(_), None) => return None,
            (None, Some(tables)) if tables.iter().any(|&table| !is_there(table)) => untrusted = Some(edit.start),
            _ => {}
        }
    }
    untrusted
}

/// The edits of a list; `None` where it is not one. A record that is cut off at the end is left out.
fn edits(list: &[u8]) -> Option<Vec<VersionEdit>> {
    let mut edits = Vec::new();
    let mut open: Option<VersionEdit> = None;
    let mut at = 0;
    while at < list.len() {
        let left = BLOCK - at % BLOCK;
        if left < HEAD {
            at += left;
            continue;
        }
        let Some(head) = list.get(at..at + HEAD) else { break };
        let length = usize::from(u16::from_le_bytes([head[4], head[5]]));
        let Some(content) = list.get(at + HEAD..at + HEAD + length) else { break };
        let end = at + HEAD + length;
        match (head[6], open.as_mut()) {
            (FULL, None) => edits.push(VersionEdit { start: at, end, content: content.to_vec() }),
            (FIRST, None) => open = Some(VersionEdit { start: at, end, content: content.to_vec() }),
            (MIDDLE, Some(edit)) => edit.content.extend_from_slice(content),
            (LAST, Some(edit)) => {
                edit.end = end;
                edit.content.extend_from_slice(content);
                edits.extend(open.take());
            }
            _ => return None,
        }
        at = end;
    }
    Some(edits)
}

/// The list with edits behind it that remove these tables; `None` where it is not a list, or does not name their families.
pub(in crate::store) fn without_tables(list: &[u8], tables: &[&Table]) -> Option<Vec<u8>> {
    const FAMILY: u64 = 200;
    const REMOVED_TABLE: u64 = 6;
    let edits = edits(list)?;
    let mut families = BTreeMap::from([(MAIN.as_bytes(), 0)]);
    families.extend(edits.iter().filter_map(|edit| added_family(&edit.content)));
    // A record that was cut off at the end is left out.
    let mut shorter = list[..edits.last()?.end].to_vec();
    let mut removals: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for table in tables {
        let edit = removals.entry(*families.get(table.family.as_bytes())?).or_default();
        for number in [REMOVED_TABLE, table.level.into(), table.number] {
            varint::write(number, edit);
        }
    }
    for (family, mut edit) in removals {
        for number in [FAMILY, family] {
            varint::write(number, &mut edit);
        }
        append(&mut shorter, &edit);
    }
    Some(shorter)
}

/// Appends an edit to a list, in parts where it does not fit into what is left of its block.
fn append(list: &mut Vec<u8>, edit: &[u8]) {
    let mut rest = edit;
    loop {
        if BLOCK - list.len() % BLOCK < HEAD {
            list.resize(list.len().next_multiple_of(BLOCK), 0);
        }
        let (part, after) = rest.split_at(rest.len().min(BLOCK - list.len() % BLOCK - HEAD));
        let kind = match (rest.len() == edit.len(), after.is_empty()) {
            (true, true) => FULL,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        // The engine turns and shifts checksums of what it stores.
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&[kind]), part);
        list.extend(checksum.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes());
        list.extend((part.len() as u16).to_le_bytes());
        list.push(kind);
        list.extend(part);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
}

/// Name and number of the family that an edit adds, if it adds one.
fn added_family(mut edit: &[u8]) -> Option<(&[u8], u64)> {
    /// Numbers of logs, files, changes and families.
    const NUMBERS: [u64; 6] = [2, 3, 4, 9, 10, 203];
    const COMPARATOR: u64 = 1;
    const FAMILY: u64 = 200;
    const NEW_FAMILY: u64 = 201;
    /// Fields whose numbers have this bit can be skipped.
    const SKIPPED: u64 = 1 << 13;
    let (mut family, mut name) = (0, None);
    while !edit.is_empty() {
        match number(&mut edit)? {
            FAMILY => family = number(&mut edit)?,
            NEW_FAMILY => name = Some(field(&mut edit)?),
            tag if NUMBERS.contains(&tag) => {
                number(&mut edit)?;
            }
            tag if tag == COMPARATOR || tag & SKIPPED != 0 => {
                field(&mut edit)?;
            }
            _ => return None,
        }
    }
    Some((name?, family))
}

/// The numbers of the tables an edit adds; `None` where it does anything else, or nothing.
fn added_tables(edit: &[u8]) -> Option<Vec<u64>> {
    let change = changed_tables(edit)?;
    (change.removed.is_empty() && !change.added.is_empty()).then_some(change.added)
}

/// The tables that an edit adds to a family and removes from it, by number.
#[derive(Debug, Default, PartialEq, Eq)]
struct ChangedTables {
    family: u64,
    added: Vec<u64>,
    removed: Vec<u64>,
}

impl ChangedTables {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// The tables an edit changes; `None` where it does anything else. Before the engine takes in sorted files it makes an edit that changes
/// nothing.
fn changed_tables(mut edit: &[u8]) -> Option<ChangedTables> {
    /// Numbers that every edit may hold: the log before this one, the next file, the last change; the family.
    const NEXT_FILE: u64 = 3;
    const LAST_SEQUENCE: u64 = 4;
    const PREVIOUS_LOG: u64 = 9;
    const FAMILY: u64 = 200;
    const REMOVED_TABLE: u64 = 6;
    const NEW_TABLE: u64 = 103;
    let mut change = ChangedTables::default();
    while !edit.is_empty() {
        match number(&mut edit)? {
            NEXT_FILE | LAST_SEQUENCE | PREVIOUS_LOG => {
                number(&mut edit)?;
            }
            FAMILY => change.family = number(&mut edit)?,
            REMOVED_TABLE => {
                let _level = number(&mut edit)?;
                change.removed.push(number(&mut edit)?);
            }
            NEW_TABLE => change.added.push(table(&mut edit)?),
            _ => return None,
        }
    }
    Some(change)
}

/// The number of a table, from the description that `edit` begins with and that is taken off it.
fn table(edit: &mut &[u8]) -> Option<u64> {
    const END: u64 = 1;
    let _level = number(edit)?;
    let table = number(edit)?;
    let _bytes = number(edit)?;
    let (_smallest_key, _largest_key) = (field(edit)?, field(edit)?);
    let (_first_change, _last_change) = (number(edit)?, number(edit)?);
    while number(edit)? != END {
        field(edit)?;
    }
    Some(table)
}

/// A varint, taken off the bytes.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    varint::read(bytes)
}

/// Bytes after their number, taken off.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(bytes)?).ok()?;
    let (field, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(field)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
    fn edits_come_back_over_the_ends_of_blocks() {
        for length in [0, 1, BLOCK - HEAD - 1, BLOCK - HEAD, BLOCK - HEAD + 1, BLOCK, 3 * BLOCK] {
            let edit: Vec<u8> = (0..length).map(|index| index as u8).collect();
            let (list, _) = list(&[&edit, b"between", &edit]);
            let found: Vec<Vec<u8>> = edits(&list).unwrap().into_iter().map(|edit| edit.content).collect();
            assert_eq!(found, [&edit[..], b"between", &edit]);
        }
    }

    #[test]
    fn only_a_tail_that_adds_missing_tables_is_not_trusted() {
        let is_there = |table: u64| table < 10;
        let (there, missing, both) = (adds(&[4, 5]), adds(&[11]), adds(&[3, 12]));
        assert_eq!(added_tables(&both), Some(vec![3, 12]));
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
            let _ = added_tables(&bytes);
            let _ = change_behind(&bytes, 0);
        }
    }
}
