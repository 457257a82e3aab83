//! Tests of rights, hostile requests, and limits.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use tower::ServiceExt;

use super::{Service, TEXT, service};
use crate::counted_heap;
use crate::keys::{Rights, new_key};
use crate::routes::documents::BulkLines;
use crate::routes::query::{RawQuery, Sent};
use crate::routes::request::read_json;
use crate::settings::ServeOptions;

/// The expected status of a request: its method, path, headers and body.
type Case<'a> = (u16, &'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

#[test]
fn a_job_of_another_key_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let keys = [("ann", Rights::Read), ("ben", Rights::Write), ("cy", Rights::Admin)]
        .map(|(name, rights)| new_key(name, rights).unwrap());
    std::fs::write(&path, keys.iter().map(|(_, line)| format!("{line}\n")).collect::<String>()).unwrap();
    let service = Service::new(|options| ServeOptions { key_file: Some(path), per_key: 1, ..options });
    let [ann, ben, cy] = keys.map(|(key, _)| format!("Bearer {key}"));
    let ask = |method: &str, path: &str, key: &str| service.ask(method, path, &[("authorization", key)], "");
    let place = ask("POST", "/v1/pairs", &ann).header("location").to_owned();
    assert_eq!(ask("GET", &place, &ann).status, 200);
    assert_eq!(ask("GET", &place, &ben).status, 404);
    assert_eq!(ask("GET", &place, &cy).status, 200);
    assert_eq!(ask("GET", "/v1/pairs", &ben).json()["jobs"], json!([]));
    // The rights of each key.
    for (method, path, statuses) in [
        ("GET", "/v1/stats", [200, 200, 200]),
        ("GET", "/metrics", [200, 200, 200]),
        ("PUT", "/v1/documents/x", [403, 201, 200]),
        ("PUT", "/v1/documents", [403, 200, 200]),
        ("DELETE", "/v1/documents/y", [403, 404, 404]),
        ("POST", "/v1/remove", [403, 415, 415]),
        ("GET", "/v1/kept-out", [403, 200, 200]),
        ("POST", "/v1/compact", [403, 403, 202]),
        ("GET", "/v1/compact", [403, 403, 200]),
        ("POST", "/v1/backup", [403, 403, 404]),
        ("GET", "/v1/backups", [403, 403, 404]),
    ] {
        let got = [&ann, &ben, &cy].map(|key| ask(method, path, key).status);
        assert_eq!(got, statuses, "{method} {path}");
        assert_eq!(service.ask(method, path, &[], "").status, 401, "{method} {path}");
        assert_eq!(ask(method, path, "Bearer fpdb_0").status, 401, "{method} {path}");
    }
    // Recording decisions is a change.
    let append = |key: &str| {
        let headers = [("authorization", key), ("content-type", "application/json")];
        service
            .ask("POST", "/v1/dedup", &headers, json!({"options": {"by": "exact", "mode": "append"}}).to_string())
            .status
    };
    assert_eq!((append(&ann), append(&ben)), (403, 202));
    assert_eq!(ask("GET", "/v1/session", &ann).json()["rights"], "read");
    assert_eq!(service.ask("GET", "/v1/session", &[], "").header("www-authenticate"), "Bearer");
    for open in ["/", "/page/app.js", "/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(service.get(open).status, 200, "{open}");
    }
}

/// The media type that `curl -d` sends.
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[test]
fn hostile_requests_are_refused() {
    let service = Service::new(|options| ServeOptions {
        max_body: 4096,
        body_memory: 8192,
        hosts: vec!["archive.example".into()],
        ..options
    });
    assert_eq!(service.put("a", TEXT).status, 201);
    let json_type = ("content-type", "application/json");
    let large = "x".repeat(5000);
    let cases: &[Case] = &[
        // DNS rebinding: requests under names that are not the service's.
        (421, "GET", "/v1/stats", &[("host", "evil.example")], ""),
        (421, "GET", "/", &[("host", "evil.example:7788")], ""),
        (421, "GET", "/v1/stats", &[("host", "127.0.0.1.evil.example")], ""),
        (421, "GET", "/v1/stats", &[("host", "localhost.evil.example:7788")], ""),
        (421, "GET", "/v1/stats", &[("host", "")], ""),
        (200, "GET", "/v1/stats", &[("host", "localhost:7788")], ""),
        (200, "GET", "/v1/stats", &[("host", "[::1]:7788")], ""),
        (200, "GET", "/v1/stats", &[("host", "Archive.Example")], ""),
        // Requests of pages of other sites.
        (403, "PUT", "/v1/documents/x", &[("origin", "http://evil.example")], "text"),
        (403, "PUT", "/v1/documents/x", &[("origin", "null")], "text"),
        (403, "POST", "/v1/query", &[("origin", "http://127.0.0.1:9"), ("content-type", "text/plain")], "text"),
        (403, "GET", "/v1/documents", &[("sec-fetch-site", "cross-site")], ""),
        (403, "DELETE", "/v1/documents/a", &[("sec-fetch-site", "same-site")], ""),
        (200, "GET", "/v1/documents", &[("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:7788")], ""),
        (405, "OPTIONS", "/v1/documents/a", &[("access-control-request-method", "DELETE")], ""),
        // Bodies that are too large or malformed.
        (413, "PUT", "/v1/documents/x", &[], &large),
        (413, "POST", "/v1/query", &[], &large),
        (413, "POST", "/v1/query", &[json_type], &large),
        (413, "POST", "/v1/query", &[("content-length", "99999999999")], "x"),
        (400, "POST", "/v1/query", &[json_type], "{"),
        (400, "POST", "/v1/query", &[json_type], "{}"),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"document\":\"b\"}"),
        (400, "POST", "/v1/query", &[json_type], "{\"path\":\"/etc/passwd\"}"),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"options\":{\"tpo\":1}}"),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"options\":{\"window\":1}}"),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"options\":{\"top\":null}}"),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"options\":{\"top\":0}}"),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"options\":{\"top\":1001}}"),
        (
            400,
            "POST",
            "/v1/query",
            &[json_type],
            "{\"text\":\"a\",\"options\":{\"read\":{\"limits\":{\"nesting\":99}}}}",
        ),
        (400, "POST", "/v1/query", &[json_type], "{\"text\":\"a\",\"options\":{\"submission_by\":\"(\"}}"),
        (400, "POST", "/v1/query", &[("content-type", "multipart/form-data")], "x"),
        (400, "POST", "/v1/query", &[("content-type", "multipart/form-data; boundary=B")], "--B"),
        (404, "POST", "/v1/query", &[json_type], "{\"document\":\"/etc/passwd\"}"),
        (404, "POST", "/v1/query", &[json_type], "{\"id\":4000000000}"),
        (400, "POST", "/v1/pairs", &[json_type], "{\"options\":{\"temp_dir\":\"/tmp\"}}"),
        (400, "POST", "/v1/pairs", &[json_type], "{\"options\":{\"min_shared\":-1}}"),
        (400, "POST", "/v1/dedup", &[json_type], "{\"options\":{\"by\":\"all\"}}"),
        (400, "POST", "/v1/dedup", &[json_type], "{\"options\":{\"temp_dir\":\"/tmp\"}}"),
        (400, "POST", "/v1/dedup", &[json_type], "{\"passages\":true}"),
        (400, "POST", "/v1/pairs", &[json_type], "{\"joining\":{\"gpa\":1}}"),
        (400, "POST", "/v1/repeats", &[json_type], "{\"options\":{\"temp_dir\":\"/tmp\"}}"),
        (400, "POST", "/v1/repeats", &[json_type], "{\"options\":{\"limits\":{\"nesting\":99}}}"),
        (400, "POST", "/v1/repeats", &[json_type], "{\"joining\":{\"gap\":1}}"),
        (415, "POST", "/v1/pairs", &[("content-type", "text/plain")], "{}"),
        (415, "POST", "/v1/dedup", &[FORM], r#"{"options": {"by": "exact"}}"#),
        // A query without its media type is refused, and is not taken for a document.
        (415, "POST", "/v1/query", &[FORM], r#"{"text": "x"}"#),
        (415, "POST", "/v1/query", &[FORM], "a text that was meant as a document"),
        (415, "POST", "/v1/report", &[FORM], r#"{"document": "a"}"#),
        (415, "POST", "/v1/query", &[], ""),
        (400, "POST", "/v1/query", &[json_type], ""),
        (415, "POST", "/v1/query", &[], r#"{"id": 0, "options": {"top": 1}}"#),
        (415, "POST", "/v1/query", &[("content-type", "text/plain;charset=UTF-8")], r#"{"text": "x"}"#),
        (400, "PUT", "/v1/documents", &[], "{\"name\":\"x\"}\n"),
        (400, "PUT", "/v1/documents", &[], "{\"name\":\"x\",\"text\":\"a\",\"source\":\"/etc/passwd\"}\n"),
        (400, "PUT", "/v1/documents/x?metadata=1", &[], "a"),
        (400, "PUT", "/v1/documents/x?as=poem", &[], "a"),
        (400, "PUT", "/v1/documents/x?path=/etc/passwd", &[], "a"),
        // Parameters and bodies that a route does not read.
        (400, "DELETE", "/v1/documents/a?dry_run=true", &[], ""),
        (400, "DELETE", "/v1/documents/a", &[json_type], "{\"id\":1}"),
        (404, "DELETE", "/v1/documents/a?id=99", &[], ""),
        (404, "DELETE", "/v1/documents/b?id=0", &[], ""),
        (400, "GET", "/v1/stats?prefix=a", &[], ""),
        (400, "GET", "/v1/session", &[], "x"),
        (400, "POST", "/v1/compact?quick=true", &[], ""),
        (400, "POST", "/v1/compact", &[json_type], "{\"quick\":true}"),
        (400, "POST", "/v1/backup", &[json_type], "{\"folder\":\"/x\"}"),
        (400, "POST", "/v1/pairs?top=1", &[json_type], "{}"),
        (400, "GET", "/v1/pairs?limit=1", &[], ""),
        (400, "DELETE", "/v1/pairs/0?dry_run=true", &[], ""),
        (400, "POST", "/v1/query?name=x", &[json_type], "{\"text\":\"a\"}"),
        (400, "POST", "/v1/query?options={}", &[json_type], "{\"text\":\"a\",\"options\":{\"top\":1}}"),
        (422, "PUT", "/v1/documents/x.txt", &[], "\u{0}\u{1}\u{2}\u{0}\u{0}"),
        (400, "GET", "/v1/documents?limit=0", &[], ""),
        (400, "GET", "/v1/documents?limit=100000", &[], ""),
        // Paths that lead out of their folder.
        (404, "GET", "/v1/documents/..%2F..%2Fetc%2Fpasswd", &[], ""),
        (404, "GET", "/page/..%2Fapp.rs", &[], ""),
        (404, "GET", "/page/%2Fetc%2Fpasswd", &[], ""),
        (404, "GET", "/v1/pairs/..%2F..", &[], ""),
        (404, "GET", "/v2/query", &[], ""),
        (405, "DELETE", "/v1/query", &[], ""),
        (405, "GET", "/v1/query", &[], ""),
        (400, "GET", "/v1/documents/%FF", &[], ""),
    ];
    for (status, method, path, headers, body) in cases {
        let got = service.ask(method, path, headers, body.to_string());
        let about = format!("{method} {path} {headers:?} {body:.60}: {}", got.text());
        assert_eq!(got.status, *status, "{about}");
        assert!(!path.contains("?metadata=") || got.text().contains("the parameter metadata is not"), "{about}");
        assert!(!got.header("x-request-id").is_empty(), "{about}");
        assert!(!got.headers.contains_key("access-control-allow-origin"), "{about}");
        if *status >= 400 {
            assert_eq!(got.header("content-type"), "application/problem+json", "{about}");
            assert_eq!(got.json()["status"], *status, "{about}");
        }
        assert!(
            !got.text().contains("secret-place.db/") && !got.text().contains(service.folder.path().to_str().unwrap()),
            "{about}"
        );
    }
    // The refused requests have changed nothing.
    assert_eq!(service.get("/v1/stats").json()["documents"], 1);
}

#[test]
fn a_full_queue_answers_503_at_once() {
    let service = Service::new(|options| ServeOptions { workers: Some(1), queue: 1, ..options });
    let places = [service.app.work.enter(), service.app.work.enter()];
    assert!(places.iter().all(Result::is_ok));
    let ask = |method: &str, path: &str| {
        let body = if ["GET", "DELETE"].contains(&method) { "" } else { "x" };
        let got = service.ask(method, path, &[], body);
        (got.status, got.header("retry-after").to_owned())
    };
    let (reads, changes) = (
        [("GET", "/v1/stats"), ("POST", "/v1/query"), ("GET", "/v1/documents/x")],
        [("PUT", "/v1/documents/x"), ("PUT", "/v1/documents"), ("DELETE", "/v1/documents/x"), ("POST", "/v1/remove")],
    );
    for (method, path) in reads {
        assert_eq!(ask(method, path), (503, "1".into()), "{method} {path}");
    }
    // The health check and the figures still answer, and changes have places of their own.
    assert_eq!(service.get("/healthz").status, 200);
    assert!(service.get("/metrics").text().contains("fpdb_requests_inside 2"));
    assert_eq!(ask("PUT", "/v1/documents/x").0, 201);
    drop(places);
    // Changes that wait, as for a compaction, take no place from requests that read.
    let place = service.app.writer.enter();
    for (method, path) in changes {
        assert_eq!(ask(method, path), (503, "1".into()), "{method} {path}");
    }
    for (method, path) in reads {
        assert_eq!(ask(method, path).0, 200, "{method} {path}");
    }
    assert!(service.get("/metrics").text().contains("fpdb_changes_waiting 1"));
    drop(place);
    assert_eq!(ask("DELETE", "/v1/documents/x").0, 200);
}

#[test]
fn json_without_documents_is_short_and_is_read_beside_the_runtime() {
    let service = service();
    let long = "x".repeat(1 << 20);
    for (path, body) in [
        ("/v1/pairs", json!({"options": {"submission_by": long}})),
        ("/v1/dedup", json!({"options": {"prefer": [long]}})),
        ("/v1/repeats", json!({"options": {"x": long}})),
        ("/v1/remove", json!({"names": [long]})),
    ] {
        let got = service.post(path, &body);
        assert_eq!((got.status, got.kind()), (413, "urn:fpdb:too-large".into()), "{path}");
        assert!(got.text().contains("1048576"), "{}", got.text());
    }
    // A query has a text of any length, but not its options.
    assert_eq!(service.post("/v1/query", &json!({"text": long})).status, 200);
    let form = format!(
        "--B\r\ncontent-disposition: form-data; name=\"options\"\r\n\r\n\"{long}\"\r\n\
         --B\r\ncontent-disposition: form-data; name=\"f\"\r\n\r\nx\r\n--B--\r\n"
    );
    for got in [
        service.post("/v1/query", &json!({"text": "x", "options": {"metadata": {"a": long}}})),
        service.ask("POST", "/v1/query", &[("content-type", "multipart/form-data; boundary=B")], form),
    ] {
        assert_eq!(got.status, 400);
        assert!(got.text().contains("options have at most 1048576 bytes"), "{}", got.text());
    }

    /// The thread on which this value was parsed.
    #[derive(Default)]
    struct Parsed(Option<std::thread::ThreadId>);

    impl<'a> serde::Deserialize<'a> for Parsed {
        fn deserialize<D: serde::Deserializer<'a>>(given: D) -> Result<Self, D::Error> {
            serde::de::IgnoredAny::deserialize(given)?;
            Ok(Self(Some(std::thread::current().id())))
        }
    }

    let request = Request::builder().header("content-type", "application/json").body(Body::from("{}")).unwrap();
    let app = Arc::clone(&service.app);
    let threads = service.runtime.spawn(async move {
        let parsed = read_json(&app, request, |parsed: Parsed| Ok(parsed.0)).await;
        (std::thread::current().id(), parsed.ok().unwrap().unwrap())
    });
    let (of_runtime, of_parser) = service.runtime.block_on(threads).unwrap();
    assert_ne!(of_runtime, of_parser);
}

#[test]
fn json_that_is_parsed_after_its_client_has_gone_keeps_its_room_and_its_worker() {
    let service = service();
    let free = service.app.bodies.available_permits();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let request = Request::builder().header("content-type", "application/json").body(Body::from("{}")).unwrap();
    let read = read_json(&service.app, request, move |_: serde_json::Map<_, _>| {
        ended.recv().unwrap();
        Ok(())
    });
    let short = std::time::Duration::from_millis(50);
    assert!(service.runtime.block_on(async { tokio::time::timeout(short, read).await }).is_err());
    assert!(service.app.bodies.available_permits() < free);
    assert_eq!((service.app.work.inside(), service.app.work.workers().1), (1, 1));
    end.send(()).unwrap();
    while service.app.work.inside() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(service.app.bodies.available_permits(), free);
}

#[test]
fn many_short_documents_take_little_more_memory_than_their_body() {
    let line = "{\"name\":\"a\",\"text\":\"\"}\n";
    let body = line.repeat(20_000);
    let (documents, peak) =
        counted_heap::peak(|| BulkLines::of(body.as_bytes()).inspect(|document| assert!(document.is_ok())).count());
    assert_eq!(documents, 20_000);
    assert!(peak < 10_000, "{peak} bytes beside a body of {}", body.len());
}

#[test]
fn bodies_share_a_bounded_memory() {
    let service = Service::new(|options| ServeOptions { max_body: 8192, body_memory: 8192, ..options });
    let room = Arc::clone(&service.app.bodies).try_acquire_many_owned(4).unwrap();
    // The length of the body is known: there is room for 1 KiB, but not for 8 KiB.
    let with_length = |length: usize| {
        let body = "x".repeat(length);
        service.ask("PUT", "/v1/documents/x", &[("content-length", &length.to_string())], body).status
    };
    assert_eq!((with_length(1024), with_length(8192)), (201, 503));
    drop(room);
    // After its answer, a client finds room for its next body.
    for _ in 0..20 {
        assert_eq!(with_length(8192), 200);
    }
}

#[test]
fn a_body_of_the_largest_size_has_room_if_it_is_no_whole_number_of_kibibytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let (key, line) = new_key("ann", Rights::Write).unwrap();
    std::fs::write(&path, line).unwrap();
    let key = format!("Bearer {key}");
    for body_memory in [1500, 2048] {
        let key_file = Some(path.clone());
        let service = Service::new(|options| ServeOptions { key_file, max_body: 1500, body_memory, ..options });
        let headers = [("authorization", key.as_str())];
        assert_eq!(service.ask("PUT", "/v1/documents/a", &headers, "x".repeat(1500)).status, 201, "{body_memory}");
    }
}

#[test]
fn bodies_that_do_not_arrive_take_no_memory_and_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let keys = [new_key("ann", Rights::Write).unwrap(), new_key("ben", Rights::Write).unwrap()];
    std::fs::write(&path, keys.iter().map(|(_, line)| format!("{line}\n")).collect::<String>()).unwrap();
    let service = Service::new(|options| ServeOptions {
        key_file: Some(path),
        max_body: 8192,
        body_memory: 16384,
        queue: 1,
        ..options
    });
    let [ann, ben] = keys.map(|(key, _)| format!("Bearer {key}"));
    let begin = |body: Body| {
        let request = Request::builder().method("PUT").uri("/v1/documents/slow").header("host", "localhost");
        let request = request.header("authorization", &ann).header("content-length", "8192").body(body).unwrap();
        service.runtime.spawn(service.router.clone().oneshot(request))
    };
    let slow: Vec<_> = (0..8).map(|_| begin(Body::new(NeverEnding))).collect();
    let put = |key: &str, length: usize| {
        let headers = [("authorization", key), ("content-length", &*length.to_string())];
        service.ask("PUT", "/v1/documents/x", &headers, "x".repeat(length)).status
    };
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(put(&ben, 8192), 201);
    let of_ann = service.app.keys.identify(ann.strip_prefix("Bearer ")).unwrap().bodies.unwrap();
    let taken = of_ann.try_acquire_many(4).unwrap();
    assert_eq!((put(&ann, 8192), put(&ben, 8192), put(&ann, 4096)), (503, 200, 200));
    drop(taken);
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[test]
fn the_body_of_a_query_is_held_once() {
    let service = service();
    let text = "some text ".repeat(1 << 17);
    let form = format!("--B\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n{text}\r\n--B--");
    let json = json!({"text": text}).to_string();
    // Parsers make a second copy of the body before the first copy is dropped.
    for (kind, body, copies) in [
        ("application/octet-stream", text, 1),
        ("application/json", json, 2),
        ("multipart/form-data; boundary=B", form, 2),
    ] {
        let body = axum::body::Bytes::from(body);
        let request = Request::builder().header("content-type", kind).header("content-length", body.len());
        let request = request.body(Body::from(body.clone())).unwrap();
        let read = Sent::read(&service.app, RawQuery::default(), request);
        let (asked, peak) = counted_heap::peak(|| {
            let sent = service.runtime.block_on(read)?;
            let _runtime = service.runtime.enter();
            sent.parse(&service.app)
        });
        assert!(asked.is_ok());
        let most = body.len() * copies + body.len() / 4;
        assert!(peak < most as u64, "{kind}: {peak} bytes for a body of {}", body.len());
    }
}

#[test]
fn a_key_has_a_bounded_number_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let (key, line) = new_key("ann", Rights::Read).unwrap();
    std::fs::write(&path, line).unwrap();
    let service = Service::new(|options| ServeOptions { key_file: Some(path), per_key: 1, ..options });
    let room = service.app.keys.identify(Some(&key)).unwrap().room.unwrap();
    let authorization = format!("bearer {key}");
    let ask = || service.ask("GET", "/v1/stats", &[("authorization", &authorization)], "");
    let taken = room.try_acquire().unwrap();
    let got = ask();
    assert_eq!((got.status, got.kind(), got.header("retry-after")), (429, "urn:fpdb:too-many-requests".into(), "1"));
    drop(taken);
    assert_eq!(ask().status, 200);
}

#[test]
fn a_key_has_a_bounded_number_of_requests_per_minute() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let keys = [new_key("ann", Rights::Read).unwrap(), new_key("ben", Rights::Read).unwrap()];
    std::fs::write(&path, keys.iter().map(|(_, line)| format!("{line}\n")).collect::<String>()).unwrap();
    let per_minute = std::num::NonZeroU32::new(3);
    let service = Service::new(|options| ServeOptions { key_file: Some(path), per_minute, ..options });
    let [ann, ben] = keys.map(|(key, _)| format!("Bearer {key}"));
    let ask = |key: &str| service.ask("GET", "/v1/session", &[("authorization", key)], "");
    let statuses: Vec<u16> = (0..4).map(|_| ask(&ann).status).collect();
    assert_eq!(statuses, [200, 200, 200, 429]);
    let refused = ask(&ann);
    assert_eq!(refused.kind(), "urn:fpdb:too-often");
    // The limit allows one further request after a third of a minute.
    assert!((1..=20).contains(&refused.header("retry-after").parse().unwrap()));
    assert_eq!(ask(&ben).status, 200);
}

#[test]
fn slow_bodies_and_long_requests_are_cut_off() {
    let service = Service::new(|options| ServeOptions { client_seconds: 1, ..options });
    let never = Body::new(NeverEnding);
    let request =
        Request::builder().method("PUT").uri("/v1/documents/x").header("host", "localhost").body(never).unwrap();
    assert_eq!(service.send(request).kind(), "urn:fpdb:slow-client");
    let service = Service::new(|options| ServeOptions { request_seconds: 1, ..options });
    let request = Request::builder().method("PUT").uri("/v1/documents/x").header("host", "localhost");
    assert_eq!(service.send(request.body(Body::new(NeverEnding)).unwrap()).kind(), "urn:fpdb:too-slow");
}

/// A body that never arrives.
struct NeverEnding;

impl axum::body::HttpBody for NeverEnding {
    type Data = axum::body::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        std::task::Poll::Pending
    }
}

#[test]
fn figures_that_cannot_be_read_are_left_out() {
    let service = service();
    service.put("a", TEXT);
    let db = service.folder.path().join("secret-place.db");
    std::fs::rename(&db, service.folder.path().join("elsewhere")).unwrap();
    assert_ne!(service.get("/v1/stats").status, 200);
    let got = service.get("/metrics");
    assert_eq!(got.status, 200, "{}", got.text());
    let text = got.text();
    assert!(text.contains("\nfpdb_documents 1\n") && !text.contains("fpdb_database_bytes"), "{text}");
}
