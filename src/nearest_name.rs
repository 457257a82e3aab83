//! Nearest name: finds the stored name that is most similar to a name that no document has.

use std::path::Path;

use crate::ingest::first_names::names_by_path;
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{PARTS, absolute_name};
use fpdb_store::Store;

/// Maximum bytes of a name's beginning that is compared with the typed name.
const LONGEST: usize = 200;

/// Maximum number of characters of a typed name whose edits are counted. A longer typed name differs from any
/// [`LONGEST`] bytes in more than a third of its characters.
const LONGEST_TYPED: usize = 300;

/// Maximum number of bytes of a path. For a longer typed name, no stored name is searched.
const LONGEST_PATH: usize = 4096;

/// Maximum number of names to compare, which takes some tenths of a second.
const MOST_NAMES: usize = 100_000;

/// The stored name that is most similar to `typed`, or the beginning of such a name that ends with a
/// component. `None` if none is similar, or if `typed` is longer than a path may be. A document or folder
/// at the path `typed` comes first, if the host lets paths be told. If documents lie below `typed`, the
/// result is this folder with `/` at its end, or this archive with `!`. Next come a folder or archive that
/// begins with `typed`, and then a name with `typed` as its last components. Otherwise compares the names
/// in the longest folder of `typed` that exists. Each of these searches looks at no more than 100,000
/// names.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped); a failure to read the store.
pub(crate) fn nearest_name(store: &Store, typed: &str, stop: &StopToken) -> Result<Option<String>> {
    let wanted = typed.trim_end_matches(['/', '!']);
    if wanted.is_empty() || typed.len() > LONGEST_PATH {
        return Ok(None);
    }
    if store.tells_paths()
        && let Some(name) = at_path(store, typed)?
    {
        return Ok(Some(name));
    }
    for below in ["/", "!"].map(|end| format!("{wanted}{end}")) {
        if begins_a_name(store, &below)? {
            return Ok(Some(below));
        }
    }
    let longer = |name: &str| Some(wanted.len() + name.get(wanted.len()..)?.find(['/', '!'])?);
    if let Some(longer) = shortest(store, wanted, longer, stop)? {
        return Ok(Some(longer));
    }
    if let Some(elsewhere) = shortest(store, "", |name| end_below(name, wanted), stop)? {
        return Ok(Some(elsewhere));
    }
    let folders = typed.match_indices('/').rev().map(|(at, _)| &typed[..=at]).chain([""]);
    for folder in folders {
        if begins_a_name(store, folder)? {
            return nearest_in(store, folder, typed, stop);
        }
    }
    Ok(None)
}

/// The end of the first place in `name` that has exactly the components `wanted` and is below another
/// component.
fn end_below(name: &str, wanted: &str) -> Option<usize> {
    let is_below = |&(start, _): &(usize, &str)| name[..start].ends_with(['/', '!']);
    let mut ends = name.match_indices(wanted).filter(is_below).map(|(start, _)| start + wanted.len());
    ends.find(|&end| end == name.len() || name[end..].starts_with(['/', '!']))
}

/// The shortest beginning of a name that ends where `end_of` finds an end. Searches the names that begin with
/// `beginning`.
fn shortest(
    store: &Store,
    beginning: &str,
    end_of: impl Fn(&str) -> Option<usize>,
    stop: &StopToken,
) -> Result<Option<String>> {
    let (mut shortest, mut looked_at) = (None::<String>, 0);
    store.for_each_name_beginning(beginning, |mut name, _| {
        stop.check()?;
        if let Some(end) = end_of(&name).filter(|&end| shortest.as_ref().is_none_or(|known| end < known.len())) {
            name.truncate(end);
            shortest = Some(name);
        }
        looked_at += 1;
        Ok(looked_at < MOST_NAMES)
    })?;
    Ok(shortest)
}

/// The name of the document that was read from the path `typed`, whatever folder its ingest ran in. The path
/// may end with the suffix of a part. For a folder, the beginning of the names of its documents.
fn at_path(store: &Store, typed: &str) -> Result<Option<String>> {
    let names = names_by_path(store)?;
    let parts = typed.rmatch_indices(PARTS).map(|(at, _)| at).filter(|&at| at > 0);
    for end in [typed.len()].into_iter().chain(parts) {
        let (path, part) = typed.split_at(end);
        let Ok(path) = absolute_name(Path::new(path)) else { continue };
        for name in names(&path) {
            let name = name + part;
            for id in store.documents_named(&name)? {
                if store.document(id)?.source.as_deref() == Some(&path) {
                    return Ok(Some(name));
                }
            }
        }
        for folder in names(&format!("{path}/")) {
            if part.is_empty() && !folder.is_empty() && begins_a_name(store, &folder)? {
                return Ok(Some(folder));
            }
        }
    }
    Ok(None)
}

fn begins_a_name(store: &Store, beginning: &str) -> Result<bool> {
    let mut begins = false;
    store.for_each_name_beginning(beginning, |_, _| {
        begins = true;
        Ok(false)
    })?;
    Ok(begins)
}

fn nearest_in(store: &Store, folder: &str, typed: &str, stop: &StopToken) -> Result<Option<String>> {
    let wanted = typed.trim_end_matches('/');
    if wanted.chars().nth(LONGEST_TYPED).is_some() {
        return Ok(None);
    }
    let mut nearest = None;
    // The largest distance of a similar name. Names at larger distances resemble the typed name only by
    // chance.
    let mut least = wanted[folder.len().min(wanted.len())..].chars().count() / 3 + 1;
    let (mut last, mut looked_at) = (String::new(), 0);
    store.for_each_name_beginning(folder, |name, _| {
        stop.check()?;
        let ends = name.match_indices(['/', '!']).map(|(end, _)| end).chain([name.len()]);
        for end in ends.filter(|&end| end > folder.len() && end <= LONGEST) {
            let beginning = &name[..end];
            // Consecutive names often have the same beginning, which was then compared before.
            let is_known = |rest: &str| rest.is_empty() || rest.starts_with(['/', '!']);
            if last.strip_prefix(beginning).is_some_and(is_known) || beginning.len().abs_diff(wanted.len()) > 4 * least
            {
                continue;
            }
            let distance = edits(wanted, beginning);
            if distance < least {
                least = distance;
                nearest = Some(beginning.to_owned());
            }
        }
        last = name;
        looked_at += 1;
        Ok(least > 0 && looked_at < MOST_NAMES)
    })?;
    Ok(nearest)
}

/// The number of characters to insert, delete or change to turn one text into the other (Levenshtein 1966).
pub(crate) fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, from) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, &to) in other.iter().enumerate() {
            let change = diagonal + usize::from(from != to);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use fpdb_host::error::Error;
    use fpdb_host::progress::Task;
    use fpdb_kernel::profile::Profile;
    use fpdb_store::StoreOptions;

    use super::*;
    use crate::Document;
    use crate::ingest::{IngestOptions, ingest_documents};

    #[test]
    fn a_search_ends_at_a_stop_and_soon_for_a_long_name() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("db"), &Profile::PROSE, &StoreOptions::default()).unwrap();
        let names = (0..1000).map(|number| format!("a-long-name-{number:0180}"));
        let documents: Vec<_> = names.map(|name| Document::new(name, "text")).collect();
        ingest_documents(&store, documents.into_iter(), &IngestOptions::default(), &Task::new()).unwrap();
        let (going, stopped) = (StopToken::new(), StopToken::new());
        stopped.stop();
        let typed = format!("a-long-name+{:0180}", 7);
        assert!(nearest_name(&store, &typed, &going).unwrap().is_some());
        assert!(matches!(nearest_name(&store, &typed, &stopped), Err(Error::Stopped)));
        // To count the edits between such a name and all stored names would take hours.
        for long in [LONGEST_PATH, 1 << 20] {
            assert_eq!(nearest_name(&store, &"a".repeat(long), &going).unwrap(), None);
            assert_eq!(nearest_name(&store, &"a#".repeat(long), &going).unwrap(), None);
        }
    }

    #[test]
    fn the_last_components_are_found_below_others() {
        for (name, expected) in [
            ("case/papers/gazette.html", Some("case/papers/gazette.html")),
            ("all.zip!gazette.html", Some("all.zip!gazette.html")),
            ("a/gazette.html!x", Some("a/gazette.html")),
            ("a/my-gazette.html/gazette.html", Some("a/my-gazette.html/gazette.html")),
            ("gazette.html", None),
            ("a/gazette.html.bak", None),
        ] {
            assert_eq!(end_below(name, "gazette.html").map(|end| &name[..end]), expected);
        }
    }

    #[test]
    fn edits_are_counted() {
        for (one, other, expected) in [("clas", "class", 1), ("", "abc", 3), ("kitten", "sitting", 3), ("a", "a", 0)] {
            assert_eq!(edits(one, other), expected);
            assert_eq!(edits(other, one), expected);
        }
    }
}
