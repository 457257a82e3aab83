//! Fingerprint: a selected hash and the place of its k-gram. A fingerprinter turns a document of any format
//! into fingerprints. If the format requires it, the text is extracted first; then the kernel runs.

use std::fmt;

use crate::extract::{self, Extracted, InputLimits, Lines, Map};
use fpdb_host::error::Result;
use fpdb_kernel::columns::{Fingerprint, Fingerprints};
use fpdb_kernel::document::{Format, Language, Offsets};
use fpdb_kernel::kernel::{Kernel, TextTotals};
use fpdb_kernel::normalize::TextFacts;
use fpdb_kernel::profile::{Profile, Unit, View};

/// Bytes per block. Both views read a whole block before either reads the next one. So the order of
/// fingerprints depends on the text alone, and not on the sizes of the pieces that a caller feeds.
const BLOCK: usize = 64 << 10;

/// Figures about a document, known after all of it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentFacts {
    /// Number of symbols.
    pub symbols: u64,
    /// Number of k-grams, counting repetitions: symbols - k + 1, or 0.
    pub kgrams: u64,
    /// Bytes, lines, encoding and undecodable sequences. Bytes are bytes of the document. Lines are lines of
    /// the document, unless the offsets count bytes of the extracted text.
    pub text: TextFacts,
    /// The unit of the spans: bytes of the original or of the extracted text.
    pub offsets: Offsets,
    /// Number of a mail's attachments, which are not read.
    pub attachments: u64,
    /// Figures of the text as written, if the profile has two views. The figures above then describe the view
    /// of the structure.
    pub text_view: Option<ViewTotals>,
}

/// The figures of one view of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ViewTotals {
    /// Number of symbols.
    pub symbols: u64,
    /// Number of k-grams, counting repetitions.
    pub kgrams: u64,
}

/// Makes fingerprints of documents. Use one per thread, for any number of documents.
///
/// Memory is bounded by about 30 bytes for each of w + k symbols, plus a constant. If a document's text must
/// be extracted or tokenised as a whole, memory is a multiple of the document's size.
pub struct Fingerprinter {
    kernels: Kernels,
    unit: Unit,
    format: Format,
    /// The document so far, if its text must be extracted. Emptied once the document exceeds the limit.
    /// `length` counts all bytes.
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
            kernels: Kernels::new(profile),
            unit: profile.unit(),
            format: Format::default(),
            whole: Vec::new(),
            length: 0,
            limits: InputLimits::default(),
            of_text: Fingerprints::new(),
        }
    }

    /// Replaces the limits on documents that are read whole.
    #[must_use]
    pub fn with_limits(self, limits: &InputLimits) -> Self {
        Self { limits: limits.clone(), ..self }
    }

    /// Sets the format of the next documents. Call it before the first byte of a document. The default is
    /// text. Unit byte ignores the format and reads bytes.
    pub fn begin(&mut self, format: Format) {
        self.format = format;
        self.kernels.begin(format.language());
    }

    /// Reads the next bytes of the document, in pieces of any size. Appends to `out` the fingerprints that
    /// are final by then, ordered by position. If the profile has two views, this order holds within each
    /// view.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Fingerprints) {
        if self.is_extracted() {
            self.length += bytes.len() as u64;
            if self.length <= self.limits.whole_bytes {
                self.whole.extend_from_slice(bytes);
            } else {
                self.whole = Vec::new();
            }
        } else {
            self.kernels.feed(bytes, out);
        }
    }

    /// Ends the document and appends its last fingerprints. Afterwards the fingerprinter is ready for the
    /// next document, even after an error.
    ///
    /// # Errors
    /// Fails if the document is not of its format or exceeds a limit. The content of `out` is then unusable.
    pub fn finish(&mut self, out: &mut Fingerprints) -> Result<DocumentFacts> {
        self.finish_seeing(out, &mut |_| {})
    }

    /// Like [`finish`](Self::finish). If the text is extracted, calls `see` with it.
    ///
    /// # Errors
    /// The same as those of [`finish`](Self::finish).
    #[doc(hidden)]
    pub fn finish_seeing(&mut self, out: &mut Fingerprints, see: &mut dyn FnMut(&Extracted)) -> Result<DocumentFacts> {
        if !self.is_extracted() {
            return Ok(self.finish_text(out));
        }
        let document = std::mem::take(&mut self.whole);
        self.limits.check_document(self.format, std::mem::take(&mut self.length))?;
        let extracted = extract::extract_for(self.unit, self.format, &document, &self.limits)?;
        see(&extracted);
        self.kernels.begin(extracted.language);
        self.kernels.begin_utf8();
        let mut facts = match extracted.offsets {
            Offsets::Original => self.finish_extracted(&document, &extracted, out),
            Offsets::Extracted => {
                self.kernels.feed(&extracted.text, out);
                self.finish_text(out)
            }
        };
        facts.text.bytes = document.len() as u64;
        facts.text.encoding = extracted.encoding.unwrap_or(facts.text.encoding);
        facts.text.undecodable = extracted.undecodable;
        facts.offsets = extracted.offsets;
        facts.attachments = if self.format == Format::Mail { extracted.unread.count } else { 0 };
        Ok(facts)
    }

    /// Appends the fingerprints of an extracted text, with their places in the document.
    fn finish_extracted(&mut self, document: &[u8], extracted: &Extracted, out: &mut Fingerprints) -> DocumentFacts {
        // The encoding of the document is UTF-8, unless the extracted text names another encoding.
        let lines = Lines::new(document, extracted.encoding.unwrap_or_default());
        let place = || Place {
            map: Map::new(&extracted.segments, extracted.text.len() as u64),
            first_lines: lines.clone(),
            last_lines: lines.clone(),
        };
        // Places ascend within a view but not across views, so each view has its own mapper.
        let mut places = [place(), place()];
        let profile = self.kernels.profile;
        let mut move_to = |out: &mut Fingerprints, of_text: &mut Fingerprints| {
            out.extend(of_text.iter().map(|fingerprint| {
                let view = usize::from(profile.view_of(fingerprint.hash) == View::Text);
                places[view].in_document(fingerprint)
            }));
            of_text.clear();
        };
        let mut of_text = std::mem::take(&mut self.of_text);
        for piece in extracted.text.chunks(BLOCK) {
            self.kernels.feed(piece, &mut of_text);
            move_to(out, &mut of_text);
        }
        let mut facts = self.finish_text(&mut of_text);
        move_to(out, &mut of_text);
        self.of_text = of_text;
        let mut all_lines = lines;
        facts.text.lines = all_lines.count();
        facts
    }

    fn is_extracted(&self) -> bool {
        self.unit != Unit::Byte && extract::applies(self.format)
    }

    fn finish_text(&mut self, out: &mut Fingerprints) -> DocumentFacts {
        let (TextTotals { symbols, kgrams, text }, text_view) = self.kernels.finish(out);
        DocumentFacts { symbols, kgrams, text, offsets: Offsets::Original, attachments: 0, text_view }
    }
}

/// Converts the places of fingerprints in an extracted text to places in the document. The fingerprints must
/// come in order.
struct Place<'a> {
    map: Map<'a>,
    first_lines: Lines<'a>,
    last_lines: Lines<'a>,
}

impl Place<'_> {
    fn in_document(&mut self, fingerprint: Fingerprint) -> Fingerprint {
        let span = self.map.origin(fingerprint.span);
        let first_line = self.first_lines.line(span.start);
        let last_line = self.last_lines.line(span.end.saturating_sub(1));
        Fingerprint { span, first_line, last_line, ..fingerprint }
    }
}

/// A kernel for each view of a profile.
struct Kernels {
    profile: Profile,
    structure: Kernel,
    text: Option<Kernel>,
    /// The bytes of the current block, until it is whole. Only with two views.
    block: Vec<u8>,
}

impl Kernels {
    fn new(profile: &Profile) -> Self {
        Self {
            profile: *profile,
            structure: Kernel::new(&profile.structure_view()),
            text: profile.text_view().as_ref().map(Kernel::new),
            block: Vec::new(),
        }
    }

    fn begin(&mut self, language: Option<Language>) {
        self.structure.begin(language);
    }

    fn begin_utf8(&mut self) {
        self.structure.begin_utf8();
        self.text.iter_mut().for_each(Kernel::begin_utf8);
    }

    fn feed(&mut self, mut bytes: &[u8], out: &mut Fingerprints) {
        if self.text.is_none() {
            return self.structure.feed(bytes, out);
        }
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - self.block.len()));
            self.block.extend_from_slice(now);
            if self.block.len() == BLOCK {
                self.feed_block(out);
            }
            bytes = later;
        }
    }

    /// Passes the current block to both kernels.
    fn feed_block(&mut self, out: &mut Fingerprints) {
        let Self { structure, text: Some(text), block, .. } = self else { return };
        structure.feed(block, out);
        text.feed(block, out);
        block.clear();
    }

    fn finish(&mut self, out: &mut Fingerprints) -> (TextTotals, Option<ViewTotals>) {
        self.feed_block(out);
        let totals = self.structure.finish(out);
        let text = self.text.as_mut().map(|text| {
            let TextTotals { symbols, kgrams, .. } = text.finish(out);
            ViewTotals { symbols, kgrams }
        });
        (totals, text)
    }
}
