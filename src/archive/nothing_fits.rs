//! Checks options that choose documents by a prefix, a pattern or metadata. A value that fits no document is
//! an error, because it is more likely a mistake than intended.

use std::collections::BTreeSet;

use super::submissions::tidy_folders;
use crate::nearest_name::{edits, nearest_name};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_store::{Store, field_key};

/// Returns the error for an option whose `value` fits no document. The error has the most similar beginning
/// of a stored name.
///
/// # Errors
/// Always: [`Error::NothingFits`], [`Error::Stopped`], or an error from reading the document records.
pub(crate) fn nothing_fits<T>(store: &Store, option: &'static str, value: &str, stop: &StopToken) -> Result<T> {
    let value = if option == "submission_by" { tidy_folders(value) } else { value.to_owned() };
    let nearest = nearest_name(store, value.trim_start_matches('^'), stop)?;
    Err(Error::NothingFits { option, value, nearest })
}

/// Number of keys that an error lists.
const KEYS: usize = 30;

/// Returns the error for a metadata value that no document has, as `DocumentRecord::has_field` compares
/// values. Reads the records of all documents.
///
/// # Errors
/// [`Error::Stopped`]; a failure to read the store.
pub(crate) fn no_such_value(store: &Store, name: &str, value: &str, task: &Task<'_>) -> Result<Error> {
    let key = field_key(name);
    let (mut keys, mut more, mut has_key, mut is_part) = (BTreeSet::new(), false, false, false);
    let (mut nearest, mut least) = (None, key.chars().count() / 3 + 1);
    store.for_each_document(|_, record| {
        task.token().check()?;
        for (known, _) in &record.metadata {
            has_key |= [name, key].iter().any(|name| known.eq_ignore_ascii_case(name));
            if !keys.contains(known) && known.len().abs_diff(key.len()) < 4 * least {
                let distance = edits(&key.to_lowercase(), &known.to_lowercase());
                if distance < least {
                    (nearest, least) = (Some(known.clone()), distance);
                }
            }
            if keys.len() < KEYS {
                keys.insert(known.clone());
            } else {
                more |= !keys.contains(known);
            }
        }
        is_part = name == key && record.has_field(&format!("{key}~"), value);
        Ok(!is_part)
    })?;
    Ok(match has_key {
        true => Error::NothingFits {
            option: "where",
            value: format!("{name}={value}"),
            nearest: is_part.then(|| format!("{key}~={value}")),
        },
        false => Error::NoSuchKey { key: key.to_owned(), keys: keys.into_iter().collect(), more, nearest },
    })
}
