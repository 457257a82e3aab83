//! Findings: the results of a verification and of a repair.

use serde::{Deserialize, Serialize};

use fpdb_host::error::Error;
use fpdb_host::schema::{Answer, Schema, is_false};

impl Verification {
    /// The result of this verification and of the repair that followed it.
    #[must_use]
    #[doc(hidden)]
    pub fn repaired(self, repair: Repair) -> Self {
        Self { repair: Some(repair), ..self }
    }
}

/// Damage in one part of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Problem {
    /// The part: a run, a document, a name.
    pub what: String,
    /// The damage.
    pub detail: String,
}

/// The result of a verification or of a repair. Also its JSON (`fpdb.verify/1`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Verification {
    pub(crate) schema: Schema<Self>,
    /// Documents checked.
    pub documents: u64,
    /// Postings checked, including those of deleted documents.
    pub postings: u64,
    /// Fingerprint positions checked.
    pub positions: u64,
    /// Stored texts checked against the documents' digests.
    pub texts: u64,
    /// The damage in the order of discovery; after a repair, the damage before the repair.
    pub problems: Vec<Problem>,
    /// The result of the repair; the counts above are those after it. `None` without a repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
    /// The damaged stores that repairs have put aside, in the order of the repairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged_stores: Vec<DamagedStore>,
}

/// A damaged store that a repair has put aside. It stays until somebody removes its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DamagedStore {
    /// Its folder.
    pub path: String,
    /// Bytes of its files.
    pub bytes: u64,
}

impl Answer for Verification {
    const SCHEMA: &'static str = "fpdb.verify/1";
}

impl Problem {
    /// The problem that an error describes.
    pub(crate) fn of(error: &Error) -> Self {
        let cause = std::error::Error::source(error).map(|cause| cause.to_string());
        Self { what: error.to_string(), detail: cause.unwrap_or_default() }
    }
}

/// A document that could not be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LostDocument {
    /// Its name. `None` if the name is lost too.
    pub name: Option<String>,
    /// The absolute path of its file, if known.
    pub source: Option<String>,
    /// Why it could not be read again.
    pub reason: String,
}

/// The result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Repair {
    /// Documents whose fingerprints were rebuilt from their text.
    pub read_again: Vec<String>,
    /// Documents that could not be rebuilt and are no longer in the database.
    pub lost: Vec<LostDocument>,
    /// Number of commits after the last readable state. Their changes may be partly lost.
    pub commits_lost: u64,
    /// Number of documents in the database after the last of these commits. `None` if no commit is lost, or
    /// if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit_documents: Option<u64>,
    /// True if documents may have names, metadata and marks of boilerplate of an earlier commit, because a
    /// part of the records cannot be read.
    #[serde(default, skip_serializing_if = "is_false")]
    pub records_may_be_older: bool,
    /// Documents in the database whose stored texts are lost.
    #[serde(default)]
    pub texts_lost: Vec<String>,
    /// Documents that the repair removed, because their contents are kept out. Their earlier removal was
    /// lost, or may have been.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_out_again: Vec<String>,
    /// Documents in the database whose contents are kept out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_out_copies: Vec<String>,
    /// Number of contents that are still kept out, if the list of them may be incomplete. `None` if it is
    /// complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_out_salvaged: Option<u64>,
    /// Number of sources whose options are still remembered, if the options of others may be lost. `None` if
    /// none are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources_salvaged: Option<u64>,
    /// Number of distributed builds that the database still knows as its own, if it may have forgotten
    /// others. `None` if it has forgotten none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembled_salvaged: Option<u64>,
    /// The folder of the damaged store, which is kept until a person removes it. `None` if nothing was
    /// damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged_store: Option<String>,
}

impl Repair {
    /// True if nothing was lost or removed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let may_lack = self.kept_out_salvaged.or(self.sources_salvaged).or(self.assembled_salvaged);
        let may_be_older = self.commits_lost > 0 || self.records_may_be_older;
        let is_less = !(self.lost.is_empty() && self.texts_lost.is_empty() && self.kept_out_again.is_empty());
        !is_less && !may_be_older && may_lack.is_none()
    }
}
