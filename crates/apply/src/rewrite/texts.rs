//! Texts: removes passages from texts, in whole files and in fields of records.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use roaring::RoaringBitmap;
use serde_json::value::RawValue;

use super::frames;
use super::stream::{self, Cuts};
use crate::check::Cut;
use crate::cutting::Cutting;
use crate::files::BUFFER;
use crate::passages::NO_DOCUMENT;
use fpdb_host::bounded::without_byte_order_mark;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{JsonText, compression_of};

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
    /// The field that holds the text.
    pub(super) field: &'a str,
    /// The documents whose records are left out.
    pub(super) emptied: &'a RoaringBitmap,
}

impl Texts<'_> {
    /// The text of the record that begins at this place, without its passages. `None` if the record keeps its
    /// text.
    ///
    /// # Errors
    /// Fails if `text` is not the text that was ingested.
    pub(super) fn text(&self, text: &[u8], start: u64) -> Result<Option<Vec<u8>>> {
        let Ok(index) = self.cuts.binary_search_by_key(&start, |cut| cut.start) else { return Ok(None) };
        let id = self.cuts[index].id;
        let cut = self.cutting.cut(id, text)?;
        cut.map(Some).ok_or_else(|| Error::TextGone { name: format!("document {id}"), source_path: None })
    }

    /// True if the copy lacks the whole record of this cut: the content of the record is kept out, or no
    /// symbol of its text would be left.
    pub(super) fn leaves_out(&self, cut: &Cut) -> bool {
        cut.id == NO_DOCUMENT || self.emptied.contains(cut.id)
    }

    /// A line of JSON without the passages of its text. All other bytes stay. Empty if the record is left
    /// out.
    pub(super) fn line(&self, line: &[u8], at: u64) -> Result<Option<Vec<u8>>> {
        let Ok(index) = self.cuts.binary_search_by_key(&at, |cut| cut.start) else { return Ok(None) };
        if self.cuts[index].id == NO_DOCUMENT {
            return Ok(Some(Vec::new()));
        }
        let failed = |error: serde_json::Error| {
            Error::Document(DocumentError::NotARecord { format: "JSON", source: error.into() })
        };
        let body = without_byte_order_mark(line);
        // The last value of a repeated key counts, as in an ingest.
        let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body).map_err(failed)?;
        let Some(raw) = fields.get(self.field) else {
            return Err(Error::Document(DocumentError::NoField { field: self.field.to_owned() }));
        };
        let JsonText(text) = serde_json::from_str(raw.get()).map_err(failed)?;
        let Some(left) = self.text(&text.unwrap_or_default(), at)? else { return Ok(None) };
        if self.leaves_out(&self.cuts[index]) {
            return Ok(Some(Vec::new()));
        }
        let quoted = quoted(&left).map_err(failed)?;
        let start = raw.get().as_ptr() as usize - line.as_ptr() as usize;
        let end = start + raw.get().len();
        Ok(Some([&line[..start], quoted.as_bytes(), &line[end..]].concat()))
    }
}

/// A text as a JSON string. Halves of surrogate pairs, which JSON allows and UTF-8 does not, become escapes.
fn quoted(text: &[u8]) -> serde_json::Result<String> {
    let mut string = String::from("\"");
    let mut rest = text;
    loop {
        let valid = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
        let (valid, after) = rest.split_at(valid);
        let plain = serde_json::to_string(&String::from_utf8_lossy(valid))?;
        string.push_str(plain.get(1..plain.len() - 1).unwrap_or_default());
        match *after {
            [] => break,
            [0xed, high, low, ..] => {
                let unit = 0xd000 | u32::from(high & 0x3f) << 6 | u32::from(low & 0x3f);
                string.push_str(&format!("\\u{unit:04x}"));
                rest = &after[3..];
            }
            _ => return Err(serde::de::Error::custom("the text is no UTF-8")),
        }
    }
    string.push('"');
    Ok(string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_so_that_they_are_read_back() {
        for json in [r#""""#, r#""plain “é” \n \u0001 \"""#, r#""x \ud83d y""#, r#""\udc00\ud83d\ude00\ud800""#] {
            let JsonText(text) = serde_json::from_str(json).unwrap();
            let again = quoted(&text.clone().unwrap()).unwrap();
            let JsonText(read) = serde_json::from_str(&again).unwrap();
            assert_eq!(read, text, "{json} {again}");
        }
        assert!(quoted(b"\xff").is_err());
    }
}
