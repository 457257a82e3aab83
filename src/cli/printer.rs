//! Printer: results to standard output or a file, talk to standard error. One place decides about colour
//! and how much is said.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Context;
use fpdb::report::Style;

use super::args::{Format, Global, When};

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
        Self {
            quiet: global.quiet,
            verbose: global.verbose,
            colour: wants_colour(global.color, terminal),
            progress: terminal && !global.quiet && !global.no_progress,
        }
    }

    /// Something worth knowing.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(format_args!("{text}"));
        }
    }

    /// Something only `--verbose` shows.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            say(format_args!("{text}"));
        }
    }

    /// What ended the run.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        say(format_args!("{}: {error:#}", self.label("error", 31)));
        if let Some(hint) = error.chain().find_map(|cause| cause.downcast_ref::<fpdb::Error>()?.hint()) {
            say(format_args!("{}: {hint}", self.label("hint", 36)));
        }
    }

    /// What kept one document from being read.
    pub(crate) fn failure(&self, name: &str, error: &fpdb::Error) {
        say(format_args!("{}: {name}: {}", self.label("error", 31), error.chain()));
        if let Some(hint) = error.hint().filter(|_| !self.quiet) {
            say(format_args!("{}: {hint}", self.label("hint", 36)));
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

/// Where results go.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// How they look there.
    pub(crate) style: Style,
}

impl Output {
    pub(crate) fn open(global: &Global) -> anyhow::Result<Self> {
        let (writer, terminal): (Box<dyn Write>, bool) = match &global.output {
            Some(path) => {
                let file = File::create(path).map_err(|source| fpdb::Error::Io {
                    action: "create",
                    path: path.clone(),
                    source,
                })?;
                (Box::new(file), false)
            }
            None => (Box::new(io::stdout()), io::stdout().is_terminal()),
        };
        let colour = wants_colour(global.color, terminal);
        Ok(Self { writer: BufWriter::new(writer), style: Style { colour } })
    }

    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.writer.write_all(text.as_bytes()).context("cannot write the results")
    }

    /// One object, one line.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.writer, value).context("cannot write the results")?;
        self.text("\n")
    }

    pub(crate) fn csv<T: AsRef<[u8]>>(&mut self, rows: impl IntoIterator<Item = Vec<T>>) -> anyhow::Result<()> {
        let mut writer = csv::Writer::from_writer(&mut self.writer);
        for row in rows {
            writer.write_record(row).context("cannot write the results")?;
        }
        writer.flush().context("cannot write the results")
    }

    /// Everything is written; an error here must not be lost.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.writer.flush().context("cannot write the results")
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
        When::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}
