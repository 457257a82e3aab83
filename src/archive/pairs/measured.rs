//! Measured: a pair of documents by id, with its score.

/// A pair by ids, with the score that orders pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) a: u32,
    pub(super) b: u32,
    /// Number of shared hashes by view: the structure, then the text as written.
    pub(super) shared: [u32; 2],
    pub(super) score: f64,
    /// True if the pair itself reaches the thresholds.
    pub(super) reaches: bool,
}
