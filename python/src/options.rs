//! Options: converts the options that Python gives to the library's options. The error for a wrong value has
//! the library's message and the name of the Python argument.

use std::path::PathBuf;

use fpdb::apply::{Action, ApplyOptions};
use fpdb::dedup::{DedupBy, DedupOptions};
use fpdb::pairs::PairsOptions;
use fpdb::repeats::RepeatOptions;
use fpdb::report::PairEvidence;
use fpdb::{
    Error, IngestOptions, InputLimits, PassageOptions, Phrases, Profile, QueryOptions, ReadOptions, ReaderProcess,
    WalkOptions, options_from_json,
};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::errors::{parameter, raise};

fn invalid(name: &'static str, value: &str, expected: &'static str) -> PyErr {
    raise(Error::InvalidParameter { name, value: value.to_owned(), expected })
}

/// The profile with this name or this JSON.
pub(crate) fn profile_of(text: &str) -> PyResult<Profile> {
    if let Some(profile) = Profile::named(text) {
        return Ok(profile);
    }
    if !text.starts_with('{') {
        return Err(invalid("the profile", text, "prose, text, words, code, bytes, or a Profile"));
    }
    serde_json::from_str(text).map_err(|error| parameter(&error.to_string()))
}

/// The complete JSON of a profile. `text` is its name, or JSON that may omit fields. Refuses impossible
/// values.
#[pyfunction]
pub(crate) fn profile(text: &str) -> PyResult<String> {
    json(&profile_of(text)?)
}

/// An answer as its JSON.
pub(crate) fn json(answer: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(answer).map_err(|error| parameter(&error.to_string()))
}

/// The options of a call: the fields of the library's options that Python gives, and options that JSON cannot
/// express.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Given {
    /// The fields, as JSON.
    fields: String,
    /// For errors: a dictionary from the path of a field to the argument of the method that sets it.
    arguments: Py<PyAny>,
    /// The program that reads documents in a separate process, and its arguments.
    reader: Option<Vec<String>>,
    /// A file of phrases.
    phrases: Option<PathBuf>,
    /// A folder for temporary files.
    temp_dir: Option<PathBuf>,
}

/// The options for finding pairs, and for adding their passages.
pub(crate) struct Pairing {
    pub(crate) options: PairsOptions,
    /// The options for finding passages, and the limits on documents that are read again.
    pub(crate) evidence: PairEvidence,
    pub(crate) passages: bool,
}

impl Given {
    fn fields(&self) -> PyResult<Map<String, Value>> {
        serde_json::from_str(&self.fields).map_err(|error| parameter(&error.to_string()))
    }

    /// Returns these defaults, changed by the given fields. `below` is the path of these options within all
    /// given options.
    fn over<T: Serialize + DeserializeOwned>(&self, below: &str, defaults: &T, given: Value) -> PyResult<T> {
        options_from_json(defaults, given).map_err(|error| match error {
            Error::InvalidOptions { field, source } => {
                raise(Error::InvalidOptions { field: self.argument(&format!("{below}{field}")), source })
            }
            error => raise(error),
        })
    }

    /// The name of the argument that sets this field or a field around it. Without such an argument, the name
    /// of the field.
    fn argument(&self, field: &str) -> String {
        Python::attach(|py| {
            let ends = field.match_indices('.').map(|(end, _)| end).chain([field.len()]);
            let mut arguments = ends.filter_map(|end| self.arguments.bind(py).get_item(&field[..end]).ok());
            arguments.find_map(|argument| argument.extract().ok()).unwrap_or_else(|| field.to_owned())
        })
    }

    fn limits(&self, limits: InputLimits) -> InputLimits {
        limits.process(match self.reader.as_deref() {
            Some([program, arguments @ ..]) => Some(ReaderProcess::new(program, arguments)),
            _ => None,
        })
    }

    fn read(&self, mut read: ReadOptions) -> ReadOptions {
        read.limits = self.limits(read.limits);
        read
    }

    pub(crate) fn ingest(&self) -> PyResult<IngestOptions> {
        let mut options = self.over("", &IngestOptions::default(), Value::Object(self.fields()?))?;
        options.check().map_err(raise)?;
        options.read = self.read(options.read);
        Ok(options)
    }

    pub(crate) fn query(&self, profile: &Profile) -> PyResult<QueryOptions> {
        self.query_of(self.fields()?, profile)
    }

    fn query_of(&self, fields: Map<String, Value>, profile: &Profile) -> PyResult<QueryOptions> {
        let mut options = self.over("", &QueryOptions::default(), Value::Object(fields))?;
        options.read = self.read(options.read);
        let phrases = self.phrases.as_ref().map(|path| Phrases::read(path, profile));
        options.phrases = phrases.transpose().map_err(raise)?;
        Ok(options)
    }

    /// The options of queries with the files below a folder, and the options that select these files.
    pub(crate) fn query_below(&self, profile: &Profile) -> PyResult<(WalkOptions, QueryOptions)> {
        let mut fields = self.fields()?;
        let walk = fields.remove("walk").unwrap_or_else(|| Map::new().into());
        Ok((self.over("walk.", &WalkOptions::default(), walk)?, self.query_of(fields, profile)?))
    }

    pub(crate) fn pairs(&self, profile: &Profile) -> PyResult<Pairing> {
        let mut fields = self.fields()?;
        let joining = fields.remove("joining").unwrap_or_else(|| Map::new().into());
        let passages = fields.remove("passages").is_some_and(|passages| passages == true);
        let share = |name| fields.get(name).and_then(Value::as_f64);
        let shared = fields.get("min_shared").and_then(Value::as_u64);
        let defaults = PairsOptions::at_least(profile, shared, share("min_resemblance"), share("min_containment"));
        let options = self.over("", &defaults, Value::Object(fields))?;
        let evidence = PairEvidence::default()
            .max_df(options.max_df)
            .joining(self.over("joining.", &PassageOptions::default(), joining)?)
            .limits(self.limits(InputLimits::default()));
        Ok(Pairing { options, evidence, passages })
    }

    pub(crate) fn repeats(self, profile: &Profile) -> PyResult<RepeatOptions> {
        let options = self.over("", &RepeatOptions::of(profile), Value::Object(self.fields()?))?;
        let limits = self.limits(InputLimits::default());
        Ok(options.limits(limits).temp_dir(self.temp_dir))
    }

    pub(crate) fn dedup(self, profile: &Profile) -> PyResult<DedupOptions> {
        let fields = self.fields()?;
        let by: DedupBy =
            fields.get("by").and_then(Value::as_str).map_or(Ok(DedupBy::default()), str::parse).map_err(raise)?;
        let bound = ["threshold", "max_novel"].into_iter().find(|bound| fields.contains_key(*bound));
        if let (DedupBy::Exact | DedupBy::ExactText, Some(name)) = (by, bound) {
            return Err(invalid(name, &format!("given with {by}"), "None unless by resemblance or containment"));
        }
        Ok(self.over("", &DedupOptions::of(profile, by), Value::Object(fields))?.temp_dir(self.temp_dir))
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
    lists: Vec<PathBuf>,
    prune: bool,
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
        Ok(ApplyOptions::new(action).act(self.act).lists(self.lists).prune(self.prune).temp_dir(self.temp_dir))
    }
}
