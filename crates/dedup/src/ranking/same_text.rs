//! Same text: finds documents whose bytes differ but whose symbols, in the standard form, are equal.
//!
//! Documents of the same text have equal numbers of symbols, k-grams and fingerprints, and the same
//! fingerprints in the same order. One pass over the postings makes a sum for each document, which separates
//! documents with different fingerprints. Documents still in one group are read again, and all their symbols
//! are compared. Fingerprints alone never make two texts the same.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::Activity;
use crate::Monitor;
use crate::ranking::reading_of;
use crate::terms::source::{PostingSource, ranges_per_reader};
use fpdb_host::error::Result;
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_kernel::document::Digest;
use fpdb_store::Store;

/// Maximum bytes of memory that each document takes here, and each id given so far.
pub(crate) const BYTES_PER_DOCUMENT: u64 = 56;
pub(crate) const BYTES_PER_ID: u64 = size_of::<u64>() as u64;

/// Reads the texts of stored documents again.
pub trait ReadTexts {
    /// Prepares to read the documents in this order, so that members of one container are read in one pass.
    fn in_order(&self, documents: Vec<u32>) -> Box<DigestOf<'_>>;
}

/// Reads the text of a document. Fails if the store cannot be read.
pub type DigestOf<'a> = dyn FnMut(u32) -> Result<TextDigest> + 'a;

/// The digest of a text that was read again, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextDigest {
    /// The digest of all symbols, as fingerprinted, and of the parts that are not text, if any.
    Read(Digest),
    /// The text is too large to compare symbol by symbol.
    TooLarge,
    /// The text cannot be read.
    Unavailable,
}

/// Bytes of memory for the two steps of [`SameText::find`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SameTextMemory {
    /// For sorting the facts of documents.
    pub(crate) sorting: u64,
    /// For reading postings.
    pub(crate) reading: u64,
}

/// The texts of documents that may have the same text as another document.
#[derive(Debug, Default)]
pub(crate) struct SameText {
    /// The digest of a document's symbols, by the digest of its reading.
    texts: FxHashMap<Digest, Digest>,
    /// Number of documents whose text could not be read again, although it may equal another document's.
    /// Texts too large to compare do not count.
    pub(crate) unread: u64,
}

/// The facts that documents of the same text have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Likeness {
    symbols: u64,
    kgrams: u64,
    fingerprints: u64,
    /// The sum over the fingerprints, from [`sums`].
    sum: u64,
    /// The digest of the reading, which differs between the documents.
    reading: Digest,
    id: u32,
    unused: u32,
}

impl Likeness {
    fn is_like(&self, other: &Self) -> bool {
        let common = |one: &Self| (one.symbols, one.kgrams, one.fingerprints, one.sum);
        common(self) == common(other)
    }
}

/// The documents of one reading, in a group that also has documents of other readings. Only the first
/// document whose text is available is read.
struct Class {
    reading: Digest,
    ids: Vec<u32>,
}

impl SameText {
    /// Finds documents of the same text. Documents without symbols have no text and are compared by their
    /// bytes alone.
    ///
    /// # Errors
    /// Fails if the store cannot be read. A text that cannot be read is not an error.
    pub(crate) fn find(
        store: &Store,
        texts: &dyn ReadTexts,
        (temp, memory): (&TempSpace, SameTextMemory),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let sums = sums(store, memory.reading, monitor)?;
        let mut sorter = Sorter::new(temp, memory.sorting);
        store.for_each_document(|id, record| {
            if record.symbols > 0 && !record.boilerplate {
                sorter.push(Likeness {
                    symbols: record.symbols,
                    kgrams: record.kgrams,
                    fingerprints: record.structure().fingerprints,
                    sum: sums.get(id as usize).copied().unwrap_or(0),
                    reading: reading_of(&record),
                    id,
                    unused: 0,
                })?;
            }
            Ok(true)
        })?;
        drop(sums);
        let mut classes: Vec<Class> = Vec::new();
        let mut group: Vec<Class> = Vec::new();
        let mut last: Option<Likeness> = None;
        for likeness in sorter.sorted()? {
            let likeness = likeness?;
            if !last.is_some_and(|last| last.is_like(&likeness)) {
                take_group(&mut group, &mut classes);
            }
            match group.last_mut() {
                Some(class) if class.reading == likeness.reading => class.ids.push(likeness.id),
                _ => group.push(Class { reading: likeness.reading, ids: vec![likeness.id] }),
            }
            last = Some(likeness);
        }
        take_group(&mut group, &mut classes);
        Self::read(texts, classes, monitor)
    }

    /// Reads one document of each class. If the text of this document is gone, reads the next document.
    fn read(texts: &dyn ReadTexts, classes: Vec<Class>, monitor: &Monitor<'_>) -> Result<Self> {
        let mut found = Self::default();
        let total = classes.len() as u64;
        let mut done = 0;
        let mut open: Vec<Class> = classes;
        let mut turn = 0;
        while !open.is_empty() {
            // Documents are read in order of ingestion, so that members of one container are read in one
            // pass.
            open.sort_unstable_by_key(|class| class.ids[turn]);
            let order: Vec<u32> = open.iter().map(|class| class.ids[turn]).collect();
            let mut digest_of = texts.in_order(order);
            let mut left = Vec::new();
            for class in open {
                monitor.at(Activity::Reading, done, total)?;
                match digest_of(class.ids[turn])? {
                    TextDigest::Read(digest) => {
                        found.texts.entry(class.reading).or_insert(digest);
                    }
                    // The other documents of the class are as large.
                    TextDigest::TooLarge => {}
                    TextDigest::Unavailable if turn + 1 < class.ids.len() => {
                        left.push(class);
                        continue;
                    }
                    TextDigest::Unavailable => found.unread += class.ids.len() as u64,
                }
                done += 1;
            }
            open = left;
            turn += 1;
        }
        Ok(found)
    }

    #[cfg(test)]
    pub(super) fn insert(&mut self, reading: Digest, text: Digest) {
        self.texts.insert(reading, text);
    }

    /// The digest of a document's text. `None` if the text was not read, for example because no document with
    /// another reading can have the same text.
    pub(super) fn of(&self, reading: Digest) -> Option<Digest> {
        self.texts.get(&reading).copied()
    }
}

/// Keeps the classes of a group that has more than one class.
fn take_group(group: &mut Vec<Class>, classes: &mut Vec<Class>) {
    if group.len() > 1 {
        classes.append(group);
    }
    group.clear();
}

/// Returns, by document, a sum over its fingerprints of structure. With one view, the sum includes ordinals,
/// so it depends on the order of the fingerprints. With two views the sum leaves ordinals out, because they
/// also depend on the text as written.
fn sums(store: &Store, memory: u64, monitor: &Monitor<'_>) -> Result<Vec<u64>> {
    let documents = store.view().state().next_document;
    let sums: Vec<AtomicU64> = (0..documents).map(|_| AtomicU64::new(0)).collect();
    let done = AtomicU64::new(0);
    let profile = *store.profile();
    let ranges = PostingSource::ranges(store);
    let least = ranges_per_reader(store, ranges.len(), documents, memory).max(1);
    ranges.into_par_iter().with_min_len(least).try_for_each(|range: RangeInclusive<u64>| {
        PostingSource::visit_batches(store, &range, &mut |postings| {
            monitor.advance(Activity::Counting, &done, postings.len() as u64)?;
            for posting in postings {
                let mut bytes = [0; 12];
                bytes[..8].copy_from_slice(&posting.hash.to_le_bytes());
                bytes[8..].copy_from_slice(&if profile.has_two_views() { 0 } else { posting.ordinal }.to_le_bytes());
                sums[posting.document as usize].fetch_add(xxh3_64(&bytes), Ordering::Relaxed);
            }
            Ok(())
        })
    })?;
    Ok(sums.into_iter().map(AtomicU64::into_inner).collect())
}
