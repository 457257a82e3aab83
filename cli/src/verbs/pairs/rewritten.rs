//! Rewritten text: lists pairs by their passages, since a paraphrase of a part shares few fingerprints.

use fpdb::pairs::{Pair, PairsAnswer, PairsOptions, PairsSummary};
use fpdb::report::PairEvidence;
use fpdb::{Database, Task};

use crate::typed::PairsArgs;

/// If at most this number of pairs share a fingerprint, passages of all of them are searched for. Otherwise
/// only pairs that reach the threshold are examined. A pair takes about 0.3 ms of processor time.
const MOST: u64 = 200_000;

/// The pairs whose passages are searched for.
pub(super) struct Sought {
    pub(super) options: PairsOptions,
    /// The least resemblance of a pair that shares no passage.
    least: f64,
    /// Maximum number of pairs to list, best first.
    pub(super) top: usize,
    /// The part of a note that tells why pairs below the threshold are left out.
    pub(super) why: &'static str,
}

/// Counts the pairs that [`Sought::sift`] left out, and the pairs that it kept because of two of their files.
#[derive(Default)]
pub(super) struct Sifted {
    /// Number of pairs left out.
    left: u64,
    /// Number of pairs of submissions that reach the threshold by two of their files only.
    by_files: u64,
}

impl Sifted {
    /// Counts the pairs left out as pairs below the threshold.
    pub(super) fn count_in(&self, summary: &mut PairsSummary) {
        summary.found -= self.left;
        summary.below += self.left;
        summary.by_files += self.by_files;
    }
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
        let top = options.top.map_or(usize::MAX, |top| usize::try_from(top).unwrap_or(usize::MAX));
        let (least, typed) = (options.min_resemblance, [args.min_resemblance, args.min_containment]);
        if !args.joining.rewritten() || least <= 0.0 || args.min_shared.is_some() || typed != [None; 2] {
            return Ok(Self { options: options.clone(), least: 0.0, top, why: "" });
        }
        let all = options.clone().min_resemblance(0.0);
        if database.pairs(&all.clone().top(Some(1)), task)?.summary.found > MOST {
            let why = ", too many to look for their passages,";
            return Ok(Self { options: options.clone(), least: 0.0, top, why });
        }
        // `top` applies after sifting. The threshold still holds for the pairs of files of two submissions,
        // so that files that reach it come first.
        let all = all.few_min_resemblance(least).top(None);
        Ok(Self { options: all, least, top, why: " and no rewritten passage," })
    }

    /// Leaves out the pairs that neither reach the threshold nor share a passage.
    pub(super) fn sift(&self, pairs: &mut Vec<Pair>, sifted: &mut Sifted) {
        if self.least <= 0.0 {
            return;
        }
        pairs.retain_mut(|pair| {
            let reaches = pair.score >= self.least;
            pair.by_files = !reaches && pair.files.iter().any(|file| file.score >= self.least);
            let is_kept = reaches || pair.by_files || pair.longest != Some(0);
            sifted.by_files += u64::from(pair.by_files);
            sifted.left += u64::from(!is_kept);
            is_kept
        });
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
            for pairs in answer.pairs.chunks_mut(LENGTHS_AT_A_TIME) {
                add_longest(database, pairs, how, task)?;
            }
            let mut sifted = Sifted::default();
            self.sift(&mut answer.pairs, &mut sifted);
            sifted.count_in(&mut answer.summary);
            answer.pairs.truncate(self.top);
        }
        Ok(answer)
    }
}

/// Number of pairs whose longest passages are searched at once. With more pairs at once, documents are looked
/// up less often.
pub(super) const LENGTHS_AT_A_TIME: usize = 1 << 12;

/// Finds the length of the longest passage of each pair. Keeps no passage.
pub(super) fn add_longest(
    database: &Database,
    pairs: &mut [Pair],
    how: &PairEvidence,
    task: &Task<'_>,
) -> fpdb::Result<()> {
    // If only one passage is kept, it is the longest one.
    database.add_passages(pairs, &how.clone().joining(how.joining.most(Some(1))), task)?;
    for pair in pairs {
        pair.passages = None;
        pair.files.iter_mut().for_each(|file| file.passages = None);
    }
    Ok(())
}
