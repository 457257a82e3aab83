//! Stored place: the place a stored document was read from.

use fpdb_reading::input::StoredPlace;
use fpdb_store::DocumentRecord;

/// The place of a stored document; `None` if it was not read from a file.
pub(crate) fn stored_place(record: &DocumentRecord) -> Option<StoredPlace<'_>> {
    StoredPlace::new(record.source.as_deref(), &record.name, record.member.as_deref(), record.bytes)
}
