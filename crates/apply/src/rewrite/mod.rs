//! Rewrite: writes a file again without some of its members, or with a mark in each record.

#[cfg(feature = "parquet")]
mod arrow_schema;
mod frames;
mod json_lines;
mod marks;
#[cfg(feature = "parquet")]
mod parquet;
mod stream;
mod texts;
#[cfg(feature = "zip")]
mod zip;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::check::{Cut, FileState};
use super::cutting::Cutting;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::behind_feature;
use fpdb_reading::input::{Container, FileKind};

pub(super) use marks::Marks;
use roaring::RoaringBitmap;
use stream::Cuts;
use texts::Texts;
#[cfg(feature = "zip")]
pub(super) use zip::why_whole;

/// The reason why nothing can be left out of a zip archive: this build cannot read it.
#[cfg(not(feature = "zip"))]
pub(super) fn why_whole(_: &Path) -> Result<Option<&'static str>> {
    behind_feature!("zip", Ok(None))
}

/// True if the records of a file can get a mark.
pub(super) fn is_markable(state: &FileState) -> bool {
    matches!(state, FileState::File { kind, container, .. } if can_mark(*kind, *container))
}

/// True if the records of a file of this kind can get a mark.
pub(super) fn can_mark(kind: FileKind, container: Option<Container>) -> bool {
    matches!((kind, container), (FileKind::Container(_), Some(Container::JsonLines | Container::Parquet)))
}

/// True if a copy with marks can also lack records.
pub(super) fn can_mark_and_leave_out(state: &FileState) -> bool {
    matches!(state, FileState::File { container: Some(Container::JsonLines), .. })
}

/// True if passages can be cut out of the documents of a file.
pub(super) fn can_cut(state: &FileState) -> bool {
    matches!(state, FileState::File { kind: FileKind::Document, .. }) || is_markable(state)
}

/// True if these `cuts`, ascending, leave nothing of a file except folders. Other containers are never empty:
/// they still have, for example, the requests of a crawl or the columns of a table.
pub(super) fn takes_all(state: &FileState, cuts: &[Cut]) -> bool {
    use Container::{JsonLines, Mbox, Tar, Zip};
    let FileState::File { container, members, .. } = state else { return false };
    // Several cuts can take one member.
    let taken = cuts.chunk_by(|one, next| (one.start, one.end) == (next.start, next.end)).count();
    matches!(container, Some(JsonLines | Mbox | Tar | Zip)) && *members == taken as u64
}

/// The change of a file.
pub(super) enum Change<'a> {
    /// Leaves out some documents of the file.
    LeaveOut,
    /// Marks its records.
    Mark(&'a Marks<'a>),
    /// Cuts passages out of its documents.
    CutOut {
        cutting: &'a Cutting<'a>,
        /// The field that holds the texts of records.
        field: &'a str,
        /// The documents whose records are left out, because no symbol of their texts is left.
        emptied: &'a RoaringBitmap,
    },
}

/// Writes the file at `path` again, with this change to the documents of these `cuts`.
pub(super) fn rewrite(
    path: &Path,
    (state, cuts): (&FileState, &[Cut]),
    change: &Change<'_>,
    output: &mut File,
    stop: &StopToken,
) -> Result<()> {
    if let (FileState::File { kind: FileKind::Document, .. }, Change::CutOut { cutting, .. }, [cut, ..]) =
        (state, change, cuts)
    {
        return texts::document(path, &cutting.ranges_of_file(cut.id)?, output, stop);
    }
    let FileState::File { kind: FileKind::Container(compression), container: Some(container), .. } = state else {
        return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
    };
    let marks = if let Change::Mark(marks) = change { Some(*marks) } else { None };
    if let Change::CutOut { cutting, field, emptied } = change {
        let texts = Texts { cuts, cutting, field, emptied };
        if *container == Container::Parquet {
            return behind_feature!("parquet", parquet::cut(path, &texts, output, stop));
        }
        let mut output = BufWriter::with_capacity(super::files::BUFFER, output);
        json_lines::rewrite(path, *compression, &|line, at| texts.line(line, at), &mut output, stop)?;
        return output.flush().map_err(Error::io("write", path));
    }
    if *container == Container::Zip && compression.is_none() {
        return behind_feature!("zip", zip::without(path, &rows(cuts), output, stop));
    }
    if *container == Container::Parquet && compression.is_none() {
        return behind_feature!("parquet", parquet::rewrite(path, &rows(cuts), marks, output, stop));
    }
    let mut output = BufWriter::with_capacity(super::files::BUFFER, output);
    match (marks, compression) {
        (Some(marks), _) => {
            json_lines::rewrite(path, *compression, &|line, at| marks.line(line, at), &mut output, stop)?;
        }
        (None, None) => stream::without(path, Cuts::new(cuts), &mut output, stop)?,
        (None, Some(compression)) => frames::without(path, *compression, Cuts::new(cuts), &mut output, stop)?,
    }
    output.flush().map_err(Error::io("write", path))
}

/// Reads the file at `path`, which [`is_markable`], as [`rewrite`] would, and writes nothing.
///
/// # Errors
/// The errors of [`rewrite`], such as [`Error::FieldTaken`].
pub(super) fn check_marks(path: &Path, state: &FileState, marks: &Marks<'_>, stop: &StopToken) -> Result<()> {
    let FileState::File { kind, container, .. } = state else { return Ok(()) };
    match (container, kind) {
        (Some(Container::Parquet), _) => behind_feature!("parquet", parquet::check_marks(path, marks)),
        (_, FileKind::Container(compression)) => {
            json_lines::check(path, *compression, &|line, at| marks.line(line, at), stop)
        }
        _ => Ok(()),
    }
}

/// Indexes of the entries or rows to leave out, ascending.
fn rows(cuts: &[Cut]) -> Vec<u64> {
    cuts.iter().flat_map(|cut| cut.start..cut.end).collect()
}
