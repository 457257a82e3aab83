//! Queries with folders and containers: each document in them is a query of its own, and nothing is stored.

use std::fs;

use serde_json::Value;

use crate::oracle::Random;
use crate::support::{Folder, text, word};

fn corpus() -> Folder {
    let folder = Folder::new();
    for seed in 0..4 {
        folder.write(&format!("corpus/{seed}.txt"), text(seed));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "corpus"]);
    folder
}

/// Three queries: two stored texts together, a text that is not stored, and a stored text with one more word.
fn queries() -> [String; 3] {
    [text(1) + &text(2), text(77), text(3) + "more"]
}

fn ask(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    folder.ok(&[&["query", "--format", "json"], arguments].concat()).json()
}

/// An answer without the name of its query.
fn nameless(mut answer: Value) -> Value {
    answer["query"].as_object_mut().unwrap().remove("name").unwrap();
    answer
}

#[test]
fn each_document_of_a_folder_or_container_is_a_query() {
    let folder = corpus();
    let queries = queries();
    for (number, query) in queries.iter().enumerate() {
        folder.write(&format!("alone/{number}.txt"), query);
    }
    let alone: Vec<Value> = (0..3).map(|number| ask(&folder, &[&format!("alone/{number}.txt")]).remove(0)).collect();
    let expected: Vec<Value> = alone.into_iter().map(nameless).collect();

    let lines: String = queries.iter().map(|query| format!("{{\"text\":\"{query}\"}}\n")).collect();
    folder.write("eval.jsonl.zst", zstd::encode_all(lines.as_bytes(), 3).unwrap());
    let mut builder = tar::Builder::new(Vec::new());
    for (number, query) in queries.iter().enumerate() {
        let mut header = tar::Header::new_gnu();
        header.set_size(query.len() as u64);
        builder.append_data(&mut header, format!("{number}.txt"), query.as_bytes()).unwrap();
    }
    folder.write("eval.tar", builder.into_inner().unwrap());
    for (path, names) in [
        ("alone", ["alone/0.txt", "alone/1.txt", "alone/2.txt"]),
        ("eval.jsonl.zst", ["eval.jsonl.zst:1", "eval.jsonl.zst:2", "eval.jsonl.zst:3"]),
        ("eval.tar", ["eval.tar!0.txt", "eval.tar!1.txt", "eval.tar!2.txt"]),
    ] {
        for threads in ["1", "3"] {
            let answers = ask(&folder, &[path, "--threads", threads]);
            let found: Vec<&str> = answers.iter().map(|answer| answer["query"]["name"].as_str().unwrap()).collect();
            assert_eq!(found, names);
            assert_eq!(answers.into_iter().map(nameless).collect::<Vec<_>>(), expected, "{path}");
        }
    }
    assert_eq!(folder.ok(&["list"]).stdout.lines().count(), 4, "nothing is stored");
}

#[test]
fn fields_of_records_are_named_and_come_back_with_the_answers() {
    let folder = corpus();
    let [one, two, _] = queries();
    let line = |number: usize, text: &str| {
        let record = serde_json::json!({ "number": number, "body": text, "url": format!("u{number}"), "other": "x" });
        format!("{record}\n")
    };
    folder.write("eval.jsonl", [line(7, &one), line(8, &two)].concat());
    let run = folder.run(&["query", "eval.jsonl"]);
    assert!(run.status == 2 && run.stderr.contains("hint: try --text-field body"), "{run:?}");
    let flags = ["eval.jsonl", "--text-field", "body", "--id-field", "number", "--keep-fields", "url"];
    let expected: [Value; 2] =
        [7, 8].map(|number| serde_json::json!({ "number": number.to_string(), "url": format!("u{number}") }));
    for more in [&[][..], &["--by-corpus"]] {
        let answers = ask(&folder, &[&flags[..], more].concat());
        let metadata: Vec<&Value> = answers.iter().map(|answer| &answer["query"]["metadata"]).collect();
        assert_eq!(metadata, [&expected[0], &expected[1]]);
        assert!(answers[0]["corpus_containment"].as_f64().unwrap() > 0.9, "{answers:?}");
    }
    // A query with a stored record gives the same answer.
    folder.ok(&[&["ingest", "-q"], &flags[..]].concat());
    let answers = ask(&folder, &["--document", "eval.jsonl:1"]);
    assert_eq!(answers[0]["query"]["metadata"], expected[0]);
}

#[test]
fn large_members_and_many_of_them_are_answered_in_order() {
    let folder = corpus();
    // The file has more queries than are answered at a time, and one query larger than all bytes held at a
    // time.
    let large = text(2).repeat(60_000);
    let lines: String = (0..700u64)
        .map(|number| match number {
            300 => format!("{{\"text\":\"{large}\"}}\n"),
            _ => format!("{{\"text\":\"{}\"}}\n", text(number % 9)),
        })
        .collect();
    folder.write("eval.jsonl", lines);
    let answers = ask(&folder, &["eval.jsonl", "--by-corpus", "--no-passages"]);
    assert_eq!(answers.len(), 700);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["query"]["name"], format!("eval.jsonl:{}", number + 1));
        if number != 300 {
            assert_eq!(answer["corpus_containment"], if number % 9 < 4 { 1.0 } else { 0.0 }, "{answer}");
        }
    }
    assert_eq!(answers[300]["query"]["bytes"], large.len());
}

/// A symbol in passages of two documents counts once, even if bytes and symbols are not in proportion.
#[test]
fn a_row_counts_each_symbol_once() {
    let letter = |number: u64| char::from(b'a' + (number % 26) as u8);
    let short = |place: u64| format!("{}{} ", letter(place / 26), letter(place));
    let long = |place: u64| format!("{}longer{} ", letter(place / 26), letter(place).to_string().repeat(20));
    let part = |make: &dyn Fn(u64) -> String, from: u64| (from..from + 100).map(make).collect::<String>();
    let (first, middle, last) = (part(&short, 0), part(&long, 0), part(&short, 200));
    let folder = Folder::new();
    folder.write("in/a.txt", format!("{first}{middle}"));
    folder.write("in/b.txt", format!("{middle}{last}"));
    folder.write("whole.txt", format!("{first}{middle}{last}"));
    folder.write("more.txt", format!("{first}{middle}{last}{}", part(&|place| format!("new{} ", short(place)), 0)));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let rows = ask(&folder, &["whole.txt", "more.txt", "--by-corpus"]);
    assert_eq!((rows[0]["places"].as_array().unwrap().len(), rows[0]["coverage"].as_f64()), (2, Some(1.0)));
    assert_eq!(rows[1]["coverage"], 300.0 / rows[1]["query"]["symbols"].as_f64().unwrap());
}

#[test]
fn a_row_tells_of_all_documents_and_of_all_of_the_text() {
    let folder = Folder::new();
    for number in 0..15 {
        folder.write(&format!("in/{number:02}.txt"), format!("{} {}", text(1), text(20 + number)));
    }
    folder.write("in/z.txt", text(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.write("same.txt", text(1));
    folder.write("same.eml", format!("From: a@example.org\nSubject: s\nContent-Type: text/plain\n\n{}\n", text(1)));
    let rows = ask(&folder, &["same.txt", "same.eml", "--by-corpus"]);
    assert_eq!(rows[0]["identical"], true, "also below the best ten: {}", rows[0]);
    assert!(rows.iter().all(|row| row["coverage"].as_f64().unwrap() > 0.9), "{rows:?}");
}

#[test]
fn a_row_is_the_same_whatever_top_is_and_least_shares_filter_rows() {
    let folder = Folder::new();
    for number in 0..3 {
        folder.write(&format!("in/{number}.txt"), text(number));
    }
    folder.write("all.txt", (0..3).map(text).collect::<String>());
    folder.write("third.txt", format!("{} {} {}", text(0), text(40), text(41)));
    folder.write("copy.txt", text(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let of = |flags: &[&str]| ask(&folder, &[&["all.txt", "third.txt", "copy.txt", "--by-corpus"], flags].concat());
    let all = of(&[]);
    assert!(all[0]["coverage"].as_f64().unwrap() > 0.9 && all[0]["places"].as_array().unwrap().len() >= 3, "{all:?}");
    assert_eq!((of(&["--top", "1"]), of(&["--top", "0"])), (all.clone(), all.clone()));
    assert_eq!(of(&["--min-score", "0.9"]), [all[0].clone(), all[2].clone()]);
    let run = folder.run(&["query", "-e", "third.txt", "--by-corpus", "--min-score", "0.9"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("1 query document below --min-score"), "{run:?}");
}

/// A query skips and counts the files that an ingest skips. If such a file is named itself, it is an error.
#[test]
fn files_that_are_no_documents_are_skipped() {
    let folder = corpus();
    folder.write("asked/a.txt", text(1));
    folder.write("asked/b.bin", b"\0\x01\x02\0".repeat(100));
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in [("c.bin", b"\0\x01\x02\0".repeat(100)), ("d.txt", text(2).into_bytes())] {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, content.as_slice()).unwrap();
    }
    folder.write("asked/e.tar", builder.into_inner().unwrap());
    let run = folder.ok(&["query", "asked", "--format", "json", "-v"]);
    let answers = run.json();
    let names: Vec<&str> = answers.iter().map(|answer| answer["query"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["asked/a.txt", "asked/e.tar!d.txt"]);
    assert!(
        run.stderr.contains("skipped asked/b.bin: ") && run.stderr.contains("skipped asked/e.tar!c.bin: "),
        "{run:?}"
    );
    assert!(run.stderr.contains("2 files are no documents and were skipped"), "{run:?}");
    assert!(!run.stderr.contains("hint"), "{run:?}");
    assert_eq!(folder.run(&["query", "asked/b.bin"]).status, 2);
}

#[test]
fn answers_are_kept_where_nothing_is_found_to_ask() {
    let folder = corpus();
    fs::create_dir(folder.path().join("empty")).unwrap();
    folder.write("answers.json", "of last week");
    folder.ok(&["query", "empty", "--format", "json", "-o", "answers.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("answers.json")).unwrap(), "");
}

#[test]
fn answers_are_not_written_among_what_is_asked() {
    let folder = corpus();
    folder.write("asked/a.txt", "of last week");
    for output in ["asked/answers.json", "asked/../asked/answers.json"] {
        let run = folder.run(&["query", "asked", "--format", "json", "-o", output]);
        assert!(run.status == 2 && run.stderr.contains("-o would write into asked, which is to be read"), "{run:#?}");
        assert!(!folder.path().join("asked/answers.json").exists());
    }
    folder.ok(&["query", "asked", "--format", "json", "-o", "answers.json"]);
}

#[test]
fn one_row_tells_how_much_the_archive_holds_and_where() {
    let folder = corpus();
    let lines: String = queries().iter().map(|query| format!("{{\"text\":\"{query}\"}}\n")).collect();
    folder.write("eval.jsonl", format!("{lines}nonsense\n"));
    folder.write("short.txt", "short");
    assert_eq!(
        folder.ok(&["query", "short.txt", "--by-corpus"]).stdout,
        "short.txt  0.0%: too short for a fingerprint\n"
    );
    let run = folder.run(&["query", "eval.jsonl", "--by-corpus", "--format", "json"]);
    assert_eq!(run.status, 2, "a line cannot be read: {run:#?}");
    assert!(run.stderr.contains("eval.jsonl:4"), "{run:#?}");
    let rows = run.json();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["schema"] == "fpdb.corpus/1"));
    let names = |row: &Value| {
        let places = row["places"].as_array().unwrap().iter();
        places.map(|place| place["document"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // No single document has all of the first query. The archive has all, except the trigrams across the
    // middle of the query.
    assert_eq!(names(&rows[0]), ["corpus/1.txt", "corpus/2.txt"]);
    let query = &rows[0]["query"];
    assert_eq!(rows[0]["found"].as_u64().unwrap() + 2, query["fingerprints"].as_u64().unwrap());
    assert!(rows[0]["coverage"].as_f64().unwrap() > 0.99 && rows[0]["coverage"].as_f64().unwrap() <= 1.0);
    assert_eq!((&rows[1]["found"], &rows[1]["coverage"], names(&rows[1]).len()), (&0.into(), &0.0.into(), 0));
    assert_eq!(names(&rows[2]), ["corpus/3.txt"]);
    let whole = &rows[2]["places"][0];
    assert_eq!((&whole["location"]["start"], &whole["query"]["start"]), (&0.into(), &0.into()));

    let csv = folder.run(&["query", "eval.jsonl", "--by-corpus", "--format", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 4);
    assert!(
        csv.starts_with("query,bytes,looked_up,found,corpus_containment,coverage,identical,documents,best,start,end\n")
    );
    let human = folder.run(&["query", "eval.jsonl", "--by-corpus"]).stdout;
    assert_eq!(human.lines().count(), 3);
    assert!(human.lines().next().unwrap().ends_with("(line 1)"), "{human}");
    assert!(human.lines().nth(1).unwrap().ends_with("0.0%"), "{human}");
    let run = folder.run(&["query", "-e", "corpus/../eval.jsonl", "--by-corpus", "--format", "html", "-o", "report"]);
    assert!(run.status == 2 && run.stderr.contains("--by-corpus"), "{run:#?}");
}

/// Standard input with records is not one document. This holds for a report too.
#[test]
fn a_report_takes_no_json_lines_for_one_document() {
    let folder = corpus();
    folder.write("records", format!("{{\"text\":\"{}\"}}\n", text(1)).repeat(2));
    for arguments in [&["query", "-"][..], &["diff", "-", "records"], &["diff", "-", "records", "--no-expand"]] {
        for format in [&[][..], &["--format", "html", "-o", "report"]] {
            let input = std::fs::File::open(folder.path().join("records")).unwrap();
            let mut command = folder.command(&[arguments, format].concat());
            let run = crate::support::Run::of(&command.stdin(input).output().unwrap());
            let refused = !arguments.contains(&"--no-expand");
            assert_eq!(run.status, if refused { 2 } else { 0 }, "{run:?}");
            assert_eq!(run.stderr.contains("holds JSON lines, and its name does not say so"), refused, "{run:?}");
        }
    }
}

/// The passages of a match do not depend on other matches: `diff` finds the same.
#[test]
fn passages_do_not_depend_on_the_other_matches() {
    let folder = Folder::new();
    let mut random = Random(3);
    let mut words =
        |count: usize| (0..count).map(|_| word(20_000 + 7 * random.below(40) as u64) + " ").collect::<String>();
    let base = words(300);
    folder.write("asked.txt", &base);
    for file in 0..6 {
        let shared = &base[80 * file..80 * file + 100];
        folder.write(&format!("in/{file}.txt"), words(150) + shared + &words(100));
    }
    let profile = ["-k", "8", "-w", "6"];
    folder.ok(&[&["ingest", "-q", "--unit", "char"], &profile[..], &["in"]].concat());
    let ask = |arguments: &[&str]| {
        let mut answer = folder.ok(&[arguments, &["--format", "json"]].concat()).json().remove(0);
        answer["matches"].take().as_array().unwrap().clone()
    };
    let all = ask(&["query", "asked.txt", "--top", "0"]);
    assert_eq!(all.len(), 6);
    for found in &all {
        let alone = ask(&[&["diff", "asked.txt", found["document"].as_str().unwrap()], &profile[..]].concat());
        assert_eq!((&alone[0]["passages"], &alone[0]["coverage"]), (&found["passages"], &found["coverage"]));
    }
}

/// Text for people reports for each query that it is too short. A batch in JSON reports this once, because
/// otherwise the empty answers would look like "no match".
#[test]
fn a_batch_counts_the_queries_that_are_too_short() {
    let folder = corpus();
    folder.write("eval.jsonl", format!("{{\"text\":\"a b\"}}\n{{\"text\":\"{}\"}}\n{{\"text\":\"c\"}}\n", text(1)));
    for (flags, said) in
        [(&["--format", "json"][..], 1), (&["--format", "csv"], 1), (&["--format", "json", "--by-corpus"], 1), (&[], 0)]
    {
        let run = folder.ok(&[&["query", "eval.jsonl"], flags].concat());
        let note = "2 query documents have fewer than 3 symbols (k): only identical documents match\n";
        assert_eq!(run.stderr.matches(note).count(), said, "{run:#?}");
    }
}

/// Like an ingest, a query names files of kinds that are not read, and says how to convert them.
#[test]
fn files_that_could_be_converted_are_named() {
    let folder = corpus();
    let unread = |begin: &[u8]| [begin, &b"\x00\x04\xf3\x01\x9c"[..].repeat(80)].concat();
    folder.write("late/ann/a.txt", text(1));
    folder.write("late/bob.rar", unread(b"Rar!\x1a\x07"));
    folder.write("late/cy/picture.bin", [0; 99]);
    folder.write("late/cy/essay.doc", unread(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"));
    for flags in [&["--format", "json"][..], &["--format", "html", "-o", "report"], &[]] {
        let told = folder.ok(&[&["query", "late"], flags].concat()).stderr;
        for said in [
            "1 file is no document and was skipped (--verbose names them)\n",
            "1 archive of kinds that fpdb does not read was skipped: late/bob.rar\nhint: unpack them and query what comes out\n",
            "1 office document of kinds that fpdb does not read was skipped: late/cy/essay.doc\nhint: save them",
        ] {
            assert!(told.contains(said), "{told}");
        }
    }
}
