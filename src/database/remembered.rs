//! Remembered options: how an ingest read a file or folder, so that later ingests read it in the same way.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::Database;
use crate::ingest::IngestOptions;
use crate::ingest::first_names::{for_each_document_at, is_moved_with, names_by_folder};
use fpdb_host::error::Result;
use fpdb_host::json_options::options_to_json;
use fpdb_host::stop::StopToken;
use fpdb_reading::input::{ReadOptions, file_name_of, moved_glob};
use fpdb_store::DocumentRecord;

/// Databases of earlier versions store these flags. Each flag is listed with the field that it sets, and with
/// true if the field is a list. A flag without a value sets its field to true. A flag whose field is a list
/// appends its value.
const EARLIER_FLAGS: [(&str, &str, bool); 10] = [
    ("--as", "/read/front_end", false),
    ("--no-expand", "/read/closed", false),
    ("--text-field", "/read/fields/text", false),
    ("--id-field", "/read/fields/id", false),
    ("--keep-fields", "/read/fields/keep", true),
    ("--exclude", "/walk/exclude", true),
    ("--include", "/walk/include", true),
    ("--skip-hidden", "/walk/skip_hidden", false),
    ("--follow", "/walk/follow", false),
    ("--store-text", "/store_text", false),
];

/// Average number of members of a file after which [`Database::files_at`] ends.
const MEMBERS_OF_A_FILE: usize = 100;

/// Files in a folder from which documents were read.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct FilesAt {
    /// The folder, as the names of these documents spell it. `None` if these names do not contain the folder.
    pub name: Option<String>,
    /// The bytes of each file, by its path below the folder. The path begins with `/`.
    pub files: BTreeMap<String, u64>,
}

impl Database {
    /// True if this database was moved, or copied, together with a file or folder that was at the absolute
    /// path `old` and is now at `new`.
    ///
    /// # Errors
    /// A failure to read the store, or to find a folder.
    #[doc(hidden)]
    pub fn is_moved_with(&self, old: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<bool> {
        is_moved_with(&self.store, self.store.former_roots()?.as_ref(), old.as_ref(), new.as_ref())
    }

    /// The files in each of these folders, given by absolute paths, from which documents were read: at most
    /// `most` of each folder, and fewer if the token stops.
    ///
    /// # Errors
    /// A failure to read the store.
    #[doc(hidden)]
    pub fn files_at(&self, folders: &[&str], most: usize, stop: &StopToken) -> Result<Vec<FilesAt>> {
        let names = names_by_folder(&self.store)?;
        let files_of = |folder: &&str| {
            let (mut at, mut looked_at) = (FilesAt::default(), 0);
            for_each_document_at(&self.store, &names, folder, stop, |record| {
                looked_at += 1;
                self.add_file(folder, &record, &mut at)?;
                // Many documents can be members of one container.
                Ok(at.files.len() < most && looked_at < most.saturating_mul(MEMBERS_OF_A_FILE))
            })?;
            Ok(at)
        };
        folders.iter().map(files_of).collect()
    }

    /// Adds the file of a document in this folder.
    fn add_file(&self, folder: &str, record: &DocumentRecord, at: &mut FilesAt) -> Result<()> {
        let source = record.source.as_deref().unwrap_or_default();
        let below = source.strip_prefix(folder).filter(|below| below.starts_with('/'));
        let Some(below) = below.filter(|below| !at.files.contains_key(*below)) else { return Ok(()) };
        let bytes = match self.store.container(source)? {
            Some(container) => container.bytes,
            None if record.member.is_none() => record.bytes,
            None => return Ok(()),
        };
        if at.name.is_none() {
            let name = file_name_of(&record.name, record.member.as_deref()).and_then(|file| file.strip_suffix(below));
            at.name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        }
        at.files.insert(below.to_owned(), bytes);
        Ok(())
    }
}

/// The record of these options: `walk` with rooted globs, `store_text`, and `read` without its limits and
/// without `skip_quotes`, which concerns queries. Empty if all have their defaults.
///
/// # Errors
/// [`Error::InvalidOptions`](crate::Error::InvalidOptions) if the options cannot be written as JSON;
/// [`Error::Io`](crate::Error::Io) if the current folder is not known.
pub(crate) fn record(options: &IngestOptions) -> Result<Vec<String>> {
    let IngestOptions { store_text, walk, read, .. } = options.clone();
    let ReadOptions { front_end, closed, attachments, fields, .. } = read;
    let read = ReadOptions::default().front_end(front_end).closed(closed).attachments(attachments).fields(fields);
    let kept = IngestOptions::default().store_text(store_text).walk(walk.rooted()?).read(read);
    let json = options_to_json(&IngestOptions::default(), &kept)?;
    Ok(if json.is_empty() { Vec::new() } else { vec![Value::Object(json).to_string()] })
}

/// The options of a record. An unknown setting becomes an unknown field: an ingest refuses this field, and
/// lists of the options show it.
pub(crate) fn options(settings: &[String]) -> Map<String, Value> {
    if let [json] = settings
        && let Ok(Value::Object(options)) = serde_json::from_str(json)
    {
        return options;
    }
    let mut options = Map::new();
    for word in settings {
        let (flag, value) = word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        match EARLIER_FLAGS.iter().find(|(known, ..)| *known == flag) {
            Some((_, field, is_list)) => set(&mut options, field, value, *is_list),
            None => drop(options.insert(word.clone(), Value::Bool(true))),
        }
    }
    options
}

/// The settings of a record, after files moved from `old` to `new`. Each glob for a path in `old` becomes a
/// glob for the path in `new`. `old` and `new` are folders that end with `/`, or paths of one file. If
/// `keeps` is true, the old globs stay beside the new ones. `None` if no glob is for a path in `old`.
pub(super) fn moved(settings: &[String], (old, new): (&str, &str), keeps: bool) -> Option<Vec<String>> {
    let mut options = options(settings);
    let mut any = false;
    for list in ["exclude", "include"] {
        let Some(Value::Array(globs)) = options.get_mut("walk").and_then(|walk| walk.get_mut(list)) else { continue };
        let mut all = Vec::new();
        for glob in std::mem::take(globs) {
            let moved = glob.as_str().and_then(|glob| moved_glob(glob, old, new)).map(Value::String);
            any |= moved.is_some();
            if keeps || moved.is_none() {
                all.push(glob);
            }
            all.extend(moved.filter(|moved| !all.contains(moved)));
        }
        *globs = all;
    }
    any.then(|| vec![Value::Object(options).to_string()])
}

/// Sets the field at this path, such as `/read/fields/text`.
fn set(options: &mut Map<String, Value>, field: &str, value: Option<&str>, is_list: bool) {
    let value = value.map_or(Value::Bool(true), Value::from);
    let mut names: Vec<&str> = field.split('/').skip(1).collect();
    let Some(last) = names.pop() else { return };
    let mut object = options;
    for name in names {
        let below = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(below) = below else { return };
        object = below;
    }
    match object.get_mut(last) {
        Some(Value::Array(values)) => values.push(value),
        _ => drop(object.insert(last.to_owned(), if is_list { Value::Array(vec![value]) } else { value })),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{InputLimits, OnChange, ReadAs, RecordFields, WalkOptions, options_from_json};

    fn all() -> IngestOptions {
        let fields = RecordFields::default().text("body".into()).id("url".into()).keep(vec!["a".into(), "b=c".into()]);
        let walk = WalkOptions::default()
            .exclude(vec!["e x.*".into()])
            .include(vec!["*.txt".into(), "*.md".into()])
            .skip_hidden(true)
            .follow(true);
        let read = ReadOptions::default().front_end(ReadAs::Code).closed(true).fields(fields);
        IngestOptions::default().store_text(true).walk(walk).read(read)
    }

    fn read_back(settings: &[String]) -> Result<IngestOptions> {
        options_from_json(&IngestOptions::default(), Value::Object(options(settings)))
    }

    #[test]
    fn only_the_way_of_reading_is_recorded() {
        assert_eq!(record(&IngestOptions::default()).unwrap(), Vec::<String>::new());
        let once = || ReadOptions::default().limits(InputLimits::default().nesting(3)).skip_quotes(true);
        let once = IngestOptions::default().on_change(OnChange::Both).prune(true).boilerplate(true).read(once());
        assert_eq!(record(&once).unwrap(), Vec::<String>::new());
        let walk = WalkOptions::default().include(vec!["*.txt".into()]);
        assert_eq!(record(&once.walk(walk)).unwrap(), [r#"{"walk":{"include":["*.txt"]}}"#]);
        let attachments = IngestOptions::default().read(ReadOptions::default().attachments(true));
        assert_eq!(record(&attachments).unwrap(), [r#"{"read":{"attachments":true}}"#]);
        assert_eq!(format!("{:?}", read_back(&record(&all()).unwrap()).unwrap()), format!("{:?}", all()));
    }

    #[test]
    fn flags_in_databases_of_earlier_versions_are_read() {
        let words = [
            "--as=code",
            "--no-expand",
            "--text-field=body",
            "--id-field=url",
            "--keep-fields=a",
            "--keep-fields=b=c",
            "--exclude=e x.*",
            "--include=*.txt",
            "--include=*.md",
            "--skip-hidden",
            "--follow",
            "--store-text",
        ];
        let words = words.map(str::to_owned);
        assert_eq!(format!("{:?}", read_back(&words).unwrap()), format!("{:?}", all()));
        // Equal options give the same record.
        assert_eq!(record(&all()).unwrap(), [Value::Object(options(&words)).to_string()]);
    }

    #[test]
    fn unknown_settings_are_shown_and_refused_by_name() {
        let unknown = ["--later=3".to_owned(), "--follow".to_owned()];
        assert_eq!(Value::Object(options(&unknown)), json!({"--later=3": true, "walk": {"follow": true}}));
        assert!(read_back(&unknown).unwrap_err().chain().contains("unknown field `--later=3`"));
        let later = [r#"{"read":{"later":3}}"#.to_owned()];
        assert!(read_back(&later).unwrap_err().chain().contains("unknown field `later`"));
    }
}
