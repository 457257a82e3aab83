//! Member: what the reader of a container finds in it.

use std::io::Read;
use std::ops::Range;

use fpdb_host::error::{Error, Result};
use fpdb_host::setters::setters;

/// Which fields of a record are its text, its id, and worth keeping; for JSON lines and Parquet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordFields {
    /// The field that holds the text. The default is `text`.
    pub text: String,
    /// The field that holds the id, kept as metadata where a record has it. The default is `id`.
    pub id: String,
    /// Other fields kept as metadata; none by default.
    pub keep: Vec<String>,
}

impl RecordFields {
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

/// One member, as the reader of a container finds it.
pub(crate) struct Member<'a> {
    /// The part of its name after the container's: `!dir/b.txt`, `:17`, `#id`.
    pub(crate) suffix: String,
    /// The name of a file like it, for what its ending tells; may be empty.
    pub(crate) hint: String,
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) content: MemberContent<'a>,
}

/// The bytes of a member.
pub(crate) enum MemberContent<'a> {
    /// A text taken from a record: never a container itself.
    Record(Vec<u8>),
    /// A file, which may be one.
    Stream(&'a mut dyn Read),
}

/// Takes what the reader of a container finds, in order.
///
/// Every method returns [`Error::Stopped`] where no more is wanted.
pub(crate) trait Members {
    fn member(&mut self, member: Member<'_>) -> Result<()>;
    /// A member that cannot be read; those after it can.
    fn failed(&mut self, suffix: String, error: Error) -> Result<()>;
    /// A member that is no document.
    fn skipped(&mut self, suffix: String, reason: &'static str) -> Result<()>;
    /// Where the last member lies: bytes of the container as it was read, all that belongs to the member included; of zip the
    /// number of its entry, of Parquet that of its row.
    fn extent(&mut self, _at: Range<u64>) {}
    /// Another member needs this one: a link to it, say.
    fn needed(&mut self, _suffix: &str) {}
}

/// A member's path as part of a name: without `.`, doubled separators or a beginning that leads out of the
/// container, and with U+FFFD for control characters. It is never used as a path.
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

/// A name with U+FFFD for control characters.
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
