//! The 2001 paper's setting on the Federalist papers: words, trigrams and pairs, counted independently of
//! fpdb.

use std::path::Path;

use fpdb::maintenance::DatabaseStats;
use fpdb::{DocumentInfo, QueryAnswer};
use serde_json::Value;

use crate::support::{Folder, shared_data};

/// The content of `expected.json` for a set of papers.
struct Expected(Value);

#[test]
fn all_85_papers_have_the_counted_trigrams_and_pairs() {
    reproduces("A85_body");
}

#[test]
fn the_80_papers_not_by_jay_have_the_counted_trigrams_and_pairs() {
    reproduces("A80_body");
}

fn reproduces(set: &str) {
    let Some(data) = shared_data("federalist") else { return };
    let text = std::fs::read_to_string(data.join("expected.json")).unwrap();
    let expected = Expected(serde_json::from_str::<Value>(&text).unwrap()[set].clone());

    let folder = Folder::new();
    let papers: Vec<String> = expected.papers().map(|number| format!("fed{number:02}.txt")).collect();
    for paper in &papers {
        folder.write(paper, std::fs::read(data.join(paper)).unwrap());
    }
    let names: Vec<&str> = papers.iter().map(String::as_str).collect();
    folder.ok(&[&["ingest", "--profile", "words"], &names[..]].concat());

    check_papers(&folder, &expected);
    check_totals(&folder, &expected);
    check_pairs(&folder, &names, &expected);
}

/// Words and distinct trigrams, paper by paper.
fn check_papers(folder: &Folder, expected: &Expected) {
    let list = folder.ok(&["list", "--format", "json"]).stdout;
    let mut listed = 0;
    for line in list.lines() {
        let paper: DocumentInfo = serde_json::from_str(line).unwrap();
        let counted = &expected.0["per_paper"][number(&paper.name).to_string()];
        assert_eq!(serde_json::json!([paper.symbols, paper.distinct]), *counted, "{}", paper.name);
        assert_eq!(paper.fingerprints, paper.symbols - 2, "{}: every trigram is a fingerprint", paper.name);
        listed += 1;
    }
    assert_eq!(listed, expected.papers().count());
}

fn check_totals(folder: &Folder, expected: &Expected) {
    let stats: DatabaseStats =
        serde_json::from_str(&folder.ok(&["stats", "--hashes", "--format", "json"]).stdout).unwrap();
    let totals = [Some(stats.symbols), stats.distinct, stats.singletons];
    for (total, name) in totals.into_iter().zip(["words", "distinct_trigrams", "singletons"]) {
        assert_eq!(total, expected.0[name].as_u64(), "{name}");
    }
}

/// The 20 pairs of the greatest resemblance, with the number of trigrams they share.
fn check_pairs(folder: &Folder, names: &[&str], expected: &Expected) {
    let query = [&["query", "--top", "0", "--no-passages", "--format", "json"], names].concat();
    let mut pairs: Vec<(u64, u64, u64, f64)> = Vec::new();
    for line in folder.ok(&query).stdout.lines() {
        let report: QueryAnswer = serde_json::from_str(line).unwrap();
        let from = number(&report.query.name);
        for found in &report.matches {
            let to = number(&found.document);
            assert_eq!(found.identical, from == to);
            if from < to {
                pairs.push((from, to, found.shared, found.resemblance));
            } else if from > to {
                let other = pairs.iter().find(|pair| (pair.0, pair.1) == (to, from)).unwrap();
                assert_eq!(other.2, found.shared, "{to} and {from} are symmetric");
                assert!((other.3 - found.resemblance).abs() < 1e-12, "{to} and {from} are symmetric");
            }
        }
    }
    pairs.sort_by(|a, b| b.3.total_cmp(&a.3));
    let counted = expected.0["top_R"].as_array().unwrap();
    assert_eq!(counted.len(), 20);
    for (pair, counted) in pairs.iter().zip(counted) {
        let (a, b, shared, resemblance) = *pair;
        let rounded = (resemblance * 1e6).round() / 1e6;
        let union = (shared as f64 / resemblance).round() as u64;
        let found = serde_json::json!({"a": a, "b": b, "common": shared, "union": union, "R": rounded});
        assert_eq!(found, *counted);
    }
}

impl Expected {
    /// The numbers of the papers.
    fn papers(&self) -> impl Iterator<Item = u64> {
        let mut papers: Vec<u64> =
            self.0["per_paper"].as_object().unwrap().keys().map(|key| key.parse().unwrap()).collect();
        papers.sort_unstable();
        papers.into_iter()
    }
}

/// The number in `fed10.txt`.
fn number(name: &str) -> u64 {
    let stem = Path::new(name).file_stem().unwrap().to_str().unwrap();
    stem.trim_start_matches("fed").parse().unwrap()
}
