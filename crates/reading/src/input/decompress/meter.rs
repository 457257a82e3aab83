//! Meter: limits the number of bytes to which a file may decompress. A meter counts the decompressed bytes of
//! one file on disk. A guard watches each stage that may produce more bytes than it consumes.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use super::gzip::is_of_member;
use crate::extract::InputLimits;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;

/// Counts the bytes to which one file on disk has decompressed.
pub(crate) struct Meter<'a> {
    pub(crate) limits: InputLimits,
    /// Size of the file, if it is known in advance.
    size: Option<u64>,
    read: Cell<u64>,
    told: Cell<u64>,
    is_reporting: Cell<bool>,
    progress: &'a dyn Fn(u64),
    stop: &'a StopToken,
    expanded: Cell<u64>,
    members: Cell<u64>,
    exhausted: Cell<bool>,
    /// The first error. It is kept here, because an error may lose its type on its way through a decoder.
    failure: RefCell<Option<Error>>,
}

impl<'a> Meter<'a> {
    /// A meter for a file of this size. After [`start_reporting`](Self::start_reporting), it reports the
    /// bytes read to `progress`.
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

    /// Starts to report progress.
    pub(crate) fn start_reporting(&self) {
        self.is_reporting.set(true);
    }

    /// Counts `bytes` more bytes read from the file.
    ///
    /// # Errors
    /// An error that stands for [`Error::Stopped`], if the run is stopped.
    pub(crate) fn read(&self, bytes: u64) -> io::Result<()> {
        self.read.set(self.read.get() + bytes);
        if self.is_reporting.get() {
            // Parts of a file may be read twice.
            let done = self.read.get().min(self.size.unwrap_or(u64::MAX));
            (self.progress)(done - self.told.replace(done));
        }
        if self.stop.is_stopped() { Err(self.keep(Error::Stopped)) } else { Ok(()) }
    }

    /// Reports the rest of the file as done, even if it was not read.
    pub(crate) fn end(&self) {
        if let Some(size) = self.size {
            (self.progress)(size - self.told.replace(size));
        }
    }

    /// True if a limit of the whole file is exceeded. Nothing more of the file may be read then.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// Counts one more member.
    ///
    /// # Errors
    /// [`DocumentError::TooManyMembers`] above the limit.
    pub(crate) fn member(&self) -> Result<()> {
        self.members.set(self.members.get() + 1);
        if self.members.get() <= self.limits.members {
            return Ok(());
        }
        self.exhausted.set(true);
        Err(Error::Document(DocumentError::TooManyMembers { limit: self.limits.members }))
    }

    /// Counts `bytes` more bytes produced by a stage. In total, the stage has produced `made` bytes from
    /// `taken` bytes.
    ///
    /// # Errors
    /// [`DocumentError::Expansion`] if the stage or the whole file expands too much,
    /// [`DocumentError::Expanded`] if the file exceeds its limit.
    pub(crate) fn expand(&self, bytes: u64, made: u64, taken: u64) -> Result<()> {
        let limit = self.limits.expansion;
        let grown = |made: u64, taken: u64| made > InputLimits::FREE_BYTES && made / limit.max(1) > taken;
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

    /// Keeps an error for [`Meter::error`], unless one is kept already. Returns a placeholder that
    /// carries the failure through `Read` to the caller.
    pub(crate) fn keep(&self, error: Error) -> io::Error {
        self.failure.borrow_mut().get_or_insert(error);
        io::Error::other("the reading was ended")
    }

    /// The kept error, or `other` if none is kept.
    pub(crate) fn failure_or(&self, other: impl FnOnce() -> Error) -> Error {
        self.failure.borrow_mut().take().unwrap_or_else(other)
    }

    /// The actual error behind `error`, which a reader of this format returned.
    pub(crate) fn error(&self, format: &'static str, error: io::Error) -> Error {
        self.failure_or(|| undecodable(format, error))
    }
}

/// The error behind `error`, which a reader of this format returned. An error of the system means that the
/// file could not be read, so it is no fault of the data.
pub(crate) fn undecodable(format: &'static str, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(_) => Error::System { action: "read its file", source: error },
        None => Error::Document(DocumentError::Undecodable { format, source: error.into() }),
    }
}

/// True for damage to a [member](is_of_member) of compressed data, after which reading goes on.
pub(crate) fn is_member_error(error: &Error) -> bool {
    let Error::Document(DocumentError::Undecodable { source, .. }) = error else { return false };
    source.downcast_ref().is_some_and(is_of_member)
}

/// Counts the bytes that a stage consumes.
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

/// A stage that may produce more bytes than it consumes.
pub(crate) struct Guard<'a, R> {
    stage: R,
    format: &'static str,
    taken: Rc<Cell<u64>>,
    made: u64,
    meter: &'a Meter<'a>,
}

/// The bytes of a file itself. A failure to read the file is reported as such, not as damaged content.
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

/// A part of known length. Reading fails if the part ends earlier.
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
    /// Watches `stage`, which decodes `format` and counts its consumed bytes in `taken`.
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
            Err(error) => Err(self.meter.keep(undecodable(self.format, error))),
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
        let system = io::Error::from_raw_os_error(5);
        assert!(matches!(meter.error("tar", system), Error::System { .. }));
    }
}
