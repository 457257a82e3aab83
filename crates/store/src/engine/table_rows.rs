//! Table rows: reads rows of a damaged table file without the engine.
//!
//! The engine returns no row of a block with a wrong checksum, and no row at all of a table whose index,
//! properties or footer cannot be read. The file often still holds these rows. This module reads them block
//! by block from the start of the file. A block with a wrong checksum gives the rows that still decode, which
//! count as doubtful. After a row that does not decode, reading continues at the next row with a full key:
//! every sixteenth row of a block has one.
//!
//! Only blocks without compression are read. [`table_file`](super::table_file) explains footers and blocks.
//! The key of a row ends with 8 bytes: its kind (1: value, 0: deletion), then 7 bytes of its sequence number.
//! A checksum is the lower 32 bits of the XXH3-64 of the block, mixed with three other numbers: the byte for
//! the compression, the offset of the block, and a number in the footer.

use xxhash_rust::xxh3::xxh3_64;

use super::table_file::{FOOTER, TRAILER};
use crate::codec::varint;

/// The bytes that the engine adds to a key.
const SUFFIX: usize = 8;
const DELETION: u8 = 0;
const VALUE: u8 = 1;
/// The type of the checksums that the engine writes.
const XXH3: u8 = 4;

/// A row of a table file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub(crate) key: Vec<u8>,
    /// `None` for a deletion.
    pub(crate) value: Option<Vec<u8>>,
    /// Its sequence number.
    pub(crate) change: u64,
    /// False if the checksum of its block is wrong.
    pub(crate) sound: bool,
}

/// The rows of a table, as far as they can be read. `is_key` tells whether bytes begin like a key.
pub(crate) fn rows(table: &[u8], is_key: impl Fn(&[u8]) -> bool) -> Vec<FileRow> {
    let footer = table.len().checked_sub(FOOTER as usize).map(|at| &table[at..]);
    let base = footer.filter(|footer| footer[0] == XXH3).and_then(|footer| footer[9..].first_chunk::<4>());
    let base = base.map(|base| u32::from_le_bytes(*base));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < table.len() {
        let (rows, length) = chain(&table[at..]);
        let places = rows.first().and_then(|_| places(&table[at + length..]));
        let end = at + length + places.unwrap_or(0);
        let sound = places.is_some() && base.is_some_and(|base| is_sound(table, at, end, base));
        if sound || rows.first().is_some_and(|row| is_key(&row.key)) {
            found.extend(rows.into_iter().map(|row| FileRow { sound, ..row }));
            at = end + if places.is_some() { TRAILER as usize } else { 0 };
        } else {
            at += 1;
        }
    }
    found
}

/// The rows at the front of `bytes`, up to the first that does not decode, and the number of bytes that these
/// rows take.
fn chain(bytes: &[u8]) -> (Vec<FileRow>, usize) {
    let (mut rows, mut key, mut rest) = (Vec::new(), Vec::new(), bytes);
    while let Some((row, after)) = row(&mut key, rest) {
        rows.push(row);
        rest = after;
    }
    (rows, bytes.len() - rest.len())
}

/// The row at the front of `bytes`, and the bytes after it. `key` must hold the key of the row before. The
/// call replaces it with the key of this row.
fn row<'a>(key: &mut Vec<u8>, mut bytes: &'a [u8]) -> Option<(FileRow, &'a [u8])> {
    let mut number = || Some(varint::read(&mut bytes)? as usize);
    let (shared, own, value) = (number()?, number()?, number()?);
    let (own, after) = bytes.split_at_checked(own)?;
    let (value, after) = after.split_at_checked(value)?;
    if shared > key.len() || shared + own.len() < SUFFIX {
        return None;
    }
    key.truncate(shared);
    key.extend(own);
    let (short, suffix) = key.split_last_chunk::<SUFFIX>()?;
    let change = u64::from_le_bytes(*suffix) >> 8;
    let value = match suffix[0] {
        VALUE => Some(value.to_vec()),
        DELETION if value.is_empty() => None,
        _ => return None,
    };
    Some((FileRow { key: short.to_vec(), value, change, sound: false }, after))
}

/// The number of bytes that the restart points at the front of `bytes` take. Restart points are the offsets
/// of some rows, the first of them 0, and then the number of these offsets.
fn places(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| Some(u32::from_le_bytes(*bytes.get(at * 4..)?.first_chunk::<4>()?));
    let mut last = number(0).filter(|first| *first == 0)?;
    for at in 1.. {
        let next = number(at)?;
        if next as usize == at {
            return Some((at + 1) * 4);
        }
        if next <= last {
            return None;
        }
        last = next;
    }
    None
}

/// True if the block has no compression and its checksum is right.
fn is_sound(table: &[u8], start: usize, end: usize, base: u32) -> bool {
    let Some((&0, rest)) = table.get(end..).and_then(<[u8]>::split_first) else { return false };
    let Some(written) = rest.first_chunk::<4>() else { return false };
    // The byte for the compression is 0, so it does not change the checksum.
    let computed = xxh3_64(&table[start..end]) as u32;
    let start = start as u64;
    let place = if base == 0 { 0 } else { base ^ (start as u32).wrapping_add((start >> 32) as u32) };
    computed.wrapping_add(place) == u32::from_le_bytes(*written)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::codec::format::{MAIN, RUN_PREFIX, STATE_KEY};
    use crate::engine::table_file;

    /// The tables of the main family of a database of format 1.
    fn golden() -> Vec<(Vec<u8>, u64)> {
        let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/format-1/db/store");
        let paths = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
        let is_main = |path: &std::path::PathBuf| {
            let facts = path.extension().filter(|it| *it == "sst").and_then(|_| table_file::facts(path).unwrap());
            facts.and_then(|facts| facts.family).is_some_and(|(family, _)| family == MAIN)
        };
        paths
            .filter(is_main)
            .map(|path| (fs::read(&path).unwrap(), table_file::rows_written(&path).unwrap().unwrap()))
            .collect()
    }

    fn is_key(key: &[u8]) -> bool {
        [STATE_KEY, RUN_PREFIX, b"identity", b"profile"].iter().any(|prefix| key.starts_with(prefix))
    }

    #[test]
    fn all_rows_of_a_whole_table_are_sound() {
        let tables = golden();
        assert!(!tables.is_empty());
        for (table, written) in tables {
            let rows = rows(&table, is_key);
            assert!(rows.iter().all(|row| row.sound), "{rows:?}");
            assert_eq!(rows.len() as u64, written);
            assert!(rows.iter().any(|row| row.key == STATE_KEY && row.value.is_some()));
        }
    }

    #[test]
    fn a_flipped_bit_costs_at_most_the_rows_up_to_the_next_full_key() {
        let (table, _) = golden().remove(0);
        let whole = rows(&table, is_key);
        for at in 0..table.len() {
            let mut flipped = table.clone();
            flipped[at] ^= 4;
            let rows = rows(&flipped, is_key);
            let lost = whole.iter().filter(|row| !rows.iter().any(|it| (&it.key, &it.value) == (&row.key, &row.value)));
            assert!(lost.count() <= 16, "byte {at}");
            // A sound row is as it was written.
            assert!(rows.iter().filter(|row| row.sound).all(|row| whole.contains(row)), "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(rows(&bytes, |_| true).iter().all(|row| !row.sound));
            prop_assert!(rows(&bytes, |key| key.len() > 3).len() <= bytes.len());
        }
    }
}
