//! Strings, here-documents and other quoted text, and the code embedded in them.
//!
//! A string gives one symbol: its text up to the first embedded code. The symbols of the code follow. Text
//! after the first code gives no symbol.

use std::ops::Range;

use super::class;
use super::lexer::Lexer;
use super::mode::{End, LONGEST_END, LexerMode, Previous, Quoted};
use super::rules::{Apostrophe, Code, Dialect, Escape, Prefix, Quote};

/// Maximum bytes in the name that ends a here-document.
pub(super) const LONGEST_NAME: usize = 64;

/// The reason why the scan of a string stopped.
enum Stop {
    /// The string ends; its closing mark has this many bytes.
    End(usize),
    /// Embedded code begins.
    Code,
    /// The line ends, or the text that a step may read ends.
    Line,
    Limit,
}

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    /// Continues the open string.
    pub(super) fn quoted_on(&mut self) {
        if let Some(LexerMode::Quoted(quoted)) = self.state.modes.pop() {
            self.quoted(quoted, self.at, self.at);
        }
    }

    /// Reads the text of a string up to its end, to embedded code, or to the limit of the step. The string
    /// begins at `start`; the scan begins at `from`.
    pub(super) fn quoted(&mut self, mut quoted: Quoted, start: usize, from: usize) {
        let (at, stop) = self.scan(&mut quoted, from);
        self.look(at.saturating_sub(from));
        let end = match stop {
            Stop::End(length) => at + length,
            Stop::Code | Stop::Line | Stop::Limit => at,
        };
        // The line that ends a here-document does not belong to its text.
        let text_end = if matches!(quoted.end, End::Name { .. }) { at } else { end };
        let is_whole = matches!(stop, Stop::End(_)) && start < from;
        if quoted.is_first && text_end > start && !(is_whole && self.is_statement(end)) {
            let value = class::value_of_literal(&self.text[start..text_end]);
            self.at = start;
            self.token(value, text_end, Previous::Operand);
        }
        self.passed(end, Previous::Operand);
        quoted.line_start = at > from && self.bytes[at - 1] == b'\n' || at == from && quoted.line_start;
        match stop {
            Stop::End(_) | Stop::Line => self.string_ended(),
            Stop::Limit => self.push(LexerMode::Quoted(quoted)),
            Stop::Code => {
                quoted.is_first = false;
                quoted.line_start = false;
                let code = quoted.code;
                self.push(LexerMode::Quoted(quoted));
                self.quoted_code(code);
            }
        }
    }

    /// True if the Python string that ends at `end` is a statement by itself, which is a docstring.
    fn is_statement(&self, end: usize) -> bool {
        if self.tables.rules.dialect != Dialect::Python || !self.state.statement || !self.state.modes.is_empty() {
            return false;
        }
        let rest = &self.bytes[end..self.limit.max(end)];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        self.look(blanks);
        matches!(rest.get(blanks), None | Some(b'\n' | b'#' | b';'))
    }

    /// Scans from `at` on for the end of a string, or for code in the string. Returns the place and the
    /// reason of the stop.
    fn scan(&self, quoted: &mut Quoted, mut at: usize) -> (usize, Stop) {
        let nests = quoted.code != Code::None && self.may_nest();
        // After this place, the limit of the step may cut a mark, unless the document ends there.
        let safe = if self.limit == self.bytes.len() { self.limit } else { self.limit - LONGEST_NAME - 2 };
        if let End::Name { name, indented } = &quoted.end
            && quoted.line_start
            && let Some(length) = self.name_line(at, name, *indented)
        {
            return (at, Stop::End(length));
        }
        while at < safe {
            let byte = self.bytes[at];
            match &mut quoted.end {
                End::Mark { bytes, length } => {
                    if byte == bytes[0] && self.bytes[at..self.limit].starts_with(&bytes[..*length]) {
                        let doubled = matches!(quoted.escape, Escape::Doubled | Escape::Either);
                        if !doubled || self.byte(at + 1) != Some(byte) {
                            return (at, Stop::End(*length));
                        }
                        at += 2;
                        continue;
                    }
                }
                End::Bracket { open, close, depth } => {
                    if byte == *close && *depth == 0 {
                        return (at, Stop::End(1));
                    }
                    if byte == *close {
                        *depth -= 1;
                    } else if byte == *open {
                        *depth = depth.saturating_add(1);
                    }
                }
                End::Name { name, indented } => {
                    if byte == b'\n'
                        && let Some(length) = self.name_line(at + 1, name, *indented)
                    {
                        return (at + 1, Stop::End(length));
                    }
                }
            }
            if byte == b'\n' && !quoted.lines {
                return (at, Stop::Line);
            }
            if nests && self.code_begins(quoted.code, at) {
                return (at, Stop::Code);
            }
            at += match byte {
                b'\\' if matches!(quoted.escape, Escape::Backslash | Escape::Either) => {
                    2 + usize::from(self.begins(at + 1, "\r\n"))
                }
                b'{' if quoted.code == Code::Brace && self.byte(at + 1) == Some(byte) => 2,
                b'$' if quoted.code == Code::Dollar && self.byte(at + 1) == Some(byte) => 2,
                _ => 1,
            };
        }
        at = at.min(self.limit);
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        (at, Stop::Limit)
    }

    /// Length of the blanks and the name, if the line at `at` begins with them and so ends the here-document.
    fn name_line(&self, at: usize, name: &str, indented: bool) -> Option<usize> {
        let line = &self.bytes[at.min(self.limit)..self.limit];
        let blanks = if indented { line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count() } else { 0 };
        self.look(blanks + name.len());
        let rest = line[blanks..].strip_prefix(name.as_bytes())?;
        let ends = rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        ends.then_some(blanks + name.len())
    }

    fn code_begins(&self, code: Code, at: usize) -> bool {
        let next = self.byte(at + 1);
        let name = matches!(next, Some(b'a'..=b'z' | b'A'..=b'Z' | b'_'));
        match (code, self.bytes[at]) {
            (Code::Brace, b'{') => next != Some(b'{'),
            (Code::DollarBrace, b'$') | (Code::Hash, b'#') => next == Some(b'{'),
            (Code::Dollar, b'$') => next == Some(b'{') || name,
            (Code::Php, b'$') => next == Some(b'{') || name,
            (Code::Php, b'{') => next == Some(b'$'),
            (Code::Backslash, b'\\') => next == Some(b'('),
            (Code::Shell, b'$') => {
                name || matches!(next, Some(b'{' | b'(' | b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-'))
            }
            (Code::Shell, b'`') => true,
            _ => false,
        }
    }

    /// Begins the embedded code at the next byte.
    fn quoted_code(&mut self, code: Code) {
        let next = self.byte(self.at + 1);
        match (code, next) {
            (Code::Brace, _) => self.code_within(b'{', 0, 1),
            (Code::Php, _) if self.bytes[self.at] == b'{' => self.code_within(b'{', 0, 1),
            (Code::DollarBrace | Code::Hash | Code::Php, Some(b'{')) => self.code_within(b'{', 2, 2),
            (Code::Dollar, Some(b'{')) => self.code_within(b'{', 1, 2),
            (Code::Backslash, _) => self.code_within(b'(', 2, 2),
            (Code::Shell, _) => self.expansion(),
            (Code::Dollar, _) => {
                self.fixed(self.at + 1, Previous::Operator);
                let end = self.word_end(self.at);
                self.token(class::NAME, end, Previous::Operand);
            }
            _ => {
                let end = self.word_end(self.at + 1);
                self.token(class::NAME, end, Previous::Operand);
                // `$x->y`
                if self.begins(self.at, "->")
                    && matches!(self.byte(self.at + 2), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_'))
                {
                    self.fixed(self.at + 2, Previous::Operator);
                    let end = self.word_end(self.at);
                    self.token(class::NAME, end, Previous::Operand);
                }
            }
        }
    }

    /// Begins code that ends at the bracket that closes `open`. The opening mark has `length` bytes. Unless
    /// `symbol` is 0, its first `symbol` bytes give a symbol.
    pub(super) fn code_within(&mut self, open: u8, symbol: usize, length: usize) {
        let end = self.at + length;
        if symbol > 0 {
            self.fixed(self.at + symbol, Previous::Operator);
        }
        self.passed(end, Previous::Operator);
        self.state.statement = false;
        self.push(LexerMode::Code { open, depth: 0 });
    }

    /// Reads a word that may be the prefix of a following string. Returns true if the word is a prefix.
    pub(super) fn prefixed(&mut self, prefix: Prefix, end: usize) -> bool {
        let rules = self.tables.rules;
        match prefix {
            Prefix::Hashes => {
                let hashes =
                    self.bytes[end..self.limit].iter().take(LONGEST_END).take_while(|&&byte| byte == b'#').count();
                if hashes >= LONGEST_END || self.byte(end + hashes) != Some(b'"') {
                    return false;
                }
                let mut close = vec![b'"'];
                close.resize(1 + hashes, b'#');
                self.quoted(Quoted::raw(&close), self.at, end + hashes + 1);
                true
            }
            Prefix::Delimiter => {
                let ahead = &self.bytes[end..self.limit.min(end + LONGEST_END - 2)];
                let Some(open) = ahead.iter().position(|&byte| byte == b'(') else { return false };
                if ahead.first() != Some(&b'"') || ahead[1..open].iter().any(|byte| matches!(byte, b'"' | b'\n' | b')'))
                {
                    return false;
                }
                let close = [b")", &ahead[1..open], b"\""].concat();
                self.quoted(Quoted::raw(&close), self.at, end + open + 1);
                true
            }
            Prefix::Plain | Prefix::Code => {
                if rules.apostrophe != Apostrophe::Quote
                    && self.byte(end) == Some(b'\'')
                    && let Some(end) = self.character_end(end)
                {
                    self.character(end);
                    return true;
                }
                let Some(quote) = rules.quotes.iter().find(|quote| self.begins(end, quote.open)) else { return false };
                let code = if prefix == Prefix::Code { Code::Brace } else { quote.code };
                self.quoted(Quoted::of(Quote { code, ..*quote }), self.at, end + quote.open.len());
                true
            }
        }
    }
}
