//! Quotations: quoted text in the query is reported, and counts in no match.

use serde_json::Value;

use crate::support::{Folder, word};

/// Words that share nothing with the words of another seed.
fn prose(seed: u64, words: u64) -> String {
    let words = (0..words).map(|place| word((seed * 7919 + place * place * 31 + place * 17) % 90_000));
    words.collect::<Vec<_>>().join(" ")
}

/// A stored source, and an essay that quotes one part of it and copies another.
fn essay() -> Folder {
    let folder = Folder::new();
    let (quoted, copied) = (prose(1, 60), prose(2, 60));
    folder.write("docs/source.txt", format!("{copied}\n\n{quoted}\n"));
    folder.write("essay.txt", format!("{}\n\n“{quoted}”\n\n{copied}\n", prose(3, 50)));
    folder.write("quoting.txt", format!("{} “{quoted}”\n", prose(4, 50)));
    folder
}

type Spans = Vec<(u64, u64)>;

/// The passages of the best match, and the ignored ranges, both in bytes of the query.
fn spans(answer: &Value) -> (Spans, Spans) {
    let pair = |span: &Value| (span["start"].as_u64().unwrap(), span["end"].as_u64().unwrap());
    let all = |list: &Value| list.as_array().unwrap().iter().map(|entry| pair(&entry["query"])).collect();
    (all(&answer["matches"][0]["passages"]), all(&answer["ignored"]))
}

#[test]
fn what_is_quoted_counts_in_no_match() {
    let folder = essay();
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let text = std::fs::read_to_string(folder.path().join("essay.txt")).unwrap();
    let (open, close) = (text.find('“').unwrap() as u64, text.find('”').unwrap() as u64 + 3);
    let in_quotes = |span: &(u64, u64)| open <= span.0 && span.1 <= close;
    for command in [
        &["query", "essay.txt", "--format", "json"][..],
        &["diff", "essay.txt", "docs/source.txt", "--profile", "prose", "--format", "json"],
    ] {
        let whole = &folder.ok(command).json()[0];
        let skipped = &folder.ok(&[command, &["--skip-quotes"]].concat()).json()[0];
        let number = |answer: &Value, field: &str| answer[field].as_u64().unwrap();
        // Without the flag, the answer has no count of quoted fingerprints. With the flag, quoted and found
        // fingerprints together are at least all that are found without the flag.
        assert_eq!((whole.get("quoted"), &whole["ignored"]), (None, &serde_json::json!([])));
        let quoted = number(skipped, "quoted");
        assert!(quoted > 10, "{skipped}");
        assert!(number(skipped, "found") < number(whole, "found"));
        assert!(number(skipped, "found") + quoted >= number(whole, "found"));
        assert_eq!(number(skipped, "looked_up"), number(whole, "looked_up"));
        assert!(skipped["matches"][0]["containment"].as_f64() < whole["matches"][0]["containment"].as_f64());
        let (passages, ignored) = spans(skipped);
        assert!(spans(whole).0.iter().any(|&(start, end)| start < close && end > open));
        assert_eq!(passages.len(), 1, "{skipped}");
        assert!(passages[0].0 >= close && passages[0].1 > close + 100, "{passages:?}");
        assert!(!ignored.is_empty() && ignored.iter().all(in_quotes), "{ignored:?} in {open} to {close}");
        assert!(skipped["ignored"].as_array().unwrap().iter().all(|entry| entry["because"] == "quoted"));
    }
    let nothing = folder.run(&["query", "-e", "--skip-quotes", "quoting.txt"]);
    assert_eq!(nothing.status, 1, "{nothing:#?}");
    assert!(nothing.stdout.contains("fingerprints ignored as quoted"), "{}", nothing.stdout);
    // The report has the texts, and the quotation is grey.
    folder.ok(&["query", "essay.txt", "--skip-quotes", "--format", "html", "-o", "report"]);
    assert_ne!(crate::report::text(&folder, "report", 1).ignored, [[0u64; 2]; 0]);
}

#[test]
fn quotations_are_looked_for_in_prose_whose_text_is_there() {
    let folder = essay();
    let code = folder.run(&["diff", "--skip-quotes", "essay.txt", "docs/source.txt", "--profile", "code"]);
    assert_eq!(code.status, 2);
    let message = "error: skipping quotations is for documents read as prose (unit char or word), and here they are read as unit token\nhint: ";
    assert!(code.stderr.starts_with(message), "{}", code.stderr);
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs", "essay.txt"]);
    let stored = ["query", "--document", "essay.txt", "--skip-quotes"];
    assert!(folder.ok(&stored).stdout.contains("ignored as quoted"));
    std::fs::remove_file(folder.path().join("essay.txt")).unwrap();
    let gone = folder.run(&stored);
    assert_eq!(gone.status, 2);
    assert!(gone.stderr.contains("skipping quotations needs the text of the query"), "{}", gone.stderr);
    assert!(gone.stderr.contains("the text of essay.txt is not available\nhint: "), "{}", gone.stderr);
}

/// A few letters beside a quotation or phrase that agree by chance make no match and no passage.
#[test]
fn what_stands_beside_ignored_text_needs_a_length_of_its_own() {
    let folder = Folder::new();
    let (quoted, own, short) = (prose(1, 60), prose(2, 20), "He would say so once");
    folder.write("docs/source.txt", format!("{}\n\nThe same: {quoted} {own}\n", prose(4, 50)));
    folder.write("phrases.txt", format!("{quoted}\n"));
    folder.write("honest.txt", format!("{short}, and the same: “{quoted}” {}. {}\n", &own[..4], prose(5, 50)));
    folder.write("copied.txt", format!("{short}: “{quoted}” {own}. {}\n", prose(5, 50)));
    // A word in quotation marks divides no copied text.
    folder
        .write("marked.txt", format!("{}\n", quoted.split(' ').map(|word| format!("\"{word}\" ")).collect::<String>()));
    let place = |text: &str, part: &str| {
        let start = text.find(part).unwrap() as u64;
        (start, start + part.len() as u64)
    };
    for profile in ["prose", "words"] {
        let db = format!("{profile}.db");
        folder.ok(&["ingest", "-q", "--profile", profile, "docs", "--db", &db]);
        for flags in [&["--skip-quotes"][..], &["--ignore-phrases", "phrases.txt"]] {
            for rewritten in [&[][..], &["--rewritten"]].into_iter().take(if profile == "words" { 2 } else { 1 }) {
                let ask = |name: &str| {
                    let query = [&["query", name, "--db", &db, "--format", "json"], flags, rewritten].concat();
                    let diff = [
                        &["diff", name, "docs/source.txt", "--profile", profile, "--format", "json"],
                        flags,
                        rewritten,
                    ]
                    .concat();
                    let [query, diff] = [query, diff].map(|command| folder.run(&command).json().remove(0));
                    assert_eq!(query["matches"].as_array().unwrap().len(), diff["matches"].as_array().unwrap().len());
                    assert_eq!(query["ignored"], diff["ignored"]);
                    let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
                    (text, query)
                };
                let (text, honest) = ask("honest.txt");
                assert_eq!(honest["matches"], serde_json::json!([]), "{flags:?}");
                let ignored: Vec<_> = honest["ignored"].as_array().unwrap().iter().map(|part| &part["query"]).collect();
                assert_eq!(ignored.len(), 1);
                let part = (ignored[0]["start"].as_u64().unwrap(), ignored[0]["end"].as_u64().unwrap());
                assert_eq!(part, place(&text, &quoted), "{profile}");
                if profile == "prose" {
                    let (text, copied) = ask("copied.txt");
                    assert_eq!(spans(&copied).0, [place(&text, &own)], "{copied}");
                }
            }
        }
        let marked = folder.ok(&["query", "marked.txt", "--db", &db, "--skip-quotes", "--format", "json"]).json();
        assert_eq!(marked[0]["matches"][0]["containment"], 1.0);
    }
}

/// A quotation or a phrase does not help a passage to reach `--min-passage`. Text beside it can still be a
/// passage.
#[test]
fn what_is_ignored_makes_no_passage_long() {
    let folder = Folder::new();
    let (before, ignored, after) = (prose(1, 18), prose(2, 100), prose(3, 20));
    folder.write("docs/source.txt", format!("{}\n\n{before} \"{ignored}\" {after}\n", prose(4, 50)));
    folder.write("essay.txt", format!("{}\n\n{before} \"{ignored}\" {after}\n", prose(5, 50)));
    folder.write("phrases.txt", format!("{ignored}\n"));
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let letters = |text: &str| text.len() - text.matches(' ').count();
    let own = letters(&before) + letters(&after);
    let all = own + letters(&ignored);
    let beside = [letters(&before), letters(&after)];
    let passages = |command: &[&str], least: usize| {
        let run = folder.ok(&[command, &["--format", "json", "--min-passage", &least.to_string()]].concat());
        let answer = &run.json()[0];
        let passages = answer["matches"][0]["passages"].as_array().unwrap();
        passages.iter().map(|passage| passage["symbols"].as_u64().unwrap() as usize).collect::<Vec<_>>()
    };
    let query = ["query", "essay.txt"];
    let diff = ["diff", "essay.txt", "docs/source.txt", "--profile", "prose"];
    for command in [&query[..], &diff] {
        assert_eq!(passages(command, all), [all], "{command:?}");
        for flags in [&["--skip-quotes"][..], &["--ignore-phrases", "phrases.txt"]] {
            let command = [command, flags].concat();
            assert_eq!(passages(&command, beside[0].min(beside[1])), beside, "{command:?}");
            assert_eq!(passages(&command, beside[0].max(beside[1]) + 1), [0; 0], "{command:?}");
            // A gap as wide as the ignored text joins what stands beside it.
            let command = [&command, &["--gap", "1000"][..]].concat();
            assert_eq!(passages(&command, own), [all], "{command:?}");
            assert_eq!(passages(&command, own + 1), [0; 0], "{command:?}");
        }
    }
    // Inferred passages end up to w - 1 symbols before the end of the shared text.
    std::fs::remove_file(folder.path().join("docs/source.txt")).unwrap();
    for flags in [&["--skip-quotes"][..], &["--ignore-phrases", "phrases.txt"]] {
        let command = [&query, flags, &["--gap", "1000"]].concat();
        let found = passages(&command, own - 38);
        assert!(found.len() == 1 && found[0] >= all - 38, "{found:?}");
        assert_eq!(passages(&command, own + 1), [0; 0]);
    }
}

/// A page may end within a quotation, with the page number below.
#[test]
fn a_quotation_goes_on_over_the_pages_of_a_pdf() {
    let folder = Folder::new();
    let lines = |seed: u64| -> Vec<String> {
        prose(seed, 60).split_whitespace().collect::<Vec<_>>().chunks(8).map(|words| words.join(" ")).collect()
    };
    let (quoted, own) = ([lines(1), lines(2)], lines(3));
    folder.write("source.txt", quoted.concat().join("\n"));
    let [mut first, mut second] = quoted;
    first.insert(0, format!("{} He says: \"", own[0]));
    first.extend([String::new(), "7".into()]);
    second.push(format!("\" {}", own[1]));
    folder.write("essay.pdf", crate::pdf_pages::pdf(&[first, second]));
    folder.ok(&["ingest", "-q", "--profile", "prose", "source.txt"]);
    let ask =
        |flags: &[&str]| folder.ok(&[&["query", "essay.pdf", "--format", "json"], flags].concat()).json().remove(0);
    assert_eq!(ask(&[])["matches"].as_array().unwrap().len(), 1);
    assert_eq!(ask(&["--skip-quotes"])["matches"].as_array().unwrap().len(), 0);
}
