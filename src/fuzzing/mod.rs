//! Properties of all code that reads bytes which others have written, for any bytes: one property for each
//! reader, a function that panics where it does not hold.
//!
//! The targets in `fuzz/` look for such bytes, and `make test` gives each property those in `tests/corpus/`: samples,
//! and all that was ever found. No part of the library: it is there for tests and for fuzzing alone.

mod draw;
mod kernel;
#[cfg(test)]
mod replay;

pub(crate) use draw::Draw;

use crate::document::Format;
use crate::extract::properties as extract;
use crate::input::properties as input;
use crate::normalize::properties as normalize;
use crate::store::properties as store;
use crate::winnow::properties as winnow;

/// A property of any bytes.
pub type Property = fn(&[u8]);

/// All properties, by the names of their fuzz targets and of their folders in `tests/corpus/`.
pub const PROPERTIES: [(&str, Property); 32] = [
    ("arc", |data| input::container("a", data)),
    ("choose", input::choose),
    ("code", normalize::code),
    ("compressed", input::compressed),
    ("document_set", store::document_set),
    ("docx", |data| extract::packed(Format::Docx, data)),
    ("epub", |data| extract::packed(Format::Epub, data)),
    ("filter", store::filter),
    ("html", |data| extract::document(Format::Html, data)),
    ("http", input::http),
    ("json_lines", |data| input::container("a.jsonl", data)),
    ("kernel", kernel::kernel),
    ("keys", store::keys),
    ("mail", |data| extract::document(Format::Mail, data)),
    ("markdown", |data| extract::document(Format::Markdown, data)),
    ("mbox", |data| input::container("a.mbox", data)),
    ("metadata", input::metadata),
    ("normalize", normalize::normalize),
    ("notebook", |data| extract::document(Format::Notebook, data)),
    ("odt", |data| extract::packed(Format::Odt, data)),
    ("parquet", |data| input::container("a.parquet", data)),
    ("pdf", extract::pdf),
    ("positions", store::positions),
    ("posting_block", store::posting_block),
    ("reader_answer", crate::extract::process::check_answer),
    ("records", store::records),
    ("stored_text", store::stored_text),
    ("tar", |data| input::container("a.tar", data)),
    ("tex", |data| extract::document(Format::Tex, data)),
    ("warc", |data| input::container("a.warc", data)),
    ("winnow", winnow::winnow),
    ("zip", |data| input::container("a.zip", data)),
];

/// Panics unless the property of this name holds of these bytes.
pub fn check(name: &str, data: &[u8]) {
    let (_, property) = PROPERTIES.iter().find(|(known, _)| *known == name).expect("a property of this name");
    property(data);
}
