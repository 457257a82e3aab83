//! Members that leave a container, become binary or empty, or come back: after each run the stored documents
//! are those of a model that follows docs/containers.md.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fpdb::{Database, Error, IngestOptions, OnChange, Profile, Source, Task};

use super::hostile::tar_of;
use crate::bad_input::prose;
use crate::oracle::Random;
use crate::support::Folder;

#[derive(Clone, Copy, PartialEq)]
enum Member {
    Absent,
    Binary,
    /// A text with this number of bytes, maybe 0. The number identifies the text in the test.
    Text(usize),
}

/// A version of the archive. The last member of a damaged version is cut short.
#[derive(Clone)]
struct Version {
    members: Vec<(&'static str, Member)>,
    is_damaged: bool,
    time: SystemTime,
}

impl Version {
    fn random(number: usize, random: &mut Random) -> Self {
        let members = ["a", "a:1", "b.bin", "c"].map(|name| {
            let member = match random.below(6) {
                0 | 1 => Member::Absent,
                2 => Member::Binary,
                3 => Member::Text(0),
                // Half of the texts may occur in an earlier version.
                _ => Member::Text(1 + number - random.below(2) * random.below(number + 1)),
            };
            (name, member)
        });
        let time = SystemTime::now() - Duration::from_secs(100_000 - number as u64);
        Self { members: members.to_vec(), is_damaged: random.below(5) == 0, time }
    }

    fn bytes(&self) -> Vec<u8> {
        let (text, binary) = ("x".repeat(1000), [0; 3000]);
        let mut members = Vec::new();
        for &(name, member) in &self.members {
            match member {
                Member::Absent => {}
                Member::Binary => members.push((name, &binary[..])),
                Member::Text(bytes) => members.push((name, &text.as_bytes()[..bytes])),
            }
        }
        if self.is_damaged {
            members.push(("cut", &binary));
        }
        let mut tar = tar_of(&members);
        tar.truncate(tar.len() - if self.is_damaged { 1024 + 2000 } else { 0 });
        tar
    }

    /// Changes the expected documents as an ingest does.
    fn store(&self, stored: &mut BTreeMap<String, u64>, archive: &str, keeps: bool) {
        // The documents of an empty archive stay.
        let keeps = keeps || self.members.iter().all(|(_, member)| matches!(member, Member::Absent));
        for &(name, member) in &self.members {
            let name = format!("{archive}!{name}");
            match member {
                Member::Text(bytes) if keeps => _ = stored.entry(name).or_insert(bytes as u64),
                Member::Text(bytes) => _ = stored.insert(name, bytes as u64),
                Member::Absent if !keeps && !self.is_damaged => _ = stored.remove(&name),
                Member::Absent | Member::Binary => {}
            }
        }
    }
}

#[test]
fn the_stored_members_are_those_of_a_model_after_any_changes() {
    for seed in 0..3 {
        let (folder, random) = (Folder::new(), &mut Random(seed << 32));
        let database =
            Database::builder().threads(1).create(folder.path().join("d"), Profile::named("prose").unwrap()).unwrap();
        let (path, other) = (folder.path().join("x.tar"), folder.write("x.tar!other", "no member"));
        let ingest = |path: &Path, on_change| {
            let options = IngestOptions::default().on_change(on_change);
            database.ingest_sources(&[Source::Path(path.to_owned())], &options, &Task::new()).unwrap();
        };
        ingest(&other, OnChange::Replace);
        let (mut versions, mut stored) = (Vec::<Version>::new(), BTreeMap::new());
        for number in 0..60 {
            // Now and then an earlier version comes back, with its time.
            let version = match random.below(4) {
                0 if number > 0 => versions[random.below(number)].clone(),
                _ => Version::random(number, random),
            };
            let keeps = random.below(5) == 0;
            std::fs::write(&path, version.bytes()).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(version.time).unwrap();
            if random.below(6) == 0
                && let Some(name) = stored.keys().next().cloned()
            {
                stored.remove(&name);
                database.remove(&[name]).unwrap();
            }
            ingest(&path, if keeps { OnChange::Keep } else { OnChange::Replace });
            version.store(&mut stored, path.to_str().unwrap(), keeps);
            let mut found = BTreeMap::new();
            database
                .for_each_document(|document| {
                    found.insert(document.name, document.bytes);
                    Ok::<_, Error>(())
                })
                .unwrap();
            assert_eq!(found.remove(other.to_str().unwrap()), Some(9));
            assert_eq!(found, stored, "seed {seed}, run {number}");
            versions.push(version);
        }
    }
}

/// Only one of several members of one name is stored, so the others are named.
#[test]
fn members_of_one_name_are_told() {
    for on_change in ["replace", "keep", "both"] {
        let folder = Folder::new();
        let texts = [1, 2, 3, 4].map(prose);
        let [one, two, three, four] = texts.each_ref().map(String::as_bytes);
        folder.write("in/all.tar", tar_of(&[("s.txt", one), ("s.txt", two), ("t.txt", three), ("t.txt", three)]));
        folder.age("in/all.tar");
        let ingest = ["ingest", "-q", "--profile", "prose", "--on-change", on_change, "in", "--format", "json"];
        let run = folder.ok(&ingest);
        let told = "warning: 1 member has the name of an earlier member of the same file and other contents: one of each name is stored \
                    (--on-change both stores all): in/all.tar!s.txt\n";
        let skips = u64::from(on_change == "replace");
        for run in [run, folder.ok(&ingest), folder.ok(&ingest)] {
            assert_eq!(run.stderr, if on_change == "both" { "" } else { told }, "{on_change}: {run:?}");
            let answer = run.json().remove(0);
            assert_eq!(answer["skips"], skips, "{on_change}: {answer}");
            if skips > 0 {
                assert_eq!(
                    (&answer["documents"], &answer["skipped"][0]["name"]),
                    (&3.into(), &"in/all.tar!s.txt".into())
                );
            }
        }
        // A member that replaces its own earlier version is no second member of one name.
        folder.write("in/all.tar", tar_of(&[("s.txt", four), ("t.txt", three)]));
        let run = folder.ok(&["ingest", "-q", "in"]);
        assert!(!run.stderr.contains("the name of an earlier member"), "{on_change}: {run:?}");
    }
}
