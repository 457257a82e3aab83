//! Compares files with a database and prints each shared passage, as the stored document has it.
//!
//! cargo run --release --example passages -- DATABASE FILE...

use std::path::PathBuf;

use fpdb::{Database, QueryOptions, QuerySource, Task};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let database = Database::open(arguments.next().ok_or("usage: passages DATABASE FILE...")?)?;
    let queries: Vec<QuerySource> = arguments.map(QuerySource::File).collect();

    let answers = database.query_each(&queries, &QueryOptions::default(), &Task::new())?;
    for (query, answer) in queries.iter().zip(answers) {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                eprintln!("{query:?}: {}", error.chain());
                continue;
            }
        };
        for found in &answer.matches {
            println!("{} shares {:.1}% with {}", answer.query.name, 100.0 * found.containment, found.document);
            // The offsets are those of this text, which is stored with the document or read again from its
            // file.
            let text = database.text_of(found.id)?;
            for passage in &found.passages {
                let (first, last) = (passage.document.lines[0], passage.document.lines[1]);
                let how = if passage.exact { "exact" } else { "inferred from fingerprints" };
                println!("  lines {first} to {last}, {} symbols, {how}", passage.symbols);
                if let Some(text) = &text {
                    let bytes = &text.bytes[passage.document.range()];
                    println!("    {}", String::from_utf8_lossy(bytes).replace('\n', " "));
                }
            }
        }
    }
    Ok(())
}
