//! Where the texts of a report come from: a stored document's text or a file, read when it is written.

use super::data::Origin;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::input::ReadOptions;
use crate::profile::Unit;
use crate::query::{self, DocumentText};

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
    /// How the files were read: in which unit, and as what. The limits hold for stored documents too.
    pub unit: Unit,
    /// See `unit`.
    pub read: &'a ReadOptions,
}

impl Texts for DocumentTexts<'_> {
    fn text(&self, origin: &Origin) -> Result<DocumentText> {
        match (origin, self.database) {
            (Origin::File(path), _) => query::text_of_file(path, self.unit, self.read),
            (Origin::Stored(id), Some(database)) => match database.text_within(*id, &self.read.limits)? {
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
