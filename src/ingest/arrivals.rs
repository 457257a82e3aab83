//! Arrivals: an ingest that leaves duplicates out decides about each document before it is stored, against all documents that
//! will be stored by then: those of the database, those of the batch that is being committed, and those of the batch that fills.
//!
//! A stored document that the run may still delete justifies nothing for certain: its file has changed or is gone, and has not been
//! come to yet. A document that only such ones justify is stored for now, and decided once the run has read all
//! ([`ArrivalDecision::Open`]). A run never deletes a document that justified leaving out another.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::known::KnownDocuments;
use super::sweep::Sweep;
use crate::archive::dedup::{ArrivalWitness, Arrivals, DedupBy, DedupOptions, StoredHashes, id_first};
use fpdb_host::duplicate::{Because, Duplicate};
use fpdb_host::error::Result;
use fpdb_host::progress::Outcome;
use fpdb_host::schema::Schema;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::DocId;
use fpdb_reading::input::{Reach, is_untouched};
use fpdb_store::{DocumentRecord, Holders, Lookup, Store};
use std::ops::Range;

/// The hashes that are looked up between two commits, or so: filters that stay in memory are then worth their reading.
const EXPECTED: usize = 1 << 16;

/// The most justifications that are remembered for a document that is stored for now. It stays if all of these are deleted.
const REMEMBERED: usize = 16;

/// The decision about a document that arrives.
pub(super) enum ArrivalDecision {
    /// It is stored.
    New,
    /// It is left out.
    Duplicate(Duplicate),
    /// It is stored for now; it is left out if one of these stays. They are in order of number.
    Open(Vec<Justification>),
}

/// A stored document that justifies leaving out another one, and why.
#[derive(Clone, Copy, Debug)]
pub(super) struct Justification {
    pub(super) document: u32,
    because: Because,
    score: f64,
    shared: u64,
    novel: u64,
}

/// A document that is stored for now.
#[derive(Debug)]
pub(super) struct OpenDocument {
    pub(super) id: u32,
    pub(super) outcome: Outcome,
    pub(super) justifications: Vec<Justification>,
}

/// Which stored documents can be relied on to stay.
struct StayingDocuments {
    reach: Reach,
    /// Texts are to be stored of documents without, which get new numbers for that.
    stores_texts: bool,
    /// The documents that are stored for now, in order of number.
    open: Vec<OpenDocument>,
    /// The documents that have justified leaving out others.
    relied_on: RoaringBitmap,
    /// Documents that were deleted because they are stored under these new numbers.
    moved: FxHashMap<u32, u32>,
}

impl StayingDocuments {
    /// True if a stored document is known to stay.
    fn stays(&self, id: u32, record: &DocumentRecord, sweep: &Sweep) -> bool {
        if self.open.binary_search_by_key(&id, |open| open.id).is_ok() {
            return false;
        }
        let source = record.source.as_deref();
        let moves = || self.stores_texts && !record.stored_text;
        sweep.is_of_this_run(id)
            || !self.reach.holds(&record.name, source)
            || (!moves() && is_untouched(source, record.modified()))
    }
}

/// Decides about the documents of an ingest.
pub(super) struct Stream<'a> {
    store: &'a Store,
    staying: StayingDocuments,
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
    pub(super) fn new(store: &'a Store, options: &DedupOptions, reach: Reach, stores_texts: bool) -> Self {
        let (open, relied_on, moved) = Default::default();
        Self {
            store,
            staying: StayingDocuments { reach, stores_texts, open, relied_on, moved },
            arrivals: Arrivals::new(options, store.profile().k()),
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

    /// True if a document has justified that others were left out.
    pub(super) fn relies_on(&self, document: u32) -> bool {
        self.staying.relied_on.contains(document)
    }

    /// The document that has arrived is stored under this number for now.
    pub(super) fn leave_open(&mut self, open: OpenDocument) {
        self.staying.open.push(open);
    }

    /// How many documents are stored for now.
    pub(super) fn open(&self) -> usize {
        self.staying.open.len()
    }

    /// Ends the stream: the documents that are stored for now, each with those that justify leaving it out, under their numbers of today.
    pub(super) fn into_open(self) -> impl Iterator<Item = OpenDocument> {
        let StayingDocuments { open, moved, .. } = self.staying;
        open.into_iter().map(move |mut open| {
            for justification in &mut open.justifications {
                justification.document = moved.get(&justification.document).copied().unwrap_or(justification.document);
            }
            open
        })
    }

    /// A document was deleted because it is stored under a new number.
    pub(super) fn moved(&mut self, from: u32, to: u32) {
        self.staying.moved.insert(from, to);
    }

    /// Decides about the document that has arrived.
    pub(super) fn decide(
        &mut self,
        record: &DocumentRecord,
        known: KnownDocuments<'_>,
        sweep: &Sweep,
    ) -> Result<ArrivalDecision> {
        let mut open = Vec::new();
        let (mut shared, mut witness) = (None, None);
        known.for_each_with_content(&record.digest, |document| {
            let shared = *shared.get_or_insert_with(|| self.arriving_size());
            let stored = known.record(document)?;
            if stored.boilerplate {
                return Ok(true);
            }
            let justification = Justification { document, because: Because::Identical, score: 1.0, shared, novel: 0 };
            if self.staying.stays(document, &stored, sweep) {
                witness = Some((justification, stored.name));
            } else if open.len() < REMEMBERED {
                open.push(justification);
            }
            Ok(witness.is_none())
        })?;
        if let Some((justification, name)) = witness {
            return Ok(self.left_out(record, justification, &name));
        }
        let lookup = match &mut self.lookup {
            Some(lookup) => lookup,
            none => none.insert(self.store.scattered_lookup(EXPECTED)?),
        };
        let mut before = EarlierDocuments { stream: lookup, pending: [&self.committing, &self.filling], known };
        let (staying, mut others, mut name) = (&self.staying, Vec::new(), String::new());
        let mut stays = |witness: ArrivalWitness| {
            let stored = known.record(witness.document)?;
            let stays = staying.stays(witness.document, &stored, sweep);
            if stays {
                name = stored.name;
            } else if others.len() < REMEMBERED {
                others.push(witness);
            }
            Ok(stays)
        };
        let witness = self.arrivals.witness(&self.arriving, record.symbols, &mut before, &mut stays)?;
        let because = match self.arrivals.by() {
            DedupBy::Resemblance => Because::Resembles,
            _ => Because::Contained,
        };
        let mut justification = |witness: ArrivalWitness| -> Result<Justification> {
            let ArrivalWitness { document, shared, novel, .. } = witness;
            let score = self.arrivals.score(&witness, before.size(document)?);
            Ok(Justification { document, because, score, shared: shared.into(), novel })
        };
        if let Some(witness) = witness {
            let justification = justification(witness)?;
            return Ok(self.left_out(record, justification, &name));
        }
        for witness in others {
            if open.iter().all(|identical| identical.document != witness.document) {
                open.push(justification(witness)?);
            }
        }
        Ok(if open.is_empty() { ArrivalDecision::New } else { ArrivalDecision::Open(open) })
    }

    fn left_out(&mut self, record: &DocumentRecord, by: Justification, name: &str) -> ArrivalDecision {
        self.staying.relied_on.insert(by.document);
        ArrivalDecision::Duplicate(by.duplicate(record, name))
    }

    /// |F(d)| of the document that has arrived.
    fn arriving_size(&self) -> u64 {
        let mut hashes: Vec<u64> = self.arriving.iter().map(|&(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len() as u64
    }
}

impl Justification {
    /// The report about the document that is left out; `name` names the one that stays.
    pub(super) fn duplicate(&self, record: &DocumentRecord, name: &str) -> Duplicate {
        let Self { document, because, score, shared, novel } = *self;
        Duplicate {
            schema: Schema::new(),
            remove: record.name.clone(),
            keep: name.to_owned(),
            keep_id: DocId(document),
            because,
            score,
            shared,
            novel,
            bytes: record.bytes,
            metadata: id_first(record.metadata.clone()),
        }
    }
}
