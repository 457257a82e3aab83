//! Operations: what work may ask of an instruction set, and the sizes of the blocks it hands over.

use std::ops::Range;

/// Hashes looked at together.
pub(crate) const BLOCK: usize = 16;

/// Numbers that are compared together with their neighbours, and how many of these on each side.
pub(crate) const GROUP: usize = 16;
pub(crate) const REACH: usize = 12;
pub(crate) const NEIGHBOURHOOD: usize = GROUP + 2 * REACH;

/// Bytes of text looked at together.
pub(crate) const TEXT: usize = 64;

/// The code of an ASCII letter or digit, 0 to 9 and 10 to 35, or that there is none.
pub(crate) static CODES: [u8; 256] = {
    let mut codes = [NO_CODE; 256];
    let mut byte = 0;
    while byte < 128 {
        codes[byte as usize] = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => NO_CODE,
        };
        byte += 1;
    }
    codes
};

/// One bit, which no code has.
pub(crate) const NO_CODE: u8 = 0x40;

/// The classes of the bytes of a block of text. Bit `i` belongs to byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    /// ASCII letters and digits.
    pub(crate) letters: u64,
    pub(crate) newlines: u64,
    /// ESC.
    pub(crate) escapes: u64,
    /// Bytes that are not ASCII.
    pub(crate) beyond: u64,
}

/// The operations of an instruction set. Bit `i` of a mask belongs to `block[i]`.
pub(crate) trait Lanes: Copy {
    /// The greatest window that is quicker selected from by an opening than in the exact way (measured).
    const SMALL_WINDOW: usize;
    /// The windows that are quicker selected from by their hashes below a threshold than in any other way (measured).
    const THRESHOLD_WINDOWS: Range<usize>;
    /// Classifies the bytes of a block of text.
    fn classify(self, block: &[u8; TEXT]) -> Classes;
    /// Moves the codes of the bytes that are to be `kept` to the front of `codes`, anything for those that have none, and
    /// where they stand, counted from `at`, to the front of `starts`. Elements after these are undefined.
    fn compact(self, block: &[u8; TEXT], kept: u64, at: u32, codes: &mut [u8; TEXT], starts: &mut [u32; TEXT]);
    /// Which of the numbers are the same in both.
    fn equal_keys(self, one: &[u32; TEXT], other: &[u32; TEXT]) -> u64;
    /// Which of the hashes are below `bound`, where many are.
    fn below_in_64(self, hashes: &[u64; TEXT], bound: u64) -> u64;
    /// The places of the bits of a mask, ascending, counted from `at`. `USUAL` is how many there often are at most; elements
    /// after these are undefined.
    fn places<const USUAL: usize>(self, mask: u64, at: u32, places: &mut [u32; TEXT]);
    /// Which of the keys in the middle are the least of `w` places that follow one another and end before `end`; keys and
    /// places are not negative, and no place of those in the middle is below `w`. And of which not all keys within w
    /// places to the right are here.
    fn least_within(self, keys: &[i32; NEIGHBOURHOOD], places: &[i32; NEIGHBOURHOOD], w: i32, end: i32) -> (u32, u32);
    /// Moves the numbers that are to be `kept` to the front of `out`. Elements after these are undefined.
    fn keep(self, block: &[i32; GROUP], kept: u32, out: &mut [i32; GROUP]);
    /// Which hashes of the block are below `bound`.
    fn below(self, block: &[u64; BLOCK], bound: u64) -> u32;
    /// Which hashes of the block are `value`.
    fn equal(self, block: &[u64; BLOCK], value: u64) -> u32;
    /// The least hash of the blocks; `u64::MAX` where there are none.
    fn least(self, blocks: &[[u64; BLOCK]], last: &[u64; BLOCK]) -> u64;
}

/// As [`Lanes::places`], one by one: as many as are usual without a branch.
#[inline(always)]
pub(super) fn places_one_by_one<const USUAL: usize>(mut mask: u64, at: u32, places: &mut [u32; TEXT]) {
    let mut i = 0;
    while i < USUAL || mask != 0 {
        // The remainder changes nothing, and spares a bound check.
        places[i % TEXT] = at + mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        i += 1;
    }
}

/// Work to be compiled for each instruction set. `run` and all it calls should be `#[inline(always)]`: only what is
/// inlined profits.
pub(crate) trait SimdJob {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}
