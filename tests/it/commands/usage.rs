//! Wrong command lines: meaningless numbers, names and places are refused before anything is done.

use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, Run};

#[test]
fn an_error_in_the_arguments_makes_no_database() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.write("bad.csv", "no,such,column\n");
    for arguments in [
        &["a.txt", "--exclude", "["][..],
        &["a.txt", "--exclude", ""],
        &["a.txt", "--memory", "0"],
        &["a.txt", "--memory", "1M"],
        &["a.txt", "--memory", "999999T"],
        &["a.txt", "--metadata", "bad.csv"],
        &["a.txt", "-k", "0"],
        &["a.txt", "-o", "nowhere/report.txt"],
        &["a.txt", "-o", "db/report.txt"],
        &["nowhere.txt"],
        &["nowhere.txt", "nor/here.txt"],
        &["-", "--name", ""],
    ] {
        let run = folder.run(&[&["ingest", "--db", "db"], arguments].concat());
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        assert!(
            run.stderr.contains("error: ") && !run.stderr.contains("created the database"),
            "{arguments:?}: {run:?}"
        );
        assert!(!folder.path().join("db").exists(), "{arguments:?}");
    }
    // The existing file is still ingested.
    let run = folder.run(&["ingest", "--db", "db", "nowhere.txt", "a.txt"]);
    assert!(run.status == 2 && run.stderr.contains("created the database db"), "{run:?}");
    assert_eq!(names(&folder, "db"), ["a.txt"]);
}

/// Help and version also report that they could not be written.
#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    for arguments in [&["--help"][..], &["--version"], &["query", "-h"], &["help", "query"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(arguments).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("cannot write the results") && said.contains("No space left"), "{arguments:?}: {said}");
    }
}

/// For any output, the message names the file that cannot be written, and the next step.
#[cfg(target_os = "linux")]
#[test]
fn results_on_a_full_disk_are_an_error_that_names_the_file() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    for format in ["human", "json", "csv"] {
        let run = folder.run(&["list", "--format", format, "-o", "/dev/full"]);
        let said = "error: cannot write /dev/full: No space left on device (os error 28)\nhint: ";
        assert!(run.status == 2 && run.stderr.starts_with(said), "{format}: {run:?}");
        assert!(run.stderr.contains("what was committed stays; the disk of /dev/full has "), "{run:?}");
    }
}

/// A killed run leaves its unfinished file. The next run that writes into the folder removes the file.
#[test]
fn files_of_killed_runs_are_removed() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    let growing = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".fpdb-output-")).count()
    };
    // These runs wait for their input.
    let mut runs = [0, 1].map(|number| {
        let mut command = folder.command(&["query", "-", "--format", "json", "-o", "out.json"]);
        let child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
        while growing() == number {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child
    });
    runs[0].kill().unwrap();
    runs[0].wait().unwrap();
    assert_eq!(growing(), 2);
    folder.ok(&["list", "-o", "list.txt"]);
    assert_eq!(growing(), 1, "the file of a run that goes on stays");
    runs[1].kill().unwrap();
    runs[1].wait().unwrap();
    folder.ok(&["list", "-o", "list.txt"]);
    assert_eq!(growing(), 0);
}

/// `ingest` and `apply` write no result over a file that they read, or into the database.
#[test]
fn results_are_not_written_over_what_is_read() {
    let folder = Folder::new();
    folder.write("docs/a.txt", prose(1));
    folder.write("b.txt", prose(2));
    folder.write("labels.csv", "filename,label\ndocs/a.txt,x\n");
    folder.write("list", "b.txt\n");
    folder.ok(&["ingest", "-q", "docs"]);
    let marker = std::fs::read(folder.path().join(".fpdb/FPDB")).unwrap();
    for flags in [
        &["--failures", "docs/a.txt"][..],
        &["--failures", "./b.txt"],
        &["--failures", ".fpdb/FPDB"],
        &["--failures", ".fpdb/new"],
        &["--failures", "labels.csv", "--metadata", "labels.csv"],
        &["--failures", "list", "--files-from", "list"],
        &["-o", "b.txt"],
    ] {
        let run = folder.run(&[&["ingest", "docs", "b.txt"], flags].concat());
        let told = ["is to be read", "is stored", "lies in the database"].iter().any(|why| run.stderr.contains(why));
        assert!(run.status == 2 && told, "{flags:?}: {run:?}");
    }
    assert_eq!(std::fs::read(folder.path().join(".fpdb/FPDB")).unwrap(), marker);
    assert_eq!(std::fs::read_to_string(folder.path().join("docs/a.txt")).unwrap(), prose(1));
    assert_eq!(names(&folder, ".fpdb"), ["docs/a.txt"], "refused before anything is read");
    // A list of an earlier run may be replaced, in a folder that is read too.
    folder.write("docs/bad.jsonl", "{}\n");
    for _ in 0..2 {
        assert_eq!(folder.run(&["ingest", "docs", "--failures", "docs/failed", "--exclude", "failed"]).status, 2);
        let list = std::fs::read_to_string(folder.path().join("docs/failed")).unwrap();
        assert!(list.contains("docs/bad.jsonl\"") && list.lines().count() == 1, "{list}");
    }
    folder.ok(&["dedup", "--format", "json", "-o", "report"]);
    let report = std::fs::read(folder.path().join("report")).unwrap();
    let run = folder.run(&["apply", "report", "--remove", "-o", "report"]);
    assert!(run.status == 2 && run.stderr.contains("-o would write over report"), "{run:?}");
    assert_eq!(std::fs::read(folder.path().join("report")).unwrap(), report);
}

#[test]
fn a_negative_number_is_out_of_range_and_no_flag() {
    let folder = Folder::new();
    for (arguments, flag, expected) in [
        (&["query", "a", "--min-score", "-1"][..], "--min-score", "a number from 0 to 1"),
        (&["query", "a", "-n", "-1"], "-n", "1 or more"),
        (&["query", "a", "--max-df", "-3"], "--max-df", "0 or more"),
        (&["query", "a", "--top", "-2"], "--top", "0 or more"),
        (&["query", "a", "--window", "-5"], "--window", "-5"),
        (&["dedup", "--threshold", "-0.1"], "--threshold", "a number from 0 to 1"),
        (&["pairs", "--min-shared", "-1"], "--min-shared", "0 or more"),
        (&["ingest", "a", "-k", "-7"], "-k", "-7"),
        (&["ingest", "a", "--memory", "-1"], "--memory", "a size such as"),
        (&["backup", "a", "--keep", "-1"], "--keep", "-1"),
        (&["stats", "--threads", "-1"], "--threads", "-1"),
    ] {
        let run = folder.run(arguments);
        let told = run.stderr.contains("invalid value") && run.stderr.contains(flag) && run.stderr.contains(expected);
        assert!(run.status == 2 && told, "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn nothing_is_written_into_a_database_from_outside() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "--db", "db", "a.txt"]);
    folder.ok(&["init", "-q", "--db", "other"]);
    folder.ok(&["--db", "db", "backup", "-q", "saved"]);
    for target in ["db/FPDB", "./db//new.json", "db", "other/FPDB", "other/store/CURRENT", "saved/FPDB-BACKUP"] {
        for arguments in [&["list"][..], &["diff", "a.txt", "a.txt"], &["query", "a.txt", "--format", "html"]] {
            let run = folder.run(&[arguments, &["--db", "db", "-o", target]].concat());
            assert!(
                run.status == 2 && run.stderr.contains(" lies in the database "),
                "{arguments:?} {target}: {run:?}"
            );
        }
    }
    for target in ["db/saved", "other/saved", "saved/more"] {
        let run = folder.run(&["--db", "db", "backup", target]);
        assert!(run.status == 2 && run.stderr.contains(" lies in the database "), "{target}: {run:?}");
    }
    folder.ok(&["--db", "db", "backup", "-q", "saved"]);
    for database in ["db", "other"] {
        folder.ok(&["verify", "--db", database]);
    }
}

#[test]
fn a_document_is_found_by_the_spelling_that_ingested_it() {
    let folder = Folder::new();
    folder.write("c/d/a.txt", prose(1));
    folder.write("c/d/b.txt", format!("{}{}", prose(1), prose(2)));
    folder.ok(&["ingest", "-q", "./c//d/"]);
    for name in ["c/d/a.txt", "./c/d/a.txt", "c//d/./a.txt"] {
        assert!(folder.ok(&["show", name]).stdout.starts_with("c/d/a.txt\n"), "{name}");
        assert!(folder.ok(&["query", "--document", name]).stdout.starts_with("c/d/a.txt  "), "{name}");
    }
    for prefix in ["c/d/a", "./c/d//a"] {
        let listed = folder.ok(&["list", prefix]).stdout;
        assert!(listed.lines().count() == 1 && listed.ends_with("  c/d/a.txt\n"), "{prefix}: {listed}");
        let dedup = folder.ok(&["dedup", "--protect", prefix]);
        assert!(!dedup.stderr.contains("begins with"), "{dedup:?}");
        let pairs = folder.ok(&["pairs", "--across", prefix, "--format", "json"]);
        assert!(pairs.stderr.is_empty() && pairs.stdout.lines().count() == 1, "{pairs:?}");
    }
    assert_eq!(folder.ok(&["list", "./"]).stdout.lines().count(), 2);
    folder.ok(&["rm", "-q", ".//c/d/a.txt"]);
    assert_eq!(names(&folder, ".fpdb"), ["c/d/b.txt"]);
    // A name that is not a path is not a misspelled path.
    let mut ingest = folder.command(&["ingest", "-q", "-", "--name", "./x//y"]);
    let input = std::fs::File::open(folder.path().join("c/d/a.txt")).unwrap();
    assert!(ingest.stdin(input).status().unwrap().success());
    assert!(folder.ok(&["show", "./x//y"]).stdout.starts_with("./x//y\n"));
}

/// The absolute path of a file stands for the name of its document, wherever its ingest ran.
#[test]
fn documents_are_shown_and_removed_by_absolute_path_or_number() {
    let folder = Folder::new();
    for (number, name) in (1..).zip(["docs/a.txt", "docs/b.txt", "docs/c.txt"]) {
        folder.write(name, prose(number));
    }
    folder.ok(&["ingest", "-q", "docs", "--store-text"]);
    let path = |name: &str| folder.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned();
    assert!(folder.ok(&["show", &path("docs/a.txt")]).stdout.starts_with("docs/a.txt\n"));
    assert_eq!(folder.ok(&["show", "--text", &path("docs/b.txt")]).stdout, prose(2));
    assert!(folder.ok(&["rm", &path("docs/a.txt")]).stderr.starts_with("1 document removed"));
    assert_eq!(names(&folder, ".fpdb"), ["docs/b.txt", "docs/c.txt"]);
    // A document that is gone has not the name of another one.
    let run = folder.run(&["rm", "docs/a.txt"]);
    let told = "error: no stored document is named docs/a.txt\nhint: the nearest name is docs/b.txt\n";
    assert_eq!((run.status, run.stderr.as_str()), (2, told));
    let ids: Vec<String> =
        folder.ok(&["list", "--format", "json"]).json().iter().map(|one| one["id"].to_string()).collect();
    assert_eq!(folder.ok(&["show", "--text", "--id", &ids[0], &ids[1]]).stdout, prose(2) + &prose(3));
    let run = folder.run(&["show", "docs/b.txt", "--id", "99"]);
    assert!(run.status == 2 && run.stdout.starts_with("docs/b.txt\n") && run.stderr.contains("number 99"), "{run:?}");
}

/// After a merge, documents of two files can have one name, and a document that of a container.
#[test]
fn an_absolute_path_leads_to_no_document_of_another_file() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned();
    let ok_in = |place: &str, arguments: &[&str]| {
        let mut command = folder.command(arguments);
        let run = Run::to_its_end(command.current_dir(folder.path().join(place)));
        assert_eq!(run.status, 0, "{run:?}");
    };
    for (number, place) in [(1, "a"), (2, "b")] {
        folder.write(&format!("{place}/docs/x.txt"), prose(number));
        folder.write(&format!("{place}/data.jsonl"), format!("{}\n", serde_json::json!({"text": prose(number)})));
        let db = format!("../{place}.db");
        ok_in(place, &["ingest", "-q", "--db", &db, "--profile", "prose", "--store-text", "docs"]);
        let more: &[&str] = if place == "b" { &["--no-expand"] } else { &[] };
        ok_in(place, &[&["ingest", "-q", "--db", &db, "--store-text", "data.jsonl"], more].concat());
    }
    folder.ok(&["merge", "-q", "--db", "a.db", "b.db", "--on-change", "both"]);
    assert_eq!(names(&folder, "a.db"), ["docs/x.txt", "data.jsonl:1", "docs/x.txt", "data.jsonl"]);
    for (number, place) in [(1, "a"), (2, "b")] {
        let text = folder.ok(&["show", "--db", "a.db", "--text", &path(&format!("{place}/docs/x.txt"))]);
        assert_eq!(text.stdout, prose(number), "{place}");
    }
    assert!(folder.ok(&["rm", "--db", "a.db", &path("b/docs/x.txt")]).stderr.starts_with("1 document removed"));
    assert_eq!(folder.ok(&["show", "--db", "a.db", "--text", "docs/x.txt"]).stdout, prose(1));
    let of_records = path("a/data.jsonl");
    let run = folder.run(&["rm", "--db", "a.db", &of_records]);
    let told = format!("error: no stored document is named {of_records}\n");
    assert!(run.status == 2 && run.stderr.starts_with(&told), "{run:?}");
    assert_eq!(names(&folder, "a.db"), ["docs/x.txt", "data.jsonl:1", "data.jsonl"]);
    // A path through a folder that is gone is the path of no file, and does not end the run.
    let gone = path("gone") + "/../x.txt";
    let run = folder.run(&["show", "--db", "a.db", &gone, "docs/x.txt"]);
    assert!(run.status == 2 && run.stdout.starts_with("docs/x.txt\n"), "{run:?}");
    assert!(run.stderr.starts_with(&format!("error: no stored document is named {gone}\n")), "{run:?}");
    folder.ok(&["rm", "-q", "-f", "--db", "a.db", &gone, "docs/x.txt", &path("b/data.jsonl")]);
    assert_eq!(names(&folder, "a.db"), ["data.jsonl:1"]);
}

#[test]
fn standard_output_has_a_name() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    assert_eq!(folder.ok(&["list", "-o", "-"]).stdout, folder.ok(&["list"]).stdout);
    assert!(!folder.path().join("-").exists());
    let run = folder.run(&["query", "a.txt", "--format", "html", "-o", "-"]);
    assert!(run.status == 2 && run.stderr.contains("writes a folder"), "{run:?}");
}

#[test]
fn a_list_of_paths_may_be_separated_by_nul() {
    let folder = Folder::new();
    folder.write("a\nb.txt", prose(1));
    folder.write("c.txt", prose(2));
    folder.write("list", "a\nb.txt\0c.txt\0");
    folder.ok(&["ingest", "-q", "--files-from", "list"]);
    assert_eq!(names(&folder, ".fpdb"), ["a\nb.txt", "c.txt"]);
}

#[test]
fn what_finds_nothing_is_told_of() {
    let folder = Folder::new();
    folder.write("docs/a.txt", prose(1));
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let run = folder.run(&["query", "If men were angels"]);
    assert_eq!(run.status, 2, "there is no database yet");
    folder.ok(&["ingest", "-q", "docs"]);
    let told = |arguments: &[&str]| folder.run(arguments).stderr;
    let text = told(&["query", "If men were angels"]);
    assert!(text.starts_with("error: cannot read If men were angels: "), "{text}");
    assert!(text.ends_with("hint: to query with a text: echo 'the text' | fpdb query -\n"), "{text}");
    assert_eq!(told(&["query", "empty"]), "warning: no document in empty\n");
    assert_eq!(told(&["list", "nosuch"]), "no document's name begins with nosuch\n");
    assert!(
        told(&["pairs", "--group-by", "nosuch"]).starts_with("error: no stored document fits nosuch (--group-by)\n")
    );
    for command in [&["pairs"][..], &["query", "docs/a.txt"]] {
        let run = folder.run(&[command, &["--submission-by", "doc"]].concat());
        let error = "error: no stored document fits doc (--submission-by)\nhint: did you mean docs?\n";
        assert_eq!((run.status, run.stderr.as_str()), (2, error));
        assert_eq!(folder.ok(&[command, &["--submission-by", "."]].concat()).stderr, "");
    }
    // The error is about the missing file, not about its folder.
    let run = folder.run(&["query", "late/x", "--submission-by", "late"]);
    assert!(run.status == 2 && run.stderr.starts_with("error: cannot read late/x: "), "{run:?}");
    let run = folder.run(&["rm", "--where", "x=y"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    for command in [
        &["show", "doc/a.txt", "other"][..],
        &["rm", "doc/a.txt", "other"],
        &["mv", "docs/b.txt", "c"],
        &["query", "--document", "docs/a.text"],
        &["pairs", "--across", "docs/a", "doks"],
        &["dedup", "--protect", "doks/"],
        &["dedup", "--append", "--prefer", "^doks"],
    ] {
        let run = folder.run(command);
        assert_eq!(run.status, 2, "{run:?}");
        let hint = match command[0] {
            "dedup" | "pairs" => "hint: did you mean docs?\n",
            _ => "hint: the nearest name is docs/a.txt\n",
        };
        assert!(run.stderr.contains(hint), "{run:?}");
    }
    // A folder whose name begins with the typed text is more similar than a name that differs in a character.
    // So is the same name in another folder.
    for name in ["2025/a.txt", "2026-spring/b.txt", "case/papers/gazette.html", "gazettes.html"] {
        folder.write(name, prose(1));
    }
    folder.ok(&["ingest", "-q", "2025", "2026-spring", "case", "gazettes.html"]);
    for (command, nearest) in [
        (&["pairs", "--submission-by", "2026"][..], "2026-spring"),
        (&["query", "--document", "gazette.html"], "case/papers/gazette.html"),
        (&["show", "papers/gazette.html"], "case/papers/gazette.html"),
        (&["pairs", "--old", "papers/"], "case/papers"),
        (&["query", "--document", "gazete.html"], "gazettes.html"),
    ] {
        let run = folder.run(command);
        let hint = match command[0] {
            "pairs" => format!("hint: did you mean {nearest}?\n"),
            _ => format!("hint: the nearest name is {nearest}\n"),
        };
        assert!(run.status == 2 && run.stderr.contains(&hint), "{run:?}");
    }
    // Only `rm` is answered with a command that removes.
    let of_pattern =
        "* is not a wildcard in a name: `fpdb list PREFIX` shows the documents whose names begin with PREFIX";
    let of_folder = "documents lie below it: `fpdb list docs/` shows them";
    for (given, hint, prefix) in
        [("docs/*.txt", of_pattern, "PREFIX"), ("docs", of_folder, "docs/"), ("docs/", of_folder, "docs/")]
    {
        for command in [&["rm"][..], &["show"], &["query", "--document"]] {
            let run = folder.run(&[command, &[given]].concat());
            let removal = match command[0] {
                "rm" => format!(", and `fpdb rm --prefix {prefix}` would remove them all"),
                _ => String::new(),
            };
            let hint = format!("hint: {hint}{removal}\n");
            assert_eq!((run.status, run.stderr.ends_with(&hint)), (2, true), "{run:?}");
        }
    }
    // A document whose name has the character is the nearest.
    folder.write("docs/two*stars.txt", prose(8));
    folder.ok(&["ingest", "-q", "docs"]);
    let run = folder.run(&["show", "docs/two*star.txt"]);
    assert!(run.status == 2 && run.stderr.ends_with("hint: the nearest name is docs/two*stars.txt\n"), "{run:?}");
    for (flag, nearest) in [("--submission", "--submission-by"), ("--no-passage", "--no-passages"), ("--tops", "--top")]
    {
        let run = folder.run(&["query", flag, "docs/a.txt"]);
        assert!(run.status == 2 && run.stderr.contains(nearest), "{run:?}");
    }
    let run = folder.run(&["qurey", "docs/a.txt"]);
    assert!(run.status == 2 && run.stderr.contains("'query'"), "{run:?}");
}

#[test]
fn the_variable_of_the_database_is_in_no_usage_and_no_hash_version_in_an_error() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    folder.ok(&["init", "-q", "--db", "code", "--profile", "code"]);
    let usage = folder.command(&["query"]).env("FPDB_DB", "code").output().unwrap();
    let usage = String::from_utf8(usage.stderr).unwrap();
    assert!(usage.contains("Usage: fpdb query") && !usage.contains("--db"), "{usage}");
    for (database, profile) in [(".fpdb", "code"), ("code", "prose")] {
        let run = folder.run(&["ingest", "--db", database, "--profile", profile, "a.txt"]);
        assert!(run.status == 2 && run.stderr.contains("is asked for"), "{run:?}");
        assert!(!run.stderr.contains("hash version"), "{run:?}");
    }
}

#[test]
fn a_field_that_no_record_has_is_one_error() {
    let folder = Folder::new();
    let line = format!("{{\"doc_id\": 1, \"body\": {:?}, \"lang\": \"en\"}}\n", prose(1));
    folder.write("data.jsonl", line.repeat(300));
    let run = folder.run(&["ingest", "data.jsonl"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains(
            "error: data.jsonl: none of the first 100 records has the field `text`; they have body, doc_id, lang\n\
             hint: try --text-field body; --no-expand takes the file as one document\n"
        ),
        "{run:?}"
    );
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run:?}");
}

/// `pairs` reads no texts, so its error names the command that ignores quotations and phrases.
#[test]
fn pairs_says_what_takes_flags_for_text_that_does_not_count() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.ok(&["ingest", "-q", "a.txt"]);
    for flags in [&["--skip-quotes"][..], &["--ignore-phrases", "a.txt"], &["--top", "3", "--ignore-phrases=a.txt"]] {
        let run = folder.run(&[&["pairs"], flags].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
        for told in ["unexpected argument '--", "(query --document NAME asks with", "ingest --boilerplate marks"] {
            assert!(run.stderr.contains(told), "{run:?}");
        }
    }
    let help = folder.ok(&["pairs", "--help"]).stdout;
    assert!(!help.lines().any(|line| line.trim_start().starts_with("--skip-quotes")), "{help}");
    folder.ok(&["query", "--document", "a.txt", "--skip-quotes"]);
}

#[test]
fn restore_names_the_flag_that_chooses_a_backup() {
    let folder = Folder::new();
    for flags in [&["--backup", "1", "backups"][..], &["backups", "--backup=1"], &["backups", "--backup"]] {
        let run = folder.run(&[&["restore"], flags].concat());
        assert!(run.status == 2 && run.stderr.contains("a similar argument exists: '--number'"), "{run:?}");
    }
    assert!(!folder.ok(&["restore", "--help"]).stdout.contains("--backup"));
    // The scores of `query` and those of other commands have different flags.
    for (command, meant) in [("pairs", "'--min-resemblance', '--min-containment'"), ("dedup", "'--threshold'")] {
        for flags in [&["--min-score", "0.5"][..], &["--min-score=0.5"], &["--min-score"]] {
            let run = folder.run(&[&[command], flags].concat());
            assert!(run.status == 2 && run.stderr.contains(meant), "{run:?}");
        }
        assert!(!folder.ok(&[command, "--help"]).stdout.contains("--min-score"));
    }
}
