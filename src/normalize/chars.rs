//! Unit char: the letters, numbers and accents of the standard form, one symbol each.
//!
//! Text is put into standard form one normalisation segment at a time (see [`Folding`]), so that it can be streamed
//! and every symbol knows its origin: the segment. Segments of one character, which is nearly all text, cost one look
//! in a table.

use encoding_rs::Encoding;

use super::Sink;
use super::ascii::Ascii;
use super::fold::{Fate, Folding};
use super::symbols::Symbols;
use super::value::value_of_char;

/// Characters in a segment, at most: a longer run of combining marks is cut, so that memory stays bounded. Unicode's
/// own stream-safe format (UAX 15) allows 30 marks.
const SEGMENT_LIMIT: usize = 64;

/// ASCII bytes that share one base of their origins.
const RUN: usize = 1 << 24;

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
        let mut folding = Folding::new();
        let ascii = std::array::from_fn(|byte| match folding.fate(char::from(byte as u8)) {
            Fate::Keep(c) if byte < 128 => value_of_char(c),
            _ => 0,
        });
        Self { folding, ascii: Ascii::new(ascii), pending: None, text: String::new() }
    }

    /// ASCII characters, none of which a combining character follows.
    fn ascii(&mut self, bytes: &[u8], at: u64, out: &mut Symbols) {
        for (run, at) in bytes.chunks(RUN).zip((at..).step_by(RUN)) {
            self.ascii.symbols(run, &mut out.bytes(at));
        }
    }

    fn begin(&mut self, first: char, fate: Fate, start: u64, end: u64) {
        self.pending = Some(Segment { first, fate, chars: 1, start, end });
    }
}

impl Sink for Chars {
    fn text(&mut self, text: &str, mut at: u64, out: &mut Symbols) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let mut taken = match rest.is_ascii() {
                true => rest.len(),
                false => Encoding::ascii_valid_up_to(rest.as_bytes()),
            };
            if taken > 0 {
                // Every ASCII character begins a segment, so only the last one can have company.
                self.cut(out);
                let (run, last) = rest.as_bytes()[..taken].split_at(taken - 1);
                self.ascii(run, at, out);
                let (last, start) = (last.first().map_or(first, |&byte| char::from(byte)), at + run.len() as u64);
                let fate = self.folding.fate(last);
                self.begin(last, fate, start, start + 1);
            }
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
            Fate::Keep(c) if chars == 1 => out.push(value_of_char(c), start, end),
            _ => {
                let mut alone = [0; 4];
                let text = if chars == 1 { first.encode_utf8(&mut alone) } else { self.text.as_str() };
                let form = &self.folding.form;
                for c in form.of(text).chars().filter(|&c| form.keeps(c)) {
                    out.push(value_of_char(c), start, end);
                }
            }
        }
    }
}
