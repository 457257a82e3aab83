//! Comments, which give no symbols.

use std::ops::Range;

use super::lexer::Lexer;
use super::mode::LexerMode;
use super::rules::{BlockComments, Dialect};

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    pub(super) fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..self.limit];
        let newline = memchr::memchr(b'\n', rest);
        let line = &rest[..newline.unwrap_or(rest.len())];
        let end = match self.tables.rules.dialect {
            // The comment also ends before `?>`, which ends the code.
            Dialect::Php if newline.is_some() => memchr::memmem::find(line, b"?>"),
            // A last `\` continues the comment on the next line, and blanks may follow it.
            Dialect::C if line.trim_ascii_end().ends_with(b"\\") => {
                self.at += match newline {
                    Some(newline) => newline + 1,
                    // The newline may come with the next step.
                    None if self.limit < self.text.len() => (line.trim_ascii_end().len() - 1).max(1),
                    None => line.len(),
                };
                return;
            }
            Dialect::JavaScript | Dialect::TypeScript | Dialect::CSharp => memchr::memchr_iter(0xE2, line)
                .find(|&at| self.text[self.at + at..].starts_with(|c: char| self.ends_lines(c))),
            _ => None,
        };
        match end.or(newline) {
            Some(end) => {
                self.at += end;
                self.state.modes.pop();
            }
            None => self.at = self.limit,
        }
    }

    pub(super) fn block_comment(&mut self) {
        let nested = self.tables.rules.block_comments == BlockComments::Nested;
        let ruby = self.tables.rules.dialect == Dialect::Ruby;
        let Some(LexerMode::BlockComment { depth }) = self.state.modes.last_mut() else { return };
        let rest = &self.bytes[self.at..self.limit];
        if ruby {
            let end = memchr::memmem::find(rest, b"\n=end");
            self.at += end.map_or_else(|| kept(rest, 4), |end| end + 5);
            if end.is_some() {
                *self.state.modes.last_mut().unwrap_or(&mut LexerMode::Rest) = LexerMode::LineComment;
            }
            return;
        }
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'*', b'/', &rest[at..]) {
            at += found;
            match (rest[at], rest.get(at + 1)) {
                (b'*', Some(b'/')) if *depth == 0 => {
                    self.at += at + 2;
                    self.state.modes.pop();
                    return;
                }
                (b'*', Some(b'/')) => (*depth, at) = (*depth - 1, at + 2),
                (b'/', Some(b'*')) if nested => (*depth, at) = (depth.saturating_add(1), at + 2),
                // The text of this step may end within a mark.
                (_, None) if at > 0 && self.limit < self.text.len() => {
                    self.at += at;
                    return;
                }
                _ => at += 1,
            }
        }
        self.at = self.limit;
    }
}

/// Number of bytes of a step's text to consume, if the last `length` bytes may begin a mark that the next
/// step must see. The number does not divide a character.
pub(super) fn kept(rest: &[u8], length: usize) -> usize {
    if rest.len() <= length {
        return rest.len();
    }
    let is_within = |at: &usize| rest[*at] & 0xC0 == 0x80;
    (0..=rest.len() - length).rev().find(|at| !is_within(at)).unwrap_or(0)
}
