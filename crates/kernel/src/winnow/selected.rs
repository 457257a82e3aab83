//! Selected: what a selection gives.

/// A fingerprint as the selection sees it: a hash and where its k-gram begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The k-gram's hash.
    pub hash: u64,
    /// The index of the hash in the document, which is the index of the k-gram's first symbol.
    pub position: u64,
}
