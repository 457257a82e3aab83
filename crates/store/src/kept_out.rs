//! Kept out: contents that were removed for good. An ingest does not add a document with such bytes, whatever
//! its name.

use super::Store;
use super::codec::format::{KEPT_OUT_PREFIX, MAIN, kept_out_key, parse_kept_out_key};
use super::codec::records::{self, KeptOutRecord};
use super::view::View;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;

const ACTION: &str = "read which contents are kept out";

impl Store {
    /// The contents that are kept out, in order of their digests.
    ///
    /// # Errors
    /// A failure to read the store; [`Error::Damaged`].
    pub fn kept_out(&self) -> Result<Vec<(Digest, KeptOutRecord)>> {
        let mut contents = Vec::new();
        for entry in self.engine.entries(MAIN, KEPT_OUT_PREFIX, ACTION)? {
            let (key, value) = entry?;
            if !key.starts_with(KEPT_OUT_PREFIX) {
                break;
            }
            let digest = parse_kept_out_key(&key).ok_or_else(|| Error::Damaged {
                what: "a content that is kept out".into(),
                detail: "its key has no digest",
            })?;
            contents.push((digest, records::decode(&value, || "a content that is kept out".into())?));
        }
        Ok(contents)
    }

    /// Keeps these contents out from now on. `None` instead of a record lets a content in again.
    ///
    /// # Errors
    /// A failure to read or write the store.
    pub fn keep_out(&self, contents: &[(Digest, Option<KeptOutRecord>)]) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let mut changes = self.engine.changes();
        for (digest, record) in contents {
            match record {
                Some(record) => changes.put(MAIN, kept_out_key(digest), records::encode(record)?)?,
                None => changes.delete(MAIN, kept_out_key(digest))?,
            }
        }
        self.change(changes, View::clone(&self.view()), "note which contents are kept out")
    }
}
