//! Repair: writes the readable rows of a damaged store into a new one, which then takes its place.
//!
//! The damaged files stay unchanged until the new store is complete and verified. So a failed or killed
//! repair changes nothing. A repair needs as much free space as the database takes. Documents keep their ids.
//! Derived rows (names, digests, sums, runs, sets of documents) are rebuilt from the documents and postings.
//! The caller can rebuild the postings and positions of a damaged document from its text.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::care::choice::open_damaged;
use crate::care::damaged_stores::{DAMAGED, damaged_stores};
use crate::care::findings::{LostDocument, Problem, Repair, Verification};
use crate::care::remembered_rows::RememberedRows;
use crate::care::salvage::Salvage;
use crate::care::survey::{self, Survey};
use crate::codec::format::{
    COMMITTED, INCOMING, MAIN, MARKER, POSITIONS, PROFILE_KEY, STORE, TEXTS, chunk_key, decode_profile, marker,
    marker_profile,
};
use crate::codec::positions;
use crate::codec::records::{DocumentRecord, KeptOutRecord, TextCounts, TextView};
use crate::open::commit_mark;
use crate::open::files::{self, read_short};
use crate::open::format_marker::check_marker;
use crate::open::lock::WriterLock;
use crate::write::batch::{Batch, PUSHED_AT_ONCE};
use crate::write::commit::Committer;
use crate::write::run_writer::{self, Filters};
use crate::{Store, StoreOptions, View, texts};
use fpdb_host::durable::{replace_file, sync_folder};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::temporary::MAKING;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Profile;
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

/// The folder inside the damaged database in which the new store is written.
const REPAIRED: &str = "repaired";

/// Maximum bytes of records in a commit, and of postings of documents that are read again.
const BATCH_BYTES: usize = 64 << 20;

/// The start of a repair.
pub enum RepairStart {
    /// The database is intact.
    Whole(Box<Verification>),
    /// A repair is needed; nothing was written yet.
    Damaged(Box<Repairing>),
}

/// A repair in progress.
pub struct Repairing {
    root: PathBuf,
    salvage: Salvage,
    survey: Survey,
    remembered: RememberedRows,
    /// The new store.
    store: Store,
    batch: Batch,
    committer: Committer,
    /// The damage of the old database.
    problems: Vec<Problem>,
    report: Repair,
    lock: WriterLock,
}

impl Repairing {
    /// Verifies the database at `root`. If it is damaged, prepares to write all intact rows into a new store.
    ///
    /// # Errors
    /// [`Error::Locked`]; [`Error::BeyondRepair`] if there is no document, or no profile;
    /// [`Error::OtherStore`].
    pub fn begin(root: &Path, options: &StoreOptions, task: &Task<'_>) -> Result<RepairStart> {
        let marked = match check_marker(root) {
            // The marker file can be lost like any other.
            Err(error @ Error::NotADatabase { .. }) if has_store(root) => Err(error),
            other => Ok(other?),
        };
        let lock = WriterLock::take(root)?;
        finish_interrupted(root)?;
        let verified = marked.and_then(|()| Store::open_unlocked(root, options)).and_then(|store| store.verify(task));
        let mut problems = match verified {
            Ok(mut found) if found.problems.iter().all(|problem| problem.what == commit_mark::NAMED) => {
                // The opening writes a damaged mark again.
                found.problems.clear();
                Store::open_locked(root, lock, options)?;
                return Ok(RepairStart::Whole(Box::new(found)));
            }
            Ok(found) => found.problems,
            // A repair can omit a log of another database. If the tables are of another database too, the
            // opening below fails.
            Err(error) if error.is_damage() || matches!(error, Error::OtherStore { .. }) => vec![Problem::of(&error)],
            Err(error) => return Err(error),
        };
        let mark = commit_mark::read(root)?;
        let salvage = open_damaged(root, &mark, task)?;
        let profile = profile(root, &salvage)?;
        let mut survey = Survey::of(&salvage, &profile, &mark, task)?;
        let has_last_commit = mark.commits > 0 && survey.commits >= mark.commits;
        let remembered = RememberedRows::of(&salvage, &root.join(STORE), has_last_commit)?;
        let finding = |finding: &String| Problem { what: "the store".into(), detail: finding.clone() };
        problems.extend(salvage.findings().iter().chain(&survey.findings).map(finding));
        let commits_lost = mark.commits.saturating_sub(survey.commits).max(u64::from(survey.is_older));
        let last_commit_documents = mark.counts.filter(|_| commits_lost > 0).map(|counts| counts.documents);
        let mut report = Repair {
            commits_lost,
            last_commit_documents,
            records_may_be_older: survey.lacks_records,
            ..Repair::default()
        };
        leave_out(&mut survey, &salvage, &remembered.kept_out, &mut report)?;
        let mut store = Store::create(&root.join(REPAIRED), &profile, options)?;
        // The repaired database keeps its identity.
        let identity = salvage.identity()?.or(mark.identity);
        store.identity = identity.or(store.identity.take());
        let repairing = Self {
            root: root.to_owned(),
            batch: Batch::new(store.profile(), 0, BATCH_BYTES),
            committer: Committer::new(&store),
            problems,
            report,
            salvage,
            survey,
            remembered,
            store,
            lock,
        };
        Ok(RepairStart::Damaged(Box::new(repairing)))
    }

    /// Writes the intact documents. The caller then rebuilds or drops the damaged documents.
    pub fn copy_whole(&mut self, task: &Task<'_>) -> Result<()> {
        self.write_whole(task)?;
        let mut changes = self.store.engine.changes();
        Store::forget_name_places(&mut changes)?;
        changes.write("forget the places of documents")?;
        self.copy_remembered()?;
        // The ids of damaged documents lie between those of intact ones, so the batch accepts any id.
        self.batch = Batch::new(self.store.profile(), 0, BATCH_BYTES);
        Ok(())
    }

    /// Writes the rows that cannot be rebuilt from other rows.
    fn copy_remembered(&mut self) -> Result<()> {
        let found = &self.remembered;
        self.store.remember_sources(&found.sources)?;
        self.store.keep_out(&found.kept_out)?;
        // A lost commit may have added a folder. Then the new list is not whole.
        self.store.replace_roots(&found.roots, found.has_all_roots && self.report.commits_lost == 0)?;
        for generation in &found.assembled {
            self.store.note_assembled(generation)?;
        }
        let report = &mut self.report;
        // A lost commit may have kept further contents out.
        let kept_out_may_lack = found.kept_out_may_lack || report.commits_lost > 0;
        report.kept_out_salvaged = kept_out_may_lack.then_some(found.kept_out.len() as u64);
        report.sources_salvaged = found.sources_may_lack.then_some(found.sources.len() as u64);
        report.assembled_salvaged = found.assembled_may_lack.then_some(found.assembled.len() as u64);
        Ok(())
    }

    /// Ends the repair and leaves the damaged database unchanged.
    pub fn abandon(self) -> Result<()> {
        let Self { root, store, salvage, lock, .. } = self;
        // The engine must close both stores before the new one is removed.
        drop(store);
        drop(salvage);
        finish_interrupted(&root)?;
        drop(lock);
        Ok(())
    }

    /// The settings of the database.
    pub fn profile(&self) -> &Profile {
        self.store.profile()
    }

    /// The documents with a readable record and damaged postings, ascending.
    pub fn damaged_documents(&self) -> Vec<u32> {
        self.survey.damaged.clone()
    }

    /// Begins a damaged document and returns its record. The next calls are about this document.
    pub fn read_record(&mut self, id: u32) -> Result<DocumentRecord> {
        self.batch.skip_to(id);
        self.record(id)
    }

    /// The record of a damaged document.
    pub fn record(&self, id: u32) -> Result<DocumentRecord> {
        let record = survey::record(&self.salvage, id)?;
        record.ok_or_else(|| Error::Damaged { what: format!("the record of document {id}"), detail: "it is gone" })
    }

    /// Adds fingerprints of the document.
    pub fn take(&mut self, fingerprints: &Fingerprints) -> Result<()> {
        for some in fingerprints.chunks(PUSHED_AT_ONCE) {
            if self.batch.needs_spill() {
                self.committer.spill(&self.store, &mut self.batch)?;
            }
            self.batch.push(some)?;
        }
        Ok(())
    }

    /// True if the text of the document is stored and intact.
    pub fn has_text(&self, id: u32, record: &DocumentRecord) -> Result<bool> {
        texts::is_intact(record, |chunk| self.salvage.get(TEXTS, &chunk_key(id, chunk)))
    }

    /// A compressed chunk of the document's intact text.
    pub fn stored_chunk(&self, id: u32, chunk: u32) -> Result<Vec<u8>> {
        self.salvage.get(TEXTS, &chunk_key(id, chunk))?.ok_or_else(|| unreadable(id))
    }

    /// Adds the next chunk of the document's text.
    pub fn take_text(&mut self, chunk: Vec<u8>) -> Result<()> {
        if self.batch.needs_spill() {
            self.committer.spill(&self.store, &mut self.batch)?;
        }
        self.batch.push_text(chunk);
        Ok(())
    }

    /// Ends a document after its last fingerprint. `had_text` is true if its text was stored before the
    /// damage.
    pub fn keep(&mut self, record: DocumentRecord, had_text: bool) -> Result<()> {
        self.report.read_again.push(record.name.clone());
        if had_text && !record.stored_text {
            self.report.texts_lost.push(record.name.clone());
        }
        let fingerprints = self.batch.fingerprints();
        // Repeated hashes are subtracted when the postings are sorted.
        let of_text = self.batch.fingerprints_of_text();
        let counted = |text| TextCounts { fingerprints: of_text, distinct: of_text, ..text };
        let text_view = TextView(record.text_view.0.map(counted));
        self.batch.finish(DocumentRecord { fingerprints, distinct: fingerprints, text_view, ..record })?;
        self.commit_if_full()
    }

    /// Drops the document as lost.
    pub fn lose(&mut self, record: DocumentRecord, reason: String) -> Result<()> {
        if self.batch.is_spilled() {
            self.committer.discard(&self.store, &mut self.batch)?;
        }
        self.batch.abandon();
        self.report.lost.push(LostDocument { name: Some(record.name), source: record.source, reason });
        self.commit_if_full()
    }

    /// Verifies the new store, and puts it in the place of the damaged store.
    pub fn finish(mut self, task: &Task<'_>) -> Result<Verification> {
        self.batch.skip_to(self.survey.next_document);
        self.commit()?;
        // The number of this commit is higher than the number of any earlier commit.
        let mut view = View::clone(&self.store.view());
        view.state.commits += self.survey.commits.max(commit_mark::read(&self.root)?.commits);
        self.store.change(self.store.engine.changes(), view, "commit the repair")?;
        let now = self.store.verify(task)?;
        if !now.problems.is_empty() {
            return Err(Error::Damaged {
                what: "what was rebuilt".into(),
                detail: "it does not pass the verification",
            });
        }
        let unread = "its record cannot be read";
        for (_, name) in std::mem::take(&mut self.survey.lost) {
            self.report.lost.push(LostDocument { name: Some(name), source: None, reason: unread.into() });
        }
        for name in std::mem::take(&mut self.survey.later) {
            let reason = "the commit that added it is lost".into();
            self.report.lost.push(LostDocument { name: Some(name), source: None, reason });
        }
        for _ in 0..self.survey.nameless {
            self.report.lost.push(LostDocument { name: None, source: None, reason: unread.into() });
        }

        let Self { root, store, salvage, problems, mut report, lock, .. } = self;
        let marker = marker(store.profile());
        // The engine must close both stores before they are moved.
        drop(store);
        drop(salvage);
        let action = "put the rebuilt store in the place of";
        fs::rename(root.join(STORE), root.join(DAMAGED)).map_err(Error::io(action, root.join(STORE)))?;
        report.damaged_store = finish_interrupted(&root)?.map(|path| path.display().to_string());
        replace_file(&root.join(MARKER), marker.as_bytes())?;
        drop(lock);
        Ok(Verification { problems, repair: Some(report), damaged_stores: damaged_stores(&root)?, ..now })
    }

    /// Copies the intact documents with their positions and postings.
    fn write_whole(&mut self, task: &Task<'_>) -> Result<()> {
        let Self { salvage, survey, store, batch, committer, report, .. } = self;
        let incoming = store.root.join(INCOMING);
        let mut files = store.engine.sorted_files(&incoming, POSITIONS, 0)?;
        let mut text_files = store.engine.sorted_files(&incoming, TEXTS, 0)?;
        for (done, &(id, rows)) in (1..).zip(&survey.whole) {
            let record = survey::record(salvage, id)?.ok_or_else(|| unreadable(id))?;
            for chunk in 0..positions::chunks(record.fingerprints) {
                let key = chunk_key(id, chunk);
                files.put(&key, &salvage.get(POSITIONS, &key)?.ok_or_else(|| unreadable(id))?)?;
            }
            batch.skip_to(id);
            let stored_text = texts::is_intact(&record, |chunk| salvage.get(TEXTS, &chunk_key(id, chunk)))?;
            for chunk in 0..if stored_text { texts::chunks(record.bytes) } else { 0 } {
                let key = chunk_key(id, chunk);
                text_files.put(&key, &salvage.get(TEXTS, &key)?.ok_or_else(|| unreadable(id))?)?;
            }
            if record.stored_text && !stored_text {
                report.texts_lost.push(record.name.clone());
            }
            batch.finish(DocumentRecord { stored_text, ..rows.counted(record) })?;
            if batch.is_full() {
                committer.commit(store, batch)?;
            }
            task.step("documents rewritten", done, survey.whole.len() as u64)?;
        }
        store.engine.ingest(POSITIONS, files.finish()?)?;
        store.engine.ingest(TEXTS, text_files.finish()?)?;

        let (run, _) =
            run_writer::write_run(store, committer.next_run(store), Filters::Whole, vec![()], |(), part| {
                survey::for_each_posting(salvage, &mut |posting| match survey
                    .whole
                    .binary_search_by_key(&posting.document, |whole| whole.0)
                {
                    Ok(_) => part.push(posting),
                    Err(_) => Ok(()),
                })
            })?;
        committer.take_run(batch, run);
        committer.commit(store, batch)
    }

    fn commit_if_full(&mut self) -> Result<()> {
        if self.batch.is_full() || self.batch.has_runs() { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<()> {
        self.committer.commit(&self.store, &mut self.batch)
    }
}

/// Removes from the survey the documents that were removed for good before the damage, if such documents may
/// have come back. A document stays if another document that stays has the same content, because an ingest
/// may then have added the content again.
fn leave_out(
    survey: &mut Survey,
    salvage: &Salvage,
    kept_out: &[(Digest, KeptOutRecord)],
    report: &mut Repair,
) -> Result<()> {
    if kept_out.is_empty() {
        return Ok(());
    }
    let may_return = report.commits_lost > 0 || survey.may_hold_removed;
    let kept_out: FxHashMap<&Digest, &KeptOutRecord> =
        kept_out.iter().map(|(digest, record)| (digest, record)).collect();
    let (mut named, mut stored) = (Vec::new(), FxHashSet::default());
    for &id in survey.whole.iter().map(|(id, _)| id).chain(&survey.damaged) {
        let Some(DocumentRecord { name, digest, .. }) = survey::record(salvage, id)? else { continue };
        match kept_out.get(&digest) {
            Some(content) if may_return && content.may_name(&name) => named.push((id, name, digest)),
            Some(_) => {
                stored.insert(digest);
                report.kept_out_copies.push(name);
            }
            None => {}
        }
    }
    let mut removed = RoaringBitmap::new();
    for (id, name, digest) in named {
        if stored.contains(&digest) {
            report.kept_out_copies.push(name);
        } else {
            removed.insert(id);
            report.kept_out_again.push(name);
        }
    }
    survey.whole.retain(|(id, _)| !removed.contains(*id));
    survey.damaged.retain(|id| !removed.contains(*id));
    Ok(())
}

fn unreadable(id: u32) -> Error {
    Error::Damaged { what: format!("document {id}"), detail: "it cannot be read twice" }
}

/// The settings of a damaged database: from its store, otherwise from the marker file.
fn profile(root: &Path, salvage: &Salvage) -> Result<Profile> {
    if let Some(bytes) = salvage.get(MAIN, PROFILE_KEY)?
        && let Ok(profile) = decode_profile(&bytes)
    {
        return Ok(profile);
    }
    let path = root.join(MARKER);
    let text = read_short(&path).map_err(Error::io("read", &path))?;
    marker_profile(&String::from_utf8_lossy(&text)).ok_or_else(|| Error::BeyondRepair {
        path: root.to_owned(),
        lost: "its profile",
        source: format!("neither the store nor the file {MARKER} has it").into(),
    })
}

/// True if the folder of a database has a store.
fn has_store(root: &Path) -> bool {
    let is_of_store = |name: &String| files::table_number(name).or(files::list_number(name)).is_some();
    // An unreadable folder counts as one without a store.
    files::names(&root.join(STORE)).is_ok_and(|names| names.iter().any(is_of_store))
}

/// Ends a killed repair. If the new store was complete and the damaged one already moved away, finishes the
/// repair; otherwise undoes it. Needs the writer lock. Returns the folder of a replaced damaged store.
pub(crate) fn finish_interrupted(root: &Path) -> Result<Option<PathBuf>> {
    let (place, new, old) = (root.join(STORE), root.join(REPAIRED).join(STORE), root.join(DAMAGED));
    if !place.exists() && old.exists() && new.exists() {
        // A store and its mark move together. With the mark of the damaged store, the list of the new store
        // would look like the list of another store.
        sync_folder(root)?;
        let mark = root.join(COMMITTED);
        match fs::rename(root.join(REPAIRED).join(COMMITTED), &mark) {
            // The new mark is in its place already.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            moved => moved.map_err(Error::io("put the mark of the rebuilt store in its place", &mark))?,
        }
        fs::rename(&new, &place).map_err(Error::io("put the rebuilt store in its place", &place))?;
        sync_folder(root)?;
    }
    if !place.exists() {
        return Ok(None);
    }
    for entry in fs::read_dir(root).map_err(Error::io("read", root))? {
        let entry = entry.map_err(Error::io("read", root))?;
        let name = entry.file_name();
        if name == REPAIRED || name.to_string_lossy().starts_with(MAKING) {
            match fs::remove_dir_all(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io("remove", entry.path())(error));
                }
                _ => {}
            }
        }
    }
    if !old.exists() {
        return Ok(None);
    }
    let free = (1u32..).map(|number| root.join(format!("{DAMAGED}-{number}"))).find(|kept| !kept.exists());
    let kept = free.unwrap_or_else(|| old.clone());
    fs::rename(&old, &kept).map_err(Error::io("keep the damaged store", &kept))?;
    sync_folder(root)?;
    Ok(Some(kept))
}
