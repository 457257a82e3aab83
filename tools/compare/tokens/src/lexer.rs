//! Finds tokens without a grammar: in text of an unknown language, in text that a parser cannot parse, and in
//! documents too large to parse.
//!
//! If the language is known, its keywords and operators are those of its grammar, and other words are names.
//! So the tokens are mostly those of the parser. If the language is unknown, the value of a word or
//! punctuation mark is that of its standard form, and nothing is a comment.

use std::ops::Range;

use crate::class;
use crate::grammar::Grammar;
use kernel::Language;

/// Divides text into tokens. Use one lexer for each document: it remembers a comment that continues in the
/// next piece.
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
    /// Emits the tokens of `text[range]`, in order, with their places in `text`.
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
                // The next call reads this token whole, unless it is as long as a piece.
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
        // Commands look like names, so each word has its own value.
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
            // A single quote can begin a lifetime, so it begins no string.
            Language::Rust => (&["//"], true, b"\""),
            Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Go => (&["//"], true, b"\"'`"),
            _ => (&["//"], true, b"\"'"),
        };
        Self { line_comments, block_comments, quotes }
    }

    /// The length of the string at the start of `text`. The string ends in its line, or continues after a
    /// cut.
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

/// True if the character can be part of a word.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The length of the number at the start of `text`: digits, letters (`0x1F`, `10L`), underscores, one point
/// at a time.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut at = 1;
    while digit(at) || bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// The length of the mark at the start of `text`: the longest mark of the grammar that fits, else one
/// character.
fn mark(grammar: &Grammar, text: &str) -> usize {
    (2..=4)
        .rev()
        .find(|&length| text.get(..length).is_some_and(|mark| grammar.is_fixed(mark)))
        .unwrap_or_else(|| text.chars().next().map_or(1, char::len_utf8))
}

