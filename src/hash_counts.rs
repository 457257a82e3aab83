//! Counts of hashes: how many documents hold each.

/// How often each distinct hash occurs in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashCounts {
    /// Distinct hashes.
    pub distinct: u64,
    /// Hashes with one posting.
    pub singletons: u64,
    /// Hashes by df: those of 1, 2 and 3, then of 4 to 7, 8 to 15 and so on, up to the greatest there is.
    pub by_df: Vec<u64>,
}

impl HashCounts {
    /// The least and the greatest df that entry `index` of `by_df` counts.
    #[must_use]
    pub fn df_range(index: usize) -> (u64, u64) {
        match index {
            0..3 => (index as u64 + 1, index as u64 + 1),
            _ => (1 << (index - 1), (2 << (index - 1)) - 1),
        }
    }

    pub(crate) fn add(&mut self, postings: u64, df: usize) {
        self.distinct += 1;
        self.singletons += u64::from(postings == 1);
        let index = if df < 4 { df.saturating_sub(1) } else { df.ilog2() as usize + 1 };
        if self.by_df.len() <= index {
            self.by_df.resize(index + 1, 0);
        }
        self.by_df[index] += 1;
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
        assert_eq!(counts, HashCounts { distinct: 40, singletons: 1, by_df: vec![1, 1, 1, 4, 8, 16, 9] });
        let ranges: Vec<(u64, u64)> = (0..7).map(HashCounts::df_range).collect();
        assert_eq!(ranges, [(1, 1), (2, 2), (3, 3), (4, 7), (8, 15), (16, 31), (32, 63)]);
    }
}
