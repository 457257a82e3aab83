//! Text limit: the largest texts that are compared symbol by symbol.

use fpdb_store::DocumentRecord;

/// The largest text to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLimit {
    /// Maximum number of bytes of the document.
    pub(super) bytes: u64,
    /// Maximum number of symbols, in all views together. A small compressed document can have very many.
    symbols: u64,
}

impl TextLimit {
    /// Larger documents are not compared symbol by symbol. A symbol takes 16 bytes of memory, and two
    /// documents are held in addition to the [`TextCache`](super::TextCache).
    pub(crate) const COMPARED: Self = Self { bytes: 32 << 20, symbols: 32 << 20 };

    /// Texts of any size.
    pub(super) const NONE: Self = Self::of_bytes(u64::MAX);

    /// Documents of at most this number of bytes.
    pub(crate) const fn of_bytes(bytes: u64) -> Self {
        Self { bytes, symbols: u64::MAX }
    }

    /// True if a document of this number of bytes, with these symbols in each view, may be read.
    pub(super) fn allows(&self, bytes: u64, symbols: [u64; 2]) -> bool {
        bytes <= self.bytes && symbols[0].saturating_add(symbols[1]) <= self.symbols
    }

    /// True if this stored document may be read.
    pub(super) fn allows_document(&self, record: &DocumentRecord) -> bool {
        self.allows(record.bytes, [record.symbols, record.text_view.0.map_or(0, |text| text.symbols)])
    }
}

#[cfg(test)]
mod tests {
    use super::TextLimit;

    #[test]
    fn bytes_and_the_symbols_of_both_views_are_limited() {
        let (limit, of_bytes) = (TextLimit { bytes: 9, symbols: 10 }, TextLimit::of_bytes(9));
        assert!(limit.allows(9, [4, 6]));
        assert!(!limit.allows(10, [4, 6]) && !limit.allows(9, [4, 7]) && !limit.allows(1, [u64::MAX; 2]));
        assert!(of_bytes.allows(9, [u64::MAX; 2]) && !of_bytes.allows(10, [0; 2]));
    }
}
