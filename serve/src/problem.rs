//! Problem: every error of the service in one shape, RFC 9457, and the table from the library's errors to
//! statuses.
//!
//! An answer must not contain paths of the server. So if the message of an error contains a path, the client
//! gets only the title, and the log has the whole message.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fpdb::{DocumentError, Error, SkipReason, StoreFailure};
use serde::Serialize;
use utoipa::ToSchema;

use crate::reopening;

/// An error of a request. It is boxed to keep results small, since most requests have no error.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct Problem(Box<ProblemDetails>);

/// An error, as a client sees it (RFC 9457).
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct ProblemDetails {
    /// `urn:fpdb:` and the kind, such as `urn:fpdb:no-such-document`. Programs decide by it.
    #[serde(rename = "type")]
    kind: String,
    /// The meaning of the kind, for people.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The details of this error.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Seconds after which to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    /// For the log only.
    #[serde(skip)]
    cause: Option<String>,
}

/// The cause of a problem, for the log.
#[derive(Clone, Debug)]
pub(crate) struct Cause(pub(crate) String);

/// The result of a handler.
pub(crate) type Answer<T> = std::result::Result<T, Problem>;

impl Problem {
    fn new(status: StatusCode, kind: &str, title: &'static str) -> Self {
        let status = status.as_u16();
        let kind = format!("urn:fpdb:{kind}");
        let details = ProblemDetails { kind, title, status, detail: None, hint: None, retry_after: None, cause: None };
        Self(Box::new(details))
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    fn cause(mut self, cause: impl Into<String>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The text for the log: the cause, or else the message for the client.
    pub(crate) fn whole(&self) -> &str {
        self.0.cause.as_deref().or(self.0.detail.as_deref()).unwrap_or(self.0.title)
    }

    /// Its HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The request is malformed.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "the request is not as expected").detail(detail)
    }

    /// The request has no key, or an unknown one.
    pub(crate) fn no_key() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "no-key", "the request has no key that is known here")
            .hint("send the header Authorization: Bearer KEY")
    }

    /// The key lacks the right for this request.
    pub(crate) fn no_rights(needed: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "no-rights", "the key does not allow this")
            .detail(format!("a key with the right {needed} is needed"))
    }

    /// The service shows an earlier commit than the last one.
    pub(crate) fn behind() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "behind", "the last commit of the database cannot be read")
            .detail("answers show an earlier commit; the log tells why")
    }

    /// The service changes nothing.
    pub(crate) fn read_only() -> Self {
        Self::new(StatusCode::FORBIDDEN, "read-only", "the service only reads the database")
            .hint("change the database with the program fpdb, or start the service without --read-only")
    }

    /// The request uses a name that is not the service's, as in DNS rebinding.
    pub(crate) fn other_host() -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, "other-host", "the service does not have this name")
            .hint("the service must be told its names with --host NAME")
    }

    /// A page of another site sent the request.
    pub(crate) fn other_origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, "other-origin", "the request comes from a page of another site")
    }

    /// The route does not exist.
    pub(crate) fn no_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no-such-route", "there is nothing at this path")
            .hint("GET /openapi.json lists the routes")
    }

    /// The route does not have this method.
    pub(crate) fn no_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "no-such-method", "this path does not have this method")
    }

    /// No stored document has this name.
    pub(crate) fn no_document(name: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "no-such-document", "no document has this name").detail(name)
    }

    /// The job does not exist, or belongs to another key.
    pub(crate) fn no_job() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no-such-job", "there is no such job, or it belongs to another key")
            .hint("jobs end with the service, and old ones make room for new ones: ask for the job again")
    }

    /// The job has no result.
    pub(crate) fn no_result(state: &str) -> Self {
        Self::new(StatusCode::CONFLICT, "no-result", "the job has no result").detail(format!("it is {state}"))
    }

    /// The body is too large.
    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the body is too large")
            .detail(format!("the limit is {limit} bytes"))
            .hint("send several smaller requests; --max-body limits bodies with documents")
    }

    /// The route does not read bodies of this media type.
    pub(crate) fn media_type(expected: &str) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "the body is of a kind that is not read here")
            .detail(format!("expected {expected}"))
            .hint("send the header Content-Type; curl does with --json, or with -H 'Content-Type: KIND'")
    }

    /// The key has too many concurrent requests.
    pub(crate) fn too_many() -> Self {
        let title = "this key has too many requests at the same time";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", title).retry_after(1)
    }

    /// The key has sent too many requests in the last minute.
    pub(crate) fn too_often(seconds: u64) -> Self {
        let title = "this key has had its requests of the minute";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too-often", title).retry_after(seconds)
    }

    /// The service is not configured for backups.
    pub(crate) fn no_backups() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no-backups", "the service has no folder for backups")
            .hint("the service must be started with --backup-folder FOLDER")
    }

    /// All places for requests or jobs are taken.
    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "the service has too much to do").retry_after(1)
    }

    /// A document was replaced or removed while its text was needed.
    pub(crate) fn changed() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "changed", "a document was replaced or removed meanwhile")
            .detail("the report would show another text than the compared one")
            .retry_after(1)
    }

    /// The service is ending.
    pub(crate) fn ending() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ending", "the service ends").retry_after(5)
    }

    /// The database refused the last change a moment ago, or takes no changes until it is opened again.
    pub(crate) fn not_written() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "not-written", "the database refused the last change")
            .hint("the log of the service tells the cause; once it is removed, the service takes changes again")
            .retry_after(reopening::PAUSE.as_secs())
    }

    /// The client was too slow.
    pub(crate) fn slow_client() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "slow-client", "the body did not arrive in time")
    }

    /// The work took too long.
    pub(crate) fn too_slow(seconds: u64) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "too-slow", "the request took too long")
            .detail(format!("it was stopped after {seconds} s"))
            .hint("ask for less: without passages, with a larger window, with --n")
    }

    /// The document was skipped.
    pub(crate) fn not_a_document(reason: &SkipReason) -> Self {
        let title = "the document cannot be read";
        let problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unreadable-document", title);
        problem.detail(reason.to_string()).of_content(reason)
    }

    /// Adds the next step for content of this kind.
    fn of_content(self, reason: &SkipReason) -> Self {
        // Compressed files have NUL bytes too.
        let may_have_members = reason.is_unread_archive() || matches!(reason, SkipReason::Binary | SkipReason::Package);
        if may_have_members {
            return self.hint("archives and compressed files are not opened here: send their members");
        }
        self
    }

    /// A temporary file cannot be written.
    pub(crate) fn of_temporary_file(source: std::io::Error) -> Self {
        Error::Io { action: "write a temporary file in", path: std::env::temp_dir(), source }.into()
    }

    /// The service itself has failed.
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the service has failed").hint(SEE_LOG).cause(cause)
    }
}

/// The next step after a failure of the service.
const SEE_LOG: &str = "the log of the service tells more under the id of the request or job";

/// The next step if a folder beside the database is full.
const FULL_FOLDER: &str =
    "the log of the service names the folder under the id of the request or job: make room there, and ask again";

/// The part of an error that an answer may contain. A message with a path must not leave the server.
enum Told {
    Whole,
    /// The message has a path, but the hint has none.
    TitleAndHint,
    TitleOnly,
}

/// The one table from the library's errors to statuses.
impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        use StatusCode as S;
        use Told::{TitleAndHint, TitleOnly, Whole};
        let (status, kind, title, told) = match error {
            // The path in this error is that of a temporary file, so the answer leaves it out.
            Error::NotADedupReport { line, detail, .. } => {
                return Self::bad_request(format!("line {line}: {detail}")).cause(error.chain());
            }
            Error::InvalidParameter { name: "report", expected, .. } => {
                return Self::bad_request(format!("expected {expected}")).cause(error.chain());
            }
            Error::NoSuchDocument { .. } | Error::NoSuchNumber { .. } => {
                (S::NOT_FOUND, "no-such-document", "no document has this name or number", Whole)
            }
            Error::InvalidParameter { .. }
            | Error::InvalidOptions { .. }
            | Error::UnknownLimit { .. }
            | Error::NothingFits { .. }
            | Error::NoSuchKey { .. }
            | Error::PassageLength { .. }
            | Error::WindowTooSmall { .. }
            | Error::ProfileMismatch { .. }
            | Error::NotProse { .. }
            | Error::NotWords { .. }
            | Error::NoTextToIgnore { .. }
            | Error::NotPlanned { .. }
            | Error::NameTwice { .. }
            | Error::NumberTwice { .. }
            | Error::FieldTaken { .. }
            | Error::Unsorted { .. } => (S::BAD_REQUEST, "bad-option", "an option is not as expected", Whole),
            Error::Phrase { .. } | Error::OtherProfile { .. } | Error::BadTable { .. } | Error::NotAReport { .. } => {
                (S::BAD_REQUEST, "bad-option", "an option is not as expected", TitleOnly)
            }
            Error::OtherRule { .. }
            | Error::DecisionsOfAnother { .. }
            | Error::LaterDecisions { .. }
            | Error::DecisionsVersion { .. }
            | Error::DamagedDecisions { .. } => {
                (S::CONFLICT, "other-decisions", "the recorded decisions are of another rule or database", TitleAndHint)
            }
            Error::JobInUse { .. } | Error::DocumentsInUse { .. } => {
                (S::CONFLICT, "in-use", "another job works on this", TitleAndHint)
            }
            Error::Document(
                DocumentError::DocumentTooLarge { .. }
                | DocumentError::RecordTooLarge { .. }
                | DocumentError::Expansion { .. }
                | DocumentError::Expanded { .. }
                | DocumentError::TooLarge { .. }
                | DocumentError::Unpacked { .. }
                | DocumentError::ReadingMemory { .. }
                | DocumentError::ReadingTime { .. }
                | DocumentError::TooManyFingerprints { .. }
                | DocumentError::NestedTooDeep { .. }
                | DocumentError::TooManyMembers { .. }
                | DocumentError::JsonTooDeep { .. }
                | DocumentError::NameTooLong { .. }
                | DocumentError::MetadataTooLarge { .. },
            ) => (S::UNPROCESSABLE_ENTITY, "document-limit", "the document exceeds a limit", Whole),
            Error::Document(
                DocumentError::ChangedWhileReading { .. }
                | DocumentError::PathNotUtf8 { .. }
                | DocumentError::IsAContainer { .. }
                | DocumentError::NoDocuments { .. }
                | DocumentError::NoSuchPart { .. }
                | DocumentError::RecordsWithoutName { .. }
                | DocumentError::RecordsInArray { .. }
                | DocumentError::NotAFile { .. }
                | DocumentError::NotSearched { .. },
            ) => (S::UNPROCESSABLE_ENTITY, "unreadable-document", "the document cannot be read", TitleOnly),
            Error::Document(_) => {
                (S::UNPROCESSABLE_ENTITY, "unreadable-document", "the document cannot be read", Whole)
            }
            Error::TextGone { .. } | Error::NotReadAgain { .. } => {
                (S::CONFLICT, "text-gone", "the text of the stored document can no longer be had", TitleOnly)
            }
            Error::TooManyDocuments { .. } => (S::INSUFFICIENT_STORAGE, "full", "the database is full", Whole),
            Error::Store { failure: StoreFailure::NoSpace, .. } => {
                (S::INSUFFICIENT_STORAGE, "no-space", "the disk of the service is full", TitleOnly)
            }
            Error::Io { source, .. } if StoreFailure::of_io(source) == StoreFailure::NoSpace => {
                (S::INSUFFICIENT_STORAGE, "no-space", "the disk of the service is full", TitleOnly)
            }
            Error::TooLittleMemory { .. } | Error::SubmissionTooLarge { .. } => {
                (S::INSUFFICIENT_STORAGE, "memory", "the service is allowed too little memory for this", Whole)
            }
            Error::Stopped => (S::SERVICE_UNAVAILABLE, "stopped", "the work was stopped", Whole),
            // The store takes no changes until it is opened again.
            Error::Store { failure: StoreFailure::Stopped, .. } => return Self::not_written().cause(error.chain()),
            // All other errors concern the server's own files. For errors that the library adds later, the
            // client also gets only the title.
            _ => (S::INTERNAL_SERVER_ERROR, "internal", "the service has failed", TitleOnly),
        };
        let mut problem = Self::new(status, kind, title).cause(error.chain());
        match error {
            Error::Store { failure: StoreFailure::NoSpace, .. } => {
                problem = problem.hint("make room on its disk; the service then takes changes again");
            }
            // A folder for temporary files or backups is full. The database itself may have room.
            Error::Io { .. } if kind == "no-space" => problem = problem.hint(FULL_FOLDER),
            _ => {}
        }
        if !matches!(told, TitleOnly) {
            problem.0.hint = error.hint();
        }
        if let Whole = told {
            problem.0.detail = Some(error.chain());
            if let Error::Document(DocumentError::Binary { reason }) = error {
                problem = problem.of_content(reason);
            }
        } else if status == S::INTERNAL_SERVER_ERROR {
            problem = problem.hint(SEE_LOG);
        }
        problem
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry, cause) = (self.status(), self.0.retry_after, self.0.cause.clone());
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(cause) = cause {
            response.extensions_mut().insert(Cause(cause));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_tells_a_path() {
        let path = std::path::PathBuf::from("/secret/place");
        let io = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let errors = [
            Error::Io { action: "read", path: path.clone(), source: io() },
            Error::NoDatabase { path: path.clone() },
            Error::JobInUse { path: path.clone() },
            Error::FolderGone { path: path.clone() },
            Error::TextGone { name: "a".into(), source_path: Some("/secret/place".into()) },
            Error::NotReadAgain { source: Box::new(Error::Io { action: "read", path: path.clone(), source: io() }) },
            Error::Document(DocumentError::NotAFile { path: path.clone() }),
            Error::Document(DocumentError::NoSuchPart { path: path.clone(), part: "#1".into() }),
            Error::Document(DocumentError::IsAContainer { path: path.clone() }),
        ];
        let decisions = [
            Error::OtherRule { path: path.clone(), recorded: "a".into(), asked: "b".into() },
            Error::DecisionsOfAnother { path: path.clone() },
            Error::LaterDecisions { path: path.clone() },
            Error::DecisionsVersion { path: path.clone(), found: "2".into(), supported: 1 },
            Error::DamagedDecisions { path, detail: "cut" },
        ];
        assert!(decisions.iter().all(|error| Problem::from(error).0.hint == error.hint()));
        for error in errors.into_iter().chain(decisions) {
            let told = serde_json::to_string(&Problem::from(&error)).unwrap();
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn errors_of_a_request_have_statuses_of_a_request() {
        let status = |error: Error| Problem::from(error).0.status;
        for full in [std::io::ErrorKind::StorageFull, std::io::ErrorKind::QuotaExceeded] {
            let beside = Problem::of_temporary_file(full.into());
            assert_eq!((beside.0.status, beside.0.hint.as_deref()), (507, Some(FULL_FOLDER)));
        }
        assert_eq!(status(Error::NoSuchNumber { number: 1 }), 404);
        assert_eq!(status(Error::WindowTooSmall { asked: 1, stored: 2 }), 400);
        assert_eq!(status(Error::Document(DocumentError::Encrypted)), 422);
        assert_eq!(status(Error::Stopped), 503);
        assert_eq!(status(Error::WaitsForItself), 500);
    }
}
