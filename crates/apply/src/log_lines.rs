//! Log lines: the lines of JSON in the log, for its acts and for its random key.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::answer::Act;

/// An act to record in the log.
#[derive(Clone, Copy)]
pub(super) struct NotedAct<'a> {
    pub(super) act: Act,
    pub(super) source: &'a Path,
    pub(super) target: Option<&'a Path>,
    /// A digest of everything that decides the content of the written file; 0 for acts that write none.
    pub(super) decision: u64,
    /// Size in bytes of the file that is written or taken.
    pub(super) bytes: u64,
    /// Modification time of the written file.
    pub(super) modified: Option<SystemTime>,
    /// The name of the unfinished file, which the next run removes.
    pub(super) part: Option<&'a Path>,
    /// The name under which the source is kept until the act has ended. The next run puts it back.
    pub(super) aside: Option<&'a Path>,
    /// The field that holds the texts of the records of a copied file; `None` for the default field.
    pub(super) text_field: Option<&'a str>,
}

impl<'a> NotedAct<'a> {
    /// An act that writes no file and sets none aside.
    pub(super) fn new(act: Act, source: &'a Path, target: Option<&'a Path>) -> Self {
        Self { act, source, target, decision: 0, bytes: 0, modified: None, part: None, aside: None, text_field: None }
    }
}

/// The line of an act.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct LogLine {
    pub(super) schema: String,
    /// A digest of the job. The job is the action and the report; for a copy, the action, the database and
    /// the kind of report.
    pub(super) report: String,
    pub(super) act: Act,
    pub(super) source: String,
    pub(super) target: Option<String>,
    pub(super) bytes: u64,
    pub(super) done: bool,
    /// Logs of earlier versions do not have the following fields.
    #[serde(default)]
    pub(super) decision: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) modified: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) aside: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text_field: Option<String>,
}

/// The line with the random key.
#[derive(Serialize, Deserialize)]
pub(super) struct KeyLine {
    pub(super) schema: String,
    pub(super) key: String,
    /// The identity of the database; logs of earlier versions do not have it.
    #[serde(default)]
    pub(super) database: String,
}

/// Stands in place of a field name if the texts of a file are in several fields.
pub(super) const SEVERAL_FIELDS: &str = "";

pub(super) const SCHEMA: &str = "fpdb.act/1";
pub(super) const KEY_SCHEMA: &str = "fpdb.act.key/1";

impl LogLine {
    /// The file that the act concerns: the file it makes, or else the file it takes.
    pub(super) fn about(&self) -> &Path {
        let makes = matches!(self.act, Act::Copy | Act::Write | Act::Cut | Act::Mark | Act::Omit);
        Path::new(self.target.as_deref().filter(|_| makes).unwrap_or(&self.source))
    }
}
