//! Pairing: all pairs of stored documents that share text.

use super::{Database, visiting};
use crate::archive::pairs::{self, Pair, PairsAnswer, PairsOptions, PairsSummary};
use crate::archive::spill::TempSpace;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;

impl Database {
    /// All pairs of documents that share enough, best first. The answer is held in memory: for many pairs use
    /// [`Database::for_each_pair`].
    ///
    /// # Errors
    /// As there.
    pub fn pairs(&self, options: &PairsOptions, task: &Task<'_>) -> Result<PairsAnswer> {
        let mut pairs = Vec::new();
        let summary = self.for_each_pair(options, task, |_, pair| {
            pairs.push(pair);
            Ok::<(), Error>(())
        })?;
        Ok(PairsAnswer { pairs, summary })
    }

    /// Calls `visit` with each pair of documents that share enough, best first, and with the summary of all
    /// pairs. Reads every posting twice, and once more for each further block of documents that the
    /// database's memory makes necessary. Pairs that exceed that memory are sorted in temporary files. Pairs
    /// of submissions have the pairs of their files, which costs two passes more for each batch that fits.
    /// Where the own text is compared, the documents of all pairs are read again first.
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
