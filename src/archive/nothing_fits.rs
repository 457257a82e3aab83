//! Options that name documents by a prefix or pattern: one that fits no document is an error, as it is more
//! likely a slip than a wish.

use crate::nearest_name::nearest_name;
use fpdb_host::error::{Error, Result};
use fpdb_store::Store;

/// The error for an option whose `value` no document fits, with the nearest beginning of a name.
///
/// # Errors
/// This one, or that the documents cannot be read.
pub(crate) fn nothing_fits<T>(store: &Store, option: &'static str, value: &str) -> Result<T> {
    let value = folder_of(value);
    let nearest = nearest_name(store, value.trim_start_matches('^'))?;
    Err(Error::NothingFits { option, value, nearest })
}

/// The folder that [`submission_pattern`](super::submissions::submission_pattern) made a pattern of; other
/// values as they are.
fn folder_of(value: &str) -> String {
    let folder = value.strip_prefix("^(").and_then(|rest| rest.strip_suffix("[^/!]+)[/!]"));
    match folder.map(|folder| folder.replace('\\', "")) {
        Some(folder) if folder.is_empty() => ".".into(),
        Some(folder) => {
            let folder = folder.replace("[^/!]+", "*");
            folder.strip_suffix("[/!]").unwrap_or(&folder).replace("[/!]", "/")
        }
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_patterns() {
        let pattern = crate::submission_pattern;
        for folder in ["in/a.b", ".", "in/*", "in/all.zip!*", "all.zip!a/b", "*"] {
            assert_eq!(folder_of(&pattern(folder)), folder);
        }
        assert_eq!(folder_of("^([a-z]*)_"), "^([a-z]*)_");
    }
}
