//! JSON options: the options of a call, as a file, a server or another language gives them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};

/// Returns `defaults` with the fields that a JSON object gives. Objects within objects are treated the same
/// way, so `{"joining": {"least": 20}}` changes one field.
///
/// # Errors
/// [`Error::InvalidOptions`] for an unknown field, and for a value that a field cannot have.
pub fn options_from_json<T: Serialize + DeserializeOwned>(defaults: &T, given: Value) -> Result<T> {
    let invalid = |source| Error::InvalidOptions { source };
    let mut options = serde_json::to_value(defaults).map_err(invalid)?;
    overlay(&mut options, given);
    serde_json::from_value(options).map_err(invalid)
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
