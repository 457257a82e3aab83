//! Text sequence: reads the texts of many stored documents in a known order. Members of one container are
//! read in one pass, as many as fit in memory, even if the container is large.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::text::{Bytes, DocumentText, StoredTexts, Symboliser, as_counted};
use super::text_limit::TextLimit;
use super::text_unavailable::TextUnavailable;
use fpdb_dedup::TextDigest;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Format;
use fpdb_reading::input::InputLimits;
use fpdb_store::Store;

/// Reads texts in order.
pub(crate) struct TextSequence<'a> {
    store: &'a Store,
    limits: InputLimits,
    order: Vec<u32>,
    /// The index of each document in the order.
    places: FxHashMap<u32, usize>,
    texts: StoredTexts<'a>,
    symboliser: Symboliser,
    /// Documents before this index were announced, and are read in one pass.
    expected: usize,
}

impl<'a> TextSequence<'a> {
    /// Reads the documents in `order`, which must have no duplicates. A text must keep to the `limits`.
    pub(crate) fn new(store: &'a Store, order: Vec<u32>, limits: InputLimits) -> Self {
        let places = order.iter().copied().zip(0..).collect();
        let texts = StoredTexts::new(store, limits.clone()).in_any_container();
        let symboliser = Symboliser::new(&store.profile().structure_view()).with_limits(&limits);
        Self { store, limits, order, places, texts, symboliser, expected: 0 }
    }

    /// The text of a document, or why it is not available.
    ///
    /// # Errors
    /// Fails if the store cannot be read, or the text cannot be extracted.
    pub(crate) fn text(&mut self, id: u32) -> Result<std::result::Result<DocumentText, &'static str>> {
        let (format, bytes) = self.bytes(id, TextLimit::NONE)?;
        Ok(match bytes {
            Bytes::Here(bytes) => Ok(as_counted(bytes, format, self.store.profile().unit(), &self.limits)?),
            Bytes::Unavailable(why) => Err(why.document()),
        })
    }

    /// The bytes of a document and its format; or why the bytes are not available. A document larger
    /// than `limit` is not read.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) fn original(
        &mut self,
        id: u32,
        limit: TextLimit,
    ) -> Result<std::result::Result<(Vec<u8>, Format), TextUnavailable>> {
        let (format, bytes) = self.bytes(id, limit)?;
        Ok(match bytes {
            Bytes::Here(bytes) => Ok((bytes, format)),
            Bytes::Unavailable(why) => Err(why),
        })
    }

    /// The digest of a document's symbols.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) fn digest_of_symbols(&mut self, id: u32) -> Result<TextDigest> {
        let (format, bytes) = self.bytes(id, TextLimit::COMPARED)?;
        let bytes = match bytes {
            Bytes::Here(bytes) => bytes,
            Bytes::Unavailable(TextUnavailable::TooLarge) => return Ok(TextDigest::TooLarge),
            Bytes::Unavailable(_) => return Ok(TextDigest::Unavailable),
        };
        let Ok(text) = self.symboliser.read(&bytes, format) else { return Ok(TextDigest::Unavailable) };
        let symbols = xxh3_128(bytemuck::cast_slice(text.values())).to_be_bytes();
        Ok(TextDigest::Read(match text.unread().count {
            0 => symbols,
            _ => xxh3_128(&[symbols, text.unread().digest].concat()).to_be_bytes(),
        }))
    }

    fn bytes(&mut self, id: u32, limit: TextLimit) -> Result<(Format, Bytes)> {
        if let Some(&place) = self.places.get(&id)
            && place >= self.expected
        {
            self.expect_from(place)?;
        }
        let record = self.store.document(id)?;
        let bytes = self.texts.bytes_of(id, &record, limit)?;
        Ok((Format::named(&record.format).unwrap_or_default(), bytes))
    }

    /// Announces the documents from this index on, as many as there is room for, and at least one.
    fn expect_from(&mut self, place: usize) -> Result<()> {
        self.texts = StoredTexts::new(self.store, self.limits.clone()).in_any_container();
        self.expected = place;
        for &id in &self.order[place..] {
            let fits = match self.store.document(id) {
                // The document was deleted. A later request for it reports that.
                Err(Error::NoSuchNumber { .. }) => true,
                record => self.texts.expect(&record?),
            };
            if !fits && self.expected > place {
                break;
            }
            self.expected += 1;
        }
        Ok(())
    }
}
