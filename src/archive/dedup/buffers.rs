//! Buffers: the reused memory of searches, lent to threads.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use super::sets::Term;

/// Reused memory for choosing probes.
#[derive(Default)]
pub(super) struct ProbeBuffers {
    /// By ordinal, the number of the term in the set, or a mark for fingerprints that no other document holds.
    pub(super) terms: Vec<u32>,
    /// By number, how many fingerprints of the stretch that is looked at are of the term.
    pub(super) inside: Vec<u32>,
    /// By ordinal, where the fingerprint stands.
    pub(super) positions: Vec<u64>,
}

/// Reused memory of one thread.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) terms: Vec<Term>,
    pub(super) other: Vec<Term>,
    pub(super) probes: ProbeBuffers,
    /// For each survivor how many fingerprints of the probed terms it holds; 0 between searches.
    pub(super) counts: Vec<u32>,
    /// With a budget, how many probed terms it holds; 0 between searches.
    pub(super) reads: Vec<u32>,
    pub(super) candidates: Vec<u32>,
    /// By number, whether a survivor holds the term.
    pub(super) shared: Vec<bool>,
    pub(super) ordinals: Vec<u32>,
    /// By ordinal, where the fingerprint stands.
    pub(super) positions: Vec<u64>,
}

/// Buffers that wait for a search. They hold a count for each survivor: to make them anew for every few searches would cost more
/// the more survivors there are.
#[derive(Default)]
pub(super) struct BufferPool(Mutex<Vec<Buffers>>);

impl BufferPool {
    /// Lends buffers until they are dropped.
    pub(super) fn lend(&self) -> LentBuffers<'_> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        LentBuffers { buffers: held.unwrap_or_default(), pool: self }
    }
}

/// Buffers of a pool.
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
