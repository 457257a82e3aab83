//! Unit token: the tokens of source code.

mod lexer;

use super::symbols::Symbols;
use crate::document::Language;

/// Appends the tokens of a whole document; `None` is any text, read by its words and marks.
pub(super) fn tokens(_language: Option<Language>, bytes: &[u8], out: &mut Symbols) {
    lexer::tokens(bytes, out);
}
