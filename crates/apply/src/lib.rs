//! Apply: acts on the report of a dedup, or on a list of documents. It copies files without the listed
//! documents or passages; removes, links or moves files; or marks records.
//!
//! [`apply`] acts, and [`prove`] checks afterwards that each removed content still has its survivor. Neither
//! can change a database: they read it only through [`StoredDocuments`], which `fpdb` implements.
//!
//! * Before any change, `check` compares the contents of all removable documents and their survivors with the
//!   database. A file with a changed document is left alone. A document whose survivor has changed stays. If
//!   files are copied or marked, `judged` compares all documents of those files that may have changed.
//! * A copy is written under a hidden name and then renamed. A file to remove is first set aside under a
//!   hidden name, and removed only if its survivor still exists.
//! * A log records each act, so the same call continues after a kill. All reports of one kind on a database
//!   share the log of a copy, so a later report brings the copy up to date.

// `check` compares. Then the files are processed one after the other, in the order of their documents.
// `copies` makes copies. `in_place` removes, links, moves and marks. `log` records each act.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
// A build without some formats does not use their helpers.
#![cfg_attr(not(all(feature = "parquet", feature = "zip")), allow(dead_code))]

mod answer;
mod check;
mod copies;
mod cutting;
mod files;
mod in_place;
mod judged;
mod kept_out;
mod listed;
mod log;
mod log_lines;
mod members;
mod options;
mod passages;
mod places;
mod plan;
mod proof;
mod removals;
mod report;
pub mod report_lines;
mod rewrite;
mod scan;
mod stored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

pub use answer::{Act, Applied, ApplySummary};
pub use log::is_copy;
pub use options::{Action, ApplyOptions, LinkKind};
pub use proof::{Lost, ProofOptions, ProofSummary, prove};
pub use removals::{Removals, removals};
pub use stored::{StoredContainer, StoredDocument, StoredDocuments};

use answer::Outcome;
use check::{Check, Checked, Cut, FileState};
use cutting::Kept;
use files::{Facts, OwnActs};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::schema::Schema;
use fpdb_host::spill::TempSpace;
use fpdb_kernel::document::Digest;

use log::Log;
use passages::{NO_DOCUMENT, NO_SURVIVOR, Passages};
use places::{Places, Unplaced};
use plan::{ApplyPlan, SourceFile};
use report::ParsedReport;

/// Acts on a report; a dry run only reports what it would do. Calls `visit` once with each file concerned,
/// and returns the totals.
///
/// # Errors
/// The errors of `Database::apply`.
pub fn apply(
    stored: &dyn StoredDocuments,
    report: &Path,
    options: &ApplyOptions,
    task: &Task<'_>,
    visit: &mut dyn FnMut(Applied) -> Result<()>,
) -> Result<ApplySummary> {
    options.check()?;
    let options = &options.clone().resolved();
    let temp = TempSpace::new(&options.temp_dir.clone().unwrap_or_else(std::env::temp_dir))?;
    let mut report = ParsedReport::read_with(report, &options.lists, stored, &temp, task)?;
    if !options.suits(report.passages.is_some(), report.listed.is_some()) {
        let lists = match report.passages {
            Some(_) => "passages, which can be cut out or marked",
            None if report.listed.is_some() => "documents without survivors, which only --write and --mark take",
            None => "documents, and no passages to be cut out",
        };
        let path = options.lists.first().cloned().unwrap_or(report.path);
        return Err(Error::UnsuitedReport { path, lists });
    }
    let kind = report.kind();
    let passages = report.passages.take().map(|sorter| Passages::of(sorter, &temp)).transpose()?;
    let _lock = (options.act && options.action.changes_files()).then(|| stored.lock()).transpose()?;
    let mut log = Log::open(&report, &stored.identity()?, kind, options)?;
    let ParsedReport { digest, unknown, is_list, .. } = report;
    let unknown_names = std::mem::take(&mut report.unknown_names);
    let removed = report.removed.len() + unknown;
    let inexact = std::mem::take(&mut report.inexact);
    let listed = report.listed.take().unwrap_or_default();
    let plan = ApplyPlan::of(stored, report, passages.as_ref(), &temp, task)?;
    let mut summary = ApplySummary {
        sources: plan.sources.len() as u64,
        documents: removed,
        done: options.act,
        passages: passages.is_some(),
        listed: is_list,
        unknown_names,
        ..ApplySummary::default()
    };
    summary.missing = plan.missing + unknown;
    for id in &inexact {
        // Only the texts of these documents were compared. A document whose text was extracted may also hold
        // attachments or pictures.
        summary.parts_not_compared += u64::from(stored.find(id)?.is_some_and(|record| record.extracted));
    }
    let ApplyPlan { sources, entries, .. } = plan;
    if options.action.takes_files() {
        // A document is not missing if an earlier run took its file and `ingest --prune` then removed it from
        // the database.
        let taken = log.taken_without(&sources)?.min(summary.missing);
        summary.missing -= taken;
        summary.applied += taken;
        summary.done_before += taken;
    }
    let Places { unplaced, stale } = Places::of(&sources, options, &log)?;
    let kept_out = match options.action.takes_files() {
        false => stored.kept_out()?,
        true => FxHashSet::default(),
    };
    let mut checked = Check {
        stored,
        sources: &sources,
        options,
        kept_out: &kept_out,
        unplaced: &unplaced,
        log: &mut log,
        temp: &temp,
        task,
    }
    .all(entries)?;
    // The documents of `options.lists` are left out or marked as well, so they justify no removal.
    checked.sound -= listed;
    let mut acting = Acting {
        stored,
        options,
        task,
        report: digest,
        sources: &sources,
        checked: &checked,
        kept_out: &kept_out,
        passages: passages.as_ref(),
        unplaced: &unplaced,
        lost: FxHashSet::default(),
        decided: BTreeMap::new(),
        log,
        marked: FxHashSet::default(),
        own: OwnActs::default(),
        compared: FxHashSet::default(),
        summary,
        visit,
    };
    acting.all()?;
    acting.old_copies(stale)?;
    let mut summary = acting.summary;
    if passages.is_some() {
        // No document is removable then.
        summary.inseparable = 0;
    }
    summary.left = summary.documents.saturating_sub(summary.applied + summary.missing);
    Ok(summary)
}

/// The reason why the documents of a file are not marked.
const NO_FIELD: &str = "it has no records that take a field";

/// Acts on one file after the other.
struct Acting<'a> {
    stored: &'a dyn StoredDocuments,
    options: &'a ApplyOptions,
    task: &'a Task<'a>,
    /// The digest of the report.
    report: u64,
    sources: &'a [SourceFile],
    checked: &'a Checked,
    /// The contents that a copy leaves out although no document has them.
    kept_out: &'a FxHashSet<Digest>,
    /// The repeated passages, if the report lists them.
    passages: Option<&'a Passages>,
    /// Files that have no place in the copy.
    unplaced: &'a Unplaced,
    /// The indexes of files that could not be copied.
    lost: FxHashSet<u32>,
    /// For each file that was copied without documents or passages: the digest of the decision, and the act.
    /// `apply` reports these acts after all files are done, because an act changes if a survivor cannot be
    /// copied.
    decided: BTreeMap<u32, (u64, Acted)>,
    log: Log,
    /// Hashes of the resolved paths of marked files.
    marked: FxHashSet<u64>,
    /// Facts of files after acts of this run.
    own: OwnActs,
    /// The indexes of files whose survivor was compared again while a duplicate of it was set aside.
    compared: FxHashSet<u32>,
    summary: ApplySummary,
    visit: &'a mut dyn FnMut(Applied) -> Result<()>,
}

/// The step to take with a file.
struct FileStep {
    act: Act,
    target: Option<PathBuf>,
    documents: u64,
    /// Number of records left out because their contents are kept out.
    kept_out: u64,
    /// The reason why documents stay, or why the file is left alone.
    reason: Option<String>,
}

impl FileStep {
    fn leave(reason: impl Into<String>) -> Self {
        Self { act: Act::Leave, target: None, documents: 0, kept_out: 0, reason: Some(reason.into()) }
    }
}

/// The action on a file. In a dry run, nothing was done.
struct Acted {
    step: FileStep,
    done: bool,
    outcome: Outcome,
}

impl Acted {
    /// The file is left alone, which is not a failure.
    fn left(reason: impl Into<String>) -> Self {
        Self { step: FileStep::leave(reason), done: false, outcome: Outcome::default() }
    }

    fn failed(reason: impl Into<String>, outcome: Outcome) -> Self {
        Self { step: FileStep::leave(reason), done: false, outcome: Outcome { failed: true, ..outcome } }
    }
}

/// The documents of a file to remove, and the reason why others stay.
#[derive(Default)]
struct Chosen {
    cuts: Vec<Cut>,
    /// Number of documents that stay because no unchanged survivor justifies their removal.
    unjustified: u64,
    /// Number of records that stay in the copy although their contents are kept out.
    kept_out_left: u64,
    /// Number of parts of the file that could not be searched for such records.
    kept_out_unsearched: u64,
    /// Number of removable documents that stay because they cannot leave the file, or take no mark.
    inseparable: u64,
    reason: Option<String>,
}

impl Acting<'_> {
    /// Acts on all files. A document is left out of a copy only if its survivor is copied. If copying the
    /// survivor's file fails later, the copy is made again with the document.
    fn all(&mut self) -> Result<()> {
        let ended = self.rounds();
        // These acts are reported even after an error, because their files are written.
        let mut decided = std::mem::take(&mut self.decided).into_iter();
        let told = decided.try_for_each(|(number, (_, acted))| self.tell(number as usize, acted));
        ended.and(told)
    }

    fn rounds(&mut self) -> Result<()> {
        for number in 0..self.sources.len() {
            self.task.step("files done", number as u64, self.sources.len() as u64)?;
            self.source(number)?;
        }
        let mut known = 0;
        while self.lost.len() > known {
            known = self.lost.len();
            let decided: Vec<u32> = self.decided.keys().copied().collect();
            for number in decided {
                self.task.step("files looked at again", number.into(), self.sources.len() as u64)?;
                self.again(number)?;
            }
        }
        Ok(())
    }

    /// Copies a file again if its plan has changed.
    fn again(&mut self, number: u32) -> Result<()> {
        let Some(folder) = self.options.action.copies_to() else { return Ok(()) };
        let (source, state) = (&self.sources[number as usize], &self.checked.states[number as usize]);
        let decision = self.plan_copy(source, state, folder)?.decision;
        if self.decided.get(&number).is_some_and(|(earlier, _)| *earlier != decision)
            && self.decided.remove(&number).is_some()
        {
            self.source(number as usize)?;
        }
        Ok(())
    }

    fn source(&mut self, number: usize) -> Result<()> {
        let (source, state) = (&self.sources[number], &self.checked.states[number]);
        let acted = match state {
            FileState::Done(act) => {
                let step = FileStep { act: *act, target: None, documents: 1, kept_out: 0, reason: None };
                Ok(Some(Acted {
                    step,
                    done: true,
                    outcome: Outcome { done_before: true, applied: 1, ..Outcome::default() },
                }))
            }
            FileState::Unfit { reason, refused } => {
                Ok(Some(Acted::failed(reason, Outcome { refused: *refused, ..Outcome::default() })))
            }
            FileState::Kept | FileState::File { .. } => match self.unplaced.get(&(number as u32)) {
                // The documents of this file stay because the file has no place in the copy, not because
                // survivors are missing.
                Some(reason) => Ok(Some(Acted::failed(reason, Outcome { unplaced: true, ..Outcome::default() }))),
                None => self.act(number, source, state),
            },
        };
        let acted = match acted {
            Ok(None) => return Ok(()),
            Ok(Some(acted)) => acted,
            Err(error) if matches!(error, Error::Stopped) || is_fatal(&error) => return Err(error),
            Err(error) => {
                // Only a copy can lack the file. An action in place leaves a file that it cannot change.
                if self.options.action.copies_to().is_some() {
                    self.lost.insert(number as u32);
                }
                let (refused, taken) = (files::is_refused(&error), matches!(error, Error::FieldTaken { .. }));
                Acted::failed(error.chain(), Outcome { refused, field_taken: taken, ..Outcome::default() })
            }
        };
        self.tell(number, acted)
    }

    /// Counts the action on a file, and reports it to `visit`.
    fn tell(&mut self, number: usize, acted: Acted) -> Result<()> {
        self.summary.add(&acted.outcome);
        let source = &self.sources[number];
        let FileStep { act, mut target, documents, kept_out, reason } = acted.step;
        if act == Act::Leave
            && !acted.outcome.unplaced
            && let Some(folder) = self.options.action.copies_to()
        {
            // If a file cannot be copied now, its earlier copy stays as it was.
            target = Some(places::place_of(source, folder)).filter(|place| place.symlink_metadata().is_ok());
            self.summary.stale += u64::from(target.is_some());
        }
        (self.visit)(Applied {
            schema: Schema::new(),
            source: source.path.clone(),
            act,
            target: target.map(|target| target.display().to_string()),
            documents,
            kept_out,
            done: acted.done,
            reason,
            done_before: acted.outcome.done_before,
        })
    }

    /// Acts on a file. `None` if no action concerns the file, or if the act is reported later (`decided`).
    fn act(&mut self, number: usize, source: &SourceFile, state: &FileState) -> Result<Option<Acted>> {
        let options = self.options;
        match &options.action {
            Action::Write { folder, .. } | Action::Cut { folder } => {
                let planned = self.plan_copy(source, state, folder)?;
                let decision = planned.decision;
                let leaves_out = planned.leaves_out();
                let acted = self.copy(number, source, state, planned)?;
                if leaves_out && options.act {
                    self.decided.insert(number as u32, (decision, acted));
                    return Ok(None);
                }
                Ok(Some(acted))
            }
            Action::Mark { field } => self.mark(number, source, state, field),
            Action::Remove | Action::Link(_) | Action::Move { .. } => self.dispose(number, source, state),
        }
    }

    /// The documents that justify the removal of other documents.
    fn kept(&self) -> Kept<'_> {
        Kept { stored: self.stored, checked: self.checked, lost: &self.lost }
    }

    /// The documents of a file to remove: the survivor of each must be unchanged.
    fn choose(&self, state: &FileState) -> Result<Chosen> {
        let FileState::File { cuts, kept_out, reason, inseparable, .. } = state else {
            return Ok(Chosen::default());
        };
        let all = self.checked.cuts(cuts)?;
        let kept = self.kept();
        let mut cuts = Vec::with_capacity(all.len());
        // A mail and its attachments have one range. All of them are removed, or none.
        for range in all.chunk_by(|a, b| (a.start, a.end) == (b.start, b.end)) {
            let mut justified = true;
            for cut in range {
                justified &= cut.keep == NO_SURVIVOR || kept.holds(cut.keep)?;
            }
            if justified {
                cuts.extend_from_slice(range);
            }
        }
        let unjustified = documents_of(&all).saturating_sub(documents_of(&cuts));
        let reason = reason.clone().or_else(|| {
            (unjustified > 0)
                .then(|| "the survivors of some documents have changed, are listed too or cannot be read; these documents stay".into())
        });
        let kept_out_left = kept_out.left_after(&cuts);
        let (kept_out_unsearched, inseparable) = (kept_out.unsearched, *inseparable);
        Ok(Chosen { cuts, unjustified, kept_out_left, kept_out_unsearched, inseparable, reason })
    }

    /// The facts of a file to change or copy.
    ///
    /// # Errors
    /// [`DocumentError::ChangedWhileReading`] if the facts differ from the facts at the check.
    fn unchanged(&self, number: usize, path: &Path) -> Result<Facts> {
        let facts = Facts::of_opened(path)?;
        match &self.checked.facts[number] {
            Some(checked) if !self.own.explain(checked, &facts) => {
                Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }))
            }
            _ => Ok(facts),
        }
    }
}

/// Number of distinct documents among these cuts. One document has several cuts if its name is repeated.
fn documents_of(cuts: &[Cut]) -> u64 {
    cuts.iter().map(|cut| cut.id).filter(|&id| id != NO_DOCUMENT).collect::<RoaringBitmap>().len()
}

/// Number of these cuts that belong to no document, but to a record whose content is kept out.
fn kept_out_of(cuts: &[Cut]) -> u64 {
    cuts.iter().filter(|cut| cut.id == NO_DOCUMENT).count() as u64
}

/// True if the error would stop every other file too.
fn is_fatal(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>()
            && matches!(
                error.kind(),
                std::io::ErrorKind::StorageFull
                    | std::io::ErrorKind::QuotaExceeded
                    | std::io::ErrorKind::ReadOnlyFilesystem
            )
        {
            return true;
        }
        cause = error.source();
    }
    false
}
