//! Messages: prints the messages of an ingest while it runs, and counts events for the messages at its end.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fpdb::{Error, Failure, Format, IngestSummary, SkipReason, Source};

use super::super::unread_kinds::{Noted, UnreadKinds};
use super::hints::differing;
use crate::line_list::LineList;
use crate::printer::Printer;
use crate::progress::IngestBar;
use crate::render::count;
use crate::verbs::skipped_reports::SkippedReports;

/// Names of sources whose skipping is always printed: paths from a list, and folders that may be databases.
pub(super) fn noted_sources(sources: &[Source]) -> HashSet<String> {
    let is_noted =
        |source: &&Source| matches!(source, Source::Listed(_)) || source.path().is_some_and(|path| path.is_dir());
    sources.iter().filter(is_noted).filter_map(|source| source.name().ok()).collect()
}

/// Prints messages and counts events during an ingest.
pub(super) struct Messages<'a> {
    pub(super) printer: &'a Printer,
    pub(super) progress: IngestBar,
    /// True if documents in no programming language are noted.
    pub(super) expects_programs: bool,
    /// Absolute paths for which [`Events::read_from`] must show if a document was read there.
    pub(super) awaited: HashSet<String>,
    pub(super) events: Mutex<Events>,
}

/// Events that affect later messages.
#[derive(Default)]
pub(super) struct Events {
    /// The awaited paths at which a document was read.
    pub(super) read_from: HashSet<String>,
    /// Names of sources whose skipping is printed even without --verbose.
    pub(super) noted: HashSet<String>,
    pub(super) failures: Option<LineList>,
    /// Number of failures that were printed.
    pub(super) shown: u64,
    /// Number of symbolic links that were skipped.
    pub(super) links: u64,
    pub(super) unread_kinds: UnreadKinds,
    /// Reports of fpdb that were skipped.
    pub(super) reports: SkippedReports,
    /// New documents in no programming language, in a database of source code.
    pub(super) no_program: Noted,
    pub(super) without_text: Noted,
    /// Documents with too little text.
    pub(super) too_short: Noted,
    /// Documents that their containers no longer hold, or whose new contents are kept out.
    pub(super) removed: Noted,
    /// Parts of a file that have the name of another part.
    pub(super) same_name: Noted,
    /// Documents whose files are gone.
    pub(super) pruned: Noted,
    /// The first document that was read from another place, and that place.
    pub(super) elsewhere: Option<(String, String)>,
    /// The first file whose document is named by its path: the name as typed, the name of the document, and
    /// the other file that has the typed name. The flag is true if that other file is gone and had other
    /// bytes.
    pub(super) named_by_path: Option<(String, String, (String, bool))>,
    /// An old document whose file is gone, and a new document with the same content. If there are several
    /// such pairs, this is the pair whose names differ least: the other new documents may be copies of the
    /// moved file.
    pub(super) moved: Option<(String, String)>,
    /// True if a document from standard input has replaced an earlier one, and neither has a name of its own.
    pub(super) input_replaced: bool,
    /// True if `--prune` has removed the old document of `moved`.
    pub(super) old_is_pruned: bool,
    /// Number of added documents that are source code by their names.
    pub(super) programs: u64,
}

impl Messages<'_> {
    /// Prints a detail that only `--verbose` shows. Without `--verbose`, returns early, so that the bar is
    /// not redrawn for each document.
    fn detail(&self, text: impl FnOnce() -> String) {
        if self.printer.verbose {
            self.progress.suspend(|| self.printer.detail(&text()));
        }
    }

    pub(super) fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fpdb::Progress for Messages<'_> {
    fn read(&self, bytes: u64) {
        self.progress.read(bytes);
    }

    fn document(&self, name: &str, outcome: fpdb::Outcome, format: &str) {
        self.progress.documents(1);
        // Detects the language by the name alone, because a database of prose reads programs as text.
        let named = || fpdb::normalize::language_of(name, b"").is_some();
        let format_named = Format::named(format).filter(|_| outcome == fpdb::Outcome::Added);
        if format_named == Some(Format::Text) && named() {
            self.events().programs += 1;
        }
        if outcome == fpdb::Outcome::Replaced && name == "-" {
            self.events().input_replaced = true;
        }
        let is_program = format_named.is_none_or(|format| matches!(format, Format::Code(_) | Format::Notebook));
        if self.expects_programs && !is_program {
            self.events().no_program.note(name);
        }
        let outcome = match outcome {
            fpdb::Outcome::Added => "added",
            fpdb::Outcome::Replaced => "replaced",
            fpdb::Outcome::Unchanged => "unchanged",
            fpdb::Outcome::Kept => "kept as stored",
        };
        self.detail(|| format!("{outcome} {name} ({format})"));
    }

    fn of_file(&self, path: &str) {
        if !self.awaited.is_empty() {
            let around = Path::new(path).ancestors().filter_map(|path| self.awaited.get(path.to_str()?));
            self.events().read_from.extend(around.cloned());
        }
    }

    fn named_by_path(&self, typed: &str, name: &str, (other, had_other_bytes): (&str, bool)) {
        let noted = || (typed.to_owned(), name.to_owned(), (other.to_owned(), had_other_bytes));
        self.events().named_by_path.get_or_insert_with(noted);
        self.detail(|| format!("named {name}: {typed} is {other}"));
    }

    fn skipped(&self, name: &str, reason: &SkipReason) {
        let mut events = self.events();
        events.links += u64::from(*reason == SkipReason::SymbolicLink);
        events.unread_kinds.note(name, reason);
        let of_report = if *reason == SkipReason::Report { events.reports.named(name) } else { None };
        if let Some(name) = of_report.or_else(|| events.noted.contains(name).then_some(name)) {
            self.progress.suspend(|| self.printer.note(&format!("skipped {name}: {reason}")));
        } else {
            self.detail(|| format!("skipped {name}: {reason}"));
        }
    }

    fn without_text(&self, name: &str) {
        self.events().without_text.note(name);
        self.detail(|| format!("{name} has no text"));
    }

    fn too_short(&self, name: &str) {
        self.events().too_short.note(name);
        self.detail(|| format!("{name} has too little text to compare"));
    }

    fn unchanged(&self, name: &str, documents: u64) {
        self.progress.documents(documents);
        self.detail(|| format!("unchanged {name}, with {}", count(documents, "document")));
    }

    fn same_name(&self, name: &str) {
        self.events().same_name.note(name);
        self.detail(|| format!("{name} is twice in its file, with different contents"));
    }

    fn removed(&self, name: &str) {
        self.events().removed.note(name);
        self.detail(|| format!("removed {name}: its container no longer holds it or its new content is kept out"));
    }

    fn pruned(&self, name: &str) {
        let mut events = self.events();
        events.old_is_pruned |= events.moved.as_ref().is_some_and(|(old, _)| old == name);
        events.pruned.note(name);
        drop(events);
        self.detail(|| format!("removed {name}: its file no longer exists"));
    }

    fn elsewhere(&self, name: &str, source: &str) {
        self.events().elsewhere.get_or_insert_with(|| (name.to_owned(), source.to_owned()));
        self.detail(|| format!("kept {name}: it was read from {source}"));
    }

    fn renamed(&self, old: &str, new: &str) {
        self.detail(|| format!("renamed {old} to {new}"));
    }

    fn moved(&self, old: &str, new: &str) {
        let mut events = self.events();
        if events.moved.as_ref().is_none_or(|(known, place)| differing(old, new) < differing(known, place)) {
            events.moved = Some((old.to_owned(), new.to_owned()));
        }
        drop(events);
        self.detail(|| format!("{new} is the same as {old}, whose file no longer exists"));
    }

    fn failed(&self, name: &str, error: &Error) {
        let mut events = self.events();
        if events.shown < IngestSummary::LISTED as u64 {
            events.shown += 1;
            self.progress.suspend(|| self.printer.failure(name, error));
        }
        if let Some(list) = &mut events.failures {
            list.push(&Failure::of(name, error));
        }
    }
}
