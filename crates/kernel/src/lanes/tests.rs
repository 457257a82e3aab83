//! Tests every instruction set against plain code.

use proptest::prelude::*;

use super::{BLOCK, Classes, GROUP, Lanes, NEIGHBOURHOOD, Processor, REACH, SEARCHED, SimdJob, TEXT};

struct Ask<'a> {
    blocks: &'a [[u64; BLOCK]],
    value: u64,
}

impl SimdJob for Ask<'_> {
    type Output = (Vec<u32>, Vec<u32>, u64);

    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let (last, blocks) = self.blocks.split_last().unwrap();
        (
            self.blocks.iter().map(|block| lanes.below(block, self.value)).collect(),
            self.blocks.iter().map(|block| lanes.equal(block, self.value)).collect(),
            lanes.least(blocks, last),
        )
    }
}

fn mask(block: &[u64; BLOCK], is: impl Fn(u64) -> bool) -> u32 {
    (0..BLOCK).filter(|&i| is(block[i])).map(|i| 1 << i).sum()
}

/// Numbers near the values at which signed and unsigned order differ.
fn hash() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..4, (1u64 << 63) - 2..(1 << 63) + 2, u64::MAX - 3..=u64::MAX, any::<u64>()]
}

proptest! {
    #[test]
    fn equal_the_plainest_code(
        blocks in prop::collection::vec(prop::array::uniform16(hash()), 1..5),
        value in hash(),
    ) {
        let below: Vec<u32> = blocks.iter().map(|block| mask(block, |hash| hash < value)).collect();
        let equal: Vec<u32> = blocks.iter().map(|block| mask(block, |hash| hash == value)).collect();
        let least = *blocks.as_flattened().iter().min().unwrap();
        for processor in Processor::all() {
            let got = processor.run(Ask { blocks: &blocks, value });
            prop_assert_eq!(got, (below.clone(), equal.clone(), least), "{:?}", processor);
        }
    }
}

struct AskKeys<'a> {
    one: &'a [i16; TEXT],
    other: &'a [i16; TEXT],
}

impl SimdJob for AskKeys<'_> {
    type Output = u64;

    fn run<L: Lanes>(self, lanes: L) -> u64 {
        lanes.equal_keys(self.one, self.other)
    }
}

struct AskKey<'a> {
    keys: &'a [i16; SEARCHED],
    key: i16,
}

impl SimdJob for AskKey<'_> {
    type Output = u32;

    fn run<L: Lanes>(self, lanes: L) -> u32 {
        lanes.search(self.keys, self.key)
    }
}

struct AskLow<'a> {
    hashes: &'a [u64; TEXT],
    bound: u64,
}

impl SimdJob for AskLow<'_> {
    type Output = u64;

    fn run<L: Lanes>(self, lanes: L) -> u64 {
        lanes.below_in_64(self.hashes, self.bound)
    }
}

struct AskNeighbours<'a> {
    keys: &'a [i32; NEIGHBOURHOOD],
    places: &'a [i32; NEIGHBOURHOOD],
    w: i32,
    end: i32,
}

impl SimdJob for AskNeighbours<'_> {
    type Output = (u32, u32);

    fn run<L: Lanes>(self, lanes: L) -> (u32, u32) {
        lanes.least_within(self.keys, self.places, self.w, self.end)
    }
}

struct AskPlaces {
    mask: u64,
    at: u32,
}

impl SimdJob for AskPlaces {
    type Output = [u32; TEXT];

    fn run<L: Lanes>(self, lanes: L) -> [u32; TEXT] {
        let mut places = [0; TEXT];
        lanes.places::<5>(self.mask, self.at, &mut places);
        places
    }
}

struct AskKept<'a> {
    block: &'a [i32; GROUP],
    kept: u32,
}

impl SimdJob for AskKept<'_> {
    type Output = [i32; GROUP];

    fn run<L: Lanes>(self, lanes: L) -> [i32; GROUP] {
        let mut out = [0; GROUP];
        lanes.keep(self.block, self.kept, &mut out);
        out
    }
}

proptest! {
    #[test]
    fn bits_have_the_same_places(
        mask in prop_oneof![any::<u64>(), any::<[u64; 3]>().prop_map(|[a, b, c]| a & b & c), Just(0), Just(u64::MAX)],
        at in 0u32..1 << 30,
    ) {
        let expected: Vec<u32> = (0..TEXT as u32).filter(|i| mask >> i & 1 == 1).map(|i| at + i).collect();
        for processor in Processor::all() {
            let got = processor.run(AskPlaces { mask, at });
            prop_assert_eq!(&got[..expected.len()], &expected[..], "{:?}", processor);
        }
    }

    #[test]
    fn numbers_are_kept_alike(block in prop::array::uniform16(any::<i32>()), kept in 0u32..1 << GROUP) {
        let expected: Vec<i32> = (0..GROUP).filter(|i| kept >> i & 1 == 1).map(|i| block[i]).collect();
        for processor in Processor::all() {
            let got = processor.run(AskKept { block: &block, kept });
            prop_assert_eq!(&got[..expected.len()], &expected[..], "{:?}", processor);
        }
    }

    #[test]
    fn low_hashes_are_found_alike(hashes in prop::collection::vec(hash(), TEXT), bound in hash()) {
        let hashes = hashes.first_chunk().unwrap();
        let low: u64 = (0..TEXT).filter(|&i| hashes[i] < bound).map(|i| 1 << i).sum();
        for processor in Processor::all() {
            prop_assert_eq!(processor.run(AskLow { hashes, bound }), low, "{:?}", processor);
        }
    }

    #[test]
    fn neighbours_are_compared_alike(
        keys in prop::collection::vec(prop_oneof![0i32..40, Just(i32::MAX), 0..=i32::MAX], NEIGHBOURHOOD),
        steps in prop::collection::vec(1i32..30, NEIGHBOURHOOD),
        w in 1i32..200,
        after in 1i32..100,
    ) {
        // The first place in the middle is w.
        let ahead: i32 = steps[..=REACH].iter().sum();
        let places: Vec<i32> = steps.iter().scan(w - ahead, |place, step| { *place += step; Some(*place) }).collect();
        let places: Vec<i32> = places.iter().map(|&place| place.max(0)).collect();
        let (keys, places) = (keys.first_chunk().unwrap(), places.first_chunk().unwrap());
        let end = places[REACH + GROUP - 1] + after;
        let (mut least, mut near) = (0, 0);
        for i in REACH..REACH + GROUP {
            let smaller = |j: &usize| keys[*j] < keys[i];
            let left = (i - REACH..i).rev().find(smaller).map_or(i32::MIN, |j| places[j]).max(places[i] - w);
            let right = (i + 1..=i + REACH).find(smaller).map_or(i32::MAX, |j| places[j]).min(end);
            least |= u32::from(right - left > w) << (i - REACH);
            near |= u32::from(places[i + REACH] - places[i] < w) << (i - REACH);
        }
        for processor in Processor::all() {
            let got = processor.run(AskNeighbours { keys, places, w, end });
            prop_assert_eq!(got, (least, near), "{:?}", processor);
        }
    }
}

struct AskText<'a> {
    block: &'a [u8; TEXT],
    kept: u64,
    at: u32,
}

impl SimdJob for AskText<'_> {
    type Output = (Classes, Vec<(u8, u32)>);

    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let (mut codes, mut starts) = ([0; TEXT], [0; TEXT]);
        lanes.compact(self.block, self.kept, self.at, &mut codes, &mut starts);
        let kept = codes.into_iter().zip(starts).take(self.kept.count_ones() as usize).collect();
        (lanes.classify(self.block), kept)
    }
}

proptest! {
    #[test]
    fn keys_are_compared_alike(
        one in prop::collection::vec(-1i16..2, TEXT),
        other in prop::collection::vec(-1i16..2, TEXT),
    ) {
        let keys: &[i16; SEARCHED] = one.first_chunk().unwrap();
        let found: u32 = (0..SEARCHED).filter(|&i| keys[i] == other[0]).map(|i| 1 << i).sum();
        let (one, other) = (one.first_chunk().unwrap(), other.first_chunk().unwrap());
        let equal: u64 = (0..TEXT).filter(|&i| one[i] == other[i]).map(|i| 1 << i).sum();
        for processor in Processor::all() {
            prop_assert_eq!(processor.run(AskKeys { one, other }), equal, "{:?}", processor);
            prop_assert_eq!(processor.run(AskKey { keys, key: other[0] }), found, "{:?}", processor);
        }
    }

    #[test]
    fn text_is_classified_and_moved_alike(
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), 0u8..128, prop::sample::select(b"\n\x1B\x7F/09:@AZ[`az{\xAF\xB0\xB9\xC1\xDA\xE1\xFA\x8A\x9B".to_vec())],
            TEXT,
        ),
        kept in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)],
        letters_only in any::<bool>(),
        at in 0u32..1 << 30,
    ) {
        let block: &[u8; TEXT] = bytes.first_chunk().unwrap();
        let mask = |is: fn(u8) -> bool| (0..TEXT).filter(|&i| is(block[i])).map(|i| 1 << i).sum::<u64>();
        let classes = Classes {
            letters: mask(|byte| byte.is_ascii_alphanumeric()),
            newlines: mask(|byte| byte == b'\n'),
            escapes: mask(|byte| byte == 0x1B),
            beyond: mask(|byte| !byte.is_ascii()),
        };
        let kept = if letters_only { kept & classes.letters } else { kept };
        let moved = || (0..TEXT).filter(|&i| kept >> i & 1 == 1);
        for processor in Processor::all() {
            let got = processor.run(AskText { block, kept, at });
            prop_assert_eq!(got.0, classes, "{:?}", processor);
            prop_assert_eq!(got.1.len(), moved().count());
            for ((code, start), i) in got.1.into_iter().zip(moved()) {
                prop_assert_eq!(start, at + i as u32, "{:?}", processor);
                if let Some(digit) = char::from(block[i]).to_digit(36) {
                    prop_assert_eq!(u32::from(code), digit, "{:?}", processor);
                }
            }
        }
    }
}
