//! Package: the parts of a document that is a zip archive. Each part is read whole. The size of all parts
//! together is limited.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::extract::InputLimits;
use crate::extract::text::extracted::{Unread, UnreadParts};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

/// An open package.
pub(crate) struct Package<'a> {
    format: Format,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Maximum number of bytes to which all parts may decompress, and the number of these bytes that is left.
    limit: u64,
    left: u64,
}

impl<'a> Package<'a> {
    /// Opens a document of this format.
    ///
    /// # Errors
    /// [`DocumentError::NotOfFormat`] if it is not a complete zip archive.
    pub fn open(format: Format, bytes: &'a [u8], limits: &InputLimits) -> Result<Self> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| unreadable(format, error))?;
        // A part is in memory together with its text, or with the segments of a page.
        let limit = limits.unpacked_for(bytes.len() as u64).min(limits.reading_memory / 4);
        Ok(Self { format, archive, limit, left: limit })
    }

    /// The bytes of the part with this name, if it exists.
    ///
    /// # Errors
    /// [`DocumentError::Unpacked`] above the limit, [`DocumentError::EncryptedDocument`], and
    /// [`DocumentError::NotOfFormat`] if the part is damaged.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(Error::Document(DocumentError::EncryptedDocument { format: self.format.name() }));
            }
            Err(error) => return Err(unreadable(self.format, error)),
        };
        let mut bytes = Vec::new();
        // Reads one byte more than allowed, to notice a part that is too large.
        let read = part.take(self.left + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(self.format, error.into()))?;
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or(Error::Document(DocumentError::Unpacked { format: self.format.name(), limit: self.limit }))?;
        Ok(Some(bytes))
    }

    /// Summarises the parts whose names satisfy `is_unread`. The parts themselves are not read: the archive's
    /// directory has their checksums and sizes.
    ///
    /// # Errors
    /// [`DocumentError::NotOfFormat`] if the directory is damaged.
    pub(crate) fn unread(&mut self, is_unread: impl Fn(&str) -> bool) -> Result<Unread> {
        let mut unread = UnreadParts::default();
        for number in 0..self.archive.len() {
            let part = self.archive.by_index_raw(number).map_err(|error| unreadable(self.format, error))?;
            if part.is_file() && part.name().is_ok_and(|name| is_unread(&name)) {
                unread.add(&[&part.crc32().to_le_bytes()[..], &part.size().to_le_bytes()].concat());
            }
        }
        Ok(unread.finish())
    }

    /// The bytes of a required part.
    pub(crate) fn needed(&mut self, name: &str) -> Result<Vec<u8>> {
        self.part(name)?.ok_or_else(|| {
            Error::Document(DocumentError::NotOfFormat {
                format: self.format.name(),
                detail: format!("the part {name} is missing").into(),
                source: None,
            })
        })
    }
}

fn unreadable(format: Format, error: ZipError) -> Error {
    let detail = "its parts cannot be unpacked".into();
    Error::Document(DocumentError::NotOfFormat { format: format.name(), detail, source: Some(error.into()) })
}
