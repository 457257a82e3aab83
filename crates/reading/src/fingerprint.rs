//! Fingerprint: a selected hash and where its k-gram stands. Here a document of any format is turned into them: its text
//! is extracted where its format asks for that, and the kernel does the rest.

use std::fmt;

use crate::extract::{self, Extracted, Limits, Lines, Map};
use crate::input::InputLimits;
use fpdb_host::error::Result;
use fpdb_kernel::columns::{Fingerprint, Fingerprints};
use fpdb_kernel::document::{Format, Offsets};
use fpdb_kernel::kernel::{Kernel, TextTotals};
use fpdb_kernel::normalize::TextFacts;
use fpdb_kernel::profile::{Profile, Unit};

/// How much of an extracted text is fingerprinted before its fingerprints go to their places.
const EXTRACTED_PIECE: usize = 16 << 10;

/// The figures of a document after all of it has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentFacts {
    /// Symbols of the standard form.
    pub symbols: u64,
    /// k-grams, repeated ones counted each time: symbols - k + 1, or 0.
    pub kgrams: u64,
    /// Bytes, lines, encoding, undecodable sequences. Bytes are the document's; lines too, unless offsets are of the
    /// extracted text.
    pub text: TextFacts,
    /// The unit of the spans.
    pub offsets: Offsets,
}

/// Makes fingerprints; one per thread, reused from document to document.
///
/// Memory is bounded by some 30 bytes for each of w + k symbols, plus a constant; by a multiple of the document where
/// its text has to be extracted, or cut into tokens, whole.
pub struct Fingerprinter {
    kernel: Kernel,
    unit: Unit,
    format: Format,
    /// The document so far, where its text has to be extracted, and its length: of one that is too large no more is
    /// held than that.
    whole: Vec<u8>,
    length: u64,
    limits: Limits,
    /// Fingerprints of some of its text, whose places are not yet those in the document.
    of_text: Fingerprints,
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fingerprinter").field("unit", &self.unit).field("format", &self.format).finish_non_exhaustive()
    }
}

impl Fingerprinter {
    /// A fingerprinter of this profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        Self {
            kernel: Kernel::new(profile),
            unit: profile.unit(),
            format: Format::default(),
            whole: Vec::new(),
            length: 0,
            limits: Limits::default(),
            of_text: Fingerprints::new(),
        }
    }

    /// The same, with other limits to what documents of formats that are read whole may be.
    #[must_use]
    pub fn with_limits(self, limits: &InputLimits) -> Self {
        Self { limits: Limits::from(limits), ..self }
    }

    /// Says which format the next document is in, before its first byte. It holds until it is said again; until then
    /// documents are text. Under unit byte every format is bytes.
    pub fn begin(&mut self, format: Format) {
        self.format = format;
        self.kernel.begin(format.language());
    }

    /// Takes the document's next bytes, in pieces of any size, and appends the fingerprints they
    /// settle to `out`, in ascending order of position.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Fingerprints) {
        if self.is_extracted() {
            self.length += bytes.len() as u64;
            if self.length <= self.limits.document {
                self.whole.extend_from_slice(bytes);
            } else {
                self.whole = Vec::new();
            }
        } else {
            self.kernel.feed(bytes, out);
        }
    }

    /// Ends the document, appends its last fingerprints, and makes ready for the next one, in any case.
    ///
    /// # Errors
    /// A document that is not of its format, or that exceeds a limit; `out` is then of no use.
    pub fn finish(&mut self, out: &mut Fingerprints) -> Result<DocumentFacts> {
        if !self.is_extracted() {
            return Ok(self.finish_text(out));
        }
        let document = std::mem::take(&mut self.whole);
        self.limits.check_document(self.format, std::mem::take(&mut self.length))?;
        let extracted = extract::extract(self.format, &document, &self.limits)?;
        self.kernel.begin_utf8();
        let mut facts = match extracted.offsets {
            Offsets::Original => self.finish_extracted(&document, &extracted, out),
            Offsets::Extracted => {
                self.kernel.feed(&extracted.text, out);
                self.finish_text(out)
            }
        };
        facts.text.bytes = document.len() as u64;
        facts.text.encoding = extracted.encoding.unwrap_or(facts.text.encoding);
        facts.text.undecodable = extracted.undecodable;
        facts.offsets = extracted.offsets;
        Ok(facts)
    }

    /// Appends the fingerprints of an extracted text where they stand in the document.
    fn finish_extracted(&mut self, document: &[u8], extracted: &Extracted, out: &mut Fingerprints) -> DocumentFacts {
        // UTF-8, unless the text names an encoding.
        let mut first_lines = Lines::new(document, extracted.encoding.unwrap_or_default());
        let mut last_lines = first_lines.clone();
        let mut map = Map::new(&extracted.segments, extracted.text.len() as u64);
        let mut move_to = |out: &mut Fingerprints, of_text: &mut Fingerprints| {
            out.extend(of_text.iter().map(|fingerprint| {
                let span = map.origin(fingerprint.span);
                let first_line = first_lines.line(span.start);
                Fingerprint { span, first_line, last_line: last_lines.line(span.end.saturating_sub(1)), ..fingerprint }
            }));
            of_text.clear();
        };
        let mut of_text = std::mem::take(&mut self.of_text);
        for piece in extracted.text.chunks(EXTRACTED_PIECE) {
            self.kernel.feed(piece, &mut of_text);
            move_to(out, &mut of_text);
        }
        let mut facts = self.finish_text(&mut of_text);
        move_to(out, &mut of_text);
        self.of_text = of_text;
        facts.text.lines = first_lines.count();
        facts
    }

    fn is_extracted(&self) -> bool {
        self.unit != Unit::Byte && extract::applies(self.format)
    }

    fn finish_text(&mut self, out: &mut Fingerprints) -> DocumentFacts {
        let TextTotals { symbols, kgrams, text } = self.kernel.finish(out);
        DocumentFacts { symbols, kgrams, text, offsets: Offsets::Original }
    }
}
