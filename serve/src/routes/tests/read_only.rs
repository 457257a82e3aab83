//! Tests of a service that only reads.

use fpdb::{Database, Profile};
use serde_json::json;

use super::*;

/// Another process changes the database, and the service shows it.
#[test]
fn a_service_that_only_reads_follows_another_writer_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret-place.db");
    let writer = Database::create(&path, Profile::PROSE).unwrap();
    let service = Service::on(folder, |options| ServeOptions { read_only: true, ..options });
    assert_eq!(service.get("/v1/session").json()["rights"], "read");
    assert_eq!(service.get("/readyz").status, 200);
    writer.ingest([fpdb::Document::new("a", TEXT)]).unwrap();
    assert_eq!(service.get("/v1/documents/a").status, 404);
    assert!(service.app.follow().unwrap() && !service.app.follow().unwrap());
    assert_eq!(service.get("/v1/documents/a").status, 200);
    assert_eq!(
        service.ask("POST", "/v1/query", &[("content-type", "text/plain")], TEXT).json()["matches"][0]["document"],
        "a"
    );
    let refused = |got: Got| assert_eq!((got.status, got.kind().as_str()), (403, "urn:fpdb:read-only"));
    refused(service.put("b", TEXT));
    refused(service.ask("DELETE", "/v1/documents/a", &[], ""));
    refused(service.post("/v1/remove", &json!({"names": ["a"]})));
    refused(service.post("/v1/compact", &json!({})));
    refused(service.post("/v1/dedup", &json!({"options": {"by": "exact", "mode": "append"}})));
    let job = service.post("/v1/dedup", &json!({"options": {"by": "exact"}}));
    assert_eq!(service.finished(job.header("location"))["state"], "done");
    assert_eq!(service.ask("HEAD", "/v1/backups", &[], "").status, 404);
    // Without the service's lock, the writer goes on.
    assert_eq!(writer.remove(&["a"]).unwrap().removed, 1);
    assert!(service.app.follow().unwrap());
    assert_eq!(service.get("/v1/documents/a").status, 404);
    drop(writer);
    let (path, elsewhere) = (service.folder.path().join("secret-place.db"), service.folder.path().join("elsewhere"));
    std::fs::rename(&path, &elsewhere).unwrap();
    assert!(service.app.follow().is_err());
    assert_eq!(service.get("/readyz").kind(), "urn:fpdb:behind");
    std::fs::rename(&elsewhere, &path).unwrap();
    service.app.follow().unwrap();
    assert_eq!(service.get("/readyz").status, 200);
}
