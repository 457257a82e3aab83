//! An ingest that leaves duplicates out as they arrive, against the rule by its definition.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{sentence, sentences};
use crate::support::Folder;

const THRESHOLD: f64 = 0.7;
const MAX_NOVEL: usize = 45;
const FLAGS: [&str; 11] =
    ["ingest", "-q", "--profile", "words", "--dedup", "--by", "containment", "--threshold", "0.7", "--max-novel", "45"];

/// Texts, many of which are copies and parts of others.
fn texts(count: u64, mut seed: u64) -> Vec<String> {
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let text = |number| {
        let first = next(count * 2);
        let more = if next(3) == 0 { sentence(1_000_000 + number) } else { String::new() };
        // A page that all have.
        sentences(first..first + 3 + next(12)) + &more + &sentences(5_000_000..5_000_000 + next(3))
    };
    (0..count).map(text).collect()
}

fn trigrams(text: &str) -> Vec<[&str; 3]> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

/// How much of a text another one holds, and the longest stretch it does not, where that makes the text a duplicate.
fn justifies(other: &BTreeSet<[&str; 3]>, text: &[[&str; 3]]) -> Option<(usize, usize)> {
    let set: BTreeSet<_> = text.iter().collect();
    let shared = set.iter().filter(|three| other.contains(**three)).count();
    if shared == 0 || (shared as f64 / set.len() as f64) < THRESHOLD {
        return None;
    }
    // Places of shared trigrams, with what lies before each and after the last.
    let places: Vec<usize> = (0..text.len()).filter(|&place| other.contains(&text[place])).collect();
    let starts = std::iter::once(0).chain(places.iter().map(|place| place + 3));
    let ends = places.iter().copied().chain([text.len() + 2]);
    let firsts = std::iter::once(0).chain(places.iter().map(|place| place + 1));
    let lasts = places.iter().copied().chain([text.len()]);
    let stretches = starts.zip(ends).zip(firsts.zip(lasts));
    let holding = stretches.filter(|(_, (first, last))| first < last);
    let novel = holding.map(|((start, end), _)| end.saturating_sub(start)).max().unwrap_or(0);
    (novel <= MAX_NOVEL).then_some((shared, novel))
}

/// For each duplicate its number, that of the text that stays for it, what they share and the stretch.
fn expected(texts: &[String]) -> Vec<[u64; 4]> {
    let mut stored: Vec<(usize, BTreeSet<[&str; 3]>)> = Vec::new();
    let mut duplicates = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let three = trigrams(text);
        let size = three.iter().collect::<BTreeSet<_>>().len();
        let identical = stored.iter().find(|(other, _)| texts[*other] == *text).map(|&(other, _)| (other, (size, 0)));
        let found = || stored.iter().find_map(|(other, set)| Some((*other, justifies(set, &three)?)));
        match identical.or_else(found) {
            Some((other, (shared, novel))) => {
                duplicates.push([number, other, shared, novel].map(|value| value as u64));
            }
            None => stored.push((number, three.into_iter().collect())),
        }
    }
    duplicates
}

fn write(folder: &Folder, name: &str, texts: &[String], first: usize) {
    let line = |(number, text): (usize, &String)| format!("{{\"id\":\"{number}\",\"text\":\"{text}\"}}\n");
    folder.write(name, (first..).zip(texts).map(line).collect::<String>());
    folder.age(name);
}

/// The duplicates that a run has listed.
fn listed(folder: &Folder, name: &str) -> Vec<Value> {
    let lines = std::fs::read_to_string(folder.path().join(name)).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run(folder: &Folder, flags: &[&str]) -> Value {
    folder.ok(&[&FLAGS[..], &["--format", "json"], flags].concat()).json().remove(0)
}

/// The id of each stored document, in order of its number, as their records have them.
fn stored(folder: &Folder) -> Vec<(u64, String)> {
    let documents = folder.ok(&["list", "--format", "json"]).json();
    let mut stored: Vec<(u64, String)> = documents
        .iter()
        .map(|line| (line["id"].as_u64().unwrap(), line["metadata"]["id"].as_str().unwrap().to_owned()))
        .collect();
    stored.sort();
    stored
}

#[test]
fn duplicates_are_left_out_as_they_arrive() {
    let texts = texts(1500, 3);
    let expected = expected(&texts);
    assert!((200..1450).contains(&expected.len()), "{}", expected.len());
    let mut first = None;
    for flags in [&[][..], &["--threads", "1"], &["--memory", "1MiB"]] {
        let folder = Folder::new();
        // In two runs.
        write(&folder, "a.jsonl", &texts[..900], 0);
        write(&folder, "b.jsonl", &texts[900..], 900);
        let mut rows = Vec::new();
        for (name, list) in [("a.jsonl", "a.out"), ("b.jsonl", "b.out")] {
            let summary = run(&folder, &[&[name, "--duplicates", list], flags].concat());
            let lines = listed(&folder, list);
            assert_eq!(summary["duplicates"], lines.len());
            let bytes: u64 = lines.iter().map(|line| line["bytes"].as_u64().unwrap()).sum();
            assert_eq!(summary["duplicate_bytes"], bytes);
            assert_eq!(summary["documents"], if name == "a.jsonl" { 900 } else { 600 });
            rows.extend(lines);
        }
        let number = |name: &Value| {
            let (file, line) = name.as_str().unwrap().split_once(".jsonl:").unwrap();
            line.parse::<u64>().unwrap() - 1 + if file == "a" { 0 } else { 900 }
        };
        let found: Vec<[u64; 4]> = rows
            .iter()
            .map(|row| {
                let count = |field: &str| row[field].as_u64().unwrap();
                assert_eq!(row["metadata"]["id"].as_str().unwrap(), number(&row["remove"]).to_string());
                [number(&row["remove"]), number(&row["keep"]), count("shared"), count("novel")]
            })
            .collect();
        assert_eq!(found, expected, "{flags:?}");
        let gone: BTreeSet<u64> = expected.iter().map(|row| row[0]).collect();
        let kept: Vec<String> = (0..1500).filter(|number| !gone.contains(number)).map(|n| n.to_string()).collect();
        let ids = stored(&folder);
        assert_eq!(ids.iter().map(|(_, id)| id.clone()).collect::<Vec<_>>(), kept);
        // Threads and memory change no byte.
        let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
        let first = first.get_or_insert_with(|| (rows.clone(), ids.clone()));
        assert_eq!(*first, (rows, ids), "{flags:?}");
        folder.ok(&["verify", "-q"]);
    }
}

#[test]
fn an_ingest_that_was_killed_leaves_out_the_same() {
    let texts = texts(1500, 9);
    let undisturbed = Folder::new();
    write(&undisturbed, "a.jsonl", &texts, 0);
    let flags = ["a.jsonl", "--memory", "4MiB", "--duplicates", "out"];
    run(&undisturbed, &flags);
    let folder = Folder::new();
    write(&folder, "a.jsonl", &texts, 0);
    let arguments = [&FLAGS[..], &flags].concat();
    let mut killed = 0;
    folder.kill_until_it_ends(&arguments, || killed += 1);
    assert!(killed > 0);
    // Once more: what was left out is found again, and nothing is added.
    let again = run(&folder, &flags);
    assert_eq!(again["added"], 0);
    let rows = |folder: &Folder| listed(folder, "out").iter().map(Value::to_string).collect::<Vec<_>>();
    assert_eq!(rows(&folder), rows(&undisturbed));
    assert_eq!(stored(&folder), stored(&undisturbed));
}

#[test]
fn changed_documents_and_boilerplate_are_minded() {
    let folder = Folder::new();
    folder.write("menu.txt", sentences(500..508));
    folder.ok(&["ingest", "-q", "--profile", "words", "--boilerplate", "menu.txt"]);
    folder.write("c/a.txt", sentences(0..10));
    // Their menu is not counted as shared, and each is by itself.
    folder.write("c/b.txt", sentences(500..508) + &sentences(20..22));
    folder.write("c/c.txt", sentences(500..508) + &sentences(30..32));
    folder.write("c/z.txt", sentences(40..50));
    let names = |folder: &Folder| -> BTreeSet<String> {
        let listed = folder.ok(&["list", "--format", "json"]).json();
        let names = listed.iter().map(|line| line["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("c/")).collect()
    };
    assert_eq!(run(&folder, &["c"])["added"], 4);
    // A document that becomes a part of another goes, with its old version. One that changes a little is compared with others
    // than itself.
    folder.write("c/z.txt", sentences(1..8));
    folder.write("c/a.txt", sentences(0..11));
    let summary = run(&folder, &["c", "--duplicates", "out"]);
    assert_eq!((summary["replaced"].as_u64(), summary["duplicates"].as_u64()), (Some(1), Some(1)));
    assert_eq!(names(&folder), ["c/a.txt", "c/b.txt", "c/c.txt"].map(str::to_owned).into());
    let row = &listed(&folder, "out")[0];
    assert_eq!(
        (&row["remove"], &row["keep"], &row["because"]),
        (&"c/z.txt".into(), &"c/a.txt".into(), &"contained".into())
    );
    assert_eq!((row["schema"].as_str(), row["score"].as_f64()), (Some("fpdb.ingest.duplicate/1"), Some(1.0)));
    // Copies need no fingerprints.
    folder.write("c/s.txt", "two words");
    folder.write("c/t.txt", "two words");
    let summary = folder.ok(&["ingest", "-q", "--dedup", "--format", "json", "c/s.txt", "c/t.txt"]).json().remove(0);
    assert_eq!((summary["added"].as_u64(), summary["duplicates"].as_u64()), (Some(1), Some(1)));
    // Options that make no sense are refused.
    for flags in [&["--threshold", "0.9"][..], &["--dedup", "--boilerplate"], &["--dedup", "--by", "exact-text"]] {
        assert_eq!(folder.run(&[&["ingest", "-q", "c"], flags].concat()).status, 2, "{flags:?}");
    }
    let by_text = folder.run(&["ingest", "-q", "--dedup", "--by", "exact-text", "c"]).stderr;
    assert!(by_text.contains("[possible values: exact, resemblance, containment]"), "{by_text}");
    assert!(!folder.ok(&["ingest", "--help"]).stdout.contains("exact-text"));
    let human = folder.ok(&["ingest", "--dedup", "c"]);
    assert!(human.stdout.contains("left out as duplicates"), "{human:?}");
}
