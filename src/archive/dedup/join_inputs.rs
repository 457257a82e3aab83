//! Join inputs: the data of the survivor join. Other files define methods on it, for finding probes,
//! comparing and deciding.

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
    /// The longest unmatched stretch, in symbols, of a removable document. `None`: no limit.
    pub(super) max_novel: Option<u64>,
    /// Maximum number of posting reads for one document. `None`: no limit.
    pub(super) budget: Option<u64>,
    /// Number of symbols in a k-gram.
    pub(super) k: u64,
    /// Bytes of memory for the index.
    pub(super) memory: u64,
    /// Number of documents compared with the same survivors at a time.
    pub(super) batch: u32,
    pub(super) buffers: BufferPool,
}
