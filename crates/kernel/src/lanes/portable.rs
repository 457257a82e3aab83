//! Operations in plain Rust, for any processor.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::sse2::{classify, equal_bits};
use super::{BLOCK, Classes, GROUP, Lanes, NEIGHBOURHOOD, REACH, SEARCHED, SimdJob, TEXT, places_one_by_one};

#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Lanes for Portable {
    const SMALL_WINDOW: usize = 48;
    const THRESHOLD_WINDOWS: Range<usize> = 0..0;

    #[inline(never)]
    fn call<J: SimdJob>(self, job: J) -> J::Output {
        job.run(self)
    }

    #[inline(always)]
    fn classify(self, block: &[u8; TEXT]) -> Classes {
        classify(block)
    }

    #[inline(always)]
    fn compact(self, block: &[u8; TEXT], mut kept: u64, at: u32, codes: &mut [u8; TEXT], starts: &mut [u32; TEXT]) {
        // Moves a run of letters at a time, such as a word, and perhaps the bytes after it.
        const RUN: usize = 8;
        let mut unmoved = [0; TEXT + RUN];
        for (code, &byte) in unmoved.iter_mut().zip(block) {
            let (letter, digit) = ((byte | 0x20).wrapping_sub(b'a'), byte.wrapping_sub(b'0'));
            *code = if letter < 26 { letter + 10 } else { digit };
        }
        let (mut moved, mut places) = ([0; TEXT + RUN], [0; TEXT + RUN]);
        let (mut from, mut to) = (0, 0);
        while kept != 0 {
            let skipped = kept.trailing_zeros();
            kept >>= skipped;
            from += skipped as usize;
            let length = (!kept).trailing_zeros().min(RUN as u32);
            let run: Option<&[u8; RUN]> = unmoved[from..].first_chunk();
            let room: Option<&mut [u8; RUN]> = moved[to..].first_chunk_mut();
            let room_for_places: Option<&mut [u32; RUN]> = places[to..].first_chunk_mut();
            let (Some(run), Some(room), Some(room_for_places)) = (run, room, room_for_places) else { break };
            *room = *run;
            for (place, offset) in room_for_places.iter_mut().zip(0..) {
                *place = at + from as u32 + offset;
            }
            kept >>= length;
            from += length as usize;
            to += length as usize;
        }
        codes.copy_from_slice(&moved[..TEXT]);
        starts.copy_from_slice(&places[..TEXT]);
    }

    #[inline(always)]
    fn search(self, keys: &[i16; SEARCHED], key: i16) -> u32 {
        equal_bits(keys, &[key; SEARCHED]) as u32
    }

    #[inline(always)]
    fn equal_keys(self, one: &[i16; TEXT], other: &[i16; TEXT]) -> u64 {
        equal_bits(one, other)
    }

    #[inline(always)]
    fn below_in_64(self, hashes: &[u64; TEXT], bound: u64) -> u64 {
        hashes.iter().enumerate().fold(0, |mask, (i, &hash)| mask | u64::from(hash < bound) << i)
    }

    #[inline(always)]
    fn places<const USUAL: usize>(self, mask: u64, at: u32, places: &mut [u32; TEXT]) {
        places_one_by_one::<USUAL>(mask, at, places);
    }

    #[inline(always)]
    fn least_within(self, keys: &[i32; NEIGHBOURHOOD], places: &[i32; NEIGHBOURHOOD], w: i32, end: i32) -> (u32, u32) {
        let (mut mask, mut crowded) = (0, 0);
        for i in 0..GROUP {
            let (key, place) = (keys[REACH + i], places[REACH + i]);
            let (mut left, mut right) = (place - w, end.min(place + w));
            for step in 1..REACH + 1 {
                let (before, after) = (REACH + i - step, REACH + i + step);
                if keys[before] < key {
                    left = left.max(places[before]);
                }
                if keys[after] < key {
                    right = right.min(places[after]);
                }
            }
            mask |= u32::from(right - left > w) << i;
            crowded |= u32::from(places[2 * REACH + i] - place < w) << i;
        }
        (mask, crowded)
    }

    #[inline(always)]
    fn keep(self, block: &[i32; GROUP], mut kept: u32, out: &mut [i32; GROUP]) {
        let mut to = 0;
        for &number in block {
            out[to] = number;
            to = (to + (kept & 1) as usize) % GROUP;
            kept >>= 1;
        }
    }

    #[inline(always)]
    fn below(self, block: &[u64; BLOCK], bound: u64) -> u32 {
        mask(block, |hash| hash < bound)
    }

    #[inline(always)]
    fn equal(self, block: &[u64; BLOCK], value: u64) -> u32 {
        mask(block, |hash| hash == value)
    }

    #[inline(always)]
    fn least(self, blocks: &[[u64; BLOCK]], last: &[u64; BLOCK]) -> u64 {
        let mut least = *last;
        for block in blocks {
            for (least, &hash) in least.iter_mut().zip(block) {
                *least = hash.min(*least);
            }
        }
        least.into_iter().fold(u64::MAX, u64::min)
    }
}

/// [`Lanes::classify`], eight bytes at a time.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn classify(block: &[u8; TEXT]) -> Classes {
    let mut classes = Classes::default();
    let (words, _) = block.as_chunks();
    for (i, &word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(word);
        let letters = within(word | all(0x20), b'a', b'z') | within(word, b'0', b'9');
        classes.letters |= bits(letters & !word) << (8 * i);
        classes.newlines |= bits(within(word, b'\n', b'\n') & !word) << (8 * i);
        classes.escapes |= bits(within(word, 0x1B, 0x1B) & !word) << (8 * i);
        classes.beyond |= bits(word) << (8 * i);
    }
    classes
}

#[inline(always)]
fn mask(block: &[u64; BLOCK], is: impl Fn(u64) -> bool) -> u32 {
    block.iter().enumerate().fold(0, |mask, (i, &hash)| mask | u32::from(is(hash)) << i)
}

/// Mask of the keys that are equal in both arrays, at most 64.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn equal_bits<const N: usize>(one: &[i16; N], other: &[i16; N]) -> u64 {
    let mut equal = [0; N];
    for ((equal, one), other) in equal.iter_mut().zip(one).zip(other) {
        *equal = if one == other { 0x80 } else { 0 };
    }
    let (words, _) = equal.as_chunks();
    words.iter().enumerate().fold(0, |mask, (i, &word)| mask | bits(u64::from_le_bytes(word)) << (8 * i))
}

#[cfg(not(target_arch = "x86_64"))]
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Sets the highest bit of each ASCII byte that is within `first..=last`. All other bits, and the bytes that
/// are not ASCII, are arbitrary.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn within(word: u64, first: u8, last: u8) -> u64 {
    // Without the highest bits, no carry crosses a byte.
    let word = word & all(0x7F);
    (word + all(0x80 - first)) & !(word + all(0x7F - last))
}

/// The highest bits of eight bytes. One multiplication moves the bit of byte `i` to bit `56 + i`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn bits(word: u64) -> u64 {
    ((word & all(0x80)) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
