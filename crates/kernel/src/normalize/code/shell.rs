//! The shell. Words are commands, options and files; their values are those of their texts. Variables are
//! names.

use std::ops::Range;

use super::class;
use super::lexer::Lexer;
use super::mode::{LexerMode, Previous, Quoted};
use super::quoted::LONGEST_NAME;
use super::rules::{Code, Escape, Quote};
use super::words::AHEAD;

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    pub(super) fn shell(&mut self) {
        let first = self.bytes[self.at];
        match first {
            b' ' | b'\t' | b'\r' => self.blanks(),
            b'\n' => self.line_end(),
            b'\\' if matches!(self.byte(self.at + 1), Some(b'\n' | b'\r')) => self.backslash(),
            b'#' if matches!(self.before(), b' ' | b'\t' | b'\n' | b';' | b'(' | b')' | b'`') => {
                self.push(LexerMode::LineComment);
            }
            b'"' => self.shell_string(1, Escape::Backslash, Code::Shell),
            b'\'' if !self.is_apostrophe() => self.shell_string(1, Escape::None, Code::None),
            b'$' if self.byte(self.at + 1) == Some(b'\'') => self.shell_string(2, Escape::Backslash, Code::None),
            b'$' | b'`' => self.expansion(),
            b'<' if self.begins(self.at, "<<")
                && !self.begins(self.at, "<<<")
                && !self.is_shift()
                && self.shell_heredoc() => {}
            b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => self.mark(),
            _ if self.is_shell_mark(first) => self.mark(),
            _ if self.in_arithmetic() => self.arithmetic(),
            _ => self.shell_word(),
        }
    }

    fn shell_string(&mut self, opening: usize, escape: Escape, code: Code) {
        let open = if self.bytes[self.at + opening - 1] == b'"' { "\"" } else { "'" };
        self.quoted(Quoted::of(Quote { open, lines: true, escape, code }), self.at, self.at + opening);
    }

    /// True within `$((...))`, where words are names.
    fn in_arithmetic(&self) -> bool {
        matches!(self.state.modes.last(), Some(LexerMode::Arithmetic { .. }))
    }

    /// True if `<<` shifts, as within `$((...))` and `((...))`. If round brackets are open, `<<` counts as a
    /// shift if two of them close side by side later on the line. Two such brackets are rare in nested
    /// commands with a here-document.
    fn is_shift(&self) -> bool {
        if self.state.brackets == 0 || self.in_arithmetic() {
            return self.in_arithmetic();
        }
        let ahead = &self.bytes[self.at..self.limit.min(self.at + AHEAD)];
        let line = ahead.split(|&byte| byte == b'\n').next().unwrap_or_default();
        self.look(line.len());
        let mut depth = 0;
        line.windows(2).any(|pair| {
            match pair[0] {
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b')' => return pair[1] == b')',
                _ => {}
            }
            false
        })
    }

    /// True if `'` is an apostrophe and not a quote: the apostrophe is in `"${x:-...}"`, and no second `'`
    /// follows inside the braces.
    fn is_apostrophe(&self) -> bool {
        let [.., LexerMode::Quoted(_), LexerMode::Code { open: b'{', .. }] = &self.state.modes[..] else {
            return false;
        };
        let ahead = &self.bytes[self.at + 1..self.limit];
        let end = ahead.iter().position(|byte| matches!(byte, b'\'' | b'}'));
        self.look(end.unwrap_or(ahead.len()));
        end.is_none_or(|end| ahead[end] == b'}')
    }

    /// True within `${...}`, which the next closing brace ends.
    fn in_braces(&self) -> bool {
        matches!(self.state.modes.last(), Some(LexerMode::Code { open: b'{', .. }))
    }

    /// True if a character that may be part of a word is a mark here.
    fn is_shell_mark(&self, first: u8) -> bool {
        let next = self.byte(self.at + 1);
        let ends = matches!(next, None | Some(b' ' | b'\t' | b'\r' | b'\n' | b';' | b')'));
        match first {
            b'}' => ends || self.in_braces(),
            b'{' => ends,
            b'[' => ends || self.begins(self.at, "[[ "),
            b']' => ends || next == Some(b']'),
            b'=' | b'!' => ends || matches!(next, Some(b'=' | b'~')),
            _ => false,
        }
    }

    /// Reads a word. A variable in an assignment or loop is a name.
    fn shell_word(&mut self) {
        let name_end = self.word_end(self.at);
        let is_name = name_end > self.at && !self.bytes[self.at].is_ascii_digit();
        let assigns = match self.byte(name_end) {
            Some(b'=') => 1,
            Some(b'+') if self.byte(name_end + 1) == Some(b'=') => 2,
            _ => 0,
        };
        if is_name && assigns > 0 && self.state.previous == Previous::Operator {
            self.token(class::NAME, name_end, Previous::Operator);
            return self.fixed(name_end + assigns, Previous::Operator);
        }
        let end = self.shell_word_end();
        if end == self.at {
            return self.mark();
        }
        let word = &self.bytes[self.at..end];
        if is_name && end == name_end && self.state.previous == Previous::Member {
            return self.token(class::NAME, end, Previous::Operand);
        }
        let previous = match word {
            b"for" | b"select" if self.state.previous == Previous::Operator => Previous::Member,
            b"export" | b"local" | b"readonly" | b"declare" | b"typeset" | b"env" | b"then" | b"do" | b"else"
            | b"if" | b"elif" | b"while" | b"until" => Previous::Operator,
            // The word is the value of a variable. A command or another assignment may follow.
            _ if self.before() == b'=' => Previous::Operator,
            _ => Previous::Operand,
        };
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            return self.token(class::value_of_literal(&self.text[self.at..end]), end, previous);
        }
        self.fixed(end, previous);
    }

    fn shell_word_end(&self) -> usize {
        let in_braces = self.in_braces();
        let mut end = self.at;
        while let Some(byte) = self.byte(end) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'"' | b'\'' | b'`'
                | b'$' => break,
                b'}' if in_braces => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        end = end.min(self.limit);
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        end
    }

    /// Reads the inside of `$((...))`.
    fn arithmetic(&mut self) {
        let first = self.bytes[self.at];
        let end = self.word_end(self.at);
        if first.is_ascii_digit() {
            self.number();
        } else if end > self.at {
            self.token(class::NAME, end, Previous::Operand);
        } else if first.is_ascii() {
            self.mark();
        } else {
            self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        }
    }

    /// Reads an expansion that begins with `$` or a backquote.
    pub(super) fn expansion(&mut self) {
        let next = self.byte(self.at + 1);
        let nests = self.may_nest();
        match (self.bytes[self.at], next) {
            (b'$', Some(b'{')) if nests => self.parameter(),
            (b'$', Some(b'(')) if nests && self.begins(self.at, "$((") => {
                self.fixed(self.at + 3, Previous::Operator);
                self.push(LexerMode::Arithmetic { depth: 1 });
            }
            (b'$', Some(b'(')) if nests => self.code_within(b'(', 2, 2),
            (b'$', Some(b'a'..=b'z' | b'A'..=b'Z' | b'_')) => {
                self.fixed(self.at + 1, Previous::Operator);
                let end = self.word_end(self.at);
                self.token(class::NAME, end, Previous::Operand);
            }
            (b'$', Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')) => {
                self.fixed(self.at + 1, Previous::Operator);
                self.token(class::NAME, self.at + 1, Previous::Operand);
            }
            _ => self.fixed(self.at + 1, Previous::Operator),
        }
    }

    /// Reads `${x:-y}`: the variable is a name, and the rest are words.
    fn parameter(&mut self) {
        self.code_within(b'{', 2, 2);
        if matches!(self.byte(self.at), Some(b'#' | b'!')) && self.byte(self.at + 1) != Some(b'}') {
            self.fixed(self.at + 1, Previous::Operator);
        }
        let end = self.word_end(self.at);
        if end > self.at {
            self.token(class::NAME, end, Previous::Operand);
        }
        let rest = &self.bytes[self.at..self.limit.min(self.at + 2)];
        let is_operator =
            |byte: &u8| matches!(byte, b':' | b'-' | b'=' | b'+' | b'?' | b'#' | b'%' | b'/' | b'^' | b',' | b'@');
        let length = rest.iter().position(|byte| !is_operator(byte)).unwrap_or(rest.len());
        if length > 0 {
            self.fixed(self.at + length, Previous::Operand);
        }
    }

    fn shell_heredoc(&mut self) -> bool {
        let indented = self.byte(self.at + 2) == Some(b'-');
        let begin = self.at + 2 + usize::from(indented);
        let blanks = self.bytes[begin..self.limit.min(begin + 8)].iter().take_while(|&&byte| byte == b' ').count();
        let mut name = begin + blanks;
        let quote = self.byte(name).filter(|byte| matches!(byte, b'\'' | b'"'));
        let escaped = self.byte(name) == Some(b'\\');
        name += usize::from(quote.is_some() || escaped);
        let begins = self.byte(name).is_some_and(|first| {
            first.is_ascii_alphabetic()
                || b"_!%+.:@".contains(&first)
                || quote.is_some_and(|quote| first.is_ascii_punctuation() && first != quote)
        });
        if !begins {
            return false;
        }
        let in_braces = self.in_braces();
        let ends = |byte: u8| match quote {
            Some(quote) => byte == quote || byte == b'\n',
            None => b" \t\r\n;&|()<>\"'`$\\".contains(&byte) || in_braces && byte == b'}',
        };
        let rest = &self.bytes[name..self.limit];
        let mut end = name + rest.iter().take(LONGEST_NAME).take_while(|&&byte| !ends(byte)).count();
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        let code = if quote.is_some() || escaped { Code::None } else { Code::Shell };
        self.fixed(begin, Previous::Operator);
        // If no here-document begins here, the text after the mark is read as a word.
        self.heredoc(name..end, quote, indented, code);
        true
    }
}
