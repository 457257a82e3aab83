//! Requests through the whole router, without a network.

mod defence;
mod jobs;
mod query;
mod read_only;
mod remove;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fpdb::{Database, Profile};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::app::App;
use crate::settings::ServeOptions;

const TEXT: &str =
    "When in the Course of human events, it becomes necessary for one people to dissolve the political bands";

/// A service on a database of its own.
struct Service {
    folder: TempDir,
    app: Arc<App>,
    router: Router,
    runtime: Runtime,
}

/// The answer to a request.
struct Got {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap_or("").to_owned()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Service {
    fn new(change: impl FnOnce(ServeOptions) -> ServeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        drop(Database::create(folder.path().join("secret-place.db"), Profile::PROSE).unwrap());
        Self::on(folder, change)
    }

    /// A service on the database in this folder.
    fn on(folder: TempDir, change: impl FnOnce(ServeOptions) -> ServeOptions) -> Self {
        let db = folder.path().join("secret-place.db");
        let options = ServeOptions { db, log_requests: false, ..ServeOptions::default() };
        let app = App::open(change(options)).unwrap();
        let router = super::router(&app);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { folder, app, router, runtime }
    }

    fn send(&self, request: Request<Body>) -> Got {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
            Got { status: parts.status.as_u16(), headers: parts.headers, body }
        })
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Got {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "127.0.0.1:7788");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap())
    }

    fn get(&self, path: &str) -> Got {
        self.ask("GET", path, &[], "")
    }

    fn put(&self, name: &str, text: &str) -> Got {
        self.ask("PUT", &format!("/v1/documents/{name}"), &[], text.to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> Got {
        self.ask("POST", path, &[("content-type", "application/json")], body.to_string())
    }

    /// Waits for the end of a job, and returns it.
    fn finished(&self, place: &str) -> Value {
        loop {
            let job = self.get(place).json();
            if !["queued", "running"].contains(&job["state"].as_str().unwrap()) {
                return job;
            }
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.app.close();
    }
}

fn service() -> Service {
    Service::new(|options| options)
}

#[test]
fn documents_are_stored_shown_listed_and_removed() {
    let service = service();
    let added = service.put("essays/a.txt", TEXT);
    let facts = json!({
        "name": "essays/a.txt", "outcome": "added", "id": 0, "format": "text", "symbols": 85, "fingerprints": 4, "undecodable": 0
    });
    assert_eq!((added.status, added.json()), (201, facts));
    assert_eq!(service.put("essays/a.txt", TEXT).json()["outcome"], "unchanged");
    let replaced = service.put("essays/a.txt", &format!("{TEXT}, again"));
    assert_eq!((replaced.status, replaced.json()["outcome"].clone()), (200, json!("replaced")));
    // Names may be anything: absolute, with spaces, with characters that have a meaning in an address.
    for (path, name) in [("%2Fabs%2Fb", "/abs/b"), ("a%20b%3F%23%25", "a b?#%"), ("%C3%A9/%2E%2E/x", "é/../x")] {
        assert_eq!(service.put(path, name).json()["name"], name);
        assert_eq!(service.get(&format!("/v1/documents/{path}")).json()["name"], name);
    }
    let with = service.ask("PUT", "/v1/documents/b?metadata=%7B%22author%22%3A%22x%22%7D", &[], "short");
    assert_eq!(with.status, 201);
    let shown = service.get("/v1/documents/b?text=true").json();
    assert_eq!(
        (&shown["metadata"]["author"], &shown["text"], &shown["source"]),
        (&json!("x"), &json!("short"), &Value::Null)
    );
    let listed = service.get("/v1/documents?prefix=essays/").json();
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1);
    assert_eq!(service.get("/v1/documents?contains=SAYS").json()["documents"][0]["name"], "essays/a.txt");
    // The body of a PUT is the document, whatever its media type. `curl --data-binary` sends this media type.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(service.ask("PUT", "/v1/documents/form.txt", &form, "as it is").status, 201);
    assert_eq!(service.get("/v1/documents/form.txt?text=true").json()["text"], "as it is");
    let removed = service.ask("DELETE", "/v1/documents/essays/a.txt", &[], "");
    assert_eq!((removed.status, removed.json()["removed"].clone()), (200, json!(1)));
    assert_eq!(service.get("/v1/documents/essays/a.txt").status, 404);
    assert_eq!(service.ask("DELETE", "/v1/documents/essays/a.txt", &[], "").kind(), "urn:fpdb:no-such-document");
}

#[test]
fn the_answer_to_a_put_tells_what_keeps_queries_from_finding_the_document() {
    let service = service();
    let put =
        |path: &str, body: &[u8]| service.ask("PUT", &format!("/v1/documents/{path}"), &[], body.to_owned()).json();
    let first_warning = |answer: &Value| answer["warnings"][0].as_str().unwrap_or("").to_owned();
    assert!(first_warning(&put("scan.html", b"<p><img src=page.png></p>")).contains("no text"));
    assert!(first_warning(&put("short", b"short")).contains("shorter than 25 symbols"));
    let plain = put("plain", TEXT.replace("necessary", "needed").as_bytes());
    assert_eq!(plain.get("warnings"), None, "{plain}");
    let mut bytes = TEXT.as_bytes().to_vec();
    bytes.extend("é".repeat(9).as_bytes());
    bytes.push(0xc3);
    let undecodable = put("undecodable", &bytes);
    assert_eq!(
        (&undecodable["undecodable"], first_warning(&undecodable).as_str()),
        (&json!(1), "1 of its byte sequences are no characters in UTF-8")
    );
    assert_eq!(put("a", TEXT.as_bytes()).get("identical_to"), None);
    assert_eq!(put("b", TEXT.as_bytes())["identical_to"], json!(["a"]));
    let unchanged = put("b", TEXT.as_bytes());
    assert_eq!((&unchanged["outcome"], &unchanged["identical_to"]), (&json!("unchanged"), &json!(["a"])));
    // The stored document has other content, so the answer has no facts about it.
    let kept = put("b?on_change=keep", b"another");
    assert_eq!(kept, json!({"name": "b", "outcome": "kept"}));
    assert_eq!(put("b?on_change=both", b"another")["id"], 6);
    for number in 0..30 {
        put(&format!("copy-{number:02}"), TEXT.as_bytes());
    }
    let many = put("last", TEXT.as_bytes());
    assert_eq!((many["identical_to"].as_array().unwrap().len(), &many["identical_to"][19]), (20, &json!("copy-17")));
}

#[test]
fn a_text_that_is_not_utf8_is_shown_with_its_bytes() {
    let service = service();
    let bytes = [b"\x80\x80 and \xc3( ", TEXT.as_bytes()].concat();
    service.ask("PUT", "/v1/documents/a", &[], bytes.clone());
    let shown = service.get("/v1/documents/a?text=true").json();
    let told = BASE64_STANDARD.decode(shown["text_base64"].as_str().unwrap()).unwrap();
    assert!(told == bytes && shown["text"].as_str().unwrap().starts_with('\u{fffd}'), "{shown}");
    // Offsets of passages count these bytes.
    let found = service.post("/v1/query", &json!({"text": TEXT})).json();
    let place = &found["matches"][0]["passages"][0]["document"];
    let [start, end] = ["start", "end"].map(|name| place[name].as_u64().unwrap() as usize);
    assert_eq!(std::str::from_utf8(&told[start..end]).unwrap().trim(), TEXT, "{found}");
    service.put("b", TEXT);
    assert_eq!(service.get("/v1/documents/b?text=true").json().get("text_base64"), None);
}

#[test]
fn names_with_control_characters_are_refused_and_those_of_files_are_served() {
    let service = service();
    for (path, told) in
        [("a%00b", "U+0000"), ("a%0Ab", "U+000A"), ("%C2%85", "U+0085"), (&*"n".repeat(4097), "4097 bytes")]
    {
        let got = service.put(path, TEXT);
        assert_eq!((got.status, got.kind()), (400, "urn:fpdb:bad-request".into()), "{path}");
        assert!(got.json()["detail"].as_str().unwrap().contains(told), "{}", got.text());
    }
    let lines = format!("{}\n{}\n", json!({"name": "good", "text": "x"}), json!({"name": "a\tb", "text": "x"}));
    let refused = service.ask("PUT", "/v1/documents", &[], lines).json();
    assert_eq!(refused["detail"], "line 2: the name has the control character U+0009");
    assert_eq!(service.get("/v1/stats").json()["documents"], 0);
    assert_eq!(service.put(&"n".repeat(4096), TEXT).status, 201);
    // A file of an ingest may have any name.
    let folder = tempfile::tempdir().unwrap();
    let writer = Database::create(folder.path().join("secret-place.db"), Profile::PROSE).unwrap();
    writer.ingest([fpdb::Document::new("a\nb", TEXT)]).unwrap();
    drop(writer);
    let service = Service::on(folder, |options| options);
    assert_eq!(service.get("/v1/documents/a%0Ab").json()["name"], "a\nb");
    assert_eq!(service.ask("DELETE", "/v1/documents/a%0Ab", &[], "").json()["removed"], 1);
}

#[test]
fn one_version_of_a_document_is_removed() {
    let service = service();
    service.put("a", "first");
    let first = service.get("/v1/documents/a").json()["id"].as_u64().unwrap();
    service.ask("PUT", "/v1/documents/a?on_change=both", &[], "second");
    let removed = service.ask("DELETE", &format!("/v1/documents/a?id={first}"), &[], "");
    assert_eq!((removed.status, &removed.json()["removed"]), (200, &json!(1)));
    assert_eq!(service.get(&format!("/v1/documents/a?id={first}")).status, 404);
    assert_eq!(service.get("/v1/documents/a?text=true").json()["text"], "second");
}

#[test]
fn a_document_that_is_replaced_again_and_again_is_always_there() {
    let service = service();
    service.put("a", "0");
    let is_replaced = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for version in 1..200 {
                service.put("a", &version.to_string());
            }
            is_replaced.store(true, Ordering::Relaxed);
        });
        while !is_replaced.load(Ordering::Relaxed) {
            let shown = service.get("/v1/documents/a?text=true");
            assert_eq!(shown.status, 200, "{}", shown.text());
        }
    });
    assert_eq!(service.get("/v1/documents/a?text=true").json()["text"], "199");
}

#[test]
fn pages_of_a_list_hold_each_document_once() {
    let service = service();
    let lines: String =
        (0..25).map(|number| format!("{}\n", json!({"name": format!("d{number:02}"), "text": "x"}))).collect();
    let summary = service.ask("PUT", "/v1/documents", &[("content-type", "application/x-ndjson")], lines);
    assert_eq!((summary.status, summary.json()["added"].clone()), (200, json!(25)));
    let (mut names, mut from) = (Vec::new(), 0);
    loop {
        let page = service.get(&format!("/v1/documents?limit=10&from={from}")).json();
        names.extend(page["documents"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        match page["next"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(names, (0..25).map(|number| format!("d{number:02}")).collect::<Vec<_>>());
}

#[test]
fn an_archive_is_refused_with_the_advice_to_send_its_members() {
    let service = service();
    let gzip: &[u8] = include_bytes!("../../../../tests/samples/fed01.txt.gz");
    let zip: &[u8] = include_bytes!("../../../../tests/samples/stored.zip");
    for (name, bytes) in [("a.gz", gzip), ("a.zip", zip)] {
        let put = service.ask("PUT", &format!("/v1/documents/{name}"), &[], bytes);
        let asked = service.ask("POST", &format!("/v1/query?name={name}"), &[], bytes);
        for got in [put, asked] {
            assert_eq!(got.status, 422, "{name}: {}", got.text());
            assert!(got.json()["hint"].as_str().is_some_and(|hint| hint.contains("members")), "{}", got.text());
        }
    }
}

#[test]
fn an_error_in_many_documents_tells_its_place() {
    let service = Service::new(|options| ServeOptions { max_body: 1000, ..options });
    let put = |body: &str| service.ask("PUT", "/v1/documents", &[], body.to_owned());
    let detail = |body: &str| put(body).json()["detail"].as_str().unwrap().to_owned();
    let good = r#"{"name": "a", "text": "x"}"#;
    let with = |value: &str| {
        detail(&format!("{good}\n{{\"name\": \"b\", \"text\": \"x\", \"metadata\": {{\"n\": {value}}}}}"))
    };
    assert_eq!(with("1"), "line 2, column 46: the metadata n: invalid type: integer `1`, expected a string");
    assert_eq!(with("\"\\ud800\""), "line 2, column 53: the metadata n: unexpected end of hex escape");
    assert_eq!(
        detail(&format!("{good}\n\n{{\"name\": 1}}")),
        "line 3, column 10: invalid type: integer `1`, expected a string"
    );
    let marked = put(&format!("\u{feff}{good}"));
    assert_eq!((marked.status, &marked.json()["added"]), (200, &json!(1)), "{}", marked.text());
    let large = put(&format!("{good}\n").repeat(50)).json();
    assert!(large["status"] == 413 && large["hint"].as_str().unwrap().contains("several smaller requests"), "{large}");
}

#[test]
fn the_schema_comes_first_in_each_answer() {
    let service = service();
    let (documents, pairs) = ("/v1/documents", "/v1/pairs");
    let result = |asked: Got| {
        let place = asked.header("location").to_owned();
        service.finished(&place);
        service.get(&format!("{place}/result")).text()
    };
    let line = |name: &str| format!("{}\n", json!({"name": name, "text": TEXT}));
    for (schema, answer) in [
        ("fpdb.ingest/1", service.ask("PUT", documents, &[], line("a") + &line("b")).text()),
        ("fpdb.document/1", service.get("/v1/documents/a").text()),
        ("fpdb.document/1", service.get("/v1/documents/a?text=true&identical=true").text()),
        ("fpdb.stats/1", service.get("/v1/stats").text()),
        ("fpdb.query/1", service.post("/v1/query", &json!({"id": 0})).text()),
        ("fpdb.job/1", service.post(pairs, &json!({})).text()),
        ("fpdb.pair/1", result(service.post(pairs, &json!({})))),
        ("fpdb.compact/1", result(service.ask("POST", "/v1/compact", &[], ""))),
        ("fpdb.rm/1", service.ask("DELETE", "/v1/documents/b", &[], "").text()),
    ] {
        assert!(answer.starts_with(&format!("{{\"schema\":\"{schema}\",")), "{schema}: {answer}");
    }
    let listed = service.get(documents).text();
    assert!(listed.starts_with("{\"documents\":[{\"schema\":\"fpdb.document/1\","), "{listed}");
    let report = service.post("/v1/report", &json!({"text": TEXT})).text();
    assert!(report.starts_with("{\"overview\":{\"schema\":\"fpdb.report/1\","), "{report:.99}");
}

#[test]
fn the_page_has_a_strict_policy_and_its_files() {
    let service = service();
    let page = service.get("/");
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe")
    );
    let report = service.get("/page/report.html");
    assert!(report.header("content-security-policy").contains("frame-ancestors 'self'"));
    let api = service.get("/v1/stats");
    assert!(api.header("content-security-policy").contains("sandbox"));
    assert_eq!(api.header("cache-control"), "no-store");
    for got in [page, report, api] {
        assert_eq!(got.header("x-content-type-options"), "nosniff");
        assert!(got.header("set-cookie").is_empty());
    }
}

#[test]
fn every_route_is_described_and_every_description_is_a_route() {
    let service = service();
    let description = service.get("/openapi.json").json();
    let paths = description["paths"].as_object().unwrap();
    for (path, methods) in paths {
        let path = path.replace("{name}", "x").replace("{id}", "0").replace("{kind}", "pairs");
        for method in methods.as_object().unwrap().keys() {
            let got = service.ask(&method.to_uppercase(), &path, &[("content-type", "application/json")], "");
            assert!(got.status != 405 && !got.text().contains("no-such-route"), "{method} {path}: {}", got.status);
        }
    }
    let described = include_str!("../../../../docs/serve.md");
    let source = include_str!("../mod.rs");
    for (_, rest) in source.match_indices(".route(").map(|(at, _)| (at, &source[at..])) {
        let Some(path) = rest.split('"').nth(1).filter(|path| path.starts_with('/')) else { continue };
        let path = path
            .replace("{*name}", "{name}")
            .replace("/v1/{path}/{{id}}", "/v1/{kind}/{id}")
            .replace("/v1/{path}", "/v1/{kind}");
        assert!(paths.contains_key(&path), "{path} is not described");
        let first = path.split('{').next().unwrap();
        assert!(described.contains(first), "docs/serve.md lacks {path}");
    }
}

#[test]
fn figures_are_those_of_routes_and_never_of_names() {
    let service = service();
    service.put("confidential-name", TEXT);
    service.get("/v1/documents/confidential-name");
    service.ask("BREW", "/v1/stats", &[], "");
    let bytes = |stats: &Value| -> u64 {
        stats["stored"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).sum()
    };
    let before = bytes(&service.get("/v1/stats").json());
    let text = service.get("/metrics").text();
    assert!(
        text.contains("fpdb_requests_total{method=\"PUT\",route=\"/v1/documents/{*name}\",status=\"201\"} 1"),
        "{text}"
    );
    assert!(
        text.contains("fpdb_documents 1")
            && text.contains("fpdb_documents_written_total 1")
            && text.contains("method=\"other\""),
        "{text}"
    );
    let stats = service.get("/v1/stats").json();
    let told = text.lines().find_map(|line| line.strip_prefix("fpdb_database_bytes ")).unwrap();
    // The engine may write its log meanwhile.
    assert!((before..=bytes(&stats)).contains(&told.parse().unwrap()), "{before}, {told}, {}", bytes(&stats));
    let committed = stats["committed_at"].to_string();
    let workers = service.app.options.worker_count();
    for (name, value) in [
        ("runs", stats["runs"].to_string().as_str()),
        ("fingerprints", &stats["fingerprints"].to_string()),
        ("deleted_documents", "0"),
        ("last_commit_timestamp_seconds", &committed),
        ("writable", "1"),
        ("workers", &workers.to_string()),
        ("workers_busy", "0"),
        ("requests_inside_limit", &(workers + 64).to_string()),
        ("changes_waiting", "0"),
    ] {
        assert!(text.contains(&format!("\nfpdb_{name} {value}\n")), "{name} {value}: {text}");
    }
    assert!(!text.contains("confidential") && !text.contains("BREW") && text.ends_with("# EOF\n"));
}

#[test]
fn an_address_that_others_reach_needs_keys() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("db");
    drop(Database::create(&db, Profile::PROSE).unwrap());
    let options = ServeOptions { db, listen: "0.0.0.0:0".parse().unwrap(), ..ServeOptions::default() };
    assert!(matches!(App::open(options), Err(crate::ServeError::NeedsKeys { .. })));
}

#[test]
fn once_it_ends_nothing_is_taken_and_what_waited_is_there() {
    let service = service();
    assert_eq!(service.put("a", TEXT).status, 201);
    service.app.close();
    assert_eq!(service.put("b", TEXT).kind(), "urn:fpdb:ending");
    assert_eq!(StatusCode::from_u16(service.get("/readyz").status).unwrap(), StatusCode::SERVICE_UNAVAILABLE);
    // The service has closed the database, so another writer can open it.
    let writer = Database::open_writer(service.folder.path().join("secret-place.db")).unwrap();
    assert_eq!(writer.stats().unwrap().documents, 1);
}
