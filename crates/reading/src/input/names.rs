//! Names: a document is found by every spelling of the path that it was ingested by, such as `./a.txt` for `a.txt`.
//!
//! Not every name is a path: standard input is called what the user says, and records what their container says. So what
//! was typed counts as it is first.

use std::path::{Component, Path};

use fpdb_host::error::{DocumentError, Error, Result};

/// A document's name: its path as given, `.` and doubled separators tidied, `/` as the separator.
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

/// A name as an ingest of this path gives it; `None` where it is that already.
pub fn tidied(name: &str) -> Option<String> {
    name_of(Path::new(name)).ok().filter(|tidied| tidied != name)
}

/// The beginning of names: what was typed, and what it is as the beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePrefix {
    typed: String,
    tidied: Option<String>,
}

impl NamePrefix {
    /// The prefix that was typed.
    #[must_use]
    pub fn new(typed: &str) -> Self {
        // Their ending is half a component, which can begin many.
        let half = typed.split('/').next_back().is_some_and(|last| last == "." || last == "..");
        let whole = if half { None } else { tidied(typed) };
        let tidied = whole.map(|mut prefix| {
            if typed.ends_with('/') && !prefix.is_empty() && !prefix.ends_with('/') {
                prefix.push('/');
            }
            prefix
        });
        Self { typed: typed.to_owned(), tidied: tidied.filter(|tidied| tidied != typed) }
    }

    /// True if it is the beginning of an absolute path.
    pub fn is_absolute(&self) -> bool {
        self.typed.starts_with('/')
    }

    /// How many bytes of the name it is the beginning of; `None` where it is not.
    #[must_use]
    pub fn fits(&self, name: &str) -> Option<usize> {
        let mut spellings = [Some(&self.typed), self.tidied.as_ref()].into_iter().flatten();
        spellings.find(|prefix| name.starts_with(prefix.as_str())).map(String::len)
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
