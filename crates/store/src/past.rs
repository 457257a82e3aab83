//! Past: the commits that readers still look at, and the runs that only they need.
//!
//! The engine keeps deleted rows for as long as a snapshot shows them; but the tables of a run that was folded are removed
//! whole, which heeds no snapshot. So they stay until no view lists the run any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::view::View;

/// The views before the last one, and the runs they may need.
#[derive(Debug, Default)]
pub(super) struct Past(Mutex<Needs>);

#[derive(Debug, Default)]
struct Needs {
    /// Views that readers held when another commit took their place.
    views: Vec<Weak<View>>,
    /// Runs that have been folded into others, and whose rows are still there.
    folded: Vec<u32>,
}

impl Past {
    /// Takes up the view that the last commit has replaced: nobody can get hold of it any more who has not done so.
    pub(super) fn add(&self, view: &Arc<View>) {
        let mut needs = self.needs();
        needs.views.retain(|view| view.strong_count() > 0);
        needs.views.push(Arc::downgrade(view));
    }

    /// Takes up runs that the last view does not list any more.
    pub(super) fn add_folded(&self, runs: &[u32]) {
        self.needs().folded.extend(runs);
    }

    /// True where a reader may still look at the run.
    pub(super) fn needs_run(&self, run: u32) -> bool {
        needs_run(&self.needs().views, run)
    }

    /// The folded runs that no reader needs any more; they are to be removed.
    pub(super) fn take_unneeded(&self) -> Vec<u32> {
        let mut needs = self.needs();
        let Needs { views, folded } = &mut *needs;
        folded.extract_if(.., |run| !needs_run(views, *run)).collect()
    }

    fn needs(&self) -> MutexGuard<'_, Needs> {
        // Each change is one call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn needs_run(views: &[Weak<View>], run: u32) -> bool {
    views.iter().filter_map(Weak::upgrade).any(|view| view.runs.iter().any(|&(listed, _)| listed == run))
}
