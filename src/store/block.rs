//! Posting block: up to 512 postings in ascending order of (hash, document, ordinal), in columns.
//!
//! Pure: bytes in, postings out. The byte table is in [`super::format`].

use super::bits::{self, Column};
use super::varint;

/// The most postings in one block: some 4.5 KiB, so that a looked-up hash costs one small read.
pub(super) const BLOCK_POSTINGS: usize = 512;

/// One (document, fingerprint) held under a hash. The ordinal numbers a document's fingerprints in
/// order of position; the positions themselves are kept once per document, not in every posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Posting {
    pub(crate) hash: u64,
    pub(crate) document: u32,
    pub(crate) ordinal: u32,
}

/// Encodes 1 to 512 postings, which must be in ascending order. The first hash is not in the block: it is
/// in its key.
pub(super) fn encode(postings: &[Posting], out: &mut Vec<u8>) {
    debug_assert!(!postings.is_empty() && postings.len() <= BLOCK_POSTINGS && postings.is_sorted());
    let is_new = |i: usize| i > 0 && postings[i].hash != postings[i - 1].hash;
    let deltas = || (1..postings.len()).filter(|&i| is_new(i)).map(|i| postings[i].hash - postings[i - 1].hash);
    let least_document = postings.iter().map(|p| p.document).min().unwrap_or(0);
    let documents = || postings.iter().map(|p| u64::from(p.document - least_document));
    let ordinals = || postings.iter().map(|p| u64::from(p.ordinal));
    let widths = [
        bits::width_of(deltas().max().unwrap_or(0)),
        bits::width_of(documents().max().unwrap_or(0)),
        bits::width_of(ordinals().max().unwrap_or(0)),
    ];
    varint::write(postings.len() as u64, out);
    varint::write(u64::from(least_document), out);
    out.extend(widths.map(|width| width as u8));
    bits::write_column((0..postings.len()).map(|i| u64::from(is_new(i))), 1, out);
    bits::write_column(deltas(), widths[0], out);
    bits::write_column(documents(), widths[1], out);
    bits::write_column(ordinals(), widths[2], out);
}

/// A block being read in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    count: usize,
    first_hash: u64,
    least_document: u32,
    new_hash: Column<'a>,
    deltas: Column<'a>,
    documents: Column<'a>,
    ordinals: Column<'a>,
}

impl<'a> Block<'a> {
    /// Checks a block and prepares it for reading.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence: any bytes are safe to give.
    pub(super) fn decode(first_hash: u64, mut bytes: &'a [u8]) -> Result<Self, &'static str> {
        let rest = &mut bytes;
        const SHORT: &str = "the posting block ends early";
        let count = varint::read(rest).ok_or(SHORT)?;
        if count == 0 || count > BLOCK_POSTINGS as u64 {
            return Err("the posting block gives an impossible count");
        }
        let count = count as usize;
        let least_document = varint::read(rest).ok_or(SHORT)?;
        let least_document =
            u32::try_from(least_document).map_err(|_| "the posting block names no possible document")?;
        let (widths, after) = rest.split_first_chunk::<3>().ok_or(SHORT)?;
        *rest = after;
        if widths[0] > 64 || widths[1] > 32 || widths[2] > 32 {
            return Err("the posting block gives an impossible width");
        }
        let new_hash = Column::take(rest, count, 1).ok_or(SHORT)?;
        if new_hash.get(0) != 0 {
            return Err("the posting block's first hash is marked as a second one");
        }
        let counted = new_hash.ones();
        let deltas = Column::take(rest, counted, u32::from(widths[0])).ok_or(SHORT)?;
        let documents = Column::take(rest, count, u32::from(widths[1])).ok_or(SHORT)?;
        let ordinals = Column::take(rest, count, u32::from(widths[2])).ok_or(SHORT)?;
        if !rest.is_empty() {
            return Err("the posting block is followed by stray bytes");
        }
        Ok(Self { count, first_hash, least_document, new_hash, deltas, documents, ordinals })
    }

    /// The postings, in ascending order.
    pub(super) fn postings(&self) -> impl Iterator<Item = Posting> + '_ {
        let mut hash = self.first_hash;
        let mut delta = 0;
        (0..self.count).map(move |index| {
            if self.new_hash.get(index) == 1 {
                hash = hash.wrapping_add(self.deltas.get(delta));
                delta += 1;
            }
            self.posting(index, hash)
        })
    }

    /// Appends the postings of `hash` to `out`. True where the block ends with one of them, so that the
    /// next block may hold more.
    pub(super) fn find(&self, hash: u64, out: &mut Vec<Posting>) -> bool {
        let mut current = self.first_hash;
        let mut index = 0;
        let mut delta = 0;
        // Hash by hash, to the first posting of the one looked for.
        while current < hash {
            index += 1;
            while index < self.count && self.new_hash.get(index) == 0 {
                index += 1;
            }
            if index == self.count {
                return false;
            }
            current = current.wrapping_add(self.deltas.get(delta));
            delta += 1;
        }
        if current != hash {
            return false;
        }
        out.push(self.posting(index, hash));
        while index + 1 < self.count {
            index += 1;
            if self.new_hash.get(index) == 1 {
                return false;
            }
            out.push(self.posting(index, hash));
        }
        true
    }

    fn posting(&self, index: usize, hash: u64) -> Posting {
        Posting {
            hash,
            document: self.least_document.wrapping_add(self.documents.get(index) as u32),
            ordinal: self.ordinals.get(index) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(postings: &[Posting]) {
        let mut bytes = Vec::new();
        encode(postings, &mut bytes);
        let block = Block::decode(postings[0].hash, &bytes).unwrap();
        assert_eq!(block.postings().collect::<Vec<_>>(), postings);
        let last = postings[postings.len() - 1].hash;
        for posting in postings {
            for wanted in [posting.hash, posting.hash.wrapping_add(1), posting.hash.wrapping_sub(1)] {
                let mut found = Vec::new();
                let more = block.find(wanted, &mut found);
                assert_eq!(more, wanted == last, "{wanted}");
                let expected: Vec<Posting> = postings.iter().copied().filter(|p| p.hash == wanted).collect();
                assert_eq!(found, expected);
            }
        }
        for cut in 0..bytes.len() {
            assert!(Block::decode(postings[0].hash, &bytes[..cut]).is_err());
        }
    }

    proptest! {
        #[test]
        fn postings_come_back(
            mut raw in proptest::collection::vec((any::<u64>(), any::<u32>(), any::<u32>()), 1..80),
            shift in 0u32..64,
        ) {
            for (hash, document, ordinal) in &mut raw {
                *hash >>= shift;
                *document >>= shift / 2;
                *ordinal >>= shift / 2;
            }
            raw.sort_unstable();
            let postings: Vec<Posting> =
                raw.iter().map(|&(hash, document, ordinal)| Posting { hash, document, ordinal }).collect();
            round_trip(&postings);
        }

        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200), first: u64) {
            if let Ok(block) = Block::decode(first, &bytes) {
                prop_assert!(block.postings().count() <= BLOCK_POSTINGS);
                block.find(first, &mut Vec::new());
                block.find(u64::MAX, &mut Vec::new());
            }
        }
    }

    #[test]
    fn extremes_come_back() {
        let edge = |hash, document, ordinal| Posting { hash, document, ordinal };
        round_trip(&[edge(0, 0, 0)]);
        round_trip(&[edge(u64::MAX, u32::MAX, u32::MAX)]);
        round_trip(&[edge(0, u32::MAX, 0), edge(u64::MAX, 0, u32::MAX)]);
        let full: Vec<Posting> = (0..BLOCK_POSTINGS as u32).map(|i| edge(9, i, 3)).collect();
        round_trip(&full);
    }
}
