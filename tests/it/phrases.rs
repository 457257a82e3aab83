//! Ignored phrases are reported, and are in no match.

use serde_json::Value;

use crate::support::{Folder, word};

/// Words that share nothing with the words of another seed.
fn prose(seed: u64, words: u64) -> String {
    let words = (0..words).map(|place| word((seed * 7919 + place * place * 31 + place * 17) % 90_000));
    words.collect::<Vec<_>>().join(" ")
}

/// A source and an essay that share a phrase and a copied part. The file of phrases has the phrase in another
/// spelling.
fn essay() -> (Folder, String) {
    let folder = Folder::new();
    let (phrase, copied) = (prose(1, 40), prose(2, 60));
    folder.write("docs/source.txt", format!("{copied}\n\n{phrase}\n"));
    folder.write(
        "essay.txt",
        format!("{}\n\n{}\n\n{}\n\n{copied}\n", prose(3, 50), phrase.replace(' ', "\n"), prose(5, 50)),
    );
    folder.write("phrasing.txt", format!("{} {phrase} {}\n", prose(4, 50), prose(6, 50)));
    folder.write("phrases.txt", format!("# What all say\n\n{}\r\n{}\n", phrase.to_uppercase(), prose(7, 2)));
    (folder, phrase)
}

#[test]
fn phrases_count_in_no_match() {
    let (folder, phrase) = essay();
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let text = std::fs::read_to_string(folder.path().join("essay.txt")).unwrap();
    let from = text.find(phrase.split(' ').next().unwrap()).unwrap() as u64;
    let to = from + phrase.len() as u64;
    for command in [
        &["query", "essay.txt", "--format", "json"][..],
        &["diff", "essay.txt", "docs/source.txt", "--profile", "prose", "--format", "json"],
    ] {
        let whole = &folder.ok(command).json()[0];
        let run = folder.ok(&[command, &["--ignore-phrases", "phrases.txt"]].concat());
        assert!(run.stderr.contains("1 of 2 phrases has fewer than 25 symbols"), "{}", run.stderr);
        let skipped = &run.json()[0];
        let number = |answer: &Value, field: &str| answer[field].as_u64().unwrap();
        assert_eq!((whole.get("phrases"), &whole["ignored"]), (None, &serde_json::json!([])));
        let phrases = number(skipped, "phrases");
        assert!(phrases > 5, "{skipped}");
        assert!(number(skipped, "found") < number(whole, "found"));
        assert_eq!(number(skipped, "looked_up"), number(whole, "looked_up"));
        assert!(skipped["matches"][0]["containment"].as_f64() < whole["matches"][0]["containment"].as_f64());
        let spans = |list: &Value| -> Vec<(u64, u64)> {
            let spans = list.as_array().unwrap().iter();
            spans.map(|entry| (number(&entry["query"], "start"), number(&entry["query"], "end"))).collect()
        };
        let ignored = spans(&skipped["ignored"]);
        assert!(
            !ignored.is_empty() && ignored.iter().all(|span| from <= span.0 && span.1 <= to),
            "{ignored:?} in {from} to {to}"
        );
        assert!(skipped["ignored"].as_array().unwrap().iter().all(|entry| entry["because"] == "phrase"));
        let passages = spans(&skipped["matches"][0]["passages"]);
        assert_eq!(spans(&whole["matches"][0]["passages"]).len(), 2);
        assert_eq!(passages.len(), 1, "{skipped}");
        assert!(passages[0].0 > to, "{passages:?}");
    }
    let nothing = folder.run(&["query", "-e", "--ignore-phrases", "phrases.txt", "phrasing.txt"]);
    assert_eq!(nothing.status, 1, "{nothing:#?}");
    assert!(nothing.stdout.contains("fingerprints ignored as phrases"), "{}", nothing.stdout);
    // The phrase is grey in the report.
    folder.ok(&["query", "essay.txt", "--ignore-phrases", "phrases.txt", "--format", "html", "-o", "report"]);
    assert_ne!(crate::report::text(&folder, "report", 1).ignored, [[0u64; 2]; 0]);
}

#[test]
fn what_is_wrong_with_a_phrase_is_told_with_its_line() {
    let (folder, _) = essay();
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    let error = |content: &[u8], arguments: &[&str]| {
        folder.write("wrong.txt", content);
        let run = folder.run(&[arguments, &["--ignore-phrases", "wrong.txt"]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
        run.stderr
    };
    let query = ["query", "essay.txt"];
    assert!(error(b"of the\n\n--- ... ---\n", &query).contains("wrong.txt, line 3: the phrase has no letter or digit"));
    assert!(error(b"of the\n\xFF\xFE\n", &query).contains("wrong.txt, line 2: it is not UTF-8"));
    assert!(error(b"# nothing\n", &query).contains("wrong.txt, line 1: there is no phrase"));
    let code = error(b"of the\n", &["diff", "essay.txt", "docs/source.txt", "--profile", "code"]);
    assert!(code.contains("--ignore-phrases") && code.contains("unit char or word"), "{code}");
    let gone = folder.run(&["query", "essay.txt", "--ignore-phrases", "nowhere.txt"]);
    assert!(gone.status == 2 && gone.stderr.contains("nowhere.txt"), "{}", gone.stderr);
}

#[test]
fn a_file_of_phrases_without_end_is_refused() {
    let folder = Folder::new();
    folder.write("a.txt", "one two three four five six seven eight nine ten");
    folder.ok(&["ingest", "-q", "a.txt"]);
    let run = folder.run(&["query", "a.txt", "--ignore-phrases", "/dev/zero"]);
    assert!(run.status == 2 && run.stderr.contains("has more than 64 MiB"), "{run:#?}");
}
