//! Past: the earlier commits that readers still use, and the runs that only these readers need.
//!
//! The engine keeps a deleted row for as long as a snapshot shows it. But the tables of a folded run are
//! removed whole, and this removal ignores snapshots. So these tables stay until no view lists the run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::view::View;

/// The views before the last one, and the runs they may need.
#[derive(Debug, Default)]
pub(super) struct Past(Mutex<Needs>);

#[derive(Debug, Default)]
struct Needs {
    /// Views that readers held when the next commit replaced them.
    views: Vec<Weak<View>>,
    /// Runs that were folded into others and whose rows still exist.
    folded: Vec<u32>,
}

impl Past {
    /// Adds the view that the last commit has replaced. No new reader can get it after this.
    pub(super) fn add(&self, view: &Arc<View>) {
        let mut needs = self.needs();
        needs.views.retain(|view| view.strong_count() > 0);
        needs.views.push(Arc::downgrade(view));
    }

    /// Adds runs that the last view does not list any more.
    pub(super) fn add_folded(&self, runs: &[u32]) {
        self.needs().folded.extend(runs);
    }

    /// True if a reader may still use the run.
    pub(super) fn needs_run(&self, run: u32) -> bool {
        needs_run(&self.needs().views, run)
    }

    /// Returns the folded runs that no reader needs any more, and forgets them. The caller removes their
    /// rows.
    pub(super) fn take_unneeded(&self) -> Vec<u32> {
        let mut needs = self.needs();
        let Needs { views, folded } = &mut *needs;
        folded.extract_if(.., |run| !needs_run(views, *run)).collect()
    }

    fn needs(&self) -> MutexGuard<'_, Needs> {
        // Each change is one call, so a panic cannot leave half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn needs_run(views: &[Weak<View>], run: u32) -> bool {
    views.iter().filter_map(Weak::upgrade).any(|view| view.runs.iter().any(|&(listed, _)| listed == run))
}
