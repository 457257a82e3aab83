//! A whole document as UTF-8, with the bytes each part of it came from: for front-ends that must see the characters
//! before they can tell which of them are text, such as HTML.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::codec::Codec;
use super::decode::Decoder;
use super::legacy::{MultiByte, SingleByte};
use super::symbols::Symbols;
use super::utf8::Utf8;
use super::{Sink, detect};
use crate::document::Span;

/// Bytes decoded at a time.
const PIECE: usize = 64 << 10;

/// Takes the parts of a document in UTF-8, in order.
pub trait Scribe {
    /// Text that stands in the document just so, at its byte `at`.
    fn verbatim(&mut self, text: &str, at: u64);
    /// Text that the bytes `origin` stand for: U+FFFD where they stand for nothing.
    fn decoded(&mut self, text: &str, origin: Span);
}

/// The facts of a document that was transcribed.
#[derive(Clone, Copy, Debug)]
pub struct Transcribed {
    /// Its encoding, by its WHATWG name.
    pub encoding: &'static str,
    /// Byte sequences that are no characters in it.
    pub undecodable: u64,
}

/// The encoding in which a document is read as text, by its WHATWG name.
pub fn encoding_of(bytes: &[u8]) -> &'static str {
    struct Nobody;
    impl Scribe for Nobody {
        fn verbatim(&mut self, _: &str, _: u64) {}
        fn decoded(&mut self, _: &str, _: Span) {}
    }
    transcribe(bytes, None, &mut Nobody).encoding
}

/// The length of the byte order mark if nothing needs transcribing: the bytes are UTF-8 as they are, but for a mark of the
/// returned length, and do not look like UTF-16 without a mark.
pub fn is_plain_utf8(bytes: &[u8]) -> Option<usize> {
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let head = &bytes[..bytes.len().min(detect::HEAD)];
    (!super::is_wide_text(head) || mark > 0).then(|| str::from_utf8(bytes)).and_then(Result::ok).map(|_| mark)
}

/// Gives a document to `scribe` in UTF-8. Its encoding is what a byte order mark or the pattern
/// of UTF-16 says, then `declared`, then the guess that text without a declaration gets.
pub fn transcribe(bytes: &[u8], declared: Option<&'static Encoding>, scribe: &mut impl Scribe) -> Transcribed {
    let head = &bytes[..bytes.len().min(detect::HEAD)];
    let is_wide = detect::mark(head).is_some() || super::is_wide_text(head);
    let mut decoder = match declared {
        Some(encoding) if !is_wide => Decoder::of(codec(encoding)),
        _ => Decoder::default(),
    };
    let mut sink = Copyist { scribe, end: 0, is_gap: false };
    // The decoder's counts of lines are not used here.
    let mut symbols = Symbols::new();
    for piece in bytes.chunks(PIECE) {
        decoder.feed(piece, &mut sink, &mut symbols);
        symbols.clear();
    }
    let (encoding, tally) = decoder.finish(&mut sink, &mut symbols);
    // The end of a document is a cut as well.
    if tally.undecodable > 0 {
        sink.reach(bytes.len() as u64);
    }
    Transcribed { encoding, undecodable: tally.undecodable }
}

/// The decoder of a declared encoding. As browsers have it, a document whose declaration could be read is not UTF-16.
fn codec(encoding: &'static Encoding) -> Codec {
    if encoding == UTF_8 || encoding == UTF_16LE || encoding == UTF_16BE {
        Codec::Utf8(Utf8::default())
    } else if encoding.is_single_byte() {
        Codec::Single(Box::new(SingleByte::new(encoding)))
    } else {
        Codec::Multi(Box::new(MultiByte::new(encoding)))
    }
}

/// Where decoders put characters.
struct Copyist<'a, T> {
    scribe: &'a mut T,
    /// Where the last text ended.
    end: u64,
    /// True if undecodable bytes followed it.
    is_gap: bool,
}

impl<T: Scribe> Copyist<'_, T> {
    /// Text begins at `start`: what could not be decoded before it is known now.
    fn reach(&mut self, start: u64) {
        if std::mem::take(&mut self.is_gap) && start > self.end {
            self.scribe.decoded("\u{FFFD}", Span { start: self.end, end: start });
        }
    }
}

impl<T: Scribe> Sink for Copyist<'_, T> {
    fn text(&mut self, text: &str, at: u64, _: &mut Symbols) {
        if !text.is_empty() {
            self.reach(at);
            self.scribe.verbatim(text, at);
            self.end = at + text.len() as u64;
        }
    }

    fn char(&mut self, c: char, start: u64, end: u64, _: &mut Symbols) {
        self.reach(start);
        let mut buffer = [0; 4];
        match c.is_ascii() && end - start == 1 {
            true => self.scribe.verbatim(c.encode_utf8(&mut buffer), start),
            false => self.scribe.decoded(c.encode_utf8(&mut buffer), Span { start, end }),
        }
        self.end = end;
    }

    fn cut(&mut self, _: &mut Symbols) {
        self.is_gap = true;
    }
}
