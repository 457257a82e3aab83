//! Limits: bounds on the size, memory and time of one document, for any content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cost;
use super::process::ReaderProcess;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::setters::setters;
use fpdb_kernel::document::Format;

/// A limit of the input: an entry of [`InputLimits::TABLE`].
#[derive(Debug)]
pub struct InputLimit {
    /// The name that users of the program type.
    pub name: &'static str,
    /// The field of [`InputLimits`], which is the name in Python.
    pub field: &'static str,
    /// The unit of its value.
    pub unit: LimitUnit,
    /// Value if the host sets none.
    pub default: u64,
    /// The thing that it limits, as a noun phrase.
    pub meaning: &'static str,
    /// Reads its value from limits.
    pub get: fn(&InputLimits) -> u64,
    /// Sets its value in limits.
    pub set: fn(&mut InputLimits, u64),
}

impl InputLimit {
    /// The limit that this field of [`InputLimits`] holds.
    pub fn of_field(field: &str) -> Option<&'static Self> {
        InputLimits::TABLE.iter().find(|limit| limit.field == field)
    }

    /// Checks a value against the unit.
    ///
    /// # Errors
    /// A description of the allowed values, if `value` is not one of them.
    pub fn check(&self, value: u64) -> std::result::Result<u64, &'static str> {
        match self.unit {
            LimitUnit::Times | LimitUnit::Seconds if value == 0 => Err("a whole number, 1 or more"),
            LimitUnit::Depth if value > u32::MAX.into() => Err("a whole number up to 4294967295"),
            _ => Ok(value),
        }
    }
}

/// The unit of a limit's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// A number of bytes.
    Size,
    /// A factor: 1 or more.
    Times,
    /// A number of seconds: 1 or more.
    Seconds,
    /// A number of things, such as members.
    Count,
    /// A depth of nesting, below 2^32.
    Depth,
}

macro_rules! limits {
    ($($name:literal $unit:ident $field:ident: $kind:ident = $default:expr, $meaning:literal;)*) => {
        /// Limits of files: a file beyond them counts as hostile.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(try_from = "BTreeMap<String, u64>", into = "BTreeMap<String, u64>")]
        #[non_exhaustive]
        pub struct InputLimits {
            $(
                #[doc = concat!("`", $name, "`: ", $meaning, ".")]
                pub $field: $kind,
            )*
            /// The program that reads documents in formats of foreign parsers (PDF, DOCX, ODT, EPUB, mail) in
            /// separate processes. The limits of memory and time then hold even if a parser misbehaves.
            /// `None`: this process reads such documents, and refuses one if the estimate of its memory
            /// exceeds the limit. Not part of the JSON.
            pub process: Option<ReaderProcess>,
        }

        impl InputLimits {
            /// Every limit that is a number, in the order of the help.
            pub const TABLE: &[InputLimit] = &[$(InputLimit {
                name: $name,
                field: stringify!($field),
                unit: LimitUnit::$unit,
                default: $default,
                meaning: $meaning,
                get: |limits| limits.$field.into(),
                set: |limits, value| limits.$field = $kind::try_from(value).unwrap_or($kind::MAX),
            }),*];

            setters! { $($field: $kind,)* process: Option<ReaderProcess> }
        }

        impl Default for InputLimits {
            fn default() -> Self {
                Self { $($field: $default,)* process: None }
            }
        }
    };
}

limits! {
    "document-size" Size document_bytes: u64 = 16 << 30, "one document";
    "record-size" Size record_bytes: u64 = 256 << 20,
        "a record that is held in memory whole: a line of JSON or of mail, a value of Parquet";
    "whole-size" Size whole_bytes: u64 = 256 << 20,
        "a document in a format that is read whole (all but text, code and bytes)";
    "reading-memory" Size reading_memory: u64 = 1 << 30,
        "memory to read one such document; in an ingest also a share of --memory";
    "reading-time" Seconds reading_seconds: u64 = 60,
        "seconds to read one PDF, DOCX, ODT, EPUB or mail; one more for each 250 kB";
    "unpacked-size" Size unpacked_bytes: u64 = 1 << 30, "the unpacked parts of one PDF, DOCX, ODT or EPUB";
    "unpacking" Times unpacking: u64 = 100,
        "how many times its size one PDF, DOCX, ODT or EPUB unpacks to, beyond 16 MiB";
    "expanded-size" Size expanded_bytes: u64 = 1 << 40,
        "one archive or compressed file when expanded, with all its members and layers";
    "expansion" Times expansion: u64 = 250, "how many times its size compressed data expands to, beyond 64 MiB";
    "name-size" Size name_bytes: u64 = 4 << 10, "the name that an archive or crawl gives to a member";
    "members" Count members: u64 = 100_000_000, "members of one file";
    "nesting" Depth nesting: u32 = 8, "containers and compressions within each other (.tar.gz is two)";
    "json-depth" Depth json_depth: u32 = 64, "arrays and objects within each other in a line of JSON";
}

impl TryFrom<BTreeMap<String, u64>> for InputLimits {
    type Error = Error;

    fn try_from(given: BTreeMap<String, u64>) -> Result<Self> {
        given.into_iter().try_fold(Self::default(), |limits, (field, value)| limits.with(&field, value))
    }
}

impl From<InputLimits> for BTreeMap<String, u64> {
    fn from(limits: InputLimits) -> Self {
        InputLimits::TABLE.iter().map(|limit| (limit.field.to_owned(), (limit.get)(&limits))).collect()
    }
}

impl InputLimits {
    /// Returns these limits with another value of the limit `field`.
    ///
    /// # Errors
    /// [`Error::UnknownLimit`] if no field has this name; [`Error::InvalidParameter`] if the limit cannot
    /// have this value.
    pub fn with(mut self, field: &str, value: u64) -> Result<Self> {
        let limit = InputLimit::of_field(field).ok_or_else(|| Error::UnknownLimit {
            name: field.into(),
            known: Self::TABLE.iter().map(|limit| limit.field).collect(),
        })?;
        let value = limit.check(value).map_err(|expected| Error::InvalidParameter {
            name: limit.field,
            value: value.to_string(),
            expected,
        })?;
        (limit.set)(&mut self, value);
        Ok(self)
    }

    /// Bytes to which any file may decompress, even a very small one. Small files can have any compression
    /// ratio.
    pub const FREE_BYTES: u64 = 64 << 20;

    /// Bytes to which the parts of any document may decompress.
    pub const FREE_UNPACKED_BYTES: u64 = 16 << 20;

    /// Minimum speed at which a large document must be read, in bytes per second.
    pub const BYTES_A_SECOND: u64 = 250_000;

    /// Returns an error for a document that is larger than the limit.
    pub(crate) fn check_document(&self, format: Format, bytes: u64) -> Result<()> {
        if bytes <= self.whole_bytes {
            return Ok(());
        }
        Err(Error::Document(DocumentError::TooLarge { format: format.name(), limit: self.whole_bytes }))
    }

    /// Returns an error for a document whose estimated memory exceeds the limit.
    pub(super) fn check_memory(&self, format: Format, bytes: &[u8]) -> Result<()> {
        self.check_needed(format, cost::memory(format, bytes))
    }

    /// Returns an error if a document needs more than the allowed memory.
    pub(super) fn check_needed(&self, format: Format, memory: u64) -> Result<()> {
        if memory <= self.reading_memory {
            return Ok(());
        }
        Err(Error::Document(DocumentError::ReadingMemory { format: format.name(), limit: self.reading_memory }))
    }

    /// Seconds of processor time allowed for a document of `bytes` bytes.
    pub(super) fn seconds_for(&self, bytes: u64) -> u64 {
        self.reading_seconds.saturating_add(bytes / Self::BYTES_A_SECOND)
    }

    /// Bytes to which a document of `bytes` bytes may decompress.
    pub(super) fn unpacked_for(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.unpacking).max(Self::FREE_UNPACKED_BYTES).min(self.unpacked_bytes)
    }
}
