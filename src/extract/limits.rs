//! Limits: how much of the memory one document may take, whatever it claims to be.

use crate::document::Format;
use crate::error::{Error, Result};
use crate::input::InputLimits;
use crate::normalize::is_plain_utf8;

/// How large documents that are read whole may be, and what is in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of a document.
    pub(crate) document: u64,
    /// Bytes that are unpacked of one, all its parts together.
    pub(crate) unpacked: u64,
    /// How many times larger than the document that may be, once it is more than [`InputLimits::FREE_UNPACKED_BYTES`].
    pub(crate) expansion: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&InputLimits::default())
    }
}

impl Limits {
    pub(crate) fn of(limits: &InputLimits) -> Self {
        let &InputLimits { whole_bytes: document, unpacked_bytes: unpacked, unpacking: expansion, .. } = limits;
        Self { document, unpacked, expansion }
    }

    /// Refuses a document of more bytes than can be held.
    pub(crate) fn check_document(&self, format: Format, bytes: u64) -> Result<()> {
        if bytes <= self.document {
            return Ok(());
        }
        Err(Error::TooLarge { format: format.name(), limit: self.document })
    }

    /// Refuses a document that would have to be transcribed first, and is too large for that: each of its characters may
    /// need a [`Segment`](super::Segment) of its own, twice.
    pub(super) fn check_transcript(&self, format: Format, bytes: &[u8]) -> Result<()> {
        let limit = self.document / 4;
        if bytes.len() as u64 <= limit || is_plain_utf8(bytes).is_some() {
            return Ok(());
        }
        Err(Error::TooLarge { format: format.name(), limit })
    }

    /// What a document of this many bytes may unpack to.
    pub(super) fn unpacked(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.expansion).max(InputLimits::FREE_UNPACKED_BYTES).min(self.unpacked)
    }
}
