//! PDF: extracts the text of each page with `pdf-extract`, which arranges it by the positions of characters.
//!
//! The library does not expect hostile documents. Structures that could make it loop or recurse without end
//! are refused before it is called. If it panics on a document, the run continues.

mod cmap;
mod next_line;
mod typed;

use std::collections::HashSet;
use std::io::{Read, Write};

use flate2::read::ZlibDecoder;
use pdf_extract::content::Content;
use pdf_extract::{
    Dictionary, Document, MediaBox, Object, ObjectId, OutputDev, OutputError, PlainTextOutput, Stream, Transform,
    output_doc_page,
};

use crate::extract::text::extracted::{Unread, UnreadParts};
use crate::extract::{Extracted, InputLimits};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

/// Maximum depth of a page in the tree of pages, and of nested graphics.
const DEPTH: u32 = 32;

/// Extracts the text of a document, page by page.
pub(crate) fn extract(bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    let limit = limits.unpacked_for(bytes.len() as u64);
    check_streams(bytes, limit)?;
    let mut document = Document::load_mem(bytes).map_err(|error| broken(error.into()))?;
    // A document may be encrypted with an empty password, so that only its owner may print it.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(Error::Document(DocumentError::EncryptedDocument { format: Format::Pdf.name() }));
    }
    let unread = drop_images(&mut document);
    check_fonts(&document)?;
    let pages = document.get_pages();
    if pages.is_empty() {
        return Err(Error::not_of_format(Format::Pdf, "it has no pages, or their list is missing"));
    }
    let mut work = Work { document: &document, left: limit, limits, cut: 0 };
    pages.values().try_for_each(|&page| work.page(page))?;
    let (mut undecodable, mut left) = (work.cut, work.left);
    next_line::rewrite_graphics(&mut document, limits)?;
    let mut starts = Vec::with_capacity(pages.len());
    let mut text = LimitedText { text: Vec::new(), limit };
    // Writing to memory fails only if there is too much text.
    let too_much = || Error::Document(DocumentError::Unpacked { format: Format::Pdf.name(), limit });
    for (&number, &page) in &pages {
        starts.push(text.text.len() as u64);
        let original = next_line::rewrite_page(&mut document, page, limits)?;
        let writer: &mut dyn Write = &mut text;
        let mut output = PageText { output: PlainTextOutput::new(writer), unknown: 0 };
        match output_doc_page(&document, &mut output, number) {
            Ok(()) => undecodable += output.unknown,
            Err(OutputError::PdfError(error)) => return Err(broken(error.into())),
            Err(_) => return Err(too_much()),
        }
        if let Some(original) = original {
            original.put_back(&mut document, page);
        }
        let mut charge = |bytes: usize| {
            left = left.checked_sub(bytes as u64).ok_or_else(too_much)?;
            Ok(())
        };
        for typed in typed::typed_on(&document, page, &mut charge)? {
            write!(text, "\n{typed}").map_err(|_| too_much())?;
        }
        text.text.push(b'\n');
    }
    let text = String::from_utf8_lossy(&text.text).into_owned();
    Ok(Extracted { unread, undecodable, pages: starts, ..Extracted::detached(text) })
}

fn broken(error: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::Document(DocumentError::NotOfFormat {
        format: Format::Pdf.name(),
        detail: "its structure cannot be read".into(),
        source: Some(error),
    })
}

/// Returns an error if a document's streams decompress to more than `limit` bytes; the library has no such
/// limit. Images do not count, because nothing decompresses them. Streams are found by their keyword, because
/// the list of streams may be inside a stream.
fn check_streams(bytes: &[u8], limit: u64) -> Result<()> {
    const KEYWORD: &[u8] = b"stream";
    const DICTIONARY: usize = 2048;
    let too_much = || Error::Document(DocumentError::Unpacked { format: Format::Pdf.name(), limit });
    let mut left = limit;
    for found in memchr::memmem::find_iter(bytes, KEYWORD) {
        if bytes[..found].ends_with(b"end") {
            continue;
        }
        let dictionary = &bytes[found.saturating_sub(DICTIONARY)..found];
        let begin = memchr::memmem::rfind(dictionary, b"obj").map_or(0, |at| at + 3);
        let dictionary = &dictionary[begin..];
        let filters = memchr::memmem::find_iter(dictionary, b"FlateDecode").count();
        if filters == 0 || memchr::memmem::find(dictionary, b"/Image").is_some() {
            continue;
        }
        if filters > 1 {
            return Err(Error::not_of_format(Format::Pdf, "a part of it is compressed more than once"));
        }
        let data = bytes[found + KEYWORD.len()..].trim_ascii_start();
        let mut unpacked = ZlibDecoder::new(data).take(left + 1);
        // A damaged or encrypted stream counts up to the fault.
        let _ = std::io::copy(&mut unpacked, &mut std::io::sink());
        left = unpacked.limit().checked_sub(1).ok_or_else(too_much)?;
    }
    Ok(())
}

/// Counts images and embedded files as unread, and drops the contents of images. Images have no text, but the
/// library would search them.
fn drop_images(document: &mut Document) -> Unread {
    let mut unread = UnreadParts::default();
    for object in document.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let is = |key: &[u8], name: &[u8]| stream.dict.get(key).and_then(Object::as_name).is_ok_and(|it| it == name);
        let is_image = is(b"Subtype", b"Image");
        if is_image || is(b"Type", b"EmbeddedFile") {
            unread.add(&stream.content);
        }
        if is_image {
            stream.content = Vec::new();
            stream.dict.remove(b"Filter");
        }
    }
    unread.finish()
}

/// Returns an error if a font of the document has a harmful program.
fn check_fonts(document: &Document) -> Result<()> {
    let mut programs = HashSet::new();
    let mut waiting: Vec<&Object> = document.objects.values().collect();
    while let Some(object) = waiting.pop() {
        let dictionary = match object {
            Object::Array(values) => {
                waiting.extend(values);
                continue;
            }
            Object::Dictionary(dictionary) => dictionary,
            Object::Stream(stream) => &stream.dict,
            _ => continue,
        };
        for (key, value) in dictionary {
            waiting.push(value);
            if [&b"ToUnicode"[..], b"Encoding", b"FontFile"].contains(&&key[..])
                && let Ok((Some(id), Object::Stream(stream))) = document.dereference(value)
                && programs.insert(id)
            {
                let program = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
                cmap::check(&program).map_err(|detail| Error::not_of_format(Format::Pdf, detail))?;
            }
        }
    }
    Ok(())
}

/// Adds up the bytes to read for drawing all pages. Nested graphics count as often as they are drawn.
struct Work<'a> {
    document: &'a Document,
    /// Number of bytes that may still be read.
    left: u64,
    limits: &'a InputLimits,
    /// Number of contents that the library reads only up to a fault.
    cut: u64,
}

impl<'a> Work<'a> {
    /// Returns an error if drawing a page takes too many bytes or too much memory, or never ends.
    fn page(&mut self, page: ObjectId) -> Result<()> {
        let resources = self.inherited_resources(page)?;
        let document = self.document;
        for id in document.get_page_contents(page) {
            self.charge(document.get_object(id).and_then(Object::as_stream).map_or(0, |part| part.content.len()))?;
        }
        let content = self.document.get_page_content(page).unwrap_or_default();
        self.content(&content, resources, 0)
    }

    /// The resources of a page, or of the nearest node above it that has resources.
    fn inherited_resources(&self, page: ObjectId) -> Result<Option<&'a Dictionary>> {
        let mut id = page;
        let mut seen = HashSet::new();
        while let Ok(node) = self.document.get_dictionary(id) {
            if !seen.insert(id) {
                return Err(Error::not_of_format(Format::Pdf, "its list of pages contains itself"));
            }
            if let Some(resources) = self.dictionary(node, b"Resources") {
                return Ok(Some(resources));
            }
            match node.get(b"Parent").and_then(Object::as_reference) {
                Ok(parent) => id = parent,
                Err(_) => break,
            }
        }
        Ok(None)
    }

    /// Charges `bytes` to the limit of bytes that may be read. Compressed bytes count too: they may
    /// decompress to nothing.
    fn charge(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes as u64);
        self.left = left.ok_or_else(|| Error::not_of_format(Format::Pdf, "its pages repeat too many graphics"))?;
        Ok(())
    }

    fn content(&mut self, content: &[u8], resources: Option<&'a Dictionary>, depth: u32) -> Result<()> {
        self.charge(content.len())?;
        self.limits.check_needed(Format::Pdf, memory_of(content))?;
        let (drawn, is_whole) = drawn(content);
        self.cut += u64::from(!is_whole);
        let Some(graphics) = resources.and_then(|resources| self.dictionary(resources, b"XObject")) else {
            return Ok(());
        };
        for name in drawn {
            let Some(graphic) = self.stream(graphics, &name) else { continue };
            if depth == DEPTH {
                return Err(Error::not_of_format(Format::Pdf, "its graphics contain each other"));
            }
            let own = self.dictionary(&graphic.dict, b"Resources").or(resources);
            self.charge(graphic.content.len())?;
            let content = graphic.decompressed_content().unwrap_or_else(|_| graphic.content.clone());
            self.content(&content, own, depth + 1)?;
        }
        Ok(())
    }

    fn dictionary(&self, of: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
        self.resolved(of, key)?.as_dict().ok()
    }

    fn stream(&self, of: &'a Dictionary, key: &[u8]) -> Option<&'a Stream> {
        self.resolved(of, key)?.as_stream().ok()
    }

    fn resolved(&self, of: &'a Dictionary, key: &[u8]) -> Option<&'a Object> {
        let object = of.get(key).ok()?;
        Some(self.document.dereference(object).ok()?.1)
    }
}

/// The names of the graphics that a content draws (`/Name Do`), and true if the library reads the content to
/// its end. The library draws nothing of a content that it cannot decode.
fn drawn(content: &[u8]) -> (Vec<Vec<u8>>, bool) {
    // A content may be filled up with zeros.
    let end = content.iter().rposition(|&byte| byte != 0 && !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
    let content = &content[..end];
    let (decoded, is_whole) = match Content::decode_strict(content) {
        Ok(decoded) => (Ok(decoded), true),
        Err(_) => (Content::decode(content), false),
    };
    let operations = decoded.map_or_else(|_| Vec::new(), |content| content.operations);
    let drawn = operations.iter().filter(|operation| operation.operator == "Do");
    let drawn = drawn.filter_map(|operation| Some(operation.operands.first()?.as_name().ok()?.to_vec()));
    (drawn.collect(), is_whole)
}

/// Memory that the library takes for the content of a page. It lists all operations before it draws the
/// first. It copies the graphics state for each `q`.
fn memory_of(content: &[u8]) -> u64 {
    const OPERAND: u64 = 150;
    const STATE: u64 = 1200;
    let parts = content.split(|byte| byte.is_ascii_whitespace());
    parts
        .filter(|part| !part.is_empty())
        .map(|part| if part == b"q" { STATE } else { OPERAND + part.len() as u64 })
        .sum()
}

/// The text of a page.
struct PageText<'a> {
    output: PlainTextOutput<&'a mut dyn Write>,
    /// Number of characters for which their font has no text.
    unknown: u64,
}

impl OutputDev for PageText<'_> {
    fn begin_page(
        &mut self,
        page: u32,
        media_box: &MediaBox,
        art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.output.begin_page(page, media_box, art_box)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.output.end_page()
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        spacing: f64,
        size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        self.unknown += u64::from(character.is_empty());
        self.output.output_character(place, width, spacing, size, character)
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.output.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.output.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.output.end_line()
    }
}

/// Text of limited length.
struct LimitedText {
    text: Vec<u8>,
    limit: u64,
}

impl Write for LimitedText {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if (self.text.len() + bytes.len()) as u64 > self.limit {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_drawn_graphics_are_found() {
        for (content, names) in [
            ("q /A Do Q /B\n Do", &["A", "B"][..]),
            ("/Doc Do/E  Do", &["Doc", "E"]),
            ("/#41 Do /B 1 Do", &["A", "B"]),
            ("Do DoDo /ADo A Do", &[]),
        ] {
            let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
            assert_eq!(drawn(content.as_bytes()).0, names, "{content}");
        }
    }

    /// A graphic that draws nothing still takes time if it has many bytes.
    #[test]
    fn compressed_bytes_of_graphics_and_pages_count_each_time() {
        // Blocks of no bytes, the last one, and the checksum.
        let empty = [&[0x78, 1][..], &[0, 0, 0, 0xff, 0xff].repeat(1000), &[1, 0, 0, 0xff, 0xff, 0, 0, 0, 1]].concat();
        assert_eq!(std::io::copy(&mut ZlibDecoder::new(&empty[..]), &mut std::io::sink()).unwrap(), 0);
        let compressed = |content: &[u8]| {
            let filter = [("Filter", Object::Name(b"FlateDecode".to_vec()))];
            Stream::new(Dictionary::from_iter(filter), content.to_vec())
        };
        let mut document = Document::with_version("1.5");
        let graphic = document.add_object(compressed(&empty));
        let drawing = document.add_object(Stream::new(Dictionary::new(), b"/F Do ".repeat(5)));
        let nothing = document.add_object(compressed(&empty));
        let graphics = Dictionary::from_iter([("F", Object::Reference(graphic))]);
        let resources = Dictionary::from_iter([("XObject", Object::Dictionary(graphics))]);
        let contents = Object::Array(vec![Object::Reference(drawing), Object::Reference(nothing)]);
        let page = [("Resources", Object::Dictionary(resources)), ("Contents", contents)];
        let page = document.add_object(Dictionary::from_iter(page));
        let limits = InputLimits::default();
        let mut work = Work { document: &document, left: 1 << 20, limits: &limits, cut: 0 };
        work.page(page).unwrap();
        let read = (1 << 20) - work.left;
        assert!(read >= 6 * empty.len() as u64, "{read} for six times {}", empty.len());
        work.left = 5 * empty.len() as u64;
        assert!(work.page(page).is_err());
    }
}
