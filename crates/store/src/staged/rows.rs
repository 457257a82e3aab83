//! Rows: the form in which documents go from the ingest to the parts. A row is two integers and some bytes.
//! Rows sort like the keys of the store.
//!
//! | kind      | high                    | low                               | value                                         |
//! |-----------|-------------------------|-----------------------------------|-----------------------------------------------|
//! | postings  | hash                    | document (32 bits), ordinal       | empty                                         |
//! | documents | document                | 0                                 | sum of its postings (8, little-endian), record |
//! |           | document                | 1 (32 bits), chunk                | a chunk of positions                          |
//! |           | document                | 2 (32 bits), chunk                | a compressed chunk of its text                |
//! |           | document                | 3 (32 bits), 0                    | the error that made it unreadable, as JSON    |
//! | names     | the key's first 8 bytes | its next 8                        | the key                                       |
//! | digests   | the digest's first 8    | its last 8                        | document (4, big-endian)                      |

use crate::codec::block::Posting;
use crate::codec::format::{name_key, parse_name_key, split_u32};
use crate::codec::positions::{self, CHUNK_PLACES, FingerprintPlace};
use crate::codec::records::{self, DocumentRecord};
use crate::texts::{TEXT_CHUNK_BYTES, compress};
use fpdb_host::error::{Error, Result};
use fpdb_host::failure::Failure;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Profile;

/// The kind of the rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Postings of one run.
    Postings {
        /// The number of the run.
        run: u32,
    },
    /// Records, positions and texts of documents, and failures.
    Documents,
    /// Names of documents.
    Names,
    /// Digests of documents.
    Digests,
}

/// A row. The rows of a part ascend in the order of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagedRow<'a> {
    /// The first integer.
    pub high: u64,
    /// The second integer.
    pub low: u64,
    /// The value. Its content depends on the kind of the row.
    pub value: &'a [u8],
}

const POSITIONS: u64 = 1;
const TEXT: u64 = 2;
const FAILURE: u64 = 3;

/// A row of the kind documents.
pub(super) enum DocumentRow<'a> {
    Record { sum: u64, record: &'a [u8] },
    Positions(u32),
    Text(u32),
    Failure(Failure),
}

/// The row of a posting.
pub fn posting_row(posting: Posting) -> StagedRow<'static> {
    let low = u64::from(posting.document) << 32 | u64::from(posting.ordinal);
    StagedRow { high: posting.hash, low, value: &[] }
}

/// The posting of a row of the kind postings.
pub fn posting_of(row: StagedRow<'_>) -> Posting {
    Posting { hash: row.high, document: (row.low >> 32) as u32, ordinal: row.low as u32 }
}

/// A pseudorandom number for a posting. The wrapping sum over many postings, in any order, shows whether each
/// posting exists exactly once.
pub fn posting_sum(posting: Posting) -> u64 {
    let place = u64::from(posting.document) << 32 | u64::from(posting.ordinal);
    let mut mixed = posting.hash ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 33
}

/// Calls `put` with the rows of a document of the kind documents, in order. `sum` is the sum of
/// [`posting_sum`] over its postings. `text` is the document's text if the store should hold it.
pub fn document_rows(
    document: u32,
    record: &DocumentRecord,
    sum: u64,
    (profile, fingerprints): (&Profile, &Fingerprints),
    text: Option<&[u8]>,
    put: &mut dyn FnMut(StagedRow<'_>) -> Result<()>,
) -> Result<()> {
    let high = u64::from(document);
    let mut value = sum.to_le_bytes().to_vec();
    value.extend(records::encode(record)?);
    put(StagedRow { high, low: 0, value: &value })?;
    let mut places = Vec::with_capacity(CHUNK_PLACES as usize);
    for (chunk, some) in (0..).zip(fingerprints.chunks(CHUNK_PLACES as usize)) {
        places.clear();
        places.extend(some.map(|fingerprint| FingerprintPlace::of(&fingerprint, profile)));
        value.clear();
        positions::encode(&places, &mut value);
        put(StagedRow { high, low: POSITIONS << 32 | chunk, value: &value })?;
    }
    for (chunk, bytes) in (0..).zip(text.unwrap_or_default().chunks(TEXT_CHUNK_BYTES)) {
        put(StagedRow { high, low: TEXT << 32 | chunk, value: &compress(bytes)? })?;
    }
    Ok(())
}

/// The only row of a document that could not be read. The call writes the value of the row into `value`.
pub fn failure_row<'a>(document: u32, name: &str, error: &Error, value: &'a mut Vec<u8>) -> StagedRow<'a> {
    *value = serde_json::json!(Failure::of(name, error)).to_string().into_bytes();
    StagedRow { high: u64::from(document), low: FAILURE << 32, value }
}

/// The row of a name. The call writes the value of the row into `value`.
pub fn name_row<'a>(name: &str, document: u32, value: &'a mut Vec<u8>) -> StagedRow<'a> {
    *value = name_key(name, document);
    let mut first = [0; 16];
    let length = value.len().min(16);
    first[..length].copy_from_slice(&value[..length]);
    let [high, low] = halves(first);
    StagedRow { high, low, value }
}

/// The row of a digest. The call writes the value of the row into `value`.
pub fn digest_row<'a>(digest: &Digest, document: u32, value: &'a mut [u8; 4]) -> StagedRow<'a> {
    *value = document.to_be_bytes();
    let [high, low] = halves(*digest);
    StagedRow { high, low, value }
}

fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let both = u128::from_be_bytes(bytes);
    [(both >> 64) as u64, both as u64]
}

/// The document and the content of a row of the kind documents. `None` if the row is not of that kind.
pub(super) fn document_row(row: StagedRow<'_>) -> Option<(u32, DocumentRow<'_>)> {
    let document = u32::try_from(row.high).ok()?;
    let chunk = row.low as u32;
    let what = match row.low >> 32 {
        0 if chunk == 0 => {
            let (sum, record) = row.value.split_first_chunk::<8>()?;
            DocumentRow::Record { sum: u64::from_le_bytes(*sum), record }
        }
        POSITIONS => DocumentRow::Positions(chunk),
        TEXT => DocumentRow::Text(chunk),
        FAILURE if chunk == 0 => DocumentRow::Failure(serde_json::from_slice(row.value).ok()?),
        _ => return None,
    };
    Some((document, what))
}

/// The name and the document of a row of the kind names. `None` if the row is not of that kind.
pub fn named(row: StagedRow<'_>) -> Option<(String, u32)> {
    let (name, document) = parse_name_key(row.value)?;
    (name_row(&name, document, &mut Vec::new()) == row).then_some((name, document))
}

/// The digest and the document of a row of the kind digests. `None` if the row is not of that kind.
pub(super) fn digested(row: StagedRow<'_>) -> Option<(Digest, u32)> {
    let Some(([], document)) = split_u32(row.value) else { return None };
    let both = u128::from(row.high) << 64 | u128::from(row.low);
    Some((both.to_be_bytes(), document))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Rows sort in the order of their keys.
        #[test]
        fn rows_of_names_sort_like_keys(one in "[\\x00ab]{0,20}", other in "[\\x00ab]{0,20}", a: u32, b: u32) {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            let (x, y) = (name_row(&one, a, &mut first), name_row(&other, b, &mut second));
            prop_assert_eq!(x.cmp(&y), name_key(&one, a).cmp(&name_key(&other, b)));
            prop_assert_eq!(named(x), Some((one, a)));
        }

        #[test]
        fn rows_of_postings_and_digests_come_back(hash: u64, document: u32, ordinal: u32, digest: [u8; 16]) {
            let posting = Posting { hash, document, ordinal };
            prop_assert_eq!(posting_of(posting_row(posting)), posting);
            prop_assert_eq!(digested(digest_row(&digest, document, &mut [0; 4])), Some((digest, document)));
        }

        #[test]
        fn any_rows_are_safe(high: u64, low: u64, value in proptest::collection::vec(any::<u8>(), 0..40)) {
            let row = StagedRow { high, low, value: &value };
            let _ = (document_row(row), named(row), digested(row));
        }
    }
}
