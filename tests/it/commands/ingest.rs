//! `fpdb ingest`: the files that become documents, their names, and the effect of repeated runs.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip};

const DB: &str = ".fpdb";

/// Ingests and returns the report.
fn ingest(folder: &Folder, arguments: &[&str]) -> Value {
    folder.ok(&[&["ingest", "--format", "json"], arguments].concat()).json().remove(0)
}

/// Added, replaced, unchanged and kept documents of a report.
fn counts(report: &Value) -> [u64; 4] {
    ["added", "replaced", "unchanged", "kept"].map(|name| report[name].as_u64().unwrap())
}

/// Runs with something on standard input.
fn with_input(folder: &Folder, arguments: &[&str], input: &str) -> Run {
    let mut child =
        folder.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let run = Run::of(&child.wait_with_output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    run
}

/// Sets a file's modification time to `seconds` ago, long enough for the time to be trusted.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The documents that hold the whole of `text`, each with its number.
fn holders(folder: &Folder, text: &str) -> Vec<(String, u64)> {
    folder.write("wanted.txt", text);
    let answer = &folder.ok(&["query", "wanted.txt", "--min-score", "1", "--format", "json"]).json()[0];
    let matches = answer["matches"].as_array().unwrap();
    matches.iter().map(|found| (found["document"].as_str().unwrap().into(), found["id"].as_u64().unwrap())).collect()
}

/// A folder with files with every kind of name.
fn tree() -> Folder {
    let folder = Folder::new();
    let files = ["b.txt", "a.txt", "sub/c.txt", "sub.txt", ".hidden/d.txt", ".e.txt", "x.log", "Z.txt", "sub/y.log"];
    for (number, file) in files.into_iter().enumerate() {
        folder.write(&format!("docs/{file}"), prose(number));
    }
    folder.write("docs/.gitignore", "*.log\nsub/\n");
    folder
}

#[test]
fn folders_are_walked_in_sorted_order_whatever_gitignore_says() {
    let folder = tree();
    assert_eq!(counts(&ingest(&folder, &["./docs//"])), [10, 0, 0, 0]);
    let sorted = [
        "docs/.e.txt",
        "docs/.gitignore",
        "docs/.hidden/d.txt",
        "docs/Z.txt",
        "docs/a.txt",
        "docs/b.txt",
        "docs/sub/c.txt",
        "docs/sub/y.log",
        "docs/sub.txt",
        "docs/x.log",
    ];
    assert_eq!(names(&folder, DB), sorted);
    let list = folder.ok(&["list", "--format", "json"]).json();
    assert!(list.iter().map(|document| &document["id"]).eq((0..10).map(Value::from).collect::<Vec<_>>().iter()));
    // The same folder in another spelling gives the same documents.
    assert_eq!(counts(&ingest(&folder, &["docs", "docs/./a.txt"])), [0, 0, 11, 0]);
}

#[test]
fn hidden_and_excluded_files_are_left_out_on_request() {
    let folder = tree();
    ingest(&folder, &["--db", "visible", "--skip-hidden", "docs"]);
    let visible =
        ["docs/Z.txt", "docs/a.txt", "docs/b.txt", "docs/sub/c.txt", "docs/sub/y.log", "docs/sub.txt", "docs/x.log"];
    assert_eq!(names(&folder, "visible"), visible);
    ingest(&folder, &["--db", "some", "--skip-hidden", "--exclude", "*.log", "--exclude", "[ab].txt", "docs"]);
    assert_eq!(names(&folder, "some"), ["docs/Z.txt", "docs/sub/c.txt", "docs/sub.txt"]);
    ingest(&folder, &["--db", "folder", "--skip-hidden", "--exclude", "sub/", "docs"]);
    assert_eq!(names(&folder, "folder"), ["docs/Z.txt", "docs/a.txt", "docs/b.txt", "docs/sub.txt", "docs/x.log"]);
    // A glob that excludes everything also excludes files that are named themselves.
    ingest(&folder, &["--db", "none", "--exclude", "*", "docs", "docs/a.txt"]);
    assert!(!folder.path().join("none").exists(), "nothing was added, so no database was kept");
}

#[test]
fn names_are_paths_as_given() {
    let folder = tree();
    folder.ok(&["init"]);
    let absolute = folder.path().join("docs/a.txt");
    folder.ok(&["ingest", absolute.to_str().unwrap(), "docs/../docs/b.txt"]);
    let below = Run::of(
        &folder
            .command(&["ingest", "..//./Z.txt", "c.txt"])
            .current_dir(folder.path().join("docs/sub"))
            .output()
            .unwrap(),
    );
    assert_eq!(below.status, 0, "{below:?}");
    let expected = [absolute.to_str().unwrap(), "docs/../docs/b.txt", "../Z.txt", "c.txt"];
    assert_eq!(names(&folder, DB), expected);
    // The absolute path is stored, so the file can be read again from any folder.
    let shown = &folder.ok(&["show", "c.txt", "--format", "json"]).json()[0];
    let source = Path::new(shown["source"].as_str().unwrap()).canonicalize().unwrap();
    assert_eq!(source, folder.path().join("docs/sub/c.txt").canonicalize().unwrap());
}

#[test]
fn standard_input_is_a_document() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    with_input(&folder, &["ingest", "a.txt", "-"], &prose(2));
    with_input(&folder, &["ingest", "-", "--name", "mail/7"], &prose(3));
    assert_eq!(names(&folder, DB), ["a.txt", "-", "mail/7"]);
    assert_eq!(holders(&folder, &prose(3)), [("mail/7".to_owned(), 2)]);
    let shown = &folder.ok(&["show", "mail/7", "--format", "json"]).json()[0];
    assert!(shown["source"].is_null());
    // The same input again is unchanged. Other input replaces it.
    let again = with_input(&folder, &["ingest", "-", "--name", "mail/7", "--format", "json"], &prose(3));
    assert_eq!(counts(&again.json()[0]), [0, 0, 1, 0]);
    let other = with_input(&folder, &["ingest", "-", "--name", "mail/7", "--format", "json"], &prose(4));
    assert_eq!(counts(&other.json()[0]), [0, 1, 0, 0]);
    let answer = with_input(&folder, &["query", "-", "--format", "json"], &prose(4)).json();
    assert_eq!((&answer[0]["query"]["name"], &answer[0]["matches"][0]["document"]), (&"-".into(), &"mail/7".into()));
    // The name helps to recognise the format, as that of a file does.
    let page = format!("{} <b>{}</b>", prose(4), prose(1));
    folder.write("page.html", &page);
    for format in ["json", "csv", "human"] {
        let of_file = folder.ok(&["query", "page.html", "--format", format]);
        let of_input = with_input(&folder, &["query", "-", "--name", "page.html", "--format", format], &page);
        assert_eq!(of_input.stdout, of_file.stdout);
    }
    for verb in ["ingest", "query"] {
        let run = folder.run(&[verb, "a.txt", "--name", "mail/7"]);
        assert!(run.status == 2 && run.stderr.contains("--name names the document on standard input"), "{run:?}");
    }
}

#[test]
fn lists_of_paths_come_from_a_file_or_standard_input() {
    let folder = tree();
    folder.write("list", "\u{feff}docs/b.txt\r\n\ndocs/sub\n./docs/a.txt");
    assert_eq!(counts(&ingest(&folder, &["--db", "file", "docs/Z.txt", "--files-from", "list"])), [5, 0, 0, 0]);
    let listed = ["docs/Z.txt", "docs/b.txt", "docs/sub/c.txt", "docs/sub/y.log", "docs/a.txt"];
    assert_eq!(names(&folder, "file"), listed);
    with_input(&folder, &["ingest", "--db", "input", "--files-from", "-"], "docs/x.log\ndocs/a.txt\n");
    assert_eq!(names(&folder, "input"), ["docs/x.log", "docs/a.txt"]);
    assert_eq!(counts(&ingest(&folder, &["--db", "file", "--files-from", "/dev/null"])), [0; 4]);
}

#[test]
fn the_database_does_not_ingest_itself() {
    let folder = tree();
    folder.ok(&["ingest", "."]);
    assert!(!names(&folder, DB).iter().any(|name| name.contains("fpdb")), "{:?}", names(&folder, DB));
    assert_eq!(counts(&ingest(&folder, &["."])), [0, 0, 10, 0]);
    folder.ok(&["ingest", "--db", "docs/sub/database", "docs"]);
    assert_eq!(names(&folder, "docs/sub/database").len(), 10);
}

#[test]
fn what_has_not_changed_is_left_alone() {
    let folder = Folder::new();
    let path = folder.write("a.txt", prose(1));
    age(&path, 100);
    assert_eq!(counts(&ingest(&folder, &["a.txt"])), [1, 0, 0, 0]);
    // A file with the same size and time is not read. The test changes the content without changing these.
    let time = path.metadata().unwrap().modified().unwrap();
    std::fs::write(&path, prose(1).replace("the ", "teh ")).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(counts(&ingest(&folder, &["a.txt"])), [0, 0, 1, 0]);
    // With another time, the file is read. The same content is recognised, and the new time is stored.
    std::fs::write(&path, prose(1)).unwrap();
    age(&path, 50);
    assert_eq!(counts(&ingest(&folder, &["a.txt"])), [0, 0, 1, 0]);
    std::fs::write(&path, prose(1).replace("the ", "teh ")).unwrap();
    age(&path, 40);
    assert_eq!(counts(&ingest(&folder, &["a.txt"])), [0, 1, 0, 0]);
    // A file that was just written may be written again within the same tick of the clock.
    let fresh = folder.write("fresh.txt", prose(2));
    let time = fresh.metadata().unwrap().modified().unwrap();
    ingest(&folder, &["fresh.txt"]);
    std::fs::write(&fresh, prose(2).replace("the ", "teh ")).unwrap();
    File::options().write(true).open(&fresh).unwrap().set_modified(time).unwrap();
    assert_eq!(counts(&ingest(&folder, &["fresh.txt"])), [0, 1, 0, 0]);
}

#[test]
fn a_changed_document_is_replaced_or_kept_or_stored_beside() {
    let (old, new) = (prose(1), prose(2));
    for (policy, changed, versions) in [
        ("replace", [0, 1, 0, 0], &[(&new, &[1][..]), (&old, &[])]),
        ("keep", [0, 0, 0, 1], &[(&old, &[0]), (&new, &[])]),
        ("both", [1, 0, 0, 0], &[(&old, &[0]), (&new, &[1])]),
    ] {
        let folder = Folder::new();
        folder.write("a.txt", &old);
        ingest(&folder, &["a.txt", "--profile", "prose"]);
        folder.write("a.txt", &new);
        let report = ingest(&folder, &["a.txt", "--on-change", policy]);
        assert_eq!(counts(&report), changed, "{policy}");
        for (text, ids) in versions {
            let expected: Vec<(String, u64)> = ids.iter().map(|&id| ("a.txt".to_owned(), id)).collect();
            assert_eq!(holders(&folder, text), expected, "{policy}");
        }
        let again = ingest(&folder, &["a.txt", "--on-change", policy]);
        assert_eq!(again["documents"], 1, "{policy}");
        assert_eq!(again["added"].as_u64().unwrap() + again["replaced"].as_u64().unwrap(), 0, "{policy}: settled");
        let stored = folder.ok(&["stats", "--format", "json"]).json();
        assert_eq!(stored[0]["documents"], if policy == "both" { 2 } else { 1 });
    }
}

#[test]
fn duplicates_are_stored_and_noted() {
    let folder = Folder::new();
    for name in ["a.txt", "copy.txt", "sub/copy.txt"] {
        folder.write(name, prose(1));
    }
    // A document that is named twice in one run is stored once.
    let report = ingest(&folder, &["a.txt", "./a.txt", "copy.txt", "sub"]);
    assert_eq!((counts(&report), &report["identical"]), ([3, 0, 1, 0], &2.into()));
    let shown = &folder.ok(&["show", "copy.txt", "--format", "json"]).json()[0];
    assert_eq!(shown["identical_to"], serde_json::json!(["a.txt", "sub/copy.txt"]));
    assert!(folder.ok(&["show", "copy.txt"]).stdout.contains("identical to  a.txt\n"));
    let human = folder.ok(&["ingest", "--db", "human", "a.txt", "copy.txt"]).stdout;
    assert!(human.starts_with("2 documents added, 1 identical to another document\n"), "{human}");
}

#[test]
fn quiet_says_nothing_and_verbose_says_more() {
    let folder = tree();
    let quiet = folder.ok(&["ingest", "-q", "docs"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let quiet = folder.run(&["ingest", "-q", "missing", "docs"]);
    assert_eq!(
        (quiet.status, quiet.stderr.lines().count()),
        (2, 2),
        "errors and their hints are still said: {quiet:?}"
    );
    let normal = folder.ok(&["ingest", "docs"]);
    assert_eq!((normal.stdout.as_str(), normal.stderr.as_str()), ("0 documents added, 10 unchanged\n", ""));
    folder.write("docs/a.txt", prose(40));
    let verbose = folder.ok(&["ingest", "-v", "docs"]);
    assert!(verbose.stderr.contains("\nreplaced docs/a.txt (text)\nunchanged docs/b.txt (text)\n"), "{verbose:?}");
    assert_eq!(folder.run(&["ingest", "-q", "-v", "docs"]).status, 2);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = Folder::new();
    for number in 0..60 {
        folder.write(&format!("docs/{number:02}.txt"), prose(number / 2).repeat(1 + number % 7));
    }
    let seen = |database: &str, threads: &str| {
        folder.ok(&["ingest", "-q", "--db", database, "--profile", "prose", "--threads", threads, "docs"]);
        let list = folder.ok(&["list", "--db", database, "--format", "csv"]).stdout;
        // Without the times of arrival and of the file.
        let list: Vec<String> = list.lines().map(|row| row.rsplitn(3, ',').nth(2).unwrap().to_owned()).collect();
        let query = ["query", "--db", database, "--threads", threads, "--format", "json", "docs/00.txt", "docs/31.txt"];
        (list, folder.ok(&query).stdout)
    };
    let one = seen("one", "1");
    assert_eq!(seen("two", "2"), one);
    assert_eq!(seen("nine", "9"), one);
}

#[test]
fn no_database_is_taken_for_documents() {
    let folder = tree();
    folder.ok(&["ingest", "-q", "--db", "docs/sub/other", "docs/a.txt"]);
    folder.ok(&["backup", "-q", "--db", "docs/sub/other", "docs/copies"]);
    std::os::unix::fs::symlink("sub/other", folder.path().join("docs/link")).unwrap();
    let report = ingest(&folder, &["--follow", "docs"]);
    assert_eq!(counts(&report), [10, 0, 0, 0]);
    let run = folder.ok(&["ingest", "docs/sub/other", "docs/a.txt"]);
    assert!(run.stderr.contains("skipped docs/sub/other: a database of fpdb"), "{run:?}");
    assert_eq!(names(&folder, DB).len(), 10);
}

#[test]
fn globs_begin_at_the_current_folder_and_leave_out_what_lies_below() {
    let folder = tree();
    folder.ok(&["init"]);
    for (glob, said) in [
        ("", "exclude cannot be empty: expected a glob"),
        ("./", "exclude cannot be ./: expected a glob"),
        ("!*.txt", "exclude cannot be !*.txt: expected a glob without `!`"),
    ] {
        let run = folder.run(&["ingest", "docs", "--exclude", glob]);
        assert_eq!(run.status, 2, "{glob}");
        assert!(run.stderr.contains(said), "{run:?}");
    }
    assert_eq!(names(&folder, DB), [""; 0]);
    folder.write("docs/#a#", prose(20));
    folder.write("list", "docs/sub/c.txt\n./docs/sub/y.log\ndocs/b.txt\n");
    let absolute = folder.path().canonicalize().unwrap().join("docs/sub/c.txt");
    for (number, glob) in ["sub", "sub/", "docs/sub", "./docs/sub"].into_iter().enumerate() {
        let db = format!("db{number}");
        let arguments = ["--db", &db, "--exclude", glob, "--files-from", "list", absolute.to_str().unwrap()];
        ingest(&folder, &arguments);
        assert_eq!(names(&folder, &db), ["docs/b.txt"], "{glob}");
        ingest(&folder, &["--db", &db, "--exclude", glob, "--exclude", "#a#", "--skip-hidden", "docs"]);
        let stored = names(&folder, &db);
        assert_eq!(stored, ["docs/b.txt", "docs/Z.txt", "docs/a.txt", "docs/sub.txt", "docs/x.log"], "{glob}");
    }
}

#[test]
fn only_files_of_folders_that_match_are_taken_on_request() {
    let folder = tree();
    folder.ok(&["init"]);
    let run = folder.run(&["ingest", "docs", "--include", "!*.txt"]);
    assert!(run.status == 2 && run.stderr.contains("include cannot be !*.txt: expected a glob without `!`"), "{run:?}");
    let absolute = folder.path().canonicalize().unwrap().join("docs");
    for (number, (globs, expected)) in [
        (&["--include", "*.log"][..], &["docs/sub/y.log", "docs/x.log"][..]),
        (&["--include", "docs/*.log"], &["docs/x.log"]),
        (&["--include", "./docs/sub", "--include", "Z*"], &["docs/Z.txt", "docs/sub/c.txt", "docs/sub/y.log"]),
        // Excluded files are left out, and an excluded folder with everything below it.
        (&["--include", "*.log", "--exclude", "x.*"], &["docs/sub/y.log"]),
        (&["--include", "*.log", "--exclude", "sub/"], &["docs/x.log"]),
        (
            &["--include", "*.txt", "--skip-hidden", "--exclude", "[ab].*"],
            &["docs/Z.txt", "docs/sub/c.txt", "docs/sub.txt"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let db = format!("db{number}");
        ingest(&folder, &[&["--db", &db, "docs"], globs].concat());
        assert_eq!(names(&folder, &db), expected, "{globs:?}");
        let below = format!("below{number}");
        ingest(&folder, &[&["--db", &below, absolute.to_str().unwrap()], globs].concat());
        assert_eq!(names(&folder, &below).len(), expected.len(), "{globs:?}");
    }
    // A file that is named itself is always ingested.
    ingest(&folder, &["--db", "named", "--include", "*.log", "docs/sub", "docs/a.txt"]);
    assert_eq!(names(&folder, "named"), ["docs/sub/y.log", "docs/a.txt"]);
}

#[test]
fn a_skipped_file_is_told_of_however_it_was_named() {
    let folder = Folder::new();
    folder.write("b.bin", b"\0\0\0");
    folder.write("list", "./b.bin\n");
    let run = folder.ok(&["ingest", "--files-from", "list"]);
    assert!(run.stderr.contains("skipped b.bin: binary data"), "{run:?}");
    // The file is a failure if it is named itself.
    for name in ["b.bin", "./b.bin", ".//./b.bin"] {
        let run = folder.run(&["ingest", name]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("error: b.bin: not a text document: binary data"), "{run:?}");
    }
    let input = std::fs::File::open(folder.path().join("b.bin")).unwrap();
    let piped = folder.command(&["ingest", "-", "--name", "given"]).stdin(input).output().unwrap();
    assert_eq!(piped.status.code(), Some(2));
    // If the run also finds the file in a folder, it reports one failure.
    let report = &folder.run(&["ingest", ".", "b.bin", "--format", "json"]).json()[0];
    assert_eq!((report["failed"].as_array().unwrap().len(), report["skipped"].as_array().unwrap().len()), (1, 1));
}

/// The answer and the terminal show the first thousand failures. The counts and the file have all failures.
#[test]
fn many_failures_are_counted_and_listed_in_a_file() {
    let folder = Folder::new();
    let failing = (2..=5000).map(|line| if line % 2 == 0 { "{}\n" } else { "{\"a\":\n" }).collect::<String>();
    folder.write("a.jsonl", format!("{{\"text\":\"one\"}}\n{failing}{{\"text\":null}}\n{{\"text\":\"two\"}}\n"));
    let run = folder.run(&["ingest", "a.jsonl", "--failures", "failed.jsonl", "--format", "json", "--threads", "3"]);
    assert_eq!(run.status, 2, "{run:?}");
    let report = &run.json()[0];
    let count = |field: &str| report[field].as_u64().unwrap();
    assert_eq!((count("documents"), count("failures"), count("skips")), (2, 4999, 1));
    assert_eq!(report["failed"].as_array().unwrap().len(), 1000);
    assert_eq!(run.stderr.matches("error: a.jsonl:").count(), 1000);
    assert!(run.stderr.contains("3,999 more documents could not be read\n"), "{}", run.stderr);
    let list = std::fs::read_to_string(folder.path().join("failed.jsonl")).unwrap();
    let names = list.lines().map(|line| {
        let failure: fpdb::Failure = serde_json::from_str(line).unwrap();
        assert!(failure.error.contains("record"), "{failure:?}");
        failure.name
    });
    assert!(names.eq((2..=5000).map(|line| format!("a.jsonl:{line}"))), "all of them, in order");
    let second = folder.run(&["ingest", "a.jsonl"]);
    assert!(second.stderr.contains("more documents could not be read; --failures FILE lists all"), "{second:?}");
    // A file that cannot be written is refused before anything is read.
    let refused = folder.run(&["ingest", "a.jsonl", "--failures", "none/failed.jsonl"]);
    assert!(refused.status == 2 && refused.stderr.contains("cannot create none/failed.jsonl"), "{refused:?}");
}

#[test]
fn a_pipe_that_is_named_is_read() {
    let folder = tree();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let feed = |text: String| {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::write(pipe, text).unwrap())
    };
    let fed = feed(prose(30));
    assert_eq!(counts(&ingest(&folder, &["pipe", "docs/a.txt"])), [2, 0, 0, 0]);
    fed.join().unwrap();
    assert_eq!(names(&folder, DB), ["pipe", "docs/a.txt"]);
    let fed = feed(prose(30));
    let answer = folder.ok(&["query", "pipe", "--format", "json"]).json();
    fed.join().unwrap();
    assert_eq!((&answer[0]["query"]["name"], &answer[0]["matches"][0]["identical"]), (&"pipe".into(), &true.into()));
    // A pipe that is found in a folder is skipped, because perhaps no process ever writes to it.
    assert_eq!(counts(&ingest(&folder, &["--exclude", "docs", "--exclude", DB, "."])), [0; 4]);
}

#[test]
fn an_empty_variable_is_as_good_as_none() {
    let folder = tree();
    let run = Run::of(&folder.command(&["ingest", "docs/a.txt"]).env("FPDB_DB", "").output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(names(&folder, DB), ["docs/a.txt"]);
    let run = Run::of(&folder.command(&["list"]).env("FPDB_DB", "elsewhere").output().unwrap());
    assert!(run.stderr.contains("there is no database at elsewhere"), "{run:?}");
}

#[test]
fn code_is_read_as_code_on_request_whatever_it_was_read_as() {
    let folder = Folder::new();
    let program = "def f(a, b):\n    return a + b * 2\n".repeat(20);
    for name in ["a.py", "b", "notes.txt"] {
        let line = if name == "b" { "#!/usr/bin/python3\n" } else { "" };
        age(&folder.write(name, format!("{line}{program}")), 1000);
    }
    folder.write("c.py.gz", gzip(&program));
    let formats = |db: &str| -> Vec<String> {
        let list = folder.ok(&["list", "--db", db, "--format", "json"]).json();
        list.iter().map(|document| format!("{} {}", document["name"], document["format"]).replace('"', "")).collect()
    };
    let files = ["a.py", "b", "notes.txt", "c.py.gz"];
    ingest(&folder, &files);
    assert_eq!(formats(DB), ["a.py text", "b text", "notes.txt text", "c.py.gz text"]);
    assert_eq!(counts(&ingest(&folder, &[&files[..], &["--as", "code"]].concat())), [0, 3, 1, 0]);
    assert_eq!(counts(&ingest(&folder, &[&files[..], &["--as", "code"]].concat())), [0, 0, 4, 0]);
    assert_eq!(formats(DB), ["notes.txt text", "a.py python", "b python", "c.py.gz python"]);
    ingest(&folder, &["--db", "code", "--profile", "code", "c.py.gz"]);
    assert_eq!(formats("code"), ["c.py.gz python"]);
}

/// A database fixes the profile of later ingests, so an empty new database is not kept.
#[test]
fn an_ingest_that_adds_nothing_leaves_no_database() {
    let folder = Folder::new();
    folder.write("b.bin", b"\0\0\0");
    folder.write("broken.gz", b"\x1f\x8bno gzip");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::create_dir(folder.path().join("there")).unwrap();
    for (arguments, status) in [
        (&["empty"][..], 0),
        (&["b.bin"], 2),
        (&["broken.gz"], 2),
        (&["--files-from", "/dev/null"], 0),
        (&["--db", "there", "b.bin"], 2),
    ] {
        let run = folder.run(&[&["ingest"], arguments].concat());
        assert_eq!(run.status, status, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains("nothing was added: the database "), "{arguments:?}: {run:?}");
        assert!(!folder.path().join(".fpdb").exists() && !folder.path().join("there/FPDB").exists(), "{arguments:?}");
    }
    // A database that existed before the ingest stays.
    folder.ok(&["init", "--profile", "words"]);
    let run = folder.ok(&["ingest", "empty"]);
    assert!(!run.stderr.contains("nothing was added"), "{run:?}");
    assert!(folder.ok(&["stats"]).stdout.contains("unit word"));
}

#[test]
fn a_new_database_of_another_kind_of_text_brings_a_hint() {
    let folder = Folder::new();
    let program = "int main(void) { return 0; }\n";
    for number in 0..3 {
        folder.write(&format!("src/{number}.c"), program.repeat(20 + number));
        folder.write(&format!("prose/{number}.txt"), prose(number));
    }
    let records: Vec<String> =
        (0..20).map(|number| format!("{{\"text\":\"a title of few words, {number}\"}}\n")).collect();
    folder.write("titles.jsonl", records.concat());
    let hint = |database: &str, arguments: &[&str]| {
        let run = folder.ok(&[&["ingest", "--db", database], arguments].concat());
        run.stderr.lines().find(|line| line.starts_with("hint:")).map(str::to_owned).unwrap_or_default()
    };
    assert!(hint("a", &["src", "prose/0.txt"]).contains("--profile code"));
    assert!(hint("b", &["titles.jsonl"]).contains("--profile words"));
    for (number, arguments) in
        [&["prose"][..], &["src", "prose"], &["src", "--profile", "code"], &["titles.jsonl", "--profile", "words"]]
            .iter()
            .enumerate()
    {
        assert_eq!(hint(&number.to_string(), arguments), "", "{arguments:?}");
    }
    // An existing database keeps its profile, and its user gets no hint.
    assert_eq!(hint("0", &["src"]), "");
}
