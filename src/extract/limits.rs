//! Limits: how much of the memory one document may take, whatever it claims to be.

use super::{ReaderProcess, cost};
use crate::document::Format;
use crate::error::{Error, Result};
use crate::input::InputLimits;

/// How large documents that are read whole may be, and what is in them.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of a document.
    pub(crate) document: u64,
    /// Bytes that are unpacked of one, all its parts together.
    pub(crate) unpacked: u64,
    /// How many times larger than the document that may be, once it is more than [`InputLimits::FREE_UNPACKED_BYTES`].
    pub(crate) expansion: u64,
    /// Bytes of memory that reading one may take.
    pub(crate) memory: u64,
    /// Seconds of processor time, see [`InputLimits::reading_seconds`].
    pub(crate) seconds: u64,
    /// What reads documents of formats with a [detached](super::is_detached) text.
    pub(crate) process: Option<ReaderProcess>,
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&InputLimits::default())
    }
}

impl Limits {
    pub(crate) fn of(limits: &InputLimits) -> Self {
        let &InputLimits { whole_bytes: document, unpacked_bytes: unpacked, unpacking: expansion, .. } = limits;
        let &InputLimits { reading_memory: memory, reading_seconds: seconds, .. } = limits;
        Self { document, unpacked, expansion, memory, seconds, process: limits.process.clone() }
    }

    /// Refuses a document of more bytes than can be held.
    pub(crate) fn check_document(&self, format: Format, bytes: u64) -> Result<()> {
        if bytes <= self.document {
            return Ok(());
        }
        Err(Error::TooLarge { format: format.name(), limit: self.document })
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
        Err(Error::ReadingMemory { format: format.name(), limit: self.memory })
    }

    /// Seconds of processor time that a document of so many bytes may take.
    pub(super) fn seconds(&self, bytes: u64) -> u64 {
        self.seconds.saturating_add(bytes / InputLimits::BYTES_A_SECOND)
    }

    /// What a document of this many bytes may unpack to.
    pub(super) fn unpacked(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.expansion).max(InputLimits::FREE_UNPACKED_BYTES).min(self.unpacked)
    }
}
