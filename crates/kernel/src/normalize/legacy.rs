//! Decoders for encodings other than UTF-8. Each character comes with the exact bytes of its origin.
//!
//! UTF-16 and UTF-32 have decoders of their own. All other encodings use `encoding_rs`, which reports no
//! offsets. So a single-byte encoding becomes a table of characters. A multi-byte encoding is decoded byte by
//! byte, so the origin of a character is all bytes since the previous character.

use encoding_rs::{Decoder, DecoderResult, Encoding};

use super::Sink;
use super::output::Output;

/// A decoder for UTF-16 and UTF-32.
pub(super) struct Wide {
    name: &'static str,
    big_endian: bool,
    /// Bytes per code unit.
    width: usize,
    /// The incomplete code unit: the number of its bytes, and their value.
    have: usize,
    unit: u32,
    /// A high surrogate without its low surrogate yet, and its offset.
    high: Option<(u32, u64)>,
}

impl Wide {
    pub(super) const UTF_16LE: Self = Self::new("UTF-16LE", 2, false);
    pub(super) const UTF_16BE: Self = Self::new("UTF-16BE", 2, true);
    pub(super) const UTF_32LE: Self = Self::new("UTF-32LE", 4, false);
    pub(super) const UTF_32BE: Self = Self::new("UTF-32BE", 4, true);

    const fn new(name: &'static str, width: usize, big_endian: bool) -> Self {
        Self { name, big_endian, width, have: 0, unit: 0, high: None }
    }

    pub(super) fn feed<S: Sink>(&mut self, bytes: &[u8], at: u64, out: &mut Output<S>) {
        for (&byte, end) in bytes.iter().zip(at + 1..) {
            let place = if self.big_endian { self.width - 1 - self.have } else { self.have };
            self.unit |= u32::from(byte) << (8 * place);
            self.have += 1;
            if self.have == self.width {
                let unit = std::mem::take(&mut self.unit);
                self.have = 0;
                self.unit(unit, end - self.width as u64, end, out);
            }
        }
    }

    fn unit<S: Sink>(&mut self, unit: u32, start: u64, end: u64, out: &mut Output<S>) {
        let is_low = (0xDC00..0xE000).contains(&unit);
        if let Some((high, before)) = self.high.take() {
            if is_low {
                let code = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00);
                // A surrogate pair is always a valid character.
                out.char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), before, end);
                return;
            }
            out.undecodable();
        }
        if self.width == 2 && (0xD800..0xDC00).contains(&unit) {
            self.high = Some((unit, start));
        } else if let Some(c) = char::from_u32(unit) {
            out.char(c, start, end);
        } else {
            out.undecodable();
        }
    }

    pub(super) fn finish<S: Sink>(&mut self, out: &mut Output<S>) {
        for _ in 0..usize::from(self.high.is_some()) + usize::from(self.have > 0) {
            out.undecodable();
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }
}

/// A decoder for an encoding with one byte per character.
pub(super) struct SingleByte {
    encoding: &'static Encoding,
    chars: [Option<char>; 256],
}

impl SingleByte {
    pub(super) fn new(encoding: &'static Encoding) -> Self {
        let chars = std::array::from_fn(|byte| {
            encoding.decode_without_bom_handling_and_without_replacement(&[byte as u8])?.chars().next()
        });
        Self { encoding, chars }
    }

    pub(super) fn feed<S: Sink>(&mut self, mut bytes: &[u8], mut at: u64, out: &mut Output<S>) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if byte.is_ascii() {
                // All single-byte encodings of the Encoding Standard contain ASCII.
                let taken = out.ascii(bytes, at, false);
                at += taken as u64;
                bytes = &bytes[taken..];
            } else {
                match self.chars[usize::from(byte)] {
                    Some(c) => out.char(c, at, at + 1),
                    None => out.undecodable(),
                }
                at += 1;
                bytes = rest;
            }
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.encoding.name()
    }
}

/// A decoder for an encoding with several bytes per character, stateful or not.
pub(super) struct MultiByte {
    decoder: Decoder,
    /// Number of bytes read since the last character, and the first of them.
    waiting: u64,
    first: u8,
}

impl MultiByte {
    pub(super) fn new(encoding: &'static Encoding) -> Self {
        Self { decoder: encoding.new_decoder_without_bom_handling(), waiting: 0, first: 0 }
    }

    pub(super) fn feed<S: Sink>(&mut self, bytes: &[u8], at: u64, out: &mut Output<S>) {
        for (byte, at) in bytes.iter().zip(at..) {
            self.step(std::slice::from_ref(byte), at, false, out);
        }
    }

    pub(super) fn finish<S: Sink>(&mut self, at: u64, out: &mut Output<S>) {
        self.step(&[], at, true, out);
    }

    /// Decodes the byte at `at`. An empty slice with `last` ends the document.
    fn step<S: Sink>(&mut self, mut byte: &[u8], mut at: u64, last: bool, out: &mut Output<S>) {
        loop {
            // One byte completes at most two characters.
            let mut text = [0; 32];
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(byte, &mut text, last);
            if let [byte] = byte[..read] {
                if self.waiting == 0 {
                    self.first = byte;
                }
                self.waiting += 1;
                at += 1;
            }
            byte = &byte[read..];
            if written > 0 {
                for c in text[..written].utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
                    out.char(c, at - self.waiting, at);
                }
                self.waiting = 0;
            } else if self.waiting == 3 && self.first == 0x1B {
                // An escape sequence of ISO-2022-JP does not belong to the next character.
                self.waiting = 0;
            }
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(_, after) => {
                    out.undecodable();
                    self.waiting = u64::from(after);
                }
            }
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.decoder.encoding().name()
    }
}
