//! The lexer for what no grammar reads: words, and every mark by itself.

use crate::normalize::symbols::Symbols;
use crate::normalize::value::{value_of_byte, value_of_word};

/// Appends the tokens of `bytes`: runs of ASCII letters, digits, `_` and bytes above ASCII are words, lower case and
/// upper case being the same; any other byte that is not white space is a token.
pub(super) fn tokens(bytes: &[u8], out: &mut Symbols) {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        if is_word(byte) {
            at += bytes[at..].iter().take_while(|&&next| is_word(next)).count();
            let word = String::from_utf8_lossy(&bytes[start..at]).to_ascii_lowercase();
            out.push(value_of_word(&word), start as u64, at as u64);
        } else if byte == b'\n' {
            out.newline(start as u64);
        } else if !byte.is_ascii_whitespace() && byte != 0 {
            out.push(value_of_byte(byte), start as u64, at as u64);
        }
    }
}
