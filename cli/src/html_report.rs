//! `--format html`: checks the flags of a report, lists the settings that it shows, and writes it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fpdb::report::{HtmlAnswers, HtmlOptions, check_place, write_html};
use fpdb::{DocumentError, Error, QuerySource};
use fpdb_host::temporary::Temporary;
use fpdb_reading::recognise::{LAYER_HEAD, holds_records};
use tempfile::NamedTempFile;

use crate::interrupt;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, is, size};
use crate::resolved::database;
use crate::setting::Setting;
use crate::typed::{Global, OutputFormat, ReportArgs};

/// A report to be written.
pub(super) struct HtmlReport<'a> {
    global: &'a Global,
    path: &'a Path,
    args: &'a ReportArgs,
}

impl<'a> HtmlReport<'a> {
    /// Returns the report to write; `None` without `--format html`.
    ///
    /// # Errors
    /// Fails for a report without `-o`, for flags of a report with another format, and for a place where no
    /// report can be written.
    pub(super) fn wanted(global: &'a Global, args: &'a ReportArgs) -> anyhow::Result<Option<Self>> {
        if global.format != OutputFormat::Html {
            let given = [
                ("--single-file", args.single_file),
                ("--max-report-pairs", args.max_report_pairs.is_some()),
                ("--max-report-size", args.max_report_size.is_some()),
                ("--anonymise", args.anonymise),
                ("--no-text", args.no_text && global.format != OutputFormat::Human),
            ];
            if let Some((flag, _)) = given.into_iter().find(|&(_, given)| given) {
                anyhow::bail!("{flag} is for reports (--format html)");
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
        check_place(path, args.single_file)?;
        Ok(Some(Self { global, path, args }))
    }

    /// Maximum number of passages of a pair. Only a report has such a limit.
    pub(super) fn most_passages(html: Option<&Self>) -> Option<usize> {
        html.map(|_| HtmlOptions::MAX_PASSAGES)
    }

    /// The options of a report that shows these settings.
    ///
    /// # Errors
    /// Fails if the database cannot be found.
    pub(super) fn options(&self, settings: Vec<Setting>) -> anyhow::Result<HtmlOptions> {
        let settings = settings.into_iter().filter_map(|setting| setting.shown(self.args.anonymise)).collect();
        let default = HtmlOptions::default();
        let (max_pairs, max_bytes) = (default.max_pairs, default.max_bytes);
        Ok(default
            .database(database::find(self.global)?.map(|path| database::display_path(&path)))
            .settings(settings)
            .max_pairs(self.args.max_report_pairs.map_or(max_pairs, |pairs| pairs as usize))
            .max_bytes(self.args.max_report_size.unwrap_or(max_bytes))
            .anonymise(self.args.anonymise)
            .texts(!self.args.no_text)
            .single_file(self.args.single_file))
    }

    /// Writes the report. Returns true if all texts could be read again.
    pub(super) fn write(
        &self,
        answers: HtmlAnswers<'_>,
        options: &HtmlOptions,
        printer: &Printer,
    ) -> anyhow::Result<bool> {
        let stop = interrupt::graceful("stopping; press Ctrl-C again to stop at once");
        let bar = StepBar::start(printer, "writing the report");
        let is_dedup = matches!(answers, HtmlAnswers::Dedup { .. });
        let written = write_html(answers, self.path, options, &bar.task().stop(stop));
        bar.end();
        let written = written?;
        // The rest of the command is short, so Ctrl-C may end the program at once.
        interrupt::at_once();
        let left = written.pairs_left_out;
        let page = if options.single_file { self.path.to_owned() } else { self.path.join("index.html") };
        printer.note(&format!("wrote {} ({}, {})", page.display(), count(written.files, "file"), size(written.bytes)));
        if left > 0 {
            let what = if is_dedup {
                format!("{} of smaller groups", count(left, "removable document"))
            } else {
                format!("{} with a lower score", count(left, "further pair"))
            };
            printer.note(&format!("{what} {} not in it (--max-report-pairs)", is(left)));
        }
        if written.unreadable > 0 {
            printer.note(&format!(
                "the texts of {} could not be read again: the report names them",
                count(written.unreadable, "document")
            ));
        }
        Ok(written.unreadable == 0)
    }
}

/// Files with the content of standard input and pipes, because a report reads a text twice. The files are
/// deleted on drop.
#[derive(Default)]
pub(super) struct TemporaryCopies(Vec<(PathBuf, NamedTempFile, Temporary)>);

impl TemporaryCopies {
    /// Copies standard input, which has this name, and pipes among `paths`.
    ///
    /// # Errors
    /// Fails if the input is JSON lines and `closed` is false, and for errors of reading and writing.
    pub(super) fn of<'a>(paths: impl Iterator<Item = &'a PathBuf>, closed: bool, name: &str) -> anyhow::Result<Self> {
        let mut spooled = Self::default();
        for path in paths.filter(|path| is_read_once(path)) {
            if spooled.find(path).is_some() {
                continue;
            }
            let is_input = path.as_os_str() == "-";
            // The extension of the copy tells its format.
            let end = Path::new(name).extension().filter(|_| is_input);
            let suffix = end.map_or_else(String::new, |end| format!(".{}", end.display()));
            let file = tempfile::Builder::new().suffix(&suffix).tempfile();
            let mut file = file.context("cannot create a temporary file")?;
            let noted = Temporary::new(file.path());
            let copied = match is_input {
                true => io::copy(&mut io::stdin().lock(), &mut file),
                false => File::open(path).and_then(|mut pipe| io::copy(&mut pipe, &mut file)),
            };
            copied
                .and_then(|_| file.flush())
                .with_context(|| format!("cannot copy {} to a temporary file", path.display()))?;
            let head = head_of(file.path()).with_context(|| format!("cannot read {}", path.display()))?;
            if !closed && holds_records(&path.to_string_lossy(), &head) {
                let path = if is_input { PathBuf::from("standard input") } else { path.clone() };
                return Err(Error::Document(DocumentError::RecordsWithoutName { path }).into());
            }
            spooled.0.push((path.clone(), file, noted));
        }
        Ok(spooled)
    }

    fn find(&self, path: &Path) -> Option<&NamedTempFile> {
        self.0.iter().find(|(spooled, _, _)| spooled == path).map(|(_, file, _)| file)
    }

    /// The path from which to read the text of `path`.
    pub(super) fn place(&self, path: &Path) -> PathBuf {
        self.find(path).map_or_else(|| path.to_owned(), |file| file.path().to_owned())
    }

    /// True if a source is one of the copies.
    pub(super) fn hold(&self, source: &QuerySource) -> bool {
        matches!(source, QuerySource::File(path) if self.0.iter().any(|(_, file, _)| file.path() == path))
    }

    /// Replaces the name of a copy by the path that was typed.
    pub(super) fn rename(&self, path: &Path, name: &mut String) {
        if self.find(path).is_some() {
            *name = path.display().to_string();
        }
    }
}

/// The beginning of a copy, enough to recognise its format.
fn head_of(copy: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(copy)?.take(LAYER_HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// True for standard input and pipes.
pub(super) fn is_read_once(path: &Path) -> bool {
    if std::fs::metadata(path).is_ok_and(|facts| std::os::unix::fs::FileTypeExt::is_fifo(&facts.file_type())) {
        return true;
    }
    path.as_os_str() == "-"
}
