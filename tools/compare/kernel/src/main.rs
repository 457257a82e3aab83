//! Compares the speed of fpdb's kernel with that of simd-minimizers: the same text, one thread, one run.
//!
//! All measurements are repeated in turns, so that other load of the machine disturbs all of them equally.
//! The first section prints medians, the other sections print the best time.
//!
//! `compare-kernel SECTION...` prints only some sections: beside, scripts, texts, hashes, words, threads.

mod inputs;

use std::env;
use std::hint::black_box;
use std::thread;
use std::time::Instant;

use kernel::profile::{Profile, Selection, Unit, WordRule};
use kernel::{Engine, Fingerprinter, Fingerprints, Level, Normaliser};

const ROUNDS: usize = 200;

fn main() {
    let sections: Vec<String> = env::args().skip(1).collect();
    let wanted = |name: &str| sections.is_empty() || sections.iter().any(|section| section == name);
    let best = Level::all()[Level::all().len() - 1];
    if wanted("beside") {
        // A size that fits into the caches of one core, and one that does not.
        for size in [64 << 10, 400 << 10] {
            beside(size);
        }
    }
    if wanted("scripts") {
        scripts(best);
    }
    if wanted("texts") {
        texts(best);
    }
    if wanted("hashes") {
        hashes(best);
    }
    if wanted("words") {
        let text = inputs::english(400 << 10);
        let words = Profile::new(Unit::Word, WordRule::Letters, 3, 1, Selection::Robust).unwrap();
        println!("words, k 3, w 1: {:.0} MB/s", text.len() as f64 / fingerprint(&words, best, &text) / 1e6);
    }
    if wanted("threads") {
        threads(&profile(50, 100, Selection::Robust), best);
    }
}

/// Measures each stage, and all stages together, with every instruction set. Each round measures all of them
/// one after the other, so that load of the machine disturbs all equally. The results are medians over the
/// rounds: of the times, and of the ratios within a round.
fn beside(size: usize) {
    let text = inputs::english(size);
    let symbols: Vec<u8> =
        text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    let codes = kernel::codes(&symbols);
    println!("{} KiB of English, {} symbols; MB/s, and share of simd-minimizers", size >> 10, codes.len());
    for (k, w) in [(25, 20), (7, 2), (50, 100)] {
        let levels = Level::all();
        let mut engines: Vec<Engine> = levels.iter().map(|&level| Engine::new(k, w, level)).collect();
        let profile = profile(k, w, Selection::Robust);
        let mut fingerprinters: Vec<Fingerprinter> =
            levels.iter().map(|&level| Fingerprinter::new(&profile, level)).collect();
        let mut normalisers: Vec<Normaliser> = levels.iter().map(|&level| Normaliser::new(level)).collect();
        let (mut positions, mut selected, mut fingerprints) = (Vec::new(), Vec::new(), Fingerprints::new());
        let mut rival = [const { Vec::new() }; 2];
        let mut ours = vec![[const { Vec::new() }; 4]; levels.len()];
        for _ in 0..ROUNDS {
            for (times, input) in rival.iter_mut().zip([&symbols, &text]) {
                positions.clear();
                times.push(seconds(|| rival::minimizer_positions(input, k as usize, w as usize, &mut positions)));
            }
            for (i, [normalise, hash, winnow, whole]) in ours.iter_mut().enumerate() {
                normalise.push(seconds(|| {
                    black_box(normalisers[i].run(&text));
                }));
                hash.push(seconds(|| engines[i].hash(&codes)));
                winnow.push(seconds(|| engines[i].winnow(&codes, &mut selected)));
                whole.push(seconds(|| fingerprinters[i].run(&text, &mut fingerprints)));
            }
        }
        let symbols = |times: &[f64]| codes.len() as f64 / median(times) / 1e6;
        let bytes = |times: &[f64]| text.len() as f64 / median(times) / 1e6;
        println!("  k {k} w {w}");
        println!("    simd-minimizers, symbols {:6.0}   text {:6.0}", symbols(&rival[0]), bytes(&rival[1]));
        for (level, [normalise, hash, winnow, whole]) in levels.iter().zip(&ours) {
            println!(
                "    {:8} normalise {:5.0}   hash {:5.0}   hash + winnow {:5.0} {:.2} x   the whole way {:5.0} {:.2} x",
                level.name(),
                bytes(normalise),
                symbols(hash),
                symbols(winnow),
                median_ratio(&rival[0], winnow),
                bytes(whole),
                median_ratio(&rival[1], whole)
            );
        }
    }
}

/// Text that is not English.
fn scripts(level: Level) {
    let size = 400 << 10;
    println!("400 KiB, k 50, w 100; MB/s to normalise, and the whole way");
    let profile = profile(50, 100, Selection::Robust);
    for (name, text) in inputs::scripts(size) {
        let mut normaliser = Normaliser::new(level);
        let normalise = best(|| {
            black_box(normaliser.run(&text));
        });
        let whole = fingerprint(&profile, level, &text);
        println!("  {name:24} {:6.0} {:6.0}", text.len() as f64 / normalise / 1e6, text.len() as f64 / whole / 1e6);
    }
}

fn texts(level: Level) {
    println!("the whole way, 400 KiB, k 50, w 100; ns a byte of text, ns a symbol");
    for (name, text) in inputs::texts(400 << 10) {
        let symbols = Normaliser::new(level).run(&text) as f64;
        let [robust, plain] = [Selection::Robust, Selection::Plain]
            .map(|selection| 1e9 * fingerprint(&profile(50, 100, selection), level, &text));
        let bytes = text.len() as f64;
        println!(
            "  {name:24} robust {:5.2} {:5.2}   plain {:5.2} {:5.2}",
            robust / bytes,
            robust / symbols,
            plain / bytes,
            plain / symbols
        );
    }
}

fn hashes(level: Level) {
    println!("Winnower on 60,000 hashes made up; ns a hash, robust and plain");
    for (name, hashes) in inputs::hashes(60_000) {
        print!("  {name:24}");
        for w in [100, 20, 2, 1] {
            print!("  w {w}");
            for selection in [Selection::Robust, Selection::Plain] {
                print!(" {:5.2}", winnow(selection, w, level, &hashes) / hashes.len() as f64 * 1e9);
            }
        }
        println!();
    }
}

fn threads(profile: &Profile, level: Level) {
    let text = inputs::english(400 << 10);
    let work = || {
        let mut fingerprinter = Fingerprinter::new(profile, level);
        let mut out = Fingerprints::new();
        for _ in 0..200 {
            fingerprinter.run(&text, &mut out);
        }
    };
    let (mut one, mut two) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        time(&mut one, work);
        time(&mut two, || {
            thread::scope(|scope| {
                scope.spawn(work);
                work();
            });
        });
    }
    println!("two threads: {:.2} x one", 2.0 * one / two);
}

fn profile(k: u32, w: u32, selection: Selection) -> Profile {
    Profile::new(Unit::Char, WordRule::Letters, k, w, selection).unwrap()
}

fn fingerprint(profile: &Profile, level: Level, text: &[u8]) -> f64 {
    let mut fingerprinter = Fingerprinter::new(profile, level);
    let mut out = Fingerprints::new();
    best(|| {
        fingerprinter.run(text, &mut out);
        black_box(&out);
    })
}

fn winnow(selection: Selection, w: u32, level: Level, hashes: &[u64]) -> f64 {
    let mut winnower = kernel::winnower(selection, w, level);
    let mut out = Vec::new();
    best(|| {
        out.clear();
        for piece in hashes.chunks(2 << 10) {
            winnower.feed(piece, &mut out);
        }
        winnower.finish(&mut out);
        black_box(&out);
    })
}

fn best(mut work: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        time(&mut least, &mut work);
    }
    least
}

fn time(least: &mut f64, work: impl FnOnce()) {
    *least = least.min(seconds(work));
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median of the ratios of two times of the same round.
fn median_ratio(ones: &[f64], others: &[f64]) -> f64 {
    median(&ones.iter().zip(others).map(|(one, other)| one / other).collect::<Vec<_>>())
}
