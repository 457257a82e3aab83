//! Long jobs: killed, stopped and run again, with little memory, on few threads; and their notes about
//! sources.

use super::{sentence, sentences};
use crate::support::{Folder, lcg};

/// Documents of sentences, many of them copies and parts of others.
pub(super) fn archive(folder: &Folder, documents: u64) {
    part_of_archive(folder, "a.jsonl", documents, 5);
}

/// Adds documents to the archive, determined by `seed`.
pub(super) fn part_of_archive(folder: &Folder, name: &str, documents: u64, seed: u64) {
    let mut next = lcg(seed);
    let mut lines = String::new();
    for number in 0..documents {
        let first = next(documents * 3);
        let text = sentences(first..first + 3 + next(12))
            + &if next(3) == 0 { sentence(1_000_000 + number) } else { String::new() };
        lines += &format!("{{\"id\":\"r{number}\",\"text\":\"{text}\"}}\n");
    }
    folder.write(name, lines);
    folder.ok(&["ingest", "-q", "--profile", "words", name]);
}

const RULE: [&str; 9] = ["dedup", "--by", "containment", "--threshold", "0.7", "--format", "json", "--keep", "first"];

#[test]
fn neither_memory_nor_threads_change_the_answer() {
    let folder = Folder::new();
    archive(&folder, 3000);
    let expected = folder.ok(&RULE).stdout;
    assert!(expected.lines().count() > 300, "{}", expected.lines().count());
    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    for flags in [["--memory", "300K"], ["--memory", "1M"], ["--threads", "1"], ["--temp-dir", "elsewhere"]] {
        assert_eq!(folder.ok(&[&RULE[..], &flags].concat()).stdout, expected, "{flags:?}");
    }
    let run = folder.run(&[&RULE[..], &["--memory", "10K"]].concat());
    assert!(run.status == 2 && run.stderr.contains("bytes of memory at least"), "{run:?}");
    assert_eq!(jobs(&folder), Vec::<String>::new());
}

/// The names of the files of jobs that have not ended.
pub(super) fn jobs(folder: &Folder) -> Vec<String> {
    let names =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".job")).collect()
}

#[test]
fn a_killed_job_goes_on_and_ends_with_the_same_answer() {
    let folder = Folder::new();
    archive(&folder, 5000);
    let expected = folder.ok(&RULE).stdout;
    let mut begun = 0;
    folder.kill_until_it_ends(&RULE, || begun += jobs(&folder).len());
    assert!(begun > 0, "it was never killed in time");
    assert_eq!(folder.ok(&RULE).stdout, expected);
    assert_eq!(jobs(&folder), Vec::<String>::new());
}

#[test]
fn of_two_protected_documents_the_preferred_one_justifies() {
    let folder = Folder::new();
    folder.write("kept/long.txt", sentences(0..20));
    folder.write("kept/short.txt", sentences(0..15));
    folder.write("other.txt", sentences(0..10));
    folder.ok(&["ingest", "-q", "--profile", "words", "kept", "other.txt"]);
    let witness = |preferred: &[&str]| {
        let rule = ["dedup", "--by", "containment", "--protect", "kept/", "--format", "json"];
        folder.ok(&[&rule[..], preferred].concat()).json()[0]["keep"].clone()
    };
    assert_eq!(witness(&[]), "kept/long.txt");
    assert_eq!(witness(&["--prefer", "short"]), "kept/short.txt");
}

#[test]
fn a_source_that_loses_most_of_its_documents_is_told_of() {
    let folder = Folder::new();
    for number in 0..30 {
        folder.write(&format!("good/{number}.txt"), sentences(number * 10..number * 10 + 8));
        folder.write(&format!("mirror/{number}.txt"), sentences(number * 10..number * 10 + 8));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "good", "mirror"]);
    let run = folder.ok(&["dedup", "--prefer", "^good/"]);
    let warned = "warning: 30 of the 30 documents from mirror/ are removable (100.0%)\n";
    let by_bytes = "compared by their bytes alone; --by exact-text or --by containment finds more\n";
    assert_eq!(run.stderr, format!("{warned}{by_bytes}"));
    assert_eq!(folder.ok(&["dedup", "--prefer", "^good/", "--warn-source", "1"]).stderr, by_bytes);
    assert!(folder.ok(&["dedup", "--by", "exact", "--prefer", "^good/", "--warn-source", "1"]).stderr.is_empty());
    let lines = folder.ok(&["dedup", "--prefer", "^mirror/", "--format", "json"]).json();
    let summary = lines.last().unwrap();
    assert_eq!(summary["causes"], serde_json::json!({"identical": 30, "contained": 0, "resembles": 0}));
    assert_eq!(summary["sources"][0]["source"], "good/");
    assert_eq!(summary["sources"][0]["bytes"], summary["bytes"]);
    let run = folder.run(&["dedup", "--prefer", "nowhere"]);
    assert!(run.status == 2 && run.stderr.contains("no stored document fits nowhere (--prefer)"), "{run:?}");
    let run = folder.run(&["dedup", "--prefer", "("]);
    assert!(run.status == 2 && run.stderr.contains("a regular expression"), "{run:?}");
}
