//! Between runs: the files that a run leaves on disk, for its own continuation and for later runs.

pub(super) mod frames;
pub(super) mod job;
pub(super) mod past;
pub(super) mod record;
pub(super) mod superseded;
