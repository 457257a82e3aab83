//! View: the state of one commit in memory. The next commit replaces the whole view. So a reader that holds a
//! view keeps seeing one state of the database.

use roaring::RoaringBitmap;

use super::codec::format::{
    self, BOILERPLATE, IDENTITY_KEY, MAIN, PROFILE_KEY, RUN_PREFIX, STATE_KEY, TOMBSTONES, split_u32,
};
use super::codec::records::{self, RunRecord, StateRecord};
use super::document_set::DocumentSet;
use super::engine::failure::missing;
use super::engine::{Changes, Engine};
use super::write::levels;
use fpdb_host::error::Result;
use fpdb_kernel::profile::Profile;

/// The state, runs, tombstones and boilerplate documents of one commit.
#[derive(Clone, Debug)]
pub struct View {
    pub(super) state: StateRecord,
    /// Ascending by number.
    pub(super) runs: Vec<(u32, RunRecord)>,
    pub(super) tombstones: DocumentSet,
    pub(super) boilerplate: DocumentSet,
    /// Deleted documents whose tombstones were dropped since the store was opened. Users of this handle may
    /// still know their ids.
    gone: RoaringBitmap,
}

impl View {
    pub(super) fn load(engine: &Engine) -> Result<Self> {
        Ok(Self {
            state: load_state(engine)?,
            runs: load_runs(engine)?,
            tombstones: DocumentSet::load(engine, TOMBSTONES)?,
            boilerplate: DocumentSet::load(engine, BOILERPLATE)?,
            gone: RoaringBitmap::new(),
        })
    }

    /// The totals of the database.
    pub fn state(&self) -> &StateRecord {
        &self.state
    }

    /// True if the id belongs to a committed document that is not deleted.
    pub fn is_live(&self, document: u32) -> bool {
        document < self.state.next_document && !self.tombstones.contains(document) && !self.gone.contains(document)
    }

    /// True if a committed document has been deleted and runs may still hold its postings.
    pub(crate) fn has_deleted(&self) -> bool {
        self.tombstones.len() > 0
    }

    /// True if the document is boilerplate: it is never a match, and its hashes are ignored.
    pub fn is_boilerplate(&self, document: u32) -> bool {
        self.boilerplate.contains(document)
    }

    /// The number of boilerplate documents.
    pub fn boilerplate_count(&self) -> u64 {
        self.boilerplate.len()
    }

    /// The number of runs. A lookup visits each of them.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// The number of postings of each run, largest first.
    pub fn run_postings(&self) -> Vec<u64> {
        let mut postings: Vec<u64> = self.runs.iter().map(|(_, run)| run.postings).collect();
        postings.sort_unstable_by_key(|&postings| std::cmp::Reverse(postings));
        postings
    }

    /// Expected number of blocks read for each hash of a query of 10 kB, by a process that has cached
    /// nothing.
    pub fn cold_blocks(&self) -> f64 {
        levels::cold_blocks(self.runs.iter().map(|(_, run)| run))
    }

    /// The runs that a compaction merges into one. `None` if a compaction would change nothing.
    pub(super) fn runs_to_compact(&self) -> Option<Vec<u32>> {
        let changes = self.runs.len() > 1
            || self.tombstone_count() > 0
            || self.runs.iter().any(|(_, record)| !record.has_filters());
        changes.then(|| self.runs.iter().map(|&(run, _)| run).collect())
    }

    /// Postings in all runs, including those of deleted documents.
    pub fn posting_count(&self) -> u64 {
        self.runs.iter().map(|(_, run)| run.postings).sum()
    }

    /// The number of deleted ids whose postings may still be in a run.
    pub fn tombstone_count(&self) -> u64 {
        self.tombstones.len()
    }

    /// Removes the tombstones of documents that no run can hold, because such tombstones hide no posting.
    pub(super) fn forget_tombstones(&mut self, changes: &mut Changes<'_>) -> Result<()> {
        let mut held = RoaringBitmap::new();
        for (_, run) in &self.runs {
            held.insert_range(run.first_document..=run.last_document);
        }
        self.gone |= self.tombstones.keep(&held, changes)?;
        Ok(())
    }
}

pub(super) fn load_profile(engine: &Engine) -> Result<Profile> {
    let value = engine.get(MAIN, PROFILE_KEY, "read its profile")?;
    format::decode_profile(&value.ok_or_else(|| missing("the profile record"))?)
}

/// The identity of the database. `None` if the store has no readable identity.
pub(super) fn load_identity(engine: &Engine) -> Result<Option<String>> {
    match engine.get(MAIN, IDENTITY_KEY, "read its identity")? {
        Some(identity) => Ok(Some(String::from_utf8_lossy(&identity).into_owned())),
        None => engine.identity(),
    }
}

fn load_state(engine: &Engine) -> Result<StateRecord> {
    let value = engine.get(MAIN, STATE_KEY, "read its state")?;
    records::decode(&value.ok_or_else(|| missing("the state record"))?, || "the state record".into())
}

fn load_runs(engine: &Engine) -> Result<Vec<(u32, RunRecord)>> {
    let mut runs = Vec::new();
    for entry in engine.entries_with(MAIN, (RUN_PREFIX, &[]), "read the list of runs")? {
        let (key, value) = entry?;
        let Some((RUN_PREFIX, run)) = split_u32(&key) else { break };
        runs.push((run, records::decode(&value, || format!("the record of run {run}"))?));
    }
    Ok(runs)
}
