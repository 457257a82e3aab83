//! Lanes of any processor, in plain Rust.

use super::{BLOCK, Classes, Lanes, TEXT};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

/// The code of a letter or digit, or that there is none.
static CODES: [u8; 256] = {
    let mut codes = [NONE; 256];
    let mut byte = 0;
    while byte < 128 {
        codes[byte as usize] = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => NONE,
        };
        byte += 1;
    }
    codes
};

/// One bit, which no code has.
const NONE: u8 = 0x40;

impl Lanes for Portable {
    #[inline(always)]
    fn letters(self, block: &[u8; TEXT], at: u32, codes: &mut [u8; TEXT], starts: &mut [u32; TEXT]) -> Classes {
        let mut classes = Classes::default();
        let mut kept = 0;
        for (&byte, at) in block.iter().zip(at..) {
            // Written always, kept when it is a code: there is no branch to predict.
            let code = CODES[usize::from(byte)];
            codes[kept] = code;
            starts[kept] = at;
            let is_code = (code / NONE) ^ 1;
            // The last one kept has no successor: the remainder only spares a bound check.
            kept = (kept + usize::from(is_code)) % TEXT;
            classes.letters = (classes.letters | u64::from(is_code)).rotate_right(1);
        }
        let (words, _) = block.as_chunks();
        for (i, &word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(word);
            classes.newlines |= bits(equal(word, b'\n')) << (8 * i);
            classes.escapes |= bits(equal(word, 0x1B)) << (8 * i);
            classes.beyond |= bits(word) << (8 * i);
        }
        classes
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

#[inline(always)]
fn mask(block: &[u64; BLOCK], is: impl Fn(u64) -> bool) -> u32 {
    block.iter().enumerate().fold(0, |mask, (i, &hash)| mask | u32::from(is(hash)) << i)
}

/// In the highest bit of each byte of a word, whether it is `byte`; the other bits are anything.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7F; 8]);
    let difference = word ^ u64::from_ne_bytes([byte; 8]);
    // Adding 0x7F carries into the highest bit unless the others are 0. Nothing is carried from byte to byte.
    !(difference | ((difference & LOW) + LOW))
}

/// The highest bits of eight bytes: one multiplication brings that of byte `i` to place `56 + i`.
#[inline(always)]
fn bits(word: u64) -> u64 {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    ((word & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
