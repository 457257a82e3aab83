//! A service: one thread writes the documents that arrive, while several threads answer queries. Each answer
//! reflects the last commit.
//!
//! cargo run --release --example service

use std::sync::mpsc::sync_channel;
use std::thread;

use fpdb::{Database, Document, IngestOptions, Profile, QueryOptions, QuerySource, Task};

/// The number of documents that arrive, and the maximum number of documents in a commit.
const ARRIVALS: usize = 1000;
const IN_A_COMMIT: usize = 100;

/// A sentence that shares no word with the sentence of any other number.
fn sentence(number: usize) -> String {
    (0..12).map(|word| format!("word{} ", number * 12 + word)).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let profile = Profile::named("prose").ok_or("no such profile")?;
    let writer = Database::builder().threads(2).create(folder.path().join("db"), profile)?;
    let reader = writer.reader();
    // The channel is bounded: a sender waits if documents arrive faster than they are ingested.
    let (arrivals, queue) = sync_channel::<Document>(IN_A_COMMIT);

    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..ARRIVALS {
                // Sending fails only if the writer has failed, and the writer reports its error itself.
                let _ = arrivals.send(Document::new(format!("message/{number}"), sentence(number)));
            }
        });
        let writing = scope.spawn(move || -> fpdb::Result<()> {
            let options = IngestOptions::default().store_text(true);
            // The writer waits only for the first document of a commit. Then it commits the documents that
            // have arrived, however few.
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
