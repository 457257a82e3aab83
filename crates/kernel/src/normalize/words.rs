//! Unit word: each word of a text is one symbol.
//!
//! Text is collected up to the next white space (a *piece*) and split at Unicode's word boundaries (UAX 29).
//! The profile's word rule decides which parts are words. The origin of a word is its own bytes, without the
//! punctuation around it.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Sink;
use super::fold::{FoldResult, Folding};
use super::output::ascii_prefix;
use super::piece::{OriginRun, TextPiece, origin};
use super::symbols::Symbols;
use super::value::value_of_word;
use crate::profile::WordRule;

/// Maximum bytes of UTF-8 in a piece. Longer text without white space is cut, so that memory is bounded. The
/// place of the cut depends only on the start of the piece, not on how the document was fed.
const PIECE_LIMIT: usize = 64 << 10;

/// Turns characters into symbols of unit word.
pub(super) struct Words {
    /// Text since the last white space.
    pending: TextPiece,
    words: WordMaker,
}

impl Words {
    pub(super) fn new(rule: WordRule) -> Self {
        Self { pending: TextPiece::default(), words: WordMaker::new(rule) }
    }

    /// Offset of the pending text.
    pub(super) fn held_from(&self) -> Option<u64> {
        self.pending.start()
    }

    /// Reads several ASCII pieces at once, if none is pending. This is valid only if letters alone make
    /// words: then white space separates words as any other character does. Returns the number of bytes read,
    /// which may be 0.
    fn ascii_pieces(&mut self, text: &str, at: u64, out: &mut Symbols) -> usize {
        if self.words.rule != WordRule::Letters || !self.pending.text.is_empty() {
            return 0;
        }
        let ascii = ascii_prefix(&text.as_bytes()[..text.len().min(PIECE_LIMIT)]);
        let taken = ascii.bytes().rposition(is_ascii_space).map_or(0, |last| last + 1);
        self.words.split(&ascii[..taken], &[OriginRun { at: 0, start: at, end: at + taken as u64 }], out);
        taken
    }

    /// Reads the last text of a piece.
    fn close(&mut self, text: &str, at: u64, out: &mut Symbols) {
        if self.pending.text.is_empty() && text.len() <= PIECE_LIMIT {
            self.words.split(text, &[OriginRun { at: 0, start: at, end: at + text.len() as u64 }], out);
        } else {
            self.gather(text, at, out);
            self.cut(out);
        }
    }

    /// Collects text of a piece that continues.
    fn gather(&mut self, mut text: &str, mut at: u64, out: &mut Symbols) {
        while !text.is_empty() {
            let room = PIECE_LIMIT - self.pending.text.len();
            let fits = (text.len().min(room.saturating_sub(3))..=text.len().min(room))
                .rfind(|&length| text.is_char_boundary(length))
                .unwrap_or(0);
            self.pending.push(&text[..fits], at, at + fits as u64);
            text = &text[fits..];
            at += fits as u64;
            if !text.is_empty() {
                self.cut(out);
            }
        }
    }
}

impl Sink for Words {
    fn text(&mut self, text: &str, at: u64, out: &mut Symbols) {
        let bytes = text.as_bytes();
        let (mut start, mut next) = (0, 0);
        while let Some(&byte) = bytes.get(next) {
            if next == start {
                let taken = self.ascii_pieces(&text[start..], at + start as u64, out);
                if taken > 0 {
                    start += taken;
                    next = start;
                    continue;
                }
            }
            let (width, is_space) = if byte.is_ascii() {
                (1, is_ascii_space(byte))
            } else {
                text[next..].chars().next().map_or((1, false), |c| (c.len_utf8(), c.is_whitespace()))
            };
            if is_space {
                self.close(&text[start..next], at + start as u64, out);
                start = next + width;
            }
            next += width;
        }
        self.gather(&text[start..], at + start as u64, out);
    }

    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols) {
        if c.is_whitespace() {
            self.cut(out);
            return;
        }
        if self.pending.text.len() + c.len_utf8() > PIECE_LIMIT {
            self.cut(out);
        }
        self.pending.push(c.encode_utf8(&mut [0; 4]), start, end);
    }

    fn cut(&mut self, out: &mut Symbols) {
        self.words.split(&self.pending.text, &self.pending.runs, out);
        self.pending.clear();
    }
}

/// True for an ASCII byte that is white space by Unicode's definition.
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Finds the words of a piece.
pub(super) struct WordMaker {
    rule: WordRule,
    folding: Folding,
    /// Buffer for the standard form of a word.
    folded: String,
}

impl WordMaker {
    pub(super) fn new(rule: WordRule) -> Self {
        Self { rule, folding: Folding::new(), folded: String::new() }
    }

    /// The standard form of a word, without invisible characters.
    pub(super) fn standard_form(&mut self, word: &str) -> &str {
        self.fold(word);
        &self.folded
    }

    fn split(&mut self, text: &str, runs: &[OriginRun], out: &mut Symbols) {
        match self.rule {
            WordRule::Letters if text.is_ascii() => self.ascii_letters(text, runs, out),
            WordRule::Letters => {
                for (from, segment) in text.split_word_bound_indices() {
                    self.letters(text, runs, from..from + segment.len(), out);
                }
            }
            WordRule::Unicode => {
                for (from, segment) in text.split_word_bound_indices() {
                    if segment.contains(char::is_alphanumeric) {
                        self.word(text, runs, from..from + segment.len(), out);
                    }
                }
            }
        }
    }

    /// No word boundary separates two ASCII letters, so every run of letters is a word.
    fn ascii_letters(&mut self, text: &str, runs: &[OriginRun], out: &mut Symbols) {
        self.fold(text);
        let mut from = 0;
        for word in self.folded.as_bytes().split(|byte| !byte.is_ascii_lowercase()) {
            if !word.is_empty() {
                let origin = origin(runs, text.len(), from..from + word.len());
                out.push(value_of_word(word), origin.start, origin.end);
            }
            from += word.len() + 1;
        }
    }

    /// Finds the longest runs of letters in a segment. Marks and invisible characters belong to the letter
    /// before them.
    fn letters(&mut self, text: &str, runs: &[OriginRun], segment: Range<usize>, out: &mut Symbols) {
        let mut word = segment.start..segment.start;
        for (offset, c) in text[segment.clone()].char_indices() {
            let next = segment.start + offset + c.len_utf8();
            let form = &self.folding.form;
            if c.is_alphabetic() || !word.is_empty() && (form.is_mark(c) || form.is_ignorable(c)) {
                word.end = next;
            } else {
                self.word(text, runs, word, out);
                word = next..next;
            }
        }
        self.word(text, runs, word, out);
    }

    /// Appends a word, unless it has only invisible characters.
    fn word(&mut self, text: &str, runs: &[OriginRun], range: Range<usize>, out: &mut Symbols) {
        self.fold(&text[range.clone()]);
        if !self.folded.is_empty() {
            let origin = origin(runs, text.len(), range);
            out.push(value_of_word(&self.folded), origin.start, origin.end);
        }
    }

    /// Writes the standard form of a word to `folded`, without invisible characters.
    fn fold(&mut self, word: &str) {
        self.folded.clear();
        if word.is_ascii() {
            self.folded.push_str(word);
            return self.folded.make_ascii_lowercase();
        }
        for c in word.chars() {
            match self.folding.fate(c) {
                FoldResult::Keep(c) => self.folded.push(c),
                FoldResult::Drop if c.is_ascii() => self.folded.push(c),
                // Characters may depend on their neighbours from here on. Normalise the whole word.
                _ => {
                    let form = &self.folding.form;
                    self.folded.clear();
                    self.folded.extend(form.of(word).chars().filter(|&c| !form.is_ignorable(c)));
                    return;
                }
            }
        }
    }
}
