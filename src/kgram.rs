//! k-gram: k consecutive symbols, and the one 64-bit hash each of them gets.
//!
//! The hash is the polynomial of Karp and Rabin in the order of Schleimer et al. 2003, section 2.2
//! (every symbol multiplied at least once), over 64-bit integers and with well-mixed symbol values:
//! `H(c1..ck) = v(c1) B^(k-1) + ... + v(ck)  mod 2^64`, then `H ^ (H >> 32)`.
//! The last step is a bijection: it adds no collision and leaves the high half, which decides nearly
//! every comparison, as it is; it carries the well-mixed high bits into the low ones, which `0 mod p`
//! looks at and which a polynomial modulo a power of two leaves weak.

/// The base B: odd, and 5 modulo 8 so that its powers have the largest possible order. One of the
/// multipliers of Steele and Vigna, "Computationally easy, spectrally good multipliers" (2021).
const BASE: u64 = 0xd134_2543_de82_ef95;

/// Rolls over a document's symbol values, piece by piece.
#[derive(Clone, Debug)]
pub struct KgramHasher {
    k: usize,
    /// B^k, what the symbol that leaves was multiplied with.
    leaving: u64,
    rolling: u64,
    seen: usize,
}

impl KgramHasher {
    /// A hasher of k-grams of `k` symbols; `k` is at least 1.
    #[must_use]
    pub fn new(k: u32) -> Self {
        Self { k: k as usize, leaving: BASE.wrapping_pow(k), rolling: 0, seen: 0 }
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
            out.push(finish(self.rolling));
        }
        let first = from + warm_up;
        let mut rolling = self.rolling;
        out.reserve(values.len() - first);
        out.extend(values[first..].iter().zip(&values[first - self.k..]).map(|(&entering, &left)| {
            rolling = rolling.wrapping_mul(BASE).wrapping_add(entering.wrapping_sub(left.wrapping_mul(self.leaving)));
            finish(rolling)
        }));
        self.rolling = rolling;
    }
}

/// The hash of one k-gram by the definition, for checking the rolling form.
#[must_use]
pub fn hash_kgram(values: &[u64]) -> u64 {
    finish(values.iter().fold(0, |hash: u64, &value| hash.wrapping_mul(BASE).wrapping_add(value)))
}

fn finish(polynomial: u64) -> u64 {
    polynomial ^ (polynomial >> 32)
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn every_order_of_the_symbols_has_its_own_hash() {
        assert_ne!(hash_kgram(&[1, 2, 3]), hash_kgram(&[3, 2, 1]));
        assert_ne!(hash_kgram(&[1, 2, 3]), hash_kgram(&[1, 3, 2]));
    }
}
