//! Where the texts of a report come from: a stored document's text or a file, read when it is written.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::data::Origin;
use crate::database::Database;
use crate::document::DocId;
use crate::error::{Error, Result};

/// Gives the texts of documents.
pub trait Texts {
    /// The text that the offsets of a document's spans count, as bytes.
    ///
    /// # Errors
    /// What keeps it from being read, such as [`Error::TextGone`].
    fn text(&self, origin: &Origin) -> Result<Text>;
}

/// A document as its offsets count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its bytes, in its encoding.
    pub bytes: Vec<u8>,
}

/// The texts of files and of a database's documents.
pub struct DocumentTexts<'a> {
    /// The database, where there is one.
    pub database: Option<&'a Database>,
}

impl Texts for DocumentTexts<'_> {
    fn text(&self, origin: &Origin) -> Result<Text> {
        match (origin, self.database) {
            (Origin::File(path), _) => Ok(Text { bytes: read(path)? }),
            (Origin::Stored(id), Some(database)) => stored(database, *id),
            (Origin::Stored(id), None) => Err(Error::NoSuchDocument { name: id.to_string() }),
        }
    }
}

/// A stored document's text, read again: it must be what was ingested.
fn stored(database: &Database, id: DocId) -> Result<Text> {
    let document = database.document(id)?;
    let gone = || Error::TextGone { name: document.name.clone(), source_path: document.source.clone() };
    let source = document.source.as_deref().ok_or_else(gone)?;
    // Whatever keeps it from being read, it is not there as it was.
    let bytes = read(Path::new(source)).map_err(|_| gone())?;
    if xxh3_128(&bytes).to_be_bytes() == document.digest { Ok(Text { bytes }) } else { Err(gone()) }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::io("read", path))
}
