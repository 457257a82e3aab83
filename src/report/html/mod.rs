//! The report people look at: one page that needs no network and no server. An overview (how alike each document is to its
//! best match, clusters, the ranked pairs) and, for each pair, both texts side by side with their passages.
//!
//! A report is a [`Report`], put together from the answers of `query`, `pairs` or `diff`, and then written with [`write()`]: as a
//! folder, whose page loads a pair when it is opened, or as one file. It says what was left out of it, and the same
//! answers make the same bytes: no clock is asked.

mod anonymous;
mod assemble;
mod data;
mod escape;
mod output;
mod pack;
mod page;
mod sides;
mod texts;
mod write;

pub use assemble::{About, Answered};
pub use data::{
    Command, DatabaseData, LeftOut, Origin, Overview, PairData, PairMeasure, Places, ReportDocument, ReportPair, Role,
    SideData, TextData,
};
pub use texts::DocumentTexts;
pub use write::{Limits, Options, Written, write};

use crate::query::{Location, Match};

/// A report before it is written.
#[derive(Clone, Debug)]
pub struct Report {
    /// What its first page shows.
    pub overview: Overview,
    /// For each pair of the overview, by its index: the match with its passages, A being the query. `None` where passages
    /// were not looked for.
    pub evidence: Vec<Option<Match>>,
    /// For each document of the overview, by its index: the parts that are in no measure.
    pub ignored: Vec<Vec<Location>>,
}
