//! Openings: a counter for tests of how often files are read.

use std::path::PathBuf;

use rustix::fs::inotify;

/// Counts how often files are opened.
pub(crate) struct Openings {
    watch: std::os::fd::OwnedFd,
}

impl Openings {
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        // The system joins equal events that follow each other. So closings are watched too: they separate
        // openings.
        let flags = inotify::WatchFlags::OPEN | inotify::WatchFlags::CLOSE_NOWRITE;
        for path in paths {
            inotify::add_watch(&watch, path, flags).unwrap();
        }
        Self { watch }
    }

    /// Number of openings since the last call.
    pub(crate) fn count(&self) -> usize {
        let mut space = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.watch, &mut space);
        let each = std::iter::from_fn(|| events.next().ok().map(|event| event.events()));
        each.filter(|of| of.contains(inotify::ReadFlags::OPEN)).count()
    }
}
