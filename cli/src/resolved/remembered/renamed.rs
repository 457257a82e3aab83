//! Renamed: warns of remembered folders that may have another name now. The flags of the old name do not hold
//! for the new name, so files that these flags leave out are read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use fpdb::maintenance::RememberedSource;
use fpdb::{Database, Source, StopToken};
use fpdb_reading::input::{WalkEvent, is_gone, walk};

use super::Run;
use crate::printer::Printer;
use crate::render::{as_words, count};
use crate::typed::reading_flags::words_of_json;

/// Maximum number of files of a folder that are looked for.
const LOOKED_AT: usize = 100;

/// Maximum number of folders that messages name.
const NAMED: usize = 3;

/// Warns of each new folder that seems to be a remembered folder under another name. These runs read it, the
/// remembered folder is gone, and half of its files are in the new folder, at the same paths and with the
/// same sizes.
pub(super) fn warn(
    database: &Database,
    known: &[RememberedSource],
    runs: &[Run],
    stop: &StopToken,
    printer: &Printer,
) -> anyhow::Result<()> {
    let gone: Vec<_> = known.iter().filter(|source| is_gone(Path::new(&source.path))).collect();
    let paths: Vec<&str> = gone.iter().map(|source| source.path.as_str()).collect();
    let mut files_at = if paths.is_empty() { Vec::new() } else { database.files_at(&paths, LOOKED_AT, stop)? };
    // An empty file is like every other one of its name.
    files_at.iter_mut().for_each(|at| at.files.retain(|_, bytes| *bytes > 0));
    if files_at.iter().all(|at| at.files.is_empty()) {
        return Ok(());
    }
    // A new folder, and the number of the folder that is gone.
    let mut alike: BTreeSet<(String, usize)> = BTreeSet::new();
    for run in runs {
        let sources: Vec<Source> = run.sources.iter().filter(|source| source.path().is_some()).cloned().collect();
        walk(&sources, &run.options.walk, &mut |event| {
            if let WalkEvent::Document(candidate) | WalkEvent::Archive(candidate) = event
                && let Some(file) = candidate.about.file
            {
                for (at, _) in file.source.match_indices('/') {
                    let (new, below) = file.source.split_at(at);
                    let has_it = |of: &usize| files_at[*of].files.get(below) == Some(&file.bytes);
                    alike.extend((0..gone.len()).filter(has_it).map(|of| (new.to_owned(), of)));
                }
            }
            if stop.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
    }
    alike.retain(|(new, of)| {
        let files = &files_at[*of].files;
        let is_there = |(below, bytes): &(&String, &u64)| {
            Path::new(&format!("{new}{below}")).metadata().is_ok_and(|file| file.len() == **bytes)
        };
        let half = files.len().div_ceil(2);
        !stop.is_stopped()
            && known.iter().all(|source| source.path != *new)
            && files.iter().filter(is_there).take(half).count() == half
    });
    let new: Vec<&str> = alike.iter().map(|(new, _)| new.as_str()).collect();
    let known_there = if new.is_empty() { Vec::new() } else { database.files_at(&new, 1, stop)? };
    let mut told = 0;
    for ((new, of), _) in alike.iter().zip(known_there).filter(|(_, there)| there.files.is_empty()) {
        told += 1;
        if told <= NAMED {
            let (RememberedSource { path, options, .. }, name) = (gone[*of], files_at[*of].name.as_deref());
            let flags = as_words(&words_of_json(options));
            let next = match name {
                Some(old) => {
                    // A document with a new name is read below the same folder as before.
                    let around = path.strip_suffix(old).filter(|around| around.ends_with('/'));
                    let new = around.and_then(|around| new.strip_prefix(around)).unwrap_or(new);
                    let rename = printer.suggested.with("mv", Vec::new(), &[old, new]);
                    format!("`{rename}` takes documents and flags along")
                }
                None => format!("give {new} these flags"),
            };
            printer.warning(&format!(
                "warning: {new} holds files of {path}, which is gone and was ingested with {flags}: if it is the same folder, stop, and {next}"
            ));
        }
    }
    if let more @ 1.. = told.saturating_sub(NAMED) {
        printer.warning(&format!(
            "warning: files of remembered folders that are gone are also in {}",
            count(more as u64, "more folder")
        ));
    }
    Ok(())
}
