//! Modes: what is written is open to no more users than its source, and gives nobody the rights of its owner.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use super::{apply, report, text};
use crate::support::Folder;

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.path().join(name)).unwrap().mode() & 0o7777
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path().join(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn copies_and_their_folders_have_the_modes_of_the_sources() {
    let folder = Folder::new();
    folder.write("in/a.txt", text(1));
    folder.write("in/deep/b.txt", text(2));
    folder.write("in/deep/c.txt", text(1));
    set_mode(&folder, "in/a.txt", 0o6755);
    set_mode(&folder, "in/deep", 0o700);
    assert_eq!(report(&folder).len(), 1);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!((mode(&folder, "clean/in/a.txt"), mode(&folder, "clean/in/deep")), (0o755, 0o700));
    let (run, ..) = apply(&folder, &["--move", "moved", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert!(folder.path().join("moved/in/deep/c.txt").exists());
    assert_eq!(mode(&folder, "moved/in/deep"), 0o700);
}

#[test]
fn a_marked_file_keeps_its_owner() {
    let folder = Folder::new();
    let line = |seed| format!("{{\"text\":\"{}\"}}\n", text(seed));
    let path = folder.write("in/a.jsonl", line(1) + &line(1));
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    // Only root can give a file away.
    let _ = chown(&path, Some(65534), Some(65534));
    let before = fs::metadata(&path).unwrap();
    assert_eq!(report(&folder).len(), 1);
    let (run, ..) = apply(&folder, &["--mark", "dup", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let after = fs::metadata(&path).unwrap();
    assert_ne!(before.ino(), after.ino());
    assert_eq!((before.uid(), before.gid(), before.mode()), (after.uid(), after.gid(), after.mode()));
}
