//! Operations: the functions that each instruction set implements, and the sizes of their blocks.

use std::ops::Range;

/// Hashes in a block.
pub(crate) const BLOCK: usize = 16;

/// `GROUP` numbers are compared at once, each with `REACH` neighbours on either side.
pub(crate) const GROUP: usize = 16;
pub(crate) const REACH: usize = 12;
pub(crate) const NEIGHBOURHOOD: usize = GROUP + 2 * REACH;

/// Keys that are searched at once.
pub(crate) const SEARCHED: usize = 32;

/// Bytes in a block of text.
pub(crate) const TEXT: usize = 64;

/// The code of each ASCII letter or digit: 0 to 9 for digits, 10 to 35 for letters. `NO_CODE` for all other
/// bytes.
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

/// A single bit that is set in no code.
pub(crate) const NO_CODE: u8 = 0x40;

/// The classes of the bytes in a block of text, as masks. Bit `i` belongs to byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    /// ASCII letters and digits.
    pub(crate) letters: u64,
    pub(crate) newlines: u64,
    /// ESC characters.
    pub(crate) escapes: u64,
    /// Bytes that are not ASCII.
    pub(crate) beyond: u64,
}

/// The operations of an instruction set. Bit `i` of a mask belongs to `block[i]`.
pub(crate) trait Lanes: Copy {
    /// The largest window for which sliding minima are faster than the exact method (measured).
    const SMALL_WINDOW: usize;
    /// The windows for which the threshold method is faster than the other methods (measured).
    const THRESHOLD_WINDOWS: Range<usize>;
    /// Runs a job in a separate function, because a function with many loops has too few registers.
    fn call<J: SimdJob>(self, job: J) -> J::Output;
    /// Classifies the bytes of a block of text.
    fn classify(self, block: &[u8; TEXT]) -> Classes;
    /// Moves the codes of the bytes in the mask `kept` to the front of `codes`. The code of a byte that is
    /// not a letter or digit is arbitrary. Moves the places of these bytes, plus `at`, to the front of
    /// `starts`. Later elements are arbitrary.
    fn compact(self, block: &[u8; TEXT], kept: u64, at: u32, codes: &mut [u8; TEXT], starts: &mut [u32; TEXT]);
    /// Mask of the keys that are equal to `key`.
    fn search(self, keys: &[i16; SEARCHED], key: i16) -> u32;
    /// Mask of the keys that are equal in both arrays.
    fn equal_keys(self, one: &[i16; TEXT], other: &[i16; TEXT]) -> u64;
    /// Mask of the hashes below `bound`. This operation is fast even if many hashes are below.
    fn below_in_64(self, hashes: &[u64; TEXT], bound: u64) -> u64;
    /// Writes the places of the mask's set bits, plus `at`, in ascending order. `USUAL` is the usual maximum
    /// number of set bits. Later elements are arbitrary.
    fn places<const USUAL: usize>(self, mask: u64, at: u32, places: &mut [u32; TEXT]);
    /// Two masks over the keys in the middle. The first marks keys that are the minimum of some `w`
    /// consecutive places before `end`. The second marks keys for which this cannot be decided, because their
    /// right neighbours here do not cover all w places to the right. Keys and places must not be negative,
    /// and places in the middle must be at least `w`.
    fn least_within(self, keys: &[i32; NEIGHBOURHOOD], places: &[i32; NEIGHBOURHOOD], w: i32, end: i32) -> (u32, u32);
    /// Moves the numbers in the mask `kept` to the front of `out`. Later elements are arbitrary.
    fn keep(self, block: &[i32; GROUP], kept: u32, out: &mut [i32; GROUP]);
    /// Mask of the hashes below `bound`.
    fn below(self, block: &[u64; BLOCK], bound: u64) -> u32;
    /// Mask of the hashes equal to `value`.
    fn equal(self, block: &[u64; BLOCK], value: u64) -> u32;
    /// The minimum of the hashes in `blocks` and `last`.
    fn least(self, blocks: &[[u64; BLOCK]], last: &[u64; BLOCK]) -> u64;
}

/// Implements [`Lanes::places`] with a loop. The first `USUAL` places are written without a branch.
#[inline(always)]
pub(super) fn places_one_by_one<const USUAL: usize>(mut mask: u64, at: u32, places: &mut [u32; TEXT]) {
    let mut i = 0;
    while i < USUAL || mask != 0 {
        // The remainder never changes the index. The operation only removes a bounds check.
        places[i % TEXT] = at + mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        i += 1;
    }
}

/// Work that is compiled for each instruction set. `run` and everything it calls should be
/// `#[inline(always)]`, because only inlined code uses the instruction set.
pub(crate) trait SimdJob {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}
