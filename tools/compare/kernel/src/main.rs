//! Prints how fast fpdb's kernel is beside simd-minimizers: the same text, one thread, one run.
//!
//! Everything is repeated in turns and the best time of each counts, so that a busy machine disturbs all alike.

mod inputs;

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use kernel::fingerprint::{Fingerprint, Fingerprinter};
use kernel::normalize::{FrontEnd, Symbols};
use kernel::profile::{Profile, Selection, Unit, WordRule};
use kernel::winnow::Winnower;

const ROUNDS: usize = 60;

fn main() {
    // What fits into the caches of one core, and what does not.
    for size in [64 << 10, 400 << 10] {
        let text = inputs::english(size);
        let (values, bytes) = symbols(&text);
        println!("{} KiB of English, {} symbols; MB/s, and share of simd-minimizers", size >> 10, values.len());
        for (k, w) in [(50, 100), (23, 17), (25, 20)] {
            beside(k, w, &text, &values, &bytes);
        }
    }
    println!("Fingerprinter on 400 KiB, k 50, w 100; ns a byte of text, ns a symbol");
    let profile = profile(Unit::Char, 50, 100, Selection::Robust);
    let plain = profile_with(Selection::Plain);
    for (name, text) in inputs::texts(400 << 10) {
        let symbols = symbols(&text).0.len() as f64;
        let robust = best(|| fingerprint(&profile, &text));
        let plain = best(|| fingerprint(&plain, &text));
        let (bytes, nanoseconds) = (text.len() as f64, 1e9);
        println!(
            "  {name:24} robust {:5.2} {:5.2}   plain {:5.2} {:5.2}",
            robust / bytes * nanoseconds,
            robust / symbols * nanoseconds,
            plain / bytes * nanoseconds,
            plain / symbols * nanoseconds
        );
    }
    println!("Winnower on 60,000 hashes made up; ns a hash");
    for (name, hashes) in inputs::hashes(60_000) {
        print!("  {name:24}");
        for w in [100, 20, 17, 1] {
            for selection in [Selection::Robust, Selection::Plain] {
                let time = best(|| winnow(selection, w, &hashes));
                print!("  w {w} {selection} {:5.2}", time / hashes.len() as f64 * 1e9);
            }
        }
        println!();
    }
    let text = inputs::english(400 << 10);
    let words = Profile::new(Unit::Word, WordRule::Letters, 3, 1, Selection::Robust).unwrap();
    println!("words, k 3, w 1: {:.0} MB/s", text.len() as f64 / best(|| fingerprint(&words, &text)) / 1e6);
    threads(&profile, &text);
}

fn beside(k: u32, w: u32, text: &[u8], values: &[u64], bytes: &[u8]) {
    let profile = profile(Unit::Char, k, w, Selection::Robust);
    let mut fingerprinter = Fingerprinter::new(&profile);
    let (mut positions, mut selected, mut fingerprints) = (Vec::new(), Vec::new(), Vec::<Fingerprint>::new());
    let mut best = [f64::MAX; 5];
    for _ in 0..ROUNDS {
        let [rival_symbols, rival_text, hash, winnow, whole] = &mut best;
        positions.clear();
        time(rival_symbols, || rival::minimizer_positions(bytes, k as usize, w as usize, &mut positions));
        positions.clear();
        time(rival_text, || rival::minimizer_positions(text, k as usize, w as usize, &mut positions));
        time(hash, || {
            black_box(kernel::hash_values(values, k));
        });
        selected.clear();
        time(winnow, || kernel::winnow_values(values, k, w, &mut selected));
        fingerprints.clear();
        time(whole, || {
            fingerprinter.feed(text, &mut fingerprints);
            fingerprinter.finish(&mut fingerprints).expect("a text");
        });
    }
    let symbols = |time: f64| values.len() as f64 / time / 1e6;
    let text = |time: f64| text.len() as f64 / time / 1e6;
    let [rival_symbols, rival_text, hash, winnow, whole] = best;
    println!("  k {k} w {w}");
    println!("    simd-minimizers, symbols {:6.0}   text {:6.0}", symbols(rival_symbols), text(rival_text));
    println!("    hash                     {:6.0}", symbols(hash));
    println!("    hash + winnow            {:6.0}   {:.2} x", symbols(winnow), rival_symbols / winnow);
    println!("    normalise + hash + winnow, origins {:6.0}   {:.2} x", text(whole), rival_text / whole);
}

fn threads(profile: &Profile, text: &[u8]) {
    let repeats = 200;
    let work = || {
        for _ in 0..repeats {
            fingerprint(profile, text);
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

fn profile(unit: Unit, k: u32, w: u32, selection: Selection) -> Profile {
    Profile::new(unit, WordRule::Letters, k, w, selection).unwrap()
}

fn profile_with(selection: Selection) -> Profile {
    profile(Unit::Char, 50, 100, selection)
}

/// The symbols of English text: their values, and as characters.
fn symbols(text: &[u8]) -> (Vec<u64>, Vec<u8>) {
    let (mut front_end, mut symbols) = (FrontEnd::chars(), Symbols::new());
    front_end.feed(text, &mut symbols);
    front_end.finish(&mut symbols);
    let bytes = text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    (symbols.values().to_vec(), bytes)
}

fn fingerprint(profile: &Profile, text: &[u8]) {
    // Made anew, as its memory, too, belongs to the work.
    let mut fingerprinter = Fingerprinter::new(profile);
    let mut out = Vec::new();
    for _ in 0..8 {
        out.clear();
        fingerprinter.feed(text, &mut out);
        fingerprinter.finish(&mut out).expect("a text");
    }
    black_box(&out);
}

fn winnow(selection: Selection, w: u32, hashes: &[u64]) {
    let mut winnower = Winnower::new(selection, w);
    let mut out = Vec::new();
    for _ in 0..8 {
        out.clear();
        for piece in hashes.chunks(4 << 10) {
            winnower.feed(piece, &mut out);
        }
        winnower.finish(&mut out);
    }
    black_box(&out);
}

/// Of work that is done eight times.
fn best(mut work: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..ROUNDS / 4 {
        time(&mut least, &mut work);
    }
    least / 8.0
}

fn time(least: &mut f64, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    *least = least.min(start.elapsed().as_secs_f64());
}
