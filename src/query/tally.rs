//! Tally: counts, hash by hash, how many looked-up hashes each document or submission holds.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::IgnoredBecause;
use super::options::QueryOptions;
use super::units::Units;
use fpdb_host::error::Result;
use fpdb_kernel::document::DocId;
use fpdb_store::{Holders, Lookup, Posting};

/// The counts.
pub(super) struct Tally<'a> {
    pub(super) units: &'a Units,
    /// The unit of the query itself.
    own: Option<u32>,
    /// Number of units in the database.
    pub(super) unit_count: u64,
    /// The hashes of each view: the structure, then the text as written.
    pub(super) views: [ViewTally; 2],
    /// Hashes held, by unit, in each view.
    pub(super) shared: FxHashMap<u32, [Shares; 2]>,
    /// Hashes held by the documents of submissions, by submission and document.
    pub(super) files: BTreeMap<(u32, u32), [Shares; 2]>,
    /// The documents that share a hash that counts, but that `only` excludes.
    pub(super) left_out: FxHashSet<u32>,
    holders: Vec<u32>,
    room: Vec<u32>,
}

/// The counts of one view.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ViewTally {
    /// All hashes that were looked up.
    pub(super) looked_up: Shares,
    pub(super) found: u64,
    /// Number of hashes that boilerplate holds.
    pub(super) boilerplate: u64,
    /// Number of hashes that occur only in quotation marks.
    pub(super) quoted: u64,
    /// Number of hashes that occur only in phrases.
    pub(super) phrases: u64,
    /// Number of hashes above the df cap.
    pub(super) common: u64,
}

/// Some hashes: their number and total weight.
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

impl<'a> Tally<'a> {
    /// Makes an empty tally for a database with `documents` documents. A stored document used as the query
    /// matches neither itself nor its submission.
    pub(super) fn new(documents: u64, subject: Option<u32>, units: &'a Units) -> Self {
        Self {
            units,
            own: subject.map(|id| units.of(id)),
            unit_count: units.count(documents),
            views: Default::default(),
            shared: FxHashMap::default(),
            files: BTreeMap::new(),
            left_out: FxHashSet::default(),
            holders: Vec::new(),
            room: Vec::new(),
        }
    }

    /// True if the unit of a document may be a match.
    pub(super) fn may_match(&self, document: u32) -> bool {
        self.own != Some(self.units.of(document))
    }

    /// Counts a hash of a view that occurs only in text that does not count. Like a hash of boilerplate, it
    /// counts as looked up but found in no document.
    pub(super) fn skip(&mut self, view: usize, because: IgnoredBecause, options: &QueryOptions) {
        let counts = &mut self.views[view];
        match because {
            IgnoredBecause::Phrase => counts.phrases += 1,
            _ => counts.quoted += 1,
        }
        counts.looked_up.add(options.weight.of(0, self.unit_count));
    }

    /// The share of the looked-up hashes that a document holds, in one view. If no hash was looked up in any
    /// view, only documents of the same bytes are compared, so the share is 1.
    pub(super) fn containment(&self, view: usize, shared: f64) -> f64 {
        match self.views.map(|view| view.looked_up.weight) {
            [0.0, 0.0] => 1.0,
            looked_up if looked_up[view] == 0.0 => 0.0,
            looked_up => shared / looked_up[view],
        }
    }

    /// The larger of the containments in both views.
    pub(super) fn largest_containment(&self, shares: &[Shares; 2]) -> f64 {
        self.containment(0, shares[0].weight).max(self.containment(1, shares[1].weight))
    }

    /// Number of units that hold these postings.
    pub(super) fn units_of(&self, postings: &[Posting]) -> u64 {
        postings.iter().map(|posting| self.units.of(posting.document)).collect::<FxHashSet<u32>>().len() as u64
    }

    /// The hashes that a document shares; `None` if the document is not a match.
    pub(super) fn shares_of(&self, document: u32) -> Option<&[Shares; 2]> {
        let unit = self.units.of(document);
        match self.units.facts(unit) {
            Some(_) => self.files.get(&(unit, document)),
            None => self.shared.get(&document),
        }
    }

    /// The documents that may match, in any order, each with the share of the looked-up hashes that it holds.
    pub(super) fn sharing(&self) -> impl Iterator<Item = (f64, u32)> {
        let alone = self.shared.iter().filter(|&(&unit, _)| self.units.facts(unit).is_none());
        let alone = alone.map(|(&document, shares)| (document, shares));
        let files = self.files.iter().map(|(&(_, document), shares)| (document, shares));
        alone.chain(files).map(|(document, shares)| (self.largest_containment(shares), document))
    }

    /// Counts the documents that hold `hash`, a hash of the view `view`, except the query itself.
    pub(super) fn count(
        &mut self,
        lookup: &mut Lookup<'_>,
        (view, hash): (usize, u64),
        options: &QueryOptions,
    ) -> Result<()> {
        let Holders::Documents(postings) = lookup.holders(hash)? else {
            self.views[view].boilerplate += 1;
            // The hash was looked up, but no document that may match holds it.
            self.views[view].looked_up.add(options.weight.of(0, self.unit_count));
            return Ok(());
        };
        let (mut holders, mut room) = (std::mem::take(&mut self.holders), std::mem::take(&mut self.room));
        holders.clear();
        holders.extend(postings.iter().map(|posting| posting.document).filter(|&holder| self.may_match(holder)));
        holders.sort_unstable();
        holders.dedup();
        let df = self.units.of_all(&holders, &mut room).len() as u64;
        let weight = options.weight.of(df, self.unit_count);
        self.views[view].looked_up.add(weight);
        // The cap counts the queried document too, because it holds the hash.
        let is_common = options.max_df.is_some_and(|most| df + u64::from(self.own.is_some()) > most);
        if let Some(only) = &options.only {
            holders.retain(|&holder| {
                let is_wanted = only.binary_search(&DocId(holder)).is_ok();
                if !is_wanted && !is_common {
                    self.left_out.insert(holder);
                }
                is_wanted
            });
        }
        self.views[view].found += u64::from(!holders.is_empty());
        if is_common {
            self.views[view].common += 1;
        } else {
            for &unit in self.units.of_all(&holders, &mut room) {
                self.shared.entry(unit).or_default()[view].add(weight);
            }
            for (unit, document) in self.units.parts(&holders) {
                self.files.entry((unit, document)).or_default()[view].add(weight);
            }
        }
        (self.holders, self.room) = (holders, room);
        Ok(())
    }

    /// Number of units that share a hash but hold less than `min_score` of the looked-up hashes in each view.
    /// The units in `identical`, ascending, are not counted.
    pub(super) fn below(&self, min_score: f64, identical: &[u32]) -> u64 {
        let is_below = |(unit, shares): &(&u32, &[Shares; 2])| {
            self.largest_containment(shares) < min_score && identical.binary_search(unit).is_err()
        };
        if min_score > 0.0 { self.shared.iter().filter(is_below).count() as u64 } else { 0 }
    }

    /// Adds documents with the query's bytes, which match even if they share no hash. Returns their units,
    /// ascending.
    pub(super) fn add_identical(&mut self, documents: &[u32]) -> Vec<u32> {
        for part in self.units.parts(documents) {
            self.files.entry(part).or_default();
        }
        let mut units: Vec<u32> = documents.iter().map(|&id| self.units.of(id)).collect();
        units.sort_unstable();
        units.dedup();
        for &unit in &units {
            self.shared.entry(unit).or_default();
        }
        units
    }
}
