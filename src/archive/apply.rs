//! Apply: acts on the report of a dedup, or on a list of documents. It copies files without the listed
//! documents or passages; removes, links or moves files; or marks records.
//!
//! [`Database::apply`](crate::Database::apply) acts, and
//! [`Database::prove_applied`](crate::Database::prove_applied) checks afterwards that each removed content
//! still has its survivor. Neither changes the database, nor touches documents from memory, which have no
//! files. [`DatabaseWriter::remove_numbers`](crate::DatabaseWriter::remove_numbers) and
//! [`remove_reported`](crate::DatabaseWriter::remove_reported) delete documents from the database.
//! The crate [`fpdb_apply`] does the work and documents it.

use std::any::Any;
use std::path::Path;

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::database::remembered;
use crate::ingest::IngestOptions;
use crate::query::text_of;
#[doc(inline)]
pub use fpdb_apply::{Act, Action, Applied, ApplyOptions, ApplySummary, LinkKind, Lost, ProofOptions, ProofSummary};
use fpdb_apply::{StoredContainer, StoredDocument, StoredDocuments};
use fpdb_host::error::{Error, Result};
use fpdb_host::json_options::options_from_json;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::{InputLimits, PathFilter};
use fpdb_store::{ContainerRecord, DocumentRecord, Store};

/// The records of a store, without any way to change it.
pub(crate) struct Records<'a>(pub(crate) &'a Store);

impl StoredDocuments for Records<'_> {
    fn profile(&self) -> &Profile {
        self.0.profile()
    }

    fn memory(&self) -> u64 {
        self.0.memory()
    }

    fn identity(&self) -> Result<String> {
        self.0.identity()
    }

    fn lock(&self) -> Result<Box<dyn Any>> {
        Ok(Box::new(self.0.lock_documents()?))
    }

    fn find(&self, id: u32) -> Result<Option<StoredDocument>> {
        match self.0.document_numbered(id) {
            Err(Error::NoSuchNumber { .. }) => Ok(None),
            record => record.map(|record| Some(stored(record))),
        }
    }

    fn document(&self, id: u32) -> Result<StoredDocument> {
        self.0.document(id).map(stored)
    }

    fn for_each(&self, visit: &mut dyn FnMut(u32, StoredDocument) -> Result<()>) -> Result<()> {
        self.0.for_each_document(|id, record| visit(id, stored(record)).map(|()| true))
    }

    fn named(&self, name: &str) -> Result<Vec<u32>> {
        self.0.documents_named(name)
    }

    fn newest_version(
        &self,
        name: &str,
        digest: &Digest,
        wanted: &mut dyn FnMut(u32) -> Result<bool>,
    ) -> Result<Option<u32>> {
        self.0.newest_version(name, digest, wanted)
    }

    fn container(&self, source: &str) -> Result<Option<StoredContainer>> {
        let container = |record: ContainerRecord| StoredContainer {
            bytes: record.bytes,
            modified: record.time(),
            documents: record.documents,
            unread: record.failures(),
            unread_suffixes: record.failed_members().map(str::to_owned).collect(),
        };
        Ok(self.0.container(source)?.map(container))
    }

    fn holds(&self, digest: &Digest) -> Result<bool> {
        Ok(self.0.newest_with(digest, |_| true)?.is_some())
    }

    fn kept_out(&self) -> Result<FxHashSet<Digest>> {
        let mut contents = FxHashSet::default();
        self.0.for_each_kept_out(|digest, _| {
            contents.insert(digest);
            Ok::<_, Error>(())
        })?;
        Ok(contents)
    }

    fn filter(&self, source: &str) -> Result<Option<PathFilter>> {
        for path in Path::new(source).ancestors().filter_map(Path::to_str) {
            let options = self.0.source(path)?.map(|record| remembered::options(&record.settings)).unwrap_or_default();
            if !options.is_empty() {
                // If this version does not know the options, all members count.
                let options = options_from_json(&IngestOptions::default(), Value::Object(options));
                return options.ok().map(|options| PathFilter::new(&options.walk)).transpose();
            }
        }
        Ok(None)
    }

    fn text(&self, id: u32, limits: &InputLimits) -> Result<Option<Vec<u8>>> {
        Ok(text_of(self.0, id, limits.clone())?.map(|text| text.bytes))
    }
}

fn stored(record: DocumentRecord) -> StoredDocument {
    let DocumentRecord {
        name, source, member, bytes, modified, digest, symbols, format, extracted, stored_text, ..
    } = record;
    StoredDocument { name, source, member, bytes, modified, digest, symbols, format, extracted, stored_text }
}
