//! Commit: adds a batch to the database, all of it or nothing.
//!
//! A commit first writes postings and positions as sorted files. Their run number and document ids are not
//! visible to any reader. Then one synced write adds the documents, their names and digests, the runs and the
//! state. A crash before that write leaves rows that no reader sees. The next writer discards them.
//!
//! **Sorting** uses the in-place sort of rayon. It takes 17% of the instructions of a load with w = 1. Other
//! sorts were timed on 24 million postings with repeated hashes, with one and two threads. Their times,
//! relative to rayon's:
//!
//! * `rdst`, a radix sort last released in 2024: 0.6 to 1.0;
//! * our own partition by the upper bits: 0.7 to 1.3;
//! * `voracious_radix_sort`: 0.5 to 1.4, with memory for a second copy.
//!
//! None of these is worth a dependency or more code.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError};

use rayon::prelude::*;

use crate::codec::block::Posting;
use crate::codec::format::{
    CONTAINERS, DIGESTS, DOCUMENTS, IDENTITY_KEY, INCOMING, MAIN, NAMES, POSITIONS, STATE_KEY, TEXTS, chunk_key,
    digest_key, document_key, keys_of, name_key, name_prefix, run_key,
};
use crate::codec::positions;
use crate::codec::records::{self, DocumentRecord, RunRecord, TextCounts, TextView};
use crate::engine::Changes;
use crate::engine::sorted_file::WrittenFiles;
use crate::open::commit_mark;
use crate::read::run_reader::{self, RunReader};
use crate::write::batch::{Batch, Chunks};
use crate::write::kept_runs::KeptRun;
use crate::write::posting_buffer::PostingBuffer;
use crate::write::run_writer::{self, Filters, WrittenRun};
use crate::{Store, View, name_places, texts};
use fpdb_host::error::Result;
use fpdb_host::progress::{Task, is_due};
use fpdb_kernel::profile;

/// Minimum number of postings, or of chunks of positions, in the part of one thread.
const POSTINGS_IN_PART: usize = 1 << 17;
const CHUNKS_IN_PART: usize = 1 << 8;

/// Fewer bytes of positions or texts than this go through the engine's log. The engine then makes one table
/// of many commits. If each commit wrote a file, each commit would add an open file.
const FILE_WORTHWHILE: usize = 4 << 20;

impl Store {
    /// Commits `changes` together with the state of `view`, in one synced write, and shows `view` to readers.
    pub(crate) fn change(&self, mut changes: Changes<'_>, mut view: View, action: &'static str) -> Result<()> {
        view.state.commits += 1;
        changes.put(MAIN, STATE_KEY, records::encode(&view.state)?)?;
        // The identity is written with each commit, so that a log of another database is noticed.
        if let Some(identity) = &self.identity {
            changes.put(MAIN, IDENTITY_KEY, identity)?;
        }
        // The commit is written and shown under one lock. So a reader that misses a deleted row then finds
        // the new view.
        let mut shown = self.view.write().unwrap_or_else(PoisonError::into_inner);
        changes.commit(action)?;
        let before = std::mem::replace(&mut *shown, Arc::new(view));
        drop(shown);
        self.past.add(&before);
        drop(before);
        self.mark()?;
        self.remove_folded()
    }

    /// If the log holds many committed rows, writes them as tables, because the next opening replays the log.
    pub fn settle(&self) -> Result<()> {
        if self.engine.settle()? { self.mark() } else { Ok(()) }
    }

    /// Writes the commit mark: the last commit and the length of the list of tables. Writes nothing if the
    /// engine failed to sync that list.
    pub(crate) fn mark(&self) -> Result<()> {
        if !self.engine.is_sound() {
            return Ok(());
        }
        let state = &self.view().state;
        commit_mark::write(&self.root, state.commits, Some(state.counts()), self.identity.clone())
    }
}

/// Counts of one document: its distinct hashes, or the postings that repeat an earlier hash.
#[derive(Clone, Copy, Debug, Default)]
struct Repeats {
    all: u64,
    /// The number of fingerprints in `all` that belong to the text as written, if there are two views.
    of_text: u64,
}

impl Repeats {
    fn add(&mut self, view: profile::View) {
        self.all += 1;
        self.of_text += u64::from(view == profile::View::Text);
    }
}

/// Writes batches into a store.
pub struct Committer {
    /// The number of the next run. While the batch has runs of its own, it is above the committed number.
    next_run: u32,
    /// Number of postings that repeat an earlier hash of their document, by document of the current batch.
    /// Counts sorted postings only.
    repeats: HashMap<u32, Repeats>,
    /// The document that was being added when the last run was written.
    partial: Option<u32>,
    /// Documents with postings in more than one run of the batch.
    spread: BTreeSet<u32>,
    /// Committed runs that a later commit replaces, in the order of their numbers.
    pub(super) kept: Vec<KeptRun>,
}

impl Committer {
    /// A committer for `store`, with no batch begun.
    pub fn new(store: &Store) -> Self {
        let next_run = store.view().state.next_run;
        Self { next_run, repeats: HashMap::new(), partial: None, spread: BTreeSet::new(), kept: Vec::new() }
    }

    /// Moves postings, positions and texts of the batch into the store, to free their memory. No reader sees
    /// them before the commit.
    pub fn spill(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        self.write(store, batch, Filters::Whole).map(drop)
    }

    /// Like [`Self::spill`]. Also returns the postings, ascending.
    pub(super) fn write(&mut self, store: &Store, batch: &mut Batch, filters: Filters) -> Result<PostingBuffer> {
        let run = self.next_run(store);
        let (postings, chunks) = batch.content();
        let (chunks, written) = store.pool().run(|| {
            Ok(rayon::join(|| write_chunks(store, chunks), || write_postings(store, run, filters, postings)))
        })?;
        chunks?;
        write_texts(store, batch.texts())?;
        let (run, repeats) = written?;
        for (document, view) in repeats.into_iter().flatten() {
            self.repeats.entry(document).or_default().add(view);
        }
        self.next_run += u32::from(run.is_some());
        self.spread.extend(self.partial);
        let postings = batch.written(run);
        self.partial = batch.is_spilled().then_some(batch.document);
        Ok(postings)
    }

    /// Removes all rows of the document being added from the store. The caller then abandons the document,
    /// and its id is free again.
    pub fn discard(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        let document = batch.document;
        // The runs also hold earlier documents. So they are merged into one run without this document.
        let runs: Vec<u32> = batch.runs.drain(..).map(|(run, _)| run).collect();
        let run = self.next_run(store);
        let (run, _) = run_writer::write_run(store, run, Filters::Whole, vec![()], |(), part| {
            let readers = runs.iter().map(|&run| RunReader::new(&store.engine, run));
            run_reader::merge(&mut readers.collect::<Result<Vec<RunReader<'_>>>>()?, |posting| {
                if posting.document == document { Ok(()) } else { part.push(posting) }
            })
        })?;
        self.take_run(batch, run);
        runs.into_iter().try_for_each(|run| store.remove_run(run))?;
        let mut changes = store.engine.changes();
        delete_rows(document, &mut changes)?;
        changes.write("remove an abandoned document")?;
        self.repeats.remove(&document);
        self.spread.remove(&document);
        self.partial = None;
        Ok(())
    }

    /// Copies the postings, positions and texts of documents of the store `other`. `moved` has one pair for
    /// each document: its id in `other` and its id in this batch. The ids ascend on both sides.
    pub fn adopt(
        &mut self,
        store: &Store,
        batch: &mut Batch,
        other: &Store,
        moved: &[(u32, u32)],
        task: &Task<'_>,
    ) -> Result<()> {
        let incoming = store.root.join(INCOMING);
        let mut files = store.engine.sorted_files(&incoming, POSITIONS, 0)?;
        for &(from, to) in moved {
            other.for_each_chunk(from, |chunk, value| files.put(&chunk_key(to, chunk), value))?;
        }
        store.engine.ingest(POSITIONS, files.finish()?)?;

        let mut files = store.engine.sorted_files(&incoming, TEXTS, 0)?;
        for &(from, to) in moved {
            other.for_each_stored_chunk(from, &other.document(from)?, |chunk, value| {
                files.put(&chunk_key(to, chunk), value)
            })?;
        }
        store.engine.ingest(TEXTS, files.finish()?)?;

        let run = self.next_run(store);
        let postings = other.view().posting_count();
        let (run, _) = run_writer::write_run(store, run, Filters::Whole, vec![()], |(), part| {
            let mut seen = 0;
            other.for_each_posting(|posting| {
                seen += 1;
                if is_due(seen) {
                    // Progress is reported without a check for a stop: a stopped merge keeps these documents.
                    task.reports().step("postings looked through", seen, postings);
                }
                match moved.binary_search_by_key(&posting.document, |pair| pair.0) {
                    Ok(index) => part.push(Posting { document: moved[index].1, ..posting }),
                    Err(_) => Ok(()),
                }
            })
        })?;
        self.take_run(batch, run);
        Ok(())
    }

    /// The number that the next run must have. A fold may have taken a number since the last call.
    pub(crate) fn next_run(&mut self, store: &Store) -> u32 {
        self.next_run = self.next_run.max(store.view().state.next_run);
        self.next_run
    }

    /// Adds a run to the batch. Its number must be the one that `next_run` returned.
    pub(crate) fn take_run(&mut self, batch: &mut Batch, run: Option<(u32, RunRecord)>) {
        self.next_run += u32::from(run.is_some());
        batch.runs.extend(run);
    }

    /// Adds the batch to the database and empties it. The batch is on disk when this returns.
    pub fn commit(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        self.spill(store, batch)?;
        self.commit_written(store, batch)
    }

    /// Commits a batch whose postings, positions and texts are in the store.
    pub(super) fn commit_written(&mut self, store: &Store, batch: &mut Batch) -> Result<()> {
        let mut spread = HashMap::new();
        for &document in &self.spread {
            spread.insert(document, distinct_over_runs(store, batch, document)?);
        }
        let mut view = View::clone(&store.view());
        let state = &mut view.state;
        let mut write = store.engine.changes();
        for (id, record) in &batch.pending.documents {
            let repeats = self.repeats.get(id).copied().unwrap_or_default();
            // Both `spread` and the record count fingerprints of this batch.
            let distinct = spread.get(id).copied().unwrap_or(Repeats {
                all: record.distinct.saturating_sub(repeats.all),
                of_text: record.text().map_or(0, |text| text.distinct.saturating_sub(repeats.of_text)),
            });
            let text_view = record.text_view.0.map(|text| TextCounts { distinct: distinct.of_text, ..text });
            let stored = DocumentRecord { distinct: distinct.all, text_view: TextView(text_view), ..record.clone() };
            write.put(DOCUMENTS, document_key(*id), records::encode(&stored)?)?;
            write.put(NAMES, name_key(&record.name, *id), [])?;
            write.put(DIGESTS, digest_key(&record.digest, *id), [])?;
            state.add(record)?;
        }
        for (id, record) in &batch.pending.updates {
            write.put(DOCUMENTS, document_key(*id), records::encode(record)?)?;
            if let Some(before) = batch.pending.renamed.get(id) {
                write.delete(NAMES, name_key(before, *id))?;
                write.put(NAMES, name_key(&record.name, *id), [])?;
            }
        }
        for (id, record) in &batch.pending.deleted {
            write.delete(DOCUMENTS, document_key(*id))?;
            write.delete(NAMES, name_key(&record.name, *id))?;
            write.delete(DIGESTS, digest_key(&record.digest, *id))?;
            delete_chunks(POSITIONS, *id, positions::chunks(record.fingerprints), &mut write)?;
            delete_chunks(TEXTS, *id, texts::chunks_of(record), &mut write)?;
            state.remove(record)?;
        }
        for &id in &batch.unused_ids {
            delete_rows(id, &mut write)?;
        }
        let mut buried: Vec<u32> = batch.pending.deleted.keys().copied().collect();
        buried.extend(&batch.unused_ids);
        view.tombstones.change(&buried, &[], &mut write)?;
        name_places::put(&mut write, &batch.places)?;
        for (source, record) in &batch.containers {
            match record {
                Some(record) => write.put(CONTAINERS, name_prefix(source), records::encode(record)?)?,
                // The mark of a container that was read in part stays until the container is read again.
                None if store.is_unread(source)? => {}
                None => write.delete(CONTAINERS, name_prefix(source))?,
            }
        }
        let written = batch.pending.documents.iter().map(|(id, record)| (*id, record));
        let written = written.chain(batch.pending.updates.iter().map(|(&id, record)| (id, record)));
        let written = written.filter(|&(id, record)| record.boilerplate && !batch.pending.deletes(id));
        let boilerplate: Vec<u32> = written.map(|(id, _)| id).collect();
        view.boilerplate.change(&boilerplate, &buried, &mut write)?;
        for (run, record) in &batch.runs {
            write.put(MAIN, run_key(*run), records::encode(record)?)?;
        }
        state.next_document = batch.document;
        state.next_run = state.next_run.max(self.next_run);
        state.committed_at = fpdb_host::clock::now();
        view.runs.append(&mut batch.runs);
        store.change(write, view, "commit")?;
        self.repeats.clear();
        self.spread.clear();
        *batch = batch.next();
        Ok(())
    }
}

/// Deletes all rows of a document's positions and text, however many there are.
fn delete_rows(id: u32, changes: &mut Changes<'_>) -> Result<()> {
    let (first, after) = keys_of(id);
    changes.delete_between(POSITIONS, &first, &after)?;
    changes.delete_between(TEXTS, &first, &after)
}

/// Maximum number of rows that are deleted one by one. More rows are deleted as one range, so a damaged
/// record with a huge number costs nothing. But a deleted range slows each reader of the family a little.
const FEW_ROWS: u32 = 64;

/// Deletes the chunks of a document in one family, positions or texts.
fn delete_chunks(family: &str, id: u32, chunks: u32, changes: &mut Changes<'_>) -> Result<()> {
    if chunks > FEW_ROWS {
        let (first, after) = keys_of(id);
        return changes.delete_between(family, &first, &after);
    }
    (0..chunks).try_for_each(|chunk| changes.delete(family, chunk_key(id, chunk)))
}

/// Sorts the postings and writes them as the run `run`. Returns the run, and a list of documents: one entry
/// each time a document repeats one of its hashes, with the view of the hash.
fn write_postings(
    store: &Store,
    run: u32,
    filters: Filters,
    postings: &mut [Posting],
) -> Result<WrittenRun<Vec<(u32, profile::View)>>> {
    let of_store = *store.profile();
    let parts = postings.len().div_ceil(POSTINGS_IN_PART).clamp(1, rayon::current_num_threads());
    let parts = divided(postings, &store.hash_ranges(parts));
    run_writer::write_run(store, run, filters, parts, |postings, part| {
        postings.sort_unstable();
        let again = |pair: &&[Posting]| (pair[0].hash, pair[0].document) == (pair[1].hash, pair[1].document);
        let repeat = |pair: &[Posting]| (pair[1].document, of_store.view_of(pair[1].hash));
        let repeats = postings.windows(2).filter(again).map(repeat).collect();
        part.extend(postings)?;
        Ok(repeats)
    })
}

/// Rearranges the postings, so that those of each range are together, in the order of the ranges. Returns one
/// slice for each range.
fn divided<'a>(mut postings: &'a mut [Posting], ranges: &[RangeInclusive<u64>]) -> Vec<&'a mut [Posting]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (mut low, mut high) = (0, postings.len());
        loop {
            while low < high && postings[low].hash <= *range.end() {
                low += 1;
            }
            while low < high && postings[high - 1].hash > *range.end() {
                high -= 1;
            }
            if low == high {
                break;
            }
            postings.swap(low, high - 1);
        }
        let (part, after) = postings.split_at_mut(low);
        parts.push(part);
        postings = after;
    }
    parts
}

fn write_chunks(store: &Store, chunks: &Chunks) -> Result<()> {
    if chunks.content_bytes() < FILE_WORTHWHILE {
        let rows = (0..chunks.len()).map(|index| chunks.get(index));
        return write_rows(store, POSITIONS, rows.map(|(document, chunk, bytes)| (chunk_key(document, chunk), bytes)));
    }
    let incoming = store.root.join(INCOMING);
    let size = chunks.len().div_ceil(rayon::current_num_threads()).max(CHUNKS_IN_PART);
    let write = |part: usize| {
        let mut files = store.engine.sorted_files(&incoming, POSITIONS, part)?;
        for index in part * size..chunks.len().min((part + 1) * size) {
            let (document, chunk, bytes) = chunks.get(index);
            files.put(&chunk_key(document, chunk), bytes)?;
        }
        files.finish()
    };
    let parts = (0..chunks.len().div_ceil(size)).into_par_iter();
    let parts: Vec<WrittenFiles> = parts.map(write).collect::<Result<_>>()?;
    let mut files = WrittenFiles::default();
    parts.into_iter().for_each(|part| files.append(part));
    store.engine.ingest(POSITIONS, files)
}

fn write_texts(store: &Store, texts: &[(u32, u32, Vec<u8>)]) -> Result<()> {
    if texts.iter().map(|(_, _, bytes)| bytes.len()).sum::<usize>() < FILE_WORTHWHILE {
        let rows = texts.iter().map(|(document, chunk, bytes)| (chunk_key(*document, *chunk), &bytes[..]));
        return write_rows(store, TEXTS, rows);
    }
    let incoming = store.root.join(INCOMING);
    let mut files = store.engine.sorted_files(&incoming, TEXTS, 0)?;
    for (document, chunk, bytes) in texts {
        files.put(&chunk_key(*document, *chunk), bytes)?;
    }
    store.engine.ingest(TEXTS, files.finish()?)
}

/// Writes rows that no reader sees before the commit. The synced write of the commit makes them durable too.
fn write_rows<'a>(store: &Store, name: &'static str, rows: impl Iterator<Item = ([u8; 8], &'a [u8])>) -> Result<()> {
    let mut changes = store.engine.changes();
    for (key, value) in rows {
        changes.put(name, key, value)?;
    }
    changes.write("write positions and texts")
}

/// The numbers of distinct hashes of a document whose postings lie in several runs of the batch.
fn distinct_over_runs(store: &Store, batch: &Batch, document: u32) -> Result<Repeats> {
    let mut readers = batch
        .runs
        .iter()
        .map(|&(run, _)| RunReader::new(&store.engine, run))
        .collect::<Result<Vec<RunReader<'_>>>>()?;
    let mut distinct = Repeats::default();
    let mut last = None;
    run_reader::merge(&mut readers, |posting| {
        if posting.document == document && last != Some(posting.hash) {
            distinct.add(store.profile().view_of(posting.hash));
            last = Some(posting.hash);
        }
        Ok(())
    })?;
    Ok(distinct)
}
