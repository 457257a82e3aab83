//! Answer: the action on each file, and the totals. Its types are also the JSON.

use serde::{Deserialize, Serialize};

use fpdb_host::schema::{Answer, Schema, is_false, is_zero};

/// The action on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Act {
    /// Copied whole.
    Copy,
    /// Copied without some of its documents.
    Write,
    /// Copied without some passages of its documents.
    Cut,
    /// Not copied, because the file holds only removable documents. If `target` is set, the database no
    /// longer has the file, and this run removes the copy that an earlier run made.
    Omit,
    /// Each of its records gets a mark that says whether it is removable.
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
    /// The name of the action in JSON.
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
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Applied {
    pub(crate) schema: Schema<Self>,
    /// Absolute path of the file.
    pub source: String,
    /// The action.
    pub act: Act,
    /// Path of the copy, even if this run removed it or left it as it was. For a link: path of the survivor.
    /// For a moved file: its new path. Otherwise `None`.
    pub target: Option<String>,
    /// Number of the file's documents that are removable or have repeated passages.
    pub documents: u64,
    /// Number of records that are left out or marked because their contents are kept out (`rm --keep-out`),
    /// with earlier members of their names, which would come to light. The database does not hold these
    /// records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_out: u64,
    /// False in a dry run.
    pub done: bool,
    /// Why the file is left alone, or why some of its documents stay.
    pub reason: Option<String>,
    /// True if an earlier run has acted on the file and the result has not changed since. Not in the JSON:
    /// `done_before` in the summary counts these files.
    #[serde(skip)]
    pub done_before: bool,
}

impl Answer for Applied {
    const SCHEMA: &'static str = "fpdb.apply/1";
}

/// The totals of all actions. Also its JSON (`fpdb.apply.summary/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ApplySummary {
    pub(crate) schema: Schema<Self>,
    /// Number of files that documents of the database come from.
    pub sources: u64,
    /// Number of documents in the report: removable ones, or those with repeated passages.
    pub documents: u64,
    /// Number of documents left out, removed, linked, moved, marked or cut.
    pub applied: u64,
    /// Number of documents that stay. Those in `missing` do not count.
    pub left: u64,
    /// Number of documents that stay because no unchanged survivor justifies their removal.
    pub unjustified: u64,
    /// Number of removable documents that stay because they cannot be left out of their file, or cannot be
    /// marked. For example, their container is copied whole. `reason` of the file says why.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inseparable: u64,
    /// Number of removable documents whose text alone was compared, although their format can hold
    /// attachments and pictures. They are contained in their survivor or resemble it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts_not_compared: u64,
    /// Number of documents that the database no longer holds, or that were read from no file.
    pub missing: u64,
    /// The first 20 names of a list that no stored document has; `missing` counts all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<String>,
    /// Number of files left alone because they have changed or cannot be read or written.
    pub failed: u64,
    /// Number of the files in `failed` that were not copied or moved because their new place is taken, or
    /// because their name gives no place.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unplaced: u64,
    /// Number of the files in `failed` that the system refused to read, change or place; permissions can be
    /// the cause. The same call retries them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// Number of the files in `failed` whose records already have a field with the name of the mark.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub field_taken: u64,
    /// Number of files that stay whole although the report lists some of their documents. Only a copy can
    /// leave out these documents, or they cannot be marked, or no passages can be cut out of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub whole: u64,
    /// Number of copies of earlier runs that stay as they were, because their files are no longer stored,
    /// have changed or cannot be read. They can hold documents to leave out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale: u64,
    /// Number of copies of earlier runs that are removed, because the database no longer has their files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned: u64,
    /// Number of documents that have no symbol left after their passages are cut out. The copy leaves out
    /// these documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without_text: u64,
    /// Number of records that are left out or marked because their contents are kept out, with earlier
    /// members of their names, which would come to light.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_out: u64,
    /// Number of records that copies still hold although their contents are kept out (`rm --keep-out`). They
    /// are parts of a mail or container that is copied whole, or of a copy that stays as it was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_out_left: u64,
    /// Number of parts of files that could not be searched for records whose contents are kept out. Such a
    /// part cannot be read, or its file was ingested in several ways.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_out_unsearched: u64,
    /// Number of copies without any document.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub emptied: u64,
    /// Number of files that an earlier run has finished.
    pub done_before: u64,
    /// Bytes written, or bytes of the files removed, linked or moved.
    pub bytes: u64,
    /// False in a dry run.
    pub done: bool,
    /// True if the report lists repeated passages instead of removable documents.
    #[serde(default, skip_serializing_if = "is_false")]
    pub passages: bool,
    /// True if a list of documents takes the place of a report.
    #[serde(default, skip_serializing_if = "is_false")]
    pub listed: bool,
}

/// The contribution of one file to the totals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) applied: u64,
    pub(super) unjustified: u64,
    pub(super) inseparable: u64,
    pub(super) bytes: u64,
    pub(super) emptied: bool,
    pub(super) done_before: bool,
    pub(super) failed: bool,
    pub(super) unplaced: bool,
    pub(super) refused: bool,
    pub(super) field_taken: bool,
    pub(super) whole: bool,
    pub(super) without_text: u64,
    pub(super) kept_out: u64,
    pub(super) kept_out_left: u64,
    pub(super) kept_out_unsearched: u64,
}

impl ApplySummary {
    pub(super) fn add(&mut self, one: &Outcome) {
        let totals = [
            (&mut self.applied, one.applied),
            (&mut self.unjustified, one.unjustified),
            (&mut self.inseparable, one.inseparable),
            (&mut self.bytes, one.bytes),
            (&mut self.emptied, one.emptied.into()),
            (&mut self.done_before, one.done_before.into()),
            (&mut self.failed, one.failed.into()),
            (&mut self.unplaced, one.unplaced.into()),
            (&mut self.refused, one.refused.into()),
            (&mut self.field_taken, one.field_taken.into()),
            (&mut self.whole, one.whole.into()),
            (&mut self.without_text, one.without_text),
            (&mut self.kept_out, one.kept_out),
            (&mut self.kept_out_left, one.kept_out_left),
            (&mut self.kept_out_unsearched, one.kept_out_unsearched),
        ];
        for (total, number) in totals {
            *total += number;
        }
    }
}

impl Answer for ApplySummary {
    const SCHEMA: &'static str = "fpdb.apply.summary/1";
}
