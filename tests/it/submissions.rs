//! Submissions: the files of one student count as one document.

mod as_queries;
mod by_files;
mod platforms;
mod years;

use std::collections::{BTreeMap, BTreeSet};

use insta::assert_snapshot;
use serde_json::Value;

use crate::bad_input::told;
use crate::oracle::Random;
use crate::support::{Folder, word, zip};

fn stretch(seed: u64) -> String {
    let mut random = Random(seed * 9973 + 7);
    (0..30).map(|_| word(random.below(100_000) as u64) + " ").collect()
}

/// Submissions of several files. Files of different submissions share stretches, and one file is in all.
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

/// The trigrams of words of the documents in the database, united by the group that `group` gives to each
/// name.
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
            // In the pair of files, `a` is the file of submission `a`, even if the other file was ingested
            // first.
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
    let figures = |line: &Value| ["shared", "containment_a", "score"].map(|name| line[name].as_f64().unwrap());
    let found = pairs(&folder, &["--submission-by", "in"]);
    let found: BTreeMap<_, _> = found.iter().map(|line| (names(line), figures(line))).collect();
    let sizes: BTreeMap<_, _> = sets.iter().map(|(name, set)| (name.clone(), set.len() as f64)).collect();
    // Handed-out text does not count as shared, and the score excludes it from the sizes.
    sets.values_mut().for_each(|set| set.retain(|trigram| !handout.contains(trigram)));
    let mut expected = BTreeMap::new();
    for (a, of_a) in &sets {
        for (b, of_b) in sets.range(a.clone()..).skip(1) {
            let shared = of_a.intersection(of_b).count() as f64;
            let union = of_a.union(of_b).count() as f64;
            if shared > 0.0 {
                expected.insert((a.clone(), b.clone()), [shared, shared / sizes[a], shared / union]);
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
          48.3%     100.0%      48.3%         28    in/ann/b.txt  in/bob/c.txt
          31.8%      48.3%      48.3%         28    in/ann/a.txt  in/bob/c.txt
    1 pair
    ");
    let wrong = folder.run(&["pairs", "--submission-by", "("]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("regular expression"), "{}", wrong.stderr);
}

/// The answer to a query whose matches are submissions: all matches, unless `more` limits them.
fn query(folder: &Folder, more: &[&str]) -> Value {
    let flags = ["query", "--format", "json", "--submission-by", "in"];
    folder.ok(&[&flags[..], more].concat()).json().remove(0)
}

fn trigrams_of(text: &str) -> Trigrams {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(3).map(|three| three.iter().map(|&word| word.to_owned()).collect()).collect()
}

fn measures(of: &Trigrams, other: &Trigrams) -> (u64, [f64; 3]) {
    let shared = of.intersection(other).count() as f64;
    let union = of.union(other).count() as f64;
    (shared as u64, [shared / of.len() as f64, shared / other.len() as f64, shared / union])
}

fn measured(found: &Value) -> (u64, [f64; 3]) {
    let of = |field: &str| found[field].as_f64().unwrap();
    (found["shared"].as_u64().unwrap(), [of("containment"), of("document_containment"), of("resemblance")])
}

#[test]
fn a_query_matches_submissions_by_what_their_files_hold_together() {
    let folder = Folder::new();
    corpus(&folder);
    let text = stretch(3) + &stretch(7) + &stretch(1012) + &stretch(5000) + &stretch(9999);
    folder.write("essay.txt", &text);
    let asked = trigrams_of(&text);
    let (together, alone) = (trigrams(&folder, submission), trigrams(&folder, ToOwned::to_owned));
    for mode in [&["--mode", "containment"][..], &["--mode", "resemblance", "-n", "100000"], &["--no-passages"]] {
        let answer = query(&folder, &[mode, &["essay.txt"]].concat());
        let expected: BTreeMap<&str, _> = together.iter().map(|(name, set)| (&**name, measures(&asked, set))).collect();
        let expected: BTreeMap<&str, _> = expected.into_iter().filter(|(_, (shared, _))| *shared > 0).collect();
        let matches = answer["matches"].as_array().unwrap();
        let found: BTreeMap<&str, _> =
            matches.iter().map(|found| (found["document"].as_str().unwrap(), measured(found))).collect();
        assert_eq!(found, expected, "{mode:?}");
        assert_eq!(answer["matching_documents"], matches.len());
        assert!(matches.is_sorted_by(|x, y| x["score"].as_f64() >= y["score"].as_f64()));
        for found in matches {
            let name = found["document"].as_str().unwrap();
            let Some(files) = found["files"].as_array() else {
                assert_eq!(submission(name), name, "a submission has files");
                continue;
            };
            assert!(found["passages"].as_array().unwrap().is_empty());
            let sharing = alone.iter().filter(|(file, _)| submission(file) == name).map(|(file, set)| (&**file, set));
            let sharing =
                sharing.map(|(file, set)| (file, measures(&asked, set))).filter(|(_, (shared, _))| *shared > 0);
            let listed = files.iter().map(|file| (file["document"].as_str().unwrap(), measured(file)));
            assert_eq!(listed.collect::<BTreeMap<_, _>>(), sharing.collect(), "{name}");
            assert!(files.is_sorted_by(|x, y| x["shared"].as_u64() >= y["shared"].as_u64()));
            if mode == ["--no-passages"] {
                continue;
            }
            // Each word is in a passage of some file, or in none.
            let ranges = files.iter().flat_map(|file| file["passages"].as_array().unwrap());
            let ranges: Vec<[usize; 2]> = ranges
                .map(|passage| ["start", "end"].map(|end| passage["query"][end].as_u64().unwrap() as usize))
                .collect();
            assert!(!ranges.is_empty(), "{name}");
            let words = text.split_whitespace().map(|word| word.as_ptr() as usize - text.as_ptr() as usize);
            let covered =
                words.clone().filter(|at| ranges.iter().any(|[start, end]| (start..end).contains(&at))).count();
            assert_eq!(found["coverage"].as_f64().unwrap(), covered as f64 / words.count() as f64, "{name}");
        }
    }
    let best = query(&folder, &["essay.txt", "--top", "1"]);
    assert_eq!(best["matches"].as_array().unwrap().len(), 1);
}

#[test]
fn a_stored_query_does_not_match_its_own_submission_and_the_cap_counts_submissions() {
    let folder = Folder::new();
    corpus(&folder);
    let names = |answer: &Value| -> BTreeSet<String> {
        let names =
            answer["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap().to_owned());
        names.collect()
    };
    let all: BTreeSet<String> = (0..6).map(|student| format!("in/s{student}")).collect();
    // One file is in all six submissions.
    let others = query(&folder, &["--document", "in/s2/common.txt"]);
    let expected: BTreeSet<String> = all.iter().filter(|name| *name != "in/s2").cloned().collect();
    assert_eq!(names(&others), expected);
    for found in others["matches"].as_array().unwrap() {
        assert_eq!((&found["identical"], &found["containment"]), (&true.into(), &1.0.into()));
    }
    let common = |most: &str| query(&folder, &["--document", "in/s2/common.txt", "--max-df", most]);
    assert_eq!(names(&common("6")), expected);
    let none = common("5");
    assert_eq!(none["common"], none["looked_up"]);
    // Identical bytes always match.
    assert_eq!(names(&none), expected);
    // A file that came later is part of its submission too.
    folder.write("in/s2/more.txt", stretch(7777));
    folder.write("asked.txt", stretch(7777));
    folder.ok(&["ingest", "-q", "in"]);
    assert_eq!(names(&query(&folder, &["asked.txt"])), BTreeSet::from(["in/s2".to_owned()]));
}

#[test]
fn the_rows_of_a_query_name_the_submission() {
    let folder = Folder::new();
    folder.write("in/ann/a.txt", stretch(1) + &stretch(2));
    folder.write("in/ann/b.txt", stretch(3));
    folder.write("in/bob/c.txt", stretch(4));
    folder.write("other.txt", stretch(3));
    folder.write("asked.txt", stretch(2) + &stretch(3) + &stretch(4));
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "other.txt"]);
    assert_snapshot!(told(&folder, &folder.run(&["query", "--submission-by", "in", "asked.txt"])), @"
    status 0
    --- stdout
    asked.txt  439 bytes, 90 symbols, 88 fingerprints at window 1
      84 of 88 fingerprints found (95.5%), in 3 submissions
      containment  of document  resemblance  document
            63.6%        65.1%        47.5%  in/ann
            31.8%       100.0%        31.8%    in/ann/b.txt
          line 1 = line 1, bytes 145-292 = 0-147, 30 symbols
            31.8%        48.3%        23.7%    in/ann/a.txt
          line 1 = line 1, bytes 0-144 = 146-290, 30 symbols
            31.8%       100.0%        31.8%  in/bob
            31.8%       100.0%        31.8%    in/bob/c.txt
          line 1 = line 1, bytes 293-438 = 0-145, 30 symbols
            31.8%       100.0%        31.8%  other.txt
          line 1 = line 1, bytes 145-292 = 0-147, 30 symbols
    ");
    let table = folder.ok(&["query", "--submission-by", "in", "--format", "csv", "asked.txt"]).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    let (document, of) = (column("document"), column("submission"));
    let of_rows: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[document], row[of])).collect();
    assert_eq!(
        of_rows,
        [
            ("in/ann", ""),
            ("in/ann/b.txt", "in/ann"),
            ("in/ann/a.txt", "in/ann"),
            ("in/bob", ""),
            ("in/bob/c.txt", "in/bob"),
            ("other.txt", "")
        ]
    );
    let corpus = folder.ok(&["query", "--submission-by", "in", "--by-corpus", "--format", "json", "asked.txt"]).json();
    let places: BTreeSet<&str> =
        corpus[0]["places"].as_array().unwrap().iter().map(|place| place["document"].as_str().unwrap()).collect();
    assert_eq!(places, BTreeSet::from(["in/ann/a.txt", "in/ann/b.txt", "in/bob/c.txt"]));
    let wrong = folder.run(&["query", "--submission-by", "(", "asked.txt"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("regular expression"), "{}", wrong.stderr);
}

/// The coverage by a submission is that by all its documents, listed or not.
#[test]
fn what_a_submission_covers_is_in_all_of_its_files() {
    let folder = Folder::new();
    for file in 0..13 {
        folder.write(&format!("in/s/f{file:02}.txt"), stretch(file));
    }
    folder.write("in/t/one.txt", stretch(100));
    folder.write("essay.txt", (0..13).map(stretch).collect::<String>());
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let asked = ["query", "essay.txt", "--submission-by", "in", "--format", "json"];
    let answer = folder.ok(&asked).json().remove(0);
    let found = &answer["matches"][0];
    assert_eq!((&found["document"], &found["files_left_out"]), (&"in/s".into(), &3.into()));
    assert_eq!((found["files"].as_array().unwrap().len(), &found["coverage"]), (10, &1.0.into()));
    let without = folder.ok(&[&asked[..], &["--no-passages"]].concat()).json().remove(0);
    assert!(without["matches"][0]["coverage"].is_null() && without["matches"][0]["files"][0]["coverage"].is_null());
}

/// The download of a whole class is one archive. The folders in it are the submissions.
#[test]
fn the_folders_in_an_archive_are_submissions() {
    let folder = Folder::new();
    let files = [("ann", 0), ("ann", 1), ("bob", 0), ("bob", 2), ("eve", 3)];
    let member =
        |(student, file): (&str, u64)| (format!("{student}/f{file}.txt"), stretch(40 + file) + &stretch(50 + file));
    folder.write("all.zip", zip(files.map(member)));
    folder.write("one.zip.d/f.txt", stretch(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "all.zip", "one.zip.d"]);
    for value in ["all.zip", "all.zip!", "./all.zip", "^(all.zip![^/]+)/"] {
        let found = pairs(&folder, &["--submission-by", value]);
        assert_eq!(found.iter().map(names).collect::<Vec<_>>(), [("all.zip!ann".into(), "all.zip!bob".into())]);
    }
    // Old programs of Windows separate folders by backslashes.
    folder.write("old.zip", zip(files.map(member).map(|(name, text)| (name.replace('/', "\\"), text))));
    folder.ok(&["ingest", "-q", "old.zip"]);
    let mut found: Vec<_> = pairs(&folder, &["--submission-by", "old.zip"]).iter().map(names).collect();
    found.retain(|(a, b)| a.starts_with("old.zip!") && b.starts_with("old.zip!"));
    assert_eq!(found, [("old.zip!ann".into(), "old.zip!bob".into())]);
    folder.ok(&["rm", "-q", "--prefix", "old.zip!", "--yes"]);
    for (command, value) in
        [(&["pairs"][..], "one.zip.d"), (&["pairs"], "./one.zip.d/"), (&["query", "all.zip"], "./one.zip.d")]
    {
        let run = folder.run(&[command, &["--submission-by", value]].concat());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("one.zip.d has documents, but no folder or archive with some"), "{run:?}");
    }
    // `*` is any folder or archive.
    folder.ok(&["rm", "-q", "--prefix", "all.zip!", "--yes"]);
    std::fs::create_dir(folder.path().join("groups")).unwrap();
    std::fs::rename(folder.path().join("all.zip"), folder.path().join("groups/1.zip")).unwrap();
    folder.ok(&["ingest", "-q", "groups"]);
    let found = pairs(&folder, &["--submission-by", "groups/*"]);
    assert_eq!(found.iter().map(names).collect::<Vec<_>>(), [("groups/1.zip!ann".into(), "groups/1.zip!bob".into())]);
}

/// The error for `--group-by` names another way, and this way works.
#[test]
fn submissions_of_one_group_are_kept_apart_by_metadata() {
    let folder = Folder::new();
    corpus(&folder);
    let refused = folder.run(&["pairs", "--submission-by", "in", "--group-by", "^in/s[12]"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("give their files the same `group` (fpdb ingest --metadata FILE)"), "{refused:?}");
    let team = |line: &Value| [&line["a"], &line["b"]].iter().all(|name| *name == "in/s1" || *name == "in/s2");
    assert_eq!(pairs(&folder, &["--submission-by", "in"]).iter().filter(|line| team(line)).count(), 1);
    let before = pairs(&folder, &["--submission-by", "in"]).len();
    // It is enough that one file of a submission has the group, even if it is not the first file.
    folder.write("groups.csv", "filename,group\nin/s1/f0.txt,team\nin/s2/f1.txt,team\n");
    folder.ok(&["ingest", "-q", "in", "--metadata", "groups.csv"]);
    let after = pairs(&folder, &["--submission-by", "in"]);
    assert_eq!((after.len(), after.iter().filter(|line| team(line)).count()), (before - 1, 0));
    folder.write("groups.csv", "filename,group\nin/s1/f0.txt,team\nin/s1/f1.txt,other\n");
    folder.ok(&["ingest", "-q", "in", "--metadata", "groups.csv"]);
    // Files of one submission in two groups: the field has another purpose, and no pair is left out.
    assert_eq!(pairs(&folder, &["--submission-by", "in"]).len(), before);
    let database = fpdb::Database::open(folder.path().join(".fpdb")).unwrap();
    let options = fpdb::pairs::PairsOptions::of(database.profile())
        .submission_by(Some("in".into()))
        .group_by(fpdb::pairs::GroupBy::Name("f[0-9]".into()));
    let refused = database.pairs(&options, &fpdb::Task::new()).map(|_| ()).unwrap_err().to_string();
    assert!(refused.ends_with("expected the group of the other files of its submission"), "{refused}");
}

#[test]
fn the_notes_name_the_flags_that_were_given() {
    let folder = Folder::new();
    corpus(&folder);
    let told = |flags: &[&str]| folder.ok(&[&["pairs"], flags].concat()).stderr;
    assert_eq!(told(&[]), "");
    let one = told(&["--submission-by", "^()"]);
    assert!(
        one.starts_with("all documents are one submission (--submission-by ^()), so there are no pairs\n"),
        "{one}"
    );
    let one = told(&["--submission-by", "^()", "--old", "in/s1"]);
    assert!(one.starts_with("all documents are one submission") && !one.contains("--new-since"), "{one}");
    let old = told(&["--submission-by", "in", "--old", "in/s1/f1.txt"]);
    assert!(!old.contains("none of"), "the old file of s1 is a submission of its own: {old}");
    // The first file of each submission has no fingerprints, so its size is not that of the submission.
    for student in 0..6 {
        folder.write(&format!("in/s{student}/a.txt"), "short");
    }
    folder.ok(&["--db", "again", "ingest", "-q", "--profile", "words", "in", "out"]);
    let short = told(&["--db", "again", "--submission-by", "in", "--old", "in/s1"]);
    let here = told(&["--submission-by", "in", "--old", "in/s1"]);
    // A printed command acts on the same database.
    assert_eq!(short.replace("ingest --db again --boilerplate", "ingest --boilerplate"), here);
    assert!(short.contains("of 7 new submissions, like those of a text that was handed out"), "{short}");
}

/// A note names a library that is in many submissions, until it is marked as boilerplate. The printed
/// commands mark it.
#[test]
fn a_file_that_many_submissions_hold_is_named() {
    let folder = Folder::new();
    let library = (0..4).map(|part| stretch(900 + part)).collect::<String>();
    for student in 0..12u64 {
        let mut members = vec![("own.txt", stretch(student)), ("empty.txt", "the same few words".into())];
        members.extend((student < 5).then(|| ("node_modules/lib/it's.txt", library.clone())));
        folder.write(&format!("in/{student:02}.zip"), zip(members));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let told = || folder.ok(&["pairs", "--submission-by", "in"]).stderr;
    let said = "the same file is in 5 submissions: in/00.zip!node_modules/lib/it's.txt; if it is a library or was \
                handed out, `";
    let note = told();
    let commands: Vec<&str> = note.split_once(said).unwrap().1.split('`').step_by(2).take(2).collect();
    for command in commands {
        let typed = command.replacen("fpdb", env!("CARGO_BIN_EXE_fpdb"), 1);
        let run = std::process::Command::new("sh").current_dir(folder.path()).args(["-c", &typed]).status();
        assert!(run.unwrap().success(), "{command}");
    }
    assert!(!told().contains("the same file"), "{}", told());
    // Four submissions may be just a group of copies.
    folder.ok(&["--db", "four", "ingest", "-q", "--profile", "words", "in", "--exclude", "00.zip"]);
    let four = folder.ok(&["--db", "four", "pairs", "--submission-by", "in"]).stderr;
    assert!(!four.contains("the same file"), "{four}");
}

#[test]
fn documents_in_no_submission_are_counted() {
    let folder = Folder::new();
    corpus(&folder);
    let told = |value: &str| folder.ok(&["pairs", "--submission-by", value]).stderr;
    let both = "2 documents are in no submission (--submission-by in) and stand for themselves\n";
    assert!(told("in").contains(both), "{}", told("in"));
    let one = "1 document is in no submission (--submission-by in,out) and stands for itself\n";
    folder.write("out/x/a.txt", stretch(4));
    folder.ok(&["ingest", "-q", "out/x"]);
    folder.ok(&["rm", "in/alone.txt"]);
    assert!(told("in,out").contains(one), "{}", told("in,out"));
    assert!(!told(".").contains("in no submission"), "{}", told("."));
}

/// In the name of a folder or file, a `!` does not end the name of an archive. Inside an archive, each `!`
/// does.
#[test]
fn exclamation_marks_in_names_divide_no_submission() {
    let folder = Folder::new();
    folder.write("ex/s!1/a.txt", stretch(1));
    folder.write("ex/s!2/a.txt", stretch(1) + &stretch(2));
    folder.write("ex/s!3.zip", zip([("a!b/a.txt", stretch(1) + &stretch(3)), ("b.txt", stretch(4))]));
    folder.ok(&["ingest", "-q", "--profile", "words", "ex"]);
    let found: BTreeSet<_> = pairs(&folder, &["--submission-by", "ex"]).iter().map(names).collect();
    let [one, two, three] = ["ex/s!1", "ex/s!2", "ex/s!3.zip"].map(str::to_owned);
    assert_eq!(found, BTreeSet::from([(one.clone(), two.clone()), (one, three.clone()), (two, three)]));
    let inside: BTreeSet<_> =
        pairs(&folder, &["--submission-by", "ex/s!3.zip", "--min-shared", "1"]).iter().map(names).collect();
    assert!(inside.contains(&("ex/s!1/a.txt".into(), "ex/s!3.zip!a".into())), "{inside:?}");
    let asked = ["query", "ex", "--submission-by", "ex", "--format", "json"];
    let queries = folder.ok(&asked).json();
    let queries: Vec<&str> = queries.iter().map(|answer| answer["query"]["name"].as_str().unwrap()).collect();
    assert_eq!(queries, ["ex/s!1", "ex/s!2", "ex/s!3.zip"]);
    // The archives in an archive are submissions, whatever their names.
    let jar = |seed| zip([("src/A.txt", stretch(1) + &stretch(seed))]);
    folder.write("all.zip", zip([("ann.jar", jar(5)), ("bob.jar", jar(6))]));
    folder.ok(&["--db", "jars", "ingest", "-q", "--profile", "words", "all.zip"]);
    let asked = ["--db", "jars", "pairs", "--submission-by", "all.zip", "--format", "json"];
    let found: Vec<_> = folder.ok(&asked).json().iter().map(names).collect();
    assert_eq!(found, [("all.zip!ann.jar".to_owned(), "all.zip!bob.jar".to_owned())]);
}
