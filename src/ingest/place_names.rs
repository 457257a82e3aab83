//! Place names: the names of the documents of a place that is gone or empty. From these names an error tells
//! how to remove these documents and no others.

use std::collections::BTreeSet;

use roaring::RoaringBitmap;

use fpdb_host::error::{NamesThere, Result};
use fpdb_reading::input::{NamePrefix, PARTS};
use fpdb_store::Store;

/// Maximum number of documents that an error names.
const NAMED: usize = 3;

/// The number of some documents, the first names, and the beginning that all names share.
#[derive(Debug, Default)]
pub(super) struct PlaceNames {
    pub(super) number: u64,
    first: BTreeSet<String>,
    /// The only name, or the common beginning up to the end of a component. May be empty.
    beginning: String,
}

impl PlaceNames {
    /// Adds the name of a document.
    pub(super) fn add(&mut self, name: &str) {
        self.number += 1;
        if self.first.len() < NAMED {
            self.first.insert(name.to_owned());
        }
        if self.number == 1 {
            name.clone_into(&mut self.beginning);
        } else if self.beginning != name {
            let common = self.beginning.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
            let is_end = |byte: &u8| *byte == b'/' || PARTS.contains(&char::from(*byte));
            let end = self.beginning.as_bytes()[..common].iter().rposition(is_end);
            self.beginning.truncate(end.map_or(0, |end| end + 1));
        }
    }

    /// The names that the error reports: the common beginning if no other document has it, else all names or
    /// the first.
    pub(super) fn there(self, store: &Store) -> Result<NamesThere> {
        let Self { number, first, beginning } = self;
        // A removal refuses a prefix that fits every name.
        let is_narrow = number > 1 && NamePrefix::new(&beginning).fits("").is_none();
        if is_narrow && number_beginning(store, &beginning, number)? == number {
            return Ok(NamesThere::Beginning(beginning));
        }
        let mut of_first = 0;
        for name in &first {
            of_first += store.documents_named(name)?.len() as u64;
        }
        let (are_all, first) = (first.len() as u64 == number && of_first == number, first.into_iter().collect());
        Ok(if are_all { NamesThere::All(first) } else { NamesThere::First(first) })
    }
}

/// The number of stored documents whose names match this prefix. Does not count far beyond `enough`.
fn number_beginning(store: &Store, prefix: &str, enough: u64) -> Result<u64> {
    let mut ids = RoaringBitmap::new();
    for start in NamePrefix::new(prefix).spellings() {
        store.for_each_name_beginning(start, |_, id| {
            ids.insert(id);
            Ok(ids.len() <= enough)
        })?;
    }
    Ok(ids.len())
}
