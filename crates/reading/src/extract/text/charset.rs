//! Charset: the encoding that HTML or XML declares, in an XML declaration or a `meta` element near the start.

use encoding_rs::Encoding;
use html5gum::{Token, Tokenizer};

const ESCAPE: u8 = 0x1B;

/// Number of bytes searched for a declaration. The standard asks for 1,024 bytes, and restarts the parser at
/// a later declaration.
const HEAD: usize = 16 << 10;

/// The encoding that HTML or XML declares. `None` if it declares none or an unknown one, or if the encoding
/// does not matter.
pub(crate) fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    // Most pages are ASCII, so the encoding does not matter. ISO-2022-JP also uses only ASCII bytes, but
    // escapes change the meaning of the bytes.
    if bytes.is_ascii() && memchr::memchr(ESCAPE, bytes).is_none() {
        return None;
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    Tokenizer::new(head).flatten().find_map(|token| match token {
        Token::StartTag(tag) if *tag.name == b"meta" => {
            let value = |name: &[u8]| tag.attributes.get(name).map(|value| value.as_slice());
            match value(b"charset") {
                Some(label) => Encoding::for_label(label),
                None => value(b"content")
                    .filter(|_| value(b"http-equiv").is_some_and(|of| of.eq_ignore_ascii_case(b"content-type")))
                    .and_then(|content| named_in(content, b"charset")),
            }
        }
        // The HTML tokeniser treats an XML declaration as a comment.
        Token::Comment(comment) if comment.starts_with(b"?xml") => named_in(&comment, b"encoding"),
        _ => None,
    })
}

/// The encoding in `text` after `key` and an equals sign, with or without quotes.
fn named_in(text: &[u8], key: &[u8]) -> Option<&'static Encoding> {
    let found = text.windows(key.len()).position(|window| window.eq_ignore_ascii_case(key))?;
    let value = text[found + key.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let end = |&byte: &u8| byte.is_ascii_whitespace() || byte == b';';
    let label = match value.split_first()? {
        (&quote @ (b'"' | b'\''), rest) => rest.split(|&byte| byte == quote).next()?,
        _ => value.split(end).next()?,
    };
    Encoding::for_label(label)
}
