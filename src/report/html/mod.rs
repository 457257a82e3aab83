//! HTML report: one page that needs no network and no server. It has an overview: how alike each document is
//! to its best match, clusters, and the ranked pairs. Each pair shows both texts side by side with their
//! passages.
//!
//! [`write_html`] makes a report from the answers of `query`, `pairs`, `dedup` or `diff`. It writes a single
//! file, or a folder whose page loads each pair when a reader opens the pair. [`report_data`] returns the
//! same data to a host that serves the page itself. [`ReportAssets`] are the parts of that page. A report
//! lists what it leaves out. The same answers give the same bytes: there are no time stamps.
//!
//! The data are in the page, or in files that the page loads as scripts, because a page opened from disk
//! cannot fetch anything. The data are the answers of the library, with offsets in UTF-16 units beside the
//! byte offsets. Each text is stored once, however many pairs it is in.
//!
//! Texts and names are treated as hostile. Data are escaped for script elements. The page builds elements and
//! text nodes, and never parses strings as markup. Its policy (Content Security Policy Level 3, Trusted
//! Types) allows only the page's own scripts, by their SHA-256.
//!
//! The scripts are plain ES2020 without a build step (`assets/`). The layout of the graph is d3-force
//! (`vendor/`): ISC licence, released in 2026, 17 kB with its dependencies, deterministic. Rejected: a graph
//! library such as cytoscape, twenty times the size.

mod anonymous;
mod assemble;
mod data;
mod document_index;
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
pub use output::check_place;
pub use page::ReportAssets;
use report::ReportContent;
pub use write::{HtmlSummary, ReportData, report_data, write_html};
