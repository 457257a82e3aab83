//! Tests of queries and reports.

use serde_json::{Value, json};

use super::{Service, TEXT, service};
use crate::settings::ServeOptions;

#[test]
fn a_query_is_answered_in_each_form_of_body() {
    let service = service();
    assert_eq!(service.put("a.txt", TEXT).status, 201);
    assert_eq!(service.put("b.txt", &format!("They wrote: {TEXT}.")).status, 201);
    let essay = format!("An essay says: {TEXT}, and more.");
    let by_json = service.post("/v1/query", &json!({"text": essay, "options": {"top": 1}})).json();
    assert_eq!((&by_json["schema"], by_json["matches"].as_array().unwrap().len()), (&json!("fpdb.query/1"), 1));
    let raw = service.ask("POST", "/v1/query?name=essay.txt", &[("content-type", "text/plain")], essay.clone()).json();
    assert_eq!((&raw["query"]["name"], raw["matches"].as_array().unwrap().len()), (&json!("essay.txt"), 2));
    // JSON that is not a query is a document. A body with a media type of documents is a document even if it
    // looks like a query.
    for (headers, body) in
        [(&[][..], "{\"x\": 1}"), (&[("content-type", "application/octet-stream")], "{\"text\": \"x\"}")]
    {
        assert_eq!(service.ask("POST", "/v1/query", headers, body).status, 200, "{body}");
    }
    let refused =
        service.ask("POST", "/v1/query", &[("content-type", "application/x-www-form-urlencoded")], "x").json();
    assert!(refused["detail"].as_str().unwrap().starts_with("expected application/json for a query"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("Content-Type"), "{refused}");
    let html = service.ask("POST", "/v1/query?name=essay.html", &[], format!("<p>{essay}</p>")).json();
    assert_eq!(html["matches"].as_array().unwrap().len(), 2);
    let stored = service.post("/v1/query", &json!({"document": "a.txt"})).json();
    assert_eq!(stored["matches"][0]["document"], "b.txt");
    let form = format!(
        "--B\r\ncontent-disposition: form-data; name=\"options\"\r\n\r\n{{\"top\":1}}\r\n\
         --B\r\ncontent-disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\n{essay}\r\n\
         --B\r\ncontent-disposition: form-data; name=\"f\"; filename=\"x.zip\"\r\n\r\nPK\u{3}\u{4}\r\n--B--\r\n"
    );
    let lines = service.ask("POST", "/v1/query", &[("content-type", "multipart/form-data; boundary=B")], form);
    assert_eq!(lines.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> = lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["query"]["name"], &lines[1]["name"]), (&json!("x.txt"), &json!("x.zip")));
    assert_eq!(lines[1]["problem"]["status"], 422);
}

#[test]
fn a_folder_forms_submissions_and_a_resemblance_looks_up_few_hashes() {
    let service = service();
    for name in ["class/ada/a", "class/ada/b", "class/bob/a"] {
        service.put(name, &format!("{name}: {TEXT}"));
    }
    let by_folder = service.post("/v1/query", &json!({"text": TEXT, "options": {"submission_by": "class"}})).json();
    let names = by_folder["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["class/ada", "class/bob"]);
    let asked = service.post("/v1/pairs", &json!({"options": {"submission_by": "class", "min_shared": 1}}));
    let place = asked.header("location").to_owned();
    assert_eq!(service.finished(&place)["state"], "done");
    let pair = service.get(&format!("{place}/result")).json();
    assert_eq!((&pair["a"], &pair["b"]), (&json!("class/ada"), &json!("class/bob")));
    // As in the program, 0 means no limit, for pairs and for the documents that hold a fingerprint.
    let unlimited = json!({"min_shared": 1, "min_resemblance": 0.0, "top": 0, "max_df": 0});
    let place = service.post("/v1/pairs", &json!({"options": unlimited})).header("location").to_owned();
    assert_eq!(service.finished(&place)["state"], "done");
    assert_eq!(service.get(&format!("{place}/result")).text().matches("fpdb.pair/1").count(), 3);
    let uncapped = service.post("/v1/query", &json!({"text": TEXT, "options": {"max_df": 0}})).json();
    assert_eq!((uncapped["matches"].as_array().unwrap().len(), &uncapped["common"]), (3, &json!(0)), "{uncapped}");
    let words: String = (0..2000).map(|number| format!("{} ", number * 7919 % 104_729)).collect();
    let few = service.post("/v1/query", &json!({"text": words, "options": {"mode": "resemblance"}})).json();
    assert_eq!(few["looked_up"], 128, "{few}");
}

#[test]
fn a_form_of_many_files_is_answered_in_order_and_a_report_of_it_is_bounded() {
    let service = Service::new(|options| ServeOptions { max_results: 3, ..options });
    for name in ["a", "b", "c", "d"] {
        service.put(name, &format!("{name}: {TEXT}"));
    }
    let form = |files: usize| {
        let part = |number| {
            let name = format!("{number}-{}", "n".repeat(4000));
            format!("--B\r\ncontent-disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n\r\n{TEXT}\r\n")
        };
        (0..files).map(part).collect::<String>() + "--B--\r\n"
    };
    let ask = |path: &str, form: String| {
        service.ask("POST", path, &[("content-type", "multipart/form-data; boundary=B")], form)
    };
    // A part of a long answer goes through a file. The default of `top` is within the bound.
    for files in [2, 300] {
        let answer = ask("/v1/query", form(files));
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"));
        let lines: Vec<Value> = answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), files);
        for (number, line) in lines.iter().enumerate() {
            assert!(line["query"]["name"].as_str().unwrap().starts_with(&format!("{number}-")), "{line:.99}");
            assert_eq!(line["matches"].as_array().unwrap().len(), 3);
        }
    }
    assert_eq!(ask("/v1/report", form(1)).status, 200);
    let refused = ask("/v1/report", form(2));
    assert!(refused.status == 400 && refused.text().contains("at most 3 matches"), "{}", refused.text());
}

#[test]
fn a_report_has_texts_and_passages_and_no_place() {
    let service = service();
    service.put("a.txt", TEXT);
    let report = service.post("/v1/report", &json!({"text": format!("They: {TEXT}"), "name": "mine"}));
    let view = report.json();
    assert_eq!(view["overview"]["documents"].as_array().unwrap().len(), 2);
    assert_eq!(view["overview"]["pairs"][0]["page"], true);
    let parts: Vec<&String> = view["parts"].as_object().unwrap().keys().collect();
    assert_eq!(parts, ["pair-1", "text-1", "text-2"]);
    assert!(!report.text().contains(service.folder.path().to_str().unwrap()));
    assert_eq!(view["overview"]["database"]["path"], "secret-place.db");
    // A submission, as in a query.
    service.put("in/ann/b.txt", &format!("She: {TEXT}"));
    let options = json!({"submission_by": "in", "join_submissions": true});
    let report = service.post("/v1/report", &json!({"document": "in/ann", "options": options}));
    let names = |view: &Value| -> Vec<String> {
        let documents = view["overview"]["documents"].as_array().unwrap().iter();
        documents.map(|document| document["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(report.status, 200, "{}", report.text());
    assert_eq!(names(&report.json()), ["in/ann", "a.txt", "in/ann/b.txt"]);
    for asked in [json!({"document": "in/ben", "options": options}), json!({"document": "in/ann"})] {
        assert_eq!(service.post("/v1/report", &asked).status, service.post("/v1/query", &asked).status, "{asked}");
    }
}
