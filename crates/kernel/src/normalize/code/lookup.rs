//! Look-up: the rules of a language in tables, indexed by byte and by word for the lexer.

use rustc_hash::FxHashMap;

use super::rules::{BlockComments, Dialect, Import, Prefix, Rules};
use super::{class, table};
use crate::document::Language;

/// The roles of a word.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) value: u64,
    pub(super) soft: bool,
    pub(super) member: bool,
    pub(super) operand: bool,
    pub(super) import: Option<Import>,
    pub(super) keyword: bool,
}

/// The kind of a token, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Blank,
    LineEnd,
    Word,
    Digit,
    /// A mark that only begins operators.
    Mark,
    /// A mark that may begin a comment, a string or another construct of the language.
    Special,
    Beyond,
}

/// The rules of a language, prepared for look-up.
pub(super) struct Tables {
    pub(super) rules: &'static Rules,
    words: FxHashMap<&'static [u8], Word>,
    pub(super) starts: [Start; 256],
    /// For each ASCII character, the operators that begin with it, longest first.
    marks: Vec<Vec<(&'static [u8], u64)>>,
    pub(super) operator_run: [bool; 128],
}

impl Tables {
    pub(super) fn new(language: Language) -> Self {
        let rules = table::rules(language);
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

    /// The effect of a word on the string after it. `None` if the word cannot be the prefix of a string.
    pub(super) fn prefix(&self, word: &[u8]) -> Option<Prefix> {
        let folds = self.rules.dialect == Dialect::Python;
        let is = |text: &str| if folds { word.eq_ignore_ascii_case(text.as_bytes()) } else { word == text.as_bytes() };
        self.rules.prefixes.iter().find(|(text, _)| is(text)).map(|&(_, prefix)| prefix)
    }

    /// Length and value of the operator at the start of `text`, which must begin with an ASCII character.
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
            b'/' if rules.regex || rules.block_comments != BlockComments::None => Start::Special,
            _ if rules.quotes.iter().any(|quote| quote.open.as_bytes()[0] == byte) => Start::Special,
            _ if rules.line_comments.iter().any(|mark| mark.as_bytes()[0] == byte) => Start::Special,
            _ if special(rules.dialect).contains(&byte) => Start::Special,
            _ => Start::Mark,
        };
    }
    starts
}

/// Characters with a special use in a dialect.
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
