//! Deleting, compacting, verifying, backing up, restoring and merging.

mod backups;

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fpdb::maintenance::{Backup, Compaction};
use fpdb::{Database, DocId, IngestOptions, Progress, Removal, StopToken, Task};

use crate::oracle::Random;
use crate::support::{Folder, Run, lcg, word, zip};

/// Some hundred lines of text determined by `seed`, with paragraphs that other seeds share.
fn text(seed: u64) -> String {
    let mut next = lcg(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = String::new();
    for paragraph in 0..20 {
        if paragraph % 5 == 4 {
            text.push_str(
                &format!("shared paragraph number {} of all documents with these digits ", next(7)).repeat(3),
            );
        }
        for _ in 0..40 {
            text.push_str(&format!("{} ", next(100_000)));
        }
        text.push('\n');
    }
    text
}

fn corpus(folder: &Folder, name: &str, seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        folder.write(&format!("{name}/{seed:03}.txt"), text(seed));
    }
}

/// Answers without the fields that depend on the order or time of arrival.
fn answers(folder: &Folder, db: &str, query: &str) -> Vec<serde_json::Value> {
    let mut answers = folder.ok(&["--db", db, "query", "--top", "0", "--format", "json", query]).json();
    for found in answers.iter_mut().flat_map(|answer| answer["matches"].as_array_mut().unwrap()) {
        let fields = found.as_object_mut().unwrap();
        fields.retain(|name, _| !["id", "modified"].contains(&name.as_str()));
    }
    answers
}

fn verified(folder: &Folder, db: &str) -> serde_json::Value {
    let run = folder.ok(&["--db", db, "verify", "--format", "json"]);
    let report = run.json().remove(0);
    assert_eq!(report["problems"], serde_json::json!([]));
    report
}

fn tables(folder: &Folder, db: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path().join(db).join("store")).unwrap();
    let mut tables: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    tables.retain(|path| path.extension().is_some_and(|extension| extension == "sst"));
    tables.sort();
    tables
}

/// Flips a bit in the middle of the largest table.
fn flip_largest_table(folder: &Folder) {
    let largest = tables(folder, ".fpdb").into_iter().max_by_key(|table| table.metadata().unwrap().len()).unwrap();
    let mut bytes = fs::read(&largest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&largest, bytes).unwrap();
}

#[test]
fn a_deleted_document_is_gone_at_once_and_its_space_after_compact() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..30);
    folder.ok(&["--db", "all", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
    let names: Vec<String> = (0..30).filter(|seed| seed % 3 != 0).map(|seed| format!("c/{seed:03}.txt")).collect();
    let mut rm = vec!["--db", "all", "rm"];
    rm.extend(names.iter().map(String::as_str));
    folder.ok(&rm);
    assert_eq!(folder.ok(&["--db", "all", "list"]).stdout.lines().count(), 10);

    // The answers are as if the deleted documents had never been stored.
    let kept: Vec<String> = (0..30).filter(|seed| seed % 3 == 0).map(|seed| format!("c/{seed:03}.txt")).collect();
    let mut ingest = vec!["--db", "few", "ingest", "-q", "-k", "5", "-w", "4"];
    ingest.extend(kept.iter().map(String::as_str));
    folder.ok(&ingest);
    for query in ["c/000.txt", "c/001.txt"] {
        assert_eq!(answers(&folder, "all", query), answers(&folder, "few", query));
    }
    verified(&folder, "all");

    let stats = |db: &str| folder.ok(&["--db", db, "stats", "--hashes", "--format", "json"]).json().remove(0);
    assert_eq!(stats("all")["deleted"], 20);
    folder.ok(&["--db", "all", "compact"]);
    let (all, few) = (stats("all"), stats("few"));
    for field in ["documents", "bytes", "symbols", "fingerprints", "postings", "deleted", "distinct", "singletons"] {
        assert_eq!(all[field], few[field], "{field}");
    }
    verified(&folder, "all");
    for query in ["c/000.txt", "c/001.txt"] {
        assert_eq!(answers(&folder, "all", query), answers(&folder, "few", query));
    }

    // Ids are not used again, and the documents can be added again.
    let added = folder.ok(&["--db", "all", "ingest", "--format", "json", "c"]).json().remove(0);
    assert_eq!((&added["added"], &added["unchanged"]), (&20.into(), &10.into()));
    let ids: Vec<u64> = folder
        .ok(&["--db", "all", "list", "--format", "json"])
        .json()
        .iter()
        .map(|d| d["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids.iter().filter(|&&id| id >= 30).count(), 20);
    verified(&folder, "all");
}

#[test]
fn rm_names_what_it_does_not_know_and_deletes_the_rest() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..2);
    folder.ok(&["ingest", "-q", "c"]);
    let run = folder.run(&["rm", "c/000.txt", "c/nothing.txt", "c/000.txt"]);
    assert_eq!(run.status, 2);
    let stderr = run.stderr.replace(folder.path().to_str().unwrap(), "/FOLDER");
    insta::assert_snapshot!(stderr, @r"
    1 document removed; `fpdb compact` frees the space, and an ingest adds it again while its file is there
    hint: `fpdb ingest --exclude=//FOLDER/c/000.txt PATH` leaves it out, now and later
    error: no stored document is named c/nothing.txt
    hint: `fpdb list` shows the names
    ");
    assert_eq!(folder.ok(&["list"]).stdout.lines().count(), 1);
    let run = folder.run(&["rm", "c/nothing.txt"]);
    insta::assert_snapshot!(run.stderr, @"
    error: no stored document is named c/nothing.txt
    hint: `fpdb list` shows the names
    ");
}

#[test]
fn those_that_care_for_a_database_report_one_line() {
    fn report<T: serde::de::DeserializeOwned>(folder: &Folder, arguments: &[&str], status: i32) -> T {
        let run = folder.run(&[arguments, &["--format", "json", "-q"]].concat());
        assert_eq!((run.status, run.stdout.lines().count()), (status, 1), "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["ingest", "-q", "c"]);
    let rm: Removal = report(&folder, &["rm", "c/000.txt", "x", "--id", "1", "77"], 2);
    assert_eq!((rm.removed, rm.unknown_names, rm.unknown_ids), (2, vec!["x".into()], vec![DocId(77)]));
    let compact: Compaction = report(&folder, &["compact"], 0);
    assert!(compact.before > 0 && compact.after > 0, "{compact:?}");
    let backup: Backup = report(&folder, &["backup", "saved"], 0);
    assert_eq!(backup.folder, "saved");
    assert_eq!((backup.number, backup.kept, backup.mended, backup.damaged.len()), (1, 1, 0, 0));
    let restore: serde_json::Value = report(&folder, &["--db", "again", "restore", "saved"], 0);
    let made_at = restore["made_at"].clone();
    let expected = serde_json::json!({
        "schema": "fpdb.restore/1", "path": "again", "folder": "saved", "number": 1, "made_at": made_at, "documents": 1
    });
    assert_eq!(restore, expected);
    assert!(made_at.as_i64().unwrap() > 1_700_000_000);
}

#[test]
fn many_commits_are_folded_and_answer_like_one() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..40);
    for seed in 0..40 {
        folder.ok(&["--db", "many", "ingest", "-q", "-k", "5", "-w", "4", &format!("c/{seed:03}.txt")]);
    }
    folder.ok(&["--db", "one", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
    let runs = folder.ok(&["--db", "many", "stats", "--format", "json"]).json()[0]["runs"].as_u64().unwrap();
    assert!((2..=14).contains(&runs), "{runs} runs");
    verified(&folder, "many");
    assert_eq!(answers(&folder, "many", "c/007.txt"), answers(&folder, "one", "c/007.txt"));
    let shown = folder.ok(&["--db", "many", "stats"]).stdout;
    assert!(shown.contains(&format!("{runs}, all visited by each lookup; a cold query reads 1.")), "{shown}");
    // The command first prints the work to do. With a single run there is nothing to fold.
    let said = folder.ok(&["--db", "many", "compact"]).stderr;
    let (first, _) = said.split_once('\n').unwrap();
    assert!(first.starts_with(&format!("folding {runs} runs (")) && first.contains(" of disk meanwhile"), "{said}");
    let stats = folder.ok(&["--db", "many", "stats", "--format", "json"]).json();
    assert_eq!((stats[0]["runs"].as_u64(), stats[0]["cold_blocks"].as_f64()), (Some(1), Some(1.0)));
    let said = folder.ok(&["--db", "many", "compact"]).stderr;
    assert!(!said.contains("folding") && said.contains("compacted: "), "{said}");
    verified(&folder, "many");
    assert_eq!(answers(&folder, "many", "c/007.txt"), answers(&folder, "one", "c/007.txt"));
}

#[test]
fn verify_finds_a_flipped_bit_in_every_table() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..20);
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "c"]);
    // A compaction also moves documents and names into tables.
    folder.ok(&["compact"]);
    let whole = verified(&folder, ".fpdb");
    assert_eq!(whole["documents"], 20);
    let tables = tables(&folder, ".fpdb");
    assert!(tables.len() >= 5, "{tables:?}");
    for table in tables {
        let bytes = fs::read(&table).unwrap();
        let mut flipped = bytes.clone();
        // Flips a bit in the data, which is most of a table. The index and the footer are at its end.
        flipped[bytes.len() / 5] ^= 1;
        fs::write(&table, &flipped).unwrap();
        let run = folder.run(&["verify"]);
        assert_eq!(run.status, 2, "{}: {run:#?}", table.display());
        assert!(!run.stderr.contains("panicked"), "{run:#?}");
        // `verify` prints a line for the block, and one with the number of affected documents. If it cannot
        // open the table, it prints an error.
        let problems = run.stdout.lines().filter(|line| line.starts_with("  ")).collect::<Vec<_>>();
        let name = table.file_name().unwrap().to_str().unwrap();
        match problems.first() {
            Some(first) => assert!(first.contains(name) && problems.len() <= 2, "{name}: {run:#?}"),
            None => assert!(run.stderr.contains(name), "{name}: {run:#?}"),
        }
        // Without `--quick`, a backup reads the whole database, so it copies nothing of a damaged one.
        let run = folder.run(&["backup", "copies"]);
        assert!(run.status == 2 && run.stderr.contains("fpdb verify --repair"), "{name}: {run:#?}");
        assert!(!folder.path().join("copies").exists(), "{name}");
        fs::write(&table, &bytes).unwrap();
    }
    verified(&folder, ".fpdb");
}

/// A disk that is not mounted must not cause the loss of documents.
#[test]
fn a_repair_whose_files_are_missing_is_refused_until_the_user_gives_them_up() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..40);
    corpus(&folder, "d", 40..50);
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "c", "d"]);
    folder.ok(&["compact"]);
    flip_largest_table(&folder);
    let away = |from: &str, to: &str| fs::rename(folder.path().join(from), folder.path().join(to)).unwrap();
    let names = || {
        let entries = fs::read_dir(folder.path().join(".fpdb")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (before, damage) = (names(), folder.run(&["verify", "--format", "json"]).stdout);
    away("c", "unmounted");
    for _ in 0..2 {
        let run = folder.run(&["verify", "--repair"]);
        let told = run.stderr.contains(" was not repaired: damaged documents (")
            && run.stderr.contains("hint: see whether its disk is mounted")
            && run.stderr.contains("`fpdb verify --repair --give-up-missing`");
        assert!(run.status == 2 && run.stdout.is_empty() && told, "{run:#?}");
        assert_eq!((names(), folder.run(&["verify", "--format", "json"]).stdout), (before.clone(), damage.clone()));
    }
    // In a copy of the database, the user gives up the missing documents. Documents that need no file stay.
    let copied = std::process::Command::new("cp").args(["-r", ".fpdb", "copy"]).current_dir(folder.path()).status();
    assert!(copied.unwrap().success());
    let run = folder.run(&["--db", "copy", "verify", "--repair", "--give-up-missing", "--format", "json"]);
    let lost = run.json()[0]["repair"]["lost"].as_array().unwrap().clone();
    assert!(run.status == 2 && !lost.is_empty(), "{run:#?}");
    assert!(lost.iter().all(|lost| lost["name"].as_str().unwrap().starts_with("c/")), "{lost:?}");
    assert_eq!(verified(&folder, "copy")["documents"], 50 - lost.len());
    // If the disk is mounted again, nothing is lost.
    away("unmounted", "c");
    let repair = folder.ok(&["verify", "--repair", "--format", "json"]).json().remove(0);
    assert_eq!(repair["repair"]["lost"], serde_json::json!([]));
    assert_eq!(verified(&folder, ".fpdb")["documents"], 50);
    let run = folder.run(&["verify", "--give-up-missing"]);
    assert!(run.status == 2 && run.stderr.contains("--repair"), "{run:#?}");
}

/// Boilerplate has more fingerprints than other documents, before the repair and after it.
#[test]
fn a_repair_reads_boilerplate_as_an_ingest_does() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..40);
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "--boilerplate", "c"]);
    folder.ok(&["compact"]);
    let list = || folder.ok(&["list", "--format", "json"]).stdout;
    let before = list();
    flip_largest_table(&folder);
    let repair = folder.ok(&["verify", "--repair", "--format", "json"]).json().remove(0);
    assert!(!repair["repair"]["read_again"].as_array().unwrap().is_empty(), "{repair}");
    assert_eq!(list(), before);
    verified(&folder, ".fpdb");
}

/// After a repair the list of the places of files is incomplete. An ingest completes it, a dry run does not.
#[test]
fn a_dry_run_after_a_repair_changes_nothing() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..40);
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "c"]);
    folder.ok(&["compact"]);
    flip_largest_table(&folder);
    folder.ok(&["verify", "--repair"]);
    folder.write("c/new.txt", text(50));
    let sources = [fpdb::Source::Path(folder.path().join("c"))];
    let writer = Database::open_writer(folder.path().join(".fpdb")).unwrap();
    let before = writer.commit_id().unwrap();
    let summary = writer.ingest_dry_run(&sources, &IngestOptions::default(), &Task::new()).unwrap();
    assert_eq!((summary.added, summary.unchanged, writer.commit_id().unwrap()), (1, 40, before));
    drop(writer);
    let planned = folder.ok(&["ingest", "--dry-run", "--format", "json", "c"]).json().remove(0);
    assert_eq!((&planned["added"], &planned["unchanged"]), (&1.into(), &40.into()), "{planned}");
    let done = folder.ok(&["ingest", "--format", "json", "c"]).json().remove(0);
    assert_eq!((&done["added"], &done["unchanged"]), (&1.into(), &40.into()), "{done}");
}

/// A zip in a zip is copied to a temporary file. If that file cannot be written, the documents are not lost.
#[test]
fn a_repair_that_cannot_write_temporary_files_loses_nothing() {
    let folder = Folder::new();
    let mut random = Random(1);
    // The member has more bytes than a file may have during the repair. The files of the database have fewer.
    let noise: Vec<u8> = (0..5 << 17).flat_map(|_| random.next().to_be_bytes()).collect();
    let texts: Vec<(String, String)> = (0..40).map(|seed| (format!("{seed:03}.txt"), text(seed))).collect();
    let mut members: Vec<(&str, &[u8])> = texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    members.insert(0, ("noise.bin", &noise));
    folder.write("outer.zip", zip([("inner.zip", zip(members))]));
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "outer.zip"]);
    folder.ok(&["compact"]);
    flip_largest_table(&folder);
    let damage = folder.run(&["verify", "--format", "json"]).stdout;
    let program = folder.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$0\" verify --repair"]).arg(program.get_program());
    let run = Run::to_its_end(shell.current_dir(folder.path()).env_remove("FPDB_DB"));
    assert!(run.status == 2 && run.stdout.is_empty() && run.stderr.contains("cannot write a file in "), "{run:#?}");
    assert_eq!(folder.run(&["verify", "--format", "json"]).stdout, damage);
    let repair = folder.ok(&["verify", "--repair", "--format", "json"]).json().remove(0);
    assert!(repair["repair"]["read_again"].as_array().unwrap().len() > 1, "{repair}");
    assert_eq!(repair["repair"]["lost"], serde_json::json!([]));
    assert_eq!(verified(&folder, ".fpdb")["documents"], 40);
}

/// Damaged files that a repair kept take space until the user removes them. So each command that ends a
/// repair names them.
#[test]
fn damaged_files_that_a_repair_has_kept_are_shown() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..20);
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "c"]);
    let database = folder.path().join(".fpdb");
    let shown = |arguments: &[&str]| folder.ok(arguments).stdout.matches("remove them: rm -r ").count();
    assert_eq!((shown(&["stats"]), shown(&["verify"])), (0, 0));
    let break_it = || fs::write(database.join("store/CURRENT"), "MANIFEST-").unwrap();
    break_it();
    let repaired = folder.ok(&["verify", "--repair"]).stdout;
    assert!(repaired.contains("remove them: rm -r ") && repaired.ends_with("/damaged-1\n"), "{repaired}");
    let kept = bytes_below(&database.join("damaged-1"));
    for command in ["stats", "verify"] {
        assert_eq!(shown(&[command]), 1, "{command}");
        let json = folder.ok(&[command, "--format", "json"]).json().remove(0);
        assert_eq!(json["damaged_stores"][0]["bytes"], kept, "{command}: {json}");
    }

    // Makes the state after a kill just before the end of a repair. The next command finishes the repair.
    for number in 1..3 {
        let name = format!("damaged-{number}");
        fs::create_dir(database.join("repaired")).unwrap();
        fs::rename(database.join("store"), database.join("repaired/store")).unwrap();
        fs::rename(database.join(&name), database.join("damaged")).unwrap();
        let run = folder.ok(&[&["rm", "-q", "c/003.txt"], &["ingest", "-q", "c"]][number - 1][..]);
        let lines: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("finished a repair")).collect();
        assert!(lines.len() == 1 && lines[0].ends_with(&name), "{run:#?}");
        assert!(!folder.ok(&["ingest", "-q", "c"]).stderr.contains("repair"));
        if number == 1 {
            break_it();
            folder.ok(&["verify", "--repair"]);
        }
    }
    // This repair finds no fault, because it finishes the killed repair.
    fs::create_dir(database.join("repaired")).unwrap();
    fs::rename(database.join("store"), database.join("repaired/store")).unwrap();
    fs::rename(database.join("damaged-2"), database.join("damaged")).unwrap();
    assert_eq!(shown(&["verify", "--repair"]), 2);
    for number in 1..3 {
        fs::remove_dir_all(database.join(format!("damaged-{number}"))).unwrap();
    }
    assert_eq!((shown(&["stats"]), shown(&["verify"])), (0, 0));
    assert_eq!(verified(&folder, ".fpdb")["documents"], 20);
    // The command can be typed as it is printed.
    let spaced = folder.path().join("my archive");
    fs::rename(database, &spaced).unwrap();
    fs::write(spaced.join("store/CURRENT"), "MANIFEST-").unwrap();
    let repaired = folder.ok(&["--db", "my archive", "verify", "--repair"]).stdout;
    assert!(repaired.ends_with("remove them: rm -r 'my archive/damaged-1'\n"), "{repaired}");
}

#[test]
fn a_backup_is_restored_as_it_was_and_costs_what_is_new() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..20);
    folder.ok(&["--db", "a", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
    let then = answers(&folder, "a", "c/003.txt");
    folder.ok(&["--db", "a", "backup", "copies"]);
    let first = bytes_below(&folder.path().join("copies"));
    corpus(&folder, "c", 20..22);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    let now = answers(&folder, "a", "c/003.txt");
    folder.ok(&["--db", "a", "backup", "copies"]);
    assert!(bytes_below(&folder.path().join("copies")) < first * 3 / 2, "the second backup shares what did not change");

    folder.ok(&["--db", "b", "restore", "copies"]);
    verified(&folder, "b");
    assert_eq!(answers(&folder, "b", "c/003.txt"), now);
    assert_ne!(then, now);

    // The first backup exists too, but a third does not.
    folder.ok(&["--db", "first", "restore", "copies", "--number", "1"]);
    assert_eq!(answers(&folder, "first", "c/003.txt"), then);
    let run = folder.run(&["--db", "d", "restore", "copies", "--number", "3"]);
    assert!(run.status == 2 && run.stderr.contains("no backup 3: there are 1, 2"), "{run:#?}");

    // A damaged backup is not restored.
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let shared = fs::read_dir(folder.path().join("copies/engine/shared_checksum")).unwrap();
    let tables = shared.map(|entry| entry.unwrap().path()).max_by_key(|path| path.metadata().unwrap().len());
    flip(&tables.unwrap());
    let run = folder.run(&["--db", "d", "restore", "copies"]);
    assert_eq!(run.status, 2, "{run:#?}");
    assert!(run.stderr.contains("backup 2 is damaged: shared_checksum/"), "{run:#?}");
    assert!(!folder.path().join("d").exists(), "half a database must not appear");

    // The next backup copies damaged files again if backups share them. A damaged file that only an earlier
    // backup has stays damaged, and is reported.
    flip(&folder.path().join("copies/engine/private/1/CURRENT"));
    let run = folder.run(&["--db", "a", "backup", "copies"]);
    assert!(run.status == 2 && run.stderr.contains("1 damaged file of earlier backups was copied again"), "{run:#?}");
    assert!(run.stderr.contains("backup 1 is damaged"), "{run:#?}");
    folder.ok(&["--db", "d", "restore", "copies"]);
    assert_eq!(answers(&folder, "d", "c/003.txt"), now);
    folder.ok(&["--db", "a", "backup", "--keep", "1", "copies"]);
}

#[test]
fn backups_are_listed_and_restored_by_time() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    // The times of backups are in whole seconds.
    std::thread::sleep(Duration::from_millis(1100));
    corpus(&folder, "c", 3..5);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);

    let list = || folder.ok(&["backup", "--list", "copies", "--format", "json"]).json();
    let listed = list();
    let field = |name: &str| -> Vec<i64> { listed.iter().map(|line| line[name].as_i64().unwrap()).collect() };
    assert_eq!((field("number"), field("documents")), (vec![1, 2], vec![3, 5]));
    assert!(field("bytes")[0] > 0);
    let shown = folder.ok(&["backup", "--list", "copies"]).stdout;
    assert!(shown.lines().count() == 2 && shown.contains("  5 documents, "), "{shown}");

    let at = |seconds: i64| jiff::Timestamp::from_second(seconds).unwrap().to_string();
    let made = field("made_at");
    for (db, time, documents) in [("first", made[0], 3), ("between", made[1] - 1, 3), ("second", made[1], 5)] {
        let restored = folder.ok(&["--db", db, "restore", "copies", "--at", &at(time), "--format", "json"]).json();
        assert_eq!(restored[0]["documents"], documents, "{db}");
    }
    let run = folder.run(&["--db", "d", "restore", "copies", "--at", &at(made[0] - 1)]);
    assert!(run.status == 2 && run.stderr.contains(&format!("was made later, at {}", at(made[0]))), "{run:#?}");
    let run = folder.run(&["backup", "--list", "c"]);
    assert!(run.status == 2 && run.stderr.contains("c"), "{run:#?}");

    // The count of a removed backup is removed too. Backups of earlier versions have no counts.
    folder.ok(&["--db", "a", "backup", "-q", "copies", "--keep", "1"]);
    let counts: Vec<_> = fs::read_dir(folder.path().join("copies/documents")).unwrap().collect();
    assert_eq!((counts.len(), list().len()), (1, 1));
    fs::remove_file(folder.path().join("copies/documents/3")).unwrap();
    assert!(list()[0]["documents"].is_null());
}

/// The check needs neither the database nor a restored one.
#[test]
fn backups_are_verified_in_their_folder() {
    let folder = Folder::new();
    for documents in [0..3, 3..5] {
        corpus(&folder, "c", documents);
        folder.ok(&["--db", "a", "ingest", "-q", "c"]);
        folder.ok(&["--db", "a", "dedup", "-q", "--append"]);
        folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    }
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    let verify = |status: i32| {
        let run = folder.run(&["backup", "--verify", "copies", "--format", "json"]);
        assert_eq!(run.status, status, "{run:?}");
        let is_damaged =
            |backup: &serde_json::Value| !(backup["damaged"].is_null() && backup["damaged_record"].is_null());
        let damaged: Vec<bool> = run.json().iter().map(is_damaged).collect();
        (damaged, run.stderr)
    };
    assert_eq!(verify(0), (vec![false, false], "2 backups: all files are as they were written\n".into()));
    let shared = folder.path().join("copies/engine/shared_checksum");
    let files: Vec<_> = fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for path in files {
        // First a byte changes, then a byte is missing, then the file is missing.
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        for damage in [Some(&changed[..]), Some(&bytes[1..]), None] {
            damage.map_or_else(|| fs::remove_file(&path), |damage| fs::write(&path, damage)).unwrap();
            let (damaged, said) = verify(2);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(damaged.len(), 2);
            assert!(damaged.contains(&true) && said.contains("is damaged and cannot be restored: "), "{said}");
            assert!(said.contains(name), "{name}: {said}");
        }
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(verify(0).0, [false, false]);
    // Damages the recorded decisions of dedup, then the list of the files.
    for path in ["copies/decisions/2", "copies/engine/meta/2"] {
        let path = folder.path().join(path);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
        assert_eq!(verify(2).0, [false, true], "{path:?}");
        fs::write(&path, bytes).unwrap();
    }
    let run = folder.run(&["backup", "--verify", "c"]);
    assert!(run.status == 2 && run.stderr.contains("error: c is not a folder of fpdb backups"), "{run:?}");
}

#[test]
fn a_folder_of_backups_is_for_one_database() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    for db in ["a", "b"] {
        folder.ok(&["--db", db, "ingest", "-q", "c"]);
    }
    folder.ok(&["--db", "a", "backup", "copies"]);
    let run = folder.run(&["--db", "b", "backup", "--keep", "1", "copies"]);
    assert!(run.status == 2 && run.stderr.contains("holds backups of another database"), "{run:#?}");
    // The folder accepts backups of the moved database. It also accepts those of another database at the
    // recorded path, because a repair can leave such a database there.
    fs::rename(folder.path().join("a"), folder.path().join("moved")).unwrap();
    folder.ok(&["--db", "moved", "backup", "copies"]);
    fs::rename(folder.path().join("b"), folder.path().join("moved-2")).unwrap();
    fs::rename(folder.path().join("moved"), folder.path().join("a")).unwrap();
    fs::rename(folder.path().join("moved-2"), folder.path().join("moved")).unwrap();
    folder.ok(&["--db", "moved", "backup", "copies"]);
}

/// Some 300 records fit into a mebibyte.
#[test]
fn merging_in_little_memory_takes_more_commits_and_gives_the_same() {
    let folder = Folder::new();
    for number in 0..1000 {
        folder.write(
            &format!("c/{number:03}.txt"),
            format!("document {number} of a thousand, {}", word(number).repeat(9)),
        );
    }
    folder.ok(&["--db", "source", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
    for (db, memory) in [("whole", "1GiB"), ("parts", "1MiB")] {
        folder.ok(&["--db", db, "init", "-k", "5", "-w", "4"]);
        folder.ok(&["--db", db, "merge", "-q", "source", "--memory", memory]);
        verified(&folder, db);
        assert_eq!(answers(&folder, db, "c/500.txt"), answers(&folder, "source", "c/500.txt"));
    }
    let runs = |db: &str| folder.ok(&["--db", db, "stats", "--format", "json"]).json()[0]["runs"].as_u64().unwrap();
    assert!(runs("whole") == 1 && runs("parts") > 2, "{} runs", runs("parts"));
    let listed = |db: &str| folder.ok(&["--db", db, "list"]).stdout;
    assert_eq!(listed("parts"), listed("source"));
    let run = folder.run(&["--db", "whole", "merge", "source", "--memory", "1K"]);
    assert!(run.status == 2 && run.stderr.contains("at least 1 MiB"), "{run:#?}");
}

/// Stops the merge after a number of compared documents, or after a number of commits.
struct Stopping<'a> {
    stop: &'a StopToken,
    documents: u64,
    commits: u64,
    seen: AtomicU64,
    committed: AtomicU64,
}

impl Progress for Stopping<'_> {
    fn step(&self, step: &'static str, _: u64, _: u64) {
        if step == "documents looked at" && self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.documents {
            self.stop.stop();
        }
    }

    fn committed(&self, _: u64) {
        if self.committed.fetch_add(1, Ordering::Relaxed) + 1 == self.commits {
            self.stop.stop();
        }
    }
}

#[test]
fn a_merge_is_interrupted_where_something_is_left_undone() {
    let folder = Folder::new();
    for number in 0..900 {
        folder.write(&format!("c/{number:03}.txt"), format!("document {number}, {}", word(number).repeat(9)));
    }
    folder.ok(&["--db", "source", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
    let source = Database::open(folder.path().join("source")).unwrap();
    let options = IngestOptions::default();
    let builder = Database::builder().memory(1 << 20);
    let merge = |name: &str, documents, commits| {
        let path = folder.path().join(name);
        let database = match builder.open_writer(&path) {
            Ok(database) => database,
            Err(_) => builder.create(&path, source.profile()).unwrap(),
        };
        let stop = StopToken::new();
        let (seen, committed) = (AtomicU64::new(0), AtomicU64::new(0));
        let watch = Stopping { stop: &stop, documents, commits, seen, committed };
        let summary = database.merge(&source, &options, &Task::new().progress(&watch).stop(&stop)).unwrap();
        (summary.added, summary.unchanged, summary.interrupted, database.stats().unwrap().documents)
    };
    assert_eq!(merge("at-the-end", 900, 0), (900, 0, false, 900), "told to stop when all was looked at");
    assert_eq!(merge("at-once", 1, 0), (0, 0, true, 0));
    let (added, _, interrupted, documents) = merge("between", 0, 1);
    assert!(interrupted && added == documents && (1..900).contains(&documents), "{added} added, {documents} there");
    assert_eq!(merge("between", 0, 0), (900 - added, added, false, 900), "the same call goes on");
}

#[test]
fn merging_versions_again_changes_nothing() {
    let folder = Folder::new();
    for (number, text) in ["the first version of it", "the second version of it all"].iter().enumerate() {
        folder.write("v.txt", text.repeat(number + 4));
        folder.ok(&["--db", "versions", "ingest", "-q", "--on-change", "both", "-k", "5", "-w", "4", "v.txt"]);
    }
    for (how, documents) in [("replace", 1), ("both", 2)] {
        let db = format!("db-{how}");
        folder.ok(&["--db", &db, "init", "-k", "5", "-w", "4"]);
        let merge = || {
            let arguments = ["--db", &db, "merge", "versions", "--on-change", how, "--format", "json"];
            let report = folder.ok(&arguments).json().remove(0);
            ["added", "replaced", "unchanged"].map(|field| report[field].as_u64().unwrap())
        };
        assert_eq!(merge(), [documents, 0, 0]);
        assert_eq!(merge(), [0, 0, documents]);
        verified(&folder, &db);
    }
}

/// Every table is kept open, so the number of tables must not grow with each commit.
#[test]
fn many_small_ingests_leave_few_tables() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..40);
    for number in 0..40 {
        folder.ok(&["ingest", "-q", "--store-text", "-k", "5", "-w", "4", &format!("c/{number:03}.txt")]);
    }
    let tables = || {
        let files = fs::read_dir(folder.path().join(".fpdb/store")).unwrap();
        files.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "sst")).count()
    };
    // Eight families and at most fourteen runs have a few tables each.
    assert!(tables() < 80, "{} tables", tables());
    folder.ok(&["compact"]);
    // Each family without runs has one or two tables, and each of at most seven runs has three.
    assert!(tables() < 32, "{} tables", tables());
    verified(&folder, ".fpdb");
}

#[test]
fn an_empty_folder_becomes_a_database() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..2);
    fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    folder.ok(&["--db", "link", "ingest", "-q", "c"]);
    verified(&folder, "real");
    fs::create_dir(folder.path().join("here")).unwrap();
    let run = folder.command(&["--db", ".", "init"]).current_dir(folder.path().join("here")).status().unwrap();
    assert!(run.success());
    verified(&folder, "here");
}

#[test]
fn damage_of_what_is_known_of_containers_is_found() {
    let folder = Folder::new();
    for name in ["texts.tar", "texts.zip"] {
        folder.write(name, fs::read(format!("{}/../tests/samples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    }
    for name in ["texts.tar", "texts.zip"] {
        folder.age(name);
    }
    folder.ok(&["ingest", "-q", "texts.tar", "texts.zip"]);
    // The record of the containers is in the log until the store is opened for writing again, and then in a
    // table.
    folder.ok(&["compact"]);
    let stats = folder.ok(&["stats", "--format", "json"]).json().remove(0);
    let parts = stats["stored"].as_array().unwrap();
    assert!(parts.iter().any(|part| part["part"] == "containers" && part["bytes"].as_u64() > Some(0)), "{stats}");
    for entry in fs::read_dir(folder.path().join(".fpdb/store")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "sst") {
            let bytes = fs::read(&path).unwrap();
            let mut flipped = bytes.clone();
            flipped[20] ^= 1;
            fs::write(&path, flipped).unwrap();
            assert_eq!(folder.run(&["verify"]).status, 2, "{}", path.display());
            fs::write(&path, bytes).unwrap();
        }
    }
    verified(&folder, ".fpdb");
}

#[test]
fn merging_is_ingesting_both() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..30);
    let part = |db: &str, seeds: std::ops::Range<u64>| {
        let names: Vec<String> = seeds.map(|seed| format!("c/{seed:03}.txt")).collect();
        let mut ingest = vec!["--db", db, "ingest", "-q", "-k", "5", "-w", "4"];
        ingest.extend(names.iter().map(String::as_str));
        folder.ok(&ingest);
    };
    part("left", 0..12);
    part("right", 8..30);
    folder.ok(&["--db", "right", "rm", "c/020.txt"]);
    part("both", 0..20);
    part("both", 21..30);
    // A dry run has the same numbers, and needs no lock.
    let said = {
        let _writer = Database::open_writer(folder.path().join("left")).unwrap();
        folder.ok(&["--db", "left", "merge", "--dry-run", "right", "--format", "json"])
    };
    assert!(said.stderr.ends_with("a dry run: nothing was stored; without --dry-run it is done\n"), "{said:?}");
    assert!(!said.stderr.contains("merged"), "{said:?}");
    let mut planned = said.json().remove(0);
    assert_eq!(folder.ok(&["--db", "left", "list"]).stdout.lines().count(), 12);
    let merged = folder.ok(&["--db", "left", "merge", "right", "--format", "json"]).json().remove(0);
    assert_eq!((&merged["added"], &merged["unchanged"]), (&17.into(), &4.into()));
    assert_eq!(planned.as_object_mut().unwrap().remove("dry_run"), Some(true.into()));
    planned["seconds"] = merged["seconds"].clone();
    assert_eq!(planned, merged);
    verified(&folder, "left");
    for query in ["c/000.txt", "c/010.txt", "c/020.txt", "c/029.txt"] {
        assert_eq!(answers(&folder, "left", query), answers(&folder, "both", query));
    }
    let again = folder.ok(&["--db", "left", "merge", "right", "--format", "json"]).json().remove(0);
    assert_eq!((&again["added"], &again["unchanged"]), (&0.into(), &21.into()));

    folder.ok(&["--db", "other", "init", "--profile", "words"]);
    let run = folder.run(&["--db", "left", "merge", "other"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("unit word, k 3, w 1") && run.stderr.contains("k 5, w 4"), "{run:#?}");
    assert!(run.stderr.contains("the database at other was made with"), "{run:#?}");
    assert!(run.stderr.contains("hint: fingerprints of different settings cannot be compared"), "{run:#?}");

    // With `-q`, the command prints nothing.
    let quiet = folder.ok(&["--db", "left", "merge", "-q", "right"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    // A database that cannot be merged does not prevent the merge of the others.
    folder.ok(&["--db", "all", "init", "-k", "5", "-w", "4"]);
    let run = folder.run(&["--db", "all", "merge", "other", "nowhere", "right", "--format", "json"]);
    assert!(
        run.stderr.contains("there is no database to merge at nowhere") && !run.stderr.contains("init"),
        "{run:#?}"
    );
    let reports = run.json();
    assert_eq!((run.status, reports.len(), &reports[0]["added"]), (2, 1, &21.into()));
    assert_eq!(reports[0]["interrupted"], false);
    verified(&folder, "all");
}

fn bytes_below(path: &Path) -> u64 {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { bytes_below(&path) } else { path.metadata().unwrap().len() }).sum()
}

#[test]
fn a_limit_of_open_files_is_raised_or_named() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..2);
    folder.ok(&["ingest", "-q", "c"]);
    let under = |limit: &str| {
        let program = env!("CARGO_BIN_EXE_fpdb");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(folder.path()).env_remove("FPDB_DB").env("NO_COLOR", "1");
        let run = shell.args(["-c", &format!("ulimit {limit} && exec {program} stats")]).output().unwrap();
        crate::support::Run::of(&run)
    };
    assert_eq!(under("-Sn 64").status, 0, "the soft limit is raised");
    let run = under("-n 24");
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("files open at once, and this process may have 24"), "{run:?}");
    assert!(run.stderr.contains("hint: raise the limit before you start it: `ulimit -n 64`"), "{run:?}");
}

#[test]
fn a_database_without_the_file_that_makes_it_one_is_repaired() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    let listed = folder.ok(&["--db", "a", "list"]).stdout;
    fs::remove_file(folder.path().join("a/FPDB")).unwrap();
    folder.ok(&["--db", "a", "verify", "--repair"]);
    assert_eq!(folder.ok(&["--db", "a", "list"]).stdout, listed);
    verified(&folder, "a");
}

/// A repair may find only the earlier versions of records: then it must not say that nothing is lost.
#[test]
fn a_repair_that_finds_older_records_says_so() {
    let folder = Folder::new();
    corpus(&folder, "docs", 0..6);
    folder.ok(&["--db", "db", "ingest", "-q", "docs"]);
    folder.ok(&["--db", "db", "compact"]);
    folder.write("shelves.csv", "filename,access\ndocs/001.txt,closed until 2060\n");
    folder.ok(&["--db", "db", "ingest", "-q", "--metadata", "shelves.csv", "docs"]);
    folder.ok(&["--db", "db", "mv", "-q", "docs/002.txt", "docs/renamed.txt"]);
    fs::rename(folder.path().join("docs/002.txt"), folder.path().join("docs/renamed.txt")).unwrap();
    // A log becomes a table when the database is opened for writing.
    corpus(&folder, "docs", [6]);
    folder.ok(&["--db", "db", "ingest", "-q", "docs/006.txt"]);
    let documents = |db: &str| folder.ok(&["--db", db, "list", "--format", "json"]).stdout;
    let before = documents("db");
    let tables = fs::read_dir(folder.path().join("db/store")).unwrap().map(|entry| entry.unwrap().path());
    let mut older = 0;
    for table in tables.filter(|path| path.extension().is_some_and(|extension| extension == "sst")) {
        let _ = fs::remove_dir_all(folder.path().join("hurt"));
        crate::support::copy(&folder.path().join("db"), &folder.path().join("hurt"));
        let hurt = folder.path().join("hurt/store").join(table.file_name().unwrap());
        let bytes = fs::read(&hurt).unwrap();
        fs::write(&hurt, &bytes[..bytes.len() - 200]).unwrap();
        let run = folder.run(&["--db", "hurt", "verify", "--repair", "--format", "json"]);
        let Some(report) = run.json().pop() else {
            assert!(run.status == 2 && run.stderr.contains(" repaired: "), "{run:#?}");
            continue;
        };
        let may_be_older = report["repair"]["records_may_be_older"] == true;
        assert!(run.status == 0 || run.status == 2, "{run:#?}");
        assert!(run.status == 2 || documents("hurt") == before, "{run:#?}");
        assert!(run.status == 2 || !may_be_older, "{run:#?}");
        let lost = report["repair"]["lost"].as_array().unwrap();
        older += u64::from(lost.is_empty() && documents("hurt") != before);
    }
    assert!(older > 0, "a table has only the later versions");
}

/// If a repaired database moves together with its files, a changed file still replaces its document, in each
/// ingest.
#[test]
fn a_repaired_database_is_moved_together_with_its_files() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..40);
    folder.ok(&["ingest", "-q", "-k", "5", "-w", "4", "c"]);
    folder.ok(&["compact"]);
    flip_largest_table(&folder);
    folder.ok(&["verify", "--repair"]);
    fs::create_dir(folder.path().join("new")).unwrap();
    for moved in ["c", ".fpdb"] {
        fs::rename(folder.path().join(moved), folder.path().join("new").join(moved)).unwrap();
    }
    for number in 0..2 {
        let file = format!("c/{number:03}.txt");
        folder.write(&format!("new/{file}"), text(50 + number));
        let mut ingest = folder.command(&["ingest", "--format", "json", &file]);
        let summary = Run::to_its_end(ingest.current_dir(folder.path().join("new"))).json().remove(0);
        assert_eq!((&summary["replaced"], &summary["added"]), (&1.into(), &0.into()), "{file}: {summary}");
    }
}
