//! `fpdb query`: each of its flags, and the three formats of an answer.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::samples;
use crate::bad_input::{prose, told};
use crate::support::Folder;

const LIFTED: &str = "planted/essay-lifted-paragraphs.txt";
const COPY: &str = "planted/paper-10-copy.txt";

/// The answers to a query, one for each document.
fn ask(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    folder.ok(&[&["query", "--format", "json"], arguments].concat()).json()
}

fn matches(answer: &Value) -> &Vec<Value> {
    answer["matches"].as_array().unwrap()
}

/// Two versions of one document have the same name.
#[test]
fn matches_of_one_name_have_numbers() {
    let folder = Folder::new();
    let (first, other) = (prose(1), prose(2));
    folder.write("a.txt", &first);
    folder.write("b.txt", &first);
    folder.ok(&["ingest", "-q", "--profile", "prose", "a.txt", "b.txt"]);
    folder.write("a.txt", format!("{first} {other}"));
    folder.ok(&["ingest", "-q", "--on-change", "both", "a.txt"]);
    folder.write("q.txt", &first);
    let told = folder.ok(&["query", "q.txt", "--no-passages"]).stdout;
    for says in ["  a.txt (number 0)  (identical)\n", "  a.txt (number 2)\n", "  b.txt  (identical)\n"] {
        assert!(told.contains(says), "{told}");
    }
}

/// A query counts skipped symbolic links, as an ingest does.
#[test]
fn symbolic_links_in_a_folder_of_queries_are_told() {
    let folder = Folder::new();
    folder.write("in/a.txt", prose(1));
    std::os::unix::fs::symlink("a.txt", folder.path().join("in/link.txt")).unwrap();
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    let run = folder.ok(&["query", "--verbose", "in"]);
    assert!(run.stderr.contains("skipped in/link.txt: a symbolic link, which is not followed\n"), "{run:?}");
    assert!(run.stderr.contains("1 file is no document and was skipped"), "{run:?}");
}

/// A query of a few words has few fingerprints, and many documents hold all of them. The document that holds
/// most of the query comes first.
#[test]
fn matches_of_one_score_are_ordered_by_coverage() {
    let folder = Folder::new();
    let sentence = "the quiet harbour of the northern village sleeps under snow until the first of april";
    folder.write("query.txt", sentence);
    for cut in 0..20 {
        // In the order of names, the worst document comes first.
        folder.write(&format!("docs/{:02}.txt", 20 - cut), format!("Number {cut} has {}", &sentence[cut..]));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let all = &ask(&folder, &["query.txt", "-n", "1", "--top", "0"])[0];
    let scored: Vec<(f64, f64)> = matches(all)
        .iter()
        .map(|found| (found["score"].as_f64().unwrap(), found["coverage"].as_f64().unwrap()))
        .collect();
    assert!(scored.len() > 3 && scored.iter().all(|&(score, _)| score == 1.0), "{scored:?}");
    assert!(scored.is_sorted_by(|a, b| a.1 >= b.1) && scored[0].1 > scored[scored.len() - 1].1, "{scored:?}");
    let best = &ask(&folder, &["query.txt", "-n", "1", "--top", "1"])[0];
    assert_eq!(matches(best).len(), 1);
    assert_eq!((&matches(best)[0]["document"], &matches(best)[0]["coverage"]), (&json!("docs/20.txt"), &json!(1.0)));
}

#[test]
fn the_page_of_a_query_reads_well() {
    let folder = samples();
    assert_snapshot!(told(&folder, &folder.ok(&["query", LIFTED])), @"
    status 0
    --- stdout
    planted/essay-lifted-paragraphs.txt  3.5 KiB, 2,871 symbols, 277 fingerprints at window 20
      166 of 277 fingerprints found (59.9%), in 4 documents
      containment  of document  resemblance  document
            33.6%        10.4%         8.6%  federalist/fed51.txt
          lines 8-29 = lines 43-64, bytes 522-1752 = 2636-3866, 1,001 symbols
            26.4%         5.1%         4.5%  federalist/fed70.txt
          lines 37-50 = lines 105-118, bytes 2288-3246 = 6159-7117, 790 symbols
             0.4%         0.1%         0.1%  federalist/fed68.txt
          line 45 = line 135, bytes 2852-2884 = 8151-8183, 29 symbols
             0.4%         0.1%         0.1%  federalist/fed47.txt
          line 45 = line 99, bytes 2852-2884 = 6085-6117, 29 symbols
    ");
    assert_snapshot!(told(&folder, &folder.ok(&["query", "--mode", "resemblance", "-n", "64", LIFTED])), @"
    status 0
    --- stdout
    planted/essay-lifted-paragraphs.txt  3.5 KiB, 2,871 symbols, 277 fingerprints at window 20
      36 of the 64 smallest fingerprints found (56.2%), in 4 documents
      containment  of document  resemblance  95% interval    document
           ~28.1%        ~8.5%        ~7.0%    4.5%-10.5%    federalist/fed51.txt
          lines 8-29 = lines 43-64, bytes 522-1752 = 2636-3866, 1,001 symbols
           ~28.1%        ~5.3%        ~4.7%    3.0%-7.0%     federalist/fed70.txt
          lines 37-50 = lines 105-118, bytes 2288-3246 = 6159-7117, 790 symbols
            ~1.6%        ~0.6%        ~0.4%    0.1%-2.5%     federalist/fed68.txt
          line 45 = line 135, bytes 2852-2884 = 8151-8183, 29 symbols
            ~1.6%        ~0.3%        ~0.3%   <0.1%-1.5%     federalist/fed47.txt
          line 45 = line 99, bytes 2852-2884 = 6085-6117, 29 symbols
    ");
    assert_snapshot!(told(&folder, &folder.ok(&["query", "--top", "1", "planted/paper-10-utf16.txt"])), @"
    status 0
    --- stdout
    planted/paper-10-utf16.txt  35.0 KiB, 14,550 symbols, 1,379 fingerprints at window 20
      1,379 of 1,379 fingerprints found (100.0%), in 1 document
      containment  of document  resemblance  document
           100.0%       100.0%       100.0%  federalist/fed10.txt
          lines 1-292 = lines 1-292, bytes 2-35860 = 0-17929, 14,550 symbols
    ");
    assert_snapshot!(told(&folder, &folder.ok(&["query", "planted/independent.txt"])), @"
    status 0
    --- stdout
    planted/independent.txt  10.1 KiB, 7,988 symbols, 729 fingerprints at window 20
      0 of 729 fingerprints found (0.0%), in 0 documents
      no match
    ");
}

#[test]
fn rewritten_text_is_found_and_shown() {
    let folder = samples();
    let (original, rewritten) = ("federalist/fed67.txt", "planted/essay-light-edits.txt");
    let plain = ["diff", "--profile", "words", rewritten, original];
    assert_snapshot!(told(&folder, &folder.ok(&[&plain[..], &["--rewritten"]].concat())), @"
    status 0
    --- stdout
    planted/essay-light-edits.txt  2.7 KiB, 470 symbols, 457 fingerprints at window 1
      400 of 457 fingerprints found (87.5%), in 1 document
      containment  of document  resemblance  document
            87.5%        26.2%        25.3%  federalist/fed67.txt
          lines 1-44 = lines 38-81, bytes 0-2802 = 2095-4848, 470 symbols, 96.0% agree
    ");
    // Without `--rewritten`, the edits divide the same text into many passages.
    let answer = folder.ok(&[&plain[..], &["--format", "json"]].concat()).json().remove(0);
    assert!(answer["matches"][0]["passages"].as_array().unwrap().len() > 30);
}

#[test]
fn what_was_planted_is_found() {
    let folder = samples();
    let found = |query: &str| -> Vec<String> {
        let answer = &ask(&folder, &["--top", "0", "--min-score", "0.1", query])[0];
        matches(answer).iter().map(|found| found["document"].as_str().unwrap().to_owned()).collect()
    };
    let papers = |numbers: &[u32]| -> Vec<String> {
        numbers.iter().map(|number| format!("federalist/fed{number:02}.txt")).collect()
    };
    assert_eq!(found(LIFTED), papers(&[51, 70]));
    assert_eq!(found("planted/essay-reflowed.txt"), papers(&[76]));
    assert_eq!(found("planted/essay-light-edits.txt")[..1], papers(&[67]));
    assert_eq!(found("planted/essay-heavy-edits.txt"), papers(&[]));
    assert_eq!(found("planted/independent.txt"), papers(&[]));
    assert_eq!(found(COPY), papers(&[10]));
    assert_eq!(found("planted/paper-10-utf16.txt"), papers(&[10]));
}

#[test]
fn containment_looks_up_everything_and_resemblance_a_sample() {
    let folder = samples();
    let all = &ask(&folder, &[COPY])[0];
    assert_eq!(all["looked_up"], all["query"]["fingerprints"]);
    assert!(matches(all)[0]["interval"].is_null());
    let sample = &ask(&folder, &["--mode", "resemblance", COPY])[0];
    assert_eq!((&sample["looked_up"], &sample["mode"]), (&128.into(), &"resemblance".into()));
    assert_eq!((&matches(sample)[0]["resemblance"], &matches(sample)[0]["identical"]), (&1.0.into(), &true.into()));
    assert!(matches(sample)[0]["interval"].is_array());
    for mode in ["containment", "resemblance"] {
        let few = &ask(&folder, &["--mode", mode, "-n", "5", COPY])[0];
        assert_eq!((&few["looked_up"], &few["found"]), (&5.into(), &5.into()));
        let many = &ask(&folder, &["--mode", mode, "-n", "1000000", COPY])[0];
        assert_eq!(many["looked_up"], many["query"]["fingerprints"], "n beyond the query is all of it");
        assert!(matches(many)[0]["interval"].is_null());
    }
}

/// A value is not exact if only some hashes are looked up, if the window is larger than the database's, or if
/// not all weights are known.
#[test]
fn estimates_are_told_from_exact_values() {
    let folder = samples();
    let estimated = |arguments: &[&str]| {
        let found =
            &matches(&ask(&folder, &[arguments, &["federalist/fed51.txt", "--no-passages"]].concat())[0])[0].clone();
        let names = found["estimated"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
        let interval = found["interval"].as_array().map(|ends| [ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap()]);
        if let Some([low, high]) = interval {
            let score = found["score"].as_f64().unwrap();
            assert!(low <= score && score <= high && low < high, "{found}");
        }
        (names.collect::<Vec<String>>().join(" "), interval.is_some())
    };
    let (all, beside) = ("score containment document_containment resemblance", "document_containment resemblance");
    let resemblance = ["--mode", "resemblance"];
    let expected = [
        (&["--weight", "none"][..], "", false),
        (&["-n", "50"], all, true),
        (&["--window", "60"], beside, false),
        (&["--window", "60", "-n", "10"], all, true),
        (&["--weight", "idf"], "", false),
        (&["--weight", "idf", "-n", "50"], all, false),
        (&resemblance, all, true),
        (&["--mode", "resemblance", "-n", "1000000"], "", false),
        (&["--mode", "resemblance", "-n", "1000000", "--window", "60"], "score document_containment resemblance", true),
        (&["--mode", "resemblance", "-n", "1000000", "--weight", "idf"], "score", false),
    ];
    for (arguments, names, interval) in expected {
        assert_eq!(estimated(arguments), (names.to_owned(), interval), "{arguments:?}");
    }
    // At a coarser window, the value estimates the exact value at the database's window.
    let resemblance_of = |arguments: &[&str]| {
        let flags = ["--mode", "resemblance", "-n", "1000000", "--top", "1", "--no-passages"];
        let found = matches(&ask(&folder, &[&flags, arguments, &[COPY]].concat())[0])[0].clone();
        (found["resemblance"].as_f64().unwrap(), found["interval"].clone())
    };
    assert_eq!(resemblance_of(&[]), (1.0, Value::Null));
    let (coarse, interval) = resemblance_of(&["--window", "200"]);
    assert!(coarse > 0.9 && interval[1] == 1.0, "{coarse} {interval}");

    let page = folder.ok(&["query", LIFTED, "--weight", "idf", "--no-passages", "--window", "60"]).stdout;
    assert!(page.contains("        score  containment  of document  resemblance  document\n"), "{page}");
    let row: Vec<&str> = page.lines().nth(3).unwrap().split_whitespace().collect();
    assert!(
        row[0].ends_with('%') && row[2].starts_with('~') && row[3].starts_with('~') && !row[1].contains('~'),
        "{page}"
    );
}

/// 0 means no limit, as for pairs and dedup.
#[test]
fn no_cap_on_df_is_none() {
    let folder = samples();
    let ask = |extra: &[&str]| ask(&folder, &[&["federalist/fed51.txt"], extra].concat());
    assert_eq!(ask(&["--max-df", "0"]), ask(&[]));
    assert!(ask(&["--max-df", "1"])[0]["common"].as_u64() > Some(0));
}

#[test]
fn a_query_without_a_document_says_how_to_name_one() {
    let run = samples().run(&["query"]);
    assert!(run.status == 2 && run.stderr.contains("--document <NAME>"), "{run:?}");
}

/// A name cannot control the terminal or add lines.
#[test]
fn names_are_shown_on_one_line() {
    let folder = samples();
    let name = "fed\n\u{1b}[31mred\u{202e}.txt";
    folder.write(name, std::fs::read(folder.path().join("federalist/fed10.txt")).unwrap());
    folder.ok(&["ingest", "-q", name]);
    let shown = "fed␊␛[31mred⟪RLO⟫.txt";
    for arguments in [
        &["list", "fed\n"][..],
        &["show", name],
        &["query", name],
        &["query", COPY],
        &["pairs"],
        &["dedup"],
        &["diff", name, COPY],
    ] {
        let page = folder.ok(arguments).stdout;
        assert!(page.contains(shown) && !page.contains('\u{1b}') && !page.contains("red\u{202e}"), "{page}");
    }
    let missing = folder.run(&["query", &format!("{name}.gone")]).stderr;
    assert!(missing.contains(shown) && !missing.contains('\u{1b}'), "{missing}");
    let json = folder.ok(&["list", "fed\n", "--format", "json"]).json();
    assert_eq!(json[0]["name"], name);
}

/// A name stands for the version that was added last. A number can stand for any version.
#[test]
fn versions_are_told_apart_by_number() {
    let folder = Folder::new();
    for (text, flags) in [("first", &["--profile", "prose"][..]), ("second", &["--on-change", "both"])] {
        folder.write("a.txt", prose(text.len()));
        folder.write(&format!("{text}.txt"), prose(text.len()));
        folder.ok(&[&["ingest", "-q", "a.txt"], flags].concat());
    }
    let answers = ask(&folder, &["--document", "a.txt", "first.txt", "--id", "0", "second.txt", "--id", "1"]);
    let bytes: Vec<u64> = answers.iter().map(|answer| answer["query"]["bytes"].as_u64().unwrap()).collect();
    let (first, last) = (bytes[1], bytes[3]);
    assert_ne!(first, last);
    assert_eq!(bytes, [last, first, first, last, last]);
    let numbers = |answer: &Value| matches(answer).iter().map(|found| found["id"].clone()).collect::<Vec<_>>();
    // The queried document does not match itself. The answer has the name of this document.
    assert!(answers[2]["query"]["name"] == "a.txt" && !numbers(&answers[2]).contains(&0.into()));
    assert_eq!((&numbers(&answers[1])[0], &numbers(&answers[3])[0]), (&0.into(), &1.into()));
    let none = folder.run(&["query", "--id", "7"]);
    assert_eq!((none.status, none.stdout.as_str()), (2, ""));
    assert!(none.stderr.contains("error: no stored document has the number 7"), "{}", none.stderr);
    // A report has each document once, even if it is named in several ways.
    folder.ok(&["query", "--document", "a.txt", "--id", "0", "--id", "1", "--format", "html", "-o", "report"]);
    let page = std::fs::read_to_string(folder.path().join("report/index.html")).unwrap();
    assert!(page.contains("\"compared\":2,"), "{page}");
}

/// The same hashes are common in all queries: a queried stored document also counts among the documents that
/// hold its fingerprints.
#[test]
fn the_df_cap_counts_the_queried_document() {
    let folder = samples();
    let mut capped = 0;
    for most in 1..5 {
        let most = most.to_string();
        let by = |arguments: &[&str]| ask(&folder, &[arguments, &["--top", "0", "--max-df", &most]].concat()).remove(0);
        let (file, stored) = (by(&["federalist/fed47.txt"]), by(&["--document", "federalist/fed47.txt"]));
        for field in ["looked_up", "common", "ignored"] {
            assert_eq!(file[field], stored[field], "{field}, {most}");
        }
        capped += file["common"].as_u64().unwrap();
        let others: Vec<&Value> = matches(&file).iter().filter(|found| found["identical"] == false).collect();
        assert_eq!(others, matches(&stored).iter().collect::<Vec<_>>(), "{most}");
        // If only one document may hold a hash, nothing is shared.
        assert_eq!(matches(&stored).is_empty(), most == "1");
    }
    assert!(capped > 0);
}

#[test]
fn matches_are_cut_by_number_and_by_score() {
    let folder = samples();
    folder.ok(&["ingest", "-q", "--db", "words", "--profile", "words", "federalist"]);
    let ask = |arguments: &[&str]| ask(&folder, &[&["--db", "words"], arguments].concat());
    let all = &ask(&["--top", "0", "federalist/fed10.txt"])[0];
    let number = matches(all).len();
    assert!(number > 10 && all["matching_documents"] == number);
    assert_eq!(matches(&ask(&["federalist/fed10.txt"])[0]).len(), 10);
    let three = &ask(&["--top", "3", "federalist/fed10.txt"])[0];
    assert_eq!((&matches(three)[..], &three["matching_documents"]), (&matches(all)[..3], &number.into()));
    // `--min-score` compares with the score of this mode. Here the flag keeps the matches with at least the
    // score of the third match.
    let third = matches(all)[2]["containment"].as_f64().unwrap();
    let some = &ask(&["--top", "0", "--min-score", &third.to_string(), "federalist/fed10.txt"])[0];
    let reach = matches(all).iter().filter(|found| found["containment"].as_f64().unwrap() >= third).count();
    assert_eq!((matches(some).len(), &some["matching_documents"]), (reach, &reach.into()));
    assert!(reach >= 3 && reach < number);
    assert_eq!(some["below"], number - reach);
    let none = folder.ok(&["query", "--db", "words", "--min-score", "1", LIFTED]).stdout;
    let below = matches(&ask(&["--top", "0", LIFTED])[0]).len();
    assert!(none.contains(&format!(", in 0 documents\n  {below} documents below --min-score\n  no match")), "{none}");
    assert_eq!(matches(&ask(&["--min-score", "1", COPY])[0]).len(), 1);
}

#[test]
fn files_and_stored_documents_are_answered_in_the_order_given() {
    let folder = samples();
    let stored = "federalist/fed10.txt";
    let names = |arguments: &[&str]| -> Vec<String> {
        ask(&folder, arguments).iter().map(|answer| answer["query"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names(&["--document", stored, LIFTED, "--document", "federalist/fed11.txt", COPY]),
        [stored, LIFTED, "federalist/fed11.txt", COPY]
    );
    assert_eq!(names(&[COPY, "--document", stored, LIFTED]), [COPY, stored, LIFTED]);
}

#[test]
fn a_larger_window_looks_up_less_and_finds_the_long_runs() {
    let folder = samples();
    let fine = &ask(&folder, &[LIFTED])[0];
    let coarse = &ask(&folder, &["--window", "200", LIFTED])[0];
    assert_eq!((&fine["query"]["window"], &coarse["query"]["window"]), (&20.into(), &200.into()));
    assert_eq!(coarse["profile"], fine["profile"], "the database's");
    let (few, many) = (coarse["looked_up"].as_u64().unwrap(), fine["looked_up"].as_u64().unwrap());
    assert!(few * 5 < many, "{few} of {many}");
    // The shared runs have 1,001 and 790 symbols, more than t = 200 + 25 - 1.
    let names: Vec<&Value> = matches(coarse).iter().map(|found| &found["document"]).collect();
    assert_eq!(names, ["federalist/fed51.txt", "federalist/fed70.txt"]);
}

#[test]
fn common_fingerprints_are_left_out_and_counted() {
    let folder = Folder::new();
    for number in 0..6 {
        folder.write(&format!("docs/{number}.txt"), format!("{}{}", prose(100), prose(number)));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let all = &ask(&folder, &["docs/3.txt"])[0];
    assert_eq!((matches(all).len(), &all["common"]), (6, &0.into()));
    let rare = &ask(&folder, &["--max-df", "5", "docs/3.txt"])[0];
    let common = rare["common"].as_u64().unwrap();
    assert!(common > 50, "{rare}");
    // Two texts of few words may still share a phrase or two.
    assert!(matches(rare)[1..].iter().all(|found| found["shared"].as_u64().unwrap() < 5), "{rare}");
    let exact = matches(all).iter().find(|found| found["document"] == "docs/3.txt").unwrap();
    assert_eq!(matches(rare)[0]["shared"], exact["shared"].as_u64().unwrap() - common);
    assert_eq!(rare["found"], all["found"], "what is common is found all the same");
    assert_eq!(ask(&folder, &["--max-df", "6", "docs/3.txt"])[0]["common"], 0);
    let page = folder.ok(&["query", "--max-df", "5", "docs/3.txt"]).stdout;
    assert!(page.contains(&format!("{common} fingerprints left out as common")), "{page}");
}

#[test]
fn passages_are_left_out_on_request() {
    let folder = samples();
    let with = ask(&folder, &[LIFTED]);
    let mut without = ask(&folder, &["--no-passages", LIFTED]);
    assert!(matches(&with[0]).iter().all(|found| !found["passages"].as_array().unwrap().is_empty()));
    for (found, same) in without[0]["matches"].as_array_mut().unwrap().iter_mut().zip(matches(&with[0])) {
        assert_eq!((&found["passages"], &found["coverage"]), (&serde_json::json!([]), &Value::Null));
        for field in ["passages", "coverage"] {
            found[field] = same[field].clone();
        }
    }
    assert_eq!(without, with, "all else is the same");
}

#[test]
fn the_exit_status_tells_on_request_whether_anything_was_found() {
    let folder = samples();
    for (arguments, status) in [
        (&["-e", LIFTED][..], 0),
        (&["-e", "planted/independent.txt"], 1),
        (&["--exit-status", "planted/independent.txt", LIFTED], 0),
        (&["planted/independent.txt"], 0),
        (&["-e", "--min-score", "0.9", LIFTED], 1),
        (&["-e", "planted/independent.txt", "missing.txt"], 2),
    ] {
        assert_eq!(folder.run(&[&["query"], arguments].concat()).status, status, "{arguments:?}");
    }
}

#[test]
fn a_stored_document_is_queried_with_as_it_was_stored() {
    let folder = samples();
    let name = "federalist/fed51.txt";
    folder.ok(&["ingest", "-q", LIFTED]);
    let mut file = ask(&folder, &["--top", "0", name]);
    let itself = file[0]["matches"].as_array_mut().unwrap().remove(0);
    assert_eq!((&itself["document"], &itself["identical"]), (&name.into(), &true.into()));
    file[0]["matching_documents"] = matches(&file[0]).len().into();
    let stored = ["--top", "0", "--document", name];
    let own = ask(&folder, &stored);
    assert_eq!(own[0]["matches"], file[0]["matches"]);
    assert_eq!(own[0]["query"], file[0]["query"]);
    // The queried document is not part of the corpus that it is compared with.
    assert!(own[0]["found"].as_u64() < file[0]["found"].as_u64());
    let coarse = ["--window", "40", "--document", name];
    assert_eq!(ask(&folder, &coarse)[0]["query"]["window"], 40);

    // If the text has changed or is gone, the fingerprints remain, and passages are inferred from them.
    let path = folder.path().join(name);
    std::fs::write(&path, prose(1)).unwrap();
    let measures = |mut answer: Vec<Value>| {
        for found in answer[0]["matches"].as_array_mut().unwrap() {
            let found = found.as_object_mut().unwrap();
            for field in ["passages", "coverage", "inferred"] {
                assert!(found.remove(field).is_some());
            }
        }
        answer
    };
    let inferred = ask(&folder, &stored);
    for (exact, inferred) in matches(&own[0]).iter().zip(matches(&inferred[0])) {
        assert!(exact["inferred"].is_null() && exact["passages"][0]["exact"] == true);
        assert_eq!(
            (&inferred["inferred"], &inferred["passages"][0]["exact"]),
            (&"the query's file has changed since it was ingested".into(), &false.into())
        );
        assert!(
            inferred["coverage"].as_f64() <= exact["coverage"].as_f64() && inferred["coverage"].as_f64() > Some(0.0)
        );
    }
    let own = measures(own);
    assert_eq!(measures(inferred), own);
    assert_eq!(folder.run(&[&["query"], &coarse[..]].concat()).status, 2);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(measures(ask(&folder, &stored)), own);
    assert_snapshot!(told(&folder, &folder.run(&[&["query"], &coarse[..]].concat())), @"
    status 2
    --- stderr
    error: federalist/fed51.txt: the text of federalist/fed51.txt is not where it was read from any more, or has changed
    hint: without --window the stored fingerprints are used; with it, [folder]/federalist/fed51.txt must hold the text it was made from
    ");
}

#[test]
fn answers_come_in_the_order_of_the_queries() {
    let folder = Folder::new();
    let files: Vec<String> = (0..150).map(|number| format!("docs/{number:03}.txt")).collect();
    for (number, file) in files.iter().enumerate() {
        folder.write(file, prose(number));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let backwards: Vec<&str> = files.iter().rev().map(String::as_str).collect();
    let answers = ask(&folder, &[&["--document", "docs/007.txt"], &backwards[..]].concat());
    let names: Vec<&str> = answers.iter().map(|answer| answer["query"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, [&["docs/007.txt"], &backwards[..]].concat());
    for answer in &answers[1..] {
        assert_eq!(matches(answer)[0]["document"], answer["query"]["name"]);
    }
}

#[test]
fn csv_says_what_json_says() {
    let folder = samples();
    let odd = "planted/a \"quoted\", comma.txt";
    folder.write(odd, std::fs::read(folder.path().join(LIFTED)).unwrap());
    for extra in [&[][..], &["--no-passages"], &["--mode", "resemblance", "-n", "64"]] {
        let arguments = [&[odd, COPY, "planted/independent.txt"], extra].concat();
        let csv = folder.ok(&[&["query", "--format", "csv"], &arguments[..]].concat()).stdout;
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let column = |row: &csv::StringRecord, name: &str| {
            row[header.iter().position(|column| column == name).unwrap()].to_owned()
        };
        let mut expected = rows.iter();
        for answer in ask(&folder, &arguments) {
            for found in matches(&answer) {
                let none = [Value::Null];
                let passages = match &found["passages"].as_array().unwrap()[..] {
                    [] => &none[..],
                    passages => passages,
                };
                for passage in passages {
                    let row = expected.next().unwrap();
                    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let or_nothing = |value: &Value| if value.is_null() { String::new() } else { text(value) };
                    assert_eq!(column(row, "query"), text(&answer["query"]["name"]));
                    assert_eq!(column(row, "looked_up"), text(&answer["looked_up"]));
                    for name in ["document", "id", "shared", "containment", "resemblance", "identical", "coverage"] {
                        assert_eq!(column(row, name), or_nothing(&found[name]).trim_end_matches(".0"), "{name}");
                    }
                    assert_eq!(column(row, "interval_low"), or_nothing(&found["interval"][0]));
                    assert_eq!(column(row, "score"), text(&found["score"]).trim_end_matches(".0"));
                    assert_eq!(column(row, "inferred"), or_nothing(&found["inferred"]));
                    assert_eq!(column(row, "estimated").is_empty(), found["estimated"].as_array().unwrap().is_empty());
                    for (name, value) in [
                        ("query_start", &passage["query"]["start"]),
                        ("query_last_line", &passage["query"]["lines"][1]),
                        ("document_end", &passage["document"]["end"]),
                        ("document_first_line", &passage["document"]["lines"][0]),
                        ("symbols", &passage["symbols"]),
                        ("exact", &passage["exact"]),
                    ] {
                        assert_eq!(column(row, name), or_nothing(value), "{name}");
                    }
                }
            }
        }
        assert!(expected.next().is_none() && !rows.is_empty());
    }
}

/// A line of JSON with a field of `depth` nested arrays.
fn nested(text: &str, depth: usize) -> String {
    format!("{{\"text\":{},\"beside\":{}{}}}\n", Value::from(text), "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn why_the_text_of_a_query_cannot_be_had_is_told() {
    let folder = Folder::new();
    folder.ok(&["init", "--profile", "prose"]);
    // A container of more than 64 MiB is not searched for one member.
    let padding = "x".repeat(33 << 20);
    let record = |text: String| format!("{}\n", json!({ "text": text, "padding": padding }));
    folder.write("large.jsonl", [record(prose(1)), record(prose(1))].concat());
    folder.write("same.txt", prose(1));
    folder.write("other.txt", prose(1) + ".");
    folder.ok(&["ingest", "-q", "large.jsonl", "other.txt"]);
    std::fs::remove_file(folder.path().join("other.txt")).unwrap();
    std::fs::create_dir(folder.path().join("other.txt")).unwrap();
    let why = |name: &str| ask(&folder, &["--document", name])[0]["matches"][0]["inferred"].clone();
    assert_eq!(
        why("large.jsonl:1"),
        "the query's text was not stored, and its container is too large to be searched for it"
    );
    assert_eq!(why("other.txt"), "the query's file can no longer be read");
    std::fs::remove_dir(folder.path().join("other.txt")).unwrap();
    assert_eq!(why("other.txt"), "the query's text is gone");
    // Another window needs the text, and the error says why the text is unavailable.
    let coarse = folder.run(&["query", "--window", "40", "--document", "large.jsonl:1"]);
    assert_snapshot!(told(&folder, &coarse), @"
    status 2
    --- stderr
    error: large.jsonl:1: its text is needed for this window and cannot be read again: [folder]/large.jsonl has more than 67108864 bytes and is not searched for one member
    hint: without --window the stored fingerprints are used; unpack it and query with the member itself; `fpdb ingest --store-text` keeps the texts of members at hand
    ");
}

#[test]
fn what_was_ingested_under_larger_limits_is_read_again_under_them() {
    let folder = Folder::new();
    folder.ok(&["init", "--profile", "prose"]);
    folder.write("deep.jsonl", [nested(&prose(1), 90), nested(&(prose(1) + "."), 90)].concat());
    folder.write("page.html", format!("<p>{}</p>", prose(1)));
    // With the same bytes as a stored document, the text would be compared with itself.
    folder.write("text.txt", prose(1) + "!");
    let depth = ["--limit", "json-depth=100"];
    let refused = folder.run(&["ingest", "deep.jsonl"]);
    assert!(refused.status == 2 && refused.stderr.contains("--limit json-depth="), "{refused:?}");
    folder.ok(&[&["ingest", "-q", "deep.jsonl", "page.html"], &depth[..]].concat());

    let inferred = |arguments: &[&str], name: &str| {
        let answer = ask(&folder, arguments);
        matches(&answer[0]).iter().find(|found| found["document"] == name).unwrap()["inferred"].clone()
    };
    let first = ["--document", "deep.jsonl:1"];
    let limited = "the query exceeds a limit; it may have been ingested under a larger one";
    assert_eq!(inferred(&first, "deep.jsonl:2"), limited);
    assert_eq!(inferred(&[first, depth].concat(), "deep.jsonl:2"), Value::Null);
    let limited = "it exceeds a limit; it may have been ingested under a larger one";
    assert_eq!(inferred(&["text.txt"], "deep.jsonl:1"), limited);
    assert_eq!(inferred(&[&["text.txt"], &depth[..]].concat(), "deep.jsonl:1"), Value::Null);
    // Limits for formats that are read whole apply both to reading a document and to making its symbols.
    assert_eq!(inferred(&["text.txt"], "page.html"), Value::Null);
    assert_eq!(inferred(&["text.txt", "--limit", "whole-size=10"], "page.html"), limited);

    let exact = |arguments: &[&str]| {
        let pairs = folder.ok(&[&["pairs", "--passages", "--format", "json"], arguments].concat()).json();
        let pair = pairs.iter().find(|pair| pair["a"] == "deep.jsonl:1" && pair["b"] == "deep.jsonl:2").unwrap();
        pair["passages"][0]["exact"].clone()
    };
    assert_eq!((exact(&[]), exact(&depth)), (false.into(), true.into()));
    let report = ["pairs", "--format", "html", "-o", "report"];
    assert_eq!(folder.run(&report).status, 2, "texts cannot be read again");
    folder.ok(&[&report, &depth[..]].concat());

    for command in [&["diff", "page.html", "text.txt"][..], &["query", "page.html"]] {
        folder.ok(command);
        let refused = folder.run(&[command, &["--limit", "whole-size=10"]].concat());
        assert!(
            refused.status == 2 && refused.stderr.contains("a larger --limit whole-size=SIZE lets it pass"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_query_shorter_than_what_is_surely_found_says_so() {
    let folder = samples();
    let page = |letters: usize, flags: &[&str]| {
        folder.write("short.txt", &"abcdefghijklmnopqrstuvwxyz".repeat(9)[..letters]);
        folder.ok(&[&["query", "short.txt"], flags].concat()).stdout
    };
    assert!(
        page(24, &[]).contains("  too short: it has fewer than 25 symbols (k), so only identical documents match\n")
    );
    assert!(page(43, &[]).contains("  shorter than the 44 symbols that are surely found: matches may be missing\n"));
    assert!(!page(44, &[]).contains("shorter than"));
    assert!(page(44, &["--window", "40"]).contains("  shorter than the 64 symbols that are surely found"));
}

#[test]
fn passages_are_shown_with_their_lines() {
    let folder = samples();
    let page = folder.ok(&["query", LIFTED, "--top", "1", "--context", "1"]).stdout;
    let text = std::fs::read_to_string(folder.path().join("federalist/fed51.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("      4")).collect();
    let expected: Vec<String> = [(42, '-'), (43, ':'), (44, ':')]
        .map(|(number, mark)| format!("      {number}{mark} {}", lines[number - 1]).trim_end().to_owned())
        .to_vec();
    assert_eq!(shown.iter().map(|line| line.trim_end()).collect::<Vec<_>>(), expected, "{page}");
    let diff = folder.ok(&["diff", LIFTED, "federalist/fed51.txt", "-C", "0"]).stdout;
    assert!(diff.contains(&format!("\n      43: {}", lines[42].trim_end())), "{diff}");
    for plain in [&["--no-text"][..], &[]] {
        let page = folder.ok(&[&["query", LIFTED, "--top", "1"], plain].concat()).stdout;
        assert!(!page.contains("      43:"), "{page}");
    }
}

/// If there are many passages, the page has the longest ones, in the order of the query.
#[test]
fn the_longest_passages_are_shown() {
    let folder = Folder::new();
    let stretches: Vec<String> = (0..14).map(|seed| prose(seed)[..100 + 20 * seed].to_owned()).collect();
    folder.write("asked.txt", stretches.join("\n"));
    let apart = |(number, stretch): (usize, &String)| format!("{stretch} {}\n", &prose(100 + number)[..300]);
    folder.write("docs/one.txt", stretches.iter().rev().enumerate().map(apart).collect::<String>());
    folder.ok(&["ingest", "-q", "docs"]);
    let answer = ask(&folder, &["asked.txt"]);
    let mut passages = matches(&answer[0])[0]["passages"].as_array().unwrap().clone();
    assert!(passages.len() > 13);
    passages.sort_by_key(|passage| std::cmp::Reverse(passage["symbols"].as_u64()));
    let more = passages.split_off(10).len();
    passages.sort_by_key(|passage| passage["query"]["start"].as_u64());
    let expected: Vec<String> = passages
        .iter()
        .map(|passage| format!("bytes {}-{} = ", passage["query"]["start"], passage["query"]["end"]))
        .collect();
    let page = folder.ok(&["query", "asked.txt"]).stdout;
    let shown: Vec<&str> = page.lines().filter(|line| line.contains(", bytes ")).collect();
    assert_eq!(shown.len(), expected.len(), "{page}");
    assert!(shown.iter().zip(&expected).all(|(line, bytes)| line.contains(bytes)), "{page}");
    assert!(page.contains(&format!("      {more} shorter passages (--format json shows all)\n")), "{page}");
}

/// If one of two files is no text, the error names this file.
#[test]
fn a_comparison_names_the_file_that_is_no_text() {
    let folder = Folder::new();
    folder.write("a.txt", prose(40));
    folder.write("b.bin", b"\0\x01\x02\0".repeat(100));
    for (a, b) in [("a.txt", "b.bin"), ("b.bin", "a.txt")] {
        let run = folder.run(&["diff", a, b]);
        assert_eq!(run.status, 2, "{run:#?}");
        assert!(run.stderr.starts_with("error: cannot compare b.bin: "), "{run:#?}");
        assert!(run.stderr.contains("\nhint: a database made with `--profile bytes`"), "{run:#?}");
    }
}
