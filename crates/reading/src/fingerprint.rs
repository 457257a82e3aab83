//! Fingerprint: a selected hash and the place of its k-gram. A fingerprinter turns a document of any format
//! into fingerprints. If the format requires it, the text is extracted first; then the kernel runs.

use std::fmt;

use crate::extract::{self, Extracted, InputLimits, Lines, Map};
use fpdb_host::error::Result;
use fpdb_kernel::columns::{Fingerprint, Fingerprints};
use fpdb_kernel::document::{Format, Offsets};
use fpdb_kernel::kernel::{Kernel, TextTotals};
use fpdb_kernel::normalize::TextFacts;
use fpdb_kernel::profile::{Profile, Unit};

/// Bytes of an extracted text that are fingerprinted before the places of their fingerprints are mapped to
/// the document.
const EXTRACTED_PIECE: usize = 16 << 10;

/// Figures about a document, known after all of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentFacts {
    /// Number of symbols.
    pub symbols: u64,
    /// Number of k-grams, counting repetitions: symbols - k + 1, or 0.
    pub kgrams: u64,
    /// Bytes, lines, encoding and undecodable sequences. Bytes are those of the document. Lines are too,
    /// unless the offsets count bytes of the extracted text.
    pub text: TextFacts,
    /// The unit of the spans: bytes of the original or of the extracted text.
    pub offsets: Offsets,
}

/// Makes fingerprints of documents. Use one per thread, for any number of documents.
///
/// Memory is bounded by about 30 bytes for each of w + k symbols, plus a constant. If a document's text must
/// be extracted or tokenised as a whole, memory is a multiple of the document's size.
pub struct Fingerprinter {
    kernel: Kernel,
    unit: Unit,
    format: Format,
    /// The document so far, if its text must be extracted, and its length. Emptied once the document exceeds
    /// the limit.
    whole: Vec<u8>,
    length: u64,
    limits: InputLimits,
    /// Fingerprints whose places are still offsets in the extracted text.
    of_text: Fingerprints,
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fingerprinter").field("unit", &self.unit).field("format", &self.format).finish_non_exhaustive()
    }
}

impl Fingerprinter {
    /// A fingerprinter for this profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        Self {
            kernel: Kernel::new(profile),
            unit: profile.unit(),
            format: Format::default(),
            whole: Vec::new(),
            length: 0,
            limits: InputLimits::default(),
            of_text: Fingerprints::new(),
        }
    }

    /// The same, with other limits on documents that are read whole.
    #[must_use]
    pub fn with_limits(self, limits: &InputLimits) -> Self {
        Self { limits: limits.clone(), ..self }
    }

    /// Sets the format of the next documents. Call it before the first byte of a document. The default is
    /// text. Unit byte ignores the format and reads bytes.
    pub fn begin(&mut self, format: Format) {
        self.format = format;
        self.kernel.begin(format.language());
    }

    /// Reads the next bytes of the document, in pieces of any size. Appends to `out` the fingerprints that
    /// are final by then, ordered by position.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Fingerprints) {
        if self.is_extracted() {
            self.length += bytes.len() as u64;
            if self.length <= self.limits.whole_bytes {
                self.whole.extend_from_slice(bytes);
            } else {
                self.whole = Vec::new();
            }
        } else {
            self.kernel.feed(bytes, out);
        }
    }

    /// Ends the document and appends its last fingerprints. Afterwards the fingerprinter is ready for the
    /// next document, even after an error.
    ///
    /// # Errors
    /// If the document does not have its format or exceeds a limit. The content of `out` is then unusable.
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

    /// Appends the fingerprints of an extracted text, with their places in the document.
    fn finish_extracted(&mut self, document: &[u8], extracted: &Extracted, out: &mut Fingerprints) -> DocumentFacts {
        // The encoding is UTF-8, unless the extracted text has another one.
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
