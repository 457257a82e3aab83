//! Outcome: the decisions of a run about the documents it ranked.

use crate::Because;
use crate::DedupBy;
use crate::answer::decisions::{Decision, Decisions, Witness};
use crate::between_runs::record::{Fate, Reason, RecordEntry};
use crate::ranking::{Rank, Ranking};

/// The decisions of a run.
pub(crate) struct RunOutcome {
    pub(crate) ranking: Ranking,
    /// `None` if only documents of the same bytes are removable.
    pub(crate) decisions: Option<Decisions>,
    /// Pinned documents, ascending, with the newcomers that supersede them.
    pub(crate) superseded: Vec<(Rank, Witness)>,
    pub(crate) by: DedupBy,
}

impl RunOutcome {
    /// The decision about a document without an earlier decision. `None` if the document is pinned or not
    /// ranked.
    pub(crate) fn fate(&self, document: u32) -> Option<Fate> {
        let rank = self.ranking.of(document);
        if rank >= self.ranking.len() || self.ranking.pinned.contains(rank) {
            return None;
        }
        let leader = self.ranking.leader(rank);
        Some(match self.decision(leader) {
            Decision::Removable(witness) => Fate::Removable(self.reason(&witness)),
            _ if leader != rank => Fate::Removable(self.reason(&self.ranking.as_identical(rank, leader))),
            Decision::Undecided => Fate::Undecided,
            _ => Fate::Stays,
        })
    }

    /// Updates an earlier decision: a document that stays can become superseded.
    pub(crate) fn fate_after(&self, earlier: RecordEntry, run: u32) -> RecordEntry {
        let rank = self.ranking.of(earlier.document);
        match self.superseded.binary_search_by_key(&rank, |&(rank, _)| rank) {
            // A document keeps the first newcomer that superseded it.
            Ok(place) if !matches!(earlier.fate, Fate::Superseded(_)) => {
                RecordEntry { run, fate: Fate::Superseded(self.reason(&self.superseded[place].1)), ..earlier }
            }
            _ => earlier,
        }
    }

    fn decision(&self, rank: Rank) -> Decision {
        self.decisions.as_ref().map_or(Decision::Stays, |decisions| decisions.get(rank))
    }

    /// The reason of a removal by the rule alone. The writer of the answer finds documents of the same bytes.
    fn reason(&self, witness: &Witness) -> Reason {
        let because = match self.by {
            DedupBy::Exact | DedupBy::ExactText => Because::Identical,
            DedupBy::Resemblance => Because::Resembles,
            DedupBy::Containment => Because::Contained,
        };
        // A stretch too long for 32 bits is reported as the largest 32-bit number.
        let novel = u32::try_from(witness.novel).unwrap_or(u32::MAX);
        Reason { keep: self.ranking.id(witness.rank), because, shared: witness.shared, novel }
    }
}
