//! View: the state of one commit in memory. The next commit replaces the view as a whole, so that a reader that holds
//! one keeps seeing one state of the database.

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

/// State, runs, tombstones and boilerplate of one commit.
#[derive(Clone, Debug)]
pub struct View {
    pub(super) state: StateRecord,
    /// In order of number.
    pub(super) runs: Vec<(u32, RunRecord)>,
    pub(super) tombstones: DocumentSet,
    pub(super) boilerplate: DocumentSet,
    /// Deleted documents whose tombstones went since the store was opened: who works through this handle may still know their ids.
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

    /// The content of the database, in numbers.
    pub fn state(&self) -> &StateRecord {
        &self.state
    }

    /// True where the id belongs to a committed document that is not deleted.
    pub fn is_live(&self, document: u32) -> bool {
        document < self.state.next_document && !self.tombstones.contains(document) && !self.gone.contains(document)
    }

    /// True where some document that was committed has been deleted since, so that runs may hold its postings.
    pub(crate) fn has_deleted(&self) -> bool {
        self.tombstones.len() > 0
    }

    /// True where the document is never a match and its hashes are to be ignored.
    pub fn is_boilerplate(&self, document: u32) -> bool {
        self.boilerplate.contains(document)
    }

    /// The number of runs, each of which a lookup has to visit.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// The postings of each run, most first.
    pub fn run_postings(&self) -> Vec<u64> {
        let mut postings: Vec<u64> = self.runs.iter().map(|(_, run)| run.postings).collect();
        postings.sort_unstable_by_key(|&postings| std::cmp::Reverse(postings));
        postings
    }

    /// The blocks that a process which has read nothing yet reads for each hash of a query of 10 kB.
    pub fn cold_blocks(&self) -> f64 {
        levels::cold_blocks(self.runs.iter().map(|(_, run)| run))
    }

    /// The runs that a compaction makes one; `None` where that would change nothing.
    pub(super) fn runs_to_compact(&self) -> Option<Vec<u32>> {
        let changes = self.runs.len() > 1 || self.tombstone_count() > 0;
        changes.then(|| self.runs.iter().map(|&(run, _)| run).collect())
    }

    /// Postings held, those of deleted documents included.
    pub fn posting_count(&self) -> u64 {
        self.runs.iter().map(|(_, run)| run.postings).sum()
    }

    /// Ids that were deleted and whose postings may still be there.
    pub fn tombstone_count(&self) -> u64 {
        self.tombstones.len()
    }

    /// Removes the tombstones of documents that lie in none of the runs: they have nothing to hide.
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

/// The identity of the database; `None` where it cannot be told.
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
    for entry in engine.entries(MAIN, RUN_PREFIX, "read the list of runs")? {
        let (key, value) = entry?;
        let Some((RUN_PREFIX, run)) = split_u32(&key) else { break };
        runs.push((run, records::decode(&value, || format!("the record of run {run}"))?));
    }
    Ok(runs)
}
