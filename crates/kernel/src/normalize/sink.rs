//! Sink: receives decoded text and turns it into symbols.

use super::symbols::Symbols;

/// Turns decoded text into symbols. Calls come in the order of the document.
pub(super) trait Sink {
    /// Takes text that is UTF-8 in the document too. Its first byte is the document's byte `at`.
    fn text(&mut self, text: &str, at: u64, out: &mut Symbols);
    /// Reads the plain ASCII at the start of `bytes`, up to an ESC if `stop_at_escape`. Reports the newlines
    /// of this ASCII text and returns its length. Returns `None` if the sink has no faster way than
    /// [`text`](Self::text).
    fn ascii(&mut self, _bytes: &[u8], _at: u64, _stop_at_escape: bool, _out: &mut Symbols) -> Option<usize> {
        None
    }
    /// Takes one character, which comes from the document's bytes `start..end`.
    fn char(&mut self, c: char, start: u64, end: u64, out: &mut Symbols);
    /// Ends the current segment or word, at an invalid sequence or the end of the document.
    fn cut(&mut self, out: &mut Symbols);
}
