//! `ingest --prune` when folders cannot be listed or files cannot be read. A document whose file may only
//! have another name keeps its number.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use super::shim::{Fault, Shim};
use crate::support::{Folder, Run, text};

const ARGUMENTS: [&str; 5] = ["ingest", "-q", "--prune", "--format", "json"];

fn numbers(folder: &Folder) -> BTreeMap<String, u64> {
    let list = folder.ok(&["list", "--format", "json"]).json();
    list.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["id"].as_u64().unwrap())).collect()
}

/// Six files are stored. Then two were renamed and one was removed.
fn begin() -> (Folder, BTreeMap<String, u64>) {
    let folder = Folder::new();
    for number in 0..6u64 {
        let name = format!("docs/{}/{number}.txt", number % 2);
        folder.write(&name, text(number));
        folder.age(&name);
    }
    folder.ok(&["ingest", "-q", "docs"]);
    let before = numbers(&folder);
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("docs/2")).unwrap();
    fs::rename(path("docs/0/0.txt"), path("docs/2/new.txt")).unwrap();
    fs::rename(path("docs/1/1.txt"), path("docs/1/renamed.txt")).unwrap();
    fs::remove_file(path("docs/0/2.txt")).unwrap();
    (folder, before)
}

#[test]
fn a_prune_removes_nothing_that_may_be_where_it_could_not_look() {
    let Some(shim) = Shim::get() else { return };
    let (mut failed, mut kept) = (0, 0);
    // The folder is listed by its absolute path.
    for (class, on) in [("list", "/docs"), ("open", "docs/"), ("read", "docs/")] {
        let (folder, _) = begin();
        let arguments = [&ARGUMENTS[..], &["docs"]].concat();
        let mut command = folder.command(&arguments);
        shim.count(&mut command, class, on, "calls");
        assert_eq!(Run::of(&command.stdin(Stdio::null()).output().unwrap()).status, 0);
        let calls: usize = fs::read_to_string(folder.path().join("calls")).unwrap().parse().unwrap();
        assert!(calls > 3, "{class}: {calls}");
        for at in 1..=calls {
            for last in [at, usize::MAX] {
                let (folder, before) = begin();
                let mut command = folder.command(&arguments);
                shim.fail(&mut command, (class, on), (at, last), Fault::Error("EIO"));
                let run = Run::of(&command.stdin(Stdio::null()).output().unwrap());
                let what = format!("{class} {at} to {last}: {run:#?}");
                failed += usize::from(run.status == 2);
                kept += usize::from(run.stdout.contains("were not removed"));
                // Only the document whose file is gone may be missing, and the two renamed documents may have
                // their new names.
                let gone = before["docs/0/2.txt"];
                let left: Vec<u64> = numbers(&folder).into_values().collect();
                for (name, number) in &before {
                    assert!(*number == gone || left.contains(number), "{what}: {name} has lost its number {number}");
                }
                let again = folder.run(&arguments);
                assert_eq!(again.status, 0, "{what}: {again:#?}");
                let now = numbers(&folder);
                let expected = [
                    ("docs/1/3.txt", "docs/1/3.txt"),
                    ("docs/0/4.txt", "docs/0/4.txt"),
                    ("docs/1/5.txt", "docs/1/5.txt"),
                    ("docs/2/new.txt", "docs/0/0.txt"),
                    ("docs/1/renamed.txt", "docs/1/1.txt"),
                ];
                assert_eq!(now, expected.map(|(name, was)| (name.to_owned(), before[was])).into(), "{what}");
            }
        }
    }
    assert!(failed > 5 && kept > 2, "failed {failed} times, kept {kept} times");
}
