//! Open files: the engine keeps every table of a database open, so that a reader can still read its commit.
//! This file checks the limit of open files of the process, and raises it on request.

use std::fs;
use std::path::Path;

use crate::codec::format::STORE;
use fpdb_host::error::{Error, Result};

/// Number of open files other than the tables: other files of the engine, sorted files, documents, standard
/// streams.
const OTHER_FILES: u64 = 32;

/// Checks that all tables of the database at `root` can be open at once.
///
/// # Errors
/// [`Error::TooFewOpenFiles`] if the limit is too low.
pub(crate) fn allow_for(root: &Path, raise: bool) -> Result<()> {
    let path = root.join(STORE);
    // The engine reports an unreadable folder when it opens it.
    let tables = fs::read_dir(&path).into_iter().flatten().flatten();
    let is_table = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "sst");
    let needed = OTHER_FILES + tables.filter(is_table).count() as u64;
    match limit(raise) {
        Some(allowed) if allowed < needed => Err(Error::TooFewOpenFiles { path: root.to_owned(), needed, allowed }),
        _ => Ok(()),
    }
}

/// The limit of open files; `None` if there is none. If `raise` is true, first raises the limit as far as the
/// system allows.
fn limit(raise: bool) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum || !raise {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        // Some systems refuse the maximum that they report.
        Err(_) => current,
    }
}
