//! Buffers: memory for searches. Threads borrow it and return it for reuse.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::archive::dedup::terms::sets::Term;

/// Reused memory for choosing probes.
#[derive(Default)]
pub(in crate::archive::dedup) struct ProbeBuffers {
    /// By ordinal, the index of the fingerprint's term in the set. `OWN` marks fingerprints that no other
    /// document holds.
    pub(in crate::archive::dedup) terms: Vec<u32>,
    /// By index in the set, the term's number of fingerprints inside the current stretch.
    pub(in crate::archive::dedup) inside: Vec<u32>,
    /// By ordinal, the position of the fingerprint, in symbols.
    pub(in crate::archive::dedup) positions: Vec<u64>,
}

/// Reused memory of one thread.
#[derive(Default)]
pub(in crate::archive::dedup) struct Buffers {
    pub(in crate::archive::dedup) terms: Vec<Term>,
    pub(in crate::archive::dedup) other: Vec<Term>,
    pub(in crate::archive::dedup) probes: ProbeBuffers,
    /// By survivor, the number of fingerprints of probed terms that it holds; all 0 between searches.
    pub(in crate::archive::dedup) counts: Vec<u32>,
    /// With a budget: by survivor, the number of probed terms it holds; all 0 between searches.
    pub(in crate::archive::dedup) reads: Vec<u32>,
    pub(in crate::archive::dedup) candidates: Vec<u32>,
    /// By index in the set, whether the survivor under comparison holds the term.
    pub(in crate::archive::dedup) shared: Vec<bool>,
    pub(in crate::archive::dedup) ordinals: Vec<u32>,
    /// By ordinal, the position of the fingerprint, in symbols.
    pub(in crate::archive::dedup) positions: Vec<u64>,
}

/// Buffers not in use. Each buffer has a count for each survivor. So they are reused: with many survivors,
/// new ones would be expensive.
#[derive(Default)]
pub(in crate::archive::dedup) struct BufferPool(Mutex<Vec<Buffers>>);

impl BufferPool {
    /// Lends buffers. Dropping them returns them to the pool.
    pub(in crate::archive::dedup) fn lend(&self) -> LentBuffers<'_> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        LentBuffers { buffers: held.unwrap_or_default(), pool: self }
    }
}

/// Buffers borrowed from a pool.
pub(in crate::archive::dedup) struct LentBuffers<'a> {
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
