//! Serve: the process that reads documents for another one. It limits its own memory and processor time, and
//! only turns bytes into text, and mails into attachments.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::wire::{ProcessAnswer, Reading, Request};
use crate::extract::{Extracted, attachments_here, extract_here};
use fpdb_host::error::{Error, Result};

/// Memory of the process before it reads anything, with some reserve.
const OWN_MEMORY: u64 = 64 << 20;

/// Reads documents for the process at the other end of standard input, until that end is closed.
///
/// # Errors
/// [`Error::System`] if standard input is not such a connection, or if the connection breaks.
pub fn serve_documents() -> Result<()> {
    serve().map_err(Error::system("talk to the process that asks for documents"))
}

fn serve() -> io::Result<()> {
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Panics of the reading libraries are caught. This process does nothing else, and nobody reads the panic
    // messages.
    std::panic::set_hook(Box::new(|_| {}));
    // Nobody debugs a crash on a damaged document, and a core file would cost time and disk space.
    set(Resource::Core, 0)?;
    while let Some(request) = Request::read(&mut stream)? {
        limit(&request)?;
        read(&mut stream, &request)?.write(&mut stream)?;
    }
    Ok(())
}

/// Reads the document that follows a request.
fn read(stream: &mut UnixStream, request: &Request) -> io::Result<ProcessAnswer> {
    let mut document = Vec::new();
    let fits = usize::try_from(request.length).is_ok_and(|length| document.try_reserve_exact(length).is_ok());
    if !fits {
        io::copy(&mut stream.take(request.length), &mut io::sink())?;
        return Ok(ProcessAnswer::Memory);
    }
    if stream.take(request.length).read_to_end(&mut document)? as u64 != request.length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let limits = request.limits();
    let read = match request.attachments {
        false => extract_here(request.format, &document, &limits).map(
            |Extracted { text: bytes, pages, unread, undecodable, .. }| Reading { bytes, pages, unread, undecodable },
        ),
        true => attachments_here(&document, &limits)
            .map(|attachments| Reading { bytes: attachments.into_bytes(), ..Reading::default() }),
    };
    Ok(ProcessAnswer::of(read))
}

/// Applies the limits of a request to this process. If a document exceeds them, the system ends this process,
/// and the process that sent the document notices.
fn limit(request: &Request) -> io::Result<()> {
    set(Resource::Data, request.memory.saturating_add(OWN_MEMORY))?;
    // On systems other than Linux, the limit above counts only the heap. This one counts all memory.
    if !cfg!(target_os = "linux") {
        set(Resource::As, request.memory.saturating_mul(2).saturating_add(16 * OWN_MEMORY))?;
    }
    // If the system does not report the time used, the timeout of the other process ends this one.
    match processor_seconds() {
        Some(used) => set(Resource::Cpu, used.saturating_add(request.seconds).saturating_add(1)),
        None => Ok(()),
    }
}

/// Processor time used by this process so far, in seconds.
fn processor_seconds() -> Option<u64> {
    // Linux reports the time in hundredths of a second on every machine.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name, which may contain any characters.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let mut time = || times.next()?.parse::<u64>().ok();
    Some((time()? + time()?) / TICKS)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_the_processor_time() {
        // Earlier tests in this process may have used some seconds, but never an hour.
        assert!(processor_seconds().is_some_and(|seconds| seconds < 36_000));
    }
}

/// Sets a limit, but not above the maximum that the system allows this process.
fn set(resource: Resource, limit: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(limit, |maximum| maximum.min(limit)));
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}
