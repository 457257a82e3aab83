//! Texts without some passages of them: whole files, and fields of records.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::value::RawValue;

use super::super::check::Cut;
use super::super::files::BUFFER;
use super::super::passages::Cutting;
use super::frames;
use super::stream::{self, Cuts};
use crate::error::{DocumentError, Error, Result};
use crate::input::compression_of;
use crate::stop::StopToken;

/// Copies a file that is one document, compressed or not, without some ranges of the document.
pub(super) fn document(path: &Path, ranges: &[(u64, u64)], output: &mut File, stop: &StopToken) -> Result<()> {
    let mut output = BufWriter::with_capacity(BUFFER, output);
    let cuts = Cuts::of_ranges(ranges.iter().copied());
    match compression_of(path)? {
        None => stream::without(path, cuts, &mut output, stop)?,
        Some(compression) => frames::without(path, compression, cuts, &mut output, stop)?,
    }
    output.flush().map_err(Error::io("write", path))
}

/// The texts of records that lose passages.
pub(super) struct Texts<'a> {
    pub(super) cuts: &'a [Cut],
    pub(super) cutting: &'a Cutting<'a>,
    /// The field that they are in.
    pub(super) field: &'a str,
}

impl Texts<'_> {
    /// The text of the record that begins at this place, without its passages; `None` where it stays.
    ///
    /// # Errors
    /// That the text is not the document's.
    pub(super) fn text(&self, text: &[u8], start: u64) -> Result<Option<Vec<u8>>> {
        let Ok(index) = self.cuts.binary_search_by_key(&start, |cut| cut.start) else { return Ok(None) };
        let id = self.cuts[index].id;
        let cut = self.cutting.cut(id, text)?;
        cut.map(Some).ok_or_else(|| Error::TextGone { name: format!("document {id}"), source_path: None })
    }

    /// A line of JSON without the passages of its text, and every other byte as it was.
    pub(super) fn line(&self, line: &[u8], at: u64) -> Result<Option<Vec<u8>>> {
        if self.cuts.binary_search_by_key(&at, |cut| cut.start).is_err() {
            return Ok(None);
        }
        let failed = |error: serde_json::Error| {
            Error::Document(DocumentError::NotARecord { format: "JSON", source: error.into() })
        };
        let body = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        // Of a key that is repeated the last value counts, as in an ingest.
        let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body).map_err(failed)?;
        let Some(raw) = fields.get(self.field) else {
            return Err(Error::Document(DocumentError::NoField { field: self.field.to_owned() }));
        };
        let text: String = serde_json::from_str(raw.get()).map_err(failed)?;
        let Some(left) = self.text(text.as_bytes(), at)? else { return Ok(None) };
        // Passages begin and end between characters.
        let quoted = serde_json::to_string(&String::from_utf8_lossy(&left)).map_err(failed)?;
        let start = raw.get().as_ptr() as usize - line.as_ptr() as usize;
        let end = start + raw.get().len();
        Ok(Some([&line[..start], quoted.as_bytes(), &line[end..]].concat()))
    }
}
