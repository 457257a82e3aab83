//! Stored: the interface through which this member reads a database. It has no other access, so it cannot
//! change a database.

use std::any::Any;

use rustc_hash::FxHashSet;

use fpdb_host::error::Result;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::{InputLimits, PathFilter};

/// The documents of a database.
pub trait StoredDocuments {
    /// The profile with which the documents were fingerprinted.
    fn profile(&self) -> &Profile;

    /// Memory that one operation may use, in bytes, approximately.
    fn memory(&self) -> u64;

    /// The identity of the database, which no other database has.
    ///
    /// # Errors
    /// If the identity cannot be read.
    fn identity(&self) -> Result<String>;

    /// Locks the files that the documents come from, until the result is dropped.
    ///
    /// # Errors
    /// [`Error::DocumentsInUse`](fpdb_host::error::Error::DocumentsInUse).
    fn lock(&self) -> Result<Box<dyn Any>>;

    /// The document with an id from a report; `None` if the database does not hold it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn find(&self, id: u32) -> Result<Option<StoredDocument>>;

    /// A document that the database refers to.
    ///
    /// # Errors
    /// If it is missing or cannot be read.
    fn document(&self, id: u32) -> Result<StoredDocument>;

    /// Visits all documents, in order of id.
    ///
    /// # Errors
    /// The error of `visit`, or one from reading a document.
    fn for_each(&self, visit: &mut dyn FnMut(u32, StoredDocument) -> Result<()>) -> Result<()>;

    /// The documents of a name, in order of id.
    ///
    /// # Errors
    /// If the names cannot be read.
    fn named(&self, name: &str) -> Result<Vec<u32>>;

    /// The last document with this name and this content for which `wanted` returns true.
    ///
    /// # Errors
    /// The error of `wanted`, or one from reading names and digests.
    fn newest_version(
        &self,
        name: &str,
        digest: &Digest,
        wanted: &mut dyn FnMut(u32) -> Result<bool>,
    ) -> Result<Option<u32>>;

    /// A container or compressed file, if the database remembers it.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn container(&self, source: &str) -> Result<Option<StoredContainer>>;

    /// True if a document has this content.
    ///
    /// # Errors
    /// If the database cannot be read.
    fn holds(&self, digest: &Digest) -> Result<bool>;

    /// The contents that were removed for good. A copy does not hold them, unless a document has them.
    ///
    /// # Errors
    /// If the list cannot be read.
    fn kept_out(&self) -> Result<FxHashSet<Digest>>;

    /// The filter of the options that the database remembers for a file, or for the nearest folder around it.
    /// `None` if it remembers none.
    ///
    /// # Errors
    /// If the options cannot be read.
    fn filter(&self, source: &str) -> Result<Option<PathFilter>>;

    /// The text of a document. Offsets of its passages refer to this text. `None` if the text is gone.
    ///
    /// # Errors
    /// If there is no document with this id, or it cannot be read.
    fn text(&self, id: u32, limits: &InputLimits) -> Result<Option<Vec<u8>>>;
}

/// A container or compressed file as it was last ingested.
#[derive(Clone, Debug)]
pub struct StoredContainer {
    /// Its length in bytes.
    pub bytes: u64,
    /// The time of its last change, in seconds since 1970 and nanoseconds, and true if this time proves that
    /// the contents are unchanged. `None` if no time is known, or not all contents were ingested.
    pub modified: Option<((i64, u32), bool)>,
    /// The number of documents read from it.
    pub documents: u64,
    /// The number of its members that could not be read.
    pub unread: u64,
    /// The suffixes of the first of these members; empty for a member without a name.
    pub unread_suffixes: Vec<String>,
}

/// A document, as far as this member uses it.
#[derive(Clone, Debug)]
pub struct StoredDocument {
    /// Its name.
    pub name: String,
    /// The absolute path of its file. `None` for a document from memory.
    pub source: Option<String>,
    /// The part of the file that holds the document, as written in the document's name. `None` for the whole
    /// file. Empty if a container or compressed file was ingested without unpacking.
    pub member: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// The time of its file, or that of a member in its archive, in seconds since 1970 and nanoseconds.
    /// `None` if the time does not prove the content.
    pub modified: Option<(i64, u32)>,
    /// The XXH3-128 of its bytes.
    pub digest: Digest,
    /// Its number of symbols.
    pub symbols: u64,
    /// The name of the format it was read as.
    pub format: String,
    /// True if its positions count bytes of the extracted text, not of the file.
    pub extracted: bool,
    /// True if the database holds its bytes.
    pub stored_text: bool,
}
