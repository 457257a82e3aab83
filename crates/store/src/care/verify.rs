//! Verify: checks the checksum and the form of every row, and compares the row with the rows that must agree
//! with it.
//!
//! Memory: 24 bytes for each id ever used. Nothing else grows with the database, because at most
//! [`MOST_PROBLEMS`] are listed.

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::care::damaged_stores::damaged_stores;
use crate::care::findings::{Problem, Verification};
use crate::care::survey::DocumentRows;
use crate::codec::container_record::ContainerRecord;
use crate::codec::format::{
    CONTAINERS, DIGESTS, DOCUMENTS, FILTERS, IDENTITY_KEY, KEPT_OUT_PREFIX, MAIN, MARKER, NAMES, PLACE_PREFIX,
    POSITIONS, SOURCE_PREFIX, TEXTS, chunk_key, digest_key, document_key, keys_of, marker, name_key,
    parse_kept_out_key, parse_name_prefix, parse_place_key, parse_posting_key, source_key, split_u32,
};
use crate::codec::positions;
use crate::codec::records::{self, DocumentRecord, KeptOutRecord, RunRecord, SourceRecord, StateRecord};
use crate::open::{commit_mark, files::read_short};
use crate::read::filter_cursor::FilterCursor;
use crate::read::run_reader::{self, RunReader};
use crate::read::run_rows::{ReadPattern, blocks_of, current_block, rows_of};
use crate::{Posting, Store, View, texts};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};

/// Maximum number of problems that are listed. Further problems are only counted, because one wrong record
/// can concern every row.
const MOST_PROBLEMS: usize = 10_000;

struct Verifier<'a> {
    store: &'a Store,
    view: &'a View,
    found: Verification,
    /// Hashes of the read errors so far, so that a damaged block is listed only once.
    met: FxHashSet<u64>,
    /// Number of problems beyond [`MOST_PROBLEMS`].
    unlisted: u64,
    /// True if not all postings could be counted. Wrong counts of documents are then not listed.
    postings_unread: bool,
    /// True if not all records of documents could be read.
    records_unread: bool,
}

impl Store {
    /// Checks the whole database. The result lists damage. An error means that the check was impossible.
    pub fn verify(&self, task: &Task<'_>) -> Result<Verification> {
        let view = self.view();
        let mut verifier = Verifier {
            store: self,
            view: &view,
            found: Verification::default(),
            met: FxHashSet::default(),
            unlisted: 0,
            postings_unread: false,
            records_unread: false,
        };
        for (run, record) in &view.runs {
            verifier.check_run(*run, record, task)?;
            task.step("postings", verifier.found.postings, view.posting_count())?;
        }
        let tallies = verifier.count_postings(task)?;
        let sums = verifier.check_documents(&tallies, task)?;
        verifier.check_sums(&sums);
        verifier.check_marker()?;
        let has_identity = self.engine.get(MAIN, IDENTITY_KEY, "read its identity")?.is_some();
        if let Some(fault) = commit_mark::fault(&self.root, has_identity)? {
            verifier.problem(commit_mark::NAMED, fault);
        }
        verifier.check_strays(NAMES)?;
        verifier.check_strays(DIGESTS)?;
        verifier.check_stray_chunks(POSITIONS, |record| positions::chunks(record.fingerprints))?;
        verifier.check_stray_chunks(TEXTS, texts::chunks_of)?;
        verifier.check_containers()?;
        verifier.check_sources()?;
        verifier.check_kept_out()?;
        verifier.check_places()?;
        if verifier.unlisted > 0 {
            let detail = format!("{} more problems were found, which are not listed", verifier.unlisted);
            verifier.found.problems.push(Problem { what: "database".into(), detail });
        }
        verifier.found.damaged_stores = damaged_stores(&self.root)?;
        Ok(verifier.found)
    }
}

impl Verifier<'_> {
    fn problem(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.list(Problem { what: what.into(), detail: detail.into() });
    }

    fn list(&mut self, problem: Problem) {
        match self.found.problems.len() < MOST_PROBLEMS {
            true => self.found.problems.push(problem),
            false => self.unlisted += 1,
        }
    }

    /// True if no document was ever committed. Rows of documents are then remains of a killed assembly, and
    /// the next writer discards them.
    fn awaits_assembly(&self) -> bool {
        self.view.state.next_document == 0
    }

    /// Returns the value, or lists its damage as a problem and returns `None`. Other errors, such as a
    /// refused permission, end the verification.
    fn listed<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_damage() => {
                let problem = Problem::of(&error);
                // The engine's error names the file and the place in it.
                let place = if problem.detail.is_empty() { &problem.what } else { &problem.detail };
                if self.met.insert(xxh3_64(place.as_bytes())) {
                    self.list(problem);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Checks the blocks of a run: they must decode, ascend, have the right continuations, and hold the
    /// recorded number of postings. The filters of the run must let each of its hashes pass.
    fn check_run(&mut self, run: u32, record: &RunRecord, task: &Task<'_>) -> Result<()> {
        let mut postings = 0;
        let checked = self.check_postings(run, record, &mut postings, task);
        self.found.postings += postings;
        checked
    }

    fn check_postings(&mut self, run: u32, record: &RunRecord, read: &mut u64, task: &Task<'_>) -> Result<()> {
        let what = format!("run {run}");
        let mut blocks = blocks_of(&self.store.engine, run, ReadPattern::Through)?;
        let mut filters = FilterCursor::new(self.store, run)?;
        blocks.seek_to_first();
        let mut last: Option<Posting> = None;
        let mut before: Option<(u64, u32)> = None;
        let mut is_in_range = true;
        loop {
            let current = current_block(&blocks);
            let (last_hash, block) = match self.listed(current)? {
                // The iterator cannot pass an unreadable block.
                None => return Ok(()),
                Some(None) => break,
                Some(Some(block)) => block,
            };
            let continuation = match before {
                Some((hash, continuation)) if hash == last_hash => continuation + 1,
                _ => 0,
            };
            before = Some((last_hash, continuation));
            if blocks.key().and_then(parse_posting_key) != Some((run, last_hash, continuation)) {
                self.problem(&what, "a block's key does not fit its postings");
            }
            for posting in block.postings() {
                if last.is_some_and(|last| last >= posting) {
                    self.problem(&what, "its postings do not ascend");
                    return Ok(());
                }
                if last.is_none_or(|last| last.hash != posting.hash) {
                    match self.listed(filters.may_hold(posting.hash))? {
                        None => return Ok(()),
                        Some(true) => {}
                        Some(false) => {
                            self.problem(&what, "a filter keeps out a hash that it holds");
                            return Ok(());
                        }
                    }
                }
                if is_in_range && !(record.first_document..=record.last_document).contains(&posting.document) {
                    is_in_range = false;
                    self.problem(
                        &what,
                        format!("it holds a posting of document {}, outside its range", posting.document),
                    );
                }
                last = Some(posting);
                if is_due(*read) {
                    task.step("postings", self.found.postings + *read, self.view.posting_count())?;
                }
                *read += 1;
            }
            if last.is_none_or(|last| last.hash != last_hash) {
                self.problem(&what, "a block does not end with the hash of its key");
            }
            blocks.next();
        }
        let mut rows = rows_of(&self.store.engine, FILTERS, run, ReadPattern::Through)?;
        rows.seek_to_first();
        let mut filter_bytes = 0;
        while let Some(filter) = rows.value() {
            filter_bytes += filter.len() as u64;
            rows.next();
        }
        if self.listed(rows.check())?.is_some() && filter_bytes != record.filter_bytes {
            let written = record.filter_bytes;
            self.problem(&what, format!("it has {filter_bytes} bytes of filters, and {written} were written"));
        }
        if *read != record.postings {
            self.problem(&what, format!("it holds {read} postings, and {} were written", record.postings));
        }
        Ok(())
    }

    /// Counts the postings of each document. The result has one entry for each id.
    fn count_postings(&mut self, task: &Task<'_>) -> Result<Vec<DocumentRows>> {
        let next = self.view.state.next_document;
        // The length is limited by the ids in the runs, because a damaged state may name a huge number.
        let posted = self.view.runs.iter().map(|(_, run)| u64::from(run.last_document) + 1).max().unwrap_or(0);
        let mut tallies = vec![DocumentRows::default(); posted.min(next.into()) as usize];
        let mut uncommitted = None;
        let readers = self.view.runs.iter().map(|&(run, _)| RunReader::new(&self.store.engine, run));
        let mut readers = readers.collect::<Result<Vec<RunReader<'_>>>>()?;
        let (mut last, mut counted) = (None, 0);
        let merged = run_reader::merge(&mut readers, |posting| {
            counted += 1;
            if is_due(counted) {
                task.step("postings counted", counted, self.view.posting_count())?;
            }
            match tallies.get_mut(posting.document as usize) {
                Some(tally) => tally.add(posting, last != Some((posting.hash, posting.document)), self.store.profile()),
                // An id above the limit of its run is already listed as a problem of the run.
                None if posting.document >= next => uncommitted = Some(posting.document).max(uncommitted),
                None => {}
            }
            last = Some((posting.hash, posting.document));
            Ok(())
        });
        self.postings_unread = self.listed(merged)?.is_none();
        if let Some(id) = uncommitted {
            self.problem("the postings", format!("there are some of document {id}, which was never committed"));
        }
        Ok(tallies)
    }

    /// Checks the record of each document against its postings, positions, name and digest. Returns the sums
    /// of the records.
    fn check_documents(&mut self, tallies: &[DocumentRows], task: &Task<'_>) -> Result<StateRecord> {
        let mut sums = StateRecord::default();
        let mut recorded = RoaringBitmap::new();
        let mut uncounted = 0;
        if self.awaits_assembly() {
            return Ok(sums);
        }
        for entry in self.store.engine.entries(DOCUMENTS, &[], "read the documents")? {
            let Some((key, value)) = self.listed(entry)? else {
                self.records_unread = true;
                break;
            };
            let Some(([], id)) = split_u32(&key) else {
                self.problem("a document's record", "its key is not four bytes");
                continue;
            };
            let what = format!("document {id}");
            if !self.view.is_live(id) {
                self.problem(&what, "it is deleted or was never committed, and has a record");
                continue;
            }
            let Some(record) = self.listed(records::decode::<DocumentRecord>(&value, || what.clone()))? else {
                continue;
            };
            let what = format!("{what}, {}", record.name);
            recorded.insert(id);
            sums.documents += 1;
            sums.bytes = sums.bytes.saturating_add(record.bytes);
            sums.symbols = sums.symbols.saturating_add(record.symbols);
            sums.fingerprints = sums.fingerprints.saturating_add(record.fingerprints);
            let tally = tallies.get(id as usize).copied().unwrap_or_default();
            let is_uncounted = self.postings_unread && tally.postings < record.fingerprints;
            uncounted += u64::from(is_uncounted);
            for (held, wanted, name) in [
                (tally.postings, record.fingerprints, "postings"),
                (tally.distinct, record.distinct, "distinct hashes"),
                (
                    tally.distinct_of_text,
                    record.text().map_or(0, |text| text.distinct),
                    "distinct hashes of the text as written",
                ),
            ] {
                if held != wanted && !is_uncounted {
                    self.problem(&what, format!("it has {held} {name}, and its record says {wanted}"));
                }
            }
            if tally.postings == record.fingerprints && !tally.is_whole(record.fingerprints) {
                self.problem(&what, "its postings do not name each of its fingerprints once");
            }
            if self.view.is_boilerplate(id) != record.boilerplate {
                self.problem(&what, "its record and the set of boilerplate disagree");
            }
            for (name, key) in [(NAMES, name_key(&record.name, id)), (DIGESTS, digest_key(&record.digest, id).to_vec())]
            {
                let row = self.store.engine.get(name, key, "read names and digests");
                if let Some(None) = self.listed(row)? {
                    self.problem(&what, format!("it is not among the {name}"));
                }
            }
            self.check_positions(id, &what, &record)?;
            if record.stored_text {
                let checked = self.store.check_text(id, &record);
                self.found.texts += u64::from(self.listed(checked)?.is_some());
            }
            self.found.documents += 1;
            task.step("documents", self.found.documents, self.view.state().documents)?;
        }
        if uncounted > 0 {
            let detail =
                format!("not all can be read: those of {uncounted} documents cannot be compared with their records");
            self.problem("the postings", detail);
        }
        let mut unrecorded = 0;
        for (id, tally) in (0..).zip(tallies) {
            if tally.postings == 0 || !self.view.is_live(id) || recorded.contains(id) {
                continue;
            }
            unrecorded += 1;
            if !self.records_unread {
                self.problem(format!("document {id}"), "it has postings, and no record that can be read");
            }
        }
        if self.records_unread {
            let detail = format!("not all can be read: {unrecorded} documents have postings, and none of these");
            self.problem("the documents' records", detail);
        }
        Ok(sums)
    }

    fn check_positions(&mut self, id: u32, what: &str, record: &DocumentRecord) -> Result<()> {
        let mut check = positions::PositionCheck::new(record);
        for chunk in 0..positions::chunks(record.fingerprints) {
            let row = self.store.engine.get(POSITIONS, chunk_key(id, chunk), "read positions");
            let Some(row) = self.listed(row)? else { return Ok(()) };
            let Some(row) = row else {
                self.problem(what, format!("chunk {chunk} of its positions is missing"));
                return Ok(());
            };
            if let Err(detail) = check.chunk(&row) {
                self.problem(what, detail);
                return Ok(());
            }
        }
        match check.end() {
            Ok(places) => self.found.positions += places,
            Err(detail) => self.problem(what, detail),
        }
        Ok(())
    }

    fn check_sums(&mut self, sums: &StateRecord) {
        if self.records_unread {
            return;
        }
        let state = &self.view.state;
        for (name, held, wanted) in [
            ("documents", sums.documents, state.documents),
            ("bytes", sums.bytes, state.bytes),
            ("symbols", sums.symbols, state.symbols),
            ("fingerprints", sums.fingerprints, state.fingerprints),
        ] {
            if held != wanted {
                self.problem("the state record", format!("it counts {wanted} {name}, and the documents have {held}"));
            }
        }
    }

    fn check_marker(&mut self) -> Result<()> {
        let path = self.store.root().join(MARKER);
        let text = read_short(&path).map_err(Error::io("read", &path))?;
        if text != marker(self.store.profile()).as_bytes() {
            self.problem(format!("the file {MARKER}"), "its copy of the profile is damaged");
        }
        Ok(())
    }

    /// Checks for chunks of positions or texts that belong to no document, or exceed its number of chunks.
    fn check_stray_chunks(&mut self, family: &'static str, chunks: impl Fn(&DocumentRecord) -> u32) -> Result<()> {
        let mut rows = self.store.engine.rows(family, "look for stray rows")?;
        rows.seek_to_first();
        while let Some(key) = rows.key() {
            let Some((id, chunk)) = split_u32(key).and_then(|(id, chunk)| Some((split_u32(id)?.1, chunk))) else {
                self.problem(family, "a key is not eight bytes");
                break;
            };
            // A row above the next id belongs to an unfinished commit, or to none.
            if id >= self.view.state.next_document {
                break;
            }
            let record = self.store.engine.get(DOCUMENTS, document_key(id), "read the documents");
            let record = match self.listed(record)? {
                Some(Some(row)) => records::decode::<DocumentRecord>(&row, || "a record".into()).map(Some).ok(),
                Some(None) => Some(None),
                None => None,
            };
            let Some(record) = record else {
                // The damaged record is listed already. The right number of chunks is unknown.
                let (_, next) = keys_of(id);
                rows.seek(next);
                continue;
            };
            let wanted = record.map_or(0, |record| chunks(&record));
            if chunk < wanted {
                // The next row belongs to another document, or is beyond the last chunk.
                rows.seek(chunk_key(id, wanted));
                continue;
            }
            self.problem(
                family,
                match wanted {
                    0 => format!("there is one of document {id}, which has none"),
                    _ => format!("document {id} has chunk {chunk} of {wanted}, counted from 0"),
                },
            );
            let (_, next) = keys_of(id);
            rows.seek(next);
        }
        self.listed(rows.check())?;
        Ok(())
    }

    /// Calls `check` with each row of a family whose key begins with `prefix`.
    fn for_each_row(
        &mut self,
        (family, prefix): (&str, &'static [u8]),
        action: &'static str,
        check: impl Fn(&mut Self, &[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        for entry in self.store.engine.entries_with(family, (prefix, &[]), action)? {
            let Some((key, value)) = self.listed(entry)? else { break };
            check(self, &key, &value)?;
        }
        Ok(())
    }

    /// Checks the records of containers that were ingested whole.
    fn check_containers(&mut self) -> Result<()> {
        self.for_each_row((CONTAINERS, &[]), "read what it knows of containers", |found, key, value| {
            let Some(source) = parse_name_prefix(key) else {
                found.problem(CONTAINERS, "a key is no path");
                return Ok(());
            };
            let record = records::decode::<ContainerRecord>(value, || format!("the record of the container {source}"));
            found.listed(record).map(drop)
        })
    }

    /// Checks the remembered settings of sources.
    fn check_sources(&mut self) -> Result<()> {
        self.for_each_row((MAIN, SOURCE_PREFIX), "read the list of sources", |found, key, value| {
            let named = found.listed(records::decode::<SourceRecord>(value, || "the record of a source".into()))?;
            if named.is_some_and(|record| source_key(&record.path)[..] != *key) {
                found.problem(MAIN, "the record of a source is under another path");
            }
            Ok(())
        })
    }

    /// Checks the contents that are kept out.
    fn check_kept_out(&mut self) -> Result<()> {
        self.for_each_row((MAIN, KEPT_OUT_PREFIX), "read which contents are kept out", |found, key, value| {
            if parse_kept_out_key(key).is_none() {
                found.problem(MAIN, "the key of a content that is kept out has no digest");
            }
            let record = records::decode::<KeptOutRecord>(value, || "a content that is kept out".into());
            found.listed(record).map(drop)
        })
    }

    /// Checks the list of places of documents.
    fn check_places(&mut self) -> Result<()> {
        self.for_each_row((MAIN, PLACE_PREFIX), "read the list of places", |found, key, _| {
            if parse_place_key(key).is_none() {
                found.problem(MAIN, "the key of a place does not decode");
            }
            Ok(())
        })
    }

    /// Checks for names and digests that belong to no document.
    fn check_strays(&mut self, name: &'static str) -> Result<()> {
        for entry in self.store.engine.entries(name, &[], "read names and digests")? {
            let Some((key, _)) = self.listed(entry)? else { break };
            let Some((_, id)) = split_u32(&key) else {
                self.problem(name, "a key is shorter than four bytes");
                continue;
            };
            if self.awaits_assembly() {
                break;
            }
            let record = self.store.engine.get(DOCUMENTS, document_key(id), "read the documents");
            if let Some(None) = self.listed(record)? {
                self.problem(name, format!("there is one of document {id}, which does not exist"));
            }
        }
        Ok(())
    }
}
