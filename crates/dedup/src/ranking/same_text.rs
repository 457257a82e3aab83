//! Same text: finds documents whose bytes differ but whose symbols, in the standard form, are equal.
//!
//! Documents of the same text have equal numbers of symbols, k-grams and fingerprints, and the same
//! fingerprints in the same order. One pass over the postings makes a sum for each document, which separates
//! documents with different fingerprints. Documents still in one group are read again, and all their symbols
//! are compared. Fingerprints alone never make two texts the same.

use std::ops::{Range, RangeInclusive};
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

/// The documents of one reading, in a group that also has documents of other readings. Only one document
/// whose text is available is needed.
struct Class {
    reading: Digest,
    /// The documents: a range of the list of ids.
    documents: Range<u32>,
}

impl Class {
    fn documents<'a>(&self, ids: &'a [u32]) -> &'a [u32] {
        &ids[self.documents.start as usize..self.documents.end as usize]
    }
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
        let (mut classes, mut ids): (Vec<Class>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut group = 0;
        let mut last: Option<Likeness> = None;
        for likeness in sorter.sorted()? {
            let likeness = likeness?;
            if !last.is_some_and(|last| last.is_like(&likeness)) {
                drop_if_single(&mut classes, &mut ids, group);
                group = classes.len();
            }
            ids.push(likeness.id);
            let end = ids.len() as u32;
            match classes[group..].last_mut() {
                Some(class) if class.reading == likeness.reading => class.documents.end = end,
                _ => classes.push(Class { reading: likeness.reading, documents: end - 1..end }),
            }
            last = Some(likeness);
        }
        drop_if_single(&mut classes, &mut ids, group);
        Self::read(texts, &classes, &ids, monitor)
    }

    /// Reads one document of each class. If the text of this document is gone, reads other documents: two,
    /// then four, and so on. So the containers are read a few times only, even if many documents are gone.
    fn read(texts: &dyn ReadTexts, classes: &[Class], ids: &[u32], monitor: &Monitor<'_>) -> Result<Self> {
        let mut found = Self::default();
        let (mut open, mut done) = (vec![true; classes.len()], 0);
        let mut asked = 0..1;
        loop {
            let asking = (0u32..).zip(classes).filter(|&(number, _)| open[number as usize]);
            let mut order: Vec<(u32, u32)> = Vec::new();
            for (number, class) in asking {
                let documents = class.documents(ids).iter().skip(asked.start).take(asked.len());
                order.extend(documents.map(|&id| (id, number)));
            }
            if order.is_empty() {
                break;
            }
            // Documents are read in order of ingestion, so that members of one container are read in one
            // pass.
            order.sort_unstable();
            let mut digest_of = texts.in_order(order.iter().map(|&(id, _)| id).collect());
            for (id, number) in order {
                let number = number as usize;
                if !open[number] {
                    continue;
                }
                monitor.at(Activity::Reading, done, classes.len() as u64)?;
                match digest_of(id)? {
                    TextDigest::Unavailable => continue,
                    // The other documents of the class are as large.
                    TextDigest::TooLarge => {}
                    TextDigest::Read(digest) => {
                        found.texts.entry(classes[number].reading).or_insert(digest);
                    }
                }
                open[number] = false;
                done += 1;
            }
            asked = asked.end..2 * asked.end + 1;
        }
        let unread = open.iter().zip(classes).filter(|(open, _)| **open);
        found.unread = unread.map(|(_, class)| class.documents(ids).len() as u64).sum();
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

/// Drops the last group, which begins at the class `group`, if it has only one class.
fn drop_if_single(classes: &mut Vec<Class>, ids: &mut Vec<u32>, group: usize) {
    if classes.len() == group + 1 {
        ids.truncate(classes[group].documents.start as usize);
        classes.truncate(group);
    }
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

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use roaring::RoaringBitmap;

    use super::*;
    use fpdb_host::progress::Task;

    /// Texts; only the available ones are readable. Counts the passes and the documents that are asked for.
    struct Texts {
        available: RoaringBitmap,
        passes: Cell<usize>,
        asked: RefCell<Vec<u32>>,
    }

    impl ReadTexts for Texts {
        fn in_order(&self, documents: Vec<u32>) -> Box<DigestOf<'_>> {
            self.passes.set(self.passes.get() + 1);
            assert!(documents.is_sorted());
            Box::new(|id| {
                self.asked.borrow_mut().push(id);
                Ok(match self.available.contains(id) {
                    true => TextDigest::Read([7; 16]),
                    false => TextDigest::Unavailable,
                })
            })
        }
    }

    #[test]
    fn documents_that_are_gone_take_few_passes() {
        let ids: Vec<u32> = (0..4004).collect();
        // Two groups of two classes: many documents of the same bytes, and one of other bytes.
        let class = |number: u8, documents| Class { reading: [number; 16], documents };
        let classes = [class(0, 0..2001), class(1, 2001..2002), class(2, 2002..4003), class(3, 4003..4004)];
        let texts = Texts { available: [1500, 2001, 4003].into(), passes: Cell::new(0), asked: RefCell::default() };
        let task = Task::new();
        let monitor = Monitor { task: &task, postings: 0, documents: 4004 };
        let found = SameText::read(&texts, &classes, &ids, &monitor).unwrap();
        assert_eq!(texts.passes.get(), 11);
        let asked = texts.asked.into_inner();
        assert_eq!(asked.iter().collect::<RoaringBitmap>().len(), asked.len() as u64, "no document is read twice");
        assert!(asked.iter().all(|id| !(1501..2001).contains(id)), "one text of a class is enough");
        assert_eq!([0, 1, 2, 3].map(|number| found.of([number; 16]).is_some()), [true, true, false, true]);
        assert_eq!(found.unread, 2001);
    }
}
