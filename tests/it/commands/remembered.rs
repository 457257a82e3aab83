//! Flags that a database remembers: an ingest uses them again for the same path unless other flags are given.
//! The database shows these flags, and forgets them on request.

use serde_json::{Value, json};

use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, Run, zip};

pub(super) const DB: &str = ".fpdb";

/// The remembered options, by the last component of the path.
pub(super) fn remembered(folder: &Folder) -> Vec<(String, Value)> {
    let stats = folder.ok(&["stats", "--format", "json"]).json().remove(0);
    let sources = stats["sources"].as_array().cloned().unwrap_or_default();
    let name = |source: &Value| source["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    sources.iter().map(|source| (name(source), source["options"].clone())).collect()
}

pub(super) fn options(name: &str, options: Value) -> (String, Value) {
    (name.to_owned(), options)
}

fn tree() -> Folder {
    let folder = Folder::new();
    for (number, file) in ["a.txt", "b.log", "c.txt", ".d.txt", "e x.txt"].into_iter().enumerate() {
        folder.write(&format!("docs/{file}"), prose(number));
    }
    let line = |number: usize| json!({ "body": prose(number), "url": format!("u{number}") });
    folder.write("crawl.jsonl", format!("{}\n{}\n", line(10), line(11)));
    folder
}

#[test]
fn flags_are_used_again_until_others_are_given() {
    let folder = tree();
    let first = folder.ok(&[
        "ingest",
        "--profile",
        "prose",
        "--include",
        "*.txt",
        "--exclude",
        "e x.*",
        "--skip-hidden",
        "docs",
    ]);
    assert!(!first.stderr.contains("as before"), "{first:?}");
    folder.ok(&["ingest", "--text-field", "body", "--keep-fields", "url,more", "crawl.jsonl"]);
    let docs = options("docs", json!({"walk": {"exclude": ["e x.*"], "include": ["*.txt"], "skip_hidden": true}}));
    let crawl = options("crawl.jsonl", json!({"read": {"fields": {"text": "body", "keep": ["url", "more"]}}}));
    assert_eq!(remembered(&folder), [crawl.clone(), docs.clone()]);
    let shown = folder.ok(&["stats"]).stdout;
    assert!(shown.contains("ingested with  --text-field=body --keep-fields=url --keep-fields=more  /"), "{shown}");
    assert!(shown.contains("'--exclude=e x.*' '--include=*.txt' --skip-hidden  /"), "{shown}");

    // The path is the same in another spelling. Flags of another kind replace no remembered flags.
    folder.write("docs/new.txt", prose(20));
    folder.write("docs/new.log", prose(21));
    let again = folder.ok(&["ingest", "--on-change", "keep", "--no-progress", "./docs//"]);
    let told = "using the flags of the last ingest: '--exclude=e x.*' '--include=*.txt' --skip-hidden (flags you give replace all of them)\n";
    let left = "3 files and members were left out by the remembered '--exclude=e x.*' '--include=*.txt'\n";
    assert_eq!(again.stderr, format!("{told}{left}"));
    assert!(again.stdout.starts_with("1 document added, 2 unchanged\n"), "{again:?}");
    let again = folder.ok(&["ingest", "crawl.jsonl"]);
    assert!(again.stdout.starts_with("0 documents added, 2 unchanged\n"), "{again:?}");
    assert_eq!(remembered(&folder), [crawl.clone(), docs.clone()]);

    // Other flags replace the remembered flags. A path inside the folder is a different path.
    let others = folder.ok(&["ingest", "--exclude", "*.log", "docs"]).stderr;
    assert!(others.contains("docs: no longer used: '--exclude=e x.*' '--include=*.txt' --skip-hidden\n"), "{others}");
    assert_eq!(remembered(&folder), [crawl.clone(), options("docs", json!({"walk": {"exclude": ["*.log"]}}))]);
    assert!(!folder.ok(&["ingest", "docs/b.log"]).stderr.contains("as before"));
    assert!(names(&folder, DB).contains(&"docs/b.log".to_owned()));
    // The flags apply to --prune as well: documents that they exclude stay.
    std::fs::remove_file(folder.path().join("docs/b.log")).unwrap();
    std::fs::remove_file(folder.path().join("docs/a.txt")).unwrap();
    let report = folder.ok(&["ingest", "--prune", "--format", "json", "docs"]).json().remove(0);
    assert_eq!(report["pruned"], 1);

    // With a misspelled field nothing is read, and the remembered field stays.
    let wrong = folder.run(&["ingest", "--text-field", "bdy", "crawl.jsonl"]);
    assert!(
        wrong.status == 2
            && wrong
                .stderr
                .contains("crawl.jsonl: no document was read; still remembered: --text-field=body --keep-fields"),
        "{wrong:?}"
    );
    assert_eq!(remembered(&folder)[0], crawl);

    // Each of several paths is read with its own flags.
    folder.write("other.txt", prose(30));
    let all = folder.ok(&["ingest", "--no-progress", "other.txt", "docs", "crawl.jsonl"]);
    insta::assert_snapshot!(all.stderr, @"
    using the flags of the last ingest for docs: '--exclude=*.log' (flags you give replace all of them)
    using the flags of the last ingest for crawl.jsonl: --text-field=body --keep-fields=url --keep-fields=more (flags you give replace all of them)
    1 file or member was left out by the remembered '--exclude=*.log'
    ");
    assert!(all.stdout.starts_with("1 document added, "), "{all:?}");

    // A flag with the default value makes the database forget the flags.
    folder.ok(&["ingest", "--as", "auto", "docs"]);
    assert_eq!(remembered(&folder), std::slice::from_ref(&crawl));
    assert!(folder.ok(&["ingest", "other.txt", "docs"]).stderr.is_empty());
    // A backup has the flags, and a rebuilt database keeps them.
    folder.ok(&["backup", "-q", "copies"]);
    folder.ok(&["restore", "-q", "--db", "restored", "copies"]);
    let stats = folder.ok(&["stats", "--db", "restored", "--format", "json"]).json().remove(0);
    assert_eq!(stats["sources"].as_array().unwrap().len(), 1);
    assert_eq!(folder.ok(&["verify", "--format", "json"]).json()[0]["problems"], Value::Array(vec![]));
    folder.ok(&["compact", "-q"]);
    assert_eq!(remembered(&folder), std::slice::from_ref(&crawl));
    // A merge takes over flags of paths that have none.
    folder.ok(&[
        "ingest",
        "-q",
        "--db",
        "other",
        "--profile",
        "prose",
        "--text-field",
        "url",
        "--as",
        "text",
        "crawl.jsonl",
    ]);
    folder.ok(&["ingest", "-q", "--db", "other", "--skip-hidden", "docs"]);
    folder.ok(&["merge", "-q", "other"]);
    assert_eq!(remembered(&folder), [crawl, options("docs", json!({"walk": {"skip_hidden": true}}))]);
}

#[test]
fn nothing_is_remembered_of_what_is_not_there_or_was_not_typed() {
    let folder = tree();
    folder.write("list", "docs/a.txt\ndocs/b.log\n");
    folder.ok(&["ingest", "-q", "--profile", "prose", "--as", "text", "--files-from", "list"]);
    assert_eq!(folder.run(&["ingest", "-q", "--as", "text", "missing.txt"]).status, 2);
    assert_eq!(remembered(&folder), []);
    folder.ok(&["ingest", "-q", "--store-text", "--follow", "--no-expand", "docs/c.txt"]);
    let all = options("c.txt", json!({"read": {"closed": true}, "store_text": true, "walk": {"follow": true}}));
    assert_eq!(remembered(&folder), [all]);
    let again = folder.ok(&["ingest", "docs/c.txt"]);
    assert!(
        again.stderr.starts_with("using the flags of the last ingest: --no-expand --follow --store-text"),
        "{again:?}"
    );
}

/// A file is read in the same way, whether it is named or found in its folder.
#[test]
fn a_path_of_its_own_is_read_as_the_folder_around_it() {
    let folder = tree();
    let line = |number: usize| json!({ "body": prose(number), "url": format!("u{number}") }).to_string();
    folder.write("crawls/2026/a.jsonl", line(50));
    folder.ok(&["ingest", "-q", "--profile", "prose", "--text-field", "body", "--exclude", "b.*", "crawls"]);
    folder.write("crawls/2026/b.jsonl", line(51));
    let run = folder.ok(&["ingest", "crawls/2026"]);
    let told = "using the flags of the last ingest: --text-field=body '--exclude=b.*' (";
    assert!(run.stderr.starts_with(told), "{run:?}");
    assert_eq!(names(&folder, DB), ["crawls/2026/a.jsonl:1"]);
    // A path that is named is read in spite of the folder's globs, and nothing is remembered for it.
    let run = folder.ok(&["ingest", "crawls/2026/b.jsonl"]);
    let (note, flags) = run.stderr.split_once('\n').unwrap();
    assert_eq!(note, "crawls/2026/b.jsonl is named, so these flags do not hold here: '--exclude=b.*'");
    assert!(flags.starts_with("using the flags of the last ingest: --text-field=body ("), "{run:?}");
    assert_eq!(names(&folder, DB), ["crawls/2026/a.jsonl:1", "crawls/2026/b.jsonl:1"]);
    let flags = json!({"read": {"fields": {"text": "body"}}, "walk": {"exclude": ["b.*"]}});
    assert_eq!(remembered(&folder), [options("crawls", flags)]);
    // The flags remembered for the path itself take precedence.
    folder.ok(&["ingest", "-q", "--text-field", "url", "--as", "text", "crawls/2026"]);
    let run = folder.ok(&["ingest", "crawls/2026/b.jsonl"]);
    assert!(run.stderr.starts_with("using the flags of the last ingest: --as=text --text-field=url ("), "{run:?}");
}

/// A host can make the library remember options. The library refuses options of a later version. The program
/// uses the remembered ones.
#[test]
fn options_that_a_host_remembers_are_used_by_the_program() {
    use fpdb::{Database, IngestOptions, ReadOptions, RecordFields, WalkOptions};

    let folder = tree();
    folder.ok(&["init", "-q", "--profile", "prose"]);
    let (docs, crawl) = (folder.path().join("docs"), folder.path().join("crawl.jsonl"));
    let writer = Database::open_writer(folder.path().join(DB)).unwrap();
    let walk = WalkOptions::default().include(vec!["a.*".into()]);
    writer.remember(&[&docs], &IngestOptions::default().walk(walk).prune(true)).unwrap();
    let fields = RecordFields::default().text("body".into());
    let read = ReadOptions::default().fields(fields);
    writer.remember(&[&crawl], &IngestOptions::default().read(read)).unwrap();
    drop(writer);
    let run = folder.ok(&["ingest", "--no-progress", "docs"]);
    assert!(run.stderr.starts_with("using the flags of the last ingest: '--include=a.*' ("), "{run:?}");
    assert!(run.stdout.starts_with("1 document added\n"), "{run:?}");
    assert!(folder.ok(&["ingest", "crawl.jsonl"]).stdout.starts_with("2 documents added\n"));
    // Other flags of the run apply together with the remembered ones.
    folder.write("docs/a.txt", prose(40));
    let run = folder.ok(&["ingest", "--on-change", "keep", "--limit", "nesting=5", "docs"]);
    assert!(run.stdout.contains("1 changed but kept as stored"), "{run:?}");

    let writer = Database::open_writer(folder.path().join(DB)).unwrap();
    writer.remember(&[&docs, &crawl], &IngestOptions::default()).unwrap();
    assert!(writer.remembered(&docs).unwrap().is_empty());
    drop(writer);
    assert_eq!(remembered(&folder), []);
}

/// A removed and excluded record is not added again if its file, or a folder between, is ingested.
#[test]
fn what_is_excluded_stays_so_for_paths_below() {
    let folder = Folder::new();
    let mail = |number: usize| {
        format!(
            "From a@example.org Sat Jan  3 01:05:34 1996\nFrom: a@example.org\nSubject: {number}\n\n{}\n",
            prose(number)
        )
    };
    folder.write("mails/2026/box.mbox", (1..=3).map(mail).collect::<String>());
    folder.write("mails/2026/note.txt", prose(9));
    folder.ok(&["ingest", "-q", "mails"]);
    let run = folder.ok(&["rm", "mails/2026/box.mbox#2"]);
    let told = "/mails/2026/box.mbox#2' PATH` leaves it out, now and later; the numbers hold only while no \
                earlier record enters or leaves the file";
    assert!(run.stderr.contains(told), "{run:?}");
    let run = folder.ok(&["rm", "mails/2026/note.txt"]);
    assert!(run.stderr.contains("note.txt PATH` leaves it out, now and later\n"), "{run:?}");
    let globs = ["mails/2026/box.mbox#2", "mails/2026/note.txt"];
    folder.ok(&["ingest", "-q", "--exclude", globs[0], "--exclude", globs[1], "mails"]);
    for path in ["mails", "mails/2026", "mails/2026/box.mbox"] {
        folder.ok(&["ingest", path]);
        assert_eq!(names(&folder, DB), ["mails/2026/box.mbox#1", "mails/2026/box.mbox#3"], "{path}");
    }
    // A path that is named is ingested, also together with others.
    folder.ok(&["ingest", "mails/2026/note.txt", "mails/2026/box.mbox"]);
    assert_eq!(names(&folder, DB), ["mails/2026/box.mbox#1", "mails/2026/box.mbox#3", "mails/2026/note.txt"]);
}

/// Globs mean the same from every folder, and follow moved files.
#[test]
fn what_is_excluded_stays_so_in_whatever_folder_an_ingest_is_typed() {
    let folder = Folder::new();
    for name in ["leak/mails/private.txt", "leak/mails/a.txt", "leak/notes.txt", "other/mails/private.txt"] {
        folder.write(name, prose(name.len()));
    }
    let box_of = |number: usize| format!("From a@b.c Sat Jan  3 01:05:34 1996\nSubject: x\n\n{}\n", prose(number));
    folder.write("leak/box.mbox", format!("{}\n{}", box_of(1), box_of(2)));
    folder.write("leak/c.zip", zip([("x.txt", prose(3).as_bytes()), ("y.txt", prose(4).as_bytes())]));
    let globs = ["leak/mails/priv*", "./leak/box.mbox#1", "leak/c.zip!x.txt", "/leak/notes.txt"];
    let mut ingest = vec!["ingest", "-q", "leak"];
    ingest.extend(globs.iter().flat_map(|glob| ["--exclude", glob]));
    folder.ok(&ingest);
    let stored = ["leak/box.mbox#2", "leak/c.zip!y.txt", "leak/mails/a.txt"];
    assert_eq!(names(&folder, DB), stored);
    let root = folder.path().canonicalize().unwrap();
    let db = root.join(DB);
    let ingest_at = |at: &str, path: &str| {
        let mut run = folder.command(&["ingest", "--db", db.to_str().unwrap(), path]);
        let run = Run::to_its_end(run.current_dir(root.join(at)));
        assert_eq!(run.status, 0, "{at} {path}: {run:?}");
        run
    };
    let leak = root.join("leak");
    for (at, path) in [("/", leak.to_str().unwrap()), ("leak", "."), ("other", "../leak"), ("leak/mails", "..")] {
        ingest_at(at, path);
        assert_eq!(names(&folder, DB), stored, "{at} {path}");
    }
    // The flags in the note have the same meaning in every folder.
    let told = ingest_at("leak", ".").stderr;
    assert!(told.contains(&format!("'--exclude=/{}/leak/mails/priv*'", root.display())), "{told}");
    std::fs::rename(&leak, root.join("moved")).unwrap();
    folder.ok(&["mv", "leak", "moved"]);
    ingest_at("other", "../moved");
    assert_eq!(names(&folder, DB), stored.map(|name| name.replace("leak", "moved")));
}

/// Runs the program in a folder below that of the test. It must succeed.
fn ok_in(folder: &Folder, below: &str, arguments: &[&str]) -> Run {
    let run = Run::to_its_end(folder.command(arguments).current_dir(folder.path().join(below)));
    assert_eq!(run.status, 0, "{below}: {run:?}");
    run
}

/// A glob can be an absolute path of a part of a file, or of a file that does not exist yet. It can also be a
/// relative path that leaves the current folder.
#[test]
fn what_is_excluded_by_an_absolute_path_or_one_of_the_folder_above_stays_so() {
    let folder = Folder::new();
    let mail = |number: usize| format!("From a@b.c Sat Jan  3 01:05:34 1996\nSubject: x\n\n{}\n\n", prose(number));
    folder.write("data/box.mbox", (1..=2).map(mail).collect::<String>());
    folder.write("data/a.txt", prose(3));
    folder.write("data/x.tmp", prose(4));
    folder.write("work/sub/here", "");
    let root = folder.path().canonicalize().unwrap();
    let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
    let (db, data) = (at(DB), at("data"));
    let globs = [at("data/box.mbox#1"), at("data/later.txt"), "../data/*.tmp".to_owned()];
    let mut ingest = vec!["ingest", "-q", "--db", &db, "../data"];
    ingest.extend(globs.iter().flat_map(|glob| ["--exclude", glob]));
    ok_in(&folder, "work", &ingest);
    let stored = ["../data/a.txt", "../data/box.mbox#2"];
    assert_eq!(names(&folder, DB), stored);
    folder.write("data/later.txt", prose(5));
    for (below, path) in [("work", "../data"), ("work", &*data), ("work/sub", "../../data"), ("data", ".")] {
        ok_in(&folder, below, &["ingest", "--db", &db, path]);
        assert_eq!(names(&folder, DB), stored, "{below} {path}");
    }
}

/// The advice of `rm` about a record works if the text of the record is in another field.
#[test]
fn a_record_with_a_text_field_stays_out_by_the_advice() {
    let folder = tree();
    let ingest = ["ingest", "-q", "--db", DB, "--text-field", "body", "crawl.jsonl"];
    folder.ok(&ingest);
    let told = folder.ok(&["rm", "--db", DB, "crawl.jsonl:2"]).stderr;
    assert!(told.contains("; the numbers hold only while no earlier record"), "{told}");
    let glob = told.split(['\'', ' ']).find_map(|word| word.strip_prefix("--exclude=")).unwrap();
    folder.ok(&[&ingest[..], &["--exclude", glob]].concat());
    assert_eq!(names(&folder, DB), ["crawl.jsonl:1"]);
}

/// The advice of `rm` concerns one document, not documents with the same name in other folders.
#[test]
fn what_is_excluded_by_a_bare_name_stays_in_other_folders() {
    let folder = Folder::new();
    let mailbox = |number: usize| format!("From a@example.org\nFrom: a@example.org\n\n{}\n", prose(number));
    for (name, text) in
        [("a.txt", prose(1)), ("sub/a.txt", prose(2)), ("box.mbox", mailbox(3)), ("sub/box.mbox", mailbox(4))]
    {
        folder.write(name, text);
    }
    folder.ok(&["ingest", "-q", "--db", DB, "a.txt", "sub", "box.mbox"]);
    let mut globs = Vec::new();
    for name in ["a.txt", "box.mbox#1"] {
        let told = folder.ok(&["rm", "--db", DB, name]).stderr;
        let glob = told.split(['\'', ' ']).find_map(|word| word.strip_prefix("--exclude=")).unwrap().to_owned();
        globs.extend(["--exclude".to_owned(), glob]);
    }
    let mut ingest = vec!["ingest", "-q", "--db", "new.db", "a.txt", "sub", "box.mbox"];
    ingest.extend(globs.iter().map(String::as_str));
    folder.ok(&ingest);
    assert_eq!(names(&folder, "new.db"), ["sub/a.txt", "sub/box.mbox#1"]);
}

pub(super) fn sorted(folder: &Folder, database: &str) -> Vec<String> {
    let mut names = names(folder, database);
    names.sort();
    names
}

/// Flags that are typed for a folder hold from then on for all paths in it that the run has read.
#[test]
fn typed_flags_of_a_folder_replace_those_of_paths_in_it() {
    let folder = Folder::new();
    for (number, path) in ["arch/one", "arch/one/two", "arch/left", "arch/.hidden", "other"].into_iter().enumerate() {
        folder.write(&format!("{path}/a.txt"), prose(number));
        folder.ok(&["ingest", "-q", "--profile", "prose", "--store-text", path]);
    }
    assert!(folder.ok(&["ingest", "arch"]).stderr.contains("for arch/.hidden and 2 more paths: --store-text ("));
    let typed = ["ingest", "--include", "*.txt", "--exclude", "arch/left", "--skip-hidden", "arch"];
    // A dry run changes no flags, and neither does a run that reads nothing.
    folder.ok(&[&typed[..], &["--dry-run"]].concat());
    folder.run(&["ingest", "-q", "--include", "*.none", "arch"]);
    assert_eq!(remembered(&folder).iter().filter(|(_, options)| *options == json!({"store_text": true})).count(), 5);
    let told = folder.ok(&typed).stderr;
    assert!(told.contains("/arch/one: no longer used: --store-text\n"), "{told}");
    let mut left: Vec<String> = remembered(&folder).into_iter().map(|(name, _)| name).collect();
    left.sort();
    assert_eq!(left, [".hidden", "arch", "left", "other"]);
    let told = folder.ok(&["ingest", "arch"]).stderr;
    assert!(told.starts_with("using the flags of the last ingest: --exclude="), "{told}");
    let told = folder.ok(&["ingest", "arch/one/two"]).stderr;
    assert!(told.starts_with("using the flags of the last ingest: --exclude="), "{told}");
    // Typed defaults have the same effect.
    folder.ok(&["ingest", "-q", "--as", "auto", "arch"]);
    assert_eq!(remembered(&folder), [options("other", json!({"store_text": true}))]);
    folder.ok(&["ingest", "-q", "arch"]);
}

/// The note counts each path in a folder that has other flags, if the run reads the path.
#[test]
fn all_paths_below_with_other_flags_are_told() {
    let folder = Folder::new();
    let record = |number: usize| format!("{}\n", json!({ "body": prose(number) }));
    let inside = ["arch/one", "arch/p", "arch/q", "arch/r", "arch/s"];
    for (number, path) in inside.iter().chain(&["arch/.hidden", "elsewhere"]).enumerate() {
        folder.write(&format!("{path}/r.jsonl"), record(number));
        folder.write(&format!("{path}/t.txt"), prose(20 + number));
    }
    folder.write("arch/a.txt", prose(10));
    std::os::unix::fs::symlink("../elsewhere", folder.path().join("arch/link")).unwrap();
    for path in inside.iter().chain(&["arch/.hidden", "arch/link"]) {
        folder.ok(&["ingest", "-q", path, "--text-field", "body"]);
    }
    // The run reads six of the seven paths, all but the link.
    let run = folder.ok(&["ingest", "arch"]);
    let told = "using the flags of the last ingest for arch/.hidden and 5 more paths: --text-field=body (";
    assert!(run.stderr.contains(told) && run.stdout.starts_with("1 document added, 12 unchanged"), "{run:?}");
    // Typed flags replace those of the folders, with a note.
    let told = folder.run(&["ingest", "--dry-run", "--skip-hidden", "arch", "--exclude", "arch/one"]).stderr;
    for (path, is_told) in [("arch/one", false), ("arch/.hidden", false), ("arch/link", false), ("arch/p", true)] {
        assert_eq!(told.contains(&format!("/{path}: no longer used: --text-field=body\n")), is_told, "{told}");
    }
    assert!(told.contains("1 more path: other flags are no longer used\nhint: "), "{told}");
}

#[test]
fn documents_of_a_moved_folder_with_flags_stay_until_they_are_renamed() {
    let folder = Folder::new();
    folder.write("arch/a.txt", prose(1));
    folder.write("arch/sub/r.jsonl", format!("{}\n", json!({ "body": prose(2) })));
    folder.age("arch/sub/r.jsonl");
    folder.ok(&["ingest", "-q", "arch/sub", "--text-field", "body"]);
    folder.ok(&["ingest", "-q", "arch/a.txt"]);
    std::fs::rename(folder.path().join("arch/sub"), folder.path().join("gone")).unwrap();
    let run = folder.run(&["ingest", "--prune", "arch"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("/arch/sub is gone, or its disk is not mounted: "), "{run:?}");
    assert_eq!(sorted(&folder, DB), ["arch/a.txt", "arch/sub/r.jsonl:1"]);
    std::fs::rename(folder.path().join("gone"), folder.path().join("arch/sub2")).unwrap();
    folder.ok(&["mv", "arch/sub", "arch/sub2"]);
    folder.ok(&["ingest", "-q", "--prune", "arch/sub2"]);
    assert_eq!(sorted(&folder, DB), ["arch/a.txt", "arch/sub2/r.jsonl:1"]);
    // A deleted folder.
    std::fs::remove_dir_all(folder.path().join("arch/sub2")).unwrap();
    assert_eq!(folder.run(&["ingest", "-q", "--prune", "arch"]).status, 2);
    folder.ok(&["rm", "--prefix", "arch/sub2/", "--yes"]);
    folder.ok(&["ingest", "-q", "--prune", "arch"]);
    assert_eq!(sorted(&folder, DB), ["arch/a.txt"]);
}

/// The warning comes once, also with `-q`, whether the new name, a folder around it or one in it is ingested,
/// and whether the documents are files or members. After the command in the warning, the files that the
/// folder's flags exclude stay out.
#[test]
fn a_folder_that_may_have_been_renamed_is_named_before_it_is_read() {
    for typed in ["arch/new", "arch", "arch/new/sub"] {
        let folder = Folder::new();
        folder.write("arch/z.txt", prose(1));
        folder.write("arch/old/a.txt", prose(2));
        folder.write("arch/old/sub/b.txt", prose(3));
        folder.write("arch/old/sub/r.jsonl", (0..300).map(|_| "{\"text\": \"\"}\n").collect::<String>());
        folder.write("arch/old/sub/x.log", prose(5));
        folder.write("arch/old/sub/secret/c.txt", prose(6));
        folder.ok(&["ingest", "-q", "arch/old", "--exclude", "*.log", "--exclude", "arch/old/sub/secret"]);
        folder.ok(&["ingest", "-q", "arch/z.txt"]);
        std::fs::rename(folder.path().join("arch/old"), folder.path().join("arch/new")).unwrap();
        let run = folder.ok(&["ingest", "-q", "--dry-run", typed]);
        assert!(run.stderr.starts_with("warning: /") && run.stderr.contains("/arch/new holds files of /"), "{run:?}");
        let next =
            ": if it is the same folder, stop, and `fpdb mv arch/old arch/new` takes documents and flags along\n";
        let why = "/arch/old, which is gone and was ingested with '--exclude=*.log' --exclude=";
        assert!(run.stderr.contains(why) && run.stderr.contains(next), "{run:?}");
        let run = folder.ok(&["ingest", "-q", "--dry-run", "--exclude", "*.log", typed]);
        assert!(!run.stderr.contains("holds files of"), "{run:?}");
        if typed == "arch/new" {
            folder.ok(&["ingest", "-q", typed]);
            let run = folder.ok(&["ingest", "-q", typed]);
            assert!(!run.stderr.contains("holds files of"), "{run:?}");
            continue;
        }
        folder.ok(&["mv", "arch/old", "arch/new"]);
        let run = folder.ok(&["ingest", "-q", "--prune", "arch"]);
        assert!(!run.stderr.contains("holds files of"), "{run:?}");
        let names = sorted(&folder, DB);
        assert!(!names.iter().any(|name| name.contains("x.log") || name.contains("secret")), "{names:?}");
        assert_eq!(names.len(), 303, "{names:?}");
    }
}

/// The first renamed folders are named, and the others counted.
#[test]
fn the_first_of_many_renamed_folders_are_named() {
    let folder = Folder::new();
    for number in 0..5 {
        folder.write(&format!("arch/old{number}/{number}.txt"), prose(number));
        folder.ok(&["ingest", "-q", &format!("arch/old{number}"), "--exclude", "*.log"]);
    }
    std::fs::rename(folder.path().join("arch"), folder.path().join("new")).unwrap();
    let run = folder.ok(&["ingest", "-q", "new"]);
    assert_eq!(run.stderr.matches("takes documents and flags along\n").count(), 3, "{run:?}");
    assert!(run.stderr.contains("`fpdb mv arch/old0 new/old0`"), "{run:?}");
    assert!(run.stderr.contains("are also in 2 more folders\n"), "{run:?}");
}

/// Another folder that has one of the files, was ingested before or is left out is not taken for one that is
/// gone.
#[test]
fn a_folder_with_few_of_the_files_was_not_renamed() {
    let folder = Folder::new();
    for (number, name) in ["a.txt", "b.txt", "c.txt"].into_iter().enumerate() {
        folder.write(&format!("arch/old/{name}"), prose(number));
        folder.write(&format!("arch/known/{name}"), prose(number));
    }
    folder.write("arch/other/a.txt", prose(0));
    folder.write("arch/other/x.log", prose(5));
    folder.ok(&["ingest", "-q", "arch/old", "--exclude", "*.log"]);
    folder.ok(&["ingest", "-q", "arch/known"]);
    std::fs::remove_dir_all(folder.path().join("arch/old")).unwrap();
    let run = folder.ok(&["ingest", "arch"]);
    assert!(!run.stderr.contains("warning"), "{run:?}");
    std::fs::rename(folder.path().join("arch/known"), folder.path().join("arch/left")).unwrap();
    let run = folder.ok(&["ingest", "arch/other", "arch/left", "--dry-run"]);
    assert!(run.stderr.contains("warning: ") && run.stderr.contains("/arch/left holds files of "), "{run:?}");
    folder.ok(&["ingest", "-q", "arch", "--exclude", "left"]);
    let run = folder.ok(&["ingest", "arch"]);
    assert!(!run.stderr.contains("warning"), "{run:?}");
    assert!(sorted(&folder, DB).contains(&"arch/other/x.log".to_owned()));
}

#[test]
fn flags_hold_for_a_database_that_is_moved_with_its_files() {
    let folder = Folder::new();
    folder.write("old/arch/r.jsonl", format!("{}\n", json!({ "body": prose(2) })));
    folder.write("old/arch/secret/x.txt", prose(3));
    // A folder whose name begins alike is another one.
    folder.write("old/arch2/z.txt", prose(7));
    ok_in(&folder, "old", &["ingest", "-q", "arch2"]);
    ok_in(&folder, "old", &["ingest", "-q", "arch", "--text-field", "body", "--exclude", "arch/secret"]);
    std::fs::rename(folder.path().join("old"), folder.path().join("new")).unwrap();
    folder.write("new/arch/more.jsonl", format!("{}\n", json!({ "body": prose(5) })));
    for _ in 0..2 {
        let told = ok_in(&folder, "new", &["ingest", "--prune", "arch"]);
        assert!(told.stderr.contains("--text-field=body"), "{told:?}");
        assert_eq!(sorted(&folder, "new/.fpdb"), ["arch/more.jsonl:1", "arch/r.jsonl:1", "arch2/z.txt"]);
    }
}

/// A named path is ingested in spite of a glob of the folder around it. The glob applies again to later runs.
#[test]
fn a_glob_stays_if_a_database_is_moved_and_an_excluded_path_is_named_first() {
    let folder = Folder::new();
    folder.write("old/arch/r.jsonl", format!("{}\n", json!({ "body": prose(1) })));
    for (number, name) in ["s1", "s2"].into_iter().enumerate() {
        folder.write(&format!("old/arch/{name}/r.jsonl"), format!("{}\n", json!({ "body": prose(2 + number) })));
    }
    ok_in(&folder, "old", &["ingest", "-q", "arch", "--text-field", "body", "--exclude", "arch/s*"]);
    let old = folder.path().join("old");
    std::fs::rename(&old, folder.path().join("new")).unwrap();
    // A path that cannot be examined may still exist.
    std::os::unix::fs::symlink("old", &old).unwrap();
    let told =
        Run::to_its_end(folder.command(&["ingest", "--dry-run", "arch"]).current_dir(folder.path().join("new"))).stderr;
    assert!(!told.contains("using the flags"), "{told}");
    std::fs::remove_file(&old).unwrap();
    let told = ok_in(&folder, "new", &["ingest", "arch/s1", "arch/s1/r.jsonl"]).stderr;
    assert!(told.contains("arch/s1 is named, so these flags do not hold here: "), "{told}");
    assert_eq!(told.matches("arch has moved together with the database").count(), 1, "{told}");
    ok_in(&folder, "new", &["ingest", "-q", "arch"]);
    assert_eq!(sorted(&folder, "new/.fpdb"), ["arch/r.jsonl:1", "arch/s1/r.jsonl:1"]);
}
