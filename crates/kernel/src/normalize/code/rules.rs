//! The rules of a language: the beginnings of its comments, strings and numbers, its keywords and its
//! operators. The rules of all languages are in [`table`](super::table).

/// The lexer's rules of a language. Lists of words and marks are separated by white space.
pub(super) struct Rules {
    /// Reserved words.
    pub(super) keywords: &'static str,
    /// Words that are keywords only if a word, a number, a string, `{`, `[`, `*` or `@` follows on the line,
    /// and names otherwise: `get`, `async`, `data`.
    pub(super) soft_keywords: &'static str,
    /// Keywords that stay keywords after a point or another mark of member access.
    pub(super) member_keywords: &'static str,
    /// Keywords that end an operand, as a name does: an operator follows.
    pub(super) operands: &'static str,
    /// Operators and marks of two or more characters. Any other mark is a symbol by itself.
    pub(super) marks: &'static str,
    /// Characters whose runs form one operator (Scala). Empty in other languages.
    pub(super) operator_characters: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: BlockComments,
    pub(super) quotes: &'static [Quote],
    /// Words that may be the prefix of a string, and their effect on this string.
    pub(super) prefixes: &'static [(&'static str, Prefix)],
    pub(super) apostrophe: Apostrophe,
    pub(super) numbers: Numbers,
    /// Words that begin an import, each with the end of the import.
    pub(super) imports: &'static [(&'static str, Import)],
    /// True if keywords may also be written in capitals.
    pub(super) ignores_case: bool,
    /// True if `$` counts as a letter.
    pub(super) dollar_names: bool,
    /// True if a name may have escaped characters: `\u0077`.
    pub(super) escaped_names: bool,
    /// True if `/` may begin a regular expression.
    pub(super) regex: bool,
    pub(super) dialect: Dialect,
}

/// Rules that no list can express.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Plain,
    /// `#` at the start of a line begins a directive. C++ also has raw strings.
    C,
    CSharp,
    /// The code may contain markup (JSX).
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

/// A kind of string: its beginning, its end, and its permitted content.
#[derive(Clone, Copy)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    /// True if the string may extend over several lines.
    pub(super) lines: bool,
    pub(super) escape: Escape,
    pub(super) code: Code,
}

/// The way in which a string escapes its closing quote.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    None,
    Backslash,
    /// A doubled quote stands for a quote.
    Doubled,
    Either,
}

/// The way in which embedded code begins in a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    None,
    /// `{x}`. `{{` is a literal brace.
    Brace,
    /// `${x}`.
    DollarBrace,
    /// `${x}` and `$x`. `$$` is a literal dollar.
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

/// The effect of a prefix on its string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Plain,
    /// The string may contain code.
    Code,
    /// The string ends with the quote and as many `#` as precede it (Rust).
    Hashes,
    /// The string ends with its own delimiter (C++).
    Delimiter,
}

/// The meaning of `'`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apostrophe {
    /// A quote, if the table lists it.
    Quote,
    /// A pair of `'` encloses a character; a single `'` is a mark.
    Character,
    /// A pair of `'` encloses a character; a single `'` begins a lifetime.
    Lifetime,
}

/// The characters that a number may contain besides digits, letters and `_`.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    /// `.5`
    pub(super) leading_point: bool,
    /// `5.`
    pub(super) trailing_point: bool,
    /// `10'000`
    pub(super) apostrophes: bool,
}

/// The end of an import.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Import {
    /// The next `;`.
    Semicolon,
    /// The end of the line, outside brackets.
    Line,
    /// The end of the line or of a string, outside brackets. `import(` and `import.` do not begin an import.
    Module,
    /// The next `;`, if the word begins a directive and not a statement or declaration (C#).
    Using,
}
