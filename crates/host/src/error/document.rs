//! Document error: the reasons why a document, or a container of documents, cannot be read.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::Cause;
use crate::skip_reason::SkipReason;

impl DocumentError {
    /// The path that the message names, if it names one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::ChangedWhileReading { path }
            | Self::PathNotUtf8 { path }
            | Self::IsAContainer { path }
            | Self::NoDocuments { path }
            | Self::RecordsWithoutName { path }
            | Self::RecordsInArray { path }
            | Self::NotAFile { path }
            | Self::NotSearched { path, .. } => Some(path),
            _ => None,
        }
    }

    /// True if the same bytes, read with the same settings by the same version of the library, give this
    /// error again. False if the error may depend on the machine, on other files, or on the features of the
    /// build.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        match self {
            Self::Attachments { source } => source.is_lasting(),
            Self::ReaderFailed { .. }
            | Self::LeftOut { .. }
            | Self::ReadingMemory { .. }
            | Self::ReadingTime { .. }
            | Self::ChangedWhileReading { .. }
            | Self::GivenTwice { .. } => false,
            _ => true,
        }
    }
}

/// The reason why a document, or a container of documents, cannot be read. Other documents are not affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The document should be text, but is binary.
    #[error("not a text document: {reason}")]
    Binary {
        /// The kind of its content.
        reason: SkipReason,
    },
    /// Compressed or packed data is damaged, cut short, or of an unknown kind.
    #[error("the {format} data cannot be decoded")]
    Undecodable {
        /// The format: "gzip", "zip".
        format: &'static str,
        /// The decoder's error.
        source: Cause,
    },
    /// The reader of the format failed on the data in an unexpected way.
    #[error("the reader of this format failed on it: {detail}")]
    ReaderFailed {
        /// The reader's message, and the place in its code.
        detail: String,
    },
    /// The text of a document of another database cannot be read again.
    #[error("its text cannot be read again: {reason}")]
    NotReadAgain {
        /// The reason.
        reason: String,
    },
    /// The attachments of a mail cannot be read. The mail itself may be readable.
    #[error("its attachments cannot be read")]
    Attachments {
        /// The reason.
        source: Box<DocumentError>,
    },
    /// This build of the library has no reader for the format.
    #[error("this build of fpdb does not read its format: it was made without the feature {feature}")]
    LeftOut {
        /// The feature of the package that adds the reader.
        feature: &'static str,
    },
    /// The member is protected with a password.
    #[error("it is encrypted")]
    Encrypted,
    /// The data decompresses to suspiciously many bytes.
    #[error("it decompresses to more than {limit} times its size")]
    Expansion {
        /// Maximum ratio of decompressed to compressed bytes.
        limit: u64,
    },
    /// The members and layers of a file are too large together.
    #[error("the file decompresses to more than {limit} bytes")]
    Expanded {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Two members have the same name after both names are normalised.
    #[error("another member of the archive has this name too, once both are tidied")]
    NameTaken,
    /// The member's name is not a file name.
    #[error("its name in the archive is not a file name")]
    NoName,
    /// Containers and compressions are nested too deeply.
    #[error("more than {limit} containers and compressions lie within each other")]
    NestedTooDeep {
        /// Maximum nesting.
        limit: u32,
    },
    /// The container has too many members.
    #[error("the file has more than {limit} members")]
    TooManyMembers {
        /// Maximum number of members.
        limit: u64,
    },
    /// The document is too long.
    #[error("the document has more than {limit} bytes")]
    DocumentTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The record is too long to be held in memory.
    #[error("the record has more than {limit} bytes")]
    RecordTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The document's name, path and metadata are too long.
    #[error("the document's name, path and metadata have more than {limit} bytes")]
    MetadataTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// A line of JSON is nested too deeply.
    #[error("the JSON has more than {limit} arrays and objects within each other")]
    JsonTooDeep {
        /// Maximum nesting.
        limit: u32,
    },
    /// The line is not a record.
    #[error("the line is not a {format} record")]
    NotARecord {
        /// The format: "JSON".
        format: &'static str,
        /// The parser's error.
        source: Cause,
    },
    /// The record or table lacks the field that should hold the text.
    #[error("the record has no field {field}")]
    NoField {
        /// The name of the field.
        field: String,
    },
    /// No record, or no column of the table, has the field that should hold the text.
    #[error("{}", no_text_field(field, *records, fields))]
    NoTextField {
        /// The name of the field.
        field: String,
        /// Number of records read, from the first one on; `None` for a table, whose columns are known.
        records: Option<u64>,
        /// The fields that exist.
        fields: Vec<String>,
        /// The text field with most text, such as `body` or `messages[].content`; `None` if none has any.
        most_text: Option<String>,
    },
    /// The field of the record is not text.
    #[error("the field {field} of the record is not text")]
    NotText {
        /// The name of the field.
        field: String,
        /// The text field to ask for instead: it joins the texts inside this field, such as
        /// `messages[].content`. `None` if this field contains no texts, or if the caller already asked for
        /// such a field.
        place: Option<String>,
    },
    /// The document does not have the format that it is read as, or is damaged.
    #[error("this is not a readable {format} document: {detail}")]
    NotOfFormat {
        /// The name of the format.
        format: &'static str,
        /// The fault.
        detail: Cow<'static, str>,
        /// The error of the format's library.
        source: Option<Cause>,
    },
    /// The document is encrypted.
    #[error("the {format} document is encrypted")]
    EncryptedDocument {
        /// The name of the format.
        format: &'static str,
    },
    /// The document is too large for a format that is read as a whole.
    #[error("the {format} document has more than {limit} bytes, the most that is read whole")]
    TooLarge {
        /// The name of the format.
        format: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// Unpacking the document gives more data than its size justifies.
    #[error("the {format} document unpacks to more than {limit} bytes, out of proportion to its size")]
    Unpacked {
        /// The name of the format.
        format: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// Reading the document takes too much memory.
    #[error("reading the {format} document takes more than {limit} bytes of memory")]
    ReadingMemory {
        /// The name of the format.
        format: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// Reading the document takes too much time.
    #[error("reading the {format} document takes more than {seconds} s of processor time")]
    ReadingTime {
        /// The name of the format.
        format: &'static str,
        /// The limit, in seconds of processor time.
        seconds: u64,
    },
    /// The member's name is too long to be stored.
    #[error("its name has more than {limit} bytes")]
    NameTooLong {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The document has too many fingerprints to number them.
    #[error("the document has more than {limit} fingerprints")]
    TooManyFingerprints {
        /// Maximum number of fingerprints.
        limit: u64,
    },
    /// The file was changed while it was read.
    #[error("{} changed while it was being read", path.display())]
    ChangedWhileReading {
        /// The file.
        path: PathBuf,
    },
    /// The document was given twice in one run, with different contents.
    #[error("{name} was found twice in this run, with different content")]
    GivenTwice {
        /// The document's name.
        name: String,
    },
    /// An earlier run failed to read some members of the container. The container is unchanged.
    #[error("some of its members could not be read by an earlier run, and it is unchanged")]
    FailedBefore,
    /// An earlier run failed to read this member of a container. The container is unchanged.
    #[error("{reason}")]
    FailedEarlier {
        /// The message of that run.
        reason: String,
    },
    /// The path is not valid UTF-8, so it cannot be a document's name.
    #[error("the path {} is not valid UTF-8", path.display())]
    PathNotUtf8 {
        /// The path; `display` shows it with replacement characters.
        path: PathBuf,
    },
    /// The file is a container, but one document was expected.
    #[error("{} holds several documents", path.display())]
    IsAContainer {
        /// The file.
        path: PathBuf,
    },
    /// A folder or archive was given for its documents, and has none.
    #[error("no document is in {}", path.display())]
    NoDocuments {
        /// The folder or archive.
        path: PathBuf,
    },
    /// The file exists, but no such part of it was found.
    #[error("{} exists, but it has no part {part}", path.display())]
    NoSuchPart {
        /// The file.
        path: PathBuf,
        /// The name of the part, without the name of the file.
        part: String,
    },
    /// The file holds JSON lines, but its name does not show that.
    #[error("{} holds JSON lines, and its name does not say so", path.display())]
    RecordsWithoutName {
        /// The file, or the name of the stream.
        path: PathBuf,
    },
    /// The file holds a JSON array of records, or one record on several lines, but JSON lines were expected.
    #[error("{} holds JSON records, not one a line, and only JSON lines are read as records", path.display())]
    RecordsInArray {
        /// The file, or the name of the stream.
        path: PathBuf,
    },
    /// The path is a folder, pipe, socket or device, but a file was expected.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The container is too large to search it for one member.
    #[error("{} has more than {limit} bytes and is not searched for one member", path.display())]
    NotSearched {
        /// The path of the container.
        path: PathBuf,
        /// The limit, in bytes.
        limit: u64,
    },
}

/// Maximum number of fields that a message lists.
const FIELDS_LISTED: usize = 12;

fn no_text_field(field: &str, records: Option<u64>, fields: &[String]) -> String {
    let none = match records {
        None => format!("the table has no column `{field}` of text"),
        Some(1) => format!("the record has no field `{field}`"),
        Some(records) => format!("none of the first {records} records has the field `{field}`"),
    };
    let more = if fields.len() > FIELDS_LISTED { ", ..." } else { "" };
    let listed = fields[..fields.len().min(FIELDS_LISTED)].join(", ");
    let have = if records.is_none_or(|records| records == 1) { "it has" } else { "they have" };
    if fields.is_empty() { none } else { format!("{none}; {have} {listed}{more}") }
}
