//! Same bytes: finds the groups of documents that share one decision, and the documents of the same bytes in
//! different groups.
//!
//! Documents of the same bytes can have different fingerprints if they were read in different formats. So all
//! documents of a group have the same bytes and the same [reading]. Documents of the same bytes in different
//! groups are compared by their own texts. In addition, a document is removable as identical if an earlier
//! document of the same bytes stays.

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use crate::Keep;
use crate::answer::decisions::Witness;
use crate::ranking::{Extent, NOT_PROTECTED, Rank, Ranking};
use fpdb_host::error::Result;
use fpdb_host::spill::Sorter;
use fpdb_kernel::document::Digest;

/// The sort key of a document that brings documents of the same bytes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Twin {
    /// The digest of the document's bytes.
    pub(super) bytes: Digest,
    pub(super) reading: Digest,
    pub(super) class: u32,
    pub(super) rank: Rank,
}

/// The digest of a document's reading, that is of the document's bytes, format and counts. The counts differ
/// if versions of the program read the format differently.
pub(super) fn reading(bytes: Digest, format: u32, extent: Extent, distinct: u32) -> Digest {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Reading {
        bytes: Digest,
        extent: Extent,
        format: u32,
        distinct: u32,
    }
    xxh3_128(bytemuck::bytes_of(&Reading { bytes, extent, format, distinct })).to_be_bytes()
}

impl Ranking {
    /// Finds the leaders, and lists the leaders that have the same bytes.
    pub(super) fn group(&mut self, twins: Sorter<'_, Twin>, keep: Keep) -> Result<()> {
        self.leaders = (0..self.len()).collect();
        let mut last: Option<Twin> = None;
        let mut leader = 0;
        // The documents of one reading and class, and the documents of the same bytes.
        let (mut alike, mut same): (Vec<Rank>, Vec<Rank>) = (Vec::new(), Vec::new());
        for twin in twins.sorted()? {
            let twin = twin?;
            let before = last.replace(twin).filter(|last| last.bytes == twin.bytes);
            let of_reading = before.filter(|last| last.reading == twin.reading);
            if of_reading.is_none_or(|last| last.class != twin.class) {
                self.order_by_arrival(&mut alike, keep);
            }
            if before.is_none() {
                self.list_same_bytes(&mut same);
            }
            if of_reading.is_none() {
                leader = twin.rank;
            } else if twin.class >= NOT_PROTECTED {
                self.leaders[twin.rank as usize] = leader;
            } else {
                // Protected documents are not removable, whatever their bytes.
                self.twins.insert(twin.rank);
            }
            alike.push(twin.rank);
            same.push(twin.rank);
        }
        self.order_by_arrival(&mut alike, keep);
        self.list_same_bytes(&mut same);
        self.same_bytes.sort_unstable();
        self.same_bytes.shrink_to_fit();
        Ok(())
    }

    /// Orders documents of the same reading and worth by arrival, then clears the list.
    fn order_by_arrival(&mut self, alike: &mut Vec<Rank>, keep: Keep) {
        if keep == Keep::Longest && alike.len() > 1 {
            let document = |&rank: &Rank| (self.id(rank), self.pinned.contains(rank));
            let mut documents: Vec<(u32, bool)> = alike.iter().map(document).collect();
            documents.sort_unstable();
            for (&rank, (id, pinned)) in alike.iter().zip(documents) {
                self.ids[rank as usize] = id;
                self.ranks[id as usize] = rank;
                if pinned {
                    self.pinned.insert(rank)
                } else {
                    self.pinned.remove(rank)
                };
            }
        }
        alike.clear();
    }

    /// Lists each leader of these documents of the same bytes with the leaders before it, then clears the
    /// list.
    fn list_same_bytes(&mut self, same: &mut Vec<Rank>) {
        // Earlier decisions stand, even if newcomers come before the pinned documents.
        for &rank in same.iter().filter(|&&rank| self.pinned.contains(rank)) {
            if std::mem::replace(&mut self.leaders[rank as usize], rank) != rank {
                self.twins.insert(rank);
            }
        }
        same.retain(|&rank| self.leads(rank));
        same.sort_unstable();
        let is_pinned = |rank: Rank| self.pinned.contains(rank);
        let newcomers: Vec<Rank> = same.iter().copied().filter(|&rank| !is_pinned(rank)).collect();
        for &rank in same.iter().filter(|&&rank| rank >= self.protected) {
            // Only newcomers supersede a pinned document.
            let others = if is_pinned(rank) { &newcomers } else { &*same };
            for &before in &others[..others.partition_point(|&other| other < rank)] {
                self.same_bytes.push((rank, before));
                if before < self.protected || is_pinned(before) {
                    // This leader stays, so the leaders after it need not be listed.
                    break;
                }
            }
        }
        same.clear();
    }

    /// For rules that compare no fingerprints: makes a document removable if an earlier document that stays
    /// has the same bytes or the same text. `texts` has the documents whose text is known, each with the
    /// first document of that text.
    pub(super) fn settle(&mut self, texts: &[(Rank, Rank)]) {
        let listed = std::mem::take(&mut self.same_bytes);
        let (mut listed, mut texts) = (listed.into_iter().peekable(), texts.iter().peekable());
        // For the first document of each text: the first document of this text that stays.
        let mut kept: FxHashMap<Rank, Rank> = FxHashMap::default();
        for rank in 0..self.len() {
            let text = texts.next_if(|(of, _)| *of == rank).map(|&(_, first)| first);
            let mut before = text.and_then(|text| kept.get(&text).copied());
            let is_pinned = self.pinned.contains(rank);
            before = before.filter(|&before| !(is_pinned && self.pinned.contains(before)));
            while let Some((_, twin)) = listed.next_if(|&(of, _)| of == rank) {
                if self.leads(twin) && before.is_none_or(|before| twin < before) {
                    before = Some(twin);
                }
            }
            let leader = self.leader(rank);
            match before.filter(|_| rank >= self.protected) {
                _ if leader != rank => self.leaders[rank as usize] = self.leader(leader),
                Some(before) if is_pinned => self.same_bytes.push((rank, before)),
                Some(before) => self.leaders[rank as usize] = before,
                None => {}
            }
            if let Some(text) = text.filter(|_| self.leads(rank)) {
                kept.entry(text).or_insert(rank);
            }
        }
    }

    /// The leaders before this one that have the same bytes.
    pub(crate) fn same_bytes_before(&self, rank: Rank) -> impl Iterator<Item = Rank> {
        let first = self.same_bytes.partition_point(|&(of, _)| of < rank);
        self.same_bytes[first..].iter().take_while(move |&&(of, _)| of == rank).map(|&(_, before)| before)
    }

    /// The reason why a document of the same bytes or the same text is removable.
    pub(crate) fn as_identical(&self, rank: Rank, survivor: Rank) -> Witness {
        Witness { rank: survivor, shared: self.size(rank).min(self.size(survivor)), novel: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ranking::same_text::SameText;
    use crate::ranking::{RankKey, RankingKey};
    use fpdb_host::clock::{DocumentTime, TimeSource};
    use fpdb_host::spill::TempSpace;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

        /// The rules that compare no fingerprints, by brute force. Bytes and format together give the text.
        #[test]
        fn documents_of_the_same_bytes_or_text_go_if_one_stays(
            documents in prop::collection::vec((0u8..4, 0u32..3, prop::bool::weighted(0.1), prop::bool::weighted(0.2)), 0..16),
            texts in prop::collection::vec(0u8..5, 12),
            knows_texts: bool,
            keep in prop::sample::select(vec![Keep::Longest, Keep::First]),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let temp = TempSpace::new(folder.path()).unwrap();
            // A longer text has more fingerprints.
            let text = |id: u32| {
                let (bytes, format, ..) = documents[id as usize];
                texts[usize::from(bytes) * 3 + format as usize]
            };
            let mut keys = Sorter::new(&temp, 1 << 20);
            let mut same_text = SameText::default();
            for (id, (bytes, format, protected, pinned)) in (0..).zip(documents.iter().copied()) {
                let document = RankingKey {
                    id,
                    digest: [bytes; 16],
                    format,
                    distinct: text(id).into(),
                    extent: Extent::default(),
                    protected,
                    preferred: None,
                    file_time: None,
                    time: DocumentTime { source: TimeSource::Ingest, time: (0, 0) },
                    pinned: pinned && !protected,
                };
                if knows_texts {
                    let reading = reading([bytes; 16], format, Extent::default(), text(id).into());
                    same_text.insert(reading, [text(id); 16]);
                }
                keys.push(RankKey::of(&document, keep)).unwrap();
            }
            let ids = (documents.len() as u32, &[][..]);
            let ranking = Ranking::of_sorted(keys, ids, keep, Some(&same_text), (&temp, 1 << 20)).unwrap();
            let is_same = |one: u32, other: u32| {
                let [one, other] = [one, other].map(|rank| ranking.id(rank));
                documents[one as usize].0 == documents[other as usize].0 || (knows_texts && text(one) == text(other))
            };
            let (mut stays, mut superseded): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
            for rank in 0..ranking.len() {
                let (.., protected, pinned) = documents[ranking.id(rank) as usize];
                let is_pinned = |rank: u32| ranking.pinned.contains(rank);
                let reading = |rank: u32| (documents[ranking.id(rank) as usize].0, documents[ranking.id(rank) as usize].1);
                // If the first document of a group stays, it justifies the removal of all others.
                let first = (0..rank).find(|&first| reading(first) == reading(rank)).filter(|first| stays.contains(first));
                let survivor = first.or(stays.iter().copied().find(|&survivor| is_same(survivor, rank)));
                let removable = survivor.filter(|_| !protected && !pinned);
                prop_assert_eq!(ranking.leader(rank), removable.unwrap_or(rank));
                if pinned && !protected {
                    let newcomer = stays.iter().copied().find(|&stays| is_same(stays, rank) && !is_pinned(stays));
                    superseded.extend(newcomer.map(|newcomer| (rank, newcomer)));
                }
                if removable.is_none() {
                    stays.push(rank);
                }
            }
            prop_assert_eq!(&ranking.same_bytes, &superseded);
        }
    }
}
