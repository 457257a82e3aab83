//! Normalisation: turns bytes into symbols, and records where each symbol came from.
//!
//! A [`FrontEnd`] reads one document after the other, each in pieces of any size, and appends to [`Symbols`].
//! A front-end is pure: no input or output, no clock, no shared state. The same bytes give the same symbols,
//! in pieces of any size. Memory is bounded for any document.
//!
//! The steps: `decode` turns bytes into characters. A unit (`chars`, `words`, or `code` for source code)
//! turns characters into symbols; `fold` normalises the characters. `value` gives each symbol its 64 bits.

mod ascii;
mod chars;
mod code;
mod codec;
mod decode;
mod detect;
mod disguise;
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
pub use code::{PROGRAM_END, language_of, line_comment};
use decode::Decoder;
pub use detect::is_wide_text;
pub use disguise::disguised_words;
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

/// Turns documents into symbols. A front-end keeps tables and the state of the current document, so use one
/// per thread.
pub struct FrontEnd {
    unit: UnitReader,
    decoder: Decoder,
    /// Bytes of the current document fed so far.
    bytes: u64,
}

enum UnitReader {
    Chars(Box<Chars>),
    Words(Box<Words>),
    Tokens(Box<Tokens>),
    Bytes(DecodeCounts),
}

/// Facts about a document, known after all of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFacts {
    /// The encoding, by its WHATWG name (`UTF-8`, `UTF-16LE`, `windows-1252`, ...). Further values:
    /// `UTF-32LE`, `UTF-32BE`, `ASCII` if the document has only ASCII bytes, and `bytes` for unit byte.
    pub encoding: &'static str,
    /// Number of byte sequences that are invalid in the encoding. They give no symbol and separate words.
    /// k-grams and passages may span them, as they span punctuation.
    pub undecodable: u64,
    /// Length of the document in bytes.
    pub bytes: u64,
    /// Number of lines, as an editor counts them: newline characters, plus 1 if text follows the last of
    /// them.
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
    /// The front-end for the unit of a profile.
    #[doc(hidden)]
    pub fn of(profile: &Profile) -> Self {
        match profile.unit {
            profile::Unit::Char => Self::chars(),
            profile::Unit::Word => Self::words(profile.word_rule),
            profile::Unit::Byte => Self::bytes(),
            profile::Unit::Token if profile.is_text_view() => {
                Self::new(UnitReader::Tokens(Box::new(Tokens::new().in_words())))
            }
            profile::Unit::Token => Self::tokens(),
        }
    }

    /// A front-end for unit char: the letters, numbers and accents of the text, folded (NFKC and full case
    /// folding). All other characters are dropped.
    pub fn chars() -> Self {
        Self::new(UnitReader::Chars(Box::new(Chars::new())))
    }

    /// A front-end for unit word: the words of the text by `rule`, folded as in unit char.
    pub fn words(rule: WordRule) -> Self {
        Self::new(UnitReader::Words(Box::new(Words::new(rule))))
    }

    /// A front-end for unit token: the tokens of source code, in the language given to
    /// [`begin`](Self::begin).
    pub fn tokens() -> Self {
        Self::new(UnitReader::Tokens(Box::new(Tokens::new())))
    }

    /// The same front-end, which also records a value for each name of source code. See
    /// [`take_names`](Self::take_names).
    #[doc(hidden)]
    pub fn with_names(self) -> Self {
        match self.unit {
            UnitReader::Tokens(tokens) => Self { unit: UnitReader::Tokens(Box::new(tokens.with_names())), ..self },
            _ => self,
        }
    }

    /// Removes and returns one value for each symbol of the finished document, for comparing names. Among
    /// these values, the value of a name depends on its text. Any other symbol has its usual value. Empty
    /// unless [`with_names`](Self::with_names) was called and the language is known.
    #[doc(hidden)]
    pub fn take_names(&mut self) -> Vec<u64> {
        match &mut self.unit {
            UnitReader::Tokens(tokens) => tokens.take_names(),
            _ => Vec::new(),
        }
    }

    /// Sets the language of the next documents. Call it before the first byte of a document. Only unit token
    /// uses it. `None`, the default, means no known language.
    pub fn begin(&mut self, language: Option<Language>) {
        if let UnitReader::Tokens(tokens) = &mut self.unit {
            tokens.begin(language);
        }
    }

    /// A front-end for unit byte: every byte is a symbol.
    pub fn bytes() -> Self {
        Self::new(UnitReader::Bytes(DecodeCounts::default()))
    }

    /// Declares that the next document is UTF-8. Call it before the first byte of the document.
    #[doc(hidden)]
    pub fn begin_utf8(&mut self) {
        self.decoder.begin_utf8();
    }

    fn new(unit: UnitReader) -> Self {
        Self { unit, decoder: Decoder::default(), bytes: 0 }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub fn set_processor(&mut self, processor: Processor) {
        if let UnitReader::Chars(chars) = &mut self.unit {
            chars.set_processor(processor);
        }
    }

    /// Reads the next bytes of the document, and appends the symbols that are final by then to `out`.
    ///
    /// The sizes of the pieces do not affect the result. The text held back is bounded. Until the encoding is
    /// known, the limit is 64 KiB. After that, unit char holds back a segment of 64 characters, and unit word
    /// 64 KiB without white space. Unit token holds back up to 2 MiB of a document in a known language.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Symbols) {
        self.read(bytes, out);
        out.widen();
    }

    /// Like [`feed`](Self::feed), but the buffer of symbols may stay [narrow](Symbols).
    #[doc(hidden)]
    pub fn read(&mut self, bytes: &[u8], out: &mut Symbols) {
        match &mut self.unit {
            UnitReader::Chars(chars) => self.decoder.feed(bytes, chars.as_mut(), out),
            UnitReader::Words(words) => self.decoder.feed(bytes, words.as_mut(), out),
            UnitReader::Tokens(tokens) => self.decoder.feed(bytes, tokens.as_mut(), out),
            UnitReader::Bytes(tally) => feed_bytes(bytes, self.bytes, tally, out),
        }
        self.bytes += bytes.len() as u64;
        out.set_held_from(match &self.unit {
            UnitReader::Chars(chars) => chars.held_from(),
            UnitReader::Words(words) => words.held_from(),
            UnitReader::Tokens(tokens) => tokens.held_from(),
            UnitReader::Bytes(_) => None,
        });
    }

    /// Ends the document and appends the symbols held back. Afterwards the front-end is ready for the next
    /// document.
    pub fn finish(&mut self, out: &mut Symbols) -> TextFacts {
        let facts = self.end(out);
        out.widen();
        facts
    }

    /// Like [`finish`](Self::finish), but the buffer of symbols may stay [narrow](Symbols).
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
        out.set_held_from(None);
        TextFacts { encoding, undecodable: tally.undecodable, bytes, lines: tally.lines(bytes) }
    }
}

/// Reads bytes for unit byte.
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
