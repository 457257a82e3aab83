//! Scanner: turns the bytes of a document into symbols, origins and anchors, in pieces that stay in the
//! cache.

use super::anchor::{Anchor, WindowShape, anchors};
use super::origins::Origins;
use super::packed::PackedSymbols;
use fpdb_host::error::Result;
use fpdb_kernel::document::{Format, Offsets, Span};
use fpdb_kernel::kgram::KgramHasher;
use fpdb_kernel::normalize::{FrontEnd, SymbolContent, Symbols};
use fpdb_kernel::profile::{Profile, Selection, Unit};
use fpdb_kernel::winnow::{Selected, Winnower};
use fpdb_reading::extract::{self, Map};
use fpdb_reading::input::InputLimits;

/// Bytes normalised and hashed at a time.
const PIECE: usize = 4 << 10;

/// Scans documents. A scanner holds tables, so each thread has its own.
pub(super) struct Scanner {
    unit: Unit,
    cut: WindowShape,
    limits: InputLimits,
    front_end: FrontEnd,
    hasher: KgramHasher,
    winnower: Winnower,
    symbols: Symbols,
    /// Number of the held symbols that are already hashed.
    hashed: usize,
    selected: Vec<Selected>,
}

/// The stored form of a document.
pub(super) struct Scanned {
    pub(super) symbols: PackedSymbols,
    pub(super) origins: Origins,
    /// Ascending by position, with document id 0.
    pub(super) anchors: Vec<Anchor>,
}

impl Scanner {
    pub(super) fn new(profile: &Profile, cut: WindowShape, limits: &InputLimits) -> Self {
        Self {
            unit: profile.unit(),
            cut,
            limits: limits.clone(),
            front_end: FrontEnd::of(profile),
            hasher: KgramHasher::new(cut.kgram),
            winnower: Winnower::new(Selection::Plain, cut.kgrams()),
            symbols: Symbols::new(),
            hashed: 0,
            selected: Vec::new(),
        }
    }

    /// Reads a document in the same way as at ingest.
    ///
    /// # Errors
    /// Fails if the bytes do not parse in the format, or exceed a limit.
    pub(super) fn scan(&mut self, bytes: &[u8], format: Format) -> Result<Scanned> {
        let mut out =
            Scanned { symbols: PackedSymbols::new(self.unit), origins: Origins::default(), anchors: Vec::new() };
        if self.unit == Unit::Byte || !extract::applies(format) {
            self.front_end.begin(format.language());
            self.text(bytes, &mut |span| span, &mut out);
            return Ok(out);
        }
        let extracted = extract::extract_for(self.unit, format, bytes, &self.limits)?;
        self.front_end.begin(extracted.language);
        self.front_end.begin_utf8();
        if extracted.offsets == Offsets::Original {
            let mut map = Map::new(&extracted.segments, extracted.text.len() as u64);
            self.text(&extracted.text, &mut |span| map.origin(span), &mut out);
        } else {
            self.text(&extracted.text, &mut |span| span, &mut out);
        }
        Ok(out)
    }

    fn text(&mut self, text: &[u8], origin: &mut dyn FnMut(Span) -> Span, out: &mut Scanned) {
        for piece in text.chunks(PIECE) {
            self.front_end.read(piece, &mut self.symbols);
            self.advance(origin, out);
        }
        self.front_end.end(&mut self.symbols);
        self.advance(origin, out);
        self.winnower.finish(&mut self.selected);
        anchors(&self.selected, out.symbols.len(), self.cut, &mut out.anchors);
        self.selected.clear();
        self.symbols.clear();
        self.hasher.reset();
        self.hashed = 0;
    }

    fn advance(&mut self, origin: &mut dyn FnMut(Span) -> Span, out: &mut Scanned) {
        let Self { hasher, winnower, symbols, hashed, selected, .. } = self;
        let (from, content) = (*hashed, symbols.content());
        winnower.feed_with(hasher.upcoming(symbols.len() - from), |space| hasher.fill(content, from, space), selected);
        out.symbols.extend(match content {
            SymbolContent::Codes(codes) => SymbolContent::Codes(&codes[from..]),
            SymbolContent::Values(values) => SymbolContent::Values(&values[from..]),
        });
        for span in symbols.origins(from) {
            out.origins.push(origin(span));
        }
        *hashed = symbols.len();
        // The hasher reads each symbol again when the symbol leaves the k-gram, so the last `reach` symbols
        // stay.
        let reach = self.cut.kgram as usize;
        if self.hashed > 2 * reach + PIECE {
            let spent = self.hashed - reach;
            self.symbols.discard_front(spent);
            self.symbols.narrow();
            self.hashed -= spent;
        }
    }
}
