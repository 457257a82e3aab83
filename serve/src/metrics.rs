//! Metrics: figures for Prometheus.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fpdb::Database;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::app::App;
use crate::jobs::{JobKind, JobState};
use crate::writer::Written;

/// Upper bounds of the times of requests, in seconds.
const TIMES: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Request {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

/// The figures of jobs.
#[derive(Clone, Default)]
pub(crate) struct JobFigures {
    failed: Family<Kind, Counter>,
    /// Time of the last backup by this process, in seconds since 1970.
    last_backup: Gauge,
}

impl JobFigures {
    pub(crate) fn failed(&self, kind: JobKind) {
        self.failed.get_or_create(&Kind { kind: kind.name() }).inc();
    }

    pub(crate) fn succeeded(&self, kind: JobKind) {
        if kind == JobKind::Backup {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
            self.last_backup.set(signed(since.as_secs()));
        }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The figures. Requests are counted by route, never by path: paths hold names of documents.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    times: Family<Route, Histogram>,
    pub(crate) connections: Gauge,
    /// The figures of [`READ`].
    read: [Figure; READ.len()],
    /// The figures of the files of the database, and when they were read.
    files: Mutex<Option<(Instant, OfFiles)>>,
}

/// A figure without labels, which may be left out.
type Figure = Family<[(&'static str, &'static str); 0], Gauge>;

/// Time for which the sizes of the database's files are kept before they are read again.
const KEPT: Duration = Duration::from_secs(30);

/// The last figures of [`READ`]; `None` if they could not be read.
type OfFiles = [Option<u64>; 5];

fn of_files(database: &Database) -> OfFiles {
    let Ok(stats) = database.stats_without_lists() else { return OfFiles::default() };
    let bytes = stats.stored.iter().map(|part| part.bytes).sum();
    let committed = stats.committed_at.and_then(|at| at.try_into().ok()).unwrap_or(0);
    [stats.fingerprints, stats.runs, stats.deleted, bytes, committed].map(Some)
}

/// Figures that are read when the metrics are requested: names and helps.
const READ: [(&str, &str); 15] = [
    ("requests_inside", "Read requests in progress or waiting"),
    ("requests_inside_limit", "Maximum number of read requests in progress or waiting; more are refused"),
    ("workers", "Requests that workers can work on at the same time"),
    ("workers_busy", "Requests that workers work on"),
    ("changes_waiting", "Changes in progress or waiting for the writer"),
    (
        "writable",
        "1 if the database takes changes; 0 while it takes none, and for a minute after a change that failed with a status of 500 or more",
    ),
    ("jobs_unfinished", "Jobs that run or wait"),
    ("jobs_running", "Jobs that run"),
    ("jobs_queued", "Jobs that wait"),
    ("documents", "Documents stored"),
    ("fingerprints", "Fingerprints of the stored documents"),
    ("runs", "Sorted runs of postings; a look-up visits each"),
    ("deleted_documents", "Deleted documents that still take space"),
    ("database_bytes", "Bytes of the database on disk, with its logs"),
    ("last_commit_timestamp_seconds", "Time of the last commit; 0 before the first"),
];

/// The values of [`READ`], in the same order.
pub(crate) struct Reading([Option<u64>; READ.len()]);

impl Reading {
    pub(crate) fn of(app: &App, database: &Database) -> Self {
        let [fingerprints, runs, deleted, bytes, committed] = app.metrics.of_files(database);
        let (workers, busy) = app.work.workers();
        let [queued, running] = [JobState::Queued, JobState::Running].map(|state| app.jobs.count(state));
        let count = |number: usize| Some(number as u64);
        Self([
            count(app.work.inside()),
            count(app.work.most()),
            count(workers),
            count(busy),
            count(app.writer.waiting()),
            Some(u64::from(app.writer.is_well())),
            count(queued + running),
            count(running),
            count(queued),
            Some(database.document_count()),
            fingerprints,
            runs,
            deleted,
            bytes,
            committed,
        ])
    }
}

impl Metrics {
    pub(crate) fn new(written: &Written, of_jobs: &JobFigures) -> Self {
        let mut registry = Registry::with_prefix("fpdb");
        let requests = Family::<Request, Counter>::default();
        let times = Family::<Route, Histogram>::new_with_constructor(|| Histogram::new(TIMES));
        let connections = Gauge::default();
        let read: [Figure; READ.len()] = Default::default();
        for ((name, help), gauge) in READ.into_iter().zip(&read) {
            registry.register(name, help, gauge.clone());
        }
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit("request_duration", "Time to answer", Unit::Seconds, times.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register("jobs_failed", "Jobs that have failed, by kind", of_jobs.failed.clone());
        registry.register_with_unit(
            "last_backup_timestamp",
            "Time of the last backup made by this process; 0 before the first",
            Unit::Seconds,
            of_jobs.last_backup.clone(),
        );
        registry.register("commits", "Commits made by this process", written.commits.clone());
        registry.register(
            "documents_written",
            "Documents added or replaced by this process",
            written.documents.clone(),
        );
        Self { registry, requests, times, connections, read, files: Mutex::default() }
    }

    /// Counts a request.
    pub(crate) fn count(&self, method: &str, route: &str, status: u16, time: Duration) {
        let request = Request { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&request).inc();
        self.times.get_or_create(&Route { route: route.to_owned() }).observe(time.as_secs_f64());
    }

    fn of_files(&self, database: &Database) -> OfFiles {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        match *files {
            Some((read, figures)) if read.elapsed() < KEPT => figures,
            _ => files.insert((Instant::now(), of_files(database))).1,
        }
    }

    /// All figures, in the text form of OpenMetrics.
    pub(crate) fn text(&self, reading: &Reading) -> Result<String, fmt::Error> {
        for (figure, value) in self.read.iter().zip(reading.0) {
            match value {
                Some(value) => drop(figure.get_or_create(&[]).set(signed(value))),
                None => figure.clear(),
            }
        }
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
