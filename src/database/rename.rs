//! Rename: gives a file or folder of documents another name. No document is read again, and no number
//! changes.
//!
//! A document has a name, which says where it belongs, and a place, from which its text is read. Renaming
//! keeps the place as long as the file exists there. If the file is gone and exists at the new name, for
//! example because the folder was moved, the new path becomes the place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::remembered;
use crate::ingest::name_place;
use crate::nearest_name::nearest_name;
use fpdb_host::error::{Error, Result};
use fpdb_host::schema::{Answer, Schema};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{PARTS, absolute_name, file_name_of, is_gone, is_missing, tidied};
use fpdb_store::{Batch, Committer, ContainerRecord, DocumentRecord, NamePlace, SourceRecord, Store};

/// The result of a renaming. Also its JSON (`fpdb.mv/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Renaming {
    pub(crate) schema: Schema<Self>,
    /// Documents that got another name.
    pub renamed: u64,
    /// Renamed documents whose files were gone and were found at the new names.
    pub moved: u64,
}

impl Answer for Renaming {
    const SCHEMA: &'static str = "fpdb.mv/1";
}

/// Renames the file or folder `old` to `new`.
pub(super) fn rename(store: &Store, old: &str, new: &str) -> Result<Renaming> {
    let (old, ids) = documents_of(store, old)?;
    if ids.is_empty() {
        return Err(not_found(store, &old)?);
    }
    let mut files = Files::default();
    let mut batch = Batch::new(store.profile(), store.view().state().next_document, 0);
    let mut renaming = Renaming::default();
    let mut files_asked = LastAsked::default();
    let mut taken: Option<(String, u64)> = None;
    for id in &ids {
        let before = store.document(id)?;
        let record = renamed(&before, (&old, new), &mut files)?;
        if record.name == before.name {
            let expected = "a name other than the old one";
            return Err(Error::InvalidParameter { name: "new", value: new.to_owned(), expected });
        }
        if let Some(name) = taken_name(store, &record, &ids, &mut files_asked)? {
            taken.get_or_insert((name, 0)).1 += 1;
        }
        if taken.is_some() {
            continue;
        }
        record.check()?;
        renaming.renamed += 1;
        renaming.moved += u64::from(record.source != before.source);
        name_place(&record).into_iter().for_each(|place| batch.place(place));
        let moved = record.source.clone().filter(|source| before.source.as_ref() != Some(source));
        if let (Some(source), Some(moved)) = (&before.source, moved)
            && store.is_unread(source)?
        {
            batch.container(moved, ContainerRecord::UNREAD);
        }
        batch.rename(id, before, record);
    }
    if let Some((name, taken)) = taken {
        return Err(Error::NameTaken { name, taken });
    }
    remember_moved(store, &files)?;
    Committer::new(store).commit(store, &mut batch)?;
    Ok(renaming)
}

/// The documents of the file or folder with this name. Also returns the name as stored names spell it.
fn documents_of(store: &Store, typed: &str) -> Result<(String, RoaringBitmap)> {
    let bare = |name: &str| match name.trim_end_matches('/') {
        "" if name.starts_with('/') => "/".to_owned(),
        bare => bare.to_owned(),
    };
    let typed_bare = bare(typed);
    if !typed.is_empty() {
        let ids = documents_below(store, &typed_bare)?;
        if !ids.is_empty() {
            return Ok((typed_bare, ids));
        }
    }
    match tidied(typed).map(|tidied| bare(&tidied)) {
        Some(tidied) => documents_below(store, &tidied).map(|ids| (tidied, ids)),
        None => Ok((typed_bare, RoaringBitmap::new())),
    }
}

/// The documents of the file `name`, and of files in the folder `name`. If `name` is empty, the documents
/// with relative names.
fn documents_below(store: &Store, name: &str) -> Result<RoaringBitmap> {
    let mut ids = documents_of_file(store, name)?;
    let start = if name.is_empty() { String::new() } else { format!("{}/", name.trim_end_matches('/')) };
    store.for_each_name_beginning(&start, |found, id| {
        if !name.is_empty() || !found.starts_with('/') {
            ids.insert(id);
        }
        Ok(true)
    })?;
    Ok(ids)
}

/// The documents of the file `name`: the file itself, or its parts.
fn documents_of_file(store: &Store, name: &str) -> Result<RoaringBitmap> {
    let mut ids = RoaringBitmap::new();
    let is_of_file = |id: u32| {
        let record = store.document(id)?;
        Ok::<_, Error>(file_name_of(&record.name, record.member.as_deref()).is_some_and(|file| file == name))
    };
    for id in store.documents_named(name)? {
        if is_of_file(id)? {
            ids.insert(id);
        }
    }
    for part in PARTS {
        store.for_each_name_beginning(&format!("{name}{part}"), |_, id| {
            if is_of_file(id)? {
                ids.insert(id);
            }
            Ok(true)
        })?;
    }
    Ok(ids)
}

/// The error if no document has the name `old`.
fn not_found(store: &Store, old: &str) -> Result<Error> {
    // A part of a file cannot be renamed alone.
    let is_part =
        old.match_indices(PARTS).any(|(end, _)| documents_below(store, &old[..end]).is_ok_and(|ids| !ids.is_empty()));
    Ok(match is_part {
        true => {
            let expected = "the name of a file or folder: parts of a file are renamed with it";
            Error::InvalidParameter { name: "old", value: old.to_owned(), expected }
        }
        false => Error::NoSuchDocument { name: old.to_owned(), nearest: nearest_name(store, old, &StopToken::new())? },
    })
}

/// The paths of the files of renamed documents.
#[derive(Default)]
struct Files {
    /// The new path of each file, by its old path. `None` if the file was not moved.
    places: BTreeMap<String, Option<String>>,
    /// The folders of files that were moved, old and new.
    moved: BTreeSet<NamePlace>,
    /// The old and new folders of files that are still at their old paths. The user may move these files
    /// later.
    awaited: BTreeSet<NamePlace>,
}

impl Files {
    /// The new path of the file, if it is gone from `source` and exists at its new name.
    fn new_place(&mut self, source: &str, old: &str, new: &str) -> Option<String> {
        if let Some(known) = self.places.get(source) {
            return known.clone();
        }
        let mut paths = new_paths(source, old, new);
        let found = if is_missing(source) {
            let found = paths.find(|path| Path::new(path).is_file());
            self.moved.extend(found.as_deref().map(|path| NamePlace::of(source, path)));
            found
        } else {
            self.awaited.extend(paths.next().map(|path| NamePlace::of(source, &path)));
            None
        };
        self.places.insert(source.to_owned(), found.clone());
        found
    }
}

/// The paths that a renamed file may have: `new` relative to the folder of its old name, and relative to the
/// current folder.
fn new_paths(source: &str, old: &str, new: &str) -> impl Iterator<Item = String> {
    let NamePlace { folder, names } = NamePlace::of(source, old);
    let beside = new.strip_prefix(&names).map(|below| format!("{folder}{below}"));
    let paths = [beside, Some(new.to_owned())].into_iter().flatten();
    paths.filter_map(|path| absolute_name(Path::new(&path)).ok())
}

/// The record of a document of the file or folder `old` after it was renamed to `new`.
fn renamed(before: &DocumentRecord, (old, new): (&str, &str), files: &mut Files) -> Result<DocumentRecord> {
    let below = before.name[old.len()..].trim_start_matches('/');
    let is_whole = old.len() == before.name.len() || before.name[old.len()..].starts_with(PARTS);
    // A new name of a file is normalised in the same way as at ingest.
    let tidied = tidied(new).filter(|tidied| before.source.is_some() || tidied.is_empty());
    let new = tidied.unwrap_or_else(|| new.to_owned());
    let is_file = is_whole && !old.is_empty();
    let name = match (new.trim_end_matches('/'), below) {
        // A part has no name without the name of its file.
        ("", _) if is_file => String::new(),
        (file, part) if is_file => format!("{file}{part}"),
        (_, below) if new.is_empty() => below.to_owned(),
        (folder, below) => format!("{folder}/{below}"),
    };
    if name.is_empty() {
        let expected = "a name that is not empty";
        return Err(Error::InvalidParameter { name: "new", value: new, expected });
    }
    let suffix = file_name_of(&before.name, before.member.as_deref()).map_or(0, |file| before.name.len() - file.len());
    let (old_file, new_file) = (&before.name[..before.name.len() - suffix], &name[..name.len() - suffix]);
    let place = before.source.as_deref().and_then(|source| files.new_place(source, old_file, new_file));
    Ok(DocumentRecord { source: place.or_else(|| before.source.clone()), name, ..before.clone() })
}

/// Caches one answer: true if documents that are not renamed are named after `file`. One answer is enough,
/// because the parts of a container come one after the other.
#[derive(Default)]
struct LastAsked {
    file: String,
    is_taken: bool,
}

/// The name that blocks the renaming of a record, because a document that is not renamed has this name. It is
/// the record's new name or, for a part of a container, the container's new name. `None` if nothing blocks.
fn taken_name(
    store: &Store,
    record: &DocumentRecord,
    moving: &RoaringBitmap,
    last: &mut LastAsked,
) -> Result<Option<String>> {
    if store.documents_named(&record.name)?.into_iter().any(|id| !moving.contains(id)) {
        return Ok(Some(record.name.clone()));
    }
    let file = file_name_of(&record.name, record.member.as_deref()).filter(|_| record.member.is_some());
    let Some(file) = file else { return Ok(None) };
    if last.file != file {
        *last = LastAsked { file: file.to_owned(), is_taken: !(documents_of_file(store, file)? - moving).is_empty() };
    }
    Ok(last.is_taken.then(|| file.to_owned()))
}

/// Remembers the settings of old folders for the new folders too, so that moved files are read with the same
/// settings. Forgets old folders that are gone. Globs for moved files get the new paths. The old globs stay
/// while other files may be at the old paths.
fn remember_moved(store: &Store, files: &Files) -> Result<()> {
    let mut records = Vec::new();
    let keeps = |place: &NamePlace| !is_gone(Path::new(&place.folder));
    let moved_places = files.moved.iter().map(|place| (place, keeps(place)));
    let places: Vec<_> = moved_places.chain(files.awaited.iter().map(|place| (place, true))).collect();
    for SourceRecord { path, settings } in store.sources()? {
        let mut moved = settings.clone();
        for (NamePlace { folder, names }, keeps) in &places {
            moved = remembered::moved(&moved, (folder, names), *keeps).unwrap_or(moved);
        }
        let is_there = !is_gone(Path::new(&path));
        let places = if is_there { &files.awaited } else { &files.moved };
        let new_path = places.iter().find_map(|NamePlace { folder, names }| {
            let below = format!("{path}/").strip_prefix(folder.as_str()).map(str::to_owned)?;
            // Another file's path can begin with this path: `a.txt.gz` with `a.txt`.
            let is_in = folder.ends_with('/') || below == "/";
            let new = format!("{names}{below}").trim_end_matches('/').to_owned();
            (is_in && is_gone(Path::new(&new)) == is_there).then_some(new)
        });
        match new_path {
            Some(new) if store.source(&new)?.is_none() => {
                records.push(SourceRecord { path: new, settings: moved.clone() });
                moved = if is_there { settings.clone() } else { Vec::new() };
            }
            _ => {}
        }
        if moved != settings {
            records.push(SourceRecord { path, settings: moved });
        }
    }
    store.remember_sources(&records)
}
