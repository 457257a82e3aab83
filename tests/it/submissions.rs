//! Submissions: the files of one student count as one document.

use std::collections::{BTreeMap, BTreeSet};

use insta::assert_snapshot;
use serde_json::Value;

use crate::bad_input::told;
use crate::oracle::Random;
use crate::support::{Folder, word};

fn stretch(seed: u64) -> String {
    let mut random = Random(seed * 9973 + 7);
    (0..30).map(|_| word(random.below(100_000) as u64) + " ").collect()
}

/// Submissions of several files. Files of different ones share stretches, and one file is in all.
fn corpus(folder: &Folder) {
    let mut random = Random(5);
    for student in 0..6u64 {
        for file in 0..4u64 {
            let mut text = stretch(1000 + student * 10 + file);
            for _ in 0..3 {
                text.push_str(&stretch(random.below(20) as u64));
            }
            folder.write(&format!("in/s{student}/f{file}.txt"), text);
        }
        folder.write(&format!("in/s{student}/common.txt"), stretch(5000));
    }
    folder.write("in/alone.txt", stretch(3).repeat(2));
    folder.write("out/other.txt", stretch(4) + &stretch(3));
    folder.write("handout.txt", stretch(5000));
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "out"]);
}

fn submission(name: &str) -> String {
    let student = name.strip_prefix("in/").and_then(|rest| rest.split_once('/'));
    student.map_or_else(|| name.to_owned(), |(student, _)| format!("in/{student}"))
}

const ALL: [&str; 5] = ["pairs", "--format", "json", "--min-resemblance", "0"];

fn pairs(folder: &Folder, more: &[&str]) -> Vec<Value> {
    folder.ok(&[&ALL[..], more].concat()).json()
}

fn names(line: &Value) -> (String, String) {
    let [a, b] = ["a", "b"].map(|field| line[field].as_str().unwrap().to_owned());
    if a < b { (a, b) } else { (b, a) }
}

type Trigrams = BTreeSet<Vec<String>>;

/// The trigrams of words of each document in the database, put together by `group`.
fn trigrams(folder: &Folder, group: impl Fn(&str) -> String) -> BTreeMap<String, Trigrams> {
    let mut sets: BTreeMap<String, Trigrams> = BTreeMap::new();
    for document in folder.ok(&["list", "--format", "json"]).json() {
        let name = document["name"].as_str().unwrap();
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        let words: Vec<String> = text.split_whitespace().map(Into::into).collect();
        sets.entry(group(name)).or_default().extend(words.windows(3).map(<[String]>::to_vec));
    }
    sets
}

#[test]
fn submissions_share_what_their_files_share_together() {
    let folder = Folder::new();
    corpus(&folder);
    let mut expected = BTreeMap::new();
    let sets = trigrams(&folder, submission);
    assert_eq!(sets.len(), 8);
    for (a, of_a) in &sets {
        for (b, of_b) in sets.range(a.clone()..).skip(1) {
            let (shared, all) = (of_a.intersection(of_b).count(), of_a.union(of_b).count());
            if shared > 0 {
                expected.insert((a.clone(), b.clone()), (shared as u64, shared as f64 / all as f64));
            }
        }
    }
    for pattern in ["in", "./in/", "^(in/[^/]*)/"] {
        for memory in ["1GiB", "1000"] {
            let found = pairs(&folder, &["--submission-by", pattern, "--memory", memory]);
            let measures = |line: &Value| (line["shared"].as_u64().unwrap(), line["resemblance"].as_f64().unwrap());
            let found: BTreeMap<_, _> = found.iter().map(|line| (names(line), measures(line))).collect();
            assert_eq!(found, expected, "{pattern}, {memory}");
        }
    }
}

#[test]
fn the_files_that_share_most_are_listed_with_their_passages() {
    let folder = Folder::new();
    corpus(&folder);
    let by_file: BTreeMap<_, Value> = pairs(&folder, &[]).into_iter().map(|line| (names(&line), line)).collect();
    for pair in pairs(&folder, &["--submission-by", "in", "--passages"]) {
        let (files, left_out) = (pair["files"].as_array().unwrap(), pair["files_left_out"].as_u64().unwrap_or(0));
        let of_pair = |(a, b): &(String, String)| {
            let (a, b) = (submission(a), submission(b));
            a != b
                && BTreeSet::from([&*a, &*b])
                    == BTreeSet::from([pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap()])
        };
        let expected: Vec<&Value> = by_file.iter().filter(|(names, _)| of_pair(names)).map(|(_, line)| line).collect();
        assert_eq!(files.len() as u64 + left_out, expected.len() as u64);
        assert!(files.len() == 10 || left_out == 0);
        let shared = |line: &Value| line["shared"].as_u64().unwrap();
        assert!(files.is_sorted_by(|x, y| shared(x) >= shared(y)));
        let most = expected.iter().map(|line| shared(line)).max().unwrap();
        assert_eq!(shared(&files[0]), most);
        for file in files {
            // A file of a is `a`, whichever came first.
            assert_eq!(submission(file["a"].as_str().unwrap()), pair["a"]);
            let alone = &by_file[&names(file)];
            assert_eq!((&file["shared"], &file["resemblance"]), (&alone["shared"], &alone["resemblance"]));
            assert!(!file["passages"].as_array().unwrap().is_empty());
        }
    }
}

#[test]
fn boilerplate_and_the_cap_hold_for_submissions() {
    let folder = Folder::new();
    corpus(&folder);
    // Six students hand in one file: six submissions hold its hashes.
    let common = |most: &str| pairs(&folder, &["--submission-by", "in", "--max-df", most]).len();
    assert_eq!(common("6"), common("0"));
    assert!(common("5") < common("0"));
    folder.ok(&["ingest", "-q", "--boilerplate", "handout.txt"]);
    let mut sets = trigrams(&folder, submission);
    let handout = sets.remove("handout.txt").unwrap();
    let found = pairs(&folder, &["--submission-by", "in"]);
    let found: BTreeMap<_, _> = found.iter().map(|line| (names(line), line["shared"].as_u64().unwrap())).collect();
    let mut expected = BTreeMap::new();
    for (a, of_a) in &sets {
        for (b, of_b) in sets.range(a.clone()..).skip(1) {
            let shared = of_a.intersection(of_b).filter(|&trigram| !handout.contains(trigram)).count();
            if shared > 0 {
                expected.insert((a.clone(), b.clone()), shared as u64);
            }
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_terminal_shows_submissions_and_their_files() {
    let folder = Folder::new();
    for (name, text) in [("in/ann/a.txt", stretch(1) + &stretch(2)), ("in/ann/b.txt", stretch(3))] {
        folder.write(name, text);
    }
    folder.write("in/bob/c.txt", stretch(2) + &stretch(3));
    folder.write("in/cy/d.txt", stretch(9));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    assert_snapshot!(told(&folder, &folder.run(&["pairs", "--submission-by", "in"])), @"
    status 0
    --- stdout
    resemblance     a in b     b in a     shared
          63.6%      65.1%      96.6%         56  in/ann  in/bob
                                              28    in/ann/b.txt  in/bob/c.txt
                                              28    in/ann/a.txt  in/bob/c.txt
    1 pair
    ");
    let wrong = folder.run(&["pairs", "--submission-by", "("]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("regular expression"), "{}", wrong.stderr);
    assert_eq!(folder.run(&["pairs", "--submission-by", "in", "--format", "html", "-o", "r"]).status, 2);
}
