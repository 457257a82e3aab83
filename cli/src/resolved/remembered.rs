//! Reading flags of an ingest: the flags that were typed, otherwise those of the last ingest of the same
//! paths, otherwise those of the folder around them.

use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use fpdb::maintenance::RememberedSource;
use fpdb::{Database, DatabaseWriter, IngestOptions, WalkOptions, glob_of_path};
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
        let given = words(&rooted(&typed)?);
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
        let is_added = args.boilerplate.contains(path) && args.paths.iter().any(|other| other != path);
        if is_added && database.remembered(path)?.is_empty() {
            continue;
        }
        let remembered = remembered(database, path)?;
        match &first {
            None => first = Some((path, remembered)),
            Some((_, others)) if *others == remembered => {}
            Some((other, others)) => {
                let told = |path: &Path, remembered: &Map<String, Value>| match &*words_of_json(remembered) {
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
    let Some((path, mut remembered)) = first else { return Ok(typed) };
    drop_globs_of_named(&mut remembered, args, printer)?;
    refuse_others_below(database, args, &remembered)?;
    if remembered.is_empty() {
        return Ok(typed);
    }
    let flags = as_words(&words_of_json(&remembered));
    let options = fpdb::options_from_json(&typed, Value::Object(remembered)).with_context(|| {
        format!("{} was ingested with options that this version does not know: {flags}", path.display())
    })?;
    printer.note(&format!("using the flags of the last ingest: {flags} (flags you give replace all of them)"));
    Ok(options)
}

/// The options as the database remembers them: their globs mean the same in every folder.
fn rooted(options: &IngestOptions) -> anyhow::Result<IngestOptions> {
    Ok(options.clone().walk(options.walk.rooted()?))
}

/// The flags of the last ingest of a path, otherwise those of the nearest remembered folder above it.
/// Otherwise the path may have been moved together with the database: then those of the only gone path that
/// ends as this one is typed.
fn remembered(database: &Database, path: &Path) -> anyhow::Result<Map<String, Value>> {
    for path in std::path::absolute(path)?.ancestors() {
        let flags = database.remembered(path)?;
        if !flags.is_empty() {
            return Ok(flags);
        }
    }
    let mut gone = database.remembered_sources()?;
    gone.retain(|source| !Path::new(&source.path).exists());
    let typed: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    let is_name = |path: &&Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    for name in typed.ancestors().filter(is_name).filter(|name| !name.as_os_str().is_empty()) {
        let mut of_name = gone.iter().filter(|source| Path::new(&source.path).ends_with(name));
        if let (Some(source), None) = (of_name.next(), of_name.next()) {
            return Ok(moved(source, &std::path::absolute(name)?));
        }
    }
    Ok(Map::new())
}

/// The flags of a path that is now at another place, with globs for that place.
fn moved(source: &RememberedSource, to: &Path) -> Map<String, Value> {
    let mut flags = source.options.clone();
    let folders = [Path::new(&source.path), to].map(|path| path.parent().and_then(Path::to_str).map(glob_of_path));
    let [Some(old), Some(new)] = folders else { return flags };
    for list in ["exclude", "include"] {
        let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut(list)) else { continue };
        for glob in globs {
            if let Some(below) = glob.as_str().and_then(|glob| glob.strip_prefix(&old)) {
                *glob = Value::String(format!("{new}{below}"));
            }
        }
    }
    flags
}

/// Refuses paths that hold a file or folder which was ingested with other flags: they would not hold for it,
/// and the ingest would remove what it read with them.
fn refuse_others_below(database: &Database, args: &IngestArgs, chosen: &Map<String, Value>) -> anyhow::Result<()> {
    let globs = |list: &str| -> Vec<String> {
        let globs = chosen.get("walk").and_then(|walk| walk.get(list)).and_then(Value::as_array);
        globs.into_iter().flatten().filter_map(|glob| glob.as_str().map(str::to_owned)).collect()
    };
    let walk = WalkOptions::default().exclude(globs("exclude"));
    for source in database.remembered_sources()? {
        let below = Path::new(&source.path);
        if source.options == *chosen || !below.exists() || walk.excludes(below)? {
            continue;
        }
        for path in there(args) {
            let holds = std::path::absolute(path)?;
            if below != holds && below.starts_with(&holds) {
                anyhow::bail!(
                    "{} was ingested with {}, which does not hold for {}: give the flags for both, or leave it out here (--exclude {}) and ingest it by itself",
                    below.display(),
                    as_words(&words_of_json(&source.options)),
                    path.display(),
                    as_words(&[glob_of_path(&source.path)])
                );
            }
        }
    }
    Ok(())
}

/// Drops remembered globs that leave out a path of this command, with a note: a path that is named counts.
fn drop_globs_of_named(flags: &mut Map<String, Value>, args: &IngestArgs, printer: &Printer) -> anyhow::Result<()> {
    let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut("exclude")) else {
        return Ok(());
    };
    let (mut kept, mut dropped, mut left_out) = (Vec::new(), Vec::new(), None);
    for glob in std::mem::take(globs) {
        let of_glob = WalkOptions::default().exclude(glob.as_str().map(str::to_owned).into_iter().collect());
        let mut excluded = None;
        for path in there(args) {
            if of_glob.excludes(path)? {
                excluded = Some(path);
                break;
            }
        }
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
fn drop_empty(flags: &mut Map<String, Value>) {
    let Some(Value::Object(walk)) = flags.get_mut("walk") else { return };
    walk.retain(|_, value| value.as_array().is_none_or(|globs| !globs.is_empty()));
    if walk.is_empty() {
        flags.remove("walk");
    }
}

/// Before a run, remembers typed options of paths that have none yet, because a killed run may have stored
/// documents.
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

/// After a run that has read a document, remembers the options if reading flags were typed. A run with a
/// misspelled field reads no document, so the flags of an earlier run stay.
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
