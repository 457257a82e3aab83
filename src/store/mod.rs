//! Store: here is a hash, which documents hold it? The only folder that names the storage engine.
//!
//! Ingest only ever adds keys: no merge operator and no read-modify-write of postings. Postings and
//! positions are written as sorted files and handed to the engine whole; a commit is one synced write that
//! makes them visible together with the documents they belong to. The format is in
//! [`codec::format`].
//!
//! * `codec/`: the bytes of keys and values.
//! * `engine/`: RocksDB, its options and files.
//! * `open/`: making and opening a database.
//! * `read/`: from a hash to the documents that hold it.
//! * `write/`: from documents to a commit.
//! * `care/`: verify, repair, back up.

mod care;
mod codec;
mod document_set;
mod engine;
mod open;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod read;
#[cfg(test)]
mod tests;
mod texts;
mod turns;
mod view;
mod write;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::document::Digest;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::profile::Profile;
use codec::format::{
    self, DIGESTS, DOCUMENTS, FAMILIES, NAMES, POSITIONS, document_key, name_key, name_prefix, position_key, split_u32,
};
use codec::positions::{self, CHUNK_PLACES};
use codec::records::{self, RunRecord};
use engine::Engine;
use open::linked_store::LinkedStore;
use open::lock::WriterLock;
use open::mark::AtClose;
use read::filter_cursor::FilterUse;
use read::run_reader::{self, Postings as _, RunReader};
use turns::Turns;

pub use care::backup::Backup;
pub use care::findings::{LostDocument, Problem, Repair, Verification};
pub(crate) use care::repair::{RepairStart, Repairing};
pub(crate) use codec::block::Posting;
pub(crate) use codec::format::FORMAT_VERSION;
pub(crate) use codec::positions::FingerprintPlace;
pub(crate) use codec::records::{ContainerRecord, DocumentRecord};
pub(crate) use open::StoreOptions;
pub(crate) use open::making::MAKING;
pub(crate) use read::lookup::{Holders, Lookup};
pub(crate) use texts::{CHUNK_BYTES, chunks as text_chunks, compress, decompress};
pub(crate) use view::View;
pub(crate) use write::batch::{Batch, PUSHED_AT_ONCE, PendingDocuments};
pub(crate) use write::commit::Committer;

/// The part of a database's bytes that no table holds.
pub(crate) const LOGS: &str = "logs and manifest";

/// One level of the engine's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Level {
    /// Its number.
    pub level: u32,
    /// Its tables.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// An open database folder. One writer and any number of readers can have it open at the same time.
pub(crate) struct Store {
    // Dropped first: the engine closes before the links and the lock go.
    engine: Engine,
    root: PathBuf,
    profile: Profile,
    view: RwLock<Arc<View>>,
    filter_use: FilterUse,
    /// Writers only.
    _at_close: Option<AtClose>,
    /// Of a reader that cannot use all files of the store.
    _links: Option<LinkedStore>,
    /// Of a writer.
    lock: Option<WriterLock>,
    turns: Turns,
    memory: u64,
    pool: Pool,
}

impl Store {
    /// The settings pinned at creation.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The database's own folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Bytes of memory that an ingest or a merge may use, about.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// The threads that work for it.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The last commit this store has seen.
    pub(crate) fn view(&self) -> Arc<View> {
        // A view is replaced whole, so a panic elsewhere cannot leave half of one.
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prepares for finding `expected` hashes or so, in ascending order; how many decides what it is worth
    /// to read for them.
    pub(crate) fn lookup(&self, expected: usize) -> Result<Lookup<'_>> {
        Lookup::new(self, expected)
    }

    /// The record of a document.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where it is not live.
    pub(crate) fn document(&self, document: u32) -> Result<DocumentRecord> {
        let value = self.engine.get(DOCUMENTS, document_key(document), "read a document's record")?;
        let what = || format!("the record of document {document}");
        records::decode(&value.ok_or_else(|| self.missing_row(document, || missing(&what())))?, what)
    }

    /// What is known of the container at this path, if it was ingested whole.
    pub(crate) fn container(&self, source: &str) -> Result<Option<ContainerRecord>> {
        let value = self.engine.get(format::CONTAINERS, format::name_prefix(source), "read a container's record")?;
        value.map(|value| records::decode(&value, || format!("the record of the container {source}"))).transpose()
    }

    /// Calls `visit` with each live document in order of id, until it returns false.
    pub(crate) fn for_each_document(&self, visit: impl FnMut(u32, DocumentRecord) -> Result<bool>) -> Result<()> {
        self.for_each_document_from(0, visit)
    }

    /// The same, from this id on.
    pub(crate) fn for_each_document_from(
        &self,
        first: u32,
        mut visit: impl FnMut(u32, DocumentRecord) -> Result<bool>,
    ) -> Result<()> {
        let view = self.view();
        for entry in self.engine.entries(DOCUMENTS, &document_key(first), "read the documents")? {
            let (key, value) = entry?;
            let Some(([], document)) = split_u32(&key) else {
                return Err(Error::Damaged { what: "a document's record".into(), detail: "its key is not four bytes" });
            };
            if view.is_live(document)
                && !visit(document, records::decode(&value, || format!("the record of document {document}"))?)?
            {
                break;
            }
        }
        Ok(())
    }

    /// The numbers of all documents that are stored and not boilerplate. Reads no record.
    pub(crate) fn document_ids(&self) -> Result<RoaringBitmap> {
        let view = self.view();
        let mut ids = RoaringBitmap::new();
        for entry in self.engine.entries(DOCUMENTS, &[], "read the documents")? {
            let (key, _) = entry?;
            let id = split_u32(&key).map(|(_, id)| id);
            ids.extend(id.filter(|&id| view.is_live(id) && !view.is_boilerplate(id)));
        }
        Ok(ids)
    }

    /// What tells this database from all others.
    pub(crate) fn identity(&self) -> Result<String> {
        self.engine.identity()
    }

    /// The live documents of a name, in order of arrival; more than one where versions are kept.
    pub(crate) fn documents_named(&self, name: &str) -> Result<Vec<u32>> {
        self.ids_under(NAMES, &name_prefix(name))
    }

    /// The last of [`Store::documents_named`] that is `wanted`. Those before it are not looked at.
    pub(crate) fn newest_named(&self, name: &str, mut wanted: impl FnMut(u32) -> bool) -> Result<Option<u32>> {
        let view = self.view();
        if view.state().documents == 0 {
            return Ok(None);
        }
        let (prefix, last) = (name_prefix(name), name_key(name, u32::MAX));
        for entry in self.engine.entries_back(NAMES, &last, "read names and digests")? {
            let (key, _) = entry?;
            let Some(([], id)) = key.strip_prefix(&prefix[..]).and_then(split_u32) else { break };
            if view.is_live(id) && wanted(id) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The live documents with this content, in order of arrival.
    pub(crate) fn documents_with(&self, digest: &Digest) -> Result<Vec<u32>> {
        self.ids_under(DIGESTS, digest)
    }

    /// The document ids at the end of the keys that begin with `prefix`.
    fn ids_under(&self, name: &'static str, prefix: &[u8]) -> Result<Vec<u32>> {
        let view = self.view();
        let mut ids = Vec::new();
        if view.state().documents == 0 {
            return Ok(ids);
        }
        for entry in self.engine.entries(name, prefix, "read names and digests")? {
            let (key, _) = entry?;
            let Some(([], id)) = key.strip_prefix(prefix).and_then(split_u32) else { break };
            if view.is_live(id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// Where fingerprints of a document stand; `ordinals` ascending, the answer in the same order.
    pub(crate) fn places(&self, document: u32, ordinals: &[u32]) -> Result<Vec<FingerprintPlace>> {
        let mut places = Vec::with_capacity(ordinals.len());
        let mut held: Option<(u32, Vec<FingerprintPlace>)> = None;
        for &ordinal in ordinals {
            let number = ordinal / CHUNK_PLACES;
            let damaged = |detail| Error::Damaged {
                what: format!("chunk {number} of the positions of document {document}"),
                detail,
            };
            let chunk = match held {
                Some((have, ref chunk)) if have == number => chunk,
                _ => {
                    let value = self
                        .engine
                        .get(POSITIONS, position_key(document, number), "read positions")?
                        .ok_or_else(|| self.missing_row(document, || damaged("it is missing")))?;
                    &held.insert((number, positions::decode(&value).map_err(damaged)?)).1
                }
            };
            let place = chunk.get((ordinal % CHUNK_PLACES) as usize);
            places.push(*place.ok_or_else(|| damaged("it holds too few places"))?);
        }
        Ok(places)
    }

    /// The postings of one document, ascending. Reads every posting of the runs it may be in: for when
    /// the document's text cannot be had.
    pub(crate) fn postings_of(&self, document: u32) -> Result<Vec<Posting>> {
        let mut postings = Vec::new();
        let may_hold = |run: &RunRecord| (run.first_document..=run.last_document).contains(&document);
        let (_, mut readers) = self.readers(may_hold)?;
        for reader in &mut readers {
            while let Some(posting) = reader.next()? {
                postings.extend((posting.document == document).then_some(posting));
            }
        }
        postings.sort_unstable();
        Ok(postings)
    }

    /// Calls `visit` with the live postings of all runs, ascending.
    pub(crate) fn for_each_posting(&self, mut visit: impl FnMut(Posting) -> Result<()>) -> Result<()> {
        let (view, mut readers) = self.readers(|_| true)?;
        run_reader::merge(&mut readers, |posting| if view.is_live(posting.document) { visit(posting) } else { Ok(()) })
    }

    /// Readers of the runs of a commit that are `wanted`.
    fn readers(&self, wanted: impl Fn(&RunRecord) -> bool) -> Result<(Arc<View>, Vec<RunReader<'_>>)> {
        self.of_one_commit(|view| {
            let runs = view.runs.iter().filter(|(_, record)| wanted(record));
            runs.map(|&(run, _)| RunReader::new(self, run)).collect()
        })
    }

    /// Calls `visit` with each hash that live documents hold, ascending: the number of its postings, and the
    /// documents, ascending and each once. Reads every posting.
    pub(crate) fn for_each_hash(&self, mut visit: impl FnMut(u64, &[u32]) -> Result<()>) -> Result<()> {
        let mut current = 0;
        let mut postings = 0;
        let mut holders: Vec<u32> = Vec::new();
        self.for_each_posting(|posting| {
            if posting.hash != current && postings > 0 {
                visit(postings, &holders)?;
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
        if postings > 0 { visit(postings, &holders) } else { Ok(()) }
    }

    /// Divides all hashes into `count` ranges that hold about as many postings each.
    pub(crate) fn hash_ranges(&self, count: usize) -> Vec<RangeInclusive<u64>> {
        write::ranges::of_hashes(&self.profile, count)
    }

    /// Calls `visit` with each hash of a range that live documents hold, ascending, and with all its postings in live
    /// documents, ascending. Several ranges can be read at once.
    pub(crate) fn for_each_hash_in(
        &self,
        hashes: &RangeInclusive<u64>,
        visit: &mut dyn FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()> {
        let readers = |view: &View| {
            view.runs
                .iter()
                .map(|&(run, _)| RunReader::of_hashes(self, run, hashes.clone()))
                .collect::<Result<Vec<_>>>()
        };
        let (view, mut readers) = self.of_one_commit(readers)?;
        let is_live = |document| view.is_live(document);
        let wanted: Option<&dyn Fn(u32) -> bool> = if view.has_deleted() { Some(&is_live) } else { None };
        run_reader::merge_hashes(&mut readers, wanted, visit)
    }

    /// Calls `visit` with each hash of a range that one of `documents` holds, ascending, and with all its postings in live
    /// documents, ascending. Reads the runs that these documents may be in from end to end, and looks up what they hold in all:
    /// about `expected` hashes. Several ranges can be read at once.
    pub(crate) fn for_each_hash_of(
        &self,
        documents: &RoaringBitmap,
        hashes: &RangeInclusive<u64>,
        expected: usize,
        visit: &mut dyn FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()> {
        let (_, mut readers) = self.of_one_commit(|view| {
            let runs = view.runs.iter().filter(|(_, record)| may_hold(record, documents));
            runs.map(|&(run, _)| RunReader::of_hashes(self, run, hashes.clone())).collect::<Result<Vec<_>>>()
        })?;
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

    /// Postings of the runs that these documents may be in.
    pub(crate) fn postings_near(&self, documents: &RoaringBitmap) -> u64 {
        let view = self.view();
        view.runs.iter().filter(|(_, record)| may_hold(record, documents)).map(|(_, record)| record.postings).sum()
    }

    /// Calls `visit` with the encoded chunks of a document's positions, in order.
    fn for_each_chunk(&self, document: u32, mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let first = position_key(document, 0);
        for entry in self.engine.entries(POSITIONS, &first, "read positions")? {
            let (key, value) = entry?;
            let Some((_, chunk)) = split_u32(&key).filter(|(rest, _)| rest[..] == first[..4]) else { break };
            visit(chunk, &value)?;
        }
        Ok(())
    }

    /// The engine's tables, by level.
    pub(crate) fn levels(&self) -> Result<Vec<Level>> {
        self.engine.levels()
    }

    /// Bytes kept in memory of what was read, and the most that are.
    pub(crate) fn cached_bytes(&self) -> (u64, u64) {
        (self.filter_use.cached_bytes() as u64, self.engine.cache().bytes() as u64)
    }

    /// Bytes on disk: the tables of each column family, and what the engine keeps beside them.
    pub(crate) fn bytes_by_part(&self) -> Result<Vec<(&'static str, u64)>> {
        let mut parts = Vec::with_capacity(FAMILIES.len() + 1);
        for name in FAMILIES {
            parts.push((name, self.engine.table_bytes(name)?));
        }
        let path = self.root.join(format::STORE);
        let mut total = 0;
        for entry in std::fs::read_dir(&path).map_err(Error::io("measure", &path))? {
            // A file that a writer removes meanwhile takes no space.
            total += entry.and_then(|entry| entry.metadata()).map_or(0, |metadata| metadata.len());
        }
        let tables: u64 = parts.iter().map(|&(_, bytes)| bytes).sum();
        parts.push((LOGS, total.saturating_sub(tables)));
        Ok(parts)
    }
}

/// Whether a run may hold postings of one of these documents.
fn may_hold(run: &RunRecord, documents: &RoaringBitmap) -> bool {
    documents.range_cardinality(run.first_document..=run.last_document) > 0
}

fn missing(what: &str) -> Error {
    Error::Damaged { what: what.into(), detail: "it is missing" }
}
