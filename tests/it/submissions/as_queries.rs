//! Submissions as queries: the files of one submission in a folder or archive are one query.

use std::collections::{BTreeMap, BTreeSet};

use fpdb::{Database, Error, QueryOptions, QuerySource, Task};
use insta::assert_snapshot;
use serde_json::Value;

use super::{corpus, measured, measures, stretch, submission, trigrams, trigrams_of};
use crate::bad_input::told;
use crate::support::{Folder, zip};

const FLAGS: [&str; 5] = ["query", "--format", "json", "--submission-by", "in,late"];

fn ask(folder: &Folder, more: &[&str]) -> Vec<Value> {
    folder.ok(&[&FLAGS[..], more].concat()).json()
}

/// Two submissions and a separate file. Files of the first share stretches with files of others.
fn late() -> (Folder, Vec<(&'static str, String)>) {
    let folder = Folder::new();
    corpus(&folder);
    let files = vec![
        ("late/eve/a.txt", stretch(3) + &stretch(9001) + &stretch(1012)),
        ("late/eve/b.txt", stretch(3) + &stretch(7)),
        ("late/eve/more/c.txt", stretch(5000)),
        ("late/eve/short.txt", "two words".to_owned()),
        ("late/fay/a.txt", stretch(1033) + &stretch(9002)),
        ("late/loose.txt", stretch(4)),
    ];
    for (name, text) in &files {
        folder.write(name, text);
    }
    (folder, files)
}

#[test]
fn the_files_of_a_submission_are_one_query() {
    let (folder, files) = late();
    let (together, alone) = (trigrams(&folder, submission), trigrams(&folder, ToOwned::to_owned));
    for more in [&[][..], &["--mode", "resemblance", "-n", "100000"], &["--no-passages"], &["--threads", "1"]] {
        let answers = ask(&folder, &[more, &["late", "--top", "0", "--submission-files", "1000"]].concat());
        let names: Vec<&str> = answers.iter().map(|answer| answer["query"]["name"].as_str().unwrap()).collect();
        // A file outside any submission is a separate query, and comes first.
        assert_eq!(names, ["late/loose.txt", "late/eve", "late/fay"], "{more:?}");
        for (answer, name) in answers[1..].iter().zip(["late/eve/", "late/fay/"]) {
            let parts: Vec<_> = files.iter().filter(|(file, _)| file.starts_with(name)).collect();
            let of_parts: BTreeMap<&str, _> = parts.iter().map(|(file, text)| (*file, trigrams_of(text))).collect();
            let asked = of_parts.values().flatten().cloned().collect();
            assert_eq!(answer["query"]["files"], parts.len());
            assert_eq!(answer["query"]["bytes"], parts.iter().map(|(_, text)| text.len()).sum::<usize>());
            let expected = together.iter().map(|(name, set)| (&**name, measures(&asked, set)));
            let expected: BTreeMap<&str, _> = expected.filter(|(_, (shared, _))| *shared > 0).collect();
            let matches = answer["matches"].as_array().unwrap();
            let found = matches.iter().map(|found| (found["document"].as_str().unwrap(), measured(found)));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{more:?}");
            assert_eq!(answer["looked_up"], asked.len());
            assert!(matches.is_sorted_by(|x, y| x["score"].as_f64() >= y["score"].as_f64()));
            for found in matches {
                let name = found["document"].as_str().unwrap();
                let of_match = alone.iter().filter(|(file, _)| submission(file) == name);
                let expected: BTreeMap<(&str, &str), _> = of_match
                    .flat_map(|(file, set)| {
                        of_parts.iter().map(move |(part, of_part)| ((*part, &**file), measures(of_part, set)))
                    })
                    .filter(|(_, (shared, _))| *shared > 0)
                    .collect();
                let pairs = found["files"].as_array().unwrap();
                let listed = pairs.iter().map(|file| {
                    let (query, document) = (&file["query"]["name"], &file["document"]);
                    ((query.as_str().unwrap(), document.as_str().unwrap()), measured(file))
                });
                assert_eq!(listed.collect::<BTreeMap<_, _>>(), expected, "{name}, {more:?}");
                assert!(pairs.is_sorted_by(|x, y| x["shared"].as_u64() >= y["shared"].as_u64()), "{name}");
                assert_eq!(pairs.len(), expected.len(), "each pair once");
                if more == ["--no-passages"] {
                    assert!(found["coverage"].is_null());
                    continue;
                }
                // Each word of the submission is in a passage of its file, or in none.
                let (mut covered, mut words) = (0, 0);
                for (part, text) in &parts {
                    let of_part = pairs.iter().filter(|file| file["query"]["name"] == *part);
                    let passages = of_part.flat_map(|file| file["passages"].as_array().unwrap());
                    let ranges: Vec<[u64; 2]> = passages
                        .map(|passage| ["start", "end"].map(|end| passage["query"][end].as_u64().unwrap()))
                        .collect();
                    let places = text.split_whitespace().map(|word| word.as_ptr() as u64 - text.as_ptr() as u64);
                    words += places.clone().count();
                    covered += places.filter(|at| ranges.iter().any(|[start, end]| (start..end).contains(&at))).count();
                }
                let coverage = found["coverage"].as_f64().unwrap();
                assert!((coverage - covered as f64 / words as f64).abs() < 1e-9, "{name}: {coverage}");
            }
        }
    }
}

#[test]
fn the_best_submissions_and_pairs_of_files_are_listed() {
    let (folder, _) = late();
    let all = ask(&folder, &["late/eve", "--top", "0", "--submission-files", "1000"]).remove(0);
    let best = ask(&folder, &["late/eve", "--top", "2", "--submission-files", "1"]).remove(0);
    assert_eq!(best["matching_documents"], all["matching_documents"]);
    for (found, whole) in best["matches"].as_array().unwrap().iter().zip(all["matches"].as_array().unwrap()) {
        let files = whole["files"].as_array().unwrap();
        assert_eq!((&found["document"], &found["coverage"]), (&whole["document"], &whole["coverage"]));
        assert_eq!(found["files"].as_array().unwrap()[..], files[..1]);
        assert_eq!(found["files_left_out"].as_u64().unwrap_or(0), files.len() as u64 - 1);
    }
    // The files of a submission are read from an archive too.
    let member = |name| (name, std::fs::read(folder.path().join("late/eve").join(name)).unwrap());
    folder.write("late/eve.zip", zip(["a.txt", "b.txt", "more/c.txt", "short.txt"].map(member)));
    let zipped = ask(&folder, &["late/eve.zip", "--top", "0", "--submission-files", "1000"]).remove(0);
    assert_eq!(zipped["query"]["name"], "late/eve.zip");
    let measures = |answer: &Value| answer["matches"].as_array().unwrap().iter().map(measured).collect::<Vec<_>>();
    assert_eq!(measures(&zipped), measures(&all));
    // --min-score applies to the whole submission, and rows by corpus are of single files.
    let least = best["matches"][1]["score"].as_f64().unwrap();
    let reaching = ask(&folder, &["late/eve", "--min-score", &least.to_string()]).remove(0);
    let expected = all["matches"].as_array().unwrap().iter().filter(|found| found["score"].as_f64().unwrap() >= least);
    assert_eq!(reaching["matches"].as_array().unwrap().len(), expected.count());
    assert_eq!(ask(&folder, &["late/eve", "--by-corpus"]).len(), 4);
    assert_eq!(ask(&folder, &["late/eve", "--rewritten"]).len(), 4);
    // If `--submission-by` names only the folder of the stored submissions, other files are in no submission.
    let alone = folder.ok(&["query", "--format", "json", "--submission-by", "in", "late"]);
    assert_eq!(alone.json().len(), 10);
    assert!(
        alone.stderr.starts_with(
            "warning: no queried file is in a submission of in, so each is a query of its own\n\
         hint: name the folder of the queries too, such as --submission-by in,late\n"
        ),
        "{alone:?}"
    );
    let short = ["query", "late/eve/short.txt", "late/eve/a.txt", "--submission-by", "in,late", "--format", "json"];
    assert_eq!(folder.ok(&short).json().len(), 2, "named files are queries of their own");
}

#[test]
fn a_folder_of_submissions_without_any_document_is_told() {
    let (folder, _) = late();
    let note = "warning: no document is in a folder or archive in lat (--submission-by in,lat)\n";
    let query = ["query", "late/eve"];
    for (command, value, said) in [
        (&query[..], "in,lat", true),
        (&query, "in,late", false),
        (&query, "^(in|lat),?", false),
        (&["query", "late/eve", "--format", "html", "-o", "report"], "in,lat", true),
        (&["query", "late/eve", "--by-corpus"], "in,lat", true),
        (&["pairs"], "in,lat", true),
        (&["pairs", "--format", "html", "-o", "pairs"], "in,lat", true),
        (&["pairs"], "in,out", false),
    ] {
        let run = folder.ok(&[command, &["--submission-by", value]].concat());
        let told = run.stderr.matches("no document is in a folder").count();
        assert_eq!((told, run.stderr.contains(note)), (usize::from(said), said), "{command:?} {value}: {run:?}");
    }
}

/// A file whose fingerprints are missing, ignored or common matches the stored file of the same bytes.
#[test]
fn files_of_the_same_bytes_match_in_a_submission_too() {
    let folder = Folder::new();
    let files = [("short", "two words".to_owned()), ("handout", stretch(1)), ("common", stretch(2))];
    for (name, text) in &files {
        folder.write(&format!("in/{name}/a.txt"), text);
        folder.write(&format!("late/{name}/b.txt"), text);
        folder.write(&format!("late/{name}/other.txt"), "a word");
    }
    folder.write("in/common2/a.txt", stretch(2) + "more");
    folder.write("task.txt", stretch(1) + "more");
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "task.txt", "--boilerplate", "task.txt"]);
    for more in [&[][..], &["--no-passages"], &["--top", "1"]] {
        for answer in ask(&folder, &[&["late", "--max-df", "1"], more].concat()) {
            let name = answer["query"]["name"].as_str().unwrap().strip_prefix("late/").unwrap();
            let matches = answer["matches"].as_array().unwrap();
            assert_eq!(matches.len(), 1, "{answer}");
            let found = &matches[0];
            assert_eq!(found["document"], format!("in/{name}"));
            assert_eq!((&found["score"], &found["identical"]), (&0.0.into(), &false.into()), "a part of it: {found}");
            let pair = &found["files"][0];
            assert_eq!(found["files"].as_array().unwrap().len(), 1);
            assert_eq!(
                (&pair["document"], &pair["query"]["name"], &pair["identical"]),
                (&format!("in/{name}/a.txt").into(), &format!("late/{name}/b.txt").into(), &true.into())
            );
        }
        folder.ok(&[&["query", "-e", "--submission-by", "in,late", "late/short"], more].concat());
    }
    // --min-score applies to the whole submission.
    let above = ask(&folder, &["late", "--max-df", "1", "--min-score", "0.5"]);
    assert!(above.len() == 3 && above.iter().all(|answer| answer["matches"] == serde_json::json!([])), "{above:?}");
}

/// The answer says that some files of the submission could not be read.
#[test]
fn files_of_a_submission_that_cannot_be_read_are_counted() {
    let (folder, _) = late();
    let mut broken = tar::Builder::new(Vec::new());
    let text = stretch(3);
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    broken.append_data(&mut header, "a.txt", text.as_bytes()).unwrap();
    let broken = broken.into_inner().unwrap();
    // The end of the archive is missing, and so is the end of a second member.
    let mut broken = broken[..broken.len() - 1024].to_vec();
    broken.extend_from_within(..600);
    folder.write("late/gus.tar", &broken);
    folder.write("late/eve/x.docx", "PK\u{3}\u{4} of nothing");
    folder.write("late/eve/z.tar", &broken);
    // This file is skipped, as in an ingest.
    folder.write("late/fay/b.bin", b"\0\x01\x02\0".repeat(100));
    let run = folder.run(&[&FLAGS[..], &["late"]].concat());
    assert_eq!(run.status, 2, "{run:?}");
    let files = |answer: &Value| {
        let of = |field: &str| answer["query"].get(field).and_then(Value::as_u64);
        (answer["query"]["name"].as_str().unwrap().to_owned(), of("files"), of("files_unread"))
    };
    let answers: Vec<_> = run.json().iter().map(files).collect();
    let expected = [
        ("late/loose.txt", None, None),
        ("late/eve", Some(5), Some(2)),
        ("late/fay", Some(1), None),
        ("late/gus.tar", Some(1), Some(1)),
    ];
    assert_eq!(answers, expected.map(|(name, files, unread)| (name.to_owned(), files, unread)), "{}", run.stderr);
    let told = folder.run(&[&FLAGS[..1], &FLAGS[3..], &["late/eve"]].concat()).stdout;
    assert!(told.contains("late/eve  5 files (2 more cannot be read), "), "{told}");
}

#[test]
fn a_terminal_and_a_table_show_the_pairs_of_files() {
    let folder = Folder::new();
    folder.write("in/ann/a.txt", stretch(1) + &stretch(2));
    folder.write("in/ann/b.txt", stretch(3));
    folder.write("other.txt", stretch(4));
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "other.txt"]);
    folder.write("late/eve/x.txt", stretch(2) + &stretch(4));
    folder.write("late/eve/y.txt", stretch(3));
    folder.write("late/fay/z.txt", "short");
    assert_snapshot!(told(&folder, &folder.run(&["query", "--submission-by", "in,late", "late"])), @"
    status 0
    --- stdout
    late/eve  2 files, 439 bytes, 90 symbols, 86 fingerprints at window 1
      84 of 86 fingerprints found (97.7%), in 2 submissions
      containment  of document  resemblance  document
            65.1%        65.1%        48.3%  in/ann
            48.3%        48.3%        31.8%    late/eve/x.txt in in/ann/a.txt
          line 1 = line 1, bytes 0-144 = 146-290, 30 symbols
           100.0%       100.0%       100.0%    late/eve/y.txt in in/ann/b.txt  (identical)
          line 1 = line 1, bytes 0-147 = 0-147, 30 symbols
            32.6%       100.0%        32.6%  other.txt
            48.3%       100.0%        48.3%    late/eve/x.txt in other.txt
          line 1 = line 1, bytes 145-290 = 0-145, 30 symbols
    late/fay  1 file, 5 bytes, 1 symbol, 0 fingerprints at window 1
      too short: no file has 3 symbols (k), so only identical files match
      no match
    ");
    for (format, said) in [("human", false), ("json", true), ("csv", true)] {
        let run = folder.ok(&["query", "--submission-by", "in,late", "--format", format, "late"]);
        let note = "1 submission has no file of 3 symbols (k): only identical files match\n";
        assert_eq!(run.stderr.contains(note), said, "{run:?}");
    }
    let table = folder.ok(&["query", "--submission-by", "in,late", "--format", "csv", "late"]).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let columns = ["query", "document", "submission", "shared", "looked_up"]
        .map(|name| rows[0].iter().position(|column| *column == name).unwrap());
    let shown: BTreeSet<[&str; 5]> = rows[1..].iter().map(|row| columns.map(|column| row[column])).collect();
    assert_eq!(
        shown,
        BTreeSet::from([
            ["late/eve", "in/ann", "", "56", "86"],
            ["late/eve", "other.txt", "", "28", "86"],
            ["late/eve/x.txt", "in/ann/a.txt", "in/ann", "28", "58"],
            ["late/eve/x.txt", "other.txt", "other.txt", "28", "58"],
            ["late/eve/y.txt", "in/ann/b.txt", "in/ann", "28", "28"],
        ])
    );
}

/// The name of a stored submission, as `pairs` prints it, asks with all its documents.
#[test]
fn a_stored_submission_is_one_query() {
    let folder = Folder::new();
    corpus(&folder);
    let json = ["query", "--format", "json", "--top", "0", "--submission-files", "1000"];
    let ask = |more: &[&str]| folder.ok(&[&json[..], more].concat()).json();
    let found = |answer: &Value| -> Vec<(String, (u64, [f64; 3]))> {
        let matches = answer["matches"].as_array().unwrap().iter();
        let found = matches.map(|found| (found["document"].as_str().unwrap().to_owned(), measured(found)));
        found.filter(|(name, _)| name != "in/s0").collect()
    };
    let of_files = ask(&["--submission-by", "in", "in/s0"]).remove(0);
    for name in ["in/s0", "./in/s0"] {
        let stored = ask(&["--submission-by", "in", "--document", name]).remove(0);
        assert_eq!(stored["query"]["files"], 5);
        assert!(stored["matches"].as_array().unwrap().iter().all(|found| found["document"] != "in/s0"), "{stored}");
        assert!(found(&stored).len() > 2);
        assert_eq!(found(&stored), found(&of_files));
    }
    // Several queries, and names of submissions that a regular expression finds.
    let both = ask(&[
        "--submission-by",
        "^in/(s[0-9])/",
        "--document",
        "s1",
        "--document",
        "in/alone.txt",
        "--document",
        "s0",
    ]);
    let names: Vec<&str> = both.iter().map(|answer| answer["query"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["s1", "in/alone.txt", "s0"]);
    assert_eq!(both[2]["looked_up"], of_files["looked_up"]);
    let report = ["query", "--document", "in/s0", "--submission-by", "in", "--format", "html", "-o", "report"];
    assert_eq!(folder.ok(&report).status, 0);
    // A document comes first.
    folder.write("s0", stretch(3));
    folder.ok(&["ingest", "-q", "s0"]);
    let by_name = ["query", "--format", "json", "--submission-by", "^in/(s[0-9])/", "--document"];
    let run = folder.ok(&[&by_name[..], &["s0"]].concat());
    let note = "s0 is a document and a submission (--submission-by): the document is the query\n";
    assert_eq!((&run.json()[0]["query"]["names_submission"], &*run.stderr), (&true.into(), note));
    let run = folder.ok(&[&by_name[..], &["in/alone.txt"]].concat());
    assert_eq!((&run.json()[0]["query"]["names_submission"], &*run.stderr), (&Value::Null, ""));
    // Other names, and questions about single documents, stay an error.
    for more in [&["in/s0", "--by-corpus"][..], &["in/s9"]] {
        let run = folder.run(&[&["query", "--submission-by", "in", "--document"], more].concat());
        assert!(run.status == 2 && run.stderr.contains("no stored document is named in/s"), "{run:?}");
    }
}

/// The documents of a submission are in memory together, so their number has a limit.
#[test]
fn a_stored_submission_is_read_only_if_it_fits_the_memory() {
    let folder = Folder::new();
    corpus(&folder);
    let ask = |memory: u64, names: &[&str]| {
        let database = Database::builder().memory(memory).threads(2).open(folder.path().join(".fpdb")).unwrap();
        let options = QueryOptions::default().submission_by(Some("in".into())).join_submissions(true);
        let sources: Vec<_> = names.iter().map(|&name| QuerySource::Stored(name.into())).collect();
        database.query_each(&sources, &options, &Task::new()).unwrap()
    };
    let needed = match ask(4, &["in/s0"]).remove(0) {
        Err(Error::SubmissionTooLarge { name, needed, allowed: 1 }) if name == "in/s0" => needed,
        other => panic!("{other:?}"),
    };
    let answer = ask(1 << 30, &["in/s0"]).remove(0).unwrap();
    assert!(needed > answer.query.bytes + 80 * answer.query.fingerprints, "{needed}");
    assert_eq!(ask(4 * needed, &["in/s0"]).remove(0).unwrap(), answer);
    // Several at a time share the memory, and none is refused that is answered alone.
    for answer_of_several in ask(4 * needed, &["in/s0", "in/s0"]) {
        assert_eq!(answer_of_several.unwrap(), answer);
    }
    for names in [&["in/s0"][..], &["in/s0", "in/s0"]] {
        let refused = ask(4 * needed - 4, names);
        assert!(refused.iter().all(|one| matches!(one, Err(Error::SubmissionTooLarge { .. }))), "{refused:?}");
    }
}
