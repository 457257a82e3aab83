//! Positions: the place of each fingerprint of a document, in chunks of 1,024 fingerprints.
//!
//! A posting names the ordinal of a fingerprint. The place of the fingerprint is stored here, once for each
//! document. A place takes 1.1 bytes (w = 1) to 4.9 bytes (w = 100). So offsets and lines can be reported
//! when the file is gone.
//!
//! Pure: bytes in, places out. The byte table is in [`crate::codec::format`].

use crate::codec::records::DocumentRecord;
use crate::codec::varint;
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::document::Span;
use fpdb_kernel::profile::{Profile, View};

/// Fingerprints in one chunk. A chunk takes about 3 KiB, so no value grows with the document.
pub(crate) const CHUNK_PLACES: u32 = 1024;

/// The number of chunks of a document with this many fingerprints. At most 2^32 fingerprints count, even if a
/// damaged record has a larger number.
pub fn chunks(fingerprints: u64) -> u32 {
    fingerprints.min(1 << 32).div_ceil(u64::from(CHUNK_PLACES)) as u32
}

/// The place of one fingerprint in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FingerprintPlace {
    /// The index of the first symbol of the k-gram.
    pub position: u64,
    /// The byte offset of its start in the original, or in the extracted text.
    pub start: u64,
    /// The byte offset after its end.
    pub end: u64,
    /// The line of its first byte, from 1.
    pub first_line: u64,
    /// The line of its last byte, from 1.
    pub last_line: u64,
    /// True if the fingerprint is of the text as written, one of two views. The position then counts the
    /// symbols of that view.
    pub of_text: bool,
}

impl FingerprintPlace {
    /// The place of a fingerprint of a profile.
    pub fn of(fingerprint: &Fingerprint, profile: &Profile) -> Self {
        Self {
            of_text: profile.view_of(fingerprint.hash) == View::Text,
            position: fingerprint.position,
            start: fingerprint.span.start,
            end: fingerprint.span.end,
            first_line: fingerprint.first_line,
            last_line: fingerprint.last_line,
        }
    }

    /// The bytes of the fingerprint: start and end.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// Added to the number of places in a chunk of a document in two views.
const TWO_VIEWS: u64 = 2048;

/// Appends an encoded chunk to `out`. In each view, positions and first lines must not descend. Encoding by
/// columns takes three quarters of the space of encoding place by place.
pub(crate) fn encode(places: &[FingerprintPlace], out: &mut Vec<u8>) {
    let before = || with_before(places);
    let two_views = places.iter().any(|place| place.of_text);
    varint::write(places.len() as u64 + if two_views { TWO_VIEWS } else { 0 }, out);
    for (before, place) in before() {
        let symbols = place.position - before.position;
        varint::write(if two_views { symbols << 1 | u64::from(place.of_text) } else { symbols }, out);
    }
    for (before, place) in before() {
        // A symbol often takes one byte, and dropped bytes between symbols are few. So the remaining
        // difference is small.
        let more = (place.start.wrapping_sub(before.start)).wrapping_sub(place.position - before.position);
        varint::write(zigzag(more as i64), out);
    }
    places.iter().for_each(|place| varint::write(place.end - place.start, out));
    before().for_each(|(before, place)| varint::write(place.first_line - before.first_line, out));
    places.iter().for_each(|place| varint::write(place.last_line - place.first_line, out));
}

/// Pairs each place with the previous place of the same view.
fn with_before(places: &[FingerprintPlace]) -> impl Iterator<Item = (FingerprintPlace, FingerprintPlace)> {
    let mut last = LastPlaces::default();
    places.iter().map(move |&place| (last.replace(place), place))
}

/// The last place of each view.
#[derive(Clone, Copy, Default)]
struct LastPlaces([FingerprintPlace; 2]);

impl LastPlaces {
    fn of(&self, of_text: bool) -> FingerprintPlace {
        self.0[usize::from(of_text)]
    }

    /// Makes `place` the last place of its view. Returns the previous last place.
    fn replace(&mut self, place: FingerprintPlace) -> FingerprintPlace {
        std::mem::replace(&mut self.0[usize::from(place.of_text)], place)
    }
}

/// Zigzag: encodes small numbers of either sign as small unsigned numbers.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

const SHORT: &str = "the chunk of positions ends early or overflows";

/// Removes the number of places from the front of a chunk, and returns it. The flag is true if the document
/// has two views.
fn decode_count(rest: &mut &[u8]) -> Result<(usize, bool), &'static str> {
    let count = varint::read(rest).ok_or(SHORT)?;
    let two_views = count >= TWO_VIEWS;
    let count = if two_views { count - TWO_VIEWS } else { count };
    if count > u64::from(CHUNK_PLACES) {
        return Err("the chunk of positions holds too many");
    }
    Ok((count as usize, two_views))
}

/// For each place of a chunk, appends its position, and true if the place is of the text as written. Reads
/// only the first column of the chunk.
///
/// # Errors
/// Returns the damage. Any bytes are safe to give.
pub(crate) fn decode_positions(mut bytes: &[u8], out: &mut Vec<(u64, bool)>) -> Result<(), &'static str> {
    let rest = &mut bytes;
    let (count, two_views) = decode_count(rest)?;
    out.reserve(count);
    let mut last = [0u64; 2];
    for _ in 0..count {
        let symbols = varint::read(rest).ok_or(SHORT)?;
        let (symbols, of_text) = if two_views { (symbols >> 1, symbols & 1 == 1) } else { (symbols, false) };
        let last = &mut last[usize::from(of_text)];
        *last = last.checked_add(symbols).ok_or(SHORT)?;
        out.push((*last, of_text));
    }
    Ok(())
}

/// Decodes a chunk.
///
/// # Errors
/// Returns the damage. Any bytes are safe to give.
pub(crate) fn decode(mut bytes: &[u8]) -> Result<Vec<FingerprintPlace>, &'static str> {
    let rest = &mut bytes;
    let (count, two_views) = decode_count(rest)?;
    let mut places = vec![FingerprintPlace::default(); count];
    decode_columns(rest, &mut places, two_views).ok_or(SHORT)?;
    if rest.is_empty() { Ok(places) } else { Err("the chunk of positions is followed by stray bytes") }
}

/// Checks the positions of one document, chunk by chunk.
pub(crate) struct PositionCheck<'a> {
    record: &'a DocumentRecord,
    /// The last place of each view.
    last: [Option<FingerprintPlace>; 2],
    places: u64,
}

impl<'a> PositionCheck<'a> {
    pub(crate) fn new(record: &'a DocumentRecord) -> Self {
        Self { record, last: [None; 2], places: 0 }
    }

    /// Checks the next chunk.
    ///
    /// # Errors
    /// Returns the damage.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        for place in decode(bytes)? {
            let last = &mut self.last[usize::from(place.of_text)];
            let ascends = last.is_none_or(|last| last.position < place.position && last.start <= place.start);
            // No record has the length of an extracted text.
            let inside = self.record.extracted || place.end <= self.record.bytes;
            if !ascends || !inside || place.start >= place.end {
                return Err("its positions do not ascend within the document");
            }
            *last = Some(place);
            self.places += 1;
        }
        Ok(())
    }

    /// The number of positions. Call it after the last chunk.
    ///
    /// # Errors
    /// A sentence with both numbers, if there are more or fewer positions than fingerprints.
    pub(crate) fn end(&self) -> Result<u64, String> {
        let (places, wanted) = (self.places, self.record.fingerprints);
        if places == wanted { Ok(places) } else { Err(format!("it has {places} positions and {wanted} fingerprints")) }
    }
}

fn decode_columns(rest: &mut &[u8], places: &mut [FingerprintPlace], two_views: bool) -> Option<()> {
    let mut last = LastPlaces::default();
    for place in &mut *places {
        let mut symbols = varint::read(rest)?;
        if two_views {
            place.of_text = symbols & 1 == 1;
            symbols >>= 1;
        }
        place.position = last.of(place.of_text).position.checked_add(symbols)?;
        last.replace(*place);
    }
    last = LastPlaces::default();
    for place in &mut *places {
        let before = last.of(place.of_text);
        let symbols = place.position - before.position;
        place.start = before.start.checked_add(symbols)?.checked_add_signed(unzigzag(varint::read(rest)?))?;
        last.replace(*place);
    }
    for place in &mut *places {
        place.end = place.start.checked_add(varint::read(rest)?)?;
    }
    last = LastPlaces::default();
    for place in &mut *places {
        place.first_line = last.of(place.of_text).first_line.checked_add(varint::read(rest)?)?;
        last.replace(*place);
    }
    for place in &mut *places {
        place.last_line = place.first_line.checked_add(varint::read(rest)?)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_come_back(steps in proptest::collection::vec(any::<([u32; 5], bool)>(), 0..60), two_views: bool) {
            let mut places: Vec<FingerprintPlace> = Vec::new();
            for (step, of_text) in steps {
                let of_text = of_text && two_views;
                let previous = places.iter().rfind(|place| place.of_text == of_text).copied().unwrap_or_default();
                let [position, start, length, lines, more] = step.map(u64::from);
                places.push(FingerprintPlace {
                    position: previous.position + position,
                    start: previous.start + start,
                    end: previous.start + start + length,
                    first_line: previous.first_line + lines,
                    last_line: previous.first_line + lines + more,
                    of_text,
                });
            }
            let mut bytes = Vec::new();
            encode(&places, &mut bytes);
            let mut positions = Vec::new();
            decode_positions(&bytes, &mut positions).unwrap();
            prop_assert_eq!(positions, places.iter().map(|place| (place.position, place.of_text)).collect::<Vec<_>>());
            prop_assert_eq!(decode(&bytes), Ok(places));
            for cut in 0..bytes.len() {
                prop_assert!(decode(&bytes[..cut]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200), count in 0u8..20) {
            for bytes in [&bytes[..], &[&[count], &bytes[..]].concat()] {
                let decoded = decode(bytes);
                let positions = decode_positions(bytes, &mut Vec::new());
                prop_assert!(decoded.is_err() || positions.is_ok());
            }
        }
    }
}
