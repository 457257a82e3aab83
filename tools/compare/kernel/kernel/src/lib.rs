//! The kernel of fpdb with instruction sets that can be forced. Measuring it does not need a build of
//! RocksDB. It is compiled as users of fpdb compile it: for any processor, with detection of instruction sets
//! at run time.

use std::hint::black_box;

pub use fpdb_kernel::columns::Fingerprints;
pub use fpdb_kernel::document::Language;
pub use fpdb_kernel::{normalize, profile};
use fpdb_kernel::{Kernel, kgram, lanes, winnow};
use normalize::{FrontEnd, SymbolContent, Symbols};
use profile::{Profile, Selection};
use winnow::{Selected, Winnower};

/// Symbols hashed before they are winnowed, as in `kernel.rs`.
const STRETCH: usize = 1984;

/// An instruction set to use.
#[derive(Clone, Copy)]
pub struct Level(lanes::Processor);

impl Level {
    /// The instruction sets of this machine, the best one last.
    pub fn all() -> Vec<Self> {
        lanes::Processor::all().into_iter().map(Self).collect()
    }

    pub fn name(self) -> &'static str {
        match self.0 {
            lanes::Processor::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            lanes::Processor::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            lanes::Processor::Avx512(_) => "AVX-512",
        }
    }
}

/// All steps from text to fingerprints.
pub struct Fingerprinter(Kernel);

impl Fingerprinter {
    pub fn new(profile: &Profile, level: Level) -> Self {
        let mut kernel = Kernel::new(profile);
        kernel.set_processor(level.0);
        Self(kernel)
    }

    /// Makes the fingerprints of the text. Clears `out` now and then, as a caller does that stores the
    /// fingerprints.
    pub fn run(&mut self, text: &[u8], out: &mut Fingerprints) {
        for piece in text.chunks(16 << 10) {
            if out.len() > 4096 {
                out.clear();
            }
            self.0.feed(piece, out);
        }
        self.0.finish(out);
        out.clear();
    }
}

/// The step from bytes to symbols alone.
pub struct Normaliser {
    front_end: FrontEnd,
    symbols: Symbols,
}

impl Normaliser {
    pub fn new(level: Level) -> Self {
        let mut front_end = FrontEnd::chars();
        front_end.set_processor(level.0);
        Self { front_end, symbols: Symbols::new() }
    }

    /// Reads the text in pieces, as `Kernel` does. Returns the number of symbols.
    pub fn run(&mut self, text: &[u8]) -> u64 {
        let mut count = 0;
        for piece in text.chunks(4 << 10) {
            self.front_end.read(piece, &mut self.symbols);
            count += self.symbols.len();
            self.symbols.discard_front(self.symbols.len());
        }
        self.front_end.end(&mut self.symbols);
        count += self.symbols.len();
        self.symbols.clear();
        count as u64
    }
}

/// The codes of letters and digits.
pub fn codes(letters: &[u8]) -> Vec<u8> {
    letters.iter().filter_map(|&letter| char::from(letter).to_digit(36)).map(|code| code as u8).collect()
}

/// Selects fingerprints from symbols without their places in the document (`winnow`), or only hashes the
/// symbols (`hash`).
pub struct Engine {
    hasher: kgram::KgramHasher,
    winnower: Winnower,
    hashes: Vec<u64>,
}

impl Engine {
    pub fn new(k: u32, w: u32, level: Level) -> Self {
        let mut hasher = kgram::KgramHasher::new(k);
        hasher.set_processor(level.0);
        Self { hasher, winnower: self::winnower(Selection::Robust, w, level), hashes: vec![0; STRETCH] }
    }

    /// Hashes and winnows a document of these codes, and uses the fingerprints after each stretch, as
    /// `Kernel` does.
    pub fn winnow(&mut self, codes: &[u8], out: &mut Vec<Selected>) {
        let Self { hasher, winnower, .. } = self;
        out.clear();
        hasher.reset();
        let mut end = 0;
        while end < codes.len() {
            let from = end;
            end = codes.len().min(from + STRETCH);
            let count = hasher.upcoming(end - from);
            winnower.feed_with(count, |space| hasher.fill(SymbolContent::Codes(&codes[..end]), from, space), out);
            black_box(&out);
            out.clear();
        }
        winnower.finish(out);
    }

    /// Hashes a document of these codes, and forgets the hashes.
    pub fn hash(&mut self, codes: &[u8]) {
        let Self { hasher, hashes, .. } = self;
        hasher.reset();
        let mut end = 0;
        while end < codes.len() {
            let from = end;
            end = codes.len().min(from + STRETCH);
            let count = hasher.upcoming(end - from);
            hasher.fill(SymbolContent::Codes(&codes[..end]), from, &mut hashes[..count]);
        }
    }
}

/// A winnower with this instruction set.
pub fn winnower(selection: Selection, w: u32, level: Level) -> Winnower {
    let mut winnower = Winnower::new(selection, w);
    winnower.set_processor(level.0);
    winnower
}
