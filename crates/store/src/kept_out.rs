//! Kept out: contents that were removed for good. An ingest adds no document with these bytes, whatever its
//! name.

use super::Store;
use super::codec::format::{KEPT_OUT_PREFIX, MAIN, kept_out_key, parse_kept_out_key};
use super::codec::records::{self, KeptOutRecord};
use super::view::View;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;

/// The limits of the record of one content. The first is the maximum number of names. The second is a number
/// of bytes: once the names have that many together, no name is added.
const NAMES: (usize, usize) = (100, 64 << 10);

/// Maximum number of contents that one commit adopts, because they stay in memory until the commit.
const ADOPTED_AT_ONCE: usize = 100_000;

const ACTION: &str = "read which contents are kept out";

impl KeptOutRecord {
    /// True if another name may be added.
    pub fn has_room(&self) -> bool {
        self.names.len() < NAMES.0 && self.names.iter().map(String::len).sum::<usize>() < NAMES.1
    }

    /// True if a document of this name was removed for good with this content. Also true if the record has no
    /// names because it was damaged.
    pub(crate) fn may_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|known| known == name)
    }
}

impl Store {
    /// The contents that are kept out, in order of their digests.
    ///
    /// # Errors
    /// A failure to read the store; [`Error::Damaged`].
    pub fn kept_out(&self) -> Result<Vec<(Digest, KeptOutRecord)>> {
        let mut contents = Vec::new();
        self.for_each_kept_out(|digest, record| {
            contents.push((digest, record));
            Ok::<_, Error>(())
        })?;
        Ok(contents)
    }

    /// Calls `visit` with each content that is kept out, in order of the digests.
    ///
    /// # Errors
    /// The error of `visit`; a failure to read the store; [`Error::Damaged`].
    pub fn for_each_kept_out<E: From<Error>>(
        &self,
        mut visit: impl FnMut(Digest, KeptOutRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        self.kept_out_from(&[])?.try_for_each(|content| {
            let (digest, record) = content?;
            visit(digest, record)
        })
    }

    /// The contents that are kept out, in order of the digests, from the first digest at or above `first`.
    ///
    /// # Errors
    /// A failure to read the store; [`Error::Damaged`].
    pub fn kept_out_from(
        &self,
        first: &[u8],
    ) -> Result<impl Iterator<Item = Result<(Digest, KeptOutRecord)>> + use<'_>> {
        Ok(self.engine.entries_with(MAIN, (KEPT_OUT_PREFIX, first), ACTION)?.map(|entry| {
            let (key, value) = entry?;
            let digest = parse_kept_out_key(&key).ok_or_else(|| Error::Damaged {
                what: "a content that is kept out".into(),
                detail: "its key has no digest",
            })?;
            Ok((digest, record_in(&value)?))
        }))
    }

    /// The record of a content. `None` if it is not kept out.
    ///
    /// # Errors
    /// A failure to read the store; [`Error::Damaged`].
    pub fn kept_out_record(&self, digest: &Digest) -> Result<Option<KeptOutRecord>> {
        let value = self.engine.get(MAIN, kept_out_key(digest), ACTION)?;
        value.map(|value| record_in(&value)).transpose()
    }

    /// Keeps these contents out from now on. Replaces earlier records of the same contents.
    ///
    /// # Errors
    /// A failure to read or write the store.
    pub fn keep_out(&self, contents: &[(Digest, KeptOutRecord)]) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let mut changes = self.engine.changes();
        for (digest, record) in contents {
            changes.put(MAIN, kept_out_key(digest), records::encode(record)?)?;
        }
        self.change(changes, View::clone(&self.view()), "note which contents are kept out")
    }

    /// Also keeps out the contents that the store `other` keeps out. Existing records of this store do not
    /// change. A content is not taken over if this store has a document with this content and `other` does
    /// not have it: nobody has removed that document. Returns the number of contents that were not taken
    /// over.
    ///
    /// # Errors
    /// A failure to read one of the stores or to write this one.
    pub fn adopt_kept_out(&self, other: &Self) -> Result<u64> {
        let mut contents = Vec::new();
        let left_out = self.sort_kept_out(other, &|_| false, &mut |content| {
            contents.push(content);
            if contents.len() == ADOPTED_AT_ONCE { self.keep_out(&std::mem::take(&mut contents)) } else { Ok(()) }
        })?;
        self.keep_out(&contents)?;
        Ok(left_out)
    }

    /// The number of contents that [`adopt_kept_out`](Self::adopt_kept_out) would not take over if the
    /// documents for which `removed` is true did not exist.
    ///
    /// # Errors
    /// A failure to read one of the stores.
    pub fn not_adopted(&self, other: &Self, removed: &dyn Fn(u32) -> bool) -> Result<u64> {
        self.sort_kept_out(other, removed, &mut |_| Ok(()))
    }

    /// Calls `adopt` with each content to take over. Returns the number of contents that are not taken over.
    fn sort_kept_out(
        &self,
        other: &Self,
        removed: &dyn Fn(u32) -> bool,
        adopt: &mut dyn FnMut((Digest, KeptOutRecord)) -> Result<()>,
    ) -> Result<u64> {
        let mut left_out = 0;
        other.for_each_kept_out(|digest, record| {
            if self.kept_out_record(&digest)?.is_some() {
                return Ok(());
            }
            for id in self.documents_with(&digest)?.into_iter().filter(|&id| !removed(id)) {
                if other.newest_version(&self.document(id)?.name, &digest, |_| Ok(true))?.is_none() {
                    left_out += 1;
                    return Ok(());
                }
            }
            adopt((digest, record))
        })?;
        Ok(left_out)
    }

    /// Stops keeping these contents out, so an ingest can add them again.
    ///
    /// # Errors
    /// A failure to read or write the store.
    pub fn readmit(&self, contents: &[Digest]) -> Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let mut changes = self.engine.changes();
        for digest in contents {
            changes.delete(MAIN, kept_out_key(digest))?;
        }
        self.change(changes, View::clone(&self.view()), "note which contents are let in again")
    }
}

fn record_in(value: &[u8]) -> Result<KeptOutRecord> {
    records::decode(value, || "a content that is kept out".into())
}
