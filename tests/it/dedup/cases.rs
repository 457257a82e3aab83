//! Archives with a known answer: many copies, templates, chains, logs, mosaics. In the profile `words` a
//! document of L distinct words has L - 2 fingerprints, and a changed word inside it destroys three.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;

use crate::support::{Folder, lcg, word};

/// Documents as sequences of words.
struct Archive {
    folder: Folder,
    documents: u64,
}

/// The removable documents with their survivors, both as numbers of documents in the archive.
type Removed = BTreeMap<u64, u64>;

impl Archive {
    fn new(documents: impl IntoIterator<Item = Vec<u64>>) -> Self {
        let folder = Folder::new();
        let (mut lines, mut count) = (String::new(), 0);
        for words in documents {
            let text = words.into_iter().map(word).collect::<Vec<_>>().join(" ");
            let _ = writeln!(lines, "{{\"id\":\"{count}\",\"text\":\"{text}\"}}");
            count += 1;
        }
        folder.write("a.jsonl", lines);
        folder.ok(&["ingest", "-q", "--profile", "words", "a.jsonl"]);
        Self { folder, documents: count }
    }

    fn lines(&self, threshold: &str, flags: &[&str]) -> (Vec<Value>, Value) {
        let rule = ["dedup", "--by", "containment", "--threshold", threshold, "--format", "json"];
        let mut lines = self.folder.ok(&[&rule[..], flags].concat()).json();
        let summary = lines.pop().unwrap();
        assert_eq!(summary["documents"], self.documents);
        (lines, summary)
    }

    fn removed(&self, threshold: &str, flags: &[&str]) -> Removed {
        let (lines, summary) = self.lines(threshold, flags);
        let number = |line: &Value, field: &str| line[field].as_u64().unwrap();
        let removed: Removed = lines.iter().map(|line| (number(line, "remove_id"), number(line, "keep_id"))).collect();
        for (line, (&document, keep)) in lines.iter().zip(&removed) {
            assert_eq!(line["metadata"]["id"], document.to_string());
            assert_eq!(line["keep_metadata"]["id"], keep.to_string());
            assert!(!removed.contains_key(keep), "the survivor of {document} goes itself");
        }
        assert_eq!((summary["removable"].as_u64(), lines.len()), (Some(removed.len() as u64), removed.len()));
        let groups: BTreeSet<_> = removed.values().collect();
        assert_eq!(summary["groups"], groups.len());
        removed
    }
}

/// The 1,000 words that belong to `number`. Another `number` has other words.
fn own(number: u64) -> impl Iterator<Item = u64> {
    let first = 1_000_000 + number * 1000;
    first..first + 1000
}

fn joined(parts: impl IntoIterator<Item = std::ops::Range<u64>>) -> Vec<u64> {
    parts.into_iter().flatten().collect()
}

#[test]
fn copies_of_a_licence_go_however_many_there_are() {
    for copies in [1000, 1001] {
        let licence = |copy: u64| (0..50).chain(own(copy).take(1)).chain(51..102).collect();
        let archive = Archive::new((0..copies).map(licence));
        let removed = archive.removed("0.9", &[]);
        assert_eq!(removed.len() as u64, copies - 1);
        assert_eq!(removed.values().collect::<BTreeSet<_>>().len(), 1);
        let (lines, summary) = archive.lines("0.9", &["--max-df", "100"]);
        assert!(lines.is_empty() && summary["common"] == 97, "{summary}");
    }
}

/// Protected copies stay, but the df cap counts the documents of the same bytes once.
#[test]
fn a_df_cap_counts_protected_copies_once() {
    let original = || (0..100).collect::<Vec<u64>>();
    let archive = Archive::new([original(), original(), original(), (5..80).collect()]);
    let flags = |most| ["--max-df", most, "--protect", "a.jsonl:1", "--protect", "a.jsonl:2", "--protect", "a.jsonl:3"];
    assert_eq!(archive.removed("0.9", &flags("2")), Removed::from([(3, 0)]));
    assert_eq!(archive.lines("0.9", &flags("2")).1["common"], 0);
    assert_eq!(archive.lines("0.9", &flags("1")).1["common"], 73);
}

#[test]
fn a_share_below_the_threshold_removes_nothing() {
    let archive = Archive::new((0..300).map(|number| (0..200).chain(own(number).take(40)).collect()));
    assert_eq!(archive.removed("0.83", &[]).len(), 299);
    assert_eq!(archive.removed("0.84", &[]).len(), 0);
}

#[test]
fn a_template_removes_nothing_and_near_copies_go() {
    let page = |number: u64| -> Vec<u64> { (0..62).chain(own(number).take(40)).collect() };
    let near_copy = |number: u64| {
        let mut words = page(number);
        words[80] = 999_000 + number;
        words
    };
    let archive = Archive::new((0..1500).map(page).chain((0..15).map(|copy| near_copy(copy * 90))));
    let expected: Removed = (0..15).map(|copy| (1500 + copy, copy * 90)).collect();
    assert_eq!(archive.removed("0.9", &["--keep", "first"]), expected);
    // Near copies are as long as their originals, so either of the two can be removable.
    let pairs: BTreeSet<BTreeSet<u64>> =
        archive.removed("0.9", &[]).into_iter().map(|(a, b)| BTreeSet::from([a, b])).collect();
    assert_eq!(pairs, expected.into_iter().map(|(a, b)| BTreeSet::from([a, b])).collect());
}

#[test]
fn a_chain_of_versions_is_thinned_out() {
    let archive = Archive::new((0..300).map(|version| (version * 50..version * 50 + 1002).collect()));
    let removed = archive.removed("0.9", &["--keep", "first"]);
    assert_eq!(
        (0..300).filter(|version| !removed.contains_key(version)).collect::<Vec<_>>(),
        (0..300).step_by(3).collect::<Vec<_>>()
    );
    let removed = archive.removed("0.9", &[]);
    let kept: Vec<u64> = (0..300).filter(|version| !removed.contains_key(version)).collect();
    assert!(kept.windows(2).all(|pair| pair[1] - pair[0] > 2), "{kept:?}");
    assert!(removed.iter().all(|(&version, &keep)| version.abs_diff(keep) <= 2), "{removed:?}");
}

#[test]
fn of_a_growing_log_the_last_version_stays() {
    let archive = Archive::new((0..500).map(|version| (0..50 + version).collect()));
    assert_eq!(archive.removed("0.9", &[]), (0..499).map(|version| (version, 499)).collect());
    // The survivor is then the first version of which the last one is a near copy.
    let removed = archive.removed("0.9", &["--keep", "first"]);
    assert_eq!(removed.len(), 499);
}

#[test]
fn a_menu_takes_no_page_along() {
    let page = |number: u64| -> Vec<u64> { (0..700).chain(own(number).take(300)).collect() };
    let edited = |number: u64| {
        let mut words = page(number);
        words[850] = 999_000 + number;
        words
    };
    let archive = Archive::new((0..300).map(page).chain((0..20).map(|copy| edited(copy * 7))));
    let removed = archive.removed("0.8", &["--keep", "first"]);
    assert_eq!(removed, (0..20).map(|copy| (300 + copy, copy * 7)).collect());
}

#[test]
fn a_novel_stretch_keeps_a_page() {
    let archive = Archive::new((0..300).map(|number| (0..900).chain(own(number).take(100)).collect()));
    // Few postings are read, because each page has its own stretch.
    let (lines, summary) = archive.lines("0.8", &["--max-novel", "40", "--budget", "50"]);
    assert_eq!((lines.len(), &summary["undecided"]), (0, &0.into()));
    assert_eq!(archive.removed("0.8", &["--max-novel", "none"]).len(), 299);
    assert_eq!(archive.removed("0.8", &["--max-novel", "99"]).len(), 0);
    let (lines, _) = archive.lines("0.8", &["--max-novel", "100"]);
    assert!(lines.len() == 299 && lines.iter().all(|line| line["novel"] == 100), "{:?}", lines.first());
}

#[test]
fn mosaics_stay_and_a_budget_leaves_documents_undecided() {
    let mut next = lcg(11);
    let mosaics: Vec<Vec<u64>> =
        (0..300).map(|_| joined((0..10).map(|_| next(60)).map(|block| block * 20..block * 20 + 20))).collect();
    let archive = Archive::new(mosaics);
    let removed = archive.removed("0.9", &[]);
    assert!(removed.is_empty(), "{removed:?}");
    let (lines, summary) = archive.lines("0.9", &["--budget", "5"]);
    assert!(summary["undecided"].as_u64().unwrap() > 100 && summary["removable"] == 0, "{summary}");
    assert_eq!(lines.len() as u64, summary["undecided"]);
    assert!(lines.iter().all(|line| line["schema"] == "fpdb.dedup.undecided/1"), "{lines:?}");
    for memory in ["400K", "64M"] {
        assert_eq!(archive.lines("0.9", &["--budget", "5", "--memory", memory]).0, lines);
    }
}

#[test]
fn one_large_document_removes_its_parts() {
    let parts = (0..150u64).map(|part| (part * 40..part * 40 + 60).collect());
    let others = (0..400).map(|other| own(other).take(60).collect());
    let archive = Archive::new(parts.chain(others).chain([(0..5000).collect()]));
    let expected: Removed = (0..124).map(|part| (part, 550)).collect();
    assert_eq!(archive.removed("1", &[]), expected);
}

/// Two records that differ only in their last word have the same fingerprints, unless every k-gram is a
/// fingerprint.
#[test]
fn short_texts_that_differ_at_their_ends_are_warned_of() {
    for (flags, removable) in [(&["--profile", "prose"][..], 1), (&["--profile", "prose", "-w", "1"], 0)] {
        let folder = Folder::new();
        let line = |city: &str| format!("{{\"text\": \"What is the average annual rainfall in {city}?\"}}\n");
        folder.write("q.jsonl", line("Oslo") + &line("Cairo"));
        folder.ok(&[&["ingest", "-q"], flags, &["q.jsonl"]].concat());
        let strict = ["dedup", "--by", "containment", "--threshold", "1", "--max-novel", "0"];
        let summary = folder.ok(&[&strict[..], &["--format", "json"]].concat()).json().pop().unwrap();
        assert_eq!(summary["removable"], removable, "{flags:?}");
        assert_eq!(summary["short"].as_u64(), (removable > 0).then_some(1), "{flags:?}");
        let told = folder.ok(&strict).stderr;
        assert_eq!(told.contains("warning: 1 removable document of fewer than 88 symbols may differ"), removable > 0);
        assert_eq!(told.contains("--max-novel: a stretch of fewer than 44 symbols"), removable > 0, "{told}");
    }
}
