//! Documents: here is an id, a name or a digest, which records are there?

use roaring::RoaringBitmap;

use crate::codec::format::{self, DIGESTS, DOCUMENTS, NAMES, document_key, name_prefix, parse_name_key, split_u32};
use crate::codec::records::{self, ContainerRecord, DocumentRecord};
use crate::engine::Direction;
use crate::engine::failure::missing;
use crate::handle::Store;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;

impl Store {
    /// The record of the document of a number that may come from a user.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where there is none.
    pub fn document_numbered(&self, number: u32) -> Result<DocumentRecord> {
        let value = self.engine.get(DOCUMENTS, document_key(number), "read a document's record")?;
        let value = value.filter(|_| self.view().is_live(number)).ok_or(Error::NoSuchNumber { number })?;
        records::decode(&value, || format!("the record of document {number}"))
    }

    /// The record of a document that the store refers to.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where it has been deleted since, [`Error::Damaged`] where its record is missing.
    pub fn document(&self, document: u32) -> Result<DocumentRecord> {
        let value = self.engine.get(DOCUMENTS, document_key(document), "read a document's record")?;
        let what = || format!("the record of document {document}");
        records::decode(&value.ok_or_else(|| self.missing_row(document, || missing(&what())))?, what)
    }

    /// The record of the container at this path, if it was ingested whole.
    pub fn container(&self, source: &str) -> Result<Option<ContainerRecord>> {
        let value = self.engine.get(format::CONTAINERS, format::name_prefix(source), "read a container's record")?;
        value.map(|value| records::decode(&value, || format!("the record of the container {source}"))).transpose()
    }

    /// Calls `visit` with each live document in order of id, until it returns false.
    pub fn for_each_document(&self, visit: impl FnMut(u32, DocumentRecord) -> Result<bool>) -> Result<()> {
        self.for_each_document_from(0, visit)
    }

    /// The live documents of a name, in order of arrival; more than one where versions are kept.
    pub fn documents_named(&self, name: &str) -> Result<Vec<u32>> {
        self.ids_under(NAMES, &name_prefix(name))
    }

    /// The last of [`Store::documents_named`] that is `wanted`. Earlier ones are not looked at.
    pub fn newest_named(&self, name: &str, wanted: impl FnMut(u32) -> bool) -> Result<Option<u32>> {
        self.newest_under(NAMES, &name_prefix(name), u32::MAX, wanted)
    }

    /// The last of [`Store::documents_with`] that is `wanted`. Earlier ones are not looked at.
    pub fn newest_with(&self, digest: &Digest, wanted: impl FnMut(u32) -> bool) -> Result<Option<u32>> {
        self.newest_under(DIGESTS, digest, u32::MAX, wanted)
    }

    /// The last document of this name with this content that is `wanted`.
    ///
    /// Names and contents are asked by turns for the next document at or below the last one found. Many documents of the same content
    /// under other names, or of the same name with other contents, are stepped over.
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

    /// The last live document from `most` downwards at the end of the keys that are `prefix` before them, if it is `wanted`.
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

    /// Calls `visit` with the name and the id of each live document, in the order of names, then of ids.
    pub fn for_each_name(&self, mut visit: impl FnMut(String, u32) -> Result<()>) -> Result<()> {
        let (view, rows) = self.of_one_commit(|_| self.engine.entries(NAMES, &[], "read names and digests"));
        for entry in rows? {
            let (key, _) = entry?;
            let (name, id) = parse_name_key(&key).ok_or_else(|| missing("a document's name"))?;
            if view.is_live(id) {
                visit(name, id)?;
            }
        }
        Ok(())
    }

    /// The live documents with this content, in order of arrival.
    pub fn documents_with(&self, digest: &Digest) -> Result<Vec<u32>> {
        self.ids_under(DIGESTS, digest)
    }

    /// Visits the live documents with this content in order of arrival, until `visit` returns false.
    pub fn for_each_with(&self, digest: &Digest, visit: impl FnMut(u32) -> Result<bool>) -> Result<()> {
        self.for_each_under(DIGESTS, digest, visit)
    }

    /// The documents at the end of the keys that are `prefix` before them.
    fn ids_under(&self, name: &'static str, prefix: &[u8]) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        self.for_each_under(name, prefix, |id| {
            ids.push(id);
            Ok(true)
        })?;
        Ok(ids)
    }

    fn for_each_under(
        &self,
        name: &'static str,
        prefix: &[u8],
        mut visit: impl FnMut(u32) -> Result<bool>,
    ) -> Result<()> {
        if self.view().state().documents == 0 {
            return Ok(());
        }
        let (view, rows) = self.of_one_commit(|_| {
            let first = [prefix, &document_key(0)].concat();
            self.engine.entries_of_one(name, &first, Direction::Forward, "read names and digests")
        });
        for entry in rows? {
            let (key, _) = entry?;
            let Some(([], id)) = key.strip_prefix(prefix).and_then(split_u32) else { break };
            if view.is_live(id) && !visit(id)? {
                break;
            }
        }
        Ok(())
    }

    /// The numbers of all documents that are stored and not boilerplate. Reads no record.
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

    /// The same, from this id on.
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
