//! Mode: the surroundings of the text at a place, kept from one step of the lexer to the next.

use super::rules::{Code, Escape, Quote};

/// Maximum bytes in the closing mark of a string.
pub(super) const LONGEST_END: usize = 24;

/// A surrounding of the text. The innermost is last in the list; an empty list means code.
pub(super) enum LexerMode {
    /// Code within a string or markup, up to the closing bracket.
    Code {
        open: u8,
        depth: u32,
    },
    /// Arithmetic of the shell, up to the closing bracket.
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
    /// The page around PHP code.
    Page,
    /// The data after a program, up to the end of the document.
    Rest,
}

/// The kind of the previous token, as far as the next token depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Previous {
    /// No token, an operator or an opening bracket came before: an operand follows.
    Operator,
    /// A name, a literal or a closing bracket: an operator follows.
    Operand,
    /// Like an operand, but in Ruby an argument may follow.
    Name,
    /// A mark of member access.
    Member,
}

/// The markup that is being read.
#[derive(Default)]
pub(super) struct Markup {
    /// Number of open elements.
    pub(super) depth: u32,
    /// True between `<` and `>`.
    pub(super) in_tag: bool,
    /// True if the tag closes an element.
    pub(super) closes: bool,
    /// Number of open brackets of type arguments in the tag: `<Select<string> x={y}>`.
    pub(super) arguments: u32,
}

/// A string that is being read.
#[derive(Clone)]
pub(super) struct Quoted {
    pub(super) end: End,
    pub(super) lines: bool,
    pub(super) escape: Escape,
    pub(super) code: Code,
    /// True before the first embedded code. Only the text up to this code counts.
    pub(super) is_first: bool,
    /// True at the start of a line of the string.
    pub(super) line_start: bool,
}

/// The end of a string, by kind of string.
#[derive(Clone)]
pub(super) enum End {
    /// These bytes.
    Mark { bytes: [u8; LONGEST_END], length: usize },
    /// The closing bracket, after all brackets opened within the string are closed.
    Bracket { open: u8, close: u8, depth: u32 },
    /// A line that begins with this name, after blanks if `indented`.
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

    /// Raw text up to `end`.
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
