//! Measures queries of a database with a given number of synthetic fingerprints: one at a time, many as one
//! batch, and by several threads beside an ingest of another process.
//!
//! usage: cargo run --release -p measure --bin queries -- FOLDER [FINGERPRINTS] [MEMORY] [PROFILE]
//!
//! The arguments and the documents are those of `scale`. A separate process measures each row of the first
//! table, on one thread. Bytes read are those that RocksDB's cache does not hold, and the texts of matches.
//! Linux only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fpdb::{Database, IngestOptions, Profile, QueryOptions, QuerySource, Source, Task, Unit};
use measure::{Meter, Outcome, WORDS, cpu, text, vocabulary, write_documents};

/// The queries of a batch, and the length of each.
const QUERIES: usize = 10_000;
const QUERY_BYTES: usize = 1000;

/// Time for which each number of threads queries beside an ingest.
const BESIDE: Duration = Duration::from_secs(10);

const ROWS: [&str; 5] = ["10 kB", "10 kB again", "2 MB", "10,000 of 1 kB, one by one", "10,000 of 1 kB, one batch"];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [verb, database, documents, row, passages] if verb == "ask" => {
            return ask(Path::new(database), documents.parse()?, row.parse()?, passages == "passages");
        }
        [verb, database, more] if verb == "ingest" => {
            let writer = Database::builder().raise_open_files(true).open_writer(database)?;
            writer.ingest_sources(&[Source::Path(more.into())], &IngestOptions::default(), &Task::new())?;
            return Ok(());
        }
        _ => {}
    }
    let Some(folder) = arguments.first().map(PathBuf::from) else {
        return Err("usage: queries FOLDER [FINGERPRINTS] [MEMORY in MiB] [PROFILE]".into());
    };
    let number = |index: usize, default: u64| arguments.get(index).map_or(Ok(default), |text| text.parse());
    let (fingerprints, memory) = (number(1, 10_000_000)?, number(2, 512)?);
    let profile = Profile::named(arguments.get(3).map_or("words", String::as_str)).ok_or("no such profile")?;
    fs::create_dir(&folder)?;
    let done = run(&folder, fingerprints, memory << 20, &profile);
    fs::remove_dir_all(&folder)?;
    done
}

fn run(folder: &Path, fingerprints: u64, memory: u64, profile: &Profile) -> Outcome<()> {
    let vocabulary = vocabulary();
    let symbols = WORDS as f64 * if profile.unit() == Unit::Word { 1.0 } else { 5.5 };
    let documents = (fingerprints as f64 / (symbols * 2.0 / f64::from(profile.w() + 1))).ceil() as usize;
    let (first, path) = (folder.join("first"), folder.join("db"));
    write_documents(&first, &vocabulary, 0..documents)?;
    let database = Database::builder().memory(memory).raise_open_files(true).create(&path, profile)?;
    let meter = Meter::start()?;
    database.ingest_sources(&[Source::Path(first)], &IngestOptions::default(), &Task::new())?;
    let load = meter.stop()?;
    database.compact(&Task::new())?;
    println!("{documents} documents, loaded in {:.1} s, {:.1} CPU s; compacted\n", load.seconds, load.cpu);
    drop(database);

    let program = std::env::current_exe()?;
    println!("| query | passages | hashes | MB read | CPU s | wall s | peak MB |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    for passages in ["no", "passages"] {
        for row in 0..ROWS.len() {
            let arguments = [documents.to_string(), row.to_string(), passages.to_owned()];
            let asked = Command::new(&program).arg("ask").arg(&path).args(arguments).status()?;
            if !asked.success() {
                return Err("the queries failed".into());
            }
        }
    }

    println!("\n| threads beside an ingest | queries/s | median ms | 99 of 100 within ms | CPU ms a query |");
    println!("|--:|--:|--:|--:|--:|");
    for (round, threads) in [1, 8, 64].into_iter().enumerate() {
        let more = folder.join(format!("more-{round}"));
        let start = documents + round * 100_000;
        // More documents than an ingest can add during the measurement.
        write_documents(&more, &vocabulary, start..start + 60_000)?;
        let mut ingest = Command::new(&program).arg("ingest").arg(&path).arg(&more).spawn()?;
        let outcome = beside(&path, &vocabulary, documents, threads);
        ingest.kill()?;
        ingest.wait()?;
        fs::remove_dir_all(&more)?;
        outcome?;
    }
    Ok(())
}

/// Prints one row of the first table.
fn ask(path: &Path, documents: usize, row: usize, passages: bool) -> Outcome<()> {
    let vocabulary = vocabulary();
    let stored = |number: usize, count: usize| text(&vocabulary, number * documents / count);
    // Every second query is new to the database.
    let short = |number: usize| {
        let mut text =
            if number.is_multiple_of(2) { stored(number, QUERIES) } else { text(&vocabulary, 1_000_000_000 + number) };
        text.truncate(QUERY_BYTES);
        QuerySource::text(text)
    };
    let long = |bytes: usize| {
        let mut text: String = (0..bytes / 6000 + 1).map(|number| stored(number, bytes / 6000 + 1)).collect();
        text.truncate(bytes);
        vec![QuerySource::text(text)]
    };
    let queries: Vec<QuerySource> = match row {
        0 | 1 => long(10_000),
        2 => long(2_000_000),
        _ => (0..QUERIES).map(short).collect(),
    };
    let options = QueryOptions::default().passages(passages);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (cost, hashes) = pool.install(|| -> Outcome<_> {
        let database = Database::open(path)?;
        if row == 1 {
            database.query_each(&queries, &options, &Task::new())?;
        }
        let meter = Meter::start()?;
        let mut hashes = 0;
        let together = if row == 4 { queries.len() } else { 1 };
        for some in queries.chunks(together) {
            for answer in database.query_each(some, &options, &Task::new())? {
                hashes += answer?.looked_up;
            }
        }
        Ok((meter.stop()?, hashes))
    })?;
    println!(
        "| {} | {} | {hashes} | {:.1} | {:.3} | {:.3} | {:.0} |",
        ROWS[row],
        if passages { "yes" } else { "no" },
        cost.read as f64 / 1e6,
        cost.cpu,
        cost.seconds,
        cost.peak as f64 / 1e6
    );
    Ok(())
}

/// Queries with 10 kB of stored text, again and again, on `threads` threads of one reader.
fn beside(path: &Path, vocabulary: &[String], documents: usize, threads: usize) -> Outcome<()> {
    let database = Database::builder().raise_open_files(true).threads(1).open(path)?;
    let (ended, options) = (AtomicBool::new(false), QueryOptions::default().passages(false));
    let before = cpu()?;
    let ask = |thread: usize| -> Outcome<Vec<f64>> {
        let mut times = Vec::new();
        while !ended.load(Ordering::Relaxed) {
            let number = thread * 7919 + times.len() * 104_729;
            let mut asked: String = (0..2).map(|at| text(vocabulary, (number + at) % documents)).collect();
            asked.truncate(10_000);
            let start = Instant::now();
            database.query_with(QuerySource::text(asked), &options, &Task::new())?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(times)
    };
    let times = std::thread::scope(|scope| -> Outcome<Vec<Vec<f64>>> {
        let asking: Vec<_> = (0..threads)
            .map(|thread| {
                let ask = &ask;
                scope.spawn(move || ask(thread))
            })
            .collect();
        std::thread::sleep(BESIDE);
        ended.store(true, Ordering::Relaxed);
        asking.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).collect()
    })?;
    let mut times = times.concat();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let cpu = (cpu()? - before) * 1e3 / times.len() as f64;
    let rate = times.len() as f64 / BESIDE.as_secs_f64();
    println!("| {threads} | {rate:.0} | {:.1} | {:.1} | {cpu:.2} |", at(0.5), at(0.99));
    Ok(())
}
