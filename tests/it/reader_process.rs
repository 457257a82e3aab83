//! Documents in formats of foreign parsers are read in a separate process: with the same outcome, within
//! limits of memory and time, and without harm to the rest of the run.

use fpdb::{Fingerprinter, Fingerprints, Format, InputLimits, Profile, ReaderProcess, Unit};
use pdf_extract::{Dictionary, Document, Object, Stream, dictionary};

use crate::support::Folder;

/// A PDF with one page that draws `content`, compressed.
fn pdf(content: Vec<u8>) -> Vec<u8> {
    pdf_with(content, Vec::new())
}

/// Like [`pdf`], with a graphic named G that draws `graphic`.
fn pdf_with(content: Vec<u8>, graphic: Vec<u8>) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages = document.new_object_id();
    let font = document.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let content = document.add_object(Stream::new(Dictionary::new(), content));
    let form = dictionary! {
        "Type" => "XObject", "Subtype" => "Form",
        "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
    };
    let graphic = document.add_object(Stream::new(form, graphic));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content,
        "Resources" => dictionary! {
            "Font" => dictionary! { "F1" => font }, "XObject" => dictionary! { "G" => graphic },
        },
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    });
    let list = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    document.objects.insert(pages, Object::Dictionary(list));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", catalog);
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn good_pdf(text: &str) -> Vec<u8> {
    pdf(format!("BT /F1 12 Tf 50 700 Td ({text}) Tj ET").into_bytes())
}

#[test]
fn samples_have_the_same_fingerprints_in_either_process() {
    let profile = Profile::named("words").unwrap();
    let process = ReaderProcess::new(env!("CARGO_BIN_EXE_fpdb"), ["read-documents"]);
    let there = InputLimits::default().process(Some(process));
    for (format, name) in [
        (Format::Mail, "sample.eml"),
        (Format::Pdf, "sample.pdf"),
        (Format::Docx, "sample.docx"),
        (Format::Docx, "sample-office.docx"),
        (Format::Odt, "sample.odt"),
        (Format::Epub, "sample.epub"),
        // These samples are not of the stated formats.
        (Format::Docx, "sample.odt"),
        (Format::Epub, "sample.pdf"),
        (Format::Pdf, "sample.txt"),
    ] {
        let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/samples").join(name);
        let document = std::fs::read(path).unwrap();
        let read = |limits: &InputLimits| {
            let mut fingerprinter = Fingerprinter::new(&profile).with_limits(limits);
            fingerprinter.begin(format);
            let mut fingerprints = Fingerprints::new();
            fingerprinter.feed(&document, &mut fingerprints);
            let facts = fingerprinter.finish(&mut fingerprints).map_err(|error| error.to_string());
            facts.map(|facts| (facts, fingerprints.iter().collect::<Vec<_>>()))
        };
        let (here, there) = (read(&InputLimits::default()), read(&there));
        assert_eq!(here, there, "{format} {name}");
        assert!(here.is_err() || !here.unwrap().1.is_empty() || profile.unit() != Unit::Word);
    }
}

/// The document that needs too much memory fails by name. The documents before and after it are read.
#[test]
fn a_document_that_takes_too_much_memory_fails_alone() {
    let folder = Folder::new();
    let hello = "The quick brown fox jumps over the lazy dog and does it again and again";
    folder.write("a.pdf", good_pdf(hello));
    folder.write("b.pdf", pdf(b"q ".repeat(1_000_000)));
    folder.write("c.pdf", good_pdf(hello));
    let run = folder.run(&["ingest", ".", "--threads", "1", "--format", "json", "--limit", "reading-memory=200MiB"]);
    assert_eq!(run.status, 2, "{run:?}");
    let report = &run.json()[0];
    assert_eq!((report["added"].as_u64(), report["identical"].as_u64()), (Some(2), Some(1)), "{report}");
    let failed = report["failed"].as_array().unwrap();
    assert_eq!((failed.len(), failed[0]["name"].as_str()), (1, Some("b.pdf")));
    let error = failed[0]["error"].as_str().unwrap();
    assert_eq!(error, "reading the pdf document takes more than 209715200 bytes of memory");
}

#[test]
fn a_document_that_takes_too_long_fails_alone() {
    let graphic = [&b"BT /F1 12 Tf "[..], &b"(some words) Tj ".repeat(6_000), b"ET"].concat();
    // Remembered flags do not change which process reads.
    for remembers in [false, true] {
        let folder = Folder::new();
        folder.write("b.pdf", good_pdf("short"));
        if remembers {
            folder.ok(&["ingest", "-q", "--exclude", "*.tmp", "."]);
        }
        folder.write("a.pdf", pdf_with(b"/G Do ".repeat(6_400), graphic.clone()));
        let limits = ["--limit", "reading-time=1", "--limit", "unpacking=1000000"];
        let run = folder.run(&[&["ingest", ".", "--threads", "1", "--format", "json"], &limits[..]].concat());
        assert_eq!((run.status, run.stderr.contains("using the flags")), (2, remembers), "{run:?}");
        let report = &run.json()[0];
        assert_eq!(report["added"].as_u64(), Some(u64::from(!remembers)), "{report}");
        let error = report["failed"][0]["error"].as_str().unwrap();
        assert_eq!(error, "reading the pdf document takes more than 1 s of processor time");
    }
}

/// If a reader process is killed during a run, no document is lost.
#[test]
#[cfg(target_os = "linux")]
fn no_process_is_left() {
    let folder = Folder::new();
    folder.write("a.pdf", good_pdf("short"));
    let before = readers(folder.path());
    folder.ok(&["ingest", "a.pdf"]);
    folder.ok(&["query", "a.pdf"]);
    assert_eq!(readers(folder.path()), before);
}

/// The number of running reader processes whose working folder is `folder`.
#[cfg(target_os = "linux")]
fn readers(folder: &std::path::Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_reader = |path: &std::path::PathBuf| {
        std::fs::read(path.join("cmdline")).is_ok_and(|line| line.ends_with(b"read-documents\0"))
            && std::fs::read_link(path.join("cwd")).is_ok_and(|there| there == folder)
    };
    processes.filter(is_reader).count()
}
