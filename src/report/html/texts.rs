//! Where the texts of a report come from: a stored document's text or a file, read when it is written.

use std::fs;

use super::data::Origin;
use crate::database::Database;
use crate::document::{Format, Offsets};
use crate::error::{Error, Result};
use crate::query::DocumentText;

/// Gives the texts of documents.
pub trait Texts {
    /// The text that the offsets of a document's spans count.
    ///
    /// # Errors
    /// What keeps it from being read, such as [`Error::TextGone`].
    fn text(&self, origin: &Origin) -> Result<DocumentText>;
}

/// The texts of files and of a database's documents.
pub struct DocumentTexts<'a> {
    /// The database, where there is one.
    pub database: Option<&'a Database>,
}

impl Texts for DocumentTexts<'_> {
    fn text(&self, origin: &Origin) -> Result<DocumentText> {
        match (origin, self.database) {
            (Origin::File(path), _) => {
                let bytes = fs::read(path).map_err(Error::io("read", path))?;
                Ok(DocumentText { bytes, format: Format::Text, offsets: Offsets::Original })
            }
            (Origin::Stored(id), Some(database)) => match database.text_of(*id)? {
                Some(text) => Ok(text),
                None => {
                    let document = database.document(*id)?;
                    Err(Error::TextGone { name: document.name, source_path: document.source })
                }
            },
            (Origin::Stored(id), None) => Err(Error::NoSuchDocument { name: id.to_string() }),
        }
    }
}
