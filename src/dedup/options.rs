//! What can be asked of a dedup, and what it answers.

use std::path::PathBuf;

use crate::profile::{Profile, Unit};
use crate::setters::setters;

/// What makes a document removable, beside being identical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DedupBy {
    /// Nothing else.
    #[default]
    Exact,
    /// A survivor that has the same text: the same symbols in the standard form.
    ExactText,
    /// A survivor that resembles it.
    Resemblance,
    /// A survivor that contains it.
    Containment,
}

/// Which document of several alike stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The one with the most distinct fingerprints; of equals the one whose file is older.
    #[default]
    Longest,
    /// The one that was ingested first.
    First,
    /// The one written last, by its file's time, or ingested last where that is not known.
    Newest,
    /// The one written first.
    Oldest,
}

/// What earlier decisions count for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DedupMode {
    /// Nothing: all documents are decided, and decisions are not kept.
    #[default]
    Once,
    /// They stand: only documents that came since are decided, and those whose survivor is no longer stored. Decisions are
    /// kept in the database's folder.
    Append,
    /// Nothing: all documents are decided, and the decisions are kept in the place of earlier ones.
    Rerank,
}

/// How to look for removable documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DedupOptions {
    /// What makes a document removable.
    pub by: DedupBy,
    /// The least resemblance, or the least containment in the survivor.
    pub threshold: f64,
    /// The longest stretch of a removable document, in symbols, of which the survivor holds no fingerprint; any where `None`.
    pub max_novel: Option<u64>,
    /// Which one stays.
    pub keep: Keep,
    /// Regular expressions. Documents whose names match the first are kept in preference to all others, then those that match
    /// the second, and so on.
    pub prefer: Vec<String>,
    /// Documents whose names begin with one of these are never removable, and are kept in preference to all others.
    pub protect: Vec<String>,
    /// Hashes that more documents hold are not counted as shared, and are reported: fewer documents are then removable, never
    /// more. All count where `None`.
    pub max_df: Option<u64>,
    /// The most posting reads for one document. A document that needs more stays and is reported as undecided.
    pub budget: Option<u64>,
    /// What earlier decisions count for.
    pub mode: DedupMode,
    /// Where data that exceeds the memory goes, and the state of an interrupted job; beside the database where `None`.
    pub temp_dir: Option<PathBuf>,
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
    }
}

impl Default for DedupOptions {
    fn default() -> Self {
        Self {
            by: DedupBy::default(),
            threshold: 0.8,
            max_novel: None,
            keep: Keep::default(),
            prefer: Vec::new(),
            protect: Vec::new(),
            max_df: None,
            budget: None,
            mode: DedupMode::default(),
            temp_dir: None,
        }
    }
}

impl DedupOptions {
    /// The defaults for a database of this profile: with a bound on the longest unmatched stretch, of about a page of text or
    /// forty lines of code.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let page = match profile.unit {
            Unit::Char | Unit::Byte => 1200,
            Unit::Word => 200,
            Unit::Token => 400,
        };
        Self { max_novel: Some(page), ..Self::default() }
    }

    /// What decisions depend on, beside the documents.
    pub(super) fn rule(&self) -> String {
        let Self { by, threshold, max_novel, keep, prefer, protect, max_df, budget, .. } = self;
        let by = match by {
            DedupBy::Exact => "exact".to_owned(),
            DedupBy::ExactText => "exact-text".to_owned(),
            DedupBy::Resemblance => format!("resemblance {threshold}"),
            DedupBy::Containment => format!("containment {threshold}"),
        };
        let number = |number: &Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let mut rule = format!("by {by}, keep {}", format!("{keep:?}").to_lowercase());
        if !by.starts_with("exact") {
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
