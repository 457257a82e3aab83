//! Reader: reads the bytes of one document in order, in bounded memory, and computes their digest.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::extract::InputLimits;
use crate::input::decompress::decompress;
use crate::input::decompress::meter::{Meter, Metered};
use crate::input::find::candidate::modified;
use crate::input::{Candidate, Compression, Content, FileFacts, ReadAs, temporary};
use crate::recognise::{Choice, Hint, choose, choose_of_text, is_video, promised_format};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::{Digest, Format};
use fpdb_kernel::profile::Unit;

/// Bytes read at a time.
pub(crate) const PIECE: usize = 256 << 10;

/// The name of standard input in messages.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// Reads documents one after the other. Use one per thread.
pub struct Reader {
    limits: InputLimits,
    buffer: Vec<u8>,
}

/// Receives the bytes of one document, and checks its limits.
struct DocumentBytes<'a> {
    digest: Xxh3,
    bytes: u64,
    limit: u64,
    stop: &'a StopToken,
    take: &'a mut dyn FnMut(&[u8]) -> Result<()>,
}

impl DocumentBytes<'_> {
    fn piece(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.piece_of(bytes)
    }

    /// Like [`piece`](Self::piece), for bytes whose digest is computed elsewhere.
    fn piece_of(&mut self, bytes: &[u8]) -> Result<()> {
        if self.stop.is_stopped() {
            return Err(Error::Stopped);
        }
        self.bytes += bytes.len() as u64;
        if self.bytes > self.limit {
            return Err(Error::Document(DocumentError::DocumentTooLarge { limit: self.limit }));
        }
        (self.take)(bytes)
    }
}

impl Reader {
    /// A reader for documents within these limits.
    pub fn new(limits: InputLimits) -> Self {
        Self { limits, buffer: vec![0; PIECE] }
    }

    /// Reads a document to its end and returns the digest of its bytes. Passes the bytes to `take` in pieces;
    /// the first may be empty. Reports the bytes read from a file to `progress`.
    ///
    /// # Errors
    /// If the bytes cannot be read or decoded; [`DocumentError::ChangedWhileReading`]; [`Error::Stopped`];
    /// the error of `take`. After an error, `take` has received only part of the document.
    pub fn read(
        &mut self,
        candidate: &Candidate,
        stop: &StopToken,
        progress: &dyn Fn(u64),
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Digest> {
        let mut intake = self.intake(stop, take);
        match (&candidate.content, &candidate.about.file) {
            (Content::Whole(bytes), _) => return self.read_whole(bytes, stop, intake.take),
            (Content::Temporary(file), _) => {
                let (mut file, failed) = (file, temporary::failed("read a file in"));
                file.rewind().map_err(&failed)?;
                self.pieces(&mut file, &mut intake, failed)?;
            }
            (Content::Pieces(pieces), _) => {
                while let Some(piece) = pieces.receive()? {
                    intake.piece(&piece)?;
                }
            }
            (Content::File, Some(file)) => self.file(file, None, progress, &mut intake)?,
            (Content::Compressed(compression), Some(file)) => {
                self.file(file, Some(*compression), progress, &mut intake)?;
            }
            // Input that can be read only once was expanded earlier, so only the documents in it arrive here.
            (Content::Pipe(_), _) | (Content::File | Content::Compressed(_), None) => {
                return Err(Error::Document(DocumentError::NotAFile { path: candidate.about.name.clone().into() }));
            }
        }
        Ok(intake.digest.digest128().to_be_bytes())
    }

    /// Like [`read`](Self::read), for a document that the caller holds in memory.
    ///
    /// # Errors
    /// [`DocumentError::DocumentTooLarge`]; [`Error::Stopped`]; the error of `take`.
    pub fn read_whole(
        &self,
        bytes: &[u8],
        stop: &StopToken,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Digest> {
        self.intake(stop, take).piece_of(bytes)?;
        Ok(xxh3_128(bytes).to_be_bytes())
    }

    fn intake<'a>(&self, stop: &'a StopToken, take: &'a mut dyn FnMut(&[u8]) -> Result<()>) -> DocumentBytes<'a> {
        DocumentBytes { digest: Xxh3::new(), bytes: 0, limit: self.limits.document_bytes, stop, take }
    }

    fn file(
        &mut self,
        file: &FileFacts,
        compression: Option<Compression>,
        progress: &dyn Fn(u64),
        intake: &mut DocumentBytes<'_>,
    ) -> Result<()> {
        if compression.is_none() && file.bytes > intake.limit {
            return Err(Error::Document(DocumentError::DocumentTooLarge { limit: intake.limit }));
        }
        let open = File::open(&file.path).map_err(Error::io("read", &file.path))?;
        let meter = Meter::new(self.limits.clone(), Some(file.bytes), intake.stop, progress);
        meter.start_reporting();
        let mut input = Metered { input: &open, path: &file.path, meter: &meter };
        match compression {
            None => {
                self.pieces(&mut input, intake, |error| meter.failure_or(|| Error::io("read", &file.path)(error)))?
            }
            Some(compression) => {
                let cause = |error| meter.error(compression.name(), error);
                let mut inside = decompress(compression, input, &meter).map_err(cause)?;
                self.pieces(&mut inside, intake, cause)?;
            }
        }
        let whole = compression.is_some() || intake.bytes == file.bytes;
        if whole && is_unchanged(&open, file)? {
            Ok(())
        } else {
            Err(Error::Document(DocumentError::ChangedWhileReading { path: file.path.clone() }))
        }
    }

    fn pieces(
        &mut self,
        input: &mut dyn Read,
        intake: &mut DocumentBytes<'_>,
        cause: impl Fn(io::Error) -> Error,
    ) -> Result<()> {
        loop {
            let filled = fill(input, &mut self.buffer).map_err(&cause)?;
            intake.piece(&self.buffer[..filled])?;
            if filled < PIECE {
                return Ok(());
            }
        }
    }
}

/// True if a file still has the size and modification time at which it was found.
pub(crate) fn is_unchanged(open: &File, file: &FileFacts) -> Result<bool> {
    let after = open.metadata().map_err(Error::io("read", Path::new(&file.path)))?;
    Ok(after.len() == file.bytes && modified(&after) == file.modified)
}

/// Reads until the buffer is full or the input ends.
fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The setting for a text whose offsets must count its own bytes. So the text is not read as a mail, in which
/// offsets count other bytes. A text that detection would skip is plain text.
pub fn front_end_of_text(asked: ReadAs, text: &str, unit: Unit) -> ReadAs {
    match (asked, choose_of_text("", text.as_bytes(), unit)) {
        (ReadAs::Auto, Choice::Skip(_) | Choice::Read(Format::Mail)) => ReadAs::Format(Format::Text),
        (ReadAs::Auto, Choice::Read(format)) => ReadAs::Format(format),
        (asked, _) => asked,
    }
}

/// The format in which a document is read: the one in `asked`, or the one detected from its hint and first
/// bytes.
///
/// # Errors
/// [`DocumentError::Binary`] if the bytes are not text in any format of this unit.
/// [`DocumentError::NotOfFormat`] if the name says a format that the first bytes do not have.
pub fn format_of(asked: ReadAs, hint: &Hint, head: &[u8], unit: Unit) -> Result<Format> {
    let choose = if hint.is_text { choose_of_text } else { choose };
    let chosen = match (unit, asked) {
        (Unit::Byte, _) => return Ok(Format::Bytes),
        (_, ReadAs::Format(format)) => return Ok(format),
        // The language does not depend on the unit.
        (_, ReadAs::Code) => choose(&hint.name, head, Unit::Token),
        (_, ReadAs::Auto) => choose(&hint.name, head, unit),
    };
    match (chosen, asked) {
        (Choice::Skip(reason), _) => Err(Error::Document(match promised_format(&hint.name) {
            Some(format) if !is_video(&hint.name, head) => {
                DocumentError::NotOfFormat { format: format.name(), detail: reason.to_string().into(), source: None }
            }
            _ => DocumentError::Binary { reason },
        })),
        (Choice::Read(format @ Format::Code(_)), _) | (Choice::Read(format), ReadAs::Auto) => Ok(format),
        (Choice::Read(_), _) => Ok(Format::Text),
    }
}
