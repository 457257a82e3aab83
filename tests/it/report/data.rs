//! The data of a report as its page reads it, field by field: an added, renamed or lost field fails the
//! tests.

use std::collections::BTreeMap;

use fpdb::{DisguisedWords, Failure, Match, Profile};
use serde::{Deserialize, Serialize};

/// `fpdb.report/1`: the first page.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Overview {
    pub(crate) schema: String,
    pub(crate) version: String,
    pub(crate) command: String,
    pub(crate) profile: Profile,
    pub(crate) database: Option<DatabaseData>,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) measure: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) oldest_first: bool,
    pub(crate) anonymous: bool,
    pub(crate) texts: bool,
    pub(crate) documents: Vec<ReportDocument>,
    pub(crate) pairs: Vec<ReportPair>,
    pub(crate) histogram: Vec<u64>,
    pub(crate) compared: u64,
    #[serde(default)]
    pub(crate) submissions: u64,
    pub(crate) common: u64,
    pub(crate) boilerplate: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) boilerplate_documents: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) too_short: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) too_short_names: Vec<String>,
    pub(crate) left_out: LeftOut,
    pub(crate) failures: Vec<Failure>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseData {
    pub(crate) path: Option<String>,
    pub(crate) documents: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportDocument {
    pub(crate) name: String,
    pub(crate) role: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) old: bool,
    pub(crate) bytes: u64,
    pub(crate) symbols: Option<u64>,
    pub(crate) extracted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dated: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) disguised: Option<DisguisedWords>,
    pub(crate) why: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportPair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) shared: u64,
    pub(crate) resemblance: f64,
    pub(crate) containment_a: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) containment_a_without_boilerplate: Option<f64>,
    pub(crate) containment_b: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text_shared: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text_resemblance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text_containment_a: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text_containment_b: Option<f64>,
    pub(crate) score: f64,
    pub(crate) interval: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) estimated: Vec<String>,
    pub(crate) identical: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) own: bool,
    pub(crate) passages: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) longest: Option<u64>,
    pub(crate) page: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<usize>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) by_files: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) files_left_out: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<usize>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeftOut {
    pub(crate) pairs: u64,
    pub(crate) least: Option<f64>,
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    pub(crate) unlisted: u64,
    pub(crate) beyond_top: u64,
    pub(crate) below: u64,
}

/// `fpdb.report.pair/2`: the page of a pair.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairData {
    pub(crate) schema: String,
    #[serde(rename = "match")]
    pub(crate) found: Match,
    pub(crate) a: SideData,
    pub(crate) b: SideData,
    pub(crate) symbols: Vec<u64>,
    pub(crate) agreement: Vec<Option<u16>>,
    #[serde(default)]
    pub(crate) same_names: Vec<Option<u16>>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SideData {
    pub(crate) text: bool,
    pub(crate) bytes: Places,
    pub(crate) lines: Option<Places>,
    pub(crate) pages: Option<Places>,
    pub(crate) marks: Option<Places>,
}

/// Ranges in columns. `start`: the start of each range, minus the start of the previous one.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Places {
    pub(crate) start: Vec<i64>,
    pub(crate) length: Vec<u64>,
}

/// `fpdb.report.text/1`: the text of a document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextData {
    pub(crate) schema: String,
    pub(crate) text: String,
    pub(crate) ignored: Vec<[u64; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlike: Vec<serde_json::Value>,
}
