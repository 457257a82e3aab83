//! Buffers: memory for searches, which threads borrow and return for reuse.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::terms::sets::Term;

/// Reused memory for choosing *probes*: the few terms of a document by which the join finds its possible
/// survivors.
#[derive(Default)]
pub(crate) struct ProbeBuffers {
    /// For each fingerprint of the document, by ordinal: the index of its term in the document's set of
    /// terms. `OWN` marks fingerprints that no other document holds.
    pub(crate) terms: Vec<u32>,
    /// For each term of the set, by index: its number of fingerprints inside the current stretch.
    pub(crate) inside: Vec<u32>,
    /// By ordinal, the position of the fingerprint, in symbols.
    pub(crate) positions: Vec<u64>,
}

/// Reused memory of one thread.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) terms: Vec<Term>,
    pub(crate) other: Vec<Term>,
    pub(crate) probes: ProbeBuffers,
    /// By survivor, the number of fingerprints of probed terms that it holds; all 0 between searches.
    pub(crate) counts: Vec<u32>,
    /// With a budget: by survivor, the number of probed terms it holds; all 0 between searches.
    pub(crate) reads: Vec<u32>,
    pub(crate) candidates: Vec<u32>,
    /// For each term of the set, by index: true if the survivor under comparison holds the term.
    pub(crate) shared: Vec<bool>,
    pub(crate) ordinals: Vec<u32>,
}

/// Unused buffers. Each of them has a count for each survivor, so with many survivors new buffers would be
/// expensive.
#[derive(Default)]
pub(crate) struct BufferPool(Mutex<Vec<Buffers>>);

impl BufferPool {
    /// Lends buffers. Dropping them returns them to the pool.
    pub(crate) fn lend(&self) -> LentBuffers<'_> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        LentBuffers { buffers: held.unwrap_or_default(), pool: self }
    }
}

/// Buffers borrowed from a pool.
pub(crate) struct LentBuffers<'a> {
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
