//! Names there: the names of the documents of a place that is gone or empty, as far as a removal needs them.

/// The names of the documents that were read from one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamesThere {
    /// The beginning that all of them share, and that no other stored name has.
    Beginning(String),
    /// All of them. No other document has one of these names.
    All(Vec<String>),
    /// The first of them. Other documents may have these names too.
    First(Vec<String>),
}
