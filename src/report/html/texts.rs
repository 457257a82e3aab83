//! Where the texts of a report come from: a stored document's text or a file, read when the report is written.

use std::path::Path;

use super::data::Origin;
use crate::database::Database;
use crate::document::DocId;
use crate::input::ReadOptions;
use crate::profile::Unit;
use crate::query::{self, DocumentText, TextSequence};

/// The texts of files and of a database's documents.
pub struct DocumentTexts<'a> {
    /// The database, where there is one.
    pub database: Option<&'a Database>,
    /// How the files were read: in which unit, and as what. The limits hold for stored documents too.
    pub unit: Unit,
    /// See `unit`.
    pub read: &'a ReadOptions,
}

impl DocumentTexts<'_> {
    /// The text of a file, as the offsets of its passages count it.
    ///
    /// # Errors
    /// What keeps the file from being read, or from being a document of its format.
    pub fn of_file(&self, path: &Path) -> crate::Result<DocumentText> {
        query::text_of_file(path, self.unit, self.read)
    }
}

/// Reads the texts of a report in the order in which its pages need them.
pub(super) struct TextReader<'a> {
    texts: &'a DocumentTexts<'a>,
    stored: Option<TextSequence<'a>>,
}

impl<'a> TextReader<'a> {
    /// For documents that are asked for in the order of `origins`.
    pub(super) fn new<'b>(texts: &'a DocumentTexts<'a>, origins: impl Iterator<Item = &'b Origin>) -> Self {
        let stored: Vec<DocId> = origins
            .filter_map(|origin| match origin {
                Origin::Stored(id) => Some(*id),
                Origin::File(_) => None,
            })
            .collect();
        let stored = texts.database.map(|database| database.texts_in_order(&stored, &texts.read.limits));
        Self { texts, stored }
    }

    /// The text that the offsets of a document's spans count, or why it cannot be shown.
    pub(super) fn text(&mut self, origin: &Origin) -> Result<DocumentText, String> {
        match (origin, &mut self.stored) {
            (Origin::File(path), _) => self.texts.of_file(path).map_err(|error| error.chain()),
            (Origin::Stored(id), Some(stored)) => {
                stored.text(id.0).map_err(|error| error.chain())?.map_err(str::to_owned)
            }
            (Origin::Stored(id), None) => Err(format!("document {id} is in no database")),
        }
    }
}
