//! Selected: documents chosen by prefixes of names and by metadata.

use roaring::RoaringBitmap;
use serde::Serialize;

use super::{Database, DocumentInfo, ids_named};
use crate::archive::nothing_fits::no_such_value;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_kernel::document::DocId;
use fpdb_reading::input::{NamePrefix, PARTS, tidied};
use fpdb_store::{DocumentRecord, Store, check_field};

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
    /// The indexes, in `fields`, of the values that no document has. [`Database::no_such_value`] gives the
    /// reason.
    #[serde(skip)]
    pub unmatched_fields: Vec<usize>,
}

impl Database {
    /// Selects the documents whose names begin with one of `prefixes`, and whose metadata have all `fields`
    /// (names and values). Without prefixes, every name fits. A field name in another case fits too, unless
    /// the document has a field with the exact spelling. A field name can end with a sign. `~` selects values
    /// that contain the given value, `>` equal or later values, and `<` equal or earlier values. If the given
    /// value is a date of ISO 8601, only dates fit, in the order of time. If the given value is a number,
    /// only numbers fit, and also dates if the number can be a year. Otherwise values are in the order of
    /// text. A text or date that begins with the given value counts as equal. Reads the records of all
    /// documents if there are fields or no prefixes.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a prefix that every name has, such as `./`, and for `.`, since both
    /// are probably mistakes; and for a range of `date` whose bound is not a date. [`Error::Stopped`]; a
    /// failure to read the store.
    pub fn select(
        &self,
        prefixes: &[String],
        fields: &[(String, String)],
        task: &Task<'_>,
    ) -> Result<SelectedDocuments> {
        select(&self.store, prefixes, fields, task)
    }

    /// At most `most` documents of the file or folder `name`: first the documents with this name, then
    /// documents of files in the folder, then parts of the file.
    ///
    /// # Errors
    /// A failure to read the store.
    pub fn documents_below(&self, name: &str, most: usize) -> Result<Vec<DocumentInfo>> {
        let store = self.store.as_of_last_commit();
        let mut ids = ids_named(&store, name)?;
        let name = tidied(name).unwrap_or_else(|| name.to_owned());
        let starts = match name.trim_end_matches('/') {
            // The root, or the current folder.
            "" => vec![name.clone()],
            bare => [&['/'][..], &PARTS].concat().into_iter().map(|sign| format!("{bare}{sign}")).collect(),
        };
        for start in starts {
            if ids.len() < most {
                store.for_each_name_beginning(&start, |found, id| {
                    ids.extend((found.starts_with('/') == name.starts_with('/')).then_some(id));
                    Ok(ids.len() < most)
                })?;
            }
        }
        ids.truncate(most);
        ids.into_iter().map(|id| Ok(DocumentInfo::new(id, store.document(id)?))).collect()
    }

    /// The error for a value that no document has in its metadata. It is [`Error::NoSuchKey`] if no document
    /// has the field. Otherwise it is [`Error::NothingFits`], with a looser choice that fits documents, if
    /// there is one. Reads the records of all documents.
    ///
    /// # Errors
    /// [`Error::Stopped`]; a failure to read the store.
    pub fn no_such_value(&self, name: &str, value: &str, task: &Task<'_>) -> Result<Error> {
        no_such_value(&self.store, name, value, task)
    }
}

const NARROWER: &str =
    "a longer one, because every name begins with it; to remove all documents, delete the folder of the database";

const NO_FOLDER: &str = "a longer one, such as `../` or `.git/`: no name has `.` for the current folder; to remove all documents, delete \
     the folder of the database";

/// As [`Database::select`].
pub(super) fn select(
    store: &Store,
    prefixes: &[String],
    fields: &[(String, String)],
    task: &Task<'_>,
) -> Result<SelectedDocuments> {
    if prefixes.iter().any(|prefix| prefix == ".") {
        return Err(Error::InvalidParameter { name: "a prefix", value: r#"".""#.into(), expected: NO_FOLDER });
    }
    let begins_all = |prefix: &&String| NamePrefix::new(prefix).fits("").is_some();
    if let Some(prefix) = prefixes.iter().find(begins_all) {
        return Err(Error::InvalidParameter { name: "a prefix", value: format!("{prefix:?}"), expected: NARROWER });
    }
    fields.iter().try_for_each(|(name, value)| check_field(name, value))?;
    let mut compared = 0;
    let mut compare = || {
        compared += 1;
        if is_due(compared) { task.step("documents compared", compared, 0) } else { task.token().check() }
    };
    let mut selected = SelectedDocuments::default();
    let mut named = RoaringBitmap::new();
    for prefix in prefixes {
        let mut fits = false;
        for start in NamePrefix::new(prefix).spellings() {
            store.for_each_name_beginning(start, |_, id| {
                compare()?;
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
        compare()?;
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
                // Another thread has deleted the document in the meantime.
                Err(_) if !store.view().is_live(id) => {}
                record => _ = visit(id, record?)?,
            }
        }
    } else {
        store.for_each_document(visit)?;
    }
    for (number, ((key, value), _)) in fields.iter().zip(has).enumerate().filter(|(_, (_, has))| !has) {
        selected.unmatched.push(format!("{key}={value}"));
        selected.unmatched_fields.push(number);
    }
    Ok(selected)
}

#[cfg(test)]
mod tests {
    use fpdb_host::stop::StopToken;
    use fpdb_kernel::profile::Profile;
    use fpdb_reading::input::Document;

    use super::*;

    #[test]
    fn a_removal_needs_a_selection_that_not_every_name_fits() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::create(folder.path().join("db"), Profile::PROSE).unwrap();
        database.ingest(["a", "b/1", "b/2", "/c"].map(|name| Document::new(name, name))).unwrap();
        let remove = |prefixes: &[&str], fields: &[(String, String)]| {
            let prefixes: Vec<String> = prefixes.iter().copied().map(Into::into).collect();
            database.remove_selected(&prefixes, fields, &Task::new())
        };
        let field = [("key".to_owned(), "value".to_owned())];
        for prefix in ["", "./", ".//", "././", "."] {
            for (prefixes, fields) in [(vec![prefix], &[][..]), (vec!["a", prefix], &[]), (vec![prefix], &field)] {
                let refused = remove(&prefixes, fields).unwrap_err();
                assert!(matches!(refused, Error::InvalidParameter { name: "a prefix", .. }), "{prefix}: {refused}");
            }
        }
        assert!(matches!(remove(&[], &[]).unwrap_err(), Error::InvalidParameter { name: "a selection", .. }));
        assert_eq!(database.document_count(), 4);
        assert_eq!(database.select(&[], &[], &Task::new()).unwrap().ids.len(), 4);
        assert_eq!(remove(&["./b/"], &[]).unwrap().removed, 2);
    }

    #[test]
    fn documents_below_a_name_are_those_of_a_file_or_folder() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::create(folder.path().join("db"), Profile::PROSE).unwrap();
        let all = ["/c", "a/d", "a", "a/b/1", "a/b:2", "a/b", "a/b2", "a/b#1"];
        database.ingest(all.map(|name| Document::new(name, name))).unwrap();
        for (name, most, expected) in [
            ("a/b", 9, &["a/b", "a/b/1", "a/b:2", "a/b#1"][..]),
            ("./a//b/", 3, &["a/b", "a/b/1", "a/b:2"]),
            ("a/b", 1, &["a/b"]),
            ("a/b", 0, &[]),
            (".", 9, &["a", "a/b", "a/b#1", "a/b/1", "a/b2", "a/b:2", "a/d"]),
            ("/", 9, &["/c"]),
            ("none", 9, &[]),
        ] {
            let found = database.documents_below(name, most).unwrap();
            assert_eq!(found.iter().map(|document| &*document.name).collect::<Vec<_>>(), expected, "{name} {most}");
        }
    }

    #[test]
    fn a_selection_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::create(folder.path().join("db"), Profile::PROSE).unwrap();
        database.ingest(["a1", "a2", "a3", "b"].map(|name| Document::new(name, name))).unwrap();
        for prefixes in [vec![], vec!["a".to_owned()]] {
            let stop = StopToken::after(2);
            assert!(matches!(database.select(&prefixes, &[], &Task::new().stop(&stop)), Err(Error::Stopped)));
            let stop = StopToken::after(2);
            assert!(matches!(database.no_such_value("key", "x", &Task::new().stop(&stop)), Err(Error::Stopped)));
        }
    }
}
