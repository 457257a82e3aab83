//! Kept out: contents that were removed for good, so that no ingest adds them again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::writer::REMOVED_AT_ONCE;
use super::{Database, DatabaseWriter, KeptOut, Removal, ids_named};
use fpdb_host::clock;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::{Digest, DocId};
use fpdb_kernel::hex;
use fpdb_reading::input::tidied;
use fpdb_store::{DocumentRecord, KeptOutRecord};
use rustc_hash::FxHashMap;

impl Database {
    /// The contents that [`DatabaseWriter::keep_out`] keeps out, in order of their digests.
    ///
    /// # Errors
    /// A failure to read the store.
    pub fn kept_out(&self) -> Result<Vec<KeptOut>> {
        let mut contents = Vec::new();
        self.for_each_kept_out(|content| {
            contents.push(content);
            Ok::<_, Error>(())
        })?;
        Ok(contents)
    }

    /// The first `most` contents that are kept out and whose digests are at least `from`.
    ///
    /// # Errors
    /// A failure to read the store.
    pub fn kept_out_from(&self, from: &Digest, most: usize) -> Result<Vec<KeptOut>> {
        let contents = self.store.kept_out_from(from)?.take(most);
        contents.map(|content| content.map(|(digest, record)| kept_out(digest, record))).collect()
    }

    /// Calls `visit` with each content that is kept out, in order of digests. Holds only one content in
    /// memory at a time.
    ///
    /// # Errors
    /// The error of `visit`; a failure to read the store.
    pub fn for_each_kept_out<E: From<Error>>(&self, mut visit: impl FnMut(KeptOut) -> Result<(), E>) -> Result<(), E> {
        self.store.for_each_kept_out(|digest, record| visit(kept_out(digest, record)))
    }
}

impl DatabaseWriter {
    /// Keeps the contents of these documents out. From now on, an ingest skips a document with the same
    /// bytes, whatever its name, unless a stored document has these bytes. The same text in other bytes is
    /// another content. Ignores unknown numbers. Deletes nothing: call [`Self::remove_numbers`] afterwards.
    /// Each commit notes at most 100,000 documents. After an interruption, the same call notes the others.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn keep_out(&self, ids: &[DocId]) -> Result<()> {
        self.keep_out_in_portions(ids, REMOVED_AT_ONCE)
    }

    /// Like [`Self::keep_out`], for all versions of the documents with these names, and for the documents
    /// with these numbers. Unknown names are ignored too.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn keep_named_or_numbered_out<N: AsRef<str>>(&self, names: &[N], ids: &[DocId]) -> Result<()> {
        let mut ids = ids.to_vec();
        for name in names {
            ids.extend(ids_named(&self.store, name.as_ref())?.into_iter().map(DocId));
        }
        self.keep_out(&ids)
    }

    fn keep_out_in_portions(&self, ids: &[DocId], most: usize) -> Result<()> {
        self.store.change_alone(&StopToken::new(), || ids.chunks(most).try_for_each(|ids| self.keep_some_out(ids)))
    }

    /// Keeps the contents of these documents out, in one commit.
    fn keep_some_out(&self, ids: &[DocId]) -> Result<()> {
        let mut contents: BTreeMap<Digest, KeptOutRecord> = BTreeMap::new();
        for id in ids {
            let DocumentRecord { name, digest, .. } = match self.store.document_numbered(id.0) {
                Err(Error::NoSuchNumber { .. }) => continue,
                record => record?,
            };
            let content = match contents.entry(digest) {
                Entry::Occupied(content) => content.into_mut(),
                Entry::Vacant(place) => place.insert(match self.store.kept_out_record(&digest)? {
                    Some(record) => record,
                    None => KeptOutRecord { names: Vec::new(), since: 0 },
                }),
            };
            content.since = clock::now();
            if content.has_room() && !content.names.contains(&name) {
                content.names.push(name);
            }
        }
        self.store.keep_out(&contents.into_iter().collect::<Vec<_>>())
    }

    /// Lets contents in again. `names` are the names that documents with these contents had when they were
    /// removed, or the contents' digests in hexadecimal digits. A path counts as the name that an ingest
    /// gives to this path. An unchanged archive or file of records is read again by the next ingest if one of
    /// its members was kept out. The result counts the contents (`readmitted`), and lists the names that no
    /// content has.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written.
    pub fn readmit<N: AsRef<str>>(&self, names: &[N]) -> Result<Removal> {
        let mut wanted: FxHashMap<Cow<'_, str>, Vec<usize>> = FxHashMap::default();
        for (index, name) in names.iter().enumerate() {
            let name = name.as_ref();
            wanted.entry(name.into()).or_default().push(index);
            tidied(name).into_iter().for_each(|tidied| wanted.entry(tidied.into()).or_default().push(index));
        }
        let mut is_known = vec![false; names.len()];
        let readmitted = self.store.change_alone(&StopToken::new(), || {
            let mut digests: Vec<Digest> = Vec::new();
            self.for_each_kept_out(|KeptOut { digest, names, .. }| {
                let digits = hex::encode(&digest);
                let mut found = names.iter().chain([&digits]).filter_map(|name| wanted.get(&**name)).peekable();
                digests.extend(found.peek().map(|_| digest));
                found.flatten().for_each(|&index| is_known[index] = true);
                Ok::<_, Error>(())
            })?;
            self.store.readmit(&digests)?;
            Ok(digests.len() as u64)
        })?;
        let unknown = names.iter().zip(is_known).filter(|(_, is_known)| !is_known);
        let unknown_names = unknown.map(|(name, _)| name.as_ref().to_owned()).collect();
        Ok(Removal { readmitted: Some(readmitted), unknown_names, ..Removal::default() })
    }
}

fn kept_out(digest: Digest, KeptOutRecord { names, since }: KeptOutRecord) -> KeptOut {
    KeptOut { digest, names, since }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, IngestOptions, Profile, Task};

    #[test]
    fn contents_are_kept_out_in_portions() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Database::create(folder.path().join("db"), Profile::named("prose").unwrap()).unwrap();
        // The documents 0, 4 and 8 have the same bytes, and so on. The numbers 10 and 11 are unknown.
        let documents = (0..10).map(|number| Document::new(format!("{number}"), format!("text {}", number % 4)));
        writer.ingest_with(documents, &IngestOptions::default(), &Task::new()).unwrap();
        let ids: Vec<DocId> = (0..12).map(DocId).collect();
        let commits = || writer.store.view().state().commits;
        for (ids, expected) in [(&ids[..1], 1), (&ids[1..], 3)] {
            let before = commits();
            writer.keep_out_in_portions(ids, 3).unwrap();
            assert_eq!(commits() - before, expected);
        }
        let mut names: Vec<_> = writer.kept_out().unwrap().into_iter().map(|content| content.names).collect();
        names.sort_unstable();
        assert_eq!(names, [vec!["0", "4", "8"], vec!["1", "5", "9"], vec!["2", "6"], vec!["3", "7"]]);
    }
}
