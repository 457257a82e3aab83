//! Documents that the caller supplies: the same result as from files, with any memory, and failures that
//! affect no other document.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fpdb::{
    Database, DatabaseBuilder, DatabaseWriter, DiffOptions, Document, DocumentInfo, Error, IngestOptions,
    IngestSummary, MetadataTable, OnChange, Profile, Progress, QueryOptions, QuerySource, ReadOptions, SkipReason,
    Source, StopToken, Task,
};
use tempfile::TempDir;

fn create(folder: &TempDir, name: &str, memory: u64) -> DatabaseWriter {
    let profile = Profile::named("prose").unwrap();
    Database::builder().memory(memory).threads(3).create(folder.path().join(name), profile).unwrap()
}

/// Sample documents, with a page and a large one among them.
fn samples(folder: &Path) -> Vec<PathBuf> {
    let papers = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("data-samples/federalist");
    let mut paths: Vec<PathBuf> = fs::read_dir(papers).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let all: Vec<u8> = paths.iter().flat_map(|path| fs::read(path).unwrap()).collect();
    let (large, page, empty) = (folder.join("large.txt"), folder.join("page.html"), folder.join("empty.txt"));
    fs::write(&large, &all).unwrap();
    let text = fs::read_to_string(&paths[0]).unwrap();
    fs::write(&page, format!("<!doctype html><title>A page</title><p>{text}</p>")).unwrap();
    fs::write(&empty, "").unwrap();
    paths.extend([large, page, empty]);
    paths
}

fn name(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Returns a few bytes per read.
struct Dripping(Cursor<Vec<u8>>);

impl Read for Dripping {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let some = buffer.len().min(1009);
        self.0.read(&mut buffer[..some])
    }
}

/// All stored data of the documents except their sources and times.
fn kept(database: &Database) -> Vec<String> {
    let mut documents = Vec::new();
    database
        .for_each_document::<Error>(|document: DocumentInfo| {
            let DocumentInfo { id, name, bytes, digest, encoding, lines, symbols, kgrams, fingerprints, .. } = document;
            let DocumentInfo { distinct, member, format, metadata, .. } = document;
            documents.push(format!(
                "{id} {name} {bytes} {digest:?} {encoding} {lines} {symbols} {kgrams} {fingerprints} {distinct} {member:?} \
                 {format} {metadata:?}"
            ));
            Ok(())
        })
        .unwrap();
    documents
}

fn ingest(writer: &DatabaseWriter, documents: impl IntoIterator<Item = Document, IntoIter: Send>) -> IngestSummary {
    writer.ingest_with(documents, &IngestOptions::default().store_text(true), &Task::new()).unwrap()
}

#[test]
fn documents_from_memory_are_those_from_files() {
    let folder = TempDir::new().unwrap();
    let paths = samples(folder.path());
    let stored = IngestOptions::default().store_text(true);
    let files = create(&folder, "files", 64 << 20);
    let sources: Vec<Source> = paths.iter().cloned().map(Source::Path).collect();
    files.ingest_sources(&sources, &stored, &Task::new()).unwrap();

    let (whole, dripping) = (create(&folder, "whole", 64 << 20), create(&folder, "dripping", 1 << 20));
    let bytes = |path: &PathBuf| fs::read(path).unwrap();
    ingest(&whole, paths.iter().map(|path| Document::new(name(path), bytes(path))));
    let summary = ingest(
        &dripping,
        paths.iter().map(|path| Document::from_reader(name(path), Dripping(Cursor::new(bytes(path))))),
    );
    assert_eq!((summary.added, summary.failures), (paths.len() as u64, 0), "{summary:?}");

    let options = QueryOptions::default();
    for database in [&whole, &dripping] {
        assert_eq!(kept(database), kept(&files));
        assert_eq!(database.verify(&Task::new()).unwrap().problems, []);
        for path in &paths {
            let from_file = files
                .query_each(&[QuerySource::File(path.clone())], &options, &Task::new())
                .unwrap()
                .remove(0)
                .unwrap();
            let query = QuerySource::Bytes { name: name(path), bytes: bytes(path) };
            let from_memory = database.query_each(&[query], &options, &Task::new()).unwrap().remove(0).unwrap();
            assert_eq!(from_memory, from_file, "{}", path.display());
        }
        // The same again changes nothing.
        let again = ingest(database, paths.iter().map(|path| Document::new(name(path), bytes(path))));
        assert_eq!((again.unchanged, again.added + again.replaced), (paths.len() as u64, 0), "{again:?}");
    }
}

#[test]
fn passages_are_exact_where_the_text_was_stored_and_inferred_elsewhere() {
    let folder = TempDir::new().unwrap();
    let text =
        "When in the Course of human events, it becomes necessary for one people to dissolve the political bands";
    for (store_text, why) in [(true, None), (false, Some("not stored"))] {
        let writer = create(&folder, &format!("db-{store_text}"), 1 << 20);
        let options = IngestOptions::default().store_text(store_text);
        writer.ingest_with([Document::new("d", text)], &options, &Task::new()).unwrap();
        let query = QuerySource::Bytes { name: "q".into(), bytes: format!("They say: {text}").into_bytes() };
        let answer = writer.query_each(&[query], &QueryOptions::default(), &Task::new()).unwrap().remove(0).unwrap();
        let found = &answer.matches[0];
        assert_eq!(found.passages[0].exact, store_text);
        match (why, &found.inferred) {
            (None, None) => {}
            (Some(part), Some(words)) => assert!(words.contains(part), "{words}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_changes_is_replaced_what_fails_stays_alone_and_the_last_of_a_name_counts() {
    struct Failing(Cursor<Vec<u8>>);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the line went dead")),
                read => Ok(read),
            }
        }
    }
    let folder = TempDir::new().unwrap();
    let writer = create(&folder, "db", 1 << 20);
    let text = |number: usize| format!("document {number}: ").repeat(9);
    let failing = |name: &str, bytes| Document::from_reader(name, Failing(Cursor::new(vec![b'x'; bytes])));
    let documents = vec![
        Document::new("a", text(1)).with("label", "first"),
        failing("small", 10),
        Document::new("b", text(2)),
        failing("large", 1 << 20),
        Document::new("", text(3)),
        Document::new("binary", vec![0u8, 1, 2, 3, 0, 0, 255]),
        Document::new("c", text(4)),
        Document::new("c", text(5)),
    ];
    let summary = ingest(&writer, documents);
    assert_eq!((summary.added, summary.replaced, summary.failures, summary.skips), (3, 1, 3, 1), "{summary:?}");
    let failed: Vec<&str> = summary.failed.iter().map(|failure| failure.name.as_str()).collect();
    assert_eq!(failed, ["small", "large", ""]);
    assert_eq!(summary.failed[0].error, "cannot read small: the line went dead");
    let documents = || {
        let mut names = Vec::new();
        let each = |document: DocumentInfo| {
            names.push((document.name, document.bytes, document.metadata));
            Ok(())
        };
        writer.for_each_document::<Error>(each).unwrap();
        names
    };
    let length = text(1).len() as u64;
    let label = BTreeMap::from([("label".to_owned(), "first".to_owned())]);
    let expected = [("a", label), ("b", BTreeMap::new()), ("c", BTreeMap::new())];
    let expected = expected.map(|(name, metadata)| (name.to_owned(), length, metadata));
    assert_eq!(documents(), expected);

    let again = ingest(&writer, [Document::new("c", text(4)), Document::new("c", text(5))]);
    assert_eq!((again.unchanged, again.replaced), (0, 2), "the first of them is another than the one stored");
    let changed = IngestOptions::default().on_change(OnChange::Keep);
    let summary = writer.ingest_with([Document::new("a", text(9))], &changed, &Task::new()).unwrap();
    assert_eq!((summary.kept, summary.replaced), (1, 0));
    assert_eq!(writer.verify(&Task::new()).unwrap().problems, []);
}

#[test]
fn an_iterator_is_pulled_no_further_than_what_is_in_work() {
    /// Stops the run at the first commit.
    struct StopAtCommit(StopToken);
    impl Progress for StopAtCommit {
        fn committed(&self, _: u64) {
            self.0.stop();
        }
    }
    let folder = TempDir::new().unwrap();
    let writer = create(&folder, "db", 1 << 20);
    let pulled = AtomicU64::new(0);
    let endless = (0u64..).map(|number| {
        pulled.fetch_add(1, Ordering::Relaxed);
        Document::new(format!("d{number}"), format!("{number} ").repeat(20_000))
    });
    let stop = StopAtCommit(StopToken::new());
    let task = Task::new().progress(&stop).stop(&stop.0);
    let table = folder.path().join("table.csv");
    std::fs::write(&table, "filename,by\nd0,a\nnowhere,b\n").unwrap();
    let options = IngestOptions::default().metadata(Some(Arc::new(MetadataTable::read(&table).unwrap())));
    let summary = writer.ingest_with(endless, &options, &task).unwrap();
    // The run has not read all documents, so no row is known to match nothing.
    assert!(summary.interrupted && summary.added > 0 && summary.unmatched.is_empty(), "{summary:?}");
    // The queues hold some jobs for each of three threads, each with about one document.
    let pulled = pulled.into_inner();
    assert!(pulled <= summary.added + 200, "{pulled} pulled, {} added", summary.added);
    assert_eq!(writer.stats().unwrap().documents, summary.added);
}

#[test]
fn rows_are_told_by_their_bytes_and_what_is_not_there_is_skipped() {
    let folder = TempDir::new().unwrap();
    let writer = create(&folder, "db", 1 << 20);
    let text = "When in the Course of human events, it becomes necessary for one people";
    let options = IngestOptions::default();
    let documents = [
        Document::new("1.html", text).like(""),
        Document::new("2", format!("<p>{text}</p>")).like("2.html"),
        Document::new("3.html", text),
        Document::skipped("4", SkipReason::Other("a row without text".into())),
    ];
    let summary = writer.ingest_with(documents, &options, &Task::new()).unwrap();
    assert_eq!((summary.added, summary.skips, summary.failures), (3, 1, 0));
    let skipped = &summary.skipped[0];
    assert_eq!((&*skipped.name, skipped.reason.to_string()), ("4", "a row without text".to_owned()));
    let formats: Vec<String> =
        writer.documents_from(fpdb::DocId(0), 9).unwrap().into_iter().map(|d| d.format).collect();
    assert_eq!(formats, ["text", "html", "html"]);
}

#[test]
fn documents_come_page_by_page() {
    let folder = TempDir::new().unwrap();
    let writer = create(&folder, "db", 1 << 20);
    ingest(&writer, (0..10).map(|number| Document::new(format!("{number}"), format!("text {number}"))));
    writer.remove(&["0", "4", "9"]).unwrap();
    for most in 1..12 {
        let (mut first, mut names) = (fpdb::DocId(0), Vec::new());
        loop {
            let page = writer.documents_from(first, most).unwrap();
            assert!(page.len() <= most);
            let Some(last) = page.last() else { break };
            first = fpdb::DocId(last.id.0 + 1);
            names.extend(page.into_iter().map(|document| document.name));
        }
        assert_eq!(names, ["1", "2", "3", "5", "6", "7", "8"], "{most} at a time");
    }
    assert!(writer.documents_from(fpdb::DocId(0), 0).unwrap().is_empty());
    assert!(writer.documents_from(fpdb::DocId(u32::MAX), 5).unwrap().is_empty());
}

#[test]
fn documents_in_memory_are_compared_as_files_are_and_stored_ones_not_at_all() {
    let folder = TempDir::new().unwrap();
    let paths = samples(folder.path());
    let profile = Profile::default();
    let diff = |a: &QuerySource, b: &QuerySource| fpdb::diff(a, b, &profile, &Default::default(), &Task::new());
    let in_memory = |path: &Path| QuerySource::Bytes { name: name(path), bytes: fs::read(path).unwrap() };
    let (large, page) = (&paths[paths.len() - 3], &paths[paths.len() - 2]);
    let of_files = diff(&QuerySource::File(page.clone()), &QuerySource::File(large.clone())).unwrap();
    assert!(of_files.matches[0].passages[0].exact);
    for (a, b) in [
        (in_memory(page), in_memory(large)),
        (QuerySource::File(page.clone()), in_memory(large)),
        (in_memory(page), QuerySource::File(large.clone())),
    ] {
        assert_eq!(diff(&a, &b).unwrap(), of_files);
    }
    for stored in [QuerySource::Stored("a".into()), QuerySource::Number(fpdb::DocId(3))] {
        assert!(matches!(diff(&in_memory(page), &stored), Err(Error::InvalidParameter { .. })));
    }
}

/// The summary counts and names documents of one name in one call. By default, the later one has replaced the
/// earlier one.
#[test]
fn repeated_names_are_told() {
    let folder = TempDir::new().unwrap();
    let writer = Database::create(folder.path().join("db"), Profile::named("prose").unwrap()).unwrap();
    let text = |number: usize| {
        format!("The text of document number {number}, which is long enough to have fingerprints. {number}")
    };
    let documents = [("a", 0), ("b", 1), ("a", 2), ("c", 3), ("b", 4), ("a", 5)];
    let given = || documents.map(|(name, number)| Document::new(name, text(number)));
    let summary = ingest(&writer, given());
    assert_eq!((summary.added, summary.replaced, summary.repeated), (3, 3, 3));
    assert_eq!(summary.repeated_names, ["a", "b", "a"]);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!((&json["repeated"], &json["repeated_names"]), (&3.into(), &serde_json::json!(["a", "b", "a"])));
    let summary = ingest(&writer, [Document::new("a", text(5)), Document::new("d", text(6))]);
    assert_eq!((summary.repeated, summary.repeated_names.len()), (0, 0));
    assert!(serde_json::to_value(&summary).unwrap().get("repeated").is_none());
}

/// Offsets of a query text count its own bytes, even if the text looks like another format.
#[test]
fn a_text_is_no_mail_and_nothing_binary() {
    let folder = TempDir::new().unwrap();
    let writer = Database::create(folder.path().join("db"), Profile::named("prose").unwrap()).unwrap();
    let shared =
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness";
    ingest(&writer, [Document::new("a", shared)]);
    let heads = [
        "From: a@example.org\nTo: b@example.org\nSubject: times\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\n",
        "%PDF-1.7\n",
        "PK\u{3}\u{4} is how it begins. ",
        "\0\u{1}\u{2}\u{3}\0\u{5} ",
        "<html><body><p>",
        "",
    ];
    for head in heads {
        let text = format!("{head}{shared}");
        let query = QuerySource::text(&text);
        let options = QueryOptions::default();
        let answer =
            writer.query_each(std::slice::from_ref(&query), &options, &Task::new()).unwrap().remove(0).unwrap();
        let found = &answer.matches[0].passages[0];
        assert_eq!(&text[found.query.start as usize..found.query.end as usize], shared, "{head:?}");
        let counted = query.document_text(writer.profile(), &ReadOptions::default()).unwrap().unwrap();
        assert_eq!(counted.bytes, text.as_bytes(), "{head:?}");
        let bytes = QuerySource::Bytes { name: String::new(), bytes: shared.into() };
        let diff = fpdb::diff(&query, &bytes, writer.profile(), &DiffOptions::default(), &Task::new());
        assert_eq!(diff.unwrap().matches[0].passages[0].query, found.query, "{head:?}");
    }
}

#[test]
fn a_string_is_stored_as_text_whatever_it_begins_with() {
    let folder = TempDir::new().unwrap();
    let writer = create(&folder, "db", 1 << 20);
    let begins = ["%!PS is how", "%PDF-1.4 is how", "{\\rtf1 is how", "PK\u{3}\u{4} is how"];
    let documents = begins.iter().zip(["a", "b.pdf", "c.txt", "d.docx"]);
    let documents = documents.map(|(begin, name)| Document::new(name, format!("{begin} it begins")).as_text());
    let summary = ingest(&writer, documents.chain([Document::new("page", "<!DOCTYPE html><p>A page").as_text()]));
    assert_eq!((summary.added, summary.failures, summary.skips), (5, 0, 0), "{summary:?}");
    let mut formats = Vec::new();
    let push = |document: DocumentInfo| {
        formats.push(document.format);
        Ok(())
    };
    writer.for_each_document::<Error>(push).unwrap();
    assert_eq!(formats, ["text", "text", "text", "text", "html"]);
}

#[test]
fn an_answer_does_not_depend_on_the_queries_beside_it() {
    let folder = TempDir::new().unwrap();
    let writer = create(&folder, "db", 64 << 20);
    let texts = ["the first of two texts that share a long part ", "the second one, which has it as well "]
        .map(|head| format!("{head}{}", "and here it is, word for word, as in the other".repeat(3)));
    let documents = texts.iter().zip(["a", "b"]).map(|(text, name)| Document::new(name.to_owned(), text.clone()));
    writer.ingest_with(documents, &IngestOptions::default(), &Task::new()).unwrap();
    let queries = texts.map(QuerySource::text);
    let ask = |queries: &[QuerySource]| {
        let answers = writer.query_each(queries, &QueryOptions::default(), &Task::new()).unwrap();
        answers.into_iter().map(|answer| answer.unwrap().matches).collect::<Vec<_>>()
    };
    let alone = [&queries[..1], &queries[1..]].map(ask).concat();
    assert!(alone.iter().all(|matches| matches.len() == 2 && matches[0].identical), "{alone:#?}");
    assert!(alone.iter().all(|matches| matches[0].passages[0].exact && !matches[1].passages[0].exact), "{alone:#?}");
    assert_eq!(ask(&queries), alone);
}

/// Of documents with one name, the metadata of the last one counts. This holds even if the bytes are equal,
/// and wherever the run commits.
#[test]
fn a_repeated_document_of_the_same_bytes_brings_its_metadata() {
    let text = "the same words again and again, ".repeat(30);
    let options = IngestOptions::default();
    // With this memory, a batch holds some 380 documents. So the first batch is being filled, being
    // committed, or stored.
    for between in [0, 300, 420, 1000] {
        let folder = TempDir::new().unwrap();
        let database = create(&folder, "d", DatabaseBuilder::LEAST_MEMORY);
        let document = |value: &str| Document::new("a", text.clone()).with("v", value);
        let others = (0..between).map(|number| Document::new(format!("{number}"), format!("text {number}")));
        let all = std::iter::once(document("1")).chain(others).chain([document("2"), document("3")]);
        let summary = database.ingest_with(all, &options, &Task::new()).unwrap();
        assert_eq!((summary.added, summary.unchanged, summary.repeated), (between + 1, 2, 2), "{between}");
        let alone = create(&folder, "alone", 64 << 20);
        alone.ingest_with([document("3")], &options, &Task::new()).unwrap();
        let first = |database: &Database| kept(database).remove(0);
        assert_eq!(first(&database), first(&alone), "{between}");
        assert!(database.verify(&Task::new()).unwrap().problems.is_empty());
    }
}
