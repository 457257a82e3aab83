//! Reading flags of an ingest: the flags that were typed, otherwise those of the last ingest of the same
//! paths, otherwise those of the folder around them.

mod below;
mod moved;

use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::{Database, DatabaseWriter, IngestOptions, WalkOptions};
use fpdb_reading::input::{PathFilter, absolute_name};
use serde_json::{Map, Value};

use self::moved::Moved;
use crate::printer::Printer;
use crate::render::as_words;
use crate::typed::IngestArgs;
use crate::typed::reading_flags::{words, words_of_json};

/// Remembered options: the fields that differ from the defaults.
type Flags = Map<String, Value>;

/// The options of an ingest.
pub(crate) struct ChosenOptions {
    pub(crate) options: IngestOptions,
    /// Paths that were moved together with the database, and the options to remember for them.
    pub(crate) moved: (Vec<PathBuf>, IngestOptions),
}

impl ChosenOptions {
    fn of(options: IngestOptions) -> Self {
        Self { moved: (Vec::new(), options.clone()), options }
    }
}

/// Returns the options to use. Prints a note if they come from an earlier run, or if typed flags replace
/// flags of an earlier run.
///
/// # Errors
/// Fails if no flags are given and the sources were ingested with different ones, or with options that this
/// version does not know.
pub(crate) fn options(database: &Database, args: &IngestArgs, printer: &Printer) -> anyhow::Result<ChosenOptions> {
    let typed = args.options();
    let sources = database.remembered_sources()?;
    if args.are_reading_flags_typed {
        let given = words(&rooted(&typed)?);
        for path in there(args) {
            let dropped: Vec<String> =
                words_of_json(&database.remembered(path)?).into_iter().filter(|flag| !given.contains(flag)).collect();
            if !dropped.is_empty() {
                printer.note(&format!("{}: no longer used: {}", path.display(), as_words(&dropped)));
            }
        }
        below::tell_unused(&sources, args, &typed.walk, &given, printer)?;
        return Ok(ChosenOptions::of(typed));
    }
    let mut moved = Moved::new(database, &sources);
    let mut first: Option<(&PathBuf, Flags)> = None;
    for path in there(args) {
        // Boilerplate without remembered flags is read like the other paths.
        let is_added = args.boilerplate.contains(path) && args.paths.iter().any(|other| other != path);
        if is_added && database.remembered(path)?.is_empty() {
            continue;
        }
        let remembered = remembered(database, path, &mut moved)?;
        match &first {
            None => first = Some((path, remembered)),
            Some((_, others)) if *others == remembered => {}
            Some((other, others)) => {
                let told = |path: &Path, remembered: &Flags| match &*words_of_json(remembered) {
                    [] => format!("no flags are remembered for {}", path.display()),
                    flags => format!("{} was ingested with {}", path.display(), as_words(flags)),
                };
                anyhow::bail!(
                    "{}, {}: use one command for each, or give the flags for both",
                    told(other, others),
                    told(path, &remembered)
                );
            }
        }
    }
    let Some((path, remembered)) = first else { return Ok(ChosenOptions::of(typed)) };
    let mut chosen = remembered.clone();
    drop_globs_of_named(&mut chosen, args, printer)?;
    let with = |flags: &Flags| {
        let options = fpdb::options_from_json(&typed, Value::Object(flags.clone())).with_context(|| {
            let flags = as_words(&words_of_json(flags));
            format!("{} was ingested with options that this version does not know: {flags}", path.display())
        });
        // JSON does not hold the program that reads documents in a separate process. The typed limits have
        // it.
        options.map(|options: IngestOptions| {
            let read = options.read.clone().limits(typed.read.limits.clone());
            options.read(read)
        })
    };
    let options = with(&chosen)?;
    below::refuse_others(&sources, args, &options.walk, &chosen)?;
    // A glob that this run drops still applies to later runs.
    let moved = (moved.into_paths(), with(&remembered)?);
    if !chosen.is_empty() {
        let flags = as_words(&words_of_json(&chosen));
        printer.note(&format!("using the flags of the last ingest: {flags} (flags you give replace all of them)"));
    }
    for path in &moved.0 {
        printer.note(&format!("{} has moved together with the database", path.display()));
    }
    Ok(ChosenOptions { options, moved })
}

/// The options as the database remembers them: their globs mean the same in every folder.
fn rooted(options: &IngestOptions) -> anyhow::Result<IngestOptions> {
    Ok(options.clone().walk(options.walk.rooted()?))
}

/// The flags of the last ingest of a path, otherwise those of the nearest remembered folder above it,
/// otherwise those of the place from which the path was moved together with the database.
fn remembered(database: &Database, path: &Path, moved: &mut Moved<'_>) -> anyhow::Result<Flags> {
    for path in Path::new(&absolute_name(path)?).ancestors() {
        let flags = database.remembered(path)?;
        if !flags.is_empty() {
            return Ok(flags);
        }
    }
    Ok(moved.flags_of(path)?.unwrap_or_default())
}

/// Drops remembered globs that exclude a typed path, and prints a note: a typed path takes precedence.
fn drop_globs_of_named(flags: &mut Flags, args: &IngestArgs, printer: &Printer) -> anyhow::Result<()> {
    let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut("exclude")) else {
        return Ok(());
    };
    let filter = |globs: &[Value]| {
        let globs = globs.iter().filter_map(Value::as_str).map(str::to_owned);
        PathFilter::new(&WalkOptions::default().exclude(globs.collect()))
    };
    let of_all = filter(globs)?;
    let named: Vec<&PathBuf> = there(args).filter(|path| of_all.excludes(path)).collect();
    let (mut kept, mut dropped, mut left_out) = (Vec::new(), Vec::new(), None);
    for glob in std::mem::take(globs) {
        let of_glob = filter(std::slice::from_ref(&glob))?;
        let excluded = named.iter().find(|path| of_glob.excludes(path));
        left_out = left_out.or(excluded);
        if excluded.is_some() { dropped.push(glob) } else { kept.push(glob) }
    }
    *globs = kept;
    if let Some(path) = left_out {
        let dropped = Map::from_iter([("walk".to_owned(), serde_json::json!({ "exclude": dropped }))]);
        let flags = as_words(&words_of_json(&dropped));
        printer.note(&format!("{} is named, so these flags do not hold here: {flags}", path.display()));
    }
    drop_empty(flags);
    Ok(())
}

/// Removes an empty list of globs, and the options of the walk if no others are left, so that equal flags
/// are equal JSON.
fn drop_empty(flags: &mut Flags) {
    let Some(Value::Object(walk)) = flags.get_mut("walk") else { return };
    walk.retain(|_, value| value.as_array().is_none_or(|globs| !globs.is_empty()));
    if walk.is_empty() {
        flags.remove("walk");
    }
}

/// Before a run, remembers typed options of paths that have none yet, because a killed run stores documents
/// too. Also remembers the options of moved paths.
///
/// # Errors
/// Fails if the database cannot be read or written.
pub(crate) fn remember_new(
    database: &DatabaseWriter,
    args: &IngestArgs,
    options: &IngestOptions,
    (moved, options_of_moved): &(Vec<PathBuf>, IngestOptions),
) -> anyhow::Result<()> {
    if !moved.is_empty() {
        database.remember(moved, options_of_moved)?;
    }
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

/// After a run that has read a document, remembers the options if reading flags were typed. A run that
/// `is_whole` has also read all paths in the typed folders, so the options of these paths are forgotten. A
/// run with a misspelled field reads no document, so the flags of an earlier run stay.
///
/// # Errors
/// Fails if the database cannot be read or written.
pub(crate) fn remember(
    database: &DatabaseWriter,
    args: &IngestArgs,
    options: &IngestOptions,
    (has_read, is_whole): (bool, bool),
    printer: &Printer,
) -> anyhow::Result<()> {
    if !args.are_reading_flags_typed {
        return Ok(());
    }
    let paths: Vec<&PathBuf> = there(args).collect();
    if has_read {
        database.remember(&paths, options)?;
        if !is_whole {
            return Ok(());
        }
        // This command has read the paths below its folders too, with its own flags. If the earlier flags of
        // these paths stayed remembered, each later ingest of the folder would be refused.
        let sources = database.remembered_sources()?;
        let read = below::read_paths(&sources, args, &options.walk)?;
        return Ok(database.remember(&read, &IngestOptions::default())?);
    }
    for path in paths {
        let earlier = words_of_json(&database.remembered(path)?);
        if !earlier.is_empty() && earlier != words(&rooted(options)?) {
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
