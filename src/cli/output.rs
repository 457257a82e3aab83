//! Output: results, to standard output or to a file that appears whole when all is written.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::Temporary;
use tempfile::TempPath;

use super::colour::wants_colour;
use super::typed::Global;
use crate::cli::render::Style;

/// Where results go: standard output, or a file that appears whole when all is written. An earlier file stays until
/// then, and if the command fails.
pub(crate) struct Output {
    lines: BufWriter<Box<dyn Write>>,
    rows: csv::Writer<Box<dyn Write>>,
    file: Option<Destination>,
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
        Ok(Self { lines: BufWriter::new(lines), rows: csv::Writer::from_writer(rows), file, style })
    }

    /// The same, unless it is a file that is to take its place.
    pub(crate) fn unless_file(self) -> Option<Self> {
        self.file.is_none().then_some(self)
    }

    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.lines.write_all(text.as_bytes()).context("cannot write the results")
    }

    /// One object, one line.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.lines, value).context("cannot write the results")?;
        self.text("\n")
    }

    /// Rows of a table. A command writes these or text.
    pub(crate) fn csv<T: AsRef<[u8]>>(&mut self, rows: impl IntoIterator<Item = Vec<T>>) -> anyhow::Result<()> {
        for row in rows {
            self.rows.write_record(row).context("cannot write the results")?;
        }
        Ok(())
    }

    /// Hands over what is written so far, so that it can be read before the rest is there.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.lines.flush().and_then(|()| self.rows.flush()).context("cannot write the results")
    }

    /// Everything is written, and a file takes its place; an error here must not be lost.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.flush()?;
        if let Some(destination) = self.file.take() {
            let target = destination.target.clone();
            destination.persist().map_err(|source| fpdb::Error::Io { action: "write", path: target, source })?;
        }
        Ok(())
    }
}

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
    let mut number = 0;
    let (file, path) = loop {
        let path = folder.join(format!(".fpdb-output-{}-{number}", std::process::id()));
        match File::create_new(&path) {
            Ok(file) => break (file, TempPath::try_from_path(path)?),
            // One that was killed may have left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    };
    let noted = Temporary::new(&path);
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
