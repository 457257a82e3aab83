//! The disk format, version 1: every key and value, byte by byte. Only metadata uses a library; all other
//! values are encoded by hand. Integers in keys are big-endian, so that the order of keys is the order of
//! numbers. The file is long because it is the whole format.
//!
//! A database is a folder:
//!
//! | path        | content                                                                          |
//! |-------------|----------------------------------------------------------------------------------|
//! | `FPDB`      | the marker: the text `fpdb database, format 1\n`, then `profile `, the profile below in hexadecimal digits, and `\n`; written last when a database is created |
//! | `lock`      | locked by the one writer; its text names the writer                               |
//! | `committed` | the mark, below                                                                   |
//! | `store/`    | the files of RocksDB                                                              |
//! | `damaged-N` | a store that a repair has replaced; users remove it when they no longer need it   |
//! | `incoming/` | sorted files that the store has not taken over yet; the next writer removes those that a crash leaves |
//!
//! The mark describes the database at some time after its last commit. It has four lines of text:
//!
//! * `commit `, and the number of the last commit;
//! * `tables `, the number of the list of tables (`MANIFEST`), its length, and the XXH3-64 of its first 64
//!   bytes;
//! * `documents `, the number of the commit, the number of documents, and the next document id;
//! * `identity `, the number of the commit, and the identity of the database.
//!
//! Each line ends with a space and the XXH3-64 of the text before it. Readers ignore a line that is missing
//! or torn.
//!
//! Column families of the store. A *run* is one sorted batch of postings: written once, never changed.
//!
//! | family       | key                                          | value                              |
//! |--------------|----------------------------------------------|------------------------------------|
//! | `default`    | `profile`                                    | the profile, below                 |
//! |              | `state`                                      | [`crate::codec::records::StateRecord`]    |
//! |              | `identity`                                   | text that tells this database from others, written with each commit; if absent, RocksDB's name of the store is the identity |
//! |              | `run` ‖ run (4)                              | [`crate::codec::records::RunRecord`]      |
//! |              | `fold`                                       | [`crate::codec::records::FoldRecord`]: the progress of an unfinished fold; no list contains its run |
//! |              | `assembled` ‖ generation (16)                | empty: the database contains this distributed build |
//! |              | `source` ‖ path, escaped ‖ `00 01`           | [`crate::codec::records::SourceRecord`]   |
//! |              | `kept-out` ‖ XXH3-128 of the bytes (16)      | [`crate::codec::records::KeptOutRecord`]  |
//! |              | `place` ‖ folder, escaped ‖ `00 01` ‖ beginning of names, escaped ‖ `00 01` | empty: a [`crate::NamePlace`] |
//! |              | `all-places`                                 | empty: each document with a file has its place in the list |
//! |              | `root` ‖ path                                | empty: the database was in this folder when an ingest wrote it |
//! |              | `all-roots`                                  | empty: each folder in which an ingest wrote the database is in the list |
//! | `postings`   | run (4) ‖ last hash (8) ‖ continuation (4)   | a posting block, below             |
//! | `filters`    | run (4) ‖ last hash (8)                      | a filter, below                    |
//! | `positions`  | document (4) ‖ chunk (4)                     | a chunk of positions, below        |
//! | `documents`  | document (4)                                 | [`crate::codec::records::DocumentRecord`] |
//! | `names`      | name, escaped ‖ `00 01` ‖ document (4)       | empty                              |
//! | `digests`    | XXH3-128 of the bytes (16) ‖ document (4)    | empty                              |
//! | `texts`      | document (4) ‖ chunk (4)                     | at most 1 MiB of the bytes, compressed with zstd |
//! | `tombstones` | high half of the document (2)                | roaring bitmap of low halves       |
//! | `boilerplate` | high half of the document (2)               | roaring bitmap of low halves       |
//! | `containers` | path, escaped ‖ `00 01`                      | [`crate::codec::container_record::ContainerRecord`] |
//!
//! The *continuation* of a posting block is usually 0. If the block before has the same last hash, the
//! continuation is one more than the continuation of the block before. So the postings of a hash x, if any,
//! begin in the first block whose key is at or above run ‖ x ‖ 0. Keys hold the last hash of a block,
//! and the engine's index holds the keys unshortened. So a lookup of x reads no earlier block.
//!
//! A filter covers the distinct hashes of the run above the last hash of the filter before it, up to its own
//! last hash. So the filter that covers x is the first whose key is at or above run ‖ x. Each filter covers
//! 32,768 hashes, except the last one of each range that a thread wrote. If an ingest will soon replace a
//! run, the run has one filter, which covers all its hashes and lets every hash pass.
//!
//! In an escaped name, `ff` follows each byte `00`. The bytes `00 01` end the name. These two bytes sort
//! before any bytes that could continue the name, so keys have the order of the bytes of the names.
//!
//! A record (state, run, fold, document, container, source) is one version byte, 1, and then bincode 2 with
//! its standard settings (little-endian varints). Decoding has a size limit. The record of a document in two
//! views has the version byte 2. After it comes [`crate::codec::records::TextCounts`], then the record. The
//! record of a container with members that are no documents has the version byte 2, then a list of
//! [`crate::codec::container_record::LeftMembers`], then the record.
//!
//! Profile, 20 bytes:
//!
//! | offset | bytes | content                                                                      |
//! |--------|-------|------------------------------------------------------------------------------|
//! | 0      | 1     | hash version                                                                  |
//! | 1      | 1     | unit: 0 char, 1 word, 2 byte, 3 token                                         |
//! | 2      | 1     | word rule: 0 letters, 1 Unicode                                               |
//! | 3      | 1     | selection: 0 robust, 1 plain, 2 mod, 3 safe mod, 4 all                        |
//! | 4      | 4     | k                                                                             |
//! | 8      | 4     | w                                                                             |
//! | 12     | 8     | p of the selections mod and safe mod, else 0; with two views, k (4) and w (4) of the text as written |
//!
//! Hash version 3 of unit token says that the documents have two views: the structure and the text as
//! written. The lowest bit of a hash is then 0 for the structure and 1 for the text. The other bits are those
//! of version 2. Postings, runs and filters are as with one view. The fingerprints of a document are numbered
//! by 64 KiB blocks of its text. In each block the fingerprints of the structure come first, then those of
//! the text, each in order of position. So the numbers depend on the document alone, and memory is bounded.
//! Rejected: all of the structure first, since all fingerprints of the text would have to wait in memory.
//!
//! Posting block, 1 to 512 postings in ascending order of (hash, document, ordinal):
//!
//! | part           | bytes          | content                                                       |
//! |----------------|----------------|---------------------------------------------------------------|
//! | count          | varint         | the number of postings                                        |
//! | distinct       | varint         | the number of distinct hashes                                 |
//! | span           | varint         | the last hash, which is in the key, minus the first           |
//! | least document | varint         | the smallest document id in the block                         |
//! | widths         | 3              | l, the low bits of a hash; the bits of a document; the bits of an ordinal |
//! | high bits      | a bit vector   | (span >> l) + distinct bits; let h be the j-th distinct hash, from 0, minus the first: bit (h >> l) + j is 1 |
//! | low bits       | column         | for each distinct hash, the lowest l bits of h                |
//! | new hash       | a bit vector   | for each posting, 1 if it is the first of its hash; absent if distinct = count |
//! | documents      | column         | for each posting, the document minus the least                |
//! | ordinals       | column         | for each posting, the fingerprint's number in its document    |
//!
//! Columns and bit vectors are packed without gaps, least significant bit first. Zeros fill the last byte.
//! The encoder chooses l as the binary logarithm of span / distinct, rounded down, or 0 if that is negative.
//!
//! Filter, of n distinct hashes, 1 to 32,768 (integers little-endian):
//!
//! | part         | bytes            | content                                                       |
//! |--------------|------------------|---------------------------------------------------------------|
//! | seed         | 8                | s                                                             |
//! | log segment  | 1                | L, up to 18: a segment is 2^L bytes                           |
//! | starts       | 2                | c, the number of segments that the first byte of a hash can lie in; if 0, the filter ends here and lets every hash pass |
//! | bytes        | (c + 2) 2^L      | b                                                             |
//!
//! For a hash x let m = mix(x + s mod 2^64), where mix(v) is `v ^= v >> 33; v *= ff51afd7ed558ccd; v ^= v >>
//! 33; v *= c4ceb9fe1a85ec53; v ^= v >> 33` modulo 2^64. The three bytes of x lie at p0 = (m c 2^L) >> 64, p1
//! = (p0 + 2^L) ^ ((m >> 18) mod 2^L) and p2 = (p0 + 2 2^L) ^ (m mod 2^L). If the filter holds x, then
//! b\[p0\] ^ b\[p1\] ^ b\[p2\] is the lowest byte of m ^ (m >> 32).
//!
//! Chunk c of positions covers the fingerprints 1024 c to 1024 c + 1023 of a document, as far as they exist.
//! All values are varints. The number of fingerprints comes first, then five columns with one value for each:
//!
//! * the first symbol minus the one before;
//! * the start byte minus the one before, minus the difference of symbols above, in zigzag (0, -1, 1, -2,
//!   ...);
//! * the end byte minus the start byte;
//! * the first line minus the one before;
//! * the last line minus the first line.
//!
//! Before the first fingerprint of a chunk all values count as 0.
//!
//! With two views, 2048 is added to the number of fingerprints. The first column has 2 d + v: d is the
//! difference of symbols, and v is 0 for the structure and 1 for the text as written. In all columns, "the
//! one before" means the previous fingerprint of the same view.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;
use fpdb_kernel::hex;
use fpdb_kernel::profile::{Profile, Selection, Unit, WordRule};

/// The version of the format that this program reads and writes.
pub const FORMAT_VERSION: u32 = 1;

pub(crate) const MARKER: &str = "FPDB";
pub(crate) const LOCK: &str = "lock";
/// The name of the file that is locked while files of documents are removed, moved, linked or marked.
pub(crate) const ACTING: &str = "acting";
pub(crate) const COMMITTED: &str = "committed";
pub(crate) const STORE: &str = "store";
pub(crate) const INCOMING: &str = "incoming";
/// The name of the file that records the decisions of a dedup. It belongs to the database, but not to the
/// store.
pub const DECISIONS: &str = "dedup-decisions";

pub(crate) const POSTINGS: &str = "postings";
pub(crate) const FILTERS: &str = "filters";
pub(crate) const POSITIONS: &str = "positions";
pub(crate) const DOCUMENTS: &str = "documents";
pub(crate) const NAMES: &str = "names";
pub(crate) const DIGESTS: &str = "digests";
pub(crate) const TEXTS: &str = "texts";
pub(crate) const TOMBSTONES: &str = "tombstones";
pub(crate) const BOILERPLATE: &str = "boilerplate";
pub(crate) const CONTAINERS: &str = "containers";

/// The family that every RocksDB database has.
pub(crate) const MAIN: &str = "default";

/// All column families. The engine numbers them in this order, from 1 on, except its default family, which
/// has number 0.
pub(crate) const FAMILIES: [&str; 11] =
    [POSTINGS, FILTERS, POSITIONS, DOCUMENTS, NAMES, DIGESTS, TEXTS, TOMBSTONES, BOILERPLATE, CONTAINERS, MAIN];

pub(crate) const PROFILE_KEY: &[u8] = b"profile";
pub(crate) const STATE_KEY: &[u8] = b"state";
pub(crate) const IDENTITY_KEY: &[u8] = b"identity";
pub(crate) const FOLD_KEY: &[u8] = b"fold";
pub(crate) const RUN_PREFIX: &[u8] = b"run";
pub(crate) const ASSEMBLED_PREFIX: &[u8] = b"assembled";
pub(crate) const SOURCE_PREFIX: &[u8] = b"source";
pub(crate) const KEPT_OUT_PREFIX: &[u8] = b"kept-out";
pub(crate) const PLACE_PREFIX: &[u8] = b"place";
pub(crate) const ALL_PLACES_KEY: &[u8] = b"all-places";
pub(crate) const ROOT_PREFIX: &[u8] = b"root";
pub(crate) const ALL_ROOTS_KEY: &[u8] = b"all-roots";

const MARKER_TEXT: &str = "fpdb database, format ";

const MARKER_PROFILE: &str = "profile ";

/// The content of the marker file. The file contains the profile because the store cannot be read without a
/// profile: this copy is used if the store's own profile is lost.
pub(crate) fn marker(profile: &Profile) -> String {
    let digits = hex::encode(&encode_profile(profile));
    format!("{MARKER_TEXT}{FORMAT_VERSION}\n{MARKER_PROFILE}{digits}\n")
}

/// The version that a marker file names. `None` if the text is not a marker.
pub(crate) fn marker_version(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(MARKER_TEXT).map(str::trim_end)
}

/// The profile in a marker file. `None` if the file has no profile that decodes.
pub(crate) fn marker_profile(text: &str) -> Option<Profile> {
    let digits = text.lines().nth(1)?.strip_prefix(MARKER_PROFILE)?;
    decode_profile(&hex::decode(digits)?).ok()
}

/// Splits a key into the bytes before its last four, and the number in those four.
pub(crate) fn split_u32(key: &[u8]) -> Option<(&[u8], u32)> {
    let (rest, last) = key.split_last_chunk::<4>()?;
    Some((rest, u32::from_be_bytes(*last)))
}

pub(crate) fn run_key(run: u32) -> Vec<u8> {
    [RUN_PREFIX, &run.to_be_bytes()].concat()
}

pub(crate) fn assembled_key(generation: &[u8; 16]) -> Vec<u8> {
    [ASSEMBLED_PREFIX, generation].concat()
}

/// The key of the record of the source at `path`.
pub(crate) fn source_key(path: &str) -> Vec<u8> {
    [SOURCE_PREFIX, &name_prefix(path)].concat()
}

/// The key of a content that is kept out.
pub(crate) fn kept_out_key(digest: &Digest) -> Vec<u8> {
    [KEPT_OUT_PREFIX, digest].concat()
}

/// The digest in the key of a content that is kept out.
pub(crate) fn parse_kept_out_key(key: &[u8]) -> Option<Digest> {
    key.strip_prefix(KEPT_OUT_PREFIX)?.try_into().ok()
}

/// The key of a place.
pub(crate) fn place_key(folder: &str, names: &str) -> Vec<u8> {
    [PLACE_PREFIX, &name_prefix(folder), &name_prefix(names)].concat()
}

/// The key of a folder in which the database was.
pub(crate) fn root_key(folder: &Path) -> Vec<u8> {
    [ROOT_PREFIX, folder.as_os_str().as_bytes()].concat()
}

/// The folder and the beginning of names in the key of a place.
pub(crate) fn parse_place_key(key: &[u8]) -> Option<(String, String)> {
    let both = key.strip_prefix(PLACE_PREFIX)?;
    let end = both.windows(2).position(|pair| pair == [0, 1])? + 2;
    Some((parse_name_prefix(&both[..end])?, parse_name_prefix(&both[end..])?))
}

/// The families whose keys begin with the number of a run.
pub(crate) const RUN_FAMILIES: [&str; 2] = [POSTINGS, FILTERS];

pub(crate) fn posting_key(run: u32, hash: u64, continuation: u32) -> [u8; 16] {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&run.to_be_bytes());
    key[4..12].copy_from_slice(&hash.to_be_bytes());
    key[12..].copy_from_slice(&continuation.to_be_bytes());
    key
}

pub(crate) fn filter_key(run: u32, hash: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&run.to_be_bytes());
    key[4..].copy_from_slice(&hash.to_be_bytes());
    key
}

/// The run and the last hash in the key of a filter.
pub(crate) fn parse_filter_key(key: &[u8]) -> Option<(u32, u64)> {
    let (run, hash) = key.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*run), u64::from_be_bytes(hash.try_into().ok()?)))
}

/// The range of keys that begin with this number of a run or document: the first key, and the end, exclusive.
/// No key of these families is longer than 16 bytes, so 17 bytes `ff` end the range of the largest number.
pub(crate) fn keys_of(number: u32) -> ([u8; 4], Vec<u8>) {
    let after = number.checked_add(1).map_or(vec![0xff; 17], |next| next.to_be_bytes().to_vec());
    (number.to_be_bytes(), after)
}

/// The run that a key of one of [`RUN_FAMILIES`] belongs to.
pub(crate) fn run_of_key(key: &[u8]) -> Option<u32> {
    key.first_chunk::<4>().map(|run| u32::from_be_bytes(*run))
}

/// The run, the last hash and the continuation in the key of a posting block.
pub(crate) fn parse_posting_key(key: &[u8]) -> Option<(u32, u64, u32)> {
    let (rest, continuation) = split_u32(key)?;
    let (rest, hash) = rest.split_last_chunk::<8>()?;
    let run = rest.try_into().ok().map(u32::from_be_bytes)?;
    Some((run, u64::from_be_bytes(*hash), continuation))
}

/// The key of a chunk of the positions or of the text of a document.
pub(crate) fn chunk_key(document: u32, chunk: u32) -> [u8; 8] {
    (u64::from(document) << 32 | u64::from(chunk)).to_be_bytes()
}

pub(crate) fn document_key(document: u32) -> [u8; 4] {
    document.to_be_bytes()
}

pub(crate) fn name_prefix(name: &str) -> Vec<u8> {
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

pub(crate) fn name_key(name: &str, document: u32) -> Vec<u8> {
    let mut key = name_prefix(name);
    key.extend(document.to_be_bytes());
    key
}

/// The name and the document in a name key.
pub(crate) fn parse_name_key(key: &[u8]) -> Option<(String, u32)> {
    let (rest, document) = split_u32(key)?;
    Some((parse_name_prefix(rest)?, document))
}

/// The beginning of the keys of all names that begin with `start`.
pub(crate) fn names_start(start: &str) -> Vec<u8> {
    let mut key = name_prefix(start);
    key.truncate(key.len() - 2);
    key
}

/// Undoes [`name_prefix`]. `None` if the key is not an escaped name.
pub(crate) fn parse_name_prefix(key: &[u8]) -> Option<String> {
    let mut name = Vec::with_capacity(key.len());
    let mut bytes = key.strip_suffix(&[0, 1])?.iter();
    while let Some(&byte) = bytes.next() {
        if byte == 0 && bytes.next() != Some(&0xff) {
            return None;
        }
        name.push(byte);
    }
    String::from_utf8(name).ok()
}

pub(crate) fn digest_key(digest: &[u8; 16], document: u32) -> [u8; 20] {
    let mut key = [0; 20];
    key[..16].copy_from_slice(digest);
    key[16..].copy_from_slice(&document.to_be_bytes());
    key
}

pub(crate) fn document_set_key(document: u32) -> [u8; 2] {
    ((document >> 16) as u16).to_be_bytes()
}

pub(crate) fn encode_profile(profile: &Profile) -> [u8; 20] {
    let unit = match profile.unit() {
        Unit::Char => 0,
        Unit::Word => 1,
        Unit::Byte => 2,
        Unit::Token => 3,
    };
    let word_rule = match profile.word_rule() {
        WordRule::Letters => 0,
        WordRule::Unicode => 1,
    };
    let (selection, p) = match profile.selection() {
        Selection::Robust => (0, 0),
        Selection::Plain => (1, 0),
        Selection::Mod(p) => (2, p),
        Selection::SafeMod(p) => (3, p),
        Selection::All => (4, 0),
    };
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&[profile.hash_version(), unit, word_rule, selection]);
    bytes[4..8].copy_from_slice(&profile.k().to_be_bytes());
    bytes[8..12].copy_from_slice(&profile.w().to_be_bytes());
    bytes[12..].copy_from_slice(&p.to_be_bytes());
    if let Some(text) = profile.text_view() {
        bytes[12..16].copy_from_slice(&text.k().to_be_bytes());
        bytes[16..].copy_from_slice(&text.w().to_be_bytes());
    }
    bytes
}

pub(crate) fn decode_profile(bytes: &[u8]) -> Result<Profile> {
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
        .and_then(|profile| match Profile::is_of_two_views(unit, head[0]) {
            true => profile.with_text_view((p >> 32) as u32, p as u32),
            false => Ok(profile),
        })
        .map_err(|_| damaged("its k, w or p is out of range"))?;
    Ok(profile.with_hash_version(head[0]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn profiles_come_back_and_cut_ones_do_not() {
        for selection in
            [Selection::Robust, Selection::Plain, Selection::Mod(50), Selection::SafeMod(u64::MAX), Selection::All]
        {
            for unit in [Unit::Char, Unit::Word, Unit::Byte, Unit::Token] {
                let w = if selection == Selection::All { 1 } else { 100 };
                let one_view = Profile::new(unit, WordRule::Unicode, 50, w, selection).unwrap();
                let two_views = one_view.with_text_view(40, w);
                assert_eq!(
                    two_views.is_ok(),
                    unit == Unit::Token && !matches!(selection, Selection::Mod(_) | Selection::SafeMod(_))
                );
                for profile in [Ok(one_view), two_views].into_iter().flatten() {
                    let bytes = encode_profile(&profile);
                    assert_eq!(decode_profile(&bytes).unwrap(), profile);
                    assert_eq!(marker_profile(&marker(&profile)), Some(profile));
                    assert_eq!(marker_version(&marker(&profile)), Some("1"));
                    for cut in 0..bytes.len() {
                        assert!(decode_profile(&bytes[..cut]).is_err());
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..40), text in "\\PC{0,60}") {
            if let Ok(profile) = decode_profile(&bytes) {
                prop_assert_eq!(decode_profile(&encode_profile(&profile)).unwrap(), profile);
            }
            let _ = (parse_name_key(&bytes), parse_posting_key(&bytes), parse_filter_key(&bytes), split_u32(&bytes));
            let _ = parse_place_key(&[PLACE_PREFIX, &bytes].concat());
            let _ = (marker_version(&text), marker_profile(&format!("{MARKER_TEXT}1\n{MARKER_PROFILE}{text}")));
        }
    }

    #[test]
    fn name_keys_keep_the_order_of_names_and_tell_them_apart() {
        let names = ["", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "a/b", "ab", "b"];
        let mut keys: Vec<Vec<u8>> = names.iter().map(|name| name_key(name, 7)).collect();
        let expected = keys.clone();
        keys.sort();
        assert_eq!(keys, expected);
        for (name, key) in names.iter().zip(&keys) {
            assert_eq!(parse_name_key(key), Some((name.to_string(), 7)));
        }
        for name in names {
            for other in names {
                assert_eq!(name_key(other, 0).starts_with(&name_prefix(name)), name == other, "{name:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_keys_of_places_come_back() {
        let texts = ["", "\0", "\0\u{1}", "/", "/a/", "/a\0b/", "b/"];
        for folder in texts {
            for names in texts {
                let key = place_key(folder, names);
                assert_eq!(parse_place_key(&key), Some((folder.into(), names.into())), "{folder:?} {names:?}");
                assert_eq!(parse_place_key(&key[..key.len() - 1]), None);
            }
        }
    }

    #[test]
    fn the_keys_of_a_number_end_before_those_of_the_next_one() {
        for number in [0, 1, 255, 256, u32::MAX - 1, u32::MAX] {
            let (first, after) = keys_of(number);
            let most = posting_key(number, u64::MAX, u32::MAX);
            for key in [&posting_key(number, 0, 0)[..], &most, &filter_key(number, 0), &chunk_key(number, u32::MAX)] {
                assert!(first[..] <= *key && *key < after[..], "{number}");
            }
            for other in [number.checked_sub(1), number.checked_add(1)].into_iter().flatten() {
                let key = posting_key(other, if other < number { u64::MAX } else { 0 }, 0);
                assert!(key[..] < first[..] || key[..] >= after[..], "{other} beside {number}");
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
            assert_eq!(parse_filter_key(&key[..12]), Some((field.0, field.1)));
            assert_eq!((&filter_key(field.0, field.1)[..], run_of_key(key)), (&key[..12], Some(field.0)));
        }
        assert_eq!(parse_posting_key(&keys[0][1..]), None);
    }
}
