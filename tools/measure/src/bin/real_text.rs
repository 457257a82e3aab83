//! Computes the statistics of section 5.1 of the winnowing paper for the text files below some folders.
//!
//! ```text
//! cargo run --release -p measure --bin real_text -- FOLDER...              # k 50, w 100, 0 mod 50
//! cargo run --release -p measure --bin real_text -- -k 25 -w 20 FOLDER...  # the modulus follows: (w + 1) / 2
//! ```
//!
//! Prints densities, the longest run of k-grams without a fingerprint, the frequencies of fingerprints, and
//! the slope of frequency against rank. Every file is a separate document: no k-gram spans two files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fpdb::Selection;
use fpdb::kgram::KgramHasher;
use fpdb::normalize::{FrontEnd, Symbols};
use fpdb::winnow::{Selected, Winnower};

fn main() -> ExitCode {
    let (mut k, mut w, mut paths) = (50, 100, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let target = match argument.as_str() {
            "-k" => &mut k,
            "-w" => &mut w,
            _ => {
                files(Path::new(&argument), &mut paths);
                continue;
            }
        };
        match arguments.next().and_then(|value| value.parse().ok()).filter(|&value: &u32| value > 0) {
            Some(value) => *target = value,
            None => paths.clear(),
        }
    }
    if paths.is_empty() {
        eprintln!("usage: real_text [-k K] [-w W] FOLDER...");
        return ExitCode::from(2);
    }
    paths.sort();
    measure(k, w, &paths);
    ExitCode::SUCCESS
}

fn files(path: &Path, into: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| files(&entry.path(), into)),
        Err(_) => into.push(path.to_owned()),
    }
}

/// The selection of one rule from all documents.
struct Rule {
    winnower: Winnower,
    name: String,
    expected: f64,
    hashes: Vec<u64>,
    longest_gap: u64,
}

fn measure(k: u32, w: u32, paths: &[PathBuf]) {
    let p = u64::from(w).div_ceil(2).max(1);
    let density = 2.0 / f64::from(w + 1);
    let rules = [
        (Selection::Robust, density),
        (Selection::Plain, density),
        (Selection::Mod(p), 1.0 / p as f64),
        (Selection::All, 1.0),
    ];
    let mut rules = rules.map(|(selection, expected)| Rule {
        winnower: Winnower::new(selection, w),
        name: selection.to_string(),
        expected,
        hashes: Vec::new(),
        longest_gap: 0,
    });
    let (mut front_end, mut hasher) = (FrontEnd::chars(), KgramHasher::new(k));
    let (mut documents, mut bytes, mut symbols, mut kgrams) = (0, 0, 0, 0);
    for path in paths {
        let text = match std::fs::read(path) {
            Ok(text) if !text.contains(&0) => text,
            _ => continue,
        };
        let (mut of_text, mut hashes) = (Symbols::new(), Vec::new());
        front_end.feed(&text, &mut of_text);
        front_end.finish(&mut of_text);
        hasher.reset();
        hasher.feed(of_text.values(), 0, &mut hashes);
        documents += 1;
        bytes += text.len();
        symbols += of_text.len();
        kgrams += hashes.len();
        for rule in &mut rules {
            let mut selected: Vec<Selected> = Vec::new();
            rule.winnower.feed(&hashes, &mut selected);
            rule.winnower.finish(&mut selected);
            let mut last = 0;
            for position in selected.iter().map(|selected| selected.position).chain([hashes.len() as u64]) {
                rule.longest_gap = rule.longest_gap.max(position - last);
                last = position;
            }
            rule.hashes.extend(selected.iter().map(|selected| selected.hash));
        }
    }
    println!("k {k}, w {w}: {documents} documents, {bytes} bytes, {symbols} symbols, {kgrams} k-grams\n");
    println!("| selection | fingerprints | density | expected | longest gap | once | twice | three times | slope |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for rule in &mut rules {
        let count = rule.hashes.len();
        rule.hashes.sort_unstable();
        let mut frequencies: Vec<usize> = rule.hashes.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
        frequencies.sort_unstable_by(|a, b| b.cmp(a));
        let seen = |times| {
            let those = frequencies.iter().filter(|&&frequency| frequency == times).count();
            100.0 * those as f64 / frequencies.len() as f64
        };
        println!(
            "| {} | {count} | {:.6} | {:.6} | {} | {:.1}% | {:.1}% | {:.1}% | {:.2} |",
            rule.name,
            count as f64 / kgrams as f64,
            rule.expected,
            rule.longest_gap,
            seen(1),
            seen(2),
            seen(3),
            slope(&frequencies),
        );
    }
}

/// The slope of the line through log frequency by log rank, fitted as in the paper: to both ends of every
/// plateau.
fn slope(frequencies: &[usize]) -> f64 {
    let mut points = Vec::new();
    let mut rank = 1;
    for plateau in frequencies.chunk_by(|a, b| a == b) {
        let frequency = (plateau[0] as f64).ln();
        points.push(((rank as f64).ln(), frequency));
        rank += plateau.len();
        points.push((((rank - 1) as f64).ln(), frequency));
    }
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (covariance, variance) = points.iter().fold((0.0, 0.0), |(covariance, variance), point| {
        (covariance + (point.0 - x) * (point.1 - y), variance + (point.0 - x).powi(2))
    });
    covariance / variance
}
