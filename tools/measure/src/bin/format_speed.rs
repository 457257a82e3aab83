//! Measures how fast documents of a format become fingerprints:
//! `cargo run --release -p measure --bin format_speed -- FORMAT FILE...`. FORMAT is a name (`html`, `pdf`).
//!
//! Prints the number of bytes, the bytes per second, and the bytes per second if the same bytes are read as
//! plain text. The ratio of the two speeds is the cost of the format on any machine. Each figure is the best
//! of five rounds. On Linux it is the processor time of the thread, so that other work on the machine matters
//! less.

use std::time::Instant;

use fpdb::{Fingerprinter, Fingerprints, Format, Profile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = Profile::named("text").ok_or("there is a profile of that name")?;
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("usage: format_speed FORMAT FILE...")?;
    let format = Format::named(&name).ok_or("no format has this name: see docs/formats.md")?;
    let documents: Vec<Vec<u8>> = arguments.map(std::fs::read).collect::<Result<_, _>>()?;
    let bytes: usize = documents.iter().map(Vec::len).sum();
    let speed = |format| {
        let best = (0..5).map(|_| round(&profile, format, &documents)).fold(f64::INFINITY, f64::min);
        bytes as f64 / best / 1e6
    };
    let (as_it_is, as_text) = (speed(format), speed(Format::Text));
    println!("{name}: {} documents, {bytes} bytes, {as_it_is:.1} MB/s, as text {as_text:.1} MB/s", documents.len());
    Ok(())
}

/// Seconds for fingerprinting all documents once. Repeats them until the time is long compared with the
/// clock's ticks.
fn round(profile: &Profile, format: Format, documents: &[Vec<u8>]) -> f64 {
    let mut fingerprinter = Fingerprinter::new(profile);
    let mut fingerprints = Fingerprints::new();
    let begin = now();
    for repeats in 1_u32.. {
        for document in documents {
            fingerprinter.begin(format);
            fingerprinter.feed(document, &mut fingerprints);
            if let Err(error) = fingerprinter.finish(&mut fingerprints) {
                eprintln!("{error}");
            }
            fingerprints.clear();
        }
        let taken = now() - begin;
        if taken > 0.2 {
            return taken / f64::from(repeats);
        }
    }
    f64::INFINITY
}

/// Seconds of processor time, or wall time if the system does not report it.
fn now() -> f64 {
    thread_local!(static BEGIN: Instant = Instant::now());
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = told.ok().and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| BEGIN.with(|begin| begin.elapsed()).as_secs_f64(), |it| it / 1e9)
}
