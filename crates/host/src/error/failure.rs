//! Failure: what kept the storage engine or the system from doing something, as far as it matters for what to do next.

use std::io;

/// The cause of a store error, kept opaque so that the storage engine stays behind its wall.
pub type Cause = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Why the store could not do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFailure {
    /// The disk, or what the user may take of it, is full.
    NoSpace,
    /// A file would exceed the limit on the size of files.
    FileTooLarge,
    /// The file system can only be read.
    ReadOnly,
    /// The process lacks the permission.
    PermissionDenied,
    /// The process has as many open files as it may have.
    TooManyOpenFiles,
    /// The system refused memory.
    OutOfMemory,
    /// Another process or thread uses it.
    Busy,
    /// An earlier write failed, and nothing is written any more until the database is opened again.
    Stopped,
    /// A file is not there.
    Missing,
    /// The system could not read or write a file: an error of the disk.
    Unreadable,
    /// Bytes are not those that were written.
    Damaged,
    /// Something else.
    Other,
}

/// The error of the system that another wraps, to name a file say.
fn cause(error: &io::Error) -> Option<&io::Error> {
    error.get_ref()?.source()?.downcast_ref()
}

impl StoreFailure {
    /// True where the system or the engine refused for now: what lies on the disk may be whole.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        !matches!(self, Self::Missing | Self::Unreadable | Self::Damaged | Self::Other)
    }

    /// The meaning of an error of the system.
    #[doc(hidden)]
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace,
            io::ErrorKind::FileTooLarge => Self::FileTooLarge,
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            io::ErrorKind::OutOfMemory => Self::OutOfMemory,
            io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy => Self::Busy,
            io::ErrorKind::NotFound => Self::Missing,
            _ => match cause(error) {
                Some(cause) => Self::of_io(cause),
                None => Self::of_number(error.raw_os_error()),
            },
        }
    }

    /// For errors for which the standard library has no kind.
    #[cfg(unix)]
    fn of_number(number: Option<i32>) -> Self {
        use rustix::io::Errno;
        match number.map(Errno::from_raw_os_error) {
            Some(Errno::MFILE | Errno::NFILE) => Self::TooManyOpenFiles,
            Some(Errno::IO) => Self::Unreadable,
            _ => Self::Other,
        }
    }

    #[cfg(not(unix))]
    fn of_number(_: Option<i32>) -> Self {
        Self::Other
    }
}
