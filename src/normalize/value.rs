//! The 64-bit value of a symbol: what the k-gram hash sees of it.
//!
//! Everything here is part of the pinned hash version of a profile: a change makes every stored fingerprint
//! meaningless, so it needs a new hash version. Characters and bytes map one to one onto values and never onto 0;
//! words are hashed.

use xxhash_rust::xxh3::xxh3_64;

/// The `x`-th output of SplitMix64 started at 0: the golden gamma times `x` through the finaliser.
///
/// A bijection on 64 bits whose only fixed zero is `mix64(0)`. Steele, Lea and Flood 2014, "Fast splittable
/// pseudorandom number generators", with Stafford's constants (Mix13), as in Java's `SplittableRandom` and Vigna's
/// `splitmix64.c`.
pub(crate) const fn mix64(x: u64) -> u64 {
    let z = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The value of a character of the standard form.
pub(crate) const fn value_of_char(c: char) -> u64 {
    mix64(c as u64 + 1)
}

/// The value of a byte, under unit byte.
pub(crate) const fn value_of_byte(byte: u8) -> u64 {
    mix64(byte as u64 + 1)
}

/// The value of a word: XXH3 (64 bits, seed 0) of the UTF-8 of its standard form.
pub(crate) fn value_of_word(folded: &str) -> u64 {
    xxh3_64(folded.as_bytes())
}

/// The values of ASCII letters and digits by their codes: `0` to `9`, then `a` to `z`. There are no codes from 36 on.
pub(crate) static LETTERS: [u64; 64] = {
    let mut values = [0; 64];
    let mut code = 0;
    while code < 36 {
        values[code as usize] = value_of_byte(if code < 10 { b'0' + code } else { b'a' + code - 10 });
        code += 1;
    }
    values
};
