//! Measure: the number of bytes to read, for the progress bar of an ingest.

use std::ops::ControlFlow;

use super::walk::walk;
use crate::input::{About, Candidate, Source, WalkEvent, WalkOptions};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;

/// Total bytes of the files in `sources`. Pipes and standard input do not count. `None` if `stop` is stopped.
///
/// # Errors
/// Like an ingest of these sources: an error for an invalid glob.
pub fn measure(sources: &[Source], options: &WalkOptions, stop: &StopToken) -> Result<Option<u64>> {
    let mut bytes = 0;
    walk(sources, options, &mut |found| {
        if let WalkEvent::Document(candidate) | WalkEvent::Archive(candidate) = found
            && let Candidate { about: About { file: Some(file), .. }, .. } = candidate
        {
            bytes += file.bytes;
        }
        if stop.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((!stop.is_stopped()).then_some(bytes))
}
