//! Dedup: which documents may go, each with the survivor that justifies it. Changes nothing by itself.
//!
//! Documents are taken from the most to the least worth keeping; one goes if a document that stays is
//! identical to it, contains it, or resembles it, by itself: likeness is never passed on from document to
//! document, which is what removes wrong documents elsewhere.

use std::collections::{HashMap, HashSet};

use crate::document::{Digest, DocId};
use crate::error::Result;
use crate::pairs::{self, GroupBy, PairsOptions, Progress};
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
#[derive(Clone, Copy)]
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
pub(crate) fn dedup(store: &Store, options: &DedupOptions, progress: Progress<'_>) -> Result<DedupAnswer> {
    let candidates = load(store, options)?;
    // The one of each content that is most worth keeping speaks for all of them.
    let mut speakers: HashMap<Digest, u32> = HashMap::new();
    for candidate in &candidates {
        speakers.entry(candidate.digest).or_insert(candidate.id);
    }
    let Edges { edges, common, boilerplate } = edges(store, options, &candidates, &speakers, progress)?;
    let mut staying: HashSet<u32> = HashSet::new();
    let mut verdicts: HashMap<u32, Verdict> = HashMap::new();
    for candidate in &candidates {
        let speaker = speakers[&candidate.digest];
        let verdict = if candidate.protected {
            None
        } else if speaker == candidate.id {
            edges.get(&speaker).and_then(|edges| best(edges, &staying))
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

    let mut answer = DedupAnswer { documents: candidates.len() as u64, common, boilerplate, ..DedupAnswer::default() };
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

/// All documents but boilerplate, which justifies nothing, from the most to the least worth keeping.
fn load(store: &Store, options: &DedupOptions) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    store.for_each_document(|id, record| {
        if record.boilerplate {
            return Ok(true);
        }
        let protected = options.protect.iter().any(|prefix| record.name.starts_with(prefix));
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
    Ok(candidates)
}

/// For each document those that justify its removal, if they stay; and the hashes above the df cap.
fn edges(
    store: &Store,
    options: &DedupOptions,
    candidates: &[Candidate],
    speakers: &HashMap<Digest, u32>,
    progress: Progress<'_>,
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
    let pairs::Counted { pairs, common, boilerplate, .. } = pairs::measured(store, &wanted, &silent, progress)?;
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

/// The best of those that stay for sure, the first ingested of equals.
fn best(edges: &[Verdict], staying: &HashSet<u32>) -> Option<Verdict> {
    let justified = edges.iter().filter(|edge| staying.contains(&edge.keep));
    justified.copied().max_by(|x, y| x.score.total_cmp(&y.score).then(y.keep.cmp(&x.keep)))
}
