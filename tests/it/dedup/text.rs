//! Documents with the same text in other bytes, the plan of a run, and the order of arrival.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::jobs::jobs;
use super::{sentence, sentences};
use crate::support::{Folder, lcg};

const BY_TEXT: [&str; 6] = ["dedup", "-q", "--by", "exact-text", "--format", "json"];

fn removed(lines: &[Value]) -> BTreeMap<String, (String, String)> {
    let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
    let rows = lines.iter().filter(|line| line["schema"] == "fpdb.dedup/1");
    rows.map(|line| (text(line, "remove"), (text(line, "keep"), text(line, "because")))).collect()
}

fn expected(rows: &[(&str, &str, &str)]) -> BTreeMap<String, (String, String)> {
    rows.iter().map(|&(remove, keep, because)| (remove.into(), (keep.into(), because.into()))).collect()
}

#[test]
fn documents_of_the_same_text_go_whatever_their_bytes() {
    let folder = Folder::new();
    let text = sentences(0..12);
    folder.write("c/a.txt", &text);
    folder.write("c/b.txt", text.to_uppercase().replace(' ', ",\n  "));
    folder.write("c/copy.txt", &text);
    folder.write("c/page.html", format!("<html><body><p>{}</p></body></html>", text.replace(' ', " <i></i>")));
    folder.write("c/other.txt", text.replacen('a', "e", 1));
    // Texts too short for a fingerprint. One has the same number of symbols as the others, but different
    // symbols.
    for (name, text) in [("c/s1.txt", "Ab cd."), ("c/s2.txt", "ab-cd"), ("c/s3.txt", "abce")] {
        folder.write(name, text);
    }
    // A document without any symbol has no text.
    folder.write("c/dots.txt", "...");
    folder.write("c/stars.txt", "***");
    folder.ok(&["ingest", "-q", "--profile", "prose", "c"]);
    let rows = [
        ("c/b.txt", "c/a.txt", "same-text"),
        ("c/copy.txt", "c/a.txt", "identical"),
        ("c/page.html", "c/a.txt", "same-text"),
        ("c/s2.txt", "c/s1.txt", "same-text"),
    ];
    let lines = folder.ok(&BY_TEXT).json();
    assert_eq!(removed(&lines), expected(&rows));
    let summary = lines.last().unwrap();
    assert_eq!(summary["causes"]["same-text"], 3);
    assert_eq!((summary["causes"]["identical"].as_u64(), summary.get("unread")), (Some(1), None));
    let human = folder.ok(&["dedup", "--by", "exact-text"]).stdout;
    assert!(human.contains("c/b.txt  has the text of  c/a.txt\n"), "{human}");
    // If the text of a document is gone, it is compared by its bytes only: identical documents need no text.
    std::fs::remove_file(folder.path().join("c/b.txt")).unwrap();
    let run = folder.run(&["dedup", "--by", "exact-text", "--format", "json"]);
    assert_eq!((run.status, removed(&run.json())), (2, expected(&rows[1..])));
    let report = folder.run(&["dedup", "--by", "exact-text", "--format", "html", "-o", "report"]);
    assert_eq!(report.status, 2, "{report:?}");
    assert_eq!(run.json().last().unwrap()["unread"], 1);
    assert!(run.stderr.contains("1 document may have the text of another and could not be read again"), "{run:?}");
    // One available copy of identical documents is enough.
    std::fs::remove_file(folder.path().join("c/a.txt")).unwrap();
    assert_eq!(removed(&folder.run(&BY_TEXT).json()), expected(&rows[1..]));
    // Recorded decisions are the same.
    let kept = |flag: &str| removed(&folder.run(&[&BY_TEXT[..], &[flag]].concat()).json());
    assert_eq!(kept("--append"), expected(&rows[1..]));
    folder.write("c/s4.txt", "A.B.C.D");
    folder.write("c/new.txt", text.to_lowercase());
    folder.ok(&["ingest", "-q", "c/s4.txt", "c/new.txt"]);
    let because = if text == text.to_lowercase() { "identical" } else { "same-text" };
    let more = [("c/s4.txt", "c/s1.txt", "same-text"), ("c/new.txt", "c/a.txt", because)];
    let after = expected(&[&rows[1..], &more].concat());
    assert_eq!(kept("--append"), after);
    assert_eq!(kept("--rerank"), after);
    let wrong = folder.run(&["dedup", "--by", "exact-text", "--threshold", "0.9"]);
    assert_eq!(wrong.status, 2);
}

/// Texts are the same by their symbols alone, and a run prints the differences that it ignores. If numbers
/// are not symbols, a run prints that difference with -q too.
#[test]
fn a_run_says_which_differences_do_not_count() {
    let texts = [
        "Invoice 4711: please pay 1.5 dollars.",
        "invoice 4711, please pay 15 dollars!",
        "Invoice 12: please pay 3 dollars.",
    ];
    for (profile, removable, told, quiet) in [
        (
            "prose",
            1,
            "texts that differ in case, spacing, punctuation or operators alone are the same (--by exact-text)\n",
            false,
        ),
        (
            "words",
            2,
            "warning: in this database only letters count (unit word): texts that differ in digits, punctuation or operators alone are the same\n",
            true,
        ),
    ] {
        let folder = Folder::new();
        for (number, text) in texts.iter().enumerate() {
            folder.write(&format!("c/{number}.txt"), text);
        }
        folder.ok(&["ingest", "-q", "--profile", profile, "c"]);
        let run = folder.ok(&["dedup", "--by", "exact-text"]);
        assert!(run.stderr.contains(told), "{run:?}");
        let run = folder.ok(&BY_TEXT);
        assert_eq!((run.json().len() - 1, run.stderr.contains(told)), (removable, quiet), "{run:?}");
    }
}

/// If fingerprints are sparse, texts that differ only between fingerprints share all of them.
#[test]
fn texts_that_differ_between_fingerprints_are_told_apart() {
    let folder = Folder::new();
    let text: String = sentence(7).chars().filter(|c| c.is_alphanumeric()).take(120).collect();
    for place in 0..text.len() {
        let mut other = text.clone().into_bytes();
        other[place] = if other[place] == b'q' { b'z' } else { b'q' };
        folder.write(&format!("c/{place:03}.txt"), other);
    }
    folder.write("c/spaced.txt", text.split_at(60).0.to_owned() + "  " + text.split_at(60).1);
    folder.write("c/whole.txt", &text);
    folder.ok(&["ingest", "-q", "--profile", "text", "--store-text", "c"]);
    let like = folder.ok(&["dedup", "-q", "--by", "containment", "--threshold", "1", "--format", "json"]).json();
    assert!(like.len() > 4, "texts with the same fingerprint: {}", like.len());
    let lines = folder.ok(&BY_TEXT).json();
    assert_eq!(removed(&lines), expected(&[("c/spaced.txt", "c/whole.txt", "same-text")]));
    assert_eq!(folder.ok(&[&BY_TEXT[..], &["--memory", "100K", "--threads", "1"]].concat()).json(), lines);
}

#[test]
fn a_dry_run_says_what_a_run_will_take() {
    let folder = Folder::new();
    for number in 0..40 {
        folder.write(&format!("c/{number}.txt"), sentences(number..number + 5));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "c"]);
    let rule = ["dedup", "-q", "--dry-run", "--by", "containment", "--format", "json"];
    let plan = |flags: &[&str]| folder.ok(&[&rule[..], flags].concat()).json().remove(0);
    let before = plan(&[]);
    let postings = folder.ok(&["stats", "--format", "json"]).json()[0]["fingerprints"].as_u64().unwrap();
    let fields = ["documents", "open", "passes", "postings", "memory"].map(|field| before[field].as_u64().unwrap());
    assert_eq!(fields, [40, 40, 1, postings, 1 << 30]);
    assert_eq!((before["schema"].as_str(), before["interrupted"].as_bool()), (Some("fpdb.dedup.plan/1"), Some(false)));
    // Data that does not fit in memory goes to disk. With less memory than the minimum, dedup refuses to run.
    let least = before["least_memory"].as_u64().unwrap();
    std::fs::create_dir(folder.path().join("t")).unwrap();
    let little = plan(&["--memory", &least.to_string(), "--temp-dir", "t"]);
    assert!(little["disk"].as_u64() > before["disk"].as_u64());
    assert!(little["temp_dir"].as_str().unwrap().ends_with('t'), "{little}");
    let run = |memory: u64| folder.run(&["dedup", "-q", "--by", "containment", "--memory", &memory.to_string()]).status;
    assert_eq!((run(least), run(least - 1)), (0, 2));
    folder.ok(&["dedup", "-q", "--append", "--by", "containment"]);
    assert_eq!(plan(&["--append"])["open"], 0);
    folder.write("c/new.txt", sentences(90..95));
    folder.ok(&["ingest", "-q", "c/new.txt"]);
    assert_eq!(plan(&["--append"])["open"], 1);
    assert_eq!(plan(&["--rerank"])["open"], 41);
    let human = folder.ok(&["dedup", "--dry-run"]).stdout;
    assert!(
        human.starts_with("documents  41, 41 of them to be decided\npasses     none over the postings\n"),
        "{human}"
    );
    assert_eq!(jobs(&folder), Vec::<String>::new());
}

/// With the largest first, the same contents survive in any order of arrival.
#[test]
fn the_order_of_arrival_does_not_decide_which_contents_stay() {
    let mut next = lcg(11);
    let texts: Vec<String> = (0..700)
        .map(|number| {
            let first = next(2500);
            let more = if next(3) == 0 { sentence(1_000_000 + number) } else { String::new() };
            sentences(first..first + 3 + next(10)) + &more
        })
        .collect();
    let mut survivors: Option<BTreeSet<&str>> = None;
    for round in 0..3 {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, if round == 0 { place } else { next(place as u64 + 1) as usize });
        }
        let folder = Folder::new();
        let line = |&number: &usize| format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", texts[number]);
        folder.write("a.jsonl", order.iter().map(line).collect::<String>());
        folder.ok(&["ingest", "-q", "--profile", "words", "a.jsonl"]);
        let flags =
            ["dedup", "-q", "--by", "containment", "--threshold", "0.8", "--max-novel", "60", "--format", "json"];
        let lines = folder.ok(&flags).json();
        let gone: BTreeSet<usize> =
            lines.iter().filter_map(|line| line["metadata"]["id"].as_str().map(|id| id.parse().unwrap())).collect();
        assert!((100..680).contains(&gone.len()), "{}", gone.len());
        let kept = (0..texts.len()).filter(|number| !gone.contains(number)).map(|number| texts[number].as_str());
        let kept: BTreeSet<&str> = kept.collect();
        match &survivors {
            Some(survivors) => assert_eq!(kept, *survivors, "round {round}"),
            None => survivors = Some(kept),
        }
    }
}

#[test]
fn of_documents_of_one_text_the_older_file_stays_in_any_order_of_ingestion() {
    let folder = Folder::new();
    folder.write("a.txt", sentences(0..3).to_uppercase());
    folder.write("b.txt", sentences(0..3));
    folder.age("b.txt");
    for files in [["a.txt", "b.txt"], ["b.txt", "a.txt"]] {
        for keep in ["longest", "oldest"] {
            let db = format!("{}-{keep}", files[0]);
            folder.ok(&[&["ingest", "-q", "--profile", "words", "--db", &db], &files[..]].concat());
            let rule = ["dedup", "--by", "exact-text", "--keep", keep, "--format", "json", "--db", &db];
            let removed = folder.ok(&rule).json()[0]["remove"].clone();
            assert_eq!(removed, "a.txt", "{db}");
        }
    }
}

/// The order by age is that of `query --sort oldest` for every date, however far away.
#[test]
fn of_documents_with_dates_of_any_century_the_oldest_or_newest_stays() {
    let folder = Folder::new();
    let names = ["b.txt", "c.txt", "a.txt"];
    for name in names {
        folder.write(name, sentences(0..3));
    }
    for (place, dates) in
        [["1610", "1649", "1500"], ["2400", "9999", "2300"], ["1970", "2300", "1600"]].iter().enumerate()
    {
        let rows = names.iter().zip(dates).map(|(name, year)| format!("{name},{year}-01-30\n"));
        folder.write("known.csv", format!("filename,date\n{}", rows.collect::<String>()));
        let db = place.to_string();
        let known = ["--metadata", "known.csv", "--db", &db];
        folder.ok(&[&["ingest", "-q"], &names[..], &known].concat());
        let kept = |keep: &str| {
            let lines = folder.ok(&["dedup", "--keep", keep, "--format", "json", "--db", &db]).json();
            lines.iter().filter_map(|line| line["keep"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let query = ["query", "b.txt", "--sort", "oldest", "--format", "json", "--db", &db];
        let oldest = folder.ok(&query).json()[0]["matches"][0]["document"].clone();
        assert_eq!((kept("oldest"), oldest), (vec!["a.txt".to_owned(); 2], "a.txt".into()), "{dates:?}");
        assert_eq!(kept("newest"), ["c.txt", "c.txt"], "{dates:?}");
    }
}

/// Of documents with the same bytes, the first stays, even if the time of another file lies between their
/// times.
#[test]
fn a_third_document_does_not_decide_which_of_two_identical_ones_stays() {
    let folder = Folder::new();
    let files = [("first.txt", 3), ("other.txt", 2), ("second.txt", 1)];
    for (name, day) in files {
        let text = sentences(0..3);
        folder.write(name, if name == "other.txt" { text.to_uppercase() } else { text });
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000 + day * 86_400);
        let file = std::fs::File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_modified(time).unwrap();
    }
    for others in [&["first.txt", "second.txt"][..], &["first.txt", "other.txt", "second.txt"]] {
        let db = others.len().to_string();
        folder.ok(&[&["ingest", "-q", "--profile", "words", "--db", &db], others].concat());
        let rule = ["dedup", "--by", "exact-text", "--keep", "longest", "--format", "json", "--db", &db];
        let lines = folder.ok(&rule).json();
        assert!(removed(&lines).keys().all(|name| name != "first.txt"), "{lines:#?}");
    }
}

/// Documents that are too large to compare by text are compared by their bytes, without a warning.
#[test]
fn documents_that_are_too_large_are_compared_by_their_bytes() {
    let folder = Folder::new();
    for (name, end) in [("a", ""), ("b", "."), ("c", ".")] {
        folder.write(&format!("{name}.txt"), format!("{}{}{end}", sentences(0..12), " ".repeat(32 << 20)));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "a.txt", "b.txt", "c.txt"]);
    let summary = folder.ok(&BY_TEXT).json().pop().unwrap();
    assert_eq!((&summary["documents"], &summary["removable"]), (&3.into(), &1.into()), "{summary}");
    assert_eq!(summary.get("unread"), None, "{summary}");
}
