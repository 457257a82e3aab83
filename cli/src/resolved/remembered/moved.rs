//! Moved: the flags of files and folders that were moved together with the database.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use fpdb::Database;
use fpdb::maintenance::RememberedSource;
use fpdb_reading::input::{absolute_name, is_gone, moved_glob};
use serde_json::Value;

use super::Flags;

/// Maximum number of documents whose paths are searched for the former place of a file or folder.
const LOOKED_AT: usize = 100;

/// Finds the flags of moved paths. A typed path was moved if a remembered path that ends with it is gone,
/// documents with the typed name were read from the remembered path, and the database moved with them.
pub(super) struct Moved<'a> {
    database: &'a Database,
    sources: HashMap<&'a Path, &'a RememberedSource>,
    /// The remembered paths that are gone.
    gone: OnceCell<Vec<&'a Path>>,
    /// The last components of the remembered paths. Most typed paths end with none of these, so no search is
    /// needed.
    last_names: HashSet<&'a OsStr>,
    /// The flags of each path that was searched for, with globs for its new place. `None` for a path that was
    /// not moved.
    known: BTreeMap<PathBuf, Option<Flags>>,
}

impl<'a> Moved<'a> {
    pub(super) fn new(database: &'a Database, sources: &'a [RememberedSource]) -> Self {
        let path = |source: &'a RememberedSource| Path::new(&source.path);
        Self {
            database,
            sources: sources.iter().map(|source| (path(source), source)).collect(),
            gone: OnceCell::new(),
            last_names: sources.iter().filter_map(|source| path(source).file_name()).collect(),
            known: BTreeMap::new(),
        }
    }

    /// The flags that were remembered for the former place of a path, or of the nearest folder above it.
    pub(super) fn flags_of(&mut self, path: &Path) -> anyhow::Result<Option<Flags>> {
        let typed: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
        if !typed.components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(None);
        }
        for name in typed.ancestors() {
            if !name.file_name().is_some_and(|last| self.last_names.contains(last)) {
                continue;
            }
            let flags = match self.known.get(name) {
                Some(known) => known.clone(),
                None => {
                    let found = self.find(name)?;
                    self.known.insert(name.to_owned(), found.clone());
                    found
                }
            };
            if flags.is_some() {
                return Ok(flags);
            }
        }
        Ok(None)
    }

    /// Finds the remembered paths that were in a typed folder before it was moved.
    pub(super) fn look_below(&mut self, path: &Path) -> anyhow::Result<()> {
        let typed: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
        if !typed.components().all(|part| matches!(part, Component::Normal(_))) || !path.is_dir() {
            return Ok(());
        }
        let gone = self.gone.get_or_init(|| self.sources.keys().copied().filter(|former| is_gone(former)).collect());
        for &former in gone {
            for folder in former.ancestors().skip(1).filter(|folder| folder.ends_with(&typed)) {
                let name = typed.join(former.strip_prefix(folder)?);
                if !self.known.contains_key(&name) {
                    let found = self.find(&name)?;
                    self.known.insert(name, found);
                }
            }
        }
        Ok(())
    }

    fn find(&self, name: &Path) -> anyhow::Result<Option<Flags>> {
        let Some(typed) = name.to_str() else { return Ok(None) };
        for document in self.database.documents_below(typed, LOOKED_AT)? {
            let Some(file) = document.source else { continue };
            let mut around = Path::new(&file).ancestors().filter(|folder| folder.ends_with(name));
            let former = around.find_map(|folder| self.sources.get(folder).filter(|_| is_gone(folder)));
            let new = absolute_name(name)?;
            let is_free = |new: &Path| new.exists() && !self.sources.contains_key(new);
            if let Some(source) = former.filter(|_| is_free(Path::new(&new)))
                && self.database.is_moved_with(&source.path, &new)?
            {
                return Ok(Some(moved(source, Path::new(&new))));
            }
        }
        Ok(None)
    }

    /// The moved paths that were found, as they were typed, with their present places and their flags.
    pub(super) fn into_known(self) -> anyhow::Result<Vec<(PathBuf, RememberedSource)>> {
        let found = self.known.into_iter().filter_map(|(path, flags)| Some((path, flags?)));
        let placed = |(path, options): (PathBuf, Flags)| {
            let now = absolute_name(&path)?;
            Ok((path, RememberedSource::new(now, options)))
        };
        found.map(placed).collect()
    }
}

/// The flags of a path that is now at another place, with globs for that place.
fn moved(source: &RememberedSource, to: &Path) -> Flags {
    let mut flags = source.options.clone();
    let folder = |path: &Path| Some(format!("{}/", path.parent()?.to_str()?.trim_end_matches('/')));
    let (Some(old), Some(new)) = (folder(Path::new(&source.path)), folder(to)) else { return flags };
    for list in ["exclude", "include"] {
        let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut(list)) else { continue };
        for glob in globs {
            if let Some(moved) = glob.as_str().and_then(|glob| moved_glob(glob, &old, &new)) {
                *glob = Value::String(moved);
            }
        }
    }
    flags
}
