//! Report: all that is written.

use super::data::Overview;
use crate::query::{Location, Match};

/// A report before it is written.
#[derive(Clone, Debug)]
pub(super) struct ReportContent {
    /// The contents of its first page.
    pub(super) overview: Overview,
    /// For each pair of the overview, by its index: the match with its passages, A being the query. `None` where passages
    /// were not looked for.
    pub(super) evidence: Vec<Option<Match>>,
    /// For each document of the overview, by its index: the parts that are in no measure.
    pub(super) ignored: Vec<Vec<Location>>,
}
