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
        ("oneiljo_LATE_4713_90213_hw_2_final_3_x.txt", "oneiljo_LATE_4713"),
        ("oneiljo_4713_90214_hw_3.txt", "oneiljo_4713"),
    ];
    let blackboard = [
        ("gradebook_CS1_Lab_2_alee7_attempt_2026-03-01-12-00-00.txt", "alee7"),
        ("gradebook_CS1_Lab_2_alee7_attempt_2026-03-01-12-00-00_a.txt", "alee7"),
        ("gradebook_CS1_Lab_2_alee8_attempt_2026-03-02-09-30-00_my_attempt_b.txt", "alee8"),
        ("gradebook_CS1_Lab_2_attempt_2_alee9_attempt_2026-03-02-09-30-00_c.txt", "alee9"),
    ];
    // A pattern of the text around the table, and what it takes in place of the student.
    let other = |part: &str| guide.split('\'').find(|pattern| pattern.contains(part)).unwrap();
    let (of_work, of_number, of_underscores) = (other("^([^!]*!"), other("_(\\d"), other("_Lab_2_("));
    for (platform, files) in [("Moodle", &moodle[..]), ("Canvas", &canvas), ("Blackboard", &blackboard)] {
        let folder = Folder::new();
        let row = guide.lines().find(|line| line.starts_with(&format!("| {platform} |"))).unwrap();
        let [pattern, taken, name] = [1, 3, 5].map(|at| row.split('`').nth(at).unwrap().trim_matches('\''));
        folder.write("all.zip", zip([(name.split_once('!').unwrap().1, stretch(3)), ("readme.txt", stretch(3))]));
        for (name, _) in files {
            folder.write(&format!("2026_03_01_hw_1_x/{name}"), stretch(1));
        }
        for archive in ["hw1.zip", "hw2.zip"] {
            folder.write(archive, zip(files.iter().map(|(name, _)| (*name, stretch(1)))));
        }
        folder.ok(&["ingest", "-q", "--profile", "words", "hw1.zip", "hw2.zip", "2026_03_01_hw_1_x", "all.zip"]);
        let found = |pattern: &str| -> BTreeSet<String> {
            let pairs = folder.ok(&["pairs", "--format", "json", "--submission-by", pattern]).json();
            pairs.iter().flat_map(|pair| <[String; 2]>::from(names(pair))).collect()
        };
        let students: BTreeSet<String> = files.iter().map(|(_, student)| (*student).to_owned()).collect();
        let example = [taken.to_owned(), "all.zip!readme.txt".to_owned()];
        assert_eq!(found(pattern), students.iter().cloned().chain(example).collect(), "{platform}");
        folder.ok(&["rm", "-q", "--prefix", "2026_03_01_hw_1_x", "--prefix", "all.zip", "--yes"]);
        let archives = |student: &String| ["hw1.zip", "hw2.zip"].map(|archive| format!("{archive}!{student}"));
        let (pattern, expected): (_, BTreeSet<String>) = match platform {
            "Moodle" => (of_work, students.iter().flat_map(archives).collect()),
            "Canvas" => (of_number, ["4711", "4712", "4713"].map(str::to_owned).into()),
            _ => (of_underscores, ["alee7", "alee8", "attempt_2_alee9"].map(str::to_owned).into()),
        };
        assert_eq!(found(pattern), expected, "{platform}");
    }
}
