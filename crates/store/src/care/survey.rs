//! Survey: finds the intact, the damaged and the lost documents of a damaged store.
//!
//! A document lacks a posting or a position if the number or the sum of its ordinals is wrong. Such a
//! document is read again if its file has the recorded digest.

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use crate::care::salvage::Salvage;
use crate::care::salvaged_rows::{SalvagedRows, number};
use crate::codec::block::{Block, Posting};
use crate::codec::format::{
    DOCUMENTS, MAIN, NAMES, POSITIONS, POSTINGS, STATE_KEY, TOMBSTONES, chunk_key, parse_name_key, parse_posting_key,
    posting_key, split_u32,
};
use crate::codec::positions;
use crate::codec::records::{self, DocumentRecord, StateRecord, TextCounts, TextView};
use crate::document_set;
use crate::open::commit_mark::CommitMark;
use crate::read::run_reader::{self, Postings};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::profile::{Profile, View};

/// The facts of one document, from its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentRows {
    pub(crate) postings: u64,
    /// Number of distinct hashes of these postings.
    pub(crate) distinct: u64,
    /// Number of these distinct hashes that belong to the text as written, if there are two views.
    pub(crate) distinct_of_text: u64,
    /// The sum of the ordinals of the postings. It is the sum of 0 to n - 1 if each ordinal exists once.
    pub(crate) ordinals: u64,
}

impl DocumentRows {
    /// Counts a posting of a store of this profile. `new` is true for the first posting of a hash in the
    /// document.
    pub(crate) fn add(&mut self, posting: Posting, new: bool, profile: &Profile) {
        self.postings += 1;
        self.distinct += u64::from(new);
        self.distinct_of_text += u64::from(new && profile.view_of(posting.hash) == View::Text);
        self.ordinals = self.ordinals.wrapping_add(posting.ordinal.into());
    }

    /// The record with its numbers of distinct hashes filled in.
    pub(crate) fn counted(&self, record: DocumentRecord) -> DocumentRecord {
        let text = record.text_view.0.map(|text| TextCounts { distinct: self.distinct_of_text, ..text });
        DocumentRecord { distinct: self.distinct, text_view: TextView(text), ..record }
    }

    /// True if a document with `fingerprints` fingerprints has a posting for each. Compares sums only.
    pub(crate) fn is_whole(&self, fingerprints: u64) -> bool {
        let last = fingerprints.saturating_sub(1);
        let sum = if fingerprints.is_multiple_of(2) {
            (fingerprints / 2).wrapping_mul(last)
        } else {
            (last / 2).wrapping_mul(fingerprints)
        };
        self.postings == fingerprints && self.ordinals == sum
    }
}

/// The intact part of a damaged store.
pub(crate) struct Survey {
    /// The last commit with a readable state; 0 if there is none.
    pub(crate) commits: u64,
    /// The id of the next document. Higher than every id in use.
    pub(crate) next_document: u32,
    /// The intact documents, ascending, each with the facts of its rows.
    pub(crate) whole: Vec<(u32, DocumentRows)>,
    /// Documents with an intact record and damaged postings, ascending.
    pub(crate) damaged: Vec<u32>,
    /// Number of lost documents without a known name.
    pub(crate) nameless: u64,
    /// Lost documents with a known name.
    pub(crate) lost: Vec<(u32, String)>,
    /// Names of documents that commits after the last readable state added.
    pub(crate) later: Vec<String>,
    /// True if the records are from an earlier commit than the last.
    pub(crate) is_older: bool,
    /// True if some records of documents cannot be read. Earlier versions of them may be readable.
    pub(crate) lacks_records: bool,
    /// True if the documents above may include removed ones, because a record of a removal may be lost.
    pub(crate) may_hold_removed: bool,
    /// The unreadable parts, in words.
    pub(crate) findings: Vec<String>,
}

impl Survey {
    /// Reads all readable rows. `mark` names the last commit. If the readable state is older, the commits
    /// after it are lost.
    pub(crate) fn of(salvage: &Salvage, profile: &Profile, mark: &CommitMark, task: &Task<'_>) -> Result<Self> {
        let state = latest_state(salvage, mark)?;
        let commits = state.as_ref().map_or(0, |state| state.commits);
        let mut findings = Vec::new();
        if commits == 0 {
            findings.push("the state record cannot be read".to_owned());
        }
        let (deleted, lacks_tombstones) = document_set_of(salvage, TOMBSTONES)?;
        let lacks_commits = commits < mark.commits;
        let mut is_older = state.as_ref().is_some_and(|state| !is_as_marked(state, mark));
        let (given, mut is_mixed) = (state.as_ref().map_or(0, |state| state.next_document), false);
        let state = match state {
            // Later commits are lost. If the documents are exactly those of this commit, the database goes
            // back to this commit. Here they are not.
            Some(state) if (lacks_commits || salvage.is_rebuilt()) && !counts(&state, salvage, &deleted)? => {
                findings.push(
                    "what is left comes from several commits: which documents the last one had cannot be known"
                        .to_owned(),
                );
                is_mixed = true;
                None
            }
            Some(state) if lacks_commits => {
                findings.push(gone_back(&state, mark));
                Some(state)
            }
            state => state,
        };
        let bound = state.as_ref().map_or(u32::MAX, |state| state.next_document);
        let is_live = |id: u32| id < bound && !deleted.contains(id);

        let mut tallies: FxHashMap<u32, DocumentRows> = FxHashMap::default();
        let mut lost = RoaringBitmap::new();
        let mut highest = deleted.max();
        // Documents of commits whose state is lost.
        let mut later = Vec::new();
        let mut rows = SalvagedRows::new(salvage, DOCUMENTS, 4, &[])?;
        while let Some((key, value)) = rows.current() {
            let Some(([], id)) = split_u32(key) else {
                rows.advance()?;
                continue;
            };
            if lacks_commits && id >= bound {
                highest = highest.max(Some(id));
                later.extend(records::decode::<DocumentRecord>(value, String::new).ok().map(|record| record.name));
            }
            if is_live(id) {
                match records::decode::<DocumentRecord>(value, String::new) {
                    Ok(_) => {
                        tallies.insert(id, DocumentRows::default());
                    }
                    Err(_) => {
                        lost.insert(id);
                    }
                }
            }
            rows.advance()?;
        }
        let lacks_records = rows.gaps > 0;
        gaps(&mut findings, DOCUMENTS, rows.gaps);

        let mut taken = 0u64;
        let mut last = None;
        let unread = for_each_posting(salvage, &mut |posting| {
            if let Some(tally) = tallies.get_mut(&posting.document) {
                tally.add(posting, last != Some((posting.hash, posting.document)), profile);
            }
            last = Some((posting.hash, posting.document));
            highest = highest.max(Some(posting.document));
            taken += 1;
            if taken.is_multiple_of(1 << 16) {
                task.step("postings", taken, 0)?;
            }
            Ok(())
        })?;
        gaps(&mut findings, POSTINGS, unread);

        let mut ids: Vec<u32> = tallies.keys().copied().collect();
        ids.sort_unstable();
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        let mut sums = (0u64, 0u64);
        for (index, &id) in ids.iter().enumerate() {
            let tally = tallies.get(&id).copied().unwrap_or_default();
            let record = record(salvage, id)?;
            if let Some(record) = &record {
                sums = (sums.0.saturating_add(record.bytes), sums.1.saturating_add(record.symbols));
            }
            match record {
                Some(record) if tally.is_whole(record.fingerprints) && has_places(salvage, id, &record)? => {
                    whole.push((id, tally));
                }
                Some(_) => damaged.push(id),
                None => {
                    lost.insert(id);
                }
            }
            task.step("documents", index as u64, ids.len() as u64)?;
        }

        let mut names: FxHashMap<u32, String> = FxHashMap::default();
        salvage.keys(NAMES, |key| {
            if let Some((name, id)) = parse_name_key(key)
                && is_live(id)
                && !tallies.contains_key(&id)
            {
                names.insert(id, name);
            }
        })?;
        let mut named: Vec<(u32, String)> = names.into_iter().collect();
        named.sort_unstable();
        let expected = state.as_ref().map_or(0, |state| state.documents);
        let known = (whole.len() + damaged.len() + named.len()) as u64;
        let nameless = match state {
            Some(_) => expected.saturating_sub(known),
            // Without a state, undecodable records without a name are counted too.
            None => {
                let is_named = |id: &u32| named.binary_search_by_key(id, |(named, _)| *named).is_ok();
                lost.iter().filter(|id| !is_named(id)).count() as u64
            }
        };
        // If the number of documents is right and both sums are wrong, older records have come back. A single
        // wrong sum may itself be damaged.
        is_older |= state.as_ref().is_some_and(|state| {
            known == expected && lost.is_empty() && sums.0 != state.bytes && sums.1 != state.symbols
        });
        if is_older {
            findings.push("the documents are not those of the last commit".to_owned());
        }
        // Ids that lost commits gave to documents are not used again.
        let marked = mark.counts.map_or(0, |counts| counts.next_document);
        let next_document = match &state {
            Some(state) if lacks_commits => state.next_document.max(highest.map_or(0, |id| id.saturating_add(1))),
            Some(state) => state.next_document,
            // Without a state, ids that any readable row names are not used again.
            None => {
                let named = named.last().map(|&(id, _)| id);
                let highest = highest.max(ids.last().copied()).max(lost.max()).max(named);
                highest.map_or(0, |id| id.saturating_add(1))
            }
        };
        let next_document = next_document.max(marked).max(given);
        let is_older = is_older || is_mixed;
        let may_hold_removed = lacks_records || lacks_tombstones || state.is_none_or(|state| known > state.documents);
        Ok(Self {
            commits,
            next_document,
            whole,
            damaged,
            nameless,
            lost: named,
            later,
            is_older,
            lacks_records,
            may_hold_removed,
            findings,
        })
    }
}

/// The last commit with a readable state. Also returns true if the readable documents are exactly the
/// documents that this commit counts. `None` if there is neither a state nor a document.
pub(super) fn last_commit(salvage: &Salvage, mark: &CommitMark) -> Result<Option<(u64, bool)>> {
    let Some(state) = latest_state(salvage, mark)? else {
        let has_documents = SalvagedRows::new(salvage, DOCUMENTS, 4, &[])?.current().is_some();
        return Ok(has_documents.then_some((0, false)));
    };
    let (deleted, _) = document_set_of(salvage, TOMBSTONES)?;
    Ok(Some((state.commits, is_as_marked(&state, mark) && counts(&state, salvage, &deleted)?)))
}

/// False if the state belongs to the marked commit but its counts differ from those of the mark.
fn is_as_marked(state: &StateRecord, mark: &CommitMark) -> bool {
    state.commits != mark.commits || mark.counts.is_none_or(|counts| counts == state.counts())
}

/// The state after the last commit. If an unreadable table may have had a later state, a readable state
/// counts only if it belongs to the marked commit.
fn latest_state(salvage: &Salvage, mark: &CommitMark) -> Result<Option<StateRecord>> {
    let decode = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| records::decode(&bytes, String::new).ok());
    let latest: Option<StateRecord> = decode(salvage.get_latest(MAIN, STATE_KEY)?);
    let found = || Ok::<_, Error>(decode(salvage.get(MAIN, STATE_KEY)?));
    Ok(match latest {
        Some(state) => Some(state),
        None => found()?.filter(|state: &StateRecord| mark.commits > 0 && state.commits == mark.commits),
    })
}

/// Describes the commits that are lost when the database goes back to `state`.
fn gone_back(state: &StateRecord, mark: &CommitMark) -> String {
    let lost = mark.commits.saturating_sub(state.commits);
    let counted = mark.counts.and_then(|counts| {
        let added = u64::from(counts.next_document.checked_sub(state.next_document)?);
        let removed = state.documents.checked_add(added)?.checked_sub(counts.documents)?;
        Some(format!("documents that they added: {added}, removed: {removed} (a replaced one counts as both)"))
    });
    let counted = counted.unwrap_or_else(|| "how many documents they added is not known".to_owned());
    format!(
        "the database goes back to commit {}; commits lost: {lost}; {counted}; only the documents below can be named",
        state.commits
    )
}

fn gaps(findings: &mut Vec<String>, family: &str, gaps: u64) {
    if gaps > 0 {
        findings.push(format!("{gaps} stretches of the family {family} cannot be read"));
    }
}

/// True if the readable documents are exactly those that a state counts, by number and sums.
fn counts(state: &StateRecord, salvage: &Salvage, deleted: &RoaringBitmap) -> Result<bool> {
    let mut sums = StateRecord::default();
    let mut rows = SalvagedRows::new(salvage, DOCUMENTS, 4, &[])?;
    while let Some((key, value)) = rows.current() {
        if let Some(([], id)) = split_u32(key)
            && id < state.next_document
            && !deleted.contains(id)
            && let Ok(record) = records::decode::<DocumentRecord>(value, String::new)
            && sums.add(&record).is_err()
        {
            return Ok(false);
        }
        rows.advance()?;
    }
    let of = |state: &StateRecord| (state.documents, state.bytes, state.symbols, state.fingerprints);
    Ok(of(&sums) == of(state))
}

/// The record of a document, if readable.
pub(crate) fn record(salvage: &Salvage, id: u32) -> Result<Option<DocumentRecord>> {
    Ok(salvage.get(DOCUMENTS, &id.to_be_bytes())?.and_then(|bytes| records::decode(&bytes, String::new).ok()))
}

/// The readable documents of a set. Also returns true if a part of the set is unreadable.
fn document_set_of(salvage: &Salvage, name: &'static str) -> Result<(RoaringBitmap, bool)> {
    let (mut ids, mut is_cut) = (RoaringBitmap::new(), false);
    let mut rows = SalvagedRows::new(salvage, name, 2, &[])?;
    while let Some((key, value)) = rows.current() {
        match document_set::decode(name, key, value) {
            Ok(some) => ids |= some,
            Err(_) => is_cut = true,
        }
        rows.advance()?;
    }
    Ok((ids, is_cut || rows.gaps > 0))
}

/// True if all positions of a document are readable and correct.
fn has_places(salvage: &Salvage, id: u32, record: &DocumentRecord) -> Result<bool> {
    let mut check = positions::PositionCheck::new(record);
    for chunk in 0..positions::chunks(record.fingerprints) {
        let Some(row) = salvage.get(POSITIONS, &chunk_key(id, chunk))? else { return Ok(false) };
        if check.chunk(&row).is_err() {
            return Ok(false);
        }
    }
    Ok(check.end().is_ok())
}

/// Calls `visit` with all readable postings, ascending and without repetitions. Also reads unlisted runs.
/// After a crash a run may exist beside the runs that it was folded from, and hold rows that these runs have
/// lost. Returns the number of unreadable stretches.
pub(crate) fn for_each_posting(salvage: &Salvage, visit: &mut dyn FnMut(Posting) -> Result<()>) -> Result<u64> {
    let mut readers = Vec::new();
    let mut rows = SalvagedRows::new(salvage, POSTINGS, 16, &[])?;
    let mut unread = 0;
    while let Some((key, _)) = rows.current() {
        let Some((run, _, _)) = parse_posting_key(key) else {
            rows.advance()?;
            continue;
        };
        readers.push(SalvagedRun::new(salvage, run)?);
        match run.checked_add(1) {
            Some(next) => rows.go_to(number(&posting_key(next, 0, 0)))?,
            None => break,
        }
    }
    let mut last = None;
    run_reader::merge(
        &mut readers,
        |posting| {
            if last.replace(posting) == Some(posting) { Ok(()) } else { visit(posting) }
        },
    )?;
    unread += readers.iter().map(|reader| reader.rows.gaps + reader.undecoded).sum::<u64>();
    Ok(unread)
}

/// The readable postings of one run.
struct SalvagedRun<'a> {
    rows: SalvagedRows<'a>,
    run: u32,
    block: std::vec::IntoIter<Posting>,
    last: Option<Posting>,
    /// Number of blocks that do not decode.
    undecoded: u64,
}

impl<'a> SalvagedRun<'a> {
    fn new(salvage: &'a Salvage, run: u32) -> Result<Self> {
        let rows = SalvagedRows::new(salvage, POSTINGS, 16, &posting_key(run, 0, 0))?;
        Ok(Self { rows, run, block: Vec::new().into_iter(), last: None, undecoded: 0 })
    }
}

impl Postings for SalvagedRun<'_> {
    fn next(&mut self) -> Result<Option<Posting>> {
        loop {
            for posting in self.block.by_ref() {
                // Rows out of order are skipped, and so count as missing.
                if self.last.is_none_or(|last| last < posting) {
                    self.last = Some(posting);
                    return Ok(Some(posting));
                }
            }
            let Some((key, value)) = self.rows.current() else { return Ok(None) };
            let parsed = parse_posting_key(key);
            if parsed.is_some_and(|(run, ..)| run != self.run) {
                return Ok(None);
            }
            match parsed.map(|(_, last_hash, _)| Block::decode(last_hash, value)) {
                Some(Ok(block)) => self.block = block.postings().collect::<Vec<_>>().into_iter(),
                _ => self.undecoded += 1,
            }
            self.rows.advance()?;
        }
    }
}
