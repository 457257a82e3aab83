//! Turns a syntax tree into tokens: its leaves in order. A literal is one token. Comments make no tokens.
//!
//! The walk holds only a cursor, so the tree may have any depth. The parser leaves out text that it cannot
//! parse. The lexer reads text that no leaf covers, so broken code has tokens too.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::class;
use crate::grammar::{Class, Grammar};
use kernel::Language;

/// An item that the walk finds. Items come in order of position.
pub(super) enum Found {
    /// A token with this value.
    Token(u64),
    /// Text for the lexer to divide.
    Text,
}

/// Emits the items of the tree of `text`, each with its place in the text.
pub(super) fn walk(tree: &Tree, text: &str, grammar: &Grammar, emit: &mut impl FnMut(Found, Range<usize>)) {
    let mut walk = Walk { text, grammar, done: 0, depth: 0, literals: Vec::new(), emit };
    let mut cursor = tree.walk();
    loop {
        if walk.enter(cursor.node()) && cursor.goto_first_child() {
            walk.depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                walk.reach(text.len());
                return;
            }
            walk.depth -= 1;
            walk.leave(cursor.node());
        }
    }
}

struct Walk<'a, F> {
    text: &'a str,
    grammar: &'a Grammar,
    /// Offset up to which the text is covered.
    done: usize,
    depth: usize,
    /// The literals around the node, the innermost one last.
    literals: Vec<Literal>,
    emit: &'a mut F,
}

struct Literal {
    depth: usize,
    /// Start of the literal, until its token is emitted.
    pending: Option<usize>,
}

impl<F: FnMut(Found, Range<usize>)> Walk<'_, F> {
    /// Enters a node. Returns true if its children must be visited.
    fn enter(&mut self, node: Node<'_>) -> bool {
        let range = node.byte_range();
        if range.is_empty() {
            return false;
        }
        let children = node.child_count();
        let class = self.class(node, children);
        if self.literals.last().is_some_and(|literal| literal.depth + 1 == self.depth) {
            if !node.is_named() || class == Class::Part || class == Class::Skip {
                self.done = self.done.max(range.end);
                return false;
            }
            // Embedded code: the literal's own token comes before it.
            self.give_literal(range.start);
            self.done = self.done.max(range.start);
        }
        match class {
            Class::Inner if children > 0 => return true,
            Class::Literal if children > 0 => {
                self.reach(range.start);
                self.literals.push(Literal { depth: self.depth, pending: Some(range.start) });
                return true;
            }
            Class::Skip => self.reach(range.start),
            Class::Name => self.token(class::NAME, range.clone()),
            Class::Fixed(value) => self.token(value, range.clone()),
            Class::Literal => self.token(class::value_of_literal(&self.text[range.clone()]), range.clone()),
            Class::Inner if is_word(&self.text[range.clone()]) && !node.is_error() => {
                self.token(class::value_of_text(&self.text[range.clone()]), range.clone());
            }
            // Text that is not a word of its own: an error, a number, a part of a literal that has no
            // beginning.
            Class::Opaque | Class::Inner | Class::Part => {
                self.reach(range.start);
                (self.emit)(Found::Text, range.clone());
            }
        }
        self.done = self.done.max(range.end);
        false
    }

    /// Leaves a node after all its children were visited.
    fn leave(&mut self, node: Node<'_>) {
        if self.literals.last().is_some_and(|literal| literal.depth == self.depth) {
            self.give_literal(node.end_byte());
            self.literals.pop();
            self.done = self.done.max(node.end_byte());
        }
    }

    fn class(&self, node: Node<'_>, children: u32) -> Class {
        let class = self.grammar.class(node.kind_id());
        // In Python, a string that is a whole statement is documentation.
        if self.grammar.language == Language::Python
            && children == 1
            && node.kind() == "expression_statement"
            && node.child(0).is_some_and(|child| child.kind() == "string")
        {
            return Class::Skip;
        }
        class
    }

    fn give_literal(&mut self, end: usize) {
        if let Some(start) = self.literals.last_mut().and_then(|literal| literal.pending.take()) {
            (self.emit)(Found::Token(class::value_of_literal(&self.text[start..end])), start..end);
        }
    }

    fn token(&mut self, value: u64, range: Range<usize>) {
        self.reach(range.start);
        (self.emit)(Found::Token(value), range);
    }

    /// Emits the text between `done` and `to`, unless it is blank.
    fn reach(&mut self, to: usize) {
        if self.done < to && !self.text.as_bytes()[self.done..to].iter().all(u8::is_ascii_whitespace) {
            (self.emit)(Found::Text, self.done..to);
        }
        self.done = self.done.max(to);
    }
}

/// True if the text of a leaf is one word. The lexer reads numbers and quotes, and divides text with white
/// space.
fn is_word(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '`'))
        && !text.contains(char::is_whitespace)
}
