//! Tally: how many of the looked-up hashes each document holds, counted hash by hash.

use std::collections::HashMap;

use super::options::QueryOptions;
use crate::error::Result;
use crate::store::{Holders, Lookup};

/// Counts, hash by hash.
#[derive(Default)]
pub(super) struct Tally {
    /// Documents of the database.
    pub(super) documents: u64,
    /// All hashes that were looked up.
    pub(super) looked_up: Shares,
    pub(super) found: u64,
    /// Hashes that boilerplate holds.
    pub(super) boilerplate: u64,
    /// Hashes that stand in quotation marks only.
    pub(super) quoted: u64,
    /// Hashes of phrases only.
    pub(super) phrases: u64,
    /// Hashes above the df cap.
    pub(super) common: u64,
    /// For each document the looked-up hashes it holds.
    pub(super) shared: HashMap<u32, Shares>,
    holders: Vec<u32>,
}

/// Some hashes: how many, and what they weigh together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    pub(super) hashes: u64,
    pub(super) weight: f64,
}

impl Shares {
    pub(super) fn add(&mut self, weight: f64) {
        self.hashes += 1;
        self.weight += weight;
    }
}

impl Tally {
    /// For a database of this many documents.
    pub(super) fn new(documents: u64) -> Self {
        Self { documents, ..Self::default() }
    }

    /// Counts the documents that hold `hash`, except the one that is queried with.
    pub(super) fn count(
        &mut self,
        lookup: &mut Lookup<'_>,
        hash: u64,
        exclude: Option<u32>,
        options: &QueryOptions,
    ) -> Result<()> {
        self.holders.clear();
        let Holders::Documents(postings) = lookup.holders(hash)? else {
            self.boilerplate += 1;
            // Looked up, and found nowhere that counts.
            self.looked_up.add(options.weight.of(0, self.documents));
            return Ok(());
        };
        self.holders.extend(postings.iter().map(|posting| posting.document).filter(|&holder| exclude != Some(holder)));
        self.holders.sort_unstable();
        self.holders.dedup();
        self.found += u64::from(!self.holders.is_empty());
        let weight = options.weight.of(self.holders.len() as u64, self.documents);
        self.looked_up.add(weight);
        // The cap counts the queried document too, as it is one that holds the hash.
        let holders = self.holders.len() as u64 + u64::from(exclude.is_some());
        if options.max_df.is_some_and(|most| holders > most) {
            self.common += 1;
            return Ok(());
        }
        for &document in &self.holders {
            self.shared.entry(document).or_default().add(weight);
        }
        Ok(())
    }
}
