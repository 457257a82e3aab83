//! Routes: one handler each. A handler reads the request, runs the work, and makes the answer.

mod care;
mod documents;
mod jobs;
mod query;
mod remove;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use tower_http::catch_panic::CatchPanicLayer;

use crate::app::App;
use crate::jobs::JobKind;
use crate::problem::{Answer, Problem};
use crate::{gate, openapi, page};

// The glob imports include the items that `utoipa` generates for each handler.
pub(crate) use care::*;
pub(crate) use documents::*;
pub(crate) use jobs::*;
pub(crate) use query::*;
pub(crate) use remove::*;

/// All routes, behind the gate.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let mut routes = Router::new()
        .route("/v1/query", post(query::query))
        .route("/v1/report", post(query::report))
        .route("/v1/documents", get(documents::list).put(documents::bulk))
        .route("/v1/documents/{*name}", get(documents::show).put(documents::put).delete(documents::remove))
        .route("/v1/remove", post(remove::remove_many))
        .route("/v1/kept-out", get(remove::list_kept_out))
        .route("/v1/stats", get(care::stats))
        .route("/v1/session", get(care::session))
        .route("/v1/pairs", post(jobs::ask_pairs))
        .route("/v1/dedup", post(jobs::ask_dedup))
        .route("/v1/repeats", post(jobs::ask_repeats))
        .route("/v1/compact", post(jobs::ask_compact))
        .route("/v1/backup", post(jobs::ask_backup))
        .route("/v1/backups", get(care::list_backups))
        .route("/healthz", get(care::health))
        .route("/readyz", get(care::ready))
        .route("/metrics", get(care::metrics))
        .route("/openapi.json", get(openapi::describe_routes));
    for kind in JobKind::ALL {
        let path = kind.name();
        let with_kind = move |mut request: axum::extract::Request, next: axum::middleware::Next| {
            request.extensions_mut().insert(kind);
            next.run(request)
        };
        let of_kind = Router::new()
            .route(&format!("/v1/{path}"), get(jobs::list_jobs))
            .route(&format!("/v1/{path}/{{id}}"), get(jobs::show_job).delete(jobs::drop_job))
            .route(&format!("/v1/{path}/{{id}}/result"), get(jobs::show_result))
            .route_layer(from_fn(with_kind));
        routes = routes.merge(of_kind);
    }
    page::add(routes)
        .fallback(async || Problem::no_route())
        .method_not_allowed_fallback(async || Problem::no_method())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(app), gate::admit))
        .layer(from_fn_with_state(Arc::clone(app), gate::observe))
        .with_state(Arc::clone(app))
}

/// An answer in JSON. A long one is made by a worker: `axum::Json` would make it on a thread of the runtime.
fn json(answer: &impl Serialize) -> Answer<Response> {
    let json = serde_json::to_vec(answer).map_err(|error| Problem::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Makes the answer after a handler panicked. The panic message was already printed.
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal("a handler has panicked").into_response()
}
