//! Pairing: finds all pairs of stored documents that share text.

use super::{Database, visiting};
use crate::archive::pairs::{self, Pair, PairsAnswer, PairsOptions, PairsSummary};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::TempSpace;

impl Database {
    /// Finds all pairs of documents that share enough text, best first. The answer is held in memory: for
    /// many pairs use [`Database::for_each_pair`].
    ///
    /// # Errors
    /// The same as those of [`Database::for_each_pair`].
    pub fn pairs(&self, options: &PairsOptions, task: &Task<'_>) -> Result<PairsAnswer> {
        let mut pairs = Vec::new();
        let summary = self.for_each_pair(options, task, |_, pair| {
            pairs.push(pair);
            Ok::<(), Error>(())
        })?;
        Ok(PairsAnswer { pairs, summary })
    }

    /// Calls `visit` for each pair of documents that share enough text, best first, with the summary of all
    /// pairs and this pair. Reads every posting twice. If the counters exceed the memory of the database,
    /// each further block of documents costs another pass. Pairs beyond the memory are sorted in temporary
    /// files. Pairs of submissions list pairs of their files, which costs two more passes for each batch of
    /// pairs.
    ///
    /// # Errors
    /// Fails if postings cannot be read or temporary files cannot be written; [`Error::InvalidParameter`] for
    /// an invalid regular expression; [`Error::TooLittleMemory`]; [`Error::Stopped`]; the error of `visit`.
    pub fn for_each_pair<E: From<Error>>(
        &self,
        options: &PairsOptions,
        task: &Task<'_>,
        mut visit: impl FnMut(&PairsSummary, Pair) -> std::result::Result<(), E>,
    ) -> std::result::Result<PairsSummary, E> {
        options.check()?;
        let _unchanged = self.store.keep_unchanged(task.token())?;
        let temp = TempSpace::beside(self.store.root(), options.temp_dir.as_deref())?;
        let found = self.run(|| pairs::find(&self.store, options, &temp, task))?;
        let summary = found.summary().clone();
        visiting(|pair| visit(&summary, pair), |visit| found.for_each(&self.store, options, task, visit))?;
        Ok(summary)
    }
}
