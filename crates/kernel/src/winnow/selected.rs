//! Selected: the result of a selection.

/// A fingerprint inside the selection: a hash and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The k-gram's hash.
    pub hash: u64,
    /// Index of the hash in the document. It is also the index of the k-gram's first symbol.
    pub position: u64,
}
