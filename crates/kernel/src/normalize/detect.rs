//! Detection: finds the encoding of a document from a sample. Each test runs once per document.
//!
//! The tests come in this order: a byte order mark; UTF-16, which its NULs or high bytes show; UTF-8, if the
//! sample is valid or mostly valid. Otherwise chardetng decides, which is Firefox's detector of legacy
//! encodings.

use std::ops::RangeInclusive;

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
        // The mark of UTF-32LE begins with the mark of UTF-16LE, so UTF-32LE is tested first. A UTF-16 text
        // hardly ever begins with NUL.
        [0xFF, 0xFE, 0, 0, ..] => Some((Codec::Wide(Wide::UTF_32LE), 4)),
        [0, 0, 0xFE, 0xFF, ..] => Some((Codec::Wide(Wide::UTF_32BE), 4)),
        [0xFF, 0xFE, ..] => Some((Codec::Wide(Wide::UTF_16LE), 2)),
        [0xFE, 0xFF, ..] => Some((Codec::Wide(Wide::UTF_16BE), 2)),
        _ => None,
    }
}

/// Detects UTF-16 of mostly Latin text, in which every other byte is NUL, and of [other
/// letters](is_of_letters). In Latin text, more than half of the bytes at even (or odd) places must be NUL,
/// and less than an eighth of the bytes at the other places. Latin text must have at least two code units,
/// and text in other letters at least 16.
pub(super) fn unmarked_utf16(head: &[u8]) -> Option<(Codec, usize)> {
    // Most documents contain none of the bytes 0, 1 and 2, and need no counting. In Chinese and Japanese
    // text, U+3001 and U+3002 contain the bytes 1 and 2.
    memchr::memchr3(0, 1, 2, head)?;
    let (units, _) = head.as_chunks::<2>();
    let nuls = |parity: usize| units.iter().filter(|unit| unit[parity] == 0).count();
    let mostly = |nuls: usize| units.len() >= 2 && 2 * nuls > units.len();
    let hardly = |nuls: usize| 8 * nuls < units.len();
    match (nuls(0), nuls(1)) {
        (low, high) if hardly(low) && (mostly(high) || is_of_letters(units, 1)) => {
            Some((Codec::Wide(Wide::UTF_16LE), 0))
        }
        (high, low) if hardly(low) && (mostly(high) || is_of_letters(units, 0)) => {
            Some((Codec::Wide(Wide::UTF_16BE), 0))
        }
        _ => None,
    }
}

/// True for code units that are text in Greek, Cyrillic, Hebrew, Arabic or East Asian letters. `high` is the
/// index of the high byte in a unit. At least half of the units must be letters of one of these scripts, and
/// at least six letters must be different. At least one unit in 64 must be a space, or a mark such as U+3002
/// in Chinese and Japanese. At most one in 64 may be a character that is rare in such a text.
fn is_of_letters(units: &[[u8; 2]], high: usize) -> bool {
    const LEAST: usize = 16;
    let code = |unit: &[u8; 2]| u16::from(unit[high]) << 8 | u16::from(unit[1 - high]);
    let is_expected = |code: u16| {
        let is_ascii = matches!(code, 0x09 | 0x0A | 0x0D | 0x20..=0x7E);
        let is_wide = matches!(code, 0x3000..=0x303F | 0xFF00..=0xFFEF);
        is_ascii || is_wide || matches!(code, 0xA0..=0xFF | 0x2010..=0x203A | 0x20AA..=0x20BF | 0x2116)
    };
    // For each script, the ranges of its letters and the range of its spaces. Read as UTF-16, ASCII text can
    // look like Chinese characters, but hardly ever like the marks of Chinese.
    let scripts: [(&[RangeInclusive<u16>], RangeInclusive<u16>); 6] = [
        (&[0x0370..=0x03FF], 0x20..=0x20),
        (&[0x0400..=0x04FF], 0x20..=0x20),
        (&[0x0590..=0x05FF], 0x20..=0x20),
        (&[0x0600..=0x06FF], 0x20..=0x20),
        (&[0x3041..=0x30FF, 0x4E00..=0x9FFF], 0x3000..=0x3002),
        (&[0xAC00..=0xD7A3], 0x20..=0x20),
    ];
    units.len() >= LEAST
        && scripts.iter().any(|(script, spaces_of)| {
            let (mut letters, mut spaces, mut others, mut kinds) = (0, 0, 0, [0_u64; 4]);
            for code in units.iter().map(code) {
                match code {
                    _ if script.iter().any(|range| range.contains(&code)) => {
                        letters += 1;
                        kinds[usize::from(code as u8 >> 6)] |= 1 << (code & 63);
                    }
                    _ if spaces_of.contains(&code) => spaces += 1,
                    _ => others += usize::from(!is_expected(code)),
                }
            }
            let kinds: u32 = kinds.iter().map(|kinds| kinds.count_ones()).sum();
            let count = units.len();
            2 * letters >= count && 64 * spaces >= count && 64 * others <= count && kinds >= 6
        })
}

/// Detects ISO-2022-JP in a sample that begins with an escape. Such text is ASCII with escapes, so it would
/// be valid UTF-8 too.
pub(super) fn iso_2022_jp(sample: &[u8], ended: bool) -> Option<Codec> {
    let guess = guess(&[], sample, ended, Iso2022JpDetection::Allow);
    (guess == ISO_2022_JP).then(|| Codec::Multi(Box::new(MultiByte::new(guess))))
}

/// The encoding of a sample that begins with a non-ASCII byte. `before` holds the ASCII bytes before the
/// sample. If the document continues (not `ended`), the sample may end inside a UTF-8 sequence.
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

/// True if a document begins as UTF-16 or UTF-32, by its byte order mark or by the pattern of its bytes. NULs
/// in such a document are no sign of a binary file.
pub fn is_wide_text(head: &[u8]) -> bool {
    mark(head).or_else(|| unmarked_utf16(&head[..head.len().min(HEAD)])).is_some()
}
