//! Charset: the text of a part whose charset is missing, unknown or false. The library replaces each of its
//! bytes above 127 by U+FFFD. Here such a part is decoded as a text file is, by detection.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use mail_parser::decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode};
use mail_parser::{Encoding as Transfer, Message, MessagePart, MimeHeaders};

use crate::extract::text::charset::declared;
use fpdb_kernel::normalize::encoding_of;

/// The text of a part that the library decoded to `text`.
pub(super) fn plain<'a>(message: &Message<'_>, part: &MessagePart<'_>, text: &'a str) -> Cow<'a, str> {
    misread(message, part, text).map_or(Cow::Borrowed(text), |bytes| Cow::Owned(detected(&bytes)))
}

/// Like [`plain`], for HTML, which may declare its encoding itself.
pub(super) fn page<'a>(message: &Message<'_>, part: &MessagePart<'_>, text: &'a str) -> Cow<'a, str> {
    let Some(bytes) = misread(message, part, text) else { return Cow::Borrowed(text) };
    // A declaration in ASCII is never in UTF-16.
    let declared = declared(&bytes).filter(|encoding| encoding.is_ascii_compatible());
    let stated = declared.and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(&bytes));
    Cow::Owned(stated.map_or_else(|| detected(&bytes), Cow::into_owned))
}

/// The bytes of a text that is not in its declared charset, after transfer decoding. `None` if the library's
/// `text` is right.
pub(super) fn misread<'a>(message: &'a Message<'_>, part: &MessagePart<'_>, text: &str) -> Option<Cow<'a, [u8]>> {
    // Japanese mail in ISO-2022-JP is ASCII with escapes.
    const ESCAPE: char = '\u{1b}';
    let is_misread = match part.content_type().and_then(|kind| kind.attribute("charset")) {
        None => text.contains([char::REPLACEMENT_CHARACTER, ESCAPE]),
        Some(charset) if is_ascii(charset) => !text.is_ascii(),
        Some(_) => is_mostly_replaced(text),
    };
    let charset = part.content_type().and_then(|kind| kind.attribute("charset"));
    // Mail programs often declare such a charset for UTF-8.
    let may_be_utf8 = !is_misread && !text.is_ascii() && charset.is_some_and(is_single_byte);
    if !(is_misread || may_be_utf8) {
        return None;
    }
    let raw = raw(message, part);
    let bytes = match part.encoding {
        Transfer::None => Some(Cow::Borrowed(raw)),
        Transfer::Base64 => base64_decode(raw).map(Cow::Owned),
        Transfer::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
    };
    bytes.filter(|bytes| is_misread || is_utf8(bytes))
}

fn is_single_byte(charset: &str) -> bool {
    Encoding::for_label(charset.as_bytes()).is_some_and(Encoding::is_single_byte)
}

/// True for UTF-8 with at least two characters beyond ASCII. Text in a charset of single bytes is almost
/// never valid UTF-8.
fn is_utf8(bytes: &[u8]) -> bool {
    let is_long = |text: &str| text.chars().filter(|character| !character.is_ascii()).nth(1).is_some();
    std::str::from_utf8(bytes).is_ok_and(is_long)
}

/// The bytes of a part in its message, before transfer decoding.
pub(super) fn raw<'a>(message: &'a Message<'_>, part: &MessagePart<'_>) -> &'a [u8] {
    message.raw_message.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default()
}

/// The text of bytes, decoded as a text file is.
pub(super) fn detected(bytes: &[u8]) -> String {
    let (text, _, _) = encoding(bytes).decode(bytes);
    text.into_owned()
}

/// The detected encoding of bytes.
pub(super) fn encoding(bytes: &[u8]) -> &'static Encoding {
    Encoding::for_label(encoding_of(bytes).as_bytes()).unwrap_or(UTF_8)
}

/// True for a charset of ASCII. The library reads it as Windows-1252, whatever its other bytes are.
fn is_ascii(charset: &str) -> bool {
    ["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us"].iter().any(|name| name.eq_ignore_ascii_case(charset))
}

/// True if a text has at least as many replaced sequences as other non-ASCII characters. A few broken bytes
/// do not make a declaration false.
fn is_mostly_replaced(text: &str) -> bool {
    let (mut replaced, mut other) = (0_usize, 0_usize);
    for character in text.chars().filter(|character| !character.is_ascii()) {
        *(if character == char::REPLACEMENT_CHARACTER { &mut replaced } else { &mut other }) += 1;
    }
    replaced > 0 && replaced >= other
}
