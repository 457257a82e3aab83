//! Quotations: finds the parts of a document in quotation marks, which the author attributes to someone else.
//!
//! A quotation ends with the closing mark that fits its opening mark, in the same paragraph. A mark without
//! such an end opens no quotation. Single marks open no quotation either, since they are mostly apostrophes.

use fpdb_host::error::Result;
use fpdb_kernel::document::{Format, Offsets, Span};
use fpdb_kernel::normalize::Readable;
use fpdb_reading::extract::{self, Map};
use fpdb_reading::input::InputLimits;

/// The name of this feature in error messages.
pub(super) const SKIPPING_QUOTATIONS: &str = "skipping quotations";

/// The quotations of a document, marks included, ascending and disjoint, in the document's own offsets.
///
/// # Errors
/// Fails if the text cannot be extracted.
pub(super) fn quotations(bytes: &[u8], format: Format, limits: &InputLimits) -> Result<Vec<Span>> {
    if !extract::applies(format) {
        return Ok(find(Readable::decode(bytes).characters()));
    }
    let extracted = extract::extract(format, bytes, limits)?;
    let mut at = 0;
    let characters = extracted.text.utf8_chunks().flat_map(|chunk| {
        let start = at;
        at += (chunk.valid().len() + chunk.invalid().len()) as u64;
        chunk.valid().char_indices().map(move |(index, c)| {
            let start = start + index as u64;
            (c, Span { start, end: start + c.len_utf8() as u64 })
        })
    });
    let found = find(characters);
    if extracted.offsets == Offsets::Extracted {
        return Ok(found);
    }
    let mut map = Map::new(&extracted.segments, extracted.text.len() as u64);
    Ok(found.into_iter().map(|span| map.origin(span)).collect())
}

/// The closing marks for this opening mark.
fn ends(mark: char) -> Option<&'static [char]> {
    Some(match mark {
        '"' => &['"'],
        '\u{FF02}' => &['\u{FF02}'],
        '“' | '”' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '»' => &['«', '»'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// Finds quotations among characters, each given with its byte span.
fn find(characters: impl Iterator<Item = (char, Span)>) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Option<(&[char], u64)> = None;
    let (mut before, mut line_is_empty) = (' ', false);
    for (c, at) in characters {
        match open {
            Some((ends, start)) if ends.contains(&c) => {
                found.push(Span { start, end: at.end });
                open = None;
            }
            Some(_) if c == '\n' && line_is_empty => open = None,
            Some(_) => {}
            // A straight mark after a letter or digit closes a quotation, or means inches.
            None if c == '"' && before.is_alphanumeric() => {}
            None => open = ends(c).map(|ends| (ends, at.start)),
        }
        line_is_empty = c == '\n' || (line_is_empty && c.is_whitespace());
        before = c;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Vec<&str> {
        let spans = quotations(text.as_bytes(), Format::Text, &InputLimits::default()).unwrap();
        spans.into_iter().map(|span| &text[span.start as usize..span.end as usize]).collect()
    }

    #[test]
    fn a_quotation_ends_with_its_own_mark_in_its_own_paragraph() {
        assert_eq!(quoted("He said \"no\", and “yes “and” no”."), ["\"no\"", "“yes “and”"]);
        assert_eq!(quoted("Er sagte „nein“, »ja« und „vielleicht”."), ["„nein“", "»ja«", "„vielleicht”"]);
        assert_eq!(
            quoted("Elle dit : « non, il dit \"oui\" » ; 彼は「いいえ」と"),
            ["« non, il dit \"oui\" »", "「いいえ」"]
        );
        assert_eq!(quoted("A 3\" pipe, 'single', it's. \"Two\nlines.\""), ["\"Two\nlines.\""]);
        assert_eq!(quoted("\"Never ended.\n \nThe next, with \"one\" in it."), ["\"one\""]);
        assert_eq!(quoted("\"Never ended"), [""; 0]);
    }

    #[test]
    fn offsets_are_those_of_the_document() {
        let utf16: Vec<u8> = "ab “cd” e".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let with_mark = [&[0xFF, 0xFE][..], &utf16].concat();
        let spans = quotations(&with_mark, Format::Text, &InputLimits::default()).unwrap();
        assert_eq!(spans.len(), 1);
        assert_eq!((spans[0].start, spans[0].end), (8, 16));
        let html = "<p class=\"a\">He said &ldquo;no&rdquo; to \"all\"</p>";
        let spans = quotations(html.as_bytes(), Format::Html, &InputLimits::default()).unwrap();
        let texts: Vec<&str> = spans.iter().map(|span| &html[span.start as usize..span.end as usize]).collect();
        assert_eq!(texts, ["&ldquo;no&rdquo;", "\"all\""]);
    }
}
