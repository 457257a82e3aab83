//! All pairs, and comparisons of two files. The pairs are compared with the answers to one query for each
//! document.

mod order;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{Folder, shared_data, word};

/// Documents of words. Neighbours share several sentences, and all documents share one.
fn corpus(folder: &Folder) {
    let sentence = |seed: u64| -> String { (0..12).map(|place| word((seed * 31 + place * 17) % 997) + " ").collect() };
    for document in 0..24u64 {
        let part = if document < 12 { "old" } else { "new" };
        let mut text = sentence(5000);
        for line in document..document + 6 {
            text.push_str(&sentence(line));
        }
        text.push_str(&sentence(100 + document).repeat(2));
        folder.write(&format!("{part}/{document:02}.txt"), text);
    }
}

type Names = (String, String);
type Numbers = (u64, f64, f64, f64);
type Pairs = BTreeMap<Names, Numbers>;

fn pairs(folder: &Folder, flags: &[&str]) -> Pairs {
    let mut arguments = vec!["pairs", "--format", "json"];
    arguments.extend(flags);
    let lines = folder.ok(&arguments).json();
    let resemblances: Vec<f64> = lines.iter().map(|line| line["resemblance"].as_f64().unwrap()).collect();
    assert!(resemblances.is_sorted_by(|a, b| a >= b));
    lines.iter().map(|line| (names(line), numbers(line))).collect()
}

fn names(line: &Value) -> Names {
    (line["a"].as_str().unwrap().to_owned(), line["b"].as_str().unwrap().to_owned())
}

fn numbers(line: &Value) -> Numbers {
    let number = |field: &str| line[field].as_f64().unwrap();
    (line["shared"].as_u64().unwrap(), number("resemblance"), number("containment_a"), number("containment_b"))
}

/// Computes the same pairs by one query for each document. Keeps the pairs whose queried document was added
/// first.
fn from_queries(folder: &Folder) -> Pairs {
    let documents = folder.ok(&["list", "--format", "json"]).json();
    let mut expected = Pairs::new();
    for document in &documents {
        let name = document["name"].as_str().unwrap();
        let answer =
            folder.ok(&["query", "--document", name, "--top", "0", "--no-passages", "--format", "json"]).json();
        for found in answer[0]["matches"].as_array().unwrap() {
            if found["id"].as_u64() > document["id"].as_u64() {
                let number = |field: &str| found[field].as_f64().unwrap();
                let measures = (
                    found["shared"].as_u64().unwrap(),
                    number("resemblance"),
                    number("containment"),
                    number("document_containment"),
                );
                expected.insert((name.to_owned(), found["document"].as_str().unwrap().to_owned()), measures);
            }
        }
    }
    expected
}

#[test]
fn pairs_are_what_one_query_a_document_finds() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "old", "new"]);
    folder.ok(&["rm", "old/03.txt"]);
    let expected = from_queries(&folder);
    assert_eq!(expected.len(), 23 * 22 / 2);
    assert_eq!(pairs(&folder, &["--min-resemblance", "0"]), expected);
    // Many blocks, and one thread or two, give the same pairs.
    for threads in ["1", "2"] {
        let flags = ["--min-resemblance", "0", "--memory", "1000", "--threads", threads];
        assert_eq!(pairs(&folder, &flags), expected);
    }

    let only = |keep: &dyn Fn(&Names, &Numbers) -> bool| -> Pairs {
        expected.iter().filter(|(names, numbers)| keep(names, numbers)).map(|(n, m)| (n.clone(), *m)).collect()
    };
    assert_eq!(pairs(&folder, &["--min-shared", "25"]), only(&|_, m| m.0 >= 25));
    assert_eq!(pairs(&folder, &["--min-resemblance", "0.2"]), only(&|_, m| m.1 >= 0.2));
    assert_eq!(pairs(&folder, &["--min-containment", "0.4"]), only(&|_, m| m.2.max(m.3) >= 0.4));
    let all = "--min-resemblance=0";
    let across = only(&|(a, b), _| a.starts_with("old/") != b.starts_with("old/"));
    assert!(!across.is_empty());
    assert_eq!(pairs(&folder, &["--across", "old/", "new/", all]), across);
    assert_eq!(pairs(&folder, &["--across", "old/", all]), across);
    // Old documents are not compared with each other, but new ones are.
    let with_new = only(&|(a, b), _| a.starts_with("new/") || b.starts_with("new/"));
    assert!(with_new.len() > across.len() && with_new.len() < expected.len());
    for flags in [&["--old", "old"][..], &["--old", "old/", "--threads", "1", "--memory", "1000"]] {
        assert_eq!(pairs(&folder, &[flags, &[all]].concat()), with_new);
    }
    let some = only(&|(a, b), _| {
        !(a.starts_with("old/0") || a == "new/21.txt") || !(b.starts_with("old/0") || b == "new/21.txt")
    });
    assert_eq!(pairs(&folder, &["--old", "old/0", "new/21.txt", all]), some);
    let weighted = |flags: &[&str]| {
        let mut pairs = folder.ok(&[&["pairs", "--format", "json", "--weight", "idf", all], flags].concat()).json();
        for pair in &mut pairs {
            for (field, name) in [("a_old", "a"), ("b_old", "b")] {
                let is_old = pair[name].as_str().unwrap().starts_with("old/");
                let told = pair.as_object_mut().unwrap().remove(field);
                assert_eq!(told, (is_old && flags.contains(&"--old")).then(|| true.into()));
            }
        }
        pairs
    };
    let mut expected_weighted = weighted(&[]);
    expected_weighted.retain(|pair| with_new.contains_key(&names(pair)));
    assert_eq!(weighted(&["--old", "old"]), expected_weighted);
    let run = folder.run(&["pairs", "--old", "olde/"]);
    assert!(
        run.status == 2 && run.stderr.contains("no stored document fits olde/ (--old)\nhint: did you mean old?\n"),
        "{run:?}"
    );
    let run = folder.run(&["pairs", "--old", "old", "new"]);
    assert!(run.status == 0 && run.stderr.contains("all 23 documents are old (--old)"), "{run:?}");
    // If prefixes contain each other, the longest one counts, in any order of the flags.
    let nested = only(&|(a, b), _| a.starts_with("old/0") != b.starts_with("old/0") && !b.starts_with("new/"));
    assert!(!nested.is_empty());
    assert_eq!(pairs(&folder, &["--across", "old/", "old/0", all]), nested);
    assert_eq!(pairs(&folder, &["--across", "old/0", "old/", all]), nested);
    // Without a pair, a note says what was compared.
    let run = folder.ok(&["pairs", "--across", "old/", "new/", "--min-shared", "1000000"]);
    assert!(
        run.stderr.contains("only documents under different prefixes were compared (--across old/ new/)\n"),
        "{run:?}"
    );
    let run = folder.ok(&["pairs", "--across", "old/", "--min-shared", "1000000"]);
    assert!(
        run.stderr.contains("only documents under old/ and those outside it were compared (--across)\n"),
        "{run:?}"
    );
    let run = folder.run(&["pairs", "--across", "old/", "newe/"]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("no stored document fits newe/ (--across)\nhint: did you mean new?\n"), "{run:?}");
    // Counters that do not fit in memory are an error. The counters of some threads leave room for lists.
    let run = folder.run(&["pairs", "--memory", "100"]);
    assert!(run.status == 2 && run.stderr.contains("needs 192 bytes of memory"), "{run:?}");
    assert_eq!(pairs(&folder, &["--memory", "192", "--threads", "2", all]), expected);
}

/// A pair with low resemblance may have the longest passage.
#[test]
fn pairs_are_sorted_by_their_longest_passages() {
    let folder = Folder::new();
    let words = |first: u64, count: u64| -> String { (first..first + count).map(|place| word(place) + " ").collect() };
    for number in 0..4 {
        folder.write(&format!("class/{number}/a.txt"), words(0, 30) + &words(1000 + 100 * number, 10));
    }
    folder.write("class/4/a.txt", words(2000, 300) + &words(5000, 60));
    folder.write("class/4/b.txt", words(6000, 20));
    folder.write("class/5/a.txt", words(7000, 400));
    folder.write("class/5/b.txt", words(5000, 60) + &words(8000, 500));
    folder.ok(&["ingest", "-q", "--profile", "words", "class"]);
    let all = ["pairs", "--min-resemblance", "0"];
    for submissions in [&[][..], &["--submission-by", "class"]] {
        let flags = [&all[..], submissions].concat();
        let mut expected = folder.ok(&[&flags[..], &["--passages", "--format", "json"]].concat()).json();
        for pair in &expected {
            let files = pair["files"].as_array().cloned().unwrap_or_else(|| vec![pair.clone()]);
            let symbols =
                files.iter().flat_map(|file| file["passages"].as_array().unwrap()).map(|passage| &passage["symbols"]);
            assert_eq!(pair["longest"].as_u64(), symbols.filter_map(Value::as_u64).max());
        }
        expected.sort_by_key(|pair| std::cmp::Reverse(pair["longest"].as_u64()));
        let sorted = [&flags[..], &["--sort", "longest", "--format", "json"]].concat();
        assert_eq!(folder.ok(&[&sorted[..], &["--passages"]].concat()).json(), expected);
        let without = |mut pair: Value| {
            for part in [&mut pair].into_iter().flat_map(|pair| {
                let pair = pair.as_object_mut().unwrap();
                pair.remove("passages");
                pair.get_mut("files").and_then(Value::as_array_mut).into_iter().flatten()
            }) {
                part.as_object_mut().unwrap().remove("passages");
            }
            pair
        };
        let expected: Vec<Value> = expected.into_iter().map(without).collect();
        assert_eq!(folder.ok(&sorted).json(), expected);
        assert_eq!(folder.ok(&[&sorted[..], &["--top", "2"]].concat()).json(), expected[..2]);
        assert_eq!(expected[0]["longest"], 60);
    }
    insta::assert_snapshot!(folder.ok(&[&all[..], &["--sort", "longest", "--top", "2"]].concat()).stdout, @r"
      longest  resemblance     a in b     b in a     shared
           60         6.8%      16.2%      10.4%         58  class/4/a.txt  class/5/b.txt
           30        58.3%      73.7%      73.7%         28  class/0/a.txt  class/1/a.txt
    2 of 7 pairs (--top 0 prints all)
    ");
    for more in [&[][..], &["--passages"], &["--submission-by", "class", "--passages"]] {
        let table = folder.ok(&[&all[..], &["--sort", "longest", "--format", "csv"], more].concat()).stdout;
        // The columns of pages and of measures without boilerplate follow.
        let after = if more.contains(&"--passages") { 4 + 3 } else { 3 };
        let longest: Vec<_> = table.lines().filter_map(|line| line.rsplit(',').nth(after)).collect();
        assert_eq!(longest[..2], ["longest", "60"], "{table}");
    }
    let run = folder.run(&["pairs", "--sort", "longest", "--format", "html", "-o", "report"]);
    assert!(run.status == 2 && run.stderr.contains("sorted by its headings"), "{run:?}");
}

/// A text that all documents hold, and that `--max-df` ignores, does not make a passage beside it longer.
#[test]
fn the_longest_passage_is_that_of_the_text_that_counts() {
    let folder = Folder::new();
    let statements = |first: u64, count: u64| -> String {
        let statement = |line| format!("{} = {}({});\n", word(line), word(7 * line), word(31 * line % 900));
        (first..first + count).map(statement).collect()
    };
    let (task, small, large) = (statements(1, 60), statements(1000, 12), statements(2000, 30));
    for number in 0..8 {
        let own = statements(3000 + 100 * number, 40);
        let text = match number {
            0 | 1 => format!("{task}{small}{own}"),
            2 | 3 => format!("{task}{own}{large}"),
            _ => format!("{task}{own}"),
        };
        folder.write(&format!("in/{number}.c"), text);
    }
    let profiles = ["words", "prose"];
    for profile in profiles {
        folder.ok(&["--db", profile, "ingest", "-q", "--profile", profile, "in"]);
    }
    let longest = |profile, flags: &[&str]| {
        let pairs = ["--db", profile, "pairs", "--sort", "longest", "--min-resemblance", "0", "--format", "json"];
        let pairs = folder.ok(&[&pairs[..], flags].concat()).json();
        pairs.iter().map(|pair| (names(pair), pair["longest"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    let pair = |a: &str, b: &str| (format!("in/{a}.c"), format!("in/{b}.c"));
    for is_there in [true, false] {
        if !is_there {
            std::fs::remove_dir_all(folder.path().join("in")).unwrap();
        }
        for profile in profiles {
            let whole = longest(profile, &[]);
            assert_eq!(whole[0].0, pair("0", "1"), "{profile} {whole:?}");
            let counted = longest(profile, &["--max-df", "4"]);
            assert_eq!(counted[0].0, pair("2", "3"), "{profile} {counted:?}");
            let [of_large, of_small] = [pair("2", "3"), pair("0", "1")]
                .map(|names| counted.iter().find(|(found, _)| *found == names).unwrap().1);
            assert!(of_small * 3 > of_large && of_small * 2 < of_large, "{profile} {counted:?}");
            if profile == "words" && is_there {
                assert_eq!([of_large, of_small], [90, 36]);
            }
        }
    }
}

/// Each format reports ignored hashes, on standard error unless `--quiet` is given.
#[test]
fn hashes_that_were_not_counted_are_told_in_every_format() {
    let folder = Folder::new();
    let lines: String = (0..1001).map(|_| "{\"text\":\"Half a league, half a league, half a league onward, all in the valley of Death rode the six hundred.\"}\n").collect();
    folder.write("a.jsonl", lines);
    folder.ok(&["ingest", "-q", "a.jsonl"]);
    let fingerprints = folder.ok(&["stats", "--hashes", "--format", "json"]).json()[0]["distinct"].clone();
    let told = format!(
        "{fingerprints} fingerprints are held by more than 1,000 documents each and were not counted (--max-df)"
    );
    for format in ["json", "csv"] {
        let quiet = folder.ok(&["pairs", "-q", "--format", format]);
        let run = folder.ok(&["pairs", "--format", format]);
        assert!(run.stderr.contains(&told) && quiet.stderr.is_empty(), "{run:?}");
        assert_eq!(
            run.stdout.lines().count(),
            usize::from(format == "csv"),
            "one line a pair, and no pair is left: {run:?}"
        );
    }
    assert!(folder.ok(&["pairs", "-q"]).stdout.contains(&told));
    folder.write("b.jsonl", "{\"text\":\"Half a league, half a league, half a league onward, all in the valley\"}\n");
    folder.ok(&["ingest", "-q", "--boilerplate", "b.jsonl"]);
    for format in ["json", "csv"] {
        let asked = ["pairs", "--max-df", "0", "--top", "1", "--format", format];
        let (run, quiet) = (folder.ok(&asked), folder.ok(&[&asked[..], &["-q"]].concat()));
        assert!(run.stderr.contains("held by boilerplate") && quiet.stderr.is_empty(), "{run:?}");
        assert_eq!(run.stdout.lines().count(), 1 + usize::from(format == "csv"), "{run:?}");
    }
    // No hash is ignored, so nothing is reported.
    folder.ok(&["rm", "b.jsonl:1"]);
    let run = folder.ok(&["pairs", "-q", "--max-df", "0", "--top", "3", "--format", "json"]);
    assert_eq!((run.json().len(), &*run.stderr), (3, ""));
}

#[test]
fn groups_and_old_documents_are_not_paired_among_themselves() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "old"]);
    folder.ok(&["ingest", "-q", "new"]);
    let all = pairs(&folder, &["--min-resemblance", "0"]);
    let only = |keep: &dyn Fn(&str, &str) -> bool| -> Pairs {
        all.iter().filter(|((a, b), _)| keep(a, b)).map(|(names, numbers)| (names.clone(), *numbers)).collect()
    };
    let with = |flags: &[&str]| pairs(&folder, &[flags, &["--min-resemblance", "0"]].concat());
    // The group is the expression's first group, else its whole match. Documents without a match pair with
    // all others.
    let folders = only(&|a, b| a[..3] != b[..3]);
    assert_eq!(with(&["--group-by", "^([^/]*)/[0-9]"]), folders);
    assert_eq!(with(&["--group-by", "^old|^new"]), folders);
    assert_eq!(with(&["--group-by", "^old"]), only(&|a, b| !(a.starts_with("old") && b.starts_with("old"))));
    assert_eq!(folder.run(&["pairs", "--group-by", "nowhere"]).status, 2);
    let run = folder.run(&["pairs", "--group-by", "("]);
    assert!(run.status == 2 && run.stderr.contains("regular expression"), "{run:#?}");

    // Documents are numbered from 0, old ones first.
    for memory in ["1000", "1GiB"] {
        assert_eq!(with(&["--new-since", "12", "--memory", memory]), folders);
        let few = only(&|a, b| (a < "old/03" && a.starts_with("old")) != (b < "old/03" && b.starts_with("old")));
        assert_eq!(with(&["--new-since", "3", "--memory", memory]), few);
    }
    assert_eq!(with(&["--new-since", "24"]), Pairs::new());
    assert_eq!(with(&["--new-since", "2001-01-01"]), Pairs::new(), "all are new");
    assert_eq!(with(&["--new-since", "2999-12-31T23:59"]), Pairs::new(), "none is");
    for (since, note) in [
        ("2001-01-01", "all 24 documents are new, so --new-since has no old ones to compare them with"),
        ("2999-12-31", "none of 24 documents is new (--new-since)"),
    ] {
        let run = folder.ok(&["pairs", "--new-since", since]);
        assert!(run.stdout == "no pairs\n" && run.stderr.contains(note), "{run:?}");
    }
    assert_eq!(folder.ok(&["pairs", "--new-since", "12"]).stderr.matches("--new-since").count(), 0);
    assert_eq!(folder.run(&["pairs", "--new-since", "soon"]).status, 2);
}

/// By the definition, each word trigram has the weight ln(1 + N / df).
#[test]
fn rare_hashes_count_more() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "old", "new"]);
    let mut sets: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    for number in 0..24 {
        let name = format!("{}/{number:02}.txt", if number < 12 { "old" } else { "new" });
        let text = std::fs::read_to_string(folder.path().join(&name)).unwrap();
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        sets.insert(name, words.windows(3).map(<[String]>::to_vec).collect());
    }
    let holders = |gram: &Vec<String>| sets.values().filter(|set| set.contains(gram)).count();
    for max_df in [0, 10] {
        let counts = |gram: &&Vec<String>| max_df == 0 || holders(gram) <= max_df;
        let weight = |gram: &Vec<String>| (1.0 + 24.0 / holders(gram) as f64).ln();
        let sum = |grams: &mut dyn Iterator<Item = &Vec<String>>| grams.filter(counts).map(weight).sum::<f64>();
        let flags = ["pairs", "--weight", "idf", "--min-resemblance", "0.1", "--format", "json", "--max-df"];
        let lines = folder.ok(&[&flags[..], &[&max_df.to_string()]].concat()).json();
        let score = |line: &Value| line["score"].as_f64().unwrap();
        assert!(lines.is_sorted_by(|x, y| score(x) >= score(y)) && !lines.is_empty());
        let mut expected = 0;
        for (a, set) in &sets {
            for (b, other) in sets.iter().filter(|(b, _)| *b != a && (a.starts_with("old") || b.starts_with("new"))) {
                if a.starts_with(&b[..3]) && a > b {
                    continue;
                }
                // Common hashes do not count as shared, but are part of both sizes.
                let shared = sum(&mut set.intersection(other));
                let all = set.iter().map(weight).sum::<f64>() + other.iter().map(weight).sum::<f64>() - shared;
                expected += usize::from(shared / all >= 0.1);
                if let Some(line) = lines.iter().find(|line| names(line) == (a.clone(), b.clone())) {
                    assert!((score(line) - shared / all).abs() < 1e-9, "{line}: {}", shared / all);
                }
            }
        }
        assert_eq!(lines.len(), expected);
    }
    // Text for people shows the score beside the resemblance, which differs.
    let flags = ["pairs", "--weight", "idf", "--min-resemblance", "0.1", "--format"];
    let (human, first) =
        (folder.ok(&[&flags[..], &["human"]].concat()).stdout, folder.ok(&[&flags[..], &["json"]].concat()));
    let first = first.json().remove(0);
    let shown: Vec<&str> = human.lines().nth(1).unwrap().split_whitespace().collect();
    let percent = |field: &str| format!("{:.1}%", 100.0 * first[field].as_f64().unwrap());
    assert!(human.starts_with("    score  resemblance     a in b"), "{human}");
    assert_eq!(shown[..2], [percent("score"), percent("resemblance")]);
    assert_ne!(shown[0], shown[1]);
    // A query is ranked by the weighted containment.
    let query = ["query", "--weight", "idf", "--top", "0", "--no-passages", "--format", "json", "old/05.txt"];
    let answer = folder.ok(&query).json().remove(0);
    let own = &sets["old/05.txt"];
    let weight = |gram: &Vec<String>| (1.0 + 24.0 / holders(gram) as f64).ln();
    for found in answer["matches"].as_array().unwrap() {
        let shared: f64 = own.intersection(&sets[found["document"].as_str().unwrap()]).map(weight).sum();
        let all: f64 = own.iter().map(weight).sum();
        assert!((found["score"].as_f64().unwrap() - shared / all).abs() < 1e-9, "{found}");
    }
}

/// Three shared words are no evidence, but a shared sentence is.
#[test]
fn the_default_threshold_is_that_of_the_profile() {
    let folder = Folder::new();
    let words = |from: u64, to: u64| (from..to).map(|number| word(number * 7) + " ").collect::<String>();
    folder.write("docs/a.txt", words(0, 200) + "now here is one more");
    folder.write("docs/b.txt", words(300, 500) + "then here is one less");
    folder.write("docs/c.txt", words(600, 800) + &words(30, 70));
    let found = |flags: &[&str]| pairs(&folder, flags).into_keys().map(|(a, b)| a + &b).collect::<Vec<String>>();
    folder.ok(&["--db", "words", "ingest", "-q", "--profile", "words", "docs"]);
    let (ab, ac) = ("docs/a.txtdocs/b.txt", "docs/a.txtdocs/c.txt");
    assert_eq!(found(&["--db", "words"]), [ac]);
    assert_eq!(found(&["--db", "words", "--min-resemblance", "0"]), [ab, ac]);
    assert_eq!(found(&["--db", "words", "--min-shared", "1"]), [ab, ac]);
    assert_eq!(found(&["--db", "words", "--min-shared", "2"]), [ac]);
    let told = |flags: &[&str]| folder.ok(&[&["--db", "words", "pairs"], flags].concat()).stderr;
    assert!(told(&[]).contains("1 more pair has a resemblance below 0.03 and is left out"), "{}", told(&[]));
    assert!(!told(&["--min-resemblance", "0.03"]).contains("more"), "what was asked for is no news");
    assert_eq!(found(&["--db", "words", "--min-containment", "0.001"]), [ab, ac]);
    folder.ok(&["--db", "prose", "ingest", "-q", "--profile", "prose", "docs"]);
    assert_eq!(found(&["--db", "prose"]), [ac], "one shared run of t symbols is enough");
}

#[test]
fn pairs_are_the_same_however_little_memory_there_is_and_the_best_few_are_the_first() {
    let folder = Folder::new();
    // 19,900 pairs of 32 bytes each: more than fit in an eighth of the minimum memory.
    let texts = (0..200u64).map(|n| format!("{{\"text\":\"all of them share this {}\"}}\n", word(n / 3)));
    folder.write("many.jsonl", texts.collect::<String>());
    folder.ok(&["ingest", "-q", "--profile", "words", "many.jsonl"]);
    let flags = ["pairs", "--format", "json", "--min-resemblance", "0"];
    let all = folder.ok(&flags).stdout;
    assert_eq!(all.lines().count(), 200 * 199 / 2);
    std::fs::create_dir(folder.path().join("spill")).unwrap();
    assert_eq!(folder.ok(&[&flags[..], &["--memory", "200k", "--temp-dir", "spill"]].concat()).stdout, all);
    assert_eq!(std::fs::read_dir(folder.path().join("spill")).unwrap().count(), 0, "spilled pairs have no name");
    for top in ["1", "100", "19899", "30000"] {
        let best: String = all.lines().take(top.parse().unwrap()).map(|line| line.to_owned() + "\n").collect();
        assert_eq!(folder.ok(&[&flags[..], &["--top", top, "--memory", "200k"]].concat()).stdout, best, "{top}");
    }
    let shown = folder.ok(&["pairs", "--top", "2", "--min-resemblance", "0"]).stdout;
    let total = "2 of 19,900 pairs (--top 0 prints all; --sort longest puts long passages first)\n";
    assert!(shown.ends_with(total), "{shown}");
}

#[test]
fn common_hashes_are_left_out_and_said() {
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["ingest", "-q", "--profile", "words", "old", "new"]);
    let capped = folder.ok(&["pairs", "--max-df", "20", "--min-resemblance", "0", "--format", "json"]);
    assert!(capped.stderr.contains("held by more than 20 documents"), "{capped:#?}");
    let shown = folder.ok(&["pairs", "--max-df", "20", "--min-resemblance", "0"]);
    let first = shown.stdout.lines().next().unwrap();
    assert!(first.contains("held by more than 20 documents") && first.contains("missing"), "{shown:#?}");
    assert!(!folder.ok(&["pairs", "--max-df", "0"]).stdout.contains("missing"));
    let all = pairs(&folder, &["--max-df", "0", "--min-resemblance", "0"]);
    let capped: Pairs = capped.json().iter().map(|line| (names(line), numbers(line))).collect();
    // The common sentence is the only text that distant documents share.
    let far = ("old/00.txt".to_owned(), "new/20.txt".to_owned());
    assert!(all.contains_key(&far) && !capped.contains_key(&far));
}

#[test]
fn two_files_compare_as_one_queried_against_the_other() {
    let folder = Folder::new();
    corpus(&folder);
    for flags in [&["--profile", "words"][..], &["-k", "8", "-w", "5"], &["--unit", "byte", "-k", "9", "-w", "6"]] {
        let db = format!("db-{}", flags.join(""));
        let mut ingest = vec!["--db", &db, "ingest", "-q", "new/13.txt"];
        ingest.extend(flags);
        folder.ok(&ingest);
        let mut diff = vec!["diff", "old/10.txt", "new/13.txt", "--format", "json"];
        diff.extend(flags);
        let mut query = folder.ok(&["--db", &db, "query", "old/10.txt", "--format", "json"]).json();
        let mut diff = folder.ok(&diff).json();
        for answer in [&mut query[0], &mut diff[0]] {
            answer["matches"][0].as_object_mut().unwrap().remove("id");
        }
        assert_eq!(diff, query, "{flags:?}");
        assert!(!diff[0]["matches"][0]["passages"].as_array().unwrap().is_empty());
    }
    folder.write("x.txt", "nothing in common with the others at all, not even five words of it");
    assert_eq!(folder.run(&["diff", "-e", "x.txt", "old/10.txt", "-k", "8", "-w", "5"]).status, 1);
    assert_eq!(folder.run(&["diff", "x.txt", "old/10.txt", "-k", "8", "-w", "5"]).status, 0);
    assert_eq!(folder.run(&["diff", "x.txt", "gone.txt"]).status, 2);
}

/// The 2001 paper's measure on its own corpus.
#[test]
fn the_federalist_pairs_above_the_threshold_are_the_known_ones() {
    let Some(papers) = shared_data("federalist") else { return };
    let folder = Folder::new();
    folder.ok(&["ingest", "-q", "--profile", "words", "--exclude", "*.json", papers.to_str().unwrap()]);
    let flagged = folder.ok(&["pairs", "--min-resemblance", "0.03", "--format", "json"]).json();
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(papers.join("expected.json")).unwrap()).unwrap();
    let known: Vec<&Value> = expected["A85_body"]["top_R"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pair| pair["R"].as_f64() > Some(0.03))
        .collect();
    assert_eq!(flagged.len(), known.len());
    for (pair, known) in flagged.iter().zip(known) {
        assert!(pair["a"].as_str().unwrap().ends_with(&format!("fed{:02}.txt", known["a"].as_u64().unwrap())));
        assert!(pair["b"].as_str().unwrap().ends_with(&format!("fed{:02}.txt", known["b"].as_u64().unwrap())));
        assert_eq!(pair["shared"], known["common"]);
        assert!((pair["resemblance"].as_f64().unwrap() - known["R"].as_f64().unwrap()).abs() < 1e-6);
    }
}
