//! What a verification and a repair answer.

use serde::{Deserialize, Serialize};

use crate::store::{LostDocument, Problem, Repair, Verification};

/// `fpdb.verify/1`: what a verification has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyReport {
    /// `fpdb.verify/1`.
    pub schema: String,
    /// Documents checked.
    pub documents: u64,
    /// Postings checked.
    pub postings: u64,
    /// Positions checked.
    pub positions: u64,
    /// Stored texts checked.
    pub texts: u64,
    /// What is wrong, or was before the repair; empty where nothing is.
    pub problems: Vec<ProblemReport>,
    /// What was done about it; only with `--repair`, and then the counts above are those after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairReport>,
}

/// What a repair has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairReport {
    /// Documents whose fingerprints were made again from their text.
    pub read_again: Vec<String>,
    /// Documents that could not be rebuilt and are in the database no more.
    pub lost: Vec<LostDocumentReport>,
    /// Commits after the last one that could be read: what they added or removed may be lost in part.
    pub commits_lost: u64,
    /// Documents that are in the database, but whose stored texts are not.
    #[serde(default)]
    pub texts_lost: Vec<String>,
}

impl RepairReport {
    /// True where everything is there again.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty() && self.commits_lost == 0 && self.texts_lost.is_empty()
    }
}

/// A document that could not be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LostDocumentReport {
    /// Its name; null where that is lost too.
    pub name: Option<String>,
    /// The absolute path it was read from, where that is known.
    pub source: Option<String>,
    /// Why it could not be read again.
    pub reason: String,
}

/// What is wrong with one part of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemReport {
    /// The part.
    pub what: String,
    /// What is wrong with it.
    pub detail: String,
}

impl VerifyReport {
    /// The report of a verification.
    #[must_use]
    pub fn new(found: &Verification) -> Self {
        let problem = |problem: &Problem| ProblemReport { what: problem.what.clone(), detail: problem.detail.clone() };
        Self {
            schema: "fpdb.verify/1".into(),
            documents: found.documents,
            postings: found.postings,
            positions: found.positions,
            texts: found.texts,
            problems: found.problems.iter().map(problem).collect(),
            repair: None,
        }
    }

    /// The report of a repair.
    #[must_use]
    pub fn of_repair(repair: &Repair) -> Self {
        let lost = |lost: &LostDocument| LostDocumentReport {
            name: lost.name.clone(),
            source: lost.source.clone(),
            reason: lost.reason.clone(),
        };
        let done = RepairReport {
            read_again: repair.read_again.clone(),
            lost: repair.lost.iter().map(lost).collect(),
            commits_lost: repair.commits_lost,
            texts_lost: repair.texts_lost.clone(),
        };
        let found = Verification { problems: repair.problems.clone(), ..repair.now.clone() };
        Self { repair: Some(done), ..Self::new(&found) }
    }
}
