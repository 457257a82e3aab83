//! Log: a line of JSON for each request and each failed job, on standard error. No line holds a text, a name
//! of a document, a query string or a key. There is one exception: the cause of a failure may name a
//! document.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::jobs::JobKind;

/// A request, as the log records it.
#[derive(Debug, Serialize)]
pub(crate) struct RequestLine<'a> {
    /// The id of the request, which the answer also has.
    pub(crate) request: &'a str,
    /// The name of the key; empty without one.
    pub(crate) key: &'a str,
    pub(crate) method: &'a str,
    /// The route, with placeholders for names.
    pub(crate) route: &'a str,
    pub(crate) status: u16,
    pub(crate) milliseconds: f64,
    /// The cause of a failure, if the answer does not contain all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<&'a str>,
}

/// A job that has failed.
#[derive(Debug, Serialize)]
pub(crate) struct JobLine<'a> {
    /// The id of the job.
    pub(crate) job: &'a str,
    pub(crate) kind: JobKind,
    /// The name of the key that requested the job; empty without one.
    pub(crate) key: &'a str,
    /// The cause.
    pub(crate) failed: &'a str,
}

/// An event that does not concern a request.
#[derive(Debug, Serialize)]
struct EventLine<'a> {
    event: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

#[derive(Serialize)]
struct Timed<T> {
    /// Seconds since 1970.
    time: f64,
    #[serde(flatten)]
    line: T,
}

fn write(line: impl Serialize) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let time = since.as_millis() as f64 / 1000.0;
    if let Ok(mut text) = serde_json::to_vec(&Timed { time, line }) {
        text.push(b'\n');
        // A single write, so that lines of other threads cannot come in between. Errors are ignored, because
        // the reader of standard error may be gone.
        let _ = std::io::stderr().write_all(&text);
    }
}

pub(crate) fn request(line: &RequestLine<'_>) {
    write(line);
}

pub(crate) fn job(line: &JobLine<'_>) {
    write(line);
}

/// Writes a line about an event that does not concern a request to the log of the service, on standard error.
pub fn event(event: &str, detail: &str) {
    write(EventLine { event, detail });
}
