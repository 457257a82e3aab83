//! By files: two large submissions are a pair if two of their files are.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BTreeMap, Trigrams, corpus, names, stretch, submission, trigrams};
use crate::support::Folder;

/// Tests a pair by its resemblance and by the larger of its two containments.
type Threshold = fn(f64, f64) -> bool;

fn reaches(a: &Trigrams, b: &Trigrams, threshold: Threshold) -> bool {
    let shared = a.intersection(b).count() as f64;
    shared > 0.0 && threshold(shared / a.union(b).count() as f64, shared / a.len().min(b.len()) as f64)
}

fn pairs_above(folder: &Folder, thresholds: &[&str]) -> Vec<Value> {
    folder.ok(&[&["pairs", "--format", "json"], thresholds].concat()).json()
}

#[test]
fn submissions_are_a_pair_if_they_or_two_of_their_files_reach_the_thresholds() {
    let folder = Folder::new();
    corpus(&folder);
    // Two large submissions share one file.
    for (student, others) in [("in/big1", 100..130), ("in/big2", 200..230)] {
        folder.write(&format!("{student}/rest.txt"), others.map(stretch).collect::<String>());
        folder.write(&format!("{student}/copied.txt"), stretch(7777));
    }
    folder.ok(&["ingest", "-q", "in"]);
    let (together, alone) = (trigrams(&folder, submission), trigrams(&folder, ToOwned::to_owned));
    let thresholds: [(&[&str], Threshold); 4] = [
        (&["--min-resemblance", "0.25"], |resemblance, _| resemblance >= 0.25),
        (&["--min-resemblance", "0.6"], |resemblance, _| resemblance >= 0.6),
        (&["--min-containment", "0.3"], |_, containment| containment >= 0.3),
        (&["--min-resemblance", "0.2", "--min-containment", "0.9"], |resemblance, containment| {
            resemblance >= 0.2 && containment >= 0.9
        }),
    ];
    for (flags, threshold) in thresholds {
        // For each expected pair of submissions: true if two of their files reach the thresholds, but the
        // submissions do not.
        let mut expected = BTreeMap::new();
        for (a, of_a) in &alone {
            for (b, of_b) in &alone {
                let (a, b) = (submission(a), submission(b));
                if a < b && reaches(of_a, of_b, threshold) {
                    expected.insert((a, b), true);
                }
            }
        }
        for (a, of_a) in &together {
            for (b, of_b) in together.range(a.clone()..).skip(1) {
                if reaches(of_a, of_b, threshold) {
                    expected.insert((a.clone(), b.clone()), false);
                }
            }
        }
        assert!(expected.contains_key(&("in/big1".into(), "in/big2".into())), "{flags:?}");
        for memory in ["1GiB", "1000"] {
            let found = pairs_above(&folder, &[&["--submission-by", "in", "--memory", memory], flags].concat());
            let by_files: BTreeMap<_, _> = found.iter().map(|line| (names(line), line["by_files"] == true)).collect();
            assert_eq!(by_files, expected, "{flags:?}, {memory}");
            assert!(found.is_sorted_by(|x, y| x["score"].as_f64() >= y["score"].as_f64()), "{flags:?}");
            for pair in found.iter().filter(|pair| pair["by_files"] == true) {
                let (a, b) = names(&pair["files"][0]);
                assert!(reaches(&alone[&a], &alone[&b], threshold), "{flags:?}: {a}, {b} stand first");
            }
        }
        // Two old submissions are no pair, even if their files share text.
        let old = ["--submission-by", "in", "--old", "in/big1", "in/s0", "in/s1"];
        let found: BTreeSet<_> = pairs_above(&folder, &[&old, flags].concat()).iter().map(names).collect();
        let is_old = |name: &String| old.contains(&name.as_str());
        let wanted = expected.keys().filter(|(a, b)| !(is_old(a) && is_old(b))).cloned();
        assert_eq!(found, wanted.collect(), "{flags:?}");
    }
}

/// The default thresholds for programs: a copied file is found, but the few lines that all programs share are
/// not.
#[test]
fn a_copied_function_is_found_in_large_programs_and_their_frame_is_not() {
    let folder = Folder::new();
    // Each number is a separate symbol, so programs of random numbers share little structure.
    let statements = |seed: u64, lines: usize| -> String {
        let mut random = crate::oracle::Random(seed * 7919);
        (0..lines).map(|_| format!("    v1 = {} * v1 + {};\n", random.below(1 << 30), random.below(1 << 30))).collect()
    };
    let function = format!("int copied(int v1) {{\n{}}}\n", statements(99, 25));
    for (student, seed) in [("ann", 1), ("bob", 2), ("cy", 3)] {
        folder.write(&format!("in/{student}/main.c"), "int main(void) {\n    return run(0);\n}\n");
        for file in 0..3 {
            let text = format!("int f{file}(int v1) {{\n{}}}\n", statements(seed * 100 + file, 300));
            folder.write(&format!("in/{student}/f{file}.c"), text);
        }
    }
    folder.write("in/ann/help.c", &function);
    folder.write("in/bob/tools.c", &function);
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let run = folder.ok(&["pairs", "--submission-by", "in"]);
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1][7..], ["in/ann", "in/bob"], "{run:?}");
    assert_eq!(rows[2][..5], ["100.0%"; 5], "{run:?}");
    assert_eq!(rows[2][7..], ["in/ann/help.c", "in/bob/tools.c"], "{run:?}");
    assert!(run.stdout.ends_with("\n1 pair\n"), "{run:?}");
    assert!(run.stderr.starts_with(
        "1 pair is below the threshold as a whole; the two files listed first under it reach the threshold\n"
    ));
    let table = folder.ok(&["pairs", "--submission-by", "in", "--format", "csv"]).stdout;
    assert!(table.lines().next().unwrap().contains(",a_submission,b_submission,a_file,b_file,by_files,"), "{table}");
    assert!(table.contains(",in/ann,in/bob,in/ann/help.c,in/bob/tools.c,true,"), "{table}");
}

/// Each line shows the shared fingerprints of both views: two scripts of calls have little structure.
#[test]
fn a_file_found_by_its_text_shows_what_it_shares() {
    let folder = Folder::new();
    let script = |lines: std::ops::Range<u64>| -> String {
        lines
            .map(|line| format!("system(\"run {} with {}\");\n", stretch(line).trim(), stretch(line + 50).trim()))
            .collect()
    };
    folder.write("in/ann/a.c", script(0..1));
    folder.write("in/bob/b.c", script(0..1));
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let run = folder.ok(&["pairs", "--submission-by", "in"]);
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "score text resemblance a in b b in a shared as text");
    for row in &rows[1..3] {
        let shared = (row[5], row[6].parse::<u64>().unwrap());
        assert!(row[1] == "100.0%" && shared.0 == "0" && shared.1 > 0, "{run:?}");
    }
}
