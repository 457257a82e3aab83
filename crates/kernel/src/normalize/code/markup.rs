//! Markup: elements within JavaScript (JSX), and the page around PHP code.

use std::ops::Range;

use super::class;
use super::comments::kept;
use super::lexer::Lexer;
use super::mode::{LexerMode, Markup, Previous};
use super::words::AHEAD;

impl<F: FnMut(u64, Range<usize>)> Lexer<'_, F> {
    /// True if an element begins here, before a name or `>`. This is possible only in the place of an
    /// operand.
    pub(super) fn markup_begins(&mut self) -> bool {
        let next = self.byte(self.at + 1);
        let named = matches!(next, Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$'));
        if self.state.previous != Previous::Operator || !(named || next == Some(b'>')) || !self.may_nest() {
            return false;
        }
        let end = self.word_end(self.at + 1);
        // Type parameters, not elements: `<T,>(x: T) => x`, `<T extends X>(x: T) => x`, `<T = X>(x: T) => x`
        if self.byte(end) == Some(b',')
            || self.begins(end, " extends ")
            || self.begins(end, " = ")
            || self.begins(end, ">(") && self.is_signature(end)
        {
            return false;
        }
        self.fixed(self.at + 1, Previous::Operator);
        self.push(LexerMode::Markup(Markup { in_tag: true, ..Markup::default() }));
        true
    }

    /// True if `<T>(...)` begins a function type, as in `type F = <T>(x: T) => T`: `=>` or a type follows the
    /// round brackets, and no tag closes the name. The name `T` ends at `end`.
    fn is_signature(&self, end: usize) -> bool {
        let (name, ahead) = (&self.bytes[self.at + 1..end], &self.bytes[end + 1..self.limit.min(end + AHEAD)]);
        self.look(2 * ahead.len());
        let mut depth = 0u32;
        let close = ahead.iter().position(|byte| {
            depth = depth + u32::from(*byte == b'(') - u32::from(*byte == b')');
            depth == 0
        });
        let after = close.map_or(&[][..], |close| ahead[close + 1..].trim_ascii_start());
        (after.starts_with(b"=>") || after.starts_with(b":"))
            && !memchr::memmem::find_iter(ahead, b"</").any(|at| ahead[at + 2..].starts_with(name))
    }

    pub(super) fn markup(&mut self) {
        let in_tag = matches!(self.state.modes.last(), Some(LexerMode::Markup(Markup { in_tag: true, .. })));
        if in_tag { self.tag() } else { self.content() }
    }

    fn with_markup(&mut self, change: impl FnOnce(&mut Markup)) {
        if let Some(LexerMode::Markup(markup)) = self.state.modes.last_mut() {
            change(markup);
        }
    }

    /// Reads the next part of a tag, between `<` and `>`.
    fn tag(&mut self) {
        let byte = self.bytes[self.at];
        match byte {
            b' ' | b'\t' | b'\r' => self.blanks(),
            b'\n' => self.line_end(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                let mut end = self.word_end(self.at);
                while self.byte(end) == Some(b'-') && end < self.limit {
                    end = self.word_end(end + 1);
                }
                self.token(class::NAME, end, Previous::Operator);
            }
            b'"' | b'\'' => {
                let rest = &self.bytes[self.at + 1..self.limit];
                let end = memchr::memchr(byte, rest).map_or(self.limit, |end| self.at + end + 2);
                let value = class::value_of_literal(&self.text[self.at..end]);
                self.token(value, end, Previous::Operator);
            }
            b'{' if self.may_nest() => self.code_within(b'{', 0, 1),
            b'/' if self.byte(self.at + 1) == Some(b'/') => self.push(LexerMode::LineComment),
            b'/' if self.byte(self.at + 1) == Some(b'*') => {
                self.at += 2;
                self.push(LexerMode::BlockComment { depth: 0 });
            }
            b'/' if self.byte(self.at + 1) == Some(b'>') => {
                self.fixed(self.at + 2, Previous::Operand);
                self.with_markup(|markup| markup.in_tag = false);
                self.element_ended();
            }
            b'<' if self.before().is_ascii_alphanumeric() => {
                self.fixed(self.at + 1, Previous::Operator);
                self.with_markup(|markup| markup.arguments = markup.arguments.saturating_add(1));
            }
            b'>' if self.in_type_arguments() => {
                let ends = self.before() != b'=';
                self.fixed(self.at + 1, Previous::Operator);
                self.with_markup(|markup| markup.arguments -= u32::from(ends));
            }
            b'>' => {
                self.fixed(self.at + 1, Previous::Operand);
                let mut closes = false;
                self.with_markup(|markup| {
                    closes = markup.closes;
                    markup.in_tag = false;
                    markup.closes = false;
                    markup.depth = if closes { markup.depth.saturating_sub(1) } else { markup.depth.saturating_add(1) };
                });
                if closes {
                    self.element_ended();
                }
            }
            0x80.. => {
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.fixed(self.at + width, Previous::Operator);
            }
            _ => self.fixed(self.at + 1, Previous::Operator),
        }
    }

    fn in_type_arguments(&self) -> bool {
        matches!(self.state.modes.last(), Some(LexerMode::Markup(Markup { arguments: 1.., .. })))
    }

    fn element_ended(&mut self) {
        if matches!(self.state.modes.last(), Some(LexerMode::Markup(Markup { depth: 0, .. }))) {
            self.state.modes.pop();
            self.state.previous = Previous::Operand;
        }
    }

    /// Reads the content of an element: code, elements, and text, which is one symbol.
    fn content(&mut self) {
        match self.bytes[self.at] {
            b'{' if self.may_nest() => self.code_within(b'{', 0, 1),
            b'<' => {
                let closes = self.byte(self.at + 1) == Some(b'/');
                self.fixed(self.at + 1 + usize::from(closes), Previous::Operator);
                self.with_markup(|markup| (markup.in_tag, markup.closes) = (true, closes));
            }
            _ => {
                let rest = &self.bytes[self.at..self.limit];
                let end = self.at + memchr::memchr2(b'<', b'{', &rest[1..]).map_or(rest.len(), |end| end + 1);
                let text = &self.text[self.at..end];
                let begin = end - text.trim_start().len();
                if begin < end {
                    self.at = begin;
                    let text = text.trim();
                    let value = class::value_of_literal(text);
                    self.token(value, begin + text.len(), Previous::Operand);
                }
                self.at = end;
            }
        }
    }

    /// Reads the page around PHP code. The values of its words and marks are those of their texts.
    pub(super) fn page(&mut self) {
        let rest = &self.bytes[self.at..self.limit];
        match rest[0] {
            b'<' if rest.get(1) == Some(&b'?') => {
                let skipped =
                    if rest.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case(b"<?php")) { 5 } else { 2 };
                let skipped = if rest.starts_with(b"<?=") { 3 } else { skipped };
                self.state.modes.pop();
                self.passed(self.at + skipped, Previous::Operator);
                self.state.statement = true;
            }
            b'<' if rest.starts_with(b"<!--") => {
                let end = memchr::memmem::find(rest, b"-->").map_or_else(|| kept(rest, 3), |end| end + 3);
                self.at += end;
            }
            byte if byte.is_ascii_whitespace() => self.at += 1,
            byte if byte.is_ascii_alphanumeric() => {
                let end = self.word_end(self.at);
                self.fixed(end, Previous::Operand);
            }
            _ => {
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.fixed((self.at + width).max(self.word_end(self.at)), Previous::Operand);
            }
        }
    }
}
