//! Unit char: each letter, number and accent of the standard form is one symbol.
//!
//! Text is normalised one normalisation segment at a time (see [`Folding`]). So text can be streamed, and the
//! origin of a symbol is its segment. Nearly all segments are one *simple* character, which gives one symbol
//! or none. Runs of simple characters take one table look-up per character; ASCII is read in blocks.

use std::mem;

use super::Sink;
use super::ascii::{Ascii, RUN};
use super::fold::{FoldResult, Folding, NOT_SIMPLE};
use super::symbols::{Room, Symbols};
use super::value::{LETTERS, code_beyond_ascii};
#[cfg(any(test, fuzzing, feature = "measuring"))]
use crate::lanes::Processor;
use crate::lanes::{Lanes, NO_CODE, SimdJob, TEXT};

/// Maximum number of characters in a segment. A longer run of combining marks is cut, so that memory is
/// bounded. Unicode's stream-safe format (UAX 15) allows 30 marks.
const SEGMENT_LIMIT: usize = 64;

/// Turns characters into symbols of unit char.
pub(super) struct Chars {
    folding: Folding,
    ascii: Ascii,
    pending: Option<OpenSegment>,
    /// The characters of the pending segment, if it has more than one.
    text: String,
}

/// A segment that the next character may still join.
#[derive(Clone, Copy)]
struct OpenSegment {
    first: char,
    fate: FoldResult,
    chars: usize,
    start: u64,
    end: u64,
}

impl Chars {
    pub(super) fn new() -> Self {
        Self { folding: Folding::new(), ascii: Ascii::new(), pending: None, text: String::new() }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub(super) fn set_processor(&mut self, processor: Processor) {
        self.ascii.set_processor(processor);
    }

    /// Offset of the pending segment.
    pub(super) fn held_from(&self) -> Option<u64> {
        self.pending.map(|segment| segment.start)
    }

    /// Reads the ASCII at the start of `bytes`, and returns its length. Every ASCII character begins a
    /// segment, so a later character can join only the last ASCII character. So the symbol of this last
    /// character is removed again.
    fn run_of_ascii(&mut self, bytes: &[u8], at: u64, stop_at_escape: bool, out: &mut Symbols) -> usize {
        if bytes.first().is_some_and(u8::is_ascii) {
            self.cut(out);
        }
        let taken = self.ascii.read(bytes, at, stop_at_escape, out);
        if let Some(&last) = bytes[..taken].last() {
            let end = at + taken as u64;
            self.take_back(char::from(last), end - 1, end, out);
        }
        taken
    }

    /// Reads the simple characters at the start of `text`, at least one, up to the first that is not simple.
    /// Returns the number of bytes.
    fn simple(&mut self, text: &str, at: u64, out: &mut Symbols) -> usize {
        let text = &text[..char_boundary(text, RUN)];
        let mut run = SimpleRun { text, taken: 0, last: 0, kept: 0 };
        if !out.is_wide() {
            let room = out.room(at, text.len());
            let read = ReadSimple::<false> { run: &mut run, folding: &mut self.folding, room };
            let goes_on_wide = self.ascii.processor().run(read);
            out.added(mem::take(&mut run.kept));
            if goes_on_wide {
                out.widen();
            }
        }
        if out.is_wide() {
            let room = out.room(at, text.len());
            let read = ReadSimple::<true> { run: &mut run, folding: &mut self.folding, room };
            self.ascii.processor().run(read);
            out.added(run.kept);
        }
        if let Some(last) = text[run.last..run.taken].chars().next() {
            self.take_back(last, at + run.last as u64, at + run.taken as u64, out);
        }
        run.taken
    }

    /// Removes the symbol of the last character of a run, because another character may join it.
    fn take_back(&mut self, last: char, start: u64, end: u64, out: &mut Symbols) {
        let fate = self.folding.fate(last);
        if fate != FoldResult::Drop {
            out.pop();
        }
        self.begin(last, fate, start, end);
    }

    fn begin(&mut self, first: char, fate: FoldResult, start: u64, end: u64) {
        self.pending = Some(OpenSegment { first, fate, chars: 1, start, end });
    }
}

/// A run of simple characters: bytes read so far, start of the last character, number of symbols.
struct SimpleRun<'a> {
    text: &'a str,
    taken: usize,
    last: usize,
    kept: usize,
}

/// A job that reads up to the first character that is not simple. Unless `WIDE`, the job also stops at a
/// character whose symbol has no code.
struct ReadSimple<'a, 'b, const WIDE: bool> {
    run: &'a mut SimpleRun<'b>,
    folding: &'a mut Folding,
    room: Room<'a>,
}

impl<const WIDE: bool> SimdJob for ReadSimple<'_, '_, WIDE> {
    /// True if the job stopped at a symbol without a code.
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> bool {
        let Self { run, folding, room } = self;
        // For the non-ASCII characters of a block, in order: the values of their symbols, and their widths or
        // codes.
        let (mut values_beyond, mut extents_beyond) = ([0; TEXT], [0; TEXT]);
        let mut codes_to_value = [0; TEXT];
        let mut has_no_code = false;
        while run.taken < run.text.len() {
            let rest = &run.text.as_bytes()[run.taken..];
            let mut padded = [b' '; WINDOW];
            let window = match rest.first_chunk() {
                Some(window) => window,
                None => {
                    padded[..rest.len()].copy_from_slice(rest);
                    &padded
                }
            };
            let Some(block) = window.first_chunk() else { break };
            let Some(starts) = room.starts[run.kept..].first_chunk_mut() else { break };
            let codes = if WIDE { Some(&mut codes_to_value) } else { room.codes[run.kept..].first_chunk_mut() };
            let Some(codes) = codes else { break };
            let classes = lanes.classify(block);
            let first_bytes = first_bytes(block);
            let (mut beyond, mut kept, mut length) =
                (first_bytes & classes.beyond, classes.letters, TEXT.min(rest.len()));
            let (mut symbols_beyond, mut found) = (0, 0);
            while beyond != 0 {
                // This remainder and the remainders below only avoid bounds checks.
                let at = beyond.trailing_zeros() as usize % TEXT;
                let (code_point, width) = decode([window[at], window[at + 1], window[at + 2], window[at + 3]]);
                let value = folding.value(code_point);
                if value == NOT_SIMPLE {
                    length = at;
                    break;
                }
                (values_beyond[found], extents_beyond[found]) = (value, width);
                if !WIDE && value != 0 {
                    let code = code_beyond_ascii(code_point);
                    if code == NO_CODE {
                        (length, has_no_code) = (at, true);
                        break;
                    }
                    extents_beyond[found] = u32::from(code);
                }
                symbols_beyond |= u64::from(value != 0) << at;
                found = (found + usize::from(value != 0)) % TEXT;
                beyond &= beyond - 1;
            }
            let before = u64::MAX.checked_shr((TEXT - length) as u32).unwrap_or(0);
            kept = (kept | symbols_beyond) & before;
            lanes.compact(block, kept, room.at + run.taken as u32, codes, starts);
            let count = kept.count_ones() as usize;
            let mut beyond = symbols_beyond & before;
            if WIDE {
                let Some(values) = room.values[run.kept..].first_chunk_mut::<TEXT>() else { break };
                let Some(ends) = room.ends[run.kept..].first_chunk_mut::<TEXT>() else { break };
                let rounded = count.next_multiple_of(8) % (TEXT + 1);
                if beyond == kept {
                    values[..rounded].copy_from_slice(&values_beyond[..rounded]);
                    for i in 0..rounded {
                        ends[i] = starts[i] + extents_beyond[i];
                    }
                    beyond = 0;
                } else {
                    for i in 0..rounded {
                        values[i] = LETTERS[usize::from(codes[i]) % LETTERS.len()];
                        ends[i] = starts[i] + 1;
                    }
                }
                for (&value, &width) in values_beyond.iter().zip(&extents_beyond) {
                    if beyond == 0 {
                        break;
                    }
                    let at = beyond.trailing_zeros() as usize % TEXT;
                    let to = (kept & ((1 << at) - 1)).count_ones() as usize % TEXT;
                    (values[to], ends[to]) = (value, starts[to] + width);
                    beyond &= beyond - 1;
                }
            } else {
                for &code in &extents_beyond {
                    if beyond == 0 {
                        break;
                    }
                    let at = beyond.trailing_zeros() as usize % TEXT;
                    let to = (kept & ((1 << at) - 1)).count_ones() as usize % TEXT;
                    codes[to] = code as u8;
                    beyond &= beyond - 1;
                }
            }
            run.kept += count;
            if let Some(last) = (first_bytes & before).checked_ilog2() {
                run.last = run.taken + last as usize;
            }
            run.taken += length;
            if length < TEXT {
                break;
            }
        }
        has_no_code
    }
}

/// A block of text, plus the three bytes that a character beginning at its last byte may need.
const WINDOW: usize = TEXT + 3;

/// Mask of the bytes that are the first of a character.
#[inline(always)]
fn first_bytes(block: &[u8; TEXT]) -> u64 {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let (words, _) = block.as_chunks();
    words.iter().enumerate().fold(0, |mask, (i, &word)| {
        let word = u64::from_le_bytes(word);
        // Marks all bytes except those of the form 10xxxxxx. One multiplication moves the bit of byte `i` to
        // bit `56 + i`.
        let first = (!word | word << 1) & HIGH;
        mask | ((first >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i)
    })
}

/// Returns the code point at the start of four bytes of UTF-8, and its width in bytes. Has no branch.
#[inline(always)]
fn decode(four: [u8; 4]) -> (u32, u32) {
    /// Indexed by the upper half of the first byte. Holds the width, the mask of the first byte, and the
    /// shift that removes later bytes.
    const FORMS: [(u8, u8, u8); 16] = {
        let mut forms = [(1, 0x7F, 18); 16];
        (forms[0xC], forms[0xD]) = ((2, 0x1F, 12), (2, 0x1F, 12));
        (forms[0xE], forms[0xF]) = ((3, 0x0F, 6), (4, 0x07, 0));
        forms
    };
    let (width, mask, shift) = FORMS[usize::from(four[0] >> 4)];
    let [a, b, c, d] = four.map(u32::from);
    let code_point = (a & u32::from(mask)) << 18 | (b & 0x3F) << 12 | (c & 0x3F) << 6 | d & 0x3F;
    (code_point >> shift, u32::from(width))
}

/// The largest index, at most `most`, at which a character begins or the text ends.
fn char_boundary(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (most.saturating_sub(3)..=most).rfind(|&at| text.is_char_boundary(at)).unwrap_or(most)
}

impl Sink for Chars {
    fn ascii(&mut self, bytes: &[u8], at: u64, stop_at_escape: bool, out: &mut Symbols) -> Option<usize> {
        Some(self.run_of_ascii(bytes, at, stop_at_escape, out))
    }

    fn text(&mut self, text: &str, at: u64, out: &mut Symbols) {
        let mut taken = 0;
        while let Some(first) = text[taken..].chars().next() {
            let start = at + taken as u64;
            if self.folding.fate(first).is_simple() {
                self.cut(out);
                taken += self.simple(&text[taken..], start, out);
            } else {
                taken += first.len_utf8();
                self.char(first, start, at + taken as u64, out);
            }
        }
    }

    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols) {
        let fate = self.folding.fate(c);
        if fate == FoldResult::Join
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
        let Some(OpenSegment { first, fate, chars, start, end }) = self.pending.take() else { return };
        match fate {
            FoldResult::Drop if chars == 1 => {}
            FoldResult::Keep(c) if chars == 1 => out.push_char(c, start, end),
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
