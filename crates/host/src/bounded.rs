//! Bounded reading of files and lines that fpdb or a user wrote for fpdb. A larger file, such as a disk image
//! given by mistake, causes an error and does not fill the memory.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// Maximum bytes of a list that a user writes.
pub const LIST_BYTES: u64 = 1 << 30;

/// Maximum bytes of a line in a report or log of fpdb.
pub const LINE_BYTES: u64 = 256 << 20;

/// The bytes with which some editors begin a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes of a text without the byte order mark at their beginning, if there is one.
pub fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Reads the whole input. Fails if the input has more than `most` bytes.
pub fn read_all(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if input.take(most.saturating_add(1)).read_to_end(&mut bytes)? as u64 > most {
        return Err(too_large("it", most));
    }
    Ok(bytes)
}

/// Reads a whole file. Fails if the file has more than `most` bytes.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(File::open(path)?, most)
}

/// Reads a line, including its newline, into `line`, replacing the previous content. Fails if the line has
/// more than [`LINE_BYTES`] bytes. Returns false at the end of the input.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if input.take(LINE_BYTES + 1).read_until(b'\n', line)? as u64 > LINE_BYTES {
        return Err(too_large("a line of it", LINE_BYTES));
    }
    Ok(!line.is_empty())
}

/// The lines of a list that a user may have edited, without a byte order mark at the beginning. Blank lines
/// are empty.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`.
    pub fn of(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// The next line, with its number from 1 on. `None` at the end. Fails if a line has more than
    /// [`LINE_BYTES`] bytes.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        if !read_line(&mut self.input, &mut self.line)? {
            return Ok(None);
        }
        self.number += 1;
        let line = if self.number == 1 { without_byte_order_mark(&self.line) } else { &self.line };
        Ok(Some((self.number, if line.trim_ascii().is_empty() { b"" } else { line })))
    }
}

fn too_large(what: &str, most: u64) -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!("{what} has more than {} MiB, which no such file needs", most >> 20),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_is_an_error_and_is_not_read() {
        assert_eq!(read_all(&b"abc"[..], 3).unwrap(), b"abc");
        assert_eq!(read_all(&b"abcd"[..], 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let endless = read_all(io::repeat(0), 5 << 20).unwrap_err();
        assert_eq!(endless.to_string(), "it has more than 5 MiB, which no such file needs");
        let mut line = Vec::new();
        let mut input = &b"one\ntwo"[..];
        assert!(read_line(&mut input, &mut line).unwrap() && line == b"one\n");
        assert!(read_line(&mut input, &mut line).unwrap() && line == b"two");
        assert!(!read_line(&mut input, &mut line).unwrap() && line.is_empty());
    }

    #[test]
    fn blank_lines_are_empty_and_a_mark_is_no_part_of_a_list() {
        let mut lines = Lines::of(&b"\xef\xbb\xbf\r\none\r\n \t\n\xef\xbb\xbftwo"[..]);
        assert_eq!(lines.next_line().unwrap(), Some((1, &b""[..])));
        assert_eq!(lines.next_line().unwrap(), Some((2, &b"one\r\n"[..])));
        assert_eq!(lines.next_line().unwrap(), Some((3, &b""[..])));
        assert_eq!(lines.next_line().unwrap(), Some((4, &b"\xef\xbb\xbftwo"[..])));
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
