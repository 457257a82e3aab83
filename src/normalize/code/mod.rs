//! Unit token: source code as the symbols of its language.
//!
//! A document is gathered, parsed by the grammar of its language (tree-sitter), and the leaves of the tree are its
//! symbols: names are one symbol, whatever the name, numbers one, strings one; keywords, operators and marks are
//! themselves; comments and layout are nothing. Values depend on no language, so a translation between two that
//! look alike can match. What has no grammar, or costs its parser too much, is read by the [`lexer`].

mod class;
mod grammar;
mod language;
mod lexer;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use tree_sitter::{ParseOptions, ParseState, Parser, Point, Tree};

use super::Sink;
use super::piece::Piece;
use super::symbols::Symbols;
use super::words::WordMaker;
use crate::document::Language;
use grammar::Grammar;
pub use language::language_of;
use lexer::Lexer;
use tree::Found;

/// The largest document that is parsed, in bytes of memory for its text and where it came from. A larger one is read by
/// the lexer, a piece at a time.
const PARSE_LIMIT: usize = 2 << 20;

/// Bytes of text in a piece for the lexer, at most; pieces end with their line otherwise.
const PIECE_LIMIT: usize = 64 << 10;

/// Bytes handed to the parser at a time.
const CHUNK: usize = 256;

/// Turns characters into symbols of unit token.
pub(super) struct Tokens {
    language: Option<Language>,
    /// The whole document so far, or what the last line end or cut has left of it.
    pending: Piece,
    /// The document goes to the lexer as it comes.
    streams: bool,
    lexer: Lexer,
    words: WordMaker,
    parser: Parser,
    grammars: HashMap<Language, Grammar>,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self {
            language: None,
            pending: Piece::default(),
            streams: true,
            lexer: Lexer::default(),
            words: WordMaker::new(crate::profile::WordRule::Unicode),
            parser: Parser::new(),
            grammars: HashMap::new(),
        }
    }

    /// Says which language the next documents are in; `None` where it is not known.
    pub(super) fn begin(&mut self, language: Option<Language>) {
        self.language = language;
        self.streams = language.is_none_or(|language| {
            self.grammars.entry(language).or_insert_with(|| Grammar::new(language)).parser.is_none()
        });
    }

    /// The document has no more.
    pub(super) fn end(&mut self, out: &mut Symbols) {
        if !self.streams && self.parse(out).is_none() {
            self.streams = true;
        }
        if self.streams {
            self.lex_pieces(true, out);
        }
        self.pending.clear();
        self.lexer = Lexer::default();
        self.begin(self.language);
    }

    /// Text has come, or what stands for a gap.
    fn grown(&mut self, out: &mut Symbols) {
        if !self.streams && self.pending.text.len() + size_of_val(self.pending.runs.as_slice()) > PARSE_LIMIT {
            self.streams = true;
        }
        if self.streams {
            self.lex_pieces(false, out);
        }
    }

    /// Gives the pieces that are complete to the lexer, or all there is.
    fn lex_pieces(&mut self, all: bool, out: &mut Symbols) {
        let Self { pending, lexer, words, grammars, language, .. } = self;
        let grammar = language.and_then(|language| grammars.get(&language));
        let mut from = 0;
        while let Some((length, is_cut)) = piece(&pending.text[from..], all) {
            let mut push = |value, range| push(pending, value, range, out);
            from = lexer.lex(grammar, words, &pending.text, from..from + length, is_cut, &mut push);
        }
        pending.discard_front(from);
    }

    /// Parses the document and gives its tokens; `None` if that costs too much.
    fn parse(&mut self, out: &mut Symbols) -> Option<()> {
        let Self { pending, lexer, words, grammars, language, parser, .. } = self;
        let grammar = language.and_then(|language| grammars.get(&language))?;
        let tree = parse(parser, grammar, &pending.text)?;
        let mut push = |value, range| push(pending, value, range, out);
        tree::walk(&tree, &pending.text, grammar, &mut |found, range| match found {
            Found::Token(value) => push(value, range),
            Found::Text => {
                *lexer = Lexer::default();
                lexer.lex(Some(grammar), words, &pending.text, range, false, &mut push);
            }
        });
        Some(())
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

/// Adds a token; what a gap alone has brought about is none.
fn push(text: &Piece, value: u64, range: Range<usize>, out: &mut Symbols) {
    let origin = text.origin(range);
    if !origin.is_empty() {
        out.push(value, origin.start, origin.end);
    }
}

/// The length of the piece that `text` begins with, and whether it is cut there and not at the end of a line; `None`
/// while it is not complete. It depends on the text alone.
fn piece(text: &str, all: bool) -> Option<(usize, bool)> {
    let window = &text.as_bytes()[..text.len().min(PIECE_LIMIT)];
    if let Some(newline) = memchr::memchr(b'\n', window) {
        return Some((newline + 1, false));
    }
    if text.len() > PIECE_LIMIT {
        return (0..=PIECE_LIMIT).rfind(|&length| text.is_char_boundary(length)).map(|length| (length, true));
    }
    (all && !text.is_empty()).then_some((text.len(), false))
}

/// Parses; `None` when it takes more than its share of steps or reads more than its share of text, both of which are
/// counted, so that the outcome depends on the text alone.
fn parse(parser: &mut Parser, grammar: &Grammar, text: &str) -> Option<Tree> {
    parser.set_language(grammar.parser.as_ref()?).ok()?;
    let steps = std::cell::Cell::new(100 + text.len() / 32);
    let reads = std::cell::Cell::new(1000 + 8 * (text.len() / CHUNK));
    let mut read = |at: usize, _: Point| {
        reads.set(reads.get().saturating_sub(1));
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        // Without text the parser soon ends.
        if reads.get() == 0 { &[] } else { &rest[..rest.len().min(CHUNK)] }
    };
    let mut progress = |_: &ParseState| {
        steps.set(steps.get().saturating_sub(1));
        if steps.get() == 0 || reads.get() == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| reads.get() > 0);
    parser.reset();
    tree
}
