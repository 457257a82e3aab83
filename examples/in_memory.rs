//! Uses the library without input files: stores documents from memory, compares a text with them, and deletes
//! one.
//!
//! cargo run --release --example in_memory --no-default-features

use fpdb::{Database, Document, IngestOptions, Profile, QueryOptions, QuerySource, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let profile = Profile::named("prose").ok_or("no such profile")?;
    let writer = Database::create(folder.path().join("db"), profile)?;

    let letters = [
        ("letters/1", "Austen", "It is a truth universally acknowledged, that a single man must be in want of a wife."),
        ("letters/2", "Dickens", "It was the best of times, it was the worst of times, it was the age of wisdom."),
    ];
    let documents = letters.map(|(name, author, text)| Document::new(name, text).with("author", author));
    // Stored texts let a query compare documents symbol by symbol.
    let summary = writer.ingest_with(documents, &IngestOptions::default().store_text(true), &Task::new())?;
    println!("{} documents added, {} failed", summary.added, summary.failures);

    let query = "As somebody wrote, it was the best of times, it was the worst of times, and so on.";
    let answers = writer.query_each(&[QuerySource::text(query)], &QueryOptions::default(), &Task::new())?;
    for answer in answers {
        for found in answer?.matches {
            println!("{} {:?}: {:.0}% of the query", found.document, found.metadata, 100.0 * found.containment);
            for passage in found.passages {
                let (there, here) = (passage.document, &query[passage.query.range()]);
                println!("  bytes {} to {}: {here:?}", there.start, there.end);
            }
        }
    }

    let removal = writer.remove(&["letters/2", "letters/9"])?;
    println!("{} deleted, not there: {:?}", removal.removed, removal.unknown_names);
    Ok(())
}
