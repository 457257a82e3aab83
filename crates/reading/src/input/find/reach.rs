//! Reach: the stored documents that an ingest of given paths may find again, or may find to be gone.
//!
//! A document is within reach if its file is at or below one of the given paths. It is also within reach if
//! an ingest of these paths can give its name.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::candidate::absolute;
use super::names::name_of;
use super::options::Source;
use crate::input::expand::member_name::PARTS;

/// Hashes of the given paths and names. There can be many, and hashes take less memory.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    paths: FxHashSet<u64>,
    names: FxHashSet<u64>,
}

impl Reach {
    /// The reach of an ingest of these sources.
    pub fn new(sources: &[Source]) -> Self {
        let mut reach = Self::default();
        for source in sources {
            match source {
                Source::StandardInput { name } => {
                    reach.names.insert(hash(name));
                }
                Source::Path(path) | Source::Listed(path) => {
                    // Removes a separator at the end.
                    let path_alone = |path: PathBuf| path.components().collect::<PathBuf>();
                    reach.paths.extend(absolute(path).ok().map(|path| hash_of(&path_alone(path))));
                    reach.names.extend(name_of(path).ok().map(|name| hash(&name)));
                }
            }
        }
        reach
    }

    /// True if a document of the walk lies at or below a given path. A document without a file comes from a
    /// stream, and is recognised by its name.
    pub fn is_of(&self, name: &str, source: Option<&str>) -> bool {
        source.map_or_else(|| self.holds(name, None), |source| self.is_below(source))
    }

    fn is_below(&self, source: &str) -> bool {
        !self.paths.is_empty() && Path::new(source).ancestors().any(|folder| self.paths.contains(&hash_of(folder)))
    }

    /// True if an ingest may find the file or the name of a stored document.
    pub fn holds(&self, name: &str, source: Option<&str>) -> bool {
        // An ingest of the current folder can give any name that is not absolute.
        let here = || !name.starts_with('/') && self.names.contains(&hash(""));
        // Offsets in `name` at which the name of a folder or container ends.
        let ends = || {
            name.match_indices(|sign| sign == '/' || PARTS.contains(&sign)).map(|(at, _)| at.max(1)).chain([name.len()])
        };
        source.is_some_and(|source| self.is_below(source))
            || here()
            || ends().any(|end| self.names.contains(&hash(&name[..end])))
    }
}

fn hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

fn hash_of(path: &Path) -> u64 {
    xxh3_64(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_by_file_or_by_name() {
        let path = |path: &str| Source::Path(path.into());
        let reach =
            Reach::new(&[path("/srv/a/"), path("b//c"), path("x.zip"), Source::StandardInput { name: "in".into() }]);
        for (name, source, expected) in [
            ("other", Some("/srv/a/d/e.txt"), true),
            ("other", Some("/srv/a"), true),
            ("other", Some("/srv/ab"), false),
            ("other", None, false),
            ("/srv/a/d", None, true),
            ("b/c/d.txt", Some("/elsewhere/d.txt"), true),
            ("b/cd.txt", Some("/elsewhere/d.txt"), false),
            ("x.zip!a:3", None, true),
            ("in:17", None, true),
            ("in", None, true),
            ("int", None, false),
        ] {
            assert_eq!(reach.holds(name, source), expected, "{name} {source:?}");
        }
        assert!(Reach::new(&[path(".")]).holds("any/name", None));
        assert!(Reach::new(&[path("/")]).holds("/any/name", None));
        assert!(!Reach::new(&[path("/")]).holds("any/name", None));
        assert!(!Reach::default().holds("a", Some("/a")));
    }
}
