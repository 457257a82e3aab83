//! Answer: all types that commands write, each with its text, its rows and its JSON. An output format writes
//! one of the three.

use std::cell::RefCell;
use std::io::{self, Write};

use fpdb::apply::{Act, Action, Applied, ApplySummary, Lost, ProofSummary};
use fpdb::dedup::{DedupPlan, DedupRow, DedupSummary};
use fpdb::maintenance::{DatabaseStats, ListedBackup, Verification};
use fpdb::pairs::Pair;
use fpdb::repeats::{RepeatRow, RepeatSummary};
use fpdb::staging::Assembly;
use fpdb::{CorpusAnswer, DocumentInfo, IngestSummary, QueryAnswer};
use serde::Serialize;

use super::apply::{applied_line, apply_summary_line, lost_line, proof_summary_line};
use super::assembly::assembly_page;
use super::corpus::{corpus_line, corpus_row};
use super::csv::{dedup_row, document_row, pair_rows, query_rows};
use super::dedup::{dedup_plan_page, dedup_summary_line, removable_line, superseded_line, undecided_line};
use super::human::{document_line, document_page, ingest_page, query_page};
use super::numbers::{count, moment, size};
use super::pairs::{PairColumns, file_lines, pair_line};
use super::repeats::{repeat_line, repeat_row, repeat_summary_lines, uncompared_line, uncompared_row};
use super::stats::stats_page;
use super::style::Style;
use super::verification::verify_page;
use crate::excerpt::Excerpts;

/// An answer, or one row of it, for each kind of output.
pub(crate) trait Render {
    /// True if `--quiet` leaves out the text for people.
    fn is_chatty(&self) -> bool {
        false
    }

    /// Text for people, in whole lines.
    fn human(&self, style: Style) -> String;

    /// The rows of a table, with the columns that the command names in its heading. Totals have no rows.
    fn rows(&self) -> Vec<Vec<String>> {
        Vec::new()
    }
}

/// An answer that any output format can write. Its JSON is made by `serde` from the answer itself.
pub(crate) trait Answer: Render {
    /// Writes one JSON value without a line end.
    fn json(&self, to: &mut dyn Write) -> io::Result<()>;
}

impl<T: Render + Serialize> Answer for T {
    fn json(&self, to: &mut dyn Write) -> io::Result<()> {
        Ok(serde_json::to_writer(to, self)?)
    }
}

/// The answer of a command whose messages for people go to standard error.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Spoken<'a, T> {
    pub(crate) report: &'a T,
    /// The text for people on standard output.
    #[serde(skip)]
    pub(crate) text: &'a str,
}

impl<T> Render for Spoken<'_, T> {
    fn human(&self, _: Style) -> String {
        self.text.to_owned()
    }
}

impl Render for IngestSummary {
    /// A dry run has no other result than this text, so `--quiet` does not suppress it.
    fn is_chatty(&self) -> bool {
        !self.dry_run
    }

    fn human(&self, _: Style) -> String {
        ingest_page(self)
    }
}

impl Render for Assembly {
    fn is_chatty(&self) -> bool {
        true
    }

    fn human(&self, _: Style) -> String {
        assembly_page(self)
    }
}

/// The answer to a query.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct QueryPage<'a> {
    pub(crate) answer: &'a QueryAnswer,
    #[serde(skip)]
    pub(crate) by_submission: bool,
    /// True if the page for people shows the times of documents, and CSV the times of files.
    #[serde(skip)]
    pub(crate) times: bool,
    /// Finds the lines of text to show with each passage. `None` if the user wants no such lines.
    #[serde(skip)]
    pub(crate) excerpts: RefCell<Option<Excerpts<'a>>>,
}

impl Render for QueryPage<'_> {
    fn human(&self, style: Style) -> String {
        query_page(self.answer, self.times, style, &mut |found, at| match &mut *self.excerpts.borrow_mut() {
            Some(excerpts) => excerpts.lines(found, at),
            None => Vec::new(),
        })
    }

    fn rows(&self) -> Vec<Vec<String>> {
        query_rows(self.answer, self.by_submission, self.times)
    }
}

impl Render for CorpusAnswer {
    fn human(&self, style: Style) -> String {
        corpus_line(self, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![corpus_row(self)]
    }
}

/// A pair.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct PairLine<'a> {
    pub(crate) pair: &'a Pair,
    #[serde(skip)]
    pub(crate) columns: PairColumns,
    /// The folder that all documents lie in.
    #[serde(skip)]
    pub(crate) folder: &'a str,
}

impl Render for PairLine<'_> {
    fn human(&self, style: Style) -> String {
        let Self { pair, columns, folder } = *self;
        pair_line(pair, columns, folder, style) + &file_lines(pair, columns, folder, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        pair_rows(self.pair, self.columns)
    }
}

/// A decision of dedup.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct DedupLine<'a> {
    pub(crate) row: DedupRow,
    /// The folder that all documents lie in.
    #[serde(skip)]
    pub(crate) folder: &'a str,
}

impl Render for DedupLine<'_> {
    fn human(&self, style: Style) -> String {
        match &self.row {
            DedupRow::Removable(removable) => removable_line(removable, self.folder, style),
            DedupRow::Undecided(undecided) => undecided_line(undecided, self.folder, style),
            DedupRow::Superseded(superseded) => superseded_line(superseded, self.folder, style),
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![dedup_row(&self.row).into()]
    }
}

impl Render for DedupSummary {
    fn human(&self, _: Style) -> String {
        dedup_summary_line(self)
    }
}

impl Render for DedupPlan {
    fn human(&self, _: Style) -> String {
        dedup_plan_page(self)
    }
}

impl Render for RepeatRow {
    fn human(&self, style: Style) -> String {
        match self {
            Self::Repeat(repeat) => repeat_line(repeat, style),
            Self::Uncompared(uncompared) => uncompared_line(uncompared, style),
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![match self {
            Self::Repeat(repeat) => repeat_row(repeat),
            Self::Uncompared(uncompared) => uncompared_row(uncompared),
        }]
    }
}

impl Render for RepeatSummary {
    fn human(&self, _: Style) -> String {
        repeat_summary_lines(self)
    }
}

/// The action on one file.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct AppliedLine<'a> {
    pub(crate) applied: &'a Applied,
    #[serde(skip)]
    pub(crate) action: &'a Action,
    /// True if a line for several files names this file.
    #[serde(skip)]
    pub(crate) in_group: bool,
}

impl Render for AppliedLine<'_> {
    fn human(&self, _: Style) -> String {
        let (applied, copies) = (self.applied, self.action.copies_to().is_some());
        // Files that are copied whole, and copies that stay as they are, are counted but have no line.
        let is_plain = applied.reason.is_none() && (applied.act == Act::Copy || copies && applied.done_before);
        if is_plain || self.in_group { String::new() } else { applied_line(applied, copies) }
    }
}

/// The totals of an apply.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct ApplyTotals<'a> {
    pub(crate) summary: &'a ApplySummary,
    #[serde(skip)]
    pub(crate) action: &'a Action,
    /// Number of files that were written, removed, linked or moved, or would be in a dry run.
    #[serde(skip)]
    pub(crate) files: u64,
}

impl Render for ApplyTotals<'_> {
    fn human(&self, _: Style) -> String {
        apply_summary_line(self.summary, self.action, self.files)
    }
}

impl Render for Lost {
    fn human(&self, _: Style) -> String {
        lost_line(self)
    }
}

impl Render for ProofSummary {
    fn human(&self, _: Style) -> String {
        proof_summary_line(self)
    }
}

/// All facts about a document.
impl Render for DocumentInfo {
    fn human(&self, style: Style) -> String {
        document_page(self, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        vec![document_row(self)]
    }
}

/// A document of a list.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct DocumentLine<'a> {
    pub(crate) document: &'a DocumentInfo,
    /// The folder that all documents lie in.
    #[serde(skip)]
    pub(crate) folder: &'a str,
}

impl Render for DocumentLine<'_> {
    fn human(&self, style: Style) -> String {
        // A document that was added in the meantime may lie outside the folder.
        let folder = if self.document.name.starts_with(self.folder) { self.folder } else { "" };
        document_line(self.document, folder, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        self.document.rows()
    }
}

/// The figures of a database.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct StatsPage<'a> {
    pub(crate) stats: &'a DatabaseStats,
    #[serde(skip)]
    pub(crate) verbose: bool,
}

impl Render for StatsPage<'_> {
    fn human(&self, _: Style) -> String {
        stats_page(self.stats, self.verbose)
    }
}

impl Render for ListedBackup {
    fn human(&self, _: Style) -> String {
        let documents = self.documents.map_or_else(|| "documents not counted".to_owned(), |n| count(n, "document"));
        let made = if self.made_at == 0 { "at an unknown time".to_owned() } else { moment(self.made_at) };
        format!("{}  {made}  {documents}, {}\n", self.number, size(self.bytes))
    }
}

impl Render for Verification {
    fn human(&self, _: Style) -> String {
        verify_page(self)
    }
}
