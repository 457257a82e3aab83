//! Duplicate: a document that another one makes removable, and why. Dedup lists such documents, an ingest can leave them out.

use serde::{Deserialize, Serialize};

use crate::schema::{Answer, Schema};
use fpdb_kernel::document::DocId;

/// Why a document is removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// Its bytes are the survivor's.
    Identical,
    /// Its text is the survivor's, its bytes are others.
    #[serde(rename = "same-text")]
    SameText,
    /// The survivor contains it.
    Contained,
    /// The survivor resembles it.
    Resembles,
}

impl Because {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::SameText => "same-text",
            Self::Contained => "contained",
            Self::Resembles => "resembles",
        }
    }
}

/// A document that an ingest has left out, because a stored one justifies that. Also its JSON (`fpdb.ingest.duplicate/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Duplicate {
    #[doc(hidden)]
    pub schema: Schema<Self>,
    /// The document.
    pub remove: String,
    /// The stored document.
    pub keep: String,
    /// Its number.
    pub keep_id: DocId,
    /// Why.
    pub because: Because,
    /// The resemblance, or the containment of the document in the stored one.
    pub score: f64,
    /// Hashes both hold.
    pub shared: u64,
    /// The longest stretch of the document, in symbols, of which the stored one holds no fingerprint.
    pub novel: u64,
    /// Bytes of the document.
    pub bytes: u64,
    /// The metadata of the document; a field named `id` comes first.
    #[serde(with = "ordered_map")]
    pub metadata: Vec<(String, String)>,
}

impl Answer for Duplicate {
    const SCHEMA: &'static str = "fpdb.ingest.duplicate/1";
}

/// Names and values as a JSON object that keeps their order.
pub mod ordered_map {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(fields: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, String)>, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(String, String)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}
