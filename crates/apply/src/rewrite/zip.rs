//! Zip: copies an archive without some entries. Other entries are copied without decompression, with their
//! names, times, permissions, comments and extra fields.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::read::Config;
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::{ZipArchive, ZipWriter};

use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;

/// Copies an archive without the entries at these indexes, which must ascend.
pub(super) fn without(path: &Path, entries: &[u64], output: &mut File, stop: &StopToken) -> Result<()> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| failed(path, error))?;
    let mut writer = ZipWriter::new(output);
    writer.set_raw_comment(archive.comment().to_vec().into_boxed_slice()).map_err(|error| failed(path, error))?;
    for number in 0..archive.len() {
        stop.check()?;
        if entries.binary_search(&(number as u64)).is_err() {
            let entry = archive.by_index_raw(number).map_err(|error| failed(path, error))?;
            writer.raw_copy_file(entry).map_err(|error| failed(path, error))?;
        }
    }
    writer.finish().map(drop).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: ZipError) -> Error {
    match error {
        ZipError::Io(source) => Error::Io { action: "write a copy of", path: path.to_owned(), source },
        other => Error::Document(DocumentError::Undecodable { format: "zip", source: other.into() }),
    }
}

/// The reason why an archive cannot lose entries without harm: it is signed, entries share a name, or other
/// bytes precede it. `None` if entries can be left out.
pub(crate) fn why_whole(path: &Path) -> Result<Option<&'static str>> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| failed(path, error))?;
    let signs = |name: &str| {
        let name = name.to_ascii_uppercase();
        name.starts_with("META-INF/") && [".SF", ".RSA", ".DSA", ".EC"].iter().any(|ending| name.ends_with(ending))
    };
    if archive.file_names().any(|name| name.is_ok_and(|name| signs(&name))) {
        return Ok(Some("it is signed; it stays whole"));
    }
    if archive.offset() > 0 {
        return Ok(Some("something stands in front of the archive; it stays whole"));
    }
    let file = File::open(path).map_err(Error::io("read", path))?;
    let mut entries =
        ZipIterable::try_new(BufReader::new(file), Config::default()).map_err(|error| failed(path, error))?;
    if entries.files().map_err(|error| failed(path, error))?.count() != archive.len() {
        return Ok(Some("several of its entries have one name; it stays whole"));
    }
    Ok(None)
}
