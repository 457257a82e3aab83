//! Tests of jobs and backups.

use std::sync::Arc;

use fpdb::Database;
use serde_json::{Value, json};

use super::{Service, TEXT, service};
use crate::jobs::{JobKind, JobState};
use crate::problem::Problem;
use crate::settings::ServeOptions;

#[test]
fn jobs_run_are_fetched_and_dropped() {
    let service = service();
    for name in ["a", "b"] {
        service.put(name, TEXT);
    }
    let asked = service.post("/v1/pairs", &json!({"passages": true}));
    assert_eq!(asked.status, 202);
    let place = asked.header("location").to_owned();
    let job = service.finished(&place);
    assert_eq!((&job["state"], &job["rows"]), (&json!("done"), &json!(1)));
    for _ in 0..2 {
        let result = service.get(&format!("{place}/result"));
        let pair = result.json();
        assert_eq!((&pair["a"], &pair["b"], pair["passages"].as_array().unwrap().len()), (&json!("a"), &json!("b"), 1));
    }
    assert_eq!(service.get("/v1/pairs").json()["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(service.get(&place.replace("pairs", "dedup")).status, 404);
    assert_eq!(service.ask("DELETE", &place, &[], "").status, 204);
    assert_eq!(service.get(&place).kind(), "urn:fpdb:no-such-job");

    let asked = service.post("/v1/dedup", &json!({"options": {"by": "exact"}}));
    let place = asked.header("location").to_owned();
    assert_eq!(service.finished(&place)["state"], "done");
    let lines = service.get(&format!("{place}/result")).text();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["remove"], &lines[0]["keep"], &lines[1]["removable"]), (&json!("b"), &json!("a"), &json!(1)));

    let asked = service.post("/v1/repeats", &json!({"options": {"min_length": 50}}));
    let place = asked.header("location").to_owned();
    let job = service.finished(&place);
    assert_eq!((&job["state"], &job["kind"], &job["rows"]), (&json!("done"), &json!("repeats"), &json!(2)));
    let lines = service.get(&format!("{place}/result")).text();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["document"], &lines[0]["of"]["document"]), (&json!("b"), &json!("a")));
    assert_eq!((&lines[1]["schema"], &lines[1]["repeats"]), (&json!("fpdb.repeat.summary/1"), &json!(1)));
    // A length below the guarantee is an error of the request.
    for length in [3, 1 << 20] {
        assert_eq!(service.post("/v1/repeats", &json!({"options": {"min_length": length}})).status, 400);
    }

    let asked = service.ask("POST", "/v1/compact", &[], "");
    let place = asked.header("location").to_owned();
    assert_eq!(service.finished(&place)["state"], "done");
    assert_eq!(service.get(&format!("{place}/result")).json()["schema"], "fpdb.compact/1");
}

#[test]
fn a_job_that_is_dropped_while_it_waits_leaves_nothing() {
    let service = Service::new(|options| ServeOptions { jobs: 1, ..options });
    let _runtime = service.runtime.enter();
    let who = service.app.keys.identify(None).unwrap();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let running = service.app.jobs.add(JobKind::Pairs, &who).ok().unwrap();
    service.app.jobs.start(&running, move |_, _| ended.recv().map_err(|error| Problem::internal(error.to_string())));
    let options = Arc::new(());
    let (waiting, of_job) = (service.app.jobs.add(JobKind::Pairs, &who).ok().unwrap(), Arc::clone(&options));
    service.app.jobs.start(&waiting, move |_, _| {
        drop(of_job);
        Ok(())
    });
    service.app.jobs.drop_job(&waiting);
    let begun = std::time::Instant::now();
    while Arc::strong_count(&options) > 1 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "its work is still in memory");
        std::thread::yield_now();
    }
    end.send(()).unwrap();
}

#[test]
fn a_compaction_or_backup_that_is_dropped_while_it_waits_leaves_nothing() {
    let backups = tempfile::tempdir().unwrap();
    let folder = Some(backups.path().to_owned());
    let service = Service::new(|options| ServeOptions { queue: 1, backup_folder: folder, ..options });
    let who = service.app.keys.identify(None).unwrap();
    let _place = service.app.writer.enter().ok().unwrap();
    let begun = std::time::Instant::now();
    let wait = |what: &str, is_over: &dyn Fn() -> bool| {
        while !is_over() {
            assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{what}");
            std::thread::yield_now();
        }
    };
    for kind in [JobKind::Compact, JobKind::Backup] {
        let asked = service.ask("POST", &format!("/v1/{}", kind.name()), &[], "");
        let place = asked.header("location");
        let job = service.app.jobs.find(kind, place.rsplit('/').next().unwrap(), &who).ok().unwrap();
        wait("it waits", &|| job.state() == JobState::Running);
        assert_eq!(service.ask("DELETE", place, &[], "").status, 204);
        wait("it still waits", &|| Arc::strong_count(&job) == 1);
        assert_eq!(job.state(), JobState::Stopped);
    }
}

#[test]
fn the_folder_of_a_dedup_of_a_killed_service_goes_with_the_next_dedup() {
    let service = service();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let left = service.folder.path().join(format!(".fpdb-dedup-{}-abc", ended.id()));
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("state.job"), "x").unwrap();
    let asked = service.post("/v1/dedup", &json!({"options": {"by": "exact"}}));
    assert_eq!(service.finished(asked.header("location"))["state"], "done");
    assert!(!left.exists());
}

#[test]
fn equal_dedups_run_beside_each_other_and_leave_no_file() {
    let service = Service::new(|options| ServeOptions { jobs: 4, ..options });
    let lines: String = (0..300)
        .map(|number| format!("{}\n", json!({"name": number.to_string(), "text": format!("{number}: {TEXT}")})))
        .collect();
    assert_eq!(service.ask("PUT", "/v1/documents", &[], lines).status, 200);
    let places: Vec<String> = (0..4)
        .map(|_| service.post("/v1/dedup", &json!({"options": {"by": "containment"}})).header("location").to_owned())
        .collect();
    for place in places {
        let job = service.finished(&place);
        assert_eq!(job["state"], "done", "{job}");
    }
    let left: Vec<_> =
        std::fs::read_dir(service.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret-place.db"]);
}

#[test]
fn jobs_and_requests_that_run_and_wait_are_counted() {
    let service = Service::new(|options| ServeOptions { jobs: 1, workers: Some(2), ..options });
    let _runtime = service.runtime.enter();
    let who = service.app.keys.identify(None).unwrap();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let mut ends = Vec::new();
    for _ in 0..3 {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let job = service.app.jobs.add(JobKind::Pairs, &who).ok().unwrap();
        let begun = begun.clone();
        service.app.jobs.start(&job, move |_, _| {
            begun.send(()).unwrap();
            ended.recv().map_err(|error| Problem::internal(error.to_string()))
        });
        ends.push(end);
    }
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let app = Arc::clone(&service.app);
    let request = service.runtime.spawn(async move {
        let work = move |_: &fpdb::StopToken| {
            begun.send(()).unwrap();
            ended.recv().map_err(|error| Problem::internal(error.to_string()))
        };
        app.work.run(work).await.is_ok()
    });
    (0..2).for_each(|_| has_begun.recv().unwrap());
    let figures = service.get("/metrics").text();
    for line in ["jobs_running 1", "jobs_queued 2", "jobs_unfinished 3", "workers_busy 1", "workers 2"] {
        assert!(figures.contains(&format!("\nfpdb_{line}\n")), "{line}: {figures}");
    }
    end.send(()).unwrap();
    assert!(service.runtime.block_on(request).unwrap());
    for end in ends {
        end.send(()).unwrap();
    }
}

#[test]
fn a_job_that_is_done_has_done_all_of_its_last_step() {
    let service = Service::new(|options| options);
    let _runtime = service.runtime.enter();
    let who = service.app.keys.identify(None).unwrap();
    let job = service.app.jobs.add(JobKind::Pairs, &who).ok().unwrap();
    service.app.jobs.start(&job, move |task, _| {
        task.step("pairs", 10, 11)?;
        Ok(())
    });
    let view = loop {
        let view = serde_json::to_value(job.view()).unwrap();
        if view["state"] == "done" {
            break view;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!((&view["done"], &view["total"]), (&11.into(), &11.into()));
}

#[test]
fn backups_are_made_in_the_folder_of_the_service() {
    let without = service();
    for (method, path) in [("POST", "/v1/backup"), ("GET", "/v1/backups")] {
        let got = without.ask(method, path, &[], "");
        assert_eq!((got.status, got.kind()), (404, "urn:fpdb:no-backups".into()), "{path}");
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("secret-backups");
    let of_service = folder.clone();
    let service =
        Service::new(|options| ServeOptions { backup_folder: Some(of_service), keep_backups: Some(2), ..options });
    assert_eq!(service.get("/v1/backups").json(), json!({"backups": []}));
    // A folder that cannot be read is not an empty one.
    std::fs::write(&folder, "no folder").unwrap();
    assert!(service.get("/v1/backups").status >= 400);
    std::fs::remove_file(&folder).unwrap();
    for number in 1..4 {
        service.put(&format!("{number}.txt"), TEXT);
        let asked = service.ask("POST", "/v1/backup", &[], "");
        assert_eq!(asked.status, 202);
        let job = asked.header("location").to_owned();
        assert_eq!(service.finished(&job)["state"], "done");
        let made = service.get(&format!("{job}/result"));
        assert_eq!((&made.json()["number"], &made.json()["schema"]), (&json!(number), &json!("fpdb.backup/1")));
        assert!(!made.text().contains(place.path().to_str().unwrap()), "{}", made.text());
    }
    let listed = service.get("/v1/backups").json();
    let numbers: Vec<_> = listed["backups"].as_array().unwrap().iter().map(|backup| &backup["number"]).collect();
    assert_eq!(numbers, [2, 3]);
    assert_eq!(listed["backups"][1]["documents"], 3);
    let made_at = &listed["backups"][1]["made_at"];
    let last = service.get("/metrics").text();
    let last = last.lines().find_map(|line| line.strip_prefix("fpdb_last_backup_timestamp_seconds ")).unwrap();
    assert!((made_at.as_i64().unwrap()..).contains(&last.parse().unwrap()), "{last}, {made_at}");
    // Another database adds no backup to this folder.
    let of_another = folder.clone();
    let another = Service::new(|options| ServeOptions { backup_folder: Some(of_another), ..options });
    let asked = another.ask("POST", "/v1/backup", &[], "");
    let failed = another.finished(asked.header("location"));
    assert_eq!(failed["state"], "failed");
    assert!(failed["problem"]["hint"].as_str().unwrap().contains("log"), "{failed}");
    let figures = another.get("/metrics").text();
    for line in ["fpdb_jobs_failed_total{kind=\"backup\"} 1", "fpdb_last_backup_timestamp_seconds 0"] {
        assert!(figures.contains(line), "{figures}");
    }
    // The backup can be restored as a database.
    let restored = place.path().join("restored");
    drop(Database::builder().restore(&restored, &folder, None).unwrap());
    assert_eq!(Database::open(&restored).unwrap().stats().unwrap().documents, 3);
}
