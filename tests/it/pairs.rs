//! All pairs, and two files compared: against each other and against one query a document.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Folder, shared_data, word};

/// Documents of words in which neighbours share sentences, and all share one.
fn corpus(folder: &Folder) {
    let sentence = |seed: u64| -> String { (0..12).map(|place| word((seed * 31 + place * 17) % 997) + " ").collect() };
    for document in 0..24u64 {
        let part = if document < 12 { "old" } else { "new" };
        let mut text = sentence(5000);
        for line in document..document + 6 {
            text.push_str(&sentence(line));
        }
        text.push_str(&sentence(100 + document).repeat(2));
        folder.write(&format!("{part}/{document:02}.txt"), text);
    }
}

type Names = (String, String);
type Numbers = (u64, f64, f64, f64);
type Pairs = BTreeMap<Names, Numbers>;

fn pairs(folder: &Folder, flags: &[&str]) -> Pairs {
    let mut arguments = vec!["pairs", "--format", "json"];
    arguments.extend(flags);
    let lines = folder.ok(&arguments).json();
    let resemblances: Vec<f64> = lines.iter().map(|line| line["resemblance"].as_f64().unwrap()).collect();
    assert!(resemblances.is_sorted_by(|a, b| a >= b));
    lines.iter().map(|line| (names(line), numbers(line))).collect()
}

fn names(line: &Value) -> Names {
    (line["a"].as_str().unwrap().to_owned(), line["b"].as_str().unwrap().to_owned())
}

fn numbers(line: &Value) -> Numbers {
    let number = |field: &str| line[field].as_f64().unwrap();
    (line["shared"].as_u64().unwrap(), number("resemblance"), number("containment_a"), number("containment_b"))
}

/// The same from one query for each document, keeping those in which the queried one came first.
fn from_queries(folder: &Folder) -> Pairs {
    let documents = folder.ok(&["list", "--format", "json"]).json();
    let mut expected = Pairs::new();
    for document in &documents {
        let name = document["name"].as_str().unwrap();
        let answer =
            folder.ok(&["query", "--document", name, "--top", "0", "--no-passages", "--format", "json"]).json();
        for found in answer[0]["matches"].as_array().unwrap() {
            if found["id"].as_u64() > document["id"].as_u64() {
                let number = |field: &str| found[field].as_f64().unwrap();
                let measures = (
                    found["shared"].as_u64().unwrap(),
                    number("resemblance"),
                    number("containment"),
                    number("document_containment"),
                );
                expected.insert((name.to_owned(), found["document"].as_str().unwrap().to_owned()), measures);
            }
        }
    }
    expected
}

#[test]
fn pairs_are_what_one_query_a_document_finds() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "old", "new"]);
    folder.ok(&["rm", "old/03.txt"]);
    let expected = from_queries(&folder);
    assert_eq!(expected.len(), 23 * 22 / 2);
    assert_eq!(pairs(&folder, &[]), expected);
    // Many blocks, one thread or two: the same.
    assert_eq!(pairs(&folder, &["--memory", "1000", "--threads", "1"]), expected);
    assert_eq!(pairs(&folder, &["--memory", "1000", "--threads", "2"]), expected);

    let only = |keep: &dyn Fn(&Names, &Numbers) -> bool| -> Pairs {
        expected.iter().filter(|(names, numbers)| keep(names, numbers)).map(|(n, m)| (n.clone(), *m)).collect()
    };
    assert_eq!(pairs(&folder, &["--min-shared", "25"]), only(&|_, m| m.0 >= 25));
    assert_eq!(pairs(&folder, &["--min-resemblance", "0.2"]), only(&|_, m| m.1 >= 0.2));
    assert_eq!(pairs(&folder, &["--min-containment", "0.4"]), only(&|_, m| m.2.max(m.3) >= 0.4));
    let across = only(&|(a, b), _| a.starts_with("old/") != b.starts_with("old/"));
    assert!(!across.is_empty());
    assert_eq!(pairs(&folder, &["--across", "old/", "new/"]), across);
    assert_eq!(pairs(&folder, &["--across", "old/"]), across);
}

#[test]
fn common_hashes_are_left_out_and_said() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "old", "new"]);
    let capped = folder.ok(&["pairs", "--max-df", "20", "--format", "json"]);
    assert!(capped.stderr.contains("held by more than 20 documents"), "{capped:#?}");
    let all = pairs(&folder, &["--max-df", "0"]);
    let capped: Pairs = capped.json().iter().map(|line| (names(line), numbers(line))).collect();
    // The sentence that all share is the only link of documents that are far apart.
    let far = ("old/00.txt".to_owned(), "new/20.txt".to_owned());
    assert!(all.contains_key(&far) && !capped.contains_key(&far));
}

#[test]
fn two_files_compare_as_one_queried_against_the_other() {
    let folder = Folder::new();
    corpus(&folder);
    for flags in [&["--profile", "words"][..], &["-k", "8", "-w", "5"], &["--unit", "byte", "-k", "9", "-w", "6"]] {
        let db = format!("db-{}", flags.join(""));
        let mut ingest = vec!["--db", &db, "ingest", "-q", "new/13.txt"];
        ingest.extend(flags);
        folder.ok(&ingest);
        let mut diff = vec!["diff", "old/10.txt", "new/13.txt", "--format", "json"];
        diff.extend(flags);
        let mut query = folder.ok(&["--db", &db, "query", "old/10.txt", "--format", "json"]).json();
        let mut diff = folder.ok(&diff).json();
        for answer in [&mut query[0], &mut diff[0]] {
            answer["matches"][0].as_object_mut().unwrap().remove("id");
        }
        assert_eq!(diff, query, "{flags:?}");
        assert!(!diff[0]["matches"][0]["passages"].as_array().unwrap().is_empty());
    }
    folder.write("x.txt", "nothing in common with the others at all, not even five words of it");
    assert_eq!(folder.run(&["diff", "-e", "x.txt", "old/10.txt", "-k", "8", "-w", "5"]).status, 1);
    assert_eq!(folder.run(&["diff", "x.txt", "old/10.txt", "-k", "8", "-w", "5"]).status, 0);
    assert_eq!(folder.run(&["diff", "x.txt", "gone.txt"]).status, 2);
}

/// The 2001 paper's measure on its own corpus.
#[test]
fn the_federalist_pairs_above_the_threshold_are_the_known_ones() {
    let Some(papers) = shared_data("federalist") else { return };
    let folder = Folder::new();
    folder.ok(&["ingest", "-q", "--profile", "words", "--exclude", "*.json", papers.to_str().unwrap()]);
    let flagged = folder.ok(&["pairs", "--min-resemblance", "0.03", "--format", "json"]).json();
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(papers.join("expected.json")).unwrap()).unwrap();
    let known: Vec<&Value> = expected["A85_body"]["top_R"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pair| pair["R"].as_f64() > Some(0.03))
        .collect();
    assert_eq!(flagged.len(), known.len());
    for (pair, known) in flagged.iter().zip(known) {
        assert!(pair["a"].as_str().unwrap().ends_with(&format!("fed{:02}.txt", known["a"].as_u64().unwrap())));
        assert!(pair["b"].as_str().unwrap().ends_with(&format!("fed{:02}.txt", known["b"].as_u64().unwrap())));
        assert_eq!(pair["shared"], known["common"]);
        assert!((pair["resemblance"].as_f64().unwrap() - known["R"].as_f64().unwrap()).abs() < 1e-6);
    }
}
