//! Refused: decides whether a document stays out, because its content was removed for good.
//!
//! A content that is kept out never returns under a name under which it was removed. Under another name it
//! is a copy: it is stored only while a stored document has the same content. A stored document that nobody
//! removed stays.

use rustc_hash::FxHashMap;

use super::Intake;
use crate::ingest::kept_out::{is_same_place, may_name, name_by_path};
use fpdb_host::error::Result;
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{CLOSED, is_missing};
use fpdb_store::DocumentRecord;

/// Maximum number of missing files, of documents with one content, that are looked for.
const LOOKED_FOR: usize = 64;

/// The copies of kept-out contents in the container that is being read, by content, path and
/// [place](without_numbers).
pub(super) type NumberedCopies = FxHashMap<(Digest, Option<String>, String), Copies>;

/// The copies of one content among the numbered parts of a container, such as the lines of a file. Numbers
/// shift if a part enters or leaves the container, so a name does not tell which copy was removed.
#[derive(Default)]
pub(super) struct Copies {
    /// Number of copies that were stored before the container was read.
    stored: u64,
    /// False while `stored` has only the copies that this run has replaced.
    is_counted: bool,
    /// Number of copies found in the container.
    found: u64,
}

impl Intake<'_> {
    /// If the content of the document is kept out, skips the document and returns true.
    pub(super) fn refuse(&mut self, record: &DocumentRecord) -> Result<bool> {
        let is_refused = self.kept_out.contains(&record.digest) && self.is_refused(record)?;
        if is_refused {
            self.abandon()?;
            self.drop_versions_before(record)?;
            self.skip(record.name.clone(), SkipReason::KeptOut);
        }
        Ok(is_refused)
    }

    fn is_refused(&mut self, record: &DocumentRecord) -> Result<bool> {
        let Some(kept_out) = self.store.kept_out_record(&record.digest)? else { return Ok(false) };
        if let Some(place) = numbered_place(record) {
            let by_path = name_by_path(record).map(|name| without_numbers(&name)).unwrap_or_default();
            let is_in_container = |name: &String| {
                let removed = without_numbers(name);
                removed == place || is_same_place(&by_path, &removed)
            };
            if kept_out.names.iter().any(is_in_container) {
                return self.exceeds_stored_copies(record, place);
            }
        }
        for id in self.known().named(&record.name)? {
            if self.known().record(id)?.digest == record.digest {
                return Ok(false);
            }
        }
        Ok(may_name(&kept_out, record) || !self.has_copy(record)?)
    }

    /// True if the container holds more copies of this document than were stored of it.
    fn exceeds_stored_copies(&mut self, record: &DocumentRecord, place: String) -> Result<bool> {
        let key = (record.digest, record.source.clone(), place);
        let mut copies = self.numbered_copies.remove(&key).unwrap_or_default();
        if !copies.is_counted {
            copies.is_counted = true;
            for id in self.known().all_with(&record.digest)? {
                let other = self.known().record(id)?;
                copies.stored += u64::from(other.source == key.1 && without_numbers(&other.name) == key.2);
            }
        }
        copies.found += 1;
        let exceeds = copies.found > copies.stored;
        self.numbered_copies.insert(key, copies);
        Ok(exceeds)
    }

    /// Notes that this run deletes a stored document, because a part of the same container with another
    /// content has its name. Another part of the container may hold the content now.
    pub(super) fn note_replaced(&mut self, old: &DocumentRecord, new: &Digest) {
        if old.digest != *new
            && self.kept_out.contains(&old.digest)
            && let Some(place) = numbered_place(old)
        {
            let copies = self.numbered_copies.entry((old.digest, old.source.clone(), place)).or_default();
            copies.stored += u64::from(!copies.is_counted);
        }
    }

    /// True if a stored document has this content. A stored document whose file is gone may leave the
    /// database soon, so it does not count for a document that was read from a file.
    fn has_copy(&self, record: &DocumentRecord) -> Result<bool> {
        let is_read = record.source.as_deref().is_some_and(|source| !is_missing(source));
        if !is_read {
            return Ok(self.known().with_content(&record.digest)?.is_some());
        }
        for id in self.known().all_with(&record.digest)?.into_iter().rev().take(LOOKED_FOR) {
            if !self.known().record(id)?.source.as_deref().is_some_and(is_missing) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The place of a document that is a numbered part of a container.
fn numbered_place(record: &DocumentRecord) -> Option<String> {
    let place = without_numbers(&record.name);
    (record.member.as_deref().is_some_and(|member| member != CLOSED) && place != record.name).then_some(place)
}

/// The name of a part of a container without the numbers of lines and mails.
fn without_numbers(name: &str) -> String {
    let without = |part: &str| match part.rsplit_once([':', '#']) {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{before}#")
        }
        _ => part.to_owned(),
    };
    name.split('!').map(without).collect::<Vec<_>>().join("!")
}
