//! The sources of fpdb from bytes to fingerprints, and nothing of the store: RocksDB need not be built to measure them.
//! They are compiled as fpdb's users compile them: for any processor, asking for more when they run.
#![allow(dead_code, missing_docs)]

#[path = "../../../../../src/document.rs"]
mod document;
#[path = "../../../../../src/error.rs"]
mod error;
#[path = "../../../../../src/fingerprint.rs"]
pub mod fingerprint;
#[path = "../../../../../src/kgram.rs"]
pub mod kgram;
#[path = "../../../../../src/lanes/mod.rs"]
mod lanes;
#[path = "../../../../../src/normalize/mod.rs"]
pub mod normalize;
#[path = "../../../../../src/profile.rs"]
pub mod profile;
#[path = "../../../../../src/winnow/mod.rs"]
pub mod winnow;

use profile::Selection;
use winnow::{Selected, Winnower};

/// Symbols hashed before they are winnowed, as in `fingerprint.rs`.
const STRETCH: usize = 2 << 10;

/// Hashes and winnows a document of these symbol values, as `Fingerprinter` does.
pub fn winnow_values(values: &[u64], k: u32, w: u32, out: &mut Vec<Selected>) {
    let mut hasher = kgram::KgramHasher::new(k);
    let mut winnower = Winnower::new(Selection::Robust, w);
    let mut end = 0;
    while end < values.len() {
        let from = end;
        end = values.len().min(from + STRETCH);
        winnower.feed_with(hasher.upcoming(end - from), |space| hasher.fill(&values[..end], from, space), out);
    }
    winnower.finish(out);
}

/// Hashes a document of these symbol values, and forgets the hashes.
pub fn hash_values(values: &[u64], k: u32) -> u64 {
    let mut hasher = kgram::KgramHasher::new(k);
    let mut hashes = vec![0; STRETCH];
    let mut end = 0;
    while end < values.len() {
        let from = end;
        end = values.len().min(from + STRETCH);
        let count = hasher.upcoming(end - from);
        hasher.fill(&values[..end], from, &mut hashes[..count]);
    }
    hashes[0]
}
