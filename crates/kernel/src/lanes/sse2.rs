//! Operations in SSE2, which every processor of x86-64 has. This file has only the operations for which plain
//! code takes much longer.

use std::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_cmpeq_epi16, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
    _mm_packs_epi16, _mm_set1_epi8, _mm_sub_epi8,
};

use super::{Classes, TEXT};

/// [`Lanes::classify`](super::Lanes::classify)
#[inline(always)]
pub(super) fn classify(block: &[u8; TEXT]) -> Classes {
    let mut classes = Classes::default();
    for i in 0..TEXT / 16 {
        // SAFETY: the processor has SSE2. Reads 16 of 64 bytes, at a multiple of 16.
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().cast::<__m128i>().add(i));
            let lowercase = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
            let letter = at_most(_mm_sub_epi8(lowercase, _mm_set1_epi8(b'a' as i8)), 25);
            let digit = at_most(_mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8)), 9);
            classes.letters |= bits(_mm_or_si128(letter, digit)) << (16 * i);
            classes.newlines |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\n' as i8))) << (16 * i);
            classes.escapes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x1B))) << (16 * i);
            classes.beyond |= bits(bytes) << (16 * i);
        }
    }
    classes
}

/// Mask of the places that hold equal keys in both arrays. An array has at most 64 keys.
#[inline(always)]
pub(super) fn equal_bits<const N: usize>(one: &[i16; N], other: &[i16; N]) -> u64 {
    let mut mask = 0;
    for i in 0..N / 16 {
        // SAFETY: the processor has SSE2. Reads 16 keys, at a multiple of 16.
        unsafe {
            let one = one.as_ptr().cast::<__m128i>().add(2 * i);
            let other = other.as_ptr().cast::<__m128i>().add(2 * i);
            let low = _mm_cmpeq_epi16(_mm_loadu_si128(one), _mm_loadu_si128(other));
            let high = _mm_cmpeq_epi16(_mm_loadu_si128(one.add(1)), _mm_loadu_si128(other.add(1)));
            mask |= bits(_mm_packs_epi16(low, high)) << (16 * i);
        }
    }
    mask
}

#[inline(always)]
unsafe fn at_most(bytes: __m128i, most: i8) -> __m128i {
    // SAFETY: the processor has SSE2.
    unsafe { _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes) }
}

/// The highest bit of each byte, as a mask.
#[inline(always)]
unsafe fn bits(bytes: __m128i) -> u64 {
    // SAFETY: the processor has SSE2.
    (unsafe { _mm_movemask_epi8(bytes) }) as u64
}
