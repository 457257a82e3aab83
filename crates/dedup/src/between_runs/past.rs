//! Past: the earlier decisions that still hold. A document is removable because of its survivor. If the
//! survivor was deleted or has become boilerplate, the decision is open again.

use roaring::RoaringBitmap;

use crate::between_runs::record::{Fate, RecordEntry, RecordFiles, RecordHeader, RecordReader};
use crate::ranking::Standing;
use fpdb_host::error::{Error, Result};

/// A record of decisions, and the documents stored now.
pub(crate) struct Past<'a> {
    record: Option<RecordReader>,
    /// All documents except boilerplate.
    stored: &'a RoaringBitmap,
}

impl<'a> Past<'a> {
    /// No decisions.
    pub(crate) fn none(stored: &'a RoaringBitmap) -> Self {
        Self { record: None, stored }
    }

    /// Opens the record of the database with the identity `database`. A repair gives a database another
    /// identity.
    ///
    /// # Errors
    /// [`Error::OtherRule`] if another rule made the record; [`Error::DecisionsOfAnother`] if another
    /// database did; [`Error::DamagedDecisions`]; [`Error::Io`].
    pub(crate) fn read(files: &RecordFiles, stored: &'a RoaringBitmap, database: &str, rule: &str) -> Result<Self> {
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

    /// The header of the record. `None` if there is no record.
    pub(crate) fn header(&self) -> Option<&RecordHeader> {
        self.record.as_ref().map(RecordReader::header)
    }

    /// Checks that the record has no decision about a document from `next_document` on. Such a decision
    /// exists if this process opened the database before the document was stored. The run would drop this
    /// decision.
    ///
    /// # Errors
    /// [`Error::LaterDecisions`] if the record has such a decision; [`Error::DamagedDecisions`];
    /// [`Error::Io`].
    pub(crate) fn check_ends_before(&mut self, next_document: u32, files: &RecordFiles) -> Result<()> {
        let later = match &mut self.record {
            Some(record) => record.has_from(next_document)?,
            None => false,
        };
        if later { Err(Error::LaterDecisions { path: files.path().to_owned() }) } else { Ok(()) }
    }

    /// The decision about a document, if it still holds. Documents must ascend from call to call.
    pub(crate) fn entry(&mut self, document: u32) -> Result<Option<RecordEntry>> {
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

    /// The earlier decision about a document, or [`Standing::Open`] if none still holds. Documents must
    /// ascend from call to call.
    pub(crate) fn standing(&mut self, document: u32) -> Result<Standing> {
        Ok(match self.entry(document)?.map(|entry| entry.fate) {
            None => Standing::Open,
            Some(Fate::Removable(_)) => Standing::Removable,
            Some(_) => Standing::Stays,
        })
    }
}
