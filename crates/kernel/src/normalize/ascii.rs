//! ASCII for unit char: each letter or digit is one symbol, whose origin is its own byte.
//!
//! Nearly all bytes of English text take this path, in blocks of 64. One step per block tests for plain
//! ASCII, finds the newlines and compacts the letters.

use super::symbols::Symbols;
use crate::lanes::{Lanes, Processor, SimdJob, TEXT};

/// Maximum bytes read at once, in one *run*. One base covers the origins of a run.
pub(super) const RUN: usize = 1 << 24;

/// Finds the symbols of ASCII text.
pub(super) struct Ascii {
    processor: Processor,
}

impl Ascii {
    pub(super) fn new() -> Self {
        Self { processor: Processor::detect() }
    }

    /// Forces this instruction set.
    #[cfg(any(test, fuzzing, feature = "measuring"))]
    pub(super) fn set_processor(&mut self, processor: Processor) {
        self.processor = processor;
    }

    pub(super) fn processor(&self) -> Processor {
        self.processor
    }

    /// Appends the symbols and newlines of the plain ASCII at the start of `bytes`, up to an ESC if
    /// `stop_at_escape`. Returns the length of this ASCII text.
    pub(super) fn read(&self, bytes: &[u8], at: u64, stop_at_escape: bool, out: &mut Symbols) -> usize {
        let mut taken = 0;
        for (run, at) in bytes.chunks(RUN).zip((at..).step_by(RUN)) {
            let read = self.processor.run(ReadAscii { bytes: run, at, stop_at_escape, out });
            taken += read;
            if read < run.len() {
                break;
            }
        }
        taken
    }
}

struct ReadAscii<'a> {
    bytes: &'a [u8],
    at: u64,
    stop_at_escape: bool,
    out: &'a mut Symbols,
}

impl SimdJob for ReadAscii<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let Self { bytes, at, stop_at_escape, out } = self;
        let mut room = out.room(at, bytes.len());
        let (mut kept, mut taken) = (0, 0);
        while taken < bytes.len() {
            let rest = &bytes[taken..];
            let mut padded = [b' '; TEXT];
            // The last block is padded with spaces, which give no symbol.
            let block = match rest.first_chunk() {
                Some(block) => block,
                None => {
                    padded[..rest.len()].copy_from_slice(rest);
                    &padded
                }
            };
            let Some(codes) = room.codes[kept..].first_chunk_mut() else { break };
            let Some(starts) = room.starts[kept..].first_chunk_mut() else { break };
            let classes = lanes.classify(block);
            let strange = classes.beyond | if stop_at_escape { classes.escapes } else { 0 };
            let plain = strange.trailing_zeros();
            let mask = u64::MAX.checked_shr(TEXT as u32 - plain).unwrap_or(0);
            let letters = classes.letters & mask;
            lanes.compact(block, letters, room.at + taken as u32, codes, starts);
            kept += letters.count_ones() as usize;
            room.newlines(classes.newlines & mask, at + taken as u64);
            taken += (plain as usize).min(rest.len());
            if strange != 0 {
                break;
            }
        }
        out.added_codes(kept);
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalize::value::value_of_byte;

    proptest! {
        #[test]
        fn every_instruction_set_equals_the_plainest_code(
            text in prop::collection::vec(
                prop_oneof![40 => 0u8..27, 40 => 28u8..128, 40 => b'a'..=b'z', 20 => Just(b' '), 2 => Just(b'\n'), 1 => any::<u8>(), 1 => Just(0x1B)],
                0..1500,
            ),
            cut in 0usize..1500,
            stop_at_escape in any::<bool>(),
            wide in any::<bool>(),
        ) {
            let is_plain = |byte: u8| byte.is_ascii() && !(stop_at_escape && byte == 0x1B);
            let (before, after) = text.split_at(cut.min(text.len()));
            let (mut expected, mut newlines, mut lengths) = (Vec::new(), 0, Vec::new());
            for (piece, at) in [(before, 3), (after, 3 + before.len() as u64)] {
                let plain = piece.iter().position(|&byte| !is_plain(byte)).unwrap_or(piece.len());
                lengths.push(plain);
                for (&byte, at) in piece[..plain].iter().zip(at..) {
                    newlines += u64::from(byte == b'\n');
                    if byte.is_ascii_alphanumeric() {
                        expected.push((value_of_byte(byte.to_ascii_lowercase()), at, at + 1, 1 + newlines));
                    }
                }
            }
            for processor in Processor::all() {
                let mut ascii = Ascii::new();
                ascii.set_processor(processor);
                let mut symbols = Symbols::new();
                if wide {
                    symbols.widen();
                }
                prop_assert_eq!(ascii.read(before, 3, stop_at_escape, &mut symbols), lengths[0]);
                prop_assert_eq!(ascii.read(after, 3 + before.len() as u64, stop_at_escape, &mut symbols), lengths[1]);
                symbols.widen();
                let found = (0..symbols.len()).map(|i| {
                    let start = symbols.start(i);
                    (symbols.values()[i], start, symbols.end(i), symbols.line_at(start))
                });
                prop_assert_eq!(found.collect::<Vec<_>>(), expected.clone(), "{:?}", processor);
                prop_assert_eq!(symbols.newlines_seen(), newlines);
            }
        }
    }
}
