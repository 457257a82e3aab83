//! Output: passes characters from a decoder to a unit, and counts newlines and invalid sequences.

use encoding_rs::Encoding;

use super::Sink;
use super::symbols::Symbols;

const ESCAPE: u8 = 0x1B;

/// Counts made while decoding.
#[derive(Default)]
pub(super) struct DecodeCounts {
    pub(super) undecodable: u64,
    pub(super) newlines: u64,
    /// Offset after the last newline. Any text after it is a line too.
    pub(super) last_newline: u64,
}

impl DecodeCounts {
    /// Number of lines in a document of `bytes` bytes, as an editor counts them.
    pub(super) fn lines(&self, bytes: u64) -> u64 {
        self.newlines + u64::from(bytes > self.last_newline)
    }
}

/// The longest prefix of `bytes` that is ASCII.
pub(super) fn ascii_prefix(bytes: &[u8]) -> &str {
    // ASCII is valid UTF-8, so this never fails.
    let length = if bytes.is_ascii() { bytes.len() } else { Encoding::ascii_valid_up_to(bytes) };
    str::from_utf8(&bytes[..length]).unwrap_or_default()
}

/// Receives characters from a decoder. It counts newlines and invalid sequences, and passes the rest to the
/// unit.
pub(super) struct Output<'a, S> {
    sink: &'a mut S,
    symbols: &'a mut Symbols,
    tally: &'a mut DecodeCounts,
}

impl<'a, S: Sink> Output<'a, S> {
    pub(super) fn new(sink: &'a mut S, symbols: &'a mut Symbols, tally: &'a mut DecodeCounts) -> Self {
        Self { sink, symbols, tally }
    }

    /// See [`Sink::ascii`]. Always returns the length.
    pub(super) fn ascii(&mut self, bytes: &[u8], at: u64, stop_at_escape: bool) -> usize {
        let before = self.symbols.newlines_seen();
        if let Some(taken) = self.sink.ascii(bytes, at, stop_at_escape, self.symbols) {
            let newlines = self.symbols.newlines_seen() - before;
            if newlines > 0
                && let Some(last) = memchr::memrchr(b'\n', &bytes[..taken])
            {
                self.tally.newlines += newlines;
                self.tally.last_newline = at + last as u64 + 1;
            }
            return taken;
        }
        let plain = ascii_prefix(bytes);
        let escape = if stop_at_escape { memchr::memchr(ESCAPE, plain.as_bytes()) } else { None };
        let plain = &plain[..escape.unwrap_or(plain.len())];
        self.text(plain, at);
        plain.len()
    }

    /// See [`Sink::text`].
    pub(super) fn text(&mut self, text: &str, at: u64) {
        let bytes = text.as_bytes();
        let mut searched = 0;
        while let Some(found) = memchr::memchr(b'\n', &bytes[searched..]) {
            searched += found;
            // Newlines often come in runs. The rest of a run needs no search.
            while bytes.get(searched) == Some(&b'\n') {
                self.newline(at + searched as u64, at + searched as u64 + 1);
                searched += 1;
            }
        }
        self.sink.text(text, at, self.symbols);
    }

    /// See [`Sink::char`].
    pub(super) fn char(&mut self, c: char, start: u64, end: u64) {
        if c == '\n' {
            self.newline(start, end);
        }
        self.sink.char(c, start, end, self.symbols);
    }

    /// Records an invalid byte sequence.
    pub(super) fn undecodable(&mut self) {
        self.tally.undecodable += 1;
        self.sink.cut(self.symbols);
    }

    fn newline(&mut self, start: u64, end: u64) {
        self.tally.newlines += 1;
        self.tally.last_newline = end;
        self.symbols.newline(start);
    }
}
