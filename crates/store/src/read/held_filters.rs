//! The filters of a run, held in memory. A question about a hash then reads three bytes. Without held
//! filters, the engine has to find the row of the filter for each hash, which takes most of the time that an
//! absent hash costs.
//!
//! Held filters can take up to three quarters of the cache, and leave the rest to blocks. If all filters do
//! not fit, memory holds fewer bits of each byte: 4, 2 or 1. A filter combines its bytes by exclusive or,
//! which works bit by bit, so a hash of the run still passes. Each further bit that is held halves the number
//! of absent hashes that pass. With the default cache of 192 MiB:
//!
//! | postings             | bits held                               | absent hashes that pass |
//! |----------------------|-----------------------------------------|-------------------------|
//! | up to 124 million    | 8                                       | 1 in 256                |
//! | up to 248 million    | 4                                       | 1 in 16                 |
//! | up to 495 million    | 2                                       | 1 in 4                  |
//! | up to 990 million    | 1                                       | 1 in 2                  |
//! | above                | 1, of the first filters of each run     | more                    |
//!
//! Rejected: a Bloom filter of the same size as one bit, which lets 56% pass instead of 50%. Rejected: whole
//! filters for an eighth of the hashes. They save an eighth of the reads, and one bit of all filters saves a
//! half.

use crate::codec::filter::{FilterSlots, Head};
use crate::codec::records::RunRecord;
use crate::engine::rows::Rows;
use crate::read::run_rows::current_filter;
use fpdb_host::error::{Error, Result};

/// The part of the filters that is held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Depth {
    /// The number of bits held of each byte: 1, 2, 4 or 8.
    bits: u8,
    /// The share of a run's filters that is held, in sixteenths. Less than 16 only if one bit of each byte
    /// does not fit.
    share: u32,
}

const WHOLE_SHARE: u32 = 16;

impl Depth {
    pub(crate) const WHOLE: Self = Self { bits: 8, share: WHOLE_SHARE };

    /// The largest depth that fits in `most` bytes, if all filters take `all` bytes.
    pub(crate) fn fitting(all: u64, most: u64) -> Self {
        let fits = |bits: &u8| all.div_ceil(8).saturating_mul(u64::from(*bits)) <= most;
        match [8, 4, 2, 1].into_iter().find(fits) {
            Some(bits) => Self { bits, share: WHOLE_SHARE },
            // The share is rounded to sixteenths, so that small growth of a database does not change it.
            None => Self { bits: 1, share: (u128::from(most) * 8 * u128::from(WHOLE_SHARE) / u128::from(all)) as u32 },
        }
    }

    /// The share of absent hashes that the held filters keep out, from 0 to 1.
    pub(crate) fn kept_out(self) -> f64 {
        (1.0 - 0.5_f64.powi(i32::from(self.bits))) * f64::from(self.share) / f64::from(WHOLE_SHARE)
    }
}

/// Filters of one run, in ascending order of hash.
#[derive(Debug)]
pub(crate) struct HeldFilters {
    depth: Depth,
    /// The last hash that each filter covers.
    last_hashes: Vec<u64>,
    /// The heads of the filters, stored apart from their bytes. This saves one access to memory that misses
    /// the processor's cache.
    heads: Vec<Head>,
    /// The number of the first slot of each filter.
    starts: Vec<usize>,
    /// The held bits of all slots, one slot after the other.
    bytes: Vec<u8>,
}

impl HeldFilters {
    fn new(depth: Depth) -> Self {
        Self { depth, last_hashes: Vec::new(), heads: Vec::new(), starts: Vec::new(), bytes: Vec::new() }
    }

    /// Reads the filters of `run` from its `rows`.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the filters do not have the size that the record says.
    pub(crate) fn read(run: u32, record: &RunRecord, rows: &mut Rows<'_>, depth: Depth) -> Result<Self> {
        let most = (u128::from(record.filter_bytes) * u128::from(depth.share) / u128::from(WHOLE_SHARE)) as u64;
        let mut held = Self::new(depth);
        held.bytes.reserve(usize::try_from(most / 8 * u64::from(depth.bits)).unwrap_or(0));
        let (mut read, mut slots) = (0, 0);
        rows.seek_to_first();
        while let Some((last_hash, value_bytes, filter)) = current_filter(rows)? {
            read += value_bytes as u64;
            // The remaining filters are read too, to notice a missing one.
            if read <= most {
                held.last_hashes.push(last_hash);
                held.heads.push(filter.head);
                held.starts.push(slots);
                slots += filter.bytes.len();
                held.add(filter.bytes, slots);
            }
            rows.next();
        }
        // If a filter were missing, the next one would keep out hashes that the run holds.
        if read != record.filter_bytes {
            let what = format!("the filters of run {run}");
            return Err(Error::Damaged { what, detail: "they are not as many bytes as were written" });
        }
        Ok(held)
    }

    /// Adds the lowest bits of each byte of a filter. `slots` is the number of slots including this filter.
    fn add(&mut self, bytes: &[u8], slots: usize) {
        if self.depth.bits == 8 {
            return self.bytes.extend_from_slice(bytes);
        }
        let first = slots - bytes.len();
        self.bytes.resize((slots * usize::from(self.depth.bits)).div_ceil(8), 0);
        for (slot, byte) in (first..).zip(bytes) {
            let (at, shift) = self.place(slot);
            self.bytes[at] |= (byte & self.mask()) << shift;
        }
    }

    /// The byte that contains the bits of a slot, and the number of the first of these bits.
    fn place(&self, slot: usize) -> (usize, u32) {
        let bit = slot * usize::from(self.depth.bits);
        (bit / 8, (bit % 8) as u32)
    }

    /// A mask of the bits that are held of each byte.
    fn mask(&self) -> u8 {
        u8::MAX >> (8 - self.depth.bits)
    }

    /// The depth at which the filters are held.
    pub(crate) fn depth(&self) -> Depth {
        self.depth
    }

    /// Bytes of memory that the held filters take.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.heads.len() * (size_of::<Head>() + size_of::<(u64, usize)>())
    }

    /// False if the run certainly does not hold `hash`.
    pub(crate) fn may_hold(&self, hash: u64) -> bool {
        let number = self.last_hashes.partition_point(|&last| last < hash);
        // `None`: the hash is above the run's last hash, or its filter is not held.
        let Some(head) = self.heads.get(number) else { return self.depth.share < WHOLE_SHARE };
        let Some(FilterSlots { at, check }) = head.slots(hash) else { return true };
        let start = self.starts[number];
        if self.depth.bits == 8 {
            let bytes = &self.bytes[start..];
            return at.iter().fold(check, |sum, &at| sum ^ bytes[at as usize]) == 0;
        }
        let bits = |at: u32| {
            let (at, shift) = self.place(start + at as usize);
            self.bytes[at] >> shift
        };
        at.iter().fold(check, |sum, &at| sum ^ bits(at)) & self.mask() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::filter::{self, Filter, FilterBuilder};

    impl HeldFilters {
        /// No filters.
        pub(crate) fn none() -> Self {
            Self::new(Depth::WHOLE)
        }
    }

    #[test]
    fn as_many_bits_are_held_as_there_is_room_for() {
        let of = |all, most| {
            let Depth { bits, share } = Depth::fitting(all, most);
            (bits, share)
        };
        assert_eq!(of(0, 0), (8, WHOLE_SHARE));
        assert_eq!(of(800, 800), (8, WHOLE_SHARE));
        assert_eq!(of(800, 799), (4, WHOLE_SHARE));
        assert_eq!(of(800, 399), (2, WHOLE_SHARE));
        assert_eq!(of(800, 100), (1, WHOLE_SHARE));
        assert_eq!(of(800, 50), (1, WHOLE_SHARE / 2));
        assert_eq!(of(800, 99), (1, 15));
        assert_eq!(of(u64::MAX, 0), (1, 0));
        assert_eq!(Depth::fitting(800, 100).kept_out(), 0.5);
        assert_eq!(Depth::fitting(800, 50).kept_out(), 0.25);
        assert!(Depth::WHOLE > Depth::fitting(800, 400) && Depth::fitting(800, 100) > Depth::fitting(800, 99));
    }

    #[test]
    fn fewer_bits_hold_the_same_hashes_and_keep_out_fewer_others() {
        let hash = |number: u64| number << 33;
        let filters: Vec<Vec<u8>> = [0..700u64, 700..703, 703..1403]
            .into_iter()
            .map(|numbers| {
                let mut bytes = Vec::new();
                let hashes: Vec<u64> = numbers.map(hash).collect();
                filter::encode(&hashes, &mut FilterBuilder::default(), &mut bytes);
                bytes
            })
            .collect();
        for (bits, passing) in [(8, 1.0 / 256.0), (4, 1.0 / 16.0), (2, 0.25), (1, 0.5)] {
            let mut held = HeldFilters::new(Depth { bits, share: WHOLE_SHARE });
            let mut slots = 0;
            for (bytes, last) in filters.iter().zip([699, 702, 1402]) {
                let filter = Filter::decode(bytes).unwrap();
                held.last_hashes.push(hash(last));
                held.heads.push(filter.head);
                held.starts.push(slots);
                slots += filter.bytes.len();
                held.add(filter.bytes, slots);
            }
            assert_eq!(held.bytes.len(), (slots * usize::from(bits)).div_ceil(8));
            assert!((0..1403).all(|number| held.may_hold(hash(number))), "{bits} bits");
            let absent = 20_000;
            let others = (0..absent).map(|number| hash(1402) / absent * number + 1);
            let passed = others.filter(|&other| held.may_hold(other)).count() as f64;
            let expected = absent as f64 * passing;
            assert!((passed - expected).abs() < 5.0 * expected.sqrt(), "{bits} bits: {passed} passed");
            assert!(!held.may_hold(hash(1402) + 1), "above the last");
        }
    }
}
