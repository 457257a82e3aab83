//! Reading flags of an ingest: the typed flags; without typed flags, those of the last ingest of the same
//! paths, or else those of the folder around these paths.

mod below;
mod moved;
mod renamed;
mod replaced;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::{Database, IngestOptions, Source, StopToken, WalkOptions};
use fpdb_reading::input::{PathFilter, absolute_name};
use serde_json::{Map, Value};

use self::moved::Moved;
pub(crate) use self::replaced::Replaced;
use crate::printer::Printer;
use crate::render::{as_words, count};
use crate::typed::IngestArgs;
use crate::typed::reading_flags::words_of_json;

/// Remembered options: the fields that differ from the defaults.
type Flags = Map<String, Value>;

/// The paths of a command that are read with the same options.
pub(crate) struct Run {
    pub(crate) sources: Vec<Source>,
    pub(crate) options: IngestOptions,
}

/// The runs of an ingest.
pub(crate) struct Chosen {
    /// The first run has standard input.
    pub(crate) runs: Vec<Run>,
    /// Paths that were moved together with the database, and the options to remember for each.
    pub(crate) moved: Vec<(PathBuf, IngestOptions)>,
}

/// Divides the sources into runs. Each path, even inside a typed folder, is read with the flags that are
/// remembered for the path itself or the nearest folder above it. Typed flags hold for all paths. Prints a
/// note if flags come from an earlier run, and a warning if a folder with flags may have been renamed.
///
/// # Errors
/// Fails if this version does not know the remembered options.
pub(crate) fn choose(
    database: &Database,
    args: &IngestArgs,
    sources: &[Source],
    stop: &StopToken,
    printer: &Printer,
) -> anyhow::Result<Chosen> {
    let typed = args.options();
    if args.are_reading_flags_typed {
        let runs = vec![Run { sources: sources.to_vec(), options: typed }];
        return Ok(Chosen { runs, moved: Vec::new() });
    }
    let mut known = database.remembered_sources()?;
    let stored = known.clone();
    let mut moved = Moved::new(database, &stored);
    let mut paths = Vec::new();
    for path in there(args) {
        // Boilerplate without remembered flags is read like the other paths.
        let is_added = args.boilerplate.contains(path) && args.paths.iter().any(|other| other != path);
        moved.look_below(path)?;
        if !is_added || !database.remembered(path)?.is_empty() {
            paths.push((path, remembered(database, path, &mut moved)?));
        }
    }
    // The remembered JSON lacks the program that reads documents in a separate process. That program comes
    // from the typed limits.
    let with = |flags: &Flags, path: &Path| {
        let options = fpdb::options_from_json(&typed, Value::Object(flags.clone())).with_context(|| {
            let flags = as_words(&words_of_json(flags));
            format!("{} was ingested with options that this version does not know: {flags}", path.display())
        });
        options.map(|options: IngestOptions| {
            let read = options.read.clone().limits(typed.read.limits.clone());
            options.read(read)
        })
    };
    let mut moved_paths = Vec::new();
    for (path, source) in moved.into_known()? {
        printer.note(&format!("{} has moved together with the database", path.display()));
        let options = with(&source.options, &path)?;
        moved_paths.push((path, options));
        known.push(source);
    }
    // Sorts each folder before the paths in it.
    known.sort_by(|one, other| one.path.cmp(&other.path));
    let (mut groups, mut group_of): (Vec<Group>, HashMap<&PathBuf, usize>) = Default::default();
    let mut nearest: HashMap<PathBuf, &Flags> =
        known.iter().map(|source| (PathBuf::from(&source.path), &source.options)).collect();
    if paths.is_empty() {
        groups.push(Group::default());
    }
    for (path, flags) in &paths {
        let number = below::group_with(&mut groups, flags.clone());
        groups[number].typed.push((*path).clone());
        group_of.insert(*path, number);
        nearest.insert(absolute_name(path)?.into(), flags);
    }
    // Listed paths, boilerplate and missing paths are read like the nearest other path around them.
    let is_boilerplate = |path: &PathBuf| args.boilerplate.contains(path);
    for source in sources.iter().filter(|_| !known.is_empty()) {
        let Some(path) = source.path().filter(|path| !group_of.contains_key(path)) else { continue };
        let Ok(absolute) = absolute_name(path) else { continue };
        let number = match Path::new(&absolute).ancestors().find_map(|around| nearest.get(around)) {
            Some(flags) => {
                let mut flags = (*flags).clone();
                drop_globs_of_named(&mut flags, std::slice::from_ref(path), None)?;
                below::group_with(&mut groups, flags)
            }
            None if is_boilerplate(path) => 0,
            None => below::group_with(&mut groups, Flags::new()),
        };
        groups[number].others.push(path.clone());
        group_of.insert(path, number);
    }
    for group in &mut groups {
        drop_globs_of_named(&mut group.flags, &group.typed, Some(printer))?;
    }
    let typed_groups = groups.len();
    let mut left_out = below::add(&known, &mut groups, &|group| Ok(with(&group.flags, group.first())?.walk))?;
    let mut runs = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        if !group.flags.is_empty() {
            let of = match group.typed.len() + group.others.len() + group.below.len() {
                _ if typed_groups == 1 && number == 0 => String::new(),
                1 => format!(" for {}", group.first().display()),
                all => format!(" for {} and {}", group.first().display(), count(all as u64 - 1, "more path")),
            };
            let flags = as_words(&words_of_json(&group.flags));
            printer
                .note(&format!("using the flags of the last ingest{of}: {flags} (flags you give replace all of them)"));
        }
        let mut options = with(&group.flags, group.first())?;
        options.walk.leave_to_others = std::mem::take(&mut left_out[number]);
        let is_of_group = |source: &&Source| match source.path() {
            Some(path) => group_of.get(path).copied().unwrap_or_default() == number,
            None => number == 0,
        };
        let below = group.below.iter().cloned().map(Source::Path);
        let sources: Vec<Source> = sources.iter().filter(is_of_group).cloned().chain(below).collect();
        if !sources.is_empty() || groups.len() == 1 {
            runs.push(Run { sources, options });
        }
    }
    renamed::warn(database, &known, &runs, stop, printer)?;
    Ok(Chosen { runs, moved: moved_paths })
}

/// Paths with the same remembered flags.
#[derive(Default)]
struct Group {
    remembered: Flags,
    /// The remembered flags without the globs that exclude typed paths.
    flags: Flags,
    typed: Vec<PathBuf>,
    /// Other paths of the command, such as those of a list.
    others: Vec<PathBuf>,
    /// Paths in folders of the command, spelled as a walk of these folders spells them.
    below: Vec<PathBuf>,
}

impl Group {
    fn of(remembered: Flags) -> Self {
        Self { flags: remembered.clone(), remembered, ..Self::default() }
    }

    /// The paths of the command.
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.typed.iter().chain(&self.others)
    }

    fn first(&self) -> &Path {
        self.paths().next().or(self.below.first()).map_or(Path::new("-"), PathBuf::as_path)
    }
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

/// Drops remembered globs that exclude a typed or listed path, which takes precedence. Prints a note if there
/// is a printer.
fn drop_globs_of_named(flags: &mut Flags, typed: &[PathBuf], printer: Option<&Printer>) -> anyhow::Result<()> {
    let Some(Value::Array(globs)) = flags.get_mut("walk").and_then(|walk| walk.get_mut("exclude")) else {
        return Ok(());
    };
    let filter = |globs: &[Value]| {
        let globs = globs.iter().filter_map(Value::as_str).map(str::to_owned);
        PathFilter::new(&WalkOptions::default().exclude(globs.collect()))
    };
    let of_all = filter(globs)?;
    let named: Vec<&PathBuf> = typed.iter().filter(|path| of_all.excludes(path)).collect();
    let (mut kept, mut dropped, mut left_out) = (Vec::new(), Vec::new(), None);
    for glob in std::mem::take(globs) {
        let of_glob = filter(std::slice::from_ref(&glob))?;
        let excluded = named.iter().find(|path| of_glob.excludes(path));
        left_out = left_out.or(excluded);
        if excluded.is_some() { dropped.push(glob) } else { kept.push(glob) }
    }
    *globs = kept;
    if let (Some(path), Some(printer)) = (left_out, printer) {
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

/// The typed paths that exist. Paths in a list of files are not remembered: a list can be long and different
/// each time.
fn there(args: &IngestArgs) -> impl Iterator<Item = &PathBuf> {
    // Standard input is not a path. A missing path is reported elsewhere.
    let is_there = |path: &&PathBuf| path.to_str().is_some_and(|path| path != "-") && path.symlink_metadata().is_ok();
    args.typed_paths().filter(is_there)
}
