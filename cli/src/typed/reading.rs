//! The flags that decide how documents are read.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueHint};
use fpdb::{Format, Language, ReadAs, ReadOptions, RecordFields};

use super::limits::LimitArgs;
use crate::setting::Setting;

/// How files are read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// Read all files in this format [default: auto]
    ///
    /// `auto` tells the format by name and content. Others are text, bytes, code (the language that the name
    /// tells), html, markdown, rst, tex, notebook, mail, pdf, docx, odt, epub, and the name of a programming
    /// language.
    #[arg(long = "as", value_name = "FORMAT", value_parser = ReadAsParser, default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub(crate) front_end: ReadAs,
    /// Read archives and compressed files as documents, as they are
    #[arg(long)]
    pub(crate) no_expand: bool,
}

impl ReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions::default().front_end(self.front_end).closed(self.no_expand)
    }
}

/// Which parts of records and mails are read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct RecordFieldArgs {
    /// The field of JSON lines and Parquet that holds the text [default: text]
    ///
    /// 'messages[].content' joins the field `content` of all elements of the list `messages`, with blank
    /// lines between them; 'texts[]' joins the texts of a list. May be repeated: the texts of the fields are
    /// joined in this order, also with blank lines, and each record must have all of them. Where this or
    /// --id-field is given, JSON lines whose name does not say so (.jsonl) are an error, not one document; so
    /// is a JSON array of records.
    #[arg(long, value_name = "FIELD")]
    pub(crate) text_field: Vec<String>,
    /// The field that holds the id, which is kept with the document [default: id]
    #[arg(long, value_name = "FIELD")]
    pub(crate) id_field: Option<String>,
    /// Other fields to keep with the documents, separated by commas
    ///
    /// For mails, a field is a header, such as subject, date or from. Upper and lower case are the same.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    pub(crate) keep_fields: Vec<String>,
    /// Read each attachment of a mail as a document too
    ///
    /// An attachment is named after its mail, such as 'inbox.mbox#17!contract.pdf', and read as a member of
    /// an archive is. The mail stays a document, with its own text.
    #[arg(long, conflicts_with_all = ["front_end", "no_expand"])]
    pub(crate) attachments: bool,
}

impl RecordFieldArgs {
    /// Sets these parts. If a field was named, files of records must not be read as one document.
    pub(crate) fn set(&self, read: ReadOptions) -> ReadOptions {
        let mut fields = RecordFields::default().keep(self.keep_fields.clone());
        if !self.text_field.is_empty() {
            fields.text = self.text_field.join("\n");
        }
        fields.id = self.id_field.clone().unwrap_or(fields.id);
        let expects_records = !self.text_field.is_empty() || self.id_field.is_some();
        read.fields(fields).expects_records(expects_records).attachments(self.attachments)
    }
}

/// How query documents are read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct QueryReadArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Ignore quotations in the query
    ///
    /// Text in quotation marks, and in lines that begin with `>`, counts in no score. A passage that other
    /// text starts may run across a quotation, and `coverage` counts it there, unless the quotation is longer
    /// than the guarantee t and `--gap`. Fingerprints that reach from other text into a quotation longer than
    /// t are ignored too. For prose only.
    #[arg(long)]
    pub(crate) skip_quotes: bool,
    /// Ignore the phrases in this file, one a line
    ///
    /// The file is UTF-8; empty lines and lines that begin with # are comments. Case and layout make no
    /// difference. Fingerprints that lie in phrases, or reach into a phrase longer than the guarantee t,
    /// count in no score. A passage that other text starts may run across a phrase, and `coverage` counts it
    /// there, unless the phrase is longer than t and `--gap`. For prose only.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ignore_phrases: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl QueryReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        self.read.options().skip_quotes(self.skip_quotes).limits(self.limits.limits())
    }

    /// The flags on the command line, for a report.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::switch("--skip-quotes", self.skip_quotes),
            Setting::ignored_text("--ignore-phrases", self.ignore_phrases.as_ref().map(|path| path.display())),
        ]
    }
}

/// A document on standard input.
#[derive(Clone, Debug, Args)]
pub(crate) struct InputArgs {
    /// The name of the document on standard input (`-`)
    #[arg(long, value_name = "NAME", default_value = "-", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
}

impl InputArgs {
    /// Checks that standard input is read once, or not at all and not named. `inputs` is the number of `-`
    /// among the typed paths.
    pub(crate) fn check(&self, inputs: usize) -> anyhow::Result<()> {
        if self.name != "-" && inputs == 0 {
            anyhow::bail!("--name names the document on standard input: add the path `-`, or leave it out");
        }
        anyhow::ensure!(inputs <= 1, "standard input can be read only once");
        Ok(())
    }
}

/// `auto`, `code`, or the name of a format.
#[derive(Clone)]
struct ReadAsParser;

impl TypedValueParser for ReadAsParser {
    type Value = ReadAs;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        typed: &std::ffi::OsStr,
    ) -> Result<ReadAs, clap::Error> {
        let parse = |name: String| name.parse().map_err(|_| format!("expected one of {}", read_as_names().join(", ")));
        clap::builder::StringValueParser::new().try_map(parse).parse_ref(command, argument, typed)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(read_as_names().into_iter().map(PossibleValue::new)))
    }
}

/// The values of `--as`.
fn read_as_names() -> Vec<&'static str> {
    let formats = Format::ALL.into_iter().map(Format::name);
    let languages = Language::ALL.into_iter().map(Language::name);
    ["auto", "code"].into_iter().chain(formats).chain(languages).collect()
}
