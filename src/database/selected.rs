//! Selected: documents chosen by prefixes of names and by metadata.

use serde::Serialize;

use super::Database;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::DocId;
use fpdb_reading::input::NamePrefix;

/// The documents of a selection, for example for
/// [`DatabaseWriter::remove_numbers`](crate::DatabaseWriter::remove_numbers).
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
    /// whose metadata have all `fields` (names and values). Reads every record.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn select(&self, prefixes: &[String], fields: &[(String, String)]) -> Result<SelectedDocuments> {
        let names: Vec<NamePrefix> = prefixes.iter().map(|prefix| NamePrefix::new(prefix)).collect();
        let (mut fits, mut has) = (vec![false; names.len()], vec![false; fields.len()]);
        let mut selected = SelectedDocuments::default();
        self.for_each_document::<Error>(|document| {
            let mut named = names.is_empty();
            for (prefix, fits) in names.iter().zip(&mut fits) {
                let is_one = prefix.fits(&document.name).is_some();
                named |= is_one;
                *fits |= is_one;
            }
            let mut said = true;
            for ((key, value), has) in fields.iter().zip(&mut has) {
                let is_one = document.metadata.get(key) == Some(value);
                said &= is_one;
                *has |= is_one;
            }
            if named && said {
                selected.ids.push(document.id);
                selected.bytes += document.bytes;
            }
            Ok(())
        })?;
        let prefixes = prefixes.iter().zip(fits).filter(|(_, fits)| !fits);
        let fields = fields.iter().zip(has).filter(|(_, has)| !has);
        let prefixes = prefixes.map(|(prefix, _)| format!("a name that begins with {prefix}"));
        selected.unmatched = prefixes.chain(fields.map(|((key, value), _)| format!("{key}={value}"))).collect();
        Ok(selected)
    }
}
