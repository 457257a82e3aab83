//! Jobs: all pairs, removable documents, repeated passages, compaction, backup. Clients start jobs, check
//! them, fetch their results and drop them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use fpdb::dedup::{DedupBy, DedupMode, DedupOptions};
use fpdb::maintenance::BackupOptions;
use fpdb::pairs::{Pair, PairsOptions};
use fpdb::repeats::RepeatOptions;
use fpdb::report::PairEvidence;
use fpdb::{Database, InputLimits, PassageOptions, Profile, Task};
use fpdb_host::owned_folder::OwnedFolder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::request::{Name, read_json};
use crate::app::App;
use crate::gate::allow;
use crate::jobs::{Job, JobKind, JobView, Lines};
use crate::keys::{Identity, Rights};
use crate::problem::{Answer, Problem};

/// Number of pairs whose passages are searched for together. A first document is then compared with all of
/// its partners at once.
const PAIRS_AT_A_TIME: usize = 256;

/// Prefix of the name of a dedup's folder, before the process id.
const FOLDER: &str = ".fpdb-dedup-";

/// Number of bytes of a result that are read at a time.
const CHUNK: usize = 64 << 10;

/// The options of a new job.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JobRequest {
    /// The fields of `PairsOptions`, `DedupOptions` or `RepeatOptions` of the library, by their names.
    /// Missing fields have their defaults.
    #[schema(value_type = Object)]
    options: Map<String, Value>,
    /// For pairs: also lists their passages.
    passages: bool,
    /// For pairs: the fields of `PassageOptions` of the library.
    #[schema(value_type = Object)]
    joining: Map<String, Value>,
}

impl JobRequest {
    /// The options of a job of a kind that cannot list passages of pairs. Returns an error if the request
    /// asks for passages.
    fn without_passages(self) -> Answer<Map<String, Value>> {
        if self.passages || !self.joining.is_empty() {
            return Err(Problem::bad_request("passages and joining are for pairs"));
        }
        Ok(self.options)
    }
}

/// The jobs of a kind.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobList {
    /// Oldest first.
    jobs: Vec<JobView>,
}

fn accepted(job: &Job) -> Response {
    let view = job.view();
    let place = HeaderValue::from_str(&format!("/v1/{}/{}", view.kind.name(), view.id));
    let mut response = (StatusCode::ACCEPTED, Json(view)).into_response();
    if let Ok(place) = place {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// Opens a handle for one job, so that its work delays no change.
fn open(app: &App) -> Answer<Database> {
    let mut builder = Database::builder().memory(app.options.job_memory).tell_paths(false);
    if let Some(threads) = app.options.threads {
        builder = builder.threads(threads);
    }
    Ok(builder.open(&app.options.db)?)
}

/// Makes a temporary folder: beside the database, or among the system's temporary files if the folder beside
/// it is not writable. If the service is killed, the next call of this function removes the folder.
fn folder_beside(db: &Path) -> Answer<OwnedFolder> {
    let beside = db.canonicalize().ok().and_then(|db| OwnedFolder::without_stale(db.parent()?, FOLDER).ok());
    Ok(beside.map_or_else(|| OwnedFolder::without_stale(&std::env::temp_dir(), FOLDER), Ok)?)
}

/// The options of a job: the defaults with the given fields.
fn options_of<T: Serialize + DeserializeOwned>(defaults: &T, given: Map<String, Value>) -> Answer<T> {
    if given.get("temp_dir").is_some_and(|given| !given.is_null()) {
        return Err(Problem::bad_request("temp_dir is set by the service, not by a request"));
    }
    Ok(fpdb::options_from_json(defaults, Value::Object(given))?)
}

fn no_limits(limits: &InputLimits) -> Answer<()> {
    if *limits == InputLimits::default() {
        return Ok(());
    }
    Err(Problem::bad_request("the limits of documents are set by the service, not by a request"))
}

/// The options of pairs. A threshold in the request replaces all thresholds of the profile, as on the command
/// line.
fn pairs_options(profile: &Profile, given: Map<String, Value>) -> Answer<PairsOptions> {
    let share = |name: &str| given.get(name).and_then(Value::as_f64);
    let shared = given.get("min_shared").and_then(Value::as_u64);
    let defaults = PairsOptions::at_least(profile, shared, share("min_resemblance"), share("min_containment"));
    let options = options_of(&defaults, given)?;
    options.check()?;
    Ok(options)
}

fn dedup_options(app: &App, who: &Identity, profile: &Profile, given: Map<String, Value>) -> Answer<DedupOptions> {
    let by = match given.get("by").and_then(Value::as_str) {
        Some(by) => by.parse::<DedupBy>()?,
        None => DedupBy::default(),
    };
    let options = options_of(&DedupOptions::of(profile, by), given)?;
    no_limits(&options.limits)?;
    options.check()?;
    if options.mode != DedupMode::Once {
        // These modes store decisions, which is a change of the database.
        allow(app, who, Rights::Write)?;
    }
    Ok(options.limits(app.limits.clone()))
}

fn repeat_options(app: &App, profile: &Profile, given: Map<String, Value>) -> Answer<RepeatOptions> {
    let options = options_of(&RepeatOptions::of(profile), given)?;
    no_limits(&options.limits)?;
    options.check(profile)?;
    Ok(options.limits(app.limits.clone()))
}

/// Asks for all pairs of documents that share text.
#[utoipa::path(post, path = "/v1/pairs", tag = "jobs", request_body = JobRequest,
    responses((status = 202, description = "The job", body = JobView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn ask_pairs(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    request: Request,
) -> Answer<Response> {
    let profile = *app.reader().ok_or_else(Problem::ending)?.profile();
    let make = move |JobRequest { options, passages, joining }| {
        let options = pairs_options(&profile, options)?;
        let joining: PassageOptions = fpdb::options_from_json(&PassageOptions::default(), Value::Object(joining))?;
        Ok((options, joining, passages))
    };
    let (options, joining, passages) = read_json(&app, request, make).await?;
    let job = app.jobs.add(JobKind::Pairs, &who)?;
    let shared = Arc::clone(&app);
    app.jobs.start(&job, move |task, lines| {
        let database = open(&shared)?;
        let evidence = PairEvidence::default().max_df(options.max_df).joining(joining).limits(shared.limits.clone());
        let mut waiting = Vec::new();
        let hand_over = |waiting: &mut Vec<Pair>, lines: &mut Lines| -> Answer<()> {
            if passages {
                database.add_passages(waiting, &evidence, task)?;
            }
            waiting.drain(..).try_for_each(|pair| lines.write(&pair))
        };
        database.for_each_pair(&options, task, |_, pair| -> Answer<()> {
            waiting.push(pair);
            if waiting.len() < PAIRS_AT_A_TIME { Ok(()) } else { hand_over(&mut waiting, lines) }
        })?;
        hand_over(&mut waiting, lines)
    });
    Ok(accepted(&job))
}

/// Asks which documents are removable.
#[utoipa::path(post, path = "/v1/dedup", tag = "jobs", request_body = JobRequest,
    responses((status = 202, description = "The job", body = JobView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn ask_dedup(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    request: Request,
) -> Answer<Response> {
    let (shared, profile) = (Arc::clone(&app), *app.reader().ok_or_else(Problem::ending)?.profile());
    let sender = who.clone();
    let make = move |asked: JobRequest| dedup_options(&shared, &sender, &profile, asked.without_passages()?);
    let options = read_json(&app, request, make).await?;
    let job = app.jobs.add(JobKind::Dedup, &who)?;
    let shared = Arc::clone(&app);
    app.jobs.start(&job, move |task: &Task<'_>, lines| {
        let database = open(&shared)?;
        // The state from which a dedup could continue goes into a folder of this job alone. The folder is
        // removed with the job, and a job with the same options has another folder. A run that records its
        // decisions needs no such folder, because it excludes other such runs.
        let folder = (options.mode == DedupMode::Once).then(|| folder_beside(&shared.options.db)).transpose()?;
        let options = options.temp_dir(folder.as_ref().map(|folder| folder.path().to_owned()));
        let summary = database.for_each_removable(&options, task, |row| lines.write(&row))?;
        lines.write(&summary)
    });
    Ok(accepted(&job))
}

/// Asks which passages of each document occur in an earlier one, or earlier in its own.
#[utoipa::path(post, path = "/v1/repeats", tag = "jobs", request_body = JobRequest,
    responses((status = 202, description = "The job", body = JobView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn ask_repeats(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    request: Request,
) -> Answer<Response> {
    let (shared, profile) = (Arc::clone(&app), *app.reader().ok_or_else(Problem::ending)?.profile());
    let make = move |asked: JobRequest| repeat_options(&shared, &profile, asked.without_passages()?);
    let options = read_json(&app, request, make).await?;
    let job = app.jobs.add(JobKind::Repeats, &who)?;
    let shared = Arc::clone(&app);
    app.jobs.start(&job, move |task, lines| {
        let database = open(&shared)?;
        let summary = database.for_each_repeat(&options, task, |row| lines.write(&row))?;
        lines.write(&summary)
    });
    Ok(accepted(&job))
}

/// Asks for a compaction. Changes wait until it has ended; queries do not.
#[utoipa::path(post, path = "/v1/compact", tag = "jobs",
    responses((status = 202, description = "The job", body = JobView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn ask_compact(State(app): State<Arc<App>>, Extension(who): Extension<Identity>) -> Answer<Response> {
    let job = app.jobs.add(JobKind::Compact, &who)?;
    let (shared, followed) = (Arc::clone(&app), Arc::clone(&job));
    app.jobs.follow(&job, async move { shared.writer.compact(&followed).await });
    Ok(accepted(&job))
}

/// Asks for a backup into the folder of the service. Changes wait until it has ended; queries do not.
#[utoipa::path(post, path = "/v1/backup", tag = "jobs",
    responses((status = 202, description = "The job", body = JobView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn ask_backup(State(app): State<Arc<App>>, Extension(who): Extension<Identity>) -> Answer<Response> {
    let folder = app.options.backup_folder.clone().ok_or_else(Problem::no_backups)?;
    let options = BackupOptions::default().keep(app.options.keep_backups);
    let job = app.jobs.add(JobKind::Backup, &who)?;
    let (shared, followed) = (Arc::clone(&app), Arc::clone(&job));
    app.jobs.follow(&job, async move {
        let mut backup = shared.writer.backup(folder, options, &followed).await?;
        backup.folder = Path::new(&backup.folder).file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(backup)
    });
    Ok(accepted(&job))
}

/// Lists the jobs of a kind that the key has requested. A key with the right admin gets the jobs of all keys.
#[utoipa::path(get, path = "/v1/{kind}", tag = "jobs", params(("kind" = JobKind, Path, description = "What the jobs do")),
    responses((status = 200, description = "The jobs", body = JobList),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn list_jobs(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    Extension(kind): Extension<JobKind>,
) -> Json<JobList> {
    Json(JobList { jobs: app.jobs.list(kind, &who) })
}

/// Shows the state of a job.
#[utoipa::path(get, path = "/v1/{kind}/{id}", tag = "jobs",
    params(("kind" = JobKind, Path, description = "What the jobs do"), ("id" = String, Path, description = "The job")),
    responses((status = 200, description = "The job", body = JobView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn show_job(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    Extension(kind): Extension<JobKind>,
    Name(id): Name,
) -> Answer<Json<JobView>> {
    Ok(Json(app.jobs.find(kind, &id, &who)?.show()))
}

/// Stops a job, and drops its result.
#[utoipa::path(delete, path = "/v1/{kind}/{id}", tag = "jobs",
    params(("kind" = JobKind, Path, description = "What the jobs do"), ("id" = String, Path, description = "The job")),
    responses((status = 204, description = "It is gone"),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn drop_job(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    Extension(kind): Extension<JobKind>,
    Name(id): Name,
) -> Answer<StatusCode> {
    let job = app.jobs.find(kind, &id, &who)?;
    app.jobs.drop_job(&job);
    Ok(StatusCode::NO_CONTENT)
}

/// Fetches the result of a job: lines of JSON, as the program writes them.
#[utoipa::path(get, path = "/v1/{kind}/{id}/result", tag = "jobs",
    params(("kind" = JobKind, Path, description = "What the jobs do"), ("id" = String, Path, description = "The job")),
    responses((status = 200, description = "Lines, each of this schema: pairs; the rows of a dedup or of repeats, and their summary; one line of a compaction or backup", content_type = "application/x-ndjson", body = ref("#/components/schemas/ResultLine")),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn show_result(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    Extension(kind): Extension<JobKind>,
    Name(id): Name,
) -> Answer<Response> {
    lines_of(app.jobs.find(kind, &id, &who)?.result()?)
}

/// Answers with the lines of a file.
pub(super) fn lines_of(file: Arc<File>) -> Answer<Response> {
    let length = file.metadata().map_err(|error| Problem::internal(error.to_string()))?.len();
    let headers =
        [(header::CONTENT_TYPE, "application/x-ndjson".to_owned()), (header::CONTENT_LENGTH, length.to_string())];
    Ok((headers, Body::new(FileBody { file, at: 0, length, reading: None })).into_response())
}

/// The running read of a part of a file.
type Reading = tokio::task::JoinHandle<std::io::Result<Bytes>>;

/// The content of a file. Several clients may read the same file at the same time.
struct FileBody {
    file: Arc<File>,
    at: u64,
    length: u64,
    reading: Option<Reading>,
}

impl axum::body::HttpBody for FileBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, std::io::Error>>> {
        use std::task::{Poll, ready};
        if self.at >= self.length {
            return Poll::Ready(None);
        }
        let (file, at, length) = (Arc::clone(&self.file), self.at, self.length);
        let reading = self.reading.get_or_insert_with(|| {
            tokio::task::spawn_blocking(move || {
                let mut part = vec![0; CHUNK.min(usize::try_from(length - at).unwrap_or(CHUNK))];
                file.read_exact_at(&mut part, at)?;
                Ok(part.into())
            })
        });
        let read = ready!(std::pin::Pin::new(reading).poll(context));
        self.reading = None;
        let part = read.unwrap_or_else(|failed| Err(std::io::Error::other(failed)))?;
        self.at += part.len() as u64;
        Poll::Ready(Some(Ok(hyper::body::Frame::data(part))))
    }
}
