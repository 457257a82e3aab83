//! The system refuses space, writes or open files. Each error names the thing and the next step, and all
//! commits stay.
//!
//! The test mounts small and read-only file systems in its own namespace. If that is not allowed, it is
//! skipped with a message.

use std::process::{Command, Stdio};

use super::prose;
use crate::support::{Folder, Run};

/// Runs a shell script that may mount file systems, with `fpdb` as a command. `None` if mounting is not
/// allowed.
fn in_namespace(folder: &Folder, script: &str) -> Option<Run> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["-rm", "bash", "-euc"])
            .arg(format!("fpdb() {{ '{}' \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_fpdb")));
        command.current_dir(folder.path()).env_remove("FPDB_DB").env("NO_COLOR", "1").stdin(Stdio::null());
        Some(Run::of(&command.output().ok()?))
    };
    let probe = unshare("mkdir -p probe && mount -t tmpfs -o size=64k none probe")?;
    if probe.status != 0 {
        eprintln!("skipped: this system does not let a test mount: {}", probe.stderr);
        return None;
    }
    unshare(script)
}

fn documents(folder: &Folder, count: usize) {
    for number in 0..count {
        folder.write(&format!("docs/{number:03}.txt"), prose(number));
    }
}

/// The output of `list`, without times.
fn list(text: &str) -> Vec<serde_json::Value> {
    let mut documents: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for document in &mut documents {
        let fields = document.as_object_mut().unwrap();
        fields.remove("ingested_at").unwrap();
        // This field is present only if the file was not changed for some seconds.
        fields.remove("modified");
    }
    documents
}

/// Ingests into file systems of these sizes in KiB, then makes room and continues.
fn fill(sizes: impl IntoIterator<Item = usize>) {
    let folder = Folder::new();
    documents(&folder, 250);
    let flags = "--profile words --memory 1MiB";
    folder.ok(&["--db", "whole", "-q", "ingest", "docs", "--profile", "words", "--memory", "1MiB"]);
    let whole = list(&folder.ok(&["--db", "whole", "list", "--format", "json"]).stdout);
    let (mut runs, mut failed) = (0, 0);
    for size in sizes {
        let script = format!(
            "mkdir -p small && mount -t tmpfs -o size={size}k none small
            fpdb --db small/db -q ingest docs {flags} 2>first && echo done >first || true
            if [ -e small/db ]; then fpdb --db small/db list --format json >partial 2>full || true; else : >partial; : >full; fi
            mount -o remount,size=64m small
            [ ! -e small/db ] || {{ fpdb --db small/db list --format json >held; fpdb --db small/db verify >/dev/null; }}
            fpdb --db small/db -q ingest docs {flags}
            fpdb --db small/db verify >/dev/null
            fpdb --db small/db list --format json"
        );
        let Some(run) = in_namespace(&folder, &script) else { return };
        assert_eq!(run.status, 0, "{size} KiB: {run:#?}");
        assert!(list(&run.stdout) == whole, "{size} KiB: not what an undisturbed run makes");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let (first, partial) = (read("first"), read("partial"));
        assert!(!first.contains("panicked") && !read("full").contains("panicked"), "{size} KiB: {first}");
        runs += 1;
        if first != "done\n" {
            failed += 1;
            let told =
                first.contains("error: ") && first.contains("No space left") && first.contains("hint: free some space");
            assert!(told, "{size} KiB: {first}");
        }
        // A full disk does not prevent reading.
        let partial = list(&partial);
        assert!(partial[..] == whole[..partial.len()], "{size} KiB: not the first documents");
        if folder.path().join("held").exists() {
            assert_eq!(list(&read("held")).len(), partial.len(), "{size} KiB: {}", read("full"));
            std::fs::remove_file(folder.path().join("held")).unwrap();
        }
    }
    assert!(failed > 0, "{failed} of {runs} disks were full");
}

#[test]
fn a_full_disk_loses_nothing_and_the_next_run_goes_on() {
    fill([100, 700, 1500]);
}

#[test]
#[ignore = "long: make soak"]
fn disks_full_at_any_point_lose_nothing() {
    fill((40..4000).step_by(67));
}

#[test]
fn a_read_only_database_is_read_and_not_written() {
    let folder = Folder::new();
    documents(&folder, 5);
    folder.ok(&["--db", "db", "-q", "ingest", "docs"]);
    let whole = folder.ok(&["--db", "db", "list", "--format", "json"]).stdout;
    let readers =
        "fpdb --db db list --format json; fpdb --db db verify >/dev/null; fpdb --db db query -q docs/001.txt >/dev/null
        fpdb --db db stats >/dev/null; fpdb --db db show docs/002.txt >/dev/null";
    let script = format!("mount --bind db db && mount -o remount,ro,bind db\n{readers}");
    let Some(run) = in_namespace(&folder, &script) else { return };
    assert_eq!((run.status, run.stdout), (0, whole), "{}", run.stderr);
    for writer in ["ingest docs", "rm docs/001.txt", "compact", "verify --repair", "backup copies"] {
        let script = format!("mount --bind db db && mount -o remount,ro,bind db\nfpdb --db db {writer}");
        let run = in_namespace(&folder, &script).unwrap();
        assert_eq!(run.status, 2, "{writer}: {run:#?}");
        let told =
            run.stderr.contains("db/lock: Read-only file system") && run.stderr.contains("hint: the file system is");
        assert!(told, "{writer}: {run:#?}");
    }
}

#[test]
fn too_few_open_files_are_an_error_that_says_so() {
    let folder = Folder::new();
    documents(&folder, 30);
    // The times are old, so that a later ingest stores no other time of a file.
    for number in 0..30 {
        let path = folder.path().join(format!("docs/{number:03}.txt"));
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    }
    for number in [0, 10, 20] {
        let names: Vec<String> = (number..number + 10).map(|number| format!("docs/{number:03}.txt")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        folder.ok(&[&["--db", "db", "-q", "ingest", "--profile", "prose"], &names[..]].concat());
    }
    let commands: [&[&str]; 4] = [
        &["query", "docs/001.txt", "docs/029.txt", "--format", "json"],
        &["list", "--format", "json"],
        &["verify"],
        &["ingest", "docs", "-q"],
    ];
    let whole: Vec<Run> = commands.iter().map(|command| folder.ok(&[&["--db", "db"], *command].concat())).collect();
    let mut outcomes = [0, 0];
    for limit in [4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 256] {
        for (command, whole) in commands.iter().zip(&whole) {
            let program = folder.command(&[&["--db", "db"], *command].concat());
            let mut limited = Command::new("bash");
            limited.arg("-c").arg(format!("ulimit -n {limit}; exec \"$0\" \"$@\"")).arg(program.get_program());
            limited.args(program.get_args()).current_dir(folder.path()).env_remove("FPDB_DB").env("NO_COLOR", "1");
            let run = Run::of(&limited.stdin(Stdio::null()).output().unwrap());
            let what = format!("{command:?} with {limit} files");
            // With fewer than about ten files, not even the system's loader works.
            if run.stderr.contains("error while loading shared libraries") {
                continue;
            }
            assert!(!run.stderr.contains("panicked"), "{what}: {run:#?}");
            if run.status == 0 {
                assert_eq!(run.stdout, whole.stdout, "{what}");
            } else {
                assert_eq!(run.status, 2, "{what}: {run:#?}");
                assert!(run.stderr.contains("ulimit -n"), "{what}: {run:#?}");
            }
            outcomes[usize::from(run.status == 0)] += 1;
        }
    }
    assert!(outcomes.iter().all(|&times| times > 3), "{outcomes:?}");
    folder.ok(&["--db", "db", "verify"]);
}

/// A write beyond the shell's limit on the size of files fails with an error. The system also sends the
/// signal SIGXFSZ, which does not end the program.
#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let folder = Folder::new();
    documents(&folder, 250);
    let limited = format!("ulimit -f 64; exec '{}' \"$@\"", env!("CARGO_BIN_EXE_fpdb"));
    let mut command = Command::new("bash");
    command.args(["-c", &limited, "fpdb", "-q", "ingest", "docs", "--profile", "words"]).current_dir(folder.path());
    let run = Run::of(&command.env_remove("FPDB_DB").stdin(Stdio::null()).output().unwrap());
    assert!(run.status == 2 && run.stderr.contains("File too large"), "{run:#?}");
    folder.ok(&["ingest", "-q", "docs", "--profile", "words"]);
    folder.ok(&["verify"]);
    assert_eq!(folder.ok(&["list", "--format", "json"]).json().len(), 250);
}
