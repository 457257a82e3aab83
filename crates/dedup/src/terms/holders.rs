//! Holders: the documents that hold each hash, by rank. Hashes with several holders become *terms*: hashes
//! with the same holders are one term. The df of a term is the number of its holders. The key of a term is a
//! class of the df, so that the rarest terms of a document come first, and then a digest of the holders.
//!
//! Ranks are in a table by document, and hashes name documents at random, so each look-up waits for memory. A
//! branch on the rank waits too, and delays the following look-ups. So all ranks of a batch of hashes are
//! looked up before the first is examined, and the reads overlap.

use roaring::RoaringBitmap;
use xxhash_rust::xxh3::xxh3_64;

use crate::ranking::{BOILERPLATE, ComparedRanks, RESERVED, Rank};
use fpdb_store::Posting;

/// Identifies a term. The highest 7 bits are the class of the term's df. The other bits are a digest of the
/// holders' ranks. Two different terms of one class have equal digests by chance, once in 2^57 pairs.
pub(crate) type TermKey = u64;

const DIGEST_BITS: u32 = 57;

/// The use of a hash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HashUse<'a> {
    /// Several documents hold the hash.
    Term(HashHolders<'a>),
    /// At most one document holds the hash.
    Own,
    /// More documents hold the hash than the df cap allows.
    Common,
    /// Boilerplate holds the hash.
    Boilerplate,
}

/// The compared documents that hold one hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashHolders<'a> {
    /// Rank and ordinal of each posting, in order of document.
    pub(crate) postings: &'a [(Rank, u32)],
    /// Number of documents that hold the hash.
    pub(crate) df: u32,
}

/// Finds the holders of hashes.
pub(crate) struct HolderReader<'a> {
    compared: &'a ComparedRanks,
    max_df: Option<u64>,
    /// Rank and ordinal of each posting of the batch, without hashes that are certainly `Own`.
    postings: Vec<(Rank, u32)>,
    /// By hash, the end of its postings.
    ends: Vec<usize>,
}

impl<'a> HolderReader<'a> {
    pub(crate) fn new(compared: &'a ComparedRanks, max_df: Option<u64>) -> Self {
        Self { compared, max_df, postings: Vec::new(), ends: Vec::new() }
    }

    /// Calls `visit` with the use of each hash of a batch, except some that are `Own`.
    pub(crate) fn read<E>(
        &mut self,
        batch: &[Posting],
        mut visit: impl FnMut(HashUse<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.look_up(batch);
        let mut start = 0;
        for &end in &self.ends {
            visit(hash_use(&mut self.postings[start..end], self.max_df, &self.compared.twins))?;
            start = end;
        }
        Ok(())
    }

    /// Writes the postings of the batch by rank. Each posting is written before it is known to be wanted,
    /// which avoids a branch that the processor would often mispredict.
    fn look_up(&mut self, batch: &[Posting]) {
        let Self { compared, postings, ends, .. } = self;
        postings.resize(batch.len(), (0, 0));
        ends.resize(batch.len(), 0);
        let (mut kept, mut hashes, mut is_first) = (0, 0, true);
        for (index, posting) in batch.iter().enumerate() {
            let is_last = batch.get(index + 1).is_none_or(|next| next.hash != posting.hash);
            // A hash with one posting matters only if the document of this posting may be boilerplate.
            let is_wanted = !(is_first & is_last) | compared.boilerplate;
            postings[kept] = (posting.document, posting.ordinal);
            kept += usize::from(is_wanted);
            ends[hashes] = kept;
            hashes += usize::from(is_wanted & is_last);
            is_first = is_last;
        }
        postings.truncate(kept);
        ends.truncate(hashes);
        postings.iter_mut().for_each(|(document, _)| *document = compared.of(*document));
    }
}

/// The use of a hash with these postings. The df cap counts documents of the same bytes and format
/// once.
fn hash_use<'a>(postings: &'a mut [(Rank, u32)], max_df: Option<u64>, twins: &RoaringBitmap) -> HashUse<'a> {
    let mut postings = postings;
    if postings.iter().any(|&(rank, _)| rank >= RESERVED) {
        if postings.iter().any(|&(rank, _)| rank == BOILERPLATE) {
            return HashUse::Boilerplate;
        }
        let mut kept = 0;
        for index in 0..postings.len() {
            postings[kept] = postings[index];
            kept += usize::from(postings[index].0 < RESERVED);
        }
        postings = &mut postings[..kept];
    }
    if postings.is_empty() {
        return HashUse::Own;
    }
    let holders = || postings.chunk_by(|one, next| one.0 == next.0).map(|of| of[0].0);
    let df = holders().count() as u32;
    let exceeds =
        |most: u64| u64::from(df) > most && holders().filter(|&rank| !twins.contains(rank)).count() as u64 > most;
    match df {
        1 => HashUse::Own,
        _ if max_df.is_some_and(exceeds) => HashUse::Common,
        df => HashUse::Term(HashHolders { postings, df }),
    }
}

impl<'a> HashHolders<'a> {
    /// Each posting, and true if the document holds the hash at a lower ordinal too.
    pub(crate) fn postings(self) -> impl Iterator<Item = (Rank, u32, bool)> + 'a {
        let mut last = None;
        self.postings.iter().map(move |&(rank, ordinal)| (rank, ordinal, last.replace(rank) == Some(rank)))
    }

    /// The key of the term for hashes with these holders. `ranks` is memory to reuse.
    pub(crate) fn key(self, ranks: &mut Vec<Rank>) -> TermKey {
        ranks.clear();
        ranks.extend(self.postings.iter().map(|&(rank, _)| rank));
        ranks.dedup();
        df_class(self.df) << DIGEST_BITS | xxh3_64(bytemuck::cast_slice(ranks)) >> (64 - DIGEST_BITS)
    }
}

/// The class of a df, 0 to 127: exact up to 15, then four classes for each doubling.
fn df_class(df: u32) -> u64 {
    let df = u64::from(df);
    if df < 16 {
        return df;
    }
    let highest = u64::from(df.ilog2());
    16 + (highest - 4) * 4 + (df >> (highest - 2) & 3)
}

/// The smallest df in the term's class: the term's df, or up to a fifth less.
pub(crate) fn df(term: TermKey) -> u64 {
    let class = term >> DIGEST_BITS;
    if class < 16 {
        return class;
    }
    (4 + class % 4) << (class / 4 - 2)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::ranking::NOT_RANKED;

    /// The name of a use and, for a term, its postings.
    type Found = (&'static str, Vec<(Rank, u32)>);

    fn expected(postings: &[Posting], ranks: &[Rank], twins: &RoaringBitmap, max_df: Option<u64>) -> Found {
        let ranked = postings.iter().map(|posting| (ranks[posting.document as usize], posting.ordinal));
        if ranked.clone().any(|(rank, _)| rank == BOILERPLATE) {
            return ("boilerplate", Vec::new());
        }
        let ranked: Vec<_> = ranked.filter(|&(rank, _)| rank != NOT_RANKED).collect();
        let holders: BTreeSet<Rank> = ranked.iter().map(|&(rank, _)| rank).collect();
        let different = holders.iter().filter(|&&rank| !twins.contains(rank)).count() as u64;
        match holders.len() {
            0 | 1 => ("own", Vec::new()),
            _ if max_df.is_some_and(|most| different > most) => ("common", Vec::new()),
            _ => ("term", ranked),
        }
    }

    proptest! {
        #[test]
        fn batches_are_read_as_hash_by_hash(
            batches in prop::collection::vec(prop::collection::btree_set((0u64..9, 0u32..8, 0u32..3), 0..30), 1..4),
            kinds in prop::collection::vec(0u32..10, 8),
            twins in prop::collection::btree_set(82u32..90, 0..4),
            max_df in prop::option::of(1u64..6),
        ) {
            let rank = |(number, kind): (u32, u32)| match kind { 0 => NOT_RANKED, 1 if number % 2 == 0 => BOILERPLATE, _ => 90 - number };
            let ranks: Vec<Rank> = (0..).zip(kinds).map(rank).collect();
            let compared = ComparedRanks {
                boilerplate: ranks.contains(&BOILERPLATE),
                ranks: ranks.clone(),
                twins: twins.iter().collect(),
            };
            let mut reader = HolderReader::new(&compared, max_df);
            for batch in batches {
                let posting = |(hash, document, ordinal)| Posting { hash, document, ordinal };
                let batch: Vec<Posting> = batch.into_iter().map(posting).collect();
                let mut found: Vec<Found> = Vec::new();
                let read = reader.read(&batch, |hash| {
                    found.push(match hash {
                        HashUse::Own => return Ok::<(), ()>(()),
                        HashUse::Common => ("common", Vec::new()),
                        HashUse::Boilerplate => ("boilerplate", Vec::new()),
                        HashUse::Term(holders) => {
                            let distinct: BTreeSet<Rank> = holders.postings.iter().map(|&(rank, _)| rank).collect();
                            assert_eq!(holders.df as usize, distinct.len());
                            ("term", holders.postings.to_vec())
                        }
                    });
                    Ok(())
                });
                prop_assert_eq!(read, Ok(()));
                let mut by_hash: BTreeMap<u64, Vec<Posting>> = BTreeMap::new();
                batch.iter().for_each(|&posting| by_hash.entry(posting.hash).or_default().push(posting));
                let naive = by_hash.values().map(|postings| expected(postings, &ranks, &compared.twins, max_df));
                prop_assert_eq!(found, naive.filter(|(name, _)| *name != "own").collect::<Vec<_>>());
            }
        }
    }
}
