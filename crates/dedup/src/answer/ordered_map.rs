//! Ordered map: serialises names and values as a JSON object, in their order, for `#[serde(with = "...")]`.

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
