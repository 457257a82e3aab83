//! Texts: the bytes of a document, from the store or its original place, and its symbols held in memory.

use super::stored_place;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::location::Location;
use super::text_limit::TextLimit;
use super::text_unavailable::TextUnavailable;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::{Format, Offsets, Span};
use fpdb_kernel::normalize::{FrontEnd, Readable, Symbols, encoding_of};
use fpdb_kernel::profile::{Profile, Unit};
use fpdb_passages::rewritten::{sentences, sentences_of_utf8};
use fpdb_reading::extract::{self, Extracted, Lines, Map, Segment, Unlike, Unread};
use fpdb_reading::input::{
    ContainerBatch, InputLimits, ReadOptions, Reader, SEARCHED_BYTES, format_of, front_end_of_text, single_document,
};
use fpdb_store::{DocumentRecord, Store};

/// The encoding of extracted text.
const UTF_8: &str = "UTF-8";

/// The text of a document, to which the offsets of its passages refer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentText {
    /// The document's bytes, or the text extracted from them.
    pub bytes: Vec<u8>,
    /// The format of the document.
    pub format: Format,
    /// The text that offsets refer to: the document's bytes or extracted text.
    pub offsets: Offsets,
    /// The encoding of the bytes, by its WHATWG name. `ASCII` if all are ASCII; `bytes` if the document is
    /// not read as characters.
    pub encoding: &'static str,
    /// The stretches of the bytes that are not read as they stand there, such as markup.
    pub(crate) unlike: Vec<Unlike>,
}

/// The bytes of a document, or why they are not available.
pub(crate) enum Bytes {
    /// The bytes that were fingerprinted: from the store, or read again and verified by digest.
    Here(Vec<u8>),
    /// The reason why the bytes are not available.
    Unavailable(TextUnavailable),
}

/// Reads the bytes of stored documents.
pub(crate) struct StoredTexts<'a> {
    store: &'a Store,
    options: ReadOptions,
    reader: Reader,
    batch: ContainerBatch,
    /// Maximum bytes of a container to read through for one member.
    searched: u64,
    stop: StopToken,
}

impl<'a> StoredTexts<'a> {
    /// Makes a reader of stored documents. A text that is read again must keep to the `limits`.
    pub(crate) fn new(store: &'a Store, limits: InputLimits) -> Self {
        // A document that was ingested is accepted with any bytes.
        let reader = Reader::new(limits.clone());
        let options = ReadOptions::default().limits(limits);
        Self {
            store,
            options,
            reader,
            batch: ContainerBatch::default(),
            searched: SEARCHED_BYTES,
            stop: StopToken::new(),
        }
    }

    /// Makes reading end once the token is stopped.
    pub(crate) fn stopped_by(self, stop: &StopToken) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Makes this reader read members of containers of any size.
    pub(crate) fn in_any_container(self) -> Self {
        Self { searched: u64::MAX, ..self }
    }

    /// Announces that the bytes of a document will be requested, so members of one container are read in one
    /// pass. Returns false if there is no room for another document.
    pub(crate) fn expect(&mut self, record: &DocumentRecord) -> bool {
        match stored_place(record).filter(|_| !record.stored_text) {
            Some(place) => self.batch.expect(place),
            None => true,
        }
    }

    /// The bytes of a stored document, unless it is larger than `limit`.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors from reading the store. A file that cannot be read is not an error: its
    /// text is unavailable.
    pub(crate) fn bytes_of(&mut self, id: u32, record: &DocumentRecord, limit: TextLimit) -> Result<Bytes> {
        if !limit.allows_document(record) {
            return Ok(Bytes::Unavailable(TextUnavailable::TooLarge));
        }
        if record.stored_text {
            return Ok(Bytes::Here(self.store.text(id, record)?));
        }
        let Some(place) = stored_place(record) else {
            return Ok(Bytes::Unavailable(TextUnavailable::NotStored));
        };
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(usize::try_from(record.bytes).unwrap_or(usize::MAX)).is_err() {
            return Ok(Bytes::Unavailable(TextUnavailable::TooLarge));
        }
        let stored = self.batch.document(place, &self.options, self.searched, &self.stop);
        let mut take = |piece: &[u8]| {
            // A file that has grown holds another text, so the rest is not needed.
            if bytes.len() as u64 <= record.bytes {
                bytes.extend_from_slice(piece);
            }
            Ok(())
        };
        let read =
            stored.and_then(|candidate| self.reader.read(&candidate, &self.stop, &|_| {}, &mut take).map_err(Arc::new));
        Ok(match read {
            Ok(digest) if digest == record.digest => Bytes::Here(bytes),
            Ok(_) => Bytes::Unavailable(TextUnavailable::Changed),
            Err(error) if matches!(*error, Error::Stopped) => return Err(Error::Stopped),
            Err(error) => Bytes::Unavailable(TextUnavailable::of(&error)),
        })
    }
}

/// The text of a stored document, of any size; `None` if it is unavailable.
pub(crate) fn text_of(store: &Store, id: u32, limits: InputLimits) -> Result<Option<DocumentText>> {
    let record = store.document_numbered(id)?;
    let mut texts = StoredTexts::new(store, limits.clone());
    let Bytes::Here(bytes) = texts.bytes_of(id, &record, TextLimit::NONE)? else { return Ok(None) };
    let format = Format::named(&record.format).unwrap_or_default();
    as_counted(bytes, format, store.profile().unit(), &limits).map(Some)
}

/// Reads the text of a file in the same way as a query document with this unit.
///
/// # Errors
/// Fails if the file cannot be read, or its bytes do not parse in its format.
pub fn text_of_file(path: &Path, unit: Unit, options: &ReadOptions) -> Result<DocumentText> {
    // A mail is one document here, even if its attachments are documents too.
    let single = options.clone().attachments(false);
    let candidate = single_document(path, &single, &StopToken::new())?;
    let mut bytes = Vec::new();
    let mut format = None;
    Reader::new(options.limits.clone()).read(&candidate, &StopToken::new(), &|_| {}, &mut |piece| {
        if format.is_none() {
            format = Some(format_of(options.front_end, &candidate.about.hint, piece, unit)?);
        }
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    as_counted(bytes, format.unwrap_or_default(), unit, &options.limits)
}

/// Reads the text of a document whose bytes are in memory, as a query document with this unit is read.
///
/// # Errors
/// Fails if its bytes do not parse in its format.
pub(crate) fn text_in_memory(name: &str, bytes: &[u8], unit: Unit, options: &ReadOptions) -> Result<DocumentText> {
    Reader::new(options.limits.clone()).read_whole(bytes, &StopToken::new(), &mut |_| Ok(()))?;
    as_counted(bytes.to_vec(), format_of(options.front_end, &name.into(), bytes, unit)?, unit, &options.limits)
}

/// The text to which the offsets of a query with this text refer.
pub(crate) fn text_as_given(text: &str, unit: Unit, options: &ReadOptions) -> Result<DocumentText> {
    let front_end = front_end_of_text(options.front_end, text, unit);
    text_in_memory("", text.as_bytes(), unit, &options.clone().front_end(front_end))
}

/// The text that offsets refer to: the bytes of a document, or the text extracted from them.
pub(super) fn as_counted(bytes: Vec<u8>, format: Format, unit: Unit, limits: &InputLimits) -> Result<DocumentText> {
    let (encoding, unlike) = if unit == Unit::Byte || format == Format::Bytes {
        ("bytes", Vec::new())
    } else if extract::applies(format) {
        let extracted = extract::extract(format, &bytes, limits)?;
        if extracted.offsets == Offsets::Extracted {
            let (bytes, offsets, encoding) = (extracted.text, Offsets::Extracted, UTF_8);
            return Ok(DocumentText { bytes, format, offsets, encoding, unlike: Vec::new() });
        }
        (extracted.encoding.unwrap_or(UTF_8), extracted.unlike(bytes.len() as u64))
    } else {
        (encoding_of(&bytes), Vec::new())
    };
    Ok(DocumentText { bytes, format, offsets: Offsets::Original, encoding, unlike })
}

/// All symbols of a document, and their origins.
pub(super) struct WholeText {
    symbols: Symbols,
    /// Maps extracted text to the document, if offsets refer to the document.
    origin: Option<ExtractedOrigin>,
    /// The symbols with which sentences begin, ascending; empty if they were not requested.
    sentences: Vec<u32>,
    /// For source code, a second value for each symbol. If the symbol is a name, this value differs from the
    /// symbol's own value, and is specific to the name. Empty if names were not requested.
    named: Vec<u64>,
    /// The start of each page of a PDF. Empty for other formats.
    pages: Vec<u64>,
    /// The parts of the document that are not text.
    unread: Unread,
    /// The text as written, if the profile has two views. All other fields then describe the structure.
    text_view: Option<Box<WholeText>>,
}

/// The origin of extracted text.
struct ExtractedOrigin {
    segments: Vec<Segment>,
    text_length: u64,
    /// The offsets of the document's newlines.
    newlines: Vec<u64>,
}

impl WholeText {
    /// Frees unused memory.
    pub(super) fn shrink(&mut self) {
        self.symbols.shrink();
        self.sentences.shrink_to_fit();
        self.pages.shrink_to_fit();
        self.text_view.iter_mut().for_each(|text| text.shrink());
        self.named.shrink_to_fit();
        if let Some(origin) = &mut self.origin {
            origin.segments.shrink_to_fit();
            origin.newlines.shrink_to_fit();
        }
    }

    /// Bytes of memory that the text takes.
    pub(super) fn memory(&self) -> u64 {
        let origin = self.origin.as_ref().map_or(0, |from| {
            from.segments.capacity() * size_of::<Segment>() + from.newlines.capacity() * size_of::<u64>()
        });
        let numbers = (self.named.capacity() + self.pages.capacity()) * size_of::<u64>();
        let text_view = self.text_view.as_ref().map_or(0, |text| text.memory());
        text_view + (self.symbols.memory() + origin + self.sentences.capacity() * size_of::<u32>() + numbers) as u64
    }

    /// The parts of the document that are not text.
    pub(super) fn unread(&self) -> Unread {
        self.unread
    }

    /// One value per symbol.
    pub(super) fn values(&self) -> &[u64] {
        self.symbols.values()
    }

    /// The symbols with which sentences begin, ascending, if they were requested.
    pub(super) fn sentences(&self) -> &[u32] {
        &self.sentences
    }

    /// The text as written, if the profile has two views.
    pub(super) fn text_view(&self) -> Option<&Self> {
        self.text_view.as_deref()
    }

    /// Removes and returns the text as written.
    pub(super) fn take_text_view(&mut self) -> Option<Self> {
        self.text_view.take().map(|text| *text)
    }

    /// True if names are distinguished.
    pub(super) fn has_names(&self) -> bool {
        !self.named.is_empty()
    }

    /// The value of the name at symbol `i`. `None` if the symbol is not a name, or names were not requested.
    pub(super) fn name(&self, i: usize) -> Option<u64> {
        self.named.get(i).copied().filter(|&named| named != self.values()[i])
    }

    /// The symbols whose origins lie in these bytes.
    pub(super) fn within(&self, bytes: Span) -> Range<u32> {
        let all = self.values().len() as u32;
        let span = |symbol: u32| self.span(&(symbol..symbol + 1));
        let start = first(0..all, |symbol| span(symbol).start >= bytes.start);
        start..first(start..all, |symbol| span(symbol).end > bytes.end)
    }

    /// Extends a range to all symbols with the origin of its first or last symbol. A letter with its accents
    /// is several symbols with one origin.
    pub(super) fn whole_origins(&self, range: &Range<u32>) -> Range<u32> {
        let Range { mut start, mut end } = *range;
        let same = |a: u32, b: u32| self.span(&(a..a + 1)) == self.span(&(b..b + 1));
        while start > 0 && same(start - 1, range.start) {
            start -= 1;
        }
        while (end as usize) < self.values().len() && same(end, range.end - 1) {
            end += 1;
        }
        start..end
    }

    /// The bytes from which a non-empty range of symbols comes.
    fn span(&self, range: &Range<u32>) -> Span {
        let symbols = &self.symbols;
        let span = Span { start: symbols.start(range.start as usize), end: symbols.end(range.end as usize - 1) };
        match &self.origin {
            None => span,
            Some(origin) => Map::new(&origin.segments, origin.text_length).origin(span),
        }
    }

    /// The bytes, lines and pages from which a non-empty range of symbols comes.
    pub(super) fn locate(&self, range: &Range<u32>) -> Location {
        let (symbols, span) = (&self.symbols, self.span(range));
        let place = match &self.origin {
            None => Location::new(span, [symbols.line_at(span.start), symbols.line_at(span.end - 1)]),
            Some(origin) => {
                let line = |at: u64| 1 + origin.newlines.partition_point(|&newline| newline < at) as u64;
                Location::new(span, [line(span.start), line(span.end.saturating_sub(1))])
            }
        };
        Location { pages: self.pages(span), ..place }
    }

    /// The first and the last page of a span that is not empty. `None` if the document is not a PDF.
    pub(super) fn pages(&self, span: Span) -> Option<[u64; 2]> {
        let page = |at: u64| self.pages.partition_point(|&start| start <= at) as u64;
        (!self.pages.is_empty()).then(|| [page(span.start), page(span.end.saturating_sub(1))])
    }
}

/// The first number in `among` for which `holds` is true. `holds` must be true for all later numbers too.
fn first(among: Range<u32>, holds: impl Fn(u32) -> bool) -> u32 {
    let Range { mut start, mut end } = among;
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

/// Makes the symbols of whole documents; each thread has its own, since it holds tables.
pub(super) struct Symboliser {
    unit: Unit,
    limits: InputLimits,
    front_end: FrontEnd,
    with_sentences: bool,
    /// Reads the text as written, if the profile has two views.
    text_view: Option<Box<Symboliser>>,
}

impl Symboliser {
    pub(super) fn new(profile: &Profile) -> Self {
        let text_view = profile.text_view().map(|text| Box::new(Self::of_view(&text)));
        Self { text_view, ..Self::of_view(&profile.structure_view()) }
    }

    /// Makes a symboliser for a profile of one view.
    fn of_view(profile: &Profile) -> Self {
        Self {
            unit: profile.unit(),
            limits: InputLimits::default(),
            front_end: FrontEnd::of(profile),
            with_sentences: false,
            text_view: None,
        }
    }

    /// Replaces the limits for documents that are read whole.
    pub(super) fn with_limits(mut self, limits: &InputLimits) -> Self {
        self.text_view.iter_mut().for_each(|text| text.limits = limits.clone());
        Self { limits: limits.clone(), ..self }
    }

    /// Also finds sentences if `with_sentences` is true.
    pub(super) fn with_sentences(self, with_sentences: bool) -> Self {
        Self { with_sentences, ..self }
    }

    /// Also distinguishes the names of source code.
    pub(super) fn with_names(self) -> Self {
        Self { front_end: self.front_end.with_names(), ..self }
    }

    pub(super) fn unit(&self) -> Unit {
        self.unit
    }

    /// The symbols of a document, made in the same way as at ingest.
    ///
    /// # Errors
    /// Fails if the bytes do not parse in the format, or exceed a limit.
    pub(super) fn read(&mut self, bytes: &[u8], format: Format) -> Result<WholeText> {
        let structure = self.read_view(bytes, format)?;
        let text_view = self.text_view.as_mut().map(|text| text.read_view(bytes, format)).transpose()?;
        Ok(WholeText { text_view: text_view.map(Box::new), ..structure })
    }

    fn read_view(&mut self, bytes: &[u8], format: Format) -> Result<WholeText> {
        let mut symbols = Symbols::new();
        if self.unit == Unit::Byte || !extract::applies(format) {
            self.front_end.begin(format.language());
            self.front_end.feed(bytes, &mut symbols);
            self.front_end.finish(&mut symbols);
            let sentences = match self.with_sentences {
                true => sentences(&Readable::decode(bytes), &symbols),
                false => Vec::new(),
            };
            let named = self.front_end.take_names();
            return Ok(WholeText {
                symbols,
                origin: None,
                sentences,
                named,
                pages: Vec::new(),
                unread: Unread::default(),
                text_view: None,
            });
        }
        let extracted = extract::extract_for(self.unit, format, bytes, &self.limits)?;
        self.front_end.begin(extracted.language);
        self.front_end.begin_utf8();
        self.front_end.feed(&extracted.text, &mut symbols);
        self.front_end.finish(&mut symbols);
        let original = extracted.offsets == Offsets::Original;
        let origin = original.then(|| ExtractedOrigin {
            segments: extracted.segments,
            text_length: extracted.text.len() as u64,
            newlines: Lines::new(bytes, extracted.encoding.unwrap_or_default()).newlines(),
        });
        let sentences = match self.with_sentences {
            true => sentences_of_utf8(&extracted.text, &symbols),
            false => Vec::new(),
        };
        let Extracted { pages, unread, .. } = extracted;
        let named = self.front_end.take_names();
        Ok(WholeText { symbols, origin, sentences, named, pages, unread, text_view: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::document::Language;

    #[test]
    fn extracted_text_is_in_no_language_whatever_was_read_before() {
        let html = b"<p>for (int i = 0; i < n; i++) total += price[i]; // the sum</p>";
        let symbols = |symboliser: &mut Symboliser| symboliser.read(html, Format::Html).unwrap().values().to_vec();
        let mut symboliser = Symboliser::new(&Profile::named("code").unwrap());
        let expected = symbols(&mut symboliser);
        symboliser.read(b"int a;", Format::Code(Language::C)).unwrap();
        assert_eq!(symbols(&mut symboliser), expected);
    }

    /// A damaged record with a huge size must not allocate memory.
    #[test]
    fn a_size_beyond_all_memory_is_a_text_that_is_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(
            &folder.path().join("db"),
            &Profile::named("words").unwrap(),
            &fpdb_store::StoreOptions::default(),
        );
        let store = store.unwrap();
        let file = folder.path().join("file.txt");
        std::fs::write(&file, "text").unwrap();
        let source = Some(file.to_str().unwrap().to_owned());
        let record = DocumentRecord {
            name: "file.txt".into(),
            source,
            bytes: u64::MAX,
            modified: None,
            digest: [0; 16],
            encoding: "UTF-8".into(),
            undecodable: 0,
            lines: 1,
            symbols: 3,
            kgrams: 1,
            fingerprints: 1,
            distinct: 1,
            ingested_at: 0,
            member: None,
            format: "text".into(),
            extracted: false,
            metadata: Vec::new(),
            boilerplate: false,
            stored_text: false,
            text_view: fpdb_store::TextView(None),
        };
        let found = StoredTexts::new(&store, InputLimits::default()).bytes_of(0, &record, TextLimit::NONE).unwrap();
        assert!(matches!(found, Bytes::Unavailable(TextUnavailable::TooLarge)));
    }
}
