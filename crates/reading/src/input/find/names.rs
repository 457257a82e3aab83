//! Names: finds a document by any spelling of the path by which it was ingested, such as `./a.txt` for
//! `a.txt`.
//!
//! Not every name is a path: the user chooses the name of standard input, and records get names from their
//! containers. So the name as typed is tried first.

use std::path::{Component, Path};

use fpdb_host::error::{DocumentError, Error, Result};

/// The name of a document: its path as given, without `.` and doubled separators, and with `/` as separator.
pub(crate) fn name_of(path: &Path) -> Result<String> {
    let mut name = String::new();
    for component in path.components() {
        let part = match component {
            Component::CurDir => continue,
            Component::RootDir => {
                name.push('/');
                continue;
            }
            other => other
                .as_os_str()
                .to_str()
                .ok_or_else(|| Error::Document(DocumentError::PathNotUtf8 { path: path.to_owned() }))?,
        };
        if !name.is_empty() && !name.ends_with('/') {
            name.push('/');
        }
        name.push_str(part);
    }
    Ok(name)
}

/// The name that an ingest of the path `name` gives. `None` if it equals `name`.
pub fn tidied(name: &str) -> Option<String> {
    name_of(Path::new(name)).ok().filter(|tidied| tidied != name)
}

/// Characters that follow the name of a folder or archive in the names of its documents.
const ENDS: [char; 2] = ['/', '!'];

/// A prefix of names: as typed, and normalised as the beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePrefix {
    typed: String,
    tidied: Option<String>,
    /// True if the prefix fits whole names of folders and archives only: `ex1` does not fit `ex10/a`.
    is_whole: bool,
}

impl NamePrefix {
    /// The prefix that `typed` means. If stored documents are in a folder or archive with exactly this name,
    /// the prefix fits only these documents. Otherwise it fits all names that begin with `typed`. `is_begun`
    /// returns true if the name of a stored document begins with its argument.
    ///
    /// # Errors
    /// Returns the errors of `is_begun`.
    pub fn among(typed: &str, mut is_begun: impl FnMut(&str) -> Result<bool>) -> Result<Self> {
        let mut prefix = Self::new(typed);
        let mut is_whole = false;
        for name in prefix.spellings().filter(|name| !name.is_empty() && !name.ends_with(ENDS)) {
            for end in ENDS {
                is_whole = is_whole || is_begun(&format!("{name}{end}"))?;
            }
        }
        prefix.is_whole = is_whole;
        Ok(prefix)
    }

    /// The prefix as typed.
    #[must_use]
    pub fn new(typed: &str) -> Self {
        // A prefix that ends in `.` or `..` ends within a component, which may continue in many ways.
        let half = typed.split('/').next_back().is_some_and(|last| last == "." || last == "..");
        let whole = if half { None } else { tidied(typed) };
        let tidied = whole.map(|mut prefix| {
            if typed.ends_with('/') && !prefix.is_empty() && !prefix.ends_with('/') {
                prefix.push('/');
            }
            prefix
        });
        Self { typed: typed.to_owned(), tidied: tidied.filter(|tidied| tidied != typed), is_whole: false }
    }

    /// True if the prefix is the beginning of an absolute path.
    pub fn is_absolute(&self) -> bool {
        self.typed.starts_with('/')
    }

    /// Number of bytes at the start of `name` that match the prefix. `None` if `name` does not begin with the
    /// prefix.
    #[must_use]
    pub fn fits(&self, name: &str) -> Option<usize> {
        let ends = |rest: &str| !self.is_whole || rest.is_empty() || rest.starts_with(ENDS);
        self.spellings().find(|prefix| name.strip_prefix(*prefix).is_some_and(ends)).map(str::len)
    }

    /// The spellings of the prefix: as typed, and normalised if that differs.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        [Some(&self.typed), self.tidied.as_ref()].into_iter().flatten().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_paths_are_tidied() {
        for (prefix, name, fits) in [
            ("corpus/", "corpus/a.txt", true),
            ("corpus/", "corpus2/a.txt", false),
            ("corpus", "corpus2/a.txt", true),
            ("./corpus//", "corpus/a.txt", true),
            ("./corpus/", "corpus2/a.txt", false),
            ("./cor", "corpus/a.txt", true),
            ("corpus/./a", "corpus/a.txt", true),
            ("./", "corpus/a.txt", true),
            (".", "corpus/a.txt", false),
            (".", ".hidden", true),
            ("corpus/.", "corpus/.hidden", true),
            ("corpus/.", "corpus/a.txt", false),
            ("/srv//a", "/srv/a.txt", true),
            ("x.jsonl#http://a", "x.jsonl#http://a/b", true),
        ] {
            assert_eq!(NamePrefix::new(prefix).fits(name).is_some(), fits, "{prefix} {name}");
        }
        assert_eq!(NamePrefix::new("./a").fits("ab"), Some(1));
    }

    #[test]
    fn a_stored_folder_or_archive_is_meant_whole() {
        let stored = ["ex1/a", "ex10/a", "all.zip!b", "all.zip2!b", "ex1", "class-a/b"];
        let fitting = |typed: &str| -> Vec<&str> {
            let prefix =
                NamePrefix::among(typed, |start| Ok(stored.iter().any(|name| name.starts_with(start)))).unwrap();
            stored.into_iter().filter(|name| prefix.fits(name).is_some()).collect()
        };
        for typed in ["ex1", "./ex1", ".//ex1"] {
            assert_eq!(fitting(typed), ["ex1/a", "ex1"], "{typed}");
        }
        assert_eq!(fitting("ex1/"), ["ex1/a"]);
        assert_eq!(fitting("all.zip"), ["all.zip!b"]);
        assert_eq!(fitting("all.zip!"), ["all.zip!b"]);
        assert_eq!(fitting("ex"), ["ex1/a", "ex10/a", "ex1"]);
        assert_eq!(fitting("class"), ["class-a/b"]);
        assert_eq!(fitting("./"), stored);
    }

    #[test]
    fn names_are_tidied() {
        for (path, name) in [
            ("corpus/a.txt", "corpus/a.txt"),
            ("./corpus//a.txt", "corpus/a.txt"),
            ("corpus/./b/../a.txt", "corpus/b/../a.txt"),
            ("/srv//corpus/a.txt", "/srv/corpus/a.txt"),
            ("../a.txt", "../a.txt"),
        ] {
            assert_eq!(name_of(Path::new(path)).unwrap(), name);
        }
    }
}
