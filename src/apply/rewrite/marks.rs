//! Marks: what is said in each record, whether it is removable and which document stays for it.

use super::super::check::Cut;
use crate::error::Result;
use crate::store::Store;

/// What the marks of records say.
pub(super) struct Marks<'a> {
    pub(super) field: &'a str,
    pub(super) cuts: &'a [Cut],
    pub(super) store: &'a Store,
}

/// The verdict on a record.
pub(super) const REMOVE: &str = "remove";
pub(super) const KEEP: &str = "keep";

impl Marks<'_> {
    /// The field of the survivor.
    pub(super) fn survivor_field(&self) -> String {
        format!("{}_survivor", self.field)
    }

    /// The survivor of the record that begins at this place, where it is removable.
    pub(super) fn survivor(&self, start: u64) -> Result<Option<String>> {
        match self.cuts.binary_search_by_key(&start, |cut| cut.start) {
            Ok(at) => Ok(Some(self.store.document(self.cuts[at].keep)?.name)),
            Err(_) => Ok(None),
        }
    }
}
