//! Tokens without a grammar's help: for text of no known language, for what a parser could make nothing of, and for
//! documents too large to be parsed.
//!
//! Where the language is known, its keywords and operators are those of its grammar, and other words are names, so that
//! the tokens are mostly those of the parser. Where it is not, words have their own values, in standard form, as
//! have punctuation marks, and nothing is a comment.

use std::ops::Range;

use crate::class;
use crate::grammar::Grammar;
use kernel::Language;

/// Takes text apart. One for a document: it remembers a comment that goes on after a piece.
#[derive(Default)]
pub(super) struct Lexer {
    /// Within a comment between `/*` and `*/`.
    in_comment: bool,
}

/// The marks of comments and strings of a language.
struct Marks {
    line_comments: &'static [&'static str],
    block_comments: bool,
    quotes: &'static [u8],
}

impl Lexer {
    /// Gives the tokens of `text[range]`, in order, with their places in `text`.
    pub(super) fn lex(&mut self, grammar: &Grammar, text: &str, range: Range<usize>, emit: &mut impl FnMut(u64, Range<usize>)) {
        self.known(grammar, &text[..range.end], range.start, false, emit);
    }

    fn known(
        &mut self,
        grammar: &Grammar,
        text: &str,
        start: usize,
        is_cut: bool,
        emit: &mut impl FnMut(u64, Range<usize>),
    ) -> usize {
        let marks = Marks::of(grammar.language);
        let mut at = start;
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            if self.in_comment {
                let end = rest.find("*/");
                self.in_comment = end.is_none();
                at += end.map_or(rest.len(), |end| end + 2);
                continue;
            }
            let (length, value) = if first.is_whitespace() || first == '\\' && rest[1..].starts_with(['\n', '\r']) {
                (first.len_utf8(), None)
            } else if marks.line_comments.iter().any(|mark| rest.starts_with(mark)) {
                (memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()), None)
            } else if marks.block_comments && rest.starts_with("/*") {
                self.in_comment = true;
                (2, None)
            } else if first.is_ascii_digit() {
                let length = number(rest);
                (length, Some(class::value_of_literal(&rest[..length])))
            } else if is_word(first) {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                (length, Some(word(grammar, &rest[..length])))
            } else if let Some(length) = marks.string(rest, is_cut) {
                (length, Some(class::value_of_literal(&rest[..length])))
            } else {
                let length = mark(grammar, rest);
                let mark = &rest[..length];
                (length, (!class::is_layout(mark)).then(|| class::value_of_text(mark)))
            };
            if is_cut && length == rest.len() && at > start {
                // Whole next time, unless it is as long as a piece.
                return at;
            }
            if let Some(value) = value {
                emit(value, at..at + length);
            }
            at += length;
        }
        at
    }
}

fn word(grammar: &Grammar, word: &str) -> u64 {
    match grammar.language {
        // Commands are words as names are.
        Language::Bash => class::value_of_text(word),
        Language::Sql if grammar.is_fixed(&word.to_ascii_lowercase()) => {
            class::value_of_text(&word.to_ascii_lowercase())
        }
        _ if grammar.is_fixed(word) => class::value_of_text(word),
        _ => class::NAME,
    }
}

impl Marks {
    fn of(language: Language) -> Self {
        let (line_comments, block_comments, quotes): (&[&str], _, &[u8]) = match language {
            Language::Python | Language::Ruby | Language::Bash => (&["#"], false, b"\"'"),
            Language::Php => (&["//", "#"], true, b"\"'"),
            Language::Sql => (&["--"], true, b"'\"`"),
            // A quote begins a lifetime, or ends no string.
            Language::Rust => (&["//"], true, b"\""),
            Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Go => (&["//"], true, b"\"'`"),
            _ => (&["//"], true, b"\"'"),
        };
        Self { line_comments, block_comments, quotes }
    }

    /// The length of the string that `text` begins with; it ends in its line, or goes on after a cut.
    fn string(&self, text: &str, is_cut: bool) -> Option<usize> {
        let bytes = text.as_bytes();
        let quote = *bytes.first().filter(|quote| self.quotes.contains(quote))?;
        let mut at = 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\n' => return None,
                b'\\' => at += 1,
                _ if byte == quote => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        is_cut.then_some(text.len())
    }
}

/// True if a word can have it.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The length of the number that `text` begins with: digits, letters (`0x1F`, `10L`), underscores, one point at a time.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut at = 1;
    while digit(at) || bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// The length of the mark that `text` begins with: the longest the grammar has, else one character.
fn mark(grammar: &Grammar, text: &str) -> usize {
    (2..=4)
        .rev()
        .find(|&length| text.get(..length).is_some_and(|mark| grammar.is_fixed(mark)))
        .unwrap_or_else(|| text.chars().next().map_or(1, char::len_utf8))
}

