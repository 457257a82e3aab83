//! From bytes to characters: which encoding a document is in, decided once, and then its characters in order.
//!
//! Every decision is taken from a sample whose place and length depend on the document alone, so that the sizes of
//! the pieces it comes in change nothing: its first 1,024 bytes for a mark or the pattern of UTF-16, and the 64 KiB
//! from its first byte that is not ASCII for the rest. Until that byte it is read as ASCII, without delay.

use std::mem::take;

use encoding_rs::Encoding;

use super::legacy::{MultiByte, SingleByte, Wide};
use super::symbols::Symbols;
use super::utf8::Utf8;
use super::{Sink, detect};

/// Bytes looked at for a byte order mark or UTF-16 without one.
pub(super) const HEAD: usize = 1024;

/// Bytes looked at for any other encoding, from the first that is not ASCII.
const SAMPLE: usize = 64 << 10;

const ESCAPE: u8 = 0x1B;

/// Decodes one document after the other.
#[derive(Default)]
pub(super) struct Decoder {
    stage: Stage,
    /// Bytes held back for a decision.
    held: Vec<u8>,
    /// The offset in the document of the next byte to decode: of the first one held, if any.
    offset: u64,
    /// The two ASCII bytes before it: the context the detector of encodings asks for.
    before: [u8; 2],
    tally: Tally,
}

/// What is counted while decoding.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) undecodable: u64,
    pub(super) lines: u64,
}

#[derive(Default)]
enum Stage {
    /// Holding the beginning.
    #[default]
    Head,
    /// Nothing but ASCII so far. An escape may announce ISO-2022-JP, unless one has turned out not to.
    Ascii {
        escapes: bool,
    },
    /// Holding a sample of what is not ASCII, or begins with an escape.
    Sample,
    Decided(Codec),
}

/// A decoder of one family of encodings.
pub(super) enum Codec {
    Utf8(Utf8),
    Wide(Wide),
    Single(Box<SingleByte>),
    Multi(Box<MultiByte>),
}

impl Decoder {
    /// A decoder that has nothing to decide.
    pub(super) fn of(codec: Codec) -> Self {
        Self { stage: Stage::Decided(codec), ..Self::default() }
    }

    /// The next document is UTF-8.
    pub(super) fn begin_utf8(&mut self) {
        self.stage = Stage::Decided(Codec::Utf8(Utf8::default()));
    }

    pub(super) fn feed<S: Sink>(&mut self, mut bytes: &[u8], sink: &mut S, symbols: &mut Symbols) {
        while !bytes.is_empty() {
            let taken = match self.stage {
                Stage::Head => self.hold(bytes, HEAD, sink, symbols),
                Stage::Sample => self.hold(bytes, SAMPLE, sink, symbols),
                Stage::Ascii { escapes } => self.ascii(bytes, escapes, sink, symbols),
                Stage::Decided(ref mut codec) => {
                    codec.feed(bytes, self.offset, &mut Output { sink, symbols, tally: &mut self.tally });
                    self.offset += bytes.len() as u64;
                    bytes.len()
                }
            };
            bytes = &bytes[taken..];
        }
    }

    /// Ends the document: returns the name of its encoding and the counts.
    pub(super) fn finish<S: Sink>(&mut self, sink: &mut S, symbols: &mut Symbols) -> (&'static str, Tally) {
        while matches!(self.stage, Stage::Head | Stage::Sample) {
            self.decide(true, sink, symbols);
        }
        let mut out = Output { sink, symbols, tally: &mut self.tally };
        let name = match &mut self.stage {
            Stage::Decided(codec) => {
                codec.finish(self.offset, &mut out);
                codec.name()
            }
            _ => "ASCII",
        };
        sink.cut(symbols);
        let tally = take(&mut self.tally);
        *self = Self { held: take(&mut self.held), ..Self::default() };
        (name, tally)
    }

    fn hold<S: Sink>(&mut self, bytes: &[u8], limit: usize, sink: &mut S, symbols: &mut Symbols) -> usize {
        let taken = bytes.len().min(limit - self.held.len());
        self.held.extend_from_slice(&bytes[..taken]);
        if self.held.len() == limit {
            self.decide(false, sink, symbols);
        }
        taken
    }

    /// Takes the decision that bytes were held for, then reads them. `ended`: the document has no more.
    fn decide<S: Sink>(&mut self, ended: bool, sink: &mut S, symbols: &mut Symbols) {
        let mut held = take(&mut self.held);
        let mut mark = 0;
        self.stage = match self.stage {
            Stage::Head => match detect::mark(&held).or_else(|| detect::unmarked_utf16(&held)) {
                Some((codec, length)) => {
                    mark = length;
                    Stage::Decided(codec)
                }
                None => Stage::Ascii { escapes: true },
            },
            _ if held.first() == Some(&ESCAPE) => match detect::iso_2022_jp(&held, ended) {
                Some(codec) => Stage::Decided(codec),
                None => Stage::Ascii { escapes: false },
            },
            _ => Stage::Decided(detect::encoding(self.before, &held, ended)),
        };
        self.offset += mark as u64;
        self.feed(&held[mark..], sink, symbols);
        // Reading them may have begun another sample, and then there is a new buffer.
        if self.held.is_empty() {
            held.clear();
            self.held = held;
        }
    }

    /// Reads up to the first byte that is not plain ASCII.
    fn ascii<S: Sink>(&mut self, bytes: &[u8], escapes: bool, sink: &mut S, symbols: &mut Symbols) -> usize {
        let length = Output { sink, symbols, tally: &mut self.tally }.ascii(bytes, self.offset, escapes);
        let plain = &bytes[..length];
        self.offset += plain.len() as u64;
        self.before = match *plain {
            [] => self.before,
            [last] => [self.before[1], last],
            [.., previous, last] => [previous, last],
        };
        if plain.len() < bytes.len() {
            self.stage = Stage::Sample;
        }
        plain.len()
    }
}

/// The ASCII that `bytes` begins with.
pub(super) fn ascii_prefix(bytes: &[u8]) -> &str {
    // ASCII is UTF-8: the default is never taken.
    let length = if bytes.is_ascii() { bytes.len() } else { Encoding::ascii_valid_up_to(bytes) };
    str::from_utf8(&bytes[..length]).unwrap_or_default()
}

impl Codec {
    fn feed<S: Sink>(&mut self, bytes: &[u8], at: u64, out: &mut Output<S>) {
        match self {
            Self::Utf8(codec) => codec.feed(bytes, at, out),
            Self::Wide(codec) => codec.feed(bytes, at, out),
            Self::Single(codec) => codec.feed(bytes, at, out),
            Self::Multi(codec) => codec.feed(bytes, at, out),
        }
    }

    /// The document ends at `at`: what is incomplete is undecodable.
    fn finish<S: Sink>(&mut self, at: u64, out: &mut Output<S>) {
        match self {
            Self::Utf8(codec) => codec.finish(out),
            Self::Wide(codec) => codec.finish(out),
            Self::Single(_) => {}
            Self::Multi(codec) => codec.finish(at, out),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Utf8(_) => "UTF-8",
            Self::Wide(codec) => codec.name(),
            Self::Single(codec) => codec.name(),
            Self::Multi(codec) => codec.name(),
        }
    }
}

/// Where decoders put characters: newlines and gaps are counted on the way to the unit.
pub(super) struct Output<'a, S> {
    sink: &'a mut S,
    symbols: &'a mut Symbols,
    tally: &'a mut Tally,
}

impl<S: Sink> Output<'_, S> {
    /// See [`Sink::ascii`]; gives the length in any case.
    pub(super) fn ascii(&mut self, bytes: &[u8], at: u64, stop_at_escape: bool) -> usize {
        let before = self.symbols.newlines_seen();
        if let Some(taken) = self.sink.ascii(bytes, at, stop_at_escape, self.symbols) {
            self.tally.lines += self.symbols.newlines_seen() - before;
            return taken;
        }
        let plain = ascii_prefix(bytes);
        let escape = if stop_at_escape { memchr::memchr(ESCAPE, plain.as_bytes()) } else { None };
        let plain = &plain[..escape.unwrap_or(plain.len())];
        self.text(plain, at);
        plain.len()
    }

    /// See [`Sink::text`].
    pub(super) fn text(&mut self, text: &str, at: u64) {
        let bytes = text.as_bytes();
        let mut searched = 0;
        while let Some(found) = memchr::memchr(b'\n', &bytes[searched..]) {
            searched += found;
            // Where there is one there may be many, which need no search.
            while bytes.get(searched) == Some(&b'\n') {
                self.newline(at + searched as u64);
                searched += 1;
            }
        }
        self.sink.text(text, at, self.symbols);
    }

    /// See [`Sink::char`].
    pub(super) fn char(&mut self, c: char, start: u64, end: u64) {
        if c == '\n' {
            self.newline(start);
        }
        self.sink.char(c, start, end, self.symbols);
    }

    /// A sequence that stands for no character.
    pub(super) fn undecodable(&mut self) {
        self.tally.undecodable += 1;
        self.sink.cut(self.symbols);
    }

    fn newline(&mut self, offset: u64) {
        self.tally.lines += 1;
        self.symbols.newline(offset);
    }
}
