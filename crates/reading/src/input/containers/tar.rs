//! tar: members one after the other, each after a header. Reads POSIX, GNU and old archives.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use tar::{Archive, Entry, EntryType};

use super::{Member, MemberContent, Members, printable, tidy};
use crate::input::decompress::meter::{Exactly, Guard, Meter};
use fpdb_host::clock;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Modified;

const FORMAT: &str = "tar";

/// Maximum bytes of one member's headers. Long names and extended headers are read into memory.
const HEADER_BYTES: u64 = 1 << 20;

/// Bytes read at a time.
const BUFFER: usize = 64 << 10;

/// The block size of an archive. An archive ends with two blocks of zeros; one is accepted.
const BLOCK: u64 = 512;

/// The failure of an archive that is followed by anything except zeros and further archives.
const NO_ARCHIVE: &str = "the bytes after its end are no archive";

/// Reads an archive, and those after it: archives that are joined are one file.
pub(super) fn read(input: &mut dyn Read, meter: &Meter<'_>, members: &mut dyn Members) -> Result<()> {
    let (left, zeros, taken) = (Cell::new(None), Cell::new(0), Cell::new(0));
    // Headers and small members are read in single blocks, so buffer them.
    let input = BufReader::with_capacity(BUFFER, input);
    let mut reader = HeaderReader { input, left: &left, zeros: &zeros, taken: &taken };
    loop {
        reader = read_one(reader, meter, members)?;
        // Reading the zeros after the end of an archive verifies the checksum of a compressed archive.
        if reader.skip_zeros().map_err(|error| meter.error(FORMAT, error))? {
            return Ok(());
        }
    }
}

/// Reads the entries of one archive up to its end. Returns the reader of the bytes after the archive.
fn read_one<'a, R: Read>(
    reader: HeaderReader<'a, R>,
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<HeaderReader<'a, R>> {
    let HeaderReader { left, zeros, taken, .. } = reader;
    let is_first = taken.get() == 0;
    let mut archive = Archive::new(reader);
    let failed = |error| meter.error(FORMAT, error);
    let mut entries = archive.entries().map_err(failed)?;
    // Offset after the previous entry, and the bytes before that offset that are not read yet.
    let (begin, mut unread) = (taken.get(), 0u64);
    let mut ends = begin;
    loop {
        left.set(Some(HEADER_BYTES.saturating_add(unread)));
        let Some(entry) = entries.next() else { break };
        left.set(None);
        let mut entry = entry.map_err(|error| match error.raw_os_error() {
            None if ends == begin && !is_first => failed(io::Error::other(format!("{NO_ARCHIVE}: {error}"))),
            _ => failed(error),
        })?;
        let begins = ends;
        // Holes of a sparse file take no space in the archive.
        let stored = entry.header().entry_size().map_err(failed)?;
        if entry.header().entry_type() == EntryType::GNUSparse && has_other_size(&mut entry, stored).map_err(failed)? {
            return Err(failed(io::Error::other("two headers of a sparse file state different sizes")));
        }
        let stored_end = taken.get().checked_add(stored).and_then(|end| end.checked_next_multiple_of(BLOCK));
        let path = String::from_utf8(entry.path_bytes().into_owned());
        let kind = entry.header().entry_type();
        let path = match path {
            Ok(path) => {
                let tidied = tidy(&path);
                if tidied.is_empty() && kind.is_file() && !path.ends_with('/') {
                    members.failed(format!("!{}", printable(&path)), Error::Document(DocumentError::NoName))?;
                }
                tidied
            }
            Err(error) => {
                let path = String::from_utf8_lossy(error.as_bytes()).into_owned();
                members.failed(
                    format!("!{}", tidy(&path)),
                    Error::Document(DocumentError::PathNotUtf8 { path: path.into() }),
                )?;
                (ends, unread) = pass_over(&mut entry, taken, stored_end).map_err(failed)?;
                continue;
            }
        };
        let suffix = format!("!{path}");
        match kind {
            // In old archives, a folder is a file whose name ends with a slash.
            EntryType::Regular | EntryType::Continuous if !path.is_empty() && !entry.path_bytes().ends_with(b"/") => {
                if let Some(name) = sparse_name(&mut entry).map_err(failed)? {
                    let what = "it is a sparse file in an extended header, a form that fpdb does not read";
                    let source = io::Error::other(what).into();
                    let suffix = format!("!{}", tidy(&name.unwrap_or(path)));
                    members.failed(suffix, Error::Document(DocumentError::Undecodable { format: FORMAT, source }))?;
                    (ends, unread) = pass_over(&mut entry, taken, stored_end).map_err(failed)?;
                    continue;
                }
                let modified = modified(&mut entry).map_err(failed)?;
                let mut whole = Exactly { left: entry.size(), input: &mut entry };
                let content = MemberContent::Stream(&mut whole);
                members.member(Member { suffix, hint: path.into(), modified, metadata: Vec::new(), content })?;
            }
            EntryType::GNUSparse => {
                let modified = modified(&mut entry).map_err(failed)?;
                let whole = Exactly { left: entry.size(), input: &mut entry };
                let mut guard = Guard::new(whole, FORMAT, Rc::new(Cell::new(stored)), meter);
                let content = MemberContent::Stream(&mut guard);
                members.member(Member { suffix, hint: path.into(), modified, metadata: Vec::new(), content })?;
            }
            EntryType::Link | EntryType::Symlink => members.skipped(suffix, SkipReason::LinkInArchive)?,
            EntryType::Char | EntryType::Block | EntryType::Fifo => {
                members.skipped(suffix, SkipReason::NotAFile)?;
            }
            // Folders of both kinds, and headers for the whole archive: pax global headers, GNU volume labels
            // and GNU folder lists.
            EntryType::Regular | EntryType::Continuous | EntryType::Directory | EntryType::XGlobalHeader => {}
            kind if matches!(kind.as_byte(), b'V' | b'D') => {}
            _ => members.skipped(suffix, SkipReason::UnknownEntry)?,
        }
        (ends, unread) = pass_over(&mut entry, taken, stored_end).map_err(failed)?;
        members.extent(begins..ends);
        if kind == EntryType::Link
            && let Some(target) = entry.link_name_bytes()
        {
            members.needed(&format!("!{}", tidy(&String::from_utf8_lossy(&target))));
        }
    }
    left.set(None);
    if zeros.get() < BLOCK {
        // The library accepts any end of input between two members.
        return Err(failed(io::Error::new(io::ErrorKind::UnexpectedEof, "the block that marks its end is missing")));
    }
    Ok(archive.into_inner())
}

/// For a sparse file whose holes an extended header describes: the name in that header, or `Some(None)` if it
/// has none. `None` for other files. The bytes of such an entry begin with the places of its data, and the
/// name in its plain header is made up.
fn sparse_name<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<Option<Option<String>>> {
    let mut name = None;
    for field in entry.pax_extensions()?.into_iter().flatten().filter_map(io::Result::ok) {
        if let Ok(key) = field.key()
            && key.starts_with("GNU.sparse.")
        {
            let value = field.value().ok().filter(|_| key == "GNU.sparse.name").map(str::to_owned);
            name = Some(value.or(name.flatten()));
        }
    }
    Ok(name)
}

/// True if an extended header gives an entry another size in the archive than its header. The library then
/// finds the next entry by the extended header.
fn has_other_size<R: Read>(entry: &mut Entry<'_, R>, stored: u64) -> io::Result<bool> {
    let mut fields = entry.pax_extensions()?.into_iter().flatten().filter_map(io::Result::ok);
    Ok(fields.any(|field| field.key_bytes() == b"size" && field.value().ok() != Some(stored.to_string().as_str())))
}

/// Passes over the rest of an entry. Returns the offset after the entry, and the number of bytes before that
/// offset that are not read yet. The bytes of a sparse file are not read here, because its holes can be huge.
/// The library skips them when it reads the next entry.
fn pass_over<R: Read>(entry: &mut Entry<'_, R>, taken: &Cell<u64>, stored_end: Option<u64>) -> io::Result<(u64, u64)> {
    if entry.header().entry_type() == EntryType::GNUSparse {
        let end = stored_end.ok_or(io::ErrorKind::InvalidData)?;
        return Ok((end, end.saturating_sub(taken.get())));
    }
    io::copy(entry, &mut io::sink())?;
    Ok((taken.get().next_multiple_of(BLOCK), 0))
}

/// The time of a file, if the archive records one. An extended header may give a more exact time, or a time
/// before 1970. The time 0 means that no time is recorded. A time outside the calendar does not count.
fn modified<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<Option<Modified>> {
    let mut time =
        entry.header().mtime().ok().and_then(|seconds| i64::try_from(seconds).ok()).map(|seconds| (seconds, 0));
    for field in entry.pax_extensions()?.into_iter().flatten().filter_map(io::Result::ok) {
        if field.key_bytes() == b"mtime" {
            time = field.value().ok().and_then(decimal_time).or(time);
        }
    }
    let time = time.filter(|&(seconds, _)| seconds != 0 && clock::is_in_calendar(seconds));
    Ok(time.map(|(seconds, nanoseconds)| Modified { seconds, nanoseconds }))
}

/// Parses seconds with decimals, such as `-1.5`: whole seconds, and the nanoseconds after them.
fn decimal_time(text: &str) -> Option<(i64, u32)> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = whole.parse().ok()?;
    let nanoseconds: u32 = format!("{decimals:0<9}").get(..9)?.parse().ok()?;
    if whole.starts_with('-') && nanoseconds > 0 {
        return Some((seconds.checked_sub(1)?, 1_000_000_000 - nanoseconds));
    }
    Some((seconds, nanoseconds))
}

/// Limits the bytes read between members, and counts the zeros at the end.
struct HeaderReader<'a, R> {
    input: R,
    left: &'a Cell<Option<u64>>,
    /// Number of bytes read.
    taken: &'a Cell<u64>,
    zeros: &'a Cell<u64>,
}

impl<R: Read> HeaderReader<'_, BufReader<R>> {
    /// Skips zeros. Returns true at the end of the input.
    fn skip_zeros(&mut self) -> io::Result<bool> {
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let zeros = bytes.iter().position(|&byte| byte != 0);
            let skipped = zeros.unwrap_or(bytes.len());
            self.input.consume(skipped);
            self.taken.set(self.taken.get() + skipped as u64);
            if zeros.is_some() && !self.taken.get().is_multiple_of(BLOCK) {
                return Err(io::Error::other(NO_ARCHIVE));
            }
            if zeros.is_some() || skipped == 0 {
                return Ok(zeros.is_none());
            }
        }
    }
}

impl<R: Read> Read for HeaderReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        match buffer[..read].iter().rposition(|&byte| byte != 0) {
            Some(last) => self.zeros.set((read - 1 - last) as u64),
            None => self.zeros.set(self.zeros.get() + read as u64),
        }
        if let Some(left) = self.left.get() {
            let left = left.checked_sub(read as u64).ok_or_else(|| io::Error::other("its headers are too long"))?;
            self.left.set(Some(left));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_decimals_on_both_sides_of_1970() {
        for (text, time) in [
            ("17", Some((17, 0))),
            ("17.5", Some((17, 500_000_000))),
            ("17.1234567891", Some((17, 123_456_789))),
            ("-1.25", Some((-2, 750_000_000))),
            ("-0.25", Some((-1, 750_000_000))),
            ("-3", Some((-3, 0))),
            ("", None),
            ("1.x", None),
            ("1.\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(decimal_time(text), time, "{text}");
        }
    }
}
