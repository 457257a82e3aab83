//! Page: the web page at `/`. It has no build step and loads only the files listed here.
//!
//! The ranked list and both texts side by side are the report's own page (`fpdb::report::ReportAssets`), in a
//! frame. The page around the frame queries the service and passes the data to the frame. The
//! Content-Security-Policy of the page allows only scripts and styles from these files.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fpdb::report::ReportAssets;

use crate::app::App;
use crate::problem::Problem;

/// A file of the page: its media type, its content and its policy.
type PageFile = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const REPORT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types fpdb";

/// The page of a report, with its style and scripts in files.
static REPORT_PAGE: LazyLock<String> = LazyLock::new(|| {
    let content = ReportAssets::new().content;
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fpdb report</title>\n\
         <link rel=\"stylesheet\" href=\"report.css\">\n<link rel=\"stylesheet\" href=\"frame.css\">\n</head>\n<body>{content}\n\
         <script src=\"handed-over.js\"></script>\n<script src=\"report.js\"></script>\n</body>\n</html>\n"
    )
});

static REPORT_SCRIPT: LazyLock<String> = LazyLock::new(|| ReportAssets::new().script);

fn file(name: &str) -> Option<PageFile> {
    let other = "default-src 'none'";
    Some(match name {
        "" => (HTML, include_str!("page/index.html"), PAGE_POLICY),
        "page.css" => (STYLE, include_str!("page/page.css"), other),
        "icon.svg" => ("image/svg+xml", include_str!("page/icon.svg"), other),
        "app.js" => (SCRIPT, include_str!("page/app.js"), other),
        "ask.js" => (SCRIPT, include_str!("page/ask.js"), other),
        "compare.js" => (SCRIPT, include_str!("page/compare.js"), other),
        "documents.js" => (SCRIPT, include_str!("page/documents.js"), other),
        "dom.js" => (SCRIPT, include_str!("page/dom.js"), other),
        "report.html" => (HTML, &REPORT_PAGE, REPORT_POLICY),
        "report.css" => (STYLE, ReportAssets::new().style, other),
        "frame.css" => (STYLE, include_str!("page/frame.css"), other),
        "report.js" => (SCRIPT, &REPORT_SCRIPT, other),
        "handed-over.js" => (SCRIPT, include_str!("page/handed-over.js"), other),
        _ => return None,
    })
}

/// Adds the routes of the page.
pub(crate) fn add(routes: Router<Arc<App>>) -> Router<Arc<App>> {
    routes
        .route("/", get(async || answer("")))
        .route("/page/{file}", get(async |Path(name): Path<String>| answer(&name)))
}

fn answer(name: &str) -> Response {
    let Some((media_type, content, policy)) = file(name) else { return Problem::no_route().into_response() };
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, policy),
        // The browser must ask again each time, because another version of the program has other files.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, content).into_response()
}

/// True for the routes of the page, which have policies of their own.
pub(crate) fn is_page(route: &str) -> bool {
    route == "/" || route.starts_with("/page/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_makes_no_markup_of_strings_and_asks_nobody_else() {
        for name in ["", "page.css", "app.js", "ask.js", "compare.js", "documents.js", "dom.js", "handed-over.js"] {
            let (_, content, _) = file(name).unwrap();
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "http:",
                "https:",
                "style=",
                "onclick=",
            ] {
                assert!(!content.contains(word), "{name}: {word}");
            }
        }
    }

    #[test]
    fn every_file_that_the_page_names_is_there() {
        let (_, index, _) = file("").unwrap();
        for (_, rest) in index.match_indices("page/").map(|(at, found)| (at, &index[at + found.len()..])) {
            let name = rest.split('"').next().unwrap();
            assert!(file(name).is_some(), "{name}");
        }
        for name in ["app.js", "ask.js", "compare.js", "documents.js", "dom.js"] {
            let (_, script, _) = file(name).unwrap();
            for (at, found) in script.match_indices("from \"./") {
                let name = script[at + found.len()..].split('"').next().unwrap();
                assert!(file(name).is_some(), "{name}");
            }
        }
        assert!(REPORT_PAGE.contains("id=\"main\"") && REPORT_SCRIPT.contains("pairPage"));
        assert!(file("../lib.rs").is_none());
    }
}
