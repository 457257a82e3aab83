//! Report: the content of a report.

use super::data::Overview;
use crate::query::{Location, Match};

/// A report before it is written.
#[derive(Clone, Debug)]
pub(super) struct ReportContent {
    /// The content of its first page.
    pub(super) overview: Overview,
    /// For each pair of the overview, by index, the match with its passages; A is the query. `None` if
    /// passages were not requested.
    pub(super) evidence: Vec<Option<Match>>,
    /// For each document of the overview, by index, the ranges excluded from all scores.
    pub(super) ignored: Vec<Vec<Location>>,
}
