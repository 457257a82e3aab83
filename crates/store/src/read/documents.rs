//! Documents: finds the records of documents by id, name or digest.

use roaring::RoaringBitmap;

use crate::codec::container_record::ContainerRecord;
use crate::codec::format::{
    self, DIGESTS, DOCUMENTS, NAMES, document_key, name_prefix, names_start, parse_name_key, split_u32,
};
use crate::codec::records::{self, DocumentRecord};
use crate::engine::Direction;
use crate::engine::failure::missing;
use crate::handle::Store;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;

impl Store {
    /// The record of a document whose number may come from a user.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] if no such document exists, or it has been deleted.
    pub fn document_numbered(&self, number: u32) -> Result<DocumentRecord> {
        let value = self.engine.get(DOCUMENTS, document_key(number), "read a document's record")?;
        let value = value.filter(|_| self.view().is_live(number)).ok_or(Error::NoSuchNumber { number })?;
        records::decode(&value, || format!("the record of document {number}"))
    }

    /// The record of a document that the store refers to.
    ///
    /// # Errors
    /// * [`Error::NoSuchNumber`] if the document has been deleted since.
    /// * [`Error::Damaged`] if its record is missing or does not decode.
    pub fn document(&self, document: u32) -> Result<DocumentRecord> {
        let value = self.engine.get(DOCUMENTS, document_key(document), "read a document's record")?;
        let what = || format!("the record of document {document}");
        records::decode(&value.ok_or_else(|| self.missing_row(document, || missing(&what())))?, what)
    }

    /// The record of the container at this path. `None` if it was not ingested completely.
    pub fn container(&self, source: &str) -> Result<Option<ContainerRecord>> {
        let value = self.engine.get(format::CONTAINERS, format::name_prefix(source), "read a container's record")?;
        value.map(|value| records::decode(&value, || format!("the record of the container {source}"))).transpose()
    }

    /// True if an ingest read only a part of the container at this path.
    pub fn is_unread(&self, source: &str) -> Result<bool> {
        Ok(self.container(source)? == Some(ContainerRecord::UNREAD))
    }

    /// Calls `visit` with each live document in order of id, until `visit` returns false.
    pub fn for_each_document(&self, visit: impl FnMut(u32, DocumentRecord) -> Result<bool>) -> Result<()> {
        self.for_each_document_from(0, visit)
    }

    /// The live documents of a name, in order of arrival. A name has several documents if versions are kept.
    pub fn documents_named(&self, name: &str) -> Result<Vec<u32>> {
        self.ids_under(NAMES, &name_prefix(name), usize::MAX)
    }

    /// The last of [`Store::documents_named`] that is `wanted`. Does not visit earlier ones.
    pub fn newest_named(&self, name: &str, wanted: impl FnMut(u32) -> bool) -> Result<Option<u32>> {
        self.newest_under(NAMES, &name_prefix(name), u32::MAX, wanted)
    }

    /// The last of [`Store::documents_with`] that is `wanted`. Does not visit earlier ones.
    pub fn newest_with(&self, digest: &Digest, wanted: impl FnMut(u32) -> bool) -> Result<Option<u32>> {
        self.newest_under(DIGESTS, digest, u32::MAX, wanted)
    }

    /// The last document with this name and this content that is `wanted`.
    ///
    /// Searches the names and the digests in turn. Each search begins at the document that the search before
    /// has found, and goes down. This skips documents with the same content under other names, and documents
    /// with the same name and other contents.
    pub fn newest_version(
        &self,
        name: &str,
        digest: &Digest,
        mut wanted: impl FnMut(u32) -> Result<bool>,
    ) -> Result<Option<u32>> {
        let prefix = name_prefix(name);
        let mut most = u32::MAX;
        while let Some(named) = self.newest_under(NAMES, &prefix, most, |_| true)? {
            match self.newest_under(DIGESTS, digest, named, |_| true)? {
                None => return Ok(None),
                Some(with) if with < named => most = with,
                Some(both) if wanted(both)? => return Ok(Some(both)),
                Some(both) => match both.checked_sub(1) {
                    Some(next) => most = next,
                    None => return Ok(None),
                },
            }
        }
        Ok(None)
    }

    /// The last live document that is `wanted` and has an id up to `most`. Only looks at keys of the family
    /// `name` that consist of `prefix` and an id.
    fn newest_under(
        &self,
        name: &'static str,
        prefix: &[u8],
        most: u32,
        mut wanted: impl FnMut(u32) -> bool,
    ) -> Result<Option<u32>> {
        if self.view().state().documents == 0 {
            return Ok(None);
        }
        let last = [prefix, &document_key(most)].concat();
        let (view, rows) = self
            .of_one_commit(|_| self.engine.entries_of_one(name, &last, Direction::Reverse, "read names and digests"));
        for entry in rows? {
            let (key, _) = entry?;
            let Some(([], id)) = key.strip_prefix(prefix).and_then(split_u32) else { break };
            if view.is_live(id) && wanted(id) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Calls `visit` with the name and the id of each live document, in order of name, then of id.
    pub fn for_each_name(&self, mut visit: impl FnMut(String, u32) -> Result<()>) -> Result<()> {
        self.for_each_name_beginning("", |name, id| visit(name, id).map(|()| true))
    }

    /// Like [`Store::for_each_name`], for names that begin with `start`, until `visit` returns false.
    pub fn for_each_name_beginning(
        &self,
        start: &str,
        mut visit: impl FnMut(String, u32) -> Result<bool>,
    ) -> Result<()> {
        let first = names_start(start);
        let (view, rows) = self.of_one_commit(|_| self.engine.entries(NAMES, &first, "read names and digests"));
        for entry in rows? {
            let (key, _) = entry?;
            if !key.starts_with(&first) {
                break;
            }
            let (name, id) = parse_name_key(&key).ok_or_else(|| missing("a document's name"))?;
            if view.is_live(id) && !visit(name, id)? {
                break;
            }
        }
        Ok(())
    }

    /// True if the name of a live document begins with `start`.
    pub fn has_name_beginning(&self, start: &str) -> Result<bool> {
        let mut found = false;
        self.for_each_name_beginning(start, |_, _| {
            found = true;
            Ok(false)
        })?;
        Ok(found)
    }

    /// The live documents with this content, in order of arrival.
    pub fn documents_with(&self, digest: &Digest) -> Result<Vec<u32>> {
        self.first_documents_with(digest, usize::MAX)
    }

    /// The first `most` of [`Store::documents_with`]. Does not visit later ones.
    pub fn first_documents_with(&self, digest: &Digest, most: usize) -> Result<Vec<u32>> {
        self.ids_under(DIGESTS, digest, most)
    }

    /// The first `most` live documents whose keys in the family `name` consist of `prefix` and their id.
    fn ids_under(&self, name: &'static str, prefix: &[u8], most: usize) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        if self.view().state().documents == 0 {
            return Ok(ids);
        }
        let (view, rows) = self.of_one_commit(|_| {
            let first = [prefix, &document_key(0)].concat();
            self.engine.entries_of_one(name, &first, Direction::Forward, "read names and digests")
        });
        for entry in rows? {
            let (key, _) = entry?;
            let Some(([], id)) = key.strip_prefix(prefix).and_then(split_u32) else { break };
            if view.is_live(id) {
                ids.push(id);
            }
            if ids.len() >= most {
                break;
            }
        }
        Ok(ids)
    }

    /// The ids of all live documents that are not boilerplate. Reads no record.
    pub fn document_ids(&self) -> Result<RoaringBitmap> {
        let mut ids = RoaringBitmap::new();
        let (view, rows) = self.of_one_commit(|_| self.engine.scanned_entries(DOCUMENTS, &[], "read the documents"));
        for entry in rows? {
            let (key, _) = entry?;
            let id = split_u32(&key).map(|(_, id)| id);
            ids.extend(id.filter(|&id| view.is_live(id) && !view.is_boilerplate(id)));
        }
        Ok(ids)
    }

    /// Like [`Store::for_each_document`], from the id `first` on.
    pub fn for_each_document_from(
        &self,
        first: u32,
        mut visit: impl FnMut(u32, DocumentRecord) -> Result<bool>,
    ) -> Result<()> {
        let first = document_key(first);
        let (view, rows) = self.of_one_commit(|_| self.engine.scanned_entries(DOCUMENTS, &first, "read the documents"));
        for entry in rows? {
            let (key, value) = entry?;
            let Some(([], document)) = split_u32(&key) else {
                return Err(Error::Damaged { what: "a document's record".into(), detail: "its key is not four bytes" });
            };
            if view.is_live(document)
                && !visit(document, records::decode(&value, || format!("the record of document {document}"))?)?
            {
                break;
            }
        }
        Ok(())
    }
}
