//! Report: the HTML report, and the passages of pairs. All but [`PairEvidence`] needs the feature
//! `html-report`, which is on by default.

mod evidence;
#[cfg(feature = "html-report")]
mod html;

pub use evidence::PairEvidence;
#[cfg(feature = "html-report")]
pub use html::{HtmlAnswers, HtmlOptions, HtmlSummary, ReportAssets, ReportData, check_place, report_data, write_html};
