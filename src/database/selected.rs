//! Selected: documents chosen by prefixes of names and by metadata.

use roaring::RoaringBitmap;
use serde::Serialize;

use super::Database;
use fpdb_host::error::Result;
use fpdb_kernel::document::DocId;
use fpdb_reading::input::NamePrefix;
use fpdb_store::{DocumentRecord, Store};

/// The documents of a selection. [`DatabaseWriter::remove_selected`](crate::DatabaseWriter::remove_selected)
/// deletes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SelectedDocuments {
    /// Numbers of the documents, ascending.
    pub ids: Vec<DocId>,
    /// Total size of the documents in bytes.
    pub bytes: u64,
    /// The prefixes and values that no document has, as phrases: `a name that begins with x`, `key=value`.
    pub unmatched: Vec<String>,
}

impl Database {
    /// Selects the documents whose name begins with one of `prefixes`, or any name if there are none, and
    /// whose metadata have all `fields` (names and values). A name of other case fits too if the document has
    /// none that is spelled exactly so. Reads the records of all documents if there are fields or no
    /// prefixes.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn select(&self, prefixes: &[String], fields: &[(String, String)]) -> Result<SelectedDocuments> {
        select(&self.store, prefixes, fields)
    }
}

/// As [`Database::select`].
pub(super) fn select(store: &Store, prefixes: &[String], fields: &[(String, String)]) -> Result<SelectedDocuments> {
    let mut selected = SelectedDocuments::default();
    let mut named = RoaringBitmap::new();
    for prefix in prefixes {
        let mut fits = false;
        for start in NamePrefix::new(prefix).spellings() {
            store.for_each_name_beginning(start, |_, id| {
                fits = true;
                named.insert(id);
                Ok(true)
            })?;
        }
        if !fits {
            selected.unmatched.push(format!("a name that begins with {prefix}"));
        }
    }
    let mut has = vec![false; fields.len()];
    let mut visit = |id: u32, record: DocumentRecord| {
        let mut said = true;
        for (field, has) in fields.iter().zip(&mut has) {
            let is_one = record.has_field(&field.0, &field.1);
            said &= is_one;
            *has |= is_one;
        }
        if said && (prefixes.is_empty() || named.contains(id)) {
            selected.ids.push(DocId(id));
            selected.bytes += record.bytes;
        }
        Ok(true)
    };
    if fields.is_empty() && !prefixes.is_empty() {
        for id in &named {
            match store.document(id) {
                // Another thread has deleted it in the meantime.
                Err(_) if !store.view().is_live(id) => {}
                record => _ = visit(id, record?)?,
            }
        }
    } else {
        store.for_each_document(visit)?;
    }
    let absent = fields.iter().zip(has).filter(|(_, has)| !has);
    selected.unmatched.extend(absent.map(|((key, value), _)| format!("{key}={value}")));
    Ok(selected)
}
