//! Schemas: tests that the files in `docs/schemas` describe the lines that the program prints. With
//! `FPDB_WRITE_SCHEMAS` set, the test writes them: `tools/check-schemas.sh --write`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::verbs::restore::Restored;
use crate::verbs::thresholds::ThresholdTotals;

#[test]
fn the_published_schemas_are_those_of_the_answers() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemas"));
    let write = std::env::var_os("FPDB_WRITE_SCHEMAS").is_some();
    let mut names = BTreeSet::new();
    let own = [fpdb::json_schema::of::<Restored>(), fpdb::json_schema::of::<ThresholdTotals>()];
    for (name, schema) in fpdb::json_schema::all().into_iter().chain(own) {
        let file = folder.join(format!("{}.json", name.replace('/', "-")));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if write {
            fs::write(&file, &text).unwrap();
        }
        let published = fs::read_to_string(&file).unwrap_or_default();
        assert!(published == text, "{} is out of date: run tools/check-schemas.sh --write", file.display());
        assert!(names.insert(file), "{name} is there twice");
    }
    let files: BTreeSet<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files, names);
}
