//! Answer: the pairs that were found, which is their JSON too.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::query::Passage;
use fpdb_host::schema::{Answer, Schema, is_false, is_zero};
use fpdb_kernel::document::DocId;

/// The metadata of a document: names and values.
pub(super) type Metadata = Arc<BTreeMap<String, String>>;

/// Two documents that share text; `a` came first. Also its JSON (`fpdb.pair/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pair {
    pub(crate) schema: Schema<Self>,
    /// The older document's name; shared by all its pairs.
    pub a: Arc<str>,
    /// The newer one's.
    pub b: Arc<str>,
    /// The older document's number.
    pub a_id: DocId,
    /// The newer one's.
    pub b_id: DocId,
    /// Hashes both hold.
    pub shared: u64,
    /// Shared / all hashes of the two.
    pub resemblance: f64,
    /// The share of a's hashes that b holds.
    pub containment_a: f64,
    /// The share of b's hashes that a holds.
    pub containment_b: f64,
    /// Pairs are ordered by this: the resemblance, weighted where hashes are; or the resemblance of the text, where that was
    /// asked for and is larger.
    pub score: f64,
    /// Of source code, the resemblance of the documents' own text, names and comments included; `None` unless it was looked
    /// for, with [`PairsOptions::own_text`](crate::archive::pairs::PairsOptions::own_text), and where a document cannot be read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_resemblance: Option<f64>,
    /// The passages they share, `query` being a and `document` b; `None` unless they were looked for, with
    /// [`Database::add_passages`](crate::Database::add_passages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// For two submissions, the pairs of their documents that share most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Pair>,
    /// How many more pairs of their documents share something.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_left_out: u64,
    /// True if the offsets of passages in the older document are of the text extracted from it (PDF, say).
    #[serde(default, skip_serializing_if = "is_false")]
    pub a_extracted: bool,
    /// The same of the newer one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub b_extracted: bool,
    /// The metadata of the older document; shared by all its pairs.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub a_metadata: Metadata,
    /// The same of the newer one.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub b_metadata: Metadata,
}

impl Answer for Pair {
    const SCHEMA: &'static str = "fpdb.pair/1";
}

fn is_empty(metadata: &Metadata) -> bool {
    metadata.is_empty()
}

/// The pairs of a database, in memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairsAnswer {
    /// By descending score, then by name.
    pub pairs: Vec<Pair>,
    /// The figures of all pairs.
    pub summary: PairsSummary,
}

/// The figures of all pairs, those beyond the wanted ones included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairsSummary {
    /// How many pairs share enough.
    pub found: u64,
    /// Documents of the database; submissions, and documents that stand for themselves, where documents are put together.
    pub documents: u64,
    /// The first and the last name, in the order of names, of documents in pairs: names between them begin with all that these
    /// two begin with.
    pub names: Option<(String, String)>,
    /// Hashes left out because more documents hold them than the df cap allows. If there are any, pairs that share no others are
    /// missing.
    pub common: u64,
    /// Hashes left out because boilerplate holds them.
    pub boilerplate: u64,
    /// Pairs that share a hash, but less than was asked for.
    pub below: u64,
    /// Documents of pairs whose own text was to be compared and that cannot be read again: such pairs have one resemblance only.
    pub unread: u64,
    /// Prefixes of `across` that no document's name begins with.
    pub unmatched: Vec<String>,
    /// With `new_since`, the old documents and the new ones that could be in a pair.
    pub divided: Option<(u64, u64)>,
}
