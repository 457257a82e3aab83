//! Measured: two documents by their ids, with what they share.

/// A pair by ids, with its measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) shared: u64,
    pub(crate) resemblance: f64,
    pub(crate) containment_a: f64,
    pub(crate) containment_b: f64,
    pub(super) score: f64,
}
