//! Page: markup, style and scripts in one file, under a policy that allows only these scripts.
//!
//! The policy names the scripts by their SHA-256 (Content Security Policy Level 3). It lets the scripts load
//! only the report's own data. It also forbids markup from strings, so a document's text cannot become part
//! of the page even if escaping failed.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fpdb_reading::recognise::REPORT_DATA;
use sha2::{Digest, Sha256};

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
const VENDOR_LICENCE: &str = include_str!("vendor/d3/LICENSE");
/// The scripts of third parties, in order of their dependencies.
const VENDOR: [&str; 4] = [
    include_str!("vendor/d3/d3-dispatch.min.js"),
    include_str!("vendor/d3/d3-timer.min.js"),
    include_str!("vendor/d3/d3-quadtree.min.js"),
    include_str!("vendor/d3/d3-force.min.js"),
];
const SCRIPTS: [&str; 10] = [
    include_str!("assets/dom.js"),
    include_str!("assets/data.js"),
    include_str!("assets/graph.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/tokens.js"),
    include_str!("assets/differing.js"),
    include_str!("assets/pane.js"),
    include_str!("assets/pair.js"),
    include_str!("assets/submissions.js"),
    include_str!("assets/main.js"),
];

/// The parts of a report's page, for a host that serves the page itself. The host's page has this style, this
/// content, the data and, after the data, this script. Before the script runs, the page must hold an element
/// `overview` with the text of [`ReportData::overview`](super::ReportData::overview). For each of
/// [`ReportData::parts`](super::ReportData::parts), the page must hold an element with the name and the text
/// of the part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportAssets {
    /// The style sheet.
    pub style: &'static str,
    /// The script. The script never parses a string as markup, and loads nothing, because the page holds all
    /// data.
    pub script: String,
    /// The elements that the script fills.
    pub content: &'static str,
}

impl ReportAssets {
    /// The same parts that each written report has.
    #[must_use]
    pub fn new() -> Self {
        let content = TEMPLATE.split_once("<body>").map_or("", |(_, content)| content);
        Self { style: STYLE, script: format!("{}\n{}", vendor(), script()), content }
    }
}

impl Default for ReportAssets {
    fn default() -> Self {
        Self::new()
    }
}

/// The page up to the place of data and scripts.
pub(super) fn head() -> String {
    TEMPLATE.replace("{{policy}}", &policy()).replace("{{style}}", STYLE)
}

/// An element with data under a name. `json` must be escaped.
pub(super) fn data(name: &str, json: &str) -> String {
    format!("<script type=\"application/json\" id=\"{name}\">{json}</script>\n")
}

/// An element with packed data under a name.
pub(super) fn packed(name: &str, packed: &str) -> String {
    format!("<script type=\"application/octet-stream\" id=\"{name}\">{packed}</script>\n")
}

/// The scripts and the end of the page.
pub(super) fn foot() -> String {
    format!("<script>{}</script>\n<script>{}</script>\n</body>\n</html>\n", vendor(), script())
}

/// The content of a file of packed data.
pub(super) fn part(name: &str, packed: &str) -> String {
    format!("{REPORT_DATA}{name}\",\"{packed}\");\n")
}

fn vendor() -> String {
    format!("/*\n{VENDOR_LICENCE}*/\n{}", VENDOR.concat())
}

fn script() -> String {
    format!("(() => {{\n{}}})();\n", SCRIPTS.concat())
}

fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {} {} 'strict-dynamic'; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types fpdb",
        hash(&vendor()),
        hash(&script()),
        hash(STYLE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_reading::recognise::REPORT_PAGE;

    #[test]
    fn the_parts_do_not_end_their_elements() {
        for script in [vendor(), script()] {
            let lower = script.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<script") && !lower.contains("<!--"));
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
        // The file must be the same on every system: a browser hashes newlines as LF.
        assert!(!(script() + STYLE + &vendor()).contains('\r'));
    }

    #[test]
    fn the_page_begins_as_reports_are_known_by() {
        assert!(head().starts_with(REPORT_PAGE));
        assert!(!head().contains("{{"));
    }

    #[test]
    fn the_browsers_that_are_told_are_those_of_the_manual() {
        let (_, told) = script().split_once("const BROWSERS = \"").map(|(_, rest)| ((), rest.to_owned())).unwrap();
        let (browsers, _) = told.split_once('"').unwrap();
        assert!(include_str!("../../../docs/report.md").contains(&format!("({browsers})")), "{browsers}");
    }

    #[test]
    fn no_script_makes_markup_of_strings_or_asks_a_network() {
        let own = script();
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"]
        {
            assert!(!own.contains(word), "{word}");
        }
        let mut addresses: Vec<&str> = own
            .split(['"', '\'', '`', ' '])
            .filter(|word| word.starts_with("http:") || word.starts_with("https:"))
            .collect();
        addresses.dedup();
        assert_eq!(addresses, ["http://www.w3.org/2000/svg"], "the name of a namespace, which nobody loads");
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
