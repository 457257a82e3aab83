//! Stored texts: evidence stays exact when the files are gone.

use serde_json::Value;

use crate::support::{Folder, word};

/// Words that share nothing with the words of another seed.
fn prose(seed: u64, words: u64) -> String {
    (0..words).map(|place| word((seed * 7919 + place * place * 31 + place * 17) % 90_000) + " ").collect()
}

fn folder() -> (Folder, String) {
    let folder = Folder::new();
    let shared = prose(1, 60);
    folder.write("docs/a.txt", format!("{} {shared}. {}", prose(2, 300), prose(3, 200)));
    // This text has more than one chunk.
    folder.write("docs/b.txt", prose(4, 300_000));
    folder.write("docs/empty.txt", "");
    folder.write("query.txt", format!("{}\n{shared}", prose(5, 40)));
    (folder, shared)
}

fn passage(folder: &Folder, db: &str) -> Value {
    let mut answer = folder.ok(&["--db", db, "query", "query.txt", "--format", "json"]).json().remove(0);
    answer["matches"][0]["passages"][0].take()
}

fn text_bytes(folder: &Folder, db: &str) -> u64 {
    let stats = folder.ok(&["--db", db, "stats", "--format", "json"]).json().remove(0);
    let parts = stats["stored"].as_array().unwrap();
    let part = parts.iter().find(|part| part["part"] == "texts");
    part.map_or(0, |part| part["bytes"].as_u64().unwrap())
}

/// A letter with marks is several symbols with one place. If a passage ends inside the letter, it shows the
/// whole letter, and its agreement is below 1.
#[test]
fn a_passage_that_ends_within_a_letter_does_not_agree_with_the_rest_of_it() {
    let folder = Folder::new();
    let shared = "the quick brown fox sat in the cafe";
    folder.write("one.txt", format!("{shared}\u{301}"));
    folder.write("two.txt", format!("{shared}\u{301}\u{302}"));
    folder.write("three.txt", format!("{shared}\u{301} bar"));
    let diff = |a: &str, b: &str| {
        let answer = folder.ok(&["diff", "-k", "5", "-w", "4", "--format", "json", a, b]).json().remove(0);
        let passages = answer["matches"][0]["passages"].as_array().unwrap();
        assert_eq!(passages.len(), 1, "{a} {b}");
        passages[0].clone()
    };
    for (a, b, symbols) in [("one.txt", "two.txt", 28), ("two.txt", "one.txt", 29)] {
        let passage = diff(a, b);
        assert_eq!((&passage["symbols"], &passage["agreement"]), (&symbols.into(), &(28.0 / 29.0).into()), "{a} {b}");
        assert_eq!(passage["query"]["end"], std::fs::read(folder.path().join(a)).unwrap().len());
    }
    let passage = diff("one.txt", "three.txt");
    assert_eq!((&passage["symbols"], &passage["agreement"]), (&28.into(), &1.0.into()));
}

#[test]
fn passages_stay_exact_when_the_files_are_gone() {
    let (folder, shared) = folder();
    folder.ok(&["--db", "kept", "ingest", "-q", "--profile", "prose", "--store-text", "docs"]);
    folder.ok(&["--db", "bare", "ingest", "-q", "--profile", "prose", "docs"]);
    folder.ok(&["--db", "merged", "init", "--profile", "prose"]);
    folder.ok(&["--db", "merged", "merge", "-q", "kept"]);
    let original = std::fs::read(folder.path().join("docs/a.txt")).unwrap();
    let before = passage(&folder, "bare");
    std::fs::remove_file(folder.path().join("docs/a.txt")).unwrap();
    for db in ["kept", "merged"] {
        let after = passage(&folder, db);
        assert_eq!(after, before, "{db}");
        let bytes = |field: &str| usize::try_from(after["document"][field].as_u64().unwrap()).unwrap();
        assert_eq!(&original[bytes("start")..bytes("end")], shared.trim().as_bytes());
        assert_eq!((&after["exact"], &after["agreement"]), (&true.into(), &1.0.into()));
        let verified = folder.ok(&["--db", db, "verify", "--format", "json"]).json().remove(0);
        assert_eq!((&verified["texts"], &verified["problems"]), (&3.into(), &serde_json::json!([])));
    }
    let inferred = passage(&folder, "bare");
    assert_eq!((&inferred["exact"], &inferred["agreement"]), (&false.into(), &Value::Null));
    // A stored document can be a query at any window, even if its file is gone.
    let coarse = ["--db", "kept", "query", "--document", "docs/a.txt", "--window", "40", "--format", "json"];
    assert_eq!(folder.ok(&coarse).json()[0]["query"]["window"], 40);
    let why = folder.ok(&["--db", "bare", "query", "query.txt"]).stdout;
    assert!(why.contains("inferred from fingerprints: its file can no longer be read"), "{why}");
}

/// This character of three bytes has 15 letters in the standard form.
#[test]
fn a_small_text_of_very_many_symbols_is_not_compared_symbol_by_symbol() {
    let folder = Folder::new();
    let shared = prose(1, 60);
    folder.write("docs/large.txt", format!("{shared}. {}", "\u{FDFA}".repeat(2_300_000)));
    folder.write("docs/small.txt", &shared);
    let json = |arguments: &[&str]| folder.ok(&[arguments, &["--format", "json"]].concat()).json().remove(0);
    assert!(json(&["ingest", "-q", "--store-text", "docs"]).is_object());
    let too_large = |answer: &Value, why: &str| {
        let found = answer["matches"].as_array().unwrap().iter().find(|found| found["identical"] == false).unwrap();
        assert_eq!(found["inferred"], format!("{why} is too large to be compared symbol by symbol"), "{found}");
        assert_eq!(found["passages"][0]["exact"], false, "{found}");
    };
    too_large(&json(&["query", "docs/small.txt"]), "it");
    too_large(&json(&["diff", "docs/large.txt", "docs/small.txt"]), "the query");
    too_large(&json(&["diff", "docs/small.txt", "docs/large.txt"]), "it");
}

#[test]
fn texts_are_added_later_and_go_with_their_documents() {
    let (folder, _) = folder();
    let counts = |arguments: &[&str]| {
        let report = folder.ok(&[&["--db", "db", "--format", "json"], arguments].concat()).json().remove(0);
        ["added", "replaced", "unchanged"].map(|field| report[field].as_u64().unwrap())
    };
    assert_eq!(counts(&["ingest", "--profile", "prose", "docs"]), [3, 0, 0]);
    assert_eq!(text_bytes(&folder, "db"), 0);
    assert_eq!(counts(&["ingest", "docs", "--store-text"]), [0, 3, 0]);
    assert_eq!(counts(&["ingest", "docs", "--store-text"]), [0, 0, 3]);
    // Without the flag, stored texts stay.
    assert_eq!(counts(&["ingest", "docs"]), [0, 0, 3]);
    let full = text_bytes(&folder, "db");
    assert!(full > 400_000, "{full}");
    folder.ok(&["--db", "db", "rm", "docs/b.txt"]);
    folder.ok(&["--db", "db", "compact"]);
    assert!(text_bytes(&folder, "db") < 20_000);
    assert_eq!(passage(&folder, "db")["exact"], true);
    let verified = folder.ok(&["--db", "db", "verify", "--format", "json"]).json().remove(0);
    assert_eq!((&verified["texts"], &verified["problems"]), (&2.into(), &serde_json::json!([])));
}

/// An unchanged container is read again, because other settings require more of it.
#[test]
fn texts_of_members_are_added_later() {
    let folder = Folder::new();
    let tar = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/samples/texts.tar");
    folder.write("texts.tar", std::fs::read(tar).unwrap());
    folder.age("texts.tar");
    folder.ok(&["--db", "db", "ingest", "-q", "texts.tar"]);
    let texts = || folder.ok(&["--db", "db", "verify", "--format", "json"]).json()[0]["texts"].as_u64();
    assert_eq!(texts(), Some(0));
    folder.ok(&["--db", "db", "ingest", "-q", "--store-text", "texts.tar"]);
    assert_eq!(texts(), Some(4));
    let again = folder.ok(&["--db", "db", "ingest", "--store-text", "texts.tar", "--format", "json"]).json().remove(0);
    assert_eq!((&again["added"], &again["replaced"]), (&0.into(), &0.into()), "{again}");
}

/// Documents larger than the batch, and their texts, are moved to the store in parts.
#[test]
fn texts_are_kept_in_little_memory() {
    let folder = Folder::new();
    for seed in 0..6 {
        folder.write(&format!("docs/{seed}.txt"), prose(seed, 400_000));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "--store-text", "--memory", "1MiB", "docs"]);
    let verified = folder.ok(&["verify", "--format", "json"]).json().remove(0);
    assert_eq!((&verified["texts"], &verified["problems"]), (&6.into(), &serde_json::json!([])));
    let whole = folder.ok(&["query", "docs/3.txt", "--top", "1", "--format", "json"]).json().remove(0);
    let found = &whole["matches"][0];
    assert_eq!((&found["identical"], &found["coverage"]), (&true.into(), &1.0.into()));
    assert_eq!(found["passages"].as_array().unwrap().len(), 1);
}

/// If a table is damaged, a repair rebuilds lost rows from the stored texts, or reports lost texts.
#[test]
fn a_repair_reads_stored_texts() {
    let (folder, _) = folder();
    folder.ok(&["--db", "whole", "ingest", "-q", "--profile", "prose", "--store-text", "docs"]);
    folder.ok(&["--db", "whole", "compact"]);
    std::fs::remove_dir_all(folder.path().join("docs")).unwrap();
    let files = |db: &str| {
        let entries = std::fs::read_dir(folder.path().join(db).join("store")).unwrap();
        let mut tables: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        tables.sort();
        tables
    };
    let tables = files("whole").into_iter().filter(|path| path.extension().is_some_and(|end| end == "sst"));
    let (mut kept, mut given_up) = (0, 0);
    for table in tables {
        let copy = folder.path().join("copy");
        if copy.exists() {
            std::fs::remove_dir_all(&copy).unwrap();
        }
        std::fs::create_dir_all(copy.join("store")).unwrap();
        for file in files("whole") {
            std::fs::copy(&file, copy.join("store").join(file.file_name().unwrap())).unwrap();
        }
        for entry in std::fs::read_dir(folder.path().join("whole")).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        let damaged = copy.join("store").join(table.file_name().unwrap());
        let mut bytes = std::fs::read(&damaged).unwrap();
        bytes[20] ^= 1;
        std::fs::write(&damaged, bytes).unwrap();
        let repair = ["--db", "copy", "verify", "--repair", "--give-up-missing", "--format", "json"];
        let repaired = folder.run(&repair).json().remove(0);
        let texts_lost = repaired["repair"]["texts_lost"].as_array().unwrap().clone();
        let verified = folder.ok(&["--db", "copy", "verify", "--format", "json"]).json().remove(0);
        assert_eq!(verified["problems"], serde_json::json!([]), "{}", table.display());
        // If the record of the document was lost, the document is lost too.
        let answer = folder.ok(&["--db", "copy", "query", "query.txt", "--format", "json"]).json().remove(0);
        if let Some(found) = answer["matches"].get(0) {
            kept += u64::from(found["inferred"].is_null());
            given_up += u64::from(!found["inferred"].is_null());
            assert_eq!(texts_lost.contains(&"docs/a.txt".into()), !found["inferred"].is_null(), "{repaired}");
        }
    }
    assert!(kept >= 3 && given_up >= 1, "{kept} with their texts, {given_up} without");
}

#[test]
fn a_document_of_the_very_same_bytes_needs_no_text_of_its_own() {
    let (folder, _) = folder();
    let text = std::fs::File::open(folder.path().join("docs/a.txt")).unwrap();
    let mut ingest = folder.command(&["ingest", "-q", "--profile", "prose", "-", "--name", "given"]);
    assert!(ingest.stdin(text).status().unwrap().success());
    let answer = folder.ok(&["query", "docs/a.txt", "--format", "json"]).json().remove(0);
    let found = &answer["matches"][0];
    assert_eq!(
        (&found["document"], &found["identical"], &found["coverage"]),
        (&"given".into(), &true.into(), &1.0.into())
    );
    let passages = found["passages"].as_array().unwrap();
    assert_eq!((passages.len(), &passages[0]["exact"]), (1, &true.into()), "{found}");
    assert_eq!(passages[0]["query"], passages[0]["document"]);
}
