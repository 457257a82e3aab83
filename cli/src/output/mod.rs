//! Output: writes results to standard output, or to a file that appears whole once everything is written.

mod csv;
mod format;
mod human;
mod json;

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf, is_separator};

use anyhow::Context;
use fpdb_host::temporary::{Temporary, stale_temporaries};
use serde::Serialize;
use tempfile::TempPath;

use super::colour::wants_colour;
use super::printer::Printer;
use super::typed::Global;
use crate::render::{Answer, Spoken, Style};
use format::{Format, Sink};

/// The destination of results: standard output or a file. The file appears whole once everything is written.
/// An earlier file stays until then, and also if the command fails.
pub(crate) struct Output {
    sink: Sink,
    format: Box<dyn Format>,
    file: Option<Destination>,
    /// The path that the user gave, for messages.
    path: Option<PathBuf>,
    /// True if the command changes things. It then finishes its work even if the reader of the output is
    /// gone.
    of_changes: bool,
    /// The style of text for people.
    pub(crate) style: Style,
}

/// A file that is written beside its target path, and renamed to it once it is complete.
pub(crate) struct NewFile {
    file: File,
    /// `None` for a pipe or device, which is written to directly.
    destination: Option<Destination>,
}

struct Destination {
    target: PathBuf,
    path: TempPath,
    _noted: Temporary,
}

impl NewFile {
    /// Begins the file for `path`.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let (file, destination) = create(path)?;
        Ok(Self { file, destination })
    }

    /// Renames the file to its target path.
    pub(crate) fn persist(self) -> io::Result<()> {
        let Self { file, destination } = self;
        drop(file);
        destination.map_or(Ok(()), Destination::persist)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Destination {
    fn persist(self) -> io::Result<()> {
        self.path.persist(&self.target).map_err(|error| error.error)
    }
}

impl Output {
    pub(crate) fn open(global: &Global) -> anyhow::Result<Self> {
        let terminal = global.output.is_none() && io::stdout().is_terminal();
        let size = terminal_size::terminal_size_of(io::stdout()).filter(|_| terminal);
        // A terminal that does not report its size counts as 80 columns wide.
        let width = (terminal && global.format.is_for_people()).then(|| size.map_or(80, |(width, _)| width.0.into()));
        let wanted = std::env::var("COLUMNS").ok().filter(|_| global.output.is_none());
        let columns = wanted.and_then(|columns| columns.parse().ok()).or(width);
        let style = Style { colour: wants_colour(global.color, terminal), width, columns };
        let (lines, file): (Box<dyn Write>, _) = match &global.output {
            None => (Box::new(io::stdout()), None),
            Some(path) => {
                let failed = |source| fpdb::Error::Io { action: "create", path: path.clone(), source };
                let (written, new) = create(path).map_err(failed)?;
                (Box::new(written), new)
            }
        };
        let sink = Sink { lines: BufWriter::new(lines), terminal };
        Ok(Self {
            sink,
            format: format::of(global, style),
            file,
            path: global.output.clone(),
            of_changes: false,
            style,
        })
    }

    /// An output to standard error, for the actions that a command does besides writing its results.
    pub(crate) fn to_errors(global: &Global) -> Self {
        let style = Style { colour: false, width: None, columns: None };
        let sink = Sink { lines: BufWriter::new(Box::new(io::stderr())), terminal: false };
        Self { sink, format: format::of(global, style), file: None, path: None, of_changes: true, style }
    }

    /// The output of a command that changes things. The command finishes its work even if the reader of the
    /// output is gone.
    pub(crate) fn of_changes(global: &Global) -> anyhow::Result<Self> {
        Ok(Self { of_changes: true, ..Self::open(global)? })
    }

    /// Writes an answer, or one row of it.
    pub(crate) fn answer(&mut self, answer: &dyn Answer) -> anyhow::Result<()> {
        let written = self.format.answer(answer, &mut self.sink);
        self.checked(written)
    }

    /// Writes the heading before the first row: `columns` in a table, `lines` for people.
    pub(crate) fn heading(&mut self, columns: &[&str], lines: &str) -> anyhow::Result<()> {
        let written = self.format.heading(columns, lines, &mut self.sink);
        self.checked(written)
    }

    /// Writes the totals below the rows. If the format has no place for totals, prints their first line on
    /// standard error.
    pub(crate) fn totals(&mut self, totals: &dyn Answer, printer: &Printer) -> anyhow::Result<()> {
        let written = self.format.totals(totals, &mut self.sink);
        if let Some(line) = self.checked(written)? {
            printer.note(&line);
        }
        Ok(())
    }

    /// Writes lines that other formats leave out.
    pub(crate) fn for_people(&mut self, lines: &str) -> anyhow::Result<()> {
        let written = self.format.for_people(lines, &mut self.sink);
        self.checked(written)
    }

    /// Writes text unchanged, in any format.
    pub(crate) fn text(&mut self, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let written = self.sink.lines.write_all(text.as_ref());
        self.checked(written)
    }

    /// Flushes the output written so far, so that it can be read before the rest is written.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let written = self.sink.lines.flush();
        self.checked(written)
    }

    /// Adds the name of the file, or "results", to a write error.
    fn checked<T: Default>(&mut self, written: io::Result<T>) -> anyhow::Result<T> {
        if self.of_changes && written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.sink.lines = BufWriter::new(Box::new(io::sink()));
            return Ok(T::default());
        }
        match &self.path {
            Some(path) => {
                written.map_err(|source| fpdb::Error::Io { action: "write", path: path.clone(), source }.into())
            }
            None => written.context("cannot write the results"),
        }
    }

    /// Flushes the output, and renames a file to its target path. The caller must not ignore an error here.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Some(destination) = self.file.take() {
            let path = self.path.take().unwrap_or_else(|| destination.target.clone());
            destination.persist().map_err(|source| fpdb::Error::Io { action: "write", path, source })?;
        }
        Ok(())
    }
}

/// Prefix of the names of unfinished files, which lie beside their target path. The number of the process
/// follows.
const GROWING: &str = ".fpdb-output-";

/// Fails if results cannot be written to this path. Called before the work for the results begins. Leaves
/// nothing at the path.
pub(crate) fn check_place(path: &Path) -> anyhow::Result<()> {
    let is_folder = path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| is_separator(byte.into()));
    let created = match is_written_directly(path) {
        _ if is_folder => Err(io::ErrorKind::IsADirectory.into()),
        true if path.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        true => Ok(()),
        // The file has no name, so that no other process sees it.
        false => {
            let target = followed(path);
            let folder = folder_of(&target);
            fs::metadata(folder).and_then(|_| tempfile::tempfile_in(folder)).map(drop)
        }
    };
    Ok(created.map_err(|source| fpdb::Error::Io { action: "create", path: path.to_owned(), source })?)
}

/// True for a device, a pipe and anything else that no new file can replace. A path in /dev names a device or
/// an open file.
fn is_written_directly(path: &Path) -> bool {
    path.starts_with("/dev") || fs::metadata(path).is_ok_and(|facts| !facts.is_file())
}

fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path that a link leads to, even if nothing is there yet. Results replace the target of a link, not the
/// link.
fn followed(path: &Path) -> PathBuf {
    /// The number of links that Linux follows.
    const MOST: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST {
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    target.canonicalize().unwrap_or(target)
}

/// Creates the file for results. A path that is not a regular file, such as a pipe or a device, is written to
/// directly.
fn create(path: &Path) -> io::Result<(File, Option<Destination>)> {
    let target = followed(path);
    let facts = fs::metadata(&target).ok();
    if is_written_directly(path) {
        return Ok((File::create(path)?, None));
    }
    let folder = folder_of(&target);
    // Removes the files of killed runs. A file that cannot be removed only takes space.
    for left in stale_temporaries(folder, GROWING) {
        let _ = fs::remove_file(left);
    }
    let mut number = 0;
    let (file, path) = loop {
        let path = folder.join(format!("{GROWING}{}-{number}", std::process::id()));
        // Nobody reads the new file who may not read the old one.
        let mode = facts.as_ref().map_or(0o666, |facts| facts.mode() & 0o600);
        match File::options().write(true).create_new(true).mode(mode).open(&path) {
            Ok(file) => break (file, TempPath::try_from_path(path)?),
            // The name belongs to another output of this process, or to a process with the same number on
            // another system that shares the disk.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    };
    let noted = Temporary::new(&path);
    // The lock tells other runs, also on other systems, that the file is in use. The result is ignored,
    // because not every file system has locks.
    let _ = file.try_lock();
    if let Some(facts) = facts {
        file.set_permissions(facts.permissions())?;
    }
    Ok((file, Some(Destination { target, path, _noted: noted })))
}

/// Writes the answer of a command whose messages for people go to standard error. `text` is the text for
/// people on standard output. If `text` is empty, people get nothing on standard output.
pub(crate) fn summary(global: &Global, report: &impl Serialize, text: &str) -> anyhow::Result<()> {
    if text.is_empty() && global.format.is_for_people() {
        return Ok(());
    }
    let mut output = Output::of_changes(global)?;
    output.answer(&Spoken { report, text })?;
    output.finish()
}

/// Writes a text and nothing else.
pub(crate) fn print(global: &Global, text: &str) -> anyhow::Result<()> {
    let mut output = Output::open(global)?;
    output.text(text)?;
    output.finish()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;
    use crate::render::escape_terminal;

    /// Writes to a file, as if it were a terminal if `terminal` is true, and returns the text.
    fn written(terminal: bool, format: impl Format + 'static, write: impl FnOnce(&mut Output)) -> String {
        let mut file = tempfile::tempfile().unwrap();
        let lines: Box<dyn Write> = Box::new(file.try_clone().unwrap());
        let sink = Sink { lines: BufWriter::new(lines), terminal };
        let mut output = Output {
            sink,
            format: Box::new(format),
            file: None,
            path: None,
            of_changes: false,
            style: Style::default(),
        };
        write(&mut output);
        output.finish().unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn cells_command_no_terminal_and_are_unchanged_in_files() {
        let cells = ["=cmd", "a\u{1b}[31m\u{7}", "b\nc"];
        let write = |output: &mut Output| output.heading(&cells, "").unwrap();
        assert_eq!(written(true, csv::Csv, write), "=cmd,a␛[31m␇,b␊c\n");
        assert_eq!(written(false, csv::Csv, write), "=cmd,a\u{1b}[31m\u{7},\"b\nc\"\n");
    }

    #[test]
    fn json_commands_no_terminal_and_means_the_same() {
        let every: String = ('\0'..'\u{3000}').chain(['\u{feff}', '\u{fffa}', '\u{e0041}', '語']).collect();
        let write = |output: &mut Output| output.answer(&Spoken { report: &every, text: "" }).unwrap();
        let (shown, plain) = (written(true, json::Json, write), written(false, json::Json, write));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), every);
        assert_eq!(serde_json::from_str::<String>(&plain).unwrap(), every);
        assert!(matches!(escape_terminal(shown.trim_end()), std::borrow::Cow::Borrowed(_)), "{shown:?}");
        assert!(plain.contains('\u{9b}') && !shown.contains('\u{9b}'));
    }
}
