//! Open files: the engine keeps every table of a database open, so that a reader goes on seeing what it saw
//! when it began. The system's limit for the process is raised as far as it lets itself be, and checked.

use std::fs;
use std::path::Path;

use crate::codec::format::STORE;
use fpdb_host::error::{Error, Result};

/// Files beside the tables: the engine's own, sorted files on their way, documents being read, the streams of
/// a program.
const OTHER_FILES: u64 = 32;

/// Sees to it that the tables of the database at `root` can be open all at once.
///
/// # Errors
/// [`Error::TooFewOpenFiles`] where the system does not let them.
pub(crate) fn allow_for(root: &Path, raise: bool) -> Result<()> {
    let path = root.join(STORE);
    // If the folder cannot be read, the engine reports it as it opens it.
    let tables = fs::read_dir(&path).into_iter().flatten().flatten();
    let is_table = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "sst");
    let needed = OTHER_FILES + tables.filter(is_table).count() as u64;
    match limit(raise) {
        Some(allowed) if allowed < needed => Err(Error::TooFewOpenFiles { path: root.to_owned(), needed, allowed }),
        _ => Ok(()),
    }
}

/// The limit of open files, raised as high as it can be if asked for; `None` if there is none.
#[cfg(unix)]
fn limit(raise: bool) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum || !raise {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        // Some systems refuse what they have themselves set as the most.
        Err(_) => current,
    }
}

#[cfg(not(unix))]
fn limit(_: bool) -> Option<u64> {
    None
}
