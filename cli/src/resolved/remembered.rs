//! Reading flags of an ingest: the flags that were typed, otherwise those of the last ingest of the same
//! paths, otherwise those of the folder around them.

use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use fpdb::maintenance::RememberedSource;
use fpdb::{Database, DatabaseWriter, Error, IngestOptions, Task, WalkOptions, glob_of_path};
use fpdb_reading::input::{absolute_name, moved_glob};
use serde_json::{Map, Value};

use crate::printer::Printer;
use crate::render::as_words;
use crate::typed::IngestArgs;
use crate::typed::reading_flags::{words, words_of_json};

/// Returns the options to use, and paths to remember them for: paths that were moved together with the
/// database. Prints a note if the options come from an earlier run, or if typed flags replace flags of an
/// earlier run.
///
/// # Errors
/// Fails if no flags are given and the sources were ingested with different ones, or with options that this
/// version does not know.
pub(crate) fn options(
    database: &Database,
    args: &IngestArgs,
    printer: &Printer,
) -> anyhow::Result<(IngestOptions, Vec<PathBuf>)> {
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
        return Ok((typed, Vec::new()));
    }
    let mut gone = database.remembered_sources()?;
    gone.retain(|source| !Path::new(&source.path).exists());
    let mut moved = Vec::new();
    let mut first: Option<(&PathBuf, Map<String, Value>)> = None;
    for path in there(args) {
        // Boilerplate without flags of its own is read as the other paths are.
        let is_added = args.boilerplate.contains(path) && args.paths.iter().any(|other| other != path);
        if is_added && database.remembered(path)?.is_empty() {
            continue;
        }
        let remembered = remembered(database, path, &gone, &mut moved)?;
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
    let Some((path, mut remembered)) = first else { return Ok((typed, moved)) };
    drop_globs_of_named(&mut remembered, args, printer)?;
    refuse_others_below(database, args, &remembered)?;
    if remembered.is_empty() {
        return Ok((typed, moved));
    }
    let flags = as_words(&words_of_json(&remembered));
    let options = fpdb::options_from_json(&typed, Value::Object(remembered)).with_context(|| {
        format!("{} was ingested with options that this version does not know: {flags}", path.display())
    })?;
    printer.note(&format!("using the flags of the last ingest: {flags} (flags you give replace all of them)"));
    for path in &moved {
        printer.note(&format!("{} has moved together with the database", path.display()));
    }
    Ok((options, moved))
}

/// The options as the database remembers them: their globs mean the same in every folder.
fn rooted(options: &IngestOptions) -> anyhow::Result<IngestOptions> {
    Ok(options.clone().walk(options.walk.rooted()?))
}

/// The flags of the last ingest of a path, otherwise those of the nearest remembered folder above it.
/// Otherwise the path may have been moved together with the database: then those of a `gone` path that ends
/// as this one is typed, and that documents of this name were read from.
fn remembered(
    database: &Database,
    path: &Path,
    gone: &[RememberedSource],
    moved_paths: &mut Vec<PathBuf>,
) -> anyhow::Result<Map<String, Value>> {
    for path in Path::new(&absolute_name(path)?).ancestors() {
        let flags = database.remembered(path)?;
        if !flags.is_empty() {
            return Ok(flags);
        }
    }
    let typed: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if gone.is_empty() || !typed.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(Map::new());
    }
    for name in typed.ancestors().filter(|name| !name.as_os_str().is_empty()) {
        for source in gone.iter().filter(|source| Path::new(&source.path).ends_with(name)) {
            if were_read_from(database, name, source)? {
                moved_paths.push(name.to_owned());
                return Ok(moved(source, Path::new(&absolute_name(name)?)));
            }
        }
    }
    Ok(Map::new())
}

/// True if a stored document of this name, or below it, was read from the source.
fn were_read_from(database: &Database, name: &Path, source: &RememberedSource) -> anyhow::Result<bool> {
    // One of the first documents tells.
    const LOOKED_AT: usize = 100;
    let name = name.display().to_string();
    let below = ["/", "!", ":", "#"].map(|sign| format!("{name}{sign}"));
    let mut documents = match database.documents_named(&name) {
        Err(Error::NoSuchDocument { .. }) => Vec::new(),
        found => found?,
    };
    for id in database.select(&below, &[], &Task::new())?.ids.into_iter().take(LOOKED_AT) {
        documents.push(database.document(id)?);
    }
    let files = documents.iter().filter_map(|document| document.source.as_deref());
    Ok(files.into_iter().any(|file| Path::new(file).starts_with(&source.path)))
}

/// The flags of a path that is now at another place, with globs for that place.
fn moved(source: &RememberedSource, to: &Path) -> Map<String, Value> {
    let mut flags = source.options.clone();
    let folder = |path: &Path| Some(format!("{}/", path.parent()?.to_str()?.trim_end_matches('/')));
    let (Some(old), Some(new)) = (folder(Path::new(&source.path)), folder(to)) else { return flags };
    for list in ["exclude", "include"] {
        let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut(list)) else { continue };
        for glob in globs {
            if let Some(moved) = glob.as_str().and_then(|glob| moved_glob(glob, &old, &new)) {
                *glob = Value::String(moved);
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
    let walk = WalkOptions::default().exclude(globs("exclude")).include(globs("include"));
    // A file that these globs leave out is not read.
    let is_left_out = |path: &Path| if path.is_file() { Ok(!walk.counts(path)?) } else { walk.excludes(path) };
    let holds: Vec<(&PathBuf, String)> =
        there(args).map(|path| Ok((path, absolute_name(path)?))).collect::<anyhow::Result<_>>()?;
    for source in database.remembered_sources()? {
        let below = Path::new(&source.path);
        let around = holds.iter().find(|(_, folder)| below != Path::new(folder) && below.starts_with(folder));
        let Some((path, _)) = around else { continue };
        if source.options == *chosen || !below.exists() || is_left_out(below)? {
            continue;
        }
        let mut instead = words_of_json(chosen);
        instead.push(format!("--exclude={}", glob_of_path(&source.path)));
        anyhow::bail!(
            "{} was ingested with {}, which does not hold for {}: give the flags for both, or ingest it by itself and leave it out here ({})",
            below.display(),
            as_words(&words_of_json(&source.options)),
            path.display(),
            as_words(&instead)
        );
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

/// Before a run, remembers typed options of paths that have none yet, because a killed run stores documents
/// too. Also remembers the options of moved paths.
///
/// # Errors
/// Fails if the database cannot be read or written.
pub(crate) fn remember_new(
    database: &DatabaseWriter,
    args: &IngestArgs,
    options: &IngestOptions,
    moved: &[PathBuf],
) -> anyhow::Result<()> {
    let mut new: Vec<&PathBuf> = moved.iter().collect();
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
