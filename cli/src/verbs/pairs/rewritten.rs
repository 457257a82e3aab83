//! Rewritten text: lists pairs by their passages, since a paraphrase of a part shares few fingerprints.

use fpdb::pairs::{Pair, PairsAnswer, PairsOptions, PairsSummary};
use fpdb::report::PairEvidence;
use fpdb::{Database, Task};

use super::AT_A_TIME;
use crate::typed::PairsArgs;

/// Maximum number of pairs whose passages are looked for, whatever their resemblance. A pair takes about 0.3
/// ms of processor time.
const MOST: u64 = 200_000;

/// The pairs among which passages are looked for.
pub(super) struct Sought {
    pub(super) options: PairsOptions,
    /// The least resemblance of a pair that shares no passage.
    least: f64,
    /// What pairs below the threshold lack besides, for a note.
    pub(super) why: &'static str,
}

impl Sought {
    /// With `--rewritten`, takes all pairs that share a fingerprint, unless a threshold was typed or the
    /// pairs are too many. Otherwise takes the pairs that `options` describe.
    pub(super) fn of(
        database: &Database,
        args: &PairsArgs,
        options: &PairsOptions,
        task: &Task<'_>,
    ) -> anyhow::Result<Self> {
        let (least, typed) = (options.min_resemblance, [args.min_resemblance, args.min_containment]);
        if !args.joining.rewritten() || least <= 0.0 || args.min_shared.is_some() || typed != [None; 2] {
            return Ok(Self { options: options.clone(), least: 0.0, why: "" });
        }
        let all = options.clone().min_resemblance(0.0);
        if database.pairs(&all.clone().top(Some(1)), task)?.summary.found > MOST {
            let why = ", too many to look for their passages,";
            return Ok(Self { options: options.clone(), least: 0.0, why });
        }
        Ok(Self { options: all, least, why: " and no rewritten passage," })
    }

    /// Leaves out the pairs that neither reach the threshold nor share a passage. Returns their number.
    pub(super) fn sift(&self, pairs: &mut Vec<Pair>) -> u64 {
        let before = pairs.len();
        pairs.retain(|pair| pair.longest != Some(0) || self.reaches(pair));
        (before - pairs.len()) as u64
    }

    /// All pairs. The passages themselves are not kept.
    pub(super) fn pairs(
        &self,
        database: &Database,
        how: &PairEvidence,
        task: &Task<'_>,
    ) -> anyhow::Result<PairsAnswer> {
        let mut answer = database.pairs(&self.options, task)?;
        if self.least > 0.0 {
            for pairs in answer.pairs.chunks_mut(AT_A_TIME) {
                database.add_passages(pairs, how, task)?;
                forget_passages(pairs);
            }
            let left = self.sift(&mut answer.pairs);
            sifted(&mut answer.summary, left);
        }
        Ok(answer)
    }

    fn reaches(&self, pair: &Pair) -> bool {
        pair.score >= self.least || pair.files.iter().any(|file| file.score >= self.least)
    }
}

/// Drops the passages of pairs, but keeps their lengths.
pub(super) fn forget_passages(pairs: &mut [Pair]) {
    for pair in pairs {
        pair.passages = None;
        pair.files.iter_mut().for_each(|file| file.passages = None);
    }
}

/// Counts pairs that were found and left out as pairs below the threshold.
pub(super) fn sifted(summary: &mut PairsSummary, left: u64) {
    summary.found -= left;
    summary.below += left;
}
