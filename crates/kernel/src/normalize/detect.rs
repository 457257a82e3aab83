//! Which encoding a document is in, from a sample of it. Each question is answered once for a document.
//!
//! In this order: a byte order mark; UTF-16 betrayed by its NULs; UTF-8 if the sample is, or is more so than not;
//! else the guess of chardetng, Firefox's detector of legacy encodings.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP};

use super::codec::Codec;
use super::legacy::{MultiByte, SingleByte, Wide};
use super::utf8::{Utf8, whole_sequences};

/// Bytes looked at for a byte order mark or UTF-16 without one.
pub const HEAD: usize = 1024;

/// The encoding a byte order mark names, and the length of the mark.
pub(super) fn mark(head: &[u8]) -> Option<(Codec, usize)> {
    match head {
        [0xEF, 0xBB, 0xBF, ..] => Some((Codec::Utf8(Utf8::default()), 3)),
        // Before UTF-16LE, whose mark this begins with: a UTF-16 text hardly begins with a NUL.
        [0xFF, 0xFE, 0, 0, ..] => Some((Codec::Wide(Wide::UTF_32LE), 4)),
        [0, 0, 0xFE, 0xFF, ..] => Some((Codec::Wide(Wide::UTF_32BE), 4)),
        [0xFF, 0xFE, ..] => Some((Codec::Wide(Wide::UTF_16LE), 2)),
        [0xFE, 0xFF, ..] => Some((Codec::Wide(Wide::UTF_16BE), 2)),
        _ => None,
    }
}

/// UTF-16 of mostly Latin text: every other byte is NUL (more than half of one parity, less than an eighth of the
/// other). Two code units are the least to go by.
pub(super) fn unmarked_utf16(head: &[u8]) -> Option<(Codec, usize)> {
    // Most documents have none, and are not counted through.
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

/// ISO-2022-JP, if the sample, which begins with an escape, is. It is ASCII with escapes, so UTF-8 would do as well.
pub(super) fn iso_2022_jp(sample: &[u8], ended: bool) -> Option<Codec> {
    let guess = guess(&[], sample, ended, Iso2022JpDetection::Allow);
    (guess == ISO_2022_JP).then(|| Codec::Multi(Box::new(MultiByte::new(guess))))
}

/// The encoding of a sample that begins with a byte that is not ASCII; `before` is the ASCII before it. Where the
/// document goes on (not `ended`), the sample may cut a sequence of UTF-8.
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

/// True where the first bytes of a document are text of two or four bytes a character, whose NULs are no
/// sign of a binary file: a byte order mark says so, or the pattern of the NULs.
pub fn is_wide_text(head: &[u8]) -> bool {
    mark(head).or_else(|| unmarked_utf16(&head[..head.len().min(HEAD)])).is_some()
}
