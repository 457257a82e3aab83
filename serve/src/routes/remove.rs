//! Remove: removes many documents at once.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::{Extension, Json};
use fpdb::{DocId, Removal, StopToken, Task};
use serde::Deserialize;
use utoipa::ToSchema;

use super::request::{HeldBody, media_type, parse, read_body};
use crate::app::App;
use crate::jobs::JobKind;
use crate::keys::Identity;
use crate::problem::{Answer, Problem};
use crate::removing::{FromStart, Removing, in_file};
use crate::writer::Held;

/// Maximum number of names and numbers of a request. Their records are in memory until the commit.
const MOST: usize = 100_000;

/// The documents to remove: names and numbers, or a selection, or the result of a job.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RemoveRequest {
    /// Names of documents. All versions of each are removed.
    names: Vec<String>,
    /// Numbers of documents.
    ids: Vec<u32>,
    /// Selects the documents whose names begin with one of these.
    prefixes: Vec<String>,
    /// Selects the documents whose metadata have all of these values. With `prefixes` both must fit.
    #[serde(rename = "where")]
    #[schema(value_type = Object)]
    fields: BTreeMap<String, String>,
    /// The id of a finished job of `dedup`. Its removable documents are removed, each only while it and its
    /// survivor are stored as the result says.
    dedup: Option<String>,
    /// Counts the selected documents, and removes none.
    dry_run: bool,
}

/// Removes many documents. The answer comes after the last commit. A commit removes at most 100,000
/// documents.
///
/// The body is JSON, or the lines of a saved report of `dedup`, or lines `{"document": NAME}`. A request that
/// was interrupted may be repeated.
#[utoipa::path(post, path = "/v1/remove", tag = "documents",
    request_body(content((RemoveRequest = "application/json"), (String = "application/x-ndjson"))),
    responses((status = 200, description = "The removal, with the names, numbers, prefixes and values that no document has", body = ref("#/components/schemas/fpdb.rm-1")),
        (status = "default", description = "A problem; documents that were removed before it stay removed", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn remove_many(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    request: Request,
) -> Answer<Json<Removal>> {
    let media_type = media_type(request.headers());
    let place = app.work.enter()?;
    let HeldBody { bytes, room } = read_body(&app, request).await?;
    let held = Held::new(place, room);
    let (removing, held) = match media_type.as_str() {
        "application/x-ndjson" => reported(Cursor::new(bytes), held).await?,
        "application/json" => {
            let asked: RemoveRequest = parse(&bytes)?;
            drop(bytes);
            if asked.dry_run {
                drop(held);
                return count(&app, asked).await.map(Json);
            }
            asked.check()?;
            match &asked.dedup {
                Some(job) => {
                    let result = app.jobs.find(JobKind::Dedup, job, &who)?.result()?;
                    reported(FromStart::of(result), held).await?
                }
                None => (asked.removing(), held),
            }
        }
        _ => return Err(Problem::media_type("application/json, or application/x-ndjson for the lines of a report")),
    };
    app.writer.remove(removing, app.work.stop.child(), held).await.map(Json)
}

/// Copies the lines of a report before the removal waits for the writer: a full disk is then the error of
/// this request alone. The request keeps its place until the copy has ended, even if the client has gone.
async fn reported(lines: impl Read + Send + 'static, held: Held) -> Answer<(Removing, Held)> {
    let copied = tokio::task::spawn_blocking(move || (in_file(lines), held)).await;
    let (file, held) = copied.map_err(|failed| Problem::internal(failed.to_string()))?;
    Ok((Removing::Reported(file?), held))
}

impl RemoveRequest {
    fn removing(self) -> Removing {
        let Self { names, ids, prefixes, fields, .. } = self;
        if prefixes.is_empty() && fields.is_empty() {
            return Removing::Listed(names, ids.into_iter().map(DocId).collect());
        }
        Removing::Selected(prefixes, fields.into_iter().collect())
    }

    /// Refuses a request that names its documents in several ways, or in none.
    fn check(&self) -> Answer<()> {
        let is_listed = !(self.names.is_empty() && self.ids.is_empty());
        let is_selected = !(self.prefixes.is_empty() && self.fields.is_empty());
        if [is_listed, is_selected, self.dedup.is_some()].into_iter().filter(|&is_given| is_given).count() != 1 {
            return Err(Problem::bad_request("expected one of: names and ids; prefixes and where; dedup"));
        }
        if self.dry_run && !is_selected {
            return Err(Problem::bad_request("dry_run goes with prefixes and where"));
        }
        if self.names.len() + self.ids.len() > MOST {
            let detail = format!("at most {MOST} names and ids at once");
            let hint = "divide them among several requests, or send lines {\"document\": NAME} as application/x-ndjson";
            return Err(Problem::bad_request(detail).hint(hint));
        }
        Ok(())
    }
}

/// Counts the selected documents.
async fn count(app: &Arc<App>, asked: RemoveRequest) -> Answer<Removal> {
    asked.check()?;
    let database = app.reader().ok_or_else(Problem::ending)?;
    let count = move |stop: &StopToken| {
        let fields: Vec<_> = asked.fields.into_iter().collect();
        let selected = database.select(&asked.prefixes, &fields, &Task::new().stop(stop))?;
        let mut removal = Removal::default();
        removal.selected = Some(selected.ids.len() as u64);
        removal.unmatched = selected.unmatched;
        Ok(removal)
    };
    app.work.run(count).await
}
