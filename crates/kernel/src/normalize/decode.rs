//! Decoding: finds the encoding of a document once, and then decodes it into characters.
//!
//! Decisions use samples whose place and length depend only on the document, so they do not depend on the
//! sizes of the pieces. The first 1,024 bytes show a byte order mark or UTF-16. The 64 KiB from the first
//! non-ASCII byte on show the other encodings. Up to that byte the document is decoded as ASCII, without
//! delay.

use std::mem::take;

use super::codec::Codec;
use super::output::{DecodeCounts, Output};
use super::symbols::Symbols;
use super::utf8::Utf8;
use super::{Sink, detect};

/// Length of the sample for all other encodings, from the first non-ASCII byte on.
const SAMPLE: usize = 64 << 10;

const ESCAPE: u8 = 0x1B;

/// Decodes one document after the other.
#[derive(Default)]
pub(super) struct Decoder {
    stage: DecodeStage,
    /// Bytes held back until the next decision.
    held: Vec<u8>,
    /// Offset in the document of the next byte to decode, which is the first byte held back if there is any.
    offset: u64,
    /// The two ASCII bytes before `offset`, as context for the detection of the encoding.
    before: [u8; 2],
    tally: DecodeCounts,
}

#[derive(Default)]
enum DecodeStage {
    /// Holding back the first bytes.
    #[default]
    Head,
    /// Only ASCII so far. `escapes` is true while an escape may still announce ISO-2022-JP.
    Ascii {
        escapes: bool,
    },
    /// Holding back a sample that begins with a non-ASCII byte or an escape.
    Sample,
    Decided(Codec),
}

impl Decoder {
    /// A decoder with a given codec.
    pub(super) fn of(codec: Codec) -> Self {
        Self { stage: DecodeStage::Decided(codec), ..Self::default() }
    }

    /// Declares that the next document is UTF-8.
    pub(super) fn begin_utf8(&mut self) {
        self.stage = DecodeStage::Decided(Codec::Utf8(Utf8::default()));
    }

    pub(super) fn feed<S: Sink>(&mut self, mut bytes: &[u8], sink: &mut S, symbols: &mut Symbols) {
        while !bytes.is_empty() {
            let taken = match self.stage {
                DecodeStage::Head => self.hold(bytes, detect::HEAD, sink, symbols),
                DecodeStage::Sample => self.hold(bytes, SAMPLE, sink, symbols),
                DecodeStage::Ascii { escapes } => self.ascii(bytes, escapes, sink, symbols),
                DecodeStage::Decided(ref mut codec) => {
                    codec.feed(bytes, self.offset, &mut Output::new(sink, symbols, &mut self.tally));
                    self.offset += bytes.len() as u64;
                    bytes.len()
                }
            };
            bytes = &bytes[taken..];
        }
    }

    /// Ends the document. Returns the name of its encoding and the counts.
    pub(super) fn finish<S: Sink>(&mut self, sink: &mut S, symbols: &mut Symbols) -> (&'static str, DecodeCounts) {
        while matches!(self.stage, DecodeStage::Head | DecodeStage::Sample) {
            self.decide(true, sink, symbols);
        }
        let mut out = Output::new(sink, symbols, &mut self.tally);
        let name = match &mut self.stage {
            DecodeStage::Decided(codec) => {
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

    /// Chooses the encoding, if the bytes held back are enough for that, and then decodes these bytes.
    /// `ended` is true if the document has no more bytes.
    fn decide<S: Sink>(&mut self, ended: bool, sink: &mut S, symbols: &mut Symbols) {
        let mut held = take(&mut self.held);
        let mut mark = 0;
        self.stage = match self.stage {
            DecodeStage::Head => match detect::mark(&held).or_else(|| detect::unmarked_utf16(&held)) {
                Some((codec, length)) => {
                    mark = length;
                    DecodeStage::Decided(codec)
                }
                None => DecodeStage::Ascii { escapes: true },
            },
            _ if held.first() == Some(&ESCAPE) => match detect::iso_2022_jp(&held, ended) {
                Some(codec) => DecodeStage::Decided(codec),
                None => DecodeStage::Ascii { escapes: false },
            },
            _ => DecodeStage::Decided(detect::encoding(self.before, &held, ended)),
        };
        self.offset += mark as u64;
        self.feed(&held[mark..], sink, symbols);
        // Decoding may have begun another sample, in a new buffer.
        if self.held.is_empty() {
            held.clear();
            self.held = held;
        }
    }

    /// Decodes up to the first byte that is not plain ASCII, and returns the length.
    fn ascii<S: Sink>(&mut self, bytes: &[u8], escapes: bool, sink: &mut S, symbols: &mut Symbols) -> usize {
        let length = Output::new(sink, symbols, &mut self.tally).ascii(bytes, self.offset, escapes);
        let plain = &bytes[..length];
        self.offset += plain.len() as u64;
        self.before = match *plain {
            [] => self.before,
            [last] => [self.before[1], last],
            [.., previous, last] => [previous, last],
        };
        if plain.len() < bytes.len() {
            self.stage = DecodeStage::Sample;
        }
        plain.len()
    }
}
