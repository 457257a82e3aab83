//! Boilerplate: handed-out text counts neither in scores nor in passages.

use std::collections::BTreeMap;

use fpdb::{
    Database, DatabaseWriter, DiffOptions, Document, Fingerprinter, Fingerprints, Format, IngestOptions, IngestSummary,
    Language, Profile, QuerySource, Selection, Task, Unit, WordRule,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Folder, Run, lcg, word};

/// Statements that can be read as words and as code.
fn statements(seed: u64, count: u64) -> String {
    let statement = |line| {
        let [left, call, argument] = [seed + line, seed * 7 + line, seed * 31 + line % 7].map(word);
        format!("{left} = {call}({argument});\n")
    };
    (0..count).map(statement).collect()
}

/// Programs that consist mostly of handed-out code are chosen and ordered as pairs by the rest, in each view.
/// The other measures are shares of all fingerprints.
#[test]
fn copies_are_found_below_what_was_handed_out() {
    let handed_out = statements(1, 200);
    let folder = Folder::new();
    folder.write("task.c", &handed_out);
    for (name, seed) in [("anna", 1000), ("ben", 1000), ("cleo", 2000)] {
        folder.write(&format!("in/{name}.c"), handed_out.clone() + &statements(seed, 12));
    }
    for profile in ["words", "code"] {
        let database = format!("{profile}.db");
        folder.ok(&["--db", &database, "ingest", "-q", "--profile", profile, "in", "--boilerplate", "task.c"]);
        for weight in ["none", "idf"] {
            let found = folder.ok(&["--db", &database, "pairs", "--weight", weight, "--format", "json"]).json();
            let names = |line: &Value| ["a", "b"].map(|name| line[name].clone());
            assert_eq!(found.iter().map(names).collect::<Vec<_>>(), [["in/anna.c", "in/ben.c"]]);
            let score = found[0]["score"].as_f64().unwrap();
            assert!(
                if profile == "code" { score > 0.5 && score < 1.0 } else { score == 1.0 },
                "{score} {profile} {weight}"
            );
            let list = folder.ok(&["--db", &database, "list", "--format", "json"]).json();
            let all = list.iter().find(|line| line["name"] == "in/anna.c").unwrap()["fingerprints"].as_f64().unwrap();
            let [shared, of_a] = ["shared", "containment_a"].map(|name| found[0][name].as_f64().unwrap());
            assert!(profile == "code" || shared < all / 2.0 && of_a == shared / all, "{shared} of {all}: {of_a}");
            // All statements have the same structure: these programs differ only in the text as written.
            let view = if profile == "code" { "text_" } else { "" };
            let own = &found[0]["without_boilerplate"];
            let measures = ["resemblance", "containment_a", "containment_b"];
            let measures = measures.map(|name| own[format!("{view}{name}")].as_f64());
            assert_eq!(measures, [Some(1.0); 3], "{profile} {weight}");
            let table = folder.ok(&["--db", &database, "pairs", "--weight", weight, "--format", "csv"]).stdout;
            let row: BTreeMap<String, String> =
                csv::Reader::from_reader(table.as_bytes()).deserialize().next().unwrap().unwrap();
            for (name, value) in own.as_object().unwrap() {
                assert_eq!(row[&format!("{name}_without_boilerplate")].parse().ok(), value.as_f64(), "{name}: {table}");
            }
            // A query has the containment without boilerplate too.
            let query = ["--db", &database, "query", "--document", "in/anna.c", "--weight", weight, "--format"];
            let answer = folder.ok(&[&query[..], &["json"]].concat()).json().remove(0);
            let found = &answer["matches"][0];
            assert_eq!(found["document"], "in/ben.c");
            assert!(found[format!("{view}containment")].as_f64().unwrap() < 0.5, "{found}");
            assert_eq!(found["without_boilerplate"][format!("{view}containment")], 1.0, "{found}");
            let page = folder.ok(&[&query[..], &["human"]].concat()).stdout;
            let told = if profile == "code" { ", as text 100.0%)" } else { "(without boilerplate 100.0%)" };
            let row = page.lines().find(|line| line.contains("  in/ben.c  (identical)  (without boilerplate "));
            assert!(row.is_some_and(|row| row.ends_with(told)), "{page}");
            let table = folder.ok(&[&query[..], &["csv"]].concat()).stdout;
            let row: BTreeMap<String, String> =
                csv::Reader::from_reader(table.as_bytes()).deserialize().next().unwrap().unwrap();
            assert_eq!(row[&format!("{view}containment_without_boilerplate")], "1", "{table}");
        }
    }
}

/// A few equal lines beside much handed-out code are no copy of a whole program. As short programs of their
/// own, the same lines are a copy.
#[test]
fn a_few_lines_beside_what_was_handed_out_score_less_than_a_copy() {
    let handed_out = statements(1, 60);
    let folder = Folder::new();
    folder.write("task.c", &handed_out);
    for (name, seed, count) in [("anna", 1000, 3), ("ben", 1000, 3), ("cleo", 2000, 60), ("dora", 2000, 60)] {
        folder.write(&format!("in/{name}.c"), handed_out.clone() + &statements(seed, count));
        folder.write(&format!("s/{name}.c"), statements(seed, count));
    }
    let pairs = |ingested: &[&str]| {
        let database = &format!("{}.db", ingested[0]);
        folder.ok(&[&["--db", database, "ingest", "-q", "--profile", "code"], ingested].concat());
        let found = folder.ok(&["--db", database, "pairs", "--min-resemblance", "0", "--format", "json"]).json();
        let of = |line: &Value| (line["a"].as_str().unwrap().to_owned(), line["score"].as_f64().unwrap());
        found.iter().map(of).filter(|(_, score)| *score > 0.0).take(2).collect::<Vec<_>>()
    };
    let [(copied, of_copy), (lines, of_lines)] = &pairs(&["in", "--boilerplate", "task.c"])[..] else { panic!() };
    assert_eq!((copied.as_str(), lines.as_str()), ("in/cleo.c", "in/anna.c"));
    assert!(*of_copy > 0.8 && *of_lines < 0.5, "{of_copy} {of_lines}");
    assert_eq!(pairs(&["s"]), [("s/cleo.c".to_owned(), 1.0), ("s/anna.c".to_owned(), 1.0)]);
}

/// Idioms of the handed-out code do not divide a copied passage. Long stretches of that code do.
#[test]
fn idioms_of_what_was_handed_out_do_not_divide_a_passage() {
    let folder = Folder::new();
    let task = statements(1, 200);
    folder.write("task.c", &task);
    // Two statements of the task, 14 words and marks, stand between statements of their own.
    let idiom =
        |number: u64| statements(1, 200).lines().skip(number as usize * 10).take(2).collect::<Vec<_>>().join("\n");
    let copied: String = (0..8).map(|number| statements(3000 + 10 * number, 5) + &idiom(number) + "\n").collect();
    let long = task.lines().take(20).collect::<Vec<_>>().join("\n") + "\n";
    let written = |name: &str, seed: u64| {
        let end = statements(9000, 6);
        folder.write(name, statements(seed, 30) + &copied + &long + &end + &statements(seed + 500, 30));
    };
    written("a.c", 4000);
    written("b.c", 5000);
    let diff = ["diff", "a.c", "b.c", "--profile", "code", "--boilerplate", "task.c", "--format", "json"];
    let answer = folder.ok(&diff).json().remove(0);
    let passages = answer["matches"][0]["passages"].as_array().unwrap();
    let symbols: Vec<u64> = passages.iter().map(|passage| passage["symbols"].as_u64().unwrap()).collect();
    // Both passages come from the view of the text as written, where a statement has some seven words and
    // marks.
    let [copied, end] = symbols[..] else { panic!("{symbols:?}: {answer}") };
    assert!((8 * 7 * 6..8 * 7 * 8).contains(&copied) && (6 * 6..6 * 9).contains(&end), "{symbols:?}");
}

/// A match around a k-gram that crosses the end of the handed-out text does not extend back through this
/// text.
#[test]
fn no_passage_lies_in_what_was_handed_out() {
    let (handed_out, copied) = (statements(1, 200), statements(3000, 40));
    let folder = Folder::new();
    folder.write("task.c", &handed_out);
    // All programs begin alike after the handed-out text. Two of them also continue alike.
    let begun = handed_out.clone() + &word(5) + " = ";
    folder.write("in/anna.c", begun.clone() + &statements(4000, 30));
    folder.write("in/ben.c", begun.clone() + &copied + &statements(5000, 30));
    folder.write("cleo.c", begun.clone() + &copied + &statements(6000, 30));
    for profile in ["words", "prose", "code"] {
        let database = format!("{profile}.db");
        folder.ok(&["--db", &database, "ingest", "-q", "--profile", profile, "in", "--boilerplate", "task.c"]);
        let answer =
            folder.ok(&["--db", &database, "query", "cleo.c", "--top", "0", "--format", "json"]).json().remove(0);
        let mut passages = Vec::new();
        for found in answer["matches"].as_array().unwrap() {
            for passage in found["passages"].as_array().unwrap() {
                let place = ["start", "end"].map(|end| passage["query"][end].as_u64().unwrap() as usize);
                passages.push((found["document"].as_str().unwrap(), place));
            }
        }
        let [("in/ben.c", [start, end])] = passages[..] else { panic!("{profile}: {passages:?}") };
        // The last window of the handed-out text may select none of its k-grams.
        assert!(start + 40 * 7 > handed_out.len() && start <= begun.len(), "{profile}: {start} {}", handed_out.len());
        let all = begun.len() + copied.len();
        assert!((all - 3..all + 40).contains(&end), "{profile}: {end} {all}");
    }
}

/// `diff --boilerplate` answers as a query does in a database of the second file and this boilerplate.
#[test]
fn diff_leaves_out_what_a_database_would_leave_out() {
    let (task, frame, copied) = (statements(1, 60), statements(500, 20), statements(3000, 40));
    let folder = Folder::new();
    folder.write("task.c", &task);
    folder.write("frame.c", &frame);
    folder.write("b.c", task.clone() + &copied + &frame + &statements(4000, 30));
    folder.write("a.c", statements(5000, 10) + &frame + &copied + &task + &statements(6000, 30));
    let handed_out = ["--boilerplate", "task.c", "frame.c"];
    for (profile, more) in [("words", &[][..]), ("words", &["--rewritten"]), ("prose", &[]), ("code", &[])] {
        let database = format!("{profile}{}.db", more.len());
        folder.ok(&[&["--db", &database, "ingest", "-q", "--profile", profile, "b.c"], &handed_out[..]].concat());
        let query = ["--db", &database, "query", "a.c", "--top", "0", "--format", "json"];
        let mut expected = folder.ok(&[&query[..], more].concat()).json().remove(0);
        let diff = ["diff", "a.c", "b.c", "--profile", profile, "--format", "json"];
        let mut answer = folder.ok(&[&diff[..], more, &handed_out].concat()).json().remove(0);
        // All statements have the same structure: these programs differ only in the text as written.
        let number =
            |answer: &Value, field: &str| answer["text"].get(field).unwrap_or(&answer[field]).as_u64().unwrap();
        assert!(number(&answer, "boilerplate") > 0 && number(&answer, "found") > 0, "{answer}");
        assert!(!answer["matches"][0]["passages"].as_array().unwrap().is_empty(), "{answer}");
        for answer in [&mut answer, &mut expected] {
            // A comparison has no document numbers and no count of documents.
            answer["matches"][0].as_object_mut().unwrap().remove("id");
            answer.as_object_mut().unwrap().remove("compared");
        }
        assert_eq!(answer, expected, "{profile} {more:?}");
        let whole = folder.ok(&[&diff[..], more].concat()).json().remove(0);
        assert!(number(&whole, "found") > number(&answer, "found") && whole["boilerplate"] == 0, "{whole}");
    }
    // The two compared files match by their bytes, even if both files are boilerplate. Stored boilerplate
    // does not.
    folder.write("copy.c", &task);
    folder.ok(&["--db", "same.db", "ingest", "-q", "--profile", "words", "copy.c", "--boilerplate", "task.c"]);
    let compare = ["diff", "task.c", "copy.c", "--boilerplate", "task.c", "--profile", "words", "--format", "json"];
    let found = &folder.ok(&compare).json()[0]["matches"][0];
    assert_eq!(
        (&found["document"], &found["identical"], &found["shared"]),
        (&"copy.c".into(), &true.into(), &0.into())
    );
    for more in [&["task.c"][..], &["copy.c", "--by-corpus"], &["--document", "copy.c"]] {
        let answer = folder.ok(&[&["--db", "same.db", "query", "--format", "json"], more].concat()).json().remove(0);
        let matches = answer["matches"].as_array().map_or(0, Vec::len);
        let said = answer["identical"].as_bool().unwrap_or(false);
        assert!(matches == 0 && !said && answer["corpus_containment"] == 0.0, "{more:?}: {answer}");
    }
    let run = folder.run(&["diff", "-", "b.c", "--boilerplate", "-"]);
    assert!(run.status == 2 && run.stderr.contains("standard input can be read only once"), "{run:?}");
    let run = folder.run(&["diff", "a.c", "b.c", "--boilerplate", "gone.c"]);
    assert!(run.status == 2 && run.stderr.contains("gone.c"), "{run:?}");
    let flags = ["diff", "a.c", "b.c", "--format", "html", "-o", "report", "--single-file", "--anonymise"];
    folder.ok(&[&flags[..], &handed_out].concat());
    assert!(!std::fs::read_to_string(folder.path().join("report")).unwrap().contains("task.c"));
}

/// The windows across the end of a copy select k-grams that no window of the handed-out text itself selects.
#[test]
fn what_was_handed_out_makes_no_pair() {
    let handed_out = statements(1, 40);
    let folder = Folder::new();
    folder.write("task.txt", &handed_out);
    let lines: Vec<&str> = handed_out.lines().collect();
    for student in 0..9 {
        let part = lines[student..40 - student].join("\n");
        let own = 1000 * (student as u64 + 1);
        folder.write(&format!("in/{student}.txt"), statements(own, 30) + &part + "\n" + &statements(own + 500, 30));
    }
    for profile in ["prose", "text", "words"] {
        let run = |arguments: &[&str]| folder.ok(&[&["--db", profile, "--format", "json"], arguments].concat()).json();
        run(&["ingest", "--profile", profile, "in", "--boilerplate", "task.txt"]);
        assert_eq!(run(&["pairs"]).len(), 0, "{profile}");
    }
}

/// In each view, every k-gram of boilerplate is a fingerprint.
#[test]
fn the_fingerprints_of_boilerplate_are_all_of_its_kgrams() {
    for name in Profile::NAMES {
        let mut fingerprinter = Fingerprinter::new(&Profile::named(name).unwrap().of_boilerplate());
        let mut found = Fingerprints::new();
        fingerprinter.begin(Format::Code(Language::C));
        fingerprinter.feed(statements(1, 100).as_bytes(), &mut found);
        let facts = fingerprinter.finish(&mut found).unwrap();
        assert_eq!(found.len() as u64, facts.kgrams + facts.text_view.map_or(0, |text| text.kgrams), "{name}");
    }
}

/// All k-grams of a document are fingerprints exactly while it is boilerplate.
#[test]
fn boilerplate_has_all_of_its_kgrams() {
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str| Database::builder().create(folder.path().join(name), Profile::PROSE).unwrap();
    let counts = |run: IngestSummary| [run.added, run.replaced, run.unchanged, run.made_boilerplate];
    let ingest = |writer: &DatabaseWriter, length, options: IngestOptions| {
        let document = Document::new("task", statements(1, length));
        // Only the first ingest gives this metadata. It must stay when the document becomes boilerplate.
        let document = if options.boilerplate { document } else { document.with("week", "7") };
        counts(writer.ingest_with([document], &options, &Task::new()).unwrap())
    };
    // True if the document has the mark; true if all of its k-grams are fingerprints; true if its text is
    // stored.
    let task = |writer: &DatabaseWriter| {
        let task = writer.documents_named("task").unwrap().remove(0);
        assert_eq!(task.metadata["week"], "7");
        (task.boilerplate, task.fingerprints == task.kgrams, writer.text_of(task.id).unwrap().is_some())
    };
    let (plain, marked) = (IngestOptions::default(), IngestOptions::default().boilerplate(true));
    let (late, early) = (create("late"), create("early"));
    assert_eq!(ingest(&late, 40, plain.clone().store_text(true)), [1, 0, 0, 0]);
    assert_eq!(task(&late), (false, false, true));
    assert_eq!(ingest(&late, 40, marked.clone()), [0, 1, 0, 1]);
    assert_eq!(task(&late), (true, true, true));
    for again in [&marked, &plain] {
        assert_eq!(ingest(&late, 40, again.clone()), [0, 0, 1, 0]);
    }
    assert_eq!(ingest(&late, 50, plain.clone()), [0, 1, 0, 0]);
    assert_eq!(task(&late), (true, true, false));
    // A merge copies the fingerprints of boilerplate.
    assert_eq!(ingest(&early, 50, plain.clone()), [1, 0, 0, 0]);
    assert_eq!(task(&early), (false, false, false));
    assert_eq!(counts(early.merge(&late, &plain, &Task::new()).unwrap()), [0, 1, 0, 1]);
    assert_eq!(task(&early), (true, true, false));
    // A merge that would lose the text, or the k-grams of boilerplate, leaves the document as it is stored.
    let (texts, marks) = (create("texts"), create("marks"));
    assert_eq!(ingest(&texts, 50, plain.clone().store_text(true)), [1, 0, 0, 0]);
    assert_eq!(counts(texts.merge(&late, &plain, &Task::new()).unwrap()), [0, 0, 1, 0]);
    assert_eq!(task(&texts), (false, false, true));
    assert_eq!(counts(marks.merge(&late, &plain, &Task::new()).unwrap()), [1, 0, 0, 0]);
    assert_eq!(counts(marks.merge(&texts, &plain, &Task::new()).unwrap()), [0, 0, 1, 0]);
    assert_eq!(task(&marks), (true, true, false));
    for database in [&late, &early, &texts, &marks] {
        assert_eq!(database.verify(&Task::new()).unwrap().problems, []);
    }
}

/// Profiles of all kinds of selections. In source code only the text as written is compared: the structure of
/// all words is the same.
fn profile() -> impl Strategy<Value = Profile> {
    let units = prop_oneof![Just(Unit::Char), Just(Unit::Word), Just(Unit::Byte)];
    let selections = prop_oneof![
        4 => Just(Selection::Robust),
        1 => Just(Selection::Plain),
        1 => Just(Selection::SafeMod(3)),
        1 => Just(Selection::Mod(3))
    ];
    prop_oneof![
        4 => (units, 2u32..6, 1u32..9, selections)
            .prop_map(|(unit, k, w, selection)| Profile::new(unit, WordRule::Letters, k, w, selection).unwrap()),
        1 => Just(Profile::CODE),
    ]
}

proptest! {
    /// Each document has words of its own between parts of what was handed out. The handed-out text and the
    /// two documents use different letters, so all text that the documents share was handed out.
    #[test]
    fn what_was_handed_out_is_never_shared(
        profile in profile(),
        handed_out in "[ab]{1,3}( [a-c]{1,3}){4,80}",
        a in prop::collection::vec(("[d-h]{3,9}( [d-h]{3,9}){0,20}", any::<[prop::sample::Index; 2]>()), 1..5),
        b in prop::collection::vec(("[i-n]{3,9}( [i-n]{3,9}){0,20}", any::<[prop::sample::Index; 2]>()), 1..5),
    ) {
        let words: Vec<&str> = handed_out.split(' ').collect();
        let in_memory = |name: &str, text: String| QuerySource::Bytes { name: name.into(), bytes: text.into_bytes() };
        let submission = |name, pieces: Vec<(String, [prop::sample::Index; 2])>| {
            let piece = |(own, ends): (String, [prop::sample::Index; 2])| {
                let mut ends = ends.map(|end| end.index(words.len()));
                ends.sort_unstable();
                format!("{own} {} ", words[ends[0]..=ends[1]].join(" "))
            };
            in_memory(name, pieces.into_iter().map(piece).collect())
        };
        let (a, b) = (submission("a", a), submission("b", b));
        let options = DiffOptions::default().boilerplate(vec![in_memory("task", format!(" {handed_out} "))]);
        let answer = fpdb::diff(&a, &b, &profile, &options, &Task::new()).unwrap();
        prop_assert_eq!(answer.text.map_or(answer.found, |text| text.found), 0);
    }
}

/// If nearly all documents share a text, `pairs` says how to mark it.
#[test]
fn a_handout_that_is_not_marked_is_noticed() {
    let folder = Folder::new();
    let task = statements(1, 60);
    folder.write("task.c", &task);
    let write = |name: &str, seed: u64| folder.write(name, task.clone() + &statements(1000 * seed, 40));
    const NOTICED: &str = "like those of a text that was handed out";
    for profile in ["words", "prose"] {
        let pairs = |flags: &[&str]| folder.ok(&[&["--db", profile, "pairs"][..], flags].concat()).stderr;
        let ingest =
            |paths: &[&str]| folder.ok(&[&["--db", profile, "ingest", "-q", "--profile", profile], paths].concat());
        for student in 1..6 {
            write(&format!("in/{student}/a.c"), student);
            folder.write(&format!("in/{student}/b.c"), statements(10_000 * student, 20));
        }
        // Five documents may have copied from each other.
        ingest(&["in"]);
        assert!(!pairs(&["--submission-by", "in"]).contains(NOTICED));
        for student in 6..9 {
            write(&format!("in/{student}/a.c"), student);
        }
        folder.write("in/9/a.c", statements(90_000, 40));
        ingest(&["in"]);
        let told = pairs(&["--submission-by", "in"]);
        assert!(told.contains("are each in 8 or more of 9 submissions, ") && told.contains("--max-df 7)"), "{told}");
        assert!(!pairs(&[]).contains(NOTICED), "eight of fourteen documents");
        assert!(!pairs(&["--submission-by", "in", "--max-df", "7"]).contains(NOTICED));
        // Only new documents can have got the handout of this year.
        for number in 0..40 {
            folder.write(&format!("old/{number}.c"), statements(1_000_000 + 1000 * number, 20));
        }
        ingest(&["old"]);
        assert!(!pairs(&["--submission-by", "in"]).contains(NOTICED));
        let told = pairs(&["--submission-by", "in", "--old", "old"]);
        assert!(told.contains("are each in 8 or more of 9 new submissions, "), "{told}");
        ingest(&["in", "--boilerplate", "task.c"]);
        assert!(!pairs(&["--submission-by", "in", "--old", "old"]).contains(NOTICED));
        // Text that all share beside the boilerplate is usually no unmarked handout.
        let idioms = statements(77, 60);
        for student in 1..9 {
            folder.write(&format!("in/{student}/a.c"), task.clone() + &idioms + &statements(1000 * student, 40));
        }
        ingest(&["in"]);
        let told = pairs(&["--submission-by", "in", "--old", "old"]);
        assert!(
            told.contains("besides those of the boilerplate: idioms of the task,") && !told.contains(NOTICED),
            "{told}"
        );
        std::fs::remove_dir_all(folder.path().join("in")).unwrap();
    }
}

/// Programs that share only the structure of idioms, under other names, do not count as programs with a
/// handout.
#[test]
fn idioms_are_not_taken_for_a_handout() {
    let folder = Folder::new();
    let program = |names: u64, signs: u64| -> String {
        let mut random = lcg(signs);
        let mut sign = || ["+", "-", "*", "/", "%", "<", ">", "&"][random(8) as usize];
        (0..200).map(|number| format!("{} {}\n", word(1000 * names + number), sign())).collect()
    };
    for student in 1..8 {
        folder.write(&format!("idioms/{student}.c"), program(student, 7) + &program(100 + student, 10 + student));
        folder.write(&format!("handout/{student}.c"), program(0, 7) + &program(100 + student, 10 + student));
    }
    for (class, is_noticed) in [("idioms", false), ("handout", true)] {
        let database = format!("{class}.db");
        folder.ok(&["--db", &database, "ingest", "-q", "--profile", "code", class]);
        let told = folder.ok(&["--db", &database, "pairs"]).stderr;
        assert_eq!(told.contains("like those of a text that was handed out"), is_noticed, "{class}: {told}");
        let shared = folder.ok(&["--db", &database, "pairs", "--format", "json"]).json()[0]["shared"].as_u64();
        assert!(shared > Some(40), "{shared:?}");
    }
}

/// Documents that were marked by mistake are named by that ingest and by the next ones, until they are removed.
#[test]
fn documents_that_stay_boilerplate_are_named() {
    let folder = Folder::new();
    for (number, name) in ["essays/a.txt", "essays/b.txt", "task.txt"].iter().enumerate() {
        folder.write(name, statements(number as u64, 60));
    }
    let told = |verb: &str| {
        format!(
            "2 documents of these paths {verb} boilerplate: essays/a.txt, task.txt; \
             to undo this, run `fpdb rm NAME`, then ingest without --boilerplate\n"
        )
    };
    let run = folder.ok(&["ingest", "essays", "--boilerplate", "task.txt", "essays/a.txt"]);
    assert!(run.stderr.contains(&told("are")), "{run:?}");
    // An ingest that names these documents again does not report them.
    let run = folder.ok(&["ingest", "essays", "--boilerplate", "task.txt", "essays/a.txt"]);
    assert!(!run.stderr.contains("boilerplate"), "{run:?}");
    let run = folder.ok(&["ingest", "essays", "--boilerplate", "task.txt"]);
    assert!(
        run.stderr.contains("1 document of these paths stays boilerplate: essays/a.txt; to undo this, run `fpdb rm "),
        "{run:?}"
    );
    let run = folder.ok(&["ingest", "essays", "task.txt"]);
    assert!(run.stderr.contains(&told("stay")), "{run:?}");
    // A new handout does not hide that another document stays.
    folder.write("more.txt", statements(9, 60));
    let run = folder.ok(&["ingest", "essays", "--boilerplate", "more.txt"]);
    for told in [
        "1 document of these paths is boilerplate: more.txt;",
        "1 document of these paths stays boilerplate: essays/a.txt;",
    ] {
        assert!(run.stderr.contains(told), "{told} {run:?}");
    }
    assert!(!folder.ok(&["ingest", "essays/b.txt"]).stderr.contains("boilerplate"));
    assert!(!folder.ok(&["ingest", "-q", "essays"]).stderr.contains("boilerplate"));
    folder.ok(&["rm", "essays/a.txt"]);
    let run = folder.ok(&["ingest", "essays"]);
    assert!(run.stdout.starts_with("1 document added") && !run.stderr.contains("boilerplate"), "{run:?}");
}

/// A handout that was forgotten is added later with the flags of the folder.
#[test]
fn a_forgotten_handout_is_added() {
    let folder = Folder::new();
    folder.write("essays/a.txt", statements(1, 60));
    folder.write("essays/drafts/b.txt", statements(2, 60));
    folder.write("essays/task.txt", statements(3, 60));
    folder.write("task.txt", statements(4, 60));
    folder.ok(&["ingest", "-q", "essays", "--store-text", "--exclude", "drafts"]);
    for (task, marked) in [("task.txt", 1), ("essays/task.txt", 2), ("task.txt", 2)] {
        let run = folder.ok(&["ingest", "essays", "--boilerplate", task]);
        assert!(run.stderr.contains("using the flags of the last ingest: --exclude=drafts --store-text"), "{run:?}");
        let stats = folder.ok(&["stats", "--format", "json"]).json().remove(0);
        assert_eq!((&stats["boilerplate"], &stats["documents"]), (&marked.into(), &3.into()));
    }
    // Boilerplate that was ingested with other flags is read with its own flags.
    folder.ok(&["ingest", "-q", "--as", "text", "--boilerplate", "task.txt"]);
    let run = folder.ok(&["ingest", "essays", "--boilerplate", "task.txt"]);
    assert!(run.stderr.contains("using the flags of the last ingest for task.txt: --as=text ("), "{run:?}");
    assert!(run.stdout.starts_with("0 documents added, 3 unchanged\n"), "{run:?}");
}

/// After a folder was moved, its handout keeps the mark, and the text of the handout is stored on request.
#[test]
fn the_text_of_a_handout_that_was_moved_is_stored() {
    let folder = Folder::new();
    folder.write("old/c/a.txt", statements(1, 60));
    folder.write("old/c/task.txt", statements(2, 60));
    let ingest = |place: &str, flags: &[&str]| {
        let mut command = folder.command(&[&["ingest", "-q", "--db", "../db", "c"], flags].concat());
        let run = Run::of(&command.current_dir(folder.path().join(place)).output().unwrap());
        assert_eq!(run.status, 0, "{run:?}");
    };
    ingest("old", &["--boilerplate", "c/task.txt"]);
    std::fs::rename(folder.path().join("old"), folder.path().join("new")).unwrap();
    ingest("new", &["--store-text"]);
    let json = |command: &str| folder.ok(&[command, "--db", "db", "--format", "json"]).json().remove(0);
    assert_eq!((&json("stats")["boilerplate"], &json("verify")["texts"]), (&1.into(), &2.into()));
}

/// Files that everybody was given are no evidence of copying, even if their bytes are identical.
#[test]
fn a_file_that_was_handed_out_makes_no_match_of_submissions() {
    let folder = Folder::new();
    let (task, copied) = (statements(1, 60), statements(7000, 60));
    folder.write("task.c", &task);
    for student in ["anna", "ben", "cleo"] {
        folder.write(&format!("in/{student}/task.c"), &task);
    }
    folder.write("in/anna/own.c", &copied);
    folder.write("late/dora/task.c", &task);
    folder.write("late/dora/own.c", &copied);
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "--boilerplate", "task.c"]);
    let ask = ["query", "late/dora", "--submission-by", "in,late", "--top", "0"];
    for more in [&[][..], &["--no-passages"], &["--rewritten"]] {
        let answers = folder.ok(&[&ask[..], more, &["--format", "json"]].concat()).json();
        let matches: Vec<&Value> = answers.iter().flat_map(|answer| answer["matches"].as_array().unwrap()).collect();
        let names: Vec<&str> = matches.iter().map(|found| found["document"].as_str().unwrap()).collect();
        assert_eq!(names, ["in/anna"], "{more:?}");
        let files = matches[0]["files"].as_array().unwrap();
        assert!(files.iter().all(|file| file["document"] == "in/anna/own.c"), "{more:?}: {files:?}");
    }
}

/// Submissions that are only boilerplate are explained like other boilerplate.
#[test]
fn submissions_that_are_all_boilerplate_are_explained() {
    let folder = Folder::new();
    for (name, seed) in [("programs/a/x.c", 1), ("programs/b/x.c", 2)] {
        folder.write(name, statements(seed, 60));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "--boilerplate", "programs"]);
    for command in [&["pairs"][..], &["query", "programs/a"]] {
        let run = folder.ok(&[command, &["--submission-by", "programs"]].concat());
        assert!(run.stderr.contains("all stored documents are boilerplate"), "{run:?}");
    }
    let other = folder.run(&["pairs", "--submission-by", "program"]);
    assert!(other.status == 2 && other.stderr.contains("no stored document fits program"), "{other:?}");
    folder.write("notes.txt", statements(3, 60));
    folder.ok(&["ingest", "-q", "notes.txt"]);
    let run = folder.ok(&["pairs", "--submission-by", "programs"]);
    assert!(run.stderr.contains("all documents in submissions are boilerplate (--submission-by programs)"), "{run:?}");
}
