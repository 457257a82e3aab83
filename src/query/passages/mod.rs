//! Passages: finds the exact places at which two documents share text.
//!
//! If both texts are available, they are compared symbol by symbol. The crate [`fpdb_passages`] finds the
//! matches around the query's hashes, and joins them to passages. For source code, `names` distinguishes
//! equal text from equal structure. If a text is not available, passages are `inferred` from the shared
//! fingerprints. If there are very many passages, some are left out.
//!
//! `--min-passage` counts the symbols that agree outside rulers, and outside quotations and phrases whose
//! places are known. For inferred passages, it counts the symbols of the query between the ends of the
//! passage. There, boilerplate and common text count too, since only their fingerprints are known.
//!
//! In source code a passage stays only if it adds 20 tokens, in either document, to longer passages
//! (`--min-passage` sets another number). If the longest passage is shorter than 20 tokens, its length is the
//! limit. So a run of 8 to 19 tokens is found and scores, but makes no passage beside a longer one. The text
//! as written follows the same rule, with 30 words and marks. Two more limits depend on the structure. If the
//! structure has a passage of 20 tokens, the text as written has no passage shorter than 30. If the structure
//! has only shorter passages, the text as written has no passage shorter than t.
//!
//! A *ruler* is a line of dashes or stars, or another run of at least t symbols that repeats one to four
//! symbols at least four times. It carries no text, so its symbols do not count in the length of a passage.
//! Matches of rulers are found like other matches. In source code a passage that counts fewer symbols than
//! the limit above is left out if it holds a part of a ruler.
//!
//! A letter with its accents has one place and can be several symbols. A passage that ends within such a
//! letter has all symbols of the letter, since the passage shows all bytes of the letter. `symbols`,
//! `coverage` and `agreement` count all of these symbols, so `agreement` is below 1 if some of them differ.
//!
//! Offsets and lines are looked up last, only for the passages that stay, because most may be left out. For
//! example, the 741 pairs of 39 releases of jQuery share 53 million passages, nearly all of them idioms.

mod inferred;
mod names;
mod views;

use std::ops::Range;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::answer::Passage;
use super::ignored::IgnoredText;
use super::options::PassageOptions;
use super::text::WholeText;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Span;
use fpdb_kernel::profile::{Profile, Selection, Unit, View};
use fpdb_passages::rewritten::{self, QueryWords, Rewriting};
use fpdb_passages::{
    Covered, Extent, Gaps, IndexedText, Joined, Joining, Occurrences, Settings, Uncounted, cut, join, maximal_matches,
    rulers, thin_out, tile,
};
pub(super) use inferred::infer;
use names::NameComparison;
use views::{as_written, both_views};

/// A fingerprint of the stored document that the query has too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedFingerprint {
    pub(crate) hash: u64,
    pub(crate) ordinal: u32,
}

/// Minimum length of an equal run in a gap between matches, in characters or bytes. A shorter run is chance;
/// a single equal word is not.
const CHANCE: u32 = 8;

/// A passage of fewer tokens than this in source code is an idiom of its language: a call, or the head of a
/// loop.
const IDIOM: u64 = 20;

/// Like [`IDIOM`], but in words and punctuation marks of the text as written. A line has about 1.5 times as
/// many words and marks as it has tokens.
const IDIOM_AS_WRITTEN: u64 = 30;

/// A passage of at least this many times t symbols is more than a phrase.
const LONG: u64 = 4;

impl PassageOptions {
    fn widest_gap(&self, profile: &Profile) -> u32 {
        match self.rewritten {
            true => rewritten::GAP_OF_FINGERPRINTS,
            false => self.gap.unwrap_or(expected_run(profile)),
        }
    }

    /// The smallest number of symbols in an inferred passage.
    fn least_inferred(&self) -> u64 {
        if self.rewritten { self.least.max(rewritten::LEAST_OF_FINGERPRINTS) } else { self.least }
    }

    /// Checks that documents of this profile can be compared with these options.
    ///
    /// # Errors
    /// [`Error::NotWords`] for rewritten text in a unit other than words.
    pub(super) fn check(&self, profile: &Profile) -> Result<()> {
        if self.rewritten && profile.unit() != Unit::Word {
            return Err(Error::NotWords { unit: profile.unit() });
        }
        Ok(())
    }

    /// In source code, the number of symbols a passage must add to longer ones.
    fn floor(&self, profile: &Profile) -> Option<u64> {
        idiom(profile).map(|idiom| if self.least == 0 { idiom } else { self.least })
    }

    /// Leaves out passages that a reader does not need. Returns their number.
    fn thin_out<T>(&self, passages: &mut Vec<T>, profile: &Profile, place: impl Fn(&T) -> Extent) -> u64 {
        let short = LONG * u64::from(expected_run(profile));
        self.most.map_or(0, |most| thin_out(passages, most, short, place))
    }
}

/// In source code, the number of symbols from which on a passage is more than an idiom.
fn idiom(profile: &Profile) -> Option<u64> {
    (profile.unit() == Unit::Token).then_some(if profile.is_text_view() { IDIOM_AS_WRITTEN } else { IDIOM })
}

/// Number of symbols in a shared run that is guaranteed to be found; with `mod:P`, very likely found.
fn expected_run(profile: &Profile) -> u32 {
    match profile.selection() {
        Selection::Mod(p) => profile.k().saturating_add(u32::try_from(p).unwrap_or(u32::MAX)),
        _ => profile.w().saturating_add(profile.k() - 1),
    }
}

/// The passages of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DocumentPassages {
    /// The passages, in order of the query.
    pub(super) passages: Vec<Passage>,
    /// Number of further passages, left out because of the limit.
    pub(super) left_out: u64,
    /// As [`Match::longest`](super::answer::Match::longest).
    pub(super) longest: u64,
    /// The part of the query that passages cover, including those left out.
    pub(super) covered: Covered,
    /// Number of pairs of equal k-grams not compared one by one, because both texts repeat them too often.
    pub(super) repeats: u64,
}

/// A query's text, prepared for comparison with documents.
pub(super) struct QueryText {
    text: WholeText,
    profile: Profile,
    /// The hashes that can make a match, with their indexes.
    wanted: FxHashMap<u64, u32>,
    occurrences: Occurrences,
    uncounted: Uncounted,
    /// The stretches in which no match lies.
    excluded: Vec<Range<u32>>,
    /// The symbols that do not count in the length of a passage: ignored text and rulers.
    ignored: Uncounted,
    rulers: Uncounted,
    /// The query's words, once the query is compared for rewritten text.
    words: OnceLock<QueryWords>,
    /// The text as written, if the profile has two views. All other fields then describe the structure.
    text_view: Option<Box<QueryText>>,
}

impl QueryText {
    /// Prepares a text. `hashes` are the hashes of its fingerprints, without duplicates. `uncounted` are the
    /// symbols that do not count towards the least length of a passage.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(super) fn new(
        mut text: WholeText,
        profile: &Profile,
        hashes: impl Iterator<Item = u64>,
        uncounted: Uncounted,
        ignored: IgnoredText,
        stop: &StopToken,
    ) -> Result<Self> {
        let (of_text, of_structure): (Vec<u64>, Vec<u64>) =
            hashes.partition(|&hash| profile.view_of(hash) == View::Text);
        let IgnoredText { excluded: [first, second], all: [all_of_first, all_of_second] } = ignored;
        let (ignored, ignored_text) = ((first, all_of_first), (second, all_of_second));
        let text_view = match (profile.text_view(), text.take_text_view()) {
            (Some(view), Some(text)) => {
                // Only prose has quotations and phrases.
                Some(Box::new(Self::of_view(text, &view, of_text, Uncounted::default(), ignored_text, stop)?))
            }
            _ => None,
        };
        let structure = Self::of_view(text, &profile.structure_view(), of_structure, uncounted, ignored, stop)?;
        Ok(Self { text_view, ..structure })
    }

    fn of_view(
        text: WholeText,
        profile: &Profile,
        hashes: Vec<u64>,
        uncounted: Uncounted,
        (excluded, ignored): (Vec<Range<u32>>, Uncounted),
        stop: &StopToken,
    ) -> Result<Self> {
        let wanted: FxHashMap<u64, u32> = hashes.into_iter().zip(0..).collect();
        let occurrences = Occurrences::find(text.values(), profile.k() as usize, profile.marks(), &wanted);
        stop.check()?;
        let words = OnceLock::new();
        let profile = *profile;
        // Statements of one form repeat few tokens, as a ruler does, but they are text.
        let is_structure = profile.unit() == Unit::Token && !profile.is_text_view();
        let found = if is_structure { Vec::new() } else { rulers(text.values(), expected_run(&profile) as usize) };
        let rulers = Uncounted::new(found.iter());
        let (uncounted, ignored) = (uncounted.with(&found), ignored.with(&found));
        Ok(Self { text, profile, wanted, occurrences, uncounted, excluded, ignored, rulers, words, text_view: None })
    }

    /// The first and the last page of a span of the query, if it is a PDF.
    pub(super) fn pages(&self, span: Span) -> Option<[u64; 2]> {
        self.text.pages(span)
    }

    /// Compares the query with a document symbol by symbol. `shared` are the hashes of the fingerprints that
    /// both documents have, ascending. So the passages do not depend on the other documents that the query is
    /// compared with.
    ///
    /// # Errors
    /// [`Error::Stopped`]. The token is checked within long steps, and between steps of time proportional to
    /// the texts.
    pub(super) fn compare(
        &self,
        document: &WholeText,
        shared: impl Iterator<Item = u64>,
        options: &PassageOptions,
        stop: &StopToken,
    ) -> Result<DocumentPassages> {
        let shared: Vec<u64> = shared.collect();
        let structure = self.compare_view(document, &shared, options, stop)?;
        let (Some(query), Some(document)) = (&self.text_view, document.text_view()) else { return Ok(structure) };
        let text = query.compare_view(document, &shared, options, stop)?;
        let length = self.text.values().len() as u64;
        let symbols = |span| {
            let Range { start, end } = self.text.within(span);
            u64::from(start)..u64::from(end)
        };
        both_views(structure, text, length, &query.profile, &symbols, options, stop)
    }

    /// Like [`compare`](Self::compare), in one view. Hashes of the other view are ignored.
    fn compare_view(
        &self,
        document: &WholeText,
        shared: &[u64],
        options: &PassageOptions,
        stop: &StopToken,
    ) -> Result<DocumentPassages> {
        let profile = &self.profile;
        let w = if matches!(profile.selection(), Selection::Mod(_)) { 1 } else { profile.w() };
        let settings = Settings::new(profile.k() as usize, w as usize);
        let occurrences = Occurrences::find(document.values(), settings.k, profile.marks(), &self.wanted);
        let mut shared: Vec<usize> = shared.iter().filter_map(|hash| Some(*self.wanted.get(hash)? as usize)).collect();
        shared.dedup();
        stop.check()?;
        let (query_values, document_values) = (self.text.values(), document.values());
        let (mut matches, repeats) = maximal_matches(
            IndexedText { values: query_values, occurrences: &self.occurrences },
            IndexedText { values: document_values, occurrences: &occurrences },
            &shared,
            &settings,
        );
        // If two texts contain the boilerplate or quotation and have the same text after it, they share a
        // k-gram across its end. The match around that k-gram runs back through the ignored text, so that
        // part is cut off. In source code a short stretch may consist of idioms that every program has, so it
        // is not cut out.
        let long = idiom(profile).unwrap_or(0) as u32;
        cut(&mut matches, &self.excluded, long, settings.guarantee() as u32);
        stop.check()?;
        let mut joined = match options.rewritten {
            true => rewritten::passages(&Rewriting {
                query: self.words.get_or_init(|| QueryWords::new(query_values, self.text.sentences(), &self.uncounted)),
                values: document_values,
                sentences: document.sentences(),
                matches: &matches,
                k: profile.k(),
                guarantee: settings.guarantee() as u64,
                least: options.least,
                stop,
            })?,
            false => {
                let joining = Joining {
                    gap: options.widest_gap(profile),
                    guarantee: settings.guarantee() as u64,
                    least: options.least,
                    uncounted: &self.uncounted,
                    stop,
                };
                let mut gaps =
                    Gaps::new(if profile.unit() == Unit::Word { 1 } else { profile.k().min(CHANCE) as usize });
                join(query_values, document_values, &matches, &joining, &mut gaps)?
            }
        };
        // A passage shows whole letters, so it must have all symbols of its first and last letter. A token is
        // one symbol.
        if matches!(profile.unit(), Unit::Char | Unit::Word) {
            for passage in &mut joined {
                passage.query = self.text.whole_origins(&passage.query);
                passage.document = document.whole_origins(&passage.document);
            }
        }
        stop.check()?;
        let extent = |joined: &Joined| Extent {
            query: joined.query.clone(),
            document: joined.document.clone(),
            length: joined.query.len() as u64,
        };
        let symbols = |joined: &Joined| joined.query.start.into()..joined.query.end.into();
        if let Some(floor) = options.floor(profile) {
            let longest = joined.iter().map(|joined| self.rulers.counted(&symbols(joined))).max().unwrap_or(0);
            joined.retain(|joined| {
                let symbols = symbols(joined);
                self.rulers.within(&symbols) == 0 || self.rulers.counted(&symbols) >= floor.min(longest)
            });
            tile(&mut joined, floor, extent);
        }
        let covered = Covered::new(joined.iter().map(symbols).collect(), query_values.len() as u64);
        let longest = joined.iter().map(|joined| self.ignored.counted(&symbols(joined))).max().unwrap_or(0);
        let left_out = options.thin_out(&mut joined, profile, extent);
        let mut names = NameComparison::new(&self.text, document, &matches);
        let passages = joined.iter().map(|joined| {
            stop.check()?;
            let passage = passage(joined, &self.text, document, &mut names);
            Ok(if profile.is_text_view() { as_written(passage) } else { passage })
        });
        let passages: Vec<Passage> = passages.collect::<Result<_>>()?;
        Ok(DocumentPassages { longest, passages, left_out, covered, repeats })
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
        as_written: false,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::profile::WordRule;

    #[test]
    fn the_largest_window_is_a_gap_as_wide_as_can_be() {
        let profile = |w| Profile::new(Unit::Char, WordRule::Letters, 25, w, Selection::Robust).unwrap();
        assert_eq!(expected_run(&profile(20)), 44);
        assert_eq!(expected_run(&profile(u32::MAX)), u32::MAX);
    }
}
