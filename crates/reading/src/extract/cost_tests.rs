//! Compares the factors of `cost` with the memory that reading takes, for documents made of the most costly
//! marks and for normal documents.

use super::cost;
use super::*;
use crate::counted_heap;
use crate::recognise::{Choice, choose};
use fpdb_host::error::DocumentError;

/// Peak memory in bytes for reading a document, without the document itself.
fn peak(format: Format, document: &[u8]) -> u64 {
    let limits = InputLimits { reading_memory: u64::MAX, ..InputLimits::default() };
    let (_extracted, peak) = counted_heap::peak(|| extract(format, document, &limits));
    peak
}

/// Half a megabyte of `unit`, between `before` and `after`.
fn repeated(before: &str, unit: &[u8], after: &str) -> Vec<u8> {
    [before.as_bytes(), &unit.repeat((512 << 10) / unit.len()), after.as_bytes()].concat()
}

fn documents() -> Vec<(Format, Vec<u8>)> {
    let mut documents = Vec::new();
    for unit in [
        "[",
        "]",
        "*",
        "_",
        "`",
        "~",
        "|",
        "<",
        ">",
        "&",
        "\\",
        "!",
        "![",
        "> ",
        "- ",
        "1. ",
        "# ",
        "\n",
        "a\n",
        "a\n\n",
        "* a\n",
        "[a]",
        "[a](b)",
        "[a]: b\n",
        "[^a]",
        "[^a]: b\n",
        "**a**",
        "*a",
        "`a`",
        "``` \n",
        "~a~",
        "&lt;",
        "<a>",
        "<a\n",
        "\\*",
        "a|",
        "|a|b|\n|-|-|\n",
        "- [ ] a\n",
        "http://a ",
        "a  \n",
        "---\n",
        "é*",
        "\r\n",
        "a\r\n",
    ] {
        documents.push((Format::Markdown, repeated("", unit.as_bytes(), "")));
    }
    let table = format!("|{}\n|{}\n", "a|".repeat(1000), "-|".repeat(1000));
    documents.push((Format::Markdown, repeated(&table, b"|\n", "")));
    for unit in [
        &b"<"[..],
        b"<a>",
        b"a<b>",
        b"<p>",
        b"a<p>",
        b"&lt;",
        b"&",
        b"&#1;",
        b"a&",
        b"\r",
        b"\r\n",
        b"a\r\n",
        b"\0",
        b"<a a=",
        b"<!--",
        b"\xe9",
        b"a\xe9",
        b"\xe9\xe9a",
        b"<\xe9",
        b"a\0",
        b"<\0",
        b"\x81\x40",
        b"]]>",
        b"<svg><![CDATA[",
    ] {
        documents.push((Format::Html, repeated("<html>", unit, "")));
        documents.push((Format::Html, repeated("<html><meta charset=shift_jis>", unit, "")));
    }
    for unit in ["\\", "%", "\\a", "a%\n", "\\'e", "{\\'e}", "\\\\", "a\\\\", "\\%", "{", "}", "\\cite{", "[", "\\a["] {
        documents.push((Format::Tex, repeated("", unit.as_bytes(), "")));
    }
    documents.push((Format::Tex, repeated("", b"\\\xe9", "")));
    let (code, markdown) = (
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": ",
        "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": ",
    );
    for unit in ["\\n", "\\u00e9", "\\\\", "a\\n", "a", "[", "*", "é", "\\n\\n", "&lt;", "\\ud83d\\ude00"] {
        documents.push((Format::Notebook, repeated(&format!("{code}\""), unit.as_bytes(), "\"}]}")));
        documents.push((Format::Notebook, repeated(&format!("{markdown}\""), unit.as_bytes(), "\"}]}")));
    }
    documents.push((Format::Notebook, repeated(&format!("{code}[\"\""), b",\"\"", "]}]}")));
    documents.push((Format::Notebook, repeated(&format!("{code}[\"\""), b",1", "]}]}")));
    documents.push((Format::Notebook, repeated("{\"cells\":[{\"cell_type\":1}", b",{\"cell_type\":1}", "]}")));
    documents.push((Format::Notebook, repeated("{\"cells\":[], \"x\":", b"[", "")));
    let part = "Content-Type: multipart/mixed; boundary=b\n\n";
    for (before, unit) in [
        ("From: a\n", "A: b\n"),
        ("From: a\n", "a:\n"),
        ("From: a\nTo: ", "a,"),
        ("From: a\nTo: ", "a:;"),
        ("From: a\nTo: ", "<a>,"),
        ("From: a\nTo: ", "("),
        ("From: a\n", "To: a\n"),
        ("From: a\n", "Received: from a by b; c\n"),
        ("From: a\nReferences: ", "<a> "),
        ("From: a\nContent-Type: a/b", ";a=b"),
        ("From: a\nSubject: ", "=?utf-8?q?a?= "),
        ("From: a\n\n", "a\n"),
        ("From: a\n\n", "é"),
        (part, "--b\n\n"),
        (part, "--b\nContent-Type: multipart/mixed; boundary=b\n\n"),
        (part, "--b\nContent-Type: message/rfc822\n\n"),
        (part, "--b\nContent-Type: text/html\n\n<a>b\n"),
        ("Content-Type: text/html\n\n", "a<b>"),
        ("Keywords: ", "a,"),
        ("Date: ", "1 "),
        ("Content-Type: text/plain; charset=latin1\n\n", "\u{e9}"),
        ("Content-Transfer-Encoding: base64\n\n", "QUJD"),
    ] {
        documents.push((Format::Mail, repeated(before, unit.as_bytes(), "")));
    }
    documents
}

#[test]
fn no_document_takes_more_than_is_reckoned() {
    let mut wrong = Vec::new();
    for (format, document) in documents() {
        let (peak, reckoned) = (peak(format, &document), cost::memory(format, &document));
        if std::env::var_os("FPDB_SHOW_COSTS").is_some() {
            let times = peak as f64 / document.len() as f64;
            eprintln!("{format}\t{times:.1}\t{:.1}\t{:?}", peak as f64 / reckoned as f64, shown(&document));
        }
        if peak > reckoned {
            wrong.push(format!("{format}: {peak} and not {reckoned} for {}", shown(&document)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn shown(document: &[u8]) -> String {
    String::from_utf8_lossy(&document[..document.len().min(70)]).escape_debug().to_string()
}

/// Normal documents must not be refused by limits for hostile ones. With the lowest limit, 64 MiB, a megabyte
/// of each format passes.
#[test]
fn documents_as_they_are_pass() {
    for name in ["sample.html", "sample.md", "sample.tex", "sample.ipynb", "sample.eml", "sample-windows-1252.html"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples").join(name);
        let document = std::fs::read(path).expect("a sample");
        let choice = choose(name, &document, fpdb_kernel::profile::Unit::Char);
        let Choice::Read(format) = choice else { panic!("{choice:?}") };
        let reckoned = cost::memory(format, &document);
        assert!(reckoned < 64 * document.len() as u64, "{name}: {} times", reckoned / document.len() as u64);
    }
}

#[test]
fn a_document_that_would_take_too_much_is_refused_before_it_is_read() {
    let limits = InputLimits { reading_memory: 10 << 20, ..InputLimits::default() };
    let document = repeated("", b"[", "");
    let (refused, peak) = counted_heap::peak(|| extract(Format::Markdown, &document, &limits));
    assert!(matches!(
        refused,
        Err(Error::Document(DocumentError::ReadingMemory { format: "markdown", limit: 0xA0_0000 }))
    ));
    assert!(peak < 10_000);
    assert!(extract(Format::Markdown, &[b'a'; 1 << 20], &limits).is_ok());
}
