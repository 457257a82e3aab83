//! Unchanged: documents whose content is stored already. Their records may still change.

use super::Intake;
use crate::ingest::first_names::name_place;
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
        // A document of the same name in this run may have replaced the stored one since it was compared.
        match self.known().newest_named(&about.name)? {
            Some((newest, record)) if record.digest == digest => {
                self.sweep.meet(newest);
                let (source, modified) = origin_of(&about);
                let About { name, member, metadata, .. } = about;
                let boilerplate = self.options.marks(&name, source.as_deref());
                let found = DocumentRecord { source, modified, member, metadata, boilerplate, ..record.clone() };
                self.refresh(newest, &record, found, &name, &record.format)?;
            }
            // The file was given twice and changed in between.
            Some((_, record)) if record.source.is_some() && record.source == origin_of(&about).0 => {
                let path = record.source.unwrap_or_default().into();
                self.fail(&about.name, &Error::Document(DocumentError::ChangedWhileReading { path }));
            }
            _ => self.fail(&about.name.clone(), &Error::Document(DocumentError::GivenTwice { name: about.name })),
        }
        Ok(())
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
        let DocumentRecord { source, modified, member, metadata, boilerplate, .. } = found;
        let place = (name, source.as_deref(), member.as_deref());
        let metadata = metadata_after(&record.metadata, place, metadata, self.options);
        let boilerplate = boilerplate || record.boilerplate;
        let mut update = DocumentRecord { source, modified, member, metadata, boilerplate, ..record.clone() };
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
            self.summary.made_boilerplate += u64::from(boilerplate && !record.boilerplate);
            name_place(&update).into_iter().for_each(|place| self.batch.place(place));
            self.batch.update(id, record, update);
        }
        self.count(name, Outcome::Unchanged, format);
        Ok(())
    }
}
