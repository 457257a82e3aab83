//! Unchanged: documents whose content is stored already. Their records may still change.

use super::Intake;
use crate::ingest::first_names::name_place;
use crate::ingest::known::is_of_file;
use crate::ingest::record::{metadata_after, origin_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Outcome;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::About;
use fpdb_store::DocumentRecord;

impl Intake<'_> {
    /// Handles a document with the content that is stored under its name.
    pub(super) fn touch(&mut self, about: About, digest: Digest) -> Result<()> {
        self.absent.note(&about, None);
        // After the worker compared the contents, another document of this run may have replaced the stored
        // one.
        let (source, modified) = origin_of(&about);
        let newest = self.known().newest_like(&about.name, source.as_deref())?;
        let About { name, member, metadata, .. } = about;
        match newest {
            Some((newest, record)) if record.digest == digest => {
                let found = DocumentRecord { source, modified, member, metadata, ..record.clone() };
                self.sweep.meet(newest);
                self.refresh(newest, &record, found, &name, &record.format)?;
            }
            // The file was given twice and changed in between.
            Some((_, record)) if record.source.is_some() && record.source == source => {
                let path = record.source.unwrap_or_default().into();
                self.fail(&name, &Error::Document(DocumentError::ChangedWhileReading { path }));
            }
            _ => self.fail(&name.clone(), &Error::Document(DocumentError::GivenTwice { name })),
        }
        Ok(())
    }

    /// True if the stored document has the name of the found one [by chance](is_of_file), and the file of the
    /// stored document still exists.
    pub(super) fn is_part_of_other(&mut self, stored: &DocumentRecord, found: &DocumentRecord) -> bool {
        !is_of_file(stored, found.source.as_deref(), found.member.as_deref())
            && stored.source.as_deref().is_some_and(|source| !self.last_file.is_missing(source))
    }

    /// Drops a new document, because another document keeps its name, and reports this as a failure. Returns
    /// `None`: no document is added.
    pub(super) fn refuse_name(&mut self, name: String) -> Result<Option<u32>> {
        self.abandon()?;
        self.fail(&name.clone(), &Error::Document(DocumentError::GivenTwice { name }));
        Ok(None)
    }

    /// Rewrites the record of a known document if this run found other facts (times, metadata, place).
    pub(super) fn refresh(
        &mut self,
        id: u32,
        record: &DocumentRecord,
        found: DocumentRecord,
        name: &str,
        format: &str,
    ) -> Result<()> {
        let DocumentRecord { source, modified, member, metadata, .. } = found;
        let place = (name, source.as_deref(), member.as_deref());
        let metadata = metadata_after(&record.metadata, place, metadata, self.options);
        let place = source.clone();
        let mut update = DocumentRecord { source, modified, member, metadata, ..record.clone() };
        if update != *record {
            if let Err(error) = update.check() {
                self.fail(&update.name, &error);
                return Ok(());
            }
            if self.last.pending.record(id).is_some() {
                // Only the commit counts distinct hashes.
                self.await_commit()?;
                let DocumentRecord { distinct, text_view, .. } = self.store.document(id)?;
                update = DocumentRecord { distinct, text_view, ..update };
            }
            name_place(&update).into_iter().for_each(|place| self.batch.place(place));
            self.batch.update(id, record, update);
        }
        self.count((name, place.as_deref()), Outcome::Unchanged, format);
        Ok(())
    }
}
