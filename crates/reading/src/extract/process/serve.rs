//! Serve: the process that reads documents for another one. It limits its own memory and processor time, and does nothing
//! but turn bytes into text.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::wire::{ProcessAnswer, Request};
use crate::extract::extract_here;
use fpdb_host::error::{Error, Result};

/// Memory that the process has before it reads anything, with room to spare.
const OWN_MEMORY: u64 = 64 << 20;

/// Reads documents for the process at the other end of standard input, until that closes it.
///
/// # Errors
/// [`Error::System`] where standard input is no such connection, or breaks.
pub fn serve_documents() -> Result<()> {
    serve().map_err(Error::system("talk to the process that asks for documents"))
}

fn serve() -> io::Result<()> {
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Panics of the libraries that read documents are caught, and this process does nothing else. Nobody reads their words.
    std::panic::set_hook(Box::new(|_| {}));
    // Nobody debugs a crash on a damaged document; a core file would cost time and disk.
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
    Ok(ProcessAnswer::of(extract_here(request.format, &document, &request.limits())))
}

/// Applies the limits of a request to this process. A document that exceeds them ends the process, which the system reports to
/// the other one.
fn limit(request: &Request) -> io::Result<()> {
    set(Resource::Data, request.memory.saturating_add(OWN_MEMORY))?;
    // Elsewhere than on Linux the limit above counts the heap only, and this one all there is.
    if !cfg!(target_os = "linux") {
        set(Resource::As, request.memory.saturating_mul(2).saturating_add(16 * OWN_MEMORY))?;
    }
    // Where the system does not tell what has been used, the process is ended by the timeout of the other one.
    match processor_seconds() {
        Some(used) => set(Resource::Cpu, used.saturating_add(request.seconds).saturating_add(1)),
        None => Ok(()),
    }
}

/// The processor time that this process has used so far, in seconds.
fn processor_seconds() -> Option<u64> {
    // Linux counts it for its files in hundredths of a second, on every machine.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name, which may hold anything.
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
        // The tests that this process has run before have used some seconds, or not; never an hour.
        assert!(processor_seconds().is_some_and(|seconds| seconds < 36_000));
    }
}

/// Sets a limit, but no higher than the system lets this process go.
fn set(resource: Resource, limit: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(limit, |maximum| maximum.min(limit)));
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}
