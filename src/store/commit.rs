//! Commit: a batch becomes part of the database, all of it or nothing.
//!
//! Postings and positions first, as sorted files under a run number and document ids that no reader looks
//! at yet; then one synced write of the documents, their names and digests, the runs and the state. A crash
//! before that write leaves rows nobody sees, which the next writer discards.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};

use rayon::slice::ParallelSliceMut;
use rocksdb::WriteBatch;

use super::batch::Batch;
use super::block::{self, BLOCK_POSTINGS, Posting};
use super::create::synced;
use super::format::{
    DIGESTS, DOCUMENTS, INCOMING, NAMES, POSITIONS, POSTINGS, STATE_KEY, digest_key, document_key, name_key,
    position_key, posting_key, run_key,
};
use super::records::{self, DocumentRecord, RunRecord};
use super::run_reader::{self, RunReader};
use super::sorted_file::{SortedFiles, file_options};
use super::{Store, View, failed, family};
use crate::error::Result;

/// Writes batches into a store.
pub(crate) struct Committer {
    /// The number of the next run: ahead of the committed state while a batch has runs of its own.
    next_run: u32,
    /// Distinct hashes of the documents of the current batch, as far as they have been sorted.
    distinct: HashMap<u32, u64>,
    /// The document that was being added when the last run was written.
    partial: Option<u32>,
    /// Documents with postings in more than one run of the batch.
    spread: BTreeSet<u32>,
}

impl Committer {
    pub(crate) fn new(store: &Store) -> Self {
        let next_run = store.view().state.next_run;
        Self { next_run, distinct: HashMap::new(), partial: None, spread: BTreeSet::new() }
    }

    /// Moves the postings and positions of the batch into the store, where no reader sees them until the
    /// commit, to free their memory.
    pub(crate) fn spill(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        let incoming = store.root.join(INCOMING);
        let options = file_options(POSITIONS);
        let mut files = SortedFiles::new(&incoming, POSITIONS, &options);
        for (document, chunk, bytes) in batch.complete_chunks() {
            files.put(&position_key(document, chunk), bytes)?;
        }
        files.ingest(&store.db)?;
        let run = self.write_run(store, batch)?;
        self.spread.extend(self.partial);
        batch.written(run);
        self.partial = batch.is_spilled().then_some(batch.document);
        Ok(())
    }

    fn write_run(&mut self, store: &Store, batch: &mut Batch) -> Result<Option<(u32, RunRecord)>> {
        batch.postings.par_sort_unstable();
        let postings = &batch.postings;
        let Some(record) = run_record(postings) else { return Ok(None) };
        let run = self.next_run;
        let incoming = store.root.join(INCOMING);
        let options = file_options(POSTINGS);
        let mut files = SortedFiles::new(&incoming, POSTINGS, &options);
        let mut continuation = 0;
        let mut value = Vec::new();
        let mut last: Option<Posting> = None;
        for block in postings.chunks(BLOCK_POSTINGS) {
            continuation = if last.is_some_and(|last| last.hash == block[0].hash) { continuation + 1 } else { 0 };
            value.clear();
            block::encode(block, &mut value);
            files.put(&posting_key(run, block[0].hash, continuation), &value)?;
            for &posting in block {
                if last.is_none_or(|last| (last.hash, last.document) != (posting.hash, posting.document)) {
                    *self.distinct.entry(posting.document).or_default() += 1;
                }
                last = Some(posting);
            }
        }
        files.ingest(&store.db)?;
        self.next_run = run + 1;
        Ok(Some((run, record)))
    }

    /// Makes the batch part of the database and empties it. Durable when it returns.
    pub(crate) fn commit(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        self.spill(store, batch)?;
        for &document in &self.spread {
            let distinct = distinct_over_runs(store, batch, document)?;
            self.distinct.insert(document, distinct);
        }
        let db = &store.db;
        let (documents, names, digests) = (family(db, DOCUMENTS)?, family(db, NAMES)?, family(db, DIGESTS)?);
        let mut view = View::clone(&store.view());
        let state = &mut view.state;
        let mut write = WriteBatch::default();
        for (id, record) in &mut batch.documents {
            record.distinct = self.distinct.get(id).copied().unwrap_or(0);
            write.put_cf(documents, document_key(*id), records::encode(record)?);
            write.put_cf(names, name_key(&record.name, *id), []);
            write.put_cf(digests, digest_key(&record.digest, *id), []);
            state.documents += 1;
            state.bytes += record.bytes;
            state.symbols += record.symbols;
            state.fingerprints += record.fingerprints;
        }
        for (id, record) in &batch.updates {
            write.put_cf(documents, document_key(*id), records::encode(record)?);
        }
        for (id, record) in &batch.deleted {
            forget(&mut write, (documents, names, digests), *id, record);
            state.documents -= 1;
            state.bytes -= record.bytes;
            state.symbols -= record.symbols;
            state.fingerprints -= record.fingerprints;
        }
        let mut buried: Vec<u32> = batch.deleted.keys().copied().collect();
        buried.extend(&batch.burnt);
        view.tombstones.add(&buried, db, &mut write)?;
        for (run, record) in &batch.runs {
            write.put(run_key(*run), records::encode(record)?);
        }
        state.next_document = batch.document;
        state.next_run = self.next_run;
        state.committed_at = crate::clock::now();
        write.put(STATE_KEY, records::encode(state)?);
        db.write_opt(write, &synced()).map_err(failed("commit"))?;
        view.runs.append(&mut batch.runs);
        *store.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        self.distinct.clear();
        self.spread.clear();
        *batch = Batch::new(batch.document);
        Ok(())
    }
}

/// Removes the rows of a deleted document; its postings stay until they are compacted away.
fn forget(
    write: &mut WriteBatch,
    (documents, names, digests): (&rocksdb::ColumnFamily, &rocksdb::ColumnFamily, &rocksdb::ColumnFamily),
    id: u32,
    record: &DocumentRecord,
) {
    write.delete_cf(documents, document_key(id));
    write.delete_cf(names, name_key(&record.name, id));
    write.delete_cf(digests, digest_key(&record.digest, id));
}

fn run_record(postings: &[Posting]) -> Option<RunRecord> {
    let documents = || postings.iter().map(|posting| posting.document);
    Some(RunRecord {
        postings: postings.len() as u64,
        first_document: documents().min()?,
        last_document: documents().max()?,
    })
}

/// The distinct hashes of a document whose postings lie in several runs of the batch.
fn distinct_over_runs(store: &Store, batch: &Batch, document: u32) -> Result<u64> {
    let mut readers =
        batch.runs.iter().map(|&(run, _)| RunReader::new(store, run)).collect::<Result<Vec<RunReader<'_>>>>()?;
    let mut distinct = 0;
    let mut last = None;
    run_reader::merge(&mut readers, |posting| {
        if posting.document == document && last != Some(posting.hash) {
            distinct += 1;
            last = Some(posting.hash);
        }
    })?;
    Ok(distinct)
}
