//! Jupyter notebooks: extracts the source of each cell, with the places of its characters in the JSON.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Extracted, markdown};
use crate::extract::text::builder::{TextBuilder, compose};
use crate::extract::text::source::Utf8Source;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::{Format, Span};

/// The parts of a notebook that are read. Outputs of cells are not read.
#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow, default)]
    cells: Vec<Cell<'a>>,
    /// In version 3 of the format, worksheets contain the cells.
    #[serde(borrow, default)]
    worksheets: Vec<Worksheet<'a>>,
}

#[derive(Deserialize)]
struct Worksheet<'a> {
    #[serde(borrow, default)]
    cells: Vec<Cell<'a>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(borrow)]
    cell_type: &'a RawValue,
    /// A string, or a list of strings to be joined. In version 3, code is named `input`.
    #[serde(borrow, alias = "input")]
    source: Option<&'a RawValue>,
}

/// Extracts the text of a notebook.
pub(super) fn extract(bytes: &[u8]) -> Result<Extracted> {
    let broken = |error: serde_json::Error| {
        Error::Document(DocumentError::NotOfFormat {
            format: Format::Notebook.name(),
            detail: "it is not the JSON of a notebook".into(),
            source: Some(error.into()),
        })
    };
    let source = Utf8Source::new(bytes, None);
    let mut builder = source.builder(bytes.len() / 2);
    let json = source.text();
    let notebook: Notebook<'_> = serde_json::from_str(json).map_err(broken)?;
    let worksheets = notebook.worksheets.iter().flat_map(|worksheet| &worksheet.cells);
    for cell in notebook.cells.iter().chain(worksheets) {
        let Some(written) = cell.source else { continue };
        let mut text = TextBuilder::default();
        match written.get().starts_with('[') {
            true => {
                let lines: Vec<&RawValue> = serde_json::from_str(written.get()).map_err(broken)?;
                lines.iter().for_each(|line| unescape(json, line.get(), &mut text));
            }
            false => unescape(json, written.get(), &mut text),
        }
        let end = offset(json, written.get()) + written.get().len();
        let (text, segments) = text.finish();
        if cell.cell_type.get() == "\"markdown\"" {
            let mut read = TextBuilder::default();
            markdown::read(str::from_utf8(&text).unwrap_or_default(), &mut read);
            let (read, origins) = read.finish();
            compose((&read, &origins), (&text, &segments), &mut builder);
        } else {
            let whole = [super::Segment { text: 0, origin: Span { start: 0, end: text.len() as u64 } }];
            compose((&text, &whole[..usize::from(!text.is_empty())]), (&text, &segments), &mut builder);
        }
        builder.separate(end as u64);
    }
    Ok(source.lead_back(builder))
}

/// Offset of `part`, a slice of `json`, in `json`.
fn offset(json: &str, part: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(json.as_ptr() as usize)
}

/// Adds the characters of a JSON string in `json`. Other values add nothing.
fn unescape(json: &str, string: &str, builder: &mut TextBuilder) {
    let Some(inner) = string.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) else { return };
    let begin = offset(json, inner);
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let plain = memchr::memchr(b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
        builder.verbatim(&bytes[at..at + plain], (begin + at) as u64);
        at += plain;
        let Some((character, length)) = escaped(&inner[at..]) else { continue };
        let origin = Span { start: (begin + at) as u64, end: (begin + at + length) as u64 };
        builder.replaced(character.encode_utf8(&mut [0; 4]).as_bytes(), origin);
        at += length;
    }
}

/// The character of the escape at the start of `text`, and the length of the escape.
fn escaped(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return Some(unicode(text)),
        _ => text.chars().nth(1)?,
    };
    Some((character, 1 + character_length(text)))
}

/// Bytes of the character after the backslash.
fn character_length(text: &str) -> usize {
    text.chars().nth(1).map_or(0, char::len_utf8)
}

/// Like [`escaped`], for `\u`. A surrogate pair is one character; a single surrogate is U+FFFD.
fn unicode(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(0).unwrap_or(0xFFFD);
    if (0xD800..0xDC00).contains(&first)
        && let Some(second @ 0xDC00..0xE000) = unit(6)
        && let Some(character) = char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    {
        return (character, 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6.min(text.len()))
}
