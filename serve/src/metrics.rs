//! Metrics: figures for Prometheus.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::jobs::JobKind;
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
    /// When this process made its last backup, in seconds since 1970.
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
    inside: Gauge,
    jobs: Gauge,
    documents: Gauge,
}

/// Figures that are read when the metrics are requested.
pub(crate) struct Reading {
    pub(crate) inside: usize,
    pub(crate) jobs: usize,
    pub(crate) documents: u64,
}

impl Metrics {
    pub(crate) fn new(written: &Written, of_jobs: &JobFigures) -> Self {
        let mut registry = Registry::with_prefix("fpdb");
        let requests = Family::<Request, Counter>::default();
        let times = Family::<Route, Histogram>::new_with_constructor(|| Histogram::new(TIMES));
        let [connections, inside, jobs, documents]: [Gauge; 4] = Default::default();
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit("request_duration", "Time to answer", Unit::Seconds, times.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register("requests_inside", "Requests worked on or waiting", inside.clone());
        registry.register("jobs_unfinished", "Jobs that run or wait", jobs.clone());
        registry.register("jobs_failed", "Jobs that have failed, by kind", of_jobs.failed.clone());
        registry.register_with_unit(
            "last_backup_timestamp",
            "Time of the last backup made by this process; 0 before the first",
            Unit::Seconds,
            of_jobs.last_backup.clone(),
        );
        registry.register("documents", "Documents stored", documents.clone());
        registry.register("commits", "Commits made by this process", written.commits.clone());
        registry.register(
            "documents_written",
            "Documents added or replaced by this process",
            written.documents.clone(),
        );
        Self { registry, requests, times, connections, inside, jobs, documents }
    }

    /// Counts a request.
    pub(crate) fn count(&self, method: &str, route: &str, status: u16, time: Duration) {
        let request = Request { method: method.to_owned(), route: route.to_owned(), status };
        self.requests.get_or_create(&request).inc();
        self.times.get_or_create(&Route { route: route.to_owned() }).observe(time.as_secs_f64());
    }

    /// All figures, in the text form of OpenMetrics.
    pub(crate) fn text(&self, reading: &Reading) -> Result<String, fmt::Error> {
        self.inside.set(signed(reading.inside as u64));
        self.jobs.set(signed(reading.jobs as u64));
        self.documents.set(signed(reading.documents));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
