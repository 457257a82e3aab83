//! Weight: the weight of a shared hash. A hash with few holders is stronger evidence for a pair that shares
//! it.

use fpdb_host::names::names;

/// The weight of a hash in scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema), schemars(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Weight {
    /// All hashes weigh the same.
    #[default]
    None,
    /// ln(1 + N / df), for a hash that df of N documents hold: the inverse document frequency.
    Idf,
}

names!(Weight, "weight", "none or idf", { None => "none", Idf => "idf" });

impl Weight {
    /// The weight of a hash that `df` of `documents` documents hold. A df of 0 counts as 1.
    pub(crate) fn of(self, df: u64, documents: u64) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Idf => (documents as f64 / df.max(1) as f64).ln_1p(),
        }
    }
}
