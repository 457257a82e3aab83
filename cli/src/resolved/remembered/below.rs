//! Below: remembered paths in the folders of a command that were ingested with other flags than the flags of
//! this command.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fpdb::maintenance::RememberedSource;
use fpdb::{WalkOptions, glob_of_path};
use fpdb_reading::input::{PathFilter, absolute_name, is_gone, is_hidden};

use super::{Flags, there};
use crate::printer::Printer;
use crate::render::as_words;
use crate::typed::IngestArgs;
use crate::typed::reading_flags::words_of_json;

/// Maximum number of paths that a message names.
const NAMED: usize = 3;

/// Maximum number of paths that the advice leaves out. With more paths, the advice lists none: an ingest that
/// leaves out only some of them would read the others.
const ADVISED: usize = 20;

/// A remembered path that is read because it lies in a typed folder.
struct Below<'a> {
    typed: &'a Path,
    source: &'a RememberedSource,
}

/// The remembered paths that `walk` reads in folders of the command and whose flags fulfil `others`. Typed
/// paths themselves do not count.
fn below<'a>(
    sources: &'a [RememberedSource],
    args: &'a IngestArgs,
    walk: &WalkOptions,
    others: impl Fn(&Flags) -> bool,
) -> anyhow::Result<Vec<Below<'a>>> {
    let typed: HashMap<PathBuf, &Path> =
        there(args).map(|path| Ok((absolute_name(path)?.into(), path.as_path()))).collect::<anyhow::Result<_>>()?;
    let filter = PathFilter::new(walk)?;
    let is_read = |path: &Path, folder: &Path| {
        let is_skipped = walk.skip_hidden && is_hidden(path.strip_prefix(folder).unwrap_or(path));
        let is_behind_link = || path.ancestors().take_while(|path| *path != folder).any(Path::is_symlink);
        !is_skipped
            && (walk.follow || !is_behind_link())
            && !filter.excludes(path)
            && (!path.is_file() || filter.includes(path) || filter.may_hold_included(&path.to_string_lossy()))
    };
    let mut found = Vec::new();
    for source in sources {
        let path = Path::new(&source.path);
        let around = path.ancestors().skip(1).find_map(|folder| typed.get_key_value(folder));
        if let Some((folder, &typed_folder)) = around
            && !typed.contains_key(path)
            && others(&source.options)
            && !is_gone(path)
            && is_read(path, folder)
        {
            found.push(Below { typed: typed_folder, source });
        }
    }
    Ok(found)
}

/// The remembered paths that `walk` reads in folders of the command.
pub(super) fn read_paths<'a>(
    sources: &'a [RememberedSource],
    args: &'a IngestArgs,
    walk: &WalkOptions,
) -> anyhow::Result<Vec<&'a str>> {
    Ok(below(sources, args, walk, |_| true)?.into_iter().map(|below| &*below.source.path).collect())
}

/// Refuses typed folders with files or folders in them that were ingested with other flags than `chosen`.
/// This ingest would not apply those flags, and would replace or remove documents that were read with them.
///
/// # Errors
/// Fails if there are such files or folders.
pub(super) fn refuse_others(
    sources: &[RememberedSource],
    args: &IngestArgs,
    walk: &WalkOptions,
    chosen: &Flags,
) -> anyhow::Result<()> {
    let found = below(sources, args, walk, |flags| flags != chosen)?;
    if found.is_empty() {
        return Ok(());
    }
    let flags_of = |below: &Below<'_>| as_words(&words_of_json(&below.source.options));
    let path_of = |below: &Below<'_>| below.source.path.clone();
    let are_alike = found.len() > 1 && found.iter().all(|below| below.source.options == found[0].source.options);
    let named = found.iter().take(NAMED);
    let named: Vec<String> = match are_alike {
        true => named.map(path_of).collect(),
        false => named.map(|below| format!("{} was ingested with {}", path_of(below), flags_of(below))).collect(),
    };
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => " and 1 more path".to_owned(),
        more => format!(" and {more} more paths"),
    };
    let mut told = named.join(", ") + &more;
    if are_alike {
        told += &format!(": all were ingested with {}", flags_of(&found[0]));
    } else if found.len() > NAMED {
        told += " with flags of their own";
    }
    let typed: BTreeSet<&Path> = found.iter().map(|below| below.typed).collect();
    let mut typed_names: Vec<String> = typed.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    if typed.len() > NAMED {
        typed_names.push("other paths of the command".to_owned());
    }
    let instead = match found.len() {
        ..=ADVISED => {
            let excludes = found.iter().map(|below| format!("--exclude={}", glob_of_path(&below.source.path)));
            as_words(&words_of_json(chosen).into_iter().chain(excludes).collect::<Vec<_>>())
        }
        _ => "one --exclude for each; `fpdb stats --format json` lists them".to_owned(),
    };
    let (does, flags, it, by_itself) = match found.len() {
        1 => ("does", "the flags for both", "it", "it by itself"),
        _ if are_alike => ("do", "the same flags here", "them", "each by itself"),
        _ => ("do", "the flags for all", "them", "each by itself"),
    };
    anyhow::bail!(
        "{told}, which {does} not hold for {}: give {flags}, or ingest {by_itself} and leave {it} out here ({instead})",
        typed_names.join(", ")
    );
}

/// Prints flags that are remembered for paths in the typed folders and are not among the typed flags. This
/// ingest reads these paths without such flags, and replaces or removes their documents accordingly.
pub(super) fn tell_unused(
    sources: &[RememberedSource],
    args: &IngestArgs,
    walk: &WalkOptions,
    given: &[String],
    printer: &Printer,
) -> anyhow::Result<()> {
    let unused = |flags: &Flags| -> Vec<String> {
        words_of_json(flags).into_iter().filter(|flag| !given.contains(flag)).collect()
    };
    let found = below(sources, args, walk, |flags| !unused(flags).is_empty())?;
    for Below { source, .. } in found.iter().take(NAMED) {
        printer.note(&format!("{}: no longer used: {}", source.path, as_words(&unused(&source.options))));
    }
    if let more @ 1.. = found.len().saturating_sub(NAMED) {
        let paths = if more == 1 { "path" } else { "paths" };
        printer.note(&format!("{more} more {paths}: other flags are no longer used"));
    }
    if !found.is_empty() {
        let them = if found.len() == 1 { "it" } else { "them" };
        printer.note(&format!("hint: to keep what was read with such flags, leave {them} out here with --exclude"));
    }
    Ok(())
}
