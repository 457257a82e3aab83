//! Copies: writes files to another folder: whole, without some documents or passages, or with marks.

use std::fs;
use std::path::{Component, Path, PathBuf};

use roaring::RoaringBitmap;
use xxhash_rust::xxh3::Xxh3;

use super::answer::{Act, Outcome};
use super::check::{Contents, Cut, FileState};
use super::cutting::{Cutting, can_be_cut, is_all_symbols};
use super::files::{self, Facts};
use super::kept_out::KeptOutInCopy;
use super::log::NotedAct;
use super::log_lines::LogLine;
use super::options::Action;
use super::passages::NO_DOCUMENT;
use super::plan::{SourceFile, SourceReading};
use super::rewrite::{self, Change, Marks};
use super::{Acted, Acting, Applied, Chosen, FileStep, NO_FIELD, documents_of, is_fatal, kept_out_of, places};
use crate::stored::StoredContainer;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::schema::Schema;
use fpdb_reading::input::{FileKind, RecordFields, is_joined};

/// Maximum number of members that a reason names.
const UNREAD_NAMED: usize = 5;

/// The plan for the copy of one file.
pub(super) struct PlannedCopy {
    act: Act,
    target: PathBuf,
    chosen: Chosen,
    /// A digest of everything that decides the content of the copy, except the content of the file.
    pub(super) decision: u64,
    /// The documents that have no symbol left after their passages are cut out. The copy leaves out these
    /// documents.
    emptied: RoaringBitmap,
    /// True if the file is copied whole, although it has documents to mark or passages to cut out.
    whole: bool,
}

impl PlannedCopy {
    /// True if the copy lacks documents or passages, or marks documents as removable.
    pub(super) fn leaves_out(&self) -> bool {
        !self.chosen.cuts.is_empty()
    }
}

impl Chosen {
    /// Adds the records whose contents are kept out to `kept_out_left`: they stay, because a marked table
    /// cannot lose rows.
    fn keep_what_is_kept_out(&mut self) {
        let left = kept_out_of(&self.cuts);
        if left > 0 {
            self.kept_out_left += left;
            self.reason = Some("a marked table keeps its rows".into());
        }
    }

    /// Extends the reason if records stay, or may stay, although their contents are kept out.
    pub(super) fn tell_what_is_kept_out(&mut self) {
        if self.kept_out_left > 0 {
            let why = self.reason.take().unwrap_or_else(|| "they are in a mail, or in a container within it".into());
            self.reason = Some(format!("{} of its records stay although they are kept out: {why}", self.kept_out_left));
        } else if self.kept_out_unsearched > 0 {
            self.reason.get_or_insert_with(|| "a part of it cannot be read, and may be kept out".into());
        }
    }

    /// Adds the names of members that could not be read to the reason. No report says anything about these
    /// members.
    fn tell_what_is_unread(&mut self, name: &str, container: &StoredContainer) {
        let mut told = match container.unread {
            0 => return,
            1 => "1 part of it could not be read and stays as it is".to_owned(),
            unread => format!("{unread} parts of it could not be read and stay as they are"),
        };
        let suffixes = container.unread_suffixes.iter().filter(|suffix| !suffix.is_empty());
        let names: Vec<String> = suffixes.take(UNREAD_NAMED).map(|suffix| format!("{name}{suffix}")).collect();
        if !names.is_empty() {
            let more = if (names.len() as u64) < container.unread { ", ..." } else { "" };
            told += &format!(": {}{more}", names.join(", "));
        }
        self.reason = Some(self.reason.take().map_or(told.clone(), |reason| format!("{reason}; {told}")));
    }
}

impl Acting<'_> {
    /// Returns the plan for the copy of a file in a folder.
    pub(super) fn plan_copy(&self, source: &SourceFile, state: &FileState, folder: &Path) -> Result<PlannedCopy> {
        let target = places::place_of(source, folder);
        let mut chosen = self.choose(state)?;
        let (mut ranges, mut emptied) = (Vec::new(), RoaringBitmap::new());
        let is_document = matches!(state, FileState::File { kind: FileKind::Document, .. });
        let has_documents = |cuts: &[Cut]| documents_of(cuts) > 0;
        let concerned = documents_of(&chosen.cuts);
        let act = match &self.options.action {
            Action::Cut { .. } => {
                (ranges, emptied) = self.choose_passages(source, state, &mut chosen)?;
                match chosen.cuts.is_empty() {
                    true => Act::Copy,
                    false if is_document && !emptied.is_empty() => Act::Omit,
                    false if has_documents(&chosen.cuts) => Act::Cut,
                    false => Act::Write,
                }
            }
            Action::Write { mark: Some(_), .. } if rewrite::is_markable(state) => {
                if !rewrite::can_mark_and_leave_out(state) {
                    chosen.keep_what_is_kept_out();
                }
                Act::Mark
            }
            Action::Write { mark: Some(_), .. } => {
                chosen.cuts.retain(|cut| cut.id == NO_DOCUMENT);
                if chosen.cuts.is_empty() { Act::Copy } else { Act::Write }
            }
            Action::Write { mark: None, .. } if !chosen.cuts.is_empty() => {
                // Without its documents nothing of a mail is left, so the whole file is left out, as for a
                // single document.
                let is_mail = matches!(state, FileState::File { container: None, .. });
                let takes_all = || rewrite::takes_all(state, &chosen.cuts);
                if is_document || is_mail || takes_all() { Act::Omit } else { Act::Write }
            }
            _ => Act::Copy,
        };
        let mut decision = Xxh3::new();
        decision.update(act.name().as_bytes());
        if act != Act::Copy {
            decision.update(bytemuck::cast_slice(&chosen.cuts));
            decision.update(bytemuck::cast_slice(&ranges));
            // Earlier versions kept records without text. So a decision to leave out such records needs
            // another digest.
            decision.update(&emptied.len().to_le_bytes()[..if emptied.is_empty() { 0 } else { 8 }]);
        }
        if act == Act::Mark {
            // The passages are part of the copy, and come from the report. So are the names of survivors,
            // which documents of the database can change without a new report.
            decision.update(&self.report.to_le_bytes());
            if let Some(marks) = self.marking(&chosen.cuts) {
                marks.update_with_survivors(&mut decision)?;
            }
        }
        if let FileState::File { kept_out, .. } = state
            && !rewrite::is_markable(state)
        {
            // Counted with the final cuts: a copy with marks or without passages keeps mails that other
            // copies leave out.
            chosen.kept_out_left = kept_out.left_after(&chosen.cuts);
        }
        chosen.inseparable += concerned - documents_of(&chosen.cuts);
        let whole = concerned > 0 && !has_documents(&chosen.cuts) && chosen.unjustified == 0;
        if whole && self.options.action.marks() {
            chosen.reason.get_or_insert_with(|| NO_FIELD.into());
        }
        chosen.tell_what_is_kept_out();
        if matches!(source.reading, SourceReading::Members(_) | SourceReading::Mixed)
            && act != Act::Omit
            && let Some(container) = self.stored.container(&source.path)?
        {
            chosen.tell_what_is_unread(&source.name, &container);
        }
        Ok(PlannedCopy { act, target, chosen, decision: decision.digest(), emptied, whole })
    }

    /// Keeps in `chosen` only the documents that lose passages. The returned list has, for each of these
    /// documents, the number of ranges to cut out and then the offsets of the ranges. The returned bitmap has
    /// the documents that have no symbol left.
    fn choose_passages(
        &self,
        source: &SourceFile,
        state: &FileState,
        chosen: &mut Chosen,
    ) -> Result<(Vec<u64>, RoaringBitmap)> {
        let Some(passages) = self.passages else { return Ok((Vec::new(), RoaringBitmap::new())) };
        let cutting = Cutting { passages, kept: self.kept(), limits: &self.options.limits };
        let (kept_out, mut cuts): (Vec<Cut>, Vec<Cut>) =
            std::mem::take(&mut chosen.cuts).into_iter().partition(|cut| cut.id == NO_DOCUMENT);
        let all = cuts.len();
        if !rewrite::can_cut(state) {
            cuts.clear();
        }
        let (mut unsound, mut emptied) = (0, RoaringBitmap::new());
        let mut ranges = Vec::new();
        for cut in cuts {
            let record = self.stored.document(cut.id)?;
            if !can_be_cut(&record) {
                continue;
            }
            let found = cutting.sound(cut.id)?;
            unsound += u64::from(found.len() < cutting.passages.get(cut.id)?.len());
            if !found.is_empty() {
                chosen.cuts.push(cut);
                ranges.push(found.len() as u64);
                ranges.extend(found.iter().flat_map(|passage| [passage.start, passage.end]));
                let lost: u64 = found.iter().map(|passage| passage.symbols).sum();
                if lost >= record.symbols && is_all_symbols(&record, self.stored.profile()) {
                    emptied.insert(cut.id);
                }
            }
        }
        chosen.unjustified += unsound;
        if chosen.reason.is_none() && unsound > 0 {
            chosen.reason =
                Some("earlier occurrences of some passages have changed or are not in the copy; these stay".into());
        } else if chosen.reason.is_none() && chosen.cuts.len() < all {
            let is_list = matches!(&source.reading, SourceReading::Members(Some(field)) if is_joined(field));
            chosen.reason = Some(match chosen.cuts.is_empty() {
                true if is_list => {
                    "its texts are joined of several values, as in chats; passages cannot be cut out of them".into()
                }
                true => "its passages cannot be cut out of this format; it stays whole".into(),
                false => "some of its documents have markup and stay whole".into(),
            });
        }
        chosen.cuts.extend(kept_out);
        chosen.cuts.sort_unstable();
        Ok((ranges, emptied))
    }

    /// Copies a file according to its plan, unless this is a dry run. Returns the act.
    pub(super) fn copy(
        &mut self,
        number: usize,
        source: &SourceFile,
        state: &FileState,
        planned: PlannedCopy,
    ) -> Result<Acted> {
        let PlannedCopy { act, target, chosen, decision, emptied, whole } = planned;
        let Chosen { cuts, unjustified, kept_out_left, kept_out_unsearched, inseparable, reason } = chosen;
        let documents = if act == Act::Copy { 0 } else { documents_of(&cuts) };
        let keeps_rows = act == Act::Mark && !rewrite::can_mark_and_leave_out(state);
        let mut kept_out = if keeps_rows { 0 } else { kept_out_of(&cuts) };
        if let FileState::File { kept_out: records, .. } = state
            && !rewrite::is_markable(state)
        {
            kept_out += records.gone_with(&cuts);
        }
        let mut outcome = Outcome {
            applied: documents,
            unjustified,
            emptied: match act {
                Act::Write => documents == source.documents,
                Act::Cut => emptied.len() == source.documents,
                _ => false,
            },
            whole,
            without_text: emptied.len(),
            kept_out,
            kept_out_left,
            kept_out_unsearched,
            inseparable,
            ..Outcome::default()
        };
        let path = Path::new(&source.path);
        if act == Act::Omit {
            // The copy can have been edited since the places were looked at.
            if self.options.act && !self.remove_copy(path, &target)? {
                return Err(Error::PlaceTaken { path: target, files: 1, has_others: self.log.has_others });
            }
            let step = FileStep { act, target: None, documents, kept_out, reason };
            return Ok(Acted { step, done: self.options.act, outcome });
        }
        let step = FileStep { act, target: Some(target.clone()), documents, kept_out, reason };
        let before = self.unchanged(number, path)?;
        let decision = before.mixed_with(decision);
        outcome.done_before = self.log.stands(&target, decision, false).is_some();
        if let (Act::Mark, false, Some(marks)) = (act, outcome.done_before || self.options.act, self.marking(&cuts)) {
            rewrite::check_marks(path, state, &marks, self.task.token())?;
        }
        if outcome.done_before || !self.options.act {
            return Ok(Acted { step, done: self.options.act, outcome });
        }
        let replaces = self.log.owns(&target);
        let part = self.log.part_of(&target);
        let text_field = source.reading.text_field();
        let mut noted = NotedAct { decision, part: Some(&part), text_field, ..NotedAct::new(act, path, Some(&target)) };
        self.log.begin(&noted)?;
        files::remove_lost_part(&part)?;
        let placing = files::place(&target, part.clone(), path, |file| {
            self.write_copy(path, source, (state, &cuts, &emptied), act, file)
        })?;
        if Facts::of(path)? != before {
            return Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }));
        }
        if act == Act::Copy {
            placing.keep_time(path)?;
        }
        // The copy must be on disk before the log says so, because the next call trusts the log.
        let written = placing.synced()?;
        // The log is synced before the copy takes its place. So the log lists the copy even after a power
        // failure, and the next run does not take the copy for the file of somebody else.
        (noted.bytes, noted.modified) = (written.bytes, written.modified);
        self.log.begin(&noted)?;
        self.log.sync()?;
        if replaces {
            placing.finish()?
        } else {
            placing.finish_new()?
        }
        self.log.end(&noted)?;
        outcome.bytes = written.bytes;
        Ok(Acted { step, done: true, outcome })
    }

    /// Writes the content of a copy.
    fn write_copy(
        &self,
        path: &Path,
        source: &SourceFile,
        (state, cuts, emptied): (&FileState, &[Cut], &RoaringBitmap),
        act: Act,
        output: &mut fs::File,
    ) -> Result<()> {
        let (stop, file) = (self.task.token(), (state, cuts));
        match (act, &self.options.action, self.passages) {
            (Act::Write, ..) => rewrite::rewrite(path, file, &Change::LeaveOut, output, stop),
            (Act::Mark, ..) => match self.marking(cuts) {
                Some(marks) => rewrite::rewrite(path, file, &Change::Mark(&marks), output, stop),
                None => files::copy(path, output, stop),
            },
            (Act::Cut, _, Some(passages)) => {
                let cutting = Cutting { passages, kept: self.kept(), limits: &self.options.limits };
                let field = match &source.reading {
                    SourceReading::Members(Some(field)) => field.clone(),
                    _ => RecordFields::default().text,
                };
                let change = Change::CutOut { cutting: &cutting, field: &field, emptied };
                rewrite::rewrite(path, file, &change, output, stop)
            }
            _ => files::copy(path, output, stop),
        }
    }

    fn contents(&self) -> Contents<'_> {
        let (stored, limits, task) = (self.stored, &self.options.limits, self.task);
        Contents { stored, limits, kept_out: Some(self.kept_out), task }
    }

    /// The marks that a copy with these cuts gets, if any.
    fn marking<'a>(&'a self, cuts: &'a [Cut]) -> Option<Marks<'a>> {
        let (stored, passages) = (self.stored, self.passages);
        match &self.options.action {
            Action::Write { mark: Some(field), .. } => {
                Some(Marks { field, cuts, stored, passages, replaces: false, leaves_out: true })
            }
            _ => None,
        }
    }

    /// Removes the copy that an earlier run made of a file, if there is one. Returns false if the copy stays
    /// because it was edited.
    fn remove_copy(&mut self, path: &Path, target: &Path) -> Result<bool> {
        match target.symlink_metadata() {
            Err(error) if files::is_missing(&error) => return Ok(true),
            _ if !self.log.owns(target) => return Ok(false),
            _ => {}
        }
        let noted = NotedAct::new(Act::Omit, path, Some(target));
        self.log.begin(&noted)?;
        fs::remove_file(target).map_err(Error::io("remove", target))?;
        self.log.end(&noted)?;
        Ok(true)
    }

    /// Reports the copies that earlier runs made of files that the database no longer has. With `prune`,
    /// removes those copies that have not changed since.
    pub(super) fn old_copies(&mut self, copies: Vec<(PathBuf, LogLine)>) -> Result<()> {
        let Some(folder) = self.options.action.copies_to() else { return Ok(()) };
        let all = copies.len() as u64;
        for (number, (copy, made)) in (0..).zip(copies) {
            self.task.step("copies of earlier runs looked at", number, all)?;
            let mut reason = "the database no longer has a file of this name".to_owned();
            // Another user can have written the log. So a file outside the folder is neither read nor
            // removed.
            let is_inside = copy
                .strip_prefix(folder)
                .is_ok_and(|place| place.components().all(|component| matches!(component, Component::Normal(_))));
            let is_ours = is_inside && self.log.owns(&copy);
            // The copy can be a link or a pipe by now.
            let is_file = is_inside && copy.symlink_metadata().is_ok_and(|facts| facts.is_file());
            let kept_out = if is_file { self.contents().kept_out_in(&copy, &made)? } else { KeptOutInCopy::default() };
            match kept_out.contents {
                0 => {}
                1 => reason += ", and 1 of its contents is kept out",
                contents => reason += &format!(", and {contents} of its contents are kept out"),
            }
            if kept_out.unsearched > 0 {
                reason += ", and not all of it can be searched for what is kept out";
            }
            let is_due = is_ours && self.options.prune;
            let (mut is_pruned, mut is_edited) = (is_due, !is_ours);
            if is_due && self.options.act {
                match self.remove_copy(Path::new(&made.source), &copy) {
                    Ok(true) => remove_empty_folders(&copy, folder),
                    Ok(false) => (is_pruned, is_edited) = (false, true),
                    Err(error) if is_fatal(&error) => return Err(error),
                    Err(error) => (is_pruned, reason) = (false, error.chain()),
                }
            }
            if is_edited {
                reason += ", and its copy was changed since";
            }
            let count = if is_pruned { &mut self.summary.pruned } else { &mut self.summary.stale };
            *count += 1;
            if !is_pruned {
                self.summary.kept_out_left += kept_out.contents;
                self.summary.kept_out_unsearched += kept_out.unsearched;
            }
            let is_named = !is_pruned && kept_out.contents + kept_out.unsearched > 0;
            (self.visit)(Applied {
                schema: Schema::new(),
                source: made.source,
                act: if is_pruned { Act::Omit } else { Act::Leave },
                target: Some(copy.display().to_string()),
                documents: 0,
                kept_out: 0,
                done: is_pruned && self.options.act,
                reason: Some(reason),
                done_before: is_ours && is_pruned == is_due && !is_named,
            })?;
        }
        Ok(())
    }
}

/// Removes the folders around a removed copy that are empty. A file can then take the place of such a folder.
fn remove_empty_folders(copy: &Path, folder: &Path) {
    for above in copy.ancestors().skip(1).take_while(|above| *above != folder) {
        if fs::remove_dir(above).is_err() {
            return;
        }
    }
}
