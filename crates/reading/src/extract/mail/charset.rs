//! Charset: the text of a part whose charset is missing, unknown or false. The library decodes its bytes
//! above 127 to U+FFFD or to wrong characters. Here the encoding of such a part is detected, as that of a
//! text file is.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode};
use mail_parser::{Encoding as Transfer, Message, MessagePart, MimeHeaders};

use crate::extract::text::charset::declared;
use fpdb_kernel::normalize::encoding_of;

/// The text of a part that the library decoded to `text`.
pub(super) fn plain<'a>(message: &Message<'_>, part: &MessagePart<'_>, text: &'a str) -> Cow<'a, str> {
    misread(message, part, text).map_or(Cow::Borrowed(text), |bytes| Cow::Owned(decoded(part, &bytes)))
}

/// Like [`plain`], for HTML, which may declare its encoding itself.
pub(super) fn page<'a>(message: &Message<'_>, part: &MessagePart<'_>, text: &'a str) -> Cow<'a, str> {
    let Some(bytes) = misread(message, part, text) else { return Cow::Borrowed(text) };
    // A page whose declaration can be read as ASCII is not in UTF-16.
    let declared = declared(&bytes).filter(|encoding| encoding.is_ascii_compatible());
    let stated = declared.and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(&bytes));
    Cow::Owned(stated.map_or_else(|| decoded(part, &bytes), Cow::into_owned))
}

fn charset_of<'a>(part: &'a MessagePart<'_>) -> Option<&'a str> {
    part.content_type().and_then(|kind| kind.attribute("charset"))
}

/// The bytes of a text that the library has decoded wrongly to `text`, after transfer decoding. `None` if
/// `text` is correct.
pub(super) fn misread<'a>(message: &'a Message<'_>, part: &MessagePart<'_>, text: &str) -> Option<Cow<'a, [u8]>> {
    // Japanese mail in ISO-2022-JP is ASCII with escapes.
    const ESCAPE: char = '\u{1b}';
    let charset = charset_of(part);
    let is_misread = match charset {
        None => text.contains([char::REPLACEMENT_CHARACTER, ESCAPE]),
        Some(charset) if is_ascii(charset) => !text.is_ascii(),
        Some(_) => is_mostly_replaced(text),
    };
    let encoding = charset.and_then(|charset| Encoding::for_label(charset.as_bytes()));
    let may_be_misread = !text.is_ascii() && encoding.is_some_and(|encoding| encoding != UTF_8);
    if !(is_misread || may_be_misread) {
        return None;
    }
    let raw = raw(message, part);
    let bytes = match part.encoding {
        Transfer::None => Some(Cow::Borrowed(raw)),
        Transfer::Base64 => base64_decode(raw).map(Cow::Owned),
        Transfer::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
    };
    bytes.filter(|bytes| is_misread || encoding.is_some_and(|encoding| contradicts(bytes, encoding)))
}

/// True for bytes that are surely not in their declared encoding, although that encoding can decode them.
/// Mail programs often declare another encoding for text in UTF-8, or declare UTF-16 for text in another
/// encoding.
fn contradicts(bytes: &[u8], declared: &'static Encoding) -> bool {
    if [UTF_16LE, UTF_16BE].contains(&declared) {
        let has_mark = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
        return !has_mark && is_surely_of_bytes(bytes);
    }
    // Text in a single-byte encoding is almost never valid UTF-8. In an encoding of two bytes, one character
    // in ten is valid UTF-8, so more characters are needed.
    let least = if declared.is_single_byte() { 2 } else { 10 };
    let is_long = |text: &str| text.chars().filter(|character| !character.is_ascii()).nth(least - 1).is_some();
    std::str::from_utf8(bytes).is_ok_and(is_long)
}

/// True for bytes that are surely not text in UTF-16. In UTF-16, spaces, line ends and all other ASCII
/// characters contain a zero byte. Text without such characters, for example Chinese text, may contain any
/// bytes.
fn is_surely_of_bytes(bytes: &[u8]) -> bool {
    // Minimum bytes of a text with spaces, and of an ASCII text without.
    const WORDS: usize = 8;
    const WORD: usize = 16;
    let is_line = |byte: &u8| b"\t\n\r".contains(byte);
    let is_space = |byte: &u8| *byte == b' ' || is_line(byte);
    let is_control = |byte: &u8| byte.is_ascii_control() && !is_line(byte) && *byte != b'\x1b';
    // In UTF-16, most punctuation of Chinese and Japanese contains control characters. Every letter of some
    // scripts contains a tab or a line end.
    if bytes.iter().any(is_control) || bytes.iter().filter(|byte| is_line(byte)).count() > bytes.len() / 4 {
        return false;
    }
    let spaces = bytes.iter().filter(|byte| is_space(byte)).count();
    let is_beside = |pair: &[u8]| {
        (is_space(&pair[0]) && pair[1].is_ascii_graphic()) || (pair[0].is_ascii_graphic() && is_space(&pair[1]))
    };
    let has_words = bytes.len() >= WORDS && spaces >= bytes.len() / 32 && bytes.windows(2).any(is_beside);
    let is_word = bytes.len() >= WORD && bytes.is_ascii();
    let is_utf8 =
        || std::str::from_utf8(bytes).is_ok_and(|text| text.chars().filter(|it| !it.is_ascii()).nth(1).is_some());
    has_words || is_word || is_utf8()
}

/// The text of bytes that the library could not decode.
fn decoded(part: &MessagePart<'_>, bytes: &[u8]) -> String {
    let decoder = charset_of(part).and_then(known_name).and_then(|name| charset_decoder(name.as_bytes()));
    decoder.map_or_else(|| detected(bytes), |decode| decode(bytes))
}

/// The library's name for a charset that mails call by another name. Detection finds none of these charsets.
/// The code pages 437 and 858 have the letters of Western languages at the same places as 850.
fn known_name(charset: &str) -> Option<&'static str> {
    let name: String = charset.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let number = name.trim_start_matches(|character: char| character.is_ascii_alphabetic());
    match number {
        "" if name.ends_with("macroman") => Some("macintosh"),
        "437" | "850" | "858" => Some("cp850"),
        _ => None,
    }
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

/// True for a name of ASCII. The library decodes such text as Windows-1252, whatever its bytes above 127 are.
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
