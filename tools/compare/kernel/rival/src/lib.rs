//! simd-minimizers behind functions that are not generic. So the functions are compiled in this crate, for
//! which `rustc-avx2.sh` switches AVX2 on, and not in the crate of their caller.

use simd_minimizers::minimizers;
use simd_minimizers::seq_hash::MulHasher;

/// Appends the positions of the minimizers of `text`.
#[inline(never)]
pub fn minimizer_positions(text: &[u8], k: usize, w: usize, out: &mut Vec<u32>) {
    let hasher = MulHasher::<false>::new(k);
    minimizers(k, w).hasher(&hasher).run(text, out);
}
