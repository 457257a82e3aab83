//! Positions: where each fingerprint of a document stands, in chunks of 1,024 fingerprints.
//!
//! Pure: bytes in, places out. The byte table is in [`super::format`].

use super::records::DocumentRecord;
use super::varint;
use crate::document::Span;
use crate::fingerprint::Fingerprint;

/// Fingerprints in one chunk: a value of some 3 KiB that holds no more however long the document is.
pub(super) const CHUNK_PLACES: u32 = 1024;

/// Where one fingerprint stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// Index of the k-gram's first symbol.
    pub(crate) position: u64,
    /// Its bytes in the original.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The lines of its first and last byte.
    pub(crate) first_line: u64,
    pub(crate) last_line: u64,
}

impl Place {
    /// Where a fingerprint stands.
    pub(crate) fn of(fingerprint: &Fingerprint) -> Self {
        Self {
            position: fingerprint.position,
            start: fingerprint.span.start,
            end: fingerprint.span.end,
            first_line: fingerprint.first_line,
            last_line: fingerprint.last_line,
        }
    }

    pub(crate) fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// Appends `place` to a chunk whose last place was `previous` (the default at the chunk's start).
/// Positions, starts and first lines must not descend.
pub(super) fn append(previous: &Place, place: &Place, out: &mut Vec<u8>) {
    varint::write(place.position - previous.position, out);
    varint::write(place.start - previous.start, out);
    varint::write(place.end - place.start, out);
    varint::write(place.first_line - previous.first_line, out);
    varint::write(place.last_line - place.first_line, out);
}

/// Decodes a chunk.
///
/// # Errors
/// What is wrong with it: any bytes are safe to give.
pub(super) fn decode(mut bytes: &[u8]) -> Result<Vec<Place>, &'static str> {
    let mut places = Vec::new();
    let mut previous = Place::default();
    while !bytes.is_empty() {
        if places.len() == CHUNK_PLACES as usize {
            return Err("the chunk of positions holds too many");
        }
        previous = next(&previous, &mut bytes).ok_or("the chunk of positions ends early or overflows")?;
        places.push(previous);
    }
    Ok(places)
}

/// Checks the positions of one document, chunk by chunk.
pub(super) struct Check<'a> {
    record: &'a DocumentRecord,
    last: Option<Place>,
    places: u64,
}

impl<'a> Check<'a> {
    pub(super) fn new(record: &'a DocumentRecord) -> Self {
        Self { record, last: None, places: 0 }
    }

    /// Takes the next chunk.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn chunk(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        for place in decode(bytes)? {
            let ascends = self.last.is_none_or(|last| last.position < place.position && last.start <= place.start);
            // How long an extracted text is, no record says.
            let inside = self.record.extracted || place.end <= self.record.bytes;
            if !ascends || !inside || place.start >= place.end {
                return Err("its positions do not ascend within the document");
            }
            self.last = Some(place);
            self.places += 1;
        }
        Ok(())
    }

    /// The number of positions, once all chunks have been taken.
    ///
    /// # Errors
    /// That they are not as many as the fingerprints.
    pub(super) fn end(&self) -> Result<u64, String> {
        let (places, wanted) = (self.places, self.record.fingerprints);
        if places == wanted { Ok(places) } else { Err(format!("it has {places} positions and {wanted} fingerprints")) }
    }
}

fn next(previous: &Place, bytes: &mut &[u8]) -> Option<Place> {
    let position = previous.position.checked_add(varint::read(bytes)?)?;
    let start = previous.start.checked_add(varint::read(bytes)?)?;
    let end = start.checked_add(varint::read(bytes)?)?;
    let first_line = previous.first_line.checked_add(varint::read(bytes)?)?;
    let last_line = first_line.checked_add(varint::read(bytes)?)?;
    Some(Place { position, start, end, first_line, last_line })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_come_back(steps in proptest::collection::vec(any::<[u32; 5]>(), 0..300)) {
            let mut places = Vec::new();
            let mut bytes = Vec::new();
            let mut previous = Place::default();
            for step in steps {
                let [position, start, length, lines, more] = step.map(u64::from);
                let place = Place {
                    position: previous.position + position,
                    start: previous.start + start,
                    end: previous.start + start + length,
                    first_line: previous.first_line + lines,
                    last_line: previous.first_line + lines + more,
                };
                append(&previous, &place, &mut bytes);
                places.push(place);
                previous = place;
            }
            prop_assert_eq!(decode(&bytes), Ok(places));
        }

        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
