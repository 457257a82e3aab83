//! Check: compares the *concerned* documents, removable ones and their survivors, with the database. The
//! check also finds the places of these documents in the files.

use std::cell::RefCell;
use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::answer::Act;
use super::files::{self, Facts, FileIdentity};
use super::judged::FileVersion;
use super::kept_out::KeptOutOfFile;
use super::log::Log;
use super::options::ApplyOptions;
use super::places::Unplaced;
use super::plan::{PlannedDocument, SourceFile, SourceReading, for_each_file};
use super::rewrite::{can_mark, why_whole};
use super::scan::{FoundDocument, Places, Scan};
use crate::stored::StoredDocuments;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::{Sorter, TempSpace, read_at, write_at};
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{Container, FileKind, InputLimits, ReadOptions, Reader, RecordFields, visit_with_extents};

/// A range of a file to leave out, in the unit of `Members::extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Cut {
    pub(super) start: u64,
    pub(super) end: u64,
    /// A document in this range. A mail and its attachments have the same range.
    pub(super) id: u32,
    /// The survivor of the document.
    pub(super) keep: u32,
}

impl Cut {
    pub(super) fn of(document: &PlannedDocument, at: &Range<u64>) -> Self {
        Self { start: at.start, end: at.end, id: document.id, keep: document.keep }
    }
}

/// The cuts of one file, as a range in the cuts of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CutRange {
    start: u64,
    pub(super) count: u64,
}

/// The state of a file.
#[derive(Clone, Debug)]
pub(super) enum FileState {
    /// The file stays as it is. Either the action does not concern the file. Or the file has no concerned
    /// document, and its size and time are those of its ingest.
    Kept,
    /// The concerned documents of the file are unchanged. If the file is copied or marked, its other
    /// documents are unchanged too.
    File {
        kind: FileKind,
        /// The container that holds the members; `None` if the file is one document, or a mail with
        /// attachments.
        container: Option<Container>,
        cuts: CutRange,
        /// The number of entries in the container, with or without documents, plus the number of parts that
        /// cannot be read. So a file with such parts is never left out whole.
        members: u64,
        kept_out: KeptOutOfFile,
        /// The reason why some removable documents of the file stay.
        reason: Option<String>,
        /// Number of unchanged removable documents that cannot be left out for this reason.
        inseparable: u64,
    },
    /// An earlier run has removed, linked or moved the file.
    Done(Act),
    /// The file is left alone.
    Unfit {
        reason: String,
        /// True if the system refused to read the file.
        refused: bool,
    },
}

/// The result of the check.
pub(super) struct Checked {
    pub(super) states: Vec<FileState>,
    /// The facts of each file that was checked.
    pub(super) facts: Vec<Option<Facts>>,
    /// Unchanged documents, in files that are unchanged too.
    pub(super) sound: RoaringBitmap,
    /// Hashes of the files in which a document stays, and of their directory entries. These are all files
    /// with a survivor, and files without removable documents that can be another name of a removable file.
    /// Empty unless files are removed, linked or moved.
    staying: FxHashSet<u64>,
    /// The indexes of files with removable documents. `removable_files` has the hashes of the unchanged ones.
    removable: RoaringBitmap,
    removable_files: FxHashSet<u64>,
    /// The indexes of the files that were checked, by the hash of their paths.
    numbers: FxHashMap<u64, u32>,
    all: File,
    temp: TempSpace,
}

impl Checked {
    /// True if the file at this path, under this name or another, holds a document that stays.
    pub(super) fn holds_staying(&self, path: &Path) -> Result<bool> {
        let FileIdentity { entry, file, is_only } = FileIdentity::of(path)?;
        Ok(self.staying.contains(&entry) || (is_only && self.staying.contains(&file)))
    }

    /// The index of the file at this path, if it was checked.
    pub(super) fn number_of(&self, path: &str) -> Option<u32> {
        self.numbers.get(&xxh3_64(path.as_bytes())).copied()
    }

    /// The cuts of a file, ascending.
    pub(super) fn cuts(&self, range: &CutRange) -> Result<Vec<Cut>> {
        read_at(&self.all, range.start, usize::try_from(range.count).unwrap_or(usize::MAX), &self.temp)
    }
}

/// Compares files with the database.
pub(super) struct Check<'a> {
    pub(super) stored: &'a dyn StoredDocuments,
    pub(super) sources: &'a [SourceFile],
    pub(super) options: &'a ApplyOptions,
    /// The contents that a copy leaves out, or that are marked, although no document has them.
    pub(super) kept_out: &'a FxHashSet<Digest>,
    /// Files that have no place in the copy.
    pub(super) unplaced: &'a Unplaced,
    pub(super) log: &'a mut Log,
    pub(super) temp: &'a TempSpace,
    pub(super) task: &'a Task<'a>,
}

impl Check<'_> {
    /// Checks each file with a concerned document. Returns the state of all files, and the documents that are
    /// sound.
    pub(super) fn all(&mut self, entries: Sorter<'_, PlannedDocument>) -> Result<Checked> {
        let mut checked = Checked {
            states: vec![FileState::Kept; self.sources.len()],
            facts: vec![None; self.sources.len()],
            sound: RoaringBitmap::new(),
            staying: FxHashSet::default(),
            removable: RoaringBitmap::new(),
            removable_files: FxHashSet::default(),
            numbers: FxHashMap::default(),
            all: self.temp.file()?,
            temp: self.temp.clone(),
        };
        let mut written = 0;
        for_each_file(entries, &mut |source, group| {
            self.task.step("files checked", source as u64, self.sources.len() as u64)?;
            self.one(source, group, &mut checked, &mut written)
        })?;
        if self.options.action.takes_files() {
            self.note_staying(&mut checked)?;
        }
        // Files that the report does not name are checked too. If records get marks, each of them gets one. A
        // container may hold records whose contents are kept out. A changed file may hold records that the
        // report does not know.
        let (marks, keeps_out) = (self.options.action.marks(), !self.kept_out.is_empty());
        if marks || self.options.action.copies_to().is_some() {
            for (number, source) in self.sources.iter().enumerate() {
                let has_members =
                    source.mail || matches!(source.reading, SourceReading::Members(_) | SourceReading::Mixed);
                if matches!(checked.states[number], FileState::Kept)
                    && (marks || keeps_out && has_members || !self.is_as_ingested(number, &mut checked)?)
                {
                    self.task.step("files checked", number as u64, self.sources.len() as u64)?;
                    self.one(number, &[], &mut checked, &mut written)?;
                }
            }
        }
        Ok(checked)
    }

    fn contents(&self) -> Contents<'_> {
        let kept_out = (!self.options.action.takes_files()).then_some(self.kept_out);
        Contents { stored: self.stored, limits: &self.options.limits, kept_out, task: self.task }
    }

    /// True if the size and time of a file are those of its ingest. Also true if size and time cannot be
    /// read: the copy then fails with the reason.
    fn is_as_ingested(&self, number: usize, checked: &mut Checked) -> Result<bool> {
        let source = &self.sources[number];
        let Ok(facts) = Facts::of(Path::new(&source.path)) else { return Ok(true) };
        let is_same = self.contents().version(source, &facts)? == FileVersion::Ingested;
        checked.facts[number] = is_same.then_some(facts);
        Ok(is_same)
    }

    /// Notes files that have no removable document but can be another name of a removable file.
    fn note_staying(&self, checked: &mut Checked) -> Result<()> {
        for (number, source) in self.sources.iter().enumerate() {
            self.task.step("files looked up", number as u64, self.sources.len() as u64)?;
            let path = Path::new(&source.path);
            if !checked.removable.contains(number as u32)
                && let Ok(facts) = path.metadata()
                && checked.removable_files.contains(&FileIdentity::file_of(&facts))
            {
                let FileIdentity { entry, file, .. } = FileIdentity::of(path)?;
                checked.staying.extend([entry, file]);
            }
        }
        Ok(())
    }

    fn one(
        &mut self,
        number: usize,
        entries: &[PlannedDocument],
        checked: &mut Checked,
        written: &mut u64,
    ) -> Result<()> {
        let sources = self.sources;
        let source = &sources[number];
        let path = Path::new(&source.path);
        let is_removable = entries.iter().any(PlannedDocument::is_removable);
        if is_removable {
            checked.removable.insert(number as u32);
        }
        self.log.put_back_lost(path);
        if let Some(reason) = self.log.aside(path) {
            checked.states[number] = FileState::Unfit { reason: reason.to_owned(), refused: true };
            return Ok(());
        }
        if let Some(act) = self.done_before(path, entries)? {
            checked.states[number] = FileState::Done(act);
            return Ok(());
        }
        let contents = self.contents();
        let (copies, marks) = (self.options.action.copies_to().is_some(), self.options.action.marks());
        let looked = Facts::settled(path).and_then(|facts| {
            let version = if !copies && !marks {
                FileVersion::Ingested
            } else if !copies && self.log.owns(path) {
                // This job has changed the size and time of the file, but none of its documents.
                FileVersion::Unknown { removed: 0 }
            } else {
                contents.version(source, &facts)?
            };
            let found = contents.look(source, entries, version)?;
            Ok((facts, found, Facts::of(path)?, FileIdentity::of(path)?))
        });
        let (facts, mut found, after, identity) = match looked {
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => {
                let refused = files::is_refused(&error) && !files::is_absent(&error);
                checked.states[number] = FileState::Unfit { reason: error.chain(), refused };
                return Ok(());
            }
            Ok(looked) => looked,
        };
        // A file that is not copied and has no records to mark stays as it is, whatever it holds.
        let unjudged = found.unjudged.take().filter(|_| copies || can_mark(found.kind, found.container));
        if found.changed > 0 || after != facts || unjudged.is_some() {
            let changed = (found.changed > 0).then(|| {
                format!(
                    "it has changed since it was ingested: {} of its {} documents concerned are not what they were",
                    found.changed,
                    entries.len()
                )
            });
            let reason = changed.or(unjudged).unwrap_or_else(|| "it was changed while it was read".into());
            checked.states[number] = FileState::Unfit { reason, refused: false };
            return Ok(());
        }
        checked.numbers.insert(xxh3_64(source.path.as_bytes()), number as u32);
        let is_survivor = |entry: &PlannedDocument| !entry.is_removable() && found.sound.contains(&entry.id);
        if self.options.action.takes_files() {
            let FileIdentity { entry, file, .. } = identity;
            checked.removable_files.extend(is_removable.then_some(file));
            checked.staying.extend(entries.iter().any(is_survivor).then_some([entry, file]).into_iter().flatten());
        }
        let mut inseparable: RoaringBitmap = found.sound.iter().copied().collect();
        inseparable -= found.cuts.iter().map(|cut| cut.id).collect::<RoaringBitmap>();
        let inseparable =
            entries.iter().filter(|entry| entry.is_removable() && inseparable.contains(entry.id)).count() as u64;
        // A file that is not copied justifies no removal.
        if !self.unplaced.contains_key(&(number as u32)) {
            checked.sound.extend(found.sound);
        }
        found.cuts.sort_unstable();
        write_at(&checked.all, &found.cuts, *written, self.temp)?;
        let cuts = CutRange { start: *written, count: found.cuts.len() as u64 };
        *written += cuts.count;
        let Looked { kind, container, members, kept_out, mut reason, .. } = found;
        if entries.is_empty() && !marks && cuts.count == 0 && kept_out.is_none() {
            // No document leaves this file, so no reason is needed.
            reason = None;
        }
        checked.states[number] = FileState::File { kind, container, cuts, members, kept_out, reason, inseparable };
        checked.facts[number] = Some(facts);
        Ok(())
    }
}

/// Reads the contents of files again.
pub(super) struct Contents<'a> {
    pub(super) stored: &'a dyn StoredDocuments,
    pub(super) limits: &'a InputLimits,
    /// The contents that are kept out; `None` if records with these contents need not be found, because the
    /// files are not written again.
    pub(super) kept_out: Option<&'a FxHashSet<Digest>>,
    pub(super) task: &'a Task<'a>,
}

impl Contents<'_> {
    /// Reads a file, and compares the documents in `entries` with the database. Returns the state of the
    /// file. Also compares all other documents of the file, unless `version` is [`FileVersion::Ingested`].
    pub(super) fn look(
        &self,
        source: &SourceFile,
        entries: &[PlannedDocument],
        version: FileVersion,
    ) -> Result<Looked> {
        let is_judged = |found: &FoundDocument, digest: &Digest| self.is_judged(source, found, digest);
        let judging = self.judging(source, version, &is_judged)?;
        let scan = Scan::new(entries, &source.path).looking_for(self.kept_out).judging(judging);
        let (mut scan, kind, reason) = self.scan(Path::new(&source.path), source, scan)?;
        let (judging, unread) = (scan.judging.take(), scan.unread);
        let mut looked = self.judge(source, scan, kind, reason)?;
        looked.unjudged = self.told(source, judging, version, unread)?;
        Ok(looked)
    }

    /// True if documents of a file were ingested in another way than a scan reads the file.
    pub(super) fn is_mixed(&self, source: &SourceFile) -> bool {
        source.reading == SourceReading::Mixed && !self.reads_attachments(source)
    }

    /// Reads a file in the way it was ingested. Returns the scan, the kind of the file, and the reason why
    /// the file must stay whole, if there is one.
    pub(super) fn scan<'s>(
        &self,
        path: &Path,
        source: &SourceFile,
        scan: Scan<'s>,
    ) -> Result<(Scan<'s>, FileKind, Option<String>)> {
        let attachments = self.reads_attachments(source);
        let mut read = ReadOptions::default().limits(self.limits.clone()).attachments(attachments);
        match &source.reading {
            SourceReading::Closed => read.closed = true,
            SourceReading::Members(field) => {
                read.fields.text = field.clone().unwrap_or(RecordFields::default().text);
            }
            SourceReading::Whole | SourceReading::Mixed => {}
        }
        let scan = RefCell::new(scan);
        let kind = visit_with_extents(
            path,
            &read,
            self.task.token(),
            &|_| {},
            &mut |found| {
                scan.borrow_mut().found(found);
                if self.task.token().is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
            &mut Places(&scan),
        )?;
        self.task.token().check()?;
        let mut scan = scan.into_inner();
        scan.finish_pending();
        let is_mail = attachments && matches!((kind, scan.container), (FileKind::Container(_), None));
        if is_mail {
            scan.member("", 0..1);
        }
        let reason = (source.reading == SourceReading::Mixed && !is_mail)
            .then(|| "it was ingested in several ways; it stays whole".to_owned());
        if let Some(document) = scan.whole.take() {
            let mut reader = Reader::new(read.limits.clone());
            let digest = reader.read(&document, self.task.token(), &|_| {}, &mut |_| Ok(()))?;
            if let Some(judging) = &mut scan.judging {
                judging.note(&FoundDocument::default(), &digest, &[]);
            }
            scan.note(xxh3_64(b""), digest);
            if let Some(entry) = scan.entry(xxh3_64(b""), &digest) {
                scan.placed[entry] = true;
                scan.places.push((entry, 0..1));
            }
        }
        Ok((scan, kind, reason))
    }

    /// The state of a file: compares the documents that `scan` found with those in the database.
    fn judge(&self, source: &SourceFile, scan: Scan<'_>, kind: FileKind, reason: Option<String>) -> Result<Looked> {
        let mut looked = Looked {
            kind,
            container: scan.container.map(|(container, _)| container),
            sound: Vec::new(),
            cuts: Vec::new(),
            members: scan.members.saturating_add(scan.unread),
            changed: 0,
            unjudged: None,
            kept_out: KeptOutOfFile::default(),
            reason,
        };
        let by_directory = matches!(looked.container, Some(Container::Zip | Container::Parquet));
        let in_reach = match (kind, scan.container) {
            (FileKind::Document, _) | (FileKind::Container(None), Some((_, 0))) => true,
            (FileKind::Container(Some(_)), Some((_, 1))) => !by_directory,
            // A mail with attachments is left out whole or not at all.
            (FileKind::Container(_), None) => self.reads_attachments(source),
            _ => false,
        };
        if !in_reach && looked.reason.is_none() {
            looked.reason = Some("it is compressed in a way that is not written again; it stays whole".into());
        }
        if looked.container == Some(Container::Zip) && looked.reason.is_none() {
            looked.reason = why_whole(Path::new(&source.path))?.map(str::to_owned);
        }
        let cuttable = looked.reason.is_none();
        let removable = scan.entries.iter().filter(|entry| entry.is_removable()).map(|entry| entry.id);
        let removable: FxHashSet<u32> = removable.filter(|_| source.has_other_names()).collect();
        // True for the first entry of each identity that can leave the file.
        let mut goes = vec![false; scan.entries.len()];
        let mut next = 0;
        for same in scan.entries.chunk_by(|one, next| one.identity() == next.identity()) {
            let first = next;
            next += same.len();
            let (is_found, changed) = (scan.found[first], looked.changed);
            // The file may hold another version of the document now. In a file that is not written again, a
            // later one of its name hides a survivor, unless it is stored too.
            let is_in_place = self.kept_out.is_none();
            for entry in same.iter().filter(|entry| !is_found || is_in_place && !entry.is_removable()) {
                let other = scan.others.get(&entry.suffix);
                let is_current = other.map_or(Ok(is_found), |digest| self.is_current(digest, source, entry))?;
                looked.changed += usize::from(!is_current);
            }
            if !is_found || looked.changed > changed {
                continue;
            }
            looked.sound.extend(same.iter().map(|entry| entry.id));
            if !cuttable || !same.iter().any(PlannedDocument::is_removable) {
                continue;
            }
            let mut stays = !same.iter().all(PlannedDocument::is_removable);
            for entry in same {
                stays = stays || self.stays(source, entry, &removable)?;
            }
            let reason = match () {
                () if stays => "under another name they are survivors, or documents that are not removable",
                () if scan.needed.contains(&same[0].suffix) => "others in the file refer to them",
                () if !scan.placed[first] => "they are in containers within it, which stay whole",
                () => {
                    goes[first] = true;
                    continue;
                }
            };
            looked.reason = Some(format!("some removable documents stay: {reason}"));
        }
        let places = scan.places.iter().filter(|(entry, _)| goes[*entry]);
        looked.cuts.extend(places.map(|(entry, at)| Cut::of(&scan.entries[*entry], at)));
        self.leave_groups(source, &scan, cuttable, &goes, &mut looked)?;
        self.leave_hidden(source, &scan, &mut looked)?;
        if scan.looks_for_contents() {
            looked.kept_out.unsearched = if self.is_mixed(source) { 1 } else { scan.unread };
        }
        Ok(looked)
    }
}

/// The state of one file, as found.
pub(super) struct Looked {
    kind: FileKind,
    pub(super) container: Option<Container>,
    /// The unchanged documents of the file.
    pub(super) sound: Vec<u32>,
    pub(super) cuts: Vec<Cut>,
    members: u64,
    changed: usize,
    /// The reason, if the file is not as it was ingested.
    unjudged: Option<String>,
    pub(super) kept_out: KeptOutOfFile,
    pub(super) reason: Option<String>,
}
