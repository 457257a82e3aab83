//! Handle: the program that reads documents, and its idle processes.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{
    io::{self, Read},
    os::fd::OwnedFd,
    os::unix::net::UnixStream,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

/// A program that reads documents for this process:
/// [`InputLimits::process`](crate::input::InputLimits::process).
///
/// A thread that reads a document takes an idle process, or starts one. All processes end with the last clone
/// of this handle.
#[derive(Clone)]
pub struct ReaderProcess(pub(super) Arc<ProcessPool>);

pub(super) struct ProcessPool {
    pub(super) program: PathBuf,
    arguments: Vec<OsString>,
    idle: Mutex<Vec<Connection>>,
}

impl ReaderProcess {
    /// A handle for `program` with these arguments. The program must call
    /// [`serve_documents`](super::serve_documents), as `fpdb read-documents` does.
    pub fn new(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self(Arc::new(ProcessPool { program: program.into(), arguments, idle: Mutex::default() }))
    }

    /// The path of the program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.0.program
    }
}

impl ProcessPool {
    pub(super) fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ReaderProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReaderProcess").field("program", &self.0.program).finish_non_exhaustive()
    }
}

/// Two handles are equal if they share their processes.
impl PartialEq for ReaderProcess {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ReaderProcess {}

/// A process that reads documents, and the connection to it.
pub(super) struct Connection {
    pub(super) process: Child,
    pub(super) stream: UnixStream,
    /// The standard error of the process. Neither end blocks, so messages that do not fit are lost.
    words: UnixStream,
    /// Number of documents sent to it.
    pub(super) documents: u32,
}

impl Connection {
    pub(super) fn start(pool: &ProcessPool) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        let (words, its_words) = UnixStream::pair()?;
        words.set_nonblocking(true)?;
        its_words.set_nonblocking(true)?;
        let process = Command::new(&pool.program)
            .args(&pool.arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::from(OwnedFd::from(its_words)))
            // Ctrl-C in a terminal must reach only this process, which still finishes its current document.
            .process_group(0)
            // A parser with several threads would use memory for each.
            .env("RAYON_NUM_THREADS", "1")
            .spawn()?;
        Ok(Self { process, stream, words, documents: 0 })
    }

    /// Returns the connection, unless the process ended after its last document.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        matches!(self.process.try_wait(), Ok(None)).then_some(self)
    }

    /// The first bytes written to standard error since the last call. Call this for every document, so that
    /// there is room for later messages.
    pub(super) fn take_words(&mut self) -> String {
        const KEPT: usize = 4096;
        let (mut kept, mut piece) = (Vec::new(), [0; 1 << 14]);
        loop {
            match self.words.read(&mut piece) {
                Ok(length) if length > 0 => {
                    let room = length.min(KEPT - kept.len());
                    kept.extend_from_slice(&piece[..room]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The messages only add detail, so errors are ignored.
                _ => return String::from_utf8_lossy(&kept).into_owned(),
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The process has no state to lose.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
