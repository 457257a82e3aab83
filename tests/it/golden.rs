//! Databases of each format version that this program reads, written by programs of those versions. They must
//! open, and give the same reports. `tools/make-golden.sh` makes a database of the current version.
//!
//! Reports may have new fields, but earlier fields must be equal.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Folder, Run, copy};

/// Fields that depend on the machine, or on the layout of tables.
const LOOSE: [&str; 4] = ["path", "stored", "levels", "cache"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A copy of each golden database, and the folder it comes from.
fn databases() -> Vec<(Folder, PathBuf)> {
    let golden = fs::read_dir(root().join("tests/golden")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = Vec::new();
    for from in golden.filter(|path| path.join("db").is_dir()) {
        let folder = Folder::new();
        copy(&from.join("db"), &folder.path().join("db"));
        found.push((folder, from));
    }
    assert!(!found.is_empty());
    found
}

/// Runs the program in the project's folder, where the sample documents are, on the database of `folder`.
fn run(folder: &Folder, arguments: &[&str]) -> Run {
    let db = folder.path().join("db");
    let all = [&["--db", db.to_str().unwrap()], arguments].concat();
    Run::of(&folder.command(&all).current_dir(root()).output().unwrap())
}

/// The commands of the reports in the folder `from`, each with the name of its report.
fn commands(from: &Path) -> Vec<(String, Vec<String>)> {
    let golden = root().join("tests/golden");
    let mut text = fs::read_to_string(golden.join("commands")).unwrap();
    if from.to_str().unwrap().ends_with("-views") {
        text += &fs::read_to_string(golden.join("commands-views")).unwrap();
    }
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    text.lines().map(words).map(|mut words| (words.remove(0), words)).collect()
}

/// True if `now` has everything that `then` has.
fn holds(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => then
            .iter()
            .all(|(name, then)| LOOSE.contains(&name.as_str()) || now.get(name).is_some_and(|now| holds(now, then))),
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| holds(now, then))
        }
        _ => now == then,
    }
}

fn same_reports(folder: &Folder, from: &Path, which: impl Fn(&str) -> bool) {
    for (name, arguments) in commands(from).into_iter().filter(|(name, _)| which(name)) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let now = run(folder, &[&["--format", "json"], &arguments[..]].concat());
        assert_eq!(now.status, 0, "{name}: {now:#?}");
        let then = fs::read_to_string(from.join("reports").join(format!("{name}.jsonl"))).unwrap();
        let then: Vec<Value> = then.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let now = now.json();
        assert_eq!(now.len(), then.len(), "{name}");
        for (now, then) in now.iter().zip(&then) {
            assert!(holds(now, then), "{}, {name}: {now:#}\nand it was {then:#}", from.display());
        }
    }
}

#[test]
fn golden_databases_give_the_reports_they_gave() {
    for (folder, from) in databases() {
        same_reports(&folder, &from, |_| true);
    }
}

#[test]
fn decisions_of_golden_databases_stand_and_newer_ones_are_refused() {
    let append = ["dedup", "--by", "containment", "--threshold", "0.1", "--max-novel", "100000", "--append"];
    for (folder, from) in databases() {
        let then = fs::read(from.join("db/dedup-decisions")).unwrap();
        let record = folder.path().join("db/dedup-decisions");
        assert_eq!(run(&folder, &append).status, 0);
        assert_eq!(fs::read(&record).unwrap(), then, "nothing was decided anew");
        let added = run(&folder, &["ingest", "data-samples/planted/essay-lifted-paragraphs.txt"]);
        assert_eq!(added.status, 0, "{added:#?}");
        let next = run(&folder, &[&["--format", "json"], &append[..]].concat()).json();
        assert_eq!(next.last().unwrap()["latest"]["run"], 2, "{next:#?}");
        assert!(next.iter().any(|row| row["run"] == 1) && next.iter().any(|row| row["run"] == 2), "{next:#?}");

        let newer = String::from_utf8_lossy(&then[..32]).replace("format 1", "format 2");
        fs::write(&record, [newer.as_bytes(), &then[32..]].concat()).unwrap();
        let refused = run(&folder, &append);
        assert_eq!(refused.status, 2, "{refused:#?}");
        assert!(
            refused.stderr.contains("dedup-decisions have format version 2; this program reads version 1"),
            "{refused:#?}"
        );
        assert!(refused.stderr.contains("hint: use the version of fpdb that wrote them, or"), "{refused:#?}");
        let all = [&append[..append.len() - 1], &["--rerank"]].concat();
        assert_eq!(run(&folder, &all).status, 0);
    }
}

#[test]
fn golden_databases_can_be_written() {
    for (folder, from) in databases() {
        let added = run(&folder, &["--format", "json", "ingest", "data-samples/federalist/fed39.txt"]);
        assert_eq!((added.status, &added.json()[0]["added"]), (0, &1.into()), "{added:#?}");
        let gone = run(&folder, &["rm", "data-samples/federalist/fed39.txt"]);
        assert_eq!(gone.status, 0, "{gone:#?}");
        assert_eq!(run(&folder, &["compact"]).status, 0);
        same_reports(&folder, &from, |name| name.starts_with("query") || name == "list");
        let verified = run(&folder, &["--format", "json", "verify"]);
        assert_eq!((verified.status, &verified.json()[0]["problems"]), (0, &Value::Array(vec![])), "{verified:#?}");
    }
}

#[test]
fn other_versions_are_named_with_what_to_do() {
    let (folder, _) = databases().pop().unwrap();
    for version in [0, 2] {
        folder.write("db/FPDB", format!("fpdb database, format {version}\n"));
        for command in [&["list"][..], &["ingest", "data-samples"], &["verify", "--repair"]] {
            let told = run(&folder, command);
            assert_eq!(told.status, 2, "{told:#?}");
            let says = format!("has format version {version}; this program reads version 1");
            assert!(
                told.stderr.contains(&says) && told.stderr.contains("\nhint: use the version of fpdb"),
                "{told:#?}"
            );
        }
    }
}
