//! First names: a file keeps the name under which it was read first. The folder in which later ingests run
//! does not change the name.
//!
//! A document's name is the path as the user typed it, so it depends on the current folder. The path of its
//! file does not. So a file with a known path is the known document. A file with a new path is named as
//! typed. If another file that still exists has this as its first name, the new file is named by its absolute
//! path instead. So the new file does not replace the document of the other file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::known::stored;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_reading::input::{PARTS, Source, absolute_name, file_name_of, is_missing};
use fpdb_store::{DocumentRecord, NamePlace, Store};

/// The name of a file.
pub(super) struct FileName {
    pub(super) name: String,
    /// The path of the other file that already has the typed name. `None` unless this file is named by its
    /// path for that reason.
    pub(super) taken_by: Option<String>,
}

impl FileName {
    fn free(name: String) -> Self {
        Self { name, taken_by: None }
    }
}

/// Finds the names under which files were read first.
pub(super) struct FirstNames<'a> {
    store: &'a Store,
    /// Beginnings of names, by the beginning of the paths of the files with these names.
    names: FxHashMap<String, Vec<String>>,
    /// Beginnings of paths, by the beginning of the names of the files at these paths.
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
    pub(super) fn new(store: &'a Store, sources: &[Source], dry_run: bool, task: &Task<'_>) -> Result<Self> {
        let (mut names, mut folders) = (FxHashMap::<_, Vec<_>>::default(), FxHashMap::<_, Vec<_>>::default());
        for place in listed(store, dry_run, task)? {
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
        Ok(Self { store, names, folders, roots, several: sources.len() > 1 })
    }

    /// The name of the file at the absolute path `source`, which was typed as `typed`.
    pub(super) fn of(&self, typed: String, source: &str) -> Result<FileName> {
        let typed = self.of_this_run(source).unwrap_or(typed);
        let mut known = others(&self.names, source);
        known.remove(&typed);
        if known.is_empty() {
            return self.unless_taken(typed, source);
        }
        if first_document(self.store, &typed, source)?.is_some() {
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
        first.map_or_else(|| self.unless_taken(typed, source), |(_, name)| Ok(FileName::free(name)))
    }

    /// The name as typed, or the path of this file if the typed name is the first name of another file.
    fn unless_taken(&self, typed: String, source: &str) -> Result<FileName> {
        // Most names have no other place. The places in memory show this, without a look-up in the store.
        if typed != source && others(&self.folders, &typed).iter().any(|path| path != source) {
            let of_name: Vec<_> =
                first_documents(self.store, &typed)?.into_iter().filter_map(|(_, from)| from).collect();
            // After a merge that keeps both, two files can have one name.
            if !of_name.iter().any(|from| from == source) {
                for other in of_name {
                    if self.keeps_its_name(&other, source)? {
                        return Ok(FileName { name: source.to_owned(), taken_by: Some(other) });
                    }
                }
            }
        }
        Ok(FileName::free(typed))
    }

    /// True if the file at `other` still exists, so that a file at `source` cannot take its name. Equal bytes
    /// change nothing, since `source` may be a copy. There are two exceptions, unless `other` is in a source
    /// of this run: both paths lead to one file, or the database was copied together with the file.
    fn keeps_its_name(&self, other_path: &str, source: &str) -> Result<bool> {
        let (other, source) = (Path::new(other_path), Path::new(source));
        if is_missing(other_path) {
            return Ok(false);
        }
        // A file that cannot be looked at may still exist.
        if !other.is_file() || other.ancestors().any(|folder| self.is_root(folder)) {
            return Ok(true);
        }
        Ok(!(is_one_file(other, source)? || is_copied_with(self.store, other, source)?))
    }

    fn is_root(&self, folder: &Path) -> bool {
        folder.to_str().is_some_and(|folder| self.roots.contains_key(folder))
    }

    /// The name of a file, made from the first source of this run that contains the file.
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

/// Returns a function that finds the names that the file or folder at an absolute path may have. A folder's
/// path and names end with `/`.
pub(crate) fn names_by_path(store: &Store) -> Result<impl Fn(&str) -> BTreeSet<String> + use<>> {
    let mut names = FxHashMap::<_, Vec<_>>::default();
    for place in store.name_places()?.unwrap_or_default() {
        names.entry(place.folder).or_default().push(place.names);
    }
    Ok(move |path: &str| others(&names, path))
}

/// The name of the document that was read from the file at this absolute path, or of the file if it is a
/// container of documents.
pub(crate) fn name_of_file(store: &Store, path: &str) -> Result<Option<String>> {
    let mut names = names_by_path(store)?(path);
    if store.name_places()?.is_none() {
        // The list of places is missing, so each end of the path may be the name.
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

/// The names that `places` allow for the file at a path, or the paths that they allow for a file of a name.
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
/// container, the number of its first member.
fn first_document(store: &Store, name: &str, source: &str) -> Result<Option<u32>> {
    let mut documents = first_documents(store, name)?.into_iter();
    Ok(documents.find(|(_, from)| from.as_deref() == Some(source)).map(|(id, _)| id))
}

/// The numbers of the documents named after this file, and the paths of their files. These are the document
/// that is the file, and the first members if the file is a container.
fn first_documents(store: &Store, name: &str) -> Result<Vec<(u32, Option<String>)>> {
    // The newest first: two files can have one name after a merge that keeps both.
    let mut documents = Vec::new();
    for id in store.documents_named(name)?.into_iter().rev() {
        documents.extend(stored(store, id)?.map(|record| (id, record.source)));
    }
    for part in PARTS {
        store.for_each_name_beginning(&format!("{name}{part}"), |_, id| {
            // Another file can have the name of a part of this one.
            let is_of_file =
                |record: &DocumentRecord| file_name_of(&record.name, record.member.as_deref()) == Some(name);
            let member = stored(store, id)?.filter(is_of_file).map(|record| (id, record.source));
            let goes_on = member.is_none();
            documents.extend(member);
            Ok(goes_on)
        })?;
    }
    Ok(documents)
}

/// True if both paths lead to the same file, through links in them.
fn is_one_file(one: &Path, other: &Path) -> Result<bool> {
    Ok(resolved(one)? == resolved(other)?)
}

fn resolved(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(Error::io("find", path))
}

/// True if the database was copied together with the file. Then the original database still exists near the
/// file at `other`, in the same relative place as this copy near the file at `source`.
fn is_copied_with(store: &Store, other: &Path, source: &Path) -> Result<bool> {
    let same = other.components().rev().zip(source.components().rev()).take_while(|(a, b)| a == b).count();
    let (Some(old), Some(new)) = (other.ancestors().nth(same), source.ancestors().nth(same)) else { return Ok(false) };
    let (database, new) = (resolved(store.root())?, resolved(new)?);
    database.strip_prefix(new).map_or(Ok(false), |below| store.is_copied_to(&old.join(below)))
}
