//! Files: those of a database are regular files of a plausible size, or they are damage. A device in the place of one of
//! them would be read for ever.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::codec::format::STORE;

/// The most bytes of the files beside the tables, logs and lists: they are short texts.
const SHORT: u64 = 1 << 20;

/// The most bytes of a log, or of a list of tables, which are read from end to end. They have a few megabytes.
const LOG: u64 = 16 << 30;

/// How the name of a list of tables begins.
pub(in crate::store) const LIST: &str = "MANIFEST-";

/// The damage of a file of the engine; `None` where it may be one.
fn problem(name: &str, metadata: &Metadata) -> Option<&'static str> {
    // The engine's own log is written and never read; names of other kinds are not the engine's.
    let most = match name {
        "CURRENT" | "IDENTITY" => SHORT,
        _ if name.starts_with("OPTIONS-") => SHORT,
        _ if name.starts_with(LIST) || name.ends_with(".log") => LOG,
        _ => u64::MAX,
    };
    match metadata {
        _ if !metadata.is_file() => Some("it is not a regular file"),
        _ if metadata.len() > most => Some("it is larger than any such file"),
        _ => None,
    }
}

/// Sees to it that the engine can read the files in the store of the database at `root`.
///
/// # Errors
/// [`Error::Damaged`] names one that is none of the engine's.
pub(in crate::store) fn check(root: &Path) -> Result<()> {
    let store = root.join(STORE);
    // If the folder cannot be read, the engine reports it as it opens it.
    for entry in fs::read_dir(&store).into_iter().flatten().flatten() {
        let path = entry.path();
        // A writer may have removed it meanwhile.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if let Some(detail) = problem(&entry.file_name().to_string_lossy(), &metadata) {
            return Err(Error::Damaged { what: format!("the file {}", path.display()), detail });
        }
    }
    Ok(())
}

/// Makes `folder` a copy of a store of links to its files, but for those that are none of the engine's. The file of the name
/// that is given gets this content.
#[cfg(unix)]
pub(in crate::store) fn link(store: &Path, folder: &Path, replaced: Option<(&OsStr, &[u8])>) -> Result<()> {
    fs::create_dir(folder).map_err(Error::io("create", folder))?;
    let store = store.canonicalize().map_err(Error::io("find", store))?;
    for entry in fs::read_dir(&store).map_err(Error::io("read", &store))? {
        let name = entry.map_err(Error::io("read", &store))?.file_name();
        let (path, link) = (store.join(&name), folder.join(&name));
        let made = match replaced {
            Some((replaced, content)) if replaced == name => fs::write(&link, content),
            _ => match fs::metadata(&path) {
                Ok(metadata) if problem(&name.to_string_lossy(), &metadata).is_none() => {
                    std::os::unix::fs::symlink(path, &link)
                }
                _ => Ok(()),
            },
        };
        made.map_err(Error::io("create", link))?;
    }
    Ok(())
}

#[cfg(not(unix))]
pub(in crate::store) fn link(store: &Path, _: &Path, _: Option<(&OsStr, &[u8])>) -> Result<()> {
    Err(Error::io("link the files of", store)(ErrorKind::Unsupported.into()))
}

/// Reads a short file.
pub(in crate::store) fn read_short(path: &Path) -> io::Result<Vec<u8>> {
    check_regular(path)?;
    let mut content = Vec::new();
    File::open(path)?.take(SHORT + 1).read_to_end(&mut content)?;
    if content.len() as u64 > SHORT {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is larger than any such file"));
    }
    Ok(content)
}

/// Sees to it that what is at `path`, if anything is, is a regular file. To open a pipe, and to read a device, may take for
/// ever.
pub(in crate::store) fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // A folder is refused when it is read.
        Ok(metadata) if metadata.is_file() || metadata.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::new(ErrorKind::InvalidData, "it is not a regular file")),
        // A missing folder can be made.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Puts `content` in the place of the file at `path`, whole or not at all.
pub(in crate::store) fn replace_file(path: &Path, content: &[u8]) -> Result<()> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // As readable as any file: others may read the database.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        std::io::Write::write_all(&mut file, content)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        fs::File::open(folder)?.sync_all()
    };
    write().map_err(Error::io("write", PathBuf::from(path)))
}
