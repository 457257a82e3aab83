//! Detects the format of a document from its first bytes and its name. The result depends on nothing else.
//! The content takes precedence over the name. A beginning of HTML or TeX does so only over names of plain
//! text and unknown names ([`choose`]). Binary data without a reader is skipped.

use super::beginning::{begins_tex, is_html, is_mail, is_notebook};
use super::{ZipKind, extension, zip_kind};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Format;
use fpdb_kernel::normalize::{is_wide_text, language_of};
use fpdb_kernel::profile::Unit;

/// Number of bytes at the start of a document that [`choose`] reads.
pub const HEAD: usize = 8 << 10;

/// The file name extensions of each format except source code, in lower case, without the dot.
/// `docs/formats.md` has more about the formats, in the same order.
const EXTENSIONS: [(Format, &[&str]); 12] = [
    (Format::Text, &["txt", "text"]),
    (Format::Html, &["html", "htm", "xhtml", "xht"]),
    (Format::Markdown, &["md", "markdown", "mdown", "mkd"]),
    (Format::ReStructuredText, &["rst", "rest"]),
    (Format::Tex, &["tex", "ltx", "latex"]),
    (Format::Notebook, &["ipynb"]),
    (Format::Mail, &["eml", "emlx"]),
    (Format::Pdf, &["pdf"]),
    (Format::Docx, &["docx", "docm", "dotx"]),
    (Format::Odt, &["odt", "ott"]),
    (Format::Epub, &["epub"]),
    (Format::Bytes, &[]),
];

/// Extensions of programs and templates that may begin like a page. Other extensions, such as `.cc`, `.ru`
/// and `.sh`, are also the ends of web addresses, and pages are saved under such names.
const PROGRAMS: [&str; 17] =
    ["asp", "aspx", "c", "ejs", "erb", "go", "h", "js", "jsp", "php", "pl", "py", "rb", "rs", "svelte", "ts", "vue"];

/// The first bytes of archives and compressed files that fpdb does not read.
const UNREAD_ARCHIVES: [(&[u8], SkipReason); 9] = [
    (b"7z\xBC\xAF\x27\x1C", SkipReason::SevenZip),
    (b"Rar!\x1A\x07", SkipReason::Rar),
    (b"MSCF\0\0\0\0", SkipReason::Cab),
    (b"!<arch>\n", SkipReason::Ar),
    (b"07070", SkipReason::Cpio),
    (b"LZIP", SkipReason::Lzip),
    (b"\x04\x22\x4D\x18", SkipReason::Lz4),
    (b"\x1F\x9D", SkipReason::Compress),
    (b"\x5D\0\0", SkipReason::Lzma),
];

/// The decision about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Read it in this format.
    Read(Format),
    /// Skip it, for this reason.
    Skip(SkipReason),
}

/// Extensions of files that use the container format of old office documents but are not office documents:
/// thumbnails, installers, settings.
const NO_DOCUMENTS: [&str; 3] = ["db", "msi", "suo"];

/// Chooses the format of a document for a database of this unit. `name` is the document's name; `head` is its
/// first 8 KiB, or all of it if it is shorter.
#[must_use]
pub fn choose(name: &str, head: &[u8], unit: Unit) -> Choice {
    let head = &head[..head.len().min(HEAD)];
    if unit == Unit::Byte {
        return Choice::Read(Format::Bytes);
    }
    let (extension, named) = (extension(name), named_format(name));
    if head.is_empty()
        && !is_media_type(name)
        && let Some(format) = promised_format(name).filter(|format| is_packed(*format))
    {
        // Its reader reports that the document is empty.
        return Choice::Read(format);
    }
    if let Some(format) = binary(head, named) {
        return Choice::Read(format);
    }
    // RTF and PostScript: no front-end removes their markup and operators.
    if head.starts_with(b"{\\rtf") || head.starts_with(b"%!PS") {
        return Choice::Skip(SkipReason::Package);
    }
    let is_other = NO_DOCUMENTS.contains(&&*extension);
    if head.starts_with(b"PK\x03\x04") || (head.starts_with(b"\xD0\xCF\x11\xE0") && !is_other) {
        return match named {
            // The reader of this format can report what is wrong with the document.
            Some(format @ (Format::Docx | Format::Odt | Format::Epub)) => Choice::Read(format),
            _ => Choice::Skip(SkipReason::Package),
        };
    }
    without_signature(name, head, unit)
}

/// Like [`choose`], for a text that was a string before. Such a text is in no binary format, whatever it
/// begins with. It may be a part of a notebook, which no reader accepts. So only the name can show that a
/// text is a notebook.
#[must_use]
pub fn choose_of_text(name: &str, head: &[u8], unit: Unit) -> Choice {
    let head = &head[..head.len().min(HEAD)];
    match without_signature(name, head, unit) {
        _ if unit == Unit::Byte => Choice::Read(Format::Bytes),
        Choice::Read(format) if is_packed(format) => Choice::Read(Format::Text),
        Choice::Read(Format::Notebook) if named_format(name) != Some(Format::Notebook) => Choice::Read(Format::Text),
        choice => choice,
    }
}

/// Chooses the format of a document whose first bytes show no binary format.
fn without_signature(name: &str, head: &[u8], unit: Unit) -> Choice {
    let (extension, named) = (extension(name), named_format(name));
    if memchr::memchr(0, head).is_some() && !is_wide_text(head) && !is_nearly_text(head) {
        let archive = UNREAD_ARCHIVES.into_iter().find(|(begin, _)| head.starts_with(begin));
        return Choice::Skip(archive.map_or(SkipReason::Binary, |(_, reason)| reason));
    }
    if unit == Unit::Token
        && let Some(language) = language_of(name, head)
    {
        return Choice::Read(Format::Code(language));
    }
    let found = text(head);
    if let (None, Some(format)) = (found, named.filter(|format| is_packed(*format)))
        && !is_wide_text(head)
        && !is_nearly_text(head)
    {
        // Binary data without a NUL. The reader of this format can report what is wrong with the document.
        return Choice::Read(format);
    }
    Choice::Read(match (found, named) {
        // The content begins like a page or TeX, but the name of another format than text takes precedence. A
        // program that writes a page or TeX is text.
        (Some(Format::Html | Format::Tex), Some(format)) if format != Format::Text => format,
        (Some(Format::Html), None) if PROGRAMS.contains(&&*extension) => Format::Text,
        (Some(Format::Tex), None) if language_of(name, b"").is_some() => Format::Text,
        (Some(format), _) => format,
        // The name is that of a binary format, but the content is text.
        (None, Some(format)) if !is_packed(format) => format,
        (None, _) => Format::Text,
    })
}

/// True for formats of binary documents. No such file is empty.
pub(crate) fn is_packed(format: Format) -> bool {
    matches!(format, Format::Pdf | Format::Docx | Format::Odt | Format::Epub)
}

/// The format of a document by its name alone.
fn named_format(name: &str) -> Option<Format> {
    let extension = extension(name);
    EXTENSIONS.iter().find(|(_, extensions)| extensions.contains(&&*extension)).map(|&(format, _)| format)
}

/// The format of a document or text that a name promises. Binary data under such a name is an error. Names
/// such as `._a.docx` and `~$a.docx` promise nothing: systems put such files beside a document. Names of
/// source code promise text: of 39,000 such files below /usr and in a cargo registry, one is binary.
pub(crate) fn promised_format(name: &str) -> Option<Format> {
    const TABLES: [&str; 2] = ["csv", "tsv"];
    let last = name.rsplit(['/', '!']).next().unwrap_or_default();
    let is_beside = last.starts_with("._") || last.starts_with("~$");
    // Many servers call any data text, so a media type promises no text.
    let promised = named_format(name).or_else(|| language_of(name, b"").map(Format::Code));
    let promised = promised.or_else(|| TABLES.contains(&&*extension(name)).then_some(Format::Text));
    promised.filter(|format| !is_beside && (is_packed(*format) || !is_media_type(name)))
}

/// True for a video in packets of 188 bytes that begin with a `G` (in files of cameras after four bytes for
/// the time), by its name, which ends as those of TypeScript do, and its first bytes.
pub(crate) fn is_video(name: &str, head: &[u8]) -> bool {
    const LEAST_PACKETS: usize = 3;
    let head = &head[..head.len().min(HEAD)];
    let has_packets = |first: usize, size: usize| {
        let mut marks = head.iter().skip(first).step_by(size);
        marks.len() >= LEAST_PACKETS && marks.all(|&mark| mark == b'G')
    };
    matches!(&*extension(name), "ts" | "mts") && (has_packets(0, 188) || has_packets(4, 192))
}

/// True for a name without a stem, such as `.txt`. It stands for the media type of a web record, whose body
/// is empty if the server had nothing to send.
fn is_media_type(name: &str) -> bool {
    name.rsplit(['/', '!']).next().is_some_and(|last| last.starts_with('.'))
}

/// True if at most one byte in a hundred is a control character, not counting those usual in text. Such a
/// file counts as text although it has NULs. Of 61,396 files with NULs below /usr and in a cargo registry,
/// 331 are below this limit. These are texts, and PDFs, which are detected earlier. Compiled Python comes
/// next, with at least 1.09%.
fn is_nearly_text(head: &[u8]) -> bool {
    let of_text = |byte: u8| matches!(byte, b'\x08'..=b'\r' | b'\x1B');
    let controls = head.iter().filter(|&&byte| byte.is_ascii_control() && !of_text(byte)).count();
    controls * 100 <= head.len()
}

/// The format of a binary document, by its first bytes and the format of its name.
fn binary(head: &[u8], named: Option<Format>) -> Option<Format> {
    // Readers of PDF accept bytes before its mark. A text about PDF has a word before the mark, and no
    // control characters.
    if let Some(at) = memchr::memmem::find(&head[..head.len().min(1024)], b"%PDF-") {
        let before = head[..at].strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head[..at]).trim_ascii();
        let has_controls = || before.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
        if before.is_empty() || named == Some(Format::Pdf) || has_controls() {
            return Some(Format::Pdf);
        }
    }
    match zip_kind(head) {
        Some(ZipKind::Document(format)) => format,
        _ => None,
    }
}

/// The format of a text document, by its first bytes.
fn text(head: &[u8]) -> Option<Format> {
    let narrowed: Vec<u8>;
    let head = match is_wide_text(head) {
        // Reduces UTF-16 and UTF-32 to ASCII characters. All signatures are ASCII.
        true => {
            narrowed = head.iter().copied().filter(|&byte| byte != 0 && byte.is_ascii()).collect();
            &narrowed[..]
        }
        false => head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head),
    };
    let begin = head.trim_ascii_start();
    if is_html(begin) {
        return Some(Format::Html);
    }
    if is_notebook(begin) {
        return Some(Format::Notebook);
    }
    if begins_tex(begin) {
        return Some(Format::Tex);
    }
    is_mail(head).then_some(Format::Mail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::document::Language;

    fn read(name: &str, head: &[u8]) -> Option<Format> {
        match choose(name, head, Unit::Char) {
            Choice::Read(format) => Some(format),
            Choice::Skip(_) => None,
        }
    }

    #[test]
    fn archives_that_are_not_read_are_told_from_other_binary_files() {
        for (begin, why) in UNREAD_ARCHIVES {
            let head = [begin, &[0, 1, 2].repeat(99)].concat();
            assert!(why.is_unread_archive(), "{why}");
            assert_eq!(choose("a", &head, Unit::Char), Choice::Skip(why.clone()));
            assert_eq!(choose("a", &head, Unit::Byte), Choice::Read(Format::Bytes));
            // A text that begins with these bytes is text.
            let text = [begin, &b" is how it begins. ".repeat(99)].concat();
            assert!(matches!(choose("a", &text, Unit::Char), Choice::Read(_)), "{why}");
        }
        assert_eq!(choose("a", &[0, 1, 2].repeat(99), Unit::Char), Choice::Skip(SkipReason::Binary));
        assert!(!SkipReason::Binary.is_unread_archive());
    }

    #[test]
    fn a_text_with_a_few_nuls_is_text() {
        let text = b"Some plain text, with a line\n\tand another one. ".repeat(9);
        for unit in [Unit::Char, Unit::Word] {
            for nuls in 0..=8 {
                let mut head = text.clone();
                for at in 0..nuls {
                    head[at * 50] = 0;
                }
                let expected = match nuls {
                    // At most one in a hundred of 423 bytes.
                    0..=4 => Choice::Read(Format::Text),
                    _ => Choice::Skip(SkipReason::Binary),
                };
                assert_eq!(choose("a.txt", &head, unit), expected, "{nuls} of {}", head.len());
            }
        }
        assert!(matches!(choose("a.txt", b"\0\0\0", Unit::Char), Choice::Skip(_)));
        assert!(matches!(choose("a.txt", b"a\0", Unit::Char), Choice::Skip(_)));
        // The pattern of NULs still shows UTF-16.
        let wide: Vec<u8> = text.iter().flat_map(|&byte| [byte, 0]).collect();
        assert_eq!(choose("a.txt", &wide, Unit::Char), Choice::Read(Format::Text));
    }

    #[test]
    fn what_a_document_begins_with_comes_first() {
        let cases: [(&str, &[u8], Format); 53] = [
            ("a", b"<!DOCTYPE html><p>x", Format::Html),
            ("a.txt", b"\xEF\xBB\xBF \n<!-- saved -->\n<HTML lang=en>", Format::Html),
            ("a", b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC>", Format::Html),
            ("a", b"<\0h\0t\0m\0l\0>\0<\0p\0>\0x\0", Format::Html),
            ("a", b"<header>no page</header>", Format::Text),
            ("a", b"<?xml version='1.0'?><rss>", Format::Text),
            ("index.php", b"<!DOCTYPE html><?php echo 1 ?>", Format::Text),
            ("lenta.ru", b"<!DOCTYPE html><p>x", Format::Html),
            ("x.cc", b"<!DOCTYPE html><p>x", Format::Html),
            ("y.sh", b"<!DOCTYPE html><p>x", Format::Html),
            ("z.phtml", b"<!DOCTYPE html><p>x", Format::Html),
            ("latex.sh", b"\\documentclass{article}", Format::Text),
            ("a.md", b"<html>", Format::Markdown),
            ("a.eml", b"<html>", Format::Mail),
            ("a.partial.emlx", b"64  \nFrom: a", Format::Mail),
            ("a.htm", b"plain", Format::Html),
            ("a", b"%PDF-1.7", Format::Pdf),
            ("a.txt", b"\0\0 junk %PDF-1.7", Format::Pdf),
            ("a", b"\xEF\xBB\xBF%PDF-1.7", Format::Pdf),
            ("a.txt", b" \r\n\n%PDF-1.7", Format::Pdf),
            ("a.PDF", b"saved by a program\n%PDF-1.7", Format::Pdf),
            ("a.txt", b"A document begins so:\n%PDF-1.7", Format::Text),
            ("a.rs", b"const MARK: &str = \"%PDF-\";\n", Format::Text),
            ("a.pdf", b"no pdf", Format::Text),
            ("a.pdf", b"", Format::Pdf),
            (".pdf", b"", Format::Text),
            ("~$a.docx", b"", Format::Text),
            (
                "a",
                b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0mimetypeapplication/epub+zip",
                Format::Epub,
            ),
            ("a", b"PK\x03\x04......[Content_Types].xml......word/document.xml", Format::Docx),
            ("a.docx", b"PK\x03\x04 of some other program", Format::Docx),
            ("a.docx", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", Format::Docx),
            ("a", b"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\"", Format::Notebook),
            ("a.ipynb", b"{}", Format::Notebook),
            ("a.json", b"{\"cells\": 3}", Format::Text),
            ("a", b"Received: from x\r\n by y\r\nFrom: a@b\r\n\r\nText", Format::Mail),
            ("a", b"From: a\nSubject: no mail, a text\n\nText", Format::Text),
            ("a", b"{\"metadata\": {\"x\": [\"]}\"]}, \"worksheets\" : [{}], \"nbformat\": 3", Format::Notebook),
            ("a.json", b"{\"text\": \"of \\\"nbformat\\\": 4\", \"cells\": 3, \"cell_type\": 0}", Format::Text),
            ("a.json", b"{\"x\": {\"nbformat\": 4, \"cells\": [], \"cell_type\": 0}}", Format::Text),
            ("a.json", b"{\"x\": \"cells\", \"nbformat\": 4, \"y\": [\"cell_type\"]}", Format::Text),
            ("a", b"% a comment\n\\documentclass{article}", Format::Tex),
            ("a.txt", b"\\NeedsTeXFormat{LaTeX2e}\n\\documentclass{article}", Format::Tex),
            ("a.jsonl:3", b"\\DocumentMetadata{\n  lang = {en},\n}\n\n  \\documentstyle[12pt]{article}", Format::Tex),
            ("a", b"\\RequirePackage[x]{y}[2020/01/01]\\documentclass{article}", Format::Tex),
            ("a", b"How to begin:\n\\documentclass{article}", Format::Text),
            ("a", b"# a program\n\\documentclass{article}", Format::Text),
            ("a", b"\\begin{x}text\n\\documentclass{article}", Format::Text),
            ("a", b"\\documentation", Format::Text),
            ("latex.py", b"\\documentclass{article}", Format::Text),
            ("a.md", b"\\documentclass{article}", Format::Markdown),
            ("a.rst", b"\\documentclass{article}", Format::ReStructuredText),
            ("a.tex", b"text\n\\documentclass{article}", Format::Tex),
            ("dir.md/a.RST", b"Title\n=====", Format::ReStructuredText),
        ];
        for (name, head, format) in cases {
            assert_eq!(read(name, head), Some(format), "{name}: {}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn a_string_is_text_whatever_it_begins_with() {
        let begins: [&[u8]; 8] = [
            b"%PDF-1.4 is how it begins",
            b"%!PS is how it begins",
            b"{\\rtf1 is how it begins",
            b"PK\x03\x04 is how it begins",
            b"PK\x03\x04......[Content_Types].xml......word/document.xml",
            b"\xD0\xCF\x11\xE0 is how it begins",
            b"{\"nbformat\": 4, \"cells\": [{\"cell_type\": \"code\"",
            b"\x01\x02\x03\x04 controls",
        ];
        for name in ["", "a.txt", "a.pdf", "a.docx", "Thumbs.db"] {
            for begin in begins {
                let told = String::from_utf8_lossy(begin);
                assert_eq!(choose_of_text(name, begin, Unit::Char), Choice::Read(Format::Text), "{name} {told}");
                assert_eq!(choose_of_text(name, begin, Unit::Byte), Choice::Read(Format::Bytes), "{name} {told}");
            }
        }
        // HTML, TeX, mails and Markdown are recognised as in files.
        for (name, head, format) in [
            ("", &b"<!DOCTYPE html><p>x"[..], Format::Html),
            ("", b"\\documentclass{article}\n\\begin{document}", Format::Tex),
            ("", b"Received: from x\r\n by y\r\nFrom: a@b\r\n\r\nText", Format::Mail),
            ("a.md", b"# Title", Format::Markdown),
            ("a.ipynb", b"{\"cells\": []}", Format::Notebook),
        ] {
            assert_eq!(choose_of_text(name, head, Unit::Char), Choice::Read(format), "{name}");
        }
    }

    #[test]
    fn source_code_is_a_format_where_symbols_are_tokens() {
        let php = b"<!DOCTYPE html><?php echo 1 ?>";
        assert_eq!(choose("index.php", php, Unit::Token), Choice::Read(Format::Code(Language::Php)));
        assert_eq!(choose("a", b"#!/bin/sh\n", Unit::Token), Choice::Read(Format::Code(Language::Bash)));
        assert_eq!(choose("a.md", b"# Title", Unit::Token), Choice::Read(Format::Markdown));
        assert_eq!(choose("a.rs", b"fn main() {}", Unit::Word), Choice::Read(Format::Text));
        assert_eq!(choose("a.rs", b"\0\x01\x02", Unit::Token), choose("a", b"\0\x01\x02", Unit::Token));
    }

    #[test]
    fn what_nothing_can_read_is_left_out() {
        assert_eq!(read("a.zip", b"PK\x03\x04\x14\0\0\0 a.txt"), None);
        assert_eq!(read("a.xlsx", b"PK\x03\x04......[Content_Types].xml......xl/workbook.xml"), None);
        assert_eq!(read("a.doc", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0"), None);
        let old = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0";
        for (name, reason) in [
            ("a.doc", SkipReason::Package),
            ("a.xls", SkipReason::Package),
            ("a", SkipReason::Package),
            ("Thumbs.db", SkipReason::Binary),
        ] {
            assert_eq!(choose(name, old, Unit::Char), Choice::Skip(reason), "{name}");
        }
        for unit in [Unit::Char, Unit::Word, Unit::Token] {
            assert_eq!(choose("a", b"{\\rtf1\\ansi text}", unit), Choice::Skip(SkipReason::Package));
            assert_eq!(choose("a.ps", b"%!PS-Adobe-3.0\n", unit), Choice::Skip(SkipReason::Package));
        }
        assert_eq!(read("a.rtf", b"plain text"), Some(Format::Text));
        assert_eq!(read("a", b"\x7FELF\0\0\0\x01"), None);
        assert_eq!(read("a.html", b"\x89PNG\0\0\0\x01"), None);
        assert_eq!(choose("a", b"\x7FELF\0\0\0\x01", Unit::Byte), Choice::Read(Format::Bytes));
    }

    #[test]
    fn every_extension_leads_to_one_format() {
        let mut seen = std::collections::HashSet::new();
        for extension in EXTENSIONS.iter().flat_map(|(_, extensions)| *extensions) {
            assert!(seen.insert(extension), "{extension} is listed twice");
        }
    }

    #[test]
    fn the_documentation_lists_formats_and_extensions() {
        let page = include_str!("../../../../docs/formats.md");
        let rows =
            page.lines().filter_map(|line| line.strip_prefix("| `")).filter(|row| row.matches(" | ").count() == 6);
        let listed: Vec<String> =
            rows.map(|row| row.splitn(3, " | ").take(2).collect::<Vec<_>>().join(" | ")).collect();
        let expected = EXTENSIONS.map(|(format, extensions)| {
            let extensions: Vec<String> = extensions.iter().map(|extension| format!("`.{extension}`")).collect();
            format!("{}` | {}", format.name(), extensions.join(" "))
        });
        assert_eq!(listed, expected);
    }
}
