//! Documents with identical bytes are found even if parts of them do not count, and with any threshold.

use serde_json::Value;

use crate::support::{Folder, word};

/// A database of two copies of a document, and of a document too short for a fingerprint.
fn copies() -> Folder {
    let folder = Folder::new();
    let words: Vec<String> = (0..300).map(|place: u64| word((place * place * 31 + place * 17) % 90_000)).collect();
    let text = words.join(" ");
    folder.write("c/a.txt", &text);
    folder.write("c/b.txt", &text);
    folder.write("c/s.txt", "hi\n");
    folder.write("quoted.txt", format!("“{text}”\n"));
    folder.ok(&["ingest", "-q", "c"]);
    folder
}

/// For each match its name, whether it is identical, and its score.
fn matches(answer: &Value) -> Vec<(String, bool, f64)> {
    let matches = answer["matches"].as_array().unwrap().iter();
    matches
        .map(|found| {
            let measures = ["score", "containment", "document_containment", "resemblance"];
            let [score, rest @ ..] = measures.map(|measure| found[measure].as_f64().unwrap());
            assert_eq!(rest, [score; 3], "{found}");
            (found["document"].as_str().unwrap().to_owned(), found["identical"].as_bool().unwrap(), score)
        })
        .collect()
}

#[test]
fn they_are_matches_whatever_does_not_count() {
    let folder = copies();
    let both = |score| vec![("c/a.txt".to_owned(), true, score), ("c/b.txt".to_owned(), true, score)];
    let ask = |arguments: &[&str]| {
        let run = folder.ok(&[&["query", "-e", "--format", "json"], arguments].concat());
        matches(&run.json()[0])
    };
    assert_eq!(ask(&["c/a.txt"]), both(1.0));
    for ignored in [&["--max-df", "1"][..], &["--ignore-phrases", "c/a.txt"]] {
        for more in [
            &[][..],
            &["--min-score", "0.5"],
            &["--mode", "resemblance", "--min-score", "0.5"],
            &["-n", "3"],
            &["--window", "200"],
            &["--no-passages"],
        ] {
            assert_eq!(ask(&[&["c/a.txt"], ignored, more].concat()), both(0.0), "{ignored:?} {more:?}");
        }
        // The queried document does not match itself.
        assert_eq!(ask(&[&["--document", "c/a.txt"], ignored].concat()), both(0.0)[1..]);
        // A document without fingerprints has no fingerprints to ignore.
        let short = [("c/s.txt".to_owned(), true, 1.0)];
        for measured in [
            &[][..],
            &["--mode", "resemblance"],
            &["--mode", "resemblance", "--weight", "idf"],
            &["--weight", "idf", "--window", "200"],
        ] {
            assert_eq!(ask(&[&["c/s.txt", "--min-score", "1"], ignored, measured].concat()), short, "{measured:?}");
        }
    }
    folder.ok(&["ingest", "-q", "quoted.txt"]);
    assert_eq!(ask(&["quoted.txt", "--skip-quotes"]), [("quoted.txt".to_owned(), true, 0.0)]);
    let page = folder.ok(&["query", "c/a.txt", "--max-df", "1"]).stdout;
    assert!(page.contains("fingerprints found (100.0%), in 2 documents\n"), "{page}");
    assert!(page.contains("fingerprints left out as common\n"), "{page}");
}

#[test]
fn diff_says_the_same() {
    let folder = copies();
    let same =
        |arguments: &[&str]| matches(&folder.ok(&[&["diff", "-e", "--format", "json"], arguments].concat()).json()[0]);
    let found = |score| [("c/b.txt".to_owned(), true, score)];
    assert_eq!(same(&["c/a.txt", "c/b.txt"]), found(1.0));
    assert_eq!(same(&["c/a.txt", "c/b.txt", "--ignore-phrases", "c/a.txt"]), found(0.0));
    assert_eq!(same(&["c/s.txt", "c/s.txt", "--ignore-phrases", "c/a.txt"]), [("c/s.txt".to_owned(), true, 1.0)]);
}

#[test]
fn boilerplate_is_no_match_of_anything() {
    let folder = copies();
    let text = std::fs::read(folder.path().join("c/a.txt")).unwrap();
    folder.write("licence.txt", text);
    folder.ok(&["ingest", "-q", "--boilerplate", "licence.txt"]);
    let answer = &folder.ok(&["query", "c/a.txt", "--format", "json"]).json()[0];
    assert_eq!(answer["boilerplate"], answer["looked_up"]);
    // Copies of boilerplate do not match, because everybody may have them.
    assert_eq!(matches(answer), []);
}

/// The names of the matches of a query, best first.
fn names(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let answer = folder.ok(&[&["query", "--format", "json"], arguments].concat()).json().remove(0);
    matches_of(&answer).map(|found| found["document"].as_str().unwrap().to_owned()).collect()
}

fn matches_of(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["matches"].as_array().unwrap().iter()
}

#[test]
fn many_longer_documents_with_the_whole_text_do_not_hide_the_same_and_the_closest() {
    let folder = Folder::new();
    // The text has one window, so all documents with this text share its only fingerprint.
    let text = "the quick brown fox jumps over the lazy dog and sleeps";
    for number in 0..60 {
        let own = |from: u64| (from..from + 30).map(word).collect::<Vec<_>>().join(" ");
        folder
            .write(&format!("d/a{number:02}.txt"), format!("{} {text} {}", own(number * 900), own(number * 700 + 50)));
    }
    folder.write("d/y.txt", format!("He said {text}."));
    folder.write("d/z.txt", text);
    folder.ok(&["ingest", "-q", "d"]);
    let all = names(&folder, &["d/z.txt", "--top", "0"]);
    assert_eq!((all.len(), &all[..2]), (62, &["d/z.txt".to_owned(), "d/y.txt".to_owned()][..]));
    for top in ["1", "2", "5"] {
        for more in [&[][..], &["--no-passages"], &["--mode", "resemblance"]] {
            let best = names(&folder, &[&["d/z.txt", "--top", top], more].concat());
            assert_eq!(best, all[..best.len()], "{top} {more:?}");
        }
    }
    // Here all documents are in one submission, and few of its files are listed.
    let answer = folder.ok(&["query", "d/z.txt", "--submission-by", "^d", "--format", "json"]).json().remove(0);
    let submission = matches_of(&answer).next().unwrap();
    assert_eq!((&submission["files"][0]["document"], &submission["files_left_out"]), (&"d/z.txt".into(), &52.into()));
}

#[test]
fn an_excluded_copy_is_no_identical_document_of_the_corpus() {
    let folder = Folder::new();
    let text = (0..60).map(word).collect::<Vec<_>>().join(" ");
    let record = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\",\"kind\":\"{id}\"}}\n");
    folder.write("c.jsonl", record("same", &text) + &record("longer", &format!("{text} and more")));
    folder.ok(&["ingest", "-q", "--keep-fields", "kind", "c.jsonl"]);
    folder.write("q.txt", &text);
    let identical = |kind: &str| {
        let row = folder.ok(&["query", "q.txt", "--by-corpus", "--where", kind, "--format", "json"]).json().remove(0);
        (row["documents"].as_u64().unwrap(), row["identical"].as_bool().unwrap())
    };
    assert_eq!(["kind=same", "kind=longer"].map(identical), [(1, true), (1, false)]);
}
