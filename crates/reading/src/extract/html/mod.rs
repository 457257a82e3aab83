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

/// Reads a page. It is XML if `xml` is true, if it has an XML declaration, or if its root is in the namespace
/// of XHTML.
fn read(bytes: &[u8], xml: bool) -> (Utf8Source<'_>, TextBuilder) {
    let source = Utf8Source::new(bytes, declared(bytes));
    let text = source.text();
    let xml = xml || text.trim_ascii_start().starts_with("<?xml") || has_xhtml_root(text);
    let mut builder = source.builder(text.len() / 2);
    tokenise(text, 0, xml, &mut builder);
    (source, builder)
}

/// True if the root element of a page is in the namespace of XHTML.
fn has_xhtml_root(page: &str) -> bool {
    const REACH: usize = 16 << 10;
    let head = &page.as_bytes()[..page.len().min(REACH)];
    let root = memchr::memmem::find(head, b"<html").map_or(&[][..], |at| &head[at..]);
    let tag = &root[..memchr::memchr(b'>', root).unwrap_or(0)];
    memchr::memmem::find(tag, b"http://www.w3.org/1999/xhtml").is_some()
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
