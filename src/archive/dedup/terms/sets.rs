//! Sets: the terms of each document, by rank. This is the transposed index: postings are stored by hash, but
//! the join needs them by document.
//!
//! Hashes with the same holders form one *term*: a document holds all of them or none. A digest of the
//! holders is the term's key, so no table of terms is needed. The weight of a term is its number of hashes.
//! The terms of a document are sorted by key, which puts the rarest first.
//!
//! One pass over the postings divides those of shared hashes by rank into partitions, in memory and then on
//! disk. Each partition is small enough to be sorted in the processor's caches. It is then packed: twelve
//! bytes a term, and a few for each run of ordinals.
//!
//! Only then is the number of a document's shared hashes known. If it is below the threshold, no survivor can
//! justify the document's removal: it stays, and its ordinals are not kept.
//!
//! The file is long because the sets and the partitions that they are made of share one packed form.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::archive::dedup::Activity;
use crate::archive::dedup::Monitor;
use crate::archive::dedup::ranking::{ComparedRanks, Extent, Rank};
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

/// Bytes of memory per document: the offsets of its terms, its runs and its
/// [places](crate::archive::dedup::terms::places).
pub(in crate::archive::dedup) const BYTES_PER_DOCUMENT: u64 = 24;

/// Bytes of a posting while documents are collected, and maximum bytes of a posting in the packed sets (a
/// term of its own, and one run).
const BYTES_PER_RECORD: u64 = size_of::<Record>() as u64;
const BYTES_PER_POSTING: u64 = size_of::<Term>() as u64 + 8;

/// Number of postings that can be collected without temporary files.
fn most_in_memory(memory: u64) -> u64 {
    memory / 4 * 3 / BYTES_PER_RECORD.max(BYTES_PER_POSTING)
}

/// Number of records that each thread can sort at a time.
fn room(memory: u64) -> u64 {
    memory / 4 / SORTING_BYTES / rayon::current_num_threads() as u64
}

/// Number of records that may be in one partition, unless a document has more. All postings of its documents
/// count, since it is not known yet which are shared.
fn most_in_partition(postings: u64, memory: u64) -> u64 {
    SORTED_AT_ONCE.min(room(memory)).max(postings / MOST_PARTITIONS).max(1)
}

/// Maximum bytes on disk for this number of postings. A partition is deleted once it is packed, so only the
/// partitions being packed exist twice.
pub(in crate::archive::dedup) fn most_on_disk(postings: u64, memory: u64) -> u64 {
    if postings <= most_in_memory(memory) {
        return 0;
    }
    let packed_at_once = postings.min(most_in_partition(postings, memory) * rayon::current_num_threads() as u64);
    postings * BYTES_PER_RECORD.max(BYTES_PER_POSTING) + packed_at_once * BYTES_PER_RECORD
}

/// The sets, and what else the pass over the postings finds.
pub(in crate::archive::dedup) struct Collected {
    pub(in crate::archive::dedup) sets: Sets,
    /// By rank, true if a survivor may justify the document's removal.
    pub(in crate::archive::dedup) active: Vec<bool>,
    /// Number of hashes above the df cap.
    pub(in crate::archive::dedup) common: u64,
    /// Number of hashes that boilerplate holds.
    pub(in crate::archive::dedup) boilerplate: u64,
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
    /// For each document, its number of terms, the bytes of its runs, and whether it is active.
    lengths: Vec<(u32, u64, bool)>,
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
    /// Reads the postings and collects the terms of each document. `extents` has the extent of every
    /// document, by rank. `is_active` decides, by the number of its shared hashes, whether a document is
    /// active.
    pub(in crate::archive::dedup) fn collect(
        source: &dyn PostingSource,
        (compared, extents): (&ComparedRanks, &[Extent]),
        max_df: Option<u64>,
        is_active: &IsActive<'_>,
        (temp, memory): (&TempSpace, u64),
        monitor: &Monitor<'_>,
    ) -> Result<Collected> {
        let partitions = Partitions::new(extents, (temp, memory));
        let (common, boilerplate, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let ranges = source.ranges();
        // Reading takes as much memory as collecting.
        let least = ranges_per_reader(ranges.len(), extents.len() as Rank, memory).max(1);
        ranges.par_iter().with_min_len(least).try_for_each(|range| {
            let mut reader = HolderReader::new(compared, max_df);
            let mut ranks = Vec::new();
            let mut local = partitions.writer();
            let mut tally = monitor.tally(Activity::Collecting, &done);
            source.visit_batches(range, &mut |batch| {
                tally.add(batch.len() as u64)?;
                reader.read(batch, |hash| {
                    match hash {
                        HashUse::Own => {}
                        HashUse::Common => drop(common.fetch_add(1, Ordering::Relaxed)),
                        HashUse::Boilerplate => drop(boilerplate.fetch_add(1, Ordering::Relaxed)),
                        HashUse::Term(holders) => local.put(holders.key(&mut ranks), holders)?,
                    }
                    Ok(())
                })
            })?;
            local.finish()
        })?;
        let (sets, active) = partitions.pack(is_active, memory, monitor)?;
        Ok(Collected { sets, active, common: common.into_inner(), boilerplate: boilerplate.into_inner() })
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
    /// a lower ordinal too. The ordinals are kept only if the document is active.
    fn add(&mut self, entries: &mut [u128], rank: Rank, is_active: &IsActive<'_>) {
        entries.sort_unstable();
        let hashes = |entries: &[u128]| entries.iter().filter(|&&entry| entry & 1 == 0).count() as u32;
        let active = is_active(rank, hashes(entries));
        let (terms, runs) = (self.terms.len(), self.runs.len());
        for entries in entries.chunk_by(|a, b| key(*a) == key(*b)) {
            self.terms.push(Term::new(key(entries[0]), hashes(entries)));
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
        self.lengths.push(((self.terms.len() - terms) as u32, (self.runs.len() - runs) as u64, active));
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

/// Decides whether a document of this rank with this number of shared hashes is active.
pub(in crate::archive::dedup) type IsActive<'a> = dyn Fn(Rank, u32) -> bool + Sync + 'a;

/// Postings, divided by rank, before they are packed.
struct Partitions<'a> {
    /// For each partition, the first rank after it.
    ends: Vec<Rank>,
    /// For each range of 2^`shift` ranks, the first partition that can hold one of them.
    coarse: Vec<u32>,
    shift: u32,
    partitions: Vec<Partition>,
    /// Number of records so far, and how many of them may stay in memory.
    records: AtomicU64,
    most_in_memory: u64,
    temp: &'a TempSpace,
}

/// The postings of a range of ranks, unordered.
struct Partition {
    ranks: Range<Rank>,
    written: Mutex<Written>,
}

/// The records of a partition: the first ones are in memory, the others in a file.
#[derive(Default)]
struct Written {
    in_memory: Vec<Vec<Record>>,
    file: Option<File>,
    in_file: u64,
}

/// A record of a partition: the rank within the partition, the ordinal, and the key. The highest bit of the
/// rank is set if the document has the hash at a lower ordinal too.
type Record = [u32; 4];

const AGAIN: u32 = 1 << 31;

/// Number of records a thread holds back for a partition: few enough that those of all partitions stay in the
/// caches, and many enough for a write to a file.
const HELD_BACK: usize = 256;

/// Number of records read from a file at a time.
const READ_AT_ONCE: usize = 1 << 14;

/// The partition of a rank is looked up in a table of at most 2^`COARSE_BITS` ranges.
const COARSE_BITS: u32 = 12;

/// Number of records in a partition if memory allows: few enough to stay in the processor's caches during the
/// sort.
const SORTED_AT_ONCE: u64 = 1 << 19;

/// Maximum number of partitions, about, since each can be a file. Little memory does not force more: a
/// partition can be sorted in parts.
const MOST_PARTITIONS: u64 = 256;

/// Bytes of a record while it is sorted: the record if it was in a file, its entry, and its packed form.
const SORTING_BYTES: u64 = BYTES_PER_RECORD + 16 + BYTES_PER_POSTING;

impl<'a> Partitions<'a> {
    fn new(extents: &[Extent], (temp, memory): (&'a TempSpace, u64)) -> Self {
        let fingerprints = |extent: &Extent| u64::from(extent.fingerprints);
        let most = most_in_partition(extents.iter().map(fingerprints).sum(), memory);
        let mut partitions = Vec::new();
        let (mut first, mut held) = (0, 0);
        for (rank, extent) in (0..).zip(extents) {
            if rank > first && (held + fingerprints(extent) > most || rank - first == AGAIN) {
                partitions.push(Partition { ranks: first..rank, written: Mutex::default() });
                (first, held) = (rank, 0);
            }
            held += fingerprints(extent);
        }
        let documents = extents.len();
        partitions.push(Partition { ranks: first..documents as Rank, written: Mutex::default() });
        let ends: Vec<Rank> = partitions.iter().map(|partition| partition.ranks.end).collect();
        let shift = (documents.max(1).ilog2() + 1).saturating_sub(COARSE_BITS);
        let ranges = (documents >> shift) as u32 + 1;
        let first_of = |range: u32| ends.partition_point(|&end| u64::from(end) <= u64::from(range) << shift) as u32;
        let coarse = (0..ranges).map(first_of).collect();
        let (records, most_in_memory) = (AtomicU64::new(0), most_in_memory(memory));
        Self { ends, coarse, shift, partitions, records, most_in_memory, temp }
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

    /// Adds records to a partition.
    fn append(&self, number: usize, records: &mut Vec<Record>) -> Result<()> {
        let more = records.len() as u64;
        let mut written = self.partitions[number].written.lock().unwrap_or_else(PoisonError::into_inner);
        let Written { in_memory, file, in_file } = &mut *written;
        if self.records.fetch_add(more, Ordering::Relaxed) + more <= self.most_in_memory {
            in_memory.push(std::mem::replace(records, Vec::with_capacity(HELD_BACK)));
            return Ok(());
        }
        let file = match file {
            Some(file) => file,
            none => none.insert(self.temp.file()?),
        };
        write_at(file, records, *in_file, self.temp)?;
        *in_file += more;
        records.clear();
        Ok(())
    }

    /// Sorts and packs all partitions, a few at a time. Returns the sets and, by rank, whether each
    /// document is active.
    fn pack(self, is_active: &IsActive<'_>, memory: u64, monitor: &Monitor<'_>) -> Result<(Sets, Vec<bool>)> {
        let Self { ends, partitions, temp, .. } = self;
        let documents = ends.last().copied().unwrap_or(0) as usize;
        let mut active = Vec::with_capacity(documents);
        let room = room(memory);
        let mut sets = Sets {
            starts: Vec::with_capacity(documents + 1),
            run_starts: Vec::with_capacity(documents + 1),
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
                some.into_par_iter().map(|partition| partition.pack(is_active, room, temp)).collect::<Result<_>>()?;
            for (ranks_end, mut packed) in packed {
                let first = (end, runs_end);
                for (terms, runs, is_active) in std::mem::take(&mut packed.lengths) {
                    active.push(is_active);
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
        Ok((sets, active))
    }
}

impl Written {
    /// Calls `visit` with all records, some at a time.
    fn for_each(&self, temp: &TempSpace, mut visit: impl FnMut(&Record)) -> Result<()> {
        self.in_memory.iter().flatten().for_each(&mut visit);
        let Some(file) = &self.file else { return Ok(()) };
        let mut records = vec![Record::default(); READ_AT_ONCE.min(self.in_file as usize)];
        let mut next = 0;
        while next < self.in_file {
            records.truncate((self.in_file - next) as usize);
            read_into(file, next, &mut records, temp)?;
            next += records.len() as u64;
            records.iter().for_each(&mut visit);
        }
        Ok(())
    }
}

impl Partition {
    /// Returns the sets of the partition's documents, and the first rank after them. If the `room`, in
    /// records, is too small for all, it sorts as many documents at a time as it has room for, and reads the
    /// records again for each such part.
    fn pack(self, is_active: &IsActive<'_>, room: u64, temp: &TempSpace) -> Result<(Rank, Packed)> {
        let mut written = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = written.file.take_if(|_| written.in_file <= room) {
            written.in_memory.push(read_at(&file, 0, written.in_file as usize, temp)?);
        }
        let mut counts = vec![0usize; self.ranks.len()];
        written.for_each(temp, |[rank, ..]| counts[(rank & !AGAIN) as usize] += 1)?;
        let mut packed = Packed::default();
        let mut first = 0;
        while first < counts.len() {
            // Offset of each document's first entry; after the entries are placed, offset of the end.
            let (mut ends, mut total) = (Vec::new(), 0);
            for &count in &counts[first..] {
                if !ends.is_empty() && (total + count) as u64 > room {
                    break;
                }
                ends.push(total);
                total += count;
            }
            let mut entries = vec![0u128; total];
            written.for_each(temp, |&[rank, ordinal, high, low]| {
                if let Some(end) = ends.get_mut(((rank & !AGAIN) as usize).wrapping_sub(first)) {
                    let key = u128::from(high) << 32 | u128::from(low);
                    entries[*end] = key << 64 | u128::from(ordinal) << 1 | u128::from(rank >> 31);
                    *end += 1;
                }
            })?;
            let mut start = 0;
            for (rank, &end) in (self.ranks.start + first as Rank..).zip(&ends) {
                packed.add(&mut entries[start..end], rank, is_active);
                start = end;
            }
            first += ends.len();
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
    /// Adds a hash to the sets of its holders.
    fn put(&mut self, key: TermKey, holders: HashHolders<'_>) -> Result<()> {
        for (rank, ordinal, again) in holders.postings() {
            let number = self.partitions.number_of(rank);
            let held_back = &mut self.held_back[number];
            let within = rank - self.partitions.partitions[number].ranks.start;
            held_back.push([within | if again { AGAIN } else { 0 }, ordinal, (key >> 32) as u32, key as u32]);
            if held_back.len() == HELD_BACK {
                self.partitions.append(number, held_back)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        for (number, held_back) in self.held_back.iter_mut().enumerate().filter(|(_, held_back)| !held_back.is_empty())
        {
            held_back.shrink_to_fit();
            self.partitions.append(number, held_back)?;
        }
        Ok(())
    }
}
