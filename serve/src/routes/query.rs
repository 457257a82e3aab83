//! Query: finds the stored documents that share text with a document.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use fpdb::report::{HtmlAnswers, HtmlOptions};
use fpdb::{Database, DocId, Error, QueryAnswer, QueryOptions, QuerySource, ReadOptions, StopToken, Task};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tempfile::{SpooledData, SpooledTempFile};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};

use super::jobs::lines_of;
use super::json;
use super::request::{HeldBody, MOST_JSON, Params, media_type, parse, read_body, read_options};
use crate::app::App;
use crate::problem::{Answer, Problem};
use crate::room::Room;

/// Number of files of a form that are answered together.
const FILES_AT_A_TIME: usize = 16;

/// Maximum bytes of a form's answers in memory. Longer answers go to a temporary file.
const IN_MEMORY: usize = 1 << 20;

/// A query. One of `text`, `document` and `id` is needed.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct QueryRequest {
    /// A text.
    text: Option<String>,
    /// The name of a stored document.
    document: Option<String>,
    /// The number of a stored document.
    id: Option<u32>,
    /// The name of the text in the answer. Its extension does not set the format.
    name: String,
    /// The fields of `QueryOptions` of the library, by their names. Missing fields have their defaults.
    #[schema(value_type = Object)]
    options: Option<Box<RawValue>>,
}

/// The parameters for a body that is not JSON.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RawQuery {
    /// The name of the document, whose ending may tell its format.
    name: String,
    /// The options of the query, as JSON.
    options: Option<String>,
}

/// Finds the stored documents that share text with a document.
///
/// The body is JSON, a document as it is (any other media type but application/x-www-form-urlencoded; `name`
/// in the address), or several as multipart/form-data. A query in JSON needs its media type: without it the
/// status is 415. The answer is the program's JSON (`fpdb.query/1`); for several documents it has a line for
/// each. If a document cannot be read, its line is a problem.
#[utoipa::path(post, path = "/v1/query", tag = "query", params(RawQuery),
    request_body(content((QueryRequest = "application/json"), (Vec<u8> = "application/octet-stream"), (String = "text/plain"), (Vec<u8> = "multipart/form-data"))),
    responses((status = 200, description = "The answer; of a form lines, each of this schema",
        content((ref("#/components/schemas/fpdb.query-1") = "application/json"), (ref("#/components/schemas/QueryLine") = "application/x-ndjson"))),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn query(
    State(app): State<Arc<App>>,
    Params(raw): Params<RawQuery>,
    request: Request,
) -> Answer<Response> {
    let database = app.reader().ok_or_else(Problem::ending)?;
    let sent = Sent::read(&app, raw, request).await?;
    let (shared, is_several) = (Arc::clone(&app), sent.is_several());
    let lines = app.work.run(move |stop| sent.parse(&shared)?.answer(&database, stop)).await?;
    let media_type = if is_several { "application/x-ndjson" } else { "application/json" };
    match lines.into_inner() {
        SpooledData::InMemory(lines) => Ok(([(header::CONTENT_TYPE, media_type)], lines.into_inner()).into_response()),
        // Only the lines of a form go to a file.
        SpooledData::OnDisk(file) => lines_of(Arc::new(file)),
    }
}

/// A report: the data from which the page of a report is drawn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportView {
    /// The overview, `fpdb.report/1`.
    #[schema(value_type = Object)]
    overview: Box<RawValue>,
    /// Pairs and texts by name: deflated JSON in base64.
    #[schema(value_type = Object)]
    parts: Map<String, Value>,
}

/// Finds the same as `/v1/query`, and returns it as the data of a report with both texts side by side.
#[utoipa::path(post, path = "/v1/report", tag = "query", params(RawQuery),
    request_body(content((QueryRequest = "application/json"), (Vec<u8> = "application/octet-stream"), (String = "text/plain"), (Vec<u8> = "multipart/form-data"))),
    responses((status = 200, description = "The data of a report", body = ReportView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn report(
    State(app): State<Arc<App>>,
    Params(raw): Params<RawQuery>,
    request: Request,
) -> Answer<Response> {
    let database = app.reader().ok_or_else(Problem::ending)?;
    let sent = Sent::read(&app, raw, request).await?;
    let shared = Arc::clone(&app);
    let name = app.options.db.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let report = move |stop: &StopToken| {
        let queried = sent.parse(&shared)?.query_for_report(&database, stop)?;
        json(&queried.report(&database, name, stop)?)
    };
    app.work.run(report).await
}

/// The media types of a query's body.
const KINDS: &str = "application/json for a query, application/octet-stream or text/plain for a document as it is, or multipart/form-data";

/// True if a body is a query in JSON. Some clients send a query without its media type. An answer that treats
/// the JSON of this query as text would mislead.
fn is_query(body: &[u8]) -> bool {
    serde_json::from_slice(body)
        .is_ok_and(|asked: QueryRequest| asked.text.is_some() || asked.document.is_some() || asked.id.is_some())
}

/// A request as it was sent.
pub(super) struct Sent {
    raw: RawQuery,
    headers: HeaderMap,
    media_type: String,
    body: HeldBody,
}

/// The queries of a request, and their options.
pub(super) struct Asked {
    sources: Vec<QuerySource>,
    options: QueryOptions,
    is_several: bool,
    /// Maximum number of matches of a report.
    most: usize,
    /// The room of the request's body, from which the sources were made.
    _room: Room,
}

impl Sent {
    pub(super) async fn read(app: &Arc<App>, raw: RawQuery, request: Request) -> Answer<Self> {
        let media_type = media_type(request.headers());
        let is_several = media_type == "multipart/form-data";
        if !raw.name.is_empty() && (is_several || media_type == "application/json") {
            return Err(Problem::bad_request(
                "the parameter name is only for a body that is the document itself: in JSON name is a field, and in a form each file has its own",
            ));
        }
        let headers = request.headers().clone();
        Ok(Self { raw, headers, media_type, body: read_body(app, request).await? })
    }

    /// True for a form, of several files.
    fn is_several(&self) -> bool {
        self.media_type == "multipart/form-data"
    }

    /// Reads the queries and options, on a thread that may block.
    pub(super) fn parse(self, app: &App) -> Answer<Asked> {
        let is_several = self.is_several();
        let Self { raw, headers, media_type, body: HeldBody { bytes, room } } = self;
        let from_address = raw.options.as_deref().map(|json| read_given(json.as_bytes())).transpose()?;
        let (sources, given) = match media_type.as_str() {
            // Clients such as `curl -d` send this media type if the user names none.
            "application/x-www-form-urlencoded" => return Err(Problem::media_type(KINDS)),
            "" if bytes.is_empty() => return Err(Problem::media_type(KINDS)),
            "" | "text/plain" if is_query(&bytes) => return Err(Problem::media_type(KINDS)),
            "application/json" => {
                let QueryRequest { text, document, id, name, options } = parse(&bytes)?;
                let source = match (text, document, id) {
                    (Some(text), None, None) => QuerySource::Text { name, text },
                    (None, Some(document), None) => QuerySource::Stored(document),
                    (None, None, Some(id)) => QuerySource::Number(DocId(id)),
                    _ => return Err(Problem::bad_request("expected one of text, document and id")),
                };
                (vec![source], options.map(|options| read_given(options.get().as_bytes())).transpose()?)
            }
            "multipart/form-data" => Handle::current().block_on(multipart(headers, bytes))?,
            _ => (vec![QuerySource::Bytes { name: raw.name, bytes }], None),
        };
        if given.is_some() && from_address.is_some() {
            return Err(Problem::bad_request("options stand in the body and in the address: leave one of them out"));
        }
        let given = given.or(from_address).unwrap_or_else(|| Value::Object(Map::new()));
        let most = app.options.max_results;
        let defaults = QueryOptions::default();
        let top = defaults.top.map(|top| top.min(most));
        let options: QueryOptions = fpdb::options_from_json(&defaults.top(top), given)?;
        if options.top.is_none_or(|top| top > most) {
            return Err(Problem::bad_request(format!("top is at most {most} here; 0 and null mean all matches")));
        }
        let read = read_options(app, options.read.clone())?;
        Ok(Asked { sources, options: options.read(read), is_several, most, _room: room })
    }
}

impl Asked {
    /// Answers the queries, in lines of JSON.
    fn answer(self, database: &Database, stop: &StopToken) -> Answer<SpooledTempFile> {
        let mut lines = SpooledTempFile::new(if self.is_several { IN_MEMORY } else { usize::MAX });
        for sources in self.sources.chunks(FILES_AT_A_TIME) {
            let answers = database.query_each(sources, &self.options, &Task::new().stop(stop))?;
            for (source, answer) in sources.iter().zip(answers) {
                let line = match answer {
                    Ok(answer) => serde_json::to_vec(&answer),
                    Err(error) if self.is_several => {
                        let name = name_of(source);
                        serde_json::to_vec(&serde_json::json!({"name": name, "problem": Problem::from(error)}))
                    }
                    Err(error) => return Err(error.into()),
                };
                let written = line.map_err(std::io::Error::from).and_then(|mut line| {
                    line.push(b'\n');
                    lines.write_all(&line)
                });
                written.map_err(Problem::of_temporary_file)?;
            }
        }
        Ok(lines)
    }

    /// Answers the queries for a report. Names of documents become numbers, since a later commit may give a
    /// name to another document. The name of a stored submission does not change.
    fn query_for_report(mut self, database: &Database, stop: &StopToken) -> Answer<Queried> {
        for source in &mut self.sources {
            if let QuerySource::Stored(name) = source {
                match database.newest_named(name) {
                    Err(Error::NoSuchDocument { .. }) if self.options.join_submissions => {}
                    document => *source = QuerySource::Number(document?.id),
                }
            }
        }
        let joining = self.options.joining.most(self.options.joining.most.or(Some(HtmlOptions::MAX_PASSAGES)));
        let options = self.options.joining(joining);
        let (mut answers, mut matches) = (Vec::new(), 0);
        for sources in self.sources.chunks(FILES_AT_A_TIME) {
            for answer in database.query_each(sources, &options, &Task::new().stop(stop))? {
                let answer = answer?;
                matches += answer.matches.len();
                answers.push(answer);
            }
            if matches > self.most {
                let detail = format!("a report has at most {} matches here, of all its files together", self.most);
                return Err(Problem::bad_request(detail).hint("send fewer files, or ask for a smaller top"));
            }
        }
        let answered = self.sources.into_iter().zip(answers).collect();
        Ok(Queried { answered, read: options.read, _room: self._room })
    }
}

/// Answered queries for a report.
struct Queried {
    answered: Vec<(QuerySource, QueryAnswer)>,
    read: ReadOptions,
    _room: Room,
}

impl Queried {
    /// Makes the report. It reads the texts of documents, so each must still be stored at the end: a document
    /// that is replaced gets another number. If a document is no longer stored, the request is refused.
    fn report(self, database: &Database, name: String, stop: &StopToken) -> Answer<ReportView> {
        let mut shown = BTreeSet::new();
        for (source, answer) in &self.answered {
            if let QuerySource::Number(id) = source {
                shown.insert(*id);
            }
            for found in &answer.matches {
                let of_files = found.files.iter().map(|file| file.id);
                shown.extend(if found.files.is_empty() { vec![found.id] } else { of_files.collect() });
            }
        }
        let html = HtmlOptions::default().database(Some(name)).read(self.read);
        let answers = HtmlAnswers::Queries { database, answers: self.answered };
        let made = fpdb::report::report_data(answers, &html, &Task::new().stop(stop));
        for id in shown {
            match database.document(id) {
                Err(Error::NoSuchNumber { .. }) => return Err(Problem::changed()),
                looked_up => drop(looked_up?),
            }
        }
        let data = made?;
        let overview = RawValue::from_string(data.overview).map_err(|error| Problem::internal(error.to_string()))?;
        let parts = data.parts.into_iter().map(|(name, part)| (name, part.into())).collect();
        Ok(ReportView { overview, parts })
    }
}

fn name_of(source: &QuerySource) -> &str {
    match source {
        QuerySource::Bytes { name, .. } | QuerySource::Text { name, .. } | QuerySource::Stored(name) => name,
        _ => "",
    }
}

/// Reads the options of a query.
fn read_given(json: &[u8]) -> Answer<Value> {
    if json.len() > MOST_JSON {
        return Err(Problem::bad_request(format!("options have at most {MOST_JSON} bytes")));
    }
    parse(json)
}

/// Reads a form: each file is a separate query, and the field `options` has the options.
async fn multipart(headers: HeaderMap, body: Vec<u8>) -> Answer<(Vec<QuerySource>, Option<Value>)> {
    let mut request = Request::new(Body::from(body));
    *request.headers_mut() = headers;
    let bad = |error: axum::extract::multipart::MultipartError| Problem::bad_request(error.body_text());
    // The body is already in memory, and its size was checked.
    DefaultBodyLimit::disable().apply(&mut request);
    let mut form =
        Multipart::from_request(request, &()).await.map_err(|error| Problem::bad_request(error.body_text()))?;
    let (mut sources, mut options) = (Vec::new(), None);
    while let Some(field) = form.next_field().await.map_err(bad)? {
        if field.name() == Some("options") && field.file_name().is_none() {
            options = Some(read_given(&field.bytes().await.map_err(bad)?)?);
        } else {
            let name = field.file_name().or(field.name()).unwrap_or("").to_owned();
            sources.push(QuerySource::Bytes { name, bytes: field.bytes().await.map_err(bad)?.into() });
        }
    }
    if sources.is_empty() {
        return Err(Problem::bad_request("the form has no file"));
    }
    Ok((sources, options))
}

#[cfg(test)]
mod tests {
    use fpdb::{Document, Profile};

    use super::*;

    #[test]
    fn a_report_shows_the_texts_that_were_compared_or_is_refused() {
        let text = "When in the Course of human events, it becomes necessary for one people to dissolve";
        let folder = tempfile::tempdir().unwrap();
        let writer = Database::create(folder.path().join("db"), Profile::PROSE).unwrap();
        let put = |name: &str, text: &str| writer.ingest([Document::new(name, text.to_owned())]).unwrap();
        let (reader, stop) = (writer.reader(), StopToken::new());
        let query_with = |source: QuerySource, options: QueryOptions| {
            let asked = Asked { sources: vec![source], options, is_several: false, most: 1000, _room: Room::default() };
            asked.query_for_report(&reader, &stop).ok().unwrap()
        };
        let query = |source: QuerySource| query_with(source, QueryOptions::default());
        let report = |queried: Queried| queried.report(&reader, "db".into(), &stop);
        let by_text = || QuerySource::Text { name: "q".into(), text: text.into() };
        for (source, changed) in
            [(QuerySource::Stored("a".into()), "a"), (QuerySource::Stored("a".into()), "b"), (by_text(), "b")]
        {
            put("a", &format!("a: {text}"));
            put("b", &format!("b: {text}"));
            let queried = query(source.clone());
            put("c", "another");
            assert!(report(queried).is_ok());
            let queried = query(source);
            put(changed, &format!("a longer beginning, then: {text}"));
            assert_eq!(report(queried).unwrap_err().status().as_u16(), 503, "{changed}");
        }
        // A document of a submission that is itself the query: the report does not show the old text of this
        // document.
        let own = "the words of the submission itself";
        put("s/1", &format!("{text} {own}"));
        let options = QueryOptions::default().submission_by(Some(".".into())).join_submissions(true);
        let queried = query_with(QuerySource::Stored("s".into()), options);
        put("s/1", &format!("another {text}"));
        let view = report(queried).unwrap();
        assert!(view.overview.get().contains("\"s/1\""), "{}", view.overview);
    }
}
