//! Member name: identifies a part of a file in the database, so that it can be found again.

use crate::input::containers::RecordFields;

/// The member name of a whole container or compressed file that was ingested without opening it.
pub const CLOSED: &str = "";

/// The member name of a record: its suffix, and the field of its text if it is not the default field.
pub(crate) fn member_of(suffix: &str, fields: &RecordFields) -> String {
    if fields.text == RecordFields::default().text { suffix.to_owned() } else { format!("{suffix}?{}", fields.text) }
}

/// The place from which a stored document was read.
#[derive(Clone, Copy, Debug)]
pub struct StoredPlace<'a> {
    /// The absolute path of the file.
    pub source: &'a str,
    /// The name of the document.
    pub(crate) name: &'a str,
    /// As in [`About`](crate::input::About).
    pub(crate) member: Option<&'a str>,
}

impl<'a> StoredPlace<'a> {
    /// The place of a document; `None` if it was not read from a file.
    pub fn new(source: Option<&'a str>, name: &'a str, member: Option<&'a str>) -> Option<Self> {
        Some(Self { source: source?, name, member })
    }
}

/// Splits a member name made by `member_of` into its suffix and field. `name` is the name of the document,
/// which ends with the suffix. So the name of an archive member that looks like a field is recognised.
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

/// The name of the file that contains the document `name`. `None` if the name does not consist of the file's
/// name and the suffix.
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
