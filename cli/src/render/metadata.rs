//! Metadata: the part of a document's metadata that a line for people shows.

use std::collections::BTreeMap;

use fpdb::Match;
use fpdb_host::clock::{DocumentTime, TimeSource};

use super::escape::escape_terminal;
use super::numbers::moment;

/// The label and the group of a document, by which readers tell documents apart.
pub(super) fn labels(metadata: &BTreeMap<String, String>) -> String {
    let known = ["label", "group"].into_iter().filter_map(|name| metadata.get(name).map(String::as_str));
    let known: Vec<&str> = known.collect();
    if known.is_empty() { String::new() } else { format!("  [{}]", escape_terminal(&known.join(", "))) }
}

/// Shows the time of the last change of a document's file; empty without a time.
pub(super) fn changed(modified: Option<i64>) -> String {
    modified.map_or(String::new(), |time| format!("  {}", moment(time)))
}

/// The time by which `query --sort oldest` orders a match; `None` if it is not known. For a submission, the
/// earliest time of its listed files.
pub(crate) fn time_of(found: &Match) -> Option<DocumentTime> {
    of_document(found).or_else(|| found.files.iter().filter_map(time_of).min())
}

fn of_document(found: &Match) -> Option<DocumentTime> {
    let metadata = found.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    DocumentTime::of(metadata, found.modified.map(|seconds| (seconds, 0)))
}

/// The time of a match and its source, if times are shown.
pub(super) fn dated(found: &Match) -> String {
    of_document(found).map_or(String::new(), |DocumentTime { source, time: (seconds, _) }| {
        format!("  {} ({})", moment(seconds), if source == TimeSource::Date { "date" } else { "file" })
    })
}

/// Maximum number of characters of a metadata value that are shown. Other formats show all.
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
