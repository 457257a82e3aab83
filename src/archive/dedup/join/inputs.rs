//! Join inputs: the data of the survivor join. Other files define methods on it, for finding probes,
//! comparing and deciding.

use crate::archive::dedup::join::buffers::BufferPool;
use crate::archive::dedup::join::measure::Threshold;
use crate::archive::dedup::ranking::Ranking;
use crate::archive::dedup::terms::places::Places;
use crate::archive::dedup::terms::sets::Sets;

/// The input of the join.
pub(in crate::archive::dedup) struct Join<'a> {
    pub(in crate::archive::dedup) ranking: &'a Ranking,
    pub(in crate::archive::dedup) sets: &'a Sets,
    pub(in crate::archive::dedup) places: &'a Places,
    pub(in crate::archive::dedup) threshold: Threshold,
    /// The longest unmatched stretch, in symbols, of a removable document. `None`: no limit.
    pub(in crate::archive::dedup) max_novel: Option<u64>,
    /// Maximum number of posting reads for one document. `None`: no limit.
    pub(in crate::archive::dedup) budget: Option<u64>,
    /// Number of symbols in a k-gram.
    pub(in crate::archive::dedup) k: u64,
    /// Bytes of memory for the index.
    pub(in crate::archive::dedup) memory: u64,
    /// Number of documents compared with the same survivors at a time.
    pub(in crate::archive::dedup) batch: u32,
    pub(in crate::archive::dedup) buffers: BufferPool,
}
