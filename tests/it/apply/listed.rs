//! Listed: a list of names, or the answers to queries, in place of a dedup report.

use std::fs;

use serde_json::{Value, json};

use super::text;
use crate::support::Folder;

fn line(seed: u64) -> Value {
    json!({"id": format!("record {seed}"), "text": text(seed)})
}

fn lines(seeds: &[u64]) -> String {
    seeds.iter().map(|&seed| format!("{}\n", line(seed))).collect()
}

/// Training records in two files, and a benchmark with three of their texts and one other text.
fn start() -> Folder {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 3, 4, 2]));
    folder.write("in/b.jsonl", lines(&[5, 6, 7]));
    folder.write("in/c.jsonl", lines(&[8]));
    folder.write("benchmark.jsonl", lines(&[2, 20, 6, 4]));
    folder.ok(&["ingest", "-q", "--profile", "words", "--id-field", "id", "in"]);
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// Writes two lists of the records that the benchmark has too: the answers of a query, and names.
fn lists(folder: &Folder) -> [&'static str; 2] {
    let query = ["query", "--top", "0", "--min-score", "0.8", "--no-passages", "--format", "json", "-o", "hits.jsonl"];
    folder.ok(&[&query[..], &["-q", "benchmark.jsonl"]].concat());
    let named = ["in/a.jsonl:2", "in/a.jsonl:5", "in/b.jsonl:2", "in/a.jsonl:4", "in/a.jsonl:2"];
    let named = named.map(|name| format!("{}\n", json!({"document": name, "id": "any", "start": [1]})));
    folder.write("names.jsonl", named.concat());
    ["hits.jsonl", "names.jsonl"]
}

#[test]
fn a_copy_leaves_out_the_records_of_a_list() {
    let folder = start();
    for list in lists(&folder) {
        let run = folder.ok(&["apply", list, "--write", list.trim_end_matches(".jsonl"), "--yes"]);
        assert!(run.stdout.contains("4 of 4 listed documents left out; 3 files written"), "{run:#?}");
        let copy = |name: &str| read(&folder, &format!("{}/in/{name}", list.trim_end_matches(".jsonl")));
        assert_eq!([copy("a.jsonl"), copy("b.jsonl"), copy("c.jsonl")], [lines(&[1, 3]), lines(&[5, 7]), lines(&[8])]);
    }
}

#[test]
fn marks_tell_the_records_of_a_list() {
    let folder = start();
    for list in lists(&folder) {
        folder.ok(&["apply", list, "--write", "marked", "--mark", list, "--yes"]);
        let expected = [(5, "keep"), (6, "remove"), (7, "keep")].map(|(seed, mark)| {
            let mut line = line(seed);
            line[list] = mark.into();
            line[format!("{list}_survivor")] = Value::Null;
            line
        });
        let marked: Vec<Value> =
            read(&folder, "marked/in/b.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(marked, expected);
        fs::remove_dir_all(folder.path().join("marked")).unwrap();
    }
}

#[test]
fn rm_removes_the_documents_of_a_list() {
    let folder = start();
    lists(&folder);
    let names = || -> Vec<String> {
        folder.ok(&["list", "--format", "json"]).json().iter().map(|line| line["name"].to_string()).collect()
    };
    // `rm` takes the answers to queries as `apply` does.
    assert_eq!(folder.ok(&["rm", "--report", "hits.jsonl", "--format", "json"]).json()[0]["removed"], 4);
    let left = ["in/a.jsonl:1", "in/a.jsonl:3", "in/b.jsonl:1", "in/b.jsonl:3", "in/c.jsonl:1"];
    assert_eq!(names(), left.map(|name| format!("\"{name}\"")));
    let run = folder.ok(&["rm", "--report", "names.jsonl"]);
    let names = "in/a.jsonl:2, in/a.jsonl:5, in/b.jsonl:2, in/a.jsonl:4";
    let told = format!("4 documents of the list are not stored, or no longer: {names}\n");
    assert!(run.stderr.contains(&told), "{run:#?}");
}

/// The records of a test set are removed for good first, and then the duplicates. So one copy of a removed
/// survivor stays.
#[test]
fn what_a_list_names_can_be_kept_out() {
    let folder = start();
    let near = |seed| json!({"text": format!("{} and {}", text(2), text(seed))}).to_string() + "\n";
    folder.write("in/d.jsonl", near(30) + &near(30));
    lists(&folder);
    folder.ok(&["ingest", "-q", "in"]);
    let run = folder.ok(&["rm", "--report", "hits.jsonl", "--keep-out"]);
    assert!(run.stderr.contains("4 documents removed and kept out"), "{run:#?}");
    let again = folder.ok(&["ingest", "--format", "json", "in"]).json().remove(0);
    assert_eq!([&again["added"], &again["kept_out"]], [0, 4], "{again}");
    folder.ok(&["dedup", "--format", "json", "-o", "duplicates.jsonl"]);
    let run = folder.ok(&["apply", "duplicates.jsonl", "--write", "clean", "--yes"]);
    assert!(run.stdout.contains("1 of 1 removable document left out"), "{run:#?}");
    let copy = |name: &str| read(&folder, &format!("clean/in/{name}.jsonl"));
    assert_eq!([copy("a"), copy("b"), copy("c")], [lines(&[1, 3]), lines(&[5, 7]), lines(&[8])]);
    assert_eq!(copy("d"), near(30));
    // If another document has the content, the content can come back, and a note says so.
    folder.write("in/e.jsonl", lines(&[1]));
    folder.ok(&["ingest", "-q", "in"]);
    folder.write("one.jsonl", "{\"document\":\"in/a.jsonl:1\"}\n");
    let run = folder.ok(&["rm", "--report", "one.jsonl", "--keep-out"]);
    assert!(run.stderr.contains("the same bytes stay in in/e.jsonl:1"), "{run:#?}");
}

/// A line of `fpdb list` stands for the document that it describes, not for all documents with its name.
#[test]
fn what_list_prints_is_a_list() {
    let folder = start();
    let old = folder.ok(&["list", "--format", "json", "in/c.jsonl"]).stdout;
    folder.write("in/c.jsonl", lines(&[9]));
    folder.ok(&["ingest", "-q", "--id-field", "id", "--on-change", "both", "in"]);
    folder.ok(&["list", "--format", "json", "-o", "listed.jsonl", "in/b.jsonl"]);
    let run = folder.ok(&["apply", "listed.jsonl", "--write", "copy", "--yes"]);
    assert!(run.stdout.contains("3 of 3 listed documents left out"), "{run:#?}");
    assert_eq!(
        ["a", "c"].map(|name| read(&folder, &format!("copy/in/{name}.jsonl"))),
        [lines(&[1, 2, 3, 4, 2]), lines(&[9])]
    );
    folder.write("listed.jsonl", format!("{old}{}", read(&folder, "listed.jsonl")));
    assert_eq!(folder.ok(&["rm", "--report", "listed.jsonl", "--format", "json"]).json()[0]["removed"], 4);
    let left = folder.ok(&["list", "--format", "json"]).json();
    let named = |name: &str| left.iter().filter(|line| line["name"].as_str().unwrap().starts_with(name)).count();
    assert_eq!([named("in/a"), named("in/b"), named("in/c")], [5, 0, 1]);
    let run = folder.ok(&["rm", "--report", "listed.jsonl"]);
    assert!(run.stderr.contains("not stored, or no longer"), "{run:#?}");
    let run = folder.run(&["apply", "listed.jsonl", "--write", "late", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("hint: a copy keeps listed records"), "{run:#?}");
    // If a file is ingested again, its records are still the listed ones.
    folder.age("in/b.jsonl");
    folder.ok(&["ingest", "-q", "--id-field", "id", "in"]);
    assert_eq!(folder.ok(&["rm", "--report", "listed.jsonl", "--format", "json"]).json()[0]["removed"], 3);
}

/// A copy made by a list alone holds the duplicates that a dedup report leaves out. So a report may not
/// update this copy, and a list may not update a copy made by a report.
#[test]
fn a_list_and_a_report_share_no_copy() {
    let folder = start();
    lists(&folder);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    for (first, second) in [("report.jsonl", "hits.jsonl"), ("names.jsonl", "report.jsonl")] {
        folder.ok(&["apply", first, "--write", first.trim_end_matches(".jsonl"), "--yes"]);
        let copy = folder.path().join(first.trim_end_matches(".jsonl"));
        let before = super::files(&copy);
        for yes in [&[][..], &["--yes"]] {
            let run = folder.run(&[&["apply", second, "--write", first.trim_end_matches(".jsonl")], yes].concat());
            let hint = "to leave out both duplicates and listed documents, give the report and the list in one call";
            assert!(run.status == 2 && run.stderr.contains(hint), "{run:#?}");
            assert!(super::files(&copy) == before);
        }
    }
    // A later list has the same kind, so it updates the copy.
    folder.ok(&["apply", "hits.jsonl", "--write", "names", "--yes"]);
}

/// A copy of a listed survivor stays, unless it is listed too.
#[test]
fn one_copy_leaves_out_the_documents_of_a_report_and_of_lists() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines(&[1, 2, 3, 4]));
    folder.write("in/b.jsonl", lines(&[1, 2, 7, 3]));
    folder.write("in/c.txt", text(9));
    folder.ok(&["ingest", "-q", "--profile", "words", "--id-field", "id", "in"]);
    folder.ok(&["dedup", "--keep", "first", "--format", "json", "-o", "report.jsonl", "-q"]);
    // The lists have the survivor 2 without its copy, the survivor 3 with its copy, and a record without
    // duplicates.
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| {
                format!(
                    "{}
",
                    json!({"document": name})
                )
            })
            .collect::<String>()
    };
    folder.write("one.jsonl", list(&["in/a.jsonl:2", "in/a.jsonl:3"]));
    folder.write("two.jsonl", list(&["in/b.jsonl:4", "in/b.jsonl:3"]));
    let all = ["apply", "report.jsonl", "one.jsonl", "two.jsonl", "--write", "clean"];
    let run = folder.run(&[&all[..], &["--yes", "--format", "json"]].concat());
    let summary = run.json().pop().unwrap();
    // Of the 6 documents, the copy of 2 stays because 2 is left out.
    let sums = ["documents", "applied", "left", "unjustified", "missing"].map(|field| summary[field].as_u64().unwrap());
    assert_eq!((run.status, sums), (2, [6, 5, 1, 1, 0]), "{run:#?}");
    assert_eq!(read(&folder, "clean/in/a.jsonl"), lines(&[1, 4]));
    assert_eq!(read(&folder, "clean/in/b.jsonl"), lines(&[2]));
    assert_eq!(read(&folder, "clean/in/c.txt"), text(9));
    let again = folder.run(&[&all[..], &["--yes", "--format", "json"]].concat());
    assert_eq!(again.json().pop().unwrap()["done_before"], 3, "{again:#?}");
    // The report alone, or a list alone, cannot update the copy.
    for other in ["report.jsonl", "one.jsonl"] {
        let run = folder.run(&["apply", other, "--write", "clean", "--yes"]);
        assert!(run.status == 2 && run.stderr.contains("give the report and the list in one call"), "{run:#?}");
    }
    let check = ["apply", "--check", "report.jsonl", "one.jsonl", "two.jsonl", "--write", "clean", "--format", "json"];
    let check = || folder.run(&check);
    let sums = |summary: &Value| ["documents", "survived", "in_place", "lost"].map(|field| summary[field].clone());
    let run = check();
    assert_eq!((run.status, sums(&run.json()[0])), (0, [2, 1, 1, 0].map(Value::from)), "{run:#?}");
    folder.write("clean/in/b.jsonl", "");
    let run = check();
    assert_eq!((run.status, &run.json()[0]["reason"]), (2, &"a list leaves out its survivor".into()), "{run:#?}");
    assert_eq!(sums(&run.json()[1]), [2, 1, 0, 1].map(Value::from), "{run:#?}");
    let refused = |flags: &[&str], told: &str| {
        let run = folder.run(&[&["apply"], flags].concat());
        assert!(run.status == 2 && run.stderr.contains(told), "{flags:?} {run:#?}");
    };
    refused(&["report.jsonl", "one.jsonl", "--remove", "--yes"], "one.jsonl lists documents without survivors");
    refused(&["one.jsonl", "report.jsonl", "--write", "x", "--yes"], "only lists follow the report");
    // Passages are cut out of a copy in a second step, and the message says how.
    folder.ok(&["dedup", "--passages", "--min-length", "20", "-q", "--format", "json", "-o", "passages.jsonl"]);
    for flags in [["report.jsonl", "passages.jsonl"], ["passages.jsonl", "one.jsonl"]] {
        refused(&[&flags[..], &["--write", "x", "--yes"]].concat(), "ingest it into another database, and cut");
    }
}

/// A list names no survivor that justifies the removal of a file. An answer limited to the best matches does
/// not list all matches.
#[test]
fn lists_that_do_not_suffice_are_refused() {
    let folder = start();
    lists(&folder);
    let before = super::files(&folder.path().join("in"));
    let refused = |flags: &[&str], told: &str| {
        let run = folder.run(flags);
        assert!(run.status == 2 && run.stderr.contains(told), "{flags:?} {run:#?}");
    };
    for action in [&["--remove"][..], &["--link", "hard"], &["--move", "gone"], &["--write", "clean", "--cut"]] {
        refused(&[&["apply", "names.jsonl", "--yes"], action].concat(), "documents without survivors");
    }
    refused(&["apply", "--check", "names.jsonl"], "lists no survivors");
    folder.ok(&["query", "--top", "1", "--format", "json", "-o", "best.jsonl", "-q", "benchmark.jsonl"]);
    refused(
        &["apply", "best.jsonl", "--write", "clean", "--yes"],
        "line 1: it is the answer to a query, and lists 1 of 2 matches",
    );
    folder.write("plain.txt", "in/a.jsonl:3\n");
    for action in [&["rm", "--report", "plain.txt"][..], &["apply", "plain.txt", "--write", "clean"]] {
        refused(action, "line 1: it is a line of neither; a list of names has lines {\"document\": NAME}");
    }
    refused(&["rm", "--report", "best.jsonl"], "it is the answer to a query");
    folder.write("mixed.jsonl", format!("{}{}", read(&folder, "names.jsonl"), "{\"schema\":\"fpdb.pair/1\"}\n"));
    refused(&["rm", "--report", "mixed.jsonl"], "line 6: the line is neither");
    let by_folder =
        ["query", "--top", "0", "--submission-by", "^(in)", "--format", "json", "-o", "folders.jsonl", "-q"];
    folder.ok(&[&by_folder[..], &["benchmark.jsonl"]].concat());
    refused(&["apply", "folders.jsonl", "--write", "clean", "--yes"], "without --submission-by");
    folder.write("unknown.jsonl", "{\"document\":\"in/a.jsonl:3\"}\n{\"document\":\"in/z.jsonl:1\"}\n");
    let run = folder.run(&["apply", "unknown.jsonl", "--write", "clean", "--yes", "--format", "json"]);
    let summary = run.json().pop().unwrap();
    assert_eq!((run.status, &summary["applied"], &summary["missing"]), (2, &1.into(), &1.into()), "{run:#?}");
    assert!(super::files(&folder.path().join("in")) == before);
}

#[test]
fn names_of_a_list_that_are_not_stored_are_told() {
    let folder = start();
    let list = |name: &str, numbers: std::ops::Range<u32>| {
        folder.write(
            name,
            numbers.map(|number| format!("{{\"document\":\"in/z.jsonl:{number}\"}}\n")).collect::<String>(),
        );
    };
    list("one.jsonl", 1..2);
    list("many.jsonl", 1..31);
    let some = (1..11).map(|number| format!("in/z.jsonl:{number}")).collect::<Vec<_>>().join(", ");
    let run = folder.run(&["apply", "one.jsonl", "--write", "clean", "--yes"]);
    assert!(run.stdout.contains("0 of 1 listed document left out; 3 files written"), "{run:#?}");
    let told =
        "1 document of the list is not in the database, or was read from no file, and was left alone: in/z.jsonl:1\n";
    assert!(run.status == 2 && run.stderr.contains(told), "{run:#?}");
    let run = folder.run(&["apply", "many.jsonl", "--write", "clean", "--format", "json"]);
    let summary = run.json().pop().unwrap();
    assert_eq!((&summary["missing"], &summary["left"]), (&30.into(), &0.into()), "{run:#?}");
    let first: Vec<String> = (1..21).map(|number| format!("in/z.jsonl:{number}")).collect();
    assert_eq!(summary["unknown_names"], json!(first));
    assert!(run.stderr.contains(&format!("{some} and 20 more\n")), "{run:#?}");
    // A removal that is repeated is no failure.
    let run = folder.ok(&["rm", "--report", "many.jsonl", "--format", "json"]);
    assert_eq!((&run.json()[0]["unknown_names"], &run.json()[0]["reported"]), (&json!(first), &30.into()));
    let told = format!("30 documents of the list are not stored, or no longer: {some} and 20 more\n");
    assert!(run.stderr.contains(&told), "{run:#?}");
}

/// The list of a day on which nothing is removed has no line.
#[test]
fn an_empty_list_is_a_list() {
    let folder = start();
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    for (name, content) in [("empty.jsonl", ""), ("mark.jsonl", "\u{feff}\r\n\n")] {
        folder.write(name, content);
        let warning = format!("warning: {name} is empty: as a list it names no document\n");
        assert_eq!(folder.ok(&["rm", "-q", "--report", name]).stderr, warning);
        let run = folder.ok(&["apply", "-q", name, "--write", name.trim_end_matches(".jsonl"), "--yes"]);
        assert_eq!(run.stderr, warning);
        assert!(run.stdout.contains("0 of 0 listed documents left out; 3 files written"), "{run:#?}");
        let run = folder.ok(&["apply", "report.jsonl", name, "--write", "clean"]);
        assert!(run.stderr.contains(&warning), "{run:#?}");
        assert!(run.stdout.contains("1 of 1 removable document to be left out"), "{run:#?}");
        let run = folder.run(&["apply", name, "--remove", "--yes"]);
        assert!(run.status == 2 && run.stderr.contains("documents without survivors"), "{run:#?}");
    }
}

#[test]
fn blank_lines_and_a_byte_order_mark_are_skipped() {
    let folder = start();
    let named = |name: &str| format!("{{\"document\":\"{name}\"}}");
    let list = format!("\u{feff}\r\n{}\r\n\n  \n{}\n\n", named("in/a.jsonl:2"), named("in/c.jsonl:1"));
    folder.write("list.jsonl", &list);
    folder.ok(&["apply", "list.jsonl", "--write", "copy", "--yes"]);
    assert_eq!(read(&folder, "copy/in/a.jsonl"), lines(&[1, 3, 4, 2]));
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let report = read(&folder, "report.jsonl").replace('\n', "\r\n\r\n");
    folder.write("edited.jsonl", format!("\u{feff}{report}"));
    folder.ok(&["apply", "edited.jsonl", "--write", "clean", "--yes"]);
    folder.ok(&["apply", "edited.jsonl", "--check", "--write", "clean"]);
    assert_eq!(read(&folder, "clean/in/a.jsonl"), lines(&[1, 2, 3, 4]));
    // An error gives the number of the line in the file.
    for (name, content) in
        [("l.jsonl", format!("{list}{{\"document\":\n")), ("r.jsonl", format!("\n\n\n\n\n{report}{{\"document\":\n"))]
    {
        folder.write(name, &content);
        let run = folder.run(&["apply", name, "--write", "no"]);
        let line = content.lines().count();
        let told = match name {
            "l.jsonl" => format!("line {line}: column 0: EOF while parsing a value\n"),
            _ => format!("line {line}: something follows the summary"),
        };
        assert!(run.status == 2 && run.stderr.contains(&told), "{told}: {run:#?}");
    }
}
