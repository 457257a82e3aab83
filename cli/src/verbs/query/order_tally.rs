//! Order tally: what limits the order of `query --sort oldest`.

use fpdb::{Match, QueryAnswer};
use fpdb_host::clock::TimeSource;

use crate::printer::Printer;
use crate::render::{count, time_of};

/// Counts what limits the order of `--sort oldest`.
#[derive(Default)]
pub(super) struct OrderTally {
    /// Number of matches that --top left out before they were sorted by age.
    unsorted: u64,
    /// Number of matches that were sorted by the time of a file.
    dated_by_file: u64,
}

impl OrderTally {
    pub(super) fn add(&mut self, answer: &QueryAnswer) {
        self.unsorted += answer.matching_documents.saturating_sub(answer.matches.len() as u64);
        let is_of_file = |found: &&Match| time_of(found).is_some_and(|time| time.source == TimeSource::File);
        self.dated_by_file += answer.matches.iter().filter(is_of_file).count() as u64;
    }

    pub(super) fn tell(&self, unit: &str, printer: &Printer) {
        if self.unsorted > 0 {
            let unsorted = count(self.unsorted, unit);
            printer.note(&format!(
                "{unsorted} not shown may be older: --top chooses by score, then --sort orders (--top 0 sorts all)"
            ));
        }
        if self.dated_by_file > 0 {
            let of_file = count(self.dated_by_file, unit);
            printer.note(&format!("{of_file} ordered by the time of the file: no date in the metadata is readable"));
        }
    }
}
