//! Arrow schema: the entry `ARROW:schema` in the metadata of a Parquet file, for a copy with other columns.
//!
//! From this entry, programs that use Arrow take details of the types of columns, such as time zones and
//! categories. The entry is a message of Arrow IPC in base64. The message is a flatbuffer with the table
//! `Message`. This table leads to the table `Schema`, which leads to a list of `Field`s. Offsets in a
//! flatbuffer lead forwards. So the new tables and the new list are put before the old bytes, and lead to the
//! old fields.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The offset and the length of the flatbuffer are multiples of this number of bytes.
const ALIGNMENT: usize = 8;

/// Begins a message, except in the oldest versions of Arrow.
const MARKER: [u8; 4] = [0xff; 4];

/// `MessageHeader.Schema` and `Type.Utf8`.
const IS_SCHEMA: u8 = 1;
const IS_TEXT: u8 = 5;

/// The entry for a table that keeps the first `kept` of these columns and then has the columns `texts`.
/// `None` if the entry is not the schema of a table with this number of columns.
pub(super) fn with_texts(entry: &str, columns: usize, kept: usize, texts: &[String]) -> Option<String> {
    let message = BASE64_STANDARD.decode(entry.trim_ascii()).ok()?;
    let message = message.strip_prefix(&MARKER).unwrap_or(&message);
    let length = number(message, 0)?;
    let old = OldSchema::read(message.get(4..length.checked_add(4)?)?)?;
    if old.fields.len() != columns {
        return None;
    }
    // The first pass finds the length of the new part before the old bytes. In the second pass, offsets to
    // the old bytes include this length.
    let before = old.rewritten(&old.fields[..kept], texts, 0).len();
    let mut new = old.rewritten(&old.fields[..kept], texts, before);
    new.extend(old.bytes);
    new.resize(new.len().next_multiple_of(ALIGNMENT), 0);
    let length = u32::try_from(new.len()).ok()?.to_le_bytes();
    Some(BASE64_STANDARD.encode([&MARKER, &length, &new[..]].concat()))
}

/// The places, in the bytes of the old schema, of the parts that the new schema keeps.
struct OldSchema<'a> {
    bytes: &'a [u8],
    version: [u8; 2],
    endianness: [u8; 2],
    fields: Vec<usize>,
    metadata: Option<usize>,
    features: Option<usize>,
}

impl<'a> OldSchema<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let short = |place: Option<usize>| match place {
            Some(place) => bytes.get(place..place + 2)?.try_into().ok(),
            None => Some([0, 0]),
        };
        let message = target(bytes, 0)?;
        if bytes.get(member(bytes, message, 1)??) != Some(&IS_SCHEMA) {
            return None;
        }
        let schema = target(bytes, member(bytes, message, 2)??)?;
        let vector = |index| match member(bytes, schema, index)? {
            Some(place) => target(bytes, place).map(Some),
            None => Some(None),
        };
        let list = vector(1)??;
        let places = (0..number(bytes, list)?).map(|index| target(bytes, list + 4 + 4 * index));
        Some(Self {
            bytes,
            version: short(member(bytes, message, 0)?)?,
            endianness: short(member(bytes, schema, 0)?)?,
            fields: places.collect::<Option<_>>()?,
            metadata: vector(2)?,
            features: vector(3)?,
        })
    }

    /// The tables of the new schema. The old bytes follow at `before`.
    fn rewritten(&self, kept: &[usize], texts: &[String], before: usize) -> Vec<u8> {
        let mut new = Forward::default();
        let root = new.offset();
        // Members of `Message`: the version, the type and place of the header, and the length of a body, 0.
        let table = new.table(&[(16, 2), (18, 1), (4, 4), (8, 8)], ALIGNMENT);
        new.lead(root, table);
        new.bytes[table + 16..table + 18].copy_from_slice(&self.version);
        new.bytes[table + 18] = IS_SCHEMA;
        // Members of `Schema`: the byte order, the fields, the metadata and the features.
        let size_if = |place: Option<usize>| if place.is_some() { 4 } else { 0 };
        let schema = new.table(&[(16, 2), (4, 4), (8, size_if(self.metadata)), (12, size_if(self.features))], 4);
        new.lead(table + 4, schema);
        new.bytes[schema + 16..schema + 18].copy_from_slice(&self.endianness);
        for (at, place) in [(schema + 8, self.metadata), (schema + 12, self.features)] {
            if let Some(place) = place {
                new.lead(at, before + place);
            }
        }
        let list = new.count(kept.len() + texts.len());
        new.lead(schema + 4, list);
        let places: Vec<usize> = (0..kept.len() + texts.len()).map(|_| new.offset()).collect();
        for (&at, place) in places.iter().zip(kept) {
            new.lead(at, before + place);
        }
        // Members of `Field`: the name, the flag that it may be null, the type and its table, no dictionary,
        // and the children.
        let fields: Vec<usize> = (texts.iter().zip(&places[kept.len()..]))
            .map(|(name, &at)| {
                let field = new.table(&[(4, 4), (16, 1), (17, 1), (8, 4), (0, 0), (12, 4)], 4);
                new.lead(at, field);
                (new.bytes[field + 16], new.bytes[field + 17]) = (1, IS_TEXT);
                let text = new.count(name.len());
                new.lead(field + 4, text);
                new.bytes.extend(name.as_bytes());
                new.bytes.push(0);
                field
            })
            .collect();
        let (kind, children) = (new.table(&[], 4), new.count(0));
        for field in fields {
            new.lead(field + 8, kind);
            new.lead(field + 12, children);
        }
        new.align(ALIGNMENT);
        new.bytes
    }
}

/// A flatbuffer that is written from its root on.
#[derive(Default)]
struct Forward {
    bytes: Vec<u8>,
}

impl Forward {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    /// Appends an offset that [`lead`](Self::lead) sets later. Returns its place.
    fn offset(&mut self) -> usize {
        self.bytes.extend([0; 4]);
        self.bytes.len() - 4
    }

    fn lead(&mut self, from: usize, to: usize) {
        self.bytes[from..from + 4].copy_from_slice(&((to - from) as u32).to_le_bytes());
    }

    /// Appends the number of elements of a list or the length of a text. Returns the place of this number.
    fn count(&mut self, count: usize) -> usize {
        self.align(4);
        self.bytes.extend((count as u32).to_le_bytes());
        self.bytes.len() - 4
    }

    /// Appends a table whose members have these places and sizes. Returns the place of the table. A member of
    /// size 0 is absent.
    fn table(&mut self, members: &[(u16, u16)], alignment: usize) -> usize {
        self.align(alignment);
        let size = members.iter().filter(|(_, size)| *size > 0).map(|(place, size)| place + size).max().unwrap_or(4);
        let places = self.bytes.len();
        self.bytes.extend((4 + 2 * members.len() as u16).to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        for (place, size) in members {
            self.bytes.extend(if *size > 0 { *place } else { 0 }.to_le_bytes());
        }
        self.align(alignment);
        let table = self.bytes.len();
        self.bytes.extend(((table - places) as u32).to_le_bytes());
        self.bytes.resize(table + usize::from(size), 0);
        table
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(number)).ok()
}

/// The place that the offset at `at` leads to.
fn target(bytes: &[u8], at: usize) -> Option<usize> {
    Some(at + number(bytes, at)?).filter(|&target| target < bytes.len())
}

/// The place of a member of a table: `Some(None)` if the table does not have the member, `None` if the bytes
/// end too early.
fn member(bytes: &[u8], table: usize, index: usize) -> Option<Option<usize>> {
    let short = |at: usize| Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let back = i32::from_le_bytes(bytes.get(table..table + 4)?.try_into().ok()?);
    let places = usize::try_from(i64::try_from(table).ok()? - i64::from(back)).ok()?;
    let at = 4 + 2 * index;
    let place = if at < short(places)? { short(places + at)? } else { 0 };
    Some((place > 0).then_some(table + place))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema that pyarrow 26 writes for `when` (a time with its zone) and `kind` (a dictionary).
    const ENTRY: &str = "/////+gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAAtP///wQAAAACAAAAfAAAABQAAAAQABgACAAGAAcADAAQABQAEAAA\
        AAAAAQUUAAAARAAAACAAAAAEAAAAAAAAAAQAAABraW5kAAAAAAgACAAAAAQACAAAAAwAAAAIAAwACAAHAAgAAAAAAAABIAAAAAQA\
        BAAEAAAAEAAUAAgABgAHAAwAAAAQABAAAAAAAAEKEAAAACAAAAAEAAAAAAAAAAQAAAB3aGVuAAAAAAgADAAGAAgACAAAAAAAAgAE\
        AAAAAwAAAFVUQwAAAAAA";

    fn names(entry: &str) -> Vec<String> {
        let bytes = BASE64_STANDARD.decode(entry).unwrap();
        let schema = OldSchema::read(&bytes[8..]).unwrap();
        let name = |&field: &usize| {
            let text = target(schema.bytes, member(schema.bytes, field, 0).unwrap().unwrap()).unwrap();
            let length = number(schema.bytes, text).unwrap();
            String::from_utf8(schema.bytes[text + 4..text + 4 + length].to_vec()).unwrap()
        };
        schema.fields.iter().map(name).collect()
    }

    #[test]
    fn columns_follow_those_that_stay() {
        let (mark, survivor) = ("mark".to_owned(), "mark_survivor".to_owned());
        let marked = with_texts(ENTRY, 2, 2, &[mark.clone(), survivor]).unwrap();
        assert_eq!(names(ENTRY), ["when", "kind"]);
        assert_eq!(names(&marked), ["when", "kind", "mark", "mark_survivor"]);
        // A second marking replaces the columns of the first.
        let again = with_texts(&marked, 4, 2, &[mark]).unwrap();
        assert_eq!(names(&again), ["when", "kind", "mark"]);
        assert_eq!(with_texts(ENTRY, 3, 3, &[]), None, "another number of columns");
    }

    #[test]
    fn damaged_entries_are_dropped() {
        let whole = BASE64_STANDARD.decode(ENTRY).unwrap();
        for end in 0..whole.len() {
            let _ = with_texts(&BASE64_STANDARD.encode(&whole[..end]), 2, 2, &[]);
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[end] = value;
                let _ = with_texts(&BASE64_STANDARD.encode(damaged), 2, 2, &[]);
            }
        }
        assert_eq!(with_texts("", 0, 0, &[]), None);
        assert_eq!(with_texts("no base64!", 0, 0, &[]), None);
    }
}
