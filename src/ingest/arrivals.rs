//! Arrivals: an ingest that leaves duplicates out decides about each document before it is stored, against all documents that
//! will be stored by then: those of the database, those of the batch that is being committed, and those of the batch that fills.

use rustc_hash::FxHashMap;

use super::known::KnownDocuments;
use crate::columns::Fingerprints;
use crate::dedup::{Arrivals, DedupBy, DedupOptions, StoredHashes, id_first};
use crate::document::DocId;
use crate::duplicate::{Because, Duplicate};
use crate::error::Result;
use crate::schema::Schema;
use crate::store::{DocumentRecord, Holders, Lookup, Store};
use std::ops::Range;

/// The hashes that are looked up between two commits, or so: filters that stay in memory are then worth their reading.
const EXPECTED: usize = 1 << 16;

/// Decides about the documents of an ingest.
pub(super) struct Stream<'a> {
    store: &'a Store,
    arrivals: Arrivals,
    /// Finds the hashes of the documents that were committed when it was made.
    lookup: Option<Lookup<'a>>,
    committing: PendingHashes,
    filling: PendingHashes,
    /// Hash and position of each fingerprint of the document that arrives.
    arriving: Vec<(u64, u64)>,
}

/// The hashes of documents that may not be committed yet.
#[derive(Debug, Default)]
struct PendingHashes {
    /// For each hash the last link of its list.
    last: FxHashMap<u64, u32>,
    /// A document, and the link before this one in its list.
    links: Vec<(u32, Option<u32>)>,
    /// |F(d)| of each document.
    sizes: FxHashMap<u32, u32>,
}

impl PendingHashes {
    fn add(&mut self, document: u32, fingerprints: &[(u64, u64)]) {
        let mut hashes: Vec<u64> = fingerprints.iter().map(|&(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        self.sizes.insert(document, hashes.len() as u32);
        for hash in hashes {
            let link = self.links.len() as u32;
            self.links.push((document, self.last.insert(hash, link)));
        }
    }

    fn holders(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.last.get(&hash).copied();
        std::iter::from_fn(move || {
            let (document, before) = self.links[next? as usize];
            next = before;
            Some(document)
        })
    }
}

/// All that a document is compared with.
struct EarlierDocuments<'a, 'b> {
    stream: &'b mut Lookup<'a>,
    pending: [&'b PendingHashes; 2],
    known: KnownDocuments<'b>,
}

impl StoredHashes for EarlierDocuments<'_, '_> {
    fn holders(&mut self, hash: u64, into: &mut Vec<u32>) -> Result<()> {
        if let Holders::Documents(postings) = self.stream.holders(hash)? {
            let known = self.known;
            into.extend(postings.iter().map(|posting| posting.document).filter(|&id| !known.is_deleted(id)));
            let pending = self.pending.into_iter().flat_map(|pending| pending.holders(hash));
            into.extend(pending.filter(|&id| known.is_added(id) && !known.is_deleted(id)));
        }
        Ok(())
    }

    fn size(&mut self, document: u32) -> Result<u32> {
        let pending = self.pending.into_iter().find_map(|pending| pending.sizes.get(&document));
        match pending {
            Some(&size) => Ok(size),
            // A document has fewer fingerprints than 2^32.
            None => Ok(u32::try_from(self.known.record(document)?.distinct).unwrap_or(u32::MAX)),
        }
    }
}

impl<'a> Stream<'a> {
    pub(super) fn new(store: &'a Store, options: &DedupOptions) -> Self {
        Self {
            store,
            arrivals: Arrivals::new(options, store.profile().k),
            lookup: None,
            committing: PendingHashes::default(),
            filling: PendingHashes::default(),
            arriving: Vec::new(),
        }
    }

    /// Takes more fingerprints of the document that arrives.
    pub(super) fn take(&mut self, fingerprints: &Fingerprints, range: Range<usize>) {
        self.arriving.extend(fingerprints.range(range).map(|fingerprint| (fingerprint.hash, fingerprint.position)));
    }

    /// The next document arrives.
    pub(super) fn forget(&mut self) {
        self.arriving.clear();
    }

    /// The document that has arrived is stored under this number, with the next commit.
    pub(super) fn added(&mut self, document: u32) {
        self.filling.add(document, &self.arriving);
    }

    /// The batch that was filled is on its way; those before it are committed.
    pub(super) fn committing(&mut self) {
        self.committing = std::mem::take(&mut self.filling);
        self.lookup = None;
    }

    /// Why the document that has arrived is to be left out, if it is.
    pub(super) fn duplicate(
        &mut self,
        record: &DocumentRecord,
        known: KnownDocuments<'_>,
    ) -> Result<Option<Duplicate>> {
        if let Some(keep) = known.first_with(&record.digest)? {
            let shared = self.arriving_size();
            return Ok(Some(duplicate(record, keep, &known.record(keep)?.name, (Because::Identical, 1.0, shared, 0))));
        }
        let lookup = match &mut self.lookup {
            Some(lookup) => lookup,
            none => none.insert(self.store.scattered_lookup(EXPECTED)?),
        };
        let mut before = EarlierDocuments { stream: lookup, pending: [&self.committing, &self.filling], known };
        let Some(witness) = self.arrivals.witness(&self.arriving, record.symbols, &mut before)? else {
            return Ok(None);
        };
        let other = before.size(witness.document)?;
        let because = match self.arrivals.by() {
            DedupBy::Resemblance => Because::Resembles,
            _ => Because::Contained,
        };
        let score = self.arrivals.score(&witness, other);
        let name = known.record(witness.document)?.name;
        Ok(Some(duplicate(record, witness.document, &name, (because, score, witness.shared.into(), witness.novel))))
    }

    /// |F(d)| of the document that has arrived.
    fn arriving_size(&self) -> u64 {
        let mut hashes: Vec<u64> = self.arriving.iter().map(|&(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len() as u64
    }
}

fn duplicate(
    record: &DocumentRecord,
    keep: u32,
    name: &str,
    (because, score, shared, novel): (Because, f64, u64, u64),
) -> Duplicate {
    Duplicate {
        schema: Schema::new(),
        remove: record.name.clone(),
        keep: name.to_owned(),
        keep_id: DocId(keep),
        because,
        score,
        shared,
        novel,
        bytes: record.bytes,
        metadata: id_first(record.metadata.clone()),
    }
}
