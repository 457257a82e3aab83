//! One text has the same fingerprints in every format, and each fingerprint has its true place in the
//! document.
//!
//! The samples are made by the usual tools of each format (`tools/make-format-samples.py`) from one small
//! text.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{Folder, zip};
use fpdb::{DocumentError, DocumentFacts, Error, Fingerprint, Fingerprinter, Fingerprints, Format, Offsets, Profile};

pub(crate) fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/samples").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(profile: &Profile, format: Format, document: &[u8]) -> Result<(Vec<Fingerprint>, DocumentFacts), Error> {
    let mut fingerprinter = Fingerprinter::new(profile);
    let mut fingerprints = Fingerprints::new();
    fingerprinter.begin(format);
    for piece in document.chunks(1000) {
        fingerprinter.feed(piece, &mut fingerprints);
    }
    let facts = fingerprinter.finish(&mut fingerprints)?;
    Ok((fingerprints.iter().collect(), facts))
}

fn hashes(fingerprints: &[Fingerprint]) -> BTreeSet<u64> {
    fingerprints.iter().map(|fingerprint| fingerprint.hash).collect()
}

const SAMPLES: [(Format, &str); 13] = [
    (Format::Text, "sample.txt"),
    (Format::Html, "sample.html"),
    (Format::Html, "sample-windows-1252.html"),
    (Format::Html, "sample-pandoc.xhtml"),
    (Format::Markdown, "sample.md"),
    (Format::ReStructuredText, "sample.rst"),
    (Format::Notebook, "sample.ipynb"),
    (Format::Docx, "sample.docx"),
    (Format::Docx, "sample-office.docx"),
    (Format::Odt, "sample.odt"),
    (Format::Pdf, "sample.pdf"),
    (Format::Tex, "sample.tex"),
    (Format::Mail, "sample.eml"),
];

#[test]
fn every_format_gives_the_fingerprints_of_its_text() {
    let profile = Profile::named("prose").expect("a profile");
    let (plain, facts) = read(&profile, Format::Text, &sample("sample.txt")).expect("text");
    assert!(plain.len() > 200, "the sample is long enough to tell anything");
    for (format, name) in SAMPLES {
        let (fingerprints, its) = read(&profile, format, &sample(name)).expect(name);
        if format == Format::Mail {
            continue;
        }
        assert_eq!(its.symbols, facts.symbols, "{name}");
        assert_eq!(hashes(&fingerprints), hashes(&plain), "{name}");
    }
}

#[test]
fn accents_of_tex_are_the_characters_they_stand_for() {
    let profile = Profile::named("prose").expect("a profile");
    let plain =
        "Le garçon naïf à l'œil fêlé dît « où ? » ; die größte Straße in Ærø, Øster Åby, Łódź i Żółć, Dvořák, Erdős, \
                 İstanbul, Jérôme Müller und Société Générale."
            .repeat(3);
    let tex = r#"Le gar\c{c}on na{\"\i}f \`a l'\oe il f\^{e}l\'e d\^\i t « o\`{u} ? » ; die gr\"o{\ss}te Stra\ss{}e in {\AE}r\o, \O ster
        \AA by, \L\'od\'{z} i \.Z\'{o}\l\'c, Dvo\v r\'ak, Erd\H{o}s, \.Istanbul, J\'er\^ome M\"uller und Soci\'et\'e G\'{e}n\'{e}rale."#
        .repeat(3);
    let (expected, facts) = read(&profile, Format::Text, plain.as_bytes()).expect("text");
    let (found, its) = read(&profile, Format::Tex, tex.as_bytes()).expect("TeX");
    assert_eq!((its.symbols, hashes(&found)), (facts.symbols, hashes(&expected)));
    // Braces do not divide words either. The place of each symbol covers the whole command.
    let words = Profile::named("words").expect("a profile");
    let (expected, _) = read(&words, Format::Text, plain.as_bytes()).expect("text");
    let (found, _) = read(&words, Format::Tex, tex.as_bytes()).expect("TeX");
    assert_eq!(hashes(&found), hashes(&expected));
    let third = &found[2].span;
    assert_eq!(&tex[third.start as usize..third.end as usize], r#"na{\"\i}f \`a l"#);
}

#[test]
fn a_library_that_panics_fails_its_document_without_a_word() {
    let folder = Folder::new();
    let mut document = sample("sample.pdf");
    // The reader of PDF expects each page to have a size.
    let places: Vec<usize> = (0..document.len() - 8).filter(|&at| document[at..].starts_with(b"MediaBox")).collect();
    assert!(!places.is_empty());
    for at in places {
        document[at..at + 8].copy_from_slice(b"MediaBux");
    }
    folder.write("a.pdf", document);
    folder.write("b.txt", "It goes on with the next document.");
    let run = folder.run(&["ingest", "a.pdf", "b.txt"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("a.pdf") && run.stderr.contains("the reader of this format failed on it: "), "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    assert!(run.stdout.contains("1 document"), "{run:?}");
}

#[test]
fn what_a_book_or_a_mail_adds_is_its_title() {
    let profile = Profile::named("prose").expect("a profile");
    let (plain, facts) = read(&profile, Format::Text, &sample("sample.txt")).expect("text");
    for (format, name) in [(Format::Epub, "sample.epub"), (Format::Mail, "sample.eml")] {
        let (fingerprints, its) = read(&profile, format, &sample(name)).expect(name);
        // The selection may differ only at the boundary of title and text.
        let (ours, all) = (hashes(&fingerprints), hashes(&plain));
        assert!(all.difference(&ours).count() <= 2, "{name}");
        assert!((facts.symbols..facts.symbols + 60).contains(&its.symbols), "{name}: {}", its.symbols);
    }
}

#[test]
fn offsets_and_lines_are_those_of_the_document() {
    let profile = Profile::named("prose").expect("a profile");
    for (format, name) in SAMPLES {
        let document = sample(name);
        let (fingerprints, facts) = read(&profile, format, &document).expect(name);
        let extracted = matches!(format, Format::Mail | Format::Pdf | Format::Docx | Format::Odt | Format::Epub);
        assert_eq!(extracted, facts.offsets == Offsets::Extracted, "{name}");
        assert_eq!(facts.text.bytes, document.len() as u64, "{name}");
        if extracted {
            continue;
        }
        assert_eq!(facts.text.lines, document.split_inclusive(|&byte| byte == b'\n').count() as u64, "{name}");
        let line = |at: u64| 1 + document[..at as usize].iter().filter(|&&byte| byte == b'\n').count() as u64;
        let mut last = 0;
        for fingerprint in &fingerprints {
            let span = fingerprint.span;
            assert!(
                last <= span.start && span.start < span.end && span.end <= document.len() as u64,
                "{name}: {span:?}"
            );
            last = span.start;
            assert_eq!(fingerprint.first_line, line(span.start), "{name}: {span:?}");
            assert_eq!(fingerprint.last_line, line(span.end - 1), "{name}: {span:?}");
            // The text at that place, read as a separate document, begins with this k-gram.
            let part = &document[span.start as usize..span.end as usize];
            let alone =
                Profile::new(profile.unit(), profile.word_rule(), profile.k(), 1, fpdb::Selection::All).unwrap();
            let (inner, _) = match format {
                // A part of JSON is not JSON.
                Format::Notebook => read(&alone, Format::Text, part),
                // The part lacks the declaration of the page.
                Format::Html if name.contains("1252") => {
                    read(&alone, format, &[b"<meta charset=windows-1252>", part].concat())
                }
                format => read(&alone, format, part),
            }
            .expect(name);
            // A part of a notebook may reach into the next cell, across escapes and other JSON.
            let is_json = format == Format::Notebook && part.iter().any(|byte| b"\\\"".contains(byte));
            assert!(is_json || inner.first().is_some_and(|it| it.hash == fingerprint.hash), "{name}: {span:?}");
        }
    }
}

#[test]
fn what_is_no_such_document_says_so() {
    let profile = Profile::named("text").expect("a profile");
    let text = b"This is text, and nothing else.";
    for format in [Format::Pdf, Format::Docx, Format::Odt, Format::Epub, Format::Notebook] {
        let error = read(&profile, format, text).expect_err("no such document");
        assert!(matches!(error, Error::Document(DocumentError::NotOfFormat { .. })), "{error}");
        assert!(error.to_string().contains(format.name()), "{error}");
        assert!(error.hint().is_some());
    }
    // The failure does not affect the next document.
    let mut fingerprinter = Fingerprinter::new(&profile);
    fingerprinter.begin(Format::Pdf);
    fingerprinter.feed(text, &mut Fingerprints::new());
    assert!(fingerprinter.finish(&mut Fingerprints::new()).is_err());
    let mut fingerprints = Fingerprints::new();
    fingerprinter.begin(Format::Html);
    fingerprinter.feed(&sample("sample.html"), &mut fingerprints);
    let facts = fingerprinter.finish(&mut fingerprints).expect("a page");
    assert_eq!(
        (fingerprints.iter().collect(), facts),
        read(&profile, Format::Html, &sample("sample.html")).expect("a page")
    );
}

#[test]
fn under_unit_byte_every_format_is_bytes() {
    let profile = Profile::named("bytes").expect("a profile");
    let document = sample("sample.pdf");
    let (fingerprints, facts) = read(&profile, Format::Pdf, &document).expect("bytes");
    assert_eq!(facts.symbols, document.len() as u64);
    assert_eq!(read(&profile, Format::Bytes, &document).expect("bytes").0, fingerprints);
}

/// A reader does not see hidden text, so an author may use it to hide that a text is copied.
#[test]
fn hidden_text_of_office_documents_is_not_read() {
    let folder = Folder::new();
    let relations =
        r#"<Relationships><Relationship Type="http://x/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let run = |properties: &str, text: &str| format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t><w:tab/></w:r>");
    let box_of = |content: &str| {
        let mark = "<w:pPr><w:tabs><w:tab/></w:tabs><w:rPr><w:vanish/></w:rPr></w:pPr>";
        format!("<w:r><w:pict><w:p>{mark}{content}</w:p></w:pict></w:r>")
    };
    let runs = [
        run("", "one"),
        run("<w:b/><w:vanish/>", "hidden"),
        run("<w:vanish w:val=\"0\"/>", "two"),
        run("<w:vanish w:val=\"true\"/>", "hidden"),
        run("<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>", "three"),
        run("<w:webHidden/>", "four"),
        box_of(&(run("", "five") + &run("<w:vanish/>", "hidden"))),
        format!("<w:moveFrom>{}</w:moveFrom>", run("<w:moveFrom/>", "moved") + &box_of(&run("", "moved"))),
        format!("<w:del><w:r><w:delText>deleted</w:delText></w:r>{}</w:del>", run("", "deleted")),
        run("", "six"),
    ]
    .concat();
    let document =
        format!("<w:document><w:body><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{runs}</w:p></w:body></w:document>");
    let parts = [("[Content_Types].xml", "<Types/>"), ("_rels/.rels", relations), ("word/document.xml", &document)];
    folder.write("a.docx", zip(parts.map(|(name, part)| (name, part.as_bytes()))));
    let style = |name: &str, display: &str| {
        format!("<style:style style:name='{name}'><style:text-properties text:display='{display}'/></style:style>")
    };
    let content = format!(
        "<office:document-content><office:automatic-styles>{}{}</office:automatic-styles><office:body><office:text>\
         <text:p>one<text:span text:style-name='T1'>hidden <text:span>hidden</text:span>\
         <text:note><text:note-body><text:p>hidden</text:p></text:note-body></text:note></text:span>\
         <text:span text:style-name='T2'> two</text:span></text:p><text:p text:style-name='T1'>hidden</text:p><text:p>three</text:p>\
         </office:text></office:body></office:document-content>",
        style("T1", "none"),
        style("T2", "true")
    );
    let media_type = "application/vnd.oasis.opendocument.text";
    folder.write("b.odt", zip([("mimetype", media_type.as_bytes()), ("content.xml", content.as_bytes())]));
    folder.ok(&["ingest", "-q", "--profile", "prose", "a.docx", "b.odt"]);
    let text = |name: &str| folder.ok(&["show", "--text", name]).stdout;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&text("a.docx")), "one two three four five six");
    assert_eq!(text("b.odt"), "one two\nthree\n");
}

#[test]
fn office_documents_are_read_where_their_parts_say() {
    let folder = Folder::new();
    let relation =
        |kind: &str, target: &str| format!("<Relationship Type='http://example.org/{kind}' Target='{target}'/>");
    let main = format!("<Relationships>{}</Relationships>", relation("officeDocument", "/word/main.xml"));
    let text = |name: &str, text: &str| format!("<w:{name}><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:{name}>");
    for (name, relations, expected) in [
        (
            "named.docx",
            relation("endnotes", "./ends.xml") + &relation("footnotes", "../notes/feet.xml"),
            "body foot end",
        ),
        ("usual.docx", String::new(), "body usual"),
        ("other.docx", relation("someendnotes", "ends.xml"), "body usual"),
        ("missing.docx", relation("endnotes", "gone.xml"), "body usual"),
        ("damaged.docx", relation("endnotes", "ends.xml") + "<", "body usual"),
    ] {
        let relations = format!("<Relationships>{relations}</Relationships>");
        let parts = [
            ("[Content_Types].xml", "<Types/>".to_owned()),
            ("_rels/.rels", main.clone()),
            ("word/main.xml", text("document", "body")),
            ("word/_rels/main.xml.rels", relations),
            ("word/ends.xml", text("endnotes", "end")),
            ("word/endnotes.xml", text("endnotes", "usual")),
            ("notes/feet.xml", text("footnotes", "foot")),
        ];
        folder.write(name, zip(parts.map(|(name, part)| (name, part.into_bytes()))));
        folder.ok(&["ingest", "-q", "--profile", "prose", name]);
        let shown = folder.ok(&["show", "--text", name]).stdout;
        assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{name}");
    }
    let content = "<office:document-content><office:body><office:text><text:p>one <text:title>two <text:span>three</text:span></text:title>\
                   <draw:frame><svg:title>left <svg:title/>out</svg:title><svg:desc>out</svg:desc></draw:frame> four</text:p>\
                   </office:text></office:body></office:document-content>";
    let media_type = "application/vnd.oasis.opendocument.text";
    folder.write("b.odt", zip([("mimetype", media_type.as_bytes()), ("content.xml", content.as_bytes())]));
    folder.ok(&["ingest", "-q", "--profile", "prose", "b.odt"]);
    assert_eq!(folder.ok(&["show", "--text", "b.odt"]).stdout.trim(), "one two three four");
}

/// Answers state the bytes to which their offsets refer.
#[test]
fn answers_say_where_offsets_are_of_the_extracted_text() {
    let folder = Folder::new();
    for name in ["a.docx", "b.docx"] {
        // The second document has other bytes but the same text, because bytes may follow a zip archive.
        let end: &[u8] = if name == "b.docx" { b"\0" } else { b"" };
        folder.write(&format!("in/{name}"), [&sample("sample.docx")[..], end].concat());
    }
    folder.write("in/c.html", sample("sample.html"));
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    let json = |arguments: &[&str]| folder.ok(&[arguments, &["--format", "json"]].concat()).json();
    let is = |value: &serde_json::Value, expected: bool| match expected {
        true => assert_eq!(value["extracted"], true, "{value}"),
        // Like other empty fields, this one is omitted.
        false => assert!(value.get("extracted").is_none(), "{value}"),
    };
    for (query, expected) in [("in/a.docx", true), ("in/c.html", false)] {
        for answer in [json(&["query", query]), json(&["query", "--document", query])] {
            is(&answer[0]["query"], expected);
            let matches = answer[0]["matches"].as_array().unwrap();
            assert!(!matches.is_empty(), "{answer:?}");
            for found in matches {
                is(found, found["document"] != "in/c.html");
            }
        }
        is(&json(&["show", query])[0], expected);
    }
    let diff = json(&["diff", "in/c.html", "in/a.docx"]);
    is(&diff[0]["query"], false);
    is(&diff[0]["matches"][0], true);
    for pair in json(&["pairs", "--passages"]) {
        for side in ["a", "b"] {
            let of_text = pair.get(format!("{side}_extracted")).is_some_and(|value| value == true);
            assert_eq!(of_text, pair[side] != "in/c.html", "{pair}");
        }
    }
    let mut repeats = json(&["dedup", "--passages", "--min-length", "60"]);
    repeats.retain(|row| row["schema"] == "fpdb.repeat/1");
    assert!(!repeats.is_empty());
    for repeat in &repeats {
        is(repeat, repeat["document"] != "in/c.html");
        is(&repeat["of"], repeat["of"]["document"] != "in/c.html");
    }
    // In text for people, words say that offsets count the extracted text.
    let told = folder.ok(&["query", "in/a.docx"]).stdout;
    assert!(told.lines().any(|line| line.matches(" of its text").count() == 2), "{told}");
    let told = folder.ok(&["diff", "in/c.html", "in/a.docx"]).stdout;
    let places: Vec<&str> = told.lines().filter(|line| line.contains(", bytes ")).collect();
    assert!(!places.is_empty() && places.iter().all(|line| line.matches(" of its text").count() == 1), "{told}");
    assert!(folder.ok(&["dedup", "--passages", "--min-length", "60"]).stdout.contains(" of its text"));
}

/// A mail whose attachment is a copy must not look clean without a note.
#[test]
fn attachments_of_mails_are_counted() {
    let folder = Folder::new();
    let part = |kind: &str, text: &str| format!("--b\r\nContent-Type: {kind}\r\n\r\n{text}\r\n");
    let attached = "text/plain; name=essay.txt\r\nContent-Disposition: attachment; filename=essay.txt";
    let parts = part("text/plain", "Here is my essay.") + &part(attached, "It was the best of times.");
    let head = "From: zoe@example.org\r\nMessage-ID: <1@example.org>\r\nSubject: late\r\nMIME-Version: 1.0\r\n";
    folder.write("zoe.eml", format!("{head}Content-Type: multipart/mixed; boundary=b\r\n\r\n{parts}--b--\r\n"));
    let note = "1 attachment of mails was not read: ";
    let run = folder.ok(&["ingest", "--format", "json", "zoe.eml"]);
    assert!(run.json()[0]["attachments"] == 1 && run.stderr.contains(note), "{run:#?}");
    let run = folder.ok(&["query", "--format", "json", "zoe.eml"]);
    assert!(run.json()[0]["query"]["attachments"] == 1 && run.stderr.contains(note), "{run:#?}");
    // The flag reads neither attachments of stored documents nor attachments on standard input.
    let stored = folder.ok(&["query", "--document", "zoe.eml"]);
    let mut command = folder.command(&["query", "-"]);
    let input = std::fs::File::open(folder.path().join("zoe.eml")).unwrap();
    for run in [stored, crate::support::Run::of(&command.stdin(input).output().unwrap())] {
        assert!(run.stderr.contains("1 attachment of mails was not read\n"), "{run:#?}");
    }
    for others in [&["query", "--format", "html", "-o", "report", "zoe.eml"][..], &["diff", "zoe.eml", "zoe.eml"]] {
        let run = folder.ok(others);
        assert!(run.stderr.contains(note), "{run:#?}");
    }
}
