//! Member name: identifies a part of a file in the database, so that it can be found again.

use std::borrow::Cow;

use crate::input::containers::{RecordFields, zip_path};
use crate::recognise::{Container, Layer, layer_of, name_inside, promised_format};
use fpdb_kernel::document::Format;

/// The member name of a whole container or compressed file that was ingested without opening it.
pub const CLOSED: &str = "";

/// The member name of a record: its suffix, and the text field if it is not the default field.
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
    /// Number of bytes of the document.
    pub(crate) bytes: u64,
}

impl<'a> StoredPlace<'a> {
    /// The place of a document; `None` if it was not read from a file.
    pub fn new(source: Option<&'a str>, name: &'a str, member: Option<&'a str>, bytes: u64) -> Option<Self> {
        Some(Self { source: source?, name, member, bytes })
    }
}

/// Splits a member name made by `member_of` into its suffix and field. `name` is the name of the document,
/// which ends with the suffix. If `name` ends with all of `member`, a `?` in `member` is part of the suffix
/// and begins no field.
pub fn parts_of<'a>(name: &str, member: &'a str) -> (&'a str, Option<&'a str>) {
    if !name.ends_with(member)
        && let Some((suffix, field)) = member.rsplit_once('?')
        && let Some((_, number)) = suffix.rsplit_once(':')
        && is_number(number)
    {
        return (suffix, Some(field));
    }
    (member, None)
}

/// True if a part of a file may be an attachment, or lie in one. `file` is the name or path of the file.
/// False for most members of archives, because the name of an archive is not that of a mail.
#[must_use]
pub fn may_be_attached(file: &str, suffix: &str) -> bool {
    suffix.match_indices('!').any(|(at, _)| named_layer(file, &suffix[..at]) == Layer::Document)
}

pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The layer of a part of a file, by its name.
fn named_layer(file: &str, suffix: &str) -> Layer {
    layer_named(&format!("{file}{suffix}"))
}

/// The layer of a file, maybe compressed, by its name.
pub(crate) fn layer_named(name: &str) -> Layer {
    match layer_of(name, &[]) {
        Layer::Compressed(_) => layer_of(&name_inside(name), &[]),
        layer => layer,
    }
}

/// The name that this version gives a stored member, or its suffix. Earlier versions kept the backslashes of
/// old zips. `file` is the name or path of the file. A zip is recognised by its name only.
#[must_use]
pub fn member_today<'a>(file: &str, member: &'a str) -> Cow<'a, str> {
    if !member.contains('\\') {
        return Cow::Borrowed(member);
    }
    let (mut today, mut at) = (String::new(), 0);
    for part in member.split_inclusive('!') {
        let outer = member[..at].strip_suffix('!');
        let (name, end) = part.strip_suffix('!').map_or((part, ""), |name| (name, "!"));
        let is_old = name.contains('\\')
            && !name.contains('/')
            && outer.is_some_and(|outer| named_layer(file, outer) == Layer::Container(Container::Zip));
        today.push_str(&if is_old { Cow::Owned(zip_path(name)) } else { Cow::Borrowed(name) });
        today.push_str(end);
        at += part.len();
    }
    Cow::Owned(today)
}

/// Offset at which the suffix of a part begins, judged by the name alone: the first `!` after the name of an
/// archive or a mail. The length of the name if there is none. [`file_name_of`] is exact.
pub fn suffix_start(name: &str) -> usize {
    let follows_container = |&(at, _): &(usize, &str)| {
        let last = name[..at].rsplit(['/', '!']).next().unwrap_or_default();
        layer_named(last) != Layer::Document
            || promised_format(last) == Some(Format::Mail)
            || last.rsplit_once('#').is_some_and(|(_, mail)| is_number(mail))
    };
    name.match_indices('!').find(follows_container).map_or(name.len(), |(at, _)| at)
}

/// Characters with which the suffix of a part begins. The suffix follows the container's name.
pub const PARTS: [char; 3] = ['!', ':', '#'];

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
    fn names_tell_attachments_from_most_members_of_archives() {
        for (file, suffix, expected) in [
            ("a.eml", "!b.pdf", true),
            ("a.eml.gz", "!b.pdf", true),
            ("a", "!b.pdf", true),
            ("a.mbox", "#17!b.pdf", true),
            ("a.zip", "!b.eml!c.pdf", true),
            ("a.zip", "!b.eml!c.zip!d.txt", true),
            ("a.eml", "", false),
            ("a.mbox.gz", "#17", false),
            ("a.zip", "!b.eml", false),
            ("a.tar.gz", "!b.zip!c.tgz!d.txt", false),
            ("a.zip", "!b.jsonl:3", false),
        ] {
            assert_eq!(may_be_attached(file, suffix), expected, "{file}{suffix}");
        }
    }

    #[test]
    fn suffixes_begin_after_archives_and_mails() {
        for (name, start) in [
            ("s!1/a.py", 8),
            ("in/s!1.zip!b!2/c.tar.gz!d!", 10),
            ("s!1.tgz!b", 7),
            ("a.txt.gz!b", 10),
            ("s!1.eml!c.pdf", 7),
            ("s!1/a.mbox#17!b!.pdf", 13),
        ] {
            assert_eq!(suffix_start(name), start, "{name}");
        }
    }

    #[test]
    fn backslashes_of_stored_members_separate_folders_in_a_zip() {
        for (file, member, today) in [
            ("/a.zip", "!ann\\a.txt", "!ann/a.txt"),
            ("/a.zip", "!.\\ann\\a.jsonl:3?body", "!ann/a.jsonl:3?body"),
            ("/a.zip", "!b/ann\\a.txt", "!b/ann\\a.txt"),
            ("/a.zip", "!old\\b.zip!ann\\a.txt", "!old/b.zip!ann/a.txt"),
            ("/a.tar.gz", "!ann\\b.zip!ann\\a.txt", "!ann\\b.zip!ann/a.txt"),
            ("/a.warc", "#http://b\\c", "#http://b\\c"),
            ("/a.zip", "", ""),
        ] {
            assert_eq!(member_today(file, member), today, "{file}{member}");
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
