//! `fpdb dedup --thresholds`: counts the documents that dedup would remove at each of several thresholds.

use fpdb::dedup::{DedupBy, DedupOptions};
use fpdb::{Database, Error, StopToken};
use fpdb_host::schema::{Answer, Schema};
use serde::Serialize;

use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{Render, Style, count, grouped, percent, size};
use crate::resolved::output;
use crate::run_status::RunStatus;
use crate::typed::{Global, OutputFormat};

/// The totals of a dedup with one threshold. Also their JSON (`fpdb.dedup.threshold/1`).
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct ThresholdTotals {
    schema: Schema<Self>,
    /// The minimum resemblance or containment.
    threshold: f64,
    /// Number of documents.
    documents: u64,
    /// Number of removable documents.
    removable: u64,
    /// Size of the removable documents in bytes.
    bytes: u64,
    /// Number of undecided documents, which stay.
    undecided: u64,
}

impl Answer for ThresholdTotals {
    const SCHEMA: &'static str = "fpdb.dedup.threshold/1";
}

const COLUMNS: [&str; 5] = ["threshold", "documents", "removable", "bytes", "undecided"];

impl Render for ThresholdTotals {
    fn human(&self, _: Style) -> String {
        let share = self.removable as f64 / self.documents.max(1) as f64;
        let undecided =
            if self.undecided == 0 { String::new() } else { format!("  {} undecided", grouped(self.undecided)) };
        format!(
            "{:>9}  {:>12}  {:>7}  {:>12}{undecided}\n",
            self.threshold,
            grouped(self.removable),
            percent(share),
            size(self.bytes)
        )
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let numbers = [self.documents, self.removable, self.bytes, self.undecided];
        vec![[self.threshold.to_string()].into_iter().chain(numbers.map(|number| number.to_string())).collect()]
    }
}

/// Prints the totals of each threshold.
pub(crate) fn run(
    global: &Global,
    database: &Database,
    options: &DedupOptions,
    thresholds: &[f64],
    stop: &StopToken,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    if matches!(options.by, DedupBy::Exact | DedupBy::ExactText) {
        anyhow::bail!("--thresholds is for --by resemblance and --by containment");
    }
    output::only(global, "dedup --thresholds", OutputFormat::ROWS)?;
    let mut output = Output::open(global)?;
    let documents = count(database.document_count(), "document");
    output.heading(&COLUMNS, &format!("threshold     removable    share         bytes  of {documents}\n"))?;
    for &threshold in thresholds {
        let bar = StepBar::start(printer, "reading the documents");
        let options = options.clone().threshold(threshold);
        let totals = database.for_each_removable(&options, &bar.task().stop(stop), |_| Ok::<_, Error>(()));
        bar.end();
        let summary = totals?;
        output.answer(&ThresholdTotals {
            schema: Schema::new(),
            threshold,
            documents: summary.documents,
            removable: summary.removable,
            bytes: summary.bytes,
            undecided: summary.undecided,
        })?;
        output.flush()?;
    }
    output.finish()?;
    Ok(RunStatus::Done)
}
