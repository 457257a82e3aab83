//! Tests of the removal of many documents.

use serde_json::{Value, json};

use super::{Got, Service, TEXT, service};
use crate::settings::ServeOptions;

/// A service with these documents, by their names: the text begins with the first letter of the name.
fn with(names: &[&str]) -> Service {
    let service = service();
    for name in names {
        service.put(name, &format!("{}: {TEXT}", &name[..1]));
    }
    service
}

fn names(service: &Service) -> Vec<String> {
    let listed = service.get("/v1/documents").json();
    listed["documents"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

fn remove(service: &Service, body: &Value) -> Value {
    let got = service.post("/v1/remove", body);
    assert_eq!(got.status, 200, "{}", got.text());
    got.json()
}

/// The place of a finished dedup, and its result.
fn dedup(service: &Service) -> (String, String) {
    let asked = service.post("/v1/dedup", &json!({"options": {"by": "exact"}}));
    let place = asked.header("location").to_owned();
    assert_eq!(service.finished(&place)["state"], "done");
    (place.rsplit('/').next().unwrap().to_owned(), service.get(&format!("{place}/result")).text())
}

fn lines(service: &Service, body: String) -> Got {
    service.ask("POST", "/v1/remove", &[("content-type", "application/x-ndjson")], body)
}

#[test]
fn documents_are_removed_by_name_number_and_selection() {
    let service = with(&["a", "b/1", "b/2", "c", "d"]);
    service.ask("PUT", "/v1/documents/b%2F3?metadata=%7B%22by%22%3A%22Ann%22%7D", &[], "x");
    let number = service.get("/v1/documents/c").json()["id"].clone();
    let removed = remove(&service, &json!({"names": ["a", "none"], "ids": [number, 99]}));
    assert_eq!(removed, json!({"schema": "fpdb.rm/1", "removed": 2, "unknown_names": ["none"], "unknown_ids": [99]}));
    let asked = json!({"prefixes": ["b/"], "dry_run": true});
    assert_eq!(remove(&service, &asked)["selected"], 3);
    assert_eq!(names(&service), ["b/1", "b/2", "d", "b/3"]);
    let removed = remove(&service, &json!({"prefixes": ["b/", "e"], "where": {"by": "Ann"}}));
    assert_eq!((&removed["removed"], &removed["unmatched"]), (&json!(1), &json!(["a name that begins with e"])));
    assert_eq!(remove(&service, &json!({"prefixes": ["b/"]}))["removed"], 2);
    assert_eq!(names(&service), ["d"]);
}

#[test]
fn the_result_of_a_dedup_removes_what_has_not_changed() {
    let service = with(&["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"]);
    let (job, _) = dedup(&service);
    // A removable document, and a survivor.
    service.put("b2", "another");
    service.put("c1", "another");
    service.ask("DELETE", "/v1/documents/d2", &[], "");
    let removed = remove(&service, &json!({"dedup": job}));
    assert_eq!((&removed["reported"], &removed["removed"], &removed["left"]), (&json!(4), &json!(1), &json!(1)));
    assert_eq!(removed["left_names"], json!(["c2"]));
    let mut left = names(&service);
    left.sort();
    assert_eq!(left, ["a1", "b1", "b2", "c1", "c2", "d1"]);
    // The same request again changes nothing.
    assert_eq!(remove(&service, &json!({"dedup": job}))["removed"], 0);
}

#[test]
fn the_result_of_a_dedup_is_counted() {
    let service = with(&["a1", "a2", "b1", "b2", "c1", "c2"]);
    let (job, _) = dedup(&service);
    service.put("c1", "another");
    let counted = remove(&service, &json!({"dedup": job, "dry_run": true}));
    assert_eq!((&counted["reported"], &counted["selected"], &counted["left"]), (&json!(3), &json!(2), &json!(1)));
    assert_eq!((&counted["removed"], names(&service).len()), (&json!(0), 6));
    assert_eq!(remove(&service, &json!({"dedup": job}))["removed"], 2);
}

#[test]
fn documents_are_removed_for_good_and_let_in_again() {
    let service = with(&["a", "b/1", "c", "d"]);
    let listed = || service.get("/v1/kept-out").json();
    assert_eq!(listed(), json!({"kept_out": []}));
    let number = service.get("/v1/documents/c").json()["id"].clone();
    let removed = remove(&service, &json!({"names": ["a", "none"], "ids": [number, 99], "keep_out": true}));
    assert_eq!((&removed["removed"], &removed["unknown_names"]), (&json!(2), &json!(["none"])));
    let selected = json!({"prefixes": ["b/"], "keep_out": true, "dry_run": true});
    assert_eq!(remove(&service, &selected)["selected"], 1);
    assert_eq!(remove(&service, &json!({"prefixes": ["b/"], "keep_out": true}))["removed"], 1);
    assert_eq!(names(&service), ["d"]);
    let put = |name: &str| service.put(name, &format!("{}: {TEXT}", &name[..1]));
    assert!(["a2", "b", "c"].map(|name| put(name).status).iter().all(|&status| status == 422));
    let contents = listed()["kept_out"].as_array().unwrap().clone();
    let digests: Vec<&str> = contents.iter().map(|content| content["digest"].as_str().unwrap()).collect();
    assert!(digests.len() == 3 && digests.is_sorted(), "{digests:?}");
    let rest = service.get(&format!("/v1/kept-out?from={}", digests[1])).json();
    assert_eq!(rest["kept_out"].as_array().unwrap()[..], contents[1..]);
    for from in [&digests[1][1..], "+0000000000000000000000000000000", "no digest"] {
        assert_eq!(service.get(&format!("/v1/kept-out?from={}", from.replace(' ', "%20"))).status, 400, "{from}");
    }
    let of_c = contents.iter().find(|content| content["names"] == json!(["c"])).unwrap()["digest"].clone();
    let readmitted = remove(&service, &json!({"readmit": ["./a", of_c, "nobody"]}));
    assert_eq!((&readmitted["readmitted"], &readmitted["unknown_names"]), (&json!(2), &json!(["nobody"])));
    assert_eq!(["a", "b", "c"].map(|name| put(name).status), [201, 422, 201]);
}

#[test]
fn a_saved_report_and_a_list_remove_their_documents() {
    let service = with(&["a1", "a2", "b1", "b2"]);
    let (_, report) = dedup(&service);
    assert_eq!(lines(&service, report).json()["removed"], 2);
    let list = format!("{}\n{}\n", json!({"document": "a1"}), json!({"document": "none"}));
    let removed = lines(&service, list).json();
    assert_eq!((&removed["reported"], &removed["removed"]), (&json!(2), &json!(1)));
    assert_eq!(names(&service), ["b1"]);
}

#[test]
fn a_removal_that_is_not_understood_removes_nothing() {
    let service = with(&["a1", "a2"]);
    let (_, report) = dedup(&service);
    let asked = service.post("/v1/repeats", &json!({"options": {"min_length": 50}}));
    let place = asked.header("location").to_owned();
    service.finished(&place);
    let passages = service.get(&format!("{place}/result")).text();
    let many = json!({"ids": vec![0; 100_001]});
    for (body, detail) in [
        (json!({}), "expected one of"),
        (json!({"prefixes": []}), "expected one of"),
        (json!({"names": ["a1"], "prefixes": ["a"]}), "expected one of"),
        (json!({"names": ["a1"], "dedup": "x"}), "expected one of"),
        (json!({"names": ["a1"], "dry_run": true}), "dry_run goes with"),
        (json!({"readmit": ["a1"], "dry_run": true}), "dry_run goes with"),
        (json!({"dedup": "x", "keep_out": true}), "keep_out goes with"),
        (json!({"names": ["a1"], "readmit": ["a1"]}), "expected one of"),
        (json!({"prefixes": [""]}), "every name begins with it"),
        (json!({"prefixes": ["./"]}), "every name begins with it"),
        (json!({"prefixes": ["a", ".//"], "dry_run": true}), "every name begins with it"),
        (json!({"prefix": "a"}), "unknown field `prefix`"),
        (json!({"where": {"n": 1}}), "invalid type: integer `1`"),
        (many, "at most 100000"),
    ] {
        let got = service.post("/v1/remove", &body);
        assert_eq!(got.status, 400, "{}", got.text());
        assert!(got.json()["detail"].as_str().unwrap().contains(detail), "{}", got.text());
    }
    let cut = report.lines().next().unwrap().to_owned();
    for (body, detail) in
        [(cut, "line 1: it ends without a summary"), (passages, "not one of passages"), ("x".into(), "line 1: ")]
    {
        let got = lines(&service, body);
        assert_eq!((got.status, got.kind()), (400, "urn:fpdb:bad-request".into()));
        assert!(got.json()["detail"].as_str().unwrap().contains(detail), "{}", got.text());
        assert!(!got.text().contains(std::env::temp_dir().to_str().unwrap()), "{}", got.text());
    }
    assert_eq!(service.ask("POST", "/v1/remove", &[], "{\"names\": [\"a1\"]}").status, 415);
    assert_eq!(service.post("/v1/remove", &json!({"dedup": "0"})).kind(), "urn:fpdb:no-such-job");
    assert_eq!(names(&service), ["a1", "a2"]);
}

#[test]
fn the_bytes_of_a_removal_have_the_limit_of_a_body() {
    let service = Service::new(|options| ServeOptions { max_body: 100, ..options });
    assert_eq!(service.post("/v1/remove", &json!({"names": ["x".repeat(100)]})).status, 413);
}
