//! The rules of a language: which bytes begin a comment, a string or a number, and which words and marks stand for
//! themselves. The table of all languages is in [`table`](super::table); [`Tables`] is a language's rules, ready for look-up.

use rustc_hash::FxHashMap;

use super::class;
use crate::document::Language;

/// What the lexer must know of a language. Lists of words and marks are separated by white space.
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
    pub(super) block_comments: Block,
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

/// What no list can say.
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
pub(super) enum Block {
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

/// What takes the meaning of the closing quote away.
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

/// What a word before a quote makes of the string.
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

/// What `'` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apostrophe {
    /// A quote, if the table has it.
    Quote,
    /// Around a character, else a mark.
    Character,
    /// Around a character, else before the name of a lifetime.
    Lifetime,
}

/// What may be in a number beyond digits, letters and `_`.
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

/// What is known of a word.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) value: u64,
    pub(super) soft: bool,
    pub(super) member: bool,
    pub(super) operand: bool,
    pub(super) import: Option<Import>,
    pub(super) prefix: Option<Prefix>,
    pub(super) keyword: bool,
}

/// What the first byte of a token says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Blank,
    LineEnd,
    Word,
    Digit,
    /// A mark that begins nothing but operators.
    Mark,
    /// A mark that may begin a comment, a string or something else the language has.
    Special,
    Beyond,
}

/// The rules of a language, ready for look-up.
pub(super) struct Tables {
    pub(super) rules: &'static Rules,
    words: FxHashMap<&'static [u8], Word>,
    pub(super) starts: [Start; 256],
    /// For each ASCII character the operators that begin with it, the longest first.
    marks: Vec<Vec<(&'static [u8], u64)>>,
    pub(super) operator_run: [bool; 128],
}

impl Tables {
    pub(super) fn new(language: Language) -> Self {
        let rules = super::table::rules(language);
        let mut words: FxHashMap<&'static [u8], Word> = FxHashMap::default();
        let lists = [rules.keywords, rules.soft_keywords, rules.member_keywords, rules.operands];
        for (list, words_of) in lists.into_iter().enumerate() {
            for text in words_of.split_ascii_whitespace() {
                let word = words.entry(text.as_bytes()).or_default();
                word.keyword = true;
                word.value = class::value_of_text(text);
                word.soft |= list == 1;
                word.member |= list == 2;
                word.operand |= list == 3;
            }
        }
        for (text, import) in rules.imports {
            words.entry(text.as_bytes()).or_default().import = Some(*import);
        }
        for (text, prefix) in rules.prefixes {
            words.entry(text.as_bytes()).or_default().prefix = Some(*prefix);
        }
        let mut marks = vec![Vec::new(); 128];
        for mark in rules.marks.split_ascii_whitespace() {
            marks[usize::from(mark.as_bytes()[0])].push((mark.as_bytes(), class::value_of_text(mark)));
        }
        for (byte, marks) in (0u8..).zip(&mut marks) {
            marks.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.len()));
            let single = &ASCII[usize::from(byte)..=usize::from(byte)];
            marks.push((single, std::str::from_utf8(single).map_or(0, class::value_of_text)));
        }
        let mut operator_run = [false; 128];
        rules.operator_characters.bytes().for_each(|byte| operator_run[usize::from(byte)] = true);
        Self { rules, words, starts: starts(rules), marks, operator_run }
    }

    #[inline]
    pub(super) fn word(&self, word: &[u8]) -> Option<Word> {
        if !self.rules.ignores_case {
            return self.words.get(word).copied();
        }
        const LONGEST: usize = 24;
        let mut folded = [0; LONGEST];
        let folded = folded.get_mut(..word.len())?;
        folded.copy_from_slice(word);
        folded.make_ascii_lowercase();
        self.words.get(&*folded).copied()
    }

    /// The operator that `text` begins with: its length and its value. `text` begins with an ASCII character.
    #[inline]
    pub(super) fn mark(&self, text: &[u8]) -> (usize, u64) {
        let first = text.first().copied().unwrap_or_default();
        let found = self.marks[usize::from(first & 0x7F)].iter().find(|(mark, _)| text.starts_with(mark));
        found.map_or((1, 0), |&(mark, value)| (mark.len(), value))
    }
}

/// All ASCII characters.
static ASCII: [u8; 128] = {
    let mut all = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        all[byte] = byte as u8;
        byte += 1;
    }
    all
};

fn starts(rules: &Rules) -> [Start; 256] {
    let mut starts = [Start::Mark; 256];
    for byte in 0..=255u8 {
        starts[usize::from(byte)] = match byte {
            b'\n' => Start::LineEnd,
            b' ' | b'\t' | b'\r' | 0x0B | 0x0C => Start::Blank,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Start::Word,
            b'0'..=b'9' => Start::Digit,
            0x80.. => Start::Beyond,
            b'$' if rules.dollar_names => Start::Word,
            b'\\' | b'\'' => Start::Special,
            b'.' if rules.numbers.leading_point => Start::Special,
            b'/' if rules.regex || rules.block_comments != Block::None => Start::Special,
            _ if rules.quotes.iter().any(|quote| quote.open.as_bytes()[0] == byte) => Start::Special,
            _ if rules.line_comments.iter().any(|mark| mark.as_bytes()[0] == byte) => Start::Special,
            _ if special(rules.dialect).contains(&byte) => Start::Special,
            _ => Start::Mark,
        };
    }
    starts
}

/// Characters that a dialect has a use of its own for.
fn special(dialect: Dialect) -> &'static [u8] {
    match dialect {
        Dialect::C => b"#",
        Dialect::CSharp => b"#@$",
        Dialect::JavaScript => b"<#",
        Dialect::TypeScript => b"#",
        Dialect::Php => b"$?<",
        Dialect::Ruby => b"%<:?@$=",
        Dialect::Swift => b"#`",
        Dialect::Kotlin | Dialect::Scala => b"`",
        Dialect::Shell | Dialect::Plain | Dialect::Python | Dialect::Rust | Dialect::Sql => b"",
    }
}
