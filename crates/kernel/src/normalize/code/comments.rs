//! Comments, which give no symbols.

use std::ops::Range;

use super::lexer::Lexer;
use super::mode::LexerMode;
use super::rules::{BlockComments, Dialect};

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    pub(super) fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..self.limit];
        match memchr::memchr(b'\n', rest) {
            Some(end) => {
                // In PHP the comment ends before `?>`, which ends the code.
                let php = self.tables.rules.dialect == Dialect::Php;
                let page = if php { memchr::memmem::find(&rest[..end], b"?>") } else { None };
                self.at += page.unwrap_or(end);
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
                // The step may end within a mark.
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
/// step looks for.
pub(super) fn kept(rest: &[u8], length: usize) -> usize {
    if rest.len() > length { rest.len() - length } else { rest.len() }
}
