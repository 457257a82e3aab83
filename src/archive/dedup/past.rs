//! Past: what of earlier decisions still holds. A document is removable because of another one; where that is no longer stored, or has
//! become boilerplate, the decision is open again.

use roaring::RoaringBitmap;

use super::ranking::Standing;
use super::record::{Fate, RecordEntry, RecordFiles, RecordHeader, RecordReader};
use fpdb_host::error::{Error, Result};

/// A record of decisions beside the documents that are stored now.
pub(super) struct Past<'a> {
    record: Option<RecordReader>,
    /// All documents but boilerplate.
    stored: &'a RoaringBitmap,
}

impl<'a> Past<'a> {
    /// Without decisions.
    pub(super) fn none(stored: &'a RoaringBitmap) -> Self {
        Self { record: None, stored }
    }

    /// Reads the record of the database of this identity from its start.
    ///
    /// # Errors
    /// [`Error::OtherRule`] where it was made by another rule; [`Error::DecisionsOfAnother`]; [`Error::DamagedDecisions`]; [`Error::Io`].
    pub(super) fn read(files: &RecordFiles, stored: &'a RoaringBitmap, database: &str, rule: &str) -> Result<Self> {
        let record = files.read()?;
        if let Some(header) = record.as_ref().map(RecordReader::header) {
            if header.database != database {
                return Err(Error::DecisionsOfAnother { path: files.path().to_owned() });
            }
            if header.rule != rule {
                let (recorded, asked) = (header.rule.clone(), rule.to_owned());
                return Err(Error::OtherRule { path: files.path().to_owned(), recorded, asked });
            }
        }
        Ok(Self { record, stored })
    }

    /// The header of all decisions; `None` where there are none.
    pub(super) fn header(&self) -> Option<&RecordHeader> {
        self.record.as_ref().map(RecordReader::header)
    }

    /// Reads the rest of the record: a reader that was opened before its last documents were stored would forget what was decided
    /// about them.
    ///
    /// # Errors
    /// [`Error::LaterDecisions`] where it has a document of this number or above; [`Error::DamagedDecisions`]; [`Error::Io`].
    pub(super) fn check_ends_before(&mut self, next_document: u32, files: &RecordFiles) -> Result<()> {
        let later = match &mut self.record {
            Some(record) => record.has_from(next_document)?,
            None => false,
        };
        if later { Err(Error::LaterDecisions { path: files.path().to_owned() }) } else { Ok(()) }
    }

    /// The decision about a document, if it holds. Documents must ascend.
    pub(super) fn entry(&mut self, document: u32) -> Result<Option<RecordEntry>> {
        let Some(record) = &mut self.record else { return Ok(None) };
        let entry = record.find(document)?.filter(|entry| self.stored.contains(entry.document));
        Ok(entry.and_then(|entry| match entry.fate {
            Fate::Removable(reason) if !self.stored.contains(reason.keep) => None,
            Fate::Superseded(reason) if !self.stored.contains(reason.keep) => {
                Some(RecordEntry { fate: Fate::Stays, ..entry })
            }
            _ => Some(entry),
        }))
    }

    /// The decision about a document in short. Documents must ascend.
    pub(super) fn standing(&mut self, document: u32) -> Result<Standing> {
        Ok(match self.entry(document)?.map(|entry| entry.fate) {
            None => Standing::Open,
            Some(Fate::Removable(_)) => Standing::Removable,
            Some(_) => Standing::Stays,
        })
    }
}
