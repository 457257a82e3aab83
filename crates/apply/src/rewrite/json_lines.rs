//! Rewrites JSON lines: edits some, copies the rest byte for byte.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use super::frames::{Encoder, Frames};
use crate::files::BUFFER;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::Compression;

/// A longer line is not a record.
const LONGEST: u64 = 1 << 30;

/// Returns the replacement of the line that begins at an offset; `None` keeps the line.
type LineEdit<'a> = dyn Fn(&[u8], u64) -> Result<Option<Vec<u8>>> + 'a;

/// Writes the lines of a file, edited.
pub(super) fn rewrite(
    path: &Path,
    compression: Option<Compression>,
    edit: &LineEdit<'_>,
    output: &mut dyn Write,
    stop: &StopToken,
) -> Result<()> {
    let Some(compression) = compression else {
        return lines(path, opened(path)?, edit, output, stop);
    };
    let input = frames(path, compression)?;
    let failed = || Error::io("write a copy of", path);
    let mut encoder = Encoder::new(compression, &input.facts, output).map_err(failed())?;
    lines(path, input, edit, &mut encoder, stop)?;
    encoder.finish().map_err(failed())
}

/// Edits the lines of a file without writing them, to find the errors that [`rewrite`] would return.
pub(super) fn check(
    path: &Path,
    compression: Option<Compression>,
    edit: &LineEdit<'_>,
    stop: &StopToken,
) -> Result<()> {
    match compression {
        None => lines(path, opened(path)?, edit, &mut io::sink(), stop),
        Some(compression) => lines(path, frames(path, compression)?, edit, &mut io::sink(), stop),
    }
}

fn opened(path: &Path) -> Result<File> {
    File::open(path).map_err(Error::io("read", path))
}

fn frames(path: &Path, compression: Compression) -> Result<Frames> {
    Frames::open(path, compression).map_err(|error| {
        Error::Document(DocumentError::Undecodable { format: compression.name(), source: error.into() })
    })
}

fn lines(path: &Path, input: impl Read, edit: &LineEdit<'_>, output: &mut dyn Write, stop: &StopToken) -> Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut line = Vec::new();
    let mut at = 0;
    loop {
        stop.check()?;
        line.clear();
        let read = (&mut input).take(LONGEST).read_until(b'\n', &mut line).map_err(Error::io("read", path))? as u64;
        if read == 0 {
            return Ok(());
        }
        // A line that is too long for a record arrives in pieces. Each piece is written like a line.
        let edited = edit(&line, at)?;
        output.write_all(edited.as_deref().unwrap_or(&line)).map_err(Error::io("write a copy of", path))?;
        at += read;
    }
}
