//! Submissions: documents that count as one, such as the files that one student handed in.

use std::borrow::Cow;
use std::collections::HashMap;

use regex::Regex;
use roaring::RoaringBitmap;

use fpdb_host::error::{Error, Result};
use fpdb_reading::input::{file_name_of, suffix_start};

/// Characters that show that a value is a regular expression, and not a folder.
const SIGNS: [char; 13] = ['^', '$', '(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '\\'];

/// Characters that end the name of a folder or archive within a document's name.
const ENDS: [char; 2] = ['/', '!'];

/// While the pattern of a folder is matched, this character stands for each `!` that is part of the name of a
/// file or folder outside archives.
const OF_NAME: &str = "\u{1}";

/// Default maximum number of documents listed for a submission, and of pairs of documents listed for a pair
/// of submissions.
pub(crate) const SUBMISSION_FILES: usize = 10;

/// Returns the regular expression for the value of
/// [`QueryOptions::submission_by`](crate::QueryOptions::submission_by) or
/// [`PairsOptions::submission_by`](crate::archive::pairs::PairsOptions::submission_by). If the value is a
/// folder, each folder and each archive directly in `folder` is one submission. With `.`, each first folder
/// of a name is one submission. `folder` may also be an archive, such as `all.zip`. A part `*` stands for any
/// one folder or archive: with `class/*`, each folder in each folder of `class` is a submission. With
/// `2025,2026`, each folder in either of the two is a submission. If one of these folders lies in another,
/// the inner folder decides. A value with a character such as `^` or `(` already is a regular expression, and
/// is returned unchanged.
///
/// ```
/// assert_eq!(fpdb::submission_pattern("class/2026"), "^(class/2026[/!][^/!]+)[/!]");
/// assert_eq!(fpdb::submission_pattern("class/*"), "^(class/[^/!]+[/!][^/!]+)[/!]");
/// assert_eq!(fpdb::submission_pattern("2025,2026"), "^(2025[/!][^/!]+|2026[/!][^/!]+)[/!]");
/// assert_eq!(fpdb::submission_pattern("^([a-z]*)_"), "^([a-z]*)_");
/// ```
#[must_use]
pub fn submission_pattern(folder: &str) -> String {
    if is_expression(folder) {
        return folder.to_owned();
    }
    // The first alternative that fits decides, so a folder comes before the folders that hold it.
    let mut folders: Vec<&str> = Vec::new();
    for folder in folder.split(',').filter(|folder| !folder.is_empty()) {
        let place = folders.iter().position(|outer| holds(outer, folder)).unwrap_or(folders.len());
        folders.insert(place, folder);
    }
    let folders: Vec<String> = folders.into_iter().map(in_folder).collect();
    format!("^({})[/!]", folders.join("|"))
}

/// True if a value is a regular expression, and not a folder.
fn is_expression(value: &str) -> bool {
    value.split(ENDS).flat_map(|part| part.split(',')).any(|part| part != "*" && part.contains(SIGNS))
}

/// The components of a folder, each with the characters that end it.
fn components(folder: &str) -> impl Iterator<Item = (&str, &str)> {
    let pieces = folder.split_inclusive(ENDS).map(|piece| piece.split_at(piece.trim_end_matches(ENDS).len()));
    pieces.filter(|(part, _)| !part.is_empty() && *part != ".")
}

/// The value of `submission_by`, written as the names of documents begin: `class` for `./class/`. A regular
/// expression is returned unchanged.
pub(crate) fn tidy_folders(value: &str) -> String {
    if is_expression(value) {
        return value.to_owned();
    }
    let tidy = |folder: &str| {
        let parts: String = components(folder).flat_map(|(part, end)| [part, end]).collect();
        let parts = parts.trim_end_matches(ENDS);
        match (folder.starts_with('/'), parts) {
            (true, parts) => format!("/{parts}"),
            (false, "") => ".".to_owned(),
            (false, parts) => parts.to_owned(),
        }
    };
    value.split(',').filter(|folder| !folder.is_empty()).map(tidy).collect::<Vec<_>>().join(",")
}

/// True if names in the folder `inner` may be in `outer` too.
fn holds(outer: &str, inner: &str) -> bool {
    let parts = |folder: &str| -> Vec<String> {
        folder.split(ENDS).filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    let (outer, inner) = (parts(outer), parts(inner));
    outer.len() <= inner.len() && outer.iter().zip(&inner).all(|(outer, inner)| outer == "*" || outer == inner)
}

/// The pattern of the names of folders and archives directly in a folder.
fn in_folder(folder: &str) -> String {
    let mut pieces = components(folder).peekable();
    let mut pattern = if folder.starts_with('/') { "/".to_owned() } else { String::new() };
    while let Some((part, end)) = pieces.next() {
        pattern += &if part == "*" { "[^/!]+".into() } else { regex::escape(part) };
        // The value does not show whether this part is a folder or an archive, so both ends are allowed. Nor
        // does it show whether a `!` is part of a name.
        pattern += match end {
            _ if part == "*" || pieces.peek().is_none() => "[/!]",
            "!" => "[!\u{1}]",
            end => end,
        };
    }
    pattern + "[^/!]+"
}

/// Maps documents to submissions. The id of a submission is the id of its first document.
#[derive(Default)]
pub(crate) struct Submissions {
    pattern: Option<Regex>,
    /// True if the pattern was made from a folder.
    is_folder: bool,
    /// For each name, the first new and the first old document. New and old documents are two submissions.
    by_name: HashMap<String, [Option<u32>; 2]>,
    /// For each old submission, the new submission of the same name, if any.
    renewed: HashMap<u32, u32>,
    /// By id, the first document of its submission, or the id itself outside any submission. Empty if there
    /// is no pattern.
    first: Vec<u32>,
    /// The documents that are part of a submission.
    members: RoaringBitmap,
    /// True if the pattern matches the name of a boilerplate document.
    fits_boilerplate: bool,
}

impl Submissions {
    /// Makes submissions of documents by a folder or a regular expression for names. The name of a submission
    /// is the text of the first group, or the whole match if there is no group.
    pub(crate) fn new(pattern: Option<&str>, ids: usize) -> Result<Self> {
        let Some(pattern) = pattern else { return Ok(Self::default()) };
        let regex = submission_pattern(pattern);
        let compiled = Regex::new(&regex).map_err(|_| Error::InvalidParameter {
            name: "submission_by",
            value: pattern.into(),
            expected: "a folder, or a regular expression such as ^([^/]*)/ for the first folder of a name",
        })?;
        let first = (0..u32::try_from(ids).unwrap_or(u32::MAX)).collect();
        let is_folder = regex != pattern;
        Ok(Self { pattern: Some(compiled), is_folder, first, ..Self::default() })
    }

    /// Adds a document, by its name and member name. Documents must come in order of id. If the pattern
    /// matches nothing in the name, the document is in no submission and stands for itself. An old document
    /// and a new one are never in one submission.
    pub(crate) fn add(&mut self, id: u32, (name, member): (&str, Option<&str>), is_old: bool) {
        let Some(submission) = self.name_of(name, member) else { return };
        self.members.insert(id);
        let firsts = self.by_name.entry(submission.to_owned()).or_default();
        self.first[id as usize] = *firsts[usize::from(is_old)].get_or_insert(id);
        if let [Some(new), Some(old)] = *firsts {
            self.renewed.insert(old, new);
        }
    }

    /// Notes a boilerplate document, which is in no submission.
    pub(crate) fn note_boilerplate(&mut self, name: &str, member: Option<&str>) {
        self.fits_boilerplate = self.fits_boilerplate || self.name_of(name, member).is_some();
    }

    /// The name of the submission that a document is part of.
    pub(crate) fn name_of<'a>(&self, name: &'a str, member: Option<&str>) -> Option<&'a str> {
        self.find(name, file_name_of(name, member).map_or(0, str::len))
    }

    /// The name of the submission of a file that cannot be read. If the file is an archive that is itself a
    /// submission, this is the name for the documents in it.
    pub(crate) fn name_of_unread(&self, name: &str) -> Option<String> {
        let find = |whole: &str| self.find(whole, suffix_start(name)).map(str::to_owned);
        find(name).or_else(|| find(&format!("{name}!")))
    }

    /// The match of the pattern in a name. From the byte `suffix` on, each `!` ends the name of an archive or
    /// a mail. Before that byte, `!` is part of a name.
    fn find<'a>(&self, name: &'a str, suffix: usize) -> Option<&'a str> {
        let mut marked = Cow::Borrowed(name);
        if self.is_folder && name[..suffix].contains('!') {
            marked = Cow::Owned(name[..suffix].replace('!', OF_NAME) + &name[suffix..]);
        }
        let found = self.pattern.as_ref()?.captures(&marked)?;
        name.get(found.get(1).or_else(|| found.get(0))?.range())
    }

    /// Number of names with an old submission and a new one.
    pub(crate) fn renewed(&self) -> u64 {
        self.renewed.len() as u64
    }

    /// True if one of these is an old and the other a new submission of the same name.
    pub(crate) fn are_of_one_name(&self, a: u32, b: u32) -> bool {
        !self.renewed.is_empty() && [(a, b), (b, a)].iter().any(|(old, new)| self.renewed.get(old) == Some(new))
    }

    /// True if there is a pattern, but it matched no document's name.
    pub(crate) fn are_missing(&self) -> bool {
        self.pattern.is_some() && self.members.is_empty() && !self.fits_boilerplate
    }

    /// True if there is a pattern, so documents can be joined into submissions.
    pub(crate) fn are_any(&self) -> bool {
        self.pattern.is_some()
    }

    /// True if a document is part of a submission.
    pub(crate) fn has(&self, id: u32) -> bool {
        self.members.contains(id)
    }

    /// The first document of the submission that a document is part of.
    pub(crate) fn of(&self, id: u32) -> u32 {
        self.first.get(id as usize).copied().unwrap_or(id)
    }

    /// The first new document of the submission of this name.
    pub(crate) fn named(&self, name: &str) -> Option<u32> {
        self.by_name.get(name)?[0]
    }

    /// The name and first document of each submission, in order of name.
    pub(crate) fn by_name(&self) -> Vec<(&str, u32)> {
        let firsts =
            self.by_name.iter().flat_map(|(name, firsts)| firsts.iter().flatten().map(move |&id| (&**name, id)));
        let mut names: Vec<(&str, u32)> = firsts.collect();
        names.sort_unstable();
        names
    }

    /// The names of submissions, by their first documents. Documents outside any submission have no entry.
    pub(crate) fn into_names(self) -> HashMap<u32, String> {
        self.by_name().into_iter().map(|(name, first)| (first, name.to_owned())).collect()
    }

    /// The submissions of these documents, ascending, without duplicates. A document outside any submission
    /// stands for itself. `room` is reused memory for the result.
    pub(crate) fn holders<'a>(&self, documents: &'a [u32], room: &'a mut Vec<u32>) -> &'a [u32] {
        if self.first.is_empty() {
            return documents;
        }
        room.clear();
        room.extend(documents.iter().map(|&document| self.of(document)));
        room.sort_unstable();
        room.dedup();
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_pattern_and_a_pattern_stays() {
        for (typed, pattern) in [
            (".", "^([^/!]+)[/!]"),
            ("./", "^([^/!]+)[/!]"),
            ("in", "^(in[/!][^/!]+)[/!]"),
            ("./in/a.b//", "^(in/a\\.b[/!][^/!]+)[/!]"),
            ("/in", "^(/in[/!][^/!]+)[/!]"),
            ("in/*", "^(in/[^/!]+[/!][^/!]+)[/!]"),
            ("*", "^([^/!]+[/!][^/!]+)[/!]"),
            ("in/all.zip", "^(in/all\\.zip[/!][^/!]+)[/!]"),
            ("in/all.zip!", "^(in/all\\.zip[/!][^/!]+)[/!]"),
            ("all.zip!a/*", "^(all\\.zip[!\u{1}]a/[^/!]+[/!][^/!]+)[/!]"),
            ("2025,./b/2026/", "^(2025[/!][^/!]+|b/2026[/!][^/!]+)[/!]"),
            (".,*,in", "^(in[/!][^/!]+|[^/!]+[/!][^/!]+|[^/!]+)[/!]"),
            ("in,", "^(in[/!][^/!]+)[/!]"),
            ("in/*.c", "in/*.c"),
            ("^a{1,2}/", "^a{1,2}/"),
            ("^([a-z]*)_", "^([a-z]*)_"),
        ] {
            assert_eq!(submission_pattern(typed), pattern);
        }
    }

    #[test]
    fn documents_of_one_name_are_one() {
        let mut submissions = Submissions::new(Some("^in/([^/]*)/"), 6).unwrap();
        let names = ["in/ann/a.c", "in/bob/a.c", "in/ann/b.c", "in/readme", "in/bob/c/d.c", "out/ann/a.c"];
        for (id, name) in (0..).zip(names) {
            submissions.add(id, (name, None), false);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|id| submissions.of(id)), [0, 1, 0, 3, 1, 5]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|id| submissions.has(id)), [true, true, true, false, true, false]);
        assert_eq!(submissions.by_name(), [("ann", 0), ("bob", 1)]);
        let mut room = Vec::new();
        assert_eq!(submissions.holders(&[1, 2, 3, 4], &mut room), [0, 1, 3]);
        assert_eq!(submissions.into_names(), HashMap::from([(0, "ann".into()), (1, "bob".into())]));
        assert_eq!(Submissions::default().holders(&[4, 7], &mut room), [4, 7]);
        assert!(Submissions::new(Some("("), 1).is_err());
    }

    #[test]
    fn folders_are_told_as_names_begin() {
        for (value, expected) in [
            ("./class/", "class"),
            ("class//2026/.", "class/2026"),
            ("2025,./2026,", "2025,2026"),
            ("./all.zip!*", "all.zip!*"),
            ("/abs/./class", "/abs/class"),
            ("./", "."),
            ("^./", "^./"),
        ] {
            assert_eq!(tidy_folders(value), expected);
        }
    }

    #[test]
    fn old_and_new_documents_of_a_name_are_two() {
        let mut submissions = Submissions::new(Some("/(s[0-9])/"), 5).unwrap();
        for (id, name, is_old) in [(0, "a/s1/x", true), (1, "b/s1/x", false), (2, "b/s2/x", false), (3, "a/s1/y", true)]
        {
            submissions.add(id, (name, None), is_old);
        }
        assert_eq!([0, 1, 2, 3].map(|id| submissions.of(id)), [0, 1, 2, 0]);
        assert!(submissions.are_of_one_name(0, 1) && submissions.are_of_one_name(1, 0));
        assert!(!submissions.are_of_one_name(0, 2));
        assert_eq!(submissions.by_name(), [("s1", 0), ("s1", 1), ("s2", 2)]);
    }

    #[test]
    fn exclamation_marks_in_names_divide_no_submission() {
        let of = |folder: &str, name: &'static str, member: Option<&str>| {
            Submissions::new(Some(folder), 0).unwrap().name_of(name, member)
        };
        assert_eq!(of("ex", "ex/s!1/a.py", None), Some("ex/s!1"));
        assert_eq!(of("ex", "ex/s!1.zip!a/b.py", Some("!a/b.py")), Some("ex/s!1.zip"));
        assert_eq!(of("ex/s!1.zip", "ex/s!1.zip!a/b.py", Some("!a/b.py")), Some("ex/s!1.zip!a"));
        // In an archive, each `!` ends an archive, whatever its name.
        assert_eq!(of("all.zip", "all.zip!a.jar!src/b.py", Some("!a.jar!src/b.py")), Some("all.zip!a.jar"));
        assert_eq!(of("ex/all.zip!s!1", "ex/all.zip!s!1/b/c.py", Some("!s!1/b/c.py")), Some("ex/all.zip!s!1/b"));
        assert_eq!(of("ex/s!1", "ex/s!1/b/c.py", None), Some("ex/s!1/b"));
        assert_eq!(of("ex", "ex/s!1", None), None);
        let unread = |folder: &str, name: &str| Submissions::new(Some(folder), 0).unwrap().name_of_unread(name);
        for (folder, name, expected) in [
            ("ex", "ex/s!1/a.rar", "ex/s!1"),
            ("ex", "ex/s!1.rar", "ex/s!1.rar"),
            ("ex", "ex/a.zip!b.rar", "ex/a.zip"),
            ("ex/a.zip", "ex/a.zip!b.jar", "ex/a.zip!b.jar"),
            ("ex/a.zip", "ex/a.zip!b.jar!c.rar", "ex/a.zip!b.jar"),
            ("([^/!]+)\\.zip!", "abg/müller.zip", "müller"),
            ("^abg/[^/!]+!", "abg/müller.zip", "abg/müller.zip!"),
            ("/([^/!]*)!", "日本語/a.zip", "a.zip"),
            ("!()", "日本語/a.zip", ""),
        ] {
            assert_eq!(unread(folder, name).as_deref(), Some(expected), "{folder} {name}");
        }
        // A document in the archive is in the same submission.
        assert_eq!(of("^abg/[^/!]+!", "abg/müller.zip!a.c", Some("!a.c")), Some("abg/müller.zip!"));
    }
}
