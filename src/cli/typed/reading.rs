//! How files are read, as it can be typed: the front-end, and limits against hostile files.

use std::path::PathBuf;

use clap::Args;
use fpdb::{InputLimits, ReadAs, ReadOptions};

use super::values::{parse_count, parse_positive, parse_size};

/// How files are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReadArgs {
    /// The front-end that reads the documents: auto (by name and content), text, bytes, code, html, markdown, rst,
    /// tex, notebook, mail, pdf, docx, odt, epub, or a programming language
    #[arg(long = "as", value_name = "FORMAT", default_value = "auto", value_parser = parse_front_end)]
    pub(crate) front_end: ReadAs,
    /// Take archives and compressed files as documents, as they are
    #[arg(long)]
    pub(crate) no_expand: bool,
}

/// What a file may unfold to: the flags of every command that reads documents, or reads stored ones again.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits against hostile files; what exceeds one fails, and the rest goes on")]
pub(crate) struct LimitArgs {
    /// The size of a document
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = parse_size)]
    pub(crate) max_document_size: u64,
    /// The size of a record that is held in memory whole: a line of JSON or of mail, a value of Parquet
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub(crate) max_record_size: u64,
    /// How many times its size compressed data may grow to, beyond 64 MiB
    #[arg(long, value_name = "TIMES", default_value_t = InputLimits::default().expansion)]
    #[arg(value_parser = parse_positive)]
    pub(crate) max_expansion: u64,
    /// What one file may unfold to, all its members and layers together
    #[arg(long, value_name = "SIZE", default_value = "1TiB", value_parser = parse_size)]
    pub(crate) max_expanded_size: u64,
    /// Containers and compressions within each other
    #[arg(long, value_name = "N", default_value_t = InputLimits::default().nesting)]
    pub(crate) max_nesting: u32,
    /// Members of one file
    #[arg(long, value_name = "N", default_value_t = InputLimits::default().members, value_parser = parse_count)]
    pub(crate) max_members: u64,
    /// Arrays and objects within each other in a line of JSON
    #[arg(long, value_name = "N", default_value_t = InputLimits::default().json_depth)]
    pub(crate) max_json_depth: u32,
    /// The size of a document in a format that is read whole: all but text, code and bytes; a quarter of it, where
    /// that is HTML, Markdown, TeX or a notebook in another encoding than UTF-8
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub(crate) max_whole_size: u64,
    /// What the parts of a PDF, DOCX, ODT or EPUB may unpack to
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    pub(crate) max_unpacked_size: u64,
    /// How many times its size that may be, beyond 16 MiB
    #[arg(long, value_name = "TIMES", default_value_t = InputLimits::default().unpacking)]
    #[arg(value_parser = parse_positive)]
    pub(crate) max_unpacking: u64,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> InputLimits {
        InputLimits {
            document_bytes: self.max_document_size,
            record_bytes: self.max_record_size,
            expansion: self.max_expansion,
            expanded_bytes: self.max_expanded_size,
            nesting: self.max_nesting,
            members: self.max_members,
            json_depth: self.max_json_depth,
            whole_bytes: self.max_whole_size,
            unpacked_bytes: self.max_unpacked_size,
            unpacking: self.max_unpacking,
        }
    }
}

impl ReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions { front_end: self.front_end, closed: self.no_expand, ..ReadOptions::default() }
    }
}

/// How query documents are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueryReadArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Ignore what stands in quotation marks in the query: its fingerprints count in no score, and are told (prose only). A
    /// passage that reaches into a quotation shows all that is the same there, and the coverage counts it
    #[arg(long)]
    pub(crate) skip_quotes: bool,
    /// Ignore phrases in the query, one a line of a UTF-8 file; empty lines and those that begin with # are left out. Case and
    /// layout make no difference. Fingerprints that lie in phrases whole count in no score, and are told (prose only).
    /// A passage that reaches into a phrase shows all that is the same there, and the coverage counts it.
    /// Stored documents count whole, so pairs has no such flag: ingest --boilerplate is for what all of them share
    #[arg(long, value_name = "FILE")]
    pub(crate) ignore_phrases: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl QueryReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions { skip_quotes: self.skip_quotes, limits: self.limits.limits(), ..self.read.options() }
    }

    /// What was typed, for a report.
    pub(crate) fn flags(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("--skip-quotes", self.skip_quotes.then(|| "yes".to_owned())),
            ("--ignore-phrases", self.ignore_phrases.as_ref().map(|path| path.display().to_string())),
        ]
    }
}

/// `auto`, `code`, or the name of a format.
fn parse_front_end(text: &str) -> Result<ReadAs, String> {
    match text {
        "auto" => Ok(ReadAs::Auto),
        "code" => Ok(ReadAs::Code),
        name => fpdb::Format::named(name)
            .map(ReadAs::Format)
            .ok_or_else(|| "expected auto, code or the name of a format".into()),
    }
}
