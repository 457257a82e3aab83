//! Occurrences: finds all k-grams of certain hashes in a text, not only the selected ones.
//!
//! Two documents that share a run select the same hashes in it. But if a window holds equal hashes, robust
//! winnowing can select different occurrences in the two documents. Among all occurrences, two are always at
//! the same place of the run.

use rustc_hash::FxHashMap;

use fpdb_kernel::kgram::KgramHasher;
use fpdb_kernel::profile::Marks;

/// Number of k-grams hashed at a time: their hashes stay in the cache.
const KGRAMS_AT_ONCE: usize = 4 << 10;

/// Positions grouped by hash. 32 bits are enough for a position, because larger texts are not compared.
#[derive(Debug, Default)]
pub struct Occurrences {
    /// For each hash, by its index, the start of its positions in `positions`; the last element is the end.
    first: Vec<u32>,
    positions: Vec<u32>,
}

impl Occurrences {
    /// Finds the k-grams of `values` whose marked hash is in `wanted`, which maps hashes to indexes from 0
    /// on.
    pub fn find(values: &[u64], k: usize, marks: Marks, wanted: &FxHashMap<u64, u32>) -> Self {
        let mut found: Vec<(u32, u32)> = Vec::new();
        KgramHashes::new(k).for_each(values, |position, hash| {
            if let Some(&index) = wanted.get(&marks.mark(hash)) {
                found.push((index, position));
            }
        });
        let mut first = vec![0; wanted.len() + 1];
        for &(index, _) in &found {
            first[index as usize + 1] += 1;
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut next = first.clone();
        let mut positions = vec![0; found.len()];
        for (index, position) in found {
            let place = &mut next[index as usize];
            positions[*place as usize] = position;
            *place += 1;
        }
        Self { first, positions }
    }

    /// The positions of the hash with this index, ascending.
    pub fn of(&self, index: usize) -> &[u32] {
        &self.positions[self.first[index] as usize..self.first[index + 1] as usize]
    }
}

/// Hashes the k-grams of texts. Its tables are reused from text to text.
pub struct KgramHashes {
    hasher: KgramHasher,
    /// The hashes of one piece.
    stretch: Vec<u64>,
}

impl KgramHashes {
    /// Makes the tables for k-grams of `k` symbols.
    pub fn new(k: usize) -> Self {
        Self { hasher: KgramHasher::new(k as u32), stretch: Vec::new() }
    }

    /// Calls `visit` with the position and the hash of each k-gram of `values`, in order.
    pub fn for_each(&mut self, values: &[u64], mut visit: impl FnMut(u32, u64)) {
        self.hasher.reset();
        let (mut from, mut position) = (0, 0);
        while from < values.len() {
            let end = values.len().min(from + KGRAMS_AT_ONCE);
            self.stretch.clear();
            self.hasher.feed(&values[..end], from, &mut self.stretch);
            for &hash in &self.stretch {
                visit(position, hash);
                position += 1;
            }
            from = end;
        }
    }
}
