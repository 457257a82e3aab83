//! Embeds the library in a program: limits a database's memory and threads, ingests folders, shows progress,
//! and can be stopped.
//!
//! cargo run --release --example embed -- DATABASE FOLDER...

use std::path::PathBuf;
use std::time::Duration;

use fpdb::{Database, Error, IngestOptions, Outcome, Profile, Progress, Source, StopToken, Task, WalkOptions};

/// Shows what happens to each document.
struct Shown;

impl Progress for Shown {
    fn document(&self, name: &str, outcome: Outcome, format: &str) {
        println!("{outcome:?} {name} ({format})");
    }

    fn failed(&self, name: &str, error: &Error) {
        eprintln!("{name}: {}", error.chain());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let path = arguments.next().ok_or("usage: embed DATABASE FOLDER...")?;
    let sources: Vec<Source> = arguments.map(Source::Path).collect();

    let builder = Database::builder().memory(256 << 20).cache(64 << 20).threads(2);
    let writer = match builder.open_writer(&path) {
        Err(Error::NoDatabase { .. }) => builder.create(&path, Profile::named("prose").ok_or("no such profile")?)?,
        opened => opened?,
    };

    // Any thread that holds the token can stop the run. Here a timer does so.
    let token = StopToken::new();
    let theirs = token.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(60));
        theirs.stop();
    });
    let walk = WalkOptions::default().skip_hidden(true);
    let options = IngestOptions::default().walk(walk);
    let summary = writer.ingest_sources(&sources, &options, &Task::new().progress(&Shown).stop(&token))?;
    if summary.interrupted {
        println!("stopped: what is committed stays, and the same call goes on");
    }
    let stats = writer.stats()?;
    println!("{} documents, {} fingerprints", stats.documents, stats.fingerprints);
    Ok(())
}
