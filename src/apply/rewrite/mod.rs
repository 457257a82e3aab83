//! Rewrite: one file again, without some of its members or with a mark in each of its records.

mod frames;
mod json_lines;
mod marks;
mod parquet;
mod stream;
mod zip;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::check::{Cut, State};
use crate::error::{Error, Result};
use crate::input::{Container, FileKind};
use crate::stop::StopToken;
use crate::store::Store;
use marks::Marks;
use stream::Cuts;
pub(super) use zip::why_whole;

/// Whether the records of a file take a mark.
pub(super) fn can_mark(state: &State) -> bool {
    matches!(
        state,
        State::File { container: Some(Container::JsonLines | Container::Parquet), kind: FileKind::Container(_), .. }
    )
}

/// Writes the file at `path` again: without `cuts`, or with all records and a mark in `field`.
pub(super) fn rewrite(
    path: &Path,
    state: &State,
    cuts: &[Cut],
    field: Option<&str>,
    store: &Store,
    output: &mut File,
    stop: &StopToken,
) -> Result<()> {
    let State::File { kind: FileKind::Container(compression), container: Some(container), .. } = state else {
        return Err(Error::NotAFile { path: path.to_owned() });
    };
    let marks = field.map(|field| Marks { field, cuts, store });
    if *container == Container::Zip && compression.is_none() {
        return zip::without(path, &rows(cuts), output, stop);
    }
    if *container == Container::Parquet && compression.is_none() {
        return parquet::rewrite(path, &rows(cuts), marks.as_ref(), output, stop);
    }
    let mut output = BufWriter::with_capacity(super::files::BUFFER, output);
    match (marks, compression) {
        (Some(marks), _) => json_lines::mark(path, *compression, &marks, &mut output, stop)?,
        (None, None) => stream::without(path, Cuts::new(cuts), &mut output, stop)?,
        (None, Some(compression)) => frames::without(path, *compression, Cuts::new(cuts), &mut output, stop)?,
    }
    output.flush().map_err(Error::io("write", path))
}

/// Numbers of entries or rows, ascending.
fn rows(cuts: &[Cut]) -> Vec<u64> {
    cuts.iter().flat_map(|cut| cut.start..cut.end).collect()
}
