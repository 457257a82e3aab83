//! Kernel: turns the bytes of a text into fingerprints, piece by piece.
//!
//! The kernel runs the front-end, k-gram hashing and winnowing over each piece in turn. A piece is small
//! enough to stay in the first-level cache (docs/kernel.md).

use crate::columns::Fingerprints;
use crate::document::Language;
use crate::kgram::KgramHasher;
#[cfg(any(test, fuzzing, feature = "measuring"))]
use crate::lanes::Processor;
use crate::normalize::{FrontEnd, LOCATED_AT_ONCE, SymbolContent, Symbols, TextFacts};
use crate::profile::{Marks, Profile};
use crate::winnow::{Selected, Winnower};

/// Bytes that are normalised, hashed and winnowed at a time: few enough to stay in the cache.
const PIECE: usize = 4 << 10;

/// Number of symbols that are hashed before their hashes are winnowed. The hasher writes four parts of these
/// hashes at the same time. The number is below 2,048, because parts that are whole pages apart would compete
/// for the same lines of the cache.
const SYMBOLS_AT_ONCE: usize = 1984;

/// Makes fingerprints of text.
pub struct Kernel {
    k: usize,
    /// Number of symbols to keep, w + k. The last `reach` symbols contain every k-gram that may still be
    /// selected.
    reach: usize,
    front_end: FrontEnd,
    hasher: KgramHasher,
    marks: Marks,
    winnower: Winnower,
    symbols: Symbols,
    /// Index in the text of the first symbol in `symbols`.
    first: u64,
    /// Number of symbols in `symbols` that are already hashed.
    hashed: usize,
    selected: Vec<Selected>,
}

/// Figures about a text, known after all of it is read.
pub struct TextTotals {
    /// Number of symbols.
    pub symbols: u64,
    /// Number of k-grams; 0 if there are fewer than k symbols.
    pub kgrams: u64,
    /// Lines, encoding and other facts from the front-end.
    pub text: TextFacts,
}

impl Kernel {
    /// A kernel for this profile, ready for the first text. For a profile of two views, the kernel makes the
    /// fingerprints of the structure.
    pub fn new(profile: &Profile) -> Self {
        Self {
            k: profile.k as usize,
            reach: profile.w as usize + profile.k as usize,
            front_end: FrontEnd::of(profile),
            hasher: KgramHasher::new(profile.k),
            marks: profile.marks(),
            winnower: Winnower::new(profile.selection, profile.w),
            symbols: Symbols::new(),
            first: 0,
            hashed: 0,
            selected: Vec::new(),
        }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub fn set_processor(&mut self, processor: Processor) {
        self.front_end.set_processor(processor);
        self.hasher.set_processor(processor);
        self.winnower.set_processor(processor);
    }

    /// Sets the language of the next text. `None` if it is not source code.
    pub fn begin(&mut self, language: Option<Language>) {
        self.front_end.begin(language);
    }

    /// Declares that the next text is UTF-8, so that its encoding is not detected.
    pub fn begin_utf8(&mut self) {
        self.front_end.begin_utf8();
    }

    /// Reads the next bytes of the text, any number of them. Appends to `out` the fingerprints that later
    /// bytes cannot change.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Fingerprints) {
        for piece in bytes.chunks(PIECE) {
            self.front_end.read(piece, &mut self.symbols);
            self.advance(out);
        }
    }

    /// Ends the text and appends its last fingerprints. Afterwards the kernel is ready for the next text.
    pub fn finish(&mut self, out: &mut Fingerprints) -> TextTotals {
        let text = self.front_end.end(&mut self.symbols);
        self.advance(out);
        self.winnower.finish(&mut self.selected);
        self.locate(out);
        let symbols = self.first + self.symbols.len() as u64;
        self.symbols.clear();
        self.hasher.reset();
        self.first = 0;
        self.hashed = 0;
        TextTotals { symbols, kgrams: (symbols + 1).saturating_sub(self.k as u64), text }
    }

    fn advance(&mut self, out: &mut Fingerprints) {
        let Self { hasher, winnower, marks, .. } = self;
        let length = self.symbols.len();
        while self.hashed < length {
            let from = self.hashed;
            let end = length.min(from + SYMBOLS_AT_ONCE);
            let content = match self.symbols.content() {
                SymbolContent::Codes(codes) => SymbolContent::Codes(&codes[..end]),
                SymbolContent::Values(values) => SymbolContent::Values(&values[..end]),
            };
            let count = hasher.upcoming(end - from);
            let fill = |space: &mut [u64]| {
                hasher.fill(content, from, space);
                marks.mark_all(space);
            };
            winnower.feed_with(count, fill, &mut self.selected);
            self.hashed = end;
        }
        self.locate(out);
        // Discarding symbols moves all symbols that stay. So nothing is discarded until most symbols are
        // superfluous.
        if self.hashed > 2 * self.reach {
            let spent = self.hashed - self.reach;
            self.symbols.discard_front(spent);
            self.symbols.narrow();
            self.first += spent as u64;
            self.hashed -= spent;
        }
    }

    fn locate(&mut self, out: &mut Fingerprints) {
        let (mut walk, first) = (self.symbols.walk(self.k, self.first), self.first);
        out.reserve(self.selected.len());
        let kgram = |&Selected { hash, position }: &Selected| (hash, (position - first) as usize);
        for some in self.selected.chunks(LOCATED_AT_ONCE) {
            walk.locate(some.iter().map(kgram), out);
        }
        self.selected.clear();
    }
}
