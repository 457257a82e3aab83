//! Limits: to how many bytes one file may decompress, and the like. One flag sets all of them, and one page of the help lists them.

use std::fmt::Write;

use clap::Args;
use clap::builder::TypedValueParser;
use fpdb::InputLimits;

use super::reader_process::reader_process;
use super::values::parse_size;

/// The flag of every command that reads documents, or reads stored ones again.
#[derive(Clone, Debug, Args)]
pub(crate) struct LimitArgs {
    /// Raise or lower a limit of the input; may be repeated
    ///
    /// Limits protect against hostile files: a document that exceeds one is an error, and the rest is still read. `fpdb help limits`
    /// lists their names and defaults.
    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = LimitParser, hide_short_help = true)]
    #[arg(help_heading = "Reading")]
    chosen: Vec<ChosenLimit>,
}

impl LimitArgs {
    /// The library's limits, with those that were typed in their place.
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
    limit: &'static Limit,
    value: u64,
}

/// A limit that has a name.
#[derive(Debug)]
struct Limit {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    get: fn(&InputLimits) -> u64,
    set: fn(&mut InputLimits, u64),
}

/// The unit of a limit's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Bytes, such as 64MiB.
    Size,
    /// How many times larger, or how many seconds: 1 or more.
    Times,
    /// Things.
    Count,
    /// Things within each other.
    Depth,
}

const LIMITS: [Limit; 13] = [
    Limit {
        name: "document-size",
        kind: Kind::Size,
        help: "one document",
        get: |limits| limits.document_bytes,
        set: |limits, value| limits.document_bytes = value,
    },
    Limit {
        name: "record-size",
        kind: Kind::Size,
        help: "a record that is held in memory whole: a line of JSON or of mail, a value of Parquet",
        get: |limits| limits.record_bytes,
        set: |limits, value| limits.record_bytes = value,
    },
    Limit {
        name: "whole-size",
        kind: Kind::Size,
        help: "a document in a format that is read whole (all but text, code and bytes)",
        get: |limits| limits.whole_bytes,
        set: |limits, value| limits.whole_bytes = value,
    },
    Limit {
        name: "reading-memory",
        kind: Kind::Size,
        help: "memory to read one such document; in an ingest also a share of --memory",
        get: |limits| limits.reading_memory,
        set: |limits, value| limits.reading_memory = value,
    },
    Limit {
        name: "reading-time",
        kind: Kind::Times,
        help: "seconds to read one PDF, DOCX, ODT, EPUB or mail; one more for each 250 kB",
        get: |limits| limits.reading_seconds,
        set: |limits, value| limits.reading_seconds = value,
    },
    Limit {
        name: "unpacked-size",
        kind: Kind::Size,
        help: "the unpacked parts of one PDF, DOCX, ODT or EPUB",
        get: |limits| limits.unpacked_bytes,
        set: |limits, value| limits.unpacked_bytes = value,
    },
    Limit {
        name: "unpacking",
        kind: Kind::Times,
        help: "how many times its size one PDF, DOCX, ODT or EPUB unpacks to, beyond 16 MiB",
        get: |limits| limits.unpacking,
        set: |limits, value| limits.unpacking = value,
    },
    Limit {
        name: "expanded-size",
        kind: Kind::Size,
        help: "one archive or compressed file when expanded, with all its members and layers",
        get: |limits| limits.expanded_bytes,
        set: |limits, value| limits.expanded_bytes = value,
    },
    Limit {
        name: "expansion",
        kind: Kind::Times,
        help: "how many times its size compressed data expands to, beyond 64 MiB",
        get: |limits| limits.expansion,
        set: |limits, value| limits.expansion = value,
    },
    Limit {
        name: "name-size",
        kind: Kind::Size,
        help: "the name that an archive or crawl gives to a member",
        get: |limits| limits.name_bytes,
        set: |limits, value| limits.name_bytes = value,
    },
    Limit {
        name: "members",
        kind: Kind::Count,
        help: "members of one file",
        get: |limits| limits.members,
        set: |limits, value| limits.members = value,
    },
    Limit {
        name: "nesting",
        kind: Kind::Depth,
        help: "containers and compressions within each other (.tar.gz is two)",
        get: |limits| limits.nesting.into(),
        set: |limits, value| limits.nesting = u32::try_from(value).unwrap_or(u32::MAX),
    },
    Limit {
        name: "json-depth",
        kind: Kind::Depth,
        help: "arrays and objects within each other in a line of JSON",
        get: |limits| limits.json_depth.into(),
        set: |limits, value| limits.json_depth = u32::try_from(value).unwrap_or(u32::MAX),
    },
];

impl Limit {
    fn parse(&self, value: &str) -> Result<u64, String> {
        let number = || value.parse::<u64>().map_err(|_| "expected a whole number, 0 or more".to_owned());
        match self.kind {
            Kind::Size => parse_size(value),
            Kind::Times => number().ok().filter(|&times| times > 0).ok_or("expected a whole number, 1 or more".into()),
            Kind::Count => number(),
            Kind::Depth => match number()? {
                depth if depth <= u32::MAX.into() => Ok(depth),
                _ => Err(format!("expected a whole number up to {}", u32::MAX)),
            },
        }
    }

    /// The library's own value, as it can be typed.
    fn default(&self) -> String {
        let value = (self.get)(&InputLimits::default());
        match self.kind {
            Kind::Size => bytesize::ByteSize(value).display().iec().to_string().replace(".0 ", ""),
            _ => value.to_string(),
        }
    }
}

/// `NAME=VALUE`.
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
            let limit = LIMITS.iter().find(|limit| limit.name == name);
            let limit = limit.ok_or_else(|| format!("no limit is named {name}; `fpdb help limits` lists them"))?;
            Ok(ChosenLimit { limit, value: limit.parse(value)? })
        };
        clap::builder::StringValueParser::new().try_map(move |typed| parse(&typed)).parse_ref(command, argument, typed)
    }
}

/// The names of the limits, each with what it limits.
pub(crate) fn limit_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIMITS.iter().map(|limit| (limit.name, limit.help))
}

/// The page of the help that lists the limits.
pub(crate) fn limits_page() -> String {
    let mut page = "Limits of the input, with their defaults:\n\n".to_owned();
    for limit in &LIMITS {
        let _ = writeln!(page, "  {}={}", limit.name, limit.default());
        for line in wrapped(limit.help, 72) {
            let _ = writeln!(page, "      {line}");
        }
    }
    page += "\nThey protect against hostile files. A document that exceeds a limit is an error that names\n\
        it; the rest is still read. Set one with --limit NAME=VALUE, which may be repeated:\n\n  \
        fpdb ingest --limit members=5000 --limit document-size=64MiB downloads/\n";
    page
}

/// Lines of at most so many characters, broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
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
        for limit in &LIMITS {
            let default = limit.parse(&limit.default()).unwrap();
            assert_eq!(default, (limit.get)(&InputLimits::default()), "{}", limit.name);
            let mut limits = InputLimits::default();
            (limit.set)(&mut limits, 3);
            assert_eq!((limit.get)(&limits), 3, "{}", limit.name);
            (limit.set)(&mut limits, default);
            assert_eq!(limits, InputLimits::default(), "{} sets another limit too", limit.name);
            assert!(limit.parse("-1").is_err() && limit.parse("").is_err() && limit.parse("much").is_err());
        }
        assert!(LIMITS.iter().filter(|limit| limit.kind == Kind::Times).all(|limit| limit.parse("0").is_err()));
        assert!(
            LIMITS.iter().filter(|limit| limit.kind == Kind::Depth).all(|limit| limit.parse("4294967296").is_err())
        );
    }

    #[test]
    fn the_page_fits_a_screen() {
        let page = limits_page();
        assert!(page.lines().count() <= 40 && page.lines().all(|line| line.chars().count() <= 90), "{page}");
        assert!(LIMITS.iter().all(|limit| page.contains(&format!("  {}=", limit.name))));
    }
}
