//! Postings: reads the postings of one document, of a range of hashes, or of the whole store, in order. It
//! also reads the places of fingerprints.

use std::ops::RangeInclusive;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::codec::block::Posting;
use crate::codec::format::{POSITIONS, chunk_key, split_u32};
use crate::codec::positions::{self, CHUNK_PLACES, FingerprintPlace};
use crate::codec::records::RunRecord;
use crate::engine::Value;
use crate::handle::Store;
use crate::read::run_reader::{self, Postings as _, RunReader};
use crate::view::View;
use crate::write::ranges;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::is_due;
use fpdb_host::stop::StopToken;

impl Store {
    /// The places of fingerprints of a document. `ordinals` must ascend. The places come in the same order.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a chunk of positions is missing or damaged. [`Error::NoSuchNumber`] if the
    /// document has been deleted.
    pub fn places(&self, document: u32, ordinals: &[u32]) -> Result<Vec<FingerprintPlace>> {
        let mut places = Vec::with_capacity(ordinals.len());
        let mut held: Option<(u32, Vec<FingerprintPlace>)> = None;
        for &ordinal in ordinals {
            let number = ordinal / CHUNK_PLACES;
            let chunk = match held {
                Some((have, ref chunk)) if have == number => chunk,
                _ => {
                    let value = self.chunk(document, number)?;
                    let chunk = positions::decode(&value).map_err(|detail| damaged_chunk(document, number, detail))?;
                    &held.insert((number, chunk)).1
                }
            };
            let place = chunk.get((ordinal % CHUNK_PLACES) as usize);
            places.push(*place.ok_or_else(|| damaged_chunk(document, number, TOO_FEW))?);
        }
        Ok(places)
    }

    /// Calls `visit` for each fingerprint of a document, in order, with its position, and with true if the
    /// fingerprint is of the text as written. The rest of the places is not decoded.
    ///
    /// # Errors
    /// The errors of [`Store::places`].
    pub fn for_each_position(
        &self,
        document: u32,
        fingerprints: u32,
        mut visit: impl FnMut(u64, bool) -> Result<()>,
    ) -> Result<()> {
        let mut positions = Vec::new();
        for number in 0..positions::chunks(fingerprints.into()) {
            let value = self.chunk(document, number)?;
            positions.clear();
            positions::decode_positions(&value, &mut positions)
                .map_err(|detail| damaged_chunk(document, number, detail))?;
            let wanted = (fingerprints - number * CHUNK_PLACES).min(CHUNK_PLACES) as usize;
            let wanted = positions.get(..wanted).ok_or_else(|| damaged_chunk(document, number, TOO_FEW))?;
            wanted.iter().try_for_each(|&(position, of_text)| visit(position, of_text))?;
        }
        Ok(())
    }

    /// A chunk of a document's positions, encoded.
    fn chunk(&self, document: u32, number: u32) -> Result<Value<'_>> {
        let value = self.engine.get(POSITIONS, chunk_key(document, number), "read positions")?;
        value.ok_or_else(|| self.missing_row(document, || damaged_chunk(document, number, "it is missing")))
    }

    /// The postings of one document, ascending. Reads every posting of the runs that may hold the document.
    /// Use it only if the text of the document is unavailable.
    ///
    /// # Errors
    /// [`Error::Stopped`], or an error of reading the store.
    pub fn postings_of(&self, document: u32, stop: &StopToken) -> Result<Vec<Posting>> {
        let mut postings = Vec::new();
        let may_hold = |run: &RunRecord| (run.first_document..=run.last_document).contains(&document);
        let (_, mut readers) = self.readers(may_hold)?;
        for reader in &mut readers {
            for read in 0u64.. {
                let Some(posting) = reader.next()? else { break };
                if is_due(read) {
                    stop.check()?;
                }
                postings.extend((posting.document == document).then_some(posting));
            }
        }
        postings.sort_unstable();
        Ok(postings)
    }

    /// Calls `visit` with each posting of a live document, ascending, over all runs.
    pub(crate) fn for_each_posting(&self, mut visit: impl FnMut(Posting) -> Result<()>) -> Result<()> {
        let (view, mut readers) = self.readers(|_| true)?;
        let all_live = !view.has_deleted();
        run_reader::merge_batches(&mut readers, &mut |batch| {
            let live = batch.iter().filter(|posting| all_live || view.is_live(posting.document));
            live.copied().try_for_each(&mut visit)
        })
    }

    /// Readers of the runs of the last commit that are `wanted`, with the view of that commit.
    fn readers(&self, wanted: impl Fn(&RunRecord) -> bool) -> Result<(Arc<View>, Vec<RunReader<'_>>)> {
        let (view, readers) = self.of_one_commit(|view| {
            let runs = view.runs.iter().filter(|(_, record)| wanted(record));
            runs.map(|&(run, _)| RunReader::new(&self.engine, run)).collect::<Result<_>>()
        });
        Ok((view, readers?))
    }

    /// Calls `visit` for each hash that live documents hold, in ascending order. `visit` gets the hash, the
    /// number of its postings, and its documents, ascending without duplicates. Reads every posting.
    pub fn for_each_hash(&self, mut visit: impl FnMut(u64, u64, &[u32]) -> Result<()>) -> Result<()> {
        let mut current = 0;
        let mut postings = 0;
        let mut holders: Vec<u32> = Vec::new();
        self.for_each_posting(|posting| {
            if posting.hash != current && postings > 0 {
                visit(current, postings, &holders)?;
                postings = 0;
                holders.clear();
            }
            current = posting.hash;
            postings += 1;
            if holders.last() != Some(&posting.document) {
                holders.push(posting.document);
            }
            Ok(())
        })?;
        if postings > 0 { visit(current, postings, &holders) } else { Ok(()) }
    }

    /// Divides all hashes into `count` ranges with about equal numbers of postings.
    pub fn hash_ranges(&self, count: usize) -> Vec<RangeInclusive<u64>> {
        ranges::of_hashes(&self.profile, count)
    }

    /// Calls `visit` with the postings of a range of hashes in live documents, ascending, in batches. All
    /// postings of a hash are in one batch. Several threads may read different ranges at the same time.
    pub fn for_each_batch_in(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(&[Posting]) -> Result<()>,
    ) -> Result<()> {
        let readers = |view: &View| {
            view.runs
                .iter()
                .map(|&(run, _)| RunReader::of_hashes(&self.engine, run, hashes.clone()))
                .collect::<Result<Vec<_>>>()
        };
        let (view, readers) = self.of_one_commit(readers);
        let mut readers = readers?;
        let is_live = |document| view.is_live(document);
        let wanted: Option<&dyn Fn(u32) -> bool> = if view.has_deleted() { Some(&is_live) } else { None };
        run_reader::merge_hashes(&mut readers, wanted, visit)
    }

    /// Calls `visit` with the number and the encoded bytes of each chunk of a document's positions, in order.
    pub(crate) fn for_each_chunk(&self, document: u32, mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let first = chunk_key(document, 0);
        for entry in self.engine.entries(POSITIONS, &first, "read positions")? {
            let (key, value) = entry?;
            let Some((_, chunk)) = split_u32(&key).filter(|(rest, _)| rest[..] == first[..4]) else { break };
            visit(chunk, &value)?;
        }
        Ok(())
    }

    /// Calls `visit` with each hash of a range that one of `documents` holds, in ascending order. `visit`
    /// also gets all postings of the hash in live documents, ascending.
    ///
    /// Reads from end to end the runs that may hold these documents. Looks up each hash of the documents in
    /// all runs; `expected` is the approximate number of these hashes. Several threads may read different
    /// ranges at the same time.
    pub fn for_each_hash_of(
        &self,
        documents: &RoaringBitmap,
        hashes: &RangeInclusive<u64>,
        expected: usize,
        visit: &mut dyn FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()> {
        let (_, readers) = self.of_one_commit(|view| {
            let runs = view.runs.iter().filter(|(_, record)| may_hold(record, documents));
            runs.map(|&(run, _)| RunReader::of_hashes(&self.engine, run, hashes.clone())).collect::<Result<Vec<_>>>()
        });
        let mut readers = readers?;
        let mut lookup = self.lookup(expected)?;
        let (mut last, mut held) = (None, Vec::new());
        run_reader::merge(&mut readers, |posting| {
            if last == Some(posting.hash) || !documents.contains(posting.document) {
                return Ok(());
            }
            last = Some(posting.hash);
            held.clear();
            held.extend_from_slice(lookup.find(posting.hash)?);
            held.sort_unstable();
            visit(posting.hash, &held)
        })
    }

    /// The number of postings in the runs that may hold these documents.
    pub fn postings_near(&self, documents: &RoaringBitmap) -> u64 {
        let view = self.view();
        view.runs.iter().filter(|(_, record)| may_hold(record, documents)).map(|(_, record)| record.postings).sum()
    }
}

const TOO_FEW: &str = "it holds too few places";

fn damaged_chunk(document: u32, number: u32, detail: &'static str) -> Error {
    Error::Damaged { what: format!("chunk {number} of the positions of document {document}"), detail }
}

/// True if a run may hold postings of one of these documents.
fn may_hold(run: &RunRecord, documents: &RoaringBitmap) -> bool {
    documents.range_cardinality(run.first_document..=run.last_document) > 0
}
