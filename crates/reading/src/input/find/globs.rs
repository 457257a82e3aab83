//! Globs: the syntax of `.gitignore`, with paths that begin at the current folder or, after `//`, at the root
//! of the file system.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustc_hash::FxHashMap;

use super::candidate::absolute;
use super::options::WalkOptions;
use crate::input::expand::member_name::PARTS;
use fpdb_host::error::{Error, Result};

/// The beginning of globs that match absolute paths. In a `.gitignore` such globs match nothing.
const ROOTED: &str = "//";

impl WalkOptions {
    /// Returns these options with globs that mean the same in every folder. A glob that begins at the current
    /// folder is rewritten to begin at the root of the file system.
    ///
    /// # Errors
    /// [`Error::Io`] if the current folder is not known.
    pub fn rooted(&self) -> Result<Self> {
        let rooted = |globs: &[String]| -> Result<Vec<String>> {
            if globs.is_empty() {
                return Ok(Vec::new());
            }
            let here = here()?;
            Ok(globs.iter().flat_map(|glob| rooted(glob, &here)).collect())
        };
        Ok(Self { exclude: rooted(&self.exclude)?, include: rooted(&self.include)?, ..self.clone() })
    }
}

/// The globs that match the same paths as `glob`, in every folder. If `glob` begins at the folder `here`,
/// they begin at the root.
fn rooted(glob: &str, here: &Path) -> Vec<String> {
    let bare = without_dot(glob);
    let is_of_here = !bare.starts_with(ROOTED) && !bare.starts_with("**/") && bare.trim_end_matches('/').contains('/');
    // Only a `..` at the beginning surely means the folder above, because the current folder is not a link.
    let (mut folder, mut below) = (here, bare);
    while let Some(rest) = below.strip_prefix("../") {
        (folder, below) = (folder.parent().unwrap_or(folder), without_dot(rest.trim_start_matches('/')));
    }
    let Some(folder) = folder.to_str().filter(|_| is_of_here) else { return vec![glob.to_owned()] };
    let in_folder = format!("/{}/{}", escaped_glob(folder).trim_end_matches('/'), below.trim_start_matches('/'));
    // A glob that begins with `/` also matches the absolute path that it spells. The path need not exist: it
    // may name a part of a file, or a file that is created later.
    let spelled = bare.starts_with('/').then(|| glob_of_path(&unescaped(bare)));
    spelled.into_iter().filter(|spelled| *spelled != in_folder).chain([in_folder.clone()]).collect()
}

/// The glob that begins at the root and matches this absolute path alone.
#[must_use]
pub fn glob_of_path(path: &str) -> String {
    format!("/{}", escaped_glob(path))
}

/// The glob that replaces `glob` after documents moved from `old` to `new`: two folders with `/` at the end,
/// or two paths of a file. `None` if `glob` does not begin with `old`.
#[must_use]
pub fn moved_glob(glob: &str, old: &str, new: &str) -> Option<String> {
    let below = glob.strip_prefix(&glob_of_path(old))?;
    // The name of another file can begin with the same characters.
    let is_in = old.ends_with('/') || below.is_empty() || below.starts_with('/') || below.starts_with(PARTS);
    is_in.then(|| format!("{}{below}", glob_of_path(new)))
}

/// The glob that matches this text alone.
fn escaped_glob(text: &str) -> String {
    let mut glob = String::new();
    for character in text.chars() {
        if "*?[]{}\\".contains(character) {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob
}

/// The text that a glob matches if all its wildcards are escaped.
fn unescaped(glob: &str) -> String {
    let mut characters = glob.chars();
    std::iter::from_fn(|| match characters.next() {
        Some('\\') => characters.next(),
        character => character,
    })
    .collect()
}

fn without_dot(glob: &str) -> &str {
    let mut bare = glob;
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest.trim_start_matches('/');
    }
    bare
}

fn here() -> Result<PathBuf> {
    std::env::current_dir().map_err(Error::io("find", "."))
}

/// Globs relative to the current folder, like those of a `.gitignore` there, and globs that begin at the
/// root. Each glob also matches the path that it spells, in all spellings of that path. So a glob can be a
/// name from an answer, such as an absolute path.
pub(crate) struct Globs {
    globs: Gitignore,
    /// The globs that begin at the root.
    rooted: Gitignore,
    /// The globs read as paths. The value is true if the glob matches only folders.
    paths: FxHashMap<PathBuf, bool>,
    here: PathBuf,
}

impl Globs {
    pub(crate) fn new(name: &'static str, without_negation: &'static str, globs: &[String]) -> Result<Self> {
        let invalid = |value: &str, expected| Error::InvalidParameter { name, value: value.into(), expected };
        let syntax = "a glob in the syntax of .gitignore";
        let here = here()?;
        let builder = |folder: &Path| {
            let mut builder = GitignoreBuilder::new(folder);
            builder.allow_unclosed_class(false);
            builder
        };
        let (mut of_here, mut of_root) = (builder(&here), builder(Path::new("/")));
        let mut paths = FxHashMap::default();
        for glob in globs {
            let mut bare = without_dot(glob);
            if bare.trim_matches([' ', '/', '.']).is_empty() {
                return Err(invalid(if glob.is_empty() { "empty" } else { glob }, syntax));
            }
            if bare.starts_with('!') {
                return Err(invalid(glob, without_negation));
            }
            let is_rooted = bare.starts_with(ROOTED);
            let builder = if is_rooted {
                bare = &bare[1..];
                &mut of_root
            } else {
                &mut of_here
            };
            // In a `.gitignore`, a pattern that begins with `#` is a comment. Here it is a name.
            let comment = if bare.starts_with('#') { "\\" } else { "" };
            builder.add_line(None, &format!("{comment}{bare}")).map_err(|_| invalid(glob, syntax))?;
            if bare.starts_with("../") || bare.starts_with('/') && !is_rooted {
                for line in rooted(glob, &here).iter().filter(|line| line.starts_with(ROOTED)) {
                    of_root.add_line(None, &line[1..]).map_err(|_| invalid(glob, syntax))?;
                }
            }
            let path = unescaped(bare);
            let path = Path::new(&path).strip_prefix(&here).unwrap_or(Path::new(&path));
            paths.insert(path.to_owned(), bare.ends_with('/'));
        }
        let build = |builder: GitignoreBuilder| builder.build().map_err(|_| invalid(&globs.join(" "), syntax));
        Ok(Self { globs: build(of_here)?, rooted: build(of_root)?, paths, here })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// True if the path of a file or folder matches.
    pub(crate) fn matches(&self, path: &Path, is_folder: bool) -> bool {
        self.matches_here(path.strip_prefix(&self.here).unwrap_or(path), is_folder)
            || (!self.rooted.is_empty() && self.matches_rooted(&self.absolute(path), is_folder))
    }

    /// True if the path of a file or of a folder around it matches.
    pub(crate) fn matches_or_parents(&self, path: &Path) -> bool {
        let any = |path: &Path, matches: &dyn Fn(&Path, bool) -> bool| {
            matches(path, false) || path.ancestors().skip(1).any(|folder| matches(folder, true))
        };
        any(path.strip_prefix(&self.here).unwrap_or(path), &|path, is_folder| self.matches_here(path, is_folder))
            || (!self.rooted.is_empty()
                && any(&self.absolute(path), &|path, is_folder| self.matches_rooted(path, is_folder)))
    }

    /// Like [`matches`](Self::matches), for a path without the current folder in front.
    fn matches_here(&self, path: &Path, is_folder: bool) -> bool {
        self.spells(path, is_folder) || self.globs.matched(path, is_folder).is_ignore()
    }

    fn matches_rooted(&self, path: &Path, is_folder: bool) -> bool {
        self.spells(path.strip_prefix(&self.here).unwrap_or(path), is_folder)
            || self.rooted.matched(path, is_folder).is_ignore()
    }

    fn spells(&self, path: &Path, is_folder: bool) -> bool {
        self.paths.get(path).is_some_and(|&only_folders| is_folder || !only_folders)
    }

    fn absolute<'a>(&self, path: &'a Path) -> Cow<'a, Path> {
        let leaves = path.components().any(|part| part == Component::ParentDir);
        match absolute(path) {
            _ if path.is_absolute() && !leaves => Cow::Borrowed(path),
            Ok(absolute) => Cow::Owned(absolute),
            Err(_) => Cow::Owned(self.here.join(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooted_globs_mean_the_same_in_every_folder() {
        let here = Path::new("/no such/a [1]");
        let folder = "//no such/a \\[1\\]";
        for (glob, below) in [("mails/*.eml", "mails/*.eml"), ("./mails/x/", "mails/x/")] {
            assert_eq!(rooted(glob, here), [format!("{folder}/{below}")]);
        }
        // The path need not exist.
        for (glob, spelled) in [
            ("/etc", "//etc"),
            ("/etc/", "//etc/"),
            ("/no such/box.mbox#1", "//no such/box.mbox#1"),
            ("/no such/\\*.t[x]t", "//no such/\\*.t\\[x\\]t"),
        ] {
            assert_eq!(rooted(glob, here), [spelled.to_owned(), format!("{folder}{glob}")]);
        }
        assert_eq!(rooted("../x/*.eml", here), ["//no such/x/*.eml"]);
        assert_eq!(rooted("./..//./../../**/x", here), ["//**/x"]);
        assert_eq!(rooted("a/../x", here), [format!("{folder}/a/../x")]);
        for glob in ["x/y", "/x/y"] {
            assert_eq!(rooted(glob, Path::new("/")), ["//x/y"]);
        }
        for anywhere in ["*.eml", "x/", "**/x/y", "//a/b", "box.mbox#3"] {
            assert_eq!(rooted(anywhere, here), [anywhere]);
        }
        assert_eq!(moved_glob("//a/b*/c", "/a/", "/d[e]/").as_deref(), Some("//d\\[e\\]/b*/c"));
        assert_eq!(moved_glob("a/b", "/a/", "/d/"), None);
        assert_eq!(moved_glob("//a/b.txt#1", "/a/b.txt", "/d.txt").as_deref(), Some("//d.txt#1"));
        assert_eq!(moved_glob("//a/b.txt.bak", "/a/b.txt", "/d.txt"), None);
    }

    #[test]
    fn a_rooted_glob_matches_paths_however_they_are_spelled() {
        let here = here().unwrap();
        let parent = here.parent().unwrap().to_str().unwrap();
        let name = here.file_name().unwrap().to_str().unwrap();
        let globs = |glob: String| Globs::new("exclude", "", &[glob]).unwrap();
        for glob in [format!("/{parent}/{name}/src/*.rs"), glob_of_path(&format!("{parent}/{name}/src"))] {
            let globs = globs(glob);
            for path in [
                "src/lib.rs".into(),
                "./src/lib.rs".into(),
                here.join("src/lib.rs"),
                format!("../{name}/src/lib.rs").into(),
            ] {
                assert!(globs.matches_or_parents(&path), "{path:?}");
            }
            assert!(!globs.matches_or_parents(Path::new("lib.rs")));
            assert!(!globs.matches_or_parents(Path::new("/src/lib.rs")));
        }
        assert!(globs(format!("/{parent}/{name}/")).matches_or_parents(Path::new("x")));
        for glob in [format!("{parent}/none.txt"), "../none.txt".into()] {
            let globs = globs(glob);
            for path in [format!("../{name}/../none.txt"), "../none.txt".into(), format!("{parent}/none.txt")] {
                assert!(globs.matches_or_parents(Path::new(&path)), "{path:?}");
            }
            assert!(!globs.matches_or_parents(Path::new("/none.txt")));
        }
    }
}
