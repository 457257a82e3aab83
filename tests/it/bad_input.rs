//! Errors: the exit status, the message that names the faulty thing, and the hint with the next step.
//!
//! This file tests arguments and whole databases. The modules test unreadable documents and damaged stores.

mod damage;
mod documents;
mod files;
mod other_store;
mod promised;
mod system;

use std::process::Stdio;

use insta::assert_snapshot;

use crate::support::{Folder, Run};

/// Some 1,000 characters of English that differ from one number to the next.
pub(crate) fn prose(number: usize) -> String {
    const WORDS: [&str; 16] = [
        "river", "stone", "the", "of", "winter", "garden", "and", "under", "bright", "every", "letter", "morning",
        "without", "harbour", "answer", "slowly",
    ];
    let mut text = String::new();
    for word in 0..180 {
        // SplitMix64, with a different state for each word of each text.
        let mut value = (number * 1000 + word) as u64;
        value = value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        text.push_str(WORDS[(value >> 60) as usize]);
        text.push(if word % 12 == 11 { '\n' } else { ' ' });
    }
    text
}

/// The exit status and both outputs, without the parts that depend on the machine: the folder and the time
/// taken.
pub(crate) fn told(folder: &Folder, run: &Run) -> String {
    assert!(!run.stderr.contains("panicked"), "{run:#?}");
    let canonical = folder.path().canonicalize().unwrap();
    let mut text = format!("status {}\n", run.status);
    for (name, output) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let mut output = output.clone();
        for path in [canonical.as_path(), folder.path()] {
            output = output.replace(path.to_str().unwrap(), "[folder]");
        }
        if !output.is_empty() {
            text.push_str(&format!("--- {name}\n{output}"));
        }
    }
    text
}

/// Runs the program, and returns the result in the form of [`told`].
fn tell(folder: &Folder, arguments: &[&str]) -> String {
    told(folder, &folder.run(arguments))
}

/// A folder with the documents `a.txt` and `b.txt`, both in the database `.fpdb` of the profile `prose`.
pub(crate) fn folder_with_database() -> Folder {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.write("b.txt", prose(2));
    folder.ok(&["ingest", "--profile", "prose", "a.txt", "b.txt"]);
    folder
}

#[test]
fn without_a_database_each_command_says_where_it_looked() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    assert_snapshot!(tell(&folder, &["query", "a.txt"]), @"
    status 2
    --- stderr
    error: there is no database at [folder]/.fpdb
    hint: make one with `fpdb init --db [folder]/.fpdb` or `fpdb ingest --db [folder]/.fpdb PATH`, or name another with --db or FPDB_DB
    ");
    for command in [
        &["list"][..],
        &["show", "a.txt"],
        &["stats"],
        &["query", "--document", "a.txt"],
        &["rm", "a.txt"],
        &["mv", "a.txt", "b.txt"],
        &["compact"],
        &["verify"],
        &["backup", "copy"],
        #[cfg(feature = "serve")]
        &["serve"],
    ] {
        let run = folder.run(command);
        assert_eq!(run.status, 2, "{command:?}");
        assert!(run.stderr.contains("there is no database at ") && run.stderr.contains(".fpdb"), "{}", run.stderr);
        assert!(run.stderr.contains("fpdb init --db"), "{}", run.stderr);
    }
    assert_snapshot!(tell(&folder, &["list", "--db", "elsewhere/db"]), @"
    status 2
    --- stderr
    error: there is no database at elsewhere/db
    hint: make one with `fpdb init --db elsewhere/db` or `fpdb ingest --db elsewhere/db PATH`, or name another with --db or FPDB_DB
    ");
    assert!(!folder.path().join(".fpdb").exists());
}

#[test]
fn a_folder_or_file_that_is_no_database_is_left_alone() {
    let folder = Folder::new();
    folder.write("docs/a.txt", prose(1));
    assert_snapshot!(tell(&folder, &["list", "--db", "docs"]), @"
    status 2
    --- stderr
    error: docs exists and is not an fpdb database
    hint: name the database's own folder, the one that holds the file FPDB; a new database needs a path where nothing is yet
    ");
    assert_snapshot!(tell(&folder, &["list", "--db", "docs/a.txt"]), @"
    status 2
    --- stderr
    error: docs/a.txt exists and is not an fpdb database
    hint: name the database's own folder, the one that holds the file FPDB; a new database needs a path where nothing is yet
    ");
    for command in [&["init", "--db"][..], &["ingest", "docs", "--db"]] {
        for place in ["docs", "docs/a.txt"] {
            let run = folder.run(&[command, &[place]].concat());
            assert_eq!(run.status, 2, "{command:?} {place}");
            assert!(run.stderr.contains(&format!("{place} exists and is not an fpdb database")), "{}", run.stderr);
        }
    }
    assert_eq!(std::fs::read_dir(folder.path().join("docs")).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(folder.path().join("docs/a.txt")).unwrap(), prose(1));
}

#[test]
fn init_does_not_touch_an_existing_database() {
    let folder = folder_with_database();
    let before = folder.ok(&["list", "--format", "json"]).stdout;
    assert_snapshot!(tell(&folder, &["init", "--profile", "words"]), @"
    status 2
    --- stderr
    error: there is already a database at ./.fpdb
    hint: choose another path with --db; `fpdb stats` shows the settings of this one
    ");
    assert_eq!(folder.ok(&["list", "--format", "json"]).stdout, before);
}

#[test]
fn another_profile_is_refused_and_both_are_named() {
    let folder = folder_with_database();
    assert_snapshot!(tell(&folder, &["ingest", "--profile", "words", "a.txt"]), @"
    status 2
    --- stderr
    error: the database was made with unit char, k 25, w 20, selection robust, and unit word, k 3, w 1, selection robust is asked for
    hint: leave the settings out to use the database's own, or make a second database with --db for the other ones
    ");
    for other in
        [&["-k", "26"][..], &["-w", "21"], &["--unit", "byte"], &["--selection", "plain"], &["--profile", "text"]]
    {
        let run = folder.run(&[&["ingest", "a.txt"], other].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{other:?}");
        assert!(run.stderr.contains("made with unit char, k 25, w 20, selection robust"), "{}", run.stderr);
    }
}

#[test]
fn settings_that_agree_in_part_are_no_mismatch() {
    let folder = folder_with_database();
    for same in
        [&["-k", "25"][..], &["-w", "20", "--unit", "char"], &["--selection", "robust"], &["--profile", "prose"]]
    {
        folder.ok(&[&["ingest", "a.txt"], same].concat());
    }
}

#[test]
fn one_writer_at_a_time_and_readers_beside_it() {
    let folder = folder_with_database();
    let lock = std::fs::OpenOptions::new().write(true).open(folder.path().join(".fpdb/lock")).unwrap();
    lock.try_lock().unwrap();
    std::fs::write(folder.path().join(".fpdb/lock"), "process 4711").unwrap();
    assert_snapshot!(tell(&folder, &["ingest", "a.txt"]), @"
    status 2
    --- stderr
    error: the database at [folder]/.fpdb is being written by process 4711
    hint: wait until it ends, or stop it with Ctrl-C: what it has committed stays; reading (query, list, show, stats) is possible meanwhile; a service (`fpdb serve`) writes as long as it runs
    ");
    for reader in [&["query", "a.txt"][..], &["list"], &["show", "a.txt"], &["stats", "--hashes"]] {
        folder.ok(reader);
    }
    drop(lock);
    folder.ok(&["ingest", "a.txt"]);
}

#[test]
fn a_window_below_the_databases_is_refused() {
    let folder = folder_with_database();
    assert_snapshot!(tell(&folder, &["query", "--window", "19", "a.txt"]), @"
    status 2
    --- stderr
    error: window 19 is smaller than the database's window 20: its fingerprints are not a subset of the stored ones
    hint: use --window 20 or more, or make a database with a smaller -w
    ");
    folder.ok(&["query", "--window", "20", "a.txt"]);
    assert_eq!(folder.run(&["query", "--window", "0", "a.txt"]).status, 2);
}

#[test]
fn impossible_profiles_are_refused() {
    let folder = Folder::new();
    assert_snapshot!(tell(&folder, &["init", "-k", "0"]), @"
    status 2
    --- stderr
    error: -k cannot be 0: expected a number of symbols, 1 or more
    ");
    assert_snapshot!(tell(&folder, &["init", "-w", "0"]), @"
    status 2
    --- stderr
    error: -w cannot be 0: expected a number of hashes, 1 or more
    ");
    assert_snapshot!(tell(&folder, &["init", "--selection", "mod:0"]), @"
    status 2
    --- stderr
    error: invalid value 'mod:0' for '--selection <RULE>': selection cannot be mod:0: expected robust, plain, all, mod:P or safe-mod:P with P of 1 or more

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["init", "--selection", "all", "-w", "5"]), @"
    status 2
    --- stderr
    error: -w cannot be 5: expected 1 with the selection `all`, which keeps every k-gram
    ");
    assert_snapshot!(tell(&folder, &["init", "--selection", "some"]), @"
    status 2
    --- stderr
    error: invalid value 'some' for '--selection <RULE>': selection cannot be some: expected robust, plain, all, mod:P or safe-mod:P with P of 1 or more

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["init", "--unit", "sentence"]), @"
    status 2
    --- stderr
    error: invalid value 'sentence' for '--unit <UNIT>': unit cannot be sentence: expected char, word, token or byte

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["init", "--profile", "poetry"]), @"
    status 2
    --- stderr
    error: invalid value 'poetry' for '--profile <NAME>'
      [possible values: prose, text, words, code, bytes]

      tip: a similar value exists: 'prose'

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["init", "--words", "unicode"]), @"
    status 2
    --- stderr
    error: --words cannot be unicode: expected to be left out unless the unit is word
    ");
    for wrong in
        [["-k", "-1"], ["-k", "4294967296"], ["-w", "many"], ["--selection", "safe-mod:0"], ["--selection", "mod:"]]
    {
        let run = folder.run(&[&["init"], &wrong[..]].concat());
        assert_eq!(run.status, 2, "{wrong:?}: {run:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let folder = folder_with_database();
    assert_snapshot!(tell(&folder, &["query", "-", "-"]), @"
    status 2
    --- stderr
    error: standard input can be read only once
    ");
    assert_snapshot!(tell(&folder, &["ingest", "-", "-"]), @"
    status 2
    --- stderr
    error: standard input can be read only once
    ");
    assert_snapshot!(tell(&folder, &["ingest", "--files-from", "-", "-"]), @"
    status 2
    --- stderr
    error: standard input can be read only once
    ");
    assert_snapshot!(tell(&folder, &["query", "a.txt", "--format", "html"]), @"
    status 2
    --- stderr
    error: --format html writes a folder: name it with -o DIR (with --single-file, -o FILE.html)
    ");
    assert_snapshot!(tell(&folder, &["list", "--format", "html", "-o", "page"]), @"
    status 2
    --- stderr
    error: invalid value 'html' for '--format <FORMAT>'
      [possible values: human, json, csv]

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["stats", "--format", "csv"]), @"
    status 2
    --- stderr
    error: invalid value 'csv' for '--format <FORMAT>'
      [possible values: human, json]

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["ingest", "a.txt", "--memory", "1000"]), @"
    status 2
    --- stderr
    error: --memory cannot be 1000 bytes: expected at least 1 MiB and at most 16 TiB
    ");
    assert_snapshot!(tell(&folder, &["ingest", "a.txt", "--memory", "lots"]), @"
    status 2
    --- stderr
    error: invalid value 'lots' for '--memory <SIZE>': expected a size such as 512M or 4GiB

    For more information, try '--help'.
    ");
    assert_snapshot!(tell(&folder, &["ingest", "a.txt", "--exclude", "a[b"]), @"
    status 2
    --- stderr
    error: --exclude cannot be a[b: expected a glob in the syntax of .gitignore
    ");
    assert_snapshot!(tell(&folder, &["query", "a.txt", "--min-score", "1.5"]), @"
    status 2
    --- stderr
    error: invalid value '1.5' for '--min-score <X>': expected a number from 0 to 1

    For more information, try '--help'.
    ");
    for wrong in
        [&["query", "a.txt", "--min-score", "NaN"][..], &["query", "a.txt", "-n", "0"], &["query"], &["ingest"]]
    {
        assert_eq!(folder.run(wrong).status, 2, "{wrong:?}");
    }
}

#[test]
fn a_stored_document_that_does_not_exist_is_named() {
    let folder = folder_with_database();
    assert_snapshot!(tell(&folder, &["query", "--no-passages", "--document", "c.txt", "a.txt"]), @"
    status 2
    --- stdout
    a.txt  1.1 KiB, 938 symbols, 79 fingerprints at window 20
      79 of 79 fingerprints found (100.0%), in 1 document
      containment  of document  resemblance  document
           100.0%       100.0%       100.0%  a.txt  (identical)
    --- stderr
    error: no stored document is named c.txt
    hint: the nearest name is a.txt
    ");
    assert_snapshot!(tell(&folder, &["show", "c.txt"]), @"
    status 2
    --- stderr
    error: no stored document is named c.txt
    hint: the nearest name is a.txt
    ");
    let both = folder.run(&["show", "c.txt", "b.txt", "--format", "json"]);
    assert_eq!((both.status, both.json().len()), (2, 1), "the other one is shown");
}

#[test]
fn an_output_that_cannot_be_made_is_named_before_anything_is_done() {
    let folder = folder_with_database();
    folder.write("c.txt", prose(3));
    assert_snapshot!(tell(&folder, &["ingest", "c.txt", "--output", "nowhere/out.json"]), @"
    status 2
    --- stderr
    error: cannot create nowhere/out.json: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    ");
    assert_eq!(folder.run(&["show", "c.txt"]).status, 2, "nothing was ingested");
    assert_eq!(folder.run(&["list", "-o", "nowhere/out.json"]).status, 2);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    for number in 0..300 {
        folder.write(&format!("docs/a-rather-long-name-so-as-to-fill-the-pipe-{number:04}.txt"), prose(number));
    }
    folder.ok(&["ingest", "--profile", "prose", "docs"]);
    for arguments in [&["list", "--format", "json"][..], &["list", "--format", "csv"], &["list"], &["man"], &["--help"]]
    {
        let mut command = folder.command(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::of(&child.wait_with_output().unwrap());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
    }
    // Messages go to standard error, which a pager may have closed too.
    let mut command = folder.command(&["ingest", "-v", "docs", "--db", "new"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    let run = Run::of(&child.wait_with_output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(folder.ok(&["list", "--db", "new"]).stdout.lines().count(), 300);
}
