//! Wire: the messages between this process and the one that reads documents for it. Numbers are
//! little-endian. Fields of variable length are preceded by their length.

use std::io::{self, Read, Write};

use crate::extract::{InputLimits, Unread};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

/// The first bytes of a request. The last two are the version of the protocol.
const MAGIC: [u8; 8] = *b"fpdbrd04";

/// Number of numbers in a request: format, four limits, seconds, length, and a last one that is 1 to ask for
/// attachments, else 0.
const NUMBERS: usize = 8;

/// Maximum bytes of an error message in an answer.
const WORDS: u64 = 64 << 10;

/// Bytes before the pages and the text or attachments in an answer: number and digest of the unread parts,
/// numbers of undecodable sequences and of pages.
const NUMBERS_OF_READING: usize = 40;

/// Requests the text of a document. The bytes of the document follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) format: Format,
    pub(super) document: u64,
    pub(super) unpacked: u64,
    pub(super) expansion: u64,
    /// Maximum bytes of memory for reading the document.
    pub(super) memory: u64,
    /// Maximum seconds of processor time.
    pub(super) seconds: u64,
    /// Length of the document in bytes.
    pub(super) length: u64,
    /// Asks for the attachments of a mail instead of its text.
    pub(super) attachments: bool,
}

impl Request {
    pub(super) fn of(format: Format, length: u64, limits: &InputLimits) -> Self {
        let &InputLimits { whole_bytes: document, unpacked_bytes: unpacked, unpacking: expansion, .. } = limits;
        let memory = limits.reading_memory;
        let seconds = limits.seconds_for(length);
        Self { format, document, unpacked, expansion, memory, seconds, length, attachments: false }
    }

    /// The limits for the process that answers. The system limits the memory of that process.
    pub(super) fn limits(&self) -> InputLimits {
        let &Self { document, unpacked, expansion, seconds, .. } = self;
        InputLimits::default()
            .whole_bytes(document)
            .unpacked_bytes(unpacked)
            .unpacking(expansion)
            .reading_memory(u64::MAX)
            .reading_seconds(seconds)
    }

    pub(super) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let format = Format::ALL.iter().position(|&format| format == self.format).unwrap_or_default();
        let &Self { document, unpacked, expansion, memory, seconds, length, attachments, .. } = self;
        let numbers = [format as u64, document, unpacked, expansion, memory, seconds, length, attachments.into()];
        let mut bytes = MAGIC.to_vec();
        bytes.extend(numbers.iter().flat_map(|number: &u64| number.to_le_bytes()));
        output.write_all(&bytes)
    }

    /// Reads the next request; `None` at the end of the input.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::with_capacity(MAGIC.len() + NUMBERS * 8);
        input.take(bytes.capacity() as u64).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let (magic, numbers) = bytes.split_at_checked(MAGIC.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        let numbers: Vec<u64> = numbers.as_chunks().0.iter().map(|&number| u64::from_le_bytes(number)).collect();
        let &[format, document, unpacked, expansion, memory, seconds, length, attachments] = &numbers[..] else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let format = usize::try_from(format).ok().and_then(|index| Format::ALL.get(index));
        let format = *format.filter(|_| magic == MAGIC).ok_or(io::ErrorKind::InvalidData)?;
        let attachments = attachments != 0;
        Ok(Some(Self { format, document, unpacked, expansion, memory, seconds, length, attachments }))
    }
}

/// The text of a document, or the packed attachments of a mail, as a reader process has read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) bytes: Vec<u8>,
    /// The starts of the pages of the text.
    pub(super) pages: Vec<u64>,
    pub(super) unread: Unread,
    pub(super) undecodable: u64,
}

/// The answer of a reader process: a text or attachments, or the reason why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProcessAnswer {
    Read(Reading),
    NotOfFormat { detail: String, cause: String },
    Encrypted,
    TooLarge(u64),
    Unpacked(u64),
    Memory,
    Other(String),
}

impl ProcessAnswer {
    pub(super) fn of(read: Result<Reading>) -> Self {
        let error = match read {
            Ok(reading) => return Self::Read(reading),
            Err(error) => error,
        };
        match error {
            Error::Document(DocumentError::NotOfFormat { detail, source, .. }) => Self::NotOfFormat {
                detail: detail.into_owned(),
                cause: source.map_or_else(String::new, |source| source.to_string()),
            },
            Error::Document(DocumentError::EncryptedDocument { .. }) => Self::Encrypted,
            Error::Document(DocumentError::TooLarge { limit, .. }) => Self::TooLarge(limit),
            Error::Document(DocumentError::Unpacked { limit, .. }) => Self::Unpacked(limit),
            Error::Document(DocumentError::ReadingMemory { .. }) => Self::Memory,
            other => Self::Other(other.chain()),
        }
    }

    /// Converts the answer to a result, for a document of this format that was allowed `memory` bytes of
    /// memory.
    pub(super) fn into_result(self, format: Format, memory: u64) -> Result<Reading> {
        let name = format.name();
        Err(match self {
            Self::Read(reading) => return Ok(reading),
            Self::NotOfFormat { detail, cause } => Error::Document(DocumentError::NotOfFormat {
                format: name,
                detail: detail.into(),
                source: (!cause.is_empty()).then(|| cause.into()),
            }),
            Self::Encrypted => Error::Document(DocumentError::EncryptedDocument { format: name }),
            Self::TooLarge(limit) => Error::Document(DocumentError::TooLarge { format: name, limit }),
            Self::Unpacked(limit) => Error::Document(DocumentError::Unpacked { format: name, limit }),
            Self::Memory => Error::Document(DocumentError::ReadingMemory { format: name, limit: memory }),
            Self::Other(detail) => Error::Document(DocumentError::ReaderFailed { detail }),
        })
    }

    pub(super) fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let mut head = |kind: u8, length: usize| {
            let mut head = vec![kind];
            head.extend((length as u64).to_le_bytes());
            output.write_all(&head)
        };
        // Cuts at a character boundary, so that the result stays text. A character takes at most four bytes.
        let short = |text: &str| text.chars().take(WORDS as usize / 16).collect::<String>();
        match self {
            Self::Read(Reading { bytes, pages, unread, undecodable }) => {
                head(0, NUMBERS_OF_READING + size_of_val(&pages[..]) + bytes.len())?;
                output.write_all(&unread.count.to_le_bytes())?;
                output.write_all(&unread.digest)?;
                output.write_all(&undecodable.to_le_bytes())?;
                output.write_all(&(pages.len() as u64).to_le_bytes())?;
                pages.iter().try_for_each(|page| output.write_all(&page.to_le_bytes()))?;
                output.write_all(bytes)
            }
            Self::NotOfFormat { detail, cause } => {
                let words = format!("{}\0{}", short(detail), short(cause));
                head(1, words.len())?;
                output.write_all(words.as_bytes())
            }
            Self::Encrypted => head(2, 0),
            Self::TooLarge(limit) => {
                head(3, 8)?;
                output.write_all(&limit.to_le_bytes())
            }
            Self::Unpacked(limit) => {
                head(4, 8)?;
                output.write_all(&limit.to_le_bytes())
            }
            Self::Memory => head(5, 0),
            Self::Other(detail) => {
                let words = short(detail);
                head(6, words.len())?;
                output.write_all(words.as_bytes())
            }
        }
    }

    /// Reads the next answer, whose pages and text may have at most `most` bytes. The sender is not trusted.
    pub(super) fn read(input: &mut impl Read, most: u64) -> io::Result<Self> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let (mut kind, mut length) = ([0], [0; 8]);
        input.read_exact(&mut kind)?;
        input.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > if kind == [0] { most.saturating_add(NUMBERS_OF_READING as u64) } else { WORDS } {
            return Err(invalid());
        }
        let mut body = Vec::new();
        if input.take(length).read_to_end(&mut body)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let number = || body.as_slice().try_into().map(u64::from_le_bytes).map_err(|_| invalid());
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(match kind {
            [0] => {
                let (count, rest) = body.split_first_chunk().ok_or_else(invalid)?;
                let (&digest, rest) = rest.split_first_chunk().ok_or_else(invalid)?;
                let (&undecodable, rest) = rest.split_first_chunk().ok_or_else(invalid)?;
                let (&pages, rest) = rest.split_first_chunk().ok_or_else(invalid)?;
                let pages = usize::try_from(u64::from_le_bytes(pages)).ok().and_then(|pages| pages.checked_mul(8));
                let (pages, bytes) = pages.and_then(|length| rest.split_at_checked(length)).ok_or_else(invalid)?;
                let pages = pages.as_chunks().0.iter().map(|&page| u64::from_le_bytes(page)).collect();
                let unread = Unread { count: u64::from_le_bytes(*count), digest };
                let before = body.len() - bytes.len();
                // A copy would double the memory for a large answer.
                drop(body.drain(..before));
                Self::Read(Reading { bytes: body, pages, unread, undecodable: u64::from_le_bytes(undecodable) })
            }
            [1] => {
                let zero = memchr::memchr(0, &body).ok_or_else(invalid)?;
                Self::NotOfFormat { detail: words(&body[..zero]), cause: words(&body[zero + 1..]) }
            }
            [2] => Self::Encrypted,
            [3] => Self::TooLarge(number()?),
            [4] => Self::Unpacked(number()?),
            [5] => Self::Memory,
            [6] => Self::Other(words(&body)),
            _ => return Err(invalid()),
        })
    }
}

/// Property of any bytes from a reader process: they are a valid answer within the limit, or an error. A
/// valid answer is the same after it is written and read again.
#[cfg(any(test, fuzzing))]
pub(crate) fn check_answer(data: &[u8]) {
    const MOST: u64 = 1000;
    let Ok(answer) = ProcessAnswer::read(&mut &data[..], MOST) else { return };
    let mut bytes = Vec::new();
    answer.write(&mut bytes).unwrap();
    assert_eq!(ProcessAnswer::read(&mut &bytes[..], MOST.max(bytes.len() as u64)).unwrap(), answer);
    let _ = answer.into_result(Format::Pdf, MOST);
    let _ = Request::read(&mut &data[..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &[u8], pages: &[u64], unread: Unread) -> ProcessAnswer {
        ProcessAnswer::Read(Reading { bytes: text.to_vec(), pages: pages.to_vec(), unread, undecodable: 5 })
    }

    fn answers() -> Vec<ProcessAnswer> {
        let words = |text: &str| text.to_owned();
        vec![
            text(b"text", &[], Unread { count: 3, digest: [7; 16] }),
            text(b"\n\ntext\n", &[0, 1], Unread::default()),
            text(b"", &[], Unread::default()),
            ProcessAnswer::NotOfFormat { detail: words("it is damaged"), cause: words("no é\nhere") },
            ProcessAnswer::NotOfFormat { detail: words("d"), cause: String::new() },
            ProcessAnswer::Encrypted,
            ProcessAnswer::TooLarge(7),
            ProcessAnswer::Unpacked(u64::MAX),
            ProcessAnswer::Memory,
            ProcessAnswer::Other(words("panicked")),
        ]
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        for answer in answers() {
            let mut bytes = Vec::new();
            answer.write(&mut bytes).unwrap();
            assert_eq!(ProcessAnswer::read(&mut &bytes[..], 23).unwrap(), answer);
            for cut in 0..bytes.len() {
                assert!(ProcessAnswer::read(&mut &bytes[..cut], 23).is_err(), "{answer:?} cut at {cut}");
            }
            check_answer(&bytes);
        }
        let request = Request::of(Format::Odt, 5, &InputLimits::default());
        let mut bytes = Vec::new();
        request.write(&mut bytes).unwrap();
        assert_eq!(Request::read(&mut &bytes[..]).unwrap(), Some(request));
        assert_eq!(Request::read(&mut &[][..]).unwrap(), None);
        assert!((1..bytes.len()).all(|cut| Request::read(&mut &bytes[..cut]).is_err()));
    }

    #[test]
    fn a_text_beyond_the_limit_is_not_read() {
        let mut bytes = Vec::new();
        text(&[b'x'; 92], &[0], Unread::default()).write(&mut bytes).unwrap();
        assert!(ProcessAnswer::read(&mut &bytes[..], 99).is_err() && ProcessAnswer::read(&mut &bytes[..], 100).is_ok());
        // A length that is too large must not allocate memory.
        bytes[1..9].fill(0xFF);
        assert!(ProcessAnswer::read(&mut &bytes[..], u64::MAX).is_err());
    }

    #[test]
    fn long_words_are_cut() {
        let long = ProcessAnswer::NotOfFormat { detail: "é".repeat(100_000), cause: "x".repeat(100_000) };
        let mut bytes = Vec::new();
        long.write(&mut bytes).unwrap();
        assert!(bytes.len() as u64 <= WORDS);
        assert!(matches!(ProcessAnswer::read(&mut &bytes[..], 0).unwrap(), ProcessAnswer::NotOfFormat { .. }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_none(kind in 0..8u8, length in 0..40u64, data in prop::collection::vec(any::<u8>(), 0..50)) {
            check_answer(&data);
            let framed = [&[kind][..], &length.to_le_bytes(), &data].concat();
            check_answer(&framed);
        }
    }
}
