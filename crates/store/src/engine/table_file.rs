//! Table file: reads the properties that a table of the engine stores about itself.
//!
//! A table ends with a footer of 53 bytes (table format, version 6):
//!
//! | bytes | field                                     |
//! |-------|-------------------------------------------|
//! | 1     | the type of its checksums                 |
//! | 4     | a magic number                            |
//! | 8     | checksums                                 |
//! | 4     | the length of the index of special blocks |
//! | 24    | zeros                                     |
//! | 4     | the version of the format                 |
//! | 8     | another magic number                      |
//!
//! The index of special blocks lies before the footer, and names the block of properties.
//!
//! A block is a sequence of entries. Each entry begins with three varints: the number of bytes that its key
//! shares with the key before, the length of the rest of the key, and the length of the value. The rest of
//! the key and the value follow. After the block come 5 bytes for its compression and checksum.
//!
//! Checksums are not compared here: the engine compares them when it opens the table.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::codec::varint;

pub(super) const FOOTER: u64 = 53;
const VERSION: [u8; 12] = [6, 0, 0, 0, 0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88];
/// The bytes after each block: its compression and its checksum.
pub(super) const TRAILER: u64 = 5;
/// Maximum bytes of a block that this code reads. Usual blocks have about 2 KB.
const MOST: u64 = 1 << 20;

/// Facts from the properties of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableFacts {
    pub(crate) bytes: u64,
    /// The name and the number of its column family. `None` for a table that was written outside of a store.
    pub(crate) family: Option<(String, u64)>,
    /// The engine's identifier of the store that wrote it.
    pub(crate) store: String,
    /// True if it contains deletions.
    pub(crate) deletes: bool,
    /// The sequence number of the last change in it. The engine sets numbers to 0 if no other version of a
    /// row can exist.
    pub(crate) last_change: u64,
}

/// The facts of the table at `path`. `None` if the file is not a table with readable properties.
pub(crate) fn facts(path: &Path) -> io::Result<Option<TableFacts>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let Some(properties) = properties(&mut file, bytes)? else { return Ok(None) };
    let value = |name: &str| {
        let found = properties.iter().find(|(key, _)| key == format!("rocksdb.{name}").as_bytes());
        found.map(|(_, value)| &value[..])
    };
    let text = |name| value(name).map(|value| String::from_utf8_lossy(value).into_owned());
    let number = |name| value(name).and_then(|mut value| varint::read(&mut value));
    let external = value("external_sst_file.version").is_some();
    let family = text("column.family.name").zip(number("column.family.id")).filter(|_| !external);
    if !external && family.is_none() {
        return Ok(None);
    }
    // The deleted keys include the deleted ranges.
    let Some(deleted) = number("deleted.keys") else { return Ok(None) };
    Ok(Some(TableFacts {
        bytes,
        family,
        store: text("creating.db.identity").unwrap_or_default(),
        deletes: deleted > 0,
        last_change: number("key.largest.seqno").unwrap_or(0),
    }))
}

/// The number of rows that were written to the table at `path`, deletions included. `None` if the file is not
/// a table with readable properties.
pub(crate) fn rows_written(path: &Path) -> io::Result<Option<u64>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let properties = properties(&mut file, bytes)?.unwrap_or_default();
    let rows = properties.iter().find(|(key, _)| key == b"rocksdb.num.entries");
    Ok(rows.and_then(|(_, value)| varint::read(&mut &value[..])))
}

type Entry = (Vec<u8>, Vec<u8>);

fn properties(file: &mut File, bytes: u64) -> io::Result<Option<Vec<Entry>>> {
    let Some(footer_at) = bytes.checked_sub(FOOTER) else { return Ok(None) };
    let footer = read_at(file, footer_at, FOOTER)?;
    let Some((index_bytes, VERSION)) = footer.get(13..17).zip(footer.last_chunk().copied()) else { return Ok(None) };
    let index_bytes = index_bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let Some(index_at) = footer_at.checked_sub(TRAILER + index_bytes).filter(|_| index_bytes <= MOST) else {
        return Ok(None);
    };
    let index = entries(&read_at(file, index_at, index_bytes)?);
    let place = index.iter().flatten().find(|(name, _)| name == b"rocksdb.properties").and_then(|(_, place)| {
        let mut place = &place[..];
        Some((varint::read(&mut place)?, varint::read(&mut place)?))
    });
    match place {
        Some((at, length)) if length <= MOST && at.checked_add(length).is_some_and(|end| end <= bytes) => {
            Ok(entries(&read_at(file, at, length)?))
        }
        _ => Ok(None),
    }
}

fn read_at(file: &mut File, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(bytes).read_to_end(&mut content)?;
    Ok(content)
}

/// The entries of a block. `None` if the bytes are not a block.
fn entries(block: &[u8]) -> Option<Vec<Entry>> {
    // Restart points follow the entries: the offset of every n-th entry, and then the number of these
    // offsets. The upper bits of this number are flags.
    let (rest, places) = block.split_last_chunk::<4>()?;
    let places = (u32::from_le_bytes(*places) & 0x0fff_ffff) as usize;
    let mut rest = &rest[..rest.len().checked_sub(places.checked_mul(4)?)?];
    let (mut found, mut key) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let mut number = || Some(varint::read(&mut rest)? as usize);
        let (shared, own, value) = (number()?, number()?, number()?);
        let (own, after) = rest.split_at_checked(own)?;
        let (value, after) = after.split_at_checked(value)?;
        key.truncate(shared);
        key.extend(own);
        found.push((key.clone(), value.to_vec()));
        rest = after;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::codec::format::FAMILIES;

    fn golden() -> impl Iterator<Item = std::path::PathBuf> {
        let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/format-1/db/store");
        let paths = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
    }

    #[test]
    fn tables_tell_their_family_and_those_from_outside_do_not() {
        let (mut outside, mut inside) = (0, 0);
        for path in golden() {
            let facts = facts(&path).unwrap().unwrap();
            assert_eq!(facts.bytes, fs::metadata(&path).unwrap().len());
            match facts.family {
                None => {
                    outside += 1;
                    assert_eq!((facts.store.as_str(), facts.deletes, facts.last_change), ("SST Writer", false, 0));
                }
                Some((family, number)) => {
                    inside += 1;
                    let expected = FAMILIES.iter().position(|known| *known == family).unwrap() as u64 + 1;
                    assert_eq!(number, expected % FAMILIES.len() as u64, "{family}");
                    assert_eq!(facts.store.len(), 36);
                }
            }
        }
        assert!(outside > 10 && inside > 10, "{outside} {inside}");
    }

    #[test]
    fn a_cut_table_and_other_files_tell_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        let table = fs::read(golden().next().unwrap()).unwrap();
        for content in [&table[..table.len() - 1], &table[..60], &table[..53], &table[..3], b"", &[0xff; 500]] {
            fs::write(&path, content).unwrap();
            assert_eq!(facts(&path).unwrap(), None, "{} bytes", content.len());
        }
        // Any one byte at the end of the file may have any value.
        for at in table.len().saturating_sub(2500)..table.len() {
            let mut flipped = table.clone();
            flipped[at] ^= 0x55;
            fs::write(&path, flipped).unwrap();
            let _ = facts(&path).unwrap();
        }
    }
}
