//! Document error: why one document, or one container of documents, cannot be read.

use std::borrow::Cow;
use std::path::PathBuf;

use super::Cause;

/// Why one document, or one container of documents, cannot be read. Others are not affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// A document of a text front-end that holds no text.
    #[error("not a text document: {reason}")]
    Binary {
        /// The kind of its content, as a noun phrase.
        reason: &'static str,
    },
    /// Compressed or packed data that is damaged, cut short, or of a kind that is not known.
    #[error("the {format} data cannot be decoded")]
    Undecodable {
        /// The format: "gzip", "zip".
        format: &'static str,
        /// The decoder's error.
        source: Cause,
    },
    /// Data on which the reader of its format gave up in a way it is not meant to.
    #[error("the reader of this format failed on it: {detail}")]
    ReaderFailed {
        /// The reader's message, and the place.
        detail: String,
    },
    /// A document of a format that this build of the library leaves out.
    #[error("this build of fpdb does not read its format: it was made without the feature {feature}")]
    LeftOut {
        /// The feature of the package that brings the format's reader.
        feature: &'static str,
    },
    /// A member that only a password opens.
    #[error("it is encrypted")]
    Encrypted,
    /// Data that decompresses to suspiciously many bytes.
    #[error("it decompresses to more than {limit} times its size")]
    Expansion {
        /// The limit.
        limit: u64,
    },
    /// A file whose members and layers are too much together.
    #[error("the file decompresses to more than {limit} bytes")]
    Expanded {
        /// The limit.
        limit: u64,
    },
    /// A member whose name another one has, once both are tidied.
    #[error("another member of the archive has this name too, once both are tidied")]
    NameTaken,
    /// A member that cannot be named.
    #[error("its name in the archive is not a file name")]
    NoName,
    /// Containers within containers.
    #[error("more than {limit} containers and compressions lie within each other")]
    NestedTooDeep {
        /// The limit.
        limit: u32,
    },
    /// A container of too many members.
    #[error("the file has more than {limit} members")]
    TooManyMembers {
        /// The limit.
        limit: u64,
    },
    /// A document that is too long.
    #[error("the document has more than {limit} bytes")]
    DocumentTooLarge {
        /// The limit.
        limit: u64,
    },
    /// A record that cannot be held in memory.
    #[error("the record has more than {limit} bytes")]
    RecordTooLarge {
        /// The limit.
        limit: u64,
    },
    /// A document whose name, path and metadata are too much to keep.
    #[error("the document's name, path and metadata have more than {limit} bytes")]
    MetadataTooLarge {
        /// The limit.
        limit: u64,
    },
    /// A line of JSON that is nested too deep.
    #[error("the JSON has more than {limit} arrays and objects within each other")]
    JsonTooDeep {
        /// The limit.
        limit: u32,
    },
    /// A line that is no record.
    #[error("the line is not a {format} record")]
    NotARecord {
        /// The format: "JSON".
        format: &'static str,
        /// The parser's error.
        source: Cause,
    },
    /// A record or table without the field that should hold the text.
    #[error("the record has no field {field}")]
    NoField {
        /// The field.
        field: String,
    },
    /// Records or a table none of which has the field that should hold the text.
    #[error("{}", no_text_field(field, *records, fields))]
    NoTextField {
        /// The field.
        field: String,
        /// The records that were looked at, from the first; `None` of a table, whose columns are known.
        records: Option<u64>,
        /// The fields that there are.
        fields: Vec<String>,
        /// The field that holds most text, where one holds any.
        most_text: Option<String>,
    },
    /// A record whose field holds something else than text.
    #[error("the field {field} of the record is not text")]
    NotText {
        /// The field.
        field: String,
    },
    /// A document that is not of the format it is read as, or is damaged.
    #[error("this is not a readable {format} document: {detail}")]
    NotOfFormat {
        /// The name of the format.
        format: &'static str,
        /// The fault.
        detail: Cow<'static, str>,
        /// The error of the library that reads it.
        source: Option<Cause>,
    },
    /// A document that only its owner can read.
    #[error("the {format} document is encrypted")]
    EncryptedDocument {
        /// The name of the format.
        format: &'static str,
    },
    /// A document of a format that is read whole, and more than can be held.
    #[error("the {format} document has more than {limit} bytes, the most that is read whole")]
    TooLarge {
        /// The name of the format.
        format: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A document that grows out of proportion when it is unpacked.
    #[error("the {format} document unpacks to more than {limit} bytes, out of proportion to its size")]
    Unpacked {
        /// The name of the format.
        format: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A document that takes too much memory to read.
    #[error("reading the {format} document takes more than {limit} bytes of memory")]
    ReadingMemory {
        /// The name of the format.
        format: &'static str,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A document that takes too long to read.
    #[error("reading the {format} document takes more than {seconds} s of processor time")]
    ReadingTime {
        /// The name of the format.
        format: &'static str,
        /// The limit, in seconds.
        seconds: u64,
    },
    /// A member whose name is too long to be kept.
    #[error("its name has more than {limit} bytes")]
    NameTooLong {
        /// The limit, in bytes.
        limit: u64,
    },
    /// A document with more fingerprints than an ordinal can number.
    #[error("the document has more than {limit} fingerprints")]
    TooManyFingerprints {
        /// The limit.
        limit: u64,
    },
    /// A file that was written to while it was read.
    #[error("{} changed while it was being read", path.display())]
    ChangedWhileReading {
        /// The file.
        path: PathBuf,
    },
    /// A document that was given twice in one run, with two contents.
    #[error("{name} was found twice in this run, with different content")]
    GivenTwice {
        /// The document's name.
        name: String,
    },
    /// A path that cannot be a document's name.
    #[error("the path {} is not valid UTF-8", path.display())]
    PathNotUtf8 {
        /// The path; `display` shows it with replacement characters.
        path: PathBuf,
    },
    /// A container where one document was expected.
    #[error("{} holds several documents", path.display())]
    IsAContainer {
        /// The file.
        path: PathBuf,
    },
    /// JSON lines from standard input or a pipe, whose name does not tell that they are.
    #[error("{} holds JSON lines, and its name does not say so", path.display())]
    RecordsWithoutName {
        /// The stream.
        path: PathBuf,
    },
    /// A folder, pipe, socket or device where a file was expected.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A container too large to be read through for one of its members.
    #[error("{} has more than {limit} bytes and is not searched for one member", path.display())]
    NotSearched {
        /// The container.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
}

/// The fields that a message lists at most.
const FIELDS_LISTED: usize = 12;

fn no_text_field(field: &str, records: Option<u64>, fields: &[String]) -> String {
    let none = match records {
        None => format!("the table has no column `{field}` of text"),
        Some(records) => format!("none of the first {records} records has the field `{field}`"),
    };
    let more = if fields.len() > FIELDS_LISTED { ", ..." } else { "" };
    let listed = fields[..fields.len().min(FIELDS_LISTED)].join(", ");
    let have = if records.is_none() { "it has" } else { "they have" };
    if fields.is_empty() { none } else { format!("{none}; {have} {listed}{more}") }
}
