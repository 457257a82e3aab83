//! Limits: to how many bytes a file may decompress. A meter counts the bytes that one file on disk has decompressed to, and a guard
//! watches every stage that makes more bytes than it takes.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use crate::extract::{self, ReaderProcess};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::setters::setters;
use fpdb_host::stop::StopToken;

/// Limits of files: a file beyond them counts as hostile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputLimits {
    /// Bytes of one document.
    pub document_bytes: u64,
    /// Bytes of one record that has to be held in memory whole: a line of JSON, a value of Parquet.
    pub record_bytes: u64,
    /// How many times its own size compressed data may grow to, past [`InputLimits::FREE_BYTES`].
    pub expansion: u64,
    /// Bytes that one file may decompress to, all its members and layers together.
    pub expanded_bytes: u64,
    /// Containers and compressions within each other.
    pub nesting: u32,
    /// Members of one file, those of the containers in it included.
    pub members: u64,
    /// Arrays and objects within each other in a line of JSON.
    pub json_depth: u32,
    /// Bytes of the name that a container gives to a member.
    pub name_bytes: u64,
    /// Bytes of a document in a format that is read whole: all but text, code and bytes.
    pub whole_bytes: u64,
    /// Bytes that the parts of a document (of PDF, DOCX, ODT, EPUB) may unpack to.
    pub unpacked_bytes: u64,
    /// How many times its own size that may be, past [`InputLimits::FREE_UNPACKED_BYTES`].
    pub unpacking: u64,
    /// Bytes of memory that reading one document of a format that is read whole may take. An ingest allows each of its
    /// threads no more than its own memory has room for.
    pub reading_memory: u64,
    /// Seconds of processor time that reading one document in a [process](Self::process) of its own may take, and one more
    /// for each [`InputLimits::BYTES_A_SECOND`].
    pub reading_seconds: u64,
    /// Reads documents in formats of foreign parsers (PDF, DOCX, ODT, EPUB, mail) in processes of their own, so that the
    /// limits of memory and time hold whatever a parser does. Without it they are read in this process, and refused where
    /// they look as if they needed too much memory.
    pub process: Option<ReaderProcess>,
}

impl InputLimits {
    setters! {
        document_bytes: u64,
        record_bytes: u64,
        expansion: u64,
        expanded_bytes: u64,
        nesting: u32,
        members: u64,
        json_depth: u32,
        name_bytes: u64,
        whole_bytes: u64,
        unpacked_bytes: u64,
        unpacking: u64,
        reading_memory: u64,
        reading_seconds: u64,
        process: Option<ReaderProcess>,
    }
}

impl InputLimits {
    /// The bytes that any file may decompress to, however small it is: small files compress by any factor.
    pub const FREE_BYTES: u64 = 64 << 20;

    /// The bytes that the parts of any document may decompress to.
    pub const FREE_UNPACKED_BYTES: u64 = extract::Limits::FREE_UNPACKED_BYTES;

    /// The slowest that a large document may be read.
    pub const BYTES_A_SECOND: u64 = extract::Limits::BYTES_A_SECOND;
}

impl Default for InputLimits {
    fn default() -> Self {
        let extract::Limits { document, unpacked, expansion, memory, seconds, process } = extract::Limits::default();
        Self {
            document_bytes: 16 << 30,
            record_bytes: 256 << 20,
            expansion: 250,
            expanded_bytes: 1 << 40,
            nesting: 8,
            members: 100_000_000,
            json_depth: 64,
            name_bytes: 4 << 10,
            whole_bytes: document,
            unpacked_bytes: unpacked,
            unpacking: expansion,
            reading_memory: memory,
            reading_seconds: seconds,
            process,
        }
    }
}

impl From<&InputLimits> for extract::Limits {
    /// The limits of one document that is read whole.
    fn from(limits: &InputLimits) -> Self {
        let &InputLimits { whole_bytes: document, unpacked_bytes: unpacked, unpacking: expansion, .. } = limits;
        let &InputLimits { reading_memory: memory, reading_seconds: seconds, .. } = limits;
        Self { document, unpacked, expansion, memory, seconds, process: limits.process.clone() }
    }
}

/// Counts the bytes that one file on disk has decompressed to.
pub(crate) struct Meter<'a> {
    pub(crate) limits: InputLimits,
    /// The size of the file, where it is known beforehand.
    size: Option<u64>,
    read: Cell<u64>,
    told: Cell<u64>,
    is_reporting: Cell<bool>,
    progress: &'a dyn Fn(u64),
    stop: &'a StopToken,
    expanded: Cell<u64>,
    members: Cell<u64>,
    exhausted: Cell<bool>,
    /// The first error, kept here because an error on its way through a decoder may lose its type.
    failure: RefCell<Option<Error>>,
}

impl<'a> Meter<'a> {
    /// A meter of a file of this size. After [`start_reporting`](Self::start_reporting) it reports bytes read to `progress`.
    pub(crate) fn new(limits: InputLimits, size: Option<u64>, stop: &'a StopToken, progress: &'a dyn Fn(u64)) -> Self {
        Self {
            limits,
            size,
            read: Cell::new(0),
            told: Cell::new(0),
            is_reporting: Cell::new(false),
            progress,
            stop,
            expanded: Cell::new(0),
            members: Cell::new(0),
            exhausted: Cell::new(false),
            failure: RefCell::new(None),
        }
    }

    /// From now on it reports progress.
    pub(crate) fn start_reporting(&self) {
        self.is_reporting.set(true);
    }

    /// `bytes` more bytes of the file have been read.
    ///
    /// # Errors
    /// One that stands for [`Error::Stopped`] once the run is to stop.
    pub(crate) fn read(&self, bytes: u64) -> io::Result<()> {
        self.read.set(self.read.get() + bytes);
        if self.is_reporting.get() {
            // Parts of a file can be read twice.
            let done = self.read.get().min(self.size.unwrap_or(u64::MAX));
            (self.progress)(done - self.told.replace(done));
        }
        if self.stop.is_stopped() { Err(self.keep(Error::Stopped)) } else { Ok(()) }
    }

    /// The file is done with, whatever was read of it.
    pub(crate) fn end(&self) {
        if let Some(size) = self.size {
            (self.progress)(size - self.told.replace(size));
        }
    }

    /// True once a limit of the whole file is reached: nothing more of it is to be looked at.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// Counts one more member.
    ///
    /// # Errors
    /// [`DocumentError::TooManyMembers`](fpdb_host::error::DocumentError::TooManyMembers).
    pub(crate) fn member(&self) -> Result<()> {
        self.members.set(self.members.get() + 1);
        if self.members.get() <= self.limits.members {
            return Ok(());
        }
        self.exhausted.set(true);
        Err(Error::Document(DocumentError::TooManyMembers { limit: self.limits.members }))
    }

    /// Counts bytes that some stage has made, `made` of them so far from the `taken` bytes it was given.
    ///
    /// # Errors
    /// [`DocumentError::Expansion`](fpdb_host::error::DocumentError::Expansion) for the stage or for all of the file, [`DocumentError::Expanded`](fpdb_host::error::DocumentError::Expanded).
    pub(crate) fn expand(&self, bytes: u64, made: u64, taken: u64) -> Result<()> {
        let limit = self.limits.expansion;
        let grown = |made: u64, taken: u64| made > InputLimits::FREE_BYTES && made / limit > taken;
        self.expanded.set(self.expanded.get() + bytes);
        if grown(made, taken) {
            return Err(Error::Document(DocumentError::Expansion { limit }));
        }
        if self.expanded.get() > self.limits.expanded_bytes {
            self.exhausted.set(true);
            return Err(Error::Document(DocumentError::Expanded { limit: self.limits.expanded_bytes }));
        }
        if grown(self.expanded.get(), self.size.unwrap_or(self.read.get())) {
            self.exhausted.set(true);
            return Err(Error::Document(DocumentError::Expansion { limit }));
        }
        Ok(())
    }

    /// Keeps an error for [`Meter::error`], unless there is one already, and gives one to hand through readers.
    pub(crate) fn keep(&self, error: Error) -> io::Error {
        self.failure.borrow_mut().get_or_insert(error);
        io::Error::other("the reading was ended")
    }

    /// The error that was kept, or another.
    pub(crate) fn failure_or(&self, other: impl FnOnce() -> Error) -> Error {
        self.failure.borrow_mut().take().unwrap_or_else(other)
    }

    /// The error behind what a reader of this format has said.
    pub(crate) fn error(&self, format: &'static str, error: io::Error) -> Error {
        self.failure_or(|| Error::Document(DocumentError::Undecodable { format, source: error.into() }))
    }
}

/// Counts the bytes that a stage takes.
pub(crate) struct Taken<R> {
    input: R,
    taken: Rc<Cell<u64>>,
}

impl<R> Taken<R> {
    pub(crate) fn new(input: R) -> (Self, Rc<Cell<u64>>) {
        let taken = Rc::new(Cell::new(0));
        (Self { input, taken: Rc::clone(&taken) }, taken)
    }
}

impl<R: Read> Read for Taken<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

/// A stage that may make more bytes than it takes.
pub(crate) struct Guard<'a, R> {
    stage: R,
    format: &'static str,
    taken: Rc<Cell<u64>>,
    made: u64,
    meter: &'a Meter<'a>,
}

/// The bytes of a file itself. A failure to read it is reported as that, and not as damage to its content.
pub(crate) struct Metered<'a, R> {
    pub(crate) input: R,
    pub(crate) path: &'a Path,
    pub(crate) meter: &'a Meter<'a>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => self.meter.keep(Error::io("read", self.path)(error)),
        })?;
        self.meter.read(read as u64).map(|()| read)
    }
}

/// A part of known length; that it ends earlier is an error.
pub(crate) struct Exactly<R> {
    pub(crate) input: R,
    pub(crate) left: u64,
}

impl<R: Read> Read for Exactly<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.input.read(&mut buffer[..most])?;
        if read == 0 && most > 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends early"));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

impl<'a, R> Guard<'a, R> {
    /// Watches `stage`, which decodes `format` and adds what it takes to `taken`.
    pub(crate) fn new(stage: R, format: &'static str, taken: Rc<Cell<u64>>, meter: &'a Meter<'a>) -> Self {
        Self { stage, format, taken, made: 0, meter }
    }
}

impl<R: Read> Read for Guard<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stage.read(buffer) {
            Ok(read) => {
                self.made += read as u64;
                let checked = self.meter.expand(read as u64, self.made, self.taken.get());
                checked.map(|()| read).map_err(|error| self.meter.keep(error))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => Err(self
                .meter
                .keep(Error::Document(DocumentError::Undecodable { format: self.format, source: error.into() }))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(limits: InputLimits, size: u64, made: u64) -> Result<u64> {
        let stop = StopToken::new();
        let meter = Meter::new(limits, Some(size), &stop, &|_| {});
        let (_, taken) = Taken::new(io::empty());
        taken.set(size);
        let mut guard = Guard::new(io::repeat(b'x').take(made), "gzip", taken, &meter);
        io::copy(&mut guard, &mut io::sink()).map_err(|error| meter.error("gzip", error))
    }

    #[test]
    fn small_things_may_grow_by_any_factor_and_large_ones_by_some() {
        let limits = InputLimits::default();
        assert_eq!(guarded(limits.clone(), 10, InputLimits::FREE_BYTES).unwrap(), InputLimits::FREE_BYTES);
        assert!(matches!(
            guarded(limits.clone(), 10, InputLimits::FREE_BYTES + 1),
            Err(Error::Document(DocumentError::Expansion { limit: 250 }))
        ));
        assert_eq!(guarded(limits.clone(), 1 << 20, 100 << 20).unwrap(), 100 << 20);
        let small = InputLimits { expanded_bytes: 5000, ..limits };
        assert!(matches!(guarded(small, 10, 10_000), Err(Error::Document(DocumentError::Expanded { limit: 5000 }))));
    }

    #[test]
    fn the_first_error_is_the_one_that_is_told() {
        let stop = StopToken::new();
        let meter = Meter::new(InputLimits::default(), None, &stop, &|_| {});
        let through = meter.keep(Error::Document(DocumentError::Expansion { limit: 3 }));
        meter.keep(Error::Stopped);
        assert!(matches!(meter.error("tar", through), Error::Document(DocumentError::Expansion { limit: 3 })));
        let other = io::Error::other("a checksum");
        assert!(matches!(meter.error("tar", other), Error::Document(DocumentError::Undecodable { format: "tar", .. })));
    }
}
