//! k-gram: k consecutive symbols, and the one 64-bit hash each of them gets.
//!
//! The hash is the polynomial of Karp and Rabin in the order of Schleimer et al. 2003, section 2.2
//! (every symbol multiplied at least once), over 64-bit integers and with well-mixed symbol values:
//! `P(c1..ck) = v(c1) B^(k-1) + ... + v(ck)  mod 2^64`, then `M = (P ^ (P >> 32)) C` and `H = M ^ (M >> 32)`.
//! The last steps are bijections: they add no collision. They carry the high bits into the low ones, which `0 mod p`
//! looks at and which a polynomial modulo a power of two leaves weak, and the low into the high ones, whose order
//! would otherwise show the polynomial where whole families of related strings are hashed (docs/measurements.md).

use std::array;

use crate::lanes::{Job, Lanes, Processor};

/// The base B: odd, and 5 modulo 8 so that its powers have the largest possible order. One of the
/// multipliers of Steele and Vigna, "Computationally easy, spectrally good multipliers" (2021).
const BASE: u64 = 0xd134_2543_de82_ef95;

/// Parts of a piece that are hashed side by side. One multiplication has to wait for the one before it in its own
/// part only, so that four of them are under way.
const STREAMS: usize = 4;

/// Hashes of each part that are brought through all steps before the next ones, so that they stay in the cache.
const STRETCH: usize = 256;

/// What the polynomial is multiplied with at the end. The last step is one round of the mixer that Degski published under
/// this constant: odd, so that nothing is lost.
const MIXER: u64 = 0xd6e8_feb8_6659_fd93;

/// Rolls over a document's symbol values, piece by piece.
#[derive(Clone, Debug)]
pub struct KgramHasher {
    k: usize,
    /// B^k, what the symbol that leaves was multiplied with.
    leaving: u64,
    rolling: u64,
    seen: usize,
    processor: Processor,
}

impl KgramHasher {
    /// A hasher of k-grams of `k` symbols; `k` is at least 1.
    #[must_use]
    pub fn new(k: u32) -> Self {
        Self { k: k as usize, leaving: BASE.wrapping_pow(k), rolling: 0, seen: 0, processor: Processor::detect() }
    }

    /// Leaves it to this instruction set.
    #[cfg(test)]
    fn with_processor(self, processor: Processor) -> Self {
        Self { processor, ..self }
    }

    /// Begins a new document.
    pub fn reset(&mut self) {
        self.rolling = 0;
        self.seen = 0;
    }

    /// Hashes the k-grams that end at `values[from..]` and appends their hashes to `out`, one per
    /// symbol from the k-th of the document on. The symbols before `from` are those of earlier calls;
    /// at least the last k of them must still be there (all of them, where there are fewer).
    pub fn feed(&mut self, values: &[u64], from: usize, out: &mut Vec<u64>) {
        let held = out.len();
        out.resize(held + self.upcoming(values.len().saturating_sub(from)), 0);
        self.fill(values, from, &mut out[held..]);
    }

    /// How many hashes the next `fresh` symbols give.
    pub(crate) fn upcoming(&self, fresh: usize) -> usize {
        (self.seen + fresh + 1).saturating_sub(self.k).min(fresh)
    }

    /// As [`feed`](Self::feed), into `out`, which has the length that [`upcoming`](Self::upcoming) tells.
    pub(crate) fn fill(&mut self, values: &[u64], from: usize, mut out: &mut [u64]) {
        let fresh = values.len().saturating_sub(from);
        let warm_up = fresh.min(self.k.saturating_sub(self.seen));
        for &value in &values[from..from + warm_up] {
            self.rolling = self.rolling.wrapping_mul(BASE).wrapping_add(value);
        }
        self.seen += warm_up;
        if self.seen < self.k {
            return;
        }
        if warm_up > 0 {
            out[0] = finish(self.rolling);
            out = &mut out[1..];
        }
        let first = from + warm_up;
        if first < values.len() {
            let job = Roll {
                values: &values[first - self.k..],
                k: self.k,
                leaving: self.leaving,
                rolling: self.rolling,
                out,
            };
            self.rolling = self.processor.run(job);
        }
    }
}

/// Hashes the k-grams of `values` but the first, whose polynomial is `rolling`. Gives the polynomial of the last.
struct Roll<'a> {
    values: &'a [u64],
    k: usize,
    leaving: u64,
    rolling: u64,
    out: &'a mut [u64],
}

impl Job for Roll<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> u64 {
        let Self { values, k, leaving, rolling, out } = self;
        // Each part but the first begins with a k-gram hashed from scratch, which must be worth it.
        let part = out.len() / STREAMS;
        if part < 2 * k || part < STRETCH {
            return roll(values, k, leaving, [rolling], [out])[0];
        }
        let mut states = [rolling; STREAMS];
        for i in 0..k {
            for (stream, state) in states.iter_mut().enumerate().skip(1) {
                let before = if i == 0 { 0 } else { *state };
                *state = before.wrapping_mul(BASE).wrapping_add(values[stream * part + i]);
            }
        }
        let mut parts = out.chunks_exact_mut(part);
        let outs: [&mut [u64]; STREAMS] = array::from_fn(|_| parts.next().unwrap_or_default());
        let states = roll(values, k, leaving, states, outs);
        // Less than `STREAMS` are left.
        let done = STREAMS * part;
        roll(&values[done..], k, leaving, [states[STREAMS - 1]], [&mut out[done..]])[0]
    }
}

/// Rolls over `N` parts, which all have the same length and follow one another, side by side.
#[inline(always)]
fn roll<const N: usize>(
    values: &[u64],
    k: usize,
    leaving: u64,
    mut states: [u64; N],
    mut out: [&mut [u64]; N],
) -> [u64; N] {
    let part = out[0].len();
    let mut at = 0;
    while at < part {
        let length = STRETCH.min(part - at);
        let mut stretches = out.each_mut().map(|out| &mut out[at..at + length]);
        // What does not depend on the hash before: the symbol that enters and the one that leaves.
        for (stream, stretch) in stretches.iter_mut().enumerate() {
            let first = stream * part + at;
            let (left, entering) = (&values[first..first + length], &values[first + k..first + k + length]);
            for ((slot, &entering), &left) in stretch.iter_mut().zip(entering).zip(left) {
                *slot = entering.wrapping_sub(left.wrapping_mul(leaving));
            }
        }
        for i in 0..length {
            for (state, stretch) in states.iter_mut().zip(&mut stretches) {
                *state = state.wrapping_mul(BASE).wrapping_add(stretch[i]);
                stretch[i] = *state;
            }
        }
        for stretch in &mut stretches {
            for slot in stretch.iter_mut() {
                *slot = finish(*slot);
            }
        }
        at += length;
    }
    states
}

/// The hash of one k-gram by the definition, for checking the rolling form.
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
                let mut hasher = KgramHasher::new(k as u32).with_processor(processor);
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
