//! Here are bytes: which symbols, and where did each come from?
//!
//! A [`FrontEnd`] reads one document after the other, each in pieces of any size, and appends to [`Symbols`]. It is
//! pure: no input or output, no clock, no shared state; the same bytes give the same symbols however they are cut.
//! The path of a byte: `decode` makes characters of it, a unit (`chars`, `words`) makes symbols of those in the
//! standard form of `fold`, or of source code in `code`, and `value` gives each symbol its 64 bits. Memory is bounded
//! whatever the document.

mod ascii;
mod chars;
mod code;
mod codec;
mod decode;
mod detect;
mod fold;
mod legacy;
mod newline;
mod output;
mod piece;
#[cfg(any(test, fuzzing))]
pub(crate) mod properties;
mod readable;
#[cfg(any(test, fuzzing))]
mod reference;
mod sink;
mod symbols;
mod transcribe;
mod utf8;
mod value;
mod walk;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;

use chars::Chars;
use code::Tokens;
pub use code::language_of;
use decode::Decoder;
pub use detect::is_wide_text;
pub use newline::newline_of;
use output::DecodeCounts;
pub use readable::Readable;
use sink::Sink;
pub use symbols::SymbolContent;
pub use symbols::Symbols;
pub use transcribe::{Scribe, Transcribed, encoding_of, is_plain_utf8, transcribe};
pub use value::{LETTERS, unmix64};
pub use walk::LOCATED_AT_ONCE;
use words::Words;

use crate::document::Language;
#[cfg(any(test, fuzzing, feature = "measuring"))]
use crate::lanes::Processor;
use crate::profile::{self, Profile, WordRule};

/// Turns documents into symbols. One per thread: it keeps tables and the state of the document being read.
pub struct FrontEnd {
    unit: UnitReader,
    decoder: Decoder,
    /// Bytes of the document fed so far.
    bytes: u64,
}

enum UnitReader {
    Chars(Box<Chars>),
    Words(Box<Words>),
    Tokens(Box<Tokens>),
    Bytes(DecodeCounts),
}

/// The facts of a document after it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFacts {
    /// The encoding it was read as, by its WHATWG name (`UTF-8`, `UTF-16LE`, `windows-1252`, ...); also `UTF-32LE` and
    /// `UTF-32BE`, `ASCII` where nothing else was seen, and `bytes` under unit byte.
    pub encoding: &'static str,
    /// Byte sequences that are no characters in that encoding. They are no symbols, and separate words; k-grams and passages may
    /// span them, as they span punctuation.
    pub undecodable: u64,
    /// Length of the document in bytes.
    pub bytes: u64,
    /// Lines, as an editor counts them: newline characters, and one more where text follows the last of them.
    pub lines: u64,
}

impl fmt::Debug for FrontEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            UnitReader::Chars(_) => profile::Unit::Char,
            UnitReader::Words(_) => profile::Unit::Word,
            UnitReader::Tokens(_) => profile::Unit::Token,
            UnitReader::Bytes { .. } => profile::Unit::Byte,
        };
        f.debug_struct("FrontEnd").field("unit", &unit).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl FrontEnd {
    /// The front-end of a profile.
    #[doc(hidden)]
    pub fn of(profile: &Profile) -> Self {
        match profile.unit {
            profile::Unit::Char => Self::chars(),
            profile::Unit::Word => Self::words(profile.word_rule),
            profile::Unit::Byte => Self::bytes(),
            profile::Unit::Token => Self::tokens(),
        }
    }

    /// Unit char: the letters, numbers and accents of the text, folded (NFKC and full case folding), and nothing else.
    pub fn chars() -> Self {
        Self::new(UnitReader::Chars(Box::new(Chars::new())))
    }

    /// Unit word: the words of the text by `rule`, folded like characters.
    pub fn words(rule: WordRule) -> Self {
        Self::new(UnitReader::Words(Box::new(Words::new(rule))))
    }

    /// Unit token: the tokens of source code, in the language given to [`begin`](Self::begin).
    pub fn tokens() -> Self {
        Self::new(UnitReader::Tokens(Box::new(Tokens::new())))
    }

    /// The same, which also tells the names of source code apart.
    #[doc(hidden)]
    pub fn with_names(self) -> Self {
        match self.unit {
            UnitReader::Tokens(tokens) => Self { unit: UnitReader::Tokens(Box::new(tokens.with_names())), ..self },
            _ => self,
        }
    }

    /// The values of a finished document in a known language, one for each symbol: the name's own value if the symbol is a name, else the
    /// symbol's. Empty if names were not asked for.
    #[doc(hidden)]
    pub fn take_names(&mut self) -> Vec<u64> {
        match &mut self.unit {
            UnitReader::Tokens(tokens) => tokens.take_names(),
            _ => Vec::new(),
        }
    }

    /// Says which language the next documents are in, before the first byte of one; only unit token asks. `None`, which
    /// holds until it is said, is any text.
    pub fn begin(&mut self, language: Option<Language>) {
        if let UnitReader::Tokens(tokens) = &mut self.unit {
            tokens.begin(language);
        }
    }

    /// Unit byte: every byte is a symbol.
    pub fn bytes() -> Self {
        Self::new(UnitReader::Bytes(DecodeCounts::default()))
    }

    /// Says that the next document is UTF-8, before its first byte: nothing is left to guess.
    #[doc(hidden)]
    pub fn begin_utf8(&mut self) {
        self.decoder.begin_utf8();
    }

    fn new(unit: UnitReader) -> Self {
        Self { unit, decoder: Decoder::default(), bytes: 0 }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub(crate) fn set_processor(&mut self, processor: Processor) {
        if let UnitReader::Chars(chars) = &mut self.unit {
            chars.set_processor(processor);
        }
    }

    /// Reads the next bytes of the document and appends the symbols that are certain by now to `out`.
    ///
    /// The sizes of the pieces do not matter to the result. The text held back is bounded: 64 KiB until the encoding is
    /// known, then a segment of 64 characters (unit char), a piece of 64 KiB without white space (unit word), or a document
    /// of up to 2 MiB in a known language (unit token).
    pub fn feed(&mut self, bytes: &[u8], out: &mut Symbols) {
        self.read(bytes, out);
        out.widen();
    }

    /// As [`feed`](Self::feed), except that symbols that were narrow may still be.
    #[doc(hidden)]
    pub fn read(&mut self, bytes: &[u8], out: &mut Symbols) {
        match &mut self.unit {
            UnitReader::Chars(chars) => self.decoder.feed(bytes, chars.as_mut(), out),
            UnitReader::Words(words) => self.decoder.feed(bytes, words.as_mut(), out),
            UnitReader::Tokens(tokens) => self.decoder.feed(bytes, tokens.as_mut(), out),
            UnitReader::Bytes(tally) => feed_bytes(bytes, self.bytes, tally, out),
        }
        self.bytes += bytes.len() as u64;
    }

    /// Ends the document: appends the symbols held back and makes ready for the next document.
    pub fn finish(&mut self, out: &mut Symbols) -> TextFacts {
        let facts = self.end(out);
        out.widen();
        facts
    }

    /// As [`finish`](Self::finish), except that symbols that were narrow may still be.
    #[doc(hidden)]
    pub fn end(&mut self, out: &mut Symbols) -> TextFacts {
        let bytes = std::mem::take(&mut self.bytes);
        let (encoding, tally) = match &mut self.unit {
            UnitReader::Chars(chars) => self.decoder.finish(chars.as_mut(), out),
            UnitReader::Words(words) => self.decoder.finish(words.as_mut(), out),
            UnitReader::Tokens(tokens) => {
                let facts = self.decoder.finish(tokens.as_mut(), out);
                tokens.end(out);
                facts
            }
            UnitReader::Bytes(tally) => ("bytes", std::mem::take(tally)),
        };
        TextFacts { encoding, undecodable: tally.undecodable, bytes, lines: tally.lines(bytes) }
    }
}

/// Unit byte.
fn feed_bytes(bytes: &[u8], at: u64, tally: &mut DecodeCounts, out: &mut Symbols) {
    const BLOCK: usize = 128;
    const OFFSETS: [u8; BLOCK] = {
        let mut offsets = [0; BLOCK];
        let mut i = 0;
        while i < BLOCK {
            offsets[i] = i as u8;
            i += 1;
        }
        offsets
    };
    for newline in memchr::memchr_iter(b'\n', bytes) {
        out.newline(at + newline as u64);
        tally.newlines += 1;
        tally.last_newline = at + newline as u64 + 1;
    }
    let mut values = [0; BLOCK];
    for (block, at) in bytes.chunks(BLOCK).zip((at..).step_by(BLOCK)) {
        for (value, &byte) in values.iter_mut().zip(block) {
            *value = value::value_of_byte(byte);
        }
        out.push_bytes(at, &OFFSETS[..block.len()], &values[..block.len()]);
    }
}
