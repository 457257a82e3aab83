//! Sink: where decoded text goes, to become symbols.

use super::symbols::Symbols;

/// Makes symbols of decoded text. Calls come in the order of the document.
pub(super) trait Sink {
    /// A run of text that is UTF-8 in the document too: `text` begins at its byte `at`.
    fn text(&mut self, text: &str, at: u64, out: &mut Symbols);
    /// The plain ASCII that `bytes` begins with, which ESC ends as well if `stop_at_escape`: gives its length and reports
    /// its newlines. `None` from sinks that know no better than [`text`](Self::text).
    fn ascii(&mut self, _bytes: &[u8], _at: u64, _stop_at_escape: bool, _out: &mut Symbols) -> Option<usize> {
        None
    }
    /// One character, which the document's bytes `start..end` stand for.
    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols);
    /// Nothing that follows joins what came before: a gap, or the end of the document.
    fn cut(&mut self, out: &mut Symbols);
}
