//! Partitions: the postings of shared hashes, divided by rank before they are packed.
//!
//! A pass over the postings visits them by hash, and divides them into partitions, first in memory and then
//! on disk. If memory allows, each partition is small enough to be sorted in the processor's caches. A
//! partition is then sorted and packed as the sets of its documents.
//!
//! A quarter of the memory is for sorting and packing. With many threads or many postings, a partition may
//! not fit in one thread's share of this quarter. Such a partition is first divided, on disk, into parts that
//! fit. All parts packed at one time fit in the quarter together. So do their sets, until the sets are
//! stored.

use std::collections::VecDeque;
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::vec;

use rayon::prelude::*;

use crate::ranking::{Extent, Rank};
use crate::terms::holders::{HashHolders, TermKey};
use crate::terms::sets::{BYTES_PER_POSTING, IsActive, Packed};
use fpdb_host::error::Result;
use fpdb_host::spill::{TempSpace, read_at, read_into, write_at};

const BYTES_PER_RECORD: u64 = size_of::<Record>() as u64;

/// Bytes of memory to sort a record that is in memory, and a record that is in a file. Both need an entry and
/// the packed form. A record from a file also needs its own bytes.
const SORTING_BYTES: (u64, u64) = (16 + BYTES_PER_POSTING, 16 + BYTES_PER_POSTING + BYTES_PER_RECORD);

/// Number of postings that can be collected without temporary files.
fn most_in_memory(memory: u64) -> u64 {
    memory / 4 * 3 / BYTES_PER_RECORD.max(BYTES_PER_POSTING)
}

/// Number of records that each thread can sort at a time.
fn room(memory: u64) -> u64 {
    memory / 4 / SORTING_BYTES.1 / rayon::current_num_threads() as u64
}

/// Maximum number of records in a partition, unless one document has more. All postings of the partition's
/// documents count, since it is not known yet which of them are shared.
fn most_in_partition(postings: u64, memory: u64) -> u64 {
    SORTED_AT_ONCE.min(room(memory)).max(postings / MOST_PARTITIONS).max(1)
}

/// Maximum bytes on disk for this number of postings. A partition is deleted once it is packed, or divided
/// into parts, so only the partitions being packed exist twice.
pub(crate) fn most_on_disk(postings: u64, memory: u64) -> u64 {
    if postings <= most_in_memory(memory) {
        return 0;
    }
    let packed_at_once = postings.min(most_in_partition(postings, memory) * rayon::current_num_threads() as u64);
    postings * BYTES_PER_RECORD.max(BYTES_PER_POSTING) + packed_at_once * BYTES_PER_RECORD
}

/// Postings, divided by rank.
pub(super) struct Partitions<'a> {
    /// For each partition, the first rank after it.
    ends: Vec<Rank>,
    /// For each range of 2^`shift` ranks, the first partition that holds one of these ranks.
    coarse: Vec<u32>,
    shift: u32,
    partitions: Vec<Partition>,
    /// Number of records so far, and maximum number of records in memory.
    records: AtomicU64,
    most_in_memory: u64,
    /// Number of records a thread holds back for a partition.
    held_back: usize,
    temp: &'a TempSpace,
    /// Bytes of memory for packing.
    packing: u64,
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
    /// The parts of a divided partition share a file.
    file: Option<Arc<File>>,
    /// The index of the first record in the file, and the number of records there.
    first: u64,
    in_file: u64,
}

/// A record of a partition: the rank within the partition, the ordinal, and the key. The highest bit of the
/// rank is set if the document has the hash at a lower ordinal too.
type Record = [u32; 4];

const AGAIN: u32 = 1 << 31;

/// Minimum and maximum number of records that a thread holds back for a partition. The records held back for
/// all partitions must stay in the caches. A write to a file must be large enough to be worth its fixed cost.
const HELD_BACK: (u64, u64) = (16, 256);

/// Number of records read from a file at a time.
const READ_AT_ONCE: usize = 1 << 14;

/// Minimum number of records that a thread has room for, unless the memory for all threads has room for
/// fewer. If the shares of all threads would be smaller, fewer threads work, because small shares make too
/// many parts.
const LEAST_ROOM: u64 = 1 << 10;

/// The partition of a rank is looked up in a table of at most 2^`COARSE_BITS` ranges.
const COARSE_BITS: u32 = 12;

/// Number of records in a partition if memory allows: few enough to stay in the processor's caches during the
/// sort.
const SORTED_AT_ONCE: u64 = 1 << 19;

/// Approximate maximum number of partitions, since each can be a file. With little memory, more partitions
/// are not needed, because a partition can be sorted in parts.
const MOST_PARTITIONS: u64 = 256;

impl<'a> Partitions<'a> {
    pub(super) fn new(extents: &[Extent], (temp, memory): (&'a TempSpace, u64)) -> Self {
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
        let packing = memory / 4;
        let writers = rayon::current_num_threads() as u64 * partitions.len() as u64;
        let held_back = (packing / BYTES_PER_RECORD / writers).clamp(HELD_BACK.0, HELD_BACK.1) as usize;
        Self { ends, coarse, shift, partitions, records, most_in_memory, held_back, temp, packing }
    }

    /// The index of the partition that holds a rank.
    fn number_of(&self, rank: Rank) -> usize {
        let mut number = self.coarse[(rank >> self.shift) as usize] as usize;
        while self.ends[number] <= rank {
            number += 1;
        }
        number
    }

    pub(super) fn writer(&self) -> PartitionWriter<'_> {
        PartitionWriter { partitions: self, held_back: self.partitions.iter().map(|_| Vec::new()).collect() }
    }

    /// Adds records to a partition.
    fn append(&self, number: usize, records: &mut Vec<Record>) -> Result<()> {
        let more = records.len() as u64;
        let mut written = self.partitions[number].written.lock().unwrap_or_else(PoisonError::into_inner);
        let Written { in_memory, file, in_file, .. } = &mut *written;
        if self.records.fetch_add(more, Ordering::Relaxed) + more <= self.most_in_memory {
            in_memory.push(std::mem::replace(records, Vec::with_capacity(self.held_back)));
            return Ok(());
        }
        let file = match file {
            Some(file) => file,
            none => none.insert(Arc::new(self.temp.file()?)),
        };
        write_at(file, records, *in_file, self.temp)?;
        *in_file += more;
        records.clear();
        Ok(())
    }

    /// Ends the collection, and returns the packer of the partitions.
    pub(super) fn packing(self, is_active: &'a IsActive<'a>) -> Packing<'a> {
        let Self { partitions, temp, packing, .. } = self;
        let threads = rayon::current_num_threads() as u64;
        let share = (packing / threads).max(packing.min(LEAST_ROOM * SORTING_BYTES.1)).max(1);
        Packing {
            partitions: partitions.into_iter(),
            parts: VecDeque::new(),
            is_active,
            temp,
            memory: packing,
            share,
            threads: (packing / share).clamp(1, threads) as usize,
        }
    }
}

/// Sorts and packs partitions.
pub(super) struct Packing<'a> {
    partitions: vec::IntoIter<Partition>,
    /// The next partitions, or parts of them.
    parts: VecDeque<Partition>,
    is_active: &'a IsActive<'a>,
    temp: &'a TempSpace,
    /// Bytes of memory for all threads, and for each.
    memory: u64,
    share: u64,
    /// Number of threads that have a share.
    threads: usize,
}

impl Packing<'_> {
    /// Returns the packed sets of the next partitions, or of parts of partitions, as many as the memory has
    /// room for. Each has the first rank after it. `None` after the last.
    pub(super) fn some(&mut self) -> Result<Option<Vec<(Rank, Packed)>>> {
        if self.parts.is_empty() {
            let some: Vec<Partition> = self.partitions.by_ref().take(self.threads).collect();
            let (share, memory, temp) = (self.share, self.memory, self.temp);
            let divide = |partition: Partition| partition.parts((share, memory), temp);
            let divided: Vec<Vec<Partition>> = some.into_par_iter().map(divide).collect::<Result<_>>()?;
            self.parts.extend(divided.into_iter().flatten());
        }
        let mut some = Vec::new();
        let mut bytes = 0;
        while some.len() < self.threads
            && let Some(part) = self.parts.front_mut()
        {
            bytes += part.written().sorting_bytes();
            if bytes > self.memory && !some.is_empty() {
                break;
            }
            some.extend(self.parts.pop_front());
        }
        if some.is_empty() {
            return Ok(None);
        }
        let (is_active, temp) = (self.is_active, self.temp);
        some.into_par_iter().map(|part| part.pack(is_active, temp)).collect::<Result<_>>().map(Some)
    }
}

impl Written {
    /// Number of records.
    fn len(&self) -> u64 {
        self.in_memory.iter().map(|records| records.len() as u64).sum::<u64>() + self.in_file
    }

    /// Bytes of memory for sorting and packing all records.
    fn sorting_bytes(&self) -> u64 {
        (self.len() - self.in_file) * SORTING_BYTES.0 + self.in_file * SORTING_BYTES.1
    }

    /// Calls `visit` with all records, some at a time.
    fn for_each(&self, temp: &TempSpace, mut visit: impl FnMut(&Record)) -> Result<()> {
        self.in_memory.iter().flatten().for_each(&mut visit);
        let Some(file) = &self.file else { return Ok(()) };
        let mut records = vec![Record::default(); READ_AT_ONCE.min(self.in_file as usize)];
        let mut next = 0;
        while next < self.in_file {
            records.truncate((self.in_file - next) as usize);
            read_into(file, self.first + next, &mut records, temp)?;
            next += records.len() as u64;
            records.iter().for_each(&mut visit);
        }
        Ok(())
    }
}

impl Partition {
    fn written(&mut self) -> &mut Written {
        self.written.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// By document, the number of its records.
    fn counts(&mut self, temp: &TempSpace) -> Result<Vec<u32>> {
        let mut counts = vec![0; self.ranks.len()];
        self.written().for_each(temp, |[rank, ..]| counts[(rank & !AGAIN) as usize] += 1)?;
        Ok(counts)
    }

    /// Divides the partition into parts that one thread has room for. Each part takes at most `share` bytes,
    /// or is one document. A partition in memory stays whole if it takes at most `memory` bytes, since parts
    /// go to disk.
    fn parts(mut self, (share, memory): (u64, u64), temp: &TempSpace) -> Result<Vec<Self>> {
        let written = self.written();
        let bytes = if written.in_file > 0 { share } else { memory };
        if written.sorting_bytes() <= bytes || self.ranks.len() <= 1 {
            return Ok(vec![self]);
        }
        let mut parts: Vec<Self> = Vec::new();
        let (mut first, mut records) = (0, 0);
        let room = share / SORTING_BYTES.1;
        let mut part_of = self.counts(temp)?;
        for (rank, part) in (self.ranks.start..).zip(&mut part_of) {
            let count = u64::from(*part);
            match parts.last_mut() {
                Some(part) if records + count <= room => {
                    part.ranks.end = rank + 1;
                    records += count;
                }
                _ => {
                    first += records;
                    records = count;
                    let written = Written { first, ..Written::default() };
                    parts.push(Self { ranks: rank..rank + 1, written: Mutex::new(written) });
                }
            }
            *part = parts.len() as u32 - 1;
        }
        let file = Arc::new(temp.file()?);
        parts.iter_mut().for_each(|part| part.written().file = Some(Arc::clone(&file)));
        let at_once = usize::try_from(share / 2 / BYTES_PER_RECORD).unwrap_or(usize::MAX).max(1);
        let mut records: Vec<Record> = Vec::with_capacity(at_once.min(self.written().len() as usize));
        let base = self.ranks.start;
        let mut outcome = Ok(());
        self.written().for_each(temp, |&record| {
            if outcome.is_ok() {
                records.push(record);
            }
            if records.len() == at_once && outcome.is_ok() {
                outcome = divide(&mut records, (base, &part_of), &mut parts, temp);
            }
        })?;
        outcome?;
        divide(&mut records, (base, &part_of), &mut parts, temp)?;
        Ok(parts)
    }

    /// Returns the sets of the documents, and the first rank after them.
    fn pack(mut self, is_active: &IsActive<'_>, temp: &TempSpace) -> Result<(Rank, Packed)> {
        let one = self.ranks.len() == 1;
        let written = self.written();
        // A partition of one document can be large: its records stay in the file and are read twice.
        if let Some(file) = written.file.take_if(|_| !one) {
            written.in_memory.push(read_at(&file, written.first, written.in_file as usize, temp)?);
            written.in_file = 0;
        }
        // Offset of each document's first entry; after the entries are placed, offset of the end.
        let mut total = 0;
        let start_of = |count: u32| {
            total += count as usize;
            total - count as usize
        };
        let mut ends: Vec<usize> = self.counts(temp)?.into_iter().map(start_of).collect();
        let mut entries = vec![0u128; total];
        self.written().for_each(temp, |&[rank, ordinal, high, low]| {
            let end = &mut ends[(rank & !AGAIN) as usize];
            let key = u128::from(high) << 32 | u128::from(low);
            entries[*end] = key << 64 | u128::from(ordinal) << 1 | u128::from(rank >> 31);
            *end += 1;
        })?;
        let mut packed = Packed::default();
        let mut start = 0;
        for (rank, &end) in (self.ranks.start..).zip(&ends) {
            packed.add(&mut entries[start..end], rank, is_active);
            start = end;
        }
        Ok((self.ranks.end, packed))
    }
}

/// Appends records of a partition to its parts. `base` is the partition's first rank, and `part_of` has the
/// part of each document. Leaves `records` empty.
fn divide(
    records: &mut Vec<Record>,
    (base, part_of): (Rank, &[u32]),
    parts: &mut [Partition],
    temp: &TempSpace,
) -> Result<()> {
    let part_of = |record: &Record| part_of[(record[0] & !AGAIN) as usize];
    records.sort_unstable_by_key(part_of);
    for some in records.chunk_by_mut(|a, b| part_of(a) == part_of(b)) {
        let part = &mut parts[part_of(&some[0]) as usize];
        some.iter_mut().for_each(|record| record[0] -= part.ranks.start - base);
        let written = part.written();
        if let Some(file) = &written.file {
            write_at(file, some, written.first + written.in_file, temp)?;
        }
        written.in_file += some.len() as u64;
    }
    records.clear();
    Ok(())
}

/// Collects the records of one thread, and writes them to the partitions.
pub(super) struct PartitionWriter<'a> {
    partitions: &'a Partitions<'a>,
    /// For each partition, the records not yet written.
    held_back: Vec<Vec<Record>>,
}

impl PartitionWriter<'_> {
    /// Adds a hash to the sets of its holders.
    pub(super) fn put(&mut self, key: TermKey, holders: HashHolders<'_>) -> Result<()> {
        for (rank, ordinal, again) in holders.postings() {
            let number = self.partitions.number_of(rank);
            let held_back = &mut self.held_back[number];
            let within = rank - self.partitions.partitions[number].ranks.start;
            held_back.push([within | if again { AGAIN } else { 0 }, ordinal, (key >> 32) as u32, key as u32]);
            if held_back.len() == self.partitions.held_back {
                self.partitions.append(number, held_back)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        for (number, held_back) in self.held_back.iter_mut().enumerate().filter(|(_, held_back)| !held_back.is_empty())
        {
            held_back.shrink_to_fit();
            self.partitions.append(number, held_back)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
