//! Member: a part of a container, as its reader finds it.

use std::io::Read;
use std::ops::Range;

use super::text_path::TextPath;
use crate::recognise::Hint;
use fpdb_host::error::{Error, Result};
use fpdb_host::setters::setters;
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Modified;
use serde::{Deserialize, Serialize};

/// The fields of a record that are its text, its id, and metadata to keep. For JSON lines and Parquet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordFields {
    /// The field with the text. `messages[].content` joins, with blank lines between them, the fields
    /// `content` of all elements of the list `messages`; `texts[]` joins the elements of a list. Several
    /// fields, one on each line, are joined in this order. Each record must have all of them. Default:
    /// `text`.
    pub text: String,
    /// The field with the id, which is kept as metadata if a record has it. Default: `id`.
    pub id: String,
    /// Other fields to keep as metadata. For a mail, these are headers, in upper or lower case. Default:
    /// none.
    pub keep: Vec<String>,
}

impl RecordFields {
    /// The fields that are kept as metadata.
    pub fn kept(&self) -> Vec<&str> {
        std::iter::once(&self.id).chain(&self.keep).map(String::as_str).collect()
    }

    /// The fields with the text, and the path of each.
    pub(super) fn text_paths(&self) -> Vec<(&str, TextPath)> {
        self.text.split('\n').zip(TextPath::all_of(&self.text)).collect()
    }

    setters! {
        text: String,
        id: String,
        keep: Vec<String>,
    }
}

impl Default for RecordFields {
    fn default() -> Self {
        Self { text: "text".into(), id: "id".into(), keep: Vec::new() }
    }
}

/// A member, as the reader of a container finds it.
pub(crate) struct Member<'a> {
    /// The part of its name after the container's name: `!dir/b.txt`, `:17`, `#id`.
    pub(crate) suffix: String,
    pub(crate) hint: Hint,
    /// The time of its last change, if the container records it.
    pub(crate) modified: Option<Modified>,
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) content: MemberContent<'a>,
}

/// The bytes of a member.
pub(crate) enum MemberContent<'a> {
    /// The text of a record. It is never a container itself.
    Record(Vec<u8>),
    /// A file, which may be a container.
    Stream(&'a mut dyn Read),
}

/// Receives the members that the reader of a container finds, in order.
///
/// A method that returns a result returns [`Error::Stopped`] if no more members are wanted.
pub(crate) trait Members {
    fn member(&mut self, member: Member<'_>) -> Result<()>;
    /// A member cannot be read, but later ones can.
    fn failed(&mut self, suffix: String, error: Error) -> Result<()>;
    /// A member is not a document.
    fn skipped(&mut self, suffix: String, reason: SkipReason) -> Result<()>;
    /// The place of the last member: a byte range of the container, with everything that belongs to the
    /// member. For zip, the place is the number of the entry, and for Parquet the number of the row.
    fn extent(&mut self, _at: Range<u64>) {}
    /// All bytes of the last member could be read, even if its content was damaged. So later members can be
    /// read too.
    fn goes_on(&mut self) {}
    /// Another member needs the member with this suffix. For example, the other member is a link to it.
    fn needed(&mut self, _suffix: &str) {}
}

/// Normalises a member's path as part of a name. It removes `.`, doubled separators and leading `..`, and
/// replaces control characters with U+FFFD. The result is never used as a path.
pub(super) fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    printable(&parts.join("/"))
}

/// A path in a zip, normalised by [`tidy`]. Backslashes separate folders too, as old programs of Windows
/// write them.
pub(crate) fn zip_path(path: &str) -> String {
    if path.contains('/') { tidy(path) } else { tidy(&path.replace('\\', "/")) }
}

/// A name in which U+FFFD replaces control characters.
pub(super) fn printable(name: &str) -> String {
    name.replace(char::is_control, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_containers_lead_nowhere() {
        for (path, tidied) in [
            ("a/b.txt", "a/b.txt"),
            ("./a//b.txt", "a/b.txt"),
            ("/etc/passwd", "etc/passwd"),
            ("../../etc/passwd", "etc/passwd"),
            ("a/../b", "b"),
            ("a\n\u{1b}[31mb", "a\u{fffd}\u{fffd}[31mb"),
            ("..", ""),
        ] {
            assert_eq!(tidy(path), tidied);
        }
    }
}
