//! Prune: deletes documents of the named folders whose files are gone, after all other files were read.
//!
//! The run looks for missing files before it reads anything, because it recognises renamed files by their
//! content ([`super::rename`]). It checks each missing file again before it deletes the document.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::known::KnownDocuments;
use super::options::IngestOptions;
use super::place_names::PlaceNames;
use crate::database::remembered;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{FileFacts, Scope, Source, is_gone, is_missing};
use fpdb_store::{ContainerRecord, DocumentRecord, SourceRecord, Store};

/// The documents of the named folders whose files are gone.
pub(super) struct Prune {
    pub(super) missing: Vec<MissingDocument>,
    /// The missing containers and compressed files.
    pub(super) containers: Vec<MissingContainer>,
    /// Documents with names in these folders that were read from another place, and whose files are gone
    /// there.
    elsewhere: Vec<u32>,
    /// The files and folders that the search for renamed files could not read.
    unseen: Unseen,
    pub(super) scopes: Vec<RunScope>,
}

/// The folders that are read with the same options.
pub(super) struct RunScope {
    scope: Scope,
    /// The remembered files and folders that are gone and were read with other options.
    gone_sources: FxHashSet<String>,
}

/// Files and folders that the search for renamed files could not read. A missing document may be there under
/// another name.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// A folder that was not listed whole: any document may be there.
    folder: Option<PathBuf>,
    /// The sizes of unreadable files: documents of these sizes may be there.
    sizes: FxHashSet<u64>,
    failures: SearchFailures,
}

/// Files and folders that the search for renamed files could not read, by path: their names and errors.
pub(super) type SearchFailures = BTreeMap<PathBuf, (String, Error)>;

impl Unseen {
    /// Notes a folder, or an entry of a folder, that the walk could not read. Ignores one that is gone by
    /// now.
    pub(super) fn note_folder(&mut self, name: String, error: Error) {
        if let Error::Io { path, source, .. } = &error
            && source.kind() != ErrorKind::NotFound
        {
            let path = path.clone();
            self.folder.get_or_insert_with(|| path.clone());
            self.failures.entry(path).or_insert((name, error));
        }
    }

    /// Notes an unreadable file.
    pub(super) fn note_file(&mut self, name: &str, file: &FileFacts, error: Error) {
        if matches!(&error, Error::Io { source, .. } if source.kind() != ErrorKind::NotFound) {
            self.sizes.insert(file.bytes);
            self.failures.entry(file.path.clone()).or_insert((name.to_owned(), error));
        }
    }

    /// Takes the failures. The caller reports them.
    pub(super) fn take_failures(&mut self) -> SearchFailures {
        std::mem::take(&mut self.failures)
    }
}

/// Caches whether the file that was looked for last is gone. The members of a container come one after the
/// other, so a container with a million members is looked for only once.
#[derive(Debug, Default)]
pub(super) struct LastFile {
    path: String,
    is_missing: bool,
}

impl LastFile {
    pub(super) fn is_missing(&mut self, path: &str) -> bool {
        if self.path != path {
            *self = Self { path: path.to_owned(), is_missing: is_missing(path) };
        }
        self.is_missing
    }
}

/// The documents that stay because the folders of their files are empty now, by folder.
#[derive(Debug, Default)]
pub(super) struct Emptied {
    /// The folder of the last file, and the empty folder above it, if there is one. Files of a folder come
    /// one after the other.
    last: Option<(PathBuf, Option<PathBuf>)>,
    pub(super) documents: BTreeMap<PathBuf, PlaceNames>,
}

impl Emptied {
    /// True if the missing document stays because its folder is empty. Counts such a document.
    pub(super) fn keeps(&mut self, scopes: &[RunScope], record: &DocumentRecord) -> bool {
        let Some((RunScope { scope, .. }, folder, source)) = in_scope(scopes, record) else { return false };
        let above = Path::new(source).parent().unwrap_or(Path::new(""));
        if self.last.as_ref().is_none_or(|(last, _)| last != above) {
            self.last = Some((above.to_owned(), scope.emptied(folder, source)));
        }
        let Some((_, Some(empty))) = &self.last else { return false };
        self.documents.entry(empty.clone()).or_default().add(&record.name);
        true
    }
}

/// A document whose file is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingDocument {
    pub(super) id: u32,
    pub(super) bytes: u64,
    pub(super) digest: Digest,
    /// True if the document was its whole file.
    pub(super) is_file: bool,
}

/// A container or compressed file that is gone.
pub(super) struct MissingContainer {
    pub(super) record: ContainerRecord,
    /// The container's documents, ascending.
    pub(super) ids: Vec<u32>,
}

impl Prune {
    /// The missing documents; `None` if no document can be missing or the task was stopped.
    pub(super) fn of(store: &Store, runs: &[(&[Source], &IngestOptions)], task: &Task<'_>) -> Result<Option<Self>> {
        let mut scopes = Vec::new();
        for (sources, options) in runs {
            let scope = Scope::new(sources, &options.walk)?;
            let chosen = remembered::options(&remembered::record(options)?);
            let is_other = |source: &SourceRecord| {
                is_gone(Path::new(&source.path)) && remembered::options(&source.settings) != chosen
            };
            let gone_sources = store.sources()?.into_iter().filter(is_other).map(|source| source.path).collect();
            scopes.push(RunScope { scope, gone_sources });
        }
        if scopes.iter().all(|of_run| of_run.scope.is_empty()) {
            return Ok(None);
        }
        let (mut missing, mut elsewhere) = (Vec::new(), Vec::new());
        let mut containers: FxHashMap<String, Option<MissingContainer>> = FxHashMap::default();
        let (mut looked_at, documents) = (0, store.view().state().documents);
        let mut last = LastFile::default();
        store.for_each_document(|id, record| {
            looked_at += 1;
            task.reports().step("documents looked at", looked_at, documents);
            if let Some((.., source)) = in_scope(&scopes, &record) {
                if last.is_missing(source) {
                    let is_file = record.member.is_none();
                    missing.push(MissingDocument { id, bytes: record.bytes, digest: record.digest, is_file });
                    if !containers.contains_key(source) {
                        let container = store.container(source)?;
                        let container = container.map(|record| MissingContainer { record, ids: Vec::new() });
                        containers.insert(source.to_owned(), container);
                    }
                    if let Some(Some(container)) = containers.get_mut(source) {
                        container.ids.push(id);
                    }
                }
            } else if is_elsewhere(&scopes, &record) {
                elsewhere.push(id);
            }
            Ok(!task.token().is_stopped())
        })?;
        if task.token().is_stopped() {
            return Ok(None);
        }
        let mut containers: Vec<MissingContainer> = containers.into_values().flatten().collect();
        containers.sort_by(|a, b| a.ids.cmp(&b.ids));
        Ok(Some(Self { missing, containers, elsewhere, unseen: Unseen::default(), scopes }))
    }

    /// Keeps the documents that the search for renamed files has found, and documents that may be in places
    /// it could not read.
    pub(super) fn keep(&mut self, renamed: &RoaringBitmap, unseen: Unseen) {
        self.missing.retain(|document| !renamed.contains(document.id));
        self.containers.retain(|container| !container.ids.iter().any(|&id| renamed.contains(id)));
        self.unseen.folder = self.unseen.folder.take().or(unseen.folder);
        self.unseen.sizes.extend(unseen.sizes);
    }

    /// True if a missing document may be in an unreadable place.
    pub(super) fn may_be_unseen(&self, document: &MissingDocument) -> bool {
        let Unseen { folder, sizes, .. } = &self.unseen;
        // The record of a member does not have the size of its container.
        folder.is_some() || !sizes.is_empty() && (!document.is_file || sizes.contains(&document.bytes))
    }

    /// The file or folder from which a document was read, if it is gone and has options of its own. If there
    /// are several, the outermost.
    pub(super) fn gone_source(&self, record: &DocumentRecord) -> Option<&str> {
        let (RunScope { gone_sources, .. }, _, source) = in_scope(&self.scopes, record)?;
        let around = Path::new(source).ancestors();
        around.filter_map(|folder| gone_sources.get(folder.to_str()?)).last().map(String::as_str)
    }

    /// A folder that could not be listed, if any.
    pub(super) fn unlisted(&self) -> Option<&Path> {
        self.unseen.folder.as_deref()
    }

    /// Documents with names in the folders that were read from another place, and that this run has not found
    /// in the folders.
    pub(super) fn elsewhere(
        &self,
        known: KnownDocuments<'_>,
        is_met: impl Fn(u32) -> bool,
    ) -> Result<Vec<DocumentRecord>> {
        let live =
            self.elsewhere.iter().filter(|&&id| !is_met(id) && known.store.view().is_live(id) && !known.is_deleted(id));
        let records = live.map(|&id| known.record(id)).collect::<Result<Vec<_>>>()?;
        Ok(records.into_iter().filter(|record| is_elsewhere(&self.scopes, record)).collect())
    }

    /// The record of a missing document, if it is still stored and still missing.
    pub(super) fn still_missing(&self, store: &Store, id: u32, last: &mut LastFile) -> Result<Option<DocumentRecord>> {
        if !store.view().is_live(id) {
            return Ok(None);
        }
        let record = store.document(id)?;
        let is_missing = in_scope(&self.scopes, &record).is_some_and(|(.., source)| last.is_missing(source));
        Ok(is_missing.then_some(record))
    }
}

/// True if a document has a name in these folders but was read from another place, and its file is gone
/// there.
fn is_elsewhere(scopes: &[RunScope], record: &DocumentRecord) -> bool {
    let is_it = |source: &str| {
        let is_of_another_place =
            |of_run: &RunScope| of_run.scope.is_of_another_place(&record.name, source, record.member.as_deref());
        in_scope(scopes, record).is_none() && scopes.iter().any(is_of_another_place)
    };
    record.source.as_deref().is_some_and(|source| is_it(source) && is_missing(source))
}

/// The scope that a document is in, the number of the folder in this scope, and the document's file.
fn in_scope<'s, 'r>(scopes: &'s [RunScope], record: &'r DocumentRecord) -> Option<(&'s RunScope, usize, &'r str)> {
    let source = record.source.as_deref()?;
    scopes.iter().find_map(|of_run| {
        let folder = of_run.scope.folder_of(&record.name, source, record.member.as_deref())?;
        Some((of_run, folder, source))
    })
}
