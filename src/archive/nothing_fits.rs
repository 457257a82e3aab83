//! Checks options that name documents by a prefix or pattern. A value that fits no document is an error,
//! because it is more likely a mistake than intended.

use crate::nearest_name::nearest_name;
use fpdb_host::error::{Error, Result};
use fpdb_store::Store;

/// Returns the error for an option whose `value` fits no document. The error has the most similar beginning
/// of a stored name.
///
/// # Errors
/// Always: [`Error::NothingFits`], or an error from reading the document records.
pub(crate) fn nothing_fits<T>(store: &Store, option: &'static str, value: &str) -> Result<T> {
    let value = folder_of(value);
    let nearest = nearest_name(store, value.trim_start_matches('^'))?;
    Err(Error::NothingFits { option, value, nearest })
}

/// The folder from which [`submission_pattern`](super::submissions::submission_pattern) made the pattern
/// `value`. Any other value is returned unchanged.
fn folder_of(value: &str) -> String {
    let Some(folders) = value.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")[/!]")) else {
        return value.to_owned();
    };
    let folder = |pattern: &str| {
        let folder = pattern.strip_suffix("[^/!]+")?.replace('\\', "").replace("[^/!]+", "*");
        let folder = folder.strip_suffix("[/!]").unwrap_or(&folder).replace("[/!]", "/");
        Some(if folder.is_empty() { ".".into() } else { folder })
    };
    let folders: Option<Vec<String>> = folders.split('|').map(folder).collect();
    folders.map_or_else(|| value.to_owned(), |folders| folders.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_patterns() {
        let pattern = crate::submission_pattern;
        for folder in ["in/a.b", ".", "in/*", "in/all.zip!*", "all.zip!a/b", "*", "2025,2026/*"] {
            assert_eq!(folder_of(&pattern(folder)), folder);
        }
        assert_eq!(folder_of("^([a-z]*)_"), "^([a-z]*)_");
    }
}
