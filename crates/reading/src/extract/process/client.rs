//! Client: sends documents to a reader process and receives their texts.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use super::handle::{Connection, ReaderProcess};
use super::wire::{ProcessAnswer, Reading, Request};
use crate::extract::attachments::Attachments;
use crate::extract::{Extracted, InputLimits};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

/// Number of documents per process, so that memory leaks do not add up.
const DOCUMENTS: u32 = 1000;

/// The signal for a process that has used up its processor time. It is the same on all systems.
const SIGXCPU: i32 = 24;

/// Extracts the text of a document in a [detached](crate::extract::is_detached) format.
pub(crate) fn read(
    process: &ReaderProcess,
    format: Format,
    document: &[u8],
    limits: &InputLimits,
) -> Result<Extracted> {
    let reading = ask(process, &Request::of(format, document.len() as u64, limits), document)?;
    let Reading { bytes, pages, unread, undecodable } = reading;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Extracted { pages, unread, undecodable, ..Extracted::detached(text) }),
        Err(_) => Err(Error::Document(DocumentError::ReaderFailed { detail: "its text is not UTF-8".into() })),
    }
}

/// The attachments of a mail.
pub(crate) fn attachments(process: &ReaderProcess, mail: &[u8], limits: &InputLimits) -> Result<Attachments> {
    let request = Request { attachments: true, ..Request::of(Format::Mail, mail.len() as u64, limits) };
    Attachments::of_bytes(ask(process, &request, mail)?.bytes)
}

fn ask(process: &ReaderProcess, request: &Request, document: &[u8]) -> Result<Reading> {
    let pool = &process.0;
    let idle = std::iter::from_fn(|| pool.idle().pop()).find_map(Connection::if_alive);
    let mut connection = match idle {
        Some(connection) => connection,
        None => Connection::start(pool).map_err(Error::io("start", &pool.program))?,
    };
    match connection.ask(request, document) {
        Ok(answer) => {
            if connection.documents < DOCUMENTS {
                pool.idle().push(connection);
            }
            answer.into_result(request.format, request.memory)
        }
        Err(error) => Err(connection.end(&error, request)),
    }
}

impl Connection {
    fn ask(&mut self, request: &Request, document: &[u8]) -> io::Result<ProcessAnswer> {
        self.documents += 1;
        drop(self.take_words());
        // The system ends a process that uses up its processor time. This timeout ends a process that waits.
        let timeout = Duration::from_secs(request.seconds.saturating_mul(4).saturating_add(60));
        self.stream.set_read_timeout(Some(timeout))?;
        self.stream.set_write_timeout(Some(timeout))?;
        request.write(&mut self.stream)?;
        self.stream.write_all(document)?;
        ProcessAnswer::read(&mut self.stream, request.memory)
    }

    /// Ends the process, which did not answer because of `error`. Returns the reason why the document cannot
    /// be read.
    fn end(mut self, error: &io::Error, request: &Request) -> Error {
        let format = request.format.name();
        let too_slow = || Error::Document(DocumentError::ReadingTime { format, seconds: request.seconds });
        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            return too_slow();
        }
        // This does nothing if the process has already ended.
        let _ = self.process.kill();
        let status = self.process.wait();
        let words = self.take_words();
        if error.kind() == io::ErrorKind::InvalidData {
            return Error::Document(DocumentError::ReaderFailed { detail: "its answer makes no sense".into() });
        }
        let detail = match status.map(|status| (status.signal(), status.code())) {
            Ok((Some(SIGXCPU), _)) => return too_slow(),
            _ if words.contains("memory allocation of") => {
                return Error::Document(DocumentError::ReadingMemory { format, limit: request.memory });
            }
            _ if words.contains("overflowed its stack") => "its parts lie too deep within each other".to_owned(),
            Ok((Some(signal), _)) => format!("its process was ended by signal {signal}"),
            Ok((_, Some(code))) => format!("its process ended with status {code}"),
            _ => format!("its process ended: {error}"),
        };
        Error::Document(DocumentError::ReaderFailed { detail })
    }
}
