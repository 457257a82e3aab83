//! Member name: which part of a file a document is, as it is kept to find it again.

use super::containers::RecordFields;

/// The part of a container or compressed file that a document is which was ingested closed: all of it, as it is.
pub(crate) const CLOSED: &str = "";

/// How a record is found again: by its place, and by the field of its text where that is not the usual one.
pub(super) fn member_of(suffix: &str, fields: &RecordFields) -> String {
    if fields.text == RecordFields::default().text { suffix.to_owned() } else { format!("{suffix}?{}", fields.text) }
}

/// The suffix and the field that [`member_of`] put together.
pub(crate) fn parts_of(member: &str) -> (&str, Option<&str>) {
    if let Some((suffix, field)) = member.rsplit_once('?')
        && let Some((_, number)) = suffix.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        return (suffix, Some(field));
    }
    (member, None)
}

/// The name of the file that a document of this name is part of; `None` where its name is not made of the file's.
pub(crate) fn file_name_of<'a>(name: &'a str, member: Option<&str>) -> Option<&'a str> {
    let Some(member) = member else { return Some(name) };
    // The member as a whole first: what looks like a field can be part of the name.
    name.strip_suffix(member).or_else(|| name.strip_suffix(parts_of(member).0))
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
        for (member, parts) in [
            (":17", (":17", None)),
            (":17?body", (":17", Some("body"))),
            ("!a.jsonl:3?x?y", ("!a.jsonl:3?x?y", None)),
            ("!what?.txt", ("!what?.txt", None)),
            ("!a:?b", ("!a:?b", None)),
        ] {
            assert_eq!(parts_of(member), parts);
        }
        let fields = RecordFields { text: "body".into(), ..RecordFields::default() };
        assert_eq!(parts_of(&member_of(":17", &fields)), (":17", Some("body")));
        assert_eq!(member_of(":17", &RecordFields::default()), ":17");
    }
}
