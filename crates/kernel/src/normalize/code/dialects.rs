//! Constructs of single languages: strings of C# and Swift, variables of PHP, here-documents, symbols of
//! Ruby.

use std::ops::Range;

use super::class;
use super::lexer::Lexer;
use super::mode::{LONGEST_END, LexerMode, Previous, Quoted};
use super::quoted::LONGEST_NAME;
use super::rules::{Code, Escape, Quote};

/// Maximum number of here-documents that begin on one line.
const HEREDOCS: usize = 8;

/// The longest sequence of quotes that is read as one beginning of a raw string of C#.
const QUOTES: &str = "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"";
const _: () = assert!(QUOTES.len() == LONGEST_END);

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    /// Reads `@"..."`, `$"..."`, both together, a raw string, or `@name` (C#). Returns false if none of these
    /// begins here.
    pub(super) fn c_sharp(&mut self, first: u8) -> bool {
        let marks = self.bytes[self.at..self.limit]
            .iter()
            .take(LONGEST_END)
            .take_while(|byte| matches!(byte, b'@' | b'$'))
            .count();
        let quote = self.at + marks;
        if self.byte(quote) == Some(b'"') {
            let marks = &self.bytes[self.at..quote];
            let is_verbatim = marks.contains(&b'@');
            let dollars = marks.iter().filter(|&&byte| byte == b'$').count();
            let long = !is_verbatim && self.begins(quote, "\"\"\"");
            // A raw string ends with as many quotes as it begins with.
            let quotes = self.bytes[quote..self.limit].iter().take(QUOTES.len()).take_while(|&&byte| byte == b'"');
            let open = if long { &QUOTES[..quotes.count()] } else { "\"" };
            let escape = match (is_verbatim, long) {
                (true, _) => Escape::Doubled,
                (_, true) => Escape::None,
                _ => Escape::Backslash,
            };
            // After two or more dollars, embedded code begins with the same number of braces. Such code is
            // read as text.
            let code = if dollars == 1 { Code::Brace } else { Code::None };
            self.quoted(
                Quoted::of(Quote { open, lines: is_verbatim || long, escape, code }),
                self.at,
                quote + open.len(),
            );
            return true;
        }
        let end = self.word_end(self.at + 1);
        let is_name = first == b'@' && end > self.at + 1;
        if is_name {
            self.token(class::NAME, end, Previous::Operand);
        }
        is_name
    }

    /// Reads `#"..."#` (Swift). Returns false if no such string begins here.
    pub(super) fn hashed_string(&mut self) -> bool {
        let hashes = self.bytes[self.at..self.limit].iter().take(LONGEST_END).take_while(|&&byte| byte == b'#').count();
        let quote = self.at + hashes;
        if hashes + 3 > LONGEST_END || self.byte(quote) != Some(b'"') {
            return false;
        }
        let quotes = if self.begins(quote, "\"\"\"") { 3 } else { 1 };
        let mut close = vec![b'"'; quotes];
        close.resize(quotes + hashes, b'#');
        let mut quoted = Quoted::raw(&close);
        quoted.lines = quotes == 3;
        self.quoted(quoted, self.at, quote + quotes);
        true
    }

    /// Reads a variable, the end of the code, or a here-document (PHP). Returns false if none of these begins
    /// here.
    pub(super) fn php(&mut self, first: u8) -> bool {
        match first {
            b'$' => {
                let end = self.word_end(self.at + 1);
                let is_name = end > self.at + 1 && !matches!(self.byte(self.at + 1), Some(b'0'..=b'9'));
                if is_name {
                    self.token(class::NAME, end, Previous::Operand);
                }
                is_name
            }
            b'?' if self.byte(self.at + 1) == Some(b'>') => {
                self.at += 2;
                self.state.modes.clear();
                self.push(LexerMode::Page);
                true
            }
            b'<' if self.begins(self.at, "<<<") => {
                let mut begin = self.at + 3;
                while matches!(self.byte(begin), Some(b' ' | b'\t')) && begin < self.at + 8 {
                    begin += 1;
                }
                let quote = self.byte(begin).filter(|byte| matches!(byte, b'\'' | b'"'));
                begin += usize::from(quote.is_some());
                let code = if quote == Some(b'\'') { Code::None } else { Code::Php };
                self.heredoc(begin..self.word_end(begin), quote, true, code)
            }
            _ => false,
        }
    }

    /// Begins a here-document with this name. Its text begins on the next line. Returns false if no
    /// here-document begins here.
    pub(super) fn heredoc(&mut self, name: Range<usize>, quote: Option<u8>, indented: bool, code: Code) -> bool {
        let end = name.end;
        let name = &self.text[name.start.min(end)..end];
        let closes = quote.is_none_or(|quote| self.byte(end) == Some(quote));
        if name.is_empty() || name.len() > LONGEST_NAME / 2 || !closes || name.as_bytes()[0].is_ascii_digit() {
            return false;
        }
        if self.state.heredocs.len() < HEREDOCS && self.may_nest() {
            let quoted = Quoted::heredoc(name, indented, code);
            // At the end of the line, the mode of the last here-document is pushed first, so that the first
            // one is the innermost.
            self.state.heredocs.push(quoted);
        }
        self.passed(end + usize::from(quote.is_some()), Previous::Operand);
        true
    }

    /// Reads a symbol, variable, here-document, `%` literal, character or block comment (Ruby). Returns false
    /// if none begins here.
    pub(super) fn ruby(&mut self, first: u8) -> bool {
        let next = self.byte(self.at + 1);
        let letter = |byte: Option<u8>| matches!(byte, Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80..));
        let after_blank = matches!(self.before(), b' ' | b'\t' | b'\n');
        let before_blank = matches!(next, None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'='));
        let operand = match self.state.previous {
            Previous::Operator => true,
            Previous::Name => after_blank && !before_blank,
            Previous::Operand | Previous::Member => false,
        };
        match first {
            b'=' if self.state.line_start && after_blank && self.begins(self.at, "=begin") => {
                self.push(LexerMode::BlockComment { depth: 0 });
                self.at += "=begin".len();
            }
            b'@' | b'$' => {
                let begin = self.at + 1 + usize::from(next == Some(b'@'));
                let mut end = self.word_end(begin);
                if end == begin && first == b'$' && matches!(next, Some(b'!'..=b'/' | b':'..=b'@' | b'`')) {
                    // After `$@`, this takes one character too many. A correction would change the hashes of
                    // existing databases, and the error hides no code.
                    end = begin + usize::from(self.byte(begin).is_some_and(|byte| byte.is_ascii()));
                }
                if end <= begin {
                    return false;
                }
                self.token(class::NAME, end, Previous::Operand);
            }
            b':' if letter(next) => {
                let mut end = self.word_end(self.at + 1);
                if matches!(self.byte(end), Some(b'?' | b'!' | b'='))
                    && !matches!(self.byte(end + 1), Some(b'=' | b'>' | b'~'))
                {
                    end += 1;
                }
                self.token(class::NAME, end, Previous::Operand);
            }
            b':' if operand && matches!(next, Some(b'"' | b'\'')) => {
                let quote = if next == Some(b'"') { "\"" } else { "'" };
                let code = if next == Some(b'"') { Code::Hash } else { Code::None };
                let quote = Quote { open: quote, lines: true, escape: Escape::Backslash, code };
                self.quoted(Quoted::of(quote), self.at, self.at + 2);
            }
            b':' if operand
                && matches!(
                    next,
                    Some(
                        b'+' | b'-' | b'*' | b'/' | b'<' | b'=' | b'>' | b'!' | b'%' | b'&' | b'|' | b'^' | b'~' | b'['
                    )
                ) =>
            {
                let (length, _) = self.tables.mark(&self.bytes[self.at + 1..self.limit]);
                let pair = usize::from(self.begins(self.at + 1, "[]"));
                self.token(class::NAME, self.at + 1 + length + pair, Previous::Operand);
            }
            b'?' if operand && next.is_some_and(|byte| byte.is_ascii_graphic()) && !letter(self.byte(self.at + 2)) => {
                let end = self.at + 2;
                let value = class::value_of_literal(&self.text[self.at..end]);
                self.token(value, end, Previous::Operand);
            }
            b'<' if self.begins(self.at, "<<") => {
                let marked = matches!(self.byte(self.at + 2), Some(b'~' | b'-'));
                let mut begin = self.at + 2 + usize::from(marked);
                let quote = self.byte(begin).filter(|byte| matches!(byte, b'\'' | b'"' | b'`'));
                begin += usize::from(quote.is_some());
                let capital = matches!(self.byte(begin), Some(b'A'..=b'Z'));
                if !(marked && (letter(self.byte(begin))) || operand && (capital || quote.is_some())) {
                    return false;
                }
                let code = if quote == Some(b'\'') { Code::None } else { Code::Hash };
                return self.heredoc(begin..self.word_end(begin), quote, marked, code);
            }
            b'%' if operand => return self.percent(),
            _ => return false,
        }
        true
    }

    /// Reads `%w[...]`, `%q(...)` or `%(...)` (Ruby). Returns false if no such literal begins here.
    fn percent(&mut self) -> bool {
        let kind = self.byte(self.at + 1).filter(u8::is_ascii_alphabetic);
        let begin = self.at + 1 + usize::from(kind.is_some());
        let Some(open) = self.byte(begin) else { return false };
        let known = kind.is_none_or(|kind| b"wWiIqQrsx".contains(&kind));
        if !known || !matches!(open, b'(' | b'[' | b'{' | b'<' | b'|' | b'!' | b'/' | b'-') {
            return false;
        }
        let code = if matches!(kind, Some(b'w' | b'i' | b'q' | b's')) { Code::None } else { Code::Hash };
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            same => same,
        };
        self.quoted(Quoted::between(open, close, code), self.at, begin + 1);
        true
    }
}
