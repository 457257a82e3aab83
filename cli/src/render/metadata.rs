//! Metadata: the part of a document's metadata that a line for people shows.

use std::collections::BTreeMap;

use super::escape::escape_terminal;
use super::numbers::moment;

/// Tells documents apart for a reader: their label and group.
pub(super) fn labels(metadata: &BTreeMap<String, String>) -> String {
    let known = ["label", "group"].into_iter().filter_map(|name| metadata.get(name).map(String::as_str));
    let known: Vec<&str> = known.collect();
    if known.is_empty() { String::new() } else { format!("  [{}]", escape_terminal(&known.join(", "))) }
}

/// The time of the last change of a document's file, if it is shown.
pub(super) fn changed(modified: Option<i64>) -> String {
    modified.map_or(String::new(), |time| format!("  {}", moment(time)))
}

/// Maximum number of characters that are shown of a value of metadata. Other formats show all.
const VALUE_SHOWN: usize = 80;

/// The metadata of a match that [`labels`] leaves out, such as a date or an author.
pub(super) fn kept(metadata: &BTreeMap<String, String>) -> String {
    let others = metadata.iter().filter(|(name, _)| !["label", "group"].contains(&name.as_str()));
    let shown = others.map(|(name, value)| {
        let cut = if value.chars().nth(VALUE_SHOWN).is_some() { "..." } else { "" };
        let value: String = value.chars().take(VALUE_SHOWN).collect();
        format!("{} {}{cut}", escape_terminal(name), escape_terminal(&value))
    });
    shown.collect::<Vec<_>>().join("; ")
}
