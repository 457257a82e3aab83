//! Layer: decides if bytes are a document, compressed data, or a container of documents. The first bytes and
//! the extension show which of these they are. If bytes and name disagree, the bytes decide.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{FromLine, ZipKind, extension, from_line, is_header, zip_kind};
use fpdb_host::bounded::without_byte_order_mark;

/// The compression of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
}

/// A kind of file that contains several documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// A tar archive.
    Tar,
    /// A zip archive.
    Zip,
    /// JSON lines: one JSON object per line.
    JsonLines,
    /// A Parquet table.
    Parquet,
    /// A web archive in WARC format.
    Warc,
    /// A web archive in ARC format, the predecessor of WARC.
    Arc,
    /// A mailbox in mbox format.
    Mbox,
}

/// The kind of some bytes with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// A single document.
    Document,
    /// Compressed data.
    Compressed(Compression),
    /// A container of documents.
    Container(Container),
    /// A mail whose attachments are documents. [`layer_of`] returns [`Layer::Document`] for a mail, because
    /// only the options of the reader decide about attachments.
    Mail,
}

/// Number of first bytes needed to detect a layer: enough for a block of tar and the first lines of a mail.
pub const HEAD: usize = 4096;

/// Extensions of documents that are zip archives internally.
const PACKED_DOCUMENTS: [&str; 15] =
    ["docx", "docm", "dotx", "xlsx", "xlsm", "pptx", "pptm", "odt", "ods", "odp", "odg", "epub", "kmz", "vsdx", "xps"];

impl Compression {
    /// The name used in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }
}

impl Container {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tar => "tar",
            Self::Zip => "zip",
            Self::JsonLines => "JSON lines",
            Self::Parquet => "Parquet",
            Self::Warc => "WARC",
            Self::Arc => "ARC",
            Self::Mbox => "mbox",
        }
    }
}

/// The layer of bytes with this name. `head` is all of the bytes, or at least the first [`HEAD`].
pub fn layer_of(name: &str, head: &[u8]) -> Layer {
    let ending = extension(name);
    if PACKED_DOCUMENTS.contains(&ending.as_str()) {
        return Layer::Document;
    }
    let by_bytes = by_bytes(&ending, head);
    if by_bytes != Layer::Document {
        return by_bytes;
    }
    match ending.as_str() {
        "gz" | "tgz" | "taz" => Layer::Compressed(Compression::Gzip),
        "zst" | "zstd" | "tzst" => Layer::Compressed(Compression::Zstd),
        "xz" | "txz" => Layer::Compressed(Compression::Xz),
        "bz2" | "tbz2" | "tbz" => Layer::Compressed(Compression::Bzip2),
        "tar" => Layer::Container(Container::Tar),
        "zip" => Layer::Container(Container::Zip),
        "jsonl" | "ndjson" | "jsonlines" => Layer::Container(Container::JsonLines),
        "parquet" => Layer::Container(Container::Parquet),
        "warc" | "wet" | "wat" => Layer::Container(Container::Warc),
        "arc" if is_arc_record(head) => Layer::Container(Container::Arc),
        "mbox" | "mbx" => Layer::Container(Container::Mbox),
        _ => Layer::Document,
    }
}

/// Records in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonRecords {
    /// JSON lines.
    Lines,
    /// Records that are not one a line: an array of objects, or an object on several lines.
    Array,
}

/// The kind of JSON records that bytes hold, regardless of their name. In JSON lines, the first two lines
/// that are not blank must be objects. In an array, the first element must be an object. The second line and
/// the element may extend beyond `head`.
pub fn json_records(head: &[u8]) -> Option<JsonRecords> {
    let head = without_byte_order_mark(head).trim_ascii_start();
    if let Some(elements) = head.strip_prefix(b"[") {
        return begins_with_object(elements).is_some().then_some(JsonRecords::Array);
    }
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let is_first = lines.next().is_some_and(|line| serde_json::from_slice::<BTreeMap<String, &RawValue>>(line).is_ok());
    let second = lines.next().filter(|_| is_first)?;
    // Only the last line of `head` can be cut.
    let is_record = match begins_with_object(second)? {
        ObjectEnd::At(end) => second[end..].trim_ascii().is_empty(),
        ObjectEnd::Beyond => lines.next().is_none(),
    };
    is_record.then_some(JsonRecords::Lines)
}

/// The kind of JSON records, if `head` begins with a JSON object that has this field. The object may extend
/// beyond `head`, and anything may follow it.
pub fn json_record_with(field: &str, head: &[u8]) -> Option<JsonRecords> {
    let head = without_byte_order_mark(head).trim_ascii_start();
    let mut has_field = false;
    let end = serde_json::Deserializer::from_slice(head).deserialize_map(FieldFinder(field, &mut has_field));
    if !has_field || end.is_err_and(|error| !error.is_eof()) {
        return None;
    }
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_line = first.len() == head.len() || serde_json::from_slice::<IgnoredAny>(first).is_ok();
    Some(if is_line { JsonRecords::Lines } else { JsonRecords::Array })
}

/// Finds a field of an object. The object may be cut off after the field.
struct FieldFinder<'a>(&'a str, &'a mut bool);

impl<'de> Visitor<'de> for FieldFinder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            *self.1 |= key == self.0;
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The end of a JSON object: at this byte, or beyond the examined bytes.
enum ObjectEnd {
    At(usize),
    Beyond,
}

fn begins_with_object(bytes: &[u8]) -> Option<ObjectEnd> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<BTreeMap<String, &RawValue>>();
    match values.next()? {
        Ok(_) => Some(ObjectEnd::At(values.byte_offset())),
        Err(error) => (error.is_eof() && bytes.trim_ascii_start().starts_with(b"{")).then_some(ObjectEnd::Beyond),
    }
}

/// True if bytes are JSON lines and their name has no extension, such as the name of a pipe. `head` is as in
/// [`layer_of`].
pub fn holds_records(name: &str, head: &[u8]) -> bool {
    extension(name).is_empty() && json_records(head) == Some(JsonRecords::Lines)
}

/// The name of the content of compressed data: `a.tar.gz` and `a.tgz` contain `a.tar`.
pub fn name_inside(name: &str) -> String {
    let ending = extension(name);
    // An extension has a point before it.
    let stem = name.len().checked_sub(ending.len() + 1).and_then(|end| name.get(..end)).unwrap_or(name);
    match ending.as_str() {
        "gz" | "zst" | "zstd" | "xz" | "bz2" => stem.to_owned(),
        "tgz" | "taz" | "tzst" | "txz" | "tbz2" | "tbz" => format!("{stem}.tar"),
        _ => name.to_owned(),
    }
}

fn by_bytes(ending: &str, head: &[u8]) -> Layer {
    if head.starts_with(&[0x1f, 0x8b, 8]) {
        return Layer::Compressed(Compression::Gzip);
    }
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Layer::Compressed(Compression::Zstd);
    }
    if head.starts_with(b"\xfd7zXZ\0") {
        return Layer::Compressed(Compression::Xz);
    }
    if is_bzip2(head) {
        return Layer::Compressed(Compression::Bzip2);
    }
    if zip_kind(head).is_some_and(|kind| ending == "zip" || kind == ZipKind::Archive) {
        return Layer::Container(Container::Zip);
    }
    if is_tar(head) {
        return Layer::Container(Container::Tar);
    }
    if head.starts_with(b"PAR1") {
        return Layer::Container(Container::Parquet);
    }
    if head.starts_with(b"WARC/") {
        return Layer::Container(Container::Warc);
    }
    if head.starts_with(b"filedesc:") {
        return Layer::Container(Container::Arc);
    }
    if is_mbox(ending, head) { Layer::Container(Container::Mbox) } else { Layer::Document }
}

/// True if the first line is that of a record of an ARC: an address, other fields, and a length. Other kinds
/// of files use the extension `arc` too.
fn is_arc_record(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    fields.len() >= 5 && fields[0].contains(&b':') && fields[fields.len() - 1].iter().all(u8::is_ascii_digit)
}

/// True if `head` has the mark of a POSIX or GNU archive. The whole mark is compared, since prose can have
/// "mustard" at this offset.
fn is_tar(head: &[u8]) -> bool {
    matches!(head.get(257..263), Some(b"ustar\0" | b"ustar "))
}

/// True for `BZh`, the block size, and the mark of the first block, or of the end if there is no block.
fn is_bzip2(head: &[u8]) -> bool {
    let marks: [&[u8]; 2] = [b"1AY&SY", b"\x17rE8P\x90"];
    head.starts_with(b"BZh") && head.len() >= 10 && head[3].is_ascii_digit() && marks.contains(&&head[4..10])
}

/// True if the first line is a line `From` with a date, and the second line a header. If the name has no
/// extension, as Thunderbird's `Inbox`, the first line needs no date.
fn is_mbox(ending: &str, head: &[u8]) -> bool {
    let mut lines = without_byte_order_mark(head).split(|&byte| byte == b'\n');
    let first = lines.next().and_then(from_line);
    (first == Some(FromLine::Dated) || (first == Some(FromLine::Bare) && ending.is_empty()))
        && lines.next().is_some_and(is_header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_tell() {
        let text = b"It was a dark and stormy night";
        for (name, head, layer) in [
            ("a.txt", &text[..], Layer::Document),
            ("a.txt", b"\x1f\x8b\x08\0", Layer::Compressed(Compression::Gzip)),
            ("a.TGZ", text, Layer::Compressed(Compression::Gzip)),
            ("a", b"\x28\xb5\x2f\xfd", Layer::Compressed(Compression::Zstd)),
            ("a", b"\xfd7zXZ\0\0", Layer::Compressed(Compression::Xz)),
            ("a", b"BZh91AY&SY", Layer::Compressed(Compression::Bzip2)),
            ("BZh.txt", b"BZh9 is how it begins", Layer::Document),
            ("a.jar", b"PK\x03\x04", Layer::Container(Container::Zip)),
            ("a.docx", b"PK\x03\x04", Layer::Document),
            ("a", b"PK\x03\x04____________________________\x08\0\0\0mimetype", Layer::Container(Container::Zip)),
            ("d.x/a", text, Layer::Document),
            ("a.ndjson", b"{}", Layer::Container(Container::JsonLines)),
            ("a", b"PAR1", Layer::Container(Container::Parquet)),
            ("a", b"WARC/1.0\r\n", Layer::Container(Container::Warc)),
            ("a.wet", text, Layer::Container(Container::Warc)),
            ("a", b"filedesc://a", Layer::Container(Container::Arc)),
            ("a.arc", b"http://a.org/ 1.2.3.4 20030609120000 text/html 12\nx", Layer::Container(Container::Arc)),
            ("a.arc", text, Layer::Document),
            ("a", b"From me@example.org Sat Jan  3 01:05:34 1996\nSubject: hello\n", Layer::Container(Container::Mbox)),
            ("a", b"\xEF\xBB\xBFFrom a Sat Jan  3 01:05:34 1996\nTo: b\n", Layer::Container(Container::Mbox)),
            ("Inbox", b"From \r\nX-Mozilla-Status: 0001\r\n", Layer::Container(Container::Mbox)),
            ("a.txt", b"From \nTo: you\n", Layer::Document),
            ("a", b"From the desk of someone in the year 1996\nDear Sir, as follows:\n", Layer::Document),
        ] {
            assert_eq!(layer_of(name, head), layer, "{name} {}", String::from_utf8_lossy(head));
        }
        let mut packed = b"PK\x03\x04".to_vec();
        packed.resize(26, 0);
        packed.extend(b"\x08\0\0\0mimetypeapplication/epub+zip");
        assert_eq!(layer_of("book", &packed), Layer::Document);
        assert_eq!(layer_of("book.zip", &packed), Layer::Container(Container::Zip));
        let mut tar = vec![0; 512];
        for (mark, layer) in [
            (b"ustar\0", Layer::Container(Container::Tar)),
            (b"ustar ", Layer::Container(Container::Tar)),
            (b"ustard", Layer::Document),
        ] {
            tar[257..263].copy_from_slice(mark);
            assert_eq!(layer_of("a", &tar), layer, "{}", String::from_utf8_lossy(mark));
        }
    }

    #[test]
    fn records_are_told_by_what_they_are_where_the_name_tells_nothing() {
        let two = br#"{"id":1,"te\u0078t":"a"}

            {"text":{"x":[2]}}"#;
        assert!(holds_records("-", two) && holds_records("/dev/fd/63", two));
        assert!(!holds_records("a.txt", two), "its name has it");
        for other in [&b""[..], b"{}", b"{}\n", b"{\n}\n", b"{}\n[]\n", b"{}\nprose\n", b"[1]\n[2]\n"] {
            assert!(!holds_records("-", other), "{}", String::from_utf8_lossy(other));
        }
        for (head, records) in [
            (&b"{\"a\":1}\n{\"b\": \"cut of"[..], Some(JsonRecords::Lines)),
            (b"{\"a\":1}\n{\"b\": \"broken\n{}", None),
            (b"{\"a\":1}\n{} {}", None),
            (b"\xef\xbb\xbf [\n {\"a\": 1},\n {\"b\": 2}]", Some(JsonRecords::Array)),
            (b"[{\"a\": \"cut of", Some(JsonRecords::Array)),
            (b"[[{}]]", None),
            (b"[]", None),
            (b"[", None),
            (b"[{not json}]", None),
            (b"{\"a\": [\n{\"b\": 1}\n]}", None),
        ] {
            assert_eq!(json_records(head), records, "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn an_object_with_the_field_is_a_record_whatever_follows() {
        for (head, records) in [
            (&b"{\"text\":\"a\"}"[..], Some(JsonRecords::Lines)),
            (b"\xef\xbb\xbf{\"id\":1,\"text\":null}\n", Some(JsonRecords::Lines)),
            (b"{\"text\":\"a\"}\nnot a record\n", Some(JsonRecords::Lines)),
            (b"{\"id\":1,\"text\":\"cut of", Some(JsonRecords::Lines)),
            (b"{\n\"te\\u0078t\":\"a\"\n}\n", Some(JsonRecords::Array)),
            (b"{\n\"text\":\"cut of", Some(JsonRecords::Array)),
            (b"{\"id\":1,\"in\":{\"text\":\"a\"}}\n", None),
            (b"{\"text\" is set in braces}", None),
            (b"[{\"text\":1}]", None),
            (b"", None),
        ] {
            assert_eq!(json_record_with("text", head), records, "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn compressed_data_has_the_name_without_its_ending() {
        for (name, inside) in [
            ("a.tar.gz", "a.tar"),
            ("a.tgz", "a.tar"),
            ("a.txt.zst", "a.txt"),
            ("a", "a"),
            (".gz", ""),
            ("a.b", "a.b"),
            ("é", "é"),
        ] {
            assert_eq!(name_inside(name), inside);
        }
    }
}
