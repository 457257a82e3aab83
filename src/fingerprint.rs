//! Fingerprint: a selected hash and where its k-gram stands. The only caller of front-end, k-gram
//! hashing and winnowing; it turns a document's bytes into fingerprints, piece by piece.

use crate::document::{Format, Offsets, Span};
use crate::error::Result;
use crate::extract::{self, Map};
use crate::kgram::KgramHasher;
use crate::normalize::{FrontEnd, Symbols, TextFacts};
use crate::profile::{Profile, Unit};
use crate::winnow::{Selected, Winnower};

/// One selected k-gram of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The k-gram's hash.
    pub hash: u64,
    /// The index of its first symbol in the document.
    pub position: u64,
    /// The bytes of the original it came from.
    pub span: Span,
    /// The 1-based line its first byte stands in.
    pub first_line: u64,
    /// The 1-based line its last byte stands in.
    pub last_line: u64,
}

/// What is known of a document once all of it has been seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFacts {
    /// Symbols of the standard form.
    pub symbols: u64,
    /// k-grams, repeated ones counted each time: symbols - k + 1, or 0.
    pub kgrams: u64,
    /// Bytes, lines, encoding, undecodable sequences. Bytes are the document's; lines too, unless offsets are of the
    /// extracted text.
    pub text: TextFacts,
    /// What the spans count.
    pub offsets: Offsets,
}

/// How much is normalised, hashed and winnowed at a time: small enough to stay in the cache.
const PIECE: usize = 4 << 10;

/// How many symbols are hashed before their hashes are winnowed.
const STRETCH: usize = 2 << 10;

/// Makes fingerprints; one per thread, reused from document to document.
///
/// Memory is bounded by some 30 bytes for each of w + k symbols, plus a constant; by a multiple of the document where
/// its text has to be extracted, or cut into tokens, whole.
pub struct Fingerprinter {
    k: usize,
    /// Symbols that a fingerprint not yet selected may begin at or reach.
    reach: usize,
    front_end: FrontEnd,
    hasher: KgramHasher,
    winnower: Winnower,
    symbols: Symbols,
    /// The index in the document of the first symbol held.
    first: u64,
    /// Symbols held that are hashed already.
    hashed: usize,
    selected: Vec<Selected>,
    unit: Unit,
    format: Format,
    /// The document so far, where its text has to be extracted.
    whole: Vec<u8>,
}

impl Fingerprinter {
    /// A fingerprinter of this profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let front_end = match profile.unit {
            Unit::Char => FrontEnd::chars(),
            Unit::Word => FrontEnd::words(profile.word_rule),
            Unit::Byte => FrontEnd::bytes(),
            Unit::Token => FrontEnd::tokens(),
        };
        Self {
            k: profile.k as usize,
            reach: profile.w as usize + profile.k as usize,
            front_end,
            hasher: KgramHasher::new(profile.k),
            winnower: Winnower::new(profile.selection, profile.w),
            symbols: Symbols::new(),
            first: 0,
            hashed: 0,
            selected: Vec::new(),
            unit: profile.unit,
            format: Format::default(),
            whole: Vec::new(),
        }
    }

    /// Says which format the next document is in, before its first byte. It holds until it is said again; until then
    /// documents are text. Under unit byte every format is bytes.
    pub fn begin(&mut self, format: Format) {
        self.format = format;
        self.front_end.begin(match format {
            Format::Code(language) => Some(language),
            _ => None,
        });
    }

    /// Takes the document's next bytes, in pieces of any size, and appends the fingerprints they
    /// settle to `out`, in ascending order of position.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Fingerprint>) {
        if self.is_extracted() {
            self.whole.extend_from_slice(bytes);
        } else {
            self.feed_text(bytes, out);
        }
    }

    /// Ends the document, appends its last fingerprints, and makes ready for the next one, in any case.
    ///
    /// # Errors
    /// A document that is not of its format, or that exceeds a limit; `out` is then of no use.
    pub fn finish(&mut self, out: &mut Vec<Fingerprint>) -> Result<DocumentFacts> {
        if !self.is_extracted() {
            return Ok(self.finish_text(out));
        }
        let document = std::mem::take(&mut self.whole);
        let extracted = extract::extract(self.format, &document)?;
        let first = out.len();
        self.feed_text(&extracted.text, out);
        let mut facts = self.finish_text(out);
        facts.text.bytes = document.len() as u64;
        facts.text.encoding = extracted.encoding.unwrap_or(facts.text.encoding);
        facts.offsets = extracted.offsets;
        if extracted.offsets == Offsets::Original {
            let map = Map::new(extracted.segments, extracted.text.len() as u64, &document);
            facts.text.lines = map.lines();
            for fingerprint in &mut out[first..] {
                fingerprint.span = map.origin(fingerprint.span);
                fingerprint.first_line = map.line(fingerprint.span.start);
                fingerprint.last_line = map.line(fingerprint.span.end.saturating_sub(1));
            }
        }
        Ok(facts)
    }

    fn is_extracted(&self) -> bool {
        self.unit != Unit::Byte && extract::applies(self.format)
    }

    fn feed_text(&mut self, bytes: &[u8], out: &mut Vec<Fingerprint>) {
        for piece in bytes.chunks(PIECE) {
            self.front_end.feed(piece, &mut self.symbols);
            self.advance(out);
        }
    }

    fn finish_text(&mut self, out: &mut Vec<Fingerprint>) -> DocumentFacts {
        let text = self.front_end.finish(&mut self.symbols);
        self.advance(out);
        self.winnower.finish(&mut self.selected);
        self.locate(out);
        let symbols = self.first + self.symbols.len() as u64;
        self.symbols.clear();
        self.hasher.reset();
        self.first = 0;
        self.hashed = 0;
        let kgrams = (symbols + 1).saturating_sub(self.k as u64);
        DocumentFacts { symbols, kgrams, text, offsets: Offsets::Original }
    }

    fn advance(&mut self, out: &mut Vec<Fingerprint>) {
        let Self { hasher, winnower, .. } = self;
        let values = self.symbols.values();
        while self.hashed < values.len() {
            let from = self.hashed;
            self.hashed = values.len().min(from + STRETCH);
            let count = hasher.upcoming(self.hashed - from);
            let fill = |space: &mut [u64]| hasher.fill(&values[..self.hashed], from, space);
            winnower.feed_with(count, fill, &mut self.selected);
        }
        self.locate(out);
        // Trimming moves what stays, so it waits until what goes is the larger part.
        if self.hashed > 2 * self.reach {
            let spent = self.hashed - self.reach;
            self.symbols.discard_front(spent);
            self.first += spent as u64;
            self.hashed -= spent;
        }
    }

    fn locate(&mut self, out: &mut Vec<Fingerprint>) {
        let (mut first_hint, mut last_hint) = (0, 0);
        for Selected { hash, position } in self.selected.drain(..) {
            let first = (position - self.first) as usize;
            let span = Span { start: self.symbols.start(first), end: self.symbols.end(first + self.k - 1) };
            out.push(Fingerprint {
                hash,
                position,
                span,
                first_line: self.symbols.line_after(&mut first_hint, span.start),
                last_line: self.symbols.line_after(&mut last_hint, span.end - 1),
            });
        }
    }
}
