//! Unit token: source code as the symbols of its language.
//!
//! Text is gathered, and the [`lexer`] takes it apart by the rules of its language ([`table`]): names are one symbol,
//! whatever the name; numbers and strings are their text; keywords, operators and marks are themselves; comments and
//! layout are nothing. Values depend on no language, so a translation between two that look alike can match. Text in
//! no known language is words and marks ([`plain`]).

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
use super::piece::TextPiece;
use super::symbols::Symbols;
use super::words::WordMaker;
use crate::document::Language;
pub use language::language_of;
use lookup::Tables;

/// Bytes of text that are gathered for the lexer, which then leaves a [window](lexer::WINDOW) of them.
const BATCH: usize = 4 * lexer::WINDOW;

/// Bytes in a piece of text in no known language, at most; pieces end with their line otherwise.
const PIECE_LIMIT: usize = 64 << 10;

/// Turns characters into symbols of unit token.
pub(super) struct Tokens {
    /// Where names are told apart, a value for each symbol of a document in a known language: the symbol's own, and of a name that
    /// of its text.
    names: Option<Vec<u64>>,
    language: Option<Language>,
    /// The text that is not taken apart yet.
    pending: TextPiece,
    state: lexer::LexerState,
    words: WordMaker,
    tables: HashMap<Language, Tables>,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self {
            names: None,
            language: None,
            pending: TextPiece::default(),
            state: lexer::LexerState::default(),
            words: WordMaker::new(crate::profile::WordRule::Unicode),
            tables: HashMap::new(),
        }
    }

    /// The same tokens, and their values with names told apart.
    pub(super) fn with_names(self) -> Self {
        Self { names: Some(Vec::new()), ..self }
    }

    /// The values of the document's symbols with names told apart: one a symbol, or none at all where its language is not known or names
    /// were not asked for.
    pub(super) fn take_names(&mut self) -> Vec<u64> {
        self.names.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Says which language the next documents are in; `None` where it is not known.
    pub(super) fn begin(&mut self, language: Option<Language>) {
        self.language = language;
        if let Some(language) = language {
            self.tables.entry(language).or_insert_with(|| Tables::new(language));
        }
    }

    /// The document has no more.
    pub(super) fn end(&mut self, out: &mut Symbols) {
        self.take(true, out);
        self.pending.clear();
        self.state.begin();
    }

    /// Text has come, or what stands for a gap.
    fn grown(&mut self, out: &mut Symbols) {
        if self.language.is_none() || self.pending.text.len() >= BATCH {
            self.take(false, out);
        }
    }

    /// Takes the text apart, as far as it is certain.
    fn take(&mut self, ended: bool, out: &mut Symbols) {
        let Self { names, pending, state, words, tables, language } = self;
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
        // A space, which no byte stands for: nothing joins across it, but in a string or a comment.
        let at = self.pending.runs.last().map_or(0, |run| run.end);
        self.pending.push(" ", at, at);
        self.grown(out);
    }
}

/// Adds a token; what a gap alone has brought about is none. Returns true if it was added.
fn push(text: &TextPiece, value: u64, range: Range<usize>, out: &mut Symbols) -> bool {
    let origin = text.origin(range);
    if !origin.is_empty() {
        out.push(value, origin.start, origin.end);
    }
    !origin.is_empty()
}

/// The length of the piece that text in no known language begins with: a line, or of a long one the whole words; `None`
/// while it is not complete. It depends on the text alone.
fn piece(text: &str, ended: bool) -> Option<usize> {
    let window = &text.as_bytes()[..text.len().min(PIECE_LIMIT)];
    if let Some(newline) = memchr::memchr(b'\n', window) {
        return Some(newline + 1);
    }
    if text.len() > PIECE_LIMIT {
        let cut = (0..=PIECE_LIMIT).rfind(|&length| text.is_char_boundary(length))?;
        return Some(text[..cut].rfind(char::is_whitespace).filter(|&blank| blank > 0).unwrap_or(cut));
    }
    (ended && !text.is_empty()).then_some(text.len())
}
