//! Detection: finds the encoding of a document from a sample. Each test runs once per document.
//!
//! The order is: a byte order mark; UTF-16, which its NULs show; UTF-8, if the sample is valid or mostly
//! valid. Otherwise chardetng decides, Firefox's detector of legacy encodings.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP};

use super::codec::Codec;
use super::legacy::{MultiByte, SingleByte, Wide};
use super::utf8::{Utf8, whole_sequences};

/// Bytes searched for a byte order mark or for UTF-16 without one.
pub const HEAD: usize = 1024;

/// The encoding of the byte order mark, and the length of the mark.
pub(super) fn mark(head: &[u8]) -> Option<(Codec, usize)> {
    match head {
        [0xEF, 0xBB, 0xBF, ..] => Some((Codec::Utf8(Utf8::default()), 3)),
        // This mark begins with that of UTF-16LE, so it is tested first. A UTF-16 text hardly ever begins
        // with NUL.
        [0xFF, 0xFE, 0, 0, ..] => Some((Codec::Wide(Wide::UTF_32LE), 4)),
        [0, 0, 0xFE, 0xFF, ..] => Some((Codec::Wide(Wide::UTF_32BE), 4)),
        [0xFF, 0xFE, ..] => Some((Codec::Wide(Wide::UTF_16LE), 2)),
        [0xFE, 0xFF, ..] => Some((Codec::Wide(Wide::UTF_16BE), 2)),
        _ => None,
    }
}

/// Detects UTF-16 of mostly Latin text, in which every other byte is NUL. More than half of the bytes of one
/// parity must be NUL, and less than an eighth of the other. It needs at least two code units.
pub(super) fn unmarked_utf16(head: &[u8]) -> Option<(Codec, usize)> {
    // Most documents contain no NUL and need no counting.
    memchr::memchr(0, head)?;
    let (units, _) = head.as_chunks::<2>();
    let nuls = |parity: usize| units.iter().filter(|unit| unit[parity] == 0).count();
    let mostly = |nuls: usize| units.len() >= 2 && 2 * nuls > units.len();
    let hardly = |nuls: usize| 8 * nuls < units.len();
    match (nuls(0), nuls(1)) {
        (low, high) if hardly(low) && mostly(high) => Some((Codec::Wide(Wide::UTF_16LE), 0)),
        (high, low) if hardly(low) && mostly(high) => Some((Codec::Wide(Wide::UTF_16BE), 0)),
        _ => None,
    }
}

/// Detects ISO-2022-JP in a sample that begins with an escape. Such text is ASCII with escapes, so it would
/// be valid UTF-8 too.
pub(super) fn iso_2022_jp(sample: &[u8], ended: bool) -> Option<Codec> {
    let guess = guess(&[], sample, ended, Iso2022JpDetection::Allow);
    (guess == ISO_2022_JP).then(|| Codec::Multi(Box::new(MultiByte::new(guess))))
}

/// The encoding of a sample that begins with a non-ASCII byte. `before` holds the ASCII bytes before it. If
/// the document continues (not `ended`), the sample may end inside a UTF-8 sequence.
pub(super) fn encoding(before: [u8; 2], sample: &[u8], ended: bool) -> Codec {
    let judged = if ended { sample } else { &sample[..whole_sequences(sample)] };
    if simdutf8::basic::from_utf8(judged).is_ok() {
        return Codec::Utf8(Utf8::default());
    }
    let (mut valid, mut invalid) = (0, 0);
    for chunk in judged.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    if valid > invalid {
        return Codec::Utf8(Utf8::default());
    }
    let guess = guess(&before, sample, ended, Iso2022JpDetection::Deny);
    if guess.is_single_byte() {
        Codec::Single(Box::new(SingleByte::new(guess)))
    } else {
        Codec::Multi(Box::new(MultiByte::new(guess)))
    }
}

fn guess(before: &[u8], sample: &[u8], ended: bool, japanese: Iso2022JpDetection) -> &'static Encoding {
    let mut detector = EncodingDetector::new(japanese);
    detector.feed(before, false);
    detector.feed(sample, ended);
    detector.guess(None, Utf8Detection::Deny)
}

/// True if a document begins as UTF-16 or UTF-32, by its byte order mark or the pattern of its NULs. Its NULs
/// are then no sign of a binary file.
pub fn is_wide_text(head: &[u8]) -> bool {
    mark(head).or_else(|| unmarked_utf16(&head[..head.len().min(HEAD)])).is_some()
}
