//! Kept out: contents that were removed for good, so that no ingest adds them again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Database, DatabaseWriter, KeptOut};
use fpdb_host::clock;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::{Digest, DocId};
use fpdb_store::{DocumentRecord, KeptOutRecord};

impl Database {
    /// The contents that [`DatabaseWriter::keep_out`] keeps out, in order of their digests.
    ///
    /// # Errors
    /// A failure to read the store.
    pub fn kept_out(&self) -> Result<Vec<KeptOut>> {
        let contents = self.store.kept_out()?.into_iter();
        Ok(contents.map(|(digest, KeptOutRecord { names, since })| KeptOut { digest, names, since }).collect())
    }
}

impl DatabaseWriter {
    /// Keeps the contents of these documents out: from now on, an ingest skips a document with the same
    /// bytes, whatever its name, unless a stored document has them. Unknown numbers are ignored. Nothing is
    /// deleted: call [`Self::remove_numbers`] then.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn keep_out(&self, ids: &[DocId]) -> Result<()> {
        self.store.change_alone(&StopToken::new(), || {
            let mut contents: BTreeMap<Digest, KeptOutRecord> = self.store.kept_out()?.into_iter().collect();
            let mut changed = BTreeSet::new();
            for id in ids {
                match self.store.document_numbered(id.0) {
                    Err(Error::NoSuchNumber { .. }) => {}
                    record => {
                        let DocumentRecord { name, digest, .. } = record?;
                        let content = contents.entry(digest).or_insert(KeptOutRecord { names: Vec::new(), since: 0 });
                        content.since = clock::now();
                        if content.has_room() && !content.names.contains(&name) {
                            content.names.push(name);
                        }
                        changed.insert(digest);
                    }
                }
            }
            contents.retain(|digest, _| changed.contains(digest));
            self.store.keep_out(&contents.into_iter().collect::<Vec<_>>())
        })
    }

    /// Lets these contents in again. The next ingest reads archives and files of records again if a member
    /// was kept out, even if they are unchanged.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn readmit(&self, contents: &[Digest]) -> Result<()> {
        self.store.change_alone(&StopToken::new(), || self.store.readmit(contents))
    }
}
