//! Window hash: a hash of all symbols of a window. It is a polynomial modulo 2^61 - 1 at a random point, so
//! nobody can construct a text in which many different windows have one hash. Pure.

use std::hash::{BuildHasher, RandomState};

const MODULUS: u64 = (1 << 61) - 1;

/// Hashes the windows of one length.
pub(super) struct WindowHash {
    window: usize,
    base: u64,
    /// The factor of the high half of a symbol's number.
    high: u64,
    /// The factor of a symbol that leaves the window: the negative of `base` to the power of `window`.
    leaves: u64,
}

impl WindowHash {
    /// Another hash at each call.
    pub(super) fn random(window: u32) -> Self {
        Self::new(window, [(); 2].map(|()| RandomState::new().hash_one(window) % MODULUS))
    }

    pub(super) fn new(window: u32, [base, high]: [u64; 2]) -> Self {
        let power = (0..window).fold(1, |power, _| combine(power, base, 0));
        Self { window: window as usize, base, high, leaves: MODULUS - power }
    }

    /// Replaces the content of `hashes` by the hash of each window of these symbols.
    pub(super) fn of_windows(&self, numbers: &[u64], hashes: &mut Vec<u64>) {
        hashes.clear();
        let mut hash = 0;
        for (index, &number) in numbers.iter().enumerate() {
            hash = combine(hash, self.base, self.digit(number));
            if let Some(before) = index.checked_sub(self.window) {
                hash = combine(self.leaves, self.digit(numbers[before]), hash);
            }
            if index + 1 >= self.window {
                hashes.push(hash);
            }
        }
    }

    /// The number of a symbol, as a number below the modulus.
    fn digit(&self, number: u64) -> u64 {
        match number >> 32 {
            0 => number,
            high => combine(high, self.high, number & u64::from(u32::MAX)),
        }
    }
}

/// `a * b + c` modulo 2^61 - 1, of numbers up to the modulus.
fn combine(a: u64, b: u64, c: u64) -> u64 {
    let sum = u128::from(a) * u128::from(b) + u128::from(c);
    let folded = (sum as u64 & MODULUS) + (sum >> 61) as u64;
    if folded >= MODULUS { folded - MODULUS } else { folded }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_window_has_the_value_of_its_polynomial(
            numbers in prop::collection::vec(prop_oneof![0u64..300, any::<u64>()], 0..60),
            window in 1u32..20,
            factors in prop::array::uniform2(0..MODULUS),
        ) {
            let mut hashes = Vec::new();
            WindowHash::new(window, factors).of_windows(&numbers, &mut hashes);
            let [base, high] = factors.map(u128::from);
            let polynomial = |window: &[u64]| {
                let step = |value: u128, &number: &u64| {
                    let digit = u128::from(number >> 32) * high + u128::from(number as u32);
                    (value * base + digit) % u128::from(MODULUS)
                };
                window.iter().fold(0, step) as u64
            };
            let expected: Vec<u64> = numbers.windows(window as usize).map(polynomial).collect();
            prop_assert_eq!(hashes, expected);
        }
    }

    /// The Thue-Morse word of 1,024 symbols and its complement have one value modulo 2^64, whatever the base.
    #[test]
    fn words_that_collide_modulo_a_power_of_two_are_told_apart() {
        let [one, other] =
            [0, 1].map(|first| (0u64..1024).map(|at| (u64::from(at.count_ones()) + first) % 2).collect());
        let hash = WindowHash::random(1024);
        let of = |word: &Vec<u64>| {
            let mut hashes = Vec::new();
            hash.of_windows(word, &mut hashes);
            hashes
        };
        assert_ne!(of(&one), of(&other));
    }
}
