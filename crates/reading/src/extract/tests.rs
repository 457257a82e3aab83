//! No extractor may panic on any input, and the segments of its result must lead to the origin of the text.
//! `tests/samples/` has samples of each format, made with common tools.

use std::path::Path;

use pdf_extract::{Dictionary, Object, Stream};
use proptest::prelude::*;

use super::hostile_tests::pdf;
use super::properties::{check_segments, pdf_of};
use super::*;
use crate::recognise::{Choice, choose};
use fpdb_host::error::DocumentError;

/// All formats with an extractor.
const EXTRACTED: [Format; 9] = [
    Format::Html,
    Format::Markdown,
    Format::Tex,
    Format::Notebook,
    Format::Mail,
    Format::Pdf,
    Format::Docx,
    Format::Odt,
    Format::Epub,
];

/// The text of a document. Checks its segments.
pub(super) fn text_of(format: Format, document: &[u8]) -> Result<String> {
    let extracted = extract(format, document, &InputLimits::default())?;
    check_segments(document, &extracted);
    Ok(String::from_utf8(extracted.text).expect("the text is UTF-8"))
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The samples, each with its format.
fn samples() -> Vec<(Format, Vec<u8>)> {
    [
        (Format::Html, "sample.html"),
        (Format::Html, "sample-windows-1252.html"),
        (Format::Html, "sample-pandoc.xhtml"),
        (Format::Markdown, "sample.md"),
        (Format::Tex, "sample.tex"),
        (Format::Notebook, "sample.ipynb"),
        (Format::Mail, "sample.eml"),
        (Format::Pdf, "sample.pdf"),
        (Format::Docx, "sample.docx"),
        (Format::Docx, "sample-office.docx"),
        (Format::Odt, "sample.odt"),
        (Format::Epub, "sample.epub"),
    ]
    .into_iter()
    .map(|(format, name)| (format, sample(name)))
    .collect()
}

/// The letters and digits of a text, without spaces.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn the_samples_hold_the_same_text() {
    let plain = letters(str::from_utf8(&sample("sample.txt")).expect("UTF-8"));
    for (format, document) in samples() {
        let text = letters(&text_of(format, &document).expect("a sound sample"));
        assert!(text.contains(&plain), "{format}: {text}");
        // Only a title or a table of contents may be extra.
        assert!(text.len() < plain.len() + 100, "{format}: {text}");
    }
}

#[test]
fn a_pdf_is_read_whatever_stands_before_it() {
    let pdf = sample("sample.pdf");
    let whole = text_of(Format::Pdf, &pdf).expect("a sound sample");
    for before in [&b"\xEF\xBB\xBF"[..], b"\n", b"   ", b"a line of text\r\n"] {
        let document = [before, &pdf].concat();
        assert_eq!(choose("scan.pdf", &document, fpdb_kernel::profile::Unit::Char), Choice::Read(Format::Pdf));
        assert_eq!(text_of(Format::Pdf, &document).expect("a PDF"), whole);
    }
}

#[test]
fn the_samples_are_known_by_their_content() {
    for (format, document) in samples() {
        for unit in [fpdb_kernel::profile::Unit::Char, fpdb_kernel::profile::Unit::Word] {
            let expected = match format {
                // Markdown has no signature.
                Format::Markdown => Format::Text,
                format => format,
            };
            assert_eq!(choose("no-extension", &document, unit), Choice::Read(expected));
        }
    }
}

#[test]
fn a_sample_cut_short_is_an_error_or_a_beginning() {
    for (format, document) in samples() {
        let whole = letters(&text_of(format, &document).expect("a sound sample"));
        for part in 0..40 {
            let cut = &document[..document.len() * part / 40];
            let Ok(text) = text_of(format, cut) else { continue };
            let text = letters(&text);
            let package = matches!(format, Format::Docx | Format::Odt | Format::Epub | Format::Notebook);
            assert!(!package, "{format} cut after {} bytes is still one", cut.len());
            // A cut tag, entity or line leaves only a short rest.
            let kept = whole.len().min(text.len().saturating_sub(60));
            assert!(whole.starts_with(text.get(..kept).unwrap_or_default()), "{format} at {}: {text}", cut.len());
        }
    }
}

#[test]
fn a_document_larger_than_the_limit_is_refused() {
    let limits = InputLimits { whole_bytes: 100, ..InputLimits::default() };
    for (format, document) in samples() {
        assert!(
            matches!(
                extract(format, &document, &limits),
                Err(Error::Document(DocumentError::TooLarge { limit: 100, .. }))
            ),
            "{format}"
        );
    }
}

/// Changes, drops and doubles some bytes of a document.
fn damage(mut document: Vec<u8>, changes: &[(usize, u8, u8)]) -> Vec<u8> {
    for &(at, what, byte) in changes {
        if document.is_empty() {
            break;
        }
        let at = at % document.len();
        match what % 4 {
            0 | 1 => document[at] = byte,
            2 => drop(document.drain(at..document.len().min(at + 1 + usize::from(byte)))),
            _ => {
                let piece = document[at..document.len().min(at + 1 + usize::from(byte))].to_vec();
                document.splice(at..at, piece);
            }
        }
    }
    document
}

fn changes() -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
    prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 0..12)
}

/// Parts of markup, and bytes that are invalid in any encoding.
fn markup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"<p>"[..],
        b"</p>",
        b"<b>",
        b"</b",
        b"<",
        b">",
        b"&amp;",
        b"&nGg;",
        b"&#65",
        b"&#xe9;",
        b"&#xD800;",
        b"&bogus;",
        b"&",
        b";",
        b"a",
        b"word ",
        b"\xC3\xA9",
        b"\xE9",
        b"\xFF",
        b"\0",
        b"\r\n",
        b"\r",
        b"\n",
        b"\n\n",
        b"<!--",
        b"-->",
        b"--!>",
        b"<![CDATA[",
        b"]]>",
        b"<script>",
        b"</script>",
        b"<style/>",
        b"<title>",
        b"</title>",
        b"<svg>",
        b"</svg>",
        b"<textarea>",
        b"</textarea>",
        b"<xmp>",
        b"</xmp>",
        b"<template>",
        b"</template>",
        b"<plaintext>",
        b"<?xml?>",
        b"<img alt='x>'",
        b"\"",
        b"'",
        b"=",
        b"/",
        b"<br/>",
        b"*",
        b"**",
        b"`",
        b"``",
        b"\\",
        b"# ",
        b"> ",
        b"- ",
        b"1. ",
        b"    ",
        b"\t",
        b"|",
        b"---",
        b"[a](b)",
        b"![a](b)",
        b"[^1]",
        b"[^1]: ",
        b"\\begin{document}",
        b"\\end{document}",
        b"\\emph{",
        b"}",
        b"\\label{x}",
        b"%",
        b"\\%",
        b"\\\\",
        b"\\section[x]{",
        b"[",
        b"]",
        b"{",
        b"\\'e",
        b"$",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

#[test]
fn places_told_out_of_order_lead_back_in_order() {
    for document in [&b">    <p>\""[..], b">    <p></script>", b"*\r\n    <title><p>"] {
        text_of(Format::Markdown, document).expect("any text is Markdown");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(document in prop::collection::vec(any::<u8>(), 0..600)) {
        for format in EXTRACTED {
            let _ = text_of(format, &document);
        }
    }

    #[test]
    fn any_markup_leads_back_to_itself(document in markup()) {
        for format in [Format::Html, Format::Markdown, Format::Tex] {
            text_of(format, &document).expect("any text is a document of this format");
        }
    }

    #[test]
    fn any_markup_within_others_is_read(document in markup(), encoding in 0usize..4) {
        let text = String::from_utf8_lossy(&document);
        let cell = serde_json::json!({"cells": [
            {"cell_type": "markdown", "source": [&*text, "x"]}, {"cell_type": "code", "source": &*text}
        ]});
        text_of(Format::Notebook, cell.to_string().as_bytes()).expect("a notebook");
        let page = format!("<!doctype html><meta charset={}>{text}", ["utf-8", "windows-1252", "shift_jis", "koi8-r"][encoding]);
        let (bytes, ..) = [encoding_rs::UTF_8, encoding_rs::WINDOWS_1252, encoding_rs::SHIFT_JIS, encoding_rs::KOI8_R]
            [encoding]
            .encode(&page);
        text_of(Format::Html, &bytes).expect("a page");
        let wide: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
        text_of(Format::Html, &wide).expect("a page");
    }

    #[test]
    fn damaged_samples_are_read_or_refused(changes in changes(), which in any::<prop::sample::Index>()) {
        let (format, document) = which.get(&samples()).clone();
        let _ = text_of(format, &damage(document, &changes));
    }
}

/// Like the last test above, but runs for minutes.
#[test]
#[ignore = "takes minutes; run by make soak"]
fn many_damaged_samples_are_read_or_refused() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 20_000, ..ProptestConfig::default() });
    let samples = samples();
    let outcome = runner.run(&(changes(), any::<prop::sample::Index>()), |(changes, which)| {
        let (format, document) = which.get(&samples).clone();
        let _ = text_of(format, &damage(document, &changes));
        Ok(())
    });
    outcome.expect("no panic, no segment astray");
}

/// The oracle of each page is a PDF of this page alone.
#[test]
fn the_pages_of_a_pdf_are_where_its_text_is() {
    let contents: Vec<Vec<u8>> = ["one", "", "", "(three)\\f Tj ET", "three\nand more", ""]
        .map(|text| format!("BT /F1 12 Tf 50 700 Td ({text}) Tj ET").into_bytes())
        .to_vec();
    let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    let text = |contents: &[&[u8]]| extract(Format::Pdf, &pdf_of(contents), &InputLimits::default()).unwrap();
    let whole = text(&contents);
    let ends = whole.pages[1..].iter().map(|&next| next as usize).chain([whole.text.len()]);
    let pages: Vec<&[u8]> = whole.pages.iter().zip(ends).map(|(&page, end)| &whole.text[page as usize..end]).collect();
    assert_eq!(pages, contents.iter().map(|page| text(&[page]).text).collect::<Vec<_>>());
    assert!(text(&contents[1..2]).text.trim_ascii().is_empty() && pages[0].trim_ascii() == b"one");
}

/// The operators `'` and `"` move to the next line and show a text, on a page and in the graphics that the
/// page draws. Pages may share a content.
#[test]
fn a_text_that_is_shown_on_the_next_line_is_read() {
    let text_of = |document: &[u8]| text_of(Format::Pdf, document).expect("a document");
    let begin = "BT /F1 12 Tf 50 700 Td 14 TL (It isn't) Tj";
    let spelled_out = format!("{begin} T* (\\(one\\) ' two) Tj 1 Tw 2 Tc T* (three \\233 four) Tj ET");
    let moving = format!("{begin} (\\(one\\) ' two) ' 1 2 (three \\233 four) \" ET");
    let expected = text_of(&pdf_of(&[spelled_out.as_bytes(); 2]));
    assert_eq!(expected.matches("It isn\u{2019}t\n(one) \u{2019} two\nthree").count(), 2, "{expected}");
    assert_eq!(text_of(&pdf_of(&[moving.as_bytes(); 2])), expected);
    let drawn = |content: &str| {
        text_of(&pdf("", |document, page, resources| {
            let form = Dictionary::from_iter([("Subtype", Object::Name(b"Form".to_vec()))]);
            let graphic = document.add_object(Stream::new(form, content.as_bytes().to_vec()));
            resources.set("XObject", Dictionary::from_iter([("Graphic", Object::Reference(graphic))]));
            // A page may be divided anywhere between words.
            let parts = ["BT /F1 12 Tf (part)", "' ET /Graphic Do /Graphic Do"].map(|part| part.as_bytes().to_vec());
            let parts = parts.map(|part| Object::Reference(document.add_object(Stream::new(Dictionary::new(), part))));
            page.set("Contents", parts.to_vec());
        }))
    };
    assert_eq!(drawn(&moving), drawn(&spelled_out));
    assert_eq!(drawn(&moving).matches("(one) \u{2019} two").count(), 2);
    assert!(drawn(&moving).trim_start().starts_with("part"));
}

#[test]
fn what_is_typed_into_a_form_or_onto_a_page_is_read() {
    let document = pdf("BT /F1 12 Tf 50 700 Td (Answer:) Tj ET", |document, page, _| {
        let annotation = |kind: &str, key: &str, value: Object| {
            let kind = ("Subtype", Object::Name(kind.as_bytes().to_vec()));
            Object::Dictionary(Dictionary::from_iter([kind, (key, value)]))
        };
        let field = Dictionary::from_iter([("V", Object::string_literal("of the\rfield"))]);
        let field = Object::Reference(document.add_object(field));
        let hidden = |flags: i64| {
            let mut hidden = annotation("FreeText", "Contents", Object::string_literal("not shown"));
            hidden.as_dict_mut().expect("a dictionary").set("F", flags);
            hidden
        };
        let choice = Object::Reference(document.add_object(Object::string_literal("choice")));
        let annotations = vec![
            hidden(2),
            hidden(4 | 32),
            annotation("Widget", "V", Object::Array(vec![Object::string_literal("two"), choice])),
            annotation("Widget", "V", Object::string_literal(b"\xFE\xFF\x00t\x00y\x00p\x00\xE9".to_vec())),
            annotation("Widget", "V", Object::Name(b"Off".to_vec())),
            annotation("Widget", "Parent", field),
            annotation("Text", "Contents", Object::string_literal("a remark")),
            annotation("FreeText", "Contents", Object::string_literal("on the page")),
        ];
        page.set("Annots", document.add_object(annotations));
    });
    let text = text_of(Format::Pdf, &document).expect("a document");
    assert_eq!(
        text.split_whitespace().collect::<Vec<_>>().join(" "),
        "Answer: two choice typ\u{e9} of the field on the page"
    );
}

/// Each annotation is small, but all of them show one long text. The text is blank, so none of it is
/// extracted.
#[test]
fn a_text_that_many_annotations_share_counts_for_each() {
    let document = |annotations: usize| {
        pdf("BT /F1 12 Tf 50 700 Td (one) Tj ET", |document, page, _| {
            let blank = Object::Reference(document.add_object(Object::string_literal(vec![b' '; 1 << 20])));
            let kind = ("Subtype", Object::Name(b"FreeText".to_vec()));
            let shown = document.add_object(Dictionary::from_iter([kind, ("Contents", blank)]));
            page.set("Annots", vec![Object::Reference(shown); annotations]);
        })
    };
    let limits = InputLimits { unpacking: 20, unpacked_bytes: 32 << 20, ..InputLimits::default() };
    let of = |annotations: usize| extract(Format::Pdf, &document(annotations), &limits);
    assert!(of(16).is_ok());
    assert!(matches!(of(64), Err(Error::Document(DocumentError::Unpacked { .. }))));
}

/// A text that is lost is counted.
#[test]
fn texts_of_a_pdf_that_cannot_be_read_are_counted() {
    let undecodable = |document: &[u8]| {
        let extracted = extract(Format::Pdf, document, &InputLimits::default()).expect("a document");
        assert!(String::from_utf8(extracted.text).is_ok_and(|text| text.contains("one")));
        extracted.undecodable
    };
    let of_content = |content: &str| undecodable(&pdf(content, |_, _, _| {}));
    let one = "BT /F1 12 Tf (one) Tj";
    assert_eq!(of_content(&format!("{one} ET \0\0")), 0);
    assert_eq!(of_content(&format!("{one} \0 (two) Tj ET")), 1);
    let font = |content: &str| {
        undecodable(&pdf(content, |_, _, resources| {
            let name = |name: &str| Object::Name(name.as_bytes().to_vec());
            let about = Object::Dictionary(Dictionary::new());
            let inner = [("Subtype", name("CIDFontType2")), ("BaseFont", name("A")), ("FontDescriptor", about)];
            let inner = Object::Array(vec![Object::Dictionary(Dictionary::from_iter(inner))]);
            let font = [("Subtype", name("Type0")), ("BaseFont", name("A")), ("Encoding", name("Identity-H"))];
            let font = Dictionary::from_iter(font.into_iter().chain([("DescendantFonts", inner)]));
            let fonts = resources.get_mut(b"Font").and_then(Object::as_dict_mut).expect("fonts");
            fonts.set("F2", font);
        }))
    };
    assert_eq!(font(&format!("{one} /F2 12 Tf <000300040005> Tj ET")), 3);
    assert_eq!(font(&format!("{one} ET")), 0);
}
