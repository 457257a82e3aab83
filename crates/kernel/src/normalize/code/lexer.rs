//! Lexer: tokenises a document in a known language by the rules of that language.
//!
//! The lexer is a state machine. [`LexerState`] holds the surroundings of the text (code, a string, a
//! comment, markup). Each step takes one token, or part of a long one. A step reads at most [`WINDOW`] bytes,
//! and consumes all these bytes except a bounded look-ahead. So time is linear in the bytes, for any input.
//! Nesting is a list of at most [`DEPTH`] entries, not a recursion.

use std::ops::Range;

use super::class;
use super::lookup::{Start, Tables};
use super::mode::{LexerMode, Previous, Quoted};
use super::rules::{Dialect, Import};

/// Maximum bytes of text that one step reads. A longer string becomes several tokens.
pub(super) const WINDOW: usize = 64 << 10;

/// Maximum nesting of code in strings in code. Deeper code is treated as text of its string.
pub(super) const DEPTH: usize = 64;

/// State that the lexer keeps between steps.
pub(super) struct LexerState {
    pub(super) modes: Vec<LexerMode>,
    pub(super) previous: Previous,
    /// True if only blanks were read so far on this line.
    pub(super) line_start: bool,
    /// True if a statement may begin here.
    pub(super) statement: bool,
    /// Number of open brackets, not counting brackets in strings.
    pub(super) brackets: u32,
    pub(super) import: Option<(Import, u32)>,
    /// Here-documents whose text begins on the next line.
    pub(super) heredocs: Vec<Quoted>,
    /// Bytes of the document before the text.
    pub(super) offset: u64,
    /// True after the words `if`, `while`, `for` and `with` of JavaScript, and after the brackets of their
    /// conditions. There `/` begins a regular expression.
    pub(super) condition: bool,
    /// One bit for each open round bracket, the innermost lowest: 1 if the bracket holds a condition.
    pub(super) conditions: u64,
    /// Before this offset, no `/` begins a regular expression, because a search up to this offset found no
    /// end of a regular expression.
    pub(super) no_regex_before: u64,
    /// The byte before the text.
    before: u8,
    /// True if a part of the document was read.
    begun: bool,
    /// Number of bytes read, counting repeated reads.
    #[cfg(test)]
    pub(super) work: std::cell::Cell<u64>,
}

impl Default for LexerState {
    fn default() -> Self {
        Self {
            modes: Vec::new(),
            previous: Previous::Operator,
            line_start: true,
            statement: true,
            brackets: 0,
            import: None,
            heredocs: Vec::new(),
            condition: false,
            conditions: 0,
            offset: 0,
            no_regex_before: 0,
            before: b'\n',
            begun: false,
            #[cfg(test)]
            work: std::cell::Cell::default(),
        }
    }
}

impl LexerState {
    /// Starts a document.
    pub(super) fn begin(&mut self) {
        *self = Self { modes: std::mem::take(&mut self.modes), ..Self::default() };
        self.modes.clear();
    }
}

/// Emits the tokens of `text` in order, with their ranges in it. Returns the number of bytes consumed: all of
/// them if the document has `ended`, otherwise all but at most [`WINDOW`] bytes.
pub(super) fn lex(
    tables: &Tables,
    state: &mut LexerState,
    text: &str,
    ended: bool,
    emit: &mut impl FnMut(u64, Range<usize>),
) -> usize {
    if !ended && text.len() <= WINDOW {
        return 0;
    }
    if !state.begun {
        let head = &text.as_bytes()[..text.len().min(WINDOW)];
        if tables.rules.dialect == Dialect::Php && memchr::memmem::find(head, b"<?").is_some() {
            state.modes.push(LexerMode::Page);
        } else if head.starts_with(b"#!/") || head.starts_with(b"#! ") {
            // The line that names the interpreter.
            state.modes.push(LexerMode::LineComment);
        }
    }
    state.begun = true;
    let mut lexer = Lexer { tables, state, text, bytes: text.as_bytes(), at: 0, limit: 0, emit };
    while lexer.at < text.len() && (ended || text.len() - lexer.at > WINDOW) {
        lexer.limit = text.len().min(lexer.at + WINDOW);
        while !text.is_char_boundary(lexer.limit) {
            lexer.limit -= 1;
        }
        lexer.step();
    }
    let at = lexer.at;
    state.offset += at as u64;
    if let Some(last) = at.checked_sub(1) {
        state.before = text.as_bytes()[last];
    }
    at
}

pub(super) struct Lexer<'a, F> {
    pub(super) tables: &'a Tables,
    pub(super) state: &'a mut LexerState,
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    /// Offset of the next byte to read.
    pub(super) at: usize,
    /// End of the text that this step may read.
    pub(super) limit: usize,
    emit: &'a mut F,
}

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    /// Consumes at least one byte.
    fn step(&mut self) {
        match self.state.modes.last_mut() {
            None | Some(LexerMode::Code { .. } | LexerMode::Arithmetic { .. }) => self.code(),
            Some(LexerMode::Quoted(_)) => self.quoted_on(),
            Some(LexerMode::LineComment) => self.line_comment(),
            Some(LexerMode::BlockComment { .. }) => self.block_comment(),
            Some(LexerMode::Markup(_)) => self.markup(),
            Some(LexerMode::Page) => self.page(),
            Some(LexerMode::Rest) => self.at = self.limit,
        }
    }

    /// Counts bytes that are read, for the tests of linear time.
    #[inline]
    pub(super) fn look(&self, _bytes: usize) {
        #[cfg(test)]
        self.state.work.set(self.state.work.get() + _bytes as u64);
    }

    /// The byte at `at`, if this step may read it.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.look(1);
        if at < self.limit { self.bytes.get(at).copied() } else { None }
    }

    /// The byte before the next one. At the start of the document it is a newline.
    pub(super) fn before(&self) -> u8 {
        if self.at == 0 { self.state.before } else { self.bytes[self.at - 1] }
    }

    #[inline]
    pub(super) fn begins(&self, at: usize, with: &str) -> bool {
        self.bytes.get(at..self.limit).is_some_and(|rest| rest.starts_with(with.as_bytes()))
    }

    /// Emits a token that ends at `end`, and continues there.
    #[inline]
    pub(super) fn token(&mut self, value: u64, end: usize, previous: Previous) {
        if self.state.import.is_none() {
            (self.emit)(value, self.at..end);
        }
        self.passed(end, previous);
    }

    /// Continues at `end`, after a part of the code that gives no symbol.
    #[inline]
    pub(super) fn passed(&mut self, end: usize, previous: Previous) {
        self.at = end;
        self.state.previous = previous;
        self.state.line_start = false;
        self.state.statement = false;
        self.state.condition = false;
    }

    /// Emits a token whose value is that of its text.
    pub(super) fn fixed(&mut self, end: usize, previous: Previous) {
        let value = class::value_of_text(&self.text[self.at..end]);
        self.token(value, end, previous);
    }

    pub(super) fn push(&mut self, mode: LexerMode) {
        self.state.modes.push(mode);
    }

    /// True if a string here may contain code.
    pub(super) fn may_nest(&self) -> bool {
        self.state.modes.len() < DEPTH
    }

    fn code(&mut self) {
        if self.tables.rules.dialect == Dialect::Shell {
            return self.shell();
        }
        match self.tables.starts[usize::from(self.bytes[self.at])] {
            Start::Blank => self.blanks(),
            Start::LineEnd => self.line_end(),
            Start::Word => self.word(),
            Start::Digit => self.number(),
            Start::Mark => self.mark(),
            Start::Special => self.special(),
            Start::Beyond => self.beyond(),
        }
    }

    pub(super) fn blanks(&mut self) {
        let rest = &self.bytes[self.at..self.limit];
        let length = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | 0x0B | 0x0C));
        let length = length.unwrap_or(rest.len()).max(1);
        self.look(length);
        self.at += length;
    }

    pub(super) fn line_end(&mut self) {
        self.at += 1;
        let state = &mut *self.state;
        state.line_start = true;
        // In other languages a line may end within a statement too, but nothing relevant begins there.
        if state.brackets == 0 || self.tables.rules.dialect != Dialect::Python {
            state.statement = true;
        }
        if self.tables.rules.dialect == Dialect::Shell {
            state.previous = Previous::Operator;
        }
        if let Some((Import::Line | Import::Module, brackets)) = state.import
            && state.brackets <= brackets
        {
            state.import = None;
        }
        // The first here-document must become the innermost.
        while let Some(heredoc) = state.heredocs.pop() {
            state.modes.push(LexerMode::Quoted(heredoc));
        }
    }

    /// True if this character, which is not ASCII, ends a line in the language.
    pub(super) fn ends_lines(&self, c: char) -> bool {
        matches!(self.tables.rules.dialect, Dialect::JavaScript | Dialect::TypeScript | Dialect::CSharp)
            && matches!(c, '\u{2028}' | '\u{2029}')
    }

    /// Reads a non-ASCII character: a name, white space or a mark.
    fn beyond(&mut self) {
        let Some(c) = self.text[self.at..].chars().next() else { return self.at = self.limit };
        if c.is_alphanumeric() {
            self.word();
        } else if self.ends_lines(c) {
            self.at += c.len_utf8() - 1;
            self.line_end();
        } else if c.is_whitespace() || c == '\u{FEFF}' {
            self.at += c.len_utf8();
        } else {
            self.fixed(self.at + c.len_utf8(), Previous::Operator);
        }
    }
}
