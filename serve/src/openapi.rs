//! OpenAPI: the description of the routes, made from the handlers.

use axum::Json;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Description;

use crate::jobs::{JobKind, JobState, JobView};
use crate::problem::{Problem, ProblemDetails};
use crate::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "fpdb",
        description = "Which stored documents share text with this one, how much, and exactly where?"
    ),
    paths(
        routes::query,
        routes::report,
        routes::list,
        routes::show,
        routes::put,
        routes::bulk,
        routes::remove,
        routes::ask_pairs,
        routes::ask_dedup,
        routes::ask_compact,
        routes::ask_backup,
        routes::list_backups,
        routes::list_jobs,
        routes::show_job,
        routes::drop_job,
        routes::show_result,
        routes::stats,
        routes::session,
        routes::health,
        routes::ready,
        routes::metrics,
        show
    ),
    components(schemas(
        Problem,
        ProblemDetails,
        JobView,
        JobKind,
        JobState,
        routes::QueryRequest,
        routes::ReportView,
        routes::DocumentPage,
        routes::PutView,
        routes::BulkLine,
        routes::JobRequest,
        routes::JobList,
        routes::BackupList,
        routes::SessionView
    ))
)]
struct Api;

/// The description.
pub(crate) fn description() -> Description {
    Api::openapi()
}

/// Shows this description.
#[utoipa::path(get, path = "/openapi.json", tag = "care",
    responses((status = 200, description = "The description, in the form of OpenAPI", body = Object)))]
pub(crate) async fn show() -> Json<Description> {
    Json(description())
}
