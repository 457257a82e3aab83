//! Reading flags of an ingest: the flags that were typed, otherwise those of the last ingest of the same
//! paths, otherwise how the folder around them was read.

use std::path::PathBuf;

use anyhow::Context;
use fpdb::{Database, DatabaseWriter, IngestOptions, WalkOptions};
use serde_json::{Map, Value};

use crate::printer::Printer;
use crate::render::as_words;
use crate::typed::IngestArgs;
use crate::typed::reading_flags::{words, words_of_json};

/// Returns the options to use. Prints a note if they come from an earlier run, or if typed flags replace
/// flags of an earlier run.
///
/// # Errors
/// Fails if no flags are given and the sources were ingested with different ones, or with options that this
/// version does not know.
pub(crate) fn options(database: &Database, args: &IngestArgs, printer: &Printer) -> anyhow::Result<IngestOptions> {
    let typed = args.options();
    if args.are_reading_flags_typed {
        let given = words(&typed);
        for path in there(args) {
            let dropped: Vec<String> =
                words_of_json(&database.remembered(path)?).into_iter().filter(|flag| !given.contains(flag)).collect();
            if !dropped.is_empty() {
                printer.note(&format!("{}: no longer used: {}", path.display(), as_words(&dropped)));
            }
        }
        return Ok(typed);
    }
    let mut first: Option<(&PathBuf, Map<String, Value>)> = None;
    for path in there(args) {
        // Boilerplate without flags of its own is read as the other paths are.
        let is_added = args.boilerplate.contains(path) && !args.paths.is_empty();
        if is_added && database.remembered(path)?.is_empty() {
            continue;
        }
        let remembered = remembered(database, path, printer)?;
        match &first {
            None => first = Some((path, remembered)),
            Some((_, others)) if *others == remembered => {}
            Some((other, others)) => {
                let told = |remembered: &Map<String, Value>| match &*words_of_json(remembered) {
                    [] => "without such flags".to_owned(),
                    flags => format!("with {}", as_words(flags)),
                };
                anyhow::bail!(
                    "{} was ingested {}, {} {}: use one command for each, or give the flags for both",
                    other.display(),
                    told(others),
                    path.display(),
                    told(&remembered)
                );
            }
        }
    }
    let Some((path, remembered)) = first.filter(|(_, remembered)| !remembered.is_empty()) else { return Ok(typed) };
    let flags = as_words(&words_of_json(&remembered));
    let options = fpdb::options_from_json(&typed, Value::Object(remembered)).with_context(|| {
        format!("{} was ingested with options that this version does not know: {flags}", path.display())
    })?;
    printer.note(&format!("using the flags of the last ingest: {flags} (flags you give replace all of them)"));
    Ok(options)
}

/// The flags of the last ingest of a path, otherwise those of the nearest remembered folder above it. A path
/// that is named counts, so globs that leave it out itself are dropped, with a note.
fn remembered(database: &Database, path: &PathBuf, printer: &Printer) -> anyhow::Result<Map<String, Value>> {
    let own = database.remembered(path)?;
    if !own.is_empty() {
        return Ok(own);
    }
    for folder in std::path::absolute(path)?.ancestors().skip(1) {
        let mut flags = database.remembered(folder)?;
        if flags.is_empty() {
            continue;
        }
        let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut("exclude")) else {
            return Ok(flags);
        };
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for glob in std::mem::take(globs) {
            let of_glob = WalkOptions::default().exclude(glob.as_str().map(str::to_owned).into_iter().collect());
            if of_glob.excludes(path)? { dropped.push(glob) } else { kept.push(glob) }
        }
        *globs = kept;
        if !dropped.is_empty() {
            let dropped = Map::from_iter([("walk".to_owned(), serde_json::json!({ "exclude": dropped }))]);
            printer.note(&format!(
                "{} is named, so these flags of {} do not leave it out: {}",
                path.display(),
                folder.display(),
                as_words(&words_of_json(&dropped))
            ));
        }
        drop_empty(&mut flags);
        return Ok(flags);
    }
    Ok(own)
}

/// Removes an empty list of globs, and the options of the walk if no others are left, so that equal flags
/// are equal JSON.
fn drop_empty(flags: &mut Map<String, Value>) {
    let Some(Value::Object(walk)) = flags.get_mut("walk") else { return };
    walk.retain(|_, value| value.as_array().is_none_or(|globs| !globs.is_empty()));
    if walk.is_empty() {
        flags.remove("walk");
    }
}

/// Before a run, remembers typed options of paths that have none yet: a killed run stores documents too.
///
/// # Errors
/// Fails if the database cannot be read or written.
pub(crate) fn remember_new(
    database: &DatabaseWriter,
    args: &IngestArgs,
    options: &IngestOptions,
) -> anyhow::Result<()> {
    let mut new = Vec::new();
    for path in there(args).filter(|_| args.are_reading_flags_typed) {
        if database.remembered(path)?.is_empty() {
            new.push(path);
        }
    }
    if !new.is_empty() {
        database.remember(&new, options)?;
    }
    Ok(())
}

/// After a run that has read a document, remembers the options if reading flags were typed. With a misspelled
/// field a run reads none, and the flags of an earlier run stay.
///
/// # Errors
/// Fails if the database cannot be read or written.
pub(crate) fn remember(
    database: &DatabaseWriter,
    args: &IngestArgs,
    options: &IngestOptions,
    has_read: bool,
    printer: &Printer,
) -> anyhow::Result<()> {
    if !args.are_reading_flags_typed {
        return Ok(());
    }
    let paths: Vec<&PathBuf> = there(args).collect();
    if has_read {
        return Ok(database.remember(&paths, options)?);
    }
    for path in paths {
        let earlier = words_of_json(&database.remembered(path)?);
        if !earlier.is_empty() && earlier != words(options) {
            printer.note(&format!(
                "{}: no document was read; still remembered: {}",
                path.display(),
                as_words(&earlier)
            ));
        }
    }
    Ok(())
}

/// The typed paths that exist. Paths in a list of files are not remembered: a list can be long and different
/// each time.
fn there(args: &IngestArgs) -> impl Iterator<Item = &PathBuf> {
    // Standard input is not a path. A missing path is reported elsewhere.
    let is_there = |path: &&PathBuf| path.to_str().is_some_and(|path| path != "-") && path.symlink_metadata().is_ok();
    args.typed_paths().filter(is_there)
}
