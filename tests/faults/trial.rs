//! A trial: a database in a known state, a command on it with a fault, and a check of the result.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fpdb::Profile;
use serde_json::Value;

use super::shim::{Fault, Shim};
use crate::assemble::build_of;
use crate::oracle::Random;
use crate::support::{Folder, Run};

/// The commands that change files.
pub(super) const COMMANDS: [&str; 11] = [
    "ingest",
    "replace",
    "rm",
    "compact",
    "merge",
    "backup",
    "restore",
    "repair",
    "rebuild",
    "assemble",
    "assemble more",
];

const DOCUMENTS: u64 = 14;

/// Calls on paths that contain this count: the database, its backups, and the folders in which both are made.
const CONCERNED: &str = "concerned";

/// The content of a database: its documents, and the answers to some queries.
#[derive(Clone, Debug, PartialEq)]
struct Content {
    documents: Vec<Value>,
    answers: Vec<Value>,
}

/// A command, the state it begins with, and the content before and after it.
pub(super) struct Trials {
    command: &'static str,
    /// The state before the command.
    start: Folder,
    arguments: Vec<String>,
    /// The database that the command makes or changes.
    database: &'static str,
    before: Option<Content>,
    after: Content,
}

fn text(seed: u64) -> String {
    let mut random = Random(seed * 7919 + 1);
    let mut text = String::new();
    for line in 0..60 {
        // Each text shares a part with its neighbours.
        let mut shared = Random(seed / 3 * 104_729 + line);
        for _ in 0..12 {
            let word = if line % 3 == 0 { shared.below(50_000) } else { random.below(50_000) };
            text.push_str(&format!("w{word} "));
        }
        text.push('\n');
    }
    text
}

pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            let modified = entry.metadata()?.modified()?;
            fs::File::options().write(true).open(&target)?.set_modified(modified)?;
        }
    }
    Ok(())
}

fn list(folder: &Folder, database: &str) -> Vec<Value> {
    let run = folder.ok(&["--db", database, "list", "--format", "json"]);
    let mut documents = run.json();
    for document in &mut documents {
        let document = document.as_object_mut().unwrap();
        document.remove("ingested_at").unwrap();
        // This field is present only if the file was not changed for some seconds.
        document.remove("modified");
        // This path is absolute, and each trial has its own folder.
        document.remove("source");
        // The numbers depend on the order of arrival.
        document.remove("id").unwrap();
    }
    documents.sort_by_key(|document| document["name"].as_str().unwrap().to_owned());
    documents
}

/// Reads the whole content of a database.
fn content(folder: &Folder, database: &str) -> Content {
    let documents = list(folder, database);
    let mut query = vec!["--db", database, "query", "--top", "0", "--format", "json", "-q"];
    let questions = ["questions/0.txt", "questions/4.txt", "questions/9.txt"];
    query.extend(questions);
    let mut answers = folder.ok(&query).json();
    for answer in &mut answers {
        for found in answer["matches"].as_array_mut().unwrap() {
            found.as_object_mut().unwrap().remove("id");
        }
    }
    Content { documents, answers }
}

impl Trials {
    /// Makes the state that `command` begins with, and runs it undisturbed.
    pub(super) fn new(command: &str) -> Self {
        let command = COMMANDS.into_iter().find(|&known| known == command).unwrap();
        let start = Folder::new();
        let mut database = "concerned/db";
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let write = |version: u64| {
            for number in 0..DOCUMENTS {
                let name = format!("docs/{number:02}.txt");
                start.write(&name, text(number + if number % 2 == 0 { 0 } else { 100 * version }));
                start.age(&name);
            }
        };
        for number in [0, 4, 9] {
            start.write(&format!("questions/{number}.txt"), text(number));
        }
        fs::create_dir_all(start.path().join("concerned")).unwrap();
        write(0);
        let ingest = words("--db concerned/db -q ingest docs --memory 1MiB -k 5 -w 4 --profile words");
        let run = |line: &str| start.ok(&line.split(' ').collect::<Vec<&str>>());
        let made = |arguments: &[String]| start.ok(&arguments.iter().map(String::as_str).collect::<Vec<&str>>());
        let arguments = match command {
            "ingest" => ingest.clone(),
            "replace" => {
                made(&ingest);
                write(1);
                ingest.clone()
            }
            "rm" => {
                made(&ingest);
                words("--db concerned/db -q rm docs/01.txt docs/04.txt docs/09.txt")
            }
            "compact" => {
                for number in 0..4 {
                    run(&format!("--db concerned/db -q ingest docs/0{number}.txt -k 5 -w 4 --profile words"));
                }
                made(&ingest);
                run("--db concerned/db -q rm docs/01.txt docs/04.txt");
                words("--db concerned/db -q compact")
            }
            "merge" => {
                run("--db concerned/db -q ingest docs/00.txt docs/01.txt -k 5 -w 4 --profile words");
                run("--db other -q ingest docs -k 5 -w 4 --profile words");
                run("--db other -q rm docs/00.txt docs/01.txt");
                words("--db concerned/db -q merge other")
            }
            // The command takes over the files of a build, or merges them.
            "assemble" | "assemble more" => {
                if command == "assemble more" {
                    run("--db concerned/db -q ingest docs/00.txt docs/01.txt --profile words");
                }
                let built = (2..DOCUMENTS).map(|number| (format!("docs/{number:02}.txt"), text(number).into_bytes()));
                let profile = Profile::named("words").unwrap();
                build_of(&start.path().join("staging"), &profile, built);
                words("--db concerned/db -q assemble staging")
            }
            "backup" => {
                made(&ingest);
                words("--db concerned/db -q backup concerned/copies")
            }
            "restore" => {
                run("--db source -q ingest docs -k 5 -w 4 --profile words");
                run("--db source -q backup copies");
                words("--db concerned/db -q restore copies")
            }
            "repair" => {
                made(&ingest);
                damage(&start.path().join("concerned/db/store"));
                words("--db concerned/db -q verify --repair")
            }
            // The store lacks its list of tables.
            "rebuild" => {
                made(&ingest);
                run("--db concerned/db -q rm docs/03.txt");
                let files = fs::read_dir(start.path().join("concerned/db/store")).unwrap();
                let is_list = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("MANIFEST");
                files.map(|file| file.unwrap().path()).filter(is_list).for_each(|list| fs::remove_file(list).unwrap());
                words("--db concerned/db -q verify --repair")
            }
            _ => unreachable!(),
        };
        let before = match command {
            "ingest" | "restore" | "repair" | "rebuild" | "assemble" => None,
            _ => Some(content(&start, database)),
        };
        let undisturbed = Folder::new();
        copy(start.path(), undisturbed.path()).unwrap();
        let done = undisturbed.run(&arguments.iter().map(String::as_str).collect::<Vec<&str>>());
        assert!(done.status == 0 || command == "repair", "{done:#?}");
        if command == "backup" {
            undisturbed.ok(&["--db", "restored", "-q", "restore", "concerned/copies"]);
            database = "restored";
        }
        let after = content(&undisturbed, database);
        Self { command, start, arguments, database: "concerned/db", before, after }
    }

    pub(super) fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// A copy of the state before the command, in a separate folder.
    pub(super) fn begin(&self) -> Folder {
        let folder = Folder::new();
        copy(self.start.path(), folder.path()).unwrap();
        folder
    }

    /// Number of calls of a class that the command makes.
    pub(super) fn count(&self, shim: &Shim, class: &str) -> usize {
        self.count_on(shim, class, CONCERNED)
    }

    /// Number of calls that the command makes on paths that contain `on`.
    pub(super) fn count_on(&self, shim: &Shim, class: &str, on: &str) -> usize {
        self.count_prepared(shim, class, on, |_| {})
    }

    /// Like [`Self::count_on`], for a command that `prepare` changes.
    pub(super) fn count_prepared(&self, shim: &Shim, class: &str, on: &str, prepare: impl Fn(&mut Command)) -> usize {
        let folder = self.begin();
        let mut command = folder.command(&self.arguments());
        shim.count(&mut command, class, on, "calls");
        prepare(&mut command);
        let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
        assert!(run.status == 0 || self.command == "repair", "{run:#?}");
        fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap()
    }

    /// Runs the command with calls that fail, checks the result, and runs the command again.
    pub(super) fn survive(&self, shim: &Shim, class: &str, at: usize, last: usize, fault: Fault) -> Run {
        self.survive_on(shim, CONCERNED, class, at, last, fault)
    }

    /// Like [`Self::survive`], with calls on paths that contain `on`.
    pub(super) fn survive_on(&self, shim: &Shim, on: &str, class: &str, at: usize, last: usize, fault: Fault) -> Run {
        self.survive_prepared(shim, (class, on), (at, last), fault, |_| {})
    }

    /// Like [`Self::survive_on`], with faults of the calls `at` to `last`, for a command that `prepare`
    /// changes.
    pub(super) fn survive_prepared(
        &self,
        shim: &Shim,
        calls: (&str, &str),
        (at, last): (usize, usize),
        fault: Fault,
        prepare: impl Fn(&mut Command),
    ) -> Run {
        let lasts = if last == at { "once" } else { "from then on" };
        let what = format!("{}: {fault:?} at {} {at} {lasts}", self.command, calls.0);
        let folder = self.begin();
        let mut command = folder.command(&self.arguments());
        shim.fail(&mut command, calls, (at, last), fault);
        prepare(&mut command);
        let run = Run::to_its_end(&mut command);
        // The standard library panics if it is refused memory for a thread.
        let may_panic = fault == Fault::Error("ENOMEM");
        assert!(may_panic || !run.stderr.contains("panicked"), "{what}: {run:#?}");
        // A signal shows as -1: the process was killed, or the engine ended it for lack of memory.
        let ends: &[i32] = match fault {
            Fault::Error("ENOMEM") => &[0, 2, -1, 101],
            Fault::Error(_) | Fault::Short => &[0, 2],
            Fault::KillBefore | Fault::KillAfter => &[0, 2, -1],
            Fault::Append => &[0, 2],
        };
        assert!(ends.contains(&run.status), "{what}: {run:#?}");
        if run.status == 2 && self.command != "repair" {
            assert!(run.stderr.contains("error: "), "{what}: {run:#?}");
        }
        self.look(&folder, &format!("{what}, {run:#?}"));
        self.resume(&folder, &format!("{what}, {run:#?}"));
        run
    }

    /// Every document must be as before the command, or as after it.
    pub(super) fn look(&self, folder: &Folder, what: &str) {
        let path = folder.path().join(self.database);
        // Either the store is still damaged and unchanged, or it is whole, as a second run shows, and the
        // damaged store is kept.
        if ["repair", "rebuild"].contains(&self.command) {
            let damaged = files(&self.start.path().join(self.database).join("store")).unwrap();
            let places = ["store", "damaged", "damaged-1"].map(|place| files(&path.join(place)));
            let is_kept = |files: &Option<Vec<(String, Vec<u8>)>>| files.as_ref() == Some(&damaged);
            assert!(places.iter().any(is_kept), "{what}: the damaged store is not as it was");
            return;
        }
        if !path.join("FPDB").exists() {
            assert!(self.before.is_none(), "{what}: the database is gone");
            return;
        }
        let found = content(folder, self.database);
        let verified = folder.run(&["--db", self.database, "verify", "--format", "json"]);
        assert_eq!(verified.status, 0, "{what}: {verified:#?}");
        let of_either = |document: &Value| {
            let before = self.before.as_ref().is_some_and(|before| before.documents.contains(document));
            before || self.after.documents.contains(document)
        };
        assert!(found.documents.iter().all(of_either), "{what}: {:#?}", found.documents);
        if let Some(before) = &self.before {
            let names = |content: &Content| -> BTreeSet<String> {
                content.documents.iter().map(|document| document["name"].as_str().unwrap().to_owned()).collect()
            };
            let (found, before, after) = (names(&found), names(before), names(&self.after));
            assert!(before.intersection(&after).all(|name| found.contains(name)), "{what}: {found:?}");
        }
    }

    /// Checks that the command is complete.
    pub(super) fn is_done(&self, folder: &Folder, what: &str) {
        let database = self.made(folder);
        let (found, after) = (content(folder, database), &self.after);
        assert_eq!(found.documents, after.documents, "{what}: not the documents that the command has stored");
        assert_eq!(found.answers, after.answers, "{what}: not the answers of what the command has stored");
        folder.ok(&["--db", database, "verify", "-q"]);
    }

    /// The database that the command has changed or made.
    fn made(&self, folder: &Folder) -> &'static str {
        if self.command == "backup" {
            folder.ok(&["--db", "restored", "-q", "restore", "concerned/copies"]);
            return "restored";
        }
        self.database
    }

    /// Checks that the command, run again, ends like an undisturbed run.
    pub(super) fn resume(&self, folder: &Folder, what: &str) {
        let mut arguments = self.arguments();
        if self.command == "rm" {
            let left = list(folder, self.database);
            let is_left = |name: &&str| left.iter().any(|document| document["name"] == **name);
            arguments.retain(|argument| !argument.starts_with("docs/") || is_left(argument));
        }
        if self.command == "restore" && folder.path().join(self.database).join("FPDB").exists() {
            arguments.clear();
        }
        // The build is removed once the database contains it.
        if self.command.starts_with("assemble") && !folder.path().join("staging").exists() {
            arguments.clear();
        }
        if !arguments.is_empty() && arguments.last() != Some(&"rm") {
            let run = folder.run(&arguments);
            assert!(run.status == 0 || self.command == "repair", "{what}: run again: {run:#?}");
        }
        self.is_done(folder, what);
        // No temporary file is left beside the database or in its folder `incoming`.
        for place in ["concerned", "concerned/db/incoming"] {
            // A database that was restored has had no writer yet.
            let Ok(entries) = fs::read_dir(folder.path().join(place)) else { continue };
            let left = entries.map(|entry| entry.unwrap().file_name());
            let stray: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
            assert!(stray.iter().all(|name| name == "db" || name == "copies"), "{what}: {stray:?} in {place}");
        }
    }
}

/// The files in a folder, with their contents. `None` if the folder does not exist.
fn files(folder: &Path) -> Option<Vec<(String, Vec<u8>)>> {
    let entries = fs::read_dir(folder).ok()?.map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut files: Vec<_> = entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect();
    files.sort();
    Some(files)
}

/// Flips bits in the largest table.
fn damage(store: &Path) {
    let tables = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let tables = tables.filter(|path| path.extension().is_some_and(|extension| extension == "sst"));
    let largest = tables.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    let mut bytes = fs::read(&largest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(largest, bytes).unwrap();
}
