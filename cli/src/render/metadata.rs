//! Metadata: the part of a document's metadata that a line for people shows.

use std::collections::BTreeMap;

use fpdb::Match;
use fpdb_host::clock;

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

/// The time of a stored document, in seconds since 1970, and its origin. Dates order before times of files,
/// which may be those of a copy or of a whole mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DocumentTime {
    /// True if it is the time of the file or member. Otherwise the metadata state it as the document's date.
    pub(crate) is_of_file: bool,
    pub(crate) seconds: i64,
}

impl DocumentTime {
    /// The time by which `query --sort oldest` orders a match; `None` if it is not known. Of a submission it
    /// is the first of the times of the listed files.
    pub(crate) fn of(found: &Match) -> Option<Self> {
        let of_files = || found.files.iter().filter_map(Self::of).min();
        Self::of_document(found).or_else(of_files)
    }

    fn of_document(found: &Match) -> Option<Self> {
        let date = clock::date_of(found.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let dated = date.map(|seconds| Self { is_of_file: false, seconds });
        dated.or(found.modified.map(|seconds| Self { is_of_file: true, seconds }))
    }
}

/// The time of a match and its origin, if times are shown.
pub(super) fn dated(found: &Match) -> String {
    DocumentTime::of_document(found).map_or(String::new(), |DocumentTime { is_of_file, seconds }| {
        format!("  {} ({})", moment(seconds), if is_of_file { "file" } else { "date" })
    })
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
