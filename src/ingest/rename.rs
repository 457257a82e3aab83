//! Rename: finds files that have a new name and the same bytes. Such a document keeps its number and
//! fingerprints; only its record changes. A container or compressed file counts as the same if all of its
//! documents are the same. Members that are no documents do not count: those that are skipped, and those that
//! can never be read.
//!
//! This runs before documents are read. Renamed documents are then found unchanged under their new names.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::first_names::{FirstNames, name_place};
use super::kept_out::KeptOutContents;
use super::options::IngestOptions;
use super::prune::{LastFile, MissingContainer, MissingDocument, Prune, Unseen};
use super::record::{metadata_after, origin_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::input::{
    Candidate, Content, FileFacts, Opened, ReadContext, Reader, Source, WalkEvent, WalkOptions, file_name_of,
    for_each_held, format_of, open, walk,
};
use fpdb_store::{Batch, Committer, DocumentRecord, Store};
use xxhash_rust::xxh3::xxh3_128;

/// Maximum bytes of records in one commit.
const BATCH_BYTES: usize = 64 << 20;

/// Maximum number of sets of unreadable members that are tried for one file. Also the maximum number of sets
/// with the same least member.
const SETS: usize = 1000;

/// Maximum number of unreadable members of a file that are considered. A database lists fewer of a container.
const UNREAD: usize = 16 << 10;

/// Maximum number of missing documents of one content among which one with the same file name is preferred.
const ALIKE: usize = 64;

/// The result of the search for renamed files.
#[derive(Default)]
pub(super) struct Found {
    /// Number of documents whose new names are committed.
    pub(super) committed: u64,
    /// The documents with new names; all are committed unless the task was stopped.
    pub(super) renamed: RoaringBitmap,
    /// In a dry run, the new names, which are not committed.
    pub(super) given_in_dry_run: FxHashSet<String>,
    /// The files and folders that could not be read.
    pub(super) unseen: Unseen,
}

/// Rewrites the records of renamed files, and returns the result of the search.
pub(super) fn rename(
    store: &Store,
    sources: &[Source],
    (options, names, kept_out): (&IngestOptions, &FirstNames<'_>, &KeptOutContents),
    prune: &Prune,
    task: &Task<'_>,
) -> Result<Found> {
    let mut renaming = Renaming::new(store, (options, kept_out), prune, task);
    if prune.missing.is_empty() {
        return Ok(Found::default());
    }
    let mut outcome = Ok(());
    walk(sources, &options.walk, &mut |found| {
        if task.token().is_stopped() {
            return ControlFlow::Break(());
        }
        match found {
            WalkEvent::Document(candidate) | WalkEvent::Archive(candidate) => {
                outcome = renaming.found(candidate, names)
            }
            WalkEvent::Failed { name, error } => renaming.unseen.note_folder(name, error),
            _ => {}
        }
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    if !task.token().is_stopped() {
        renaming.commit()?;
    }
    let Renaming { committed, taken, given, unseen, .. } = renaming;
    Ok(Found { committed, renamed: taken, given_in_dry_run: given, unseen })
}

/// The documents of a container: their contents and formats, by [`key`].
type Members = FxHashMap<u128, (Digest, Option<Format>)>;

/// The key of a member: a digest of its name.
fn key(member: Option<&str>) -> u128 {
    xxh3_128(member.unwrap_or("").as_bytes())
}

fn hash_of_member((key, (digest, format)): (&u128, &(Digest, Option<Format>))) -> u128 {
    let format = format.map_or("", Format::name);
    xxh3_128(&[&key.to_be_bytes(), &digest[..], format.as_bytes()].concat())
}

/// The keys of a missing container's members that could not be read. The database may not list all of them.
fn failed_members(container: &MissingContainer) -> FxHashSet<u128> {
    container.record.failed_members().map(|suffix| key(Some(suffix))).collect()
}

/// The missing containers of one size.
#[derive(Default)]
struct OfSize<'a> {
    /// The containers whose documents are not looked up yet: all until a file of this size is found, then
    /// none.
    unread: Vec<&'a MissingContainer>,
    /// The other containers, by the [hash](Renaming::hash_of) of their documents.
    alike: FxHashMap<u128, Vec<&'a MissingContainer>>,
    /// The sets of members that could not be read, each set from one container of `alike`. An equal set is
    /// listed once. The key is the least member of the set, or 0 if it is empty.
    failed: FxHashMap<u128, Vec<FxHashSet<u128>>>,
    /// The number of containers in `alike`.
    left: usize,
    /// The largest number of members of a container in `alike`: its documents and the members that could not
    /// be read.
    most: u64,
}

impl OfSize<'_> {
    /// Adds the members of a container that could not be read.
    fn add_failed(&mut self, failed: FxHashSet<u128>) {
        let sets = self.failed.entry(failed.iter().min().copied().unwrap_or(0)).or_default();
        if sets.len() < SETS && !sets.contains(&failed) {
            sets.push(failed);
        }
    }

    /// The sets of unreadable members that a file with these `members` may hold whole.
    fn sets<'s>(&'s self, members: impl Iterator<Item = &'s u128>) -> impl Iterator<Item = &'s FxHashSet<u128>> {
        std::iter::once(&0).chain(members).filter_map(|least| self.failed.get(least)).flatten().take(SETS)
    }
}

struct Renaming<'a> {
    store: &'a Store,
    options: &'a IngestOptions,
    kept_out: &'a KeptOutContents,
    prune: &'a Prune,
    task: &'a Task<'a>,
    reader: Reader,
    /// The sizes of the missing files, and their documents by content, ascending.
    sizes: FxHashSet<u64>,
    missing: FxHashMap<Digest, VecDeque<u32>>,
    /// The missing containers, by size.
    containers: FxHashMap<u64, OfSize<'a>>,
    /// The new names of the next commit.
    given: FxHashSet<String>,
    /// The documents with new names. A document can be found twice: by its content, and as the only document
    /// of a compressed file.
    taken: RoaringBitmap,
    batch: Batch,
    pending: Vec<(String, String)>,
    committed: u64,
    unseen: Unseen,
}

impl<'a> Renaming<'a> {
    fn new(
        store: &'a Store,
        (options, kept_out): (&'a IngestOptions, &'a KeptOutContents),
        prune: &'a Prune,
        task: &'a Task<'a>,
    ) -> Self {
        let mut missing: FxHashMap<Digest, VecDeque<u32>> = FxHashMap::default();
        let files = || prune.missing.iter().filter(|document| document.is_file);
        for &MissingDocument { id, digest, .. } in files() {
            missing.entry(digest).or_default().push_back(id);
        }
        let mut containers: FxHashMap<u64, OfSize<'_>> = FxHashMap::default();
        for container in &prune.containers {
            containers.entry(container.record.bytes).or_default().unread.push(container);
        }
        let memory = usize::try_from(store.memory() / 4).unwrap_or(usize::MAX).min(BATCH_BYTES);
        Self {
            store,
            options,
            kept_out,
            prune,
            task,
            reader: Reader::new(options.read.limits.clone()),
            sizes: files().map(|document| document.bytes).collect(),
            missing,
            containers,
            given: FxHashSet::default(),
            taken: RoaringBitmap::new(),
            batch: Batch::new(store.profile(), store.view().state().next_document, memory),
            pending: Vec::new(),
            committed: 0,
            unseen: Unseen::default(),
        }
    }

    /// Handles a file of the walk.
    fn found(&mut self, mut candidate: Candidate, names: &FirstNames<'_>) -> Result<()> {
        let Some(file) = candidate.about.file.clone() else { return Ok(()) };
        let (is_file, is_container) = (self.sizes.contains(&file.bytes), self.containers.contains_key(&file.bytes));
        if !(is_file || is_container) {
            return Ok(());
        }
        let found = candidate.about.name.clone();
        let name = names.of(std::mem::take(&mut candidate.about.name), &file)?.name;
        candidate.about.name.clone_from(&name);
        if self.given.contains(&name)
            || self.store.newest_named(&name, |_| true)?.is_some()
            || self.store.container(&file.source)?.is_some()
        {
            return Ok(());
        }
        if is_container && self.container(&name, &found, &file)? {
            return Ok(());
        }
        let reading =
            ReadContext { options: &self.options.read, members: None, stop: self.task.token(), progress: &|_| {} };
        match open(&mut candidate.about, &file, reading) {
            Ok(Opened::Document(Content::File)) if is_file && candidate.about.member.is_none() => {}
            Ok(_) | Err(Error::Document(DocumentError::Binary { .. })) => return Ok(()),
            Err(error) => {
                self.unseen.note_file(&name, &file, error);
                return Ok(());
            }
        }
        let (digest, format) = match self.content(&candidate) {
            Ok(content) => content,
            Err(error) => {
                self.unseen.note_file(&name, &file, error);
                return Ok(());
            }
        };
        if self.kept_out.names(self.store, (&name, None), &digest)? {
            return Ok(());
        }
        let Some((id, record)) = self.claim(&digest, &name, format.name())? else { return Ok(()) };
        if let Some(table) = &self.options.metadata {
            table.apply(&mut candidate.about);
        }
        let about = candidate.about;
        let (source, modified) = origin_of(&about);
        let place = (name.as_str(), source.as_deref(), about.member.as_deref());
        let metadata = metadata_after(&record.metadata, place, about.metadata, self.options);
        let renamed = DocumentRecord { name, source, modified, metadata, ..record.clone() };
        if renamed.check().is_err() {
            return Ok(());
        }
        self.rename(id, record, renamed)
    }

    /// The digest of a document, and the format in which it would be read.
    fn content(&mut self, candidate: &Candidate) -> Result<(Digest, Format)> {
        let (asked, unit) = (self.options.read.front_end, self.store.profile().unit());
        let mut format = None;
        let digest = self.reader.read(candidate, self.task.token(), &|_| {}, &mut |bytes| {
            if format.is_none() {
                format = Some(format_of(asked, &candidate.about.hint, bytes, unit)?);
            }
            Ok(())
        })?;
        // `read` passes on the first piece of every document, even if it is empty, so the format is known
        // here.
        format.map(|format| (digest, format)).ok_or(Error::Stopped)
    }

    /// Renames the documents of a missing container if this file holds the same documents. Returns true if it
    /// does. `name` is the new name of the file, and `found` its name in this walk. The later walk updates
    /// the boilerplate marks of the documents, and their metadata from tables.
    fn container(&mut self, name: &str, found: &str, file: &FileFacts) -> Result<bool> {
        let most = match self.of_size(file.bytes)? {
            OfSize { left: 0, .. } => return Ok(false),
            of_size => of_size.most,
        };
        let Some((members, unread)) = self.members_held(found, file, most)? else { return Ok(false) };
        let of_size = &self.containers[&file.bytes];
        let all = self.hash_of(&members, &FxHashSet::default());
        let is_counted = |(_, (digest, _)): &(&u128, &(Digest, _))| !self.kept_out.contains(digest);
        let without = |failed: &FxHashSet<u128>| {
            let held = failed.iter().filter_map(|key| members.get_key_value(key)).filter(is_counted);
            held.map(hash_of_member).fold(all, u128::wrapping_sub)
        };
        // Several sets may lead to one hash.
        let sets = of_size.sets(members.keys().chain(&unread));
        let hashes: FxHashSet<u128> = sets.map(without).chain([all]).collect();
        let alike = |hash: u128| (0..of_size.alike.get(&hash).map_or(0, Vec::len)).map(move |at| (hash, at));
        let alike: Vec<(u128, usize)> = hashes.into_iter().flat_map(alike).collect();
        for (hash, at) in alike {
            let container = self.containers[&file.bytes].alike[&hash][at];
            if !self.is_same(container, &members)? {
                continue;
            }
            // Most new names are free. One look-up shows this for all documents of the container.
            let is_free = !self.begins_a_name(name)?;
            let mut renames = Vec::new();
            for &id in &container.ids {
                let record = self.store.document(id)?;
                let suffix = file_name_of(&record.name, record.member.as_deref()).map_or(0, str::len);
                let renamed = DocumentRecord {
                    name: format!("{name}{}", &record.name[suffix..]),
                    source: Some(file.source.clone()),
                    ..record.clone()
                };
                if !is_free && self.store.newest_named(&renamed.name, |_| true)?.is_some() {
                    // The file replaces another container, which has a member of this name.
                    return Ok(false);
                }
                if renamed.check().is_ok() {
                    renames.push((id, record, renamed));
                }
            }
            for (id, record, renamed) in renames {
                self.rename(id, record, renamed)?;
            }
            // The container is remembered only after it was read, because members of an earlier container of
            // this name may still be stored.
            let of_size = self.of_size(file.bytes)?;
            of_size.alike.entry(hash).or_default().swap_remove(at);
            of_size.left -= 1;
            return Ok(true);
        }
        Ok(false)
    }

    /// The missing containers of this size, after their documents were looked up.
    fn of_size(&mut self, bytes: u64) -> Result<&mut OfSize<'a>> {
        let unread = std::mem::take(&mut self.containers.entry(bytes).or_default().unread);
        for container in unread {
            if let Some(stored) = self.members_stored(container)? {
                let failed = failed_members(container);
                let hash = self.hash_of(&stored, &failed);
                let of_size = self.containers.entry(bytes).or_default();
                of_size.alike.entry(hash).or_default().push(container);
                of_size.left += 1;
                of_size.most = of_size.most.max(container.record.documents + failed.len() as u64);
                of_size.add_failed(failed);
            }
        }
        Ok(self.containers.entry(bytes).or_default())
    }

    /// A hash of the members that are stored: all except `failed` ones and those that are kept out.
    fn hash_of(&self, members: &Members, failed: &FxHashSet<u128>) -> u128 {
        let is_stored = |key: &u128, digest: &Digest| !failed.contains(key) && !self.kept_out.contains(digest);
        let counted = members.iter().filter(|(key, (digest, _))| is_stored(key, digest));
        counted.map(hash_of_member).fold(0, u128::wrapping_add)
    }

    /// The stored documents of a container whose file is missing. `None` if one of them is no longer stored,
    /// or its file exists again.
    fn members_stored(&self, container: &MissingContainer) -> Result<Option<Members>> {
        if container.ids.len() as u64 != container.record.documents {
            return Ok(None);
        }
        let mut members = Members::default();
        let mut last = LastFile::default();
        for &id in &container.ids {
            let record = match self.taken.contains(id) {
                true => None,
                false => self.prune.still_missing(self.store, id, &mut last)?,
            };
            let Some(record) = record else { return Ok(None) };
            members.insert(key(record.member.as_deref()), (record.digest, Format::named(&record.format)));
        }
        Ok(Some(members).filter(|members| members.len() == container.ids.len()))
    }

    /// The documents that a file holds, and the members that can never be read: the first [`UNREAD`] of them.
    /// `None` if another run may be able to read more documents, if two have the same name, or if more than
    /// `most` documents are not kept out. `name` is the name of the file in this walk.
    fn members_held(&mut self, name: &str, file: &FileFacts, most: u64) -> Result<Option<(Members, FxHashSet<u128>)>> {
        let (mut members, mut counted, mut unread) = (Some(Members::default()), 0, FxHashSet::default());
        let (options, task, walk) = (self.options, self.task, WalkOptions::default());
        let looked = for_each_held(&file.path, &walk, &options.read, task.token(), &mut |held| {
            let read = match held {
                Ok(held) => {
                    let read = self.content(&held).map_err(|error| (held.about.name.clone(), error));
                    read.map(|read| (key(held.about.member.as_deref()), read))
                }
                Err(failed) => Err(failed),
            };
            let (key, (digest, format)) = match read {
                Ok(read) => read,
                Err((member, Error::Document(error))) if error.is_lasting() => {
                    if unread.len() < UNREAD {
                        unread.insert(key(member.strip_prefix(name)));
                    }
                    return Ok(());
                }
                Err((member, error)) => {
                    self.unseen.note_file(&member, file, error);
                    return Err(Error::Stopped);
                }
            };
            let is_kept_out = self.kept_out.contains(&digest);
            counted += u64::from(!is_kept_out);
            let is_new = members.as_mut().is_some_and(|members| members.insert(key, (digest, Some(format))).is_none());
            // One member more than `most` shows that the files differ.
            if is_kept_out || is_new && counted <= most { Ok(()) } else { Err(Error::Stopped) }
        });
        match looked {
            Ok(()) => Ok(members.map(|members| (members, unread))),
            Err(error @ Error::Store { .. }) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// True if a file with these members holds all documents of a missing container and no others. The file
    /// may also hold members that are kept out, and members that could not be read before.
    fn is_same(&self, container: &MissingContainer, members: &Members) -> Result<bool> {
        let Some(stored) = self.members_stored(container)? else { return Ok(false) };
        let failed = failed_members(container);
        let is_stored = |(key, read): (&u128, &(Digest, Option<Format>))| match stored.get(key) {
            Some(stored) => stored == read,
            None => failed.contains(key) || self.kept_out.contains(&read.0),
        };
        Ok(stored.keys().all(|key| members.contains_key(key)) && members.iter().all(is_stored))
    }

    /// True if a stored name begins with this one.
    fn begins_a_name(&self, name: &str) -> Result<bool> {
        let mut begins = false;
        self.store.for_each_name_beginning(name, |_, _| {
            begins = true;
            Ok(false)
        })?;
        Ok(begins)
    }

    fn rename(&mut self, id: u32, record: DocumentRecord, renamed: DocumentRecord) -> Result<()> {
        self.pending.push((record.name.clone(), renamed.name.clone()));
        self.given.insert(renamed.name.clone());
        self.taken.insert(id);
        name_place(&renamed).into_iter().for_each(|place| self.batch.place(place));
        self.batch.rename(id, record, renamed);
        if self.batch.is_full() { self.commit() } else { Ok(()) }
    }

    /// Takes a missing document of this content and format. Among the first [`ALIKE`], prefers one whose file
    /// name is that of `name`.
    fn claim(&mut self, digest: &Digest, name: &str, format: &str) -> Result<Option<(u32, DocumentRecord)>> {
        let Some(alike) = self.missing.get_mut(digest) else { return Ok(None) };
        let mut chosen = None;
        for (at, &id) in alike.iter().enumerate().take(ALIKE) {
            if self.taken.contains(id) {
                continue;
            }
            let Some(record) = self
                .prune
                .still_missing(self.store, id, &mut LastFile::default())?
                .filter(|record| record.format == format)
            else {
                continue;
            };
            let same_name = Path::new(&record.name).file_name() == Path::new(name).file_name();
            if same_name || chosen.is_none() {
                chosen = Some((at, id, record));
            }
            if same_name {
                break;
            }
        }
        Ok(chosen.map(|(at, id, record)| {
            alike.remove(at);
            (id, record)
        }))
    }

    fn commit(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.committed += self.pending.len() as u64;
        if self.options.dry_run {
            self.batch = self.batch.next();
        } else {
            Committer::new(self.store).commit(self.store, &mut self.batch)?;
            self.given.clear();
        }
        for (old, new) in self.pending.drain(..) {
            self.task.reports().renamed(&old, &new);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
