//! Each command in normal use. This file tests commands that only print, and the search for the database.

mod ingest;
mod interrupt;
mod oldest;
mod output;
mod own_flags;
mod query;
mod remembered;
mod rm;
mod show;
mod usage;

use std::path::Path;

use insta::assert_snapshot;

use crate::bad_input::{prose, told};
use crate::support::{Folder, Run};

/// Flags of every command.
const GLOBAL: [&str; 9] =
    ["--db", "--output", "--format", "--threads", "--quiet", "--verbose", "--color", "--no-progress", "--help"];

/// Flags of the commands that may make a database.
const PROFILE: [&str; 6] = ["--profile", "--unit", "-k ", "-w ", "--selection", "--words"];

/// A folder with the sample documents, and a database of the profile `prose` with the papers among them.
fn samples() -> Folder {
    let folder = Folder::new();
    for part in ["federalist", "planted"] {
        let from = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("data-samples").join(part);
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{part}/{}", path.file_name().unwrap().to_str().unwrap());
            folder.write(&name, std::fs::read(&path).unwrap());
        }
    }
    folder.ok(&["ingest", "--profile", "prose", "--quiet", "federalist"]);
    folder
}

/// The names of the stored documents, in order of arrival.
fn names(folder: &Folder, database: &str) -> Vec<String> {
    let list = folder.ok(&["list", "--db", database, "--format", "json"]).json();
    list.iter().map(|document| document["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn help_mentions_every_flag() {
    let folder = Folder::new();
    let own: [(&str, &[&str]); 20] = [
        ("init", &[]),
        (
            "ingest",
            &[
                "--files-from",
                "--name",
                "--memory",
                "--on-change",
                "--exclude",
                "--skip-hidden",
                "--follow",
                "--as",
                "--no-expand",
                "--boilerplate",
                "--metadata",
                "--text-field",
                "--id-field",
                "--keep-fields",
            ],
        ),
        (
            "query",
            &[
                "--document",
                "--id",
                "--mode",
                "--window",
                "-n ",
                "--top",
                "--min-score",
                "--max-df",
                "--by-corpus",
                "--no-passages",
                "--exit-status",
                "--text-field",
                "--id-field",
                "--keep-fields",
            ],
        ),
        ("diff", &["--exit-status", "--as"]),
        ("pairs", &["--min-shared", "--across", "--old", "--sort", "--passages", "--top", "--rewritten"]),
        ("dedup", &["--protect", "--write", "--thresholds"]),
        ("apply", &["REPORT", "--write", "--remove", "--link", "--move", "--mark", "--yes"]),
        ("rm", &["NAME", "--ignore-missing"]),
        ("mv", &["OLD", "NEW"]),
        ("compact", &[]),
        ("verify", &[]),
        ("backup", &["DIR"]),
        ("restore", &["DIR"]),
        ("list", &["PREFIX"]),
        ("show", &["NAME"]),
        ("stats", &["--hashes"]),
        (
            "serve",
            &["--listen", "--key-file", "--new-key", "--rights", "--config", "--print-config", "--host", "--max-body"],
        ),
        ("completions", &["SHELL"]),
        ("man", &["--dir"]),
        ("help", &["TOPIC"]),
    ];
    let overview = folder.ok(&["--help"]).stdout;
    for (command, flags) in own {
        let help = folder.ok(&[command, "--help"]).stdout;
        let page = folder.ok(&["man", command]).stdout.replace('\\', "");
        let profile = if matches!(command, "init" | "ingest" | "diff") { &PROFILE[..] } else { &[] };
        // All commands that read documents, or read stored ones again, have this flag: hints of errors name
        // the flag.
        let reads = matches!(command, "ingest" | "query" | "diff" | "pairs");
        let limits = if reads { &["--limit"][..] } else { &[] };
        for flag in GLOBAL.iter().chain(flags).chain(profile).chain(limits) {
            if *flag == "--format" && matches!(command, "serve" | "completions" | "man" | "help") {
                continue;
            }
            assert!(help.contains(flag), "`fpdb {command} --help` does not mention {flag}:\n{help}");
            assert!(page.contains(flag.trim()), "the manual page of {command} does not mention {flag}");
        }
        for section in ["NAME", "SYNOPSIS", "EXAMPLES", "ENVIRONMENT", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "the page of {command} has no {section}:\n{page}");
        }
        assert!(page.contains("Print nothing but results, warnings and errors"), "flags without their help:\n{page}");
        assert!(overview.contains(&format!("\n  {command}")), "{command} is not in the overview");
        assert!(help.contains("Usage: fpdb ") && help.contains("\nExamples:\n"), "{help}");
        assert_eq!(folder.ok(&["help", command]).stdout, help);
    }
    assert!(overview.contains("$FPDB_DB") && overview.contains("Exit status"));
    assert_eq!(folder.ok(&["help"]).stdout, overview);
    let limits = folder.ok(&["help", "limits"]).stdout;
    assert!(limits.contains("\n  document-size=16GiB\n") && limits.contains("\n  json-depth=64\n"), "{limits}");
    let unknown = folder.run(&["help", "nothing"]);
    assert!(unknown.status == 2 && unknown.stderr.contains("there is no help on nothing"), "{unknown:?}");
    for (limit, said) in
        [("members", "expected NAME=VALUE"), ("size=1", "`fpdb help limits` lists them"), ("nesting=x", "whole number")]
    {
        let run = folder.run(&["ingest", "a", "--limit", limit]);
        assert!(run.status == 2 && run.stderr.contains(said), "{run:?}");
    }
    assert_eq!(folder.ok(&["--version"]).stdout, format!("fpdb {}\n", env!("CARGO_PKG_VERSION")));
    let bare = folder.run(&[]);
    assert_eq!(bare.status, 2);
    assert!(bare.stderr.contains("Usage: fpdb "), "{bare:?}");
}

/// The completions that a shell offers for the last of these words.
fn completed(folder: &Folder, words: &[&str]) -> Vec<String> {
    let mut command = folder.command(&[&["--", "fpdb"], words].concat());
    let output = command
        .env("FPDB_COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let run = Run::of(&output.output().unwrap());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{words:?}");
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn completions_know_flags_formats_and_stored_names() {
    let folder = samples();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.ok(&["completions", shell]).stdout;
        assert!(script.contains("FPDB_COMPLETE"), "{shell}: {script}");
    }
    assert_eq!(folder.run(&["completions", "cmd"]).status, 2);
    assert_eq!(completed(&folder, &["in"]), ["ingest", "init"]);
    assert_eq!(completed(&folder, &["query", "--no-p"]), ["--no-passages", "--no-progress"]);
    assert_eq!(completed(&folder, &["list", "--format", ""]), ["human", "json", "csv"]);
    assert_eq!(completed(&folder, &["ingest", "--as", "ht"]), ["html"]);
    assert_eq!(completed(&folder, &["ingest", "--limit", "js"]), ["json-depth="]);
    assert_eq!(completed(&folder, &["ingest", "--on-change", ""]), ["replace", "keep", "both"]);
    assert_eq!(completed(&folder, &["help", "li"]), ["list", "limits"]);
    let papers = ["federalist/fed10.txt", "federalist/fed11.txt"];
    assert_eq!(completed(&folder, &["show", "federalist/fed1"]), papers);
    assert_eq!(completed(&folder, &["query", "--document", "federalist/fed1"]), papers);
    assert_eq!(completed(&folder, &["show", "--db", "nowhere", "federalist/fed1"]), [""; 0]);
    std::fs::rename(folder.path().join(".fpdb"), folder.path().join("moved")).unwrap();
    assert_eq!(completed(&folder, &["rm", "--db", "moved", "federalist/fed1"]), papers);
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let folder = Folder::new();
    for command in [&["man"][..], &["completions", "bash"]] {
        let run = folder.run(&[command, &["--format", "json"]].concat());
        assert!(run.status == 2 && run.stderr.contains("invalid value 'json' for '--format"), "{run:?}");
        let run = folder.run(&[&["--format", "json"], command].concat());
        assert!(run.status == 2 && run.stderr.contains("has no json format; it has human"), "{run:?}");
    }
    folder.ok(&["man", "--output", "fpdb.1"]);
    let page = std::fs::read_to_string(folder.path().join("fpdb.1")).unwrap();
    assert_eq!(folder.ok(&["man", "--dir", "pages"]).stderr, "wrote 23 pages into pages\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("pages/fpdb.1")).unwrap(), page);
    // Every page that another page names exists.
    let named: Vec<&str> = page.split("(1)").filter_map(|before| before.rsplit([' ', '\n']).next()).collect();
    for name in named.iter().filter(|name| name.starts_with("fpdb")) {
        let name = name.replace('\\', "");
        assert!(folder.path().join(format!("pages/{name}.1")).exists(), "{name}");
    }
    assert!(named.len() > 30, "in the list of commands, and under SEE ALSO");
}

#[test]
fn the_database_is_the_one_named_else_the_nearest_one() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.write("deep/er/b.txt", prose(2));
    let created = folder.ok(&["ingest", "a.txt"]);
    assert!(created.stderr.contains("created the database ./.fpdb: unit char, k 25, w 20"), "{created:?}");
    folder.ok(&["ingest", "--db", "other", "--profile", "words", "deep"]);

    // From a folder below, the nearest database above is used.
    let list = |folders: &str, environment: Option<&str>, arguments: &[&str]| {
        let mut command = folder.command(&[&["list"], arguments].concat());
        if let Some(path) = environment {
            command.env("FPDB_DB", folder.path().join(path));
        }
        let output = command.current_dir(folder.path().join(folders)).output().unwrap();
        Run::of(&output).stdout
    };
    assert!(list("deep/er", None, &[]).ends_with("  a.txt\n"));
    assert!(list("deep/er", Some("other"), &[]).ends_with("  deep/er/b.txt\n"));
    assert!(list("deep/er", Some("other"), &["--db", "../../.fpdb"]).ends_with("  a.txt\n"));
    assert!(list("deep/er", Some("nowhere"), &[]).is_empty(), "what is named is not looked for elsewhere");
    let nearer = Run::of(&folder.command(&["init"]).current_dir(folder.path().join("deep")).output().unwrap());
    assert_eq!(nearer.status, 0, "{nearer:?}");
    assert_eq!(list("deep/er", None, &[]), "");
    // `ingest` also writes to the database above, and creates no new one.
    let ingest = folder.command(&["ingest", "b.txt"]).current_dir(folder.path().join("deep/er")).output().unwrap();
    let ingest = Run::of(&ingest);
    assert_eq!(ingest.status, 0);
    assert!(list("deep", None, &[]).ends_with("  b.txt\n"));
    // The user may have meant another database, so commands that change it print its path.
    let above = |folders: &str, arguments: &[&str]| {
        let output = folder.command(arguments).current_dir(folder.path().join(folders)).output().unwrap();
        let told = Run::of(&output).stderr.matches("deep/.fpdb, above this folder (--db names another)").count();
        assert!(told < 2, "{arguments:?}");
        told == 1
    };
    assert!(ingest.stderr.contains("deep/.fpdb, above this folder (--db names another)"), "{ingest:?}");
    assert!(above("deep/er", &["compact"]) && above("deep/er", &["rm", "b.txt"]));
    assert!(above("deep/er", &["verify", "--repair"]) && above("deep/er", &["merge", "../../.fpdb"]));
    folder.write("report", "");
    for command in [
        &["dedup"][..],
        &["dedup", "--dry-run"],
        &["apply", "--check", "../../report"],
        &["apply", "--remove", "../../report"],
        &["rm", "--prefix", "b"],
        &["rm", "--prefix", "b", "--yes"],
        &["rm", "--report", "../../report"],
        &["mv", "b.txt", "c.txt"],
        &["merge", "--dry-run", "../../.fpdb"],
        &["ingest", "--dry-run", "b.txt"],
        &["backup", "../../copies"],
    ] {
        assert!(above("deep/er", command), "{command:?}");
    }
    // The path is printed also with --quiet.
    assert!(!above("deep", &["compact"]) && above("deep/er", &["compact", "-q"]));
    assert!(above("deep/er", &["ingest", "-q", "b.txt"]));
    assert!(!above("deep/er", &["compact", "--db", "../.fpdb"]) && !above("deep/er", &["query", "b.txt"]));
}

#[test]
fn init_pins_what_is_asked_for() {
    let folder = Folder::new();
    let run = folder.ok(&["init", "--db", "words", "--profile", "words", "-k", "5", "--words", "unicode"]);
    assert_snapshot!(told(&folder, &run), @"
    status 0
    --- stderr
    created the database words: unit word (unicode), k 5, w 1, selection robust
    ");
    for (number, (flags, profile)) in [
        (&[][..], "unit char, k 25, w 20, selection robust"),
        (&["--profile", "text"], "unit char, k 50, w 100, selection robust"),
        (&["--profile", "bytes", "-w", "7"], "unit byte, k 50, w 7, selection robust"),
        (&["--selection", "all"], "unit char, k 25, w 1, selection all"),
        (&["--selection", "safe-mod:8", "-k", "9", "-w", "10"], "unit char, k 9, w 10, selection safe-mod:8"),
    ]
    .into_iter()
    .enumerate()
    {
        let database = format!("deep/er/{number}");
        let run = folder.ok(&[&["init", "--db", &database], flags].concat());
        assert_eq!(run.stderr, format!("created the database {database}: {profile}\n"));
        let stats = folder.ok(&["stats", "--db", &database]).stdout;
        assert!(stats.contains(profile) && stats.contains("documents      0\n"), "{stats}");
    }
    assert_eq!(folder.ok(&["init", "--db", "quiet", "-q"]).stderr, "");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    folder.ok(&["init", "--db", "empty"]);
    let report = folder.ok(&["init", "--db", "json", "--format", "json"]).json();
    assert_eq!((&report[0]["schema"], &report[0]["documents"]), (&"fpdb.stats/1".into(), &0.into()));
}

#[test]
fn the_pages_of_what_is_stored_read_well() {
    let folder = samples();
    folder.ok(&["ingest", "-q", "planted/paper-10-copy.txt", "planted/paper-10-utf16.txt"]);
    assert_snapshot!(folder.ok(&["list", "federalist/fed1", "planted"]).stdout, @"
    17.5 KiB      1,383  federalist/fed10.txt
    14.7 KiB      1,123  federalist/fed11.txt
    17.5 KiB      1,383  planted/paper-10-copy.txt
    35.0 KiB      1,383  planted/paper-10-utf16.txt
    ");
    assert_snapshot!(told(&folder, &folder.ok(&["show", "planted/paper-10-copy.txt"])), @"
    status 0
    --- stdout
    planted/paper-10-copy.txt
      number        25
      read from     [folder]/planted/paper-10-copy.txt
      bytes         17,930
      format        text
      lines         292
      encoding      ASCII
      symbols       14,550
      fingerprints  1,383, 1,379 distinct
      digest        7b22f78f7998bbe597b6874441590153 (XXH3-128)
      identical to  federalist/fed10.txt
    ");
    let stats = folder.ok(&["stats", "--hashes"]);
    insta::with_settings!({filters => vec![
        (r"\d[\d.,]* (bytes|KiB|MiB)\b", "[size]"),
        (r" +\[size\]  ", " [size]  "),
        (r"\d[\d.]* bytes a fingerprint", "[size] a fingerprint"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[time]"),
        // The number of tables depends on the engine's merges so far.
        (r"( +\[size\]  in \d+ tables? of level \d\n)+", " [size]  in [number] tables of level [level]\n"),
    ]}, { assert_snapshot!(told(&folder, &stats), @"
    status 0
    --- stdout
    database       [folder]/.fpdb (format 1)
    profile        unit char, k 25, w 20, selection robust
    guarantee      every shared run of 44 characters is found
    documents      27
    bytes          [size]
    characters     323,864
    fingerprints   30,735
    distinct       27,564, 25,856 of them once (93.8%)
                       26,063  in 1 document
                          111  in 2 documents
                        1,385  in 3 documents
                            4  in 4-7 documents
                            1  in 8-15 documents
    stored         [size], [size] a fingerprint
     [size]  postings
     [size]  filters
     [size]  positions
     [size]  documents
     [size]  names
     [size]  digests
     [size]  default
     [size]  logs and manifest
    runs           2, all visited by each lookup; a cold query reads 1.0 blocks for each hash
    last commit    [time]
    ") });
    assert_eq!(folder.ok(&["list", "nothing-of-the-kind"]).stdout, "");
}

#[test]
fn lists_and_pages_are_the_same_in_csv_and_in_a_file() {
    let folder = samples();
    let json = folder.ok(&["list", "--format", "json"]).json();
    let csv = folder.ok(&["list", "--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), json.len());
    for (row, document) in rows.iter().zip(&json) {
        for (name, field) in header.iter().zip(row) {
            let value = &document[name];
            let text = match value {
                serde_json::Value::Null => String::new(),
                value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            };
            assert_eq!(text, field, "{name}");
        }
    }
    let shown = folder.ok(&["show", "federalist/fed10.txt", "--format", "csv", "-o", "show.csv"]);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("", ""));
    let file = std::fs::read_to_string(folder.path().join("show.csv")).unwrap();
    let row = csv.lines().find(|line| line.contains("fed10")).unwrap();
    assert_eq!(file, format!("{}\n{row}\n", csv.lines().next().unwrap()));
}

#[test]
fn a_file_of_results_is_replaced_when_all_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = samples();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    folder.write("old.json", "as it was");
    let query = folder.write("q.txt", read("federalist/fed10.txt"));
    let before = entries();
    for arguments in [&["query", "nowhere.txt"][..], &["show", "nowhere.txt"], &["list", "--db", "nowhere"]] {
        let run = folder.run(&[arguments, &["-o", "old.json"]].concat());
        assert_eq!((run.status, read("old.json").as_str(), entries()), (2, "as it was", before), "{run:?}");
    }
    // A file that the command reads is not overwritten.
    std::os::unix::fs::symlink(&query, folder.path().join("link")).unwrap();
    for arguments in [&["query", "q.txt", "-o", "q.txt"][..], &["query", "link", "-o", "./q.txt"]] {
        let run = folder.run(arguments);
        assert!(run.status == 2 && run.stderr.contains("-o would write over"), "{run:?}");
    }
    assert_eq!(folder.run(&["diff", "old.json", "q.txt", "-o", "link"]).status, 2);
    assert_eq!(read("q.txt"), read("federalist/fed10.txt"));
    // The new file has the permissions of the file it replaces, or of a new file.
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(folder.path().join("old.json"), PermissionsExt::from_mode(0o640)).unwrap();
    folder.ok(&["list", "-o", "old.json"]);
    folder.ok(&["list", "-o", "new.txt"]);
    assert_eq!((mode("old.json"), mode("new.txt")), (0o640, mode("q.txt")));
    assert_eq!(read("old.json"), folder.ok(&["list"]).stdout);
    // A path that is not a regular file is written to directly.
    assert_eq!(folder.ok(&["list", "-o", "/dev/stdout"]).stdout, read("old.json"));
    assert_eq!(folder.run(&["list", "-o", "federalist"]).status, 2);
    // An ingest does not ingest its own results.
    let ingest = ["ingest", "--db", "other", "--exclude", ".fpdb", "-o", "report.txt", "."];
    folder.ok(&ingest);
    let json = ["ingest", "--db", "third", "--format", "json", "-o", "pipe", "q.txt"];
    assert!(std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let pipe = folder.path().join("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    folder.ok(&json);
    assert!(reader.join().unwrap().starts_with("{\"schema\":\"fpdb.ingest/1\""));
    assert!(!folder.ok(&["list", "--db", "other"]).stdout.contains("fpdb-output"));
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let folder = samples();
    let plain = folder.ok(&["show", "federalist/fed10.txt"]).stdout;
    assert!(!plain.contains('\u{1b}'));
    let coloured = folder.ok(&["show", "federalist/fed10.txt", "--color", "always"]).stdout;
    assert!(coloured.contains("\u{1b}[1mfederalist/fed10.txt\u{1b}[0m"));
    assert_eq!(coloured.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""), plain, "legible without");
}

/// A window can be larger than any text and than 32 bits: nothing is guaranteed then, and repeated text is
/// still compared.
#[test]
fn the_largest_window_compares_texts_of_repeats() {
    let folder = Folder::new();
    folder.write("a", "ab".repeat(3000));
    folder.write("b", "ab".repeat(2500));
    for k in ["2", "10"] {
        let diff = |window: &str| {
            let run = folder.ok(&["diff", "a", "b", "-k", k, "-w", window, "--format", "json"]);
            run.json()[0]["matches"].clone()
        };
        assert_eq!(diff("4294967295"), diff("7000"), "k {k}");
    }
}
