//! Limits: how much of the memory one document may take, whatever it claims to be.

use super::cost;
use super::process::ReaderProcess;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

/// How large documents that are read whole may be, and what is in them.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a document.
    pub(crate) document: u64,
    /// Bytes that are unpacked of one, all its parts together.
    pub(crate) unpacked: u64,
    /// How many times larger than the document that may be, once it is more than [`FREE_UNPACKED_BYTES`](Self::FREE_UNPACKED_BYTES).
    pub(crate) expansion: u64,
    /// Bytes of memory that reading one may take.
    pub(crate) memory: u64,
    /// Seconds of processor time; one more for each [`BYTES_A_SECOND`](Self::BYTES_A_SECOND).
    pub(crate) seconds: u64,
    /// The process that reads documents of formats with a [detached](super::is_detached) text.
    pub(crate) process: Option<ReaderProcess>,
}

impl Limits {
    /// The parts of any document may decompress to this many bytes.
    pub(crate) const FREE_UNPACKED_BYTES: u64 = 16 << 20;

    /// The slowest that a large document may be read.
    pub(crate) const BYTES_A_SECOND: u64 = 250_000;
}

impl Default for Limits {
    fn default() -> Self {
        Self { document: 256 << 20, unpacked: 1 << 30, expansion: 100, memory: 1 << 30, seconds: 60, process: None }
    }
}

impl Limits {
    /// Refuses a document of more bytes than can be held.
    pub(crate) fn check_document(&self, format: Format, bytes: u64) -> Result<()> {
        if bytes <= self.document {
            return Ok(());
        }
        Err(Error::Document(DocumentError::TooLarge { format: format.name(), limit: self.document }))
    }

    /// Refuses a document that takes too much memory to read here, by what documents of its format take.
    pub(super) fn check_memory(&self, format: Format, bytes: &[u8]) -> Result<()> {
        self.check_needed(format, cost::memory(format, bytes))
    }

    /// Refuses a document that is known to need so much memory.
    pub(super) fn check_needed(&self, format: Format, memory: u64) -> Result<()> {
        if memory <= self.memory {
            return Ok(());
        }
        Err(Error::Document(DocumentError::ReadingMemory { format: format.name(), limit: self.memory }))
    }

    /// Seconds of processor time that a document of so many bytes may take.
    pub(super) fn seconds(&self, bytes: u64) -> u64 {
        self.seconds.saturating_add(bytes / Self::BYTES_A_SECOND)
    }

    /// A document of this many bytes may decompress to so many.
    pub(super) fn unpacked(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.expansion).max(Self::FREE_UNPACKED_BYTES).min(self.unpacked)
    }
}
