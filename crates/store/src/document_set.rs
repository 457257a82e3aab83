//! Document sets: the deleted documents and the boilerplate documents. Every read needs all of their ids, so
//! they stay in memory.
//!
//! On disk, one value holds the ids of a range of 65,536, as a roaring bitmap of at most about 8 KiB. So no
//! value grows with the corpus.
//!
//! A fold drops the tombstones of documents that no other run can hold. The record of each run gives its
//! first and last document, which decides this. The write that replaces the runs also removes these
//! tombstones. So even a service that never compacts has no more tombstones than its runs have ids. The
//! handle that drops tombstones remembers their ids, so that its threads never take a deleted document for a
//! damaged one.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use super::codec::format::document_set_key;
use super::engine::{Changes, Engine};
use fpdb_host::error::{Error, Result};

/// A set of documents in memory, and the column family that stores it.
#[derive(Clone, Debug)]
pub(super) struct DocumentSet {
    family: &'static str,
    ids: RoaringBitmap,
}

impl DocumentSet {
    /// Reads the whole set from the family `of`.
    pub(super) fn load(engine: &Engine, of: &'static str) -> Result<Self> {
        let mut ids = RoaringBitmap::new();
        for entry in engine.entries(of, &[], "read a set of documents")? {
            let (key, value) = entry?;
            ids |= decode(of, &key, &value)?;
        }
        Ok(Self { family: of, ids })
    }

    pub(super) fn contains(&self, document: u32) -> bool {
        self.ids.contains(document)
    }

    pub(super) fn len(&self) -> u64 {
        self.ids.len()
    }

    /// Removes all documents that are not in `kept`, and returns them.
    pub(super) fn keep(&mut self, kept: &RoaringBitmap, changes: &mut Changes<'_>) -> Result<RoaringBitmap> {
        let removed = &self.ids - kept;
        self.change(&[], &removed.iter().collect::<Vec<u32>>(), changes)?;
        Ok(removed)
    }

    /// Removes the documents in `remove`, then adds those in `add`. Writes the rows that change to `changes`.
    pub(super) fn change(&mut self, add: &[u32], remove: &[u32], changes: &mut Changes<'_>) -> Result<()> {
        let changed = remove.iter().filter(|&&id| self.ids.contains(id)).chain(add);
        let touched: BTreeSet<u32> = changed.map(|id| id >> 16).collect();
        for &id in remove {
            self.ids.remove(id);
        }
        self.ids.extend(add);
        for high in touched {
            let range = high << 16..=high << 16 | 0xffff;
            let low: RoaringBitmap = self.ids.range(range).map(|id| id & 0xffff).collect();
            let key = document_set_key(high << 16);
            if low.is_empty() {
                changes.delete(self.family, key)?;
                continue;
            }
            let mut value = Vec::with_capacity(low.serialized_size());
            low.serialize_into(&mut value).map_err(Error::system("encode a set of documents"))?;
            changes.put(self.family, key, value)?;
        }
        Ok(())
    }
}

/// Decodes one row of the family `of` and returns its documents. Any bytes are safe to give.
pub(super) fn decode(of: &'static str, key: &[u8], value: &[u8]) -> Result<RoaringBitmap> {
    let damaged = |detail| Error::Damaged { what: format!("a record of the family {of}"), detail };
    let high = key.try_into().map(u16::from_be_bytes).map_err(|_| damaged("its key is not two bytes"))?;
    let low = RoaringBitmap::deserialize_from(value).map_err(|_| damaged("its bitmap does not decode"))?;
    if low.max().is_some_and(|id| id > u32::from(u16::MAX)) {
        return Err(damaged("its bitmap reaches past 65,535"));
    }
    Ok(low.iter().map(|low| u32::from(high) << 16 | low).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(ids: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        ids.iter().map(|&id| u32::from(id)).collect::<RoaringBitmap>().serialize_into(&mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode("tombstones", &[0, 1], &bytes);
        }

        /// Changes one byte of a valid bitmap, so that decoding gets past the header.
        #[test]
        fn changed_bytes_are_safe(
            ids in proptest::collection::vec(any::<u16>(), 0..300),
            at: prop::sample::Index,
            byte: u8,
            cut: prop::sample::Index,
        ) {
            let mut bytes = encoded(&ids);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(set) = decode("tombstones", &[0, 7], &bytes) {
                prop_assert!(set.iter().all(|id| id >> 16 == 7) && set.len() <= 1 << 16);
            }
            let _ = decode("tombstones", &[0, 7], &bytes[..cut.index(bytes.len())]);
        }
    }

    #[test]
    fn rows_come_back_under_their_high_half() {
        let ids = decode("tombstones", &[1, 2], &encoded(&[0, 5, 65_535])).unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), [0x0102_0000, 0x0102_0005, 0x0102_ffff]);
        assert!(decode("tombstones", &[1], &encoded(&[0])).is_err());
    }
}
