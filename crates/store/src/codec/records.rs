//! Metadata records: the few small values that are not worth a hand-made encoding.

use bincode::{Decode, Encode};

use crate::open::mark::Counts;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::{Digest, Modified};

/// A first byte in front of every record, so that fields can be added one day.
const RECORD_VERSION: u8 = 1;

/// The most bytes of a record.
const RECORD_LIMIT: usize = 1 << 20;

/// The memory of a record of that size, at most, so that a damaged length cannot ask for much: a pair of strings takes 48
/// bytes, and two in the record.
const DECODED_LIMIT: usize = 32 * RECORD_LIMIT;

/// The content of a database as of its last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct StateRecord {
    /// The id the next document gets; every id below it has been given.
    pub next_document: u32,
    /// The number the next run gets.
    pub(crate) next_run: u32,
    /// Documents that are not deleted, and their sums.
    pub documents: u64,
    pub bytes: u64,
    pub symbols: u64,
    pub fingerprints: u64,
    /// When the last commit was made, in seconds since 1970.
    pub committed_at: i64,
    /// Changes of this record: its number in the order of commits.
    pub commits: u64,
}

/// One sorted batch of postings.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RunRecord {
    pub(crate) postings: u64,
    /// The documents it holds postings of, first and last.
    pub(crate) first_document: u32,
    pub(crate) last_document: u32,
    /// The bytes of its filters: what it costs to read them all.
    pub(crate) filter_bytes: u64,
}

/// How far a fold has come. The record is there while it works, and after it was stopped or killed.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FoldRecord {
    /// The commit it began with. It can go on only while there is none after it.
    pub(crate) commits: u64,
    /// The run that it makes.
    pub(crate) run: u32,
    /// The runs that it folds.
    pub(crate) runs: Vec<u32>,
    /// The first hash whose postings are not in the new run yet.
    pub(crate) next: u64,
    /// The postings read so far, those of deleted documents included.
    pub(crate) read: u64,
    /// The totals of the new run so far.
    pub(crate) record: Option<RunRecord>,
}

/// One document.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct DocumentRecord {
    pub name: String,
    /// The absolute path it was read from; `None` for standard input.
    pub source: Option<String>,
    pub bytes: u64,
    /// `None` where it cannot vouch for the content: no file, or a file written to so shortly before it
    /// was read that a later write could leave the same time.
    pub modified: Option<(i64, u32)>,
    pub digest: Digest,
    pub encoding: String,
    pub undecodable: u64,
    pub lines: u64,
    pub symbols: u64,
    /// k-grams, repeated ones counted each time.
    pub kgrams: u64,
    /// Selected (hash, position) pairs.
    pub fingerprints: u64,
    /// Distinct hashes among them: the size of the set F(d).
    pub distinct: u64,
    /// Seconds since 1970.
    pub ingested_at: i64,
    /// Which part of the file `source` it is, as its name says it; `None` for the whole file, empty for a container or compressed
    /// file as it is.
    pub member: Option<String>,
    /// The name of the format it was read in.
    pub format: String,
    /// True if its positions are those of the extracted text.
    pub extracted: bool,
    /// The metadata: names and values, in order.
    pub metadata: Vec<(String, String)>,
    /// True if it is boilerplate: never a match, its hashes to be ignored.
    pub boilerplate: bool,
    /// True if its bytes are in the store.
    pub stored_text: bool,
}

/// A container or compressed file that was ingested whole.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ContainerRecord {
    pub bytes: u64,
    /// When it was last written.
    pub modified: (i64, u32),
    /// Documents that came of it.
    pub documents: u64,
    /// A digest of the settings it was read with.
    pub settings: u64,
}

/// A file or folder that was named to an ingest, and how its documents were read.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SourceRecord {
    /// Its absolute path.
    pub path: String,
    /// The settings of that time, in the words of the program that ingested it.
    pub settings: Vec<String>,
}

impl StateRecord {
    /// The counts that are marked of it.
    pub(crate) fn counts(&self) -> Counts {
        Counts { documents: self.documents, next_document: self.next_document }
    }

    /// Counts a document.
    ///
    /// # Errors
    /// [`Error::Damaged`] where a sum is too large to be one.
    pub(crate) fn add(&mut self, record: &DocumentRecord) -> Result<()> {
        self.change(record, u64::checked_add)
    }

    /// Takes a document off.
    ///
    /// # Errors
    /// [`Error::Damaged`] where a sum is less than the document's share of it.
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
    /// True if nothing was committed since it began.
    pub(crate) fn goes_on(&self, state: &StateRecord) -> bool {
        self.commits == state.commits
    }
}

impl RunRecord {
    /// Adds up the records of parts that share no hash. `None` without parts.
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
    pub fn modified(&self) -> Option<Modified> {
        self.modified.map(|(seconds, nanoseconds)| Modified { seconds, nanoseconds })
    }

    /// Checks that the store can keep it.
    ///
    /// # Errors
    /// [`DocumentError::MetadataTooLarge`](fpdb_host::error::DocumentError::MetadataTooLarge).
    pub fn check(&self) -> Result<()> {
        // A length of at most nine bytes comes before each text; the rest has no more than the last summand.
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
/// [`DocumentError::MetadataTooLarge`](fpdb_host::error::DocumentError::MetadataTooLarge) where it exceeds the size limit, as only a document's can.
pub(crate) fn encode<T: Encode>(record: &T) -> Result<Vec<u8>> {
    let config = bincode::config::standard();
    let too_large = || Error::Document(DocumentError::MetadataTooLarge { limit: RECORD_LIMIT as u64 });
    let mut bytes = vec![RECORD_VERSION];
    bytes.extend(bincode::encode_to_vec(record, config).map_err(|_| too_large())?);
    if bytes.len() > RECORD_LIMIT { Err(too_large()) } else { Ok(bytes) }
}

/// Decodes a record; `what` names it for the error.
///
/// # Errors
/// [`Error::Damaged`] for bytes that are not exactly one record of this version.
pub(crate) fn decode<T: Decode<()>>(bytes: &[u8], what: impl FnOnce() -> String) -> Result<T> {
    let config = bincode::config::standard().with_limit::<DECODED_LIMIT>();
    let detail = match bytes.split_first() {
        Some(_) if bytes.len() > RECORD_LIMIT => "it is too long",
        Some((&RECORD_VERSION, body)) => match bincode::decode_from_slice(body, config) {
            Ok((record, read)) if read == body.len() => return Ok(record),
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
        }
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
        other[0] = 2;
        assert!(decode::<DocumentRecord>(&other, String::new).is_err());
        let huge = DocumentRecord { name: "x".repeat(RECORD_LIMIT), ..sample() };
        assert!(matches!(encode(&huge), Err(Error::Document(DocumentError::MetadataTooLarge { .. }))));
    }

    /// Databases hold these bytes: they stay as they are.
    #[test]
    fn the_record_of_a_source_is_these_bytes() {
        let record = SourceRecord { path: "/é".into(), settings: vec!["--as=html".into(), "--follow".into()] };
        let bytes = b"\x01\x03/\xc3\xa9\x02\x09--as=html\x08--follow";
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
            let _ = decode::<ContainerRecord>(&bytes, String::new);
            let _ = decode::<SourceRecord>(&bytes, String::new);
        }
    }
}
