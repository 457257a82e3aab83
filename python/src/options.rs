//! Options: what Python gives as names and values, as the library has them. Values that make no sense are
//! refused in its words.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fpdb::apply::{Action, ApplyOptions};
use fpdb::dedup::{DedupBy, DedupOptions};
use fpdb::pairs::{GroupBy, PairsOptions, Since};
use fpdb::repeats::RepeatOptions;
use fpdb::report::PairEvidence;
use fpdb::{
    Error, IngestOptions, InputLimits, PassageOptions, Phrases, Profile, QueryOptions, ReadOptions, ReaderProcess,
    RecordFields, WalkOptions, submission_pattern,
};
use pyo3::prelude::*;

use crate::errors::{parameter, raise};

fn invalid(name: &'static str, value: &str, expected: &'static str) -> PyErr {
    raise(Error::InvalidParameter { name, value: value.to_owned(), expected })
}

/// A profile by its name, or of its JSON.
pub(crate) fn profile_of(text: &str) -> PyResult<Profile> {
    if let Some(profile) = Profile::named(text) {
        return Ok(profile);
    }
    if !text.starts_with('{') {
        return Err(invalid("the profile", text, "prose, text, words, code, bytes, or a Profile"));
    }
    serde_json::from_str(text).map_err(|error| parameter(&error.to_string()))
}

/// The whole JSON of a profile, which is given by its name or by JSON that may leave fields out. Refuses
/// impossible values.
#[pyfunction]
pub(crate) fn profile(text: &str) -> PyResult<String> {
    json(&profile_of(text)?)
}

/// An answer as its JSON.
pub(crate) fn json(answer: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(answer).map_err(|error| parameter(&error.to_string()))
}

/// How documents are read.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    format: String,
    /// The program that reads documents in a process of its own, and its arguments.
    reader: Option<Vec<String>>,
    /// Limits of the input, by the fields of [`InputLimits`].
    limits: BTreeMap<String, u64>,
}

impl Reading {
    pub(crate) fn options(&self) -> PyResult<ReadOptions> {
        let process = match self.reader.as_deref() {
            Some([program, arguments @ ..]) => Some(ReaderProcess::new(program, arguments)),
            _ => None,
        };
        let mut limits = InputLimits::default().process(process);
        for (name, &value) in &self.limits {
            limits = limits.with(name, value).map_err(raise)?;
        }
        Ok(ReadOptions::default().front_end(self.format.parse().map_err(raise)?).limits(limits))
    }
}

/// Which files of folders are documents.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Walking {
    exclude: Vec<String>,
    include: Vec<String>,
    skip_hidden: bool,
    follow: bool,
}

impl Walking {
    pub(crate) fn options(self) -> WalkOptions {
        WalkOptions::default()
            .exclude(self.exclude)
            .include(self.include)
            .skip_hidden(self.skip_hidden)
            .follow(self.follow)
    }
}

/// How to ingest.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ingesting {
    reading: Reading,
    walking: Walking,
    on_change: String,
    store_text: bool,
    boilerplate: bool,
    prune: bool,
    text: String,
    id: String,
    keep: Vec<String>,
}

impl Ingesting {
    pub(crate) fn options(self) -> PyResult<IngestOptions> {
        let fields = RecordFields::default().text(self.text).id(self.id).keep(self.keep);
        let options = IngestOptions::default()
            .on_change(self.on_change.parse().map_err(raise)?)
            .store_text(self.store_text)
            .boilerplate(self.boilerplate)
            .prune(self.prune)
            .walk(self.walking.options())
            .read(self.reading.options()?.fields(fields));
        options.check().map_err(raise)?;
        Ok(options)
    }
}

/// How to query.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Querying {
    pub(crate) reading: Reading,
    mode: String,
    window: Option<u32>,
    n: Option<u64>,
    top: Option<usize>,
    min_score: f64,
    max_df: Option<u64>,
    passages: bool,
    weight: String,
    joining: Joining,
    ignoring: Ignoring,
    /// A folder of submissions, or a regular expression.
    submission_by: Option<String>,
}

impl Querying {
    pub(crate) fn options(self, profile: &Profile) -> PyResult<QueryOptions> {
        Ok(QueryOptions::default()
            .mode(self.mode.parse().map_err(raise)?)
            .window(self.window)
            .n(self.n)
            .top(self.top)
            .min_score(self.min_score)
            .max_df(self.max_df)
            .passages(self.passages)
            .weight(self.weight.parse().map_err(raise)?)
            .submission_by(self.submission_by.as_deref().map(submission_pattern))
            .read(self.ignoring.read(&self.reading)?)
            .phrases(self.ignoring.phrases(profile)?)
            .joining(self.joining.options()))
    }
}

/// How shared runs become passages.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Joining {
    rewritten: bool,
    gap: Option<u32>,
    min_passage: u64,
}

impl Joining {
    pub(crate) fn options(&self) -> PassageOptions {
        PassageOptions::default().rewritten(self.rewritten).gap(self.gap).least(self.min_passage)
    }
}

/// Which text of a query does not count.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ignoring {
    skip_quotes: bool,
    /// A file of phrases.
    phrases: Option<PathBuf>,
}

impl Ignoring {
    pub(crate) fn read(&self, reading: &Reading) -> PyResult<ReadOptions> {
        Ok(reading.options()?.skip_quotes(self.skip_quotes))
    }

    pub(crate) fn phrases(&self, profile: &Profile) -> PyResult<Option<Phrases>> {
        let read = |path: &PathBuf| Phrases::read(path, profile).map_err(raise);
        self.phrases.as_ref().map(read).transpose()
    }
}

/// Which pairs are wanted.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Pairing {
    min_shared: Option<u64>,
    min_resemblance: Option<f64>,
    min_containment: Option<f64>,
    max_df: Option<u64>,
    across: Vec<String>,
    old: Vec<String>,
    group_by: Option<String>,
    /// A folder of submissions, or a regular expression.
    submission_by: Option<String>,
    new_since: Option<u32>,
    weight: String,
    top: Option<u64>,
    /// How the documents of pairs are read again, for their own text or passages.
    reading: Reading,
    own_text: bool,
    pub(crate) passages: bool,
    joining: Joining,
}

impl Pairing {
    pub(crate) fn options(&self, profile: &Profile) -> PyResult<PairsOptions> {
        let options = PairsOptions::at_least(profile, self.min_shared, self.min_resemblance, self.min_containment);
        let own_text = if self.own_text { Some(self.reading.options()?.limits) } else { None };
        Ok(options
            .top(self.top)
            .own_text(own_text)
            .max_df(self.max_df)
            .across(self.across.clone())
            .old(self.old.clone())
            .group_by(match self.group_by.clone() {
                None => GroupBy::Metadata,
                Some(pattern) if pattern.is_empty() => GroupBy::Nothing,
                Some(pattern) => GroupBy::Name(pattern),
            })
            .submission_by(self.submission_by.as_deref().map(submission_pattern))
            .new_since(self.new_since.map(|id| Since::Document(fpdb::DocId(id))))
            .weight(self.weight.parse().map_err(raise)?))
    }

    /// How the passages of pairs are found, and the bounds on documents that are read again.
    pub(crate) fn evidence(&self) -> PyResult<PairEvidence> {
        Ok(PairEvidence::default()
            .max_df(self.max_df)
            .joining(self.joining.options())
            .limits(self.reading.options()?.limits))
    }
}

/// How to look for repeated passages.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Repeating {
    min_length: Option<u32>,
    temp_dir: Option<PathBuf>,
    reading: Reading,
}

impl Repeating {
    pub(crate) fn options(self, profile: &Profile) -> PyResult<RepeatOptions> {
        let options = RepeatOptions::of(profile);
        let min_length = self.min_length.unwrap_or(options.min_length);
        Ok(options.min_length(min_length).temp_dir(self.temp_dir).limits(self.reading.options()?.limits))
    }
}

/// The rule by which a document is removable.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ruling {
    by: String,
    /// None for the default.
    threshold: Option<f64>,
    /// None for the default of the profile.
    max_novel: Option<u64>,
    any_novel: bool,
}

impl Ruling {
    fn options(self, profile: &Profile) -> PyResult<DedupOptions> {
        let by: DedupBy = self.by.parse().map_err(raise)?;
        let options = DedupOptions::of(profile, by);
        let bounds =
            [("threshold", self.threshold.is_some()), ("max_novel", self.max_novel.is_some() || self.any_novel)];
        if let (DedupBy::Exact | DedupBy::ExactText, Some((name, _))) = (by, bounds.into_iter().find(|bound| bound.1)) {
            return Err(invalid(name, &format!("given with {}", self.by), "None unless by resemblance or containment"));
        }
        let threshold = self.threshold.unwrap_or(options.threshold);
        let max_novel = if self.any_novel { None } else { self.max_novel.or(options.max_novel) };
        Ok(options.threshold(threshold).max_novel(max_novel))
    }
}

/// How to look for removable documents.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Deduplicating {
    rule: Ruling,
    keep: String,
    prefer: Vec<String>,
    protect: Vec<String>,
    max_df: Option<u64>,
    budget: Option<u64>,
    mode: String,
    temp_dir: Option<PathBuf>,
}

impl Deduplicating {
    pub(crate) fn options(self, profile: &Profile) -> PyResult<DedupOptions> {
        Ok(self
            .rule
            .options(profile)?
            .keep(self.keep.parse().map_err(raise)?)
            .prefer(self.prefer)
            .protect(self.protect)
            .max_df(self.max_df)
            .budget(self.budget)
            .mode(self.mode.parse().map_err(raise)?)
            .temp_dir(self.temp_dir))
    }
}

/// The action to take on a dedup's report.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Applying {
    write: Option<PathBuf>,
    cut: bool,
    mark: Option<String>,
    remove: bool,
    link: Option<String>,
    #[pyo3(item("move"))]
    move_to: Option<PathBuf>,
    act: bool,
    temp_dir: Option<PathBuf>,
}

impl Applying {
    pub(crate) fn options(self) -> PyResult<ApplyOptions> {
        let action = match (self.write, self.mark, self.remove, self.link.as_deref(), self.move_to) {
            (Some(folder), None, false, None, None) if self.cut => Action::Cut { folder },
            _ if self.cut => return Err(parameter("cut goes with write, the folder of the copy, and nothing else")),
            (Some(folder), mark, false, None, None) => Action::Write { folder, mark },
            (None, Some(field), false, None, None) => Action::Mark { field },
            (None, None, true, None, None) => Action::Remove,
            (None, None, false, Some(kind), None) => Action::Link(kind.parse().map_err(raise)?),
            (None, None, false, None, Some(folder)) => Action::Move { folder },
            _ => {
                return Err(parameter(
                    "apply takes one of write, mark, remove, link and move; write and mark go together",
                ));
            }
        };
        Ok(ApplyOptions::new(action).act(self.act).temp_dir(self.temp_dir))
    }
}
