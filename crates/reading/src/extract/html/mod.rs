//! HTML and XHTML: extracts the visible text of a page, by the rule of `docs/formats.md`.
//!
//! `html5gum` tokenises by the WHATWG standard and reports how far it has read. `emitter` turns its calls
//! into text, and `elements` knows the role of each element. UTF-8 is tokenised directly; any other encoding
//! is transcribed first.

mod elements;
mod emitter;
#[cfg(test)]
mod tests;

use html5gum::Tokenizer;

use self::emitter::Emitter;
use super::Extracted;
use crate::extract::text::builder::TextBuilder;
use crate::extract::text::charset::declared;
use crate::extract::text::source::Utf8Source;

/// Extracts the text of a page.
pub(super) fn extract(bytes: &[u8]) -> Extracted {
    let (source, builder) = read(bytes, false);
    source.lead_back(builder)
}

/// The text of a page, without origins. `xml`: the page is XML.
pub(super) fn text(bytes: &[u8], xml: bool) -> Vec<u8> {
    read(bytes, xml).1.finish().0
}

/// Reads a page. It is XML if `xml` is true or if it has an XML declaration.
fn read(bytes: &[u8], xml: bool) -> (Utf8Source<'_>, TextBuilder) {
    let source = Utf8Source::new(bytes, declared(bytes));
    let text = source.text();
    let xml = xml || text.trim_ascii_start().starts_with("<?xml");
    let mut builder = source.builder(text.len() / 2);
    tokenise(text, 0, xml, &mut builder);
    (source, builder)
}

/// Adds the text of the markup in `source`, from its byte `from` on.
pub(super) fn tokenise(source: &str, from: usize, xml: bool, builder: &mut TextBuilder) {
    let emitter = Emitter::new(source.as_bytes(), from, xml, builder);
    // Reading from memory cannot fail.
    let Ok(()) = Tokenizer::new_with_emitter(&source.as_bytes()[from..], emitter).finish();
}

/// The text of a page that is already decoded. Any declared encoding is ignored.
pub(super) fn text_of_str(page: &str) -> String {
    let mut builder = TextBuilder::new(page.len() / 2, 0);
    tokenise(page, 0, false, &mut builder);
    String::from_utf8(builder.finish().0).unwrap_or_default()
}
