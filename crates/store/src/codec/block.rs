//! Posting block: up to 512 postings in ascending order of (hash, document, ordinal), in columns.
//!
//! The distinct hashes of a block are an Elias-Fano sequence (Elias 1974, Fano 1971). A column holds the low
//! bits of each hash. A bit vector holds the high bits: one set bit for each hash, and one clear bit for each
//! step of the high bits. The size is within half a bit a hash of the minimum for random hashes. A hash is
//! found by counting bits, without decoding the others.
//!
//! Elias-Fano takes 1.4 bits a hash less than deltas that are packed to the width of the largest delta. Each
//! document and each ordinal takes the bits that the largest value in the block needs.
//!
//! Rejected: one row for each hash. A store of that kind took 15.4 bytes a posting (8.3 with zstd)
//! without positions, and 15 µs a lookup.
//!
//! Pure: bytes in, postings out. The byte table is in [`crate::codec::format`].

use crate::codec::bits::{self, BitVector, Column};
use crate::codec::varint;

/// Maximum number of postings in one block. A block then takes about 4.5 KiB, so a lookup of a hash is one
/// small read.
pub(crate) const BLOCK_POSTINGS: usize = 512;

/// One fingerprint of one document. The posting has no position: the positions of a document are stored once,
/// apart from its postings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Posting {
    /// The hash of the k-gram.
    pub hash: u64,
    /// The id of the document that holds it.
    pub document: u32,
    /// The number of the fingerprint in that document, in order of position, from 0.
    pub ordinal: u32,
}

/// Appends a block of 1 to 512 postings, in ascending order, to `out`. The block does not contain its last
/// hash, which is part of its key.
pub(crate) fn encode(postings: &[Posting], out: &mut Vec<u8>) {
    debug_assert!(postings.len() <= BLOCK_POSTINGS && postings.is_sorted());
    let (Some(first), Some(last)) = (postings.first(), postings.last()) else { return };
    let span = last.hash - first.hash;
    // The distinct hashes, as distances to the first. A hash that repeats the one before is written too, and
    // the next hash overwrites it. This avoids a branch.
    let (mut offsets, mut distinct) = ([0; BLOCK_POSTINGS], 1);
    for pair in postings.windows(2) {
        offsets[distinct] = pair[1].hash - first.hash;
        distinct += usize::from(pair[1].hash != pair[0].hash);
    }
    let offsets = &offsets[..distinct];
    let low = (span / distinct as u64).checked_ilog2().unwrap_or(0);
    let (mut least_document, mut last_document, mut any_ordinal) = (first.document, first.document, 0);
    for posting in postings {
        least_document = least_document.min(posting.document);
        last_document = last_document.max(posting.document);
        any_ordinal |= posting.ordinal;
    }
    let documents = postings.iter().map(|p| u64::from(p.document - least_document));
    let ordinals = postings.iter().map(|p| u64::from(p.ordinal));
    let widths =
        [low, bits::width_of(u64::from(last_document - least_document)), bits::width_of(u64::from(any_ordinal))];
    varint::write(postings.len() as u64, out);
    varint::write(distinct as u64, out);
    varint::write(span, out);
    varint::write(u64::from(least_document), out);
    out.extend(widths.map(|width| width as u8));
    let steps = (span >> low) as usize;
    let places = offsets.iter().enumerate().map(|(number, offset)| (offset >> low) as usize + number);
    bits::write_bits(places, steps + distinct, out);
    bits::write_column(offsets.iter().map(|offset| offset & mask(low)), low, out);
    if distinct < postings.len() {
        let is_new = |&i: &usize| i == 0 || postings[i].hash != postings[i - 1].hash;
        bits::write_bits((0..postings.len()).filter(is_new), postings.len(), out);
    }
    bits::write_column(documents, widths[1], out);
    bits::write_column(ordinals, widths[2], out);
}

/// A mask of the lowest `width` bits. `width` is less than 64.
fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

/// A block, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    count: usize,
    distinct: usize,
    first_hash: u64,
    span: u64,
    low: u32,
    least_document: u32,
    high_bits: BitVector<'a>,
    low_bits: Column<'a>,
    /// Marks the postings that are the first of their hash. `None` if all are.
    new_hash: Option<BitVector<'a>>,
    documents: Column<'a>,
    ordinals: Column<'a>,
}

impl<'a> Block<'a> {
    /// Checks a block and prepares it for reading. `last_hash` comes from the key of the block.
    ///
    /// # Errors
    /// Returns the damage, as the end of a sentence. Any bytes are safe to give.
    pub(crate) fn decode(last_hash: u64, mut bytes: &'a [u8]) -> Result<Self, &'static str> {
        let rest = &mut bytes;
        const SHORT: &str = "the posting block ends early";
        let count = varint::read(rest).ok_or(SHORT)?;
        let distinct = varint::read(rest).ok_or(SHORT)?;
        if distinct == 0 || distinct > count || count > BLOCK_POSTINGS as u64 {
            return Err("the posting block gives an impossible count");
        }
        let (count, distinct) = (count as usize, distinct as usize);
        let span = varint::read(rest).ok_or(SHORT)?;
        let first_hash = last_hash.checked_sub(span).ok_or("the posting block begins below zero")?;
        let least_document = varint::read(rest).ok_or(SHORT)?;
        let least_document =
            u32::try_from(least_document).map_err(|_| "the posting block names no possible document")?;
        let (widths, after) = rest.split_first_chunk::<3>().ok_or(SHORT)?;
        *rest = after;
        let [low, document, ordinal] = widths.map(u32::from);
        if low > 63 || document > 32 || ordinal > 32 {
            return Err("the posting block gives an impossible width");
        }
        // Each step is one bit, so there cannot be more steps than bits.
        let steps = usize::try_from(span >> low).ok().filter(|&steps| steps <= rest.len() * 8).ok_or(SHORT)?;
        const BITS: &str = "the bits of the posting block end early, or late";
        let high_bits = BitVector::take(rest, steps + distinct).ok_or(BITS)?;
        let low_bits = Column::take(rest, distinct, low).ok_or(SHORT)?;
        let new_hash = if distinct < count { Some(BitVector::take(rest, count).ok_or(BITS)?) } else { None };
        if high_bits.count_ones() != distinct
            || new_hash.is_some_and(|marks| marks.count_ones() != distinct || !marks.get(0))
        {
            return Err("the posting block does not hold the hashes it counts");
        }
        let documents = Column::take(rest, count, document).ok_or(SHORT)?;
        let ordinals = Column::take(rest, count, ordinal).ok_or(SHORT)?;
        if !rest.is_empty() {
            return Err("the posting block is followed by stray bytes");
        }
        Ok(Self {
            count,
            distinct,
            first_hash,
            span,
            low,
            least_document,
            high_bits,
            low_bits,
            new_hash,
            documents,
            ordinals,
        })
    }

    /// The postings, in ascending order.
    pub(crate) fn postings(&self) -> impl Iterator<Item = Posting> + '_ {
        let mut hashes = self.high_bits.ones().enumerate().map(|(j, bit)| {
            // Before the j-th set bit, from 0, are j set bits. The number of clear bits before it is the high
            // bits of the hash.
            let high = (bit.wrapping_sub(j) as u64).wrapping_shl(self.low);
            self.first_hash.wrapping_add(high | self.low_bits.get(j))
        });
        let mut hash = self.first_hash;
        (0..self.count).map(move |index| {
            if self.new_hash.is_none_or(|marks| marks.get(index)) {
                hash = hashes.next().unwrap_or(hash);
            }
            self.posting(index, hash)
        })
    }

    /// Appends the postings to `out`, in ascending order. Goes column by column, which is faster than posting
    /// by posting.
    pub(crate) fn postings_into(&self, out: &mut Vec<Posting>) {
        let mut hashes = [self.first_hash; BLOCK_POSTINGS];
        for (j, (bit, hash)) in self.high_bits.ones().zip(&mut hashes).enumerate() {
            // The same computation as in `postings`.
            let high = (bit.wrapping_sub(j) as u64).wrapping_shl(self.low);
            *hash = self.first_hash.wrapping_add(high | self.low_bits.get(j));
        }
        let start = out.len();
        let posting = |hash| Posting { hash, document: 0, ordinal: 0 };
        match self.new_hash {
            None => out.extend(hashes[..self.count].iter().copied().map(posting)),
            Some(marks) => {
                let mut number = 0;
                out.extend((0..self.count).map(|index| {
                    number += usize::from(index > 0 && marks.get(index));
                    posting(hashes.get(number).copied().unwrap_or(self.first_hash))
                }));
            }
        }
        for (index, posting) in out[start..].iter_mut().enumerate() {
            posting.document = self.least_document.wrapping_add(self.documents.get(index) as u32);
        }
        for (index, posting) in out[start..].iter_mut().enumerate() {
            posting.ordinal = self.ordinals.get(index) as u32;
        }
    }

    /// Appends the postings of `hash` to `out`. Returns true if they include the last posting of the block:
    /// the next block may then hold more.
    pub(crate) fn find(&self, hash: u64, out: &mut Vec<Posting>) -> bool {
        let Some(offset) = hash.checked_sub(self.first_hash).filter(|&offset| offset <= self.span) else {
            return false;
        };
        let Some(number) = self.number_of(offset) else { return false };
        let place = |number: usize| match self.new_hash {
            None => Some(number),
            Some(marks) => marks.select_one(number),
        };
        let Some(first) = place(number) else { return false };
        let end = if number + 1 < self.distinct { place(number + 1).unwrap_or(self.count) } else { self.count };
        out.extend((first..end).map(|index| self.posting(index, hash)));
        end == self.count
    }

    /// The index, among the distinct hashes, of the hash that is `offset` above the first one. `None` if the
    /// block has no such hash.
    fn number_of(&self, offset: u64) -> Option<usize> {
        // Each clear bit means that the high part of the following hashes is greater by one. The set
        // bits up to the next clear bit are these hashes.
        let high = (offset >> self.low) as usize;
        let mut bit = match high.checked_sub(1) {
            Some(steps) => self.high_bits.select_zero(steps)? + 1,
            None => 0,
        };
        let wanted = offset & mask(self.low);
        while self.high_bits.get(bit) {
            let number = bit - high;
            match self.low_bits.get(number).cmp(&wanted) {
                std::cmp::Ordering::Less => bit += 1,
                std::cmp::Ordering::Equal => return Some(number),
                std::cmp::Ordering::Greater => return None,
            }
        }
        None
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
        let last = postings[postings.len() - 1].hash;
        let block = Block::decode(last, &bytes).unwrap();
        assert_eq!(block.postings().collect::<Vec<_>>(), postings);
        let (before, mut all_at_once) = (postings[0], vec![postings[0]]);
        block.postings_into(&mut all_at_once);
        assert_eq!((all_at_once[0], &all_at_once[1..]), (before, postings));
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
            assert!(Block::decode(last, &bytes[..cut]).is_err());
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
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200), last: u64, wanted: u64) {
            if let Ok(block) = Block::decode(last, &bytes) {
                prop_assert!(block.postings().count() <= BLOCK_POSTINGS);
                for hash in [last, wanted.min(last), last - (wanted % 1000).min(last)] {
                    block.find(hash, &mut Vec::new());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn flipped_bits_are_safe(
            seed: u64,
            count in 1..=64u64,
            flips in proptest::collection::vec(any::<u32>(), 1..4),
        ) {
            let postings: Vec<Posting> = (1..=count)
                .map(|i| Posting { hash: (i / 2).wrapping_mul(seed >> 12), document: i as u32, ordinal: 7 })
                .collect();
            let mut bytes = Vec::new();
            encode(&postings, &mut bytes);
            for flip in flips {
                let bit = flip as usize % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            let last = postings[postings.len() - 1].hash;
            if let Ok(block) = Block::decode(last, &bytes) {
                prop_assert!(block.postings().count() <= BLOCK_POSTINGS);
                for posting in &postings {
                    block.find(posting.hash, &mut Vec::new());
                }
            }
        }
    }

    /// Clears one bit and sets another, so that the number of set bits stays the same.
    #[test]
    fn moved_bits_are_safe() {
        for count in 1..=24u64 {
            let postings: Vec<Posting> =
                (0..count).map(|i| Posting { hash: 1000 * (i / 2), document: 3 * i as u32, ordinal: 200 }).collect();
            let mut bytes = Vec::new();
            encode(&postings, &mut bytes);
            let last = postings[postings.len() - 1].hash;
            let bits = 0..bytes.len() * 8;
            let is_set = |bytes: &[u8], bit: usize| bytes[bit / 8] >> (bit % 8) & 1 == 1;
            for from in bits.clone().filter(|&bit| is_set(&bytes, bit)) {
                for to in bits.clone().filter(|&bit| !is_set(&bytes, bit)) {
                    let mut moved = bytes.clone();
                    moved[from / 8] ^= 1 << (from % 8);
                    moved[to / 8] ^= 1 << (to % 8);
                    let Ok(block) = Block::decode(last, &moved) else { continue };
                    assert!(block.postings().count() <= BLOCK_POSTINGS);
                    for posting in block.postings().chain(postings.iter().copied()) {
                        block.find(posting.hash, &mut Vec::new());
                    }
                }
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
