//! Files: checks that the files of a database are regular files of a plausible size. Reading a device in
//! their place would never end.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::codec::format::STORE;
use fpdb_host::bounded;
use fpdb_host::error::{Error, Result, StoreFailure};

/// The largest size of the short texts: all files but tables, logs and lists of tables.
pub(crate) const SHORT: u64 = 1 << 20;

/// The largest size of a log or a list of tables, which are read whole. Usual sizes are a few megabytes.
const LOG: u64 = 16 << 30;

/// Prefix of the names of lists of tables.
pub(crate) const LIST: &str = "MANIFEST-";

/// The reason why a file with this name cannot be a file of the engine. `None` if it can.
fn problem(name: &str, metadata: &Metadata) -> Option<&'static str> {
    // Tables may have any size. So may the engine's info log and files of other names, which the engine never
    // reads.
    let most = match name {
        "CURRENT" | "IDENTITY" => SHORT,
        _ if name.starts_with("OPTIONS-") => SHORT,
        _ if name.starts_with(LIST) || is_log(name) => LOG,
        _ => u64::MAX,
    };
    match metadata {
        _ if !metadata.is_file() => Some("it is not a regular file"),
        _ if metadata.len() > most => Some("it is larger than any such file"),
        _ => None,
    }
}

/// Checks that the engine can read the files in the store of the database at `root`.
///
/// # Errors
/// [`Error::Damaged`] names a file that cannot be one of the engine.
pub(crate) fn check(root: &Path) -> Result<()> {
    let store = root.join(STORE);
    // The engine reports an unreadable folder when it opens it.
    for entry in fs::read_dir(&store).into_iter().flatten().flatten() {
        let path = entry.path();
        // A writer may have removed the file in the meantime.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if let Some(detail) = problem(&entry.file_name().to_string_lossy(), &metadata) {
            return Err(Error::Damaged { what: format!("the file {}", path.display()), detail });
        }
    }
    Ok(())
}

/// Makes `folder` a copy of a store. Its files are links to the files of the engine whose names are `wanted`.
/// The files given by name and content are written instead of links.
pub(crate) fn link(
    store: &Path,
    folder: &Path,
    wanted: impl Fn(&str) -> bool,
    written: &[(&str, &[u8])],
) -> Result<()> {
    fs::create_dir(folder).map_err(Error::io("create", folder))?;
    let store = store.canonicalize().map_err(Error::io("find", store))?;
    for name in names(&store)? {
        let (path, link) = (store.join(&name), folder.join(&name));
        let is_written = written.iter().any(|(written, _)| *written == name);
        if !is_written && wanted(&name) && is_plausible(&path) {
            std::os::unix::fs::symlink(path, &link).map_err(Error::io("create", link))?;
        }
    }
    for (name, content) in written {
        fs::write(folder.join(name), content).map_err(Error::io("create", folder.join(name)))?;
    }
    Ok(())
}

/// The names of the files in a store. Omits names that are not UTF-8, because no file of the engine has such
/// a name.
pub fn names(store: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(store).map_err(Error::io("read", store))? {
        names.extend(entry.map_err(Error::io("read", store))?.file_name().into_string().ok());
    }
    Ok(names)
}

/// True if the engine can read the file at `path`.
pub(crate) fn is_plausible(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    fs::metadata(path).is_ok_and(|metadata| problem(&name, &metadata).is_none())
}

/// The number of a table, from the name of its file.
pub(crate) fn table_number(name: &str) -> Option<u64> {
    name.strip_suffix(".sst")?.parse().ok()
}

/// The number of a list of tables, from the name of its file.
pub(crate) fn list_number(name: &str) -> Option<u64> {
    name.strip_prefix(LIST)?.parse().ok()
}

/// True for the name of a log of the engine, which holds rows.
pub(crate) fn is_log(name: &str) -> bool {
    name.ends_with(".log")
}

/// Reads a short file.
pub(crate) fn read_short(path: &Path) -> io::Result<Vec<u8>> {
    check_regular(path)?;
    bounded::read_file(path, SHORT)
}

/// Checks that `path` is missing or a regular file. Opening a pipe or reading a device may never end.
pub(crate) fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // A folder passes, because reading it fails at once.
        Ok(metadata) if metadata.is_file() || metadata.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::new(ErrorKind::InvalidData, "it is not a regular file")),
        // A missing path passes, because the caller may create it or report it missing.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reads a file with `read`. Returns the default value if this fails, but an error if the system refused the
/// read.
pub(crate) fn unless_refused<T: Default>(path: &Path, read: impl FnOnce(&Path) -> io::Result<T>) -> Result<T> {
    match check_regular(path).and_then(|()| read(path)) {
        Err(error) if StoreFailure::of_io(&error).is_refusal() => Err(Error::io("read", path)(error)),
        read => Ok(read.unwrap_or_default()),
    }
}
