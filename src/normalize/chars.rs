//! Unit char: the letters, numbers and accents of the standard form, one symbol each.
//!
//! Text is put into standard form one normalisation segment at a time (see [`Folding`]), so that it can be streamed
//! and every symbol knows its origin: the segment. Segments of one character, which is nearly all text, cost one look
//! in a table.

use super::Sink;
use super::ascii::{Ascii, Manner};
use super::fold::{Fate, Folding};
use super::symbols::Symbols;
use crate::lanes::Processor;

/// Characters in a segment, at most: a longer run of combining marks is cut, so that memory stays bounded. Unicode's
/// own stream-safe format (UAX 15) allows 30 marks.
const SEGMENT_LIMIT: usize = 64;

/// Turns characters into symbols of unit char.
pub(super) struct Chars {
    folding: Folding,
    ascii: Ascii,
    pending: Option<Segment>,
    /// The characters of the pending segment, once it has more than one.
    text: String,
}

/// A segment that the next character may still join.
#[derive(Clone, Copy)]
struct Segment {
    first: char,
    fate: Fate,
    chars: usize,
    start: u64,
    end: u64,
}

impl Chars {
    pub(super) fn new() -> Self {
        Self { folding: Folding::new(), ascii: Ascii::new(), pending: None, text: String::new() }
    }

    /// Leaves it to this instruction set.
    #[allow(dead_code, reason = "for tests, and for tools/compare/kernel, which compiles this file too")]
    pub(super) fn set_processor(&mut self, processor: Processor) {
        self.ascii.set_processor(processor);
    }

    /// The ASCII that `bytes` begins with. Every ASCII character begins a segment, so only the last one can have company:
    /// it is taken back.
    fn run_of_ascii(&mut self, bytes: &[u8], at: u64, manner: Manner, out: &mut Symbols) -> usize {
        if bytes.first().is_some_and(u8::is_ascii) {
            self.cut(out);
        }
        let taken = self.ascii.read(bytes, at, manner, out);
        if let Some(&last) = bytes[..taken].last() {
            let (last, start) = (char::from(last), at + taken as u64 - 1);
            let fate = self.folding.fate(last);
            if fate != Fate::Drop {
                out.pop();
            }
            self.begin(last, fate, start, start + 1);
        }
        taken
    }

    fn begin(&mut self, first: char, fate: Fate, start: u64, end: u64) {
        self.pending = Some(Segment { first, fate, chars: 1, start, end });
    }
}

impl Sink for Chars {
    fn ascii(&mut self, bytes: &[u8], at: u64, stop_at_escape: bool, out: &mut Symbols) -> Option<usize> {
        Some(self.run_of_ascii(bytes, at, Manner { stop_at_escape, newlines: true }, out))
    }

    fn text(&mut self, text: &str, mut at: u64, out: &mut Symbols) {
        let mut rest = text;
        while !rest.is_empty() {
            let mut taken =
                self.run_of_ascii(rest.as_bytes(), at, Manner { stop_at_escape: false, newlines: false }, out);
            for c in rest[taken..].chars().take_while(|c| !c.is_ascii()) {
                let start = at + taken as u64;
                taken += c.len_utf8();
                self.char(c, start, at + taken as u64, out);
            }
            at += taken as u64;
            rest = &rest[taken..];
        }
    }

    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols) {
        let fate = self.folding.fate(c);
        if fate == Fate::Join
            && let Some(segment) = &mut self.pending
            && segment.chars < SEGMENT_LIMIT
        {
            if segment.chars == 1 {
                self.text.clear();
                self.text.push(segment.first);
            }
            self.text.push(c);
            segment.chars += 1;
            segment.end = end;
        } else {
            self.cut(out);
            self.begin(c, fate, start, end);
        }
    }

    fn cut(&mut self, out: &mut Symbols) {
        let Some(Segment { first, fate, chars, start, end }) = self.pending.take() else { return };
        match fate {
            Fate::Drop if chars == 1 => {}
            Fate::Keep(c) if chars == 1 => out.push_char(c, start, end),
            _ => {
                let mut alone = [0; 4];
                let text = if chars == 1 { first.encode_utf8(&mut alone) } else { self.text.as_str() };
                let form = &self.folding.form;
                for c in form.of(text).chars().filter(|&c| form.keeps(c)) {
                    out.push_char(c, start, end);
                }
            }
        }
    }
}
