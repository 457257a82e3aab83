//! Operations in AVX2: four hashes in a register.

use std::arch::x86_64::{
    __m256i, _mm_loadl_epi64, _mm_shuffle_epi8, _mm_storel_epi64, _mm256_add_epi8, _mm256_add_epi32, _mm256_and_si256,
    _mm256_blendv_epi8, _mm256_castsi256_pd, _mm256_castsi256_ps, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16,
    _mm256_cmpeq_epi64, _mm256_cmpgt_epi32, _mm256_cmpgt_epi64, _mm256_cvtepu8_epi32, _mm256_loadu_si256,
    _mm256_max_epi32, _mm256_min_epi32, _mm256_min_epu8, _mm256_min_epu32, _mm256_movemask_epi8, _mm256_movemask_pd,
    _mm256_movemask_ps, _mm256_or_si256, _mm256_packs_epi16, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_storeu_si256, _mm256_sub_epi8,
    _mm256_sub_epi32, _mm256_testz_si256, _mm256_xor_si256,
};
use std::ops::Range;

use super::{BLOCK, Classes, GROUP, Lanes, NEIGHBOURHOOD, REACH, SEARCHED, SimdJob, TEXT, places_one_by_one};

/// For each 8-bit mask: the indices of its set bits, ascending, padded with 0.
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

/// Proof that the processor has AVX2 and the bit manipulation instructions.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    #[inline]
    pub(super) fn run<J: SimdJob>(self, job: J) -> J::Output {
        // SAFETY: `self` exists only if `detect` found the features.
        unsafe { run(self, job) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn run<J: SimdJob>(lanes: Avx2, job: J) -> J::Output {
    job.run(lanes)
}

// Inlined code must not pass through a closure, which would be compiled without AVX2.
// SAFETY of the whole implementation: `self` exists only if the processor has AVX2. Each load or store of
// hashes covers four of the sixteen elements of an array.
impl Lanes for Avx2 {
    const SMALL_WINDOW: usize = 48;
    const THRESHOLD_WINDOWS: Range<usize> = 26..1001;

    #[inline(always)]
    fn call<J: SimdJob>(self, job: J) -> J::Output {
        self.run(job)
    }

    #[inline(always)]
    fn classify(self, block: &[u8; TEXT]) -> Classes {
        let mut classes = Classes::default();
        for half in 0..2 {
            // SAFETY: see above. Reads 32 of 64 bytes, at offset 0 or 32.
            unsafe {
                let bytes = _mm256_loadu_si256(block.as_ptr().cast::<__m256i>().add(half));
                let (letter, digit) = offsets(bytes);
                let is_digit = at_most(digit, 9);
                let newline = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8));
                let escape = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x1B));
                let shift = 32 * half;
                classes.letters |= bits(_mm256_or_si256(at_most(letter, 25), is_digit)) << shift;
                classes.newlines |= bits(newline) << shift;
                classes.escapes |= bits(escape) << shift;
                classes.beyond |= bits(bytes) << shift;
            }
        }
        classes
    }

    #[inline(always)]
    fn compact(self, block: &[u8; TEXT], mut kept: u64, at: u32, codes: &mut [u8; TEXT], starts: &mut [u32; TEXT]) {
        let mut unmoved = [0u8; TEXT];
        for half in 0..2 {
            // SAFETY: see above. Reads and writes 32 of 64 bytes, at offset 0 or 32.
            unsafe {
                let bytes = _mm256_loadu_si256(block.as_ptr().cast::<__m256i>().add(half));
                let (letter, digit) = offsets(bytes);
                let code =
                    _mm256_blendv_epi8(digit, _mm256_add_epi8(letter, _mm256_set1_epi8(10)), at_most(letter, 25));
                _mm256_storeu_si256(unmoved.as_mut_ptr().cast::<__m256i>().add(half), code);
            }
        }
        let mut to = 0;
        for (group, at) in (0..TEXT / 8).zip((at..).step_by(8)) {
            let mask = (kept & 0xFF) as usize;
            // SAFETY: see above. Reads a whole group of eight codes. Writes eight elements at `to`, which is
            // at most 8 times the number of earlier groups. So the write ends within 8 times the number of
            // all groups.
            unsafe {
                let indices = _mm_loadl_epi64(KEPT[mask].as_ptr().cast());
                let eight = _mm_loadl_epi64(unmoved.as_ptr().add(8 * group).cast());
                _mm_storel_epi64(codes.as_mut_ptr().add(to).cast(), _mm_shuffle_epi8(eight, indices));
                let places = _mm256_add_epi32(_mm256_set1_epi32(at as i32), _mm256_cvtepu8_epi32(indices));
                _mm256_storeu_si256(starts.as_mut_ptr().add(to).cast(), places);
            }
            to += mask.count_ones() as usize;
            kept >>= 8;
        }
    }

    #[inline(always)]
    fn search(self, keys: &[i16; SEARCHED], key: i16) -> u32 {
        // SAFETY: see above. Reads all 32 keys.
        unsafe {
            let keys = keys.as_ptr().cast();
            equal_keys(
                _mm256_loadu_si256(keys),
                _mm256_loadu_si256(keys.add(1)),
                _mm256_set1_epi16(key),
                _mm256_set1_epi16(key),
            )
        }
    }

    #[inline(always)]
    fn equal_keys(self, one: &[i16; TEXT], other: &[i16; TEXT]) -> u64 {
        let mut mask = 0;
        for half in 0..2 {
            // SAFETY: see above. Reads 32 of 64 keys, from key 0 or 32 on.
            unsafe {
                let one = one.as_ptr().cast::<__m256i>().add(2 * half);
                let other = other.as_ptr().cast::<__m256i>().add(2 * half);
                let equal = equal_keys(
                    _mm256_loadu_si256(one),
                    _mm256_loadu_si256(one.add(1)),
                    _mm256_loadu_si256(other),
                    _mm256_loadu_si256(other.add(1)),
                );
                mask |= u64::from(equal) << (32 * half);
            }
        }
        mask
    }

    #[inline(always)]
    fn below_in_64(self, hashes: &[u64; TEXT], bound: u64) -> u64 {
        let mut mask = 0;
        for i in 0..TEXT / 4 {
            // SAFETY: see above. Reads four of 64 hashes, at a multiple of four.
            unsafe {
                let bound = signed(_mm256_set1_epi64x(bound as i64));
                let four = signed(_mm256_loadu_si256(hashes.as_ptr().cast::<__m256i>().add(i)));
                let low = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(bound, four)));
                mask |= u64::from(low as u32) << (4 * i);
            }
        }
        mask
    }

    #[inline(always)]
    fn places<const USUAL: usize>(self, mask: u64, at: u32, places: &mut [u32; TEXT]) {
        places_one_by_one::<USUAL>(mask, at, places);
    }

    #[inline(always)]
    fn least_within(self, keys: &[i32; NEIGHBOURHOOD], places: &[i32; NEIGHBOURHOOD], w: i32, end: i32) -> (u32, u32) {
        let (mut mask, mut crowded) = (0, 0);
        for half in 0..GROUP / 8 {
            // SAFETY: see above. Reads eight numbers at a time. The first is at most `REACH` away from the
            // numbers in the middle.
            unsafe {
                let (keys, places) = (keys.as_ptr().add(8 * half), places.as_ptr().add(8 * half));
                let key = _mm256_loadu_si256(keys.add(REACH).cast());
                let place = _mm256_loadu_si256(places.add(REACH).cast());
                let w = _mm256_set1_epi32(w);
                let mut left = _mm256_sub_epi32(place, w);
                let below = _mm256_sub_epi32(key, _mm256_set1_epi32(1));
                let mut right = _mm256_min_epi32(_mm256_add_epi32(place, w), _mm256_set1_epi32(end));
                for step in 1..REACH + 1 {
                    let before = _mm256_loadu_si256(keys.add(REACH - step).cast());
                    let smaller = _mm256_cmpgt_epi32(key, before);
                    let place = _mm256_loadu_si256(places.add(REACH - step).cast());
                    // If the previous key is not smaller, the operand is 0. Then `left` stays as it is,
                    // because `left` is never below 0: the places in the middle are at least w.
                    left = _mm256_max_epi32(left, _mm256_and_si256(smaller, place));
                    let after = _mm256_loadu_si256(keys.add(REACH + step).cast());
                    let not_smaller = _mm256_cmpgt_epi32(after, below);
                    let place = _mm256_loadu_si256(places.add(REACH + step).cast());
                    // If the next key is not smaller, all bits of the operand are set. This is the unsigned
                    // maximum, so `right` stays as it is.
                    right = _mm256_min_epu32(right, _mm256_or_si256(not_smaller, place));
                }
                let apart = _mm256_cmpgt_epi32(_mm256_sub_epi32(right, left), w);
                mask |= (_mm256_movemask_ps(_mm256_castsi256_ps(apart)) as u32) << (8 * half);
                let last = _mm256_loadu_si256(places.add(2 * REACH).cast());
                let near = _mm256_cmpgt_epi32(w, _mm256_sub_epi32(last, place));
                crowded |= (_mm256_movemask_ps(_mm256_castsi256_ps(near)) as u32) << (8 * half);
            }
        }
        (mask, crowded)
    }

    #[inline(always)]
    fn keep(self, block: &[i32; GROUP], kept: u32, out: &mut [i32; GROUP]) {
        let mut to = 0;
        for half in 0..GROUP / 8 {
            let mask = (kept >> (8 * half) & 0xFF) as usize;
            // SAFETY: see above. Reads eight numbers, one half. Writes eight numbers at `to`, which is at
            // most 8 for the second half. So the write ends within the 16 numbers.
            unsafe {
                let indices = _mm256_cvtepu8_epi32(_mm_loadl_epi64(KEPT[mask].as_ptr().cast()));
                let eight = _mm256_loadu_si256(block.as_ptr().add(8 * half).cast());
                _mm256_storeu_si256(out.as_mut_ptr().add(to).cast(), _mm256_permutevar8x32_epi32(eight, indices));
            }
            to += mask.count_ones() as usize;
        }
    }

    #[inline(always)]
    fn below(self, block: &[u64; BLOCK], bound: u64) -> u32 {
        // SAFETY: `self` proves the features. `registers` reads only the 16 hashes of the block.
        unsafe {
            let bound = signed(_mm256_set1_epi64x(bound as i64));
            let [a, b, c, d] = registers(block);
            mask([
                _mm256_cmpgt_epi64(bound, signed(a)),
                _mm256_cmpgt_epi64(bound, signed(b)),
                _mm256_cmpgt_epi64(bound, signed(c)),
                _mm256_cmpgt_epi64(bound, signed(d)),
            ])
        }
    }

    #[inline(always)]
    fn equal(self, block: &[u64; BLOCK], value: u64) -> u32 {
        // SAFETY: `self` proves the features. `registers` reads only the 16 hashes of the block.
        unsafe {
            let value = _mm256_set1_epi64x(value as i64);
            let [a, b, c, d] = registers(block);
            mask([
                _mm256_cmpeq_epi64(value, a),
                _mm256_cmpeq_epi64(value, b),
                _mm256_cmpeq_epi64(value, c),
                _mm256_cmpeq_epi64(value, d),
            ])
        }
    }

    #[inline(always)]
    fn least(self, blocks: &[[u64; BLOCK]], last: &[u64; BLOCK]) -> u64 {
        // SAFETY: `self` proves the features. `registers` reads only the 16 hashes of each block.
        unsafe {
            let [a, b, c, d] = registers(last);
            let (mut a, mut b, mut c, mut d) = (signed(a), signed(b), signed(c), signed(d));
            for block in blocks {
                let block = registers(block);
                a = min(a, signed(block[0]));
                b = min(b, signed(block[1]));
                c = min(c, signed(block[2]));
                d = min(d, signed(block[3]));
            }
            let least = min(min(a, b), min(c, d));
            let mut lanes = [0u64; 4];
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), signed(least));
            lanes[0].min(lanes[1]).min(lanes[2].min(lanes[3]))
        }
    }
}

/// Mask of the 16-bit lanes that are equal in `a` and `c`, then of those that are equal in `b` and `d`.
#[inline(always)]
unsafe fn equal_keys(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> u32 {
    // SAFETY: callers prove that the processor has AVX2.
    unsafe {
        // Packing works on halves of 128 bits, which are brought back into order.
        let packed = _mm256_packs_epi16(_mm256_cmpeq_epi16(a, c), _mm256_cmpeq_epi16(b, d));
        _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed)) as u32
    }
}

/// The distance of each byte, as a lower-case letter, from `a`, and the distance of each byte from `0`.
#[inline(always)]
unsafe fn offsets(bytes: __m256i) -> (__m256i, __m256i) {
    // SAFETY: callers prove that the processor has AVX2.
    unsafe {
        let lowercase = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        (_mm256_sub_epi8(lowercase, _mm256_set1_epi8(b'a' as i8)), _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8)))
    }
}

#[inline(always)]
unsafe fn at_most(bytes: __m256i, most: i8) -> __m256i {
    // SAFETY: callers prove that the processor has AVX2.
    unsafe { _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(most)), bytes) }
}

/// The highest bit of each byte, as a mask.
#[inline(always)]
unsafe fn bits(bytes: __m256i) -> u64 {
    // SAFETY: callers prove that the processor has AVX2.
    u64::from(unsafe { _mm256_movemask_epi8(bytes) } as u32)
}

/// Maps unsigned numbers to signed numbers of the same order, and back.
#[inline(always)]
unsafe fn signed(hashes: __m256i) -> __m256i {
    // SAFETY: callers prove that the processor has AVX2.
    unsafe { _mm256_xor_si256(hashes, _mm256_set1_epi64x(i64::MIN)) }
}

#[inline(always)]
unsafe fn min(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: callers prove that the processor has AVX2.
    unsafe { _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)) }
}

#[inline(always)]
unsafe fn registers(block: &[u64; BLOCK]) -> [__m256i; 4] {
    // SAFETY: callers prove that the processor has AVX2. The last of the four loads ends at the end of the
    // block.
    unsafe {
        let block = block.as_ptr().cast::<__m256i>();
        [
            _mm256_loadu_si256(block),
            _mm256_loadu_si256(block.add(1)),
            _mm256_loadu_si256(block.add(2)),
            _mm256_loadu_si256(block.add(3)),
        ]
    }
}

/// The mask of 16 comparisons. The mask is nearly always 0, which a single test detects.
#[inline(always)]
unsafe fn mask(found: [__m256i; 4]) -> u32 {
    // SAFETY: callers prove that the processor has AVX2.
    unsafe {
        let any = _mm256_or_si256(_mm256_or_si256(found[0], found[1]), _mm256_or_si256(found[2], found[3]));
        if _mm256_testz_si256(any, any) != 0 {
            return 0;
        }
        let [a, b, c, d] = found;
        let low = _mm256_movemask_pd(_mm256_castsi256_pd(a)) | _mm256_movemask_pd(_mm256_castsi256_pd(b)) << 4;
        let high = _mm256_movemask_pd(_mm256_castsi256_pd(c)) | _mm256_movemask_pd(_mm256_castsi256_pd(d)) << 4;
        (low | high << 8) as u32
    }
}
