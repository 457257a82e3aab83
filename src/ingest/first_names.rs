//! First names: a file keeps the name under which it was read first. The folder in which later ingests run
//! does not change the name.
//!
//! A document's name is the path as the user typed it, so the name depends on the current folder. The
//! absolute path of its file does not. So a file with a known path is the known document. A file with a new
//! path is named as typed, unless another file has this name as its first name. Then the new file is named by
//! its absolute path, so that it does not replace the document of the other file. The new file takes the name
//! as typed nevertheless if it is the other file:
//!
//! * The other file is gone and has moved here: the bytes are the same, or the database has moved with the
//!   file, or `rename` has announced the move.
//! * The other file exists, outside the sources of this run, and both paths lead to this file.
//! * The other file exists, outside the sources of this run, and the new file is its copy: the database was
//!   copied together with it.
//!
//! The first names are read once, before the files, so the order of files does not matter.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::known::stored;
use super::options::IngestOptions;
use super::place_names::PlaceNames;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::skip_reason::SkipReason;
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{
    About, Candidate, FileFacts, PARTS, Reader, Source, WalkEvent, WalkOptions, absolute_name, file_name_of,
    for_each_held, is_gone, is_missing,
};
use fpdb_store::{DocumentRecord, NamePlace, Store};

/// The name of a file.
pub(super) struct FileName {
    pub(super) name: String,
    /// The other file, which has the typed name, if this file is named by its path for that reason.
    pub(super) taken_by: Option<OtherFile>,
}

/// A file that keeps its name although a new file was typed with the same name.
pub(super) struct OtherFile {
    pub(super) path: String,
    /// True if this file is gone and had other bytes than the new file.
    pub(super) had_other_bytes: bool,
}

impl FileName {
    fn free(name: String) -> Self {
        Self { name, taken_by: None }
    }
}

/// Finds the names under which files were read first.
pub(super) struct FirstNames<'a> {
    store: &'a Store,
    options: &'a IngestOptions,
    task: &'a Task<'a>,
    /// The folders in which the database was; `None` if the list may lack some of them.
    former_roots: Option<BTreeSet<PathBuf>>,
    /// For each beginning of paths (see [`NamePlace`]), the beginnings of the names of the files at such
    /// paths.
    names: FxHashMap<String, Vec<String>>,
    /// For each beginning of names, the beginnings of the paths of the files with such names.
    folders: FxHashMap<String, Vec<String>>,
    /// The absolute paths of this run's sources, with their order and names. If a path was given in two
    /// spellings, only the first is listed.
    roots: FxHashMap<String, (usize, String)>,
    /// True if this run has several sources, so that one file may be in two of them.
    several: bool,
}

impl<'a> FirstNames<'a> {
    /// Prepares an ingest of these sources. If an earlier version or a repair wrote the database, this lists
    /// the places of all its documents first.
    pub(super) fn new(
        store: &'a Store,
        sources: &[Source],
        options: &'a IngestOptions,
        task: &'a Task<'a>,
    ) -> Result<Self> {
        let former_roots = store.former_roots()?;
        let (mut names, mut folders) = (FxHashMap::<_, Vec<_>>::default(), FxHashMap::<_, Vec<_>>::default());
        for place in listed(store, options.dry_run, task)? {
            names.entry(place.folder.clone()).or_default().push(place.names.clone());
            folders.entry(place.names).or_default().push(place.folder);
        }
        let mut roots = FxHashMap::default();
        for (order, source) in sources.iter().enumerate() {
            if let Source::Path(path) = source
                && let (Ok(absolute), Ok(name)) = (absolute_name(path), source.name())
            {
                roots.entry(absolute).or_insert((order, name));
            }
        }
        if !options.dry_run {
            store.record_root()?;
        }
        Ok(Self { store, options, task, former_roots, names, folders, roots, several: sources.len() > 1 })
    }

    /// The name of a file whose path was typed as `typed`.
    pub(super) fn of(&self, typed: String, file: &FileFacts) -> Result<FileName> {
        let source = file.source.as_str();
        let typed = self.of_this_run(source).unwrap_or(typed);
        let mut known = others(&self.names, source);
        let is_known = known.remove(&typed);
        if known.is_empty() {
            return self.unless_taken(typed, file);
        }
        if is_known && first_document(self.store, &typed, source)?.is_some() {
            return Ok(FileName::free(typed));
        }
        let mut first: Option<(u32, String)> = None;
        for name in known {
            if let Some(id) = first_document(self.store, &name, source)?
                && first.as_ref().is_none_or(|(other, _)| id < *other)
            {
                first = Some((id, name));
            }
        }
        first.map_or_else(|| self.unless_taken(typed, file), |(_, name)| Ok(FileName::free(name)))
    }

    /// The name as typed, or the path of this file if the typed name is the first name of another file.
    fn unless_taken(&self, typed: String, file: &FileFacts) -> Result<FileName> {
        let source = file.source.as_str();
        // Most names belong to one place only. The places in memory show this, without a look-up in the
        // store.
        if typed != source && others(&self.folders, &typed).iter().any(|path| path != source) {
            // After a merge with `OnChange::Both`, two files can have one name.
            let (mut is_of_this, mut of_name) = (false, BTreeSet::new());
            for_each_document_of(self.store, &typed, |_, from| {
                is_of_this = from.as_deref() == Some(source);
                of_name.extend(from);
                !is_of_this
            })?;
            for path in of_name.into_iter().filter(|_| !is_of_this) {
                if let Some(had_other_bytes) = self.keeps_its_name(&typed, &path, file)? {
                    let taken_by = Some(OtherFile { path, had_other_bytes });
                    return Ok(FileName { name: source.to_owned(), taken_by });
                }
            }
        }
        Ok(FileName::free(typed))
    }

    /// `None` if `file` can take the name of the file at `other_path`. Otherwise true if the other file is
    /// gone and had other bytes. While the other file exists, it keeps its name even if the bytes are equal,
    /// because the new file may be a copy. There are two exceptions, unless `other_path` is in a source of
    /// this run: both paths lead to one file, or the database was copied together with the file.
    fn keeps_its_name(&self, name: &str, other_path: &str, file: &FileFacts) -> Result<Option<bool>> {
        let (other, source) = (Path::new(other_path), Path::new(&file.source));
        if is_missing(other_path) {
            if is_moved_with(self.store, self.former_roots.as_ref(), other, source)?
                || is_renamed_to(name, other, source)
            {
                return Ok(None);
            }
            return Ok(match self.holds_the_same(name, other_path, file)? {
                Some(true) => None,
                Some(false) => Some(true),
                None => Some(false),
            });
        }
        // The other file is not known to be gone. If it cannot be seen, for example because its disk does not
        // answer, the file may still exist. Then it keeps its name.
        if !other.is_file() || other.ancestors().any(|folder| self.is_root(folder)) {
            return Ok(Some(false));
        }
        let is_it = is_one_file(other, source)?
            || match relation(self.store, other, source)? {
                Some((old, below)) => self.store.is_copied_to(&old.join(below))?,
                None => false,
            };
        Ok((!is_it).then_some(false))
    }

    /// Compares `file` with the documents that were read from the missing file at `other`. True if `file`
    /// holds one of them with the same bytes, and none with other bytes. `None` if these documents could not
    /// be compared. Of several versions of a document only the newest counts.
    fn holds_the_same(&self, name: &str, other: &str, file: &FileFacts) -> Result<Option<bool>> {
        let of_other = |name: &str| -> Result<Option<DocumentRecord>> {
            for id in self.store.documents_named(name)?.into_iter().rev() {
                let record = stored(self.store, id)?.filter(|record| record.source.as_deref() == Some(other));
                if record.is_some() {
                    return Ok(record);
                }
            }
            Ok(None)
        };
        let bytes = match self.store.container(other)? {
            Some(container) => Some(container.bytes),
            None => of_other(name)?.filter(|record| record.member.is_none()).map(|record| record.bytes),
        };
        if bytes.is_some_and(|bytes| bytes != file.bytes) {
            return Ok(Some(false));
        }
        let (read, stop) = (&self.options.read, self.task.token());
        let (mut reader, mut same, mut failure) = (Reader::new(read.limits.clone()), 0, None);
        let mut differs = false;
        let mut compare = |held: &Candidate| -> Result<bool> {
            let digest = match reader.read(held, stop, &|_| {}, &mut |_| Ok(())) {
                Err(Error::Document(error)) if error.is_lasting() => return Ok(true),
                digest => digest?,
            };
            let About { name: held_name, member, .. } = &held.about;
            let file_bytes = file_name_of(held_name, member.as_deref()).map_or(held_name.len(), str::len);
            let Some(known) = of_other(&format!("{name}{}", &held_name[file_bytes..]))? else { return Ok(true) };
            differs = known.digest != digest;
            same += u64::from(!differs);
            Ok(!differs)
        };
        let visited = for_each_held(&file.path, &WalkOptions::default(), read, stop, &mut |held| match held
            .map(|held| compare(&held))
        {
            Ok(Ok(true)) => Ok(()),
            Ok(Err(error @ Error::Store { .. })) => {
                failure = Some(error);
                Err(Error::Stopped)
            }
            Ok(_) => Err(Error::Stopped),
            Err((_, Error::Document(error))) if error.is_lasting() => Ok(()),
            Err(_) => Err(Error::Stopped),
        });
        match failure {
            Some(error) => Err(error),
            None if differs => Ok(Some(false)),
            None => Ok((same > 0 && visited.is_ok()).then_some(true)),
        }
    }

    /// The name and the error of a file, folder or link that is gone, if stored documents were read from it.
    pub(super) fn gone(&self, found: &WalkEvent) -> Result<Option<(String, Error)>> {
        let (name, path) = match found {
            WalkEvent::Skipped { name, reason: SkipReason::SymbolicLink } => (name, Path::new(name)),
            WalkEvent::Failed { name, error: Error::Io { path, .. } } => (name, path.as_path()),
            _ => return Ok(None),
        };
        let Ok(absolute) = absolute_name(path) else { return Ok(None) };
        let (mut gone, mut names) = (None, PlaceNames::default());
        for_each_document_at(self.store, &self.names, &absolute, self.task.token(), |record| {
            // Most links lead to no stored document. The targets of such links are not looked up, because
            // their disks may not answer.
            let is_gone = *gone.get_or_insert_with(|| is_gone(path));
            if is_gone {
                names.add(&record.name);
            }
            Ok(is_gone)
        })?;
        if names.number == 0 || self.task.token().is_stopped() {
            return Ok(None);
        }
        let (documents, names) = (names.number, names.there(self.store)?);
        Ok(Some((name.clone(), Error::GoneSource { path: path.to_owned(), documents, names })))
    }

    fn is_root(&self, folder: &Path) -> bool {
        folder.to_str().is_some_and(|folder| self.roots.contains_key(folder))
    }

    /// The name of a file, made from the first source of this run that contains the file. `None` if this run
    /// has only one source.
    fn of_this_run(&self, source: &str) -> Option<String> {
        if !self.several {
            return None;
        }
        let around = Path::new(source).ancestors().filter_map(|folder| {
            let folder = folder.to_str()?;
            self.roots.get(folder).map(|(order, name)| (order, name, folder))
        });
        let (_, name, folder) = around.min_by_key(|(order, ..)| *order)?;
        let below = source[folder.len()..].trim_start_matches('/');
        Some(match (name.as_str(), below) {
            (name, "") => name.to_owned(),
            ("", below) => below.to_owned(),
            (name, below) => format!("{}/{below}", name.trim_end_matches('/')),
        })
    }
}

/// For each beginning of paths (see [`NamePlace`]), the beginnings of the names of the files at such paths.
pub(crate) fn names_by_folder(store: &Store) -> Result<FxHashMap<String, Vec<String>>> {
    let mut names = FxHashMap::<_, Vec<_>>::default();
    for place in store.name_places()?.unwrap_or_default() {
        names.entry(place.folder).or_default().push(place.names);
    }
    Ok(names)
}

/// Returns a function that finds the names that the file or folder at an absolute path may have. A folder's
/// path and names end with `/`.
pub(crate) fn names_by_path(store: &Store) -> Result<impl Fn(&str) -> BTreeSet<String> + use<>> {
    let names = names_by_folder(store)?;
    Ok(move |path: &str| others(&names, path))
}

/// Calls `each` with the documents that were read from the file or folder at an absolute path, until `each`
/// returns false or the token stops. `names` is the result of [`names_by_folder`].
pub(crate) fn for_each_document_at(
    store: &Store,
    names: &FxHashMap<String, Vec<String>>,
    path: &str,
    stop: &StopToken,
    mut each: impl FnMut(DocumentRecord) -> Result<bool>,
) -> Result<()> {
    let folder = format!("{}/", path.trim_end_matches('/'));
    let mut starts = others(names, path);
    // An ingest in a folder below gives names that do not begin with this folder.
    let below = names.iter().filter(|(place, _)| place.starts_with(&folder));
    starts.extend(below.flat_map(|(_, names)| names.iter().cloned()));
    let (mut seen, mut goes_on) = (RoaringBitmap::new(), true);
    let mut visit = |id: u32| {
        let record = if goes_on && seen.insert(id) { stored(store, id)? } else { None };
        let is_at = |source: &str| source == path || source.starts_with(&folder);
        if let Some(record) = record.filter(|record| record.source.as_deref().is_some_and(is_at)) {
            goes_on = each(record)?;
        }
        Ok(goes_on && !stop.is_stopped())
    };
    for start in starts {
        if start.is_empty() || start.ends_with('/') {
            store.for_each_name_beginning(&start, |_, id| visit(id))?;
            continue;
        }
        // Visits the file itself, the files below the folder, and the parts of the file, but not files beside
        // it whose names begin with its name.
        for id in store.documents_named(&start)? {
            visit(id)?;
        }
        for end in PARTS.iter().chain(&['/']) {
            store.for_each_name_beginning(&format!("{start}{end}"), |_, id| visit(id))?;
        }
    }
    Ok(())
}

/// The name of the document that was read from the file at this absolute path. For a container of documents,
/// the name of the container.
pub(crate) fn name_of_file(store: &Store, path: &str) -> Result<Option<String>> {
    let mut names = names_by_path(store)?(path);
    if store.name_places()?.is_none() {
        // The list of places is incomplete, so each end of the path may be the name.
        names.extend(ends(path).map(|end| path[end..].to_owned()).filter(|name| !name.is_empty()));
    }
    for name in names {
        if first_document(store, &name, path)?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Offsets at which a path can be divided: its start, after each `/`, and its end.
fn ends(path: &str) -> impl Iterator<Item = usize> {
    [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at + 1)).chain([path.len()])
}

/// With `places` by folder, the names that the file at the path `text` may have. With `places` by name, the
/// paths that a file named `text` may have.
fn others(places: &FxHashMap<String, Vec<String>>, text: &str) -> BTreeSet<String> {
    let of_end = |end: usize| {
        let beginnings = places.get(&text[..end]).into_iter().flatten();
        beginnings.map(move |beginning| format!("{beginning}{}", &text[end..]))
    };
    ends(text).flat_map(of_end).collect()
}

/// The places of all documents. If the stored list is incomplete, completes it, except in a dry run.
fn listed(store: &Store, dry_run: bool, task: &Task<'_>) -> Result<Vec<NamePlace>> {
    if let Some(places) = store.name_places()? {
        return Ok(places);
    }
    let mut places = BTreeSet::new();
    let (mut looked_at, documents) = (0, store.view().state().documents);
    store.for_each_document(|_, record| {
        places.extend(name_place(&record));
        looked_at += 1;
        task.reports().step("documents looked at", looked_at, documents);
        Ok(!task.token().is_stopped())
    })?;
    if !(dry_run || task.token().is_stopped()) {
        store.complete_name_places(&places)?;
    }
    Ok(places.into_iter().collect())
}

/// The place of a document; `None` if it has no file.
pub(crate) fn name_place(record: &DocumentRecord) -> Option<NamePlace> {
    let file = file_name_of(&record.name, record.member.as_deref())?;
    Some(NamePlace::of(record.source.as_deref()?, file))
}

/// The number of a document that was read from the file at this path and is named after this file. For a
/// container, the number of one of its members.
fn first_document(store: &Store, name: &str, source: &str) -> Result<Option<u32>> {
    first_document_but(store, name, source, |_| false)
}

/// Like [`first_document`], but ignores documents for which `is_deleted` is true.
pub(crate) fn first_document_but(
    store: &Store,
    name: &str,
    source: &str,
    is_deleted: impl Fn(u32) -> bool,
) -> Result<Option<u32>> {
    let mut first = None;
    for_each_document_of(store, name, |id, from| {
        first = (from.as_deref() == Some(source) && !is_deleted(id)).then_some(id);
        first.is_none()
    })?;
    Ok(first)
}

/// Calls `each` with the number of each document that is named after the file `name`, and with the path that
/// the document was read from. These documents are the file itself, and its members if the file is a
/// container. Ends when `each` returns false.
///
/// Nearly always the first document is of the wanted file. After a merge with `OnChange::Both`, the names of
/// members of two containers can alternate.
fn for_each_document_of(store: &Store, name: &str, mut each: impl FnMut(u32, Option<String>) -> bool) -> Result<()> {
    let mut goes_on = true;
    // The newest first: two files can have one name.
    for id in store.documents_named(name)?.into_iter().rev() {
        if goes_on && let Some(record) = stored(store, id)? {
            goes_on = each(id, record.source);
        }
    }
    for part in PARTS {
        if !goes_on {
            break;
        }
        store.for_each_name_beginning(&format!("{name}{part}"), |_, id| {
            // Another file can have the name of a part of this one.
            let is_of_file =
                |record: &DocumentRecord| file_name_of(&record.name, record.member.as_deref()) == Some(name);
            if let Some(record) = stored(store, id)?.filter(is_of_file) {
                goes_on = each(id, record.source);
            }
            Ok(goes_on)
        })?;
    }
    Ok(())
}

/// True if both paths lead to the same file, through links in them.
fn is_one_file(one: &Path, other: &Path) -> Result<bool> {
    Ok(resolved(one)? == resolved(other)?)
}

fn resolved(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(Error::io("find", path))
}

/// Removes the components that both paths share at their ends. Returns the folder that is left of `other`,
/// and the path of the database relative to the folder that is left of `source`. `None` if the database is
/// not below the latter folder.
fn relation(store: &Store, other: &Path, source: &Path) -> Result<Option<(PathBuf, PathBuf)>> {
    let same = other.components().rev().zip(source.components().rev()).take_while(|(a, b)| a == b).count();
    let (Some(old), Some(new)) = (other.ancestors().nth(same), source.ancestors().nth(same)) else { return Ok(None) };
    let (database, new) = (resolved(store.root())?, resolved(new)?);
    Ok(database.strip_prefix(new).ok().map(|below| (old.to_owned(), below.to_owned())))
}

/// True if the database has moved, or was copied, together with a file or folder, from the path `other` to
/// `source`: one of its former folders lies relative to `other` as the database lies relative to `source`.
/// `former_roots` is `None` for a database of an earlier version, which does not know all its former folders.
/// Then any folder counts as a former one.
pub(crate) fn is_moved_with(
    store: &Store,
    former_roots: Option<&BTreeSet<PathBuf>>,
    other: &Path,
    source: &Path,
) -> Result<bool> {
    let Some((old, below)) = relation(store, other, source)? else { return Ok(false) };
    Ok(former_roots.is_none_or(|roots| roots.contains(&old.join(below))))
}

/// True if `rename` gave the document of the file at `other` this name. The file is then expected at
/// `source`, below a folder that also contains `other`.
fn is_renamed_to(name: &str, other: &Path, source: &Path) -> bool {
    let typed: PathBuf = Path::new(name).components().skip_while(|part| *part == Component::ParentDir).collect();
    !other.ends_with(typed) && other.ancestors().skip(1).any(|folder| folder.join(name) == source)
}
