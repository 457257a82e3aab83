//! Damaged backups, backups that were never complete, and the notes after a restore.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{corpus, verified};
use crate::support::Folder;

/// A damaged table that only an earlier backup needs is neither copied again nor removed, and `--keep`
/// removes the backup.
#[test]
fn a_damaged_file_of_an_earlier_backup_stays_until_the_backup_goes() {
    let folder = Folder::new();
    for documents in [0..20, 20..22] {
        corpus(&folder, "c", documents);
        folder.ok(&["--db", "a", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
        folder.ok(&["--db", "a", "compact", "-q"]);
        if !folder.path().join("copies").exists() {
            folder.ok(&["--db", "a", "backup", "-q", "copies"]);
        }
    }
    let shared = folder.path().join("copies/engine/shared_checksum");
    let files = |folder: &Path| -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    };
    let largest = files(&shared).into_iter().max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let whole = fs::read(&largest).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    // A flipped bit, a missing byte, a missing file. Listing reads no table, but compares sizes.
    for (bytes, listed) in [(Some(&flipped[..]), 0), (Some(&whole[1..]), 2), (None, 2)] {
        bytes.map_or_else(|| fs::remove_file(&largest), |bytes| fs::write(&largest, bytes)).unwrap();
        let run = folder.run(&["--db", "a", "backup", "copies"]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("backup 1 is damaged and cannot be restored"), "{run:?}");
        assert!(
            run.stderr.contains("`fpdb backup --db a --keep N copies`") && !run.stderr.contains("again"),
            "{run:?}"
        );
        assert_eq!(fs::read(&largest).ok().as_deref(), bytes, "the damaged file stays");
        let run = folder.run(&["backup", "--list", "copies", "--format", "json"]);
        assert_eq!((run.status, run.json()[0]["number"].as_u64()), (listed, Some(1)), "{run:?}");
        assert!(run.json()[0]["made_at"].as_i64().unwrap() > 1_700_000_000, "{run:?}");
        let run = folder.run(&["backup", "--verify", "copies"]);
        assert!(run.status == 2 && run.stderr.contains("`fpdb backup --keep N copies`"), "{run:?}");
        let run = folder.run(&["--db", "b", "restore", "copies", "--number", "1"]);
        assert!(run.status == 2 && run.stderr.contains("backup 1 is damaged: shared_checksum/"), "{run:?}");
    }
    // Backups that stay keep their files, whole or not.
    let private = folder.path().join("copies/engine/private/1");
    let run = folder.run(&["--db", "a", "backup", "--keep", "5", "copies"]);
    assert!(run.status == 2 && !files(&private).is_empty(), "{run:?}");
    folder.ok(&["--db", "a", "backup", "--keep", "2", "copies"]);
    assert!(!private.exists());
    let run = folder.ok(&["backup", "--verify", "copies"]);
    assert_eq!(run.stderr, "2 backups: all files are as they were written\n");
    for (kind, kept) in [("meta", 2), ("private", 2)] {
        assert_eq!(files(&folder.path().join("copies/engine").join(kind)).len(), kept, "{kind}");
    }
    folder.ok(&["--db", "b", "restore", "copies", "--number", "6"]);
    verified(&folder, "b");
}

#[test]
fn a_damaged_backup_takes_no_place_of_a_whole_one() {
    let folder = Folder::new();
    let shared = folder.path().join("copies/engine/shared_checksum");
    let mut known = Vec::new();
    for number in 1..4 {
        corpus(&folder, "c", 0..20 * number);
        folder.ok(&["--db", "a", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
        folder.ok(&["--db", "a", "compact", "-q"]);
        folder.ok(&["--db", "a", "backup", "-q", "--keep", "2", "copies"]);
        let mut files: Vec<_> = fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| !known.contains(file));
        if number == 2 {
            let largest = files.iter().max_by_key(|path| path.metadata().unwrap().len()).unwrap();
            let mut bytes = fs::read(largest).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(largest, bytes).unwrap();
        }
        known.extend(files);
    }
    let listed = folder.ok(&["backup", "--verify", "copies", "--format", "json"]).json();
    let numbers: Vec<_> = listed.iter().map(|backup| backup["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 3]);
}

/// A table of an earlier backup that the database still has is copied again, also if it is missing or cut.
#[test]
fn damaged_files_that_the_database_still_has_are_copied_again() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..20);
    folder.ok(&["--db", "a", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    let shared = fs::read_dir(folder.path().join("copies/engine/shared_checksum")).unwrap();
    let largest = shared.map(|entry| entry.unwrap().path()).max_by_key(|path| path.metadata().unwrap().len()).unwrap();
    let whole = fs::read(&largest).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for bytes in [Some(&flipped[..]), Some(&whole[1..]), None] {
        bytes.map_or_else(|| fs::remove_file(&largest), |bytes| fs::write(&largest, bytes)).unwrap();
        let run = folder.ok(&["--db", "a", "backup", "copies"]);
        assert!(run.stderr.contains("1 damaged file of earlier backups was copied again"), "{run:?}");
        assert_eq!(fs::read(&largest).unwrap(), whole);
        folder.ok(&["backup", "--verify", "copies"]);
    }
}

#[test]
fn a_folder_without_a_complete_backup_is_not_called_whole() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    // This is what a first backup leaves if it finds no space.
    fs::remove_file(folder.path().join("copies/engine/meta/1")).unwrap();
    fs::remove_file(folder.path().join("copies/documents/1")).unwrap();
    let run = folder.run(&["backup", "--verify", "copies"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("error: copies: there is no complete backup"), "{run:?}");
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    folder.ok(&["backup", "--verify", "copies"]);
}

#[test]
fn restoring_names_the_backup_and_what_later_ones_keep_out() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..4);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    folder.ok(&["--db", "a", "rm", "-q", "--keep-out", "c/001.txt"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    let made = folder.ok(&["backup", "--list", "copies", "--format", "json"]).json()[0]["made_at"].clone();
    let restore = |db: &str, number: &str| {
        let run = folder.ok(&["--db", db, "restore", "copies", "--number", number]);
        let json = folder.ok(&["--db", &format!("{db}j"), "restore", "copies", "--number", number, "--format", "json"]);
        (run.stderr, json.json().remove(0))
    };
    let (said, answer) = restore("newest", "2");
    assert!(said.contains("restored newest from copies, backup 2 of 20") && said.lines().count() == 1, "{said}");
    assert!(answer["number"] == 2 && answer.get("kept_out_since").is_none(), "{answer}");
    let (said, answer) = restore("first", "1");
    assert!(said.contains("warning: 1 content that a newer backup or the database itself keeps out"), "{said}");
    assert_eq!((&answer["number"], &answer["made_at"], &answer["kept_out_since"]), (&1.into(), &made, &1.into()));
    // The content was removed after the last backup, so only the database knows that it is kept out.
    folder.ok(&["--db", "a", "rm", "-q", "--keep-out", "c/002.txt"]);
    assert!(restore("second", "2").0.contains("warning: 1 content that"));
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    assert!(!restore("third", "2").0.contains("warning"));
    assert_eq!(restore("fourth", "1").1["kept_out_since"], 1);
}

/// A quick backup compares the sizes of all files, those of earlier backups too. It copies a damaged file
/// again if the database still has the file.
#[test]
fn a_quick_backup_notices_and_mends_files_that_are_cut() {
    let folder = Folder::new();
    let backup = || folder.run(&["--db", "a", "backup", "--quick", "copies"]);
    let tables = || -> Vec<PathBuf> {
        let shared = fs::read_dir(folder.path().join("copies/engine/shared_checksum")).unwrap();
        shared.map(|entry| entry.unwrap().path()).collect()
    };
    for documents in [0..20, 20..22] {
        corpus(&folder, "c", documents);
        folder.ok(&["--db", "a", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
        folder.ok(&["--db", "a", "compact", "-q"]);
        if !folder.path().join("copies").exists() {
            assert_eq!(backup().status, 0);
        }
    }
    let of_first = tables();
    assert_eq!(backup().status, 0);
    let of_second: Vec<_> = tables().into_iter().filter(|table| !of_first.contains(table)).collect();
    for (table, status) in [(&of_second[0], 0), (&of_first[0], 2)] {
        let bytes = fs::read(table).unwrap();
        fs::write(table, &bytes[..bytes.len() / 2]).unwrap();
        let run = backup();
        assert_eq!(run.status, status, "{run:?}");
        assert_eq!(run.stderr.contains("1 damaged file of earlier backups was copied again"), status == 0, "{run:?}");
        assert_eq!(run.stderr.contains("error: backup 1 is damaged and cannot be restored"), status == 2, "{run:?}");
    }
    let run = folder.run(&["--db", "b", "restore", "copies", "--number", "1"]);
    assert!(run.stderr.contains("another one is whole: `fpdb restore --db NEW DIR --number 4`"), "{run:?}");
    folder.ok(&["--db", "b", "restore", "copies"]);
    verified(&folder, "b");
}

#[test]
fn a_backup_that_lost_its_list_of_files_is_damaged_until_it_goes() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    for _ in 0..3 {
        folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    }
    fs::remove_file(folder.path().join("copies/engine/meta/1")).unwrap();
    fs::remove_file(folder.path().join("copies/engine/meta/3")).unwrap();
    for argument in ["--list", "--verify"] {
        let run = folder.run(&["backup", argument, "copies"]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("error: backup 1 is damaged and cannot be restored: meta/1\n"), "{run:?}");
        assert!(run.stderr.contains("error: backup 3 is damaged and cannot be restored: meta/3\n"), "{run:?}");
    }
    let run = folder.run(&["--db", "b", "restore", "copies", "--number", "1"]);
    assert!(run.status == 2 && run.stderr.contains("error: backup 1 is damaged: meta/1 "), "{run:?}");
    // A new backup takes the place of the last one.
    let run = folder.run(&["--db", "a", "backup", "copies", "--format", "json"]);
    assert_eq!((run.status, &run.json()[0]["number"], &run.json()[0]["damaged"]), (2, &3.into(), &vec![1].into()));
    folder.ok(&["--db", "a", "backup", "-q", "--keep", "2", "copies"]);
    let run = folder.ok(&["backup", "--verify", "copies"]);
    assert_eq!(run.stderr, "2 backups: all files are as they were written\n");
    assert!(!folder.path().join("copies/engine/private/1").exists());
}

/// A file that cannot be read damages the backup that needs it, and no other.
#[test]
fn an_unreadable_file_is_damage_of_its_backup() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    for _ in 0..3 {
        folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    }
    let copies = folder.path().join("copies");
    let mut files = fs::read_dir(copies.join("engine/private/1")).unwrap().map(|entry| entry.unwrap().path());
    let list = files.find(|path| path.display().to_string().contains("MANIFEST")).unwrap();
    for file in [list, copies.join("documents/3")] {
        fs::remove_file(&file).unwrap();
        fs::create_dir(file).unwrap();
    }
    for argument in ["--list", "--verify"] {
        let run = folder.run(&["backup", argument, "copies"]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(
            run.stderr.contains("error: backup 1 is damaged and cannot be restored: private/1/MANIFEST"),
            "{run:?}"
        );
        assert!(run.stderr.contains("error: backup 3 can be restored, but its record documents/3 is"), "{run:?}");
    }
    folder.ok(&["--db", "b", "restore", "copies", "--number", "2"]);
    verified(&folder, "b");
    let run = folder.run(&["--db", "a", "backup", "copies", "--format", "json"]);
    assert_eq!((run.status, &run.json()[0]["damaged"]), (2, &vec![1].into()), "{run:?}");
}

/// A crash while an earlier backup is removed may leave this state.
#[test]
fn a_backup_that_was_removed_but_for_its_count_is_none() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..3);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    for _ in 0..2 {
        folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    }
    fs::remove_file(folder.path().join("copies/engine/meta/1")).unwrap();
    fs::remove_dir_all(folder.path().join("copies/engine/private/1")).unwrap();
    let run = folder.ok(&["backup", "--verify", "copies"]);
    assert_eq!(run.stderr, "1 backup: all files are as they were written\n");
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    assert!(!folder.path().join("copies/documents/1").exists());
}

#[test]
fn damaged_records_of_a_backup_are_told_and_it_can_be_restored() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..4);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    folder.ok(&["--db", "a", "rm", "-q", "--keep-out", "c/001.txt"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    for (number, record) in ["documents/2", "kept-out/2", "kept-out/2"].into_iter().enumerate() {
        let path = folder.path().join("copies").join(record);
        let bytes = fs::read(&path).unwrap();
        match number {
            2 => fs::remove_file(&path).unwrap(),
            _ => fs::write(&path, &bytes[..bytes.len() - 5]).unwrap(),
        }
        for argument in ["--list", "--verify"] {
            let run = folder.run(&["backup", argument, "copies"]);
            let told = format!("error: backup 2 can be restored, but its record {record} is damaged\n");
            assert_eq!((run.status, &run.stderr), (2, &told), "{run:?}");
        }
        let db = format!("of1-{number}");
        let run = folder.ok(&["--db", &db, "restore", "copies", "--number", "1"]);
        assert!(run.stderr.contains(&format!("warning: {record} of a newer backup is damaged: ")), "{run:?}");
        folder.ok(&["--db", &format!("of2-{number}"), "restore", "copies"]);
        fs::write(&path, bytes).unwrap();
    }
    folder.ok(&["backup", "--verify", "copies"]);
}

/// The file system of `/proc` has no free bytes.
#[test]
fn a_copy_without_room_is_warned_of_before_it_begins() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..4);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    let run = folder.ok(&["--db", "a", "backup", "copies"]);
    assert!(!run.stderr.contains("warning"), "{run:?}");
    for arguments in [["--db", "/proc/none", "restore", "copies"], ["--db", "a", "backup", "/proc/none"]] {
        let run = folder.run(&arguments);
        assert!(run.stderr.starts_with("warning: this needs ") && run.status == 2, "{run:?}");
        assert!(run.stderr.contains(", and the disk of /proc/none has 0 bytes free\n"), "{run:?}");
    }
}

/// The folder of backups records the path of the database, even if it is not UTF-8.
#[test]
fn a_restored_backup_asks_the_database_with_a_strange_path_too() {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    corpus(&folder, "c", 0..4);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    let strange = folder.path().join(std::ffi::OsStr::from_bytes(b"strange\n\xff "));
    fs::rename(folder.path().join("a"), &strange).unwrap();
    std::os::unix::fs::symlink(&strange, folder.path().join("a")).unwrap();
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    folder.ok(&["--db", "a", "rm", "-q", "--keep-out", "c/001.txt"]);
    fs::remove_file(folder.path().join("a")).unwrap();
    let run = folder.ok(&["--db", "b", "restore", "copies"]);
    assert!(run.stderr.contains("warning: 1 content that"), "{run:?}");
}

/// The advice after a failed restore names no backup that needs the damaged file too.
#[test]
fn a_damaged_file_that_all_backups_need_leaves_none_to_restore() {
    let folder = Folder::new();
    for documents in [0..20, 20..22] {
        corpus(&folder, "c", documents);
        folder.ok(&["--db", "a", "ingest", "-q", "-k", "5", "-w", "4", "c"]);
        folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    }
    let tables = fs::read_dir(folder.path().join("copies/engine/shared_checksum")).unwrap();
    let tables: Vec<PathBuf> = tables.map(|entry| entry.unwrap().path()).collect();
    // Both backups need the tables of the first one.
    for table in &tables {
        let whole = fs::read(table).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        fs::write(table, &flipped).unwrap();
        let damaged = folder.run(&["backup", "--verify", "copies"]).stderr;
        let is_damaged = |number: u32| damaged.contains(&format!("error: backup {number} is damaged"));
        if is_damaged(2) {
            let run = folder.run(&["--db", "b", "restore", "copies"]);
            assert_eq!(run.status, 2, "{run:?}");
            assert_eq!(run.stderr.contains("--number 1`"), !is_damaged(1), "{damaged} {run:?}");
            assert_eq!(run.stderr.contains("no other backup here is known to be whole"), is_damaged(1), "{run:?}");
        }
        fs::write(table, &whole).unwrap();
    }
}

#[test]
fn a_new_folder_of_backups_is_as_closed_as_the_database() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..2);
    folder.ok(&["--db", "a", "ingest", "-q", "--store-text", "c"]);
    let at = |name: &str| folder.path().join(name);
    let close = |name: &str| fs::set_permissions(at(name), PermissionsExt::from_mode(0o700)).unwrap();
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    folder.ok(&["--db", "a", "backup", "-q", "open"]);
    assert_eq!(mode("open"), mode("a"));
    close("a");
    folder.ok(&["--db", "a", "backup", "-q", "closed"]);
    assert_eq!(mode("closed"), 0o700);
}

/// A new backup looks at the earlier ones as `--list` does, and names those that are damaged.
#[test]
fn a_backup_tells_what_the_list_of_backups_tells() {
    let folder = Folder::new();
    corpus(&folder, "c", 0..4);
    folder.ok(&["--db", "a", "ingest", "-q", "c"]);
    folder.ok(&["--db", "a", "rm", "-q", "--keep-out", "c/001.txt"]);
    folder.ok(&["--db", "a", "backup", "-q", "copies"]);
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 1].to_vec();
    let other_time = |list: &[u8]| {
        let end = list.iter().position(|&byte| byte == b'\n').unwrap();
        [b"1999999999", &list[end..]].concat()
    };
    type Damage<'a> = (&'a str, &'a str, &'a dyn Fn(&[u8]) -> Vec<u8>, &'a str);
    let damages: [Damage<'_>; 4] = [
        ("engine/meta/1", "damaged", &cut, "backup 1 is damaged and cannot be restored: meta/1"),
        ("engine/meta/1", "damaged_records", &other_time, "backup 1 can be restored, but its record meta/1 is damaged"),
        ("kept-out/1", "damaged_records", &cut, "its record kept-out/1 is damaged"),
        ("documents/1", "damaged_records", &cut, "its record documents/1 is damaged"),
    ];
    for (file, field, damage, told) in damages {
        let path = folder.path().join("copies").join(file);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, damage(&whole)).unwrap();
        let listed = folder.run(&["backup", "--list", "copies", "--format", "json"]);
        assert!(listed.status == 2 && listed.stderr.contains(told), "{listed:?}");
        assert_ne!(listed.json()[0]["made_at"], 1_999_999_999, "{listed:?}");
        let run = folder.run(&["--db", "a", "backup", "copies", "--format", "json"]);
        assert!(run.status == 2 && run.stderr.contains(told), "{file}: {run:?}");
        assert!(run.stderr.contains("made in copies"), "{run:?}");
        assert_eq!(run.json()[0][field], serde_json::json!([1]), "{run:?}");
        let restored = folder.run(&["--db", "b", "restore", "copies", "--number", "1"]);
        assert_eq!(restored.status, if field == "damaged" { 2 } else { 0 }, "{restored:?}");
        assert!(!restored.stderr.contains("verify"), "{restored:?}");
        let _ = fs::remove_dir_all(folder.path().join("b"));
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(folder.ok(&["--db", "a", "backup", "copies"]).stderr.lines().count(), 1);
}
