//! The page of a service, in a browser.

use serde_json::json;

use super::{Service, TEXT, prepared};
use crate::report::browser::Browser;

/// A service with some documents, and a browser; `None` without one.
fn begin(arguments: &[&str]) -> Option<(crate::support::Folder, Service, Browser, String)> {
    let browser = Browser::start()?;
    let folder = prepared();
    let service = Service::start(&folder, arguments);
    let hostile = format!("<img src=x onerror=alert(1)> {TEXT} </script><script>alert(2)</script>");
    for (name, text) in
        [("docs/a.txt", TEXT.to_owned()), ("docs/b.txt", hostile), ("docs/c.txt", "Pears in cold climates.".into())]
    {
        assert_eq!(service.ask("PUT", &format!("/v1/documents/{name}"), "", text.as_bytes()).unwrap().0, 201);
    }
    let address = format!("http://{}/", service.address);
    Some((folder, service, browser, address))
}

/// The value of an expression about the report in the frame; null before the frame has a page.
fn inside(expression: &str) -> String {
    format!(
        "(() => {{ const page = document.querySelector('iframe')?.contentDocument; return page && {expression} }})()"
    )
}

#[test]
fn a_pasted_text_is_compared_side_by_side() {
    let Some((_folder, service, mut browser, address)) = begin(&[]) else { return };
    browser.visit(&address);
    browser.wait("document.getElementById('text')");
    assert_eq!(browser.ask("document.getElementById('asking').open"), true);
    browser.ask("document.getElementById('text').focus()");
    browser.call("Input.insertText", json!({"text": format!("An essay says: {TEXT}, and more.")}));
    // With the keyboard alone.
    browser.press("Tab");
    assert_eq!(browser.text("document.activeElement.id"), "ask");
    browser.press("Enter");
    browser.wait(&inside("page.querySelectorAll('tr[data-pair]').length === 2"));
    browser.picture("serve-list");
    assert_eq!(browser.text("document.getElementById('status').textContent"), "2 documents share text.");
    browser.ask("document.querySelector('iframe').contentWindow.location.hash = 'pair=1'");
    browser.wait(&inside("page.querySelectorAll('mark').length === 2"));
    let marked = browser.text(&inside("page.querySelector('mark').textContent"));
    assert!(TEXT.contains(marked.trim()) && marked.len() > 60, "{marked}");
    assert_eq!(browser.text("location.hash"), "#compare?view=pair%3D1");
    browser.picture("serve-pair");
    // A pasted text is stored nowhere.
    assert_eq!(service.json("GET", "/v1/stats", &json!(null))["documents"], 3);
    browser.check_quiet_at(&address);
    assert_eq!(service.end(), Some(0));
}

#[test]
fn a_pair_of_stored_documents_has_an_address_and_hostile_texts_stay_text() {
    let Some((_folder, _service, mut browser, address)) = begin(&[]) else { return };
    browser.visit(&format!("{address}#compare?document=docs%2Fa.txt&view=pair%3D1"));
    browser.wait(&inside("page.querySelectorAll('mark').length === 2"));
    assert!(browser.text(&inside("page.body.textContent")).contains("<img src=x onerror=alert(1)>"));
    assert_eq!(browser.ask(&inside("page.querySelectorAll('img').length")), 0);
    browser.visit(&format!("{address}#documents?name=docs%2Fb.txt"));
    browser.wait("document.querySelector('pre')");
    let facts = "document.querySelectorAll('dl.about > dt').length >= 3 && \
                 document.querySelectorAll('dl.about > dd').length === document.querySelectorAll('dl.about > dt').length";
    assert_eq!(browser.ask(facts), true, "{}", browser.text("document.querySelector('dl.about').textContent"));
    assert!(browser.text("document.querySelector('pre').textContent").contains("</script><script>alert(2)"));
    browser.check_accessible();
    browser.check_quiet_at(&address);
}

#[test]
fn the_answer_to_an_earlier_question_is_not_shown() {
    let Some((_folder, _service, mut browser, address)) = begin(&[]) else { return };
    browser.visit(&address);
    browser.wait("document.getElementById('text')");
    // The first report comes late.
    browser.ask(
        "(() => { const real = window.fetch; let asked = 0; window.fetch = async (...given) => {
            const number = String(given[0]).includes('report') ? (asked += 1) : 0;
            const answer = await real(...given);
            if (number === 1) { await new Promise((go) => setTimeout(go, 1000)); setTimeout(() => { window.came = true; }, 200); }
            return answer;
        }; return true; })()",
    );
    browser.ask("(() => { location.hash = 'compare?document=docs%2Fa.txt'; return true; })()");
    browser.wait("document.getElementById('stored').value === 'docs/a.txt'");
    browser.ask("(() => { location.hash = 'compare?document=docs%2Fc.txt'; return true; })()");
    browser.wait("window.came");
    let said = browser.text("document.getElementById('status').textContent");
    assert_eq!(said, "No stored document shares text with it.");
    assert_eq!(browser.ask("document.querySelector('iframe') === null && window.fpdbReport === undefined"), true);
}

#[test]
fn a_question_is_asked_again_and_an_error_leaves_no_report() {
    let Some((_folder, service, mut browser, address)) = begin(&[]) else { return };
    let status = "document.getElementById('status').textContent";
    let pairs = |number: usize| inside(&format!("page.querySelectorAll('tr[data-pair]').length === {number}"));
    browser.visit(&format!("{address}#compare?document=docs%2Fa.txt"));
    browser.wait(&pairs(1));
    // The same question has the same address, and is asked again.
    assert_eq!(service.ask("PUT", "/v1/documents/new", "", format!("New: {TEXT}").as_bytes()).unwrap().0, 201);
    browser.ask("(() => { document.getElementById('ask-stored').click(); return true; })()");
    browser.wait(&pairs(2));
    // The question is also asked again when a reader comes back from the documents.
    browser.ask("(() => { location.hash = 'documents'; return true; })()");
    browser.wait("document.getElementById('search')");
    assert_eq!(service.ask("DELETE", "/v1/documents/new", "", b"").unwrap().0, 200);
    browser.ask("(() => { history.back(); return true; })()");
    browser.wait(&pairs(1));
    assert_eq!(service.ask("DELETE", "/v1/documents/docs/a.txt", "", b"").unwrap().0, 200);
    browser.ask("(() => { document.getElementById('ask-stored').click(); return true; })()");
    browser.wait(&format!("{status}.startsWith('no document has this name')"));
    assert_eq!(browser.ask("document.querySelector('iframe') === null"), true);
}

#[test]
fn one_version_of_a_document_is_shown_and_removed() {
    let Some((_folder, service, mut browser, address)) = begin(&[]) else { return };
    let later = "/v1/documents/docs/c.txt?on_change=both";
    assert_eq!(service.ask("PUT", later, "", b"Apples in warm climates.").unwrap().0, 201);
    browser.visit(&format!("{address}#documents?contains=c.txt"));
    browser.wait("document.querySelectorAll('tbody tr').length === 2");
    browser.click("tbody tr td.name a");
    browser.wait("document.querySelector('pre')?.textContent.startsWith('Pears')");
    browser.ask("(() => { history.back(); return true; })()");
    browser.wait("document.querySelectorAll('tbody tr').length === 2");
    browser.click("tbody button");
    browser.click("tbody button");
    browser.wait("document.querySelectorAll('tbody tr').length === 1");
    let left = service.json("GET", "/v1/documents/docs/c.txt?text=true", &json!(null));
    assert_eq!(left["text"], "Apples in warm climates.");
    browser.check_quiet_at(&address);
}

#[test]
fn documents_are_found_and_removed_on_a_narrow_screen() {
    let Some((_folder, service, mut browser, address)) = begin(&[]) else { return };
    let narrow = json!({"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": true});
    browser.call("Emulation.setDeviceMetricsOverride", narrow);
    browser.visit(&format!("{address}#documents"));
    browser.wait("document.querySelectorAll('tbody tr').length === 3");
    browser.picture("serve-documents-narrow");
    let fits = "document.documentElement.scrollWidth <= 400";
    assert_eq!(browser.ask(fits), true, "documents");
    browser.visit(&format!("{address}#documents?contains=C.TX"));
    browser.wait("document.querySelectorAll('tbody tr').length === 1");
    // The first click asks, the second removes.
    browser.click("tbody button");
    assert_eq!(browser.text("document.querySelector('tbody button').textContent"), "Really remove?");
    browser.click("tbody button");
    browser.wait("document.querySelectorAll('tbody tr').length === 0");
    assert_eq!(service.json("GET", "/v1/stats", &json!(null))["documents"], 2);
    for scheme in ["light", "dark"] {
        browser.pretend(scheme, "screen");
        browser.visit(&format!("{address}#compare?document=docs%2Fa.txt"));
        browser.wait(&inside("page.querySelector('tr[data-pair]')"));
        browser.picture(&format!("serve-compare-{scheme}"));
        assert_eq!(browser.ask(fits), true, "compare");
        let ground = browser.text("getComputedStyle(document.documentElement).backgroundColor");
        assert_eq!(ground == "rgb(255, 255, 255)", scheme == "light", "{ground}");
    }
    browser.check_quiet_at(&address);
}

#[test]
fn the_key_is_asked_for_and_says_what_may_be_done() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = prepared();
    let made = folder.ok(&["serve", "--new-key", "ann", "--rights", "read"]).stdout;
    let (key, line) = made.trim_end().split_once('\n').unwrap();
    folder.write("keys", line);
    let service = Service::start(&folder, &["--key-file", "keys"]);
    let address = format!("http://{}/", service.address);
    browser.visit(&format!("{address}#documents"));
    browser.wait("document.activeElement.id === 'key-text'");
    browser.check_accessible();
    let status = "document.getElementById('status').textContent";
    assert_eq!(browser.text(status), "Enter a key of this service.");
    browser.call("Input.insertText", json!({"text": "fpdb_wrong"}));
    browser.press("Enter");
    browser.wait(&format!("{status}.startsWith('The service does not know this key.')"));
    // The wrong key stays in the field, and the next key replaces it.
    assert_eq!(browser.text("document.getElementById('key-text').value"), "fpdb_wrong");
    browser.call("Input.insertText", json!({"text": key}));
    browser.press("Enter");
    browser.wait("document.getElementById('search')");
    browser.check_accessible();
    assert_eq!(browser.text("document.getElementById('who').textContent"), "ann: may read");
    // The page has no form for adding documents, and no address contains the key.
    assert_eq!(browser.ask("document.getElementById('add') === null && !location.href.includes('fpdb_')"), true);
}
