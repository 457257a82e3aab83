//! Mode: what the text stands in, and what is remembered of that from one step of the lexer to the next.

use super::rules::{Code, Escape, Quote};

/// Bytes that the longest end of a string may have.
pub(super) const LONGEST_END: usize = 24;

/// The surroundings of the text, the innermost last; code, if there are none.
pub(super) enum LexerMode {
    /// Code within a string or markup, up to the bracket that closes it.
    Code {
        open: u8,
        depth: u32,
    },
    /// Arithmetic of the shell, up to the bracket that closes it.
    Arithmetic {
        depth: u32,
    },
    Quoted(Quoted),
    LineComment,
    BlockComment {
        depth: u32,
    },
    /// Elements of markup in JavaScript.
    Markup(Markup),
    /// The page around PHP.
    Page,
    /// The data after a program, which nothing ends.
    Rest,
}

/// The text before, as far as the next token depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Previous {
    /// Nothing, an operator or an opening bracket: an operand follows.
    Operator,
    /// A name, a literal or a closing bracket: an operator follows.
    Operand,
    /// As an operand, after which Ruby may have an argument.
    Name,
    /// A mark of member access.
    Member,
}

/// Elements that are being read.
#[derive(Default)]
pub(super) struct Markup {
    /// Elements that are open.
    pub(super) depth: u32,
    /// Between `<` and `>`.
    pub(super) in_tag: bool,
    /// The tag closes an element.
    pub(super) closes: bool,
}

/// A string that is being read.
#[derive(Clone)]
pub(super) struct Quoted {
    pub(super) end: End,
    pub(super) lines: bool,
    pub(super) escape: Escape,
    pub(super) code: Code,
    /// None of its code has come yet: its text counts.
    pub(super) is_first: bool,
    /// A line of it begins here.
    pub(super) line_start: bool,
}

/// The end of a string.
#[derive(Clone)]
pub(super) enum End {
    /// These bytes.
    Mark { bytes: [u8; LONGEST_END], length: usize },
    /// A bracket, after those that have been opened in it.
    Bracket { open: u8, close: u8, depth: u32 },
    /// A line that holds this name, maybe after blanks.
    Name { name: Box<str>, indented: bool },
}

impl Quoted {
    pub(super) fn of(quote: Quote) -> Self {
        Self {
            end: End::mark(quote.open.as_bytes()),
            lines: quote.lines,
            escape: quote.escape,
            code: quote.code,
            is_first: true,
            line_start: false,
        }
    }

    /// As it is, until `end`.
    pub(super) fn raw(end: &[u8]) -> Self {
        Self {
            end: End::mark(end),
            lines: true,
            escape: Escape::None,
            code: Code::None,
            is_first: true,
            line_start: true,
        }
    }

    pub(super) fn between(open: u8, close: u8, code: Code) -> Self {
        let end = End::Bracket { open, close, depth: 0 };
        Self { end, lines: true, escape: Escape::Backslash, code, is_first: true, line_start: true }
    }

    pub(super) fn heredoc(name: &str, indented: bool, code: Code) -> Self {
        let end = End::Name { name: name.into(), indented };
        let escape = if code == Code::None { Escape::None } else { Escape::Backslash };
        Self { end, lines: true, escape, code, is_first: true, line_start: true }
    }
}

impl End {
    fn mark(mark: &[u8]) -> Self {
        let mut bytes = [0; LONGEST_END];
        let length = mark.len().min(LONGEST_END);
        bytes[..length].copy_from_slice(&mark[..length]);
        Self::Mark { bytes, length }
    }
}
