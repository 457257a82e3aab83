//! Witness: the survivor that justifies the removal of a document, with the evidence.

use bincode::{Decode, Encode};

use crate::archive::dedup::ranking::Rank;

/// Why a document is removable. The file of a job stores the fields in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(in crate::archive::dedup) struct Witness {
    /// Rank of the survivor.
    pub(in crate::archive::dedup) rank: Rank,
    /// Number of distinct fingerprints that both documents hold.
    pub(in crate::archive::dedup) shared: u32,
    /// The longest unmatched stretch of the document, in symbols.
    pub(in crate::archive::dedup) novel: u64,
}
