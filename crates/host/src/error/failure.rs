//! Failure: the reasons why the storage engine or the system could not do an operation. The next step depends
//! on the reason.

use std::io;

/// The cause of an error. It is opaque, so that no type of the storage engine becomes public.
pub type Cause = Box<dyn std::error::Error + Send + Sync + 'static>;

/// The reason why the store could not do an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFailure {
    /// The disk is full, or the user's quota is used up.
    NoSpace,
    /// A file would exceed the limit on file sizes.
    FileTooLarge,
    /// The file system is read-only.
    ReadOnly,
    /// The process lacks the permission.
    PermissionDenied,
    /// The process, or the system, has reached its limit of open files.
    TooManyOpenFiles,
    /// The system refused memory.
    OutOfMemory,
    /// Another process or thread uses the file or database.
    Busy,
    /// An earlier write failed. No more writes are possible until the database is opened again.
    Stopped,
    /// A file does not exist.
    Missing,
    /// The system could not read or write a file because of a disk error.
    Unreadable,
    /// Bytes are not as they were written.
    Damaged,
    /// Any other reason.
    Other,
}

/// The system error inside an error that adds context, such as the name of a file.
fn cause(error: &io::Error) -> Option<&io::Error> {
    error.get_ref()?.source()?.downcast_ref()
}

impl StoreFailure {
    /// True if the system or the engine refused the operation for now. The data on disk may then be intact.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        !matches!(self, Self::Missing | Self::Unreadable | Self::Damaged | Self::Other)
    }

    /// Classifies a system error.
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

    /// Classifies errors for which the standard library has no kind.
    fn of_number(number: Option<i32>) -> Self {
        use rustix::io::Errno;
        match number.map(Errno::from_raw_os_error) {
            Some(Errno::MFILE | Errno::NFILE) => Self::TooManyOpenFiles,
            Some(Errno::IO) => Self::Unreadable,
            _ => Self::Other,
        }
    }
}
