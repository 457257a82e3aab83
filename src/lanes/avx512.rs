//! Lanes of AVX-512: eight hashes to a register, compared as unsigned numbers into masks.

use std::arch::x86_64::{
    __m512i, _mm512_cmpeq_epu64_mask, _mm512_cmplt_epu64_mask, _mm512_loadu_si512, _mm512_min_epu64,
    _mm512_reduce_min_epu64, _mm512_set1_epi64,
};

use super::{BLOCK, Job, Lanes};

/// Proof that the processor has the AVX-512 of servers since 2017, and the bit manipulation of its age.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    #[inline]
    pub(super) fn run<J: Job>(self, job: J) -> J::Output {
        // SAFETY: `self` exists only where `detect` found the features.
        unsafe { run(self, job) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn run<J: Job>(lanes: Avx512, job: J) -> J::Output {
    job.run(lanes)
}

// SAFETY of the whole implementation: `self` exists only where AVX-512 was found.
impl Lanes for Avx512 {
    #[inline(always)]
    fn below(self, block: &[u64; BLOCK], bound: u64) -> u32 {
        // SAFETY: see above.
        unsafe {
            let bound = _mm512_set1_epi64(bound as i64);
            let [low, high] = registers(block);
            let (low, high) = (_mm512_cmplt_epu64_mask(low, bound), _mm512_cmplt_epu64_mask(high, bound));
            u32::from(low) | u32::from(high) << 8
        }
    }

    #[inline(always)]
    fn equal(self, block: &[u64; BLOCK], value: u64) -> u32 {
        // SAFETY: see above.
        unsafe {
            let value = _mm512_set1_epi64(value as i64);
            let [low, high] = registers(block);
            let (low, high) = (_mm512_cmpeq_epu64_mask(low, value), _mm512_cmpeq_epu64_mask(high, value));
            u32::from(low) | u32::from(high) << 8
        }
    }

    #[inline(always)]
    fn least(self, blocks: &[[u64; BLOCK]], last: &[u64; BLOCK]) -> u64 {
        // SAFETY: see above.
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

#[inline(always)]
unsafe fn registers(block: &[u64; BLOCK]) -> [__m512i; 2] {
    // SAFETY: called where there is AVX-512; the second ends with the block.
    unsafe {
        let block = block.as_ptr().cast::<__m512i>();
        [_mm512_loadu_si512(block), _mm512_loadu_si512(block.add(1))]
    }
}
