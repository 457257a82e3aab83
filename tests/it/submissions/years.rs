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
    // `*` stands for any first folder, so books are submissions too.
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

/// A student repeats the course, and copies from another student of last year.
#[test]
fn the_work_of_two_years_under_one_name_is_two_submissions() {
    let folder = Folder::new();
    folder.write("c/2025/s111/a.txt", stretch(1));
    folder.write("c/2025/s222/a.txt", stretch(2));
    folder.write("c/2026/s111/a.txt", stretch(2) + &stretch(1));
    folder.write("c/2026/s333/a.txt", stretch(3) + &stretch(2));
    folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
    // A student's reuse of his own work is not listed, and neither are pairs within the old year.
    let expected = [("s222", true, "s111", false), ("s222", true, "s333", false), ("s111", false, "s333", false)];
    for divided in [["--old", "c/2025"], ["--new-since", "2"]] {
        let asked = [&["--submission-by", "/(s[0-9]+)/"][..], &divided].concat();
        let found = pairs(&folder, &asked);
        let old = |pair: &serde_json::Value, field: &str| pair[field].as_bool().unwrap_or(false);
        let mut told: Vec<_> = found
            .iter()
            .map(|pair| {
                (pair["a"].as_str().unwrap(), old(pair, "a_old"), pair["b"].as_str().unwrap(), old(pair, "b_old"))
            })
            .collect();
        let mut expected = expected.to_vec();
        expected.retain(|&(_, a_old, _, b_old)| divided[0] == "--old" || a_old != b_old);
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected, "{divided:?}");
        let of_last_year = |pair: &&serde_json::Value| pair["a"] == "s222" && pair["b"] == "s111";
        let files = &found.iter().find(of_last_year).unwrap()["files"];
        let file = (&files[0]["a"], &files[0]["a_old"], &files[0]["b"]);
        assert_eq!(file, (&"c/2025/s222/a.txt".into(), &true.into(), &"c/2026/s111/a.txt".into()));
        assert_eq!(files.as_array().unwrap().len(), 1);
        let run = folder.ok(&[&["pairs"], &asked[..]].concat());
        let said = "1 submission has old and new documents; these are two submissions, and no pair\n";
        assert!(run.stderr.contains(said), "{run:?}");
        let shown = run.stdout;
        assert!(shown.contains("s222  (old)  s111\n"), "{shown}");
        let table = folder.ok(&[&["pairs", "--format", "csv"], &asked[..]].concat()).stdout;
        assert!(table.lines().next().unwrap().ends_with(",a_old,b_old") && table.contains(",true,false\n"), "{table}");
    }
    // Without `--old` and `--new-since`, all works under one name are one submission.
    assert_eq!(pairs(&folder, &["--submission-by", "/(s[0-9]+)/"]).len(), 3);
}
