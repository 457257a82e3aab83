//! Origins: the bytes of a document that each symbol comes from, encoded in one or two bytes a symbol. Pure.

use bytemuck::{Pod, Zeroable};

use fpdb_kernel::document::Span;

/// Number of symbols from one checkpoint to the next.
pub(super) const STEP: usize = 64;

/// Marks a symbol whose origin does not fit in one byte; the full origin follows.
const AT_LENGTH: u8 = u8::MAX;

/// Maximum bytes of a symbol, and maximum distance from the start of the symbol before, for an origin that
/// fits in one byte.
const MOST_BYTES: u64 = 8;
const MOST_AHEAD: u64 = 31;

/// The decoder's state at every [`STEP`]th symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Checkpoint {
    /// Offset of the encoded origin.
    pub(super) at: u64,
    /// Start of the previous symbol's origin.
    pub(super) before: u64,
}

/// The origins of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    pub(super) bytes: Vec<u8>,
    pub(super) checkpoints: Vec<Checkpoint>,
    count: usize,
    before: u64,
}

impl Origins {
    /// Adds the origin of the next symbol.
    pub(super) fn push(&mut self, origin: Span) {
        if self.count.is_multiple_of(STEP) {
            self.checkpoints.push(Checkpoint { at: self.bytes.len() as u64, before: self.before });
        }
        self.count += 1;
        let ahead = origin.start.wrapping_sub(self.before);
        let length = origin.end.wrapping_sub(origin.start);
        if ahead < MOST_AHEAD && (1..=MOST_BYTES).contains(&length) {
            self.bytes.push((ahead * MOST_BYTES + length - 1) as u8);
        } else {
            self.bytes.push(AT_LENGTH);
            self.bytes.extend_from_slice(&origin.start.to_le_bytes());
            self.bytes.extend_from_slice(&origin.end.to_le_bytes());
        }
        self.before = origin.start;
    }
}

/// Maximum number of encoded bytes between two checkpoints.
pub(super) const MOST_OF_STEP: usize = STEP * 17;

/// The origin of the symbol `index` places after a checkpoint. `bytes` begins with the checkpoint's origins;
/// `None` if `bytes` is too short.
pub(super) fn origin(mut bytes: &[u8], mut before: u64, index: usize) -> Option<Span> {
    let word = |bytes: &mut &[u8]| {
        let (word, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*word))
    };
    for place in 0..=index {
        let (&first, rest) = bytes.split_first()?;
        bytes = rest;
        let span = if first == AT_LENGTH {
            Span { start: word(&mut bytes)?, end: word(&mut bytes)? }
        } else {
            let start = before.wrapping_add(u64::from(first) / MOST_BYTES);
            Span { start, end: start + u64::from(first) % MOST_BYTES + 1 }
        };
        if place == index {
            return Some(span);
        }
        before = span.start;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn origins_come_back(steps in prop::collection::vec((0u64..40, 0u64..12), 0..200), far in any::<u64>()) {
            let (mut origins, mut spans) = (Origins::default(), Vec::new());
            let mut start = far >> 1;
            for (ahead, length) in steps {
                start += ahead;
                spans.push(Span { start, end: start + length });
                origins.push(Span { start, end: start + length });
            }
            for (index, span) in spans.iter().enumerate() {
                let checkpoint = origins.checkpoints[index / STEP];
                let bytes = &origins.bytes[checkpoint.at as usize..];
                let bytes = &bytes[..bytes.len().min(MOST_OF_STEP)];
                prop_assert_eq!(origin(bytes, checkpoint.before, index % STEP), Some(*span));
            }
        }
    }
}
