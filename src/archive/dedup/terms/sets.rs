//! Sets: the terms of each document, by rank. This is the transposed index: postings are stored by hash, but
//! the join needs them by document.
//!
//! Hashes with the same holders form one *term*: a document holds all of them or none. A digest of the
//! holders is the term's key, so no table of terms is needed. The weight of a term is its number of hashes.
//! The terms of a document are sorted by key, which puts the rarest first.
//!
//! Postings are first divided by rank into partitions, in memory or on disk. Each partition is small enough
//! to be sorted in the processor's caches. It is then packed: twelve bytes a term, and a few for each run of
//! ordinals.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::archive::dedup::Activity;
use crate::archive::dedup::Monitor;
use crate::archive::dedup::ranking::{ComparedRanks, Rank};
use crate::archive::dedup::terms::frequencies::Frequencies;
use crate::archive::dedup::terms::holders::{HashHolders, HashUse, HolderReader, TermKey};
use crate::archive::dedup::terms::source::{PostingSource, ranges_per_reader};
use fpdb_host::error::{Error, Result};
use fpdb_host::spill::{TempSpace, read_at, read_into, write_at};
use fpdb_store::varint;

/// A term of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(in crate::archive::dedup) struct Term {
    /// The key: its high half, then its low half. This layout keeps the struct at twelve bytes.
    key: [u32; 2],
    /// Number of hashes in the term.
    pub(in crate::archive::dedup) weight: u32,
}

impl Term {
    pub(in crate::archive::dedup) fn new(key: TermKey, weight: u32) -> Self {
        Self { key: [(key >> 32) as u32, key as u32], weight }
    }

    pub(in crate::archive::dedup) fn key(&self) -> TermKey {
        u64::from(self.key[0]) << 32 | u64::from(self.key[1])
    }
}

/// Total weight of these terms: the number of fingerprints in them.
pub(in crate::archive::dedup) fn weight(terms: &[Term]) -> u32 {
    terms.iter().map(|term| term.weight).sum()
}

/// Bytes of memory per document while sets are made: counts, and the offsets of its terms and runs. Later the
/// [places](crate::archive::dedup::terms::places) of documents replace the counts.
pub(in crate::archive::dedup) const BYTES_PER_DOCUMENT: u64 = 24;

/// Bytes of a posting while documents are collected, and maximum bytes of a posting in the packed sets (a
/// term of its own, and one run).
const BYTES_PER_RECORD: u64 = size_of::<Record>() as u64;
const BYTES_PER_POSTING: u64 = size_of::<Term>() as u64 + 8;

/// True if this number of postings can be collected without temporary files.
fn fit(postings: u64, memory: u64) -> bool {
    postings * BYTES_PER_RECORD.max(BYTES_PER_POSTING) <= memory / 4 * 3
}

/// Maximum bytes on disk for this number of postings. A partition is deleted once it is packed, so only the
/// partitions being sorted exist twice.
pub(in crate::archive::dedup) fn most_on_disk(postings: u64, memory: u64) -> u64 {
    let sorted_at_once = memory / 4 / SORTING_BYTES * BYTES_PER_RECORD;
    if fit(postings, memory) { 0 } else { postings * BYTES_PER_RECORD.max(BYTES_PER_POSTING) + sorted_at_once }
}

/// The sets of all documents.
pub(in crate::archive::dedup) struct Sets {
    /// By rank, the index of the document's first term; the last element is the end.
    starts: Vec<u64>,
    /// By rank, the byte offset of the document's runs of ordinals; the last element is the end.
    run_starts: Vec<u64>,
    /// The sets in memory, in order of rank.
    parts: Vec<Packed>,
    /// For each part, the first rank after it.
    ends: Vec<Rank>,
    /// The sets of all further ranks.
    on_disk: Option<OnDisk>,
}

/// The sets of consecutive documents.
#[derive(Default)]
struct Packed {
    /// For each document, its number of terms and the bytes of its runs.
    lengths: Vec<(u32, u64)>,
    terms: Vec<Term>,
    runs: Vec<u8>,
}

struct OnDisk {
    terms: File,
    runs: File,
    /// The first term and the first byte of runs on disk, as offsets in [`Sets::starts`] and
    /// [`Sets::run_starts`].
    first: (u64, u64),
    temp: TempSpace,
}

impl Sets {
    /// Reads the postings again and collects the terms of each document. Terms that no `active` document
    /// holds are left out: they justify no removal.
    pub(in crate::archive::dedup) fn collect(
        source: &dyn PostingSource,
        compared: &ComparedRanks,
        frequencies: Frequencies,
        active: &[bool],
        max_df: Option<u64>,
        (temp, memory): (&TempSpace, u64),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let Frequencies { ranges, postings, shared, .. } = frequencies;
        drop(shared);
        let partitions = Partitions::new(&postings, (temp, memory))?;
        drop(postings);
        let done = AtomicU64::new(0);
        // A bit for each document stays in the processor's caches.
        let words: Vec<u64> = active
            .chunks(64)
            .map(|some| (0..).zip(some).fold(0, |word, (bit, &is)| word | u64::from(is) << bit))
            .collect();
        let is_active = |rank: Rank| words[rank as usize / 64] >> (rank % 64) & 1 == 1;
        // Reading takes as much memory as collecting.
        let least = ranges_per_reader(ranges.len(), active.len() as Rank, memory).max(1);
        ranges.par_iter().with_min_len(least).try_for_each(|range| {
            let mut reader = HolderReader::new(compared, max_df);
            let mut ranks = Vec::new();
            let mut local = partitions.writer();
            let mut tally = monitor.tally(Activity::Collecting, &done);
            source.visit_batches(range, &mut |batch| {
                tally.add(batch.len() as u64)?;
                reader.read(batch, |hash| match hash {
                    HashUse::Term(holders) if holders.postings.iter().any(|&(rank, _)| is_active(rank)) => {
                        local.put(holders.key(&mut ranks), holders, is_active)
                    }
                    _ => Ok(()),
                })
            })?;
            local.finish()
        })?;
        partitions.pack(active, memory, monitor)
    }

    /// The terms of a document, ascending by key. If they are on disk they are read into `buffer`.
    pub(in crate::archive::dedup) fn get<'a>(&'a self, rank: Rank, buffer: &'a mut Vec<Term>) -> Result<&'a [Term]> {
        let places = self.starts[rank as usize]..self.starts[rank as usize + 1];
        match (self.part(rank), &self.on_disk) {
            (Some((part, first)), _) => {
                let start = self.starts[first as usize];
                Ok(&part.terms[(places.start - start) as usize..(places.end - start) as usize])
            }
            (None, Some(OnDisk { terms, first, temp, .. })) => {
                buffer.resize((places.end - places.start) as usize, Term::zeroed());
                read_into(terms, places.start - first.0, buffer, temp)?;
                Ok(buffer)
            }
            (None, None) => Ok(&[]),
        }
    }

    /// Calls `visit` with each run of ordinals of a document that was active, and with the index of the run's
    /// term in the set. The runs of a term ascend.
    pub(in crate::archive::dedup) fn runs(&self, rank: Rank, mut visit: impl FnMut(usize, Range<u32>)) -> Result<()> {
        let places = self.run_starts[rank as usize]..self.run_starts[rank as usize + 1];
        let read;
        let mut bytes = match (self.part(rank), &self.on_disk) {
            (Some((part, first)), _) => {
                let start = self.run_starts[first as usize];
                &part.runs[(places.start - start) as usize..(places.end - start) as usize]
            }
            (None, Some(OnDisk { runs, first, temp, .. })) => {
                read = read_at::<u8>(runs, places.start - first.1, (places.end - places.start) as usize, temp)?;
                &read[..]
            }
            (None, None) => &[],
        };
        let mut next = || varint::read(&mut bytes).and_then(|value| u32::try_from(value).ok());
        let terms = self.starts[rank as usize + 1] - self.starts[rank as usize];
        if places.is_empty() {
            return Ok(());
        }
        let mut unpack = || {
            for term in 0..terms as usize {
                let mut end = 0u32;
                for _ in 0..next()? {
                    let start = end.checked_add(next()?)?;
                    end = start.checked_add(next()?)?;
                    visit(term, start..end);
                }
            }
            Some(())
        };
        unpack().ok_or_else(|| Error::Damaged {
            what: "a temporary file of dedup".into(),
            detail: "the ordinals of a document end early",
        })
    }

    /// The part that holds a document, and the first rank of the part. `None` if the document is on disk.
    fn part(&self, rank: Rank) -> Option<(&Packed, Rank)> {
        let number = self.ends.partition_point(|&end| end <= rank);
        let first = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.parts.get(number).map(|part| (part, first))
    }

    /// Total number of terms of all documents.
    pub(in crate::archive::dedup) fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Bytes of memory that the sets take.
    pub(in crate::archive::dedup) fn bytes(&self) -> u64 {
        self.parts.iter().map(Packed::bytes).sum()
    }
}

impl Packed {
    fn bytes(&self) -> u64 {
        (size_of_val(&self.terms[..]) + self.runs.len()) as u64
    }

    /// Adds a document. An entry is a key, an ordinal, and a bit that is set if the document has the hash at
    /// a lower ordinal too. The ordinals are kept only if the document is `active`.
    fn add(&mut self, entries: &mut [u128], active: bool) {
        entries.sort_unstable();
        let (terms, runs) = (self.terms.len(), self.runs.len());
        for entries in entries.chunk_by(|a, b| key(*a) == key(*b)) {
            let weight = entries.iter().filter(|&&entry| entry & 1 == 0).count() as u32;
            self.terms.push(Term::new(key(entries[0]), weight));
            if active {
                let follow = |a: &u128, b: &u128| ordinal(*a) + 1 == ordinal(*b);
                varint::write(entries.chunk_by(follow).count() as u64, &mut self.runs);
                let mut end = 0;
                for run in entries.chunk_by(follow) {
                    varint::write(u64::from(ordinal(run[0]) - end), &mut self.runs);
                    varint::write(run.len() as u64, &mut self.runs);
                    end = ordinal(run[0]) + run.len() as u32;
                }
            }
        }
        self.lengths.push(((self.terms.len() - terms) as u32, (self.runs.len() - runs) as u64));
    }
}

/// The key of an entry.
fn key(entry: u128) -> TermKey {
    (entry >> 64) as u64
}

/// The ordinal of an entry.
fn ordinal(entry: u128) -> u32 {
    (entry >> 1) as u32
}

/// Postings, divided by rank, before they are packed.
struct Partitions<'a> {
    /// For each partition, the first rank after it.
    ends: Vec<Rank>,
    /// For each range of 2^`shift` ranks, the first partition that can hold one of them.
    coarse: Vec<u32>,
    shift: u32,
    partitions: Vec<Partition>,
    /// Number of records that a thread holds back for a partition before it writes them.
    held_back: usize,
    temp: &'a TempSpace,
}

/// The postings of a range of ranks, unordered.
struct Partition {
    ranks: Range<Rank>,
    /// The file of the records; `None` if they are in memory.
    file: Option<File>,
    records: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    in_memory: Vec<Record>,
    in_file: u64,
}

/// A record of a partition: the rank within the partition, the ordinal, and the key. The highest bit of the
/// rank is set if the document has the hash at a lower ordinal too.
type Record = [u32; 4];

const AGAIN: u32 = 1 << 31;

/// Number of records a thread holds back for a partition in memory: few enough that the records of all
/// partitions stay in the caches. For a partition in a file the number is larger, since each write is a
/// system call.
const HELD_BACK: usize = 128;
const HELD_BACK_FOR_FILE: usize = 512;

/// The partition of a rank is looked up in a table of at most 2^`COARSE_BITS` ranges.
const COARSE_BITS: u32 = 12;

/// Number of records in a partition if memory allows: few enough to stay in the processor's caches during the
/// sort.
const SORTED_AT_ONCE: u64 = 1 << 19;

/// Maximum number of partitions, since each can be a file. Little memory can force more.
const MOST_PARTITIONS: u64 = 256;

/// Bytes of a record while its partition is sorted: the record, its entry, and its packed form.
const SORTING_BYTES: u64 = BYTES_PER_RECORD + 16 + BYTES_PER_POSTING;

impl<'a> Partitions<'a> {
    fn new(postings: &[u32], (temp, memory): (&'a TempSpace, u64)) -> Result<Self> {
        let total: u64 = postings.iter().map(|&count| u64::from(count)).sum();
        let in_memory = fit(total, memory);
        let room = memory / 4 / SORTING_BYTES / rayon::current_num_threads() as u64;
        let most = SORTED_AT_ONCE.max(total / MOST_PARTITIONS).min(room).max(1);
        let mut partitions = Vec::new();
        let (mut first, mut held) = (0, 0);
        for (rank, &count) in (0..).zip(postings) {
            if rank > first && (held + u64::from(count) > most || rank - first == AGAIN) {
                partitions.push(Partition::new(first..rank, held, in_memory, temp)?);
                (first, held) = (rank, 0);
            }
            held += u64::from(count);
        }
        partitions.push(Partition::new(first..postings.len() as Rank, held, in_memory, temp)?);
        let ends: Vec<Rank> = partitions.iter().map(|partition| partition.ranks.end).collect();
        let shift = (postings.len().max(1).ilog2() + 1).saturating_sub(COARSE_BITS);
        let ranges = (postings.len() >> shift) as u32 + 1;
        let first_of = |range: u32| ends.partition_point(|&end| u64::from(end) <= u64::from(range) << shift) as u32;
        let coarse = (0..ranges).map(first_of).collect();
        let held_back = if in_memory { HELD_BACK } else { HELD_BACK_FOR_FILE };
        Ok(Self { ends, coarse, shift, partitions, held_back, temp })
    }

    /// The index of the partition that holds a rank.
    fn number_of(&self, rank: Rank) -> usize {
        let mut number = self.coarse[(rank >> self.shift) as usize] as usize;
        while self.ends[number] <= rank {
            number += 1;
        }
        number
    }

    fn writer(&self) -> PartitionWriter<'_> {
        PartitionWriter { partitions: self, held_back: self.partitions.iter().map(|_| Vec::new()).collect() }
    }

    /// Sorts and packs all partitions, a few at a time.
    fn pack(self, active: &[bool], memory: u64, monitor: &Monitor<'_>) -> Result<Sets> {
        let Self { partitions, temp, .. } = self;
        let mut sets = Sets {
            starts: Vec::with_capacity(active.len() + 1),
            run_starts: Vec::with_capacity(active.len() + 1),
            parts: Vec::new(),
            ends: Vec::new(),
            on_disk: None,
        };
        let (mut end, mut runs_end) = (0, 0);
        let mut bytes = 0;
        let mut partitions = partitions.into_iter();
        loop {
            monitor.check()?;
            let some: Vec<Partition> = partitions.by_ref().take(rayon::current_num_threads()).collect();
            if some.is_empty() {
                break;
            }
            let packed: Vec<(Rank, Packed)> =
                some.into_par_iter().map(|partition| partition.pack(active, temp)).collect::<Result<_>>()?;
            for (ranks_end, mut packed) in packed {
                let first = (end, runs_end);
                for (terms, runs) in std::mem::take(&mut packed.lengths) {
                    sets.starts.push(end);
                    sets.run_starts.push(runs_end);
                    end += u64::from(terms);
                    runs_end += runs;
                }
                bytes += packed.bytes();
                if sets.on_disk.is_none() && bytes <= memory / 4 * 3 {
                    packed.terms.shrink_to_fit();
                    packed.runs.shrink_to_fit();
                    sets.parts.push(packed);
                    sets.ends.push(ranks_end);
                    continue;
                }
                let on_disk = match &mut sets.on_disk {
                    Some(on_disk) => on_disk,
                    none => none.insert(OnDisk { terms: temp.file()?, runs: temp.file()?, first, temp: temp.clone() }),
                };
                write_at(&on_disk.terms, &packed.terms, first.0 - on_disk.first.0, temp)?;
                write_at(&on_disk.runs, &packed.runs, first.1 - on_disk.first.1, temp)?;
            }
        }
        sets.starts.push(end);
        sets.run_starts.push(runs_end);
        Ok(sets)
    }
}

impl Partition {
    fn new(ranks: Range<Rank>, most: u64, in_memory: bool, temp: &TempSpace) -> Result<Self> {
        let file = if in_memory { None } else { Some(temp.file()?) };
        let room = if in_memory { most as usize } else { 0 };
        let written = Written { in_memory: Vec::with_capacity(room), in_file: 0 };
        Ok(Self { ranks, file, records: Mutex::new(written) })
    }

    fn append(&self, records: &mut Vec<Record>, temp: &TempSpace) -> Result<()> {
        let mut written = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.file {
            None => written.in_memory.append(records),
            Some(file) => {
                write_at(file, records, written.in_file, temp)?;
                written.in_file += records.len() as u64;
                records.clear();
            }
        }
        Ok(())
    }

    /// Returns the sets of the partition's documents, and the first rank after them.
    fn pack(self, active: &[bool], temp: &TempSpace) -> Result<(Rank, Packed)> {
        let Written { in_memory, in_file } = self.records.into_inner().unwrap_or_else(PoisonError::into_inner);
        let records = match &self.file {
            None => in_memory,
            Some(file) => read_at::<Record>(file, 0, in_file as usize, temp)?,
        };
        // Offset of each document's first entry; after the entries are placed, offset of the end.
        let mut ends = vec![0usize; self.ranks.len() + 1];
        for [rank, ..] in &records {
            ends[(rank & !AGAIN) as usize + 1] += 1;
        }
        for index in 1..ends.len() {
            ends[index] += ends[index - 1];
        }
        let mut entries = vec![0u128; records.len()];
        for &[rank, ordinal, high, low] in &records {
            let end = &mut ends[(rank & !AGAIN) as usize];
            let key = u128::from(high) << 32 | u128::from(low);
            entries[*end] = key << 64 | u128::from(ordinal) << 1 | u128::from(rank >> 31);
            *end += 1;
        }
        drop(records);
        let mut packed = Packed::default();
        let mut start = 0;
        for (rank, &end) in self.ranks.clone().zip(&ends) {
            packed.add(&mut entries[start..end], active[rank as usize]);
            start = end;
        }
        Ok((self.ranks.end, packed))
    }
}

/// The view one thread has of the partitions, with its unwritten records.
struct PartitionWriter<'a> {
    partitions: &'a Partitions<'a>,
    /// For each partition, the records not yet written.
    held_back: Vec<Vec<Record>>,
}

impl PartitionWriter<'_> {
    /// Adds a hash to the sets of its holders. For a document that is not active, one posting is enough,
    /// since its places are never read.
    fn put(&mut self, key: TermKey, holders: HashHolders<'_>, is_active: impl Fn(Rank) -> bool) -> Result<()> {
        let Partitions { partitions, temp, held_back: most, .. } = self.partitions;
        for (rank, ordinal, again) in holders.postings() {
            if again && !is_active(rank) {
                continue;
            }
            let number = self.partitions.number_of(rank);
            let held_back = &mut self.held_back[number];
            let within = rank - partitions[number].ranks.start;
            held_back.push([within | if again { AGAIN } else { 0 }, ordinal, (key >> 32) as u32, key as u32]);
            if held_back.len() == *most {
                partitions[number].append(held_back, temp)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        let Partitions { partitions, temp, .. } = self.partitions;
        for (partition, held_back) in partitions.iter().zip(&mut self.held_back) {
            partition.append(held_back, temp)?;
        }
        Ok(())
    }
}
