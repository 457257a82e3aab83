//! Apply: here is a dedup's report, now act on it. Copies the files without the listed documents or passages, removes, links or
//! moves files, or marks records.
//!
//! Nothing is touched before the contents of all documents concerned, removable ones and survivors, have been compared with what the database
//! knows of them (`check`). A file of which one has changed is left alone, and a document whose survivor has changed stays.
//! Files are then taken one by one in the order of their documents. Each is written beside its place and renamed, and each act
//! is noted in a log beside the report (`log`), so that the same call goes on after a kill.

mod answer;
mod check;
mod cutting;
mod files;
mod in_place;
mod log;
mod options;
mod passages;
mod places;
mod plan;
mod report;
mod rewrite;

use std::path::{Path, PathBuf};

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;

pub use answer::{Act, Applied, ApplySummary};
pub use options::{Action, ApplyOptions, LinkKind};

use crate::error::{DocumentError, Error, Result};
use crate::input::{FileKind, RecordFields};
use crate::progress::Task;
use crate::schema::Schema;
use crate::spill::TempSpace;
use crate::store::Store;
use check::{Check, Checked, Cut, FileState};
use cutting::{Cutting, Kept, can_be_cut};
use log::Log;
use passages::{NO_SURVIVOR, Passages};
use places::Unplaced;
use plan::{ApplyPlan, SourceFile, SourceReading};
use report::ParsedReport;
use rewrite::Change;

/// Acts on a report, or only says what it would do.
pub(crate) fn apply(
    store: &Store,
    report: &Path,
    options: &ApplyOptions,
    task: &Task<'_>,
    visit: &mut dyn FnMut(Applied) -> Result<()>,
) -> Result<ApplySummary> {
    options.check()?;
    let temp = TempSpace::new(&options.temp_dir.clone().unwrap_or_else(std::env::temp_dir))?;
    let mut report = ParsedReport::read(report, &temp, store.memory() / 4, task)?;
    if !options.suits(report.passages.is_some()) {
        let detail = match report.passages {
            Some(_) => "it lists passages, which can be cut out or marked",
            None => "it lists documents, and no passages to be cut out",
        };
        return Err(Error::NotADedupReport { path: report.path, line: 1, detail: detail.into() });
    }
    let passages = report.passages.take().map(|sorter| Passages::of(sorter, &temp)).transpose()?;
    let log = Log::open(&report, options)?;
    let removed = report.removed.len();
    let inexact = std::mem::take(&mut report.inexact);
    let plan = ApplyPlan::of(store, report, passages.as_ref(), &temp, task)?;
    let mut summary = ApplySummary {
        sources: plan.sources.len() as u64,
        documents: removed,
        done: options.act,
        passages: passages.is_some(),
        ..ApplySummary::default()
    };
    summary.missing = plan.missing;
    for id in &inexact {
        // Only the texts of such documents have been compared, and this one may hold more.
        summary.parts_not_compared += u64::from(store.view().is_live(id) && store.document(id)?.extracted);
    }
    let ApplyPlan { sources, entries, .. } = plan;
    let unplaced = places::unplaced(&sources, options, &log)?;
    let checked =
        Check { store, sources: &sources, options, unplaced: &unplaced, log: &log, temp: &temp, task }.all(entries)?;
    let mut acting = Acting {
        store,
        options,
        task,
        checked: &checked,
        passages: passages.as_ref(),
        unplaced: &unplaced,
        lost: FxHashSet::default(),
        log,
        marked: FxHashSet::default(),
        summary,
        visit,
    };
    for (number, source) in sources.iter().enumerate() {
        task.step("files done", number as u64, sources.len() as u64)?;
        acting.source(number, source)?;
    }
    let mut summary = acting.summary;
    summary.left = summary.documents - summary.applied.min(summary.documents);
    Ok(summary)
}

/// Acts on one file after the other.
struct Acting<'a> {
    store: &'a Store,
    options: &'a ApplyOptions,
    task: &'a Task<'a>,
    checked: &'a Checked,
    /// The repeated passages, where the report lists them.
    passages: Option<&'a Passages>,
    /// Files that have no place in the copy.
    unplaced: &'a Unplaced,
    /// The numbers of files whose copying has failed.
    lost: FxHashSet<u32>,
    log: Log,
    /// The hashes of the real paths of files that have been marked.
    marked: FxHashSet<u64>,
    summary: ApplySummary,
    visit: &'a mut dyn FnMut(Applied) -> Result<()>,
}

/// The step to take with a file.
struct FileStep {
    act: Act,
    target: Option<PathBuf>,
    documents: u64,
    /// Why documents stay, or why the file is left alone.
    reason: Option<String>,
}

impl FileStep {
    fn leave(reason: impl Into<String>) -> Self {
        Self { act: Act::Leave, target: None, documents: 0, reason: Some(reason.into()) }
    }
}

impl Acting<'_> {
    fn source(&mut self, number: usize, source: &SourceFile) -> Result<()> {
        let state = &self.checked.states[number];
        let outcome = match state {
            FileState::Done(act) => {
                self.summary.done_before += 1;
                self.summary.applied += 1;
                let step = FileStep { act: *act, target: None, documents: 1, reason: None };
                return self.report_step(source, step, true);
            }
            FileState::Unfit { reason, refused } => {
                self.summary.failed += 1;
                self.summary.refused += u64::from(*refused);
                return self.report_step(source, FileStep::leave(reason), false);
            }
            FileState::Kept | FileState::File { .. } => match self.unplaced.get(&(number as u32)) {
                // Its documents stay for want of a place, not for want of survivors.
                Some(reason) => {
                    self.summary.failed += 1;
                    self.summary.unplaced += 1;
                    return self.report_step(source, FileStep::leave(reason), false);
                }
                None => self.act(number, source, state),
            },
        };
        match outcome {
            Ok(()) => Ok(()),
            Err(error) if matches!(error, Error::Stopped) || is_fatal(&error) => Err(error),
            Err(error) => {
                self.summary.failed += 1;
                self.summary.refused += u64::from(files::is_refused(&error));
                self.lost.insert(number as u32);
                self.report_step(source, FileStep::leave(error.chain()), false)
            }
        }
    }

    /// The documents that justify the removal of others.
    fn kept(&self) -> Kept<'_> {
        Kept { store: self.store, checked: self.checked, lost: &self.lost }
    }

    /// The documents of a file that are removed: those whose survivor is as it was.
    fn cuts(&self, state: &FileState) -> Result<Vec<Cut>> {
        let FileState::File { cuts, .. } = state else { return Ok(Vec::new()) };
        let mut cuts = self.checked.cuts(cuts)?;
        let kept = self.kept();
        let mut failed = Ok(());
        cuts.retain(|cut| {
            cut.keep == NO_SURVIVOR
                || kept.holds(cut.keep).unwrap_or_else(|error| {
                    failed = Err(error);
                    false
                })
        });
        failed.map(|()| cuts)
    }

    fn act(&mut self, number: usize, source: &SourceFile, state: &FileState) -> Result<()> {
        let cuts = self.cuts(state)?;
        let unsound = match state {
            FileState::File { cuts: all, .. } => all.count - cuts.len() as u64,
            _ => 0,
        };
        if unsound > 0 {
            self.summary.unjustified += unsound;
        }
        let reason = match state {
            FileState::File { reason, .. } => reason.clone(),
            _ => None,
        };
        let reason = reason.or_else(|| {
            (unsound > 0)
                .then(|| "the survivors of some documents have changed or cannot be read; these documents stay".into())
        });
        match &self.options.action {
            Action::Write { folder, mark } => self.write(number, source, state, cuts, folder, mark.as_deref(), reason),
            Action::Cut { folder } => self.cut(number, source, state, cuts, folder, reason),
            Action::Mark { field } => self.mark(number, source, state, &cuts, field, reason),
            Action::Remove | Action::Link(_) | Action::Move { .. } => {
                self.dispose(number, source, state, &cuts, reason)
            }
        }
    }

    /// Writes the copy of a file.
    #[expect(clippy::too_many_arguments, reason = "one call")]
    fn write(
        &mut self,
        number: usize,
        source: &SourceFile,
        state: &FileState,
        cuts: Vec<Cut>,
        folder: &Path,
        mark: Option<&str>,
        reason: Option<String>,
    ) -> Result<()> {
        let target = places::place_of(source, folder)?;
        let is_document = matches!(state, FileState::File { kind: FileKind::Document, .. });
        let documents = documents_of(&cuts);
        if is_document && !cuts.is_empty() && mark.is_none() {
            self.summary.applied += documents;
            return self.report_step(
                source,
                FileStep { act: Act::Omit, target: None, documents, reason },
                self.options.act,
            );
        }
        let marks = mark.filter(|_| rewrite::can_mark(state));
        let rewrites = marks.is_some() || mark.is_none() && !cuts.is_empty();
        let act = match (rewrites, marks) {
            (false, _) => Act::Copy,
            (true, None) => Act::Write,
            (true, Some(_)) => Act::Mark,
        };
        self.summary.emptied += u64::from(act == Act::Write && documents == source.documents);
        let documents = if rewrites { documents } else { 0 };
        let change = match (rewrites, marks) {
            (false, _) => None,
            (true, None) => Some(Change::LeaveOut),
            (true, Some(field)) => Some(Change::Mark { field, passages: self.passages }),
        };
        self.copy(number, source, (state, &cuts), change, FileStep { act, target: Some(target), documents, reason })
    }

    /// Writes the copy of a file without the passages of its documents.
    fn cut(
        &mut self,
        number: usize,
        source: &SourceFile,
        state: &FileState,
        mut cuts: Vec<Cut>,
        folder: &Path,
        mut reason: Option<String>,
    ) -> Result<()> {
        let target = places::place_of(source, folder)?;
        let Some(passages) = self.passages else { return Ok(()) };
        let lost = self.lost.clone();
        let kept = Kept { store: self.store, checked: self.checked, lost: &lost };
        let cutting = Cutting { passages, kept, limits: &self.options.limits };
        let field = match &source.reading {
            SourceReading::Members(Some(field)) => field.clone(),
            _ => RecordFields::default().text,
        };
        let all = cuts.len();
        if !rewrite::can_cut(state) {
            cuts.clear();
        }
        let (mut failed, mut unsound) = (Ok(()), 0);
        cuts.retain(|cut| {
            let can = self.can_lose(&cutting, cut.id).unwrap_or_else(|error| {
                failed = Err(error);
                (false, false)
            });
            unsound += u64::from(can.1);
            can.0
        });
        failed?;
        self.summary.unjustified += unsound;
        if reason.is_none() && unsound > 0 {
            reason =
                Some("the first occurrences of some passages have changed or are not in the copy; these stay".into());
        } else if reason.is_none() && cuts.len() < all {
            reason = Some(match cuts.is_empty() {
                true => "its passages cannot be cut out of this format; it stays whole".into(),
                false => "some of its documents have markup and stay whole".into(),
            });
        }
        let (act, change) = match cuts.is_empty() {
            true => (Act::Copy, None),
            false => (Act::Cut, Some(Change::CutOut { cutting: &cutting, field: &field })),
        };
        let documents = documents_of(&cuts);
        self.copy(number, source, (state, &cuts), change, FileStep { act, target: Some(target), documents, reason })
    }

    /// First, true if a document loses passages; second, true if some of its passages stay because nothing justifies their removal.
    fn can_lose(&self, cutting: &Cutting<'_>, id: u32) -> Result<(bool, bool)> {
        let record = self.store.document(id)?;
        if !can_be_cut(&record) {
            return Ok((false, false));
        }
        let ranges = cutting.ranges(id)?;
        Ok((!ranges.is_empty(), ranges.len() < cutting.passages.get(id)?.len()))
    }

    /// Writes a copy, with the change to it, if any.
    fn copy(
        &mut self,
        number: usize,
        source: &SourceFile,
        (state, cuts): (&FileState, &[Cut]),
        change: Option<Change<'_>>,
        step: FileStep,
    ) -> Result<()> {
        let FileStep { act, target: Some(target), documents, .. } = &step else { return Ok(()) };
        let (act, target, documents) = (*act, target.clone(), *documents);
        self.summary.applied += documents;
        if !self.options.act {
            return self.report_step(source, step, false);
        }
        let path = Path::new(&source.path);
        if let Some(bytes) = self.log.done(&target)
            && target.metadata().is_ok_and(|facts| facts.len() == bytes)
        {
            self.summary.done_before += 1;
            return self.report_step(source, step, true);
        }
        self.log.begin(act, path, Some(&target), 0)?;
        let before = self.unchanged(number, path)?;
        let changes = change.is_some();
        let written = files::place(&target, path, |file| match &change {
            Some(change) => rewrite::rewrite(path, (state, cuts), change, self.store, file, self.task.token()),
            None => files::copy(path, file, self.task.token()),
        })
        .and_then(|placing| {
            if files::Facts::of(path)? != before {
                return Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }));
            }
            if !changes {
                placing.keep_time(path)?;
            }
            // On the disk before the log says so: the same call trusts the log.
            placing.synced()?;
            placing.finish()
        });
        let bytes = match written {
            Ok(bytes) => bytes,
            Err(error) => {
                self.summary.applied -= documents;
                return Err(error);
            }
        };
        self.summary.bytes += bytes;
        self.log.end(act, path, Some(&target), bytes)?;
        self.report_step(source, step, true)
    }

    /// The facts of a file that is to be changed or copied.
    ///
    /// # Errors
    /// [`DocumentError::ChangedWhileReading`] where they are not those it was checked with.
    fn unchanged(&self, number: usize, path: &Path) -> Result<files::Facts> {
        let facts = files::Facts::of(path)?;
        match self.checked.facts[number] {
            Some(checked) if checked != facts => {
                Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }))
            }
            _ => Ok(facts),
        }
    }

    fn report_step(&mut self, source: &SourceFile, step: FileStep, done: bool) -> Result<()> {
        let FileStep { act, target, documents, reason } = step;
        (self.visit)(Applied {
            schema: Schema::new(),
            source: source.path.clone(),
            act,
            target: target.map(|target| target.display().to_string()),
            documents,
            done,
            reason,
        })
    }
}

/// Distinct documents among these cuts: one of a name that is repeated has several.
fn documents_of(cuts: &[Cut]) -> u64 {
    cuts.iter().map(|cut| cut.id).collect::<RoaringBitmap>().len()
}

/// True if no other file would fare better.
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
