//! Limits: the limits on what is read, such as the number of bytes to which one file may decompress. One flag
//! sets all limits, and one page of the help lists them.

use std::fmt::Write;

use clap::Args;
use clap::builder::TypedValueParser;
use fpdb::{InputLimit, InputLimits, LimitUnit};

use super::reader_process::reader_process;
use super::values::parse_size;

/// The flag of every command that reads documents, or reads stored ones again.
#[derive(Clone, Debug, Args)]
pub(crate) struct LimitArgs {
    /// Raise or lower a limit of the input; may be repeated
    ///
    /// Limits protect against hostile files: a document that exceeds one is an error, and the rest is still
    /// read. `fpdb help limits` lists their names and defaults.
    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = LimitParser)]
    #[arg(help_heading = "Reading")]
    chosen: Vec<ChosenLimit>,
}

impl LimitArgs {
    /// The library's limits, replaced by the typed ones.
    pub(crate) fn limits(&self) -> InputLimits {
        let mut limits = InputLimits::default().process(Some(reader_process()));
        for &ChosenLimit { limit, value } in &self.chosen {
            (limit.set)(&mut limits, value);
        }
        limits
    }
}

/// A limit and the value that was typed for it.
#[derive(Clone, Copy, Debug)]
struct ChosenLimit {
    limit: &'static InputLimit,
    value: u64,
}

/// The value of a limit, as it was typed.
fn parse(limit: &InputLimit, value: &str) -> Result<u64, String> {
    let number = match limit.unit {
        LimitUnit::Size => parse_size(value)?,
        _ => value.parse().map_err(|_| "expected a whole number, 0 or more")?,
    };
    limit.check(number).map_err(|expected| format!("expected {expected}"))
}

/// The library's default for a limit, in the form in which it can be typed.
fn typed_default(limit: &InputLimit) -> String {
    match limit.unit {
        LimitUnit::Size => bytesize::ByteSize(limit.default).display().iec().to_string().replace(".0 ", ""),
        _ => limit.default.to_string(),
    }
}

/// The flag that sets the limit of this field of [`InputLimits`].
pub(crate) fn limit_flag(field: &str) -> String {
    let Some(limit) = InputLimit::of_field(field) else { return format!("limit `{field}`") };
    let value = match limit.unit {
        LimitUnit::Size => "SIZE",
        LimitUnit::Times => "TIMES",
        LimitUnit::Seconds => "SECONDS",
        LimitUnit::Count | LimitUnit::Depth => "N",
    };
    format!("--limit {}={value}", limit.name)
}

/// Parses `NAME=VALUE`.
#[derive(Clone)]
struct LimitParser;

impl TypedValueParser for LimitParser {
    type Value = ChosenLimit;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        typed: &std::ffi::OsStr,
    ) -> Result<ChosenLimit, clap::Error> {
        let parse = |typed: &str| -> Result<ChosenLimit, String> {
            let (name, value) = typed.split_once('=').ok_or("expected NAME=VALUE, such as members=5000")?;
            let limit = InputLimits::TABLE.iter().find(|limit| limit.name == name);
            let limit = limit.ok_or_else(|| format!("no limit is named {name}; `fpdb help limits` lists them"))?;
            Ok(ChosenLimit { limit, value: parse(limit, value)? })
        };
        clap::builder::StringValueParser::new().try_map(move |typed| parse(&typed)).parse_ref(command, argument, typed)
    }
}

/// The names of the limits, each with its meaning.
pub(crate) fn limit_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    InputLimits::TABLE.iter().map(|limit| (limit.name, limit.meaning))
}

/// The page of the help that lists the limits.
pub(crate) fn limits_page() -> String {
    let mut page = "Limits of the input, with their defaults:\n\n".to_owned();
    for limit in InputLimits::TABLE {
        let _ = writeln!(page, "  {}={}", limit.name, typed_default(limit));
        for line in wrapped(limit.meaning, 72) {
            let _ = writeln!(page, "      {line}");
        }
    }
    page += "\nThey protect against hostile files. A document that exceeds a limit is an error that names\n\
        it; the rest is still read. Set one with --limit NAME=VALUE, which may be repeated:\n\n  \
        fpdb ingest --limit members=5000 --limit document-size=64MiB downloads/\n";
    page
}

/// Breaks a text at spaces into lines of at most `width` characters.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_can_be_set_to_its_default_and_to_another_value() {
        for limit in InputLimits::TABLE {
            let default = parse(limit, &typed_default(limit)).unwrap();
            assert_eq!(default, (limit.get)(&InputLimits::default()), "{}", limit.name);
            let mut limits = InputLimits::default();
            (limit.set)(&mut limits, 3);
            assert_eq!((limit.get)(&limits), 3, "{}", limit.name);
            (limit.set)(&mut limits, default);
            assert_eq!(limits, InputLimits::default(), "{} sets another limit too", limit.name);
            assert!(["-1", "", "much"].iter().all(|wrong| parse(limit, wrong).is_err()));
            let is_factor = matches!(limit.unit, LimitUnit::Times | LimitUnit::Seconds);
            assert_eq!(parse(limit, "0").is_err(), is_factor, "{}", limit.name);
            assert!(limit.unit != LimitUnit::Depth || parse(limit, "4294967296").is_err());
        }
    }

    #[test]
    fn the_page_fits_a_screen() {
        let page = limits_page();
        assert!(page.lines().count() <= 40 && page.lines().all(|line| line.chars().count() <= 90), "{page}");
        assert!(limit_names().all(|(name, _)| page.contains(&format!("  {name}="))));
    }

    #[test]
    fn the_documentation_lists_every_limit() {
        let pages = [include_str!("../../../docs/containers.md"), include_str!("../../../docs/formats.md")].concat();
        for InputLimit { name, field, .. } in InputLimits::TABLE {
            let is_row = |line: &str| line.contains(&format!("| `{name}`")) && line.contains(&format!("| `{field}` |"));
            assert_eq!(pages.lines().filter(|line| is_row(line)).count(), 1, "{name}");
        }
    }
}
