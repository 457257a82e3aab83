//! JSON options: reads and writes the options of a call as JSON, for files, servers and other languages.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Returns `defaults` with the fields that a JSON object gives. Nested objects are merged in the same way, so
/// `{"joining": {"least": 20}}` changes one field. Some fields are not part of the JSON, such as the program
/// that reads documents in a process of its own. Such fields are not taken from `defaults`: the caller sets
/// them again.
///
/// # Errors
/// [`Error::InvalidOptions`] for an unknown field, and for a value that a field cannot have.
pub fn options_from_json<T: Serialize + DeserializeOwned>(defaults: &T, given: Value) -> Result<T> {
    let mut options = json(defaults)?;
    overlay(&mut options, given);
    serde_path_to_error::deserialize(options).map_err(|error| {
        let field = error.path().iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        Error::InvalidOptions { field, source: error.into_inner() }
    })
}

/// Returns the fields of `options` that differ from `defaults`, in the form that [`options_from_json`] reads.
/// Empty if no field differs.
///
/// # Errors
/// [`Error::InvalidOptions`] if the options cannot be written as JSON, for example because a path is not
/// UTF-8.
pub fn options_to_json<T: Serialize>(defaults: &T, options: &T) -> Result<Map<String, Value>> {
    match (json(defaults)?, json(options)?) {
        (Value::Object(defaults), Value::Object(options)) => Ok(difference(&defaults, options)),
        _ => Err(invalid(serde::ser::Error::custom("options are an object"))),
    }
}

/// Reads an option that is a limit. Both `null` and 0 mean no limit, as 0 does for the flags of the program.
///
/// # Errors
/// If the value is neither `null` nor a number.
pub fn limit<'de, D, N>(deserializer: D) -> std::result::Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + Default + PartialEq,
{
    Ok(Option::<N>::deserialize(deserializer)?.filter(|most| *most != N::default()))
}

/// The message of an error in a line of JSON, with the column. The caller knows the number of the line.
#[must_use]
pub fn message_in_line(error: &serde_json::Error) -> String {
    let (column, whole) = (error.column(), error.to_string());
    let message = whole.strip_suffix(&format!(" at line {} column {column}", error.line())).unwrap_or(&whole);
    format!("column {column}: {message}")
}

fn json(options: &impl Serialize) -> Result<Value> {
    serde_json::to_value(options).map_err(invalid)
}

fn invalid(source: serde_json::Error) -> Error {
    Error::InvalidOptions { field: String::new(), source }
}

fn difference(defaults: &Map<String, Value>, options: Map<String, Value>) -> Map<String, Value> {
    let differs = |(field, value)| match (defaults.get(&field), value) {
        (Some(Value::Object(default)), Value::Object(value)) => {
            let value = difference(default, value);
            (!value.is_empty()).then_some((field, Value::Object(value)))
        }
        (default, value) => (default != Some(&value)).then_some((field, value)),
    };
    options.into_iter().filter_map(differs).collect()
}

fn overlay(options: &mut Value, given: Value) {
    match (options, given) {
        (Value::Object(options), Value::Object(given)) => {
            for (field, value) in given {
                overlay(options.entry(field).or_insert(Value::Null), value);
            }
        }
        (option, given) => *option = given,
    }
}
