//! The record of a container, with its members that are no documents.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use crate::codec::records::Record;

/// A container or compressed file whose documents were all ingested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRecord {
    /// Its length in bytes.
    pub bytes: u64,
    /// When it was last changed, in seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// The number of documents read from it.
    pub documents: u64,
    /// A digest of the settings it was read with.
    pub settings: u64,
    /// Its members that are no documents. A record encodes them before its other fields, and only if there
    /// are some. So the other fields are those of version 1.
    pub left: Vec<LeftMembers>,
}

/// Members of a container that are no documents for the same reason. A compressed file that is no document
/// counts as a member of itself.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct LeftMembers {
    /// The phrase of the reason for skipping them, or the error of members that could not be read. Empty for
    /// several errors.
    pub reason: String,
    /// True if they could not be read.
    pub has_failed: bool,
    /// The number of members. Zero for an error of the whole container.
    pub number: u64,
    /// The names of the first members, without the name of the container.
    pub first: Vec<String>,
}

impl ContainerRecord {
    /// The mark of a container that an ingest read only in part.
    pub const UNREAD: Self = Self { bytes: 0, modified: (i64::MIN, 0), documents: 0, settings: 0, left: Vec::new() };
}

impl ContainerRecord {
    /// The number of its members that could not be read.
    #[must_use]
    pub fn failures(&self) -> u64 {
        let failed = self.left.iter().filter(|left| left.has_failed);
        failed.fold(0, |sum, left| sum.saturating_add(left.number))
    }

    /// The names of the first of these, without the name of the container.
    pub fn failed_members(&self) -> impl Iterator<Item = &str> {
        let failed = self.left.iter().filter(|left| left.has_failed && left.number > 0);
        failed.flat_map(|left| left.first.iter().map(String::as_str))
    }
}

impl ContainerRecord {
    /// Bytes of memory that the names and reasons take.
    pub(crate) fn left_bytes(&self) -> usize {
        let text = |text: &String| 32 + text.len();
        self.left.iter().map(|left| text(&left.reason) + left.first.iter().map(text).sum::<usize>()).sum()
    }
}

impl Encode for ContainerRecord {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> std::result::Result<(), EncodeError> {
        (self.bytes, self.modified, self.documents, self.settings).encode(encoder)
    }
}

impl<C> Decode<C> for ContainerRecord {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> std::result::Result<Self, DecodeError> {
        let (bytes, modified, documents, settings) = Decode::decode(decoder)?;
        Ok(Self { bytes, modified, documents, settings, left: Vec::new() })
    }
}

impl Record for ContainerRecord {
    type Before = Vec<LeftMembers>;

    fn before(&self) -> Option<Vec<LeftMembers>> {
        (!self.left.is_empty()).then(|| self.left.clone())
    }

    fn with_before(self, left: Vec<LeftMembers>) -> Option<Self> {
        Some(Self { left, ..self })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codec::records::{decode, encode};

    /// Databases hold these bytes, so they must not change. The first form is that of earlier versions.
    #[test]
    fn the_record_of_a_container_is_these_bytes() {
        let record = ContainerRecord { bytes: 9, modified: (-1, 2), documents: 3, settings: 4, left: Vec::new() };
        let fields = b"\x09\x01\x02\x03\x04";
        let pictures = LeftMembers { reason: "p".into(), has_failed: false, number: 5, first: vec!["!a".into()] };
        let torn = LeftMembers { reason: "t".into(), has_failed: true, number: 1, first: vec!["".into()] };
        let with_left = ContainerRecord { left: vec![pictures, torn], ..record.clone() };
        let left = b"\x02\x01p\x00\x05\x01\x02!a\x01t\x01\x01\x01\x00";
        for (record, bytes) in
            [(record, [b"\x01", &fields[..]].concat()), (with_left, [b"\x02", &left[..], fields].concat())]
        {
            assert_eq!(encode(&record).unwrap(), bytes);
            assert_eq!(decode::<ContainerRecord>(&bytes, String::new).unwrap(), record);
            for cut in 0..bytes.len() {
                assert!(decode::<ContainerRecord>(&bytes[..cut], String::new).is_err());
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<ContainerRecord>(&bytes, String::new);
        }
    }
}
