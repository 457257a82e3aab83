//! The saved corpus of the properties of one member: each property holds for each input in its folder. Each
//! member with a `fuzzing` module includes this file as its test.

use std::fs;
use std::path::{Path, PathBuf};

use super::PROPERTIES;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn properties_hold_of_the_corpus() {
    for (name, property) in PROPERTIES {
        let folder = root().join("tests/corpus").join(name);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{name}");
        for path in paths {
            // So that a failure shows the input.
            println!("{}", path.display());
            property(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_property_has_a_target() {
    for (name, _) in PROPERTIES {
        let target = root().join("fuzz/fuzz_targets").join(format!("{name}.rs"));
        assert!(target.is_file(), "{}", target.display());
    }
}
