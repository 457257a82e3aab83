//! Properties for any documents, any small profile and any division into parts.

use std::collections::BTreeSet;

use fpdb::{Database, Profile, QueryOptions, QuerySource, Selection, Task, Unit, WordRule};
use proptest::prelude::*;

use super::{Input, Random, build, ingest, input, plan};

fn profile() -> impl Strategy<Value = Profile> {
    let units = prop_oneof![Just(Unit::Char), Just(Unit::Word), Just(Unit::Byte), Just(Unit::Token)];
    let selections = prop_oneof![
        Just(Selection::Robust),
        Just(Selection::Plain),
        Just(Selection::SafeMod(3)),
        Just(Selection::Mod(3))
    ];
    let text_view = proptest::option::of((1u32..5, 1u32..6));
    (units, 1u32..5, 1u32..6, selections, text_view).prop_map(|(unit, k, w, selection, text_view)| {
        let profile = Profile::new(unit, WordRule::Unicode, k, w, selection).unwrap();
        // Only source code in windows has two views.
        text_view.and_then(|(k, w)| profile.with_text_view(k, w).ok()).unwrap_or(profile)
    })
}

/// Few letters, so that hashes repeat in and between documents.
fn documents() -> impl Strategy<Value = Vec<Input>> {
    let text = prop_oneof![4 => "[ab c\n]{0,60}", 1 => "(abc ){0,600}", 1 => "\\PC{0,40}"];
    proptest::collection::vec(text, 0..9)
        .prop_map(|texts| (0..).zip(texts).map(|(number, text)| input(format!("{}", number * 7 % 10), text)).collect())
}

/// The content of a database that does not depend on the time and the way of its creation.
fn content(database: &Database, inputs: &[Input]) -> Vec<String> {
    let mut lines = Vec::new();
    let options = QueryOptions::default().top(None);
    for input in inputs {
        let source = QuerySource::Bytes { name: input.name.clone(), bytes: input.bytes.clone() };
        for answer in database.query_each(&[source], &options, &Task::new()).unwrap() {
            lines.push(format!("{:?}", answer.map_err(|error| error.chain())));
        }
    }
    database
        .for_each_document::<fpdb::Error>(|mut document| {
            document.ingested_at = 0;
            lines.push(format!("{document:?}"));
            Ok(())
        })
        .unwrap();
    let verified = database.verify(&Task::new()).unwrap();
    assert!(verified.problems.is_empty(), "{verified:?}");
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_build_is_what_an_ingest_makes(profile in profile(), inputs in documents(), seed: u64) {
        let names: BTreeSet<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        prop_assert_eq!(names.len(), inputs.len());
        let folder = tempfile::tempdir().unwrap();
        let (one, cluster, staging) =
            (folder.path().join("one"), folder.path().join("cluster"), folder.path().join("staging"));
        let random = &mut Random(seed);
        // An unreadable document takes a number only in a build, so all documents must be readable.
        prop_assume!(ingest(&one, &profile, &inputs, true) == 0);
        build(&staging, &plan(&profile, &inputs, random).store_text(true), &inputs, random);
        let writer = Database::create(&cluster, profile).unwrap();
        writer.assemble(&staging, &Task::new()).unwrap();
        prop_assert_eq!(content(&writer, &inputs), content(&Database::open(&one).unwrap(), &inputs));
    }
}
