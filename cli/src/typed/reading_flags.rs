//! Reading flags: the flags of `ingest` whose options a database remembers, and the conversion of options to
//! such flags.

use clap::ArgMatches;
use clap::parser::ValueSource;
use fpdb::IngestOptions;
use serde_json::{Map, Value};

/// A flag of `ingest`: the name of its argument, its spelling, and its setting in the options.
type ReadingFlag = (&'static str, &'static str, fn(&IngestOptions) -> Setting);

/// The setting of a flag.
#[derive(PartialEq)]
enum Setting {
    /// The setting of a switch: true if it is on.
    Switch(bool),
    /// The values of a flag.
    Values(Vec<String>),
}

use Setting::{Switch, Values};

const READING_FLAGS: [ReadingFlag; 11] = [
    ("front_end", "as", |options| Values(vec![options.read.front_end.name().to_owned()])),
    ("no_expand", "no-expand", |options| Switch(options.read.closed)),
    ("attachments", "attachments", |options| Switch(options.read.attachments)),
    ("text_field", "text-field", |options| Values(options.read.fields.text.split('\n').map(Into::into).collect())),
    ("id_field", "id-field", |options| Values(vec![options.read.fields.id.clone()])),
    ("keep_fields", "keep-fields", |options| Values(options.read.fields.keep.clone())),
    ("exclude", "exclude", |options| Values(options.walk.exclude.clone())),
    ("include", "include", |options| Values(options.walk.include.clone())),
    ("skip_hidden", "skip-hidden", |options| Switch(options.walk.skip_hidden)),
    ("follow", "follow", |options| Switch(options.walk.follow)),
    ("store_text", "store-text", |options| Switch(options.store_text)),
];

/// True if one of the flags was typed.
pub(crate) fn are_typed(matches: &ArgMatches) -> bool {
    READING_FLAGS.iter().any(|(argument, ..)| matches.value_source(argument) == Some(ValueSource::CommandLine))
}

/// The flags that set these options, except flags that repeat a default.
pub(crate) fn words(options: &IngestOptions) -> Vec<String> {
    let defaults = IngestOptions::default();
    let mut words = Vec::new();
    for (_, flag, setting) in READING_FLAGS {
        match setting(options) {
            setting_given if setting_given == setting(&defaults) => {}
            Switch(_) => words.push(format!("--{flag}")),
            Values(values) => words.extend(values.into_iter().map(|value| format!("--{flag}={value}"))),
        }
    }
    words
}

/// The flags that set remembered options. Options of a later version are shown as JSON.
pub(crate) fn words_of_json(remembered: &Map<String, Value>) -> Vec<String> {
    let json = || Value::Object(remembered.clone());
    match fpdb::options_from_json(&IngestOptions::default(), json()) {
        Ok(options) => words(&options),
        Err(_) => vec![json().to_string()],
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::typed::{Cli, Verb};

    /// Each flag of the table is an argument, and its words are the flags that were typed.
    #[test]
    fn words_are_the_typed_flags() {
        let flags = [
            "--as=html",
            "--no-expand",
            "--text-field=title",
            "--text-field=body",
            "--id-field=url",
            "--keep-fields=a",
            "--keep-fields=b",
            "--exclude=e x.*",
            "--include=*.txt",
            "--skip-hidden",
            "--follow",
            "--store-text",
        ];
        let mut typed: Vec<&str> = Vec::new();
        // --as and --no-expand exclude --attachments.
        let (others, attachments) = (&flags[..], &["--attachments"][..]);
        for flags in [others, attachments] {
            let matches = Cli::command().get_matches_from(["fpdb", "ingest", "x"].iter().chain(flags));
            let Verb::Ingest(args) = Cli::from_arg_matches(&matches).unwrap().verb else { panic!("no ingest") };
            assert_eq!(words(&args.options()), flags);
            let matches = matches.subcommand_matches("ingest").unwrap();
            let is_typed = |argument| matches.value_source(argument) == Some(ValueSource::CommandLine);
            typed
                .extend(READING_FLAGS.map(|(argument, ..)| argument).into_iter().filter(|argument| is_typed(argument)));
        }
        typed.sort_unstable();
        let mut known = READING_FLAGS.map(|(argument, ..)| argument);
        known.sort_unstable();
        assert_eq!(typed, known);
    }

    #[test]
    fn options_of_a_later_version_are_shown_as_they_are() {
        let Value::Object(later) = serde_json::json!({"walk": {"depth": 3}}) else { panic!("no object") };
        assert_eq!(words_of_json(&later), [r#"{"walk":{"depth":3}}"#]);
    }
}
