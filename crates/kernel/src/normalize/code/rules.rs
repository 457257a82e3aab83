//! The rules of a language: which bytes begin a comment, a string or a number, and which words and marks stand for
//! themselves. The table of all languages is in [`table`](super::table).

/// The lexer's rules of a language. Lists of words and marks are separated by white space.
pub(super) struct Rules {
    /// Reserved words.
    pub(super) keywords: &'static str,
    /// Words that are keywords before another word, `{`, `[`, `*` or a string on their line, and names elsewhere: `get`,
    /// `async`, `data`.
    pub(super) soft_keywords: &'static str,
    /// Keywords that remain keywords after a point or another mark of member access.
    pub(super) member_keywords: &'static str,
    /// Keywords that end an operand, as a name does: what follows is an operator.
    pub(super) operands: &'static str,
    /// Operators and marks of two characters and more; each other mark is a symbol of its own.
    pub(super) marks: &'static str,
    /// Characters whose runs are one operator each (Scala), `""` elsewhere.
    pub(super) operator_characters: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: BlockComments,
    pub(super) quotes: &'static [Quote],
    /// Words that belong to the string they stand before, and what they make of it.
    pub(super) prefixes: &'static [(&'static str, Prefix)],
    pub(super) apostrophe: Apostrophe,
    pub(super) numbers: Numbers,
    /// Words that begin an import, and where it ends.
    pub(super) imports: &'static [(&'static str, Import)],
    /// Keywords may be written in capitals too.
    pub(super) ignores_case: bool,
    /// `$` is a letter.
    pub(super) dollar_names: bool,
    /// `/` may begin a regular expression.
    pub(super) regex: bool,
    pub(super) dialect: Dialect,
}

/// Rules that no list can express.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Plain,
    /// `#` at the start of a line begins a directive; C++ has raw strings as well.
    C,
    CSharp,
    /// With elements of markup among the code.
    JavaScript,
    TypeScript,
    Php,
    Python,
    Ruby,
    Rust,
    Scala,
    Shell,
    Swift,
    Kotlin,
    Sql,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockComments {
    None,
    Plain,
    Nested,
}

/// A kind of string: how it begins, how it ends, and what may be in it.
#[derive(Clone, Copy)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    /// It goes on after the end of a line.
    pub(super) lines: bool,
    pub(super) escape: Escape,
    pub(super) code: Code,
}

/// The escape that takes the meaning of the closing quote away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    None,
    Backslash,
    /// The quote, twice.
    Doubled,
    Either,
}

/// How code within a string begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    None,
    /// `{x}`; `{{` is a brace.
    Brace,
    /// `${x}`.
    DollarBrace,
    /// `${x}` and `$x`; `$$` is a dollar.
    Dollar,
    /// `$x`, `{$x}` and `${x}`.
    Php,
    /// `#{x}`.
    Hash,
    /// `\(x)`.
    Backslash,
    /// `$x`, `${x}`, `$(x)` and `` `x` ``.
    Shell,
}

/// The effect of a word before a quote on the string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Plain,
    /// With code in it.
    Code,
    /// Ended by the quote and as many `#` as stand before it (Rust).
    Hashes,
    /// Ended by a delimiter of its own (C++).
    Delimiter,
}

/// The meaning of `'`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apostrophe {
    /// A quote, if the table has it.
    Quote,
    /// Around a character, else a mark.
    Character,
    /// Around a character, else before the name of a lifetime.
    Lifetime,
}

/// The characters that may be in a number beyond digits, letters and `_`.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    /// `.5`
    pub(super) leading_point: bool,
    /// `5.`
    pub(super) trailing_point: bool,
    /// `10'000`
    pub(super) apostrophes: bool,
}

/// Where an import ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Import {
    /// With the next `;`.
    Semicolon,
    /// With its line, outside of brackets.
    Line,
    /// With its line or its string, outside of brackets; `import(` and `import.` are none.
    Module,
    /// With the next `;`, if it is a directive and neither a statement nor a declaration (C#).
    Using,
}
