//! Codec: one decoder type for all families of encodings.

use super::Sink;
use super::legacy::{MultiByte, SingleByte, Wide};
use super::output::Output;
use super::utf8::Utf8;

/// A decoder for one family of encodings.
pub(super) enum Codec {
    Utf8(Utf8),
    Wide(Wide),
    Single(Box<SingleByte>),
    Multi(Box<MultiByte>),
}

impl Codec {
    pub(super) fn feed<S: Sink>(&mut self, bytes: &[u8], at: u64, out: &mut Output<S>) {
        match self {
            Self::Utf8(codec) => codec.feed(bytes, at, out),
            Self::Wide(codec) => codec.feed(bytes, at, out),
            Self::Single(codec) => codec.feed(bytes, at, out),
            Self::Multi(codec) => codec.feed(bytes, at, out),
        }
    }

    /// Ends the document at offset `at`. An incomplete sequence counts as undecodable.
    pub(super) fn finish<S: Sink>(&mut self, at: u64, out: &mut Output<S>) {
        match self {
            Self::Utf8(codec) => codec.finish(out),
            Self::Wide(codec) => codec.finish(out),
            Self::Single(_) => {}
            Self::Multi(codec) => codec.finish(at, out),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Utf8(_) => "UTF-8",
            Self::Wide(codec) => codec.name(),
            Self::Single(codec) => codec.name(),
            Self::Multi(codec) => codec.name(),
        }
    }
}
