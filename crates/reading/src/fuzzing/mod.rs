//! Properties of all code that reads documents, which must hold for any bytes: see
//! `crates/kernel/src/fuzzing`.

#[cfg(test)]
#[path = "../../../../tests/corpus.rs"]
mod replay;

use fpdb_kernel::document::Format;

use crate::extract::properties as extract;
use crate::input::properties as input;

/// A property of any bytes.
pub type Property = fn(&[u8]);

/// All properties. Each has the name of its fuzz target and of its folder in `tests/corpus/`.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("arc", |data| input::container("a", data)),
    ("choose", input::choose),
    ("compressed", input::compressed),
    ("docx", |data| extract::packed(Format::Docx, data)),
    ("epub", |data| extract::packed(Format::Epub, data)),
    ("html", |data| extract::document(Format::Html, data)),
    ("http", input::http),
    ("json_lines", |data| input::container("a.jsonl", data)),
    ("mail", |data| extract::document(Format::Mail, data)),
    ("markdown", |data| extract::document(Format::Markdown, data)),
    ("mbox", |data| input::container("a.mbox", data)),
    ("metadata", input::metadata),
    ("notebook", |data| extract::document(Format::Notebook, data)),
    ("odt", |data| extract::packed(Format::Odt, data)),
    ("parquet", |data| input::container("a.parquet", data)),
    ("pdf", extract::pdf),
    ("reader_answer", crate::extract::process::check_answer),
    ("tar", |data| input::container("a.tar", data)),
    ("tex", |data| extract::document(Format::Tex, data)),
    ("warc", |data| input::container("a.warc", data)),
    ("zip", |data| input::container("a.zip", data)),
];
