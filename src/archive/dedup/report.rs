//! Report: what a dedup answers. Each row and the summary are also their JSON.

use serde::{Deserialize, Serialize};

use fpdb_host::duplicate::{Because, ordered_map};
use fpdb_host::schema::{Answer, Schema, is_zero};
use fpdb_kernel::document::{Digest, DocId, hexadecimal};

/// A removable document. Also its JSON (`fpdb.dedup/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Removable {
    pub(crate) schema: Schema<Self>,
    /// The document.
    pub remove: String,
    /// Its number, which tells versions of one name apart.
    pub remove_id: DocId,
    /// The survivor, which is itself not removable.
    pub keep: String,
    /// Its number.
    pub keep_id: DocId,
    /// Why.
    pub because: Because,
    /// The resemblance, or the containment of the document in the survivor.
    pub score: f64,
    /// Hashes both hold.
    pub shared: u64,
    /// The longest stretch of the document, in symbols, of which the survivor holds no fingerprint.
    pub novel: u64,
    /// Bytes of the document.
    pub bytes: u64,
    /// The digest of the document's content.
    #[serde(with = "hexadecimal")]
    pub remove_digest: Digest,
    /// The digest of the survivor's content.
    #[serde(with = "hexadecimal")]
    pub keep_digest: Digest,
    /// The run that has decided so, where decisions are kept from run to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    pub metadata: Vec<(String, String)>,
}

impl Answer for Removable {
    const SCHEMA: &'static str = "fpdb.dedup/1";
}

/// A document that stays because the budget did not suffice to decide about it. Also its JSON (`fpdb.dedup.undecided/1`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Undecided {
    pub(crate) schema: Schema<Self>,
    /// The document.
    pub document: String,
    /// Its number.
    pub id: DocId,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    pub metadata: Vec<(String, String)>,
}

impl Answer for Undecided {
    const SCHEMA: &'static str = "fpdb.dedup.undecided/1";
}

/// A document that stays because an earlier run has decided so, although a document that came later would justify its removal.
/// Also its JSON (`fpdb.dedup.superseded/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Superseded {
    pub(crate) schema: Schema<Self>,
    /// The document.
    pub document: String,
    /// Its number.
    pub id: DocId,
    /// The document that came later, and stays.
    pub by: String,
    /// Its number.
    pub by_id: DocId,
    /// Why it would justify the removal.
    pub because: Because,
    /// The resemblance, or the containment of the document in the later one.
    pub score: f64,
    /// Hashes both hold.
    pub shared: u64,
    /// The longest stretch of the document, in symbols, of which the later one holds no fingerprint.
    pub novel: u64,
    /// Bytes of the document.
    pub bytes: u64,
    /// The run that has found so.
    pub run: u32,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    pub metadata: Vec<(String, String)>,
}

impl Answer for Superseded {
    const SCHEMA: &'static str = "fpdb.dedup.superseded/1";
}

/// One document of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DedupRow {
    /// A removable document.
    Removable(Removable),
    /// One that is not decided.
    Undecided(Undecided),
    /// One that stays although a newcomer would justify its removal.
    Superseded(Superseded),
}

/// The totals of a dedup. Also its JSON (`fpdb.dedup.summary/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DedupSummary {
    pub(crate) schema: Schema<Self>,
    /// All documents but boilerplate.
    pub documents: u64,
    /// Removable documents.
    pub removable: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents that stay because the budget did not suffice.
    pub undecided: u64,
    /// Survivors that justify at least one removal.
    pub groups: u64,
    /// Bytes of the removable documents.
    pub bytes: u64,
    /// Removable documents by cause.
    pub causes: DedupCauses,
    /// The archives and folders that lose the most documents, most first; no more than 20.
    pub sources: Vec<SourceTotals>,
    /// Hashes left out because more documents hold them than the df cap allows.
    pub common: u64,
    /// Hashes left out because boilerplate holds them.
    pub boilerplate: u64,
    /// Prefixes of `protect` that no document's name begins with.
    pub unmatched_protect: Vec<String>,
    /// Patterns of `prefer` that no document's name matches.
    pub unmatched_prefer: Vec<String>,
    /// Documents that may have the text of another, and whose text could not be read again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread: u64,
    /// Removable documents that are contained in their survivor or resemble it, of formats that hold attachments and pictures (mail,
    /// PDF, DOCX, ODT, EPUB): only their texts were compared.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts_not_compared: u64,
    /// The last run that has decided anything, where decisions are kept from run to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<LatestRun>,
}

impl Answer for DedupSummary {
    const SCHEMA: &'static str = "fpdb.dedup.summary/1";
}

/// The new decisions of the last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LatestRun {
    /// Its number, from 1.
    pub run: u32,
    /// Documents it has decided about.
    pub decided: u64,
    /// The removable ones of those.
    pub removable: u64,
    /// All documents that stay although a newcomer of this or an earlier run would justify their removal.
    pub superseded: u64,
}

/// Removable documents by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DedupCauses {
    /// Documents with the bytes of the survivor.
    pub identical: u64,
    /// Documents with the text of the survivor.
    #[serde(default, rename = "same-text", skip_serializing_if = "is_zero")]
    pub same_text: u64,
    /// Contained in the survivor.
    pub contained: u64,
    /// Resembling the survivor.
    pub resembles: u64,
}

impl DedupSummary {
    pub(super) fn count(&mut self, because: Because, bytes: u64) {
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

/// The removable documents of one archive or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceTotals {
    /// Its name.
    pub source: String,
    /// Its documents.
    pub documents: u64,
    /// Removable documents.
    pub removable: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// An answer that is held in memory as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DedupAnswer {
    /// In order of ingestion.
    pub removable: Vec<Removable>,
    /// In order of ingestion.
    pub undecided: Vec<Undecided>,
    /// In order of ingestion.
    pub superseded: Vec<Superseded>,
    /// The totals.
    pub summary: DedupSummary,
}

impl DedupAnswer {
    pub(crate) fn take(&mut self, row: DedupRow) {
        match row {
            DedupRow::Removable(removable) => self.removable.push(removable),
            DedupRow::Undecided(undecided) => self.undecided.push(undecided),
            DedupRow::Superseded(superseded) => self.superseded.push(superseded),
        }
    }
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
        };
        let json = serde_json::to_string(&row).unwrap();
        let expected = r#"{"schema":"fpdb.dedup/1","remove":"a","remove_id":3,"keep":"b","keep_id":1,"because":"contained","score":0.9,"shared":9,"novel":4,"bytes":100,"remove_digest":"abababababababababababababababab","keep_digest":"01010101010101010101010101010101","metadata":{"id":"x","author":"y"}}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<Removable>(&json).unwrap(), row);
    }
}
