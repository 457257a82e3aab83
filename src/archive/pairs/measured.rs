//! Measured: two documents by their ids, with what they share.

/// A pair by ids, with the score it is ordered by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) shared: u32,
    pub(super) score: f64,
}
