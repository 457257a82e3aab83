//! JSON values: visits the elements of a list, or the fields of an object, one by one. Collecting them first
//! could take many times the memory of their text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::json_lines::Key;

/// Calls `take` with each element of a list, or with each field of an object and its name. The name of an
/// element is empty. A repeated field is visited repeatedly.
///
/// # Errors
/// The error of `take`, or if the JSON is neither a list nor an object.
pub(super) fn for_each_value<'de>(json: &'de [u8], take: &mut Take<'_, 'de>) -> serde_json::Result<()> {
    let mut from = serde_json::Deserializer::from_slice(json);
    from.deserialize_any(Values(take))?;
    from.end()
}

type Take<'t, 'de> = dyn FnMut(Cow<'de, str>, &'de RawValue) -> serde_json::Result<()> + 't;

struct Values<'v, 't, 'de>(&'v mut Take<'t, 'de>);

impl<'de> Visitor<'de> for Values<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(value) = elements.next_element()? {
            (self.0)(Cow::Borrowed(""), value).map_err(A::Error::custom)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(name), value)) = map.next_entry()? {
            (self.0)(name, value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
