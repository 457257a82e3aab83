//! Buffers: memory for searches. Threads borrow it and return it for reuse.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use super::sets::Term;

/// Reused memory for choosing probes.
#[derive(Default)]
pub(super) struct ProbeBuffers {
    /// By ordinal, the index of the fingerprint's term in the set. `OWN` marks fingerprints that no other
    /// document holds.
    pub(super) terms: Vec<u32>,
    /// By index in the set, the term's number of fingerprints inside the current stretch.
    pub(super) inside: Vec<u32>,
    /// By ordinal, the position of the fingerprint, in symbols.
    pub(super) positions: Vec<u64>,
}

/// Reused memory of one thread.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) terms: Vec<Term>,
    pub(super) other: Vec<Term>,
    pub(super) probes: ProbeBuffers,
    /// By survivor, the number of fingerprints of probed terms that it holds; all 0 between searches.
    pub(super) counts: Vec<u32>,
    /// With a budget: by survivor, the number of probed terms it holds; all 0 between searches.
    pub(super) reads: Vec<u32>,
    pub(super) candidates: Vec<u32>,
    /// By index in the set, whether the survivor under comparison holds the term.
    pub(super) shared: Vec<bool>,
    pub(super) ordinals: Vec<u32>,
    /// By ordinal, the position of the fingerprint, in symbols.
    pub(super) positions: Vec<u64>,
}

/// Buffers not in use. Each holds a count for each survivor, so allocating new ones would cost more the more
/// survivors there are.
#[derive(Default)]
pub(super) struct BufferPool(Mutex<Vec<Buffers>>);

impl BufferPool {
    /// Lends buffers. Dropping them returns them to the pool.
    pub(super) fn lend(&self) -> LentBuffers<'_> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        LentBuffers { buffers: held.unwrap_or_default(), pool: self }
    }
}

/// Buffers borrowed from a pool.
pub(super) struct LentBuffers<'a> {
    buffers: Buffers,
    pool: &'a BufferPool,
}

impl Deref for LentBuffers<'_> {
    type Target = Buffers;

    fn deref(&self) -> &Buffers {
        &self.buffers
    }
}

impl DerefMut for LentBuffers<'_> {
    fn deref_mut(&mut self) -> &mut Buffers {
        &mut self.buffers
    }
}

impl Drop for LentBuffers<'_> {
    fn drop(&mut self) {
        self.pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.buffers));
    }
}
