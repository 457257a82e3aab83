//! Summary: the result of an ingest, which is also its JSON (`fpdb.ingest/1`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use fpdb_host::error::Error;
use fpdb_host::failure::Failure;
use fpdb_host::schema::{Answer, Schema, is_false, is_zero};
use fpdb_host::skip_reason::SkipReason;
use fpdb_reading::input::RecordFields;

/// The result of an ingest or a merge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IngestSummary {
    pub(crate) schema: Schema<Self>,
    /// Documents that could be read: added, replaced, unchanged and kept.
    pub documents: u64,
    /// New documents.
    pub added: u64,
    /// Documents stored already.
    pub unchanged: u64,
    /// Documents that replaced a stored one of their name.
    pub replaced: u64,
    /// Replaced documents that were read from another place than their replacements.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replaced_from_other_places: u64,
    /// New files that are named by their absolute path, because another file has their name as typed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub named_by_path: u64,
    /// Changed documents left out on request.
    pub kept: u64,
    /// Stored documents deleted because the container they came from no longer holds them, or because their
    /// new contents are kept out.
    #[serde(default)]
    pub removed: u64,
    /// Stored documents deleted because their file is gone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pruned: u64,
    /// Stored documents that stay although their file is gone, because they were read from a place outside
    /// the folders of this run. For example, the folder was moved. With
    /// [`IngestOptions::prune`](crate::IngestOptions::prune).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub elsewhere: u64,
    /// Unchanged documents whose file has a new name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub renamed: u64,
    /// Added or replacing documents whose content another stored document has.
    pub identical: u64,
    /// Added documents with the content of a stored document whose file is gone, for example because a folder
    /// was moved. [`DatabaseWriter::rename`](crate::DatabaseWriter::rename) before the ingest keeps the
    /// stored documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moved: u64,
    /// Documents supplied by the caller that have the name of an earlier document of the same call. By
    /// default they replace the earlier document.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// The names of the first [`IngestSummary::LISTED`] repeated documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated_names: Vec<String>,
    /// Documents that could not be read.
    #[serde(default)]
    pub failures: u64,
    /// The first [`IngestSummary::LISTED`] failures.
    pub failed: Vec<Failure>,
    /// Files and members that were skipped: binary files, links, pipes and the like.
    #[serde(default)]
    pub skips: u64,
    /// The first [`IngestSummary::LISTED`] skipped files and members.
    pub skipped: Vec<Skipped>,
    /// Files and members that `include` and `exclude` left out. Files in folders that `exclude` left out do
    /// not count, nor do members of archives that were not read again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Skipped documents that are kept out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept_out: u64,
    /// Contents that the merged database keeps out and this database does not. This database has documents
    /// with these contents, and the merged database lacks such documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_kept_out: u64,
    /// Skipped archives of kinds that are not read, such as 7z.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread_archives: u64,
    /// Added or replacing documents that have no text, such as scanned pages and empty records, but not empty
    /// files. Only a query with the same bytes finds them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without_text: u64,
    /// Added or replacing documents that have text, but too little for a fingerprint. Only a query with the
    /// same bytes finds them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub too_short: u64,
    /// Attachments of added or replacing mails that are not read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attachments: u64,
    /// Bytes of the added and replacing documents.
    pub bytes: u64,
    /// Symbols of the added and replacing documents.
    pub symbols: u64,
    /// Fingerprints of the added and replacing documents.
    pub fingerprints: u64,
    /// Byte sequences in the added and replacing documents that are not characters in the document's
    /// encoding.
    pub undecodable: u64,
    /// Documents that have such sequences.
    pub undecodable_documents: u64,
    /// Number of added and replacing documents by format.
    pub formats: BTreeMap<String, u64>,
    /// Rows of the metadata table that no document matches. Empty if the run was interrupted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
    /// Fields to keep that no document read by this run has. Also the field of the id if no such document has
    /// this field, unless it is the default field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_fields: Vec<String>,
    /// Added or replacing documents that are boilerplate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub boilerplate: u64,
    /// Stored documents that became boilerplate. They count as replaced too. A document whose text is stored
    /// stays as it is if a merge brings no text for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made_boilerplate: u64,
    /// In a dry run, the first [`IngestSummary::LISTED`] names of documents that would be deleted: `pruned`
    /// and `removed` ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_names: Vec<String>,
    /// True if nothing was stored: the numbers are those of a run that would store the documents.
    #[serde(default, skip_serializing_if = "is_false")]
    pub dry_run: bool,
    /// True if the run was stopped. Committed documents are safe, and the same run continues.
    pub interrupted: bool,
    /// Wall-clock time, to the millisecond.
    pub seconds: f64,
}

impl Answer for IngestSummary {
    const SCHEMA: &'static str = "fpdb.ingest/1";
}

/// A file or member that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Skipped {
    /// The name of the file or member.
    pub name: String,
    /// The reason for skipping it.
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub reason: SkipReason,
}

impl IngestSummary {
    /// Maximum number of failures, and of skipped files, that a summary lists by name.
    /// [`Progress`](crate::Progress) receives all of them.
    pub const LISTED: usize = 1000;

    /// Counts a failure, and lists it if the list has room.
    pub(super) fn fail(&mut self, name: &str, error: &Error) {
        self.failures += 1;
        if self.failed.len() < Self::LISTED {
            self.failed.push(Failure::of(name, error));
        }
    }

    /// Counts a skipped file, and lists it if the list has room.
    pub(super) fn skip(&mut self, name: String, reason: SkipReason) {
        self.count_skips(1, &reason);
        if self.skipped.len() < Self::LISTED {
            self.skipped.push(Skipped { name, reason });
        }
    }

    /// Counts files that were skipped for one reason.
    pub(super) fn count_skips(&mut self, number: u64, reason: &SkipReason) {
        let add = |count: &mut u64, counts: bool| *count = count.saturating_add(if counts { number } else { 0 });
        add(&mut self.skips, true);
        add(&mut self.kept_out, *reason == SkipReason::KeptOut);
        add(&mut self.unread_archives, reason.is_unread_archive());
    }

    /// Lists a deleted document of a dry run, if the list has room.
    pub(super) fn list_removed(&mut self, name: &str) {
        if self.dry_run && self.removed_names.len() < Self::LISTED {
            self.removed_names.push(name.to_owned());
        }
    }

    /// The result of several runs, which have read different sources with these fields.
    pub(super) fn of_runs(runs: Vec<(Self, &RecordFields)>) -> Self {
        // A field is absent if no run that wanted it has found it.
        let is_found = |field: &String| {
            let wants = |fields: &RecordFields| fields.id == *field || fields.keep.contains(field);
            runs.iter().any(|(run, fields)| wants(fields) && !run.absent_fields.contains(field))
        };
        let found: BTreeSet<String> =
            runs.iter().flat_map(|(run, _)| &run.absent_fields).filter(|field| is_found(field)).cloned().collect();
        let mut runs = runs.into_iter().map(|(run, _)| run);
        let mut all = runs.next().unwrap_or_default();
        runs.for_each(|run| all.add(run));
        all.absent_fields.retain(|field| !found.contains(field));
        all
    }

    /// Adds the result of the next run.
    fn add(&mut self, next: Self) {
        // All fields are named, so that none is forgotten.
        macro_rules! add {
            (sums $($sum:ident)*, lists $($list:ident)*, others $formats:ident $unmatched:ident $absent:ident $ended:ident) => {
                let Self { schema: _, dry_run: _, seconds: _, $($sum,)* $($list,)* $formats, $unmatched, absent_fields: $absent, interrupted: $ended } = next;
                $(self.$sum += $sum;)*
                $(self.$list.extend($list);
                self.$list.truncate(Self::LISTED);)*
            };
        }
        add! {
            sums documents added unchanged replaced replaced_from_other_places named_by_path kept removed pruned elsewhere
            renamed identical moved repeated failures skips left_out kept_out not_kept_out unread_archives without_text
            too_short attachments bytes symbols fingerprints undecodable undecodable_documents boilerplate made_boilerplate,
            lists repeated_names failed skipped removed_names,
            others formats unmatched absent interrupted
        }
        formats.into_iter().for_each(|(format, more)| *self.formats.entry(format).or_default() += more);
        // All runs share the metadata table, which records the rows that were matched. So the list of the
        // later run is complete, and replaces the earlier list.
        self.unmatched = unmatched;
        let new: Vec<String> = absent.into_iter().filter(|field| !self.absent_fields.contains(field)).collect();
        self.absent_fields.extend(new);
        self.interrupted |= interrupted;
    }

    /// Documents that could be read so far.
    pub(super) fn read(&self) -> u64 {
        self.added + self.replaced + self.unchanged + self.kept
    }

    /// The current counts, without the lists of names.
    pub(super) fn counts(&self) -> Self {
        let (unmatched, absent_fields, repeated_names) = (Vec::new(), Vec::new(), Vec::new());
        let (removed_names, failed, skipped) = (Vec::new(), Vec::new(), Vec::new());
        let formats = self.formats.clone();
        Self { formats, unmatched, absent_fields, repeated_names, removed_names, failed, skipped, ..*self }
    }

    /// The summary of a run that began at `started` and has ended.
    pub(super) fn ended(self, started: Instant) -> Self {
        let seconds = (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        Self { documents: self.read(), seconds, ..self }
    }
}
