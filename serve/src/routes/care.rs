//! Care: figures and backups of the database, and the health of the service.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use fpdb::maintenance::{DatabaseStats, ListedBackup};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::keys::{Identity, Rights};
use crate::metrics::Reading;
use crate::openapi::listed_backups;
use crate::problem::{Answer, Problem};

/// Shows the size and the figures of the database. The answer has only the last part of the database's path.
#[utoipa::path(get, path = "/v1/stats", tag = "care",
    responses((status = 200, description = "The figures", body = ref("#/components/schemas/fpdb.stats-1")),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn stats(State(app): State<Arc<App>>) -> Answer<Json<DatabaseStats>> {
    let database = app.reader().ok_or_else(Problem::ending)?;
    let stats = app.work.run(move |_| {
        let mut stats = database.stats_without_lists()?;
        stats.path = stats.path.file_name().map(Into::into).unwrap_or_default();
        Ok(stats)
    });
    stats.await.map(Json)
}

/// The backups of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackupList {
    /// Oldest first; each as `fpdb backup --list` shows it.
    #[schema(schema_with = listed_backups)]
    backups: Vec<ListedBackup>,
}

/// Lists the backups in the folder of the service.
#[utoipa::path(get, path = "/v1/backups", tag = "care",
    responses((status = 200, description = "The backups", body = BackupList),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn list_backups(State(app): State<Arc<App>>) -> Answer<Json<BackupList>> {
    let folder = app.options.backup_folder.clone().ok_or_else(Problem::no_backups)?;
    let backups = app.work.run(move |_| {
        // Before the first backup, the folder is empty or absent.
        let is_empty = match std::fs::read_dir(&folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if is_empty { Ok(Vec::new()) } else { Ok(fpdb::maintenance::backups(&folder)?) }
    });
    Ok(Json(BackupList { backups: backups.await? }))
}

/// The rights of the key of a request, and limits of the service.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionView {
    /// The name of the key; empty without keys.
    name: String,
    /// read, write or admin. A service that only reads allows nobody more than read.
    rights: &'static str,
    /// True if requests need a key.
    keys: bool,
    /// The largest body, in bytes.
    max_body: usize,
    /// The most matches of a query, or of a report.
    max_results: usize,
}

/// Shows what the key of the request allows.
#[utoipa::path(get, path = "/v1/session", tag = "care",
    responses((status = 200, description = "The rights", body = SessionView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn session(State(app): State<Arc<App>>, Extension(who): Extension<Identity>) -> Json<SessionView> {
    Json(SessionView {
        name: who.name.to_string(),
        rights: if app.options.read_only { Rights::Read } else { who.rights }.name(),
        keys: app.keys.are_needed(),
        max_body: app.options.max_body,
        max_results: app.options.max_results,
    })
}

/// Reports that the process answers.
#[utoipa::path(get, path = "/healthz", tag = "care", responses((status = 200, description = "It does", content_type = "text/plain", body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Reports whether the service takes requests. It takes none while it ends, after the database refused a
/// change, or after the writer failed. A service that only reads is not ready while it cannot read the last
/// commit.
#[utoipa::path(get, path = "/readyz", tag = "care",
    responses((status = 200, description = "It does", content_type = "text/plain", body = String),
        (status = 503, description = "It ends, or the database takes no changes", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Answer<&'static str> {
    app.writer.recover();
    match (app.is_ready(), app.writer.is_well()) {
        (true, true) if app.is_behind() => Err(Problem::behind()),
        (true, true) => Ok("ready\n"),
        (true, false) => Err(Problem::not_written()),
        (false, _) => Err(Problem::ending()),
    }
}

/// Shows figures for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "care",
    responses((status = 200, description = "The figures, in the text form of OpenMetrics", content_type = "application/openmetrics-text", body = String),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Answer<Response> {
    let database = app.reader().ok_or_else(Problem::ending)?;
    // A scrape takes no place in the queue, so it answers under load too.
    let shared = Arc::clone(&app);
    let reading = tokio::task::spawn_blocking(move || Reading::of(&shared, &database)).await;
    let reading = reading.map_err(|failed| Problem::internal(failed.to_string()))?;
    let text = app.metrics.text(&reading).map_err(|error| Problem::internal(error.to_string()))?;
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}
