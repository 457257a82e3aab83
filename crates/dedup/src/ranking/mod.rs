//! Ranking: the one total order of documents, most worth keeping first. A document's *rank* is its index in
//! that order.
//!
//! Documents of the same bytes and format form one group. The first of a group is its *leader*. Only leaders
//! are compared. The decision about a leader applies to its whole group. Under the rules `exact` and
//! `exact-text`, the leader of a document is the survivor of the same bytes or text.

mod same_bytes;
pub(super) mod same_text;

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};
use regex::Regex;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::DedupOptions;
use crate::Keep;
use crate::join::measure::Threshold;
use crate::ranking::same_bytes::{Twin, reading};
use crate::ranking::same_text::SameText;
use fpdb_host::clock::{DocumentTime, TimeSource};
use fpdb_host::error::{Error, Result};
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::NamePrefix;
use fpdb_store::{DocumentRecord, Store};

/// The index of a document in the order of worth, from 0.
pub(crate) type Rank = u32;

/// The rank of an id that is deleted or was never stored.
pub(crate) const NOT_RANKED: Rank = u32::MAX;

/// The rank of boilerplate, which is not ranked. Hashes of boilerplate do not count as shared.
pub(crate) const BOILERPLATE: Rank = u32::MAX - 1;

/// The first rank reserved for special meanings.
pub(crate) const RESERVED: Rank = u32::MAX - 15;

/// Bytes of memory for each document, without its extent and the list `same_bytes`.
pub(crate) const BYTES_PER_DOCUMENT: u64 = 12;
/// Bytes of memory for the extent of a document. Extents are dropped once places are read.
pub(crate) const BYTES_OF_EXTENT: u64 = size_of::<Extent>() as u64;
/// Bytes of memory for each id given so far.
pub(crate) const BYTES_PER_ID: u64 = size_of::<Rank>() as u64;

/// Bytes that each document takes on disk if documents are sorted there: its [`RankKey`] and its [`Twin`].
pub(crate) const SORTED_BYTES: u64 = (size_of::<RankKey>() + size_of::<Twin>()) as u64;

/// The length of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Extent {
    /// Number of fingerprints; each repetition of a hash counts.
    pub(crate) fingerprints: u32,
    /// Number of symbols: the high half, then the low half. This layout keeps the struct at twelve bytes.
    symbols: [u32; 2],
}

impl Extent {
    pub(crate) fn new(fingerprints: u32, symbols: u64) -> Self {
        Self { fingerprints, symbols: [(symbols >> 32) as u32, symbols as u32] }
    }

    pub(crate) fn symbols(self) -> u64 {
        u64::from(self.symbols[0]) << 32 | u64::from(self.symbols[1])
    }
}

/// All documents in order of rank.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// The document of each rank.
    pub(crate) ids: Vec<u32>,
    /// The rank of each document, or [`NOT_RANKED`], or [`BOILERPLATE`].
    ranks: Vec<Rank>,
    /// By rank, the number of distinct fingerprints, |F(d)|.
    pub(crate) sizes: Vec<u32>,
    /// The extent of each document, by rank, until its [places](crate::terms::places) are
    /// read.
    pub(crate) extents: Vec<Extent>,
    /// By rank, the leader of the document's group.
    leaders: Vec<Rank>,
    /// Documents of lower rank than this are protected: they are never removable.
    pub(crate) protected: Rank,
    /// The ranks of documents that an earlier run decided to keep.
    pub(crate) pinned: RoaringBitmap,
    /// Pairs of leaders with the same bytes: a leader, and one before it. For a pinned document, only
    /// newcomers before it are listed. Under the rules `exact` and `exact-text`, the first of a pair is
    /// always pinned, and the text may be the same instead of the bytes. Ascending.
    pub(crate) same_bytes: Vec<(Rank, Rank)>,
    /// The ranks of leaders that have the same bytes and format as an earlier leader. They are protected or
    /// pinned, so they do not join the earlier leader's group.
    twins: RoaringBitmap,
}

/// The ranks used when postings are counted.
pub(crate) struct ComparedRanks {
    /// By document: the rank of a leader, [`BOILERPLATE`], or [`NOT_RANKED`] for all others.
    pub(crate) ranks: Vec<Rank>,
    /// True if any document is boilerplate.
    pub(crate) boilerplate: bool,
    /// The leaders that do not count for the df cap, because an earlier leader has the same bytes and format.
    pub(crate) twins: RoaringBitmap,
}

impl ComparedRanks {
    pub(crate) fn of(&self, id: u32) -> Rank {
        self.ranks.get(id as usize).copied().unwrap_or(NOT_RANKED)
    }
}

/// The sort key of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RankKey {
    /// The first pattern that prefers the document, or [`NOT_PREFERRED`]. [`NOT_PROTECTED`] is added unless
    /// the document is protected.
    class: u32,
    id: u32,
    /// The worth by [`Keep`].
    worth: u64,
    /// The time of the file if `worth` is the size; 0 if `worth` is the id; otherwise the size.
    second: u64,
    digest: Digest,
    extent: Extent,
    distinct: u32,
    pinned: u32,
    format: u32,
}

impl Ord for RankKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |key: &Self| (key.class, key.worth, key.second, key.digest, key.id);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for RankKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

const NOT_PROTECTED: u32 = 1 << 31;
const NOT_PREFERRED: u32 = NOT_PROTECTED - 1;

/// Bits of a time in a key, below the two bits of its source.
const TIME_BITS: u32 = 62;
const LAST_TIME: u64 = (1 << TIME_BITS) - 1;

/// The facts by which a document is ranked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankingKey {
    pub(crate) id: u32,
    pub(crate) digest: Digest,
    /// The hash of the format's name.
    pub(crate) format: u32,
    pub(crate) distinct: u32,
    pub(crate) extent: Extent,
    pub(crate) protected: bool,
    /// The index of the first pattern that prefers the document.
    pub(crate) preferred: Option<u32>,
    /// The time of the last change of the file: seconds since 1970, and the nanoseconds after them. `None` if
    /// unknown, and for parts of files.
    pub(crate) file_time: Option<(i64, u32)>,
    /// The time of the document.
    pub(crate) time: DocumentTime,
    /// True if an earlier run decided that the document stays.
    pub(crate) pinned: bool,
}

impl RankKey {
    pub(crate) fn of(document: &RankingKey, keep: Keep) -> Self {
        let preferred = document.preferred.unwrap_or(NOT_PREFERRED).min(NOT_PREFERRED);
        let class = preferred + if document.protected { 0 } else { NOT_PROTECTED };
        let size = u64::from(u32::MAX - document.distinct);
        let (source, age) = ((document.time.source as u64) << TIME_BITS, time_key(document.time.time));
        let (worth, second) = match keep {
            Keep::Longest => (size, document.file_time.map_or(u64::MAX, time_key)),
            Keep::First => (document.id.into(), 0),
            Keep::Newest => (source | (LAST_TIME - age), size),
            Keep::Oldest => (source | age, size),
        };
        let RankingKey { id, digest, format, extent, distinct, pinned, .. } = *document;
        Self { class, id, worth, second, digest, extent, distinct, pinned: pinned.into(), format }
    }
}

impl Ranking {
    /// Reads and ranks all documents except boilerplate and those that an earlier run found removable.
    /// `standing` returns the earlier decision about a document.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a pattern that is not a regular expression;
    /// [`Error::TooLittleMemory`]; errors from reading the documents.
    pub(crate) fn of_store(
        store: &Store,
        options: &DedupOptions,
        same_text: &SameText,
        standing: &mut dyn FnMut(u32) -> Result<Standing>,
        (temp, memory): (&TempSpace, u64),
    ) -> Result<Self> {
        let view = store.view();
        let choices = Choices::new(options)?;
        let mut sorter = Sorter::new(temp, memory / 2);
        let mut boilerplate = Vec::new();
        store.for_each_document(|id, record| {
            let protected = choices.prefixes.iter().any(|prefix| protects(prefix, &record));
            let preferred = (0..).zip(&choices.patterns).find(|(_, pattern)| pattern.is_match(&record.name));
            let preferred = preferred.map(|(number, _)| number);
            if record.boilerplate {
                boilerplate.push(id);
                return Ok(true);
            }
            let pinned = match standing(id)? {
                // A renamed document can have become protected, so the decision is open again.
                Standing::Removable if !protected => return Ok(true),
                standing => standing == Standing::Stays,
            };
            let ranked = RankingKey { pinned, ..ranked(id, &record, protected, preferred) };
            sorter.push(RankKey::of(&ranked, options.keep))?;
            Ok(true)
        })?;
        let ids = (view.state().next_document, &boilerplate[..]);
        let compares = Threshold::new(options.by, options.threshold).compares();
        Self::of_sorted(sorter, ids, options.keep, (!compares).then_some(same_text), (temp, memory / 2))
    }

    /// Ranks the documents of a sorter. All ids are below `next_id`. `same_text` is `None` if fingerprints
    /// are compared. Otherwise the leaders are the survivors.
    pub(crate) fn of_sorted(
        keys: Sorter<'_, RankKey>,
        (next_id, boilerplate): (u32, &[u32]),
        keep: Keep,
        same_text: Option<&SameText>,
        (temp, memory): (&TempSpace, u64),
    ) -> Result<Self> {
        let mut ranking = Self { ranks: vec![NOT_RANKED; next_id as usize], ..Self::default() };
        for &id in boilerplate {
            ranking.ranks[id as usize] = BOILERPLATE;
        }
        let documents = usize::try_from(keys.count()).unwrap_or(usize::MAX);
        ranking.ids.reserve_exact(documents);
        ranking.sizes.reserve_exact(documents);
        ranking.extents.reserve_exact(documents);
        let mut twins = Sorter::new(temp, memory);
        let (mut texts, mut first_of_text) = (Vec::new(), FxHashMap::default());
        for key in keys.sorted()? {
            let RankKey { class, id, digest, extent, distinct, pinned, format, .. } = key?;
            let rank = ranking.ids.len() as Rank;
            ranking.ids.push(id);
            ranking.sizes.push(distinct);
            ranking.extents.push(extent);
            ranking.ranks[id as usize] = rank;
            ranking.protected += u32::from(class < NOT_PROTECTED);
            if pinned > 0 {
                ranking.pinned.insert(rank);
            }
            let reading = reading(digest, format, extent, distinct);
            if let Some(text) = same_text.and_then(|texts| texts.of(reading)) {
                texts.push((rank, *first_of_text.entry(text).or_insert(rank)));
            }
            twins.push(Twin { bytes: digest, reading, class, rank })?;
        }
        ranking.group(twins, keep)?;
        if same_text.is_some() {
            ranking.settle(&texts);
        }
        Ok(ranking)
    }

    /// The ranks of the documents that are compared.
    pub(crate) fn compared(&self) -> ComparedRanks {
        let compared = |&rank: &Rank| if rank < RESERVED && !self.leads(rank) { NOT_RANKED } else { rank };
        let ranks: Vec<Rank> = self.ranks.iter().map(compared).collect();
        ComparedRanks { boilerplate: ranks.contains(&BOILERPLATE), ranks, twins: self.twins.clone() }
    }

    /// Number of ids given so far.
    pub(crate) fn numbers(&self) -> usize {
        self.ranks.len()
    }

    /// Number of ranked documents.
    pub(crate) fn len(&self) -> Rank {
        self.ids.len() as Rank
    }

    /// The rank of a document, or [`NOT_RANKED`], or [`BOILERPLATE`].
    pub(crate) fn of(&self, id: u32) -> Rank {
        self.ranks.get(id as usize).copied().unwrap_or(NOT_RANKED)
    }

    /// The rank of the first document of this document's group.
    pub(crate) fn leader(&self, rank: Rank) -> Rank {
        self.leaders[rank as usize]
    }

    /// True if the document is the first of its group.
    pub(crate) fn leads(&self, rank: Rank) -> bool {
        self.leader(rank) == rank
    }

    /// The number of distinct fingerprints, |F(d)|.
    pub(crate) fn size(&self, rank: Rank) -> u32 {
        self.sizes[rank as usize]
    }

    /// The document of a rank.
    pub(crate) fn id(&self, rank: Rank) -> u32 {
        self.ids[rank as usize]
    }
}

/// The decision of an earlier run about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No valid decision.
    Open,
    Stays,
    Removable,
}

/// The documents that the options protect and prefer.
struct Choices {
    prefixes: Vec<NamePrefix>,
    patterns: Vec<Regex>,
}

impl Choices {
    fn new(options: &DedupOptions) -> Result<Self> {
        let pattern = |pattern: &String| {
            Regex::new(pattern).map_err(|_| Error::InvalidParameter {
                name: "prefer",
                value: pattern.clone(),
                expected: "a regular expression, such as ^curated/ or \\.md$",
            })
        };
        Ok(Self {
            prefixes: options.protect.iter().map(|prefix| NamePrefix::new(prefix)).collect(),
            patterns: options.prefer.iter().map(pattern).collect::<Result<_>>()?,
        })
    }
}

/// True if a document's name begins with the prefix, or the path of its file does.
fn protects(prefix: &NamePrefix, record: &DocumentRecord) -> bool {
    let of_file = || record.source.as_deref().is_some_and(|path| prefix.fits(path).is_some());
    prefix.fits(&record.name).is_some() || (prefix.is_absolute() && of_file())
}

/// Checks that each prefix and pattern fits a document, before hours of work.
///
/// # Errors
/// [`Error::NothingFits`] without the nearest name; [`Error::InvalidParameter`] for a pattern that is not a
/// regular expression; [`Error::Stopped`]; errors from reading the documents.
pub(crate) fn check_choices(store: &Store, options: &DedupOptions, stop: &StopToken) -> Result<()> {
    let choices = Choices::new(options)?;
    let mut protect: Vec<_> = options.protect.iter().zip(&choices.prefixes).collect();
    let mut prefer: Vec<_> = options.prefer.iter().zip(&choices.patterns).collect();
    if protect.is_empty() && prefer.is_empty() {
        return Ok(());
    }
    store.for_each_document(|_, record| {
        stop.check()?;
        protect.retain(|(_, prefix)| !protects(prefix, &record));
        prefer.retain(|(_, pattern)| !pattern.is_match(&record.name));
        Ok(!(protect.is_empty() && prefer.is_empty()))
    })?;
    let (option, value) = match (protect.first(), prefer.first()) {
        (Some((prefix, _)), _) => ("protect", *prefix),
        (None, Some((pattern, _))) => ("prefer", *pattern),
        (None, None) => return Ok(()),
    };
    Err(Error::NothingFits { option, value: value.clone(), nearest: None })
}

/// A time as a number of [`TIME_BITS`] bits; later times have larger numbers. The high 40 bits are seconds,
/// enough for every year of four digits. The low 22 bits are the highest of the 30 bits of the nanoseconds.
fn time_key((seconds, nanoseconds): (i64, u32)) -> u64 {
    const HALF: i64 = 1 << 39;
    let seconds = (seconds.clamp(-HALF, HALF - 1) + HALF) as u64;
    seconds << 22 | u64::from(nanoseconds >> 8)
}

/// The hash of a document's format, its extent, and its number of distinct fingerprints.
fn measures(record: &DocumentRecord) -> (u32, Extent, u32) {
    // A document has fewer than 2^32 fingerprints.
    let count = |fingerprints: u64| u32::try_from(fingerprints).unwrap_or(u32::MAX);
    let extent = Extent::new(count(record.fingerprints), record.symbols);
    (xxh3_64(record.format.as_bytes()) as u32, extent, count(record.structure().distinct))
}

/// The digest of a document's [`reading`].
fn reading_of(record: &DocumentRecord) -> Digest {
    let (format, extent, distinct) = measures(record);
    reading(record.digest, format, extent, distinct)
}

fn ranked(id: u32, record: &DocumentRecord, protected: bool, preferred: Option<u32>) -> RankingKey {
    let metadata = record.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let (format, extent, distinct) = measures(record);
    RankingKey {
        id,
        digest: record.digest,
        format,
        distinct,
        extent,
        protected,
        preferred,
        // The time of a file says nothing about the records in it.
        file_time: record.modified.filter(|_| record.member.is_none()),
        time: DocumentTime::of(metadata, record.modified)
            .unwrap_or(DocumentTime { source: TimeSource::Ingest, time: (record.ingested_at, 0) }),
        pinned: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted_heap;

    /// The sorter of documents and the sorter of twins exist at the same time.
    #[test]
    fn ranking_keeps_to_its_memory() {
        const DOCUMENTS: u32 = 200_000;
        // Memory for buffers of records being read, and the like.
        const BESIDE: u64 = 64 << 10;
        let folder = tempfile::tempdir().unwrap();
        let temp = TempSpace::new(folder.path()).unwrap();
        for memory in [2 << 20, 5 << 20, 12 << 20, 64 << 20] {
            let rank = || {
                let mut keys = Sorter::new(&temp, memory / 2);
                for id in 0..DOCUMENTS {
                    let mixed = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let mut digest = [0; 16];
                    digest[..8].copy_from_slice(&(mixed % 150_000).to_le_bytes());
                    let document = RankingKey {
                        id,
                        digest,
                        format: (mixed >> 40) as u32 % 2,
                        distinct: (mixed >> 50) as u32,
                        extent: Extent::default(),
                        protected: false,
                        preferred: None,
                        file_time: None,
                        time: DocumentTime { source: TimeSource::Ingest, time: (0, 0) },
                        pinned: false,
                    };
                    keys.push(RankKey::of(&document, Keep::Longest)).unwrap();
                }
                Ranking::of_sorted(keys, (DOCUMENTS, &[]), Keep::Longest, None, (&temp, memory / 2)).unwrap()
            };
            let (ranking, peak) = counted_heap::peak(rank);
            assert_eq!(ranking.len(), DOCUMENTS);
            // A list takes three times its size while it grows.
            let listed = 3 * size_of_val(&ranking.same_bytes[..]) as u64;
            let per_document = BYTES_PER_DOCUMENT + BYTES_OF_EXTENT + BYTES_PER_ID;
            let allowed = memory + u64::from(DOCUMENTS) * per_document + listed + BESIDE;
            assert!(listed > 0);
            assert!(peak <= allowed, "{peak} bytes where {allowed} are allowed with {memory}");
        }
    }
}
