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
use super::block::Posting;
use super::create::synced;
use super::format::{
    DIGESTS, DOCUMENTS, INCOMING, NAMES, POSITIONS, STATE_KEY, digest_key, document_key, name_key, position_key,
    run_key,
};
use super::positions::CHUNK_PLACES;
use super::records::{self, DocumentRecord, RunRecord};
use super::run_reader::{self, RunReader};
use super::run_writer::RunWriter;
use super::sorted_file::{SortedFiles, file_options};
use super::{Store, View, failed, family, mark};
use crate::error::Result;

impl Store {
    /// Makes `view` the database's state, together with the rows of `write`: the one synced write of a commit.
    pub(super) fn change(&self, mut write: WriteBatch, mut view: View, action: &'static str) -> Result<()> {
        view.state.commits += 1;
        write.put(STATE_KEY, records::encode(&view.state)?);
        self.db.write_opt(write, &synced()).map_err(failed(action))?;
        let commits = view.state.commits;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        mark::write(&self.root, commits)
    }
}

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
        let options = file_options(POSITIONS);
        let mut files = SortedFiles::new(store.root.join(INCOMING), POSITIONS, &options);
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
        let postings = batch.postings.as_mut_slice();
        postings.par_sort_unstable();
        // Folding has numbers of its own, but none while a batch has runs.
        self.next_run = self.next_run.max(store.view().state.next_run);
        let options = RunWriter::options();
        let mut writer = RunWriter::new(store, self.next_run, &options);
        for (index, &posting) in postings.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| postings[before]);
            if before.is_none_or(|before| (before.hash, before.document) != (posting.hash, posting.document)) {
                *self.distinct.entry(posting.document).or_default() += 1;
            }
            writer.push(posting)?;
        }
        let run = writer.finish(store)?;
        self.next_run += u32::from(run.is_some());
        Ok(run)
    }

    /// Copies the postings and positions of documents of another store; `moved` pairs their ids there with
    /// those they have in this batch, ascending in both.
    pub(crate) fn adopt(
        &mut self,
        store: &Store,
        batch: &mut Batch,
        other: &Store,
        moved: &[(u32, u32)],
    ) -> Result<()> {
        let options = file_options(POSITIONS);
        let mut files = SortedFiles::new(store.root.join(INCOMING), POSITIONS, &options);
        for &(from, to) in moved {
            other.for_each_chunk(from, |chunk, value| files.put(&position_key(to, chunk), value))?;
        }
        files.ingest(&store.db)?;

        self.next_run = self.next_run.max(store.view().state.next_run);
        let options = RunWriter::options();
        let mut writer = RunWriter::new(store, self.next_run, &options);
        other.for_each_posting(|posting| match moved.binary_search_by_key(&posting.document, |pair| pair.0) {
            Ok(index) => writer.push(Posting { document: moved[index].1, ..posting }),
            Err(_) => Ok(()),
        })?;
        let run = writer.finish(store)?;
        self.next_run += u32::from(run.is_some());
        batch.runs.extend(run);
        Ok(())
    }

    /// Makes the batch part of the database and empties it. Durable when it returns.
    pub(crate) fn commit(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        self.spill(store, batch)?;
        for &document in &self.spread {
            let distinct = distinct_over_runs(store, batch, document)?;
            self.distinct.insert(document, distinct);
        }
        let db = &store.db;
        let (documents, names) = (family(db, DOCUMENTS)?, family(db, NAMES)?);
        let (digests, positions) = (family(db, DIGESTS)?, family(db, POSITIONS)?);
        let mut view = View::clone(&store.view());
        let state = &mut view.state;
        let mut write = WriteBatch::default();
        for (id, record) in &mut batch.documents {
            // Adopted documents bring theirs.
            record.distinct = self.distinct.get(id).copied().unwrap_or(record.distinct);
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
            write.delete_cf(documents, document_key(*id));
            write.delete_cf(names, name_key(&record.name, *id));
            write.delete_cf(digests, digest_key(&record.digest, *id));
            for chunk in 0..record.fingerprints.div_ceil(u64::from(CHUNK_PLACES)) {
                write.delete_cf(positions, position_key(*id, chunk as u32));
            }
            state.documents -= 1;
            state.bytes -= record.bytes;
            state.symbols -= record.symbols;
            state.fingerprints -= record.fingerprints;
        }
        for &id in &batch.burnt {
            write.delete_range_cf(positions, position_key(id, 0), position_key(id + 1, 0));
        }
        let mut buried: Vec<u32> = batch.deleted.keys().copied().collect();
        buried.extend(&batch.burnt);
        view.tombstones.change(&buried, &[], db, &mut write)?;
        let is_boilerplate = |document: &&(u32, DocumentRecord)| document.1.boilerplate;
        let boilerplate: Vec<u32> = batch.documents.iter().filter(is_boilerplate).map(|document| document.0).collect();
        view.boilerplate.change(&boilerplate, &buried, db, &mut write)?;
        for (run, record) in &batch.runs {
            write.put(run_key(*run), records::encode(record)?);
        }
        state.next_document = batch.document;
        state.next_run = state.next_run.max(self.next_run);
        state.committed_at = crate::clock::now();
        view.runs.append(&mut batch.runs);
        store.change(write, view, "commit")?;
        self.distinct.clear();
        self.spread.clear();
        *batch = batch.next();
        Ok(())
    }
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
        Ok(())
    })?;
    Ok(distinct)
}
