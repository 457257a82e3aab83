//! Single: the one document at a path or on standard input, for a query; a container is not one document.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::sync_channel;

use super::expand::{Opened, ReadContext, expand_stream, open};
use super::reader::STANDARD_INPUT;
use super::{Candidate, ReadOptions, WalkEvent, candidate_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_host::threads;

/// The one document that the file or pipe at a path is, or standard input where the path is `-`; compressed or not.
///
/// # Errors
/// [`DocumentError::IsAContainer`](fpdb_host::error::DocumentError::IsAContainer), and a failure to read the file; [`Error::Stopped`].
pub fn single_document(path: &Path, options: &ReadOptions, stop: &StopToken) -> Result<Candidate> {
    if path == Path::new("-") {
        return single_stream(Candidate::standard_input("-"), Path::new(STANDARD_INPUT), options, stop);
    }
    let candidate = candidate_of(path)?;
    let Some(file) = candidate.about.file.clone() else { return single_stream(candidate, path, options, stop) };
    let mut about = candidate.about;
    let reading = ReadContext { options, members: None, stop, progress: &|_| {} };
    match open(&mut about, &file, reading)? {
        Opened::Document(content) => Ok(Candidate { about, content }),
        Opened::Container(_) => Err(Error::Document(DocumentError::IsAContainer { path: path.to_owned() })),
    }
}

/// The one document that standard input or a pipe holds, `path` saying which. A thread reads it, and ends with it, or once
/// the receiver of the document's bytes is gone; as it may then be waiting for more, no thread waits for it.
fn single_stream(candidate: Candidate, path: &Path, options: &ReadOptions, stop: &StopToken) -> Result<Candidate> {
    let (options, stopped) = (options.clone(), stop.clone());
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
    // The reader ends early then, and takes what it has for all.
    stop.check()?;
    match step {
        Ok(WalkEvent::Document(candidate)) if candidate.about.member.is_none() => Ok(candidate),
        // For a container this is the error of its beginning, or of its first member.
        Ok(WalkEvent::Failed { error, .. }) => Err(error),
        // An empty container has reported nothing.
        _ => Err(Error::Document(DocumentError::IsAContainer { path: path.to_owned() })),
    }
}
