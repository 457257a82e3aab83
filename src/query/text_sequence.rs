//! Text sequence: the texts of many stored documents, in the order in which they will be asked for. Members of one container are
//! found in one reading of it, as many at a time as there is room for, and however large the container is.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::text::{Bytes, COMPARED_BYTES, DocumentText, StoredTexts, Symboliser, as_counted};
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::input::InputLimits;
use fpdb_store::Store;

/// Reads texts in order.
pub(crate) struct TextSequence<'a> {
    store: &'a Store,
    limits: InputLimits,
    order: Vec<u32>,
    /// The place of each document in the order.
    places: FxHashMap<u32, usize>,
    texts: StoredTexts<'a>,
    symboliser: Symboliser,
    /// Documents before this place are found in one reading.
    expected: usize,
}

impl<'a> TextSequence<'a> {
    /// The texts of the documents `order`, which has none twice. A text keeps to the `limits`.
    pub(crate) fn new(store: &'a Store, order: Vec<u32>, limits: InputLimits) -> Self {
        let places = order.iter().copied().zip(0..).collect();
        let texts = StoredTexts::new(store, limits.clone()).in_any_container();
        let symboliser = Symboliser::new(store.profile()).with_limits(&limits);
        Self { store, limits, order, places, texts, symboliser, expected: 0 }
    }

    /// The text of a document, or why there is none.
    ///
    /// # Errors
    /// Fails if the store cannot be read, or the text cannot be extracted.
    pub(crate) fn text(&mut self, id: u32) -> Result<std::result::Result<DocumentText, &'static str>> {
        let (format, bytes) = self.bytes(id, u64::MAX)?;
        Ok(match bytes {
            Bytes::Here(bytes) => Ok(as_counted(bytes, format, self.store.profile().unit(), &self.limits)?),
            Bytes::Unavailable(why) => Err(why.document()),
        })
    }

    /// The bytes of a document of at most `limit`, and their format; or why they cannot be had.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) fn original(
        &mut self,
        id: u32,
        limit: u64,
    ) -> Result<std::result::Result<(Vec<u8>, Format), &'static str>> {
        let (format, bytes) = self.bytes(id, limit)?;
        Ok(match bytes {
            Bytes::Here(bytes) => Ok((bytes, format)),
            Bytes::Unavailable(why) => Err(why.document()),
        })
    }

    /// A digest of all symbols of a document, as they were fingerprinted, and of its parts that are no text, if it has any; `None`
    /// where its text cannot be had, or is larger than what is compared symbol by symbol.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) fn digest_of_symbols(&mut self, id: u32) -> Result<Option<Digest>> {
        let (format, bytes) = self.bytes(id, COMPARED_BYTES)?;
        let Bytes::Here(bytes) = bytes else { return Ok(None) };
        let text = self.symboliser.read(&bytes, format).ok();
        Ok(text.map(|text| {
            let symbols = xxh3_128(bytemuck::cast_slice(text.values())).to_be_bytes();
            match text.unread().count {
                0 => symbols,
                _ => xxh3_128(&[symbols, text.unread().digest].concat()).to_be_bytes(),
            }
        }))
    }

    fn bytes(&mut self, id: u32, limit: u64) -> Result<(Format, Bytes)> {
        if let Some(&place) = self.places.get(&id)
            && place >= self.expected
        {
            self.expect_from(place)?;
        }
        let record = self.store.document(id)?;
        let bytes = self.texts.bytes_of(id, &record, limit)?;
        Ok((Format::named(&record.format).unwrap_or_default(), bytes))
    }

    /// Expects as many documents from this place on as there is room for, at least one.
    fn expect_from(&mut self, place: usize) -> Result<()> {
        self.texts = StoredTexts::new(self.store, self.limits.clone()).in_any_container();
        self.expected = place;
        for &id in &self.order[place..] {
            let fits = match self.store.document(id) {
                // It is asked for all the same, and the reader then learns that it is gone.
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
