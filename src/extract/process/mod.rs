//! Process: reads documents in formats of foreign parsers (PDF, DOCX, ODT, EPUB, mail) in processes of their own, whose
//! memory and time the system limits. A document that exceeds the limits, or that makes its reader crash or hang, fails by
//! name; the process ends, and the next document gets a new one.

#[cfg(unix)]
mod serve;
#[cfg(all(test, unix))]
mod tests;
mod wire;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(unix)]
pub use serve::serve_documents;
#[cfg(any(test, fuzzing))]
pub(crate) use wire::check_answer;

use super::{Extracted, Limits};
use crate::document::Format;
use crate::error::Result;

/// A program that reads documents for this process: [`InputLimits::process`](crate::InputLimits::process).
///
/// It is started when the first document needs it, once for each thread that reads at a time, and is kept for the next
/// document. All of them end with the last clone of this handle. On systems other than Unix it is not used.
#[derive(Clone)]
pub struct ReaderProcess(Arc<Pool>);

struct Pool {
    program: PathBuf,
    arguments: Vec<OsString>,
    idle: Mutex<Vec<client::Connection>>,
}

impl ReaderProcess {
    /// `program` with these arguments has to call [`serve_documents`], as `fpdb read-documents` does.
    pub fn new(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self(Arc::new(Pool { program: program.into(), arguments, idle: Mutex::default() }))
    }

    /// The path of the program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.0.program
    }

    /// The text of a document in one of the formats that have a [detached](super::is_detached) text.
    pub(super) fn read(&self, format: Format, document: &[u8], limits: &Limits) -> Result<Extracted> {
        client::read(&self.0, format, document, limits)
    }
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, Vec<client::Connection>> {
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

#[cfg(unix)]
mod client {
    //! Client: this process's end.

    use std::io::{self, Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use super::wire::{Answer, Request};
    use super::{Extracted, Limits, Pool};
    use crate::document::Format;
    use crate::error::{Error, Result};

    /// A process reads so many documents, so that what it leaks does not add up.
    const DOCUMENTS: u32 = 1000;

    /// The signal of a process that has used up its processor time; the same on all systems.
    const SIGXCPU: i32 = 24;

    pub(super) fn read(pool: &Pool, format: Format, document: &[u8], limits: &Limits) -> Result<Extracted> {
        let idle = std::iter::from_fn(|| pool.idle().pop()).find_map(Connection::if_alive);
        let mut connection = match idle {
            Some(connection) => connection,
            None => Connection::start(pool).map_err(Error::io("start", &pool.program))?,
        };
        let request = Request::of(format, document.len() as u64, limits);
        match connection.ask(&request, document) {
            Ok(answer) => {
                if connection.documents < DOCUMENTS {
                    pool.idle().push(connection);
                }
                answer.into_result(format, limits.memory)
            }
            Err(error) => Err(connection.end(&error, &request)),
        }
    }

    /// A process that reads documents, and the way to it.
    pub(super) struct Connection {
        process: Child,
        stream: UnixStream,
        /// Documents it has been asked for.
        documents: u32,
    }

    impl Connection {
        fn start(pool: &Pool) -> io::Result<Self> {
            let (stream, theirs) = UnixStream::pair()?;
            let process = Command::new(&pool.program)
                .args(&pool.arguments)
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                // Ctrl-C on a terminal is for this process, which goes on with the document it is at.
                .process_group(0)
                // A parser that uses threads would take memory for each.
                .env("RAYON_NUM_THREADS", "1")
                .spawn()?;
            Ok(Self { process, stream, documents: 0 })
        }

        /// The same, unless something has ended it since its last document.
        fn if_alive(mut self) -> Option<Self> {
            matches!(self.process.try_wait(), Ok(None)).then_some(self)
        }

        fn ask(&mut self, request: &Request, document: &[u8]) -> io::Result<Answer> {
            self.documents += 1;
            // The process ends itself when its processor time is up. This is for one that waits for something.
            let patience = Duration::from_secs(request.seconds.saturating_mul(4).saturating_add(60));
            self.stream.set_read_timeout(Some(patience))?;
            self.stream.set_write_timeout(Some(patience))?;
            request.write(&mut self.stream)?;
            self.stream.write_all(document)?;
            Answer::read(&mut self.stream, request.memory)
        }

        /// Ends the process, which has not answered because of this error, and says why the document cannot be read.
        fn end(mut self, error: &io::Error, request: &Request) -> Error {
            let format = request.format.name();
            let too_slow = || Error::ReadingTime { format, seconds: request.seconds };
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
                return too_slow();
            }
            // Where it has ended by itself this changes nothing.
            let _ = self.process.kill();
            let status = self.process.wait();
            let mut words = Vec::new();
            if let Some(stderr) = self.process.stderr.take() {
                // They only help to say more.
                let _ = stderr.take(4096).read_to_end(&mut words);
            }
            if error.kind() == io::ErrorKind::InvalidData {
                return Error::ReaderFailed { detail: "its answer makes no sense".into() };
            }
            let words = String::from_utf8_lossy(&words);
            let detail = match status.map(|status| (status.signal(), status.code())) {
                Ok((Some(SIGXCPU), _)) => return too_slow(),
                _ if words.contains("memory allocation of") => {
                    return Error::ReadingMemory { format, limit: request.memory };
                }
                _ if words.contains("overflowed its stack") => "its parts lie too deep within each other".to_owned(),
                Ok((Some(signal), _)) => format!("its process was ended by signal {signal}"),
                Ok((_, Some(code))) => format!("its process ended with status {code}"),
                _ => format!("its process ended: {error}"),
            };
            Error::ReaderFailed { detail }
        }
    }

    impl Drop for Connection {
        fn drop(&mut self) {
            // It has no state that could be lost.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

#[cfg(not(unix))]
mod client {
    //! Client: nothing but this process reads documents here.

    use super::{Extracted, Limits, Pool};
    use crate::document::Format;
    use crate::error::Result;

    pub(super) struct Connection;

    pub(super) fn read(_: &Pool, format: Format, document: &[u8], limits: &Limits) -> Result<Extracted> {
        super::super::extract_here(format, document, limits)
    }
}
