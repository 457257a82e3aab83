//! The disk format, version 1: every key and value, byte by byte. All of it that is not metadata is
//! encoded by hand; integers in keys are big-endian, so that key order is numeric order.
//!
//! A database is a folder:
//!
//! | path        | what                                                                             |
//! |-------------|----------------------------------------------------------------------------------|
//! | `FPDB`      | the text `fpdb database, format 1\n`, written last when a database is made        |
//! | `lock`      | locked by the one writer, and names it                                            |
//! | `committed` | `commit ` n ` ` XXH3-64 of that, as text: the last commit; absent or torn, it vouches for nothing |
//! | `store/`    | RocksDB                                                                           |
//! | `incoming/` | sorted files on their way into the store; whatever a crash leaves there is removed |
//!
//! Column families of the store. A *run* is one sorted batch of postings: written once, never changed.
//!
//! | family       | key                                          | value                              |
//! |--------------|----------------------------------------------|------------------------------------|
//! | `default`    | `profile`                                    | the profile, below                 |
//! |              | `state`                                      | [`super::records::StateRecord`]    |
//! |              | `run` ‖ run (4)                              | [`super::records::RunRecord`]      |
//! | `postings`   | run (4) ‖ hash (8) ‖ continuation (4)        | a posting block, below             |
//! | `positions`  | document (4) ‖ chunk (4)                     | a chunk of positions, below        |
//! | `documents`  | document (4)                                 | [`super::records::DocumentRecord`] |
//! | `names`      | name, escaped ‖ `00 01` ‖ document (4)       | empty                              |
//! | `digests`    | XXH3-128 of the bytes (16) ‖ document (4)    | empty                              |
//! | `texts`      | document (4) ‖ chunk (4)                     | zstd of 1 MiB of the bytes, or less |
//! | `tombstones` | high half of the document (2)                | roaring bitmap of low halves       |
//! | `boilerplate` | high half of the document (2)               | roaring bitmap of low halves       |
//! | `containers` | path, escaped ‖ `00 01`                      | a record of its size and time      |
//!
//! The *continuation* of a posting block is 0, unless its first hash is also the last hash of the block
//! before it: then it is one more than that block's. So the last block whose key is at or below
//! run ‖ x ‖ 0 is where the postings of x begin, if there are any.
//!
//! An escaped name has each byte `00` followed by `ff`; what follows the name sorts before any other byte.
//!
//! Records (state, run, document) are one version byte, 1, and bincode 2 with its standard settings
//! (little-endian varints), decoded with a size limit.
//!
//! Profile, 20 bytes:
//!
//! | offset | bytes | what                                                                         |
//! |--------|-------|------------------------------------------------------------------------------|
//! | 0      | 1     | hash version                                                                  |
//! | 1      | 1     | unit: 0 char, 1 word, 2 byte, 3 token                                         |
//! | 2      | 1     | word rule: 0 letters, 1 Unicode                                               |
//! | 3      | 1     | selection: 0 robust, 1 plain, 2 mod, 3 safe mod, 4 all                        |
//! | 4      | 4     | k                                                                             |
//! | 8      | 4     | w                                                                             |
//! | 12     | 8     | p of the selections mod and safe mod, else 0                                  |
//!
//! Posting block, 1 to 512 postings in ascending order of (hash, document, ordinal):
//!
//! | part           | bytes          | what                                                          |
//! |----------------|----------------|---------------------------------------------------------------|
//! | count          | varint         | postings                                                      |
//! | least document | varint         | the smallest document id in the block                         |
//! | widths         | 3              | bits of a hash delta, of a document, of an ordinal            |
//! | new hash       | count bits     | 1 where the hash differs from the one before; the first is 0  |
//! | hash deltas    | column         | for each 1 above, the hash minus the one before               |
//! | documents      | column         | for each posting, the document minus the least                |
//! | ordinals       | column         | for each posting, the fingerprint's number in its document    |
//!
//! A column is packed without gaps, least significant bit first, and filled up to a whole byte.
//!
//! Chunk of positions: fingerprints 1024 c to 1024 c + 1023 of a document, each as five varints: first
//! symbol minus the one before, start byte minus the one before, end byte minus start, first line minus
//! the one before, last line minus first. Before the first of a chunk all are 0.

use crate::error::{Error, Result};
use crate::profile::{Profile, Selection, Unit, WordRule};

/// The version of the format this program reads and writes.
pub(crate) const FORMAT_VERSION: u32 = 1;

pub(super) const MARKER: &str = "FPDB";
pub(super) const LOCK: &str = "lock";
pub(super) const COMMITTED: &str = "committed";
pub(super) const STORE: &str = "store";
pub(super) const INCOMING: &str = "incoming";

pub(super) const POSTINGS: &str = "postings";
pub(super) const POSITIONS: &str = "positions";
pub(super) const DOCUMENTS: &str = "documents";
pub(super) const NAMES: &str = "names";
pub(super) const DIGESTS: &str = "digests";
pub(super) const TEXTS: &str = "texts";
pub(super) const TOMBSTONES: &str = "tombstones";
pub(super) const BOILERPLATE: &str = "boilerplate";
pub(super) const CONTAINERS: &str = "containers";

pub(super) const PROFILE_KEY: &[u8] = b"profile";
pub(super) const STATE_KEY: &[u8] = b"state";
pub(super) const RUN_PREFIX: &[u8] = b"run";

const MARKER_TEXT: &str = "fpdb database, format ";

/// The content of the marker file.
pub(super) fn marker() -> String {
    format!("{MARKER_TEXT}{FORMAT_VERSION}\n")
}

/// The version a marker file names; `None` where it is no marker.
pub(super) fn marker_version(text: &str) -> Option<&str> {
    text.strip_prefix(MARKER_TEXT).map(str::trim_end)
}

/// A key's fields, read from its end.
pub(super) fn split_u32(key: &[u8]) -> Option<(&[u8], u32)> {
    let (rest, last) = key.split_last_chunk::<4>()?;
    Some((rest, u32::from_be_bytes(*last)))
}

pub(super) fn run_key(run: u32) -> Vec<u8> {
    [RUN_PREFIX, &run.to_be_bytes()].concat()
}

pub(super) fn posting_key(run: u32, hash: u64, continuation: u32) -> [u8; 16] {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&run.to_be_bytes());
    key[4..12].copy_from_slice(&hash.to_be_bytes());
    key[12..].copy_from_slice(&continuation.to_be_bytes());
    key
}

/// Run, first hash and continuation of a posting key.
pub(super) fn parse_posting_key(key: &[u8]) -> Option<(u32, u64, u32)> {
    let (rest, continuation) = split_u32(key)?;
    let (rest, hash) = rest.split_last_chunk::<8>()?;
    let run = rest.try_into().ok().map(u32::from_be_bytes)?;
    Some((run, u64::from_be_bytes(*hash), continuation))
}

pub(super) fn position_key(document: u32, chunk: u32) -> [u8; 8] {
    (u64::from(document) << 32 | u64::from(chunk)).to_be_bytes()
}

pub(super) fn document_key(document: u32) -> [u8; 4] {
    document.to_be_bytes()
}

pub(super) fn name_prefix(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 6);
    for &byte in name.as_bytes() {
        key.push(byte);
        if byte == 0 {
            key.push(0xff);
        }
    }
    key.extend([0, 1]);
    key
}

pub(super) fn name_key(name: &str, document: u32) -> Vec<u8> {
    let mut key = name_prefix(name);
    key.extend(document.to_be_bytes());
    key
}

pub(super) fn digest_key(digest: &[u8; 16], document: u32) -> [u8; 20] {
    let mut key = [0; 20];
    key[..16].copy_from_slice(digest);
    key[16..].copy_from_slice(&document.to_be_bytes());
    key
}

pub(super) fn document_set_key(document: u32) -> [u8; 2] {
    ((document >> 16) as u16).to_be_bytes()
}

pub(super) fn encode_profile(profile: &Profile) -> [u8; 20] {
    let unit = match profile.unit {
        Unit::Char => 0,
        Unit::Word => 1,
        Unit::Byte => 2,
        Unit::Token => 3,
    };
    let word_rule = match profile.word_rule {
        WordRule::Letters => 0,
        WordRule::Unicode => 1,
    };
    let (selection, p) = match profile.selection {
        Selection::Robust => (0, 0),
        Selection::Plain => (1, 0),
        Selection::Mod(p) => (2, p),
        Selection::SafeMod(p) => (3, p),
        Selection::All => (4, 0),
    };
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&[profile.hash_version, unit, word_rule, selection]);
    bytes[4..8].copy_from_slice(&profile.k.to_be_bytes());
    bytes[8..12].copy_from_slice(&profile.w.to_be_bytes());
    bytes[12..].copy_from_slice(&p.to_be_bytes());
    bytes
}

pub(super) fn decode_profile(bytes: &[u8]) -> Result<Profile> {
    let damaged = |detail| Error::Damaged { what: "the profile record".into(), detail };
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(|| damaged("it ends early"))?;
    let (k, rest) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("it ends early"))?;
    let (w, rest) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("it ends early"))?;
    let p = rest.try_into().map(u64::from_be_bytes).map_err(|_| damaged("its length is not 20 bytes"))?;
    let unit = match head[1] {
        0 => Unit::Char,
        1 => Unit::Word,
        2 => Unit::Byte,
        3 => Unit::Token,
        _ => return Err(damaged("it names an unknown unit")),
    };
    let word_rule = match head[2] {
        0 => WordRule::Letters,
        1 => WordRule::Unicode,
        _ => return Err(damaged("it names an unknown word rule")),
    };
    let selection = match head[3] {
        0 => Selection::Robust,
        1 => Selection::Plain,
        2 => Selection::Mod(p),
        3 => Selection::SafeMod(p),
        4 => Selection::All,
        _ => return Err(damaged("it names an unknown selection")),
    };
    let profile = Profile::new(unit, word_rule, u32::from_be_bytes(*k), u32::from_be_bytes(*w), selection)
        .map_err(|_| damaged("its k, w or p is out of range"))?;
    Ok(Profile { hash_version: head[0], ..profile })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_come_back_and_cut_ones_do_not() {
        for selection in
            [Selection::Robust, Selection::Plain, Selection::Mod(50), Selection::SafeMod(u64::MAX), Selection::All]
        {
            for unit in [Unit::Char, Unit::Word, Unit::Byte, Unit::Token] {
                let w = if selection == Selection::All { 1 } else { 100 };
                let profile = Profile::new(unit, WordRule::Unicode, 50, w, selection).unwrap();
                let bytes = encode_profile(&profile);
                assert_eq!(decode_profile(&bytes).unwrap(), profile);
                for cut in 0..bytes.len() {
                    assert!(decode_profile(&bytes[..cut]).is_err());
                }
            }
        }
    }

    #[test]
    fn name_keys_keep_the_order_of_names_and_tell_them_apart() {
        let names = ["", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "a/b", "ab", "b"];
        let mut keys: Vec<Vec<u8>> = names.iter().map(|name| name_key(name, 7)).collect();
        let expected = keys.clone();
        keys.sort();
        assert_eq!(keys, expected);
        for name in names {
            for other in names {
                assert_eq!(name_key(other, 0).starts_with(&name_prefix(name)), name == other, "{name:?} {other:?}");
            }
        }
    }

    #[test]
    fn posting_keys_ascend_with_run_hash_and_continuation() {
        let fields = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 256, 0), (0, u64::MAX, 0), (1, 0, 0), (256, 0, 0)];
        let keys: Vec<[u8; 16]> = fields.iter().map(|&(run, hash, c)| posting_key(run, hash, c)).collect();
        assert!(keys.is_sorted());
        for (key, field) in keys.iter().zip(fields) {
            assert_eq!(parse_posting_key(key), Some(field));
        }
        assert_eq!(parse_posting_key(&keys[0][1..]), None);
    }
}
