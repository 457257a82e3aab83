//! Format marker: the file that makes a folder a database, and names the version of its format.

use std::io;
use std::path::Path;

use crate::codec::format::{FORMAT_VERSION, MARKER, marker_version};
use crate::open::files::read_short;
use crate::open::making::is_empty_folder;
use fpdb_host::error::{Error, Result};

/// Checks that there is a database at `root`, in a format that this program reads.
pub(crate) fn check_marker(root: &Path) -> Result<()> {
    let path = root.join(MARKER);
    let text = match read_short(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let path = root.to_owned();
                // A database can be created in an empty folder.
                let taken = root.symlink_metadata().is_ok() && !is_empty_folder(root);
                return Err(if taken { Error::NotADatabase { path } } else { Error::NoDatabase { path } });
            }
            _ => return Err(Error::Io { action: "read", path, source: error }),
        },
    };
    match marker_version(&text) {
        Some(version) if version == FORMAT_VERSION.to_string() => Ok(()),
        Some(version) => Err(Error::FormatVersion {
            path: root.to_owned(),
            found: version.chars().take(20).collect(),
            supported: FORMAT_VERSION,
        }),
        None => Err(Error::NotADatabase { path: root.to_owned() }),
    }
}
