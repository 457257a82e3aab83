//! ASCII to symbols of unit char: a byte that is kept is one symbol, and comes from itself.
//!
//! Nearly all bytes of English text take this way. With AVX2 eight bytes are classified and moved together at once, by
//! a table of where the bytes of a mask go; without it they go one by one.

use super::symbols::Bytes;

/// Bytes taken together by the fast way; offsets within them fit in one byte.
pub(super) const BLOCK: usize = 256;

/// Finds the symbols of ASCII.
pub(super) struct Ascii {
    /// The value of the symbol an ASCII character gives, 0 where it gives none. Of all bytes, to spare bound checks.
    values: Box<[u64; 256]>,
    /// Whether there is AVX2, and what it is written to keep is what has a value.
    avx2: bool,
}

impl Ascii {
    pub(super) fn new(values: [u64; 256]) -> Self {
        let kept = |byte: usize| (byte as u8).is_ascii_alphanumeric();
        let ordinary = values.iter().enumerate().all(|(byte, &value)| (value != 0) == kept(byte));
        #[cfg(target_arch = "x86_64")]
        let avx2 = ordinary && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = ordinary && false;
        Self { values: Box::new(values), avx2 }
    }

    /// Leaves it to plain Rust.
    #[cfg(test)]
    pub(super) fn without_avx2(&mut self) {
        self.avx2 = false;
    }

    /// Adds the symbols of `bytes`, all of them ASCII, to `out`.
    pub(super) fn symbols(&self, bytes: &[u8], out: &mut Bytes) {
        let mut bytes = bytes;
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            let whole = bytes.len() - bytes.len() % 32;
            let (quads, rest) = bytes.split_at(whole);
            for (block, quads) in quads.chunks(BLOCK).enumerate() {
                let (quads, _) = quads.as_chunks();
                // SAFETY: AVX2 and POPCNT were found when `self` was made.
                unsafe { avx2::symbols(quads, &self.values, (block * BLOCK) as u32, out) };
            }
            out.at += whole as u32;
            bytes = rest;
        }
        // Written always, kept when not 0: there is no branch to predict. The masks only spare bound checks.
        const SMALL: usize = 128;
        let (mut values, mut starts) = ([0; SMALL], [0; SMALL]);
        for block in bytes.chunks(SMALL) {
            let mut kept = 0;
            for (start, &byte) in (out.at..).zip(block) {
                let value = self.values[usize::from(byte)];
                values[kept % SMALL] = value;
                starts[kept % SMALL] = start;
                kept += usize::from(value != 0);
            }
            out.values.extend_from_slice(&values[..kept]);
            out.starts.extend_from_slice(&starts[..kept]);
            out.ends.extend(starts[..kept].iter().map(|start| start + 1));
            out.at += block.len() as u32;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_loadl_epi64, _mm_shuffle_epi8, _mm_storel_epi64, _mm256_add_epi32, _mm256_cmpeq_epi8,
        _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_set1_epi32, _mm256_storeu_si256, _mm256_sub_epi8,
    };

    use super::BLOCK;
    use crate::normalize::symbols::Bytes;

    /// For each mask of eight bytes, the indices of those that are kept, the rest 0.
    static KEPT: [[u8; 8]; 256] = {
        let mut kept = [[0; 8]; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut byte, mut count) = (0, 0);
            while byte < 8 {
                if mask >> byte & 1 == 1 {
                    kept[mask][count] = byte as u8;
                    count += 1;
                }
                byte += 1;
            }
            mask += 1;
        }
        kept
    };

    /// Adds the letters and digits of at most [`BLOCK`] bytes, which begin `offset` after `out.at`.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn symbols(quads: &[[u8; 32]], values: &[u64; 256], offset: u32, out: &mut Bytes) {
        let quads = &quads[..quads.len().min(BLOCK / 32)];
        let room = 32 * quads.len();
        let mut kept_bytes = [0u8; BLOCK];
        out.starts.reserve(room);
        out.ends.reserve(room);
        out.values.reserve(room);
        let (starts, ends) = (out.starts.spare_capacity_mut(), out.ends.spare_capacity_mut());
        let (starts, ends) = (starts.as_mut_ptr(), ends.as_mut_ptr());
        let mut kept = 0;
        let mut at = _mm256_set1_epi32((out.at + offset) as i32);
        for quad in quads {
            // SAFETY: 32 bytes are read of 32.
            let mut mask = alphanumeric(unsafe { _mm256_loadu_si256(quad.as_ptr().cast()) }) as usize;
            let (groups, _) = quad.as_chunks::<8>();
            for group in groups {
                // SAFETY: eight bytes are read of eight. What is written are eight elements from `kept` on, and `kept`
                // is at most 8 times the groups before, so that they end within the 8 times all groups that were
                // reserved, and that `kept_bytes` has.
                unsafe {
                    let indices = _mm_loadl_epi64(KEPT[mask & 0xFF].as_ptr().cast());
                    let moved = _mm_shuffle_epi8(_mm_loadl_epi64(group.as_ptr().cast()), indices);
                    _mm_storel_epi64(kept_bytes.as_mut_ptr().add(kept).cast(), moved);
                    let start = _mm256_add_epi32(at, _mm256_cvtepu8_epi32(indices));
                    _mm256_storeu_si256(starts.add(kept).cast(), start);
                    _mm256_storeu_si256(ends.add(kept).cast(), _mm256_add_epi32(start, _mm256_set1_epi32(1)));
                }
                kept += (mask & 0xFF).count_ones() as usize;
                mask >>= 8;
                at = _mm256_add_epi32(at, _mm256_set1_epi32(8));
            }
        }
        let to = out.values.spare_capacity_mut().as_mut_ptr();
        for (group, bytes) in kept_bytes[..kept.next_multiple_of(8)].as_chunks::<8>().0.iter().enumerate() {
            for (i, &byte) in bytes.iter().enumerate() {
                // SAFETY: `kept` rounded up to a multiple of eight is no more than was reserved.
                unsafe { to.add(8 * group + i).cast::<u64>().write(values[usize::from(byte)]) };
            }
        }
        // SAFETY: as many were written, within what was reserved.
        unsafe {
            out.starts.set_len(out.starts.len() + kept);
            out.ends.set_len(out.ends.len() + kept);
            out.values.set_len(out.values.len() + kept);
        }
    }

    /// Which bytes are ASCII letters or digits, as a mask.
    #[target_feature(enable = "avx2")]
    fn alphanumeric(bytes: __m256i) -> u32 {
        let lowercase = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        let kept = _mm256_or_si256(between(lowercase, b'a', b'z'), between(bytes, b'0', b'9'));
        _mm256_movemask_epi8(kept) as u32
    }

    #[target_feature(enable = "avx2")]
    fn between(bytes: __m256i, first: u8, last: u8) -> __m256i {
        let distance = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first as i8));
        _mm256_cmpeq_epi8(_mm256_min_epu8(distance, _mm256_set1_epi8((last - first) as i8)), distance)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalize::symbols::Symbols;
    use crate::normalize::value::value_of_byte;

    fn table() -> [u64; 256] {
        std::array::from_fn(|byte| {
            let byte = byte as u8;
            if byte.is_ascii_alphanumeric() { value_of_byte(byte.to_ascii_lowercase()) } else { 0 }
        })
    }

    fn read(ascii: &Ascii, pieces: &[&[u8]]) -> Vec<(u64, u64, u64)> {
        let mut symbols = Symbols::new();
        let mut at = 3;
        for piece in pieces {
            ascii.symbols(piece, &mut symbols.bytes(at));
            at += piece.len() as u64;
        }
        (0..symbols.len()).map(|i| (symbols.values()[i], symbols.start(i), symbols.end(i))).collect()
    }

    proptest! {
        #[test]
        fn both_ways_equal_the_table(
            text in prop::collection::vec(prop_oneof![0u8..128, b'a'..=b'z', Just(b' ')], 0..1500),
            cut in 0usize..1500,
        ) {
            let (before, after) = text.split_at(cut.min(text.len()));
            let table = table();
            let expected: Vec<(u64, u64, u64)> = (3..)
                .zip(&text)
                .map(|(at, &byte)| (table[usize::from(byte)], at, at + 1))
                .filter(|symbol| symbol.0 != 0)
                .collect();
            let mut ascii = Ascii::new(table);
            prop_assert_eq!(&read(&ascii, &[before, after]), &expected);
            ascii.without_avx2();
            prop_assert_eq!(&read(&ascii, &[before, after]), &expected);
        }
    }
}
