//! `dedup --thresholds`: the numbers of each threshold equal the numbers of a run with this threshold.

use serde_json::{Value, json};

use crate::support::{Folder, word};

/// Families of documents. Each document has more words of its own than the one before, so the survivors
/// differ at each threshold.
fn corpus(folder: &Folder) {
    let words = |first: u64, count: u64| -> String { (first..first + count).map(|place| word(place) + " ").collect() };
    for family in 0..6u64 {
        let base = family * 100_000;
        for version in 0..12u64 {
            let own = base + 1000 * (version + 1);
            let text = words(base, 300 - 12 * version) + &words(own, (family + 1) * 3 * version);
            folder.write(&format!("docs/{family}-{version:02}.txt"), text);
        }
    }
    folder.write("docs/copy.txt", words(0, 300));
    folder.ok(&["ingest", "-q", "--profile", "words", "docs"]);
}

#[test]
fn each_row_has_the_numbers_of_a_run_with_its_threshold() {
    let folder = Folder::new();
    corpus(&folder);
    for flags in [
        &["--by", "containment"][..],
        &["--by", "containment", "--keep", "first", "--max-novel", "40"],
        &["--by", "resemblance", "--protect", "docs/0", "--budget", "30"],
    ] {
        let all = [&["dedup"], flags].concat();
        let rows = folder.ok(&[&all[..], &["--thresholds=0.95,0.5,0.8,1", "--format", "json"]].concat()).json();
        let mut removable = Vec::new();
        for (row, threshold) in rows.iter().zip(["0.95", "0.5", "0.8", "1"]) {
            let run = [&all[..], &["--threshold", threshold, "--format", "json"]].concat();
            let summary = folder.ok(&run).json().pop().unwrap();
            assert_eq!(summary["schema"], "fpdb.dedup.summary/1");
            assert_eq!(row["schema"], "fpdb.dedup.threshold/1");
            assert_eq!(row["threshold"].as_f64(), threshold.parse().ok());
            for field in ["documents", "removable", "bytes", "undecided"] {
                assert_eq!(row[field], summary[field], "{flags:?} {threshold} {field}");
            }
            removable.push(row["removable"].as_u64().unwrap());
        }
        assert_eq!(rows.len(), 4);
        assert!(removable.iter().min() < removable.iter().max(), "the thresholds make a difference: {removable:?}");
    }
}

#[test]
fn thresholds_are_a_table_and_fit_their_rule() {
    let folder = Folder::new();
    corpus(&folder);
    let flags = ["dedup", "--by", "containment", "--thresholds"];
    let page = folder.ok(&flags).stdout;
    insta::assert_snapshot!(page, @r"
    threshold     removable    share         bytes  of 73 documents
          0.7            50    68.5%      63.8 KiB
         0.75            43    58.9%      53.9 KiB
          0.8            37    50.7%      45.0 KiB
         0.85            29    39.7%      34.4 KiB
          0.9            21    28.8%      25.5 KiB
         0.95            11    15.1%      13.0 KiB
    ");
    let rows = folder.ok(&[&flags[..], &["--format", "json"]].concat()).json();
    let csv = folder.ok(&[&flags[..], &["--format", "csv"]].concat()).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads = reader.headers().unwrap().clone();
    for (row, line) in rows.iter().zip(reader.records()) {
        for (head, cell) in heads.iter().zip(&line.unwrap()) {
            assert_eq!(row[head], cell.parse::<Value>().unwrap_or(json!(cell)), "{head}");
        }
    }
    assert_eq!(rows.len(), 6);
    for wrong in [
        &["dedup", "--thresholds"][..],
        &["dedup", "--by", "exact-text", "--thresholds=0.5"],
        &["dedup", "--by", "containment", "--thresholds=2"],
        &["dedup", "--by", "containment", "--thresholds", "--threshold", "0.5"],
        &["dedup", "--by", "containment", "--thresholds", "--append"],
        &["dedup", "--by", "containment", "--thresholds", "--format", "html", "-o", "report"],
    ] {
        let run = folder.run(wrong);
        assert!(run.status == 2 && run.stdout.is_empty(), "{wrong:?}: {run:?}");
    }
}
