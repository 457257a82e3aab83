//! Documents of the same bytes in two formats: each is compared by its own text, and one is removable as
//! identical if another stays.

use super::{sentence, sentences};
use crate::support::Folder;

/// The removable documents, each with its survivor and the cause.
fn removed(folder: &Folder, flags: &[&str]) -> Vec<String> {
    let lines = folder.ok(&[&["dedup", "-q", "--format", "json"], flags].concat()).json();
    let rows = lines.iter().filter(|line| line["schema"] == "fpdb.dedup/1");
    rows.map(|line| ["remove", "keep", "because"].map(|field| line[field].as_str().unwrap()).join(" ")).collect()
}

fn ingest(folder: &Folder, files: &[(&str, &str)]) {
    for (name, text) in files {
        folder.write(name, text);
        folder.ok(&["ingest", "-q", "--profile", "words", name]);
    }
}

/// In Markdown a comment is no text. So the page is part of a document that does not hold the comment.
#[test]
fn only_the_text_that_a_survivor_holds_goes_with_it() {
    let (text, comment) = (sentences(0..2), sentences(10..17));
    let both = format!("{text}\n\n<!-- {comment} -->");
    let longer = format!("{text} {}", sentence(20));
    // In any order of arrival and of worth.
    let files = [("a.md", &both[..]), ("a.txt", &both), ("b.txt", &longer)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let folder = Folder::new();
        ingest(&folder, &order.map(|place| files[place]));
        for keep in ["longest", "first"] {
            let by_containment = ["--by", "containment", "--max-novel", "none", "--keep", keep];
            let mut found = removed(&folder, &by_containment);
            // The page is identical to the text, and contained in the longer document.
            let is_first = |one: usize, other: usize| {
                keep == "first"
                    && order.iter().position(|&place| place == one) < order.iter().position(|&place| place == other)
            };
            let expected = match (is_first(0, 1), is_first(2, 1)) {
                (true, _) if is_first(0, 2) => vec!["a.txt a.md identical"],
                (_, true) => vec!["a.md b.txt contained"],
                _ => vec!["a.md a.txt identical"],
            };
            assert_eq!(found, expected, "{order:?} {keep}");
            found = removed(&folder, &[&by_containment[..], &["--append"]].concat());
            assert_eq!(found, expected, "{order:?} {keep}");
            std::fs::remove_file(folder.path().join(".fpdb/dedup-decisions")).unwrap();
            assert_eq!(removed(&folder, &["--keep", keep]).len(), 1);
        }
    }
}

#[test]
fn the_same_text_is_that_of_each_format() {
    let (text, comment) = (sentences(0..2), sentences(10..17));
    let both = format!("{text}\n\n<!-- {comment} -->");
    let folder = Folder::new();
    ingest(&folder, &[("0c.txt", &text), ("a.md", &both), ("a.txt", &both), ("copy.md", &both)]);
    let first = ["--by", "exact-text", "--keep", "first"];
    let same = ["a.md 0c.txt same-text", "copy.md 0c.txt same-text"];
    assert_eq!(removed(&folder, &first), same);
    // A document that is identical to a survivor is not a survivor itself.
    let longest = ["a.md a.txt identical", "copy.md a.txt identical"];
    assert_eq!(removed(&folder, &["--by", "exact-text"]), longest);
    // The decisions of earlier runs stand. So a page stays, although a new document is identical to it.
    for (flags, alone) in [(&["--by", "exact-text"], "exact-text"), (&["--by", "containment"], "containment")] {
        let folder = Folder::new();
        ingest(&folder, &[("a.md", &both)]);
        let append = [&flags[..], &["--append"]].concat();
        assert_eq!(removed(&folder, &append), [""; 0], "{alone}");
        ingest(&folder, &[("a.txt", &both)]);
        let lines = folder.ok(&[&["dedup", "-q", "--format", "json"][..], &append].concat()).json();
        assert_eq!(lines[0]["schema"], "fpdb.dedup.superseded/1", "{alone}");
        let row = ["document", "by", "because"].map(|field| lines[0][field].as_str().unwrap());
        assert_eq!(row, ["a.md", "a.txt", "identical"], "{alone}");
        ingest(&folder, &[("b.txt", &both)]);
        assert_eq!(removed(&folder, &append), ["b.txt a.txt identical"], "{alone}");
    }
}
