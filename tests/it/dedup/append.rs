//! Decisions that are kept from run to run: `--append` and `--rerank`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::jobs::{jobs, part_of_archive};
use super::{sentence, sentences};
use crate::support::{Folder, Run, copy};

const RULE: [&str; 7] = ["dedup", "--by", "containment", "--threshold", "0.7", "--format", "json"];

fn run(folder: &Folder, flags: &[&str]) -> Run {
    folder.ok(&[&RULE[..], &["-q"], flags].concat())
}

fn append(folder: &Folder) -> Vec<Value> {
    run(folder, &["--append"]).json()
}

/// The bytes of the decisions kept with a database.
fn record(folder: &Folder, database: &str) -> Vec<u8> {
    std::fs::read(folder.path().join(database).join("dedup-decisions")).unwrap()
}

/// The lines of a schema.
fn of<'a>(lines: &'a [Value], schema: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["schema"] == schema).collect()
}

fn latest(lines: &[Value]) -> [u64; 4] {
    let latest = &lines.last().unwrap()["latest"];
    ["run", "decided", "removable", "superseded"].map(|field| latest[field].as_u64().unwrap())
}

/// The lines without the fields that only runs of dedup with a record have.
fn without_runs(lines: Vec<Value>) -> Vec<Value> {
    let without = |mut line: Value| {
        let fields = line.as_object_mut().unwrap();
        fields.remove("run");
        fields.remove("latest");
        line
    };
    lines.into_iter().map(without).collect()
}

#[test]
fn the_first_run_and_a_rerank_give_what_a_fresh_run_gives() {
    let folder = Folder::new();
    part_of_archive(&folder, "a.jsonl", 900, 5);
    let fresh = run(&folder, &[]).json();
    assert!(fresh.len() > 100 && fresh.iter().all(|line| line.get("run").is_none() && line.get("latest").is_none()));
    let first = run(&folder, &["--append"]);
    assert_eq!(latest(&first.json()), [1, 900, fresh.len() as u64 - 1, 0]);
    assert_eq!(without_runs(first.json()), fresh);
    // No document was added since.
    assert_eq!(run(&folder, &["--append"]).stdout, first.stdout);
    part_of_archive(&folder, "b.jsonl", 900, 77);
    let second = append(&folder);
    assert_eq!(latest(&second)[..2], [2, 900]);
    let fresh = run(&folder, &[]).json();
    assert_ne!(without_runs(second.clone()), fresh, "survivors would have been others");
    let rerank = run(&folder, &["--rerank"]);
    assert_eq!(without_runs(rerank.json()), fresh);
    assert_eq!(latest(&rerank.json())[..2], [1, 1800]);
    assert_eq!(run(&folder, &["--rerank"]).stdout, rerank.stdout);
    assert_eq!(run(&folder, &["--append"]).stdout, rerank.stdout);
    assert_eq!(jobs(&folder), Vec::<String>::new());
}

/// The decisions do not depend on sorted runs, memory or threads, nor on the removal of removable documents.
#[test]
fn newcomers_are_decided_alike_however_the_archive_is_stored() {
    let folder = Folder::new();
    part_of_archive(&folder, "a.jsonl", 2000, 5);
    let first = append(&folder);
    part_of_archive(&folder, "b.jsonl", 700, 77);
    let states = [
        ("as it is", false, false, &[][..]),
        ("in little memory", false, false, &["--memory", "300K"]),
        ("on one thread", false, false, &["--threads", "1"]),
        ("compacted", false, true, &[]),
        ("removed", true, false, &[]),
        ("removed and compacted", true, true, &["--memory", "300K"]),
    ];
    let newest = |lines: &[Value]| -> Vec<Value> { lines.iter().filter(|line| line["run"] == 2).cloned().collect() };
    let mut expected = None;
    for (state, removes, compacts, flags) in states {
        let own = Folder::new();
        copy(folder.path(), own.path());
        if removes {
            let removable = of(&first, "fpdb.dedup/1").into_iter().map(|line| line["remove_id"].to_string());
            let ids: Vec<String> = removable.collect();
            own.ok(&[&["rm", "-q", "--id"][..], &ids.iter().map(String::as_str).collect::<Vec<_>>()].concat());
        }
        if compacts {
            own.ok(&["compact", "-q"]);
        }
        let lines = run(&own, &[&["--append"], flags].concat()).json();
        assert_eq!(latest(&lines)[..2], [2, 700], "{state}");
        let expected = expected.get_or_insert_with(|| newest(&lines));
        assert!(expected.len() > 100);
        assert_eq!(newest(&lines), *expected, "{state}");
        let old = of(&lines, "fpdb.dedup/1").into_iter().filter(|line| line["run"] == 1).count();
        assert_eq!(old, if removes { 0 } else { first.len() - 1 }, "{state}");
    }
}

#[test]
fn a_better_newcomer_is_listed_and_a_removed_survivor_opens_what_it_justified() {
    let folder = Folder::new();
    folder.write("c/old.txt", sentences(0..20));
    folder.write("c/part.txt", sentences(2..8));
    folder.write("c/twin.txt", sentences(2..8));
    folder.write("c/other.txt", sentences(100..110));
    folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
    let lines = append(&folder);
    let pairs = |lines: &[Value]| -> Vec<(String, String, u64)> {
        let text = |line: &Value, field: &str| line[field].as_str().unwrap()[2..].to_owned();
        let removable = of(lines, "fpdb.dedup/1").into_iter();
        removable.map(|line| (text(line, "remove"), text(line, "keep"), line["run"].as_u64().unwrap())).collect()
    };
    let pair = |remove: &str, keep: &str, run| (format!("{remove}.txt"), format!("{keep}.txt"), run);
    assert_eq!(pairs(&lines), [pair("part", "old", 1), pair("twin", "old", 1)]);
    // The new document contains the old one and other text. So the copy of the new document is removable
    // because of the new document.
    folder.write("c/whole.txt", sentences(0..23));
    folder.write("c/whole2.txt", sentences(0..23));
    folder.write("c/tiny.txt", sentence(900));
    folder.ok(&["ingest", "-q", "c"]);
    let lines = append(&folder);
    let expected = [pair("part", "old", 1), pair("twin", "old", 1), pair("whole2", "whole", 2)];
    assert_eq!(pairs(&lines), expected);
    let superseded = of(&lines, "fpdb.dedup.superseded/1");
    assert_eq!(superseded.len(), 1);
    assert_eq!((&superseded[0]["document"], &superseded[0]["by"]), (&"c/old.txt".into(), &"c/whole.txt".into()));
    assert_eq!((superseded[0]["score"].as_f64(), superseded[0]["run"].as_u64()), (Some(1.0), Some(2)));
    assert_eq!(latest(&lines), [2, 3, 1, 1]);
    let kept = lines.last().unwrap();
    assert_eq!((kept["removable"].as_u64(), kept["kept"].as_u64()), (Some(3), Some(4)));
    // Text for people and tables say the same.
    let human = folder.ok(&["dedup", "--by", "containment", "--threshold", "0.7", "--append"]);
    assert!(human.stdout.contains("c/old.txt  is kept, and is contained (100.0%) in  c/whole.txt, which came later\n"));
    assert!(
        human.stderr.contains(
            "run 2, which decided 3 documents: 1 removable; 1 survivor that a newer document could replace\n"
        ),
        "{human:?}"
    );
    assert!(human.stderr.contains("nothing new was decided after run 2, which decided 3 documents"), "{human:?}");
    let table = folder.ok(&[&RULE[..5], &["-q", "--append", "--format", "csv"]].concat());
    assert!(table.stdout.contains("c/old.txt,c/whole.txt,superseded,1,"), "{table:?}");
    // After the old survivor is removed, the new survivor justifies the removal of the same documents.
    folder.ok(&["rm", "-q", "c/old.txt"]);
    let lines = append(&folder);
    assert_eq!(pairs(&lines), [pair("part", "whole", 3), pair("twin", "whole", 3), pair("whole2", "whole", 2)]);
    assert!(of(&lines, "fpdb.dedup.superseded/1").is_empty());
    assert_eq!(latest(&lines), [3, 2, 2, 0]);
}

#[test]
fn other_options_are_refused_until_all_is_decided_anew() {
    let folder = Folder::new();
    part_of_archive(&folder, "a.jsonl", 60, 5);
    append(&folder);
    let other = ["dedup", "--by", "containment", "--threshold", "0.8", "--prefer", "json", "-q", "--append"];
    let refused = folder.run(&other);
    assert_eq!(refused.status, 2);
    let path = std::fs::canonicalize(folder.path()).unwrap().join(".fpdb/dedup-decisions");
    let rule = |threshold: &str, more: &str| format!("by containment {threshold}, keep longest, max-novel 200{more}");
    let expected = format!(
        "the decisions in {} were made by another rule: {}; now it is: {}\n",
        path.display(),
        rule("0.7", ""),
        rule("0.8", ", prefer \"json\"")
    );
    assert!(refused.stderr.contains(&expected), "{refused:?}");
    assert!(refused.stderr.contains("decide about all documents again with --rerank"), "{refused:?}");
    let neither = folder.run(&["dedup", "--append", "--rerank"]);
    assert_eq!(neither.status, 2);
    // Memory, threads and the format of the answer are not part of the rule.
    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    run(&folder, &["--append", "--memory", "300M", "--threads", "1", "--temp-dir", "elsewhere"]);
    folder.ok(&[&other[..8], &["--rerank"]].concat());
    folder.ok(&other);
    // Damage is noticed. A rerank does not read the damaged record.
    let mut record = std::fs::read(&path).unwrap();
    let at = record.len() / 2;
    record[at] ^= 1;
    std::fs::write(&path, record).unwrap();
    let damaged = folder.run(&other);
    assert!(
        damaged.status == 2
            && damaged.stderr.contains("dedup-decisions are damaged: ")
            && damaged.stderr.contains("--rerank"),
        "{damaged:?}"
    );
    folder.ok(&[&other[..8], &["--rerank"]].concat());
    folder.ok(&other);
    // The record of another database is noticed too.
    let elsewhere = Folder::new();
    part_of_archive(&elsewhere, "a.jsonl", 60, 5);
    std::fs::copy(&path, elsewhere.path().join(".fpdb/dedup-decisions")).unwrap();
    let others = elsewhere.run(&other);
    assert!(others.status == 2 && others.stderr.contains("are of another database"), "{others:?}");
}

/// A restored database has the decisions of the time of the backup.
#[test]
fn backups_hold_the_decisions() {
    let folder = Folder::new();
    folder.ok(&["init", "--profile", "words"]);
    folder.ok(&["backup", "copies"]);
    part_of_archive(&folder, "a.jsonl", 60, 5);
    append(&folder);
    folder.ok(&["backup", "copies"]);
    let first = record(&folder, ".fpdb");
    part_of_archive(&folder, "b.jsonl", 60, 77);
    append(&folder);
    folder.ok(&["backup", "copies"]);
    let last = record(&folder, ".fpdb");
    assert_ne!(first, last);
    for (number, expected) in [("1", None), ("2", Some(&first)), ("3", Some(&last))] {
        if number == "3" {
            // An existing folder is filled, not replaced.
            std::fs::create_dir(folder.path().join(number)).unwrap();
        }
        folder.ok(&["--db", number, "restore", "copies", "--number", number]);
        assert_eq!(folder.path().join(number).join("dedup-decisions").exists(), expected.is_some());
        if let Some(expected) = expected {
            let answer = folder.ok(&[&["--db", number], &RULE[..], &["--append"]].concat());
            assert_eq!(record(&folder, number), *expected, "nothing is decided again: {answer:?}");
        }
    }
    folder.ok(&["backup", "copies", "--keep", "2"]);
    let kept = std::fs::read_dir(folder.path().join("copies/decisions")).unwrap();
    let mut kept: Vec<_> = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["3", "4"]);
}

#[test]
fn an_append_that_is_killed_goes_on_and_ends_with_the_same_answer() {
    let folder = Folder::new();
    part_of_archive(&folder, "a.jsonl", 2000, 5);
    append(&folder);
    part_of_archive(&folder, "b.jsonl", 2000, 77);
    let undisturbed = Folder::new();
    copy(folder.path(), undisturbed.path());
    let expected = run(&undisturbed, &["--append"]).stdout;
    let arguments = [&RULE[..], &["-q", "--append"]].concat();
    let mut killed = 0;
    folder.kill_until_it_ends(&arguments, || killed += 1);
    assert!(killed > 0, "it was killed {killed} times");
    assert_eq!(run(&folder, &["--append"]).stdout, expected);
    // The two databases are copies of one.
    assert_eq!(record(&folder, ".fpdb"), record(&undisturbed, ".fpdb"));
    assert_eq!(jobs(&folder), Vec::<String>::new());
}

/// A dedup by bytes joins no postings, and counts documents that are too short for a fingerprint.
#[test]
fn identical_newcomers_go_too() {
    let folder = Folder::new();
    for name in ["c/a.txt", "c/b.txt", "c/z.txt"] {
        folder.write(name, if name == "c/z.txt" { sentence(4) } else { "two words".into() });
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
    let rule = ["dedup", "-q", "--format", "json", "--prefer", "^(good/|c/z)", "--append"];
    let removed = |lines: &[Value]| -> BTreeSet<(String, String)> {
        let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
        of(lines, "fpdb.dedup/1").into_iter().map(|line| (text(line, "remove"), text(line, "keep"))).collect()
    };
    let set = |pairs: &[(&str, &str)]| -> BTreeSet<(String, String)> {
        pairs.iter().map(|&(remove, keep)| (remove.to_owned(), keep.to_owned())).collect()
    };
    assert_eq!(removed(&folder.ok(&rule).json()), set(&[("c/b.txt", "c/a.txt")]));
    folder.write("c/n.txt", "two words");
    folder.write("good/a.txt", "two words");
    folder.ok(&["ingest", "-q", "c", "good"]);
    let lines = folder.ok(&rule).json();
    // The preferred document comes first, and earlier decisions stay.
    assert_eq!(removed(&lines), set(&[("c/b.txt", "c/a.txt"), ("c/n.txt", "good/a.txt")]));
    let superseded = of(&lines, "fpdb.dedup.superseded/1");
    assert_eq!(superseded.len(), 1);
    assert_eq!((&superseded[0]["document"], &superseded[0]["because"]), (&"c/a.txt".into(), &"identical".into()));
}

#[test]
fn a_document_that_is_renamed_into_what_is_protected_stays() {
    let folder = Folder::new();
    folder.write("ar/a.txt", sentences(1..4));
    folder.write("ar/b.txt", sentences(1..4));
    folder.write("keep/z.txt", sentences(50..53));
    folder.ok(&["ingest", "-q", "ar", "keep"]);
    let flags = ["dedup", "--append", "--protect", "keep/", "--format", "json", "-q"];
    assert_eq!(of(&folder.ok(&flags).json(), "fpdb.dedup/1").len(), 1);
    std::fs::rename(folder.path().join("ar/b.txt"), folder.path().join("keep/b.txt")).unwrap();
    folder.ok(&["ingest", "-q", "--prune", "ar", "keep"]);
    let lines = folder.ok(&flags).json();
    let removed: Vec<_> = of(&lines, "fpdb.dedup/1").iter().map(|line| line["remove"].as_str().unwrap()).collect();
    assert!(!removed.contains(&"keep/b.txt"), "{lines:#?}");
}

#[test]
fn decisions_of_before_a_repair_are_named() {
    let folder = Folder::new();
    folder.write("ar/a.txt", sentences(1..4));
    folder.write("ar/b.txt", sentences(1..4));
    folder.ok(&["ingest", "-q", "ar"]);
    folder.ok(&["dedup", "--append", "-q"]);
    std::fs::write(folder.path().join(".fpdb/FPDB"), "x").unwrap();
    folder.ok(&["verify", "--repair", "-q"]);
    let run = folder.run(&["dedup", "--append"]);
    assert!(run.status == 2 && run.stderr.contains("before a repair") && run.stderr.contains("--rerank"), "{run:#?}");
    folder.ok(&["dedup", "--rerank", "-q"]);
}
