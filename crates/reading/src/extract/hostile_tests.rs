//! Hostile documents. Each must be refused with the reason, in little time and memory.

use std::io::Write;

use pdf_extract::{Dictionary, Document, Object, Stream, dictionary};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use fpdb_host::error::DocumentError;

fn read(format: Format, document: &[u8]) -> Result<String> {
    tests::text_of(format, document)
}

/// A zip archive with these parts.
fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a part");
        writer.write_all(content).expect("a part");
    }
    writer.finish().expect("an archive").into_inner()
}

const RELATIONS: &[u8] = br#"<Relationships><Relationship Target="word/document.xml"
    Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>"#;

fn docx(body: &[u8]) -> Vec<u8> {
    package(&[("[Content_Types].xml", b"<Types/>"), ("_rels/.rels", RELATIONS), ("word/document.xml", body)])
}

#[test]
fn a_package_that_unpacks_out_of_proportion_is_refused() {
    let body = [b"<d><p><t>".to_vec(), vec![b' '; 40 << 20], b"</t></p></d>".to_vec()].concat();
    let document = docx(&body);
    assert!(document.len() < 100_000);
    assert!(
        matches!(read(Format::Docx, &document), Err(Error::Document(DocumentError::Unpacked { limit, .. })) if limit == 16 << 20)
    );
}

#[test]
fn nesting_takes_no_stack() {
    let levels = 300_000;
    let xml = "<a>".repeat(levels) + "<p><t>deep</t></p>" + &"</a>".repeat(levels);
    assert_eq!(read(Format::Docx, &docx(xml.as_bytes())).expect("it is well-formed"), "deep\n");
    let html = "<div><b>".repeat(levels) + "deep";
    assert_eq!(read(Format::Html, html.as_bytes()).expect("a page"), "deep");
    let markdown = "> ".repeat(5_000) + "deep";
    assert_eq!(read(Format::Markdown, markdown.as_bytes()).expect("Markdown").trim_end(), "deep");
    let json = format!("{{\"cells\": [], \"x\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(read(Format::Notebook, json.as_bytes()).expect("it is well-formed"), "");
    let source = format!("{{\"cells\": [{{\"cell_type\": \"code\", \"source\": {}}}]}}", "[".repeat(levels));
    assert!(matches!(
        read(Format::Notebook, source.as_bytes()),
        Err(Error::Document(DocumentError::NotOfFormat { .. }))
    ));
}

#[test]
fn entities_do_not_expand() {
    let laughs = "<!DOCTYPE d [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]><d><p><t>x&b;&amp;y</t></p></d>";
    assert_eq!(read(Format::Docx, &docx(laughs.as_bytes())).expect("it is well-formed"), "x&y\n");
}

#[test]
fn a_package_without_what_it_needs_says_so() {
    for format in [Format::Docx, Format::Odt, Format::Epub] {
        assert!(
            matches!(read(format, &package(&[("a", b"b")])), Err(Error::Document(DocumentError::NotOfFormat { .. }))),
            "{format}"
        );
    }
    let broken = docx(b"<d><p></d>");
    assert!(matches!(
        read(Format::Docx, &broken),
        Err(Error::Document(DocumentError::NotOfFormat { source: Some(_), .. }))
    ));
    assert!(matches!(read(Format::Docx, &docx(b"<d><p>")), Err(Error::Document(DocumentError::NotOfFormat { .. }))));
}

#[test]
fn encrypted_documents_are_told_from_damaged_ones() {
    let manifest = b"<m><file-entry><encryption-data/></file-entry></m>";
    let odt = package(&[("META-INF/manifest.xml", manifest), ("content.xml", b"\x01\x02")]);
    let epub = package(&[
        ("META-INF/container.xml", b"<c><rootfile full-path=\"book/list.opf\"/></c>"),
        ("META-INF/encryption.xml", b"<e><CipherReference URI=\"book/a%20page.xhtml\"/></e>"),
        ("book/list.opf", b"<p><item id=\"a\" href=\"a%20page.xhtml\"/><itemref idref=\"a\"/></p>"),
        ("book/a page.xhtml", b"\x01\x02"),
    ]);
    let word = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
    for (format, document) in [(Format::Odt, &odt[..]), (Format::Epub, &epub), (Format::Docx, word)] {
        assert!(
            matches!(read(format, document), Err(Error::Document(DocumentError::EncryptedDocument { .. }))),
            "{format}"
        );
    }
}

/// A PDF with one page, which draws `content`.
pub(super) fn pdf(content: &str, change: impl FnOnce(&mut Document, &mut Dictionary, &mut Dictionary)) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font = document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let mut resources = dictionary! { "Font" => dictionary! { "F1" => font } };
    let content = document.add_object(Stream::new(Dictionary::new(), content.as_bytes().to_vec()));
    let mut page = dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content,
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    };
    change(&mut document, &mut page, &mut resources);
    if !page.has(b"Resources") {
        page.set("Resources", resources);
    }
    let page = document.add_object(page);
    let list = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    document.objects.insert(pages, Object::Dictionary(list));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a document");
    bytes
}

const HELLO: &str = "BT /F1 12 Tf 50 700 Td (Hello there) Tj ET";

#[test]
fn a_plain_pdf_is_read() {
    assert_eq!(read(Format::Pdf, &pdf(HELLO, |_, _, _| {})).expect("a document").trim(), "Hello there");
}

/// Adds `count` graphics. Each draws the next one `times` times. If `closed`, the last draws the first.
fn graphics(document: &mut Document, resources: &mut Dictionary, count: u32, times: usize, closed: bool) {
    let first = document.max_id + 1;
    for index in 0..count {
        let next = if index + 1 < count { first + index + 1 } else { first };
        let own = dictionary! { "XObject" => dictionary! { "Next" => Object::Reference((next, 0)) } };
        let draws = if index + 1 < count || closed { "/Next Do ".repeat(times) } else { HELLO.to_owned() };
        let form = dictionary! { "Type" => "XObject", "Subtype" => "Form", "Resources" => own };
        document.add_object(Stream::new(form, draws.into_bytes()));
    }
    resources.set("XObject", dictionary! { "First" => Object::Reference((first, 0)) });
}

#[test]
fn graphics_that_never_end_are_refused() {
    let draw = |count, times, closed| {
        let document = pdf("/First Do", |document, _, resources| graphics(document, resources, count, times, closed));
        read(Format::Pdf, &document)
    };
    assert!(
        matches!(draw(1, 1, true), Err(Error::Document(DocumentError::NotOfFormat { detail, .. })) if detail.contains("contain each other"))
    );
    assert!(
        matches!(draw(5, 2, true), Err(Error::Document(DocumentError::NotOfFormat { detail, .. })) if detail.contains("contain each other"))
    );
    assert!(
        matches!(draw(20, 40, false), Err(Error::Document(DocumentError::NotOfFormat { detail, .. })) if detail.contains("repeat too many"))
    );
}

#[test]
fn a_list_of_pages_that_contains_itself_is_refused() {
    let document = pdf(HELLO, |document, page, _| {
        let (a, b) = (document.new_object_id(), document.new_object_id());
        document.objects.insert(a, Object::Dictionary(dictionary! { "Parent" => b }));
        document.objects.insert(b, Object::Dictionary(dictionary! { "Parent" => a }));
        page.set("Parent", a);
        page.set("Resources", Object::Null);
    });
    assert!(matches!(read(Format::Pdf, &document), Err(Error::Document(DocumentError::NotOfFormat { .. }))));
}

#[test]
fn a_pdf_that_unpacks_out_of_proportion_is_refused() {
    let document = pdf(&" ".repeat(40 << 20), |document, _, _| document.compress());
    assert!(document.len() < 200_000);
    assert!(matches!(read(Format::Pdf, &document), Err(Error::Document(DocumentError::Unpacked { .. }))));
    // An image may decompress to more than the limit, because images are not decompressed.
    let document = pdf(HELLO, |document, _, resources| {
        let image = dictionary! { "Type" => "XObject", "Subtype" => "Image", "Width" => 8000, "Height" => 5000 };
        let image = document.add_object(Stream::new(image, vec![0; 40 << 20]));
        resources.set("XObject", dictionary! { "Image" => image });
        document.compress();
    });
    assert_eq!(read(Format::Pdf, &document).expect("a document").trim(), "Hello there");
}

#[test]
fn a_panic_of_a_library_is_an_error_of_the_document() {
    // A page without a size.
    let document = pdf(HELLO, |_, page, _| drop(page.remove(b"MediaBox")));
    let error = read(Format::Pdf, &document).expect_err("it panics");
    // Only the panic message says what is wrong.
    assert!(
        matches!(&error, Error::Document(DocumentError::ReaderFailed { detail }) if detail.starts_with("MediaBox")),
        "{error}"
    );
}
