//! In place: marks, removes, links or moves files where they are.
//!
//! A file to remove is first set aside. Then the file is compared with its survivor once more. Only then is
//! the file removed; otherwise it is put back. So two runs that each remove the other's survivors cannot both
//! succeed: each run notices that the other has set its survivor aside.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::answer::{Act, Outcome};
use super::check::{Check, Contents, Cut, FileState};
use super::files::{Facts, FileIdentity};
use super::judged::FileVersion;
use super::log::NotedAct;
use super::options::{Action, LinkKind};
use super::plan::{PlannedDocument, SourceFile, SourceReading};
use super::rewrite::{self, Change, Marks};
use super::{Acted, Acting, Chosen, FileStep, NO_FIELD, documents_of, files, kept_out_of};
use crate::stored::StoredDocument;
use fpdb_host::durable::{create_folders_like, sync_name};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::same_bytes::same_bytes;
use fpdb_reading::input::FileKind;

const SURVIVOR_CHANGED: &str = "its survivor has changed since it was checked";

/// The document that stays, and its file.
struct Survivor {
    id: u32,
    record: StoredDocument,
    number: usize,
    path: PathBuf,
}

/// The way in which a file leaves its place.
enum Way {
    Remove,
    Link(LinkKind),
    Move(PathBuf),
}

impl Check<'_> {
    /// The action of an earlier run on a file, if the file no longer exists, or is now the link that the
    /// action made.
    pub(super) fn done_before(&self, path: &Path, entries: &[PlannedDocument]) -> Result<Option<Act>> {
        if !self.log.begun(path) {
            return Ok(None);
        }
        let is_gone = || path.symlink_metadata().is_err_and(|error| files::is_missing(&error));
        Ok(match self.options.action {
            Action::Remove => is_gone().then_some(Act::Remove),
            Action::Move { .. } => is_gone().then_some(Act::Move),
            Action::Link(kind) => self.is_linked(path, kind, entries)?.then_some(Act::Link),
            _ => None,
        })
    }

    /// True if a file is a link of this kind to the survivor of its document.
    fn is_linked(&self, path: &Path, kind: LinkKind, entries: &[PlannedDocument]) -> Result<bool> {
        let Some(removable) = entries.iter().find(|entry| entry.is_removable()) else { return Ok(false) };
        let survivor = self.stored.find(removable.keep)?.and_then(|record| record.source);
        Ok(survivor.is_some_and(|survivor| files::is_link(path, Path::new(&survivor), kind)))
    }
}

impl Acting<'_> {
    /// Writes a new file with marks in the records, which replaces the old file.
    pub(super) fn mark(
        &mut self,
        number: usize,
        source: &SourceFile,
        state: &FileState,
        field: &str,
    ) -> Result<Option<Acted>> {
        let mut chosen = self.choose(state)?;
        let outcome = Outcome { unjustified: chosen.unjustified, ..Outcome::default() };
        if !rewrite::is_markable(state) {
            let inseparable = chosen.inseparable + documents_of(&chosen.cuts);
            let outcome = Outcome { whole: true, inseparable, ..outcome };
            let left = || Acted { outcome, ..Acted::left(NO_FIELD) };
            return Ok((inseparable + chosen.unjustified > 0).then(left));
        }
        chosen.tell_what_is_kept_out();
        let Chosen { cuts, kept_out_left, kept_out_unsearched, inseparable, reason, .. } = chosen;
        let marked_out = if let FileState::File { kept_out, .. } = state { kept_out.cut } else { 0 };
        let path = Path::new(&source.path);
        if !self.marked.insert(FileIdentity::of(path)?.entry) {
            return Ok(Some(Acted { outcome, ..Acted::left("it is another name of a file that is marked") }));
        }
        let documents = documents_of(&cuts);
        let kept_out = kept_out_of(&cuts);
        let step = FileStep { act: Act::Mark, target: None, documents, kept_out, reason };
        let mut outcome =
            Outcome { applied: documents, kept_out, kept_out_left, kept_out_unsearched, inseparable, ..outcome };
        // Only marks of this job are replaced. If the records already have another field of this name, the
        // act fails, also when the user repeats it.
        let replaces = self.log.has_written(path);
        let (stored, passages) = (self.stored, self.passages);
        let marks = Marks { field, cuts: &cuts, stored, passages, replaces, leaves_out: false };
        let decision = decision_of_marks(&marks, marked_out)?;
        let mut noted = NotedAct { decision, ..NotedAct::new(Act::Mark, path, None) };
        let stands = self.log.stands(path, decision, true);
        if !self.options.act {
            if stands.is_none() {
                rewrite::check_marks(path, state, &marks, self.task.token())?;
            }
            return Ok(Some(Acted { step, done: false, outcome }));
        }
        if let Some(bytes) = stands {
            let facts = Facts::of(path)?;
            (noted.bytes, noted.modified) = (bytes, facts.modified);
            self.log.end(&noted)?;
            outcome.done_before = true;
            return Ok(Some(Acted { step, done: true, outcome }));
        }
        let before = self.unchanged(number, path)?;
        // Replaces the file itself, not a link to it.
        let real = path.canonicalize().map_err(Error::io("find", path))?;
        let part = self.log.part_of(&real);
        files::remove_lost_part(&part)?;
        noted.part = Some(&part);
        // The decision is left out: until the new file is complete, the log must not call it valid.
        self.log.begin(&NotedAct { decision: 0, ..noted })?;
        let placing = files::place(&real, part.clone(), path, |file| {
            rewrite::rewrite(path, (state, &cuts), &Change::Mark(&marks), file, self.task.token())
        })?;
        placing.keep_owner(path)?;
        let written = placing.synced()?;
        (noted.bytes, noted.modified) = (written.bytes, written.modified);
        self.log.begin(&noted)?;
        // Checked just before the renaming, because another program can have written to the file during the
        // sync.
        if Facts::of(path)? != before {
            return Err(changed_while_reading(path));
        }
        placing.finish()?;
        self.log.end(&noted)?;
        outcome.bytes = written.bytes;
        Ok(Some(Acted { step, done: true, outcome }))
    }

    /// Removes, links or moves a file that is one document. `None` if the file has no removable document.
    pub(super) fn dispose(&mut self, number: usize, source: &SourceFile, state: &FileState) -> Result<Option<Acted>> {
        let FileState::File { kind, cuts: all, reason, .. } = state else { return Ok(None) };
        if all.count == 0 && reason.is_none() {
            return Ok(None);
        }
        let Chosen { cuts, unjustified, inseparable, reason, .. } = self.choose(state)?;
        let outcome = Outcome { unjustified, inseparable, ..Outcome::default() };
        let left = |reason: String| Ok(Some(Acted { outcome, ..Acted::left(reason) }));
        if *kind != FileKind::Document {
            let outcome = Outcome { whole: true, inseparable: inseparable + documents_of(&cuts), ..outcome };
            return Ok(Some(Acted {
                outcome,
                ..Acted::left("it is a container; only a copy can leave out its documents")
            }));
        }
        let [cut, ..] = cuts[..] else {
            let step = FileStep { act: Act::Leave, target: None, documents: 0, kept_out: 0, reason };
            return Ok(Some(Acted { step, done: false, outcome }));
        };
        let path = Path::new(&source.path);
        let before = self.unchanged(number, path)?;
        if self.checked.holds_staying(path)? {
            return left("under another name it is a survivor, or another document that stays".into());
        }
        let changed = || {
            let outcome = Outcome { unjustified: unjustified + 1, ..Outcome::default() };
            Ok(Some(Acted { outcome, ..Acted::left(SURVIVOR_CHANGED) }))
        };
        let Some(survivor) = self.survivor(cut)? else { return changed() };
        if !self.is_in_place(&survivor)? {
            return changed();
        }
        let (act, target, way) = match &self.options.action {
            Action::Link(kind) => match why_no_link(&survivor, path)? {
                Some(reason) => return left(reason.into()),
                None => (Act::Link, Some(survivor.path.clone()), Way::Link(*kind)),
            },
            Action::Move { .. } if path.is_symlink() => {
                return left("it is a symbolic link, which can lead elsewhere from there".into());
            }
            Action::Move { folder } => {
                let target = folder.join(files::relative(&source.name));
                (Act::Move, Some(target.clone()), Way::Move(target))
            }
            _ => (Act::Remove, None, Way::Remove),
        };
        // An existing target is an error, unless a killed run has copied the file to the target and not yet
        // removed the original.
        if let Way::Move(target) = &way
            && target.symlink_metadata().is_ok()
            && !(self.log.begun(path) && same_bytes(path, target)?)
        {
            let outcome = Outcome { unplaced: true, ..outcome };
            return Ok(Some(Acted::failed(format!("{} exists already", target.display()), outcome)));
        }
        let step = FileStep { act, target, documents: 1, kept_out: 0, reason };
        let done = self.options.act;
        if done && !self.take(path, &before, &survivor, &way)? {
            return changed();
        }
        Ok(Some(Acted { step, done, outcome: Outcome { applied: 1, bytes: before.bytes, ..outcome } }))
    }

    /// The survivor of a document, if the survivor's file was checked.
    fn survivor(&self, cut: Cut) -> Result<Option<Survivor>> {
        let record = self.stored.document(cut.keep)?;
        let number = record.source.as_deref().and_then(|source| self.checked.number_of(source));
        let (Some(number), Some(path)) = (number, record.source.clone()) else { return Ok(None) };
        Ok(Some(Survivor { id: cut.keep, record, number: number as usize, path: path.into() }))
    }

    /// True if the file of a survivor is still the checked one, and only this run has acted on it since.
    fn is_in_place(&self, survivor: &Survivor) -> Result<bool> {
        let facts = match Facts::of_opened(&survivor.path) {
            Ok(facts) => facts,
            Err(error) if files::is_absent(&error) => return Ok(false),
            Err(Error::Document(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok(self.checked.facts[survivor.number].is_some_and(|checked| self.own.explain(&checked, &facts)))
    }

    /// Like `is_in_place`. If the survivor is a whole file, its content is also compared again before its
    /// first duplicate is removed.
    fn is_whole(&mut self, survivor: &Survivor) -> Result<bool> {
        if !self.is_in_place(survivor)? {
            return Ok(false);
        }
        let source = &self.sources[survivor.number];
        let whole = matches!(source.reading, SourceReading::Whole | SourceReading::Closed);
        if !whole || self.compared.contains(&(survivor.number as u32)) {
            return Ok(true);
        }
        let entry = PlannedDocument::new(survivor.number as u32, survivor.id, survivor.id, &survivor.record.digest, "");
        let (stored, limits, task) = (self.stored, &self.options.limits, self.task);
        let contents = Contents { stored, limits, kept_out: None, task };
        let looked = contents.look(source, &[entry], FileVersion::Ingested)?;
        let same = looked.sound.contains(&survivor.id) && self.is_in_place(survivor)?;
        if same {
            self.compared.insert(survivor.number as u32);
        }
        Ok(same)
    }

    /// Removes a file, moves it or replaces it by a link. If its survivor has changed, changes nothing and
    /// returns false. `before` has the facts that the file had when its content was compared.
    fn take(&mut self, path: &Path, before: &Facts, survivor: &Survivor, way: &Way) -> Result<bool> {
        let bytes = before.bytes;
        let aside = self.log.aside_of(path);
        let taken = File::open(path).map_err(Error::io("read", path))?;
        let (act, target) = match way {
            Way::Remove => (Act::Remove, None),
            Way::Link(_) => (Act::Link, Some(&*survivor.path)),
            Way::Move(target) => (Act::Move, Some(&**target)),
        };
        let part = self.log.part_of(if let Way::Move(target) = way { target } else { path });
        let named = target.map(|_| &*part);
        let noted = NotedAct { bytes, part: named, aside: Some(&aside), ..NotedAct::new(act, path, target) };
        self.log.begin(&noted)?;
        let whole = match way {
            Way::Remove => self.remove((&taken, path), &aside, before, survivor)?,
            Way::Link(kind) => self.link((&taken, path), (part.clone(), &aside), before, survivor, *kind)?,
            Way::Move(target) => self.move_to((&taken, path), target, (part.clone(), &aside), before, survivor)?,
        };
        if whole {
            self.log.end(&noted)?;
        }
        self.own.note(&taken, path)?;
        Ok(whole)
    }

    /// Sets a file aside and checks its survivor. Then removes the file and returns true, or puts it back.
    /// `taken` is the open file.
    fn remove(
        &mut self,
        (taken, path): (&File, &Path),
        aside: &Path,
        before: &Facts,
        survivor: &Survivor,
    ) -> Result<bool> {
        files::rename_new(path, aside).map_err(Error::io("set aside", path))?;
        // The survivor can be another hard link to this file. The renaming has changed the file's facts.
        self.own.note(taken, aside)?;
        let removed = match self.is_whole(survivor) {
            Ok(true) => remove_unchanged(aside, path, before),
            other => other,
        };
        if !matches!(removed, Ok(true)) {
            files::rename_new(aside, path).map_err(Error::io("put back", aside))?;
        }
        removed
    }

    /// Compares a file with its survivor, sets the file aside and puts a link in its place. Then checks the
    /// survivor again. Removes the file and returns true, or puts the file back.
    fn link(
        &mut self,
        (taken, path): (&File, &Path),
        (part, aside): (PathBuf, &Path),
        before: &Facts,
        survivor: &Survivor,
        kind: LinkKind,
    ) -> Result<bool> {
        let linked_to = File::open(&survivor.path).map_err(Error::io("read", &survivor.path))?;
        let link = files::link(&survivor.path, part, kind)?;
        // This also rejects a changed file under the survivor's name, since its bytes differ.
        if !same_bytes(path, link.path())? {
            return Ok(false);
        }
        files::keep_aside(path, aside)?;
        link.replace(path)?;
        // As in `remove`.
        self.own.note(taken, aside)?;
        if kind == LinkKind::Hard {
            // The link gives the survivor's file a second name, which changes the facts of the file.
            self.own.note(&linked_to, &survivor.path)?;
        }
        let removed = match self.is_in_place(survivor) {
            Ok(true) => remove_unchanged(aside, path, before),
            other => other,
        };
        if !matches!(removed, Ok(true)) {
            files::put_back(aside, path).map_err(Error::io("put back", aside))?;
        }
        removed
    }

    /// Moves a file, by copying if the target is on another file system. If its survivor has changed, puts
    /// the file back and returns false.
    fn move_to(
        &mut self,
        (taken, path): (&File, &Path),
        target: &Path,
        (part, aside): (PathBuf, &Path),
        before: &Facts,
        survivor: &Survivor,
    ) -> Result<bool> {
        let folder = target.parent().unwrap_or(Path::new("."));
        create_folders_like(folder, path.parent())?;
        // If the target exists, it is a copy that a killed run made, and it has been compared with the file.
        if target.symlink_metadata().is_err() {
            match files::rename_new(path, target) {
                Ok(()) => {
                    self.own.note(taken, target)?;
                    let whole = self.is_whole(survivor);
                    if !matches!(whole, Ok(true)) {
                        files::rename_new(target, path).map_err(Error::io("put back", target))?;
                    }
                    return whole;
                }
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                    self.copy_to(path, target, part)?;
                }
                Err(error) => return Err(Error::io("move", path)(error)),
            }
        }
        let removed = self.remove((taken, path), aside, before, survivor);
        if !matches!(removed, Ok(true)) {
            fs::remove_file(target).map_err(Error::io("remove", target))?;
        }
        removed
    }

    /// Copies a file to another file system. Returns after the copy is synced to disk.
    fn copy_to(&self, path: &Path, target: &Path, part: PathBuf) -> Result<()> {
        let before = Facts::of(path)?;
        let placing = files::place(target, part, path, |file| files::copy(path, file, self.task.token()))?;
        if Facts::of(path)? != before {
            return Err(changed_while_reading(path));
        }
        placing.keep_owner(path)?;
        placing.keep_time(path)?;
        placing.synced()?;
        placing.finish_new()?;
        sync_name(target)
    }
}

/// Removes a file that is set aside and returns true. Fails if the file no longer has the content that was
/// compared: a program that had the file open can have written to it.
fn remove_unchanged(aside: &Path, path: &Path, before: &Facts) -> Result<bool> {
    if !Facts::of(aside)?.differs_in_change_only(before) {
        return Err(changed_while_reading(path));
    }
    fs::remove_file(aside).map_err(Error::io("remove", aside))?;
    Ok(true)
}

fn changed_while_reading(path: &Path) -> Error {
    Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() })
}

/// A digest of the facts that decide the marks of a file. `kept_out` is a digest of the records that are kept
/// out, which have no id.
fn decision_of_marks(marks: &Marks<'_>, kept_out: u64) -> Result<u64> {
    let mut decision = Xxh3::new();
    decision.update(Act::Mark.name().as_bytes());
    for Cut { id, keep, .. } in marks.cuts {
        // The places of records are left out, since the marks move them.
        decision.update(&id.to_le_bytes());
        decision.update(&keep.to_le_bytes());
    }
    // Decisions of earlier versions do not include `kept_out`.
    decision.update(&kept_out.to_le_bytes()[..if kept_out == 0 { 0 } else { 8 }]);
    marks.update_with_survivors(&mut decision)?;
    Ok(decision.digest())
}

/// The reason why a file cannot be replaced by a link to the survivor, if there is one. Both must be whole
/// files of the same bytes.
fn why_no_link(survivor: &Survivor, path: &Path) -> Result<Option<&'static str>> {
    if !survivor.record.member.as_deref().is_none_or(str::is_empty) {
        return Ok(Some("its survivor is not a file"));
    }
    Ok(match same_bytes(path, &survivor.path)? {
        true => None,
        false => Some("its survivor is a file of other bytes, which is not linked"),
    })
}
