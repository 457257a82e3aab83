//! A service: one thread writes the documents that arrive, while many threads answer queries. Each answer is
//! that of the last commit.
//!
//! cargo run --release --example service

use std::sync::mpsc::sync_channel;
use std::thread;

use fpdb::{Database, Document, IngestOptions, Profile, QueryOptions, QuerySource, Task};

/// The number of documents that arrive, and how many of them make a commit at most.
const ARRIVALS: usize = 1000;
const IN_A_COMMIT: usize = 100;

/// A sentence of so many words that no other number has.
fn sentence(number: usize) -> String {
    (0..12).map(|word| format!("word{} ", number * 12 + word)).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let profile = Profile::named("prose").ok_or("no such profile")?;
    let writer = Database::builder().threads(2).create(folder.path().join("db"), profile)?;
    let reader = writer.reader();
    // It is bounded: what arrives faster than it is ingested waits.
    let (arrivals, queue) = sync_channel::<Document>(IN_A_COMMIT);

    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..ARRIVALS {
                // The writer may have failed, and says so itself.
                let _ = arrivals.send(Document::new(format!("message/{number}"), sentence(number)));
            }
        });
        let writing = scope.spawn(move || -> fpdb::Result<()> {
            let options = IngestOptions::default().store_text(true);
            // It waits for the first one only: what is there is committed at once, however few documents arrive.
            while let Ok(first) = queue.recv() {
                let mut some = vec![first];
                some.extend(queue.try_iter().take(IN_A_COMMIT - 1));
                writer.ingest_with(some, &options, &Task::new())?;
            }
            Ok(())
        });
        let readers: Vec<_> = (0..4)
            .map(|first| {
                let reader: Database = reader.clone();
                scope.spawn(move || -> fpdb::Result<usize> {
                    let mut found = 0;
                    for number in (first..ARRIVALS).step_by(97) {
                        let query = QuerySource::text(sentence(number));
                        let answers =
                            reader.query_each(&[query], &QueryOptions::default().top(Some(1)), &Task::new())?;
                        for answer in answers {
                            found += answer?.matches.len();
                        }
                    }
                    Ok(found)
                })
            })
            .collect();
        for reader in readers {
            println!("a reader found {} of the documents it asked for so far", reader.join().map_err(|_| "a panic")??);
        }
        writing.join().map_err(|_| "a panic")??;
        println!("{} documents are stored", reader.stats()?.documents);
        Ok(())
    })
}
