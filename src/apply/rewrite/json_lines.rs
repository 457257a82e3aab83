//! JSON lines with a mark: two more fields at the end of each object, and every other byte as it was.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::de::IgnoredAny;

use super::super::files::BUFFER;
use super::frames::{Encoder, Frames};
use super::marks::{KEEP, Marks, REMOVE};
use crate::error::{DocumentError, Error, Result};
use crate::input::Compression;
use crate::stop::StopToken;

/// Writes the records of a file with their marks.
pub(super) fn mark(
    path: &Path,
    compression: Option<Compression>,
    marks: &Marks<'_>,
    output: &mut dyn Write,
    stop: &StopToken,
) -> Result<()> {
    let Some(compression) = compression else {
        let input = File::open(path).map_err(Error::io("read", path))?;
        return lines(path, input, marks, output, stop);
    };
    let undecodable = |error: std::io::Error| {
        Error::Document(DocumentError::Undecodable { format: compression.name(), source: error.into() })
    };
    let input = Frames::open(path, compression).map_err(undecodable)?;
    let failed = || Error::io("write a copy of", path);
    let mut encoder = Encoder::new(compression, &input.facts, output).map_err(failed())?;
    lines(path, input, marks, &mut encoder, stop)?;
    encoder.finish().map_err(failed())
}

fn lines(path: &Path, input: impl Read, marks: &Marks<'_>, output: &mut dyn Write, stop: &StopToken) -> Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut line = Vec::new();
    let mut at = 0;
    let survivor_field = marks.survivor_field();
    loop {
        stop.check()?;
        line.clear();
        let read = input.read_until(b'\n', &mut line).map_err(Error::io("read", path))? as u64;
        if read == 0 {
            return Ok(());
        }
        let marked = marked(&line, marks, &survivor_field, at)?;
        output.write_all(marked.as_deref().unwrap_or(&line)).map_err(Error::io("write a copy of", path))?;
        at += read;
    }
}

/// A line with its mark; `None` where it is no object.
fn marked(line: &[u8], marks: &Marks<'_>, survivor_field: &str, at: u64) -> Result<Option<Vec<u8>>> {
    let body = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    // Text in JSON may hold half a pair, which is no UTF-8: keys with such are no obstacle.
    let Ok(fields) = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(body) else { return Ok(None) };
    for field in [marks.field, survivor_field] {
        if fields.contains_key(field) {
            return Err(Error::FieldTaken { field: field.to_owned() });
        }
    }
    let Some(end) = line.iter().rposition(|&byte| byte == b'}') else { return Ok(None) };
    let survivor = marks.survivor(at)?;
    let quoted = |text: &str| {
        serde_json::to_string(text)
            .map_err(|error| Error::Document(DocumentError::NotARecord { format: "JSON", source: error.into() }))
    };
    let mut marked = line[..end].to_vec();
    if !fields.is_empty() {
        marked.push(b',');
    }
    let verdict = if survivor.is_some() { REMOVE } else { KEEP };
    let survivor = survivor.map_or(Ok("null".to_owned()), |name| quoted(&name))?;
    let fields = format!("{}:\"{verdict}\",{}:{survivor}", quoted(marks.field)?, quoted(survivor_field)?);
    marked.extend(fields.as_bytes());
    marked.extend(&line[end..]);
    Ok(Some(marked))
}
