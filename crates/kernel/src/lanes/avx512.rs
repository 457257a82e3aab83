//! Operations in AVX-512: eight hashes in a register. Comparisons are unsigned and give masks.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_cmpeq_epi8_mask, _mm512_cmpeq_epi16_mask, _mm512_cmpeq_epu64_mask,
    _mm512_cmpgt_epi32_mask, _mm512_cmplt_epi32_mask, _mm512_cmplt_epu8_mask, _mm512_cmplt_epu64_mask,
    _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32, _mm512_loadu_si512, _mm512_mask_add_epi8, _mm512_mask_max_epi32,
    _mm512_mask_min_epi32, _mm512_maskz_compress_epi8, _mm512_maskz_compress_epi32, _mm512_min_epi32, _mm512_min_epu64,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_reduce_min_epu64, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_storeu_si512, _mm512_sub_epi8, _mm512_sub_epi32,
};
use std::ops::Range;

use super::{BLOCK, Classes, GROUP, Lanes, NEIGHBOURHOOD, REACH, SEARCHED, SimdJob, TEXT};

/// Proof that the processor has the bit manipulation instructions and AVX-512 with VBMI2, which compresses
/// bytes (since 2019: Ice Lake, Zen 4).
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
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

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn run<J: SimdJob>(lanes: Avx512, job: J) -> J::Output {
    job.run(lanes)
}

/// The index of each byte of a block.
static PLACES: [u8; TEXT] = {
    let mut places = [0; TEXT];
    let mut i = 0;
    while i < TEXT {
        places[i] = i as u8;
        i += 1;
    }
    places
};

// SAFETY of the whole implementation: `self` exists only if the processor has AVX-512.
impl Lanes for Avx512 {
    const SMALL_WINDOW: usize = 40;
    const THRESHOLD_WINDOWS: Range<usize> = 26..1001;

    #[inline(always)]
    fn call<J: SimdJob>(self, job: J) -> J::Output {
        self.run(job)
    }

    #[inline(always)]
    fn classify(self, block: &[u8; TEXT]) -> Classes {
        // SAFETY: see above. Reads all 64 bytes.
        unsafe {
            let bytes = _mm512_loadu_si512(block.as_ptr().cast());
            let (letter, digit) = offsets(bytes);
            let is_letter = _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(26));
            Classes {
                letters: is_letter | _mm512_cmplt_epu8_mask(digit, _mm512_set1_epi8(10)),
                newlines: _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\n' as i8)),
                escapes: _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(0x1B)),
                beyond: _mm512_movepi8_mask(bytes),
            }
        }
    }

    #[inline(always)]
    fn compact(self, block: &[u8; TEXT], kept: u64, at: u32, codes: &mut [u8; TEXT], starts: &mut [u32; TEXT]) {
        // SAFETY: see above. Reads and writes all 64 bytes, and writes all 64 starts, 16 at a time.
        unsafe {
            let (letter, digit) = offsets(_mm512_loadu_si512(block.as_ptr().cast()));
            let is_letter = _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(26));
            let code = _mm512_mask_add_epi8(digit, is_letter, letter, _mm512_set1_epi8(10));
            _mm512_storeu_si512(codes.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(kept, code));
            let places = _mm512_maskz_compress_epi8(kept, _mm512_loadu_si512(PLACES.as_ptr().cast()));
            write_places(places, at, starts.as_mut_ptr(), 4);
        }
    }

    #[inline(always)]
    fn search(self, keys: &[i16; SEARCHED], key: i16) -> u32 {
        // SAFETY: see above. Reads all 32 keys.
        unsafe { _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(keys.as_ptr().cast()), _mm512_set1_epi16(key)) }
    }

    #[inline(always)]
    fn equal_keys(self, one: &[i16; TEXT], other: &[i16; TEXT]) -> u64 {
        let mut mask = 0;
        for half in 0..2 {
            // SAFETY: see above. Reads 32 of 64 keys, from key 0 or 32 on.
            unsafe {
                let one = _mm512_loadu_si512(one.as_ptr().cast::<__m512i>().add(half));
                let other = _mm512_loadu_si512(other.as_ptr().cast::<__m512i>().add(half));
                mask |= u64::from(_mm512_cmpeq_epi16_mask(one, other)) << (32 * half);
            }
        }
        mask
    }

    #[inline(always)]
    fn below_in_64(self, hashes: &[u64; TEXT], bound: u64) -> u64 {
        let mut mask = 0;
        for i in 0..TEXT / 8 {
            // SAFETY: see above. Reads eight of 64 hashes, at a multiple of eight.
            unsafe {
                let eight = _mm512_loadu_si512(hashes.as_ptr().cast::<__m512i>().add(i));
                let low = _mm512_cmplt_epu64_mask(eight, _mm512_set1_epi64(bound as i64));
                mask |= u64::from(low) << (8 * i);
            }
        }
        mask
    }

    #[inline(always)]
    fn places<const USUAL: usize>(self, mask: u64, at: u32, places: &mut [u32; TEXT]) {
        // SAFETY: see above. Writes at most all 64 places, 16 at a time.
        unsafe {
            let bits = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(PLACES.as_ptr().cast()));
            write_places(bits, at, places.as_mut_ptr(), if mask.count_ones() > 16 { 4 } else { 1 });
        }
    }

    #[inline(always)]
    fn least_within(self, keys: &[i32; NEIGHBOURHOOD], places: &[i32; NEIGHBOURHOOD], w: i32, end: i32) -> (u32, u32) {
        // SAFETY: see above. Reads 16 numbers at a time. The first is at most `REACH` away from the numbers
        // in the middle.
        unsafe {
            let (keys, places) = (keys.as_ptr(), places.as_ptr());
            let key = _mm512_loadu_si512(keys.add(REACH).cast());
            let place = _mm512_loadu_si512(places.add(REACH).cast());
            let w = _mm512_set1_epi32(w);
            let mut left = _mm512_sub_epi32(place, w);
            let mut right = _mm512_min_epi32(_mm512_add_epi32(place, w), _mm512_set1_epi32(end));
            for step in 1..REACH + 1 {
                let before = _mm512_loadu_si512(keys.add(REACH - step).cast());
                let smaller = _mm512_cmplt_epi32_mask(before, key);
                left = _mm512_mask_max_epi32(left, smaller, left, _mm512_loadu_si512(places.add(REACH - step).cast()));
                let after = _mm512_loadu_si512(keys.add(REACH + step).cast());
                let smaller = _mm512_cmplt_epi32_mask(after, key);
                right =
                    _mm512_mask_min_epi32(right, smaller, right, _mm512_loadu_si512(places.add(REACH + step).cast()));
            }
            let apart = _mm512_cmpgt_epi32_mask(_mm512_sub_epi32(right, left), w);
            let last = _mm512_loadu_si512(places.add(2 * REACH).cast());
            let near = _mm512_cmplt_epi32_mask(_mm512_sub_epi32(last, place), w);
            (apart.into(), near.into())
        }
    }

    #[inline(always)]
    fn keep(self, block: &[i32; GROUP], kept: u32, out: &mut [i32; GROUP]) {
        // SAFETY: see above. Reads and writes all 16 numbers.
        unsafe {
            let numbers = _mm512_loadu_si512(block.as_ptr().cast());
            let numbers = _mm512_maskz_compress_epi32(kept as u16, numbers);
            _mm512_storeu_si512(out.as_mut_ptr().cast(), numbers);
        }
    }

    #[inline(always)]
    fn below(self, block: &[u64; BLOCK], bound: u64) -> u32 {
        // SAFETY: `self` proves the features. `registers` reads only the 16 hashes of the block.
        unsafe {
            let bound = _mm512_set1_epi64(bound as i64);
            let [low, high] = registers(block);
            let (low, high) = (_mm512_cmplt_epu64_mask(low, bound), _mm512_cmplt_epu64_mask(high, bound));
            u32::from(low) | u32::from(high) << 8
        }
    }

    #[inline(always)]
    fn equal(self, block: &[u64; BLOCK], value: u64) -> u32 {
        // SAFETY: `self` proves the features. `registers` reads only the 16 hashes of the block.
        unsafe {
            let value = _mm512_set1_epi64(value as i64);
            let [low, high] = registers(block);
            let (low, high) = (_mm512_cmpeq_epu64_mask(low, value), _mm512_cmpeq_epu64_mask(high, value));
            u32::from(low) | u32::from(high) << 8
        }
    }

    #[inline(always)]
    fn least(self, blocks: &[[u64; BLOCK]], last: &[u64; BLOCK]) -> u64 {
        // SAFETY: `self` proves the features. `registers` reads only the 16 hashes of each block.
        unsafe {
            let [mut low, mut high] = registers(last);
            for block in blocks {
                let block = registers(block);
                low = _mm512_min_epu64(low, block[0]);
                high = _mm512_min_epu64(high, block[1]);
            }
            _mm512_reduce_min_epu64(_mm512_min_epu64(low, high))
        }
    }
}

/// Adds `at` to each byte and writes the sums: the first 16 if `times` is 1, all 64 if it is 4.
#[inline(always)]
unsafe fn write_places(bytes: __m512i, at: u32, to: *mut u32, times: usize) {
    // SAFETY: callers prove that the processor has AVX-512 and that there is room for 16 * `times` numbers.
    unsafe {
        let (at, to) = (_mm512_set1_epi32(at as i32), to.cast::<__m512i>());
        let parts = [
            _mm512_extracti32x4_epi32::<0>(bytes),
            _mm512_extracti32x4_epi32::<1>(bytes),
            _mm512_extracti32x4_epi32::<2>(bytes),
            _mm512_extracti32x4_epi32::<3>(bytes),
        ];
        _mm512_storeu_si512(to, _mm512_add_epi32(at, _mm512_cvtepu8_epi32(parts[0])));
        if times > 1 {
            _mm512_storeu_si512(to.add(1), _mm512_add_epi32(at, _mm512_cvtepu8_epi32(parts[1])));
            _mm512_storeu_si512(to.add(2), _mm512_add_epi32(at, _mm512_cvtepu8_epi32(parts[2])));
            _mm512_storeu_si512(to.add(3), _mm512_add_epi32(at, _mm512_cvtepu8_epi32(parts[3])));
        }
    }
}

/// The distance of each byte, as a lower-case letter, from `a`, and the distance of each byte from `0`.
#[inline(always)]
unsafe fn offsets(bytes: __m512i) -> (__m512i, __m512i) {
    // SAFETY: callers prove that the processor has AVX-512.
    unsafe {
        let lowercase = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
        (_mm512_sub_epi8(lowercase, _mm512_set1_epi8(b'a' as i8)), _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0' as i8)))
    }
}

#[inline(always)]
unsafe fn registers(block: &[u64; BLOCK]) -> [__m512i; 2] {
    // SAFETY: callers prove that the processor has AVX-512. The second load ends at the end of the block.
    unsafe {
        let block = block.as_ptr().cast::<__m512i>();
        [_mm512_loadu_si512(block), _mm512_loadu_si512(block.add(1))]
    }
}
