//! Measure: how much there is to read, for a bar that shows how far an ingest has come.

use std::ops::ControlFlow;

use super::walk::walk;
use super::{About, Candidate, Source, WalkEvent, WalkOptions};
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;

/// The bytes of the documents of `sources`, as far as files tell; `None` once `stop` is stopped.
///
/// # Errors
/// As an ingest of these sources: a glob that does not parse.
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
