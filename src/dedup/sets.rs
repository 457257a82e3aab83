//! Sets: the terms of each document, by rank. This is the transposed index: postings come by hash, the join needs them by
//! document.
//!
//! An entry is a term (high half) and the ordinal of a fingerprint (low half). The entries of a document are sorted, so that
//! its rarest terms come first. Where all entries fit in memory they are put in their places at once. Otherwise they are
//! first divided by rank into partitions on disk, each of which fits, and each partition is then sorted in memory.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::frequencies::{Frequencies, HashHolders, HashUse, Terms};
use super::ranking::{Rank, Ranking};
use super::source::{PostingSource, ranges_per_reader};
use super::{Activity, Monitor};
use crate::error::Result;
use crate::spill::{TempSpace, read_at, read_into, write_at};

/// A term and an ordinal.
pub(super) type TermEntry = u64;

/// The term of an entry.
pub(super) fn term(entry: TermEntry) -> u32 {
    (entry >> 32) as u32
}

/// The ordinal of an entry.
pub(super) fn ordinal(entry: TermEntry) -> u32 {
    entry as u32
}

/// The distinct terms of sorted entries, ascending.
pub(super) fn distinct(entries: &[TermEntry]) -> impl Iterator<Item = u32> + '_ {
    let mut last = None;
    entries.iter().map(|&entry| term(entry)).filter(move |&term| last.replace(term) != Some(term))
}

/// Bytes of memory that each document takes here, while sets are made and later.
pub(super) const BYTES_PER_DOCUMENT: u64 = 24;

/// Bytes of an entry, and of what is written of it before sets are sorted on disk.
pub(super) const BYTES_PER_POSTING: u64 = size_of::<TermEntry>() as u64;
pub(super) const BYTES_PER_RECORD: u64 = size_of::<Record>() as u64;

/// The sets of all documents.
pub(super) struct Sets {
    pub(super) terms: Terms,
    /// By rank, where the entries of a document begin, and at last the end.
    starts: Vec<u64>,
    /// By rank, the number of entries.
    lengths: Vec<u32>,
    entries: Entries,
}

enum Entries {
    InMemory(Vec<TermEntry>),
    OnDisk(File, TempSpace),
}

/// Where entries on their way are put.
struct EntryWriter<'a> {
    starts: &'a [u64],
    lengths: Vec<AtomicU32>,
    target: Target<'a>,
}

enum Target<'a> {
    Memory(Vec<AtomicU64>),
    Partitions(Vec<Partition>, &'a TempSpace),
}

/// The entries of a range of ranks, on disk, in no order.
struct Partition {
    ranks: Range<Rank>,
    file: File,
    written: Mutex<u64>,
}

/// Partition records that one thread holds back before it writes them.
const HELD_BACK: usize = 1 << 12;

/// A record of a partition: a rank and an entry.
type Record = [u32; 3];

impl Sets {
    /// Reads the postings again and collects the terms of each document. Terms that no `active` document holds are left out:
    /// they justify no removal.
    pub(super) fn collect(
        source: &dyn PostingSource,
        ranking: &Ranking,
        frequencies: Frequencies,
        active: &[bool],
        max_df: Option<u64>,
        (temp, memory): (&TempSpace, u64),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (firsts, terms) = frequencies.number()?;
        let Frequencies { ranges, postings, .. } = frequencies;
        let mut starts = Vec::with_capacity(postings.len() + 1);
        let mut total = 0;
        starts.push(0);
        starts.extend(postings.iter().map(|&count| {
            total += u64::from(count);
            total
        }));
        drop(postings);
        let writer = EntryWriter::new(&starts, total, temp, memory)?;
        let done = AtomicU64::new(0);
        // Reading takes as much memory as collecting.
        let least = ranges_per_reader(ranges.len(), ranking.len(), memory).max(1);
        ranges.par_iter().zip(firsts).with_min_len(least).try_for_each(|(range, mut next)| {
            let mut holders = HashHolders::default();
            let mut local = writer.local();
            let mut tally = monitor.tally(Activity::Collecting, &done);
            source.visit_hashes(range, &mut |_, held| {
                tally.add(held.len() as u64)?;
                if holders.take(held, ranking, max_df) != HashUse::Term {
                    return Ok(());
                }
                let next = next.entry(holders.df).or_default();
                let number = *next;
                *next += 1;
                if holders.postings.iter().any(|&(rank, _)| active[rank as usize]) {
                    local.put(number, &holders.postings, active)?;
                }
                Ok(())
            })?;
            local.finish()
        })?;
        writer.finish(terms, monitor)
    }

    /// The sorted entries of a document. `buffer` holds them where they are read from disk.
    pub(super) fn get<'a>(&'a self, rank: Rank, buffer: &'a mut Vec<TermEntry>) -> Result<&'a [TermEntry]> {
        let (start, length) = (self.starts[rank as usize], self.lengths[rank as usize] as usize);
        match &self.entries {
            Entries::InMemory(entries) => Ok(&entries[start as usize..start as usize + length]),
            Entries::OnDisk(file, temp) => {
                buffer.resize(length, 0);
                read_into(file, start, buffer, temp)?;
                Ok(buffer)
            }
        }
    }

    /// Bytes of memory that the entries take.
    pub(super) fn bytes(&self) -> u64 {
        match &self.entries {
            Entries::InMemory(entries) => size_of_val(&entries[..]) as u64,
            Entries::OnDisk(..) => 0,
        }
    }
}

impl<'a> EntryWriter<'a> {
    fn new(starts: &'a [u64], total: u64, temp: &'a TempSpace, memory: u64) -> Result<Self> {
        let ranks = starts.len() - 1;
        let bytes = |entries: u64| entries * size_of::<TermEntry>() as u64;
        let target = if bytes(total) <= memory {
            Target::Memory((0..total).map(|_| AtomicU64::new(0)).collect())
        } else {
            // As many entries in one as fit beside the records that are read for them.
            let most = (memory / 4 * 3 / size_of::<TermEntry>() as u64).max(1);
            let mut partitions = Vec::new();
            let mut first = 0;
            while first < ranks {
                let after = starts.partition_point(|&start| start <= starts[first] + most) - 1;
                let end = after.max(first + 1).min(ranks);
                let ranks = first as Rank..end as Rank;
                partitions.push(Partition { ranks, file: temp.file()?, written: Mutex::new(0) });
                first = end;
            }
            Target::Partitions(partitions, temp)
        };
        Ok(Self { starts, lengths: (0..ranks).map(|_| AtomicU32::new(0)).collect(), target })
    }

    fn local(&self) -> LocalWriter<'_> {
        let partitions = match &self.target {
            Target::Memory(_) => 0,
            Target::Partitions(partitions, _) => partitions.len(),
        };
        LocalWriter { writer: self, held_back: (0..partitions).map(|_| Vec::new()).collect() }
    }

    fn finish(self, terms: Terms, monitor: &Monitor<'_>) -> Result<Sets> {
        let Self { starts, lengths, target } = self;
        let lengths: Vec<u32> = lengths.into_iter().map(AtomicU32::into_inner).collect();
        let (partitions, temp) = match target {
            Target::Memory(entries) => {
                let mut entries: Vec<TermEntry> = entries.into_iter().map(AtomicU64::into_inner).collect();
                let mut rest = &mut entries[..];
                let mut sets = Vec::with_capacity(lengths.len());
                for (rank, &length) in lengths.iter().enumerate() {
                    let (room, after) = rest.split_at_mut((starts[rank + 1] - starts[rank]) as usize);
                    sets.push(&mut room[..length as usize]);
                    rest = after;
                }
                sets.into_par_iter().for_each(<[TermEntry]>::sort_unstable);
                return Ok(Sets { terms, starts: starts.to_vec(), lengths, entries: Entries::InMemory(entries) });
            }
            Target::Partitions(partitions, temp) => (partitions, temp),
        };
        let file = temp.file()?;
        let mut compact = Vec::with_capacity(starts.len());
        let mut end = 0u64;
        for partition in partitions {
            monitor.check()?;
            let (first, ranks) = (end, partition.ranks.clone());
            for rank in ranks.clone() {
                compact.push(end);
                end += u64::from(lengths[rank as usize]);
            }
            let mut entries = vec![0; (end - first) as usize];
            partition.read(&mut entries, &compact, first, temp)?;
            let mut rest = &mut entries[..];
            let mut sets = Vec::with_capacity(ranks.len());
            for rank in ranks {
                let (set, after) = rest.split_at_mut(lengths[rank as usize] as usize);
                sets.push(set);
                rest = after;
            }
            sets.into_par_iter().for_each(<[TermEntry]>::sort_unstable);
            write_at(&file, &entries, first, temp)?;
        }
        compact.push(end);
        Ok(Sets { terms, starts: compact, lengths, entries: Entries::OnDisk(file, temp.clone()) })
    }
}

impl Partition {
    /// Puts the entries in their places; `first` is the place of the first, by `starts`.
    fn read(self, entries: &mut [TermEntry], starts: &[u64], first: u64, temp: &TempSpace) -> Result<()> {
        let records = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut next: Vec<u64> =
            starts[self.ranks.start as usize..self.ranks.end as usize].iter().map(|start| start - first).collect();
        let mut read = 0;
        while read < records {
            let count = (records - read).min(1 << 16);
            for [rank, term, ordinal] in read_at::<Record>(&self.file, read, count as usize, temp)? {
                let next = &mut next[(rank - self.ranks.start) as usize];
                entries[*next as usize] = u64::from(term) << 32 | u64::from(ordinal);
                *next += 1;
            }
            read += count;
        }
        Ok(())
    }
}

/// One thread's side of a writer.
struct LocalWriter<'a> {
    writer: &'a EntryWriter<'a>,
    /// For each partition the records that are not written yet.
    held_back: Vec<Vec<Record>>,
}

impl LocalWriter<'_> {
    /// Puts a term into the sets of its holders. A document that is not active needs it once only: its places are never asked for.
    fn put(&mut self, term: u32, postings: &[(Rank, u32)], active: &[bool]) -> Result<()> {
        let mut last = None;
        for &(rank, ordinal) in postings {
            if last.replace(rank) == Some(rank) && !active[rank as usize] {
                continue;
            }
            let place = self.writer.lengths[rank as usize].fetch_add(1, Ordering::Relaxed);
            match &self.writer.target {
                Target::Memory(entries) => {
                    let place = self.writer.starts[rank as usize] + u64::from(place);
                    entries[place as usize].store(u64::from(term) << 32 | u64::from(ordinal), Ordering::Relaxed);
                }
                Target::Partitions(partitions, temp) => {
                    let number = partitions.partition_point(|partition| partition.ranks.end <= rank);
                    let held_back = &mut self.held_back[number];
                    held_back.push([rank, term, ordinal]);
                    if held_back.len() == HELD_BACK {
                        partitions[number].append(held_back, temp)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if let Target::Partitions(partitions, temp) = &self.writer.target {
            for (partition, held_back) in partitions.iter().zip(&mut self.held_back) {
                partition.append(held_back, temp)?;
            }
        }
        Ok(())
    }
}

impl Partition {
    fn append(&self, records: &mut Vec<Record>, temp: &TempSpace) -> Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        write_at(&self.file, records, *written, temp)?;
        *written += records.len() as u64;
        records.clear();
        Ok(())
    }
}
