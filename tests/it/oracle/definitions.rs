//! A literal implementation of the papers' definitions: slow, and easy to check by eye.

use fpdb::kgram::hash_kgram;
use fpdb::{Fingerprint, Profile, Selection, Span};

/// SplitMix64: the same numbers from the same seed, on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// SplitMix64's output function. The value of a character or byte is the mix of its number plus one.
pub(super) fn mix(x: u64) -> u64 {
    let z = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The symbols of a document: values, and the bytes each came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Standard {
    pub(crate) values: Vec<u64>,
    pub(crate) origins: Vec<(usize, usize)>,
}

/// ASCII text in unit char: letters and digits, in lower case.
pub(crate) fn ascii_chars(text: &str) -> Standard {
    let mut standard = Standard::default();
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_alphanumeric()) {
        standard.values.push(mix(u64::from(byte.to_ascii_lowercase()) + 1));
        standard.origins.push((at, at + 1));
    }
    standard
}

/// The positions selected: Definitions 1 and 3 of Schleimer et al. 2003, sections 2.3 and 3.1.2.
pub(crate) fn select(hashes: &[u64], selection: Selection, w: usize) -> Vec<usize> {
    let n = hashes.len();
    let good = |p: u64, i: usize| hashes[i].is_multiple_of(p);
    match selection {
        Selection::All => (0..n).collect(),
        Selection::Mod(p) => (0..n).filter(|&i| good(p, i)).collect(),
        Selection::SafeMod(p) => {
            // Fewer hashes than one window are one window: its end is its last hash.
            let ends_a_window = |i: usize| i + 1 >= w.min(n);
            let none_good = |i: usize| ((i + 1).saturating_sub(w)..=i).all(|j| !good(p, j));
            (0..n).filter(|&i| good(p, i) || ends_a_window(i) && none_good(i)).collect()
        }
        Selection::Plain | Selection::Robust => {
            let mut picked: Vec<usize> = Vec::new();
            for (start, window) in hashes.windows(w.min(n).max(1)).enumerate() {
                let least = window.iter().min().unwrap();
                let same = picked.last().copied().filter(|&left| left >= start && hashes[left] == *least);
                let rightmost = start + window.iter().rposition(|hash| hash == least).unwrap();
                let pick = match same {
                    Some(left) if selection == Selection::Robust => left,
                    _ => rightmost,
                };
                if picked.last() != Some(&pick) {
                    picked.push(pick);
                }
            }
            picked
        }
    }
}

pub(crate) fn hashes(standard: &Standard, k: usize) -> Vec<u64> {
    standard.values.windows(k).map(hash_kgram).collect()
}

/// The fingerprints of a document by the definitions.
pub(super) fn naive(profile: &Profile, bytes: &[u8], standard: &Standard) -> Vec<Fingerprint> {
    let k = profile.k() as usize;
    let hashes = hashes(standard, k);
    let newlines: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    let line = |at: usize| 1 + newlines.partition_point(|&newline| newline < at) as u64;
    let fingerprint = |position: usize| {
        let (start, end) = (standard.origins[position].0, standard.origins[position + k - 1].1);
        Fingerprint {
            hash: hashes[position],
            position: position as u64,
            span: Span { start: start as u64, end: end as u64 },
            first_line: line(start),
            last_line: line(end - 1),
        }
    };
    select(&hashes, profile.selection(), profile.w() as usize).into_iter().map(fingerprint).collect()
}
