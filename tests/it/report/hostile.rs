//! Names and texts that try to become part of the page.

use std::path::PathBuf;

use serde_json::json;

use super::browser::Browser;
use crate::support::Folder;

const ATTACK: &str = "</script><script>globalThis.hacked = 1</script><img src=x onerror=\"globalThis.hacked = 2\">\
    <svg onload=globalThis.hacked=3><!-- --><style>body{display:none}</style>&lt;b&gt;&amp;{{7*7}}${7*7}`\u{2028}\u{2029}";

/// A text that shares a hostile passage with other texts, and has characters that hide or reverse others.
fn text(own: &str) -> Vec<u8> {
    let shared = format!(
        "Here begins the part that everyone has copied from the others word by word, and it goes on: {ATTACK} \
         and so it ends: \u{202e}evil reversed\u{202c} \u{7}bell \u{1b}[31mred\u{1b}[0m \u{2066}isolated\u{2069} as it began."
    );
    let mut bytes = format!("{own}\r\n{shared}\n{own}\n").into_bytes();
    // Bytes that are not characters, in a text that is otherwise UTF-8.
    bytes.extend(b"end \xFF\xC3( of it \xF0\x9F\n");
    bytes
}

fn names() -> Vec<PathBuf> {
    [
        "docs/<img src=x onerror=globalThis.hacked=4>.txt",
        // The slash makes a folder, so the document's name is the whole text.
        "docs/</script><script>globalThis.hacked=5<",
        "docs/\u{202e}txt.evil\u{202c} \" ' & ` ${1}.txt",
        "docs/=cmd|' \u{7}\t\n(bell, tab, line).txt",
        "docs/javascript:alert(1)//.txt",
    ]
    .map(PathBuf::from)
    .to_vec()
}

#[test]
fn names_and_texts_stay_text() {
    let folder = Folder::new();
    for (number, name) in names().iter().enumerate() {
        let name = match name.to_str().unwrap().ends_with('<') {
            true => name.join("script>.txt"),
            false => name.clone(),
        };
        folder.write(
            name.to_str().unwrap(),
            text(&format!("This line is of document {number} alone and nobody else has it.")),
        );
    }
    folder.ok(&["ingest", "--profile", "prose", "docs", "-q"]);
    let pairs = folder.ok(&["pairs", "--format", "json"]).json();
    assert_eq!(pairs.len(), 10);
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    folder.ok(&["pairs", "--format", "html", "-o", "report.html", "--single-file"]);
    let missing = "<img src=y onerror=globalThis.hacked=6>";
    let run = folder.run(&["query", names()[0].to_str().unwrap(), missing, "--format", "html", "-o", "query"]);
    assert_eq!(run.status, 2);

    let Some(mut browser) = Browser::start() else { return };
    for path in ["report/index.html", "report.html", "query/index.html"].map(|path| folder.path().join(path)) {
        browser.open(&path, "");
        browser.wait("document.querySelector('tr[data-pair]')");
        browser.ask("document.querySelectorAll('details').forEach((details) => { details.open = true })");
        let count = browser.ask("document.querySelectorAll('tr[data-pair]').length").as_u64().unwrap();
        for pair in 1..=count {
            browser.open(&path, &format!("pair={pair}"));
            browser.wait("document.getElementById('main').dataset.whole");
            browser.press("n");
            let all = browser.text("document.querySelector('.pane').textContent");
            for part in [
                "globalThis.hacked = 1</script>",
                "<img src=x onerror=",
                "&lt;b&gt;&amp;{{7*7}}${7*7}`",
                "\u{27ea}RLO\u{27eb}evil",
                "\u{2407}bell",
                "\u{241b}[31mred",
                "\u{fffd}",
            ] {
                assert!(all.contains(part), "{part} in {all}");
            }
        }
        assert_eq!(browser.text("typeof globalThis.hacked"), "undefined");
        let made =
            "document.querySelectorAll('img, iframe, object, embed, #main style, #main script, #top script').length";
        assert_eq!(browser.ask(made), json!(0));
        browser.check_quiet();
    }
    // In names, characters that reverse or hide others are shown by their names.
    browser.open(&folder.path().join("report/index.html"), "");
    let shown = browser.text("document.querySelector('.list').textContent");
    assert!(
        shown.contains("\u{27ea}RLO\u{27eb}txt.evil") && !shown.contains('\u{202e}') && !shown.contains('\u{7}'),
        "{shown}"
    );
    browser.picture("hostile");
    browser.open(&folder.path().join("query/index.html"), "");
    assert!(browser.text("document.getElementById('failures').textContent").contains(missing));
    // The policy lets no other script run, even if an attacker finds a way into the page.
    let blocked = browser.ask(
        "new Promise((done) => { addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective)); \
         const script = document.createElement('script'); try { script.text = 'globalThis.hacked = 7'; document.body.append(script) } \
         catch (error) { done('refused') } })",
    );
    assert!(
        ["refused", "require-trusted-types-for", "script-src-elem"].contains(&blocked.as_str().unwrap()),
        "{blocked}"
    );
    assert_eq!(browser.text("typeof globalThis.hacked"), "undefined");
}
