//! Pairing: all pairs of stored documents that share text.

use super::Database;
use crate::error::{Error, Result};
use crate::input::InputLimits;
use crate::pairs::{self, Pair, PairsAnswer, PairsOptions, PairsSummary};
use crate::progress::Task;
use crate::spill::TempSpace;

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

    /// Calls `visit` with each pair of documents that share enough, best first, and with the summary of all pairs. Reads every
    /// posting twice, and once more for each further block of documents that the database's memory makes necessary. Pairs that
    /// exceed that memory are sorted in temporary files. Pairs of submissions have the pairs of their files, which costs two
    /// passes more for each batch that fits.
    ///
    /// # Errors
    /// Fails if postings cannot be read or temporary files cannot be written; [`Error::InvalidParameter`] for an invalid regular
    /// expression; [`Error::TooLittleMemory`]; [`Error::Stopped`]; the error of `visit`.
    pub fn for_each_pair<E: From<Error>>(
        &self,
        options: &PairsOptions,
        task: &Task<'_>,
        mut visit: impl FnMut(&PairsSummary, Pair) -> std::result::Result<(), E>,
    ) -> std::result::Result<PairsSummary, E> {
        let _unchanged = self.store.keep_unchanged();
        let temp = TempSpace::beside(self.store.root(), options.temp_dir.as_deref())?;
        let found = self.run(|| pairs::find(&self.store, options, &temp, task))?;
        let mut failed = None;
        let result = found.for_each(&self.store, options, task, &mut |summary, pair| {
            visit(summary, pair).map_err(|error| {
                failed = Some(error);
                Error::Stopped
            })
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(result?),
        }
    }

    /// Compares the own text of pairs of source code, names and comments included, and orders the pairs by the larger of the two
    /// resemblances. Fingerprints of source code tell its structure only, so the documents are read again. Returns how many
    /// of them cannot be: their pairs stay as they are. `options` are those the pairs were found with.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where the unit is not token; [`Error::Stopped`]; a failure to read the store.
    pub fn add_own_text(
        &self,
        pairs: &mut [Pair],
        options: &PairsOptions,
        limits: &InputLimits,
        task: &Task<'_>,
    ) -> Result<u64> {
        let _unchanged = self.store.keep_unchanged();
        self.run(|| pairs::add_own_text(&self.store, pairs, options, limits, task))
    }
}
