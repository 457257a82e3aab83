//! Schema: the name and version of an answer's JSON form, such as `fpdb.query/1`.
//!
//! Each answer of the library is one type, in the module that computes it: a query's in `query`, a
//! verification's in `store`. `serde` writes this type as the program's JSON, one object per line. There is
//! no second type for JSON. So an answer follows these rules:
//!
//! * The fields have the names and the order of the JSON. The first is `schema: Schema<Self>`.
//! * The type is `#[non_exhaustive]`, because fields may be added.
//! * The JSON schema in `docs/schemas` is made from the type, with the comments of its fields (feature
//!   `json-schema`).
//! * A field that is omitted from JSON when empty has `#[serde(default, skip_serializing_if = "...")]`. A
//!   field only for users of the library has `#[serde(skip)]`.
//!
//! Text, CSV and HTML are renderings of the same type. The program (`cli/src/render`) and the report make
//! them.

use std::fmt;
use std::marker::PhantomData;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An answer that is written as a line of JSON.
pub trait Answer {
    /// The name and version of the JSON form.
    const SCHEMA: &'static str;
}

/// The first field of an answer. It takes no memory, because its value follows from the answer's type.
/// Reading any other value fails.
pub struct Schema<A>(PhantomData<fn() -> A>);

impl<A> Schema<A> {
    /// The schema of the answer type `A`.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<A> Default for Schema<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> Clone for Schema<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Schema<A> {}

impl<A> PartialEq for Schema<A> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<A> Eq for Schema<A> {}

impl<A: Answer> fmt::Debug for Schema<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(A::SCHEMA)
    }
}

impl<A: Answer> Serialize for Schema<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(A::SCHEMA)
    }
}

impl<'de, A: Answer> Deserialize<'de> for Schema<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let schema = String::deserialize(deserializer)?;
        if schema == A::SCHEMA {
            Ok(Self::new())
        } else {
            Err(D::Error::custom(format!("schema {schema} where {} was expected", A::SCHEMA)))
        }
    }
}

/// The name, as the only value that the field has.
#[cfg(feature = "json-schema")]
impl<A: Answer> schemars::JsonSchema for Schema<A> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        A::SCHEMA.into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": A::SCHEMA })
    }
}

/// True if a number is zero. Such a number is omitted from JSON.
pub fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// True if a flag is false. Such a flag is omitted from JSON.
pub fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Line {
        schema: Schema<Self>,
        count: u64,
    }

    impl Answer for Line {
        const SCHEMA: &'static str = "fpdb.line/1";
    }

    #[test]
    fn the_schema_comes_first_and_is_checked_when_read() {
        let line = Line { schema: Schema::new(), count: 3 };
        let json = serde_json::to_string(&line).unwrap();
        assert_eq!(json, r#"{"schema":"fpdb.line/1","count":3}"#);
        assert_eq!(serde_json::from_str::<Line>(&json).unwrap(), line);
        let error = serde_json::from_str::<Line>(r#"{"schema":"fpdb.line/2","count":3}"#).unwrap_err().to_string();
        assert!(error.contains("schema fpdb.line/2 where fpdb.line/1 was expected"), "{error}");
        assert!(serde_json::from_str::<Line>(r#"{"count":3}"#).is_err());
    }
}
