//! The report people look at: one page that needs no network and no server. An overview (how alike each document is to its
//! best match, clusters, the ranked pairs) and, for each pair, both texts side by side with their passages.
//!
//! A report is made of the answers of `query`, `pairs` or `diff` by [`write_html`], the only way in: as a folder, whose page
//! loads a pair when it is opened, or as one file. It says what was left out of it, and the same answers make the same bytes:
//! no clock is asked.

mod anonymous;
mod assemble;
mod data;
mod escape;
mod options;
mod output;
mod pack;
mod page;
mod pair_list;
mod report;
mod sides;
mod texts;
mod write;

pub use options::{HtmlAnswers, HtmlOptions};
use report::ReportContent;
pub use write::{HtmlSummary, write_html};
