//! Passages: where exactly do two documents share text?
//!
//! Where both texts can be had they are compared symbol by symbol: `occurrences` of the query's hashes in either text,
//! `maximal` matches around them (`repeats` where a hash occurs too often), and those joined to passages (`join`, `open`,
//! `cluster`, `connected`, `chain`, `gaps`) or, of rewritten text, grown from more than matches (`rewritten`). Of source code
//! `names` tells the same text from the same structure. Where one text is gone the passages are `inferred` from the
//! fingerprints both share. `thinning` leaves out some of very many.

mod chain;
mod cluster;
mod connected;
mod gaps;
mod inferred;
mod join;
mod joined;
mod maximal;
mod names;
mod occurrences;
mod open;
mod repeats;
mod rewritten;
mod runs;
mod thinning;

#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;

use super::answer::Passage;
use super::covered::Covered;
use super::options::PassageOptions;
use super::ranges::Uncounted;
use super::text::WholeText;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::{Profile, Selection, Unit};
use gaps::Gaps;
pub(super) use inferred::infer;
use joined::{Joined, Joining};
use maximal::maximal_matches;
use names::NameComparison;
use occurrences::Occurrences;
use rewritten::Rewriting;
use runs::{IndexedText, Settings};

/// A fingerprint of the stored document that the query has too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedFingerprint {
    pub(crate) hash: u64,
    pub(crate) ordinal: u32,
}

/// Shorter runs of characters or bytes within a gap are chance, and no agreement. A word is not chance.
const CHANCE: u32 = 8;

/// Fewer tokens of source code are an idiom of their language: a call, the head of a loop.
const IDIOM: u64 = 20;

/// How many times t a passage has at least that is no mere phrase.
const LONG: u64 = 4;

impl PassageOptions {
    fn widest_gap(&self, profile: &Profile) -> u32 {
        match self.rewritten {
            true => rewritten::GAP_OF_FINGERPRINTS,
            false => self.gap.unwrap_or(expected_run(profile)),
        }
    }

    /// The floor where passages are inferred from fingerprints.
    fn least_inferred(&self) -> u64 {
        if self.rewritten { self.least.max(rewritten::LEAST_OF_FINGERPRINTS) } else { self.least }
    }

    /// Checks that documents of this profile can be compared so.
    ///
    /// # Errors
    /// [`Error::NotWords`] for rewritten text in another unit than words.
    pub(super) fn check(&self, profile: &Profile) -> Result<()> {
        if self.rewritten && profile.unit() != Unit::Word {
            return Err(Error::NotWords { unit: profile.unit() });
        }
        Ok(())
    }

    /// How many symbols a passage must add to longer ones.
    fn floor(&self, profile: &Profile) -> Option<u64> {
        (profile.unit() == Unit::Token).then_some(if self.least == 0 { IDIOM } else { self.least })
    }

    /// Leaves out what a reader is not to see. Returns how many passages that are.
    fn thin_out<T>(&self, passages: &mut Vec<T>, profile: &Profile, place: impl Fn(&T) -> thinning::Extent) -> u64 {
        let short = LONG * u64::from(expected_run(profile));
        self.most.map_or(0, |most| thinning::thin_out(passages, most, short, place))
    }
}

/// The symbols of a shared run that is found: surely, or with `mod:P` most likely.
fn expected_run(profile: &Profile) -> u32 {
    match profile.selection() {
        Selection::Mod(p) => profile.k().saturating_add(u32::try_from(p).unwrap_or(u32::MAX)),
        _ => profile.w().saturating_add(profile.k() - 1),
    }
}

/// The passages of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DocumentPassages {
    /// In order of the query.
    pub(super) passages: Vec<Passage>,
    /// How many more there are, which were not asked for.
    pub(super) left_out: u64,
    /// The part of the query they cover, those left out included.
    pub(super) covered: Covered,
    /// Pairs of equal k-grams that were not looked at one by one, because both texts repeat them too often.
    pub(super) repeats: u64,
}

/// A query's text, ready to be compared with documents.
pub(super) struct QueryText {
    text: WholeText,
    profile: Profile,
    /// The hashes that make a match, by number.
    wanted: FxHashMap<u64, u32>,
    occurrences: Occurrences,
    uncounted: Uncounted,
}

impl QueryText {
    /// Prepares a text whose fingerprints have the `hashes`, each given once; `uncounted` are its symbols that do not count.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn new(
        text: WholeText,
        profile: &Profile,
        hashes: impl Iterator<Item = u64>,
        uncounted: Uncounted,
        stop: &StopToken,
    ) -> Result<Self> {
        let wanted: FxHashMap<u64, u32> = hashes.zip(0..).collect();
        let occurrences = Occurrences::find(text.values(), profile.k() as usize, &wanted);
        stop.check()?;
        Ok(Self { text, profile: *profile, wanted, occurrences, uncounted })
    }

    /// Compares it with a document symbol by symbol. `shared` are the hashes of fingerprints that both have, in order: so the
    /// passages do not depend on which other documents the query is compared with.
    ///
    /// # Errors
    /// [`Error::Stopped`]: the token is looked at between steps that take a time in proportion to the texts, and within longer ones.
    pub(super) fn compare(
        &self,
        document: &WholeText,
        shared: impl Iterator<Item = u64>,
        options: &PassageOptions,
        stop: &StopToken,
    ) -> Result<DocumentPassages> {
        let profile = &self.profile;
        let w = if matches!(profile.selection(), Selection::Mod(_)) { 1 } else { profile.w() };
        let settings = Settings::new(profile.k() as usize, w as usize);
        let occurrences = Occurrences::find(document.values(), settings.k, &self.wanted);
        let mut shared: Vec<usize> = shared.filter_map(|hash| Some(*self.wanted.get(&hash)? as usize)).collect();
        shared.dedup();
        stop.check()?;
        let (query_values, document_values) = (self.text.values(), document.values());
        let (matches, repeats) = maximal_matches(
            IndexedText { values: query_values, occurrences: &self.occurrences },
            IndexedText { values: document_values, occurrences: &occurrences },
            &shared,
            &settings,
        );
        stop.check()?;
        let mut joined = match options.rewritten {
            true => rewritten::passages(&Rewriting {
                values: [query_values, document_values],
                sentences: [self.text.sentences(), document.sentences()],
                matches: &matches,
                uncounted: &self.uncounted,
                k: profile.k(),
                guarantee: settings.guarantee() as u64,
                least: options.least,
                stop,
            })?,
            false => {
                let joining = Joining {
                    gap: options.widest_gap(profile),
                    any_order: options.any_order,
                    k: profile.k().into(),
                    guarantee: settings.guarantee() as u64,
                    least: options.least,
                    uncounted: &self.uncounted,
                    stop,
                };
                let mut gaps =
                    Gaps::new(if profile.unit() == Unit::Word { 1 } else { profile.k().min(CHANCE) as usize });
                join::join(query_values, document_values, &matches, &joining, &mut gaps)?
            }
        };
        // The bytes of a passage have all symbols of its first and its last letter: so has what is said of it. A token is one symbol.
        if matches!(profile.unit(), Unit::Char | Unit::Word) {
            for passage in &mut joined {
                passage.query = self.text.whole_origins(&passage.query);
                passage.document = document.whole_origins(&passage.document);
            }
        }
        stop.check()?;
        let extent = |joined: &Joined| thinning::Extent {
            query: joined.query.clone(),
            document: joined.document.clone(),
            length: joined.query.len() as u64,
        };
        if let Some(floor) = options.floor(profile) {
            thinning::tile(&mut joined, floor, extent);
        }
        let ranges = joined.iter().map(|joined| joined.query.start.into()..joined.query.end.into());
        let covered = Covered::new(ranges.collect(), query_values.len() as u64);
        let left_out = options.thin_out(&mut joined, profile, extent);
        let mut names = NameComparison::new(&self.text, document, &matches);
        let passages = joined.iter().map(|joined| {
            stop.check()?;
            Ok(passage(joined, &self.text, document, &mut names))
        });
        Ok(DocumentPassages { passages: passages.collect::<Result<_>>()?, left_out, covered, repeats })
    }
}

fn passage(joined: &Joined, query: &WholeText, document: &WholeText, names: &mut NameComparison<'_>) -> Passage {
    Passage {
        query: query.locate(&joined.query),
        document: document.locate(&joined.document),
        symbols: joined.query.len() as u64,
        agreement: Some(share(joined.in_order, joined.length())),
        same_names: names.same(joined),
        exact: true,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
