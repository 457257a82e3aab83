//! Loads a given number of synthetic fingerprints into a new database. Measures the load, look-ups of hashes
//! after it, the compaction, the size on disk, look-ups after the compaction, and the addition of a hundredth
//! more.
//!
//! usage: cargo run --release -p measure --bin scale -- FOLDER [FINGERPRINTS] [MEMORY] [PROFILE]
//!
//! FOLDER must not exist; it is created and removed. FINGERPRINTS is 10,000,000 by default. MEMORY is the
//! `--memory` of the ingest in MiB (512 by default). PROFILE is the name of a profile (`words` by default).
//! The documents are random words, 6.5 kB each, so nearly all hashes are distinct. Postings of distinct
//! hashes cost most. Memory is the maximum that the system reports as resident. Bytes written are those that
//! the system reports as written to the disk. RocksDB counts block reads. Linux only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use fpdb::maintenance::StoredPart;
use fpdb::{Database, IngestOptions, Profile, QueryOptions, QuerySource, Source, Task, Unit};
use measure::{Cost, Meter, Outcome, WORDS, text, vocabulary, write_documents};
use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

/// The last argument of a process that only queries: FOLDER DATABASE DOCUMENTS.
const ASK: &str = "ask";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first().map(PathBuf::from) else {
        return Err("usage: scale FOLDER [FINGERPRINTS] [MEMORY in MiB] [PROFILE]".into());
    };
    if let [_, database, documents, marker] = &arguments[..]
        && marker == ASK
    {
        return look_up(&folder, Path::new(database), &vocabulary(), documents.parse()?);
    }
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (fingerprints, memory) = (number(1, 10_000_000)?, number(2, 512)?);
    let name = arguments.get(3).map_or("words", String::as_str);
    let profile = Profile::named(name).ok_or("no such profile")?;
    fs::create_dir(&folder)?;
    let done = run(&folder, fingerprints, memory << 20, name, &profile);
    fs::remove_dir_all(&folder)?;
    done
}

fn run(folder: &Path, fingerprints: u64, memory: u64, name: &str, profile: &Profile) -> Outcome<()> {
    let vocabulary = vocabulary();
    // Approximate number of symbols in each document.
    let symbols = WORDS as f64 * if profile.unit() == Unit::Word { 1.0 } else { 5.5 };
    let documents = (fingerprints as f64 / (symbols * 2.0 / f64::from(profile.w() + 1))).ceil() as usize;
    let (first, more) = (folder.join("first"), folder.join("more"));
    let bytes = write_documents(&first, &vocabulary, 0..documents)?;
    let more_bytes = write_documents(&more, &vocabulary, documents..documents + documents.div_ceil(100))?;
    println!("profile {name}, --memory {} MiB, {documents} documents, {} MB\n", memory >> 20, bytes / 1_000_000);
    println!(
        "| | seconds | million fingerprints/s | peak MB | bytes written / bytes kept | bytes a fingerprint | runs | blocks a cold hash, as `stats` says |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");

    let path = folder.join("db");
    let builder = Database::builder().memory(memory).raise_open_files(true);
    let database = builder.create(&path, profile)?;
    let options = IngestOptions::default();
    let meter = Meter::start()?;
    let added = database.ingest_sources(&[Source::Path(first)], &options, &Task::new())?.fingerprints;
    let load = meter.stop()?;
    row("load", &load, added, &database)?;
    drop(database);
    println!("\nas loaded:\n");
    ask(folder, &path, documents)?;
    println!("\ncompacted:\n");
    let database = builder.open_writer(&path)?;
    let meter = Meter::start()?;
    database.compact(&Task::new())?;
    let compaction = meter.stop()?;
    row("compact", &compaction, added, &database)?;
    row("both", &load.and(&compaction), added, &database)?;
    println!();
    for StoredPart { part, bytes, .. } in database.stats()?.stored {
        if bytes > added / 1000 {
            println!("{part}: {:.2} bytes a fingerprint", bytes as f64 / added as f64);
        }
    }
    println!();
    drop(database);
    ask(folder, &path, documents)?;
    let database = builder.open_writer(&path)?;
    let meter = Meter::start()?;
    let more = database.ingest_sources(&[Source::Path(more)], &options, &Task::new())?.fingerprints;
    let growth = meter.stop()?;
    println!(
        "\nadding {more} fingerprints ({:.2}%, {more_bytes} bytes of text): {:.2} s, {:.2}% of load and compaction; \
         {:.2}% of the bytes written",
        100.0 * more as f64 / added as f64,
        growth.seconds,
        100.0 * growth.seconds / (load.seconds + compaction.seconds),
        100.0 * growth.written as f64 / (load.written + compaction.written) as f64,
    );
    Ok(())
}

/// Queries the database in a separate process, so that the measured memory is that of the queries alone.
fn ask(folder: &Path, path: &Path, documents: usize) -> Outcome<()> {
    let asker =
        Command::new(std::env::current_exe()?).arg(folder).arg(path).args([&documents.to_string(), ASK]).status()?;
    if asker.success() { Ok(()) } else { Err("the queries failed".into()) }
}

/// Queries the database at `path`: first with a new reader, then again with the same reader.
fn look_up(folder: &Path, path: &Path, vocabulary: &[String], documents: usize) -> Outcome<()> {
    println!(
        "| query | hashes | found | cold: blocks read a hash | ms | warm: blocks read a hash | ms (median) | us a hash | peak MB |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let stored = |count: usize| (0..count).map(|i| text(vocabulary, i * documents / count)).collect::<Vec<_>>();
    let new = |count: usize| (0..count).map(|i| text(vocabulary, 1_000_000_000 + i)).collect::<Vec<_>>();
    // A single thread, because RocksDB counts block reads per thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let file = folder.join("query.txt");
    let large = 300.min(documents);
    let mut ten = [stored(2).concat(), new(2).concat()];
    ten.iter_mut().for_each(|text| text.truncate(10_000));
    let [held, absent] = ten;
    let queries = [
        ("10 kB, stored", held.clone(), false),
        ("10 kB, stored, with passages", held, true),
        ("10 kB, new", absent, false),
        ("2 MB, stored", stored(large).concat(), false),
        ("2 MB, new", new(large).concat(), false),
    ];
    for (what, text, passages) in queries {
        fs::write(&file, text)?;
        let source = [QuerySource::File(file.clone())];
        let options = QueryOptions::default().passages(passages);
        let measured = pool.install(|| -> Outcome<_> {
            let meter = Meter::start()?;
            let database = Database::open(path)?;
            let query = || -> fpdb::Result<_> {
                set_perf_stats(PerfStatsLevel::EnableCount);
                let mut context = PerfContext::default();
                context.reset();
                let start = Instant::now();
                let answer = database.query_each(&source, &options, &Task::new())?.remove(0)?;
                Ok((start.elapsed(), context.metric(PerfMetric::BlockReadCount), answer))
            };
            let (cold, cold_reads, answer) = query()?;
            // If the filters are ever used, they are used after half of the rounds.
            let rounds = if answer.looked_up > 100_000 { 10 } else { 200 };
            let mut warm = (0..rounds).map(|_| query()).collect::<fpdb::Result<Vec<_>>>()?.split_off(rounds / 2);
            warm.sort_by_key(|(time, ..)| *time);
            let (warm, warm_reads, _) = warm.swap_remove(warm.len() / 2);
            Ok((cold, cold_reads, warm, warm_reads, answer, meter.stop()?.peak))
        });
        let (cold, cold_reads, warm, warm_reads, answer, peak) = measured?;
        let hashes = answer.looked_up as f64;
        println!(
            "| {what} | {hashes} | {} | {:.4} | {:.2} | {:.4} | {:.2} | {:.2} | {:.0} |",
            answer.found,
            cold_reads as f64 / hashes,
            cold.as_secs_f64() * 1e3,
            warm_reads as f64 / hashes,
            warm.as_secs_f64() * 1e3,
            warm.as_secs_f64() * 1e6 / hashes,
            peak as f64 / 1e6,
        );
    }
    Ok(())
}

fn row(what: &str, cost: &Cost, fingerprints: u64, database: &Database) -> Outcome<()> {
    let stats = database.stats()?;
    let kept: u64 = stats.stored.iter().map(|part| part.bytes).sum();
    println!(
        "| {what} | {:.1} | {:.2} | {:.0} | {:.2} | {:.2} | {} | {:.2} |",
        cost.seconds,
        fingerprints as f64 / cost.seconds / 1e6,
        cost.peak as f64 / 1e6,
        cost.written as f64 / kept as f64,
        kept as f64 / fingerprints as f64,
        stats.runs,
        stats.cold_blocks,
    );
    Ok(())
}
