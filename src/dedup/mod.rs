//! Dedup: which documents may go, each with the survivor that justifies it. Changes nothing by itself.
//!
//! Documents are taken from the most to the least worth keeping; one goes if a document that stays is
//! identical to it, contains it, or resembles it, by itself: likeness is never passed on from document to
//! document, which is what removes wrong documents elsewhere. Those that stay are then looked at again, in the
//! opposite order, since a part may come before its whole.

use std::collections::{HashMap, HashSet};

use crate::document::{Digest, DocId};
use crate::error::Result;
use crate::input::NamePrefix;
use crate::pairs::{self, GroupBy, PairsOptions};
use crate::progress::Task;
use crate::store::Store;

/// What makes a document removable, beside being identical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DedupBy {
    /// Nothing else.
    #[default]
    Exact,
    /// A survivor that resembles it.
    Resemblance,
    /// A survivor that contains it.
    Containment,
}

/// Which document of several alike stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The one that was ingested first.
    #[default]
    First,
    /// The one with the most symbols.
    Longest,
    /// The one written last, by its file's time, or ingested last where that is not known.
    Newest,
    /// The one written first.
    Oldest,
}

/// How to look for removable documents.
#[derive(Clone, Debug, PartialEq)]
pub struct DedupOptions {
    /// What makes a document removable.
    pub by: DedupBy,
    /// The least resemblance, or the least containment in the survivor.
    pub threshold: f64,
    /// Which one stays.
    pub keep: Keep,
    /// Documents whose names begin with one of these are never removable.
    pub protect: Vec<String>,
    /// Hashes that more documents hold are not counted as shared: fewer documents are then removable, never
    /// more.
    pub max_df: Option<u64>,
    /// Bytes of memory to use for counting, about.
    pub memory: u64,
}

impl Default for DedupOptions {
    fn default() -> Self {
        let pairs = PairsOptions::default();
        Self {
            by: DedupBy::default(),
            threshold: 0.8,
            keep: Keep::default(),
            protect: Vec::new(),
            max_df: pairs.max_df,
            memory: pairs.memory,
        }
    }
}

/// Why a document may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// Its bytes are the survivor's.
    Identical,
    /// The survivor contains it.
    Contained,
    /// The survivor resembles it.
    Resembles,
}

/// A document that may go.
#[derive(Clone, Debug, PartialEq)]
pub struct Removable {
    /// The document.
    pub remove: String,
    /// Its number, which tells versions of one name apart.
    pub remove_id: DocId,
    /// The survivor, which is itself not removable.
    pub keep: String,
    /// Its number.
    pub keep_id: DocId,
    /// Why.
    pub because: Because,
    /// The resemblance, or the containment of the document in the survivor.
    pub score: f64,
    /// Hashes both hold.
    pub shared: u64,
}

/// What may go of a database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DedupAnswer {
    /// In order of ingestion.
    pub removable: Vec<Removable>,
    /// All documents but boilerplate.
    pub documents: u64,
    /// Survivors that justify at least one removal.
    pub groups: u64,
    /// Hashes left out because more documents hold them than the df cap allows.
    pub common: u64,
    /// Hashes left out because boilerplate holds them.
    pub boilerplate: u64,
    /// Prefixes of `protect` that no document's name begins with.
    pub unmatched: Vec<String>,
}

/// A document as far as the choice needs it.
struct Candidate {
    id: u32,
    digest: Digest,
    protected: bool,
    distinct: u64,
    /// The smaller, the more worth keeping.
    rank: i128,
}

/// Why one document goes: the survivor's id and the measures.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    keep: u32,
    because: Because,
    score: f64,
    shared: u64,
}

/// For each document those that justify its removal, if they stay, and the hashes that were left out.
#[derive(Default)]
struct Edges {
    edges: HashMap<u32, Vec<Verdict>>,
    common: u64,
    boilerplate: u64,
}

/// Finds the removable documents.
pub(crate) fn dedup(store: &Store, options: &DedupOptions, task: &Task<'_>) -> Result<DedupAnswer> {
    let (candidates, unmatched) = load(store, options)?;
    // The one of each content that is most worth keeping speaks for all of them.
    let mut speakers: HashMap<Digest, u32> = HashMap::new();
    for candidate in &candidates {
        speakers.entry(candidate.digest).or_insert(candidate.id);
    }
    let Edges { edges, common, boilerplate } = edges(store, options, &candidates, &speakers, task)?;
    let verdicts = choose(&candidates, &speakers, &edges);
    let documents = candidates.len() as u64;
    let mut answer = DedupAnswer { documents, common, boilerplate, unmatched, ..DedupAnswer::default() };
    let mut survivors: Vec<u32> = verdicts.values().map(|verdict| verdict.keep).collect();
    survivors.sort_unstable();
    survivors.dedup();
    answer.groups = survivors.len() as u64;
    let mut verdicts: Vec<(u32, Verdict)> = verdicts.into_iter().collect();
    verdicts.sort_unstable_by_key(|&(id, _)| id);
    for (id, Verdict { keep, because, score, shared }) in verdicts {
        answer.removable.push(Removable {
            remove: store.document(id)?.name,
            remove_id: DocId(id),
            keep: store.document(keep)?.name,
            keep_id: DocId(keep),
            because,
            score,
            shared,
        });
    }
    Ok(answer)
}

/// The documents that go, and why. `candidates` come from the most to the least worth keeping.
fn choose(
    candidates: &[Candidate],
    speakers: &HashMap<Digest, u32>,
    edges: &HashMap<u32, Vec<Verdict>>,
) -> HashMap<u32, Verdict> {
    let mut staying: HashSet<u32> = HashSet::new();
    let mut verdicts: HashMap<u32, Verdict> = HashMap::new();
    for candidate in candidates {
        let speaker = speakers[&candidate.digest];
        let verdict = if candidate.protected {
            None
        } else if speaker == candidate.id {
            best(edges, speaker, &staying)
        } else if staying.contains(&speaker) {
            Some(Verdict { keep: speaker, because: Because::Identical, score: 1.0, shared: candidate.distinct })
        } else {
            // What justifies the removal of one justifies that of its twin.
            verdicts.get(&speaker).copied()
        };
        match verdict {
            Some(verdict) => {
                verdicts.insert(candidate.id, verdict);
            }
            None => {
                staying.insert(candidate.id);
            }
        }
    }
    drop_contained(candidates, speakers, edges, &mut staying, &mut verdicts);
    verdicts
}

/// Looks at those that stay again, from the least worth keeping on: what came before the document that contains it could not
/// go when it was looked at. One goes if another that stays justifies it, and others, each by itself, justify what it
/// justified until now.
fn drop_contained(
    candidates: &[Candidate],
    speakers: &HashMap<Digest, u32>,
    edges: &HashMap<u32, Vec<Verdict>>,
    staying: &mut HashSet<u32>,
    verdicts: &mut HashMap<u32, Verdict>,
) {
    let mut justified: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&id, verdict) in &*verdicts {
        justified.entry(verdict.keep).or_default().push(id);
    }
    let speaker_of: HashMap<u32, u32> =
        candidates.iter().map(|candidate| (candidate.id, speakers[&candidate.digest])).collect();
    for candidate in candidates.iter().rev().filter(|candidate| !candidate.protected) {
        if !staying.remove(&candidate.id) {
            continue;
        }
        // With its twins, whose speaker it is, it goes for one reason.
        let going = justified.get(&candidate.id).into_iter().flatten().chain([&candidate.id]);
        let others: Option<Vec<(u32, Verdict)>> =
            going.map(|&id| Some((id, best(edges, speaker_of[&id], staying)?))).collect();
        match others {
            None => {
                staying.insert(candidate.id);
            }
            Some(others) => {
                justified.remove(&candidate.id);
                for (id, verdict) in others {
                    justified.entry(verdict.keep).or_default().push(id);
                    verdicts.insert(id, verdict);
                }
            }
        }
    }
}

/// All documents but boilerplate, which justifies nothing, from the most to the least worth keeping.
fn load(store: &Store, options: &DedupOptions) -> Result<(Vec<Candidate>, Vec<String>)> {
    let mut candidates = Vec::new();
    let mut prefixes: Vec<(NamePrefix, bool)> =
        options.protect.iter().map(|prefix| (NamePrefix::new(prefix), false)).collect();
    store.for_each_document(|id, record| {
        let mut protected = false;
        for (prefix, met) in &mut prefixes {
            let fits = prefix.fits(&record.name).is_some();
            protected |= fits;
            *met |= fits;
        }
        if record.boilerplate {
            return Ok(true);
        }
        let written = || {
            let (seconds, nanoseconds) = record.modified.unwrap_or((record.ingested_at, 0));
            i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
        };
        let rank = match options.keep {
            Keep::First => 0,
            Keep::Longest => -i128::from(record.symbols),
            Keep::Newest => -written(),
            Keep::Oldest => written(),
        };
        candidates.push(Candidate { id, digest: record.digest, protected, distinct: record.distinct, rank });
        Ok(true)
    })?;
    candidates.sort_by_key(|candidate| (!candidate.protected, candidate.rank, candidate.id));
    let unmatched = options.protect.iter().zip(&prefixes).filter(|(_, (_, met))| !met);
    Ok((candidates, unmatched.map(|(prefix, _)| prefix.clone()).collect()))
}

/// For each document those that justify its removal, if they stay; and the hashes above the df cap.
fn edges(
    store: &Store,
    options: &DedupOptions,
    candidates: &[Candidate],
    speakers: &HashMap<Digest, u32>,
    task: &Task<'_>,
) -> Result<Edges> {
    let mut wanted = PairsOptions {
        max_df: options.max_df,
        memory: options.memory,
        // One document of a group may well be part of another.
        group_by: GroupBy::Nothing,
        ..PairsOptions::default()
    };
    match options.by {
        DedupBy::Exact => return Ok(Edges::default()),
        DedupBy::Resemblance => wanted.min_resemblance = options.threshold,
        DedupBy::Containment => wanted.min_containment = options.threshold,
    }
    let silent: Vec<u32> =
        candidates.iter().filter(|candidate| speakers[&candidate.digest] != candidate.id).map(|c| c.id).collect();
    let pairs::Counted { pairs, common, boilerplate, .. } = pairs::measured(store, &wanted, &silent, task)?;
    let mut edges: HashMap<u32, Vec<Verdict>> = HashMap::new();
    for pair in pairs {
        let (because, a_goes, b_goes) = match options.by {
            DedupBy::Containment => (Because::Contained, pair.containment_a, pair.containment_b),
            _ => (Because::Resembles, pair.resemblance, pair.resemblance),
        };
        for (goes, keep, score) in [(pair.a, pair.b, a_goes), (pair.b, pair.a, b_goes)] {
            if score >= options.threshold {
                edges.entry(goes).or_default().push(Verdict { keep, because, score, shared: pair.shared });
            }
        }
    }
    Ok(Edges { edges, common, boilerplate })
}

/// The best reason why a document goes, among those that stay for sure; the first ingested of equals.
fn best(edges: &HashMap<u32, Vec<Verdict>>, id: u32, staying: &HashSet<u32>) -> Option<Verdict> {
    let justified = edges.get(&id)?.iter().filter(|edge| staying.contains(&edge.keep));
    justified.copied().max_by(|x, y| x.score.total_cmp(&y.score).then(y.keep.cmp(&x.keep)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Documents as sets of numbers, by id: contents, and whether they are protected.
    fn check(documents: &[(u64, bool)], threshold: f64) -> Result<(), TestCaseError> {
        let set = |id: u32| documents[id as usize].0;
        let digest = |id: u32| -> Digest { u128::from(set(id)).to_be_bytes() };
        let mut candidates: Vec<Candidate> = (0..)
            .zip(documents)
            .map(|(id, &(set, protected))| {
                let distinct = set.count_ones().into();
                Candidate { id, digest: digest(id), protected, distinct, rank: 0 }
            })
            .collect();
        candidates.sort_by_key(|candidate| (!candidate.protected, candidate.id));
        let mut speakers: HashMap<Digest, u32> = HashMap::new();
        for candidate in &candidates {
            speakers.entry(candidate.digest).or_insert(candidate.id);
        }
        let ids = 0..documents.len() as u32;
        let part = |a: u32, b: u32| f64::from((set(a) & set(b)).count_ones()) / f64::from(set(a).count_ones());
        let contains = |a: u32, b: u32| set(a) != 0 && part(a, b) >= threshold;
        let mut edges: HashMap<u32, Vec<Verdict>> = HashMap::new();
        let speak = |id: &u32| speakers[&digest(*id)] == *id;
        for a in ids.clone().filter(speak) {
            for keep in ids.clone().filter(speak).filter(|&b| a != b && contains(a, b)) {
                let verdict = Verdict { keep, because: Because::Contained, score: part(a, keep), shared: 0 };
                edges.entry(a).or_default().push(verdict);
            }
        }
        let verdicts = choose(&candidates, &speakers, &edges);
        let stays = |id: u32| !verdicts.contains_key(&id);
        for (&id, verdict) in &verdicts {
            prop_assert!(stays(verdict.keep) && !documents[id as usize].1, "{id}: {verdict:?}");
            match verdict.because {
                Because::Identical => prop_assert_eq!(set(id), set(verdict.keep)),
                _ => {
                    prop_assert!(contains(id, verdict.keep));
                    prop_assert_eq!(verdict.score, part(id, verdict.keep));
                }
            }
        }
        // Whatever stays and justifies nobody is needed: no other that stays holds it.
        for id in ids.clone().filter(|&id| stays(id) && !documents[id as usize].1) {
            let needed = verdicts.values().any(|verdict| verdict.keep == id);
            let held = ids
                .clone()
                .find(|&other| other != id && stays(other) && (set(other) == set(id) || contains(id, other)));
            prop_assert!(needed || held.is_none(), "{id} stays beside {held:?}");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn each_goes_for_a_reason_of_its_own_and_none_that_could_go_stays(
            documents in prop::collection::vec((0u64..256, prop::bool::weighted(0.1)), 0..24),
            threshold in 0.3f64..1.0,
        ) {
            check(&documents, threshold)?;
            check(&documents, 1.0)?;
        }
    }
}
