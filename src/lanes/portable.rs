//! Lanes of any processor, in plain Rust.

use super::{BLOCK, Lanes};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Lanes for Portable {
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

#[inline(always)]
fn mask(block: &[u64; BLOCK], is: impl Fn(u64) -> bool) -> u32 {
    block.iter().enumerate().fold(0, |mask, (i, &hash)| mask | u32::from(is(hash)) << i)
}
