//! The saved corpus: every property holds of every input in its folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::PROPERTIES;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn names(folder: &str) -> BTreeSet<String> {
    entries(&root().join(folder)).iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn properties_hold_of_the_corpus() {
    for (name, property) in PROPERTIES {
        for path in entries(&root().join("tests/corpus").join(name)) {
            // So that a failure tells which.
            println!("{}", path.display());
            property(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_property_has_a_target_and_a_folder() {
    let properties: BTreeSet<String> = PROPERTIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("tests/corpus"), properties);
    assert_eq!(names("fuzz/fuzz_targets"), properties);
}
