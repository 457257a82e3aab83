//! A database made of parts. A naive cluster in one process makes the parts, in any order and number. The
//! answers equal those after an ingest of the same documents.

mod damage;
mod kills;
mod properties;

use std::fs;
use std::path::{Path, PathBuf};

use fpdb::staging::{StagedColumns, StagedRows, Staging, StagingPlan, StagingSummary};
use fpdb::{Database, Document, Error, Fingerprinter, Fingerprints, Format, IngestOptions, Profile, Task};
use serde_json::Value;

use crate::bad_input::prose;
use crate::oracle::Random;
use crate::support::{Folder, copy};

/// A document of a build: its name, its bytes and its metadata.
#[derive(Clone, Debug)]
struct Input {
    name: String,
    bytes: Vec<u8>,
    metadata: Vec<(String, String)>,
}

/// A row, in the order of sorting.
type Row = (i32, i64, i64, Vec<u8>);

fn input(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Input {
    Input { name: name.into(), bytes: bytes.into(), metadata: Vec::new() }
}

/// The sample documents, and odd ones: an empty one, one of a few letters, a large one, a copy, a page, a
/// binary file.
fn samples() -> Vec<Input> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("data-samples");
    let mut inputs: Vec<Input> = Vec::new();
    for folder in ["federalist", "planted"] {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
            let metadata = vec![("folder".to_owned(), folder.to_owned())];
            inputs.push(Input { metadata, ..input(name, fs::read(&path).unwrap()) });
        }
    }
    let all: Vec<u8> = inputs.iter().flat_map(|input| input.bytes.clone()).filter(u8::is_ascii).collect();
    let page = format!("<!doctype html><title>A page</title><p>{}", String::from_utf8_lossy(&inputs[0].bytes));
    inputs.insert(3, input("empty.txt", ""));
    inputs.insert(7, input("short", "a few"));
    inputs.insert(9, input("page.html", page));
    inputs.push(input("large.txt", all.repeat(2)));
    let copy = inputs[0].bytes.clone();
    inputs.push(input("a copy", copy));
    inputs.push(input("", "without a name"));
    inputs.push(input("binary.txt", [0u8, 1, 2, 3].repeat(1000)));
    inputs
}

/// The rows of all documents, as the map tasks of an engine make them. Tasks get inputs at random. Some tasks
/// run twice, and only the rows of one run are kept.
fn map(staging: &Staging, inputs: &[Input], finished: &[u32], random: &mut Random) -> Vec<Row> {
    let tasks = 1 + random.below(5);
    let of: Vec<usize> = inputs.iter().map(|_| random.below(tasks)).collect();
    let mut all: Vec<Row> = Vec::new();
    for task in 0..tasks {
        let run = || {
            let mut rows: Vec<Row> = Vec::new();
            let mut emit = |some: StagedRows| {
                rows.extend(rows_of(&some));
                Ok(())
            };
            let mut mapper = staging.mapper(finished);
            for (number, input) in (0..).zip(inputs).filter(|(number, _)| of[*number as usize] == task) {
                let metadata = input.metadata.clone();
                mapper.push(number, &input.name, Some(&input.bytes), metadata, &mut emit).unwrap();
            }
            mapper.finish(&mut emit).unwrap();
            rows
        };
        let rows = run();
        if random.below(2) == 0 {
            assert_eq!(run(), rows, "a task makes the same rows each time");
        }
        all.extend(rows);
    }
    all
}

fn rows_of(rows: &StagedRows) -> Vec<Row> {
    let starts = std::iter::once(0).chain(rows.ends.iter().copied());
    let values = starts.zip(&rows.ends).map(|(start, &end)| rows.values[start as usize..end as usize].to_vec());
    let integers = rows.parts.iter().zip(&rows.highs).zip(&rows.lows);
    integers.zip(values).map(|(((&part, &high), &low), value)| (part, high, low, value)).collect()
}

/// Runs one task of the reduce side on rows, in batches of `batch` rows.
fn reduce(staging: &Staging, rows: &[Row], batch: usize) -> fpdb::Result<Vec<u32>> {
    let mut reducer = staging.reducer();
    for rows in rows.chunks(batch.max(1)) {
        let mut values = Vec::new();
        let mut offsets = vec![0];
        for (.., value) in rows {
            values.extend_from_slice(value);
            offsets.push(values.len() as i32);
        }
        let column = |of: fn(&Row) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
        let parts: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let (highs, lows) = (column(|row| row.1), column(|row| row.2));
        reducer.push(&StagedColumns {
            parts: &parts,
            highs: &highs,
            lows: &lows,
            offsets: &offsets,
            values: &values,
        })?;
    }
    reducer.finish()
}

/// Makes the parts from sorted rows, in random order, some of them twice.
fn make_parts(staging: &Staging, rows: &[Row], random: &mut Random) {
    let mut parts: Vec<&[Row]> = rows.chunk_by(|one, other| one.0 == other.0).collect();
    for last in (1..parts.len()).rev() {
        parts.swap(last, random.below(last + 1));
    }
    for part in parts {
        let batch = 1 + random.below(2000);
        for _ in 0..1 + random.below(2) {
            assert_eq!(reduce(staging, part, batch).unwrap(), [part[0].0 as u32]);
        }
    }
}

fn build(folder: &Path, plan: &StagingPlan, inputs: &[Input], random: &mut Random) -> StagingSummary {
    let staging = Staging::create(folder, plan).unwrap();
    let mut rows = map(&staging, inputs, &[], random);
    rows.sort_unstable();
    make_parts(&staging, &rows, random);
    staging.finish().unwrap()
}

/// A build of documents (names and bytes) in several parts.
pub(crate) fn build_of(folder: &Path, profile: &Profile, documents: impl IntoIterator<Item = (String, Vec<u8>)>) {
    let inputs: Vec<Input> = documents.into_iter().map(|(name, bytes)| input(name, bytes)).collect();
    build(folder, &plan(profile, &inputs, &mut Random(2)), &inputs, &mut Random(1));
}

/// Makes a database of the documents by an ingest. Returns the number of failures.
fn ingest(path: &Path, profile: &Profile, inputs: &[Input], store_text: bool) -> u64 {
    let database = Database::create(path, profile).unwrap();
    let documents = inputs.iter().map(|input| {
        let document = Document::new(input.name.clone(), input.bytes.clone());
        input.metadata.iter().fold(document, |document, (name, value)| document.with(name.clone(), value.clone()))
    });
    let options = IngestOptions::default().store_text(store_text);
    let summary = database.ingest_with(documents.collect::<Vec<_>>(), &options, &Task::new()).unwrap();
    summary.failures + summary.skips
}

fn plan(profile: &Profile, inputs: &[Input], random: &mut Random) -> StagingPlan {
    let mut bounds: Vec<String> =
        (0..random.below(4.min(inputs.len() + 1))).map(|_| pick(inputs, random).name.clone()).collect();
    bounds.sort();
    bounds.dedup();
    StagingPlan::new(*profile, inputs.len() as u32)
        .posting_parts(1 + random.below(9) as u32)
        .document_parts(1 + random.below(5) as u32)
        .name_bounds(bounds)
}

fn pick<'a>(inputs: &'a [Input], random: &mut Random) -> &'a Input {
    &inputs[random.below(inputs.len())]
}

/// All answers of a database, without times and numbers. Numbers differ, because in a build unreadable
/// documents have numbers too.
fn answers(folder: &Folder, db: &str) -> Vec<Vec<Value>> {
    let ask = |arguments: &[&str]| {
        let mut lines = folder.ok(&[&["--db", db, "--format", "json"], arguments].concat()).json();
        lines.iter_mut().for_each(forget);
        lines
    };
    let documents = ask(&["list"]);
    let names: Vec<&str> = documents.iter().map(|document| document["name"].as_str().unwrap()).collect();
    let queries: Vec<&str> = names.iter().flat_map(|name| ["--document", name]).collect();
    vec![
        ask(&[&["query", "--top", "0"], &queries[..]].concat()),
        ask(&["pairs", "--top", "0"]),
        ask(&["dedup", "--by", "containment", "--threshold", "0.3"]),
        ask(&["dedup", "--by", "resemblance", "--threshold", "0.3"]),
        documents,
    ]
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let times = ["ingested_at", "modified", "seconds"];
            fields.retain(|name, _| !(times.contains(&name.as_str()) || name.ends_with("id")));
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

fn verified(folder: &Folder, db: &str) {
    let found = folder.ok(&["--db", db, "verify", "--format", "json"]).json().remove(0);
    assert_eq!(found["problems"], Value::Array(Vec::new()), "{found}");
}

#[test]
fn a_cluster_gives_the_answers_of_one_machine() {
    let inputs = samples();
    let heavy_of = |profile: &Profile| {
        let mut fingerprints = Fingerprints::new();
        for input in &inputs {
            let mut fingerprinter = Fingerprinter::new(profile);
            fingerprinter.begin(Format::Text);
            fingerprinter.feed(&input.bytes, &mut fingerprints);
            fingerprinter.finish(&mut fingerprints).unwrap();
        }
        let mut hashes: Vec<u64> = fingerprints.iter().map(|fingerprint| fingerprint.hash).collect();
        hashes.sort_unstable();
        let mut counted: Vec<(usize, u64)> = hashes.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
        counted.sort_unstable();
        counted[counted.len() - 3..].iter().map(|&(_, hash)| hash).collect::<Vec<u64>>()
    };
    for (seed, name) in (1..).zip(["prose", "words", "text"]) {
        let folder = Folder::new();
        let random = &mut Random(seed);
        let profile = Profile::named(name).unwrap();
        let store_text = name == "prose";
        let mut plan = plan(&profile, &inputs, random).store_text(store_text);
        if name == "prose" {
            // The postings of the most frequent hashes are divided by document.
            let mut heavy: Vec<(u64, u32)> = heavy_of(&profile).into_iter().zip([2, 3, 9]).collect();
            heavy.sort_unstable();
            plan = plan.heavy(heavy);
        }
        let summary = build(&folder.path().join("staging"), &plan, &inputs, random);
        let failures = ingest(&folder.path().join("one"), &profile, &inputs, store_text);
        assert_eq!((summary.failures, summary.documents), (failures, inputs.len() as u64 - failures));
        let run = folder.run(&["--db", "cluster", "assemble", "staging", "--format", "json"]);
        assert_eq!(run.status, 2, "some could not be read: {run:?}");
        let assembled = run.json().remove(0);
        assert_eq!((&assembled["added"], &assembled["failures"]), (&summary.documents.into(), &failures.into()));
        assert!(!folder.path().join("staging").exists());
        assert_eq!(answers(&folder, "cluster"), answers(&folder, "one"), "{name}");
        verified(&folder, "cluster");
        // The result is a database like any other.
        let more = folder.write("more.txt", inputs[5].bytes.repeat(2));
        for db in ["cluster", "one"] {
            folder.ok(&["--db", db, "ingest", "-q", "more.txt"]);
            folder.ok(&["--db", db, "rm", "-q", &inputs[10].name, "a copy"]);
            folder.ok(&["--db", db, "compact", "-q"]);
        }
        assert!(more.exists());
        assert_eq!(answers(&folder, "cluster"), answers(&folder, "one"), "{name}, afterwards");
        verified(&folder, "cluster");
    }
}

#[test]
fn a_database_with_documents_takes_a_build_in_like_a_merge_and_only_once() {
    let folder = Folder::new();
    let profile = Profile::named("prose").unwrap();
    let inputs: Vec<Input> = samples().into_iter().filter(|input| input.name.contains('/')).collect();
    let (first, rest) = inputs.split_at(12);
    // Some documents are already stored, one with other content.
    let mut second = rest.to_vec();
    second.extend(first[..3].iter().cloned());
    second[rest.len()].bytes.extend(b" and more of it, so that it is another text than it was before");
    for (name, inputs) in [("staging-1", first), ("staging-2", &second[..])] {
        let plan = plan(&profile, inputs, &mut Random(3)).store_text(true);
        build(&folder.path().join(name), &plan, inputs, &mut Random(4));
    }
    for name in ["copy", "third"] {
        copy(&folder.path().join("staging-1"), &folder.path().join(name));
    }
    folder.ok(&["--db", "db", "assemble", "-q", "staging-1"]);
    let again = folder.run(&["--db", "db", "assemble", "copy"]);
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("is in the database already"), "{again:?}");
    // A copy of the build is unchanged, and can be added to another database.
    folder.ok(&["--db", "another", "assemble", "-q", "third"]);
    let added = folder.ok(&["--db", "db", "assemble", "staging-2", "--format", "json"]).json().remove(0);
    assert_eq!((&added["unchanged"], &added["replaced"]), (&2.into(), &1.into()));
    let both = [first, &second[..]].concat();
    assert_eq!(ingest(&folder.path().join("one"), &profile, &both, true), 0);
    assert_eq!(answers(&folder, "db"), answers(&folder, "one"));
    verified(&folder, "db");
    let gone = folder.run(&["--db", "db", "assemble", "staging-2"]);
    assert!(gone.status == 2 && gone.stderr.contains("there is no build"), "{gone:?}");
    // Contents that are kept out are not added, and the answer counts them.
    folder.write("secret.txt", prose(78));
    folder.ok(&["--db", "db", "ingest", "-q", "secret.txt"]);
    folder.ok(&["--db", "db", "rm", "--keep-out", "secret.txt"]);
    let third = [input(&first[0].name, prose(78)), input("c/copy.txt", prose(78)), input("c/new.txt", prose(77))];
    let with_text = plan(&profile, &third, &mut Random(5)).store_text(true);
    build(&folder.path().join("staging-3"), &with_text, &third, &mut Random(6));
    let added = folder.ok(&["--db", "db", "assemble", "staging-3", "--format", "json"]).json().remove(0);
    let count = |name: &str| added[name].as_u64().unwrap_or(0);
    let counts = ["documents", "added", "replaced", "kept_out", "removed"].map(count);
    assert_eq!(counts, [3, 1, 0, 2, 1]);
    // A refused assembly creates no database.
    let none = folder.run(&["--db", "new", "assemble", "staging-2"]);
    assert!(none.status == 2 && !folder.path().join("new").exists(), "{none:?}");
    let other = folder.ok(&["--db", "words", "init", "--profile", "words"]);
    assert_eq!(other.status, 0);
    let other = folder.run(&["--db", "words", "assemble", "copy"]);
    assert!(other.status == 2 && other.stderr.contains("was made with"), "{other:?}");
}

#[test]
fn a_build_goes_on_from_its_finished_parts() {
    let folder = Folder::new();
    let profile = Profile::named("prose").unwrap();
    let inputs: Vec<Input> = samples().into_iter().filter(|input| input.name.contains('/')).collect();
    let random = &mut Random(11);
    let path = folder.path().join("staging");
    let plan = plan(&profile, &inputs, random);
    let staging = Staging::create(&path, &plan).unwrap();
    let mut rows = map(&staging, &inputs, &[], random);
    rows.sort_unstable();
    let parts: Vec<&[Row]> = rows.chunk_by(|one, other| one.0 == other.0).collect();
    for part in parts.iter().step_by(2) {
        reduce(&staging, part, 100).unwrap();
    }
    // A task was killed while it wrote a part. The same plan, made on another day, opens the build again.
    fs::create_dir(path.join("parts/1.killed")).unwrap();
    fs::write(path.join("parts/1.killed/postings-0-0.sst"), "half").unwrap();
    assert!(matches!(staging.finish(), Err(Error::IncoherentBuild { .. })));
    let unfinished = folder.run(&["--db", "db", "assemble", "staging"]);
    assert!(unfinished.status == 2 && unfinished.stderr.contains("is not finished"), "{unfinished:?}");
    let like = StagingPlan::new(profile, inputs.len() as u32)
        .posting_parts(plan.posting_parts)
        .document_parts(plan.document_parts)
        .name_bounds(plan.name_bounds.clone());
    let again = Staging::create(&path, &like).unwrap();
    assert_eq!(again.generation(), staging.generation());
    let others = [
        like.clone().store_text(true),
        like.clone().columns(vec!["text".into(), "title".into()]),
        like.clone().input("another".into()),
    ];
    for other in others {
        assert!(matches!(Staging::create(&path, &other), Err(Error::OtherBuild { .. })));
    }
    let finished = again.finished_parts().unwrap();
    assert_eq!(finished.len(), parts.len().div_ceil(2));
    let mut missing = map(&again, &inputs, &finished, random);
    missing.sort_unstable();
    assert!(!missing.is_empty() && missing.iter().all(|row| !finished.contains(&(row.0 as u32))));
    make_parts(&again, &missing, random);
    again.finish().unwrap();
    folder.ok(&["--db", "db", "assemble", "-q", "staging"]);
    ingest(&folder.path().join("one"), &profile, &inputs, false);
    assert_eq!(answers(&folder, "db"), answers(&folder, "one"));
    verified(&folder, "db");
}

/// If some parts are made from one input and the rest from another, only their counts fit together.
#[test]
fn parts_of_other_names_or_other_texts_do_not_fit_together() {
    let profile = Profile::named("prose").unwrap();
    let inputs: Vec<Input> = samples().into_iter().filter(|input| input.name.contains('/')).collect();
    let renamed = inputs.iter().map(|one| input(format!("{}.", one.name), one.bytes.clone())).collect::<Vec<_>>();
    // White space makes no symbols, so the postings are equal, but the digests differ.
    let spaced = inputs.iter().map(|one| input(&one.name, [&one.bytes[..], b"\n"].concat())).collect::<Vec<_>>();
    let plan = StagingPlan::new(profile, inputs.len() as u32);
    for (others, kind, expected) in [(renamed, 2, "as the sum of names"), (spaced, 3, "as the sum of digests")] {
        let folder = Folder::new();
        let staging = Staging::create(folder.path(), &plan).unwrap();
        let (mut rows, mut of_others) =
            (map(&staging, &inputs, &[], &mut Random(5)), map(&staging, &others, &[], &mut Random(5)));
        rows.retain(|row| row.0 != kind);
        of_others.retain(|row| row.0 == kind);
        rows.extend(of_others);
        rows.sort_unstable();
        make_parts(&staging, &rows, &mut Random(5));
        match staging.finish() {
            Err(Error::IncoherentBuild { what, .. }) => assert_eq!(what, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_copy_of_the_documents_goes_with_the_build() {
    let folder = Folder::new();
    let profile = Profile::named("prose").unwrap();
    let inputs = [input("one", "a text that is long enough to have some fingerprints, which is what matters here")];
    build(&folder.path().join("staging"), &StagingPlan::new(profile, 1), &inputs, &mut Random(3));
    fs::create_dir(folder.path().join("staging/input")).unwrap();
    fs::write(folder.path().join("staging/input/_SUCCESS"), "").unwrap();
    folder.ok(&["--db", "db", "assemble", "-q", "staging"]);
    assert!(!folder.path().join("staging").exists());
}

/// A plan that cannot be carried out leaves nothing, so the folder can be used for another plan.
#[test]
fn a_plan_of_other_hashes_writes_nothing() {
    let folder = Folder::new();
    let path = folder.path().join("staging");
    let plan = StagingPlan::new(Profile::PROSE.with_hash_version(9), 1);
    assert!(matches!(Staging::create(&path, &plan), Err(Error::HashVersion { found: 9, supported: 1, .. })));
    assert!(!path.exists());
    let code = Profile::named("code").unwrap();
    assert_eq!(Staging::create(&path, &StagingPlan::new(code, 1)).unwrap().profile(), &code);
    assert_eq!(Staging::open(&path).unwrap().profile(), &code);
}
