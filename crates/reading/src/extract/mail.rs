//! Mail: extracts the subject and the texts of a message (RFC 5322, MIME), or its attachments, decoded by
//! `mail-parser`. The attachments are the parts that are not texts, and the messages in the message. The text
//! of an inner message is also part of the text of the outer message. Other parts of an inner message are
//! attachments of the inner message only.
//!
//! The library drops the last part of a multipart without a closing line, as in a mail that was cut off. So
//! missing closing lines are added before the message is read.

mod emlx;
mod headers;

use std::borrow::Cow;

use mail_parser::decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode};
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

/// The attachments of a message: the messages in it, and the other parts of it that [`extract`] counts as
/// unread.
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

/// The bytes of an attachment as the sender attached it. If the message tells the encoding of a text, the
/// text is in UTF-8, because the file alone does not show its encoding.
fn content<'a>(message: &'a Message<'_>, part: &'a MessagePart<'_>) -> Cow<'a, [u8]> {
    let has_charset = || part.content_type().is_some_and(|kind| kind.has_attribute("charset"));
    let raw = || message.raw_message.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    match &part.body {
        // A mark takes precedence over the encoding that the page declares.
        PartType::Html(page) if has_charset() && !page.is_ascii() => [b"\xEF\xBB\xBF", page.as_bytes()].concat().into(),
        // Bytes that are not UTF-8 were replaced.
        PartType::Html(text) | PartType::Text(text) if !has_charset() && text.contains('\u{fffd}') => {
            let decoded = match part.encoding {
                Encoding::None => Some(raw().to_vec()),
                Encoding::Base64 => base64_decode(raw()),
                Encoding::QuotedPrintable => quoted_printable_decode(raw()),
            };
            decoded.map_or(text.as_bytes().into(), Cow::Owned)
        }
        PartType::Html(text) | PartType::Text(text) => text.as_bytes().into(),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.as_ref().into(),
        // If an inner message has no encoding of its own, its `raw_message` is the whole outer message.
        PartType::Message(_) if part.encoding == Encoding::None => raw().into(),
        PartType::Message(inner) => inner.raw_message.as_ref().into(),
        PartType::Multipart(_) => Cow::default(),
    }
}

/// Passes on the message in these bytes.
fn with_message<T>(bytes: &[u8], take: impl FnOnce(&Message<'_>) -> Result<T>) -> Result<T> {
    let mut bytes = Cow::Borrowed(emlx::mail_in(bytes));
    for depth in (0..=DEPTH).rev() {
        let message = MessageParser::default().parse(bytes.as_ref());
        let message = message.ok_or_else(|| Error::not_of_format(Format::Mail, "it has no header"))?;
        // A part without a closing line hides the multiparts within it. Once it is closed, the next round
        // finds and closes these.
        let closed = if depth == 0 { None } else { closed(&message, &bytes) };
        let Some(closed) = closed else { return take(&message) };
        drop(message);
        bytes = Cow::Owned(closed);
    }
    Err(Error::not_of_format(Format::Mail, "its parts contain each other"))
}

/// Receives the message of an unread part, the part, and its content as it is compared.
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
    add(message.subject().unwrap_or_default());
    // The library lists the HTML of a multipart/alternative without plain text as the text once this part
    // ends. In a mail that was cut off, the part may not end.
    let texts = if message.text_body.is_empty() { &message.html_body } else { &message.text_body };
    let set = |numbers: &[u32]| numbers.iter().copied().collect::<FxHashSet<u32>>();
    let (mut texts, attachments) = (set(texts), set(&message.attachments));
    prefer_pages(message, &set(&message.html_body), &mut texts);
    for (number, part) in (0..).zip(&message.parts) {
        let is_text = texts.contains(&number) || is_broken_text(part);
        match &part.body {
            PartType::Text(plain) if is_text => add(plain),
            PartType::Html(page) if is_text => add(&html::text_of_str(page)),
            PartType::Binary(other) if is_text && memchr::memchr(0, other).is_none() => {
                add(&String::from_utf8_lossy(other));
            }
            PartType::Message(inner) => unread(message, part, &inner.raw_message),
            PartType::Multipart(_) => {}
            _ if !attachments.contains(&number) => {}
            PartType::Text(other) | PartType::Html(other) => unread(message, part, other.as_bytes()),
            PartType::Binary(other) | PartType::InlineBinary(other) => unread(message, part, other),
        }
    }
}

/// If the plain text of an alternative is empty or a stub, replaces it by the HTML. An example is "this mail
/// needs a reader of HTML". A stub has fewer than a tenth of the words of the HTML. `pages` and `texts` are
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

/// The message with missing closing lines added; `None` if none are missing.
fn closed(message: &Message<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
    // Ordered by the offset of their parts.
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

    /// The innermost multipart whose boundary is in a line. `rest` is the line after its first `--`.
    fn innermost(&self, rest: &[u8]) -> Option<usize> {
        let last = |boundary: &[u8]| self.places.get(boundary)?.last().copied();
        last(rest).max(rest.strip_suffix(b"--").and_then(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mail: &str) -> (String, u64) {
        let extracted = extract(mail.as_bytes(), &InputLimits::default()).unwrap();
        (String::from_utf8(extracted.text).unwrap(), extracted.unread.count)
    }

    /// A multipart with these parts; each part includes its header.
    fn multipart(kind: &str, boundary: &str, parts: &[&str], end: &str) -> String {
        let parts: String = parts.iter().map(|part| format!("--{boundary}\n{part}\n")).collect();
        format!("Content-Type: multipart/{kind}; boundary={boundary}\n\n{parts}{end}")
    }

    const PLAIN: &str = "Content-Type: text/plain\n\nthe plain words";
    const PAGE: &str = "Content-Type: text/html\n\n<p>the words of a page</p>";
    const BASE64: &str = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nd29yZHMgaW4gYmFzZTY0";
    const QUOTED: &str =
        "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nna=EFve wo=\nrds";
    const MESSAGE: &str = "Content-Type: message/rfc822\n\nSubject: inner\n\nwords of a message";

    #[test]
    fn a_multipart_that_nothing_closes_is_read_to_its_end() {
        let cases = [
            (PLAIN, "the plain words"),
            (PAGE, "the words of a page"),
            (BASE64, "words in base64"),
            (QUOTED, "na\u{EF}ve words"),
            (MESSAGE, "words of a message"),
        ];
        for kind in ["mixed", "related", "signed", "report", "alternative", "other"] {
            for (last, words) in cases {
                for first in [&[][..], &[PLAIN], &["Content-Type: image/png\n\nPNG"]] {
                    // In `related` and `alternative`, the first part changes the role of the last one.
                    if !first.is_empty() && !matches!(kind, "mixed" | "signed" | "report" | "other") {
                        continue;
                    }
                    let parts = [first, &[last]].concat();
                    let closed = read(&format!("From: a\n{}", multipart(kind, "BB", &parts, "--BB--\n")));
                    assert!(closed.0.contains(words), "{kind} {last}: {closed:?}");
                    for end in ["", "--BB", "--B"] {
                        // Base64 ends at the first byte outside its alphabet, and then is broken.
                        if last == BASE64 && end == "--B" {
                            continue;
                        }
                        let cut = read(&format!("From: a\n{}", multipart(kind, "BB", &parts, end)));
                        assert!(cut.0.contains(words), "{kind} {last} and {end:?}: {cut:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_multipart_that_ends_with_the_one_around_it_hides_no_part() {
        let inner = multipart("alternative", "II", &[PLAIN], "");
        let second = multipart("mixed", "SS", &["Content-Type: text/plain\n\nthe second words"], "");
        let mail = multipart("mixed", "BB", &[&inner, &second, QUOTED], "");
        let (text, unread) = read(&format!("From: a\n{mail}"));
        assert_eq!((text.as_str(), unread), ("the plain words\nthe second words\nna\u{EF}ve words\n", 0));
    }

    #[test]
    fn the_innermost_of_the_open_multiparts_is_found() {
        let (mut open, mut naive) = (OpenParts::default(), Vec::new());
        let names: [&[u8]; 4] = [b"A", b"B", b"A--", b""];
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen = (state >> 33) as usize % 7;
            match names.get(chosen) {
                Some(&name) => {
                    open.push(name);
                    naive.push(name);
                }
                None => assert_eq!(open.pop(), naive.pop()),
            }
            for line in [&b"A"[..], b"A--", b"A----", b"B", b"B--", b"--", b"", b"C"] {
                let is_it = |&it: &&[u8]| line == it || line.strip_suffix(b"--") == Some(it);
                assert_eq!(open.innermost(line), naive.iter().rposition(is_it), "{line:?} in {naive:?}");
            }
        }
    }

    #[test]
    fn a_multipart_whose_parts_never_begin_is_text() {
        for header in ["multipart/mixed; boundary=never", "multipart/mixed"] {
            let (text, _) = read(&format!("From: a\nContent-Type: {header}\n\nwords that stand there\n"));
            assert_eq!(text, "words that stand there\n", "{header}");
        }
    }

    #[test]
    fn attachments_are_counted_and_compared() {
        let with = |attached: &str| {
            let attached = format!("Content-Type: application/pdf\nContent-Disposition: attachment\n\n{attached}");
            let mail = format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, &attached], "--BB--\n"));
            extract(mail.as_bytes(), &InputLimits::default()).unwrap()
        };
        let (one, other) = (with("%PDF-1"), with("%PDF-2"));
        assert_eq!((one.text == other.text, one.unread.count, other.unread.count), (true, 1, 1));
        assert_ne!(one.unread.digest, other.unread.digest);
        assert_eq!(one.unread, with("%PDF-1").unread);
        assert_eq!(read(&format!("From: a\n{PLAIN}")).1, 0);
        let alternative = multipart("alternative", "BB", &[PLAIN, PAGE], "--BB--\n");
        assert_eq!(read(&format!("From: a\n{alternative}")), ("the plain words\n".into(), 0));
    }

    #[test]
    fn attachments_are_the_parts_that_are_counted() {
        let attached = |kind: &str, content: &str| format!("Content-Type: {kind}\n{content}");
        let pdf = attached("application/pdf; name=a.pdf", "\n%PDF-1");
        let named =
            attached("text/html; charset=latin1", "Content-Disposition: attachment; filename*=utf-8''%C3%A4\n\n\u{e9}");
        let broken = attached("a/b", "Content-Transfer-Encoding: base64\n\nYW!J");
        let inner = format!("Content-Type: message/rfc822\n\n{}", multipart("mixed", "CC", &[PLAIN, &pdf], "--CC--\n"));
        let bytes =
            format!("From: a\n{}", multipart("mixed", "BB", &[PLAIN, &pdf, &named, &broken, &inner], "--BB--\n"));
        let found = attachments(bytes.as_bytes()).unwrap();
        let inner = inner.split_once("\n\n").unwrap().1;
        let of_inner = attachments(inner.as_bytes()).unwrap();
        // The message in the message is text too.
        assert_eq!((found.iter().count() + of_inner.iter().count()) as u64, read(&bytes).1 + 1);
        let pdf = Attachment { name: "a.pdf", media_type: "application/pdf", content: b"%PDF-1", is_broken: false };
        let named =
            Attachment { name: "\u{e4}", media_type: "text/html", content: "\u{feff}\u{c3}\u{a9}".as_bytes(), ..pdf };
        let broken = Attachment { name: "", media_type: "a/b", content: b"", is_broken: true };
        let [.., message] = found.iter().collect::<Vec<_>>()[..] else { panic!("no attachment") };
        assert_eq!((message.media_type, message.name), ("message/rfc822", ""));
        assert_eq!(str::from_utf8(message.content).unwrap().trim_end(), inner.trim_end());
        assert_eq!(found.iter().take(3).collect::<Vec<_>>(), [pdf, named, broken]);
        assert_eq!(of_inner.iter().collect::<Vec<_>>(), [pdf]);
    }

    #[test]
    fn messages_within_each_other_are_attachments_of_each_other() {
        let mut mail = "Subject: innermost\n\nwords".to_owned();
        for _ in 0..=DEPTH {
            let outer = format!("Subject: outer\nContent-Type: message/rfc822\n\n{mail}");
            let found = attachments(outer.as_bytes()).unwrap();
            let found: Vec<Attachment<'_>> = found.iter().collect();
            let [one] = found[..] else { panic!("{found:?}") };
            assert_eq!((one.media_type, one.content), ("message/rfc822", mail.as_bytes()));
            mail = outer;
        }
        // The message that is nested too deeply is not read as text.
        assert_eq!(read(&mail).1, 1);
    }

    /// The oracle: the words of both forms, counted by the way they were made.
    #[test]
    fn the_html_is_read_if_the_plain_text_is_a_stub() {
        let words = |prefix: &str, number: usize| (0..number).map(|n| format!("{prefix}{n} ")).collect::<String>();
        for (of_plain, of_page) in [(0, 1), (1, 10), (1, 11), (9, 90), (9, 91), (30, 200), (0, 0)] {
            let plain = format!("Content-Type: text/plain\n\n{}", words("p", of_plain));
            let page = format!("Content-Type: text/html\n\n<p>{}</p>", words("h", of_page));
            let picture = "Content-Type: image/png\n\nPNG";
            let related = multipart("related", "RR", &[&page, picture], "--RR--\n");
            let last = "Content-Type: text/plain\n\nlast";
            for page in [&page, &related] {
                let alternative = multipart("alternative", "AA", &[&plain, page], "--AA--\n");
                let mixed = multipart("mixed", "MM", &[&alternative, last], "--MM--\n");
                for (mail, end) in [(&alternative, ""), (&mixed, "last")] {
                    let text = read(&format!("From: a\n{mail}")).0;
                    let prefer = if of_plain * 10 < of_page { words("h", of_page) } else { words("p", of_plain) };
                    let expected: Vec<&str> = prefer.split_whitespace().chain(end.split_whitespace()).collect();
                    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), expected, "{of_plain} {of_page}");
                }
            }
        }
    }
}
