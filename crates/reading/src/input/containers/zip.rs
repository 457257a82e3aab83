//! zip: the directory is at the end, so the archive is read from a file. Members come in the order of the
//! directory.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;
use zip::read::{Config, ZipFile};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::{DateTime, ExtraField, ZipReadOptions};

use super::{Member, MemberContent, Members, printable, zip_path};
use crate::input::decompress::meter::{Guard, Meter};
use fpdb_host::clock;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Modified;

const FORMAT: &str = "zip";

/// Reads an archive. `copy`: the file is a copy of a member of another container.
pub(super) fn read(file: &File, copy: bool, meter: &Meter<'_>, members: &mut dyn Members) -> Result<()> {
    let size = file.metadata().map_err(|error| meter.error(FORMAT, error))?.len();
    let place = FileCursor { file, size, at: 0, copy, meter };
    let failed = |error| undecodable(meter, error);
    // One reader for the directory and one for the members, so that both keep their positions.
    let mut archive = ZipIterable::try_new(BufReader::new(place), Config::default()).map_err(failed)?;
    let mut bodies = BufReader::new(place);
    // The hashes of normalised names, each with the hash of the original name.
    let mut names: FxHashMap<u64, u64> = FxHashMap::default();
    for (number, entry) in (0u64..).zip(archive.files().map_err(failed)?) {
        let entry = entry.map_err(failed)?;
        if entry.is_dir() {
            continue;
        }
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
        };
        let path = zip_path(&name);
        if path.is_empty() {
            members.failed(format!("!{}", printable(&name)), Error::Document(DocumentError::NoName))?;
            continue;
        }
        let suffix = format!("!{path}");
        let raw = xxh3_64(entry.name_raw());
        if *names.entry(xxh3_64(path.as_bytes())).or_insert(raw) != raw {
            members.failed(suffix, Error::Document(DocumentError::NameTaken))?;
            continue;
        }
        if entry.is_symlink() {
            members.skipped(suffix, SkipReason::LinkInArchive)?;
            continue;
        }
        if entry.encrypted() {
            members.failed(suffix, Error::Document(DocumentError::Encrypted))?;
            continue;
        }
        let stored = entry.compressed_size().min(size);
        let body = match entry.with_reader(&mut bodies, ZipReadOptions::new()) {
            Ok(body) => body,
            Err(error) => {
                members.failed(suffix, failed(error))?;
                continue;
            }
        };
        let modified = modified(&body);
        let mut guard = Guard::new(body, FORMAT, Rc::new(Cell::new(stored)), meter);
        let content = MemberContent::Stream(&mut guard);
        members.member(Member { suffix, hint: path.into(), modified, metadata: Vec::new(), content })?;
        members.extent(number..number + 1);
    }
    Ok(())
}

/// The time of an entry. An extra field gives it in UTC. Otherwise the time in the directory counts. That
/// time has no time zone, and is taken as UTC. An archive that records no time has zero or
/// `DateTime::DEFAULT` in the directory.
fn modified<R: Read>(entry: &ZipFile<'_, R>) -> Option<Modified> {
    let in_utc = entry.extra_data_fields().find_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => {
            times.mod_time().filter(|&seconds| seconds != 0).map(|seconds| i64::from(seconds.cast_signed()))
        }
        // In steps of 100 nanoseconds since 1601.
        ExtraField::Ntfs(times) if times.mtime() != 0 => {
            i64::try_from(times.mtime() / 10_000_000).ok().map(|time| time - 11_644_473_600)
        }
        _ => None,
    });
    let in_directory = || {
        let time = entry.last_modified().filter(|time| *time != DateTime::DEFAULT)?;
        let day = [time.month(), time.day(), time.hour(), time.minute(), time.second()];
        clock::utc_seconds(time.year(), day)
    };
    let in_utc = in_utc.filter(|&seconds| clock::is_in_calendar(seconds));
    in_utc.or_else(in_directory).map(|seconds| Modified { seconds, nanoseconds: 0 })
}

fn undecodable(meter: &Meter<'_>, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => meter.error(FORMAT, error),
        other => Error::Document(DocumentError::Undecodable { format: FORMAT, source: other.into() }),
    }
}

/// A position in a file. Several such readers of one file do not affect each other.
#[derive(Clone, Copy)]
struct FileCursor<'a> {
    file: &'a File,
    size: u64,
    at: u64,
    copy: bool,
    meter: &'a Meter<'a>,
}

impl Read for FileCursor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        // Bytes of a copy do not count as bytes of the file.
        self.meter.read(if self.copy { 0 } else { read as u64 }).map(|()| read)
    }
}

impl Seek for FileCursor<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
