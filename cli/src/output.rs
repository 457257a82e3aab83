//! Output: results, to standard output or to a file that appears whole when all is written.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb_host::temporary::{Temporary, stale_temporaries};
use tempfile::TempPath;

use super::colour::wants_colour;
use super::typed::Global;
use crate::render::{Style, escape_json, escape_terminal};

/// Where results go: standard output, or a file that appears whole when all is written. An earlier file stays until
/// then, and if the command fails.
pub(crate) struct Output {
    lines: BufWriter<Box<dyn Write>>,
    rows: csv::Writer<Box<dyn Write>>,
    file: Option<Destination>,
    /// The path that was given, for messages.
    path: Option<PathBuf>,
    /// True where control characters would reach a terminal.
    terminal: bool,
    /// How they look there.
    pub(crate) style: Style,
}

/// A file that is written beside the place it goes to, and takes that place once it is whole.
pub(crate) struct NewFile {
    file: File,
    /// `None` where the place is a pipe or device, which is written to as it is.
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

    /// Puts it in its place.
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
        // A terminal that does not tell its size has 80 columns.
        let width = terminal.then(|| size.map_or(80, |(width, _)| width.0.into()));
        let wanted = std::env::var("COLUMNS").ok().filter(|_| global.output.is_none());
        let columns = wanted.and_then(|columns| columns.parse().ok()).or(width);
        let style = Style { colour: wants_colour(global.color, terminal), width, columns };
        let (lines, rows, file): (Box<dyn Write>, Box<dyn Write>, _) = match &global.output {
            None => (Box::new(io::stdout()), Box::new(io::stdout()), None),
            Some(path) => {
                let failed = |source| fpdb::Error::Io { action: "create", path: path.clone(), source };
                let (written, new) = create(path).map_err(failed)?;
                (Box::new(written.try_clone().map_err(failed)?), Box::new(written), new)
            }
        };
        let (lines, rows, path) = (BufWriter::new(lines), csv::Writer::from_writer(rows), global.output.clone());
        Ok(Self { lines, rows, file, path, terminal, style })
    }

    /// The same, unless it is a file that is to take its place.
    pub(crate) fn unless_file(self) -> Option<Self> {
        self.file.is_none().then_some(self)
    }

    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self.lines.write_all(text.as_bytes());
        self.checked(written)
    }

    /// One object, one line.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let written = if self.terminal {
            // The same JSON, in which no character commands the terminal or is invisible there.
            serde_json::to_string(value)
                .map_err(io::Error::from)
                .and_then(|json| self.lines.write_all(escape_json(&json).as_bytes()))
        } else {
            serde_json::to_writer(&mut self.lines, value).map_err(io::Error::from)
        };
        self.checked(written)?;
        self.text("\n")
    }

    /// Rows of a table. A command writes these or text. On a terminal control characters in cells are shown as symbols; elsewhere cells are
    /// as they are.
    pub(crate) fn csv<T: AsRef<[u8]>>(&mut self, rows: impl IntoIterator<Item = Vec<T>>) -> anyhow::Result<()> {
        for row in rows {
            let written = if self.terminal {
                let cells: Vec<_> = row.iter().map(|cell| String::from_utf8_lossy(cell.as_ref())).collect();
                self.rows.write_record(cells.iter().map(|cell| escape_terminal(cell).into_owned()))
            } else {
                self.rows.write_record(row)
            };
            self.checked(written.map_err(io_error))?;
        }
        Ok(())
    }

    /// Hands over what is written so far, so that it can be read before the rest is there.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let written = self.lines.flush().and_then(|()| self.rows.flush());
        self.checked(written)
    }

    /// The error of a write names the file, or says that it was about the results.
    fn checked(&self, written: io::Result<()>) -> anyhow::Result<()> {
        match &self.path {
            Some(path) => {
                written.map_err(|source| fpdb::Error::Io { action: "write", path: path.clone(), source }.into())
            }
            None => written.context("cannot write the results"),
        }
    }

    /// Everything is written, and a file takes its place; an error here must not be lost.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Some(destination) = self.file.take() {
            let path = self.path.take().unwrap_or_else(|| destination.target.clone());
            destination.persist().map_err(|source| fpdb::Error::Io { action: "write", path, source })?;
        }
        Ok(())
    }
}

/// The system's error that kept a row from being written.
fn io_error(error: csv::Error) -> io::Error {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        _ => io::Error::other(text),
    }
}

/// The beginning of the names of files that grow beside the place they go to. The number of the process follows.
const GROWING: &str = ".fpdb-output-";

/// Begins the file that results go to. A path that is no regular file, such as a pipe or a device, is written to as it is.
fn create(path: &Path) -> io::Result<(File, Option<Destination>)> {
    // A link leads to what is to be replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let facts = fs::metadata(&target).ok();
    // A name in /dev stands for something that is open, and would not lead to a new file.
    if path.starts_with("/dev") || facts.as_ref().is_some_and(|facts| !facts.is_file()) {
        return Ok((File::create(path)?, None));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Killed runs have left these. A file that cannot be removed only takes space.
    for left in stale_temporaries(folder, GROWING) {
        let _ = fs::remove_file(left);
    }
    let mut number = 0;
    let (file, path) = loop {
        let path = folder.join(format!("{GROWING}{}-{number}", std::process::id()));
        match File::create_new(&path) {
            Ok(file) => break (file, TempPath::try_from_path(path)?),
            // This process writes another one, or one of this number on another system does.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    };
    let noted = Temporary::new(&path);
    // Tells other runs, on other systems too, that it is in use. Not every file system has locks.
    let _ = file.try_lock();
    if let Some(facts) = facts {
        file.set_permissions(facts.permissions())?;
    }
    Ok((file, Some(Destination { target, path, _noted: noted })))
}

/// Writes the one line of JSON of a command that has no more to say.
pub(crate) fn summary(global: &Global, report: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut output = Output::open(global)?;
    output.json(report)?;
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

    /// Writes cells to a file, as to a terminal or not, and returns its text.
    fn written(terminal: bool, write: impl FnOnce(&mut Output)) -> String {
        let mut file = tempfile::tempfile().unwrap();
        let [lines, rows] = [(); 2].map(|()| -> Box<dyn Write> { Box::new(file.try_clone().unwrap()) });
        let mut output = Output {
            lines: BufWriter::new(lines),
            rows: csv::Writer::from_writer(rows),
            file: None,
            path: None,
            terminal,
            style: Style { colour: false, width: None, columns: None },
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
        let write = |output: &mut Output| output.csv([cells.to_vec()]).unwrap();
        assert_eq!(written(true, write), "=cmd,a␛[31m␇,b␊c\n");
        assert_eq!(written(false, write), "=cmd,a\u{1b}[31m\u{7},\"b\nc\"\n");
    }

    #[test]
    fn json_commands_no_terminal_and_means_the_same() {
        let every: String = ('\0'..'\u{3000}').chain(['\u{feff}', '\u{fffa}', '\u{e0041}', '語']).collect();
        let write = |output: &mut Output| output.json(&every).unwrap();
        let (shown, plain) = (written(true, write), written(false, write));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), every);
        assert_eq!(serde_json::from_str::<String>(&plain).unwrap(), every);
        assert!(matches!(escape_terminal(shown.trim_end()), std::borrow::Cow::Borrowed(_)), "{shown:?}");
        assert!(plain.contains('\u{9b}') && !shown.contains('\u{9b}'));
    }
}
