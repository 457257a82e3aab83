//! Options of the search for removable documents.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use fpdb_host::error::Result;
use fpdb_host::json_options::limit;
use fpdb_host::names::names;
use fpdb_host::setters::{check_share, setters};
use fpdb_kernel::profile::{Profile, Unit};
use fpdb_reading::input::InputLimits;

/// The rule that makes a document removable. Identical documents are removable under each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DedupBy {
    /// A survivor has the same bytes.
    #[default]
    Exact,
    /// A survivor has the same text: the same symbols in the standard form. Only symbols count. With unit
    /// char, these are letters and digits; with unit word, words of letters. With unit token, all names in a
    /// program count as equal.
    ExactText,
    /// A survivor resembles the document: both share at least [`DedupOptions::threshold`] of all their
    /// distinct fingerprints. So both have about the same length.
    Resemblance,
    /// A survivor contains the document: it holds at least [`DedupOptions::threshold`] of the document's
    /// distinct fingerprints. The survivor may be much longer.
    Containment,
}

/// The document to keep of several similar ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The document with the most distinct fingerprints; among equals, the document with the older file.
    #[default]
    Longest,
    /// The document ingested first.
    First,
    /// The newest of the documents with a date in their metadata (`date`). If no document has a date, the
    /// newest by the times of their files. If the times of the files are unknown too, the newest by the times
    /// of ingestion.
    Newest,
    /// The oldest document, by the same times.
    Oldest,
}

// Records and jobs on disk hold the names of [`DedupBy`] and of [`Keep`], so none of these names may change.
names!(DedupBy, "by", "exact, exact-text, resemblance or containment", {
    Exact => "exact",
    ExactText => "exact-text",
    Resemblance => "resemblance",
    Containment => "containment",
});

names!(DedupMode, "mode", "once, append or rerank", { Once => "once", Append => "append", Rerank => "rerank" });

names!(Keep, "keep", "longest, first, newest or oldest", {
    Longest => "longest",
    First => "first",
    Newest => "newest",
    Oldest => "oldest",
});

/// The use that a run makes of earlier decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DedupMode {
    /// Ignores earlier decisions, decides all documents, and keeps no decisions.
    #[default]
    Once,
    /// Keeps earlier decisions. Decides only new documents, and documents whose survivor is no longer stored.
    /// Stores the decisions in the database's folder.
    Append,
    /// Ignores earlier decisions, decides all documents, and replaces the stored decisions.
    Rerank,
}

/// Options of the search for removable documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DedupOptions {
    /// The rule that makes a document removable.
    pub by: DedupBy,
    /// The smallest resemblance, or containment in the survivor, that makes a document removable. Above 0, at
    /// most 1.
    pub threshold: f64,
    /// Maximum length, in symbols, of a stretch of the removable document that shares no fingerprint with the
    /// survivor. `None`: no limit.
    pub max_novel: Option<u64>,
    /// The document to keep of several similar ones.
    pub keep: Keep,
    /// Regular expressions for names. Documents that match the first expression are kept in preference to all
    /// others, then documents that match the second, and so on.
    pub prefer: Vec<String>,
    /// Prefixes of names. Documents whose names begin with one of these prefixes are never removable, and are
    /// kept in preference to all others. An absolute path is also compared with the paths of the documents'
    /// files.
    pub protect: Vec<String>,
    /// Hashes that more than this number of documents hold do not count as shared, and are reported. The cap
    /// only makes fewer documents removable, never more. `None`: no cap; in JSON also 0.
    #[serde(default, deserialize_with = "limit")]
    pub max_df: Option<u64>,
    /// Maximum number of posting reads for one document. A document that needs more stays and is reported as
    /// undecided. `None`: no limit.
    pub budget: Option<u64>,
    /// The use that a run makes of earlier decisions.
    pub mode: DedupMode,
    /// An existing folder for data that exceeds the memory, and for the state of an interrupted job. `None`:
    /// the folder that holds the database.
    pub temp_dir: Option<PathBuf>,
    /// Limits that apply when texts are read again.
    pub limits: InputLimits,
}

impl DedupOptions {
    setters! {
        by: DedupBy,
        threshold: f64,
        max_novel: Option<u64>,
        keep: Keep,
        prefer: Vec<String>,
        protect: Vec<String>,
        max_df: Option<u64>,
        budget: Option<u64>,
        mode: DedupMode,
        temp_dir: Option<PathBuf>,
        limits: InputLimits,
    }
}

impl DedupOptions {
    /// Returns the defaults for a database of this profile. The longest unmatched stretch is about a page of
    /// text or forty lines of code. The smallest containment in text depends on k, because one changed
    /// character changes k k-grams. With these defaults, documents that differ in about one of 150 to 220
    /// characters become removable (measured in docs/dedup-reference.md).
    #[must_use]
    pub fn of(profile: &Profile, by: DedupBy) -> Self {
        let page = match profile.unit() {
            Unit::Char | Unit::Byte => 1200,
            Unit::Word => 200,
            Unit::Token => 400,
        };
        let threshold = match (by, profile.unit(), profile.k()) {
            (DedupBy::Containment, Unit::Char | Unit::Byte, ..20) | (DedupBy::Containment, Unit::Word, ..4) => 0.9,
            (DedupBy::Containment, Unit::Char | Unit::Byte, ..40) | (DedupBy::Containment, Unit::Word, ..7) => 0.85,
            _ => 0.8,
        };
        Self {
            by,
            threshold,
            max_novel: Some(page),
            keep: Keep::default(),
            prefer: Vec::new(),
            protect: Vec::new(),
            max_df: None,
            budget: None,
            mode: DedupMode::default(),
            temp_dir: None,
            limits: InputLimits::default(),
        }
    }

    /// Checks that a run can begin with these options. Every run begins with this check.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](fpdb_host::error::Error::InvalidParameter) for a threshold that is 0,
    /// negative, above 1 or not a number.
    pub fn check(&self) -> Result<()> {
        check_share("threshold", self.threshold, self.threshold > 0.0, "a number above 0, and at most 1")
    }

    /// The options that decisions depend on, as text. Records and jobs on disk hold this text and are
    /// compared with it, so it must not change when types are renamed. If the text changes, jobs restart and
    /// records are refused.
    pub(super) fn rule(&self) -> String {
        let Self { by, threshold, max_novel, keep, prefer, protect, max_df, budget, .. } = self;
        let compares = matches!(by, DedupBy::Resemblance | DedupBy::Containment);
        let threshold = if compares { format!(" {threshold}") } else { String::new() };
        let number = |number: &Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let mut rule = format!("by {by}{threshold}, keep {keep}");
        if compares {
            rule += &format!(", max-novel {}", number(max_novel));
            for (name, limit) in [("max-df", max_df), ("budget", budget)] {
                if limit.is_some() {
                    rule += &format!(", {name} {}", number(limit));
                }
            }
        }
        for (name, given) in [("prefer", prefer), ("protect", protect)] {
            for given in given {
                rule += &format!(", {name} {given:?}");
            }
        }
        rule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These words are on disk. If they change, interrupted jobs restart and records of earlier runs are
    /// refused.
    #[test]
    fn the_words_on_disk_stay_as_they_are() {
        let keeps = [Keep::Longest, Keep::First, Keep::Newest, Keep::Oldest];
        assert_eq!(keeps.map(Keep::name), ["longest", "first", "newest", "oldest"]);
        let any_novel = |by| DedupOptions::of(&Profile::named("text").unwrap(), by).max_novel(None);
        let rule = |by| any_novel(by).rule();
        assert_eq!(rule(DedupBy::Exact), "by exact, keep longest");
        assert_eq!(rule(DedupBy::ExactText), "by exact-text, keep longest");
        assert_eq!(rule(DedupBy::Resemblance), "by resemblance 0.8, keep longest, max-novel none");
        let options = any_novel(DedupBy::Containment).threshold(0.75).max_novel(Some(1200));
        let options = options.keep(Keep::Newest).max_df(Some(9)).budget(Some(7)).prefer(vec!["^a\"/".into()]);
        assert_eq!(
            options.protect(vec!["b".into()]).rule(),
            "by containment 0.75, keep newest, max-novel 1200, max-df 9, budget 7, prefer \"^a\\\"/\", protect \"b\""
        );
    }

    #[test]
    fn a_cap_of_0_is_no_cap_in_json() {
        let defaults = DedupOptions::of(&Profile::named("text").unwrap(), DedupBy::Exact);
        let max_df = |json| fpdb_host::json_options::options_from_json(&defaults, json).unwrap().max_df;
        let caps = [serde_json::json!(0), serde_json::json!(null), serde_json::json!(3)];
        assert_eq!(caps.map(|cap| max_df(serde_json::json!({ "max_df": cap }))), [None, None, Some(3)]);
    }

    #[test]
    fn the_least_containment_depends_on_k() {
        let threshold = |name: &str, by| DedupOptions::of(&Profile::named(name).unwrap(), by).threshold;
        let expected = [("prose", 0.85), ("words", 0.9), ("text", 0.8), ("code", 0.8), ("bytes", 0.8)];
        for (name, contained) in expected {
            assert_eq!(threshold(name, DedupBy::Containment), contained, "{name}");
            assert_eq!(threshold(name, DedupBy::Resemblance), 0.8, "{name}");
        }
    }
}
