//! Tombstones: the ids of deleted documents, consulted by every read at once.
//!
//! Kept in one value per 65,536 ids, each a roaring bitmap of at most some 8 KiB, so that no value grows
//! with the corpus.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;
use rocksdb::{DB, IteratorMode, WriteBatch};

use super::format::{TOMBSTONES, tombstone_key};
use super::{failed, family};
use crate::error::{Error, Result};

/// The deleted documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Tombstones {
    ids: RoaringBitmap,
}

impl Tombstones {
    /// Reads all of them.
    pub(super) fn load(db: &DB) -> Result<Self> {
        let mut ids = RoaringBitmap::new();
        for entry in db.iterator_cf(family(db, TOMBSTONES)?, IteratorMode::Start) {
            let (key, value) = entry.map_err(failed("read the tombstones"))?;
            let damaged = |detail| Error::Damaged { what: "a tombstone record".into(), detail };
            let high = key[..].try_into().map(u16::from_be_bytes).map_err(|_| damaged("its key is not two bytes"))?;
            let low = RoaringBitmap::deserialize_from(&value[..]).map_err(|_| damaged("its bitmap does not decode"))?;
            if low.max().is_some_and(|id| id > u32::from(u16::MAX)) {
                return Err(damaged("its bitmap reaches past 65,535"));
            }
            ids.extend(low.iter().map(|low| u32::from(high) << 16 | low));
        }
        Ok(Self { ids })
    }

    pub(super) fn contains(&self, document: u32) -> bool {
        self.ids.contains(document)
    }

    pub(super) fn len(&self) -> u64 {
        self.ids.len()
    }

    /// Removes all of them.
    pub(super) fn clear(&mut self, db: &DB, batch: &mut WriteBatch) -> Result<()> {
        let touched: BTreeSet<u32> = self.ids.iter().map(|id| id >> 16).collect();
        for high in touched {
            batch.delete_cf(family(db, TOMBSTONES)?, tombstone_key(high << 16));
        }
        self.ids.clear();
        Ok(())
    }

    /// Adds documents, and puts the values that change into `batch`.
    pub(super) fn add(&mut self, documents: &[u32], db: &DB, batch: &mut WriteBatch) -> Result<()> {
        self.ids.extend(documents);
        let touched: BTreeSet<u32> = documents.iter().map(|id| id >> 16).collect();
        for high in touched {
            let range = high << 16..=high << 16 | 0xffff;
            let low: RoaringBitmap = self.ids.range(range).map(|id| id & 0xffff).collect();
            let mut value = Vec::with_capacity(low.serialized_size());
            low.serialize_into(&mut value).map_err(Error::io("encode the tombstones of", db.path()))?;
            batch.put_cf(family(db, TOMBSTONES)?, tombstone_key(high << 16), value);
        }
        Ok(())
    }
}
