//! JSON text: a string of JSON as bytes.

use std::fmt;

use serde::Deserializer;
use serde::de::Visitor;

/// A string or null. It is stored as bytes, because JSON may contain unpaired surrogates, which UTF-8 cannot
/// represent.
pub struct JsonText(pub Option<Vec<u8>>);

impl<'de> serde::Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_option(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Option<Vec<u8>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Self::Value, D::Error> {
        from.deserialize_bytes(self)
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Self::Value, E> {
        Ok(Some(bytes.to_vec()))
    }
}
