//! Every file of a database is cut, changed by a bit, or removed. Each command fails with a next step, or
//! answers exactly as before. `verify --repair` restores everything, or reports the losses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::prose;
use crate::support::{Folder, Run, copy};

const DB: &str = "whole";
const HURT: &str = "hurt";

const COMMANDS: [&[&str]; 4] = [
    &["query", "--top", "0", "docs/000.txt", "docs/033.txt", "docs/late.txt"],
    &["list"],
    &["show", "docs/007.txt", "docs/late.txt"],
    &["query", "--document", "docs/011.txt", "--mode", "resemblance", "--top", "0"],
];

/// The answers of the commands, in JSON.
fn ask(folder: &Folder, db: &str) -> Vec<Run> {
    COMMANDS.iter().map(|command| folder.run(&[&["--db", db, "--format", "json"], *command].concat())).collect()
}

/// A database with tables and a log of every family, deleted and replaced documents, and files left by a
/// crash.
fn make() -> (Folder, Vec<Run>) {
    let folder = Folder::new();
    for number in 0..40 {
        folder.write(&format!("docs/{number:03}.txt"), prose(number));
    }
    let run = |arguments: &[&str]| folder.ok(&[&["--db", DB, "-q"], arguments].concat());
    run(&["ingest", "--profile", "prose", "-w", "3", "docs"]);
    run(&["rm", "docs/003.txt"]);
    run(&["compact"]);
    folder.write("docs/005.txt", prose(500));
    fs::remove_file(folder.path().join("docs/003.txt")).unwrap();
    run(&["ingest", "docs"]);
    folder.write("docs/late.txt", prose(7));
    run(&["ingest", "docs"]);
    folder.write(&format!("{DB}/incoming/postings-0.sst"), "the beginning of a table");
    let answers = ask(&folder, DB);
    assert!(answers.iter().all(|answer| answer.status == 0), "{answers:#?}");
    (folder, answers)
}

/// All files below a folder, in order of name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The damage of a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Cut(usize),
    Flip(usize),
    Remove,
}

impl Damage {
    /// All damages of a file of `length` bytes, in each of its `parts` parts.
    fn all(length: usize, parts: usize) -> Vec<Self> {
        let mut all = vec![Self::Remove];
        if length > 0 {
            all.extend([Self::Cut(length / 2), Self::Flip(length / 3)]);
            all.extend((0..parts).map(|part| Self::Cut(length * part / parts)));
            all.extend((0..parts).map(|part| Self::Flip(length * part / parts)));
            // Footers are at the end.
            all.extend([Self::Cut(length - 1), Self::Flip(length - 1)]);
        }
        all
    }

    fn apply(self, path: &Path) {
        let mut bytes = fs::read(path).unwrap();
        match self {
            Self::Remove => return fs::remove_file(path).unwrap(),
            Self::Cut(kept) => bytes.truncate(kept),
            Self::Flip(at) => bytes[at] ^= 1 << (at % 8),
        }
        fs::write(path, bytes).unwrap();
    }
}

/// True if the answer is the same as before. Any other run must have failed with a next step.
fn is_right(run: &Run, before: &Run, what: &str) -> bool {
    assert!(!run.stderr.contains("panicked"), "{what}: {run:#?}");
    if run.status == 0 {
        assert!(run.stdout == before.stdout, "{what}: a wrong answer: {run:#?}, not {before:#?}");
        return true;
    }
    assert_eq!(run.status, 2, "{what}: {run:#?}");
    assert!(run.stderr.contains("error: ") && run.stderr.contains("\nhint: "), "{what}: no next step: {run:#?}");
    false
}

/// The results for databases with damage in one kind of file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcomes {
    harmless: usize,
    repaired: usize,
    /// Repaired, except for documents that the repair lists as lost.
    lost: usize,
    /// The repair was refused, and the database is unchanged.
    refused: usize,
}

fn survive(parts: usize) {
    let (folder, answers) = make();
    let (whole, hurt) = (folder.path().join(DB), folder.path().join(HURT));
    for (index, file) in files(&whole).into_iter().enumerate() {
        let name = file.strip_prefix(&whole).unwrap().to_owned();
        let mut outcomes = Outcomes::default();
        let mut damages = Damage::all(file.metadata().unwrap().len() as usize, parts);
        if parts == 0 {
            // One of three damages for each file.
            damages.truncate(3);
            damages = vec![damages[index % damages.len()]];
        }
        for damage in damages {
            let what = format!("{} {damage:?}", name.display());
            let _ = fs::remove_dir_all(&hurt);
            copy(&whole, &hurt);
            damage.apply(&hurt.join(&name));
            let after = ask(&folder, HURT);
            let right = after.iter().zip(&answers).filter(|(run, before)| is_right(run, before, &what)).count();
            outcomes.count(right == answers.len(), repair(&folder, &answers, &what));
        }
        eprintln!("{}: {outcomes:?}", name.display());
        outcomes.check(&name, parts);
    }
}

/// Repairs the database and checks the result. Returns true if nothing is lost, and `None` if the repair was
/// refused.
fn repair(folder: &Folder, answers: &[Run], what: &str) -> Option<bool> {
    let run = folder.run(&["--db", HURT, "verify", "--repair", "--format", "json"]);
    assert!(!run.stderr.contains("panicked"), "{what}: {run:#?}");
    if run.stdout.is_empty() {
        let told = run.stderr.contains(" cannot be repaired: ") || run.stderr.contains(" is not an fpdb database");
        assert!(run.status == 2 && told && run.stderr.contains("\nhint: "), "{what}: {run:#?}");
        return None;
    }
    let report = run.json().remove(0);
    let lost = report["repair"]["lost"].as_array().unwrap();
    let complete = lost.is_empty() && report["repair"]["commits_lost"] == 0;
    // Some rows exist in one table only. If such a table is damaged, the report says that rows may be lost.
    let unsure = ["kept_out_salvaged", "sources_salvaged", "assembled_salvaged", "records_may_be_older"];
    let is_sure = unsure.iter().all(|field| report["repair"].get(field).is_none());
    assert_eq!(run.status, if complete && is_sure { 0 } else { 2 }, "{what}: {run:#?}");
    let again = folder.ok(&["--db", HURT, "verify", "--format", "json"]);
    assert_eq!(again.json()[0]["problems"], Value::Array(vec![]), "{what}");
    if complete {
        for (run, before) in ask(folder, HURT).iter().zip(answers) {
            assert_eq!(run.stdout, before.stdout, "{what}: other answers after the repair: {report}");
        }
    }
    // Lost documents can be added again from their files.
    folder.ok(&["--db", HURT, "ingest", "docs"]);
    let names = |db: &str| {
        let list = folder.ok(&["--db", db, "list", "--format", "json"]).json();
        let mut names: Vec<String> = list.iter().map(|document| document["name"].as_str().unwrap().into()).collect();
        names.sort();
        names
    };
    assert_eq!(names(HURT), names(DB), "{what}: {report}");
    Some(complete)
}

impl Outcomes {
    fn count(&mut self, answered: bool, repaired: Option<bool>) {
        match repaired {
            None => self.refused += 1,
            Some(false) => self.lost += 1,
            Some(true) if answered => self.harmless += 1,
            Some(true) => self.repaired += 1,
        }
    }

    /// Checks that damage of this kind of file has the results that it must have.
    fn check(&self, name: &Path, parts: usize) {
        let text = name.to_str().unwrap();
        let sound = match () {
            // Nothing depends on these files.
            () if text == "lock" || text == "committed" || text.starts_with("incoming") => {
                self.refused + self.lost == 0
            }
            () if text.contains("OPTIONS") || text.contains("LOG") => self.repaired + self.refused + self.lost == 0,
            () if text.ends_with("CURRENT") => self.refused + self.lost == 0 && (self.repaired > 0 || parts == 0),
            () if text.ends_with(".sst") => self.refused == 0,
            () => true,
        };
        assert!(sound, "{text}: {self:?}");
    }
}

#[test]
fn damage_to_any_file_is_noticed_or_harmless_and_repaired() {
    survive(0);
}

#[test]
#[ignore = "long: make soak"]
fn damage_anywhere_in_any_file_is_noticed_or_harmless_and_repaired() {
    survive(5);
}
