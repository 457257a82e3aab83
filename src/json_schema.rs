//! JSON schema: describes each kind of line of JSON to programs in other languages. The schemas are made from
//! the answer types and their comments. The files are in `docs/schemas`. This module needs the feature
//! `json-schema`.

use fpdb_host::schema::Answer;
use fpdb_store::{Backup, ListedBackup, Verification};
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::archive::{apply, dedup, pairs, repeats};
use crate::database::{Compaction, DatabaseStats, DocumentInfo, Removal, Renaming};
use crate::ingest::IngestSummary;
use crate::query::{CorpusAnswer, QueryAnswer};
use crate::staging::Assembly;

/// The name and the JSON schema of each answer of the library.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        of::<IngestSummary>(),
        of::<QueryAnswer>(),
        of::<CorpusAnswer>(),
        of::<pairs::Pair>(),
        of::<dedup::Removable>(),
        of::<dedup::Undecided>(),
        of::<dedup::Superseded>(),
        of::<dedup::DedupSummary>(),
        of::<dedup::DedupPlan>(),
        of::<repeats::Repeat>(),
        of::<repeats::Uncompared>(),
        of::<repeats::RepeatSummary>(),
        of::<apply::Applied>(),
        of::<apply::ApplySummary>(),
        of::<apply::Lost>(),
        of::<apply::ProofSummary>(),
        of::<DocumentInfo>(),
        of::<DatabaseStats>(),
        of::<Removal>(),
        of::<Renaming>(),
        of::<Compaction>(),
        of::<Verification>(),
        of::<Backup>(),
        of::<ListedBackup>(),
        of::<Assembly>(),
    ]
}

/// The name of an answer, and its JSON schema (draft 2020-12). Unknown fields are valid, because later
/// versions may add fields.
#[must_use]
pub fn of<A: Answer + JsonSchema>() -> (&'static str, Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(Plain);
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.insert("title".into(), A::SCHEMA.into());
    (A::SCHEMA, schema.to_value())
}

/// Adapts comments to readers without rustdoc: replaces links by their text, and joins lines. Allows unknown
/// fields, even for types that refuse them when they are read back.
#[derive(Clone, Debug)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = without_links(text).split_whitespace().collect::<Vec<_>>().join(" ");
        }
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            schema.remove("additionalProperties");
        }
        transform_subschemas(self, schema);
    }
}

/// The text without links of rustdoc: x for `[x](crate::y)`, and for `[x]` if x is in backticks.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let Some((inside, behind)) = after.split_once(']') else {
            plain.push('[');
            rest = after;
            break;
        };
        let target = behind.strip_prefix("(crate::").and_then(|target| target.split_once(')'));
        let named = inside.starts_with('`') && inside.ends_with('`');
        let (text, behind) = match target {
            Some((_, behind)) => (inside, behind),
            None if named => (inside, behind),
            None => ("[", after),
        };
        plain.push_str(text);
        rest = behind;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_no_links() {
        let text = "It [has](crate::A::b) [`A::b`](crate::A::b), or [`C`]; [0, 1] too, and [x](y) [";
        assert_eq!(without_links(text), "It has `A::b`, or `C`; [0, 1] too, and [x](y) [");
    }

    #[test]
    fn every_field_is_described() {
        for (name, schema) in all() {
            assert_eq!(schema["properties"]["schema"]["const"], name);
            assert_ne!(schema["additionalProperties"], false, "{name}");
            for (field, described) in schema["properties"].as_object().unwrap() {
                assert!(field == "schema" || described["description"].is_string(), "{name}: {field}");
            }
        }
    }
}
