//! Decisions: records for each document that it stays, or the reason why it is removable.

use bincode::{Decode, Encode};

use crate::ranking::{RESERVED, Rank};

/// Not decided yet.
const OPEN: Rank = RESERVED;
/// The document stays.
const STAYS: Rank = RESERVED + 1;
/// The document stays because the budget was too small for a decision.
const UNDECIDED: Rank = RESERVED + 2;

/// Bytes of memory that each document takes here. With a budget, it takes [`BYTES_OF_COST`] more.
pub(crate) const BYTES_PER_DOCUMENT: u64 = 12;
pub(crate) const BYTES_OF_COST: u64 = 8;

/// The decisions by rank.
#[derive(Debug)]
pub(crate) struct Decisions {
    witnesses: Vec<Rank>,
    shared: Vec<u32>,
    novel: Vec<u32>,
    /// Posting reads so far of undecided documents; empty without a budget.
    costs: Vec<u64>,
}

/// A decision about one document. The file of a job stores a variant by its place in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Decision {
    Stays,
    Undecided,
    /// The document is not decided yet; `cost` posting reads were spent on it.
    Open {
        cost: u64,
    },
    Removable(Witness),
}

/// The reason why a document is removable. The file of a job stores the fields in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Witness {
    /// Rank of the survivor.
    pub(crate) rank: Rank,
    /// Number of distinct fingerprints that both documents hold.
    pub(crate) shared: u32,
    /// The longest unmatched stretch of the document, in symbols.
    pub(crate) novel: u64,
}

impl Decisions {
    pub(crate) fn new(documents: Rank, with_costs: bool) -> Self {
        let zeros = || vec![0; documents as usize];
        let costs = if with_costs { vec![0; documents as usize] } else { Vec::new() };
        Self { witnesses: vec![OPEN; documents as usize], shared: zeros(), novel: zeros(), costs }
    }

    pub(crate) fn get(&self, rank: Rank) -> Decision {
        let index = rank as usize;
        match self.witnesses[index] {
            OPEN => Decision::Open { cost: self.costs.get(index).copied().unwrap_or(0) },
            STAYS => Decision::Stays,
            UNDECIDED => Decision::Undecided,
            rank => {
                // A stretch too long for 32 bits is reported as the largest 32-bit number.
                Decision::Removable(Witness { rank, shared: self.shared[index], novel: self.novel[index].into() })
            }
        }
    }

    pub(crate) fn set(&mut self, rank: Rank, decision: Decision) {
        let index = rank as usize;
        self.witnesses[index] = match decision {
            Decision::Open { cost } => {
                if let Some(spent) = self.costs.get_mut(index) {
                    *spent = cost;
                }
                OPEN
            }
            Decision::Stays => STAYS,
            Decision::Undecided => UNDECIDED,
            Decision::Removable(witness) => {
                self.shared[index] = witness.shared;
                self.novel[index] = u32::try_from(witness.novel).unwrap_or(u32::MAX);
                witness.rank
            }
        };
    }

    pub(crate) fn is_open(&self, rank: Rank) -> bool {
        self.witnesses[rank as usize] == OPEN
    }

    /// True if the document stays, for whatever reason.
    pub(crate) fn stays(&self, rank: Rank) -> bool {
        matches!(self.witnesses[rank as usize], STAYS | UNDECIDED)
    }
}
