//! Recognition: detects the kind of a file from its name and first bytes. [`layer_of`] distinguishes
//! documents, compressed data and containers. [`choose`] detects the format of a document. The results depend
//! on nothing else.
//!
//! Both use the functions of this file for names and zip archives, so their answers agree. A binary signature
//! takes precedence over the name, because it is unambiguous. The beginning of a notebook or of a mail does
//! so too. The beginning of HTML or TeX takes precedence over names of plain text and unknown names only,
//! since other formats of text may begin like a page. All other text has no signature, so there the name
//! decides. Programming languages have their own rules (`normalize::language_of`).

mod beginning;
mod format;
mod from_line;
mod hint;
mod layer;

pub(crate) use beginning::begins_tex;
pub use format::{Choice, HEAD as FORMAT_HEAD, choose, choose_of_text};
pub(crate) use format::{is_packed, is_video, promised_format};
pub(crate) use from_line::{FromLine, from_line, is_header};
pub use hint::Hint;
pub use layer::{
    Compression, Container, HEAD as LAYER_HEAD, JsonRecords, Layer, holds_records, json_record_with, json_records,
    layer_of, name_inside,
};

use std::ffi::OsStr;
use std::path::Path;

use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Format;

/// The first bytes of a page of a report of fpdb. No other page begins so.
pub const REPORT_PAGE: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"generator\" content=\"fpdb report\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-";

/// The first bytes of a file with data of a report of fpdb.
pub const REPORT_DATA: &str = "/* data of a report of fpdb */fpdb(\"";

/// Returns an error if a file that begins with `head` belongs to a report of fpdb, which repeats texts of
/// other files. A report that the user names is read. Name and beginning must agree, so that no program or
/// essay is taken for a report because of a comment.
pub(crate) fn refuse_report(is_named: bool, path: &Path, head: &[u8]) -> Result<()> {
    let begin = match path.extension().and_then(OsStr::to_str) {
        Some("html") => REPORT_PAGE,
        Some("js") => REPORT_DATA,
        _ => return Ok(()),
    };
    if head.starts_with(begin.as_bytes()) && !is_named {
        Err(Error::Document(DocumentError::Binary { reason: SkipReason::Report }))
    } else {
        Ok(())
    }
}

/// The kind of a zip archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ZipKind {
    /// A container of files.
    Archive,
    /// A document that consists of several members, and its format if fpdb reads it.
    Document(Option<Format>),
}

/// The kind of the zip archive that begins with `head`. `None` if it is not a zip archive.
fn zip_kind(head: &[u8]) -> Option<ZipKind> {
    if [b"PK\x05\x06", b"PK\x07\x08"].iter().any(|mark| head.starts_with(*mark)) {
        return Some(ZipKind::Archive);
    }
    if !head.starts_with(b"PK\x03\x04") {
        return None;
    }
    let has = |what: &[u8]| memchr::memmem::find(head, what).is_some();
    // In OpenDocument and EPUB, the first part is the media type, uncompressed.
    let format = match head.get(30..) {
        Some(part) if part.starts_with(b"mimetypeapplication/epub+zip") => Some(Format::Epub),
        Some(part) if part.starts_with(b"mimetypeapplication/vnd.oasis.opendocument.text") => Some(Format::Odt),
        _ if has(b"[Content_Types].xml") && has(b"word/") => Some(Format::Docx),
        _ => None,
    };
    // The name of the first member identifies office and book formats.
    let length = head.get(26..28).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    let first = head.get(30..30 + length).unwrap_or_default();
    let is_document =
        format.is_some() || first == b"mimetype" || first == b"[Content_Types].xml" || first.starts_with(b"_rels/");
    Some(if is_document { ZipKind::Document(format) } else { ZipKind::Archive })
}

/// The part of a file's name after its last point, in lower case. The name may be that of a member:
/// `a.zip!dir/b.txt`.
pub(crate) fn extension(name: &str) -> String {
    let file = name.rsplit(['/', '!', '#']).next().unwrap_or_default();
    file.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::profile::Unit;

    #[test]
    fn a_zip_archive_is_one_kind_for_both_questions() {
        let member = |name: &str, content: &str| {
            let mut bytes = b"PK\x03\x04".to_vec();
            bytes.resize(26, 0);
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend([0, 0]);
            [&bytes, name.as_bytes(), content.as_bytes()].concat()
        };
        let word =
            [member("docProps/app.xml", "..."), member("[Content_Types].xml", ""), member("word/a.xml", "")].concat();
        for (head, kind) in [
            (member("mimetype", "application/epub+zip"), ZipKind::Document(Some(Format::Epub))),
            (member("mimetype", "application/vnd.oasis.opendocument.text"), ZipKind::Document(Some(Format::Odt))),
            (member("mimetype", "application/x-krita"), ZipKind::Document(None)),
            (member("[Content_Types].xml", "xl/workbook.xml"), ZipKind::Document(None)),
            (word, ZipKind::Document(Some(Format::Docx))),
            (member("a.txt", "text"), ZipKind::Archive),
            (b"PK\x05\x06".to_vec(), ZipKind::Archive),
        ] {
            assert_eq!(zip_kind(&head), Some(kind), "{}", String::from_utf8_lossy(&head));
            let is_container = layer_of("a", &head) == Layer::Container(Container::Zip);
            assert_eq!(is_container, kind == ZipKind::Archive);
            if let ZipKind::Document(Some(format)) = kind {
                assert_eq!(choose("a", &head, Unit::Char), Choice::Read(format));
            }
        }
        assert_eq!(zip_kind(b"PK is how it begins"), None);
    }

    #[test]
    fn extensions_are_those_of_the_innermost_name() {
        for (name, expected) in
            [("a.TXT", "txt"), ("a.zip!b/c.md", "md"), ("d.x/a", ""), ("a.tar.gz", "gz"), ("a.jsonl#x", ""), ("", "")]
        {
            assert_eq!(extension(name), expected, "{name}");
        }
    }
}
