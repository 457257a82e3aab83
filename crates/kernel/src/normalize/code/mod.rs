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
mod constructs;
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

/// Bytes of text collected for the lexer. The lexer leaves a [window](lexer::WINDOW) of these bytes for the
/// next call.
const BATCH: usize = 4 * lexer::WINDOW;

/// Maximum bytes in a piece of text in no known language. Shorter pieces end with their line.
const PIECE_LIMIT: usize = 64 << 10;

/// The character that ends a program within a document, such as a cell of a notebook. It closes all strings,
/// comments and brackets that are open, and gives no symbol. Unicode reserves this character and defines it
/// as invisible.
pub const PROGRAM_END: &str = "\u{FFF0}";

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
    /// Number of bytes and runs of text that calls of [`take`](Self::take) went through.
    #[cfg(test)]
    work: usize,
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
            #[cfg(test)]
            work: 0,
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

    /// Removes and returns the values in which names are distinguished, one for each symbol of the document.
    /// Empty if the language is not known, or if [`with_names`](Self::with_names) was not called.
    pub(super) fn take_names(&mut self) -> Vec<u64> {
        self.names.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Offset of the text that is not tokenised yet.
    pub(super) fn held_from(&self) -> Option<u64> {
        self.pending.start()
    }

    /// Sets the language of the next documents; `None` if it is not known.
    pub(super) fn begin(&mut self, language: Option<Language>) {
        self.language = language.filter(|_| !self.as_written);
        if let Some(language) = self.language {
            self.tables.entry(language).or_insert_with(|| Tables::new(language));
        }
    }

    /// Ends the document, or a program within it.
    pub(super) fn end(&mut self, out: &mut Symbols) {
        self.take(true, out);
        self.pending.clear();
        self.state.begin();
    }

    /// Appends text of origin `start..end`, or a gap in the text.
    fn append(&mut self, text: &str, start: u64, end: u64, out: &mut Symbols) {
        let from = self.pending.text.len();
        self.pending.push(text, start, end);
        let length = self.pending.text.len();
        let is_ready = match self.language {
            Some(_) => {
                replace_lone_returns(&mut self.pending.text, from);
                length >= BATCH
            }
            // A call of `take` searches all pending text, so `take` must not be called for each character.
            None => length > PIECE_LIMIT || memchr::memchr(b'\n', text.as_bytes()).is_some(),
        };
        if is_ready {
            self.take(false, out);
        }
    }

    /// Tokenises the text as far as the result is final.
    fn take(&mut self, ended: bool, out: &mut Symbols) {
        #[cfg(test)]
        {
            self.work += self.pending.text.len() + self.pending.runs.len();
        }
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
    fn text(&mut self, mut text: &str, mut at: u64, out: &mut Symbols) {
        while self.language.is_some()
            && let Some(length) = memchr::memmem::find(text.as_bytes(), PROGRAM_END.as_bytes())
        {
            self.append(&text[..length], at, at + length as u64, out);
            self.end(out);
            text = &text[length + PROGRAM_END.len()..];
            at += (length + PROGRAM_END.len()) as u64;
        }
        self.append(text, at, at + text.len() as u64, out);
    }

    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols) {
        match &*c.encode_utf8(&mut [0; 4]) {
            PROGRAM_END if self.language.is_some() => self.end(out),
            text => self.append(text, start, end, out),
        }
    }

    fn cut(&mut self, out: &mut Symbols) {
        // A space with no bytes of origin. Outside strings and comments, it separates tokens.
        let at = self.pending.runs.last().map_or(0, |run| run.end);
        self.append(" ", at, at, out);
    }
}

/// Appends a token, unless it has no bytes of origin because it comes from a gap. Returns true if the token
/// was appended.
fn push(text: &TextPiece, value: u64, range: Range<usize>, out: &mut Symbols) -> bool {
    let origin = text.origin(range);
    if !origin.is_empty() {
        out.push(value, origin.start, origin.end);
    }
    !origin.is_empty()
}

/// Replaces each carriage return by a newline, unless a newline follows it. Begins at the byte before `from`.
/// A carriage return at the end of the text is decided with the next text. Until then the lexer does not read
/// that byte.
fn replace_lone_returns(text: &mut String, from: usize) {
    let mut at = from.saturating_sub(1);
    while let Some(found) = memchr::memchr(b'\r', &text.as_bytes()[at..]) {
        at += found + 1;
        if text.as_bytes().get(at).is_some_and(|&next| next != b'\n') {
            text.replace_range(at - 1..at, "\n");
        }
    }
}

/// Length of the first piece of text in no known language. A piece is several ASCII lines, one line, or whole
/// words of a long line. `None` while the piece is incomplete. The tokens depend only on the text, because no
/// token crosses lines.
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
