//! Report: answers as an HTML report for a browser.

use std::path::PathBuf;

use fpdb::dedup::{DedupAnswer, DedupSummary};
use fpdb::pairs::{PairsAnswer, PairsSummary};
use fpdb::report::{HtmlAnswers, HtmlOptions, PairEvidence, write_html};
use fpdb::{Failure, ReadOptions};
use pyo3::prelude::*;

use crate::asked::Asked;
use crate::database::NativeDatabase;
use crate::errors::parameter;
use crate::options::json;
use crate::rows::{Answers, Rows};
use crate::stream::Failed;
use crate::waiting::{Caller, wait};

/// The data that a report of rows needs besides the rows.
pub(crate) enum Origin {
    /// The queries, one for each answer.
    Asked(Asked),
    Pairs(PairsSummary),
    Dedup(DedupSummary),
}

/// The options with which answers were made.
pub(crate) struct Making {
    pub(crate) weighted: bool,
    /// The options for finding passages; `None` for queries answered without passages.
    pub(crate) evidence: Option<PairEvidence>,
    pub(crate) read: ReadOptions,
}

/// The options for the content of a report.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Showing {
    settings: Vec<(String, String)>,
    failed: Vec<Failed>,
    max_pairs: Option<usize>,
    max_size: Option<u64>,
    anonymise: bool,
    texts: bool,
    single_file: bool,
}

impl Showing {
    fn options(self, making: &Making) -> HtmlOptions {
        let mut options = HtmlOptions::default();
        let (max_pairs, max_bytes) = (options.max_pairs, options.max_bytes);
        options = options
            .settings(self.settings)
            .failures(self.failed.into_iter().map(|(name, error)| Failure { name, error }).collect())
            .max_pairs(self.max_pairs.unwrap_or(max_pairs))
            .max_bytes(self.max_size.unwrap_or(max_bytes))
            .anonymise(self.anonymise)
            .texts(self.texts)
            .single_file(self.single_file)
            .weighted(making.weighted)
            .read(making.read.clone());
        let most = |how: PairEvidence| {
            let joining = how.joining.most(Some(HtmlOptions::MAX_PASSAGES));
            how.joining(joining)
        };
        options.evidence(making.evidence.clone().map(most))
    }
}

/// Writes answers of a database as a report. Returns the summary as JSON.
#[pyfunction]
pub(crate) fn write_report(
    py: Python<'_>,
    database: &NativeDatabase,
    rows: &Rows,
    path: PathBuf,
    showing: Showing,
    caller: Caller,
) -> PyResult<String> {
    let handle = database.handle()?;
    let database = handle.database();
    let Some((origin, making)) = rows.made() else {
        return Err(parameter("there is no report of these answers: their queries or their totals are not kept"));
    };
    let answers = match (&**rows.answers(), origin) {
        (Answers::Query(answers), Origin::Asked(asked)) => {
            let sources = asked.queries.iter().map(|query| query.source().clone());
            HtmlAnswers::Queries { database, answers: sources.zip(answers.iter().cloned()).collect() }
        }
        (Answers::Pair(pairs), Origin::Pairs(summary)) => {
            let mut answer = PairsAnswer::default();
            (answer.pairs, answer.summary) = (pairs.clone(), summary.clone());
            HtmlAnswers::Pairs { database, answer }
        }
        (Answers::Removable(removable), Origin::Dedup(summary)) => {
            let mut answer = DedupAnswer::default();
            (answer.removable, answer.summary) = (removable.clone(), summary.clone());
            HtmlAnswers::Dedup { database, answer }
        }
        _ => return Err(parameter("there is no report of such answers")),
    };
    let options = showing.options(making);
    json(&wait(py, &caller, &mut (), |task, _| write_html(answers, path, &options, task)).whole()?)
}
