//! Words and numbers: decides which words are keywords, which are names, and which begin an import.

use std::ops::Range;

use icu_properties::CodePointSetData;
use icu_properties::props::{DefaultIgnorableCodePoint, IdContinue};

use super::class;
use super::lexer::Lexer;
use super::mode::{LexerMode, Previous};
use super::rules::{Dialect, Import};

/// Bytes after a word that may be read to find its role.
pub(super) const AHEAD: usize = 160;

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    /// The end of the word that begins at `at`.
    pub(super) fn word_end(&self, mut at: usize) -> usize {
        let dollar = self.tables.rules.dollar_names;
        while let Some(byte) = self.byte(at) {
            at += match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => 1,
                b'$' if dollar => 1,
                0x80.. => match self.text[at..].chars().next() {
                    Some(c) if is_word_character(c) => c.len_utf8(),
                    _ => break,
                },
                b'\\' => match self.escape_length(at) {
                    0 => break,
                    length => length,
                },
                _ => break,
            };
        }
        at.min(self.limit)
    }

    /// Length of the escaped character of a name at `at`, or 0: `\u0077`, `\u{77}`, `\U00000077`.
    pub(super) fn escape_length(&self, at: usize) -> usize {
        const LONGEST: usize = 16;
        if !self.tables.rules.escaped_names {
            return 0;
        }
        let rest = &self.text.as_bytes()[at..self.limit.min(at + LONGEST)];
        let (begin, digits) = match rest {
            [b'\\', b'u', b'{', ..] => (3, rest.iter().position(|&byte| byte == b'}').unwrap_or(0).saturating_sub(3)),
            [b'\\', b'U', ..] => (2, 8),
            // Java permits several `u`.
            [b'\\', b'u', ..] => (1 + rest[1..].iter().take_while(|&&byte| byte == b'u').count(), 4),
            _ => return 0,
        };
        self.look(rest.len());
        let written = rest.get(begin..begin + digits).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = written.and_then(|digits| u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        // A surrogate, half of a character of UTF-16, is no `char`. It counts as part of a word.
        let is_word = code
            .is_some_and(|code| char::from_u32(code).is_none_or(|c| matches!(c, '_' | '$') || is_word_character(c)));
        if is_word { begin + digits + usize::from(rest[2] == b'{') } else { 0 }
    }

    pub(super) fn word(&mut self) {
        let end = self.word_end(self.at);
        let known = self.tables.word(&self.bytes[self.at..end]);
        let next = self.byte(end);
        if matches!(next, Some(b'"' | b'\'' | b'#'))
            && let Some(prefix) = self.tables.prefix(&self.bytes[self.at..end])
            && self.prefixed(prefix, end)
        {
            return;
        }
        let dialect = self.tables.rules.dialect;
        if dialect == Dialect::Ruby {
            if let Some(b'?' | b'!') = next
                && !matches!((self.byte(end + 1), self.byte(end + 2)), (Some(b'='), Some(b'=' | b'~')))
                && (self.byte(end + 1) != Some(b'=') || self.byte(end + 2) == Some(b'>'))
            {
                let defined = &self.bytes[self.at..end] == b"defined";
                return if defined { self.fixed(end + 1, Previous::Operator) } else { self.name(end + 1) };
            }
            if next == Some(b':') && self.byte(end + 1) != Some(b':') {
                return self.name(end);
            }
            if self.state.line_start && self.state.modes.is_empty() && &self.bytes[self.at..end] == b"__END__" {
                self.push(LexerMode::Rest);
                return;
            }
        }
        if dialect == Dialect::Rust && &self.bytes[self.at..end] == b"$" {
            return self.mark();
        }
        if self.state.import.is_some() && self.before() == b'\n' {
            // An import never continues at the start of a line, so this import has no closing mark.
            self.state.import = None;
            self.state.statement = true;
        }
        let Some(word) = known else { return self.name(end) };
        if dialect == Dialect::Python
            && self.before() == b'\n'
            && matches!(&self.bytes[self.at..end], b"def" | b"class" | b"import" | b"from")
            && self.state.modes.is_empty()
        {
            // An unclosed bracket is an error in the text before. It must not affect the rest.
            self.state.brackets = 0;
            self.state.statement = true;
        }
        if let Some(import) = word.import
            && self.import(import, end)
        {
            return self.passed(end, Previous::Operator);
        }
        let member = self.state.previous == Previous::Member;
        if !word.keyword || member && !word.member || word.soft && !self.before_word(end) {
            return self.name(end);
        }
        if dialect == Dialect::Rust && self.state.statement && self.rust_import(end) {
            self.state.import = Some((Import::Semicolon, self.state.brackets));
        }
        if self.is_key(end) {
            return self.name(end);
        }
        let previous = if word.operand { Previous::Operand } else { Previous::Operator };
        let condition = matches!(dialect, Dialect::JavaScript | Dialect::TypeScript)
            && matches!(&self.bytes[self.at..end], b"if" | b"while" | b"for" | b"with");
        self.token(word.value, end, previous);
        self.state.condition = condition;
    }

    pub(super) fn name(&mut self, end: usize) {
        self.token(class::NAME, end, Previous::Name);
    }

    /// True if the word that ends at `end` is an object key or a parameter label, not a keyword.
    pub(super) fn is_key(&self, end: usize) -> bool {
        match self.tables.rules.dialect {
            Dialect::JavaScript | Dialect::TypeScript => {
                self.byte(end) == Some(b':')
                    && !matches!(&self.bytes[self.at..end], b"default" | b"this" | b"null" | b"true" | b"false")
                    || self.byte(end) == Some(b'?') && self.byte(end + 1) == Some(b':')
            }
            Dialect::Swift => {
                self.byte(end) == Some(b':')
                    && !matches!(&self.bytes[self.at..end], b"default" | b"self" | b"nil" | b"true" | b"false")
            }
            _ => false,
        }
    }

    /// True if the rest of the line shows that a soft keyword is a keyword here.
    pub(super) fn before_word(&self, end: usize) -> bool {
        if self.state.previous == Previous::Member {
            return false;
        }
        let ahead = &self.bytes[end..self.limit.min(end + AHEAD)];
        let next = ahead.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        next.is_some_and(|byte| {
            matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'{' | b'[' | b'*' | b'"' | b'\'' | b'`' | b'@' | 0x80..)
                || byte.is_ascii_digit()
        })
    }

    /// True if an import begins with the word that ends at `end`.
    pub(super) fn import(&mut self, import: Import, end: usize) -> bool {
        if self.state.import.is_some() || self.state.previous == Previous::Member {
            return false;
        }
        let ahead = &self.bytes[end..self.limit.min(end + AHEAD)];
        let ahead = ahead.trim_ascii_start();
        let next = ahead.first().copied().unwrap_or(b'\n');
        let begins = match import {
            Import::Semicolon if self.tables.rules.dialect == Dialect::Php => self.state.statement && next != b'(',
            // `impl A + use<'_>` in Rust is a bound.
            Import::Semicolon => !matches!(next, b'(' | b'<'),
            Import::Line => self.state.statement,
            Import::Module => !matches!(next, b'(' | b'.' | b':' | b',' | b'}' | b')'),
            Import::Using => self.state.statement && is_using_directive(ahead),
        };
        if begins {
            self.state.import = Some((import, self.state.brackets));
        }
        begins
    }

    /// True if the `pub` or `extern` that ends at `end` belongs to an import.
    pub(super) fn rust_import(&self, end: usize) -> bool {
        let mut ahead = self.bytes[end..self.limit.min(end + AHEAD)].trim_ascii_start();
        match &self.bytes[self.at..end] {
            b"pub" => {
                if ahead.first() == Some(&b'(') {
                    let close = ahead.iter().position(|&byte| byte == b')').unwrap_or(ahead.len() - 1);
                    ahead = ahead[close + 1..].trim_ascii_start();
                }
                ahead.starts_with(b"use ") || ahead.starts_with(b"extern crate ")
            }
            b"extern" => ahead.starts_with(b"crate "),
            _ => false,
        }
    }

    pub(super) fn number(&mut self) {
        let end = self.number_end(self.at);
        let value = class::value_of_literal(&self.text[self.at..end]);
        self.token(value, end, Previous::Operand);
    }

    /// The end of the number at `at`, which begins with a digit, or with a point and a digit.
    pub(super) fn number_end(&self, mut at: usize) -> usize {
        let numbers = self.tables.rules.numbers;
        let hex = self.byte(at) == Some(b'0') && matches!(self.byte(at + 1), Some(b'x' | b'X'));
        let mut point = self.state.previous == Previous::Member;
        while let Some(byte) = self.byte(at) {
            let next = self.byte(at + 1);
            let takes = match byte {
                b'e' | b'E' if !hex => {
                    if matches!(next, Some(b'+' | b'-')) && self.byte(at + 2).is_some_and(|byte| byte.is_ascii_digit())
                    {
                        at += 1;
                    }
                    true
                }
                b'p' | b'P' if hex => {
                    if matches!(next, Some(b'+' | b'-')) {
                        at += 1;
                    }
                    true
                }
                b'.' if !point => {
                    point = true;
                    next.is_some_and(|byte| byte.is_ascii_digit())
                        || numbers.trailing_point
                            && !next.is_some_and(|byte| byte == b'.' || byte == b'_' || byte.is_ascii_alphabetic())
                }
                b'\'' => numbers.apostrophes && next.is_some_and(|byte| byte.is_ascii_alphanumeric()),
                _ => byte.is_ascii_alphanumeric() || byte == b'_',
            };
            if !takes {
                break;
            }
            at += 1;
        }
        at
    }
}

/// True if a non-ASCII character can be part of a word: a letter, a digit, an accent, a vowel sign, a joiner
/// or another invisible character. A byte order mark is a blank.
fn is_word_character(c: char) -> bool {
    c.is_alphanumeric()
        || CodePointSetData::new::<IdContinue>().contains(c)
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c) && c != '\u{FEFF}'
}

/// True if the text after `using` makes it a directive: one name, then `;`, `=` or `<`.
fn is_using_directive(ahead: &[u8]) -> bool {
    let ahead = ahead.strip_prefix(b"static ").unwrap_or(ahead).trim_ascii_start();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | 0x80..);
    let end = ahead.iter().position(|byte| !is_name(byte)).unwrap_or(ahead.len());
    let next = ahead[end..].trim_ascii_start().first();
    end > 0 && matches!(next, Some(b';' | b'=' | b'<'))
}
