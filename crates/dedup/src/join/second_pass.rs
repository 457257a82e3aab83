//! Second pass: reconsiders the survivors, from the last rank to the first. A document can come before a
//! larger one that contains it, so the first pass misses some removals.
//!
//! A survivor is removable under two conditions. First, another survivor, of larger rank, justifies its
//! removal. Second, survivors that stay justify the removal of each document whose witness was the removed
//! survivor. These survivors have larger ranks too, because a witness is the first survivor that justifies a
//! removal.
//!
//! Survivors are indexed in blocks, from the last to the first. Each block is searched for witnesses of all
//! documents of lower rank before the next block is indexed.

use std::ops::Range;

use rayon::prelude::*;

use crate::Activity;
use crate::Monitor;
use crate::answer::decisions::{Decision, Decisions};
use crate::between_runs::job::{Job, Stage};
use crate::join::Join;
use crate::join::ProbedTerms;
use crate::join::buffers::Buffers;
use crate::join::index::{MOST_TERMS, SurvivorIndex};
use crate::join::justify::{SearchResult, Wanted};
use crate::ranking::Rank;
use fpdb_host::error::{Error, Result};

/// Number of documents for which other witnesses are searched at a time.
const AT_A_TIME: usize = 1024;

/// The documents that each survivor of the first pass justifies.
struct Justified {
    /// By rank of the survivor, the index of its first document; the last element is the end.
    starts: Vec<u32>,
    documents: Vec<Rank>,
}

/// The witnesses found in blocks of larger ranks, by rank of the document. Empty before the first such block.
#[derive(Default)]
struct Fallback {
    /// Removable if a witness was found, undecided if the budget was too small, otherwise open.
    found: Option<Decisions>,
    /// Posting reads spent, by rank; empty without a budget.
    costs: Vec<u64>,
}

/// The state of the second pass.
struct Pass<'a> {
    join: &'a Join<'a>,
    active: &'a [bool],
    justified: Justified,
    index: SurvivorIndex,
    fallback: Fallback,
}

impl Justified {
    fn new(decisions: &Decisions, total: Rank) -> Self {
        let witness = |rank: Rank| match decisions.get(rank) {
            Decision::Removable(witness) => Some(witness.rank as usize),
            _ => None,
        };
        let mut starts = vec![0u32; total as usize + 1];
        for survivor in (0..total).filter_map(witness) {
            starts[survivor + 1] += 1;
        }
        for index in 0..total as usize {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut documents = vec![0; starts[total as usize] as usize];
        for rank in 0..total {
            if let Some(survivor) = witness(rank) {
                documents[next[survivor] as usize] = rank;
                next[survivor] += 1;
            }
        }
        Self { starts, documents }
    }

    fn of(&self, survivor: Rank) -> &[Rank] {
        let survivor = survivor as usize;
        &self.documents[self.starts[survivor] as usize..self.starts[survivor + 1] as usize]
    }
}

impl Join<'_> {
    /// Removes the survivors of the first pass that are not needed, from the job's stage on.
    pub(crate) fn second_pass(
        &self,
        active: &[bool],
        probed: &ProbedTerms,
        decisions: &mut Decisions,
        job: &mut Job,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let total = self.ranking.len();
        let Stage::Second { mut next } = job.stage() else { return Ok(()) };
        let mut pass = Pass {
            join: self,
            active,
            justified: Justified::new(decisions, total),
            index: SurvivorIndex::default(),
            fallback: Fallback::default(),
        };
        let mut end = total;
        while next > 0 {
            let start = self.block_before(end, probed, decisions)?;
            pass.index.clear();
            self.index_survivors(start..end, probed, decisions, &mut pass.index)?;
            while next > start {
                let batch = start.max(next.saturating_sub(self.batch))..next;
                let mut changed = Vec::new();
                for rank in pass.candidates(batch.clone(), decisions)?.into_iter().rev() {
                    pass.reconsider(rank, decisions, &mut changed)?;
                }
                next = batch.start;
                job.append(Stage::Second { next }, &changed, decisions)?;
                monitor.at(Activity::Reconsidering, (total - next).into(), total.into())?;
            }
            if start > 0 {
                pass.answer_for_lower(start, decisions, monitor)?;
            }
            end = start;
        }
        Ok(())
    }

    /// The first rank of the block of survivors that ends at `end`.
    fn block_before(&self, end: Rank, probed: &ProbedTerms, decisions: &Decisions) -> Result<Rank> {
        // Maximum bytes of a term: two slots of the table, since half of the slots are empty, and a place in
        // a list.
        const BYTES: u64 = 40;
        let (mut start, mut bytes) = (end, 0);
        let most = self.memory.min(BYTES * MOST_TERMS);
        while start > 0 && (start == end || bytes < most) {
            let batch = start.saturating_sub(self.batch)..start;
            let survivors =
                batch.clone().into_par_iter().filter(|&rank| self.ranking.leads(rank) && decisions.stays(rank));
            let counts = survivors.map_init(Vec::new, |buffer, rank| {
                Ok::<_, Error>(probed.of(self.sets.get(rank, buffer)?).count() as u64)
            });
            bytes += BYTES * counts.try_reduce(|| 0, |a, b| Ok(a + b))?;
            start = batch.start;
        }
        Ok(start)
    }
}

impl Pass<'_> {
    /// The survivors of a batch whose removal a survivor of larger rank may justify.
    fn candidates(&self, batch: Range<Rank>, decisions: &Decisions) -> Result<Vec<Rank>> {
        let survivors = batch.into_par_iter().filter(|&rank| self.is_candidate(rank, decisions));
        let candidates = survivors.map_init(
            || self.join.buffers.lend(),
            |buffers, rank| {
                let (answered, mut cost) = self.fallback.of(rank);
                if answered != SearchResult::Nobody {
                    return Ok(Some(rank));
                }
                let wanted = Wanted { after: Some(rank), stays: None };
                let search = self.join.first_witness(rank, &self.index, &wanted, &mut cost, buffers)?;
                let over = self.join.budget.is_some_and(|budget| cost > budget);
                Ok((search != SearchResult::Nobody || over).then_some(rank))
            },
        );
        let candidates: Vec<Option<Rank>> = candidates.collect::<Result<_>>()?;
        Ok(candidates.into_iter().flatten().collect())
    }

    fn is_candidate(&self, rank: Rank, decisions: &Decisions) -> bool {
        self.active[rank as usize] && decisions.get(rank) == Decision::Stays
    }

    /// Removes a survivor on two conditions. Other documents that stay justify its removal. They also justify
    /// the removal of each document whose witness is the survivor.
    fn reconsider(&self, rank: Rank, decisions: &mut Decisions, changed: &mut Vec<Rank>) -> Result<()> {
        let search =
            |of: Rank, decisions: &Decisions, buffers: &mut Buffers| self.next_witness(of, rank, decisions, buffers);
        let mut buffers = self.join.buffers.lend();
        let own = search(rank, decisions, &mut buffers)?;
        let mut others = Vec::new();
        let mut outcome = own;
        for some in self.justified.of(rank).chunks(AT_A_TIME) {
            if !matches!(outcome, SearchResult::Found(_)) {
                break;
            }
            let decided = &*decisions;
            let found = some
                .par_iter()
                .map_init(|| self.join.buffers.lend(), |buffers, &of| Ok((of, search(of, decided, buffers)?)));
            for (of, found) in found.collect::<Result<Vec<_>>>()? {
                match found {
                    SearchResult::Found(witness) => others.push((of, Decision::Removable(witness))),
                    _ if matches!(outcome, SearchResult::Found(_)) => outcome = found,
                    _ => {}
                }
            }
        }
        match (outcome, own) {
            (SearchResult::Found(_), SearchResult::Found(witness)) => {
                for (of, decision) in others.into_iter().chain([(rank, Decision::Removable(witness))]) {
                    decisions.set(of, decision);
                    changed.push(of);
                }
            }
            (SearchResult::OverBudget, _) => {
                decisions.set(rank, Decision::Undecided);
                changed.push(rank);
            }
            _ => {}
        }
        Ok(())
    }

    /// The first survivor above `after` that stays and justifies the removal of a document.
    fn next_witness(
        &self,
        rank: Rank,
        after: Rank,
        decisions: &Decisions,
        buffers: &mut Buffers,
    ) -> Result<SearchResult> {
        if !self.active[rank as usize] {
            // The document is removable by its bytes alone.
            return Ok(SearchResult::Nobody);
        }
        let mut cost = 0;
        let wanted = Wanted { after: Some(after), stays: Some(&|rank| decisions.stays(rank)) };
        match self.join.first_witness(rank, &self.index, &wanted, &mut cost, buffers)? {
            SearchResult::Nobody => {
                let (found, more) = self.fallback.of(rank);
                let over = self.join.budget.is_some_and(|budget| cost + more > budget);
                Ok(if over { SearchResult::OverBudget } else { found })
            }
            found => Ok(found),
        }
    }

    /// Searches this block for witnesses of the survivors before it, and of the documents whose witness comes
    /// before it.
    fn answer_for_lower(&mut self, start: Rank, decisions: &Decisions, monitor: &Monitor<'_>) -> Result<()> {
        let total = self.join.ranking.len();
        if self.fallback.found.is_none() {
            self.fallback.found = Some(Decisions::new(total, false));
            self.fallback.costs = vec![0; if self.join.budget.is_some() { total as usize } else { 0 }];
        }
        let mut first = 0;
        while first < total {
            let batch = first..total.min(first.saturating_add(self.join.batch));
            let asks = |rank: &Rank| match decisions.get(*rank) {
                Decision::Removable(witness) => witness.rank < start && self.active[*rank as usize],
                _ => *rank < start && self.is_candidate(*rank, decisions),
            };
            let answers = batch.clone().into_par_iter().filter(asks).map_init(
                || self.join.buffers.lend(),
                |buffers, rank| {
                    let mut cost = 0;
                    let wanted = Wanted { after: None, stays: Some(&|rank| decisions.stays(rank)) };
                    let found = self.join.first_witness(rank, &self.index, &wanted, &mut cost, buffers)?;
                    Ok((rank, found, cost))
                },
            );
            for (rank, found, cost) in answers.collect::<Result<Vec<_>>>()? {
                self.fallback.take(rank, found, cost, self.join.budget);
            }
            first = batch.end;
            monitor.at(Activity::Comparing, first.into(), total.into())?;
        }
        Ok(())
    }
}

impl Fallback {
    /// The result of the search in the blocks of larger ranks, and its cost.
    fn of(&self, rank: Rank) -> (SearchResult, u64) {
        let found = match self.found.as_ref().map(|found| found.get(rank)) {
            Some(Decision::Removable(witness)) => SearchResult::Found(witness),
            Some(Decision::Undecided) => SearchResult::OverBudget,
            _ => SearchResult::Nobody,
        };
        (found, self.costs.get(rank as usize).copied().unwrap_or(0))
    }

    /// Merges the result of the search in the next lower block into the results so far.
    fn take(&mut self, rank: Rank, found: SearchResult, cost: u64, budget: Option<u64>) {
        let (before, more) = self.of(rank);
        let (found, cost) = match found {
            SearchResult::Nobody if budget.is_some_and(|budget| cost + more > budget) => {
                (SearchResult::OverBudget, cost + more)
            }
            SearchResult::Nobody => (before, cost + more),
            found => (found, cost),
        };
        if let Some(answers) = &mut self.found {
            let decision = match found {
                SearchResult::Found(witness) => Decision::Removable(witness),
                SearchResult::OverBudget => Decision::Undecided,
                SearchResult::Nobody => Decision::Open { cost: 0 },
            };
            answers.set(rank, decision);
        }
        if let Some(spent) = self.costs.get_mut(rank as usize) {
            *spent = cost;
        }
    }
}
