//! Record: the file that keeps decisions between runs, so that they still hold after documents are added.
//!
//! | part   | bytes  | what                                                     |
//! |--------|--------|----------------------------------------------------------|
//! | magic  | 32     | `fpdb dedup decisions, format 1\n`, and a zero           |
//! | header | frame  | [`RecordHeader`]: what the decisions depend on           |
//! | blocks | frames | up to 4,096 [`RecordEntry`]s each, ascending by document |
//! | end    | frame  | a block without entries                                  |
//!
//! Headers and blocks are bincode 2 with its standard settings; [`frames`](super::frames) defines frames. The
//! file is `dedup-decisions` in the folder of the database. A new record is written to another file. Once the
//! new file is complete and on disk, it replaces the old record. A process that will write a new record locks
//! `dedup-decisions.lock` before it reads the old record.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use crate::Because;
use crate::between_runs::frames::{MOST_BYTES, next_frame, write_frame};
use fpdb_host::durable::sync_name;
use fpdb_host::error::{Error, Result};
use fpdb_host::job_lock::lock_job;
use fpdb_store::DECISIONS;

const MAGIC: &[u8; 32] = b"fpdb dedup decisions, format 1\n\0";

/// The first bytes of the magic in every version; the version number follows.
const MAGIC_NAME: &str = "fpdb dedup decisions, format ";
const VERSION: u32 = 1;

/// Maximum number of entries in a block.
const BLOCK: usize = 4096;

/// The decision about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Fate {
    Stays,
    /// The document stays, because the budget was too small for a decision.
    Undecided,
    /// The document stays: a run decided so before a newcomer arrived that would justify its removal.
    Superseded(Reason),
    Removable(Reason),
}

/// The document that justifies a removal, and the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// Id of the document that justifies the removal.
    pub(crate) keep: u32,
    pub(crate) because: Because,
    /// Number of distinct fingerprints that both documents hold.
    pub(crate) shared: u32,
    /// The longest unmatched stretch, in symbols.
    pub(crate) novel: u32,
}

/// A [`Because`] as stored on disk.
#[derive(Encode, Decode)]
enum StoredBecause {
    Identical,
    SameText,
    Contained,
    Resembles,
}

impl Encode for Reason {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> std::result::Result<(), EncodeError> {
        let because = match self.because {
            Because::Identical => StoredBecause::Identical,
            Because::SameText => StoredBecause::SameText,
            Because::Contained => StoredBecause::Contained,
            Because::Resembles => StoredBecause::Resembles,
        };
        (self.keep, because, self.shared, self.novel).encode(encoder)
    }
}

impl<C> Decode<C> for Reason {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> std::result::Result<Self, DecodeError> {
        let (keep, because, shared, novel) = Decode::decode(decoder)?;
        let because = match because {
            StoredBecause::Identical => Because::Identical,
            StoredBecause::SameText => Because::SameText,
            StoredBecause::Contained => Because::Contained,
            StoredBecause::Resembles => Because::Resembles,
        };
        Ok(Self { keep, because, shared, novel })
    }
}

bincode::impl_borrow_decode!(Reason);

/// The decision about one document, and the run that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RecordEntry {
    pub(crate) document: u32,
    /// The run that made the decision, from 1.
    pub(crate) run: u32,
    pub(crate) fate: Fate,
}

/// The rule that decisions depend on, and the figures of the last run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct RecordHeader {
    /// Identity of the database. A repair changes the identity.
    pub(crate) database: String,
    /// The options that decisions depend on, as text.
    pub(crate) rule: String,
    /// Number of the last run.
    pub(crate) run: u32,
    /// Number of hashes the last run ignored because too many documents hold them.
    pub(crate) common: u64,
    /// Number of hashes the last run ignored because boilerplate holds them.
    pub(crate) boilerplate: u64,
}

/// The files of a database's record.
pub(crate) struct RecordFiles {
    path: PathBuf,
    new: PathBuf,
    _lock: File,
}

impl RecordFiles {
    /// Locks the record of the database in the folder `root`.
    ///
    /// # Errors
    /// [`Error::JobInUse`] if another process holds the lock; [`Error::Io`].
    pub(crate) fn lock(root: &Path) -> Result<Self> {
        let path = root.join("dedup-decisions.lock");
        let open = File::options().write(true).create(true).truncate(false).open(&path);
        let lock = open.map_err(Error::io("create", &path))?;
        lock_job(&lock, &path)?;
        Ok(Self { path: root.join(DECISIONS), new: root.join("dedup-decisions.new"), _lock: lock })
    }

    /// The path of the record.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the record. `None` if there is no record.
    pub(crate) fn read(&self) -> Result<Option<RecordReader>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(Error::io("read", &self.path))?,
        };
        let mut reader = BufReader::new(file);
        let mut magic = [0; MAGIC.len()];
        let is_record = match reader.read_exact(&mut magic) {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(Error::io("read", &self.path)(error)),
            outcome => outcome.is_ok() && magic == *MAGIC,
        };
        let mut record = RecordReader {
            reader,
            path: self.path.clone(),
            header: RecordHeader::default(),
            block: Vec::new().into_iter(),
            next: None,
            ended: false,
        };
        if !is_record {
            let text = String::from_utf8_lossy(&magic);
            let version = text.strip_prefix(MAGIC_NAME).and_then(|rest| rest.split_once('\n'));
            return Err(match version {
                Some((found, _)) if found != VERSION.to_string() => {
                    let (path, found) = (self.path.clone(), found.to_owned());
                    Error::DecisionsVersion { path, found, supported: VERSION }
                }
                _ => record.damaged("it is no record of decisions"),
            });
        }
        record.header = record.frame()?;
        record.advance()?;
        Ok(Some(record))
    }

    /// Writes a new record, which replaces the present one.
    pub(crate) fn write(
        &self,
        header: &RecordHeader,
        entries: impl Iterator<Item = Result<RecordEntry>>,
    ) -> Result<()> {
        let failed = |error| Error::io("write", &self.new)(error);
        let mut file = BufWriter::new(File::create(&self.new).map_err(Error::io("create", &self.new))?);
        file.write_all(MAGIC).map_err(failed)?;
        write_frame(&mut file, &encoded(header, &self.new)?).map_err(failed)?;
        let mut block = Vec::with_capacity(BLOCK);
        for entry in entries {
            block.push(entry?);
            if block.len() == BLOCK {
                write_frame(&mut file, &encoded(&block, &self.new)?).map_err(failed)?;
                block.clear();
            }
        }
        if !block.is_empty() {
            write_frame(&mut file, &encoded(&block, &self.new)?).map_err(failed)?;
        }
        write_frame(&mut file, &encoded(&Vec::<RecordEntry>::new(), &self.new)?).map_err(failed)?;
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        fs::rename(&self.new, &self.path).map_err(Error::io("write", &self.path))?;
        sync_name(&self.path)
    }
}

fn encoded(value: &impl Encode, path: &Path) -> Result<Vec<u8>> {
    let encoded = bincode::encode_to_vec(value, bincode::config::standard());
    encoded.map_err(|source| Error::io("write", path)(std::io::Error::other(source)))
}

/// Reads a record from start to end.
#[derive(Debug)]
pub(crate) struct RecordReader {
    reader: BufReader<File>,
    path: PathBuf,
    header: RecordHeader,
    block: std::vec::IntoIter<RecordEntry>,
    next: Option<RecordEntry>,
    ended: bool,
}

impl RecordReader {
    pub(crate) fn header(&self) -> &RecordHeader {
        &self.header
    }

    /// The decision about a document. `None` if the record has none. Documents must ascend from call to call.
    pub(crate) fn find(&mut self, document: u32) -> Result<Option<RecordEntry>> {
        while let Some(entry) = self.next {
            if entry.document >= document {
                return Ok((entry.document == document).then_some(entry));
            }
            self.advance()?;
        }
        Ok(None)
    }

    /// True if the record has a decision about this document or one with a larger id. Documents must ascend
    /// from call to call.
    pub(crate) fn has_from(&mut self, document: u32) -> Result<bool> {
        self.find(document)?;
        Ok(self.next.is_some())
    }

    fn advance(&mut self) -> Result<()> {
        let before = self.next;
        if self.block.len() == 0 && !self.ended {
            let block: Vec<RecordEntry> = self.frame()?;
            self.ended = block.is_empty();
            self.block = block.into_iter();
        }
        self.next = self.block.next();
        match (before, self.next) {
            (Some(before), Some(next)) if before.document >= next.document => {
                Err(self.damaged("its entries do not ascend"))
            }
            _ => Ok(()),
        }
    }

    fn frame<T: Decode<()>>(&mut self) -> Result<T> {
        let bytes = next_frame(&mut self.reader).map_err(Error::io("read", &self.path))?;
        let bytes = bytes.ok_or_else(|| self.damaged("it ends too early, or its checksum is wrong"))?;
        let config = bincode::config::standard().with_limit::<{ MOST_BYTES as usize }>();
        match bincode::decode_from_slice::<T, _>(&bytes, config) {
            Ok((value, read)) if read == bytes.len() => Ok(value),
            _ => Err(self.damaged("a block of it does not decode")),
        }
    }

    fn damaged(&self, detail: &'static str) -> Error {
        Error::DamagedDecisions { path: self.path.clone(), detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(document: u32) -> RecordEntry {
        let reason = Reason { keep: document / 2, because: Because::Contained, shared: 7 * document, novel: 40 };
        let fate = match document % 4 {
            0 => Fate::Stays,
            1 => Fate::Removable(reason),
            2 => Fate::Superseded(reason),
            _ => Fate::Undecided,
        };
        RecordEntry { document, run: 1 + document % 3, fate }
    }

    /// The bytes of a reason on disk in version 1: numbers in bincode's encoding, the cause as its index in
    /// the list. Another encoding needs another version.
    #[test]
    fn reasons_have_the_same_bytes_in_every_version() {
        let causes = [Because::Identical, Because::SameText, Because::Contained, Because::Resembles];
        for (place, because) in (0u8..).zip(causes) {
            let reason = Reason { keep: 7, because, shared: 5, novel: 250 };
            let bytes = bincode::encode_to_vec(reason, bincode::config::standard()).unwrap();
            assert_eq!(bytes, [7, place, 5, 250]);
            assert_eq!(bincode::decode_from_slice(&bytes, bincode::config::standard()).unwrap(), (reason, 4));
        }
        let unknown = bincode::decode_from_slice::<Reason, _>(&[7, 4, 5, 250], bincode::config::standard());
        assert!(unknown.is_err());
    }

    #[test]
    fn what_is_written_is_version_1() {
        let folder = tempfile::tempdir().unwrap();
        let files = RecordFiles::lock(folder.path()).unwrap();
        let header = RecordHeader { database: "d".into(), rule: "r".into(), run: 3, common: 300, boilerplate: 4 };
        let reason = |because| Reason { keep: 70_000, because, shared: 5, novel: 251 };
        let fates = [Fate::Stays, Fate::Undecided]
            .into_iter()
            .chain([Because::Identical, Because::SameText].map(|because| Fate::Superseded(reason(because))))
            .chain([Because::Contained, Because::Resembles].map(|because| Fate::Removable(reason(because))));
        let entries: Vec<RecordEntry> =
            (0..).zip(fates).map(|(document, fate)| RecordEntry { document, run: 2, fate }).collect();
        files.write(&header, entries.iter().copied().map(Ok)).unwrap();
        let bytes = fs::read(files.path()).unwrap();
        let hex: String = bytes[MAGIC.len()..].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(&bytes[..MAGIC.len()], MAGIC);
        let expected = concat!(
            "090000000164017203fb2c0104bafcba2fb03f76e73b00000006000200010201020202fc701101000005fbfb00030202",
            "fc701101000105fbfb00040203fc701101000205fbfb00050203fc701101000305fbfb00f9e8e86d95b1fd4601000000",
            "00dbec4e07f4df4bc4",
        );
        assert_eq!(hex, expected);
    }

    #[test]
    fn a_newer_record_is_refused_and_not_taken_for_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let files = RecordFiles::lock(folder.path()).unwrap();
        for (version, refused) in [("2", true), ("17", true), ("1x", true), ("1", false)] {
            let mut bytes = format!("{MAGIC_NAME}{version}\n").into_bytes();
            bytes.resize(200, 7);
            fs::write(files.path(), bytes).unwrap();
            match files.read() {
                Err(Error::DecisionsVersion { found, supported: 1, .. }) => assert!(refused && found == version),
                Err(Error::DamagedDecisions { .. }) => assert!(!refused),
                other => panic!("{version}: {other:?}"),
            }
        }
    }

    #[test]
    fn entries_come_back_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let files = RecordFiles::lock(folder.path()).unwrap();
        assert!(matches!(RecordFiles::lock(folder.path()), Err(Error::JobInUse { .. })));
        assert!(files.read().unwrap().is_none());
        let header =
            RecordHeader { database: "one".into(), rule: "by".into(), run: 3, common: 5, boilerplate: 1 << 40 };
        // Every third document, in several blocks.
        let entries = || (0..9000u32).map(|number| entry(3 * number));
        for kept in [9000, 0, 1] {
            files.write(&header, entries().take(kept).map(Ok)).unwrap();
            let mut record = files.read().unwrap().unwrap();
            assert_eq!(*record.header(), header);
            for document in 0..30_000u32 {
                let held = document % 3 == 0 && ((document / 3) as usize) < kept;
                assert_eq!(record.find(document).unwrap(), held.then(|| entry(document)));
            }
        }
        files.write(&header, entries().map(Ok)).unwrap();
        let whole = fs::read(files.path()).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(files.path(), bytes).unwrap();
            files.read().and_then(|record| record.unwrap().find(u32::MAX).map(drop))
        };
        read(&whole).unwrap();
        for end in (0..whole.len()).step_by(997).chain([whole.len() - 1]) {
            assert!(matches!(read(&whole[..end]), Err(Error::DamagedDecisions { .. })), "cut at {end}");
        }
        for at in (0..whole.len()).step_by(499) {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            assert!(matches!(read(&changed), Err(Error::DamagedDecisions { .. })), "changed at {at}");
        }
        // A failed write leaves the previous record.
        fs::write(files.path(), &whole).unwrap();
        let failing = entries().map(|entry| if entry.document < 20_000 { Ok(entry) } else { Err(Error::Stopped) });
        assert!(matches!(files.write(&header, failing), Err(Error::Stopped)));
        assert_eq!(fs::read(files.path()).unwrap(), whole);
    }
}
