//! Documents: lists, shows, adds and removes them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fpdb::{
    DocId, Document, DocumentInfo, DocumentText, Error, IngestOptions, IngestSummary, OnChange, Outcome, ReadAs,
    ReadOptions, Removal, StopToken,
};
use fpdb_host::json_options::message_in_line;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::json;
use super::request::{HeldBody, Name, Params, read_change, read_options};
use crate::app::App;
use crate::openapi::documents;
use crate::problem::{Answer, Problem};
use crate::removing::Removing;
use crate::work::blocking;
use crate::writer::{Held, Put, Stored};

/// Number of records that are read at a time, and the maximum for one page. So a search for a rare prefix
/// takes many short requests.
const AT_A_TIME: usize = 1000;
const READ_FOR_A_PAGE: usize = 100_000;

/// Selects the documents to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Lists only documents whose names begin with this.
    prefix: String,
    /// Lists only documents whose names contain this, in upper or lower case.
    contains: String,
    /// The number of the document to start from: `next` of the previous page.
    from: u32,
    /// Maximum number of documents on the page. Default: 100; at most 1000.
    limit: usize,
}

impl Default for ListQuery {
    fn default() -> Self {
        Self { prefix: String::new(), contains: String::new(), from: 0, limit: 100 }
    }
}

/// A page of documents, in order of arrival.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DocumentPage {
    /// The documents. A page may have few or none and still not be the last.
    #[schema(schema_with = documents)]
    documents: Vec<DocumentInfo>,
    /// `from` of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
}

/// Lists documents.
#[utoipa::path(get, path = "/v1/documents", tag = "documents", params(ListQuery),
    responses((status = 200, description = "A page", body = DocumentPage),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn list(State(app): State<Arc<App>>, Params(asked): Params<ListQuery>) -> Answer<Response> {
    let database = app.reader().ok_or_else(Problem::ending)?;
    if !(1..=1000).contains(&asked.limit) {
        return Err(Problem::bad_request("limit is from 1 to 1000"));
    }
    let page = move |_: &StopToken| {
        let contains = asked.contains.to_lowercase();
        let fits = |name: &str| {
            name.starts_with(&asked.prefix) && (contains.is_empty() || name.to_lowercase().contains(&contains))
        };
        let (mut documents, mut next, mut read) = (Vec::new(), Some(asked.from), 0);
        while let Some(from) = next
            && documents.len() < asked.limit
            && read < READ_FOR_A_PAGE
        {
            let some = database.documents_from(DocId(from), AT_A_TIME)?;
            next = (some.len() == AT_A_TIME).then(|| some.last()?.id.0.checked_add(1)).flatten();
            read += some.len();
            for document in some {
                if !fits(&document.name) {
                    continue;
                }
                if documents.len() == asked.limit {
                    next = Some(document.id.0);
                    break;
                }
                documents.push(shown(document));
            }
        }
        json(&DocumentPage { documents, next })
    };
    app.work.run(page).await
}

/// The facts about a document without the path on the server from which it was read.
fn shown(mut document: DocumentInfo) -> DocumentInfo {
    document.source = None;
    document
}

/// Selects the data to show of a document.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowQuery {
    /// Also its text, and the encoding of that text. Offsets of answers refer to its bytes. If they are not
    /// UTF-8, the text has U+FFFD for some of them, and the answer also has the bytes, in base64.
    text: bool,
    /// Also the names of the documents with the same bytes.
    identical: bool,
    /// The number of the version. Default: the last version.
    id: Option<u32>,
}

/// A document, and its text if it was asked for.
#[derive(Serialize)]
pub(crate) struct ShownDocument {
    #[serde(flatten)]
    document: DocumentInfo,
    #[serde(flatten)]
    text: Option<ShownText>,
}

#[derive(Serialize)]
struct ShownText {
    text: Option<String>,
    text_encoding: Option<&'static str>,
    /// The bytes of the text, if they are not UTF-8: the text then has other bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_base64: Option<String>,
}

impl ShownText {
    fn of(text: Option<DocumentText>) -> Self {
        let text_encoding = text.as_ref().map(|text| text.encoding);
        let (text, text_base64) = match text.map(|text| String::from_utf8(text.bytes)) {
            None => (None, None),
            Some(Ok(text)) => (Some(text), None),
            Some(Err(other)) => (
                Some(String::from_utf8_lossy(other.as_bytes()).into_owned()),
                Some(BASE64_STANDARD.encode(other.as_bytes())),
            ),
        };
        Self { text, text_encoding, text_base64 }
    }
}

/// Shows a document.
#[utoipa::path(get, path = "/v1/documents/{name}", tag = "documents", params(("name" = String, Path, description = "The name, with its slashes"), ShowQuery),
    responses((status = 200, description = "The document", body = ref("#/components/schemas/ShownDocument")),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Name(name): Name,
    Params(asked): Params<ShowQuery>,
) -> Answer<Response> {
    let database = app.reader().ok_or_else(Problem::ending)?;
    let limits = app.limits.clone();
    let show = move |_: &StopToken| {
        let (mut document, text) = loop {
            let mut versions = database.documents_named(&name)?;
            versions.retain(|version| asked.id.is_none_or(|id| version.id == DocId(id)));
            let document = versions.pop().ok_or_else(|| Problem::no_document(&name))?;
            if !asked.text {
                break (document, None);
            }
            match database.text_within(document.id, &limits) {
                // A commit has replaced or removed the document in the meantime. The next search for the name
                // shows which of the two happened.
                Err(Error::NoSuchNumber { .. }) => {}
                text => break (document, Some(text?)),
            }
        };
        if asked.identical {
            document.identical_to = database.identical_to(&document)?;
        }
        json(&ShownDocument { document: shown(document), text: text.map(ShownText::of) })
    };
    app.work.run(show).await
}

/// The way in which a document is stored.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PutQuery {
    /// Metadata: a JSON object of strings.
    metadata: Option<String>,
    /// The format, as in the flag `--as`. By default it is detected from the content, then from the name.
    #[serde(rename = "as")]
    #[param(value_type = Option<String>)]
    front_end: Option<ReadAs>,
    /// The treatment of a stored document with this name and other content: replace (the default), keep or
    /// both.
    #[param(value_type = Option<String>)]
    on_change: Option<OnChange>,
    /// True if the text of the document counts in no match, like the text of a licence or a handout.
    boilerplate: bool,
}

impl PutQuery {
    fn options(&self, app: &App) -> Answer<IngestOptions> {
        let read = read_options(app, ReadOptions::default().front_end(self.front_end.unwrap_or_default()))?;
        // The text is stored, because there is no file from which it could be read again.
        let options = IngestOptions::default().store_text(true).boilerplate(self.boilerplate).read(read);
        Ok(options.on_change(self.on_change.unwrap_or_default()))
    }
}

/// A stored document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PutView {
    /// The name of the document.
    name: String,
    /// added, replaced, unchanged or kept.
    outcome: &'static str,
    /// Facts about the document; absent if it was kept.
    #[serde(flatten)]
    facts: Option<PutFacts>,
    /// Reasons why queries may not find the document, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// Facts about a stored document. A document that was kept has none.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PutFacts {
    /// The number of the document.
    #[schema(required = false)]
    id: u32,
    /// The format that it was read as.
    #[schema(required = false)]
    format: String,
    /// Number of symbols of the document. It is 0 for a document without text.
    #[schema(required = false)]
    symbols: u64,
    /// Number of fingerprints of the document.
    #[schema(required = false)]
    fingerprints: u64,
    /// Number of byte sequences that are not characters in the encoding of the document.
    #[schema(required = false)]
    undecodable: u64,
    /// Names of the first documents of the same bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    identical_to: Vec<String>,
}

impl PutView {
    fn of(name: String, Stored { outcome, document }: Stored, k: u32) -> Self {
        let outcome = match outcome {
            Outcome::Added => "added",
            Outcome::Replaced => "replaced",
            Outcome::Unchanged => "unchanged",
            Outcome::Kept => "kept",
        };
        let warnings = document.as_ref().map(|document| warnings(document, k)).unwrap_or_default();
        let facts = document.map(|document| PutFacts {
            id: document.id.0,
            format: document.format,
            symbols: document.symbols,
            fingerprints: document.fingerprints,
            undecodable: document.undecodable,
            identical_to: document.identical_to,
        });
        Self { name, outcome, facts, warnings }
    }
}

fn warnings(document: &DocumentInfo, k: u32) -> Vec<String> {
    let mut warnings = Vec::new();
    if document.symbols == 0 && document.bytes > 0 {
        warnings.push("it has no text to compare, as a scanned page: no query finds it by a part of it".into());
    } else if document.kgrams == 0 && document.bytes > 0 {
        warnings.push(format!("it is shorter than {k} symbols: only a document of the same bytes finds it"));
    }
    if document.undecodable > 0 {
        let DocumentInfo { undecodable, encoding, .. } = document;
        warnings.push(format!("{undecodable} of its byte sequences are no characters in {encoding}"));
    }
    warnings
}

/// Maximum length of a name in bytes, the same as of a path. Longer names do not fit into an address.
const LONGEST_NAME: usize = 4096;

/// Checks the name of a new document. The error states the fault. Control characters would break lines of
/// lists and logs. Documents from files may still have such names.
fn check_name(name: &str) -> Result<(), String> {
    if name.len() > LONGEST_NAME {
        return Err(format!("the name has {} bytes; a name has at most {LONGEST_NAME}", name.len()));
    }
    match name.chars().find(|c| c.is_control()) {
        Some(control) => Err(format!("the name has the control character U+{:04X}", u32::from(control))),
        None => Ok(()),
    }
}

/// Stores a document. The answer comes after its commit. A container (zip, JSON lines) is stored as one
/// document, or refused.
#[utoipa::path(put, path = "/v1/documents/{name}", tag = "documents", params(("name" = String, Path, description = "The name, with its slashes"), PutQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The bytes of the document"),
    responses((status = 200, description = "It was stored before, or has replaced another", body = PutView),
        (status = 201, description = "It was added", body = PutView),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Name(name): Name,
    Params(asked): Params<PutQuery>,
    request: Request,
) -> Answer<(StatusCode, Json<PutView>)> {
    let options = asked.options(&app)?;
    let metadata = asked.metadata.as_deref().map(serde_json::from_str::<Metadata>).transpose();
    let metadata = metadata.map_err(|error| {
        Problem::bad_request(format!("the parameter metadata is not an object of strings: {error}"))
    })?;
    check_name(&name).map_err(Problem::bad_request)?;
    let k = app.reader().ok_or_else(Problem::ending)?.profile().k();
    let (body, place) = read_change(&app, request).await?;
    let metadata = metadata.unwrap_or_default().0.into_iter().collect();
    let put = Put { name: name.clone(), bytes: body.bytes, metadata, options };
    let stored = app.writer.put(put, Held::new(place, body.room)).await?;
    let status = if stored.outcome == Outcome::Added { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(PutView::of(name, stored, k))))
}

/// The fields of metadata. A value that is not a string is refused while it is read, before it takes memory.
#[derive(Debug, Default)]
struct Metadata(BTreeMap<String, String>);

impl<'a> Deserialize<'a> for Metadata {
    fn deserialize<D: Deserializer<'a>>(given: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'a> Visitor<'a> for Fields {
            type Value = Metadata;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'a>>(self, mut given: A) -> Result<Metadata, A::Error> {
                let mut fields = BTreeMap::new();
                while let Some(name) = given.next_key::<String>()? {
                    let value = given.next_value();
                    let value = value.map_err(|error| A::Error::custom(format!("the metadata {name}: {error}")))?;
                    fields.insert(name, value);
                }
                Ok(Metadata(fields))
            }
        }

        given.deserialize_map(Fields)
    }
}

/// One line of a request that stores many documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BulkLine {
    /// The name of the document.
    name: String,
    /// Its text.
    text: String,
    /// Names and values that are kept with it.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: Metadata,
}

/// Reads the documents of a body, line by line.
pub(super) struct BulkLines<B> {
    body: B,
    at: usize,
    line: u32,
}

impl<B: AsRef<[u8]>> BulkLines<B> {
    pub(super) fn of(body: B) -> Self {
        // Some editors write a byte order mark.
        let at = if body.as_ref().starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { body, at, line: 0 }
    }
}

impl<B: AsRef<[u8]>> Iterator for BulkLines<B> {
    type Item = Answer<Document>;

    fn next(&mut self) -> Option<Answer<Document>> {
        loop {
            let rest = self.body.as_ref().get(self.at..).filter(|rest| !rest.is_empty())?;
            let line = rest.split(|&byte| byte == b'\n').next()?;
            self.at += line.len() + 1;
            self.line += 1;
            if !line.trim_ascii().is_empty() {
                return Some(read_line(self.line, line));
            }
        }
    }
}

fn read_line(number: u32, line: &[u8]) -> Answer<Document> {
    let BulkLine { name, text, metadata } =
        serde_json::from_slice(line).map_err(|error| not_a_document(number, &error))?;
    check_name(&name).map_err(|wrong| Problem::bad_request(format!("line {number}: {wrong}")))?;
    let document = Document::new(name, text.into_bytes()).as_text();
    Ok(metadata.0.into_iter().fold(document, |document, (name, value)| document.with(name, value)))
}

/// Stores many documents, a JSON object a line. The answer, the summary of an ingest, comes after the commit
/// of all. Many documents take several commits. After a problem, documents that were committed stay, and the
/// request may be repeated.
#[utoipa::path(put, path = "/v1/documents", tag = "documents", params(PutQuery),
    request_body(content = BulkLine, content_type = "application/x-ndjson", description = "A document a line"),
    responses((status = 200, description = "The summary; documents that could not be read are listed in it", body = ref("#/components/schemas/fpdb.ingest-1")),
        (status = "default", description = "A problem; documents that were committed before it stay", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn bulk(
    State(app): State<Arc<App>>,
    Params(asked): Params<PutQuery>,
    request: Request,
) -> Answer<Json<IngestSummary>> {
    if asked.metadata.is_some() {
        return Err(Problem::bad_request("metadata stand in the lines of the body"));
    }
    let options = asked.options(&app)?;
    let (HeldBody { bytes, room }, place) = read_change(&app, request).await?;
    let held = Held::new(place, room);
    // The request keeps its place until all lines are checked, even if the client has gone.
    let check = move || BulkLines::of(&bytes).try_for_each(|document| document.map(drop)).map(|()| (bytes, held));
    let (bytes, held) = blocking(check).await?;
    app.writer.bulk(Box::new(BulkLines::of(bytes).flatten()), options, held).await.map(Json)
}

/// Tells the place of an error in the body. `serde_json` counts lines within the one line that it was given.
fn not_a_document(line: u32, error: &serde_json::Error) -> Problem {
    Problem::bad_request(format!("line {line}, {}", message_in_line(error)))
        .hint("each line is {\"name\": …, \"text\": …, \"metadata\": {…}}")
}

/// The versions of a document to remove.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    /// The number of the only version to remove. Default: all versions.
    id: Option<u32>,
}

/// Removes a document, all versions of it or one.
#[utoipa::path(delete, path = "/v1/documents/{name}", tag = "documents", params(("name" = String, Path, description = "The name, with its slashes"), RemoveQuery),
    responses((status = 200, description = "The removal", body = ref("#/components/schemas/fpdb.rm-1")),
        (status = "default", description = "A problem", content_type = "application/problem+json", body = Problem)))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Name(name): Name,
    Params(asked): Params<RemoveQuery>,
) -> Answer<Json<Removal>> {
    let held = Held::new(app.writer.enter()?, None);
    let removing = Removing::Document(name.clone(), asked.id.map(DocId));
    match app.writer.remove(removing, app.work.stop.child(), held).await? {
        Removal { removed: 0, .. } => Err(Problem::no_document(&name)),
        removal => Ok(Json(removal)),
    }
}
