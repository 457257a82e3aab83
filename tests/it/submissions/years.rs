//! Years: the submissions of two years lie in the folders of two years.

use std::collections::BTreeSet;

use super::{names, pairs, stretch};
use crate::support::Folder;

#[test]
fn the_folders_of_several_folders_are_submissions_and_those_of_last_year_are_old() {
    let folder = Folder::new();
    for (name, seed) in [("2025/ann/a.txt", 1), ("2025/bob/b.txt", 1), ("2026/cy/c.txt", 1), ("2026/ann/d.txt", 2)] {
        folder.write(name, stretch(seed) + &stretch(9));
        folder.write(&name.replace(".txt", "/more.txt"), stretch(100 + seed));
    }
    folder.write("books/old/one.txt", stretch(1));
    folder.write("books/new/one.txt", stretch(2));
    folder.ok(&["ingest", "-q", "--profile", "words", "2025", "2026", "books"]);
    let found = |flags: &[&str]| -> BTreeSet<(String, String)> { pairs(&folder, flags).iter().map(names).collect() };
    let set = |pairs: &[(&str, &str)]| -> BTreeSet<(String, String)> {
        pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
    };
    let [ann, bob, cy, other] = ["2025/ann", "2025/bob", "2026/cy", "2026/ann"];
    let years = set(&[(ann, bob), (ann, other), (ann, cy), (bob, other), (bob, cy), (other, cy)]);
    // Files outside the two years are separate documents.
    let of_books = |books: [&str; 2]| set(&[(ann, books[0]), (bob, books[0]), (cy, books[0]), (other, books[1])]);
    let files = of_books(["books/old/one.txt", "books/new/one.txt"]);
    for value in ["2025,2026", "./2025/,2026", "^(202[56]/[^/]*)/"] {
        let without_order = |pairs: BTreeSet<(String, String)>| -> BTreeSet<(String, String)> {
            pairs.into_iter().map(|(a, b)| if a < b { (a, b) } else { (b, a) }).collect()
        };
        let expected = without_order(years.union(&files).cloned().collect());
        assert_eq!(found(&["--submission-by", value]), expected, "{value}");
        let new = without_order(
            expected.iter().filter(|(a, b)| [a, b].iter().any(|name| name.starts_with("2026"))).cloned().collect(),
        );
        assert_eq!(found(&["--submission-by", value, "--old", "2025", "books"]), new, "{value}");
    }
    // `*` is any first folder: books are submissions too.
    let all = found(&["--submission-by", "*"]);
    assert!(all.contains(&("2025/ann".into(), "books/old".into())) && years.is_subset(&all), "{all:?}");
    let asked = ["query", "--submission-by", "2025,2026", "books/old/one.txt", "--format", "json"];
    let answer = folder.ok(&asked).json().remove(0);
    let matched: BTreeSet<&str> =
        answer["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap()).collect();
    assert_eq!(matched, BTreeSet::from([ann, bob, cy, "books/old/one.txt"]));
    let run = folder.run(&["pairs", "--submission-by", "2023,2024/*"]);
    assert!(run.status == 2 && run.stderr.contains("2023,2024/*"), "{run:?}");
}
