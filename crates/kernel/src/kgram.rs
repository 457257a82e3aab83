//! k-gram: k consecutive symbols. Each k-gram gets one 64-bit hash.
//!
//! The hash is a Karp-Rabin polynomial over 64-bit integers, of well-mixed symbol values `v`. As in Schleimer
//! et al. 2003, section 2.2, every symbol is multiplied at least once:
//!
//! `P(c1..ck) = v(c1) B^(k-1) + ... + v(ck)  mod 2^64`, then `M = (P ^ (P >> 32)) C` and `H = M ^ (M >> 32)`.
//!
//! The last two steps are bijections, so they add no collision. They mix the high bits into the low bits,
//! because the low bits of a polynomial modulo a power of two are weak, and `0 mod p` depends on the low
//! bits. They also mix the low bits into the high bits. Otherwise the order of the hashes would show the
//! polynomial when many related strings are hashed (docs/kernel.md).

use std::array;

use crate::lanes::{Lanes, Processor, SimdJob};
use crate::normalize::{LETTERS, SymbolContent};

/// The base B. It is odd, and 5 modulo 8, so that its powers have the largest possible order. From Steele and
/// Vigna, "Computationally easy, spectrally good multipliers" (2021).
const BASE: u64 = 0xd134_2543_de82_ef95;

/// Number of parts of a piece that are hashed in parallel. A multiplication waits only for the previous one
/// in the same part, so four multiplications can run at the same time.
const STREAMS: usize = 4;

/// Number of pairs of an entering and a leaving symbol that each part makes at a time. The number is small,
/// so that the pairs stay in the cache.
const SYMBOLS_AT_ONCE: usize = 256;

/// Number of hashes in a block. The hashes of a block are rolled without a test for the end, and finished
/// together.
const STEPS: usize = 8;

/// Number of blocks that are rolled after a block before its final steps run. By then the hashes of the
/// block, which were written singly, are in the cache and can be read as a vector.
const BEHIND: usize = 4;

/// Minimum number of hashes in a part.
const LEAST: usize = 64;

/// The multiplier C of the final step, which is one round of the mixer by Degski with this constant. The
/// constant is odd, so the step is a bijection.
const MIXER: u64 = 0xd6e8_feb8_6659_fd93;

/// Number of codes that narrow symbols can have.
const CODES: usize = LETTERS.len();

/// The change of the polynomial for each pair of entering and leaving code. Few pairs are frequent, and these
/// stay in the first-level cache.
type Pairs = [u64; CODES * CODES];

/// Hashes the k-grams of a document from its symbol values, piece by piece.
#[derive(Clone, Debug)]
pub struct KgramHasher {
    /// B^k, the factor of the symbol that leaves the k-gram.
    leaving: u64,
    /// The table of changes. It is made when the first codes arrive, because making it takes longer than
    /// hashing a short text of values.
    pairs: Option<Box<Pairs>>,
    state: RollingState,
}

#[derive(Clone, Debug)]
struct RollingState {
    k: usize,
    rolling: u64,
    symbols_read: usize,
    processor: Processor,
}

impl KgramHasher {
    /// A hasher of k-grams of `k` symbols.
    ///
    /// # Panics
    /// If `k` is 0.
    #[must_use]
    pub fn new(k: u32) -> Self {
        assert!(k > 0, "a k-gram has at least 1 symbol");
        let leaving = BASE.wrapping_pow(k);
        let state = RollingState { k: k as usize, rolling: 0, symbols_read: 0, processor: Processor::detect() };
        Self { leaving, pairs: None, state }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub fn set_processor(&mut self, processor: Processor) {
        self.state.processor = processor;
    }

    /// Starts a new document.
    pub fn reset(&mut self) {
        self.state.rolling = 0;
        self.state.symbols_read = 0;
    }

    /// Appends to `out` the hashes of the k-grams that end in `values[from..]`, one for each symbol from the
    /// k-th symbol of the document on.
    ///
    /// `values[..from]` are the last symbols of earlier calls: at least k of them, or all if there are fewer.
    ///
    /// # Panics
    /// If `values[..from]` holds too few symbols of earlier calls.
    pub fn feed(&mut self, values: &[u64], from: usize, out: &mut Vec<u64>) {
        assert!(from >= self.state.symbols_read, "the last k symbols of earlier calls must come before `from`");
        let held = out.len();
        out.resize(held + self.upcoming(values.len().saturating_sub(from)), 0);
        self.fill(SymbolContent::Values(values), from, &mut out[held..]);
    }

    /// Number of hashes that the next `fresh` symbols give.
    #[doc(hidden)]
    pub fn upcoming(&self, fresh: usize) -> usize {
        (self.state.symbols_read + fresh + 1).saturating_sub(self.state.k).min(fresh)
    }

    /// Like [`feed`](Self::feed), but writes into `out`, whose length must be the result of
    /// [`upcoming`](Self::upcoming).
    #[doc(hidden)]
    pub fn fill(&mut self, content: SymbolContent, from: usize, out: &mut [u64]) {
        let leaving = self.leaving;
        match content {
            SymbolContent::Codes(codes) => {
                let pairs = self.pairs.get_or_insert_with(|| changes_of_pairs(leaving));
                self.state.fill(Codes { codes, pairs }, from, out);
            }
            SymbolContent::Values(values) => self.state.fill(Values { values, leaving }, from, out),
        }
    }
}

/// The table of changes. `leaving` is the factor of the symbol that leaves.
fn changes_of_pairs(leaving: u64) -> Box<Pairs> {
    let mut pairs = Box::new([0; CODES * CODES]);
    for (pair, change) in pairs.iter_mut().enumerate() {
        *change = LETTERS[pair / CODES].wrapping_sub(LETTERS[pair % CODES].wrapping_mul(leaving));
    }
    pairs
}

impl RollingState {
    fn fill<S: SymbolSource>(&mut self, source: S, from: usize, mut out: &mut [u64]) {
        let fresh = source.length().saturating_sub(from);
        let warm_up = fresh.min(self.k.saturating_sub(self.symbols_read));
        for i in from..from + warm_up {
            self.rolling = self.rolling.wrapping_mul(BASE).wrapping_add(source.value(i));
        }
        self.symbols_read += warm_up;
        if self.symbols_read < self.k {
            return;
        }
        if warm_up > 0 {
            out[0] = finish(self.rolling);
            out = &mut out[1..];
        }
        let first = from + warm_up;
        if first < source.length() {
            let job = Roll { source: source.after(first - self.k), k: self.k, rolling: self.rolling, out };
            self.rolling = self.processor.run(job);
        }
    }
}

/// Symbols stored as narrow codes or as 64-bit values.
trait SymbolSource: Copy {
    /// Data about an entering symbol and the symbol that leaves at the same time.
    type Pair: Copy + Default;
    fn length(self) -> usize;
    fn value(self, i: usize) -> u64;
    /// The symbols from index `i` on.
    fn after(self, i: usize) -> Self;
    /// Pairs the symbols from index `i` on with the symbols `k` later.
    fn pair(self, i: usize, k: usize, out: &mut [Self::Pair]);
    /// The term to add to the polynomial after its multiplication by B.
    fn change(self, pair: Self::Pair) -> u64;
}

#[derive(Clone, Copy)]
struct Values<'a> {
    values: &'a [u64],
    leaving: u64,
}

impl SymbolSource for Values<'_> {
    type Pair = u64;

    #[inline(always)]
    fn length(self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn value(self, i: usize) -> u64 {
        self.values[i]
    }

    #[inline(always)]
    fn after(self, i: usize) -> Self {
        Self { values: &self.values[i..], ..self }
    }

    #[inline(always)]
    fn pair(self, i: usize, k: usize, out: &mut [u64]) {
        let (left, entering) = (&self.values[i..i + out.len()], &self.values[i + k..i + k + out.len()]);
        for ((pair, &entering), &left) in out.iter_mut().zip(entering).zip(left) {
            *pair = entering.wrapping_sub(left.wrapping_mul(self.leaving));
        }
    }

    #[inline(always)]
    fn change(self, pair: u64) -> u64 {
        pair
    }
}

#[derive(Clone, Copy)]
struct Codes<'a> {
    codes: &'a [u8],
    pairs: &'a Pairs,
}

impl SymbolSource for Codes<'_> {
    type Pair = u16;

    #[inline(always)]
    fn length(self) -> usize {
        self.codes.len()
    }

    #[inline(always)]
    fn value(self, i: usize) -> u64 {
        LETTERS[usize::from(self.codes[i]) % CODES]
    }

    #[inline(always)]
    fn after(self, i: usize) -> Self {
        Self { codes: &self.codes[i..], ..self }
    }

    #[inline(always)]
    fn pair(self, i: usize, k: usize, out: &mut [u16]) {
        let (left, entering) = (&self.codes[i..i + out.len()], &self.codes[i + k..i + k + out.len()]);
        for ((pair, &entering), &left) in out.iter_mut().zip(entering).zip(left) {
            *pair = u16::from(entering) * CODES as u16 + u16::from(left);
        }
    }

    #[inline(always)]
    fn change(self, pair: u16) -> u64 {
        // The remainder never changes the index. The operation only removes a bounds check.
        self.pairs[usize::from(pair) % self.pairs.len()]
    }
}

/// Hashes all k-grams of `source` except the first, whose polynomial is `rolling`. The result is the
/// polynomial of the last k-gram.
struct Roll<'a, S> {
    source: S,
    k: usize,
    rolling: u64,
    out: &'a mut [u64],
}

impl<S: SymbolSource> SimdJob for Roll<'_, S> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> u64 {
        let Self { source, k, rolling, out } = self;
        // Every part except the first must hash its first k-gram from scratch. If the parts are short, this
        // takes longer than parallel hashing saves.
        let part = out.len() / STREAMS;
        if part < 2 * k || part < LEAST {
            return roll(source, k, [rolling], [out])[0];
        }
        let mut states = [rolling; STREAMS];
        for i in 0..k {
            for (stream, state) in states.iter_mut().enumerate().skip(1) {
                let before = if i == 0 { 0 } else { *state };
                *state = before.wrapping_mul(BASE).wrapping_add(source.value(stream * part + i));
            }
        }
        let mut parts = out.chunks_exact_mut(part);
        let outs: [&mut [u64]; STREAMS] = array::from_fn(|_| parts.next().unwrap_or_default());
        let states = roll(source, k, states, outs);
        // Fewer than `STREAMS` hashes are left.
        let done = STREAMS * part;
        roll(source.after(done), k, [states[STREAMS - 1]], [&mut out[done..]])[0]
    }
}

/// Rolls over `N` parts in parallel. The parts are adjacent and have the same length.
#[inline(always)]
fn roll<S: SymbolSource, const N: usize>(
    source: S,
    k: usize,
    mut states: [u64; N],
    mut out: [&mut [u64]; N],
) -> [u64; N] {
    let part = out[0].len();
    let mut pairs = [[S::Pair::default(); SYMBOLS_AT_ONCE]; N];
    let mut at = 0;
    while at < part {
        let length = SYMBOLS_AT_ONCE.min(part - at);
        // This step does not depend on the previous hash: it pairs entering and leaving symbols.
        for (stream, pairs) in pairs.iter_mut().enumerate() {
            source.pair(stream * part + at, k, &mut pairs[..length]);
        }
        let pairs = pairs.each_ref().map(|pairs| pairs[..length].as_chunks::<STEPS>());
        let mut stretches = out.each_mut().map(|out| out[at..at + length].as_chunks_mut());
        let blocks = length / STEPS;
        for block in 0..blocks {
            // Both loops use indices, so that the compiler unrolls them.
            for step in 0..STEPS {
                for i in 0..N {
                    states[i] = states[i].wrapping_mul(BASE).wrapping_add(source.change(pairs[i].0[block][step]));
                    stretches[i].0[block][step] = states[i];
                }
            }
            if let Some(block) = block.checked_sub(BEHIND) {
                finish_blocks(&mut stretches, block);
            }
        }
        for block in blocks.saturating_sub(BEHIND)..blocks {
            finish_blocks(&mut stretches, block);
        }
        for ((state, (_, stretch)), (_, pairs)) in states.iter_mut().zip(stretches).zip(pairs) {
            for (slot, &pair) in stretch.iter_mut().zip(pairs) {
                *state = state.wrapping_mul(BASE).wrapping_add(source.change(pair));
                *slot = finish(*state);
            }
        }
        at += length;
    }
    states
}

/// The hashes of a part in whole blocks, and the remainder.
type PartHashes<'a> = (&'a mut [[u64; STEPS]], &'a mut [u64]);

/// Runs the final steps for one block of each part.
#[inline(always)]
fn finish_blocks<const N: usize>(stretches: &mut [PartHashes; N], block: usize) {
    for (blocks, _) in stretches {
        for slot in &mut blocks[block] {
            *slot = finish(*slot);
        }
    }
}

/// The hash of one k-gram, computed directly from the definition. Tests compare the rolling hash with it.
#[must_use]
pub fn hash_kgram(values: &[u64]) -> u64 {
    finish(values.iter().fold(0, |hash: u64, &value| hash.wrapping_mul(BASE).wrapping_add(value)))
}

#[inline(always)]
fn finish(polynomial: u64) -> u64 {
    let mixed = (polynomial ^ (polynomial >> 32)).wrapping_mul(MIXER);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rolling_equals_the_definition_whatever_the_pieces() {
        let values: Vec<u64> = (0..300u64).map(|i| (i % 7).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for k in [1usize, 2, 3, 5, 50, 299, 300, 301] {
            let expected: Vec<u64> = values.windows(k).map(hash_kgram).collect();
            for piece in [1usize, 2, 7, 64, 1000] {
                let mut hasher = KgramHasher::new(k as u32);
                let mut got = Vec::new();
                let mut end = 0;
                while end < values.len() {
                    let from = end;
                    end = (end + piece).min(values.len());
                    hasher.feed(&values[..end], from, &mut got);
                }
                assert_eq!(got, expected, "k {k}, pieces of {piece}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_instruction_set_equals_the_definition(
            seed in any::<u64>(),
            length in 0usize..3000,
            k in prop_oneof![1usize..80, 1usize..3000],
            sizes in prop::collection::vec(1usize..2000, 1..5),
        ) {
            let values: Vec<u64> = (0..length as u64).map(|i| (seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let expected: Vec<u64> = values.windows(k).map(hash_kgram).collect();
            for processor in Processor::all() {
                let mut hasher = KgramHasher::new(k as u32);
                hasher.set_processor(processor);
                let mut got = Vec::new();
                let mut end = 0;
                for size in sizes.iter().cycle() {
                    let from = end;
                    end = (end + size).min(values.len());
                    hasher.feed(&values[..end], from, &mut got);
                    if end == values.len() {
                        break;
                    }
                }
                prop_assert_eq!(&got, &expected, "{:?}", processor);
            }
        }
    }

    #[test]
    fn every_order_of_the_symbols_has_its_own_hash() {
        assert_ne!(hash_kgram(&[1, 2, 3]), hash_kgram(&[3, 2, 1]));
        assert_ne!(hash_kgram(&[1, 2, 3]), hash_kgram(&[1, 3, 2]));
    }
}
