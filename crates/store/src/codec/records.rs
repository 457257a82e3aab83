//! Metadata records: small values, few in number, which bincode encodes.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use crate::codec::filter::ALL_PASS;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::{Digest, Modified};

/// The first byte of every record. A new version can add fields.
const RECORD_VERSION: u8 = 1;

/// The first byte of a record with data before its fields: the record of a document in two views, and that of
/// a container with members that are no documents.
const DATA_BEFORE_VERSION: u8 = 2;

/// Maximum bytes of an encoded record.
const RECORD_LIMIT: usize = 1 << 20;

/// Maximum memory that decoding may use, so that a damaged length cannot ask for more. In memory a pair of
/// strings takes 48 bytes; in the record it takes at least two.
const DECODED_LIMIT: usize = 32 * RECORD_LIMIT;

/// The totals of a database as of its last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct StateRecord {
    /// The id of the next document. Every id below it has been used.
    pub next_document: u32,
    /// The number of the next run.
    pub(crate) next_run: u32,
    /// Number of live documents: those that are not deleted.
    pub documents: u64,
    /// Bytes of the live documents.
    pub bytes: u64,
    /// Symbols of the live documents.
    pub symbols: u64,
    /// Fingerprints of the live documents.
    pub fingerprints: u64,
    /// The time of the last commit, in seconds since 1970.
    pub committed_at: i64,
    /// The number of the last commit: how often this record has changed.
    pub commits: u64,
}

/// One sorted batch of postings.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RunRecord {
    pub(crate) postings: u64,
    /// The smallest and the largest id of a document with postings in this run.
    pub(crate) first_document: u32,
    pub(crate) last_document: u32,
    /// The total size of its filters in bytes. A lookup that reads all filters reads this many bytes.
    pub(crate) filter_bytes: u64,
}

/// The progress of a fold. It exists while the fold runs, and after a fold that was stopped or killed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FoldRecord {
    /// The number of the last commit when the fold began. The fold can continue only while this is the last
    /// commit.
    pub(crate) commits: u64,
    /// The number of the new run.
    pub(crate) run: u32,
    /// The numbers of the runs that are folded.
    pub(crate) runs: Vec<u32>,
    /// The lowest hash whose postings are not in the new run yet.
    pub(crate) next: u64,
    /// Postings read so far, including those of deleted documents.
    pub(crate) read: u64,
    /// The totals of the new run so far.
    pub(crate) record: Option<RunRecord>,
}

/// The figures of the text as written, one of the two views of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TextCounts {
    /// Its number of symbols.
    pub symbols: u64,
    /// Its number of k-grams. Repeated ones count each time.
    pub kgrams: u64,
    /// Its number of selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Its number of distinct hashes.
    pub distinct: u64,
}

/// The figures of one view of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewCounts {
    /// Its number of k-grams. Repeated ones count each time.
    pub kgrams: u64,
    /// Its number of selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Its number of distinct hashes.
    pub distinct: u64,
}

/// The record of one document.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct DocumentRecord {
    /// Its name.
    pub name: String,
    /// The absolute path of its file. `None` for standard input.
    pub source: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// The time of its last change, in seconds since 1970 and nanoseconds. A member has the time that its
    /// archive records for it. Other documents have the time of their file. `None` if the time does not prove
    /// the content: there is no file, or the file changed so shortly before it was read that a later change
    /// could leave the same time.
    pub modified: Option<(i64, u32)>,
    /// The XXH3-128 of its bytes.
    pub digest: Digest,
    /// The name of the encoding it was read as.
    pub encoding: String,
    /// The number of byte sequences that are not valid in that encoding.
    pub undecodable: u64,
    /// Its number of lines.
    pub lines: u64,
    /// Its number of symbols. With two views, the symbols of the structure.
    pub symbols: u64,
    /// Its number of k-grams. Repeated k-grams count each time. With two views, the k-grams of the structure.
    pub kgrams: u64,
    /// Its number of selected (hash, position) pairs, in all views.
    pub fingerprints: u64,
    /// Its number of distinct hashes in all views. With one view, the size of the set F(d).
    pub distinct: u64,
    /// The time of its ingest, in seconds since 1970.
    pub ingested_at: i64,
    /// The part of the file `source` that the document is, as spelled in the document's name. `None` for the
    /// whole file. Empty if a container or compressed file was ingested without unpacking.
    pub member: Option<String>,
    /// The name of the format it was read as.
    pub format: String,
    /// True if its positions count bytes of the extracted text, not of the file.
    pub extracted: bool,
    /// Its metadata: names and values, in order.
    pub metadata: Vec<(String, String)>,
    /// True if it is boilerplate: it is never a match, and its hashes are ignored.
    pub boilerplate: bool,
    /// True if the store holds its bytes.
    pub stored_text: bool,
    /// The counts of its text as written. `None` if the database has one view.
    pub text_view: TextView,
}

/// The counts of a document's text as written. A record encodes them before its other fields, and only if
/// they exist. So the other fields are those of version 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextView(pub Option<TextCounts>);

impl Encode for TextView {
    fn encode<E: Encoder>(&self, _: &mut E) -> std::result::Result<(), EncodeError> {
        Ok(())
    }
}

impl<C> Decode<C> for TextView {
    fn decode<D: Decoder<Context = C>>(_: &mut D) -> std::result::Result<Self, DecodeError> {
        Ok(Self(None))
    }
}

bincode::impl_borrow_decode!(TextView);

/// A record of the store.
pub(crate) trait Record: Encode + Decode<()> {
    /// Data that is encoded before the fields.
    type Before: Encode + Decode<()>;

    /// The data to encode before the fields. `None` if there are none.
    fn before(&self) -> Option<Self::Before> {
        None
    }

    /// The record with this data. `None` if records of this type have none.
    fn with_before(self, _: Self::Before) -> Option<Self> {
        None
    }
}

/// Records without data before their fields.
macro_rules! plain {
    ($($record:ty),+) => { $(impl Record for $record { type Before = (); })+ };
}

plain!(StateRecord, RunRecord, FoldRecord, SourceRecord, KeptOutRecord);

impl Record for DocumentRecord {
    type Before = TextCounts;

    fn before(&self) -> Option<TextCounts> {
        self.text_view.0
    }

    fn with_before(self, counts: TextCounts) -> Option<Self> {
        Some(Self { text_view: TextView(Some(counts)), ..self })
    }
}

/// A file or folder that was named to an ingest, and the settings it was read with.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SourceRecord {
    /// Its absolute path.
    pub path: String,
    /// The options of that ingest, which this crate does not read: one string of JSON. Databases of earlier
    /// versions hold flags of the program, each a string.
    pub settings: Vec<String>,
}

/// The record of a content that was removed for good. An ingest does not add such a content again.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct KeptOutRecord {
    /// The names of the first documents that were removed. Empty if the record was damaged.
    pub names: Vec<String>,
    /// The time of the last of these removals, in seconds since 1970. 0 if the record was damaged.
    pub since: i64,
}

/// The counts of a commit, which the commit mark repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Documents that are not deleted.
    pub(crate) documents: u64,
    /// The id of the next document.
    pub(crate) next_document: u32,
}

impl StateRecord {
    /// The counts that the commit mark contains.
    pub(crate) fn counts(&self) -> Counts {
        Counts { documents: self.documents, next_document: self.next_document }
    }

    /// Adds a document to the totals.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a total overflows.
    pub(crate) fn add(&mut self, record: &DocumentRecord) -> Result<()> {
        self.change(record, u64::checked_add)
    }

    /// Subtracts a document from the totals.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a total is less than the document's share of it.
    pub(crate) fn remove(&mut self, record: &DocumentRecord) -> Result<()> {
        self.change(record, u64::checked_sub)
    }

    fn change(&mut self, record: &DocumentRecord, change: impl Fn(u64, u64) -> Option<u64>) -> Result<()> {
        let sums = [
            (&mut self.documents, 1),
            (&mut self.bytes, record.bytes),
            (&mut self.symbols, record.symbols),
            (&mut self.fingerprints, record.fingerprints),
        ];
        for (sum, share) in sums {
            *sum = change(*sum, share).ok_or_else(|| Error::Damaged {
                what: "the state record".into(),
                detail: "its sums are not those of the documents",
            })?;
        }
        Ok(())
    }
}

impl FoldRecord {
    /// True if nothing was committed since the fold began, so the fold can continue.
    pub(crate) fn goes_on(&self, state: &StateRecord) -> bool {
        self.commits == state.commits
    }
}

impl RunRecord {
    /// False if the run has only a filter that lets every hash pass, because a later run was meant to replace
    /// this one.
    pub(crate) fn has_filters(&self) -> bool {
        self.filter_bytes > ALL_PASS.len() as u64
    }

    /// The totals of these parts of a run together. No hash may be in two parts. `None` without parts.
    pub(crate) fn together(parts: impl IntoIterator<Item = Self>) -> Option<Self> {
        parts.into_iter().reduce(|a, b| Self {
            postings: a.postings + b.postings,
            first_document: a.first_document.min(b.first_document),
            last_document: a.last_document.max(b.last_document),
            filter_bytes: a.filter_bytes + b.filter_bytes,
        })
    }
}

impl DocumentRecord {
    /// The figures of its structure. With one view, the figures of the whole record.
    pub fn structure(&self) -> ViewCounts {
        let text = self.text_view.0.unwrap_or_default();
        ViewCounts {
            kgrams: self.kgrams,
            fingerprints: self.fingerprints.saturating_sub(text.fingerprints),
            distinct: self.distinct.saturating_sub(text.distinct),
        }
    }

    /// The figures of its text as written. `None` if the database has one view.
    pub fn text(&self) -> Option<ViewCounts> {
        let TextCounts { kgrams, fingerprints, distinct, .. } = self.text_view.0?;
        Some(ViewCounts { kgrams, fingerprints, distinct })
    }

    /// The time of the last change of its file. `None` if this time does not prove the content.
    pub fn modified(&self) -> Option<Modified> {
        self.modified.map(|(seconds, nanoseconds)| Modified { seconds, nanoseconds })
    }

    /// Checks that the record is small enough for the store.
    ///
    /// # Errors
    /// [`DocumentError::MetadataTooLarge`].
    pub fn check(&self) -> Result<()> {
        // The length of a text is stored before it, in at most nine bytes. All other fields take at most 256
        // bytes.
        let text = |text: &str| text.len() + 9;
        let metadata = self.metadata.iter().map(|(name, value)| text(name) + text(value)).sum::<usize>();
        let texts = [&self.name, &self.encoding, &self.format].into_iter().chain(&self.source).chain(&self.member);
        let most = texts.map(|it| text(it)).sum::<usize>() + metadata + 256;
        if most <= RECORD_LIMIT { Ok(()) } else { encode(self).map(drop) }
    }
}

/// Encodes a record.
///
/// # Errors
/// [`DocumentError::MetadataTooLarge`] if the record exceeds the size limit. Only the record of a document
/// can be that large.
pub(crate) fn encode<T: Record>(record: &T) -> Result<Vec<u8>> {
    let config = bincode::config::standard();
    let too_large = || Error::Document(DocumentError::MetadataTooLarge { limit: RECORD_LIMIT as u64 });
    let mut bytes = vec![RECORD_VERSION];
    if let Some(before) = record.before() {
        bytes[0] = DATA_BEFORE_VERSION;
        bytes.extend(bincode::encode_to_vec(before, config).map_err(|_| too_large())?);
    }
    bytes.extend(bincode::encode_to_vec(record, config).map_err(|_| too_large())?);
    if bytes.len() > RECORD_LIMIT { Err(too_large()) } else { Ok(bytes) }
}

/// Decodes a record. `what` names the record in the error.
///
/// # Errors
/// [`Error::Damaged`] if the bytes are not exactly one record of this version.
pub(crate) fn decode<T: Record>(bytes: &[u8], what: impl FnOnce() -> String) -> Result<T> {
    let config = bincode::config::standard().with_limit::<DECODED_LIMIT>();
    let detail = match bytes.split_first() {
        Some(_) if bytes.len() > RECORD_LIMIT => "it is too long",
        Some((&RECORD_VERSION, body)) => match bincode::decode_from_slice(body, config) {
            Ok((record, read)) if read == body.len() => return Ok(record),
            Ok(_) => "it is followed by stray bytes",
            Err(_) => "it does not decode",
        },
        Some((&DATA_BEFORE_VERSION, body)) => match bincode::decode_from_slice::<(T::Before, T), _>(body, config) {
            Ok(((before, record), read)) if read == body.len() => match record.with_before(before) {
                Some(record) => return Ok(record),
                None => "its version is unknown",
            },
            Ok(_) => "it is followed by stray bytes",
            Err(_) => "it does not decode",
        },
        Some(_) => "its version is unknown",
        None => "it is empty",
    };
    Err(Error::Damaged { what: what(), detail })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> DocumentRecord {
        DocumentRecord {
            name: "corpus/ä.txt".into(),
            source: Some("/tmp/corpus/ä.txt".into()),
            bytes: 12,
            modified: Some((-1, 999_999_999)),
            digest: [7; 16],
            encoding: "UTF-8".into(),
            undecodable: 1,
            lines: 2,
            symbols: 3,
            kgrams: 4,
            fingerprints: 5,
            distinct: 6,
            ingested_at: 7,
            member: Some("!b/ä".into()),
            format: "text".into(),
            extracted: false,
            metadata: vec![("author".into(), "Ä".into())],
            boilerplate: true,
            stored_text: true,
            text_view: TextView(None),
        }
    }

    #[test]
    fn the_record_of_two_views_begins_with_the_text() {
        let counts = TextCounts { symbols: 9, kgrams: 8, fingerprints: 4, distinct: 3 };
        let record = DocumentRecord { text_view: TextView(Some(counts)), ..sample() };
        let bytes = encode(&record).unwrap();
        assert_eq!(bytes[..5], [2, 9, 8, 4, 3]);
        assert_eq!(bytes[5..], encode(&sample()).unwrap()[1..]);
        assert_eq!(decode::<DocumentRecord>(&bytes, String::new).unwrap(), record);
        for cut in 0..bytes.len() {
            assert!(decode::<DocumentRecord>(&bytes[..cut], String::new).is_err());
        }
        assert!(decode::<StateRecord>(&bytes, String::new).is_err());
        assert_eq!(record.structure(), ViewCounts { kgrams: 4, fingerprints: 1, distinct: 3 });
    }

    #[test]
    fn records_come_back_and_cut_or_longer_ones_do_not() {
        let bytes = encode(&sample()).unwrap();
        assert_eq!(decode::<DocumentRecord>(&bytes, String::new).unwrap(), sample());
        for cut in 0..bytes.len() {
            assert!(decode::<DocumentRecord>(&bytes[..cut], String::new).is_err());
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(decode::<DocumentRecord>(&longer, String::new).is_err());
        let mut other = bytes;
        other[0] = 3;
        assert!(decode::<DocumentRecord>(&other, String::new).is_err());
        let huge = DocumentRecord { name: "x".repeat(RECORD_LIMIT), ..sample() };
        assert!(matches!(encode(&huge), Err(Error::Document(DocumentError::MetadataTooLarge { .. }))));
    }

    /// Databases hold these bytes, so they must not change.
    #[test]
    fn the_record_of_a_source_is_these_bytes() {
        let record = SourceRecord { path: "/é".into(), settings: vec![r#"{"a":1}"#.into(), "--follow".into()] };
        let bytes = b"\x01\x03/\xc3\xa9\x02\x07{\"a\":1}\x08--follow";
        assert_eq!(encode(&record).unwrap(), bytes);
        assert_eq!(decode::<SourceRecord>(bytes, String::new).unwrap(), record);
        for cut in 0..bytes.len() {
            assert!(decode::<SourceRecord>(&bytes[..cut], String::new).is_err());
        }
    }

    #[test]
    fn sums_that_documents_cannot_have_made_are_called_damaged() {
        let mut state = StateRecord::default();
        state.add(&sample()).unwrap();
        assert_eq!((state.documents, state.bytes, state.symbols, state.fingerprints), (1, 12, 3, 5));
        state.remove(&sample()).unwrap();
        assert_eq!(state, StateRecord::default());
        assert!(matches!(state.remove(&sample()), Err(Error::Damaged { .. })));
        let mut state = StateRecord { symbols: u64::MAX - 2, ..StateRecord::default() };
        assert!(matches!(state.add(&sample()), Err(Error::Damaged { .. })));
    }

    #[test]
    fn whatever_can_be_encoded_can_be_decoded() {
        let with = |pairs: usize| DocumentRecord { metadata: vec![Default::default(); pairs], ..sample() };
        let most = (1..).map(|bits| 1 << bits).find(|&pairs| encode(&with(pairs)).is_err()).unwrap();
        assert_eq!(most, RECORD_LIMIT / 2);
        for record in [with(most / 2), with(most - 200)] {
            assert_eq!(decode::<DocumentRecord>(&encode(&record).unwrap(), String::new).unwrap(), record);
        }
        assert!(decode::<DocumentRecord>(&vec![RECORD_VERSION; RECORD_LIMIT + 1], String::new).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<DocumentRecord>(&bytes, String::new);
            let _ = decode::<StateRecord>(&bytes, String::new);
            let _ = decode::<RunRecord>(&bytes, String::new);
            let _ = decode::<FoldRecord>(&bytes, String::new);
            let _ = decode::<SourceRecord>(&bytes, String::new);
        }
    }
}
