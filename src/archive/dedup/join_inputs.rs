//! Join inputs: what the survivor join works with. Finding probes, comparing and deciding are methods of it, each in a file of
//! its own.

use super::buffers::BufferPool;
use super::measure::Threshold;
use super::places::Places;
use super::ranking::Ranking;
use super::sets::Sets;

/// The input of the join.
pub(super) struct Join<'a> {
    pub(super) ranking: &'a Ranking,
    pub(super) sets: &'a Sets,
    pub(super) places: &'a Places,
    pub(super) threshold: Threshold,
    /// The longest unmatched stretch, in symbols, of a removable document.
    pub(super) max_novel: Option<u64>,
    /// The most posting reads for one document.
    pub(super) budget: Option<u64>,
    /// Symbols in a k-gram.
    pub(super) k: u64,
    /// Bytes of memory for the index.
    pub(super) memory: u64,
    /// Documents that are compared with the same survivors at a time.
    pub(super) batch: u32,
    pub(super) buffers: BufferPool,
}
