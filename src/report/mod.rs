//! Report: the HTML report, and the passages of pairs.

mod evidence;
#[cfg(feature = "html-report")]
mod html;

pub use evidence::PairEvidence;
#[cfg(feature = "html-report")]
pub use html::{HtmlAnswers, HtmlOptions, HtmlSummary, ReportAssets, ReportData, report_data, write_html};
