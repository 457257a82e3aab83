//! File parts: the documents of a file and their places, for the code that copies files without some
//! documents.

use std::ops::ControlFlow;
use std::path::Path;

use super::extents::Extents;
use crate::input::{Candidate, Content, Opened, ReadContext, ReadOptions, WalkEvent, candidate_of, open};
use crate::recognise::{Compression, Layer, layer_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;

/// The kind of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One document, compressed or not.
    Document,
    /// A container, and the compression around it, if any. Members below further layers of compression cannot
    /// be reached.
    Container(Option<Compression>),
}

/// Visits the documents of a file, as an ingest with these options would, and reports the places of its
/// members to `extents`. A file that is one document is visited as [`Content::File`] or
/// [`Content::Compressed`].
///
/// # Errors
/// If the file cannot be opened.
pub fn visit_with_extents(
    path: &Path,
    options: &ReadOptions,
    stop: &StopToken,
    progress: &dyn Fn(u64),
    visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
    extents: &mut dyn Extents,
) -> Result<FileKind> {
    let Candidate { mut about, content } = candidate_of(path)?;
    let Some(file) = about.file.clone() else {
        return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
    };
    debug_assert!(matches!(content, Content::File));
    let reading = ReadContext { options, members: None, stop, progress };
    match open(&mut about, &file, reading)? {
        Opened::Document(content) => {
            let _ = visit(WalkEvent::Document(Candidate { about, content }));
            Ok(FileKind::Document)
        }
        Opened::Container(container) => {
            let kind = FileKind::Container(compression(container.layer));
            container.expand_with(&about, &file, reading, visit, Some(extents))?;
            Ok(kind)
        }
    }
}

/// The compression of a whole file. `None` if it is not compressed.
///
/// # Errors
/// If the file cannot be read.
pub fn compression_of(path: &Path) -> Result<Option<Compression>> {
    use std::io::Read;
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(Error::io("read", path))?;
    file.take(crate::recognise::LAYER_HEAD as u64).read_to_end(&mut head).map_err(Error::io("read", path))?;
    Ok(compression(layer_of(&path.to_string_lossy(), &head)))
}

fn compression(layer: Layer) -> Option<Compression> {
    if let Layer::Compressed(compression) = layer { Some(compression) } else { None }
}
