//! `--format html`: the flags of a report, what it says of the flags of its command, and writing it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::report::Failure;
use fpdb::report::html::{About, DocumentTexts, Limits, Options, Report, write};
use tempfile::NamedTempFile;

use super::args::{Format, Global};
use super::comparing::ReportArgs;
use super::place;
use super::printer::Printer;

/// A report that is to be written.
pub(super) struct Html<'a> {
    global: &'a Global,
    path: &'a Path,
    args: &'a ReportArgs,
}

impl<'a> Html<'a> {
    /// The report that is asked for, if one is.
    ///
    /// # Errors
    /// A report without a place, and flags of a report without one.
    pub(super) fn wanted(global: &'a Global, args: &'a ReportArgs) -> anyhow::Result<Option<Self>> {
        if global.format != Format::Html {
            let given = [
                ("--single-file", args.single_file),
                ("--max-report-pairs", args.max_report_pairs.is_some()),
                ("--max-report-size", args.max_report_size.is_some()),
                ("--anonymise", args.anonymise),
                ("--no-text", args.no_text),
            ];
            if let Some((flag, _)) = given.into_iter().find(|&(_, given)| given) {
                anyhow::bail!("{flag} is for --format html");
            }
            return Ok(None);
        }
        let Some(path) = global.output.as_deref() else {
            anyhow::bail!("--format html writes a folder: name it with -o DIR (with --single-file, -o FILE.html)");
        };
        let is_page = path.extension().is_some_and(|extension| extension == "html" || extension == "htm");
        if is_page && !args.single_file {
            anyhow::bail!("{} looks like one file: add --single-file, or name a folder with -o", path.display());
        }
        Ok(Some(Self { global, path, args }))
    }

    /// What a report says of the flags that were given, `None` being those that were not.
    ///
    /// # Errors
    /// What keeps the database from being found.
    pub(super) fn about(&self, flags: Vec<(&str, Option<String>)>, failures: Vec<Failure>) -> anyhow::Result<About> {
        let options = flags.into_iter().filter_map(|(flag, value)| Some((flag.to_owned(), value?))).collect();
        let max_pairs = self.args.max_report_pairs.map_or(Limits::default().pairs, |pairs| pairs as usize);
        let database = place::find(self.global)?.map_or_else(String::new, |path| place::shown(&path));
        Ok(About { database, options, failures, max_pairs, weighted: false })
    }

    /// Writes the report. Returns whether all texts could be read again.
    pub(super) fn write(&self, report: Report, texts: &DocumentTexts<'_>, printer: &Printer) -> anyhow::Result<bool> {
        let options = Options {
            max_bytes: self.args.max_report_size.unwrap_or(Limits::default().bytes),
            anonymise: self.args.anonymise,
            texts: !self.args.no_text,
            single_file: self.args.single_file,
        };
        let left = report.overview.left_out.pairs;
        let written = write(report, texts, self.path, &options)?;
        let page = if options.single_file { self.path.to_owned() } else { self.path.join("index.html") };
        printer.note(&format!("wrote {} ({} files, {} bytes)", page.display(), written.files, written.bytes));
        if left > 0 {
            printer.note(&format!("{left} pairs of lesser score are not in it (--max-report-pairs)"));
        }
        if written.unreadable > 0 {
            printer.note(&format!(
                "the texts of {} documents could not be read again: the report names them",
                written.unreadable
            ));
        }
        Ok(written.unreadable == 0)
    }
}

/// Standard input as a file, since a report reads a text twice. It is gone when this is dropped.
#[derive(Default)]
pub(super) struct Spooled(Option<NamedTempFile>);

impl Spooled {
    /// Copies standard input to a file if one of `paths` is `-`.
    pub(super) fn of<'a>(mut paths: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<Self> {
        if !paths.any(|path| path.as_os_str() == "-") {
            return Ok(Self(None));
        }
        let mut file = NamedTempFile::new().context("cannot create a temporary file")?;
        io::copy(&mut io::stdin().lock(), &mut file)
            .and_then(|_| file.flush())
            .context("cannot copy standard input to a temporary file")?;
        Ok(Self(Some(file)))
    }

    /// Where the text of a path is to be read.
    pub(super) fn place(&self, path: &Path) -> PathBuf {
        match &self.0 {
            Some(file) if path.as_os_str() == "-" => file.path().to_owned(),
            _ => path.to_owned(),
        }
    }

    /// Gives the document that was read from `path` its name back.
    pub(super) fn rename(&self, path: &Path, name: &mut String) {
        if self.0.is_some() && path == Path::new("-") {
            "-".clone_into(name);
        }
    }
}
