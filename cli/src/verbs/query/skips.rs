//! Skips: the files in queried folders and containers that are no documents.

use std::sync::{Mutex, PoisonError};

use fpdb::SkipReason;

use super::super::unread_kinds::UnreadKinds;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::count;
use crate::verbs::skipped_reports::SkippedReports;

/// The skipped files in folders and containers.
#[derive(Default)]
pub(super) struct Skipped {
    /// Number of files of other kinds than those of `unread_kinds`.
    files: u64,
    reports: SkippedReports,
    unread_kinds: UnreadKinds,
}

impl Skipped {
    /// Prints those of kinds that can be converted, and the number of the others.
    pub(super) fn tell(&self, printer: &Printer) {
        if self.files > 0 {
            let (are, were) = if self.files == 1 { ("is no document", "was") } else { ("are no documents", "were") };
            printer.note(&format!("{} {are} and {were} skipped (--verbose names them)", count(self.files, "file")));
        }
        self.unread_kinds.tell("query", printer);
    }
}

/// Notes skipped files and shows the steps on the bar.
pub(super) struct Skips<'a> {
    bar: &'a StepBar,
    printer: &'a Printer,
    skipped: Mutex<Skipped>,
}

impl<'a> Skips<'a> {
    pub(super) fn new(bar: &'a StepBar, printer: &'a Printer, skipped: Skipped) -> Self {
        Self { bar, printer, skipped: Mutex::new(skipped) }
    }

    pub(super) fn into_skipped(self) -> Skipped {
        self.skipped.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fpdb::Progress for Skips<'_> {
    fn step(&self, step: &'static str, done: u64, total: u64) {
        self.bar.show(step, done, total);
    }

    fn skipped(&self, name: &str, reason: &SkipReason) {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        // A message of its own counts files of unread kinds.
        let is_told = skipped.unread_kinds.note(name, reason);
        skipped.files += u64::from(!is_told);
        match if *reason == SkipReason::Report { skipped.reports.named(name) } else { None } {
            Some(name) => self.bar.suspend(|| self.printer.note(&format!("skipped {name}: {reason}"))),
            None => self.printer.detail(&format!("skipped {name}: {reason}")),
        }
    }
}
