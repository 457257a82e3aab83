//! Printer: results to standard output or a file, talk to standard error. One place decides about colour
//! and how much is said.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::Temporary;
use fpdb::report::{Style, seen};
use tempfile::TempPath;

use super::args::{Format, Global, When};
use super::place;

/// Says things to the person, on standard error.
pub(crate) struct Printer {
    quiet: bool,
    verbose: bool,
    colour: bool,
    /// Whether a progress bar may be drawn.
    pub(crate) progress: bool,
}

impl Printer {
    pub(crate) fn new(global: &Global) -> Self {
        let terminal = io::stderr().is_terminal();
        let draws = terminal && anstyle_query::term_supports_ansi_color();
        Self {
            quiet: global.quiet,
            verbose: global.verbose,
            colour: wants_colour(global.color, terminal),
            progress: draws && !global.quiet && !global.no_progress,
        }
    }

    /// Something worth knowing.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(format_args!("{}", seen(text)));
        }
    }

    /// Something only `--verbose` shows.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            say(format_args!("{}", seen(text)));
        }
    }

    /// What ended the run.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        say(format_args!("{}: {}", self.label("error", 31), seen(&format!("{error:#}"))));
        if let Some(hint) = error.chain().find_map(|cause| cause.downcast_ref::<fpdb::Error>()?.hint()) {
            say(format_args!("{}: {}", self.label("hint", 36), seen(&hint)));
        }
    }

    /// What kept one document from being read.
    pub(crate) fn failure(&self, name: &str, error: &fpdb::Error) {
        let told = match error {
            // These say the name themselves.
            fpdb::Error::NoSuchDocument { .. } | fpdb::Error::NoSuchNumber { .. } => error.chain(),
            _ => format!("{name}: {}", error.chain()),
        };
        say(format_args!("{}: {}", self.label("error", 31), seen(&told)));
        if let Some(hint) = error.hint().filter(|_| !self.quiet) {
            say(format_args!("{}: {}", self.label("hint", 36), seen(&hint)));
        }
    }

    fn label(&self, text: &str, colour: u8) -> String {
        if self.colour { format!("\u{1b}[1;{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Writes a line to standard error. Whoever reads it may have gone: that ends no run.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Where results go: standard output, or a file that appears whole when all is written. What was there before stays until
/// then, and if the command fails.
pub(crate) struct Output {
    lines: BufWriter<Box<dyn Write>>,
    rows: csv::Writer<Box<dyn Write>>,
    file: Option<NewFile>,
    /// How they look there.
    pub(crate) style: Style,
}

/// A file beside the place it goes to.
struct NewFile {
    target: PathBuf,
    path: TempPath,
    _noted: Temporary,
}

impl Output {
    pub(crate) fn open(global: &Global) -> anyhow::Result<Self> {
        let terminal = global.output.is_none() && io::stdout().is_terminal();
        let style = Style { colour: wants_colour(global.color, terminal) };
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

    /// Everything is written, and a file takes its place; an error here must not be lost.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.lines.flush().context("cannot write the results")?;
        self.rows.flush().context("cannot write the results")?;
        if let Some(NewFile { target, path, _noted }) = self.file.take() {
            path.persist(&target).map_err(|error| fpdb::Error::Io {
                action: "write",
                path: target,
                source: error.error,
            })?;
        }
        Ok(())
    }
}

/// Begins the file that results go to. What is there and is no regular file, such as a pipe or a device, is written to as it is.
fn create(path: &Path) -> io::Result<(File, Option<NewFile>)> {
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
    Ok((file, Some(NewFile { target, path, _noted: noted })))
}

/// Refuses to write results over a file that is read for them.
pub(crate) fn not_over<'a>(global: &Global, read: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let Some(target) = global.output.as_ref().and_then(|path| path.canonicalize().ok()) else { return Ok(()) };
    let is_target = |path: &&PathBuf| target.is_file() && path.canonicalize().is_ok_and(|path| path == target);
    match read.into_iter().find(is_target) {
        Some(path) => anyhow::bail!("-o would write over {}, which is to be read: name another file", path.display()),
        None => Ok(()),
    }
}

/// Refuses formats a command does not have.
pub(crate) fn only(global: &Global, command: &str, formats: &[Format]) -> anyhow::Result<()> {
    if formats.contains(&global.format) {
        return Ok(());
    }
    let name = |format: Format| format!("{format:?}").to_lowercase();
    let has: Vec<String> = formats.iter().map(|&format| name(format)).collect();
    anyhow::bail!("`fpdb {command}` has no {} format; it has {}", name(global.format), has.join(", "))
}

fn wants_colour(when: When, terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => Environment::here().wants_colour(terminal),
    }
}

/// What the environment says of colour: NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM.
struct Environment {
    never: bool,
    asked: Option<bool>,
    always: bool,
    capable: bool,
}

impl Environment {
    fn here() -> Self {
        Self {
            never: anstyle_query::no_color(),
            asked: anstyle_query::clicolor(),
            always: anstyle_query::clicolor_force(),
            capable: anstyle_query::term_supports_ansi_color(),
        }
    }

    fn wants_colour(&self, terminal: bool) -> bool {
        !self.never && (self.always || (terminal && self.capable && self.asked != Some(false)))
    }
}

/// Writes the one line of JSON of a command that has no more to say.
pub(crate) fn summary(global: &Global, report: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut output = Output::open(global)?;
    output.json(report)?;
    output.finish()
}

/// Refuses to write results into a database, this command's own or another, or among backups.
pub(crate) fn not_inside_a_database(global: &Global) -> anyhow::Result<()> {
    let Some(path) = &global.output else { return Ok(()) };
    let own = place::find(global)?.unwrap_or_else(|| place::new(global));
    match fpdb::enclosing_database(path, Some(&own)) {
        Some(database) => Err(fpdb::Error::InsideDatabase { path: path.clone(), database }.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_that_have_it() {
        let plain = || Environment { never: false, asked: None, always: false, capable: true };
        assert!(plain().wants_colour(true) && !plain().wants_colour(false));
        assert!(!Environment { capable: false, ..plain() }.wants_colour(true), "TERM=dumb");
        assert!(!Environment { never: true, always: true, ..plain() }.wants_colour(true), "NO_COLOR");
        assert!(!Environment { asked: Some(false), ..plain() }.wants_colour(true), "CLICOLOR=0");
        assert!(Environment { always: true, ..plain() }.wants_colour(false), "CLICOLOR_FORCE=1");
    }
}
