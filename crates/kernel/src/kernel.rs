//! Kernel: from the bytes of a text to its fingerprints, piece by piece. The only caller of front-end, k-gram hashing and
//! winnowing, which it leads over the text in pieces that stay in the first-level cache (docs/kernel.md).

use crate::columns::Fingerprints;
use crate::document::Language;
use crate::kgram::KgramHasher;
#[cfg(any(test, fuzzing, feature = "measuring"))]
use crate::lanes::Processor;
use crate::normalize::{FrontEnd, LOCATED_AT_ONCE, SymbolContent, Symbols, TextFacts};
use crate::profile::Profile;
use crate::winnow::{Selected, Winnower};

/// How much is normalised, hashed and winnowed at a time: small enough to stay in the cache.
const PIECE: usize = 4 << 10;

/// How many symbols are hashed before their hashes are winnowed.
const SYMBOLS_AT_ONCE: usize = 2 << 10;

/// Makes fingerprints of text.
pub struct Kernel {
    k: usize,
    /// Symbols that a fingerprint not yet selected may begin at or reach.
    reach: usize,
    front_end: FrontEnd,
    hasher: KgramHasher,
    winnower: Winnower,
    symbols: Symbols,
    /// The index in the text of the first symbol held.
    first: u64,
    /// Symbols held that are hashed already.
    hashed: usize,
    selected: Vec<Selected>,
}

/// The figures of a text after all of it has been read: the numbers of symbols and k-grams, and the rest.
pub struct TextTotals {
    pub symbols: u64,
    pub kgrams: u64,
    pub text: TextFacts,
}

impl Kernel {
    pub fn new(profile: &Profile) -> Self {
        Self {
            k: profile.k as usize,
            reach: profile.w as usize + profile.k as usize,
            front_end: FrontEnd::of(profile),
            hasher: KgramHasher::new(profile.k),
            winnower: Winnower::new(profile.selection, profile.w),
            symbols: Symbols::new(),
            first: 0,
            hashed: 0,
            selected: Vec::new(),
        }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub(crate) fn set_processor(&mut self, processor: Processor) {
        self.front_end.set_processor(processor);
        self.hasher.set_processor(processor);
        self.winnower.set_processor(processor);
    }

    /// Says which language the next text is in.
    pub fn begin(&mut self, language: Option<Language>) {
        self.front_end.begin(language);
    }

    /// Says that the next text is UTF-8, whatever it looks like.
    pub fn begin_utf8(&mut self) {
        self.front_end.begin_utf8();
    }

    /// Takes the text's next bytes, in pieces of any size, and appends the fingerprints that are certain by then to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Fingerprints) {
        for piece in bytes.chunks(PIECE) {
            self.front_end.read(piece, &mut self.symbols);
            self.advance(out);
        }
    }

    /// Ends the text, appends its last fingerprints, and makes ready for the next one.
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
        let Self { hasher, winnower, .. } = self;
        let length = self.symbols.len();
        while self.hashed < length {
            let from = self.hashed;
            let end = length.min(from + SYMBOLS_AT_ONCE);
            let content = match self.symbols.content() {
                SymbolContent::Codes(codes) => SymbolContent::Codes(&codes[..end]),
                SymbolContent::Values(values) => SymbolContent::Values(&values[..end]),
            };
            let count = hasher.upcoming(end - from);
            let fill = |space: &mut [u64]| hasher.fill(content, from, space);
            winnower.feed_with(count, fill, &mut self.selected);
            self.hashed = end;
        }
        self.locate(out);
        // Trimming moves what stays, so it waits until what goes is the larger part.
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
