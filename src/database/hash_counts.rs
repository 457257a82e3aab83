//! Counts of distinct hashes by the number of documents that hold them (df).

use serde::{Deserialize, Serialize};

/// The distinct hashes of a database, counted by df.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HashCounts {
    /// Distinct hashes.
    pub(crate) distinct: u64,
    /// Hashes with one posting.
    pub(crate) singletons: u64,
    /// Number of hashes for each range of df. The first three ranges are single numbers: 1, 2 and 3. Then
    /// come 4 to 7, 8 to 15, and so on to the largest df.
    pub(crate) df: Vec<DfCount>,
}

/// The number of distinct hashes in a range of df.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DfCount {
    /// The smallest df of the range.
    pub from: u64,
    /// The largest df of the range.
    pub to: u64,
    /// Number of distinct hashes that `from` to `to` documents hold.
    pub hashes: u64,
}

impl DfCount {
    /// The range with this index, without hashes.
    fn empty(index: usize) -> Self {
        let (from, to) = match index {
            0..3 => (index as u64 + 1, index as u64 + 1),
            _ => (1 << (index - 1), (2 << (index - 1)) - 1),
        };
        Self { from, to, hashes: 0 }
    }
}

impl HashCounts {
    pub(crate) fn add(&mut self, postings: u64, df: usize) {
        self.distinct += 1;
        self.singletons += u64::from(postings == 1);
        let index = if df < 4 { df.saturating_sub(1) } else { df.ilog2() as usize + 1 };
        while self.df.len() <= index {
            self.df.push(DfCount::empty(self.df.len()));
        }
        self.df[index].hashes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_df_is_counted_in_its_range() {
        let mut counts = HashCounts::default();
        for df in 1..=40 {
            counts.add(if df == 1 { 1 } else { 50 }, df);
        }
        assert_eq!((counts.distinct, counts.singletons), (40, 1));
        let counted: Vec<(u64, u64, u64)> =
            counts.df.iter().map(|count| (count.from, count.to, count.hashes)).collect();
        assert_eq!(counted, [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 7, 4), (8, 15, 8), (16, 31, 16), (32, 63, 9)]);
    }
}
