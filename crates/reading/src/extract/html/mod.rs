//! HTML and XHTML: what a reader of the page sees, by the rule that `docs/formats.md` states.
//!
//! `html5gum` tokenises as the WHATWG standard says, and tells how far it has read; `emitter` makes text of its calls,
//! `elements` knows what each element means. UTF-8 is tokenised where it stands; any other encoding is transcribed
//! first.

mod elements;
mod emitter;
#[cfg(test)]
mod tests;

use html5gum::Tokenizer;

use self::emitter::Emitter;
use super::Extracted;
use super::builder::TextBuilder;
use super::charset::declared;
use super::source::Utf8Source;

/// The text of a page.
pub(super) fn extract(bytes: &[u8]) -> Extracted {
    let (source, builder) = read(bytes, false);
    source.lead_back(builder)
}

/// The text of a page without where it came from. It is XML where `xml` says so.
pub(super) fn text(bytes: &[u8], xml: bool) -> Vec<u8> {
    read(bytes, xml).1.finish().0
}

/// Reads a page, which is XML where `xml` says so, or the page itself by an XML declaration.
fn read(bytes: &[u8], xml: bool) -> (Utf8Source<'_>, TextBuilder) {
    let source = Utf8Source::new(bytes, declared(bytes));
    let text = source.text();
    let xml = xml || text.trim_ascii_start().starts_with("<?xml");
    let mut builder = source.builder(text.len() / 2);
    tokenise(text, 0, xml, &mut builder);
    (source, builder)
}

/// Adds the text of the markup in `source` from its byte `from` on.
pub(super) fn tokenise(source: &str, from: usize, xml: bool, builder: &mut TextBuilder) {
    let emitter = Emitter::new(source.as_bytes(), from, xml, builder);
    // Reading from memory cannot fail.
    let Ok(()) = Tokenizer::new_with_emitter(&source.as_bytes()[from..], emitter).finish();
}

/// The text of a page that has been decoded already, whatever it declares.
pub(super) fn text_of_str(page: &str) -> String {
    let mut builder = TextBuilder::new(page.len() / 2, 0);
    tokenise(page, 0, false, &mut builder);
    String::from_utf8(builder.finish().0).unwrap_or_default()
}
