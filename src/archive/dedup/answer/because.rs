//! Because: why a document is removable.

use serde::{Deserialize, Serialize};

/// The reason why a document is removable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// It has the same bytes as the survivor.
    Identical,
    /// It has the same text as the survivor, but other bytes.
    #[serde(rename = "same-text")]
    SameText,
    /// The survivor contains it.
    Contained,
    /// The survivor resembles it.
    Resembles,
}

impl Because {
    /// The name in JSON.
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

/// Serialises names and values as a JSON object, in their order, for `#[serde(with = "...")]`.
pub mod ordered_map {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes the fields as an object, in their order.
    pub fn serialize<S: Serializer>(fields: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(fields.iter().map(|(name, value)| (name, value)))
    }

    /// Reads the fields of an object, in their order.
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
