//! Witness: the survivor that justifies the removal of a document, and how.

use super::ranking::Rank;

/// Why a document is removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Witness {
    /// The survivor.
    pub(super) rank: Rank,
    /// Fingerprints that both hold.
    pub(super) shared: u32,
    /// The longest unmatched stretch of the document, in symbols.
    pub(super) novel: u64,
}
