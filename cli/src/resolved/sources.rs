//! The sources of an ingest.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::{Error, Source};
use fpdb_host::bounded::{LIST_BYTES, without_byte_order_mark};

use crate::typed::IngestArgs;

/// The typed paths, then those of `--files-from`.
pub(crate) fn of(args: &IngestArgs) -> anyhow::Result<Vec<Source>> {
    let source = |path: PathBuf, of_path: fn(PathBuf) -> Source| source_of(path, of_path, args);
    let mut sources: Vec<Source> = args.typed_paths().map(|path| source(path.clone(), Source::Path)).collect();
    if let Some(list) = &args.files_from {
        let text = read_list(list)?;
        let standard_input = list == Path::new("-");
        for line in paths_in(&text) {
            if standard_input && line == b"-" {
                anyhow::bail!(
                    "`--files-from -` reads paths from standard input, so standard input cannot be a document too"
                );
            }
            sources.push(source(path_of(line)?, Source::Listed));
        }
    }
    let inputs = sources.iter().filter(|source| matches!(source, Source::StandardInput { .. })).count();
    let list = usize::from(inputs > 0 && args.files_from.as_deref() == Some(Path::new("-")));
    args.input.check(inputs + list)?;
    Ok(sources)
}

/// The sources of `--boilerplate`.
pub(crate) fn boilerplate(args: &IngestArgs) -> Vec<Source> {
    args.boilerplate.iter().cloned().map(|path| source_of(path, Source::Path, args)).collect()
}

fn source_of(path: PathBuf, of_path: fn(PathBuf) -> Source, args: &IngestArgs) -> Source {
    if path == Path::new("-") { Source::StandardInput { name: args.input.name.clone() } } else { of_path(path) }
}

fn read_list(list: &Path) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    if list == Path::new("-") {
        let read = std::io::stdin().lock().take(LIST_BYTES).read_to_end(&mut text);
        read.context("cannot read the list of files from standard input")?;
    } else {
        let read = std::fs::File::open(list).and_then(|file| file.take(LIST_BYTES).read_to_end(&mut text));
        read.map_err(|source| Error::Io { action: "read the list of files", path: list.into(), source })?;
    }
    anyhow::ensure!(
        (text.len() as u64) < LIST_BYTES,
        "the list of files {} has 1 GiB or more: name folders instead, or use several lists",
        list.display()
    );
    Ok(text)
}

/// The paths in a list. If the list has a NUL character, which no path can hold, NULs separate the paths.
/// Otherwise line ends separate them.
fn paths_in(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = !list.contains(&0);
    let list = if lines { without_byte_order_mark(list) } else { list };
    let paths = list.split(move |&byte| byte == if lines { b'\n' } else { 0 });
    let paths = paths.map(move |path| if lines { path.strip_suffix(b"\r").unwrap_or(path) } else { path });
    paths.filter(|path| !path.is_empty())
}

fn path_of(line: &[u8]) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(line).into())
}

/// A missing source, with the error of the system.
pub(crate) fn missing(source: &Source) -> Option<(&PathBuf, std::io::Error)> {
    let path = source.path()?;
    Some((path, path.symlink_metadata().err()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_path_a_line_or_one_before_each_nul() {
        let paths = |list: &'static [u8]| paths_in(list).collect::<Vec<_>>();
        assert_eq!(paths(b"\xef\xbb\xbfa b\r\n\nc\n"), [&b"a b"[..], b"c"]);
        assert_eq!(paths(b"a\nb\0c\r\0"), [&b"a\nb"[..], b"c\r"]);
        assert_eq!(paths(b""), [b""; 0]);
    }
}
