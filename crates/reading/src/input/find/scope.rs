//! Scope: finds the stored documents that were read from the given folders, and tells if their files are
//! gone.
//!
//! A document is in scope if its file lies in one of the folders, whatever its name. Documents that the
//! current options exclude are not in scope. Nothing below an unreadable folder is in scope either, because
//! it is unknown whether files there are gone.

use std::fs::read_dir;
use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::candidate::absolute;
use super::names::name_of;
use super::options::{Source, WalkOptions};
use super::path_filter::PathFilter;
use super::walk::is_database;
use crate::input::expand::member_name::{file_name_of, parts_of};
use fpdb_host::error::{Error, Result};

/// The given folders.
pub struct Scope {
    folders: Vec<Folder>,
    /// The indices of folders, by absolute path and by name. There can be many folders.
    by_path: FxHashMap<PathBuf, Vec<usize>>,
    by_name: FxHashMap<String, Vec<usize>>,
    /// Paths that are missing or unreadable, and those that the walk leaves out.
    unreadable: FxHashSet<PathBuf>,
    filter: PathFilter,
    skip_hidden: bool,
}

/// A readable folder.
struct Folder {
    typed: PathBuf,
    absolute: PathBuf,
}

impl Scope {
    /// The folders among these sources.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for an invalid glob, [`Error::Io`] if the current folder is unknown.
    pub fn new(sources: &[Source], options: &WalkOptions) -> Result<Self> {
        let (mut folders, mut unreadable) = (Vec::new(), FxHashSet::default());
        let (mut by_path, mut by_name) = (FxHashMap::<_, Vec<_>>::default(), FxHashMap::<_, Vec<_>>::default());
        let left_out = options.leave_out.iter().chain(&options.leave_to_others);
        let left_out = left_out.filter_map(|path| absolute(path).ok());
        unreadable.extend(left_out.map(|path| path.components().collect::<PathBuf>()));
        for source in sources {
            let Some(path) = source.path() else { continue };
            let there = path.metadata().and_then(|metadata| {
                let is_folder = metadata.is_dir() && !is_database(path);
                is_folder.then(|| read_dir(path)).transpose()
            });
            match (there, absolute(path)) {
                (Ok(Some(_)), Ok(absolute)) => {
                    by_path.entry(absolute.components().collect()).or_default().push(folders.len());
                    if let Ok(name) = name_of(path) {
                        by_name.entry(name).or_default().push(folders.len());
                    }
                    folders.push(Folder { typed: path.clone(), absolute });
                }
                (Ok(None), _) => {}
                (Err(_), Ok(absolute)) => {
                    unreadable.insert(absolute.components().collect());
                }
                // The target of the path is unknown, so nothing is known about any folder.
                (_, Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("find the folder of", path)(error));
                }
                (_, Err(_)) => {}
            }
        }
        let (filter, skip_hidden) = (PathFilter::new(options)?, options.skip_hidden);
        Ok(Self { folders, by_path, by_name, unreadable, filter, skip_hidden })
    }

    /// True if no stored document can be in scope.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The index of the folder from which a document was read, if the document is in scope. `source` is the
    /// absolute path of its file; `member` is as in [`About`](crate::input::About).
    pub fn folder_of(&self, name: &str, source: &str, member: Option<&str>) -> Option<usize> {
        let source = Path::new(source);
        if source.ancestors().any(|path| self.unreadable.contains(path)) {
            return None;
        }
        let around = source.ancestors().filter_map(|path| self.by_path.get(path)).flatten().copied();
        let is_in_scope = |&at: &usize| {
            let folder = &self.folders[at];
            let Ok(below) = source.strip_prefix(&folder.absolute) else { return false };
            let path = folder.typed.join(below);
            let suffix = member.map_or("", |member| parts_of(name, member).0);
            self.filter.counts_member(&path, suffix) && !(self.skip_hidden && is_hidden(below))
        };
        around.filter(is_in_scope).min()
    }

    /// True if an ingest of one of the folders can give this name, but the document was read from another
    /// place. That is the former place of the folder, or another folder with the same name.
    pub fn is_of_another_place(&self, name: &str, source: &str, member: Option<&str>) -> bool {
        let Some(file) = file_name_of(name, member) else { return false };
        // An ingest of the current folder, whose name is empty, can give any name that is not absolute.
        let here = (!file.starts_with('/')).then_some(("", file));
        let root = file.strip_prefix('/').map(|below| ("/", below));
        let around = file.match_indices('/').filter(|&(at, _)| at > 0).map(|(at, _)| (&file[..at], &file[at + 1..]));
        here.into_iter().chain(root).chain(around).any(|(typed, below)| {
            self.by_name.get(typed).into_iter().flatten().any(|&at| {
                let folder = &self.folders[at];
                self.filter.counts(&folder.typed.join(below))
                    && !(self.skip_hidden && is_hidden(Path::new(below)))
                    && !Path::new(source).starts_with(&folder.absolute)
            })
        })
    }

    /// The nearest existing folder above a missing file, as it would be typed. `None` unless this folder is
    /// completely empty. If it is empty, its disk may not be mounted. `folder` is the result of
    /// [`Self::folder_of`].
    pub fn emptied(&self, folder: usize, source: &str) -> Option<PathBuf> {
        let Folder { typed, absolute } = &self.folders[folder];
        let nearest = Path::new(source).ancestors().skip(1).find(|path| path.is_dir())?;
        let below = nearest.strip_prefix(absolute).ok()?;
        let is_empty = read_dir(nearest).is_ok_and(|mut entries| entries.next().is_none());
        is_empty.then(|| if below == Path::new("") { typed.clone() } else { typed.join(below) })
    }
}

/// True if nothing is at this path, or a link there leads nowhere. Returns false if the system refuses to
/// look.
pub fn is_gone(path: &Path) -> bool {
    path.metadata().is_err_and(|error| is_not_found(&error))
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// True if a document's file no longer exists. Returns false if the system refuses to look for the file. It
/// also returns false behind a broken link, because the link may lead to a disk that is not mounted.
pub fn is_missing(source: &str) -> bool {
    match Path::new(source).symlink_metadata() {
        Ok(metadata) => metadata.is_dir(),
        Err(error) if !is_not_found(&error) => false,
        Err(_) => {
            for folder in Path::new(source).ancestors().skip(1) {
                match folder.symlink_metadata() {
                    Ok(metadata) => return !metadata.is_symlink() || folder.metadata().is_ok(),
                    Err(error) if !is_not_found(&error) => return false,
                    Err(_) => {}
                }
            }
            true
        }
    }
}

/// True if a path below a folder, or a folder between, has a hidden name.
pub fn is_hidden(below: &Path) -> bool {
    below.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_in_scope_by_file_and_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["corpus/sub", "corpus2", "empty"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        std::fs::write(root.join("corpus/x.txt"), "x").unwrap();
        std::fs::write(root.join("file.txt"), "x").unwrap();
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        let paths = ["corpus/", "empty", "file.txt", "missing"].map(|path| Source::Path(root.join(path)));
        let options = WalkOptions::default().exclude(vec!["*.log".into()]).skip_hidden(true);
        let scope = Scope::new(&paths, &options).unwrap();
        for (name, source, member, expected) in [
            (at("corpus/a.txt"), at("corpus/a.txt"), None, Some(0)),
            (at("corpus/sub/a.zip!b/c"), at("corpus/sub/a.zip"), Some("!b/c"), Some(0)),
            (at("corpus/a.jsonl:3"), at("corpus/a.jsonl"), Some(":3?body"), Some(0)),
            (at("corpus/a.gz"), at("corpus/a.gz"), Some(""), Some(0)),
            (at("empty/a.txt"), at("empty/a.txt"), None, Some(1)),
            // Another name, as by an ingest in another folder.
            ("corpus/a.txt".into(), at("corpus/a.txt"), None, Some(0)),
            ("a.zip!b".into(), at("corpus/x.zip"), Some("!b"), Some(0)),
            // Another folder, another folder with the same name.
            (at("corpus2/a.txt"), at("corpus2/a.txt"), None, None),
            (at("corpus/a.txt"), "/elsewhere/corpus/a.txt".into(), None, None),
            // Excluded by the current options, not a folder, does not exist.
            (at("corpus/a.log"), at("corpus/a.log"), None, None),
            (at("corpus/.a/b"), at("corpus/.a/b"), None, None),
            (at("file.txt"), at("file.txt"), None, None),
            (at("missing/a.txt"), at("missing/a.txt"), None, None),
        ] {
            assert_eq!(scope.folder_of(&name, &source, member), expected, "{name} {source}");
        }
        for (name, source, expected) in [
            (at("corpus/a.txt"), "/elsewhere/corpus/a.txt".into(), true),
            (at("corpus/a.txt"), at("corpus/a.txt"), false),
            (at("corpus2/a.txt"), "/elsewhere/corpus2/a.txt".into(), false),
            (at("corpus/a.log"), "/elsewhere/corpus/a.log".into(), false),
            (at("corpus/.a/b"), "/elsewhere/corpus/.a/b".into(), false),
            ("corpus/a.txt".into(), "/elsewhere/corpus/a.txt".into(), false),
        ] {
            assert_eq!(scope.is_of_another_place(&name, &source, None), expected, "{name} {source}");
        }
        assert!(!scope.is_empty());
        for (folder, source, emptied) in [
            (0, "corpus/a.txt", None),
            (0, "corpus/sub/a/b.txt", Some("corpus/sub")),
            (0, "corpus/gone/b.txt", None),
            (1, "empty/a.txt", Some("empty")),
        ] {
            assert_eq!(scope.emptied(folder, &at(source)), emptied.map(|path| root.join(path)), "{source}");
        }
        assert!(is_missing(&at("corpus/a.txt")) && is_missing(&at("file.txt/a")) && is_missing(&at("corpus/sub")));
        assert!(!is_missing(&at("file.txt")));
        // Documents below a missing folder stay, although a folder above it exists.
        let both = ["", "corpus/gone"].map(|path| Source::Path(root.join(path)));
        let scope = Scope::new(&both, &WalkOptions::default()).unwrap();
        let in_scope = |path: &str| scope.folder_of(&at(path), &at(path), None).is_some();
        assert!(in_scope("corpus/a") && !in_scope("corpus/gone/a"));
    }

    #[test]
    fn nothing_is_gone_behind_a_link_that_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("disk")).unwrap();
        std::os::unix::fs::symlink(root.join("disk"), root.join("link")).unwrap();
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        assert!(is_missing(&at("link/a/b")) && is_missing(&at("link/b")));
        std::fs::remove_dir(root.join("disk")).unwrap();
        assert!(!is_missing(&at("link/a/b")) && !is_missing(&at("link/b")) && !is_missing(&at("link")));
        assert!(is_missing(&at("disk/b")));
        std::os::unix::fs::symlink(root.join("loop"), root.join("loop")).unwrap();
        assert!(!is_missing(&at("loop/a/b")) && !is_gone(&root.join("loop/a/b")));
        assert!(is_gone(&root.join("disk/b")) && is_gone(&root.join("link")) && !is_gone(&root));
    }
}
