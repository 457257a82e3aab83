//! Arrivals: decides each document of a stream as it arrives, against the documents stored so far.
//!
//! The order is the order of arrival. A document is left out if one stored document holds enough of it and
//! leaves no long stretch of it unmatched. The first such document is its witness. No document is
//! reconsidered later.
//!
//! Hashes known to have many holders are looked up last, since most documents are decided without them. A
//! document of n hashes stays if no stored document holds any of its first n - m + 1 hashes (see
//! [`super::probes`]). It also stays if hashes without a holder are too many, or cover too long a stretch.

use rustc_hash::FxHashMap;

use super::measure::Threshold;
use super::{DedupBy, DedupOptions};
use fpdb_host::error::Result;

/// The documents stored so far, by hash.
pub(crate) trait StoredHashes {
    /// Appends the documents that hold a hash, in any order; a document can occur twice. Appends none if
    /// boilerplate holds the hash. Calls in ascending order of hash are fastest.
    fn holders(&mut self, hash: u64, into: &mut Vec<u32>) -> Result<()>;

    /// The number of distinct fingerprints, |F(d)|, of a stored document.
    fn size(&mut self, document: u32) -> Result<u32>;
}

/// The evidence for leaving out a document that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrivalWitness {
    pub(crate) document: u32,
    /// Number of distinct fingerprints that both documents hold.
    pub(crate) shared: u32,
    /// The number of distinct fingerprints, |F(d)|, of the document that is left out.
    pub(crate) size: u32,
    /// The longest unmatched stretch, in symbols.
    pub(crate) novel: u64,
}

/// Decides about documents as they arrive.
#[derive(Debug)]
pub(crate) struct Arrivals {
    threshold: Threshold,
    max_novel: Option<u64>,
    /// Number of symbols in a k-gram.
    k: u64,
    /// Hashes with many holders, and about how many they had at their last lookup. It decides the order of
    /// lookups, never an answer.
    frequent: FxHashMap<u64, u32>,
    found: LookedUpHashes,
}

/// A hash with more holders is frequent.
const FREQUENT: usize = 64;

/// Maximum number of frequent hashes remembered.
const MOST_FREQUENT: usize = 1 << 20;

/// The hashes looked up for one document, and their holders.
#[derive(Debug, Default)]
struct LookedUpHashes {
    /// Each hash, with the end of its holders in `holders`.
    hashes: Vec<(u64, usize)>,
    /// The holders of all hashes in sequence, ascending within each hash.
    holders: Vec<u32>,
    /// Hashes without a holder.
    absent: Vec<u64>,
}

impl Arrivals {
    pub(crate) fn new(options: &DedupOptions, k: u32) -> Self {
        Self {
            threshold: Threshold::new(options.by, options.threshold),
            max_novel: options.max_novel,
            k: k.into(),
            frequent: FxHashMap::default(),
            found: LookedUpHashes::default(),
        }
    }

    /// Treats these hashes as frequent.
    #[cfg(test)]
    pub(super) fn think_frequent(&mut self, hashes: impl IntoIterator<Item = u64>) {
        self.frequent.extend(hashes.into_iter().map(|hash| (hash, 100 - hash as u32)));
    }

    /// The measure.
    pub(crate) fn by(&self) -> DedupBy {
        self.threshold.by()
    }

    /// The score of a document that is left out.
    pub(crate) fn score(&self, witness: &ArrivalWitness, other: u32) -> f64 {
        self.threshold.score(witness.shared, witness.size, other)
    }

    /// The first stored document that justifies leaving out a document. `fingerprints` are its hashes and
    /// positions, in order of position; `symbols` is its length. Only documents that `counts` accepts are
    /// considered; they are passed to it in order of id.
    pub(crate) fn witness(
        &mut self,
        fingerprints: &[(u64, u64)],
        symbols: u64,
        stored: &mut dyn StoredHashes,
        counts: &mut dyn FnMut(ArrivalWitness) -> Result<bool>,
    ) -> Result<Option<ArrivalWitness>> {
        if !self.threshold.compares() || fingerprints.is_empty() {
            return Ok(None);
        }
        let mut hashes: Vec<u64> = fingerprints.iter().map(|&(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        // A document has fewer than 2^32 fingerprints.
        let size = hashes.len() as u32;
        let needed = self.threshold.least_shared(size);
        if needed > size {
            return Ok(None);
        }
        // A witness holds one of any `size` - `needed` + 1 hashes.
        let first = (size - needed + 1) as usize;
        let (mut frequent, rare): (Vec<u64>, Vec<u64>) =
            hashes.iter().partition(|hash| self.frequent.contains_key(hash));
        frequent.sort_by_key(|hash| self.frequent.get(hash).copied());
        self.found.clear();
        let (some, others) = rare.split_at(rare.len().min(first));
        self.look_up(some, stored)?;
        if some.len() == first && self.found.holders.is_empty() {
            return Ok(None);
        }
        self.look_up(others, stored)?;
        if self.found.absent.len() >= first || self.is_novel(fingerprints, symbols) {
            return Ok(None);
        }
        let (some, others) = frequent.split_at(first.saturating_sub(rare.len()).min(frequent.len()));
        self.look_up(some, stored)?;
        let mut held: FxHashMap<u32, u32> = FxHashMap::default();
        for &holder in &self.found.holders {
            *held.entry(holder).or_default() += 1;
        }
        if held.is_empty() {
            return Ok(None);
        }
        let before = self.found.holders.len();
        self.look_up(others, stored)?;
        for holder in &self.found.holders[before..] {
            if let Some(count) = held.get_mut(holder) {
                *count += 1;
            }
        }
        let mut candidates: Vec<(u32, u32)> = held.into_iter().filter(|&(_, shared)| shared >= needed).collect();
        candidates.sort_unstable();
        for (document, shared) in candidates {
            let needed = match self.threshold.is_symmetric() {
                true => self.threshold.needed(size, stored.size(document)?),
                false => needed,
            };
            if shared < needed {
                continue;
            }
            let held = self.found.held_by(document);
            let novel = self.novel(fingerprints, symbols, |hash| held.binary_search(&hash).is_ok());
            let witness = ArrivalWitness { document, shared, size, novel };
            if self.max_novel.is_none_or(|most| novel <= most) && counts(witness)? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// Looks up hashes, in ascending order.
    fn look_up(&mut self, hashes: &[u64], stored: &mut dyn StoredHashes) -> Result<()> {
        let mut hashes = hashes.to_vec();
        hashes.sort_unstable();
        for hash in hashes {
            let held = self.found.look_up(hash, stored)?;
            if held > FREQUENT {
                if self.frequent.len() >= MOST_FREQUENT {
                    self.frequent.clear();
                }
                self.frequent.insert(hash, u32::try_from(held).unwrap_or(u32::MAX));
            }
        }
        Ok(())
    }

    /// True if the hashes without a holder suffice to leave too long a stretch.
    fn is_novel(&mut self, fingerprints: &[(u64, u64)], symbols: u64) -> bool {
        let Some(most) = self.max_novel else { return false };
        let mut absent = std::mem::take(&mut self.found.absent);
        absent.sort_unstable();
        let novel = self.novel(fingerprints, symbols, |hash| absent.binary_search(&hash).is_err());
        self.found.absent = absent;
        novel > most
    }

    /// The longest stretch without a shared fingerprint, in symbols. A stretch starts at the end of a shared
    /// k-gram or at the start of the document. It ends at the start of the next shared k-gram or at the
    /// document's end. It holds at least one fingerprint.
    fn novel(&self, fingerprints: &[(u64, u64)], symbols: u64, is_shared: impl Fn(u64) -> bool) -> u64 {
        let (mut novel, mut start, mut unmatched) = (0, 0, false);
        for &(hash, position) in fingerprints {
            if !is_shared(hash) {
                unmatched = true;
                continue;
            }
            if unmatched {
                novel = novel.max(position.saturating_sub(start));
            }
            (start, unmatched) = (position + self.k, false);
        }
        if unmatched { novel.max(symbols.saturating_sub(start)) } else { novel }
    }
}

impl LookedUpHashes {
    fn clear(&mut self) {
        self.hashes.clear();
        self.holders.clear();
        self.absent.clear();
    }

    /// Looks up a hash and returns how many documents hold it.
    fn look_up(&mut self, hash: u64, stored: &mut dyn StoredHashes) -> Result<usize> {
        let start = self.holders.len();
        stored.holders(hash, &mut self.holders)?;
        self.holders[start..].sort_unstable();
        // In place, since there may be many.
        let mut end = start;
        for at in start..self.holders.len() {
            if end == start || self.holders[end - 1] != self.holders[at] {
                self.holders[end] = self.holders[at];
                end += 1;
            }
        }
        self.holders.truncate(end);
        self.hashes.push((hash, end));
        if end == start {
            self.absent.push(hash);
        }
        Ok(end - start)
    }

    /// The hashes that a document holds, ascending.
    fn held_by(&self, document: u32) -> Vec<u64> {
        let mut start = 0;
        let mut held = Vec::new();
        for &(hash, end) in &self.hashes {
            if self.holders[start..end].binary_search(&document).is_ok() {
                held.push(hash);
            }
            start = end;
        }
        held.sort_unstable();
        held
    }
}
