//! Damaged databases: each command reports the damage, and never answers as if the database were intact.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use super::{prose, tell};
use crate::support::Folder;

const DOCUMENTS: usize = 120;

/// A database large enough for tables of several blocks, and its answers before any damage.
fn whole() -> (Folder, String) {
    let folder = Folder::new();
    for number in 0..DOCUMENTS {
        folder.write(&format!("docs/{number:03}.txt"), prose(number));
    }
    folder.ok(&["ingest", "--profile", "prose", "-w", "1", "docs"]);
    let answers = folder.ok(&ASK).stdout;
    (folder, answers)
}

/// A query that reads every family of the store.
const ASK: [&str; 7] = ["query", "--top", "0", "--format", "json", "docs/000.txt", "docs/119.txt"];

fn files(folder: &Folder, what: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let store = folder.path().join(".fpdb/store");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path()).filter(|path| what(path)).collect();
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().len()));
    files
}

/// Checks that every command fails, and that its error names the damaged database and the next step.
fn is_called_damaged(folder: &Folder, commands: &[&[&str]]) {
    for command in commands {
        let run = folder.run(command);
        assert_eq!(run.status, 2, "{command:?}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{command:?}: {run:?}");
        let said = run.stderr.to_lowercase();
        assert!(said.contains("damaged") || said.contains("corrupt"), "{command:?}: {}", run.stderr);
        assert!(run.stderr.contains("\nhint: "), "{command:?}: a next step: {}", run.stderr);
    }
}

#[test]
fn an_unknown_format_version_is_named() {
    let folder = Folder::new();
    folder.ok(&["init"]);
    folder.write(".fpdb/FPDB", "fpdb database, format 7\n");
    assert_snapshot!(tell(&folder, &["stats"]), @"
    status 2
    --- stderr
    error: the database at [folder]/.fpdb has format version 7; this program reads version 1
    hint: use the version of fpdb that wrote it, or ingest the documents again into a new database
    ");
    folder.write("a.txt", prose(1));
    for command in [&["ingest", "a.txt"][..], &["init"], &["query", "a.txt"]] {
        let run = folder.run(command);
        assert_eq!(run.status, 2, "{command:?}");
        assert!(run.stderr.contains("has format version 7; this program reads version 1"), "{}", run.stderr);
    }
}

#[test]
fn a_garbled_marker_is_no_database() {
    let folder = Folder::new();
    folder.ok(&["init"]);
    for garbage in [&b"garbage"[..], b"", b"\xff\xfe\0", b"fpdb database, format"] {
        folder.write(".fpdb/FPDB", garbage);
        let run = folder.run(&["stats"]);
        assert_eq!(run.status, 2, "{garbage:?}");
        assert!(run.stderr.contains(".fpdb exists and is not an fpdb database\nhint: "), "{}", run.stderr);
    }
    std::fs::remove_file(folder.path().join(".fpdb/FPDB")).unwrap();
    assert_snapshot!(tell(&folder, &["stats"]), @"
    status 2
    --- stderr
    error: [folder]/.fpdb exists and is not an fpdb database
    hint: name the database's own folder, the one that holds the file FPDB; a new database needs a path where nothing is yet
    ");
}

#[test]
fn flipped_bytes_in_a_table_are_noticed() {
    let (folder, _) = whole();
    let tables = files(&folder, |path| path.extension().is_some_and(|extension| extension == "sst"));
    let largest = &tables[0];
    let mut bytes = std::fs::read(largest).unwrap();
    assert!(bytes.len() > 1 << 16, "{} is large", largest.display());
    let (quarter, three_quarters) = (bytes.len() / 4, bytes.len() / 4 * 3);
    bytes[quarter..three_quarters].iter_mut().for_each(|byte| *byte ^= 0x55);
    std::fs::write(largest, bytes).unwrap();
    is_called_damaged(&folder, &[&ASK, &["query", "docs/007.txt"], &["stats", "--hashes"]]);
}

/// A damaged database cannot tell if a file was stored, so the error reports the damage.
#[test]
fn damage_is_reported_to_a_file_that_exists() {
    let (folder, _) = whole();
    folder.ok(&["compact"]);
    for table in files(&folder, |path| path.extension().is_some_and(|extension| extension == "sst")) {
        let whole = std::fs::read(&table).unwrap();
        let mut bytes = whole.clone();
        bytes[..whole.len() / 2].iter_mut().for_each(|byte| *byte ^= 0x55);
        std::fs::write(&table, bytes).unwrap();
        let expected = folder.run(&["verify"]);
        folder.write("report.txt", "of last week");
        let run = folder.run(&["verify", "-o", "report.txt"]);
        assert_eq!((run.status, &run.stderr), (expected.status, &expected.stderr), "{}", table.display());
        let written = std::fs::read_to_string(folder.path().join("report.txt")).unwrap();
        assert!(written == expected.stdout || written == "of last week" && expected.stdout.is_empty(), "{written}");
        std::fs::write(&table, whole).unwrap();
    }
}

#[test]
fn one_flipped_bit_is_noticed_or_harmless() {
    let (folder, answers) = whole();
    let tables = files(&folder, |path| path.extension().is_some_and(|extension| extension == "sst"));
    for table in &tables {
        let whole = std::fs::read(table).unwrap();
        for part in 1..8 {
            let mut bytes = whole.clone();
            bytes[whole.len() * part / 8] ^= 1 << (part % 8);
            std::fs::write(table, bytes).unwrap();
            let run = folder.run(&ASK);
            assert!(!run.stderr.contains("panicked"), "{run:?}");
            assert!(run.status == 2 || (run.status == 0 && run.stdout == answers), "a wrong answer: {run:?}");
        }
        std::fs::write(table, whole).unwrap();
    }
}

#[test]
fn a_truncated_store_is_noticed() {
    let (folder, answers) = whole();
    let of_name = |prefix: &'static str| {
        files(&folder, |path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix)).remove(0)
    };
    let readers: [&[&str]; 3] = [&ASK, &["list"], &["stats"]];
    for (file, kept) in
        [(of_name("CURRENT"), 0), (of_name("CURRENT"), 5), (of_name("MANIFEST"), 100), (of_name("MANIFEST"), 0)]
    {
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..kept]).unwrap();
        is_called_damaged(&folder, &readers);
        is_called_damaged(&folder, &[&["ingest", "docs"]]);
        std::fs::write(&file, whole).unwrap();
        assert_eq!(folder.ok(&ASK).stdout, answers, "nothing was made worse");
    }
}

#[test]
fn a_log_that_was_cut_or_removed_is_noticed() {
    let (folder, answers) = whole();
    // The last commit is only in the log.
    let log = files(&folder, |path| path.extension().is_some_and(|extension| extension == "log")).remove(0);
    let whole = std::fs::read(&log).unwrap();
    assert!(whole.len() > 1000);
    let readers: [&[&str]; 3] = [&ASK, &["list"], &["verify"]];
    for kept in [0, 7, whole.len() / 3, whole.len() - 1] {
        std::fs::write(&log, &whole[..kept]).unwrap();
        for command in readers.into_iter().chain([&["ingest", "docs"][..]]) {
            let run = folder.run(command);
            assert_eq!(run.status, 2, "{command:?}, {kept} bytes: {run:?}");
            assert!(run.stderr.contains("has lost its last commits: ") && run.stderr.contains("\nhint: "), "{run:?}");
        }
    }
    std::fs::remove_file(&log).unwrap();
    assert!(folder.run(&ASK).stderr.contains("has lost its last commits: "));
    std::fs::write(&log, whole).unwrap();
    assert_eq!(folder.ok(&ASK).stdout, answers, "nothing was made worse");
}

#[test]
fn a_missing_table_is_noticed() {
    let (folder, _) = whole();
    // After this, every family of the store has its own table.
    folder.ok(&["compact"]);
    let commands: [&[&str]; 4] = [&ASK, &["list", "--format", "json"], &["show", "docs/007.txt"], &["stats"]];
    let answers = commands.map(|command| folder.ok(command).stdout);
    for table in files(&folder, |path| path.extension().is_some_and(|extension| extension == "sst")) {
        let whole = std::fs::read(&table).unwrap();
        std::fs::remove_file(&table).unwrap();
        for (command, answer) in commands.iter().zip(&answers) {
            let run = folder.run(command);
            assert!(!run.stderr.contains("panicked"), "{run:?}");
            if run.status == 0 && command[0] != "stats" {
                assert!(run.stdout == *answer, "{command:?} answers as if all were whole without {}", table.display());
            } else {
                assert!(run.status == 0 || run.stderr.contains("\nhint: "), "{command:?}: {run:?}");
            }
        }
        std::fs::write(&table, whole).unwrap();
    }
    assert_eq!(folder.ok(&ASK).stdout, answers[0], "nothing was made worse");
}

/// The ends of the records in a log of the engine. The log has blocks of 32 KiB. A record has a head of seven
/// bytes, and two of them give its length.
fn record_ends(log: &[u8]) -> Vec<usize> {
    const BLOCK: usize = 32 << 10;
    let (mut ends, mut at) = (Vec::new(), 0);
    while let Some(&[low, high]) = log.get(at + 4..at + 6).and_then(|length| length.first_chunk()) {
        at += 7 + usize::from(u16::from_le_bytes([low, high]));
        ends.push(at);
        if BLOCK - at % BLOCK < 7 {
            at = at.next_multiple_of(BLOCK);
        }
    }
    ends
}

/// A list of tables that is cut between two records is a valid list of an earlier state.
#[test]
fn a_list_of_tables_that_was_cut_is_noticed() {
    let folder = Folder::new();
    for number in 0..DOCUMENTS {
        folder.write(&format!("docs/{number:03}.txt"), prose(number));
    }
    folder.ok(&["ingest", "--profile", "prose", "-w", "1", "docs"]);
    folder.ok(&["compact"]);
    for number in (0..DOCUMENTS).step_by(3) {
        folder.write(&format!("docs/{number:03}.txt"), prose(number + 1000));
    }
    folder.ok(&["ingest", "docs"]);
    // Moves the records of the last ingest from the log into new tables. A list without these tables still
    // has the old tables.
    folder.ok(&["rm", "docs/004.txt"]);
    is_noticed_to_be_cut(&folder);
    folder.ok(&["compact"]);
    is_noticed_to_be_cut(&folder);
}

fn is_noticed_to_be_cut(folder: &Folder) {
    let commands: [&[&str]; 3] = [&ASK, &["list", "--format", "json"], &["rm", "docs/none.txt"]];
    let answers = folder.ok(&ASK).stdout;
    let list = files(folder, |path| path.file_name().unwrap().to_str().unwrap().starts_with("MANIFEST")).remove(0);
    let whole = std::fs::read(&list).unwrap();
    let ends = record_ends(&whole);
    assert_eq!(ends.last(), Some(&whole.len()));
    assert!(ends.len() > 20, "{} records", ends.len());
    for &end in &ends[..ends.len() - 1] {
        std::fs::write(&list, &whole[..end]).unwrap();
        is_called_damaged(folder, &commands);
    }
    std::fs::write(&list, whole).unwrap();
    assert_eq!(folder.ok(&ASK).stdout, answers, "nothing was made worse");
}

#[test]
fn a_damaged_mark_of_the_last_commit_is_noticed() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "--profile", "prose", "a.txt"]);
    let mark = folder.path().join(".fpdb/committed");
    let whole = std::fs::read(&mark).unwrap();
    let mut flipped = whole.clone();
    flipped[30] ^= 1;
    for bytes in [&flipped[..], &whole[..whole.len() / 2], b""] {
        std::fs::write(&mark, bytes).unwrap();
        let run = folder.run(&["verify"]);
        assert!(run.status == 2 && run.stdout.contains("the file `committed`: it is "), "{run:?}");
        folder.ok(&["verify", "--repair"]);
        assert!(!folder.path().join(".fpdb/damaged-1").exists(), "the store was whole");
        folder.ok(&["verify"]);
    }
    std::fs::remove_file(&mark).unwrap();
    let run = folder.run(&["verify"]);
    assert!(run.status == 2 && run.stdout.contains("the file `committed`: it is missing"), "{run:?}");
    assert!(!mark.exists(), "verify writes nothing");
    folder.ok(&["verify", "--repair"]);
    assert!(mark.exists() && !folder.path().join(".fpdb/damaged-1").exists());
}
