//! Jupyter notebooks: extracts the source of each cell, with the places of its characters in the JSON.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Extracted, markdown};
use crate::extract::text::builder::{TextBuilder, compose};
use crate::extract::text::source::Utf8Source;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::{Format, Language, Span};
use fpdb_kernel::normalize::{PROGRAM_END, line_comment};

/// The parts of a notebook that are read. Outputs of cells are not read.
#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow, default)]
    cells: Vec<Cell<'a>>,
    /// In version 3 of the format, worksheets contain the cells.
    #[serde(borrow, default)]
    worksheets: Vec<Worksheet<'a>>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

/// The metadata that tell the language. Notebooks that never ran have no `language_info`.
#[derive(Default, Deserialize)]
struct Metadata {
    language_info: Option<Named>,
    kernelspec: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    language: Option<String>,
    name: Option<String>,
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
    /// In version 3, the language of code.
    #[serde(borrow)]
    language: Option<&'a RawValue>,
}

/// The language of a notebook that states none. Programs that show notebooks assume the same language.
const DEFAULT_LANGUAGE: &str = "python";

impl Notebook<'_> {
    /// All cells.
    fn cells(&self) -> impl Iterator<Item = &Cell<'_>> {
        self.cells.iter().chain(self.worksheets.iter().flat_map(|worksheet| &worksheet.cells))
    }

    /// The programming language; `None` if it is not known. PHP does not count as known: its code begins with
    /// a mark, which cells do not have.
    fn language(&self) -> Option<Language> {
        let metadata = self.metadata.map_or(Ok(Metadata::default()), |metadata| serde_json::from_str(metadata.get()));
        let Metadata { language_info, kernelspec } = metadata.ok()?;
        let of_kernel = kernelspec.and_then(|kernel| kernel.language.or(kernel.name));
        let of_cell = || self.cells().find_map(|cell| Some(cell.language?.get().trim_matches('"').to_owned()));
        let stated = language_info.and_then(|info| info.name).or(of_kernel).or_else(of_cell);
        let stated = stated.unwrap_or_else(|| DEFAULT_LANGUAGE.to_owned()).to_ascii_lowercase();
        let name = match stated.as_str() {
            "c++" => "cpp",
            "c#" => "csharp",
            // A kernel may be named `python3`.
            other => other.trim_end_matches(|character: char| character.is_ascii_digit()),
        };
        Format::named(name).and_then(Format::language).filter(|&language| language != Language::Php)
    }
}

/// Extracts the text of a notebook.
pub(super) fn extract(bytes: &[u8]) -> Result<Extracted> {
    read(bytes, |_| None)
}

/// Extracts the text of a notebook as source code, if its language is known. Cells of prose become comments.
pub(super) fn extract_code(bytes: &[u8]) -> Result<Extracted> {
    read(bytes, |notebook| notebook.language())
}

fn read(bytes: &[u8], language: impl FnOnce(&Notebook<'_>) -> Option<Language>) -> Result<Extracted> {
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
    let language = language(&notebook);
    for cell in notebook.cells() {
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
        let (mut text, mut segments) = text.finish();
        if cell.cell_type.get() == "\"markdown\"" {
            let mut read = TextBuilder::default();
            markdown::read(str::from_utf8(&text).unwrap_or_default(), 0, &mut read);
            (text, segments) = composed(read, &text, &segments);
        }
        if let Some(language) = language
            && cell.cell_type.get() != "\"code\""
        {
            (text, segments) = composed(commented(&text, line_comment(language)), &text, &segments);
        }
        let whole = [super::Segment { text: 0, origin: Span { start: 0, end: text.len() as u64 } }];
        compose((&text, &whole[..usize::from(!text.is_empty())]), (&text, &segments), &mut builder);
        builder.separate(end as u64);
        if language.is_some() {
            // A kernel reads each cell by itself, so an unclosed string or comment must not hide the next
            // cell.
            builder.replaced(PROGRAM_END.as_bytes(), Span { start: end as u64, end: end as u64 });
        }
    }
    Ok(Extracted { language, ..source.lead_back(builder) })
}

/// The text and segments of `outer`. The origins of `outer` are offsets in `text`, and are mapped to the
/// origins of `text`.
fn composed(outer: TextBuilder, text: &[u8], segments: &[super::Segment]) -> (Vec<u8>, Vec<super::Segment>) {
    let (outer, origins) = outer.finish();
    let mut builder = TextBuilder::default();
    compose((&outer, &origins), (text, segments), &mut builder);
    builder.finish()
}

/// The text with a mark before each line.
fn commented(text: &[u8], mark: &str) -> TextBuilder {
    let mut builder = TextBuilder::default();
    let (mut at, mut end_of_line) = (0, 0);
    for line in lines(text) {
        builder.replaced(format!("{mark} ").as_bytes(), Span { start: at - end_of_line, end: at });
        builder.verbatim(line, at);
        at += line.len() as u64;
        // The Markdown reader makes each newline a segment of its own, but keeps other ends of lines inside a
        // segment. After such an end, the mark takes the bytes of the end as its origin: with an empty
        // origin, the origins would not ascend.
        end_of_line = match line {
            [.., b'\r'] => 1,
            [.., b'\n'] => 0,
            _ => 3.min(at),
        };
    }
    builder
}

/// The lines of a text, each with its end. Any character that ends a line in some language counts.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = |&at: &usize| match text[at - 1] {
        b'\n' => true,
        b'\r' => text.get(at) != Some(&b'\n'),
        _ => matches!(&text[..at], [.., 0xE2, 0x80, 0xA8 | 0xA9]),
    };
    let mut begin = 0;
    let ends = (1..text.len()).filter(ends).chain((!text.is_empty()).then_some(text.len()));
    ends.map(move |end| &text[std::mem::replace(&mut begin, end)..end])
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

/// Length in bytes of the character after the backslash.
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
