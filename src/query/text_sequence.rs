//! Text sequence: the texts of many stored documents, in the order in which they will be asked for. Members of one container are
//! found in one reading of it, as many at a time as there is room for, and however large the container is.

use rustc_hash::FxHashMap;

use super::text::{Bytes, DocumentText, StoredTexts, as_counted};
use crate::document::Format;
use crate::error::{Error, Result};
use crate::input::InputLimits;
use crate::store::Store;

/// Reads texts in order.
pub(crate) struct TextSequence<'a> {
    store: &'a Store,
    limits: InputLimits,
    order: Vec<u32>,
    /// The place of each document in the order.
    places: FxHashMap<u32, usize>,
    texts: StoredTexts<'a>,
    /// Documents before this place are found in one reading.
    expected: usize,
}

impl<'a> TextSequence<'a> {
    /// The texts of the documents `order`, which has none twice. A text keeps to the `limits`.
    pub(crate) fn new(store: &'a Store, order: Vec<u32>, limits: InputLimits) -> Self {
        let places = order.iter().copied().zip(0..).collect();
        let texts = StoredTexts::new(store, limits.clone()).in_any_container();
        Self { store, limits, order, places, texts, expected: 0 }
    }

    /// The text of a document, or why there is none.
    ///
    /// # Errors
    /// What keeps the store from being read, and the text from being extracted.
    pub(crate) fn text(&mut self, id: u32) -> Result<std::result::Result<DocumentText, &'static str>> {
        if let Some(&place) = self.places.get(&id)
            && place >= self.expected
        {
            self.expect_from(place)?;
        }
        let record = self.store.document(id)?;
        Ok(match self.texts.bytes_of(id, &record, u64::MAX)? {
            Bytes::Here(bytes) => {
                let format = Format::named(&record.format).unwrap_or_default();
                Ok(as_counted(bytes, format, self.store.profile().unit, &self.limits)?)
            }
            Bytes::Unavailable(why) => Err(why.document()),
        })
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
