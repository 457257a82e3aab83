//! Lines: reads the lines of a stream in bounded memory.

use std::io::{self, BufRead, BufReader, Read};

/// Bytes read at a time.
const BUFFER: usize = 128 << 10;

/// Maximum bytes of a line that are read ahead.
const AHEAD: u64 = 1 << 10;

/// Reads lines.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The beginning of the next line, if it was read ahead.
    ahead: Vec<u8>,
    /// Number of bytes of the lines so far.
    taken: u64,
}

/// One line.
pub(super) enum Line<'a> {
    /// A line with its newline. The last line may have none.
    Whole(&'a [u8]),
    /// A line longer than allowed, which was skipped.
    TooLong,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(BUFFER, input), line: Vec::new(), ahead: Vec::new(), taken: 0 }
    }

    /// Offset of the next line.
    pub(super) fn place(&self) -> u64 {
        self.taken
    }

    /// The beginning of the next line, with its newline if it is short. Empty at the end.
    pub(super) fn ahead(&mut self) -> io::Result<&[u8]> {
        if self.ahead.is_empty() {
            (&mut self.input).take(AHEAD).read_until(b'\n', &mut self.ahead)?;
        }
        Ok(&self.ahead)
    }

    /// The next line, of at most `most` bytes.
    pub(super) fn next(&mut self, most: u64) -> io::Result<Option<Line<'_>>> {
        // The buffer of a long line is freed.
        self.line.clear();
        self.line.shrink_to(BUFFER);
        self.line.append(&mut self.ahead);
        if self.line.last() != Some(&b'\n') {
            let room = most.saturating_add(1).saturating_sub(self.line.len() as u64);
            (&mut self.input).take(room).read_until(b'\n', &mut self.line)?;
        }
        let read = self.line.len() as u64;
        self.taken += read;
        if read == 0 {
            return Ok(None);
        }
        if read > most {
            if self.line.last() != Some(&b'\n') {
                self.taken += self.input.skip_until(b'\n')? as u64;
            }
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.line)))
    }
}

/// The line without its newline, `\n` or `\r\n`.
pub(super) fn without_newline(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_ahead_are_the_same_lines() {
        let long = "x".repeat(AHEAD as usize + 7);
        let text = format!("one\n\n{long}\n{long}{long}\nlast");
        for most in [5, AHEAD, AHEAD + 20, 1 << 20] {
            let all = |reads_ahead: bool| {
                let mut lines = LineReader::new(text.as_bytes());
                let mut seen = Vec::new();
                loop {
                    let ahead = if reads_ahead { lines.ahead().unwrap().to_vec() } else { Vec::new() };
                    let line = match lines.next(most).unwrap() {
                        None => return seen,
                        Some(Line::Whole(line)) if line.starts_with(&ahead) => line.to_vec(),
                        Some(Line::Whole(_)) => unreachable!("another line"),
                        Some(Line::TooLong) => b"too long".to_vec(),
                    };
                    seen.push((line, lines.place()));
                }
            };
            assert_eq!(all(true), all(false), "{most}");
            assert_eq!(all(true).len(), 5);
        }
    }

    #[test]
    fn long_lines_are_passed_over() {
        let mut lines = LineReader::new(&b"one\n\nthree is long\nfour!\nlast"[..]);
        let mut seen = Vec::new();
        assert_eq!(lines.place(), 0);
        while let Some(line) = lines.next(6).unwrap() {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8(without_newline(line).to_vec()).unwrap(),
                Line::TooLong => "too long".into(),
            });
        }
        assert_eq!(lines.place(), 29);
        assert_eq!(seen, ["one", "", "too long", "four!", "last"]);
    }
}
