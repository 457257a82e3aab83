//! Arrivals: documents of a stream, each decided as it arrives, against all that are stored by then.
//!
//! The order is that of arrival. So a document is left out if a stored one holds enough of it, and leaves no long stretch of
//! it unmatched; the first that does is its witness. Later documents change nothing: no document is looked at again.
//!
//! Hashes that many documents are known to hold are looked up last, since most documents are decided without: they stay if no
//! stored document holds any of the first n - m + 1 of their hashes (as in [`super::probes`]), or if hashes that nobody holds are
//! too many, or stand in too long a stretch.

use rustc_hash::FxHashMap;

use super::measure::Threshold;
use super::{DedupBy, DedupOptions};
use fpdb_host::error::Result;

/// The documents that are stored by now, by hash.
pub(crate) trait StoredHashes {
    /// Appends the documents that hold a hash, in any order, some perhaps twice; none where boilerplate holds it. Calls in
    /// ascending order of hash are the fastest.
    fn holders(&mut self, hash: u64, into: &mut Vec<u32>) -> Result<()>;

    /// |F(d)| of one of them.
    fn size(&mut self, document: u32) -> Result<u32>;
}

/// Why a document that has arrived is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrivalWitness {
    pub(crate) document: u32,
    /// Fingerprints that both hold.
    pub(crate) shared: u32,
    /// |F(d)| of the document that is left out.
    pub(crate) size: u32,
    /// The longest unmatched stretch, in symbols.
    pub(crate) novel: u64,
}

/// Decides about documents as they arrive.
#[derive(Debug)]
pub(crate) struct Arrivals {
    threshold: Threshold,
    max_novel: Option<u64>,
    /// Symbols in a k-gram.
    k: u64,
    /// Hashes that many documents hold, and about how many did when they were looked up last. It decides what is looked up
    /// first, and never an answer.
    frequent: FxHashMap<u64, u32>,
    found: LookedUpHashes,
}

/// More holders make a hash frequent.
const FREQUENT: usize = 64;

/// The most hashes that are remembered as frequent.
const MOST_FREQUENT: usize = 1 << 20;

/// The hashes looked up for one document, and their holders.
#[derive(Debug, Default)]
struct LookedUpHashes {
    /// Each hash with where its holders end.
    hashes: Vec<(u64, usize)>,
    /// The holders of one hash after the other, each ascending.
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

    /// Takes these hashes for frequent.
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

    /// The first stored document that justifies leaving out one with these fingerprints, which are hashes and positions in
    /// order of position, and so many symbols; of those that `counts` accepts, which sees them in order of number.
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
        // A document has fewer fingerprints than 2^32.
        let size = hashes.len() as u32;
        let needed = self.threshold.least_shared(size);
        if needed > size {
            return Ok(None);
        }
        // A witness holds one of any so many.
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

    /// True if the hashes without a holder leave too long a stretch by themselves.
    fn is_novel(&mut self, fingerprints: &[(u64, u64)], symbols: u64) -> bool {
        let Some(most) = self.max_novel else { return false };
        let mut absent = std::mem::take(&mut self.found.absent);
        absent.sort_unstable();
        let novel = self.novel(fingerprints, symbols, |hash| absent.binary_search(&hash).is_err());
        self.found.absent = absent;
        novel > most
    }

    /// The longest stretch without a shared fingerprint, in symbols: from the end of a shared k-gram, or the beginning of the
    /// document, to the start of the next one, or its end. A stretch holds at least one fingerprint.
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
        // In place, as there may be many.
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
