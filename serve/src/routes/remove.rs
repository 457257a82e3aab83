//! Remove: removes many documents at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::{Extension, Json};
use fpdb::{DocId, Removal};
use serde::Deserialize;
use utoipa::ToSchema;

use super::request::{HeldBody, media_type, parse, read_body};
use crate::app::App;
use crate::jobs::JobKind;
use crate::keys::Identity;
use crate::problem::{Answer, Problem};
use crate::removing::{Removing, Report};
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
    let removing = match media_type.as_str() {
        "application/x-ndjson" => Removing::Reported(Report::Body(bytes)),
        "application/json" => {
            let asked: RemoveRequest = parse(&bytes)?;
            drop(bytes);
            if asked.dry_run {
                drop((place, room));
                return count(&app, asked).await.map(Json);
            }
            asked.removing(&app, &who)?
        }
        _ => return Err(Problem::media_type("application/json, or application/x-ndjson for the lines of a report")),
    };
    app.writer.remove(removing, app.work.stop.child(), Held::new(place, room)).await.map(Json)
}

impl RemoveRequest {
    fn removing(self, app: &App, who: &Identity) -> Answer<Removing> {
        self.check()?;
        let Self { names, ids, prefixes, fields, dedup, .. } = self;
        if let Some(job) = dedup {
            return Ok(Removing::Reported(Report::Job(app.jobs.find(JobKind::Dedup, &job, who)?.result()?)));
        }
        if !(prefixes.is_empty() && fields.is_empty()) {
            return Ok(Removing::Selected(prefixes, fields.into_iter().collect()));
        }
        Ok(Removing::Listed(names, ids.into_iter().map(DocId).collect()))
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
        if self.prefixes.iter().any(String::is_empty) {
            return Err(Problem::bad_request("every name begins with an empty prefix"));
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
    let count = move |_: &fpdb::StopToken| {
        let fields: Vec<_> = asked.fields.into_iter().collect();
        let selected = database.select(&asked.prefixes, &fields)?;
        let mut removal = Removal::default();
        removal.selected = Some(selected.ids.len() as u64);
        removal.unmatched = selected.unmatched;
        Ok(removal)
    };
    app.work.run(count).await
}
