//! Operators, brackets and other tokens that begin with a mark: directives, characters, regular expressions.

use std::ops::Range;

use super::class;
use super::lexer::Lexer;
use super::mode::{LexerMode, Previous, Quoted};
use super::rules::{Apostrophe, BlockComments, Code, Dialect, Import, Quote};

/// Maximum blanks between `#` and the name of its directive.
const BLANKS: usize = 160;

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    /// Reads an operator or another mark.
    pub(super) fn mark(&mut self) {
        let first = self.bytes[self.at];
        if self.tables.operator_run.get(usize::from(first)) == Some(&true) {
            return self.operator_run();
        }
        let (length, value) = self.tables.mark(&self.bytes[self.at..self.limit]);
        let end = self.at + length;
        if length == 1 {
            match first {
                b'(' | b'[' | b'{' => return self.open(first, value),
                b')' | b']' | b'}' => return self.close(first, value),
                b';' => return self.semicolon(),
                b'.' => return self.token(value, end, Previous::Member),
                // `x!` in TypeScript.
                b'!' if self.state.previous != Previous::Operator => {
                    return self.token(value, end, Previous::Operand);
                }
                _ => {}
            }
        }
        let previous = match &self.bytes[self.at..end] {
            b"?." | b"->" | b"::" | b"&." | b"?->" if self.is_member_access() => Previous::Member,
            b"++" | b"--" => self.state.previous,
            _ => Previous::Operator,
        };
        self.token(value, end, previous);
    }

    /// True if a mark other than a point accesses a member here.
    pub(super) fn is_member_access(&self) -> bool {
        match self.tables.rules.dialect {
            // `-> int` gives a return type.
            Dialect::C => !matches!(self.byte(self.at + 2), Some(b' ' | b'\t' | b'\n')),
            Dialect::Php => true,
            _ => !self.begins(self.at, "->"),
        }
    }

    /// Reads a run of operator characters as one operator.
    pub(super) fn operator_run(&mut self) {
        let is_operator = |byte: &u8| self.tables.operator_run.get(usize::from(*byte)) == Some(&true);
        let rest = &self.bytes[self.at..self.limit];
        let mut length = rest.iter().position(|byte| !is_operator(byte)).unwrap_or(rest.len());
        self.look(2 * length);
        let comment = |at: usize| rest[at] == b'/' && matches!(rest.get(at + 1), Some(b'/' | b'*'));
        length = (1..length).find(|&at| comment(at)).unwrap_or(length);
        self.fixed(self.at + length, Previous::Operator);
    }

    pub fn open(&mut self, bracket: u8, value: u64) {
        self.state.brackets = self.state.brackets.saturating_add(1);
        if bracket == b'(' {
            let condition = self.state.condition && self.state.previous == Previous::Operator;
            self.state.conditions = self.state.conditions << 1 | u64::from(condition);
        }
        if let Some(depth) = self.depth_of(bracket) {
            *depth = depth.saturating_add(1);
        }
        self.bracket(bracket, value, Previous::Operator);
    }

    pub(super) fn close(&mut self, bracket: u8, value: u64) {
        self.state.brackets = self.state.brackets.saturating_sub(1);
        let mut condition = false;
        if bracket == b')' {
            condition = self.state.conditions & 1 == 1;
            self.state.conditions >>= 1;
        }
        // `use A, B { A::x insteadof B; }` in PHP has no `;` after the bracket.
        if let Some((Import::Semicolon, brackets)) = self.state.import
            && bracket == b'}'
            && self.state.brackets <= brackets
        {
            self.state.import = None;
        }
        if let Some(depth) = self.depth_of(opening(bracket)) {
            if *depth == 0 {
                self.state.modes.pop();
                if self.tables.rules.dialect == Dialect::Shell {
                    return self.bracket(bracket, value, Previous::Operand);
                }
                return self.passed(self.at + 1, Previous::Operand);
            }
            *depth -= 1;
        }
        self.bracket(bracket, value, Previous::Operand);
        self.state.condition = condition;
    }

    /// The counter of open brackets of this kind, if they decide where the embedded code ends.
    pub(super) fn depth_of(&mut self, bracket: u8) -> Option<&mut u32> {
        match self.state.modes.last_mut()? {
            LexerMode::Code { open, depth } if *open == bracket => Some(depth),
            LexerMode::Arithmetic { depth } if bracket == b'(' => Some(depth),
            _ => None,
        }
    }

    pub(super) fn bracket(&mut self, bracket: u8, value: u64, previous: Previous) {
        if matches!(bracket, b'{' | b'}') {
            self.passed(self.at + 1, Previous::Operator);
            self.state.statement = true;
        } else {
            self.token(value, self.at + 1, previous);
        }
    }

    pub(super) fn semicolon(&mut self) {
        self.passed(self.at + 1, Previous::Operator);
        self.state.statement = true;
        if self.state.import.is_some_and(|(_, brackets)| self.state.brackets <= brackets) {
            self.state.import = None;
        }
    }

    /// Handles the end of a string, which may end an import.
    pub(super) fn string_ended(&mut self) {
        if let Some((Import::Module, brackets)) = self.state.import
            && self.state.brackets <= brackets
        {
            self.state.import = None;
        }
    }

    /// Reads a token whose first mark may begin more than an operator.
    pub(super) fn special(&mut self) {
        let rules = self.tables.rules;
        let first = self.bytes[self.at];
        if first == b'\\' {
            return self.backslash();
        }
        if rules.line_comments.iter().any(|mark| self.begins(self.at, mark))
            && !(rules.dialect == Dialect::Php && self.begins(self.at, "#["))
        {
            self.push(LexerMode::LineComment);
            return;
        }
        if first == b'/' && rules.block_comments != BlockComments::None && self.byte(self.at + 1) == Some(b'*') {
            self.push(LexerMode::BlockComment { depth: 0 });
            self.at += 2;
            return;
        }
        if first == b'.' && self.byte(self.at + 1).is_some_and(|byte| byte.is_ascii_digit()) {
            return self.number();
        }
        if first == b'\'' && rules.apostrophe != Apostrophe::Quote {
            return self.apostrophe();
        }
        // A raw string of C# may begin with more than three quotes.
        if rules.dialect == Dialect::CSharp && self.begins(self.at, "\"\"\"") && self.c_sharp(first) {
            return;
        }
        if let Some(quote) = rules.quotes.iter().find(|quote| self.begins(self.at, quote.open)) {
            // `s"..."`
            let interpolates = rules.dialect == Dialect::Scala
                && self.state.previous == Previous::Name
                && self.before().is_ascii_alphanumeric();
            let code = if interpolates { Code::Dollar } else { quote.code };
            let quoted = Quoted::of(Quote { code, ..*quote });
            return self.quoted(quoted, self.at, self.at + quote.open.len());
        }
        if first == b'/' && rules.regex {
            return self.regex();
        }
        if self.of_dialect(first) {
            return;
        }
        self.mark();
    }

    /// Reads a mark with a special use in the dialect. Returns true if there is such a mark here.
    pub(super) fn of_dialect(&mut self, first: u8) -> bool {
        match self.tables.rules.dialect {
            Dialect::C => first == b'#' && self.directive(),
            Dialect::CSharp => first == b'#' && self.directive() || self.c_sharp(first),
            Dialect::JavaScript => first == b'<' && self.markup_begins() || self.private_name(first),
            Dialect::TypeScript => self.private_name(first),
            Dialect::Php => self.php(first),
            Dialect::Ruby => self.ruby(first),
            Dialect::Swift => first == b'#' && (self.hashed_string() || self.directive()) || self.backticked(first),
            Dialect::Kotlin | Dialect::Scala => self.backticked(first),
            Dialect::Plain | Dialect::Python | Dialect::Rust | Dialect::Sql | Dialect::Shell => false,
        }
    }

    /// Reads a line continuation, a name that begins with an escape, or the mark `\`.
    pub(super) fn backslash(&mut self) {
        if self.escape_length(self.at) > 0 {
            return self.word();
        }
        let length = if self.begins(self.at + 1, "\r\n") { 3 } else { 2 };
        if matches!(self.byte(self.at + 1), Some(b'\n' | b'\r')) {
            self.at = (self.at + length).min(self.limit);
        } else {
            self.mark();
        }
    }

    /// Reads a preprocessor directive. The `#` and the name are one symbol. An inclusion, region, error or
    /// warning gives no symbol. Returns false if no directive begins here.
    pub(super) fn directive(&mut self) -> bool {
        if !self.state.line_start {
            return false;
        }
        let blank = |at: &usize| !matches!(self.byte(*at), Some(b' ' | b'\t'));
        let begin = (self.at + 1..self.limit.min(self.at + BLANKS)).find(blank).unwrap_or(self.at + 1);
        let end = self.word_end(begin);
        if begin == end || !self.bytes[begin].is_ascii_alphabetic() {
            return false;
        }
        if matches!(
            &self.bytes[begin..end],
            b"include" | b"include_next" | b"import" | b"region" | b"endregion" | b"error" | b"warning"
        ) {
            self.push(LexerMode::LineComment);
            return true;
        }
        let value = class::value_of_text(&format!("#{}", &self.text[begin..end]));
        self.token(value, end, Previous::Operator);
        true
    }

    /// Reads a name in backquotes: `` `when` ``. Returns false if no such name begins here.
    pub(super) fn backticked(&mut self, first: u8) -> bool {
        let end = self.word_end(self.at + 1);
        let is_name = first == b'`' && end > self.at + 1 && self.byte(end) == Some(b'`');
        if is_name {
            self.name(end + 1);
        }
        is_name
    }

    /// Reads a private field, `#x`. Returns false if no such name begins here.
    pub(super) fn private_name(&mut self, first: u8) -> bool {
        let end = self.word_end(self.at + 1);
        let is_name = first == b'#' && end > self.at + 1;
        if is_name {
            self.name(end);
        }
        is_name
    }

    /// Reads a character, a lifetime or a mark.
    pub(super) fn apostrophe(&mut self) {
        if let Some(end) = self.character_end(self.at) {
            return self.character(end);
        }
        let end = self.word_end(self.at + 1);
        if self.tables.rules.apostrophe == Apostrophe::Lifetime && end > self.at + 1 {
            self.name(end);
        } else {
            self.mark();
        }
    }

    pub(super) fn character(&mut self, end: usize) {
        let value = class::value_of_literal(&self.text[self.at..end]);
        self.token(value, end, Previous::Operand);
    }

    /// The end of the character literal that begins at `at`, if one begins there.
    pub(super) fn character_end(&self, at: usize) -> Option<usize> {
        const LONGEST: usize = 16;
        let begin = at + 1;
        if self.tables.rules.apostrophe == Apostrophe::Lifetime && self.byte(begin) != Some(b'\\') {
            let end = begin + self.text.get(begin..)?.chars().next()?.len_utf8();
            return (self.byte(begin) != Some(b'\'') && self.byte(end) == Some(b'\'')).then_some(end + 1);
        }
        let mut at = begin;
        while at <= begin + LONGEST {
            match self.byte(at)? {
                b'\'' if at > begin => return Some(at + 1),
                b'\n' | b'\'' => return None,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        None
    }

    /// Reads a regular expression, or an operator.
    pub(super) fn regex(&mut self) {
        let here = self.state.offset + self.at as u64;
        let next = self.byte(self.at + 1);
        let blank = |byte: Option<u8>| matches!(byte, None | Some(b' ' | b'\t' | b'\n'));
        let follows = match self.state.previous {
            Previous::Operator => true,
            _ if self.state.condition => true,
            // An argument: `split /x/`.
            Previous::Name => {
                self.tables.rules.dialect == Dialect::Ruby
                    && blank(Some(self.before()))
                    && !blank(next)
                    && next != Some(b'=')
            }
            Previous::Operand | Previous::Member => false,
        };
        if !follows || here < self.state.no_regex_before {
            return self.mark();
        }
        let (mut at, mut set) = (self.at + 1, false);
        loop {
            match self.byte(at) {
                Some(b'\\') => at += 1,
                Some(b'[') => set = true,
                Some(b']') => set = false,
                Some(b'/') if !set => break,
                None | Some(b'\n') => {
                    self.state.no_regex_before = self.state.offset + at as u64;
                    return self.mark();
                }
                Some(_) => {}
            }
            at += 1;
        }
        let end = self.word_end(at + 1);
        let value = class::value_of_literal(&self.text[self.at..end]);
        self.token(value, end, Previous::Operand);
    }
}

fn opening(bracket: u8) -> u8 {
    match bracket {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
