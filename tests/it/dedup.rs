//! Removable documents: each is removable because of a survivor that stays.

mod append;
mod cases;
mod jobs;
mod planted;
mod text;
mod thresholds;
mod two_formats;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Folder, lcg, word};

/// A sentence determined by `seed`.
fn sentence(seed: u64) -> String {
    (0..20).map(|place| word((seed * 131 + place * 17) % 9973) + " ").collect()
}

fn sentences(seeds: impl IntoIterator<Item = u64>) -> String {
    seeds.into_iter().map(sentence).collect()
}

/// A chain in which each document resembles the next, but the ends do not resemble each other. Also identical
/// documents, and a part of one of them.
fn corpus(folder: &Folder) {
    for link in 0..4u64 {
        folder.write(&format!("c/chain{link}.txt"), sentences(link * 2..link * 2 + 12));
    }
    folder.write("c/twin1.txt", sentences(100..110));
    folder.write("c/twin2.txt", sentences(100..110));
    folder.write("c/twin3.txt", sentences(100..110));
    folder.write("c/part.txt", sentences(102..106));
    folder.write("c/alone.txt", sentences(200..210));
    folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
}

fn dedup(folder: &Folder, flags: &[&str]) -> (Vec<(String, String, String)>, Value) {
    let mut lines = folder.ok(&[&["dedup", "--format", "json"], flags].concat()).json();
    let summary = lines.pop().unwrap();
    assert_eq!(summary["schema"], "fpdb.dedup.summary/1");
    assert_eq!(summary["removable"], lines.len());
    assert_eq!(summary["documents"].as_u64(), Some(9));
    assert_eq!(summary["kept"], 9 - lines.len() as u64);
    let text = |line: &Value, field: &str| line[field].as_str().unwrap().trim_start_matches("c/").to_owned();
    let removable: Vec<_> =
        lines.iter().map(|line| (text(line, "remove"), text(line, "keep"), text(line, "because"))).collect();
    // No survivor may be removable.
    for (_, keep, _) in &removable {
        assert!(removable.iter().all(|(remove, _, _)| remove != keep), "{removable:?}");
    }
    (removable, summary)
}

fn triple(remove: &str, keep: &str, because: &str) -> (String, String, String) {
    (format!("{remove}.txt"), format!("{keep}.txt"), because.into())
}

#[test]
fn twins_go_in_favour_of_the_first() {
    let folder = Folder::new();
    corpus(&folder);
    let (removable, summary) = dedup(&folder, &[]);
    assert_eq!(removable, [triple("twin2", "twin1", "identical"), triple("twin3", "twin1", "identical")]);
    assert_eq!(summary["groups"], 1);
    // Nothing has been deleted.
    assert_eq!(folder.ok(&["list"]).stdout.lines().count(), 9);
}

#[test]
fn likeness_is_not_passed_on() {
    let folder = Folder::new();
    corpus(&folder);
    // Neighbours share about 10 of 14 sentences. Documents two steps apart share 8 of 16.
    let (removable, _) = dedup(&folder, &["--by", "resemblance", "--threshold", "0.6", "--keep", "first"]);
    assert_eq!(
        removable,
        [
            triple("chain1", "chain0", "resembles"),
            // `chain2` stays, because its neighbour is removable and the first document is too different.
            // `chain2` is the survivor of the last document.
            triple("chain3", "chain2", "resembles"),
            triple("twin2", "twin1", "identical"),
            triple("twin3", "twin1", "identical"),
        ]
    );
}

#[test]
fn a_part_goes_in_favour_of_the_whole_and_takes_no_twin_along() {
    let folder = Folder::new();
    corpus(&folder);
    let (removable, _) = dedup(&folder, &["--by", "containment", "--threshold", "0.9", "--keep", "longest"]);
    assert_eq!(
        removable,
        [
            triple("part", "twin1", "contained"),
            triple("twin2", "twin1", "identical"),
            triple("twin3", "twin1", "identical"),
        ]
    );
    let flags = ["dedup", "--by", "containment", "--threshold", "0.9", "--keep", "longest", "--format", "json"];
    let part = &folder.ok(&flags).json()[0];
    assert_eq!((part["score"].as_f64(), part["shared"].as_u64()), (Some(1.0), Some(78)));
}

#[test]
fn the_protected_stay_and_justify_others() {
    let folder = Folder::new();
    corpus(&folder);
    let rule = ["--by", "resemblance", "--threshold", "0.6", "--keep", "first"];
    let flags = [&rule[..], &["--protect", "c/chain3", "--protect", "c/twin2"]].concat();
    let (removable, _) = dedup(&folder, &flags);
    assert_eq!(
        removable,
        [
            triple("chain1", "chain0", "resembles"),
            triple("chain2", "chain3", "resembles"),
            triple("twin1", "twin2", "identical"),
            triple("twin3", "twin2", "identical"),
        ]
    );
}

#[test]
fn a_prefix_that_protects_nothing_is_an_error() {
    let folder = Folder::new();
    folder.write("a.txt", sentences(0..10));
    folder.write("b.txt", sentences(0..10));
    folder.ok(&["ingest", "-q", "--profile", "words", "a.txt", "b.txt"]);
    let refused = folder.run(&["dedup", "--protect", "b", "--protect", "zz"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{refused:?}");
    assert!(refused.stderr.starts_with("error: no stored document fits zz (--protect)\n"), "{refused:?}");
    let run = folder.ok(&["dedup", "--protect", "b"]);
    // The path of a file protects its document too.
    let path = folder.path().canonicalize().unwrap().join("b.txt");
    let of_path = folder.ok(&["dedup", "-q", "--protect", path.to_str().unwrap()]);
    assert_eq!((of_path.stdout.as_str(), of_path.stderr.as_str()), (run.stdout.as_str(), ""), "{of_path:?}");
    let first = of_path.stdout.lines().next().unwrap();
    assert!(first.starts_with("a.txt ") && first.ends_with(" b.txt"), "{first}");
    assert!(run.stdout.contains("\n1 of 2 documents removable ("), "{run:?}");
    assert!(run.stdout.ends_with("), 1 kept; 1 survivor justifies them\n"), "{run:?}");
}

/// Numbers distinguish the versions of one name. Only removable versions are removed.
#[test]
fn versions_of_one_name_go_by_number() {
    let folder = Folder::new();
    for version in 0..3 {
        folder.write("a.txt", sentences(0..10) + &sentence(if version == 1 { 500 } else { 600 }));
        folder.ok(&["ingest", "-q", "--profile", "words", "--on-change", "both", "a.txt"]);
    }
    folder.write("a.txt", sentences(100..110));
    folder.ok(&["ingest", "-q", "--on-change", "both", "a.txt"]);
    let stored = folder.ok(&["list", "--format", "json"]).json();
    let flags = ["dedup", "--by", "resemblance", "--threshold", "0.7", "--format"];
    let lines = folder.ok(&[&flags[..], &["json"]].concat()).json();
    let (summary, removable) = lines.split_last().unwrap();
    assert!(!removable.is_empty() && summary["documents"] == stored.len());
    let numbers = |field: &str| -> Vec<String> { removable.iter().map(|line| line[field].to_string()).collect() };
    let (remove, keep) = (numbers("remove_id"), numbers("keep_id"));
    let human = folder.ok(&[&flags[..], &["human"]].concat()).stdout;
    let expected = format!("a.txt (number {})  resembles (", remove[0]);
    assert!(human.contains(&expected) && human.contains(&format!("a.txt (number {})", keep[0])), "{human}");
    let csv = folder.ok(&[&flags[..], &["csv"]].concat()).stdout;
    assert!(csv.lines().nth(1).unwrap().contains(&format!(",{},{},", remove[0], keep[0])), "{csv}");

    let ids: Vec<&str> = remove.iter().map(String::as_str).collect();
    let told = folder.ok(&[&["rm", "--id"], &ids[..]].concat()).stderr;
    assert!(told.contains("1 document removed") || removable.len() > 1, "{told}");
    let left = folder.ok(&["list", "--format", "json"]).json();
    assert_eq!(left.len(), stored.len() - removable.len());
    let left_ids: Vec<String> = left.iter().map(|document| document["id"].to_string()).collect();
    assert!(keep.iter().all(|id| left_ids.contains(id)) && !remove.iter().any(|id| left_ids.contains(id)));

    let again = folder.run(&["rm", "--id", ids[0], "--id", "99"]);
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("no stored document has the number 99"), "{again:?}");
    let all = folder.ok(&["rm", "a.txt"]).stderr;
    assert!(all.contains(&format!("a.txt: all {} documents of this name", left.len())), "{all}");
    assert!(folder.ok(&["list"]).stdout.is_empty());
    assert_eq!(folder.run(&["rm"]).status, 2);
}

/// Documents that are excerpts of others, in any order of arrival: survivors contain each removed document. A
/// document that stays is not contained in another one, or it is a survivor. The test follows the definition,
/// on sets of trigrams.
#[test]
fn excerpts_go_whenever_they_came() {
    let mut next = lcg(3);
    for (round, threshold) in ["1", "0.9", "0.6"].into_iter().enumerate() {
        let folder = Folder::new();
        let mut sets: Vec<(String, BTreeSet<Vec<String>>)> = Vec::new();
        for number in 0..30 {
            let (first, length) = (next(40), 1 + next(12));
            let name = format!("c/{number:02}.txt");
            let text = sentences(first..first + length);
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            folder.write(&name, text);
            sets.push((name, words.windows(3).map(<[String]>::to_vec).collect()));
        }
        folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
        let keep = ["first", "longest", "newest"][round];
        let flags = ["dedup", "--by", "containment", "--threshold", threshold, "--keep", keep, "--protect", "c/07"];
        let lines = folder.ok(&[&flags[..], &["--format", "json"]].concat()).json();
        let (_, removable) = lines.split_last().unwrap();
        let gone: Vec<&str> = removable.iter().map(|line| line["remove"].as_str().unwrap()).collect();
        let kept: Vec<&str> = removable.iter().map(|line| line["keep"].as_str().unwrap()).collect();
        let set = |name: &str| &sets.iter().find(|(other, _)| other == name).unwrap().1;
        let share = |a: &str, b: &str| set(a).intersection(set(b)).count() as f64 / set(a).len() as f64;
        let least: f64 = threshold.parse().unwrap();
        for (line, (remove, keep)) in removable.iter().zip(gone.iter().zip(&kept)) {
            assert!(!gone.contains(keep) && !remove.starts_with("c/07"), "{line}");
            assert!(share(remove, keep) >= least && line["score"] == share(remove, keep), "{line}");
        }
        for (name, _) in sets.iter().filter(|(name, _)| !gone.contains(&name.as_str()) && !name.starts_with("c/07")) {
            let stays = |other: &str| other != name && !gone.contains(&other);
            let holder = sets.iter().find(|(other, _)| stays(other) && share(name, other) >= least);
            assert!(kept.contains(&name.as_str()) || holder.is_none(), "{name} stays beside {holder:?}");
        }
        assert!(gone.len() > 5, "{removable:?}");
    }
}

#[test]
fn an_excerpt_goes_though_it_came_before_the_whole() {
    let folder = Folder::new();
    folder.write("c/1-part.txt", sentences(102..106));
    folder.write("c/2-whole.txt", sentences(100..110));
    folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
    let lines = folder.ok(&["dedup", "--by", "containment", "--threshold", "0.9", "--format", "json"]).json();
    assert_eq!((&lines[0]["remove"], &lines[0]["keep"]), (&"c/1-part.txt".into(), &"c/2-whole.txt".into()));
    assert_eq!(lines[1]["removable"], 1);
    // A protected document stays.
    let flags = ["dedup", "--by", "containment", "--protect", "c/1", "--format", "json"];
    assert_eq!(folder.ok(&flags).json()[0]["removable"], 0);
}

#[test]
fn a_threshold_without_a_measure_is_an_error() {
    let folder = Folder::new();
    corpus(&folder);
    let run = folder.run(&["dedup", "--threshold", "0.5"]);
    assert!(run.status == 2 && run.stderr.contains("--threshold is for --by resemblance"), "{run:?}");
}
