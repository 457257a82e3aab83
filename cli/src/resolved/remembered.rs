//! Reading flags of an ingest: those that were typed, else those of the last ingest of the same paths.

use std::path::PathBuf;

use clap::FromArgMatches;
use fpdb::DatabaseWriter;

use crate::printer::Printer;
use crate::render::as_words;
use crate::typed::{self, Cli, IngestArgs, Verb};

/// Returns the arguments with the flags to be used. A note says if they come from an earlier run, and
/// which flags of an earlier run the typed ones replace.
///
/// # Errors
/// Fails if no flags are given and the sources were ingested with different ones.
pub(crate) fn flags(database: &DatabaseWriter, args: &IngestArgs, printer: &Printer) -> anyhow::Result<IngestArgs> {
    if let Some(given) = &args.given {
        for path in there(args) {
            let dropped: Vec<String> =
                database.remembered(path)?.into_iter().filter(|flag| !given.contains(flag)).collect();
            if !dropped.is_empty() {
                printer.note(&format!("{}: no longer used: {}", path.display(), as_words(&dropped)));
            }
        }
        return Ok(args.clone());
    }
    let mut first: Option<(&PathBuf, Vec<String>)> = None;
    for path in there(args) {
        let flags = database.remembered(path)?;
        match &first {
            None => first = Some((path, flags)),
            Some((_, others)) if *others == flags => {}
            Some((other, others)) => {
                let told = |flags: &[String]| match flags {
                    [] => "without such flags".to_owned(),
                    flags => format!("with {}", as_words(flags)),
                };
                anyhow::bail!(
                    "{} was ingested {}, {} {}: name them one after the other, or give the flags for both",
                    other.display(),
                    told(others),
                    path.display(),
                    told(&flags)
                );
            }
        }
    }
    match first {
        Some((path, flags)) if !flags.is_empty() => {
            let args = with_flags(args, &flags).map_err(|_| {
                anyhow::anyhow!(
                    "{} was ingested with flags that this version does not know: {}",
                    path.display(),
                    as_words(&flags)
                )
            })?;
            printer.note(&format!(
                "using the flags of the last ingest: {} (flags you give replace all of them)",
                as_words(&flags)
            ));
            Ok(args)
        }
        _ => Ok(args.clone()),
    }
}

/// Remembers the flags that were given.
///
/// # Errors
/// Fails if the database cannot be written.
pub(crate) fn remember(database: &DatabaseWriter, args: &IngestArgs) -> anyhow::Result<()> {
    if let Some(given) = &args.given {
        database.remember(&there(args).collect::<Vec<_>>(), given)?;
    }
    Ok(())
}

/// The typed paths that exist. Paths in a list of files are not remembered: a list can be long and different
/// each time.
fn there(args: &IngestArgs) -> impl Iterator<Item = &PathBuf> {
    // Standard input is no path. A missing path is an error of its own.
    let is_there = |path: &&PathBuf| path.to_str().is_some_and(|path| path != "-") && path.symlink_metadata().is_ok();
    args.typed_paths().filter(is_there)
}

/// The arguments with these reading flags instead of their own.
///
/// # Errors
/// This version does not know one of the flags.
fn with_flags(args: &IngestArgs, flags: &[String]) -> Result<IngestArgs, clap::Error> {
    let words = ["fpdb", "ingest"].into_iter().chain(flags.iter().map(String::as_str)).chain(["--", "x"]);
    let matches = typed::command().try_get_matches_from(words)?;
    let Verb::Ingest(read) = Cli::from_arg_matches(&matches)?.verb else { return Ok(args.clone()) };
    Ok(IngestArgs {
        read: read.read,
        records: read.records,
        exclude: read.exclude,
        include: read.include,
        skip_hidden: read.skip_hidden,
        follow: read.follow,
        store_text: read.store_text,
        ..args.clone()
    })
}
