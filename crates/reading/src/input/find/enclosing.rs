//! Enclosing: resolves a path, and finds the database that contains it. Only the database itself may write
//! there.

use std::path::{Component, Path, PathBuf};

use super::walk::is_database;

/// The database or folder of backups that is `path` or contains it. `own` counts as a database even if it
/// does not exist yet or is not recognisable.
#[must_use]
pub fn enclosing_database(path: &Path, own: Option<&Path>) -> Option<PathBuf> {
    let own = own.map(resolved);
    let path = resolved(path);
    let is_one = |folder: &&Path| own.as_deref() == Some(*folder) || is_database(folder);
    path.ancestors().find(is_one).map(Path::to_owned)
}

/// Makes a path absolute, and resolves links and `..` in it. All spellings of a place give the same result,
/// whether it exists or not.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in path.ancestors() {
        if let (Ok(mut real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            for part in rest.components() {
                if part == Component::ParentDir {
                    real.pop();
                } else {
                    real.push(part);
                }
            }
            return real;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_of_a_place_is_resolved_to_one_path() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::os::unix::fs::symlink("a/b", folder.join("link")).unwrap();
        for (path, expected) in [
            ("a/b/../x/y", "a/x/y"),
            ("link/../x/y", "a/x/y"),
            ("link/x/", "a/b/x"),
            ("none/../a/./x", "a/x"),
            ("a/none/../../x", "x"),
            ("link", "a/b"),
        ] {
            assert_eq!(resolved(&folder.join(path)), folder.join(expected), "{path}");
        }
    }

    #[test]
    fn a_path_in_a_database_is_told_from_one_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let database = folder.join("db");
        std::fs::create_dir(&database).unwrap();
        std::fs::write(database.join("FPDB"), "fpdb database, format 1\n").unwrap();
        for inside in ["db", "db/FPDB", "db/new", "db/new/er", "./db//x"] {
            assert_eq!(enclosing_database(&folder.join(inside), None), Some(database.clone()), "{inside}");
        }
        for beside in ["", "db2", "new/er", "db.html"] {
            assert_eq!(enclosing_database(&folder.join(beside), None), None, "{beside}");
        }
        let own = folder.join("own");
        assert_eq!(enclosing_database(&own.join("x"), Some(&own)), Some(own.clone()));
        {
            std::os::unix::fs::symlink(&database, folder.join("link")).unwrap();
            assert_eq!(enclosing_database(&folder.join("link/x"), None), Some(database.clone()));
            assert_eq!(enclosing_database(&database.join("x"), Some(&folder.join("link"))), Some(database));
        }
    }
}
