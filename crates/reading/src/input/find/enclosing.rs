//! Enclosing: finds the database that contains a path. Only the database itself may write there.

use std::path::{Path, PathBuf};

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

/// Resolves the links in a path, as far as the path exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for there in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            // Joining an empty rest would add a separator at the end.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

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
