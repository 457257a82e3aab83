//! Remove: removes many documents at once, maybe for good.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::{Extension, Json};
use fpdb::maintenance::KeptOut;
use fpdb::{DocId, Removal};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::request::{Params, media_type, parse, read_body, read_json_body};
use crate::app::App;
use crate::jobs::JobKind;
use crate::keys::Identity;
use crate::openapi::kept_out_contents;
use crate::problem::{Answer, Problem};
use crate::removing::{FromStart, Removing, in_file};
use crate::work::blocking;
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
    /// The id of a finished job of `dedup`. The documents that its result lists are removed. Each is removed
    /// only if it and its survivor are still stored as the result says.
    dedup: Option<String>,
    /// Counts the documents that `prefixes` and `where` select, or that `dedup` would remove, and removes
    /// none.
    dry_run: bool,
    /// Removes the documents for good: their bytes are not added again, under whatever name. Not with
    /// `dedup`.
    keep_out: bool,
    /// Removes no document. Allows contents again that were removed for good: names of the removed documents,
    /// or digests of their bytes.
    readmit: Vec<String>,
}

/// Removes many documents. The answer comes after the last commit. A commit removes at most 100,000
/// documents.
///
/// The body is JSON, or the lines of a saved report of `dedup`, of answers to queries with all their matches,
/// or lines `{"document": NAME}`. A request that was interrupted may be repeated.
#[utoipa::path(post, path = "/v1/remove", tag = "documents",
    request_body(content((RemoveRequest = "application/json"), (String = "application/x-ndjson"))),
    responses((status = 200, description = "The removal, with the names, numbers, prefixes and values that no document has", body = ref("#/components/schemas/fpdb.rm-1")),
        (status = "default", description = "A problem; documents that were removed before it stay removed", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn remove_many(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Identity>,
    request: Request,
) -> Answer<Json<Removal>> {
    // If all places are taken, the body is refused before it is read. The place is taken after the body is
    // read.
    app.writer.look_for_place()?;
    let media_type = media_type(request.headers());
    let (removing, held) = match media_type.as_str() {
        "application/x-ndjson" => {
            let body = read_body(&app, request).await?;
            reported(Cursor::new(body.bytes), Held::new(app.writer.enter()?, body.room)).await?
        }
        "application/json" => {
            let body = read_json_body(&app, request).await?;
            let held = Held::new(app.writer.enter()?, body.room);
            let read = move || {
                let asked: RemoveRequest = parse(&body.bytes)?;
                asked.check()?;
                Ok((asked, held))
            };
            let (asked, held) = blocking(read).await?;
            let is_counted = asked.dry_run;
            let (removing, held) = match &asked.dedup {
                Some(job) => {
                    let result = app.jobs.find(JobKind::Dedup, job, &who)?.result()?;
                    reported(FromStart::of(result), held).await?
                }
                None => (asked.removing(), held),
            };
            if is_counted {
                drop(held);
                let database = app.reader().ok_or_else(Problem::ending)?;
                return app.work.run(move |stop| Ok(removing.count(&database, stop)?)).await.map(Json);
            }
            (removing, held)
        }
        _ => return Err(Problem::media_type("application/json, or application/x-ndjson for the lines of a report")),
    };
    app.writer.remove(removing, app.work.stop.child(), held).await.map(Json)
}

/// Copies the lines of a report before the removal waits for the writer, so that a full disk fails only this
/// request. The request keeps its place until the copy has ended, even if the client has gone.
async fn reported(lines: impl Read + Send + 'static, held: Held) -> Answer<(Removing, Held)> {
    blocking(move || Ok((Removing::Reported(in_file(lines)?), held))).await
}

impl RemoveRequest {
    fn removing(self) -> Removing {
        let Self { names, ids, prefixes, fields, keep_out, readmit, .. } = self;
        if !readmit.is_empty() {
            return Removing::Readmitted(readmit);
        }
        if prefixes.is_empty() && fields.is_empty() {
            return Removing::Listed(names, ids.into_iter().map(DocId).collect(), keep_out);
        }
        Removing::Selected(prefixes, fields.into_iter().collect(), keep_out)
    }

    /// Refuses a request that names its documents in several ways, or in none.
    fn check(&self) -> Answer<()> {
        let is_listed = !(self.names.is_empty() && self.ids.is_empty());
        let is_selected = !(self.prefixes.is_empty() && self.fields.is_empty());
        let ways = [is_listed, is_selected, self.dedup.is_some(), !self.readmit.is_empty()];
        if ways.into_iter().filter(|&is_given| is_given).count() != 1 {
            return Err(Problem::bad_request("expected one of: names and ids; prefixes and where; dedup; readmit"));
        }
        if self.dry_run && !(is_selected || self.dedup.is_some()) {
            return Err(Problem::bad_request("dry_run goes with prefixes and where, or with dedup"));
        }
        if self.keep_out && !(is_listed || is_selected) {
            return Err(Problem::bad_request("keep_out goes with names and ids, or with prefixes and where"));
        }
        if self.names.len() + self.ids.len() + self.readmit.len() > MOST {
            let detail = format!("at most {MOST} names and ids at once");
            let hint = "divide them among several requests, or send lines {\"document\": NAME} as application/x-ndjson";
            return Err(Problem::bad_request(detail).hint(hint));
        }
        Ok(())
    }
}

/// Selects the contents to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct KeptOutQuery {
    /// The digest to start from: `next` of the previous page.
    from: String,
}

/// A page of contents that are kept out, in order of their digests.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptOutPage {
    /// At most 1000 contents.
    #[schema(schema_with = kept_out_contents)]
    kept_out: Vec<KeptOut>,
    /// `from` of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Lists the contents of documents that were removed for good.
#[utoipa::path(get, path = "/v1/kept-out", tag = "documents", params(KeptOutQuery),
    responses((status = 200, description = "A page", body = KeptOutPage),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn list_kept_out(
    State(app): State<Arc<App>>,
    Params(asked): Params<KeptOutQuery>,
) -> Answer<Json<KeptOutPage>> {
    const PAGE: usize = 1000;
    let from = match &*asked.from {
        "" => [0; 16],
        digits => digest_of(digits).ok_or_else(|| Problem::bad_request("expected 32 hexadecimal digits as from"))?,
    };
    let database = app.reader().ok_or_else(Problem::ending)?;
    let page = app.work.run(move |_| {
        let mut kept_out = database.kept_out_from(&from, PAGE + 1)?;
        let next = kept_out.get(PAGE).map(|content| format!("{:032x}", u128::from_be_bytes(content.digest)));
        kept_out.truncate(PAGE);
        Ok(KeptOutPage { kept_out, next })
    });
    page.await.map(Json)
}

/// The digest of these digits.
fn digest_of(digits: &str) -> Option<[u8; 16]> {
    let is_digest = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u128::from_str_radix(digits, 16).ok().filter(|_| is_digest).map(u128::to_be_bytes)
}
