//! In place: files that are marked, removed, linked or moved where they are.

use std::path::{Path, PathBuf};

use super::answer::Act;
use super::check::{Cut, FileState};
use super::files::FileIdentity;
use super::options::Action;
use super::plan::SourceFile;
use super::rewrite::{self, Change};
use super::{Acting, FileStep, documents_of, files};
use crate::error::{DocumentError, Error, Result};
use crate::input::FileKind;
use crate::store::DocumentRecord;

impl Acting<'_> {
    /// Marks the records of a file, which takes its place.
    pub(super) fn mark(
        &mut self,
        number: usize,
        source: &SourceFile,
        state: &FileState,
        cuts: &[Cut],
        field: &str,
        reason: Option<String>,
    ) -> Result<()> {
        let documents = documents_of(cuts);
        if !rewrite::can_mark(state) {
            let FileState::File { cuts, .. } = state else { return Ok(()) };
            if cuts.count == 0 {
                return Ok(());
            }
            return self.report_step(source, FileStep::leave("it has no records that take a field"), false);
        }
        let path = Path::new(&source.path);
        if !self.marked.insert(FileIdentity::of(path)?.entry) {
            return self.report_step(source, FileStep::leave("it is another name of a file that is marked"), false);
        }
        let step = FileStep { act: Act::Mark, target: None, documents, reason };
        self.summary.applied += documents;
        if !self.options.act {
            return self.report_step(source, step, false);
        }
        if let Some(bytes) = self.log.begun_bytes(path)
            && path.metadata().is_ok_and(|facts| facts.len() == bytes)
        {
            self.summary.done_before += 1;
            self.log.end(Act::Mark, path, None, bytes)?;
            return self.report_step(source, step, true);
        }
        let before = self.unchanged(number, path)?;
        // The file itself, not a link to it.
        let real = path.canonicalize().map_err(Error::io("find", path))?;
        let marked = files::place(&real, path, |file| {
            let change = Change::Mark { field, passages: self.passages };
            rewrite::rewrite(path, (state, cuts), &change, self.store, file, self.task.token())
        })
        .and_then(|placing| {
            if files::Facts::of(path)? != before {
                return Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }));
            }
            let bytes = placing.synced()?;
            self.log.begin(Act::Mark, path, None, bytes)?;
            placing.finish()
        });
        let bytes = match marked {
            Ok(bytes) => bytes,
            Err(error) => {
                self.summary.applied -= documents;
                return Err(error);
            }
        };
        self.summary.bytes += bytes;
        self.log.end(Act::Mark, path, None, bytes)?;
        self.report_step(source, step, true)
    }

    /// Removes, links or moves a file that is one document.
    pub(super) fn dispose(
        &mut self,
        number: usize,
        source: &SourceFile,
        state: &FileState,
        cuts: &[Cut],
        reason: Option<String>,
    ) -> Result<()> {
        let FileState::File { kind, cuts: all, .. } = state else { return Ok(()) };
        if all.count == 0 && reason.is_none() {
            return Ok(());
        }
        if *kind != FileKind::Document {
            return self.report_step(
                source,
                FileStep::leave("a copy can leave out parts of a file; in its place it stays whole"),
                false,
            );
        }
        let [cut, ..] = cuts else {
            return self.report_step(source, FileStep { act: Act::Leave, target: None, documents: 0, reason }, false);
        };
        let path = Path::new(&source.path);
        self.unchanged(number, path)?;
        if self.checked.holds_survivor(path)? {
            return self.report_step(source, FileStep::leave("it is a survivor under another name"), false);
        }
        let survivor = self.store.document(cut.keep)?;
        if !survivor.source.as_deref().map_or(Ok(false), |source| self.checked.is_unchanged(source))? {
            self.summary.unjustified += 1;
            return self.report_step(source, FileStep::leave("its survivor has changed since it was checked"), false);
        }
        if matches!(self.options.action, Action::Move { .. }) && path.is_symlink() {
            return self.report_step(
                source,
                FileStep::leave("it is a symbolic link, which can lead elsewhere from there"),
                false,
            );
        }
        let bytes = path.metadata().map_err(Error::io("read", path))?.len();
        let (act, target) = match &self.options.action {
            Action::Remove => (Act::Remove, None),
            Action::Move { folder } => (Act::Move, Some(folder.join(files::relative(&source.name)))),
            _ => match survivor_of(survivor, path)? {
                Ok(survivor) => (Act::Link, Some(survivor)),
                Err(reason) => return self.report_step(source, FileStep::leave(reason), false),
            },
        };
        if let (Act::Move, Some(target)) = (act, &target)
            && target.symlink_metadata().is_ok()
        {
            self.summary.failed += 1;
            self.summary.unplaced += 1;
            return self.report_step(source, FileStep::leave(format!("{} exists already", target.display())), false);
        }
        let step = FileStep { act, target: target.clone(), documents: 1, reason };
        if self.options.act {
            self.log.begin(act, path, target.as_deref(), bytes)?;
            match (&self.options.action, &target) {
                (Action::Link(kind), Some(survivor)) => files::link(path, survivor, *kind)?,
                (Action::Move { .. }, Some(target)) => files::move_to(path, target, self.task.token())?,
                _ => std::fs::remove_file(path).map_err(Error::io("remove", path))?,
            }
            self.log.end(act, path, target.as_deref(), bytes)?;
        }
        self.summary.applied += 1;
        self.summary.bytes += bytes;
        self.report_step(source, step, self.options.act)
    }
}

/// The file that takes the place of a document's file, which has to be of the same bytes; or why there is none.
fn survivor_of(survivor: DocumentRecord, path: &Path) -> Result<std::result::Result<PathBuf, &'static str>> {
    let whole = survivor.member.as_deref().is_none_or(str::is_empty);
    let Some(survivor) = survivor.source.filter(|_| whole).map(PathBuf::from) else {
        return Ok(Err("its survivor is not a file"));
    };
    match files::same_bytes(path, &survivor)? {
        true => Ok(Ok(survivor)),
        false => Ok(Err("its survivor is a file of other bytes, which is not linked")),
    }
}
