//! Report: the report for a browser, and the passages of pairs.

mod evidence;
mod html;

pub use evidence::PairEvidence;
pub use html::{HtmlAnswers, HtmlOptions, HtmlSummary, write_html};
