//! Witness: the survivor that justifies the removal of a document, with the evidence.

use super::ranking::Rank;

/// Why a document is removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Witness {
    /// Rank of the survivor.
    pub(super) rank: Rank,
    /// Number of distinct fingerprints that both documents hold.
    pub(super) shared: u32,
    /// The longest unmatched stretch of the document, in symbols.
    pub(super) novel: u64,
}
