//! Measuring: the figures of a database.

use super::Database;
use super::facts::{CacheUse, DatabaseStats, StoredPart};
use super::hash_counts::HashCounts;
use fpdb_host::error::Result;
use fpdb_host::progress::{Task, is_due};
use fpdb_host::schema::Schema;
use fpdb_store::FORMAT_VERSION;

impl Database {
    /// The number of stored documents. Reads no file, and waits at most for the write of one commit.
    #[must_use]
    pub fn document_count(&self) -> u64 {
        self.store.view().state().documents
    }

    /// The size and the figures of the database, from its records. Fast for any size.
    ///
    /// # Errors
    /// Fails if the store cannot be measured.
    pub fn stats(&self) -> Result<DatabaseStats> {
        self.store.unless_gone(self.measure().and_then(|stats| {
            let (sources, kept_out) = (self.remembered_sources()?, self.kept_out()?);
            Ok(DatabaseStats { sources, kept_out, ..stats })
        }))
    }

    /// Like [`Self::stats`], without the lists that can be long: `sources` and `kept_out` are empty.
    ///
    /// # Errors
    /// Fails if the store cannot be measured.
    pub fn stats_without_lists(&self) -> Result<DatabaseStats> {
        self.store.unless_gone(self.measure())
    }

    fn measure(&self) -> Result<DatabaseStats> {
        let view = self.store.view();
        let state = view.state();
        let (bytes, capacity) = self.store.cached_bytes();
        let part = |(part, bytes): (&'static str, u64)| StoredPart { part: part.into(), bytes };
        Ok(DatabaseStats {
            schema: Schema::new(),
            path: self.store.root().to_owned(),
            database_id: self.store.identity()?,
            format: FORMAT_VERSION,
            profile: *self.store.profile(),
            documents: state.documents,
            boilerplate: view.boilerplate_count(),
            bytes: state.bytes,
            symbols: state.symbols,
            fingerprints: state.fingerprints,
            distinct: None,
            singletons: None,
            df: None,
            postings: view.posting_count(),
            deleted: view.tombstone_count(),
            runs: view.run_count() as u64,
            run_postings: view.run_postings(),
            cold_blocks: (view.cold_blocks() * 100.0).round() / 100.0,
            levels: self.store.levels()?,
            cache: CacheUse { bytes, capacity },
            stored: self.store.bytes_by_part()?.into_iter().map(part).collect(),
            committed_at: (state.committed_at != 0).then_some(state.committed_at),
            sources: Vec::new(),
            kept_out: Vec::new(),
            damaged_stores: self.store.damaged_stores()?,
        })
    }

    /// Like [`Self::stats`], with the number of distinct hashes, in total and by df. Reads every posting.
    ///
    /// # Errors
    /// Fails if the postings cannot be read; [`Error::Stopped`](crate::Error::Stopped).
    pub fn stats_with_hashes(&self, task: &Task<'_>) -> Result<DatabaseStats> {
        let _unchanged = self.store.keep_unchanged(task.token())?;
        let mut counts = HashCounts::default();
        let mut hashes = 0;
        self.store.for_each_hash(|_, postings, holders| {
            counts.add(postings, holders.len());
            hashes += 1;
            if is_due(hashes) { task.step("fingerprints counted", hashes, 0) } else { Ok(()) }
        })?;
        Ok(self.stats()?.with_hashes(counts))
    }
}
