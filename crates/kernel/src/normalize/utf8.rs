//! UTF-8: the text is the bytes themselves, so whole runs are passed on unchanged.
//!
//! Invalid bytes are reported as maximal subparts (Unicode, section 3.9), as `str::from_utf8` finds them. A
//! character that the end of a piece cuts waits for its other bytes.

use super::Sink;
use super::output::Output;

/// Decodes UTF-8.
#[derive(Default)]
pub(super) struct Utf8 {
    /// Up to three bytes: the start of a sequence that the end of the last piece cut.
    cut: Vec<u8>,
}

impl Utf8 {
    pub(super) fn feed<S: Sink>(&mut self, mut bytes: &[u8], mut at: u64, out: &mut Output<S>) {
        while !self.cut.is_empty()
            && let Some((&next, rest)) = bytes.split_first()
        {
            self.cut.push(next);
            match str::from_utf8(&self.cut) {
                Ok(text) => {
                    out.text(text, at + 1 - text.len() as u64);
                    self.cut.clear();
                }
                Err(error) if error.error_len().is_none() => {}
                // The cut bytes were a maximal subpart. `next` is read again.
                Err(_) => {
                    self.cut.clear();
                    out.undecodable();
                    break;
                }
            }
            (bytes, at) = (rest, at + 1);
        }
        while !bytes.is_empty() {
            let taken = out.ascii(bytes, at, false);
            (bytes, at) = (&bytes[taken..], at + taken as u64);
            let mixed = mixed(bytes);
            self.mixed(&bytes[..mixed], mixed == bytes.len(), at, out);
            (bytes, at) = (&bytes[mixed..], at + mixed as u64);
        }
    }

    /// Decodes text that is mostly not ASCII. If it is the `last` of the piece, its end may cut a sequence.
    fn mixed<S: Sink>(&mut self, bytes: &[u8], last: bool, mut at: u64, out: &mut Output<S>) {
        let (whole, cut) = bytes.split_at(if last { whole_sequences(bytes) } else { bytes.len() });
        self.cut.extend_from_slice(cut);
        if let Ok(text) = simdutf8::basic::from_utf8(whole) {
            out.text(text, at);
            return;
        }
        for chunk in whole.utf8_chunks() {
            out.text(chunk.valid(), at);
            if !chunk.invalid().is_empty() {
                out.undecodable();
            }
            at += (chunk.valid().len() + chunk.invalid().len()) as u64;
        }
    }

    pub(super) fn finish<S: Sink>(&mut self, out: &mut Output<S>) {
        if !self.cut.is_empty() {
            out.undecodable();
        }
    }
}

/// Length of the bytes before the first block of ASCII.
fn mixed(bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    bytes.chunks_exact(BLOCK).position(<[u8]>::is_ascii).map_or(bytes.len(), |blocks| blocks * BLOCK)
}

/// Length of `bytes` without an incomplete sequence at the end.
pub(super) fn whole_sequences(bytes: &[u8]) -> usize {
    let is_cut = |&from: &usize| {
        str::from_utf8(&bytes[from..]).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (bytes.len().saturating_sub(3)..bytes.len()).rev().find(is_cut).unwrap_or(bytes.len())
}
