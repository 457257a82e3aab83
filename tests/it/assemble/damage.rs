//! Parts that are wrong, cut or missing, and engines that do not sort, or lose rows: each is refused by name.

use std::fs;
use std::path::{Path, PathBuf};

use fpdb::staging::{Staging, StagingPlan};
use fpdb::{Database, Error, Profile, Task};

use super::{Input, Random, Row, build, copy, input, make_parts, map, plan, reduce, rows_of, samples};
use crate::support::Folder;

fn few() -> (Profile, Vec<Input>) {
    let inputs = samples().into_iter().filter(|input| input.name.starts_with("planted")).collect();
    (Profile::named("prose").unwrap(), inputs)
}

/// The files of a build, except its manifest and plan.
fn files_of(staging: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(staging.join("parts"))
        .unwrap()
        .flat_map(|part| fs::read_dir(part.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Each file of a build is damaged in each way. The error names the file, and the database stays unchanged.
#[test]
fn harmed_files_are_refused_by_name() {
    let folder = Folder::new();
    let (profile, inputs) = few();
    let whole = folder.path().join("whole");
    // With this seed, no part is made twice, so the database needs each file.
    let plan = plan(&profile, &inputs, &mut Random(2));
    let staging = Staging::create(&whole, &plan).unwrap();
    let mut rows = map(&staging, &inputs, &[], &mut Random(1));
    rows.sort_unstable();
    for part in rows.chunk_by(|one, other| one.0 == other.0) {
        reduce(&staging, part, 1000).unwrap();
    }
    staging.finish().unwrap();
    let database = Database::create(folder.path().join("db"), profile).unwrap();
    let mut seen = 0;
    for file in files_of(&whole) {
        let inside = file.strip_prefix(&whole).unwrap();
        for harm in ["cut", "flip", "remove", "grow"] {
            let harmed = folder.path().join("harmed");
            copy(&whole, &harmed);
            let path = harmed.join(inside);
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            match harm {
                "cut" => bytes.truncate(middle),
                "flip" => bytes[middle] ^= 4,
                "grow" => bytes.extend(b"{}"),
                _ => fs::remove_file(&path).unwrap(),
            }
            if harm != "remove" {
                fs::write(&path, &bytes).unwrap();
            }
            let error = database.assemble(&harmed, &Task::new()).unwrap_err();
            let text = error.chain();
            // If a damaged list of files still decodes, it has wrong counts, or names a missing file.
            let is_list = inside.ends_with("part.json");
            let named = text.contains(inside.parent().unwrap().to_str().unwrap());
            assert!(named || is_list && matches!(error, Error::IncoherentBuild { .. }), "{harm} {inside:?}: {text}");
            assert!(error.hint().is_some());
            assert_eq!(database.stats().unwrap().documents, 0);
            fs::remove_dir_all(&harmed).unwrap();
            seen += 1;
        }
    }
    assert!(seen > 20);
    // Without damage, the build is added.
    assert_eq!(database.assemble(&whole, &Task::new()).unwrap().added, inputs.len() as u64);
}

/// Carefully changed numbers in a list of files are noticed, because the other parts contradict them.
#[test]
fn lists_that_lie_are_refused() {
    let folder = Folder::new();
    let (profile, inputs) = few();
    let database = Database::create(folder.path().join("db"), profile).unwrap();
    for field in ["postings", "documents", "fingerprints", "failed", "rows", "sum"] {
        let staging = folder.path().join(field);
        build(&staging, &plan(&profile, &inputs, &mut Random(2)), &inputs, &mut Random(1));
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs::read(staging.join("manifest.json")).unwrap()).unwrap();
        let mut lied = false;
        for part in manifest["parts"].as_object().unwrap().values() {
            let path = staging.join("parts").join(part.as_str().unwrap()).join("part.json");
            let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let contents = &mut record["contents"];
            // The rows of names and digests count documents. Rows of other kinds count nothing.
            let counts = match field {
                "rows" => contents["postings"] == 0 && contents["documents"] == 0,
                "failed" => contents["documents"] != 0,
                _ => true,
            };
            let value = contents[field].as_u64().unwrap();
            if !lied && counts && (value > 0 || field == "failed") {
                contents[field] = (value ^ 1).into();
                fs::write(&path, record.to_string()).unwrap();
                lied = true;
            }
        }
        assert!(lied, "{field}");
        let error = database.assemble(&staging, &Task::new()).unwrap_err();
        assert!(matches!(error, Error::IncoherentBuild { .. }), "{field}: {}", error.chain());
    }
}

/// Mistakes of an engine: it does not sort rows, loses or repeats them, or moves them to another part.
#[test]
fn rows_that_are_lost_repeated_or_not_sorted_are_found_out() {
    let folder = Folder::new();
    let (profile, inputs) = few();
    let plan = plan(&profile, &inputs, &mut Random(2)).posting_parts(3).document_parts(1);
    let staging = Staging::create(folder.path().join("staging"), &plan).unwrap();
    // The rows of at most `most` documents from `first` on, made by one task.
    let task = |first: usize, most: usize| {
        let mut blocks = Vec::new();
        let mut emit = |some| {
            blocks.extend(rows_of(&some));
            Ok(())
        };
        let mut mapper = staging.mapper(&[]);
        for (number, input) in (0..).zip(&inputs).skip(first).take(most) {
            mapper.push(number, &input.name, Some(&input.bytes), Vec::new(), &mut emit).unwrap();
        }
        mapper.finish(&mut emit).unwrap();
        blocks
    };
    // One task for each document.
    let mut rows: Vec<Row> = (0..inputs.len()).flat_map(|first| task(first, 1)).collect();
    assert!(matches!(reduce(&staging, &rows, 100), Err(Error::Unsorted { .. })), "not sorted");
    rows.sort_unstable();
    // A part of postings, and the part of documents.
    let documents = plan.posting_parts as i32;
    for part in [1, documents] {
        let blocks: Vec<Row> = rows.iter().filter(|row| row.0 == part).cloned().collect();
        assert!(blocks.len() > 2, "part {part}");
        let changed = |change: &dyn Fn(&mut Vec<Row>)| {
            let mut blocks = blocks.clone();
            change(&mut blocks);
            reduce(&staging, &blocks, 2).unwrap_err()
        };
        let unsorted = |error: Error, row| matches!(error, Error::Unsorted { part: of, row: at, .. } if (of as i32, at) == (part, row));
        assert!(unsorted(changed(&|blocks| blocks.swap(1, 2)), 3));
        assert!(unsorted(changed(&|blocks| blocks.insert(1, blocks[0].clone())), 2), "twice");
        let last = blocks.len() as u64;
        assert!(unsorted(changed(&|blocks| blocks.last_mut().unwrap().1 = i64::MAX), last), "of another part");
        let cut = changed(&|blocks| blocks[0].3.truncate(1));
        assert!(matches!(cut, Error::Damaged { .. } | Error::Unsorted { .. }), "{}", cut.chain());
    }
    // Two tasks made rows of the same documents, and the engine should have kept the rows of one. Their
    // blocks differ, but have the same postings.
    let (one, two) = (task(0, usize::MAX), task(1, usize::MAX));
    for part in 0..staging.part_count() as i32 {
        let mut both: Vec<Row> = one.iter().chain(&two).filter(|row| row.0 == part).cloned().collect();
        both.sort_unstable();
        if two.iter().any(|row| row.0 == part) {
            let error = reduce(&staging, &both, 100).unwrap_err();
            assert!(
                matches!(error, Error::Unsorted { .. } | Error::NameTwice { .. } | Error::NumberTwice { .. }),
                "part {part}: {}",
                error.chain()
            );
        }
    }
    let missing_part = Row::clone(&(9999, 0, 0, Vec::new()));
    assert!(matches!(reduce(&staging, &[missing_part], 1), Err(Error::Unsorted { part: 9999, .. })));
    assert_eq!(staging.finished_parts().unwrap(), [0u32; 0], "an attempt that fails leaves no part");
    assert_eq!(fs::read_dir(folder.path().join("staging/parts")).unwrap().count(), 0);

    // Lost blocks of postings, documents or names are noticed when all rows are counted.
    for lost in [0, 3, 5] {
        let folder = folder.path().join(format!("lost-{lost}"));
        let staging = Staging::create(&folder, &plan).unwrap();
        let kinds = [0, 3, 3 + plan.document_parts as i32];
        let at = rows.iter().position(|row| row.0 >= kinds[lost as usize / 2]).unwrap();
        let mut left = rows.clone();
        left.remove(at);
        make_parts(&staging, &left, &mut Random(5));
        assert!(matches!(staging.finish(), Err(Error::IncoherentBuild { .. })), "{lost}");
    }
    // A posting that is changed in the shuffle changes no count.
    let folder = folder.path().join("changed");
    let staging = Staging::create(&folder, &plan).unwrap();
    let mut left = rows.clone();
    left[1].2 ^= 1 << 20;
    left.sort_unstable();
    make_parts(&staging, &left, &mut Random(5));
    assert!(matches!(staging.finish(), Err(Error::IncoherentBuild { what: "as the sum of postings", .. })));
}

/// A task ran twice, the documents changed meanwhile, and the engine kept the rows of both runs.
#[test]
fn two_records_of_one_document_number_are_refused() {
    let folder = Folder::new();
    let plan = StagingPlan::new(Profile::default(), 2);
    let staging = Staging::create(folder.path().join("staging"), &plan).unwrap();
    let second = input("b", "another text");
    let mut rows = Vec::new();
    for changed in ["one text of some length", "the same text, with other words in it"] {
        rows.extend(map(&staging, &[input("a", changed), second.clone()], &[], &mut Random(1)));
    }
    rows.sort_unstable();
    rows.dedup();
    let documents: Vec<Row> = rows.into_iter().filter(|row| row.0 == plan.posting_parts as i32).collect();
    let error = reduce(&staging, &documents, 100).unwrap_err();
    assert!(matches!(error, Error::NumberTwice { number: 0 | 1 }), "{}", error.chain());
    assert!(error.hint().unwrap().contains("number of its own"));
}

#[test]
fn two_documents_of_one_name_are_refused() {
    let folder = Folder::new();
    let inputs = [input("a", "one text of some length, or more"), input("b", "two"), input("a", "another")];
    let plan = plan(&Profile::default(), &inputs, &mut Random(2));
    let staging = Staging::create(folder.path().join("staging"), &plan).unwrap();
    let mut rows = map(&staging, &inputs, &[], &mut Random(1));
    rows.sort_unstable();
    let error = reduce(&staging, &rows, 100).unwrap_err();
    assert_eq!(error.chain(), "two documents are named a");
    let mut mapper = staging.mapper(&[]);
    let beyond = mapper.push(3, "c", Some(b"text"), Vec::new(), &mut |_| Ok(()));
    assert!(matches!(beyond, Err(Error::NotPlanned { number: 3, documents: 3 })));
}
