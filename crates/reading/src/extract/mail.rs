//! Mail: extracts the subject and the texts of a message (RFC 5322, MIME), or its attachments, decoded by
//! `mail-parser`. The attachments are the parts that are not texts, and the messages in the message. The text
//! of an inner message is also part of the text of the outer message. Other parts of an inner message are
//! attachments of the inner message only.
//!
//! The library drops the last part of a multipart without a closing line, as in a mail that was cut off. So
//! missing closing lines are added before the message is read. The library decodes no base64 that has a stray
//! byte, so such base64 is [repaired](base64) too.

mod base64;
mod charset;
mod emlx;
mod headers;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use mail_parser::{Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use rustc_hash::{FxHashMap, FxHashSet};

use super::attachments::{Attachment, Attachments};
use super::{Extracted, InputLimits, html};
use crate::extract::text::extracted::UnreadParts;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;
pub(super) use headers::headers;

/// Maximum nesting of messages that are read, and of multiparts that are closed.
const DEPTH: u32 = 16;

/// Extracts the text of a message.
pub(super) fn extract(bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    let mut unread = UnreadParts::default();
    let text = with_message(bytes, |message| text_of(message, limits, &mut |_, _, content| unread.add(content)))?;
    Ok(Extracted { unread: unread.finish(), ..Extracted::detached(text) })
}

/// The attachments of a message: its inner messages, and its other parts that [`extract`] counts as unread.
pub(super) fn attachments(bytes: &[u8]) -> Result<Attachments> {
    let mut attachments = Attachments::default();
    with_message(bytes, |message| {
        read(message, &mut String::new(), &mut |message, part, _| {
            let kind = part.content_type();
            let media_type = kind.map_or_else(String::new, |kind| {
                format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()).to_ascii_lowercase()
            });
            let name = part.attachment_name().unwrap_or_default();
            let is_broken = part.is_encoding_problem && is_base64(part);
            let content = if is_broken { Cow::default() } else { content(message, part) };
            attachments.push(Attachment { name, media_type: &media_type, content: &content, is_broken });
        });
        Ok(())
    })?;
    Ok(attachments)
}

/// The bytes of an attachment as the sender attached it. A text whose encoding the message states is returned
/// in UTF-8, because the file alone would not show that encoding.
fn content<'a>(message: &'a Message<'_>, part: &'a MessagePart<'_>) -> Cow<'a, [u8]> {
    let has_charset = || part.content_type().is_some_and(|kind| kind.has_attribute("charset"));
    if let PartType::Html(text) | PartType::Text(text) = &part.body
        && let Some(bytes) = charset::misread(message, part, text)
    {
        return bytes;
    }
    match &part.body {
        // A byte order mark takes precedence over the encoding that the page declares.
        PartType::Html(page) if has_charset() && !page.is_ascii() => [b"\xEF\xBB\xBF", page.as_bytes()].concat().into(),
        PartType::Html(text) | PartType::Text(text) => text.as_bytes().into(),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.as_ref().into(),
        // If an inner message has no encoding of its own, its `raw_message` is the whole outer message.
        PartType::Message(_) if part.encoding == Encoding::None => charset::raw(message, part).into(),
        PartType::Message(inner) => inner.raw_message.as_ref().into(),
        PartType::Multipart(_) => Cow::default(),
    }
}

/// Parses and repairs the message in these bytes. Returns the result of `take` for it.
fn with_message<T>(bytes: &[u8], take: impl FnOnce(&Message<'_>) -> Result<T>) -> Result<T> {
    let mut bytes = Cow::Borrowed(emlx::mail_in(bytes));
    for depth in (0..=DEPTH).rev() {
        let message = MessageParser::default().parse(bytes.as_ref());
        let message = message.ok_or_else(|| Error::not_of_format(Format::Mail, "it has no header"))?;
        // A part without a closing line hides the multiparts within it. Once the part is closed, the next
        // round finds and closes these multiparts.
        let mended = || closed(&message, &bytes).or_else(|| with_repaired_base64(&message, &bytes));
        let Some(mended) = (depth > 0).then(mended).flatten() else { return take(&message) };
        drop(message);
        bytes = Cow::Owned(mended);
    }
    Err(Error::not_of_format(Format::Mail, "its parts contain each other"))
}

/// Receives the message of an unread part, the part itself, and the bytes for the digest of its content.
type TakeUnread<'a> = dyn FnMut(&Message<'_>, &MessagePart<'_>, &[u8]) + 'a;

/// The text of a message. Passes the other parts to `unread`.
fn text_of(message: &Message<'_>, limits: &InputLimits, unread: &mut TakeUnread<'_>) -> Result<String> {
    let mut text = String::new();
    // Messages still to be read; the next one is last.
    let mut waiting = vec![(message, 0)];
    while let Some((message, depth)) = waiting.pop() {
        read(message, &mut text, &mut |message, part, content| {
            if !matches!(part.body, PartType::Message(_)) {
                unread(message, part, content);
            }
        });
        if text.len() as u64 > limits.unpacked_bytes {
            return Err(Error::Document(DocumentError::Unpacked {
                format: Format::Mail.name(),
                limit: limits.unpacked_bytes,
            }));
        }
        let inner = message.parts.iter().rev().filter_map(|part| match &part.body {
            PartType::Message(inner) => Some((inner, part)),
            _ => None,
        });
        if depth < DEPTH {
            waiting.extend(inner.map(|(inner, _)| (inner, depth + 1)));
        } else {
            inner.for_each(|(inner, part)| unread(message, part, &inner.raw_message));
        }
    }
    Ok(text)
}

/// Adds the subject and the texts of a message. If a text is also present as HTML, only the plain text is
/// added, or the HTML if the plain text is a [stub](prefer_pages). Other parts and messages go to `unread`.
fn read(message: &Message<'_>, text: &mut String, unread: &mut TakeUnread<'_>) {
    let mut add = |block: &str| {
        text.push_str(block);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    add(&headers::subject(message));
    // If a multipart/alternative has no plain text, the library lists its HTML as the text when the multipart
    // ends. In a mail that was cut off, the multipart may not end.
    let texts = if message.text_body.is_empty() { &message.html_body } else { &message.text_body };
    let set = |numbers: &[u32]| numbers.iter().copied().collect::<FxHashSet<u32>>();
    let (mut texts, attachments) = (set(texts), set(&message.attachments));
    let pages = set(&message.html_body);
    let other = other_texts(message, &texts, &pages);
    prefer_pages(message, &pages, &mut texts);
    for (number, part) in (0..).zip(&message.parts) {
        let is_text = texts.contains(&number) || is_broken_text(part);
        match &part.body {
            PartType::Text(plain) if is_text || other.contains(&number) => {
                add(&charset::plain(message, part, plain));
            }
            PartType::Html(page) if is_text => add(&html::text_of_str(&charset::page(message, part, page))),
            PartType::Binary(other) if is_text && memchr::memchr(0, other).is_none() => {
                add(&charset::detected(other));
            }
            PartType::Message(inner) => unread(message, part, &inner.raw_message),
            PartType::Multipart(_) => {}
            _ if !attachments.contains(&number) => {}
            PartType::Text(other) | PartType::Html(other) => unread(message, part, other.as_bytes()),
            PartType::Binary(other) | PartType::InlineBinary(other) => unread(message, part, other),
        }
    }
}

/// The numbers of the parts that are texts of other kinds, such as `text`, `text/enriched` and
/// `text/calendar`. These are read as plain text. Attachments, RTF, CSS and JavaScript are left out. So are
/// parts of an alternative that also has the text as plain text or HTML. `texts` and `pages` are as in
/// [`prefer_pages`].
fn other_texts(message: &Message<'_>, texts: &FxHashSet<u32>, pages: &FxHashSet<u32>) -> FxHashSet<u32> {
    let mut repeating: FxHashSet<u32> = FxHashSet::default();
    for (number, part) in (0..).zip(&message.parts) {
        if let PartType::Multipart(inside) = &part.body
            && part.content_type().and_then(|kind| kind.subtype()) == Some("alternative")
            && inside.iter().any(|number| texts.contains(number) || pages.contains(number))
        {
            repeating.extend(inside);
        }
        // A multipart comes before its parts.
        if let PartType::Multipart(inside) = &part.body
            && repeating.contains(&number)
        {
            repeating.extend(inside);
        }
    }
    let is_other = |part: &MessagePart<'_>| {
        let kind = part.content_type().filter(|kind| kind.ctype().eq_ignore_ascii_case("text"));
        kind.is_some_and(|kind| {
            let is = |name: &str| kind.subtype().is_some_and(|subtype| subtype.eq_ignore_ascii_case(name));
            !["plain", "html", "rtf", "css", "javascript"].iter().any(|name| is(name))
        })
    };
    let is_attached = |part: &MessagePart<'_>| {
        part.content_disposition().is_some_and(|of| of.is_attachment()) || part.attachment_name().is_some()
    };
    let numbered = (0..).zip(&message.parts);
    let others = numbered.filter(|(number, part)| !repeating.contains(number) && is_other(part) && !is_attached(part));
    others.map(|(number, _)| number).collect()
}

/// If the plain text of an alternative is empty or a stub, replaces it by the HTML. A stub has fewer than a
/// tenth of the words of the HTML; an example is "this mail needs a reader of HTML". `pages` and `texts` are
/// the numbers of the parts that the library lists as the HTML and the plain form of the message.
fn prefer_pages(message: &Message<'_>, pages: &FxHashSet<u32>, texts: &mut FxHashSet<u32>) {
    let words = |text: &str| text.split_whitespace().count();
    let mut seen = FxHashSet::default();
    // A multipart comes before its parts. So this loop, from the last part to the first, finds the innermost
    // alternative of each part first.
    for alternative in message.parts.iter().rev() {
        let PartType::Multipart(inside) = &alternative.body else { continue };
        if alternative.content_type().and_then(|kind| kind.subtype()) != Some("alternative") {
            continue;
        }
        let (mut of_plain, mut of_pages, mut numbers) = (0, 0, (Vec::new(), Vec::new()));
        let mut waiting = inside.clone();
        while let Some(number) = waiting.pop() {
            if !seen.insert(number) {
                continue;
            }
            match message.parts.get(number as usize).map(|part| &part.body) {
                Some(PartType::Multipart(inside)) => waiting.extend(inside),
                Some(PartType::Text(plain)) if texts.contains(&number) && !pages.contains(&number) => {
                    of_plain += words(plain);
                    numbers.0.push(number);
                }
                Some(PartType::Html(page)) if pages.contains(&number) && !texts.contains(&number) => {
                    of_pages += words(&html::text_of_str(page));
                    numbers.1.push(number);
                }
                _ => {}
            }
        }
        if of_plain * 10 < of_pages {
            for number in &numbers.0 {
                texts.remove(number);
            }
            texts.extend(numbers.1);
        }
    }
}

/// True for a text that the library counts as an attachment, because its encoding is broken or its parts are
/// not separated. Such a text is read as it is, unless it is base64.
fn is_broken_text(part: &MessagePart<'_>) -> bool {
    let kind = part.content_type();
    let is_multipart = kind.is_some_and(|kind| kind.ctype() == "multipart");
    let is_text = kind.is_none_or(|kind| kind.ctype() == "text");
    let is_attached = part.content_disposition().is_some_and(|of| of.is_attachment());
    !is_attached && !is_base64(part) && (is_multipart || (is_text && part.is_encoding_problem))
}

fn is_base64(part: &MessagePart<'_>) -> bool {
    part.content_transfer_encoding().is_some_and(|of| of.eq_ignore_ascii_case("base64"))
}

/// The message with its broken base64 [repaired](base64::repaired); `None` if nothing was repaired.
fn with_repaired_base64(message: &Message<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = BTreeMap::new();
    let mut waiting = vec![message];
    while let Some(message) = waiting.pop() {
        for part in &message.parts {
            let range = part.offset_body as usize..part.offset_end as usize;
            match &part.body {
                PartType::Message(inner) if inner.raw_message.len() == bytes.len() => waiting.push(inner),
                _ if part.is_encoding_problem && is_base64(part) => {
                    let text = bytes.get(range.clone()).and_then(base64::repaired);
                    repaired.extend(text.map(|text| (range.start, (range.end, text))));
                }
                _ => {}
            }
        }
    }
    let (mut message, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for (&start, (end, text)) in &repaired {
        message.extend_from_slice(bytes.get(at..start)?);
        message.extend_from_slice(text);
        at = *end;
    }
    message.extend_from_slice(bytes.get(at..)?);
    (!repaired.is_empty()).then_some(message)
}

/// The message with missing closing lines added; `None` if none are missing.
fn closed(message: &Message<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
    // The boundary of each multipart, with the offset of its body.
    let mut boundaries: Vec<(usize, &[u8])> = Vec::new();
    let mut has_broken = false;
    let mut waiting = vec![message];
    while let Some(message) = waiting.pop() {
        for part in &message.parts {
            has_broken |= part.is_encoding_problem;
            match &part.body {
                // Offsets in an encoded message do not refer to these bytes.
                PartType::Message(inner) if inner.raw_message.len() == bytes.len() => waiting.push(inner),
                PartType::Multipart(_) => {
                    let boundary = part.content_type().and_then(|kind| kind.attribute("boundary"));
                    boundaries.extend(boundary.map(|boundary| (part.offset_body as usize, boundary.as_bytes())));
                }
                _ => {}
            }
        }
    }
    if !has_broken {
        return None;
    }
    boundaries.sort_unstable();
    let mut boundaries = boundaries.into_iter().peekable();
    let (mut closed, mut has_closed) = (Vec::with_capacity(bytes.len()), false);
    let mut close = |closed: &mut Vec<u8>, boundary: &[u8]| {
        has_closed = true;
        closed.extend_from_slice(b"--");
        closed.extend_from_slice(boundary);
        closed.extend_from_slice(b"--\n");
    };
    let (mut open, mut at) = (OpenParts::default(), 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        while let Some((_, boundary)) = boundaries.next_if(|&(begin, _)| begin <= at) {
            open.push(boundary);
        }
        at += line.len();
        if let Some(rest) = line.strip_prefix(b"--").map(<[u8]>::trim_ascii_end)
            && let Some(found) = open.innermost(rest)
        {
            while open.boundaries.len() > found + 1 {
                open.pop().into_iter().for_each(|inner| close(&mut closed, inner));
            }
            if rest != open.boundaries[found] {
                open.pop();
            }
        }
        closed.extend_from_slice(line);
    }
    if !open.boundaries.is_empty() && !closed.ends_with(b"\n") {
        closed.push(b'\n');
    }
    open.boundaries.iter().rev().for_each(|boundary| close(&mut closed, boundary));
    has_closed.then_some(closed)
}

/// The multiparts that are open, found by their boundaries.
#[derive(Default)]
struct OpenParts<'a> {
    boundaries: Vec<&'a [u8]>,
    /// The places of a boundary in `boundaries`.
    places: FxHashMap<&'a [u8], Vec<usize>>,
}

impl<'a> OpenParts<'a> {
    fn push(&mut self, boundary: &'a [u8]) {
        self.places.entry(boundary).or_default().push(self.boundaries.len());
        self.boundaries.push(boundary);
    }

    fn pop(&mut self) -> Option<&'a [u8]> {
        let boundary = self.boundaries.pop()?;
        self.places.get_mut(boundary)?.pop();
        Some(boundary)
    }

    /// The index of the innermost open multipart whose boundary a line has. `rest` is the line after its
    /// first `--`.
    fn innermost(&self, rest: &[u8]) -> Option<usize> {
        let last = |boundary: &[u8]| self.places.get(boundary)?.last().copied();
        last(rest).max(rest.strip_suffix(b"--").and_then(last))
    }
}
