//! Single document: the one document at a path or on standard input, for a query. A container is an error.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::sync_channel;

use super::reader::STANDARD_INPUT;
use crate::input::expand::{Opened, ReadContext, expand_stream, open};
use crate::input::read::stored::named_part;
use crate::input::{Candidate, ReadOptions, WalkEvent, candidate_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_host::threads;

/// The document in the file or pipe at a path, compressed or not. `-` is standard input.
///
/// # Errors
/// [`DocumentError::IsAContainer`], also for a mail whose attachments are documents; [`Error::Io`] if the
/// file cannot be read; [`Error::Stopped`].
pub fn single_document(path: &Path, options: &ReadOptions, stop: &StopToken) -> Result<Candidate> {
    if path == Path::new("-") {
        return standard_input("-", options, stop);
    }
    let candidate = match candidate_of(path) {
        Ok(candidate) => candidate,
        Err(error) if is_no_file(&error) => return named_part(path, options, stop).unwrap_or(Err(error)),
        Err(error) => return Err(error),
    };
    let Some(file) = candidate.about.file.clone() else { return single_stream(candidate, path, options, stop) };
    let mut about = candidate.about;
    let reading = ReadContext { options, members: None, stop, progress: &|_| {} };
    match open(&mut about, &file, reading)? {
        Opened::Document(content) => Ok(Candidate { about, content }),
        Opened::Container(_) => Err(Error::Document(DocumentError::IsAContainer { path: path.to_owned() })),
    }
}

/// The document on standard input, with the name and the format that `name` gives it.
///
/// # Errors
/// Fails as [`single_document`] does.
pub fn standard_input(name: &str, options: &ReadOptions, stop: &StopToken) -> Result<Candidate> {
    single_stream(Candidate::standard_input(name), Path::new(STANDARD_INPUT), options, stop)
}

/// True if the error says that no file has the path. The name of a web record can be too long for a file.
fn is_no_file(error: &Error) -> bool {
    let kinds = [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidFilename];
    matches!(error, Error::Io { source, .. } if kinds.contains(&source.kind()))
}

/// The document on standard input or in a pipe, without attachments; `path` names it. A separate thread reads
/// it. The thread ends with the document, or when the receiver of the bytes is gone. No thread waits for it,
/// because it may be waiting for input.
fn single_stream(candidate: Candidate, path: &Path, options: &ReadOptions, stop: &StopToken) -> Result<Candidate> {
    let (options, stopped) = (options.clone().attachments(false), stop.clone());
    let (sender, steps) = sync_channel(0);
    let visit = move || {
        let reading = ReadContext { options: &options, members: None, stop: &stopped, progress: &|_| {} };
        expand_stream(&candidate, reading, &mut |found| match sender.send(found) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
    };
    threads::start("stream", visit).map_err(Error::io("read", path))?;
    let step = steps.recv();
    // If stopped, the thread ends early, and its bytes are incomplete.
    stop.check()?;
    match step {
        Ok(WalkEvent::Document(candidate)) if candidate.about.member.is_none() => Ok(candidate),
        // For a container, this is the error at its start or of its first member.
        Ok(WalkEvent::Failed { error, .. }) => Err(error),
        // An empty container reports nothing.
        _ => Err(Error::Document(DocumentError::IsAContainer { path: path.to_owned() })),
    }
}
