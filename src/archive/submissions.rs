//! Submissions: documents that count as one, such as the files that one student handed in.

use std::collections::HashMap;

use regex::Regex;
use roaring::RoaringBitmap;

use fpdb_host::error::{Error, Result};

/// Characters that show that a value is a regular expression, and not a folder.
const SIGNS: [char; 13] = ['^', '$', '(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '\\'];

/// Characters that end the name of a folder or archive within a document's name.
const ENDS: [char; 2] = ['/', '!'];

/// Default maximum number of documents listed for a submission, and of pairs of documents listed for a pair
/// of submissions.
pub(crate) const SUBMISSION_FILES: usize = 10;

/// The regular expression for the value of
/// [`QueryOptions::submission_by`](crate::QueryOptions::submission_by) or
/// [`PairsOptions::submission_by`](crate::archive::pairs::PairsOptions::submission_by). If it is a folder,
/// each folder and each archive directly in `folder` is one submission. With `.`, each first folder of a name
/// is one submission. `folder` may also be an archive, such as `all.zip`. A part `*` stands for any one
/// folder or archive: with `class/*`, each folder in each folder of `class` is a submission. With
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
    if folder.split(ENDS).flat_map(|part| part.split(',')).any(|part| part != "*" && part.contains(SIGNS)) {
        return folder.to_owned();
    }
    // The first alternative that fits decides, so a folder comes before those that hold it.
    let mut folders: Vec<&str> = Vec::new();
    for folder in folder.split(',').filter(|folder| !folder.is_empty()) {
        let place = folders.iter().position(|outer| holds(outer, folder)).unwrap_or(folders.len());
        folders.insert(place, folder);
    }
    let folders: Vec<String> = folders.into_iter().map(in_folder).collect();
    format!("^({})[/!]", folders.join("|"))
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
    let pieces = folder.split_inclusive(ENDS).map(|piece| piece.split_at(piece.trim_end_matches(ENDS).len()));
    let mut pieces = pieces.filter(|(part, _)| !part.is_empty() && *part != ".").peekable();
    let mut pattern = if folder.starts_with('/') { "/".to_owned() } else { String::new() };
    while let Some((part, end)) = pieces.next() {
        pattern += &if part == "*" { "[^/!]+".into() } else { regex::escape(part) };
        // The value does not show whether this part is a folder or an archive, so both ends are allowed.
        pattern += if part == "*" || pieces.peek().is_none() { "[/!]" } else { end };
    }
    pattern + "[^/!]+"
}

/// Maps documents to submissions. The id of a submission is the id of its first document.
#[derive(Default)]
pub(crate) struct Submissions {
    pattern: Option<Regex>,
    /// The first document of each submission, by the submission's name.
    by_name: HashMap<String, u32>,
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
        let compiled = Regex::new(&submission_pattern(pattern)).map_err(|_| Error::InvalidParameter {
            name: "submission_by",
            value: pattern.into(),
            expected: "a folder, or a regular expression such as ^([^/]*)/ for the first folder of a name",
        })?;
        let first = (0..u32::try_from(ids).unwrap_or(u32::MAX)).collect();
        Ok(Self { pattern: Some(compiled), first, ..Self::default() })
    }

    /// Adds a document. Documents must come in order of id. If the pattern matches nothing in the name, the
    /// document is in no submission and stands for itself.
    pub(crate) fn add(&mut self, id: u32, name: &str) {
        if let Some(submission) = self.name_of(name) {
            self.members.insert(id);
            self.first[id as usize] = *self.by_name.entry(submission.to_owned()).or_insert(id);
        }
    }

    /// Notes a boilerplate document, which is in no submission.
    pub(crate) fn note_boilerplate(&mut self, name: &str) {
        self.fits_boilerplate = self.fits_boilerplate || self.name_of(name).is_some();
    }

    /// The name of the submission that a document of this name is part of.
    pub(crate) fn name_of<'a>(&self, name: &'a str) -> Option<&'a str> {
        let found = self.pattern.as_ref()?.captures(name)?;
        found.get(1).or_else(|| found.get(0)).map(|submission| submission.as_str())
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

    /// The name and first document of each submission, in order of name.
    pub(crate) fn by_name(&self) -> Vec<(&str, u32)> {
        let mut names: Vec<(&str, u32)> = self.by_name.iter().map(|(name, &first)| (name.as_str(), first)).collect();
        names.sort_unstable();
        names
    }

    /// The names of submissions, by their first documents. Documents outside any submission have no entry.
    pub(crate) fn into_names(self) -> HashMap<u32, String> {
        self.by_name.into_iter().map(|(name, first)| (first, name)).collect()
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
            ("all.zip!a/*", "^(all\\.zip!a/[^/!]+[/!][^/!]+)[/!]"),
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
            submissions.add(id, name);
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
}
