//! Member name: which part of a file a document is, as it is kept to find it again.

use super::containers::RecordFields;

/// The part of a container or compressed file that a document is which was ingested closed: all of it, as it is.
pub const CLOSED: &str = "";

/// How a record is found again: by its place, and by the field of its text where that is not the usual one.
pub(super) fn member_of(suffix: &str, fields: &RecordFields) -> String {
    if fields.text == RecordFields::default().text { suffix.to_owned() } else { format!("{suffix}?{}", fields.text) }
}

/// Where a stored document was read from.
#[derive(Clone, Copy, Debug)]
pub struct StoredPlace<'a> {
    /// The absolute path of its file.
    pub source: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
    /// As in [`About`](super::About).
    pub(crate) member: Option<&'a str>,
}

impl<'a> StoredPlace<'a> {
    /// The place of a document; `None` where it was not read from a file.
    pub fn new(source: Option<&'a str>, name: &'a str, member: Option<&'a str>) -> Option<Self> {
        Some(Self { source: source?, name, member })
    }
}

/// The suffix and the field that [`member_of`] put together, of a document of this name. The name ends with the suffix, so a
/// member of an archive is told from a field that it looks like.
pub fn parts_of<'a>(name: &str, member: &'a str) -> (&'a str, Option<&'a str>) {
    if !name.ends_with(member)
        && let Some((suffix, field)) = member.rsplit_once('?')
        && let Some((_, number)) = suffix.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        return (suffix, Some(field));
    }
    (member, None)
}

/// The name of the file that a document of this name is part of; `None` where its name is not made of the file's.
pub fn file_name_of<'a>(name: &'a str, member: Option<&str>) -> Option<&'a str> {
    let Some(member) = member else { return Some(name) };
    name.strip_suffix(parts_of(name, member).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files_and_members() {
        for (name, member, file) in [
            ("a.txt", None, Some("a.txt")),
            ("a.gz", Some(CLOSED), Some("a.gz")),
            ("a.jsonl:17", Some(":17"), Some("a.jsonl")),
            ("a.jsonl:17", Some(":17?body"), Some("a.jsonl")),
            ("a.warc#http://b:80?x=1", Some("#http://b:80?x=1"), Some("a.warc")),
            ("a.zip!b:3?c", Some("!b:3?c"), Some("a.zip")),
            ("a.zip!b", Some("!c"), None),
        ] {
            assert_eq!(file_name_of(name, member), file, "{name}");
        }
    }

    #[test]
    fn members_are_told_from_fields() {
        for (name, member, parts) in [
            ("a.jsonl:17", ":17", (":17", None)),
            ("a.jsonl:17", ":17?body", (":17", Some("body"))),
            ("a.zip!a:3?x", "!a:3?x", ("!a:3?x", None)),
            ("a.zip!a:3", "!a:3?x", ("!a:3", Some("x"))),
            ("a.zip!a.jsonl:3?x?y", "!a.jsonl:3?x?y", ("!a.jsonl:3?x?y", None)),
            ("a.zip!what?.txt", "!what?.txt", ("!what?.txt", None)),
            ("a.zip!a:?b", "!a:?b", ("!a:?b", None)),
        ] {
            assert_eq!(parts_of(name, member), parts);
        }
        let fields = RecordFields { text: "body".into(), ..RecordFields::default() };
        assert_eq!(parts_of("a.jsonl:17", &member_of(":17", &fields)), (":17", Some("body")));
        assert_eq!(member_of(":17", &RecordFields::default()), ":17");
    }
}
