//! Transcription: a whole document as UTF-8, with the origin of each part. Readers of formats such as HTML
//! use it, because they must see all characters before they know which characters are text.

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

/// Receives the parts of a document in UTF-8, in order.
pub trait Scribe {
    /// Takes text that is the same in the document, at its byte `at`.
    fn verbatim(&mut self, text: &str, at: u64);
    /// Takes the text decoded from the bytes `origin`; U+FFFD for an invalid sequence.
    fn decoded(&mut self, text: &str, origin: Span);
}

/// Facts about a transcribed document.
#[derive(Clone, Copy, Debug)]
pub struct Transcribed {
    /// The encoding, by its WHATWG name.
    pub encoding: &'static str,
    /// Number of byte sequences that are invalid in the encoding.
    pub undecodable: u64,
}

/// The encoding of a document that is read as text, by its WHATWG name.
pub fn encoding_of(bytes: &[u8]) -> &'static str {
    struct Nobody;
    impl Scribe for Nobody {
        fn verbatim(&mut self, _: &str, _: u64) {}
        fn decoded(&mut self, _: &str, _: Span) {}
    }
    transcribe(bytes, None, &mut Nobody).encoding
}

/// The length of the byte order mark, which may be 0, of a document in UTF-8. Such a document needs no
/// transcription. `None` if the document is not UTF-8, or if it has no mark and looks like UTF-16.
pub fn is_plain_utf8(bytes: &[u8]) -> Option<usize> {
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let head = &bytes[..bytes.len().min(detect::HEAD)];
    (!super::is_wide_text(head) || mark > 0).then(|| str::from_utf8(bytes)).and_then(Result::ok).map(|_| mark)
}

/// Passes a document to `scribe` in UTF-8. A byte order mark or the pattern of UTF-16 shows the encoding.
/// Otherwise the encoding is `declared`; if that is `None`, it is detected in the text.
pub fn transcribe(bytes: &[u8], declared: Option<&'static Encoding>, scribe: &mut impl Scribe) -> Transcribed {
    let head = &bytes[..bytes.len().min(detect::HEAD)];
    let is_wide = detect::mark(head).is_some() || super::is_wide_text(head);
    let mut decoder = match declared {
        Some(encoding) if !is_wide => Decoder::of(codec(encoding)),
        _ => Decoder::default(),
    };
    let mut sink = Copyist { scribe, end: 0, is_gap: false };
    // The decoder records the ends of lines here. Nothing uses them.
    let mut symbols = Symbols::new();
    for piece in bytes.chunks(PIECE) {
        decoder.feed(piece, &mut sink, &mut symbols);
        symbols.clear();
    }
    let (encoding, tally) = decoder.finish(&mut sink, &mut symbols);
    // Invalid bytes at the end of the document count too.
    if tally.undecodable > 0 {
        sink.reach(bytes.len() as u64);
    }
    Transcribed { encoding, undecodable: tally.undecodable }
}

/// The decoder for a declared encoding. A document that declares UTF-16 in ASCII is not UTF-16, so it is read
/// as UTF-8. Browsers do the same.
fn codec(encoding: &'static Encoding) -> Codec {
    if encoding == UTF_8 || encoding == UTF_16LE || encoding == UTF_16BE {
        Codec::Utf8(Utf8::default())
    } else if encoding.is_single_byte() {
        Codec::Single(Box::new(SingleByte::new(encoding)))
    } else {
        Codec::Multi(Box::new(MultiByte::new(encoding)))
    }
}

/// Passes characters from a decoder to a scribe.
struct Copyist<'a, T> {
    scribe: &'a mut T,
    /// Offset after the last text.
    end: u64,
    /// True if undecodable bytes followed the last text.
    is_gap: bool,
}

impl<T: Scribe> Copyist<'_, T> {
    /// Passes on U+FFFD for undecodable bytes before `start`, where text begins.
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
