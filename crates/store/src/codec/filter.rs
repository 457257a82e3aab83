//! Filter: a compact test for the hashes of one part of a run. It answers that the part certainly lacks a
//! hash, or that the part may hold it.
//!
//! This is a binary fuse filter of 8-bit fingerprints (Graf and Lemire, *Binary Fuse Filters: Fast and
//! Smaller Than Xor Filters*, 2022). A hash has three bytes in the filter, one in each of three consecutive
//! segments. For a hash that the filter holds, the exclusive or of these bytes is 8 bits derived from the
//! hash. Of all other hashes, one in 256 passes by chance. At the size used here a filter takes 9.75 bits a
//! hash.
//!
//! RocksDB's own filters know keys only, and the key of a block names only one of its up to 512 hashes.
//!
//! The encoder peels hashes off one by one, each at a place that no other hash has. The encoder takes the
//! oldest such place first, which costs 20 ns a hash (one thread, 3.3 million hashes). Taking the newest
//! place first costs 29 ns a hash, because each step waits for the step before. A fold spends most of its
//! processor time here.
//!
//! Pure: bytes in, answers out. The byte table is in [`crate::codec::format`]. No library is used: the places
//! of a hash are part of the disk format, and must not change with a new version of a library.

/// Maximum number of hashes in one filter, so that no filter grows with the corpus. Such a filter takes some
/// 40 KiB.
pub(crate) const FILTER_HASHES: usize = 1 << 15;

const HEAD_BYTES: usize = 11;

/// A filter that lets every hash pass.
pub(crate) const ALL_PASS: [u8; HEAD_BYTES] = [0; HEAD_BYTES];

/// The bytes of a filter of [`FILTER_HASHES`] hashes.
pub(crate) const FULL_FILTER_BYTES: usize = HEAD_BYTES + 39_936;

/// The number of seeds tried.
const SEEDS: u64 = 100;

/// The number of seeds tried at one size. The sizes of the paper are too small for some numbers of hashes,
/// such as 11,510: almost every seed fails. Then the filter grows by a segment.
const SEEDS_AT_A_SIZE: u64 = 8;

/// Appends a filter of distinct hashes to `out`.
pub(crate) fn encode(hashes: &[u64], builder: &mut FilterBuilder, out: &mut Vec<u8>) {
    let count = hashes.len().max(1) as f64;
    // The sizes of the paper. Only the encoder computes them: the head of the filter records the chosen
    // sizes.
    let log_segment = (count.ln() / 3.33_f64.ln() + 2.25).floor().min(18.0) as u32;
    let factor = (0.875 + 0.25 * 1e6_f64.ln() / count.ln().max(1.0)).max(1.125);
    let starts = ((count * factor) as usize).div_ceil(1 << log_segment).saturating_sub(2).max(1);
    for number in 0..SEEDS {
        let starts = starts as u64 + number / SEEDS_AT_A_SIZE;
        builder.resize(log_segment, starts as u16);
        let seed = mix(number);
        if builder.build(hashes, seed) {
            out.extend(seed.to_le_bytes());
            out.push(log_segment as u8);
            out.extend((starts as u16).to_le_bytes());
            out.extend(&builder.bytes);
            return;
        }
    }
    // Equal hashes share all their places, so no seed works for them. A filter without segments lets every
    // hash pass.
    out.extend(ALL_PASS);
}

/// A bijection of 64 bits that hides patterns: the final steps of MurmurHash3.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

/// The places of a hash's three bytes, and the exclusive or of these bytes if the filter holds the hash.
#[derive(Clone, Copy)]
pub(crate) struct FilterSlots {
    pub(crate) at: [u32; 3],
    pub(crate) check: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    log_segment: u32,
    /// The number of segments that the first of the three bytes can lie in. The other two bytes of a hash lie
    /// in the two segments after it.
    starts: u16,
}

impl Shape {
    fn bytes(self) -> usize {
        (usize::from(self.starts) + 2) << self.log_segment
    }

    fn places(self, mixed: u64) -> FilterSlots {
        let range = u64::from(self.starts) << self.log_segment;
        let segment = 1 << self.log_segment;
        let first = ((u128::from(mixed) * u128::from(range)) >> 64) as u32;
        let within = |bits: u64| bits as u32 & (segment - 1);
        let at = [first, (first + segment) ^ within(mixed >> 18), (first + 2 * segment) ^ within(mixed)];
        FilterSlots { at, check: (mixed ^ (mixed >> 32)) as u8 }
    }
}

/// Builds filters by peeling: repeatedly removes a hash that is alone at one of its places. The hash removed
/// first is set last. One builder serves any number of filters, and reuses its memory.
#[derive(Default)]
pub(crate) struct FilterBuilder {
    shape: Shape,
    /// The hashes, mixed with the seed.
    mixed: Vec<u64>,
    /// For each place: the count of its hashes (from bit 16 up), and the exclusive or of their numbers (the
    /// bits below). If the count is one, these bits are the number of that hash.
    places: Vec<u32>,
    /// Places with one hash that are not visited yet.
    alone: Vec<u32>,
    /// The numbers of hashes in the order of peeling, each with the place where it was alone.
    peeled: Vec<(u32, u32)>,
    bytes: Vec<u8>,
}

/// A count of one hash, as [`FilterBuilder::places`] stores it.
const ONE: u32 = 1 << 16;

impl FilterBuilder {
    fn resize(&mut self, log_segment: u32, starts: u16) {
        self.shape = Shape { log_segment, starts };
        let bytes = self.shape.bytes();
        self.places.resize(bytes, 0);
        // One spare entry: the loops below write each entry before they know whether it counts.
        self.alone.resize(bytes + 1, 0);
        self.bytes.resize(bytes, 0);
    }

    /// Builds the filter with this seed. Returns false if the seed fails.
    fn build(&mut self, hashes: &[u64], seed: u64) -> bool {
        debug_assert!(hashes.len() <= FILTER_HASHES);
        self.places.fill(0);
        self.peeled.clear();
        self.mixed.clear();
        self.mixed.extend(hashes.iter().map(|hash| mix(hash.wrapping_add(seed))));
        for (number, &mixed) in (0..).zip(&self.mixed) {
            for at in self.shape.places(mixed).at {
                let place = &mut self.places[at as usize];
                *place = (*place ^ number) + ONE;
            }
        }
        let is_alone = |place: u32| place / ONE == 1;
        // This loop has no branch, which the processor would mispredict. It writes every place to the list,
        // but advances `waiting` only for a place with one hash.
        let mut waiting = 0;
        for (at, &place) in (0..).zip(&self.places) {
            self.alone[waiting] = at;
            waiting += usize::from(is_alone(place));
        }
        // Peels in order of discovery, which is faster than the newest place first (see the module comment).
        let mut next = 0;
        while next < waiting {
            let at = self.alone[next];
            next += 1;
            if !is_alone(self.places[at as usize]) {
                continue;
            }
            let number = self.places[at as usize] % ONE;
            self.peeled.push((number, at));
            for other in self.shape.places(self.mixed[number as usize]).at {
                let place = &mut self.places[other as usize];
                *place = (*place ^ number) - ONE;
                self.alone[waiting] = other;
                waiting += usize::from(is_alone(*place));
            }
        }
        if self.peeled.len() != hashes.len() {
            return false;
        }
        self.bytes.fill(0);
        // Hashes are set in reverse order of peeling, so that setting a hash never changes a byte that an
        // earlier set hash uses.
        for &(number, own) in self.peeled.iter().rev() {
            let FilterSlots { at, check } = self.shape.places(self.mixed[number as usize]);
            let others = at.iter().fold(0, |sum, &at| sum ^ self.bytes[at as usize]);
            self.bytes[own as usize] = others ^ check;
        }
        true
    }
}

/// The header of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    seed: u64,
    shape: Shape,
}

/// A filter, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter<'a> {
    pub(crate) head: Head,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Filter<'a> {
    /// Checks a filter and prepares it for reading.
    ///
    /// # Errors
    /// Returns the damage, as the end of a sentence. Any bytes are safe to give.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, &'static str> {
        const SHORT: &str = "the filter ends early";
        let (seed, rest) = bytes.split_first_chunk::<8>().ok_or(SHORT)?;
        let (&log_segment, rest) = rest.split_first().ok_or(SHORT)?;
        let (starts, bytes) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
        if log_segment > 18 {
            return Err("the filter gives an impossible size");
        }
        let shape = Shape { log_segment: u32::from(log_segment), starts: u16::from_le_bytes(*starts) };
        if bytes.len() != if shape.starts == 0 { 0 } else { shape.bytes() } {
            return Err("the filter has not the size it gives");
        }
        Ok(Self { head: Head { seed: u64::from_le_bytes(*seed), shape }, bytes })
    }

    /// True for every hash that the filter holds, and for one in 256 of the others.
    pub(crate) fn may_hold(&self, hash: u64) -> bool {
        let Some(FilterSlots { at, check }) = self.head.slots(hash) else { return true };
        at.iter().fold(check, |sum, &at| sum ^ self.bytes[at as usize]) == 0
    }
}

impl Head {
    /// The slots of `hash`. `None` if the filter lets every hash pass.
    pub(crate) fn slots(&self, hash: u64) -> Option<FilterSlots> {
        (self.shape.starts > 0).then(|| self.shape.places(mix(hash.wrapping_add(self.seed))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filter_of(hashes: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(hashes, &mut FilterBuilder::default(), &mut bytes);
        bytes
    }

    #[test]
    fn holds_what_it_was_made_of_and_one_in_256_of_the_rest() {
        for count in [1, 2, 3, 10, 100, 1000, 10_000, FILTER_HASHES] {
            // The hashes are close together, like those of one part of a large run.
            let hashes: Vec<u64> = (0..count as u64).map(|i| (7 << 40) + 2 * i).collect();
            let bytes = filter_of(&hashes);
            assert!(bytes.len() <= HEAD_BYTES + 40 + count * 5 / 2, "{count}: {} bytes", bytes.len());
            let filter = Filter::decode(&bytes).unwrap();
            assert!(hashes.iter().all(|&hash| filter.may_hold(hash)), "{count}");
            let absent = 100_000;
            let passed = (0..absent).filter(|i| filter.may_hold((7 << 40) + 2 * i + 1)).count();
            // 390.6 are expected; four standard deviations are 79.
            assert!((311..=470).contains(&passed), "{count}: {passed} of {absent} passed");
        }
        let whole = filter_of(&(0..FILTER_HASHES as u64).map(mix).collect::<Vec<_>>());
        assert_eq!(whole.len(), FULL_FILTER_BYTES, "9.75 bits a hash, and the head");
    }

    /// At these numbers the size of the paper is too small for most sets of hashes.
    #[test]
    fn no_number_of_hashes_is_left_without_a_filter() {
        for count in (11_480..11_530).chain([1, 2, 5, 50, 345, 3456, 11_264, 20_000]) {
            let hashes: Vec<u64> = (0..count).map(|number| mix(number + count)).collect();
            let bytes = filter_of(&hashes);
            let filter = Filter::decode(&bytes).unwrap();
            assert!(bytes.len() > HEAD_BYTES && hashes.iter().all(|&hash| filter.may_hold(hash)), "{count}");
        }
    }

    #[test]
    fn equal_hashes_make_a_filter_that_keeps_nothing_out() {
        let bytes = filter_of(&[3, 3]);
        assert_eq!(bytes, [0; HEAD_BYTES]);
        assert!(Filter::decode(&bytes).unwrap().may_hold(4));
    }

    /// The places of a hash are part of the format and must never change. Only the choice of the place whose
    /// byte is set is the encoder's.
    #[test]
    fn the_places_are_pinned() {
        let hashes = [1, 1 << 32, u64::MAX];
        let mut pinned = [0; HEAD_BYTES + 24];
        for (at, byte) in [(8, 3), (9, 1), (16, 208), (29, 42), (31, 223)] {
            pinned[at] = byte;
        }
        let filter = Filter::decode(&pinned).unwrap();
        assert!(hashes.iter().all(|&hash| filter.may_hold(hash)));
        let slots = hashes.map(|hash| filter.head.slots(hash).map(|FilterSlots { at, check }| (at, check)).unwrap());
        let made = filter_of(&hashes);
        assert_eq!(made[..HEAD_BYTES], pinned[..HEAD_BYTES]);
        for (at, check) in slots {
            for bytes in [&pinned[HEAD_BYTES..], &made[HEAD_BYTES..]] {
                assert_eq!(at.iter().fold(0, |sum, &at| sum ^ bytes[at as usize]), check);
            }
        }
        assert_eq!(slots, [([5, 13, 17], 208), ([5, 10, 20], 15), ([3, 11, 18], 42)]);
    }

    proptest! {
        #[test]
        fn any_hashes_are_held(hashes in proptest::collection::hash_set(any::<u64>(), 0..400)) {
            let hashes: Vec<u64> = hashes.into_iter().collect();
            let bytes = filter_of(&hashes);
            let filter = Filter::decode(&bytes).unwrap();
            prop_assert!(hashes.iter().all(|&hash| filter.may_hold(hash)));
            for cut in 0..bytes.len() {
                prop_assert!(Filter::decode(&bytes[..cut]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200), hash: u64) {
            if let Ok(filter) = Filter::decode(&bytes) {
                filter.may_hold(hash);
            }
        }
    }
}
