//! Report: the content of a report.

use super::data::Overview;
use crate::query::{Location, Match};

/// A report before it is written.
#[derive(Clone, Debug)]
pub(super) struct ReportContent {
    /// The content of its first page.
    pub(super) overview: Overview,
    /// The match of each pair of the overview, in the same order, with its passages. Document A of the pair
    /// is the query of the match. `None` if passages were not requested.
    pub(super) evidence: Vec<Option<Match>>,
    /// For each document of the overview, by index, the ranges excluded from all scores.
    pub(super) ignored: Vec<Vec<Location>>,
}
