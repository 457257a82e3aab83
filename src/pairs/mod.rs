//! Pairs: all pairs of stored documents that share enough text.
//!
//! The postings are read hash by hash; each pair of documents that hold a hash counts one. Pairs are counted
//! for a block of first documents at a time, as many as fit in memory, so that memory is bounded however
//! many pairs there are; blocks are worked on in parallel, and each costs one pass over the postings. As in
//! the winnowing paper (section 5.2) no pair below the threshold is ever kept.

mod blocks;
mod count;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::document::DocId;
use crate::error::Result;
use crate::store::Store;
use blocks::Plan;

/// Which pairs are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct PairsOptions {
    /// The least number of shared hashes.
    pub min_shared: u64,
    /// The least resemblance.
    pub min_resemblance: f64,
    /// The least containment of either document in the other.
    pub min_containment: f64,
    /// Hashes that more documents hold are not counted as shared; they are counted as common.
    pub max_df: Option<u64>,
    /// Only pairs of documents under different ones of these name prefixes; under one of them and under none,
    /// where there is one prefix. All pairs where it is empty.
    pub across: Vec<String>,
    /// Bytes of memory to use, about.
    pub memory: u64,
}

impl Default for PairsOptions {
    fn default() -> Self {
        Self {
            min_shared: 1,
            min_resemblance: 0.0,
            min_containment: 0.0,
            max_df: Some(Self::MAX_DF),
            across: Vec::new(),
            memory: 1 << 30,
        }
    }
}

impl PairsOptions {
    /// The default cap on df: a hash in a thousand documents makes half a million pairs, and is the mark of a
    /// licence or a menu rather than of copying.
    pub const MAX_DF: u64 = 1000;
}

/// Two documents that share text; `a` came first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The older document's name.
    pub a: String,
    /// The newer one's.
    pub b: String,
    /// The older document's number.
    pub a_id: DocId,
    /// The newer one's.
    pub b_id: DocId,
    /// Hashes both hold.
    pub shared: u64,
    /// Shared / all hashes of the two.
    pub resemblance: f64,
    /// The share of a's hashes that b holds.
    pub containment_a: f64,
    /// The share of b's hashes that a holds.
    pub containment_b: f64,
}

/// The pairs of a database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairsAnswer {
    /// By descending resemblance, then by name.
    pub pairs: Vec<Pair>,
    /// Hashes left out because more documents hold them than the df cap allows.
    pub common: u64,
    /// Hashes left out because boilerplate holds them; boilerplate is in no pair.
    pub boilerplate: u64,
}

/// What the counting knows of each document, by id.
pub(crate) struct Documents {
    /// |F(d)|; 0 for ids without a document, and for those left out.
    sizes: Vec<u32>,
    /// The 1-based number of the first prefix the name begins with, 0 for none.
    groups: Vec<u16>,
    /// Prefixes given.
    prefixes: usize,
    /// The documents whose hashes are ignored.
    boilerplate: FxHashSet<u32>,
}

/// Hashes that were not counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    /// More documents hold them than the df cap allows.
    pub(crate) common: u64,
    /// Boilerplate holds them.
    pub(crate) boilerplate: u64,
}

/// Whether a hash is counted.
enum Counts {
    Yes,
    Common,
    Boilerplate,
}

/// A pair by ids.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    a: u32,
    b: u32,
    shared: u32,
}

/// A pair by ids, with its measures.
pub(crate) struct Measured {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) shared: u64,
    pub(crate) resemblance: f64,
    pub(crate) containment_a: f64,
    pub(crate) containment_b: f64,
}

/// Finds the pairs.
pub(crate) fn pairs(store: &Store, options: &PairsOptions) -> Result<PairsAnswer> {
    let (measured, LeftOut { common, boilerplate }) = measured(store, options, &[])?;
    let mut names: HashMap<u32, String> = HashMap::new();
    for id in measured.iter().flat_map(|pair| [pair.a, pair.b]) {
        if let Entry::Vacant(vacant) = names.entry(id) {
            vacant.insert(store.document(id)?.name);
        }
    }
    let named = measured.into_iter().map(|pair| Pair {
        a: names[&pair.a].clone(),
        b: names[&pair.b].clone(),
        a_id: DocId(pair.a),
        b_id: DocId(pair.b),
        shared: pair.shared,
        resemblance: pair.resemblance,
        containment_a: pair.containment_a,
        containment_b: pair.containment_b,
    });
    let mut pairs: Vec<Pair> = named.collect();
    pairs.sort_by(|x, y| {
        y.resemblance.total_cmp(&x.resemblance).then_with(|| x.a.cmp(&y.a)).then_with(|| x.b.cmp(&y.b))
    });
    Ok(PairsAnswer { pairs, common, boilerplate })
}

/// Finds the pairs without the documents of `left_out`, in no order, and the number of hashes not counted.
pub(crate) fn measured(store: &Store, options: &PairsOptions, left_out: &[u32]) -> Result<(Vec<Measured>, LeftOut)> {
    let documents = Documents::load(store, options, left_out)?;
    let plan = Plan::make(store, &documents, options)?;
    let blocks: Vec<Vec<Found>> = plan
        .blocks
        .into_par_iter()
        .map(|block| count::count(store, &documents, options, block))
        .collect::<Result<_>>()?;
    Ok((blocks.into_iter().flatten().map(|found| documents.measure(found)).collect(), plan.left_out))
}

impl Documents {
    fn load(store: &Store, options: &PairsOptions, left_out: &[u32]) -> Result<Self> {
        let ids = store.view().state().next_document as usize;
        let mut sizes = vec![0; ids];
        let mut groups = if options.across.is_empty() { Vec::new() } else { vec![0; ids] };
        let mut boilerplate = FxHashSet::default();
        store.for_each_document(|id, record| {
            if record.boilerplate {
                boilerplate.insert(id);
                return Ok(true);
            }
            // A document has fewer fingerprints than 2^32.
            sizes[id as usize] = record.distinct as u32;
            if let Some(group) = groups.get_mut(id as usize) {
                let position = options.across.iter().position(|prefix| record.name.starts_with(prefix));
                *group = position.map_or(0, |position| position as u16 + 1);
            }
            Ok(true)
        })?;
        for &id in left_out {
            sizes[id as usize] = 0;
        }
        Ok(Self { sizes, groups, prefixes: options.across.len(), boilerplate })
    }

    /// Whether a hash is counted that these documents hold.
    fn counts(&self, holders: &[u32], options: &PairsOptions) -> Counts {
        if !self.boilerplate.is_empty() && holders.iter().any(|holder| self.boilerplate.contains(holder)) {
            Counts::Boilerplate
        } else if options.max_df.is_some_and(|most| holders.len() as u64 > most) {
            Counts::Common
        } else {
            Counts::Yes
        }
    }

    /// Whether the two may be a pair at all.
    fn may_pair(&self, a: u32, b: u32) -> bool {
        if self.sizes[a as usize] == 0 || self.sizes[b as usize] == 0 {
            return false;
        }
        if self.groups.is_empty() {
            return true;
        }
        let (a, b) = (self.groups[a as usize], self.groups[b as usize]);
        a != b && (self.prefixes == 1 || (a > 0 && b > 0))
    }

    fn measure(&self, found: Found) -> Measured {
        let shared = f64::from(found.shared);
        let (a, b) = (f64::from(self.sizes[found.a as usize]), f64::from(self.sizes[found.b as usize]));
        Measured {
            a: found.a,
            b: found.b,
            shared: found.shared.into(),
            resemblance: shared / (a + b - shared),
            containment_a: shared / a,
            containment_b: shared / b,
        }
    }

    fn is_wanted(&self, found: Found, options: &PairsOptions) -> bool {
        let pair = self.measure(found);
        pair.shared >= options.min_shared
            && pair.resemblance >= options.min_resemblance
            && pair.containment_a.max(pair.containment_b) >= options.min_containment
    }
}
