//! Submissions in the downloads of teaching platforms, by the regular expressions of the guide.

use std::collections::BTreeSet;

use super::{names, stretch};
use crate::support::{Folder, zip};

/// In downloads of platforms, with folders or without, packed or not, the regular expressions of the guide
/// find the students.
#[test]
fn the_patterns_of_the_guide_find_students_in_the_names_of_platforms() {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/teacher.md")).unwrap();
    let moodle = [
        ("Ann Lee_100215_assignsubmission_file_/a.txt", "Ann Lee_100215"),
        ("Ann Lee_100215_assignsubmission_onlinetext_/b.txt", "Ann Lee_100215"),
        ("Ann Lee_100216_assignsubmission_file_/a.txt", "Ann Lee_100216"),
        ("Jo_Ann O'Neil_7_assignsubmission_file_/src/a.txt", "Jo_Ann O'Neil_7"),
        ("Max_9_assignsubmission_file_hw_2_assign.txt", "Max_9"),
    ];
    let canvas = [
        ("leeann_4711_90210_a.txt", "leeann_4711"),
        ("leeann_4711_90211_b-2.txt", "leeann_4711"),
        ("leeann_4712_90212_a.txt", "leeann_4712"),
        ("oneiljo_LATE_7_90213_hw_2_final_3_x.txt", "oneiljo_LATE_7"),
    ];
    let blackboard = [
        ("gradebook_CS1_Lab_2_alee7_attempt_2026-03-01-12-00-00.txt", "alee7"),
        ("gradebook_CS1_Lab_2_alee7_attempt_2026-03-01-12-00-00_a.txt", "alee7"),
        ("gradebook_CS1_Lab_2_alee8_attempt_2026-03-02-09-30-00_my_attempt_b.txt", "alee8"),
    ];
    for (platform, files) in [("Moodle", &moodle[..]), ("Canvas", &canvas), ("Blackboard", &blackboard)] {
        let folder = Folder::new();
        let row = guide.lines().find(|line| line.starts_with(&format!("| {platform} |"))).unwrap();
        let [pattern, taken, name] = [1, 3, 5].map(|at| row.split('`').nth(at).unwrap().trim_matches('\''));
        folder.write("all.zip", zip([(name.split_once('!').unwrap().1, stretch(3)), ("readme.txt", stretch(3))]));
        for (name, _) in files {
            folder.write(&format!("hw_1_x/{name}"), stretch(1));
        }
        for archive in ["hw1.zip", "hw2.zip"] {
            folder.write(archive, zip(files.iter().map(|(name, _)| (*name, stretch(1)))));
        }
        folder.ok(&["ingest", "-q", "--profile", "words", "hw1.zip", "hw2.zip", "hw_1_x", "all.zip"]);
        let found = |pattern: &str| -> BTreeSet<String> {
            let pairs = folder.ok(&["pairs", "--format", "json", "--submission-by", pattern]).json();
            pairs.iter().flat_map(|pair| <[String; 2]>::from(names(pair))).collect()
        };
        let students: BTreeSet<String> = files.iter().map(|(_, student)| (*student).to_owned()).collect();
        let example = [taken.to_owned(), "all.zip!readme.txt".to_owned()];
        assert_eq!(found(pattern), students.iter().cloned().chain(example).collect(), "{platform}");
        if platform == "Moodle" {
            let of_work = guide.split('\'').find(|part| part.starts_with("^([^!]*!")).unwrap();
            folder.ok(&["rm", "-q", "--prefix", "hw_1_x", "--prefix", "all.zip", "--yes"]);
            let archives = |student: &String| ["hw1.zip", "hw2.zip"].map(|archive| format!("{archive}!{student}"));
            assert_eq!(found(of_work), students.iter().flat_map(archives).collect());
        }
    }
}
