//! Property of any bytes that are read as a document: the result is an error, or text whose segments lead to
//! its origin. The fingerprints of the text lie in the document.

use std::io::{Cursor, Write};

use pdf_extract::{Dictionary, Document, Object, Stream, dictionary};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Extracted, InputLimits, extract};
use crate::fingerprint::Fingerprinter;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::{Format, Offsets, Span};
use fpdb_kernel::profile::{Profile, Selection, Unit, WordRule};

/// Checks a document.
pub(crate) fn document(format: Format, bytes: &[u8]) {
    if read(format, bytes) {
        check_fingerprints(format, bytes);
    }
}

/// True if the document can be read. Checks its segments.
fn read(format: Format, bytes: &[u8]) -> bool {
    let limits = InputLimits { whole_bytes: 1 << 20, unpacked_bytes: 1 << 20, ..InputLimits::default() };
    let extracted = extract(format, bytes, &limits);
    extracted.is_ok_and(|extracted| {
        check_segments(bytes, &extracted);
        true
    })
}

/// Checks a document that is a zip archive. Bytes that are not an archive become the text part of a new
/// archive. Checksums would otherwise keep changed archives from being read.
pub(crate) fn packed(format: Format, bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        read(format, bytes);
    } else {
        read(format, &package(format, bytes));
    }
}

fn package(format: Format, body: &[u8]) -> Vec<u8> {
    const RELATIONS: &[u8] = b"<r><Relationship Target=\"word/document.xml\" Type=\"a/officeDocument\"/></r>";
    const CONTAINER: &[u8] = b"<c><rootfile full-path=\"list.opf\"/></c>";
    const LIST: &[u8] = b"<p><item id=\"a\" href=\"a.xhtml\"/><itemref idref=\"a\"/></p>";
    let parts: &[(&str, &[u8])] = match format {
        Format::Docx => &[("_rels/.rels", RELATIONS), ("word/document.xml", body)],
        Format::Odt => &[("META-INF/manifest.xml", b"<m/>"), ("content.xml", body)],
        // The page follows a NUL. The bytes before the NUL list the pages.
        _ => match body.iter().position(|&byte| byte == 0) {
            Some(end) => {
                &[("META-INF/container.xml", CONTAINER), ("list.opf", &body[..end]), ("a.xhtml", &body[end + 1..])]
            }
            None => &[("META-INF/container.xml", CONTAINER), ("list.opf", LIST), ("a.xhtml", body)],
        },
    };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in parts {
        writer.start_file(*name, stored).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Checks a PDF. Bytes that are no PDF become the content of a page.
pub(crate) fn pdf(bytes: &[u8]) {
    if bytes.starts_with(b"%PDF") {
        read(Format::Pdf, bytes);
    } else {
        read(Format::Pdf, &pdf_of(&[bytes]));
    }
}

/// A PDF whose pages have these contents.
pub(super) fn pdf_of(contents: &[&[u8]]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font = document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let page = |content: &&[u8]| {
        let content = document.add_object(Stream::new(Dictionary::new(), content.to_vec()));
        let page = dictionary! {
            "Type" => "Page", "Parent" => pages, "Contents" => content,
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
            "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
        };
        document.add_object(page).into()
    };
    let kids: Vec<Object> = contents.iter().map(page).collect();
    let list = dictionary! { "Type" => "Pages", "Count" => kids.len() as i64, "Kids" => kids };
    document.objects.insert(pages, Object::Dictionary(list));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

/// Checks that segments ascend, cover the text and lead into the document, that verbatim segments equal their
/// origin, that each page ends with a newline, and that the text is UTF-8.
pub(super) fn check_segments(document: &[u8], extracted: &Extracted) {
    let Extracted { text, segments, pages, offsets, .. } = extracted;
    assert!(std::str::from_utf8(text).is_ok());
    let ends = pages.iter().skip(1).map(|&next| next as usize).chain([text.len()]);
    assert!(pages.iter().zip(ends).all(|(&page, end)| (page as usize) < end && text[end - 1] == b'\n'));
    if *offsets == Offsets::Extracted {
        assert!(segments.is_empty());
        return;
    }
    assert_eq!(segments.is_empty(), text.is_empty());
    assert!(segments.first().is_none_or(|first| first.text == 0));
    let ends = segments.iter().skip(1).map(|next| next.text).chain([text.len() as u64]);
    let mut last = 0;
    for (segment, end) in segments.iter().zip(ends) {
        let Span { start, end: stop } = segment.origin;
        assert!(segment.text < end, "segments ascend");
        assert!(last <= start && start <= stop && stop <= document.len() as u64, "{segment:?} after {last}");
        last = start;
        if end - segment.text == stop - start {
            let (origin, text) = (&document[start as usize..stop as usize], &text[segment.text as usize..end as usize]);
            // HTML turns a CR into a LF. A replaced character that is as long as its origin is split into two
            // segments, and one of them has one byte.
            let same = |(&origin, &text): (&u8, &u8)| origin == text || (origin, text) == (b'\r', b'\n');
            let is_same = origin.iter().zip(text).all(same);
            assert!(is_same || text.len() == 1, "{segment:?} is verbatim: {origin:?} {text:?}");
        }
    }
}

/// Checks the rules that `verify` applies to stored fingerprints: each covers some bytes of the document, and
/// bytes and lines ascend.
fn check_fingerprints(format: Format, document: &[u8]) {
    let profile = Profile::new(Unit::Char, WordRule::Letters, 1, 1, Selection::All).unwrap();
    let mut fingerprinter = Fingerprinter::new(&profile);
    fingerprinter.begin(format);
    let mut fingerprints = Fingerprints::new();
    fingerprinter.feed(document, &mut fingerprints);
    let facts = fingerprinter.finish(&mut fingerprints).unwrap();
    assert_eq!((facts.text.bytes, facts.kgrams), (document.len() as u64, fingerprints.len() as u64));
    if facts.offsets == Offsets::Extracted {
        return;
    }
    for it in &fingerprints {
        assert!(it.span.start < it.span.end && it.span.end <= document.len() as u64, "{it:?}");
        assert!(
            1 <= it.first_line && it.first_line <= it.last_line && it.last_line <= facts.text.lines.max(1),
            "{it:?}"
        );
    }
    assert!(fingerprints.iter().is_sorted_by_key(|it| (it.span.start, it.first_line)));
    assert!(fingerprints.iter().is_sorted_by(|one, next| one.position < next.position));
}
