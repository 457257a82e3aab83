//! The 64-bit value of a symbol, which the k-gram hash uses.
//!
//! Everything here belongs to the hash version of a profile. Any change invalidates every stored fingerprint,
//! so it needs a new hash version. Characters and bytes map to distinct values, none of them 0. Words are
//! hashed.

use xxhash_rust::xxh3::xxh3_64;

use crate::lanes::{CODES, NO_CODE};

/// The `x`-th output of SplitMix64 with seed 0: the finaliser applied to `x` times the golden gamma.
///
/// A bijection on 64 bits. Only `mix64(0)` is 0. From Steele, Lea and Flood 2014, "Fast splittable
/// pseudorandom number generators", with Stafford's constants (Mix13). Java's `SplittableRandom` and Vigna's
/// `splitmix64.c` use the same constants.
pub(crate) const fn mix64(x: u64) -> u64 {
    let z = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The inverse of `mix64`. For the value of a character or byte, the result is the code point or the byte
/// plus 1.
pub const fn unmix64(z: u64) -> u64 {
    // Inverts the steps of `mix64` in reverse order. Two shifts undo a shift by more than a third of the
    // bits; multiplying by the inverse undoes a multiplication.
    let z = z ^ (z >> 31) ^ (z >> 62);
    let z = z.wrapping_mul(inverse(0x94D0_49BB_1331_11EB));
    let z = z ^ (z >> 27) ^ (z >> 54);
    let z = z.wrapping_mul(inverse(0xBF58_476D_1CE4_E5B9));
    let z = z ^ (z >> 30) ^ (z >> 60);
    z.wrapping_mul(inverse(0x9E37_79B9_7F4A_7C15))
}

/// The inverse of an odd number modulo 2^64, by Newton's method. Three bits are correct at first, and each
/// step doubles their number.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// The value of a character of the normalised text.
pub(crate) const fn value_of_char(c: char) -> u64 {
    mix64(c as u64 + 1)
}

/// The value of a byte in unit byte.
pub(crate) const fn value_of_byte(byte: u8) -> u64 {
    mix64(byte as u64 + 1)
}

/// The value of a word: XXH3 (64 bits, seed 0) of its normalised form in UTF-8.
pub(crate) fn value_of_word(folded: impl AsRef<[u8]>) -> u64 {
    xxh3_64(folded.as_ref())
}

/// Western European letters that have codes. Each letter and its capital take two bytes in UTF-8.
const LATIN: [char; 28] = [
    'à', 'á', 'â', 'ã', 'ä', 'å', 'æ', 'ç', 'è', 'é', 'ê', 'ë', 'ì', 'í', 'î', 'ï', 'ñ', 'ò', 'ó', 'ô', 'õ', 'ö', 'ø',
    'ù', 'ú', 'û', 'ü', 'œ',
];

/// Number of ASCII letters and digits. Their codes come first.
const ASCII: usize = 36;

/// The values of symbols by code: `0` to `9`, `a` to `z`, then the letters of `LATIN`.
pub static LETTERS: [u64; ASCII + LATIN.len()] = {
    let mut values = [0; ASCII + LATIN.len()];
    let mut code = 0;
    while code < ASCII {
        values[code] = value_of_byte(if code < 10 { b'0' + code as u8 } else { b'a' + code as u8 - 10 });
        code += 1;
    }
    while code < values.len() {
        values[code] = value_of_char(LATIN[code - ASCII]);
        code += 1;
    }
    values
};

/// First code of a symbol that takes two bytes in UTF-8.
pub(super) const WIDE: u8 = ASCII as u8;

/// Number of UTF-8 bytes from which a symbol with this code comes. A symbol whose origin has another width
/// has no code.
#[inline(always)]
pub(super) fn width_of_code(code: u8) -> u32 {
    1 + u32::from(usize::from(code) >= ASCII)
}

/// First and last code point beyond ASCII that may have a code: `À` and `ſ`.
const FIRST: u32 = 0xC0;
const LAST: u32 = 0x17F;

/// The code of the symbol for a code point beyond ASCII, or `NO_CODE`.
#[inline(always)]
pub(super) fn code_beyond_ascii(code_point: u32) -> u8 {
    static CODES: [u8; (LAST - FIRST + 1) as usize] = {
        let mut codes = [NO_CODE; (LAST - FIRST + 1) as usize];
        let mut i = 0;
        while i < LATIN.len() {
            let small = LATIN[i] as u32;
            let capital = if small < 0x100 { small - 0x20 } else { small - 1 };
            codes[(small - FIRST) as usize] = (ASCII + i) as u8;
            codes[(capital - FIRST) as usize] = (ASCII + i) as u8;
            i += 1;
        }
        codes
    };
    CODES.get(code_point.wrapping_sub(FIRST) as usize).copied().unwrap_or(NO_CODE)
}

/// The code of a character of the normalised text, if it has one.
pub(super) fn code_of_char(c: char) -> Option<u8> {
    match c {
        '0'..='9' | 'a'..='z' => Some(CODES[c as usize]),
        _ => Some(code_beyond_ascii(c.into())).filter(|&code| code != NO_CODE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_is_undone() {
        for x in (0..1000).chain([u64::MAX, 1 << 63, 0x10_FFFF + 1]) {
            assert_eq!(unmix64(mix64(x)), x);
        }
    }
}
