//! Unit token: turns source code into the tokens of its language.
//!
//! Text is collected, and the [`lexer`] tokenises it by the rules of its language ([`table`]). All names are
//! the same symbol. The symbol of any other token, such as a number, string, keyword or operator, depends on
//! its text. Comments and layout give no symbol. Values do not depend on the language, so translations
//! between similar languages can match. Text in no known language gives words and marks ([`plain`]).

mod class;
mod comments;
mod dialects;
mod language;
mod lexer;
mod lookup;
mod marks;
mod markup;
mod mode;
mod plain;
mod quoted;
mod rules;
mod shell;
mod table;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use super::Sink;
use super::output::ascii_prefix;
use super::piece::TextPiece;
use super::symbols::Symbols;
use super::words::WordMaker;
use crate::document::Language;
pub use language::language_of;
use lookup::Tables;
pub use table::line_comment;

/// Bytes of text collected for the lexer. The lexer leaves a [window](lexer::WINDOW) of them for the next
/// call.
const BATCH: usize = 4 * lexer::WINDOW;

/// Maximum bytes in a piece of text in no known language. Shorter pieces end with their line.
const PIECE_LIMIT: usize = 64 << 10;

/// Turns characters into symbols of unit token.
pub(super) struct Tokens {
    /// A value for each symbol of a document in a known language: the value of its text for a name, otherwise
    /// the symbol's own value. `None` if names are not distinguished.
    names: Option<Vec<u64>>,
    /// True if source code is read as words and marks too.
    as_written: bool,
    language: Option<Language>,
    /// Text that is not tokenised yet.
    pending: TextPiece,
    state: lexer::LexerState,
    words: WordMaker,
    tables: HashMap<Language, Tables>,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self {
            names: None,
            as_written: false,
            language: None,
            pending: TextPiece::default(),
            state: lexer::LexerState::default(),
            words: WordMaker::new(crate::profile::WordRule::Unicode),
            tables: HashMap::new(),
        }
    }

    /// Reads the words and marks of the text instead of tokens, in every language.
    pub(super) fn in_words(self) -> Self {
        Self { as_written: true, ..self }
    }

    /// Also records a second list of values, in which names are distinguished.
    pub(super) fn with_names(self) -> Self {
        Self { names: Some(Vec::new()), ..self }
    }

    /// Takes the values in which names are distinguished, one for each symbol of the document. Empty if the
    /// language is not known, or if [`with_names`](Self::with_names) was not called.
    pub(super) fn take_names(&mut self) -> Vec<u64> {
        self.names.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Sets the language of the next documents; `None` if it is not known.
    pub(super) fn begin(&mut self, language: Option<Language>) {
        self.language = language.filter(|_| !self.as_written);
        if let Some(language) = self.language {
            self.tables.entry(language).or_insert_with(|| Tables::new(language));
        }
    }

    /// Ends the document.
    pub(super) fn end(&mut self, out: &mut Symbols) {
        self.take(true, out);
        self.pending.clear();
        self.state.begin();
    }

    /// Handles new text, or a gap in the text.
    fn grown(&mut self, out: &mut Symbols) {
        if self.language.is_none() || self.pending.text.len() >= BATCH {
            self.take(false, out);
        }
    }

    /// Tokenises the text as far as the result is final.
    fn take(&mut self, ended: bool, out: &mut Symbols) {
        let Self { names, pending, state, words, tables, language, .. } = self;
        let mut names = names.as_mut().filter(|_| language.is_some());
        let mut push = |value, range: Range<usize>| {
            if push(pending, value, range.clone(), out)
                && let Some(names) = &mut names
            {
                names.push(if value == class::NAME { class::value_of_text(&pending.text[range]) } else { value });
            }
        };
        let taken = match language.and_then(|language| tables.get(&language)) {
            Some(tables) => lexer::lex(tables, state, &pending.text, ended, &mut push),
            None => {
                let mut taken = 0;
                while let Some(length) = piece(&pending.text[taken..], ended) {
                    plain::tokens(words, &pending.text[taken..taken + length], taken, &mut push);
                    taken += length;
                }
                taken
            }
        };
        pending.discard_front(taken);
    }
}

impl Sink for Tokens {
    fn text(&mut self, text: &str, at: u64, out: &mut Symbols) {
        self.pending.push(text, at, at + text.len() as u64);
        self.grown(out);
    }

    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols) {
        self.pending.push(c.encode_utf8(&mut [0; 4]), start, end);
        self.grown(out);
    }

    fn cut(&mut self, out: &mut Symbols) {
        // A space with no bytes of origin. Outside strings and comments, it separates tokens.
        let at = self.pending.runs.last().map_or(0, |run| run.end);
        self.pending.push(" ", at, at);
        self.grown(out);
    }
}

/// Appends a token, unless it has no bytes of origin because it comes from a gap. Returns whether it was
/// appended.
fn push(text: &TextPiece, value: u64, range: Range<usize>, out: &mut Symbols) -> bool {
    let origin = text.origin(range);
    if !origin.is_empty() {
        out.push(value, origin.start, origin.end);
    }
    !origin.is_empty()
}

/// Length of the first piece of text in no known language: ASCII lines, a line, or whole words of a long
/// line. `None` while the piece is incomplete. The tokens depend only on the text, because no token crosses
/// lines.
fn piece(text: &str, ended: bool) -> Option<usize> {
    let window = &text.as_bytes()[..text.len().min(PIECE_LIMIT)];
    if let Some(newline) = memchr::memrchr(b'\n', ascii_prefix(window).as_bytes()) {
        return Some(newline + 1);
    }
    if let Some(newline) = memchr::memchr(b'\n', window) {
        return Some(newline + 1);
    }
    if text.len() > PIECE_LIMIT {
        let cut = (0..=PIECE_LIMIT).rfind(|&length| text.is_char_boundary(length))?;
        return Some(text[..cut].rfind(char::is_whitespace).filter(|&blank| blank > 0).unwrap_or(cut));
    }
    (ended && !text.is_empty()).then_some(text.len())
}
