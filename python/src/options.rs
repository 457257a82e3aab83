//! Options: what Python gives as names and values, as the library has them. Values that make no sense are refused in its words.

use fpdb::{
    DedupBy, DedupOptions, Error, Format, GroupBy, IngestOptions, InputLimits, Keep, Mode, OnChange, PairsOptions,
    PassageOptions, Profile, QueryOptions, ReadAs, ReadOptions, ReaderProcess, RecordFields, Since, WalkOptions,
    Weight,
};
use pyo3::prelude::*;

use crate::errors::raise;

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
    serde_json::from_str(text).map_err(|error| crate::errors::parameter(&error.to_string()))
}

/// The JSON of a profile, given by its name or by its JSON: what is left out is added, what makes no sense is refused.
#[pyfunction]
pub(crate) fn profile(text: &str) -> PyResult<String> {
    json(&profile_of(text)?)
}

/// An answer as its JSON.
pub(crate) fn json(answer: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(answer).map_err(|error| crate::errors::parameter(&error.to_string()))
}

fn read_as(name: &str) -> PyResult<ReadAs> {
    match name {
        "auto" => Ok(ReadAs::Auto),
        "code" => Ok(ReadAs::Code),
        name => Format::named(name).map(ReadAs::Format).ok_or_else(|| {
            invalid("the format", name, "auto, code, or the name of a format or of a programming language")
        }),
    }
}

/// How documents are read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    format: String,
    /// The program that reads documents in a process of its own, and its arguments.
    reader: Option<Vec<String>>,
}

impl Reading {
    pub(crate) fn options(&self) -> PyResult<ReadOptions> {
        let process = match self.reader.as_deref() {
            Some([program, arguments @ ..]) => Some(ReaderProcess::new(program, arguments)),
            _ => None,
        };
        let limits = InputLimits::default().process(process);
        Ok(ReadOptions::default().front_end(read_as(&self.format)?).limits(limits))
    }
}

/// How to ingest.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ingesting {
    reading: Reading,
    on_change: String,
    store_text: bool,
    boilerplate: bool,
    prune: bool,
    exclude: Vec<String>,
    include: Vec<String>,
    skip_hidden: bool,
    follow: bool,
    text: String,
    id: String,
    keep: Vec<String>,
}

impl Ingesting {
    pub(crate) fn options(self) -> PyResult<IngestOptions> {
        let on_change = match self.on_change.as_str() {
            "replace" => OnChange::Replace,
            "keep" => OnChange::Keep,
            "both" => OnChange::Both,
            other => return Err(invalid("on_change", other, "replace, keep or both")),
        };
        let fields = RecordFields::default().text(self.text).id(self.id).keep(self.keep);
        let walk = WalkOptions::default()
            .exclude(self.exclude)
            .include(self.include)
            .skip_hidden(self.skip_hidden)
            .follow(self.follow);
        Ok(IngestOptions::default()
            .on_change(on_change)
            .store_text(self.store_text)
            .boilerplate(self.boilerplate)
            .prune(self.prune)
            .walk(walk)
            .read(self.reading.options()?.fields(fields)))
    }
}

fn weight(name: &str) -> PyResult<Weight> {
    match name {
        "none" => Ok(Weight::None),
        "idf" => Ok(Weight::Idf),
        other => Err(invalid("weight", other, "none or idf")),
    }
}

/// How to query.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Querying {
    reading: Reading,
    mode: String,
    window: Option<u32>,
    n: Option<u64>,
    top: Option<usize>,
    min_score: f64,
    max_df: Option<u64>,
    passages: bool,
    weight: String,
    rewritten: bool,
}

impl Querying {
    pub(crate) fn options(self) -> PyResult<QueryOptions> {
        let mode = match self.mode.as_str() {
            "containment" => Mode::Containment,
            "resemblance" => Mode::Resemblance,
            other => return Err(invalid("mode", other, "containment or resemblance")),
        };
        Ok(QueryOptions::default()
            .mode(mode)
            .window(self.window)
            .n(self.n)
            .top(self.top)
            .min_score(self.min_score)
            .max_df(self.max_df)
            .passages(self.passages)
            .weight(weight(&self.weight)?)
            .read(self.reading.options()?)
            .joining(passages(self.rewritten)))
    }
}

/// How shared runs become passages.
pub(crate) fn passages(rewritten: bool) -> PassageOptions {
    PassageOptions::default().rewritten(rewritten)
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
    group_by: Option<String>,
    new_since: Option<u32>,
    weight: String,
}

impl Pairing {
    pub(crate) fn options(self, profile: &Profile) -> PyResult<PairsOptions> {
        let options = PairsOptions::at_least(profile, self.min_shared, self.min_resemblance, self.min_containment);
        Ok(options
            .max_df(self.max_df)
            .across(self.across)
            .group_by(match self.group_by {
                None => GroupBy::Metadata,
                Some(pattern) if pattern.is_empty() => GroupBy::Nothing,
                Some(pattern) => GroupBy::Name(pattern),
            })
            .new_since(self.new_since.map(|id| Since::Document(fpdb::DocId(id))))
            .weight(weight(&self.weight)?))
    }
}

/// How to look for removable documents.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Deduplicating {
    by: String,
    threshold: Option<f64>,
    /// None for the default of the profile.
    max_novel: Option<u64>,
    any_novel: bool,
    keep: String,
    prefer: Vec<String>,
    protect: Vec<String>,
    max_df: Option<u64>,
    budget: Option<u64>,
    temp_dir: Option<std::path::PathBuf>,
}

impl Deduplicating {
    pub(crate) fn options(self, profile: &Profile) -> PyResult<DedupOptions> {
        let mut options = DedupOptions::of(profile);
        options.by = match self.by.as_str() {
            "exact" => DedupBy::Exact,
            "resemblance" => DedupBy::Resemblance,
            "containment" => DedupBy::Containment,
            other => return Err(invalid("by", other, "exact, resemblance or containment")),
        };
        options.keep = match self.keep.as_str() {
            "longest" => Keep::Longest,
            "first" => Keep::First,
            "newest" => Keep::Newest,
            "oldest" => Keep::Oldest,
            other => return Err(invalid("keep", other, "longest, first, newest or oldest")),
        };
        options.threshold = self.threshold.unwrap_or(options.threshold);
        options.max_novel = if self.any_novel { None } else { self.max_novel.or(options.max_novel) };
        options.prefer = self.prefer;
        options.protect = self.protect;
        options.max_df = self.max_df;
        options.budget = self.budget;
        options.temp_dir = self.temp_dir;
        Ok(options)
    }
}
