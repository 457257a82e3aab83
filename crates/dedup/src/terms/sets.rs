//! Sets: the terms of each document, by rank. This is the transposed index: postings are stored by hash, but
//! the join needs them by document.
//!
//! Hashes with the same holders form one *term*: a document holds all of them or none. A digest of the
//! holders is the term's key, so no table of terms is needed. The weight of a term is its number of hashes.
//! The terms of a document are sorted by key, which puts the rarest first.
//!
//! The postings of shared hashes are first divided by rank ([`super::partitions`]), then packed. A term takes
//! twelve bytes, and each run of ordinals takes a few bytes.
//!
//! The number of a document's shared hashes is known only when its set is packed. If this number is below the
//! threshold, no survivor can justify the removal: the document stays, and its ordinals are not kept.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::Activity;
use crate::Monitor;
use crate::ranking::{ComparedRanks, Extent, Rank};
use crate::terms::holders::{HashUse, HolderReader, TermKey};
use crate::terms::partitions::{Packing, Partitions};
use crate::terms::source::{PostingSource, ranges_per_reader};
use fpdb_host::error::{Error, Result};
use fpdb_host::spill::{TempSpace, read_at, read_into, write_at};
use fpdb_store::varint;

/// A term of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Term {
    /// The key: its high half, then its low half. This layout keeps the struct at twelve bytes.
    key: [u32; 2],
    /// Number of hashes in the term.
    pub(crate) weight: u32,
}

impl Term {
    pub(crate) fn new(key: TermKey, weight: u32) -> Self {
        Self { key: [(key >> 32) as u32, key as u32], weight }
    }

    pub(crate) fn key(&self) -> TermKey {
        u64::from(self.key[0]) << 32 | u64::from(self.key[1])
    }
}

/// Total weight of these terms: the number of fingerprints in them.
pub(crate) fn weight(terms: &[Term]) -> u32 {
    terms.iter().map(|term| term.weight).sum()
}

/// Bytes of memory per document: the offsets of its terms and its runs.
pub(crate) const BYTES_PER_DOCUMENT: u64 = 16;

/// Maximum bytes of a posting in the packed sets: a term of its own, and one run.
pub(super) const BYTES_PER_POSTING: u64 = size_of::<Term>() as u64 + 8;

/// The sets, and the other results of the pass over the postings.
pub(crate) struct Collected {
    pub(crate) sets: Sets,
    /// By rank, true if a survivor may justify the document's removal.
    pub(crate) active: Vec<bool>,
    /// Number of hashes above the df cap.
    pub(crate) common: u64,
    /// Number of hashes that boilerplate holds.
    pub(crate) boilerplate: u64,
}

/// The sets of all documents.
pub(crate) struct Sets {
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
pub(super) struct Packed {
    /// For each document: the number of its terms, the bytes of its runs, and true if the document is active.
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
    /// document, by rank. `is_active` decides by a document's number of shared hashes whether the document is
    /// active.
    pub(crate) fn collect(
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
        let least = ranges_per_reader(source, ranges.len(), extents.len() as Rank, memory).max(1);
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
        let (sets, active) = Self::pack(partitions.packing(is_active), extents.len(), (temp, memory), monitor)?;
        Ok(Collected { sets, active, common: common.into_inner(), boilerplate: boilerplate.into_inner() })
    }

    /// Takes the packed sets of all documents. Also returns, by rank, true if the document is active.
    fn pack(
        mut packing: Packing<'_>,
        documents: usize,
        (temp, memory): (&TempSpace, u64),
        monitor: &Monitor<'_>,
    ) -> Result<(Self, Vec<bool>)> {
        let mut active = Vec::with_capacity(documents);
        let mut sets = Self {
            starts: Vec::with_capacity(documents + 1),
            run_starts: Vec::with_capacity(documents + 1),
            parts: Vec::new(),
            ends: Vec::new(),
            on_disk: None,
        };
        let (mut end, mut runs_end) = (0, 0);
        let mut bytes = 0;
        loop {
            monitor.check()?;
            let Some(some) = packing.some()? else { break };
            for (ranks_end, mut packed) in some {
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

    /// The terms of a document, ascending by key. If they are on disk they are read into `buffer`.
    pub(crate) fn get<'a>(&'a self, rank: Rank, buffer: &'a mut Vec<Term>) -> Result<&'a [Term]> {
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

    /// Calls `visit` with each run of ordinals of a document, and with the index of the run's term in the
    /// set. The runs of a term ascend. A document that was not active has no runs.
    pub(crate) fn runs(&self, rank: Rank, mut visit: impl FnMut(usize, Range<u32>)) -> Result<()> {
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
    pub(crate) fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Bytes of memory that the sets take.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(Packed::bytes).sum()
    }
}

impl Packed {
    fn bytes(&self) -> u64 {
        (size_of_val(&self.terms[..]) + self.runs.len()) as u64
    }

    /// Adds a document. An entry is a key, an ordinal, and a bit that is set if the document has the hash at
    /// a lower ordinal too. The ordinals are kept only if the document is active.
    pub(super) fn add(&mut self, entries: &mut [u128], rank: Rank, is_active: &IsActive<'_>) {
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

#[cfg(test)]
impl Packed {
    /// Bytes of memory, with those of the lengths.
    pub(super) fn held(&self) -> u64 {
        self.bytes() + size_of_val(&self.lengths[..]) as u64
    }

    /// Appends the sets to `all`, document by document.
    pub(super) fn write(&self, all: &mut Vec<u8>) {
        let (mut term, mut run) = (0, 0);
        for &(terms, runs, is_active) in &self.lengths {
            all.extend(bytemuck::cast_slice(&[terms, runs as u32, is_active.into()]));
            all.extend(bytemuck::cast_slice(&self.terms[term..term + terms as usize]));
            all.extend(&self.runs[run..run + runs as usize]);
            (term, run) = (term + terms as usize, run + runs as usize);
        }
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

/// Returns true if a document of this rank with this number of shared hashes is active.
pub(crate) type IsActive<'a> = dyn Fn(Rank, u32) -> bool + Sync + 'a;
