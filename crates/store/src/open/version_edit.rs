//! Version edit: reads and writes the parts of a record of RocksDB's list of tables (`MANIFEST`) that this
//! crate needs.
//!
//! The list has the form of the engine's logs: blocks of 32 KiB. In a block, each part of a record begins
//! with a head of 7 bytes: 4 of CRC-32C, 2 of length, 1 of kind. Each record is an edit: numbered fields, as
//! in `db/version_edit.h` of RocksDB.

use std::collections::BTreeMap;

use crate::codec::varint;

/// Block size of the engine's logs.
const BLOCK: usize = 32 << 10;
const HEAD: usize = 7;

/// Kinds of records: whole, first part, part between, last part.
const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

/// Numbers of the fields.
const COMPARATOR: u64 = 1;
const LOG: u64 = 2;
const NEXT_FILE: u64 = 3;
const LAST_CHANGE: u64 = 4;
const REMOVED_TABLE: u64 = 6;
const PREVIOUS_LOG: u64 = 9;
const LEAST_LOG: u64 = 10;
const NEW_TABLE: u64 = 103;
const FAMILY: u64 = 200;
const NEW_FAMILY: u64 = 201;
const MOST_FAMILIES: u64 = 203;
/// Fields whose numbers have this bit can be skipped.
const SKIPPED: u64 = 1 << 13;
const STORE_ID: u64 = SKIPPED + 1;

/// Numbers of the optional fields of a table.
const END: u64 = 1;
const EPOCH: u64 = 13;

/// The lowest and the highest sequence number.
const NO_CHANGE: u64 = 0;
const GREATEST_CHANGE: u64 = (1 << 56) - 1;

/// One edit of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VersionEdit {
    /// The engine's name of the store.
    pub(super) store: Option<String>,
    /// The number of its column family.
    pub(super) family: u64,
    /// The name of the family, if the edit adds it.
    pub(super) new_family: Option<Vec<u8>>,
    pub(super) added: Vec<AddedTable>,
    /// The numbers of the tables it removes.
    pub(super) removed: Vec<u64>,
    /// True if it does more than add or remove tables.
    pub(super) changes_more: bool,
}

/// A table that an edit adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AddedTable {
    pub(super) number: u64,
    pub(super) bytes: u64,
}

impl VersionEdit {
    /// Reads an edit. `None` if it has an unknown field.
    pub(super) fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut edit = Self::default();
        while !bytes.is_empty() {
            match number(&mut bytes)? {
                FAMILY => edit.family = number(&mut bytes)?,
                REMOVED_TABLE => {
                    let _level = number(&mut bytes)?;
                    edit.removed.push(number(&mut bytes)?);
                }
                NEW_TABLE => edit.added.push(added_table(&mut bytes)?),
                NEXT_FILE | LAST_CHANGE | PREVIOUS_LOG => drop(number(&mut bytes)?),
                other => {
                    edit.changes_more = true;
                    match other {
                        LOG | LEAST_LOG | MOST_FAMILIES => drop(number(&mut bytes)?),
                        NEW_FAMILY => edit.new_family = Some(field(&mut bytes)?.to_vec()),
                        STORE_ID => edit.store = Some(String::from_utf8_lossy(field(&mut bytes)?).into_owned()),
                        COMPARATOR => drop(field(&mut bytes)?),
                        other if other & SKIPPED != 0 => drop(field(&mut bytes)?),
                        _ => return None,
                    }
                }
            }
        }
        Some(edit)
    }

    /// True if it only adds tables.
    pub(super) fn only_adds_tables(&self) -> bool {
        !self.changes_more && self.removed.is_empty() && !self.added.is_empty()
    }
}

/// Reads the description of a table from the front of `edit`.
fn added_table(edit: &mut &[u8]) -> Option<AddedTable> {
    let _level = number(edit)?;
    let (table, bytes) = (number(edit)?, number(edit)?);
    let (_smallest_key, _largest_key) = (field(edit)?, field(edit)?);
    let (_first_change, _last_change) = (number(edit)?, number(edit)?);
    while number(edit)? != END {
        field(edit)?;
    }
    Some(AddedTable { number: table, bytes })
}

/// A record of a log of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its offset in the log.
    pub(crate) start: usize,
    /// The offset of its end.
    pub(crate) end: usize,
    pub(crate) content: Vec<u8>,
}

/// The records of a log of the engine, up to the first unreadable one.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) records: Vec<Record>,
    /// True if a record is damaged. A record that is cut off at the end of the log is not damage: the engine
    /// may be writing it.
    pub(crate) damaged: bool,
}

impl Records {
    pub(crate) fn of(log: &[u8]) -> Self {
        let mut found = Self::default();
        let mut open: Option<Record> = None;
        let mut at = 0;
        while at < log.len() {
            let left = BLOCK - at % BLOCK;
            if left < HEAD {
                at += left;
                continue;
            }
            let Some(head) = log.get(at..at + HEAD) else { break };
            // Reserved space without a record.
            if head == [0; HEAD] && log[at..].iter().all(|&byte| byte == 0) {
                break;
            }
            let length = usize::from(u16::from_le_bytes([head[4], head[5]]));
            let end = at + HEAD + length;
            // No record reaches into the next block.
            found.damaged = HEAD + length > left;
            let Some(content) = log.get(at + HEAD..end).filter(|_| !found.damaged) else { break };
            let kind = head[6];
            found.damaged = head[..4] != checksum(kind, content).to_le_bytes();
            match (kind, open.as_mut()) {
                _ if found.damaged => break,
                (FULL, None) => found.records.push(Record { start: at, end, content: content.to_vec() }),
                (FIRST, None) => open = Some(Record { start: at, end, content: content.to_vec() }),
                (MIDDLE, Some(record)) => record.content.extend_from_slice(content),
                (LAST, Some(record)) => {
                    record.end = end;
                    record.content.extend_from_slice(content);
                    found.records.extend(open.take());
                }
                _ => {
                    found.damaged = true;
                    break;
                }
            }
            at = end;
        }
        found
    }

    /// The edits, each with its record. Edits with unknown fields are left out.
    pub(super) fn edits(&self) -> impl Iterator<Item = (&Record, VersionEdit)> {
        self.records.iter().filter_map(|record| Some((record, VersionEdit::parse(&record.content)?)))
    }

    /// The end of the last whole record.
    pub(super) fn end(&self) -> usize {
        self.records.last().map_or(0, |record| record.end)
    }

    /// The numbers of the families that the edits add, by name.
    pub(super) fn families(&self) -> BTreeMap<Vec<u8>, u64> {
        self.edits().filter_map(|(_, edit)| Some((edit.new_family?, edit.family))).collect()
    }
}

/// Appends a record to a log, in parts if it exceeds the space left in the block.
pub(super) fn append(log: &mut Vec<u8>, record: &[u8]) {
    let (mut rest, mut begins) = (record, true);
    loop {
        if BLOCK - log.len() % BLOCK < HEAD {
            log.resize(log.len().next_multiple_of(BLOCK), 0);
        }
        let (part, after) = rest.split_at(rest.len().min(BLOCK - log.len() % BLOCK - HEAD));
        // If only a head fits into the block, the first part is empty.
        let kind = match (begins, after.is_empty()) {
            (true, true) => FULL,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        log.extend(checksum(kind, part).to_le_bytes());
        log.extend((part.len() as u16).to_le_bytes());
        log.push(kind);
        log.extend(part);
        (rest, begins) = (after, false);
        if rest.is_empty() {
            break;
        }
    }
}

/// The checksum in the head of a part of a record: CRC-32C, rotated and offset as the engine does.
fn checksum(kind: u8, part: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&[kind]), part).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// An edit that removes tables, by level and number, from a family.
pub(super) fn removal(family: u64, tables: impl IntoIterator<Item = (u32, u64)>) -> Vec<u8> {
    let mut edit = Vec::new();
    for (level, table) in tables {
        write(&mut edit, [REMOVED_TABLE, level.into(), table]);
    }
    write(&mut edit, [FAMILY, family]);
    edit
}

/// A table as the list describes it.
pub(crate) struct ListedTable<'a> {
    pub(crate) level: u32,
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    /// Bounds of its keys.
    pub(crate) keys: (&'a [u8], &'a [u8]),
    /// Its highest sequence number. All rows of an ingested file have this number.
    pub(crate) last_change: u64,
}

/// Encodes a list of these tables, by family. The first family is the default one. A store with this list
/// uses all its logs.
pub(crate) fn list<'a>(
    families: impl IntoIterator<Item = (u64, &'a str, Vec<ListedTable<'a>>)>,
    next_file: u64,
) -> Vec<u8> {
    let mut list = Vec::new();
    for (family, name, tables) in families {
        let mut edit = Vec::new();
        write(&mut edit, [COMPARATOR]);
        write_field(&mut edit, b"leveldb.BytewiseComparator");
        write(&mut edit, [LOG, 0, NEXT_FILE, next_file, LAST_CHANGE, LAST_CHANGE_OF_ALL]);
        if family != 0 {
            write(&mut edit, [FAMILY, family, NEW_FAMILY]);
            write_field(&mut edit, name.as_bytes());
        }
        append(&mut list, &edit);
        for table in tables {
            let mut edit = Vec::new();
            write(&mut edit, [NEW_TABLE, table.level.into(), table.number, table.bytes]);
            // For equal keys the higher sequence number comes first.
            for (key, change, kind) in [(table.keys.0, GREATEST_CHANGE, 1u64), (table.keys.1, NO_CHANGE, 0)] {
                write_field(&mut edit, &[key, &(change << 8 | kind).to_le_bytes()].concat());
            }
            write(&mut edit, [table.last_change, table.last_change, EPOCH]);
            write_field(&mut edit, &[1]);
            write(&mut edit, [END, FAMILY, family]);
            append(&mut list, &edit);
        }
    }
    list
}

/// Rows above this sequence number are hidden. It is higher than any number in use.
const LAST_CHANGE_OF_ALL: u64 = 1 << 55;

fn write<const N: usize>(edit: &mut Vec<u8>, numbers: [u64; N]) {
    numbers.into_iter().for_each(|number| varint::write(number, edit));
}

fn write_field(edit: &mut Vec<u8>, field: &[u8]) {
    varint::write(field.len() as u64, edit);
    edit.extend(field);
}

/// Reads a varint from the front of the bytes.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    varint::read(bytes)
}

/// Reads a length from the front of the bytes, and then that number of bytes.
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

    #[test]
    fn records_come_back_over_the_ends_of_blocks() {
        for length in [0, 1, BLOCK - 2 * HEAD, BLOCK - HEAD - 1, BLOCK - HEAD, BLOCK - HEAD + 1, BLOCK, 3 * BLOCK] {
            let record: Vec<u8> = (0..length).map(|index| index as u8).collect();
            let mut log = Vec::new();
            for part in [&record[..], b"between", &record] {
                append(&mut log, part);
            }
            let found = Records::of(&log);
            assert!(!found.damaged && found.end() == log.len());
            let contents: Vec<&[u8]> = found.records.iter().map(|record| &record.content[..]).collect();
            assert_eq!(contents, [&record[..], b"between", &record]);
        }
    }

    #[test]
    fn a_cut_record_is_left_out_and_a_flipped_bit_is_damage() {
        let mut log = Vec::new();
        for part in [&b"first"[..], b"second", b"third"] {
            append(&mut log, part);
        }
        let ends: Vec<usize> = Records::of(&log).records.iter().map(|record| record.end).collect();
        for cut in 0..log.len() {
            let found = Records::of(&log[..cut]);
            let whole = ends.iter().filter(|&&end| end <= cut).count();
            assert_eq!((found.records.len(), found.damaged), (whole, false), "{cut}");
        }
        for at in 0..log.len() {
            let mut flipped = log.clone();
            flipped[at] ^= 4;
            let found = Records::of(&flipped);
            let before = ends.iter().filter(|&&end| end <= at).count();
            // A length that is too large makes the log look cut off.
            assert_eq!(found.records.len(), before, "{at}");
        }
        let reserved = [&log[..], &[0; 100]].concat();
        assert_eq!((Records::of(&reserved).end(), Records::of(&reserved).damaged), (log.len(), false));
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let table = |number| ListedTable { level: 1, number, bytes: 70 + number, keys: (b"a", b"b"), last_change: 5 };
        let list = list([(0, "default", vec![table(7)]), (3, "positions", vec![table(8), table(9)])], 10);
        let records = Records::of(&list);
        assert!(!records.damaged && records.end() == list.len());
        assert_eq!(records.families(), BTreeMap::from([(b"positions".to_vec(), 3)]));
        let added: Vec<(u64, u64, u64)> = records
            .edits()
            .flat_map(|(_, edit)| edit.added.iter().map(|it| (edit.family, it.number, it.bytes)).collect::<Vec<_>>())
            .collect();
        assert_eq!(added, [(0, 7, 77), (3, 8, 78), (3, 9, 79)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Records::of(&bytes).end() <= bytes.len());
            if let Some(edit) = VersionEdit::parse(&bytes) {
                prop_assert!(edit.added.len() <= bytes.len());
            }
        }
    }
}
