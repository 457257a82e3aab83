//! Report: the answer of a dedup. Its rows and summary are serialized as JSON.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ordered_map;
use fpdb_apply::report_lines::{self, Because};
use fpdb_host::durable::sync_name;
use fpdb_host::error::{Error, Result};
use fpdb_host::schema::{Answer, Schema, is_zero};
use fpdb_kernel::document::{Digest, DocId, hexadecimal};

/// A removable document. Also its JSON (`fpdb.dedup/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Removable {
    pub(crate) schema: Schema<Self>,
    /// Name of the document.
    pub remove: String,
    /// Id of the document. Documents with the same name have different ids.
    pub remove_id: DocId,
    /// Name of the survivor, which is not removable itself.
    pub keep: String,
    /// Id of the survivor.
    pub keep_id: DocId,
    /// The reason why the document is removable.
    pub because: Because,
    /// The resemblance, or the containment of the document in the survivor; from 0 to 1.
    pub score: f64,
    /// Number of distinct hashes that both documents hold.
    pub shared: u64,
    /// The longest stretch of the document, in symbols, without a fingerprint that the survivor holds.
    pub novel: u64,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// The digest of the document's content.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub remove_digest: Digest,
    /// The digest of the survivor's content.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub keep_digest: Digest,
    /// The run that made the decision, from 1. `None` if decisions are not kept between runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    #[cfg_attr(feature = "json-schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub metadata: Vec<(String, String)>,
    /// The metadata of the survivor, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "ordered_map")]
    #[cfg_attr(feature = "json-schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub keep_metadata: Vec<(String, String)>,
}

impl Answer for Removable {
    const SCHEMA: &'static str = report_lines::REMOVABLE;
}

/// A document that stays because the budget was too small to decide about it. Also its JSON
/// (`fpdb.dedup.undecided/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Undecided {
    pub(crate) schema: Schema<Self>,
    /// Name of the document.
    pub document: String,
    /// Id of the document.
    pub id: DocId,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    #[cfg_attr(feature = "json-schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub metadata: Vec<(String, String)>,
}

impl Answer for Undecided {
    const SCHEMA: &'static str = "fpdb.dedup.undecided/1";
}

/// A document that an earlier run decided to keep, although a later document would justify its removal. Also
/// its JSON (`fpdb.dedup.superseded/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Superseded {
    pub(crate) schema: Schema<Self>,
    /// Name of the document.
    pub document: String,
    /// Id of the document.
    pub id: DocId,
    /// Name of the later document, which stays too.
    pub by: String,
    /// Id of the later document.
    pub by_id: DocId,
    /// The reason why the later document would justify the removal.
    pub because: Because,
    /// The resemblance, or the containment of the document in the later document; from 0 to 1.
    pub score: f64,
    /// Number of distinct hashes that both documents hold.
    pub shared: u64,
    /// The longest stretch of the document, in symbols, without a fingerprint that the later document holds.
    pub novel: u64,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// The run that found the later document, from 1.
    pub run: u32,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    #[cfg_attr(feature = "json-schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub metadata: Vec<(String, String)>,
    /// The metadata of the later document, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "ordered_map")]
    #[cfg_attr(feature = "json-schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub by_metadata: Vec<(String, String)>,
}

impl Answer for Superseded {
    const SCHEMA: &'static str = "fpdb.dedup.superseded/1";
}

/// One row of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DedupRow {
    /// A removable document.
    Removable(Removable),
    /// A document that stays because the budget was too small to decide about it.
    Undecided(Undecided),
    /// A document that stays although a newcomer would justify its removal.
    Superseded(Superseded),
}

/// The totals of a dedup. Also its JSON (`fpdb.dedup.summary/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DedupSummary {
    pub(crate) schema: Schema<Self>,
    /// Number of documents, boilerplate excluded.
    pub documents: u64,
    /// Number of removable documents.
    pub removable: u64,
    /// Number of documents that stay.
    pub kept: u64,
    /// Number of documents that stay because the budget was too small.
    pub undecided: u64,
    /// Number of survivors that justify at least one removal.
    pub groups: u64,
    /// Total size of the removable documents in bytes.
    pub bytes: u64,
    /// Number of removable documents by cause.
    pub causes: DedupCauses,
    /// The archives and folders that lose the most documents, in descending order; at most 20.
    pub sources: Vec<SourceTotals>,
    /// Number of hashes ignored because more documents hold them than the df cap allows.
    pub common: u64,
    /// Number of hashes ignored because boilerplate holds them.
    pub boilerplate: u64,
    /// Always empty: a prefix in `protect` that fits no document is an error.
    pub unmatched_protect: Vec<String>,
    /// Always empty: a pattern in `prefer` that fits no document is an error.
    pub unmatched_prefer: Vec<String>,
    /// Number of documents whose text could not be read again, although it may equal another text. Documents
    /// too large to compare do not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread: u64,
    /// Number of removable documents whose text alone was compared, although their format can hold
    /// attachments and pictures (mail, PDF, DOCX, ODT, EPUB). They are contained in their survivor or
    /// resemble it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts_not_compared: u64,
    /// Number of removable documents that are shorter than twice the guarantee, and contained in their
    /// survivor or similar to it. Such short texts may differ at their ends, beyond the first and last
    /// fingerprint. 0 if w is 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub short: u64,
    /// The last run that decided anything. `None` if decisions are not kept between runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<LatestRun>,
}

impl Answer for DedupSummary {
    const SCHEMA: &'static str = report_lines::DEDUP_SUMMARY;
}

/// The new decisions of the last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LatestRun {
    /// Number of the run, from 1.
    pub run: u32,
    /// Number of documents the run decided about.
    pub decided: u64,
    /// Number of removable documents among those decided.
    pub removable: u64,
    /// Number of all documents that stay although a newcomer of this or an earlier run would justify their
    /// removal.
    pub superseded: u64,
    /// True if this call found nothing to decide, so that these are the figures of an earlier run. Not in the
    /// JSON, because a call that was killed gives the same answer again.
    #[serde(skip)]
    pub is_earlier: bool,
}

/// Number of removable documents by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DedupCauses {
    /// Documents with the same bytes as the survivor.
    pub identical: u64,
    /// Documents with the same text as the survivor.
    #[serde(default, rename = "same-text", skip_serializing_if = "is_zero")]
    pub same_text: u64,
    /// Documents contained in the survivor.
    pub contained: u64,
    /// Documents that resemble the survivor.
    pub resembles: u64,
}

impl DedupSummary {
    pub(crate) fn count(&mut self, because: Because, bytes: u64) {
        *match because {
            Because::Identical => &mut self.causes.identical,
            Because::SameText => &mut self.causes.same_text,
            Because::Contained => &mut self.causes.contained,
            Because::Resembles => &mut self.causes.resembles,
        } += 1;
        self.removable += 1;
        self.bytes += bytes;
    }
}

/// The totals of one archive or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SourceTotals {
    /// Name of the archive or folder.
    pub source: String,
    /// Number of its documents.
    pub documents: u64,
    /// Number of its removable documents.
    pub removable: u64,
    /// Total size of its removable documents in bytes.
    pub bytes: u64,
}

/// An answer held whole in memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DedupAnswer {
    /// Removable documents, in order of ingestion.
    pub removable: Vec<Removable>,
    /// Undecided documents, in order of ingestion.
    pub undecided: Vec<Undecided>,
    /// Superseded documents, in order of ingestion.
    pub superseded: Vec<Superseded>,
    /// The totals.
    pub summary: DedupSummary,
}

impl DedupAnswer {
    /// Writes this answer to a new file as a report for `Database::apply`: lines of JSON, the summary last.
    /// The file appears whole, and replaces an older file. `apply` keeps a log beside the report, so that it
    /// can continue after it was killed.
    ///
    /// # Errors
    /// [`Error::Io`](fpdb_host::error::Error::Io) if the file cannot be written.
    pub fn write_report(&self, path: &Path) -> Result<()> {
        let failed = || Error::io("write", path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder).map_err(failed())?);
        let mut lines = || {
            self.removable.iter().try_for_each(|row| write_line(&mut file, row))?;
            self.undecided.iter().try_for_each(|row| write_line(&mut file, row))?;
            self.superseded.iter().try_for_each(|row| write_line(&mut file, row))?;
            write_line(&mut file, &self.summary)?;
            file.flush()?;
            file.get_ref().as_file().sync_all()
        };
        lines().map_err(failed())?;
        let file = file.into_inner().map_err(|error| failed()(error.into_error()))?;
        file.persist(path).map_err(|error| failed()(error.error))?;
        sync_name(path)
    }
}

fn write_line(file: &mut impl Write, row: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, row)?;
    file.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_back_with_their_fields_in_order() {
        let row = Removable {
            schema: Schema::new(),
            remove: "a".into(),
            remove_id: DocId(3),
            keep: "b".into(),
            keep_id: DocId(1),
            because: Because::Contained,
            score: 0.9,
            shared: 9,
            novel: 4,
            bytes: 100,
            remove_digest: [0xab; 16],
            keep_digest: [1; 16],
            run: None,
            metadata: vec![("id".into(), "x".into()), ("author".into(), "y".into())],
            keep_metadata: vec![("id".into(), "z".into()), ("a".into(), "w".into())],
        };
        let json = serde_json::to_string(&row).unwrap();
        let expected = r#"{"schema":"fpdb.dedup/1","remove":"a","remove_id":3,"keep":"b","keep_id":1,"because":"contained","score":0.9,"shared":9,"novel":4,"bytes":100,"remove_digest":"abababababababababababababababab","keep_digest":"01010101010101010101010101010101","metadata":{"id":"x","author":"y"},"keep_metadata":{"id":"z","a":"w"}}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Removable>(&json).unwrap(), row);
    }
}
