//! Answer: what was done with each file, and in all. Also the JSON of it.

use serde::{Deserialize, Serialize};

use fpdb_host::schema::{Answer, Schema};

/// The action on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Act {
    /// Copied whole.
    Copy,
    /// Copied without some of its documents.
    Write,
    /// Copied without some passages of its documents.
    Cut,
    /// Not copied: it is one document, and removable.
    Omit,
    /// Its records say whether they are removable.
    Mark,
    /// Removed.
    Remove,
    /// Replaced by a link.
    Link,
    /// Moved.
    Move,
    /// Left alone.
    Leave,
}

impl Act {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Write => "write",
            Self::Cut => "cut",
            Self::Omit => "omit",
            Self::Mark => "mark",
            Self::Remove => "remove",
            Self::Link => "link",
            Self::Move => "move",
            Self::Leave => "leave",
        }
    }
}

/// The action on one file. Also its JSON (`fpdb.apply/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Applied {
    pub(crate) schema: Schema<Self>,
    /// The file.
    pub source: String,
    /// The action.
    pub act: Act,
    /// The copy, the file that is linked to, or the new place.
    pub target: Option<String>,
    /// Removable documents, or documents with repeated passages, that this is about.
    pub documents: u64,
    /// False where it would only be done.
    pub done: bool,
    /// Why the file is left alone, or why documents of it stay.
    pub reason: Option<String>,
}

impl Answer for Applied {
    const SCHEMA: &'static str = "fpdb.apply/1";
}

/// The totals of all actions. Also its JSON (`fpdb.apply.summary/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApplySummary {
    pub(crate) schema: Schema<Self>,
    /// Files that documents of the database come from.
    pub sources: u64,
    /// Removable documents of the report, or documents with repeated passages.
    pub documents: u64,
    /// Documents left out, removed, linked, moved, marked or cut.
    pub applied: u64,
    /// Documents that stay.
    pub left: u64,
    /// Documents that stay because their survivor has changed.
    pub unjustified: u64,
    /// Documents contained in their survivor, or resembling it, of formats that hold attachments and pictures: only the texts
    /// were compared.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts_not_compared: u64,
    /// Documents that the database no longer holds.
    pub missing: u64,
    /// Files left alone because they have changed or cannot be read or written.
    pub failed: u64,
    /// Files of those that were not copied or moved because something else is in their new place, or they have no place there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unplaced: u64,
    /// Files of those that the system did not let be read, changed or placed: for want of permission, say. The same call takes them up
    /// again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// Copies in which no document is left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub emptied: u64,
    /// Files that an earlier run was done with.
    pub done_before: u64,
    /// Bytes written, or bytes of the files removed, linked or moved.
    pub bytes: u64,
    /// False where all this would only be done.
    pub done: bool,
    /// True if the report lists repeated passages, and not removable documents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passages: bool,
}

/// What one file adds to the totals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) applied: u64,
    pub(super) unjustified: u64,
    pub(super) bytes: u64,
    pub(super) emptied: bool,
    pub(super) done_before: bool,
    pub(super) failed: bool,
    pub(super) unplaced: bool,
    pub(super) refused: bool,
}

impl ApplySummary {
    pub(super) fn add(&mut self, one: &Outcome) {
        self.count(one, u64::wrapping_add);
    }

    /// Takes back what was added for a file that is looked at again.
    pub(super) fn subtract(&mut self, one: &Outcome) {
        self.count(one, u64::wrapping_sub);
    }

    fn count(&mut self, one: &Outcome, count: fn(u64, u64) -> u64) {
        let totals = [
            (&mut self.applied, one.applied),
            (&mut self.unjustified, one.unjustified),
            (&mut self.bytes, one.bytes),
            (&mut self.emptied, one.emptied.into()),
            (&mut self.done_before, one.done_before.into()),
            (&mut self.failed, one.failed.into()),
            (&mut self.unplaced, one.unplaced.into()),
            (&mut self.refused, one.refused.into()),
        ];
        for (total, number) in totals {
            *total = count(*total, number);
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Answer for ApplySummary {
    const SCHEMA: &'static str = "fpdb.apply.summary/1";
}
