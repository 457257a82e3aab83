//! Texts: reads the texts of a report when it is written: from the database, a file or memory.

use super::data::Origin;
use crate::database::Database;
use crate::query::{self, DocumentText, TextSequence};
use fpdb_kernel::document::DocId;
use fpdb_kernel::profile::Unit;
use fpdb_reading::input::ReadOptions;

/// Reads the texts of a report in the order in which its pages need them.
pub(super) struct TextReader<'a> {
    unit: Unit,
    read: &'a ReadOptions,
    stored: Option<TextSequence<'a>>,
}

impl<'a> TextReader<'a> {
    /// Makes a reader for documents that will be requested in the order of `origins`. `unit` and `read` are
    /// the unit and the options of the query; the limits hold for stored documents too.
    pub(super) fn new<'b>(
        database: Option<&'a Database>,
        unit: Unit,
        read: &'a ReadOptions,
        origins: impl Iterator<Item = &'b Origin>,
    ) -> Self {
        let stored: Vec<DocId> = origins
            .filter_map(|origin| match origin {
                Origin::Stored(id) => Some(*id),
                Origin::File(_) | Origin::Memory { .. } | Origin::Text(_) => None,
            })
            .collect();
        let stored = database.map(|database| database.texts_in_order(&stored, &read.limits));
        Self { unit, read, stored }
    }

    /// The text that the offsets of a document's spans refer to, or why it cannot be shown.
    pub(super) fn text(&mut self, origin: &Origin) -> Result<DocumentText, String> {
        let text = match (origin, &mut self.stored) {
            (Origin::File(path), _) => query::text_of_file(path, self.unit, self.read),
            (Origin::Memory { name, bytes }, _) => query::text_in_memory(name, bytes, self.unit, self.read),
            (Origin::Text(text), _) => query::text_as_given(text, self.unit, self.read),
            (Origin::Stored(id), Some(stored)) => {
                return stored.text(id.0).map_err(|error| error.chain())?.map_err(str::to_owned);
            }
            (Origin::Stored(id), None) => return Err(format!("document {id} is in no database")),
        };
        text.map_err(|error| error.chain())
    }
}
