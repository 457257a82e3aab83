//! Progress: what a long command is at, and how far it has come.

/// Told what is being done, how much of it is done, and of how much; 0 where that is not known. From several threads.
pub type Progress<'a> = &'a (dyn Fn(&'static str, u64, u64) + Sync);

/// Things after which progress is told.
pub(crate) const STEP: u64 = 1 << 16;

/// Whether it is time to tell of progress: now and then, for telling takes time too.
pub(crate) fn is_due(done: u64) -> bool {
    done.is_multiple_of(STEP)
}
