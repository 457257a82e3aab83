//! Many queries at once: their hashes are looked up together, and each answer is the same as if the query
//! were alone.

use fpdb::{
    Database, DatabaseWriter, Document, IngestOptions, Mode, Profile, QueryAnswer, QueryOptions, QuerySource, Task,
    WalkOptions, Weight,
};
use tempfile::TempDir;

use crate::oracle::Random;

/// Sentences of a small vocabulary, so that documents share many hashes.
fn text(random: &mut Random, sentences: u64) -> String {
    let sentence = |number: u64| {
        let mut of = Random(number * 7919 + 1);
        let mut letter = || char::from(b'a' + of.below(20) as u8);
        (0..12).flat_map(|_| ['w', letter(), 'o', letter(), ' ']).collect::<String>() + "\n"
    };
    (0..sentences).map(|_| sentence(random.below(60) as u64)).collect()
}

/// A database of several runs, with deleted, replaced and boilerplate documents.
fn database(folder: &TempDir, random: &mut Random, profile: &Profile, memory: u64) -> DatabaseWriter {
    let builder = Database::builder().threads(3).memory(memory);
    let database = builder.create(folder.path().join("db"), profile).unwrap();
    for commit in 0..5 {
        let documents: Vec<Document> = (0..8)
            .map(|number| {
                let length = 1 + random.below(12) as u64;
                Document::new(format!("d{}", (commit * 5 + number) % 30), text(random, length))
            })
            .collect();
        let options = IngestOptions::default().store_text(commit % 2 == 0);
        database.ingest_with(documents, &options, &Task::new()).unwrap();
    }
    let handout = folder.path().join("handout.txt");
    std::fs::write(&handout, text(random, 2)).unwrap();
    let marked = IngestOptions::default().boilerplate(true);
    database.ingest_sources(&[fpdb::Source::Path(handout)], &marked, &Task::new()).unwrap();
    database.remove(&["d3", "d11"]).unwrap();
    database
}

fn json(answer: &fpdb::Result<QueryAnswer>) -> String {
    match answer {
        Ok(answer) => serde_json::to_string(answer).unwrap(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn each_answer_is_that_of_the_query_alone() {
    let seed = 20_261_124;
    for (round, (name, memory)) in [("words", 1 << 20), ("prose", 1 << 30), ("words", 1 << 30)].into_iter().enumerate()
    {
        let mut random = Random(seed + round as u64);
        let folder = TempDir::new().unwrap();
        let database = database(&folder, &mut random, &Profile::named(name).unwrap(), memory);
        let mut sources: Vec<QuerySource> = (0..150)
            .map(|number| {
                let length = random.below(if number % 10 == 0 { 400 } else { 8 }) as u64;
                QuerySource::text(text(&mut random, length))
            })
            .collect();
        sources.extend((0..30).step_by(3).map(|number| QuerySource::Stored(format!("d{number}"))));
        sources.push(QuerySource::File(folder.path().join("there is no such file")));
        let lines: String = (0..40)
            .map(|number| format!("{}\n", serde_json::json!({"id": number, "text": text(&mut random, 4)})))
            .collect();
        let feed = folder.path().join("feed.jsonl");
        std::fs::write(&feed, &lines).unwrap();
        let plain = QueryOptions::default();
        let kinds = [
            plain.clone(),
            plain.clone().passages(false).top(Some(3)),
            plain.clone().mode(Mode::Resemblance).n(Some(16)).top(None),
            plain.clone().mode(Mode::Resemblance).n(Some(8)).passages(false).min_score(0.1),
            plain.clone().weight(Weight::Idf).max_df(Some(4)).top(Some(2)),
            plain.clone().window(Some(Profile::named(name).unwrap().w() + 5)).passages(false),
            plain.clone().submission_by(Some("^(d.)".into())).top(Some(1)),
        ];
        for (kind, options) in kinds.iter().enumerate() {
            let together = database.query_each(&sources, options, &Task::new()).unwrap();
            assert_eq!(together.len(), sources.len());
            let mut found = 0;
            for (source, answer) in sources.iter().zip(&together) {
                let alone = database.query_each(std::slice::from_ref(source), options, &Task::new()).unwrap();
                assert_eq!(json(answer), json(&alone[0]), "{name}, kind {kind}, {source:?}");
                found += answer.as_ref().map_or(0, |answer| answer.matches.len());
            }
            assert!(found > 20, "{name}, kind {kind}: {found} matches");
            let mut below = Vec::new();
            let visit = |name: &str, answer: fpdb::Result<QueryAnswer>| -> fpdb::Result<()> {
                below.push((name.to_owned(), answer));
                Ok(())
            };
            database.query_below(&feed, &WalkOptions::default(), options, &Task::new(), visit).unwrap();
            assert_eq!(below.len(), 40);
            for (line, (name, answer)) in lines.lines().zip(&below) {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                let text = record["text"].as_str().unwrap();
                let source = QuerySource::Text { name: name.clone(), text: text.to_owned() };
                let alone = database.query_with(source, options, &Task::new()).unwrap();
                let answer = answer.as_ref().unwrap();
                assert_eq!(
                    serde_json::to_value(&answer.matches).unwrap(),
                    serde_json::to_value(&alone.matches).unwrap(),
                    "{name}, kind {kind}"
                );
            }
        }
    }
}

/// A visitor of answers replaces a document. The answers after that still have the old document, in its
/// submission too.
#[test]
fn all_answers_of_a_call_are_of_one_commit() {
    let folder = TempDir::new().unwrap();
    let database = Database::create(folder.path().join("db"), Profile::named("words").unwrap()).unwrap();
    let text = |version: u64| text(&mut Random(7), 8) + &format!("version {version}");
    let documents = |version| ["s/a", "s/b", "t"].map(|name| Document::new(name, text(version)));
    database.ingest(documents(0)).unwrap();
    // More queries than are answered before the first answer is visited.
    let feed = folder.path().join("feed.jsonl");
    let line = serde_json::json!({"text": text(2)}).to_string() + "\n";
    std::fs::write(&feed, line.repeat(1000)).unwrap();
    let plain = QueryOptions::default().passages(false);
    for (version, options) in [(1, plain.clone()), (2, plain.submission_by(Some("^(s)/".into())))] {
        let before = database.query_with(text(2), &options, &Task::new()).unwrap();
        let mut answered = 0;
        let visit = |_: &str, answer: fpdb::Result<QueryAnswer>| {
            if answered == 0 {
                assert_eq!(database.ingest(documents(version))?.replaced, 3);
            }
            answered += 1;
            assert_eq!(answer?.matches, before.matches, "answer {answered}");
            Ok::<(), fpdb::Error>(())
        };
        database.query_below(&feed, &WalkOptions::default(), &options, &Task::new(), visit).unwrap();
        assert_eq!((answered, before.matches.len()), (1000, if version == 1 { 3 } else { 2 }));
        let after = database.query_with(text(2), &options, &Task::new()).unwrap();
        assert_ne!(after.matches, before.matches);
    }
}
