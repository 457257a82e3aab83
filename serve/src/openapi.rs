//! OpenAPI: the description of the routes, made from the handlers. The schemas of the library's answers are
//! the published ones (`docs/schemas`): `fpdb.query-1` is the schema of `fpdb.query/1`. OpenAPI 3.1 accepts
//! JSON Schema unchanged.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header;
use axum::response::IntoResponse;
use fpdb::json_schema;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa::openapi::schema::{Array, Ref, Schema};

use crate::jobs::{JobKind, JobState, JobView};
use crate::problem::{Answer, Problem, ProblemDetails};
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
        routes::remove_many,
        routes::list_kept_out,
        routes::ask_pairs,
        routes::ask_dedup,
        routes::ask_repeats,
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
        describe_routes
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
        routes::PutFacts,
        routes::BulkLine,
        routes::RemoveRequest,
        routes::KeptOutPage,
        routes::JobRequest,
        routes::JobList,
        routes::BackupList,
        routes::SessionView
    ))
)]
struct Api;

/// The prefix of a reference to a schema.
const PLACE: &str = "#/components/schemas/";

/// The schemas of the library's answers that the service returns, as components.
fn answers() -> Map<String, Value> {
    use fpdb::maintenance::{Backup, Compaction, DatabaseStats, ListedBackup};
    use fpdb::{DocumentInfo, IngestSummary, QueryAnswer, Removal, dedup, pairs, repeats};
    let lines = [
        json_schema::of::<pairs::Pair>(),
        json_schema::of::<dedup::Removable>(),
        json_schema::of::<dedup::Undecided>(),
        json_schema::of::<dedup::Superseded>(),
        json_schema::of::<dedup::DedupSummary>(),
        json_schema::of::<repeats::Repeat>(),
        json_schema::of::<repeats::Uncompared>(),
        json_schema::of::<repeats::RepeatSummary>(),
        json_schema::of::<Compaction>(),
        json_schema::of::<Backup>(),
    ];
    let others = [
        json_schema::of::<QueryAnswer>(),
        json_schema::of::<DocumentInfo>(),
        json_schema::of::<IngestSummary>(),
        json_schema::of::<Removal>(),
        json_schema::of::<DatabaseStats>(),
        json_schema::of::<ListedBackup>(),
    ];
    let refer = |name: &str| json!({"$ref": format!("{PLACE}{}", name.replace('/', "-"))});
    let result: Vec<Value> = lines.iter().map(|(name, _)| refer(name)).collect();
    let mut components = Map::new();
    for (name, mut schema) in lines.into_iter().chain(others) {
        place_definitions(&mut schema);
        if let Value::Object(schema) = &mut schema {
            schema.remove("$schema");
            if let Some(Value::Object(definitions)) = schema.remove("$defs") {
                components.extend(definitions);
            }
        }
        components.insert(name.replace('/', "-"), schema);
    }
    // Answers of the library with additions of the service.
    let unreadable = json!({
        "type": "object",
        "description": "A document that could not be read",
        "required": ["name", "problem"],
        "properties": {"name": {"type": "string"}, "problem": refer("Problem")}
    });
    let text = json!({
        "text": {"type": ["string", "null"], "description": "The text, if it was asked for; null if it can no longer be had"},
        "text_encoding": {"type": ["string", "null"], "description": "The encoding of the text that offsets of answers count"},
        "text_base64": {"type": "string", "description": "The bytes of the text, if they are not UTF-8: the text has U+FFFD for some of them"}
    });
    components.insert("ResultLine".into(), json!({"anyOf": result}));
    components.insert("QueryLine".into(), json!({"anyOf": [refer("fpdb.query/1"), unreadable]}));
    components.insert("ShownDocument".into(), json!({"allOf": [refer("fpdb.document/1")], "properties": text}));
    components
}

/// Rewrites references to definitions within a schema as references to components of the same names.
fn place_definitions(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(place) if name == "$ref" => *place = place.replace("#/$defs/", PLACE),
                    value => place_definitions(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(place_definitions),
        _ => {}
    }
}

/// The schema of a list of documents.
pub(crate) fn documents() -> Schema {
    Array::new(Ref::from_schema_name("fpdb.document-1")).into()
}

/// The schema of a list of backups.
pub(crate) fn listed_backups() -> Schema {
    Array::new(Ref::from_schema_name("fpdb.backup.listed-1")).into()
}

/// The schema of a list of contents that are kept out.
pub(crate) fn kept_out_contents() -> Schema {
    Array::new(Ref::from_schema_name("KeptOut")).into()
}

/// Shows this description.
#[utoipa::path(get, path = "/openapi.json", tag = "care",
    responses((status = 200, description = "The description, in the form of OpenAPI", body = Object)))]
pub(crate) async fn describe_routes() -> Answer<impl IntoResponse> {
    let described = DESCRIPTION.as_ref().map_err(|error| Problem::internal(error.clone()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], described.clone()))
}

/// The description. It is made only once, because anybody may request it, as often as they like.
static DESCRIPTION: LazyLock<Result<Bytes, String>> =
    LazyLock::new(|| describe().map(|described| described.to_string().into()).map_err(|error| error.to_string()));

fn describe() -> serde_json::Result<Value> {
    let mut described = serde_json::to_value(Api::openapi())?;
    if let Some(Value::Object(components)) = described.pointer_mut("/components/schemas") {
        components.extend(answers());
    }
    Ok(described)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All references in a description.
    fn references(within: &Value, found: &mut Vec<String>) {
        match within {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_schema_is_there_once_and_is_used() {
        let described = describe().unwrap();
        let own = serde_json::to_value(Api::openapi()).unwrap();
        let own = own["components"]["schemas"].as_object().unwrap();
        // All answers have the same definition under one name, and no schema of the service has this name.
        let components = answers();
        assert!(!components.keys().any(|name| own.contains_key(name)), "{:?}", components.keys());
        for (_, mut schema) in json_schema::all() {
            place_definitions(&mut schema);
            for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
                assert!(components.get(name).is_none_or(|component| component == definition), "{name}");
            }
        }
        let operations =
            described["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let ids: Vec<&Value> = operations.map(|operation| &operation["operationId"]).collect();
        let distinct: std::collections::HashSet<&Value> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
        let mut found = Vec::new();
        references(&described, &mut found);
        for place in &found {
            assert!(described.pointer(place.trim_start_matches('#')).is_some(), "{place} leads nowhere");
        }
        for name in described["components"]["schemas"].as_object().unwrap().keys() {
            assert!(found.contains(&format!("{PLACE}{name}")), "nothing has the schema {name}");
        }
    }
}
